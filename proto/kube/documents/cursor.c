/* cursor: typed reading of JSON. The one idea: the path to the place being read is a chain of stack
 * frames, so that it costs nothing until an error needs it. What must stay true: a wrong type is
 * never read as a zero silently, and memory comes from the arena alone. */
#include "proto/kube/documents/cursor.h"

#include "proto/base/buffer.h"
#include "proto/base/moment.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 /* of cursors in one path; conversions go about ten deep */

struct cursor cursor_root(struct reading *reading, const struct kube_json *document)
{
    return (struct cursor){.reading = reading, .value = document};
}

void cursor_path(const struct cursor *cursor, struct buffer *out)
{
    const struct cursor *chain[DEPTH_MAX];
    size_t depth = 0, start = out->len;
    for (; cursor->up != NULL && depth < DEPTH_MAX; cursor = cursor->up)
        chain[depth++] = cursor;
    while (depth > 0) {
        const struct cursor *s = chain[--depth];
        if (s->name == NULL)
            buffer_print(out, "[%zu]", s->index);
        else
            buffer_print(out, "%s%.200s", out->len > start ? "." : "", s->name);
    }
}

void cursor_fail(const struct cursor *cursor, const char *format, ...)
{
    struct reading *r = cursor->reading;
    if (r->failed)
        return;
    r->failed = true;
    struct buffer text = {0};
    cursor_path(cursor, &text);
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    r->error =
        arena_print(r->arena, "%s%s%s%s%s", r->subject ? r->subject : "", r->subject ? ": " : "",
                    text.len ? text.at : "", text.len ? ": " : "", what);
    buffer_free(&text);
}

void *cursor_take(const struct cursor *cursor, size_t count, size_t size)
{
    void *at =
        count <= SIZE_MAX / 8 / size ? arena_take(cursor->reading->arena, count * size) : NULL;
    if (at == NULL)
        cursor_fail(cursor, "too large");
    return at;
}

struct cursor cursor_member(const struct cursor *up, const char *name)
{
    return (struct cursor){up->reading, up, name, 0, kube_json_get(up->value, name)};
}

bool cursor_is_object(const struct cursor *cursor)
{
    if (cursor->value == NULL || kube_json_is_object(cursor->value) ||
        kube_json_is_null(cursor->value))
        return true;
    cursor_fail(cursor, "wants an object, has %s", kube_json_kind(cursor->value));
    return false;
}

struct cursor cursor_object(const struct cursor *up, const char *name)
{
    struct cursor s = cursor_member(up, name);
    if (!cursor_is_object(&s))
        s.value = NULL;
    return s;
}

struct cursor cursor_list(const struct cursor *up, const char *name)
{
    struct cursor s = cursor_member(up, name);
    if (s.value != NULL && !kube_json_is_array(s.value)) {
        cursor_fail(&s, "wants a list, has %s", kube_json_kind(s.value));
        s.value = NULL;
    }
    return s;
}

struct cursor cursor_first(const struct cursor *list_or_object)
{
    const struct kube_json *child = kube_json_first(list_or_object->value);
    const char *name = kube_json_is_object(list_or_object->value) ? kube_json_name(child).at : NULL;
    return (struct cursor){list_or_object->reading, list_or_object, name, 0, child};
}

struct cursor cursor_next(const struct cursor *child)
{
    const struct kube_json *next = kube_json_next(child->value);
    const char *name = child->name && next ? kube_json_name(next).at : NULL;
    return (struct cursor){child->reading, child->up, name, child->index + 1, next};
}

struct str cursor_own_text(const struct cursor *cursor)
{
    if (cursor->value == NULL || kube_json_is_null(cursor->value))
        return (struct str){0};
    if (!kube_json_is_string(cursor->value)) {
        cursor_fail(cursor, "wants a string, has %s", kube_json_kind(cursor->value));
        return (struct str){0};
    }
    struct str text = kube_json_text(cursor->value);
    if (text.len == 0)
        return (struct str){0};
    text = arena_copy(cursor->reading->arena, text);
    if (text.at == NULL)
        cursor_fail(cursor, "too large");
    return text;
}

struct str cursor_text(const struct cursor *up, const char *name)
{
    struct cursor s = cursor_member(up, name);
    return cursor_own_text(&s);
}

