/* wakes: which events may help the pods that a profile's plugins on the bus have turned away. */
#ifndef QUEUE_BUS_PLUGINS_WAKES_H
#define QUEUE_BUS_PLUGINS_WAKES_H

#include "queue/event.h"
#include "queue/plugins.h"

struct bus_wakes {
    uint64_t listed; /* those whose arguments list events, as bits of a set; others hear of all */
    uint64_t asks;   /* those that are asked which pods an event helps (queueingHints) */
    uint32_t actions[CONFIG_BUS_PLUGINS_MAX][EVENT_RESOURCES]; /* by bit, of those listed */
};

/* As the profile's arguments say. Its plugins get bits. */
void bus_wakes_read(struct bus_wakes *w, const struct profile *profile,
                    struct plugins_named *named);
/* Those among the plugins on the bus of a set whose pods the event may help; all of them where
 * nothing is known of one (w may be NULL). What is not on the bus is left out. */
uint64_t bus_wakes_helped(const struct bus_wakes *w, const struct event *event, uint64_t among);

#endif
