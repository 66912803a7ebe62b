/* share_nominated: a share's nominated pods. The one idea: the coordinator tells of each once, in
 * the stream, so that no request has to name them.
 *
 * What must stay true: each is nominated to a node that has a row, and holds its atoms, group,
 * demand and terms as a pod on a node does, but is in no list of theirs; the journal says of each
 * row whose nominated pods are others. */
#include "scheduler/worker/share.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

struct node_pod *share_nominated_find(const struct share *s, struct str uid)
{
    return table_get(&s->nominated_by_uid, node_pod_hash(uid), node_pod_has_uid, &uid);
}

static void drop(struct share *s, struct node_pod *p)
{
    must(p->place < s->nominated_count && s->nominated[p->place] == p);
    touched_nominate(&s->touched, p->node->row);
    s->nominated[p->place] = s->nominated[--s->nominated_count];
    s->nominated[p->place]->place = p->place;
    table_remove(&s->nominated_by_uid, p->hash, p);
    node_pod_free(s, p);
}

void share_nominated_gone(struct share *s, struct str uid)
{
    struct node_pod *p = share_nominated_find(s, uid);
    if (p != NULL)
        drop(s, p);
}

void share_nominated_set(struct share *s, const struct pod *pod)
{
    struct node_entry *e = map_get(s->by_name, pod->nominated_node);
    share_nominated_gone(s, pod->uid);
    if (e == NULL || e->row == NO_ROW)
        return;
    struct node_pod *p = node_pod_make(s, pod);
    if (s->nominated_count == s->nominated_room) {
        s->nominated_room = s->nominated_room == 0 ? 16 : s->nominated_room * 2;
        s->nominated = memory_resize(s->nominated, s->nominated_room * sizeof(struct node_pod *));
    }
    touched_nominate(&s->touched, e->row);
    p->node = e;
    p->place = s->nominated_count;
    s->nominated[s->nominated_count++] = p;
    table_add(&s->nominated_by_uid, p->hash, p);
}

void share_nominated_forget(struct share *s, const struct node_entry *e)
{
    for (uint32_t i = s->nominated_count; i > 0; i--)
        if (s->nominated[i - 1]->node == e)
            drop(s, s->nominated[i - 1]);
}

void share_nominated_free(struct share *s)
{
    must(s->nominated_count == 0);
    memory_free(s->nominated);
    table_free(&s->nominated_by_uid);
}
