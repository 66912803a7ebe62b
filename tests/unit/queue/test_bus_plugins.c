/* test_bus_plugins: plugins on the bus at the queue's extension points, in virtual time. The test
 * plays the plugins' processes. Profile "strict" has F at PreEnqueue, whose failures hold a pod,
 * "lenient" has I there, whose failures do not; F wakes its pods by new nodes alone, and H, whom
 * "hinted" asks at PreEnqueue, is asked whom an event helps. S sorts in all of them. */
#include "queue/queue.h"

#include "proto/base/log.h"
#include "proto/plugins/asking.h"
#include "queue/hooks/hooks.h"
#include "tests/unit/queue/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND 1000000000LL

static struct queue *queue;
static struct outbox out;
static struct arena arena;
static struct moment now;
static int64_t sequence, part;
static size_t read_so_far;

static struct str gate_f = {"F", 1}, gate_i = {"I", 1}, gate_h = {"H", 1}, adds = {"Add", 3};
static struct plugin_event on_nodes = {.resource = EVENT_SOURCE_node};
static struct bus_plugin f_and_s[2], i_and_s[2], h_and_s[2];
static struct profile profiles[3];

static struct bus_plugin plugin(const char *name, bool ignore)
{
    return (struct bus_plugin){.name = str_of(name), .deadline_ms = 500, .ignore = ignore};
}

static void configure(void)
{
    on_nodes.actions = (struct strs){1, &adds};
    f_and_s[0] = plugin("F", false);
    f_and_s[0].events.count = 1;
    f_and_s[0].events.at = &on_nodes;
    i_and_s[0] = plugin("I", true);
    h_and_s[0] = plugin("H", false);
    h_and_s[0].hints = true;
    f_and_s[1] = i_and_s[1] = h_and_s[1] = plugin("S", false);
    profiles[0] = (struct profile){.scheduler_name = STR_LITERAL("strict"),
                                   .pre_enqueue = {1, &gate_f},
                                   .bus_plugins = {2, f_and_s}};
    profiles[1] = (struct profile){.scheduler_name = STR_LITERAL("lenient"),
                                   .pre_enqueue = {1, &gate_i},
                                   .bus_plugins = {2, i_and_s}};
    profiles[2] = (struct profile){.scheduler_name = STR_LITERAL("hinted"),
                                   .pre_enqueue = {1, &gate_h},
                                   .bus_plugins = {2, h_and_s}};
}

static void tick(void)
{
    queue_tick(queue, now, &out);
    check_queues(queue_inside(queue));
}

static void tick_after(int64_t ms)
{
    now = moment_after(now, span_of_ms(ms));
    tick();
}

static void from(enum process process, uint32_t peer, const struct message *m)
{
    struct delivery in = {.from = {process, peer}, .message = m};
    if (process == WATCHER && m->type >= MSG_snapshot_begin) {
        if (m->type == MSG_snapshot_begin)
            part = 1;
        in.part = part;
        sequence += part == 0 || m->type == MSG_snapshot_begin;
        part = m->type == MSG_snapshot_end || part == 0 ? 0 : part + 1;
        in.epoch = 1;
        in.sequence = sequence;
    }
    queue_handle(queue, now, &in, &out);
    tick();
}

static void say(enum process process, enum message_type type)
{
    from(process, 7, &(struct message){.type = type});
}

static void comes(uint32_t peer, const char *name)
{
    from(PLUGIN, peer,
         &(struct message){.type = MSG_peer_up, .peer_up = {.instance = str_of(name)}});
}

static void goes(uint32_t peer)
{
    from(PLUGIN, peer, &(struct message){.type = MSG_peer_down});
}

enum { F1 = 21, F2, I1, H1, S1 };

static int begin_with(const char *sort, const struct queue_plugin *hook)
{
    static struct queue_options options;
    configure();
    options = (struct queue_options){.profiles = profiles,
                                     .profile_count = 3,
                                     .sort = hook,
                                     .sort_plugin = str_of(sort),
                                     .backoff_initial = {SECOND},
                                     .backoff_max = {10 * SECOND},
                                     .unschedulable_max = {300 * SECOND},
                                     .first_cycle = 70};
    log_open("test", LOG_LEVEL_error);
    now = (struct moment){100 * SECOND};
    sequence = part = 0;
    read_so_far = 0;
    queue = queue_new(&options);
    say(WATCHER, MSG_peer_up);
    say(WATCHER, MSG_snapshot_begin);
    say(WATCHER, MSG_snapshot_end);
    say(SCHEDULER, MSG_peer_up);
    from(SCHEDULER, 7, &(struct message){.type = MSG_pull, .pull = {.credit = 100}});
    return 0;
}

