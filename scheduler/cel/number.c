/* number: conversions between numbers and text. What must stay true: a double's text is the
 * shortest that reads back as the same double, which is what Go prints and what users compare with;
 * nothing depends on the locale (no setlocale is called in any process). */
#include "scheduler/cel/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits without a point, and the place of the point before them: d = 0.DIGITS * 10^point. */
struct digits {
    char at[20];
    int count, point;
    bool negative;
};

static void shortest(double d, struct digits *out)
{
    char text[40];
    for (int precision = 0; precision <= 17; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, d);
        if (strtod(text, NULL) == d)
            break;
    }
    *out = (struct digits){.negative = signbit(d) != 0};
    const char *at = text;
    for (; *at != 'e' && *at != '\0'; at++)
        if (*at >= '0' && *at <= '9' && out->count < (int)sizeof(out->at))
            out->at[out->count++] = *at;
    while (out->count > 1 && out->at[out->count - 1] == '0')
        out->count--;
    out->point = *at == 'e' ? (int)strtol(at + 1, NULL, 10) + 1 : 0;
    if (d == 0)
        out->count = 0, out->point = 0;
}

static bool print_special(struct buffer *b, double d)
{
    if (!isnan(d) && !isinf(d))
        return false;
    buffer_add_text(b, isnan(d) ? "NaN" : d > 0 ? "+Inf" : "-Inf");
    return true;
}

static void print_digits_plain(struct buffer *b, const struct digits *n)
{
    buffer_add_text(b, n->negative ? "-" : "");
    if (n->point <= 0)
        buffer_add_text(b, "0");
    for (int i = 0; i < n->point; i++)
        buffer_add(b, i < n->count ? &n->at[i] : "0", 1);
    if (n->point >= n->count)
        return;
    buffer_add_text(b, ".");
    for (int i = n->point; i < 0; i++)
        buffer_add_text(b, "0");
    int from = n->point > 0 ? n->point : 0;
    buffer_add(b, n->at + from, (size_t)(n->count - from));
}

void number_print_plain(struct buffer *b, double d)
{
    struct digits n;
    if (print_special(b, d))
        return;
    shortest(d, &n);
    print_digits_plain(b, &n);
}

void number_print_double(struct buffer *b, double d)
{
    struct digits n;
    if (print_special(b, d))
        return;
    shortest(d, &n);
    int exponent = n.count == 0 ? 0 : n.point - 1;
    if (exponent >= -4 && exponent < 6) {
        print_digits_plain(b, &n);
        return;
    }
    buffer_print(b, "%s%c", n.negative ? "-" : "", n.at[0]);
    if (n.count > 1) {
        buffer_add_text(b, ".");
        buffer_add(b, n.at + 1, (size_t)n.count - 1);
    }
    buffer_print(b, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

bool number_double_is_int(double d, int64_t *whole)
{
    if (isnan(d) || d < -0x1p63 || d >= 0x1p63 || d != floor(d))
        return false;
    *whole = (int64_t)d;
    return true;
}

bool number_double_is_uint(double d, uint64_t *whole)
{
    if (isnan(d) || d < 0 || d >= 0x1p64 || d != floor(d))
        return false;
    *whole = (uint64_t)d;
    return true;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

bool number_parse_uint(struct str s, uint32_t base, uint64_t *value)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s.len; i++) {
        uint32_t digit = (uint32_t)digit_of(s.at[i]);
        if (digit >= base || __builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            return false;
    }
    *value = sum;
    return s.len > 0;
}

bool number_parse_int(struct str s, int64_t *value)
{
    bool negative = s.len > 0 && s.at[0] == '-';
    if (s.len > 0 && (s.at[0] == '-' || s.at[0] == '+'))
        s = (struct str){s.at + 1, s.len - 1};
    uint64_t size = 0, most = negative ? (uint64_t)1 << 63 : INT64_MAX;
    if (!number_parse_uint(s, 10, &size) || size > most)
        return false;
    *value = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

static bool is_word(struct str s, const char *word)
{
    return s.len == strlen(word) && strncasecmp(s.at, word, s.len) == 0;
}

/* What Go takes and strtod does as well: decimal and hexadecimal digits, one point, an exponent. */
static bool looks_like_double(struct str s)
{
    bool hex = s.len > 2 && s.at[0] == '0' && (s.at[1] == 'x' || s.at[1] == 'X');
    bool digit = false, power = false, point = false;
    for (uint32_t i = hex ? 2 : 0; i < s.len; i++) {
        char c = s.at[i];
        bool exponent = hex ? c == 'p' || c == 'P' : c == 'e' || c == 'E';
        if (exponent && digit && !power && i + 1 < s.len) {
            power = true;
            if (s.at[i + 1] == '+' || s.at[i + 1] == '-')
                i++;
            if (i + 1 >= s.len)
                return false;
        } else if (c == '.' && !point && !power) {
            point = true;
        } else if (digit_of(c) < (hex && !power ? 16 : 10)) {
            digit = true;
        } else {
            return false;
        }
    }
    return digit && (power || !hex);
}

bool number_parse_double(struct str s, double *value)
{
    char text[1100];
    struct str bare = s;
    if (s.len > 0 && (s.at[0] == '-' || s.at[0] == '+'))
        bare = (struct str){s.at + 1, s.len - 1};
    bool negative = s.len > 0 && s.at[0] == '-';
    if (is_word(bare, "inf") || is_word(bare, "infinity")) {
        *value = negative ? -INFINITY : INFINITY;
        return true;
    }
    if (is_word(s, "nan")) {
        *value = NAN;
        return true;
    }
    if (!looks_like_double(bare) || bare.len >= sizeof(text))
        return false;
    memcpy(text, bare.at, bare.len);
    text[bare.len] = '\0';
    double size = strtod(text, NULL);
    *value = negative ? -size : size;
    return !isinf(size); /* out of range is an error in Go */
}

double number_power_of_ten(int exponent)
{
    static const double ones[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
                                  1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
                                  1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31};
    static const double blocks[] = {1e00,  1e32,  1e64,  1e96,  1e128,
                                    1e160, 1e192, 1e224, 1e256, 1e288};
    static const double small[] = {1e-00,  1e-32,  1e-64,  1e-96,  1e-128, 1e-160,
                                   1e-192, 1e-224, 1e-256, 1e-288, 1e-320};
    if (exponent >= 0 && exponent <= 308)
        return blocks[exponent / 32] * ones[exponent % 32];
    if (exponent < 0 && exponent >= -323)
        return small[-exponent / 32] / ones[-exponent % 32];
    return exponent > 0 ? INFINITY : 0;
}
