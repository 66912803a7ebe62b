/* reduce: merges the shards' answers into one decision. The one idea: counts add up, ranges merge
 * to the widest, and only shards that knew less than the whole are asked again.
 *
 * What must stay true: a decision is made only from answers that were all given for the same
 * counts, surveys and ranges, and each shard counts once. */
#include "scheduler/merge/reduce_inside.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/catalog/group_claims.h"
#include "scheduler/cluster/device_stocks.h"
#include "scheduler/merge/fit_error.h"
#include "scheduler/merge/gang_rules.h"
#include "scheduler/merge/gang_victims.h"
#include "scheduler/merge/map_answer.h"
#include "scheduler/rules/plugin.h"
#include "scheduler/table/gang_names.h"

#include <stdlib.h>
#include <string.h>

/* Rounds of the step again at most; more happen only if nodes change between all of them. */
#define ROUNDS_MAX 8

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

const struct reduce_extend *reduce_extend(const struct reduce *r)
{
    return &r->question;
}

/* ---- all parts together ---- */

static struct sums sum_parts(const struct reduce *r)
{
    struct sums s = {0};
    for (uint32_t i = 0; i < r->start.shards; i++) {
        const struct map_result *p = r->parts[i].result;
        s.feasible += p->feasible;
        s.evaluated += p->evaluated;
        s.curable += p->evaluated - p->feasible - p->unresolvable;
        s.nominated_fits |= p->nominated_fits;
        s.nominated.waits |= p->nominated_waits;
        if (s.nominated.code == VERDICT_none)
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

static int compare_verdicts(const void *a, const void *b)
{
    return str_compare(((const struct verdict *)a)->node, ((const struct verdict *)b)->node);
}

static void gather_verdicts(struct reduce *r)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < r->start.shards; i++)
        room += r->parts[i].result->verdicts.count;
    r->verdicts = arena_take(&r->arena, room * sizeof(*r->verdicts));
    for (uint32_t i = 0; i < r->start.shards; i++)
        for (uint32_t k = 0; k < r->parts[i].result->verdicts.count; k++)
            r->verdicts[r->verdict_count++] = r->parts[i].result->verdicts.at[k];
    qsort(r->verdicts, r->verdict_count, sizeof(*r->verdicts), compare_verdicts);
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
        *step = reduce_extends(r);
        return true;
    }
    if (e->answers[ABOUT_nominated].said.error.len > 0 ||
        extension_passed(e, ABOUT_nominated, &node, &r->arena).count == 0)
        return false;
    *step = choosing_nominated(r);
    return true;
}

/* The feasible nodes that the walk comes to; without a nominated one that only was tried because it
 * is nominated. */
static struct strs feasible_names(struct reduce *r)
{
    struct listed_nodes listed = choosing_listed(r);
    struct strs names = {0, arena_take(&r->arena, listed.count * sizeof(struct str))};
    for (uint32_t i = 0; i < listed.count; i++)
        if (!r->request.nominated_too ||
            !str_equal(listed.at[i].node, r->start.pod->nominated_node))
            names.at[names.count++] = listed.at[i].node;
    r->decision.walked = walk_cut(&r->start.walk, r->decision.walked, &names, &r->arena);
    return names;
}

/* Scored again are only these. */
static enum reduce_step map_only(struct reduce *r, struct strs names)
{
    r->request.only = names;
    r->request.nominated_too = false;
    r->request.bare =
        r->start.extension != NULL && r->start.extension->answers[ABOUT_nodes].said.bare;
    r->request.surveys.count = 0;
    r->request.round++;
    r->phase = PHASE_map;
    for (uint32_t i = 0; i < r->start.shards; i++) {
        r->parts[i].surveyed = false;
        rounds_ask(r, i);
    }
    return REDUCE_ask;
}

/* A single node is not scored. */
static enum reduce_step take_only(struct reduce *r, struct str node)
{
    r->decision.feasible = 1;
    r->decision.node = node;
    r->decision.best_count = 1;
    if (r->start.detail) {
        gather_verdicts(r);
        r->decision.best_nodes = (struct strs){1, &r->decision.node};
    }
    return reduce_done(r, DECISION_node);
}

/* The filters are through, and no extender cares. True: there is a next step; false: all feasible
 * nodes are in the walk. */
