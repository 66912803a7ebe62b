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

static struct tm utc(int64_t wall_us)
{
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm tm;
    must(gmtime_r(&seconds, &tm) != NULL);
    return tm;
}

void moment_print_seconds(int64_t wall_us, char *out, size_t room)
{
    struct tm tm = utc(wall_us);
    must(strftime(out, room, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0);
}

void moment_print_micros(int64_t wall_us, char *out, size_t room)
{
    struct tm tm = utc(wall_us);
    char date[32];
    must(strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) > 0);
    int n = snprintf(out, room, "%s.%06dZ", date, (int)(wall_us % 1000000));
    must(n > 0 && (size_t)n < room);
}

/* "+02:00", "-0130" or "Z" to seconds. */
static bool parse_offset(const char *at, int *seconds)
{
    int hours, minutes;
    *seconds = 0;
    if (strcmp(at, "Z") == 0 || strcmp(at, "z") == 0)
        return true;
    if ((at[0] != '+' && at[0] != '-') || sscanf(at + 1, "%2d:%2d", &hours, &minutes) != 2 ||
        strlen(at) != 6)
        return false;
    *seconds = (hours * 3600 + minutes * 60) * (at[0] == '-' ? -1 : 1);
    return true;
}

bool moment_parse_wall(const char *at, size_t len, int64_t *wall_us)
{
    char text[64];
    struct tm tm = {0};
    int used = 0, offset;
    if (len < 20 || len >= sizeof(text))
        return false;
    memcpy(text, at, len);
    text[len] = 0;
    if (sscanf(text, "%4d-%2d-%2d%*1[Tt ]%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) != 6 ||
        used != 19)
        return false;
    int64_t micros = 0, scale = 100000;
    const char *rest = text + used;
    if (*rest == '.')
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, scale /= 10)
            micros += (*rest - '0') * scale;
    if (!parse_offset(rest, &offset))
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *wall_us = ((int64_t)timegm(&tm) - offset) * 1000000 + micros;
    return true;
}
