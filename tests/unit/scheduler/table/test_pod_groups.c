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

static struct selector selector_of(struct cluster *c, const char *labels, const char *in)
{
    struct selector out = {.present = true};
    struct strs values = strs_of(&c->arena, labels), more = strs_of(&c->arena, in);
    for (uint32_t i = 0; i + 1 < values.count; i += 2)
        *APPEND(&c->arena, out.labels) = (struct label){values.at[i], values.at[i + 1]};
    if (more.count > 0)
        *APPEND(&c->arena, out.expressions) =
            (struct requirement){.key = more.at[0],
                                 .operator_name = STR_LITERAL("In"),
                                 .values = {more.count - 1, more.at + 1}};
    return out;
}

/* How many groups a selector wants, of those that the walk shows; *shown: how many that are. */
static int wanted(struct cluster *c, const char *labels, const char *in, int *shown)
{
    const struct share *share = &c->shard->share;
    struct selector selector = selector_of(c, labels, in);
    struct label_matcher *m = label_matcher_find(share->atoms, &selector, &c->arena);
    struct group_walk walk = pod_groups_walk(&share->groups, m);
    const struct pod_group *group;
    int count = 0, all = 0;
    *shown = 0;
    while ((group = group_walk_next(&walk)) != NULL) {
        ++*shown;
        count += label_matcher_matches(m, group->labels, group->label_count);
    }
    for (uint32_t i = 0; i < share->groups.count; i++)
        all +=
            label_matcher_matches(m, share->groups.at[i]->labels, share->groups.at[i]->label_count);
    assert_int_equal(count, all);
    return count;
}

static void a_selector_is_shown_groups_with_its_rarest_label(void **state)
{
    struct cluster *c = *state;
    struct str uids[60];
    int shown;
    begin(c);
    for (int i = 0; i < 60; i++) {
        struct str labels = arena_print(&c->arena, "app a%d tier t%d own o%d", i % 5, i % 2, i);
        struct pod *pod = labelled(c, "p", labels.at);
        put_pod(c, pod, "n1");
        uids[i] = pod->uid;
    }
    put_pod(c, labelled(c, "bare", ""), "n1");
    assert_int_equal(wanted(c, "app a3", "", &shown), 12);
    assert_int_equal(shown, 12);
    assert_int_equal(wanted(c, "tier t1 app a3", "", &shown), 6);
    assert_int_equal(shown, 12);
    assert_int_equal(wanted(c, "app a3 own o3", "", &shown), 1);
    assert_int_equal(shown, 1);
    assert_int_equal(wanted(c, "app a3 own o4", "", &shown), 0);
    assert_int_equal(wanted(c, "app nobody", "", &shown), 0);
    assert_int_equal(shown, 0);
    assert_int_equal(wanted(c, "", "own o1 o2", &shown), 2);
    assert_int_equal(shown, 61); /* of several values none alone says who is wanted */
    assert_int_equal(wanted(c, "", "own o1", &shown), 1);
    assert_int_equal(shown, 1);
    assert_int_equal(wanted(c, "", "", &shown), 61);
    for (int i = 0; i < 60; i += 3)
        shard_pod_gone(c->shard, uids[i]);
    assert_int_equal(wanted(c, "app a3", "", &shown), 8);
    assert_int_equal(shown, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(pods_that_look_alike_are_one_group),
        CLUSTER_TEST(a_look_that_went_is_not_another_that_came),
        CLUSTER_TEST(a_group_counts_its_pods_by_row),
        CLUSTER_TEST(a_selector_is_shown_groups_with_its_rarest_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
