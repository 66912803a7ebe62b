/* scored_resources: what NodeResourcesFit and NodeResourcesBalancedAllocation have in common: a
 * list of resources to score by, each with what the pod asks and, per node, what is used and
 * offered. */
#ifndef SCHEDULER_RULES_SCORED_RESOURCES_H
#define SCHEDULER_RULES_SCORED_RESOURCES_H

#include "scheduler/rules/plugin.h"
#include "scheduler/table/kernels.h"

struct scored_resource {
    int fixed;         /* RESOURCE_…, or -1 */
    uint32_t resource; /* atom of a scalar; 0: no node of the share has it */
    int64_t weight, asked;
    bool left_out;                    /* a scalar that the pod does not ask for */
    const struct scored_stock *stock; /* NULL: no devices stand for it */
};

struct scored_resources {
    bool with_defaults; /* cpu and memory in use count with defaults for silent containers */
    uint32_t count;
    struct scored_resource *at;
};

/* names: the profile's list, amounts are weights. asks: what the pod asks for. */
struct scored_resources *scored_resources_make(const struct cycle *c, const struct quantity *names,
                                               uint32_t count, const struct quantity *asks,
                                               uint32_t ask_count);

/* What the node offers and what is used of it. False: leave this resource out. */
bool scored_resource_on(const struct scored_resources *all, uint32_t i, const struct nodes *n,
                        uint32_t row, int64_t room_used[2]);

/* The resource as columns that begin at the first of the rows. False: it is a scalar, or some
 * amount is too large for the kernels. Not for one that is left out. */
bool scored_resource_column(const struct scored_resources *all, uint32_t i, const struct nodes *n,
                            struct row_range rows, struct kernel_resource *out);

#endif
