/* shard_held: what a share holds, to be compared. What must stay true: nodes without a row, which
 * are known by their pods alone, do not count, nor do these pods: nothing is decided with them.
 */
#include "scheduler/worker/shard_inside.h"

void shard_each_node(const struct shard *s,
                     void (*visit)(void *context, const struct shard_held *what), void *context)
{
    size_t at = 0;
    struct str name;
    void *value;
    while (map_next(s->share.by_name, &at, &name, &value))
        if (((const struct node_entry *)value)->row != NO_ROW)
            visit(context, &(struct shard_held){.name = name});
}

void shard_each_pod(const struct shard *s,
                    void (*visit)(void *context, const struct shard_held *what), void *context)
{
    struct arena a = {0};
    size_t at = 0;
    struct str node;
    void *value;
    while (map_next(s->share.by_name, &at, &node, &value)) {
        const struct node_entry *e = value;
        for (uint32_t i = 0; e->row != NO_ROW && i < e->pod_count; i++)
            visit(context, &(struct shard_held){.name = node_pod_name(e->pods[i]),
                                                .uid = node_pod_uid(e->pods[i], &a),
                                                .node = node});
        arena_reset(&a);
    }
    arena_free(&a);
}
