/* otlp: writes the few messages of OpenTelemetry's protocol that a span needs. What must stay true:
 * ids are bytes of the length that the protocol wants, and texts are UTF-8, since a receiver that
 * is strict refuses the whole request for one that is not. */
#include "proto/kube/tracing/otlp.h"

#include "proto/base/utf8.h"
#include "proto/kube/documents/protobuf_put.h"

/* Numbers of fields and values of the protocol's enums. */
#define SPAN_KIND_INTERNAL 1
#define SPAN_KIND_CLIENT   3
#define STATUS_CODE_ERROR  2

#define ID_BYTES_MAX 16

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_hex(struct str text, uint32_t len)
{
    for (uint32_t i = 0; i < text.len; i++)
        if (digit(text.at[i]) < 0)
            return false;
    return text.len == len;
}

bool otlp_takes(const struct trace_span *span)
{
    return is_hex(span->trace_id, 32) && is_hex(span->span_id, 16) &&
           (span->parent.len == 0 || is_hex(span->parent, 16));
}

static void put_id(struct buffer *out, uint32_t field, struct str hex)
{
    char bytes[ID_BYTES_MAX];
    uint32_t len = hex.len / 2 < ID_BYTES_MAX ? hex.len / 2 : ID_BYTES_MAX;
    for (uint32_t i = 0; i < len; i++)
        bytes[i] = (char)(digit(hex.at[2 * (size_t)i]) * 16 + digit(hex.at[2 * (size_t)i + 1]));
    protobuf_put_text(out, field, (struct str){bytes, len});
}

/* fixed64; its key takes one byte, as the field is below 16. */
static void put_fixed64(struct buffer *out, uint32_t field, uint64_t value)
{
    char bytes[9] = {(char)(field << 3 | 1)};
    for (int i = 0; i < 8; i++)
        bytes[1 + i] = (char)(value >> (8 * i) & 0xff);
    buffer_add(out, bytes, sizeof(bytes));
}

/* A text that is no UTF-8 is left out: it came from a peer, and names nothing of ours. */
static void put_utf8(struct buffer *out, uint32_t field, struct str text)
{
    uint32_t at = 0, len = 1;
    while (at < text.len && (len = utf8_length((struct str){text.at + at, text.len - at})) > 0)
        at += len;
    if (at == text.len)
        protobuf_put_text(out, field, text);
}

static void put_text_attribute(struct buffer *out, uint32_t field, struct str key, struct str text)
{
    size_t pair = protobuf_open(out, field);
    put_utf8(out, 1, key);
    size_t value = protobuf_open(out, 2);
    put_utf8(out, 1, text);
    protobuf_close(out, value);
    protobuf_close(out, pair);
}

static void put_attribute(struct buffer *out, uint32_t field, const struct span_attribute *a)
{
    if (a->text.len > 0) {
        put_text_attribute(out, field, a->key, a->text);
        return;
    }
    size_t pair = protobuf_open(out, field);
    put_utf8(out, 1, a->key);
    size_t value = protobuf_open(out, 2);
    protobuf_put_given(out, 3, a->number);
    protobuf_close(out, value);
    protobuf_close(out, pair);
}

/* Calls of the API server are a client's; all else happens inside of berth. */
static int64_t kind_of(const struct trace_span *span)
{
    for (uint32_t i = 0; i < span->attributes.count; i++)
        if (str_is(span->attributes.at[i].key, "http.request.method"))
            return SPAN_KIND_CLIENT;
    return SPAN_KIND_INTERNAL;
}

void otlp_add_span(struct buffer *out, const struct trace_span *span)
{
    int64_t begin = span->begin_us > 0 ? span->begin_us : 0;
    int64_t end = span->end_us > begin ? span->end_us : begin;
    size_t at = protobuf_open(out, 2);
    put_id(out, 1, span->trace_id);
    put_id(out, 2, span->span_id);
    put_id(out, 4, span->parent);
    put_utf8(out, 5, span->name);
    protobuf_put_number(out, 6, kind_of(span));
    put_fixed64(out, 7, (uint64_t)begin * 1000);
    put_fixed64(out, 8, (uint64_t)end * 1000);
    for (uint32_t i = 0; i < span->attributes.count; i++)
        put_attribute(out, 9, &span->attributes.at[i]);
    if (span->error.len > 0) {
        size_t status = protobuf_open(out, 15);
        put_utf8(out, 2, span->error);
        protobuf_put_number(out, 3, STATUS_CODE_ERROR);
        protobuf_close(out, status);
    }
    protobuf_close(out, at);
}

void otlp_add_service(struct buffer *out, struct str service, const char *version, struct str spans)
{
    size_t all = protobuf_open(out, 1);
    size_t resource = protobuf_open(out, 1);
    put_text_attribute(out, 1, STR_LITERAL("service.name"), service);
    put_text_attribute(out, 1, STR_LITERAL("service.version"), str_of(version));
    put_text_attribute(out, 1, STR_LITERAL("service.namespace"), STR_LITERAL("berth"));
    protobuf_close(out, resource);
    size_t scope_spans = protobuf_open(out, 2);
    size_t scope = protobuf_open(out, 1);
    protobuf_put_text(out, 1, STR_LITERAL("berth"));
    protobuf_put_text(out, 2, str_of(version));
    protobuf_close(out, scope);
    buffer_add_str(out, spans);
    protobuf_close(out, scope_spans);
    protobuf_close(out, all);
}
