/* groups: the status of PodGroups: phase and counts, and the condition that says why one waits.
 *
 * One entry a group; what is newer takes the place of what still waits. Nothing is owed for a
 * status: what is lost is sent again when the group is next looked at. */
#ifndef BINDER_GROUPS_H
#define BINDER_GROUPS_H

#include "binder/lanes.h"
#include "proto/messages.h"

struct groups_options {
    /* A 403 was seen, for the one warning about it. */
    void (*forbidden)(void *owner, const char *verb, const char *resource,
                      struct str namespace_name, const struct kube_response *response);
    void *owner;
    uint64_t seed; /* of the jitter */
};

struct groups;

struct groups *groups_new(const struct groups_options *options, struct lanes *lanes);
void groups_free(struct groups **groups);

/* The condition, and the phase with the counts; each replaces its own kind. */
void groups_failed(struct groups *g, struct instant at, const struct group_failed *failed);
void groups_status(struct groups *g, struct instant at, const struct group_status *status);
/* Forgets what was not answered: leadership was lost. */
void groups_clear(struct groups *g);

struct groups_stats {
    uint32_t groups;    /* entries */
    uint64_t written;   /* patches that were carried out */
    uint64_t replaced;  /* by something newer before they were sent */
    uint64_t unchanged; /* nothing to write */
    uint64_t dropped;   /* lane full, leadership lost, or refused by the server */
};
struct groups_stats groups_stats(const struct groups *g);

#endif
