/* cache: nodes and pods as the coordinator knows them. The one idea: each fact is kept once, on a
 * store; workers are replicas that are rebuilt from it at any time (cache_tell.c, cache_workers.c).
 *
 * What must stay true: a node that is known is in the node tree, in the image states and, if there
 * is any worker, in exactly one share; a ghost is kept as long as a pod names it. */
#include "scheduler/cluster/cache_inside.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/objects/requests.h"
#include "scheduler/cluster/kept_pod.h"

struct cache *cache_new(const struct cache_options *options)
{
    struct cache *c = memory_take(sizeof(*c));
    c->options = *options;
    cache_workers_profiles(c, options);
    c->node_store = store_new(&store_nodes);
    c->pod_store = store_new(&store_pods);
    c->tree = node_tree_new();
    c->images = image_states_new();
    c->room_users = room_users_new();
    c->device_memo = device_memo_new();
    c->nominator =
        nominator_new((struct nominator_listener){cache_tell_claim, cache_tell_claim_ended, c});
    c->shares = shares_new(cache_tell_moved, c);
    if (options->catalog != NULL)
        c->storage = storage_index_new(options->catalog);
    cache_gangs_begin(c);
    return c;
}

/* ---- claims of nominated pods ---- */

bool cache_has_gone(const struct cache *c, struct str uid)
{
    return gone_pods_has(&c->gone, uid);
}

static void note_gone(void *cache, struct str uid)
{
    gone_pods_note(&((struct cache *)cache)->gone, uid);
}

void cache_nominate(struct cache *c, const struct pod *pod, struct str node)
{
    if (find_pod(c, pod->uid) == NULL && (node.len == 0 || !cache_has_gone(c, pod->uid)))
        nominator_set(c->nominator, pod, node);
}

bool cache_drop_unwritten(struct cache *c, bool (*kept)(const void *context, struct str uid),
                          const void *context)
{
    return nominator_drop_unwritten(c->nominator, kept, context);
}

/* ---- pods, inside ---- */

static struct cached_node *need_node(struct cache *c, struct str name)
{
    struct cached_node *n = find_node(c, name);
    if (n != NULL)
        return n;
    n = memory_take(sizeof(*n));
    n->name = str_keep(name);
    n->hash = cache_hash_of(name);
    table_add(&c->nodes, n->hash, n);
    return n;
}

static void free_node_if_unused(struct cache *c, struct cached_node *n)
{
    if (n->kept != NULL || n->first != NULL)
        return;
    must(n->freed.count == 0);
    table_remove(&c->nodes, n->hash, n);
    str_drop(&n->name);
    memory_free(n);
}

static void link_pod(struct cached_node *n, struct cached_pod *p)
{
    p->node = n;
    p->before = n->last;
    p->behind = NULL;
    *(n->last != NULL ? &n->last->behind : &n->first) = p;
    n->last = p;
}

static void unlink_pod(struct cached_pod *p)
{
    struct cached_node *n = p->node;
    *(p->before != NULL ? &p->before->behind : &n->first) = p->behind;
    *(p->behind != NULL ? &p->behind->before : &n->last) = p->before;
}

static void count_claims(struct cache *c, const struct cached_pod *p, int times)
{
    if (c->storage != NULL && p->node->kept != NULL && !p->hidden)
        storage_index_count(c->storage, p->storage, times);
}

static void drop_claims(struct cache *c, struct cached_pod *p)
{
    count_claims(c, p, -1);
    if (c->storage != NULL)
        storage_index_unlink(c->storage, &p->storage);
}

static void set_claims(struct cache *c, struct cached_pod *p, const struct pod *pod)
{
    drop_claims(c, p);
    if (c->storage != NULL)
        p->storage = storage_index_link(c->storage, pod, p);
    count_claims(c, p, 1);
}

