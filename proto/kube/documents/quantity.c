/* quantity: amounts of resources in 128-bit billionths. The one idea: a quantity is its digits with
 * the point moved (decimal suffix) or its digits times a power of two (binary suffix), so no big
 * numbers are needed however long the text is. What must stay true: any amount that is not a whole
 * number of billionths is rounded away from zero, and nothing overflows: sums and conversions
 * saturate. (Upstream wraps around in conversions that overflow; we do not follow it there.) */
#include "proto/kube/documents/quantity.h"

#include <stddef.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

#define NANO_PER_UNIT  1000000000u
#define NANO_PER_MILLI 1000000u
/* Far above any int64 of units, and ten times it still fits: so one step of growth cannot wrap. */
#define NANO_MAX ((u128)1 << 122)

/* A text taken apart; the digits are as written, leading zeros included. */
struct parts {
    bool negative;
    struct str whole, fraction;
    bool binary;
    int32_t exponent; /* of 10, or of 2 when binary */
};

static const struct {
    const char *text;
    bool binary;
    int32_t exponent;
} suffixes[] = {
    {"", false, 0},   {"n", false, -9}, {"u", false, -6}, {"m", false, -3},
    {"k", false, 3},  {"M", false, 6},  {"G", false, 9},  {"T", false, 12},
    {"P", false, 15}, {"E", false, 18}, {"Ki", true, 10}, {"Mi", true, 20},
    {"Gi", true, 30}, {"Ti", true, 40}, {"Pi", true, 50}, {"Ei", true, 60},
};

static struct str take_digits(struct str *text)
{
    struct str digits = {text->at, 0};
    while (digits.len < text->len && text->at[digits.len] >= '0' && text->at[digits.len] <= '9')
        digits.len++;
    text->at += digits.len;
    text->len -= digits.len;
    return digits;
}

static bool take_char(struct str *text, char c)
{
    if (text->len == 0 || text->at[0] != c)
        return false;
    text->at++;
    text->len--;
    return true;
}

static bool suffix_of(struct str text, struct parts *p)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (str_is(text, suffixes[i].text)) {
            p->binary = suffixes[i].binary;
            p->exponent = suffixes[i].exponent;
            return true;
        }
    int64_t exponent = 0;
    if (!take_char(&text, 'e') && !take_char(&text, 'E'))
        return false;
    if (!str_to_i64(text, &exponent))
        return false;
    p->exponent = (int32_t)(uint32_t)exponent; /* upstream cuts it to 32 bits as well */
    return true;
}

static bool split(struct str text, struct parts *p)
{
    if (text.len == 0)
        return false;
    p->negative = take_char(&text, '-');
    if (!p->negative)
        take_char(&text, '+');
    p->whole = take_digits(&text);
    if (take_char(&text, '.'))
        p->fraction = take_digits(&text);
    if (!suffix_of(text, p))
        return false;
    /* Without any digit it is zero, except where upstream takes its slow path, which wants one. */
    bool slow = p->binary ? p->exponent >= 50 : p->exponent < -9;
    return p->whole.len + p->fraction.len > 0 || !slow;
}

static u128 times(u128 value, u128 factor)
{
    u128 product = 0;
    if (__builtin_mul_overflow(value, factor, &product) || product > NANO_MAX)
        return NANO_MAX;
    return product;
}

static int digit_at(const struct parts *p, uint32_t i)
{
    return (i < p->whole.len ? p->whole.at[i] : p->fraction.at[i - p->whole.len]) - '0';
}

/* The digits before the point once it stands where billionths are whole. */
static u128 decimal_nano(const struct parts *p)
{
    int64_t count = (int64_t)p->whole.len + p->fraction.len;
    int64_t point = (int64_t)p->whole.len + p->exponent + 9;
    u128 nano = 0;
    bool rest = false;
    for (int64_t i = 0; i < count; i++) {
        int digit = digit_at(p, (uint32_t)i);
        if (i < point)
            nano = times(nano, 10) + (u128)digit;
        else
            rest = rest || digit != 0;
    }
    for (int64_t i = count; i < point && nano != 0 && nano < NANO_MAX; i++)
        nano = times(nano, 10);
    return nano + rest;
}

/* whole * unit + fraction * unit; the fraction from its last digit on, because rounding down at
 * each step is exact when a remainder, once seen, is remembered. */
static u128 binary_nano(const struct parts *p)
{
    u128 unit = ((u128)1 << p->exponent) * NANO_PER_UNIT, whole = 0, part = 0;
    bool rest = false;
    for (uint32_t i = 0; i < p->whole.len; i++)
        whole = times(whole, 10) + (u128)digit_at(p, i);
    for (uint32_t i = p->fraction.len; i > 0; i--) {
        u128 sum = (u128)digit_at(p, p->whole.len + i - 1) * unit + part;
        rest = rest || sum % 10 != 0;
        part = sum / 10;
    }
    u128 nano = times(whole, unit) + part + rest, most = (u128)INT64_MAX * NANO_PER_UNIT;
    return nano > most ? most : nano;
}

bool kube_quantity_parse(struct str text, struct kube_quantity *q)
{
    struct parts p = {0};
    if (!split(text, &p))
        return false;
    u128 nano = p.binary ? binary_nano(&p) : decimal_nano(&p);
    if (nano > NANO_MAX)
        nano = NANO_MAX;
    q->nano = p.negative ? -(i128)nano : (i128)nano;
    return true;
}

struct kube_quantity kube_quantity_add(struct kube_quantity a, struct kube_quantity b)
{
    i128 sum = a.nano + b.nano, most = (i128)NANO_MAX; /* both are within it: no overflow */
    if (sum > most)
        sum = most;
    if (sum < -most)
        sum = -most;
    return (struct kube_quantity){sum};
}

int kube_quantity_compare(struct kube_quantity a, struct kube_quantity b)
{
    return (a.nano > b.nano) - (a.nano < b.nano);
}

static int64_t divided(i128 nano, i128 by)
{
    i128 quotient = nano / by;
    if (nano % by != 0)
        quotient += nano > 0 ? 1 : -1;
    if (quotient > INT64_MAX)
        return INT64_MAX;
    return quotient < INT64_MIN ? INT64_MIN : (int64_t)quotient;
}

int64_t kube_quantity_value(struct kube_quantity q)
{
    return divided(q.nano, NANO_PER_UNIT);
}

int64_t kube_quantity_milli(struct kube_quantity q)
{
    return divided(q.nano, NANO_PER_MILLI);
}
