/* asking: one question to the processes of an instance, and their answers, within a bounded time.
 */
#ifndef CTL_ASKING_H
#define CTL_ASKING_H

#include "proto/bus/bus.h"
#include "proto/bus/options.h"

#define DOORS_MAX     256
#define ASKING_WAIT_S 2 /* of commands that ask a short question */

struct door {
    char endpoint[200];
    bool asked; /* a process that the question is for is behind it */
    bool answered;
};

struct asking {
    const char *command; /* "berth status", for complaints */
    const char *run_dir; /* NULL: as for the processes */
    bool named;          /* doors were: the run directory is not looked at */
    struct bus_options bus;
    struct span wait;
    bool json; /* how the answers are to be printed */
    struct door doors[DOORS_MAX];
    size_t count;
    enum process whom; /* kinds that are asked */
    const struct message *request;
    enum message_type answer; /* which message is one; the first counts */
    /* Takes the answer of the door of this place; it is borrowed. */
    void (*take)(void *state, size_t door, const struct message *answer);
    void *state;
};

/* -o text|json, --run-dir, --endpoint, --wait, --curve-dir and --allow-plain-tcp; their state is
 * the asking. */
extern const struct own_option asking_options[];

/* Zero but for what any tool has: asks all kinds, and waits so long unless --wait says otherwise;
 * --help tells it. To be called before the options are read. */
void asking_init(struct asking *a, const char *command, unsigned wait_s);
/* Looks for doors where none were named. False: it was said that there are none. */
bool asking_find(struct asking *a);
/* Looks for doors where none were named, asks them all at once, and waits until each process that
 * is asked has answered or the time is over. False: it was said why nobody can be asked. */
bool asking_ask(struct asking *a);
/* Every door has answered; with some kinds asked alone: at least one did, and all behind whose
 * doors such a process is. */
bool asking_complete(const struct asking *a);

#endif
