/* test_pod_groups: pods with the same namespace and labels are one group, wherever they are and
 * whatever else they ask for; groups come and go with their pods, and count them by row. */
#include "tests/unit/scheduler/cluster.h"

#include "scheduler/worker/shard_inside.h"

static struct pod *labelled(struct cluster *c, const char *name, const char *labels)
{
    struct pod *p = make_pod(c, name, 0, 0);
    struct strs values = strs_of(&c->arena, labels);
    for (uint32_t i = 0; i + 1 < values.count; i += 2)
        *APPEND(&c->arena, p->labels) = (struct label){values.at[i], values.at[i + 1]};
    return p;
}

static void pods_that_look_alike_are_one_group(void **state)
{
    struct cluster *c = *state;
    struct pod *a = labelled(c, "a", "app web tier x"), *b = labelled(c, "b", "app web tier x");
    struct pod *other = labelled(c, "other", "app web"), *far = labelled(c, "far", "app web");
    far->namespace_name = STR_LITERAL("far");
    begin(c);
    put_pod(c, a, "n1");
    assert_int_equal(c->shard->share.groups.count, 1);
    put_pod(c, b, "n2");
    assert_int_equal(c->shard->share.groups.count, 1);
    assert_int_equal(c->shard->share.groups.at[0]->pod_count, 2);
    put_pod(c, other, "n1");
    put_pod(c, far, "n1");
    assert_int_equal(c->shard->share.groups.count, 3);
    shard_pod_gone(c->shard, a->uid);
    assert_int_equal(c->shard->share.groups.count, 3);
    shard_pod_gone(c->shard, b->uid);
    assert_int_equal(c->shard->share.groups.count, 2);
    put_pod(c, labelled(c, "again", "app web"), "n2");
    assert_int_equal(c->shard->share.groups.count, 2);
}

/* Atoms are used again for other texts: a key made of them must not outlive them. */
static void a_look_that_went_is_not_another_that_came(void **state)
{
    struct cluster *c = *state;
    begin(c);
    for (int i = 0; i < 100; i++) {
        struct str value = arena_print(&c->arena, "app v%d", i);
        struct pod *p = labelled(c, "p", value.at);
        put_pod(c, p, "n1");
        assert_int_equal(c->shard->share.groups.count, 1);
        const struct pod_group *g = c->shard->share.groups.at[0];
        assert_str(atom_text(c->shard->share.atoms, g->labels[0].value), value.at + 4);
        shard_pod_gone(c->shard, p->uid);
        assert_int_equal(c->shard->share.groups.count, 0);
    }
}

static void a_group_counts_its_pods_by_row(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    put_node(c, make_node(c, "n2", 1000, GIB));
    struct pod *ends = labelled(c, "ends", "app web");
    ends->deleting = true;
    put_pod(c, labelled(c, "a", "app web"), "n1");
    put_pod(c, labelled(c, "b", "app web"), "n2");
    put_pod(c, ends, "n2");
    put_pod(c, labelled(c, "ghost", "app web"), "unknown");
    int64_t by_row[2] = {0}, living[2] = {0};
    pod_group_count(c->shard->share.groups.at[0], true, by_row);
    pod_group_count(c->shard->share.groups.at[0], false, living);
    for (uint32_t row = 0; row < 2; row++) {
        bool n1 =
            str_is(atom_text(c->shard->share.atoms, c->shard->share.nodes.entry[row]->name), "n1");
        assert_int_equal(by_row[row], n1 ? 1 : 2);
        assert_int_equal(living[row], 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(pods_that_look_alike_are_one_group),
        CLUSTER_TEST(a_look_that_went_is_not_another_that_came),
        CLUSTER_TEST(a_group_counts_its_pods_by_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
