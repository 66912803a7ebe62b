/* address: IP addresses and networks read, printed and compared. What must stay true: an address of
 * four bytes has zeros in the other twelve, so that addresses can be compared as they stand; and a
 * text is refused for the reason that netip gives, which is the first one from the left. */
#include "scheduler/cel/address.h"

#include "scheduler/cel/text.h"

#include <string.h>

static bool refuse(struct address_reading *out, const char *why, struct str at)
{
    out->why = why;
    out->at = at;
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Four numbers with points between them. */
static bool read_four(struct str s, unsigned char *bytes, struct address_reading *out)
{
    const struct str nowhere = {NULL, 0};
    uint32_t value = 0, place = 0, digits = 0;
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (is_digit(c)) {
            if (digits++ == 1 && value == 0)
                return refuse(out, "IPv4 field has octet with leading zero", nowhere);
            value = value * 10 + (uint32_t)(c - '0');
            if (value > 255)
                return refuse(out, "IPv4 field has value >255", nowhere);
            continue;
        }
        if (c != '.')
            return refuse(out, "unexpected character", text_from(s, i));
        if (i == 0 || i == s.len - 1 || s.at[i - 1] == '.')
            return refuse(out, "IPv4 field must have at least one digit", text_from(s, i));
        if (place == 3)
            return refuse(out, "IPv4 address too long", nowhere);
        bytes[place++] = (unsigned char)value;
        value = digits = 0;
    }
    if (place < 3)
        return refuse(out, "IPv4 address too short", nowhere);
    bytes[3] = (unsigned char)value;
    return true;
}

