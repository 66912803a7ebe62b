/* bus_plugins: the processes that plugins are. The one idea: a plugin is asked for through
 * whichever process of its name came last, so that one can take over from another, and one that
 * lets a deadline pass is not asked again before it speaks or a few seconds are over, so that it
 * holds up nobody for longer than that. What must stay true: whoever answers well after it failed,
 * or comes, is told of to the queue, since pods wait there that were turned away for want of it. */
#include "scheduler/coordinator/bus_plugins.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "proto/kube/config/config_duration.h"
#include "scheduler/coordinator/coordination.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REST_MS   5000               /* for one that let a deadline pass */
#define FACTS_MAX ((size_t)12 << 20) /* bytes about nodes in a message; a frame holds 16 MiB */

/* ---- who is there ---- */

static bool is_named(const char *a, struct str b)
{
    return str_is(b, a);
}

static uint32_t newest(const struct bus_plugins *b, const char *name)
{
    for (uint32_t i = b->process_count; i > 0; i--)
        if (strcmp(b->processes[i - 1].name, name) == 0)
            return b->processes[i - 1].peer;
    return 0;
}

static struct bus_plugin_slot *slot_named(struct bus_plugins *b, struct str name)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (is_named(b->at[i].name, name))
            return &b->at[i];
    return NULL;
}

void bus_plugins_configure(struct coordinator *c)
{
    struct bus_plugins *b = &c->plugins, old = c->plugins;
    b->count = 0;
    for (uint32_t i = 0; i < c->frameworks.count; i++) {
        const struct profile *p = &c->frameworks.at[i].profile;
        for (uint32_t k = 0; k < p->bus_plugins.count; k++) {
            struct str name = p->bus_plugins.at[k].name;
            if (slot_named(b, name) != NULL || b->count == CONFIG_BUS_PLUGINS_MAX)
                continue;
            const struct bus_plugin_slot *before = slot_named(&old, name);
            struct bus_plugin_slot *slot = &b->at[b->count++];
            *slot = before != NULL ? *before : (struct bus_plugin_slot){0};
            snprintf(slot->name, sizeof(slot->name), "%.*s", STR_ARG(name));
            slot->peer = newest(b, slot->name);
        }
    }
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
    struct bus_plugins *b = &c->plugins;
    struct bus_plugin_slot *slot = slot_named(b, name);
    if (b->process_count == BUS_PROCESSES_MAX || name.len > CONFIG_BUS_NAME_MAX) {
        log_warn("plugin refused: %d processes are the most| plugin=%.*s", BUS_PROCESSES_MAX,
                 STR_ARG(name));
        return;
    }
    struct bus_process *process = &b->processes[b->process_count++];
    process->peer = peer;
    snprintf(process->name, sizeof(process->name), "%.*s", STR_ARG(name));
    log_info("plugin joined| plugin=%.*s%s", STR_ARG(name), slot == NULL ? " configured=no" : "");
    if (slot == NULL)
        return;
    slot->peer = peer;
    slot->failing = false;
    slot->rest = (struct moment){0};
    say_back(c, slot);
}

void bus_plugins_down(struct coordinator *c, uint32_t peer)
{
    struct bus_plugins *b = &c->plugins;
    uint32_t i = 0;
    while (i < b->process_count && b->processes[i].peer != peer)
        i++;
    if (i == b->process_count)
        return;
    struct bus_process gone = b->processes[i];
    memmove(&b->processes[i], &b->processes[i + 1],
            (b->process_count - i - 1) * sizeof(b->processes[0]));
    b->process_count--;
    struct bus_plugin_slot *slot = slot_named(b, str_of(gone.name));
    log_info("plugin left| plugin=%s", gone.name);
    if (slot == NULL || slot->peer != peer)
        return;
    slot->peer = newest(b, slot->name);
    slot->rest = (struct moment){0};
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
    struct bus_plugin_slot *slot = slot_named(&c->plugins, plugin->name);
    must(slot != NULL); /* the configuration bounds them */
    return slot;
}

static bool scores(const struct profile *p, struct str name)
{
    for (uint32_t i = 0; i < p->score.count; i++)
        if (str_equal(p->score.at[i].name, name))
            return true;
    return false;
}

