/* processes: the processes that plugins of a configuration are: which are there, which of a name is
 * asked, and how well it does. Pure: time comes in as an argument, nothing is sent. */
#ifndef PROTO_PLUGINS_PROCESSES_H
#define PROTO_PLUGINS_PROCESSES_H

#include "proto/base/arena.h"
#include "proto/base/log.h"
#include "proto/base/moment.h"
#include "proto/kube/config/config_file.h"

#define BUS_PROCESSES_MAX 64 /* at once; more are not asked */

/* Zero-initialise. */
struct bus_plugins {
    uint32_t count;
    struct bus_plugin_slot {
        char name[CONFIG_BUS_NAME_MAX + 1];
        uint32_t peer; /* the process that is asked, the last one that came; 0: none is there */
        bool failing;  /* what it last did was no good */
        struct moment rest; /* it let a deadline pass: not asked before then, unless it speaks */
        uint64_t asked, failures, late;
    } at[CONFIG_BUS_PLUGINS_MAX];
    uint32_t process_count;
    struct bus_process {
        uint32_t peer;
        char name[CONFIG_BUS_NAME_MAX + 1];
    } processes[BUS_PROCESSES_MAX]; /* in the order in which they came */
    struct log_limit log;
};

/* The plugins that are asked from now on; a name may come twice, and those beyond
 * CONFIG_BUS_PLUGINS_MAX are left out. One that there was keeps what it counted; places may change.
 */
void processes_configure(struct bus_plugins *b, const struct str *names, uint32_t count);
/* This plugin is asked, too: at the place, up to count, in place of whichever was there. */
void processes_put(struct bus_plugins *b, uint32_t at, struct str name);
/* A process came. Returns the plugin that it is: whoever was turned away for want of it may be
 * tried again; NULL: it is none that is asked, or one too many. */
struct bus_plugin_slot *processes_up(struct bus_plugins *b, struct str name, uint32_t peer);
/* A process went. Returns the plugin that was asked through it, by now through the next process of
 * its name, if there is one; NULL: none was. */
struct bus_plugin_slot *processes_down(struct bus_plugins *b, uint32_t peer);
/* Something came from this process. Returns the plugin if it was left alone until now; else NULL.
 */
struct bus_plugin_slot *processes_heard(struct bus_plugins *b, uint32_t peer);
/* NULL: no plugin of that name is asked. */
struct bus_plugin_slot *processes_slot(struct bus_plugins *b, struct str name);

/* Why it cannot be asked, as the end of a sentence that begins with its name; NULL: it can. */
const char *processes_unable(const struct bus_plugin_slot *slot, struct moment now);
/* It has failed; why is completed to a sentence that names it, from the arena. */
struct str processes_failed(struct bus_plugin_slot *slot, struct str why, struct arena *a);
/* It let its deadline pass: the same, and it is left alone for a while. */
struct str processes_late(struct bus_plugin_slot *slot, struct moment now, int64_t deadline_ms,
                          struct arena *a);
/* It has answered well. True: it had failed before, and whoever was turned away for that may be
 * tried again. */
bool processes_fine(struct bus_plugin_slot *slot);
/* A line for each plugin: plugin_NAME=up asked=… failures=… late=…, or why not up. */
void processes_status(const struct bus_plugins *b, struct moment now, struct buffer *lines);

#endif
