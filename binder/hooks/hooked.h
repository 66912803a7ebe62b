/* hooked: the plugins' hooks at PreBind and Bind of one bind, one after the other, and what they
 * ask to be sent; those of this program, and those that are processes on the bus. */
#ifndef BINDER_HOOKS_HOOKED_H
#define BINDER_HOOKS_HOOKED_H

#include "binder/lanes.h"
#include "binder/plugin.h"
#include "proto/base/random.h"

enum hooked_result {
    HOOKED_ready,    /* the Binding may be sent */
    HOOKED_bound,    /* a plugin has bound the pod */
    HOOKED_failed,   /* before it could be bound; the message is whole */
    HOOKED_unbound,  /* a plugin has failed to bind it, and may have done so all the same */
    HOOKED_cancelled /* hooked_cancel took effect */
};

struct bus_hooks;

struct hooked_options {
    /* Up to a NULL; NULL: those of this program (plugins.def). */
    const struct binder_plugin *const *plugins;
    struct bus_hooks *bus;
    struct lanes *lanes;
    struct random *random; /* for jitter */
    struct span give_up;   /* how long to go on against a server that is busy */
    void *owner;
    /* Called once, as the last thing that a call into here or the lanes does: it may free it. The
     * message lasts as long as it. */
    void (*ended)(void *owner, struct instant at, enum hooked_result how, struct str message);
    /* A plugin is about to send something in place of the Binding. */
    void (*binds)(void *owner, struct instant at);
};

struct hooked;

/* Whether the bind has anything for hooks. */
bool hooked_needed(const struct bind *bind);
/* bind is borrowed. It begins with hooked_begin, which may end it. */
struct hooked *hooked_new(const struct hooked_options *options, const struct bind *bind);
void hooked_begin(struct hooked *h, struct instant at);
/* True: no write of it is on the wire, it can be freed; false: it ends as cancelled when the write
 * is answered. */
bool hooked_cancel(struct hooked *h);
/* Ends it without a word; a request on the wire is cancelled. */
void hooked_free(struct hooked **h);
/* PostBind. */
void hooked_tell(const struct bind *bind);

#endif
