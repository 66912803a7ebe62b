/* NodeVolumeLimits keeps the volumes that are attached to a node within what its CSI drivers allow.
 *
 * A volume counts once for a node, however many pods use it; what VolumeAttachments name counts
 * too, unless a pod there uses it. A node without a CSINode, and a driver without a count, allow
 * any number. With VolumeLimitScaling a driver may want pods on nodes alone where it is installed.
 */
#include "scheduler/catalog/volumes.h"
#include "scheduler/rules/plugin.h"

#include <string.h>

static bool is_repeated(const struct attaching *found, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (str_equal(found->at[k].driver, found->at[i].driver) &&
            str_equal(found->at[k].handle, found->at[i].handle))
            return true;
    return false;
}

/* Each driver once, for those that must be there. */
static void add_needed(const struct pre_filter_question *q, struct strs *needed, struct str name)
{
    const struct csi_driver *driver = catalog_csi_driver(q->catalog, name);
    if (driver != NULL && driver->must_be_there && !strs_hold(*needed, name))
        needed->at[needed->count++] = name;
}

static void find_needed(const struct pre_filter_question *q, const struct attaching *found)
{
    struct volume_findings *findings = &q->findings->volumes;
    if (!q->framework->profile.features.volume_limit_scaling)
        return;
    findings->needed.at = arena_take(q->arena, found->count * sizeof(struct str));
    findings->needed_by_disks.at = arena_take(q->arena, found->count * sizeof(struct str));
    for (uint32_t i = 0; i < found->count; i++)
        add_needed(q, found->is_disk[i] ? &findings->needed_by_disks : &findings->needed,
                   found->at[i].driver);
}

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    struct volume_findings *findings = &q->findings->volumes;
    struct attaching found;
    out->skip = true;
    for (uint32_t i = 0; i < q->pod->volumes.count; i++) {
        const struct pod_volume *v = &q->pod->volumes.at[i];
        out->skip = out->skip && !volume_has_claim(v) && !volume_is_migratable(v);
    }
    if (out->skip)
        return;
    volumes_attaching(q->catalog, q->pod, true, &found, q->arena);
    findings->wanted.at = arena_take(q->arena, found.count * sizeof(struct attached_volume));
    for (uint32_t i = 0; i < found.count; i++)
        if (!is_repeated(&found, i))
            findings->wanted.at[findings->wanted.count++] = found.at[i];
    find_needed(q, &found);
    findings->wanted_problem = found.problem;
    findings->wanted_missing = found.missing;
    findings->wanted_needs_csi_node = found.is_inline;
}

/* Volumes by name that were seen on the node at hand. Marks of earlier nodes are simply older, so
 * nothing is cleared between two nodes. */
struct seen {
    uint32_t room; /* a power of two, more than twice the count */
    uint32_t count, mark;
    struct seen_entry {
        uint32_t name, mark;
    } * at;
    struct arena *arena;
};

static void seen_init(struct seen *s, uint32_t room, struct arena *a)
{
    *s = (struct seen){.room = room, .mark = 1, .arena = a};
    s->at = arena_take(a, room * sizeof(*s->at));
}

/* The place of the name, or where it would go. */
static struct seen_entry *seen_find(const struct seen *s, uint32_t name)
{
    uint32_t i = name * UINT32_C(2654435761) & (s->room - 1);
    while (s->at[i].mark == s->mark && s->at[i].name != name)
        i = (i + 1) & (s->room - 1);
    return &s->at[i];
}

static bool seen_has(const struct seen *s, uint32_t name)
{
    return seen_find(s, name)->mark == s->mark;
}

static void seen_grow(struct seen *s)
{
    struct seen bigger;
    seen_init(&bigger, s->room * 2, s->arena);
    for (uint32_t i = 0; i < s->room; i++)
        if (s->at[i].mark == s->mark)
            *seen_find(&bigger, s->at[i].name) = (struct seen_entry){s->at[i].name, bigger.mark};
    bigger.count = s->count;
    *s = bigger;
}

/* False when it was there. */
static bool seen_add(struct seen *s, uint32_t name)
{
    struct seen_entry *e = seen_find(s, name);
    if (e->mark == s->mark)
        return false;
    *e = (struct seen_entry){name, s->mark};
    if (++s->count * 2 >= s->room)
        seen_grow(s);
    return true;
}

static void seen_clear(struct seen *s)
{
    s->count = 0;
    if (++s->mark != 0)
        return;
    memset(s->at, 0, s->room * sizeof(*s->at));
    s->mark = 1;
}

struct wanting {
    struct attached *wanted;
    uint32_t count;
    struct str problem;
    bool missing, needs_csi_node;
    struct strs needed, needed_by_disks;
    struct seen *seen; /* of the node at hand */
};

