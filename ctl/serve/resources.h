/* resources: the page /metrics/resources: what each pod requests, and may take at most.
 *
 * The watcher has the pods; they are asked for when somebody asks for the page, as a snapshot of
 * pods alone (stream.h), and forgotten with it. Whoever asks while a page is under way gets the
 * next one's figures with it: they are as of when its snapshot was taken. */
#ifndef SERVE_RESOURCES_H
#define SERVE_RESOURCES_H

#include "proto/base/buffer.h"
#include "proto/base/moment.h"
#include "proto/bus/delivery.h"
#include "proto/bus/outbox.h"

struct resources;

struct resources *resources_new(void);
void resources_free(struct resources **resources);

/* A page is wanted; the number names it. */
int64_t resources_ask(struct resources *r, struct moment now, struct outbox *out);
/* RESOURCES_ready: the page is in out, in Prometheus' text. failed: the watcher is not there, or
 * has gone silent in the middle; out has a line that says so. */
enum resources_state { RESOURCES_wait, RESOURCES_ready, RESOURCES_failed };
enum resources_state resources_take(struct resources *r, int64_t page, struct buffer *out);
/* For each delivery of the watcher's. */
void resources_handle(struct resources *r, struct moment now, const struct delivery *in,
                      struct outbox *out);
/* Returns when it wants to be called again. */
struct moment resources_tick(struct resources *r, struct moment now);

#endif
