/* about: whose decision a difference belongs to: a worker that answers otherwise names no pod, but
 * was asked about one. */
#ifndef CTL_RECORD_ABOUT_H
#define CTL_RECORD_ABOUT_H

#include "ctl/record/member.h"
#include "proto/base/map.h"

/* Where the pods of a scheduler's life went: UID to a text of the caller's, who frees it. */
void about_note(const struct member *m, struct map *nodes);
/* " about pod NS/NAME, which went to NODE" then, for the entry of this number, in which the member
 * differs; nothing where no pod can be named. */
void about_say(const struct member *m, uint64_t entry, const struct map *nodes, struct buffer *out);

#endif
