/* VolumeRestrictions keeps pods apart that must not share a disk: in-tree disks that another pod on
 * the node has mounted, and ReadWriteOncePod claims that any pod in the cluster uses.
 *
 * The second is counted once for the whole cluster; a pod that is tried on or off a node counts by
 * the names of its claims alone, whatever its namespace, as upstream has it. */
#include "scheduler/catalog/volumes.h"
#include "scheduler/rules/plugin.h"

static bool is_disk(const struct pod_volume *v)
{
    return v->kind == SOURCE_gce_pd || v->kind == SOURCE_aws_ebs || v->kind == SOURCE_rbd ||
           v->kind == SOURCE_iscsi;
}

/* The pod's ReadWriteOncePod claims; false when one of its claims does not exist. */
static bool find_exclusive(const struct pre_filter_question *q, struct pre_filter *out)
{
    struct strs *exclusive = &q->findings->volumes.exclusive;
    exclusive->at = arena_take(q->arena, q->pod->volumes.count * sizeof(struct str));
    for (uint32_t i = 0; i < q->pod->volumes.count; i++) {
        const struct pod_volume *v = &q->pod->volumes.at[i];
        if (!volume_is_claim(v))
            continue;
        const struct claim *claim = catalog_claim(q->catalog, q->pod->namespace_name, v->name);
        if (claim == NULL) {
            out->code = CODE_unresolvable;
            out->reason = not_found(q->arena, "persistentvolumeclaim", v->name);
            return false;
        }
        if (strs_hold(claim->access_modes, STR_LITERAL("ReadWriteOncePod")) &&
            !strs_hold(*exclusive, v->name))
            exclusive->at[exclusive->count++] = v->name;
    }
    return true;
}

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    bool disks = false;
    out->skip = q->pod->volumes.count == 0;
    if (out->skip || !find_exclusive(q, out))
        return;
    for (uint32_t i = 0; i < q->pod->volumes.count; i++)
        disks |= is_disk(&q->pod->volumes.at[i]);
    const struct strs *exclusive = &q->findings->volumes.exclusive;
    for (uint32_t i = 0; i < exclusive->count; i++)
        q->findings->claims_in_use +=
            catalog_claim_in_use(q->catalog, q->pod->namespace_name, exclusive->at[i]);
    out->skip = !disks && q->findings->claims_in_use == 0;
}

struct restrictions {
    uint32_t disk_count, exclusive_count;
    struct disk *disks;
    uint32_t *exclusive; /* atoms */
    int64_t in_use;
};

static void *filter_begin(const struct cycle *c)
{
    struct restrictions *r = arena_take(c->arena, sizeof(*r));
    const struct strs *exclusive = &c->findings->volumes.exclusive;
    r->disks = disks_find(c->atoms, c->pod, &r->disk_count, c->arena);
    r->exclusive = arena_take(c->arena, exclusive->count * sizeof(uint32_t));
    for (uint32_t i = 0; i < exclusive->count; i++)
        r->exclusive[r->exclusive_count++] = atom_find(c->atoms, exclusive->at[i]);
    r->in_use = c->findings->claims_in_use;
    return r;
}

static bool collides(const struct restrictions *r, const struct pod_storage *there)
{
    for (uint32_t i = 0; i < r->disk_count; i++)
        for (uint32_t k = 0; k < there->disk_count; k++)
            if (disks_collide(&r->disks[i], &there->disks[k]))
                return true;
    return false;
}

static bool disk_is_taken(const struct restrictions *r, const struct node_entry *node)
{
    for (uint32_t i = 0; r->disk_count > 0 && i < node->pod_count; i++)
        if (node->pods[i]->storage != NULL && collides(r, node->pods[i]->storage))
            return true;
    return false;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    const struct restrictions *r = state;
    (void)c;
    if (disk_is_taken(r, n->entry[row]))
        ruling_reject(out, CODE_unschedulable, "node(s) had no available disk", (struct str){0});
    else if (r->in_use > 0)
        ruling_reject(out, CODE_unschedulable,
                      "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod "
                      "access mode already in-use by another pod",
                      (struct str){0});
}

static void what_if(const struct cycle *c, void *state, const struct node_entry *node,
                    const struct node_pod *pod, int times)
{
    struct restrictions *r = state;
    (void)c;
    (void)node;
    for (uint32_t i = 0; pod->storage != NULL && i < pod->storage->claim_count; i++)
        for (uint32_t k = 0; k < r->exclusive_count; k++)
            if (pod->storage->claims[i] == r->exclusive[k])
                r->in_use += times;
}

const struct plugin plugin_volume_restrictions = {
    .name = "VolumeRestrictions",
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
    .what_if = what_if,
};
