/* VolumeBinding: which claims a pod may come with, which nodes the volumes of bound claims allow,
 * and where claims that wait for a node can get a volume. */
#include "tests/unit/scheduler/storage.h"

#define ELSEWHERE "node(s) didn't match PersistentVolume's node affinity"
#define NOTHING   "node(s) didn't find available persistent volumes to bind"
#define NO_ROOM   "node(s) did not have enough free storage"
#define MISSING   "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
#define RULE      "VolumeBinding UAU: "

#define CLAIM "claim_set claim={namespace_name=\"default\" volume_mode=\"Filesystem\" "
#define IN_A                                                                                       \
    "has_terms=true terms=[{expressions=[{key=\"z\" operator_name=\"In\" values=[\"a\"]}]}]"

/* Nodes a and b, each in the zone of its name, and classes that wait. */
static void setup(struct cluster *c)
{
    only_rule(c, "VolumeBinding");
    for (int i = 0; i < 2; i++) {
        struct node *n = make_node(c, i == 0 ? "a" : "b", 1000, GIB);
        add_label(c, n, "z", i == 0 ? "a" : "b");
        put_node(c, n);
    }
    know(c, "storage_class_set storage_class={name=\"local\" binding_mode=\"WaitForFirstConsumer\" "
            "provisioner=\"kubernetes.io/no-provisioner\"}");
    know(c, "storage_class_set storage_class={name=\"made\" binding_mode=\"WaitForFirstConsumer\" "
            "provisioner=\"d\"}");
    know(c, "storage_class_set storage_class={name=\"now\" binding_mode=\"Immediate\"}");
    know(c, "storage_class_set storage_class={name=\"odd\"}");
}

static void claim(struct cluster *c, const char *name, const char *more)
{
    know(c, arena_print(&c->arena, CLAIM "name=\"%s\" uid=\"u-%s\" %s}", name, name, more).at);
}

static void volume(struct cluster *c, const char *name, const char *more)
{
    know(c, arena_print(&c->arena,
                        "volume_set volume={name=\"%s\" class_name=\"local\" phase=\"Available\" "
                        "volume_mode=\"Filesystem\" %s}",
                        name, more)
                .at);
}

/* What the rule says of both nodes, as "a: …; b: …". */
static void assert_nodes(struct cluster *c, const struct pod *p, const char *a, const char *b)
{
    assert_string_equal(ruling_on(c, p, "a"), a);
    assert_string_equal(ruling_on(c, p, "b"), b);
}

static void claims_that_turn_the_pod_away(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *claim, *says;
    } table[] = {
        {"phase=\"Lost\" volume_name=\"v\"",
         "UAU: persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"v\""},
        {"deleting=true", "UAU: persistentvolumeclaim \"c\" is being deleted"},
        {"", "UAU: pod has unbound immediate PersistentVolumeClaims"},
        {"class_name=\"gone\"", "UAU: pod has unbound immediate PersistentVolumeClaims"},
        {"class_name=\"now\"", "UAU: pod has unbound immediate PersistentVolumeClaims"},
        {"class_name=\"local\" volume_name=\"v\"",
         "UAU: pod has unbound immediate PersistentVolumeClaims"},
        {"class_name=\"odd\"", "error: running PreFilter plugin \"VolumeBinding\": "
                               "VolumeBindingMode not set for StorageClass \"odd\""},
        {"class_name=\"local\"", ""},
        {"volume_name=\"v\" bind_completed=true", ""},
    };
    setup(c);
    assert_string_equal(before_nodes(c, with_claim(c, "p", NULL)), "skip");
    assert_string_equal(before_nodes(c, with_claim(c, "p", "c")),
                        "UAU: persistentvolumeclaim \"c\" not found");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        claim(c, "c", table[i].claim);
        assert_string_equal(before_nodes(c, with_claim(c, "p", "c")), table[i].says);
    }
}