static bool walk_nodes(struct reduce *r, const struct sums *s, enum reduce_step *step)
{
    if (!r->start.walk.ends || r->walked || r->phase != PHASE_map || s->feasible == 0 ||
        s->error.len > 0 || s->nominated_fits)
        return false;
    struct strs names = feasible_names(r);
    r->walked = true;
    r->nodes_filtered = r->decision.walked;
    if (names.count == s->feasible)
        return false;
    *step = names.count == 1 ? take_only(r, names.at[0]) : map_only(r, names);
    return true;
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
        *step = reduce_extends(r);
        return true;
    }
    r->extended = true;
    r->question.nodes = feasible;
    *step = REDUCE_done;
    if (feasible.count > 0 && e->answers[ABOUT_nodes].said.error.len > 0) {
        *step = reduce_fail(r, e->answers[ABOUT_nodes].said.error);
        return true;
    }
    bool cut = feasible.count < s->feasible - r->request.nominated_too;
    passed = extension_passed(e, ABOUT_nodes, &feasible, &r->arena);
    r->refused = feasible.count - passed.count;
    r->decision.feasible = s->feasible = passed.count;
    if (passed.count == 0) {
        r->turned_away = extension_curable(e, &feasible, &r->arena);
        return false;
    }
    if (passed.count == 1) {
        *step = take_only(r, passed.at[0]);
        return true;
    }
    if (!cut && r->refused == 0 && !e->answers[ABOUT_nodes].said.bare && !r->request.nominated_too)
        return false;
    *step = map_only(r, passed);
    return true;
}

/* ---- the next step ---- */

static bool normalises(const struct reduce *r, uint32_t scorer)
{
    return r->start.framework->score[scorer].plugin->normalise != NORMALISE_none;
}

static enum reduce_step start_again(struct reduce *r)
{
    const struct framework *fw = r->start.framework;
    r->phase = PHASE_again;
    r->request.step = MAP_STEP_again;
    r->request.round++;
    r->request.extremes.count = 0;
    r->request.extremes.at = arena_take(&r->arena, fw->score_count * sizeof(struct extreme));
    for (uint32_t k = 0; k < fw->score_count; k++)
        if (normalises(r, k)) {
            r->ranges[k].any = true; /* where nobody has one, all are told of 0 */
            r->request.extremes.at[r->request.extremes.count++] =
                score_range_tell(&r->ranges[k], fw->score[k].plugin);
        }
    return REDUCE_ask;
}

static enum reduce_step start_victims(struct reduce *r)
{
    r->phase = PHASE_victims;
    r->request.step = MAP_STEP_victims;
    r->request.round++;
    r->request.dry_run.now_us = r->start.now_us;
    r->request.dry_run.turned_away = r->turned_away;
    r->request.dry_run.others =
        r->start.extension != NULL && r->start.extension->asked.victims != 0;
    preemption_ask(&r->request, r->start.catalog, &r->arena);
    gang_victims_protect(&r->start, &r->request, &r->arena);
    gang_victims_ask_of_wholes(&r->start, &r->request, &r->arena);
    for (uint32_t i = 0; i < r->start.shards; i++) {
        const struct map_result *p = r->parts[i].result;
        r->parts[i].asked = false;
        if (p->evaluated - p->feasible - p->unresolvable > 0 || r->turned_away.count > 0)
            rounds_ask(r, i);
    }
    return REDUCE_ask;
}

/* Since 1.37 its group may do without a claim. */
static const struct gang *group_of_claims(const struct reduce *r)
{
    const struct framework *fw = r->start.framework;
    bool holds = gang_rules_hold(fw, r->start.pod);
    return holds ? group_claims_owner(r->start.catalog, &fw->profile.features, r->start.pod) : NULL;
}

/* PostFilter deallocates what is in the way: on which nodes that is, only who filters knows. */
static bool wants_claims(const struct reduce *r)
{
    return strs_hold(r->start.framework->profile.post_filter, STR_LITERAL("DynamicResources")) &&
           deallocation_may_help(r->start.catalog, r->start.pod, group_of_claims(r),
                                 &r->request.findings);
}

static enum reduce_step start_claims(struct reduce *r)
{
    r->phase = PHASE_claims;
    r->request.step = MAP_STEP_claims;
    r->request.round++;
    size_t most = (size_t)r->start.shards * r->request.findings.device_places.count;
    r->unavailable.at = arena_take(&r->arena, most * sizeof(struct str));
    for (uint32_t i = 0; i < r->start.shards; i++)
        rounds_ask(r, i);
    return REDUCE_ask;
}

static void add_unavailable(struct reduce *r, const struct strs *claims)
{
    for (uint32_t i = 0; i < claims->count && i < r->request.findings.device_places.count; i++)
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
    return no_node_fits(r, s);
}

/* Upstream tries the nominated node before all others, and takes it if it fits. Whoever wants to
 * know of every node asks for all of them at once. */
