/* differences: one entry for each object of each set that somebody holds otherwise than he should.
 * The one idea: an entry lives from look to look only while nothing about it changes, so that what
 * is in motion never gets old. What must stay true: only what is held by none of the sides is
 * lacking, and then it is the first one's fault, or all workers'.
 */
#include "ctl/doctor/differences.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

void differences_look(struct differences *d)
{
    if (d->known == NULL)
        d->known = map_new();
    d->look++;
}

void differences_free(struct differences *d)
{
    if (d->known != NULL)
        map_free(&d->known);
    memory_free(d->at);
    arena_free(&d->memory);
    *d = (struct differences){0};
}

/* ---- entries ---- */

static struct held_thing copy(struct differences *d, const struct held_thing *t)
{
    if (t == NULL)
        return (struct held_thing){0};
    return (struct held_thing){arena_copy(&d->memory, t->name), arena_copy(&d->memory, t->uid),
                               t->version, arena_copy(&d->memory, t->node)};
}

static bool same_thing(const struct held_thing *kept, const struct held_thing *t)
{
    static const struct held_thing nothing;
    const struct held_thing *now = t != NULL ? t : &nothing;
    return kept->version == now->version && str_equal(kept->node, now->node);
}

static void add(struct differences *d, struct difference *one)
{
    if (d->count == d->room) {
        d->room = d->room * 2 + 64;
        d->at = memory_resize(d->at, d->room * sizeof(struct difference *));
    }
    d->at[d->count++] = one;
}

/* What is found in a look. */
struct found {
    enum difference_kind kind;
    struct str set;
    const struct side *who, *than;
    const struct held_thing *has, *should;
};

/* Whether this one has taken in what the other had when it was first seen. */
static bool has_caught_up(const struct difference *one, const struct side *who)
{
    return one->epoch == 0 || (who->epoch == one->epoch && who->sequence >= one->sequence);
}

static struct difference *begin(struct differences *d, const struct found *f)
{
    struct difference *one = arena_take(&d->memory, sizeof(*one));
    *one = (struct difference){.kind = f->kind,
                               .who = arena_copy(&d->memory, f->who->who),
                               .than = arena_copy(&d->memory, f->than->who),
                               .set = arena_copy(&d->memory, f->set),
                               .has = copy(d, f->has),
                               .should = copy(d, f->should),
                               .first = d->look,
                               .last = d->look};
    if (f->who->epoch != 0) {
        one->epoch = f->than->epoch;
        one->sequence = f->than->sequence;
    }
    return one;
}

/* The same as before, with the same values: one look older. Else it begins anew. */
static void note(struct differences *d, const struct found *f)
{
    const struct held_thing *t = f->has != NULL ? f->has : f->should;
    struct buffer key = {0};
    must(t != NULL);
    struct str id = t->uid.len > 0 ? t->uid : t->name;
    buffer_print(&key, "%.*s %.*s %.*s %.*s", STR_ARG(f->who->who), STR_ARG(f->than->who),
                 STR_ARG(f->set), STR_ARG(id));
    struct difference *one = map_get(d->known, buffer_str(&key));
    bool goes_on = one != NULL && one->kind == f->kind && one->last + 1 >= d->look &&
                   same_thing(&one->has, f->has) && same_thing(&one->should, f->should);
    if (goes_on) {
        one->last = d->look;
        one->caught_up = one->caught_up || has_caught_up(one, f->who);
    } else if (d->count == DIFFERENCES_MAX) {
        d->dropped++;
    } else {
        one = begin(d, f);
        map_set(d->known, buffer_str(&key), one);
        add(d, one);
    }
    buffer_free(&key);
}

/* ---- comparing ---- */

static struct str id_of(const struct held_thing *t)
{
    return t->uid.len > 0 ? t->uid : t->name;
}

/* What is held by a side. */
struct holding {
    const struct side *side;
    const struct held_thing *thing;
    bool found;
};

static struct map *index_of(const struct side *sides, uint32_t count, struct arena *a)
{
    struct map *by_id = map_new();
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t i = 0; i < sides[s].count; i++) {
            struct holding *h = arena_take(a, sizeof(*h));
            *h = (struct holding){.side = &sides[s], .thing = &sides[s].things[i]};
            map_set(by_id, id_of(h->thing), h);
        }
    return by_id;
}

static bool other_version(const struct held_thing *a, const struct held_thing *b)
{
    return a->version != 0 && b->version != 0 && a->version != b->version;
}

static void compare_one(struct differences *d, struct found *f, struct holding *h,
                        const struct side *lacking)
{
    f->who = h != NULL ? h->side : lacking;
    f->has = h != NULL ? h->thing : NULL;
    f->kind = DIFFERENCE_lacks;
    if (h == NULL) {
        note(d, f);
        return;
    }
    h->found = true;
    if (!str_equal(f->has->node, f->should->node))
        f->kind = DIFFERENCE_node;
    else if (other_version(f->has, f->should))
        f->kind = DIFFERENCE_version;
    else
        return;
    note(d, f);
}

void differences_compare(struct differences *d, struct str set, const struct side *than,
                         const struct side *sides, uint32_t count)
{
    struct arena a = {0};
    struct map *held = index_of(sides, count, &a);
    struct side lacking = count == 1 ? sides[0] : (struct side){.who = STR_LITERAL("workers")};
    struct found f = {.set = set, .than = than};
    for (uint32_t i = 0; i < than->count; i++) {
        f.should = &than->things[i];
        compare_one(d, &f, map_get(held, id_of(f.should)), &lacking);
    }
    size_t at = 0;
    struct str id;
    void *value;
    while (map_next(held, &at, &id, &value)) {
        const struct holding *h = value;
        f = (struct found){DIFFERENCE_extra, set, h->side, than, h->thing, NULL};
        if (!h->found)
            note(d, &f);
    }
    map_free(&held);
    arena_free(&a);
}

/* ---- what is to be believed ---- */

bool differences_open(const struct differences *d, const struct difference *one)
{
    return one->last == d->look;
}

bool differences_settled(const struct differences *d, const struct difference *one)
{
    return differences_open(d, one) && one->last - one->first + 1 >= DIFFERENCE_LOOKS &&
           (one->epoch == 0 || one->caught_up);
}

uint32_t differences_count_open(const struct differences *d)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->count; i++)
        count += differences_open(d, d->at[i]);
    return count;
}

uint32_t differences_count_settled(const struct differences *d)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->count; i++)
        count += differences_settled(d, d->at[i]);
    return count;
}
