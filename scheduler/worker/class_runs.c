/* class_runs: where a share would put pods of a class one after the other, told group by group for
 * somebody who knows the counts of the whole cluster. The one idea: what counting rules say is
 * alike for a whole group, so inside a group the order is that of the totals by row, whatever the
 * counts are.
 *
 * What must stay true: a group's places are what they are told to be when just the places told
 * before them in the same group are taken, wherever else pods land. So a place is not put, and ends
 * its group's list, when a pod there changes a range that totals are made with, or what a rule that
 * does not group says of other rows. One change of a range is told of instead: its top rises, and
 * no other node's score does. Groups that count more of their own come first, since a row that gets
 * a pod moves on to one of these. */
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/table/wrap.h"
#include "scheduler/worker/classes_inside.h"

#include <string.h>

struct listing {
    struct shard *shard;
    struct pod_class *k;
    const struct map_run *run;
    struct map_run_result *out;
    struct arena *arena;
    struct random dice;
    const struct run_clock *clock;
    struct run_puts *puts;
    struct entries before[KEPT_MAX], after[KEPT_MAX]; /* what a row counts for, by rule */
};

/* ---- what can be told ---- */

/* A rule that speaks for each row must follow from the row alone, but for whether there is
 * anything in a slot: so it may count nothing but for hostnames, and survey nothing. */
static bool counts_by_host(const struct pod_class *k, const struct kept_rule *rule)
{
    const struct map_request like = {.own_hostnames = k->own_hostnames};
    uint32_t folded = plugin_folded_key(rule->plugin, k->cycle.atoms, &like), at = 0;
    struct count_entry e;
    if (rule->plugin->survey != NULL || rule->own != NULL)
        return false;
    while (counts_next(ledger_told(rule->counts), &at, &e))
        if (folded == 0 || e.key != folded)
            return false;
    return true;
}

static bool can_tell(const struct pod_class *k)
{
    bool all = !k->alone && k->group_count > 0 && k->cycle.error.len == 0;
    for (uint32_t i = 0; i < k->kept_count && all; i++)
        all = k->kept[i].groups || counts_by_host(k, &k->kept[i]);
    return all;
}

static void tell_rules(struct listing *l)
{
    const struct pod_class *k = l->k;
    l->out->rules.at = arena_take(l->arena, k->kept_count * sizeof(struct run_rule));
    l->out->counts.at = arena_take(l->arena, k->kept_count * sizeof(struct plugin_counts));
    for (uint32_t i = 0; i < k->kept_count; i++) {
        const struct kept_rule *rule = &k->kept[i];
        struct run_rule *to = &l->out->rules.at[l->out->rules.count++];
        struct plugin_counts *counts = &l->out->counts.at[l->out->counts.count++];
        *to = (struct run_rule){.plugin = str_of(rule->plugin->name), .groups = rule->groups};
        counts->plugin = to->plugin;
        counts_tell(ledger_told(rule->counts), k->cycle.atoms, counts, l->arena);
        to->keys.at = arena_take(l->arena, KEEP_KEYS * sizeof(struct run_key));
        for (uint32_t key = 0; rule->groups && key < rule->key_count; key++)
            to->keys.at[to->keys.count++] =
                (struct run_key){counts_text(ledger_told(rule->counts), k->cycle.atoms,
                                             rule->keys[key] & ~KEEP_PRESENCE),
                                 (rule->keys[key] & KEEP_PRESENCE) != 0};
    }
}

static uint32_t value_count(const struct pod_class *k)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->kept_count; i++)
        count += k->kept[i].groups ? k->kept[i].key_count : 0;
    return count;
}

static void tell_values(struct listing *l, uint32_t row, struct run_group *out)
{
    struct pod_class *k = l->k;
    out->values.at = arena_take(l->arena, value_count(k) * sizeof(struct run_value));
    for (uint32_t i = 0; i < k->kept_count; i++)
        for (uint32_t key = 0; k->kept[i].groups && key < k->kept[i].key_count; key++) {
            bool presence = (k->kept[i].keys[key] & KEEP_PRESENCE) != 0;
            uint32_t value = class_label(k, k->kept[i].keys[key] & ~KEEP_PRESENCE)[row];
            struct run_value *to = &out->values.at[out->values.count++];
            *to = (struct run_value){.present = value != 0};
            if (value != 0 && !presence)
                to->value = atom_text(k->cycle.atoms, value);
        }
}

