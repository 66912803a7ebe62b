/* hints: the table of wakes.def and the small questions in it: can this event, with these objects,
 * cure that plugin's rejection of this pod?
 *
 * A wrong "yes" costs one attempt, a wrong "no" leaves the pod asleep until the leftover flush; so
 * whatever a hint cannot tell from the records is a yes. Each mirrors the plugin's queueing hint
 * upstream. */
#include "queue/hints.h"

#include "proto/base/must.h"

#include <string.h>

typedef bool hint(const struct pod *pod, const struct event *event);

/* ---- pods ---- */

static bool hint_same_pod(const struct pod *pod, const struct event *event)
{
    return event->new_pod != NULL && str_equal(event->new_pod->uid, pod->uid);
}

static bool hint_same_namespace(const struct pod *pod, const struct event *event)
{
    const struct pod *other = event->new_pod ? event->new_pod : event->old_pod;
    return str_equal(other->namespace_name, pod->namespace_name);
}

static int64_t amount_of(uint32_t count, const struct quantity *list, struct str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(list[i].name, name))
            return list[i].amount;
    return 0;
}

static bool hint_usage_lowered(const struct pod *pod, const struct event *event)
{
    const struct pod *old = event->old_pod, *new = event->new_pod;
    if (hint_same_pod(pod, event))
        return true;
    if (event->resource != EVENT_OF_assigned_pod)
        return false;
    for (uint32_t i = 0; i < pod->request.count; i++) {
        struct str name = pod->request.at[i].name;
        if (pod->request.at[i].amount > 0 && amount_of(new->usage.count, new->usage.at, name) <
                                                 amount_of(old->usage.count, old->usage.at, name))
            return true;
    }
    return false;
}

static bool ports_clash(const struct host_port *wanted, const struct host_port *used)
{
    if (wanted->port != used->port || !str_equal(wanted->protocol, used->protocol))
        return false;
    return str_is(wanted->ip, "0.0.0.0") || str_is(used->ip, "0.0.0.0") ||
           str_equal(wanted->ip, used->ip);
}

static bool hint_ports_freed(const struct pod *pod, const struct event *event)
{
    const struct pod *gone = event->old_pod;
    for (uint32_t i = 0; i < pod->ports.count; i++)
        for (uint32_t k = 0; k < gone->ports.count; k++)
            if (ports_clash(&pod->ports.at[i], &gone->ports.at[k]))
                return true;
    return false;
}

/* ---- taints ---- */

static bool tolerates(const struct toleration *t, const struct taint *taint)
{
    if ((t->effect.len > 0 && !str_equal(t->effect, taint->effect)) ||
        (t->key.len > 0 && !str_equal(t->key, taint->key)))
        return false;
    if (t->operator_name.len == 0 || str_is(t->operator_name, "Equal"))
        return str_equal(t->value, taint->value);
    return str_is(t->operator_name, "Exists");
}

static bool pod_tolerates(const struct pod *pod, const struct taint *taint)
{
    for (uint32_t i = 0; i < pod->tolerations.count; i++)
        if (tolerates(&pod->tolerations.at[i], taint))
            return true;
    return false;
}

static bool pod_tolerates_node(const struct pod *pod, const struct node *node)
{
    for (uint32_t i = 0; i < node->taints.count; i++) {
        const struct taint *taint = &node->taints.at[i];
        bool hard = str_is(taint->effect, "NoSchedule") || str_is(taint->effect, "NoExecute");
        if (hard && !pod_tolerates(pod, taint))
            return false;
    }
    return true;
}

static bool hint_taints_tolerated(const struct pod *pod, const struct event *event)
{
    return (event->old_node == NULL || !pod_tolerates_node(pod, event->old_node)) &&
           pod_tolerates_node(pod, event->new_node);
}

static bool hint_node_opened(const struct pod *pod, const struct event *event)
{
    (void)pod;
    return !event->new_node->unschedulable &&
           (event->old_node == NULL || event->old_node->unschedulable);
}

static bool hint_tolerates_unschedulable(const struct pod *pod, const struct event *event)
{
    static const struct taint taint = {.key = {"node.kubernetes.io/unschedulable", 32},
                                       .effect = {"NoSchedule", 10}};
    return hint_same_pod(pod, event) && pod_tolerates(event->new_pod, &taint);
}

/* ---- room ---- */

static int64_t room_for(const struct node *node, const char *name)
{
    return amount_of(node->allocatable.count, node->allocatable.at, str_of(name));
}

