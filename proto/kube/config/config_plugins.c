/* config_plugins: which plugin runs at which extension point. The one idea: follow upstream's three
 * steps one after the other (merge with the defaults, check each point's own list, expand
 * multiPoint), because their order is what users see. What must stay true: plugins are known in the
 * order of upstream's default list (proto/plugins.def). */
#include "proto/kube/config/config_internal.h"
#include "proto/kube/documents/quote.h"
#include "proto/kube/release/release.h"

#include "proto/base/must.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LIST_MAX 1000 /* entries of one list of plugins: bounds the work */

/* clang-format off */
const char *const config_point_field[POINT_COUNT] = {
#define POINT(point, field, type, processes) #field,
#include "proto/plugins.def"
};

static const struct {
    const char *type;
    unsigned processes; /* that run it */
} points[POINT_COUNT] = {
#define POINT(point, field, type, processes) {#type "Plugin", processes},
#include "proto/plugins.def"
};

bool config_point_exists(const struct features *features, enum config_point point)
{
    return release_knows(features->release, config_point_field[point]);
}

/* In place of a weight; what they mean is said there. */
#define NOT_DEFAULT -1
#define OPT_IN      -2
#define GANGS       -3
#define P(point)    (1u << POINT_##point)

static const struct {
    const char *name;
    int weight; /* in the default list; 0: none given */
    unsigned points;
} known_plugins[] = {
#define PLUGIN(name, listed, points, rule) {#name, listed, points},
#include "proto/plugins.def"
};
/* clang-format on */

#define KNOWN_COUNT (sizeof(known_plugins) / sizeof(known_plugins[0]))

/* Index into known_plugins; KNOWN_COUNT when upstream has no such plugin either. */
size_t config_plugin_index(struct str name)
{
    size_t i = 0;
    while (i < KNOWN_COUNT && !str_is(name, known_plugins[i].name))
        i++;
    return i;
}

bool config_plugin_implements(int64_t minor, struct str name, enum config_point point)
{
    size_t i = config_plugin_index(name);
    return i < KNOWN_COUNT && (known_plugins[i].points & (1u << point)) != 0 &&
           release_extends(minor, name, config_point_field[point]);
}

bool config_plugin_implements_any(struct str name)
{
    return config_plugin_index(name) < KNOWN_COUNT;
}

/* ---- reading ---- */

/* One entry; an old name becomes today's, several if it stood for several. */
static void add_ref(struct loading *l, const struct cursor *entry, struct plugin_ref *out,
                    uint32_t *count)
{
    struct plugin_ref ref = {cursor_text(entry, "name"), cursor_i32(entry, "weight")};
    const char *const *today = config_legacy_alias(ref.name);
    if (today == NULL) {
        out[(*count)++] = ref;
        return;
    }
    struct buffer names = {0};
    for (; *today != NULL; today++) {
        out[(*count)++] = (struct plugin_ref){str_of(*today), ref.weight};
        buffer_print(&names, " %s", *today);
    }
    config_note(l, entry, "%.*s is an old name, taken for%.*s", STR_ARG(ref.name),
                STR_ARG(buffer_str(&names)));
    buffer_free(&names);
}

static struct plugin_ref *read_refs(struct loading *l, const struct cursor *set, const char *name,
                                    uint32_t *count)
{
    struct cursor list = cursor_list(set, name);
    size_t found = kube_json_count(list.value);
    *count = 0;
    if (found > LIST_MAX)
        cursor_fail(&list, "has more than %d entries", LIST_MAX);
    struct plugin_ref *out = found && found <= LIST_MAX
                                 ? cursor_take(&list, found * CONFIG_LEGACY_ALIAS_MAX, sizeof(*out))
                                 : NULL;
    for (struct cursor i = cursor_first(&list); out != NULL && i.value != NULL;
         i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        add_ref(l, &i, out, count);
    }
    return out;
}

