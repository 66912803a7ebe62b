/* InterPodAffinity keeps pods near to, or away from, the pods they name: in the same zone, on the
 * same node, in any domain that a label of nodes makes. Terms of the pod that comes look at the
 * pods that are there, and terms of those look at the pod that comes.
 *
 * Everything is counted by (topology key, value) over the whole cluster, in four slots: pods whose
 * required anti-affinity wants the pod away; pods that all its required affinity terms want; pods
 * that its required anti-affinity terms want away; and the weights of all preferences. A node is
 * then judged by the entries of its own labels. What must stay true: an entry of the first three
 * slots is never zero, because a pod may be the first of its kind only where the second slot is
 * empty. */
#include "scheduler/rules/affinity_terms.h"
#include "scheduler/rules/plugin.h"
#include "scheduler/table/pod_terms.h"
#include "scheduler/table/wrap.h"

#include <stdlib.h>
#include <string.h>

enum slot { SLOT_existing, SLOT_affinity, SLOT_anti, SLOT_filters, SLOT_score = SLOT_filters };

/* ---- PreFilter ---- */

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    struct buffer errors = {0};
    affinity_terms_check(q->pod, &errors);
    if (errors.len > 0) {
        out->code = CODE_unresolvable;
        out->reason = arena_print(q->arena, "parsing pod: %s", errors.at);
    }
    buffer_free(&errors);
}

/* ---- counting ---- */

/* The terms of the pod that comes, and itself as other pods' terms see it. */
struct asker {
    struct pod_term_list of[TERM_KINDS];
    struct term_subject self;
};

static struct asker *asker_make(const struct cycle *c)
{
    struct asker *a = arena_take(c->arena, sizeof(*a));
    for (enum term_kind kind = 0; kind < TERM_KINDS; kind++) {
        uint32_t count;
        const struct affinity_term *at = pod_terms_of(c->pod, kind, &count);
        a->of[kind] = pod_terms_find(c->atoms, at, count, c->arena);
    }
    a->self = term_subject_find(c->atoms, c->pod, c->findings, c->arena);
    return a;
}

static uint32_t wishes(const struct pod *pod)
{
    return pod->affinity_preferred.count + pod->anti_affinity_preferred.count;
}

static uint32_t demands(const struct pod *pod)
{
    return pod->affinity_required.count + pod->anti_affinity_required.count;
}

static bool counts(const struct framework *fw, const struct pod *pod,
                   const struct findings *findings)
{
    (void)fw;
    return !findings->no_terms || wishes(pod) > 0 || demands(pod) > 0;
}

static uint32_t value_on(const struct node_entry *node, uint32_t key)
{
    return key == 0 ? 0 : label_value(node->labels, node->label_count, key);
}

static void count_pair(struct counts *out, enum slot slot, const struct node_entry *node,
                       uint32_t key, int64_t more)
{
    uint32_t value = value_on(node, key);
    if (value != 0)
        counts_add(out, slot, key, value, more);
}

/* The term of pods that are there wants the pod that comes: that counts where they are. */
static void count_holders(const struct pod_terms *holders, const struct pod_term *term,
                          enum slot slot, int64_t more, struct counts *out)
{
    for (uint32_t i = 0; i < holders->pod_count; i++)
        if (holders->pods[i]->node->row != NO_ROW)
            count_pair(out, slot, holders->pods[i]->node, term->topology_key, more);
}

static void count_wishes(const struct pod_terms *holders, enum term_kind kind, int64_t factor,
                         const struct asker *a, struct counts *out)
{
    const struct pod_term_list *list = &holders->of[kind];
    for (uint32_t i = 0; i < list->count; i++)
        if (pod_term_matches(&list->at[i], &a->self))
            count_holders(holders, &list->at[i], SLOT_score, wrap_mul(list->at[i].weight, factor),
                          out);
}

/* Upstream's hard pod affinity weight: required affinity is a wish of those that have it. */
static void count_required(const struct pod_terms *holders, int64_t weight, const struct asker *a,
                           struct counts *out)
{
    const struct pod_term_list *list = &holders->of[TERMS_affinity_required];
    for (uint32_t i = 0; i < list->count && weight > 0; i++)
        if (pod_term_matches(&list->at[i], &a->self))
            count_holders(holders, &list->at[i], SLOT_score, weight, out);
}

