/* live_config: the coordinator's configuration while it runs: the file is looked at once a second,
 * behind SIGHUP, and when another release is to be decided as; a good one takes the place of the
 * former. */
#ifndef SCHEDULER_LIVE_CONFIG_H
#define SCHEDULER_LIVE_CONFIG_H

#include "proto/bus/actor.h"
#include "proto/kube/config/config_flags.h"
#include "proto/kube/config/config_follow.h"
#include "proto/kube/config/config_watch.h"
#include "scheduler/coordinator/coordinator.h"

struct live_config {
    const struct config_flags *flags; /* put over each file, as at the start */
    struct features features;         /* the file was read as of */
    char left[CONFIG_GATES_ROOM];     /* feature gates that have no place in that release */
    struct config_watch watch;
    int64_t hash;                /* of the file that counts, whatever release it is read as of */
    struct arena extenders;      /* of the extenders that count, unless they are the first */
    char sort[CONFIG_SORT_ROOM]; /* what the queue sorts by */
};

/* config: the one that was loaded at the start, whose extenders live as long as this. */
void live_config_init(struct live_config *l, const char *path, const struct config_flags *flags,
                      const struct scheduler_config *config);
void live_config_free(struct live_config *l);
/* Reads the file if it is another one, if asked to, or as of another release. What is wrong with it
 * is logged and counted, and the former configuration stays. Returns when to call again. */
struct moment live_config_look(struct live_config *l, struct moment now, bool asked,
                               struct coordinator *coordinator, struct outbox *out);

/* The coordinator with a configuration that may change, as a process runs it. */
struct live {
    struct coordinator *coordinator;
    struct live_config config;
};

/* Borrows what it is given. */
struct actor live_actor(struct live *live);

#endif
