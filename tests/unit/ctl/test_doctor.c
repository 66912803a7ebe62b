/* test_doctor: each check finds what is planted, and nothing where all is well. */
#include "ctl/doctor/facts.h"
#include "proto/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { BINDER_1, EXTENDER_1, QUEUE_1, SCHEDULER_1, WATCHER_1, WORKER_1, WORKER_2, ALL };

static struct process_fact processes[ALL];
static struct pod_fact pods[20];
static struct str serves[1];
static struct facts facts;
static struct findings_list found;
static struct arena memory;

/* "key=value" lines, both looks alike. */
static struct status status_of(const char *process, const char *lines)
{
    struct status s = {.process = str_of(process), .uptime_ms = 3600000, .pid = 7};
    s.lines.at = arena_take(&memory, 40 * sizeof(struct label));
    for (const char *at = lines; *at != 0;) {
        const char *end = strchr(at, '\n'), *equals = strchr(at, '=');
        s.lines.at[s.lines.count++] = (struct label){{at, (uint32_t)(equals - at)},
                                                     {equals + 1, (uint32_t)(end - equals - 1)}};
        at = end + 1;
    }
    return s;
}

static void process(int at, const char *name, const char *kind, const char *lines)
{
    processes[at] = (struct process_fact){.name = str_of(name),
                                          .answered = true,
                                          .answered_before = true,
                                          .now = status_of(kind, lines),
                                          .before = status_of(kind, lines)};
}

static const char binder_lines[] =
    "leading=true\nholder=me\nready=true\nlane_bind=waiting=3 delayed=0 oldest_ms=20 dropped=0\n"
    "lane_event=waiting=9 oldest_ms=400 dropped=0\nlane_status=waiting=0 oldest_ms=0 dropped=0\n"
    "status=pods=0 dropped=2\nevents=keys=2 repeated=0 evicted=0 dropped=3\nconfig_hash=aa\n"
    "preempts_failing=\n"
    "identity=me\n";
static const char queue_lines[] =
    "config_hash=aa\nactive=10\nattempts=500\n"
    "group:default/web=too-few-pods,placed:0,needed:2,min:3,pending:1,waiting_s:20\n";
static const char scheduler_lines[] =
    "own_worker=up=no joined=no nodes=0\n"
    "state=deciding\nleading=yes\nconfig_hash=aa\nnodes=20\nworkers=2\nworker_nodes=10 10\n"
    "plugin_licences=up asked=4 failures=1 late=2\nextenders=1 caller=up queued=0\n";
static const char watcher_lines[] =
    "synced=true\nage_ms=4000\nconfig_hash=aa\n"
    "pods=state=watching objects=20 heard_ms=30 unreadable=0\n"
    "csinodes=state=watching objects=0 heard_ms=90000 unreadable=0\n"
    "podgroups=state=absent objects=0 heard_ms=-1 unreadable=0\n";

/* A healthy berth under load: pods wait for room and say so, and a group for its pods, for now. */
static int start(void **state)
{
    (void)state;
    memset(&facts, 0, sizeof(facts));
    serves[0] = STR_LITERAL("default-scheduler");
    process(BINDER_1, "binder", "binder", binder_lines);
    process(EXTENDER_1, "extender", "extender",
            "extender_0=http://e calls=9 failures=1 mean_us=900 max_us=9000000\n");
    process(QUEUE_1, "queue", "queue", queue_lines);
    process(SCHEDULER_1, "scheduler", "scheduler", scheduler_lines);
    process(WATCHER_1, "watcher", "watcher", watcher_lines);
    process(WORKER_1, "worker-1", "worker", "joined=yes\nconfig_hash=aa\nnodes=10\n");
    process(WORKER_2, "worker-2", "worker", "joined=yes\nconfig_hash=aa\nnodes=10\n");
    processes[QUEUE_1].before.lines.at[2].value = STR_LITERAL("480"); /* attempts */
    pods[0] = (struct pod_fact){.space = STR_LITERAL("default"),
                                .name = STR_LITERAL("large"),
                                .scheduler = serves[0],
                                .age_s = 90000,
                                .reasoned = true};
    pods[1] = (struct pod_fact){.space = STR_LITERAL("default"),
                                .name = STR_LITERAL("new"),
                                .scheduler = serves[0],
                                .age_s = 20};
    pods[2] = (struct pod_fact){.space = STR_LITERAL("default"),
                                .name = STR_LITERAL("gated"),
                                .scheduler = serves[0],
                                .age_s = 2000,
                                .gated = true,
                                .gates = STR_LITERAL("example.com/later")};
    facts = (struct facts){.processes = processes,
                           .process_count = ALL,
                           .pods = pods,
                           .pod_count = 3,
                           .has_pods = true,
                           .serves = {1, serves},
                           .has_serves = true,
                           .between_ms = 2000,
                           .for_s = 300,
                           .gates_s = 3600,
                           .lag_s = 15,
                           .slow_ms = 1000,
                           .young_s = 30};
    return 0;
}

