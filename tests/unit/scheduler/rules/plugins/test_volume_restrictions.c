/* VolumeRestrictions: disks that a node's pods share or must not share, and claims that only one
 * pod in the whole cluster may use. */
#include "tests/unit/scheduler/storage.h"

#define DISK "VolumeRestrictions U: node(s) had no available disk"
#define USED                                                                                       \
    "VolumeRestrictions U: node(s) unavailable due to PersistentVolumeClaim with "                 \
    "ReadWriteOncePod access mode already in-use by another pod"
#define ONCE "access_modes=[\"ReadWriteOncePod\"]"

static void setup(struct cluster *c)
{
    only_rule(c, "VolumeRestrictions");
    put_node(c, make_node(c, "n1", 1000, GIB));
}

static void disks_are_shared_only_for_reading(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *kind, *there, *wanted;
        bool there_reads, wanted_reads;
        const char *ruling;
    } table[] = {
        {"gce-pd", "d", "d", false, false, DISK}, {"gce-pd", "d", "d", true, false, DISK},
        {"gce-pd", "d", "d", false, true, DISK},  {"gce-pd", "d", "d", true, true, ""},
        {"gce-pd", "d", "e", false, false, ""},   {"aws-ebs", "d", "d", true, true, DISK},
        {"aws-ebs", "d", "e", false, false, ""},  {"iscsi", "d", "d", true, true, ""},
        {"iscsi", "d", "d", true, false, DISK},   {"azure-disk", "d", "d", false, false, ""},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        setup(c);
        struct pod *there = with_claim(c, "there", NULL), *wants = with_claim(c, "wants", NULL);
        add_volume(c, there, table[i].kind, table[i].there)->read_only = table[i].there_reads;
        add_volume(c, wants, table[i].kind, table[i].wanted)->read_only = table[i].wanted_reads;
        put_pod(c, there, "n1");
        assert_string_equal(ruling_on(c, wants, "n1"), table[i].ruling);
    }
}

static void a_disk_of_another_kind_is_another_disk(void **state)
{
    struct cluster *c = *state;
    setup(c);
    struct pod *there = with_claim(c, "there", NULL), *wants = with_claim(c, "wants", NULL);
    add_volume(c, there, "gce-pd", "d");
    add_volume(c, wants, "iscsi", "d");
    put_pod(c, there, "n1");
    assert_string_equal(ruling_on(c, wants, "n1"), "");
}

static struct pod *with_rbd(struct cluster *c, const char *name, const char *monitors,
                            const char *image, bool read_only)
{
    struct pod *p = with_claim(c, name, NULL);
    struct pod_volume *v = add_volume(c, p, "rbd", "");
    v->monitors = strs_of(&c->arena, monitors);
    v->pool = STR_LITERAL("rbd");
    v->image = str_of(image);
    v->read_only = read_only;
    return p;
}

static void rbd_images_are_known_by_any_monitor(void **state)
{
    struct cluster *c = *state;
    setup(c);
    put_pod(c, with_rbd(c, "there", "m1 m2", "i", true), "n1");
    assert_string_equal(ruling_on(c, with_rbd(c, "a", "m2 m3", "i", false), "n1"), DISK);
    assert_string_equal(ruling_on(c, with_rbd(c, "b", "m3", "i", false), "n1"), "");
    assert_string_equal(ruling_on(c, with_rbd(c, "c", "m1", "j", false), "n1"), "");
    assert_string_equal(ruling_on(c, with_rbd(c, "d", "m1", "i", true), "n1"), "");
}

static void an_exclusive_claim_in_use_rejects_every_node(void **state)
{
    struct cluster *c = *state;
    setup(c);
    know(c, "claim_set claim={namespace_name=\"default\" name=\"once\" " ONCE "}");
    know(c, "claim_set claim={namespace_name=\"default\" name=\"many\"}");
    struct pod *p = with_claim(c, "p", "once");
    assert_string_equal(before_nodes(c, p), "skip");
    catalog_count_user(c->catalog, STR_LITERAL("other"), STR_LITERAL("once"), 1);
    catalog_count_user(c->catalog, STR_LITERAL("default"), STR_LITERAL("many"), 1);
    assert_string_equal(before_nodes(c, p), "skip");
    assert_string_equal(before_nodes(c, with_claim(c, "q", "many")), "skip");
    catalog_count_user(c->catalog, STR_LITERAL("default"), STR_LITERAL("once"), 1);
    assert_string_equal(before_nodes(c, p), "");
    assert_string_equal(ruling_on(c, p, "n1"), USED);
    catalog_count_user(c->catalog, STR_LITERAL("default"), STR_LITERAL("once"), -1);
    assert_string_equal(before_nodes(c, p), "skip");
}

static void a_missing_claim_turns_the_pod_away(void **state)
{
    struct cluster *c = *state;
    setup(c);
    assert_string_equal(before_nodes(c, with_claim(c, "p", "x")),
                        "UAU: persistentvolumeclaim \"x\" not found");
    struct pod *ephemeral = with_claim(c, "q", NULL);
    add_volume(c, ephemeral, "ephemeral", "q-v");
    assert_string_equal(before_nodes(c, ephemeral), "skip"); /* VolumeBinding's matter */
    assert_string_equal(before_nodes(c, with_claim(c, "r", NULL)), "skip");
}

/* The victims' step, as preemption asks it: without the pod that uses the claim there is room. */
static void removing_the_user_helps(void **state)
{
    struct cluster *c = *state;
    setup(c);
    know(c, "claim_set claim={namespace_name=\"default\" name=\"once\" " ONCE "}");
    catalog_count_user(c->catalog, STR_LITERAL("default"), STR_LITERAL("once"), 1);
    struct pod *user = with_claim(c, "user", "once"), *wants = with_claim(c, "wants", "once");
    user->priority = 1;
    wants->priority = 5;
    put_pod(c, user, "n1");
    put_node(c, make_node(c, "n2", 1000, GIB));
    put_pod(c, with_claim(c, "bystander", NULL), "n2");
    struct map_request request = {.cycle = 1,
                                  .round = 2,
                                  .step = MAP_STEP_victims,
                                  .alone = true,
                                  .detail = true,
                                  .pod = *wants};
    request.findings.claims_in_use = 1;
    request.findings.volumes.exclusive = strs_of(&c->arena, "once");
    const struct map_result *r = map_with(c, &request);
    assert_int_equal(r->dry_run.candidates.count, 1);
    assert_str(r->dry_run.candidates.at[0].node, "n1");
    assert_int_equal(r->dry_run.candidates.at[0].victims.count, 1);
    assert_str(r->dry_run.candidates.at[0].victims.at[0].name, "user");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(disks_are_shared_only_for_reading),
        CLUSTER_TEST(a_disk_of_another_kind_is_another_disk),
        CLUSTER_TEST(rbd_images_are_known_by_any_monitor),
        CLUSTER_TEST(an_exclusive_claim_in_use_rejects_every_node),
        CLUSTER_TEST(a_missing_claim_turns_the_pod_away),
        CLUSTER_TEST(removing_the_user_helps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
