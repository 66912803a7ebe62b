/* disk_limits: counts the disks of one kind on a node, each once. The one idea: what a pod attaches
 * is known by driver and handle already, for NodeVolumeLimits. What must stay true: a disk that is
 * on the node does not count as new. */
#include "scheduler/rules/disk_limits.h"

#include "scheduler/catalog/volumes.h"

void disk_limits_prepare(const struct pre_filter_question *q)
{
    if (q->catalog == NULL || q->pod->volumes.count == 0 || q->findings->disks.count > 0)
        return;
    struct attaching found;
    volumes_attaching(q->catalog, q->pod, true, &found, q->arena);
    q->findings->disks.count = found.count;
    q->findings->disks.at = found.at;
}

struct disks {
    const struct disk_limit *kind;
    uint32_t resource; /* atom; 0: no node here says it */
    int64_t most;
    struct attached *wanted; /* each once */
    uint32_t count;
};

static bool is_in(const struct attached *at, uint32_t count, const struct attached *disk)
{
    for (uint32_t i = 0; disk->name != 0 && i < count; i++)
        if (at[i].driver == disk->driver && at[i].name == disk->name)
            return true;
    return false;
}

/* Upstream's old rule named a disk of a pod twice only once; one that no pod has yet has no atom,
 * so texts are compared for those. */
static bool named_before(const struct findings *findings, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (str_equal(findings->disks.at[k].driver, findings->disks.at[i].driver) &&
            str_equal(findings->disks.at[k].handle, findings->disks.at[i].handle))
            return true;
    return false;
}

void *disk_limits_begin(const struct cycle *c, const struct disk_limit *kind)
{
    struct disks *d = arena_take(c->arena, sizeof(*d));
    const struct findings *findings = c->findings;
    struct attached *all =
        attached_find(c->atoms, findings->disks.at, findings->disks.count, c->arena);
    d->kind = kind;
    d->resource = atom_find(c->atoms, str_of(kind->resource));
    d->most = c->framework->profile.disks_max > 0 ? c->framework->profile.disks_max : kind->usual;
    d->wanted = arena_take(c->arena, findings->disks.count * sizeof(*d->wanted));
    for (uint32_t i = 0; i < findings->disks.count; i++)
        if (str_is(findings->disks.at[i].driver, kind->driver) && !named_before(findings, i))
            d->wanted[d->count++] = all[i];
    return d;
}

/* The pods before this one on the node have it too. */
static bool counted_before(const struct node_entry *node, uint32_t pod, const struct attached *disk)
{
    for (uint32_t i = 0; i < pod; i++) {
        const struct pod_storage *s = node->pods[i]->storage;
        if (s != NULL && is_in(s->attached, s->attached_count, disk))
            return true;
    }
    return false;
}

static int64_t count_on(const struct node_entry *node, uint32_t driver)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < node->pod_count; i++) {
        const struct pod_storage *s = node->pods[i]->storage;
        for (uint32_t k = 0; s != NULL && k < s->attached_count; k++)
            count += s->attached[k].driver == driver && !is_in(s->attached, k, &s->attached[k]) &&
                     !counted_before(node, i, &s->attached[k]);
    }
    return count;
}

void disk_limits_filter(const struct cycle *c, const void *state, const struct nodes *n,
                        uint32_t row, struct ruling *out)
{
    (void)c;
    const struct disks *d = state;
    const struct node_entry *node = n->entry[row];
    int64_t fresh = 0, most = d->most;
    for (uint32_t i = 0; i < d->count; i++)
        fresh += !counted_before(node, node->pod_count, &d->wanted[i]);
    if (fresh == 0)
        return;
    const struct scalar *limit = nodes_scalar(n, row, d->resource);
    if (limit != NULL)
        most = limit->allocatable;
    if (count_on(node, d->wanted[0].driver) + fresh > most)
        ruling_reject(out, CODE_unschedulable, "node(s) exceed max volume count", (struct str){0});
}