static void *filter_begin(const struct cycle *c)
{
    struct wanting *w = arena_take(c->arena, sizeof(*w));
    const struct volume_findings *findings = &c->findings->volumes;
    w->count = findings->wanted.count;
    w->wanted = attached_find(c->atoms, findings->wanted.at, findings->wanted.count, c->arena);
    w->problem = findings->wanted_problem;
    w->missing = findings->wanted_missing;
    w->needs_csi_node = findings->wanted_needs_csi_node;
    w->needed = findings->needed;
    w->needed_by_disks = findings->needed_by_disks;
    w->seen = arena_take(c->arena, sizeof(*w->seen));
    seen_init(w->seen, 64, c->arena);
    return w;
}

/* Upstream looks at all pods before it counts, and fails when it cannot tell what one of them uses.
 */
static const struct pod_storage *unclear_pod(const struct node_entry *node)
{
    for (uint32_t i = 0; i < node->pod_count; i++)
        if (node->pods[i]->storage != NULL && node->pods[i]->storage->problem.len > 0)
            return node->pods[i]->storage;
    return NULL;
}

/* How many volumes of the driver are on the node; those that its pods use are in seen then. */
static int64_t count_attached(struct seen *seen, const struct node_entry *node, uint32_t driver)
{
    int64_t count = 0;
    seen_clear(seen);
    for (uint32_t i = 0; i < node->pod_count; i++) {
        const struct pod_storage *s = node->pods[i]->storage;
        for (uint32_t k = 0; s != NULL && k < s->attached_count; k++)
            if (s->attached[k].driver == driver)
                count += seen_add(seen, s->attached[k].name);
    }
    for (uint32_t i = 0; i < node->storage->attached_count; i++)
        if (node->storage->attached[i].driver == driver)
            count += !seen_has(seen, node->storage->attached[i].name);
    return count;
}

static bool exceeds(const struct wanting *w, const struct node_entry *node,
                    const struct volume_limit *limit)
{
    int64_t wanted = 0;
    for (uint32_t i = 0; i < w->count; i++)
        wanted += w->wanted[i].driver == limit->driver;
    if (wanted == 0)
        return false;
    int64_t attached = count_attached(w->seen, node, limit->driver);
    for (uint32_t i = 0; i < w->count; i++)
        wanted -= w->wanted[i].driver == limit->driver && w->wanted[i].name != 0 &&
                  seen_has(w->seen, w->wanted[i].name);
    return wanted > 0 && attached + wanted > limit->count;
}

static bool is_installed(const struct cycle *c, const struct node_storage *storage,
                         struct str driver)
{
    uint32_t atom = atom_find(c->atoms, driver);
    for (uint32_t i = 0; storage != NULL && atom != 0 && i < storage->driver_count; i++)
        if (storage->drivers[i] == atom)
            return true;
    return false;
}

/* The first of the drivers that is not there; empty: all are. */
static struct str lacks(const struct cycle *c, const struct node_storage *storage,
                        const struct strs *needed)
{
    for (uint32_t i = 0; i < needed->count; i++)
        if (!is_installed(c, storage, needed->at[i]))
            return needed->at[i];
    return (struct str){NULL, 0};
}

static bool lacks_a_driver(const struct cycle *c, const struct wanting *w,
                           const struct node_storage *storage, struct ruling *out)
{
    struct str driver = lacks(c, storage, &w->needed);
    if (driver.len == 0 && storage != NULL)
        driver = lacks(c, storage, &w->needed_by_disks);
    if (driver.len == 0)
        return false;
    ruling_reject(
        out, CODE_unschedulable, "",
        arena_print(c->arena, "%.*s CSI driver is not installed on the node", STR_ARG(driver)));
    return true;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    const struct wanting *w = state;
    const struct node_entry *node = n->entry[row];
    const struct node_storage *storage = node->storage;
    if (w->problem.len > 0 && (!w->needs_csi_node || storage != NULL)) {
        ruling_reject(out, w->missing ? CODE_unresolvable : CODE_error, "", w->problem);
        return;
    }
    if (lacks_a_driver(c, w, storage, out))
        return;
    if (w->count == 0 || storage == NULL || storage->limit_count == 0)
        return;
    const struct pod_storage *unclear = unclear_pod(node);
    if (unclear != NULL) {
        ruling_reject(out, CODE_error, "", unclear->problem);
        return;
    }
    for (uint32_t i = 0; i < storage->limit_count; i++)
        if (exceeds(w, node, &storage->limits[i])) {
            ruling_reject(out, CODE_unschedulable, "node(s) exceed max volume count",
                          (struct str){0});
            return;
        }
}

const struct plugin plugin_node_volume_limits = {
    .name = "NodeVolumeLimits",
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
};
