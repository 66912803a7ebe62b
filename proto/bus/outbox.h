/* outbox: where a pure core puts what it wants to send; encoded at once, sent by the actor loop. */
#ifndef OUTBOX_H
#define OUTBOX_H

#include "proto/messages.h"

/* Whom a message came from or goes to. peer numbers one life of one peer on one link and is never
 * used again; 0 means "the only peer of that kind" (the bus drops and counts the message when there
 * is none, and when there are several sends to each of them). */
struct address {
    enum process process;
    uint32_t peer;
};

/* Two cores in one process (scheduler/own_worker.h) know each other by this number, which no bus
 * gives. */
#define PEER_INSIDE UINT32_MAX
#define OWN_WORKER  "own-worker" /* the instance of the one that is a worker */

static inline bool same_address(struct address a, struct address b)
{
    return a.process == b.process && a.peer == b.peer;
}

/* A message waiting to be sent. For stream messages epoch and sequence are not zero. */
struct outgoing {
    struct address to;
    enum message_type type;
    uint32_t body_offset, body_len; /* in the outbox's bytes */
    int64_t epoch, sequence;
    int64_t part; /* place in a snapshot from 1, 0 = not in one */
    bool more;    /* the bus's own: the next message is for the same peer and follows at once */
    bool tried;   /* the bus's own: there was a peer that it is for */
    bool handed;  /* within this process, to PEER_INSIDE, which has it: only the tap is to know */
};

struct outbox {
    struct buffer bytes;
    struct outgoing *at;
    size_t count, room;
    void (*send)(void *context); /* sends and resets it; NULL: whoever has it does so in time */
    void *context;
};

/* Encodes the message now, so the caller's memory may go at once. */
void outbox_put(struct outbox *out, struct address to, const struct message *m);
/* The same with a stream position in the envelope. */
void outbox_put_numbered(struct outbox *out, struct address to, const struct message *m,
                         int64_t epoch, int64_t sequence);
/* The same from a body that is encoded already (a publisher's log). */
void outbox_put_encoded(struct outbox *out, const struct outgoing *head, struct str body);
/* What was put last is for somebody else, too. */
void outbox_put_again(struct outbox *out, struct address to);
/* All of from, in its order, behind what is in to; from is empty then. */
void outbox_move(struct outbox *to, struct outbox *from);
struct str outbox_body(const struct outbox *out, size_t i);
/* Decodes the i-th message back, for tests. False never happens for what outbox_put wrote. */
bool outbox_get(const struct outbox *out, size_t i, struct message *m, struct arena *a);
/* Others can go on with what there is by now, while more is done here. */
void outbox_send(struct outbox *out);
void outbox_reset(struct outbox *out);
void outbox_free(struct outbox *out);

#endif
