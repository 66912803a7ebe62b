/* hints_devices: what happens to ResourceClaims and DeviceClasses.
 *
 * What must stay true: a pod one of whose claims cannot be used is not woken by another one, but by
 * that claim; and a class helps whom it gives an extended resource to. */
#include "queue/gate.h"
#include "queue/hint.h"
#include "queue/mirror.h"

/* ResourceDeviceClassPrefix: each class is an extended resource of this name as well. */
#define CLASS_PREFIX "deviceclass.resource.kubernetes.io/"

static bool uses(const struct pod *pod, const struct resource_claim *claim)
{
    if (!str_equal(pod->namespace_name, claim->namespace_name))
        return false;
    for (uint32_t i = 0; i < pod->device_claims.count; i++)
        if (str_equal(pod->device_claims.at[i].claim, claim->name))
            return true;
    return false;
}

/* Upstream compares the status; here is also who owns it and whether it is going, which cannot
 * change unless it is another one of that name. */
static bool is_as_before(const struct resource_claim *old, const struct resource_claim *new)
{
    struct resource_claim before = *old, now = *new;
    before.resource_version = now.resource_version = 0;
    now.requests.count = now.constraints.count = now.config.count = 0; /* as it is remembered */
    now.document = (struct str){NULL, 0};
    return codec_equal(&resource_claim_record, &before, &now);
}

bool hint_devices(const struct question *q)
{
    const struct resource_claim *old = q->event->old_object, *new = q->event->new_object;
    bool released = old != NULL && old->allocated && !new->allocated; /* devices for anybody */
    if (!released && (!uses(q->pod, new) || (old != NULL && is_as_before(old, new))))
        return false;
    return gate_claims_usable(q->around, q->pod);
}

/* A claim that is gone had devices, which is unusual: they are taken from it before. */
bool hint_devices_left(const struct question *q)
{
    const struct resource_claim *old = q->event->old_object;
    return old->allocated;
}

/* Its own status says now which claims it has. */
bool hint_claims_named(const struct question *q)
{
    return hint_same_pod(q) && gate_claims_usable(q->around, q->event->new_pod);
}

static bool asks_for(const struct pod *pod, struct str prefix, struct str name)
{
    for (uint32_t i = 0; i < pod->request.count; i++) {
        struct str resource = pod->request.at[i].name;
        if (resource.len != prefix.len + name.len)
            continue;
        struct str head = {resource.at, prefix.len}, tail = {resource.at + prefix.len, name.len};
        if (str_equal(head, prefix) && str_equal(tail, name))
            return true;
    }
    return false;
}

bool hint_classes_stand(const struct question *q)
{
    const struct profile *profile = q->around->profile;
    return profile == NULL || profile->features.device_extended;
}

bool hint_class_maps(const struct question *q)
{
    const struct device_class *old = q->event->old_object, *new = q->event->new_object;
    struct str none = {NULL, 0};
    if (!hint_classes_stand(q))
        return false;
    if (old != NULL && str_equal(old->extended_resource, new->extended_resource))
        return false;
    if (old == NULL && asks_for(q->pod, STR_LITERAL(CLASS_PREFIX), new->name))
        return true;
    return new->extended_resource.len > 0 && asks_for(q->pod, none, new->extended_resource);
}
