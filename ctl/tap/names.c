/* names: messages by their names. What must stay true: what is listed is what messages.def
 * declares and the bus carries. */
#include "ctl/tap/names.h"

#include "ctl/schema.h"
#include "proto/base/memory.h"
#include "proto/bus/roles.h"
#include "proto/messages.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* All names, sorted, with a NULL behind them. */
static void all_names(const char *names[MSG_COUNT + 1])
{
    size_t count = 0;
    for (int type = 1; type < MSG_COUNT; type++)
        if (message_info[type].record != NULL)
            names[count++] = message_info[type].record->name;
    qsort(names, count, sizeof(*names), by_name);
    names[count] = NULL;
}

static void add_kinds(enum process kinds, struct buffer *out)
{
    unsigned left = (unsigned)kinds, added = 0;
    if (kinds == ANY) {
        buffer_add_text(out, "any");
        return;
    }
    for (unsigned bit = 1; left != 0; bit <<= 1)
        if ((left & bit) != 0) {
            buffer_print(out, "%s%s", added++ > 0 ? "," : "", process_name((enum process)bit));
            left &= ~bit;
        }
}

void tap_names_list(struct buffer *out)
{
    const char *names[MSG_COUNT + 1];
    all_names(names);
    for (size_t i = 0; names[i] != NULL; i++) {
        const struct message_info *info = &message_info[message_type_of(str_of(names[i]))];
        buffer_print(out, "%-24s ", names[i]);
        add_kinds(info->from, out);
        buffer_add_text(out, " > ");
        add_kinds(info->to, out);
        buffer_add_text(out, "\n");
    }
}

void tap_names_explain(const char *list, struct buffer *out)
{
    const char *names[MSG_COUNT + 1];
    struct str rest = str_of(list), name;
    all_names(names);
    while (str_split(&rest, ",", &name)) {
        struct arena a = {0};
        if (message_type_of(name) == MSG_none)
            buffer_print(out, "%sthere is no message \"%.*s\"%.*s", out->len > 0 ? "; " : "",
                         STR_ARG(name), STR_ARG(schema_suggest(name, names, &a)));
        arena_free(&a);
    }
}

/* ---- names that were met ---- */

#define HEARD_MAX 10000

void tap_heard_add(struct tap_heard *heard, struct str name)
{
    static char met;
    if (heard->names == NULL)
        heard->names = map_new();
    if (name.len > 0 && map_count(heard->names) < HEARD_MAX)
        map_set(heard->names, name, &met);
}

void tap_heard_free(struct tap_heard *heard)
{
    if (heard->names != NULL)
        map_free(&heard->names);
}

/* Those that were met, sorted, and kinds of processes behind them if asked for; then NULL. */
static const char **heard_names(const struct tap_heard *heard, bool kinds, struct arena *a)
{
    size_t room = heard->names == NULL ? 0 : map_count(heard->names), count = 0;
    const char **names = arena_take(a, sizeof(*names) * (room + PROCESS_COUNT + 1));
    struct str key;
    void *value;
    for (size_t at = 0; room > 0 && map_next(heard->names, &at, &key, &value);)
        names[count++] = arena_copy(a, key).at;
    qsort(names, count, sizeof(*names), by_name);
    for (int i = 0; kinds && i < PROCESS_COUNT; i++)
        names[count++] = process_name((enum process)(1 << i));
    names[count] = NULL;
    return names;
}

/* worker-7 may come, also where worker-0 alone is there. */
static bool is_of_a_kind(struct str name)
{
    int i = 0;
    while (i < PROCESS_COUNT && !str_starts_with(name, process_name((enum process)(1 << i))))
        i++;
    return i < PROCESS_COUNT;
}

bool tap_names_process(struct str name, const struct tap_heard *heard, bool complete,
                       struct buffer *why)
{
    struct arena a = {0};
    if (heard->names != NULL && map_get(heard->names, name) != NULL)
        return true;
    const char **names = heard_names(heard, !complete, &a);
    bool may_come = !complete && is_of_a_kind(name);
    struct str meant = may_come ? (struct str){NULL, 0} : schema_suggest(name, names, &a);
    if (process_of(name) == 0 && !may_come)
        buffer_print(why, "there is no process \"%.*s\"%.*s", STR_ARG(name), STR_ARG(meant));
    else if (complete)
        buffer_print(why, "there is no %.*s", STR_ARG(name));
    if (why->len > 0 && meant.len == 0 && complete)
        for (size_t i = 0; names[i] != NULL; i++)
            buffer_print(why, "%s%s", i == 0 ? "; there are " : ", ", names[i]);
    else if (why->len > 0 && meant.len == 0)
        buffer_add_text(why, " yet");
    arena_free(&a);
    return why->len == 0 || (!complete && meant.len == 0);
}

void tap_names_pod(struct str name, const struct tap_heard *heard, struct buffer *why)
{
    struct arena a = {0};
    buffer_print(why, "no message speaks of pod \"%.*s\"%.*s", STR_ARG(name),
                 STR_ARG(schema_suggest(name, heard_names(heard, false, &a), &a)));
    arena_free(&a);
}