static void an_ephemeral_volumes_claim_is_its_pods(void **state)
{
    struct cluster *c = *state;
    setup(c);
    struct pod *p = with_claim(c, "p", NULL);
    add_volume(c, p, "ephemeral", "p-v");
    assert_string_equal(before_nodes(c, p),
                        "UAU: waiting for ephemeral volume controller to create "
                        "the persistentvolumeclaim \"p-v\"");
    claim(c, "p-v", "class_name=\"local\" owner_uid=\"another\"");
    assert_string_equal(before_nodes(c, p),
                        "UAU: PVC default/p-v was not created for pod default/p "
                        "(pod is not owner)");
    claim(c, "p-v",
          arena_print(&c->arena, "class_name=\"local\" owner_uid=\"%.*s\"", STR_ARG(p->uid)).at);
    assert_string_equal(before_nodes(c, p), "");
}

static void bound_volumes_choose_the_node(void **state)
{
    struct cluster *c = *state;
    setup(c);
    claim(c, "c", "volume_name=\"v\" bind_completed=true");
    struct pod *p = with_claim(c, "p", "c");
    assert_nodes(c, p, RULE MISSING, RULE MISSING);
    volume(c, "v", "");
    assert_nodes(c, p, "", "");
    volume(c, "v", IN_A);
    assert_nodes(c, p, "", RULE ELSEWHERE);
    volume(c, "v", "has_terms=true"); /* no term at all allows nothing */
    assert_nodes(c, p, RULE ELSEWHERE, RULE ELSEWHERE);
    volume(c, "v",
           "has_terms=true terms=[{fields=[{key=\"metadata.name\" operator_name=\"In\" "
           "values=[\"a\"]}]}]"); /* a volume sees labels only */
    assert_nodes(c, p, "", "");
    volume(c, "v",
           "has_terms=true terms=[{fields=[{key=\"metadata.name\" "
           "operator_name=\"Exists\"}]}]");
    assert_nodes(c, p, RULE ELSEWHERE, RULE ELSEWHERE);
}

static void a_migrated_disk_follows_its_driver(void **state)
{
    struct cluster *c = *state;
    static const char *const migrated =
        IN_A " migrated_plugin=\"kubernetes.io/gce-pd\" has_migrated_terms=true "
             "migrated_terms=[{expressions=[{key=\"z\" operator_name=\"In\" values=[\"b\"]}]}]";
    setup(c);
    claim(c, "c", "volume_name=\"v\" bind_completed=true");
    struct pod *p = with_claim(c, "p", "c");
    volume(c, "v", migrated);
    assert_nodes(c, p, "", RULE ELSEWHERE);
    limit(c, "shard_storage node_name=\"b\" has_csi_node=true "
             "migrated=[\"kubernetes.io/aws-ebs\" \"kubernetes.io/gce-pd\"]");
    assert_nodes(c, p, "", "");
    limit(c, "shard_storage node_name=\"a\" has_csi_node=true migrated=[\"kubernetes.io/gce-pd\"]");
    assert_nodes(c, p, RULE ELSEWHERE, "");
    limit(c, "shard_storage node_name=\"a\"");
    assert_nodes(c, p, "", "");
    volume(c, "v", "migrated_plugin=\"kubernetes.io/gce-pd\" migration_problem=\"bad\"");
    assert_str(map_pod(c, p)->error, "running \"VolumeBinding\" filter plugin: could not translate "
                                     "pv: bad");
}

static void a_free_volume_must_suit_the_claim(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *claim, *volume;
        bool suits;
    } table[] = {
        {"", "", true},
        {"requested=5", "capacity=5", true},
        {"requested=5", "capacity=4", false},
        {"", "phase=\"Released\"", false},
        {"", "volume_mode=\"Block\"", false},
        {"", "deleting=true", false},
        {"", "class_name=\"made\"", false},
        {"", "attributes_class=\"gold\"", false},
        {"attributes_class=\"gold\"", "attributes_class=\"gold\"", true},
        {"access_modes=[\"X\"]", "access_modes=[\"Y\" \"X\"]", true},
        {"access_modes=[\"X\" \"Z\"]", "access_modes=[\"Y\" \"X\"]", false},
        {"selector={present=true labels=[{key=\"k\" value=\"v\"}]}", "", false},
        {"selector={present=true labels=[{key=\"k\" value=\"v\"}]}",
         "labels=[{key=\"k\" value=\"v\"}]", true},
        {"selector={present=true}", "", true},
        {"", "has_claim_ref=true claim_namespace=\"default\" claim_name=\"d\"", false},
        {"", "has_claim_ref=true claim_namespace=\"default\" claim_name=\"c\" claim_uid=\"x\"",
         false},
        /* reserved for this claim: phase, selector and modes do not matter */
        {"access_modes=[\"X\"]",
         "phase=\"Pending\" has_claim_ref=true claim_namespace=\"default\" claim_name=\"c\"", true},
        {"requested=5",
         "capacity=4 has_claim_ref=true claim_namespace=\"default\" claim_name=\"c\"", false},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        setup(c);
        claim(c, "c", arena_print(&c->arena, "class_name=\"local\" %s", table[i].claim).at);
        volume(c, "v", table[i].volume);
        const char *says = table[i].suits ? "" : RULE NOTHING;
        assert_nodes(c, with_claim(c, "p", "c"), says, says);
    }
}

