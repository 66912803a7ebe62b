/* kin: who asks for the same. Pods are kin when the store keeps all of what they ask for once; pods
 * with groups, devices or nominations have none, and those with claims or volumes are cousins at
 * most, since two of them are never quite alike.
 *
 * What must stay true: whatever may let somebody who is parked go on marks the kin; when one of
 * those asleep leaves that place for whatever reason, nobody is spoken for any more. */
#include "queue/kin.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "queue/entry.h"

/* So many that find places let one more be tried at once: when the room ends, a quarter as many
 * are under way in vain. */
#define WINS_A_PLACE 4

/* Not of addresses: whoever plays a recording back has others, and walks kin in the order of this.
 */
static uint32_t hash_of(const struct entry *e)
{
    uint64_t hash = store_parts_hash(e->kept) + e->cousin;
    return table_hash(hash ^ hash >> 32);
}

static bool asks_the_same(const void *thing, const void *key)
{
    const struct kin *k = thing;
    const struct entry *e = key;
    for (int i = 0; i < STORE_PARTS; i++)
        if (k->parts[i] != e->kept->parts[i])
            return false;
    return k->around == e->around && k->cousins == e->cousin;
}

bool kin_has(const struct kin *k, const struct entry *e)
{
    return asks_the_same(k, e);
}

void kin_mark(struct kin *k)
{
    if (k->marked)
        return;
    k->marked = true;
    k->next = k->kins->marked;
    k->kins->marked = k;
}

void kin_join(struct kins *kins, struct entry *e, size_t limit)
{
    uint32_t hash = hash_of(e);
    struct kin *k = table_get(&kins->table, hash, asks_the_same, e);
    if (k == NULL) {
        k = memory_take(sizeof(*k));
        k->kins = kins;
        for (int i = 0; i < STORE_PARTS; i++)
            k->parts[i] = e->kept->parts[i];
        k->around = e->around;
        k->cousins = e->cousin;
        k->limit = limit;
        k->hash = hash;
        table_add(&kins->table, hash, k);
    }
    k->members++;
    e->kin = k;
}

/* Nobody listens for the others any more. */
static void hush(struct kin *k)
{
    k->spoken = false;
    kin_mark(k);
}

void kin_leave(struct entry *e)
{
    struct kin *k = e->kin;
    if (k == NULL)
        return;
    must(e->place != PLACE_parked && k->members > 0);
    kin_unplaced(e);
    e->kin = NULL;
    kin_mark(k);
    if (--k->members == 0) /* the parts it is known by may go with the pod */
        table_remove(&k->kins->table, k->hash, k);
}

void kin_free(struct kin *k)
{
    if (k->parked != NULL)
        heap_free(&k->parked);
    memory_free(k);
}

/* ---- attempts ---- */

void kin_started(struct kin *k)
{
    if (k != NULL)
        k->under_way++;
}

void kin_ended(struct kin *k)
{
    if (k == NULL)
        return;
    must(k->under_way > 0);
    k->under_way--;
    kin_mark(k);
}

void kin_won(struct kin *k)
{
    if (k == NULL)
        return;
    if (k->limit < KIN_LIMIT_MOST)
        k->limit += ++k->wins % WINS_A_PLACE == 0;
    k->pause = span_of_ms(0);
    k->until = (struct moment){0};
    kin_mark(k);
}

void kin_unplaced(struct entry *e)
{
    struct kin *k = e->kin;
    if (k == NULL)
        return;
    if (e->released) {
        must(k->released > 0);
        k->released--;
        e->released = false;
        kin_mark(k);
    }
    if (e->place == PLACE_unschedulable)
        hush(k);
    if (e->place != PLACE_parked)
        return;
    heap_remove(k->parked, e);
    k->kins->parked--;
    e->place = PLACE_nowhere;
}
