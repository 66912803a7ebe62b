/* semver: read and ordered as upstream's library does, with its error texts, which users see in
 * events. What must stay true: numeric identifiers are below words and compared as numbers. */
#include "scheduler/cel/semver.h"

#include <inttypes.h>

#include "scheduler/cel/number.h"
#include "scheduler/cel/text.h"

#include <string.h>

static bool only_digits(struct str s)
{
    for (uint32_t i = 0; i < s.len; i++)
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
    return true;
}

static bool only_words(struct str s)
{
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && c != '-' && (c < '0' || c > '9'))
            return false;
    }
    return true;
}

static bool refuse(struct pool *p, struct str *error, const char *why, struct str what)
{
    *error = pool_print(p, "%s %.*s", why, STR_ARG(text_quoted(p, what)));
    return false;
}

static bool read_uint(struct pool *p, struct str s, uint64_t *value, struct str *error)
{
    if (number_parse_uint(s, 10, value))
        return true;
    *error = pool_print(p, "strconv.ParseUint: parsing %.*s: %s", STR_ARG(text_quoted(p, s)),
                        s.len == 0 ? "invalid syntax" : "value out of range");
    return false;
}

/* names: "major" and "Major". */
static bool read_number(struct pool *p, struct str s, const char *const names[2], uint64_t *value,
                        struct str *error)
{
    if (!only_digits(s)) {
        struct str why = pool_print(p, "Invalid character(s) found in %s number", names[0]);
        return refuse(p, error, why.at, s);
    }
    if (s.len > 1 && s.at[0] == '0') {
        struct str why = pool_print(p, "%s number must not contain leading zeroes", names[1]);
        return refuse(p, error, why.at, s);
    }
    return read_uint(p, s, value, error);
}

static bool check_pre(struct pool *p, struct str rest, struct str *error)
{
    struct str piece;
    while (str_split(&rest, ".", &piece)) {
        uint64_t value = 0;
        if (piece.len == 0) {
            *error = STR_LITERAL("Prerelease is empty");
            return false;
        }
        if (only_digits(piece)) {
            if (piece.len > 1 && piece.at[0] == '0')
                return refuse(p, error,
                              "Numeric PreRelease version must not contain leading zeroes", piece);
            if (!read_uint(p, piece, &value, error))
                return false;
        } else if (!only_words(piece)) {
            return refuse(p, error, "Invalid character(s) found in prerelease", piece);
        }
    }
    return true;
}

static bool check_build(struct pool *p, struct str rest, struct str *error)
{
    struct str piece;
    while (str_split(&rest, ".", &piece)) {
        if (piece.len == 0) {
            *error = STR_LITERAL("Build meta data is empty");
            return false;
        }
        if (!only_words(piece))
            return refuse(p, error, "Invalid character(s) found in build meta data", piece);
    }
    return true;
}

/* Up to three pieces at the first points. */
static uint32_t split_three(struct str s, struct str parts[3])
{
    uint32_t count = 0;
    for (int64_t at = 0; count < 2 && (at = str_find(s, '.')) >= 0; count++) {
        parts[count] = text_first(s, (uint32_t)at);
        s = text_from(s, (uint32_t)at + 1);
    }
    parts[count] = s;
    return count + 1;
}

