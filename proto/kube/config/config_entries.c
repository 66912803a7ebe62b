/* config_entries: pluginConfig, entry by entry: whose arguments one has, and of which kind and
 * version. The one idea: the arguments are a document in the document, which is read with errors of
 * its own, and these get the entry's path in front. What must stay true: each plugin's arguments
 * have their defaults whether there is an entry or not. */
#include "proto/base/json_string.h"
#include "proto/kube/config/config_args.h"
#include "proto/kube/config/config_bus_events.h"
#include "proto/kube/config/config_schema.h"

#include "proto/base/memory.h"

#include <stdio.h>
#include <string.h>

static size_t reader_of(struct str plugin)
{
    size_t i = 0;
    while (i < config_args_kind_count && !str_is(plugin, config_args_kinds[i].plugin))
        i++;
    return i;
}

bool config_args_kind(struct str kind)
{
    static const char tail[] = "Args";
    uint32_t len = kind.len > strlen(tail) ? kind.len - (uint32_t)strlen(tail) : 0;
    return str_is(kind, CONFIG_BUS_KIND) ||
           (len > 0 && memcmp(kind.at + len, tail, strlen(tail)) == 0 &&
            reader_of((struct str){kind.at, len}) < config_args_kind_count);
}

/* Arguments of another kind are first decoded as what they say they are. */
static bool checks_out(const struct cursor *args, struct loading *inner, struct str kind)
{
    char *name = str_copy(kind);
    bool good = config_schema_check_args(inner, args, name);
    *args->reading = inner->reading;
    memory_free(name);
    buffer_free(&inner->strict);
    return good;
}

/* Whose arguments, and what reads them. */
struct args_of {
    const char *plugin;
    const char *kind;
    void (*read)(const struct args_reader *r, const struct cursor *args);
};

/* An entry may say of what kind its arguments are. where: of the entry, for errors. */
static bool check_type(struct loading *l, const struct cursor *args, const struct args_of *of,
                       struct str where)
{
    struct loading inner = {.reading = *args->reading};
    struct str version, kind;
    if (!config_schema_meta(&inner, args, &version, &kind)) {
        *args->reading = inner.reading;
        return false;
    }
    kind = kind.len ? kind : str_of(of->kind);
    bool unsaid = version.len == 0 || str_is(version, "/") || str_is(version, CONFIG_GROUP "/");
    bool known = unsaid || str_is(version, CONFIG_VERSION) ||
                 (l->version.len > 0 && str_equal(version, l->version));
    if (!known || !config_args_kind(kind)) {
        struct buffer text = {0};
        config_not_registered(kind, version.len ? version : STR_LITERAL(CONFIG_VERSION), &text);
        cursor_fail(args, "%s", text.at);
        buffer_free(&text);
    } else if (!str_is(kind, of->kind) && !l->reading.failed && checks_out(args, &inner, kind)) {
        l->reading.failed = true;
        l->reading.error = arena_print(l->reading.arena,
                                       "%.*s: args for plugin %s were not of type %s." CONFIG_GROUP
                                       ", got %.*s." CONFIG_GROUP,
                                       STR_ARG(where), of->plugin, of->kind, STR_ARG(kind));
    }
    return !args->reading->failed && !l->reading.failed;
}

/* What the file says of one plugin; an entry without a value leaves the defaults. */
static void read_args(struct loading *l, const struct cursor *entry, const struct args_of *of,
                      const struct args_reader *target)
{
    struct buffer where = {0};
    struct cursor path = cursor_member(entry, "args");
    if (entry->up != NULL)
        buffer_add_text(&where, "decoding .");
    cursor_path(entry, &where);
    size_t entry_length = where.len;
    buffer_print(&where, ": decoding args for plugin %s", of->plugin);
    struct loading inner = {.reading = {.arena = l->reading.arena, .subject = where.at}};
    struct cursor args = cursor_root(&inner.reading, path.value);
    struct args_reader r = *target;
    r.l = &inner;
    r.outer = l;
    r.path = &path;
    struct str entry_text = {where.at, (uint32_t)entry_length};
    if (check_type(l, &args, of, entry_text) && config_schema_check_args(&inner, &args, of->kind))
        of->read(&r, &args);
    if (inner.strict.len > 0)
        buffer_print(&l->strict,
                     "%s%.*s: strict decoding error: decoding args for plugin %s: strict decoding "
                     "error: %s",
                     l->strict.len ? ", " : "", (int)entry_length, where.at, of->plugin,
                     inner.strict.at);
    if (inner.reading.failed && !l->reading.failed)
        l->reading =
            (struct reading){l->reading.arena, l->reading.subject, inner.reading.error, true};
    buffer_free(&inner.strict);
    buffer_free(&where);
}

static void read_one(struct loading *l, const struct cursor *entry, size_t reader,
                     const struct args_reader *target)
{
    char kind[64];
    const struct args_of of = {config_args_kinds[reader].plugin, kind,
                               config_args_kinds[reader].read};
    snprintf(kind, sizeof(kind), "%sArgs", of.plugin);
    read_args(l, entry, &of, target);
}

static void keep_other(const struct cursor *entry, struct str name, struct plugin_args *args)
{
    struct cursor given = cursor_member(entry, "args");
    struct buffer text = {0};
    if (given.value != NULL)
        kube_json_write(given.value, &text);
    args->others.at[args->others.count++] =
        (struct other_args){name, arena_copy(entry->reading->arena, buffer_str(&text))};
    buffer_free(&text);
}

/* The arguments are how a file says that an unknown plugin is a process on the bus. */
static bool is_bus_plugin(const struct cursor *entry, struct str name)
{
    struct cursor args = cursor_member(entry, "args");
    struct str kind = kube_json_text(kube_json_get(args.value, "kind"));
    return str_is(kind, CONFIG_BUS_KIND) && !config_plugin_implements_any(name) &&
           !config_plugin_removed(name);
}

