/* run: pods that are alike, placed by several workers in one exchange. Each worker says where it
 * would put them one after the other if all came to its nodes; the best of the next places that the
 * workers name is the next pod's, and what is left over the workers take back.
 *
 * What must stay true: the decisions are those of one pod at a time. A worker's places depend on
 * its own nodes alone as long as no rule counts pods and all normalise with the cluster's ranges:
 * so only pods whom no rule counts for run, a worker's list ends where its ranges would change, and
 * nothing is decided beyond the end of a list. Which node of several equals is a throw of dice for
 * each place, and which worker's another one: each is as likely as any. */
#include "scheduler/coordinator/run_inside.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/cluster/kept_pod.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/coordinator/placing.h"
#include "scheduler/merge/score_ranges.h"
#include "scheduler/rules/plugin.h"

#include <string.h>

#define RUN_US   1000 /* then a worker names no further place */
#define IN_A_ROW 16   /* runs, asked for before the last one is concluded; others wait for an end */

void run_init(struct coordinator *c)
{
    c->run = memory_take(sizeof(*c->run));
}

void run_free(struct coordinator *c)
{
    arena_free(&c->run->memory);
    arena_free(&c->run->former);
    group_model_free(&c->run->model);
    memory_free(c->run);
}

/* ---- who goes along ---- */

/* Either nobody counts for them, or all that do have a step of their own for it. */
static bool goes_in_a_run(struct coordinator *c, const struct map_request *r)
{
    c->run->grouped = r->step == MAP_STEP_count;
    return c->run->grouped ? run_groups_may_begin(c)
                           : r->step == MAP_STEP_map && !deciding_is_counted(c, r);
}

static bool may_run(struct coordinator *c)
{
    const struct map_request *r = deciding_request(c, 0);
    return deciding_workers(c) > 1 && batch_limit(c) > 1 && r->only.count == 0 &&
           batch_goes_along(c, deciding_slot(c, 0)) && goes_in_a_run(c, r);
}

static void take_along(struct coordinator *c, struct moment now)
{
    uint32_t limit = batch_limit(c);
    while (deciding_count(c) < limit && batch_may_follow(c, now, flights_first(&c->flights)) &&
           batch_is_alike(c, flights_first(&c->flights), deciding_slot(c, 0)->flight))
        deciding_take_along(c, now);
}

/* ---- asking ---- */

/* What its nodes would get of all if all nodes were alike, and some more. */
static uint32_t share_of(const struct coordinator *c, uint32_t worker)
{
    uint64_t nodes = cache_worker_nodes(c->cache, worker), all = cache_nodes(c->cache);
    uint64_t share = deciding_count(c) * nodes / (all == 0 ? 1 : all), more = share + share / 4 + 4;
    return more < deciding_count(c) ? (uint32_t)more : deciding_count(c);
}

static void ask(struct coordinator *c, int64_t round)
{
    struct run *run = c->run;
    struct message m = {.type = MSG_map_run,
                        .map_run = {.limit_us = RUN_US, .grouped = run->grouped}};
    struct map_run *r = &m.map_run;
    arena_reset(&run->memory);
    run->round = round;
    run->missing = deciding_workers(c);
    r->request = *deciding_request(c, 0);
    r->request.round = round;
    r->request.extremes.count = run->ranges.count;
    r->request.extremes.at = run->ranges.at;
    if (run->grouped)
        r->request.step = MAP_STEP_run;
    r->rising = run->grouped;
    for (uint32_t i = 0; i < deciding_workers(c); i++) {
        r->likely = share_of(c, i);
        r->count = run->grouped ? deciding_count(c) : r->likely;
        run->lists[i] = (struct naming){.asked = (uint32_t)r->count};
        r->request.seed = (int64_t)random_next(&c->random);
        if (run->grouped)
            run_groups_tell_hosts(c, i, &r->request);
        outbox_put(c->out, deciding_worker(c, i), &m);
    }
}

bool run_begin(struct coordinator *c, struct moment now)
{
    if (!may_run(c))
        return false;
    take_along(c, now);
    if (deciding_count(c) == 1)
        return false;
    c->run->under_way = true;
    ask(c, 1);
    return true;
}

bool run_is_under_way(const struct coordinator *c)
{
    return c->run->under_way;
}