static int begin(void **state)
{
    (void)state;
    return begin_with("", NULL);
}

static int begin_by_arrival(void **state)
{
    (void)state;
    return begin_with("", queue_plugin_find(STR_LITERAL("FIFOSort")));
}

static int begin_sorted(void **state)
{
    (void)state;
    begin_with("S", NULL);
    comes(S1, "S");
    comes(F1, "F");
    return 0;
}

static int finish(void **state)
{
    (void)state;
    queue_free(&queue);
    outbox_free(&out);
    arena_free(&arena);
    return 0;
}

/* The next message of that type that was not looked at; those before it are passed over. */
static bool take(enum message_type type, struct message *m)
{
    for (size_t i = read_so_far; i < out.count; i++)
        if (out.at[i].type == type) {
            assert_true(outbox_get(&out, i, m, &arena));
            read_so_far = i + 1;
            return true;
        }
    return false;
}

static struct pod pod_named(const char *name, const char *profile)
{
    return (struct pod){.uid = str_of(name),
                        .name = str_of(name),
                        .namespace_name = STR_LITERAL("ns"),
                        .scheduler_name = str_of(profile)};
}

static void set_pod(const struct pod *pod)
{
    struct message m = {.type = MSG_pod_set, .pod_set = {.pod = *pod}};
    from(WATCHER, 7, &m);
}

static void add(const char *name, const char *profile)
{
    struct pod pod = pod_named(name, profile);
    set_pod(&pod);
}

static void node_comes(const char *name)
{
    struct message m = {.type = MSG_node_set, .node_set.node.name = str_of(name)};
    from(WATCHER, 7, &m);
}

static struct plugin_ask asked(enum plugin_step step, const char *name)
{
    struct message m = {.type = MSG_none};
    if (!take(MSG_plugin_ask, &m))
        fail_msg("nobody is asked about %s", name);
    if (!str_is(m.plugin_ask.pod.name, name) || m.plugin_ask.step != step)
        fail_msg("asked %d about %.*s", m.plugin_ask.step, STR_ARG(m.plugin_ask.pod.name));
    return m.plugin_ask;
}

static void not_asked(void)
{
    struct message m = {.type = MSG_none};
    assert_false(take(MSG_plugin_ask, &m));
}

static void answers(uint32_t peer, const struct plugin_ask *q, struct plugin_answer answer)
{
    answer.id = q->id;
    from(PLUGIN, peer, &(struct message){.type = MSG_plugin_answer, .plugin_answer = answer});
}

static void allows(uint32_t peer, const struct plugin_ask *q)
{
    answers(peer, q, (struct plugin_answer){0});
}

static void denies(uint32_t peer, const struct plugin_ask *q)
{
    answers(
        peer, q,
        (struct plugin_answer){.verdict = STR_LITERAL("deny"), .reason = STR_LITERAL("no quota")});
}

static struct attempt tried(const char *name)
{
    struct message m = {.type = MSG_none};
    if (!take(MSG_attempt, &m))
        fail_msg("%s is not tried", name);
    if (!str_is(m.attempt.pod.name, name))
        fail_msg("%.*s is tried, not %s", STR_ARG(m.attempt.pod.name), name);
    return m.attempt;
}

static void not_tried(void)
{
    struct message m = {.type = MSG_none};
    assert_false(take(MSG_attempt, &m));
}

static struct pending_pod pending(const char *name)
{
    struct message m = {.type = MSG_pending_request, .pending_request = {.name = str_of(name)}};
    from(TOOL, 9, &m);
    assert_true(take(MSG_pending_pods, &m));
    assert_int_equal(m.pending_pods.pods.count, 1);
    return m.pending_pods.pods.at[0];
}

static void is_gated(const char *name, const char *by, const char *why)
{
    struct pending_pod p = pending(name);
    assert_int_equal(p.place, PENDING_gated);
    assert_int_equal(p.rejected_by.count, 1);
    assert_true(str_is(p.rejected_by.at[0], by));
    if (!str_is(p.reason, why))
        fail_msg("%s: \"%.*s\"", name, STR_ARG(p.reason));
}

