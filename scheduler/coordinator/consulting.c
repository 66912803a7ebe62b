/* consulting: the way of a question about nodes. The one idea: it goes on as far as nobody has to
 * be waited for: filters that are plugins on the bus, in the profile's order, on what the former
 * left; then the extenders; then scores that are such plugins, if there is still a choice. What
 * must stay true: a plugin that fails is as if it had not been asked, or leaves no node, as its
 * failurePolicy says; whatever it says, no node passes that it was not asked about. */
#include "scheduler/coordinator/consulting.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/coordinator/extender_questions.h"
#include "scheduler/coordinator/extending.h"
#include "scheduler/rules/plugin.h"
#include "scheduler/table/wrap.h"

#include <inttypes.h>

static const struct profile *profile_of(const struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    must(fw != NULL); /* flights begin anew when profiles go */
    return &fw->profile;
}

/* The plugin whose turn it is; NULL: who stands there is none on the bus. */
static const struct bus_plugin *whose_turn(const struct coordinator *c, const struct flight *f)
{
    const struct extension_round *r = &f->extension->round;
    const struct profile *p = profile_of(c, f);
    if (r->stage == STAGE_scores)
        return bus_plugins_of(p, p->score.at[r->place].name);
    return bus_plugins_of(p, p->filter.at[r->place]);
}

/* ---- what a plugin's failure does ---- */

static void fail(struct coordinator *c, struct moment now, struct flight *f, struct str why)
{
    const struct bus_plugin *plugin = whose_turn(c, f);
    struct extension_round *r = &f->extension->round;
    bus_plugins_say_failed(c, now, f, plugin->ignore, why);
    if (plugin->ignore)
        return;
    for (uint32_t i = 0; i < r->left.count; i++) {
        const struct extender_refusal refusal = {r->left.at[i], why, true,
                                                 arena_copy(&f->extension->arena, plugin->name)};
        extension_refuse(f->extension, &refusal);
    }
    r->left.count = 0;
}

/* Asks whose turn it is. False: its turn is over. */
static bool ask(struct coordinator *c, struct moment now, struct flight *f, enum plugin_step step)
{
    const struct bus_question q = {whose_turn(c, f), step, &f->extension->round.left,
                                   &f->extension->arena};
    struct str why;
    if (q.plugin == NULL)
        return false;
    if (bus_plugins_ask(c, now, f, &q, &why))
        return true;
    fail(c, now, f, why);
    return false;
}

/* ---- the stages; true: somebody is waited for ---- */

static bool ask_filters(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension_round *r = &f->extension->round;
    const struct profile *p = profile_of(c, f);
    for (; r->place < p->filter.count && r->left.count > 0; r->place++)
        if (ask(c, now, f, PLUGIN_STEP_filter))
            return true;
    return false;
}

static bool ask_scores(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension_round *r = &f->extension->round;
    const struct profile *p = profile_of(c, f);
    bool choice = f->extension->about == ABOUT_nodes && r->left.count > 1;
    for (; choice && r->place < p->score.count && r->left.count > 1; r->place++)
        if (ask(c, now, f, PLUGIN_STEP_score))
            return true;
    return false;
}

static void end(struct coordinator *c, struct flight *f)
{
    if (f->extension->about == ABOUT_victims)
        f->extension->victims.given = true;
    else
        extension_round_end(f->extension);
    flights_return(&c->flights, f);
}

static void go_on(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension_round *r = &f->extension->round;
    f->question = 0;
    f->asked_peer = 0;
    if (r->stage == STAGE_filters) {
        if (ask_filters(c, now, f))
            return;
        r->stage = STAGE_extenders;
        if (extender_questions_send(c, now, f))
            return;
    }
    if (r->stage == STAGE_extenders) {
        r->stage = STAGE_scores;
        r->place = 0;
    }
    if (r->error.len > 0 || !ask_scores(c, now, f))
        end(c, f);
}

void consulting_begin(struct coordinator *c, struct moment now, struct flight *f,
                      const struct strs *nodes)
{
    extension_round_begin(f->extension, nodes);
    go_on(c, now, f);
}

void consulting_again(struct coordinator *c, struct moment now, struct flight *f)
{
    go_on(c, now, f);
}

/* ---- answers ---- */

