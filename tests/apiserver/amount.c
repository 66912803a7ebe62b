/* Quantities, read into long double, whose 64 bits of mantissa hold every amount that pods name.
 *
 * The one idea: admission only compares amounts and refuses malformed ones; it never adds, so
 * exact fixed-point arithmetic stays the scheduler's business. */
#include "amount.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *suffix;
    int base, power;
} suffixes[] = {
    {"", 10, 0},   {"n", 10, -9}, {"u", 10, -6}, {"m", 10, -3}, {"k", 10, 3},  {"M", 10, 6},
    {"G", 10, 9},  {"T", 10, 12}, {"P", 10, 15}, {"E", 10, 18}, {"Ki", 2, 10}, {"Mi", 2, 20},
    {"Gi", 2, 30}, {"Ti", 2, 40}, {"Pi", 2, 50}, {"Ei", 2, 60},
};

static long double power_of(int base, int power)
{
    long double value = 1;
    for (int i = 0; i < abs(power) && i < 400; i++)
        value *= base;
    return power < 0 ? 1 / value : value;
}

/* How many thousandths the suffix means; powers of ten stay exact as long as they are whole. */
static bool scale_of(const char *suffix, long double *scale)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (strcmp(suffixes[i].suffix, suffix) == 0) {
            *scale = suffixes[i].base == 10 ? power_of(10, suffixes[i].power + 3)
                                            : power_of(2, suffixes[i].power) * 1000;
            return true;
        }
    }
    if (*suffix != 'e' && *suffix != 'E')
        return false;
    const char *digits = suffix + 1 + (suffix[1] == '+' || suffix[1] == '-');
    char *end = NULL;
    long power = strtol(suffix + 1, &end, 10);
    if (!isdigit((unsigned char)*digits) || *end || power > 300 || power < -300)
        return false;
    *scale = power_of(10, (int)power + 3);
    return true;
}

bool amount_parse(const char *text, long double *milli)
{
    bool negative = *text == '-';
    text += *text == '-' || *text == '+';
    long double value = 0, unit = 1;
    int digits = 0;
    bool fraction = false;
    for (;; text++) {
        if (*text == '.' && !fraction) {
            fraction = true;
        } else if (isdigit((unsigned char)*text)) {
            digits++;
            value = value * 10 + (*text - '0');
            unit *= fraction ? 10 : 1;
        } else {
            break;
        }
    }
    long double scale;
    if (digits == 0 || digits > 60 || !scale_of(text, &scale))
        return false;
    *milli = (negative ? -1 : 1) * (value * scale) / unit;
    return true;
}
