/* quote: byte by byte. What must stay true: a byte above 0x7f stays as it is, whether the text is
 * UTF-8 or not. */
#include "proto/kube/documents/quote.h"

#include <string.h>

void kube_quote(struct str text, struct buffer *out)
{
    static const char escapes[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
    buffer_add_text(out, "\"");
    for (uint32_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        const char *escape = c != 0 ? strchr(escapes, c) : NULL;
        if (c == '"' || c == '\\')
            buffer_print(out, "\\%c", c);
        else if (escape != NULL)
            buffer_print(out, "\\%c", letters[escape - escapes]);
        else if (c < 0x20 || c == 0x7f)
            buffer_print(out, "\\x%02x", c);
        else
            buffer_add(out, &text.at[i], 1);
    }
    buffer_add_text(out, "\"");
}
