/* base64: four characters to three bytes and back. The one idea is a bit accumulator; what must
 * stay true: padding is only accepted at the end, and a lone trailing character never. */
#include "proto/kube/documents/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool base64_decode(struct str text, struct buffer *out)
{
    uint32_t bits = 0, characters = 0, padding = 0;
    char *to = buffer_reserve(out, text.len); /* it becomes shorter */
    for (uint32_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (is_blank(c))
            continue;
        if (c == '=') {
            padding++;
            continue;
        }
        int value = value_of(c);
        if (value < 0 || padding > 0) {
            out->at[out->len] = 0;
            return false;
        }
        bits = bits << 6 | (uint32_t)value;
        characters++;
        if (characters % 4 != 1) {
            int shift = 6 - 2 * (int)((characters + 3) % 4);
            *to++ = (char)(bits >> shift);
        }
    }
    *to = 0;
    out->len = (size_t)(to - out->at);
    uint32_t rest = characters % 4;
    return padding <= 2 && rest != 1 && (padding == 0 || rest + padding == 4);
}

void base64_encode(struct str bytes, struct buffer *out)
{
    char *to = buffer_reserve(out, ((size_t)bytes.len + 2) / 3 * 4);
    for (uint32_t i = 0; i < bytes.len; i += 3) {
        uint32_t left = bytes.len - i, bits = 0;
        for (uint32_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < left ? (uint8_t)bytes.at[i + k] : 0u);
        for (uint32_t k = 0; k < 4; k++) {
            char c = '=';
            if (k <= left)
                c = alphabet[bits >> (18 - 6 * k) & 63];
            *to++ = c;
        }
    }
    *to = 0;
    out->len = (size_t)(to - out->at);
}
