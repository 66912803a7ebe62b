/* dry_run: on which nodes of the share the pod would find room if pods of lower priority went, and
 * which of them would have to. The one idea: take all of them off a copy of the node's row, then
 * put them back one by one, the most important first, as long as the pod still passes.
 *
 * What a dry run on a node says is kept for the next pod of its like, where it follows from the
 * node.
 *
 * A group that can only go as a whole is one of them: its pods on the node come off and back
 * together, and those elsewhere weigh as if they were here.
 *
 * What must stay true: what was taken off for one node is known to the rules as back before the
 * next is looked at; the order is upstream's: priority, then (since 1.37) groups before pods and
 * the larger before the smaller, then start; protected pods before others. */
#include "proto/base/random.h"
#include "scheduler/rules/candidate.h"
#include "scheduler/table/label_matcher.h"
#include "scheduler/worker/shard_inside.h"

#include <stdlib.h>
#include <string.h>

/* A pod of lower priority on the node at hand. */
struct lower_pod {
    struct node_pod *pod;
    int64_t started; /* the present for a pod that has not started */
    bool is_protected;
    uint32_t broken; /* budgets that would be, by all that go together: the first of them counts */
    uint32_t place;  /* in the list before it is sorted */
    uint32_t whole;  /* number of the group that it goes with, from 1; 0: it goes alone */
    uint32_t first;  /* place of the first pod of that one */
    int64_t size;    /* pods that go together, anywhere; 0: it is in no group */
    bool tree;       /* and these are a tree of groups, which is spared before other groups */
};

struct lower_pods {
    uint32_t count, room;
    struct lower_pod *at;
};

struct guard {
    uint32_t namespace_name; /* atom */
    uint32_t gang;           /* atom; not 0: of this group, instead of a selector */
    const struct label_matcher *matcher;
    const struct budget *budget;
    int64_t left; /* disruptions that the node at hand has not used up */
};

/* A group of which all pods go or none. */
struct whole {
    uint32_t namespace_name, gang; /* atoms of a PodGroup in it; 0: of no pod here */
    uint32_t number;               /* of the group in the question, from 1 */
};