static void a_reserved_volume_or_none(void **state)
{
    struct cluster *c = *state;
    setup(c);
    claim(c, "c", "class_name=\"local\"");
    volume(c, "free", "");
    volume(c, "mine", IN_A " has_claim_ref=true claim_namespace=\"default\" claim_name=\"c\"");
    assert_nodes(c, with_claim(c, "p", "c"), "", RULE NOTHING);
}

static void each_claim_needs_a_volume_of_its_own(void **state)
{
    struct cluster *c = *state;
    setup(c);
    claim(c, "c", "class_name=\"local\" requested=1");
    claim(c, "d", "class_name=\"local\" requested=5");
    struct pod *p = with_claim(c, "p", "d");
    add_volume(c, p, "claim", "c");
    volume(c, "v1", "capacity=9");
    assert_nodes(c, p, RULE NOTHING, RULE NOTHING);
    volume(c, "v2", "capacity=2 " IN_A);
    assert_nodes(c, p, "", RULE NOTHING);
    /* the smaller claim is served first, with the smallest volume: the larger one is left */
    volume(c, "v3", "capacity=3");
    assert_nodes(c, p, "", "");
    volume(c, "v3", "capacity=20");
    assert_nodes(c, p, "", "");
}

static void volumes_are_made_where_the_class_allows_it(void **state)
{
    struct cluster *c = *state;
    setup(c);
    claim(c, "c", "class_name=\"made\" requested=5");
    struct pod *p = with_claim(c, "p", "c");
    assert_nodes(c, p, "", "");
    know(c, "storage_class_set storage_class={name=\"made\" provisioner=\"d\" "
            "binding_mode=\"WaitForFirstConsumer\" topologies=[{} {expressions=[{key=\"z\" "
            "operator_name=\"In\" values=[\"b\" \"c\"]}]}]}");
    assert_nodes(c, p, RULE NOTHING, "");
    know(c, "storage_class_set storage_class={name=\"made\" provisioner=\"d\" "
            "binding_mode=\"WaitForFirstConsumer\" topologies=[{}]}");
    assert_nodes(c, p, RULE NOTHING, RULE NOTHING);
    know(c, "storage_class_set storage_class={name=\"made\" "
            "binding_mode=\"WaitForFirstConsumer\"}");
    assert_nodes(c, p, RULE NOTHING, RULE NOTHING);
}

static void room_counts_if_the_driver_says_so(void **state)
{
    struct cluster *c = *state;
    setup(c);
    claim(c, "c", "class_name=\"made\" requested=5");
    claim(c, "none", "class_name=\"made\"");
    struct pod *p = with_claim(c, "p", "c");
    know(c, "csi_driver_set csi_driver={name=\"d\"}");
    assert_nodes(c, p, "", "");
    know(c, "csi_driver_set csi_driver={name=\"d\" storage_capacity=true}");
    assert_nodes(c, p, RULE NO_ROOM, RULE NO_ROOM);
    assert_nodes(c, with_claim(c, "p", "none"), "", "");
    know(c, "csi_capacity_set csi_capacity={name=\"r\" class_name=\"made\" has_capacity=true "
            "capacity=9 topology={present=true labels=[{key=\"z\" value=\"a\"}]}}");
    assert_nodes(c, p, "", RULE NO_ROOM);
    know(c, "csi_capacity_set csi_capacity={name=\"r\" class_name=\"made\" has_capacity=true "
            "capacity=9 has_maximum=true maximum=4 topology={present=true}}");
    assert_nodes(c, p, RULE NO_ROOM, RULE NO_ROOM);
    know(c, "csi_capacity_set csi_capacity={name=\"r\" class_name=\"made\" has_maximum=true "
            "maximum=5 topology={present=true}}");
    assert_nodes(c, p, "", "");
    know(c, "csi_capacity_set csi_capacity={name=\"r\" class_name=\"made\" has_capacity=true "
            "capacity=9}"); /* reached from nowhere */
    assert_nodes(c, p, RULE NO_ROOM, RULE NO_ROOM);
    know(c, "csi_capacity_set csi_capacity={name=\"r\" class_name=\"other\" has_capacity=true "
            "capacity=9 topology={present=true}}");
    assert_nodes(c, p, RULE NO_ROOM, RULE NO_ROOM);
}

