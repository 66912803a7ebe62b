/* evaluate: a worker's whole work on a pod. Filters every node of the share, scores those that
 * pass, and answers with what the coordinator needs to merge: counts, reasons, maxima, the best.
 *
 * The first round normalises with the share's own maxima and is right whenever those are the
 * cluster's; raw scores are kept so that a second round with the true maxima is only arithmetic.
 * What must stay true: nothing is allocated per node, and no string is compared per node except
 * between nodes that tie. */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/table/kernels.h"
#include "scheduler/table/wrap.h"
#include "scheduler/worker/shard_inside.h"

#include <string.h>

void scratch_free(struct scratch *s)
{
    arena_free(&s->arena);
    memory_free(s->all);
    memory_free(s->named);
    memory_free(s->passed);
    memory_free(s->first);
    memory_free(s->blame);
    memory_free(s->raw);
    memory_free(s->fixed);
    memory_free(s->sums);
    memory_free(s->windows);
    row_copy_free(&s->copy);
    row_copy_free(&s->nominated_copy);
    *s = (struct scratch){0};
}

void scratch_reserve(struct scratch *s, uint32_t rows)
{
    if (s->room > 0 && rows <= s->room)
        return; /* an empty share has room as well: nobody need ask whether there are arrays */
    uint32_t room = s->room == 0 ? 64 : s->room;
    while (room < rows)
        room *= 2;
    s->all = memory_resize(s->all, room * sizeof(*s->all));
    s->named = memory_resize(s->named, room * sizeof(*s->named));
    s->passed = memory_resize(s->passed, (room + 1) * sizeof(*s->passed));
    s->first = memory_resize(s->first, room * sizeof(*s->first));
    s->fixed = memory_resize(s->fixed, room * sizeof(*s->fixed));
    s->sums = memory_resize(s->sums, room * sizeof(*s->sums));
    s->blame = memory_resize(s->blame, room);
    s->windows = memory_resize(s->windows, (room / BLOCK + 1) * sizeof(*s->windows));
    memset(s->first + s->room, 0, (room - s->room) * sizeof(*s->first));
    kernel_number(s->all, room);
    s->room = room;
}

static struct score_column begin_column(const struct evaluation *e, uint32_t scorer)
{
    const struct plugin *p = e->cycle.framework->score[scorer].plugin;
    struct score_column c = {.alike = true, .least = SCORE_IGNORED};
    c.apart = e->request->detail || p->survey != NULL || p->normalise != NORMALISE_none;
    timings_start(e->cycle.timing);
    if (p->score_alike != NULL && !e->request->bare &&
        p->score_alike(&e->cycle, e->score_state[scorer], e->cycle.nodes, &c.least)) {
        timings_call(e->cycle.timing, TIMED_Score, p, CODE_success, 1);
        c.apart = c.known = true;
    }
    c.greatest = c.least;
    return c;
}

/* Columns for scorers whose scores are to be looked at when all are known. */
static void begin_columns(struct evaluation *e)
{
    struct scratch *s = &e->shard->scratch;
    const struct framework *fw = e->cycle.framework;
    size_t room = 0;
    s->by_window = 0;
    s->total = s->fixed;
    s->columns = arena_take(&s->arena, fw->score_count * sizeof(*s->columns));
    for (uint32_t i = 0; i < fw->score_count; i++) {
        if (!scratch_scores(s, i))
            continue;
        s->columns[i] = begin_column(e, i);
        s->by_window |= (uint64_t)!s->columns[i].known << i;
        room += s->columns[i].apart && !s->columns[i].known ? s->row_count : 0;
    }
    if (room > s->raw_room) {
        s->raw_room = 2 * room;
        s->raw = memory_resize(s->raw, s->raw_room * sizeof(*s->raw));
    }
    int64_t *raw = s->raw;
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (s->columns[i].apart && !s->columns[i].known) {
            s->columns[i].raw = raw;
            raw += s->row_count;
        }
}

/* ---- reasons ---- */

