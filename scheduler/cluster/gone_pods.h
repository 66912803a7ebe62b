/* gone_pods: which pods went lately. Who offers pods may hear of their end later than we, by the
 * seconds that a link takes to come back: a claim that is made for one that has gone already would
 * never end, nor would the room that it is given. */
#ifndef SCHEDULER_CLUSTER_GONE_PODS_H
#define SCHEDULER_CLUSTER_GONE_PODS_H

#include "proto/base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* A pod is forgotten when so many that went later share its place. Of a thousand that go meanwhile
 * one in several thousand is. */
#define GONE_PLACES  4096
#define GONE_A_PLACE 4

/* Zero-initialise. UIDs as hashes, the last one first. */
struct gone_pods {
    uint64_t at[GONE_PLACES][GONE_A_PLACE];
};

void gone_pods_note(struct gone_pods *gone, struct str uid);
bool gone_pods_has(const struct gone_pods *gone, struct str uid);
/* It is there again. */
void gone_pods_forget(struct gone_pods *gone, struct str uid);

#endif