struct search {
    struct evaluation *e;
    struct row_copy *copy;
    struct guard *guards;
    uint32_t guard_count;
    bool by_groups; /* victims in groups count for more, as since 1.37 */
    struct whole *wholes;
    uint32_t whole_count;
    struct lower_pods lower, victims;
    int64_t violations;
    struct candidate_rank best_rank;
    uint32_t best_row;
    struct str best_node;
    int64_t ties;
    struct dry_results *results; /* NULL: none are kept */
    struct dry_result *kept;     /* by row */
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

static void find_wholes(struct search *s)
{
    const struct map_request *r = s->e->request;
    const struct features *features = &s->e->cycle.framework->profile.features;
    s->by_groups = features->gangs && features->release >= 37;
    uint32_t room = r->dry_run.wholes.count;
    for (uint32_t i = 0; i < r->dry_run.wholes.count; i++)
        room += r->dry_run.wholes.at[i].leaves.count;
    s->wholes = arena_take(s->e->cycle.arena, room * sizeof(*s->wholes));
    for (uint32_t i = 0; i < r->dry_run.wholes.count; i++) {
        const struct whole_group *g = &r->dry_run.wholes.at[i];
        const struct strs itself = {1, (struct str *)&g->name};
        const struct strs *names = g->leaves.count > 0 ? &g->leaves : &itself;
        for (uint32_t k = 0; k < names->count; k++)
            s->wholes[s->whole_count++] =
                (struct whole){.namespace_name = atom_find(s->e->cycle.atoms, g->namespace_name),
                               .gang = atom_find(s->e->cycle.atoms, names->at[k]),
                               .number = i + 1};
    }
}

static const struct whole_group *group_of(const struct search *s, uint32_t whole)
{
    return &s->e->request->dry_run.wholes.at[whole - 1];
}

/* The number of the pod's group, if that goes as a whole. */
static uint32_t whole_of(const struct search *s, const struct node_pod *p)
{
    for (uint32_t i = 0; p->group->gang != 0 && i < s->whole_count; i++)
        if (s->wholes[i].gang == p->group->gang &&
            s->wholes[i].namespace_name == p->group->namespace_name)
            return s->wholes[i].number;
    return 0;
}

/* Its group's priority, size and start stand for those of a pod that does not go alone. */
static struct lower_pod weigh(struct search *s, struct node_pod *p)
{
    struct lower_pod l = {.pod = p, .whole = whole_of(s, p)};
    l.size = s->by_groups && p->group->gang != 0;
    l.started = p->started != 0 ? p->started : s->e->request->dry_run.now_us;
    if (l.whole == 0)
        return l;
    l.size = group_of(s, l.whole)->pods;
    l.tree = group_of(s, l.whole)->leaves.count > 0;
    l.started = group_of(s, l.whole)->started;
    return l;
}

static int64_t priority_of(const struct search *s, const struct lower_pod *l)
{
    return l->whole > 0 ? group_of(s, l->whole)->priority : l->pod->demand->priority;
}

static void find_lower(struct search *s, const struct node_entry *node)
{
    s->lower.count = 0;
    for (uint32_t i = 0; i < node->pod_count; i++) {
        struct lower_pod l = weigh(s, node->pods[i]);
        if (priority_of(s, &l) < s->e->cycle.pod->priority)
            append(s, &s->lower, l);
    }
}

static int compare_importance(const void *a, const void *b)
{
    const struct lower_pod *l = a, *r = b;
    if (l->pod->demand->priority != r->pod->demand->priority)
        return l->pod->demand->priority > r->pod->demand->priority ? -1 : 1;
    if (l->tree != r->tree)
        return l->tree ? -1 : 1;
    if (l->size != r->size) /* a group's pod by itself has 1, any other 0 */
        return l->size > r->size ? -1 : 1;
    if (l->started != r->started)
        return l->started < r->started ? -1 : 1;
    if (l->first != r->first) /* a whole stays together */
        return l->first < r->first ? -1 : 1;
    return l->place < r->place ? -1 : l->place > r->place;
}

static uint32_t first_of_whole(const struct lower_pods *list, uint32_t i)
{
    for (uint32_t k = 0; list->at[i].whole > 0 && k < i; k++)
        if (list->at[k].whole == list->at[i].whole)
            return k;
    return i;
}

/* Equals stay in the order in which they came to the node, as upstream's sorting of a dozen or
 * fewer leaves them. */
static void sort(struct lower_pods *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        list->at[i].place = i;
        list->at[i].first = first_of_whole(list, i);
    }
    if (list->count > 1)
        qsort(list->at, list->count, sizeof(*list->at), compare_importance);
}

/* ---- disruption budgets ---- */

/* A budget without a selector, or with an empty one, protects nothing. */
static bool protects(const struct guard *g)
{
    if (g->namespace_name == 0)
        return false;
    return g->gang != 0 ||
           (!label_matcher_is_nothing(g->matcher) && !label_matcher_is_empty(g->matcher));
}

static void find_guards(struct search *s)
{
    const struct map_request *r = s->e->request;
    s->guards = arena_take(s->e->cycle.arena, r->dry_run.budgets.count * sizeof(*s->guards));
    for (uint32_t i = 0; i < r->dry_run.budgets.count; i++) {
        const struct budget *b = &r->dry_run.budgets.at[i];
        struct guard g = {
            .namespace_name = atom_find(s->e->cycle.atoms, b->namespace_name),
            .matcher = label_matcher_find(s->e->cycle.atoms, &b->selector, s->e->cycle.arena),
            .budget = b};
        if (!b->selector.present)
            g.gang = atom_find(s->e->cycle.atoms, b->gang);
        if (protects(&g))
            s->guards[s->guard_count++] = g;
    }
}

/* A gang's budget was counted without members that terminate. */
static bool guards(const struct guard *g, const struct node_pod *p)
{
    if (g->namespace_name != p->group->namespace_name || (g->budget->gang.len > 0 && p->deleting))
        return false;
    if (g->gang != 0)
        return g->gang == p->group->gang;
    return p->group->label_count > 0 &&
           label_matcher_matches(g->matcher, p->group->labels, p->group->label_count) &&
           !strs_hold(g->budget->disrupted, node_pod_name(p));
}

/* Uses up what budgets allow; true when one of them allows no more. Since 1.37 upstream looks at no
 * other PodDisruptionBudget of the pod then, and none of them is used up. */
