/* test_status: what berth status makes of processes' answers: the verdict, the page, the JSON, and
 * the table of counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "ctl/status/counters.h"
#include "ctl/status/statuses.h"
#include "proto/kube/documents/json.h"

#define LINES_MAX 24

static struct status said[8];
static struct label labels[8][LINES_MAX];
static struct process_status processes[8];
static struct statuses all;
static struct verdict_said verdict;
static struct buffer out;

/* A process that has answered; its lines end with NULL. */
static void add(const char *kind, const char *name, const char *const *lines)
{
    size_t i = all.count++;
    uint32_t count = 0;
    for (; lines[count] != NULL; count++) {
        const char *sign = strchr(lines[count], '=');
        labels[i][count] =
            (struct label){{lines[count], (uint32_t)(sign - lines[count])}, str_of(sign + 1)};
    }
    said[i] = (struct status){.process = str_of(kind),
                              .instance = str_of(name),
                              .pid = 42,
                              .uptime_ms = 41200,
                              .lines = {.count = count, .at = labels[i]}};
    processes[i] =
        (struct process_status){.endpoint = "ipc://x", .answered = true, .said = &said[i]};
}

static const char *const watcher[] = {"synced=true", "objects=9", "age_ms=400",
                                      "api_server=v1.36.3", NULL};
static const char *const queue[] = {"pending=0", "synced=yes", "attempts=7", "bound=7", NULL};
static const char *const scheduler[] = {"state=deciding", "release=1.36", "nodes=2",
                                        "pods=1",         "workers=1",    NULL};
static const char *const binder[] = {
    "leading=true", "identity=a", "holder=a", "binds=in_flight=0 preparing=0 bound=7 failed=1",
    "ready=true",   NULL};

static int start(void **state)
{
    (void)state;
    all = (struct statuses){.at = processes, .whole = true};
    verdict = (struct verdict_said){0};
    return 0;
}

static int stop(void **state)
{
    (void)state;
    buffer_free(&verdict.text);
    buffer_free(&verdict.waits);
    buffer_free(&out);
    return 0;
}

static void look(const char *const *of_queue, const char *const *of_scheduler,
                 const char *const *of_binder)
{
    add("watcher", "watcher", watcher);
    add("queue", "queue", of_queue);
    add("scheduler", "scheduler", of_scheduler);
    add("binder", "binder", of_binder);
    verdict_say(&all, &verdict);
    buffer_add(&verdict.text, "", 1);
    buffer_add(&verdict.waits, "", 1);
}

static void an_instance_that_decides_is_well(void **state)
{
    (void)state;
    look(queue, scheduler, binder);
    assert_true(verdict.well);
    assert_int_equal(verdict.state, VERDICT_deciding);
    assert_string_equal(verdict.text.at, "deciding as Kubernetes 1.36: 2 nodes with 1 pod, 1 "
                                         "worker, up for 41 s");
    assert_string_equal(verdict.waits.at, "no pod waits");
}

static void who_ends_again_and_again_makes_it_not_well(void **state)
{
    (void)state;
    static const struct ended ended[] = {{"serve", 7, "with status 1"},
                                         {"worker-1", 2, "by signal 9"}};
    all.ended = ended;
    all.ended_count = 2;
    look(queue, scheduler, binder);
    assert_false(verdict.well);
    assert_int_equal(verdict.state, VERDICT_deciding);
    assert_string_equal(verdict.text.at,
                        "NOT WELL: serve ends again and again, 7 times now, last with status 1; "
                        "deciding as Kubernetes 1.36: 2 nodes with 1 pod, 1 worker, up for 41 s");
}

static void what_else_is_wrong_stands_behind_who_ends(void **state)
{
    (void)state;
    static const char *const waits[] = {"state=waits for workers", "release=1.36", NULL};
    static const struct ended ended[] = {{"worker-0", 3, "by signal 6"}};
    all.ended = ended;
    all.ended_count = 1;
    look(queue, waits, binder);
    assert_false(verdict.well);
    assert_string_equal(
        verdict.text.at,
        "NOT WELL: worker-0 ends again and again, 3 times now, last by signal 6; it "
        "decides nothing, and waits for workers");
}

static void what_it_waits_for_is_said(void **state)
{
    (void)state;
    static const char *const waits[] = {"state=waits for workers", "release=1.36", NULL};
    look(queue, waits, binder);
    assert_false(verdict.well);
    assert_string_equal(verdict.text.at, "NOT WELL: it decides nothing, and waits for workers");
}

static void a_standby_is_well_if_it_could_take_over(void **state)
{
    (void)state;
    static const char *const waits[] = {"state=waits for leadership", NULL};
    static const char *const ready[] = {"leading=false", "identity=a", "holder=b", "ready=true",
                                        NULL};
    look(queue, waits, ready);
    assert_true(verdict.well);
    assert_int_equal(verdict.state, VERDICT_standby);
    assert_string_equal(verdict.text.at, "standing by, ready to take over: b leads");
}

