/* volume_findings: fills a volume_findings's lists for claims, from the catalog: which nodes a
 * bound claim's volume allows, and what a claim that still waits for its volume could get where. */
#ifndef SCHEDULER_CATALOG_VOLUME_FINDINGS_H
#define SCHEDULER_CATALOG_VOLUME_FINDINGS_H

#include "scheduler/catalog/catalog.h"

/* The claims of one pod in the pod's order; a claim may stand in a list twice. */
struct pod_claims {
    struct str profile; /* whose pod it is */
    uint32_t bound_count, delayed_count;
    const struct claim **bound, **delayed;
};

/* Everything in out that concerns claims; lists come from the arena, strings from the catalog. */
void volume_findings_claims(const struct catalog *catalog, const struct pod_claims *claims,
                            struct volume_findings *out, struct arena *a);

#endif
