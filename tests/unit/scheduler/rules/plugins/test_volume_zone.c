/* VolumeZone: zones and regions of bound volumes, several in one label, old labels and new ones,
 * and claims that have no volume. */
#include "tests/unit/scheduler/storage.h"

#define NO          "VolumeZone UAU: node(s) had no available volume zone"
#define ZONE        "topology.kubernetes.io/zone"
#define BETA_ZONE   "failure-domain.beta.kubernetes.io/zone"
#define BETA_REGION "failure-domain.beta.kubernetes.io/region"

/* A pod whose bound volume has the label. */
static struct pod *bound(struct cluster *c, const char *key, const char *value)
{
    know(c, "claim_set claim={namespace_name=\"default\" name=\"c\" volume_name=\"v\"}");
    know(c,
         arena_print(&c->arena, "volume_set volume={name=\"v\" labels=[{key=\"%s\" value=\"%s\"}]}",
                     key, value)
             .at);
    return with_claim(c, "p", "c");
}

static void labels_of_volume_and_node_must_agree(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *volume_key, *volume_value, *node_key, *node_value, *ruling;
    } table[] = {
        {ZONE, "a", ZONE, "a", ""},
        {ZONE, "a", ZONE, "b", NO},
        {ZONE, "a__b", ZONE, "b", ""},
        {ZONE, "a__b__c", ZONE, "d", NO},
        {ZONE, "a_b", ZONE, "a_b", ""},
        {ZONE, "a___b", ZONE, "_b", ""},
        {BETA_ZONE, "a", ZONE, "a", ""},
        {BETA_ZONE, "a", ZONE, "b", NO},
        {ZONE, "a", BETA_ZONE, "a", NO}, /* only old labels of volumes match new ones of nodes */
        {BETA_REGION, "r", ZONE, "a", NO},
        {ZONE, "a", "other", "a", ""}, /* a node that is nowhere */
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        only_rule(c, "VolumeZone");
        struct node *n = make_node(c, "n1", 1000, GIB);
        add_label(c, n, table[i].node_key, table[i].node_value);
        put_node(c, n);
        struct pod *p = bound(c, table[i].volume_key, table[i].volume_value);
        assert_string_equal(ruling_on(c, p, "n1"), table[i].ruling);
    }
}

static void a_broken_label_and_none_say_nothing(void **state)
{
    struct cluster *c = *state;
    only_rule(c, "VolumeZone");
    assert_string_equal(before_nodes(c, bound(c, ZONE, "a____b")), "skip");
    assert_string_equal(before_nodes(c, bound(c, ZONE, "a__ __b")), "skip");
    assert_string_equal(before_nodes(c, bound(c, ZONE, "")), "skip");
    assert_string_equal(before_nodes(c, bound(c, "app", "a")), "skip");
    assert_string_equal(before_nodes(c, bound(c, ZONE, " a __b")), "");
    assert_string_equal(before_nodes(c, with_claim(c, "q", NULL)), "skip");
}

static void claims_without_a_volume(void **state)
{
    struct cluster *c = *state;
    only_rule(c, "VolumeZone");
    know(c,
         "storage_class_set storage_class={name=\"late\" binding_mode=\"WaitForFirstConsumer\"}");
    know(c, "storage_class_set storage_class={name=\"now\" binding_mode=\"Immediate\"}");
    know(c, "storage_class_set storage_class={name=\"odd\"}");
    static const struct {
        const char *claim, *says;
    } table[] = {
        {"has_class=true class_name=\"late\"", "skip"},
        {"has_class=true class_name=\"now\"", "UAU: PersistentVolume had no name"},
        {"has_class=true class_name=\"odd\"",
         "UAU: VolumeBindingMode not set for StorageClass \"odd\""},
        {"has_class=true class_name=\"gone\"",
         "UAU: storageclass.storage.k8s.io \"gone\" not found"},
        {"has_class=true", "UAU: PersistentVolumeClaim had no pv name and storageClass name"},
        {"volume_name=\"gone\"", "UAU: persistentvolume \"gone\" not found"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        know(c, arena_print(&c->arena, "claim_set claim={namespace_name=\"default\" name=\"c\" %s}",
                            table[i].claim)
                    .at);
        assert_string_equal(before_nodes(c, with_claim(c, "p", "c")), table[i].says);
    }
    assert_string_equal(before_nodes(c, with_claim(c, "p", "x")),
                        "UAU: persistentvolumeclaim \"x\" not found");
    assert_string_equal(before_nodes(c, with_claim(c, "p", "")),
                        "UAU: PersistentVolumeClaim had no name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(labels_of_volume_and_node_must_agree),
        CLUSTER_TEST(a_broken_label_and_none_say_nothing),
        CLUSTER_TEST(claims_without_a_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
