/* test_pending: what the queue answers when it is asked which pods wait, and what it holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "queue/queue.h"

static struct queue *queue;
static struct outbox out;
static struct arena memory;
static int64_t sequence;
static struct str wanted; /* the pod's name that is asked about */

static void hear(struct address from, const struct message *m, int64_t at_ms, int64_t part)
{
    struct delivery in = {.from = from,
                          .message = m,
                          .epoch = from.process == WATCHER ? 1 : 0,
                          .sequence = from.process == WATCHER ? sequence : 0,
                          .part = part};
    outbox_reset(&out);
    queue_handle(queue, (struct moment){at_ms * 1000000}, &in, &out);
}

static void from_watcher(enum message_type type, const struct message *m, int64_t at_ms)
{
    struct message said = *m;
    said.type = type;
    sequence++;
    hear((struct address){WATCHER, 1}, &said, at_ms, 0);
}

static void pod(const char *space, const char *name, const char *node, int64_t at_ms)
{
    struct message m = {.pod_set.pod = {.uid = STR_LITERAL("00000000-0000-0000-0000-000000000001"),
                                        .namespace_name = str_of(space),
                                        .name = str_of(name),
                                        .scheduler_name = STR_LITERAL("default-scheduler"),
                                        .priority = 7,
                                        .nominated_node = str_of(node)}};
    from_watcher(MSG_pod_set, &m, at_ms);
}

static int begin(void **state)
{
    (void)state;
    static struct str gates[1];
    static struct profile profile; /* the queue borrows it */
    gates[0] = STR_LITERAL("SchedulingGates");
    profile = (struct profile){.scheduler_name = STR_LITERAL("default-scheduler"),
                               .pre_enqueue = {1, gates},
                               .features.release = 36};
    queue = queue_new(&(struct queue_options){.profiles = &profile, .profile_count = 1});
    sequence = 1;
    wanted = (struct str){0};
    hear((struct address){WATCHER, 1}, &(struct message){.type = MSG_peer_up}, 1000, 0);
    hear((struct address){WATCHER, 1}, &(struct message){.type = MSG_snapshot_begin}, 1000, 1);
    hear((struct address){WATCHER, 1}, &(struct message){.type = MSG_snapshot_end}, 1000, 2);
    return 0;
}

static int end(void **state)
{
    (void)state;
    queue_free(&queue);
    outbox_free(&out);
    arena_free(&memory);
    return 0;
}

static const struct pending_pods *asked(const char *node, const char *space, int64_t limit)
{
    static struct message answer;
    struct message request = {
        .type = MSG_pending_request,
        .pending_request = {
            .node = str_of(node), .namespace_name = str_of(space), .limit = limit, .name = wanted}};
    hear((struct address){TOOL, 9}, &request, 5000, 0);
    assert_int_equal(out.count, 1);
    assert_true(outbox_get(&out, 0, &answer, &memory));
    assert_int_equal(answer.type, MSG_pending_pods);
    assert_int_equal(out.at[0].to.peer, 9);
    return &answer.pending_pods;
}

static void nobody_waits_in_the_beginning(void **state)
{
    (void)state;
    assert_int_equal(asked("", "", 0)->total, 0);
}

static void those_that_wait_longest_come_first(void **state)
{
    (void)state;
    pod("b", "second", "", 3000);
    pod("a", "third", "", 4000);
    pod("c", "first", "", 2000);
    const struct pending_pods *p = asked("", "", 2);
    assert_int_equal(p->total, 3);
    assert_int_equal(p->pods.count, 2);
    /* Who was heard of later cannot have waited longer: all times are the queue's own. */
    assert_true(str_is(p->pods.at[0].name, "first"));
    assert_int_equal(p->pods.at[0].waiting_ms, 3000);
    assert_int_equal(p->pods.at[0].place, PENDING_active);
    assert_int_equal(p->pods.at[0].priority, 7);
    assert_true(str_is(p->pods.at[1].name, "second"));
    p = asked("", "a", 0);
    assert_int_equal(p->total, 1);
    assert_true(str_is(p->pods.at[0].name, "third"));
}

static void one_is_found_by_its_name(void **state)
{
    (void)state;
    pod("a", "x", "", 2000);
    pod("b", "x", "", 3000);
    pod("a", "y", "", 2000);
    wanted = STR_LITERAL("x");
    assert_int_equal(asked("", "", 0)->total, 2);
    const struct pending_pods *p = asked("", "b", 0);
    assert_int_equal(p->total, 1);
    assert_int_equal(p->pods.at[0].waiting_ms, 2000);
    assert_int_equal(asked("", "c", 0)->total, 0);
}

