/* query: parameters of a URI. What must stay true: they are read as the API server reads them (Go's
 * net/url): %xx and + are resolved in names and values, and a pair that cannot be is none. */
#include "ctl/import/query.h"

/* A number in 0..15, or -1. */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    int lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* False: an escape is none. */
static bool decode(struct str text, struct buffer *into)
{
    buffer_reset(into);
    for (uint32_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '+')
            c = ' ';
        if (c == '%') {
            int high = i + 2 < text.len ? hex_digit(text.at[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.at[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        buffer_add(into, &c, 1);
    }
    return true;
}

/* What stands behind the first such character, and what before it. */
static struct str cut(struct str *text, char c)
{
    int64_t at = str_find(*text, c);
    if (at < 0)
        return (struct str){NULL, 0};
    struct str behind = {text->at + at + 1, text->len - (uint32_t)at - 1};
    text->len = (uint32_t)at;
    return behind;
}

bool query_get(struct str uri, const char *name, struct buffer *value)
{
    struct str rest = cut(&uri, '?'), pair;
    while (rest.at != NULL && str_split(&rest, "&", &pair)) {
        struct str written = cut(&pair, '=');
        if (decode(pair, value) && str_is(buffer_str(value), name) && decode(written, value))
            return true;
    }
    return false;
}
