/* run: pods that are alike, placed by several workers in one exchange. Each worker says where it
 * would put them one after the other if all came to its nodes; the best of the next places that the
 * workers name is the next pod's, and what is left over the workers take back.
 *
 * What must stay true: the decisions are those of one pod at a time. A worker's places depend on
 * its own nodes alone as long as no rule counts pods and all normalise with the cluster's ranges:
 * so only pods whom no rule counts for run, a worker's list ends where its ranges would change, and
 * nothing is decided beyond the end of a list. Which node of several equals is a throw of dice for
 * each place, and which worker's another one: each is as likely as any. */
#include "scheduler/coordination.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/plugin.h"

#include <string.h>

#define RUN_US 1000 /* then a worker names no further place */

/* What one worker has named. */
struct naming {
    bool answered;
    uint32_t asked, next; /* places before next are taken */
    struct map_run_result said;
};

/* What raw scores are normalised with, by scorer. */
struct ranges {
    uint32_t count;
    struct extreme at[64]; /* plugins' names are the framework's */
};

struct run {
    bool under_way;
    int64_t round;
    uint32_t missing;
    struct arena memory; /* of what was said */
    struct naming lists[WORKERS_MAX];
    struct ranges ranges; /* that the last run found, which are mostly the next one's */
    struct run_place chosen[BATCH_MAX]; /* by slot */
    uint32_t from[BATCH_MAX];           /* whose list that is */
};

struct run *run_new(void)
{
    return memory_take(sizeof(struct run));
}

void run_free(struct run **run)
{
    arena_free(&(*run)->memory);
    memory_free(*run);
    *run = NULL;
}

/* ---- who goes along ---- */

static bool is_counted(struct coordinator *c, const struct map_request *r)
{
    const struct framework *fw = frameworks_find(&c->frameworks, r->pod.scheduler_name);
    uint32_t room = fw->filter_count + fw->score_count;
    const struct plugin **rules = arena_take(&c->cycle_memory, room * sizeof(struct plugin *));
    return framework_counting(fw, &r->pod, &r->brief, rules) > 0;
}

/* In a round-robin a place depends on who was chosen last, on whosever nodes. */
static bool may_run(struct coordinator *c)
{
    const struct map_request *r = reduce_request(c->slots[0].reduce);
    return c->asked_count > 1 && c->batch_limit > 1 && !str_is(r->tie_break, "round-robin") &&
           str_is(r->step, "map") && r->only.count == 0 && batch_goes_along(&c->slots[0]) &&
           !is_counted(c, r);
}

static void take_along(struct coordinator *c, struct moment now)
{
    while (c->under_way < c->batch_limit && batch_may_follow(c, now, c->flights.first) &&
           batch_is_alike(c, c->flights.first, c->slots[0].flight)) {
        struct flight *f = c->flights.first;
        flights_start(&c->flights, f, FLIGHT_deciding);
        c->slots[c->under_way].flight = f;
        measure_begin_alike(&c->slots[c->under_way++], now);
    }
}

/* ---- asking ---- */

/* What its nodes would get of all if all nodes were alike, and some more. */
static uint32_t share_of(const struct coordinator *c, uint32_t worker)
{
    uint64_t nodes = cache_worker_nodes(c->cache, worker), all = cache_nodes(c->cache);
    uint64_t share = c->under_way * nodes / (all == 0 ? 1 : all), more = share + share / 4 + 4;
    return more < c->under_way ? (uint32_t)more : c->under_way;
}

static void ask(struct coordinator *c, int64_t round)
{
    struct run *run = c->run;
    struct message m = {.type = MSG_map_run, .map_run = {.limit_us = RUN_US}};
    struct map_run *r = &m.map_run;
    arena_reset(&run->memory);
    run->round = round;
    run->missing = c->asked_count;
    r->request = *reduce_request(c->slots[0].reduce);
    r->request.round = round;
    r->request.extremes.count = run->ranges.count;
    r->request.extremes.at = run->ranges.at;
    for (uint32_t i = 0; i < c->asked_count; i++) {
        run->lists[i] = (struct naming){.asked = share_of(c, i)};
        r->count = run->lists[i].asked;
        r->request.seed = (int64_t)random_next(&c->random);
        outbox_put(c->out, (struct address){WORKER, c->asked[i]}, &m);
    }
}

