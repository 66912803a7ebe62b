/* picks: pods that are unlike each other, placed together by several workers. Each worker picks for
 * each pod the best of its nodes as they are (map_picks; once more while ranges are not known); of
 * those the best is the pod's. Then the workers whose nodes get a pod check what such a node is to
 * the pods behind it (map_check): as far as none of them had better go there, the places stand.
 *
 * What must stay true: the decisions are those of one pod at a time. A pod changes nothing but its
 * own node as long as no rule counts pods and all normalise with the same ranges: so only pods whom
 * no rule counts for go along, all workers have normalised with the ranges that they were asked
 * with, which are the cluster's, and behind the first of whom anything else might be true nothing
 * is decided. Workers hear of no change between the two questions, and keep nothing of either. */
#include "proto/base/memory.h"
#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/coordinator/placing.h"
#include "scheduler/merge/picking.h"
#include "scheduler/merge/score_ranges.h"
#include "scheduler/rules/plugin.h"

#define PICKS_US 1000 /* then a worker looks at no further pod */

/* Ranges of raw scores, as a question tells them. */
struct ranges {
    uint32_t count;
    struct extreme at[SCORE_RANGES_MAX]; /* plugins' names are the framework's */
};

enum picks_state { PICKS_none, PICKS_asked, PICKS_checked };

struct picks {
    enum picks_state state;
    int64_t round;
    uint32_t missing, asked; /* answers; pods of the question */
    struct picking *merge;
    bool answered[WORKERS_MAX];     /* by shard number */
    int64_t pod_ns[WORKERS_MAX];    /* that a worker spent on each pod */
    struct ranges guess;            /* what was last found out about, which mostly holds again */
    bool second;                    /* the round is, which asks with what the first has found, */
    struct ranges found[PICKS_MAX]; /* by slot */
    uint32_t limit;                 /* how many pods the next question may have */
    uint32_t rest, next_rest;       /* so many pods are not tried; after the next failure */
    uint32_t unable[WORKERS_MAX];   /* workers that cannot answer, the latest of them; 0: none */
    uint32_t next_unable;
    struct picked chosen[PICKS_MAX]; /* by slot */
    uint32_t good;                   /* how many are chosen */
};

void picks_init(struct coordinator *c)
{
    c->picks = memory_take(sizeof(*c->picks));
    c->picks->merge = picking_new(WORKERS_MAX);
    c->picks->limit = PICKS_MAX;
}

void picks_free(struct coordinator *c)
{
    picking_free(&c->picks->merge);
    memory_free(c->picks);
}

void picks_forget(struct coordinator *c)
{
    c->picks->guess.count = 0;
}

bool picks_are_under_way(const struct coordinator *c)
{
    return c->picks->state != PICKS_none;
}

/* Workers have nothing to take back. */
void picks_abandon(struct coordinator *c)
{
    c->picks->state = PICKS_none;
}

static struct picking_dice dice_of(const struct coordinator *c, uint32_t slot)
{
    return (struct picking_dice){c->options.tie_break, deciding_request(c, slot)->seed};
}

static const struct framework *framework_of(const struct coordinator *c, uint32_t slot)
{
    return frameworks_find(&c->frameworks, deciding_request(c, slot)->pod.scheduler_name);
}

/* ---- who goes along ---- */

void picks_on_join(struct coordinator *c, uint32_t worker, bool can)
{
    struct picks *p = c->picks;
    if (!can)
        p->unable[p->next_unable++ % WORKERS_MAX] = worker;
}

/* A worker of an older version would never answer. */
static bool all_can(const struct coordinator *c)
{
    for (uint32_t i = 0; i < deciding_workers(c); i++)
        for (uint32_t k = 0; k < WORKERS_MAX; k++)
            if (c->picks->unable[k] == deciding_worker(c, i).peer)
                return false;
    return true;
}

/* No pod that goes to a node changes what the others' raw scores are normalised with there. */
static bool ranges_hold(const struct framework *fw)
{
    for (uint32_t i = 0; i < fw->score_count; i++) {
        const struct plugin *p = fw->score[i].plugin;
        if (p->normalise != NORMALISE_none && p->counts == NULL && !p->score_ignores_pods)
            return false;
    }
    return true;
}

static bool goes_along(struct coordinator *c, uint32_t slot)
{
    const struct map_request *r = deciding_request(c, slot);
    return r->step == MAP_STEP_map && r->only.count == 0 &&
           batch_goes_along(c, deciding_slot(c, slot)) && !deciding_is_counted(c, r) &&
           ranges_hold(framework_of(c, slot));
}

