/* nominator: claims by pod and by node, and in the order in which they were made. Each has its pod
 * decoded, as those that lose theirs are told to the binder. What must stay true: a pod has at most
 * one claim, and none once it is assumed or assigned; the listener hears of every claim on a node
 * when it is made, when its pod is another, and when it ends. */
#include "scheduler/cluster/nominator.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"

struct nomination {
    struct str uid;
    struct str node;
    bool in_status; /* the pod's status named a node when it was last seen */
    int64_t priority;
    uint64_t mark;
    uint64_t printed; /* the listener's */
    struct pod pod;   /* nominated_node is the claim's; in memory */
    struct arena memory;
    struct nomination *before, *behind;
    struct nomination *before_there, *behind_there; /* of those on its node */
};

struct nominator {
    struct nominator_listener listener;
    struct map *by_uid;
    struct map *by_node; /* the first there */
    struct nomination *first, *last;
};

struct nominator *nominator_new(struct nominator_listener listener)
{
    struct nominator *n = memory_take(sizeof(*n));
    n->listener = listener;
    n->by_uid = map_new();
    n->by_node = map_new();
    return n;
}

/* Those on a node stand in the order in which they were made. */
static void join(struct nominator *n, struct nomination *c)
{
    struct nomination *last = map_get(n->by_node, c->node);
    if (last == NULL) {
        map_set(n->by_node, c->node, c);
        return;
    }
    while (last->behind_there != NULL)
        last = last->behind_there;
    last->behind_there = c;
    c->before_there = last;
}

static void leave(struct nominator *n, struct nomination *c)
{
    if (c->behind_there != NULL)
        c->behind_there->before_there = c->before_there;
    if (c->before_there != NULL)
        c->before_there->behind_there = c->behind_there;
    else if (c->behind_there != NULL)
        map_set(n->by_node, c->node, c->behind_there);
    else
        map_remove(n->by_node, c->node);
}

static void tell(struct nominator *n, struct nomination *c)
{
    if (c->node.len > 0)
        n->listener.made(n->listener.context, &c->pod, &c->printed);
}

static void drop(struct nominator *n, struct nomination *c)
{
    if (c->node.len > 0) {
        leave(n, c);
        n->listener.ended(n->listener.context, &c->pod);
    }
    *(c->before != NULL ? &c->before->behind : &n->first) = c->behind;
    *(c->behind != NULL ? &c->behind->before : &n->last) = c->before;
    map_remove(n->by_uid, c->uid);
    str_drop(&c->uid);
    str_drop(&c->node);
    arena_free(&c->memory);
    memory_free(c);
}

void nominator_free(struct nominator **n)
{
    if (*n == NULL)
        return;
    while ((*n)->first != NULL)
        drop(*n, (*n)->first);
    map_free(&(*n)->by_uid);
    map_free(&(*n)->by_node);
    memory_free(*n);
    *n = NULL;
}

void nominator_drop(struct nominator *n, struct str uid)
{
    struct nomination *c = map_get(n->by_uid, uid);
    if (c != NULL)
        drop(n, c);
}

static void remember(struct nominator *n, struct nomination *c, const struct pod *pod)
{
    struct pod claimant = *pod;
    struct arena memory = {0};
    claimant.nominated_node = c->node;
    codec_copy(&pod_record, &c->pod, &claimant, &memory);
    arena_free(&c->memory);
    c->memory = memory;
    tell(n, c);
}

static struct nomination *add(struct nominator *n, const struct pod *pod, struct str node)
{
    struct nomination *c = memory_take(sizeof(*c));
    c->uid = str_keep(pod->uid);
    c->node = str_keep(node);
    c->priority = pod->priority;
    c->in_status = pod->nominated_node.len > 0;
    c->before = n->last;
    *(n->last != NULL ? &n->last->behind : &n->first) = c;
    n->last = c;
    map_set(n->by_uid, c->uid, c);
    if (node.len > 0)
        join(n, c);
    remember(n, c, pod);
    return c;
}

/* The pod may have been given its last claim as if its status showed it. */
void nominator_set(struct nominator *n, const struct pod *pod, struct str node)
{
    const struct nomination *last = map_get(n->by_uid, pod->uid);
    bool in_status = last != NULL ? last->in_status : pod->nominated_node.len > 0;
    nominator_drop(n, pod->uid);
    if (node.len > 0)
        add(n, pod, node)->in_status = in_status;
}

/* Upstream does not nominate a pod that is gated when it is first seen, but does with the first
 * update: until then it has a claim on no node. */
static bool is_new_and_gated(struct nominator *n, const struct pod *pod, uint64_t mark)
{
    if (pod->gates.count == 0 || map_get(n->by_uid, pod->uid) != NULL)
        return false;
    struct nomination *c = add(n, pod, (struct str){NULL, 0});
    c->mark = mark;
    return true;
}

