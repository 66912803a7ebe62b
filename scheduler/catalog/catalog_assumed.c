/* catalog_assumed: claims and volumes as they are going to be, and what a waiting claim could have
 * of the volumes as its profile sees them. The one idea: an assumed record lies beside the API
 * server's, one for each profile, and is given up when that moves on.
 *
 * What must stay true: the volumes that have an assumed record are exactly those in
 * assumed_volumes, and of a profile there is one at most for each object. */
#include "scheduler/catalog/catalog_inside.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/catalog/volumes.h"

static struct assumed *assumed_by(const struct entry *e, struct str profile)
{
    struct assumed *assumed = e->assumed;
    while (assumed != NULL && !str_equal(assumed->profile, profile))
        assumed = assumed->next;
    return assumed;
}

/* As the profile sees it. */
static const void *seen_by(const struct entry *e, struct str profile)
{
    const struct assumed *assumed = e == NULL ? NULL : assumed_by(e, profile);
    if (assumed != NULL)
        return assumed->record;
    return e == NULL ? NULL : e->record;
}

const struct claim *catalog_claim_seen(const struct catalog *c, struct str profile,
                                       struct str space, struct str name)
{
    return seen_by(catalog_entry(c, CATALOG_claim, space, name), profile);
}

const struct volume *catalog_volume_seen(const struct catalog *c, struct str profile,
                                         struct str name)
{
    return seen_by(catalog_entry(c, CATALOG_volume, NOWHERE, name), profile);
}

const struct volume *catalog_next_volume_for(const struct catalog *c, struct str profile,
                                             const struct claim *claim, struct volume_search *at)
{
    const struct entry *e;
    struct str name;
    void *value;
    while ((e = volume_index_next(c->volumes, claim, &at->walk)) != NULL)
        if (e->assumed == NULL)
            return e->record;
    return map_next(c->assumed_volumes, &at->assumed, &name, &value) ? seen_by(value, profile)
                                                                     : NULL;
}

/* A copy of the record to be changed; the old one, from which it is made, goes. */
static struct assumed *assume(struct entry *e, struct str profile, const struct record *r)
{
    must(e != NULL);
    struct assumed *old = assumed_by(e, profile), *new = memory_take(sizeof(*new));
    new->memory.first = 512;
    new->profile = arena_copy(&new->memory, profile);
    new->record = arena_take(&new->memory, r->size);
    codec_copy(r, new->record, old != NULL ? old->record : e->record, &new->memory);
    new->next = e->assumed;
    e->assumed = new;
    return new;
}

static void restore(struct entry *e, struct assumed *assumed)
{
    struct assumed **at = &e->assumed;
    while (*at != assumed)
        at = &(*at)->next;
    *at = assumed->next;
    arena_free(&assumed->memory);
    memory_free(assumed);
}

/* All but the newest. */
static void restore_older(struct entry *e)
{
    for (struct assumed *a = e->assumed->next, *next; a != NULL; a = next) {
        next = a->next;
        if (str_equal(a->profile, e->assumed->profile))
            restore(e, a);
    }
}

void catalog_restore_all(struct catalog *c, enum catalog_kind kind, struct entry *e)
{
    if (e->assumed != NULL && kind == CATALOG_volume)
        map_remove(c->assumed_volumes, ((const struct volume *)e->record)->name);
    while (e->assumed != NULL)
        restore(e, e->assumed);
}

void catalog_assume_volume(struct catalog *c, struct str profile, struct str name,
                           const struct claim *claim)
{
    struct entry *e = catalog_entry(c, CATALOG_volume, NOWHERE, name);
    const struct volume *seen = seen_by(e, profile);
    if (seen != NULL && seen->claim_uid.len > 0 && volume_is_reserved_for(seen, claim))
        return; /* no write changes it, and no newer version would end the assumption */
    struct assumed *assumed = assume(e, profile, &volume_record);
    struct volume *v = assumed->record;
    v->bound_by_controller |= !volume_is_reserved_for(v, claim);
    v->has_claim_ref = true;
    v->claim_namespace = arena_copy(&assumed->memory, claim->namespace_name);
    v->claim_name = arena_copy(&assumed->memory, claim->name);
    v->claim_uid = arena_copy(&assumed->memory, claim->uid);
    restore_older(e);
    map_set(c->assumed_volumes, name, e);
}

void catalog_assume_claim(struct catalog *c, struct str profile, const struct claim *claim,
                          struct str node)
{
    struct entry *e = catalog_entry(c, CATALOG_claim, claim->namespace_name, claim->name);
    const struct claim *seen = seen_by(e, profile);
    if (seen != NULL && str_equal(seen->selected_node, node))
        return;
    struct assumed *assumed = assume(e, profile, &claim_record);
    ((struct claim *)assumed->record)->selected_node = arena_copy(&assumed->memory, node);
    restore_older(e);
}

bool catalog_restore_volume(struct catalog *c, struct str profile, struct str name, struct str uid)
{
    struct entry *e = catalog_entry(c, CATALOG_volume, NOWHERE, name);
    struct assumed *assumed = e == NULL ? NULL : assumed_by(e, profile);
    if (assumed == NULL || !str_equal(((const struct volume *)assumed->record)->claim_uid, uid))
        return false;
    restore(e, assumed);
    if (e->assumed == NULL)
        map_remove(c->assumed_volumes, name);
    return true;
}

bool catalog_restore_claim(struct catalog *c, struct str profile, const struct claim_binding *b,
                           struct str node)
{
    struct entry *e = catalog_entry(c, CATALOG_claim, b->namespace_name, b->name);
    struct assumed *assumed = e == NULL ? NULL : assumed_by(e, profile);
    if (assumed == NULL || !str_equal(((const struct claim *)assumed->record)->selected_node, node))
        return false;
    restore(e, assumed);
    return true;
}

uint32_t catalog_assumed(const struct catalog *c)
{
    static const enum catalog_kind kinds[] = {CATALOG_claim, CATALOG_volume};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t at = 0;
        void *value;
        while (map_next(c->kinds[kinds[i]], &at, NULL, &value))
            count += ((const struct entry *)value)->assumed != NULL;
    }
    return count;
}
