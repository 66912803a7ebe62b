/* coordinator and workers, holdings: what they say they hold is the same, and one that has lost
 * something is mended when it reads anew. */
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

#include "proto/bus/holdings.h"

static const struct address tool = {TOOL, 77};

static const struct held_set *set_of(const struct holdings *h, const char *name)
{
    for (uint32_t i = 0; i < h->sets.count; i++)
        if (str_is(h->sets.at[i].name, name))
            return &h->sets.at[i];
    fail_msg("nothing is said of %s", name);
    return NULL;
}

static const struct holdings *ask(void)
{
    static struct message m;
    say(tool, "holdings_request id=4");
    assert_true(take(TOOL, MSG_holdings, &m));
    assert_true(m.holdings.last && m.holdings.id == 4);
    return &m.holdings;
}

static void worker_gets(uint32_t k, struct address from, const char *text, struct outbox *out)
{
    struct message m = message(text);
    struct delivery in = {.from = from, .message = &m};
    worker_handle(w.workers[k], w.now, &in, out);
}

/* What all workers hold of the set. */
static struct held_set sum_of(const char *name)
{
    struct held_set sum = {.count = 0};
    for (uint32_t k = 0; k < WORKERS; k++) {
        struct outbox out = {0};
        struct message m;
        worker_gets(k, tool, "holdings_request id=5", &out);
        assert_int_equal(out.count, 1);
        assert_true(outbox_get(&out, 0, &m, &w.arena));
        const struct held_set *has = set_of(&m.holdings, name);
        sum.count += has->count;
        sum.digest = (int64_t)((uint64_t)sum.digest + (uint64_t)has->digest);
        outbox_free(&out);
    }
    return sum;
}

static bool workers_agree(void)
{
    const struct holdings *h = ask();
    const struct held_set *nodes = set_of(h, "share-nodes"), *pods = set_of(h, "share-pods");
    struct held_set n = sum_of("share-nodes"), p = sum_of("share-pods");
    return n.count == nodes->count && n.digest == nodes->digest && p.count == pods->count &&
           p.digest == pods->digest;
}

static void workers_hold_what_the_scheduler_has_told(void **state)
{
    (void)state;
    lead(5);
    stream("pod_set %s", pod_text("old", 100, "node_name=\"a\" resource_version=9"));
    assert_true(workers_agree());
    attempt("p", 100, 1); /* assumed: with workers, but not as the watcher said */
    const struct holdings *h = ask();
    assert_int_equal(set_of(h, "nodes")->count, 2);
    assert_int_equal(set_of(h, "assigned")->count, 1);
    assert_int_equal(set_of(h, "share-pods")->count, 2);
    assert_true(h->whole && h->epoch == 7 && h->sequence == w.sequence);
    assert_true(workers_agree());
}

static void digests_are_those_of_the_watcher(void **state)
{
    struct held_set sum = held_set_of(STR_LITERAL("assigned"));
    (void)state;
    stream("pod_set %s", pod_text("old", 100, "node_name=\"a\" resource_version=9"));
    held_set_add(&sum, &(struct held_thing){STR_LITERAL("default/old"), STR_LITERAL("u-old"), 9,
                                            STR_LITERAL("a")});
    const struct held_set *has = set_of(ask(), "assigned");
    assert_true(has->digest == sum.digest && has->versions == sum.versions);
}

/* It has missed that a pod is there, and joins anew. */
static void a_worker_that_has_lost_a_pod_is_mended(void **state)
{
    (void)state;
    lead(5);
    stream("pod_set %s", pod_text("old", 100, "node_name=\"a\""));
    for (uint32_t k = 0; k < WORKERS; k++) {
        struct outbox out = {0};
        worker_gets(k, (struct address){SCHEDULER, 1}, "shard_pod_gone uid=\"u-old\"", &out);
        outbox_free(&out);
    }
    assert_false(workers_agree());
    for (uint32_t k = 0; k < WORKERS; k++) {
        struct outbox out = {0};
        struct message m;
        worker_gets(k, tool, "reread", &out);
        assert_int_equal(out.count, 1);
        assert_true(outbox_get(&out, 0, &m, &w.arena));
        assert_int_equal(m.type, MSG_worker_join);
        coordinator_gets((struct address){WORKER, k + 1}, &m, false);
        outbox_free(&out);
    }
    assert_true(workers_agree());
    assert_int_equal(sum_of("share-pods").count, 1);
}

/* The scheduler asks for a snapshot; who is not in it is gone, who is assumed stays. */
static void a_scheduler_that_holds_too_much_is_mended(void **state)
{
    struct message m;
    (void)state;
    lead(5);
    stream("pod_set %s", pod_text("gone", 100, "node_name=\"a\""));
    attempt("p", 100, 1);
    while (take(WATCHER, MSG_subscribe, &m))
        continue;
    say(tool, "reread");
    assert_true(take(WATCHER, MSG_subscribe, &m));
    assert_int_equal(m.subscribe.epoch, 0);
    assert_false(ask()->whole);
    assert_int_equal(set_of(ask(), "assigned")->count, 1); /* nothing is forgotten before */
    int64_t at = w.sequence + 1;
    w.sequence = at - 1;
    stream("snapshot_begin");
    w.sequence = at - 1;
    node("a", 4000);
    w.sequence = at - 1;
    node("b", 2000);
    w.sequence = at - 1;
    stream("pod_set %s", pod_text("p", 100, ""));
    w.sequence = at - 1;
    stream("snapshot_end");
    assert_true(ask()->whole);
    assert_int_equal(set_of(ask(), "assigned")->count, 0);
    assert_int_equal(set_of(ask(), "share-pods")->count, 1);
    assert_true(workers_agree());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(workers_hold_what_the_scheduler_has_told),
        TEST(digests_are_those_of_the_watcher),
        TEST(a_worker_that_has_lost_a_pod_is_mended),
        TEST(a_scheduler_that_holds_too_much_is_mended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
