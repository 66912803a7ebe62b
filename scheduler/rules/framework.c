/* framework: the registry of rules and what a profile makes of it. The one idea: a profile's plugin
 * names become pointers once, when the configuration comes, and stay in the profile's order. What
 * must stay true: a rule runs at most once at a point, and only where the profile lists it. */
#include "scheduler/rules/framework.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/metrics.h"
#include "scheduler/rules/plugin.h"
#include "scheduler/rules/timings.h"
#include "scheduler/table/wrap.h"

/* clang-format off */
#define PLUGIN(name, listed, points, rule) rule
#define RULE(name) extern const struct plugin plugin_##name;
#define NO_RULE
#include "proto/plugins.def"
#undef RULE

static const struct plugin *const registry[] = {
#define PLUGIN(name, listed, points, rule) rule
#define RULE(name) &plugin_##name,
#include "proto/plugins.def"
#undef RULE
#undef NO_RULE
};
/* clang-format on */

const struct plugin *plugin_find(struct str name)
{
    for (size_t i = 0; i < sizeof(registry) / sizeof(registry[0]); i++) {
        must(registry[i] != NULL);
        if (str_is(name, registry[i]->name))
            return registry[i];
    }
    return NULL;
}

/* The rules of an extension point, in the profile's order. */
static uint32_t pick(struct arena *a, struct strs names, const struct plugin ***out,
                     uint32_t **places)
{
    uint32_t count = 0;
    *out = arena_take(a, names.count * sizeof(struct plugin *));
    *places = arena_take(a, names.count * sizeof(uint32_t));
    for (uint32_t i = 0; i < names.count && i < 64; i++) {
        const struct plugin *p = plugin_find(names.at[i]);
        if (p == NULL)
            continue;
        (*places)[count] = i;
        (*out)[count++] = p;
    }
    return count;
}

/* Masks are 64 bits wide; what stands behind the 64th place of a list is not run. */
_Static_assert(sizeof(registry) / sizeof(registry[0]) <= 64, "a bit for every rule");

static void add_prepare(struct framework *fw, const struct plugin *p)
{
    for (uint32_t i = 0; i < fw->prepare_count; i++)
        if (fw->prepare[i] == p)
            return;
    if (p->prepare != NULL)
        fw->prepare[fw->prepare_count++] = p;
}

static void pick_prepare(struct framework *fw)
{
    uint32_t room = fw->pre_filter_count + fw->filter_count + fw->pre_score_count + fw->score_count;
    fw->prepare = arena_take(&fw->memory, room * sizeof(struct plugin *));
    for (uint32_t i = 0; i < fw->pre_filter_count; i++)
        add_prepare(fw, fw->pre_filter[i]);
    for (uint32_t i = 0; i < fw->filter_count; i++)
        add_prepare(fw, fw->filter[i]);
    for (uint32_t i = 0; i < fw->pre_score_count; i++)
        add_prepare(fw, fw->pre_score[i]);
    for (uint32_t i = 0; i < fw->score_count; i++)
        add_prepare(fw, fw->score[i].plugin);
}

static void pick_own_filters(struct framework *fw)
{
    fw->pre_filter_filters =
        arena_take(&fw->memory, fw->pre_filter_count * sizeof(*fw->pre_filter_filters));
    for (uint32_t i = 0; i < fw->pre_filter_count; i++) {
        fw->pre_filter_filters[i] = 0;
        for (uint32_t k = 0; k < fw->filter_count; k++)
            if (fw->filter[k] == fw->pre_filter[i])
                fw->pre_filter_filters[i] |= UINT64_C(1) << fw->filter_place[k];
    }
}

static void build(struct framework *fw, const struct profile *profile)
{
    *fw = (struct framework){0};
    codec_copy(&profile_record, &fw->profile, profile, &fw->memory);
    fw->pre_filter_count =
        pick(&fw->memory, fw->profile.pre_filter, &fw->pre_filter, &fw->pre_filter_place);
    fw->filter_count = pick(&fw->memory, fw->profile.filter, &fw->filter, &fw->filter_place);
    pick_own_filters(fw);
    fw->pre_score_count =
        pick(&fw->memory, fw->profile.pre_score, &fw->pre_score, &fw->pre_score_place);
    fw->score = arena_take(&fw->memory, fw->profile.score.count * sizeof(*fw->score));
    for (uint32_t i = 0; i < fw->profile.score.count && i < 64; i++) {
        const struct plugin *p = plugin_find(fw->profile.score.at[i].name);
        if (p != NULL && p->score != NULL)
            fw->score[fw->score_count++] = (struct scorer){p, fw->profile.score.at[i].weight, i};
    }
    pick_prepare(fw);
    fw->has_scores = fw->profile.score.count > 0;
    fw->preempts = strs_hold(fw->profile.post_filter, STR_LITERAL("DefaultPreemption"));
}

