/* convert: int(), uint(), double(), string(), bool() and bytes(); times.c has duration() and
 * timestamp(). What must stay true: a conversion that loses more than a fraction is an error. */
#include "scheduler/cel/calendar.h"
#include "scheduler/cel/functions.h"
#include "scheduler/cel/number.h"
#include "scheduler/cel/text.h"

#include <inttypes.h>
#include <math.h>

static struct value refused(const struct call *c, const char *to)
{
    return (struct value){.kind = V_error,
                          .text = pool_print(c->pool, "type conversion error from '%s' to '%s'",
                                             value_type_name(c->args[0]), to)};
}

static struct value double_to_int(double d)
{
    if (isnan(d) || d <= -0x1p63 || d >= 0x1p63)
        return value_error("integer overflow");
    return value_int((int64_t)d);
}

struct value fn_convert_to_int(const struct call *c)
{
    struct value v = c->args[0];
    int64_t number = 0;
    switch (v.kind) {
    case V_int: return v;
    case V_uint:
        return v.natural > INT64_MAX ? value_error("integer overflow")
                                     : value_int((int64_t)v.natural);
    case V_double: return double_to_int(v.real);
    case V_duration: return value_int(v.number);
    case V_timestamp: return value_int(v.stamp->seconds);
    case V_string:
        if (number_parse_int(v.text, &number))
            return value_int(number);
        break;
    default: break;
    }
    return refused(c, "int");
}

struct value fn_convert_to_uint(const struct call *c)
{
    struct value v = c->args[0], out = {.kind = V_uint};
    switch (v.kind) {
    case V_uint: return v;
    case V_int:
        out.natural = (uint64_t)v.number;
        return v.number < 0 ? value_error("unsigned integer overflow") : out;
    case V_double:
        if (isnan(v.real) || v.real < 0 || v.real >= 0x1p64)
            return value_error("unsigned integer overflow");
        out.natural = (uint64_t)v.real;
        return out;
    case V_string:
        if (number_parse_uint(v.text, 10, &out.natural))
            return out;
        break;
    default: break;
    }
    return refused(c, "uint");
}

struct value fn_convert_to_double(const struct call *c)
{
    struct value v = c->args[0], out = {.kind = V_double};
    switch (v.kind) {
    case V_double: return v;
    case V_int: out.real = (double)v.number; return out;
    case V_uint: out.real = (double)v.natural; return out;
    case V_string:
        if (number_parse_double(v.text, &out.real))
            return out;
        break;
    default: break;
    }
    return refused(c, "double");
}

struct value fn_convert_to_bool(const struct call *c)
{
    static const char *const truths[] = {"1", "t", "T", "TRUE", "true", "True"};
    static const char *const lies[] = {"0", "f", "F", "FALSE", "false", "False"};
    struct value v = c->args[0];
    if (v.kind == V_bool)
        return v;
    for (size_t i = 0; v.kind == V_string && i < sizeof(truths) / sizeof(truths[0]); i++) {
        if (str_is(v.text, truths[i]))
            return value_bool(true);
        if (str_is(v.text, lies[i]))
            return value_bool(false);
    }
    return refused(c, "bool");
}

struct value fn_convert_to_bytes(const struct call *c)
{
    struct value v = c->args[0];
    v.kind = V_bytes;
    return v;
}

/* What is printed into a buffer. */
static struct value printed(struct pool *p, struct value v)
{
    struct buffer b = {0};
    if (v.kind == V_double)
        number_print_double(&b, v.real);
    else if (v.kind == V_duration)
        calendar_print_duration(&b, v.number);
    else
        calendar_print_stamp(&b, v.stamp);
    struct str text = arena_copy(p->arena, buffer_str(&b));
    buffer_free(&b); /* before anything may stop the work */
    return value_string(text);
}

struct value fn_convert_to_string(const struct call *c)
{
    struct value v = c->args[0];
    switch (v.kind) {
    case V_string: return v;
    case V_bool: return value_string(str_of(v.truth ? "true" : "false"));
    case V_int: return value_string(pool_print(c->pool, "%" PRId64, v.number));
    case V_uint: return value_string(pool_print(c->pool, "%" PRIu64, v.natural));
    case V_double:
    case V_duration:
    case V_timestamp: return printed(c->pool, v);
    case V_bytes:
        if (!text_is_utf8(v.text))
            return value_error("invalid UTF-8 in bytes, cannot convert to string");
        return value_string(v.text);
    default: return refused(c, "string");
    }
}
