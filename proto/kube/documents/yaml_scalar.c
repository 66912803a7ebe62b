/* yaml_scalar: the meaning of unquoted YAML scalars. The one idea: follow the library that
 * Kubernetes reads its files with, which is older than YAML 1.2, so that a file means the same to
 * both. What must stay true: anything not surely a null, a bool or a number is text. */
#include "proto/kube/documents/yaml_scalar.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_MAX 512 /* longer than any number worth reading as one; beyond it, text */

static const struct {
    const char *text;
    struct yaml_value value;
} words[] = {
    {"", {.kind = YAML_null}},
    {"~", {.kind = YAML_null}},
    {"null", {.kind = YAML_null}},
    {"Null", {.kind = YAML_null}},
    {"NULL", {.kind = YAML_null}},
    {"y", {.kind = YAML_bool, .truth = true}},
    {"Y", {.kind = YAML_bool, .truth = true}},
    {"yes", {.kind = YAML_bool, .truth = true}},
    {"Yes", {.kind = YAML_bool, .truth = true}},
    {"YES", {.kind = YAML_bool, .truth = true}},
    {"true", {.kind = YAML_bool, .truth = true}},
    {"True", {.kind = YAML_bool, .truth = true}},
    {"TRUE", {.kind = YAML_bool, .truth = true}},
    {"on", {.kind = YAML_bool, .truth = true}},
    {"On", {.kind = YAML_bool, .truth = true}},
    {"ON", {.kind = YAML_bool, .truth = true}},
    {"n", {.kind = YAML_bool}},
    {"N", {.kind = YAML_bool}},
    {"no", {.kind = YAML_bool}},
    {"No", {.kind = YAML_bool}},
    {"NO", {.kind = YAML_bool}},
    {"false", {.kind = YAML_bool}},
    {"False", {.kind = YAML_bool}},
    {"FALSE", {.kind = YAML_bool}},
    {"off", {.kind = YAML_bool}},
    {"Off", {.kind = YAML_bool}},
    {"OFF", {.kind = YAML_bool}},
    {".nan", {.kind = YAML_not_finite}},
    {".NaN", {.kind = YAML_not_finite}},
    {".NAN", {.kind = YAML_not_finite}},
    {".inf", {.kind = YAML_not_finite}},
    {".Inf", {.kind = YAML_not_finite}},
    {".INF", {.kind = YAML_not_finite}},
    {"+.inf", {.kind = YAML_not_finite}},
    {"+.Inf", {.kind = YAML_not_finite}},
    {"+.INF", {.kind = YAML_not_finite}},
    {"-.inf", {.kind = YAML_not_finite}},
    {"-.Inf", {.kind = YAML_not_finite}},
    {"-.INF", {.kind = YAML_not_finite}},
};

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Go's base 0: 0x, 0o, 0b, or a leading 0 for octal. Returns where the digits begin. */
static const char *base_of(const char *digits, int *base)
{
    int mark = digits[0] == '0' ? digits[1] | 0x20 : 0;
    *base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (*base != 10)
        return digits + 2;
    if (digits[0] == '0' && digits[1] != 0) {
        *base = 8;
        return digits + 1;
    }
    return digits;
}

static bool integer_of(const char *plain, struct yaml_value *value)
{
    bool sign = plain[0] == '-' || plain[0] == '+', negative = plain[0] == '-';
    int base = 10;
    const char *c = base_of(plain + sign, &base);
    uint64_t sum = 0;
    if (*c == 0)
        return false;
    for (; *c != 0; c++) {
        int digit = digit_of(*c);
        if (digit >= base || __builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            return false;
    }
    uint64_t most = (uint64_t)INT64_MAX + negative;
    if (sum > most && sign)
        return false; /* unsigned numbers have no sign */
    double size = (double)sum;
    *value = (struct yaml_value){.kind = YAML_float, .number = size};
    if (sum <= most)
        *value = (struct yaml_value){.kind = YAML_integer,
                                     .integer = (int64_t)(negative ? 0 - sum : sum),
                                     .number = negative ? -size : size};
    return true;
}

static size_t digits_at(const char *c)
{
    return strspn(c, "0123456789");
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool looks_like_float(const char *c)
{
    c += *c == '-' || *c == '+';
    size_t whole = digits_at(c);
    c += whole;
    if (*c == '.') {
        size_t fraction = digits_at(c + 1);
        if (whole + fraction == 0)
            return false;
        c += 1 + fraction;
    } else if (whole == 0) {
        return false;
    }
    if (*c == 'e' || *c == 'E') {
        c += 1 + (c[1] == '-' || c[1] == '+');
        size_t exponent = digits_at(c);
        if (exponent == 0)
            return false;
        c += exponent;
    }
    return *c == 0;
}

static bool float_of(const char *plain, struct yaml_value *value)
{
    if (!looks_like_float(plain))
        return false;
    double number = strtod(plain, NULL);
    *value = (struct yaml_value){.kind = YAML_float, .number = number};
    return isfinite(number);
}

struct yaml_value yaml_value_of(const char *text)
{
    struct yaml_value value = {.kind = YAML_text};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i].text) == 0)
            return words[i].value;
    size_t len = strlen(text), kept = 0;
    char plain[PLAIN_MAX];
    if (len >= sizeof(plain))
        return value;
    if (text[0] == '.') /* a float, and here underscores are no part of numbers */
        return float_of(text, &value) ? value : (struct yaml_value){.kind = YAML_text};
    if (digits_at(text) == 0 && text[0] != '-' && text[0] != '+')
        return value;
    for (size_t i = 0; i <= len; i++)
        if (text[i] != '_')
            plain[kept++] = text[i];
    if (integer_of(plain, &value) || float_of(plain, &value))
        return value;
    return (struct yaml_value){.kind = YAML_text};
}
