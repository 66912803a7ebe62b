/* PodTopologySpread spreads pods over domains, sets of nodes with the same value of a label: hard
 * constraints reject nodes whose domain is too far above the emptiest one, soft ones score the
 * fuller domains lower.
 *
 * Counted are pods of the pod's namespace that the constraint's selector matches and that are not
 * terminating, on nodes that the constraint includes. Slot i of the counts is the pod's constraint
 * i, its values are domains; a domain without pods exists with 0. Value 0 is the domain of nodes
 * with an empty label or, where soft constraints allow it, with none. A soft constraint on
 * kubernetes.io/hostname counts no domains: it scores a node by its own pods.
 *
 * What must stay true: an empty selector counts no pods, but a pod that comes or goes in a what-if
 * moves its count, terminating or not; both are upstream's. */
#include "proto/kube/objects/selector.h"
#include "scheduler/rules/node_selector.h"
#include "scheduler/rules/spread_constraints.h"
#include "scheduler/rules/tolerations.h"
#include "scheduler/table/label_matcher.h"
#include "scheduler/table/logarithm.h"
#include "scheduler/table/wrap.h"

#include <math.h>

#define MISMATCH "node(s) didn't match pod topology spread constraints"

/* A constraint as this worker sees it. */
struct constraint {
    bool hard, soft; /* neither: ignored */
    bool by_node;    /* soft, on the hostname */
    bool honours_affinity, honours_taints;
    int32_t max_skew;
    int64_t min_domains;
    uint32_t key; /* atom */
    const struct label_matcher *matcher;
    const int64_t *pods; /* by row: those that it wants; where they are counted */
    /* filter */
    bool matches_itself;
    uint32_t domains;
    int64_t least, next; /* smallest count, and smallest of all other domains */
    uint32_t least_value;
    int64_t moved; /* what-if: by how much the row's domain has more */
    /* score */
    int64_t size; /* domains of feasible nodes, or those nodes themselves */
    double weight;
};

struct spreading {
    uint32_t count; /* those of the pod, in its order */
    struct constraint *at;
    uint32_t space, empty; /* atoms of the pod's namespace and of "" */
    bool soft_needs_keys;
    const struct required_affinity *affinity;
    const struct tolerations *tolerations;
    const struct counts *counts;
};

const struct plugin plugin_pod_topology_spread;

/* ---- in the coordinator ---- */

static bool has_any(const struct pod *pod, bool (*kind)(const struct spread_constraint *))
{
    for (uint32_t i = 0; i < pod->spread.count; i++)
        if (kind(&pod->spread.at[i]))
            return true;
    return false;
}

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    struct buffer fault = {0};
    out->skip = !has_any(q->prepared, spread_constraint_is_hard);
    if (!spread_constraints_check(q->pod, true, &fault)) {
        out->code = CODE_error;
        out->reason = arena_print(q->arena,
                                  "get constraints from pod: obtaining pod's hard topology spread "
                                  "constraints: %.*s",
                                  STR_ARG(buffer_str(&fault)));
    }
    buffer_free(&fault);
}

static bool counts_pods(const struct framework *fw, const struct pod *pod,
                        const struct findings *findings)
{
    (void)fw;
    (void)findings;
    return pod->spread.count > 0;
}

/* ---- what does not depend on a node ---- */

static void compile_one(const struct cycle *c, const struct spread_constraint *from,
                        struct constraint *out)
{
    *out = (struct constraint){
        .hard = spread_constraint_is_hard(from),
        .soft = spread_constraint_is_soft(from),
        .honours_affinity =
            from->node_affinity_policy.len == 0 || str_is(from->node_affinity_policy, "Honor"),
        .honours_taints = str_is(from->node_taints_policy, "Honor"),
        .max_skew = (int32_t)from->max_skew,
        .min_domains = from->min_domains == 0 ? 1 : from->min_domains,
        .key = atom_find(c->atoms, from->topology_key),
        .matcher = label_matcher_find(c->atoms, &from->selector, c->arena),
    };
    out->by_node = out->soft && str_is(from->topology_key, "kubernetes.io/hostname");
}

static struct spreading *compile(const struct cycle *c)
{
    struct spreading *s = arena_take(c->arena, sizeof(*s));
    s->count = c->pod->spread.count;
    s->at = arena_take(c->arena, s->count * sizeof(*s->at));
    for (uint32_t i = 0; i < s->count; i++)
        compile_one(c, &c->pod->spread.at[i], &s->at[i]);
    s->space = atom_find(c->atoms, c->pod->namespace_name);
    s->empty = atom_find(c->atoms, (struct str){0});
    s->soft_needs_keys = c->findings->spread_needs_all_keys;
    s->affinity = required_affinity_make(c);
    s->tolerations = tolerations_make(c);
    s->counts = cycle_counts(c, &plugin_pod_topology_spread);
    return s;
}

