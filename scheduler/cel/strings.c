/* strings: contains() and the functions of cel-go's extended strings library, version 2. Positions
 * are characters, not bytes. What must stay true: the size of a result is known and taken from the
 * pool before it is written, because replace() and join() can make long texts of short ones. */
#include "scheduler/cel/functions.h"
#include "scheduler/cel/text.h"

#include <inttypes.h>
#include <string.h>

static struct value out_of_range(const struct call *c, int64_t index)
{
    return (struct value){.kind = V_error,
                          .text = pool_print(c->pool, "index out of range: %" PRId64, index)};
}

static bool both_strings(const struct call *c)
{
    return c->args[0].kind == V_string && c->args[1].kind == V_string;
}

struct value fn_text_contains(const struct call *c)
{
    if (!both_strings(c))
        return value_no_overload();
    return value_bool(text_find(c->args[0].text, c->args[1].text) >= 0);
}

struct value fn_text_starts_with(const struct call *c)
{
    struct str s = c->args[0].text, part = c->args[1].text;
    if (!both_strings(c))
        return value_no_overload();
    return value_bool(part.len <= s.len && str_equal(text_first(s, part.len), part));
}

struct value fn_text_ends_with(const struct call *c)
{
    struct str s = c->args[0].text, part = c->args[1].text;
    if (!both_strings(c))
        return value_no_overload();
    return value_bool(part.len <= s.len && str_equal(text_from(s, s.len - part.len), part));
}

struct value fn_text_char_at(const struct call *c)
{
    struct str s = c->args[0].text;
    int64_t index = c->args[1].number, count = text_runes(s);
    if (index < 0 || index > count)
        return out_of_range(c, index);
    uint32_t at = text_offset(s, (uint32_t)index), len = 0;
    if (at < s.len)
        text_decode(text_from(s, at), &len);
    return value_string((struct str){s.at + at, len});
}

struct value fn_text_index_of(const struct call *c)
{
    struct str s = c->args[0].text, part = c->args[1].text;
    int64_t from = c->count > 2 ? c->args[2].number : 0;
    if (part.len == 0)
        return value_int(from);
    if (from < 0)
        return out_of_range(c, from);
    if (from >= text_runes(s))
        return value_int(-1);
    uint32_t at = text_offset(s, (uint32_t)from);
    int64_t found = text_find(text_from(s, at), part);
    return value_int(found < 0 ? -1
                               : from + text_runes(text_first(text_from(s, at), (uint32_t)found)));
}

struct value fn_text_last_index_of(const struct call *c)
{
    struct str s = c->args[0].text, part = c->args[1].text;
    int64_t count = text_runes(s), from = c->count > 2 ? c->args[2].number : count - 1;
    if (part.len == 0)
        return value_int(c->count > 2 ? from : count);
    if (c->count == 2 && s.len < part.len)
        return value_int(-1);
    if (from < 0)
        return out_of_range(c, from);
    if (from >= count)
        return value_int(-1);
    for (int64_t at = text_offset(s, (uint32_t)from); at >= 0; at--) {
        struct str rest = text_from(s, (uint32_t)at);
        if (rest.len >= part.len && str_equal(text_first(rest, part.len), part))
            return value_int(text_runes(text_first(s, (uint32_t)at)));
    }
    return value_int(-1);
}

/* Letters of ASCII between first and last, moved by as much. */
static struct value moved(const struct call *c, char first, char last, int by)
{
    struct str s = pool_copy(c->pool, c->args[0].text);
    char *at = pool_take(c->pool, (size_t)s.len + 1);
    for (uint32_t i = 0; i < s.len; i++)
        at[i] = (char)(s.at[i] >= first && s.at[i] <= last ? s.at[i] + by : s.at[i]);
    return value_string((struct str){at, s.len});
}

struct value fn_text_lower(const struct call *c)
{
    return moved(c, 'A', 'Z', 'a' - 'A');
}

struct value fn_text_upper(const struct call *c)
{
    return moved(c, 'a', 'z', 'A' - 'a');
}

/* How often old is replaced, at most so often; an empty one stands before every character and at
 * the end. */
static uint64_t occurrences(struct str s, struct str old, uint64_t most)
{
    uint64_t count = 0;
    if (old.len == 0) {
        count = (uint64_t)text_runes(s) + 1;
        return count < most ? count : most;
    }
    for (int64_t at = 0; count < most && (at = text_find(s, old)) >= 0; count++)
        s = text_from(s, (uint32_t)at + old.len);
    return count;
}

static char *put(char *out, struct str s)
{
    if (s.len > 0)
        memcpy(out, s.at, s.len);
    return out + s.len;
}

