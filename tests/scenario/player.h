/* player: plays a scenario, a text of messages and expectations, to one core in virtual time.
 *
 *   # a comment
 *   start credit=1 …                    open the core; links come up, an empty snapshot arrives
 *   at 0s watcher > queue pod_set pod={name="a"}      a message, as the tap prints it
 *   at 0s again                         the same message once more, with the same number
 *   at 1s scheduler down                the link goes; up: it comes back as another life
 *   at 1s scheduler term 2              what this peer sends from now on carries this term
 *   at 1s expect scheduler attempt pod={name="a"}     the next message out, sent at this very time
 *   at 1s expect nothing                nothing has been sent that was not expected
 *   at 1s expect status active=1        lines of the status report
 *
 * A peer is named by its kind; kind:N is its N-th life, for words that come late. An expected
 * message matches when all fields that are given (not zero) are equal. What is left out of a
 * message to the core is filled in so that scenarios stay short: uid = name, namespace default,
 * schedulerName default-scheduler, API group of PodGroups scheduling.x-k8s.io, resource_version
 * counting up; an outcome's cycle from the last
 * attempt of that name. What the core says to the watcher (credit) is not looked at. */
#ifndef TESTS_SCENARIO_PLAYER_H
#define TESTS_SCENARIO_PLAYER_H

#include "proto/base/moment.h"
#include "proto/bus/delivery.h"

/* The core that a scenario is played to. */
struct player_core {
    const char *name; /* queue */
    /* Opens it with the key=value words of the start line; NULL when one is unknown. */
    void *(*open)(struct str words);
    void (*close)(void *state);
    void (*handle)(void *state, struct moment now, const struct delivery *in, struct outbox *out);
    struct moment (*tick)(void *state, struct moment now, struct outbox *out);
    void (*status)(void *state, struct buffer *lines);
    void (*check)(void *state); /* after every step: what must always be true */
};

/* Plays the file. False at the first line that does not hold, with a text in error. */
bool player_play(const struct player_core *core, const char *path, char *error, size_t room);

/* Takes the next blank-separated word of a line; empty at its end. */
struct str player_word(struct str *line);
/* The number of `key=number` in words; fallback when the key is not there. */
int64_t player_option(struct str words, const char *key, int64_t fallback);

#endif
