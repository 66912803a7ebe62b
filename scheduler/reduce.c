/* reduce: merges the shards' answers into one decision. The one idea: counts add up, maxima merge
 * to the greatest, and only shards that normalised with a smaller maximum are asked again.
 *
 * What must stay true: a decision is made only from answers that were all given for the same
 * maxima, and each shard counts once. */
#include "scheduler/reduce.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/fit_error.h"
#include "scheduler/plugin.h"
#include "scheduler/post_filter.h"

#include <stdlib.h>
#include <string.h>

/* Rounds with merged maxima at most; more happen only if nodes change between all of them. */
#define ROUNDS_MAX 8

enum phase { PHASE_map, PHASE_again, PHASE_dry_run, PHASE_done };

struct part {
    bool asked, answered;
    struct map_result result; /* the newest of the map rounds; strings in the reduce's arena */
    int64_t used[64];         /* by scorer: the maximum it normalised with */
};

struct reduce {
    struct arena arena;
    struct reduce_start start;
    struct map_request request;
    enum phase phase;
    struct part *parts;
    uint32_t missing;
    uint32_t rounds;
    int64_t maxima[64]; /* by scorer, merged */
    struct histogram dry_reasons;
    int64_t dry_nodes, dry_fits;
    struct decision decision;
    struct verdict *verdicts;
    uint32_t verdict_count;
};

struct reduce *reduce_new(void)
{
    struct reduce *r = memory_take(sizeof(*r));
    r->phase = PHASE_done;
    return r;
}

void reduce_free(struct reduce **r)
{
    if (*r == NULL)
        return;
    arena_free(&(*r)->arena);
    memory_free(*r);
    *r = NULL;
}

const struct map_request *reduce_request(const struct reduce *r)
{
    return &r->request;
}

bool reduce_asks(const struct reduce *r, uint32_t shard)
{
    return r->phase != PHASE_done && shard < r->start.shards && r->parts[shard].asked &&
           !r->parts[shard].answered;
}

const struct decision *reduce_decision(const struct reduce *r)
{
    must(r->phase == PHASE_done);
    return &r->decision;
}

const struct verdict *reduce_verdicts(const struct reduce *r, uint32_t *count)
{
    must(r->phase == PHASE_done);
    *count = r->verdict_count;
    return r->verdicts;
}

/* ---- sums over the parts ---- */

struct sums {
    int64_t feasible, evaluated, curable;
    struct str error;
    bool nominated_fits;
};

static struct sums sum_parts(const struct reduce *r)
{
    struct sums s = {0};
    for (uint32_t i = 0; i < r->start.shards; i++) {
        const struct map_result *p = &r->parts[i].result;
        s.feasible += p->feasible;
        s.evaluated += p->evaluated;
        s.curable += p->evaluated - p->feasible - p->unresolvable;
        s.nominated_fits |= p->nominated_fits;
        if (s.error.len == 0)
            s.error = p->error;
    }
    return s;
}

static int compare_str(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Sorted and unique: who narrowed, and who rejected nodes. */
static struct strs rejecting_plugins(struct reduce *r)
{
    struct strs by = r->decision.pre_filter.by;
    uint32_t room = by.count;
    for (uint32_t i = 0; i < r->start.shards; i++)
        room += r->parts[i].result.plugins.count;
    struct strs all = {0, arena_take(&r->arena, room * sizeof(struct str))};
    for (uint32_t i = 0; i < by.count; i++)
        all.at[all.count++] = by.at[i];
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result.plugins.count; k++)
            all.at[all.count++] = r->parts[i].result.plugins.at[k];
    qsort(all.at, all.count, sizeof(*all.at), compare_str);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all.count; i++)
        if (kept == 0 || !str_equal(all.at[kept - 1], all.at[i]))
            all.at[kept++] = all.at[i];
    all.count = kept;
    return all;
}

/* ---- the ends of a cycle ---- */

static enum reduce_step done(struct reduce *r, enum decision_kind kind)
{
    r->decision.kind = kind;
    r->phase = PHASE_done;
    return REDUCE_done;
}

static enum reduce_step fail(struct reduce *r, struct str message)
{
    r->decision.message = arena_copy(&r->arena, message);
    r->decision.clear_nominated = true;
    return done(r, DECISION_error);
}

static int compare_verdicts(const void *a, const void *b)
{
    return str_compare(((const struct verdict *)a)->node, ((const struct verdict *)b)->node);
}