static bool nominated_first(const struct reduce *r)
{
    return r->start.pod->nominated_node.len > 0 && !r->start.detail &&
           !r->decision.pre_filter.narrowed && r->phase != PHASE_nominated;
}

static const struct map_result nothing_said;

/* Whoever has none of the few nodes that are looked at would say just that. */
static void ask_owners(struct reduce *r)
{
    const struct strs only = r->request.only;
    bool few = r->start.owner != NULL && r->start.shards > 1 && only.count < r->start.shards;
    for (uint32_t i = 0; i < r->start.shards; i++) {
        r->parts[i].asked = false;
        r->parts[i].result = &nothing_said;
        r->parts[i].ranges.told = 0;
    }
    for (uint32_t i = 0; few && i < only.count; i++) {
        uint32_t shard = r->start.owner(r->start.owner_context, only.at[i]);
        if (shard < r->start.shards && !r->parts[shard].asked)
            rounds_ask(r, shard);
    }
    bool all = r->missing == 0;
    for (uint32_t i = 0; all && i < r->start.shards; i++)
        rounds_ask(r, i);
}

static enum reduce_step start_map(struct reduce *r)
{
    struct str *name = arena_take(&r->arena, sizeof(*name));
    bool first = nominated_first(r);
    *name = r->start.pod->nominated_node;
    if (!r->decision.pre_filter.narrowed)
        r->request.only = (struct strs){first, name};
    r->phase = first ? PHASE_nominated : PHASE_map;
    r->request.step = MAP_STEP_map;
    r->request.round++;
    ask_owners(r);
    return REDUCE_ask;
}

static void take_skips(struct reduce *r)
{
    for (uint32_t i = 0; i < r->start.shards; i++) {
        r->decision.pre_filter.skipped |= (uint64_t)r->parts[i].result->skipped;
        r->decision.score_skipped |= (uint64_t)r->parts[i].result->score_skipped;
    }
}

static enum reduce_step all_counted(struct reduce *r)
{
    struct sums s = sum_parts(r);
    if (s.error.len > 0)
        return reduce_fail(r, s.error);
    rounds_merge_counts(r);
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
        return s.error.len > 0 ? reduce_fail(r, s.error) : no_node_fits(r, &s);
    if (r->phase == PHASE_claims)
        return s.error.len > 0 ? reduce_fail(r, s.error) : look_for_room(r, &s);
    take_skips(r);
    enum reduce_step step;
    bool extends = r->start.extension != NULL && r->start.extension->asked.nodes != 0;
    if (r->phase == PHASE_nominated && s.nominated_fits && extends)
        return extend_nominated(r, &step) ? step : start_map(r);
    if (r->phase == PHASE_nominated)
        return s.nominated_fits ? choosing_node(r, &s) : start_map(r);
    if (r->phase == PHASE_map && !r->extended && !r->walked)
        r->decision.walked = s.evaluated - r->request.nominated_too;
    if (r->phase == PHASE_map && !r->extended &&
        (r->decision.pre_filter.narrowed || r->start.detail))
        r->decision.absent = fit_absent(&r->decision.pre_filter.by, s.nominated_plugin, &r->arena);
    if (extends && extend_nodes(r, &s, &step))
        return step;
    if (!extends && walk_nodes(r, &s, &step))
        return step;
    s.nominated_fits &= !extends;
    /* A single feasible node, and a nominated one, is not scored upstream: that cannot fail. Where
     * the nominated node fits, no other node is filtered either. */
    bool fallible = s.feasible != 1 && !s.nominated_fits;
    bool failed = !s.nominated_fits && (s.error.len > 0 || (s.score_error.len > 0 && fallible));
    bool scored = s.error.len == 0 || r->start.detail; /* who asks for details gets them right */
    if (s.feasible > 0 && scored && (s.score_error.len == 0 || !fallible)) {
        if (r->phase == PHASE_map)
            rounds_merge_surveys(r);
        rounds_merge_ranges(r);
        if (s.feasible > 1 && r->rounds++ < ROUNDS_MAX && rounds_ask_again(r))
            return start_again(r);
    }
    gather_verdicts(r);
    if (failed)
        return reduce_fail(r, s.error.len > 0 ? s.error : s.score_error);
    r->decision.score_error = s.score_error;
    if (s.feasible > 0)
        return choosing_node(r, &s);
    preemption_judge(&r->decision.preemption, r->start.framework, r->start.pod, &s.nominated);
    no_node_spares_placed(r);
    return wants_claims(r) ? start_claims(r) : look_for_room(r, &s);
}

static bool is_in_placement(const struct reduce *r, struct str node)
{
    const struct strs *placement = r->start.placement;
    return placement == NULL || strs_hold(*placement, node);
}

