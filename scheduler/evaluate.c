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
#include "scheduler/shard_inside.h"
#include "scheduler/wrap.h"

#include <string.h>

void scratch_free(struct scratch *s)
{
    arena_free(&s->arena);
    memory_free(s->rows);
    memory_free(s->feasible);
    memory_free(s->first);
    memory_free(s->raw);
    memory_free(s->total);
    row_copy_free(&s->copy);
    row_copy_free(&s->nominated_copy);
    *s = (struct scratch){0};
}

static void scratch_reserve(struct scratch *s, uint32_t rows)
{
    if (rows <= s->room)
        return;
    uint32_t room = s->room == 0 ? 64 : s->room;
    while (room < rows)
        room *= 2;
    s->rows = memory_resize(s->rows, room * sizeof(*s->rows));
    s->feasible = memory_resize(s->feasible, room * sizeof(*s->feasible));
    s->first = memory_resize(s->first, room * sizeof(*s->first));
    s->total = memory_resize(s->total, room * sizeof(*s->total));
    memset(s->first + s->room, 0, (room - s->room) * sizeof(*s->first));
    s->room = room;
}

static void scratch_reserve_raw(struct scratch *s, size_t count)
{
    if (count <= s->raw_room)
        return;
    s->raw_room = count * 2;
    s->raw = memory_resize(s->raw, s->raw_room * sizeof(*s->raw));
}

static struct str node_name(const struct shard *s, uint32_t row)
{
    return atom_text(s->atoms, s->nodes.entry[row]->name);
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

/* ---- filters ---- */

static void filter_once(struct evaluation *e, const struct nodes *n, uint32_t row)
{
    const struct framework *fw = e->cycle.framework;
    e->ruling.count = 0;
    e->ruling.code = CODE_success;
    for (uint32_t i = 0; i < fw->filter_count; i++) {
        const struct plugin *p = fw->filter[i];
        if (p->filter == NULL || (e->pre.skip >> i & 1))
            continue;
        p->filter(&e->cycle, e->filter_state[i], n, row, &e->ruling);
        if (e->ruling.count == 0)
            continue;
        e->ruling.plugin = i;
        return;
    }
}

void evaluate_row(struct evaluation *e, const struct nodes *n, uint32_t row)
{
    struct scratch *scratch = &e->shard->scratch;
    uint32_t first = scratch->first[n->entry[row]->row];
    if (first != 0) {
        row_copy_make(&scratch->nominated_copy, n, row);
        for (uint32_t i = first; i != 0; i = e->next[i - 1])
            nodes_add_pod(&scratch->nominated_copy.nodes, 0, e->nominated[i - 1]);
        filter_once(e, &scratch->nominated_copy.nodes, 0);
        if (e->ruling.code != CODE_success)
            return;
    }
    filter_once(e, n, row);
}

static struct verdict *add_verdict(struct evaluation *e, uint32_t row)
{
    if (!e->request->detail)
        return NULL;
    struct verdict *v = &e->result->verdicts.at[e->result->verdicts.count++];
    v->node = node_name(e->shard, row);
    v->code = str_of(code_name(e->ruling.code));
    if (e->ruling.code == CODE_success)
        return v;
    v->plugin = str_of(e->cycle.framework->filter[e->ruling.plugin]->name);
    v->reasons.at = arena_take(e->arena, e->ruling.count * sizeof(struct str));
    for (uint32_t i = 0; i < e->ruling.count; i++)
        v->reasons.at[v->reasons.count++] = reason_text(e, e->ruling.reasons[i]);
    return v;
}

static void filter_all(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    const struct node_entry *nominated =
        e->cycle.pod->nominated_node.len == 0
            ? NULL
            : map_get(e->shard->by_name, e->cycle.pod->nominated_node);
    scratch->feasible_count = 0;
    for (uint32_t i = 0; i < scratch->row_count; i++) {
        uint32_t row = scratch->rows[i];
        evaluate_row(e, &e->shard->nodes, row);
        add_verdict(e, row);
        if (e->ruling.code == CODE_success) {
            scratch->feasible[scratch->feasible_count++] = row;
            e->result->nominated_fits |= e->shard->nodes.entry[row] == nominated;
            continue;
        }
        reason_counts_add(e, &e->reasons, &e->ruling);
        e->rejecting |= UINT64_C(1) << e->ruling.plugin;
        e->result->unresolvable += e->ruling.code == CODE_unresolvable;
    }
}

/* ---- scores ---- */

static int64_t *raw_column(const struct scratch *s, uint32_t scorer)
{
    return s->raw + (size_t)scorer * s->feasible_count;
}

static bool scores(const struct scratch *s, uint32_t scorer)
{
    return (s->score_skips >> scorer & 1) == 0;
}

static void score_all(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    const struct framework *fw = e->cycle.framework;
    scratch->score_skips = framework_score_skips(fw, e->cycle.pod);
    for (uint32_t i = 0; fw->has_scores && i < fw->pre_score_count; i++)
        if (fw->pre_score[i]->pre_score != NULL && e->cycle.error.len == 0)
            fw->pre_score[i]->pre_score(&e->cycle);
    scratch_reserve_raw(scratch, (size_t)fw->score_count * scratch->feasible_count);
    for (uint32_t i = 0; i < fw->score_count; i++) {
        const struct plugin *p = fw->score[i].plugin;
        if (!scores(scratch, i))
            continue;
        const void *state = p->score_begin == NULL ? NULL : p->score_begin(&e->cycle);
        int64_t *raw = raw_column(scratch, i);
        for (uint32_t k = 0; k < scratch->feasible_count; k++)
            raw[k] = p->score(&e->cycle, state, &e->shard->nodes, scratch->feasible[k]);
    }
    scratch->error = arena_copy(&scratch->arena, e->cycle.error);
}

static int64_t greatest(const int64_t *raw, uint32_t count)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        if (raw[i] > most)
            most = raw[i];
    return most;
}