/* For whoever writes the configuration: with the defaults, in the order of JSON. */
static void keep_bus(struct arena *a, const struct bus_plugin *b, struct plugin_args *args)
{
    struct buffer text = {0};
    for (uint32_t i = 0; i < b->annotations.count; i++) {
        buffer_add_text(&text, i == 0 ? "{\"annotations\":[" : ",");
        json_string(&text, b->annotations.at[i]);
    }
    buffer_add_text(&text, b->annotations.count > 0 ? "]," : "{");
    buffer_add_text(&text, "\"apiVersion\":\"" CONFIG_VERSION "\",\"deadline\":\"");
    config_duration_print(span_of_ms(b->deadline_ms), &text);
    if (b->events.count > 0) {
        buffer_add_text(&text, "\",\"events\":");
        config_bus_events_json(b, &text);
        buffer_add_text(&text, ",\"failurePolicy\":\"");
    } else {
        buffer_add_text(&text, "\",\"failurePolicy\":\"");
    }
    buffer_print(&text, "%s\",\"kind\":\"" CONFIG_BUS_KIND "\",\"nodeFacts\":",
                 b->ignore ? "Ignore" : "Fail");
    json_string(&text, words_text(&node_facts_told_words, b->facts));
    buffer_add_text(&text, ",\"permitTimeout\":\"");
    config_duration_print(span_of_ms(b->permit_timeout_ms), &text);
    buffer_add_text(&text, b->hints ? "\",\"queueingHints\":true}" : "\"}");
    args->others.at[args->others.count++] =
        (struct other_args){b->name, arena_copy(a, buffer_str(&text))};
    buffer_free(&text);
}

static void read_bus_entry(struct loading *l, const struct cursor *entry, struct str name,
                           const struct args_reader *target)
{
    struct profile *p = target->profile;
    uint32_t before = p->bus_plugins.count;
    char *plugin = str_copy(name);
    const struct args_of of = {plugin, CONFIG_BUS_KIND, config_args_read_bus};
    if (before == CONFIG_BUS_PLUGINS_MAX)
        config_invalid(l, entry, "Invalid value: \"%.*s\": %d plugins on the bus are the most",
                       STR_ARG(name), CONFIG_BUS_PLUGINS_MAX);
    else
        read_args(l, entry, &of, target);
    if (p->bus_plugins.count > before)
        keep_bus(entry->reading->arena, &p->bus_plugins.at[before], target->args);
    memory_free(plugin);
}

static void read_entry(struct loading *l, const struct cursor *entry, const struct cursor *list,
                       const struct args_reader *target)
{
    struct str name = cursor_text(entry, "name");
    size_t reader = reader_of(name);
    for (struct cursor i = cursor_first(list); i.value != entry->value; i = cursor_next(&i))
        if (str_equal(kube_json_text(kube_json_get(i.value, "name")), name)) {
            config_invalid(l, entry, "Duplicate value: \"%.*s\"", STR_ARG(name));
            break;
        }
    if (config_plugin_removed(name))
        config_invalid(l, entry, "Invalid value: \"%.*s\": " CONFIG_REMOVED_TEXT, STR_ARG(name));
    if (reader < config_args_kind_count)
        read_one(l, entry, reader, target);
    else if (is_bus_plugin(entry, name))
        read_bus_entry(l, entry, name, target);
    else
        keep_other(entry, name, target->args);
}

void config_args_read(struct loading *l, const struct cursor *profile, struct profile *out,
                      struct plugin_args *args, struct buffer *fit_faults)
{
    uint32_t fault_count = 0;
    struct args_reader target = {
        .profile = out, .args = args, .faults = fit_faults, .fault_count = &fault_count};
    struct cursor nothing = cursor_root(&l->reading, NULL);
    struct cursor list = cursor_list(profile, "pluginConfig");
    for (size_t i = 0; i < config_args_kind_count; i++)
        read_one(l, &nothing, i, &target);
    if (kube_json_count(list.value) > PLUGIN_CONFIG_MAX) {
        cursor_fail(&list, "has more than %d entries", PLUGIN_CONFIG_MAX);
        return;
    }
    size_t found = kube_json_count(list.value);
    args->others.at = found ? cursor_take(&list, found, sizeof(*args->others.at)) : NULL;
    out->bus_plugins.at =
        found ? cursor_take(&list, CONFIG_BUS_PLUGINS_MAX, sizeof(*out->bus_plugins.at)) : NULL;
    for (struct cursor i = cursor_first(&list); args->others.at != NULL && i.value != NULL;
         i = cursor_next(&i))
        if (cursor_is_object(&i))
            read_entry(l, &i, &list, &target);
    out->spread_system_defaults = str_is(args->spread_defaulting, "System");
    out->spread_defaults.count = args->spread_constraints.count;
    out->spread_defaults.at = args->spread_constraints.at;
    out->hard_affinity_weight = args->hard_pod_affinity_weight;
    out->ignore_preferred_of_existing = args->ignore_preferred_terms;
    out->preempt_percentage = args->preemption_percentage;
    out->preempt_absolute = args->preemption_absolute;
    out->bind_timeout_s = args->volume_bind_timeout_s;
    out->device_filter_timeout_ms = span_ms(args->claim_filter_timeout);
    out->device_binding_timeout_ms = span_ms(args->claim_binding_timeout);
    if (fault_count < 2)
        return;
    struct buffer all = {0};
    buffer_print(&all, "[%s]", fit_faults->at);
    buffer_free(fit_faults);
    *fit_faults = all;
}
