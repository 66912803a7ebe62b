/* lex: words by the longest match, as upstream's grammar. Comments and blanks are skipped. What
 * must stay true: every word is at least one byte of the text, so that a text ends. */
#include "scheduler/cel/lex.h"

#include "scheduler/cel/text.h"

#include <string.h>

static char peek(const struct lexer *l, uint32_t more)
{
    if (l->byte + more < l->text.len)
        return l->text.at[l->byte + more];
    return '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Steps over bytes, counting characters. */
static void step(struct lexer *l, uint32_t bytes)
{
    l->at += text_runes((struct str){l->text.at + l->byte, bytes});
    l->byte += bytes;
}

static void skip_blanks(struct lexer *l)
{
    for (;;) {
        char c = peek(l, 0);
        uint32_t len = 0;
        if (l->byte < l->text.len && c != '\0' && strchr(" \t\r\n\f", c) != NULL) {
            len = 1;
        } else if (c == '/' && peek(l, 1) == '/') {
            while (l->byte + len < l->text.len && l->text.at[l->byte + len] != '\n')
                len++;
        } else {
            return;
        }
        step(l, len);
    }
}

static uint32_t count_digits(const struct lexer *l, uint32_t from)
{
    uint32_t end = from;
    while (is_digit(peek(l, end)))
        end++;
    return end;
}

static uint32_t exponent_end(const struct lexer *l, uint32_t from)
{
    char c = peek(l, from);
    if (c != 'e' && c != 'E')
        return from;
    uint32_t digits = from + 1 + (peek(l, from + 1) == '+' || peek(l, from + 1) == '-');
    uint32_t end = count_digits(l, digits);
    return end > digits ? end : from;
}

static uint32_t number_length(const struct lexer *l, enum token_kind *kind)
{
    *kind = K_int;
    if (peek(l, 0) == '0' && peek(l, 1) == 'x' && is_hex(peek(l, 2))) {
        uint32_t end = 2;
        while (is_hex(peek(l, end)))
            end++;
        bool plain = peek(l, end) == 'u' || peek(l, end) == 'U';
        *kind = plain ? K_uint : K_int;
        return end + plain;
    }
    uint32_t end = count_digits(l, 0), whole = end;
    if (peek(l, end) == '.' && is_digit(peek(l, end + 1)))
        end = count_digits(l, end + 1);
    end = exponent_end(l, end);
    if (end > whole) {
        *kind = K_double;
        return end;
    }
    if (peek(l, end) == 'u' || peek(l, end) == 'U') {
        *kind = K_uint;
        return end + 1;
    }
    return end;
}

/* Length of the escape at the offset, or 0 when it is none. */
static uint32_t escape_length(const struct lexer *l, uint32_t from)
{
    char c = peek(l, from + 1);
    uint32_t hex = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (hex > 0) {
        for (uint32_t i = 0; i < hex; i++)
            if (!is_hex(peek(l, from + 2 + i)))
                return 0;
        return 2 + hex;
    }
    if (c >= '0' && c <= '3') {
        char d = peek(l, from + 2), e = peek(l, from + 3);
        return d >= '0' && d <= '7' && e >= '0' && e <= '7' ? 4 : 0;
    }
    return c != '\0' && strchr("abfnrtv\"'\\?`", c) != NULL ? 2 : 0;
}

/* Length of the quoted text behind a prefix, or 0 when it does not end. */
static uint32_t quoted_length(const struct lexer *l, uint32_t from, bool raw)
{
    char quote = peek(l, from);
    bool triple = peek(l, from + 1) == quote && peek(l, from + 2) == quote;
    uint32_t at = from + (triple ? 3 : 1);
    while (l->byte + at < l->text.len) {
        char c = peek(l, at);
        if (c == quote && (!triple || (peek(l, at + 1) == quote && peek(l, at + 2) == quote)))
            return at + (triple ? 3 : 1);
        if (!triple && (c == '\n' || c == '\r'))
            return 0;
        uint32_t len = c == '\\' && !raw ? escape_length(l, at) : 1;
        if (len == 0)
            return 0;
        at += len;
    }
    return 0;
}

/* A string or bytes literal; 0 when there is none here. */
static uint32_t string_length(const struct lexer *l, enum token_kind *kind)
{
    uint32_t at = 0;
    bool raw = false;
    *kind = K_string;
    if (peek(l, 0) == 'b' || peek(l, 0) == 'B') {
        *kind = K_bytes;
        at++;
    }
    if (peek(l, at) == 'r' || peek(l, at) == 'R') {
        raw = true;
        at++;
    }
    if (peek(l, at) != '"' && peek(l, at) != '\'')
        return 0;
    uint32_t len = quoted_length(l, at, raw);
    if (len == 0 && peek(l, at) == peek(l, at + 1)) /* three quotes that do not end: an empty one */
        return at + 2;
    return len;
}

static uint32_t escaped_name_length(const struct lexer *l)
{
    uint32_t at = 1;
    while (is_letter(peek(l, at)) || is_digit(peek(l, at)) ||
           (peek(l, at) != '\0' && strchr(".-/ ", peek(l, at)) != NULL))
        at++;
    return at > 1 && peek(l, at) == '`' ? at + 1 : 0;
}

static uint32_t sign_length(const struct lexer *l)
{
    static const char *const pairs[] = {"==", "!=", "<=", ">=", "&&", "||"};
    char c = peek(l, 0);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (c == pairs[i][0] && peek(l, 1) == pairs[i][1])
            return 2;
    return c != '\0' && strchr("<>[]{}().,-!?:+*/%", c) != NULL ? 1 : 0;
}

static uint32_t word_length(const struct lexer *l, enum token_kind *kind)
{
    char c = peek(l, 0);
    if (is_digit(c))
        return number_length(l, kind);
    if (c == '.' && is_digit(peek(l, 1))) {
        *kind = K_double;
        return exponent_end(l, count_digits(l, 1));
    }
    uint32_t len = string_length(l, kind);
    if (len > 0)
        return len;
    if (is_letter(c)) {
        *kind = K_name;
        while (is_letter(peek(l, len)) || is_digit(peek(l, len)))
            len++;
        return len;
    }
    *kind = K_escaped;
    if (c == '`')
        return escaped_name_length(l);
    *kind = K_sign;
    return sign_length(l);
}

struct token lex_next(struct lexer *l)
{
    skip_blanks(l);
    struct token t = {.kind = K_end, .at = l->at, .text = {l->text.at + l->byte, 0}};
    if (l->byte >= l->text.len)
        return t;
    t.text.len = word_length(l, &t.kind);
    if (t.text.len == 0) {
        t.kind = K_wrong;
        text_decode(text_from(l->text, l->byte), &t.text.len);
    }
    step(l, t.text.len);
    if (t.kind == K_escaped)
        t.text = (struct str){t.text.at + 1, t.text.len - 2};
    return t;
}

/* ---- what a literal means ---- */

static uint32_t read_digits(struct str s, uint32_t base)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        uint32_t digit = is_digit(c) ? (uint32_t)(c - '0') : (uint32_t)((c | 0x20) - 'a') + 10;
        value = value * base + digit;
    }
    return value;
}

