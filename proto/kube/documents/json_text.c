/* json_text: the way back from a tree to text. What must stay true: whatever kube_json read, what
 * is written here reads back as the same values; a walk is no deeper than KUBE_JSON_DEPTH_MAX,
 * which the reader has seen to. */
#include "proto/kube/documents/json_text.h"
#include "proto/base/json_string.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WHOLE_MOST 1e21 /* integers below are written without an exponent, as in Go */

/* The shortest text that reads back as the same number. */
static void add_number(struct buffer *out, double number)
{
    char text[64];
    if (number == floor(number) && fabs(number) < WHOLE_MOST) {
        buffer_print(out, "%.0f", number == 0 ? 0 : number);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    buffer_add_text(out, text);
}

static void add_scalar(struct buffer *out, const struct kube_json *value)
{
    int64_t whole;
    double number;
    if (kube_json_is_string(value))
        json_string(out, kube_json_text(value));
    else if (kube_json_i64(value, &whole))
        buffer_print(out, "%" PRId64, whole);
    else if (kube_json_number(value, &number))
        add_number(out, number);
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
            json_string(out, kube_json_name(c));
            buffer_add(out, ":", 1);
        }
        json_text_value(out, c, without);
    }
    buffer_add(out, object ? "}" : "]", 1);
}

void kube_json_write(const struct kube_json *value, struct buffer *out)
{
    json_text_value(out, value, NULL);
}
