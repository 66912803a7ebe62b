/* NodeDeclaredFeatures: what a pod makes use of must be declared by its node. */
#include "tests/unit/scheduler/cluster.h"

#define NO "NodeDeclaredFeatures UAU: node(s) didn't match Pod's required features"

static int setup(void **state)
{
    int status = cluster_setup(state);
    struct cluster *c = *state;
    *APPEND(&c->arena, c->profile.filter) = STR_LITERAL("NodeDeclaredFeatures");
    *APPEND(&c->arena, c->profile.pre_filter) = STR_LITERAL("NodeDeclaredFeatures");
    begin(c);
    struct node *some = make_node(c, "some", 1000, GIB), *all = make_node(c, "all", 1000, GIB);
    some->features = strs_of(&c->arena, "A");
    all->features = strs_of(&c->arena, "B A");
    put_node(c, some);
    put_node(c, all);
    put_node(c, make_node(c, "none", 1000, GIB));
    return status;
}

static void every_needed_feature_must_be_declared(void **state)
{
    struct cluster *c = *state;
    struct pod *p = make_pod(c, "p", 0, 0);
    assert_string_equal(ruling_on(c, p, "none"), "");
    p->features = strs_of(&c->arena, "A B");
    assert_string_equal(ruling_on(c, p, "all"), "");
    assert_string_equal(ruling_on(c, p, "some"), NO);
    assert_string_equal(ruling_on(c, p, "none"), NO);
    p->features = strs_of(&c->arena, "Unheard");
    assert_string_equal(ruling_on(c, p, "all"), NO);
}

static void a_changed_node_is_judged_by_what_it_declares_now(void **state)
{
    struct cluster *c = *state;
    struct pod *p = make_pod(c, "p", 0, 0);
    p->features = strs_of(&c->arena, "A");
    assert_string_equal(ruling_on(c, p, "some"), "");
    put_node(c, make_node(c, "some", 1000, GIB));
    assert_string_equal(ruling_on(c, p, "some"), NO);
}

static void without_the_gate_nothing_need_be_declared(void **state)
{
    struct cluster *c = *state;
    struct pod *p = make_pod(c, "p", 0, 0);
    p->features = strs_of(&c->arena, "A");
    assert_string_equal(ruling_on(c, p, "none"), NO);
    c->profile.features.declared_features = false;
    assert_string_equal(ruling_on(c, p, "none"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_needed_feature_must_be_declared, setup,
                                        cluster_teardown),
        cmocka_unit_test_setup_teardown(without_the_gate_nothing_need_be_declared, setup,
                                        cluster_teardown),
        cmocka_unit_test_setup_teardown(a_changed_node_is_judged_by_what_it_declares_now, setup,
                                        cluster_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
