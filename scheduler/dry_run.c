/* dry_run: on which nodes of the share the pod would find room if pods of lower priority went, and
 * which of them would have to. The one idea: take all of them off a copy of the node's row, then
 * put them back one by one, the most important first, as long as the pod still passes.
 *
 * What must stay true: what was taken off for one node is known to the rules as back before the
 * next is looked at; the order is upstream's: priority, then start, protected pods before others.
 */
#include "proto/base/random.h"
#include "scheduler/candidate.h"
#include "scheduler/label_matcher.h"
#include "scheduler/shard_inside.h"

#include <stdlib.h>
#include <string.h>

/* A pod of lower priority on the node at hand. */
struct lower_pod {
    struct node_pod *pod;
    int64_t started; /* the present for a pod that has not started */
    bool is_protected;
    uint32_t place; /* in the list before it is sorted */
};

struct lower_pods {
    uint32_t count, room;
    struct lower_pod *at;
};

struct guard {
    uint32_t namespace_name; /* atom */
    const struct label_matcher *matcher;
    const struct budget *budget;
    int64_t left; /* disruptions that the node at hand has not used up */
};

struct search {
    struct evaluation *e;
    struct row_copy *copy;
    struct guard *guards;
    uint32_t guard_count;
    struct lower_pods lower, victims, best;
    int64_t violations, best_violations;
    struct candidate_rank best_rank;
    struct str best_node;
    int64_t ties;
    struct random dice;
};

static void append(struct search *s, struct lower_pods *list, struct lower_pod pod)
{
    if (list->count == list->room) {
        uint32_t room = list->room == 0 ? 16 : list->room * 2;
        struct lower_pod *at = arena_take(s->e->cycle.arena, room * sizeof(*at));
        if (list->count > 0)
            memcpy(at, list->at, list->count * sizeof(*at));
        list->at = at;
        list->room = room;
    }
    list->at[list->count++] = pod;
}

static void find_lower(struct search *s, const struct node_entry *node)
{
    s->lower.count = 0;
    for (uint32_t i = 0; i < node->pod_count; i++) {
        struct node_pod *p = node->pods[i];
        if (p->demand->priority >= s->e->cycle.pod->priority)
            continue;
        int64_t started = p->started != 0 ? p->started : s->e->request->now_us;
        append(s, &s->lower, (struct lower_pod){p, started, false, 0});
    }
}

static int compare_importance(const void *a, const void *b)
{
    const struct lower_pod *l = a, *r = b;
    if (l->pod->demand->priority != r->pod->demand->priority)
        return l->pod->demand->priority > r->pod->demand->priority ? -1 : 1;
    if (l->started != r->started)
        return l->started < r->started ? -1 : 1;
    return l->place < r->place ? -1 : l->place > r->place;
}

/* Equals stay in the order in which they came to the node, as upstream's sorting of a dozen or
 * fewer leaves them. */
static void sort(struct lower_pods *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        list->at[i].place = i;
    if (list->count > 1)
        qsort(list->at, list->count, sizeof(*list->at), compare_importance);
}

/* ---- disruption budgets ---- */

/* A budget without a selector, or with an empty one, protects nothing. */
static void find_guards(struct search *s)
{
    const struct map_request *r = s->e->request;
    s->guards = arena_take(s->e->cycle.arena, r->budgets.count * sizeof(*s->guards));
    for (uint32_t i = 0; i < r->budgets.count; i++) {
        const struct budget *b = &r->budgets.at[i];
        struct guard g = {
            .namespace_name = atom_find(s->e->cycle.atoms, b->namespace_name),
            .matcher = label_matcher_find(s->e->cycle.atoms, &b->selector, s->e->cycle.arena),
            .budget = b};
        if (g.namespace_name != 0 && !label_matcher_is_nothing(g.matcher) &&
            !label_matcher_is_empty(g.matcher))
            s->guards[s->guard_count++] = g;
    }
}

static bool is_disrupted(const struct budget *b, struct str pod)
{
    for (uint32_t i = 0; i < b->disrupted.count; i++)
        if (str_equal(b->disrupted.at[i], pod))
            return true;
    return false;
}

