/* log: writes each event as one line, logfmt or JSON, with one write, so that lines of several
 * processes on one stderr never mix. What must stay true: errno survives a call, and no call waits
 * for who reads the log. */
#include "proto/base/log.h"
#include "proto/base/log_json.h"
#include "proto/base/log_out.h"
#include "proto/base/log_pods.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN 4096

static const char *process_name = "berth";
static enum log_level least_level = LOG_LEVEL_info;
static bool as_json;

void log_open(const char *process, enum log_level least)
{
    process_name = process;
    least_level = least;
}

void log_set_level(enum log_level least)
{
    least_level = least;
}

void log_set_verbosity(int64_t verbosity)
{
    least_level = verbosity >= 2 ? LOG_LEVEL_debug : LOG_LEVEL_info;
}

bool log_set_format(const char *format)
{
    bool json = strcmp(format, "json") == 0;
    if (!json && strcmp(format, "text") != 0)
        return false;
    as_json = json;
    return true;
}

const char *log_format_name(void)
{
    return as_json ? "json" : "text";
}

static const char *const level_names[] = {"error", "warn", "info", "debug"};

const char *log_level_name(void)
{
    return level_names[least_level];
}

bool log_level_parse(const char *text, enum log_level *level)
{
    for (int i = 0; i < 4; i++)
        if (strcmp(text, level_names[i]) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    char *end;
    long v = strtol(text, &end, 10);
    if (*text == 0 || *end != 0 || v < 0 || v > 10)
        return false;
    *level = v >= 2 ? LOG_LEVEL_debug : LOG_LEVEL_info;
    return true;
}

/* Puts text as a quoted value: control characters and quotes are escaped. */
static size_t put_quoted(char *line, size_t at, const char *text, size_t len)
{
    line[at++] = '"';
    for (size_t i = 0; i < len && at < LINE_MAX_LEN - 8; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            line[at++] = '\\';
        line[at++] = (char)(c < 32 ? ' ' : c);
    }
    line[at++] = '"';
    return at;
}

/* Quotes inside of a value get a backslash, unless they have one. */
static size_t put_value(char *line, size_t at, const char *p, const char *end)
{
    line[at++] = '"';
    for (; p < end && at < LINE_MAX_LEN - 8; p++) {
        if (*p == '"')
            line[at++] = '\\';
        if (*p == '\\' && p + 1 < end && (p[1] == '"' || p[1] == '\\'))
            line[at++] = *p++;
        line[at++] = (char)((unsigned char)*p < 32 ? ' ' : *p);
    }
    line[at++] = '"';
    return at;
}

static size_t put_pairs(char *line, size_t at, const char *p)
{
    if (*p != ' ')
        line[at++] = ' ';
    while (*p != 0 && at < LINE_MAX_LEN - 8) {
        bool value = *p == '=' && p[1] == '"';
        line[at++] = (char)((unsigned char)*p < 32 ? ' ' : *p);
        p++;
        if (!value)
            continue;
        const char *end = log_quoted_end(p + 1);
        at = put_value(line, at, p + 1, end);
        p = end + (*end == '"');
    }
    return at;
}

/* Room for the longest line in either format. */
#define LINE_ROOM LOG_JSON_ROOM(LINE_MAX_LEN / 2)

static size_t make_text(const char *level, const char *text, char *line)
{
    char when[40];
    moment_print_micros(moment_wall_us(), when, sizeof(when));
    char *pairs = strchr(text, '|');
    size_t len = pairs ? (size_t)(pairs - text) : strlen(text);
    int head = snprintf(line, 256, "ts=%s level=%s proc=%s msg=", when, level, process_name);
    size_t at = put_quoted(line, (size_t)head, text, len);
    if (pairs != NULL)
        at = put_pairs(line, at, pairs + 1);
    line[at++] = '\n';
    return at;
}

static size_t make_line(const char *level, const char *text, char *line)
{
    struct log_line parts = {
        .wall_us = moment_wall_us(), .level = level, .process = process_name, .text = text};
    return as_json ? log_json_line(&parts, line) : make_text(level, text, line);
}

void log_catch_up(void)
{
    uint64_t lines = log_out_untold();
    if (lines == 0)
        return;
    int saved = errno;
    char text[128], line[LINE_ROOM];
    snprintf(text, sizeof(text), "log lines were lost: nobody read them|lines=%llu",
             (unsigned long long)lines);
    log_out_tell(line, make_line("warn", text, line), lines);
    errno = saved;
}

/* Below the level in force only what is said of a pod that is watched. */
static void write_line(const char *level, bool enabled, const char *format, va_list args)
{
    char text[LINE_MAX_LEN / 2], line[LINE_ROOM];
    vsnprintf(text, sizeof(text), format, args);
    if (!enabled && !log_pods_in(text))
        return;
    log_catch_up(); /* what was lost came before */
    log_out(line, make_line(level, text, line));
}

#define DEFINE_LEVEL(name)                                                                         \
    void log_##name(const char *format, ...)                                                       \
    {                                                                                              \
        bool enabled = least_level >= LOG_LEVEL_##name;                                            \
        if (!enabled && log_pods_count() == 0)                                                     \
            return;                                                                                \
        int saved = errno;                                                                         \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        write_line(#name, enabled, format, args);                                                  \
        va_end(args);                                                                              \
        errno = saved;                                                                             \
    }

DEFINE_LEVEL(error)
DEFINE_LEVEL(warn)
DEFINE_LEVEL(info)
DEFINE_LEVEL(debug)

bool log_limited(struct log_limit *limit, struct moment now)
{
    if (limit->next.ns != 0 && !moment_reached(now, limit->next)) {
        limit->suppressed++;
        return false;
    }
    limit->suppressed_before = limit->suppressed;
    limit->suppressed = 0;
    limit->next = moment_after(now, span_of_ms(1000));
    return true;
}