void nominator_update(struct nominator *n, const struct pod *pod, uint64_t mark)
{
    if (is_new_and_gated(n, pod, mark))
        return;
    struct nomination *c = map_get(n->by_uid, pod->uid);
    bool keep = c != NULL && !c->in_status && pod->nominated_node.len == 0;
    if (!keep && !(c != NULL && str_equal(c->node, pod->nominated_node)))
        nominator_set(n, pod, pod->nominated_node);
    c = map_get(n->by_uid, pod->uid);
    if (c == NULL)
        return;
    c->mark = mark;
    c->in_status = pod->nominated_node.len > 0;
    c->priority = pod->priority;
    remember(n, c, pod);
}

void nominator_keep(struct nominator *n, uint64_t mark,
                    bool (*shown)(const void *context, struct str uid), const void *context)
{
    for (struct nomination *c = n->first; c != NULL; c = c->behind)
        if (c->mark != mark && shown(context, c->uid))
            c->mark = mark;
}

void nominator_sweep(struct nominator *n, uint64_t mark,
                     void (*gone)(void *context, struct str uid), void *context)
{
    for (struct nomination *c = n->first; c != NULL;) {
        struct nomination *behind = c->behind;
        if (c->mark != mark) {
            gone(context, c->uid);
            drop(n, c);
        }
        c = behind;
    }
}

bool nominator_drop_unwritten(struct nominator *n,
                              bool (*kept)(const void *context, struct str uid),
                              const void *context)
{
    bool any = false;
    for (struct nomination *c = n->first, *behind; c != NULL; c = behind) {
        behind = c->behind;
        if (c->in_status || c->node.len == 0 || kept(context, c->uid))
            continue;
        drop(n, c);
        any = true;
    }
    return any;
}

static bool counts(const struct nomination *c, const struct pod *pod)
{
    return c->priority >= pod->priority && !str_equal(c->uid, pod->uid);
}

void nominator_each_on(const struct nominator *n, struct str node,
                       void (*visit)(void *context, const struct pod *pod), void *context)
{
    for (const struct nomination *c = map_get(n->by_node, node); c != NULL; c = c->behind_there)
        visit(context, &c->pod);
}

void nominator_tell_volumes(struct nominator *n)
{
    for (struct nomination *c = n->first; c != NULL; c = c->behind)
        if (c->pod.volumes.count > 0)
            tell(n, c);
}

bool nominator_has_rivals(const struct nominator *n, const struct pod *pod,
                          struct node_filter filter)
{
    for (const struct nomination *c = n->first; c != NULL; c = c->behind)
        if (counts(c, pod) && filter.usable(filter.context, c->node))
            return true;
    return false;
}

const struct pod *nominator_below(const struct nominator *n, struct str node, int64_t priority,
                                  struct arena *a, uint32_t *count)
{
    const struct nomination *first = map_get(n->by_node, node);
    uint32_t room = 0;
    *count = 0;
    for (const struct nomination *c = first; c != NULL; c = c->behind_there)
        room += c->priority < priority;
    struct pod *out = arena_take(a, room * sizeof(*out));
    for (const struct nomination *c = first; c != NULL; c = c->behind_there)
        if (c->priority < priority)
            out[(*count)++] = c->pod;
    return out;
}

uint32_t nominator_count(const struct nominator *n)
{
    uint32_t count = 0;
    for (const struct nomination *c = n->first; c != NULL; c = c->behind)
        count += c->node.len > 0; /* else it says that the pod's status is not to be believed */
    return count;
}

bool nominator_of(const struct nominator *n, struct str uid, struct str *node)
{
    const struct nomination *c = map_get(n->by_uid, uid);
    if (c != NULL)
        *node = c->node;
    return c != NULL;
}

const struct pod *nominator_pod(const struct nominator *n, struct str uid)
{
    const struct nomination *c = map_get(n->by_uid, uid);
    return c != NULL && c->node.len > 0 ? &c->pod : NULL;
}

struct pod nominator_as_placed(const struct pod *p)
{
    return (struct pod){.uid = p->uid,
                        .namespace_name = p->namespace_name,
                        .name = p->name,
                        .nominated_node = p->nominated_node,
                        .priority = p->priority,
                        .created = p->created,
                        .started = p->started,
                        .deleting = p->deleting,
                        .preempted = p->preempted,
                        .labels = p->labels,
                        .usage = p->usage,
                        .usage_score_cpu = p->usage_score_cpu,
                        .usage_score_memory = p->usage_score_memory,
                        .ports = p->ports,
                        .claims = p->claims,
                        .affinity_required = p->affinity_required,
                        .affinity_preferred = p->affinity_preferred,
                        .anti_affinity_required = p->anti_affinity_required,
                        .anti_affinity_preferred = p->anti_affinity_preferred,
                        .volumes = p->volumes,
                        .attached = p->attached,
                        .attach_problem = p->attach_problem};
}