static int stop(void **state)
{
    (void)state;
    findings_free(&found);
    arena_free(&memory);
    return 0;
}

static void look(void)
{
    findings_free(&found);
    doctor_look(&facts, &found);
}

/* That check alone has found something, about this object; and its words contain these. */
static void finds(const char *check, const char *object, const char *words)
{
    char text[1024];
    look();
    for (uint32_t i = 0; i < found.count; i++)
        print_message("%s: %.*s: %.*s\n", found.at[i].check, STR_ARG(found.at[i].object),
                      STR_ARG(found.at[i].text));
    assert_int_equal(found.count, 1);
    assert_string_equal(found.at[0].check, check);
    assert_true(str_is(found.at[0].object, object));
    snprintf(text, sizeof(text), "%.*s", STR_ARG(found.at[0].text));
    assert_non_null(strstr(text, words));
    assert_true(strlen(found.at[0].advice) > 10);
}

/* In both looks, or in the last one alone. */
static void set(int process, const char *key, const char *value, bool both)
{
    struct status *looks[] = {&processes[process].now, &processes[process].before};
    for (int k = 0; k < (both ? 2 : 1); k++)
        for (uint32_t i = 0; i < looks[k]->lines.count; i++)
            if (str_is(looks[k]->lines.at[i].key, key))
                looks[k]->lines.at[i].value = str_of(value);
}

static void young(int process)
{
    processes[process].now.uptime_ms = processes[process].before.uptime_ms = 5000;
}

static void nothing(void)
{
    look();
    for (uint32_t i = 0; i < found.count; i++)
        print_message("%s: %.*s\n", found.at[i].check, STR_ARG(found.at[i].text));
    assert_int_equal(found.count, 0);
}

static void nothing_where_all_is_well(void **state)
{
    (void)state;
    nothing();
}

/* They have not joined, do not lead, hold nothing, and all that is as it should. */
static void nothing_right_after_a_restart(void **state)
{
    (void)state;
    for (int i = 0; i < ALL; i++)
        young(i);
    set(BINDER_1, "ready", "false", true);
    set(BINDER_1, "leading", "false", true);
    set(BINDER_1, "holder", "", true);
    set(SCHEDULER_1, "state", "waits for leadership", true);
    set(WATCHER_1, "age_ms", "60000", true);
    set(WORKER_1, "joined", "no", true);
    set(QUEUE_1, "attempts", "0", true);
    set(QUEUE_1, "config_hash", "bb", true);
    processes[QUEUE_1].not_compared = "is being told everything anew";
    processes[EXTENDER_1].answered_before = false;
    facts.process_count = ALL - 1;
    nothing();
}

static void a_standby_that_is_ready_is_well(void **state)
{
    (void)state;
    set(BINDER_1, "leading", "false", true);
    set(BINDER_1, "holder", "another", true);
    set(SCHEDULER_1, "leading", "no", true);
    set(SCHEDULER_1, "state", "waits for leadership", true);
    set(QUEUE_1, "attempts", "500", true);
    nothing();
}

static void who_does_not_answer(void **state)
{
    (void)state;
    processes[WORKER_2].answered = processes[WORKER_2].answered_before = false;
    finds("no-answer", "worker-2", "does not answer");
    processes[WORKER_2].answered = true; /* it was starting */
    nothing();
}