void reason_counts_add(struct evaluation *e, struct reason_counts *all, const struct ruling *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct reason *reason = &r->reasons[i];
        uint32_t k = 0;
        while (k < all->count && (all->at[k].reason.text != reason->text ||
                                  all->at[k].reason.what.at != reason->what.at))
            k++;
        if (k == all->room) {
            uint32_t room = all->room == 0 ? 8 : all->room * 2;
            struct reason_count *at = arena_take(&e->shard->scratch.arena, room * sizeof(*at));
            if (all->count > 0)
                memcpy(at, all->at, all->count * sizeof(*at));
            all->at = at;
            all->room = room;
        }
        if (k == all->count)
            all->at[all->count++] = (struct reason_count){*reason, 0};
        all->at[k].times++;
    }
}

struct str reason_text(struct evaluation *e, struct reason reason)
{
    if (reason.what.len == 0)
        return str_of(reason.text);
    return arena_print(e->arena, "%s%.*s", reason.text, STR_ARG(reason.what));
}

void reason_counts_tell(struct evaluation *e, const struct reason_counts *all, uint32_t *count,
                        struct tally **out)
{
    *count = all->count;
    *out = arena_take(e->arena, all->count * sizeof(**out));
    for (uint32_t i = 0; i < all->count; i++)
        (*out)[i] = (struct tally){reason_text(e, all->at[i].reason), all->at[i].times};
}

/* ---- what the rules know of the cluster ---- */

static const struct plugin_counts *listed(const struct plugin_counts *at, uint32_t count,
                                          const struct plugin *p)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_is(at[i].plugin, p->name))
            return &at[i];
    return NULL;
}

/* Merged counts without what we have told ourselves of a folded key, which we know better. */
static void unfold(struct evaluation *e, struct plugin_knowledge *k, uint32_t key)
{
    uint32_t at = 0;
    struct count_entry entry;
    struct counts *own = counts_new(e->cycle.arena);
    k->plugin->count(&e->cycle, own);
    while (counts_next(own, &at, &entry)) {
        int64_t all;
        if (entry.key != key)
            continue;
        counts_add(k->counts, entry.slot, key, entry.value, entry.count);
        if (!counts_get(k->counts, entry.slot, key, 0, &all))
            continue;
        if (all == 1)
            counts_remove(k->counts, entry.slot, key, 0);
        else
            counts_add(k->counts, entry.slot, key, 0, -1);
    }
}

/* The counts: our own, or those that the coordinator has added up. */
static void know_counts(struct evaluation *e, struct plugin_knowledge *k)
{
    const struct map_request *r = e->request;
    uint32_t key = plugin_folded_key(k->plugin, e->cycle.atoms, r);
    k->counts = counts_new(e->cycle.arena);
    k->survey = counts_new(e->cycle.arena);
    const struct plugin_counts *merged = listed(r->counts.at, r->counts.count, k->plugin);
    if (k->plugin->count != NULL && (r->alone || str_is(r->step, "count")))
        k->plugin->count(&e->cycle, k->counts);
    else if (merged != NULL)
        counts_take(k->counts, e->cycle.atoms, merged);
    if (k->plugin->count != NULL && merged != NULL && key != 0)
        unfold(e, k, key);
    else if (str_is(r->step, "count"))
        k->counts = counts_fold(k->counts, key, e->cycle.arena);
}

static void know(struct evaluation *e)
{
    const struct framework *fw = e->cycle.framework;
    must(fw != NULL);
    uint32_t room = fw->filter_count + fw->score_count;
    const struct plugin **counting = arena_take(e->cycle.arena, room * sizeof(struct plugin *));
    e->cycle.knowledge_count = framework_counting(fw, e->cycle.pod, e->cycle.brief, counting);
    e->cycle.knowledge =
        arena_take(e->cycle.arena, e->cycle.knowledge_count * sizeof(*e->cycle.knowledge));
    for (uint32_t i = 0; i < e->cycle.knowledge_count; i++) {
        e->cycle.knowledge[i].plugin = counting[i];
        timings_start(e->cycle.timing);
        know_counts(e, &e->cycle.knowledge[i]);
        timings_once(e->cycle.timing, TIMED_PreFilter, counting[i], false);
    }
}

