/* config_bus_events: which events help the pods that a plugin on the bus has turned away, as its
 * arguments say it: read, and written again. What must stay true: what was read is known to the
 * queue by its words, and what is written reads as the same. */
#include "proto/kube/config/config_bus_events.h"

#include "proto/base/json_string.h"

#define EVENTS_MAX 64 /* of a plugin */

static const char resource_field[] = "resource", actions_field[] = "actions";

/* Where an argument stands in the file, for faults. */
static struct cursor item_path(const struct cursor *list, size_t index)
{
    return (struct cursor){.reading = list->reading, .up = list, .index = index};
}

static void refuse(const struct args_reader *r, const struct cursor *at, struct str word,
                   const struct words *known)
{
    struct buffer text = {0};
    for (uint32_t i = 0; i < known->count; i++)
        buffer_print(&text, "%s\"%.*s\"", i > 0 ? ", " : "", STR_ARG(known->at[i].text));
    config_invalid(r->outer, at, "Unsupported value: \"%.*s\": supported values: %s", STR_ARG(word),
                   text.at);
    buffer_free(&text);
}

static struct plugin_event read_event(const struct args_reader *r, const struct cursor *item,
                                      const struct cursor *path)
{
    struct plugin_event e = {.actions = cursor_texts(item, actions_field)};
    struct str resource = cursor_text(item, resource_field);
    uint32_t number = 0;
    struct cursor at = cursor_member(path, resource_field);
    if (!words_find(&event_source_words, resource, &number) || number == 0)
        refuse(r, &at, resource, &event_source_words);
    e.resource = (enum event_source)number;
    at = cursor_member(path, actions_field);
    if (e.actions.count == 0)
        config_invalid(r->outer, &at, "Required value: at least one action");
    for (uint32_t i = 0; i < e.actions.count; i++) {
        struct cursor one = item_path(&at, i);
        if (!words_find(&event_change_words, e.actions.at[i], &number) || number == 0)
            refuse(r, &one, e.actions.at[i], &event_change_words);
    }
    return e;
}

void config_bus_events_read(const struct args_reader *r, const struct cursor *args,
                            struct bus_plugin *b)
{
    struct cursor list = cursor_list(args, "events"), path = cursor_member(r->path, "events");
    size_t found = kube_json_count(list.value);
    b->hints = cursor_bool(args, "queueingHints");
    if (found > EVENTS_MAX) {
        config_invalid(r->outer, &path, "Too many: %zu: must have at most %d items", found,
                       EVENTS_MAX);
        return;
    }
    b->events.at = found > 0 ? cursor_take(&list, found, sizeof(*b->events.at)) : NULL;
    for (struct cursor i = cursor_first(&list); b->events.at != NULL && i.value != NULL;
         i = cursor_next(&i)) {
        struct cursor at = item_path(&path, b->events.count);
        if (cursor_is_object(&i))
            b->events.at[b->events.count++] = read_event(r, &i, &at);
    }
}

static void add_texts(struct buffer *out, const struct strs *texts)
{
    buffer_add_text(out, "[");
    for (uint32_t i = 0; i < texts->count; i++) {
        buffer_add_text(out, i > 0 ? "," : "");
        json_string(out, texts->at[i]);
    }
    buffer_add_text(out, "]");
}

void config_bus_events_json(const struct bus_plugin *b, struct buffer *out)
{
    buffer_add_text(out, "[");
    for (uint32_t i = 0; i < b->events.count; i++) {
        buffer_add_text(out, i > 0 ? ",{\"actions\":" : "{\"actions\":");
        add_texts(out, &b->events.at[i].actions);
        buffer_add_text(out, ",\"resource\":");
        json_string(out, words_text(&event_source_words, b->events.at[i].resource));
        buffer_add_text(out, "}");
    }
    buffer_add_text(out, "]");
}

void config_bus_events_print(const struct bus_plugin *b, struct buffer *out)
{
    for (uint32_t i = 0; i < b->events.count; i++) {
        buffer_add_text(out, i > 0 ? "" : "      events:\n");
        buffer_add_text(out, "      - actions: ");
        add_texts(out, &b->events.at[i].actions);
        buffer_add_text(out, "\n        resource: ");
        json_string(out, words_text(&event_source_words, b->events.at[i].resource));
        buffer_add_text(out, "\n");
    }
}
