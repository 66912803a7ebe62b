/* log_json: a line of the log as one JSON object, for log.c. */
#ifndef LOG_JSON_H
#define LOG_JSON_H

#include "proto/base/json_string.h"

/* Room that a line takes whose text and pairs have so many bytes together: a pair's three (a blank,
 * a key and =) become seven, any other byte no more than a string's. */
#define LOG_JSON_ROOM(bytes) ((size_t)(bytes)*JSON_STRING_GROWTH + 512)

struct log_line {
    int64_t wall_us;
    const char *level, *process;
    const char *text; /* up to the first '|', behind which the pairs follow in logfmt */
};

/* Writes {"ts":…,"level":…,"proc":…,"msg":…,"v":…, pairs} and a line's end into out, which has
 * LOG_JSON_ROOM of the text; returns how many bytes. Whatever the text holds, it is one line of
 * valid JSON. As in kube-scheduler's log, ts is in milliseconds since 1970 and v is left out of an
 * error; a value without quotes that is a number stays one, all others are strings. */
size_t log_json_line(const struct log_line *line, char *out);

/* Where a value that begins with a quote ends, behind that quote: at the quote that has the next
 * pair or nothing behind it; at the text's end if none has. What a statement put between quotes may
 * hold quotes itself, escaped or not. */
const char *log_quoted_end(const char *at);

#endif
