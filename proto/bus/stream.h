/* stream: a numbered state stream with snapshots, both ends as pure state machines.
 *
 * The publisher keeps the newest message of every object, encoded, and a bounded log of recent
 * changes; what objects have in common it keeps once. A subscriber says where it is and how much it
 * can take (credit, in messages); it gets the log from there, or, when the log no longer reaches
 * back or the epoch is another, a snapshot of all objects between snapshot_begin and snapshot_end,
 * and then the log. The snapshot is taken at one sequence; changes that happen while it travels
 * follow it.
 *
 * Who asks for it once gets one such snapshot, or one of pods alone, or what has changed behind its
 * position, and is forgotten; there are few of them at a time, the oldest gives way. So whoever may
 * leave without a word, as tools do, follows the stream by asking for changes again and again.
 *
 * The subscriber checks that numbers follow each other, asks again on any gap, on peer_up and when
 * nothing came for a while, and grants credit as it consumes. Snapshot messages carry the sequence
 * of the snapshot itself and their place in it (part), snapshot_begin being 1. */
#ifndef STREAM_H
#define STREAM_H

#include "proto/base/moment.h"
#include "proto/bus/delivery.h"
#include "proto/bus/outbox.h"
#include "proto/packed_store.h"

/* ---- publisher ---- */

struct publisher;

struct publisher_options {
    int64_t epoch;        /* another one in every life of the process; > 0 */
    size_t log_bytes_max; /* bound of the log; older changes are dropped */
    uint32_t subscribers_max;
};

struct publisher *publisher_new(const struct publisher_options *options);
void publisher_free(struct publisher **p);
/* What the stream says of one object; zero-initialise. It must not move, and must be removed before
 * it goes, or the publisher be freed. */
struct published {
    struct stored *now; /* NULL: it is not in the stream */
    uint32_t place;
    uint32_t mark; /* its owner's to use */
};

/* Sets or replaces the object. Does nothing when the message has the values that were published
 * last for it. Returns true when it published. */
bool publisher_set(struct publisher *p, struct published *object, const struct message *m);
/* What was published last, from the arena; the object must be in the stream. */
void publisher_get(const struct publisher *p, const struct published *object, struct message *m,
                   struct arena *a);
/* Removes the object and publishes gone; nothing when it is not in the stream. */
bool publisher_remove(struct publisher *p, struct published *object, const struct message *gone);
/* Publishes a message that is no object's state (barrier_reached, view): in the log, not in
 * snapshots. */
void publisher_note(struct publisher *p, const struct message *m);
/* Handles subscribe, credit and peer_down; other messages are ignored. */
void publisher_handle(struct publisher *p, struct address from, const struct message *m);
/* Puts what each subscriber may get now into the outbox. Call after every batch of changes. */
void publisher_flush(struct publisher *p, struct outbox *out);
int64_t publisher_epoch(const struct publisher *p);
int64_t publisher_sequence(const struct publisher *p);
size_t publisher_objects(const struct publisher *p);
uint32_t publisher_subscribers(const struct publisher *p);
/* Snapshots sent since the start; for status. */
uint64_t publisher_snapshots(const struct publisher *p);
/* Changes that are kept for subscribers that come back. */
size_t publisher_log(const struct publisher *p);

/* ---- subscriber ---- */

#define EPOCHS_LEFT 8 /* of the publisher's former lives, the last ones */

struct subscriber {
    struct address publisher; /* where the stream comes from; peer 0 while unknown */
    int64_t epoch, sequence;  /* position reached, or that of the snapshot that is being read */
    int64_t whole_epoch, whole_sequence; /* while one is being read: what was reached before */
    int64_t left[EPOCHS_LEFT];           /* epochs that were gone on from, a ring; 0: none */
    uint32_t left_count;                 /* ever */
    int64_t part;                        /* place reached in the snapshot */
    bool in_snapshot, synced;            /* synced: at least one whole snapshot has been applied */
    uint32_t window, used;               /* credit granted at once, consumed since the last grant */
    bool asked;                          /* a subscribe is under way */
    bool again;                          /* one is wanted, for a snapshot */
    struct moment asked_at, heard_at;
    uint64_t gaps, snapshots;
};

enum stream_step {
    STREAM_ignore, /* not to be applied: duplicate, stale, or waiting for a snapshot */
    STREAM_apply   /* apply it; snapshot_begin and snapshot_end are also applied by the owner */
};

void subscriber_init(struct subscriber *s, uint32_t window);
/* Asks for a snapshot with the next tick, wherever it is; it is not synced until that has come. */
void subscriber_again(struct subscriber *s);
/* For each message from the watcher (peer_up and peer_down included), before applying it. */
enum stream_step subscriber_take(struct subscriber *s, struct moment now, const struct delivery *in,
                                 struct outbox *out);
/* Whether all up to the position has been applied: a snapshot counts once it is whole. Nothing
 * follows from an epoch's size, as it is a reading of a clock that may be set back: of one that is
 * neither this one nor was left, nothing has. Epoch 0 is no position, and always reached. */
bool subscriber_has_reached(const struct subscriber *s, int64_t epoch, int64_t sequence);
/* Whether it went on from this epoch to a later one. */
bool subscriber_has_left(const struct subscriber *s, int64_t epoch);
/* Asks again when an answer is overdue. Returns when it wants to be called next. */
struct moment subscriber_tick(struct subscriber *s, struct moment now, struct outbox *out);

#endif
