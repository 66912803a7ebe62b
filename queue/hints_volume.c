/* hints_volume: the questions about volumes and what limits them. The one idea: a pod's volumes are
 * names in its own namespace, so most questions are whether one of them is meant. What must stay
 * true: of an old object only what the mirror keeps is looked at. */
#include "queue/hint.h"

#include "proto/kube/objects/selector.h"

#include <string.h>

/* ---- claims ---- */

static bool is_claim(const struct pod_volume *volume)
{
    return volume->kind == SOURCE_claim;
}

/* A volume of the pod is this claim, one made for the pod included. */
bool hint_claim_used(const struct question *q)
{
    const struct claim *claim = q->event->new_object;
    if (!str_equal(claim->namespace_name, q->pod->namespace_name))
        return false;
    for (uint32_t i = 0; i < q->pod->claims.count; i++)
        if (str_equal(q->pod->claims.at[i], claim->name))
            return true;
    return false;
}

/* The pod's spec names this claim itself. */
bool hint_claim_named(const struct question *q)
{
    const struct claim *claim = q->event->new_object;
    if (!str_equal(claim->namespace_name, q->pod->namespace_name))
        return false;
    for (uint32_t i = 0; i < q->pod->volumes.count; i++)
        if (is_claim(&q->pod->volumes.at[i]) && str_equal(q->pod->volumes.at[i].name, claim->name))
            return true;
    return false;
}

/* ---- what other pods use ---- */

static bool share_a_monitor(const struct strs *a, const struct strs *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if (str_equal(a->at[i], b->at[k]))
                return true;
    return false;
}

/* Volumes that two pods on one node cannot both have. */
static bool clash(const struct pod_volume *a, const struct pod_volume *b)
{
    bool may_share = a->read_only && b->read_only;
    if (a->kind != b->kind)
        return false;
    if (a->kind == SOURCE_aws_ebs)
        return str_equal(a->name, b->name);
    if (a->kind == SOURCE_gce_pd || a->kind == SOURCE_iscsi)
        return str_equal(a->name, b->name) && !may_share;
    return a->kind == SOURCE_rbd && share_a_monitor(&a->monitors, &b->monitors) &&
           str_equal(a->pool, b->pool) && str_equal(a->image, b->image) && !may_share;
}

/* A pod of the namespace is gone that had a disk or a claim of this one. That it was on a node is
 * not asked, as upstream. */
bool hint_volume_freed(const struct question *q)
{
    const struct pod *gone = q->event->old_pod;
    if (!str_equal(gone->namespace_name, q->pod->namespace_name))
        return false;
    for (uint32_t i = 0; i < q->pod->volumes.count; i++)
        for (uint32_t k = 0; k < gone->volumes.count; k++) {
            const struct pod_volume *a = &q->pod->volumes.at[i], *b = &gone->volumes.at[k];
            if (clash(a, b) || (is_claim(a) && is_claim(b) && str_equal(a->name, b->name)))
                return true;
        }
    return false;
}

/* An in-tree disk that is, or could be, migrated to CSI. */
static bool is_migratable(const struct pod_volume *volume)
{
    return volume->driver.len > 0;
}

/* The pod that is gone had a volume of a kind that counts against attach limits. */
bool hint_attachable_pod_gone(const struct question *q)
{
    const struct pod *gone = q->event->old_pod;
    if (!hint_has_node(gone))
        return false;
    for (uint32_t i = 0; i < gone->volumes.count; i++) {
        const struct pod_volume *volume = &gone->volumes.at[i];
        if (is_claim(volume) || volume->kind == SOURCE_ephemeral || is_migratable(volume))
            return true;
    }
    return false;
}

/* ---- attach limits ---- */

bool hint_attachment_freed(const struct question *q)
{
    const struct attachment *gone = q->event->old_object;
    for (uint32_t i = 0; i < q->pod->volumes.count; i++) {
        const struct pod_volume *volume = &q->pod->volumes.at[i];
        if (is_claim(volume))
            return true;
        if (is_migratable(volume) &&
            (volume->problem.len > 0 || str_equal(volume->driver, gone->attacher)))
            return true;
    }
    return false;
}

