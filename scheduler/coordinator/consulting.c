/* consulting: the way of a question about nodes. The one idea: it goes on as far as nobody has to
 * be waited for: filters that are plugins on the bus, in the profile's order, on what the former
 * left; then the extenders; then scores that are such plugins, if there is still a choice. Before
 * any node is looked at, and when none is any good, plugins are asked about the pod likewise. What
 * must stay true: a plugin that fails is as if it had not been asked, or leaves no node, as its
 * failurePolicy says; whatever it says, no node passes that it was not asked about. */
#include "scheduler/coordinator/consulting.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/coordinator/extender_questions.h"
#include "scheduler/coordinator/extending.h"
#include "scheduler/merge/plugin_said.h"

static const struct profile *profile_of(const struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    must(fw != NULL); /* flights begin anew when profiles go */
    return &fw->profile;
}

/* How a stage is named: towards plugins, and in metrics. */
static const struct {
    enum plugin_step step;
    const char *point;
} stages[] = {[STAGE_pre_filters] = {PLUGIN_STEP_pre_filter, "PreFilter"},
              [STAGE_filters] = {PLUGIN_STEP_filter, "Filter"},
              [STAGE_pre_scores] = {PLUGIN_STEP_pre_score, "PreScore"},
              [STAGE_scores] = {PLUGIN_STEP_score, "Score"},
              [STAGE_post_filters] = {PLUGIN_STEP_post_filter, "PostFilter"}};

/* The names in the profile's list of the stage, which is not that of scores. */
static const struct strs *list_of(const struct profile *p, enum extension_stage stage)
{
    switch (stage) {
    case STAGE_pre_filters: return &p->pre_filter;
    case STAGE_pre_scores: return &p->pre_score;
    case STAGE_post_filters: return &p->post_filter;
    default: return &p->filter;
    }
}

static uint32_t places_of(const struct profile *p, enum extension_stage stage)
{
    return stage == STAGE_scores ? p->score.count : list_of(p, stage)->count;
}

static struct str name_at(const struct profile *p, enum extension_stage stage, uint32_t place)
{
    return stage == STAGE_scores ? p->score.at[place].name : list_of(p, stage)->at[place];
}

/* The plugin whose turn it is; NULL: who stands there is none on the bus. */
static const struct bus_plugin *whose_turn(const struct coordinator *c, const struct flight *f)
{
    const struct extension_round *r = &f->extension->round;
    const struct profile *p = profile_of(c, f);
    return bus_plugins_of(p, name_at(p, r->stage, r->place));
}

/* ---- asking ---- */

static void fail(struct coordinator *c, struct moment now, struct flight *f, struct str why)
{
    const struct bus_plugin *plugin = whose_turn(c, f);
    bus_plugins_say_failed(c, now, f, plugin->ignore, why);
    if (!plugin->ignore)
        plugin_said_nothing(f->extension, plugin, why);
}

/* A former answer of the plugin, or the choice that is left, makes the question needless. */
static bool is_needless(const struct extension *e, const struct bus_plugin *plugin)
{
    switch (e->round.stage) {
    case STAGE_filters: return strs_hold(e->skipped_filters, plugin->name);
    case STAGE_scores: return strs_hold(e->round.skipped_scores, plugin->name);
    default: return false;
    }
}

static bool ends_pod(const struct pre_filter_said *said)
{
    return said->rejects || (said->narrow && said->names.count == 0);
}

static bool ends_chain(const struct post_filter_said *said)
{
    return said->failed || said->last || said->node.len > 0;
}

/* Whether anybody further in this stage matters. */
static bool goes_on(const struct extension *e)
{
    const struct extension_round *r = &e->round;
    switch (r->stage) {
    case STAGE_pre_filters: return r->place == 0 || !ends_pod(&e->pre_filter.at[r->place - 1]);
    case STAGE_post_filters: return r->place == 0 || !ends_chain(&e->no_node.at[r->place - 1]);
    case STAGE_pre_scores:
    case STAGE_scores: return e->about == ABOUT_nodes && r->left.count > 1;
    default: return r->left.count > 0;
    }
}

/* True: a plugin is waited for; false: the stage is over. */
static bool ask(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension *e = f->extension;
    struct extension_round *r = &e->round;
    uint32_t places = places_of(profile_of(c, f), r->stage);
    for (; r->place < places && goes_on(e); r->place++) {
        const struct bus_question q = {.plugin = whose_turn(c, f),
                                       .step = stages[r->stage].step,
                                       .nodes = &r->left,
                                       .why_not =
                                           r->stage == STAGE_post_filters ? &e->no_node : NULL,
                                       .memory = &e->arena};
        struct str why;
        if (q.plugin == NULL || is_needless(e, q.plugin))
            continue;
        if (bus_plugins_ask(c, now, f, &q, &why))
            return true;
        fail(c, now, f, why);
    }
    return false;
}

