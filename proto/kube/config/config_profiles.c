/* config_profiles: the profiles of a configuration: read, compared with each other, and made. The
 * one idea: all are read before one is made, since upstream checks each by itself first and finds
 * out when it makes them what they do not have in common. What must stay true: the order of checks
 * is upstream's, and the queue sorts for all profiles alike. */
#include "proto/kube/config/config_internal.h"
#include "proto/kube/documents/json_build.h"
#include "proto/kube/documents/quote.h"

#include <stdio.h>
#include <string.h>

#define PROFILES_MAX 1000

/* 0 and 100: all nodes are looked at. */
int64_t config_percentage(struct loading *l, const struct cursor *object, int64_t otherwise)
{
    struct cursor at = cursor_member(object, "percentageOfNodesToScore");
    int64_t percent = at.value ? cursor_i32(object, "percentageOfNodesToScore") : otherwise;
    if (at.value != NULL && (percent < 0 || percent > 100))
        config_invalid(l, &at, "Invalid value: %lld: not in valid range [0-100]",
                       (long long)percent);
    else if (at.value != NULL && percent != 0 && percent != 100)
        config_note(
            l, &at,
            "pods are decided over that part of the nodes, one at a time; 0 looks at all of "
            "them, and is faster here");
    return percent;
}

static void read_profile(struct loading *l, const struct cursor *at, struct scheduler_config *c,
                         uint32_t index, struct profile_draft *draft)
{
    struct profile *p = &c->profiles.at[index];
    struct cursor name = cursor_member(at, "schedulerName");
    p->features = l->features;
    p->scheduler_name = cursor_text(at, "schedulerName");
    if (name.value == NULL && c->profiles.count == 1)
        p->scheduler_name = STR_LITERAL("default-scheduler");
    if (p->scheduler_name.len == 0)
        config_invalid(l, &name, "Required value");
    p->percentage_of_nodes_to_score = config_percentage(l, at, c->percentage_of_nodes_to_score);
    c->details[index].has_percentage = config_has(at, "percentageOfNodesToScore");
    c->details[index].sets = &draft->sets;
    config_plugins_read(l, at, &draft->sets);
    config_plugins_check_removed(l, at, &draft->sets);
    config_args_read(l, at, p, &c->details[index].args, &draft->fit_faults);
    for (uint32_t i = 0; i < index; i++)
        if (str_equal(c->profiles.at[i].scheduler_name, p->scheduler_name)) {
            config_invalid(l, &name, "Duplicate value: \"profiles[%u].schedulerName\"", i);
            break;
        }
}

static bool same_refs(const struct plugin_set *a, const struct plugin_set *b)
{
    bool same = a->enabled_count == b->enabled_count && a->disabled.count == b->disabled.count;
    for (uint32_t i = 0; same && i < a->enabled_count; i++)
        same = str_equal(a->enabled[i].name, b->enabled[i].name) &&
               a->enabled[i].weight == b->enabled[i].weight;
    for (uint32_t i = 0; same && i < a->disabled.count; i++)
        same = str_equal(a->disabled.at[i], b->disabled.at[i]);
    return same;
}

static void add_entry(cJSON *list, struct str name, int64_t weight)
{
    cJSON *entry = json_add_item(list);
    json_add_text(entry, "Name", name);
    json_add_whole(entry, "Weight", weight);
}

/* As Go's encoding/json has the type: a list without entries is null. */
static void invalid_set(struct loading *l, const struct cursor *at, const struct plugin_set *set,
                        const char *detail)
{
    struct buffer text = {0};
    cJSON *root = json_build();
    cJSON *enabled =
        set->enabled_count > 0 ? json_add_list(root, "Enabled") : json_add_null(root, "Enabled");
    for (uint32_t i = 0; i < set->enabled_count; i++)
        add_entry(enabled, set->enabled[i].name, set->enabled[i].weight);
    cJSON *disabled =
        set->disabled.count > 0 ? json_add_list(root, "Disabled") : json_add_null(root, "Disabled");
    for (uint32_t i = 0; i < set->disabled.count; i++)
        add_entry(disabled, set->disabled.at[i], 0);
    json_build_print(&text, root);
    config_invalid(l, at, "Invalid value: %s: %s", text.at, detail);
    buffer_free(&text);
}

/* What a file gives to a plugin without arguments; the last entry counts. */
static struct str other_args_of(const struct profile_details *d, struct str name)
{
    struct str json = {0};
    for (uint32_t i = 0; i < d->args.others.count; i++)
        if (str_equal(d->args.others.at[i].name, name))
            json = d->args.others.at[i].json;
    return json;
}

/* The plugin that sorts has no arguments, but a file may give it some, and then to all the same. */
static void check_sort_args(struct loading *l, const struct cursor *profile,
                            const struct profile_details *details, uint32_t index, struct str name)
{
    struct cursor config = cursor_member(profile, "pluginConfig"),
                  at = cursor_member(&config, "args");
    struct str mine = other_args_of(&details[index], name);
    /* Where no plugin is named, upstream compares entries without a name with nothing. */
    struct str first = name.len > 0 ? other_args_of(&details[0], name) : (struct str){0};
    if (mine.len > 0 && !str_equal(mine, first))
        config_invalid(l, &at, "Invalid value: %.*s: queueSort must be the same for all profiles",
                       STR_ARG(mine));
}

