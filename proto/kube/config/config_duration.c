/* config_duration: durations as Go reads and writes them ("1m30s", "1.5h", "100ms"). The one idea:
 * the same units and the same text for the same length, because users compare files. What must stay
 * true: nothing overflows; what does not fit 64 bits of nanoseconds is refused. */
#include "proto/kube/config/config_internal.h"

#include <string.h>

static const struct {
    const char *name;
    int64_t ns;
} units[] = {{"ns", 1},           {"us", 1000},    {"\302\265s", 1000}, /* both ways to write the
                                                                           Greek letter */
             {"\316\274s", 1000}, {"ms", 1000000}, {"s", 1000000000},   {"m", 60000000000},
             {"h", 3600000000000}};

static bool is_digit(struct str s)
{
    return s.len > 0 && s.at[0] >= '0' && s.at[0] <= '9';
}

static void skip(struct str *s, uint32_t count)
{
    s->at += count;
    s->len -= count;
}

/* How a text fails to be a duration. */
enum fault { FINE, INVALID, NO_UNIT, STRANGE_UNIT };

static enum fault take_unit(struct str *s, int64_t *ns, struct str *unit)
{
    uint32_t len = 0;
    while (len < s->len && s->at[len] != '.' && (s->at[len] < '0' || s->at[len] > '9'))
        len++;
    *unit = (struct str){s->at, len};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (str_is(*unit, units[i].name)) {
            *ns = units[i].ns;
            skip(s, len);
            return FINE;
        }
    return len == 0 ? NO_UNIT : STRANGE_UNIT;
}

/* One "1.5h"; adds it to sum. */
static enum fault take_part(struct str *s, int64_t *sum, struct str *unit_name)
{
    int64_t whole = 0, unit = 0;
    double fraction = 0, scale = 1;
    bool digits = is_digit(*s);
    for (; is_digit(*s); skip(s, 1))
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, s->at[0] - '0', &whole))
            return INVALID;
    if (s->len > 0 && s->at[0] == '.') {
        skip(s, 1);
        digits = digits || is_digit(*s);
        for (; is_digit(*s); skip(s, 1))
            if (scale < 1e18) {
                fraction = fraction * 10 + (s->at[0] - '0');
                scale *= 10;
            }
    }
    enum fault fault = digits ? take_unit(s, &unit, unit_name) : INVALID;
    if (fault != FINE)
        return fault;
    bool over = __builtin_mul_overflow(whole, unit, &whole) ||
                __builtin_add_overflow(*sum, whole, sum) ||
                __builtin_add_overflow(*sum, (int64_t)(fraction * ((double)unit / scale)), sum);
    return over ? INVALID : FINE;
}

static enum fault parse(struct str text, struct span *span, struct str *unit)
{
    int64_t sum = 0;
    bool negative = text.len > 0 && text.at[0] == '-';
    enum fault fault = FINE;
    if (negative || (text.len > 0 && text.at[0] == '+'))
        skip(&text, 1);
    *span = (struct span){0};
    if (str_is(text, "0"))
        return FINE;
    if (text.len == 0)
        return INVALID;
    while (text.len > 0 && fault == FINE)
        fault = take_part(&text, &sum, unit);
    span->ns = negative ? -sum : sum;
    return fault;
}

bool config_duration_parse(struct str text, struct span *span)
{
    struct str unit;
    return parse(text, span, &unit) == FINE;
}

/* As Go's package time quotes, which knows ASCII alone. */
static void quote(struct str text, struct buffer *out)
{
    buffer_add_text(out, "\"");
    for (uint32_t i = 0; i < text.len && i < 64; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < ' ' || c >= 0x80)
            buffer_print(out, "\\x%02x", c);
        else
            buffer_print(out, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    buffer_add_text(out, "\"");
}

bool config_duration_explain(struct str text, struct buffer *why)
{
    struct span span;
    struct str unit;
    enum fault fault = parse(text, &span, &unit);
    if (fault == FINE)
        return true;
    buffer_add_text(why, fault == NO_UNIT        ? "time: missing unit in duration "
                         : fault == STRANGE_UNIT ? "time: unknown unit "
                                                 : "time: invalid duration ");
    if (fault == STRANGE_UNIT) {
        quote(unit, why);
        buffer_add_text(why, " in duration ");
    }
    quote(text, why);
    return false;
}

/* ns / unit with its fraction, without trailing zeroes. */
static void print_fraction(uint64_t ns, uint64_t unit, const char *name, struct buffer *out)
{
    buffer_print(out, "%llu", (unsigned long long)(ns / unit));
    uint64_t rest = ns % unit;
    if (rest > 0)
        buffer_add_text(out, ".");
    for (uint64_t place = unit / 10; rest > 0; rest %= place, place /= 10) {
        char digit = (char)('0' + rest / place);
        buffer_add(out, &digit, 1);
    }
    buffer_add_text(out, name);
}

void config_duration_print(struct span span, struct buffer *out)
{
    uint64_t ns = span.ns < 0 ? 0 - (uint64_t)span.ns : (uint64_t)span.ns;
    const uint64_t second = 1000000000, minute = 60 * second, hour = 60 * minute;
    if (span.ns < 0)
        buffer_add_text(out, "-");
    if (ns == 0)
        buffer_add_text(out, "0s");
    else if (ns < 1000)
        print_fraction(ns, 1, "ns", out);
    else if (ns < 1000000)
        print_fraction(ns, 1000, "\302\265s", out);
    else if (ns < second)
        print_fraction(ns, 1000000, "ms", out);
    else {
        if (ns >= hour)
            buffer_print(out, "%lluh", (unsigned long long)(ns / hour));
        if (ns >= minute)
            buffer_print(out, "%llum", (unsigned long long)(ns % hour / minute));
        print_fraction(ns % minute, second, "s", out);
    }
}

struct span config_duration(const struct cursor *up, const char *name, struct span otherwise)
{
    struct cursor s = cursor_member(up, name);
    struct str text = kube_json_text(s.value);
    struct span span = otherwise;
    if (s.value != NULL && !kube_json_is_string(s.value))
        cursor_fail(&s, "wants a duration such as \"15s\", has %s", kube_json_kind(s.value));
    else if (s.value != NULL && !config_duration_parse(text, &span))
        cursor_fail(&s, "time: invalid duration \"%.*s\"", text.len < 64 ? (int)text.len : 64,
                    text.at);
    return span;
}
