/* test_core: bench-core on clusters of a few dozen nodes, so that it cannot rot unseen: every
 * workload is decided, what is measured is the same work however it is driven, and what is written
 * down is what was measured. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/kube/documents/json.h"
#include "tests/bench/core/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct core_options small(void)
{
    return (struct core_options){.nodes = {1, {60}},
                                 .workers = {1, {1}},
                                 .shares = {2, {1, 3}},
                                 .density = {2, {1, 3}},
                                 .kin = {2, {1, 3}},
                                 .parked = {2, {0, 50}},
                                 .bound_per_node = 2,
                                 .zones = 3,
                                 .wide_nodes = 90,
                                 .rule_nodes = 60,
                                 .decisions = 20,
                                 .credit = 8,
                                 .seconds = 60,
                                 .tie_break = TIE_BREAK_first};
}

static struct report *measured(const struct core_options *o)
{
    struct report *r = report_new(true);
    assert_true(sections_run(o, r));
    return r;
}

static void every_workload_is_decided(void **state)
{
    (void)state;
    struct core_options o = small();
    o.sections = "decisions";
    struct report *r = measured(&o);
    assert_true(report_rows(r, "decisions") >= 10);
    for (size_t i = 0; i < report_rows(r, "decisions"); i++) {
        assert_true(report_number(r, "decisions", i, "decided") >= 20);
        assert_true(report_number(r, "decisions", i, "failed") == 0);
        assert_true(report_number(r, "decisions", i, "us") > 0);
        assert_true(report_number(r, "decisions", i, "worker_us") > 0);
    }
    report_free(&r);
}

static void same_places_in(const struct report *a, const struct report *b, const char *section)
{
    assert_int_equal(report_rows(a, "decisions"), report_rows(b, section));
    for (size_t i = 0; i < report_rows(a, "decisions"); i++)
        assert_string_equal(report_text(a, "decisions", i, "places"),
                            report_text(b, section, i, "places"));
}

static void same_places(const struct report *a, const struct report *b)
{
    same_places_in(a, b, "decisions");
}

/* Several workers, frames, bare shards and one pod at a time are other ways to the same decisions.
 */
static void it_is_the_same_work_however_it_is_driven(void **state)
{
    (void)state;
    struct core_options o = small();
    o.sections = "decisions";
    struct report *one = measured(&o);
    o.framed = true;
    struct report *framed = measured(&o);
    o.workers.at[0] = 3;
    struct report *three = measured(&o);
    o.bare = true;
    struct report *bare = measured(&o);
    o.workers.at[0] = 1;
    struct report *alone = measured(&o);
    o.bare = false;
    o.batch = 1;
    struct report *single = measured(&o);
    same_places(one, alone);
    same_places(one, single);
    same_places(one, framed);
    same_places(one, three);
    same_places(one, bare);
    report_free(&one);
    report_free(&framed);
    report_free(&three);
    report_free(&bare);
    report_free(&alone);
    report_free(&single);
}

static void threads_decide_as_turns_do(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers += 2) {
        struct core_options o = small();
        o.sections = "decisions";
        o.workloads = "plain,service,zone-spread,host-anti";
        o.credit = 4096;
        o.workers.at[0] = workers;
        struct report *turns = measured(&o);
        o.sections = "overlap";
        struct report *threads = measured(&o);
        same_places_in(turns, threads, "overlap");
        assert_true(report_number(threads, "overlap", 0, "wall_per_s") > 0);
        report_free(&turns);
        report_free(&threads);
    }
}

static void what_was_measured_is_written_down(void **state)
{
    (void)state;
    struct core_options o = small();
    char *text = NULL;
    size_t len = 0;
    struct arena a = {0};
    struct str error = {NULL, 0};
    o.sections = "decisions";
    o.workloads = "plain,daemon";
    struct report *r = measured(&o);
    report_about(r, "said", "with \"quotes\"");
    FILE *out = open_memstream(&text, &len);
    report_json(r, out);
    assert_int_equal(fclose(out), 0);
    struct kube_json *json = kube_json_parse((struct str){text, (uint32_t)len}, &error, &a);
    assert_non_null(json);
    assert_true(str_is(kube_json_text(kube_json_path(json, "about.said")), "with \"quotes\""));
    const struct kube_json *rows = kube_json_get(json, "decisions");
    assert_int_equal(kube_json_count(rows), 2);
    double decided;
    assert_true(kube_json_number(kube_json_get(kube_json_first(rows), "decided"), &decided));
    assert_true(decided == report_number(r, "decisions", 0, "decided"));
    kube_json_free(&json);
    memory_free(text);
    arena_free(&a);
    report_free(&r);
}

