/* NodePreferAvoidPods, of the old Policy: a node may ask, by the annotation
 * scheduler.alpha.kubernetes.io/preferAvoidPods, to be spared the pods of certain replication
 * controllers and replica sets; it then gets 0 instead of 100, with a weight (10000 by default)
 * that beats everything else. Today a PreferNoSchedule taint on the node says so. */
#include "scheduler/rules/plugin.h"

struct owner_atoms {
    uint32_t kind, uid;
};

/* NULL: no node can ask to be spared this pod. */
static void *score_begin(const struct cycle *c)
{
    const struct pod *pod = c->pod;
    if (!str_is(pod->owner_kind, "ReplicationController") && !str_is(pod->owner_kind, "ReplicaSet"))
        return NULL;
    struct owner_atoms *o = arena_take(c->arena, sizeof(*o));
    *o = (struct owner_atoms){atom_find(c->atoms, pod->owner_kind),
                              atom_find(c->atoms, pod->owner_uid)};
    return o->kind == 0 || o->uid == 0 ? NULL : o;
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    (void)c;
    const struct owner_atoms *o = state;
    const struct node_entry *node = n->entry[row];
    for (uint32_t i = 0; o != NULL && i < node->avoided_count; i++)
        if (node->avoided[i].key == o->kind && node->avoided[i].value == o->uid)
            return 0;
    return SCORE_MAX;
}

const struct plugin plugin_node_prefer_avoid_pods = {
    .name = "NodePreferAvoidPods",
    .score_begin = score_begin,
    .score = score,
    .by_row = true,
};