static void tell_own(struct listing *l, uint32_t row, struct run_own **at, uint32_t *count)
{
    const struct pod_class *k = l->k;
    *at = arena_take(l->arena, k->kept_count * sizeof(struct run_own));
    for (*count = 0; *count < k->kept_count; ++*count) {
        const struct kept_rule *rule = &k->kept[*count];
        bool any = rule->groups && rule->own != NULL;
        (*at)[*count] =
            (struct run_own){any ? (int64_t)rule->own_slot - 1 : 0, any ? rule->own[row] : 0};
    }
}

static void tell_extremes(struct listing *l, const struct score_range *spans, struct extreme **at,
                          uint32_t *count)
{
    const struct framework *fw = l->k->framework;
    *at = arena_take(l->arena, fw->score_count * sizeof(struct extreme));
    *count = 0;
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (class_has_spans(l->k, i) && spans[i].any)
            (*at)[(*count)++] = score_range_tell(&spans[i], fw->score[i].plugin);
}

/* ---- what a pod on a row changes ---- */

static void count_row(struct listing *l, uint32_t row, struct entries *by_rule)
{
    for (uint32_t i = 0; i < l->k->kept_count; i++) {
        by_rule[i].count = 0;
        l->k->kept[i].plugin->keep->row(&l->k->cycle, &l->k->kept[i].states, row, &by_rule[i]);
    }
}

static int64_t count_in(const struct entries *list, const struct count_entry *like, bool *found)
{
    *found = false;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i].slot == like->slot && list->at[i].key == like->key &&
            list->at[i].value == like->value) {
            *found = true;
            return list->at[i].count;
        }
    return 0;
}

/* What the pod has added to what others hear of; false when something has gone. */
static bool tell_adds(struct listing *l, struct run_group *out)
{
    const struct pod_class *k = l->k;
    out->adds.at = arena_take(l->arena, k->kept_count * sizeof(struct plugin_counts));
    for (uint32_t i = 0; i < k->kept_count; i++) {
        const struct kept_rule *rule = &k->kept[i];
        struct plugin_counts *to = &out->adds.at[out->adds.count++];
        bool found;
        to->plugin = str_of(rule->plugin->name);
        to->counts.at = arena_take(l->arena, l->after[i].count * sizeof(struct count));
        for (uint32_t e = 0; e < l->before[i].count; e++) {
            (void)count_in(&l->after[i], &l->before[i].at[e], &found);
            if (!found)
                return false;
        }
        for (uint32_t e = 0; e < l->after[i].count; e++) {
            const struct count_entry *now = &l->after[i].at[e];
            int64_t was = count_in(&l->before[i], now, &found);
            if (now->key == COUNTS_OWN || (found && was == now->count))
                continue;
            to->counts.at[to->counts.count++] = (struct count){
                now->slot, counts_text(ledger_told(rule->counts), k->cycle.atoms, now->key),
                counts_text(ledger_told(rule->counts), k->cycle.atoms, now->value),
                wrap_sub(now->count, was), now->value == 0};
        }
    }
    return true;
}

/* Rules that speak for each row count under the hostname alone, also with one more pod there. */
static bool adds_by_host(const struct listing *l, const struct run_group *g)
{
    for (uint32_t i = 0; i < l->k->kept_count; i++)
        for (uint32_t e = 0; !l->k->kept[i].groups && e < g->adds.at[i].counts.count; e++)
            if (!str_is(g->adds.at[i].counts.at[e].key, "kubernetes.io/hostname"))
                return false;
    return true;
}

static bool same_own(const struct run_group *a, const struct run_group *b)
{
    for (uint32_t i = 0; i < a->next_own.count; i++)
        if (a->next_own.at[i].count != b->next_own.at[i].count ||
            a->next_own.at[i].slot != b->next_own.at[i].slot)
            return false;
    return true;
}

static bool same_adds(const struct run_group *a, const struct run_group *b)
{
    for (uint32_t i = 0; i < a->adds.count; i++)
        if (!counts_same(&a->adds.at[i], &b->adds.at[i]))
            return false;
    return true;
}