/* No node has an empty name: where none is left, none is looked at. */
static void keep_to_placement(struct reduce *r)
{
    const struct strs *placement = r->start.placement;
    struct pre_filter_outcome *pre = &r->decision.pre_filter;
    if (placement == NULL)
        return;
    struct strs kept = {0, arena_take(&r->arena, (placement->count + 1) * sizeof(struct str))};
    for (uint32_t i = 0; i < placement->count; i++)
        if (!pre->narrowed || strs_hold(pre->names, placement->at[i]))
            kept.at[kept.count++] = placement->at[i];
    if (kept.count == 0)
        kept.at[kept.count++] = (struct str){NULL, 0};
    r->narrowed_by_rules = pre->narrowed;
    pre->narrowed = true;
    pre->names = kept;
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
    if (nominated.len == 0 || !is_in_placement(r, nominated))
        return;
    r->request.nominated_too = true;
    r->request.only.at = arena_take(&r->arena, (names.count + 1) * sizeof(struct str));
    memcpy(r->request.only.at, names.at, names.count * sizeof(struct str));
    r->request.only.at[r->request.only.count++] = nominated;
}

static void begin_request(struct reduce *r)
{
    const struct reduce_start *s = &r->start;
    struct findings findings;
    /* a copy: it borrows from the catalog, which may change before the last step is asked */
    codec_copy(&findings_record, &findings, &r->request.findings, &r->arena);
    r->request =
        (struct map_request){.cycle = s->cycle,
                             .pod = r->prepared,
                             .findings = findings,
                             .alone = s->shards == 1,
                             .detail = s->detail,
                             .list = s->walk.ends || s->tie_break == TIE_BREAK_round_robin ||
                                     (s->extension != NULL && s->extension->asked.nodes != 0),
                             .own_hostnames = s->own_hostnames && s->shards > 1,
                             .tie_break = s->tie_break,
                             .seed = s->seed};
    r->request.siblings.at = arena_take(&r->arena, s->siblings.count * sizeof(struct str));
    while (r->request.siblings.count < s->siblings.count) {
        struct str uid = s->siblings.at[r->request.siblings.count];
        r->request.siblings.at[r->request.siblings.count++] = arena_copy(&r->arena, uid);
    }
    if (r->decision.pre_filter.narrowed)
        look_only_at(r);
}

static struct device_question ask_of_devices(const struct reduce *r)
{
    const struct reduce_start *s = &r->start;
    return (struct device_question){.catalog = s->catalog,
                                    .features = &s->framework->profile.features,
                                    .cache = s->cache,
                                    .pod = s->pod,
                                    .narrowed = r->decision.pre_filter.narrowed,
                                    .only = r->request.only,
                                    .timeout_ms = s->framework->profile.device_filter_timeout_ms,
                                    .clock = s->timer};
}

/* What can be allocated where, for a pod whose claims are to be given devices. */
static void look_for_devices(struct reduce *r)
{
    const struct reduce_start *s = &r->start;
    if ((s->pod->device_claims.count == 0 && !extended_is_wanted(s->catalog, s->pod)) ||
        s->pod->resize_deferred || /* it has what it has been given */
        !strs_hold(s->framework->profile.filter, STR_LITERAL("DynamicResources")))
        return;
    const struct device_question q = ask_of_devices(r);
    r->decision.open_claims = device_findings(&q, &r->request.findings, &r->arena);
}

static void count_devices(struct reduce *r)
{
    const struct device_question q = ask_of_devices(r);
    device_stocks(&q, &r->start.framework->profile, &r->request.findings, &r->arena);
}

static bool counts_wanted(struct reduce *r)
{
    const struct framework *fw = r->start.framework;
    uint32_t room = fw->filter_count + fw->score_count;
    const struct plugin **at = arena_take(&r->arena, room * sizeof(struct plugin *));
    uint32_t count = framework_counting(fw, &r->prepared, &r->request.findings, at);
    for (uint32_t i = 0; i < count; i++)
        if (at[i]->count != NULL)
            return true;
    return false;
}

static enum reduce_step start_count(struct reduce *r)
{
    r->phase = PHASE_count;
    r->request.step = MAP_STEP_count;
    r->request.round++;
    for (uint32_t i = 0; i < r->start.shards; i++)
        rounds_ask(r, i);
    return REDUCE_ask;
}

