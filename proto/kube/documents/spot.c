/* spot: typed reading of JSON. The one idea: the path to the place being read is a chain of stack
 * frames, so that it costs nothing until an error needs it. What must stay true: a wrong type is
 * never read as a zero silently, and memory comes from the arena alone. */
#include "proto/kube/documents/spot.h"

#include "proto/base/buffer.h"
#include "proto/base/moment.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 /* of spots in one path; conversions go about ten deep */

struct spot spot_root(struct reading *reading, const struct kube_json *document)
{
    return (struct spot){.reading = reading, .value = document};
}

void spot_path(const struct spot *spot, struct buffer *out)
{
    const struct spot *chain[DEPTH_MAX];
    size_t depth = 0, start = out->len;
    for (; spot->up != NULL && depth < DEPTH_MAX; spot = spot->up)
        chain[depth++] = spot;
    while (depth > 0) {
        const struct spot *s = chain[--depth];
        if (s->name == NULL)
            buffer_print(out, "[%zu]", s->index);
        else
            buffer_print(out, "%s%.200s", out->len > start ? "." : "", s->name);
    }
}

void spot_fail(const struct spot *spot, const char *format, ...)
{
    struct reading *r = spot->reading;
    if (r->failed)
        return;
    r->failed = true;
    struct buffer text = {0};
    spot_path(spot, &text);
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

void *spot_take(const struct spot *spot, size_t count, size_t size)
{
    void *at = count <= SIZE_MAX / 8 / size ? arena_take(spot->reading->arena, count * size) : NULL;
    if (at == NULL)
        spot_fail(spot, "too large");
    return at;
}

struct spot spot_member(const struct spot *up, const char *name)
{
    return (struct spot){up->reading, up, name, 0, kube_json_get(up->value, name)};
}

bool spot_is_object(const struct spot *spot)
{
    if (spot->value == NULL || kube_json_is_object(spot->value) || kube_json_is_null(spot->value))
        return true;
    spot_fail(spot, "wants an object, has %s", kube_json_kind(spot->value));
    return false;
}

struct spot spot_object(const struct spot *up, const char *name)
{
    struct spot s = spot_member(up, name);
    if (!spot_is_object(&s))
        s.value = NULL;
    return s;
}

struct spot spot_list(const struct spot *up, const char *name)
{
    struct spot s = spot_member(up, name);
    if (s.value != NULL && !kube_json_is_array(s.value)) {
        spot_fail(&s, "wants a list, has %s", kube_json_kind(s.value));
        s.value = NULL;
    }
    return s;
}

struct spot spot_first(const struct spot *list_or_object)
{
    const struct kube_json *child = kube_json_first(list_or_object->value);
    const char *name = kube_json_is_object(list_or_object->value) ? kube_json_name(child).at : NULL;
    return (struct spot){list_or_object->reading, list_or_object, name, 0, child};
}

struct spot spot_next(const struct spot *child)
{
    const struct kube_json *next = kube_json_next(child->value);
    const char *name = child->name && next ? kube_json_name(next).at : NULL;
    return (struct spot){child->reading, child->up, name, child->index + 1, next};
}

struct str spot_own_text(const struct spot *spot)
{
    if (spot->value == NULL || kube_json_is_null(spot->value))
        return (struct str){0};
    if (!kube_json_is_string(spot->value)) {
        spot_fail(spot, "wants a string, has %s", kube_json_kind(spot->value));
        return (struct str){0};
    }
    struct str text = kube_json_text(spot->value);
    if (text.len == 0)
        return (struct str){0};
    text = arena_copy(spot->reading->arena, text);
    if (text.at == NULL)
        spot_fail(spot, "too large");
    return text;
}

struct str spot_text(const struct spot *up, const char *name)
{
    struct spot s = spot_member(up, name);
    return spot_own_text(&s);
}

bool spot_bool(const struct spot *up, const char *name)
{
    struct spot s = spot_member(up, name);
    if (s.value != NULL && !kube_json_is_bool(s.value))
        spot_fail(&s, "wants true or false, has %s", kube_json_kind(s.value));
    return kube_json_true(s.value);
}

int64_t spot_i64(const struct spot *up, const char *name)
{
    struct spot s = spot_member(up, name);
    int64_t number = 0;
    double other;
    if (s.value == NULL || kube_json_i64(s.value, &number))
        return number;
    if (kube_json_number(s.value, &other))
        spot_fail(&s, "wants an integer, has %.17g", other);
    else
        spot_fail(&s, "wants an integer, has %s", kube_json_kind(s.value));
    return 0;
}

int64_t spot_i32(const struct spot *up, const char *name)
{
    struct spot s = spot_member(up, name);
    int64_t number = spot_i64(up, name);
    if (number >= INT32_MIN && number <= INT32_MAX)
        return number;
    spot_fail(&s, "%lld does not fit 32 bits", (long long)number);
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

int64_t spot_time(const struct spot *up, const char *name)
{
    struct spot s = spot_member(up, name);
    struct str text = kube_json_text(s.value);
    int64_t wall_us = 0;
    if (s.value == NULL)
        return 0;
    if (!kube_json_is_string(s.value))
        spot_fail(&s, "wants a time, has %s", kube_json_kind(s.value));
    else if (!parse_time(text, &wall_us))
        spot_fail(&s, "\"%.*s\" is no time", text.len < 64 ? (int)text.len : 64, text.at);
    return wall_us;
}

struct strs spot_texts(const struct spot *up, const char *name)
{
    struct spot list = spot_list(up, name);
    size_t count = kube_json_count(list.value);
    struct strs texts = {0};
    static struct str none;
    texts.at = count                ? spot_take(&list, count, sizeof(*texts.at))
               : list.value != NULL ? &none
                                    : NULL;
    if (texts.at == NULL)
        return texts;
    for (struct spot s = spot_first(&list); s.value != NULL; s = spot_next(&s))
        texts.at[texts.count++] = spot_own_text(&s);
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

struct kube_quantity spot_own_quantity(const struct spot *spot)
{
    struct kube_quantity q = {0};
    double number = 0;
    int64_t whole = 0;
    char digits[64];
    struct str text = kube_json_text(spot->value);
    if (spot->value == NULL || kube_json_is_null(spot->value))
        return q;
    if (kube_json_i64(spot->value, &whole)) {
        snprintf(digits, sizeof(digits), "%lld", (long long)whole);
        text = str_of(digits);
    } else if (kube_json_number(spot->value, &number)) {
        shortest(number, digits, sizeof(digits));
        text = str_of(digits);
    } else if (!kube_json_is_string(spot->value)) {
        spot_fail(spot, "wants a quantity, has %s", kube_json_kind(spot->value));
        return q;
    }
    if (!kube_quantity_parse(text, &q))
        spot_fail(spot, "quantity \"%.*s\" is malformed", text.len < 64 ? (int)text.len : 64,
                  text.at);
    return q;
}
