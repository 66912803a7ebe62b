/* nominated: a share's nominated pods. The one idea: the coordinator tells of each once, in the
 * stream, so that no request has to name them; which of them count follows from the request's pod.
 *
 * What must stay true: each is nominated to a node that has a row, and holds its atoms, group,
 * demand and terms as a pod on a node does, but is in no list of theirs; scratch.first is zero for
 * all rows unless an evaluation has entered them. */
#include "scheduler/worker/shard_inside.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

struct node_pod *nominated_find(const struct shard *s, struct str uid)
{
    return table_get(&s->nominated_by_uid, node_pod_hash(uid), node_pod_has_uid, &uid);
}

/* Whatever is kept of the row was found out with others nominated to it. */
static void forget_row(struct shard *s, uint32_t row)
{
    dry_looks_forget_row(s, row);
    classes_forget_row(s->classes, row);
}

static void drop(struct shard *s, struct node_pod *p)
{
    must(p->place < s->nominated_count && s->nominated[p->place] == p);
    forget_row(s, p->node->row);
    s->nominated[p->place] = s->nominated[--s->nominated_count];
    s->nominated[p->place]->place = p->place;
    table_remove(&s->nominated_by_uid, p->hash, p);
    node_pod_free(s, p);
}

void shard_nominated_gone(struct shard *s, struct str uid)
{
    struct node_pod *p = nominated_find(s, uid);
    if (p != NULL)
        drop(s, p);
}

void shard_nominated(struct shard *s, const struct pod *pod)
{
    struct node_entry *e = map_get(s->by_name, pod->nominated_node);
    shard_nominated_gone(s, pod->uid);
    if (e == NULL || e->row == NO_ROW)
        return;
    struct node_pod *p = node_pod_make(s, pod);
    if (s->nominated_count == s->nominated_room) {
        s->nominated_room = s->nominated_room == 0 ? 16 : s->nominated_room * 2;
        s->nominated = memory_resize(s->nominated, s->nominated_room * sizeof(struct node_pod *));
    }
    forget_row(s, e->row);
    p->node = e;
    p->place = s->nominated_count;
    s->nominated[s->nominated_count++] = p;
    table_add(&s->nominated_by_uid, p->hash, p);
}

void nominated_forget(struct shard *s, const struct node_entry *e)
{
    for (uint32_t i = s->nominated_count; i > 0; i--)
        if (s->nominated[i - 1]->node == e)
            drop(s, s->nominated[i - 1]);
}

void nominated_free(struct shard *s)
{
    must(s->nominated_count == 0);
    memory_free(s->nominated);
    table_free(&s->nominated_by_uid);
}

uint32_t shard_nominations(const struct shard *s)
{
    return s->nominated_count;
}

/* ---- for one request ---- */

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

bool nominated_count_for(const struct shard *s, const struct map_request *r)
{
    const struct question q = question_of(r);
    for (uint32_t i = 0; i < s->nominated_count; i++)
        if (counts(&q, s->nominated[i]))
            return true;
    return false;
}

void nominated_enter(struct evaluation *e)
{
    struct shard *s = e->shard;
    const struct question q = question_of(e->request);
    e->nominated = arena_take(&s->scratch.arena, s->nominated_count * sizeof(struct node_pod *));
    e->next = arena_take(&s->scratch.arena, s->nominated_count * sizeof(*e->next));
    for (uint32_t i = 0; i < s->nominated_count; i++) {
        struct node_pod *p = s->nominated[i];
        if (!counts(&q, p))
            continue;
        uint32_t k = e->nominated_count++;
        e->nominated[k] = p;
        e->next[k] = s->scratch.first[p->node->row];
        s->scratch.first[p->node->row] = k + 1;
    }
}

void nominated_leave(const struct evaluation *e)
{
    for (uint32_t i = 0; i < e->nominated_count; i++)
        e->shard->scratch.first[e->nominated[i]->node->row] = 0;
}
