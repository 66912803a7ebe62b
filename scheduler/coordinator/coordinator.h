/* coordinator: the scheduler proper: owns the cache, asks the workers, decides, and sees each
 * decision through to the binder's answer. */
#ifndef SCHEDULER_COORDINATOR_COORDINATOR_H
#define SCHEDULER_COORDINATOR_COORDINATOR_H

#include "proto/base/moment.h"
#include "proto/bus/delivery.h"
#include "proto/kube/extenders/extenders.h"

struct coordinator;

struct coordinator_options {
    const struct profile *profiles; /* copied */
    uint32_t profile_count;
    int64_t config_hash;                      /* 0: no configuration is ever told to the queue */
    int64_t backoff_initial_s, backoff_max_s; /* for the queue */
    enum tie_break_rule tie_break;
    uint64_t seed;  /* of the random tie-break and of barrier numbers */
    int64_t credit; /* attempts outstanding at most, binds in flight included; 0: 256 */
    int64_t kept;   /* decisions that are kept for who asks; 0: 10000; less: none */
    int64_t batch;  /* pods asked of each worker at once; 0: 64, the most; 1: one */
    const struct extender_config *extenders; /* borrowed, in the configuration's order */
    uint32_t extender_count;                 /* EXTENDERS_MAX at most */
    int64_t extenders_hash;                  /* of all of them; 0: is not said to who calls them */
    struct span stale_after;                 /* a view older than this stops decisions; 0: 60 s */
    struct span assumed_ttl; /* a bound pod that nobody sees gives its room back; 0: never */
    bool follows;            /* it decides as the API server's release; else as the profiles say */
    const char *gates_left;  /* feature gates that their release has no place for; NULL: none */
    int64_t wall_us_at_zero; /* wall clock when the moment was 0 */
    struct moment (*clock)(void); /* for what metrics say of times; NULL: they say 0 */
};

/* What of a configuration the coordinator decides with, or hands on. */
struct coordinator_config {
    const struct profile *profiles; /* copied */
    uint32_t profile_count;
    int64_t hash;
    int64_t backoff_initial_s, backoff_max_s; /* for the queue; 0: as it has them */
    /* Borrowed until the next configuration; with the hash of the former ones they stay as they
     * are. */
    const struct extender_config *extenders;
    uint32_t extender_count;
    int64_t extenders_hash;
    const char *gates_left; /* feature gates that its release has no place for; NULL: none */
};

struct coordinator *coordinator_new(const struct coordinator_options *options);
void coordinator_free(struct coordinator **coordinator);
/* Another configuration, the next generation: the decision under way, if any, begins again with it;
 * workers begin anew with it behind whatever they were asked before, and the queue is told. */
void coordinator_reconfigure(struct coordinator *coordinator, struct moment now,
                             const struct coordinator_config *config, struct outbox *out);
/* Of the extenders that it asks now. */
int64_t coordinator_extenders_hash(const struct coordinator *coordinator);
/* A file was refused: counted, for status. Where it was to be read as of another release, the
 * former one stays. */
void coordinator_config_refused(struct coordinator *coordinator);
/* The release that the configuration is to be read as of, and whether that is another one than it
 * was read as of: then it is to be read again, and given to coordinator_reconfigure. */
int64_t coordinator_release(const struct coordinator *coordinator);
bool coordinator_release_changes(const struct coordinator *coordinator);
/* For the actor loop; state is a struct coordinator. Messages are taken in at once; deciding begins
 * with the tick behind them, so that what has arrived together is decided together. */
void coordinator_handle(void *state, struct moment now, const struct delivery *in,
                        struct outbox *out);
struct moment coordinator_tick(void *state, struct moment now, struct outbox *out);
void coordinator_status(void *state, struct buffer *lines);
/* Logs every node, what is asked of it, and the pods on it. */
void coordinator_dump(void *state);
/* Sets gauges and health checks (proto/metrics.h). */
void coordinator_observe(void *state);
int64_t coordinator_term(const void *state);
/* True when the coordinator handles this message; for the test that holds the table to
 * messages.def. */
bool coordinator_takes(enum message_type type);
/* How many nodes it knows. */
uint32_t coordinator_nodes(const struct coordinator *coordinator);
/* Why it does not decide now, or "" when it does: a word for status and tests. */
const char *coordinator_waits_for(const struct coordinator *c, struct moment now);

#endif
