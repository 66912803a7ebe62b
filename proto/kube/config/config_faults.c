/* config_faults: what is wrong with a configuration, in the pile that it belongs to, and the words
 * that several readers and printers need. The one idea: whoever finds something says it at once,
 * and in which order piles are reported is nobody's business here. What must stay true: the first
 * fault of reading counts and is final; paths and texts are upstream's. */
#include "proto/kube/config/config_internal.h"

#include "proto/base/memory.h"
#include "proto/kube/documents/quote.h"
#include "proto/kube/documents/yaml_scalar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void config_fail(struct loading *l, const char *text)
{
    struct reading *r = &l->reading;
    if (r->failed)
        return;
    r->failed = true;
    r->error =
        arena_print(r->arena, "%s%s%s", r->subject ? r->subject : "", r->subject ? ": " : "", text);
}

/* Each is told once. */
void config_strict(struct loading *l, const char *what, const struct cursor *at)
{
    struct buffer text = {0}, path = {0};
    cursor_path(at, &path);
    buffer_print(&text, "%s field ", what);
    kube_quote(buffer_str(&path), &text);
    if (l->strict.len == 0 || strstr(l->strict.at, text.at) == NULL)
        buffer_print(&l->strict, "%s%s", l->strict.len ? ", " : "", text.at);
    buffer_free(&text);
    buffer_free(&path);
}

void config_only(struct loading *l, const struct cursor *object, const char *const *names)
{
    if (!kube_json_is_object(object->value))
        return;
    if (kube_json_count(object->value) > CONFIG_MEMBERS_MAX) {
        cursor_fail(object, "has more than %d fields", CONFIG_MEMBERS_MAX);
        return;
    }
    for (struct cursor c = cursor_first(object); c.value != NULL; c = cursor_next(&c)) {
        bool known = false, again = false;
        for (size_t i = 0; names[i] != NULL; i++)
            known = known || strcmp(names[i], c.name) == 0;
        for (struct cursor d = cursor_first(object); d.value != c.value; d = cursor_next(&d))
            again = again || strcmp(d.name, c.name) == 0;
        if (!known)
            config_strict(l, "unknown", &c);
        else if (again)
            config_strict(l, "duplicate", &c);
    }
}

static void add_line(struct buffer *out, const char *separator, const struct cursor *at,
                     const char *text)
{
    if (out->len > 0)
        buffer_add_text(out, separator);
    size_t start = out->len;
    cursor_path(at, out);
    buffer_print(out, "%s%s", out->len > start ? ": " : "", text);
}

#define FORMAT_INTO(text)                                                                          \
    char text[1024];                                                                               \
    va_list args;                                                                                  \
    va_start(args, format);                                                                        \
    vsnprintf(text, sizeof(text), format, args);                                                   \
    va_end(args)

void config_invalid(struct loading *l, const struct cursor *at, const char *format, ...)
{
    FORMAT_INTO(text);
    add_line(&l->invalid, ", ", at, text);
    l->invalid_count++;
}

void config_invalid_each(struct loading *l, const struct cursor *at, struct str value,
                         struct str reasons)
{
    struct str reason;
    while (str_split(&reasons, "; ", &reason))
        config_invalid(l, at, "Invalid value: \"%.*s\": %.*s", STR_ARG(value), STR_ARG(reason));
}

void config_invalid_text(struct loading *l, const char *text, uint32_t count)
{
    struct cursor nowhere = {0};
    add_line(&l->invalid, ", ", &nowhere, text);
    l->invalid_count += count;
}

void config_unsupported(struct loading *l, const struct cursor *at, const char *format, ...)
{
    FORMAT_INTO(text);
    add_line(&l->unsupported, ", ", at, text);
}

void config_note(struct loading *l, const struct cursor *at, const char *format, ...)
{
    FORMAT_INTO(text);
    add_line(&l->notes, "\n", at, text);
}

bool config_has(const struct cursor *object, const char *member)
{
    return kube_json_get(object->value, member) != NULL;
}

size_t config_slashes(struct str version)
{
    size_t count = 0;
    for (uint32_t i = 0; i < version.len; i++)
        count += version.at[i] == '/';
    return count;
}

void config_not_registered(struct str kind, struct str version, struct buffer *out)
{
    if (config_slashes(version) > 1) {
        buffer_print(out, "unexpected GroupVersion string: %.*s", STR_ARG(version));
        return;
    }
    buffer_add_text(out, "no kind ");
    kube_quote(kind, out);
    buffer_add_text(out, " is registered for version ");
    kube_quote(version, out);
}

static bool is_plain(struct str text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    bool good = text.len > 0 && text.at[0] != '-' && text.at[0] != '.';
    for (uint32_t i = 0; good && i < text.len; i++)
        good = text.at[i] != 0 && strchr(plain, text.at[i]) != NULL;
    if (!good)
        return false;
    char *copy = str_copy(text);
    good = yaml_value_of(copy).kind == YAML_text;
    memory_free(copy);
    return good;
}

void config_print_text(struct str text, struct buffer *out)
{
    if (is_plain(text)) {
        buffer_add_str(out, text);
        return;
    }
    buffer_add_text(out, "\"");
    for (uint32_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '"' || c == '\\')
            buffer_print(out, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            buffer_print(out, "\\x%02x", c);
        else
            buffer_add(out, &text.at[i], 1);
    }
    buffer_add_text(out, "\"");
}
