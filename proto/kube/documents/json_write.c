/* json_write: a value as text again, as JSON or as YAML. The one idea: libyaml's emitter is what
 * the YAML library of Kubernetes was translated from, so with the same choice of styles it writes
 * the same bytes. What must stay true: what is written reads back as the same value. */
#include "proto/kube/documents/json.h"
#include "proto/kube/documents/yaml_scalar.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define WHOLE_MOST 1e21 /* integers below are written without an exponent, as in Go */

/* The shortest text that reads back as the same number. */
static void number_text(double number, char out[64])
{
    if (number == floor(number) && fabs(number) < WHOLE_MOST) {
        snprintf(out, 64, "%.0f", number == 0 ? 0 : number);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, 64, "%.*g", digits, number);
        if (strtod(out, NULL) == number)
            return;
    }
}

static void add_quoted(struct str text, struct buffer *out)
{
    buffer_add_text(out, "\"");
    for (uint32_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '"' || c == '\\')
            buffer_print(out, "\\%c", c);
        else if (c < 0x20)
            buffer_print(out, "\\u%04x", c);
        else
            buffer_add(out, &text.at[i], 1);
    }
    buffer_add_text(out, "\"");
}

static void write_scalar(const struct kube_json *value, struct buffer *out)
{
    double number = 0;
    int64_t whole = 0;
    char digits[64];
    if (kube_json_is_string(value)) {
        add_quoted(kube_json_text(value), out);
    } else if (kube_json_i64(value, &whole)) {
        buffer_print(out, "%lld", (long long)whole);
    } else if (kube_json_number(value, &number)) {
        number_text(number, digits);
        buffer_add_text(out, digits);
    } else if (kube_json_is_bool(value)) {
        buffer_add_text(out, kube_json_true(value) ? "true" : "false");
    } else {
        buffer_add_text(out, "null");
    }
}

/* Recursion is bounded by KUBE_JSON_DEPTH_MAX, which the parser holds. */
/* NOLINTBEGIN(misc-no-recursion) */
void kube_json_write(const struct kube_json *value, struct buffer *out)
{
    bool object = kube_json_is_object(value);
    if (!object && !kube_json_is_array(value)) {
        write_scalar(value, out);
        return;
    }
    buffer_add_text(out, object ? "{" : "[");
    const struct kube_json *first = kube_json_first(value);
    for (const struct kube_json *c = first; c != NULL; c = kube_json_next(c)) {
        if (c != first)
            buffer_add_text(out, ",");
        if (object) {
            add_quoted(kube_json_name(c), out);
            buffer_add_text(out, ":");
        }
        kube_json_write(c, out);
    }
    buffer_add_text(out, object ? "}" : "]");
}

/* ---- YAML ---- */

static int add_bytes(void *out, unsigned char *bytes, size_t count)
{
    buffer_add(out, bytes, count);
    return 1;
}

static void emit(yaml_emitter_t *e, yaml_event_t *event)
{
    must(yaml_emitter_emit(e, event)); /* fails on events out of order only */
}

static void emit_scalar(yaml_emitter_t *e, struct str text, yaml_scalar_style_t style)
{
    yaml_event_t event;
    must(yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text.at,
                                      (int)text.len, 1, 1, style));
    emit(e, &event);
}

/* Bytes of the UTF-8 character at the beginning, 0: there is none. */
static uint32_t character_at(struct str text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text.at[0];
    uint32_t len = first < 0x80             ? 1
                   : (first & 0xe0) == 0xc0 ? 2
                   : (first & 0xf0) == 0xe0 ? 3
                   : (first & 0xf8) == 0xf0 ? 4
                                            : 0;
    uint32_t code = len > 1 ? first & (0xffu >> (len + 1)) : first;
    if (len == 0 || len > text.len)
        return 0;
    for (uint32_t i = 1; i < len; i++) {
        if (((unsigned char)text.at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | ((unsigned char)text.at[i] & 0x3f);
    }
    return code >= least[len] ? len : 0;
}

/* Bytes that are no UTF-8 become U+FFFD, as Go's JSON has it. */
static void add_characters(struct str text, struct buffer *out)
{
    buffer_add(out, "", 0);
    while (text.len > 0) {
        uint32_t len = character_at(text);
        if (len > 0)
            buffer_add(out, text.at, len);
        else
            buffer_add_text(out, "\357\277\275");
        len = len > 0 ? len : 1;
        text = (struct str){text.at + len, text.len - len};
    }
}

/* A text is quoted where plain it would mean something else; over several lines it is a block. */
static void emit_text(yaml_emitter_t *e, struct str text)
{
    struct buffer copy = {0};
    add_characters(text, &copy);
    bool plain = text.len > 0 && yaml_value_of(copy.at).kind == YAML_text;
    yaml_scalar_style_t style = str_find(text, '\n') >= 0 ? YAML_LITERAL_SCALAR_STYLE
                                : plain                   ? YAML_PLAIN_SCALAR_STYLE
                                                          : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    emit_scalar(e, buffer_str(&copy), style);
    buffer_free(&copy);
}

static int by_name(const void *a, const void *b)
{
    const struct kube_json *const *one = a, *const *other = b;
    return str_compare(kube_json_name(*one), kube_json_name(*other));
}

static void emit_value(yaml_emitter_t *e, const struct kube_json *value);

static void emit_object(yaml_emitter_t *e, const struct kube_json *value)
{
    yaml_event_t event;
    size_t count = kube_json_count(value), n = 0;
    const struct kube_json **members = memory_take((count + 1) * sizeof(void *));
    for (const struct kube_json *c = kube_json_first(value); c != NULL; c = kube_json_next(c))
        members[n++] = c;
    qsort(members, n, sizeof(void *), by_name);
    must(yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
    emit(e, &event);
    for (size_t i = 0; i < n; i++) {
        emit_text(e, kube_json_name(members[i]));
        emit_value(e, members[i]);
    }
    must(yaml_mapping_end_event_initialize(&event));
    emit(e, &event);
    memory_free(members);
}

static void emit_list(yaml_emitter_t *e, const struct kube_json *value)
{
    yaml_event_t event;
    must(yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
    emit(e, &event);
    for (const struct kube_json *c = kube_json_first(value); c != NULL; c = kube_json_next(c))
        emit_value(e, c);
    must(yaml_sequence_end_event_initialize(&event));
    emit(e, &event);
}

static void emit_value(yaml_emitter_t *e, const struct kube_json *value)
{
    struct buffer text = {0};
    if (kube_json_is_object(value)) {
        emit_object(e, value);
    } else if (kube_json_is_array(value)) {
        emit_list(e, value);
    } else if (kube_json_is_string(value)) {
        emit_text(e, kube_json_text(value));
    } else {
        write_scalar(value, &text);
        emit_scalar(e, buffer_str(&text), YAML_PLAIN_SCALAR_STYLE);
    }
    buffer_free(&text);
}

/* NOLINTEND(misc-no-recursion) */

void kube_json_write_yaml(const struct kube_json *value, struct buffer *out)
{
    yaml_emitter_t emitter;
    yaml_event_t event;
    must(yaml_emitter_initialize(&emitter));
    yaml_emitter_set_output(&emitter, add_bytes, out);
    yaml_emitter_set_unicode(&emitter, 1);
    must(yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(&emitter, &event);
    must(yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    emit(&emitter, &event);
    emit_value(&emitter, value);
    must(yaml_document_end_event_initialize(&event, 1));
    emit(&emitter, &event);
    must(yaml_stream_end_event_initialize(&event));
    emit(&emitter, &event);
    yaml_emitter_delete(&emitter);
}
