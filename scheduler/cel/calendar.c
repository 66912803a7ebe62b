/* calendar: what durations and timestamps are as text, and days as dates. What must stay true: what
 * Go's parsers forgive is forgiven (an hour of one digit, a comma before a fraction, an offset of
 * 24 hours), since an expression that kube-scheduler takes must be taken here. */
#include "scheduler/cel/calendar.h"

#include "scheduler/cel/number.h"
#include "scheduler/cel/text.h"

#include <inttypes.h>

#define NANOS_PER_SECOND INT64_C(1000000000)
#define SECONDS_PER_DAY  INT64_C(86400)
#define DURATION_MAX     (UINT64_C(1) << 63)

/* ---- durations ---- */

static bool is_digit(struct str s, uint32_t at)
{
    return at < s.len && s.at[at] >= '0' && s.at[at] <= '9';
}

static bool read_whole(struct str s, uint32_t *at, uint64_t *whole)
{
    for (*whole = 0; is_digit(s, *at); ++*at) {
        if (*whole > DURATION_MAX / 10)
            return false;
        *whole = *whole * 10 + (uint64_t)(s.at[*at] - '0');
        if (*whole > DURATION_MAX)
            return false;
    }
    return true;
}

/* The digits behind a point, as a number and what to divide it by. Digits too many are left out. */
static uint64_t read_fraction(struct str s, uint32_t *at, double *scale)
{
    uint64_t fraction = 0;
    bool full = false;
    for (*scale = 1; is_digit(s, *at); ++*at) {
        full = full || fraction > (DURATION_MAX - 1) / 10;
        uint64_t more = fraction * 10 + (uint64_t)(s.at[*at] - '0');
        full = full || more > DURATION_MAX;
        if (full)
            continue;
        fraction = more;
        *scale *= 10;
    }
    return fraction;
}

/* 0 for what is no unit. */
static uint64_t read_unit(struct str s, uint32_t *at)
{
    static const struct {
        const char *name;
        uint64_t nanos;
    } units[] = {
        {"ns", 1},       {"us", 1000},      {"\xc2\xb5s", 1000}, {"\xce\xbcs", 1000},
        {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000},  {"h", 3600000000000},
    };
    uint32_t begin = *at;
    while (*at < s.len && s.at[*at] != '.' && !is_digit(s, *at))
        ++*at;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (str_is((struct str){s.at + begin, *at - begin}, units[i].name))
            return units[i].nanos;
    return 0;
}

/* One number with its unit. */
static bool read_part(struct str s, uint32_t *at, uint64_t *nanos)
{
    uint64_t whole = 0, fraction = 0;
    uint32_t begin = *at;
    double scale = 1;
    if (!read_whole(s, at, &whole))
        return false;
    bool digits = *at > begin;
    if (*at < s.len && s.at[*at] == '.') {
        begin = ++*at;
        fraction = read_fraction(s, at, &scale);
        digits = digits || *at > begin;
    }
    uint64_t unit = digits ? read_unit(s, at) : 0;
    if (unit == 0 || whole > DURATION_MAX / unit)
        return false;
    *nanos = whole * unit;
    if (fraction > 0)
        *nanos += (uint64_t)((double)fraction * ((double)unit / scale));
    return *nanos <= DURATION_MAX;
}

