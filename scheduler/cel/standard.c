/* standard: CEL's operators and conversions, with the overflows and the words of cel-go. What must
 * stay true: a value of a kind that an operator does not know gives an error, never a guess; and no
 * arithmetic wraps. */
#include "scheduler/cel/functions.h"
#include "scheduler/cel/regex.h"

#include <string.h>

static struct value int_overflow(void)
{
    return value_error("integer overflow");
}

static struct value uint_overflow(void)
{
    return value_error("unsigned integer overflow");
}

static struct value of_int(bool overflow, int64_t number)
{
    return overflow ? int_overflow() : value_int(number);
}

static struct value of_uint(bool overflow, uint64_t natural)
{
    return overflow ? uint_overflow() : (struct value){.kind = V_uint, .natural = natural};
}

static struct value of_double(double real)
{
    return (struct value){.kind = V_double, .real = real};
}

static struct value of_duration(bool overflow, int64_t nanos)
{
    return overflow ? int_overflow() : (struct value){.kind = V_duration, .number = nanos};
}

/* ---- time ---- */

#define SECONDS_MIN      (-INT64_C(62135596800))
#define SECONDS_MAX      INT64_C(253402300799)
#define NANOS_PER_SECOND INT64_C(1000000000)

static struct value shifted(struct pool *p, const struct stamp *stamp, int64_t nanos)
{
    struct stamp *moved = pool_take(p, sizeof(*moved));
    *moved = *stamp;
    moved->seconds += nanos / NANOS_PER_SECOND;
    int64_t rest = stamp->nanos + nanos % NANOS_PER_SECOND;
    if (rest < 0 || rest >= NANOS_PER_SECOND) {
        moved->seconds += rest < 0 ? -1 : 1;
        rest += rest < 0 ? NANOS_PER_SECOND : -NANOS_PER_SECOND;
    }
    moved->nanos = (int32_t)rest;
    if (moved->seconds < SECONDS_MIN || moved->seconds > SECONDS_MAX)
        return value_error("timestamp overflow");
    return (struct value){.kind = V_timestamp, .stamp = moved};
}

static struct value between(const struct stamp *a, const struct stamp *b)
{
    int64_t nanos = 0;
    bool overflow = __builtin_mul_overflow(a->seconds - b->seconds, NANOS_PER_SECOND, &nanos);
    overflow = overflow || __builtin_add_overflow(nanos, (int64_t)(a->nanos - b->nanos), &nanos);
    return of_duration(overflow, nanos);
}

/* ---- arithmetic ---- */

static struct value joined(struct pool *p, struct value a, struct value b)
{
    uint64_t len = (uint64_t)a.text.len + b.text.len;
    if (len > UINT32_MAX)
        pool_stop(p, "a text is too long");
    char *at = pool_take(p, len + 1);
    if (a.text.len > 0)
        memcpy(at, a.text.at, a.text.len);
    if (b.text.len > 0)
        memcpy(at + a.text.len, b.text.at, b.text.len);
    return (struct value){.kind = a.kind, .text = {at, (uint32_t)len}};
}

static struct value add_same(struct pool *p, struct value a, struct value b)
{
    int64_t number = 0;
    uint64_t natural = 0;
    switch (a.kind) {
    case V_int: {
        bool overflow = __builtin_add_overflow(a.number, b.number, &number);
        return of_int(overflow, number);
    }
    case V_uint: {
        bool overflow = __builtin_add_overflow(a.natural, b.natural, &natural);
        return of_uint(overflow, natural);
    }
    case V_duration: {
        bool overflow = __builtin_add_overflow(a.number, b.number, &number);
        return of_duration(overflow, number);
    }
    case V_double: return of_double(a.real + b.real);
    case V_string:
    case V_bytes: return joined(p, a, b);
    case V_list: return list_concat(p, a, b);
    default: return value_no_overload();
    }
}

static bool adds(enum value_kind kind)
{
    return kind == V_int || kind == V_uint || kind == V_double || kind == V_string ||
           kind == V_bytes || kind == V_list || kind == V_duration || kind == V_timestamp;
}

struct value fn_standard_add(const struct call *c)
{
    struct value a = c->args[0], b = c->args[1];
    if (!adds(a.kind))
        return function_no_trait(c);
    if (a.kind == V_timestamp && b.kind == V_duration)
        return shifted(c->pool, a.stamp, b.number);
    if (a.kind == V_duration && b.kind == V_timestamp)
        return shifted(c->pool, b.stamp, a.number);
    return a.kind == b.kind ? add_same(c->pool, a, b) : value_no_overload();
}

struct value fn_standard_subtract(const struct call *c)
{
    struct value a = c->args[0], b = c->args[1];
    int64_t number = 0;
    uint64_t natural = 0;
    bool overflow = false;
    if (!adds(a.kind) || a.kind == V_string || a.kind == V_bytes || a.kind == V_list)
        return function_no_trait(c);
    if (a.kind == V_timestamp && b.kind == V_duration)
        return b.number == INT64_MIN ? int_overflow() : shifted(c->pool, a.stamp, -b.number);
    if (a.kind != b.kind)
        return value_no_overload();
    switch (a.kind) {
    case V_int:
        overflow = __builtin_sub_overflow(a.number, b.number, &number);
        return of_int(overflow, number);
    case V_uint:
        overflow = __builtin_sub_overflow(a.natural, b.natural, &natural);
        return of_uint(overflow, natural);
    case V_duration:
        overflow = __builtin_sub_overflow(a.number, b.number, &number);
        return of_duration(overflow, number);
    case V_timestamp: return between(a.stamp, b.stamp);
    default: return of_double(a.real - b.real);
    }
}