static void a_selected_node_is_the_only_one(void **state)
{
    struct cluster *c = *state;
    setup(c);
    claim(c, "c", "class_name=\"made\" selected_node=\"b\"");
    assert_nodes(c, with_claim(c, "p", "c"), RULE NOTHING, "");
    claim(c, "c", "class_name=\"local\" selected_node=\"b\"");
    volume(c, "v", "");
    assert_nodes(c, with_claim(c, "p", "c"), RULE NOTHING, RULE NOTHING);
}

static void both_kinds_of_claims_may_object(void **state)
{
    struct cluster *c = *state;
    setup(c);
    claim(c, "c", "volume_name=\"v\" bind_completed=true");
    claim(c, "d", "class_name=\"local\"");
    volume(c, "v", IN_A " phase=\"Bound\"");
    struct pod *p = with_claim(c, "p", "d");
    add_volume(c, p, "claim", "c");
    assert_nodes(c, p, RULE NOTHING, RULE ELSEWHERE ", " NOTHING);
    claim(c, "e", "volume_name=\"gone\" bind_completed=true");
    struct pod *q = with_claim(c, "q", "e");
    add_volume(c, q, "claim", "d");
    assert_nodes(c, q, RULE NOTHING ", " MISSING, RULE NOTHING ", " MISSING);
}

static void a_broken_selector_fails_the_filter(void **state)
{
    struct cluster *c = *state;
    setup(c);
    claim(c, "c",
          "class_name=\"local\" selector={present=true expressions=[{key=\"k\" "
          "operator_name=\"Near\"}]}");
    struct str error = map_pod(c, with_claim(c, "p", "c"))->error;
    assert_true(str_starts_with(error, "running \"VolumeBinding\" filter plugin: error creating "
                                       "internal label selector for claim: default/c: "));
}

/* A worker does not trust the indices in a findings. */
static void a_findings_that_makes_no_sense_is_passed_over(void **state)
{
    struct cluster *c = *state;
    setup(c);
    struct map_request request = {.cycle = 1,
                                  .round = 1,
                                  .step = MAP_STEP_map,
                                  .alone = true,
                                  .pod = *with_claim(c, "p", "c")};
    struct volume_choice choice = {.volume = 3};
    struct delayed_claim claims = {.choices = {1, &choice}};
    request.findings.volumes.delayed.count = 1;
    request.findings.volumes.delayed.at = &claims;
    assert_int_equal(map_with(c, &request)->evaluated, 2);
    choice.volume = -1;
    assert_int_equal(map_with(c, &request)->evaluated, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(claims_that_turn_the_pod_away),
        CLUSTER_TEST(an_ephemeral_volumes_claim_is_its_pods),
        CLUSTER_TEST(bound_volumes_choose_the_node),
        CLUSTER_TEST(a_migrated_disk_follows_its_driver),
        CLUSTER_TEST(a_free_volume_must_suit_the_claim),
        CLUSTER_TEST(a_reserved_volume_or_none),
        CLUSTER_TEST(each_claim_needs_a_volume_of_its_own),
        CLUSTER_TEST(volumes_are_made_where_the_class_allows_it),
        CLUSTER_TEST(room_counts_if_the_driver_says_so),
        CLUSTER_TEST(a_selected_node_is_the_only_one),
        CLUSTER_TEST(both_kinds_of_claims_may_object),
        CLUSTER_TEST(a_broken_selector_fails_the_filter),
        CLUSTER_TEST(a_findings_that_makes_no_sense_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
