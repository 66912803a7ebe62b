/* test_top: the screen of berth top, from answers and keys to lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "ctl/top/top.h"

static struct top t;
static struct buffer out;
static struct label scheduler_lines[8], queue_lines[2];
static struct status processes[2];
static struct pending_pod pods[3];
static struct pending_pods pending;

static void set(struct label *line, const char *key, const char *value)
{
    *line = (struct label){str_of(key), str_of(value)};
}

static void wait_for(struct pending_pod *p, const char *name, int64_t attempts)
{
    *p = (struct pending_pod){.namespace_name = STR_LITERAL("default"),
                              .name = str_of(name),
                              .place = PENDING_unschedulable,
                              .attempts = attempts,
                              .waiting_ms = 5000};
}

static int start(void **state)
{
    (void)state;
    set(&scheduler_lines[0], "leading", "yes");
    set(&scheduler_lines[1], "state", "deciding");
    set(&scheduler_lines[2], "scheduled", "100");
    set(&scheduler_lines[3], "unschedulable", "10");
    set(&scheduler_lines[4], "errors", "0");
    set(&queue_lines[0], "pending", "3");
    processes[0] = (struct status){.process = STR_LITERAL("scheduler"),
                                   .instance = STR_LITERAL("scheduler"),
                                   .lines = {5, scheduler_lines}};
    processes[1] = (struct status){.process = STR_LITERAL("queue"),
                                   .instance = STR_LITERAL("queue"),
                                   .lines = {1, queue_lines}};
    wait_for(&pods[0], "web-b", 2);
    wait_for(&pods[1], "db", 30);
    wait_for(&pods[2], "web-a", 1);
    pending = (struct pending_pods){.pods = {3, pods}, .total = 3};
    t = (struct top){.processes = {2, processes},
                     .pending = &pending,
                     .rate = -1,
                     .interval_s = 2,
                     .width = 120,
                     .height = 24};
    return 0;
}

static int stop(void **state)
{
    (void)state;
    buffer_free(&out);
    return 0;
}

static const char *lines(void)
{
    buffer_reset(&out);
    top_lines(&t, &out);
    return out.at;
}

/* Their names, in the order of the screen. */
static void expect(const char *names)
{
    struct str rest, line;
    struct buffer found = {0};
    (void)lines();
    rest = buffer_str(&out);
    while (str_split(&rest, "\n", &line) && rest.at != NULL)
        for (int i = 0; i < 3; i++) {
            struct buffer row = {0};
            buffer_print(&row, "%.*s", STR_ARG(line));
            buffer_add_text(&row, "");
            struct str name = pods[i].name;
            char *at = strstr(row.at, "default   ");
            if (at == row.at && strncmp(at + 12, name.at, name.len) == 0 &&
                at[12 + name.len] == ' ')
                buffer_print(&found, "%s%.*s", found.len > 0 ? " " : "", STR_ARG(name));
            buffer_free(&row);
        }
    buffer_add_text(&found, "");
    assert_string_equal(found.at, names);
    buffer_free(&found);
}

static void press(const char *keys)
{
    for (; *keys != 0; keys++)
        top_key(&t, *keys);
}

static void the_header_says_who_leads_and_how_fast_it_decides(void **state)
{
    (void)state;
    top_answered(&t, 1000);
    assert_non_null(strstr(lines(), "berth top  leader  deciding"));
    assert_null(strstr(out.at, "decisions/s"));
    assert_non_null(strstr(out.at, "pods:  pending 3"));
    set(&scheduler_lines[2], "scheduled", "160");
    top_answered(&t, 3000);
    assert_non_null(strstr(lines(), "  30.0 decisions/s"));
    set(&scheduler_lines[2], "scheduled", "1"); /* it was started again */
    top_answered(&t, 5000);
    assert_null(strstr(lines(), "decisions/s"));
    set(&scheduler_lines[0], "leading", "no");
    t.unanswered = 2;
    assert_non_null(strstr(lines(), "no leader"));
    assert_non_null(strstr(out.at, "2 do not answer"));
    t.processes.count = 0;
    top_answered(&t, 7000);
    assert_non_null(strstr(lines(), "pending -"));
    assert_null(strstr(out.at, "no leader"));
    assert_non_null(strstr(out.at, "berth top  leader not known  -"));
}

static void what_has_not_answered_is_missing(void **state)
{
    struct columns nodes = {.columns = 0};
    struct explained none = {.kept = 0};
    (void)state;
    t.nodes = &nodes;
    t.latest = &none;
    assert_true(top_is_complete(&t));
    t.unanswered = 1; /* such as a worker */
    assert_false(top_is_complete(&t));
    t.unanswered = 0;
    t.nodes = NULL; /* a watcher with no door is none that does not answer */
    assert_false(top_is_complete(&t));
    t.height = 0;
    t.pane = TOP_nodes;
    assert_non_null(strstr(lines(), "nodes are not known\n"));
    t.nodes = &nodes;
    t.pending = NULL;
    assert_false(top_is_complete(&t));
    t.pending = &pending;
    t.processes.count = 0;
    assert_false(top_is_complete(&t));
}

