/* ServiceAntiAffinity: a domain gets the share of the service's pods that is elsewhere. */
#include "tests/unit/scheduler/one_rule.h"

#define NAME "ServiceAntiAffinity"

static void pods_elsewhere_raise_the_score(void **state)
{
    struct cluster *c = *state;
    tell_catalog(c, WEB_SERVICE);
    c->profile.service_anti_affinity = strs_of(&c->arena, "rack");
    only_score(c, NAME);
    labelled(c, "a1", "rack", "a");
    labelled(c, "a2", "rack", "a");
    labelled(c, "b", "rack", "b");
    labelled(c, "none", "x", "y");
    const struct pod *p = web_pod(c, "p");
    assert_int_equal(raw_on(c, p, "a1", NAME), 100);
    assert_int_equal(raw_on(c, p, "none", NAME), 0);
    put_pod(c, web_pod(c, "1"), "a1");
    put_pod(c, web_pod(c, "2"), "a2");
    put_pod(c, web_pod(c, "3"), "b");
    put_pod(c, web_pod(c, "4"), "none");
    assert_int_equal(raw_on(c, p, "a1", NAME), 50);
    assert_int_equal(raw_on(c, p, "a2", NAME), 50);
    assert_int_equal(raw_on(c, p, "b", NAME), 75);
    assert_int_equal(raw_on(c, p, "none", NAME), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONE_RULE_TEST(pods_elsewhere_raise_the_score)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
