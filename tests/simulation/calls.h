/* calls: requests to the API server: proto/kube/access/client.h in virtual time. Each request takes
 * some time to be carried out and answered; it can be refused, lost on its way or on its way back,
 * and carried out by somebody in between after its sender has given up or died. */
#ifndef TESTS_SIMULATION_CALLS_H
#define TESTS_SIMULATION_CALLS_H

#include "proto/kube/access/client.h"
#include "tests/simulation/model.h"
#include "tests/simulation/process.h"

struct calls;

/* A process's client. */
struct calls *calls_new(struct proc *owner);
/* The end of its process: what it had sent may still be carried out. */
void calls_free(struct calls **calls);
/* All that is under way has nobody any more who listens. */
void calls_detach(struct calls *calls);
struct kube_client *calls_client(struct calls *calls);

/* What happens to requests; percentages of those that may be hurt. */
struct weather {
    int64_t usual, most;     /* until it is carried out; and as long again until the answer */
    int64_t page, page_most; /* on top of that for a list's page, always */
    double refused;          /* 429, 500, 503 instead */
    double lost, unanswered; /* before, and after it was carried out */
    double late;             /* carried out up to the request's timeout later */
    double gone;             /* a watch or a page answers 410 */
    double rejected;         /* a binding is refused by admission */
    double meddled;          /* what was read of claims and volumes is changed soon */
    bool cut[2];             /* a group's way to the API server leads nowhere */
    bool blind;              /* that of watchers does */
    int64_t watch_lag[2];    /* of a group's watches, ns */
    bool no_bookmarks;       /* and no end of watches whose time is over */
};
struct weather *weather(void);

void calls_reset(struct model *model);
/* For struct model_hooks. */
void calls_woken(void *stream_owner);
/* Ends a group's watches, at random or all. */
void calls_break_watches(int group, bool all_of_them);
/* Some of a group's watches end in the middle of what comes next. */
void calls_tear_watches(int group);
/* Some of a group's watches end with an event that says this code. */
void calls_error_watches(int group, int code);
/* Nothing comes of one of a group's watches any more, and nobody says so. */
bool calls_deafen_watch(int group, uint32_t which);
/* Some request is on a connection that is dead, or got lost: its process waits until it times out.
 */
bool calls_hang(const struct calls *calls);
/* The same for all that is asked on a client's present connection. False: it is so already. */
bool calls_cut_off(struct calls *calls, enum kube_channel channel);
/* A watch of the group is silent, and its reader does not know. */
bool calls_are_deaf(int group);
/* Requests that may still be carried out. */
uint32_t calls_open(void);

/* Draws whether somebody meddles with what one of us has just looked at. */
bool calls_meddle(void);

#endif
