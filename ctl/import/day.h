/* day: a trace lived by the scheduler's own core, in a time of its own, and taken down as the
 * journal of that life. Watcher, queue and binder are played: an API server that answers at once,
 * and kubelets that run whatever is bound. */
#ifndef CTL_IMPORT_DAY_H
#define CTL_IMPORT_DAY_H

#include "ctl/import/trace.h"
#include "proto/base/buffer.h"

struct day {
    const struct trace *trace; /* sorted, and not empty */
    const char *config;        /* file; NULL: all defaults */
    int64_t release;           /* minor version of the API server */
    /* Takes what of the journal there is; false: no more. */
    bool (*push)(void *state, struct buffer *bytes);
    void *state;
    /* What came of it: */
    uint64_t pods, bound, waiting, evicted;
    int64_t seconds;
};

/* False, with why in error, from the arena: the configuration is no good. */
bool day_live(struct day *d, struct arena *a, struct str *error);

#endif
