/* picture: the cluster as far as one looks at it from outside: what is on each node and what is
 * left there, and what was just decided. Pure: messages of the watcher's stream in, JSON out. */
#ifndef CTL_FOLLOW_PICTURE_H
#define CTL_FOLLOW_PICTURE_H

#include "ctl/json_out.h"
#include "proto/bus/delivery.h"

#define PICTURE_DECISIONS_MAX 200 /* told one by one between two tellings; more are counted */

struct picture;

struct picture *picture_new(void);
void picture_free(struct picture **picture);

/* What pods ask for is counted with these features, from the next snapshot on. */
void picture_count_with(struct picture *p, const struct features *features);

enum picture_step {
    PICTURE_ignored,
    PICTURE_applied,
    PICTURE_gap /* something is missing in front of it: ask again from picture_position */
};

/* Of more decisions than can be told one by one the last ones are, in place of the first. */
void picture_keep_last(struct picture *p);

/* A message of the stream. */
enum picture_step picture_take(struct picture *p, const struct delivery *in);
/* Where it is, for subscribe; zeros: nowhere. */
void picture_position(const struct picture *p, int64_t *epoch, int64_t *sequence);
/* A snapshot has begun and has not ended. */
bool picture_is_torn(const struct picture *p);
/* It stands nowhere any more, and the next answer is a snapshot. */
void picture_forget_position(struct picture *p);

/* Something is to be told: all of it, which a snapshot makes, or differences and decisions. */
bool picture_has_news(const struct picture *p);
/* One line of what is to be told, and it is told then: of kind "changes"; "whole" behind a
 * snapshot; "again" where everything is wanted (whole), whatever is new, for somebody who has
 * nothing yet. release: minor version of the Kubernetes that is decided as; 0: not known. */
void picture_tell(struct picture *p, bool whole, int64_t release, struct buffer *out);

/* Who waits, a line of kind "queue"; no more than so many pods by name. */
void picture_tell_pending(const struct picture *p, const struct pending_pods *pods, uint32_t most,
                          struct buffer *out);

/* What the condition of the pod that waits says; empty: nothing, or there is none. Valid until the
 * next message. */
struct str picture_message(const struct picture *p, struct str uid);

#endif
