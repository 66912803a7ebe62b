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
/* Also those whose work is done elsewhere. */
static const char *const known[] = {
#define PLUGIN(name, listed, points, rule) #name,
#include "proto/plugins.def"
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

static bool is_on_bus(const struct profile *profile, struct str name)
{
    for (uint32_t i = 0; i < profile->bus_plugins.count; i++)
        if (str_equal(profile->bus_plugins.at[i].name, name))
            return true;
    return false;
}

/* Whether a profile may name it, wherever its work is done. */
static bool is_known(const struct profile *profile, struct str name)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (str_is(name, known[i]))
            return true;
    return is_on_bus(profile, name);
}

static bool any_unknown(const struct profile *profile, struct str *plugin)
{
    const struct strs lists[] = {profile->pre_filter, profile->filter, profile->pre_score};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (uint32_t j = 0; j < lists[i].count; j++)
            if (!is_known(profile, *plugin = lists[i].at[j]))
                return true;
    for (uint32_t i = 0; i < profile->score.count; i++)
        if (!is_known(profile, *plugin = profile->score.at[i].name))
            return true;
    return false;
}

bool frameworks_lack(const struct profile *profiles, uint32_t count, struct str *at,
                     struct str *plugin)
{
    for (uint32_t i = 0; i < count; i++) {
        *at = profiles[i].scheduler_name;
        if (any_unknown(&profiles[i], plugin))
            return true;
    }
    return false;
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

static bool hooks_post_filter(const struct plugin *p)
{
    return p->post_filter != NULL;
}

static bool hooks_reserve(const struct plugin *p)
{
    return p->reserve != NULL || p->unreserve != NULL;
}

static bool hooks_permit(const struct plugin *p)
{
    return p->permit != NULL;
}

static struct hooked pick_hooked(struct arena *a, struct strs names,
                                 bool (*has)(const struct plugin *p))
{
    struct hooked all = {0, arena_take(a, names.count * sizeof(struct plugin *))};
    for (uint32_t i = 0; i < names.count; i++) {
        const struct plugin *p = plugin_find(names.at[i]);
        if (p != NULL && has(p))
            all.at[all.count++] = p;
    }
    return all;
}

const struct plugin *hooked_find(const struct hooked *hooked, struct str name)
{
    for (uint32_t i = 0; i < hooked->count; i++)
        if (str_is(name, hooked->at[i]->name))
            return hooked->at[i];
    return NULL;
}

/* Less those whose work the binder does anyway. */
static struct strs for_binder(struct framework *fw, struct strs names)
{
    struct strs left = {0, arena_take(&fw->memory, names.count * sizeof(struct str))};
    for (uint32_t i = 0; i < names.count; i++)
        if (!str_is(names.at[i], "VolumeBinding") && !str_is(names.at[i], "DynamicResources"))
            left.at[left.count++] = names.at[i];
    return left;
}

/* Less processes on the bus, whom the scheduler tells. */
static struct strs not_on_bus(struct framework *fw, struct strs names)
{
    struct strs left = {0, arena_take(&fw->memory, names.count * sizeof(struct str))};
    for (uint32_t i = 0; i < names.count; i++)
        if (!is_on_bus(&fw->profile, names.at[i]))
            left.at[left.count++] = names.at[i];
    return left;
}

/* The plugins on the bus that the binder asks. */
static void pick_asked_to_bind(struct framework *fw)
{
    const struct profile *p = &fw->profile;
    fw->asked_to_bind = arena_take(&fw->memory, p->bus_plugins.count * sizeof(struct bus_plugin));
    for (uint32_t i = 0; i < p->bus_plugins.count; i++)
        if (strs_hold(p->pre_bind, p->bus_plugins.at[i].name) ||
            strs_hold(p->bind, p->bus_plugins.at[i].name))
            fw->asked_to_bind[fw->asked_to_bind_count++] = p->bus_plugins.at[i];
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
    fw->post_filter = pick_hooked(&fw->memory, fw->profile.post_filter, hooks_post_filter);
    fw->reserve = pick_hooked(&fw->memory, fw->profile.reserve, hooks_reserve);
    fw->permit = pick_hooked(&fw->memory, fw->profile.permit, hooks_permit);
    fw->pre_bind = for_binder(fw, fw->profile.pre_bind);
    fw->bind = for_binder(fw, fw->profile.bind);
    fw->post_bind = not_on_bus(fw, fw->profile.post_bind);
    pick_asked_to_bind(fw);
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

/* By the plugin at that place; what others narrowed to is forgotten. */
/* From the arena: what is found may outlive the profiles. */
static struct str name_at(const struct pre_filter_question *q, uint32_t place)
{
    return arena_copy(q->arena, q->framework->profile.pre_filter.at[place]);
}

static void turn_away(const struct pre_filter_question *q, uint32_t place, struct str reason,
                      struct pre_filter_outcome *out)
{
    out->narrowed = false;
    out->names.count = out->by.count = 0;
    out->code = CODE_unresolvable;
    out->plugin = name_at(q, place);
    out->reason = reason;
    out->stopped_at = place;
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

/* False: no node is in all of the sets. */
static bool narrow(const struct pre_filter_question *q, uint32_t place, struct strs names,
                   struct pre_filter_outcome *out)
{
    if (out->narrowed)
        intersect(&out->names, names);
    else
        out->names = names;
    out->narrowed = true;
    add_sorted(&out->by, name_at(q, place));
    if (out->names.count > 0)
        return true;
    out->code = CODE_unresolvable;
    out->reason = not_together(out->by, q->arena);
    out->stopped_at = place;
    return false;
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
    uint32_t place = fw->pre_filter_place[i];
    if (answer.code == CODE_error) {
        out->narrowed = false;
        out->names.count = out->by.count = 0;
        out->code = CODE_error;
        out->plugin = str_of(p->name);
        out->reason = arena_print(q->arena, "running PreFilter plugin \"%s\": %.*s", p->name,
                                  STR_ARG(answer.reason));
        return false;
    }
    if (answer.code != CODE_success) {
        turn_away(q, place, answer.reason, out);
        return false;
    }
    return !answer.narrow || narrow(q, place, answer.names, out);
}

/* The filter of the plugin on the bus, if it has one, is not asked. */
static void mark_bus_skipped(const struct pre_filter_question *q, uint32_t place,
                             struct pre_filter_outcome *out)
{
    const struct strs filters = q->framework->profile.filter;
    struct str name = q->framework->profile.pre_filter.at[place];
    if (place < 64)
        out->skipped |= UINT64_C(1) << place;
    for (uint32_t i = 0; i < filters.count && i < 64; i++)
        if (str_equal(filters.at[i], name))
            q->findings->skip |= (int64_t)(UINT64_C(1) << i);
}

static struct strs copy_of(struct strs names, struct arena *a)
{
    struct strs copy = {names.count, arena_take(a, names.count * sizeof(struct str))};
    for (uint32_t i = 0; i < names.count; i++)
        copy.at[i] = names.at[i];
    return copy;
}

/* What plugins on the bus between these places say. False when nothing is to be asked any more. */
static bool hear_bus(const struct pre_filter_question *q, uint32_t place, uint32_t end,
                     struct pre_filter_outcome *out)
{
    const struct profile *profile = &q->framework->profile;
    for (; q->asks_bus && place < end; place++) {
        if (!is_on_bus(profile, profile->pre_filter.at[place]))
            continue;
        out->open = q->said == NULL;
        if (out->open)
            return false;
        const struct pre_filter_said *said = &q->said[place];
        if (said->skip)
            mark_bus_skipped(q, place, out);
        if (said->rejects) {
            turn_away(q, place, said->reason, out);
            return false;
        }
        /* a copy, as it may become shorter */
        if (said->narrow && !narrow(q, place, copy_of(said->names, q->arena), out))
            return false;
    }
    return true;
}

void framework_pre_filter(const struct pre_filter_question *q, struct pre_filter_outcome *out)
{
    const struct framework *fw = q->framework;
    uint32_t heard = 0;
    *out = (struct pre_filter_outcome){0};
    *q->prepared = *q->pod;
    *q->findings = (struct findings){0};
    out->by.at = arena_take(q->arena, fw->profile.pre_filter.count * sizeof(struct str));
    for (uint32_t i = 0; i < fw->prepare_count; i++)
        fw->prepare[i]->prepare(q);
    if (q->pod->resize_deferred)
        skip_all_but_resizes(q, out);
    for (uint32_t i = 0; i < fw->pre_filter_count; i++) {
        uint32_t place = fw->pre_filter_place[i];
        if (!hear_bus(q, heard, place, out))
            return;
        heard = place;
        if ((out->skipped >> place & 1) == 0 && !ask(q, i, out))
            return;
    }
    (void)hear_bus(q, heard, fw->profile.pre_filter.count, out);
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
