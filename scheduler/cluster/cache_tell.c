/* cache_tell: what workers hear of the cache. The one idea: a worker that has not taken in what it
 * was told hears nothing more of a node than that it is owed to it, and later all of it at once.
 *
 * What must stay true: a worker has the pods of its nodes and no others, but for the nodes that it
 * is owed, of which it hears nothing until it is told all, and for hidden pods. */
#include "proto/base/must.h"
#include "scheduler/cluster/cache_inside.h"
#include "scheduler/cluster/kept_pod.h"

void cache_tell(struct cache *c, uint32_t worker, const struct message *m)
{
    c->options.tell(c->options.context, worker, m);
    pace_sent(&c->paces, worker);
    arena_reset(&c->arena);
}

static bool has_room(const struct cache *c, uint32_t worker)
{
    const struct pace *pace = pace_of(&c->paces, worker);
    return pace == NULL || c->options.window == 0 || pace->on_the_way < c->options.window ||
           !c->options.may_wait(c->options.context);
}

static void set_owed(struct cache *c, struct cached_node *n, uint32_t worker, bool owed)
{
    if (n->owed != owed)
        pace_owes(&c->paces, worker, owed ? 1 : -1);
    n->owed = owed;
}

/* True, with the worker, if there is one and it is to be told of a change of the node now. */
static bool may_tell(struct cache *c, struct cached_node *n, uint32_t *worker)
{
    if (!shares_owner(&n->share, worker))
        return false;
    if (!n->owed && !has_room(c, *worker))
        set_owed(c, n, *worker, true);
    return !n->owed;
}

/* What is told of most nodes and pods is what is kept of them: it goes out as it lies on the store.
 * Both messages are one record under a tag. */
static void begin_body(struct cache *c, uint8_t tag)
{
    const uint8_t head[] = {0x81, tag};
    buffer_reset(&c->body);
    buffer_add(&c->body, head, sizeof(head));
}

static bool tell_body(struct cache *c, uint32_t worker, enum message_type type)
{
    if (!c->options.tell_encoded(c->options.context, worker, type, buffer_str(&c->body)))
        return false;
    pace_sent(&c->paces, worker);
    return true;
}

/* False when it has to be decoded: where its volumes are, and which of its ports are free, is found
 * out as it is told. */
static bool tell_pod_kept(struct cache *c, uint32_t worker, const struct cached_pod *p)
{
    if (c->options.tell_encoded == NULL || p->printed != 0 || p->node->freed.count > 0)
        return false;
    begin_body(c, TAG_shard_pod_pod);
    store_encoded_with(c->pod_store, p->kept, TAG_pod_node_name, p->node->name, &c->body);
    return tell_body(c, worker, MSG_shard_pod);
}

static void tell_pod_anew(struct cache *c, uint32_t worker, const struct cached_pod *p,
                          bool in_place)
{
    struct message m = {.type = MSG_shard_pod, .shard_pod.in_place = in_place};
    get_pod(c, p, &m.shard_pod.pod, &c->arena);
    resolve(c, &m.shard_pod.pod, &c->arena);
    m.shard_pod.freed.count =
        freed_ports_of(&p->node->freed, &m.shard_pod.pod, &m.shard_pod.freed.at, &c->arena);
    cache_tell(c, worker, &m);
}

static void tell_pod(struct cache *c, uint32_t worker, const struct cached_pod *p)
{
    if (!tell_pod_kept(c, worker, p))
        tell_pod_anew(c, worker, p, false);
}

static bool tell_node_kept(struct cache *c, uint32_t worker, const struct cached_node *n)
{
    if (c->options.tell_encoded == NULL)
        return false;
    begin_body(c, TAG_shard_node_node);
    store_encoded(c->node_store, n->kept, &c->body);
    return tell_body(c, worker, MSG_shard_node);
}

static void tell_node(struct cache *c, uint32_t worker, const struct cached_node *n)
{
    struct message m = {.type = MSG_shard_node};
    if (tell_node_kept(c, worker, n))
        return;
    store_get(c->node_store, n->kept, &m.shard_node.node, &c->arena);
    cache_tell(c, worker, &m);
}

static void tell_storage(struct cache *c, uint32_t worker, const struct cached_node *n)
{
    struct message m = {.type = MSG_shard_storage};
    storage_index_node(c->storage, n->name, &m.shard_storage, &c->arena);
    cache_tell(c, worker, &m);
}

/* ---- claims: as workers see them ---- */

static void claimant_of(struct cache *c, const struct pod *pod, struct pod *placed)
{
    *placed = nominator_as_placed(pod);
    if (placed->volumes.count > 0)
        resolve(c, placed, &c->arena);
}

struct told {
    struct cache *cache;
    uint32_t worker;
};

static void tell_claim(void *context, const struct pod *pod)
{
    const struct told *to = context;
    struct message m = {.type = MSG_shard_nominated};
    claimant_of(to->cache, pod, &m.shard_nominated.pod);
    cache_tell(to->cache, to->worker, &m);
}

/* The worker of the node, if it is to be told of a claim there. */
static bool hears_of_claims(struct cache *c, struct str node, uint32_t *worker)
{
    struct cached_node *n = find_node(c, node);
    return n != NULL && n->kept != NULL && may_tell(c, n, worker);
}

/* Most of what is seen of a nominated pod, such as its conditions, is nothing to workers. */
void cache_tell_claim(void *context, const struct pod *pod, uint64_t *printed)
{
    struct cache *c = context;
    struct pod placed;
    uint32_t worker;
    claimant_of(c, pod, &placed);
    uint64_t print = kept_pod_print(&placed);
    bool differs = print != *printed;
    arena_reset(&c->arena);
    *printed = print;
    if (differs && hears_of_claims(c, pod->nominated_node, &worker))
        tell_claim(&(struct told){c, worker}, pod);
}

