/* evaluate: a worker's whole work on a pod. Filters every node of the share, scores those that
 * pass, and answers with what the coordinator needs to merge: counts, reasons, maxima, the best.
 *
 * The first round normalises with the share's own maxima and is right whenever those are the
 * cluster's; raw scores are kept so that a second round with the true maxima is only arithmetic.
 * What must stay true: nothing is allocated per node, and no string is compared per node except
 * between nodes that tie. */
#include "proto/base/moment.h"
#include "scheduler/worker/shard_inside.h"

/* ---- filters ---- */

/* Upstream: what makes the pod wait for an earlier preemption of its own. */
static void look_at_nominated(struct evaluation *e, const struct node_entry *node)
{
    e->result->nominated_code = code_verdict(e->ruling.code);
    for (uint32_t i = 0; i < e->cycle.framework->filter_count; i++)
        if (e->ruling.code != CODE_success && e->ruling.code != CODE_error &&
            (e->ruling.plugins >> i & 1) != 0)
            e->result->nominated_plugin = str_of(e->cycle.framework->filter[i]->name);
    e->result->nominated_fits |= e->ruling.code == CODE_success;
    for (uint32_t i = 0; i < node->pod_count; i++) {
        const struct node_pod *p = node->pods[i];
        e->result->nominated_waits |=
            p->deleting && p->preempted && p->demand->priority < e->cycle.pod->priority;
    }
}

static void add_verdict(struct evaluation *e, uint32_t row)
{
    if (!e->request->detail)
        return;
    struct verdict *v = &e->result->verdicts.at[e->result->verdicts.count++];
    verdict_tell(e, row, v);
    verdict_tell_others(e, row, v);
}

static void filter_each(struct evaluation *e, const struct node_entry *nominated)
{
    struct scratch *scratch = &e->shard->scratch;
    scratch->feasible_count = 0;
    scratch->feasible = scratch->passed;
    for (uint32_t i = 0; i < scratch->row_count; i++) {
        uint32_t row = scratch->rows[i];
        evaluate_row(e, &e->shard->share.nodes, row);
        if (e->request->nominated_too && e->shard->share.nodes.entry[row] == nominated &&
            e->ruling.code == CODE_error) {
            e->result->evaluated--; /* upstream goes on as if it had not tried */
            continue;
        }
        add_verdict(e, row);
        if (nominated != NULL && e->shard->share.nodes.entry[row] == nominated)
            look_at_nominated(e, nominated);
        if (e->ruling.code == CODE_success)
            scratch->passed[scratch->feasible_count++] = row;
        else
            reasons_rejected(e);
    }
}

/* at_once: and scores. */
static void filter_all(struct evaluation *e, bool at_once)
{
    const struct node_entry *nominated =
        e->cycle.pod->nominated_node.len == 0
            ? NULL
            : map_get(e->shard->share.by_name, e->cycle.pod->nominated_node);
    if (!columns_suffice(e)) {
        filter_each(e, nominated);
        return;
    }
    if (at_once)
        columns_filter_and_score(e);
    else
        columns_filter(e);
    if (nominated == NULL || nominated->row == NO_ROW)
        return;
    evaluate_row(e, &e->shard->share.nodes, nominated->row);
    look_at_nominated(e, nominated);
}

/* ---- scores ---- */

static void tell_score_skips(struct evaluation *e)
{
    const struct framework *fw = e->cycle.framework;
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (!scratch_scores(&e->shard->scratch, i))
            e->result->score_skipped |= (int64_t)(UINT64_C(1) << fw->score[i].place);
}

