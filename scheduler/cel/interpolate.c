/* interpolate: string.format() of cel-go's extended strings library, version 2, in the locale
 * en_US. What must stay true: %f and %e are not C's (groups of three digits, powers of ten in
 * superscript), but the values inside lists and maps are; and all texts are the pool's, so that
 * what is long ends an evaluation and takes no memory beyond it. */
#include "scheduler/cel/interpolate.h"

#include "scheduler/cel/functions.h"
#include "scheduler/cel/number.h"
#include "scheduler/cel/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION_DEFAULT 6u
#define PRECISION_MAX     255u /* upstream counts fewer digits than asked for beyond it */

/* A text that grows. */
struct builder {
    struct pool *pool;
    char *at;
    uint32_t len, room;
};

static void add(struct builder *b, struct str s)
{
    if (s.len == 0)
        return;
    if (b->at == NULL || s.len > b->room - b->len) {
        uint64_t room = 2 * ((uint64_t)b->len + s.len) + 32;
        if (room > UINT32_MAX)
            pool_stop(b->pool, "a text is too long");
        char *grown = pool_take(b->pool, room);
        if (b->at != NULL)
            memcpy(grown, b->at, b->len);
        b->at = grown;
        b->room = (uint32_t)room;
    }
    memcpy(b->at + b->len, s.at, s.len);
    b->len += s.len;
}

static void add_text(struct builder *b, const char *text)
{
    add(b, str_of(text));
}

static struct value built(const struct builder *b)
{
    return value_string((struct str){b->len > 0 ? b->at : "", b->len});
}

static struct value failed(struct str text)
{
    return (struct value){.kind = V_error, .text = text};
}

#define FAILED(pool, ...) failed(pool_print((pool), __VA_ARGS__))
#define IN_FORMATTING     "error during formatting: "

struct str interpolate_refusal(struct pool *p, char letter, struct str type)
{
    const char *words = NULL;
    switch (letter) {
    case 's':
        words = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, "
                "lists, types, durations, and timestamps";
        break;
    case 'd': words = "decimal clause can only be used on integers"; break;
    case 'f': words = "fixed-point clause can only be used on doubles"; break;
    case 'e': words = "scientific clause can only be used on doubles"; break;
    case 'b': words = "only integers and bools can be formatted as binary"; break;
    case 'o': words = "octal clause can only be used on integers"; break;
    default: words = "only integers, byte buffers, and strings can be formatted as hex"; break;
    }
    return pool_print(p, IN_FORMATTING "%s, was given %.*s", words, STR_ARG(type));
}

static struct value refused(struct pool *p, char letter, struct value v)
{
    return failed(interpolate_refusal(p, letter, str_of(value_type_name(v))));
}

/* ---- %s and %d ---- */

static struct value decimal_text(struct pool *p, struct value v)
{
    if (v.kind == V_int)
        return value_string(pool_print(p, "%" PRId64, v.number));
    if (v.kind == V_uint)
        return value_string(pool_print(p, "%" PRIu64, v.natural));
    return refused(p, 'd', v);
}

