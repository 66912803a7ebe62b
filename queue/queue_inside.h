/* queue_inside: the state of the queue's core, for queue.c and those that take its messages or
 * report on it; nobody else includes it. */
#ifndef QUEUE_QUEUE_INSIDE_H
#define QUEUE_QUEUE_INSIDE_H

#include "proto/base/log.h"
#include "proto/base/random.h"
#include "proto/bus/stream.h"
#include "proto/comparer.h"
#include "queue/profiles.h"
#include "queue/queue.h"
#include "queue/queues.h"

struct consulting;

/* What cannot be, and the object that it is said of: the message changes nothing, or is taken for
 * what it can only mean. */
struct refusal {
    const char *what; /* NULL: nothing was refused */
    struct str name;
};

struct queue {
    struct queue_options options;
    struct subscriber stream;
    struct queues queues;
    struct mirror *mirror;
    struct owners *owners;
    struct hint_timing timing;
    struct consulting *consulting; /* plugins on the bus */
    struct comparer told;          /* of the watcher, while the queue is compared with it */
    struct served *served;         /* newest first; pods refer to them, so none ever goes */
    int64_t config_hash, config_generation;
    struct features features; /* that the same file was read with */
    struct address scheduler; /* peer 0 while there is none */
    int64_t credit;
    int64_t term; /* highest seen in what the scheduler sent */
    uint32_t snapshot;
    bool in_snapshot;
    struct moment now; /* of the last call, for the status report */
    struct arena scratch;
    struct random trace_ids; /* of the attempts that are traced */
    uint64_t traced;         /* attempts */
    struct {
        uint64_t late_outcomes, refused, outdated, repeated;
    } count;
    struct refusal refused; /* of the message at hand */
    struct log_limit refused_log;
};

/* Takes one kind of message; what it refuses it leaves in refused. */
typedef void handler(struct queue *q, struct moment now, const struct delivery *in);

/* Answers a pending_request: all pods, a namespace's, or those with a claim on a node (upstream's
 * WaitingPods and WaitingPodsForNode). */
void queue_tell_pending(struct queue *q, const struct delivery *in, struct outbox *out);

/* Answers a holdings_request. */
void queue_tell_holdings(struct queue *q, const struct delivery *in, struct outbox *out);

#endif