static void tell_knowledge(struct evaluation *e, bool surveys, uint32_t *count,
                           struct plugin_counts **out)
{
    *count = 0;
    *out = arena_take(e->arena, e->cycle.knowledge_count * sizeof(**out));
    for (uint32_t i = 0; i < e->cycle.knowledge_count; i++) {
        const struct plugin_knowledge *k = &e->cycle.knowledge[i];
        if (surveys && k->plugin->survey == NULL)
            continue;
        struct plugin_counts *told = &(*out)[(*count)++];
        told->plugin = str_of(k->plugin->name);
        counts_tell(surveys ? k->survey : k->counts, e->cycle.atoms, told, e->arena);
    }
}

/* The surveys: merged ones if the request brings them, else our own, which are told. */
static void survey(struct evaluation *e)
{
    const struct scratch *scratch = &e->shard->scratch;
    const struct map_request *r = e->request;
    for (uint32_t i = 0; i < e->cycle.knowledge_count; i++) {
        struct plugin_knowledge *k = &e->cycle.knowledge[i];
        const struct plugin_counts *merged = listed(r->surveys.at, r->surveys.count, k->plugin);
        timings_start(e->cycle.timing);
        if (merged != NULL)
            counts_take(k->survey, e->cycle.atoms, merged);
        else if (k->plugin->survey != NULL)
            k->plugin->survey(&e->cycle, scratch->feasible, scratch->feasible_count, k->survey);
        if (k->plugin->survey != NULL)
            timings_once(e->cycle.timing, TIMED_PreScore, k->plugin, false);
    }
    if (r->surveys.count == 0 && !r->alone)
        tell_knowledge(e, true, &e->result->surveys.count, &e->result->surveys.at);
}

/* ---- filters ---- */

static void filter_once(struct evaluation *e, const struct nodes *n, uint32_t row)
{
    const struct framework *fw = e->cycle.framework;
    e->ruling.count = 0;
    e->ruling.code = CODE_success;
    e->ruling.plugins = 0;
    timings_start(e->cycle.timing);
    for (uint32_t i = 0; i < fw->filter_count; i++) {
        const struct plugin *p = fw->filter[i];
        if (p->filter == NULL || (e->skip >> i & 1))
            continue;
        uint32_t before = e->ruling.count;
        p->filter(&e->cycle, e->filter_state[i], n, row, &e->ruling);
        timings_call(e->cycle.timing, TIMED_Filter, p,
                     e->ruling.count == before ? CODE_success : e->ruling.code, 1);
        if (e->ruling.count == before)
            continue;
        if (before == 0)
            e->ruling.plugin = i;
        e->ruling.plugins |= UINT64_C(1) << i;
        if (!fw->profile.check_all)
            return;
    }
}

static void tell_what_if(struct evaluation *e, const struct row_copy *copy,
                         const struct node_pod *pod, int times)
{
    const struct framework *fw = e->cycle.framework;
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if (fw->filter[i]->what_if != NULL && !(e->skip >> i & 1))
            fw->filter[i]->what_if(&e->cycle, e->filter_state[i], copy->entry, pod, times);
}

void what_if_add(struct evaluation *e, struct row_copy *copy, struct node_pod *pod)
{
    tell_what_if(e, copy, pod, 1);
    row_copy_add(copy, pod);
}

void what_if_remove(struct evaluation *e, struct row_copy *copy, const struct node_pod *pod)
{
    tell_what_if(e, copy, pod, -1);
    row_copy_remove(copy, pod);
}

/* The first pass: with the pods nominated to the row, which are gone again afterwards. */
static void filter_with_nominated(struct evaluation *e, const struct nodes *n, uint32_t row,
                                  uint32_t first)
{
    struct row_copy *copy = &e->shard->scratch.nominated_copy;
    row_copy_make(copy, n, row);
    for (uint32_t i = first; i != 0; i = e->next[i - 1])
        what_if_add(e, copy, e->nominated[i - 1]);
    filter_once(e, &copy->nodes, 0);
    for (uint32_t i = first; i != 0; i = e->next[i - 1])
        what_if_remove(e, copy, e->nominated[i - 1]);
}