/* Whose pods are on which of each worker's places; the rest are nobody's. */
static void tell_end(struct coordinator *c, uint32_t good)
{
    struct message m = {.type = MSG_map_run_end};
    m.map_run_end.cycle = deciding_request(c, 0)->cycle;
    m.map_run_end.placed = good;
    m.map_run_end.pods.at = arena_take(&c->cycle_memory, good * sizeof(struct run_pod));
    for (uint32_t i = 0; i < deciding_workers(c); i++) {
        m.map_run_end.pods.count = 0;
        for (uint32_t k = 0; k < good; k++)
            if (c->run->chosen[k].from == i && c->run->chosen[k].place >= 0)
                m.map_run_end.pods.at[m.map_run_end.pods.count++] = (struct run_pod){
                    deciding_slot(c, k)->flight->pod.uid, deciding_slot(c, k)->flight->pod.name,
                    c->run->chosen[k].place};
        if (deciding_worker(c, i).peer != 0)
            outbox_put(c->out, deciding_worker(c, i), &m);
    }
    c->run->under_way = false;
}

void run_abandon(struct coordinator *c)
{
    if (c->run->under_way)
        tell_end(c, 0);
}

/* ---- ranges ---- */

/* Their names were the former frameworks'. */
void run_forget(struct coordinator *c)
{
    c->run->ranges.count = 0;
}

/* The ranges become the cluster's. True when everybody has normalised with them already. */
static bool merge_ranges(struct coordinator *c)
{
    struct run *run = c->run;
    const struct framework *fw =
        frameworks_find(&c->frameworks, deciding_slot(c, 0)->flight->pod.scheduler_name);
    struct score_range asked_with[RANGES_MAX], all[RANGES_MAX] = {0};
    struct score_ranges of[WORKERS_MAX];
    uint64_t any = 0;
    bool same = true;
    for (uint32_t k = 0; k < fw->score_count; k++)
        asked_with[k] = score_range_told(run->ranges.at, run->ranges.count, fw->score[k].plugin);
    for (uint32_t i = 0; i < deciding_workers(c); i++) {
        const struct map_run_result *said = &run->lists[i].said;
        score_ranges_new(&of[i], fw, &run->memory);
        score_ranges_note(&of[i], fw, said->extremes.at, said->extremes.count);
        score_ranges_merge(&of[i], all, &any);
        score_ranges_use(&of[i], asked_with);
    }
    for (uint32_t i = 0; i < deciding_workers(c); i++)
        same = same && !score_ranges_differ(&of[i], fw, all);
    run->ranges.count = 0;
    for (uint32_t k = 0; k < fw->score_count; k++)
        if (all[k].any)
            run->ranges.at[run->ranges.count++] = score_range_tell(&all[k], fw->score[k].plugin);
    return same;
}

/* ---- the merge ---- */

static void name_next(struct heads *h, uint32_t at, const struct naming *l)
{
    if (l->next == l->said.places.count) { /* it may have better nodes than it has named */
        h->missing = true;
        return;
    }
    h->total[at] = l->said.places.at[l->next].total;
    h->ties[at] = l->said.places.at[l->next].ties;
}

static void name_first(const struct coordinator *c, struct heads *h)
{
    h->count = 0;
    h->missing = false;
    for (uint32_t i = 0; i < deciding_workers(c); i++)
        if (c->run->lists[i].said.feasible > 0) {
            h->worker[h->count] = i;
            name_next(h, h->count++, &c->run->lists[i]);
        }
}

static struct str name_of(const struct run *run, uint32_t at)
{
    const struct naming *l = &run->lists[run->heads.worker[at]];
    return l->said.places.at[l->next].node;
}

/* Of the next places that are equally good: the one with the first name, or by dice, each as likely
 * as it has nodes. */
static uint32_t pick(struct coordinator *c, int64_t total, int64_t ties)
{
    const struct run *run = c->run;
    const struct heads *h = &run->heads;
    uint32_t picked = h->count, i = 0;
    if (c->options.tie_break == TIE_BREAK_first) {
        for (; i < h->count; i++)
            if (h->total[i] == total &&
                (picked == h->count || str_compare(name_of(run, i), name_of(run, picked)) < 0))
                picked = i;
        return picked;
    }
    int64_t left = (int64_t)random_below(&c->random, (uint64_t)ties);
    for (; left >= 0; i++)
        if (h->total[i] == total) {
            left -= h->ties[i];
            picked = i;
        }
    return picked;
}

