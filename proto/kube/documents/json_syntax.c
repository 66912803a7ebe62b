/* json_syntax: why a text is not JSON, in the words of Go's encoding/json. The one idea: a small
 * recursive descent over the text that knows nothing but what may come next. What must stay true:
 * it never reads beyond the text nor deeper than documents are read. */
#include "proto/kube/documents/json.h"

#include "proto/base/buffer.h"

#include <stdio.h>
#include <string.h>

struct scan {
    const char *at, *end;
    int depth;
    struct buffer *why;
};

/* Go's quoting of one byte. */
static bool strange(struct scan *s, const char *where)
{
    /* At the end Go tries a blank, which ends whatever can end there. */
    bool open = strncmp(where, "in ", 3) == 0 || strncmp(where, "after decimal", 13) == 0;
    if (s->at >= s->end && (!open || strcmp(where, "in string literal") == 0)) {
        buffer_add_text(s->why, "unexpected end of JSON input");
        return false;
    }
    unsigned char c = s->at < s->end ? (unsigned char)*s->at : ' ';
    static const char escapes[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
    const char *escape = c != 0 ? strchr(escapes, c) : NULL;
    if (c == '\'')
        buffer_add_text(s->why, "invalid character '\\''");
    else if (c == '"')
        buffer_add_text(s->why, "invalid character '\"'");
    else if (c == '\\')
        buffer_add_text(s->why, "invalid character '\\\\'");
    else if (escape != NULL)
        buffer_print(s->why, "invalid character '\\%c'", letters[escape - escapes]);
    else if (c < 0x20 || c == 0x7f)
        buffer_print(s->why, "invalid character '\\x%02x'", c);
    else if (c < 0x80)
        buffer_print(s->why, "invalid character '%c'", c);
    else if (c < 0xa0 || c == 0xad) /* what Latin-1 cannot print */
        buffer_print(s->why, "invalid character '\\u%04x'", c);
    else
        buffer_print(s->why, "invalid character '%c%c'", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
    buffer_print(s->why, " %s", where);
    return false;
}

static void skip_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n'))
        s->at++;
}

static bool at_char(const struct scan *s, char c)
{
    return s->at < s->end && *s->at == c;
}

static bool at_digit(const struct scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static bool scan_escape(struct scan *s)
{
    s->at++;
    if (s->at >= s->end || strchr("bfnrt\\/\"u", *s->at) == NULL || *s->at == 0)
        return strange(s, "in string escape code");
    if (*s->at++ != 'u')
        return true;
    for (int i = 0; i < 4; i++, s->at++) {
        bool hex =
            s->at < s->end && *s->at != 0 && strchr("0123456789abcdefABCDEF", *s->at) != NULL;
        if (!hex)
            return strange(s, "in \\u hexadecimal character escape");
    }
    return true;
}

static bool scan_string(struct scan *s)
{
    for (s->at++; !at_char(s, '"');) {
        if (s->at >= s->end || (unsigned char)*s->at < 0x20)
            return strange(s, "in string literal");
        if (*s->at != '\\')
            s->at++;
        else if (!scan_escape(s))
            return false;
    }
    s->at++;
    return true;
}

static bool scan_digits(struct scan *s, const char *where)
{
    if (!at_digit(s))
        return strange(s, where);
    while (at_digit(s))
        s->at++;
    return true;
}

static bool scan_number(struct scan *s)
{
    if (at_char(s, '-'))
        s->at++;
    if (at_char(s, '0'))
        s->at++;
    else if (!scan_digits(s, "in numeric literal"))
        return false;
    if (at_char(s, '.')) {
        s->at++;
        if (!scan_digits(s, "after decimal point in numeric literal"))
            return false;
    }
    if (!at_char(s, 'e') && !at_char(s, 'E'))
        return true;
    s->at++;
    if (at_char(s, '+') || at_char(s, '-'))
        s->at++;
    return scan_digits(s, "in exponent of numeric literal");
}

static bool scan_word(struct scan *s, const char *word)
{
    char where[64];
    for (const char *c = word; *c != 0; c++, s->at++) {
        snprintf(where, sizeof(where), "in literal %s (expecting '%c')", word, *c);
        if (!at_char(s, *c))
            return strange(s, where);
    }
    return true;
}

/* Bounded by KUBE_JSON_DEPTH_MAX. NOLINTBEGIN(misc-no-recursion) */
static bool scan_value(struct scan *s);

static bool scan_member(struct scan *s)
{
    skip_space(s);
    if (!at_char(s, '"'))
        return strange(s, "looking for beginning of object key string");
    if (!scan_string(s))
        return false;
    skip_space(s);
    if (!at_char(s, ':'))
        return strange(s, "after object key");
    s->at++;
    return scan_value(s);
}

static bool scan_container(struct scan *s, char close)
{
    bool object = close == '}';
    s->at++;
    skip_space(s);
    if (at_char(s, close)) {
        s->at++;
        return true;
    }
    for (;;) {
        if (!(object ? scan_member(s) : scan_value(s)))
            return false;
        skip_space(s);
        if (at_char(s, close)) {
            s->at++;
            return true;
        }
        if (!at_char(s, ','))
            return strange(s, object ? "after object key:value pair" : "after array element");
        s->at++;
    }
}

static bool scan_value(struct scan *s)
{
    skip_space(s);
    if (s->depth >= KUBE_JSON_DEPTH_MAX) {
        buffer_add_text(s->why, "exceeded max depth");
        return false;
    }
    s->depth++;
    bool good = at_char(s, '{')                  ? scan_container(s, '}')
                : at_char(s, '[')                ? scan_container(s, ']')
                : at_char(s, '"')                ? scan_string(s)
                : at_char(s, '-') || at_digit(s) ? scan_number(s)
                : at_char(s, 't')                ? scan_word(s, "true")
                : at_char(s, 'f')                ? scan_word(s, "false")
                : at_char(s, 'n')                ? scan_word(s, "null")
                                                 : strange(s, "looking for beginning of value");
    s->depth--;
    return good;
}

/* NOLINTEND(misc-no-recursion) */

static bool scan_document(struct scan *s)
{
    if (!scan_value(s))
        return false;
    skip_space(s);
    return s->at == s->end || strange(s, "after top-level value");
}

bool kube_json_explain(struct str text, struct buffer *why)
{
    struct scan s = {.at = text.at, .end = text.at + text.len, .why = why};
    bool good = scan_document(&s);
    size_t line = 1, column = 1;
    for (const char *c = text.at; !good && c < s.at; c++, column++)
        if (*c == '\n') {
            line++;
            column = 0;
        }
    if (!good)
        buffer_print(why, " (at line %zu, column %zu)", line, column);
    return good;
}