void cache_tell_claim_ended(void *context, const struct pod *pod)
{
    struct cache *c = context;
    uint32_t worker;
    if (!hears_of_claims(c, pod->nominated_node, &worker))
        return;
    const struct message m = {
        .type = MSG_shard_nominated_gone,
        .shard_nominated_gone = {.uid = pod->uid, .node_name = pod->nominated_node}};
    cache_tell(c, worker, &m);
}

/* ---- one thing that has changed ---- */

void cache_tell_node(struct cache *c, struct cached_node *n)
{
    uint32_t worker;
    if (may_tell(c, n, &worker))
        tell_node(c, worker, n);
}

void cache_tell_storage(struct cache *c, struct cached_node *n)
{
    uint32_t worker;
    if (may_tell(c, n, &worker))
        tell_storage(c, worker, n);
}

void cache_tell_pod(struct cache *c, const struct cached_pod *p)
{
    uint32_t worker;
    if (!p->hidden && may_tell(c, p->node, &worker))
        tell_pod(c, worker, p);
}

void cache_tell_pod_in_place(struct cache *c, const struct cached_pod *p)
{
    uint32_t worker;
    if (!p->hidden && may_tell(c, p->node, &worker))
        tell_pod_anew(c, worker, p, true);
}

void cache_tell_pod_gone(struct cache *c, const struct cached_pod *p)
{
    uint32_t worker;
    if (p->hidden || !may_tell(c, p->node, &worker))
        return;
    struct message m = {.type = MSG_shard_pod_gone};
    char text[UUID_TEXT];
    m.shard_pod_gone.uid = store_uuid(p->kept, TAG_pod_uid, text);
    m.shard_pod_gone.node_name = p->node->name;
    cache_tell(c, worker, &m);
}

/* ---- a node with all that is on it ---- */

static void tell_node_and_pods(struct cache *c, uint32_t worker, const struct cached_node *n)
{
    tell_node(c, worker, n);
    if (n->storage_printed != 0)
        tell_storage(c, worker, n);
    for (const struct cached_pod *p = n->first; p != NULL; p = p->behind)
        if (!p->hidden)
            tell_pod(c, worker, p);
    nominator_each_on(c->nominator, n->name, tell_claim, &(struct told){c, worker});
}

static void tell_node_gone(struct cache *c, uint32_t worker, struct str name)
{
    const struct message m = {.type = MSG_shard_node_gone, .shard_node_gone = {.name = name}};
    cache_tell(c, worker, &m);
}

void cache_tell_lost(struct cache *c, struct cached_node *n, uint32_t worker)
{
    set_owed(c, n, worker, false);
    tell_node_gone(c, worker, n->name);
}

void cache_tell_given(struct cache *c, struct cached_node *n, uint32_t worker)
{
    if (has_room(c, worker))
        tell_node_and_pods(c, worker, n);
    else
        set_owed(c, n, worker, true);
}

void cache_tell_moved(void *context, const struct share_move *move)
{
    struct cache *c = context;
    struct cached_node *n = of_share_link(move->link);
    if (move->had)
        cache_tell_lost(c, n, move->from);
    n->owed = false; /* an owner that is no more is owed nothing */
    if (move->has)
        cache_tell_given(c, n, move->to);
}

/* What it may have of the node is out of date. */
static void pay(struct cache *c, struct cached_node *n, uint32_t worker)
{
    cache_tell_lost(c, n, worker);
    tell_node_and_pods(c, worker, n);
}

static void catch_up(struct cache *c, struct pace *pace)
{
    uint32_t count;
    struct share_link *const *links = shares_links(c->shares, pace->worker, &count);
    while (pace->owed > 0 && has_room(c, pace->worker)) {
        must(count > 0);
        pace->cursor = pace->cursor + 1 < count ? pace->cursor + 1 : 0;
        struct cached_node *n = of_share_link(links[pace->cursor]);
        if (n->owed)
            pay(c, n, pace->worker);
    }
}

void cache_catch_up(struct cache *c)
{
    for (uint32_t i = 0; c->paces.owed > 0 && i < c->paces.count; i++)
        catch_up(c, &c->paces.at[i]);
}

uint32_t cache_owed(const struct cache *c)
{
    return c->paces.owed;
}

void cache_worker_took(struct cache *c, uint32_t worker, int64_t count)
{
    pace_taken(&c->paces, worker, count);
}

/* ---- from the beginning ---- */

static void tell_images(void *context, const struct message *m)
{
    const struct told *to = context;
    cache_tell(to->cache, to->worker, m);
}

static void tell_reset(struct cache *c, uint32_t worker)
{
    struct message m = {.type = MSG_shard_reset};
    m.shard_reset.profiles.count = c->options.profile_count;
    m.shard_reset.profiles.at = (struct profile *)c->options.profiles; /* only read */
    m.shard_reset.generation = c->options.generation;
    m.shard_reset.hash = c->options.hash;
    cache_tell(c, worker, &m);
    struct told to = {c, worker};
    image_states_tell(c->images, true, cache_nodes(c), tell_images, &to);
}

/* It knows nothing any more. */
static void forget_debts(struct cache *c, uint32_t worker)
{
    uint32_t count;
    struct share_link *const *links = shares_links(c->shares, worker, &count);
    for (uint32_t i = 0; i < count; i++)
        set_owed(c, of_share_link(links[i]), worker, false);
}

void cache_tell_start(struct cache *c, uint32_t worker, bool counts)
{
    forget_debts(c, worker);
    pace_open(&c->paces, worker, counts);
    tell_reset(c, worker);
}
