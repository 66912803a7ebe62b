/* uses: which devices are allocated, by their names, since an allocation outlives its ResourceSlice
 * and may be known before it. What must stay true: a use is there exactly as long as a device of a
 * slice or an allocation refers to it, and giving back what was taken leaves no trace. */
#include "scheduler/devices/inside.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

struct use_key {
    struct str driver, pool, device;
};

static bool same(const void *thing, const void *key)
{
    const struct use *use = thing;
    const struct use_key *n = key;
    return str_equal(use->device, n->device) && str_equal(use->pool, n->pool) &&
           str_equal(use->driver, n->driver);
}

static uint32_t hash_of(const struct use_key *n)
{
    return table_hash(str_hash(n->device) * 31 + str_hash(n->pool) * 17 + str_hash(n->driver));
}

struct use *use_of(struct devices *devices, struct str driver, struct str pool, struct str device)
{
    struct use_key names = {driver, pool, device};
    uint32_t hash = hash_of(&names);
    struct use *use = table_get(&devices->uses, hash, same, &names);
    if (use != NULL)
        return use;
    use = memory_take(sizeof(*use));
    use->driver = str_keep(driver);
    use->pool = str_keep(pool);
    use->device = str_keep(device);
    table_add(&devices->uses, hash, use);
    return use;
}

void use_release(struct devices *devices, struct use *use)
{
    if (use->devices > 0 || use->dedicated > 0 || use->shares > 0)
        return;
    struct use_key names = {use->driver, use->pool, use->device};
    table_remove(&devices->uses, hash_of(&names), use);
    str_drop(&use->driver);
    str_drop(&use->pool);
    str_drop(&use->device);
    for (uint32_t i = 0; i < use->consumed_count; i++)
        str_drop(&use->consumed[i].name);
    memory_free(use->consumed);
    memory_free(use);
}

bool use_allocated(const struct use *use)
{
    return use->dedicated > 0 || use->shares > 0;
}

static struct consumed *consumed_of(const struct use *use, struct str name)
{
    for (uint32_t i = 0; i < use->consumed_count; i++)
        if (str_equal(use->consumed[i].name, name))
            return &use->consumed[i];
    return NULL;
}

dra_nano use_consumed(const struct use *use, struct str name)
{
    const struct consumed *c = consumed_of(use, name);
    return c == NULL ? 0 : c->nano;
}

static void consume(struct use *use, const struct dra_amount *what)
{
    struct amount amount;
    struct consumed *c = consumed_of(use, what->name);
    amount_parse(what->value, &amount);
    if (c == NULL) {
        use->consumed =
            memory_resize(use->consumed, (use->consumed_count + 1) * sizeof(*use->consumed));
        c = &use->consumed[use->consumed_count++];
        *c = (struct consumed){.name = str_keep(what->name)};
    }
    c->nano += amount.nano;
    c->count++;
}

static void unconsume(struct use *use, const struct dra_amount *what)
{
    struct amount amount;
    struct consumed *c = consumed_of(use, what->name);
    amount_parse(what->value, &amount);
    must(c != NULL && c->count > 0);
    c->nano -= amount.nano;
    if (--c->count > 0)
        return;
    str_drop(&c->name);
    *c = use->consumed[--use->consumed_count];
}

void use_take(struct use *use, const struct dra_use *u)
{
    if (u->shared)
        use->shares++;
    else
        use->dedicated++;
    if (u->shared && u->consumed_count > 0)
        use->entries++;
    for (uint32_t k = 0; u->shared && k < u->consumed_count; k++)
        consume(use, &u->consumed[k]);
}

void use_give_back(struct use *use, const struct dra_use *u)
{
    must(u->shared ? use->shares > 0 : use->dedicated > 0);
    if (u->shared)
        use->shares--;
    else
        use->dedicated--;
    if (u->shared && u->consumed_count > 0)
        use->entries--;
    for (uint32_t k = 0; u->shared && k < u->consumed_count; k++)
        unconsume(use, &u->consumed[k]);
}