void evaluate_row(struct evaluation *e, const struct nodes *n, uint32_t row)
{
    uint32_t first = e->shard->scratch.first[n->entry[row]->row];
    if (first != 0) {
        filter_with_nominated(e, n, row, first);
        if (e->ruling.code != CODE_success)
            return;
    }
    filter_once(e, n, row);
}

/* Upstream: what makes the pod wait for an earlier preemption of its own. */
static void look_at_nominated(struct evaluation *e, const struct node_entry *node)
{
    e->result->nominated_code = str_of(code_name(e->ruling.code));
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

/* A rule that fails, rather than rejects, ends the cycle. Of several words the first in text order
 * are kept, so that it does not matter who has which node. */
void fail_filter(struct evaluation *e)
{
    struct str error = ruling_error(e);
    if (e->result->error.len == 0 || str_compare(error, e->result->error) < 0)
        e->result->error = error;
}

void count_rejection(struct evaluation *e)
{
    if (e->ruling.code == CODE_error)
        fail_filter(e);
    reason_counts_add(e, &e->reasons, &e->ruling);
    e->rejecting |= e->ruling.plugins;
    e->result->unresolvable += e->ruling.code == CODE_unresolvable;
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
        evaluate_row(e, &e->shard->nodes, row);
        if (e->request->nominated_too && e->shard->nodes.entry[row] == nominated &&
            e->ruling.code == CODE_error) {
            e->result->evaluated--; /* upstream goes on as if it had not tried */
            continue;
        }
        add_verdict(e, row);
        if (nominated != NULL && e->shard->nodes.entry[row] == nominated)
            look_at_nominated(e, nominated);
        if (e->ruling.code == CODE_success)
            scratch->passed[scratch->feasible_count++] = row;
        else
            count_rejection(e);
    }
}

/* at_once: and scores. */
static void filter_all(struct evaluation *e, bool at_once)
{
    const struct node_entry *nominated =
        e->cycle.pod->nominated_node.len == 0
            ? NULL
            : map_get(e->shard->by_name, e->cycle.pod->nominated_node);
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
    evaluate_row(e, &e->shard->nodes, nominated->row);
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
    survey(e);
    scratch->score_skips = framework_score_skips(&e->cycle);
    tell_score_skips(e);
    framework_pre_score(&e->cycle);
    (void)begin_scorers(e, false);
    timings_part(e->cycle.timing, PART_score);
    begin_columns(e);
    scratch->error = arena_copy(&scratch->arena, e->cycle.error);
}

static bool has_survey(const struct evaluation *e)
{
    for (uint32_t i = 0; i < e->cycle.knowledge_count; i++)
        if (e->cycle.knowledge[i].plugin->survey != NULL)
            return true;
    return false;
}

/* Another round with kept raw scores: only rules with a survey can have become wrong. */
static void score_again(struct evaluation *e)
{
    know(e);
    survey(e);
    columns_score_again(e, begin_scorers(e, true));
}

/* ---- the cycle ---- */

