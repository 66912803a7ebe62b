/* test_health: the pages of /healthz, /livez and /readyz, to the letter, as kube-scheduler has
 * them. */
#include "ctl/serve/health.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct health good[] = {{.name = "leaderElection"}, {.name = "shutdown"}};
static const struct health bad[] = {{.name = "leaderElection"},
                                    {.name = "workers", .reason = "no worker has joined"}};

static void expect(const struct health_question *q, const struct health *checks, int status,
                   const char *text)
{
    struct buffer out = {0};
    assert_int_equal(health_answer(q, checks, 2, &out), status);
    assert_string_equal(out.at, text);
    buffer_free(&out);
}

static void all_is_well(void **state)
{
    (void)state;
    expect(&(struct health_question){.path = "/readyz", .group = "readyz"}, good, 200, "ok");
    expect(&(struct health_question){.path = "/readyz", .group = "readyz", .verbose = true}, good,
           200, "[+]leaderElection ok\n[+]shutdown ok\nreadyz check passed\n");
}

static void what_is_worth_telling_stands_behind_a_check_that_is_well(void **state)
{
    (void)state;
    static const struct health noted[] = {{.name = "shutdown"},
                                          {.name = "release", .note = "taken as 1.37"}};
    expect(&(struct health_question){.path = "/readyz", .group = "readyz"}, noted, 200, "ok");
    expect(&(struct health_question){.path = "/readyz", .group = "readyz", .verbose = true}, noted,
           200, "[+]shutdown ok\n[+]release ok: taken as 1.37\nreadyz check passed\n");
}

static void a_failure_is_named_but_its_reason_is_withheld(void **state)
{
    (void)state;
    expect(&(struct health_question){.path = "/readyz", .group = "readyz"}, bad, 500,
           "[+]leaderElection ok\n[-]workers failed: reason withheld\nreadyz check failed\n");
}

static void an_excluded_check_may_fail(void **state)
{
    (void)state;
    expect(&(struct health_question){.path = "/readyz",
                                     .group = "readyz",
                                     .verbose = true,
                                     .excluded = {"workers", "nope"},
                                     .excluded_count = 2},
           bad, 200,
           "[+]leaderElection ok\n[+]workers excluded: ok\n"
           "warn: some health checks cannot be excluded: no matches for \"nope\"\n"
           "readyz check passed\n");
}

static void a_check_has_a_page_of_its_own(void **state)
{
    (void)state;
    expect(&(struct health_question){.path = "/readyz/shutdown", .group = "readyz"}, good, 200,
           "ok");
    expect(&(struct health_question){.path = "/readyz/workers", .group = "readyz"}, bad, 500,
           "internal server error: no worker has joined\n");
    expect(&(struct health_question){.path = "/readyz/nope", .group = "readyz"}, good, 404,
           "404 page not found\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_well),
        cmocka_unit_test(what_is_worth_telling_stands_behind_a_check_that_is_well),
        cmocka_unit_test(a_failure_is_named_but_its_reason_is_withheld),
        cmocka_unit_test(an_excluded_check_may_fail),
        cmocka_unit_test(a_check_has_a_page_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
