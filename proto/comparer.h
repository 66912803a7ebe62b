/* comparer: the names of all nodes and pods that the watcher knows, gathered from its messages, to
 * compare with what a process holds; and the lines that say what differs, as kube-scheduler's
 * debugger says it. */
#ifndef COMPARER_H
#define COMPARER_H

#include "proto/base/arena.h"
#include "proto/base/buffer.h"
#include "proto/base/map.h"
#include "proto/messages.h"

struct name_told {
    bool assigned, found; /* found: its owner's to use */
    struct str scheduler_name;
};

/* Zero-initialise. */
struct comparer {
    struct map *nodes, *pods; /* name, and UID, to struct name_told */
    int64_t id, part;
    struct arena memory;
};

/* True when that was the last part of one that is whole: nodes and pods are then there until
 * comparer_clear. One that begins anew, or lacks a part, drops what there was. */
bool comparer_take(struct comparer *r, const struct names *said);
void comparer_clear(struct comparer *r);

/* What differs, in the order in which it was found. */
struct mismatch {
    struct buffer missed, redundant;
    size_t missed_count, redundant_count;
};

void mismatch_missed(struct mismatch *m, struct str name);
void mismatch_redundant(struct mismatch *m, struct str name);
/* Logs one line when there is something, and empties it: `Cache mismatch` with missedNodes and
 * redundantNodes where what is "Nodes". */
void mismatch_log(struct mismatch *m, const char *what);

#endif