/* The pod, as it is kept, is counted no more among those that use what its status names. */
static void drop_rooms(struct cache *c, const struct cached_pod *p)
{
    struct pod pod;
    if (p->kept == NULL || !store_has(p->kept, TAG_pod_room_claims))
        return;
    get_pod(c, p, &pod, &c->arena);
    room_users_remove(c->room_users, &pod, p->node->name);
    arena_reset(&c->arena);
}

/* Ports of the pod that others on its node have as well are free now. What a pod's ports are does
 * not change as long as it is there. */
static void free_ports(struct cache *c, const struct cached_pod *gone)
{
    struct freed_ports *freed = &gone->node->freed;
    struct pod pod, other;
    if (!store_has(gone->kept, TAG_pod_ports))
        return;
    get_pod(c, gone, &pod, &c->arena);
    freed_ports_remove(freed, &pod);
    for (const struct cached_pod *p = gone->node->first; p != NULL; p = p->behind)
        if (p != gone && store_has(p->kept, TAG_pod_ports)) {
            get_pod(c, p, &other, &c->arena);
            freed_ports_add(freed, &pod, &other);
        }
    arena_reset(&c->arena);
}

/* Whether what its volumes are resolved to, or the pod itself, is another than what was told. */
static bool resolves_anew(struct cache *c, struct cached_pod *p, const struct pod *plain)
{
    struct pod resolved = *plain;
    resolve(c, &resolved, &c->arena);
    uint64_t print = kept_pod_print(&resolved), before = p->printed;
    p->printed = print;
    arena_reset(&c->arena);
    return print != before;
}

/* Of a pod with volumes it matters what they are resolved to, of others only the pod itself. One
 * with host ports takes them again with every update, as upstream takes it out and puts it back: a
 * pod that had the same and went has freed them. */
static bool is_new(struct cache *c, struct cached_pod *p, const struct pod *plain, bool same)
{
    bool differs = plain->volumes.count > 0 ? resolves_anew(c, p, plain) : !same;
    return differs || plain->ports.count > 0;
}

static void set_pod(struct cache *c, struct cached_pod *p, const struct pod *pod)
{
    struct stored *before = p->kept;
    struct pod plain = kept_pod_of(pod);
    drop_rooms(c, p);
    room_users_add(c->room_users, pod, p->node->name);
    plain.node_name = (struct str){NULL, 0};
    p->kept = store_put(c->pod_store, &plain);
    plain.node_name = pod->node_name;
    p->kept->mark = (uint32_t)c->mark;
    p->kept->version = pod->resource_version;
    p->generation = pod->generation < GENERATION_MAX ? (pod->generation + 1) & GENERATION_MAX : 0;
    p->conditions = condition_sets_number(&c->conditions, &pod->condition_types);
    p->deleting = pod->deleting;
    p->resize_deferred = pod->resize_deferred;
    set_claims(c, p, pod);
    freed_ports_remove(&p->node->freed, pod);
    if (is_new(c, p, &plain, before != NULL && store_same(before, p->kept)) && !c->told)
        cache_tell_pod(c, p);
    if (c->gangs != NULL)
        cache_gangs_set(c, p, &plain, before);
    store_drop(c->pod_store, before);
    c->with_terms -= p->has_terms;
    p->has_terms = kept_pod_has_terms(pod);
    c->with_terms += p->has_terms;
    if (before != NULL)
        priorities_remove(&c->priorities, p->priority);
    p->priority = priorities_add(&c->priorities, pod->priority) & PRIORITY_OTHER;
}

static void add_pod(struct cache *c, const struct pod *pod, bool assumed)
{
    struct cached_pod *p = memory_take(sizeof(*p));
    p->assumed = assumed;
    c->assumed += assumed;
    p->hash = cache_hash_of(pod->uid);
    link_pod(need_node(c, pod->node_name), p);
    set_pod(c, p, pod);
    table_add(&c->pods, p->hash, p);
    nominator_drop(c->nominator, pod->uid);
}