static void a_standby_that_lacks_something_is_not(void **state)
{
    (void)state;
    static const char *const waits[] = {"state=waits for leadership", NULL};
    static const char *const lacks[] = {"leading=false", "identity=a",    "holder=b",
                                        "ready=false",   "lacks=a queue", NULL};
    look(queue, waits, lacks);
    assert_false(verdict.well);
    assert_string_equal(verdict.text.at, "NOT WELL: standing by (b leads), and could not take "
                                         "over: it lacks a queue");
}

/* Nobody holds the lease, or it itself does and has not begun: nobody decides. */
static void a_lease_of_nobody_is_no_standby(void **state)
{
    (void)state;
    static const char *const waits[] = {"state=waits for leadership", NULL};
    static const char *const nobody[] = {"leading=false", "identity=a", "holder=", NULL};
    look(queue, waits, nobody);
    assert_false(verdict.well);
    assert_int_equal(verdict.state, VERDICT_waiting);
}

static void who_does_not_answer_is_named(void **state)
{
    (void)state;
    processes[0] = (struct process_status){.endpoint = "ipc:///run/berth/queue.sock"};
    all.count = 1;
    add("watcher", "watcher", watcher);
    add("scheduler", "scheduler", scheduler);
    add("binder", "binder", binder);
    verdict_say(&all, &verdict);
    buffer_add(&verdict.text, "", 1);
    assert_false(verdict.well);
    assert_string_equal(verdict.text.at,
                        "NOT WELL: no answer at ipc:///run/berth/queue.sock; no queue is there");
    status_page(&all, &out);
    buffer_add(&out, "", 1);
    assert_non_null(strstr(out.at, "ipc:///run/berth/queue.sock  no answer\n"));
}

/* As the health check of a container asks. */
static void a_part_alone_is_well_when_it_answers(void **state)
{
    (void)state;
    all.whole = false;
    add("queue", "queue", queue);
    verdict_say(&all, &verdict);
    buffer_add(&verdict.text, "", 1);
    assert_true(verdict.well);
    assert_string_equal(verdict.text.at, "1 process has answered, and no scheduler is among them");
    stop(state);
    start(state);
    add("queue", "queue", queue);
    verdict_say(&all, &verdict); /* of berth run, which would have more */
    assert_false(verdict.well);
}

static void what_waits_is_said_with_reasons(void **state)
{
    (void)state;
    static const char *const some[] = {
        "pending=4", "oldest_pending_ms=9000", "active=1", "unschedulable=2", "gated=1", NULL};
    struct str fit[] = {STR_LITERAL("NodeResourcesFit"), STR_LITERAL("TaintToleration")};
    struct pending_pod pods[] = {
        {.rejected_by = {2, fit}}, {.rejected_by = {1, fit}}, {.priority = 0}};
    const struct pending_pods pending = {.pods = {.count = 3, .at = pods}};
    all.pending = &pending;
    look(some, scheduler, binder);
    assert_string_equal(verdict.waits.at,
                        "4 pods wait, the oldest for 9 s: 1 to be tried now, 2 unschedulable, 1 "
                        "gated; turned away by NodeResourcesFit 2, TaintToleration 1");
}

static void a_page_has_a_line_for_each(void **state)
{
    (void)state;
    static const char *const failing[] = {
        "synced=true",
        "objects=9",
        "age_ms=400",
        "api_server=v1.36.3",
        "nodes=state=waiting objects=2 error=connection refused: no=way",
        NULL};
    add("watcher", "watcher", failing);
    add("binder", "binder", binder);
    status_page(&all, &out);
    buffer_add(&out, "", 1);
    assert_non_null(strstr(out.at, "watcher      42       41.2s    9 objects of v1.36.3, heard of "
                                   "0.4 s ago; nodes: connection refused: no=way\n"));
    assert_non_null(strstr(out.at, "; 7 bound, 1 failed, half of them within 0 µs\n"));
}

/* Its line in the page; lines end with NULL. */
static void binder_says(const char *const *lines, const char *text)
{
    stop(NULL);
    start(NULL);
    add("binder", "binder", lines);
    status_page(&all, &out);
    buffer_add(&out, "", 1);
    if (strstr(out.at, text) == NULL)
        fail_msg("no \"%s\" in %s", text, out.at);
}

static void whether_it_leads_is_said_in_plain_words(void **state)
{
    static const char *const leads[] = {"leading=true", "identity=a", "holder=a",
                                        "lease_deadline_ms=9300", NULL};
    static const char *const alone[] = {"leading=true", "identity=a", "holder=a", NULL};
    static const char *const other[] = {"leading=false", "identity=a", "holder=b",
                                        "lease_lost=another holder", NULL};
    static const char *const nobody[] = {"leading=false", "identity=a", "holder=", NULL};
    static const char *const lost[] = {"leading=false", "identity=a", "holder=a",
                                       "lease_lost=renew deadline passed", NULL};
    static const char *const settles[] = {"leading=false", "identity=a", "holder=a",
                                          "settles_in_ms=1500", NULL};
    (void)state;
    binder_says(leads, " leads, may write for 9.3 s more; 0 bound");
    binder_says(alone, " leads; 0 bound");
    binder_says(other, " does not lead (b does); 0 bound");
    binder_says(nobody, " does not lead (nobody does); 0 bound");
    binder_says(lost, " does not lead: has lost the lease (renew deadline passed); 0 bound");
    binder_says(settles, " leads in 1.5 s, when writes of its former life have ended; 0 bound");
}

