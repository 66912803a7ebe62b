/* world_plugins: plugins on the bus, asked in turn as the scheduler and its queue ask them, but one
 * pod at a time and waited for. What must stay true: a plugin that fails counts as its
 * failurePolicy says; one that was asked at Reserve or Permit is told when it comes to nothing. */
#include "ctl/world_inside.h"

#include "scheduler/merge/consultation.h"
#include "scheduler/merge/fit_error.h"
#include "scheduler/merge/plugin_facts.h"
#include "scheduler/merge/plugin_said.h"
#include "scheduler/rules/plugin.h"

/* ---- decisions ---- */

struct extension *world_extension(const struct world *w, const struct framework *fw)
{
    struct extension_asked asked = {0};
    if (w->plugins == NULL || fw == NULL)
        return NULL;
    for (uint32_t i = 0; i < fw->profile.bus_plugins.count; i++) {
        const struct bus_plugin_says says =
            bus_plugin_says(&fw->profile, fw->profile.bus_plugins.at[i].name);
        uint64_t bit = UINT64_C(1) << i;
        asked.nodes |= says.nodes ? bit : 0;
        asked.victims |= says.filters ? bit : 0;
        asked.pod |= says.pod ? bit : 0;
    }
    bool any = (asked.nodes | asked.victims | asked.pod) != 0;
    return any ? extension_new(asked) : NULL;
}

bool world_asks(const struct world *w, const struct pod *pod)
{
    struct extension *e = world_extension(w, world_framework(w, pod));
    bool asks = e != NULL;
    extension_free(&e);
    return asks;
}

const struct verdict *world_by_rules(struct world *w, const struct pod *pod, uint32_t *count,
                                     struct arena *a)
{
    const struct world_plugins *plugins = w->plugins;
    const struct extension *answers = w->answers;
    w->plugins = NULL;
    w->answers = NULL;
    (void)world_decide(w, pod);
    w->plugins = plugins;
    w->answers = answers;
    const struct verdict *told = world_verdicts(w, count);
    struct verdict *rules = arena_take(a, (*count + 1) * sizeof(*rules));
    for (uint32_t i = 0; i < *count; i++)
        codec_copy(&verdict_record, &rules[i], &told[i], a);
    return rules;
}

/* NULL with why, from the arena: it has failed. */
static const struct plugin_answer *ask(const struct world *w, const struct pod *pod,
                                       const struct consultation_turn *t, struct str *why,
                                       struct arena *a)
{
    struct plugin_ask question = {.step = t->step, .pod = *pod};
    const struct plugin_answer *said = NULL;
    struct arena memory = {0};
    if (plugin_facts(w->cache, t, &question, &memory))
        said = w->plugins->ask(w->plugins->state, t->plugin, &question, why, a);
    else
        *why = arena_print(a, "plugin \"%.*s\" " PLUGIN_FACTS_TOO_LARGE, STR_ARG(t->plugin->name));
    arena_free(&memory);
    return said;
}

/* A sentence that names the plugin. */
static struct str failure_of(const struct bus_plugin *plugin, struct str wrong, struct arena *a)
{
    return arena_print(a, "plugin \"%.*s\" %.*s", STR_ARG(plugin->name), STR_ARG(wrong));
}

static void take_turn(const struct world *w, const struct pod *pod, struct extension *e,
                      const struct consultation_turn *t)
{
    const struct profile *p = &world_framework(w, pod)->profile;
    struct str why = {0}, wrong = {0};
    const struct plugin_answer *said = ask(w, pod, t, &why, &e->arena);
    if (said != NULL)
        wrong = consultation_take(e, p, said);
    if (wrong.len > 0)
        why = failure_of(t->plugin, wrong, &e->arena);
    if (why.len > 0 && !t->plugin->ignore)
        plugin_said_nothing(e, t->plugin, why);
}

