/* hooks: which plugins have hooks in the queue, and how they are asked. */
#ifndef QUEUE_HOOKS_HOOKS_H
#define QUEUE_HOOKS_HOOKS_H

#include "queue/plugin.h"

/* NULL: no plugin of this name has hooks here. */
const struct queue_plugin *queue_plugin_find(struct str name);
/* Those of the list that have a hook at PreEnqueue, in its order, from the arena; how many. */
uint32_t hooks_before_queue(struct strs names, const struct queue_plugin ***out, struct arena *a);
/* The first of the profile's that holds the pod back; NULL: nobody does. */
const struct queue_plugin *hooks_hold(const struct surroundings *around, const struct pod *pod);
/* The pod's place in line, by the plugin that sorts; by priority where none does. */
int64_t hooks_sort_key(const struct surroundings *around, const struct pod *pod);

#endif