/* Less rows than that: something was left out. */
static void every_section_has_its_rows(void **state)
{
    (void)state;
    static const struct {
        const char *section, *rows_of, *positive;
        size_t least;
    } sections[] = {{"growth", "density", "us", 12},
                    {"growth", "kin", "us", 10},
                    {"rules", "rules", "us", 26},
                    {"workers", "workers", "us", 14},
                    {"workers", "shares", "together", 14},
                    {"overlap", "overlap", "wall_per_s", 3},
                    {"rounds", "rounds", "us_wall", 4},
                    {"queue", "queue", "us", 24},
                    {"messages", "messages", "decode_ns", 9},
                    {"json", "json", "bytes", 6}, /* the others are differences of times */
                    {"packages", "packages", "times", 3},
                    {"requests", "requests", "curl_us", 3},
                    {"devices", "devices", "us_a_pod", 5},
                    {"claims", "claims", "us_a_claim", 3},
                    {"memory", "memory", "nodes", 5},
                    {"preemption", "preemption", "us", 1}};
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        struct core_options o = small();
        o.sections = sections[i].section;
        o.seconds = i < 6 ? 60 : 0.01;
        struct report *r = measured(&o);
        assert_true(report_rows(r, sections[i].rows_of) >= sections[i].least);
        for (size_t row = 0; row < report_rows(r, sections[i].rows_of); row++)
            assert_true(report_number(r, sections[i].rows_of, row, sections[i].positive) > 0);
        report_free(&r);
    }
}

static void preemptors_are_bound_where_they_made_room(void **state)
{
    (void)state;
    struct core_options o = small();
    o.sections = "preemption";
    o.workers = (struct sizes){2, {1, 3}};
    struct report *r = measured(&o);
    assert_int_equal(report_rows(r, "preemption"), 2);
    for (size_t row = 0; row < 2; row++) {
        assert_true(report_number(r, "preemption", row, "preemptors") == 20);
        assert_true(report_number(r, "preemption", row, "victims") == 3);
        assert_true(report_number(r, "preemption", row, "failed") == 0);
    }
    report_free(&r);
}

/* Those who wait for a node's room are woken by what is deleted, those who wait for a volume by a
 * node's labels and by their own claim, and nobody by anything else. */
static double expected_woken(const char *waiting, const char *event, double parked)
{
    bool room = strcmp(waiting, "too big") == 0 || strcmp(waiting, "own sizes") == 0;
    bool claims = strcmp(waiting, "own claims") == 0;
    if ((room && strcmp(event, "pod deleted") == 0) || (claims && strcmp(event, "node label") == 0))
        return parked;
    return claims && strcmp(event, "claim made") == 0 ? 1 : 0;
}

static void the_queue_is_measured_with_pods_that_wait(void **state)
{
    (void)state;
    struct core_options o = small();
    o.sections = "queue";
    struct report *r = measured(&o);
    size_t woken = 0;
    for (size_t i = 0; i < report_rows(r, "queue"); i++) {
        const char *waiting = report_text(r, "queue", i, "waiting");
        const char *event = report_text(r, "queue", i, "event");
        double parked = report_number(r, "queue", i, "parked");
        double expected = parked > 0 ? expected_woken(waiting, event, parked) : 0;
        assert_true(report_number(r, "queue", i, "woken") == expected);
        woken += expected > 0;
    }
    assert_int_equal(woken, 4);
    report_free(&r);
}

static void an_unknown_rule_is_refused(void **state)
{
    (void)state;
    struct core_options o = small();
    o.sections = "decisions";
    o.rule = "NoSuchRule";
    struct report *r = report_new(true);
    assert_false(sections_run(&o, r));
    report_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_is_decided),
        cmocka_unit_test(it_is_the_same_work_however_it_is_driven),
        cmocka_unit_test(threads_decide_as_turns_do),
        cmocka_unit_test(what_was_measured_is_written_down),
        cmocka_unit_test(every_section_has_its_rows),
        cmocka_unit_test(preemptors_are_bound_where_they_made_room),
        cmocka_unit_test(the_queue_is_measured_with_pods_that_wait),
        cmocka_unit_test(an_unknown_rule_is_refused),
    };
    log_open("test", LOG_LEVEL_error);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
