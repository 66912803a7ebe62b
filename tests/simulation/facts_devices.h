/* facts_devices: ResourceClaims as the API server holds them. */
#ifndef TESTS_SIMULATION_FACTS_DEVICES_H
#define TESTS_SIMULATION_FACTS_DEVICES_H

#include "tests/simulation/facts.h"

#define DEVICE_CLAIMS_MAX 128
#define RESERVED_MAX      256 /* as the API server takes */
#define DEVICES_A_NODE    2

struct device_claim_fact {
    bool there, deleting;
    char name[NAME_ROOM], uid[40];
    bool allocated;
    char node[NAME_ROOM];   /* whose devices it has; "" */
    char device[NAME_ROOM]; /* the first of them; "" */
    uint32_t reserved_count;
    char reserved[RESERVED_MAX][40]; /* UIDs of pods */
    int64_t touched_at;              /* somebody made it anew or took it away, last */
    int64_t unused_since;            /* no pod names it; 0: one does */
};

extern struct device_claim_fact facts_device_claims[DEVICE_CLAIMS_MAX];

void facts_devices_reset(void);
void facts_devices_changed(const struct model_change *change);
/* Also one that is gone, as long as it is remembered. */
struct device_claim_fact *facts_device_claim(const char *name);
struct device_claim_fact *facts_any_device_claim(uint64_t n);
uint32_t facts_device_claim_count(void);
bool facts_reserved_for(const struct device_claim_fact *claim, const char *uid);
/* The pod names no claim, or one that is there to stay. */
bool facts_devices_usable(const struct pod_fact *pod);
/* The pod's claim is, or can be had, at the node now. */
bool facts_devices_fit(const struct pod_fact *pod, const struct node_fact *node);

#endif
