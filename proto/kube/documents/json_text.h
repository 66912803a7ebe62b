/* json_text: a value that was read, written into a buffer as JSON again, in part. */
#ifndef KUBE_DOCUMENTS_JSON_TEXT_H
#define KUBE_DOCUMENTS_JSON_TEXT_H

#include "proto/kube/documents/json.h"

/* As kube_json_write, but members called without (NULL: none) are left out, wherever they are. */
void json_text_value(struct buffer *out, const struct kube_json *value, const char *without);

#endif