bool calendar_read_duration(struct str s, int64_t *nanos)
{
    bool negative = s.len > 0 && s.at[0] == '-';
    uint32_t at = s.len > 0 && (negative || s.at[0] == '+');
    uint64_t sum = 0, part = 0;
    *nanos = 0;
    if (s.len - at == 1 && s.at[at] == '0')
        return true;
    if (at == s.len)
        return false;
    for (; at < s.len; sum += part)
        if (!read_part(s, &at, &part) || sum + part > DURATION_MAX)
            return false;
    if (!negative && sum == DURATION_MAX)
        return false;
    *nanos = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

static double in_units(int64_t nanos, int64_t unit)
{
    int64_t whole = nanos / unit, rest = nanos % unit;
    return (double)whole + (double)rest / (double)unit;
}

int64_t calendar_units(int64_t nanos, int64_t unit)
{
    return (int64_t)in_units(nanos, unit);
}

void calendar_print_duration(struct buffer *b, int64_t nanos)
{
    number_print_plain(b, in_units(nanos, NANOS_PER_SECOND));
    buffer_add_text(b, "s");
}

/* ---- days and dates ---- */

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static uint32_t days_in(uint32_t month, int64_t year)
{
    static const uint32_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Days from 0000-01-01, which began a leap year, to the first of a year. */
static int64_t days_before(int64_t year)
{
    int64_t last = year - 1;
    return year * 365 + floor_divide(last, 4) - floor_divide(last, 100) + floor_divide(last, 400) +
           1;
}

#define DAYS_BEFORE_1970 INT64_C(719528)

struct calendar_fields calendar_fields_of(int64_t seconds, int64_t offset)
{
    int64_t local = seconds + offset, days = floor_divide(local, SECONDS_PER_DAY);
    uint32_t rest = (uint32_t)(local - days * SECONDS_PER_DAY);
    struct calendar_fields f = {
        .hour = rest / 3600, .minute = rest / 60 % 60, .second = rest % 60, .month = 1};
    f.weekday = (uint32_t)(days + 4 - 7 * floor_divide(days + 4, 7)); /* 1970 began on a Thursday */
    days += DAYS_BEFORE_1970;
    f.year = floor_divide(days * 400, 146097); /* one too many at most */
    while (days_before(f.year) > days)
        f.year--;
    while (days_before(f.year + 1) <= days)
        f.year++;
    f.day_of_year = (uint32_t)(days - days_before(f.year));
    uint32_t day = f.day_of_year;
    for (; day >= days_in(f.month, f.year); f.month++)
        day -= days_in(f.month, f.year);
    f.day = day + 1;
    return f;
}

static int64_t seconds_of(const struct calendar_fields *f)
{
    int64_t days = days_before(f->year) - DAYS_BEFORE_1970 + f->day - 1;
    for (uint32_t month = 1; month < f->month; month++)
        days += days_in(month, f->year);
    uint32_t clock = f->hour * 3600 + f->minute * 60 + f->second;
    return days * SECONDS_PER_DAY + clock;
}

/* ---- timestamps ---- */

/* count digits that make a number of at most max. */
static bool read_number(struct str s, uint32_t *at, uint32_t count, uint32_t max, uint32_t *number)
{
    *number = 0;
    for (uint32_t i = 0; i < count; i++, ++*at) {
        if (!is_digit(s, *at))
            return false;
        *number = *number * 10 + (uint32_t)(s.at[*at] - '0');
    }
    return *number <= max;
}

static bool read_mark(struct str s, uint32_t *at, char mark)
{
    return *at < s.len && s.at[(*at)++] == mark;
}

static bool read_date(struct str s, uint32_t *at, struct calendar_fields *f)
{
    uint32_t year = 0;
    bool good = read_number(s, at, 4, 9999, &year) && read_mark(s, at, '-') &&
                read_number(s, at, 2, 12, &f->month) && read_mark(s, at, '-') &&
                read_number(s, at, 2, 31, &f->day) && f->month > 0;
    f->year = year;
    return good && f->day > 0 && f->day <= days_in(f->month, f->year);
}

static bool read_clock(struct str s, uint32_t *at, struct calendar_fields *f)
{
    return read_mark(s, at, 'T') &&
           read_number(s, at, is_digit(s, *at + 1) ? 2 : 1, 23, &f->hour) &&
           read_mark(s, at, ':') && read_number(s, at, 2, 59, &f->minute) &&
           read_mark(s, at, ':') && read_number(s, at, 2, 59, &f->second);
}

static int32_t read_nanos(struct str s, uint32_t *at)
{
    int32_t nanos = 0, unit = 100000000;
    if (*at >= s.len || (s.at[*at] != '.' && s.at[*at] != ',') || !is_digit(s, *at + 1))
        return 0;
    for (++*at; is_digit(s, *at); ++*at, unit /= 10)
        nanos += (s.at[*at] - '0') * unit;
    return nanos;
}

static bool read_zone(struct str s, uint32_t *at, int32_t *offset)
{
    uint32_t hours = 0, minutes = 0;
    *offset = 0;
    if (*at < s.len && s.at[*at] == 'Z') {
        ++*at;
        return true;
    }
    if (*at >= s.len || (s.at[*at] != '+' && s.at[*at] != '-'))
        return false;
    bool west = s.at[(*at)++] == '-';
    if (!read_number(s, at, 2, 24, &hours) || !read_mark(s, at, ':') ||
        !read_number(s, at, 2, 60, &minutes))
        return false;
    *offset = (int32_t)(hours * 60 + minutes) * (west ? -60 : 60);
    return true;
}

bool calendar_read_stamp(struct str s, struct stamp *out)
{
    struct calendar_fields f = {0};
    uint32_t at = 0;
    if (!read_date(s, &at, &f) || !read_clock(s, &at, &f))
        return false;
    out->nanos = read_nanos(s, &at);
    if (!read_zone(s, &at, &out->offset) || at != s.len)
        return false;
    out->seconds = seconds_of(&f) - out->offset;
    return true;
}

bool calendar_is_date(struct str s)
{
    struct calendar_fields f = {0};
    uint32_t at = 0;
    return read_date(s, &at, &f) && at == s.len;
}

void calendar_print_stamp(struct buffer *b, const struct stamp *stamp)
{
    struct calendar_fields f = calendar_fields_of(stamp->seconds, stamp->offset);
    int32_t minutes = stamp->offset / 60, nanos = stamp->nanos, width = 9;
    buffer_print(b, "%04" PRId64 "-%02u-%02uT%02u:%02u:%02u", f.year, f.month, f.day, f.hour,
                 f.minute, f.second);
    for (; nanos > 0 && nanos % 10 == 0; width--)
        nanos /= 10;
    if (nanos > 0)
        buffer_print(b, ".%0*d", width, nanos);
    if (stamp->offset == 0)
        buffer_add_text(b, "Z");
    else
        buffer_print(b, "%c%02d:%02d", minutes < 0 ? '-' : '+',
                     minutes < 0 ? -minutes / 60 : minutes / 60,
                     minutes < 0 ? -minutes % 60 : minutes % 60);
}
