/* calls: requests to the API server: proto/kube/client.h in virtual time. Each request takes some
 * time to be carried out and answered; it can be refused, lost on its way or on its way back, and
 * carried out by somebody in between after its sender has given up or died. */
#ifndef TESTS_SIMULATION_CALLS_H
#define TESTS_SIMULATION_CALLS_H

#include "proto/kube/client.h"
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
    bool cut[2];             /* a group's way to the API server leads nowhere */
    int64_t watch_lag[2];    /* of a group's watches, ns */
};
struct weather *weather(void);

void calls_reset(struct model *model);
/* For struct model_hooks. */
void calls_woken(void *stream_owner);
/* Ends a group's watches, at random or all. */
void calls_break_watches(int group, bool all_of_them);
/* Requests that may still be carried out. */
uint32_t calls_open(void);

#endif