static void check_queue_sort(struct loading *l, const struct cursor *list,
                             const struct profile_draft *drafts, const struct scheduler_config *c)
{
    const struct plugin_set *first = &drafts[0].sets.points[POINT_queue_sort];
    struct str name = first->enabled_count > 0 ? first->enabled[0].name : (struct str){0};
    for (uint32_t i = 0; i < c->profiles.count; i++) {
        struct cursor item = {.reading = list->reading, .up = list, .index = i};
        struct cursor plugins = cursor_member(&item, "plugins");
        struct cursor sort = cursor_member(&plugins, "queueSort");
        struct cursor enabled = cursor_member(&sort, "Enabled");
        if (i == 0 && first->enabled_count > 1)
            config_invalid(l, &enabled,
                           "Invalid value: %u: only one queue sort plugin can be enabled",
                           first->enabled_count);
        if (!same_refs(first, &drafts[i].sets.points[POINT_queue_sort]))
            invalid_set(l, &sort, &drafts[i].sets.points[POINT_queue_sort],
                        "must be the same for all profiles");
        if (i > 0)
            check_sort_args(l, &item, c->details, i, name);
    }
}

static bool has_bus_plugin(const struct profile *p, struct str name)
{
    for (uint32_t i = 0; i < p->bus_plugins.count; i++)
        if (str_equal(p->bus_plugins.at[i].name, name))
            return true;
    return false;
}

/* Of all profiles together; a name is counted where it comes first. */
static void check_bus_count(struct loading *l, const struct cursor *list,
                            const struct scheduler_config *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->profiles.count; i++)
        for (uint32_t k = 0; k < c->profiles.at[i].bus_plugins.count; k++) {
            uint32_t first = 0;
            while (
                !has_bus_plugin(&c->profiles.at[first], c->profiles.at[i].bus_plugins.at[k].name))
                first++;
            count += first == i;
        }
    if (count > CONFIG_BUS_PLUGINS_MAX)
        config_invalid(l, list, "Invalid value: %u: %d plugins on the bus are the most", count,
                       CONFIG_BUS_PLUGINS_MAX);
}

struct profile_draft *config_profiles_read(struct loading *l, const struct cursor *root,
                                           struct scheduler_config *c)
{
    struct cursor list = cursor_list(root, "profiles");
    size_t found = kube_json_count(list.value), count = found ? found : 1;
    if (count > PROFILES_MAX) {
        cursor_fail(&list, "has more than %d entries", PROFILES_MAX);
        return NULL;
    }
    c->profiles.at = cursor_take(&list, count, sizeof(*c->profiles.at));
    c->details = cursor_take(&list, count, sizeof(*c->details));
    struct profile_draft *drafts = cursor_take(&list, count, sizeof(*drafts));
    if (c->profiles.at == NULL || c->details == NULL || drafts == NULL)
        return NULL;
    c->profiles.count = (uint32_t)count;
    struct cursor one =
        found ? cursor_first(&list) : (struct cursor){.reading = list.reading, .up = &list};
    for (uint32_t i = 0; i < count; i++, one = cursor_next(&one))
        if (found == 0 || cursor_is_object(&one))
            read_profile(l, &one, c, i, &drafts[i]);
    check_queue_sort(l, &list, drafts, c);
    check_bus_count(l, &list, c);
    return drafts;
}

static bool configures(const struct cursor *profile, const char *plugin)
{
    struct cursor list = cursor_member(profile, "pluginConfig");
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (str_is(kube_json_text(kube_json_get(i.value, "name")), plugin))
            return true;
    return false;
}

/* What extenders take off NodeResourcesFit's hands upstream writes into that plugin's arguments,
 * which every profile must have then: those that name it or enable it do. */
static void check_fit_args(struct loading *l, const struct cursor *root,
                           const struct plugin_sets *sets, uint32_t index)
{
    struct cursor list = cursor_member(root, "profiles"), profile = cursor_first(&list);
    for (uint32_t i = 0; i < index && profile.value != NULL; i++)
        profile = cursor_next(&profile);
    if (l->ignores_by_extenders && !configures(&profile, "NodeResourcesFit") &&
        !config_plugins_need(sets, STR_LITERAL("NodeResourcesFit")))
        config_fail(l,
                    "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config");
}

/* Upstream looks once more when it makes the profile. */
static void compare_sort_args(struct loading *l, const struct scheduler_config *c, uint32_t i)
{
    struct str name = c->details[i].points[POINT_queue_sort].at[0];
    struct buffer text = {0};
    buffer_add_text(&text, "initializing profiles: different queue sort plugin args for profile ");
    kube_quote(c->profiles.at[i].scheduler_name, &text);
    if (!str_equal(other_args_of(&c->details[i], name), other_args_of(&c->details[0], name)))
        config_fail(l, text.at);
    buffer_free(&text);
}

void config_profiles_make(struct loading *l, const struct cursor *root, struct scheduler_config *c,
                          struct profile_draft *drafts)
{
    config_extenders_ignore(l, c);
    for (uint32_t i = 0; i < c->profiles.count && !l->reading.failed; i++) {
        config_plugins_merge(l, root, &drafts[i].sets);
        check_fit_args(l, root, &drafts[i].sets, i);
    }
    for (uint32_t i = 0; i < c->profiles.count && !l->reading.failed; i++) {
        struct profile *p = &c->profiles.at[i];
        if (drafts[i].fit_faults.len > 0 &&
            config_plugins_need(&drafts[i].sets, STR_LITERAL("NodeResourcesFit")))
            config_construct_fail(l, p->scheduler_name,
                                  "initializing plugin \"NodeResourcesFit\": %s",
                                  drafts[i].fit_faults.at);
        if (!l->reading.failed)
            config_plugins_expand(l, &drafts[i].sets, p, &c->details[i]);
        if (i > 0 && !l->reading.failed)
            compare_sort_args(l, c, i);
    }
}
