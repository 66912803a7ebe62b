/* facts_devices: a table of ResourceClaims, read from each change of theirs. What must stay true:
 * there is in it what is at the API server, whoever changed it. */
#include "tests/simulation/facts_devices.h"

#include "proto/kube/documents/json.h"
#include "tests/simulation/clock.h"

#include <stdio.h>
#include <string.h>

#define LONG_AGO (-3600 * SECOND)

struct device_claim_fact facts_device_claims[DEVICE_CLAIMS_MAX];

void facts_devices_reset(void)
{
    memset(facts_device_claims, 0, sizeof(facts_device_claims));
}

struct device_claim_fact *facts_device_claim(const char *name)
{
    struct device_claim_fact *found = NULL;
    for (uint32_t i = 0; i < DEVICE_CLAIMS_MAX; i++) {
        struct device_claim_fact *c = &facts_device_claims[i];
        if (facts_same(c->name, name) && (c->there || found == NULL))
            found = c;
    }
    return found;
}

struct device_claim_fact *facts_any_device_claim(uint64_t n)
{
    for (uint32_t i = 0; i < DEVICE_CLAIMS_MAX; i++)
        if (facts_device_claims[(n + i) % DEVICE_CLAIMS_MAX].there)
            return &facts_device_claims[(n + i) % DEVICE_CLAIMS_MAX];
    return NULL;
}

uint32_t facts_device_claim_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < DEVICE_CLAIMS_MAX; i++)
        count += facts_device_claims[i].there;
    return count;
}

/* ---- reading ---- */

static void copy_text(char *to, size_t room, const struct kube_json *value)
{
    snprintf(to, room, "%.*s", STR_ARG(kube_json_text(value)));
}

static void read_claim(struct device_claim_fact *c, const struct kube_json *json)
{
    const struct kube_json *results = kube_json_path(json, "status.allocation.devices.results");
    const struct kube_json *at = kube_json_first(kube_json_path(json, "status.reservedFor"));
    copy_text(c->uid, sizeof(c->uid), kube_json_path(json, "metadata.uid"));
    c->allocated = kube_json_first(results) != NULL; /* an allocation of no devices is none */
    copy_text(c->node, sizeof(c->node), kube_json_get(kube_json_first(results), "pool"));
    copy_text(c->device, sizeof(c->device), kube_json_get(kube_json_first(results), "device"));
    c->reserved_count = 0;
    for (; at != NULL && c->reserved_count < RESERVED_MAX; at = kube_json_next(at))
        copy_text(c->reserved[c->reserved_count++], sizeof(c->reserved[0]),
                  kube_json_get(at, "uid"));
}

/* The place of the one that is gone for the longest time; NULL: all are there. */
static struct device_claim_fact *new_claim(const char *name)
{
    struct device_claim_fact *room = NULL;
    for (uint32_t i = 0; i < DEVICE_CLAIMS_MAX; i++) {
        struct device_claim_fact *c = &facts_device_claims[i];
        if (!c->there && (room == NULL || c->touched_at < room->touched_at))
            room = c;
    }
    bool anew = facts_device_claim(name) != NULL;
    if (room == NULL)
        return NULL;
    *room = (struct device_claim_fact){.touched_at = anew ? clock_now() : LONG_AGO};
    snprintf(room->name, sizeof(room->name), "%s", name);
    return room;
}

void facts_devices_changed(const struct model_change *change)
{
    const char *slash = strchr(change->key, '/');
    const char *name = slash != NULL ? slash + 1 : change->key;
    struct arena a = {0};
    if (strcmp(change->plural, "resourceclaims") != 0)
        return;
    struct device_claim_fact *c = facts_device_claim(name);
    c = c != NULL && c->there ? c : new_claim(name);
    if (c == NULL)
        return;
    if (change->kind == 'D' || change->deleting != c->deleting)
        c->touched_at = clock_now();
    struct kube_json *json = kube_json_parse(change->json, NULL, &a);
    read_claim(c, json);
    kube_json_free(&json);
    arena_free(&a);
    c->deleting = change->deleting;
    c->there = change->kind != 'D';
}

/* ---- what follows from it ---- */

bool facts_reserved_for(const struct device_claim_fact *claim, const char *uid)
{
    for (uint32_t i = 0; i < claim->reserved_count; i++)
        if (facts_same(claim->reserved[i], uid))
            return true;
    return false;
}

static bool has_free_device(const struct node_fact *n)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < DEVICE_CLAIMS_MAX; i++) {
        const struct device_claim_fact *c = &facts_device_claims[i];
        taken += c->there && c->allocated && facts_same(c->node, n->name);
    }
    return taken < DEVICES_A_NODE;
}

bool facts_devices_usable(const struct pod_fact *p)
{
    const struct device_claim_fact *c = p->claim[0] != 0 ? facts_device_claim(p->claim) : NULL;
    return p->claim[0] == 0 || (c != NULL && c->there && !c->deleting);
}

bool facts_devices_fit(const struct pod_fact *p, const struct node_fact *n)
{
    if (p->claim[0] == 0)
        return true;
    if (!facts_devices_usable(p))
        return false;
    const struct device_claim_fact *c = facts_device_claim(p->claim);
    return c->allocated ? facts_same(c->node, n->name) : has_free_device(n);
}
