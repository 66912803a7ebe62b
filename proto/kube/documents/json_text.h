/* json_text: JSON written straight into a buffer: strings, and whole values that were read. */
#ifndef KUBE_DOCUMENTS_JSON_TEXT_H
#define KUBE_DOCUMENTS_JSON_TEXT_H

#include "proto/base/buffer.h"
#include "proto/kube/documents/json.h"

/* A string with its quotes. */
void json_text_string(struct buffer *out, struct str text);
/* A value. Integers up to 2^53 are written as such, everything else a double holds with 17 digits.
 * Members called without (NULL: none) are left out, wherever they are. */
void json_text_value(struct buffer *out, const struct kube_json *value, const char *without);

#endif