static void gather_verdicts(struct reduce *r)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < r->start.shards; i++)
        room += r->parts[i].result.verdicts.count;
    r->verdicts = arena_take(&r->arena, room * sizeof(*r->verdicts));
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result.verdicts.count; k++)
            r->verdicts[r->verdict_count++] = r->parts[i].result.verdicts.at[k];
    qsort(r->verdicts, r->verdict_count, sizeof(*r->verdicts), compare_verdicts);
}

/* The words for the nodes that nobody looked at. */
static struct str absent_reason(struct reduce *r)
{
    struct buffer text = {0};
    buffer_add_text(&text, "node(s) didn't satisfy plugin(s) [");
    for (uint32_t i = 0; i < r->decision.pre_filter.by.count; i++)
        buffer_print(&text, "%s%.*s", i == 0 ? "" : " ", STR_ARG(r->decision.pre_filter.by.at[i]));
    buffer_add_text(&text, "]");
    struct str copy = arena_copy(&r->arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

static void add_post_filter(struct reduce *r, int64_t curable, struct post_filter_answer *out)
{
    const struct post_filter_question q = {.framework = r->start.framework,
                                           .pod = r->start.pod,
                                           .pre = &r->decision.pre_filter,
                                           .nodes = r->start.nodes,
                                           .curable = curable,
                                           .dry_nodes = r->dry_nodes,
                                           .dry_fits = r->dry_fits,
                                           .dry_reasons = &r->dry_reasons};
    post_filter(&q, out);
    r->decision.clear_nominated = out->clear_nominated;
    r->decision.preemption_helps = out->helps;
}

static enum reduce_step nothing_fits(struct reduce *r, const struct sums *s)
{
    struct histogram h = {.arena = &r->arena};
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result.reasons.count; k++) {
            const struct tally *t = &r->parts[i].result.reasons.at[k];
            histogram_add(&h, t->text, t->count);
        }
    if (r->decision.pre_filter.narrowed)
        histogram_add(&h, absent_reason(r), r->start.nodes - s->evaluated);
    struct post_filter_answer post;
    add_post_filter(r, s->curable, &post);
    r->decision.message = fit_error(r->start.nodes, (struct str){0}, &h, post.text);
    r->decision.plugins = rejecting_plugins(r);
    return done(r, DECISION_unschedulable);
}

static enum reduce_step turned_away(struct reduce *r)
{
    const struct pre_filter_outcome *pre = &r->decision.pre_filter;
    struct histogram none = {.arena = &r->arena};
    struct post_filter_answer post;
    add_post_filter(r, 0, &post);
    r->decision.message = fit_error(r->start.nodes, pre->reason, &none, post.text);
    if (pre->plugin.len > 0) {
        r->decision.plugins = (struct strs){1, arena_take(&r->arena, sizeof(struct str))};
        r->decision.plugins.at[0] = pre->plugin;
    } else {
        r->decision.plugins = pre->by;
    }
    return done(r, DECISION_unschedulable);
}

/* ---- choosing ---- */

static bool is_best(const struct reduce *r, uint32_t shard)
{
    const struct map_result *p = &r->parts[shard].result;
    return p->feasible > 0 && p->best_count > 0 && p->best_total == r->decision.total;
}

static struct str by_dice(const struct reduce *r)
{
    struct random dice = {(uint64_t)r->start.seed};
    (void)random_next(&dice); /* the shards' first throw */
    int64_t left = (int64_t)random_below(&dice, (uint64_t)r->decision.best_count);
    for (uint32_t i = 0; i < r->start.shards; i++) {
        if (!is_best(r, i))
            continue;
        left -= r->parts[i].result.best_count;
        if (left < 0)
            return r->parts[i].result.best_node;
    }
    must(!"some shard has a best node");
    return (struct str){0};
}

static void take_smaller(struct str *smallest, struct str name)
{
    if (name.len > 0 && (smallest->len == 0 || str_compare(name, *smallest) < 0))
        *smallest = name;
}

static struct str by_name(const struct reduce *r, bool round)
{
    struct str first = {0}, behind = {0};
    for (uint32_t i = 0; i < r->start.shards; i++) {
        if (!is_best(r, i))
            continue;
        take_smaller(&first, r->parts[i].result.best_node);
        take_smaller(&behind, r->parts[i].result.best_after);
    }
    return round && behind.len > 0 ? behind : first;
}

static void list_best(struct reduce *r)
{
    struct decision *d = &r->decision;
    d->best_nodes.at = arena_take(&r->arena, (r->verdict_count + 1) * sizeof(struct str));
    if (d->used_nominated) {
        d->best_nodes.at[d->best_nodes.count++] = d->node;
        return;
    }
    for (uint32_t i = 0; i < r->verdict_count; i++)
        if (str_is(r->verdicts[i].code, "Success") && r->verdicts[i].total == d->total)
            d->best_nodes.at[d->best_nodes.count++] = r->verdicts[i].node;
}

static enum reduce_step choose(struct reduce *r, const struct sums *s)
{
    struct decision *d = &r->decision;
    for (uint32_t i = 0; i < r->start.shards; i++) {
        const struct map_result *p = &r->parts[i].result;
        if (p->feasible == 0)
            continue;
        if (d->best_count == 0 || p->best_total > d->total) {
            d->total = p->best_total;
            d->best_count = 0;
        }
        d->best_count += p->best_total == d->total ? p->best_count : 0;
    }
    must(d->best_count > 0);
    d->used_nominated = s->nominated_fits;
    if (s->nominated_fits)
        d->node = r->start.pod->nominated_node;
    else if (str_is(r->start.tie_break, "first") || str_is(r->start.tie_break, "round-robin"))
        d->node = by_name(r, str_is(r->start.tie_break, "round-robin"));
    else
        d->node = by_dice(r);
    if (r->start.detail)
        list_best(r);
    return done(r, DECISION_node);
}

/* ---- rounds ---- */

static void ask_part(struct reduce *r, uint32_t shard)
{
    r->parts[shard].asked = true;
    r->parts[shard].answered = false;
    r->missing++;
}

static int64_t listed_maximum(const struct map_result *p, struct str plugin)
{
    for (uint32_t i = 0; i < p->maxima.count; i++)
        if (str_equal(p->maxima.at[i].text, plugin))
            return p->maxima.at[i].count;
    return 0;
}

static bool normalises(const struct reduce *r, uint32_t scorer)
{
    return r->start.framework->score[scorer].plugin->normalise != NORMALISE_none;
}

static struct str scorer_name(const struct reduce *r, uint32_t scorer)
{
    return str_of(r->start.framework->score[scorer].plugin->name);
}

/* What each part normalised with, and the greatest of all. */
static void merge_maxima(struct reduce *r)
{
    for (uint32_t k = 0; k < r->start.framework->score_count; k++) {
        int64_t asked_with = r->maxima[k], most = 0;
        for (uint32_t i = 0; i < r->start.shards; i++) {
            struct part *p = &r->parts[i];
            int64_t own =
                p->result.feasible > 0 ? listed_maximum(&p->result, scorer_name(r, k)) : 0;
            if (own > most)
                most = own;
            if (p->asked)
                p->used[k] = r->phase == PHASE_again && asked_with > own ? asked_with : own;
        }
        r->maxima[k] = most;
    }
}

/* True when some shard has to be asked again, with the merged maxima. */
static bool ask_again(struct reduce *r)
{
    uint32_t asked = 0;
    for (uint32_t i = 0; i < r->start.shards; i++) {
        struct part *p = &r->parts[i];
        p->asked = false;
        for (uint32_t k = 0; k < r->start.framework->score_count && !p->asked; k++)
            if (p->result.feasible > 0 && normalises(r, k) && p->used[k] != r->maxima[k]) {
                ask_part(r, i);
                asked++;
            }
    }
    return asked > 0;
}

static enum reduce_step start_round_two(struct reduce *r)
{
    const struct framework *fw = r->start.framework;
    r->phase = PHASE_again;
    r->request.round = 2;
    r->request.maxima.count = 0;
    r->request.maxima.at = arena_take(&r->arena, fw->score_count * sizeof(struct tally));
    for (uint32_t k = 0; k < fw->score_count; k++)
        if (normalises(r, k))
            r->request.maxima.at[r->request.maxima.count++] =
                (struct tally){scorer_name(r, k), r->maxima[k]};
    return REDUCE_ask;
}

static enum reduce_step start_dry_run(struct reduce *r)
{
    r->phase = PHASE_dry_run;
    r->request.round = 3;
    r->request.dry_run = true;
    r->request.detail = false;
    for (uint32_t i = 0; i < r->start.shards; i++) {
        const struct map_result *p = &r->parts[i].result;
        r->parts[i].asked = false;
        if (p->evaluated - p->feasible - p->unresolvable > 0)
            ask_part(r, i);
    }
    return REDUCE_ask;
}

static enum reduce_step all_are_in(struct reduce *r)
{
    struct sums s = sum_parts(r);
    r->decision.feasible = s.feasible;
    r->decision.evaluated = s.evaluated;
    if (r->phase == PHASE_dry_run)
        return nothing_fits(r, &s);
    /* A single feasible node is not scored upstream, so its scores cannot fail. */
    bool failed = s.error.len > 0 && s.feasible != 1;
    if (s.feasible > 0 && !failed) {
        merge_maxima(r);
        if (s.feasible > 1 && r->rounds++ < ROUNDS_MAX && ask_again(r))
            return start_round_two(r);
    }
    gather_verdicts(r);
    if (failed)
        return fail(r, s.error);
    r->decision.score_error = s.error;
    if (s.feasible > 0)
        return choose(r, &s);
    if (post_filter_wants_dry_run(r->start.framework, r->start.pod, s.curable))
        return start_dry_run(r);
    return nothing_fits(r, &s);
}

static void begin_request(struct reduce *r)
{
    const struct reduce_start *s = &r->start;
    r->request = (struct map_request){.cycle = s->cycle,
                                      .round = 1,
                                      .pod = *s->pod,
                                      .detail = s->detail,
                                      .tie_break = s->tie_break,
                                      .seed = s->seed,
                                      .after = s->after};
    r->request.nominated.count = s->nominated_count;
    r->request.nominated.at = arena_take(&r->arena, s->nominated_count * sizeof(struct pod));
    if (s->nominated_count > 0)
        memcpy(r->request.nominated.at, s->nominated, s->nominated_count * sizeof(struct pod));
    if (r->decision.pre_filter.narrowed)
        r->request.only = r->decision.pre_filter.names;
}

enum reduce_step reduce_start(struct reduce *r, const struct reduce_start *start)
{
    arena_reset(&r->arena);
    *r = (struct reduce){.arena = r->arena, .start = *start};
    must(start->framework->score_count <= 64);
    r->dry_reasons.arena = &r->arena;
    r->decision.nodes = start->nodes;
    if (start->nodes == 0) {
        r->decision.message = STR_LITERAL("no nodes available to schedule pods");
        r->decision.clear_nominated = true;
        return done(r, DECISION_unschedulable);
    }
    framework_pre_filter(start->framework, start->pod, &r->arena, &r->decision.pre_filter);
    if (r->decision.pre_filter.code != CODE_success)
        return turned_away(r);
    if (start->shards == 0)
        return fail(r, STR_LITERAL("no worker has the nodes"));
    r->parts = arena_take(&r->arena, start->shards * sizeof(*r->parts));
    begin_request(r);
    for (uint32_t i = 0; i < start->shards; i++)
        ask_part(r, i);
    return REDUCE_ask;
}

/* A worker is a peer: what it says is checked before it is summed. */
static bool makes_sense(const struct map_result *p)
{
    return p->feasible >= 0 && p->evaluated >= p->feasible && p->evaluated <= INT32_MAX &&
           p->unresolvable >= 0 && p->unresolvable <= p->evaluated - p->feasible &&
           p->best_count >= 0 && p->best_count <= p->feasible &&
           (p->best_count > 0) == (p->feasible > 0) && p->dry_run_nodes >= 0 &&
           p->dry_run_nodes <= INT32_MAX && p->dry_run_fits >= 0 &&
           p->dry_run_fits <= p->dry_run_nodes;
}

static void add_dry_run(struct reduce *r, const struct map_result *p)
{
    r->dry_nodes += p->dry_run_nodes;
    r->dry_fits += p->dry_run_fits;
    for (uint32_t i = 0; i < p->dry_run_reasons.count; i++)
        histogram_add(&r->dry_reasons, arena_copy(&r->arena, p->dry_run_reasons.at[i].text),
                      p->dry_run_reasons.at[i].count);
}

enum reduce_step reduce_add(struct reduce *r, uint32_t shard, const struct map_result *result)
{
    if (!reduce_asks(r, shard) || result->cycle != r->request.cycle ||
        result->round != r->request.round)
        return r->phase == PHASE_done ? REDUCE_done : REDUCE_wait;
    struct part *p = &r->parts[shard];
    if (!makes_sense(result)) {
        const struct map_result refused = {.error =
                                               STR_LITERAL("a worker's answer makes no sense")};
        p->result = refused;
    } else if (r->phase == PHASE_dry_run) {
        add_dry_run(r, result);
    } else {
        codec_copy(message_info[MSG_map_result].record, &p->result, result, &r->arena);
    }
    p->answered = true;
    return --r->missing > 0 ? REDUCE_wait : all_are_in(r);
}