static bool status_says(const char *line)
{
    struct buffer lines = {0};
    queue_status(queue, &lines);
    bool found = strstr(lines.at, line) != NULL;
    buffer_free(&lines);
    return found;
}

/* ---- PreEnqueue ---- */

static void a_pod_is_not_tried_before_it_is_let_through(void **state)
{
    (void)state;
    comes(F1, "F");
    add("p", "strict");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "p");
    assert_int_equal(q.deadline_ms, 500);
    not_tried();
    is_gated("p", "F", "");
    allows(F1, &q);
    tried("p");
    assert_true(status_says("plugin_F=up asked=1 failures=0 late=0\n"));
}

static void who_is_denied_sleeps_until_an_event_that_may_help(void **state)
{
    (void)state;
    comes(F1, "F");
    add("p", "strict");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "p");
    denies(F1, &q);
    is_gated("p", "F", "no quota");
    assert_true(status_says("gated=1\n"));
    assert_true(status_says("rejected_by_F=1\n"));
    struct message gone = {.type = MSG_node_gone, .node_gone.name = STR_LITERAL("none")};
    struct pod other = pod_named("other", "nobody");
    other.node_name = STR_LITERAL("n");
    from(WATCHER, 7, &gone);
    set_pod(&other); /* AssignedPodAdd: not one of its events */
    not_asked();
    node_comes("n");
    q = asked(PLUGIN_STEP_pre_enqueue, "p");
    denies(F1, &q);
    node_comes("m");
    q = asked(PLUGIN_STEP_pre_enqueue, "p");
    node_comes("o"); /* while it is asked */
    denies(F1, &q);
    q = asked(PLUGIN_STEP_pre_enqueue, "p");
    allows(F1, &q);
    tried("p");
}

static void a_pod_that_changes_is_asked_about_anew(void **state)
{
    (void)state;
    struct pod p = pod_named("p", "strict");
    comes(F1, "F");
    p.resource_version = 1;
    set_pod(&p);
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "p");
    p.resource_version = 2;
    p.priority = 5;
    set_pod(&p);
    not_asked(); /* not before it has answered */
    allows(F1, &q);
    not_tried();
    q = asked(PLUGIN_STEP_pre_enqueue, "p");
    assert_int_equal(q.pod.priority, 5);
    denies(F1, &q);
    p.resource_version = 3; /* nothing of it has changed */
    set_pod(&p);
    not_asked();
    p.resource_version = 4;
    p.priority = 6;
    set_pod(&p);
    q = asked(PLUGIN_STEP_pre_enqueue, "p");
    allows(F1, &q);
    tried("p");
}

static void one_that_is_not_there_holds_or_not_as_configured(void **state)
{
    (void)state;
    add("easy", "lenient");
    tried("easy");
    add("p", "strict");
    not_tried();
    is_gated("p", "F", "plugin \"F\" is not there");
    node_comes("n"); /* no event brings a plugin back */
    not_asked();
    comes(F1, "F");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "p");
    goes(F1);
    is_gated("p", "F", "plugin \"F\" is not there");
    comes(F1, "F");
    q = asked(PLUGIN_STEP_pre_enqueue, "p");
    comes(F2, "F"); /* the next one of its name */
    goes(F1);
    q = asked(PLUGIN_STEP_pre_enqueue, "p");
    allows(F2, &q);
    tried("p");
}

static void who_is_late_is_left_alone_and_then_tried_with_one_pod(void **state)
{
    (void)state;
    comes(F1, "F");
    comes(I1, "I");
    add("easy", "lenient");
    (void)asked(PLUGIN_STEP_pre_enqueue, "easy");
    add("p", "strict");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "p");
    tick_after(499);
    not_tried();
    tick_after(1);
    tried("easy");
    is_gated("p", "F", "plugin \"F\" did not answer within 500ms");
    add("q", "strict");
    is_gated("q", "F", "plugin \"F\" does not answer");
    tick_after(4999);
    not_asked();
    tick_after(1);
    struct message m = {.type = MSG_none};
    assert_true(take(MSG_plugin_ask, &m)); /* one of the two */
    not_asked();
    tick_after(500);
    not_tried();
    allows(F1, &q); /* late, but it speaks: everybody is asked about */
    assert_true(take(MSG_plugin_ask, &m));
    allows(F1, &m.plugin_ask);
    assert_true(take(MSG_attempt, &m));
    assert_true(status_says("plugin_F=up"));
}