/* ---- nodes and domains ---- */

/* Whether the node has the keys of all hard constraints, or of all soft ones. */
static bool has_keys(const struct spreading *s, const struct node_entry *node, bool hard)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct constraint *k = &s->at[i];
        if ((hard ? k->hard : k->soft) && node_label_value(node, k->key) == 0)
            return false;
    }
    return true;
}

/* Nodes that soft constraints leave out: they score nothing and their pods do not count. */
static bool soft_ignores(const struct spreading *s, const struct node_entry *node)
{
    return s->soft_needs_keys && !has_keys(s, node, false);
}

/* The domain as counts know it, for a label's value or 0. */
static uint32_t domain_of(const struct spreading *s, uint32_t value)
{
    return value == s->empty ? 0 : value;
}

static bool includes(const struct cycle *c, const struct spreading *s, const struct constraint *k,
                     const struct node_entry *node)
{
    return (!k->honours_affinity || required_affinity_matches(c->atoms, s->affinity, node)) &&
           (!k->honours_taints || tolerations_admit(s->tolerations, node));
}

/* ---- counting ---- */

/* By row: how many of its pods the constraint wants. */
static int64_t *count_pods(const struct cycle *c, const struct spreading *s,
                           const struct constraint *k)
{
    int64_t *by_row = arena_take(c->arena, c->nodes->count * sizeof(*by_row));
    struct group_walk walk = pod_groups_walk(c->groups, k->matcher);
    const struct pod_group *group;
    while (!label_matcher_is_empty(k->matcher) && (group = group_walk_next(&walk)) != NULL)
        if (group->namespace_name == s->space &&
            label_matcher_matches(k->matcher, group->labels, group->label_count))
            pod_group_count(group, false, by_row);
    return by_row;
}

static void count_node(const struct cycle *c, const struct spreading *s, uint32_t row,
                       struct counts *out)
{
    const struct node_entry *node = c->nodes->entry[row];
    bool hard = has_keys(s, node, true), soft = !soft_ignores(s, node);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct constraint *k = &s->at[i];
        if (((k->hard && hard) || (k->soft && soft && !k->by_node)) && includes(c, s, k, node))
            counts_add(out, i, 0, domain_of(s, node_label_value(node, k->key)), k->pods[row]);
    }
}

static void count(const struct cycle *c, struct counts *out)
{
    struct spreading *s = compile(c);
    for (uint32_t i = 0; i < s->count; i++)
        if (!s->at[i].by_node)
            s->at[i].pods = count_pods(c, s, &s->at[i]);
    for (uint32_t row = 0; row < c->nodes->count; row++)
        count_node(c, s, row, out);
}

/* ---- filter ---- */

static void add_domain(struct constraint *k, const struct count_entry *e)
{
    k->domains++;
    if (e->count < k->least) {
        k->next = k->least;
        k->least = e->count;
        k->least_value = e->value;
    } else if (e->count < k->next) {
        k->next = e->count;
    }
}

static void look_for_itself(const struct cycle *c, struct spreading *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->at[i].matches_itself = label_selector_matches(&c->pod->spread.at[i].selector,
                                                         c->pod->labels.at, c->pod->labels.count);
}

static void add_domains(struct spreading *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct constraint *k = &s->at[i];
        k->domains = k->least_value = 0;
        k->least = k->next = INT32_MAX; /* as upstream where there is no domain */
    }
    uint32_t at = 0;
    struct count_entry e;
    while (s->counts != NULL && counts_next(s->counts, &at, &e))
        if (e.slot < s->count && e.key != COUNTS_OWN)
            add_domain(&s->at[e.slot], &e);
}

static void *filter_begin(const struct cycle *c)
{
    struct spreading *s = compile(c);
    look_for_itself(c, s);
    add_domains(s);
    return s;
}

/* By how much the row's domain would be above the emptiest one with the pod in it. */
static int64_t skew_of(const struct spreading *s, const struct constraint *k, uint32_t domain)
{
    int64_t own, least = k->least;
    if (counts_get(s->counts, (uint32_t)(k - s->at), 0, domain, &own)) {
        own = wrap_add(own, k->moved);
        if (domain == k->least_value)
            least = k->next;
        if (own < least)
            least = own;
    }
    if (k->domains < k->min_domains)
        least = 0;
    return wrap_sub(wrap_add(own, k->matches_itself), least);
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    const struct spreading *s = state;
    const struct node_entry *node = n->entry[row];
    for (uint32_t i = 0; i < s->count; i++) {
        const struct constraint *k = &s->at[i];
        if (!k->hard)
            continue;
        uint32_t value = node_label_value(node, k->key);
        if (value == 0) {
            ruling_reject(out, CODE_unresolvable, MISMATCH " (missing required label)",
                          (struct str){0});
            return;
        }
        if (skew_of(s, k, domain_of(s, value)) > k->max_skew) {
            ruling_reject(out, CODE_unschedulable, MISMATCH, (struct str){0});
            return;
        }
    }
}

