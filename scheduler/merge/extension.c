/* extension: the book of what extenders and plugins answered. The one idea: node names are kept
 * sorted everywhere, so that two lists are compared, intersected and matched in one walk. What must
 * stay true: an answer is used for no node that it was not asked about. */
#include "scheduler/merge/extension.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/random.h"
#include "scheduler/table/wrap.h"

struct extension *extension_new(struct extension_asked asked)
{
    struct extension *e = memory_take(sizeof(*e));
    e->asked = asked;
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
    *e = (struct extension){.arena = e->arena, .asked = e->asked};
}

/* ---- the question under way ---- */

bool extension_find(const struct strs *sorted, struct str name, uint32_t *place)
{
    uint32_t low = 0, high = sorted->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_compare(sorted->at[middle], name);
        *place = middle;
        if (order == 0)
            return true;
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
    }
    return false;
}

void extension_round_begin(struct extension *e, const struct strs *nodes)
{
    struct arena *a = &e->arena;
    struct extension_round *r = &e->round;
    *r = (struct extension_round){.nodes = {0, arena_take(a, nodes->count * sizeof(struct str))}};
    for (uint32_t i = 0; i < nodes->count; i++)
        r->nodes.at[r->nodes.count++] = arena_copy(a, nodes->at[i]);
    r->left = (struct strs){nodes->count, arena_take(a, nodes->count * sizeof(struct str))};
    for (uint32_t i = 0; i < nodes->count; i++)
        r->left.at[i] = r->nodes.at[i];
    r->refused = arena_take(a, nodes->count * sizeof(struct extender_refusal *));
    r->scores = arena_take(a, nodes->count * sizeof(*r->scores));
}

void extension_pre_filter_begin(struct extension *e, uint32_t places)
{
    e->round = (struct extension_round){.stage = STAGE_pre_filters};
    e->pre_filter.at = arena_take(&e->arena, places * sizeof(*e->pre_filter.at));
    e->skipped_filters = (struct strs){0, arena_take(&e->arena, places * sizeof(struct str))};
}

void extension_post_filter_begin(struct extension *e, uint32_t places)
{
    struct extension_no_node *n = &e->no_node;
    struct strs *left = &e->round.left;
    e->round = (struct extension_round){.stage = STAGE_post_filters};
    n->at = arena_take(&e->arena, places * sizeof(*n->at));
    left->at = arena_take(&e->arena, n->count * sizeof(struct str));
    for (uint32_t i = 0; i < n->count; i++)
        left->at[left->count++] = n->nodes[i].node;
}

void extension_refuse(struct extension *e, const struct extender_refusal *refusal)
{
    struct extension_round *r = &e->round;
    uint32_t place;
    if (!extension_find(&r->nodes, refusal->node, &place))
        return;
    if (r->refused[place] == NULL || !r->refused[place]->unresolvable) {
        r->refused[place] = arena_take(&e->arena, sizeof(*refusal));
        *r->refused[place] = *refusal;
    }
}

void extension_keep(struct extension *e, const struct strs *passed)
{
    struct strs *left = &e->round.left;
    uint32_t kept = 0, place;
    for (uint32_t i = 0; i < left->count; i++)
        if (extension_find(passed, left->at[i], &place))
            left->at[kept++] = left->at[i];
    left->count = kept;
}

void extension_add_score(struct extension *e, struct str node, int64_t score)
{
    uint32_t place;
    if (extension_find(&e->round.nodes, node, &place))
        e->round.scores[place] = wrap_add(e->round.scores[place], score);
}

void extension_round_end(struct extension *e)
{
    const struct extension_round *r = &e->round;
    struct extension_answer *a = &e->answers[e->about];
    struct extended *said = &a->said;
    uint32_t count = r->nodes.count, place;
    *said = (struct extended){
        .error = r->error, .all = r->left.count == count, .nodes = r->left, .bare = r->bare};
    said->refused.at = arena_take(&e->arena, count * sizeof(*said->refused.at));
    said->scores.at = arena_take(&e->arena, count * sizeof(*said->scores.at));
    for (uint32_t i = 0; i < count; i++) {
        bool in = extension_find(&r->left, r->nodes.at[i], &place);
        if (!in && r->refused[i] != NULL)
            said->refused.at[said->refused.count++] = *r->refused[i];
        if (in && r->scores[i] != 0)
            said->scores.at[said->scores.count++] =
                (struct extender_score){r->nodes.at[i], r->scores[i]};
    }
    a->nodes = r->nodes;
    a->given = true;
}

/* ---- what holds of it ---- */

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
    if (!a->given || strs_equal(a->nodes, *feasible))
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

struct strs extension_curable(const struct extension *e, const struct strs *nodes, struct arena *a)
{
    struct strs curable = {0, arena_take(a, nodes->count * sizeof(struct str))};
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct extender_refusal *refusal = extension_refusal(e, nodes->at[i]);
        if (refusal != NULL && !refusal->unresolvable)
            curable.at[curable.count++] = nodes->at[i];
    }
    return curable;
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
    (void)random_next(&dice);
    uint64_t skip =
        c->tie_break == TIE_BREAK_first ? 0 : random_below(&dice, (uint64_t)c->best_count);
    uint32_t i = 0;
    while (nodes->at[i].total != c->total || skip-- > 0)
        i++;
    return nodes->at[i].node;
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
