/* bus_plugins: plugins that are processes, as the scheduler asks them; who is there, and which
 * process of a name is asked, is proto/plugins. What must stay true: whoever answers well after it
 * failed, or comes, is told of to the queue, since pods wait there that were turned away for want
 * of it. */
#include "scheduler/coordinator/bus_plugins.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/coordinator/coordination.h"
#include "scheduler/merge/plugin_facts.h"

/* ---- who is there ---- */

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
                bus_plugin_says(p, p->bus_plugins.at[k].name).any)
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
        const struct bus_plugin_says says = bus_plugin_says(profile, plugin->name);
        if (!says.nodes && !says.pod)
            continue;
        uint64_t bit = BUS_PLUGIN_BIT(bus_plugins_slot(c, plugin) - c->plugins.at);
        if (says.nodes)
            asked->nodes |= bit;
        if (says.filters)
            asked->victims |= bit;
        if (says.pod)
            asked->pod |= bit;
    }
}

/* ---- asking ---- */

bool bus_plugins_ask(struct coordinator *c, struct moment now, struct flight *f,
                     const struct consultation_turn *t, struct str *why)
{
    struct bus_plugin_slot *slot = bus_plugins_slot(c, t->plugin);
    const char *problem = processes_unable(slot, now);
    struct arena memory = {0};
    struct message m = {
        .type = MSG_plugin_ask,
        .plugin_ask = {.step = t->step, .pod = f->pod, .deadline_ms = t->plugin->deadline_ms}};
    if (problem == NULL && !plugin_facts(c->cache, t, &m.plugin_ask, &memory))
        problem = PLUGIN_FACTS_TOO_LARGE;
    if (problem == NULL) {
        slot->asked++;
        f->question = m.plugin_ask.id = flights_question(&c->flights);
        f->asked_peer = slot->peer;
        flights_due(&c->flights, f, moment_after(now, span_of_ms(t->plugin->deadline_ms)));
        outbox_put(
            c->out,
            (struct address) {
                PLUGIN
                , slot->peer
            },
            &m);
    } else {
        slot->failing = true;
        *why = bus_plugins_failed(c, t->plugin, str_of(problem), &c->cycle_memory);
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
        const struct bus_plugin *plugin = bus_plugin_of(&fw->profile, fw->profile.post_bind.at[i]);
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
        if (bus_plugin_of(profile, names.at[i]) != NULL)
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