static void what_if(const struct cycle *c, void *state, const struct node_entry *node,
                    const struct node_pod *pod, int times)
{
    struct spreading *s = state;
    if (pod->group->namespace_name != s->space || !has_keys(s, node, true))
        return;
    for (uint32_t i = 0; i < s->count; i++) {
        struct constraint *k = &s->at[i];
        if (k->hard &&
            label_matcher_matches(k->matcher, pod->group->labels, pod->group->label_count) &&
            includes(c, s, k, node))
            k->moved += times;
    }
}

/* ---- score ---- */

static bool score_skips(const struct cycle *c)
{
    return !has_any(c->pod, spread_constraint_is_soft);
}

static void pre_score(struct cycle *c)
{
    struct buffer fault = {0};
    if (!spread_constraints_check(c->pod, false, &fault))
        c->error = arena_print(c->arena,
                               "running PreScore plugin \"PodTopologySpread\": calculating "
                               "preScoreState: obtaining pod's soft topology spread constraints: "
                               "%.*s",
                               STR_ARG(buffer_str(&fault)));
    buffer_free(&fault);
}

/* Which domains there are among the feasible nodes, as entries of 0, so that shares that see the
 * same domains say the same; and how many nodes where each is a domain of its own. */
static void survey(const struct cycle *c, const uint32_t *rows, uint32_t row_count,
                   struct counts *out)
{
    const struct spreading *s = compile(c);
    for (uint32_t r = 0; r < row_count; r++) {
        const struct node_entry *node = c->nodes->entry[rows[r]];
        if (soft_ignores(s, node))
            continue;
        for (uint32_t i = 0; i < s->count; i++) {
            const struct constraint *k = &s->at[i];
            if (k->by_node)
                counts_add(out, i, 0, 0, 1);
            else if (k->soft)
                counts_add(out, i, 0, domain_of(s, node_label_value(node, k->key)), 0);
        }
    }
}

static void weigh(struct spreading *s, const struct counts *seen)
{
    uint32_t at = 0;
    struct count_entry e;
    for (uint32_t i = 0; i < s->count; i++)
        s->at[i].size = 0;
    while (seen != NULL && counts_next(seen, &at, &e))
        if (e.slot < s->count)
            s->at[e.slot].size = wrap_add(s->at[e.slot].size, s->at[e.slot].by_node ? e.count : 1);
    for (uint32_t i = 0; i < s->count; i++)
        s->at[i].weight = logarithm((double)wrap_add(s->at[i].size, 2));
}

static void *score_begin(const struct cycle *c)
{
    struct spreading *s = compile(c);
    weigh(s, cycle_survey(c, &plugin_pod_topology_spread));
    for (uint32_t i = 0; i < s->count; i++)
        if (s->at[i].by_node)
            s->at[i].pods = count_pods(c, s, &s->at[i]);
    return s;
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    const struct spreading *s = state;
    const struct node_entry *node = n->entry[row];
    double sum = 0;
    if (soft_ignores(s, node))
        return SCORE_IGNORED;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct constraint *k = &s->at[i];
        uint32_t value = k->soft ? node_label_value(node, k->key) : 0;
        int64_t pods = 0;
        if (value == 0)
            continue;
        if (k->by_node && k->pods != NULL && !c->bare)
            pods = k->pods[row];
        else if (!k->by_node || !c->bare)
            counts_get(s->counts, i, k->by_node ? COUNTS_OWN : 0,
                       k->by_node ? node->name : domain_of(s, value), &pods);
        sum += (double)pods * k->weight + (double)(int32_t)((uint32_t)k->max_skew - 1);
    }
    return cut_to_i64(round(sum));
}

/* The emptier the better: the least raw score becomes 100, the greatest what the least is of it. */
static int64_t normalise_own(int64_t raw, const struct score_range *range)
{
    if (range->greatest <= 0)
        return SCORE_MAX;
    return wrap_mul(SCORE_MAX, wrap_sub(wrap_add(range->greatest, range->least), raw)) /
           range->greatest;
}

/* ---- kept from pod to pod ---- */

/* The nodes' own counts of by_node constraints stand among the others, with the node's name for
 * the domain; nobody else reads their slot. */
static void keep_begin(const struct cycle *c, struct counts *counts, struct kept_states *out)
{
    struct spreading *s = compile(c);
    look_for_itself(c, s);
    s->counts = counts;
    out->filter = out->score = s;
}

