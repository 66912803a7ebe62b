/* json_text: the way back from a tree to text. What must stay true: whatever kube_json read, what
 * is written here reads back as the same values; a walk is no deeper than KUBE_JSON_DEPTH_MAX,
 * which the reader has seen to. */
#include "proto/kube/documents/json_text.h"

#include <inttypes.h>
#include <string.h>

static void escape(struct buffer *out, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *known = memchr(from, c, sizeof(from) - 1);
    if (known != NULL)
        buffer_print(out, "\\%c", to[known - from]);
    else
        buffer_print(out, "\\u%04x", c);
}

void json_text_string(struct buffer *out, struct str text)
{
    uint32_t plain = 0; /* where what is not yet written begins */
    buffer_add(out, "\"", 1);
    for (uint32_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        buffer_add(out, text.at + plain, i - plain);
        plain = i + 1;
        escape(out, c);
    }
    if (text.len > plain)
        buffer_add(out, text.at + plain, text.len - plain);
    buffer_add(out, "\"", 1);
}

static void add_scalar(struct buffer *out, const struct kube_json *value)
{
    int64_t whole;
    double number;
    if (kube_json_i64(value, &whole))
        buffer_print(out, "%" PRId64, whole);
    else if (kube_json_number(value, &number))
        buffer_print(out, "%.17g", number);
    else if (kube_json_is_string(value))
        json_text_string(out, kube_json_text(value));
    else if (kube_json_is_bool(value))
        buffer_add_text(out, kube_json_true(value) ? "true" : "false");
    else
        buffer_add_text(out, "null");
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the document, which the reader bounds */
void json_text_value(struct buffer *out, const struct kube_json *value, const char *without)
{
    bool object = kube_json_is_object(value);
    if (!object && !kube_json_is_array(value)) {
        add_scalar(out, value);
        return;
    }
    bool first = true;
    buffer_add(out, object ? "{" : "[", 1);
    for (const struct kube_json *c = kube_json_first(value); c != NULL; c = kube_json_next(c)) {
        if (object && without != NULL && str_is(kube_json_name(c), without))
            continue;
        if (!first)
            buffer_add(out, ",", 1);
        first = false;
        if (object) {
            json_text_string(out, kube_json_name(c));
            buffer_add(out, ":", 1);
        }
        json_text_value(out, c, without);
    }
    buffer_add(out, object ? "}" : "]", 1);
}
