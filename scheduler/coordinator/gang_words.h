/* gang_words: what kube-scheduler 1.37 says of a group of scheduling.k8s.io that has no room, and
 * of its pods. */
#ifndef SCHEDULER_COORDINATOR_GANG_WORDS_H
#define SCHEDULER_COORDINATOR_GANG_WORDS_H

#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/gang_try.h"
#include "scheduler/merge/gang_rules.h"

struct gang_words {
    bool hold;         /* false: it is not such a group, and nothing else is set */
    struct str group;  /* its condition */
    struct str placed; /* a pod that found a place */
    struct str unseen; /* a pod that nobody looked at: it was clear by then */
    uint32_t seen;     /* of its members so many were looked at */
    enum gang_room room;
};

/* Of its members so many are looked at, with all places given back. */
uint32_t gang_words_seen(const struct coordinator *c, const struct gang_try *g);
/* Of a group that is tried, with all places given back. victims: of what it evicts. */
struct gang_words gang_words_of_try(const struct coordinator *c, struct gang_try *g,
                                    uint32_t victims);
/* Of a group that is one pod by itself, with policy basic or late. */
struct gang_words gang_words_of_pod(const struct coordinator *c, const struct flight *f,
                                    const struct gang *group, const struct decision *d,
                                    struct arena *a);
/* What came of looking for victims for such a pod by itself. */
enum gang_room gang_words_room(const struct coordinator *c, const struct pod *pod,
                               uint32_t victims);
/* Of a group of 1.36 that has no place. */
struct str gang_words_unplaced(const struct coordinator *c, const struct gang_try *g,
                               struct arena *a);
/* The same, which would make room as one, and cannot. */
struct str gang_words_of_former(const struct coordinator *c, const struct gang_try *g,
                                struct arena *a);
/* What an error of one pod is to its group. */
struct str gang_words_error(struct str error, struct arena *a);

#endif