static bool breaks_a_budget(struct search *s, const struct node_pod *p)
{
    bool stops = s->e->cycle.framework->profile.features.release >= 37, breaks = false;
    for (uint32_t i = 0; i < s->guard_count; i++) {
        struct guard *g = &s->guards[i];
        if (!(breaks && stops && g->budget->selector.present) && guards(g, p))
            breaks |= --g->left < 0;
    }
    return breaks;
}

/* The same of one that is elsewhere, whose budgets these are. */
static bool breaks_elsewhere(struct search *s, const struct guarded_pod *at, uint32_t count)
{
    bool breaks = false;
    for (uint32_t i = 0; i < s->guard_count && !breaks; i++) {
        struct guard *g = &s->guards[i];
        for (uint32_t k = 0; k < count && !breaks; k++)
            if (at[k].budget == g->budget - s->e->request->dry_run.budgets.at)
                breaks = --g->left < 0;
    }
    return breaks;
}

/* Of a group's pods on other nodes, those that break a budget. */
static uint32_t broken_elsewhere(struct search *s, uint32_t whole, struct str node)
{
    const struct whole_group *g = group_of(s, whole);
    uint32_t broken = 0;
    for (uint32_t i = 0, end; i < g->guarded.count; i = end) {
        const struct guarded_pod *first = &g->guarded.at[i];
        end = i + 1;
        while (end < g->guarded.count && g->guarded.at[end].pod == first->pod)
            end++;
        if (!str_equal(first->node_name, node))
            broken += breaks_elsewhere(s, first, end - i);
    }
    return broken;
}

/* Behind the last of those that go together with the one at i. */
static uint32_t end_of_unit(const struct lower_pods *list, uint32_t i)
{
    uint32_t end = i + 1;
    while (list->at[i].whole > 0 && end < list->count && list->at[end].whole == list->at[i].whole)
        end++;
    return end;
}

static uint32_t protect(struct search *s, struct str node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->guard_count; i++)
        s->guards[i].left = s->guards[i].budget->allowed;
    for (uint32_t i = 0, end; i < s->lower.count; i = end) {
        uint32_t broken = 0;
        end = end_of_unit(&s->lower, i);
        for (uint32_t k = i; k < end; k++)
            broken += breaks_a_budget(s, s->lower.at[k].pod);
        if (s->lower.at[i].whole > 0)
            broken += broken_elsewhere(s, s->lower.at[i].whole, node);
        for (uint32_t k = i; k < end; k++)
            s->lower.at[k].broken = k == i ? broken : 0;
        for (uint32_t k = i; k < end; k++)
            s->lower.at[k].is_protected = broken > 0;
        count += broken > 0 ? end - i : 0;
    }
    return count;
}

/* ---- one node ---- */

static void take_off(struct search *s)
{
    for (uint32_t i = 0; i < s->lower.count; i++)
        evaluate_row_without(s->e, s->copy, s->lower.at[i].pod);
}

static void put_back(struct search *s, const struct lower_pods *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        evaluate_row_with(s->e, s->copy, list->at[i].pod);
}

static bool passes(struct search *s)
{
    evaluate_row(s->e, &s->copy->nodes, 0);
    return s->e->ruling.code == CODE_success;
}

/* Those that cannot be put back are the victims. */
static void reprieve(struct search *s, bool protected_ones)
{
    for (uint32_t i = 0, end; i < s->lower.count; i = end) {
        end = end_of_unit(&s->lower, i);
        if (s->lower.at[i].is_protected != protected_ones)
            continue;
        for (uint32_t k = i; k < end; k++)
            evaluate_row_with(s->e, s->copy, s->lower.at[k].pod);
        if (passes(s))
            continue;
        for (uint32_t k = i; k < end; k++) {
            evaluate_row_without(s->e, s->copy, s->lower.at[k].pod);
            append(s, &s->victims, s->lower.at[k]);
            s->violations += s->lower.at[k].broken;
        }
    }
}

static void choose_victims(struct search *s, struct str node)
{
    s->victims.count = 0;
    s->violations = 0;
    sort(&s->lower);
    uint32_t protected_count = protect(s, node);
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
    const struct node_entry *node = map_get(e->shard->share.by_name, c->node);
    c->others.at = arena_take(e->arena, node->pod_count * sizeof(struct victim));
    for (uint32_t i = 0; i < node->pod_count; i++)
        if (!is_among(victims, node->pods[i]))
            c->others.at[c->others.count++] = victim_of(e, node->pods[i]);
}