static void keep_all_rows(const struct cycle *c, struct kept_states *states)
{
    struct spreading *s = states->filter;
    for (uint32_t i = 0; i < s->count; i++)
        s->at[i].pods = count_pods(c, s, &s->at[i]);
}

static void keep_all_rows_end(struct kept_states *states)
{
    struct spreading *s = states->filter;
    for (uint32_t i = 0; i < s->count; i++)
        s->at[i].pods = NULL;
}

static int64_t pods_on(const struct spreading *s, const struct constraint *k,
                       const struct node_entry *node)
{
    int64_t count = 0;
    if (k->pods != NULL)
        return k->pods[node->row];
    for (uint32_t i = 0; !label_matcher_is_empty(k->matcher) && i < node->pod_count; i++) {
        const struct node_pod *pod = node->pods[i];
        count += pod->group->namespace_name == s->space && !pod->deleting &&
                 label_matcher_matches(k->matcher, pod->group->labels, pod->group->label_count);
    }
    return count;
}

static void keep_row(const struct cycle *c, const struct kept_states *states, uint32_t row,
                     struct entries *out)
{
    const struct spreading *s = states->filter;
    const struct node_entry *node = c->nodes->entry[row];
    bool hard = has_keys(s, node, true), soft = !soft_ignores(s, node);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct constraint *k = &s->at[i];
        bool counted =
            ((k->hard && hard) || (k->soft && soft && !k->by_node)) && includes(c, s, k, node);
        int64_t pods = k->by_node || counted ? pods_on(s, k, node) : 0;
        if (counted)
            entries_add(out, i, 0, domain_of(s, node_label_value(node, k->key)), pods);
        else if (pods > 0)
            entries_add(out, i, COUNTS_OWN, node->name, pods);
    }
}

/* Which domain is the emptiest matters to nobody while no pod is tried elsewhere; how empty it is
 * matters to all. */
static void counts_outlook(const struct cycle *c, struct kept_states *states,
                           const struct entries *changed, struct outlook *out)
{
    (void)changed;
    struct spreading *s = states->filter;
    if (!has_any(c->pod, spread_constraint_is_hard))
        return;
    add_domains(s);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct constraint *k = &s->at[i];
        if (k->hard)
            outlook_add(out, k->domains < k->min_domains ? 0 : k->least);
    }
}

static void survey_row(const struct cycle *c, const struct kept_states *states, uint32_t row,
                       struct entries *out)
{
    const struct spreading *s = states->score;
    const struct node_entry *node = c->nodes->entry[row];
    for (uint32_t i = 0; i < s->count && !soft_ignores(s, node); i++) {
        const struct constraint *k = &s->at[i];
        if (k->by_node)
            entries_add(out, i, 0, 0, 1);
        else if (k->soft)
            entries_add(out, i, 0, domain_of(s, node_label_value(node, k->key)), 0);
    }
}

static void score_outlook(const struct cycle *c, struct kept_states *states,
                          const struct counts *survey, struct outlook *out)
{
    (void)c;
    struct spreading *s = states->score;
    weigh(s, survey);
    for (uint32_t i = 0; i < s->count; i++)
        outlook_add(out, s->at[i].soft ? s->at[i].size : 0);
}

static uint32_t keep_key(const struct kept_states *states, const struct count_entry *entry)
{
    const struct spreading *s = states->filter;
    if (entry->slot >= s->count)
        return KEEP_ALL;
    if (entry->key == COUNTS_OWN)
        return KEEP_ROW;
    return entry->value == 0 ? KEEP_ALL : s->at[entry->slot].key;
}

static uint32_t keep_keys(const struct kept_states *states, uint32_t *at)
{
    const struct spreading *s = states->filter;
    for (uint32_t i = 0; i < s->count && i < KEEP_KEYS; i++)
        at[i] = s->at[i].by_node ? s->at[i].key | KEEP_PRESENCE : s->at[i].key;
    return s->count;
}

static const struct plugin_keep keep = {
    .begin = keep_begin,
    .all_rows = keep_all_rows,
    .all_rows_end = keep_all_rows_end,
    .row = keep_row,
    .counts_outlook = counts_outlook,
    .survey_row = survey_row,
    .score_outlook = score_outlook,
    .key = keep_key,
    .keys = keep_keys,
};

const struct plugin plugin_pod_topology_spread = {
    .name = "PodTopologySpread",
    .prepare = spread_constraints_prepare,
    .pre_filter = pre_filter,
    .counts = counts_pods,
    .count = count,
    .filter_begin = filter_begin,
    .filter = filter,
    .what_if = what_if,
    .score_skips = score_skips,
    .pre_score = pre_score,
    .survey = survey,
    .score_begin = score_begin,
    .score = score,
    .normalise = NORMALISE_own,
    .normalise_own = normalise_own,
    .keep = &keep,
};