/* Where its door is missing, it is no kind that is needed. */
static void who_ends_again_and_again(void **state)
{
    (void)state;
    facts.ended[0] = (struct ended){"serve", 2, "with status 1"};
    facts.ended_count = 1;
    nothing();
    facts.ended[0].times = 3;
    finds("ends-again", "serve", "3 times, soon each time, last with status 1");
}

static void a_process_that_is_missing(void **state)
{
    (void)state;
    processes[BINDER_1] = processes[WORKER_1];
    finds("missing-process", "binder", "there is none");
}

static void no_worker_is_missing_where_the_scheduler_has_one(void **state)
{
    (void)state;
    facts.process_count = WORKER_1; /* they are the last */
    finds("missing-process", "worker", "there is none");
    set(SCHEDULER_1, "own_worker", "up=yes joined=yes nodes=20", true);
    nothing();
}

static void an_instance_that_is_not_ready(void **state)
{
    (void)state;
    set(BINDER_1, "leading", "false", true);
    set(BINDER_1, "holder", "another", true);
    set(BINDER_1, "ready", "false", true);
    set(SCHEDULER_1, "leading", "no", true);
    set(BINDER_1, "config_hash", "aa", true);
    processes[BINDER_1].now.lines.at[8] =
        (struct label){STR_LITERAL("lacks"), STR_LITERAL("a scheduler")};
    finds("not-ready", "binder", "a scheduler");
}

static void nobody_leads(void **state)
{
    (void)state;
    set(BINDER_1, "leading", "false", true);
    set(BINDER_1, "holder", "", true);
    set(SCHEDULER_1, "leading", "no", true);
    finds("no-leader", "binder", "nobody holds the lease");
    assert_int_equal(found.at[0].since_s, -1); /* its age says nothing about that */
}

/* It is named in the lease until somebody else is. */
static void the_lease_is_not_renewed(void **state)
{
    (void)state;
    struct status *s = &processes[BINDER_1].now;
    set(BINDER_1, "leading", "false", true);
    set(SCHEDULER_1, "leading", "no", true);
    s->lines.at[s->lines.count] =
        (struct label){STR_LITERAL("lease_lost"), STR_LITERAL("renew deadline passed")};
    s->lines.count++;
    finds("no-leader", "binder", "nobody renews its lease (renew deadline passed), so no pod");
    s->lines.at[s->lines.count - 1] =
        (struct label){STR_LITERAL("settles_in_ms"), STR_LITERAL("900")};
    nothing(); /* it leads soon */
}

static void a_leader_that_decides_nothing(void **state)
{
    (void)state;
    set(SCHEDULER_1, "state", "waits for a worker", true);
    finds("deciding-nothing", "scheduler", "waits for a worker");
    set(SCHEDULER_1, "state", "deciding", false); /* it was for a moment */
    nothing();
}

static void nothing_is_tried(void **state)
{
    (void)state;
    set(QUEUE_1, "attempts", "500", true);
    finds("stalled", "queue", "10 pods are to be tried");
    set(QUEUE_1, "active", "0", true);
    nothing();
}

static void another_configuration(void **state)
{
    (void)state;
    set(WORKER_2, "config_hash", "bb", true);
    finds("other-configuration", "worker-2", "another configuration than binder");
}

static void lines_of_the_log_are_lost(void **state)
{
    (void)state;
    static struct label counters[2][1];
    for (int i = 0; i < 2; i++) {
        struct status *s = i == 0 ? &processes[QUEUE_1].before : &processes[QUEUE_1].now;
        counters[i][0] = (struct label){STR_LITERAL("log_lines_lost"), str_of(i == 0 ? "5" : "12")};
        s->counters.count = 1;
        s->counters.at = counters[i];
    }
    finds("log-lost", "queue", "7 lines");
    processes[QUEUE_1].now.pid++; /* another life counts from 0 */
    nothing();
}

