/* nominated: the pods nominated to nodes of the share, as one request sees them. The one idea:
 * which of them count follows from the request's pod.
 *
 * What must stay true: scratch.first is zero for all rows unless an evaluation has entered them. */
#include "scheduler/worker/shard_inside.h"

/* Who counts for no one else than others: the pod itself, and its siblings. */
struct question {
    const struct map_request *request;
    uint32_t hash; /* of the pod's UID */
};

static struct question question_of(const struct map_request *r)
{
    return (struct question){r, node_pod_hash(r->pod.uid)};
}

static bool counts(const struct question *q, const struct node_pod *p)
{
    const struct map_request *r = q->request;
    if (p->demand->priority < r->pod.priority ||
        (p->hash == q->hash && node_pod_has_uid(p, &r->pod.uid)))
        return false;
    for (uint32_t i = 0; i < r->siblings.count; i++)
        if (node_pod_has_uid(p, &r->siblings.at[i]))
            return false;
    return true;
}

bool nominated_count_for(const struct share *s, const struct map_request *r)
{
    const struct question q = question_of(r);
    for (uint32_t i = 0; i < s->nominated_count; i++)
        if (counts(&q, s->nominated[i]))
            return true;
    return false;
}

void nominated_enter(struct evaluation *e)
{
    struct scratch *scratch = &e->shard->scratch;
    const struct share *s = &e->shard->share;
    const struct question q = question_of(e->request);
    e->nominated = arena_take(&scratch->arena, s->nominated_count * sizeof(struct node_pod *));
    e->next = arena_take(&scratch->arena, s->nominated_count * sizeof(*e->next));
    for (uint32_t i = 0; i < s->nominated_count; i++) {
        struct node_pod *p = s->nominated[i];
        if (!counts(&q, p))
            continue;
        uint32_t k = e->nominated_count++;
        e->nominated[k] = p;
        e->next[k] = scratch->first[p->node->row];
        scratch->first[p->node->row] = k + 1;
    }
}

void nominated_leave(const struct evaluation *e)
{
    for (uint32_t i = 0; i < e->nominated_count; i++)
        e->shard->scratch.first[e->nominated[i]->node->row] = 0;
}