/* Uses up what budgets allow; true when one of them allows no more. */
static bool breaks_a_budget(struct search *s, const struct node_pod *p)
{
    bool breaks = false;
    for (uint32_t i = 0; i < s->guard_count && p->group->label_count > 0; i++) {
        struct guard *g = &s->guards[i];
        if (g->namespace_name != p->group->namespace_name ||
            !label_matcher_matches(g->matcher, p->group->labels, p->group->label_count) ||
            is_disrupted(g->budget, node_pod_name(p)))
            continue;
        breaks |= --g->left < 0;
    }
    return breaks;
}

static uint32_t protect(struct search *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->guard_count; i++)
        s->guards[i].left = s->guards[i].budget->allowed;
    for (uint32_t i = 0; i < s->lower.count; i++) {
        s->lower.at[i].is_protected = breaks_a_budget(s, s->lower.at[i].pod);
        count += s->lower.at[i].is_protected;
    }
    return count;
}

/* ---- one node ---- */

static void take_off(struct search *s)
{
    for (uint32_t i = 0; i < s->lower.count; i++)
        what_if_remove(s->e, s->copy, s->lower.at[i].pod);
}

static void put_back(struct search *s, const struct lower_pods *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        what_if_add(s->e, s->copy, list->at[i].pod);
}

static bool passes(struct search *s)
{
    evaluate_row(s->e, &s->copy->nodes, 0);
    return s->e->ruling.code == CODE_success;
}

/* Those that cannot be put back are the victims. */
static void reprieve(struct search *s, bool protected_ones)
{
    for (uint32_t i = 0; i < s->lower.count; i++) {
        const struct lower_pod *l = &s->lower.at[i];
        if (l->is_protected != protected_ones)
            continue;
        what_if_add(s->e, s->copy, l->pod);
        if (passes(s))
            continue;
        what_if_remove(s->e, s->copy, l->pod);
        append(s, &s->victims, *l);
        s->violations += l->is_protected;
    }
}

static void choose_victims(struct search *s)
{
    s->victims.count = 0;
    s->violations = 0;
    sort(&s->lower);
    uint32_t protected_count = protect(s);
    reprieve(s, true);
    reprieve(s, false);
    if (protected_count > 0 && protected_count < s->lower.count)
        sort(&s->victims);
    put_back(s, &s->victims);
}

/* ---- candidates ---- */

static struct victim victim_of(struct evaluation *e, const struct node_pod *p)
{
    return (struct victim){.uid = node_pod_uid(p, e->arena),
                           .namespace_name = atom_text(e->cycle.atoms, p->group->namespace_name),
                           .name = node_pod_name(p),
                           .priority = p->demand->priority,
                           .started = p->started,
                           .deleting = p->deleting};
}

static bool is_among(const struct lower_pods *pods, const struct node_pod *pod)
{
    uint32_t i = 0;
    while (i < pods->count && pods->at[i].pod != pod)
        i++;
    return i < pods->count;
}

static void tell_others(struct evaluation *e, struct candidate *c, const struct lower_pods *victims)
{
    const struct node_entry *node = map_get(e->shard->by_name, c->node);
    c->others.at = arena_take(e->arena, node->pod_count * sizeof(struct victim));
    for (uint32_t i = 0; i < node->pod_count; i++)
        if (!is_among(victims, node->pods[i]))
            c->others.at[c->others.count++] = victim_of(e, node->pods[i]);
}

static void tell_candidate(struct search *s, struct str node, const struct lower_pods *victims,
                           int64_t violations)
{
    struct evaluation *e = s->e;
    struct candidate *c = &e->result->candidates.at[e->result->candidates.count++];
    *c = (struct candidate){.node = node, .violations = violations};
    c->victims.at = arena_take(e->arena, victims->count * sizeof(struct victim));
    for (uint32_t i = 0; i < victims->count; i++)
        c->victims.at[c->victims.count++] = victim_of(e, victims->at[i].pod);
    if (e->request->others)
        tell_others(e, c, victims);
}

/* Nodes that tie: the first by name, or each with the same chance. */
static bool wins_tie(struct search *s, struct str node)
{
    if (str_is(s->e->request->tie_break, "first") ||
        str_is(s->e->request->tie_break, "round-robin"))
        return str_compare(node, s->best_node) < 0;
    return random_below(&s->dice, (uint64_t)s->ties) == 0;
}