/* Of rules that speak for each row others hear only which slots have something. */
static void fold_adds(const struct listing *l, struct run_group *g)
{
    for (uint32_t i = 0; i < l->k->kept_count; i++) {
        struct plugin_counts *list = &g->adds.at[i];
        uint32_t kept = 0;
        for (uint32_t e = 0; !l->k->kept[i].groups && e < list->counts.count; e++) {
            uint32_t at = 0;
            while (at < kept && list->counts.at[at].slot != list->counts.at[e].slot)
                at++;
            list->counts.at[at] =
                (struct count){list->counts.at[e].slot, list->counts.at[e].key, {NULL, 0}, 1, true};
            kept += at == kept;
        }
        if (!l->k->kept[i].groups)
            list->counts.count = kept;
    }
}

/* As the first pod in the group, or the first one. */
static bool changes_alike(struct listing *l, uint32_t row, struct run_group *g)
{
    struct run_group now = {0};
    if (!tell_adds(l, &now) || !adds_by_host(l, &now))
        return false;
    fold_adds(l, &now);
    tell_own(l, row, &now.next_own.at, &now.next_own.count);
    if (g->next_own.count == 0) {
        g->adds.count = now.adds.count;
        g->adds.at = now.adds.at;
        g->next_own.count = now.next_own.count;
        g->next_own.at = now.next_own.at;
        return true;
    }
    return same_own(g, &now) && same_adds(g, &now);
}

/* The ranges of a group, found anew where its rows at an end have gone. */
static void take_spans(struct pod_class *k, struct row_group *g, struct score_range *out)
{
    for (uint32_t i = 0; i < k->framework->score_count; i++) {
        if (!class_has_spans(k, i))
            continue;
        if (kept_range_is_worn(&g->spans[i]))
            class_span_group(k, g, i);
        out[i] = g->spans[i].range;
    }
}

static bool is_exact(const struct score_range *s)
{
    return s->least > -RAW_EXACT && s->greatest < RAW_EXACT;
}

/* A wider range of the rule raises nobody's total. */
static bool may_rise(const struct scorer *sc, const struct score_range *now)
{
    return sc->plugin->falls_with_greatest && sc->weight > 0 && sc->weight <= INT32_MAX &&
           is_exact(now);
}

enum change { CHANGE_none, CHANGE_rise, CHANGE_other };

/* From the spans before to those of the group now, which must have passing rows. */
static enum change compare_spans(const struct pod_class *k, const struct score_range *before,
                                 const struct score_range *now)
{
    enum change all = CHANGE_none;
    for (uint32_t i = 0; i < k->framework->score_count; i++) {
        if (!class_has_spans(k, i))
            continue;
        if (now[i].any != before[i].any || now[i].least != before[i].least ||
            now[i].greatest < before[i].greatest)
            return CHANGE_other;
        if (now[i].greatest == before[i].greatest)
            continue;
        if (!may_rise(&k->framework->score[i], &now[i]))
            return CHANGE_other;
        all = CHANGE_rise;
    }
    return all;
}

/* What rules that do not group say of all rows alike. */
struct views {
    uint64_t score_skip;
    struct {
        struct outlook says;
        bool filter_skips;
    } by_rule[KEPT_MAX];
};

static void look_at(const struct pod_class *k, struct views *out)
{
    memset(out, 0, sizeof(*out));
    out->score_skip = k->score_skip;
    for (uint32_t i = 0; i < k->kept_count; i++) {
        if (k->kept[i].groups) {
            if (k->kept[i].scorer < SCORERS_MAX)
                out->score_skip |= UINT64_C(1) << k->kept[i].scorer;
            continue;
        }
        out->by_rule[i].says = k->kept[i].count_says;
        out->by_rule[i].filter_skips = k->kept[i].filter_skips;
    }
}

static bool same_views(const struct views *a, const struct views *b)
{
    bool same = a->score_skip == b->score_skip;
    for (uint32_t i = 0; i < KEPT_MAX && same; i++) {
        const struct outlook *x = &a->by_rule[i].says, *y = &b->by_rule[i].says;
        same = a->by_rule[i].filter_skips == b->by_rule[i].filter_skips && !x->overflow &&
               !y->overflow && x->count == y->count &&
               memcmp(x->at, y->at, x->count * sizeof(x->at[0])) == 0;
    }
    return same;
}

