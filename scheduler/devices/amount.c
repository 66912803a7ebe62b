/* amount: quantities of devices. What must stay true: amounts lie within ±2^110 billionths, so that
 * adding and taking away thousands of them is exact. */
#include "scheduler/devices/inside.h"

#define MOST  ((dra_nano)1 << 110)
#define WHOLE ((dra_nano)1000000000)

bool amount_parse(struct str text, struct amount *a)
{
    struct kube_quantity q = {0};
    bool good = text.len == 0 || kube_quantity_parse(text, &q);
    *a = (struct amount){text, q.nano};
    if (a->nano > MOST)
        a->nano = MOST;
    if (a->nano < -MOST)
        a->nano = -MOST;
    return good;
}

/* ---- as upstream writes it ---- */

enum amount_format amount_format_of(struct str text)
{
    if (text.len > 1 && text.at[text.len - 1] == 'i')
        return AMOUNT_binary;
    for (uint32_t i = 1; i + 1 < text.len; i++) /* behind the last digit it is a suffix */
        if (text.at[i] == 'e' || text.at[i] == 'E')
            return AMOUNT_exponent;
    return AMOUNT_decimal;
}

static struct str digits(dra_nano value, struct arena *arena)
{
    char text[48], *at = text + sizeof(text);
    bool negative = value < 0;
    do {
        int64_t digit = (int64_t)(value % 10);
        *--at = (char)('0' + (digit < 0 ? -digit : digit));
        value /= 10;
    } while (value != 0);
    if (negative)
        *--at = '-';
    return arena_copy(arena, (struct str){at, (uint32_t)(text + sizeof(text) - at)});
}

/* As few digits as go with an exponent that is a multiple of three. */
static struct str decimal_text(dra_nano nano, enum amount_format format, struct arena *arena)
{
    static const char *const suffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    int32_t exponent = -9;
    while (nano != 0 && nano % 1000 == 0 && exponent < 18) {
        nano /= 1000;
        exponent += 3;
    }
    struct str number = digits(nano, arena);
    if (nano == 0 || exponent == 0)
        return number;
    if (format == AMOUNT_exponent)
        return arena_print(arena, "%.*se%d", STR_ARG(number), exponent);
    return arena_print(arena, "%.*s%s", STR_ARG(number), suffixes[exponent / 3 + 3]);
}

struct str amount_text(dra_nano nano, enum amount_format format, struct arena *arena)
{
    static const char suffixes[] = "\0KMGTPE";
    bool small = nano > -1024 * WHOLE && nano < 1024 * WHOLE;
    if (format != AMOUNT_binary || small || nano % WHOLE != 0)
        return decimal_text(nano, format, arena);
    dra_nano value = nano / WHOLE;
    uint32_t power = 0;
    while (power < 6 && value % 1024 == 0) {
        value /= 1024;
        power++;
    }
    struct str number = digits(value, arena);
    return power == 0 ? number : arena_print(arena, "%.*s%ci", STR_ARG(number), suffixes[power]);
}
