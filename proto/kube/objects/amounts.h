/* amounts: a resource list with exact quantities; what requests are added up with. */
#ifndef KUBE_OBJECTS_AMOUNTS_H
#define KUBE_OBJECTS_AMOUNTS_H

#include "proto/base/arena.h"
#include "proto/kube/documents/quantity.h"

__extension__ typedef __int128 i128;

#define AMOUNTS_FEW 16 /* names that are found faster without an index */

struct amount {
    struct str name;
    struct kube_quantity quantity;
};

/* A resource list: names are distinct. */
struct amounts {
    struct amount *at;
    uint32_t count, room;
    uint32_t *slots; /* by hash of the name: place plus one, 0: free; of more than AMOUNTS_FEW */
    uint32_t mask;   /* of slots, which are a power of two and at least twice as many as room */
};

/* For lists of more than AMOUNTS_FEW. */
struct kube_quantity *amounts_find_indexed(const struct amounts *list, struct str name);

/* NULL: it is not there. */
static inline struct kube_quantity *amounts_find(const struct amounts *list, struct str name)
{
    if (list->count > AMOUNTS_FEW)
        return amounts_find_indexed(list, name);
    for (uint32_t i = 0; i < list->count; i++)
        if (str_equal(list->at[i].name, name))
            return &list->at[i].quantity;
    return NULL;
}

/* A name that is not there yet. It is borrowed, as of all these. */
void amounts_add(struct arena *a, struct amounts *list, struct str name, struct kube_quantity q);
void amounts_set(struct arena *a, struct amounts *list, struct str name, struct kube_quantity q);
/* Of each name the sum. */
void amounts_add_all(struct arena *a, struct amounts *to, const struct amounts *more);
/* Of each name the greater one. */
void amounts_max_all(struct arena *a, struct amounts *to, const struct amounts *other);
/* The quantity in billionths, as a text that is read as just that. */
struct str amounts_text(struct kube_quantity q, struct arena *a);

#endif
