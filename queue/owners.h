/* owners: Services and the controllers of pods, for the pods that a profile spreads by default:
 * they count with the pods that are selected by what owns them. */
#ifndef QUEUE_OWNERS_H
#define QUEUE_OWNERS_H

#include "proto/messages.h"

struct owners;

struct owners *owners_new(void);
void owners_free(struct owners **o);

void owners_set(struct owners *o, const struct owner *owner);
/* Nothing happens when it is not known. */
void owners_gone(struct owners *o, enum object_kind kind, struct str namespace_name,
                 struct str name);
/* Around a snapshot: what is not set between the two does not exist any more. */
void owners_snapshot_begin(struct owners *o);
void owners_snapshot_end(struct owners *o);

/* Upstream's DefaultSelector of a pod: the Services of its namespace that select it, and its
 * controller. Whether that asks for anything at all: */
bool owners_select(const struct owners *o, const struct pod *pod);
/* Whether it is true of the labels of another pod: */
bool owners_match(const struct owners *o, const struct pod *pod, const struct pod *other);

#endif
