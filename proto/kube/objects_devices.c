/* objects_devices: ResourceClaims, and how a pod names its own. The one idea: a claim made from a
 * template has a name that only the pod's status knows. What must stay true: only what an allocated
 * claim needs is read. */
#include "proto/kube/objects_internal.h"

#include "proto/kube/terms.h"

/* What the pod's status says of a claim that is made from a template. */
static void read_generated(const struct spot *statuses, struct device_claim *claim)
{
    claim->generated = true;
    for (struct spot i = spot_first(statuses); i.value != NULL; i = spot_next(&i)) {
        if (!spot_is_object(&i) || !str_equal(spot_text(&i, "name"), claim->name))
            continue;
        claim->claim = spot_text(&i, "resourceClaimName");
        claim->unneeded = claim->claim.len == 0;
        return;
    }
}

void object_device_claims(const struct spot *spec, const struct spot *status, struct pod *pod)
{
    struct spot list = spot_list(spec, "resourceClaims");
    struct spot statuses = spot_list(status, "resourceClaimStatuses");
    size_t found = kube_json_count(list.value);
    pod->device_claims.at = found ? spot_take(&list, found, sizeof(*pod->device_claims.at)) : NULL;
    if (pod->device_claims.at == NULL)
        return;
    for (struct spot i = spot_first(&list); i.value != NULL; i = spot_next(&i)) {
        if (!spot_is_object(&i))
            continue;
        struct device_claim *claim = &pod->device_claims.at[pod->device_claims.count++];
        claim->name = spot_text(&i, "name");
        claim->claim = spot_text(&i, "resourceClaimName");
        if (claim->claim.len > 0)
            continue;
        if (spot_text(&i, "resourceClaimTemplateName").len > 0)
            read_generated(&statuses, claim);
        else
            claim->malformed = true;
    }
}

bool kube_object_resource_claim(const struct kube_json *object, struct resource_claim *claim,
                                struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    object_subject(object, "ResourceClaim", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct spot root = spot_root(&r, object);
    spot_is_object(&root);
    struct spot metadata = spot_object(&root, "metadata"), status = spot_object(&root, "status");
    struct spot deleting = spot_member(&metadata, "deletionTimestamp");
    struct spot allocation = spot_object(&status, "allocation");
    struct spot selector = spot_object(&allocation, "nodeSelector");
    struct spot terms = spot_list(&selector, "nodeSelectorTerms");
    *claim = (struct resource_claim){.deleting = deleting.value != NULL,
                                     .allocated = allocation.value != NULL,
                                     .has_terms = selector.value != NULL};
    claim->namespace_name = spot_text(&metadata, "namespace");
    claim->name = object_name(&metadata);
    claim->uid = spot_text(&metadata, "uid");
    claim->resource_version = object_version(&metadata);
    claim->owner_uid = object_controller(&metadata).uid;
    claim->terms.at = kube_read_node_terms(&terms, &claim->terms.count);
    claim->reserved_for = object_each(&status, "reservedFor", "uid");
    return object_finish(&r, error);
}
