/* binds_inside: the state of all binds, for binds.c and binds_report.c; nobody else includes it. */
#ifndef BINDER_BINDS_INSIDE_H
#define BINDER_BINDS_INSIDE_H

#include "binder/answers.h"
#include "binder/binds.h"
#include "binder/claim_turns.h"
#include "binder/prebind.h"
#include "binder/release.h"
#include "proto/base/map.h"

#define LATENCIES 1024

/* A bind in flight. */
struct flight {
    struct job job; /* first */
    struct binds *binds;
    struct bind bind; /* strings and claims in memory */
    struct arena memory;
    struct moment taken, ready; /* asked for; nothing but the Binding is left to be done */
    struct prebind *prebind;    /* NULL: none is needed */
    bool prepared;              /* it is done */
    struct hooked *hooked;      /* plugins' hooks are asked; NULL: none is, or not now */
    bool by_hook;               /* one of them binds the pod, or has tried to */
    struct release *undoing;    /* what it has left behind in a claim is taken back */
    struct claim_release undo;  /* that */
    uint32_t undone;            /* how far that has come */
    struct moment over;         /* when it ended; 0: not yet */
    bool gone;                  /* it ended as the pod does not exist any more */
    bool blocked;
    bool cancelled; /* the reason is in message; a write of the prebind is on the wire */
    bool doubt;     /* a POST may have been carried out */
    bool open;      /* a POST may even still be under way: unbound now may be bound later */
    struct moment sent, open_until; /* its last POST, and until when that may come */
    bool no_reads;                  /* GET is forbidden: the POST's own conflict must tell */
    int posts, waits;               /* requests sent; delays in a row */
    int code;                       /* of the last answer, and its text */
    struct buffer message;
    enum bind_plugin failed_plugin; /* of the prebind, or the extender; none: neither failed */
    const struct extender_config *extender; /* who binds instead of us; NULL: nobody */
    bool has_route;                         /* job.route is an extender's, to be released */
};

struct binds {
    struct binds_options options;
    struct lanes *lanes;
    struct claim_turns *turns;
    struct map *flights; /* uid -> flight */
    struct answers answers;
    bool hurry; /* one of them is of a pod that was not bound */
    struct moment answers_by;
    struct random random;
    struct binds_stats stats;
    int64_t latencies[LATENCIES];
    uint64_t measured;
};

#endif
