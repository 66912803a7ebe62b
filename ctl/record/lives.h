/* lives: the lives of queues and schedulers that a recording holds, and which of them was there at
 * a time. */
#ifndef CTL_RECORD_LIVES_H
#define CTL_RECORD_LIVES_H

#include "ctl/record/member.h"

struct lives {
    const char *command, *path; /* borrowed: for complaints, and the recording */
    struct member *at;
    size_t count;
    int64_t began_us, ended_us; /* wall clock: of the first life of a scheduler, and of the last */
};

/* command and path are set, the rest is zero. False: it was said why not; lives_free is due all the
 * same. */
bool lives_unpack(struct lives *l);
/* The one that was there then; NULL: none was. */
const struct member *lives_then(const struct lives *l, enum process process, int64_t at_us);
/* Says on standard error what is wrong with the recording. Returns false. */
bool lives_complain(const struct lives *l, const char *what);
void lives_free(struct lives *l);

#endif