static void take_along(struct coordinator *c, struct moment now)
{
    size_t bytes = deciding_slot(c, 0)->flight->arena.total;
    while (deciding_count(c) < c->picks->limit &&
           batch_may_follow(c, now, flights_first(&c->flights))) {
        bytes += flights_first(&c->flights)->arena.total;
        if (bytes > BATCH_BYTES)
            return;
        enum reduce_step step = deciding_take(c, now);
        if (step == REDUCE_ask && goes_along(c, deciding_count(c) - 1))
            continue;
        deciding_give_back(c, deciding_count(c) - 1);
        return;
    }
}

/* ---- how many ---- */

#define REST_MOST 64

/* So many were placed of those asked for; where that is nobody, some pods are not tried. */
static void learn(struct picks *p, uint32_t asked, uint32_t placed)
{
    if (placed == 0) {
        p->next_rest = p->next_rest == 0 ? 1 : p->next_rest * 2;
        p->next_rest = p->next_rest > REST_MOST ? REST_MOST : p->next_rest;
        p->rest = p->next_rest;
        return;
    }
    p->next_rest = 0;
    p->limit = placed < asked ? placed + placed / 4 + 1 : 2 * p->limit;
    p->limit = p->limit < 2 ? 2 : p->limit > PICKS_MAX ? PICKS_MAX : p->limit;
}

/* ---- asking ---- */

/* What the round asks with. */
static struct ranges *asked_with(struct picks *p, uint32_t slot)
{
    return p->second ? &p->found[slot] : &p->guess;
}

static void ask(struct coordinator *c)
{
    struct picks *p = c->picks;
    struct message m = {.type = MSG_map_picks,
                        .map_picks = {.cycle = deciding_request(c, 0)->cycle,
                                      .round = ++p->round,
                                      .limit_us = PICKS_US}};
    struct map_picks *asked = &m.map_picks;
    p->state = PICKS_asked;
    p->asked = deciding_count(c);
    p->missing = deciding_workers(c);
    picking_begin(p->merge, p->missing, p->asked);
    asked->requests.at = arena_take(&c->cycle_memory, p->asked * sizeof(struct map_request));
    for (uint32_t i = 0; i < p->asked; i++) {
        struct ranges *ranges = asked_with(p, i);
        struct map_request *r = &asked->requests.at[asked->requests.count++];
        *r = *deciding_request(c, i);
        r->extremes.count = ranges->count;
        r->extremes.at = ranges->at;
    }
    for (uint32_t i = 0; i < p->missing; i++) {
        p->answered[i] = false;
        if (i == 0)
            outbox_put(c->out, deciding_worker(c, i), &m);
        else
            outbox_put_again(c->out, deciding_worker(c, i));
    }
}

bool picks_begin(struct coordinator *c, struct moment now)
{
    struct picks *p = c->picks;
    if (deciding_workers(c) < 2 || batch_most(c) < 2 || !goes_along(c, 0) || !all_can(c))
        return false;
    if (p->rest > 0) {
        p->rest--;
        return false;
    }
    take_along(c, now);
    if (deciding_count(c) == 1)
        return false;
    p->second = false;
    p->round = 0;
    ask(c);
    return true;
}

/* ---- ranges ---- */

/* What all workers have told of a pod's ranges, which is what they were asked with where they have
 * told nothing. True when that is what they all were asked with. */
static bool merge_ranges(struct coordinator *c, uint32_t slot, struct ranges *out)
{
    struct picks *p = c->picks;
    const struct framework *fw = framework_of(c, slot);
    const struct ranges *with = asked_with(p, slot);
    const struct picking_ranges asked = {fw, with->count, with->at};
    struct score_range all[SCORE_RANGES_MAX] = {0};
    uint64_t any = picking_merge_ranges(p->merge, slot, &asked, all);
    struct ranges merged = {0};
    bool same = true;
    for (uint32_t k = 0; k < fw->score_count; k++) {
        const struct plugin *rule = fw->score[k].plugin;
        const struct score_range told = score_range_told(with->at, with->count, rule);
        if ((any >> k & 1) == 0)
            continue;
        same = same && told.any && score_range_same(&told, &all[k]);
        merged.at[merged.count++] = score_range_tell(&all[k], rule);
    }
    *out = merged;
    return same;
}

/* How many of the first pods have been looked at with the cluster's ranges. If some have not, what
 * the ranges are is found for a second round. */