static void read_set(struct loading *l, const struct cursor *plugins, const char *name,
                     struct plugin_set *set)
{
    struct cursor object = cursor_object(plugins, name);
    uint32_t disabled_count = 0;
    set->enabled = read_refs(l, &object, "enabled", &set->enabled_count);
    struct plugin_ref *disabled = read_refs(l, &object, "disabled", &disabled_count);
    set->disabled.at = disabled ? cursor_take(&object, disabled_count, sizeof(struct str)) : NULL;
    for (uint32_t i = 0; set->disabled.at != NULL && i < disabled_count; i++)
        set->disabled.at[set->disabled.count++] = disabled[i].name;
}

void config_plugins_read(struct loading *l, const struct cursor *profile, struct plugin_sets *sets)
{
    const char *fields[POINT_COUNT + 2] = {"multiPoint"};
    struct cursor plugins = cursor_object(profile, "plugins");
    memcpy(fields + 1, config_point_field, sizeof(config_point_field));
    for (int p = 0; p < POINT_COUNT; p++)
        if (config_point_exists(&l->features, (enum config_point)p))
            read_set(l, &plugins, config_point_field[p], &sets->points[p]);
    read_set(l, &plugins, "multiPoint", &sets->multi_point);
}

bool config_plugin_removed(struct str name)
{
    return str_is(name, "AzureDiskLimits") || str_is(name, "CinderLimits") ||
           str_is(name, "EBSLimits") || str_is(name, "GCEPDLimits");
}

/* Upstream looks at the twelve classic points, and at podGroupPostFilter, but not at placements'.
 */
void config_plugins_check_removed(struct loading *l, const struct cursor *profile,
                                  const struct plugin_sets *sets)
{
    struct cursor plugins = cursor_member(profile, "plugins");
    for (int p = 0; p < POINT_COUNT; p++) {
        if (p == POINT_placement_generate || p == POINT_placement_score)
            continue;
        struct cursor point = cursor_member(&plugins, config_point_field[p]);
        struct cursor list = cursor_member(&point, "enabled");
        for (uint32_t i = 0; i < sets->points[p].enabled_count; i++) {
            struct cursor item = {.reading = list.reading, .up = &list, .index = i};
            struct str name = sets->points[p].enabled[i].name;
            if (config_plugin_removed(name))
                config_invalid(l, &item, "Invalid value: \"%.*s\": " CONFIG_REMOVED_TEXT,
                               STR_ARG(name));
        }
    }
}

/* ---- merging with the defaults ---- */

/* The last entry of that name: where a list names a plugin twice, upstream's map keeps the last. */
static const struct plugin_ref *last_of(const struct plugin_set *set, struct str name)
{
    const struct plugin_ref *found = NULL;
    for (uint32_t i = 0; i < set->enabled_count; i++)
        if (str_equal(set->enabled[i].name, name))
            found = &set->enabled[i];
    return found;
}

/* Where each plugin of the table comes in the release's default list. */
static void order_defaults(const struct kube_release *release, size_t order[KNOWN_COUNT])
{
    for (size_t k = 0; k < KNOWN_COUNT; k++)
        order[k] = k;
    for (size_t i = 0; i < release->order_count; i++) {
        size_t first = config_plugin_index(str_of(release->orders[i].first)), at = 0;
        size_t second = config_plugin_index(str_of(release->orders[i].second)), to = 0;
        while (order[at] != first)
            at++;
        while (order[to] != second)
            to++;
        for (; at > to; at--)
            order[at] = order[at - 1];
        order[at] = first;
    }
}

#define RESIZE_PLUGIN "DeferredPodScheduling"

/* A feature gate may take a plugin off the default list, or put one there; a file may name it all
 * the same. */
static bool is_default(const struct loading *l, size_t k)
{
    struct str name = str_of(known_plugins[k].name);
    if (known_plugins[k].weight < 0)
        return l->features.resize_preemption && str_is(name, RESIZE_PLUGIN);
    return l->features.declared_features || !str_is(name, "NodeDeclaredFeatures");
}