static int hex_of(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* What is read of an address of sixteen bytes. */
struct six {
    struct str rest;
    uint32_t at;      /* bytes that are known */
    int32_t ellipsis; /* where :: stands, or -1 */
};

/* A group of digits; len of them. */
static bool read_group(struct six *r, uint32_t *len, struct address_reading *out)
{
    uint32_t value = 0;
    for (*len = 0; *len < r->rest.len && hex_of(r->rest.at[*len]) >= 0; ++*len) {
        if (*len > 3)
            return refuse(out, "each group must have 4 or less digits", r->rest);
        value = value << 4 | (uint32_t)hex_of(r->rest.at[*len]);
    }
    if (*len == 0)
        return refuse(out, "each colon-separated field must have at least one digit", r->rest);
    out->address.bytes[r->at] = (unsigned char)(value >> 8);
    out->address.bytes[r->at + 1] = (unsigned char)value;
    return true;
}

static bool read_embedded(struct six *r, struct address_reading *out)
{
    if (r->ellipsis < 0 && r->at != 12)
        return refuse(out, "embedded IPv4 address must replace the final 2 fields of the address",
                      r->rest);
    if (r->at + 4 > 16)
        return refuse(out, "too many hex fields to fit an embedded IPv4 at the end of the address",
                      r->rest);
    if (!read_four(r->rest, out->address.bytes + r->at, out))
        return false;
    r->rest.len = 0;
    r->at += 4;
    return true;
}

/* What stands between two groups; nothing is left when the address ends here. */
static bool read_colon(struct six *r, struct address_reading *out)
{
    if (r->rest.at[0] != ':')
        return refuse(out, "unexpected character, want colon", r->rest);
    if (r->rest.len == 1)
        return refuse(out, "colon must be followed by more characters", r->rest);
    r->rest = text_from(r->rest, 1);
    if (r->rest.at[0] != ':')
        return true;
    if (r->ellipsis >= 0)
        return refuse(out, "multiple :: in address", r->rest);
    r->ellipsis = (int32_t)r->at;
    r->rest = text_from(r->rest, 1);
    return true;
}

static bool read_groups(struct six *r, struct address_reading *out)
{
    uint32_t len = 0;
    while (r->at < 16) {
        if (!read_group(r, &len, out))
            return false;
        if (len < r->rest.len && r->rest.at[len] == '.')
            return read_embedded(r, out);
        r->at += 2;
        r->rest = text_from(r->rest, len);
        if (r->rest.len == 0)
            return true;
        if (!read_colon(r, out))
            return false;
        if (r->rest.len == 0)
            return true;
    }
    return true;
}

static bool read_six(struct str s, struct address_reading *out)
{
    const struct str nowhere = {NULL, 0};
    unsigned char *bytes = out->address.bytes;
    struct six r = {.rest = s, .ellipsis = -1};
    int64_t percent = text_find(s, STR_LITERAL("%"));
    out->zoned = percent >= 0;
    out->address.six = true;
    if (out->zoned) {
        if (percent + 1 == s.len)
            return refuse(out, "zone must be a non-empty string", nowhere);
        r.rest = text_first(s, (uint32_t)percent);
    }
    if (r.rest.len >= 2 && r.rest.at[0] == ':' && r.rest.at[1] == ':') {
        r.ellipsis = 0;
        r.rest = text_from(r.rest, 2);
        if (r.rest.len == 0)
            return true;
    }
    if (!read_groups(&r, out))
        return false;
    if (r.rest.len > 0)
        return refuse(out, "trailing garbage after address", r.rest);
    if (r.at == 16 && r.ellipsis >= 0)
        return refuse(out, "the :: must expand to at least one field of zeros", nowhere);
    if (r.at == 16)
        return true;
    if (r.ellipsis < 0)
        return refuse(out, "address string too short", nowhere);
    uint32_t behind = r.at - (uint32_t)r.ellipsis, gap = 16 - r.at;
    memmove(bytes + 16 - behind, bytes + r.ellipsis, behind);
    memset(bytes + r.ellipsis, 0, gap);
    return true;
}

bool address_read(struct str s, struct address_reading *out)
{
    const struct str nowhere = {NULL, 0};
    *out = (struct address_reading){.why = NULL};
    for (uint32_t i = 0; i < s.len; i++)
        switch (s.at[i]) {
        case '.': return read_four(s, out->address.bytes, out);
        case ':': return read_six(s, out);
        case '%': return refuse(out, "missing IPv6 address", nowhere);
        default: break;
        }
    return refuse(out, "unable to parse IP", nowhere);
}

static uint32_t group_of(const struct address *a, uint32_t i)
{
    const unsigned char *two = a->bytes + 2 * (size_t)i;
    return (uint32_t)two[0] << 8 | two[1];
}

/* The first of the longest rows of two and more groups that are zero. */
static void longest_gap(const struct address *a, uint32_t *begin, uint32_t *end)
{
    *begin = *end = 8;
    for (uint32_t i = 0, j = 0; i < 8; i++) {
        for (j = i; j < 8 && group_of(a, j) == 0;)
            j++;
        if (j - i < 2 || j - i <= *end - *begin)
            continue;
        *begin = i;
        *end = j;
    }
}

void address_print(struct buffer *b, const struct address *a)
{
    uint32_t begin = 0, end = 0;
    if (!a->six) {
        buffer_print(b, "%u.%u.%u.%u", a->bytes[0], a->bytes[1], a->bytes[2], a->bytes[3]);
        return;
    }
    longest_gap(a, &begin, &end);
    for (uint32_t i = 0; i < 8; i++) {
        if (i == begin) {
            buffer_add_text(b, "::");
            i = end;
            if (i == 8)
                return;
        } else if (i > 0) {
            buffer_add_text(b, ":");
        }
        buffer_print(b, "%x", group_of(a, i));
    }
}

bool address_equal(const struct address *a, const struct address *b)
{
    return a->six == b->six && a->bits == b->bits && memcmp(a->bytes, b->bytes, 16) == 0;
}

bool address_is_mapped(const struct address *a)
{
    static const unsigned char prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return a->six && memcmp(a->bytes, prefix, sizeof(prefix)) == 0;
}

bool address_is_small(const struct address *a, unsigned char last)
{
    uint32_t len = address_bytes(a);
    for (uint32_t i = 0; i + 1 < len; i++)
        if (a->bytes[i] != 0)
            return false;
    return a->bytes[len - 1] == last;
}

struct address address_masked(const struct address *a)
{
    struct address masked = *a;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t keep = a->bits > 8 * i ? a->bits - 8 * i : 0;
        if (keep < 8)
            masked.bytes[i] &= (unsigned char)(0xff00u >> keep);
    }
    return masked;
}

bool address_shares(const struct address *a, const struct address *b, uint32_t bits)
{
    struct address x = *a, y = *b;
    x.bits = y.bits = bits;
    x = address_masked(&x);
    y = address_masked(&y);
    return address_equal(&x, &y);
}
