/* extension: the book of extenders' answers. The one idea: node names are kept sorted everywhere,
 * so that two lists are compared, intersected and matched in one walk. What must stay true: an
 * answer is used for no node that it was not asked about. */
#include "scheduler/extension.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/wrap.h"

struct extension *extension_new(uint64_t asked, uint64_t asked_victims)
{
    struct extension *e = memory_take(sizeof(*e));
    e->asked = asked;
    e->asked_victims = asked_victims;
    return e;
}

void extension_free(struct extension **e)
{
    if (*e == NULL)
        return;
    arena_free(&(*e)->arena);
    memory_free(*e);
    *e = NULL;
}

void extension_forget(struct extension *e)
{
    arena_reset(&e->arena);
    *e =
        (struct extension){.arena = e->arena, .asked = e->asked, .asked_victims = e->asked_victims};
}

static bool same_names(const struct strs *a, const struct strs *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = str_equal(a->at[i], b->at[i]);
    return same;
}

/* Those of a that are in b, too. */
static struct strs common(const struct strs *a, const struct strs *b, struct arena *memory)
{
    struct strs both = {0, arena_take(memory, a->count * sizeof(struct str))};
    for (uint32_t i = 0, k = 0; i < a->count; i++) {
        while (k < b->count && str_compare(b->at[k], a->at[i]) < 0)
            k++;
        if (k < b->count && str_equal(b->at[k], a->at[i]))
            both.at[both.count++] = a->at[i];
    }
    return both;
}

static const struct strs *passed_of(const struct extension_answer *a)
{
    return a->said.all ? &a->nodes : &a->said.nodes;
}

bool extension_holds(const struct extension *e, enum extension_about about,
                     const struct strs *feasible)
{
    const struct extension_answer *a = &e->answers[about];
    if (!a->given || same_names(&a->nodes, feasible))
        return a->given;
    if (e->tries < EXTENSION_TRIES)
        return false;
    struct arena memory = {0};
    bool any = common(feasible, &a->nodes, &memory).count > 0;
    arena_free(&memory);
    return any;
}

struct strs extension_passed(const struct extension *e, enum extension_about about,
                             const struct strs *feasible, struct arena *a)
{
    return common(feasible, passed_of(&e->answers[about]), a);
}

const struct extender_refusal *extension_refusal(const struct extension *e, struct str node)
{
    const struct extended *said = &e->answers[ABOUT_nodes].said;
    uint32_t low = 0, high = said->refused.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_compare(said->refused.at[middle].node, node);
        if (order == 0)
            return &said->refused.at[middle];
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
    }
    return NULL;
}

static bool same_candidate(const struct candidate *a, const struct candidate *b)
{
    bool same = str_equal(a->node, b->node) && a->victims.count == b->victims.count &&
                a->violations == b->violations;
    for (uint32_t i = 0; same && i < a->victims.count; i++)
        same = str_equal(a->victims.at[i].uid, b->victims.at[i].uid);
    return same;
}

bool extension_holds_victims(const struct extension *e, const struct candidate *at, uint32_t count)
{
    const struct extension_victims *v = &e->victims;
    if (!v->given || e->tries >= EXTENSION_TRIES)
        return v->given;
    bool same = count == v->candidates.count;
    for (uint32_t i = 0; same && i < count; i++)
        same = same_candidate(&at[i], &v->candidates.at[i]);
    return same;
}

void extension_score(const struct extension *e, struct listed_nodes *nodes)
{
    const struct extended *said = &e->answers[ABOUT_nodes].said;
    for (uint32_t i = 0, k = 0; i < nodes->count; i++) {
        while (k < said->scores.count &&
               str_compare(said->scores.at[k].node, nodes->at[i].node) < 0)
            k++;
        if (k < said->scores.count && str_equal(said->scores.at[k].node, nodes->at[i].node))
            nodes->at[i].total = wrap_add(nodes->at[i].total, said->scores.at[k].score);
    }
}

static struct str pick(const struct listed_nodes *nodes, const struct listed_choice *c)
{
    struct random dice = {(uint64_t)c->seed};
    bool round = str_is(c->tie_break, "round-robin");
    bool by_name = round || str_is(c->tie_break, "first");
    (void)random_next(&dice);
    uint64_t skip = by_name ? 0 : random_below(&dice, (uint64_t)c->best_count);
    struct str first = {0};
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct listed_node *n = &nodes->at[i];
        if (n->total != c->total)
            continue;
        if (first.len == 0 && skip-- == 0)
            first = n->node;
        if (round && str_compare(n->node, c->after) > 0)
            return n->node;
    }
    return first;
}

void listed_choose(const struct listed_nodes *nodes, struct listed_choice *choice)
{
    must(nodes->count > 0);
    choice->best_count = 0;
    for (uint32_t i = 0; i < nodes->count; i++) {
        int64_t total = nodes->at[i].total;
        if (choice->best_count == 0 || total > choice->total) {
            choice->total = total;
            choice->best_count = 0;
        }
        choice->best_count += total == choice->total;
    }
    choice->node = pick(nodes, choice);
}
