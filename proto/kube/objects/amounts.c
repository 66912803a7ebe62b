/* amounts: resource lists. What must stay true: names in a list are distinct, and a list of any
 * length is searched in bounded time. */
#include "proto/kube/objects/amounts.h"

#include "proto/base/must.h"

#include <string.h>

static uint32_t *slot_of(const struct amounts *list, struct str name)
{
    uint32_t i = (uint32_t)str_hash(name) & list->mask;
    while (list->slots[i] != 0 && !str_equal(list->at[list->slots[i] - 1].name, name))
        i = (i + 1) & list->mask;
    return &list->slots[i];
}

struct kube_quantity *amounts_find_indexed(const struct amounts *list, struct str name)
{
    uint32_t place = *slot_of(list, name);
    return place > 0 ? &list->at[place - 1].quantity : NULL;
}

/* More than AMOUNTS_FEW have an index, which is made with their room. */
__attribute__((noinline)) static void grow(struct arena *a, struct amounts *list)
{
    list->room = list->room ? list->room * 2 : 4;
    struct amount *at = arena_take(a, list->room * sizeof(*at));
    if (list->at != NULL)
        memcpy(at, list->at, list->count * sizeof(*at));
    list->at = at;
    if (list->room <= AMOUNTS_FEW)
        return;
    list->mask = list->room * 2 - 1;
    list->slots = arena_take(a, (list->mask + (size_t)1) * sizeof(*list->slots));
    for (uint32_t i = 0; i < list->count; i++)
        *slot_of(list, list->at[i].name) = i + 1;
}

void amounts_add(struct arena *a, struct amounts *list, struct str name, struct kube_quantity q)
{
    if (list->count == list->room)
        grow(a, list);
    must(list->at != NULL);
    list->at[list->count++] = (struct amount){name, q};
    if (list->count > AMOUNTS_FEW)
        *slot_of(list, name) = list->count;
}

void amounts_set(struct arena *a, struct amounts *list, struct str name, struct kube_quantity q)
{
    struct kube_quantity *there = amounts_find(list, name);
    if (there != NULL)
        *there = q;
    else
        amounts_add(a, list, name, q);
}

void amounts_add_all(struct arena *a, struct amounts *to, const struct amounts *more)
{
    for (uint32_t i = 0; i < more->count; i++) {
        struct kube_quantity *there = amounts_find(to, more->at[i].name);
        if (there != NULL)
            *there = kube_quantity_add(*there, more->at[i].quantity);
        else
            amounts_add(a, to, more->at[i].name, more->at[i].quantity);
    }
}

void amounts_max_all(struct arena *a, struct amounts *to, const struct amounts *other)
{
    for (uint32_t i = 0; i < other->count; i++) {
        struct kube_quantity *there = amounts_find(to, other->at[i].name);
        if (there == NULL)
            amounts_add(a, to, other->at[i].name, other->at[i].quantity);
        else if (kube_quantity_compare(other->at[i].quantity, *there) > 0)
            *there = other->at[i].quantity;
    }
}

struct str amounts_text(struct kube_quantity q, struct arena *a)
{
    char text[48], *at = text + sizeof(text);
    i128 nano = q.nano;
    *--at = 'n';
    do {
        int digit = (int)(nano % 10);
        *--at = (char)('0' + (digit < 0 ? -digit : digit));
        nano /= 10;
    } while (nano != 0);
    if (q.nano < 0)
        *--at = '-';
    return arena_copy(a, (struct str){at, (uint32_t)(text + sizeof(text) - at)});
}
