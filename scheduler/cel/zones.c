/* zones: reads one file of the time zone database (TZif, RFC 8536), and the rule that it ends with
 * for the years behind its table. glibc reads them, too, but only into the zone of the whole
 * process, by an environment variable that other threads may be reading.
 *
 * What must stay true: nothing is read beyond the file's end, whatever its counts say; where Go's
 * package time does something else than the format's description, this does as Go. */
#include "scheduler/cel/zones.h"

#include "scheduler/cel/calendar.h"
#include "scheduler/cel/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOLDER   "/usr/share/zoneinfo/"
#define FILE_MAX (64 * 1024) /* the largest that there is has 4 KiB */

#define MINUTE INT64_C(60)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* ---- bytes ---- */

/* What is left of the file; at is NULL once somebody wanted more. */
struct reader {
    const unsigned char *at;
    size_t left;
};

static const unsigned char *take(struct reader *r, uint64_t size)
{
    const unsigned char *at = r->at;
    if (at == NULL || size > r->left) {
        r->at = NULL;
        return NULL;
    }
    r->at += size;
    r->left -= size;
    return at;
}

static uint32_t big4(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int64_t when_of(const unsigned char *at, bool wide)
{
    return wide ? (int64_t)((uint64_t)big4(at) << 32 | big4(at + 4)) : (int32_t)big4(at);
}

/* ---- the table ---- */

/* How many there are of each, in the file's order. */
enum { IN_UTC, IN_STANDARD, LEAPS, TIMES, TYPES, LETTERS, COUNTS };

struct table {
    bool wide; /* times have eight bytes, else four */
    uint32_t n[COUNTS];
    const unsigned char *times; /* each of the first second of a type, */
    const unsigned char *types; /* which is this one, */
    const unsigned char *infos; /* of offset, whether it is daylight saving time, and name */
    struct str rule;            /* for what is behind the last time; empty: none */
};

static bool read_header(struct reader *r, unsigned char *version, uint32_t *n)
{
    const unsigned char *magic = take(r, 4), *rest = take(r, 16),
                        *counts = take(r, (uint64_t)COUNTS * 4);
    if (counts == NULL || memcmp(magic, "TZif", 4) != 0)
        return false;
    *version = rest[0];
    for (int i = 0; i < COUNTS; i++)
        n[i] = big4(counts + (ptrdiff_t)i * 4);
    return *version == 0 || *version == '2' || *version == '3';
}

/* Newer files say all of it twice, the second time with times of eight bytes. */
static bool skip_narrow(struct reader *r, uint32_t *n)
{
    unsigned char version;
    uint64_t size = (uint64_t)n[TIMES] * 5 + (uint64_t)n[TYPES] * 6 + n[LETTERS] +
                    (uint64_t)n[LEAPS] * 8 + n[IN_STANDARD] + n[IN_UTC];
    (void)take(r, size);
    return r->at != NULL && read_header(r, &version, n);
}

static uint32_t type_of(const struct table *t, uint32_t time)
{
    return t->types[time];
}

static bool is_sound(const struct table *t)
{
    for (uint32_t i = 0; i < t->n[TYPES]; i++)
        if (t->infos[(size_t)i * 6 + 5] >= t->n[LETTERS])
            return false;
    for (uint32_t i = 0; i < t->n[TIMES]; i++)
        if (type_of(t, i) >= t->n[TYPES])
            return false;
    return t->n[TYPES] > 0;
}

static bool read_table(struct str file, struct table *t)
{
    struct reader r = {(const unsigned char *)file.at, file.len};
    unsigned char version;
    if (!read_header(&r, &version, t->n) || (version != 0 && !skip_narrow(&r, t->n)))
        return false;
    t->wide = version != 0;
    uint64_t size = t->wide ? 8 : 4;
    t->times = take(&r, t->n[TIMES] * size);
    t->types = take(&r, t->n[TIMES]);
    t->infos = take(&r, (uint64_t)t->n[TYPES] * 6);
    (void)take(&r, (uint64_t)t->n[LETTERS] + t->n[LEAPS] * (size + 4) + t->n[IN_STANDARD] +
                       t->n[IN_UTC]);
    if (r.at == NULL || !is_sound(t))
        return false;
    t->rule = (struct str){NULL, 0};
    if (r.left > 2 && r.at[0] == '\n' && r.at[r.left - 1] == '\n')
        t->rule = (struct str){(const char *)r.at + 1, (uint32_t)(r.left - 2)};
    return true;
}

static int64_t time_at(const struct table *t, uint32_t i)
{
    return when_of(t->times + (size_t)i * (t->wide ? 8 : 4), t->wide);
}

static int64_t offset_of(const struct table *t, uint32_t type)
{
    return (int32_t)big4(t->infos + (size_t)type * 6);
}

static bool is_summer(const struct table *t, uint32_t type)
{
    return t->infos[(size_t)type * 6 + 4] != 0;
}

static bool is_used(const struct table *t, uint32_t type)
{
    for (uint32_t i = 0; i < t->n[TIMES]; i++)
        if (type_of(t, i) == type)
            return true;
    return false;
}

/* Before all times: the first type, unless it is one that comes later. */
static uint32_t first_type(const struct table *t)
{
    if (!is_used(t, 0))
        return 0;
    uint32_t first = t->n[TIMES] > 0 ? type_of(t, 0) : 0;
    for (uint32_t i = is_summer(t, first) ? first : 0; i > 0; i--)
        if (!is_summer(t, i - 1))
            return i - 1;
    for (uint32_t i = 0; i < t->n[TYPES]; i++)
        if (!is_summer(t, i))
            return i;
    return 0;
}

/* How many times are not behind it. */
static uint32_t times_until(const struct table *t, int64_t seconds)
{
    uint32_t low = 0, high = t->n[TIMES];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (time_at(t, middle) <= seconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the rule: "CET-1CEST,M3.5.0,M10.5.0/3" ---- */

static bool is_next(const struct str *s, char c)
{
    return s->len > 0 && s->at[0] == c;
}

static bool pass(struct str *s, char c)
{
    if (!is_next(s, c))
        return false;
    *s = text_from(*s, 1);
    return true;
}

static bool read_number(struct str *s, int64_t least, int64_t most, int64_t *out)
{
    uint32_t at = 0;
    *out = 0;
    for (; at < s->len && isdigit((unsigned char)s->at[at]); at++) {
        *out = *out * 10 + (s->at[at] - '0');
        if (*out > most)
            return false;
    }
    *s = text_from(*s, at);
    return at > 0 && *out >= least;
}

static bool ends_name(char c)
{
    return isdigit((unsigned char)c) || c == ',' || c == '-' || c == '+';
}

static bool skip_name(struct str *s)
{
    uint32_t at = 0;
    if (pass(s, '<')) {
        int64_t end = text_find(*s, STR_LITERAL(">"));
        if (end >= 0)
            *s = text_from(*s, (uint32_t)end + 1);
        return end >= 0;
    }
    while (at < s->len && !ends_name(s->at[at]))
        at++;
    *s = text_from(*s, at);
    return at >= 3;
}

/* Hours, or with minutes, or with seconds as well. */
static bool read_span(struct str *s, int64_t *seconds)
{
    bool back = pass(s, '-');
    int64_t part;
    if (!back)
        (void)pass(s, '+');
    if (!read_number(s, 0, 7 * DAY / HOUR, &part))
        return false;
    *seconds = part * HOUR;
    for (int64_t unit = MINUTE; unit > 0 && pass(s, ':'); unit /= MINUTE) {
        if (!read_number(s, 0, 59, &part))
            return false;
        *seconds += part * unit;
    }
    *seconds = back ? -*seconds : *seconds;
    return true;
}

/* The day of a year on which the clocks are changed. */
struct change {
    enum { DAY_WITHOUT_LEAP, DAY_OF_YEAR, DAY_OF_WEEK } kind;
    int64_t day, week, month;
    int64_t time; /* of that day, in seconds */
};

static bool read_day(struct str *s, struct change *c)
{
    if (pass(s, 'J')) {
        c->kind = DAY_WITHOUT_LEAP;
        return read_number(s, 1, 365, &c->day);
    }
    if (!pass(s, 'M')) {
        c->kind = DAY_OF_YEAR;
        return read_number(s, 0, 365, &c->day);
    }
    c->kind = DAY_OF_WEEK;
    return read_number(s, 1, 12, &c->month) && pass(s, '.') && read_number(s, 1, 5, &c->week) &&
           pass(s, '.') && read_number(s, 0, 6, &c->day);
}

static bool read_change(struct str *s, struct change *c)
{
    c->time = 2 * HOUR;
    return read_day(s, c) && (!pass(s, '/') || read_span(s, &c->time));
}

struct rule {
    int64_t standard, summer; /* seconds east of UTC */
    bool has_summer;
    struct change begin, end; /* of summer time */
};

static bool read_rule(struct str s, struct rule *r)
{
    if (!skip_name(&s) || !read_span(&s, &r->standard))
        return false;
    r->standard = -r->standard;
    r->summer = r->standard + HOUR;
    r->has_summer = s.len > 0 && s.at[0] != ',';
    if (!r->has_summer)
        return true;
    if (!skip_name(&s))
        return false;
    if (s.len > 0 && s.at[0] != ',') {
        if (!read_span(&s, &r->summer))
            return false;
        r->summer = -r->summer;
    }
    if (s.len == 0)
        s = STR_LITERAL(",M3.2.0,M11.1.0");
    return (pass(&s, ',') || pass(&s, ';')) && read_change(&s, &r->begin) && pass(&s, ',') &&
           read_change(&s, &r->end) && s.len == 0;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* From the first of the year to the first of the month. */
static int64_t days_before(int64_t month, int64_t year)
{
    static const int16_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    return before[month - 1] + (month > 2 && is_leap(year));
}

static int64_t days_in(int64_t month, int64_t year)
{
    int64_t leap = month == 2 && is_leap(year);
    return month == 12 ? 31 : days_before(month + 1, 1) - days_before(month, 1) + leap;
}

/* So many of such days of the week into the month; in its last week the fifth is the last there is.
 * January the first's day of the week is given. */
static int64_t day_of_week(const struct change *c, int64_t year, int64_t january)
{
    int64_t first = (january + days_before(c->month, year)) % 7;
    int64_t day = (c->day - first + 7) % 7;
    for (int64_t week = 1; week < c->week && day + 7 < days_in(c->month, year); week++)
        day += 7;
    return days_before(c->month, year) + day;
}

/* Seconds of the year, in UTC; offset is of the time before. */
static int64_t second_of(const struct change *c, int64_t year, int64_t january, int64_t offset)
{
    int64_t day = c->kind == DAY_OF_WEEK        ? day_of_week(c, year, january)
                  : c->kind == DAY_WITHOUT_LEAP ? c->day - 1 + (is_leap(year) && c->day >= 60)
                                                : c->day;
    return day * DAY + c->time - offset;
}

static int64_t offset_by_rule(const struct rule *r, int64_t seconds)
{
    if (!r->has_summer)
        return r->standard;
    const struct calendar_fields f = calendar_fields_of(seconds, 0);
    int64_t january = ((int64_t)f.weekday - f.day_of_year % 7 + 7) % 7;
    int64_t now = (int64_t)f.day_of_year * DAY + seconds % DAY; /* as Go: before 1970, too */
    int64_t begin = second_of(&r->begin, f.year, january, r->standard);
    int64_t end = second_of(&r->end, f.year, january, r->summer);
    if (begin <= end)
        return now >= begin && now < end ? r->summer : r->standard;
    return now >= end && now < begin ? r->standard : r->summer;
}

/* ---- all of it ---- */

bool zones_offset_in(struct str file, int64_t seconds, int64_t *offset)
{
    struct table t;
    struct rule rule;
    if (!read_table(file, &t))
        return false;
    uint32_t until = times_until(&t, seconds);
    uint32_t type = t.n[TIMES] == 0 ? 0 : until == 0 ? first_type(&t) : type_of(&t, until - 1);
    bool behind = until == t.n[TIMES] && t.rule.len > 0 && read_rule(t.rule, &rule);
    *offset = behind ? offset_by_rule(&rule, seconds) : offset_of(&t, type);
    return true;
}

/* As Go's names of system errors: they begin with a small letter. */
static struct str system_error(struct pool *p)
{
    struct str s = pool_print(p, "%s", strerror(errno));
    char *first = pool_take(p, s.len + 1);
    memcpy(first, s.at, s.len);
    first[0] = (char)tolower((unsigned char)first[0]);
    return (struct str){first, s.len};
}

/* As open() would, if it saw the whole name. */
static int open_zone(struct str name)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof(path), FOLDER "%.*s", STR_ARG(name));
    if (memchr(name.at, 0, name.len) != NULL) {
        errno = EINVAL;
        return -1;
    }
    if (len < 0 || (size_t)len >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* How many bytes; less than none: errno says why. */
static ssize_t read_zone(struct str name, char *bytes, size_t room)
{
    int fd = open_zone(name);
    size_t got = 0;
    ssize_t more = fd < 0 ? -1 : 1;
    while (more > 0 && got < room && (more = read(fd, bytes + got, room - got)) > 0)
        got += (size_t)more;
    int why = errno;
    if (fd >= 0)
        (void)close(fd);
    errno = why;
    return more < 0 ? -1 : (ssize_t)got;
}

bool zones_offset(struct pool *p, struct str name, int64_t seconds, int64_t *offset,
                  struct str *error)
{
    char bytes[FILE_MAX];
    ssize_t size = read_zone(name, bytes, sizeof(bytes));
    if (size < 0 && errno == ENOENT)
        *error = pool_print(p, "unknown time zone %.*s", STR_ARG(name));
    else if (size < 0)
        *error = system_error(p);
    else if (zones_offset_in((struct str){bytes, (uint32_t)size}, seconds, offset))
        return true;
    else
        *error = STR_LITERAL("malformed time zone information");
    return false;
}