void frameworks_build(struct frameworks *all, const struct profile *profiles, uint32_t count)
{
    struct framework *at = memory_take_array(count, sizeof(*at));
    for (uint32_t i = 0; i < count; i++)
        build(&at[i], &profiles[i]);
    frameworks_clear(all); /* last: profiles may be ours */
    *all = (struct frameworks){.at = at, .count = count};
}

void frameworks_clear(struct frameworks *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        arena_free(&all->at[i].memory);
    memory_free(all->at);
    *all = (struct frameworks){0};
}

const struct framework *frameworks_find(const struct frameworks *all, struct str scheduler_name)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (str_equal(all->at[i].profile.scheduler_name, scheduler_name))
            return &all->at[i];
    return NULL;
}

static uint32_t place_of(struct strs names, const char *name)
{
    for (uint32_t i = 0; i < names.count; i++)
        if (str_is(names.at[i], name))
            return i;
    return names.count;
}

static void turn_away(const struct framework *fw, struct pre_filter_outcome *out,
                      const char *plugin, struct str reason)
{
    out->code = CODE_unresolvable;
    out->plugin = str_of(plugin);
    out->reason = reason;
    out->stopped_at = place_of(fw->profile.pre_filter, plugin);
}

/* Keeps the names that are in both sorted lists. */
static void intersect(struct strs *names, struct strs with)
{
    uint32_t kept = 0, k = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        while (k < with.count && str_compare(with.at[k], names->at[i]) < 0)
            k++;
        if (k < with.count && str_equal(with.at[k], names->at[i]))
            names->at[kept++] = names->at[i];
    }
    names->count = kept;
}

static void add_sorted(struct strs *list, struct str name)
{
    uint32_t i = list->count++;
    for (; i > 0 && str_compare(list->at[i - 1], name) > 0; i--)
        list->at[i] = list->at[i - 1];
    list->at[i] = name;
}

static void narrow(const struct framework *fw, const struct plugin *p, struct strs names,
                   struct pre_filter_outcome *out)
{
    if (out->narrowed)
        intersect(&out->names, names);
    else
        out->names = names;
    out->narrowed = true;
    must(out->by.count < fw->pre_filter_count);
    add_sorted(&out->by, str_of(p->name));
}

