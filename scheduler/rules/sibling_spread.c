/* sibling_spread: siblings by node, and over the feasible nodes by zone. Normalising needs three
 * numbers of a node (siblings on it, in its zone, and in the fullest zone), so a raw score holds
 * all three, the node's in front: then the greatest raw score has the fullest node's number. */
#include "scheduler/rules/sibling_spread.h"

#define BITS 21 /* of each number; more siblings count as that many */
#define MOST ((INT64_C(1) << BITS) - 1)

struct zone {
    uint32_t region, zone; /* atoms; both 0: the node is in none */
};

struct spread {
    struct siblings *siblings;
    const struct counts *zones;
    uint32_t keys[4];
    int64_t fullest;
};

static const char *const keys[4] = {"topology.kubernetes.io/region", "topology.kubernetes.io/zone",
                                    "failure-domain.beta.kubernetes.io/region",
                                    "failure-domain.beta.kubernetes.io/zone"};

static void find_keys(const struct cycle *c, uint32_t *atoms)
{
    for (int i = 0; i < 4; i++)
        atoms[i] = atom_find(c->atoms, str_of(keys[i]));
}

static uint32_t value_of(const struct node_entry *node, uint32_t key, uint32_t old_key)
{
    uint32_t value = key == 0 ? 0 : label_value(node->labels, node->label_count, key);
    if (value == 0 && old_key != 0)
        value = label_value(node->labels, node->label_count, old_key);
    return value;
}

static struct zone zone_of(const struct node_entry *node, const uint32_t *atoms)
{
    return (struct zone){value_of(node, atoms[0], atoms[2]), value_of(node, atoms[1], atoms[3])};
}

static bool in_zone(struct zone z)
{
    return z.region != 0 || z.zone != 0;
}

bool sibling_spread_skips(const struct cycle *c)
{
    return c->pod->spread.count > 0; /* the pod says itself how it is to be spread */
}

void sibling_spread_survey(const struct cycle *c, enum sibling_scope scope, const uint32_t *rows,
                           uint32_t count, struct counts *out)
{
    const struct siblings *s = siblings_make(c, scope);
    uint32_t atoms[4];
    find_keys(c, atoms);
    for (uint32_t i = 0; i < count; i++) {
        const struct node_entry *node = c->nodes->entry[rows[i]];
        struct zone z = zone_of(node, atoms);
        if (in_zone(z))
            counts_add(out, 0, z.region, z.zone, siblings_on(s, node));
    }
}

void *sibling_spread_begin(const struct cycle *c, enum sibling_scope scope,
                           const struct counts *survey)
{
    struct spread *s = arena_take(c->arena, sizeof(*s));
    uint32_t at = 0;
    struct count_entry e;
    s->siblings = siblings_make(c, scope);
    s->zones = survey;
    find_keys(c, s->keys);
    while (counts_next(survey, &at, &e))
        if (e.count > s->fullest)
            s->fullest = e.count;
    return s;
}

static int64_t cut(int64_t number)
{
    return number > MOST ? MOST : number;
}

int64_t sibling_spread_score(const void *state, const struct node_entry *node)
{
    const struct spread *s = state;
    struct zone z = zone_of(node, s->keys);
    int64_t here = cut(siblings_on(s->siblings, node)), there = 1, fullest = 0;
    if (in_zone(z)) {
        counts_get(s->zones, 0, z.region, z.zone, &there);
        there = cut(there);
        fullest = cut(s->fullest);
    } /* else 1 of 0, which says that there is no zone */
    return here << (2 * BITS) | there << BITS | fullest;
}

int64_t sibling_spread_normalise(int64_t raw, const struct score_range *range)
{
    int64_t most = range->greatest >> (2 * BITS), here = raw >> (2 * BITS);
    int64_t there = raw >> BITS & MOST, fullest = raw & MOST;
    double score = SCORE_MAX, zone = SCORE_MAX;
    if (most > 0)
        score = SCORE_MAX * ((double)(most - here) / (double)most);
    if (there > fullest)
        return (int64_t)score;
    if (fullest > 0)
        zone = SCORE_MAX * ((double)(fullest - there) / (double)fullest);
    return (int64_t)(score * (1.0 - 2.0 / 3.0) + 2.0 / 3.0 * zone);
}