/* ---- one place ---- */

/* Of the group's best row by row, one: the first by name, or by dice. */
static uint32_t choose_row(struct listing *l, const struct row_group *g)
{
    const struct pod_class *k = l->k;
    if (l->run->request.tie_break != TIE_BREAK_first)
        return class_best_in(k, g, random_below(&l->dice, g->best.count));
    uint32_t first = NO_ROW;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t row = g->rows[i];
        if (k->outcome[row] == 0 && k->total[row] == g->best.best &&
            (first == NO_ROW || str_compare(class_row_name(k, row), class_row_name(k, first)) < 0))
            first = row;
    }
    must(first != NO_ROW);
    return first;
}

static bool in_step(struct listing *l)
{
    return class_catch_up(l->shard, l->k) && !l->k->stale;
}

/* A group while its places are listed: its number may become another one's when it is empty. */
struct one_group {
    uint32_t number;
    struct row_group label;
    struct score_range *spans,
        *now; /* of its rows: as told, and room for those behind the next place */
    struct run_group *out;
    bool broken; /* the share is not in step any more */
    bool rises;  /* totals are made with ranges that the last place has raised */
};

static bool is_label(const struct row_group *g, const struct row_group *label)
{
    return g->count > 0 && memcmp(g->kind, label->kind, sizeof(g->kind)) == 0 &&
           memcmp(g->own, label->own, sizeof(g->own)) == 0;
}

static int64_t own_of(const struct row_group *g)
{
    int64_t sum = 0;
    for (uint32_t r = 0; r < KEPT_MAX; r++)
        sum = wrap_add(sum, g->own[r]);
    return sum;
}

/* The row has stayed, or gone where the places are told already. */
static bool went_up(const struct pod_class *k, uint32_t row, const struct one_group *g)
{
    const struct row_group *now = &k->groups[k->group[row]];
    return is_label(now, &g->label) || own_of(now) > own_of(&g->label);
}

/* The group's ranges end higher with the pod on the row, which stays in the group: told of, and
 * totals are made with these from now on. */
static void rise(struct listing *l, struct one_group *g, struct run_place *out)
{
    struct pod_class *k = l->k;
    struct score_range ranges[SCORERS_MAX];
    bool wider = false;
    memcpy(ranges, k->used, sizeof(ranges));
    out->raised.at = arena_take(l->arena, k->framework->score_count * sizeof(struct extreme));
    for (uint32_t i = 0; i < k->framework->score_count; i++) {
        if (!class_has_spans(k, i) || g->now[i].greatest == g->spans[i].greatest)
            continue;
        out->raised.at[out->raised.count++] =
            score_range_tell(&g->now[i], k->framework->score[i].plugin);
        if (g->now[i].greatest <= ranges[i].greatest)
            continue;
        ranges[i].greatest = g->now[i].greatest;
        wider = true;
    }
    if (wider)
        class_take_ranges(k, ranges);
    g->rises = k->rises = true;
    memcpy(g->spans, g->now, k->framework->score_count * sizeof(*g->spans));
}

static bool is_within(const struct pod_class *k, uint32_t row, const struct score_range *spans)
{
    bool all = true;
    for (uint32_t i = 0; i < k->framework->score_count; i++) {
        if (!class_has_spans(k, i) || k->raw[i][row] == SCORE_IGNORED)
            continue;
        all &=
            spans[i].any && k->raw[i][row] >= spans[i].least && k->raw[i][row] <= spans[i].greatest;
    }
    return all;
}

/* True when the list may go on behind the place on this row, as far as ranges go. Of a row that has
 * gone to another group others take it that its scores lie in the range of the one it came from. */
static bool ranges_allow(struct listing *l, uint32_t row, struct one_group *g,
                         struct run_place *out)
{
    struct pod_class *k = l->k;
    struct row_group *group = &k->groups[g->number];
    bool passes = k->outcome[row] == 0, stays = is_label(&k->groups[k->group[row]], &g->label);
    if (passes && !stays && !is_within(k, row, g->spans))
        return false;
    if (!is_label(group, &g->label) || group->passing == 0)
        return true;
    take_spans(k, group, g->now);
    switch (compare_spans(k, g->spans, g->now)) {
    case CHANGE_none: return true;
    case CHANGE_other: return false;
    case CHANGE_rise: break;
    }
    if (!l->run->rising || !passes || !stays)
        return false;
    rise(l, g, out);
    return true;
}