static struct plugin_ref default_of(size_t k)
{
    int weight = known_plugins[k].weight;
    return (struct plugin_ref){str_of(known_plugins[k].name), weight > 0 ? weight : 0};
}

/* With TopologyAwareWorkloadScheduling they are the last ones. */
static const struct plugin_ref topology_defaults[] = {
    {{"TopologyPlacementGenerator", sizeof("TopologyPlacementGenerator") - 1}, 0},
    {{"PodGroupPodsCount", sizeof("PodGroupPodsCount") - 1}, 1}};
#define TOPOLOGY_COUNT (sizeof(topology_defaults) / sizeof(topology_defaults[0]))

/* Only multiPoint has defaults; every other point's list stays as the file has it. */
void config_plugins_merge(struct loading *l, const struct cursor *profile, struct plugin_sets *sets)
{
    struct plugin_set *set = &sets->multi_point;
    struct plugin_ref *merged =
        cursor_take(profile, KNOWN_COUNT + TOPOLOGY_COUNT + set->enabled_count, sizeof(*merged));
    bool replaced[LIST_MAX * CONFIG_LEGACY_ALIAS_MAX] = {false};
    uint32_t count = 0;
    size_t order[KNOWN_COUNT];
    must(set->enabled_count <= LIST_MAX * CONFIG_LEGACY_ALIAS_MAX);
    if (merged == NULL || l->reading.failed)
        return;
    order_defaults(release_of(l->features.release), order);
    for (size_t i = 0; i < KNOWN_COUNT && !strs_hold(set->disabled, STR_LITERAL("*")); i++) {
        size_t k = order[i];
        struct str name = str_of(known_plugins[k].name);
        if (strs_hold(set->disabled, name) || !is_default(l, k))
            continue;
        const struct plugin_ref *custom = last_of(set, name);
        if (custom != NULL)
            replaced[custom - set->enabled] = true;
        merged[count++] = custom ? *custom : default_of(k);
    }
    sets->defaults_end = count;
    for (size_t i = 0; i < TOPOLOGY_COUNT && l->features.group_topology; i++) {
        struct str name = topology_defaults[i].name;
        if (strs_hold(set->disabled, STR_LITERAL("*")) || strs_hold(set->disabled, name))
            continue;
        const struct plugin_ref *custom = last_of(set, name);
        if (custom != NULL)
            replaced[custom - set->enabled] = true;
        merged[count++] = custom ? *custom : topology_defaults[i];
    }
    sets->gangs_disabled = strs_hold(set->disabled, STR_LITERAL("*")) ||
                           strs_hold(set->disabled, STR_LITERAL(CONFIG_BUILT_IN_PLUGIN));
    for (uint32_t i = 0; i < set->enabled_count; i++)
        if (!replaced[i])
            merged[count++] = set->enabled[i];
    set->enabled = merged;
    set->enabled_count = count;
}

/* The file's own entry moves up to where the default would be, as upstream's merge has it. */
void config_plugins_gate(const struct cursor *profile, struct plugin_sets *sets)
{
    struct plugin_set *set = &sets->multi_point;
    struct str name = STR_LITERAL(CONFIG_BUILT_IN_PLUGIN);
    const struct plugin_ref *custom = last_of(set, name);
    struct plugin_ref *merged =
        sets->gangs_disabled ? NULL : cursor_take(profile, set->enabled_count + 1, sizeof(*merged));
    uint32_t count = 0;
    if (merged == NULL)
        return;
    for (uint32_t i = 0; i <= set->enabled_count; i++) {
        if (i == sets->defaults_end)
            merged[count++] = custom != NULL ? *custom : (struct plugin_ref){.name = name};
        if (i < set->enabled_count && &set->enabled[i] != custom)
            merged[count++] = set->enabled[i];
    }
    set->enabled = merged;
    set->enabled_count = count;
}

