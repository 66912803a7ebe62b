/* group_model: a node made up for each group, with just the labels that rules read, in a share
 * without pods; the counts are those that the workers have told. The one idea: to a rule that
 * groups, such a node is as good as any of the group (plugin.h, keys).
 *
 * What must stay true: filters, surveys and scores are asked as class_best.c asks them, so that a
 * pod's decision is the one that all workers together would come to. */
#include "scheduler/merge/group_model.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/rules/plugin.h"
#include "scheduler/table/wrap.h"

#include <stdio.h>
#include <string.h>

#define GROUPS_ROOM 1024 /* of all workers */

struct told_key {
    struct str text;
    uint32_t key; /* atom, with KEEP_PRESENCE or-ed to it */
};

struct model_rule {
    const struct plugin *plugin;
    bool groups, filters, filter_skips;
    uint32_t filter, scorer; /* as in kept_rule */
    struct counts *counts;
    struct entries changed;
    struct kept_states states;
    uint32_t key_count;
    struct told_key keys[KEEP_KEYS];
};

struct known_group {
    uint32_t values[KEPT_MAX * KEEP_KEYS]; /* atoms, for all keys of all rules; 0: absent */
    int64_t own[KEPT_MAX];
    int64_t raw[KEPT_MAX];
    struct node_entry entry;
};

struct group_model {
    struct arena arena, survey_arena;
    struct atoms *atoms;
    struct model_question q;
    struct cycle cycle;
    struct nodes nodes;
    struct ruling ruling;
    struct entries entries;
    uint32_t rule_count, value_count, count;
    struct model_rule rules[KEPT_MAX];
    struct model_group groups[GROUPS_ROOM];
    struct known_group *known[GROUPS_ROOM];
    struct node_entry *nodes_of[GROUPS_ROOM];
};

struct group_model *group_model_new(void)
{
    return memory_take(sizeof(struct group_model));
}

static void forget(struct group_model *m)
{
    for (uint32_t i = 0; i < m->rule_count; i++) {
        entries_free(&m->rules[i].changed);
        counts_free(&m->rules[i].counts);
    }
    if (m->atoms != NULL)
        atoms_free(&m->atoms);
    m->rule_count = m->count = m->value_count = 0;
    arena_reset(&m->arena);
}

void group_model_free(struct group_model **model)
{
    struct group_model *m = *model;
    if (m == NULL)
        return;
    forget(m);
    arena_free(&m->arena);
    arena_free(&m->survey_arena);
    memory_free(m->ruling.reasons);
    entries_free(&m->entries);
    memory_free(m);
    *model = NULL;
}

uint32_t group_model_rules(const struct group_model *m)
{
    return m->rule_count;
}

bool group_model_rule_groups(const struct group_model *m, uint32_t rule)
{
    return m->rules[rule].groups;
}

/* ---- rules ---- */

static void place_rule(const struct group_model *m, struct model_rule *rule)
{
    const struct framework *fw = m->q.framework;
    rule->scorer = SCORERS_MAX;
    for (uint32_t i = 0; i < fw->filter_count; i++) {
        bool skipped = (uint64_t)m->q.request->findings.skip >> fw->filter_place[i] & 1;
        if (fw->filter[i] == rule->plugin && rule->plugin->filter != NULL && !skipped) {
            rule->filters = true;
            rule->filter = i;
        }
    }
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (fw->score[i].plugin == rule->plugin)
            rule->scorer = i;
}

/* The first worker's keys stand for all. */
static bool take_rule(struct group_model *m, uint32_t i, const struct plugin *plugin)
{
    struct model_rule *rule = &m->rules[i];
    const struct run_rule *said = &m->q.said[0]->rules.at[i];
    *rule = (struct model_rule){.plugin = plugin, .groups = said->groups};
    if (!str_is(said->plugin, plugin->name) || said->keys.count > KEEP_KEYS)
        return false;
    rule->counts = counts_new(NULL);
    m->rule_count++;
    place_rule(m, rule);
    for (uint32_t k = 0; k < said->keys.count; k++) {
        uint32_t atom = atom_take(m->atoms, said->keys.at[k].key);
        rule->keys[k] = (struct told_key){said->keys.at[k].key,
                                          said->keys.at[k].presence ? atom | KEEP_PRESENCE : atom};
    }
    rule->key_count = said->keys.count;
    m->value_count += said->groups ? rule->key_count : 0;
    return true;
}

