/* consulted: the recorded questions to extenders and their answers, in the order in which they were
 * asked, put into the scheduler's own book of them. What must stay true: what an extender said is
 * used for no node that it was not asked about. */
#include "ctl/explain/consulted.h"

#include "scheduler/table/wrap.h"

#include <stdlib.h>

static void take_nodes(struct extension *e, enum extension_about about,
                       const struct past_consulted *c)
{
    const struct extended *said = &c->answer;
    extension_round_begin(e, &(struct strs){c->question.nodes.count, c->question.nodes.at});
    for (uint32_t i = 0; i < said->refused.count; i++)
        extension_refuse(e, &said->refused.at[i]);
    for (uint32_t i = 0; i < said->scores.count; i++)
        extension_add_score(e, said->scores.at[i].node, said->scores.at[i].score);
    if (!said->all)
        extension_keep(e, &said->nodes);
    e->round.error = said->error;
    e->round.bare = said->bare;
    e->about = about;
    extension_round_end(e);
}

/* The nominated node is asked about alone, before all others. The last answer counts: those before
 * did not hold any more. */
static void take_about_nodes(struct extension *e, const struct past_consulted *c,
                             struct str nominated)
{
    const struct strs *asked = &c->question.nodes;
    bool alone = nominated.len > 0 && asked->count == 1 && str_equal(asked->at[0], nominated);
    if (alone)
        take_nodes(e, ABOUT_nominated, c);
    if (!alone || !e->answers[ABOUT_nodes].given)
        take_nodes(e, ABOUT_nodes, c);
    e->asked.nodes = 1;
}

struct naming {
    struct victim *victim; /* has its UID */
    struct arena *arena;
};

static void name_victim(void *context, const struct pod *pod)
{
    const struct naming *n = context;
    if (!str_equal(pod->uid, n->victim->uid))
        return;
    n->victim->namespace_name = arena_copy(n->arena, pod->namespace_name);
    n->victim->name = arena_copy(n->arena, pod->name);
    n->victim->priority = pod->priority;
}

/* An answer names victims by UID alone: one that was asked about, or another pod of that node. */
static void complete_victim(const struct past_consulted *c, const struct world *w, struct str node,
                            struct victim *v, struct arena *a)
{
    for (uint32_t i = 0; i < c->question.candidates.count; i++) {
        const struct candidate *asked = &c->question.candidates.at[i];
        for (uint32_t k = 0; str_equal(asked->node, node) && k < asked->victims.count; k++)
            if (str_equal(asked->victims.at[k].uid, v->uid)) {
                *v = asked->victims.at[k];
                return;
            }
    }
    world_each_pod(w, name_victim, &(struct naming){v, a});
}

/* Candidates without a victim are left out, as the scheduler does. */
static void take_chosen(struct extension *e, const struct past_consulted *c, const struct world *w)
{
    struct candidates_list left = {0};
    left.at = arena_take(&e->arena, (c->answer.candidates.count + 1) * sizeof(*left.at));
    for (uint32_t i = 0; i < c->answer.candidates.count; i++) {
        struct candidate *to = &left.at[left.count];
        codec_copy(&candidate_record, to, &c->answer.candidates.at[i], &e->arena);
        for (uint32_t k = 0; k < to->victims.count; k++)
            complete_victim(c, w, to->node, &to->victims.at[k], &e->arena);
        left.count += to->victims.count > 0;
    }
    e->victims.chosen = left;
}

/* One extender after the other, each on what the former left. */
static void take_victims(struct extension *e, const struct past_consulted *c, const struct world *w)
{
    struct extension_victims *v = &e->victims;
    if (!v->given) {
        v->candidates.count = c->question.candidates.count;
        v->candidates.at = c->question.candidates.at;
        v->chosen = v->candidates;
    }
    v->given = true;
    e->asked.victims = 1;
    if (c->answer.error.len > 0)
        v->error = c->answer.error;
    else if (!c->answer.ignored)
        take_chosen(e, c, w);
}

struct extension *consulted_answers(const struct past *p, const struct world *w)
{
    struct extension *e = extension_new((struct extension_asked){0});
    for (uint32_t i = 0; i < p->consulted_count; i++) {
        const struct past_consulted *c = &p->consulted[i];
        if (c->answered_us != 0 && c->question.step == EXTEND_STEP_victims)
            take_victims(e, c, w);
        else if (c->answered_us != 0)
            take_about_nodes(e, c, p->pod.nominated_node);
    }
    e->tries = EXTENSION_TRIES; /* nobody can be asked again */
    if ((e->asked.nodes | e->asked.victims) == 0)
        extension_free(&e);
    return e;
}