static void pick_rows(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    scratch->row_count = 0;
    for (uint32_t i = 0; i < e->request->only.count; i++) {
        const struct node_entry *node = map_get(e->shard->by_name, e->request->only.at[i]);
        /* as many names as we have nodes: a peer that repeats itself gets no more */
        if (node != NULL && node->row != NO_ROW && scratch->row_count < e->shard->nodes.count)
            scratch->named[scratch->row_count++] = node->row;
    }
    scratch->rows = e->request->only.count > 0 ? scratch->named : scratch->all;
    if (e->request->only.count == 0)
        scratch->row_count = e->shard->nodes.count;
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
        if ((uint64_t)e->cycle.brief->skip >> fw->filter_place[i] & 1) {
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
    know(e);
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

static void filter_and_score(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    bool at_once = columns_suffice(e) && !has_survey(e);
    prepare_detail(e);
    if (at_once)
        begin_scores(e);
    timings_part(e->cycle.timing, PART_filter);
    filter_all(e, at_once);
    tell_plugins(e);
    reason_counts_tell(e, &e->reasons, &e->result->reasons.count, &e->result->reasons.at);
    if (!at_once) {
        shard_mark_filtered(e->shard);
        begin_scores(e);
        columns_score(e);
    }
    scratch->kept = true;
    scratch->cycle = e->request->cycle;
    scratch->framework = e->cycle.framework;
}

static void count_only(struct evaluation *e)
{
    know(e);
    tell_knowledge(e, false, &e->result->counts.count, &e->result->counts.at);
}

/* Asks the filters about each row for what they note, which is told instead of verdicts. */
static void tell_notes(struct evaluation *e)
{
    const struct framework *fw = e->cycle.framework;
    const struct scratch *s = &e->shard->scratch;
    for (uint32_t i = 0; i < s->row_count; i++)
        evaluate_row(e, &e->shard->nodes, s->rows[i]);
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if (fw->filter[i]->tell != NULL && !(e->skip >> i & 1))
            fw->filter[i]->tell(&e->cycle, e->filter_state[i], e->result);
}

static void evaluate(struct evaluation *e)
{
    struct shard *s = e->shard;
    arena_reset(&s->scratch.arena);
    scratch_reserve(&s->scratch, s->nodes.count);
    if (str_is(e->request->step, "count")) {
        s->scratch.kept = false;
        count_only(e);
        return;
    }
    begin(e);
    e->result->evaluated = s->scratch.row_count;
    if (str_is(e->request->step, "victims"))
        dry_run(e);
    else if (str_is(e->request->step, "claims"))
        tell_notes(e);
    else
        filter_and_score(e);
    nominated_leave(e);
}

static bool has_kept(const struct evaluation *e)
{
    const struct scratch *s = &e->shard->scratch;
    return str_is(e->request->step, "again") && s->kept && s->cycle == e->request->cycle &&
           s->framework == e->cycle.framework && !e->request->detail;
}

static bool is_step(struct str step)
{
    return str_is(step, "count") || str_is(step, "map") || str_is(step, "again") ||
           str_is(step, "victims") || str_is(step, "claims");
}

static void map(struct shard *s, const struct map_request *request, struct map_result *result,
                struct arena *a)
{
    *result = (struct map_result){
        .cycle = request->cycle, .round = request->round, .nodes = s->nodes.count};
    struct evaluation e = {.shard = s, .request = request, .result = result, .arena = a};
    e.cycle =
        (struct cycle){.pod = &request->pod,
                       .brief = &request->brief,
                       .atoms = s->atoms,
                       .nodes = &s->nodes,
                       .groups = &s->groups,
                       .terms = &s->terms,
                       .images = s->images,
                       .cluster_nodes = s->cluster_nodes,
                       .any_ip = s->any_ip,
                       .bare = request->bare,
                       .arena = &s->scratch.arena,
                       .timing = s->timing,
                       .framework = frameworks_find(&s->frameworks, request->pod.scheduler_name)};
    if (!is_step(request->step))
        result->error = arena_print(a, "no step is called \"%.*s\"", STR_ARG(request->step));
    if (e.cycle.framework == NULL)
        result->error =
            arena_print(a, "no profile is called \"%.*s\"", STR_ARG(request->pod.scheduler_name));
    if (s->timing != NULL)
        timings_profile(s->timing, e.cycle.framework);
    if (e.cycle.framework == NULL || result->error.len > 0 || classes_answer(s, request, result, a))
        return;
    if (has_kept(&e)) {
        score_again(&e);
        result->evaluated = s->scratch.row_count;
    } else {
        evaluate(&e);
    }
    if (!str_is(request->step, "map") && !str_is(request->step, "again"))
        return;
    result->feasible = s->scratch.feasible_count;
    totals_sum_up(&e);
    totals_choose(&e);
    totals_list(&e);
}

/* The coordinator wants to know where filters and scores were one pass. */
static void tell_parts(struct shard *s, const struct map_request *request,
                       struct map_result *result, struct arena *a)
{
    struct timed_parts *parts = arena_take(a, sizeof(*parts));
    timings_end(s->timing, parts);
    result->timed.at = parts;
    result->timed.count = str_is(request->step, "map") && s->filtered_ns == 0;
}

void shard_map(struct shard *s, const struct map_request *request, struct map_result *result,
               struct arena *a)
{
    s->filtered_ns = 0;
    shard_time_next(s);
    map(s, request, result, a);
    if (s->timing != NULL)
        tell_parts(s, request, result, a);
}
