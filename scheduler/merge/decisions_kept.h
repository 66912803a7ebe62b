/* decisions_kept: the last decisions, for whoever asks why a pod is where it is. */
#ifndef SCHEDULER_MERGE_DECISIONS_KEPT_H
#define SCHEDULER_MERGE_DECISIONS_KEPT_H

#include "proto/messages.h"

/* Longer messages are cut, in bytes. */
#define DECISIONS_KEPT_MESSAGE 4096

struct decisions_kept;

/* most: how many; 0: none. Memory grows with those that there are: some 400 bytes each. */
struct decisions_kept *decisions_kept_new(uint32_t most);
void decisions_kept_free(struct decisions_kept **kept);
/* Everything is copied; the oldest gives way. The decision's uid is the pod's. */
void decisions_kept_add(struct decisions_kept *kept, const struct pod *pod,
                        const struct past_decision *decision);
/* The last ones about pods of that name, newest first, as many as there is room for at out. Their
 * texts are borrowed until the next is added. */
uint32_t decisions_kept_of(const struct decisions_kept *kept, struct str namespace_name,
                           struct str name, struct past_decision *out, uint32_t room);
/* The last ones about whichever pods, with their names, likewise. */
uint32_t decisions_kept_latest(const struct decisions_kept *kept, struct past_decision *out,
                               uint32_t room);
uint32_t decisions_kept_count(const struct decisions_kept *kept);
/* When the oldest was made, as it says; 0: there is none. */
int64_t decisions_kept_since(const struct decisions_kept *kept);

#endif