/* A pod is put on the row. False: something is no longer as it has to be, and it is off again. */
static bool put(struct listing *l, uint32_t row, struct one_group *g, struct run_place *out)
{
    struct pod_class *k = l->k;
    char room[RUN_NAME_ROOM];
    struct views before, after;
    struct pod pod = l->run->request.pod;
    look_at(k, &before);
    count_row(l, row, l->before);
    pod.uid = run_unnamed(l->puts->count, room);
    pod.name = (struct str){NULL, 0};
    pod.node_name = class_row_name(k, row);
    share_pod_set(&l->shard->share, &pod);
    g->broken = !in_step(l);
    if (!g->broken) {
        count_row(l, row, l->after);
        look_at(k, &after);
        if (same_views(&before, &after) && went_up(k, row, g) && changes_alike(l, row, g->out) &&
            ranges_allow(l, row, g, out))
            return true;
    }
    share_pod_gone(&l->shard->share, pod.uid);
    g->broken = g->broken || !in_step(l);
    return false;
}

/* The group's next place; false when there is none, or none behind it can be told. */
static bool list_place(struct listing *l, struct one_group *of, bool may_put)
{
    struct pod_class *k = l->k;
    struct row_group *g = &k->groups[of->number];
    if (!is_label(g, &of->label))
        return false;
    class_find_best(k, g);
    if (g->best.count == 0)
        return false;
    uint32_t row = choose_row(l, g);
    struct run_place *p = &of->out->places.at[of->out->places.count++];
    *p = (struct run_place){.node = arena_copy(l->arena, class_row_name(k, row)),
                            .total = g->best.best,
                            .ties = g->best.count,
                            .not_put = true};
    of->rises = false;
    if (may_put && put(l, row, of, p)) {
        p->not_put = false;
        p->next_total = k->total[row];
        p->fits = k->outcome[row] == 0;
    }
    run_puts_add(l->puts, of->number, !p->not_put);
    return !p->not_put;
}

/* ---- how many of each group ---- */

static bool has_lower(const struct pod_class *k, const struct row_group *g)
{
    for (uint32_t i = 0; i < k->group_count; i++) {
        const struct row_group *other = &k->groups[i];
        bool lower = false;
        for (uint32_t r = 0; r < KEPT_MAX; r++)
            lower |= other->own[r] < g->own[r];
        if (other->passing > 0 && lower && memcmp(other->kind, g->kind, sizeof(g->kind)) == 0)
            return true;
    }
    return false;
}

static uint32_t root_of(uint32_t number)
{
    uint32_t root = 0;
    while ((root + 1) * (root + 1) <= number)
        root++;
    return root;
}

/* Of those that the share may get, as if all groups got alike. */
static uint32_t guess_of(const struct listing *l)
{
    const struct map_run *run = l->run;
    int64_t likely = run->likely > 0 && run->likely < run->count ? run->likely : run->count;
    return (uint32_t)likely / l->k->group_count + 1;
}

/* Its part of late runs' pods, and some more; the first time a guess. Others are looked at, but no
 * pod is put there. */
static uint32_t wanted_of(const struct listing *l, const struct row_group *g)
{
    uint32_t most = (uint32_t)l->run->count, part;
    if (g->run_pods > 0)
        part = (uint32_t)(((uint64_t)most * g->run_taken + g->run_pods - 1) / g->run_pods);
    else
        part = has_lower(l->k, g) ? 0 : guess_of(l);
    uint32_t want = part == 0 ? 0 : part + 2 * root_of(part) + 1;
    if (l->k->rises) /* mostly all go to one node until it is full, and then to another */
        want = 2 * g->run_last + 1;
    return want < most ? want : most;
}

/* Behind a place that makes the next one there likelier still. */
static uint32_t wanted_behind(const struct listing *l, uint32_t last)
{
    uint32_t most = (uint32_t)l->run->count, want = 2 * last + 4;
    return want < most ? want : most;
}