static void disable(const struct cursor *profile, struct plugin_set *set, struct str name)
{
    struct str *disabled = cursor_take(profile, set->disabled.count + 1, sizeof(*disabled));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < set->enabled_count; i++)
        if (!str_equal(set->enabled[i].name, name))
            set->enabled[kept++] = set->enabled[i];
    set->enabled_count = kept;
    if (disabled == NULL || strs_hold(set->disabled, name))
        return;
    for (uint32_t i = 0; i < set->disabled.count; i++)
        disabled[i] = set->disabled.at[i];
    disabled[set->disabled.count] = name;
    set->disabled = (struct strs){set->disabled.count + 1, disabled};
}

void config_plugins_disable(const struct cursor *profile, struct plugin_sets *sets, struct str name)
{
    uint32_t before = sets->multi_point.enabled_count;
    disable(profile, &sets->multi_point, name);
    sets->defaults_end -= before - sets->multi_point.enabled_count;
    for (int p = 0; p < POINT_COUNT; p++)
        if (last_of(&sets->points[p], name) != NULL)
            disable(profile, &sets->points[p], name);
}

bool config_plugins_need(const struct plugin_sets *sets, struct str name)
{
    bool needed = last_of(&sets->multi_point, name) != NULL;
    for (int p = 0; p < POINT_COUNT; p++)
        needed = needed || last_of(&sets->points[p], name) != NULL;
    return needed;
}

/* ---- expanding ---- */

