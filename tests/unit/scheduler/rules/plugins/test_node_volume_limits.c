/* NodeVolumeLimits: what counts against a driver's limit, once for each volume, and what happens
 * when that cannot be known. */
#include "tests/unit/scheduler/storage.h"

#define FULL "NodeVolumeLimits U: node(s) exceed max volume count"

static void allow(struct cluster *c, int count, const char *more)
{
    limit(c, arena_print(&c->arena,
                         "shard_storage node_name=\"n1\" has_csi_node=true drivers=[{driver=\"d\" "
                         "limited=true count=%d} {driver=\"free\"}] %s",
                         count, more)
                 .at);
}

static void setup(struct cluster *c)
{
    only_rule(c, "NodeVolumeLimits");
    put_node(c, make_node(c, "n1", 1000, GIB));
    know(c, "volume_set volume={name=\"v1\" source=\"csi\" driver=\"d\" handle=\"h1\"}");
    know(c, "volume_set volume={name=\"v2\" source=\"csi\" driver=\"d\" handle=\"h2\"}");
    know(c, "claim_set claim={namespace_name=\"default\" name=\"c1\" volume_name=\"v1\"}");
    know(c, "claim_set claim={namespace_name=\"default\" name=\"c2\" volume_name=\"v2\"}");
}

/* A pod on n1, as the coordinator would tell of it. */
static void there(struct cluster *c, const char *name, const char *claim)
{
    struct pod *p = with_claim(c, name, claim);
    volumes_resolve(c->catalog, p, &c->arena);
    put_pod(c, p, "n1");
}

static void volumes_count_up_to_the_limit(void **state)
{
    struct cluster *c = *state;
    setup(c);
    struct pod *p = with_claim(c, "p", "c2");
    there(c, "a", "c1");
    assert_string_equal(ruling_on(c, p, "n1"), ""); /* no CSINode, no limits */
    allow(c, 1, "");
    assert_string_equal(ruling_on(c, p, "n1"), FULL);
    allow(c, 2, "");
    assert_string_equal(ruling_on(c, p, "n1"), "");
    add_volume(c, p, "claim", "c2"); /* the same again */
    assert_string_equal(ruling_on(c, p, "n1"), "");
    add_volume(c, p, "claim", "c1"); /* a's */
    assert_string_equal(ruling_on(c, p, "n1"), "");
    allow(c, 1, "");
    assert_string_equal(ruling_on(c, with_claim(c, "q", "c1"), "n1"), "");
    allow(c, 0, "");
    assert_string_equal(ruling_on(c, with_claim(c, "q", "c1"), "n1"), "");
}

static void attachments_count_unless_a_pod_has_the_volume(void **state)
{
    struct cluster *c = *state;
    setup(c);
    there(c, "a", "c1");
    allow(c, 2, "attached=[{driver=\"d\" handle=\"h1\"} {driver=\"e\" handle=\"h9\"}]");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "c2"), "n1"), "");
    allow(c, 2, "attached=[{driver=\"d\" handle=\"h3\"}]");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "c2"), "n1"), FULL);
    /* attached already, but by no pod: upstream counts it twice */
    allow(c, 2, "attached=[{driver=\"d\" handle=\"h2\"}]");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "c2"), "n1"), FULL);
}

static void claims_without_a_volume_count_by_their_class(void **state)
{
    struct cluster *c = *state;
    setup(c);
    know(c, "storage_class_set storage_class={name=\"s\" provisioner=\"d\"}");
    know(c, "storage_class_set storage_class={name=\"ebs\" provisioner=\"kubernetes.io/aws-ebs\"}");
    know(c, "storage_class_set storage_class={name=\"file\" "
            "provisioner=\"kubernetes.io/azure-file\"}");
    know(c, "claim_set claim={namespace_name=\"default\" name=\"u\" class_name=\"s\"}");
    know(c, "claim_set claim={namespace_name=\"default\" name=\"e\" class_name=\"ebs\"}");
    know(c, "claim_set claim={namespace_name=\"default\" name=\"f\" class_name=\"file\"}");
    know(c, "claim_set claim={namespace_name=\"default\" name=\"n\" class_name=\"gone\"}");
    know(c, "claim_set claim={namespace_name=\"default\" name=\"lost\" class_name=\"s\" "
            "volume_name=\"gone\"}");
    limit(c,
          "shard_storage node_name=\"n1\" has_csi_node=true drivers=[{driver=\"d\" limited=true} "
          "{driver=\"ebs.csi.aws.com\" limited=true}]");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "u"), "n1"), FULL);
    assert_string_equal(ruling_on(c, with_claim(c, "p", "e"), "n1"), FULL);
    assert_string_equal(ruling_on(c, with_claim(c, "p", "lost"), "n1"), FULL);
    assert_string_equal(ruling_on(c, with_claim(c, "p", "f"), "n1"), "");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "n"), "n1"), "");
    there(c, "a", "u");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "u"), "n1"), ""); /* shared */
}

