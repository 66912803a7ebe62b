/* equals: who asks for the same. Pods are equals when the store keeps all of what they ask for
 * once; pods with groups, devices or nominations have none, and those with claims or volumes are
 * similar at most, since two of them are never quite alike.
 *
 * What must stay true: whatever may let somebody who is parked go on marks the equals; when one of
 * those asleep leaves that place for whatever reason, nobody is spoken for any more. */
#include "queue/equals.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "queue/entry.h"

/* So many that find places let one more be tried at once: when the room ends, a quarter as many
 * are under way in vain. */
#define WINS_A_PLACE 4

/* Not of addresses: whoever plays a recording back has others, and walks equals in the order of
 * this.
 */
static uint32_t hash_of(const struct entry *e)
{
    uint64_t hash = store_parts_hash(e->kept) + e->similar;
    return table_hash(hash ^ hash >> 32);
}

static bool asks_the_same(const void *thing, const void *key)
{
    const struct equals *k = thing;
    const struct entry *e = key;
    for (int i = 0; i < STORE_PARTS; i++)
        if (k->parts[i] != e->kept->parts[i])
            return false;
    return k->around == e->around && k->similar == e->similar;
}

bool equals_has(const struct equals *k, const struct entry *e)
{
    return asks_the_same(k, e);
}

void equals_mark(struct equals *k)
{
    if (k->marked)
        return;
    k->marked = true;
    k->next = k->equivalence->marked;
    k->equivalence->marked = k;
}

void equals_join(struct equivalence *equivalence, struct entry *e, size_t limit)
{
    uint32_t hash = hash_of(e);
    struct equals *k = table_get(&equivalence->table, hash, asks_the_same, e);
    if (k == NULL) {
        k = memory_take(sizeof(*k));
        k->equivalence = equivalence;
        for (int i = 0; i < STORE_PARTS; i++)
            k->parts[i] = e->kept->parts[i];
        k->around = e->around;
        k->similar = e->similar;
        k->limit = limit;
        k->hash = hash;
        table_add(&equivalence->table, hash, k);
    }
    k->members++;
    e->equals = k;
}

/* Nobody listens for the others any more. */
static void hush(struct equals *k)
{
    k->spoken = false;
    equals_mark(k);
}

void equals_leave(struct entry *e)
{
    struct equals *k = e->equals;
    if (k == NULL)
        return;
    must(e->place != PLACE_parked && k->members > 0);
    equals_unplaced(e);
    e->equals = NULL;
    equals_mark(k);
    if (--k->members == 0) /* the parts it is known by may go with the pod */
        table_remove(&k->equivalence->table, k->hash, k);
}

void equals_free(struct equals *k)
{
    if (k->parked != NULL)
        heap_free(&k->parked);
    memory_free(k);
}

/* ---- attempts ---- */

void equals_started(struct equals *k)
{
    if (k != NULL)
        k->under_way++;
}

void equals_ended(struct equals *k)
{
    if (k == NULL)
        return;
    must(k->under_way > 0);
    k->under_way--;
    equals_mark(k);
}

void equals_won(struct equals *k)
{
    if (k == NULL)
        return;
    if (k->limit < EQUALS_LIMIT_MOST)
        k->limit += ++k->wins % WINS_A_PLACE == 0;
    k->pause = span_of_ms(0);
    k->until = (struct moment){0};
    equals_mark(k);
}

void equals_unplaced(struct entry *e)
{
    struct equals *k = e->equals;
    if (k == NULL)
        return;
    if (e->released) {
        must(k->released > 0);
        k->released--;
        e->released = false;
        equals_mark(k);
    }
    if (e->place == PLACE_unschedulable)
        hush(k);
    if (e->place != PLACE_parked)
        return;
    heap_remove(k->parked, e);
    k->equivalence->parked--;
    e->place = PLACE_nowhere;
}