static bool parse(struct pool *p, struct str text, struct semver *v, struct str *error)
{
    static const char *const names[3][2] = {
        {"major", "Major"}, {"minor", "Minor"}, {"patch", "Patch"}};
    struct str parts[3] = {{0}}, build = {NULL, 0}, pre = {NULL, 0};
    if (text.len == 0) {
        *error = STR_LITERAL("Version string empty");
        return false;
    }
    if (split_three(text, parts) != 3) {
        *error = STR_LITERAL("No Major.Minor.Patch elements found");
        return false;
    }
    if (!read_number(p, parts[0], names[0], &v->major, error) ||
        !read_number(p, parts[1], names[1], &v->minor, error))
        return false;
    int64_t at = str_find(parts[2], '+');
    if (at >= 0) {
        build = text_from(parts[2], (uint32_t)at + 1);
        parts[2].len = (uint32_t)at;
    }
    at = str_find(parts[2], '-');
    if (at >= 0) {
        pre = text_from(parts[2], (uint32_t)at + 1);
        parts[2].len = (uint32_t)at;
    }
    if (!read_number(p, parts[2], names[2], &v->patch, error))
        return false;
    v->pre = pre;
    v->build = build;
    return (pre.at == NULL || check_pre(p, pre, error)) &&
           (build.at == NULL || check_build(p, build, error));
}

const struct semver *semver_parse(struct pool *p, struct str text, struct str *error)
{
    struct semver *v = pool_take(p, sizeof(*v));
    return parse(p, text, v, error) ? v : NULL;
}

static struct str without_zeros(struct pool *p, struct str s)
{
    if (s.len <= 1)
        return s;
    while (s.len > 0 && s.at[0] == '0')
        s = text_from(s, 1);
    bool digit = s.len > 0 && s.at[0] >= '0' && s.at[0] <= '9';
    return digit ? s : pool_print(p, "0%.*s", STR_ARG(s));
}

const struct semver *semver_parse_loose(struct pool *p, struct str text, struct str *error)
{
    struct str parts[3] = {{0}};
    if (str_starts_with(text, "v"))
        text = text_from(text, 1);
    uint32_t count = split_three(text, parts);
    for (uint32_t i = 0; i < count; i++)
        parts[i] = without_zeros(p, parts[i]);
    if (count < 3) {
        struct str last = parts[count - 1];
        if (str_find(last, '+') >= 0 || str_find(last, '-') >= 0) {
            *error = STR_LITERAL("short version cannot contain PreRelease/Build meta data");
            return NULL;
        }
        for (; count < 3; count++)
            parts[count] = STR_LITERAL("0");
    }
    return semver_parse(
        p, pool_print(p, "%.*s.%.*s.%.*s", STR_ARG(parts[0]), STR_ARG(parts[1]), STR_ARG(parts[2])),
        error);
}

struct str semver_text(struct pool *p, const struct semver *v)
{
    return pool_print(p, "%" PRIu64 ".%" PRIu64 ".%" PRIu64 "%s%.*s%s%.*s", v->major, v->minor,
                      v->patch, v->pre.len > 0 ? "-" : "", STR_ARG(v->pre),
                      v->build.len > 0 ? "+" : "", STR_ARG(v->build));
}

static int compare_uint(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b ? 1 : 0;
}

static int compare_identifier(struct str a, struct str b)
{
    uint64_t x = 0, y = 0;
    bool number = only_digits(a), other = only_digits(b);
    if (number != other)
        return number ? -1 : 1;
    if (number) {
        number_parse_uint(a, 10, &x);
        number_parse_uint(b, 10, &y);
        return compare_uint(x, y);
    }
    int order = str_compare(a, b);
    return order < 0 ? -1 : order > 0 ? 1 : 0;
}

static int compare_pre(struct str a, struct str b)
{
    struct str x, y;
    if (a.len == 0 || b.len == 0)
        return compare_uint(b.len, a.len);
    for (;;) {
        bool more = str_split(&a, ".", &x), other = str_split(&b, ".", &y);
        if (!more || !other)
            return (int)more - (int)other;
        int order = compare_identifier(x, y);
        if (order != 0)
            return order;
    }
}

int semver_compare(const struct semver *a, const struct semver *b)
{
    int order = compare_uint(a->major, b->major);
    if (order == 0)
        order = compare_uint(a->minor, b->minor);
    if (order == 0)
        order = compare_uint(a->patch, b->patch);
    return order != 0 ? order : compare_pre(a->pre, b->pre);
}