static void count_existing(const struct cycle *c, const struct asker *a, struct counts *out)
{
    const struct profile *profile = &c->framework->profile;
    bool scores = !profile->ignore_preferred_of_existing || wishes(c->pod) > 0;
    for (uint32_t i = 0; i < c->terms->count; i++) {
        const struct pod_terms *holders = c->terms->at[i];
        const struct pod_term_list *anti = &holders->of[TERMS_anti_required];
        for (uint32_t k = 0; k < anti->count; k++)
            if (pod_term_matches(&anti->at[k], &a->self))
                count_holders(holders, &anti->at[k], SLOT_existing, 1, out);
        if (!scores)
            continue;
        count_required(holders, profile->hard_affinity_weight, a, out);
        count_wishes(holders, TERMS_affinity_preferred, 1, a, out);
        count_wishes(holders, TERMS_anti_preferred, -1, a, out);
    }
}

static bool all_match(const struct pod_term_list *terms, const struct term_subject *s)
{
    for (uint32_t i = 0; i < terms->count; i++)
        if (!pod_term_matches(&terms->at[i], s))
            return false;
    return terms->count > 0;
}

/* True when the group's pods count for the term: a required affinity term wants those that all
 * such terms want. */
static bool wants_group(const struct asker *a, enum term_kind kind, uint32_t term,
                        const struct pod_group *group)
{
    const struct term_subject s = {.namespace_name = group->namespace_name,
                                   .label_count = group->label_count,
                                   .labels = group->labels};
    return kind == TERMS_affinity_required ? all_match(&a->of[kind], &s)
                                           : pod_term_matches(&a->of[kind].at[term], &s);
}

/* Where pods that a term of the pod wants are counted. */
static enum slot slot_of(enum term_kind kind)
{
    static const enum slot slots[] = {[TERMS_affinity_required] = SLOT_affinity,
                                      [TERMS_affinity_preferred] = SLOT_score,
                                      [TERMS_anti_required] = SLOT_anti,
                                      [TERMS_anti_preferred] = SLOT_score};
    return slots[kind];
}

/* What each of them counts. */
static int64_t each_of(enum term_kind kind, const struct pod_term *term)
{
    if (slot_of(kind) != SLOT_score)
        return 1;
    return kind == TERMS_anti_preferred ? wrap_sub(0, term->weight) : term->weight;
}

static void count_term(const struct cycle *c, const struct asker *a, enum term_kind kind,
                       uint32_t term, struct counts *out)
{
    const struct pod_term *t = &a->of[kind].at[term];
    int64_t *by_row = NULL;
    struct group_walk walk = pod_groups_walk(c->groups, t->matcher);
    const struct pod_group *group;
    while ((group = group_walk_next(&walk)) != NULL) {
        if (group->pod_count == 0 || !wants_group(a, kind, term, group))
            continue;
        if (by_row == NULL)
            by_row = arena_take(c->arena, c->nodes->count * sizeof(*by_row));
        pod_group_count(group, true, by_row);
    }
    for (uint32_t row = 0; by_row != NULL && row < c->nodes->count; row++)
        if (by_row[row] > 0)
            count_pair(out, slot_of(kind), c->nodes->entry[row], t->topology_key,
                       wrap_mul(by_row[row], each_of(kind, t)));
}

static void count_incoming(const struct cycle *c, const struct asker *a, struct counts *out)
{
    for (enum term_kind kind = 0; kind < TERM_KINDS; kind++)
        for (uint32_t i = 0; i < a->of[kind].count; i++)
            if (a->of[kind].at[i].topology_key != 0)
                count_term(c, a, kind, i, out);
}

static void count(const struct cycle *c, struct counts *out)
{
    const struct asker *a = asker_make(c);
    count_existing(c, a, out);
    count_incoming(c, a, out);
}

/* ---- Filter ---- */

/* A cycle's counts, which what_if changes. */
struct judge {
    struct asker *asker;
    struct counts *counts;
    uint32_t entries[SLOT_filters];
    uint32_t key_count, key_room;
    uint32_t *keys; /* the topology keys in SLOT_existing */
    bool wants_itself;
    uint8_t *marks; /* by row, while all are kept: 0 counts for nothing; else NULL */
    struct arena *arena;
};