/* The place of one more pod. */
static void choose(struct coordinator *c, uint32_t slot, int64_t feasible)
{
    struct run *run = c->run;
    struct heads *h = &run->heads;
    int64_t best = h->total[0], ties = 0;
    for (uint32_t i = 1; i < h->count; i++)
        best = h->total[i] > best ? h->total[i] : best;
    for (uint32_t i = 0; i < h->count; i++)
        ties += h->total[i] == best ? h->ties[i] : 0;
    uint32_t at = pick(c, best, ties), worker = h->worker[at];
    struct naming *l = &run->lists[worker];
    run->chosen[slot] = (struct chosen){.node = l->said.places.at[l->next].node,
                                        .total = best,
                                        .from = worker,
                                        .place = l->next++,
                                        .put = true,
                                        .feasible = feasible};
    name_next(h, at, l);
}

/* How many pods have a place that stands. */
static uint32_t merge(struct coordinator *c)
{
    uint32_t good = 0;
    int64_t feasible = 0;
    for (uint32_t i = 0; i < deciding_workers(c); i++)
        feasible += c->run->lists[i].said.feasible;
    name_first(c, &c->run->heads);
    must(c->run->heads.count > 0); /* somebody has nodes */
    while (good < deciding_count(c) && !c->run->heads.missing) {
        choose(c, good, feasible);
        if (!deciding_stands(c, deciding_slot(c, good)->flight, c->run->chosen[good].node))
            break;
        good++;
    }
    return good;
}

/* ---- answers ---- */

/* Of one place, on average. */
static int64_t place_ns(const struct naming *l)
{
    uint32_t places = l->said.places.count;
    for (uint32_t i = 0; i < l->said.groups.count; i++)
        places += l->said.groups.at[i].places.count;
    return places > 0 ? l->said.filter_ns / places : 0;
}

/* The first pod is asked about by itself. */
static void go_alone(struct coordinator *c, struct moment now)
{
    tell_end(c, 0);
    batch_learned(c, deciding_count(c), 0);
    deciding_give_back(c, 1);
    cycle_step(c, now, REDUCE_ask);
}

/* What has nothing to do for such a pod, here or there. */
static struct measured_skips skipped_by_all(const struct coordinator *c)
{
    const struct framework *fw =
        frameworks_find(&c->frameworks, deciding_slot(c, 0)->flight->pod.scheduler_name);
    uint64_t findings = (uint64_t)deciding_request(c, 0)->findings.skip;
    struct measured_skips skips = {.pre_filter =
                                       fw != NULL ? framework_pre_filter_skips(fw, findings) : 0};
    for (uint32_t i = 0; i < deciding_workers(c); i++) {
        skips.pre_filter |= (uint64_t)c->run->lists[i].said.skipped;
        skips.score |= (uint64_t)c->run->lists[i].said.score_skipped;
    }
    return skips;
}

/* True when the workers have all these pods on their nodes, and nothing that is found out about the
 * next one in line can be another once they are placed here, too: then they may be asked already.
 */
static bool may_follow(const struct coordinator *c, struct moment now, uint32_t good)
{
    const struct flight *f = flights_first(&c->flights);
    const struct slot *first = deciding_slot(c, 0);
    bool told = good > 0 && !deciding_holds_news(c);
    /* Without good ones the first was given back, and its pod may be gone. */
    bool terms = good > 0 && reduce_request(first->reduce)->findings.no_terms &&
                 kept_pod_has_terms(&first->flight->pod);
    for (uint32_t i = 0; i < good && told; i++)
        told = c->run->chosen[i].put;
    return told && !terms && gang_under_way(c) == NULL && batch_may_follow(c, now, f) &&
           f->gang == NULL &&
           first->flight->pod.priority >= f->pod.priority && /* or it might preempt them */
           coordinator_waits_for(c, now)[0] == 0 && c->run->in_a_row < IN_A_ROW;
}

static void place_all(struct coordinator *c, struct moment now, uint32_t good,
                      const struct measured_skips *skips)
{
    for (uint32_t i = 0; i < good; i++) {
        const struct chosen *p = &c->run->chosen[i];
        const struct slot *s = &c->run->placed[i];
        const struct placement place = {.node = p->node,
                                        .total = p->total,
                                        .feasible = p->feasible,
                                        .told = p->put && !deciding_has_been_gone(c, p->node)};
        measure_placed_alike(c, s, p->feasible, now);
        measure_asked_alike(c, s, p->feasible, skips);
        placing_pod(c, now, s->flight, &place);
    }
}

