/* utf8: one character, by the table of well-formed byte sequences in the Unicode standard (3.9):
 * the first byte says how many there are, the second alone has narrower bounds after some. */
#include "proto/base/utf8.h"

static bool follows(unsigned char first, unsigned char second)
{
    unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= least && second <= most;
}

uint32_t utf8_length(struct str text)
{
    const unsigned char *at = (const unsigned char *)text.at;
    if (text.len == 0)
        return 0;
    if (at[0] < 0x80)
        return 1;
    uint32_t len = at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
    if (len == 0 || len > text.len || !follows(at[0], at[1]))
        return 0;
    for (uint32_t i = 2; i < len; i++)
        if (at[i] >> 6 != 2)
            return 0;
    return len;
}
