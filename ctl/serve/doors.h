/* doors: the processes that are asked, over the bus: every second how well they are, and for a page
 * of metrics what they have counted. */
#ifndef SERVE_DOORS_H
#define SERVE_DOORS_H

#include "ctl/serve/totals.h"
#include "proto/base/moment.h"
#include "proto/bus/delivery.h"
#include "proto/bus/outbox.h"

struct doors;

/* names: of the processes, where the bus connects to; borrowed. The server itself is the source
 * behind the last of them. */
struct doors *doors_new(const char *const *names, size_t count);
void doors_free(struct doors **doors);

/* door: which of them the delivery came from. */
void doors_handle(struct doors *d, struct moment now, size_t door, const struct delivery *in);
/* Asks what is due; returns when it wants to be called again. */
struct moment doors_tick(struct doors *d, struct moment now, struct outbox *out);

/* Asks for everything; the number names the question. */
int64_t doors_ask(struct doors *d, struct moment now, struct outbox *out);
/* True when all who are there have answered it, or it has taken too long. */
bool doors_answered(const struct doors *d, struct moment now, int64_t question);
struct totals *doors_totals(struct doors *d);
/* Sends the message to every process that is there. */
void doors_tell(const struct doors *d, const struct message *m, struct outbox *out);

/* Why the named check fails for that process: what it said of itself, or that it has not been heard
 * for `patience`. "" when it is well. process: such as "scheduler". */
const char *doors_check(struct doors *d, struct moment now, const char *process, const char *check,
                        struct span patience);

/* What the named check of that process has to tell although it is well; "" when nothing. */
const char *doors_note(struct doors *d, struct moment now, const char *process, const char *check,
                       struct span patience);
/* The minor version that the process said last it decides as; 0: not known. */
int64_t doors_release(const struct doors *d, const char *process);

/* Names a process that answered once and has been silent for that long, as one that hangs is; of
 * workers, who come and go, only when all are. "" when there is none. Valid until the next call. */
const char *doors_silent(struct doors *d, struct moment now, struct span patience);

#endif