struct value fn_text_replace(const struct call *c)
{
    struct str s = c->args[0].text, old = c->args[1].text, by = c->args[2].text;
    int64_t most = c->count > 3 ? c->args[3].number : -1;
    uint64_t count = occurrences(s, old, most < 0 ? UINT64_MAX : (uint64_t)most);
    uint64_t len = s.len + count * by.len - count * old.len;
    if (len > UINT32_MAX)
        pool_stop(c->pool, "a text is too long");
    char *out = pool_take(c->pool, len + 1), *to = out;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t at = 0;
        if (old.len > 0)
            at = (uint32_t)text_find(s, old);
        else if (i > 0)
            text_decode(s, &at);
        to = put(to, text_first(s, at));
        to = put(to, by);
        s = text_from(s, at + old.len);
    }
    put(to, s);
    return value_string((struct str){out, (uint32_t)len});
}

/* Into characters, the last piece being the rest. */
static struct value exploded(struct pool *p, struct str s, uint64_t most)
{
    struct value list = list_new(p, 4);
    uint32_t len = 0;
    for (uint64_t i = 0; s.len > 0 && i < most; i++, s = text_from(s, len)) {
        text_decode(s, &len);
        if (i + 1 == most)
            len = s.len;
        list = list_append(p, list, value_string(text_first(s, len)));
    }
    return list;
}

struct value fn_text_split(const struct call *c)
{
    struct str s = c->args[0].text, by = c->args[1].text;
    int64_t limit = c->count > 2 ? c->args[2].number : -1;
    uint64_t most = limit < 0 ? UINT64_MAX : (uint64_t)limit;
    struct value list = list_new(c->pool, 4);
    if (most == 0)
        return list;
    if (by.len == 0)
        return exploded(c->pool, s, most);
    int64_t at = 0;
    for (uint64_t i = 1; i < most && (at = text_find(s, by)) >= 0; i++) {
        list = list_append(c->pool, list, value_string(text_first(s, (uint32_t)at)));
        s = text_from(s, (uint32_t)at + by.len);
    }
    return list_append(c->pool, list, value_string(s));
}

struct value fn_text_substring(const struct call *c)
{
    struct str s = c->args[0].text;
    int64_t count = text_runes(s), from = c->args[1].number;
    int64_t to = c->count > 2 ? c->args[2].number : count;
    if (c->count > 2 && from > to)
        return (struct value){
            .kind = V_error,
            .text = pool_print(
                c->pool, "invalid substring range. start: %" PRId64 ", end: %" PRId64, from, to)};
    if (from < 0 || from > count)
        return out_of_range(c, from);
    if (to < 0 || to > count)
        return out_of_range(c, to);
    uint32_t first = text_offset(s, (uint32_t)from), end = text_offset(s, (uint32_t)to);
    return value_string((struct str){s.at + first, end - first});
}

/* White space as Unicode has it. */
static bool is_space(uint32_t rune)
{
    return (rune >= 9 && rune <= 13) || rune == ' ' || rune == 0x85 || rune == 0xA0 ||
           rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200A) || rune == 0x2028 ||
           rune == 0x2029 || rune == 0x202F || rune == 0x205F || rune == 0x3000;
}

struct value fn_text_trim(const struct call *c)
{
    struct str s = c->args[0].text;
    uint32_t len = 0, end = 0;
    while (s.len > 0 && is_space(text_decode(s, &len)))
        s = text_from(s, len);
    for (uint32_t at = 0; at < s.len; at += len)
        if (!is_space(text_decode(text_from(s, at), &len)))
            end = at + len;
    return value_string(text_first(s, end));
}

struct value fn_text_join(const struct call *c)
{
    struct value list = c->args[0];
    struct str by = c->count > 1 ? c->args[1].text : STR_LITERAL("");
    uint64_t len = 0;
    for (uint32_t i = 0; i < list.list->count; i++) {
        struct value v = list_at(list, i);
        if (v.kind != V_string)
            return (struct value){.kind = V_error,
                                  .text = pool_print(c->pool, "join: invalid input: %.*s",
                                                     STR_ARG(value_text(c->pool, v)))};
        len += v.text.len + (i > 0 ? (uint64_t)by.len : 0);
    }
    if (len > UINT32_MAX)
        pool_stop(c->pool, "a text is too long");
    char *out = pool_take(c->pool, len + 1), *to = out;
    for (uint32_t i = 0; i < list.list->count; i++) {
        to = i > 0 ? put(to, by) : to;
        to = put(to, list_at(list, i).text);
    }
    return value_string((struct str){out, (uint32_t)len});
}

struct value fn_text_quote(const struct call *c)
{
    static const char letters[] = "abfnrtv\\\"", means[] = "\a\b\f\n\r\t\v\\\"";
    struct str s = c->args[0].text;
    char *out = pool_take(c->pool, 3 * (size_t)s.len + 3), *to = out;
    uint32_t len = 0;
    *to++ = '"';
    for (; s.len > 0; s = text_from(s, len)) {
        uint32_t rune = text_decode(s, &len);
        const char *at = rune > 0 && rune < 0x80 ? strchr(means, (int)rune) : NULL;
        if (at != NULL) {
            *to++ = '\\';
            *to++ = letters[at - means];
        } else {
            to += text_encode(rune, to);
        }
    }
    *to++ = '"';
    return value_string((struct str){out, (uint32_t)(to - out)});
}
