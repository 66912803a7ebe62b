/* batch_world: a coordinator and its worker, or several, with the messages between them in sight,
 * so that a test can let things happen while workers compute. It plays watcher, queue and binder,
 * and writes down what these are told. Everything is in virtual time. */
#ifndef TESTS_SCHEDULER_BATCH_WORLD_H
#define TESTS_SCHEDULER_BATCH_WORLD_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/random.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/worker/worker.h"
#include "tests/unit/scheduler/coordinator/under_way.h"

#define UNUSED __attribute__((unused))

static const struct address watcher = {WATCHER, 101}, queue = {QUEUE, 102}, binder = {BINDER, 103};

/* What somebody was told: a line of text. */
struct told {
    enum process to;
    enum message_type type;
    bool meanwhile; /* said while the test let things happen behind a request */
    char *text;
};

#define WORKERS_MOST 7

struct side {
    struct coordinator *coordinator;
    struct worker *worker; /* the only one, or the first */
    uint32_t worker_peer, last_peer;
    struct worker *others[WORKERS_MOST - 1];
    uint32_t other_peers[WORKERS_MOST - 1], other_count;
    struct outbox asked;    /* on its way to a worker */
    struct outbox answered; /* on its way back, from the peer that it is addressed to */
    struct moment now;
    int64_t sequence, term;
    bool numbered_from_zero;
    int64_t barrier;
    bool meanwhile;
    struct told told[4096];
    size_t told_count;
    struct arena arena;
};

/* A worker's clock that passes by 300 µs each time somebody looks, when it runs at all. */
static int64_t clock_step_us;

static struct moment next_moment(void)
{
    static struct moment now = {1};
    now = moment_after(now, span_of_us(clock_step_us));
    return now;
}

/* The gates of PodGroups in the tree are on in worlds that are made from now on. */
static bool batch_in_tree;
UNUSED static int batch_release = 36; /* as which it is decided */
UNUSED static bool batch_claims;      /* PostFilter has DynamicResources, too */
UNUSED static void (*batch_shape)(struct profile *profile); /* NULL: there is no more to it */
/* Its gangVictims. */
UNUSED static enum gang_victims batch_gang_victims = GANG_VICTIMS_pods;

static const char *const batch_profile =
    "shard_reset profiles=[{scheduler_name=\"default-scheduler\" "
    "pre_filter=[\"NodeAffinity\" \"NodePorts\" \"NodeResourcesFit\" \"VolumeRestrictions\" "
    "\"PodTopologySpread\" \"InterPodAffinity\"] "
    "filter=[\"NodeUnschedulable\" \"TaintToleration\" \"NodeAffinity\" \"NodePorts\" "
    "\"NodeResourcesFit\" \"VolumeRestrictions\" \"PodTopologySpread\" \"InterPodAffinity\"] "
    "post_filter=[\"DefaultPreemption\"] "
    "pre_score=[\"TaintToleration\" \"NodeAffinity\" \"NodeResourcesFit\" \"PodTopologySpread\" "
    "\"InterPodAffinity\"] "
    "score=[{name=\"TaintToleration\" weight=3} {name=\"NodeAffinity\" weight=2} "
    "{name=\"PodTopologySpread\" weight=2} {name=\"InterPodAffinity\" weight=2} "
    "{name=\"NodeResourcesFit\" weight=1}] fit_strategy=\"LeastAllocated\" "
    "fit_resources=[{name=\"cpu\" amount=1} {name=\"memory\" amount=1}] "
    "spread_system_defaults=true hard_affinity_weight=1}]";

static struct message side_message(struct side *s, const char *text)
{
    struct message m;
    struct str all = str_of(text), error = STR_LITERAL("no such message");
    int64_t blank = str_find(all, ' ');
    struct str name = {all.at, blank < 0 ? all.len : (uint32_t)blank};
    memset(&m, 0, sizeof(m));
    m.type = message_type_of(name);
    struct str rest = {all.at + name.len, all.len - name.len};
    if (m.type == MSG_none ||
        !codec_parse(message_info[m.type].record, message_body(&m), rest, &s->arena, &error))
        fail_msg("%s: %.*s", text, STR_ARG(error));
    return m;
}

/* ---- what the coordinator says ---- */

static void write_down(struct side *s, enum process to, const struct message *m)
{
    struct buffer text = {0};
    if (m->type == MSG_barrier)
        s->barrier = m->barrier.id;
    if (m->type == MSG_pull || to == WATCHER)
        return;
    codec_print(message_info[m->type].record, message_body_const(m), &text);
    assert_true(s->told_count < sizeof(s->told) / sizeof(s->told[0]));
    s->told[s->told_count++] =
        (struct told){to, m->type, s->meanwhile, str_copy(buffer_str(&text))};
    buffer_free(&text);
}

