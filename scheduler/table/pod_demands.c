/* pod_demands: one record for each distinct demand, with its lists behind it in memory. The one
 * idea: a record is made whenever a pod comes, and given back at once if the same is known.
 *
 * What must stay true: the bytes that are compared have no holes, and a record holds its atoms as
 * long as it is known, so equal bytes are equal demands. */
#include "scheduler/table/pod_demands.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

/* Names are unique in what we send; whoever repeats one means its last amount. */
static void add_usage(struct pod_demand *d, struct atoms *atoms, const struct quantity *q)
{
    int fixed = resource_fixed(q->name);
    if (fixed >= 0)
        d->usage[fixed] = q->amount;
    if (fixed >= 0 || !resource_is_scalar(q->name))
        return;
    uint32_t resource = atom_take(atoms, q->name);
    for (uint32_t i = 0; i < d->scalar_count; i++)
        if (d->scalars[i].resource == resource) {
            d->scalars[i].requested = q->amount;
            atom_drop(atoms, resource);
            return;
        }
    /* Member by member: the hole between them stays zero. */
    d->scalars[d->scalar_count].resource = resource;
    d->scalars[d->scalar_count++].requested = q->amount;
}

static struct pod_demand *make(struct atoms *atoms, const struct pod *pod)
{
    uint32_t scalars = 0;
    for (uint32_t i = 0; i < pod->usage.count; i++)
        scalars += resource_is_scalar(pod->usage.at[i].name);
    size_t scalar_bytes = scalars * sizeof(struct scalar);
    size_t bytes = scalar_bytes + pod->ports.count * sizeof(struct host_socket);
    struct pod_demand *d = memory_take(sizeof(*d) + bytes);
    d->bytes = bytes;
    d->scalars = (struct scalar *)(d + 1);
    d->ports = (struct host_socket *)((char *)d->scalars + scalar_bytes);
    d->priority = pod->priority;
    for (uint32_t i = 0; i < pod->usage.count; i++)
        add_usage(d, atoms, &pod->usage.at[i]);
    d->scored[SCORED_cpu] = pod->usage_score_cpu;
    d->scored[SCORED_memory] = pod->usage_score_memory;
    d->port_count = pod->ports.count;
    for (uint32_t i = 0; i < d->port_count; i++)
        d->ports[i] = (struct host_socket){atom_take(atoms, pod->ports.at[i].ip),
                                           atom_take(atoms, pod->ports.at[i].protocol),
                                           pod->ports.at[i].port};
    return d;
}

static void forget(struct atoms *atoms, struct pod_demand *d)
{
    for (uint32_t i = 0; i < d->scalar_count; i++)
        atom_drop(atoms, d->scalars[i].resource);
    for (uint32_t i = 0; i < d->port_count; i++) {
        atom_drop(atoms, d->ports[i].ip);
        atom_drop(atoms, d->ports[i].protocol);
    }
    memory_free(d);
}

/* The numbers at its beginning and the lists are all there is to compare. */
#define NUMBERS offsetof(struct pod_demand, scalars)

static uint32_t hash_of(const struct pod_demand *d)
{
    uint64_t numbers = str_hash((struct str){(const char *)d, (uint32_t)NUMBERS});
    uint64_t lists = str_hash((struct str){(const char *)d->scalars, (uint32_t)d->bytes});
    return table_hash(numbers * 31 + lists);
}

static bool is_same(const void *thing, const void *key)
{
    const struct pod_demand *a = thing, *b = key;
    return a->bytes == b->bytes && memcmp(a, b, NUMBERS) == 0 &&
           memcmp(a->scalars, b->scalars, a->bytes) == 0;
}

struct pod_demand *pod_demand_take(struct pod_demands *d, struct atoms *atoms,
                                   const struct pod *pod)
{
    struct pod_demand *demand = make(atoms, pod);
    demand->hash = hash_of(demand);
    struct pod_demand *known = table_get(&d->known, demand->hash, is_same, demand);
    if (known != NULL) {
        forget(atoms, demand);
        demand = known;
    } else {
        table_add(&d->known, demand->hash, demand);
    }
    demand->users++;
    return demand;
}

void pod_demand_drop(struct pod_demands *d, struct atoms *atoms, struct pod_demand *demand)
{
    must(demand->users > 0);
    if (--demand->users > 0)
        return;
    table_remove(&d->known, demand->hash, demand);
    forget(atoms, demand);
}