static void an_old_view(void **state)
{
    (void)state;
    set(WATCHER_1, "age_ms", "40000", true);
    finds("old-view", "watcher", "nothing was heard");
    assert_int_equal(found.at[0].since_s, 40);
}

static void a_kind_that_is_not_watched(void **state)
{
    (void)state;
    set(WATCHER_1, "csinodes", "state=waiting heard_ms=50000 unreadable=0 error=500", true);
    finds("watch", "csinodes", "error=500");
}

static void a_right_that_is_missing(void **state)
{
    (void)state;
    set(WATCHER_1, "csinodes", "state=degraded heard_ms=-1 unreadable=0 error=403", true);
    finds("rights", "csinodes", "403");
    set(WATCHER_1, "podgroups", "state=degraded heard_ms=-1 unreadable=0 error=403", true);
    finds("rights", "csinodes", "403"); /* which may not be served at all */
    set(WATCHER_1, "csinodes", "state=watching heard_ms=3 unreadable=0", true);
    processes[BINDER_1].now.lines.at[8] =
        (struct label){STR_LITERAL("forbidden"), STR_LITERAL("patch pods/status")};
    finds("rights", "binder", "patch pods/status");
}

static void what_cannot_be_understood(void **state)
{
    (void)state;
    set(WATCHER_1, "pods", "state=watching heard_ms=3 unreadable=2", true);
    finds("unreadable", "pods", "2 cannot be understood");
}

static void lanes_that_lag(void **state)
{
    (void)state;
    set(BINDER_1, "lane_event", "waiting=900 oldest_ms=20000 dropped=0", true);
    finds("lag", "lane_event", "900 requests");
    set(BINDER_1, "lane_event", "waiting=900 oldest_ms=10 dropped=0", true);
    set(BINDER_1, "lane_status", "waiting=7 oldest_ms=20000 dropped=0", true);
    finds("lag", "lane_status", "7 requests");
}

static void evictions_that_are_refused(void **state)
{
    (void)state;
    set(BINDER_1, "preempts_failing", "pod=default/top times=7 for_ms=61000 why=evicting a/b: no",
        true);
    finds("evictions", "default/top", "evictions have failed 7 times: evicting a/b: no");
}

static void events_are_dropped(void **state)
{
    (void)state;
    set(BINDER_1, "events", "keys=2 dropped=30", false);
    finds("dropped", "events", "27 were dropped");
}

static void a_worker_that_is_idle(void **state)
{
    (void)state;
    set(WORKER_2, "joined", "no", true);
    finds("idle-worker", "worker-2", "joined no scheduler");
    assert_int_equal(found.at[0].since_s, -1); /* it may have been with one before */
    set(WORKER_2, "joined", "yes", true);
    set(WORKER_2, "nodes", "0", true);
    finds("idle-worker", "worker-2", "has no nodes");
    set(SCHEDULER_1, "nodes", "1", true); /* there are not enough */
    nothing();
}

static void workers_that_are_uneven(void **state)
{
    (void)state;
    set(WORKER_1, "nodes", "500", true);
    finds("uneven-workers", "worker-1", "500 nodes, worker-2 has 10");
}

static void an_extender_that_slows(void **state)
{
    (void)state;
    set(EXTENDER_1, "extender_0", "http://e calls=9 failures=0 mean_us=2500000", true);
    finds("extender", "http://e", "2500 ms");
    set(EXTENDER_1, "extender_0", "http://e calls=9 failures=8 mean_us=2500", true);
    finds("extender", "http://e", "8 have failed");
    set(EXTENDER_1, "extender_0", "http://e calls=9 failures=0 mean_us=2500", true);
    set(SCHEDULER_1, "extenders", "1 caller=missing queued=0", true);
    finds("extender", "scheduler", "missing");
}

static void a_plugin_that_slows(void **state)
{
    (void)state;
    set(SCHEDULER_1, "plugin_licences", "up asked=9 failures=1 late=5", false);
    finds("plugin", "licences", "3 answers");
    set(SCHEDULER_1, "plugin_licences", "is not there asked=9 failures=1 late=2", true);
    finds("plugin", "licences", "is not there");
}