static struct worker *worker_of(const struct side *s, uint32_t peer)
{
    for (uint32_t i = 0; i < s->other_count; i++)
        if (s->other_peers[i] == peer)
            return s->others[i];
    return peer == s->worker_peer ? s->worker : NULL;
}

static void route(struct side *s, struct outbox *out)
{
    struct arena memory = {0};
    for (size_t i = 0; i < out->count; i++) {
        struct message m;
        assert_true(outbox_get(out, i, &m, &memory));
        if (out->at[i].to.process != WORKER)
            write_down(s, out->at[i].to.process, &m);
        else if (worker_of(s, out->at[i].to.peer) != NULL)
            outbox_put_encoded(&s->asked, &out->at[i], outbox_body(out, i));
    }
    arena_free(&memory);
    outbox_free(out);
}

static void tick(struct side *s)
{
    struct outbox out = {0};
    coordinator_tick(s->coordinator, s->now, &out);
    route(s, &out);
}

/* Taken in, but nothing is decided before the next tick. */
static void hears(struct side *s, struct address from, const struct message *m, bool numbered)
{
    struct outbox out = {0};
    struct delivery in = {.from = from, .message = m};
    if (numbered) {
        in.epoch = 7;
        in.sequence = s->sequence;
    }
    coordinator_handle(s->coordinator, s->now, &in, &out);
    route(s, &out);
}

UNUSED static void hear(struct side *s, struct address from, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct message m = side_message(s, text);
    hears(s, from, &m, false);
}

/* A change in the watcher's stream. */
UNUSED static void sees(struct side *s, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct message m = side_message(s, text);
    s->sequence += s->numbered_from_zero ? 0 : 1;
    hears(s, watcher, &m, true);
}

/* ---- the worker ---- */

static void worker_gets(struct side *s, uint32_t peer, const struct message *m)
{
    struct outbox out = {0};
    struct under_way u;
    under_way_begin(&u, m, peer % 2 == 0); /* where it lies elsewhere, all is copied */
    worker_handle(worker_of(s, peer), s->now, &u.in, &out);
    under_way_end(&u);
    for (size_t i = 0; i < out.count; i++) {
        struct outgoing head = out.at[i];
        head.to = (struct address){WORKER, peer};
        outbox_put_encoded(&s->answered, &head, outbox_body(&out, i));
    }
    outbox_free(&out);
}

/* The workers take in all that was sent to them. */
static void work(struct side *s)
{
    struct arena memory = {0};
    for (size_t i = 0; i < s->asked.count; i++) {
        struct message m;
        assert_true(outbox_get(&s->asked, i, &m, &memory));
        if (worker_of(s, s->asked.at[i].to.peer) != NULL)
            worker_gets(s, s->asked.at[i].to.peer, &m);
        arena_reset(&memory);
    }
    outbox_reset(&s->asked);
    arena_free(&memory);
}

/* The first answer arrives, perhaps twice. Returns its type. */
static enum message_type answer(struct side *s, int times)
{
    struct arena memory = {0};
    struct outbox rest = {0};
    struct message m;
    assert_true(s->answered.count > 0);
    assert_true(outbox_get(&s->answered, 0, &m, &memory));
    struct address from = s->answered.at[0].to;
    for (size_t i = 1; i < s->answered.count; i++)
        outbox_put_encoded(&rest, &s->answered.at[i], outbox_body(&s->answered, i));
    struct outbox old = s->answered;
    s->answered = rest;
    for (int i = 0; i < times; i++)
        hears(s, from, &m, false);
    outbox_free(&old);
    arena_free(&memory);
    return m.type;
}

/* Until nobody says anything. */
UNUSED static void settle(struct side *s)
{
    for (int i = 0; i < 10000; i++) {
        tick(s);
        work(s);
        if (s->answered.count == 0)
            return;
        (void)answer(s, 1);
    }
    fail_msg("it never ends");
}

static void joins(struct side *s, uint32_t peer)
{
    struct message up = {.type = MSG_peer_up}, join;
    struct outbox out = {0};
    struct delivery in = {.from = {SCHEDULER, 1}, .message = &up};
    worker_handle(worker_of(s, peer), s->now, &in, &out);
    assert_int_equal(out.count, 1);
    assert_true(outbox_get(&out, 0, &join, &s->arena));
    hears(s, (struct address){WORKER, peer}, &join, false);
    outbox_free(&out);
}

static void worker_begins(struct side *s)
{
    s->worker = worker_new("w", 1);
    worker_set_clock(s->worker, next_moment);
    s->worker_peer = ++s->last_peer;
    joins(s, s->worker_peer);
}

