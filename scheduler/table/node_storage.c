/* node_storage: records turned into atoms, and back into nothing. The one idea: a reader of atoms
 * that either takes them, for what stays, or only looks them up, for a pod that passes by.
 *
 * What must stay true: every atom taken in make is dropped in free; 0 is no text's atom, so what is
 * only looked up equals nothing on a node. */
#include "scheduler/table/node_storage.h"

#include "proto/base/memory.h"

/* One of the two is set. */
struct reader {
    struct atoms *take;
    const struct atoms *find;
    struct arena *arena;
};

static uint32_t atom_of(const struct reader *r, struct str text)
{
    return r->take != NULL ? atom_take(r->take, text) : atom_find(r->find, text);
}

/* ---- disks ---- */

static bool is_disk(const struct pod_volume *v)
{
    return v->kind == SOURCE_gce_pd || v->kind == SOURCE_aws_ebs || v->kind == SOURCE_iscsi ||
           v->kind == SOURCE_rbd;
}

static struct disk read_disk(const struct reader *r, const struct pod_volume *v)
{
    struct disk d = {.kind = v->kind, .read_only = v->read_only, .name = atom_of(r, v->name)};
    if (v->kind != SOURCE_rbd)
        return d;
    d.pool = atom_of(r, v->pool);
    d.image = atom_of(r, v->image);
    d.monitor_count = v->monitors.count;
    d.monitors = arena_take(r->arena, d.monitor_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < d.monitor_count; i++)
        d.monitors[i] = atom_of(r, v->monitors.at[i]);
    return d;
}

static struct disk *read_disks(const struct reader *r, const struct pod *pod, uint32_t *count)
{
    struct disk *disks = arena_take(r->arena, pod->volumes.count * sizeof(*disks));
    *count = 0;
    for (uint32_t i = 0; i < pod->volumes.count; i++)
        if (is_disk(&pod->volumes.at[i]))
            disks[(*count)++] = read_disk(r, &pod->volumes.at[i]);
    return disks;
}

static void drop_disk(struct atoms *atoms, const struct disk *d)
{
    atom_drop(atoms, d->name);
    atom_drop(atoms, d->pool);
    atom_drop(atoms, d->image);
    for (uint32_t i = 0; i < d->monitor_count; i++)
        atom_drop(atoms, d->monitors[i]);
}

struct disk *disks_find(const struct atoms *atoms, const struct pod *pod, uint32_t *count,
                        struct arena *a)
{
    const struct reader r = {.find = atoms, .arena = a};
    return read_disks(&r, pod, count);
}

static bool share_a_monitor(const struct disk *a, const struct disk *b)
{
    for (uint32_t i = 0; i < a->monitor_count; i++)
        for (uint32_t k = 0; k < b->monitor_count; k++)
            if (a->monitors[i] == b->monitors[k])
                return true;
    return false;
}

bool disks_collide(const struct disk *a, const struct disk *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == SOURCE_aws_ebs)
        return a->name == b->name;
    if (a->read_only && b->read_only)
        return false;
    if (a->kind == SOURCE_rbd)
        return a->pool == b->pool && a->image == b->image && share_a_monitor(a, b);
    return a->name == b->name;
}

/* ---- attached volumes ---- */

static struct attached *read_attached(const struct reader *r, const struct attached_volume *at,
                                      uint32_t count)
{
    struct attached *out = arena_take(r->arena, count * sizeof(*out));
    struct buffer name = {0};
    for (uint32_t i = 0; i < count; i++) {
        buffer_reset(&name);
        buffer_print(&name, "%.*s/%.*s", STR_ARG(at[i].driver), STR_ARG(at[i].handle));
        out[i] = (struct attached){atom_of(r, buffer_str(&name)), atom_of(r, at[i].driver)};
    }
    buffer_free(&name);
    return out;
}

static void drop_attached(struct atoms *atoms, const struct attached *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        atom_drop(atoms, at[i].name);
        atom_drop(atoms, at[i].driver);
    }
}

struct attached *attached_find(const struct atoms *atoms, const struct attached_volume *at,
                               uint32_t count, struct arena *a)
{
    const struct reader r = {.find = atoms, .arena = a};
    return read_attached(&r, at, count);
}

/* ---- pods ---- */

struct pod_storage *pod_storage_make(struct atoms *atoms, const struct pod *pod)
{
    if (pod->volumes.count == 0 && pod->attached.count == 0 && pod->attach_problem.len == 0)
        return NULL;
    struct pod_storage *s = memory_take(sizeof(*s));
    const struct reader r = {.take = atoms, .arena = &s->memory};
    s->memory.first = 128;
    s->disks = read_disks(&r, pod, &s->disk_count);
    s->claims = arena_take(&s->memory, pod->volumes.count * sizeof(uint32_t));
    for (uint32_t i = 0; i < pod->volumes.count; i++)
        if (pod->volumes.at[i].kind == SOURCE_claim)
            s->claims[s->claim_count++] = atom_take(atoms, pod->volumes.at[i].name);
    s->attached_count = pod->attached.count;
    s->attached = read_attached(&r, pod->attached.at, pod->attached.count);
    s->problem = arena_copy(&s->memory, pod->attach_problem);
    return s;
}

void pod_storage_free(struct atoms *atoms, struct pod_storage **storage)
{
    struct pod_storage *s = *storage;
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < s->disk_count; i++)
        drop_disk(atoms, &s->disks[i]);
    for (uint32_t i = 0; i < s->claim_count; i++)
        atom_drop(atoms, s->claims[i]);
    drop_attached(atoms, s->attached, s->attached_count);
    arena_free(&s->memory);
    memory_free(s);
    *storage = NULL;
}

/* ---- nodes ---- */

struct node_storage *node_storage_make(struct atoms *atoms, const struct shard_storage *told)
{
    if (!told->has_csi_node)
        return NULL;
    struct node_storage *s = memory_take(sizeof(*s));
    const struct reader r = {.take = atoms, .arena = &s->memory};
    s->memory.first = 128;
    s->drivers = arena_take(&s->memory, told->drivers.count * sizeof(uint32_t));
    for (uint32_t i = 0; i < told->drivers.count; i++)
        s->drivers[s->driver_count++] = atom_take(atoms, told->drivers.at[i].driver);
    s->limits = arena_take(&s->memory, told->drivers.count * sizeof(*s->limits));
    for (uint32_t i = 0; i < told->drivers.count; i++)
        if (told->drivers.at[i].limited)
            s->limits[s->limit_count++] = (struct volume_limit){
                atom_take(atoms, told->drivers.at[i].driver), told->drivers.at[i].count};
    s->migrated = arena_take(&s->memory, told->migrated.count * sizeof(uint32_t));
    for (uint32_t i = 0; i < told->migrated.count; i++)
        s->migrated[s->migrated_count++] = atom_take(atoms, told->migrated.at[i]);
    s->attached_count = told->attached.count;
    s->attached = read_attached(&r, told->attached.at, told->attached.count);
    return s;
}

void node_storage_free(struct atoms *atoms, struct node_storage **storage)
{
    struct node_storage *s = *storage;
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < s->driver_count; i++)
        atom_drop(atoms, s->drivers[i]);
    for (uint32_t i = 0; i < s->limit_count; i++)
        atom_drop(atoms, s->limits[i].driver);
    for (uint32_t i = 0; i < s->migrated_count; i++)
        atom_drop(atoms, s->migrated[i]);
    drop_attached(atoms, s->attached, s->attached_count);
    arena_free(&s->memory);
    memory_free(s);
    *storage = NULL;
}
