/* dry_results: kept results of dry runs, for the few kinds of preemptors that came last. The one
 * idea: where no rule counts other pods, what a dry run says of a row follows from the row, the
 * pods that are nominated to it, and the request without its pod's names.
 *
 * What must stay true: a result that is not unknown is what a new dry run would say; it holds no
 * memory of a request; rows are numbered as in the shard, or all is unknown. */
#include "scheduler/worker/dry_results.h"

#include "proto/base/memory.h"
#include "proto/codec.h"
#include "scheduler/table/like_pod.h"
#include "scheduler/worker/shard_inside.h"

#include <string.h>

#define KINDS_MAX   4
#define RULINGS_MAX 64

struct dry_results {
    struct buffer key;
    uint64_t asked_at;
    uint64_t seen, seen_nominations, layout; /* of the share's touched */
    int64_t now_us;                          /* the present when the first of them were kept */
    uint32_t room;
    struct dry_result *at; /* by row */
    uint32_t ruling_count;
    struct ruling rulings[RULINGS_MAX];
    struct arena memory; /* of the rulings */
};

struct kept_results {
    uint64_t questions;
    struct buffer key; /* being made */
    struct dry_results kinds[KINDS_MAX];
};

/* ---- whom it is for ---- */

static bool filter_counts(const struct evaluation *e, const struct plugin *p)
{
    for (uint32_t i = 0; i < e->cycle.knowledge_count; i++)
        if (e->cycle.knowledge[i].plugin == p)
            return true;
    return false;
}

/* Volumes are looked up outside of the shard; siblings are others for each group; and a pod that is
 * on a node is like no other. */
static bool is_kept(const struct evaluation *e)
{
    const struct map_request *r = e->request;
    const struct framework *fw = e->cycle.framework;
    if (r->detail || r->dry_run.others || r->dry_run.turned_away.count > 0 || r->only.count > 0 ||
        r->siblings.count > 0 || r->pod.volumes.count > 0 || r->pod.resize_deferred ||
        fw->profile.check_all)
        return false;
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if ((e->skip >> i & 1) == 0 && filter_counts(e, fw->filter[i]))
            return false;
    return true;
}

static void make_key(struct buffer *key, const struct map_request *r)
{
    struct pod pod = like_pod_to_rules(&r->pod, false);
    pod.nominated_node = (struct str){NULL, 0};
    pod.priority = r->pod.priority;
    buffer_reset(key);
    codec_encode(&pod_record, &pod, key);
    codec_encode(&findings_record, &r->findings, key);
    for (uint32_t i = 0; i < r->dry_run.budgets.count; i++)
        codec_encode(&budget_record, &r->dry_run.budgets.at[i], key);
    for (uint32_t i = 0; i < r->dry_run.wholes.count; i++)
        codec_encode(&whole_group_record, &r->dry_run.wholes.at[i], key);
}

/* ---- keeping ---- */

static void forget_all(struct dry_results *l, const struct map_request *r, const struct share *s)
{
    uint32_t rows = s->nodes.count;
    if (rows > l->room) {
        l->room = 2 * rows;
        l->at = memory_resize(l->at, l->room * sizeof(*l->at));
    }
    if (rows > 0)
        memset(l->at, 0, rows * sizeof(*l->at));
    l->seen = s->touched.count;
    l->seen_nominations = s->touched.nominations;
    l->layout = s->touched.layout;
    l->now_us = r->dry_run.now_us;
    l->ruling_count = 0;
    arena_reset(&l->memory);
}

/* A clock that was set back may have made pods older than the present younger. */
static void bring_in_step(struct dry_results *l, const struct map_request *r, const struct share *s)
{
    const struct touched *t = &s->touched;
    if (l->layout != t->layout || !touched_reaches(t, l->seen) ||
        !touched_reaches_nominations(t, l->seen_nominations) || r->dry_run.now_us < l->now_us) {
        forget_all(l, r, s);
        return;
    }
    for (; l->seen < t->count; l->seen++)
        l->at[t->rows[l->seen & (TOUCHED_ROOM - 1)]].kind = DRY_unknown;
    for (; l->seen_nominations < t->nominations; l->seen_nominations++)
        l->at[t->nominated[l->seen_nominations & (TOUCHED_ROOM - 1)]].kind = DRY_unknown;
}

/* The kind with that key, or the one that was asked for longest ago, which becomes it. */
static struct dry_results *find(struct kept_results *all, const struct map_request *r,
                                const struct share *s)
{
    struct dry_results *oldest = &all->kinds[0];
    for (uint32_t i = 0; i < KINDS_MAX; i++) {
        struct dry_results *l = &all->kinds[i];
        if (l->asked_at > 0 && str_equal(buffer_str(&l->key), buffer_str(&all->key))) {
            bring_in_step(l, r, s);
            return l;
        }
        if (l->asked_at < oldest->asked_at)
            oldest = l;
    }
    struct buffer key = oldest->key;
    oldest->key = all->key;
    all->key = key;
    forget_all(oldest, r, s);
    return oldest;
}

struct dry_result *dry_results_for(const struct evaluation *e, struct dry_results **results)
{
    struct shard *s = e->shard;
    if (!is_kept(e))
        return NULL;
    if (s->dry_results == NULL)
        s->dry_results = memory_take(sizeof(*s->dry_results));
    make_key(&s->dry_results->key, e->request);
    *results = find(s->dry_results, e->request, &s->share);
    (*results)->asked_at = ++s->dry_results->questions;
    return (*results)->at;
}

static bool is_same(const struct ruling *a, const struct ruling *b)
{
    if (a->code != b->code || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->reasons[i].text != b->reasons[i].text ||
            !str_equal(a->reasons[i].what, b->reasons[i].what))
            return false;
    return true;
}

bool dry_results_reject(struct dry_results *results, const struct ruling *ruling,
                        struct dry_result *found)
{
    uint32_t i = 0;
    while (i < results->ruling_count && !is_same(&results->rulings[i], ruling))
        i++;
    found->ruling = (uint8_t)i;
    if (i < results->ruling_count)
        return true;
    if (i == RULINGS_MAX)
        return false;
    struct ruling *kept = &results->rulings[results->ruling_count++];
    *kept = (struct ruling){.code = ruling->code, .count = ruling->count, .room = ruling->count};
    kept->reasons = arena_take(&results->memory, ruling->count * sizeof(*kept->reasons));
    for (uint32_t k = 0; k < ruling->count; k++)
        kept->reasons[k] = (struct reason){
            ruling->reasons[k].text, ruling->reasons[k].what.len == 0
                                         ? (struct str){NULL, 0}
                                         : arena_copy(&results->memory, ruling->reasons[k].what)};
    return true;
}

const struct ruling *dry_results_ruling(const struct dry_results *results,
                                        const struct dry_result *found)
{
    return &results->rulings[found->ruling];
}

void dry_results_free(struct kept_results **results)
{
    struct kept_results *all = *results;
    for (uint32_t i = 0; all != NULL && i < KINDS_MAX; i++) {
        buffer_free(&all->kinds[i].key);
        memory_free(all->kinds[i].at);
        arena_free(&all->kinds[i].memory);
    }
    if (all != NULL)
        buffer_free(&all->key);
    memory_free(all);
    *results = NULL;
}
