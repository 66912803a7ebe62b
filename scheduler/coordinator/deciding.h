/* deciding: pods that are being decided. */
#ifndef SCHEDULER_COORDINATOR_DECIDING_H
#define SCHEDULER_COORDINATOR_DECIDING_H

#include "scheduler/coordinator/coordination.h"

#include <stdio.h>

/* ---- what is under way ---- */

/* How many slots are used; 0: nothing is being decided. */
static inline uint32_t deciding_count(const struct coordinator *c)
{
    return c->deciding.under_way;
}

static inline const struct slot *deciding_slot(const struct coordinator *c, uint32_t at)
{
    return &c->deciding.slots[at];
}

/* What workers are asked about the slot's pod. */
static inline const struct map_request *deciding_request(const struct coordinator *c, uint32_t at)
{
    return reduce_request(c->deciding.slots[at].reduce);
}

/* How many workers are asked, by shard number. */
static inline uint32_t deciding_workers(const struct coordinator *c)
{
    return c->deciding.asked_count;
}

/* Peer 0: it is gone. */
static inline struct address deciding_worker(const struct coordinator *c, uint32_t shard)
{
    return (struct address){WORKER, c->deciding.asked[shard]};
}

/* UINT32_MAX: the worker was not asked. */
static inline uint32_t deciding_shard_of(const struct coordinator *c, uint32_t worker)
{
    uint32_t i = 0;
    while (i < c->deciding.asked_count && c->deciding.asked[i] != worker)
        i++;
    return i < c->deciding.asked_count ? i : UINT32_MAX;
}

/* Something has changed that workers hear of when nothing is under way any more. */
static inline bool deciding_holds_news(const struct coordinator *c)
{
    return c->deciding.held.count > 0;
}

/* When workers were asked for what is being concluded. */
static inline struct moment deciding_began(const struct coordinator *c)
{
    return c->deciding.began;
}

static inline void deciding_set_began(struct coordinator *c, struct moment began)
{
    c->deciding.began = began;
}

/* Round-robin: how many choices there were; set by whoever takes some back. */
static inline uint64_t deciding_turn(const struct coordinator *c)
{
    return c->deciding.turn;
}

static inline void deciding_set_turn(struct coordinator *c, uint64_t turn)
{
    c->deciding.turn = turn;
}

void deciding_free(struct coordinator *c);
/* What the cache tells a worker (cache_options). */
void deciding_tell(void *context, uint32_t worker, const struct message *m);
bool deciding_tell_encoded(void *context, uint32_t worker, enum message_type type, struct str body);
bool deciding_lets_wait(void *context);
/* The worker is gone: it need not be told to forget. */
void deciding_forget_worker(struct coordinator *c, uint32_t worker);

/* True when the pod is on a node, or on its way to one. */
bool deciding_is_known(const struct coordinator *c, const struct flight *f);
/* The same, or it is not ours to decide about, or it goes. */
bool deciding_has_no_cycle(const struct coordinator *c, const struct flight *f);
/* True when there is nothing to decide about this flight. */
bool deciding_is_idle(const struct coordinator *c, const struct flight *f);

/* The workers that have the nodes now are those that will be asked. */
void deciding_begin(struct coordinator *c, struct moment now);
/* Takes the first waiting flight into the next slot, and its first step. */
/* Whether some profile's walks over the nodes end early, so that each pod has to be decided alone.
 */
static inline bool deciding_walks(const struct coordinator *c)
{
    return c->deciding.walks;
}

/* After the profiles changed, and before the first decision. */
void deciding_configure(struct coordinator *c);
/* The pod is decided: the next one's walk over the nodes begins where its walk ended, and in a
 * round-robin it is the next one's turn. */
void deciding_note_walk(struct coordinator *c, struct flight *f, const struct decision *d);
enum reduce_step deciding_take(struct coordinator *c, struct moment now);
/* The same for one that is like the slot before, with a single worker. */
enum reduce_step deciding_take_alike(struct coordinator *c, struct moment now);
/* The same without a request of its own: it is decided with that of the first slot. */
void deciding_take_along(struct coordinator *c, struct moment now);
/* True when some rule counts other pods for the request's. */
bool deciding_is_counted(struct coordinator *c, const struct map_request *r);
/* A worker's answer to the slot's request. */
enum reduce_step deciding_answer(struct coordinator *c, uint32_t at, uint32_t shard,
                                 const struct map_result *result);
/* Flights from this slot on go back to the head of the line, as if they had not been taken. */
void deciding_give_back(struct coordinator *c, uint32_t from);
/* The first slots are free: their pods are decided. Those behind them move up. */
void deciding_drop(struct coordinator *c, uint32_t count);
/* Flights behind this slot go back, and those before it are decided: it is the only one. */
void deciding_keep_only(struct coordinator *c, uint32_t at);
/* Nothing is under way any more: workers hear what has happened meanwhile, in order. */
void deciding_end(struct coordinator *c);

/* True when nothing has come in between that makes it moot that the pod goes to this node. */
bool deciding_stands(const struct coordinator *c, const struct flight *f, struct str node);
/* The same for a slot, if its decision is a node. */
bool deciding_decision_stands(const struct coordinator *c, const struct slot *s);
/* True when the node went meanwhile, whether it came back or not. */
bool deciding_has_been_gone(struct coordinator *c, struct str node);

#endif
