/* bus_plugins: plugins that are processes, as the scheduler asks them; who is there, and which
 * process of a name is asked, is proto/plugins. What must stay true: whoever answers well after it
 * failed, or comes, is told of to the queue, since pods wait there that were turned away for want
 * of it. */
#include "scheduler/coordinator/bus_plugins.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/coordinator/coordination.h"

#include <string.h>

#define FACTS_MAX ((size_t)12 << 20) /* bytes about nodes in a message; a frame holds 16 MiB */

/* ---- who is there ---- */

static bool scores(const struct profile *p, struct str name)
{
    for (uint32_t i = 0; i < p->score.count; i++)
        if (str_equal(p->score.at[i].name, name))
            return true;
    return false;
}

/* One that the queue alone asks need not be at our door. */
static bool is_ours(const struct profile *p, struct str name)
{
    const struct strs *points[] = {&p->pre_filter, &p->filter, &p->post_filter, &p->pre_score,
                                   &p->reserve,    &p->permit, &p->post_bind};
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
        if (strs_hold(*points[i], name))
            return true;
    return scores(p, name);
}

void bus_plugins_configure(struct coordinator *c)
{
    struct str names[CONFIG_BUS_PLUGINS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->frameworks.count; i++) {
        const struct profile *p = &c->frameworks.at[i].profile;
        for (uint32_t k = 0; k < p->bus_plugins.count; k++) {
            uint32_t first = 0;
            while (first < count && !str_equal(names[first], p->bus_plugins.at[k].name))
                first++;
            if (first == count && count < CONFIG_BUS_PLUGINS_MAX &&
                is_ours(p, p->bus_plugins.at[k].name))
                names[count++] = p->bus_plugins.at[k].name;
        }
    }
    processes_configure(&c->plugins, names, count);
}

/* Those that were turned away for want of it wait for this. */
static void say_back(struct coordinator *c, const struct bus_plugin_slot *slot)
{
    struct message m = {.type = MSG_plugin_back, .plugin_back = {.name = str_of(slot->name)}};
    if (c->queue.peer != 0)
        outbox_put(c->out, c->queue, &m);
}

void bus_plugins_up(struct coordinator *c, struct str name, uint32_t peer)
{
    const struct bus_plugin_slot *slot = processes_up(&c->plugins, name, peer);
    if (slot != NULL)
        say_back(c, slot);
}

void bus_plugins_down(struct coordinator *c, uint32_t peer)
{
    (void)processes_down(&c->plugins, peer);
}

/* ---- whom a profile asks ---- */

const struct bus_plugin *bus_plugins_of(const struct profile *profile, struct str name)
{
    for (uint32_t i = 0; i < profile->bus_plugins.count; i++)
        if (str_equal(profile->bus_plugins.at[i].name, name))
            return &profile->bus_plugins.at[i];
    return NULL;
}

struct bus_plugin_slot *bus_plugins_slot(struct coordinator *c, const struct bus_plugin *plugin)
{
    struct bus_plugin_slot *slot = processes_slot(&c->plugins, plugin->name);
    must(slot != NULL); /* the configuration bounds them */
    return slot;
}

void bus_plugins_wanted(struct coordinator *c, const struct profile *profile,
                        struct extension_asked *asked)
{
    for (uint32_t i = 0; i < profile->bus_plugins.count; i++) {
        const struct bus_plugin *plugin = &profile->bus_plugins.at[i];
        bool filters = strs_hold(profile->filter, plugin->name);
        bool nodes =
            filters || strs_hold(profile->pre_score, plugin->name) || scores(profile, plugin->name);
        bool pod = strs_hold(profile->pre_filter, plugin->name) ||
                   strs_hold(profile->post_filter, plugin->name);
        if (!nodes && !pod)
            continue;
        uint64_t bit = BUS_PLUGIN_BIT(bus_plugins_slot(c, plugin) - c->plugins.at);
        if (nodes)
            asked->nodes |= bit;
        if (filters)
            asked->victims |= bit;
        if (pod)
            asked->pod |= bit;
    }
}

/* ---- asking ---- */

static void add_amount(struct plugin_node *n, const struct quantity *more, struct arena *a)
{
    for (uint32_t i = 0; i < n->requested.count; i++)
        if (str_equal(n->requested.at[i].name, more->name)) {
            n->requested.at[i].amount += more->amount;
            return;
        }
    struct quantity *grown = arena_take(a, (n->requested.count + 1) * sizeof(*grown));
    if (n->requested.count > 0)
        memcpy(grown, n->requested.at, n->requested.count * sizeof(*grown));
    grown[n->requested.count++] = (struct quantity){arena_copy(a, more->name), more->amount};
    n->requested.at = grown;
}