static bool is_late(struct listing *l)
{
    return l->clock->late(l->clock->state);
}

/* False: the share is not in step any more. */
static bool list_group(struct listing *l, uint32_t group)
{
    struct pod_class *k = l->k;
    const struct row_group *first = &k->groups[group];
    struct run_group *out = &l->out->groups.at[l->out->groups.count++];
    uint32_t want = wanted_of(l, first), risen = wanted_behind(l, first->run_last);
    uint32_t row = first->rows[0], room = want > risen ? want : risen;
    struct one_group g = {.number = group, .out = out};
    struct score_range used[SCORERS_MAX];
    bool more = true;
    memcpy(used, k->used, sizeof(used));
    memcpy(g.label.kind, first->kind, sizeof(first->kind));
    memcpy(g.label.own, first->own, sizeof(first->own));
    *out = (struct run_group){.passing = first->passing};
    g.spans = arena_take(l->arena, 2 * (size_t)k->framework->score_count * sizeof(*g.spans));
    g.now = g.spans + k->framework->score_count;
    take_spans(k, &k->groups[group], g.spans);
    tell_extremes(l, g.spans, &out->extremes.at, &out->extremes.count);
    tell_values(l, row, out);
    tell_own(l, row, &out->own.at, &out->own.count);
    out->places.at = arena_take(l->arena, ((size_t)room + 1) * sizeof(struct run_place));
    while (more && out->places.count < (g.rises ? room : want) && !is_late(l))
        more = list_place(l, &g, true);
    if (more && !g.broken)
        (void)list_place(l, &g, false);
    if (!g.broken)
        class_take_ranges(k, used); /* as all groups' places are told with */
    return !g.broken;
}

/* Numbers of the groups with rows that pass, those that count most of their own first. */
static uint32_t *sort_groups(struct listing *l, uint32_t *count)
{
    const struct pod_class *k = l->k;
    uint32_t *order = arena_take(l->arena, k->group_count * sizeof(*order));
    *count = 0;
    for (uint32_t i = 0; i < k->group_count; i++) {
        uint32_t at = *count;
        if (k->groups[i].passing == 0)
            continue;
        for (; at > 0 && own_of(&k->groups[order[at - 1]]) < own_of(&k->groups[i]); at--)
            order[at] = order[at - 1];
        order[at] = i;
        ++*count;
        l->out->feasible += k->groups[i].passing;
    }
    return order;
}

static bool list_groups(struct listing *l)
{
    uint32_t count;
    uint32_t *order = sort_groups(l, &count);
    bool fit = true;
    l->out->groups.at = arena_take(l->arena, count * sizeof(struct run_group));
    for (uint32_t i = 0; i < count && fit; i++)
        fit = list_group(l, order[i]);
    return fit;
}

/* ---- the whole ---- */

bool class_list(struct shard *s, struct pod_class *k, const struct run_question *q)
{
    struct listing l = {.shard = s,
                        .k = k,
                        .run = q->run,
                        .out = q->out,
                        .arena = q->arena,
                        .dice = {(uint64_t)q->run->request.seed},
                        .clock = &q->clock,
                        .puts = q->puts};
    if (q->run->count < 0 || q->run->count > RUN_MAX || !can_tell(k))
        return false;
    const struct score_range *used = class_use_ranges(k, &q->run->request);
    tell_rules(&l);
    tell_extremes(&l, used, &q->out->extremes.at, &q->out->extremes.count);
    bool fit = list_groups(&l);
    for (uint32_t i = 0; i < KEPT_MAX; i++) {
        entries_free(&l.before[i]);
        entries_free(&l.after[i]);
    }
    return fit;
}

#define REMEMBERED 1024 /* pods of late runs, of which there are some hundreds in each */

void class_learn(struct pod_class *k, uint32_t group, uint32_t taken, uint32_t placed)
{
    struct row_group *g = &k->groups[group];
    if (group >= k->group_count)
        return;
    g->run_pods += placed;
    g->run_taken += taken;
    g->run_last = taken;
    for (; g->run_pods > REMEMBERED; g->run_pods /= 2)
        g->run_taken = (g->run_taken + 1) / 2;
}
