/* sides: the queue's and the watcher's cores by themselves, with somebody who plays the rest. */
#ifndef TESTS_BENCH_CORE_SIDES_H
#define TESTS_BENCH_CORE_SIDES_H

#include "proto/bus/outbox.h"
#include "proto/messages.h"

/* ---- the queue, between a watcher and a scheduler ---- */

struct queue_side;

/* Has an empty snapshot; a scheduler is there that has pulled nothing yet. */
struct queue_side *queue_side_new(void);
void queue_side_free(struct queue_side **q);
/* A change in the watcher's stream: handle and tick. */
void queue_side_stream(struct queue_side *q, const struct message *m);
/* The pod is pending, is tried, and is rejected by this plugin: it waits for an event. */
void queue_side_park(struct queue_side *q, const struct pod *pod, const char *plugin);
/* Pods that events have moved so far. */
uint64_t queue_side_woken(const struct queue_side *q);

/* ---- the watcher, between an API server and subscribers ---- */

struct watcher_side;

/* All kinds are listed, empty, and watched. */
struct watcher_side *watcher_side_new(uint32_t subscribers);
void watcher_side_free(struct watcher_side **w);
/* Lines of the watch of that kind (Pod, Node): data, tick. Returns how many messages subscribers
 * were sent. */
size_t watcher_side_data(struct watcher_side *w, const char *kind, struct str lines);

#endif
