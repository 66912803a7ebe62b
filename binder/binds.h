/* binds: from "bind this pod" to the truth about it.
 *
 * A pod is in flight from the request until its one answer. A POST whose outcome is not known is
 * followed by a GET, and by as many as it takes, because only then may the pod be tried elsewhere.
 */
#ifndef BINDER_BINDS_H
#define BINDER_BINDS_H

#include "binder/lanes.h"
#include "proto/bus/outbox.h"
#include "proto/kube/extenders/extenders.h"

struct binder_plugin;
struct bus_hooks;

struct binds_options {
    struct span give_up; /* how long to go on against 429, 503 and an unreachable server; 0: 30 s */
    uint64_t seed;       /* of the jitter */
    struct api api;      /* for its extenders */
    const struct binder_plugin *const *plugins; /* up to a NULL; NULL: this program's */
    struct bus_hooks *bus;                      /* borrowed; where binds name plugins on the bus */
    void *owner;
    /* Called once for each bind; bound: the pod is on the node that was asked for. */
    void (*ended)(void *owner, struct instant at, const struct bind *bind, bool bound);
    /* Its devices are waited for; may be NULL. */
    void (*waiting)(void *owner, struct instant at, const struct bind *bind);
    void (*forbidden)(void *owner, const char *verb, const char *resource,
                      struct str namespace_name, const struct kube_response *response);
};

struct binds;

struct binds *binds_new(const struct binds_options *options, struct lanes *lanes);
void binds_free(struct binds **binds);

/* Takes a request. blocked: not before binds_go. A second one for a pod in flight is answered by
 * the first one's answer when it names the same node, else refused at once. */
void binds_add(struct binds *b, struct instant at, const struct bind *bind, bool blocked);
void binds_go(struct binds *b, struct instant at, struct str uid);
/* Answers without writing. */
void binds_refuse(struct binds *b, const struct bind *bind, int code, const char *why);
bool binds_has(const struct binds *b, struct str uid);
/* Stops the bind of this pod, for the reason why, if its Binding was not sent yet; NULL for
 * node_name means whatever node. False: there is none, or it is too late. */
bool binds_cancel(struct binds *b, struct instant at, struct str uid, const struct str *node_name,
                  struct str why);
/* True: the bind of this pod still waits for its claims; version: the pod's resourceVersion. */
bool binds_prepares(const struct binds *b, struct str uid, int64_t *version);
/* Ends those that were not handed over (or all) as not bound, for the reason why. */
void binds_drop_waiting(struct binds *b, struct instant at, const char *why);
void binds_drop_all(struct binds *b, struct instant at, const char *why);
/* Those that are not ready for their Binding yet. */
uint32_t binds_waiting_for_claims(const struct binds *b);
uint32_t binds_count(const struct binds *b);
/* Binds not answered; strings borrow until the next call of anything here. */
void binds_list(const struct binds *b, struct leadership *into, struct arena *a);
/* Puts the answers that are known into the outbox. */
void binds_flush(struct binds *b, struct outbox *out);
/* The same, but of pods that were bound the scheduler need not hear at once while many others are
 * still to be: returns when what was kept back will be due. */
struct moment binds_flush_due(struct binds *b, struct moment now, struct outbox *out);

struct binds_stats {
    uint64_t bound, failed, doubled; /* answers; requests for a pod in flight */
    uint64_t doubts, resolved;       /* POSTs with unknown outcome; those whose truth was found */
    uint64_t retried;                /* POSTs sent again */
    struct span p50, p99;            /* of the last 1,024 bound, from request to answer */
};
struct binds_stats binds_stats(const struct binds *b);

#endif
