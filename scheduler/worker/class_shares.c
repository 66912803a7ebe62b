/* class_shares: a class whose nodes are shared among several workers. The one idea: what the others
 * count for is one more row of the ledger, so that their changes reach our rows as our own do.
 *
 * What must stay true: the sums are the cluster's whenever rows are judged; an atom that only they
 * need is held as long as the ledger may name it. */
#include "proto/base/memory.h"
#include "scheduler/table/wrap.h"
#include "scheduler/worker/classes_inside.h"

/* The atom of a text that others told; held by the rule if nobody here uses it. */
static uint32_t atom_of(struct kept_rule *rule, struct atoms *atoms, struct str text)
{
    uint32_t atom = atom_find(atoms, text);
    if (atom != 0)
        return atom;
    if (rule->foreign_count == rule->foreign_room) {
        rule->foreign_room = rule->foreign_room == 0 ? 8 : rule->foreign_room * 2;
        rule->foreign = memory_resize(rule->foreign, rule->foreign_room * sizeof(*rule->foreign));
    }
    atom = atom_take(atoms, text);
    rule->foreign[rule->foreign_count++] = atom;
    return atom;
}

void class_drop_foreign(struct kept_rule *rule, struct atoms *atoms)
{
    for (uint32_t i = 0; i < rule->foreign_count; i++)
        atom_drop(atoms, rule->foreign[i]);
    memory_free(rule->foreign);
    rule->foreign = NULL;
    rule->foreign_count = rule->foreign_room = 0;
}

/* One merged entry, less our part of it: whether others have a part, too. */
static bool others_part(const struct kept_rule *rule, struct count_entry *entry)
{
    int64_t own;
    bool ours = counts_get(ledger_told(rule->counts), entry->slot, entry->key, entry->value, &own);
    entry->count = wrap_sub(entry->count, own);
    return !ours || entry->count != 0;
}

void class_take_counts(struct pod_class *k, struct atoms *atoms, const struct map_request *r)
{
    bool run = r->step == MAP_STEP_run; /* then they are the others' alone */
    for (uint32_t i = 0; i < k->kept_count && !k->alone; i++) {
        struct kept_rule *rule = &k->kept[i];
        if (run && rule->groups)
            continue; /* it is asked elsewhere, of all counts */
        const struct plugin_counts *merged =
            plugin_counts_of(r->counts.at, r->counts.count, rule->plugin);
        struct entries others = {0};
        for (uint32_t e = 0; merged != NULL && e < merged->counts.count; e++) {
            const struct count *from = &merged->counts.at[e];
            struct count_entry entry = {
                (uint32_t)from->slot, from->key.len == 0 ? 0 : atom_of(rule, atoms, from->key),
                from->whole ? 0 : atom_of(rule, atoms, from->value), from->count};
            if (run || others_part(rule, &entry))
                entries_append(&others, &entry);
        }
        ledger_others(rule->counts, &others, &rule->changed);
        entries_free(&others);
    }
}

static void tell(const struct pod_class *k, const struct kept_rule *rule,
                 const struct counts *counts, struct plugin_counts *out, struct arena *a)
{
    out->plugin = str_of(rule->plugin->name);
    counts_tell(counts, k->cycle.atoms, out, a);
}

void class_tell_counts(const struct pod_class *k, struct map_result *out, struct arena *a)
{
    out->counts.at = arena_take(a, k->kept_count * sizeof(*out->counts.at));
    for (uint32_t i = 0; i < k->kept_count; i++)
        tell(k, &k->kept[i], ledger_told(k->kept[i].counts), &out->counts.at[out->counts.count++],
             a);
}

void class_tell_surveys(const struct pod_class *k, struct map_result *out, struct arena *a)
{
    out->surveys.at = arena_take(a, k->kept_count * sizeof(*out->surveys.at));
    for (uint32_t i = 0; i < k->kept_count; i++)
        if (k->kept[i].plugin->survey != NULL)
            tell(k, &k->kept[i], ledger_sums(k->kept[i].survey),
                 &out->surveys.at[out->surveys.count++], a);
}

const struct counts *class_survey(const struct pod_class *k, const struct kept_rule *rule,
                                  const struct map_request *r, struct arena *a)
{
    const struct plugin_counts *merged =
        plugin_counts_of(r->surveys.at, r->surveys.count, rule->plugin);
    if (merged == NULL)
        return ledger_sums(rule->survey);
    struct counts *all = counts_new(a);
    counts_take(all, k->cycle.atoms, merged);
    return all;
}