struct value fn_standard_multiply(const struct call *c)
{
    struct value a = c->args[0], b = c->args[1];
    int64_t number = 0;
    uint64_t natural = 0;
    bool overflow = false;
    if (a.kind != V_int && a.kind != V_uint && a.kind != V_double)
        return function_no_trait(c);
    if (a.kind != b.kind)
        return value_no_overload();
    if (a.kind == V_int) {
        overflow = __builtin_mul_overflow(a.number, b.number, &number);
        return of_int(overflow, number);
    }
    if (a.kind == V_uint) {
        overflow = __builtin_mul_overflow(a.natural, b.natural, &natural);
        return of_uint(overflow, natural);
    }
    return of_double(a.real * b.real);
}

struct value fn_standard_divide(const struct call *c)
{
    struct value a = c->args[0], b = c->args[1];
    if (a.kind != V_int && a.kind != V_uint && a.kind != V_double)
        return function_no_trait(c);
    if (a.kind != b.kind)
        return value_no_overload();
    if (a.kind == V_double)
        return of_double(a.real / b.real);
    if (b.natural == 0)
        return value_error("division by zero");
    if (a.kind == V_uint)
        return of_uint(false, a.natural / b.natural);
    bool overflow = a.number == INT64_MIN && b.number == -1;
    return of_int(overflow, overflow ? 0 : a.number / b.number);
}

struct value fn_standard_modulo(const struct call *c)
{
    struct value a = c->args[0], b = c->args[1];
    if (a.kind != V_int && a.kind != V_uint)
        return function_no_trait(c);
    if (a.kind != b.kind)
        return value_no_overload();
    if (b.natural == 0)
        return value_error("modulus by zero");
    if (a.kind == V_uint)
        return of_uint(false, a.natural % b.natural);
    bool overflow = a.number == INT64_MIN && b.number == -1;
    return of_int(overflow, overflow ? 0 : a.number % b.number);
}

struct value fn_standard_negate(const struct call *c)
{
    struct value a = c->args[0];
    switch (a.kind) {
    case V_bool: return value_no_overload();
    case V_int: return of_int(a.number == INT64_MIN, a.number == INT64_MIN ? 0 : -a.number);
    case V_duration:
        return of_duration(a.number == INT64_MIN, a.number == INT64_MIN ? 0 : -a.number);
    case V_double: return of_double(-a.real);
    default: return function_no_trait(c);
    }
}

struct value fn_standard_not(const struct call *c)
{
    return c->args[0].kind == V_bool ? value_bool(!c->args[0].truth) : value_no_overload();
}

struct value fn_standard_not_strictly_false(const struct call *c)
{
    return value_bool(!value_is_false(c->args[0]));
}

/* ---- order ---- */

static bool has_order(enum value_kind kind)
{
    return kind == V_bool || kind == V_int || kind == V_uint || kind == V_double ||
           kind == V_string || kind == V_bytes || kind == V_duration || kind == V_timestamp;
}

/* Whether a stands to b so that the order of both is one of these. */
static struct value ordered(const struct call *c, bool less, bool same, bool more)
{
    if (!has_order(c->args[0].kind))
        return function_no_trait(c);
    struct value order = value_compare(c->args[0], c->args[1]);
    if (order.kind == V_error)
        return order;
    return value_bool(order.number < 0 ? less : order.number > 0 ? more : same);
}

struct value fn_standard_less(const struct call *c)
{
    return ordered(c, true, false, false);
}

struct value fn_standard_at_most(const struct call *c)
{
    return ordered(c, true, true, false);
}

struct value fn_standard_more(const struct call *c)
{
    return ordered(c, false, false, true);
}

struct value fn_standard_at_least(const struct call *c)
{
    return ordered(c, false, true, true);
}

struct value fn_standard_in(const struct call *c)
{
    struct value in = c->args[1];
    if (in.kind == V_map)
        return value_bool(cel_map_has(in, c->args[0]));
    if (in.kind != V_list)
        return value_no_overload();
    for (uint32_t i = 0; i < in.list->count; i++)
        if (value_is_true(value_equal(c->args[0], list_at(in, i))))
            return value_bool(true);
    return value_bool(false);
}

struct value fn_standard_size(const struct call *c)
{
    enum value_kind kind = c->args[0].kind;
    int64_t size = 0;
    if (kind != V_string && kind != V_bytes && kind != V_list && kind != V_map)
        return function_no_trait(c);
    value_size(c->args[0], &size);
    return value_int(size);
}

struct value fn_standard_identity(const struct call *c)
{
    return c->args[0];
}

struct value fn_standard_type(const struct call *c)
{
    return (struct value){.kind = V_type, .type = type_of_value(c->args[0])};
}

struct value fn_standard_matches(const struct call *c)
{
    struct str error = {NULL, 0};
    if (c->args[0].kind != V_string)
        return c->node->regex != NULL ? value_no_overload() : function_no_trait(c);
    if (c->args[1].kind != V_string)
        return value_no_overload();
    const struct regex *re = c->node->regex;
    if (re == NULL)
        re = regex_compile(c->pool, c->args[1].text, &error);
    if (re == NULL)
        return (struct value){.kind = V_error, .text = error};
    return value_bool(regex_matches(c->pool, re, c->args[0].text));
}
