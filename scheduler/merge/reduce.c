/* reduce: merges the shards' answers into one decision. The one idea: counts add up, ranges merge
 * to the widest, and only shards that knew less than the whole are asked again.
 *
 * What must stay true: a decision is made only from answers that were all given for the same
 * counts, surveys and ranges, and each shard counts once. */
#include "scheduler/merge/reduce.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/cluster/device_brief.h"
#include "scheduler/cluster/nominator.h"
#include "scheduler/merge/fit_error.h"
#include "scheduler/merge/gang_victims.h"
#include "scheduler/merge/map_answer.h"
#include "scheduler/merge/post_filter.h"
#include "scheduler/merge/score_ranges.h"
#include "scheduler/rules/plugin.h"
#include "scheduler/rules/tie_break.h"

#include <stdlib.h>
#include <string.h>

/* Rounds of the step again at most; more happen only if nodes change between all of them. */
#define ROUNDS_MAX 8

enum phase {
    PHASE_count,
    PHASE_nominated,
    PHASE_map,
    PHASE_again,
    PHASE_claims,
    PHASE_victims,
    PHASE_done
};

struct part {
    bool asked, answered;
    struct map_result result; /* the newest of the map rounds; strings in the reduce's arena */
    struct {
        uint32_t count;
        struct plugin_counts *at;
    } surveys; /* those of the step map */
    struct score_ranges ranges;
    bool surveyed; /* it scored with the merged surveys */
};

struct reduce {
    struct arena arena;
    struct reduce_start start;
    struct map_request request;
    enum phase phase;
    struct part *parts;
    uint32_t missing;
    uint32_t rounds;
    struct score_range ranges[SCORE_RANGES_MAX]; /* by scorer, merged */
    struct pod prepared;
    struct candidates candidates;
    struct strs unavailable; /* claims that are in the way on some node */
    struct reduce_extend question;
    struct strs turned_away; /* by extenders, and removing pods may help; sorted */
    int64_t refused;         /* nodes that extenders and plugins on the bus have removed */
    int64_t nodes_filtered;  /* before extenders were heard */
    bool extended;           /* the extenders' answer about nodes was taken in */
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
    struct str error, score_error;
    bool nominated_fits;
    struct nominated_outcome nominated;
    struct str nominated_plugin;
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
        s.nominated.waits |= p->nominated_waits;
        if (s.nominated.code.len == 0)
            s.nominated.code = p->nominated_code;
        if (s.nominated_plugin.len == 0)
            s.nominated_plugin = p->nominated_plugin;
        if (p->error.len > 0 && (s.error.len == 0 || str_compare(p->error, s.error) < 0))
            s.error = p->error;
        if (s.score_error.len == 0)
            s.score_error = p->score_error;
    }
    return s;
}

static int compare_str(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Plugins on the bus are known by name, extenders are not told apart. */
static void add_refusing(const struct reduce *r, struct strs *all)
{
    for (uint32_t i = 0; r->refused > 0 && i < r->question.nodes.count; i++) {
        const struct extender_refusal *refusal =
            extension_refusal(r->start.extension, r->question.nodes.at[i]);
        bool plugin = refusal != NULL && refusal->plugin.len > 0;
        all->at[all->count++] = plugin ? refusal->plugin : STR_LITERAL("Extender");
    }
}

/* Sorted and unique: who narrowed, and who rejected nodes. */
static struct strs rejecting_plugins(struct reduce *r)
{
    struct strs by = r->decision.pre_filter.by;
    uint32_t room = by.count + r->question.nodes.count;
    for (uint32_t i = 0; i < r->start.shards; i++)
        room += r->parts[i].result.plugins.count;
    struct strs all = {0, arena_take(&r->arena, room * sizeof(struct str))};
    for (uint32_t i = 0; i < by.count; i++)
        all.at[all.count++] = by.at[i];
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result.plugins.count; k++)
            all.at[all.count++] = r->parts[i].result.plugins.at[k];
    add_refusing(r, &all);
    qsort(all.at, all.count, sizeof(*all.at), compare_str);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all.count; i++)
        if (kept == 0 || !str_equal(all.at[kept - 1], all.at[i]))
            all.at[kept++] = all.at[i];
    all.count = kept;
    return all;
}

