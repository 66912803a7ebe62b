/* protobuf_put: bytes of application/vnd.kubernetes.protobuf, field by field.
 *
 *   size_t raw = protobuf_begin(&out, STR_LITERAL("v1"), STR_LITERAL("Binding"));
 *   size_t meta = protobuf_open(&out, 1);
 *   protobuf_put_text(&out, 1, name);
 *   protobuf_close(&out, meta);
 *   protobuf_close(&out, raw);
 *
 * What is opened last is closed first. */
#ifndef KUBE_DOCUMENTS_PROTOBUF_PUT_H
#define KUBE_DOCUMENTS_PROTOBUF_PUT_H

#include "proto/base/buffer.h"

/* Field numbers are 1 to 2^29 - 1. A text or number that is empty or 0 is left out. */
void protobuf_put_text(struct buffer *out, uint32_t field, struct str text);
void protobuf_put_number(struct buffer *out, uint32_t field, int64_t number);
/* The same of a number or a flag that is given even as 0. */
void protobuf_put_given(struct buffer *out, uint32_t field, int64_t number);
/* An instant as metav1.Time and MicroTime are. */
void protobuf_put_time(struct buffer *out, uint32_t field, int64_t wall_us);
/* A message in a field: what is put until it is closed. */
size_t protobuf_open(struct buffer *out, uint32_t field);
void protobuf_close(struct buffer *out, size_t opened);
/* The beginning of a body, up to the object's own fields; closed like a message. */
size_t protobuf_begin(struct buffer *out, struct str api_version, struct str kind);

#endif
