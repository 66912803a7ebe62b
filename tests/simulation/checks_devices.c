/* checks_devices: a device is one claim's, and a pod is bound when its claim has devices of that
 * node and the pod among those it is reserved for. */
#include "tests/simulation/checks_devices.h"

#include "tests/simulation/checks.h"
#include "tests/simulation/clock.h"
#include "tests/simulation/coverage.h"

#include <string.h>

#define OLD (120 * SECOND) /* a claim that a user made anew is known to whoever decides */

/* What a pod on a node has is its own for as long as it is there. */
static void check_user(const struct pod_fact *p)
{
    const struct device_claim_fact *c = facts_device_claim(p->claim);
    if (c != NULL && c->there && c->touched_at + OLD < p->bound_at &&
        c->reserved_count < RESERVED_MAX && !facts_reserved_for(c, p->uid))
        violated("claim not reserved", "%s is on %s, and its claim %s is not reserved for it now",
                 p->name, p->node, c->name);
}

void checks_devices(void)
{
    for (uint32_t i = 0; i < DEVICE_CLAIMS_MAX; i++)
        if (facts_device_claims[i].there && facts_device_claims[i].reserved_count > 0 &&
            !facts_device_claims[i].allocated)
            violated("claim without devices", "%s is reserved and has no devices",
                     facts_device_claims[i].name);
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && facts_pods[i].claim[0] != 0 && facts_pods[i].node[0] != 0 &&
            !facts_pods[i].deleting && !facts_ended(&facts_pods[i]))
            check_user(&facts_pods[i]);
    for (uint32_t i = 0; i < DEVICE_CLAIMS_MAX; i++) {
        const struct device_claim_fact *a = &facts_device_claims[i];
        for (uint32_t k = 0; a->there && a->allocated && k < i; k++) {
            const struct device_claim_fact *b = &facts_device_claims[k];
            if (b->there && b->allocated && strcmp(a->device, b->device) == 0)
                violated("device given twice", "%s is %s's and %s's", a->device, a->name, b->name);
        }
    }
}

void checks_devices_bound(const struct pod_fact *p, int64_t seen_by_now)
{
    const struct device_claim_fact *c = p->claim[0] != 0 ? facts_device_claim(p->claim) : NULL;
    if (c == NULL || clock_now() - c->touched_at < seen_by_now)
        return;
    if (!c->there || !c->allocated)
        violated("claim without devices", "%s is on %s, and its claim %s %s", p->name, p->node,
                 c->name, c->there ? "has no devices" : "is not there");
    if (strcmp(c->node, p->node) != 0)
        violated("devices elsewhere", "%s is on %s, and its claim %s has %s", p->name, p->node,
                 c->name, c->device);
    if (!facts_reserved_for(c, p->uid))
        violated("claim not reserved", "%s is on %s, and its claim %s is not reserved for it",
                 p->name, p->node, c->name);
    cover("pod bound with", c->reserved_count > 1 ? "a claim of several" : "a claim of its own");
}

const struct pod_fact *checks_devices_pending(const struct node_fact **node)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (!p->there || p->claim[0] == 0 || p->node[0] != 0 || p->deleting || p->gated ||
            p->foreign || p->set[0] != 0 || facts_ended(p))
            continue;
        for (uint32_t n = 0; n < NODES_MAX; n++) {
            *node = &facts_nodes[n];
            if ((*node)->there && facts_fits(p, *node) && facts_devices_fit(p, *node))
                return p;
        }
    }
    return NULL;
}

void checks_devices_known(void)
{
    coverage_known("pod bound with", "a claim of several");
    coverage_known("pod bound with", "a claim of its own");
}
