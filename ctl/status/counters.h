/* counters: what the keys of status reports mean, by counters.def. */
#ifndef CTL_STATUS_COUNTERS_H
#define CTL_STATUS_COUNTERS_H

#include "proto/base/buffer.h"
#include "proto/base/str.h"

enum counter_type { COUNTER_number, COUNTER_flag, COUNTER_text, COUNTER_fields };

struct counter {
    const char *process, *key;
    enum counter_type type;
    const char *doc;
};

/* The row of a key that this kind of process says, or "bus" of what its bus counts: one by its own
 * name rather than by a star. NULL: there is none. */
const struct counter *counter_find(const char *process, struct str key);
/* Whether there is a row of this kind with that key to the letter. */
size_t counters_count(void);
const struct counter *counters_at(size_t i);
/* All rows, as a man page in mdoc. */
void counters_print(struct buffer *out);

#endif