static void remove_pod(struct cache *c, struct cached_pod *p)
{
    struct cached_node *n = p->node;
    cache_tell_pod_gone(c, p);
    free_ports(c, p);
    drop_claims(c, p);
    drop_rooms(c, p);
    if (c->gangs != NULL)
        cache_gangs_remove(c, p);
    unlink_pod(p);
    table_remove(&c->pods, p->hash, p);
    c->assumed -= p->assumed;
    c->with_terms -= p->has_terms;
    priorities_remove(&c->priorities, p->priority);
    store_drop(c->pod_store, p->kept);
    memory_free(p);
    free_node_if_unused(c, n);
}

/* Upstream's queue, and with it the nominator, hears only of pods that a profile serves. */
static void see_claim(struct cache *c, const struct pod *pod)
{
    for (uint32_t i = 0; i < c->options.profile_count; i++)
        if (str_equal(c->options.profiles[i].scheduler_name, pod->scheduler_name))
            nominator_update(c->nominator, pod, c->mark);
}

/* ---- nodes ---- */

/* True when it is another than before; most nodes have none, and nothing is told of that. */
static bool storage_differs(struct cache *c, struct cached_node *n)
{
    struct shard_storage storage;
    struct buffer bytes = {0};
    uint64_t print = 0;
    if (c->storage == NULL)
        return false;
    storage_index_node(c->storage, n->name, &storage, &c->arena);
    if (storage.has_csi_node) {
        codec_encode(message_info[MSG_shard_storage].record, &storage, &bytes);
        print = str_hash(buffer_str(&bytes)) | 1;
    }
    buffer_free(&bytes);
    arena_reset(&c->arena);
    bool differs = print != n->storage_printed;
    n->storage_printed = print;
    return differs;
}

/* Its images leave, as they were last seen. */
static void forget_images(struct cache *c, const struct cached_node *n)
{
    struct node old;
    store_get(c->node_store, n->kept, &old, &c->arena);
    image_states_remove(c->images, &old);
    arena_reset(&c->arena);
}

static bool hostname_is_odd(const struct node *node)
{
    for (uint32_t i = 0; i < node->labels.count; i++)
        if (str_is(node->labels.at[i].key, "kubernetes.io/hostname"))
            return !str_equal(node->labels.at[i].value, node->name);
    return false;
}

static bool has_extended(const struct node *node)
{
    for (uint32_t i = 0; i < node->allocatable.count; i++)
        if (requests_may_be_devices(node->allocatable.at[i].name))
            return true;
    return false;
}

static void note_hostname(struct cache *c, struct cached_node *n, bool odd)
{
    c->odd_hostnames += odd;
    c->odd_hostnames -= n->odd_hostname;
    n->odd_hostname = odd;
}

void cache_node_set(struct cache *c, const struct node *node)
{
    struct cached_node *n = need_node(c, node->name);
    struct stored *before = n->kept;
    n->mark = c->mark;
    if (before != NULL)
        forget_images(c, n);
    image_states_add(c->images, node);
    node_tree_set(c->tree, &n->tree, node);
    n->kept = store_put(c->node_store, node);
    n->kept->version = node->resource_version;
    note_hostname(c, n, hostname_is_odd(node));
    n->extended = has_extended(node);
    if (before != NULL && !store_same(before, n->kept))
        cache_tell_node(c, n);
    store_drop(c->node_store, before);
    if (before != NULL)
        return;
    c->count_changed = c->walk_changed = true;
    (void)storage_differs(c, n);
    for (const struct cached_pod *p = n->first; p != NULL; p = p->behind)
        count_claims(c, p, 1);
    shares_give(c->shares, &n->share);
}

static void node_gone(struct cache *c, struct cached_node *n)
{
    forget_images(c, n);
    note_hostname(c, n, false);
    node_tree_remove(c->tree, &n->tree);
    for (const struct cached_pod *p = n->first; p != NULL; p = p->behind)
        count_claims(c, p, -1);
    store_drop(c->node_store, n->kept);
    n->kept = NULL;
    n->storage_printed = 0;
    c->count_changed = c->walk_changed = true;
    uint32_t worker;
    if (shares_take(c->shares, &n->share, &worker))
        cache_tell_lost(c, n, worker);
    free_node_if_unused(c, n);
}

