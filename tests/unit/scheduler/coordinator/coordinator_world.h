/* coordinator_world: the coordinator with real workers, in one program and in virtual time; the
 * test that includes this plays watcher, queue and binder. */
#ifndef TESTS_SCHEDULER_COORDINATOR_WORLD_H
#define TESTS_SCHEDULER_COORDINATOR_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/memory.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/worker/worker.h"

#define UNUSED __attribute__((unused))
#ifndef POST_FILTER
#define POST_FILTER "" /* of the profile; ends in a blank */
#endif
#ifndef EXTRA_FILTER
#define EXTRA_PRE_FILTER "" /* rules behind the others; begin with a blank */
#define EXTRA_FILTER     ""
#endif

#ifndef EXTRA_SCORE
#define EXTRA_SCORE "" /* likewise */
#endif

#ifndef MORE_PROFILES
#define MORE_PROFILES "" /* behind the one of default-scheduler; begin with a blank */
#endif

#ifndef EXTRA_PROFILE
/* More of that one; begins with a blank. */
#define EXTRA_PROFILE                                                                              \
    " features={device_taints=true device_partitions=true device_shares=true "                     \
    "device_alternatives=true device_binding=true device_status=true spread_label_keys=true "      \
    "pod_level_resources=true pod_level_resizes=true pop_from_backoff=true "                       \
    "expected_nomination=true declared_features=true device_extended=true}"
#endif

#ifndef FOLLOWS
#define FOLLOWS false /* the API server's release */
#endif

#ifndef EXTENDERS
#define EXTENDERS      NULL
#define EXTENDER_COUNT 0
#endif

#ifndef ASSUMED_TTL_S
#define ASSUMED_TTL_S 0
#endif

#ifndef CREDIT
#define CREDIT 10
#endif

#define WORKERS 3

static const struct address watcher = {WATCHER, 101}, queue = {QUEUE, 102}, binder = {BINDER, 103};

struct world {
    struct coordinator *coordinator;
    struct worker *workers[WORKERS];
    bool alive[WORKERS];
    struct outbox out;  /* what is being delivered */
    struct outbox seen; /* what watcher, queue and binder got and no test took yet */
    bool paused;        /* workers hear nothing: it is kept */
    struct outbox kept;
    struct arena arena;
    struct moment now;
    int64_t sequence;
};

static struct world w;

static void coordinator_gets(struct address from, const struct message *m, bool numbered);

/* Delivers what the coordinator and the workers say, until nobody says anything: as deep as a
 * conversation is long. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void settle(struct outbox *out)
{
    struct arena memory = {0};
    for (size_t i = 0; i < out->count; i++) {
        struct message m;
        struct address to = out->at[i].to;
        assert_true(outbox_get(out, i, &m, &memory));
        if (to.process != WORKER) {
            outbox_put(&w.seen, to, &m);
            continue;
        }
        uint32_t k = to.peer - 1;
        assert_true(k < WORKERS);
        if (!w.alive[k])
            continue;
        if (w.paused) {
            outbox_put(&w.kept, to, &m);
            continue;
        }
        struct outbox answers = {0};
        struct delivery in = {.from = {SCHEDULER, 1}, .message = &m};
        worker_handle(w.workers[k], w.now, &in, &answers);
        for (size_t a = 0; a < answers.count; a++) {
            struct message answer;
            assert_true(outbox_get(&answers, a, &answer, &memory));
            coordinator_gets((struct address){WORKER, k + 1}, &answer, false);
        }
        outbox_free(&answers);
    }
    arena_free(&memory);
}

/* The workers hear what was kept from them. */
UNUSED static void resume(void)
{
    struct outbox kept = w.kept;
    w.kept = (struct outbox){0};
    w.paused = false;
    settle(&kept);
    outbox_free(&kept);
}

UNUSED static int64_t world_sent_us, world_received_us; /* of what is said */

/* NOLINTNEXTLINE(misc-no-recursion): see settle */
static void coordinator_gets(struct address from, const struct message *m, bool numbered)
{
    struct outbox out = {0};
    struct delivery in = {
        .from = from, .message = m, .sent_us = world_sent_us, .received_us = world_received_us};
    if (numbered) {
        in.epoch = 7;
        in.sequence = w.sequence;
    }
    coordinator_handle(w.coordinator, w.now, &in, &out);
    coordinator_tick(w.coordinator, w.now, &out);
    settle(&out);
    outbox_free(&out);
}

UNUSED static void tick_after(int64_t ms)
{
    struct outbox out = {0};
    w.now = moment_after(w.now, span_of_ms(ms));
    coordinator_tick(w.coordinator, w.now, &out);
    settle(&out);
    outbox_free(&out);
}

static struct message message(const char *text)
{
    struct message m;
    struct str all = str_of(text), error;
    int64_t blank = str_find(all, ' ');
    struct str name = {all.at, blank < 0 ? all.len : (uint32_t)blank};
    m.type = message_type_of(name);
    assert_true(m.type != MSG_none);
    struct str rest = {all.at + name.len, all.len - name.len};
    if (!codec_parse(message_info[m.type].record, message_body(&m), rest, &w.arena, &error))
        fail_msg("%s: %.*s", text, STR_ARG(error));
    return m;
}

UNUSED static void say(struct address from, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct message m = message(text);
    coordinator_gets(from, &m, false);
}

