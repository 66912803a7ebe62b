/* consulting: a question about a pod or its nodes goes on as far as nobody has to be waited for: to
 * plugins on the bus, and between them to the extenders; who is next is merge/consultation.c's.
 * What must stay true: a plugin that fails is as if it had not been asked, or leaves no node, as
 * its failurePolicy says. */
#include "scheduler/coordinator/consulting.h"

#include "proto/base/log.h"
#include "proto/base/must.h"
#include "scheduler/coordinator/extender_questions.h"
#include "scheduler/coordinator/extending.h"
#include "scheduler/merge/consultation.h"
#include "scheduler/merge/plugin_said.h"

static const struct profile *profile_of(const struct coordinator *c, const struct flight *f)
{
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    must(fw != NULL); /* flights begin anew when profiles go */
    return &fw->profile;
}

/* The plugin whose turn it is. */
static const struct bus_plugin *whose_turn(const struct coordinator *c, const struct flight *f)
{
    return consultation_plugin(f->extension, profile_of(c, f));
}

/* ---- asking ---- */

static void fail(struct coordinator *c, struct moment now, struct flight *f, struct str why)
{
    const struct bus_plugin *plugin = whose_turn(c, f);
    bus_plugins_say_failed(c, now, f, plugin->ignore, why);
    if (!plugin->ignore)
        plugin_said_nothing(f->extension, plugin, why);
}

/* True: a plugin is waited for; false: the stage is over. */
static bool ask(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension *e = f->extension;
    struct consultation_turn t;
    for (; consultation_turn(e, profile_of(c, f), &t); consultation_pass(e)) {
        struct str why;
        if (bus_plugins_ask(c, now, f, &t, &why))
            return true;
        fail(c, now, f, why);
    }
    return false;
}

static void end(struct coordinator *c, struct flight *f)
{
    consultation_end(f->extension);
    flights_return(&c->flights, f);
}

static void go_on(struct coordinator *c, struct moment now, struct flight *f)
{
    struct extension *e = f->extension;
    f->question = 0;
    f->asked_peer = 0;
    do {
        if (ask(c, now, f))
            return;
        if (e->round.stage == STAGE_filters) {
            (void)consultation_next_stage(e);
            if (extender_questions_send(c, now, f))
                return;
        }
    } while (consultation_next_stage(e));
    end(c, f);
}

void consulting_begin(struct coordinator *c, struct moment now, struct flight *f,
                      const struct strs *nodes)
{
    consultation_begin(f->extension, profile_of(c, f), nodes);
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

void consulting_on_answer(struct coordinator *c, struct moment now, struct flight *f,
                          const struct plugin_answer *answer)
{
    struct extension *e = f->extension;
    const struct bus_plugin *plugin = whose_turn(c, f);
    struct str wrong = consultation_take(e, profile_of(c, f), answer);
    measure_plugin(c, f, plugin, consultation_point(e),
                   wrong.len > 0 ? "Error" : consultation_status(e, answer));
    if (wrong.len > 0)
        fail(c, now, f, bus_plugins_failed(c, plugin, wrong, &e->arena));
    else
        bus_plugins_fine(c, plugin);
    if (wrong.len == 0 && e->round.stage == STAGE_scores && answer->normalize.len > 0)
        measure_normalised(plugin);
    consultation_pass(e);
    go_on(c, now, f);
}

void consulting_on_late(struct coordinator *c, struct moment now, struct flight *f)
{
    const struct bus_plugin *plugin = whose_turn(c, f);
    measure_plugin(c, f, plugin, consultation_point(f->extension), "Error");
    fail(c, now, f, bus_plugins_late(c, now, plugin, &f->extension->arena));
    consultation_pass(f->extension);
    go_on(c, now, f);
}