void cache_node_gone(struct cache *c, struct str name)
{
    struct cached_node *n = find_node(c, name);
    if (n != NULL && n->kept != NULL)
        node_gone(c, n);
}

/* ---- storage ---- */

static void pod_touched(void *context, void *owner)
{
    struct cache *c = context;
    struct cached_pod *p = owner;
    struct arena a = {0};
    struct pod pod;
    get_pod(c, p, &pod, &a);
    if (resolves_anew(c, p, &pod))
        cache_tell_pod_in_place(c, p);
    arena_free(&a);
}

static void node_touched(void *context, struct str name)
{
    struct cache *c = context;
    struct cached_node *n = find_node(c, name);
    if (n != NULL && n->kept != NULL && storage_differs(c, n))
        cache_tell_storage(c, n);
}

void cache_object(struct cache *c, const struct message *m)
{
    const struct storage_touched touched = {c, pod_touched, node_touched};
    c->volumes_may_differ = true;
    if (c->storage != NULL)
        storage_index_take(c->storage, m, &touched);
}

/* Everything may have changed at once. */
static void refresh_storage(struct cache *c)
{
    size_t at = 0;
    struct cached_pod *p;
    const struct cached_node *n;
    c->volumes_may_differ = true;
    if (c->storage == NULL)
        return;
    storage_index_refresh(c->storage);
    while ((p = table_next(&c->pods, &at)) != NULL)
        if (p->storage != NULL)
            pod_touched(c, p);
    at = 0;
    while ((n = table_next(&c->nodes, &at)) != NULL)
        node_touched(c, n->name);
}

/* ---- pods ---- */

/* The pod is known and seen assigned. */
static enum cache_change see_assigned(struct cache *c, struct cached_pod *p, const struct pod *pod)
{
    bool confirmed = p->assumed;
    uint32_t decided = p->generation;
    if (!str_equal(p->node->name, pod->node_name)) {
        remove_pod(c, p);
        add_pod(c, pod, false);
        return CACHE_moved;
    }
    c->assumed -= p->assumed;
    p->assumed = false;
    set_pod(c, p, pod);
    nominator_drop(c->nominator, pod->uid);
    if (!confirmed)
        return CACHE_updated;
    return decided == p->generation ? CACHE_confirmed : CACHE_resized;
}

/* The pod is known and seen without a node. */
static enum cache_change see_pending(struct cache *c, struct cached_pod *p, const struct pod *pod)
{
    bool assumed = p->assumed;
    if (assumed && !pod->deleting) {
        p->kept->mark = (uint32_t)c->mark;
        return CACHE_nothing;
    }
    remove_pod(c, p);
    see_claim(c, pod);
    return assumed ? CACHE_forgotten : CACHE_removed;
}

enum cache_change cache_pod_set(struct cache *c, const struct pod *pod)
{
    struct cached_pod *p = find_pod(c, pod->uid);
    if (p != NULL)
        return pod->node_name.len > 0 ? see_assigned(c, p, pod) : see_pending(c, p, pod);
    if (pod->node_name.len == 0) {
        gone_pods_forget(&c->gone, pod->uid); /* as of a cluster restored from a backup */
        see_claim(c, pod);
        return CACHE_nothing;
    }
    add_pod(c, pod, false);
    return CACHE_added;
}

enum cache_change cache_pod_gone(struct cache *c, struct str uid)
{
    struct cached_pod *p = find_pod(c, uid);
    nominator_drop(c->nominator, uid);
    note_gone(c, uid);
    if (p == NULL)
        return CACHE_nothing;
    bool assumed = p->assumed;
    remove_pod(c, p);
    return assumed ? CACHE_forgotten : CACHE_removed;
}

void cache_snapshot_begin(struct cache *c)
{
    c->mark++;
}