/* A change in the watcher's stream. */
UNUSED static void stream(const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct message m = message(text);
    w.sequence++;
    coordinator_gets(watcher, &m, true);
}

/* The oldest message to that process of that type; false when there is none. Takes it. */
UNUSED static bool take(enum process to, enum message_type type, struct message *m)
{
    for (size_t i = 0; i < w.seen.count; i++)
        if (w.seen.at[i].to.process == to && w.seen.at[i].type == type) {
            assert_true(outbox_get(&w.seen, i, m, &w.arena));
            codec_copy(message_info[type].record, message_body(m), message_body(m), &w.arena);
            w.seen.at[i].to.process = (enum process)0;
            return true;
        }
    return false;
}

static void join(uint32_t k)
{
    w.alive[k] = true;
    struct message up = {.type = MSG_peer_up};
    struct outbox out = {0};
    struct delivery in = {.from = {SCHEDULER, 1}, .message = &up};
    worker_handle(w.workers[k], w.now, &in, &out);
    struct message m;
    assert_int_equal(out.count, 1);
    assert_true(outbox_get(&out, 0, &m, &w.arena));
    coordinator_gets((struct address){WORKER, k + 1}, &m, false);
    outbox_free(&out);
}

UNUSED static void die(uint32_t k)
{
    w.alive[k] = false;
    coordinator_gets((struct address){WORKER, k + 1}, &(struct message){.type = MSG_peer_down},
                     false);
}

static const char *const profile_text =
    "shard_reset profiles=[{scheduler_name=\"default-scheduler\" "
    "pre_filter=[\"NodeResourcesFit\"" EXTRA_PRE_FILTER
    "] filter=[\"NodeUnschedulable\" \"NodeResourcesFit\"" EXTRA_FILTER "] " POST_FILTER
    "score=[{name=\"NodeResourcesFit\" weight=1}" EXTRA_SCORE "] fit_strategy=\"LeastAllocated\" "
    "fit_resources=[{name=\"cpu\" amount=1} {name=\"memory\" amount=1}]" EXTRA_PROFILE
    "}" MORE_PROFILES "]";

UNUSED static void node(const char *name, int cpu)
{
    stream("node_set node={name=\"%s\" allocatable=[{name=\"cpu\" amount=%d} {name=\"memory\" "
           "amount=8589934592} {name=\"pods\" amount=110}]}",
           name, cpu);
}

UNUSED static const char *pod_text(const char *name, int cpu, const char *more)
{
    static char text[1024];
    snprintf(text, sizeof(text),
             "pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" "
             "scheduler_name=\"default-scheduler\" request=[{name=\"cpu\" amount=%d}] "
             "score_request=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=209715200}] "
             "usage=[{name=\"cpu\" amount=%d}] usage_score_cpu=%d usage_score_memory=209715200 %s}",
             name, name, cpu, cpu, cpu, cpu, more);
    return text;
}

UNUSED static void attempt(const char *name, int cpu, int cycle)
{
    say(queue, "attempt %s attempts=1 cycle=%d", pod_text(name, cpu, ""), cycle);
}

/* Everything is there: two nodes, three workers, leadership of term 5, the barrier. */
UNUSED static void lead(int term)
{
    struct message m = {.type = MSG_none};
    say(binder, "leadership leading=true lead_term=%d identity=\"me\" holder=\"me\"", term);
    assert_true(take(WATCHER, MSG_barrier, &m));
    stream("barrier_reached id=%lld", (long long)m.barrier.id);
}

/* Workers, watcher, queue and binder are there, and nobody has said anything. */
UNUSED static int start_blank(void **state)
{
    (void)state;
    memset(&w, 0, sizeof(w));
    w.now = (struct moment){1000000000};
    struct message profiles = message(profile_text);
    w.coordinator = coordinator_new(
        &(struct coordinator_options){.profiles = profiles.shard_reset.profiles.at,
                                      .profile_count = profiles.shard_reset.profiles.count,
                                      .tie_break = TIE_BREAK_first,
                                      .follows = FOLLOWS,
                                      .assumed_ttl = span_of_seconds(ASSUMED_TTL_S),
                                      .extenders = EXTENDERS,
                                      .extender_count = EXTENDER_COUNT,
                                      .credit = CREDIT});
    for (uint32_t k = 0; k < WORKERS; k++) {
        w.workers[k] = worker_new("w", 1);
        join(k);
    }
    say(watcher, "peer_up process=\"watcher\"");
    say(queue, "peer_up process=\"queue\"");
    say(binder, "peer_up process=\"binder\"");
    return 0;
}

UNUSED static int start(void **state)
{
    start_blank(state);
    w.sequence = 0;
    stream("snapshot_begin");
    w.sequence = 0;
    node("a", 4000);
    w.sequence = 0;
    node("b", 2000);
    w.sequence = 0;
    stream("snapshot_end");
    stream("view synced=true");
    return 0;
}

UNUSED static int stop(void **state)
{
    (void)state;
    coordinator_free(&w.coordinator);
    for (uint32_t k = 0; k < WORKERS; k++)
        worker_free(&w.workers[k]);
    outbox_free(&w.seen);
    outbox_free(&w.kept);
    arena_free(&w.arena);
    return 0;
}

#endif