bool run_begin(struct coordinator *c, struct moment now)
{
    if (!may_run(c))
        return false;
    take_along(c, now);
    if (c->under_way == 1)
        return false;
    c->run->under_way = true;
    ask(c, 1);
    return true;
}

bool run_is_under_way(const struct coordinator *c)
{
    return c->run->under_way;
}

/* Whose pods the first of each worker's places are; the rest are nobody's. */
static void tell_end(struct coordinator *c, uint32_t good)
{
    struct message m = {.type = MSG_map_run_end};
    m.map_run_end.cycle = reduce_request(c->slots[0].reduce)->cycle;
    m.map_run_end.pods.at = arena_take(&c->cycle_memory, good * sizeof(struct run_pod));
    for (uint32_t i = 0; i < c->asked_count; i++) {
        m.map_run_end.pods.count = 0;
        for (uint32_t k = 0; k < good; k++)
            if (c->run->from[k] == i)
                m.map_run_end.pods.at[m.map_run_end.pods.count++] =
                    (struct run_pod){c->slots[k].flight->pod.uid, c->slots[k].flight->pod.name};
        if (c->asked[i] != 0)
            outbox_put(c->out, (struct address){WORKER, c->asked[i]}, &m);
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

static struct extreme *range_of(struct ranges *r, struct str plugin)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (str_equal(r->at[i].plugin, plugin))
            return &r->at[i];
    return NULL;
}

static void widen(struct extreme *range, const struct extreme *by)
{
    if (by->least < range->least)
        range->least = by->least;
    if (by->greatest > range->greatest)
        range->greatest = by->greatest;
}

static void add_range(const struct framework *fw, struct ranges *r, const struct extreme *e)
{
    struct extreme *range = range_of(r, e->plugin);
    if (range != NULL)
        widen(range, e);
    for (uint32_t i = 0; i < fw->score_count && range == NULL; i++)
        if (str_is(e->plugin, fw->score[i].plugin->name) && r->count < 64)
            r->at[r->count++] =
                (struct extreme){str_of(fw->score[i].plugin->name), e->least, e->greatest};
}

/* True when this worker, asked with some ranges, has normalised with all of these. */
static bool has_used(const struct naming *l, struct ranges *asked_with, struct ranges *all)
{
    for (uint32_t i = 0; i < l->said.extremes.count; i++) {
        struct extreme used = l->said.extremes.at[i];
        const struct extreme *with = range_of(asked_with, used.plugin);
        const struct extreme *wanted = range_of(all, used.plugin);
        if (with != NULL)
            widen(&used, with);
        if (wanted == NULL || used.least != wanted->least || used.greatest != wanted->greatest)
            return false;
    }
    return true;
}

/* The ranges become the cluster's. True when everybody has normalised with them already. */
static bool merge_ranges(struct coordinator *c)
{
    struct run *run = c->run;
    const struct framework *fw =
        frameworks_find(&c->frameworks, c->slots[0].flight->pod.scheduler_name);
    struct ranges asked_with = run->ranges;
    bool same = true;
    run->ranges.count = 0;
    for (uint32_t i = 0; i < c->asked_count; i++)
        for (uint32_t k = 0; k < run->lists[i].said.extremes.count; k++)
            add_range(fw, &run->ranges, &run->lists[i].said.extremes.at[k]);
    for (uint32_t i = 0; i < c->asked_count && same; i++)
        same = has_used(&run->lists[i], &asked_with, &run->ranges);
    return same;
}

/* ---- the merge ---- */

static const struct run_place *head(const struct naming *l)
{
    return l->next < l->said.places.count ? &l->said.places.at[l->next] : NULL;
}

/* False when a worker's list is at its end: it may have better nodes than it has named. */
static bool all_have_heads(const struct coordinator *c)
{
    for (uint32_t i = 0; i < c->asked_count; i++)
        if (c->run->lists[i].said.feasible > 0 && head(&c->run->lists[i]) == NULL)
            return false;
    return true;
}

/* Of workers whose next places are equally good: the one with the first name, or by dice, each as
 * likely as it has nodes. */
static uint32_t pick(struct coordinator *c, int64_t total, int64_t ties, bool by_name)
{
    uint32_t picked = 0;
    struct str first = {NULL, 0};
    int64_t left = by_name ? 0 : (int64_t)random_below(&c->random, (uint64_t)ties);
    for (uint32_t i = 0; i < c->asked_count; i++) {
        const struct run_place *p = head(&c->run->lists[i]);
        if (p == NULL || p->total != total || (!by_name && left < 0))
            continue;
        left -= p->ties;
        if (!by_name || first.len == 0 || str_compare(p->node, first) < 0) {
            picked = i;
            first = p->node;
        }
    }
    return picked;
}

/* The place of one more pod. */
static void choose(struct coordinator *c, uint32_t slot)
{
    struct run *run = c->run;
    const struct run_place *best = NULL;
    int64_t ties = 0;
    for (uint32_t i = 0; i < c->asked_count; i++) {
        const struct run_place *p = head(&run->lists[i]);
        if (p == NULL)
            continue;
        if (best == NULL || p->total > best->total) {
            best = p;
            ties = 0;
        }
        ties += p->total == best->total ? p->ties : 0;
    }
    must(best != NULL); /* all have heads, and somebody has nodes */
    uint32_t i = pick(c, best->total, ties, str_is(str_of(c->options.tie_break), "first"));
    run->chosen[slot] = *head(&run->lists[i]);
    run->from[slot] = i;
    run->lists[i].next++;
}

/* How many pods have a place that stands. */
static uint32_t merge(struct coordinator *c)
{
    uint32_t good = 0;
    while (good < c->under_way && all_have_heads(c)) {
        choose(c, good);
        if (!cycle_stands(c, c->slots[good].flight, c->run->chosen[good].node))
            break;
        good++;
    }
    return good;
}

/* ---- answers ---- */

/* Of one place, on average. */
static int64_t filter_ns(const struct naming *l)
{
    return l->said.places.count > 0 ? l->said.filter_ns / l->said.places.count : 0;
}

/* The first pod is asked about by itself. */
static void go_alone(struct coordinator *c, struct moment now)
{
    tell_end(c, 0);
    batch_learned(c, c->under_way, 0);
    cycle_give_back(c, 1);
    cycle_step(c, now, REDUCE_ask);
}

static void conclude(struct coordinator *c, struct moment now)
{
    int64_t feasible = 0;
    uint32_t asked = c->under_way, good = merge(c);
    for (uint32_t i = 0; i < c->asked_count; i++)
        feasible += c->run->lists[i].said.feasible;
    tell_end(c, good);
    batch_learned(c, asked, good);
    c->count.runs++;
    c->count.run_pods += good;
    for (uint32_t i = 0; i < good; i++) {
        const struct run_place *p = &c->run->chosen[i];
        const struct placement place = {.node = p->node,
                                        .total = p->total,
                                        .feasible = feasible,
                                        .told = !batch_has_been_gone(c, p->node)};
        c->slots[i].steps.filter = filter_ns(&c->run->lists[c->run->from[i]]);
        measure_placed_alike(c, &c->slots[i], feasible, now);
        cycle_place(c, now, c->slots[i].flight, &place);
    }
    cycle_give_back(c, good);
    cycle_end(c);
}

static void all_are_in(struct coordinator *c, struct moment now)
{
    bool fails = false, any = false;
    for (uint32_t i = 0; i < c->asked_count; i++) {
        fails |= c->run->lists[i].said.fails;
        any |= c->run->lists[i].said.feasible > 0;
    }
    bool right = merge_ranges(c);
    if (fails || !any || (!right && c->run->round > 1))
        go_alone(c, now);
    else if (!right)
        ask(c, 2);
    else
        conclude(c, now);
}

/* A worker is a peer: it may say anything. */
static bool makes_sense(const struct naming *l, const struct map_run_result *said)
{
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
    if (!run->under_way || said->cycle != reduce_request(c->slots[0].reduce)->cycle ||
        said->round != run->round)
        return NULL;
    for (uint32_t i = 0; i < c->asked_count; i++)
        if (c->asked[i] == worker && !run->lists[i].answered)
            return &run->lists[i];
    return NULL;
}

void run_on_result(struct coordinator *c, struct moment now, uint32_t worker,
                   const struct map_run_result *said)
{
    struct naming *l = naming_of(c, worker, said);
    if (l == NULL) {
        c->count.late++;
        return;
    }
    l->answered = true;
    if (makes_sense(l, said))
        codec_copy(message_info[MSG_map_run_result].record, &l->said, said, &c->run->memory);
    else
        l->said.fails = true;
    if (--c->run->missing == 0)
        all_are_in(c, now);
}
