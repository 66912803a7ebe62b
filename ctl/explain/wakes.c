/* wakes: which events may help a pod, read from the table that the queue wakes pods by
 * (proto/plugins.def). What must stay true: nothing is listed here by hand. */
#include "ctl/explain/explain.h"

#include <string.h>

/* clang-format off */
static const struct wake_row {
    const char *plugin, *resource, *actions; /* "EVENT_ADD | EVENT_NODE_TAINT" */
    int64_t since, until;                    /* releases */
} rows[] = {
#define WAKE(plugin, resource, actions, hint, filing) {#plugin, #resource, #actions, 0, INT64_MAX},
#define WAKE_UNTIL(minor, plugin, resource, actions, hint, filing) \
    {#plugin, #resource, #actions, 0, minor},
#define WAKE_SINCE(minor, plugin, resource, actions, hint, filing) \
    {#plugin, #resource, #actions, minor, INT64_MAX},
#include "proto/plugins.def"
};
/* clang-format on */

/* "csi_node" and "NODE_TAINT" as words. */
static void add_words(struct buffer *out, struct str name)
{
    for (uint32_t i = 0; i < name.len; i++) {
        int letter = name.at[i] == '_' ? ' ' : name.at[i];
        buffer_print(out, "%c", letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
    }
}

static const char *verb_of(struct str action)
{
    return str_is(action, "ADD")      ? "appears"
           : str_is(action, "DELETE") ? "goes"
           : str_is(action, "UPDATE") ? "changes"
                                      : NULL;
}

/* "node appears or change of node taint". */
static void add_actions(struct buffer *out, const struct wake_row *row)
{
    static const char prefix[] = "EVENT_";
    const char *at = row->actions;
    for (bool first = true; (at = strstr(at, prefix)) != NULL; first = false) {
        at += sizeof(prefix) - 1;
        const struct str action = {at, (uint32_t)strcspn(at, " |")};
        const char *verb = verb_of(action);
        buffer_print(out, "%s%s", first ? "" : " or ", verb == NULL ? "change of " : "");
        add_words(out, verb == NULL ? action : str_of(row->resource));
        if (verb != NULL)
            buffer_print(out, " %s", verb);
    }
}

struct strs explain_wakes(const struct strs *plugins, int64_t release, struct arena *a)
{
    size_t count = sizeof(rows) / sizeof(rows[0]);
    struct strs lines = {0, arena_take(a, count * sizeof(struct str))};
    struct buffer line = {0};
    for (size_t i = 0; i < count; i++) {
        if (!strs_hold(*plugins, str_of(rows[i].plugin)) || release < rows[i].since ||
            release > rows[i].until)
            continue;
        buffer_reset(&line);
        buffer_print(&line, "%s: ", rows[i].plugin);
        add_actions(&line, &rows[i]);
        lines.at[lines.count++] = arena_copy(a, buffer_str(&line));
    }
    buffer_free(&line);
    return lines;
}