static bool fits_empty(const struct pod *pod, const struct node *node)
{
    if (room_for(node, "pods") < 1)
        return false;
    for (uint32_t i = 0; i < pod->request.count; i++) {
        const struct quantity *want = &pod->request.at[i];
        if (want->amount > amount_of(node->allocatable.count, node->allocatable.at, want->name))
            return false;
    }
    return true;
}

static bool room_grew(const struct pod *pod, const struct node *old, const struct node *new)
{
    if (room_for(new, "pods") > room_for(old, "pods"))
        return true;
    for (uint32_t i = 0; i < pod->request.count; i++) {
        const struct quantity *want = &pod->request.at[i];
        if (want->amount > 0 &&
            amount_of(new->allocatable.count, new->allocatable.at, want->name) >
                amount_of(old->allocatable.count, old->allocatable.at, want->name))
            return true;
    }
    return false;
}

static bool hint_node_has_room(const struct pod *pod, const struct event *event)
{
    return fits_empty(pod, event->new_node) &&
           (event->old_node == NULL || room_grew(pod, event->old_node, event->new_node));
}

/* ---- the table ---- */

/* clang-format off */
enum plugin {
#define PLUGIN(name) PLUGIN_##name,
#define WAKE(plugin, resource, actions, hint)
#include "queue/wakes.def"
#undef PLUGIN
#undef WAKE
    PLUGIN_COUNT
};

static const char *const names[] = {
#define PLUGIN(name) #name,
#define WAKE(plugin, resource, actions, hint)
#include "queue/wakes.def"
#undef PLUGIN
#undef WAKE
    "others"
};

enum wake_resource { WAKE_node, WAKE_pod };

static const struct wake {
    enum plugin plugin;
    enum wake_resource resource;
    uint32_t actions;
    hint *worth;
} wakes[] = {
#define PLUGIN(name)
#define WAKE(plugin, resource, actions, hint) {PLUGIN_##plugin, WAKE_##resource, actions, hint},
#include "queue/wakes.def"
#undef PLUGIN
#undef WAKE
};
/* clang-format on */

#define WAKE_COUNT (sizeof(wakes) / sizeof(wakes[0]))

_Static_assert(PLUGIN_COUNT < 63, "a set of plugins has 63 bits and one for the others");

static uint64_t bit(size_t plugin)
{
    return plugin == PLUGIN_COUNT ? PLUGINS_other : (uint64_t)1 << plugin;
}

static uint64_t bit_of(struct str name)
{
    size_t i = 0;
    while (i < PLUGIN_COUNT && !str_is(name, names[i]))
        i++;
    return bit(i);
}

uint64_t plugins_of(const struct strs *list)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < list->count; i++)
        set |= bit_of(list->at[i]);
    return set;
}

uint64_t plugins_bit(const char *name)
{
    return bit_of(str_of(name));
}

size_t plugins_count(void)
{
    return PLUGIN_COUNT + 1;
}

const char *plugins_name(size_t i)
{
    must(i <= PLUGIN_COUNT);
    return names[i];
}

bool plugins_has(uint64_t set, size_t i)
{
    return (set & bit(i)) != 0;
}

/* An update without a bit of its own matches only who asked for all updates. */
static bool matches(const struct wake *wake, const struct event *event)
{
    bool of_node = event->resource == EVENT_OF_node;
    return (wake->resource == WAKE_node) == of_node && (wake->actions & event->action) != 0 &&
           event->action <= wake->actions;
}

uint64_t hints_interest(const struct event *event)
{
    uint64_t set = PLUGINS_other;
    if (event->wildcard)
        return PLUGINS_all;
    for (size_t i = 0; i < WAKE_COUNT; i++)
        if (matches(&wakes[i], event))
            set |= bit(wakes[i].plugin);
    return set;
}

uint64_t hints_helped(const struct event *event, const struct pod *pod, uint64_t among)
{
    uint64_t helped = among & PLUGINS_other;
    if (event->wildcard)
        return among;
    for (size_t i = 0; i < WAKE_COUNT; i++) {
        uint64_t plugin = bit(wakes[i].plugin);
        if ((among & plugin) != 0 && (helped & plugin) == 0 && matches(&wakes[i], event) &&
            (wakes[i].worth == NULL || wakes[i].worth(pod, event)))
            helped |= plugin;
    }
    return helped;
}
