/* NodePreferAvoidPods: a node is spared the pods of the controllers that it names, by kind and UID.
 */
#include "tests/unit/scheduler/one_rule.h"

static void named_controllers_are_avoided(void **state)
{
    struct cluster *c = *state;
    only_score(c, "NodePreferAvoidPods");
    struct node *shy = make_node(c, "shy", 1000, GIB);
    *APPEND(&c->arena, shy->avoided) =
        (struct label){STR_LITERAL("ReplicaSet"), STR_LITERAL("uid-1")};
    put_node(c, shy);
    labelled(c, "open", "x", "y");
    struct pod *p = make_pod(c, "p", 0, 0);
    assert_int_equal(raw_on(c, p, "shy", "NodePreferAvoidPods"), 100);
    p->owner_kind = STR_LITERAL("ReplicaSet");
    p->owner_uid = STR_LITERAL("uid-1");
    assert_int_equal(raw_on(c, p, "shy", "NodePreferAvoidPods"), 0);
    assert_int_equal(raw_on(c, p, "open", "NodePreferAvoidPods"), 100);
    p->owner_uid = STR_LITERAL("uid-2");
    assert_int_equal(raw_on(c, p, "shy", "NodePreferAvoidPods"), 100);
    p->owner_kind = STR_LITERAL("StatefulSet");
    p->owner_uid = STR_LITERAL("uid-1");
    assert_int_equal(raw_on(c, p, "shy", "NodePreferAvoidPods"), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONE_RULE_TEST(named_controllers_are_avoided)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