/* ---- the ends of a cycle ---- */

const struct reduce_extend *reduce_extend(const struct reduce *r)
{
    return &r->question;
}

static enum reduce_step extend(struct reduce *r)
{
    r->phase = PHASE_done;
    return REDUCE_extend;
}

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

/* What the PostFilter plugins say, to the end of the message. */
static struct str run_post_filter(struct reduce *r)
{
    struct decision *d = &r->decision;
    const struct tie_break by = {r->start.tie_break, r->start.seed, r->start.now_us};
    preemption_pick(&d->preemption, &r->candidates, &by);
    gang_victims_complete(&r->start, &d->preemption, &r->arena);
    const struct deallocation_question claims = {.catalog = r->start.catalog,
                                                 .pod = r->start.pod,
                                                 .unavailable = r->unavailable,
                                                 .tie_break = r->start.tie_break,
                                                 .seed = r->start.seed};
    const struct deallocation taken = deallocation_pick(&claims, &r->arena);
    const struct post_filter_question q = {.framework = r->start.framework,
                                           .pod = r->start.pod,
                                           .devices = r->request.brief.device_resources.count > 0,
                                           .pre = &d->pre_filter,
                                           .nodes = r->start.nodes,
                                           .preemption = &d->preemption,
                                           .candidates = &r->candidates,
                                           .deallocates = taken.claim.len > 0,
                                           .deletes = taken.deletes,
                                           .arena = &r->arena};
    struct post_filter_answer post;
    post_filter(&q, &post);
    if (post.deallocates)
        d->deallocation = taken;
    d->clear_nominated = post.clear_nominated;
    d->preemption.post_filter = post.text;
    d->preemption.failed = post.failed;
    return post.text;
}

/* Upstream's extenders may take candidates away, and change who is to go from the others. */
static bool extend_victims(struct reduce *r)
{
    const struct extension *e = r->start.extension;
    struct candidates *c = &r->candidates;
    if (e == NULL || e->asked_victims == 0 || c->all.count == 0)
        return true;
    const struct profile *p = &r->start.framework->profile;
    candidates_limit(c, p->preempt_percentage, p->preempt_absolute, r->start.now_us);
    if (!extension_holds_victims(e, c->all.at, c->all.count)) {
        r->question = (struct reduce_extend){
            .about = ABOUT_victims, .count = c->all.count, .candidates = c->all.at};
        return false;
    }
    c->extended = true;
    c->failed = e->victims.error;
    c->all.count = c->failed.len > 0 ? 0 : e->victims.chosen.count;
    c->all.at = e->victims.chosen.at;
    return true;
}

static void add_refusal(const struct extender_refusal *refusal, struct histogram *h)
{
    if (refusal != NULL)
        histogram_add(h, refusal->reason, 1);
}

static enum reduce_step nothing_fits(struct reduce *r, const struct sums *s)
{
    struct histogram h = {.arena = &r->arena};
    if (!extend_victims(r))
        return extend(r);
    for (uint32_t i = 0; r->refused > 0 && i < r->question.nodes.count; i++)
        add_refusal(extension_refusal(r->start.extension, r->question.nodes.at[i]), &h);
    r->decision.feasible = 0;
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result.reasons.count; k++) {
            const struct tally *t = &r->parts[i].result.reasons.at[k];
            histogram_add(&h, t->text, t->count);
        }
    if (r->decision.pre_filter.narrowed)
        histogram_add(&h, r->decision.absent, r->start.nodes - s->evaluated);
    if (r->start.detail)
        preemption_list_potential(&r->decision.preemption, r->verdicts, r->verdict_count,
                                  &r->arena);
    r->decision.message = fit_error(r->start.nodes, (struct str){0}, &h, run_post_filter(r));
    r->decision.plugins = rejecting_plugins(r);
    return done(r, DECISION_unschedulable);
}