void cache_keep_nominated(struct cache *c, bool (*shown)(const void *context, struct str uid),
                          const void *context)
{
    nominator_keep(c->nominator, c->mark, shown, context);
}

void cache_snapshot_end(struct cache *c)
{
    size_t at = 0;
    struct cached_pod *p;
    struct cached_node *n;
    while ((p = table_next(&c->pods, &at)) != NULL)
        if (p->kept->mark != (uint32_t)c->mark)
            remove_pod(c, p);
    at = 0;
    while ((n = table_next(&c->nodes, &at)) != NULL)
        if (n->kept != NULL && n->mark != c->mark)
            node_gone(c, n);
    nominator_sweep(c->nominator, c->mark, note_gone, c);
    refresh_storage(c);
}

/* ---- decisions ---- */

bool cache_assume(struct cache *c, const struct pod *pod, struct str node)
{
    if (find_pod(c, pod->uid) != NULL || node.len == 0)
        return false;
    struct pod placed = *pod;
    placed.node_name = node;
    add_pod(c, &placed, true);
    return true;
}

bool cache_assume_told(struct cache *c, const struct pod *pod, struct str node)
{
    c->told = true;
    bool assumed = cache_assume(c, pod, node);
    c->told = false;
    return assumed;
}

bool cache_forget(struct cache *c, struct str uid)
{
    struct cached_pod *p = find_pod(c, uid);
    if (p == NULL || !p->assumed)
        return false;
    remove_pod(c, p);
    return true;
}

enum cache_pod_state cache_pod(const struct cache *c, struct str uid, struct str *node)
{
    const struct cached_pod *p = find_pod(c, uid);
    if (p == NULL)
        return CACHE_absent;
    if (node != NULL)
        *node = p->node->name;
    return p->assumed ? CACHE_assumed : CACHE_assigned;
}

bool cache_pod_is_going(const struct cache *c, struct str uid)
{
    const struct cached_pod *p = find_pod(c, uid);
    return p == NULL || p->deleting;
}

bool cache_pod_may_resize(const struct cache *c, struct str uid)
{
    const struct cached_pod *p = find_pod(c, uid);
    return p != NULL && !p->assumed && !p->deleting && p->resize_deferred;
}

bool cache_hide(struct cache *c, struct str uid)
{
    struct cached_pod *p = find_pod(c, uid);
    if (p == NULL || p->hidden)
        return false;
    cache_tell_pod_gone(c, p);
    count_claims(c, p, -1);
    p->hidden = true;
    return true;
}

void cache_show(struct cache *c, struct str uid)
{
    struct cached_pod *p = find_pod(c, uid);
    if (p == NULL || !p->hidden)
        return;
    p->hidden = false;
    count_claims(c, p, 1);
    cache_tell_pod(c, p);
}

/* ---- the end ---- */

static void drop_all(void *context, uint32_t worker, const struct message *m)
{
    (void)context;
    (void)worker;
    (void)m;
}

void cache_free(struct cache **cache)
{
    struct cache *c = *cache;
    if (c == NULL)
        return;
    c->options.tell = drop_all;
    c->options.tell_encoded = NULL;
    cache_snapshot_begin(c); /* an empty one: everything goes */
    cache_snapshot_end(c);
    storage_index_free(&c->storage);
    cache_gangs_free(c);
    table_free(&c->nodes);
    table_free(&c->pods);
    store_free(&c->node_store);
    store_free(&c->pod_store);
    node_tree_free(&c->tree);
    image_states_free(&c->images);
    nominator_free(&c->nominator);
    shares_free(&c->shares);
    paces_free(&c->paces);
    condition_sets_free(&c->conditions);
    room_users_free(&c->room_users);
    device_memo_free(&c->device_memo);
    memory_free(c->order);
    arena_free(&c->profiles);
    arena_free(&c->arena);
    buffer_free(&c->body);
    memory_free(c);
    *cache = NULL;
}
