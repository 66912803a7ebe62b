/* entry: memory and order of pending pods. One arena a pod, because pods come and go singly; what
 * must stay true: an entry is freed only when no place holds it. */
#include "queue/entry.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

/* Most pods are a few hundred bytes, and there may be a hundred thousand. */
#define POD_MEMORY ((struct arena){.first = 512})

struct entry *entry_new(const struct pod *pod)
{
    struct entry *e = memory_take(sizeof(*e));
    e->memory = POD_MEMORY;
    codec_copy(&pod_record, &e->pod, pod, &e->memory);
    return e;
}

void entry_free(struct entry **e)
{
    must((*e)->place == PLACE_nowhere);
    must((*e)->flight == NULL);
    arena_free(&(*e)->memory);
    memory_free((*e)->nominated);
    memory_free(*e);
    *e = NULL;
}

void entry_replace(struct entry *e, const struct pod *pod, struct arena *old_memory)
{
    *old_memory = e->memory;
    e->memory = POD_MEMORY;
    codec_copy(&pod_record, &e->pod, pod, &e->memory);
}

bool entry_before(const struct entry *a, const struct entry *b)
{
    if (a->pod.priority != b->pod.priority)
        return a->pod.priority > b->pod.priority;
    if (a->timestamp.ns != b->timestamp.ns)
        return a->timestamp.ns < b->timestamp.ns;
    return a->order < b->order;
}

void entry_list_add(struct entry_list *list, struct entry *e)
{
    must(e->next == NULL && e->prev == NULL && list->first != e);
    e->prev = list->last;
    if (list->last != NULL)
        list->last->next = e;
    else
        list->first = e;
    list->last = e;
    list->count++;
}

void entry_list_remove(struct entry_list *list, struct entry *e)
{
    must(list->count > 0);
    if (e->prev != NULL)
        e->prev->next = e->next;
    else
        list->first = e->next;
    if (e->next != NULL)
        e->next->prev = e->prev;
    else
        list->last = e->prev;
    e->next = e->prev = NULL;
    list->count--;
}
