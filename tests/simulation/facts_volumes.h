/* facts_volumes: claims, volumes and attach limits as the API server holds them. */
#ifndef TESTS_SIMULATION_FACTS_VOLUMES_H
#define TESTS_SIMULATION_FACTS_VOLUMES_H

#include "tests/simulation/facts.h"

#define CLAIMS_MAX  128
#define VOLUMES_MAX 160
#define ZONES       2

/* A PersistentVolumeClaim. */
struct claim_fact {
    bool there, deleting;
    char name[NAME_ROOM], uid[40], class[16];
    char volume[64];          /* that it is bound to; "" */
    char selected[NAME_ROOM]; /* the node for which it is to be provisioned; "" */
    bool bound;               /* its volume is final */
    bool lost;                /* its volume is gone */
    bool alone;               /* ReadWriteOncePod */
    int64_t size;             /* GiB */
    int64_t touched_at;       /* a user made it anew, or took it away, last */
    int64_t given_at;         /* a user gave it a volume, last */
    int64_t bound_at;         /* it got the name of its volume */
    int64_t made_at;          /* when its volume is ready; 0: nobody makes one */
    int64_t unused_since;     /* no pod names it; 0: one does */
};

/* A PersistentVolume. */
struct volume_fact {
    bool there, deleting;
    char name[64], class[16], phase[12];
    char node[NAME_ROOM], zone[8]; /* where it can be used; "": anywhere */
    char claim[NAME_ROOM], claim_uid[40];
    char handle[64]; /* of a CSI volume; "" */
    bool by_controller;
    bool alone;         /* ReadWriteOncePod */
    int64_t size;       /* GiB */
    int64_t touched_at; /* a user took it away, last */
    int64_t given_at;   /* a user gave it to a claim, last */
};

extern struct claim_fact facts_claims[CLAIMS_MAX];
extern struct volume_fact facts_volumes[VOLUMES_MAX];
/* What a driver says to have left, by zone: GiB. */
extern int64_t facts_room[ZONES];

void facts_volumes_reset(void);
void facts_volumes_changed(const struct model_change *change);
struct claim_fact *facts_claim(const char *name);
struct volume_fact *facts_volume(const char *name);
/* The same, else the last one of the name that has gone, as long as it is remembered. */
const struct claim_fact *facts_claim_of_late(const char *name);
const struct volume_fact *facts_volume_of_late(const char *name);
uint32_t facts_claim_count(void);
uint32_t facts_volume_count(void);
struct claim_fact *facts_any_claim(uint64_t n);
struct volume_fact *facts_any_volume(uint64_t n);
/* One that is reserved for this claim, and suits it if any does; NULL: none is. */
struct volume_fact *facts_volume_for(const struct claim_fact *claim);
/* All that a volume has to be for a claim. */
bool facts_volume_suits(const struct volume_fact *volume, const struct claim_fact *claim);
bool facts_names_claim(const struct pod_fact *pod, const char *claim);
/* A pod names it. */
bool facts_claim_named(const char *claim);
/* A pod on a node uses the claim; except: not this one (NULL: any). */
bool facts_claim_used(const char *claim, const struct pod_fact *except);
bool facts_has_volumes(const struct pod_fact *pod);
/* The node may use the volume, by the volume's node affinity. */
bool facts_volume_reaches(const struct volume_fact *volume, const struct node_fact *node);
/* Volumes of the driver with a limit that the pods on a node have; without this pod's (NULL:
 * of all). */
uint32_t facts_attached(const char *node, const struct pod_fact *except);
/* With this pod there, too. */
uint32_t facts_attached_with(const char *node, const struct pod_fact *pod);
/* A provisioner makes one for it at the node. */
bool facts_volume_can_be_made(const struct claim_fact *claim, const struct node_fact *node);
/* All of the pod's volumes are, or can be had, at the node now. */
bool facts_volumes_fit(const struct pod_fact *pod, const struct node_fact *node);

#endif
