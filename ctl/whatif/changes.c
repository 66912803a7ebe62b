/* changes: what is different from the cluster that was loaded. The one idea: each change is what
 * the watcher's stream would show of it when all is done, so the scheduler's own state follows.
 *
 * What must stay true: a pod whose node goes is decided as its successor would be: without node,
 * nomination and claims; pods that are going anyway are nobody's successor. */
#include "ctl/plugin_doors.h"
#include "ctl/whatif/whatif.h"

#include "scheduler/catalog/catalog.h"

#include <stdlib.h>

#define HOSTNAME "kubernetes.io/hostname"

void whatif_begin(struct whatif *w, struct world *world)
{
    w->world = world;
    world_settle(world);
}

void whatif_free(struct whatif *w)
{
    plugin_doors_close(&w->doors);
    arena_free(&w->arena);
    arena_free(&w->step);
}

static void add_str(struct whatif *w, struct strs *list, struct str text)
{
    list->at = manifests_room(&w->arena, list->at, list->count, sizeof(*list->at));
    list->at[list->count++] = arena_copy(&w->arena, text);
}

static bool refuse(struct whatif *w, const char *what, struct str name)
{
    w->error = arena_print(&w->arena, "%s %.*s", what, STR_ARG(name));
    return false;
}

static struct str full_name(struct whatif *w, const struct pod *pod)
{
    return arena_print(&w->arena, "%.*s/%.*s", STR_ARG(pod->namespace_name), STR_ARG(pod->name));
}

/* ---- pods ---- */

static void add_pod(struct whatif *w, const struct pod *pod, enum whatif_origin origin)
{
    uint32_t count = w->pods.count;
    w->pods.at = manifests_room(&w->arena, w->pods.at, count, sizeof(*w->pods.at));
    w->pods.at[count] = (struct whatif_pod){.space = arena_copy(&w->arena, pod->namespace_name),
                                            .name = arena_copy(&w->arena, pod->name),
                                            .origin = origin,
                                            .was_on = arena_copy(&w->arena, pod->node_name),
                                            .nominated = arena_copy(&w->arena, pod->nominated_node),
                                            .priority = pod->priority,
                                            .group = arena_copy(&w->arena, pod->gang),
                                            .group_api = arena_copy(&w->arena, pod->gang_api),
                                            .order = count};
    w->pods.count++;
}

/* The pod does not use its device claim any more; with nobody left its devices are free. */
static void release_claim(struct whatif *w, const struct pod *pod, struct str name)
{
    const struct resource_claim *there =
        catalog_resource_claim(world_catalog(w->world), pod->namespace_name, name);
    struct message m = {.type = MSG_resource_claim_set};
    struct resource_claim *claim = &m.resource_claim_set.resource_claim;
    uint32_t kept = 0;
    if (there == NULL || !strs_hold(there->reserved_for, pod->uid))
        return;
    codec_copy(&resource_claim_record, claim, there, &w->step);
    for (uint32_t i = 0; i < claim->reserved_for.count; i++)
        if (!str_equal(claim->reserved_for.at[i], pod->uid))
            claim->reserved_for.at[kept++] = claim->reserved_for.at[i];
    claim->reserved_for.count = kept;
    if (kept == 0) {
        claim->allocated = claim->has_terms = false;
        claim->allocated_us = 0;
        claim->terms.count = claim->devices.count = claim->device_statuses.count = 0;
    }
    world_take(w->world, &m);
}

static void remove_pod(struct whatif *w, const struct pod *pod)
{
    world_pod_gone(w->world, pod->namespace_name, pod->name);
    for (uint32_t i = 0; i < pod->device_claims.count; i++)
        release_claim(w, pod, pod->device_claims.at[i].claim);
}

bool whatif_delete(struct whatif *w, struct str named)
{
    struct str rest = named, parts[3] = {{0}};
    struct pod pod;
    uint32_t count = 0, first = 0;
    while (count < 3 && str_split(&rest, "/", &parts[count]))
        count++;
    if (count > 1 && str_is(parts[0], "pod"))
        first = 1;
    if (rest.at != NULL || count - first > 2)
        return refuse(w, "a pod to delete is named pod/NAMESPACE/NAME, not", named);
    struct str space = count - first == 2 ? parts[first] : w->space;
    if (!world_pod(w->world, space, parts[count - 1], &pod, &w->step))
        return refuse(
            w, "there is no pod",
            arena_print(&w->arena, "%.*s/%.*s", STR_ARG(space), STR_ARG(parts[count - 1])));
    add_str(w, &w->deleted, full_name(w, &pod));
    remove_pod(w, &pod);
    arena_reset(&w->step);
    return true;
}