void world_consultation(struct world *w, const struct pod *pod, struct extension *e,
                        const struct reduce_extend *q)
{
    const struct profile *p = &world_framework(w, pod)->profile;
    struct consultation_turn t;
    struct strs nodes;
    if (!consultation_open(e, q, w->cache, &nodes, &w->arena))
        return;
    consultation_begin(e, p, &nodes);
    do {
        for (; consultation_turn(e, p, &t); consultation_pass(e))
            take_turn(w, pod, e, &t);
        if (e->round.stage == STAGE_filters && e->about == ABOUT_victims)
            consultation_narrow_candidates(e);
    } while (consultation_next_stage(e));
    consultation_end(e);
}

/* ---- Reserve and Permit ---- */

/* As upstream says it of who is turned away behind the decision. */
static bool reject(struct held *held, struct str plugin, struct str reason, struct str *error)
{
    struct histogram h = {.arena = held->arena};
    histogram_add(&h, reason, 1);
    held->rejected_by = arena_copy(held->arena, plugin);
    *error = arena_copy(held->arena, fit_error(1, (struct str){0}, &h, (struct str){0}));
    return false;
}

static bool permits_hook(const struct plugin *hook, struct attempt_question *q, struct held *held,
                         struct str *error)
{
    const struct permit_reply said = hook_permit(hook, q, &held->hooks, NULL);
    struct str why = said.reason;
    if (said.says == PERMIT_allow || said.says == PERMIT_wait)
        return true;
    if (said.says == PERMIT_deny && why.len == 0)
        why = arena_print(held->arena, "plugin \"%s\" does not permit it", hook->name);
    if (said.says == PERMIT_deny)
        return reject(held, str_of(hook->name), why, error);
    *error = arena_print(held->arena, "running Permit plugin \"%s\": %.*s", hook->name,
                         STR_ARG(said.reason));
    return false;
}

/* Nobody waits here: what is waited for is taken to come. False with why: it says no, or fails. */
static bool allows(const struct world *w, const struct attempt_question *q, struct held *held,
                   const struct consultation_turn *t, struct str *why)
{
    const struct plugin_answer *said = ask(w, q->pod, t, why, held->arena);
    if (said == NULL)
        return t->plugin->ignore;
    struct str wrong = plugin_said_hold(said, t->step, held->arena);
    if (wrong.len > 0) {
        *why = failure_of(t->plugin, wrong, held->arena);
        return t->plugin->ignore;
    }
    *why = plugin_said_denial(t->plugin, said, t->step, held->arena);
    return why->len == 0;
}

/* Those of a list in turn; how many were asked is counted, as they are told when it fails. */
static bool ask_all(const struct world *w, struct attempt_question *q, struct held *held,
                    enum plugin_step step, struct str *error)
{
    const struct framework *fw = q->framework;
    bool permit = step == PLUGIN_STEP_permit;
    const struct strs list = permit ? fw->profile.permit : fw->profile.reserve;
    const struct strs node = {1, &held->hooks.node};
    for (uint32_t i = 0; i < list.count; i++) {
        const struct plugin *hook = permit ? hooked_find(&fw->permit, list.at[i]) : NULL;
        const struct consultation_turn t = {
            .plugin = w->plugins != NULL ? bus_plugin_of(&fw->profile, list.at[i]) : NULL,
            .step = step,
            .nodes = &node};
        struct str why = {0};
        if (hook != NULL && !permits_hook(hook, q, held, error))
            return false;
        if (t.plugin == NULL)
            continue;
        *(permit ? &held->asked.permit : &held->asked.reserve) = i + 1;
        if (!allows(w, q, held, &t, &why))
            return reject(held, t.plugin->name, why, error);
    }
    return true;
}

bool world_plugins_hold(struct world *w, struct attempt_question *q, struct held *held,
                        struct str *error)
{
    return ask_all(w, q, held, PLUGIN_STEP_reserve, error) &&
           ask_all(w, q, held, PLUGIN_STEP_permit, error);
}

/* ---- what is told ---- */