static struct value converted(struct pool *p, struct value v)
{
    struct call c = {.pool = p, .args = &v, .count = 1};
    struct value text = fn_convert_to_string(&c);
    if (text.kind != V_error)
        return text;
    return FAILED(p, IN_FORMATTING "could not convert argument %.*s to string",
                  STR_ARG(text_quoted(p, text.text)));
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the value */
static struct value list_text(struct pool *p, const struct list *list);
static struct value map_text(struct pool *p, const struct map *map);

static struct value string_text(struct pool *p, struct value v)
{
    switch (v.kind) {
    case V_list: return list_text(p, v.list);
    case V_map: return map_text(p, v.map);
    case V_type: return value_string(type_runtime_name(v.type));
    case V_null: return value_string(STR_LITERAL("null"));
    case V_bool:
    case V_int:
    case V_uint:
    case V_double:
    case V_string:
    case V_bytes:
    case V_duration:
    case V_timestamp: return converted(p, v);
    default: return refused(p, 's', v);
    }
}

static struct value inner_double(struct pool *p, double d)
{
    if (isnan(d))
        return value_string(STR_LITERAL("\"NaN\""));
    if (isinf(d))
        return value_string(d > 0 ? STR_LITERAL("\"+Inf\"") : STR_LITERAL("\"-Inf\""));
    return value_string(pool_print(p, "%.6f", d));
}

/* Inside lists and maps values look as an expression would have them. */
static struct value inner_text(struct pool *p, struct value v)
{
    static const char *const before[] = {
        [V_string] = "", [V_bytes] = "b", [V_duration] = "duration(", [V_timestamp] = "timestamp("};
    bool in_brackets = v.kind == V_duration || v.kind == V_timestamp;
    struct value text;
    switch (v.kind) {
    case V_bool:
    case V_null:
    case V_type:
    case V_list:
    case V_map: return string_text(p, v);
    case V_int:
    case V_uint: return decimal_text(p, v);
    case V_double: return inner_double(p, v.real);
    case V_string:
    case V_bytes:
    case V_duration:
    case V_timestamp:
        text = string_text(p, v);
        if (text.kind == V_error)
            return text;
        return value_string(pool_print(p, "%s%.*s%s", before[v.kind],
                                       STR_ARG(text_quoted(p, text.text)), in_brackets ? ")" : ""));
    default: return FAILED(p, IN_FORMATTING "no formatting function for %s", value_type_name(v));
    }
}

static struct value list_text(struct pool *p, const struct list *list)
{
    struct builder b = {.pool = p};
    add_text(&b, "[");
    for (uint32_t i = 0; i < list->count; i++) {
        struct value text = inner_text(p, list->items->at[i]);
        if (text.kind == V_error)
            return text;
        add_text(&b, i > 0 ? ", " : "");
        add(&b, text.text);
    }
    add_text(&b, "]");
    return built(&b);
}

struct pair {
    struct str key, item;
};

static int by_key(const void *a, const void *b)
{
    return str_compare(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

static struct value key_text(struct pool *p, struct value key)
{
    if (key.kind == V_string || key.kind == V_bool || key.kind == V_int || key.kind == V_uint)
        return inner_text(p, key);
    return FAILED(p, IN_FORMATTING "no formatting function for map key of type %s",
                  value_type_name(key));
}

static struct value map_text(struct pool *p, const struct map *map)
{
    struct builder b = {.pool = p};
    struct pair *pairs = pool_take_array(p, (size_t)map->count + 1, sizeof(*pairs));
    for (uint32_t i = 0; i < map->count; i++) {
        struct value key = key_text(p, map->entries->at[i].key), item;
        if (key.kind == V_error)
            return key;
        item = inner_text(p, map->entries->at[i].item);
        if (item.kind == V_error)
            return item;
        pairs[i] = (struct pair){key.text, item.text};
    }
    qsort(pairs, map->count, sizeof(*pairs), by_key);
    add_text(&b, "{");
    for (uint32_t i = 0; i < map->count; i++) {
        add_text(&b, i > 0 ? ", " : "");
        add(&b, pairs[i].key);
        add_text(&b, ":");
        add(&b, pairs[i].item);
    }
    add_text(&b, "}");
    return built(&b);
}
/* NOLINTEND(misc-no-recursion) */

/* ---- %f and %e ---- */

static bool read_double(struct value v, double *d)
{
    *d = v.real;
    if (v.kind != V_string)
        return v.kind == V_double;
    *d = str_is(v.text, "NaN") ? NAN : str_is(v.text, "-Infinity") ? -INFINITY : INFINITY;
    return str_is(v.text, "NaN") || str_is(v.text, "Infinity") || str_is(v.text, "-Infinity");
}

static struct value special_text(double d)
{
    if (isnan(d))
        return value_string(STR_LITERAL("NaN"));
    return value_string(d > 0 ? STR_LITERAL("\xe2\x88\x9e") : STR_LITERAL("-\xe2\x88\x9e"));
}

static struct value fixed_text(struct pool *p, struct value v, uint32_t precision)
{
    double d = 0;
    struct builder b = {.pool = p};
    if (!read_double(v, &d))
        return refused(p, 'f', v);
    if (isnan(d) || isinf(d))
        return special_text(d);
    struct str digits = pool_print(p, "%.*f", (int)precision, fabs(d));
    uint32_t whole = digits.len - (precision > 0 ? precision + 1 : 0);
    add_text(&b, d < 0 ? "-" : "");
    for (uint32_t i = 0; i < whole; i++) {
        add_text(&b, i > 0 && (whole - i) % 3 == 0 ? "," : "");
        add(&b, (struct str){digits.at + i, 1});
    }
    add(&b, text_from(digits, whole));
    return built(&b);
}

/* With spaces before it, up to so many characters. */
static struct value padded(struct pool *p, struct value v, uint32_t width)
{
    uint32_t size = text_runes(v.text);
    if (size >= width)
        return v;
    return value_string(pool_print(p, "%*s%.*s", (int)(width - size), "", STR_ARG(v.text)));
}

/* Six digits in any case: what is written as precision is a width, by an oversight of upstream's.
 */
static struct value scientific_text(struct pool *p, struct value v, uint32_t width)
{
    static const char *const raised[] = {
        "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
        "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
    double d = 0;
    struct builder b = {.pool = p};
    if (!read_double(v, &d))
        return refused(p, 'e', v);
    if (isnan(d) || isinf(d))
        return padded(p, special_text(d), width);
    struct str digits = pool_print(p, "%.6e", fabs(d));
    uint32_t e = (uint32_t)str_find(digits, 'e');
    add_text(&b, d < 0 ? "-" : "");
    add(&b, text_first(digits, e));
    add_text(&b, "\xc3\x97" /* a cross */ "10");
    add_text(&b, digits.at[e + 1] == '-' ? "\xe2\x81\xbb" : "");
    for (uint32_t i = e + 2; i < digits.len; i++)
        add_text(&b, raised[digits.at[i] - '0']);
    return padded(p, built(&b), width);
}

/* ---- %b, %o, %x and %X ---- */

static struct value whole_text(struct pool *p, struct value v, uint32_t base, bool upper)
{
    char digits[65];
    bool negative = v.kind == V_int && v.number < 0;
    uint64_t rest = negative ? 0 - v.natural : v.natural;
    uint32_t at = sizeof(digits);
    do {
        digits[--at] = (upper ? "0123456789ABCDEF" : "0123456789abcdef")[rest % base];
        rest /= base;
    } while (rest > 0);
    return value_string(
        pool_print(p, "%s%.*s", negative ? "-" : "", (int)(sizeof(digits) - at), digits + at));
}

static struct value binary_text(struct pool *p, struct value v)
{
    if (v.kind == V_bool)
        return value_string(v.truth ? STR_LITERAL("1") : STR_LITERAL("0"));
    if (v.kind == V_int || v.kind == V_uint)
        return whole_text(p, v, 2, false);
    return refused(p, 'b', v);
}

static struct value octal_text(struct pool *p, struct value v)
{
    if (v.kind == V_int || v.kind == V_uint)
        return whole_text(p, v, 8, false);
    return refused(p, 'o', v);
}

static struct value hex_text(struct pool *p, struct value v, bool upper)
{
    struct builder b = {.pool = p};
    if (v.kind == V_int || v.kind == V_uint)
        return whole_text(p, v, 16, upper);
    if (v.kind != V_string && v.kind != V_bytes)
        return refused(p, 'x', v);
    for (uint32_t i = 0; i < v.text.len; i++) {
        char two[3];
        snprintf(two, sizeof(two), upper ? "%02X" : "%02x", (unsigned char)v.text.at[i]);
        add_text(&b, two);
    }
    return built(&b);
}

/* ---- clauses ---- */

/* What stands between % and its letter. */
static struct value read_precision(struct pool *p, struct str format, uint32_t *at,
                                   uint32_t *precision)
{
    int64_t number = 0;
    *precision = PRECISION_DEFAULT;
    if (format.at[*at] != '.')
        return value_bool(true);
    uint32_t begin = ++*at;
    while (*at < format.len && format.at[*at] >= '0' && format.at[*at] <= '9')
        ++*at;
    if (*at == format.len)
        return FAILED(p, "error while parsing precision: could not find end of precision "
                         "specifier");
    struct str digits = {format.at + begin, *at - begin};
    if (!number_parse_int(digits, &number))
        return FAILED(p,
                      "error while parsing precision: error while converting precision to "
                      "integer: strconv.Atoi: parsing %.*s: %s",
                      STR_ARG(text_quoted(p, digits)),
                      digits.len > 0 ? "value out of range" : "invalid syntax");
    *precision = number > PRECISION_MAX ? PRECISION_MAX + 1 : (uint32_t)number;
    return value_bool(true);
}

static struct value clause_text(struct pool *p, char letter, uint32_t precision, struct value v)
{
    switch (letter) {
    case 's': return string_text(p, v);
    case 'd': return decimal_text(p, v);
    case 'f': return fixed_text(p, v, precision);
    case 'e': return scientific_text(p, v, precision);
    case 'b': return binary_text(p, v);
    case 'o': return octal_text(p, v);
    default: return hex_text(p, v, letter == 'X');
    }
}

struct value interpolate_clause(struct pool *p, struct str format, uint32_t *at, struct clause *out)
{
    char letter[4];
    struct value read = read_precision(p, format, at, &out->precision);
    if (read.kind == V_error)
        return FAILED(p, "could not parse formatting clause: %.*s", STR_ARG(read.text));
    out->letter = format.at[(*at)++];
    if (out->letter != '\0' && strchr("sdfebxXo", out->letter) != NULL)
        return (struct value){.kind = V_null};
    uint32_t len = text_encode((unsigned char)out->letter, letter);
    return FAILED(p, "could not parse formatting clause: unrecognized formatting clause \"%.*s\"",
                  (int)len, letter);
}

enum piece interpolate_next(struct str format, uint32_t *at)
{
    if (*at == format.len)
        return PIECE_END;
    if (format.at[(*at)++] != '%')
        return PIECE_CHARACTER;
    if (*at == format.len || format.at[*at] != '%')
        return PIECE_CLAUSE;
    ++*at;
    return PIECE_CHARACTER;
}

/* The clause at *at, with the value that it is for. */
static struct value interpolated(struct pool *p, struct str format, uint32_t *at, struct value v)
{
    struct clause clause;
    struct value fault = interpolate_clause(p, format, at, &clause);
    if (fault.kind == V_error)
        return fault;
    bool digits = clause.letter == 'f' || clause.letter == 'e';
    if (digits && clause.precision > PRECISION_MAX)
        return FAILED(p, "not supported by berth: string.format() with more than %u digits",
                      PRECISION_MAX);
    return clause_text(p, clause.letter, clause.precision, v);
}

struct value fn_text_format(const struct call *c)
{
    struct builder b = {.pool = c->pool};
    const struct list *args = c->args[1].list;
    struct str format = c->args[0].text;
    uint32_t used = 0, at = 0;
    for (;;) {
        enum piece piece = interpolate_next(format, &at);
        if (piece == PIECE_END)
            return built(&b);
        if (piece == PIECE_CHARACTER) {
            add(&b, (struct str){format.at + at - 1, 1});
            continue;
        }
        if (used >= args->count)
            return FAILED(c->pool, "index %u out of range", used);
        if (at == format.len)
            return value_error("unexpected end of string");
        struct value text = interpolated(c->pool, format, &at, args->items->at[used++]);
        if (text.kind == V_error)
            return text;
        add(&b, text.text);
    }
}
