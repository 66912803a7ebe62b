/* knowledge: what rules that count know of the cluster's pods: the request's sums where it brings
 * some, else what this share counts itself. What must stay true: of a key that is told folded our
 * own entries are kept apart, since they are known better here. */
#include "proto/base/must.h"
#include "scheduler/worker/shard_inside.h"

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
    const struct plugin_counts *merged = plugin_counts_of(r->counts.at, r->counts.count, k->plugin);
    if (k->plugin->count != NULL && (r->alone || r->step == MAP_STEP_count))
        k->plugin->count(&e->cycle, k->counts);
    else if (merged != NULL)
        counts_take(k->counts, e->cycle.atoms, merged);
    if (k->plugin->count != NULL && merged != NULL && key != 0)
        unfold(e, k, key);
    else if (r->step == MAP_STEP_count)
        k->counts = counts_fold(k->counts, key, e->cycle.arena);
}

void knowledge_find(struct evaluation *e)
{
    const struct framework *fw = e->cycle.framework;
    must(fw != NULL);
    uint32_t room = fw->filter_count + fw->score_count;
    const struct plugin **counting = arena_take(e->cycle.arena, room * sizeof(struct plugin *));
    e->cycle.knowledge_count = framework_counting(fw, e->cycle.pod, e->cycle.findings, counting);
    e->cycle.knowledge =
        arena_take(e->cycle.arena, e->cycle.knowledge_count * sizeof(*e->cycle.knowledge));
    for (uint32_t i = 0; i < e->cycle.knowledge_count; i++) {
        e->cycle.knowledge[i].plugin = counting[i];
        timings_start(e->cycle.timing);
        know_counts(e, &e->cycle.knowledge[i]);
        timings_once(e->cycle.timing, TIMED_PreFilter, counting[i], false);
    }
}

void knowledge_tell(struct evaluation *e, bool surveys, uint32_t *count, struct plugin_counts **out)
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

void knowledge_survey(struct evaluation *e)
{
    const struct scratch *scratch = &e->shard->scratch;
    const struct map_request *r = e->request;
    for (uint32_t i = 0; i < e->cycle.knowledge_count; i++) {
        struct plugin_knowledge *k = &e->cycle.knowledge[i];
        const struct plugin_counts *merged =
            plugin_counts_of(r->surveys.at, r->surveys.count, k->plugin);
        timings_start(e->cycle.timing);
        if (merged != NULL)
            counts_take(k->survey, e->cycle.atoms, merged);
        else if (k->plugin->survey != NULL)
            k->plugin->survey(&e->cycle, scratch->feasible, scratch->feasible_count, k->survey);
        if (k->plugin->survey != NULL)
            timings_once(e->cycle.timing, TIMED_PreScore, k->plugin, false);
    }
    if (r->surveys.count == 0 && !r->alone)
        knowledge_tell(e, true, &e->result->surveys.count, &e->result->surveys.at);
}

bool knowledge_has_survey(const struct evaluation *e)
{
    for (uint32_t i = 0; i < e->cycle.knowledge_count; i++)
        if (e->cycle.knowledge[i].plugin->survey != NULL)
            return true;
    return false;
}
