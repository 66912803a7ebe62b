/* TaintToleration: which tolerations cover which taints, and how the soft ones score. */
#include "tests/unit/scheduler/cluster.h"

#define NO "TaintToleration UAU: node(s) had untolerated taint(s)"

static struct toleration toleration(const char *key, const char *operation, const char *value,
                                    const char *effect)
{
    return (struct toleration){str_of(key), str_of(operation), str_of(value), str_of(effect)};
}

static void a_taint_is_tolerated_by_key_operator_value_and_effect(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *key, *operation, *value, *effect, *ruling;
    } table[] = {
        {"k", "Exists", "", "", ""},
        {"k", "Exists", "", "NoSchedule", ""},
        {"k", "Exists", "", "NoExecute", NO},
        {"k", "", "v", "", ""},
        {"k", "Equal", "v", "NoSchedule", ""},
        {"k", "Equal", "w", "", NO},
        {"k", "Equal", "", "", NO},
        {"other", "Exists", "", "", NO},
        {"", "Exists", "", "", ""},
        {"", "Equal", "v", "", ""},
        {"k", "Gt", "v", "", NO},
        {"k", "Exists", "", "Whatever", NO},
    };
    begin(c);
    struct node *n = make_node(c, "n1", 1000, GIB);
    *APPEND(&c->arena, n->taints) =
        (struct taint){STR_LITERAL("k"), STR_LITERAL("v"), STR_LITERAL("NoSchedule")};
    put_node(c, n);
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "n1"), NO);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct pod *p = make_pod(c, "p", 0, 0);
        tolerate(c, p,
                 toleration(table[i].key, table[i].operation, table[i].value, table[i].effect));
        assert_string_equal(ruling_on(c, p, "n1"), table[i].ruling);
    }
}

/* What a taint's value is held against, with TaintTolerationComparisonOperators. */
static void values_are_compared_with_the_gate(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *operation, *value, *tainted;
        bool tolerated;
    } table[] = {{"Gt", "900", "901", true},
                 {"Gt", "900", "900", false},
                 {"Gt", "900", "-901", false},
                 {"Lt", "900", "899", true},
                 {"Lt", "-5", "-6", true},
                 {"Lt", "900", "900", false},
                 {"Lt", "0", "-0", false},
                 {"Gt", "0900", "901", false},
                 {"Gt", "900", "+901", false},
                 {"Gt", "", "1", false},
                 {"Gt", "x", "1", false},
                 {"Gt", "1", "9223372036854775808", false},
                 {"Gt", "-9223372036854775808", "9223372036854775807", true}};
    for (size_t i = 0; i < 2 * sizeof(table) / sizeof(table[0]); i++) {
        bool compares = i % 2 == 0;
        c->profile.features.toleration_comparison = compares;
        begin(c);
        struct node *n = make_node(c, "n1", 1000, GIB);
        *APPEND(&c->arena, n->taints) = (struct taint){
            STR_LITERAL("k"), str_of(table[i / 2].tainted), STR_LITERAL("NoSchedule")};
        put_node(c, n);
        struct pod *p = make_pod(c, "p", 0, 0);
        tolerate(c, p, toleration("k", table[i / 2].operation, table[i / 2].value, ""));
        assert_string_equal(ruling_on(c, p, "n1"), compares && table[i / 2].tolerated ? "" : NO);
    }
}

static void every_hard_taint_must_be_tolerated_and_soft_ones_need_not(void **state)
{
    struct cluster *c = *state;
    begin(c);
    struct node *n = make_node(c, "n1", 1000, GIB);
    add_taint(c, n, "soft", "PreferNoSchedule");
    put_node(c, n);
    struct pod *p = make_pod(c, "p", 0, 0);
    assert_string_equal(ruling_on(c, p, "n1"), "");
    add_taint(c, n, "a", "NoSchedule");
    add_taint(c, n, "b", "NoExecute");
    put_node(c, n);
    tolerate(c, p, toleration("a", "Exists", "", ""));
    assert_string_equal(ruling_on(c, p, "n1"), NO);
    tolerate(c, p, toleration("b", "Exists", "", ""));
    assert_string_equal(ruling_on(c, p, "n1"), "");
}

static void soft_taints_count_against_a_node_and_are_reversed(void **state)
{
    struct cluster *c = *state;
    begin(c);
    struct node *n1 = make_node(c, "n1", 1000, GIB), *n2 = make_node(c, "n2", 1000, GIB);
    put_node(c, make_node(c, "n0", 1000, GIB));
    add_taint(c, n1, "x", "PreferNoSchedule");
    add_taint(c, n2, "x", "PreferNoSchedule");
    add_taint(c, n2, "y", "PreferNoSchedule");
    add_taint(c, n2, "z", "PreferNoSchedule");
    put_node(c, n1);
    put_node(c, n2);
    struct pod *p = make_pod(c, "p", 0, 0);
    tolerate(c, p, toleration("z", "Exists", "", "NoSchedule")); /* of another effect: no use */
    assert_int_equal(raw_on(c, p, "n2", "TaintToleration"), 3);
    assert_int_equal(weighted_on(c, p, "n0", "TaintToleration"), 300);
    assert_int_equal(weighted_on(c, p, "n1", "TaintToleration"), 3 * (100 - 33));
    assert_int_equal(weighted_on(c, p, "n2", "TaintToleration"), 0);
    tolerate(c, p, toleration("z", "Exists", "", "PreferNoSchedule"));
    assert_int_equal(raw_on(c, p, "n2", "TaintToleration"), 2);
}

static void without_soft_taints_every_node_scores_most(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n0", 1000, GIB));
    assert_int_equal(weighted_on(c, make_pod(c, "p", 0, 0), "n0", "TaintToleration"), 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(a_taint_is_tolerated_by_key_operator_value_and_effect),
        CLUSTER_TEST(values_are_compared_with_the_gate),
        CLUSTER_TEST(every_hard_taint_must_be_tolerated_and_soft_ones_need_not),
        CLUSTER_TEST(soft_taints_count_against_a_node_and_are_reversed),
        CLUSTER_TEST(without_soft_taints_every_node_scores_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