/* Ours, or what the second round's request says; never less than ours, or scores would leave 0–100
 * when nodes changed between the rounds. */
static int64_t maximum_of(struct evaluation *e, struct str plugin, int64_t own)
{
    for (uint32_t i = 0; e->request->round == 2 && i < e->request->maxima.count; i++)
        if (str_equal(e->request->maxima.at[i].text, plugin) &&
            e->request->maxima.at[i].count > own)
            return e->request->maxima.at[i].count;
    return own;
}

/* Passing nodes stand in the verdicts in the order in which they stand in feasible. */
static struct verdict *next_passing(struct map_result *r, uint32_t *at)
{
    while (*at < r->verdicts.count && !str_is(r->verdicts.at[*at].code, "Success"))
        (*at)++;
    must(*at < r->verdicts.count);
    return &r->verdicts.at[(*at)++];
}

static void detail_scores(struct evaluation *e, uint32_t scorer, int64_t most)
{
    const struct scratch *scratch = &e->shard->scratch;
    const struct scorer *sc = &scratch->framework->score[scorer];
    uint32_t at = 0;
    for (uint32_t k = 0; k < scratch->feasible_count; k++) {
        struct verdict *v = next_passing(e->result, &at);
        int64_t raw = raw_column(scratch, scorer)[k];
        int64_t weighted = wrap_mul(plugin_normalise(sc->plugin->normalise, raw, most), sc->weight);
        v->scores.at[v->scores.count++] =
            (struct plugin_score){str_of(sc->plugin->name), raw, weighted};
    }
}

static void detail_totals(struct evaluation *e)
{
    uint32_t at = 0;
    for (uint32_t k = 0; e->request->detail && k < e->shard->scratch.feasible_count; k++)
        next_passing(e->result, &at)->total = e->shard->scratch.total[k];
}

static void add_weighted(struct evaluation *e, uint32_t scorer)
{
    struct scratch *scratch = &e->shard->scratch;
    const struct scorer *sc = &scratch->framework->score[scorer];
    const int64_t *raw = raw_column(scratch, scorer);
    int64_t own = 0, most = 0;
    if (sc->plugin->normalise != NORMALISE_none) {
        own = greatest(raw, scratch->feasible_count);
        most = maximum_of(e, str_of(sc->plugin->name), own);
        e->result->maxima.at[e->result->maxima.count++] =
            (struct tally){str_of(sc->plugin->name), own};
    }
    for (uint32_t k = 0; k < scratch->feasible_count; k++) {
        int64_t score = plugin_normalise(sc->plugin->normalise, raw[k], most);
        scratch->total[k] = wrap_add(scratch->total[k], wrap_mul(score, sc->weight));
    }
    if (e->request->detail)
        detail_scores(e, scorer, most);
}

static void sum_up(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    const struct framework *fw = scratch->framework;
    e->result->maxima.at = arena_take(e->arena, fw->score_count * sizeof(struct tally));
    if (scratch->feasible_count > 0)
        e->result->error = arena_copy(e->arena, scratch->error);
    for (uint32_t k = 0; k < scratch->feasible_count; k++)
        scratch->total[k] = fw->has_scores ? 0 : 1;
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (scores(scratch, i) && e->result->error.len == 0)
            add_weighted(e, i);
    detail_totals(e);
}

/* ---- the best ---- */

static bool before(struct str a, struct str b)
{
    return b.len == 0 || str_compare(a, b) < 0;
}

/* Among the nodes with the greatest total: one at random, the first by name, or for a round the
 * first by name and the first behind the node chosen last. */
static void choose(struct evaluation *e)
{
    const struct scratch *scratch = &e->shard->scratch;
    struct map_result *r = e->result;
    bool by_name = str_is(e->request->tie_break, "first");
    bool round = str_is(e->request->tie_break, "round-robin");
    struct random dice = {(uint64_t)e->request->seed};
    for (uint32_t k = 0; k < scratch->feasible_count; k++) {
        int64_t total = scratch->total[k];
        if (r->best_count > 0 && total < r->best_total)
            continue;
        struct str name = node_name(e->shard, scratch->feasible[k]);
        if (r->best_count == 0 || total > r->best_total) {
            r->best_total = total;
            r->best_count = 0;
            r->best_node = r->best_after = (struct str){0};
        }
        r->best_count++;
        if (by_name || round ? before(name, r->best_node)
                             : random_below(&dice, (uint64_t)r->best_count) == 0)
            r->best_node = name;
        if (round && str_compare(name, e->request->after) > 0 && before(name, r->best_after))
            r->best_after = name;
    }
}

