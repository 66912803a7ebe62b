/* log_json: reads the pairs that a log statement wrote as logfmt, and writes them as members. The
 * one idea: statements are written once, for both forms. What must stay true: what comes out is one
 * line of valid JSON, also when a value holds quotes, broken UTF-8 or was cut off. */
#include "proto/base/log_json.h"
#include "proto/base/json_string.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct output {
    char *at;
    size_t len;
};

static void put(struct output *o, const char *text, size_t len)
{
    memcpy(o->at + o->len, text, len);
    o->len += len;
}

static void put_escaped(struct output *o, const char *text, size_t len)
{
    struct str rest = {text, (uint32_t)len};
    char room[JSON_STRING_GROWTH];
    while (rest.len > 0) {
        struct str piece = json_string_piece(&rest, room);
        put(o, piece.at, piece.len);
    }
}

/* escaped: a backslash stands before quotes and backslashes already, which is left out. */
static void put_string(struct output *o, const char *text, size_t len, bool escaped)
{
    size_t from = 0;
    put(o, "\"", 1);
    for (size_t i = 0; escaped && i + 1 < len; i++) {
        if (text[i] != '\\' || (text[i + 1] != '"' && text[i + 1] != '\\'))
            continue;
        put_escaped(o, text + from, i - from);
        from = ++i;
    }
    put_escaped(o, text + from, len - from);
    put(o, "\"", 1);
}

static bool is_key(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

/* Whether another pair begins here, or the text ends. */
static bool pair_begins(const char *at)
{
    if (*at == 0)
        return true;
    if (*at++ != ' ')
        return false;
    while (*at == ' ')
        at++;
    const char *key = at;
    while (is_key(*at))
        at++;
    return at > key ? *at == '=' : *at == 0;
}

/* Behind a value that begins with a quote: the quote that ends it is the first that is not escaped
 * and has the next pair behind it; what statements put between quotes may hold some. */
const char *log_quoted_end(const char *at)
{
    for (; *at != 0; at++) {
        if (*at == '\\' && at[1] != 0)
            at++;
        else if (*at == '"' && pair_begins(at + 1))
            break;
    }
    return at;
}

static bool is_number(const char *at, size_t len)
{
    bool minus = len > 0 && at[0] == '-';
    size_t digits = len - minus;
    if (digits == 0 || digits > 18 || (digits > 1 && at[minus] == '0'))
        return false;
    for (size_t i = minus; i < len; i++)
        if (!isdigit((unsigned char)at[i]))
            return false;
    return true;
}

static const char *put_pair(struct output *o, const char *at)
{
    const char *key = at;
    while (is_key(*at))
        at++;
    bool has_value = at > key && *at == '=';
    put(o, ",", 1);
    if (!has_value) { /* words that are no pair */
        put(o, "\"text\":", 7);
        put_string(o, key, strlen(key), false);
        return key + strlen(key);
    }
    put_string(o, key, (size_t)(at - key), false);
    put(o, ":", 1);
    const char *value = ++at;
    if (*value == '"') {
        at = log_quoted_end(value + 1);
        put_string(o, value + 1, (size_t)(at - value - 1), true);
        return at + (*at == '"');
    }
    while (!pair_begins(at))
        at++;
    if (is_number(value, (size_t)(at - value)))
        put(o, value, (size_t)(at - value));
    else
        put_string(o, value, (size_t)(at - value), false);
    return at;
}

static void put_head(struct output *o, const struct log_line *line)
{
    bool failure = strcmp(line->level, "error") == 0;
    o->len += (size_t)snprintf(o->at, 128, "{\"ts\":%" PRId64 ".%03d,\"level\":\"%s\",\"proc\":",
                               line->wall_us / 1000, (int)(line->wall_us % 1000), line->level);
    put_string(o, line->process, strnlen(line->process, 64), false);
    if (!failure)
        put(o, strcmp(line->level, "debug") == 0 ? ",\"v\":2" : ",\"v\":0", 6);
    put(o, ",\"msg\":", 7);
}

size_t log_json_line(const struct log_line *line, char *out)
{
    struct output o = {out, 0};
    const char *bar = strchr(line->text, '|');
    put_head(&o, line);
    put_string(&o, line->text, bar != NULL ? (size_t)(bar - line->text) : strlen(line->text),
               false);
    for (const char *at = bar != NULL ? bar + 1 : ""; *at != 0;) {
        if (*at == ' ')
            at++;
        else
            at = put_pair(&o, at);
    }
    put(&o, "}\n", 2);
    return o.len;
}
