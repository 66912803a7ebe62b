/* unschedulable: pods that wait for an event that can help, gated ones included. */
#ifndef QUEUE_UNSCHEDULABLE_H
#define QUEUE_UNSCHEDULABLE_H

#include "queue/entry.h"
#include "queue/needs.h"

struct unschedulable {
    struct entry_list list;
    struct needs needs;     /* what they wait for */
    uint32_t by_plugin[64]; /* how many of them each plugin (bit) rejected */
    uint64_t plugins;       /* union of what rejected them: an event for others needs no walk */
    size_t gated;
};

void unschedulable_init(struct unschedulable *u);
void unschedulable_free(struct unschedulable *u);
void unschedulable_add(struct unschedulable *u, struct entry *e);
void unschedulable_remove(struct unschedulable *u, struct entry *e);

#endif
