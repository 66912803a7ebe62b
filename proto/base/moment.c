/* moment: the only file that asks the operating system for the time, and the conversions between
 * instants, spans and RFC 3339 text. */
#include "proto/base/moment.h"
#include "proto/base/must.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    must(clock_gettime(id, &t) == 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct moment moment_now(void)
{
    return (struct moment){clock_ns(CLOCK_MONOTONIC)};
}

int64_t moment_boot_ns(void)
{
    return clock_ns(CLOCK_BOOTTIME);
}

int64_t moment_wall_us(void)
{
    return clock_ns(CLOCK_REALTIME) / 1000;
}

struct span span_of_ms(int64_t ms)
{
    return (struct span){ms * 1000000};
}

struct span span_of_us(int64_t us)
{
    return (struct span){us * 1000};
}

struct span span_of_seconds(double seconds)
{
    return (struct span){(int64_t)(seconds * 1e9)};
}

int64_t span_ms(struct span s)
{
    return s.ns / 1000000;
}

struct moment moment_after(struct moment m, struct span s)
{
    int64_t ns;
    if (__builtin_add_overflow(m.ns, s.ns, &ns))
        return MOMENT_NEVER;
    return (struct moment){ns};
}

struct span moment_since(struct moment later, struct moment earlier)
{
    return (struct span){later.ns - earlier.ns};
}

bool moment_reached(struct moment now, struct moment at)
{
    return now.ns >= at.ns;
}

struct moment moment_earlier(struct moment a, struct moment b)
{
    return a.ns < b.ns ? a : b;
}

#define YEAR_0    (-62167219200000000ll) /* µs */
#define YEAR_9999 253402300799999999ll   /* its last µs */

/* Rounds down, before 1970 too; *micros gets what is left over. Years have four digits: what lies
 * outside of them comes from a peer and is cut. */
static struct tm utc(int64_t wall_us, int *micros)
{
    wall_us = wall_us < YEAR_0 ? YEAR_0 : wall_us > YEAR_9999 ? YEAR_9999 : wall_us;
    *micros = (int)(wall_us % 1000000);
    if (*micros < 0)
        *micros += 1000000;
    time_t seconds = (time_t)((wall_us - *micros) / 1000000);
    struct tm tm;
    must(gmtime_r(&seconds, &tm) != NULL);
    return tm;
}

/* Each digit by hand: strftime and snprintf take longer than all else of a log line or an event. */
static char *put_digits(char *at, int value, int digits)
{
    for (int i = digits; i-- > 0; value /= 10)
        at[i] = (char)('0' + value % 10);
    return at + digits;
}

static char *put_date(char *at, const struct tm *tm)
{
    at = put_digits(at, tm->tm_year + 1900, 4);
    *at++ = '-';
    at = put_digits(at, tm->tm_mon + 1, 2);
    *at++ = '-';
    at = put_digits(at, tm->tm_mday, 2);
    *at++ = 'T';
    at = put_digits(at, tm->tm_hour, 2);
    *at++ = ':';
    at = put_digits(at, tm->tm_min, 2);
    *at++ = ':';
    return put_digits(at, tm->tm_sec, 2);
}

void moment_print_seconds(int64_t wall_us, char *out, size_t room)
{
    int micros;
    struct tm tm = utc(wall_us, &micros);
    must(room >= sizeof("2006-01-02T15:04:05Z"));
    memcpy(put_date(out, &tm), "Z", 2);
}

void moment_print_micros(int64_t wall_us, char *out, size_t room)
{
    int micros;
    struct tm tm = utc(wall_us, &micros);
    must(room >= sizeof("2006-01-02T15:04:05.000000Z"));
    char *at = put_date(out, &tm);
    *at++ = '.';
    memcpy(put_digits(at, micros, 6), "Z", 2);
}

/* Exactly that many digits, as a number no greater than most; moves *at behind them. */
static bool take_digits(const char **at, int digits, int most, int *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        *value = *value * 10 + (**at - '0');
    }
    return *value <= most;
}

static bool take_char(const char **at, const char *any_of)
{
    if (**at == 0 || strchr(any_of, **at) == NULL)
        return false;
    (*at)++;
    return true;
}

/* "2026-01-02"; days that the month does not have are refused. */
static bool take_date(const char **at, struct tm *tm)
{
    if (!take_digits(at, 4, 9999, &tm->tm_year) || !take_char(at, "-") ||
        !take_digits(at, 2, 12, &tm->tm_mon) || !take_char(at, "-") ||
        !take_digits(at, 2, 31, &tm->tm_mday))
        return false;
    tm->tm_year -= 1900;
    tm->tm_mon -= 1;
    struct tm real = *tm;
    timegm(&real); /* rolls over into the next month */
    return real.tm_mon == tm->tm_mon && real.tm_mday == tm->tm_mday;
}

static bool take_time(const char **at, struct tm *tm)
{
    return take_digits(at, 2, 23, &tm->tm_hour) && take_char(at, ":") &&
           take_digits(at, 2, 59, &tm->tm_min) && take_char(at, ":") &&
           take_digits(at, 2, 59, &tm->tm_sec);
}

/* ".25" or nothing; digits beyond microseconds are cut. */
static bool take_fraction(const char **at, int64_t *micros)
{
    *micros = 0;
    if (!take_char(at, "."))
        return true;
    const char *begin = *at;
    for (int64_t scale = 100000; **at >= '0' && **at <= '9'; (*at)++, scale /= 10)
        *micros += (**at - '0') * scale;
    return *at > begin;
}

/* "+02:00" or "Z" to seconds. */
static bool take_offset(const char **at, int *seconds)
{
    int hours, minutes;
    *seconds = 0;
    if (take_char(at, "Zz"))
        return true;
    int sign = **at == '-' ? -1 : 1;
    if (!take_char(at, "+-") || !take_digits(at, 2, 23, &hours) || !take_char(at, ":") ||
        !take_digits(at, 2, 59, &minutes))
        return false;
    *seconds = sign * (hours * 3600 + minutes * 60);
    return true;
}

bool moment_parse_wall(const char *at, size_t len, int64_t *wall_us)
{
    char text[64];
    struct tm tm = {0};
    int offset;
    int64_t micros;
    if (len >= sizeof(text))
        return false;
    if (len > 0)
        memcpy(text, at, len);
    text[len] = 0;
    const char *rest = text;
    if (!take_date(&rest, &tm) || !take_char(&rest, "Tt ") || !take_time(&rest, &tm) ||
        !take_fraction(&rest, &micros) || !take_offset(&rest, &offset) || rest != text + len)
        return false;
    *wall_us = ((int64_t)timegm(&tm) - offset) * 1000000 + micros;
    return true;
}
