/* text: UTF-8, character by character, as Go's unicode/utf8 and strconv do it. What must stay true:
 * no byte beyond the text is read, and a malformed byte counts as one character, U+FFFD. */
#include "scheduler/cel/text.h"

#include <string.h>

static bool is_tail(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

uint32_t text_decode(struct str s, uint32_t *len)
{
    const unsigned char *at = (const unsigned char *)s.at;
    uint32_t rune = at[0];
    *len = 1;
    if (rune < 0x80)
        return rune;
    uint32_t need = rune >= 0xF0 ? 4 : rune >= 0xE0 ? 3 : 2;
    if (rune < 0xC2 || rune > 0xF4 || s.len < need)
        return TEXT_RUNE_ERROR;
    rune &= need == 2 ? 0x1F : need == 3 ? 0x0F : 0x07;
    for (uint32_t i = 1; i < need; i++) {
        if (!is_tail(at[i]))
            return TEXT_RUNE_ERROR;
        rune = rune << 6 | (at[i] & 0x3F);
    }
    bool overlong = (need == 3 && rune < 0x800) || (need == 4 && rune < 0x10000);
    if (overlong || rune > 0x10FFFF || (rune >= 0xD800 && rune <= 0xDFFF))
        return TEXT_RUNE_ERROR;
    *len = need;
    return rune;
}

uint32_t text_runes(struct str s)
{
    uint32_t count = 0, len = 0;
    for (uint32_t at = 0; at < s.len; at += len, count++)
        text_decode(text_from(s, at), &len);
    return count;
}

bool text_is_utf8(struct str s)
{
    uint32_t len = 0;
    for (uint32_t at = 0; at < s.len; at += len)
        if (text_decode(text_from(s, at), &len) == TEXT_RUNE_ERROR && len == 1)
            return false;
    return true;
}

uint32_t text_encode(uint32_t rune, char *out)
{
    if (rune > 0x10FFFF || (rune >= 0xD800 && rune <= 0xDFFF))
        rune = TEXT_RUNE_ERROR;
    if (rune < 0x80) {
        out[0] = (char)rune;
        return 1;
    }
    uint32_t len = rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (uint32_t i = len; i-- > 1; rune >>= 6)
        out[i] = (char)(0x80 | (rune & 0x3F));
    out[0] = (char)(heads[len] | rune);
    return len;
}

uint32_t text_offset(struct str s, uint32_t runes)
{
    uint32_t at = 0, len = 0;
    for (; runes > 0 && at < s.len; runes--, at += len)
        text_decode(text_from(s, at), &len);
    return at;
}

static const char *short_escape(uint32_t rune)
{
    switch (rune) {
    case '\a': return "\\a";
    case '\b': return "\\b";
    case '\f': return "\\f";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\v': return "\\v";
    case '"': return "\\\"";
    case '\\': return "\\\\";
    default: return NULL;
    }
}

void text_quote(struct buffer *b, struct str s)
{
    uint32_t len = 0;
    buffer_add_text(b, "\"");
    for (uint32_t at = 0; at < s.len; at += len) {
        uint32_t rune = text_decode(text_from(s, at), &len);
        const char *escape = short_escape(rune);
        if (escape != NULL)
            buffer_add_text(b, escape);
        else if (rune == TEXT_RUNE_ERROR && len == 1)
            buffer_print(b, "\\x%02x", (unsigned char)s.at[at]);
        else if (rune < 0x20 || rune == 0x7F)
            buffer_print(b, "\\x%02x", rune);
        else
            buffer_add(b, s.at + at, len);
    }
    buffer_add_text(b, "\"");
}

struct str text_quoted(struct pool *p, struct str s)
{
    struct buffer b = {0};
    text_quote(&b, s);
    struct str copy = arena_copy(p->arena, buffer_str(&b));
    buffer_free(&b); /* before anything may stop the work */
    return copy.at != NULL ? copy : STR_LITERAL("\"...\"");
}

int64_t text_find(struct str s, struct str needle)
{
    if (needle.len == 0)
        return 0;
    const char *at = s.len == 0 ? NULL : memmem(s.at, s.len, needle.at, needle.len);
    return at == NULL ? -1 : at - s.at;
}
