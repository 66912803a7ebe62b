/* actor: the main loop of every process, in named phases: wait, receive and handle a batch, work
 * on the extra descriptor, tick, send. It owns the sockets and the clock so that cores are pure.
 *
 * SIGTERM and SIGINT ask the core to stop; a second one ends at once. SIGUSR1 ends its recording,
 * if there is one, and the core goes on. SIGUSR2 makes it log what it holds. */
#ifndef ACTOR_H
#define ACTOR_H

#include "proto/bus/options.h"

/* A round handles so many messages at most before timers and descriptors are looked at, and ends
 * sooner when something was said and this long has passed: who is waited for should not wait for
 * what else there is to handle. */
#define ACTOR_TURN   512
#define ACTOR_SAY_US 100
/* A loop with nothing to do turns this often nevertheless: whoever watches it (ctl/pulse.h) knows
 * by that that it would, were there anything. */
#define ACTOR_BEAT_MS 1000

struct actor {
    void *state;
    /* One message. Must not block. */
    void (*handle)(void *state, struct moment now, const struct delivery *in, struct outbox *out);
    /* Timers; returns when it wants to be called next (MOMENT_NEVER for never). Called after every
     * batch, so it is also the place for work that is better done once a batch. May be NULL. */
    struct moment (*tick)(void *state, struct moment now, struct outbox *out);
    /* A descriptor to wait on beside the bus (the Kubernetes client's epoll), or -1. */
    int fd;
    /* Called when fd is readable, and at least once before each tick. May be NULL. */
    void (*work)(void *state, struct moment now, struct outbox *out);
    /* Asked to stop: start a clean end. From then on the loop runs until done() is true or
     * stop_limit has passed. Both may be NULL: then it ends at once. */
    void (*stop)(void *state, struct moment now, struct outbox *out);
    bool (*done)(const void *state);
    struct span stop_limit;
    /* `key=value` lines for status reports. May be NULL. */
    void (*status)(void *state, struct buffer *lines);
    /* Logs what it holds, for people: on SIGUSR2. May be NULL. */
    void (*dump)(void *state);
    /* Sets gauges and health checks (proto/metrics.h): called before they are reported. May be
     * NULL.
     */
    void (*observe)(void *state);
    /* What the term of outgoing messages should be; NULL: only what the bus learns from others. */
    int64_t (*term)(const void *state);
};

/* Returns the exit status: 0 after a stop (a warning is logged when stop_limit cut it short), 1
 * when the core called actor_fail. What it tells the core and what that says goes into the journal
 * in force (proto/journal/journal.h), if there is one. */
int actor_run(struct bus *bus, const struct actor *actor);
/* The same on a bus of its own, 1 when that cannot be opened (logged); or, with --replay, no bus:
 * the journal in force is played back to the actor (replay.h). The journal ends with it. */
int actor_main(const struct options *options, const struct actor *actor);
/* True once behind every SIGHUP, for cores that read something again then; they are ticked. */
bool actor_hangup(void);
/* Makes actor_run end with status 1 after the current batch. */
void actor_fail(void);

#endif