static void an_answer_that_is_no_good_fails_the_pod_alone(void **state)
{
    (void)state;
    comes(F1, "F");
    add("p", "strict");
    add("q", "strict");
    struct plugin_ask p = asked(PLUGIN_STEP_pre_enqueue, "p");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "q");
    answers(F1, &p, (struct plugin_answer){.error = STR_LITERAL("out of order")});
    is_gated("p", "F", "plugin \"F\" failed: out of order");
    allows(F1, &q);
    tried("q");
    not_asked(); /* p failed by itself: the good answer about q brings nothing back */
    node_comes("n");
    p = asked(PLUGIN_STEP_pre_enqueue, "p");
    answers(F1, &p, (struct plugin_answer){.verdict = STR_LITERAL("maybe")});
    is_gated("p", "F", "plugin \"F\" answered with an unknown verdict: \"maybe\"");
    allows(F1, &p); /* a second answer to the same question */
    not_tried();
}

static void who_goes_is_asked_about_no_more(void **state)
{
    (void)state;
    comes(F1, "F");
    add("p", "strict");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "p");
    struct message gone = {.type = MSG_pod_gone,
                           .pod_gone = {.uid = STR_LITERAL("p"),
                                        .namespace_name = STR_LITERAL("ns"),
                                        .name = STR_LITERAL("p")}};
    from(WATCHER, 7, &gone);
    allows(F1, &q);
    not_tried();
    tick_after(1000);
    assert_true(status_says("plugin_F=up asked=1 failures=0 late=0\n"));
}

static void another_configuration_asks_anew(void **state)
{
    (void)state;
    comes(F1, "F");
    comes(I1, "I");
    add("p", "strict");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "p");
    struct profile other = profiles[1];
    other.scheduler_name = STR_LITERAL("strict");
    struct message m = {.type = MSG_queue_config,
                        .queue_config = {.generation = 2, .hash = 9, .profiles = {1, &other}}};
    from(SCHEDULER, 7, &m);
    struct plugin_ask i = asked(PLUGIN_STEP_pre_enqueue, "p");
    say(WATCHER, MSG_snapshot_begin); /* it was asked for */
    add("p", "strict");
    say(WATCHER, MSG_snapshot_end);
    allows(F1, &q);
    not_tried();
    allows(I1, &i);
    tried("p");
}

static void no_more_are_asked_at_a_time_than_can_be_answered(void **state)
{
    (void)state;
    char names[ASKING_AT_ONCE + 5][16];
    struct message m = {.type = MSG_none};
    size_t count = 0;
    comes(F1, "F");
    for (int i = 0; i < ASKING_AT_ONCE + 5; i++) {
        snprintf(names[i], sizeof(names[i]), "p%d", i);
        add(names[i], "strict");
    }
    while (take(MSG_plugin_ask, &m))
        count++;
    assert_int_equal(count, ASKING_AT_ONCE);
    allows(F1, &m.plugin_ask);
    assert_true(take(MSG_plugin_ask, &m));
}

/* ---- QueueSort ---- */

/* F lets the pod through, S gives it the key; both are asked at once. */
static void ask_both(const char *name, int64_t key)
{
    struct message m = {.type = MSG_none};
    bool sorted = false;
    for (int i = 0; i < 2; i++) {
        assert_true(take(MSG_plugin_ask, &m));
        assert_true(str_is(m.plugin_ask.pod.name, name));
        bool sort = m.plugin_ask.step == PLUGIN_STEP_queue_sort;
        sorted = sorted || sort;
        if (sort)
            answers(S1, &m.plugin_ask, (struct plugin_answer){.key = key});
        else
            allows(F1, &m.plugin_ask);
    }
    assert_true(sorted);
}

static void only_a_key_that_comes_in_time_counts(void **state)
{
    (void)state;
    from(SCHEDULER, 7, &(struct message){.type = MSG_pull, .pull = {.credit = 0}});
    struct pod slow = pod_named("slow", "strict"), quick = pod_named("quick", "strict");
    struct message m = {.type = MSG_none};
    slow.priority = 7;
    set_pod(&slow);
    for (int i = 0; i < 2; i++) {
        assert_true(take(MSG_plugin_ask, &m));
        if (m.plugin_ask.step == PLUGIN_STEP_pre_enqueue)
            allows(F1, &m.plugin_ask);
    }
    not_tried();
    is_gated("slow", "S", "");
    tick_after(500); /* sorted by its priority from now on */
    from(PLUGIN, S1, &(struct message){.type = MSG_plugin_activate}); /* it lives after all */
    struct plugin_ask again = asked(PLUGIN_STEP_queue_sort, "slow");
    set_pod(&quick);
    ask_both("quick", 8);
    answers(S1, &again, (struct plugin_answer){.key = 9});
    from(SCHEDULER, 7, &(struct message){.type = MSG_pull, .pull = {.credit = 9}});
    tried("slow");
    tried("quick");
}