static void need_key(struct judge *j, uint32_t key)
{
    for (uint32_t i = 0; i < j->key_count; i++)
        if (j->keys[i] == key)
            return;
    if (j->key_count == j->key_room) {
        j->key_room = j->key_room == 0 ? 4 : j->key_room * 2;
        uint32_t *more = arena_take(j->arena, j->key_room * sizeof(*more));
        if (j->key_count > 0)
            memcpy(more, j->keys, j->key_count * sizeof(*more));
        j->keys = more;
    }
    j->keys[j->key_count++] = key;
}

static void add_entry(struct judge *j, enum slot slot, uint32_t key, uint32_t value, int64_t count)
{
    counts_add(j->counts, slot, key, value, count);
    j->entries[slot]++;
    if (slot == SLOT_existing && !counts_is_foreign(key))
        need_key(j, key);
}

const struct plugin plugin_inter_pod_affinity;

static void *filter_begin(const struct cycle *c)
{
    struct judge *j = arena_take(c->arena, sizeof(*j));
    const struct counts *all = cycle_counts(c, &plugin_inter_pod_affinity);
    if (all == NULL)
        return j; /* nothing counts: filter_skips, whoever the pod is */
    j->arena = c->arena;
    j->asker = asker_make(c);
    j->counts = counts_new(c->arena);
    uint32_t at = 0;
    struct count_entry e;
    while (counts_next(all, &at, &e))
        if (e.slot < SLOT_filters && e.count != 0)
            add_entry(j, e.slot, e.key, e.value, e.count);
    j->wants_itself = affinity_terms_want_itself(c->pod);
    return j;
}

static bool filter_skips(const struct cycle *c, const void *state)
{
    const struct judge *j = state;
    return j->entries[SLOT_existing] == 0 && demands(c->pod) == 0;
}

static int64_t count_on(const struct judge *j, enum slot slot, uint32_t key, uint32_t value)
{
    int64_t count;
    (void)counts_get(j->counts, slot, key, value, &count);
    return count;
}

static bool affinity_holds(const struct judge *j, const struct node_entry *node)
{
    const struct pod_term_list *terms = &j->asker->of[TERMS_affinity_required];
    bool pods_there = true;
    for (uint32_t i = 0; i < terms->count; i++) {
        uint32_t value = value_on(node, terms->at[i].topology_key);
        if (value == 0)
            return false;
        pods_there &= count_on(j, SLOT_affinity, terms->at[i].topology_key, value) > 0;
    }
    return pods_there || (j->entries[SLOT_affinity] == 0 && j->wants_itself);
}

static bool anti_affinity_holds(const struct judge *j, const struct node_entry *node)
{
    const struct pod_term_list *terms = &j->asker->of[TERMS_anti_required];
    for (uint32_t i = 0; i < terms->count && j->entries[SLOT_anti] > 0; i++) {
        uint32_t value = value_on(node, terms->at[i].topology_key);
        if (value != 0 && count_on(j, SLOT_anti, terms->at[i].topology_key, value) > 0)
            return false;
    }
    return true;
}

static bool existing_agree(const struct judge *j, const struct node_entry *node)
{
    for (uint32_t i = 0; i < j->key_count && j->entries[SLOT_existing] > 0; i++) {
        uint32_t value = value_on(node, j->keys[i]);
        if (value != 0 && count_on(j, SLOT_existing, j->keys[i], value) > 0)
            return false;
    }
    return true;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    (void)c;
    const struct judge *j = state;
    const struct node_entry *node = n->entry[row];
    if (!affinity_holds(j, node))
        ruling_reject(out, CODE_unresolvable, "node(s) didn't match pod affinity rules",
                      (struct str){0});
    else if (!anti_affinity_holds(j, node))
        ruling_reject(out, CODE_unschedulable, "node(s) didn't match pod anti-affinity rules",
                      (struct str){0});
    else if (!existing_agree(j, node))
        ruling_reject(out, CODE_unschedulable,
                      "node(s) didn't satisfy existing pods anti-affinity rules", (struct str){0});
}