UNUSED static void other_begins(struct side *s)
{
    assert_true(s->other_count < WORKERS_MOST - 1);
    uint32_t i = s->other_count++;
    s->others[i] = worker_new("o", 1);
    worker_set_clock(s->others[i], next_moment);
    s->other_peers[i] = ++s->last_peer;
    joins(s, s->other_peers[i]);
}

/* What is on its way to or from that worker never arrives. */
UNUSED static void lose(struct outbox *box, uint32_t peer)
{
    struct outbox rest = {0};
    for (size_t i = 0; i < box->count; i++)
        if (box->at[i].to.peer != peer)
            outbox_put_encoded(&rest, &box->at[i], outbox_body(box, i));
    outbox_free(box);
    *box = rest;
}

/* Dies in the middle of whatever it does; another one comes. */
UNUSED static void worker_dies(struct side *s)
{
    struct message down = {.type = MSG_peer_down};
    lose(&s->asked, s->worker_peer);
    lose(&s->answered, s->worker_peer);
    worker_free(&s->worker);
    hears(s, (struct address){WORKER, s->worker_peer}, &down, false);
    tick(s);
    worker_begins(s);
}

/* ---- beginning and end ---- */

UNUSED static void lead(struct side *s)
{
    hear(s, binder, "leadership leading=true lead_term=%lld identity=\"me\" holder=\"me\"",
         (long long)++s->term);
    tick(s);
    sees(s, "barrier_reached id=%lld", (long long)s->barrier);
}

UNUSED static struct side *side_new(int64_t batch, enum tie_break_rule tie_break)
{
    struct side *s = memory_take(sizeof(*s));
    s->now = (struct moment){1000000000};
    struct message profiles = side_message(s, batch_profile);
    profiles.shard_reset.profiles.at[0].gang_built_in = batch_in_tree;
    profiles.shard_reset.profiles.at[0].gang_victims = batch_gang_victims;
    struct str post_filter[] = {STR_LITERAL("DynamicResources"), STR_LITERAL("DefaultPreemption")};
    if (batch_claims)
        profiles.shard_reset.profiles.at[0].post_filter = (struct strs){2, post_filter};
    profiles.shard_reset.profiles.at[0].features.release = batch_release;
    profiles.shard_reset.profiles.at[0].features.gangs = batch_in_tree;
    if (batch_shape != NULL)
        batch_shape(&profiles.shard_reset.profiles.at[0]);
    s->coordinator = coordinator_new(
        &(struct coordinator_options){.profiles = profiles.shard_reset.profiles.at,
                                      .profile_count = profiles.shard_reset.profiles.count,
                                      .tie_break = tie_break,
                                      .seed = 42,
                                      .batch = batch});
    hear(s, watcher, "peer_up process=\"watcher\"");
    hear(s, queue, "peer_up process=\"queue\"");
    hear(s, binder, "peer_up process=\"binder\"");
    worker_begins(s);
    s->numbered_from_zero = true;
    sees(s, "snapshot_begin");
    return s;
}

/* The nodes are told; the watch goes on from here. */
UNUSED static void side_begins(struct side *s)
{
    sees(s, "snapshot_end");
    s->numbered_from_zero = false;
    sees(s, "view synced=true");
    lead(s);
    tick(s);
    work(s);
}

UNUSED static void forget_told(struct side *s)
{
    for (size_t i = 0; i < s->told_count; i++)
        memory_free(s->told[i].text);
    s->told_count = 0;
}

UNUSED static void side_free(struct side **side)
{
    struct side *s = *side;
    forget_told(s);
    coordinator_free(&s->coordinator);
    for (uint32_t i = 0; i < s->other_count; i++)
        worker_free(&s->others[i]);
    worker_free(&s->worker);
    outbox_free(&s->asked);
    outbox_free(&s->answered);
    arena_free(&s->arena);
    memory_free(s);
    *side = NULL;
}

/* ---- looking ---- */

/* A number of its status. */
UNUSED static long counter(struct side *s, const char *name)
{
    struct buffer lines = {0};
    char key[64];
    buffer_add_text(&lines, "\n");
    coordinator_status(s->coordinator, &lines);
    buffer_add(&lines, "", 1);
    snprintf(key, sizeof(key), "\n%s=", name);
    const char *at = strstr(lines.at, key);
    assert_non_null(at);
    long value = strtol(at + strlen(key), NULL, 10);
    buffer_free(&lines);
    return value;
}

/* The n-th message of that type, from 0; NULL when there are fewer. */
UNUSED static const char *said(const struct side *s, enum message_type type, int n)
{
    for (size_t i = 0; i < s->told_count; i++)
        if (s->told[i].type == type && n-- == 0)
            return s->told[i].text;
    return NULL;
}

#endif
