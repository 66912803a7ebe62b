/* test_node_facts: equal lists have equal numbers, numbers are used again, and what was remembered
 * or asked for before a change of nodes is not believed after it. */
#include "tests/unit/scheduler/cluster.h"

#include "scheduler/worker/shard_inside.h"

static uint32_t fact(const struct cluster *c, enum fact fact, const char *node)
{
    const struct node_entry *e = map_get(c->shard->share.by_name, str_of(node));
    return c->shard->share.nodes.facts.at[fact][e->row];
}

static void put(struct cluster *c, const char *name, const char *taint, const char *zone)
{
    struct node *n = make_node(c, name, 1000, GIB);
    if (taint != NULL)
        add_taint(c, n, taint, "NoSchedule");
    if (zone != NULL)
        add_label(c, n, "zone", zone);
    put_node(c, n);
}

static void equal_lists_have_equal_numbers(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put(c, "n1", "gpu", NULL);
    put(c, "n2", NULL, NULL);
    put(c, "n3", "gpu", NULL);
    put(c, "n4", "db", NULL);
    assert_int_equal(fact(c, FACT_taints, "n2"), 0);
    assert_int_not_equal(fact(c, FACT_taints, "n1"), 0);
    assert_int_equal(fact(c, FACT_taints, "n1"), fact(c, FACT_taints, "n3"));
    assert_int_not_equal(fact(c, FACT_taints, "n1"), fact(c, FACT_taints, "n4"));
    shard_node_gone(c->shard, STR_LITERAL("n1"));
    assert_int_not_equal(fact(c, FACT_taints, "n3"), fact(c, FACT_taints, "n4"));
}

static void numbers_are_used_again(void **state)
{
    struct cluster *c = *state;
    begin(c);
    for (int i = 0; i < 100; i++) {
        char taint[24];
        snprintf(taint, sizeof(taint), "t%d", i);
        put(c, "n1", taint, NULL);
        put(c, "n2", i % 3 == 0 ? taint : NULL, NULL);
    }
    assert_true(c->shard->share.nodes.facts.limit[FACT_taints] <= 4);
}

static void a_memo_forgets_when_a_number_gets_another_meaning(void **state)
{
    struct cluster *c = *state;
    struct fact_memo memo = {0};
    begin(c);
    put(c, "n1", "gpu", NULL);
    uint32_t number = fact(c, FACT_taints, "n1");
    fact_memo(&memo, &c->shard->share.nodes, FACT_taints, &c->arena)[number] = 7;
    put(c, "n2", "gpu", NULL);
    assert_int_equal(fact_memo(&memo, &c->shard->share.nodes, FACT_taints, &c->arena)[number], 7);
    shard_node_gone(c->shard, STR_LITERAL("n1"));
    shard_node_gone(c->shard, STR_LITERAL("n2"));
    put(c, "n3", "db", NULL);
    assert_int_equal(fact(c, FACT_taints, "n3"), number);
    assert_int_equal(fact_memo(&memo, &c->shard->share.nodes, FACT_taints, &c->arena)[number], 0);
}

static void a_memo_has_room_for_new_numbers(void **state)
{
    struct cluster *c = *state;
    struct fact_memo memo = {0};
    begin(c);
    put(c, "n1", NULL, NULL);
    fact_memo(&memo, &c->shard->share.nodes, FACT_taints, &c->arena)[0] = 7;
    for (int i = 0; i < 300; i++) {
        char name[24];
        snprintf(name, sizeof(name), "m%d", i);
        put(c, name, name, NULL);
        uint32_t *at = fact_memo(&memo, &c->shard->share.nodes, FACT_taints, &c->arena);
        for (uint32_t k = 0; k < c->shard->share.nodes.facts.limit[FACT_taints]; k++)
            assert_int_equal(at[k]++, 0);
    }
}

/* What a column says of each row is what its entry's labels say. */
static void assert_column(const struct cluster *c, const char *key)
{
    const struct nodes *n = &c->shard->share.nodes;
    uint32_t atom = atom_find(c->shard->share.atoms, str_of(key));
    const uint32_t *column = facts_of_label(n, atom);
    for (uint32_t row = 0; row < n->count; row++)
        assert_int_equal(column[row],
                         label_value(n->entry[row]->labels, n->entry[row]->label_count, atom));
    column = facts_of_name(n);
    for (uint32_t row = 0; row < n->count; row++)
        assert_int_equal(column[row], n->entry[row]->name);
}

static void columns_follow_their_nodes(void **state)
{
    struct cluster *c = *state;
    static const char *const zones[] = {"a", "b", NULL};
    struct random r = {1};
    begin(c);
    put(c, "first", NULL, "a");
    assert_column(c, "zone");
    for (int i = 0; i < 2000; i++) {
        char name[24];
        snprintf(name, sizeof(name), "n%u", (unsigned)random_below(&r, 70));
        if (random_below(&r, 3) == 0)
            shard_node_gone(c->shard, str_of(name));
        else
            put(c, name, NULL, zones[random_below(&r, 3)]);
        if (i % 7 == 0)
            assert_column(c, "zone");
    }
}

static void more_is_asked_for_than_is_kept(void **state)
{
    struct cluster *c = *state;
    begin(c);
    for (int i = 0; i < 200; i++) {
        char key[24];
        struct node *n = make_node(c, "n", 1000, GIB);
        snprintf(key, sizeof(key), "k%d", i % 50);
        n->name = arena_print(&c->arena, "n%d", i);
        add_label(c, n, arena_copy(&c->arena, str_of(key)).at, "v");
        put_node(c, n);
    }
    for (int i = 0; i < 300; i++) {
        char key[24];
        snprintf(key, sizeof(key), "k%d", i * 7 % 50);
        assert_column(c, key);
    }
}

/* A label of which nobody knows any more, and another one that gets its number. */
static void a_column_outlives_its_label(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put(c, "n1", NULL, "a");
    put(c, "n2", NULL, NULL);
    uint32_t zone = atom_find(c->shard->share.atoms, STR_LITERAL("zone"));
    assert_int_not_equal(facts_of_label(&c->shard->share.nodes, zone)[0], 0);
    put(c, "n1", NULL, NULL);
    assert_int_equal(facts_of_label(&c->shard->share.nodes, zone)[0], 0);
    for (int i = 0; i < 8; i++) {
        struct node *n = make_node(c, "n2", 1000, GIB);
        char key[24];
        snprintf(key, sizeof(key), "other%d", i);
        for (int k = 0; k <= i; k++)
            add_label(c, n, arena_print(&c->arena, "other%d", k).at, "x");
        put_node(c, n);
        assert_column(c, key);
    }
    assert_column(c, "other0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(equal_lists_have_equal_numbers),
        CLUSTER_TEST(numbers_are_used_again),
        CLUSTER_TEST(a_memo_forgets_when_a_number_gets_another_meaning),
        CLUSTER_TEST(a_memo_has_room_for_new_numbers),
        CLUSTER_TEST(columns_follow_their_nodes),
        CLUSTER_TEST(more_is_asked_for_than_is_kept),
        CLUSTER_TEST(a_column_outlives_its_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
