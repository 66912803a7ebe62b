/* CheckNodeLabelPresence: keys that must be there, keys that must not, and several such rules. */
#include "tests/unit/scheduler/one_rule.h"

#define NO "CheckNodeLabelPresence UAU: node(s) didn't have the requested labels"

static void labels_must_be_there_or_not(void **state)
{
    struct cluster *c = *state;
    *APPEND(&c->arena, c->profile.label_presence) =
        (struct label_rule){strs_of(&c->arena, "zone rack"), true};
    *APPEND(&c->arena, c->profile.label_presence) =
        (struct label_rule){strs_of(&c->arena, "old never-heard-of"), false};
    only_filter(c, "CheckNodeLabelPresence");
    struct node *both = labelled(c, "both", "rack", "r");
    add_label(c, both, "zone", "");
    put_node(c, both);
    labelled(c, "one", "zone", "z");
    struct node *old = labelled(c, "old", "rack", "r");
    add_label(c, old, "zone", "z");
    add_label(c, old, "old", "");
    put_node(c, old);
    const struct pod *p = make_pod(c, "p", 0, 0);
    assert_string_equal(ruling_on(c, p, "both"), "");
    assert_string_equal(ruling_on(c, p, "one"), NO);
    assert_string_equal(ruling_on(c, p, "old"), NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONE_RULE_TEST(labels_must_be_there_or_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
