/* controllers: what answers to the scheduler's writes: the controller of volumes with its
 * provisioners, and the one of resource claims. They look at what the API server holds, every
 * second or so, and never at an old view of it. */
#ifndef TESTS_SIMULATION_CONTROLLERS_H
#define TESTS_SIMULATION_CONTROLLERS_H

#include "tests/simulation/facts_devices.h"
#include "tests/simulation/facts_volumes.h"

/* How the provisioners are. */
struct storage {
    int64_t least, most; /* until a volume is made: ns */
    double fails;        /* percentage of those that are to be made */
};
struct storage *controllers_storage(void);

void controllers_reset(void);
/* All is quick and good again. */
void controllers_heal(void);
/* The claim gets the volume, though it may be on its way to another one. */
bool controllers_bind(struct volume_fact *volume, struct claim_fact *claim);

void controllers_devices_reset(void);
/* What the controller does with it in its next turn. */
void controllers_look_at_claim(struct device_claim_fact *claim);
/* Another scheduler reserves it for one more of its pods. */
bool controllers_reserve_another(struct device_claim_fact *claim, uint32_t a);

#endif