/* The workers look for the next pods' places while those that have one are placed here. */
static void place_and_follow(struct coordinator *c, struct moment now, uint32_t good,
                             const struct measured_skips *skips)
{
    const struct moment began = deciding_began(c);
    struct arena chosen = c->run->memory; /* what places are called lasts until they are taken */
    c->run->memory = c->run->former;
    c->run->former = chosen;
    deciding_drop(c, good);
    c->run->in_a_row++;
    arena_reset(&c->cycle_memory);
    enum reduce_step step = cycle_begin(c, now);
    const struct moment next_began = deciding_began(c);
    if (step == REDUCE_ask) {
        cycle_step(c, now, step);
        step = REDUCE_wait;
    }
    outbox_send(c->out);
    deciding_set_began(c, began);
    place_all(c, now, good, skips);
    deciding_set_began(c, next_began);
    COUNT(c, runs_followed, 1);
    cycle_step(c, now, step);
}

static void conclude(struct coordinator *c, struct moment now, uint32_t good)
{
    const uint32_t asked = deciding_count(c);
    const struct measured_skips skips = skipped_by_all(c);
    tell_end(c, good);
    batch_learned(c, asked, good);
    COUNT(c, runs, 1);
    COUNT(c, run_pods, good);
    COUNT(c, run_grouped_pods, c->run->grouped ? good : 0);
    for (uint32_t i = 0; i < good; i++) {
        c->run->placed[i] = *deciding_slot(c, i);
        c->run->placed[i].steps.filter = c->run->lists[c->run->chosen[i].from].place_ns;
    }
    deciding_give_back(c, good);
    if (may_follow(c, now, good)) {
        place_and_follow(c, now, good, &skips);
        return;
    }
    c->run->in_a_row = 0;
    place_all(c, now, good, &skips);
    deciding_end(c);
}

static void all_groups_are_in(struct coordinator *c, struct moment now)
{
    uint32_t good;
    switch (run_groups_merge(c, &good)) {
    case GROUPS_alone: go_alone(c, now); return;
    case GROUPS_again: ask(c, c->run->round + 1); return;
    case GROUPS_done: conclude(c, now, good); return;
    }
}

static void all_are_in(struct coordinator *c, struct moment now)
{
    if (c->run->grouped) {
        all_groups_are_in(c, now);
        return;
    }
    bool fails = false, any = false;
    for (uint32_t i = 0; i < deciding_workers(c); i++) {
        fails |= c->run->lists[i].said.fails;
        any |= c->run->lists[i].said.feasible > 0;
    }
    bool right = merge_ranges(c);
    if (fails || !any || (!right && c->run->round > 1))
        go_alone(c, now);
    else if (!right)
        ask(c, 2);
    else
        conclude(c, now, merge(c));
}

/* A worker is a peer: it may say anything. */
static bool makes_sense(bool grouped, const struct naming *l, const struct map_run_result *said)
{
    if (grouped)
        return said->feasible >= 0 && said->filter_ns >= 0 && run_groups_make_sense(said);
    if (said->feasible < 0 || said->filter_ns < 0 || said->places.count > l->asked ||
        (said->feasible > 0 && !said->fails) != (said->places.count > 0))
        return false;
    for (uint32_t i = 0; i < said->places.count; i++)
        if (said->places.at[i].ties <= 0 || said->places.at[i].ties > INT32_MAX)
            return false;
    return true;
}

static struct naming *naming_of(struct coordinator *c, uint32_t worker,
                                const struct map_run_result *said)
{
    struct run *run = c->run;
    if (!run->under_way || said->cycle != deciding_request(c, 0)->cycle ||
        said->round != run->round)
        return NULL;
    uint32_t shard = deciding_shard_of(c, worker);
    return shard != UINT32_MAX && !run->lists[shard].answered ? &run->lists[shard] : NULL;
}

void run_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                   const struct map_run_result *said)
{
    struct naming *l = naming_of(c, worker, said);
    if (l == NULL) {
        COUNT(c, late, 1);
        return;
    }
    l->answered = true;
    if (makes_sense(c->run->grouped, l, said))
        codec_copy(message_info[MSG_map_run_result].record, &l->said, said, &c->run->memory);
    else
        l->said.fails = true;
    measure_run_answer(c, said);
    l->place_ns = place_ns(l);
    if (--c->run->missing == 0)
        all_are_in(c, now);
}