static bool has_key(const struct run_rule *said, const struct told_key *key)
{
    for (uint32_t i = 0; i < said->keys.count; i++)
        if (str_equal(said->keys.at[i].key, key->text) &&
            said->keys.at[i].presence == ((key->key & KEEP_PRESENCE) != 0))
            return true;
    return false;
}

static bool says_the_same(const struct group_model *m, const struct map_run_result *said)
{
    if (said->rules.count != m->rule_count || said->counts.count != m->rule_count)
        return false;
    for (uint32_t i = 0; i < m->rule_count; i++) {
        const struct model_rule *rule = &m->rules[i];
        const struct run_rule *other = &said->rules.at[i];
        if (!str_is(other->plugin, rule->plugin->name) || other->groups != rule->groups ||
            other->keys.count != rule->key_count ||
            !str_equal(said->counts.at[i].plugin, other->plugin))
            return false;
        for (uint32_t k = 0; k < rule->key_count; k++)
            if (!has_key(other, &rule->keys[k]))
                return false;
    }
    return true;
}

static struct count_entry entry_of(struct group_model *m, const struct count *from)
{
    return (struct count_entry){(uint32_t)from->slot,
                                from->key.len == 0 ? 0 : atom_take(m->atoms, from->key),
                                from->whole ? 0 : atom_take(m->atoms, from->value), from->count};
}

static void take_counts(struct group_model *m, const struct map_run_result *said)
{
    for (uint32_t i = 0; i < m->rule_count; i++)
        for (uint32_t e = 0; m->rules[i].groups && e < said->counts.at[i].counts.count; e++) {
            const struct count_entry entry = entry_of(m, &said->counts.at[i].counts.at[e]);
            counts_add(m->rules[i].counts, entry.slot, entry.key, entry.value, entry.count);
        }
}

bool group_model_begin(struct group_model *m, const struct model_question *q)
{
    const struct framework *fw = q->framework;
    forget(m);
    m->q = *q;
    m->atoms = atoms_new();
    m->nodes = (struct nodes){.entry = m->nodes_of};
    uint32_t room = fw->filter_count + fw->score_count;
    const struct plugin **rules = arena_take(&m->arena, room * sizeof(struct plugin *));
    uint32_t count = framework_counting(fw, &q->request->pod, &q->request->findings, rules);
    bool fit =
        count > 0 && count <= KEPT_MAX && q->said_count > 0 && q->said[0]->rules.count == count;
    for (uint32_t i = 0; i < count && fit; i++)
        fit = rules[i]->keep != NULL && take_rule(m, i, rules[i]);
    for (uint32_t i = 0; i < q->said_count && fit; i++)
        fit = says_the_same(m, q->said[i]);
    for (uint32_t i = 0; i < q->said_count && fit; i++)
        take_counts(m, q->said[i]);
    uint32_t reasons = 4 * (fw->filter_count + 1);
    if (m->ruling.room < reasons) {
        m->ruling.room = reasons;
        m->ruling.reasons = memory_resize(m->ruling.reasons, reasons * sizeof(*m->ruling.reasons));
    }
    return fit;
}

/* ---- groups ---- */

/* Where this worker tells the value of the rule's key. */
static uint32_t place_of(const struct group_model *m, uint32_t who, uint32_t rule, uint32_t key)
{
    const struct map_run_result *said = m->q.said[who];
    uint32_t before = 0;
    for (uint32_t i = 0; i < rule; i++)
        before += said->rules.at[i].groups ? said->rules.at[i].keys.count : 0;
    const struct run_rule *of = &said->rules.at[rule];
    const struct told_key *wanted = &m->rules[rule].keys[key];
    for (uint32_t i = 0; i < of->keys.count; i++)
        if (str_equal(of->keys.at[i].key, wanted->text) &&
            of->keys.at[i].presence == ((wanted->key & KEEP_PRESENCE) != 0))
            return before + i;
    must(!"all tell of the same keys");
    return 0;
}

static bool is_group(const struct group_model *m, const struct known_group *a,
                     const struct known_group *b)
{
    return memcmp(a->values, b->values, m->value_count * sizeof(a->values[0])) == 0 &&
           memcmp(a->own, b->own, sizeof(a->own)) == 0;
}

/* Sorted by key; a value is better than the mere presence. */
static void add_label(struct node_entry *node, uint32_t key, uint32_t value, uint32_t presence)
{
    bool mere = (key & KEEP_PRESENCE) != 0;
    struct node_label label = {key & ~KEEP_PRESENCE, mere ? presence : value};
    uint32_t at = node->label_count;
    while (at > 0 && node->labels[at - 1].key > label.key)
        at--;
    if (at > 0 && node->labels[at - 1].key == label.key) {
        if (!mere)
            node->labels[at - 1] = label;
        return;
    }
    memmove(node->labels + at + 1, node->labels + at,
            (node->label_count - at) * sizeof(*node->labels));
    node->labels[at] = label;
    node->label_count++;
}