static void a_next_try_is_told_only_of_who_backs_off(void **state)
{
    (void)state;
    assert_non_null(strstr(lines(), "   5s    -          <none>"));
    assert_null(strstr(out.at, "0s"));
    pods[1].backoff_ms = 3000;
    assert_non_null(strstr(lines(), "   5s    3s         <none>"));
}

static void all_who_have_turned_it_away_are_named(void **state)
{
    struct str by[] = {STR_LITERAL("NodeUnschedulable"), STR_LITERAL("NodeResourcesFit")};
    (void)state;
    pods[1].rejected_by = (struct strs){2, by};
    assert_non_null(strstr(lines(), " NodeUnschedulable,NodeResourcesFit\n"));
    t.width = 100;
    assert_non_null(strstr(lines(), " NodeUnschedulable,Nod"));
    assert_null(strstr(out.at, "NodeResourcesFit"));
}

static void rows_are_sorted_and_filtered_by_keys(void **state)
{
    (void)state;
    expect("web-b db web-a");
    press("ss"); /* NAMESPACE, then NAME */
    expect("db web-a web-b");
    press("S");
    expect("web-b web-a db");
    press("Ssss"); /* PLACE, PRIORITY, ATTEMPTS: numbers */
    expect("web-a web-b db");
    press("/wex\x7f"
          "b-\r");
    assert_string_equal(t.filter, "web-");
    expect("web-a web-b");
    assert_false(t.over);
    press("j");
    expect("web-b");
    press("jjjjj");
    (void)lines(); /* not past the last one */
    expect("web-b");
    press("\x1b");
    top_key(&t, TOP_home);
    expect("web-a web-b db");
    press("sssssssss"); /* past the last column: as it comes */
    for (int i = 0; i < 9 && t.sorts[TOP_pending] != 0; i++) {
        press("s");
        (void)lines();
    }
    expect("web-b db web-a");
}

static void only_so_much_as_the_screen_has_room_for(void **state)
{
    struct str rest, line;
    int count = 0;
    (void)state;
    t.width = 20;
    t.height = 6; /* three of header, the panes, the columns' names, one row */
    (void)lines();
    rest = buffer_str(&out);
    while (str_split(&rest, "\n", &line) && rest.at != NULL) {
        assert_true(line.len <= 20);
        count++;
    }
    assert_int_equal(count, 6);
    top_key(&t, TOP_page_down);
    press("?");
    (void)lines();
    assert_non_null(strstr(out.at, "1 2 3 4, Tab"));
    press("x"); /* any key ends it */
    assert_false(t.help);
}

static struct past_decision decisions[3];
static struct explained latest = {.decisions = {3, decisions}};

static void decide(struct past_decision *d, const char *name, const char *node, const char *why)
{
    *d = (struct past_decision){.namespace_name = STR_LITERAL("default"),
                                .name = str_of(name),
                                .wall_us = INT64_C(1767323045000006) + (d - decisions) * 1000,
                                .attempt = 1 + (d - decisions),
                                .node = str_of(node),
                                .placed = *why == 0,
                                .score = 417,
                                .feasible = *why == 0 ? 3 : 0,
                                .message = str_of(why)};
}

static void expect_line(const char *wanted)
{
    struct buffer line = {0};
    buffer_print(&line, "\n%s\n", wanted);
    if (strstr(lines(), line.at) == NULL)
        fail_msg("no line %s in %s", wanted, out.at);
    buffer_free(&line);
}

static void the_last_decisions(void **state)
{
    (void)state;
    decide(&decisions[0], "web-a", "n1", "");
    decide(&decisions[1], "urgent", "n2", "0/3 nodes are available: 3 Insufficient cpu.");
    decide(&decisions[2], "db", "", "0/3 nodes are available: 3 Insufficient memory.");
    press("4");
    assert_int_equal(t.pane, TOP_decisions);
    expect_line("TIME (UTC)   NAMESPACE   NAME   ATTEMPT   RESULT   NODE   FEASIBLE   SCORE   WHY");
    t.latest = &latest;
    expect_line(
        "TIME (UTC)     NAMESPACE   NAME     ATTEMPT   RESULT       NODE     FEASIBLE   SCORE   "
        "WHY");
    expect_line(
        "03:04:05.000   default     web-a    1         placed       n1       3          417     "
        "<none>");
    expect_line(
        "03:04:05.001   default     urgent   2         preempts     n2       0          417     "
        "0/3 nodes are available: 3 Insuff");
    expect_line(
        "03:04:05.002   default     db       3         not placed   <none>   0          417     "
        "0/3 nodes are available: 3 Insuff");
    press("/cpu\r");
    assert_null(strstr(lines(), "Insufficient memory"));
    press("\x1bsS"); /* by time, the last one first */
    const char *first = strstr(lines(), "db  "), *then = strstr(out.at, "web-a  ");
    assert_true(first != NULL && then != NULL && first < then);
    for (t.height = 5; t.height < 9; t.height++) {
        struct str rest, line;
        int count = 0;
        (void)lines();
        rest = buffer_str(&out);
        while (str_split(&rest, "\n", &line) && rest.at != NULL)
            count++;
        assert_int_equal(count, t.height);
    }
}