void consulting_on_extended(struct coordinator *c, struct moment now, struct flight *f,
                            const struct extended *said)
{
    struct extension *e = f->extension;
    if (e->about != ABOUT_victims) {
        struct extended *kept = arena_take(&e->arena, sizeof(*kept));
        codec_copy(message_info[MSG_extended].record, kept, said, &e->arena);
        for (uint32_t i = 0; i < kept->refused.count; i++)
            extension_refuse(e, &kept->refused.at[i]);
        for (uint32_t i = 0; i < kept->scores.count; i++)
            extension_add_score(e, kept->scores.at[i].node, kept->scores.at[i].score);
        if (!kept->all)
            extension_keep(e, &kept->nodes);
        e->round.error = kept->error;
        e->round.bare = kept->bare;
    }
    go_on(c, now, f);
}

static struct str unknown_node(struct arena *a, struct str node)
{
    return arena_print(a, "answered about a node that it was not asked about: \"%.*s\"",
                       STR_ARG(node));
}

/* Empty, or what is wrong with the answer; then nothing has changed. */
static struct str take_refusals(struct flight *f, const struct bus_plugin *plugin,
                                const struct plugin_answer *said)
{
    struct extension *e = f->extension;
    struct extension_round *r = &e->round;
    uint32_t place, kept = 0;
    bool *no = arena_take(&e->arena, r->left.count * sizeof(*no));
    for (uint32_t i = 0; i < said->refused.count; i++) {
        if (!extension_find(&r->left, said->refused.at[i].node, &place))
            return unknown_node(&e->arena, said->refused.at[i].node);
        no[place] = true;
    }
    for (uint32_t i = 0; i < said->refused.count; i++) {
        const struct plugin_refusal *given = &said->refused.at[i];
        struct extender_refusal refusal = {.node = arena_copy(&e->arena, given->node),
                                           .reason = arena_copy(&e->arena, given->reason),
                                           .unresolvable = given->unresolvable,
                                           .plugin = arena_copy(&e->arena, plugin->name)};
        if (refusal.reason.len == 0)
            refusal.reason =
                arena_print(&e->arena, "node(s) didn't satisfy plugin %.*s", STR_ARG(plugin->name));
        extension_refuse(e, &refusal);
    }
    for (uint32_t i = 0; i < r->left.count; i++)
        if (!no[i])
            r->left.at[kept++] = r->left.at[i];
    r->left.count = kept;
    return (struct str){0};
}

static struct str take_scores(struct coordinator *c, struct flight *f,
                              const struct plugin_answer *said)
{
    struct extension *e = f->extension;
    int64_t weight = profile_of(c, f)->score.at[e->round.place].weight;
    uint32_t place;
    for (uint32_t i = 0; i < said->scores.count; i++) {
        const struct plugin_opinion *o = &said->scores.at[i];
        if (!extension_find(&e->round.left, o->node, &place))
            return unknown_node(&e->arena, o->node);
        if (o->score < 0 || o->score > SCORE_MAX)
            return arena_print(&e->arena,
                               "returns an invalid score %" PRId64 ", it should in the range of "
                               "[0, %d] after normalizing",
                               o->score, SCORE_MAX);
    }
    for (uint32_t i = 0; i < said->scores.count; i++)
        extension_add_score(e, said->scores.at[i].node, wrap_mul(said->scores.at[i].score, weight));
    return (struct str){0};
}

static const char *point_of(const struct flight *f)
{
    return f->extension->round.stage == STAGE_scores ? "Score" : "Filter";
}

void consulting_on_answer(struct coordinator *c, struct moment now, struct flight *f,
                          const struct plugin_answer *answer)
{
    struct extension *e = f->extension;
    const struct bus_plugin *plugin = whose_turn(c, f);
    const char *point = point_of(f);
    struct str wrong = {0};
    if (answer->error.len > 0)
        wrong = arena_print(&e->arena, "failed: %.*s", STR_ARG(answer->error));
    else if (e->round.stage == STAGE_filters)
        wrong = take_refusals(f, plugin, answer);
    else
        wrong = take_scores(c, f, answer);
    measure_plugin(c, f, plugin, point, wrong.len > 0 ? "Error" : "Success");
    if (wrong.len > 0)
        fail(c, now, f, bus_plugins_failed(c, plugin, wrong, &e->arena));
    else
        bus_plugins_fine(c, plugin);
    e->round.place++;
    go_on(c, now, f);
}

void consulting_on_late(struct coordinator *c, struct moment now, struct flight *f)
{
    const struct bus_plugin *plugin = whose_turn(c, f);
    measure_plugin(c, f, plugin, point_of(f), "Error");
    fail(c, now, f, bus_plugins_late(c, now, plugin, &f->extension->arena));
    f->extension->round.place++;
    go_on(c, now, f);
}
