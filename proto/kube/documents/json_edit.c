/* json_edit: splices. The one idea: a walk over the text finds where a member or an item lies, by
 * its brackets and strings alone, and only those bytes are exchanged. What must stay true: nothing
 * beyond the text is looked at, whatever is in it; a text that is no JSON gives another one. */
#include "proto/kube/documents/json_edit.h"

#include "proto/kube/documents/json.h"

#include <string.h>

/* A member or an item: from its name on, its value, and up to its end. */
struct range {
    size_t at, value, end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.len && is_blank(text.at[at]))
        at++;
    return at;
}

/* Behind the string that begins there. */
static size_t skip_string(struct str text, size_t at)
{
    for (at++; at < text.len && text.at[at] != '"'; at++)
        at += text.at[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

/* Behind the value that begins there. */
static size_t skip_value(struct str text, size_t at)
{
    size_t open = 0;
    do {
        char c = '\0';
        if (at < text.len)
            c = text.at[at];
        if (c == '"') {
            at = skip_string(text, at);
        } else if (c == '{' || c == '[') {
            open++;
            at++;
        } else if (c == '}' || c == ']') {
            open -= open > 0;
            at++;
        } else if (open > 0) {
            at++;
        } else {
            while (at < text.len && !is_blank(text.at[at]) && text.at[at] != ',' &&
                   text.at[at] != ']' && text.at[at] != '}')
                at++;
        }
    } while (open > 0 && at < text.len);
    return at;
}

/* The first member or item of the container at from, or the one behind *found. */
static bool next_child(struct str text, size_t from, bool first, struct range *found)
{
    size_t at = skip_blanks(text, first ? from + 1 : found->end);
    if (!first && at < text.len && text.at[at] == ',')
        at = skip_blanks(text, at + 1);
    if (at >= text.len || text.at[at] == '}' || text.at[at] == ']')
        return false;
    found->at = found->value = at;
    if (text.at[from] == '{') {
        at = skip_blanks(text, skip_string(text, at));
        found->value = skip_blanks(text, at + 1); /* behind the colon */
    }
    found->end = skip_value(text, found->value);
    return found->end > found->at && found->end <= text.len;
}

/* A name may be spelled with escapes. */
static bool is_named(struct str text, const struct range *r, const char *name)
{
    size_t end = skip_string(text, r->at), len = end - r->at;
    struct str raw = {text.at + r->at, (uint32_t)len};
    if (memchr(raw.at, '\\', len) == NULL)
        return len == strlen(name) + 2 && memcmp(raw.at + 1, name, len - 2) == 0;
    struct arena a = {0};
    struct kube_json *decoded = kube_json_parse(raw, NULL, &a);
    bool is = str_is(kube_json_text(decoded), name);
    kube_json_free(&decoded);
    arena_free(&a);
    return is;
}

static bool find_member(struct str text, size_t from, const char *name, struct range *found)
{
    struct range r = {0};
    bool any = false;
    for (bool more = next_child(text, from, true, &r); more;
         more = next_child(text, from, false, &r))
        if (is_named(text, &r, name)) {
            *found = r;
            any = true;
        }
    return any;
}

static bool opens(struct str text, size_t at, char c)
{
    return at < text.len && text.at[at] == c;
}

static void splice(struct buffer *json, size_t from, size_t end, struct str with)
{
    struct buffer rest = {0};
    buffer_add(&rest, json->at + end, json->len - end);
    json->len = from;
    buffer_add_str(json, with);
    buffer_add_str(json, buffer_str(&rest));
    buffer_free(&rest);
}

/* Adds at the end of the container at from. */
static void insert(struct buffer *json, size_t from, struct str what)
{
    struct buffer text = {0};
    struct range r;
    bool empty = !next_child(buffer_str(json), from, true, &r);
    size_t end = skip_value(buffer_str(json), from);
    buffer_print(&text, "%s", empty ? "" : ",");
    buffer_add_str(&text, what);
    splice(json, end > from ? end - 1 : from, end > from ? end - 1 : from, buffer_str(&text));
    buffer_free(&text);
}

/* {"a":{"b":value}} for what is left of a path; the value alone for an empty one. */
static void wrap(struct buffer *out, const char *const *path, struct str value)
{
    size_t depth = 0;
    for (; path[depth] != NULL; depth++)
        buffer_print(out, "{\"%s\":", path[depth]);
    buffer_add_str(out, value);
    while (depth-- > 0)
        buffer_add_text(out, "}");
}

/* Goes down the path as far as there are objects. Returns the name that was not found, or the last
 * one with *found; *up is the object that it is, or is to be, a member of. */
static const char *const *walk(const struct buffer *json, const char *const *path, size_t *up,
                               struct range *found, bool *there)
{
    struct str text = buffer_str(json);
    bool marked = text.len >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0; /* of byte order */
    *up = skip_blanks(text, marked ? 3 : 0);
    for (;; path++) {
        *there = find_member(text, *up, *path, found);
        if (!*there || path[1] == NULL || !opens(text, found->value, '{'))
            return path;
        *up = found->value;
    }
}

void json_edit_set(struct buffer *json, const char *const *path, struct str value)
{
    struct range found;
    struct buffer made = {0};
    size_t up;
    bool there;
    const char *const *at = walk(json, path, &up, &found, &there);
    if (!there)
        buffer_print(&made, "\"%s\":", *at);
    wrap(&made, at + 1, value);
    if (there)
        splice(json, found.value, found.end, buffer_str(&made));
    else
        insert(json, up, buffer_str(&made));
    buffer_free(&made);
}

void json_edit_append(struct buffer *json, const char *const *path, struct str item)
{
    struct range found;
    struct buffer list = {0};
    size_t up;
    bool there;
    const char *const *at = walk(json, path, &up, &found, &there);
    if (there && at[1] == NULL && opens(buffer_str(json), found.value, '[')) {
        insert(json, found.value, item);
        return;
    }
    buffer_print(&list, "[");
    buffer_add_str(&list, item);
    buffer_print(&list, "]");
    json_edit_set(json, path, buffer_str(&list));
    buffer_free(&list);
}

/* Takes a child out, with the comma on one of its sides. */
static void cut(struct buffer *json, const struct range *r)
{
    struct str text = buffer_str(json);
    size_t from = r->at, end = skip_blanks(text, r->end);
    if (end < text.len && text.at[end] == ',') {
        splice(json, from, skip_blanks(text, end + 1), (struct str){NULL, 0});
        return;
    }
    while (from > 0 && is_blank(text.at[from - 1]))
        from--;
    from -= from > 0 && text.at[from - 1] == ',';
    splice(json, from, r->end, (struct str){NULL, 0});
}

void json_edit_remove(struct buffer *json, const char *const *path)
{
    struct range found;
    size_t up;
    bool there;
    for (;;) {
        const char *const *at = walk(json, path, &up, &found, &there);
        if (!there || at[1] != NULL)
            return;
        cut(json, &found);
    }
}

void json_edit_filter(struct buffer *json, const char *const *path,
                      bool (*goes)(struct str item, const void *context), const void *context)
{
    struct range found, item = {0};
    size_t up;
    bool there;
    const char *const *at = walk(json, path, &up, &found, &there);
    if (!there || at[1] != NULL || !opens(buffer_str(json), found.value, '['))
        return;
    bool first = true;
    while (next_child(buffer_str(json), found.value, first, &item)) {
        struct str text = {json->at + item.value, (uint32_t)(item.end - item.value)};
        first = goes(text, context);
        if (first)
            cut(json, &item); /* from the beginning again */
    }
}

struct str json_edit_member(struct str json, const char *name)
{
    struct range found;
    size_t at = skip_blanks(json, 0);
    if (!opens(json, at, '{') || !find_member(json, at, name, &found))
        return (struct str){NULL, 0};
    return (struct str){json.at + found.value, (uint32_t)(found.end - found.value)};
}

bool json_edit_is_value(struct str text)
{
    size_t at = skip_blanks(text, 0), end = skip_value(text, at), open = 0;
    bool quoted = false;
    for (size_t i = at; i < end; i++) {
        char c = text.at[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            open++;
        else if (!quoted && (c == '}' || c == ']') && open-- == 0)
            return false;
    }
    return end > at && !quoted && open == 0 && skip_blanks(text, end) == text.len;
}