static void tell_candidate(struct search *s, struct str node)
{
    struct evaluation *e = s->e;
    const struct lower_pods *victims = &s->victims;
    struct candidate *c = &e->result->dry_run.candidates.at[e->result->dry_run.candidates.count++];
    *c = (struct candidate){.node = node, .violations = s->violations};
    c->victims.at = arena_take(e->arena, victims->count * sizeof(struct victim));
    for (uint32_t i = 0; i < victims->count; i++)
        c->victims.at[c->victims.count++] = victim_of(e, victims->at[i].pod);
    if (e->request->dry_run.others)
        tell_others(e, c, victims);
}

/* Nodes that tie: the first by name, or each with the same chance. */
static bool wins_tie(struct search *s, struct str node)
{
    if (s->e->request->tie_break == TIE_BREAK_first ||
        s->e->request->tie_break == TIE_BREAK_round_robin)
        return str_compare(node, s->best_node) < 0;
    return random_below(&s->dice, (uint64_t)s->ties) == 0;
}

static void compete(struct search *s, uint32_t row, const struct candidate_rank *rank)
{
    struct evaluation *e = s->e;
    struct str node = atom_text(e->cycle.atoms, e->shard->share.nodes.entry[row]->name);
    int order = s->ties == 0 ? -1 : candidate_rank_compare(rank, &s->best_rank);
    if (order > 0)
        return;
    s->ties = order < 0 ? 1 : s->ties + 1;
    if (order == 0 && !wins_tie(s, node))
        return;
    s->best_rank = *rank;
    s->best_row = row;
    s->best_node = node;
}

static struct candidate_rank rank_of(const struct search *s)
{
    struct candidate_rank rank = {.violations = s->violations};
    for (uint32_t i = 0, end; i < s->victims.count; i = end) {
        const struct lower_pod *l = &s->victims.at[i];
        end = end_of_unit(&s->victims, i);
        uint32_t here = end - i;
        uint32_t all = l->whole > 0 && l->size > here ? (uint32_t)l->size : here;
        for (uint32_t k = 0; k < all; k++)
            candidate_rank_add(&rank, l->pod->demand->priority, l->started);
    }
    return rank;
}

/* ---- the share ---- */

static void add_verdict(struct search *s, uint32_t row)
{
    struct evaluation *e = s->e;
    if (e->result->dry_run.verdicts.at == NULL)
        e->result->dry_run.verdicts.at =
            arena_take(e->arena, e->shard->scratch.row_count * sizeof(struct verdict));
    verdict_tell(e, row, &e->result->dry_run.verdicts.at[e->result->dry_run.verdicts.count++]);
}

/* The ruling becomes what the node looks like without its pods of lower priority. */
static void try_without(struct search *s, uint32_t row)
{
    struct evaluation *e = s->e;
    if (s->lower.count == 0) {
        e->ruling.code = CODE_success;
        e->ruling.plugin = NO_PLUGIN;
        e->ruling.count = 0;
        ruling_reject(&e->ruling, CODE_unresolvable, NO_VICTIMS, (struct str){0});
        return;
    }
    row_copy_make(s->copy, &e->shard->share.nodes, row);
    take_off(s);
    if (passes(s))
        return;
    put_back(s, &s->lower);
}

