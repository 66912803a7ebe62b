/* names: a part is full at PART_MAX names; what is left goes with the last one. The one idea: notes
 * stand in the stream between changes, so a receiver compares with exactly what it was told. What
 * must stay true: the last part is always sent, even an empty one, because receivers wait for it.
 */
#include "watcher/names.h"

#include "proto/base/memory.h"

#define PART_MAX 2000

struct part {
    struct publisher *publisher;
    struct names names;
    struct arena memory;
};

static void send(struct part *p, bool last)
{
    struct message m = {.type = MSG_names, .names = p->names};
    m.names.last = last;
    publisher_note(p->publisher, &m);
    p->names.part++;
    p->names.nodes.count = p->names.pods.count = 0;
    arena_reset(&p->memory);
}

static void visit(void *context, const struct message *last)
{
    struct part *p = context;
    if (p->names.nodes.count == PART_MAX || p->names.pods.count == PART_MAX)
        send(p, false);
    if (last->type == MSG_node_set)
        p->names.nodes.at[p->names.nodes.count++] =
            arena_copy(&p->memory, last->node_set.node.name);
    if (last->type != MSG_pod_set)
        return;
    const struct pod *pod = &last->pod_set.pod;
    bool assigned = pod->node_name.len > 0;
    struct str nobody = {NULL, 0};
    p->names.pods.at[p->names.pods.count++] = (struct named_pod){
        .uid = arena_copy(&p->memory, pod->uid),
        .assigned = assigned,
        .scheduler_name = assigned ? nobody : arena_copy(&p->memory, pod->scheduler_name)};
}

void names_publish(struct publisher *publisher, const struct mirror *nodes,
                   const struct mirror *pods, int64_t id)
{
    struct part p = {.publisher = publisher, .names = {.id = id, .part = 1}};
    p.names.nodes.at = memory_take_array(PART_MAX, sizeof(*p.names.nodes.at));
    p.names.pods.at = memory_take_array(PART_MAX, sizeof(*p.names.pods.at));
    if (nodes != NULL)
        mirror_each(nodes, visit, &p);
    if (pods != NULL)
        mirror_each(pods, visit, &p);
    send(&p, true);
    memory_free(p.names.nodes.at);
    memory_free(p.names.pods.at);
    arena_free(&p.memory);
}