struct summing {
    struct plugin_node *node;
    bool tells;    /* of each pod */
    uint32_t room; /* for them */
    struct arena *arena;
};

/* A copy, as the pod lasts no longer than the call. */
static void tell_pod(struct summing *s, const struct pod *pod, bool assumed)
{
    struct plugin_node *n = s->node;
    if (n->pods_there.count == s->room) {
        struct plugin_pod *former = n->pods_there.at;
        s->room = s->room > 0 ? 2 * s->room : 16;
        n->pods_there.at = arena_take(s->arena, s->room * sizeof(*former));
        if (n->pods_there.count > 0)
            memcpy(n->pods_there.at, former, n->pods_there.count * sizeof(*former));
    }
    const struct plugin_pod told = {.namespace_name = pod->namespace_name,
                                    .name = pod->name,
                                    .uid = pod->uid,
                                    .labels = {pod->labels.count, pod->labels.at},
                                    .requested = {pod->usage.count, pod->usage.at},
                                    .priority = pod->priority,
                                    .assumed = assumed};
    codec_copy(&plugin_pod_record, &n->pods_there.at[n->pods_there.count++], &told, s->arena);
}

static void add_pod(void *context, const struct pod *pod, bool assumed)
{
    struct summing *s = context;
    s->node->pods++;
    for (uint32_t i = 0; i < pod->usage.count; i++)
        add_amount(s->node, &pod->usage.at[i], s->arena);
    if (s->tells)
        tell_pod(s, pod, assumed);
}

static size_t size_of_labels(uint32_t count, const struct label *at)
{
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        size += 16 + at[i].key.len + at[i].value.len;
    return size;
}

static size_t size_of_amounts(uint32_t count, const struct quantity *at)
{
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++)
        size += 16 + at[i].name.len;
    return size;
}

static size_t size_of_pod(const struct plugin_pod *p)
{
    return 48 + p->namespace_name.len + p->name.len + p->uid.len +
           size_of_labels(p->labels.count, p->labels.at) +
           size_of_amounts(p->requested.count, p->requested.at);
}

static size_t size_of(const struct plugin_node *n)
{
    size_t size = 48 + n->name.len + n->rejected_by.len;
    size += size_of_labels(n->labels.count, n->labels.at);
    size += size_of_labels(n->conditions.count, n->conditions.at);
    size += size_of_labels(n->annotations.count, n->annotations.at);
    size += size_of_amounts(n->allocatable.count, n->allocatable.at);
    size += size_of_amounts(n->requested.count, n->requested.at);
    for (uint32_t i = 0; i < n->taints.count; i++)
        size += 24 + n->taints.at[i].key.len + n->taints.at[i].value.len;
    for (uint32_t i = 0; i < n->reasons.count; i++)
        size += 8 + n->reasons.at[i].len;
    for (uint32_t i = 0; i < n->pods_there.count; i++)
        size += size_of_pod(&n->pods_there.at[i]);
    return size;
}

/* What the plugin wants to know of a node; a node that just went is told as its name. */
static struct plugin_node describe(const struct coordinator *c, const struct bus_plugin *plugin,
                                   struct str name, struct arena *a)
{
    struct plugin_node out = {.name = name};
    struct node node;
    if (plugin->facts == FACTS_names || !cache_node_get(c->cache, name, &node, a))
        return out;
    out.labels.count = node.labels.count;
    out.labels.at = node.labels.at;
    out.taints.count = node.taints.count;
    out.taints.at = node.taints.at;
    out.unschedulable = node.unschedulable;
    out.allocatable.count = node.allocatable.count;
    out.allocatable.at = node.allocatable.at;
    out.conditions.count = node.conditions.count;
    out.conditions.at = node.conditions.at;
    out.annotations.count = node.annotations.count;
    out.annotations.at = node.annotations.at;
    struct summing s = {.node = &out, .tells = plugin->facts == FACTS_pods, .arena = a};
    if (plugin->facts != FACTS_node)
        cache_each_pod(c->cache, name, add_pod, &s);
    return out;
}

static void add_why(struct plugin_node *told, const struct verdict *why)
{
    told->reasons = why->reasons;
    told->rejected_by = why->plugin;
    told->unresolvable = why->code != VERDICT_unschedulable;
}

