/* entry: memory and order of pending pods. A pod waits encoded, a fifth of its size, and is decoded
 * while an attempt or an event looks at it. What must stay true: an entry is freed only when no
 * place holds it; what is opened is what is kept. */
#include "queue/entry.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

/* Most pods are a few hundred bytes. */
#define POD_MEMORY ((struct arena){.first = 1024})

struct opened {
    struct pod pod; /* borrows from memory */
    struct arena memory;
};

static void keep(struct entry *e, const struct pod *pod)
{
    e->kept = store_put(e->store, pod);
    e->kept->version = pod->resource_version;
    e->priority = pod->priority;
    e->deleting = pod->deleting;
    e->has_gates = pod->gates.count > 0;
    e->has_device_claims = pod->device_claims.count > 0;
    e->has_gang = pod->gang.len > 0;
    e->on_node = pod->node_name.len > 0;
    e->alone = pod->resize_deferred || pod->device_claims.count > 0 ||
               pod->resource_claims.count > 0 || pod->gang.len > 0 || pod->nominated_node.len > 0;
    e->similar = pod->claims.count > 0 || pod->volumes.count > 0;
}

struct entry *entry_new(struct packed_store *store, const struct pod *pod)
{
    struct entry *e = memory_take(sizeof(*e));
    e->store = store;
    keep(e, pod);
    return e;
}

void entry_fold(struct entry *e)
{
    if (e->opened != NULL)
        arena_free(&e->opened->memory);
    memory_free(e->opened);
    e->opened = NULL;
}

const struct pod *entry_pod(struct entry *e)
{
    if (e->opened == NULL) {
        e->opened = memory_take(sizeof(*e->opened));
        e->opened->memory = POD_MEMORY;
        store_get(e->store, e->kept, &e->opened->pod, &e->opened->memory);
    }
    return &e->opened->pod;
}

void entry_free(struct entry **e)
{
    must((*e)->place == PLACE_nowhere);
    must((*e)->flight == NULL && (*e)->member == NULL && (*e)->equals == NULL);
    must((*e)->nominated == NULL && (*e)->held == NULL);
    entry_fold(*e);
    store_drop((*e)->store, (*e)->kept);
    memory_free(*e);
    *e = NULL;
}

void entry_replace(struct entry *e, const struct pod *pod)
{
    struct stored *former = e->kept;
    entry_fold(e);
    keep(e, pod);
    /* Not before: equals are known by where parts lie, and another part must not come to lie there.
     */
    store_drop(e->store, former);
}

bool entry_has_uid(const struct entry *e, struct str uid)
{
    return store_uuid_is(e->kept, TAG_pod_uid, uid);
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