/* A driver that is not there, or has no limit, counts as zero: the last of several of one name. */
static int64_t limit_of(const struct csi_node *csi_node, struct str driver)
{
    int64_t limit = 0;
    for (uint32_t i = 0; i < csi_node->drivers.count; i++) {
        const struct driver_limit *d = &csi_node->drivers.at[i];
        if (str_equal(d->driver, driver))
            limit = d->limited ? d->count : 0;
    }
    return limit;
}

bool hint_limit_raised(const struct question *q)
{
    const struct csi_node *old = q->event->old_object, *new = q->event->new_object;
    for (uint32_t i = 0; i < new->drivers.count; i++) {
        const struct driver_limit *d = &new->drivers.at[i];
        if ((d->limited ? d->count : 0) > limit_of(old, d->driver))
            return true;
    }
    return false;
}

bool hint_migration_changed(const struct question *q)
{
    const struct csi_node *old = q->event->old_object, *new = q->event->new_object;
    return old == NULL || !event_same_strs(&old->migrated, &new->migrated);
}

/* ---- storage classes and capacity ---- */

bool hint_topologies_changed(const struct question *q)
{
    const struct storage_class *old = q->event->old_object, *new = q->event->new_object;
    if (old == NULL || old->topologies.count != new->topologies.count)
        return true;
    for (uint32_t i = 0; i < new->topologies.count; i++)
        if (!codec_equal(&node_term_record, &old->topologies.at[i], &new->topologies.at[i]))
            return true;
    return false;
}

bool hint_waits_for_consumer(const struct question *q)
{
    const struct storage_class *new = q->event->new_object;
    return str_is(new->binding_mode, "WaitForFirstConsumer");
}

bool hint_capacity_tracking_ended(const struct question *q)
{
    const struct csi_driver *old = q->event->old_object, *new = q->event->new_object;
    if (!old->storage_capacity || new->storage_capacity)
        return false;
    for (uint32_t i = 0; i < q->pod->volumes.count; i++) {
        const struct pod_volume *volume = &q->pod->volumes.at[i];
        if (volume->kind == SOURCE_csi && str_equal(volume->name, new->name))
            return true;
    }
    return false;
}

/* False: there is no limit to compare. */
static bool limit_of_capacity(const struct csi_capacity *capacity, int64_t *limit)
{
    *limit = capacity->has_maximum ? capacity->maximum : capacity->capacity;
    return capacity->has_maximum || capacity->has_capacity;
}

bool hint_capacity_raised(const struct question *q)
{
    const struct csi_capacity *old = q->event->old_object, *new = q->event->new_object;
    int64_t before, now;
    if (old == NULL)
        return true;
    return limit_of_capacity(new, &now) && (!limit_of_capacity(old, &before) || now > before);
}

/* ---- zones ---- */

#define ZONES_MAX 64 /* in one label, which has 63 bytes at most */

struct zones {
    uint32_t count;
    struct str at[ZONES_MAX];
};

/* The zones of a label's value, such as a__b. False when one is empty: the label is then ignored.
 */
static bool split_zones(struct str value, struct zones *zones)
{
    struct str rest = {value.at ? value.at : "", value.len}, zone;
    zones->count = 0;
    while (str_split(&rest, "__", &zone)) {
        zone = str_trim(zone);
        if (zone.len == 0 || zones->count == ZONES_MAX)
            return false;
        zones->at[zones->count++] = zone;
    }
    return true;
}

static bool covers(const struct zones *all, const struct zones *some)
{
    for (uint32_t i = 0; i < some->count; i++) {
        uint32_t k = 0;
        while (k < all->count && !str_equal(all->at[k], some->at[i]))
            k++;
        if (k == all->count)
            return false;
    }
    return true;
}

static bool zones_of(const struct volume *volume, const char *key, struct zones *zones)
{
    struct str value;
    return kube_label_find(volume->labels.at, volume->labels.count, str_of(key), &value) &&
           split_zones(value, zones);
}

bool hint_zone_changed(const struct question *q)
{
    static const char *const keys[] = {
        "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/zone", "topology.kubernetes.io/region"};
    const struct volume *old = q->event->old_object, *new = q->event->new_object;
    if (old == NULL)
        return true;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct zones before, now;
        bool had = zones_of(old, keys[i], &before), has = zones_of(new, keys[i], &now);
        if (had != has || (has && (!covers(&now, &before) || !covers(&before, &now))))
            return true;
    }
    return false;
}