static enum reduce_step turned_away(struct reduce *r)
{
    const struct pre_filter_outcome *pre = &r->decision.pre_filter;
    struct histogram none = {.arena = &r->arena};
    const struct nominated_outcome not_looked_at = {0};
    preemption_judge(&r->decision.preemption, r->start.framework, r->start.pod, &not_looked_at);
    r->decision.message = fit_error(r->start.nodes, pre->reason, &none, run_post_filter(r));
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

static int compare_listed(const void *a, const void *b)
{
    return str_compare(((const struct listed_node *)a)->node,
                       ((const struct listed_node *)b)->node);
}

/* Every feasible node and its total, sorted. */
static struct listed_nodes gather_listed(struct reduce *r)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < r->start.shards; i++)
        room += r->parts[i].result.listed.count;
    struct listed_nodes all = {0, arena_take(&r->arena, room * sizeof(*all.at))};
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result.listed.count; k++)
            all.at[all.count++] = r->parts[i].result.listed.at[k];
    if (all.count > 1)
        qsort(all.at, all.count, sizeof(*all.at), compare_listed);
    return all;
}

static enum reduce_step choose_nominated(struct reduce *r)
{
    r->decision.used_nominated = true;
    r->decision.node = r->start.pod->nominated_node;
    return done(r, DECISION_node);
}

/* With what extenders add to the totals; they are not asked about a single node. */
static enum reduce_step choose_extended(struct reduce *r)
{
    struct decision *d = &r->decision;
    struct listed_nodes nodes = gather_listed(r);
    struct listed_choice c = {
        .tie_break = r->start.tie_break, .after = r->start.after, .seed = r->start.seed};
    if (nodes.count == 0)
        return fail(r, STR_LITERAL("a worker's answer makes no sense"));
    extension_score(r->start.extension, &nodes);
    listed_choose(&nodes, &c);
    d->total = c.total;
    d->best_count = c.best_count;
    d->node = c.node;
    d->evaluated = r->nodes_filtered;
    return done(r, DECISION_node);
}

