/* measure_groups: the one idea: to upstream a group is one preemptor, whatever number of pods makes
 * room here. What must stay true: victims are counted once, for the group or for the pod. */
#include "scheduler/coordinator/measure_groups.h"

#include "proto/metrics.h"
#include "scheduler/catalog/group_trees.h"
#include "scheduler/coordinator/flight.h"
#include "scheduler/table/gang_names.h"

static enum code code_of(enum gang_room room)
{
    switch (room) {
    case GANG_ROOM_going:
    case GANG_ROOM_found: return CODE_success;
    case GANG_ROOM_nobody: return CODE_unresolvable;
    default: return CODE_unschedulable;
    }
}

void measure_group_room(const struct framework *fw, enum gang_room room, int64_t ns)
{
    struct str code = str_of(code_name(code_of(room)));
    if (!fw->preempts)
        return;
    series_add(
        metric_series(METRIC_scheduler_workload_preemption_attempts_total, METRIC_VALUES(code)), 1);
    if (room != GANG_ROOM_never && room != GANG_ROOM_going)
        series_observe(metric_series(METRIC_scheduler_preemption_evaluation_duration_seconds,
                                     METRIC_VALUES(STR_LITERAL("podgroup"), code)),
                       ns);
}

void measure_placement(const struct framework *fw, const struct gang_placements *p, bool fits,
                       int64_t ns)
{
    struct str profile = fw->profile.scheduler_name;
    const struct str *values =
        METRIC_VALUES(fits ? STR_LITERAL("feasible") : STR_LITERAL("infeasible"), profile);
    if (fw->profile.features.release < 37)
        return;
    if (p->current == 0)
        series_add(
            metric_series(METRIC_scheduler_generated_placements_total, METRIC_VALUES(profile)),
            p->count > 0 ? p->count : 1);
    series_add(metric_series(METRIC_scheduler_placement_evaluations_total, values), 1);
    series_observe(metric_series(METRIC_scheduler_placement_evaluation_duration_seconds, values),
                   ns);
}

/* ---- victims ---- */

/* Groups that are disrupted: each once that goes as a whole, else each of its pods. */
struct disruptions {
    const struct coordinator *c;
    const struct framework *fw;
    struct arena *arena;
    int64_t count;
    uint32_t whole_count, room;
    const struct gang **wholes;
};

static void add_victim(struct disruptions *d, const struct victim *v)
{
    struct gang named;
    uint32_t i = 0;
    if (!cache_gang_of(d->c->cache, v->uid, &named, d->arena) ||
        !str_is(named.api, GANG_API_BUILT_IN))
        return;
    const struct gang *whole = group_trees_whole(d->c->catalog, &d->fw->profile.features, &named);
    while (i < d->whole_count && d->wholes[i] != whole)
        i++;
    if (i < d->whole_count)
        return;
    d->count++;
    if (whole != NULL && i < d->room)
        d->wholes[d->whole_count++] = whole;
}

static void add_victims(struct disruptions *d, const struct preemption *p)
{
    for (uint32_t i = 0; i < p->victims.count; i++)
        add_victim(d, &p->victims.at[i]);
}

static struct disruptions begin(const struct coordinator *c, const struct framework *fw,
                                uint32_t victims, struct arena *a)
{
    return (struct disruptions){.c = c,
                                .fw = fw,
                                .arena = a,
                                .room = victims,
                                .wholes = arena_take(a, victims * sizeof(const struct gang *))};
}

static void tell(const struct framework *fw, const struct disruptions *d, struct str preemptor,
                 int64_t violations)
{
    const struct features *features = &fw->profile.features;
    if (d->count > 0 && features->gangs && features->release >= 37)
        series_observe(metric_series(METRIC_scheduler_preemption_workload_disruptions,
                                     METRIC_VALUES(preemptor)),
                       d->count);
    if (violations > 0)
        series_add(metric_series(METRIC_scheduler_preemption_pdb_violations_total,
                                 METRIC_VALUES(preemptor)),
                   violations);
}

struct str measure_preemptor(const struct coordinator *c, const struct framework *fw,
                             const struct flight *f)
{
    struct gang named = {
        .api = f->pod.gang_api, .namespace_name = f->pod.namespace_name, .name = f->pod.gang};
    if (fw == NULL || !gang_rules_hold(fw, &f->pod))
        return STR_LITERAL("pod");
    const struct gang *root = group_trees_root(c->catalog, &fw->profile.features, &named);
    bool tree = root != NULL && str_is(root->api, GANG_API_TREE);
    return tree ? STR_LITERAL("compositepodgroup") : STR_LITERAL("podgroup");
}

void measure_group_victims(const struct coordinator *c, const struct framework *fw,
                           const struct gang_try *g)
{
    struct arena memory = {0};
    uint32_t victims = 0;
    int64_t violations = 0;
    for (uint32_t i = 0; i < g->count; i++)
        victims += g->at[i].evicts ? g->at[i].room.victims.count : 0;
    struct disruptions d = begin(c, fw, victims, &memory);
    for (uint32_t i = 0; i < g->count; i++) {
        if (!g->at[i].evicts)
            continue;
        add_victims(&d, &g->at[i].room);
        violations += g->at[i].room.violations;
    }
    metric_observe(METRIC_scheduler_workload_preemption_victims, victims);
    tell(fw, &d, g->tree != NULL ? STR_LITERAL("compositepodgroup") : STR_LITERAL("podgroup"),
         violations);
    arena_free(&memory);
}

void measure_pod_victims(const struct coordinator *c, const struct framework *fw,
                         const struct flight *f, const struct preemption *p)
{
    bool group = gang_rules_hold(fw, &f->pod);
    if (group && f->grouped)
        return; /* counted with the group */
    struct arena memory = {0};
    struct disruptions d = begin(c, fw, p->victims.count, &memory);
    add_victims(&d, p);
    metric_observe(group ? METRIC_scheduler_workload_preemption_victims
                         : METRIC_scheduler_preemption_victims,
                   p->victims.count);
    tell(fw, &d, measure_preemptor(c, fw, f), p->violations);
    arena_free(&memory);
}