static void change(struct judge *j, enum slot slot, const struct node_entry *node, uint32_t key,
                   int times)
{
    int64_t count;
    uint32_t value = value_on(node, key);
    if (value == 0)
        return;
    if (!counts_get(j->counts, slot, key, value, &count)) {
        add_entry(j, slot, key, value, times);
    } else if (count + times == 0) {
        counts_remove(j->counts, slot, key, value);
        j->entries[slot]--;
    } else {
        counts_add(j->counts, slot, key, value, times);
    }
}

static void what_if(const struct cycle *c, void *state, const struct node_entry *node,
                    const struct node_pod *pod, int times)
{
    (void)c;
    struct judge *j = state;
    const struct term_subject s = term_subject_of(pod);
    const struct pod_term_list *affinity = &j->asker->of[TERMS_affinity_required];
    const struct pod_term_list *anti = &j->asker->of[TERMS_anti_required];
    for (uint32_t i = 0; pod->terms != NULL && i < pod->terms->of[TERMS_anti_required].count; i++) {
        const struct pod_term *term = &pod->terms->of[TERMS_anti_required].at[i];
        if (pod_term_matches(term, &j->asker->self))
            change(j, SLOT_existing, node, term->topology_key, times);
    }
    bool all = all_match(affinity, &s);
    for (uint32_t i = 0; all && i < affinity->count; i++)
        change(j, SLOT_affinity, node, affinity->at[i].topology_key, times);
    for (uint32_t i = 0; i < anti->count; i++)
        if (pod_term_matches(&anti->at[i], &s))
            change(j, SLOT_anti, node, anti->at[i].topology_key, times);
}

/* ---- Score ---- */

struct sums {
    const struct counts *counts;
    uint32_t key_count, key_room;
    uint32_t *keys; /* the topology keys in SLOT_score that nodes of this worker may have */
};

/* Upstream's Skip: no preference touched any domain, though their sum may well be zero. */
static bool score_skips(const struct cycle *c)
{
    const struct counts *all = cycle_counts(c, &plugin_inter_pod_affinity);
    return all == NULL || counts_in_slot(all, SLOT_score) == 0;
}

/* Only where the profile does not run PreFilter can a selector in error come this far. */
static void pre_score(struct cycle *c)
{
    struct buffer errors = {0};
    if (!c->framework->profile.ignore_preferred_of_existing || wishes(c->pod) > 0)
        affinity_terms_check(c->pod, &errors);
    if (errors.len > 0)
        c->error = arena_print(
            c->arena, "running PreScore plugin \"InterPodAffinity\": failed to parse pod: %s",
            errors.at);
    buffer_free(&errors);
}