static enum reduce_step choose(struct reduce *r, const struct sums *s)
{
    struct decision *d = &r->decision;
    if (r->start.extension != NULL && r->start.extension->asked != 0)
        return choose_extended(r);
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
    else if (r->start.shards == 1)
        d->node = tie_break_choice(r->start.tie_break, &r->parts[0].result);
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

static bool normalises(const struct reduce *r, uint32_t scorer)
{
    return r->start.framework->score[scorer].plugin->normalise != NORMALISE_none;
}

static struct str scorer_name(const struct reduce *r, uint32_t scorer)
{
    return str_of(r->start.framework->score[scorer].plugin->name);
}

/* What each part normalised with, and the widest of all. */
static void merge_ranges(struct reduce *r)
{
    struct score_range asked_with[SCORE_RANGES_MAX];
    uint64_t any = 0;
    memcpy(asked_with, r->ranges, sizeof(asked_with));
    for (uint32_t i = 0; i < r->start.shards; i++) {
        struct part *p = &r->parts[i];
        score_ranges_merge(&p->ranges, r->ranges, &any);
        if (p->asked)
            score_ranges_use(&p->ranges, r->phase == PHASE_again ? asked_with : NULL);
    }
}

/* True when the part scored with a survey of its own that is not the whole one. */
static bool knows_less(const struct reduce *r, const struct part *p)
{
    if (p->surveyed)
        return false;
    for (uint32_t i = 0; i < r->request.surveys.count; i++) {
        const struct plugin_counts *whole = &r->request.surveys.at[i], none = {0}, *own = &none;
        for (uint32_t k = 0; k < p->surveys.count; k++)
            if (str_equal(p->surveys.at[k].plugin, whole->plugin))
                own = &p->surveys.at[k];
        if (!counts_same(own, whole))
            return true;
    }
    return false;
}

/* True when some shard has to be asked again, with what is merged. */
static bool ask_again(struct reduce *r)
{
    uint32_t asked = 0;
    for (uint32_t i = 0; i < r->start.shards; i++) {
        struct part *p = &r->parts[i];
        bool wrong = (p->result.feasible > 0 && knows_less(r, p)) ||
                     score_ranges_differ(&p->ranges, r->start.framework, r->ranges);
        p->asked = false;
        if (wrong) {
            ask_part(r, i);
            p->surveyed = true;
            asked++;
        }
    }
    return asked > 0;
}

/* Adds up what the parts tell in one of their lists. */
static void merge_surveys(struct reduce *r)
{
    const struct plugin_counts **lists =
        arena_take(&r->arena, r->start.shards * sizeof(struct plugin_counts *));
    uint32_t *sizes = arena_take(&r->arena, r->start.shards * sizeof(*sizes));
    for (uint32_t i = 0; i < r->start.shards; i++) {
        r->parts[i].surveys.count = r->parts[i].result.surveys.count;
        r->parts[i].surveys.at = r->parts[i].result.surveys.at;
        lists[i] = r->parts[i].surveys.at;
        sizes[i] = r->parts[i].surveys.count;
    }
    struct merged_counts all;
    counts_merge(lists, sizes, r->start.shards, &all, &r->arena);
    r->request.surveys.count = all.count;
    r->request.surveys.at = all.at;
}

static void merge_counts(struct reduce *r)
{
    const struct plugin_counts **lists =
        arena_take(&r->arena, r->start.shards * sizeof(struct plugin_counts *));
    uint32_t *sizes = arena_take(&r->arena, r->start.shards * sizeof(*sizes));
    for (uint32_t i = 0; i < r->start.shards; i++) {
        lists[i] = r->parts[i].result.counts.at;
        sizes[i] = r->parts[i].result.counts.count;
    }
    struct merged_counts all;
    counts_merge(lists, sizes, r->start.shards, &all, &r->arena);
    r->request.counts.count = all.count;
    r->request.counts.at = all.at;
}

/* ---- extenders ---- */

/* The pod's nominated node, which passes the filters, is asked about alone. True: there is a next
 * step; false: to extenders it is a node like any other. */
static bool extend_nominated(struct reduce *r, enum reduce_step *step)
{
    const struct extension *e = r->start.extension;
    struct str *name = arena_take(&r->arena, sizeof(*name));
    *name = r->start.pod->nominated_node;
    const struct strs node = {1, name};
    if (!extension_holds(e, ABOUT_nominated, &node)) {
        r->question = (struct reduce_extend){.about = ABOUT_nominated, .nodes = node};
        *step = extend(r);
        return true;
    }
    if (e->answers[ABOUT_nominated].said.error.len > 0 ||
        extension_passed(e, ABOUT_nominated, &node, &r->arena).count == 0)
        return false;
    *step = choose_nominated(r);
    return true;
}

/* The feasible nodes; without a nominated one that only was tried because it is nominated. */
static struct strs feasible_names(struct reduce *r)
{
    struct listed_nodes listed = gather_listed(r);
    struct strs names = {0, arena_take(&r->arena, listed.count * sizeof(struct str))};
    for (uint32_t i = 0; i < listed.count; i++)
        if (!r->request.nominated_too ||
            !str_equal(listed.at[i].node, r->start.pod->nominated_node))
            names.at[names.count++] = listed.at[i].node;
    return names;
}

static enum reduce_step map_only(struct reduce *r, struct strs names)
{
    r->request.only = names;
    r->request.nominated_too = false;
    r->request.bare = r->start.extension->answers[ABOUT_nodes].said.bare;
    r->request.surveys.count = 0;
    r->request.round++;
    r->phase = PHASE_map;
    for (uint32_t i = 0; i < r->start.shards; i++) {
        r->parts[i].surveyed = false;
        ask_part(r, i);
    }
    return REDUCE_ask;
}

/* The filters are through. True: there is a next step; false: go on with the nodes that are left as
 * if there were no extenders, in s. */
static bool extend_nodes(struct reduce *r, struct sums *s, enum reduce_step *step)
{
    const struct extension *e = r->start.extension;
    if (e == NULL || r->extended || r->phase != PHASE_map || s->feasible == 0 || s->error.len > 0)
        return false;
    if (s->nominated_fits && extend_nominated(r, step))
        return true;
    r->nodes_filtered = s->evaluated;
    struct strs feasible = feasible_names(r), passed;
    if (feasible.count > 0 && !extension_holds(e, ABOUT_nodes, &feasible)) {
        r->question = (struct reduce_extend){.about = ABOUT_nodes, .nodes = feasible};
        *step = extend(r);
        return true;
    }
    r->extended = true;
    r->question.nodes = feasible;
    *step = REDUCE_done;
    if (feasible.count > 0 && e->answers[ABOUT_nodes].said.error.len > 0) {
        *step = fail(r, e->answers[ABOUT_nodes].said.error);
        return true;
    }
    passed = extension_passed(e, ABOUT_nodes, &feasible, &r->arena);
    r->refused = feasible.count - passed.count;
    r->decision.feasible = s->feasible = passed.count;
    if (passed.count == 0) {
        r->turned_away = extension_curable(e, &feasible, &r->arena);
        return false;
    }
    if (passed.count == 1) { /* is not scored */
        r->decision.node = passed.at[0];
        r->decision.best_count = 1;
        *step = done(r, DECISION_node);
        return true;
    }
    if (r->refused == 0 && !e->answers[ABOUT_nodes].said.bare && !r->request.nominated_too)
        return false;
    *step = map_only(r, passed);
    return true;
}

static enum reduce_step start_again(struct reduce *r)
{
    const struct framework *fw = r->start.framework;
    r->phase = PHASE_again;
    r->request.step = STR_LITERAL("again");
    r->request.round++;
    r->request.extremes.count = 0;
    r->request.extremes.at = arena_take(&r->arena, fw->score_count * sizeof(struct extreme));
    for (uint32_t k = 0; k < fw->score_count; k++)
        if (normalises(r, k))
            r->request.extremes.at[r->request.extremes.count++] =
                (struct extreme){scorer_name(r, k), r->ranges[k].least, r->ranges[k].greatest};
    return REDUCE_ask;
}

static enum reduce_step start_victims(struct reduce *r)
{
    r->phase = PHASE_victims;
    r->request.step = STR_LITERAL("victims");
    r->request.round++;
    r->request.now_us = r->start.now_us;
    r->request.turned_away = r->turned_away;
    r->request.others = r->start.extension != NULL && r->start.extension->asked_victims != 0;
    preemption_ask(&r->request, r->start.catalog, &r->arena);
    gang_victims_protect(&r->start, &r->request, &r->arena);
    for (uint32_t i = 0; i < r->start.shards; i++) {
        const struct map_result *p = &r->parts[i].result;
        r->parts[i].asked = false;
        if (p->evaluated - p->feasible - p->unresolvable > 0 || r->turned_away.count > 0)
            ask_part(r, i);
    }
    return REDUCE_ask;
}

/* PostFilter deallocates what is in the way: on which nodes that is, only who filters knows. */
static bool wants_claims(const struct reduce *r)
{
    return framework_lists(r->start.framework->profile.post_filter, "DynamicResources") &&
           deallocation_may_help(r->start.catalog, r->start.pod, &r->request.brief);
}

static enum reduce_step start_claims(struct reduce *r)
{
    r->phase = PHASE_claims;
    r->request.step = STR_LITERAL("claims");
    r->request.round++;
    size_t most = (size_t)r->start.shards * r->request.brief.device_places.count;
    r->unavailable.at = arena_take(&r->arena, most * sizeof(struct str));
    for (uint32_t i = 0; i < r->start.shards; i++)
        ask_part(r, i);
    return REDUCE_ask;
}

static void add_unavailable(struct reduce *r, const struct strs *claims)
{
    for (uint32_t i = 0; i < claims->count && i < r->request.brief.device_places.count; i++)
        r->unavailable.at[r->unavailable.count++] = arena_copy(&r->arena, claims->at[i]);
}

/* Behind what must be known of claims: whom the pod might evict, or why it fits nowhere. */
static enum reduce_step look_for_room(struct reduce *r, const struct sums *s)
{
    const struct preemption *p = &r->decision.preemption;
    bool may = p->considered && p->eligible && s->curable + r->turned_away.count > 0;
    if (may && (!r->start.none_lower || r->turned_away.count > 0 || r->start.detail))
        return start_victims(r);
    if (may)
        candidates_none(&r->candidates, s->curable);
    return nothing_fits(r, s);
}

/* Upstream tries the nominated node before all others, and takes it if it fits. Whoever wants to
 * know of every node asks for all of them at once. */
static bool nominated_first(const struct reduce *r)
{
    return r->start.pod->nominated_node.len > 0 && !r->start.detail &&
           !r->decision.pre_filter.narrowed && r->phase != PHASE_nominated;
}

/* Whoever has none of the few nodes that are looked at would say just that. */
static void ask_owners(struct reduce *r)
{
    const struct strs only = r->request.only;
    bool few = r->start.owner != NULL && r->start.shards > 1 && only.count < r->start.shards;
    for (uint32_t i = 0; i < r->start.shards; i++) {
        r->parts[i].asked = false;
        r->parts[i].result = (struct map_result){0};
        r->parts[i].ranges.told = 0;
    }
    for (uint32_t i = 0; few && i < only.count; i++) {
        uint32_t shard = r->start.owner(r->start.owner_context, only.at[i]);
        if (shard < r->start.shards && !r->parts[shard].asked)
            ask_part(r, shard);
    }
    bool all = r->missing == 0;
    for (uint32_t i = 0; all && i < r->start.shards; i++)
        ask_part(r, i);
}

static enum reduce_step start_map(struct reduce *r)
{
    struct str *name = arena_take(&r->arena, sizeof(*name));
    bool first = nominated_first(r);
    *name = r->start.pod->nominated_node;
    if (!r->decision.pre_filter.narrowed)
        r->request.only = (struct strs){first, name};
    r->phase = first ? PHASE_nominated : PHASE_map;
    r->request.step = STR_LITERAL("map");
    r->request.round++;
    ask_owners(r);
    return REDUCE_ask;
}

static void take_skips(struct reduce *r)
{
    for (uint32_t i = 0; i < r->start.shards; i++) {
        r->decision.pre_filter.skipped |= (uint64_t)r->parts[i].result.skipped;
        r->decision.score_skipped |= (uint64_t)r->parts[i].result.score_skipped;
    }
}

static enum reduce_step all_counted(struct reduce *r)
{
    struct sums s = sum_parts(r);
    if (s.error.len > 0)
        return fail(r, s.error);
    merge_counts(r);
    return start_map(r);
}

static enum reduce_step all_are_in(struct reduce *r)
{
    if (r->phase == PHASE_count)
        return all_counted(r);
    struct sums s = sum_parts(r);
    r->decision.feasible = s.feasible;
    r->decision.evaluated = s.evaluated;
    if (r->phase == PHASE_victims)
        return s.error.len > 0 ? fail(r, s.error) : nothing_fits(r, &s);
    if (r->phase == PHASE_claims)
        return s.error.len > 0 ? fail(r, s.error) : look_for_room(r, &s);
    take_skips(r);
    enum reduce_step step;
    bool extends = r->start.extension != NULL && r->start.extension->asked != 0;
    if (r->phase == PHASE_nominated && s.nominated_fits && extends)
        return extend_nominated(r, &step) ? step : start_map(r);
    if (r->phase == PHASE_nominated)
        return s.nominated_fits ? choose(r, &s) : start_map(r);
    if (r->phase == PHASE_map && !r->extended &&
        (r->decision.pre_filter.narrowed || r->start.detail))
        r->decision.absent = fit_absent(&r->decision.pre_filter.by, s.nominated_plugin, &r->arena);
    if (extends && extend_nodes(r, &s, &step))
        return step;
    s.nominated_fits &= !extends;
    /* A single feasible node, and a nominated one, is not scored upstream: that cannot fail. Where
     * the nominated node fits, no other node is filtered either. */
    bool fallible = s.feasible != 1 && !s.nominated_fits;
    bool failed = !s.nominated_fits && (s.error.len > 0 || (s.score_error.len > 0 && fallible));
    bool scored = s.error.len == 0 || r->start.detail; /* who asks for details gets them right */
    if (s.feasible > 0 && scored && (s.score_error.len == 0 || !fallible)) {
        if (r->phase == PHASE_map)
            merge_surveys(r);
        merge_ranges(r);
        if (s.feasible > 1 && r->rounds++ < ROUNDS_MAX && ask_again(r))
            return start_again(r);
    }
    gather_verdicts(r);
    if (failed)
        return fail(r, s.error.len > 0 ? s.error : s.score_error);
    r->decision.score_error = s.score_error;
    if (s.feasible > 0)
        return choose(r, &s);
    preemption_judge(&r->decision.preemption, r->start.framework, r->start.pod, &s.nominated);
    return wants_claims(r) ? start_claims(r) : look_for_room(r, &s);
}

/* What PreFilter left. Upstream also tries the nominated node, whatever PreFilter says of it. */
static void look_only_at(struct reduce *r)
{
    const struct strs names = r->decision.pre_filter.names;
    const struct str nominated = r->start.pod->nominated_node;
    r->request.only = names;
    for (uint32_t i = 0; i < names.count; i++)
        if (str_equal(names.at[i], nominated))
            return;
    if (nominated.len == 0)
        return;
    r->request.nominated_too = true;
    r->request.only.at = arena_take(&r->arena, (names.count + 1) * sizeof(struct str));
    memcpy(r->request.only.at, names.at, names.count * sizeof(struct str));
    r->request.only.at[r->request.only.count++] = nominated;
}

static void begin_request(struct reduce *r)
{
    const struct reduce_start *s = &r->start;
    struct brief brief;
    /* a copy: it borrows from the catalog, which may change before the last step is asked */
    codec_copy(&brief_record, &brief, &r->request.brief, &r->arena);
    r->request = (struct map_request){.cycle = s->cycle,
                                      .pod = r->prepared,
                                      .brief = brief,
                                      .alone = s->shards == 1,
                                      .detail = s->detail,
                                      .list = s->extension != NULL && s->extension->asked != 0,
                                      .own_hostnames = s->own_hostnames && s->shards > 1,
                                      .tie_break = s->tie_break,
                                      .seed = s->seed,
                                      .after = s->after};
    r->request.siblings.at = arena_take(&r->arena, s->siblings.count * sizeof(struct str));
    while (r->request.siblings.count < s->siblings.count) {
        struct str uid = s->siblings.at[r->request.siblings.count];
        r->request.siblings.at[r->request.siblings.count++] = arena_copy(&r->arena, uid);
    }
    if (r->decision.pre_filter.narrowed)
        look_only_at(r);
}

/* What can be allocated where, for a pod whose claims are to be given devices. */
static void look_for_devices(struct reduce *r)
{
    const struct reduce_start *s = &r->start;
    if ((s->pod->device_claims.count == 0 && !extended_is_wanted(s->catalog, s->pod)) ||
        !framework_lists(s->framework->profile.filter, "DynamicResources"))
        return;
    const struct device_question q = {.catalog = s->catalog,
                                      .cache = s->cache,
                                      .pod = s->pod,
                                      .narrowed = r->decision.pre_filter.narrowed,
                                      .only = r->request.only,
                                      .timeout_ms = s->framework->profile.device_filter_timeout_ms,
                                      .clock = s->timer};
    r->decision.open_claims = device_brief(&q, &r->request.brief, &r->arena);
}

static bool counts_wanted(struct reduce *r)
{
    const struct framework *fw = r->start.framework;
    uint32_t room = fw->filter_count + fw->score_count;
    const struct plugin **at = arena_take(&r->arena, room * sizeof(struct plugin *));
    uint32_t count = framework_counting(fw, &r->prepared, &r->request.brief, at);
    for (uint32_t i = 0; i < count; i++)
        if (at[i]->count != NULL)
            return true;
    return false;
}

static enum reduce_step start_count(struct reduce *r)
{
    r->phase = PHASE_count;
    r->request.step = STR_LITERAL("count");
    r->request.round++;
    for (uint32_t i = 0; i < r->start.shards; i++)
        ask_part(r, i);
    return REDUCE_ask;
}

static void take_parts(struct reduce *r, uint32_t count)
{
    r->parts = arena_take(&r->arena, count * sizeof(*r->parts));
    for (uint32_t i = 0; i < count; i++)
        score_ranges_new(&r->parts[i].ranges, r->start.framework, &r->arena);
}

enum reduce_step reduce_start(struct reduce *r, const struct reduce_start *start)
{
    arena_reset(&r->arena);
    *r = (struct reduce){.arena = r->arena, .start = *start};
    must(start->framework->score_count <= 64);
    r->candidates.arena = &r->arena;
    r->decision.nodes = start->nodes;
    if (start->nodes == 0) {
        r->decision.message = STR_LITERAL("no nodes available to schedule pods");
        r->decision.clear_nominated = true;
        return done(r, DECISION_unschedulable);
    }
    const struct pre_filter_question question = {.framework = start->framework,
                                                 .catalog = start->catalog,
                                                 .pod = start->pod,
                                                 .prepared = &r->prepared,
                                                 .brief = &r->request.brief,
                                                 .now_us = start->now_us,
                                                 .arena = &r->arena,
                                                 .clock = start->clock};
    framework_pre_filter(&question, &r->decision.pre_filter);
    r->request.brief.no_terms = start->no_terms;
    if (r->decision.pre_filter.code == CODE_error)
        return fail(r, r->decision.pre_filter.reason);
    if (r->decision.pre_filter.code != CODE_success)
        return turned_away(r);
    if (start->shards == 0)
        return fail(r, STR_LITERAL("no worker has the nodes"));
    take_parts(r, start->shards);
    begin_request(r);
    look_for_devices(r);
    return start->shards > 1 && counts_wanted(r) ? start_count(r) : start_map(r);
}

enum reduce_step reduce_start_alike(struct reduce *r, const struct reduce_start *start,
                                    const struct reduce *like)
{
    must(start->shards == 1);
    arena_reset(&r->arena);
    *r = (struct reduce){.arena = r->arena, .start = *start, .request = like->request};
    r->start.none_lower = like->start.none_lower; /* who came between has its priority, too */
    r->candidates.arena = &r->arena;
    r->decision.nodes = start->nodes;
    r->decision.pre_filter = like->decision.pre_filter;
    r->request.cycle = start->cycle;
    r->request.seed = start->seed;
    r->request.round = 0;
    r->request.like_former = true;
    r->request.pod.uid = start->pod->uid;
    r->request.pod.name = start->pod->name;
    take_parts(r, 1);
    return start_map(r);
}

enum reduce_step reduce_add(struct reduce *r, uint32_t shard, const struct map_result *result)
{
    if (!reduce_asks(r, shard) || result->cycle != r->request.cycle ||
        result->round != r->request.round)
        return r->phase == PHASE_done ? REDUCE_done : REDUCE_wait;
    struct part *p = &r->parts[shard];
    if (!map_answer_makes_sense(result)) {
        const struct map_result refused = {.error =
                                               STR_LITERAL("a worker's answer makes no sense")};
        p->result = refused;
        p->ranges.told = 0;
    } else if (r->phase == PHASE_victims) {
        candidates_add(&r->candidates, result);
        p->result.error = arena_copy(&r->arena, result->error);
    } else if (r->phase == PHASE_claims) {
        add_unavailable(r, &result->unavailable);
        p->result.error = arena_copy(&r->arena, result->error);
    } else {
        /* whoever only scores again does not look at the nominated node again */
        bool nominated_fits = r->phase == PHASE_again && p->result.nominated_fits;
        codec_copy(message_info[MSG_map_result].record, &p->result, result, &r->arena);
        p->result.nominated_fits |= nominated_fits;
        score_ranges_note(&p->ranges, r->start.framework, &p->result);
    }
    p->answered = true;
    return --r->missing > 0 ? REDUCE_wait : all_are_in(r);
}
