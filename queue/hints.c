/* hints: the table of plugins.def: which rows an event matches, and what their questions say of a
 * pod.
 *
 * What must stay true: an event that nobody asked for wakes only who is rejected by a plugin that
 * has no hints. */
#include "queue/hint.h"

#include "proto/base/must.h"
#include "proto/metrics.h"
#include "queue/bus_plugins/wakes.h"

/* clang-format off */
static const char *const fields_of[] = {
#define HINTS(name, fields) fields,
#include "proto/plugins.def"
    ""
};

enum wake_resource {
    WAKE_node,
    WAKE_pod,
    WAKE_claim,
    WAKE_volume,
    WAKE_storage_class,
    WAKE_csi_node,
    WAKE_csi_driver,
    WAKE_csi_capacity,
    WAKE_attachment,
    WAKE_resource_claim,
    WAKE_resource_slice,
    WAKE_device_class
};

static const struct wake wakes[] = {
#define WAKE(plugin, resource, actions, hint, filing) \
    {PLUGIN_##plugin, WAKE_##resource, 0, UINT8_MAX, actions, hint, &filing},
#define WAKE_UNTIL(minor, plugin, resource, actions, hint, filing) \
    {PLUGIN_##plugin, WAKE_##resource, 0, minor, actions, hint, &filing},
#define WAKE_SINCE(minor, plugin, resource, actions, hint, filing) \
    {PLUGIN_##plugin, WAKE_##resource, minor, UINT8_MAX, actions, hint, &filing},
#include "proto/plugins.def"
};
/* clang-format on */

#define WAKE_COUNT (sizeof(wakes) / sizeof(wakes[0]))

static uint64_t bit(size_t plugin)
{
    return (uint64_t)1 << plugin;
}

const struct wake *wake_row(size_t i)
{
    return i < WAKE_COUNT ? &wakes[i] : NULL;
}

const char *wake_fields(size_t i)
{
    must(i <= PLUGIN_COUNT);
    return fields_of[i];
}

static const enum wake_resource resources[EVENT_RESOURCES] = {
    [EVENT_OF_node] = WAKE_node,
    [EVENT_OF_assigned_pod] = WAKE_pod,
    [EVENT_OF_unschedulable_pod] = WAKE_pod,
    [EVENT_OF_claim] = WAKE_claim,
    [EVENT_OF_volume] = WAKE_volume,
    [EVENT_OF_storage_class] = WAKE_storage_class,
    [EVENT_OF_csi_node] = WAKE_csi_node,
    [EVENT_OF_csi_driver] = WAKE_csi_driver,
    [EVENT_OF_csi_capacity] = WAKE_csi_capacity,
    [EVENT_OF_attachment] = WAKE_attachment,
    [EVENT_OF_resource_claim] = WAKE_resource_claim,
    [EVENT_OF_resource_slice] = WAKE_resource_slice,
    [EVENT_OF_device_class] = WAKE_device_class,
};

/* An update without a bit of its own matches only who asked for all updates. */
bool wake_matches(const struct wake *wake, const struct event *event)
{
    return wake->resource == resources[event->resource] && (wake->actions & event->action) != 0 &&
           event->action <= wake->actions && event->release >= wake->since &&
           event->release <= wake->until;
}

/* One question in so many is timed: reading the clock costs as much as most of them. */
#define TIMED_ONE_IN 10

bool wake_worth(const struct wake *wake, const struct question *q)
{
    if (wake->worth == NULL)
        return true;
    struct hint_timing *timing = q->around->timing;
    if (timing == NULL || timing->clock == NULL || timing->turn++ % TIMED_ONE_IN != 0)
        return wake->worth(q);
    struct moment began = timing->clock();
    bool worth = wake->worth(q);
    int64_t took = moment_since(timing->clock(), began).ns;
    const struct str *values = METRIC_VALUES(
        str_of(event_label(q->event)), worth ? STR_LITERAL("Queue") : STR_LITERAL("QueueSkip"),
        str_of(plugins_name(wake->plugin)));
    series_observe(metric_series(METRIC_scheduler_queueing_hint_execution_duration_seconds, values),
                   took);
    return worth;
}

/* The row asks whether a pod has changed itself while it had no node; an assigned one has one. */
static bool is_about_another(const struct wake *wake, const struct event *event)
{
    return wake->filing == &filed_nowhere && event->resource == EVENT_OF_assigned_pod;
}

uint64_t hints_interest(const struct event *event)
{
    uint64_t set = event->unseen ? 0 : PLUGINS_other | PLUGINS_bus;
    if (event->wildcard)
        return PLUGINS_all;
    for (size_t i = 0; i < WAKE_COUNT; i++)
        if (wake_matches(&wakes[i], event) && !is_about_another(&wakes[i], event))
            set |= bit(wakes[i].plugin);
    return set;
}

uint64_t hints_helped(const struct event *event, const struct pod *pod,
                      const struct surroundings *around, uint64_t among)
{
    uint64_t helped = event->unseen ? 0 : among & PLUGINS_other;
    const struct question q = {pod, event, around};
    if (event->wildcard)
        return among;
    if ((among & PLUGINS_bus) != 0)
        helped |= bus_wakes_helped(around->bus, event, among);
    for (size_t i = 0; i < WAKE_COUNT; i++) {
        uint64_t plugin = bit(wakes[i].plugin);
        if ((among & plugin) != 0 && (helped & plugin) == 0 && wake_matches(&wakes[i], event) &&
            !is_about_another(&wakes[i], event) && wake_worth(&wakes[i], &q))
            helped |= plugin;
    }
    return helped;
}

uint64_t hints_ignoring_arrivals(const struct pod *pod, const struct surroundings *around)
{
    uint64_t ignored = 0;
    bool own_only = around->profile == NULL || around->profile->spread_system_defaults ||
                    around->profile->spread_defaults.count == 0;
    if (pod->spread.count == 0 && own_only)
        ignored |= bit(PLUGIN_PodTopologySpread);
    if (pod->affinity_required.count == 0 && pod->anti_affinity_required.count == 0)
        ignored |= bit(PLUGIN_InterPodAffinity);
    return ignored;
}

bool hints_arrival(const struct event *event)
{
    return !event->wildcard && event->resource == EVENT_OF_assigned_pod &&
           event->action == EVENT_ADD;
}
