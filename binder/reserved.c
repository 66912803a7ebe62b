/* reserved: which claim of a bind is looked at, what an answer shows of it, what is written of it
 * next, and what a bind that failed leaves of it. What must stay true: what may have been written
 * counts as written. */
#include "binder/reserving_inside.h"

#include "proto/kube/documents/protobuf.h"
#include "proto/kube/objects/claim_document.h"
#include "proto/kube/objects/device_ready.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/writes/writes.h"

bool reserved_is_special(const struct reserving *r)
{
    return r->index == r->bind->device_claims.count;
}

struct held *reserved_held(struct reserving *r)
{
    return &r->held[r->index];
}

struct str reserved_claim_name(const struct reserving *r)
{
    return r->held[r->index].name;
}

bool reserved_is_unneeded(const struct reserving *r)
{
    return !reserved_is_special(r) && r->bind->device_claims.at[r->index].unneeded;
}

bool reserved_is_for_group(const struct reserving *r)
{
    return !reserved_is_special(r) && r->bind->device_claims.at[r->index].for_group;
}

/* Moves on to the first claim from index on that there is something to do about. */
bool reserved_find(struct reserving *r)
{
    while (r->index < r->count && reserved_is_unneeded(r))
        r->index++;
    return r->index < r->count;
}

/* What the claim is to be given; false: it has its devices. */
bool reserved_wanted(const struct reserving *r, struct device_allocation *allocation)
{
    if (reserved_is_special(r)) {
        *allocation = r->bind->extended.at[0].allocation;
        allocation->claim = r->held[r->index].name;
        allocation->uid = r->held[r->index].uid;
        return true;
    }
    for (uint32_t i = 0; i < r->bind->allocations.count; i++) {
        *allocation = r->bind->allocations.at[i];
        if (str_equal(allocation->claim, reserved_claim_name(r)))
            return true;
    }
    return false;
}

bool reserved_is_given(const struct reserving *r)
{
    struct device_allocation unused;
    return reserved_wanted(r, &unused);
}

void reserved_path(const struct reserving *r, struct draft *draft, struct str name)
{
    writes_path(&draft->path, "/apis/resource.k8s.io/v1", r->bind->namespace_name, "resourceclaims",
                name);
}

/* Into the arena of the round; false: it is no claim. */
bool reserved_read(struct reserving *r, struct str body, struct resource_claim *claim)
{
    struct str error;
    arena_reset(&r->round_data);
    struct kube_json *json = kube_answer_parse(body, NULL, &r->round_data);
    bool known = json != NULL && kube_object_resource_claim(json, claim, &r->round_data, &error);
    kube_json_free(&json);
    return known;
}

bool reserved_same_devices(const struct resource_claim *claim,
                           const struct device_allocation *given)
{
    bool same = claim->devices.count == given->devices.count;
    for (uint32_t i = 0; same && i < given->devices.count; i++) {
        const struct allocated_device *a = &claim->devices.at[i], *b = &given->devices.at[i];
        same = str_equal(a->request, b->request) && str_equal(a->driver, b->driver) &&
               str_equal(a->pool, b->pool) && str_equal(a->device, b->device) &&
               str_equal(a->share_id, b->share_id);
    }
    return same;
}

/* Another pod of its group has given the claim what it was to be given by this one. */
bool reserved_is_written(struct reserving *r, struct str object,
                         const struct device_allocation *given)
{
    struct resource_claim claim;
    return given->shared && reserved_read(r, object, &claim) && claim.allocated &&
           str_equal(claim.uid, given->uid) && reserved_same_devices(&claim, given);
}

/* Which devices the claim has got, if that is waited for. */
void reserved_note_devices(struct reserving *r, const struct allocated_device *at, uint32_t count)
{
    struct held *h = reserved_held(r);
    h->waits |= device_ready_matters(at, count);
    h->device_count = 0;
    h->devices = arena_take(&r->memory, count * sizeof(*h->devices));
    for (uint32_t i = 0; i < count; i++)
        h->devices[h->device_count++] = (struct measured_device){
            arena_copy(&r->memory, at[i].driver), at[i].binding_conditions.count > 0};
}

/* Notes what the claim shows of itself before it is changed. */
void reserved_note(struct reserving *r, const struct resource_claim *claim)
{
    struct held *h = reserved_held(r);
    if (h->uid.len == 0)
        h->uid = arena_copy(&r->memory, claim->uid);
    h->reserved |= strs_hold(claim->reserved_for, r->bind->uid);
    reserved_note_devices(r, claim->devices.at, claim->devices.count);
}