static void drift(void **state)
{
    static struct str lines[1];
    (void)state;
    lines[0] = STR_LITERAL("watcher: has pod default/p, which nobody has");
    facts.differs = (struct strs){1, lines};
    finds("drift", "watcher", "has pod default/p");
}

static void who_is_behind(void **state)
{
    (void)state;
    processes[QUEUE_1].not_compared = "has not taken in what the watcher sent";
    finds("behind", "queue", "has not taken in");
}

static void a_pod_of_nobody(void **state)
{
    (void)state;
    pods[0].reasoned = false;
    pods[0].scheduler = STR_LITERAL("nobody");
    finds("nobody's-pod", "default/large", "scheduler nobody");
    pods[0].reasoned = true; /* somebody else serves it */
    nothing();
}

static void a_pod_without_a_reason(void **state)
{
    (void)state;
    pods[0].reasoned = false;
    finds("no-reason", "default/large", "does not say why");
}

static void gates_that_nobody_opens(void **state)
{
    (void)state;
    pods[2].age_s = 4000;
    finds("gates", "default/gated", "example.com/later");
}

static void a_deletion_that_does_not_end(void **state)
{
    (void)state;
    pods[0].deleting = true;
    finds("stuck-deletion", "default/large", "finalizer");
}

static void a_group_without_enough_members(void **state)
{
    (void)state;
    set(QUEUE_1, "group:default/web",
        "too-few-pods,placed:0,needed:2,min:3,pending:1,waiting_s:400", true);
    finds("group", "default/web", "needs 2 more pods");
    set(QUEUE_1, "group:default/web", "no-pod-group,pending:1,waiting_s:400", true);
    finds("group", "default/web", "no such PodGroup");
    set(QUEUE_1, "group:default/web", "backoff,pending:1,waiting_s:400", true);
    nothing();
}

static void of_many_some_are_named(void **state)
{
    (void)state;
    for (int i = 0; i < 15; i++) {
        pods[i] = pods[0];
        pods[i].reasoned = false;
    }
    facts.pod_count = 15;
    look();
    assert_int_equal(found.count, FINDINGS_MOST + 1);
    assert_true(str_is(found.at[FINDINGS_MOST].text, "the same of 5 more"));
}

/* Nobody has answered anything: that is said, and nothing else. */
static void without_facts_little_is_found(void **state)
{
    (void)state;
    for (int i = 0; i < ALL; i++)
        processes[i] = (struct process_fact){.name = STR_LITERAL("x")};
    facts.has_pods = facts.has_serves = false;
    look();
    assert_int_equal(found.count, ALL);
    for (uint32_t i = 0; i < found.count; i++)
        assert_string_equal(found.at[i].check, "no-answer");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_where_all_is_well),
        TEST(nothing_right_after_a_restart),
        TEST(a_standby_that_is_ready_is_well),
        TEST(who_does_not_answer),
        TEST(who_ends_again_and_again),
        TEST(a_process_that_is_missing),
        TEST(no_worker_is_missing_where_the_scheduler_has_one),
        TEST(an_instance_that_is_not_ready),
        TEST(nobody_leads),
        TEST(the_lease_is_not_renewed),
        TEST(a_leader_that_decides_nothing),
        TEST(nothing_is_tried),
        TEST(another_configuration),
        TEST(lines_of_the_log_are_lost),
        TEST(an_old_view),
        TEST(a_kind_that_is_not_watched),
        TEST(a_right_that_is_missing),
        TEST(what_cannot_be_understood),
        TEST(lanes_that_lag),
        TEST(evictions_that_are_refused),
        TEST(events_are_dropped),
        TEST(a_worker_that_is_idle),
        TEST(workers_that_are_uneven),
        TEST(an_extender_that_slows),
        TEST(a_plugin_that_slows),
        TEST(drift),
        TEST(who_is_behind),
        TEST(a_pod_of_nobody),
        TEST(a_pod_without_a_reason),
        TEST(gates_that_nobody_opens),
        TEST(a_deletion_that_does_not_end),
        TEST(a_group_without_enough_members),
        TEST(of_many_some_are_named),
        TEST(without_facts_little_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