static void a_nodes_are_those_nominated_to_it(void **state)
{
    (void)state;
    pod("a", "x", "n1", 2000);
    pod("a", "y", "n2", 2000);
    pod("a", "z", "", 2000);
    const struct pending_pods *p = asked("n1", "", 0);
    assert_int_equal(p->total, 1);
    assert_true(str_is(p->pods.at[0].name, "x"));
    assert_true(str_is(p->pods.at[0].nominated_node, "n1"));
    assert_int_equal(asked("n3", "", 0)->total, 0);
}

/* What is said of a pod with a gate. */
static const struct pending_pods *gated(bool deleting)
{
    struct str gate = STR_LITERAL("g");
    struct message m = {.pod_set.pod = {.uid = STR_LITERAL("u"),
                                        .namespace_name = STR_LITERAL("a"),
                                        .name = STR_LITERAL("p"),
                                        .scheduler_name = STR_LITERAL("default-scheduler"),
                                        .deleting = deleting,
                                        .gates = {1, &gate}}};
    from_watcher(MSG_pod_set, &m, 2000);
    const struct pending_pods *p = asked("", "", 0);
    assert_int_equal(p->pods.count, 1);
    return p;
}

static void a_gated_pod_says_what_holds_it_back(void **state)
{
    (void)state;
    const struct pending_pods *p = gated(false);
    assert_int_equal(p->pods.at[0].place, PENDING_gated);
    assert_int_equal(p->pods.at[0].rejected_by.count, 1);
    assert_true(str_is(p->pods.at[0].rejected_by.at[0], "SchedulingGates"));
}

/* It is not tried, whoever opens its gate. */
static void a_pod_that_is_being_deleted_says_so(void **state)
{
    (void)state;
    const struct pending_pods *p = gated(true);
    assert_int_equal(p->pods.at[0].place, PENDING_deleting);
    assert_int_equal(p->pods.at[0].rejected_by.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* ---- what it holds ---- */

static const struct holdings *held(const char *scheduler)
{
    static struct message answer;
    struct str name = str_of(scheduler);
    struct message request = {
        .type = MSG_holdings_request,
        .holdings_request = {.id = 3, .schedulers = {1, &name}, .list = STR_LITERAL("pending")}};
    hear((struct address){TOOL, 9}, &request, 5000, 0);
    assert_int_equal(out.count, 1);
    assert_true(outbox_get(&out, 0, &answer, &memory));
    assert_int_equal(answer.type, MSG_holdings);
    return &answer.holdings;
}

static void what_it_holds_is_told(void **state)
{
    (void)state;
    pod("a", "x", "", 2000);
    const struct holdings *h = held("default-scheduler");
    assert_true(h->whole && h->last && h->epoch == 1 && h->sequence == sequence);
    assert_int_equal(h->serves.count, 1);
    assert_true(str_is(h->serves.at[0], "default-scheduler"));
    assert_int_equal(h->sets.count, 3);
    assert_true(str_is(h->sets.at[2].name, "pending"));
    assert_int_equal(h->sets.at[2].count, 1);
    assert_int_equal(h->things.count, 1);
    assert_true(str_is(h->things.at[0].name, "a/x"));
    assert_int_equal(held("another")->sets.at[2].count, 0);
}

/* A snapshot is asked for, and nothing is forgotten before it is there. */
static void it_is_read_anew(void **state)
{
    (void)state;
    pod("a", "x", "", 2000);
    struct message m = {.type = MSG_reread};
    hear((struct address){TOOL, 9}, &m, 5000, 0);
    queue_tick(queue, (struct moment){5000000000}, &out);
    bool asked_anew = false;
    for (size_t i = 0; i < out.count; i++)
        if (out.at[i].type == MSG_subscribe && outbox_get(&out, i, &m, &memory))
            asked_anew = m.subscribe.epoch == 0;
    assert_true(asked_anew);
    assert_false(held("default-scheduler")->whole);
    assert_int_equal(held("default-scheduler")->things.count, 1);
    hear((struct address){WATCHER, 1}, &(struct message){.type = MSG_snapshot_begin}, 6000, 1);
    hear((struct address){WATCHER, 1}, &(struct message){.type = MSG_snapshot_end}, 6000, 2);
    assert_true(held("default-scheduler")->whole);
    assert_int_equal(held("default-scheduler")->things.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nobody_waits_in_the_beginning),
        TEST(those_that_wait_longest_come_first),
        TEST(one_is_found_by_its_name),
        TEST(what_it_holds_is_told),
        TEST(it_is_read_anew),
        TEST(a_nodes_are_those_nominated_to_it),
        TEST(a_gated_pod_says_what_holds_it_back),
        TEST(a_pod_that_is_being_deleted_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