static void compete(struct search *s, struct str node)
{
    struct candidate_rank rank = {.violations = s->violations};
    for (uint32_t i = 0; i < s->victims.count; i++)
        candidate_rank_add(&rank, s->victims.at[i].pod->demand->priority, s->victims.at[i].started);
    int order = s->ties == 0 ? -1 : candidate_rank_compare(&rank, &s->best_rank);
    if (order > 0)
        return;
    s->ties = order < 0 ? 1 : s->ties + 1;
    if (order == 0 && !wins_tie(s, node))
        return;
    s->best_rank = rank;
    s->best_node = node;
    s->best_violations = s->violations;
    s->best.count = 0;
    for (uint32_t i = 0; i < s->victims.count; i++)
        append(s, &s->best, s->victims.at[i]);
}

static void take_candidate(struct search *s, struct str node)
{
    s->e->result->dry_run_fits++;
    if (s->e->request->detail || s->e->request->others)
        tell_candidate(s, node, &s->victims, s->violations);
    else
        compete(s, node);
}

/* ---- the share ---- */

static void add_verdict(struct search *s, uint32_t row)
{
    struct evaluation *e = s->e;
    if (e->result->dry_run_verdicts.at == NULL)
        e->result->dry_run_verdicts.at =
            arena_take(e->arena, e->shard->scratch.row_count * sizeof(struct verdict));
    verdict_tell(e, row, &e->result->dry_run_verdicts.at[e->result->dry_run_verdicts.count++]);
}

static void take_rejection(struct search *s, uint32_t row)
{
    struct evaluation *e = s->e;
    if (e->request->detail || e->ruling.code == CODE_error)
        add_verdict(s, row);
    if (e->ruling.code != CODE_error)
        reason_counts_add(e, &e->reasons, &e->ruling);
}

/* The ruling becomes what the node looks like without its pods of lower priority. */
static void try_without(struct search *s, uint32_t row)
{
    struct evaluation *e = s->e;
    if (s->lower.count == 0) {
        e->ruling.code = CODE_success;
        e->ruling.plugin = NO_PLUGIN;
        e->ruling.count = 0;
        ruling_reject(&e->ruling, CODE_unresolvable, "No preemption victims found for incoming pod",
                      (struct str){0});
        return;
    }
    row_copy_make(s->copy, &e->shard->nodes, row);
    take_off(s);
    if (passes(s))
        return;
    put_back(s, &s->lower);
}

/* Nodes that pass and that an extender turned away, in a sorted list. */
static bool turned_away(const struct evaluation *e, struct str node)
{
    const struct strs *list = &e->request->turned_away;
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_compare(list->at[middle], node);
        if (order == 0)
            return true;
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
    }
    return false;
}

static void try_node(struct search *s, uint32_t row)
{
    struct evaluation *e = s->e;
    const struct node_entry *node = e->shard->nodes.entry[row];
    evaluate_row(e, &e->shard->nodes, row);
    if (e->ruling.code != CODE_unschedulable &&
        (e->ruling.code != CODE_success || !turned_away(e, atom_text(e->cycle.atoms, node->name))))
        return;
    e->result->dry_run_nodes++;
    find_lower(s, node);
    try_without(s, row);
    if (e->ruling.code != CODE_success) {
        take_rejection(s, row);
        return;
    }
    choose_victims(s);
    if (s->victims.count > 0) {
        take_candidate(s, atom_text(e->cycle.atoms, node->name));
        return;
    }
    e->ruling.code =
        CODE_success; /* it passes with everybody back, which upstream calls an error */
    e->ruling.count = 0;
    add_verdict(s, row);
}

void dry_run(struct evaluation *e)
{
    struct search s = {
        .e = e, .copy = &e->shard->scratch.copy, .dice = {(uint64_t)e->request->seed}};
    uint32_t rows = e->shard->scratch.row_count;
    e->result->candidates.at = arena_take(
        e->arena, (e->request->detail || e->request->others ? rows : 1) * sizeof(struct candidate));
    find_guards(&s);
    for (uint32_t i = 0; i < rows; i++)
        try_node(&s, e->shard->scratch.rows[i]);
    if (s.ties > 0) {
        tell_candidate(&s, s.best_node, &s.best, s.best_violations);
        e->result->candidates.at[0].ties = s.ties;
    }
    reason_counts_tell(e, &e->reasons, &e->result->dry_run_reasons.count,
                       &e->result->dry_run_reasons.at);
}