/* Nodes that pass and that an extender turned away, in a sorted list. */
static bool turned_away(const struct evaluation *e, struct str node)
{
    const struct strs *list = &e->request->dry_run.turned_away;
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

/* The ruling says why not; victims and violations are those of a candidate. */
static enum dry_result_kind look_at(struct search *s, uint32_t row)
{
    struct evaluation *e = s->e;
    const struct node_entry *node = e->shard->share.nodes.entry[row];
    evaluate_row(e, &e->shard->share.nodes, row);
    if (e->ruling.code != CODE_unschedulable &&
        (e->ruling.code != CODE_success || !turned_away(e, atom_text(e->cycle.atoms, node->name))))
        return DRY_beside;
    find_lower(s, node);
    try_without(s, row);
    if (e->ruling.code == CODE_error)
        return DRY_failed;
    if (e->ruling.code != CODE_success)
        return DRY_rejected;
    choose_victims(s, atom_text(e->cycle.atoms, node->name));
    e->ruling.code = CODE_success; /* with everybody back, which upstream calls an error */
    e->ruling.count = 0;
    return s->victims.count > 0 ? DRY_candidate : DRY_failed;
}

static void take_result(struct search *s, uint32_t row, enum dry_result_kind kind)
{
    struct evaluation *e = s->e;
    bool detail = e->request->detail;
    e->result->dry_run.nodes += kind != DRY_beside;
    e->result->dry_run.fits += kind == DRY_candidate;
    if (kind == DRY_failed || (kind == DRY_rejected && detail))
        add_verdict(s, row);
    if (kind == DRY_rejected)
        reasons_add(e, &e->reasons, &e->ruling);
    if (kind != DRY_candidate)
        return;
    const struct candidate_rank rank = rank_of(s);
    if (detail || e->request->dry_run.others)
        tell_candidate(s, atom_text(e->cycle.atoms, e->shard->share.nodes.entry[row]->name));
    else
        compete(s, row, &rank);
}

/* ---- results that are kept ---- */

/* The pod's own claim does not count for it, but for others like it. */
static uint32_t own_row(const struct evaluation *e)
{
    const struct node_pod *own = share_nominated_find(&e->shard->share, e->request->pod.uid);
    return own != NULL ? own->node->row : NO_ROW;
}

/* Who has not started is younger than all others, whatever the time is; unless a clock lags. */
static bool is_timeless(const struct search *s)
{
    for (uint32_t i = 0; i < s->lower.count; i++)
        if (s->lower.at[i].pod->started != 0 &&
            s->lower.at[i].pod->started >= s->e->request->dry_run.now_us)
            return false;
    return true;
}

static void keep(struct search *s, struct dry_result *found, enum dry_result_kind kind)
{
    found->kind = DRY_unknown;
    if (kind == DRY_failed ||
        (kind == DRY_rejected && !dry_results_reject(s->results, &s->e->ruling, found)) ||
        (kind == DRY_candidate && !is_timeless(s)))
        return;
    found->kind = (uint8_t)kind;
    if (kind != DRY_candidate)
        return;
    found->rank = rank_of(s);
    found->present = found->rank.earliest == s->e->request->dry_run.now_us;
}

static void take_kept(struct search *s, uint32_t row, struct dry_result *found)
{
    struct evaluation *e = s->e;
    e->result->dry_run.nodes += found->kind != DRY_beside;
    e->result->dry_run.fits += found->kind == DRY_candidate;
    if (found->kind == DRY_rejected)
        reasons_add(e, &e->reasons, dry_results_ruling(s->results, found));
    if (found->kind != DRY_candidate)
        return;
    if (found->present)
        found->rank.earliest = e->request->dry_run.now_us;
    compete(s, row, &found->rank);
}

static void try_row(struct search *s, uint32_t row, uint32_t own)
{
    struct dry_result *found = s->kept != NULL && row != own ? &s->kept[row] : NULL;
    enum dry_result_kind kind = DRY_unknown;
    if (found == NULL || found->kind == DRY_unknown) {
        kind = look_at(s, row);
        s->e->shard->dry_run_rows++;
    }
    if (found != NULL && found->kind == DRY_unknown)
        keep(s, found, kind);
    if (found != NULL && found->kind != DRY_unknown)
        take_kept(s, row, found);
    else
        take_result(s, row, kind);
}

void dry_run(struct evaluation *e)
{
    struct search s = {
        .e = e, .copy = &e->shard->scratch.copy, .dice = {(uint64_t)e->request->seed}};
    uint32_t rows = e->shard->scratch.row_count, own = own_row(e);
    e->result->dry_run.candidates.at =
        arena_take(e->arena, (e->request->detail || e->request->dry_run.others ? rows : 1) *
                                 sizeof(struct candidate));
    find_guards(&s);
    find_wholes(&s);
    s.kept = dry_results_for(e, &s.results);
    for (uint32_t i = 0; i < rows; i++)
        try_row(&s, e->shard->scratch.rows[i], own);
    if (s.ties > 0) {
        (void)look_at(&s, s.best_row); /* for its victims */
        tell_candidate(&s, s.best_node);
        e->result->dry_run.candidates.at[0].ties = s.ties;
    }
    reasons_tell(e, &e->reasons, &e->result->dry_run.reasons.count, &e->result->dry_run.reasons.at);
}