static void tell(const struct world *w, const struct bus_plugin *plugin, enum plugin_news what,
                 const struct pod *pod, struct str node)
{
    const struct plugin_told news = {.what = what,
                                     .uid = pod->uid,
                                     .namespace_name = pod->namespace_name,
                                     .name = pod->name,
                                     .node = node};
    w->plugins->tell(w->plugins->state, plugin, &news);
}

static bool holds_below(struct strs names, uint32_t below, struct str name)
{
    return strs_hold((struct strs){below, names.at}, name);
}

/* In reverse order, and each once. */
void world_plugins_give_back(const struct world *w, const struct pod *pod, struct held *held)
{
    const struct framework *fw = world_framework(w, pod);
    const struct held_asked asked = held->asked;
    const struct bus_plugin *plugin;
    held->asked = (struct held_asked){0};
    if (w->plugins == NULL || fw == NULL)
        return;
    const struct profile *p = &fw->profile;
    for (uint32_t i = asked.permit; i > 0; i--) {
        plugin = bus_plugin_of(p, p->permit.at[i - 1]);
        if (plugin != NULL && !holds_below(p->reserve, asked.reserve, plugin->name))
            tell(w, plugin, PLUGIN_NEWS_unreserved, pod, held->hooks.node);
    }
    for (uint32_t i = asked.reserve; i > 0; i--) {
        plugin = bus_plugin_of(p, p->reserve.at[i - 1]);
        if (plugin != NULL)
            tell(w, plugin, PLUGIN_NEWS_unreserved, pod, held->hooks.node);
    }
}

void world_plugins_bound(const struct world *w, const struct pod *pod)
{
    const struct framework *fw = world_framework(w, pod);
    for (uint32_t i = 0; w->plugins != NULL && fw != NULL && i < fw->profile.post_bind.count; i++) {
        const struct bus_plugin *plugin = bus_plugin_of(&fw->profile, fw->profile.post_bind.at[i]);
        if (plugin != NULL)
            tell(w, plugin, PLUGIN_NEWS_bound, pod, pod->node_name);
    }
}

/* ---- QueueSort, PreEnqueue ---- */

int64_t world_sort_key(const struct world *w, const struct pod *pod, const struct bus_plugin *sorts)
{
    const struct plugin_ask question = {.step = PLUGIN_STEP_queue_sort, .pod = *pod};
    struct arena memory = {0};
    struct str why = {0};
    const struct plugin_answer *said =
        w->plugins->ask(w->plugins->state, sorts, &question, &why, &memory);
    arena_free(&memory);
    return said != NULL ? said->key : pod->priority;
}

/* As the queue's: empty, or why it keeps the pod out. */
static struct str denial(const struct world *w, const struct pod *pod,
                         const struct bus_plugin *plugin, struct arena *a)
{
    const struct plugin_ask question = {.step = PLUGIN_STEP_pre_enqueue, .pod = *pod};
    struct str why = {0};
    const struct plugin_answer *said =
        w->plugins->ask(w->plugins->state, plugin, &question, &why, a);
    if (said != NULL && str_is(said->verdict, "deny"))
        return said->reason.len > 0
                   ? arena_copy(a, said->reason)
                   : arena_print(a, "plugin \"%.*s\" does not let it in", STR_ARG(plugin->name));
    if (said != NULL && said->verdict.len > 0 && !str_is(said->verdict, "allow"))
        why = failure_of(
            plugin,
            arena_print(a, "answered with an unknown verdict: \"%.*s\"", STR_ARG(said->verdict)),
            a);
    return plugin->ignore ? (struct str){0} : why;
}

struct str world_plugins_kept_by(const struct world *w, const struct pod *pod, struct str *reason,
                                 struct arena *a)
{
    const struct profile *p = &world_framework(w, pod)->profile;
    for (uint32_t i = 0; w->plugins != NULL && i < p->pre_enqueue.count; i++) {
        const struct bus_plugin *plugin = bus_plugin_of(p, p->pre_enqueue.at[i]);
        if (plugin == NULL)
            continue;
        *reason = denial(w, pod, plugin, a);
        if (reason->len > 0)
            return plugin->name;
    }
    return (struct str){0};
}
