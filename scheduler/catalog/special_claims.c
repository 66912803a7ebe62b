/* special_claims: a map from pods' UIDs to short lists of names. The one idea: a pod that asks for
 * extended resources is looked up once for each attempt, so the claims of the whole cluster must
 * not be gone through. What must stay true: a list is in the map exactly while it is not empty. */
#include "scheduler/catalog/special_claims.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

struct link {
    struct link *next;
    struct arena memory; /* also of the names */
    struct str space, name;
};

struct special_claims {
    struct map *by_pod; /* struct link, the first */
};

struct special_claims *special_claims_new(void)
{
    struct special_claims *s = memory_take(sizeof(*s));
    s->by_pod = map_new();
    return s;
}

static void free_link(struct link *l)
{
    arena_free(&l->memory);
    memory_free(l);
}

void special_claims_free(struct special_claims **claims)
{
    struct special_claims *s = *claims;
    size_t at = 0;
    struct str uid;
    void *value;
    if (s == NULL)
        return;
    while (map_next(s->by_pod, &at, &uid, &value))
        for (struct link *l = value, *next; l != NULL; l = next) {
            next = l->next;
            free_link(l);
        }
    map_free(&s->by_pod);
    memory_free(s);
    *claims = NULL;
}

static bool is_special(const struct resource_claim *claim)
{
    return claim->extended && claim->owner_uid.len > 0;
}

void special_claims_put(struct special_claims *s, const struct resource_claim *claim)
{
    if (!is_special(claim))
        return;
    struct link *l = memory_take(sizeof(*l));
    l->memory.first = 128;
    l->space = arena_copy(&l->memory, claim->namespace_name);
    l->name = arena_copy(&l->memory, claim->name);
    l->next = map_get(s->by_pod, claim->owner_uid);
    map_set(s->by_pod, claim->owner_uid, l);
}

void special_claims_take_out(struct special_claims *s, const struct resource_claim *claim)
{
    struct link *first = is_special(claim) ? map_get(s->by_pod, claim->owner_uid) : NULL;
    struct link **at = &first, *found;
    while (*at != NULL &&
           !(str_equal((*at)->space, claim->namespace_name) && str_equal((*at)->name, claim->name)))
        at = &(*at)->next;
    if (*at == NULL)
        return;
    found = *at;
    *at = found->next;
    free_link(found);
    if (first != NULL)
        map_set(s->by_pod, claim->owner_uid, first);
    else
        must(map_remove(s->by_pod, claim->owner_uid) != NULL);
}

bool special_claims_find(const struct special_claims *s, struct str pod_uid, struct str *space,
                         struct str *name)
{
    const struct link *l = map_get(s->by_pod, pod_uid);
    if (l == NULL)
        return false;
    *space = l->space;
    *name = l->name;
    return true;
}