/* ---- the cycle ---- */

static void take_nominated(struct evaluation *e)
{
    struct shard *s = e->shard;
    uint32_t count = e->request->nominated.count;
    e->nominated = arena_take(&s->scratch.arena, count * sizeof(struct node_pod *));
    e->next = arena_take(&s->scratch.arena, count * sizeof(*e->next));
    for (uint32_t i = 0; i < count; i++) {
        const struct pod *pod = &e->request->nominated.at[i];
        const struct node_entry *node = map_get(s->by_name, pod->nominated_node);
        if (node == NULL || node->row == NO_ROW || str_equal(pod->uid, e->request->pod.uid))
            continue;
        uint32_t k = e->nominated_count++;
        e->nominated[k] = node_pod_make(s, pod);
        e->nominated[k]->node = s->nodes.entry[node->row];
        e->next[k] = s->scratch.first[node->row];
        s->scratch.first[node->row] = k + 1;
    }
}

static void drop_nominated(struct evaluation *e)
{
    for (uint32_t i = 0; i < e->nominated_count; i++) {
        e->shard->scratch.first[e->nominated[i]->node->row] = 0;
        node_pod_free(e->shard, e->nominated[i]);
    }
}

static void pick_rows(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    scratch->row_count = 0;
    for (uint32_t i = 0; i < e->request->only.count; i++) {
        const struct node_entry *node = map_get(e->shard->by_name, e->request->only.at[i]);
        /* as many names as we have nodes: a peer that repeats itself gets no more */
        if (node != NULL && node->row != NO_ROW && scratch->row_count < e->shard->nodes.count)
            scratch->rows[scratch->row_count++] = node->row;
    }
    for (uint32_t row = 0; e->request->only.count == 0 && row < e->shard->nodes.count; row++)
        scratch->rows[scratch->row_count++] = row;
}

static void begin(struct evaluation *e)
{
    struct shard *s = e->shard;
    const struct framework *fw = e->cycle.framework;
    const struct pod *pod = e->cycle.pod;
    s->scratch.kept = false;
    take_nominated(e); /* first: the rules look up atoms that these pods may bring */
    e->filter_state = arena_take(&s->scratch.arena, fw->filter_count * sizeof(void *));
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if (fw->filter[i]->filter_begin != NULL && !(e->pre.skip >> i & 1))
            e->filter_state[i] = fw->filter[i]->filter_begin(&e->cycle);
    e->ruling.room = RESOURCE_COUNT + 2 + pod->request.count;
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
    prepare_detail(e);
    filter_all(e);
    tell_plugins(e);
    reason_counts_tell(e, &e->reasons, &e->result->reasons.count, &e->result->reasons.at);
    score_all(e);
    scratch->kept = true;
    scratch->cycle = e->request->cycle;
    scratch->framework = e->cycle.framework;
}

static void evaluate(struct evaluation *e)
{
    struct shard *s = e->shard;
    arena_reset(&s->scratch.arena);
    scratch_reserve(&s->scratch, s->nodes.count);
    framework_pre_filter(e->cycle.framework, e->cycle.pod, &s->scratch.arena, &e->pre);
    if (e->pre.code != CODE_success) { /* the coordinator would not ask */
        e->result->error =
            arena_print(e->arena, "the pod does not pass PreFilter: %.*s", STR_ARG(e->pre.reason));
        return;
    }
    begin(e);
    e->result->evaluated = s->scratch.row_count;
    if (e->request->dry_run)
        dry_run(e);
    else
        filter_and_score(e);
    drop_nominated(e);
}

void shard_map(struct shard *s, const struct map_request *request, struct map_result *result,
               struct arena *a)
{
    *result = (struct map_result){
        .cycle = request->cycle, .round = request->round, .nodes = s->nodes.count};
    struct evaluation e = {.shard = s, .request = request, .result = result, .arena = a};
    e.cycle =
        (struct cycle){.pod = &request->pod,
                       .atoms = s->atoms,
                       .images = s->images,
                       .cluster_nodes = s->cluster_nodes,
                       .any_ip = s->any_ip,
                       .arena = &s->scratch.arena,
                       .framework = frameworks_find(&s->frameworks, request->pod.scheduler_name)};
    if (e.cycle.framework == NULL) {
        result->error =
            arena_print(a, "no profile is called \"%.*s\"", STR_ARG(request->pod.scheduler_name));
        return;
    }
    bool again = request->round == 2 && s->scratch.kept && s->scratch.cycle == request->cycle &&
                 s->scratch.framework == e.cycle.framework && !request->detail;
    if (!again)
        evaluate(&e);
    if (request->dry_run || result->error.len > 0)
        return;
    result->feasible = s->scratch.feasible_count;
    result->evaluated = s->scratch.row_count;
    sum_up(&e);
    choose(&e);
}