static void end(struct coordinator *c, struct flight *f)
{
    struct extension *e = f->extension;
    if (e->about == ABOUT_pod)
        e->pre_filter.given = true;
    else if (e->about == ABOUT_no_node)
        e->no_node.given = true;
    else if (e->about == ABOUT_victims)
        e->victims.given = true;
    else
        extension_round_end(e);
    flights_return(&c->flights, f);
}

/* What comes behind what was asked: about nodes that are feasible, or could be. False: nothing. */
static bool next_stage(struct extension_round *r)
{
    static const enum extension_stage behind[] = {[STAGE_filters] = STAGE_extenders,
                                                  [STAGE_extenders] = STAGE_pre_scores,
                                                  [STAGE_pre_scores] = STAGE_scores};
    if (r->stage >= STAGE_scores || r->error.len > 0)
        return false;
    r->stage = behind[r->stage];
    r->place = 0;
    return true;
}

static void go_on(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension_round *r = &f->extension->round;
    f->question = 0;
    f->asked_peer = 0;
    do {
        if (r->stage != STAGE_extenders && ask(c, now, f))
            return;
        if (r->stage == STAGE_filters) {
            (void)next_stage(r);
            if (extender_questions_send(c, now, f))
                return;
        }
    } while (next_stage(r));
    end(c, f);
}

void consulting_begin(struct coordinator *c, struct moment now, struct flight *f,
                      const struct strs *nodes)
{
    if (f->extension->about == ABOUT_pod)
        extension_pre_filter_begin(f->extension, profile_of(c, f)->pre_filter.count);
    else if (f->extension->about == ABOUT_no_node)
        extension_post_filter_begin(f->extension, profile_of(c, f)->post_filter.count);
    else
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

/* Takes the answer in. Empty, or what is wrong with it; then nothing has changed. */
static struct str take(const struct coordinator *c, struct flight *f,
                       const struct bus_plugin *plugin, const struct plugin_answer *said)
{
    struct extension *e = f->extension;
    if (said->error.len > 0)
        return arena_print(&e->arena, "failed: %.*s", STR_ARG(said->error));
    switch (e->round.stage) {
    case STAGE_pre_filters: return plugin_said_pre_filter(e, plugin, said);
    case STAGE_pre_scores: return plugin_said_pre_score(e, plugin, said);
    case STAGE_post_filters: return plugin_said_post_filter(e, said);
    case STAGE_scores:
        return plugin_said_score(e, profile_of(c, f)->score.at[e->round.place].weight, said);
    default: return plugin_said_filter(e, plugin, said);
    }
}

/* In upstream's words for what the plugin says as a whole. */
static const char *status_of(const struct extension *e, const struct plugin_answer *said)
{
    switch (e->round.stage) {
    case STAGE_pre_filters:
        return e->pre_filter.at[e->round.place].rejects ? "UnschedulableAndUnresolvable"
               : said->skip                             ? "Skip"
                                                        : "Success";
    case STAGE_pre_scores: return said->skip ? "Skip" : "Success";
    case STAGE_post_filters:
        return said->node.len > 0   ? "Success"
               : said->unresolvable ? "UnschedulableAndUnresolvable"
                                    : "Unschedulable";
    default: return "Success";
    }
}

void consulting_on_answer(struct coordinator *c, struct moment now, struct flight *f,
                          const struct plugin_answer *answer)
{
    struct extension *e = f->extension;
    const struct bus_plugin *plugin = whose_turn(c, f);
    struct str wrong = take(c, f, plugin, answer);
    measure_plugin(c, f, plugin, stages[e->round.stage].point,
                   wrong.len > 0 ? "Error" : status_of(e, answer));
    if (wrong.len > 0)
        fail(c, now, f, bus_plugins_failed(c, plugin, wrong, &e->arena));
    else
        bus_plugins_fine(c, plugin);
    if (wrong.len == 0 && e->round.stage == STAGE_scores && answer->normalize.len > 0)
        measure_normalised(plugin);
    e->round.place++;
    go_on(c, now, f);
}

void consulting_on_late(struct coordinator *c, struct moment now, struct flight *f)
{
    const struct bus_plugin *plugin = whose_turn(c, f);
    measure_plugin(c, f, plugin, stages[f->extension->round.stage].point, "Error");
    fail(c, now, f, bus_plugins_late(c, now, plugin, &f->extension->arena));
    f->extension->round.place++;
    go_on(c, now, f);
}
