/* framework: the registry of rules and what a profile makes of it. The one idea: a profile's plugin
 * names become pointers once, when the configuration comes, and stay in the profile's order. What
 * must stay true: names without a rule here are left out, and pods that depend on one are refused.
 */
#include "scheduler/framework.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/plugin.h"
#include "scheduler/wrap.h"

#include <string.h>

#define PLUGIN(name) extern const struct plugin plugin_##name;
#include "scheduler/plugins.def"
#undef PLUGIN

static const struct plugin *const registry[] = {
#define PLUGIN(name) &plugin_##name,
#include "scheduler/plugins.def"
#undef PLUGIN
};

const struct plugin *plugin_find(struct str name)
{
    for (size_t i = 0; i < sizeof(registry) / sizeof(registry[0]); i++)
        if (str_is(name, registry[i]->name))
            return registry[i];
    return NULL;
}

int64_t plugin_normalise(enum normalise how, int64_t raw, int64_t greatest)
{
    if (how == NORMALISE_none)
        return raw;
    if (greatest <= 0)
        return how == NORMALISE_reversed ? SCORE_MAX : raw;
    int64_t scaled = wrap_mul(SCORE_MAX, raw) / greatest;
    return how == NORMALISE_reversed ? SCORE_MAX - scaled : scaled;
}

bool framework_lists(struct strs names, const char *name)
{
    for (uint32_t i = 0; i < names.count; i++)
        if (str_is(names.at[i], name))
            return true;
    return false;
}

/* The rules of an extension point, in the profile's order. */
static uint32_t pick(struct arena *a, struct strs names, const struct plugin ***out)
{
    uint32_t count = 0;
    *out = arena_take(a, names.count * sizeof(struct plugin *));
    for (uint32_t i = 0; i < names.count; i++) {
        const struct plugin *p = plugin_find(names.at[i]);
        if (p != NULL)
            (*out)[count++] = p;
    }
    return count;
}

/* skip masks are 64 bits wide, and a profile lists a rule at most once. */
_Static_assert(sizeof(registry) / sizeof(registry[0]) <= 64, "a bit for every rule");

static void build(struct framework *fw, const struct profile *profile)
{
    *fw = (struct framework){0};
    codec_copy(&profile_record, &fw->profile, profile, &fw->memory);
    fw->pre_filter_count = pick(&fw->memory, fw->profile.pre_filter, &fw->pre_filter);
    fw->filter_count = pick(&fw->memory, fw->profile.filter, &fw->filter);
    fw->pre_score_count = pick(&fw->memory, fw->profile.pre_score, &fw->pre_score);
    fw->score = arena_take(&fw->memory, fw->profile.score.count * sizeof(*fw->score));
    for (uint32_t i = 0; i < fw->profile.score.count; i++) {
        const struct plugin *p = plugin_find(fw->profile.score.at[i].name);
        if (p != NULL && p->score != NULL)
            fw->score[fw->score_count++] = (struct scorer){p, fw->profile.score.at[i].weight};
    }
    /* A peer could list a rule twice; the masks have room for what is sane. */
    if (fw->filter_count > 64)
        fw->filter_count = 64;
    if (fw->pre_filter_count > 64)
        fw->pre_filter_count = 64;
    if (fw->score_count > 64)
        fw->score_count = 64;
    fw->has_scores = fw->profile.score.count > 0;
    fw->preempts = framework_lists(fw->profile.post_filter, "DefaultPreemption");
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

/* What the pod asks for that only a rule we lack could honour: the rule, and in which words. */
struct need {
    const char *plugin, *reason;
};

static bool scores_with(const struct profile *profile, const char *name)
{
    for (uint32_t i = 0; i < profile->score.count; i++)
        if (str_is(profile->score.at[i].name, name))
            return true;
    return false;
}

static bool needs(const struct framework *fw, bool has, const char *plugin)
{
    return has && plugin_find(str_of(plugin)) == NULL &&
           (framework_lists(fw->profile.filter, plugin) || scores_with(&fw->profile, plugin));
}

static bool unsupported(const struct framework *fw, const struct pod *pod, struct need *out)
{
    static const char *const volume_plugins[] = {"VolumeBinding", "VolumeRestrictions",
                                                 "VolumeZone", "NodeVolumeLimits"};
    if (needs(fw, pod->has_affinity, "InterPodAffinity")) {
        *out = (struct need){"InterPodAffinity", "pod affinity is not supported yet"};
        return true;
    }
    if (needs(fw, pod->has_spread, "PodTopologySpread")) {
        *out =
            (struct need){"PodTopologySpread", "topology spread constraints are not supported yet"};
        return true;
    }
    for (size_t i = 0; i < sizeof(volume_plugins) / sizeof(volume_plugins[0]); i++)
        if (needs(fw, pod->claims.count > 0, volume_plugins[i])) {
            *out =
                (struct need){volume_plugins[i], "persistent volume claims are not supported yet"};
            return true;
        }
    if (needs(fw, pod->resource_claims.count > 0, "DynamicResources")) {
        *out = (struct need){"DynamicResources", "resource claims are not supported yet"};
        return true;
    }
    return false;
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

static void mark_skipped(const struct framework *fw, uint32_t pre, struct pre_filter_outcome *out)
{
    out->skipped |= UINT64_C(1) << pre;
    for (uint32_t i = 0; i < fw->filter_count; i++)
        if (fw->filter[i] == fw->pre_filter[pre])
            out->skip |= UINT64_C(1) << i;
}

/* False when the pod is turned away. */
static bool ask(const struct framework *fw, uint32_t i, const struct pod *pod, struct arena *a,
                struct pre_filter_outcome *out)
{
    const struct plugin *p = fw->pre_filter[i];
    struct pre_filter answer = {0};
    if (p->pre_filter == NULL)
        return true;
    p->pre_filter(fw, pod, a, &answer);
    if (answer.skip)
        mark_skipped(fw, i, out);
    if (answer.code != CODE_success) {
        turn_away(fw, out, p->name, str_of(answer.reason));
        return false;
    }
    if (!answer.narrow)
        return true;
    narrow(fw, p, answer.names, out);
    if (out->names.count > 0)
        return true;
    turn_away(fw, out, p->name, not_together(out->by, a));
    out->plugin = (struct str){0};
    return false;
}

void framework_pre_filter(const struct framework *fw, const struct pod *pod, struct arena *a,
                          struct pre_filter_outcome *out)
{
    *out = (struct pre_filter_outcome){0};
    out->by.at = arena_take(a, fw->pre_filter_count * sizeof(struct str));
    for (uint32_t i = 0; i < fw->pre_filter_count; i++)
        if (!ask(fw, i, pod, a, out))
            return;
    struct need need;
    if (!unsupported(fw, pod, &need))
        return;
    turn_away(fw, out, need.plugin,
              arena_print(a, "%s (plugin %s is missing)", need.reason, need.plugin));
    out->missing_support = true;
}

uint64_t framework_score_skips(const struct framework *fw, const struct pod *pod)
{
    uint64_t skips = 0;
    for (uint32_t i = 0; i < fw->score_count; i++) {
        const struct plugin *p = fw->score[i].plugin;
        bool asked = p->score_skips != NULL && framework_lists(fw->profile.pre_score, p->name);
        if (asked && p->score_skips(fw, pod))
            skips |= UINT64_C(1) << i;
    }
    return skips;
}