/* Why its group is not tried; empty: it is. */
static struct str fault_of_group(struct reduce *r)
{
    const struct reduce_start *start = &r->start;
    struct gang named;
    if (start->cache == NULL || !gang_rules_hold(start->framework, start->pod) ||
        !gang_named_by(start->pod, &named))
        return (struct str){NULL, 0};
    const struct gang *group = catalog_gang(start->catalog, &named);
    bool below =
        group != NULL && group->parent.len > 0 && start->framework->profile.features.group_trees;
    if (group == NULL || below) /* of a tree all pods were looked at together */
        return (struct str){NULL, 0};
    struct gang_rules rules = gang_rules_begin(start->framework, group, &r->arena);
    gang_rules_look(&rules, start->pod);
    gang_rules_look_at_placed(&rules, start->cache);
    return rules.fault;
}

static void take_parts(struct reduce *r, uint32_t count)
{
    r->parts = arena_take(&r->arena, count * sizeof(*r->parts));
    for (uint32_t i = 0; i < count; i++)
        r->parts[i].result = &nothing_said;
}

static void run_pre_filter(struct reduce *r)
{
    const struct reduce_start *start = &r->start;
    const struct extension *e = start->extension;
    const struct pre_filter_question question = {
        .framework = start->framework,
        .catalog = start->catalog,
        .pod = start->pod,
        .prepared = &r->prepared,
        .findings = &r->request.findings,
        .now_us = start->now_us,
        .asks_bus = e != NULL,
        .said = e != NULL && e->pre_filter.given ? e->pre_filter.at : NULL,
        .arena = &r->arena,
        .clock = start->clock};
    framework_pre_filter(&question, &r->decision.pre_filter);
    r->request.findings.no_terms = start->no_terms;
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
        return reduce_done(r, DECISION_unschedulable);
    }
    struct str fault = fault_of_group(r);
    r->decision.group_refused = fault.len > 0;
    if (fault.len > 0)
        return reduce_fail(r, fault);
    run_pre_filter(r);
    if (r->decision.pre_filter.open) {
        r->question = (struct reduce_extend){.about = ABOUT_pod};
        return reduce_extends(r);
    }
    if (r->decision.pre_filter.code == CODE_error)
        return reduce_fail(r, r->decision.pre_filter.reason);
    if (r->decision.pre_filter.code != CODE_success)
        return no_node_is_left(r);
    keep_to_placement(r);
    if (start->shards == 0)
        return reduce_fail(r, STR_LITERAL("no worker has the nodes"));
    take_parts(r, start->shards);
    begin_request(r);
    look_for_devices(r);
    count_devices(r);
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
    r->narrowed_by_rules = like->narrowed_by_rules;
    r->request.cycle = start->cycle;
    r->request.seed = start->seed;
    r->request.round = 0;
    r->request.like_former = true;
    r->request.pod.uid = start->pod->uid;
    r->request.pod.name = start->pod->name;
    take_parts(r, 1);
    return start_map(r);
}

/* Room for what a part says, with what it has said before. */
static struct map_result *own_result(struct reduce *r, struct part *p)
{
    struct map_result *own = arena_take(&r->arena, sizeof(*own));
    *own = *p->result;
    p->result = own;
    if (p->ranges.own == NULL)
        score_ranges_new(&p->ranges, r->start.framework, &r->arena);
    return own;
}

static void take_answer(struct reduce *r, struct part *p, const struct map_result *result)
{
    struct map_result *own = own_result(r, p);
    if (!map_answer_makes_sense(result)) {
        *own = (struct map_result){.error = STR_LITERAL("a worker's answer makes no sense")};
        p->ranges.told = 0;
    } else if (r->phase == PHASE_victims) {
        candidates_add(&r->candidates, result);
        own->error = arena_copy(&r->arena, result->error);
    } else if (r->phase == PHASE_claims) {
        add_unavailable(r, &result->unavailable);
        own->error = arena_copy(&r->arena, result->error);
    } else {
        /* whoever only scores again does not look at the nominated node again */
        bool nominated_fits = r->phase == PHASE_again && own->nominated_fits;
        codec_copy(message_info[MSG_map_result].record, own, result, &r->arena);
        own->nominated_fits |= nominated_fits;
        score_ranges_note(&p->ranges, r->start.framework, own->extremes.at,
                          own->feasible > 0 ? own->extremes.count : 0);
    }
}

enum reduce_step reduce_add(struct reduce *r, uint32_t shard, const struct map_result *result)
{
    if (!reduce_asks(r, shard) || result->cycle != r->request.cycle ||
        result->round != r->request.round)
        return r->phase == PHASE_done ? REDUCE_done : REDUCE_wait;
    struct part *p = &r->parts[shard];
    take_answer(r, p, result);
    p->answered = true;
    return --r->missing > 0 ? REDUCE_wait : all_are_in(r);
}
