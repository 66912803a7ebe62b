/* held: what the plugins on the bus say of one pod before it is queued: whether it may be
 * (PreEnqueue), and where it belongs (QueueSort). */
#ifndef QUEUE_BUS_PLUGINS_HELD_H
#define QUEUE_BUS_PLUGINS_HELD_H

#include "proto/plugins/asking.h"
#include "queue/entry.h"
#include "queue/plugins.h"

enum held_state {
    HELD_unasked, /* what was said is of another version of the pod: asked when it is to be queued
                   */
    HELD_asked,
    HELD_denied,
    HELD_passed
};

/* Zero-initialise but for the entry. */
struct held {
    struct entry *entry;
    struct plugin_question gate, sort;
    enum held_state state;
    uint32_t
        place;    /* in the profile's list: who is asked, or said no; at its end: all let it pass */
    bool again;   /* something that may help came while it was asked */
    bool changed; /* so did another version of the pod */
    bool silent;  /* denied, as the plugin says nothing */
    bool failed;  /* denied, as what it says is no good */
    bool unsorted;            /* the plugin that sorts said nothing: asked again when it is back */
    char *reason;             /* why it is denied; NULL: nothing was said */
    struct held *next, *prev; /* of all */
};

/* All of a queue. Zero-initialise. */
struct holding {
    struct asking asking;
    struct held *first;
    uint32_t silent; /* of them denied by silence, or unsorted */
};

/* Whom a profile asks before a pod is queued. */
struct consults {
    struct holding *holding;
    uint32_t count; /* at PreEnqueue, in order */
    const struct bus_plugin *gates[CONFIG_BUS_PLUGINS_MAX];
    uint64_t gate_bits[CONFIG_BUS_PLUGINS_MAX];
    const struct bus_plugin *sort; /* NULL: none sorts */
    uint64_t sort_bit;
};

/* True: nothing holds the pod back. Else who may is being asked, and held_by says who that is. The
 * entry is in no place. */
bool held_passes(struct entry *e);
/* The pod has changed: who sorts it is asked at once, and the others when it is to be queued. */
void held_changed(struct entry *e);
/* Asks from the first one on; the next one, as who was asked lets it through; who sorts it. */
void held_ask(struct held *h);
void held_next(struct held *h);
void held_sort(struct held *h);
/* It has passed, if nobody is left to be asked. */
void held_look(struct held *h);
/* All that was said is forgotten, but for the key that it is sorted by, and nothing is asked. */
void held_forget(struct entry *e);
/* The plugins whose events it listens to while it is held. */
uint64_t held_listens(const struct entry *e);
/* Who holds it just now; 0: nobody. */
uint64_t held_bit(const struct held *h);
/* Why it is held; empty: it is not, or that was not said. */
struct str held_reason(const struct entry *e);
/* Denies it, with why; or forgets that (NULL). */
void held_deny(struct held *h, const struct str *why);
/* Sets what is counted of those that a silent plugin holds. */
void held_mark(struct held *h, bool silent, bool unsorted);

#endif
