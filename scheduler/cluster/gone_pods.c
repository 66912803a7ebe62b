/* gone_pods: a table of a few hashes a place. What must stay true: the last GONE_A_PLACE that went
 * of each place are in it, each once. */
#include "scheduler/cluster/gone_pods.h"

#include <string.h>

bool gone_pods_has(const struct gone_pods *gone, struct str uid)
{
    uint64_t hash = str_hash(uid);
    const uint64_t *place = gone->at[hash % GONE_PLACES];
    uint32_t i = 0;
    while (i < GONE_A_PLACE && place[i] != hash)
        i++;
    return i < GONE_A_PLACE;
}

void gone_pods_forget(struct gone_pods *gone, struct str uid)
{
    uint64_t hash = str_hash(uid);
    uint64_t *place = gone->at[hash % GONE_PLACES];
    for (uint32_t i = 0; i < GONE_A_PLACE; i++)
        if (place[i] == hash)
            place[i] = 0;
}

/* In front of those that went before, in the room of itself, of one that is there again, or of the
 * one that went first. */
void gone_pods_note(struct gone_pods *gone, struct str uid)
{
    uint64_t hash = str_hash(uid);
    uint64_t *place = gone->at[hash % GONE_PLACES];
    gone_pods_forget(gone, uid);
    size_t i = 0;
    while (i < GONE_A_PLACE - 1 && place[i] != 0)
        i++;
    memmove(&place[1], &place[0], i * sizeof(*place));
    place[0] = hash;
}
