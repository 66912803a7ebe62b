/* controllers_devices: what the controller of resource claims does: whoever does not use a claim
 * any more is taken out of it, and with the last one it loses its devices. What must stay true, as
 * in Kubernetes: a pod that is there and has not ended keeps its reservation. */
#include "tests/simulation/controllers.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/facts_devices.h"
#include "tests/simulation/users.h"

#include <stdio.h>
#include <string.h>

#define CLAIMS      "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
#define UNUSED_MOST (40 * SECOND) /* then a claim is deleted */

static const struct pod_fact *pod_with(const char *uid)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && strcmp(facts_pods[i].uid, uid) == 0)
            return &facts_pods[i];
    return NULL;
}

static bool is_done(const struct pod_fact *p)
{
    return p == NULL || facts_ended(p) || (p->deleting && p->node[0] == 0);
}

/* Takes out of the claim whoever is done; more (NULL: none) is taken in. */
static void reserve(const struct device_claim_fact *c, const struct pod_fact *more)
{
    struct buffer text = {0};
    uint32_t count = 0;
    buffer_add_text(&text, "{\"status\":{\"reservedFor\":[");
    for (uint32_t i = 0; i < c->reserved_count + (more != NULL); i++) {
        const struct pod_fact *p = i < c->reserved_count ? pod_with(c->reserved[i]) : more;
        if (!is_done(p))
            buffer_print(&text, "%s{\"resource\":\"pods\",\"name\":\"%s\",\"uid\":\"%s\"}",
                         count++ > 0 ? "," : "", p->name, p->uid);
    }
    buffer_print(&text, "]%s}}", count == 0 ? ",\"allocation\":null" : "");
    cover("devices", more != NULL ? "reserved by another"
                     : count == 0 ? "claim given back"
                                  : "pod leaves a claim");
    ask("PATCH", text.at, CLAIMS "/%s/status", c->name);
    buffer_free(&text);
}

static bool any_is_done(const struct device_claim_fact *c)
{
    for (uint32_t i = 0; i < c->reserved_count; i++)
        if (is_done(pod_with(c->reserved[i])))
            return true;
    return false;
}

static bool is_named(const struct device_claim_fact *c)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && strcmp(facts_pods[i].claim, c->name) == 0)
            return true;
    return false;
}

static void note_use(struct device_claim_fact *c)
{
    if (is_named(c))
        c->unused_since = 0;
    else if (c->unused_since == 0)
        c->unused_since = clock_now();
    if (c->unused_since != 0 && clock_now() - c->unused_since >= UNUSED_MOST && !c->deleting)
        ask("DELETE", NULL, CLAIMS "/%s", c->name);
}

void controllers_look_at_claim(struct device_claim_fact *c)
{
    if (any_is_done(c))
        reserve(c, NULL);
    else if (c->deleting && c->reserved_count == 0 && c->allocated)
        ask("PATCH", "{\"status\":{\"allocation\":null}}", CLAIMS "/%s/status", c->name);
    if (c->deleting && !c->allocated)
        ask("PATCH", "{\"metadata\":{\"finalizers\":null}}", CLAIMS "/%s", c->name);
}

bool controllers_reserve_another(struct device_claim_fact *c, uint32_t a)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[(a + i) % PODS_MAX];
        if (p->there && !is_done(p) && strcmp(p->claim, c->name) == 0 && c->allocated &&
            c->reserved_count < RESERVED_MAX && !facts_reserved_for(c, p->uid)) {
            reserve(c, p);
            return true;
        }
    }
    return false;
}

static void turn(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
    for (uint32_t i = 0; i < DEVICE_CLAIMS_MAX; i++) {
        struct device_claim_fact *c = &facts_device_claims[i];
        if (c->there)
            controllers_look_at_claim(c);
        if (c->there)
            note_use(c);
    }
    clock_call(clock_now() + dice_between(SECOND / 5, 3 * SECOND), turn, NULL, 0);
}

void controllers_devices_reset(void)
{
    coverage_known("devices", "claim given back");
    coverage_known("devices", "pod leaves a claim");
    coverage_known("devices", "reserved by another");
    clock_call(SECOND, turn, NULL, 0);
}