/* Of two processes; the second bucket of latencies ends at 0.2 ms, the tenth at 1.5 ms. */
static void what_a_pod_costs(void **state)
{
    struct metric_bucket buckets[] = {{.place = 1, .count = 98}, {.place = 9, .count = 2}};
    struct str results[] = {STR_LITERAL("scheduled"), STR_LITERAL("unschedulable")};
    struct metric_sample samples[] = {
        {.metric = STR_LITERAL("berth_process_cpu_seconds_total"), .value = 90000000},
        {.metric = STR_LITERAL("scheduler_schedule_attempts_total"),
         .labels = {1, results},
         .value = 100},
        {.metric = STR_LITERAL("scheduler_schedule_attempts_total"),
         .labels = {1, results + 1},
         .value = 7},
        {.metric = STR_LITERAL("berth_decision_latency_seconds"), .buckets = {2, buckets}}};
    const struct metrics scheduler = {.incarnation = 4, .samples = {4, samples}};
    const struct metrics queue = {.incarnation = 9, .samples = {1, samples}};
    struct top_figures f = {0};
    (void)state;
    press("4");
    expect_line("decided in:  p50 -  p99 -  CPU a pod: -  (0 placed since the start)");
    top_count(&f, &scheduler);
    top_count(&f, &queue);
    top_counted(&t, &f, 5000);
    expect_line(
        "decided in:  p50 0.2 ms  p99 1.5 ms  CPU a pod: 1.8 ms  (100 placed since the start)");
    f.placed += 10;
    f.cpu_ns += 5000000;
    f.latency[9] += 10;
    top_counted(&t, &f, 7000);
    expect_line("decided in:  p50 1.5 ms  p99 1.5 ms  CPU a pod: 0.5 ms  (10 placed in 2.0 s)");
    top_counted(&t, &f, 9000); /* nobody is placed */
    expect_line(
        "decided in:  p50 0.2 ms  p99 1.5 ms  CPU a pod: 1.68 ms  (110 placed since the start)");
    f = (struct top_figures){.lives = 1, .placed = 2, .cpu_ns = 1000000}; /* another life */
    top_counted(&t, &f, 11000);
    expect_line("decided in:  p50 -  p99 -  CPU a pod: 0.5 ms  (2 placed since the start)");
    f.placed += 1;
    top_counted(&t, &f, 12000);
    expect_line("decided in:  p50 -  p99 -  CPU a pod: 0 ms  (1 placed in 1.0 s)");
}

static void no_byte_of_a_stranger_is_a_command(void **state)
{
    (void)state;
    wait_for(&pods[0], "a\x1b[2J\x9b\x07", 1);
    set(&scheduler_lines[1], "state", "\x1b]0;x\x07");
    processes[1].instance = STR_LITERAL("\x1b[31m\xc2\x9b");
    t.filter[0] = 0;
    decide(&decisions[0], "\x1b[1m", "\x9b", "\x1b[2J");
    t.latest = &latest;
    for (int pane = 0; pane < TOP_PANES; pane++) {
        t.pane = (enum top_pane)pane;
        (void)lines();
        for (size_t i = 0; i < out.len; i++)
            assert_true(out.at[i] == '\n' || (out.at[i] >= 0x20 && out.at[i] < 0x7f));
    }
}

static void other_keys(void **state)
{
    (void)state;
    press("3");
    assert_int_equal(t.pane, TOP_processes);
    assert_non_null(strstr(lines(), "INSTANCE"));
    press("2");
    assert_non_null(strstr(lines(), "asking the watcher"));
    press("\t\t\t");
    assert_int_equal(t.pane, TOP_pending);
    press("p");
    assert_true(t.paused);
    assert_non_null(strstr(lines(), "paused"));
    press("+++++++++");
    assert_true(t.interval_s == 60);
    press("----------");
    assert_true(t.interval_s == 0.5);
    press("/q");
    assert_false(t.over);
    press("\x1bq");
    assert_true(t.over);
    t.over = false;
    press("/\x03");
    assert_true(t.over);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_header_says_who_leads_and_how_fast_it_decides),
        TEST(what_has_not_answered_is_missing),
        TEST(a_next_try_is_told_only_of_who_backs_off),
        TEST(all_who_have_turned_it_away_are_named),
        TEST(rows_are_sorted_and_filtered_by_keys),
        TEST(only_so_much_as_the_screen_has_room_for),
        TEST(the_last_decisions),
        TEST(what_a_pod_costs),
        TEST(no_byte_of_a_stranger_is_a_command),
        TEST(other_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
