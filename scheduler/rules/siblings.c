/* siblings: selectors are looked up once, in the coordinator, and matched against the pods of each
 * node by the workers. What must stay true: services stand before the controller in
 * findings.owners, sorted by name, so that "the first service" is the same on every worker. */
#include "scheduler/rules/siblings.h"

#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/catalog.h"
#include "scheduler/table/label_matcher.h"
#include "scheduler/table/pod_groups.h"

#include <stdlib.h>

static int by_name(const void *a, const void *b)
{
    const struct owner *x = *(const struct owner *const *)a, *y = *(const struct owner *const *)b;
    return str_compare(x->name, y->name);
}

/* Services without a selector select nothing. */
static bool selects(const struct owner *service, const struct pod *pod)
{
    return service->selector.labels.count > 0 &&
           label_selector_matches(&service->selector, pod->labels.at, pod->labels.count);
}

static uint32_t find_services(const struct pre_filter_question *q, const struct owner **at)
{
    uint32_t count = 0;
    size_t next = 0;
    const struct owner *o;
    while ((o = catalog_next_service(q->catalog, q->pod->namespace_name, &next)) != NULL) {
        if (!selects(o, q->pod))
            continue;
        if (at != NULL)
            at[count] = o;
        count++;
    }
    return count;
}

static const struct owner *find_controller(const struct pre_filter_question *q)
{
    static const struct {
        const char *kind;
        enum catalog_kind as;
    } kinds[] = {{"ReplicationController", CATALOG_replication_controller},
                 {"ReplicaSet", CATALOG_replica_set},
                 {"StatefulSet", CATALOG_stateful_set}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (str_is(q->pod->owner_kind, kinds[i].kind))
            return catalog_owner(q->catalog, kinds[i].as, q->pod->namespace_name,
                                 q->pod->owner_name);
    return NULL;
}

void siblings_prepare(const struct pre_filter_question *q)
{
    struct findings *b = q->findings;
    if (q->catalog == NULL || b->owners.count > 0)
        return; /* another rule has done it */
    uint32_t services = find_services(q, NULL);
    const struct owner **found = arena_take(q->arena, services * sizeof(struct owner *));
    const struct owner *controller = find_controller(q);
    find_services(q, found);
    qsort(found, services, sizeof(struct owner *), by_name);
    b->owners.at = arena_take(q->arena, (services + 1) * sizeof(*b->owners.at));
    for (uint32_t i = 0; i < services; i++)
        b->owners.at[b->owners.count++] = found[i]->selector;
    if (controller != NULL)
        b->owners.at[b->owners.count++] = controller->selector;
    b->services = services;
}

struct siblings {
    uint32_t namespace_name; /* atom */
    uint32_t count;
    struct label_matcher **at;
};

struct siblings *siblings_make(const struct cycle *c, enum sibling_scope scope)
{
    struct siblings *s = arena_take(c->arena, sizeof(*s));
    uint32_t services = (uint32_t)c->findings->services;
    s->namespace_name = atom_find(c->atoms, c->pod->namespace_name);
    s->count = c->findings->owners.count;
    if (scope != SIBLINGS_of_all && services < s->count)
        s->count = services;
    if (scope == SIBLINGS_of_first_service && s->count > 1)
        s->count = 1;
    s->at = arena_take(c->arena, s->count * sizeof(struct label_matcher *));
    for (uint32_t i = 0; i < s->count; i++)
        s->at[i] = label_matcher_find(c->atoms, &c->findings->owners.at[i], c->arena);
    return s;
}

static bool is_sibling(const struct siblings *s, const struct node_pod *pod)
{
    if (pod->group->namespace_name != s->namespace_name || pod->deleting)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        if (!label_matcher_matches(s->at[i], pod->group->labels, pod->group->label_count))
            return false;
    return true;
}

int64_t siblings_on(const struct siblings *s, const struct node_entry *node)
{
    int64_t count = 0;
    for (uint32_t i = 0; s->count > 0 && i < node->pod_count; i++)
        count += is_sibling(s, node->pods[i]);
    return count;
}