static char plain_escape(char c)
{
    static const char names[] = "abfnrtv", means[] = "\a\b\f\n\r\t\v";
    const char *at = strchr(names, c);
    if (at != NULL && c != '\0')
        return means[at - names];
    return c;
}

/* Writes what the escape at s means; returns its length in the text, 0 when it is malformed. */
static uint32_t unescape(struct str s, bool bytes, char *out, uint32_t *written)
{
    char c = s.at[1];
    uint32_t len = c == 'x' || c == 'X' ? 4 : c == 'u' ? 6 : c == 'U' ? 10 : is_digit(c) ? 4 : 2;
    *written = 1;
    if (len == 2) {
        out[0] = plain_escape(c);
        return len;
    }
    bool octal = is_digit(c);
    uint32_t rune =
        read_digits((struct str){s.at + (octal ? 1 : 2), len - (octal ? 1 : 2)}, octal ? 8 : 16);
    if (bytes) {
        out[0] = (char)rune;
        return len > 4 ? 0 : len;
    }
    if (rune > 0x10FFFF || (rune >= 0xD800 && rune <= 0xDFFF))
        return 0;
    *written = text_encode(rune, out);
    return len;
}

struct str lex_unquote(struct pool *p, struct token t, const char **error)
{
    struct str s = t.text;
    bool raw = false, bytes = t.kind == K_bytes;
    if (bytes)
        s = text_from(s, 1);
    if (s.at[0] == 'r' || s.at[0] == 'R') {
        raw = true;
        s = text_from(s, 1);
    }
    uint32_t quotes = s.len >= 6 && s.at[0] == s.at[1] && s.at[0] == s.at[2] ? 3 : 1;
    s = (struct str){s.at + quotes, s.len - 2 * quotes};
    char *out = pool_take(p, (size_t)s.len + 4);
    uint32_t len = 0, written = 0;
    for (uint32_t i = 0; i < s.len; len += written) {
        written = 1;
        if (s.at[i] != '\\' || raw) {
            if (s.at[i] == '\r') { /* line ends are made one kind */
                i += i + 1 < s.len && s.at[i + 1] == '\n';
                out[len] = '\n';
            } else {
                out[len] = s.at[i];
            }
            i++;
            continue;
        }
        uint32_t taken = unescape(text_from(s, i), bytes, out + len, &written);
        if (taken == 0) {
            *error = bytes ? "unable to unescape string" : "invalid unicode code point";
            return (struct str){NULL, 0};
        }
        i += taken;
    }
    return (struct str){out, len};
}