static int compare_keys(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void *score_begin(const struct cycle *c)
{
    struct sums *s = arena_take(c->arena, sizeof(*s));
    s->counts = cycle_counts(c, &plugin_inter_pod_affinity);
    if (s->counts == NULL)
        return s;
    uint32_t at = 0, kept = 0;
    struct count_entry e;
    s->keys = arena_take(c->arena, counts_size(s->counts) * sizeof(*s->keys));
    while (counts_next(s->counts, &at, &e))
        if (e.slot == SLOT_score && !counts_is_foreign(e.key))
            s->keys[s->key_count++] = e.key;
    qsort(s->keys, s->key_count, sizeof(*s->keys), compare_keys);
    for (uint32_t i = 0; i < s->key_count; i++)
        if (kept == 0 || s->keys[kept - 1] != s->keys[i])
            s->keys[kept++] = s->keys[i];
    s->key_count = kept;
    return s;
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    const struct sums *s = state;
    int64_t sum = 0, count;
    for (uint32_t i = 0; i < s->key_count; i++) {
        uint32_t value = value_on(n->entry[row], s->keys[i]);
        if (value != 0 && counts_get(s->counts, SLOT_score, s->keys[i], value, &count))
            sum = wrap_add(sum, count);
    }
    return sum;
}

/* Upstream's arithmetic, in its order. */
static int64_t normalise_own(int64_t raw, const struct score_range *range)
{
    int64_t width = wrap_sub(range->greatest, range->least);
    if (width <= 0)
        return 0;
    double share = (double)wrap_sub(raw, range->least) / (double)width;
    return (int64_t)((double)SCORE_MAX * share);
}

/* ---- kept from pod to pod ---- */

static void keep_begin(const struct cycle *c, struct counts *counts_kept, struct kept_states *out)
{
    struct judge *j = arena_take(c->arena, sizeof(*j));
    struct sums *s = arena_take(c->arena, sizeof(*s));
    j->arena = c->arena;
    j->asker = asker_make(c);
    j->counts = counts_kept;
    j->wants_itself = affinity_terms_want_itself(c->pod);
    s->counts = counts_kept;
    *out = (struct kept_states){j, s};
}

/* What one pod on the node asks of the pod that comes. */
static void keep_wishes(const struct cycle *c, const struct asker *a, const struct node_pod *pod,
                        struct entries *out)
{
    const struct profile *profile = &c->framework->profile;
    bool scores = !profile->ignore_preferred_of_existing || wishes(c->pod) > 0;
    const int64_t factors[TERM_KINDS] = {
        [TERMS_affinity_preferred] = 1, [TERMS_anti_preferred] = -1};
    for (enum term_kind kind = 0; kind < TERM_KINDS; kind++)
        for (uint32_t i = 0; i < pod->terms->of[kind].count; i++) {
            const struct pod_term *term = &pod->terms->of[kind].at[i];
            uint32_t value = value_on(pod->node, term->topology_key);
            int64_t weight = kind == TERMS_affinity_required
                                 ? profile->hard_affinity_weight
                                 : wrap_mul(term->weight, factors[kind]);
            bool filters = kind == TERMS_anti_required;
            bool silent = !filters && (!scores || (kind == TERMS_affinity_required && weight <= 0));
            if (value == 0 || silent || !pod_term_matches(term, &a->self))
                continue;
            entries_add(out, filters ? SLOT_existing : SLOT_score, term->topology_key, value,
                        filters ? 1 : weight);
        }
}

static int64_t wanted_on(const struct asker *a, enum term_kind kind, uint32_t term,
                         const struct node_entry *node)
{
    int64_t count = 0;
    const struct pod_group *last = NULL;
    bool wanted = false;
    for (uint32_t i = 0; i < node->pod_count; i++) {
        if (node->pods[i]->group != last)
            wanted = wants_group(a, kind, term, node->pods[i]->group);
        last = node->pods[i]->group;
        count += wanted;
    }
    return count;
}

static void mark_rows(struct node_pod *const *pods, uint32_t count, uint8_t *marks)
{
    for (uint32_t i = 0; i < count; i++)
        if (pods[i]->node->row != NO_ROW)
            marks[pods[i]->node->row] = 1;
}

static void mark_wanted(const struct cycle *c, const struct asker *a, uint8_t *marks)
{
    for (enum term_kind kind = 0; kind < TERM_KINDS; kind++)
        for (uint32_t i = 0; i < a->of[kind].count; i++) {
            struct group_walk walk = pod_groups_walk(c->groups, a->of[kind].at[i].matcher);
            const struct pod_group *group;
            while ((group = group_walk_next(&walk)) != NULL)
                if (wants_group(a, kind, i, group))
                    mark_rows(group->pods, group->pod_count, marks);
        }
}

/* Rows on which no pod has terms or is wanted count for nothing. */
static void keep_all_rows(const struct cycle *c, struct kept_states *states)
{
    struct judge *j = states->filter;
    j->marks = arena_take(c->arena, c->nodes->count);
    for (uint32_t i = 0; i < c->terms->count; i++)
        mark_rows(c->terms->at[i]->pods, c->terms->at[i]->pod_count, j->marks);
    mark_wanted(c, j->asker, j->marks);
}

static void keep_all_rows_end(struct kept_states *states)
{
    struct judge *j = states->filter;
    j->marks = NULL;
}

static void keep_row(const struct cycle *c, const struct kept_states *states, uint32_t row,
                     struct entries *out)
{
    const struct judge *j = states->filter;
    const struct asker *a = j->asker;
    const struct node_entry *node = c->nodes->entry[row];
    if (j->marks != NULL && !j->marks[row])
        return;
    for (uint32_t i = 0; i < node->pod_count; i++)
        if (node->pods[i]->terms != NULL)
            keep_wishes(c, a, node->pods[i], out);
    for (enum term_kind kind = 0; kind < TERM_KINDS; kind++)
        for (uint32_t i = 0; i < a->of[kind].count; i++) {
            uint32_t key = a->of[kind].at[i].topology_key, value = value_on(node, key);
            int64_t pods = value == 0 ? 0 : wanted_on(a, kind, i, node);
            if (pods > 0)
                entries_add(out, slot_of(kind), key, value,
                            wrap_mul(pods, each_of(kind, &a->of[kind].at[i])));
        }
}

static void need_keys_of(struct kept_states *states, const struct count_entry *e)
{
    struct judge *j = states->filter;
    struct sums *s = states->score;
    if (e->slot == SLOT_existing)
        need_key(j, e->key);
    for (uint32_t i = 0; i < s->key_count; i++)
        if (s->keys[i] == e->key)
            return;
    if (e->slot != SLOT_score)
        return;
    if (s->key_count == s->key_room) {
        s->key_room = s->key_room == 0 ? 4 : s->key_room * 2;
        uint32_t *more = arena_take(j->arena, s->key_room * sizeof(*more));
        if (s->key_count > 0)
            memcpy(more, s->keys, s->key_count * sizeof(*more));
        s->keys = more;
    }
    s->keys[s->key_count++] = e->key;
}

/* Keys whose last entry has gone are kept: there is nothing to be found under them. */
static void counts_outlook(const struct cycle *c, struct kept_states *states,
                           const struct entries *changed, struct outlook *out)
{
    (void)c;
    struct judge *j = states->filter;
    uint32_t at = 0;
    struct count_entry e;
    while (changed == NULL && counts_next(j->counts, &at, &e))
        need_keys_of(states, &e);
    for (uint32_t i = 0; changed != NULL && i < changed->count; i++)
        need_keys_of(states, &changed->at[i]);
    for (enum slot slot = 0; slot < SLOT_filters; slot++) {
        j->entries[slot] = counts_in_slot(j->counts, slot);
        outlook_add(out, j->entries[slot] > 0);
    }
}

static uint32_t keep_key(const struct kept_states *states, const struct count_entry *entry)
{
    (void)states;
    return entry->key;
}

static uint32_t add_key(uint32_t *at, uint32_t count, uint32_t key)
{
    for (uint32_t i = 0; i < count && i < KEEP_KEYS; i++)
        if (at[i] == key)
            return count;
    if (count < KEEP_KEYS)
        at[count] = key;
    return count + 1;
}

static uint32_t keep_keys(const struct kept_states *states, uint32_t *at)
{
    const struct judge *j = states->filter;
    const struct sums *s = states->score;
    uint32_t count = 0;
    for (enum term_kind kind = 0; kind < TERM_KINDS; kind++)
        for (uint32_t i = 0; i < j->asker->of[kind].count; i++)
            count = add_key(at, count, j->asker->of[kind].at[i].topology_key);
    for (uint32_t i = 0; i < j->key_count; i++)
        count = add_key(at, count, j->keys[i]);
    for (uint32_t i = 0; i < s->key_count; i++)
        count = add_key(at, count, s->keys[i]);
    return count;
}

static const struct plugin_keep keep = {
    .begin = keep_begin,
    .all_rows = keep_all_rows,
    .all_rows_end = keep_all_rows_end,
    .row = keep_row,
    .counts_outlook = counts_outlook,
    .key = keep_key,
    .keys = keep_keys,
};

const struct plugin plugin_inter_pod_affinity = {
    .name = "InterPodAffinity",
    .prepare = affinity_terms_prepare,
    .pre_filter = pre_filter,
    .counts = counts,
    .count = count,
    .filter_begin = filter_begin,
    .filter_skips = filter_skips,
    .filter = filter,
    .what_if = what_if,
    .score_skips = score_skips,
    .pre_score = pre_score,
    .score_begin = score_begin,
    .score = score,
    .normalise = NORMALISE_own,
    .normalise_own = normalise_own,
    .falls_with_greatest = true,
    .folds_hostnames = true,
    .keep = &keep,
};