/* False: they do not fit into a message. */
static bool describe_all(const struct coordinator *c, const struct bus_question *q,
                         struct plugin_ask *ask, struct arena *a)
{
    size_t size = 0;
    ask->nodes.at = arena_take(a, q->nodes->count * sizeof(*ask->nodes.at));
    for (uint32_t i = 0; i < q->nodes->count && size <= FACTS_MAX; i++) {
        struct plugin_node *told = &ask->nodes.at[ask->nodes.count++];
        *told = describe(c, q->plugin, q->nodes->at[i], a);
        if (q->why_not != NULL)
            add_why(told, &q->why_not->nodes[i]);
        size += size_of(told);
    }
    return size <= FACTS_MAX;
}

bool bus_plugins_ask(struct coordinator *c, struct moment now, struct flight *f,
                     const struct bus_question *q, struct str *why)
{
    struct bus_plugin_slot *slot = bus_plugins_slot(c, q->plugin);
    const char *problem = processes_unable(slot, now);
    struct arena memory = {0};
    struct message m = {
        .type = MSG_plugin_ask,
        .plugin_ask = {.step = q->step, .pod = f->pod, .deadline_ms = q->plugin->deadline_ms}};
    if (problem == NULL && !describe_all(c, q, &m.plugin_ask, &memory))
        problem = "is to be told more of the nodes than a message holds";
    if (problem == NULL) {
        slot->asked++;
        f->question = m.plugin_ask.id = flights_question(&c->flights);
        f->asked_peer = slot->peer;
        flights_due(&c->flights, f, moment_after(now, span_of_ms(q->plugin->deadline_ms)));
        outbox_put(
            c->out,
            (struct address) {
                PLUGIN
                , slot->peer
            },
            &m);
    } else {
        slot->failing = true;
        *why = bus_plugins_failed(c, q->plugin, str_of(problem), q->memory);
    }
    arena_free(&memory);
    return problem == NULL;
}

struct str bus_plugins_failed(struct coordinator *c, const struct bus_plugin *plugin,
                              struct str why, struct arena *a)
{
    return processes_failed(bus_plugins_slot(c, plugin), why, a);
}

void bus_plugins_say_failed(struct coordinator *c, struct moment now, const struct flight *f,
                            bool ignored, struct str why)
{
    if (log_limited(&c->plugins.log, now))
        log_warn("a plugin failed| pod=%.*s/%.*s why=\"%.*s\" ignored=%s",
                 STR_ARG(f->pod.namespace_name), STR_ARG(f->pod.name), STR_ARG(why),
                 ignored ? "yes" : "no");
}

struct str bus_plugins_late(struct coordinator *c, struct moment now,
                            const struct bus_plugin *plugin, struct arena *a)
{
    return processes_late(bus_plugins_slot(c, plugin), now, plugin->deadline_ms, a);
}

void bus_plugins_fine(struct coordinator *c, const struct bus_plugin *plugin)
{
    struct bus_plugin_slot *slot = bus_plugins_slot(c, plugin);
    if (processes_fine(slot))
        say_back(c, slot);
}

void bus_plugins_heard(struct coordinator *c, uint32_t peer)
{
    const struct bus_plugin_slot *slot = processes_heard(&c->plugins, peer);
    if (slot != NULL)
        say_back(c, slot);
}

/* ---- telling ---- */

void bus_plugins_tell(struct coordinator *c, const struct bus_plugin *plugin, enum plugin_news what,
                      const struct flight *f)
{
    const struct bus_plugin_slot *slot = bus_plugins_slot(c, plugin);
    struct message m = {.type = MSG_plugin_told,
                        .plugin_told = {.what = what,
                                        .uid = f->pod.uid,
                                        .namespace_name = f->pod.namespace_name,
                                        .name = f->pod.name,
                                        .node = f->pod.node_name}};
    if (slot->peer != 0)
        outbox_put(
            c->out,
            (struct address) {
                PLUGIN
                , slot->peer
            },
            &m);
}

void bus_plugins_post_bind(struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    for (uint32_t i = 0; fw != NULL && i < fw->profile.post_bind.count; i++) {
        const struct bus_plugin *plugin = bus_plugins_of(&fw->profile, fw->profile.post_bind.at[i]);
        if (plugin != NULL)
            bus_plugins_tell(c, plugin, PLUGIN_NEWS_bound, f);
    }
}

void bus_plugins_status(const struct coordinator *c, struct moment now, struct buffer *lines)
{
    processes_status(&c->plugins, now, lines);
}

static bool any_of(const struct profile *profile, struct strs names)
{
    for (uint32_t i = 0; i < names.count; i++)
        if (bus_plugins_of(profile, names.at[i]) != NULL)
            return true;
    return false;
}

bool bus_plugins_permit(const struct profile *profile)
{
    return any_of(profile, profile->permit);
}

bool bus_plugins_reserve(const struct profile *profile)
{
    return any_of(profile, profile->reserve);
}
