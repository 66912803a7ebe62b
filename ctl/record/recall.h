/* recall: what a recorded core would have answered. A life is played back up to a time, and then
 * its core is asked something, as a tool would have asked it then. */
#ifndef CTL_RECORD_RECALL_H
#define CTL_RECORD_RECALL_H

#include "ctl/record/member.h"

#define RECALL_END INT64_MAX /* as far as the life goes */

/* The end of the time that is written so: of 12:00:00 the whole second is meant, of 12:00:00.5 a
 * tenth. False: it is none. */
bool recall_time(const char *text, int64_t *us);

/* Where a life stands at a time: in front of something that its core is told. */
struct recall_place {
    uint64_t entries; /* before it */
    size_t bytes;
    int64_t now_ns, wall_us; /* the clocks then */
};

/* The last such place at which the wall clock was not beyond until_us. */
struct recall_place recall_find(const struct member *life, int64_t until_us);
struct recall {
    const struct member *life;
    int64_t until_us;
    const char *folder; /* of programs */
    const struct message *question;
    enum message_type wanted; /* the answer's type */
};

/* The program is told the same up to there. The answer lies in the arena. False with one line in
 * error, from the arena: the program decides otherwise, or does not answer. */
bool recall_ask(const struct recall *r, struct message *answer, struct arena *memory,
                struct str *error);

#endif
