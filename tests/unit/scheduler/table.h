/* table: the nodes of a test's cluster dealt to three shards, and the merge of what they answer: a
 * coordinator and its workers without a bus between them. */
#ifndef TESTS_SCHEDULER_TABLE_H
#define TESTS_SCHEDULER_TABLE_H

#include "tests/unit/scheduler/cluster.h"

enum { SHARDS = 3 };

/* The cluster's nodes, dealt to three shards by the test. */
struct table {
    struct cluster *c;
    struct frameworks frameworks;
    struct shard *shards[SHARDS];
    struct reduce *reduce;
    struct reduce_start start;
    int64_t nodes;
    int rounds;
};

static inline struct table *table_new(struct cluster *c)
{
    struct table *t = arena_take(&c->arena, sizeof(*t));
    t->c = c;
    frameworks_build(&t->frameworks, &c->profile, 1);
    for (int i = 0; i < SHARDS; i++) {
        t->shards[i] = shard_new();
        shard_reset(t->shards[i], &c->profile, 1);
    }
    t->reduce = reduce_new();
    return t;
}

static inline void table_free(struct table *t)
{
    for (int i = 0; i < SHARDS; i++)
        shard_free(&t->shards[i]);
    reduce_free(&t->reduce);
    frameworks_clear(&t->frameworks);
}

static inline void deal(struct table *t, int shard, const struct node *n)
{
    shard_node_set(t->shards[shard], n);
    t->nodes++;
}

static inline enum reduce_step ask_all(struct table *t)
{
    enum reduce_step step = REDUCE_wait;
    bool asked[SHARDS];
    for (uint32_t i = 0; i < SHARDS; i++)
        asked[i] = reduce_asks(t->reduce, i);
    t->rounds++;
    for (uint32_t i = 0; i < SHARDS; i++) {
        struct map_result r;
        if (!asked[i])
            continue;
        shard_map(t->shards[i], reduce_request(t->reduce), &r, &t->c->arena);
        step = reduce_add(t->reduce, i, &r);
    }
    return step;
}

static inline const struct decision *decide(struct table *t, const struct pod *p)
{
    struct reduce_start start = t->start;
    start.catalog = t->c->catalog;
    start.no_terms = true;
    start.cycle++;
    start.framework = &t->frameworks.at[0];
    start.pod = p;
    start.shards = SHARDS;
    start.nodes = t->nodes;
    t->rounds = 0;
    enum reduce_step step = reduce_start(t->reduce, &start);
    while (step == REDUCE_ask)
        step = ask_all(t);
    assert_int_equal(step, REDUCE_done);
    return reduce_decision(t->reduce);
}

#endif
