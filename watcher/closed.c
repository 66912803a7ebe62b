/* closed: a table of the pods that cannot be understood, which is nearly always empty. The one
 * idea: a node is closed in its record, by means that every rule knows: a taint, which says why in
 * the words of the API, and no room for pods, because some tolerate every taint. What must stay
 * true: opening gives back exactly what closing has changed. */
#include "watcher/closed.h"
#include "proto/base/memory.h"
#include "proto/base/table.h"

#include <string.h>

#define TAINT "berth/unreadable-object"
#define ROOM  "pods"
#define KEPT  "berth/pods" /* how many there may be when it is open; no rule knows the name */

struct entry {
    struct str uid, node; /* of its own; node empty: it is pending */
};

struct closed {
    struct table pods;
    struct entry last; /* what was dropped last, whose node the caller may still look at */
};

struct closed *closed_new(void)
{
    return memory_take(sizeof(struct closed));
}

static void entry_free(struct entry *e)
{
    str_drop(&e->uid);
    str_drop(&e->node);
    memory_free(e);
}

void closed_free(struct closed **closed)
{
    struct closed *c = *closed;
    if (c == NULL)
        return;
    size_t at = 0;
    void *entry;
    while ((entry = table_next(&c->pods, &at)) != NULL)
        entry_free(entry);
    table_free(&c->pods);
    str_drop(&c->last.node);
    memory_free(c);
    *closed = NULL;
}

static bool has_uid(const void *thing, const void *key)
{
    return str_equal(((const struct entry *)thing)->uid, *(const struct str *)key);
}

static uint32_t hash_of(struct str uid)
{
    return table_hash(str_hash(uid));
}

uint32_t closed_pods(const struct closed *closed, struct str node)
{
    uint32_t count = 0;
    size_t at = 0;
    const struct entry *e;
    while ((e = table_next(&closed->pods, &at)) != NULL)
        count += node.len > 0 && str_equal(e->node, node);
    return count;
}

uint32_t closed_count(const struct closed *closed)
{
    return (uint32_t)closed->pods.count;
}

/* The node that is open again, or nothing. */
static struct str drop(struct closed *c, struct entry *e)
{
    table_remove(&c->pods, hash_of(e->uid), e);
    str_drop(&c->last.node);
    c->last.node = str_keep(e->node);
    entry_free(e);
    struct str node = c->last.node;
    return closed_pods(c, node) == 0 ? node : (struct str){NULL, 0};
}

static struct str add(struct closed *c, const struct pod *pod)
{
    struct entry *e = memory_take(sizeof(*e));
    bool first = closed_pods(c, pod->node_name) == 0;
    *e = (struct entry){str_keep(pod->uid), str_keep(pod->node_name)};
    table_add(&c->pods, hash_of(e->uid), e);
    return first ? e->node : (struct str){NULL, 0};
}

bool closed_told(struct closed *closed, const struct message *what, struct str changed[2])
{
    bool set = what->type == MSG_pod_set;
    const struct pod *pod = &what->pod_set.pod;
    struct str uid = set ? pod->uid : what->pod_gone.uid;
    bool unreadable = set && pod->unreadable.len > 0;
    changed[0] = changed[1] = (struct str){NULL, 0};
    if (closed->pods.count == 0 && !unreadable)
        return false;
    struct entry *e = table_get(&closed->pods, hash_of(uid), has_uid, &uid);
    bool same = e != NULL && unreadable && str_equal(e->node, pod->node_name);
    if (e != NULL && !same)
        changed[0] = drop(closed, e);
    if (unreadable && !same)
        changed[1] = add(closed, pod);
    return changed[0].len > 0 || changed[1].len > 0;
}

/* ---- records ---- */

static bool is_closed(const struct node *node)
{
    for (uint32_t i = 0; i < node->taints.count; i++)
        if (str_is(node->taints.at[i].key, TAINT))
            return true;
    return false;
}

static void rename_amount(struct node *node, const char *from, const char *to, struct arena *a)
{
    uint32_t count = node->allocatable.count;
    struct quantity *list = arena_take(a, count * sizeof(*list));
    if (list == NULL || count == 0)
        return;
    memcpy(list, node->allocatable.at, count * sizeof(*list));
    for (uint32_t i = 0; i < count; i++)
        if (str_is(list[i].name, from))
            list[i].name = str_of(to);
    node->allocatable.at = list;
}

void closed_close(struct node *node, struct arena *a)
{
    uint32_t count = node->taints.count;
    if (is_closed(node))
        return;
    struct taint *taints = arena_take(a, (count + (size_t)1) * sizeof(*taints));
    if (taints == NULL)
        return;
    if (count > 0)
        memcpy(taints, node->taints.at, count * sizeof(*taints));
    taints[count] = (struct taint){.key = STR_LITERAL(TAINT), .effect = STR_LITERAL("NoSchedule")};
    node->taints.at = taints;
    node->taints.count++;
    rename_amount(node, ROOM, KEPT, a);
}

void closed_open(struct node *node, struct arena *a)
{
    uint32_t kept = 0;
    if (!is_closed(node))
        return;
    struct taint *taints = arena_take(a, node->taints.count * sizeof(*taints));
    if (taints == NULL)
        return;
    for (uint32_t i = 0; i < node->taints.count; i++)
        if (!str_is(node->taints.at[i].key, TAINT))
            taints[kept++] = node->taints.at[i];
    node->taints.at = taints;
    node->taints.count = kept;
    rename_amount(node, KEPT, ROOM, a);
}
