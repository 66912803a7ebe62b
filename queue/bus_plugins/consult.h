/* consult: asks plugins on the bus about pods before they are queued, and acts on what they say. */
#ifndef QUEUE_BUS_PLUGINS_CONSULT_H
#define QUEUE_BUS_PLUGINS_CONSULT_H

#include "proto/bus/delivery.h"
#include "queue/bus_plugins/held.h"

struct hinting;
struct queue;
struct queues;

/* Zero-initialise. */
struct consulting {
    struct holding holding;
    struct queues *queues;   /* borrowed */
    struct hinting *hinting; /* questions about events (hinting.h) */
};

struct consulting *consulting_new(struct queues *queues);
/* The queues' pods must be gone, or be asked of no more. */
void consulting_free(struct consulting **consulting);

/* Before profiles change: nothing of the former ones is referred to any more. */
void consulting_forget(struct consulting *c, struct moment now);
/* What a profile asks; sort: the name of the plugin that sorts, empty: none on the bus. into is
 * kept with the profile. */
void consulting_read(struct consulting *c, const struct profile *profile, struct str sort,
                     struct consults *into);
/* With those of all profiles: who may be asked from now on. */
void consulting_configure(struct consulting *c, const struct str *names, uint32_t count);

/* A plugin's link came or went, or it said something. False: it is none of ours to take. */
bool consulting_take(struct consulting *c, struct moment now, const struct delivery *in);
/* Asks, and ends what is late. Returns when it wants to be called next. */
struct moment consulting_tick(struct consulting *c, struct moment now, struct outbox *out);

#endif
