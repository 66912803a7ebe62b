/* processes: who is there. The one idea: a plugin is asked for through whichever process of its
 * name came last, so that one can take over from another, and one that lets a deadline pass is not
 * asked again before it speaks or a few seconds are over, so that it holds up nobody for longer
 * than that. What must stay true: whoever answers well after it failed, or comes, is told to the
 * caller, since somebody may wait who was turned away for want of it. */
#include "proto/plugins/processes.h"

#include "proto/base/must.h"
#include "proto/kube/config/config_duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REST_MS 5000 /* for one that let a deadline pass */

static uint32_t newest(const struct bus_plugins *b, const char *name)
{
    for (uint32_t i = b->process_count; i > 0; i--)
        if (strcmp(b->processes[i - 1].name, name) == 0)
            return b->processes[i - 1].peer;
    return 0;
}

static const struct bus_plugin_slot *find(const struct bus_plugins *b, struct str name)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (str_is(name, b->at[i].name))
            return &b->at[i];
    return NULL;
}

struct bus_plugin_slot *processes_slot(struct bus_plugins *b, struct str name)
{
    const struct bus_plugin_slot *found = find(b, name);
    return found != NULL ? &b->at[found - b->at] : NULL;
}

void processes_configure(struct bus_plugins *b, const struct str *names, uint32_t count)
{
    const struct bus_plugins old = *b;
    b->count = 0;
    for (uint32_t i = 0; i < count && b->count < CONFIG_BUS_PLUGINS_MAX; i++) {
        if (find(b, names[i]) != NULL)
            continue;
        const struct bus_plugin_slot *before = find(&old, names[i]);
        struct bus_plugin_slot *slot = &b->at[b->count++];
        *slot = before != NULL ? *before : (struct bus_plugin_slot){0};
        snprintf(slot->name, sizeof(slot->name), "%.*s", STR_ARG(names[i]));
        slot->peer = newest(b, slot->name);
    }
}

void processes_put(struct bus_plugins *b, uint32_t at, struct str name)
{
    must(at <= b->count && at < CONFIG_BUS_PLUGINS_MAX);
    struct bus_plugin_slot *slot = &b->at[at];
    *slot = (struct bus_plugin_slot){0};
    snprintf(slot->name, sizeof(slot->name), "%.*s", STR_ARG(name));
    slot->peer = newest(b, slot->name);
    b->count += at == b->count;
}

struct bus_plugin_slot *processes_up(struct bus_plugins *b, struct str name, uint32_t peer)
{
    struct bus_plugin_slot *slot = processes_slot(b, name);
    if (b->process_count == BUS_PROCESSES_MAX || name.len > CONFIG_BUS_NAME_MAX) {
        log_warn("plugin refused: %d processes are the most| plugin=%.*s", BUS_PROCESSES_MAX,
                 STR_ARG(name));
        return NULL;
    }
    struct bus_process *process = &b->processes[b->process_count++];
    process->peer = peer;
    snprintf(process->name, sizeof(process->name), "%.*s", STR_ARG(name));
    log_info("plugin joined| plugin=%.*s%s", STR_ARG(name), slot == NULL ? " configured=no" : "");
    if (slot == NULL)
        return NULL;
    slot->peer = peer;
    slot->failing = false;
    slot->rest = (struct moment){0};
    return slot;
}

struct bus_plugin_slot *processes_down(struct bus_plugins *b, uint32_t peer)
{
    uint32_t i = 0;
    while (i < b->process_count && b->processes[i].peer != peer)
        i++;
    if (i == b->process_count)
        return NULL;
    struct bus_process gone = b->processes[i];
    memmove(&b->processes[i], &b->processes[i + 1],
            (b->process_count - i - 1) * sizeof(b->processes[0]));
    b->process_count--;
    struct bus_plugin_slot *slot = processes_slot(b, str_of(gone.name));
    log_info("plugin left| plugin=%s", gone.name);
    if (slot == NULL || slot->peer != peer)
        return NULL;
    slot->peer = newest(b, slot->name);
    slot->rest = (struct moment){0};
    return slot;
}

/* A process has one name, so it is asked for one plugin at most. */
struct bus_plugin_slot *processes_heard(struct bus_plugins *b, uint32_t peer)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct bus_plugin_slot *slot = &b->at[i];
        if (slot->peer != peer || slot->rest.ns == 0)
            continue;
        slot->rest = (struct moment){0};
        slot->failing = false;
        return slot;
    }
    return NULL;
}

const char *processes_unable(const struct bus_plugin_slot *slot, struct moment now)
{
    if (slot->peer == 0)
        return "is not there";
    if (slot->rest.ns != 0 && !moment_reached(now, slot->rest))
        return "does not answer";
    return NULL;
}

struct str processes_failed(struct bus_plugin_slot *slot, struct str why, struct arena *a)
{
    slot->failing = true;
    slot->failures++;
    return arena_print(a, "plugin \"%s\" %.*s", slot->name, STR_ARG(why));
}

struct str processes_late(struct bus_plugin_slot *slot, struct moment now, int64_t deadline_ms,
                          struct arena *a)
{
    struct buffer text = {0};
    buffer_add_text(&text, "did not answer within ");
    config_duration_print(span_of_ms(deadline_ms), &text);
    struct str why = processes_failed(slot, buffer_str(&text), a);
    if (slot->rest.ns == 0 || moment_reached(now, slot->rest))
        log_warn("a plugin is late| plugin=%s text=\"%s\"", slot->name, text.at);
    buffer_free(&text);
    slot->late++;
    slot->rest = moment_after(now, span_of_ms(REST_MS));
    return why;
}

bool processes_fine(struct bus_plugin_slot *slot)
{
    bool failed = slot->failing;
    slot->failing = false;
    return failed;
}

void processes_status(const struct bus_plugins *b, struct moment now, struct buffer *lines)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct bus_plugin_slot *s = &b->at[i];
        const char *problem = processes_unable(s, now);
        buffer_print(lines,
                     "plugin_%s=%s asked=%" PRIu64 " failures=%" PRIu64 " late=%" PRIu64 "\n",
                     s->name, problem == NULL ? "up" : problem, s->asked, s->failures, s->late);
    }
}
