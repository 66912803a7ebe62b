/* quote: a text in quotes, as Go's %q has it; so upstream puts it into its errors. */
#ifndef KUBE_DOCUMENTS_QUOTE_H
#define KUBE_DOCUMENTS_QUOTE_H

#include "proto/base/buffer.h"

void kube_quote(struct str text, struct buffer *out);

#endif