static void make_node(struct group_model *m, struct known_group *g, const struct run_own *own)
{
    char name[32];
    snprintf(name, sizeof(name), "group/%u", m->count);
    struct node_entry *node = &g->entry;
    node->name = atom_take(m->atoms, str_of(name));
    node->row = m->count;
    node->labels = arena_take(&m->arena, ((size_t)m->value_count + 1) * sizeof(*node->labels));
    uint32_t at = 0;
    for (uint32_t r = 0; r < m->rule_count; r++) {
        const struct model_rule *rule = &m->rules[r];
        for (uint32_t k = 0; rule->groups && k < rule->key_count; k++, at++)
            if (g->values[at] != 0)
                add_label(node, rule->keys[k].key, g->values[at], node->name);
        if (rule->groups && g->own[r] != 0)
            counts_add(rule->counts, (uint32_t)own[r].slot, COUNTS_OWN, node->name, own[r].count);
    }
}

uint32_t group_model_group(struct group_model *m, uint32_t who, const struct run_group *values,
                           const struct run_own *own, uint32_t own_count)
{
    struct known_group g = {.entry = {.row = 0}};
    uint32_t at = 0;
    if (values->values.count != m->value_count || own_count != m->rule_count)
        return UINT32_MAX;
    for (uint32_t r = 0; r < m->rule_count; r++) {
        g.own[r] = m->rules[r].groups ? own[r].count : 0;
        for (uint32_t k = 0; m->rules[r].groups && k < m->rules[r].key_count; k++, at++) {
            const struct run_value *v = &values->values.at[place_of(m, who, r, k)];
            bool presence = (m->rules[r].keys[k].key & KEEP_PRESENCE) != 0;
            if (v->present)
                g.values[at] = presence ? 1 : atom_take(m->atoms, v->value);
        }
    }
    for (uint32_t i = 0; i < m->count; i++)
        if (is_group(m, m->known[i], &g))
            return i;
    if (m->count == GROUPS_ROOM)
        return UINT32_MAX;
    struct known_group *kept = arena_take(&m->arena, sizeof(*kept));
    *kept = g;
    make_node(m, kept, own);
    m->groups[m->count] = (struct model_group){0};
    m->known[m->count] = kept;
    m->nodes_of[m->count] = &kept->entry;
    m->nodes.count = m->count + 1;
    return m->count++;
}

bool group_model_adds(struct group_model *m, const struct run_group *from, struct model_adds *out)
{
    *out = (struct model_adds){0};
    if (from->adds.count != 0 && from->adds.count != m->rule_count)
        return false;
    for (uint32_t i = 0; i < from->adds.count; i++) {
        const struct plugin_counts *list = &from->adds.at[i];
        struct entries *to = &out->by_rule[i];
        to->at = arena_take(&m->arena, list->counts.count * sizeof(*to->at));
        for (; m->rules[i].groups && to->count < list->counts.count; to->count++)
            to->at[to->count] = entry_of(m, &list->counts.at[to->count]);
    }
    return true;
}

struct model_group *group_model_at(struct group_model *m, uint32_t group)
{
    must(group < m->count);
    return &m->groups[group];
}

/* ---- asking the rules ---- */

/* The rule reads just what was told. */
static bool reads_told(const struct model_rule *rule)
{
    uint32_t keys[KEEP_KEYS], count = rule->plugin->keep->keys(&rule->states, keys);
    bool all = count <= KEEP_KEYS;
    for (uint32_t i = 0; i < count && all; i++) {
        bool told = false;
        for (uint32_t k = 0; k < rule->key_count; k++)
            told |= rule->keys[k].key == keys[i] || rule->keys[k].key == (keys[i] & ~KEEP_PRESENCE);
        /* a key that no group has is 0, and may stand for any that was told */
        all = told || (keys[i] & ~KEEP_PRESENCE) == 0;
    }
    return all;
}

static bool look_out(struct group_model *m, struct model_rule *rule, const struct entries *changed)
{
    struct outlook ignored = {0};
    rule->plugin->keep->counts_outlook(&m->cycle, &rule->states, changed, &ignored);
    rule->filter_skips = rule->filters && rule->plugin->filter_skips != NULL &&
                         rule->plugin->filter_skips(&m->cycle, rule->states.filter);
    return reads_told(rule);
}

