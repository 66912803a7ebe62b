/* yaml_write: a value as YAML. The one idea: libyaml's emitter is what the YAML library of
 * Kubernetes was translated from, so with the same choice of styles it writes the same bytes. What
 * must stay true: what is written reads back as the same value. */
#include "proto/kube/documents/json.h"
#include "proto/kube/documents/yaml_scalar.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/utf8.h"

#include <stdlib.h>
#include <yaml.h>

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

/* Bytes that are no UTF-8 become U+FFFD, as Go's JSON has it. */
static void add_characters(struct str text, struct buffer *out)
{
    buffer_add(out, "", 0);
    while (text.len > 0) {
        uint32_t len = utf8_length(text);
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

/* Recursion is bounded by KUBE_JSON_DEPTH_MAX, which the parser holds. */
/* NOLINTBEGIN(misc-no-recursion) */
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
        kube_json_write(value, &text);
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
