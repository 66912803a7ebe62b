/* stream: a numbered state stream with snapshots, both ends as pure state machines.
 *
 * The publisher keeps the newest encoded message of every object (the mirror) and a bounded log of
 * recent changes. A subscriber says where it is and how much it can take (credit, in messages); it
 * gets the log from there, or, when the log no longer reaches back or the epoch is another, a
 * snapshot of the mirror between snapshot_begin and snapshot_end, and then the log. The snapshot is
 * taken at one sequence; changes that happen while it travels follow it.
 *
 * The subscriber checks that numbers follow each other, asks again on any gap, on peer_up and when
 * nothing came for a while, and grants credit as it consumes. Snapshot messages carry the sequence
 * of the snapshot itself and their place in it (part), snapshot_begin being 1. */
#ifndef STREAM_H
#define STREAM_H

#include "proto/base/moment.h"
#include "proto/bus/delivery.h"
#include "proto/bus/outbox.h"

/* ---- publisher ---- */

struct publisher;

struct publisher_options {
    int64_t epoch;        /* another one in every life of the process; > 0 */
    size_t log_bytes_max; /* bound of the log; older changes are dropped */
    uint32_t subscribers_max;
};

struct publisher *publisher_new(const struct publisher_options *options);
void publisher_free(struct publisher **p);
/* Sets or replaces the object `key` (unique over all kinds, such as "pod/uid"). Does nothing when
 * the message's bytes equal those published last for key. Returns true when it published. */
bool publisher_set(struct publisher *p, struct str key, const struct message *m);
/* Removes the object and publishes gone; nothing when the key is unknown. */
bool publisher_remove(struct publisher *p, struct str key, const struct message *gone);
/* Publishes a message that is no object's state (barrier_reached, view): in the log, not in
 * snapshots. */
void publisher_note(struct publisher *p, const struct message *m);
/* Handles subscribe, credit and peer_down; other messages are ignored. */
void publisher_handle(struct publisher *p, struct address from, const struct message *m);
/* Puts what each subscriber may get now into the outbox. Call after every batch of changes. */
void publisher_flush(struct publisher *p, struct outbox *out);
int64_t publisher_sequence(const struct publisher *p);
size_t publisher_objects(const struct publisher *p);
uint32_t publisher_subscribers(const struct publisher *p);
/* Snapshots sent since the start; for status. */
uint64_t publisher_snapshots(const struct publisher *p);

/* ---- subscriber ---- */

struct subscriber {
    struct address publisher; /* where the stream comes from; peer 0 while unknown */
    int64_t epoch, sequence;  /* position reached */
    int64_t part;             /* place reached in the snapshot */
    bool in_snapshot, synced; /* synced: at least one whole snapshot has been applied */
    uint32_t window, used;    /* credit granted at once, consumed since the last grant */
    bool asked;               /* a subscribe is under way */
    struct moment asked_at, heard_at;
    uint64_t gaps, snapshots;
};

enum stream_step {
    STREAM_ignore, /* not to be applied: duplicate, stale, or waiting for a snapshot */
    STREAM_apply   /* apply it; snapshot_begin and snapshot_end are also applied by the owner */
};

void subscriber_init(struct subscriber *s, uint32_t window);
/* For each message from the watcher (peer_up and peer_down included), before applying it. */
enum stream_step subscriber_take(struct subscriber *s, struct moment now, const struct delivery *in,
                                 struct outbox *out);
/* Asks again when an answer is overdue. Returns when it wants to be called next. */
struct moment subscriber_tick(struct subscriber *s, struct moment now, struct outbox *out);

#endif