static uint32_t rightly_ranged(struct coordinator *c, uint32_t told)
{
    struct picks *p = c->picks;
    struct ranges found;
    uint32_t right = 0;
    while (right < told && (!picking_has_ranges(p->merge, right) || merge_ranges(c, right, &found)))
        right++;
    if (right == told || p->second)
        return right;
    for (uint32_t i = 0; i < deciding_count(c); i++) {
        p->found[i] = p->guess;
        if (i < told && picking_has_ranges(p->merge, i))
            (void)merge_ranges(c, i, &p->found[i]);
    }
    p->guess = found;
    p->second = true;
    return 0;
}

static bool says_nothing(const struct coordinator *c, uint32_t slot, struct str plugin)
{
    const struct framework *fw = framework_of(c, slot);
    uint64_t pre_filter = 0, score = 0;
    picking_skipped(c->picks->merge, slot, &pre_filter, &score);
    for (uint32_t k = 0; k < fw->score_count; k++)
        if (str_is(plugin, fw->score[k].plugin->name))
            return (score >> fw->score[k].place & 1) != 0;
    return true;
}

/* Some node fewer might make a range narrower. */
static bool narrows(const struct coordinator *c, uint32_t slot)
{
    const struct ranges *ranges = asked_with(c->picks, slot);
    for (uint32_t i = 0; i < ranges->count; i++)
        if (ranges->at[i].least != ranges->at[i].greatest &&
            !says_nothing(c, slot, ranges->at[i].plugin))
            return true;
    return false;
}

/* ---- the end ---- */

/* The first pod is asked about by itself. */
static enum reduce_step go_alone(struct coordinator *c)
{
    c->picks->state = PICKS_none;
    learn(c->picks, deciding_count(c), 0);
    COUNT(c, picks, 1);
    COUNT(c, picks_cut, 1);
    deciding_give_back(c, 1);
    return REDUCE_ask;
}

static void place(struct coordinator *c, struct moment now, const struct slot *s,
                  const struct picked *at, const struct measured_skips *skips)
{
    const struct placement place = {.node = at->node,
                                    .total = at->total,
                                    .feasible = at->feasible,
                                    .told = !deciding_has_been_gone(c, at->node)};
    measure_placed_alike(c, s, at->feasible, now);
    measure_asked_alike(c, s, at->feasible, skips);
    placing_pod(c, now, s->flight, &place);
}

/* What had nothing to do for a pod, as the workers say and PreFilter has found. */
static struct measured_skips skips_of(const struct coordinator *c, uint32_t slot)
{
    const struct map_request *r = deciding_request(c, slot);
    struct measured_skips skips = {.pre_filter = framework_pre_filter_skips(
                                       framework_of(c, slot), (uint64_t)r->findings.skip)};
    picking_skipped(c->picks->merge, slot, &skips.pre_filter, &skips.score);
    return skips;
}

/* The pods that are placed are on these nodes to the workers, too. */
static void tell_end(struct coordinator *c, uint32_t good)
{
    const struct picks *p = c->picks;
    struct message m = {
        .type = MSG_map_picks_end,
        .map_picks_end = {.cycle = deciding_request(c, 0)->cycle, .round = p->round}};
    struct map_picks_end *end = &m.map_picks_end;
    end->pods.at = arena_take(&c->cycle_memory, good * sizeof(struct picked_place));
    for (uint32_t w = 0; w < deciding_workers(c); w++) {
        end->pods.count = 0;
        for (uint32_t i = 0; i < good; i++)
            if (p->chosen[i].from == w)
                end->pods.at[end->pods.count++] = (struct picked_place){i, p->chosen[i].node};
        if (end->pods.count > 0 && deciding_worker(c, w).peer != 0)
            outbox_put(c->out, deciding_worker(c, w), &m);
    }
}

/* So many have a place; the others are decided with those behind them. */
static void conclude(struct coordinator *c, struct moment now, uint32_t good)
{
    struct picks *p = c->picks;
    struct slot *placed = arena_take(&c->cycle_memory, good * sizeof(*placed));
    struct measured_skips *skips = arena_take(&c->cycle_memory, good * sizeof(*skips));
    uint32_t asked = deciding_count(c), stand = 0;
    p->state = PICKS_none;
    while (stand < good &&
           deciding_stands(c, deciding_slot(c, stand)->flight, p->chosen[stand].node))
        stand++;
    learn(p, asked, stand);
    COUNT(c, picks, 1);
    COUNT(c, picks_cut, stand < asked);
    if (stand == 0) {
        deciding_give_back(c, 0);
        deciding_end(c);
        COUNT(c, restarted, 1);
        return;
    }
    tell_end(c, stand);
    for (uint32_t i = 0; i < stand; i++) {
        skips[i] = skips_of(c, i);
        placed[i] = *deciding_slot(c, i);
        placed[i].steps.filter = p->pod_ns[p->chosen[i].from];
    }
    COUNT(c, picked_pods, stand);
    deciding_give_back(c, stand);
    for (uint32_t i = 0; i < stand; i++)
        place(c, now, &placed[i], &p->chosen[i], &skips[i]);
    deciding_end(c);
}