static struct str not_together(struct strs by, struct arena *a)
{
    struct buffer text = {0};
    buffer_add_text(&text, by.count == 1 ? "node(s) didn't satisfy plugin "
                                         : "node(s) didn't satisfy plugin(s) [");
    for (uint32_t i = 0; i < by.count; i++)
        buffer_print(&text, "%s%.*s", i == 0 ? "" : " ", STR_ARG(by.at[i]));
    if (by.count > 1)
        buffer_add_text(&text, "] simultaneously");
    struct str copy = arena_copy(a, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

static void mark_skipped(const struct pre_filter_question *q, uint32_t pre,
                         struct pre_filter_outcome *out)
{
    const struct framework *fw = q->framework;
    out->skipped |= UINT64_C(1) << fw->pre_filter_place[pre];
    q->findings->skip |= (int64_t)fw->pre_filter_filters[pre];
}

uint64_t framework_pre_filter_skips(const struct framework *fw, uint64_t filters)
{
    uint64_t skips = 0;
    for (uint32_t i = 0; filters != 0 && i < fw->filter_count; i++)
        for (uint32_t r = 0; r < fw->pre_filter_count; r++)
            if ((filters >> fw->filter_place[i] & 1) != 0 && fw->pre_filter[r] == fw->filter[i])
                skips |= UINT64_C(1) << fw->pre_filter_place[r];
    return skips;
}

static void pre_filter(const struct pre_filter_question *q, const struct plugin *p,
                       struct pre_filter *answer)
{
    if (q->clock == NULL) {
        p->pre_filter(q, answer);
        return;
    }
    struct moment began = q->clock();
    p->pre_filter(q, answer);
    int64_t took = moment_since(q->clock(), began).ns;
    /* upstream's code for a plugin that has nothing to do */
    const char *status =
        answer->code == CODE_success && answer->skip ? "Skip" : code_name(answer->code);
    const struct str *values =
        METRIC_VALUES(str_of(p->name), STR_LITERAL("PreFilter"), str_of(status));
    series_observe(metric_series(METRIC_scheduler_plugin_execution_duration_seconds, values), took);
}

/* A pod that is on a node is not placed: whoever asks where it may go is skipped, as the rules of
 * upstream skip themselves; those of the old Policy are no exception. */
static void skip_all_but_resizes(const struct pre_filter_question *q,
                                 struct pre_filter_outcome *out)
{
    const struct framework *fw = q->framework;
    for (uint32_t i = 0; i < fw->pre_filter_count; i++)
        if (!fw->pre_filter[i]->of_resizes)
            mark_skipped(q, i, out);
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if (!fw->filter[i]->of_resizes)
            q->findings->skip |= (int64_t)(UINT64_C(1) << fw->filter_place[i]);
}

/* False when the pod is turned away. */
static bool ask(const struct pre_filter_question *q, uint32_t i, struct pre_filter_outcome *out)
{
    const struct framework *fw = q->framework;
    const struct plugin *p = fw->pre_filter[i];
    struct pre_filter answer = {0};
    if (p->pre_filter == NULL)
        return true;
    pre_filter(q, p, &answer);
    if (answer.skip)
        mark_skipped(q, i, out);
    if (answer.code != CODE_success) { /* what others narrowed to is forgotten */
        out->narrowed = false;
        out->names.count = out->by.count = 0;
    }
    if (answer.code == CODE_error) {
        out->code = CODE_error;
        out->plugin = str_of(p->name);
        out->reason = arena_print(q->arena, "running PreFilter plugin \"%s\": %.*s", p->name,
                                  STR_ARG(answer.reason));
        return false;
    }
    if (answer.code != CODE_success) {
        turn_away(fw, out, p->name, answer.reason);
        return false;
    }
    if (!answer.narrow)
        return true;
    narrow(fw, p, answer.names, out);
    if (out->names.count > 0)
        return true;
    turn_away(fw, out, p->name, not_together(out->by, q->arena));
    out->plugin = (struct str){0};
    return false;
}

void framework_pre_filter(const struct pre_filter_question *q, struct pre_filter_outcome *out)
{
    const struct framework *fw = q->framework;
    *out = (struct pre_filter_outcome){0};
    *q->prepared = *q->pod;
    *q->findings = (struct findings){0};
    out->by.at = arena_take(q->arena, fw->pre_filter_count * sizeof(struct str));
    for (uint32_t i = 0; i < fw->prepare_count; i++)
        fw->prepare[i]->prepare(q);
    if (q->pod->resize_deferred)
        skip_all_but_resizes(q, out);
    for (uint32_t i = 0; i < fw->pre_filter_count; i++)
        if ((out->skipped >> fw->pre_filter_place[i] & 1) == 0 && !ask(q, i, out))
            return;
}

uint64_t framework_score_skips(const struct cycle *c)
{
    const struct framework *fw = c->framework;
    uint64_t skips = 0;
    for (uint32_t i = 0; i < fw->score_count; i++) {
        const struct plugin *p = fw->score[i].plugin;
        bool asked = p->score_skips != NULL && strs_hold(fw->profile.pre_score, str_of(p->name));
        if (!asked)
            continue;
        timings_start(c->timing);
        bool skip = p->score_skips(c);
        timings_once(c->timing, TIMED_PreScore, p, skip);
        skips |= skip ? UINT64_C(1) << i : 0;
    }
    return skips;
}

void framework_pre_score(struct cycle *c)
{
    const struct framework *fw = c->framework;
    for (uint32_t i = 0; fw->has_scores && i < fw->pre_score_count; i++) {
        const struct plugin *p = fw->pre_score[i];
        timings_start(c->timing);
        if (p->pre_score == NULL || c->error.len > 0)
            continue;
        p->pre_score(c);
        timings_once(c->timing, TIMED_PreScore, p, false);
    }
}

struct counting {
    const struct plugin **at;
    uint32_t count;
};

static void add_counting(const struct framework *fw, const struct plugin *p, const struct pod *pod,
                         const struct findings *findings, struct counting *out)
{
    if (p->counts == NULL || !p->counts(fw, pod, findings))
        return;
    for (uint32_t i = 0; i < out->count; i++)
        if (out->at[i] == p)
            return;
    out->at[out->count++] = p;
}

uint32_t framework_counting(const struct framework *fw, const struct pod *pod,
                            const struct findings *findings, const struct plugin **at)
{
    struct counting all = {.at = at};
    for (uint32_t i = 0; i < fw->filter_count; i++)
        add_counting(fw, fw->filter[i], pod, findings, &all);
    for (uint32_t i = 0; i < fw->score_count; i++)
        add_counting(fw, fw->score[i].plugin, pod, findings, &all);
    return all.count;
}