/* Those with a survey, or all. */
static uint64_t begin_scorers(struct evaluation *e, bool surveying)
{
    uint64_t scorers = 0;
    const struct framework *fw = e->cycle.framework;
    e->score_state = arena_take(e->cycle.arena, fw->score_count * sizeof(void *));
    for (uint32_t i = 0; i < fw->score_count; i++) {
        const struct plugin *p = fw->score[i].plugin;
        if (!scratch_scores(&e->shard->scratch, i) || (surveying && p->survey == NULL))
            continue;
        scorers |= UINT64_C(1) << i;
        timings_start(e->cycle.timing);
        if (p->score_begin != NULL)
            e->score_state[i] = p->score_begin(&e->cycle);
        timings_once(e->cycle.timing, TIMED_PreScore, p, false);
    }
    return scorers;
}

/* Before the first row is scored; behind the filters, if there is a survey of what they let pass.
 */
static void begin_scores(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    timings_part(e->cycle.timing, PART_pre_score);
    knowledge_survey(e);
    scratch->score_skips = framework_score_skips(&e->cycle);
    tell_score_skips(e);
    framework_pre_score(&e->cycle);
    (void)begin_scorers(e, false);
    timings_part(e->cycle.timing, PART_score);
    columns_begin(e);
    scratch->error = arena_copy(&scratch->arena, e->cycle.error);
}

/* Another round with kept raw scores: only rules with a survey can have become wrong. */
static void score_again(struct evaluation *e)
{
    knowledge_find(e);
    knowledge_survey(e);
    columns_score_again(e, begin_scorers(e, true));
}

/* ---- the cycle ---- */

static void pick_rows(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    scratch->row_count = 0;
    for (uint32_t i = 0; i < e->request->only.count; i++) {
        const struct node_entry *node = map_get(e->shard->share.by_name, e->request->only.at[i]);
        /* as many names as we have nodes: a peer that repeats itself gets no more */
        if (node != NULL && node->row != NO_ROW && scratch->row_count < e->shard->share.nodes.count)
            scratch->named[scratch->row_count++] = node->row;
    }
    scratch->rows = e->request->only.count > 0 ? scratch->named : scratch->all;
    if (e->request->only.count == 0)
        scratch->row_count = e->shard->share.nodes.count;
}

/* A rule may find out only from its counts that it has nothing to do. */
static void skip_by_counts(struct evaluation *e, uint32_t filter)
{
    const struct framework *fw = e->cycle.framework;
    const struct plugin *p = fw->filter[filter];
    if (p->filter_skips == NULL || !p->filter_skips(&e->cycle, e->filter_state[filter]))
        return;
    e->skip |= UINT64_C(1) << filter;
    for (uint32_t i = 0; i < fw->pre_filter_count; i++)
        if (fw->pre_filter[i] == p)
            e->result->skipped |= (int64_t)(UINT64_C(1) << fw->pre_filter_place[i]);
}

static void begin_filters(struct evaluation *e)
{
    const struct framework *fw = e->cycle.framework;
    e->filter_state = arena_take(e->cycle.arena, fw->filter_count * sizeof(void *));
    for (uint32_t i = 0; i < fw->filter_count; i++) {
        if ((uint64_t)e->cycle.findings->skip >> fw->filter_place[i] & 1) {
            e->skip |= UINT64_C(1) << i;
            continue;
        }
        timings_start(e->cycle.timing);
        if (fw->filter[i]->filter_begin != NULL)
            e->filter_state[i] = fw->filter[i]->filter_begin(&e->cycle);
        skip_by_counts(e, i);
        timings_once(e->cycle.timing, TIMED_PreFilter, fw->filter[i], false);
    }
}

static void begin(struct evaluation *e)
{
    struct shard *s = e->shard;
    s->scratch.kept = false;
    timings_part(e->cycle.timing, PART_pre_filter);
    nominated_enter(e);
    knowledge_find(e);
    begin_filters(e);
    /* no rule gives more than these reasons, and NodeResourcesFit one for each resource */
    e->ruling.room =
        RESOURCE_COUNT + 4 + e->cycle.pod->request.count + 4 * e->cycle.framework->filter_count;
    e->ruling.reasons = arena_take(&s->scratch.arena, e->ruling.room * sizeof(struct reason));
    pick_rows(e);
}