/* Some pods, by name, while the world does not change. */
struct found {
    struct str space, name;
    int64_t created;
};

struct search {
    struct whatif *w;
    uint32_t count;
    struct found *at;
};

static void note(struct search *s, const struct pod *pod)
{
    s->at = manifests_room(&s->w->arena, s->at, s->count, sizeof(*s->at));
    s->at[s->count++] = (struct found){.space = arena_copy(&s->w->arena, pod->namespace_name),
                                       .name = arena_copy(&s->w->arena, pod->name),
                                       .created = pod->created};
}

static void note_waiting(void *context, const struct pod *pod)
{
    if (pod->node_name.len == 0)
        note(context, pod);
}

/* The cache does not know when it was created. */
static void note_on_node(void *context, const struct pod *pod, bool assumed)
{
    (void)assumed;
    note(context, pod);
}

static int by_age(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    int spaces = str_compare(x->space, y->space);
    return spaces != 0 ? spaces : str_compare(x->name, y->name);
}

static struct search find_waiting(struct whatif *w)
{
    struct search s = {.w = w};
    world_each_pod(w->world, note_waiting, &s);
    if (s.count > 0)
        qsort(s.at, s.count, sizeof(*s.at), by_age);
    return s;
}

static struct search find_on_node(struct whatif *w, struct str node)
{
    struct search s = {.w = w};
    world_each_pod_on(w->world, node, note_on_node, &s);
    for (uint32_t i = 0; i < s.count; i++) {
        struct pod pod;
        if (world_pod(w->world, s.at[i].space, s.at[i].name, &pod, &w->step))
            s.at[i].created = pod.created;
    }
    if (s.count > 0)
        qsort(s.at, s.count, sizeof(*s.at), by_age);
    return s;
}

static bool is_tied_to_node(const struct pod *pod)
{
    return str_is(pod->owner_kind, "DaemonSet") || str_is(pod->owner_kind, "Node");
}

/* Its successor, as its controller would make it. */
static void make_pending(struct whatif *w, const struct pod *pod, enum whatif_origin origin)
{
    struct pod next = world_pod_unbound(w->world, pod, &w->step);
    next.nominated_node = (struct str){0};
    next.started = 0;
    next.resize_deferred = false;
    add_pod(w, pod, origin);
    remove_pod(w, pod);
    world_pod_set(w->world, &next);
}

static void clear_node(struct whatif *w, struct str node, enum whatif_origin origin)
{
    const struct search on = find_on_node(w, node);
    for (uint32_t i = 0; i < on.count; i++) {
        struct pod pod;
        if (!world_pod(w->world, on.at[i].space, on.at[i].name, &pod, &w->step))
            continue;
        if (is_tied_to_node(&pod) && origin == WHATIF_drained) {
            add_str(w, &w->stayed, full_name(w, &pod));
        } else if (is_tied_to_node(&pod) || pod.deleting) {
            add_str(w, &w->gone, full_name(w, &pod));
            remove_pod(w, &pod);
        } else {
            make_pending(w, &pod, origin);
        }
        arena_reset(&w->step);
    }
}

void whatif_take_pending(struct whatif *w)
{
    const struct search waiting = find_waiting(w);
    for (uint32_t i = 0; i < waiting.count; i++) {
        struct pod pod;
        if (world_pod(w->world, waiting.at[i].space, waiting.at[i].name, &pod, &w->step) &&
            !pod.deleting && world_framework(w->world, &pod) != NULL)
            add_pod(w, &pod, WHATIF_pending);
        arena_reset(&w->step);
    }
}

/* ---- nodes ---- */

static bool has_label(const struct node *node, struct str key, struct str value)
{
    for (uint32_t i = 0; i < node->labels.count; i++)
        if (str_equal(node->labels.at[i].key, key))
            return str_equal(node->labels.at[i].value, value);
    return false;
}

