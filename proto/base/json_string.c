/* json_string: a text is cut into runs that stay as they are and single bytes that are escaped.
 * What must stay true: a text of plain ASCII, as most are, is one run: a few comparisons a byte and
 * one copy. */
#include "proto/base/json_string.h"
#include "proto/base/utf8.h"

#include <string.h>

/* Bytes at the front that stay as they are. */
static uint32_t run_of(struct str text)
{
    uint32_t i = 0;
    while (i < text.len) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < 0x20 || c == '"' || c == '\\')
            break;
        uint32_t len = c < 0x80 ? 1 : utf8_length((struct str){text.at + i, text.len - i});
        if (len == 0)
            break;
        i += len;
    }
    return i;
}

static struct str escape(unsigned char c, char room[static JSON_STRING_GROWTH])
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt", digits[] = "0123456789abcdef";
    const char *known = memchr(from, c, sizeof(from) - 1);
    if (c >= 0x80)
        return STR_LITERAL("\\ufffd");
    if (known == NULL) {
        memcpy(room, (char[]){'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]}, 6);
        return (struct str){room, 6};
    }
    room[0] = '\\';
    room[1] = to[known - from];
    return (struct str){room, 2};
}

struct str json_string_piece(struct str *text, char room[static JSON_STRING_GROWTH])
{
    if (text->len == 0)
        return *text;
    uint32_t run = run_of(*text), taken = run > 0 ? run : 1;
    struct str piece = {text->at, run};
    if (run == 0)
        piece = escape((unsigned char)text->at[0], room);
    *text = (struct str){text->at + taken, text->len - taken};
    return piece;
}

void json_string(struct buffer *out, struct str text)
{
    char room[JSON_STRING_GROWTH];
    buffer_add(out, "\"", 1);
    while (text.len > 0)
        buffer_add_str(out, json_string_piece(&text, room));
    buffer_add(out, "\"", 1);
}
