/* cache_workers: who the workers are, what all of them have to know, and which nodes each has. What
 * must stay true: with any worker, every node that is known is in exactly one share. */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/cluster/cache_inside.h"

#include <stddef.h>

/* ---- the order of nodes ---- */

static void build_order(struct cache *c)
{
    c->order = memory_resize(c->order, (node_tree_count(c->tree) + 1) * sizeof(struct tree_link *));
    node_tree_order(c->tree, c->order);
}

static struct cached_node *of_tree_link(struct tree_link *link)
{
    return (struct cached_node *)((char *)link - offsetof(struct cached_node, tree));
}

/* The first worker gets what nobody has, in the tree's order, so that every later share has nodes
 * of all zones. */
static void give_unowned(struct cache *c)
{
    build_order(c);
    for (uint32_t i = 0; i < node_tree_count(c->tree); i++) {
        struct cached_node *n = of_tree_link(c->order[i]);
        if (n->share.share == NULL)
            shares_give(c->shares, &n->share);
    }
}

struct str cache_node_at(struct cache *c, uint32_t i)
{
    must(i < node_tree_count(c->tree));
    if (i == 0)
        build_order(c);
    return of_tree_link(c->order[i])->name;
}

void cache_walk(struct cache *c)
{
    if (!c->walk_changed)
        return;
    build_order(c);
    for (uint32_t i = 0; i < node_tree_count(c->tree); i++)
        of_tree_link(c->order[i])->place = i;
    c->walk_changed = false;
}

/* ---- coming and going ---- */

void cache_workers_profiles(struct cache *c, const struct cache_options *options)
{
    struct profile *copies =
        arena_take(&c->profiles, options->profile_count * sizeof(struct profile));
    for (uint32_t i = 0; i < options->profile_count; i++)
        codec_copy(&profile_record, &copies[i], &options->profiles[i], &c->profiles);
    c->options.profiles = copies;
    c->options.profile_count = options->profile_count;
    c->options.generation = options->generation;
    c->options.hash = options->hash;
}

/* Its share, as a whole. */
static void tell_share(struct cache *c, uint32_t worker)
{
    uint32_t count;
    struct share_link *const *links = shares_links(c->shares, worker, &count);
    for (uint32_t i = 0; i < count; i++)
        cache_tell_given(c, of_share_link(links[i]), worker);
}

static void join(struct cache *c, uint32_t worker, int64_t capacity, bool counts)
{
    cache_tell_start(c, worker, counts);
    if (!shares_join(c->shares, worker, capacity))
        tell_share(c, worker);
    else if (shares_count(c->shares) == 1)
        give_unowned(c);
}

void cache_reconfigure(struct cache *c, const struct cache_options *options)
{
    arena_reset(&c->profiles);
    cache_workers_profiles(c, options);
    cache_gangs_begin(c);
    for (uint32_t i = 0; i < shares_count(c->shares); i++) {
        uint32_t worker = shares_worker(c->shares, i);
        const struct pace *pace = pace_of(&c->paces, worker);
        cache_tell_start(c, worker, pace != NULL && pace->counts);
        tell_share(c, worker);
    }
}

void cache_worker_join(struct cache *c, uint32_t worker, int64_t capacity)
{
    join(c, worker, capacity, false);
}

void cache_worker_join_paced(struct cache *c, uint32_t worker, int64_t capacity)
{
    join(c, worker, capacity, true);
}

void cache_worker_leave(struct cache *c, uint32_t worker)
{
    pace_close(&c->paces, worker);
    shares_leave(c->shares, worker);
}

uint32_t cache_workers(const struct cache *c)
{
    return shares_count(c->shares);
}

uint32_t cache_worker(const struct cache *c, uint32_t i)
{
    return shares_worker(c->shares, i);
}

uint32_t cache_worker_nodes(const struct cache *c, uint32_t i)
{
    return shares_size(c->shares, i);
}

static void tell_images_to_all(void *context, const struct message *m)
{
    struct cache *c = context;
    for (uint32_t i = 0; i < shares_count(c->shares); i++)
        cache_tell(c, shares_worker(c->shares, i), m);
}

void cache_flush(struct cache *c)
{
    if (c->volumes_may_differ)
        nominator_tell_volumes(c->nominator);
    c->volumes_may_differ = false;
    if (!c->count_changed && !image_states_changed(c->images))
        return;
    image_states_tell(c->images, false, cache_nodes(c), tell_images_to_all, c);
    c->count_changed = false;
}