bool group_model_start(struct group_model *m)
{
    bool fit = true;
    m->cycle = (struct cycle){.framework = m->q.framework,
                              .pod = &m->q.request->pod,
                              .findings = &m->q.request->findings,
                              .atoms = m->atoms,
                              .nodes = &m->nodes,
                              .arena = &m->arena};
    m->cycle.knowledge = arena_take(&m->arena, m->rule_count * sizeof(*m->cycle.knowledge));
    for (uint32_t i = 0; i < m->rule_count; i++) {
        struct model_rule *rule = &m->rules[i];
        if (!rule->groups)
            continue;
        m->cycle.knowledge[m->cycle.knowledge_count++] =
            (struct plugin_knowledge){.plugin = rule->plugin, .counts = rule->counts};
        rule->plugin->keep->begin(&m->cycle, rule->counts, &rule->states);
    }
    for (uint32_t i = 0; i < m->rule_count && fit; i++)
        fit = !m->rules[i].groups || look_out(m, &m->rules[i], NULL);
    return fit;
}

static bool counts_in(const struct group_model *m, uint32_t group)
{
    return m->groups[group].members > 0 && m->groups[group].passes;
}

static void judge(struct group_model *m)
{
    for (uint32_t g = 0; g < m->count; g++) {
        m->groups[g].passes = true;
        m->groups[g].plus = 0;
        for (uint32_t r = 0; r < m->rule_count && m->groups[g].members > 0; r++) {
            const struct model_rule *rule = &m->rules[r];
            if (!rule->groups || !rule->filters || rule->filter_skips || !m->groups[g].passes)
                continue;
            m->ruling.count = 0;
            m->ruling.code = CODE_success;
            rule->plugin->filter(&m->cycle, rule->states.filter, &m->nodes, g, &m->ruling);
            m->groups[g].passes = m->ruling.count == 0;
        }
    }
}

static void survey(struct group_model *m, struct model_rule *rule)
{
    const struct plugin_keep *keep = rule->plugin->keep;
    struct outlook ignored = {0};
    if (keep->survey_row == NULL)
        return;
    struct counts *all = counts_new(&m->survey_arena);
    for (uint32_t g = 0; g < m->count; g++) {
        m->entries.count = 0;
        if (counts_in(m, g))
            keep->survey_row(&m->cycle, &rule->states, g, &m->entries);
        for (uint32_t e = 0; e < m->entries.count; e++) {
            const struct count_entry *entry = &m->entries.at[e];
            counts_add(all, entry->slot, entry->key, entry->value,
                       wrap_mul(entry->count, m->groups[g].members));
        }
    }
    keep->score_outlook(&m->cycle, &rule->states, all, &ignored);
}

static void score(struct group_model *m, uint32_t r)
{
    struct model_rule *rule = &m->rules[r];
    const struct scorer *sc = &m->q.framework->score[rule->scorer];
    struct score_range range = score_range_begin(rule->plugin);
    survey(m, rule);
    for (uint32_t g = 0; g < m->count; g++) {
        if (!counts_in(m, g))
            continue;
        m->known[g]->raw[r] = rule->plugin->score(&m->cycle, rule->states.score, &m->nodes, g);
        score_range_add(&range, m->known[g]->raw[r]);
    }
    for (uint32_t g = 0; g < m->count; g++)
        if (counts_in(m, g))
            m->groups[g].plus = wrap_add(
                m->groups[g].plus,
                wrap_mul(plugin_normalise(rule->plugin, m->known[g]->raw[r], &range), sc->weight));
}

const struct model_group *group_model_weigh(struct group_model *m)
{
    arena_reset(&m->survey_arena);
    judge(m);
    uint64_t skips = framework_score_skips(&m->cycle);
    for (uint32_t r = 0; r < m->rule_count; r++)
        if (m->rules[r].groups && m->rules[r].scorer < SCORERS_MAX &&
            (skips >> m->rules[r].scorer & 1) == 0)
            score(m, r);
    return m->groups;
}

bool group_model_land(struct group_model *m, const struct model_adds *adds)
{
    bool fit = true;
    for (uint32_t i = 0; i < m->rule_count; i++) {
        const struct entries *list = &adds->by_rule[i];
        for (uint32_t e = 0; e < list->count; e++)
            counts_add(m->rules[i].counts, list->at[e].slot, list->at[e].key, list->at[e].value,
                       list->at[e].count);
        if (list->count > 0)
            fit &= look_out(m, &m->rules[i], list);
    }
    return fit;
}
