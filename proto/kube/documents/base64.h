/* base64: the encoding of inline certificates in kubeconfig files, and of bytes in messages that
 * are to be texts (RFC 4648, with padding). */
#ifndef KUBE_DOCUMENTS_BASE64_H
#define KUBE_DOCUMENTS_BASE64_H

#include "proto/base/buffer.h"

/* Appends the decoded bytes; line breaks and blanks are skipped. False when text is not base64. */
bool base64_decode(struct str text, struct buffer *out);
void base64_encode(struct str bytes, struct buffer *out);

#endif