static void in_tree_disks_count_as_their_drivers(void **state)
{
    struct cluster *c = *state;
    setup(c);
    know(c, "volume_set volume={name=\"v1\" source=\"gce-pd\" driver=\"d\" handle=\"h\" "
            "migrated_plugin=\"kubernetes.io/gce-pd\"}");
    know(c, "volume_set volume={name=\"v2\" source=\"vsphere\" driver=\"d\" handle=\"h\" "
            "migrated_plugin=\"kubernetes.io/vsphere-volume\"}");
    allow(c, 0, "");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "c1"), "n1"), FULL);
    assert_string_equal(ruling_on(c, with_claim(c, "p", "c2"), "n1"), "");
    know(c, "volume_set volume={name=\"v1\" source=\"gce-pd\" driver=\"d\" handle=\"h\" "
            "migrated_plugin=\"kubernetes.io/gce-pd\" migration_problem=\"no\"}");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "c1"), "n1"), "");
    struct pod *disk = with_claim(c, "p", NULL);
    struct pod_volume *v = add_volume(c, disk, "cinder", "x");
    v->driver = STR_LITERAL("d");
    v->handle = STR_LITERAL("x");
    assert_string_equal(ruling_on(c, disk, "n1"), FULL);
    v->kind = SOURCE_azure_file;
    assert_string_equal(ruling_on(c, disk, "n1"), "");
    v->kind = SOURCE_iscsi;
    assert_string_equal(before_nodes(c, disk), "skip");
}

static const char *error_on(struct cluster *c, const struct pod *p)
{
    struct str error = map_pod(c, p)->error;
    return arena_copy(&c->arena, error).at;
}

static void what_cannot_be_known_fails_the_filter(void **state)
{
    struct cluster *c = *state;
    setup(c);
    struct pod *p = with_claim(c, "p", "nope");
    assert_string_equal(ruling_on(c, p, "n1"),
                        "NodeVolumeLimits UAU: looking up PVC default/nope: persistentvolumeclaim "
                        "\"nope\" not found");
    struct pod *disk = with_claim(c, "q", NULL);
    add_volume(c, disk, "aws-ebs", "x")->problem = STR_LITERAL("bad");
    assert_string_equal(error_on(c, disk), ""); /* without a CSINode nobody looks */
    allow(c, 5, "");
    assert_string_equal(error_on(c, disk), "running \"NodeVolumeLimits\" filter plugin: converting "
                                           "volume(v) from inline to csi: bad");
    struct pod *foreign = with_claim(c, "r", NULL);
    add_volume(c, foreign, "ephemeral", "c1");
    volumes_resolve(c->catalog, foreign, &c->arena);
    put_pod(c, foreign, "n1");
    assert_string_equal(
        error_on(c, with_claim(c, "p", "c2")),
        "running \"NodeVolumeLimits\" filter plugin: PVC default/c1 was not created "
        "for pod default/r (pod is not owner)");
    assert_string_equal(error_on(c, with_claim(c, "p", NULL)), "");
}