static void prepare_detail(struct evaluation *e)
{
    if (!e->request->detail)
        return;
    uint32_t rows = e->shard->scratch.row_count;
    e->result->verdicts.at = arena_take(e->arena, rows * sizeof(struct verdict));
    for (uint32_t i = 0; i < rows; i++)
        e->result->verdicts.at[i].scores.at =
            arena_take(e->arena, e->cycle.framework->score_count * sizeof(struct plugin_score));
}

static void tell_plugins(struct evaluation *e)
{
    const struct framework *fw = e->cycle.framework;
    e->result->plugins.at = arena_take(e->arena, fw->filter_count * sizeof(struct str));
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if (e->rejecting >> i & 1)
            e->result->plugins.at[e->result->plugins.count++] = str_of(fw->filter[i]->name);
}

/* The filters of a request are through, its scores are next. */
static void mark_filtered(struct shard *s)
{
    if (s->clock != NULL)
        s->filtered_ns = s->clock().ns;
}

static void filter_and_score(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    bool at_once = columns_suffice(e) && !knowledge_has_survey(e);
    prepare_detail(e);
    if (at_once)
        begin_scores(e);
    timings_part(e->cycle.timing, PART_filter);
    filter_all(e, at_once);
    tell_plugins(e);
    reasons_tell(e, &e->reasons, &e->result->reasons.count, &e->result->reasons.at);
    if (!at_once) {
        mark_filtered(e->shard);
        begin_scores(e);
        columns_score(e);
    }
    scratch->kept = true;
    scratch->cycle = e->request->cycle;
    scratch->layout = e->shard->share.touched.layout;
    scratch->framework = e->cycle.framework;
}

static void count_only(struct evaluation *e)
{
    knowledge_find(e);
    knowledge_tell(e, false, &e->result->counts.count, &e->result->counts.at);
}

/* Asks the filters about each row for what they note, which is told instead of verdicts. */
static void tell_notes(struct evaluation *e)
{
    const struct framework *fw = e->cycle.framework;
    const struct scratch *s = &e->shard->scratch;
    for (uint32_t i = 0; i < s->row_count; i++)
        evaluate_row(e, &e->shard->share.nodes, s->rows[i]);
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if (fw->filter[i]->tell != NULL && !(e->skip >> i & 1))
            fw->filter[i]->tell(&e->cycle, e->filter_state[i], e->result);
}

static void anew(struct evaluation *e)
{
    struct shard *s = e->shard;
    arena_reset(&s->scratch.arena);
    scratch_reserve(&s->scratch, s->share.nodes.count);
    if (e->request->step == MAP_STEP_count) {
        s->scratch.kept = false;
        count_only(e);
        return;
    }
    begin(e);
    e->result->evaluated = s->scratch.row_count;
    if (e->request->step == MAP_STEP_victims)
        dry_run(e);
    else if (e->request->step == MAP_STEP_claims)
        tell_notes(e);
    else
        filter_and_score(e);
    nominated_leave(e);
}

static bool has_kept(const struct evaluation *e)
{
    const struct scratch *s = &e->shard->scratch;
    return e->request->step == MAP_STEP_again && s->kept && s->cycle == e->request->cycle &&
           s->layout == e->shard->share.touched.layout && s->framework == e->cycle.framework &&
           !e->request->detail;
}

void evaluate(struct evaluation *e)
{
    if (has_kept(e)) {
        score_again(e);
        e->result->evaluated = e->shard->scratch.row_count;
    } else {
        anew(e);
    }
    if (e->request->step != MAP_STEP_map && e->request->step != MAP_STEP_again)
        return;
    e->result->feasible = e->shard->scratch.feasible_count;
    totals_sum_up(e);
    totals_choose(e);
    totals_list(e);
}
