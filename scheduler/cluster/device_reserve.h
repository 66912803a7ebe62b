/* device_reserve: the devices of a pod that has got its node; upstream's Reserve and Unreserve of
 * DynamicResources, as far as they write nothing. */
#ifndef SCHEDULER_CLUSTER_DEVICE_RESERVE_H
#define SCHEDULER_CLUSTER_DEVICE_RESERVE_H

#include "proto/base/random.h"
#include "scheduler/catalog/catalog.h"

/* What is in flight for one pod. Zero-initialise: nothing. */
struct device_reservation {
    uint32_t count;
    struct device_allocation *at; /* in the order of the pod's claims */
    uint32_t relied_count;
    struct device_allocation *relied_on; /* claims that had devices already, and which */
    struct extended_claim *extended; /* to be made for it; NULL: none. Its allocation's UID is what
                                        it is in flight as */
    uint32_t room_count;
    struct claim_room *rooms; /* what they take of the node's own resources, by claim */
    bool counts_anew;         /* the pod counts on its node for that, whatever its status says */
};

enum device_outcome {
    DEVICES_reserved, /* or there is nothing to allocate */
    DEVICES_gone,     /* they are not to be had any more: decide anew */
    DEVICES_failed    /* the attempt fails, with the error */
};

struct device_reserve_question {
    const struct pod *pod;
    const struct features *features; /* what it was decided with */
    uint32_t open;                   /* how many of its claims had no devices when it was decided */
    const struct node *node;
    struct random *random; /* names shares */
};

/* Searches the chosen node again, which finds what was found for the findings unless something has
 * changed since; takes the devices, and fills out from the arena. What other claims of the pod have
 * got must be for that node still; it is noted, as it may be taken back before the pod is bound. */
enum device_outcome device_reserve(struct catalog *catalog, const struct device_reserve_question *q,
                                   struct device_reservation *out, struct str *error,
                                   struct arena *a);
/* The pod as it counts on its node. What is new of it is in the arena. */
struct pod device_reserved_pod(const struct device_reservation *r, const struct features *features,
                               const struct pod *pod, struct arena *a);
/* Nothing of it was or will be written: the devices are free, and r is empty. True: there were
 * some, or claims that others may be decided with now; no object tells of that. */
bool device_unreserve(struct catalog *catalog, struct device_reservation *r);
/* All of it was written, or may have been. */
void device_settle(struct catalog *catalog, struct device_reservation *r, struct moment now);
/* The bind has failed behind these writes, UIDs of claims, special among them being that of the one
 * that was made (empty: none was); the rest is free. True as above. */
bool device_unreserve_but(struct catalog *catalog, struct device_reservation *r,
                          struct strs written, struct str special, struct moment now);

#endif
