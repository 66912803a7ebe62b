/* volume_plan: on one node, a volume for each of a pod's delayed claims, or leave to make one;
 * upstream's FindPodVolumes without its bound claims. Workers ask it for every node with atoms, the
 * coordinator once more for the node that was chosen, with strings. */
#ifndef SCHEDULER_CATALOG_VOLUME_PLAN_H
#define SCHEDULER_CATALOG_VOLUME_PLAN_H

#include "proto/messages.h"

/* A node's answers; claim and candidate are indices in the findings. */
struct volume_plan_node {
    void *context;
    bool (*is_selected)(void *context, uint32_t claim); /* by the claim's selected_node */
    bool (*can_use)(void *context, uint32_t candidate); /* the volume's terms allow it */
    bool (*can_make)(void *context, uint32_t claim);    /* the claim's topologies allow it */
    bool (*can_reach)(void *context, uint32_t claim);   /* one of the claim's rooms */
    /* The first of the claim's choices from this one on that is worth asking for; their number or
     * more: none is. It leaves out what the node cannot use, but never a prebound one. NULL: all
     * are asked for. */
    uint32_t (*next_choice)(void *context, uint32_t claim, uint32_t from);
};

enum volume_plan {
    VOLUME_PLAN_fits,
    VOLUME_PLAN_no_volume, /* nothing to bind, and it cannot be made either */
    VOLUME_PLAN_no_room,   /* it could be made if there were room */
    VOLUME_PLAN_problem    /* upstream's filter fails, with the claim's problem */
};

#define VOLUME_TO_MAKE UINT32_MAX

/* chosen has room for findings->delayed.count entries: for each claim the candidate, or
 * VOLUME_TO_MAKE. After a problem, chosen[0] is the claim that has it. */
enum volume_plan volume_plan_make(const struct volume_findings *findings,
                                  const struct volume_plan_node *node, uint32_t *chosen);
/* False when a choice points outside of the findings, which only a peer's fault can make so. */
bool volume_findings_is_sound(const struct volume_findings *findings);

#endif
