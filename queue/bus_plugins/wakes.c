/* wakes: the events of BusPluginArgs as masks. What must stay true: a plugin that says nothing of
 * events is woken by every one, and an event whose kind has no name of its own wakes those alone
 * that ask for all updates, as upstream matches what plugins register. */
#include "queue/bus_plugins/wakes.h"

static const uint32_t bits_of[] = {
    [EVENT_CHANGE_all] = EVENT_ADD | EVENT_DELETE | EVENT_UPDATE,
    [EVENT_CHANGE_add] = EVENT_ADD,
    [EVENT_CHANGE_delete] = EVENT_DELETE,
    [EVENT_CHANGE_update] = EVENT_UPDATE,
    [EVENT_CHANGE_node_allocatable] = EVENT_NODE_ALLOCATABLE,
    [EVENT_CHANGE_node_label] = EVENT_NODE_LABEL,
    [EVENT_CHANGE_node_taint] = EVENT_NODE_TAINT,
    [EVENT_CHANGE_node_condition] = EVENT_NODE_CONDITION,
    [EVENT_CHANGE_node_feature] = EVENT_NODE_FEATURE,
    [EVENT_CHANGE_pod_label] = EVENT_POD_LABEL,
    [EVENT_CHANGE_pod_scale_down] = EVENT_POD_SCALE_DOWN,
    [EVENT_CHANGE_pod_toleration] = EVENT_POD_TOLERATION,
    [EVENT_CHANGE_pod_gates] = EVENT_POD_GATES,
    [EVENT_CHANGE_pod_claim] = EVENT_POD_CLAIM,
};

static const enum event_source sources[EVENT_RESOURCES] = {
    [EVENT_OF_node] = EVENT_SOURCE_node,
    [EVENT_OF_assigned_pod] = EVENT_SOURCE_assigned_pod,
    [EVENT_OF_unschedulable_pod] = EVENT_SOURCE_pod,
    [EVENT_OF_claim] = EVENT_SOURCE_claim,
    [EVENT_OF_volume] = EVENT_SOURCE_volume,
    [EVENT_OF_storage_class] = EVENT_SOURCE_storage_class,
    [EVENT_OF_csi_node] = EVENT_SOURCE_csi_node,
    [EVENT_OF_csi_driver] = EVENT_SOURCE_csi_driver,
    [EVENT_OF_csi_capacity] = EVENT_SOURCE_csi_capacity,
    [EVENT_OF_attachment] = EVENT_SOURCE_attachment,
    [EVENT_OF_resource_claim] = EVENT_SOURCE_resource_claim,
    [EVENT_OF_resource_slice] = EVENT_SOURCE_resource_slice,
    [EVENT_OF_device_class] = EVENT_SOURCE_device_class,
    [EVENT_OF_device_taint_rule] = EVENT_SOURCE_resource_slice,
};

static bool is_about(enum event_source source, int resource)
{
    return source == EVENT_SOURCE_any || source == sources[resource] ||
           (source == EVENT_SOURCE_pod && resource == EVENT_OF_assigned_pod);
}

static uint32_t mask_of(const struct strs *actions)
{
    uint32_t mask = 0, number = 0;
    for (uint32_t i = 0; i < actions->count; i++)
        if (words_find(&event_change_words, actions->at[i], &number))
            mask |= bits_of[number];
    return mask;
}

static size_t place_of(uint64_t bit)
{
    return (size_t)__builtin_ctzll(bit) - PLUGINS_BUS_FIRST;
}

static void read_plugin(struct bus_wakes *w, const struct bus_plugin *plugin, uint64_t bit)
{
    if (plugin->hints)
        w->asks |= bit;
    if (plugin->events.count > 0)
        w->listed |= bit;
    for (uint32_t i = 0; i < plugin->events.count; i++) {
        const struct plugin_event *event = &plugin->events.at[i];
        for (int k = 0; k < EVENT_RESOURCES; k++)
            if (is_about(event->resource, k))
                w->actions[place_of(bit)][k] |= mask_of(&event->actions);
    }
}

void bus_wakes_read(struct bus_wakes *w, const struct profile *profile, struct plugins_named *named)
{
    *w = (struct bus_wakes){0};
    for (uint32_t i = 0; i < profile->bus_plugins.count; i++) {
        const struct bus_plugin *plugin = &profile->bus_plugins.at[i];
        uint64_t bit = plugins_learn(named, plugin->name);
        if ((bit & PLUGINS_bus) != 0)
            read_plugin(w, plugin, bit);
    }
}

uint64_t bus_wakes_helped(const struct bus_wakes *w, const struct event *event, uint64_t among)
{
    uint64_t helped = event->unseen ? 0 : among & PLUGINS_bus;
    uint64_t listed = w != NULL ? helped & w->listed : 0;
    for (; listed != 0; listed &= listed - 1) {
        uint64_t bit = listed & -listed;
        uint32_t actions = w->actions[place_of(bit)][event->resource];
        if ((actions & event->action) == 0 || event->action > actions)
            helped &= ~bit;
    }
    return helped;
}