/* ---- checking ---- */

/* Those that get one of the pods, unless nobody is behind it. */
static void ask_to_check(struct coordinator *c)
{
    struct picks *p = c->picks;
    struct message m = {.type = MSG_map_check,
                        .map_check = {.cycle = deciding_request(c, 0)->cycle, .round = p->round}};
    struct map_check *check = &m.map_check;
    check->pods.at = arena_take(&c->cycle_memory, p->good * sizeof(struct check_pod));
    check->pods.count = p->good;
    p->state = PICKS_checked;
    p->missing = 0;
    for (uint32_t w = 0; w < deciding_workers(c); w++) {
        bool gets = false;
        for (uint32_t i = 0; i < p->good; i++) {
            bool here = p->chosen[i].from == w && i + 1 < p->good;
            check->pods.at[i] = (struct check_pod){.total = p->chosen[i].total};
            if (here)
                check->pods.at[i].node = p->chosen[i].node;
            gets |= here;
        }
        p->answered[w] = !gets;
        p->missing += gets;
        if (gets)
            outbox_put(c->out, deciding_worker(c, w), &m);
    }
}

static void all_are_checked(struct coordinator *c, struct moment now)
{
    struct picks *p = c->picks;
    uint32_t good = 1; /* nothing is before the first */
    for (; good < p->good; good++) {
        bool narrow = narrows(c, good);
        const struct picking_dice dice = dice_of(c, good);
        enum picking_verdict v = picking_check(p->merge, good, narrow, &dice, &p->chosen[good]);
        if (v == PICKING_stands)
            continue;
        good += v == PICKING_other;
        break;
    }
    conclude(c, now, good);
}

/* ---- answers ---- */

static enum reduce_step all_have_picked(struct coordinator *c, struct moment now)
{
    struct picks *p = c->picks;
    const bool second = p->second;
    uint32_t right = rightly_ranged(c, picking_told(p->merge));
    if (p->second != second) {
        ask(c);
        return REDUCE_wait;
    }
    for (p->good = 0; p->good < right; p->good++) {
        const struct picking_dice dice = dice_of(c, p->good);
        if (!picking_choose(p->merge, p->good, &dice, &p->chosen[p->good]))
            break;
    }
    if (p->good == 0)
        return go_alone(c);
    if (p->good == 1)
        conclude(c, now, 1);
    else
        ask_to_check(c);
    return REDUCE_wait;
}

/* What an answer says that it answers. */
struct picks_answer {
    uint32_t worker;
    int64_t cycle, round;
};

static bool is_asked(struct coordinator *c, enum picks_state state, const struct picks_answer *a,
                     uint32_t *shard)
{
    struct picks *p = c->picks;
    *shard = deciding_shard_of(c, a->worker);
    if (p->state != state || *shard == UINT32_MAX || a->cycle != deciding_request(c, 0)->cycle ||
        a->round != p->round || p->answered[*shard]) {
        COUNT(c, late, 1);
        return false;
    }
    p->answered[*shard] = true;
    p->missing--;
    return true;
}

enum reduce_step picks_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                                 const struct map_picks_result *said)
{
    struct picks *p = c->picks;
    uint32_t shard;
    if (!is_asked(c, PICKS_asked, &(struct picks_answer){worker, said->cycle, said->round}, &shard))
        return REDUCE_wait;
    bool sense = picking_take(p->merge, shard, said);
    p->pod_ns[shard] = sense ? said->filter_ns / said->picks.count : 0;
    measure_picks_answer(c, said);
    return p->missing == 0 ? all_have_picked(c, now) : REDUCE_wait;
}

void picks_on_checked(struct coordinator *c, struct moment now, uint32_t worker,
                      const struct map_checked *said)
{
    struct picks *p = c->picks;
    uint32_t shard;
    if (!is_asked(c, PICKS_checked, &(struct picks_answer){worker, said->cycle, said->round},
                  &shard))
        return;
    if (!picking_take_checked(p->merge, shard, p->good, said))
        p->good = 1;
    if (p->missing == 0)
        all_are_checked(c, now);
}
