/* quantity: parsed into upstream's two forms. The one idea: proto/kube/quantity knows the amount,
 * and here it is only decided whether upstream would have kept it as an int64 with a power of ten.
 * What must stay true: amounts are compared exactly; sums beyond 10^38 saturate instead of
 * wrapping.
 */
#include "scheduler/cel/quantity.h"

#include "proto/kube/documents/quantity.h"
#include "scheduler/cel/number.h"
#include "scheduler/cel/text.h"

#include <string.h>

#define WRONG_FORMAT                                                                               \
    "quantities must match the regular expression "                                                \
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
#define WRONG_SUFFIX  "unable to parse quantity's suffix"
#define WRONG_NUMERIC "unable to parse numeric part of quantity"

__extension__ typedef __int128 i128;

#define DIGITS_MAX ((i128)1 << 125)

/* A text taken apart as parseQuantityString does. */
struct parts {
    bool negative;
    struct str whole, fraction, suffix;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static uint32_t digits_at(struct str s, uint32_t at)
{
    uint32_t end = at;
    while (end < s.len && is_digit(s.at[end]))
        end++;
    return end;
}

static bool take_apart(struct str s, struct parts *out)
{
    uint32_t at = s.len > 0 && (s.at[0] == '-' || s.at[0] == '+');
    *out = (struct parts){.negative = s.len > 0 && s.at[0] == '-'};
    while (at < s.len && s.at[at] == '0')
        at++;
    uint32_t end = digits_at(s, at);
    out->whole = (struct str){s.at + at, end - at};
    if (out->whole.len == 0)
        out->whole = STR_LITERAL("0");
    at = end;
    if (at < s.len && s.at[at] == '.') {
        end = digits_at(s, at + 1);
        out->fraction = (struct str){s.at + at + 1, end - at - 1};
        at = end;
    }
    out->suffix = text_from(s, at);
    while (at < s.len && s.at[at] != '\0' && strchr("eEinumkKMGTP", s.at[at]) != NULL)
        at++;
    if (at < s.len && (s.at[at] == '-' || s.at[at] == '+'))
        at++;
    return digits_at(s, at) == s.len;
}

/* The exponent of ten, or of two (binary). False for an unknown suffix. */
static bool suffix_exponent(struct str s, bool *binary, int64_t *exponent)
{
    static const char decimal[] = "num?kMGTPE", big[] = "KMGTPE";
    *binary = false;
    *exponent = 0;
    if (s.len == 0)
        return true;
    const char *at = strchr(decimal, s.at[0]);
    if (s.len == 1 && s.at[0] != '?' && at != NULL) {
        *exponent = 3 * (at - decimal) - 9;
        return true;
    }
    at = strchr(big, s.at[0]);
    if (s.len == 2 && s.at[1] == 'i' && at != NULL) {
        *binary = true;
        *exponent = 10 * (at - big + 1);
        return true;
    }
    if (s.at[0] != 'e' && s.at[0] != 'E')
        return false;
    if (!number_parse_int(text_from(s, 1), exponent))
        return false;
    *exponent = (int32_t)(uint32_t)*exponent; /* upstream cuts it as well */
    return true;
}

/* Upstream's fast path: true when the quantity is kept as an int64. */
static bool keep_small(const struct parts *parts, bool binary, int64_t exponent, struct quantity *q)
{
    int64_t precision = 0, scale = 0, value = 0, mantissa = 1;
    char digits[64];
    uint32_t len = parts->whole.len + parts->fraction.len;
    if (!binary) {
        scale = exponent;
        precision = 18 - (int64_t)len;
    } else if (parts->fraction.len == 0) {
        mantissa = INT64_C(1) << exponent;
        precision = 15 - (int64_t)len - (int32_t)((float)exponent * 3 / 10) - 1;
    } else {
        precision = -1;
    }
    scale -= parts->fraction.len;
    if (precision < 0 || scale < -9 || scale > INT32_MAX || len >= sizeof(digits))
        return false;
    memcpy(digits, parts->whole.at, parts->whole.len);
    if (parts->fraction.len > 0)
        memcpy(digits + parts->whole.len, parts->fraction.at, parts->fraction.len);
    if (!number_parse_int((struct str){digits, len}, &value) ||
        __builtin_mul_overflow(value, mantissa, &value))
        return false;
    *q = (struct quantity){.digits = parts->negative ? -value : value, .exponent = (int32_t)scale};
    return true;
}

const struct quantity *quantity_parse(struct pool *p, struct str text, const char **error)
{
    struct parts parts;
    struct kube_quantity amount;
    bool binary = false;
    int64_t exponent = 0;
    *error = text.len == 0 || !take_apart(text, &parts)           ? WRONG_FORMAT
             : !suffix_exponent(parts.suffix, &binary, &exponent) ? WRONG_SUFFIX
             : !kube_quantity_parse(text, &amount)                ? WRONG_NUMERIC
                                                                  : NULL;
    if (*error != NULL)
        return NULL;
    struct quantity *q = pool_take(p, sizeof(*q));
    if (!keep_small(&parts, binary, exponent, q))
        *q = (struct quantity){.digits = amount.nano, .exponent = -9, .big = true};
    return q;
}

const struct quantity *quantity_of(struct pool *p, int64_t whole)
{
    struct quantity *q = pool_take(p, sizeof(*q));
    q->digits = whole;
    return q;
}

/* digits * 10^places, saturated; digits >= 0. */
static i128 scaled(i128 digits, int64_t places)
{
    for (; places > 0 && digits != 0; places--)
        if (__builtin_mul_overflow(digits, (i128)10, &digits) || digits > DIGITS_MAX)
            return DIGITS_MAX;
    return digits;
}

int quantity_sign(const struct quantity *q)
{
    return q->digits > 0 ? 1 : q->digits < 0 ? -1 : 0;
}

static i128 aligned(const struct quantity *q, int32_t exponent)
{
    i128 size = q->digits < 0 ? -q->digits : q->digits;
    size = scaled(size, (int64_t)q->exponent - exponent);
    return q->digits < 0 ? -size : size;
}

static int32_t lower_exponent(const struct quantity *a, const struct quantity *b)
{
    return a->exponent < b->exponent ? a->exponent : b->exponent;
}

int quantity_compare(const struct quantity *a, const struct quantity *b)
{
    int32_t exponent = lower_exponent(a, b);
    i128 x = aligned(a, exponent), y = aligned(b, exponent);
    return x < y ? -1 : x > y ? 1 : 0;
}

static const struct quantity *combine(struct pool *p, const struct quantity *a,
                                      const struct quantity *b, int sign)
{
    struct quantity *sum = pool_take(p, sizeof(*sum));
    i128 more = b->digits * sign;
    if (!a->big && !b->big && b->digits == INT64_MIN)
        more = INT64_MIN; /* upstream negates it as an int64, which wraps */
    *sum = (struct quantity){.sum = true, .big = a->big || b->big};
    if (!sum->big && (b->digits == 0 || a->digits == 0)) {
        const struct quantity *one = b->digits == 0 ? a : b;
        sum->digits = b->digits == 0 ? a->digits : more;
        sum->exponent = one->exponent;
        return sum;
    }
    struct quantity other = *b;
    other.digits = more;
    sum->exponent = lower_exponent(a, b);
    i128 x = aligned(a, sum->exponent), y = aligned(&other, sum->exponent);
    sum->digits = x + y;
    if (sum->digits > INT64_MAX || sum->digits < INT64_MIN || x > INT64_MAX || x < INT64_MIN ||
        y > INT64_MAX || y < INT64_MIN)
        sum->big = true;
    return sum;
}

const struct quantity *quantity_add(struct pool *p, const struct quantity *a,
                                    const struct quantity *b)
{
    return combine(p, a, b, 1);
}

const struct quantity *quantity_subtract(struct pool *p, const struct quantity *a,
                                         const struct quantity *b)
{
    return combine(p, a, b, -1);
}

bool quantity_integer(const struct quantity *q, int64_t *whole)
{
    if (q->big || q->exponent < 0)
        return false;
    i128 value = aligned(q, 0);
    if (value > INT64_MAX || value < INT64_MIN)
        return false;
    *whole = (int64_t)value;
    return true;
}

double quantity_float(const struct quantity *q)
{
    double base = (double)q->digits;
    return q->exponent == 0 ? base : base * number_power_of_ten(q->exponent);
}