bool cursor_bool(const struct cursor *up, const char *name)
{
    struct cursor s = cursor_member(up, name);
    if (s.value != NULL && !kube_json_is_bool(s.value))
        cursor_fail(&s, "wants true or false, has %s", kube_json_kind(s.value));
    return kube_json_true(s.value);
}

int64_t cursor_i64(const struct cursor *up, const char *name)
{
    struct cursor s = cursor_member(up, name);
    int64_t number = 0;
    double other;
    if (s.value == NULL || kube_json_i64(s.value, &number))
        return number;
    if (kube_json_number(s.value, &other))
        cursor_fail(&s, "wants an integer, has %.17g", other);
    else
        cursor_fail(&s, "wants an integer, has %s", kube_json_kind(s.value));
    return 0;
}

int64_t cursor_i32(const struct cursor *up, const char *name)
{
    struct cursor s = cursor_member(up, name);
    int64_t number = cursor_i64(up, name);
    if (number >= INT32_MIN && number <= INT32_MAX)
        return number;
    cursor_fail(&s, "%lld does not fit 32 bits", (long long)number);
    return 0;
}

/* Go writes a time after the year 9999 with more digits, and one before the year 0 with a sign:
 * such a time is as good as the last or the first one of those years. */
static bool parse_time(struct str text, int64_t *wall_us)
{
    uint32_t digits = 0;
    bool before = text.len > 0 && text.at[0] == '-';
    while (digits + before < text.len && text.at[digits + before] >= '0' &&
           text.at[digits + before] <= '9')
        digits++;
    if (!before && digits <= 4)
        return moment_parse_wall(text.at, text.len, wall_us);
    struct str end =
        before ? STR_LITERAL("0000-01-01T00:00:00Z") : STR_LITERAL("9999-12-31T23:59:59Z");
    return digits >= 3 && moment_parse_wall(end.at, end.len, wall_us);
}

int64_t cursor_time(const struct cursor *up, const char *name)
{
    struct cursor s = cursor_member(up, name);
    struct str text = kube_json_text(s.value);
    int64_t wall_us = 0;
    if (s.value == NULL)
        return 0;
    if (!kube_json_is_string(s.value))
        cursor_fail(&s, "wants a time, has %s", kube_json_kind(s.value));
    else if (!parse_time(text, &wall_us))
        cursor_fail(&s, "\"%.*s\" is no time", text.len < 64 ? (int)text.len : 64, text.at);
    return wall_us;
}

struct strs cursor_texts(const struct cursor *up, const char *name)
{
    struct cursor list = cursor_list(up, name);
    size_t count = kube_json_count(list.value);
    struct strs texts = {0};
    static struct str none;
    texts.at = count                ? cursor_take(&list, count, sizeof(*texts.at))
               : list.value != NULL ? &none
                                    : NULL;
    if (texts.at == NULL)
        return texts;
    for (struct cursor s = cursor_first(&list); s.value != NULL; s = cursor_next(&s))
        texts.at[texts.count++] = cursor_own_text(&s);
    return texts;
}

/* The shortest text that reads back as the same number: 0.1, not 0.10000000000000001, because
 * quantities round up. */
static void shortest(double number, char *out, size_t room)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, room, "%.*g", digits, number);
        if (strtod(out, NULL) == number)
            return;
    }
}

struct kube_quantity cursor_own_quantity(const struct cursor *cursor)
{
    struct kube_quantity q = {0};
    double number = 0;
    int64_t whole = 0;
    char digits[64];
    struct str text = kube_json_text(cursor->value);
    if (cursor->value == NULL || kube_json_is_null(cursor->value))
        return q;
    if (kube_json_i64(cursor->value, &whole)) {
        snprintf(digits, sizeof(digits), "%lld", (long long)whole);
        text = str_of(digits);
    } else if (kube_json_number(cursor->value, &number)) {
        shortest(number, digits, sizeof(digits));
        text = str_of(digits);
    } else if (!kube_json_is_string(cursor->value)) {
        cursor_fail(cursor, "wants a quantity, has %s", kube_json_kind(cursor->value));
        return q;
    }
    if (!kube_quantity_parse(text, &q))
        cursor_fail(cursor, "quantity \"%.*s\" is malformed", text.len < 64 ? (int)text.len : 64,
                    text.at);
    return q;
}