static void a_pod_that_changes_is_sorted_anew_where_it_is(void **state)
{
    (void)state;
    from(SCHEDULER, 7, &(struct message){.type = MSG_pull, .pull = {.credit = 0}});
    add("a", "strict");
    ask_both("a", 5);
    struct pod b = pod_named("b", "strict");
    set_pod(&b);
    ask_both("b", 4);
    b.resource_version = 2;
    b.priority = 1;
    set_pod(&b);
    struct plugin_ask q = asked(PLUGIN_STEP_queue_sort, "b");
    answers(S1, &q, (struct plugin_answer){.key = 6});
    from(SCHEDULER, 7, &(struct message){.type = MSG_pull, .pull = {.credit = 9}});
    tried("b");
    tried("a");
}

/* ---- events ---- */

static struct plugin_hint hinted(const char *event, uint32_t pods)
{
    struct message m = {.type = MSG_none};
    if (!take(MSG_plugin_hint, &m))
        fail_msg("nobody is asked about %s", event);
    if (!str_is(m.plugin_hint.event, event))
        fail_msg("asked about %.*s", STR_ARG(m.plugin_hint.event));
    assert_int_equal(m.plugin_hint.pods.count, pods);
    return m.plugin_hint;
}

static void queues(const struct plugin_hint *q, const char *uid, const char *error)
{
    struct str who = str_of(uid);
    struct message m = {
        .type = MSG_plugin_hinted,
        .plugin_hinted = {.id = q->id, .error = str_of(error), .queue = {*uid != 0 ? 1 : 0, &who}}};
    from(PLUGIN, H1, &m);
}

static void two_denied_by_h(void)
{
    comes(H1, "H");
    add("p", "hinted");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "p");
    denies(H1, &q);
    add("q", "hinted");
    q = asked(PLUGIN_STEP_pre_enqueue, "q");
    denies(H1, &q);
}

static void a_plugin_says_whom_an_event_helps(void **state)
{
    (void)state;
    two_denied_by_h();
    node_comes("n");
    struct plugin_hint h = hinted("NodeAdd", 2);
    assert_true(str_is(h.name, "n"));
    assert_int_equal(h.nodes.count, 1);
    not_asked();
    queues(&h, "q", "");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "q");
    allows(H1, &q);
    tried("q");
    not_asked();
    is_gated("p", "H", "no quota");
}

static void without_a_good_answer_an_event_helps_all(void **state)
{
    (void)state;
    struct message m = {.type = MSG_none};
    two_denied_by_h();
    node_comes("n");
    struct plugin_hint h = hinted("NodeAdd", 2);
    queues(&h, "", "out of order");
    for (int i = 0; i < 2; i++) {
        assert_true(take(MSG_plugin_ask, &m));
        denies(H1, &m.plugin_ask);
    }
    node_comes("m");
    (void)hinted("NodeAdd", 2);
    tick_after(500); /* late */
    is_gated("p", "H", "plugin \"H\" does not answer");
    is_gated("q", "H", "plugin \"H\" does not answer");
}

static void what_the_scheduler_rejected_for_a_plugin_wakes_by_its_events(void **state)
{
    (void)state;
    comes(F1, "F");
    add("p", "strict");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "p");
    allows(F1, &q);
    struct attempt a = tried("p");
    struct message m = {.type = MSG_outcome,
                        .outcome = {.uid = STR_LITERAL("p"),
                                    .namespace_name = STR_LITERAL("ns"),
                                    .name = STR_LITERAL("p"),
                                    .cycle = a.cycle,
                                    .result = OUTCOME_unschedulable,
                                    .plugins = {1, &gate_f}}};
    from(SCHEDULER, 7, &m);
    assert_true(status_says("rejected_by_F=1\n"));
    struct pod other = pod_named("other", "nobody");
    other.node_name = STR_LITERAL("n");
    set_pod(&other);
    tick_after(2000);
    not_tried();
    node_comes("n");
    tick_after(2000);
    tried("p");
}