void config_construct_fail(struct loading *l, struct str scheduler_name, const char *format, ...)
{
    char what[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (l->reading.failed)
        return;
    l->reading.failed = true;
    l->reading.error = arena_print(
        l->reading.arena, "initializing profiles: creating profile for scheduler name %.*s: %s",
        STR_ARG(scheduler_name), what);
}

/* One profile being expanded. */
struct expansion {
    struct loading *l;
    const struct plugin_sets *sets;
    struct str scheduler_name;
    const struct profile *profile; /* which plugins are processes on the bus */
};

static bool is_on_bus(const struct expansion *e, struct str name)
{
    for (uint32_t i = 0; i < e->profile->bus_plugins.count; i++)
        if (str_equal(e->profile->bus_plugins.at[i].name, name))
            return true;
    return false;
}

static bool exists(const struct expansion *e, struct str name)
{
    bool known = config_plugin_index(name) < KNOWN_COUNT &&
                 release_extends(e->l->features.release, name, "");
    return known || is_on_bus(e, name);
}

/* Where plugins on the bus are asked. */
static bool point_by_bus(enum config_point p)
{
    return (points[p].processes & PLUGIN) != 0;
}

static bool implements(const struct expansion *e, struct str name, enum config_point p)
{
    return config_plugin_implements(e->l->features.release, name, p) ||
           (point_by_bus(p) && is_on_bus(e, name));
}

/* In multiPoint a plugin on the bus stands for what the scheduler asks: queue and binder have doors
 * of their own, to which it need not connect. */
static bool implements_by_multi(const struct expansion *e, struct str name, enum config_point p)
{
    bool elsewhere = (points[p].processes & (QUEUE | BINDER)) != 0 && is_on_bus(e, name);
    return implements(e, name, p) && !elsewhere;
}

/* As upstream writes a name into its errors; from the arena of what is being read. */
static struct str quoted(const struct expansion *e, struct str name)
{
    struct buffer text = {0};
    kube_quote(name, &text);
    struct str copy = arena_copy(e->l->reading.arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

/* Upstream's words, and what to do about it where a plugin of one's own can stand. */
static void fail_unknown(struct expansion *e, enum config_point p, struct str name)
{
    struct str shown = quoted(e, name);
    config_construct_fail(
        e->l, e->scheduler_name, "%s %.*s does not exist%s", points[p].type, STR_ARG(shown),
        point_by_bus(p) ? " (if it is a process on the bus, give it " CONFIG_BUS_KIND
                          " in this profile's pluginConfig)"
                        : "");
}

static void fail_not_of_point(struct expansion *e, enum config_point p, struct str name)
{
    struct str shown = quoted(e, name);
    config_construct_fail(e->l, e->scheduler_name, "plugin %.*s does not extend %s plugin",
                          STR_ARG(shown), points[p].type);
}

static void fail_doubled(struct expansion *e, enum config_point p, struct str name)
{
    struct str shown = quoted(e, name);
    config_construct_fail(e->l, e->scheduler_name, "plugin %.*s already registered as \"%s\"",
                          STR_ARG(shown), points[p].type);
}

static bool named_before(const struct plugin_set *set, uint32_t i)
{
    uint32_t k = 0;
    while (k < i && !str_equal(set->enabled[k].name, set->enabled[i].name))
        k++;
    return k < i;
}

static void check_own_list(struct expansion *e, enum config_point p)
{
    const struct plugin_set *set = &e->sets->points[p];
    for (uint32_t i = 0; i < set->enabled_count; i++) {
        struct str name = set->enabled[i].name;
        if (!exists(e, name))
            fail_unknown(e, p, name);
        else if (!implements(e, name, p))
            fail_not_of_point(e, p, name);
        else if (named_before(set, i))
            fail_doubled(e, p, name);
    }
}

static void append(struct strs *list, struct str name)
{
    list->at[list->count++] = name;
}

/* First what the point names and multiPoint has too, in the point's order; then what only
 * multiPoint has; then the rest of the point's list. */
static void expand_point(struct expansion *e, enum config_point p, struct strs *out)
{
    const struct plugin_set *set = &e->sets->points[p], *multi = &e->sets->multi_point;
    bool skip = strs_hold(set->disabled, STR_LITERAL("*")) || multi->enabled_count == 0;
    struct strs by_multi = {0, out->at + set->enabled_count}; /* scratch behind the result */
    for (uint32_t i = 0; i < multi->enabled_count && !skip; i++) {
        struct str name = multi->enabled[i].name;
        if (!exists(e, name))
            fail_unknown(e, p, name);
        if (!implements_by_multi(e, name, p) || strs_hold(set->disabled, name) ||
            last_of(set, name) != NULL)
            continue;
        if (strs_hold(by_multi, name))
            fail_doubled(e, p, name);
        else
            append(&by_multi, name);
    }
    for (uint32_t i = 0; i < set->enabled_count; i++) {
        struct str name = set->enabled[i].name;
        if (!skip && last_of(multi, name) != NULL && !strs_hold(set->disabled, name))
            append(out, name);
    }
    struct strs overrides = *out;
    memmove(out->at + out->count, by_multi.at, by_multi.count * sizeof(*by_multi.at));
    out->count += by_multi.count;
    for (uint32_t i = 0; i < set->enabled_count; i++)
        if (!strs_hold(overrides, set->enabled[i].name))
            append(out, set->enabled[i].name);
}

/* The first weight given at the point, then in multiPoint; none or 0 counts as 1. Upstream's quirk:
 * a plugin named at the point without a weight gets 1, whatever multiPoint says. */
static int64_t weight_of(const struct plugin_sets *sets, enum config_point p, struct str name)
{
    const struct plugin_set *order[] = {&sets->points[p], &sets->multi_point};
    for (size_t s = 0; s < 2; s++)
        for (uint32_t i = 0; i < order[s]->enabled_count; i++)
            if (str_equal(order[s]->enabled[i].name, name))
                return order[s]->enabled[i].weight ? order[s]->enabled[i].weight : 1;
    return 1;
}

/* Upstream adds up weight * 100 and compares with what is left of 64 bits; with negative weights
 * its difference wraps around and the profile is refused. */
static void check_total(struct expansion *e, enum config_point p)
{
    const struct plugin_set *order[] = {&e->sets->points[p], &e->sets->multi_point};
    uint64_t total = 0;
    for (size_t s = 0; s < 2; s++)
        for (uint32_t i = 0; i < order[s]->enabled_count; i++) {
            struct str name = order[s]->enabled[i].name;
            bool first = s == 0 || last_of(order[0], name) == NULL;
            int64_t most = weight_of(e->sets, p, name) * 100;
            if (!first || !implements(e, name, p))
                continue;
            if (most > (int64_t)((uint64_t)INT64_MAX - total))
                config_construct_fail(e->l, e->scheduler_name,
                                      "%s plugins: total score of Score plugins could overflow",
                                      p == POINT_score ? "score" : "placement score");
            total += (uint64_t)most;
        }
}

static void check_expanded(struct expansion *e, const struct profile_details *d)
{
    if (d->points[POINT_queue_sort].count != 1)
        config_construct_fail(e->l, e->scheduler_name,
                              "only one queue sort plugin required for profile with scheduler name "
                              "\"%.*s\", but got %u",
                              STR_ARG(e->scheduler_name), d->points[POINT_queue_sort].count);
    if (d->points[POINT_bind].count == 0)
        config_construct_fail(e->l, e->scheduler_name,
                              "at least one bind plugin is needed for profile with scheduler name "
                              "\"%.*s\"",
                              STR_ARG(e->scheduler_name));
}

static const char *gate_of(const char *plugin)
{
    return strcmp(plugin, RESIZE_PLUGIN) == 0 ? "InPlacePodVerticalScalingSchedulerPreemption"
                                              : "TopologyAwareWorkloadScheduling";
}

static bool does_something(const struct expansion *e, const char *name)
{
    if (strcmp(name, RESIZE_PLUGIN) == 0)
        return e->l->features.resize_preemption;
    return strcmp(name, CONFIG_BUILT_IN_PLUGIN) == 0 || e->l->features.group_topology;
}

/* Upstream runs them behind a gate that is off. */
static void note_alpha(struct expansion *e)
{
    struct cursor nowhere = {0};
    for (size_t k = 0; k < KNOWN_COUNT; k++)
        if (known_plugins[k].weight == NOT_DEFAULT && !does_something(e, known_plugins[k].name) &&
            config_plugins_need(e->sets, str_of(known_plugins[k].name)))
            config_note(e->l, &nowhere, "plugin %s has no effect: the feature gate %s is off",
                        known_plugins[k].name, gate_of(known_plugins[k].name));
}

static bool is_of_gangs(struct str name)
{
    return str_is(name, CONFIG_GANG_PLUGIN) || str_is(name, CONFIG_BUILT_IN_PLUGIN);
}

/* What the profile's lists have, less the plugins of gangs: no pod is asked by itself. */
static struct strs without_gangs(const struct cursor *root, const struct strs *names)
{
    struct strs left = {0, cursor_take(root, names->count, sizeof(*left.at))};
    for (uint32_t i = 0; left.at != NULL && i < names->count; i++)
        if (!is_of_gangs(names->at[i]))
            append(&left, names->at[i]);
    return left;
}

/* Named in the list of what multiPoint disables, gangs are off; named anywhere else, on. */
static void fill_gangs(const struct plugin_sets *sets, struct profile *profile,
                       const struct profile_details *d)
{
    struct str name = STR_LITERAL(CONFIG_GANG_PLUGIN);
    profile->gangs = config_plugins_need(sets, name)               ? GANGS_on
                     : strs_hold(sets->multi_point.disabled, name) ? GANGS_off
                                                                   : GANGS_auto;
    profile->gang_sort = strs_hold(d->points[POINT_queue_sort], name);
}

/* With as many as there are names. */
static struct score_plugin *score_list(const struct plugin_sets *sets, const struct cursor *root,
                                       const struct strs *names, enum config_point p)
{
    struct score_plugin *at =
        names->count > 0 ? cursor_take(root, names->count, sizeof(*at)) : NULL;
    for (uint32_t i = 0; at != NULL && i < names->count; i++)
        at[i] = (struct score_plugin){names->at[i], weight_of(sets, p, names->at[i])};
    return at;
}

static bool is_default_binder(const struct strs *names)
{
    return names->count > 0 && str_is(names->at[0], "DefaultBinder");
}

static void fill_profile(const struct plugin_sets *sets, const struct cursor *root,
                         struct profile *profile, const struct profile_details *d)
{
    profile->pre_enqueue = without_gangs(root, &d->points[POINT_pre_enqueue]);
    profile->pre_filter = without_gangs(root, &d->points[POINT_pre_filter]);
    profile->filter = d->points[POINT_filter];
    profile->post_filter = without_gangs(root, &d->points[POINT_post_filter]);
    profile->pre_score = d->points[POINT_pre_score];
    profile->reserve = without_gangs(root, &d->points[POINT_reserve]);
    profile->permit = without_gangs(root, &d->points[POINT_permit]);
    profile->pre_bind = d->points[POINT_pre_bind];
    profile->post_bind = without_gangs(root, &d->points[POINT_post_bind]);
    if (d->points[POINT_bind].count > 1 || !is_default_binder(&d->points[POINT_bind]))
        profile->bind = d->points[POINT_bind];
    profile->check_all = strs_hold(profile->filter, STR_LITERAL("AlwaysCheckAllPredicates"));
    profile->score.at = score_list(sets, root, &d->points[POINT_score], POINT_score);
    profile->score.count = profile->score.at != NULL ? d->points[POINT_score].count : 0;
    profile->placement_generate = d->points[POINT_placement_generate];
    profile->placement_score.at =
        score_list(sets, root, &d->points[POINT_placement_score], POINT_placement_score);
    profile->placement_score.count =
        profile->placement_score.at != NULL ? d->points[POINT_placement_score].count : 0;
}

/* A plugin on the bus that nobody asks is likely to be a mistake. */
static void note_unused(struct expansion *e, const struct profile_details *d)
{
    struct cursor nowhere = {0};
    for (uint32_t i = 0; i < e->profile->bus_plugins.count; i++) {
        struct str name = e->profile->bus_plugins.at[i].name;
        bool used = false;
        for (int p = 0; p < POINT_COUNT; p++)
            used = used || (point_by_bus((enum config_point)p) && strs_hold(d->points[p], name));
        if (!used)
            config_note(e->l, &nowhere, "plugin %.*s is enabled at no point", STR_ARG(name));
    }
}

void config_plugins_expand(struct loading *l, const struct plugin_sets *sets,
                           struct profile *profile, struct profile_details *details)
{
    struct expansion e = {l, sets, profile->scheduler_name, profile};
    struct cursor root = cursor_root(&l->reading, NULL);
    for (int p = 0; p < POINT_COUNT; p++)
        check_own_list(&e, (enum config_point)p);
    for (int p = 0; p < POINT_COUNT && !l->reading.failed; p++) {
        if (!config_point_exists(&profile->features, (enum config_point)p))
            continue;
        struct strs *out = &details->points[p];
        size_t most = 2 * (size_t)sets->points[p].enabled_count + sets->multi_point.enabled_count;
        *out = (struct strs){0, cursor_take(&root, most, sizeof(*out->at))};
        if (out->at != NULL)
            expand_point(&e, (enum config_point)p, out);
    }
    if (l->reading.failed)
        return;
    note_alpha(&e);
    check_expanded(&e, details);
    check_total(&e, POINT_score);
    check_total(&e, POINT_placement_score);
    note_unused(&e, details);
    fill_profile(sets, &root, profile, details);
    fill_gangs(sets, profile, details);
}