void bus_plugins_wanted(struct coordinator *c, const struct profile *profile, uint64_t *asked,
                        uint64_t *victims)
{
    for (uint32_t i = 0; i < profile->bus_plugins.count; i++) {
        const struct bus_plugin *plugin = &profile->bus_plugins.at[i];
        uint64_t bit = BUS_PLUGIN_BIT(bus_plugins_slot(c, plugin) - c->plugins.at);
        bool filters = strs_hold(profile->filter, plugin->name);
        if (filters || scores(profile, plugin->name))
            *asked |= bit;
        if (filters)
            *victims |= bit;
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
    struct arena *arena;
};

static void add_pod(void *context, const struct pod *pod, bool assumed)
{
    struct summing *s = context;
    (void)assumed;
    s->node->pods++;
    for (uint32_t i = 0; i < pod->usage.count; i++)
        add_amount(s->node, &pod->usage.at[i], s->arena);
}

static size_t size_of(const struct plugin_node *n)
{
    size_t size = 32 + n->name.len;
    for (uint32_t i = 0; i < n->labels.count; i++)
        size += 16 + n->labels.at[i].key.len + n->labels.at[i].value.len;
    for (uint32_t i = 0; i < n->taints.count; i++)
        size += 24 + n->taints.at[i].key.len + n->taints.at[i].value.len;
    for (uint32_t i = 0; i < n->allocatable.count; i++)
        size += 16 + n->allocatable.at[i].name.len;
    for (uint32_t i = 0; i < n->requested.count; i++)
        size += 16 + n->requested.at[i].name.len;
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
    if (plugin->facts != FACTS_node)
        cache_each_pod(c->cache, name, add_pod, &(struct summing){&out, a});
    return out;
}

/* False: they do not fit into a message. */
static bool describe_all(const struct coordinator *c, const struct bus_question *q,
                         struct plugin_ask *ask, struct arena *a)
{
    size_t size = 0;
    ask->nodes.at = arena_take(a, q->nodes->count * sizeof(*ask->nodes.at));
    for (uint32_t i = 0; i < q->nodes->count && size <= FACTS_MAX; i++) {
        ask->nodes.at[ask->nodes.count] = describe(c, q->plugin, q->nodes->at[i], a);
        size += size_of(&ask->nodes.at[ask->nodes.count++]);
    }
    return size <= FACTS_MAX;
}

/* Why it cannot be asked; NULL: it can. */
static const char *unable(const struct bus_plugin_slot *slot, struct moment now)
{
    if (slot->peer == 0)
        return "is not there";
    if (slot->rest.ns != 0 && !moment_reached(now, slot->rest))
        return "does not answer";
    return NULL;
}

bool bus_plugins_ask(struct coordinator *c, struct moment now, struct flight *f,
                     const struct bus_question *q, struct str *why)
{
    struct bus_plugin_slot *slot = bus_plugins_slot(c, q->plugin);
    const char *problem = unable(slot, now);
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
    struct bus_plugin_slot *slot = bus_plugins_slot(c, plugin);
    slot->failing = true;
    slot->failures++;
    return arena_print(a, "plugin \"%s\" %.*s", slot->name, STR_ARG(why));
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
    struct bus_plugin_slot *slot = bus_plugins_slot(c, plugin);
    struct buffer text = {0};
    buffer_add_text(&text, "did not answer within ");
    config_duration_print(span_of_ms(plugin->deadline_ms), &text);
    struct str why = bus_plugins_failed(c, plugin, buffer_str(&text), a);
    if (slot->rest.ns == 0 || moment_reached(now, slot->rest))
        log_warn("a plugin is late| plugin=%s text=\"%s\"", slot->name, text.at);
    buffer_free(&text);
    slot->late++;
    slot->rest = moment_after(now, span_of_ms(REST_MS));
    return why;
}

void bus_plugins_fine(struct coordinator *c, const struct bus_plugin *plugin)
{
    struct bus_plugin_slot *slot = bus_plugins_slot(c, plugin);
    if (slot->failing)
        say_back(c, slot);
    slot->failing = false;
}

void bus_plugins_heard(struct coordinator *c, uint32_t peer)
{
    for (uint32_t i = 0; i < c->plugins.count; i++) {
        struct bus_plugin_slot *slot = &c->plugins.at[i];
        if (slot->peer != peer || slot->rest.ns == 0)
            continue;
        slot->rest = (struct moment){0};
        slot->failing = false;
        say_back(c, slot);
    }
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
    for (uint32_t i = 0; i < c->plugins.count; i++) {
        const struct bus_plugin_slot *s = &c->plugins.at[i];
        const char *problem = unable(s, now);
        buffer_print(lines,
                     "plugin_%s=%s asked=%" PRIu64 " failures=%" PRIu64 " late=%" PRIu64 "\n",
                     s->name, problem == NULL ? "up" : problem, s->asked, s->failures, s->late);
    }
}

bool bus_plugins_permit(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->permit.count; i++)
        if (bus_plugins_of(profile, profile->permit.at[i]) != NULL)
            return true;
    return false;
}
