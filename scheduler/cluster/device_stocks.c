/* device_stocks: for scores by extended resources: how many devices there are on each node of the
 * class that stands for one. The one idea: nodes to which devices make no difference have as many
 * as each other, and are not listed.
 *
 * What must stay true: a resource that the pod does not ask for, that the profile does not score by
 * or that no class stands for costs nothing. */
#include "scheduler/cluster/device_stocks.h"

#include "proto/base/memory.h"
#include "proto/kube/objects/selector.h"
#include "scheduler/devices/allocate.h"
#include "scheduler/table/resource.h"

static bool scores(const struct profile *profile, const char *plugin)
{
    for (uint32_t i = 0; i < profile->score.count; i++)
        if (str_is(profile->score.at[i].name, plugin))
            return true;
    return false;
}

static bool is_known(const struct findings *out, struct str resource)
{
    for (uint32_t i = 0; i < out->device_stocks.count; i++)
        if (str_equal(out->device_stocks.at[i].resource, resource))
            return true;
    return false;
}

static bool label(const void *context, struct str key, struct str *value)
{
    const struct node *node = context;
    return kube_label_find(node->labels.at, node->labels.count, key, value);
}

/* What is asked of each node. */
struct counting {
    const struct device_question *q;
    struct devices *store;
    struct str class;
    bool labels; /* have a say */
    bool known;  /* of nodes that do not differ: */
    struct dra_stock plain;
    struct arena scratch;
};

static bool differs(struct counting *k, struct str name, struct dra_stock *stock)
{
    struct node node = {.name = name};
    const struct dra_node asked = {.name = name, .label = label, .context = &node};
    arena_reset(&k->scratch);
    if (k->labels)
        (void)cache_node_get(k->q->cache, name, &node, &k->scratch);
    bool differs = devices_node_differs(k->store, &asked);
    if (differs && !k->labels)
        (void)cache_node_get(k->q->cache, name, &node, &k->scratch);
    if (differs || !k->known)
        *stock = devices_stock(k->store, k->q->features, k->class, &asked);
    if (!differs && !k->known) {
        k->plain = *stock;
        k->known = true;
    }
    return differs;
}

static void count(const struct device_question *q, struct device_stock *out, struct arena *a)
{
    uint32_t nodes = q->narrowed ? q->only.count : cache_nodes(q->cache);
    struct counting k = {.q = q,
                         .store = device_book_store(catalog_devices(q->catalog)),
                         .class = catalog_class_for(q->catalog, out->resource)};
    k.labels = devices_labels_matter(k.store);
    out->nodes.at = arena_take(a, nodes * sizeof(*out->nodes.at));
    for (uint32_t i = 0; i < nodes; i++) {
        struct str name = q->narrowed ? q->only.at[i] : cache_node_at(q->cache, i);
        struct dra_stock stock;
        if (differs(&k, name, &stock))
            out->nodes.at[out->nodes.count++] =
                (struct device_count){arena_copy(a, name), stock.there, stock.used};
    }
    out->there = k.plain.there;
    out->used = k.plain.used;
    arena_free(&k.scratch);
}

static void note(const struct device_question *q, const struct quantity *resources,
                 uint32_t count_of, struct findings *out, struct arena *a)
{
    for (uint32_t i = 0; i < count_of; i++) {
        struct str name = resources[i].name;
        if (resource_fixed(name) >= 0 || is_known(out, name) ||
            resource_amount(q->pod->request.at, q->pod->request.count, name) <= 0 ||
            catalog_class_for(q->catalog, name).len == 0)
            continue;
        struct device_stock *stock = &out->device_stocks.at[out->device_stocks.count++];
        *stock = (struct device_stock){.resource = arena_copy(a, name)};
        count(q, stock, a);
    }
}

void device_stocks(const struct device_question *q, const struct profile *profile,
                   struct findings *out, struct arena *a)
{
    uint32_t by_fit = scores(profile, "NodeResourcesFit") ? profile->fit_resources.count : 0;
    uint32_t by_balance =
        scores(profile, "NodeResourcesBalancedAllocation") ? profile->balanced_resources.count : 0;
    if (catalog_count(q->catalog, CATALOG_device_class) == 0)
        return;
    out->device_stocks.at = arena_take(a, (by_fit + by_balance) * sizeof(*out->device_stocks.at));
    note(q, profile->fit_resources.at, by_fit, out, a);
    note(q, profile->balanced_resources.at, by_balance, out, a);
}
