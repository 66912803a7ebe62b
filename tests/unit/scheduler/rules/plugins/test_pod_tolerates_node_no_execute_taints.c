/* PodToleratesNodeNoExecuteTaints: only taints that evict count, and tolerations cover every one of
 * them. */
#include "tests/unit/scheduler/one_rule.h"

#define NO "PodToleratesNodeNoExecuteTaints UAU: node(s) had taints that the pod didn't tolerate"

static void only_evicting_taints_count(void **state)
{
    struct cluster *c = *state;
    only_filter(c, "PodToleratesNodeNoExecuteTaints");
    struct node *soft = make_node(c, "soft", 1000, GIB), *hard = make_node(c, "hard", 1000, GIB);
    add_taint(c, soft, "k", "NoSchedule");
    add_taint(c, hard, "k", "NoExecute");
    put_node(c, soft);
    put_node(c, hard);
    struct pod *p = make_pod(c, "p", 0, 0);
    assert_string_equal(ruling_on(c, p, "soft"), "");
    assert_string_equal(ruling_on(c, p, "hard"), NO);
    tolerate(c, p, (struct toleration){STR_LITERAL("k"), STR_LITERAL("Exists"), {0}, {0}});
    assert_string_equal(ruling_on(c, p, "hard"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONE_RULE_TEST(only_evicting_taints_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