/* NULL: the claim has no devices that the pod was decided on. */
static const struct device_allocation *relied_on(const struct reserving *r)
{
    const struct bind *bind = r->bind;
    for (uint32_t i = 0; i < bind->relied_on.count && !reserved_is_special(r); i++)
        if (str_equal(bind->relied_on.at[i].claim, reserved_claim_name(r)))
            return &bind->relied_on.at[i];
    return NULL;
}

/* The devices may have been taken back and others been given, which are of another node. */
bool reserved_is_as_decided_on(const struct reserving *r, const struct resource_claim *claim)
{
    const struct device_allocation *had = relied_on(r);
    return had == NULL || (str_equal(had->uid, claim->uid) && reserved_same_devices(claim, had));
}

/* True: it is as our own write, whose answer was lost, has made it. */
bool reserved_was_ours(struct reserving *r, const struct resource_claim *claim)
{
    struct device_allocation given;
    struct str consumer = reserved_is_for_group(r) ? r->bind->group_uid : r->bind->uid;
    return r->doubt && strs_hold(claim->reserved_for, consumer) && reserved_wanted(r, &given) &&
           reserved_same_devices(claim, &given);
}

enum writes_change reserved_next_write(struct reserving *r, struct instant at, struct str object)
{
    const struct writes_consumer consumer = {.pod = r->bind->name,
                                             .uid = r->bind->uid,
                                             .wall_us =
                                                 r->bind->device_timeout_ms < 0 ? 0 : at.wall_us,
                                             .group = r->bind->group,
                                             .group_uid = r->bind->group_uid,
                                             .for_group = reserved_is_for_group(r)};
    struct device_allocation given;
    r->finalizes = false;
    if (!reserved_wanted(r, &given) || reserved_is_written(r, object, &given))
        return writes_reservation_put(&r->body, object, &consumer);
    enum writes_change seen = writes_claim_finalizer_put(&r->body, object, given.uid);
    r->finalizes = seen == WRITES_changed;
    return seen == WRITES_same ? writes_allocation_put(&r->body, object, &given, &consumer) : seen;
}

/* Whether the claim in a document is the one that the pod was decided on, at a version that the API
 * server can compare. given: what it is to be given, NULL when it has its devices. */
static bool is_meant(const struct reserving *r, const struct resource_claim *claim,
                     const struct device_allocation *given)
{
    bool same = given == NULL ||
                (str_equal(claim->uid, given->uid) && (!claim->allocated || given->shared));
    return same && claim->uid.len > 0 && claim->resource_version > 0 &&
           reserved_is_as_decided_on(r, claim);
}

bool reserved_write_unread(struct reserving *r, struct instant at, struct str left)
{
    struct device_allocation given;
    struct resource_claim claim;
    struct buffer object = {0};
    bool gives = reserved_wanted(r, &given);
    buffer_add_str(&object, left);
    bool good = !r->json_only && (left.len > 0 || (gives && claim_document_get(&given, &object)));
    if (good) {
        buffer_reset(&r->body);
        good = reserved_next_write(r, at, buffer_str(&object)) == WRITES_changed &&
               reserved_read(r, buffer_str(&object), &claim) &&
               is_meant(r, &claim, gives ? &given : NULL);
    }
    if (good)
        reserved_note(r, &claim);
    r->finalizes = r->finalizes && good;
    buffer_free(&object);
    return good;
}

/* ---- afterwards ---- */

bool reserving_left(const struct reserving *r, uint32_t *place, struct claim_release *release)
{
    for (; *place < r->count; (*place)++) {
        const struct held *h = &r->held[*place];
        bool special = *place == r->bind->device_claims.count;
        if (special ? !h->made : !h->reserved || h->uid.len == 0)
            continue;
        *release = (struct claim_release){.what = special ? CLAIM_delete : CLAIM_unreserve,
                                          .uid = r->bind->uid,
                                          .namespace_name = r->bind->namespace_name,
                                          .name = r->bind->name,
                                          .claim = h->name,
                                          .claim_uid = h->uid};
        (*place)++;
        return true;
    }
    if (*place > r->count || !r->rooms_told)
        return false;
    *place = r->count + 1;
    *release = (struct claim_release){.what = CLAIM_forget,
                                      .uid = r->bind->uid,
                                      .namespace_name = r->bind->namespace_name,
                                      .name = r->bind->name};
    return true;
}

void reserving_unmade(struct reserving *r)
{
    struct held *h = &r->held[r->bind->device_claims.count];
    h->made = h->allocated = false;
}