static const struct kube_json *member(const struct kube_json *of, const char *name)
{
    const struct kube_json *i = kube_json_first(of);
    while (i != NULL && !str_is(kube_json_name(i), name))
        i = kube_json_next(i);
    assert_non_null(i);
    return i;
}

static void json_has_types(void **state)
{
    (void)state;
    static const char *const lines[] = {"leading=true",
                                        "identity=7",
                                        "binds=in_flight=0 bound=12",
                                        "bind_p50_us=593",
                                        "protobuf=yes",
                                        "unheard_of=5",
                                        NULL};
    struct arena a = {0};
    struct json_out j = {.out = &out};
    int64_t number;
    add("binder", "binder", lines);
    verdict_say(&all, &verdict);
    status_json(&all, &verdict, &j);
    struct kube_json *document = kube_json_parse(buffer_str(&out), NULL, &a);
    const struct kube_json *status =
        member(kube_json_first(member(document, "processes")), "status");
    assert_true(kube_json_true(member(status, "leading")));
    assert_true(str_is(kube_json_text(member(status, "identity")), "7"));
    assert_true(kube_json_i64(member(member(status, "binds"), "bound"), &number));
    assert_int_equal(number, 12);
    assert_true(kube_json_i64(member(status, "bind_p50_us"), &number));
    assert_true(kube_json_true(member(status, "protobuf")));
    assert_true(str_is(kube_json_text(member(status, "unheard_of")), "5"));
    assert_false(kube_json_true(member(member(document, "verdict"), "well")));
    kube_json_free(&document);
    arena_free(&a);
}

static void values_have_fields(void **state)
{
    (void)state;
    struct str rest = STR_LITERAL("is busy now asked=3 error=a b=c d"), name, text;
    assert_true(said_field(&rest, &name, &text));
    assert_true(name.len == 0 && str_is(text, "is busy now"));
    assert_true(said_field(&rest, &name, &text));
    assert_true(str_is(name, "asked") && str_is(text, "3"));
    assert_true(said_field(&rest, &name, &text));
    assert_true(str_is(name, "error") && str_is(text, "a b=c d"));
    assert_false(said_field(&rest, &name, &text));
}

static const char *row_of(const char *process, const char *key)
{
    const struct counter *row = counter_find(process, str_of(key));
    return row == NULL ? "none" : row->key;
}

static void a_key_finds_its_row(void **state)
{
    (void)state;
    assert_string_equal(row_of("watcher", "objects"), "objects");
    assert_string_equal(row_of("watcher", "pods"), "*");
    assert_string_equal(row_of("watcher", "pods.objects"), "*.objects");
    assert_string_equal(row_of("watcher", "config_hash"), "config_hash");
    assert_string_equal(row_of("binder", "lane_bind.done"), "lane_*.done");
    assert_string_equal(row_of("queue", "rejected_by_NodeName"), "rejected_by_*");
    assert_string_equal(row_of("bus", "received.bind.handled_us"), "received.*.handled_us");
    assert_string_equal(row_of("bus", "log_lines_lost"), "log_lines_lost");
    assert_string_equal(row_of("queue", "nothing_of_that"), "none");
}

static void no_row_stands_twice_and_each_says_something(void **state)
{
    (void)state;
    for (size_t i = 0; i < counters_count(); i++) {
        const struct counter *one = counters_at(i);
        size_t len = strlen(one->doc);
        assert_true(len > 3 && one->doc[len - 1] == '.');
        for (size_t k = i + 1; k < counters_count(); k++)
            if (strcmp(one->process, counters_at(k)->process) == 0 &&
                strcmp(one->key, counters_at(k)->key) == 0)
                fail_msg("%s %s stands there twice", one->process, one->key);
    }
}

#define T(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_instance_that_decides_is_well),
        T(who_ends_again_and_again_makes_it_not_well),
        T(what_else_is_wrong_stands_behind_who_ends),
        T(what_it_waits_for_is_said),
        T(a_standby_is_well_if_it_could_take_over),
        T(a_standby_that_lacks_something_is_not),
        T(a_lease_of_nobody_is_no_standby),
        T(who_does_not_answer_is_named),
        T(a_part_alone_is_well_when_it_answers),
        T(what_waits_is_said_with_reasons),
        T(a_page_has_a_line_for_each),
        T(whether_it_leads_is_said_in_plain_words),
        T(json_has_types),
        T(values_have_fields),
        T(a_key_finds_its_row),
        T(no_row_stands_twice_and_each_says_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