/* Of a nominated node that PreFilter leaves out it is as if nobody had looked there. */
static void where_it_fails_for_a_nominated_pod_does_not_count(void **state)
{
    struct cluster *c = *state;
    setup(c);
    allow(c, 5, "");
    struct pod *disk = with_claim(c, "q", NULL);
    add_volume(c, disk, "aws-ebs", "x")->problem = STR_LITERAL("bad");
    disk->nominated_node = STR_LITERAL("n1");
    struct map_request request = map_of(c, disk);
    request.detail = false;
    request.only = strs_of(&c->arena, "n1");
    assert_int_equal(map_with(c, &request)->evaluated, 1);
    request.nominated_too = true;
    const struct map_result *r = map_with(c, &request);
    assert_int_equal(r->evaluated, 0);
    assert_int_equal(r->feasible, 0);
    assert_int_equal(r->error.len, 0);
}

static void many_volumes_are_counted_once_each(void **state)
{
    struct cluster *c = *state;
    setup(c);
    for (int i = 0; i < 200; i++) {
        const char *name = arena_print(&c->arena, "m%d", i % 100).at;
        know(c, arena_print(&c->arena,
                            "volume_set volume={name=\"%s\" source=\"csi\" driver=\"d\" "
                            "handle=\"%s\"}",
                            name, name)
                    .at);
        know(c, arena_print(&c->arena,
                            "claim_set claim={namespace_name=\"default\" name=\"%s\" "
                            "volume_name=\"%s\"}",
                            name, name)
                    .at);
        there(c, "a", name);
    }
    allow(c, 100, "");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "c1"), "n1"), FULL);
    allow(c, 101, "");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "c1"), "n1"), "");
}

#define MISSING "NodeVolumeLimits U: d CSI driver is not installed on the node"

/* With VolumeLimitScaling: where the driver's CSIDriver says so. */
static void a_driver_may_have_to_be_there(void **state)
{
    struct cluster *c = *state;
    setup(c);
    struct pod *p = with_claim(c, "p", "c1");
    know(c, "csi_driver_set csi_driver={name=\"d\" must_be_there=true}");
    assert_string_equal(ruling_on(c, p, "n1"), "");
    c->profile.features.volume_limit_scaling = true;
    assert_string_equal(ruling_on(c, p, "n1"), MISSING); /* no CSINode */
    limit(c, "shard_storage node_name=\"n1\" has_csi_node=true drivers=[{driver=\"free\"}]");
    assert_string_equal(ruling_on(c, p, "n1"), MISSING);
    limit(c, "shard_storage node_name=\"n1\" has_csi_node=true drivers=[{driver=\"d\"}]");
    assert_string_equal(ruling_on(c, p, "n1"), "");
    limit(c, "shard_storage node_name=\"n1\" has_csi_node=true");
    know(c, "csi_driver_set csi_driver={name=\"d\"}");
    assert_string_equal(ruling_on(c, p, "n1"), "");
}

/* An in-tree disk counts as its driver's only where there is a CSINode. */
static void the_driver_of_an_in_tree_disk_counts_with_a_csi_node(void **state)
{
    struct cluster *c = *state;
    setup(c);
    know(c, "volume_set volume={name=\"v1\" source=\"gce-pd\" driver=\"d\" handle=\"h\" "
            "migrated_plugin=\"kubernetes.io/gce-pd\"}");
    know(c, "csi_driver_set csi_driver={name=\"d\" must_be_there=true}");
    c->profile.features.volume_limit_scaling = true;
    assert_string_equal(ruling_on(c, with_claim(c, "p", "c1"), "n1"), "");
    limit(c, "shard_storage node_name=\"n1\" has_csi_node=true");
    assert_string_equal(ruling_on(c, with_claim(c, "p", "c1"), "n1"), MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(volumes_count_up_to_the_limit),
        CLUSTER_TEST(attachments_count_unless_a_pod_has_the_volume),
        CLUSTER_TEST(claims_without_a_volume_count_by_their_class),
        CLUSTER_TEST(in_tree_disks_count_as_their_drivers),
        CLUSTER_TEST(what_cannot_be_known_fails_the_filter),
        CLUSTER_TEST(where_it_fails_for_a_nominated_pod_does_not_count),
        CLUSTER_TEST(many_volumes_are_counted_once_each),
        CLUSTER_TEST(a_driver_may_have_to_be_there),
        CLUSTER_TEST(the_driver_of_an_in_tree_disk_counts_with_a_csi_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
