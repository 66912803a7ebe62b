/* bus_hooks: PreBind and Bind of plugins that are processes on the bus, as the binder asks them.
 * Pure: time comes in as an argument, questions leave through an outbox. */
#ifndef BINDER_HOOKS_BUS_HOOKS_H
#define BINDER_HOOKS_BUS_HOOKS_H

#include "binder/api.h"
#include "proto/bus/delivery.h"
#include "proto/plugins/asking.h"

/* What came of a question; borrowed for the call. */
enum bus_hook_result {
    BUS_HOOK_done,  /* PreBind: go on; Bind: the pod is bound */
    BUS_HOOK_skip,  /* Bind: the next plugin is to bind it */
    BUS_HOOK_failed /* for a reason; at Bind the plugin may have bound the pod all the same */
};

/* One question; part of whoever asks. Zero-initialise, and set the owner and ended. */
struct bus_hook {
    struct plugin_question question;
    const struct bind *bind; /* borrowed until it has ended */
    void *owner;
    /* Called once, unless it is dropped; it may ask again, or free it. */
    void (*ended)(void *owner, struct instant at, enum bus_hook_result how, struct str why);
};

struct bus_hooks;

struct bus_hooks *bus_hooks_new(void);
/* Nothing may be open. */
void bus_hooks_free(struct bus_hooks **hooks);

/* The plugin of the bind that has this name and is a process on the bus; NULL: none is. */
const struct bus_plugin *bus_hooks_find(const struct bind *bind, struct str name);
/* Asks with the next tick. step: pre_bind or bind. False: so many different plugins are asked
 * already that there is no room for one more. */
bool bus_hooks_ask(struct bus_hooks *hooks, struct bus_hook *h, enum plugin_step step,
                   const struct bus_plugin *plugin);
/* It does not end any more; nothing happens to one that is not open. */
void bus_hooks_drop(struct bus_hooks *hooks, struct bus_hook *h);

/* A plugin's link came or went, or it said something. False: it is none of ours to take. */
bool bus_hooks_take(struct bus_hooks *hooks, struct instant at, const struct delivery *in);
/* Asks, and ends what is late. Returns when it wants to be called next. */
struct moment bus_hooks_tick(struct bus_hooks *hooks, struct instant at, struct outbox *out);
/* A line for each plugin that was asked so far. */
void bus_hooks_status(const struct bus_hooks *hooks, struct moment now, struct buffer *lines);

#endif