static void a_plugin_activates_pods(void **state)
{
    (void)state;
    struct str keys[] = {STR_LITERAL("ns/p"), STR_LITERAL("ns/none"), STR_LITERAL("")};
    comes(F1, "F");
    add("p", "strict");
    struct plugin_ask q = asked(PLUGIN_STEP_pre_enqueue, "p");
    denies(F1, &q);
    struct message m = {.type = MSG_plugin_activate, .plugin_activate.pods = {3, keys}};
    from(PLUGIN, F1, &m);
    q = asked(PLUGIN_STEP_pre_enqueue, "p");
    allows(F1, &q);
    tried("p");
}

static void pods_go_by_the_key_and_then_by_age(void **state)
{
    (void)state;
    static const int64_t keys[] = {5, 9, 5};
    static const char *const names[] = {"a", "b", "c"};
    from(SCHEDULER, 7, &(struct message){.type = MSG_pull, .pull = {.credit = 0}});
    for (int i = 0; i < 3; i++) {
        struct pod p = pod_named(names[i], "strict");
        p.priority = 100 - i;
        set_pod(&p);
        ask_both(names[i], keys[i]);
    }
    from(SCHEDULER, 7, &(struct message){.type = MSG_pull, .pull = {.credit = 9}});
    tried("b");
    tried("a");
    tried("c");
}

static void who_sorts_in_the_queue_sorts_whom_others_hold(void **state)
{
    (void)state;
    struct message m = {.type = MSG_queue_config,
                        .queue_config = {.generation = 2, .hash = 9, .profiles = {3, profiles}}};
    struct pod old = pod_named("old", "strict"), high = pod_named("high", "strict");
    old.resource_version = high.resource_version = 1;
    high.priority = 100;
    comes(F1, "F");
    from(SCHEDULER, 7, &(struct message){.type = MSG_pull, .pull = {.credit = 0}});
    set_pod(&old);
    set_pod(&high);
    struct plugin_ask first = asked(PLUGIN_STEP_pre_enqueue, "old");
    struct plugin_ask second = asked(PLUGIN_STEP_pre_enqueue, "high");
    allows(F1, &first);
    allows(F1, &second);
    from(SCHEDULER, 7, &m);
    assert_true(take(MSG_plugin_ask, &m)); /* in either order */
    struct plugin_ask third = m.plugin_ask;
    assert_true(take(MSG_plugin_ask, &m));
    allows(F1, &m.plugin_ask);
    allows(F1, &third);
    say(WATCHER, MSG_snapshot_begin);
    set_pod(&old);
    set_pod(&high);
    say(WATCHER, MSG_snapshot_end);
    from(SCHEDULER, 7, &(struct message){.type = MSG_pull, .pull = {.credit = 9}});
    tried("old"); /* FIFOSort looks at no priority */
    tried("high");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
        TEST(a_pod_is_not_tried_before_it_is_let_through),
        TEST(who_is_denied_sleeps_until_an_event_that_may_help),
        TEST(a_pod_that_changes_is_asked_about_anew),
        TEST(one_that_is_not_there_holds_or_not_as_configured),
        TEST(who_is_late_is_left_alone_and_then_tried_with_one_pod),
        TEST(an_answer_that_is_no_good_fails_the_pod_alone),
        TEST(who_goes_is_asked_about_no_more),
        TEST(another_configuration_asks_anew),
        TEST(no_more_are_asked_at_a_time_than_can_be_answered),
        TEST(a_plugin_says_whom_an_event_helps),
        TEST(without_a_good_answer_an_event_helps_all),
        TEST(what_the_scheduler_rejected_for_a_plugin_wakes_by_its_events),
        TEST(a_plugin_activates_pods),
        cmocka_unit_test_setup_teardown(who_sorts_in_the_queue_sorts_whom_others_hold,
                                        begin_by_arrival, finish),
        cmocka_unit_test_setup_teardown(only_a_key_that_comes_in_time_counts, begin_sorted, finish),
        cmocka_unit_test_setup_teardown(a_pod_that_changes_is_sorted_anew_where_it_is, begin_sorted,
                                        finish),
        cmocka_unit_test_setup_teardown(pods_go_by_the_key_and_then_by_age, begin_sorted, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
