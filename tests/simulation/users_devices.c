/* users_devices: people and their ResourceClaims. What must stay true: a claim that a pod on a node
 * has is not taken away by force. */
#include "tests/simulation/controllers.h"
#include "tests/simulation/facts_devices.h"
#include "tests/simulation/users.h"

#include <stdio.h>
#include <string.h>

#define CLAIMS "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
#define ENOUGH 80 /* pods at a time, of any kind */

static uint32_t names;

static bool create_claim(const char *name)
{
    char text[320];
    if (facts_device_claim_count() > DEVICE_CLAIMS_MAX - 8)
        return false;
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":{"
             "\"name\":\"%s\"},\"spec\":{\"devices\":{\"requests\":[{\"name\":\"one\",\"exactly\":{"
             "\"deviceClassName\":\"device\"}}]}}}",
             name);
    return ask("POST", text, CLAIMS) == 201;
}

static bool create_with(const char *claim, uint32_t a)
{
    struct pod_fact p = users_pod_like(a % 2, 1);
    snprintf(p.claim, sizeof(p.claim), "%s", claim);
    p.plain = false;
    return users_create(&p);
}

static bool create_device_pod(const struct action *x)
{
    char claim[NAME_ROOM];
    if (facts_pod_count() >= ENOUGH)
        return false;
    snprintf(claim, sizeof(claim), "c%u", names++);
    return create_claim(claim) && create_with(claim, x->a);
}

/* Of a claim that some have already, or of a new one; sometimes the pods come first. */
static bool create_sharing_pods(const struct action *x)
{
    const struct device_claim_fact *there = facts_any_device_claim(x->b);
    char claim[NAME_ROOM];
    bool any = false;
    if (facts_pod_count() >= ENOUGH)
        return false;
    if (there != NULL && x->b / 128 % 3 > 0) {
        snprintf(claim, sizeof(claim), "%s", there->name);
    } else {
        snprintf(claim, sizeof(claim), "c%u", names++);
        if (x->b / 384 % 4 > 0)
            create_claim(claim);
    }
    for (uint32_t i = 0; i < 2 + x->c % 3; i++)
        any = create_with(claim, x->a + i) || any;
    return any;
}

static bool delete_claim(const struct action *x)
{
    struct pod_fact *p = facts_any_pod(x->a);
    if (p == NULL || p->claim[0] == 0)
        return false;
    char claim[NAME_ROOM];
    snprintf(claim, sizeof(claim), "%s", p->claim);
    if (x->b % 3 > 0)
        users_delete_pod(p->name, 0);
    return ask("DELETE", NULL, CLAIMS "/%s", claim) / 100 == 2;
}

static bool is_in_use(const char *claim)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && facts_pods[i].node[0] != 0 && !facts_ended(&facts_pods[i]) &&
            strcmp(facts_pods[i].claim, claim) == 0)
            return true;
    return false;
}

bool users_remake_claim(const struct device_claim_fact *c)
{
    char name[NAME_ROOM];
    if (is_in_use(c->name))
        return false;
    snprintf(name, sizeof(name), "%s", c->name);
    ask("DELETE", NULL, CLAIMS "/%s", name);
    ask("PATCH", "{\"metadata\":{\"finalizers\":null}}", CLAIMS "/%s", name);
    return create_claim(name);
}

/* Or makes one that pods wait for. */
static bool remake_claim(const struct action *x)
{
    for (uint32_t i = 0; x->b % 2 && i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[(x->a + i) % PODS_MAX];
        const struct device_claim_fact *c = p->there ? facts_device_claim(p->claim) : NULL;
        if (p->there && p->claim[0] != 0 && (c == NULL || !c->there))
            return create_claim(p->claim);
    }
    const struct device_claim_fact *c = facts_any_device_claim(x->a);
    return c != NULL && users_remake_claim(c);
}

bool users_end_devices(void)
{
    return ask("DELETE", NULL, CLAIMS) / 100 == 2;
}

void users_reset_devices(void)
{
    names = 0;
}

static void user_leaves(void *context, uint64_t index)
{
    struct device_claim_fact *c = &facts_device_claims[index];
    (void)context;
    for (uint32_t i = 0; c->there && c->reserved_count == 1 && i < PODS_MAX; i++)
        if (facts_pods[i].there && strcmp(facts_pods[i].uid, c->reserved[0]) == 0) {
            (void)users_delete_pod(facts_pods[i].name, 0);
            controllers_look_at_claim(c); /* which has no user any more */
            return;
        }
}

/* Who comes next has been decided on with the devices of the one before, who goes just then. */
static bool succeed_user(const struct action *x)
{
    for (uint32_t i = 0; i < DEVICE_CLAIMS_MAX && facts_pod_count() < ENOUGH; i++) {
        uint32_t index = (x->b + i) % DEVICE_CLAIMS_MAX;
        const struct device_claim_fact *c = &facts_device_claims[index];
        if (!c->there || c->deleting || !c->allocated || c->reserved_count != 1)
            continue;
        clock_call(clock_now() + x->c % 60 * MS, user_leaves, NULL, index);
        return create_with(c->name, x->a);
    }
    return false;
}

bool users_do_devices(const struct action *x)
{
    switch (x->kind) {
    case DO_succeed_user: return succeed_user(x);
    case DO_create_device_pod: return create_device_pod(x);
    case DO_create_sharing_pods: return create_sharing_pods(x);
    case DO_delete_claim: return delete_claim(x);
    case DO_remake_claim: return remake_claim(x);
    default: return false;
    }
}
