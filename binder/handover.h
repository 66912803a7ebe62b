/* handover: how a leader that cannot schedule finds out whether another instance can, before it
 * gives its lease up. Both are candidates for one Lease and have no other way to each other, so it
 * is an annotation of it: the leader writes that it wants relief, with a renewal that is due
 * anyway; a standby that is ready answers there, once. Nothing is written as long as leaders are
 * well. */
#ifndef BINDER_HANDOVER_H
#define BINDER_HANDOVER_H

#include "proto/base/buffer.h"
#include "proto/base/moment.h"

struct handover {
    bool ready;              /* we could lead */
    const char *sick;        /* why we should not; NULL: no reason. Borrowed */
    struct moment led_since; /* while leading */
    struct moment stay_back; /* until then we do not take the lease that we gave up, */
    struct moment leave;     /* nor that of a former life: it falls too often */
};

/* So many falls of the binder within a minute are a crash loop. */
#define HANDOVER_FALLS 3

/* How long who starts in a crash loop leaves its former life's lease to others: until it has run
 * out, and a standby has had the time to see that. */
struct span handover_leaves(struct span duration, struct span retry_period);
/* A leader asks for relief when it is sick, unless its term is younger than two lease durations, so
 * that two sick instances do not pass the lease to and fro. */
bool handover_asks(const struct handover *h, struct moment now, struct span duration);
/* The annotation that says so. */
void handover_put_wish(struct buffer *out, const char *identity);
/* Is the record's annotation a wish of its holder, which is another one, that we can answer? Other
 * leaders, such as kube-scheduler, leave the annotation of the one before as it is. */
bool handover_answers(const struct handover *h, struct str annotation, struct str holder,
                      const char *identity);
void handover_put_offer(struct buffer *out, const char *identity);
/* Is it another one's answer? */
bool handover_offered(struct str annotation, const char *identity);

#endif
