/* holdings: what a process holds, as digests and by name. The one idea: a digest is the sum of its
 * things' hashes, so that it needs no order, and what several workers have can be added up. What
 * must stay true: the last part is always sent, even an empty one, because whoever asked waits for
 * it; and every process hashes the same thing to the same number.
 */
#include "proto/bus/holdings.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#define PART_MAX 2000 /* things; a name, a UID and a node are at most 1 KiB */

/* Spreads one bit over all (the end of MurmurHash3). */
static uint64_t spread(uint64_t h)
{
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdU;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53U;
    return h ^ h >> 33;
}

struct held_set held_set_of(struct str name)
{
    return (struct held_set){.name = name};
}

void held_set_add(struct held_set *set, const struct held_thing *thing)
{
    struct str key = thing->uid.len > 0 ? thing->uid : thing->name;
    uint64_t hash = spread(str_hash(key) + 3 * str_hash(thing->node));
    uint64_t version = (uint64_t)thing->version * 0x9e3779b97f4a7c15U;
    set->count++;
    set->digest = (int64_t)((uint64_t)set->digest + hash);
    if (thing->version != 0)
        set->versions = (int64_t)((uint64_t)set->versions + spread(hash ^ version));
}

void holder_begin(struct holder *h, const struct delivery *in, struct outbox *out)
{
    *h = (struct holder){.asked = &in->message->holdings_request, .out = out, .to = in->from};
    h->said.id = h->asked->id;
    h->said.part = 1;
    if (h->asked->list.len > 0)
        h->things = memory_take_array(PART_MAX, sizeof(*h->things));
    h->said.things.at = h->things;
}

static void send(struct holder *h, bool last)
{
    struct message m = {.type = MSG_holdings, .holdings = h->said};
    m.holdings.last = last;
    if (last)
        m.holdings.sets.at = h->sets;
    else
        m.holdings.sets.count = 0;
    outbox_put(h->out, h->to, &m);
    h->said.part++;
    h->said.things.count = 0;
    arena_reset(&h->memory);
}

void holder_set(struct holder *h, struct str name)
{
    must(h->said.sets.count < HELD_SETS_MAX);
    h->sets[h->said.sets.count++] = held_set_of(name);
    h->lists = h->things != NULL && str_equal(name, h->asked->list);
}

void holder_add(struct holder *h, const struct held_thing *thing)
{
    must(h->said.sets.count > 0);
    held_set_add(&h->sets[h->said.sets.count - 1], thing);
    if (!h->lists)
        return;
    if (h->said.things.count == PART_MAX)
        send(h, false);
    struct held_thing *kept = &h->things[h->said.things.count++];
    *kept = *thing;
    kept->name = arena_copy(&h->memory, thing->name);
    kept->uid = arena_copy(&h->memory, thing->uid);
    kept->node = arena_copy(&h->memory, thing->node);
}

void holder_end(struct holder *h)
{
    send(h, true);
    memory_free(h->things);
    h->things = NULL;
    arena_free(&h->memory);
}

bool holder_wants(const struct holder *h, struct str scheduler)
{
    for (uint32_t i = 0; i < h->asked->schedulers.count; i++)
        if (str_equal(h->asked->schedulers.at[i], scheduler))
            return true;
    return false;
}
