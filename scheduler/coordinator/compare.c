/* compare: the cache beside what the watcher holds, for whoever sends SIGUSR2, in the words of
 * kube-scheduler's cache comparer; and what the cache holds, for whoever compares it himself. Pods
 * that wait are the queue's, which compares them itself. What must stay true: it only reads, and
 * both are of the same place in the stream. */
#include "proto/base/log.h"
#include "proto/bus/holdings.h"
#include "scheduler/coordinator/coordination.h"

struct comparison {
    struct coordinator *c;
    struct mismatch pods;
};

void compare_want(struct coordinator *c)
{
    c->compare.wanted = true;
}

void compare_free(struct coordinator *c)
{
    comparer_clear(&c->compare.told);
}

void compare_ask(struct coordinator *c)
{
    if (!c->compare.wanted)
        return;
    c->compare.wanted = false;
    if (c->watcher.peer == 0) {
        log_warn("Cache comparer: there is no watcher to compare with");
        return;
    }
    log_debug("Cache comparer started");
    struct message m = {.type = MSG_names_request,
                        .names_request = {.id = (int64_t)(random_next(&c->random) >> 1) + 1}};
    outbox_put(c->out, c->watcher, &m);
}

/* A pod that the cache holds, assumed or not, must be there. */
static void see_pod(void *context, const struct pod *pod, bool assumed)
{
    struct comparison *k = context;
    (void)assumed;
    if (map_get(k->c->compare.told.pods, pod->uid) == NULL)
        mismatch_redundant(&k->pods, pod->uid);
}

static void compare(struct coordinator *c)
{
    struct comparison k = {.c = c};
    struct mismatch nodes = {0};
    struct str name, at_node;
    size_t at = 0;
    void *value;
    while (map_next(c->compare.told.nodes, &at, &name, &value))
        if (!cache_has_node(c->cache, name))
            mismatch_missed(&nodes, name);
    for (uint32_t i = 0; i < cache_nodes(c->cache); i++) {
        name = cache_node_at(c->cache, i);
        if (map_get(c->compare.told.nodes, name) == NULL)
            mismatch_redundant(&nodes, name);
        cache_each_pod(c->cache, name, see_pod, &k);
    }
    for (at = 0; map_next(c->compare.told.pods, &at, &name, &value);)
        if (((const struct name_told *)value)->assigned &&
            cache_pod(c->cache, name, &at_node) == CACHE_absent)
            mismatch_missed(&k.pods, name);
    mismatch_log(&nodes, "Nodes");
    mismatch_log(&k.pods, "Pods");
    log_info("Cache comparer finished| nodes=%zu pods=%zu", map_count(c->compare.told.nodes),
             map_count(c->compare.told.pods));
}

void compare_take(struct coordinator *c, const struct names *said)
{
    if (!comparer_take(&c->compare.told, said))
        return;
    compare(c);
    comparer_clear(&c->compare.told);
}

/* ---- for berth compare ---- */

static void hold(void *context, const struct cache_held *what)
{
    struct holder *h = context;
    if (!what->assumed)
        holder_add(h, &(struct held_thing){what->name, what->uid, what->version, what->node});
}

/* Workers keep no versions. */
static void hold_shared(void *context, const struct cache_held *what)
{
    struct holder *h = context;
    if (what->shared)
        holder_add(h, &(struct held_thing){what->name, what->uid, 0, what->node});
}

void compare_tell(struct coordinator *c, struct moment now, const struct delivery *in)
{
    struct holder h;
    (void)now;
    holder_begin(&h, in, c->out);
    h.said.whole = c->stream.synced && !c->stream.in_snapshot && cache_owed(c->cache) == 0;
    h.said.epoch = c->stream.epoch;
    h.said.sequence = c->stream.sequence;
    holder_set(&h, STR_LITERAL("nodes"));
    cache_each_held_node(c->cache, hold, &h);
    holder_set(&h, STR_LITERAL("assigned"));
    cache_each_held_pod(c->cache, hold, &h);
    holder_set(&h, STR_LITERAL("share-nodes"));
    cache_each_held_node(c->cache, hold_shared, &h);
    holder_set(&h, STR_LITERAL("share-pods"));
    cache_each_held_pod(c->cache, hold_shared, &h);
    holder_end(&h);
}

/* As after a gap: what the snapshot does not hold is gone, what is assumed stays so. */
void compare_reread(struct coordinator *c, struct moment now, const struct delivery *in)
{
    (void)now;
    (void)in;
    log_info("a snapshot is asked for, as somebody wants what is held to be read anew");
    subscriber_again(&c->stream);
}