bool whatif_fail(struct whatif *w, struct str label)
{
    int64_t split = str_find(label, '=');
    uint32_t before = w->failed.count;
    if (split <= 0)
        return refuse(w, "nodes that fail are named by a label, KEY=VALUE, not", label);
    struct str key = {label.at, (uint32_t)split};
    struct str value = {label.at + split + 1, label.len - (uint32_t)split - 1};
    if (str_is(key, "zone") || str_is(key, "region"))
        key = arena_print(&w->arena, "topology.kubernetes.io/%.*s", STR_ARG(key));
    const struct strs all = world_nodes(w->world, &w->arena);
    for (uint32_t i = 0; i < all.count; i++) {
        struct node node;
        if (!world_node(w->world, all.at[i], &node, &w->step) || !has_label(&node, key, value))
            continue;
        add_str(w, &w->failed, all.at[i]);
        clear_node(w, all.at[i], WHATIF_failed);
        world_node_gone(w->world, all.at[i]);
    }
    arena_reset(&w->step);
    return w->failed.count > before || refuse(w, "no node has the label", label);
}

/* The first of a row of names that no node has. */
static struct str new_name(struct whatif *w, struct str like, int64_t *number)
{
    struct node node;
    struct str name;
    do
        name = arena_print(&w->arena, "%.*s-new-%lld", STR_ARG(like), (long long)++*number);
    while (world_node(w->world, name, &node, &w->step));
    return name;
}

/* Which volumes it takes; its devices are not copied. */
static void copy_drivers(struct whatif *w, struct str like, struct str name)
{
    const struct csi_node *there = catalog_csi_node(world_catalog(w->world), like);
    struct message m = {.type = MSG_csi_node_set};
    if (there == NULL)
        return;
    codec_copy(&csi_node_record, &m.csi_node_set.csi_node, there, &w->step);
    m.csi_node_set.csi_node.name = name;
    world_take(w->world, &m);
}

void whatif_add_nodes(struct whatif *w, const struct node *like, int64_t count)
{
    int64_t number = 0;
    for (int64_t i = 0; i < count; i++) {
        struct node node;
        struct str name = new_name(w, like->name, &number);
        codec_copy(&node_record, &node, like, &w->step);
        node.name = name;
        node.uid = arena_print(&w->step, "whatif-%.*s", STR_ARG(name));
        for (uint32_t k = 0; k < node.labels.count; k++)
            if (str_is(node.labels.at[k].key, HOSTNAME))
                node.labels.at[k].value = name;
        world_node_set(w->world, &node);
        copy_drivers(w, like->name, name);
        add_str(w, &w->added, name);
        arena_reset(&w->step);
    }
}

static bool make_unschedulable(struct whatif *w, struct str name)
{
    struct node node, cordoned;
    if (!world_node(w->world, name, &node, &w->step))
        return refuse(w,
                      strs_hold(w->failed, name) ? "--fail has taken away already the node"
                                                 : "there is no node",
                      name);
    codec_copy(&node_record, &cordoned, &node, &w->step);
    cordoned.unschedulable = true;
    world_node_set(w->world, &cordoned);
    arena_reset(&w->step);
    return true;
}

bool whatif_cordon(struct whatif *w, struct str node)
{
    if (!make_unschedulable(w, node))
        return false;
    add_str(w, &w->cordoned, node);
    return true;
}

bool whatif_drain(struct whatif *w, struct str node)
{
    if (!make_unschedulable(w, node))
        return false;
    add_str(w, &w->drained, node);
    clear_node(w, node, WHATIF_drained);
    return true;
}

/* ---- new pods ---- */

static bool is_there(struct whatif *w, const struct pod *pod)
{
    struct pod known;
    return world_pod(w->world, pod->namespace_name, pod->name, &known, &w->step);
}

bool whatif_create(struct whatif *w, struct manifests *m, const struct workload *load,
                   int64_t replicas)
{
    bool alone = load->template_path.len == 0 && replicas < 0;
    int64_t wanted = replicas < 0 ? load->count : replicas, number = load->first;
    for (int64_t made = 0; made < wanted; number++) {
        struct pod pod;
        if (!manifests_pod(m, load, alone ? MANIFESTS_ALONE : number, &pod, &w->step)) {
            w->error = arena_copy(&w->arena, m->error);
            return false;
        }
        bool taken = is_there(w, &pod);
        if (!taken && !manifests_set_claims(m, load, number, w->world)) {
            w->error = arena_copy(&w->arena, m->error);
            return false;
        }
        if (taken && alone)
            return refuse(
                w, "there is such a pod already, which --delete takes away:", full_name(w, &pod));
        if (!taken) {
            world_pod_set(w->world, &pod);
            add_pod(w, &pod, WHATIF_new);
            made++;
        }
        arena_reset(&w->step);
    }
    return true;
}
