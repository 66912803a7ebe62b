/* uuid: half of a pod's UID is redundant, and there may be a million. What must stay true: only
 * texts that printing gives back to the letter are packed. */
#include "proto/base/uuid.h"

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_dash(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

bool uuid_pack(struct str text, uint8_t *bytes)
{
    size_t n = 0;
    if (text.len != UUID_TEXT)
        return false;
    for (size_t i = 0; i < UUID_TEXT; i++) {
        if (is_dash(i)) {
            if (text.at[i] != '-')
                return false;
            continue;
        }
        int value = digit(text.at[i]);
        if (value < 0)
            return false;
        bytes[n / 2] = (uint8_t)(n % 2 ? bytes[n / 2] | value : value << 4);
        n++;
    }
    return true;
}

void uuid_print(const uint8_t *bytes, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0, n = 0; i < UUID_TEXT; i++) {
        if (is_dash(i)) {
            text[i] = '-';
            continue;
        }
        text[i] = digits[n % 2 ? bytes[n / 2] & 15 : bytes[n / 2] >> 4];
        n++;
    }
}
