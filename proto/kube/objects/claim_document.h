/* claim_document: a ResourceClaim whole, on its way from whoever reads it to whoever writes it, so
 * that it can be put back without being read again. */
#ifndef KUBE_OBJECTS_CLAIM_DOCUMENT_H
#define KUBE_OBJECTS_CLAIM_DOCUMENT_H

#include "proto/base/buffer.h"
#include "proto/messages.h"

/* Of longer ones none is made: who writes the claim reads it. In bytes of the body. */
#define CLAIM_DOCUMENT_MAX 8192

/* Whether devices may still be given to it; of others nobody wants a document. */
bool claim_document_wanted(const struct resource_claim *claim);
/* The body (JSON or protobuf, as a GET answers) as the claim's document, a text in memory of the
 * arena. Empty when the body is too long or cannot be put back as it came. */
void claim_document_set(struct resource_claim *claim, struct str body, struct arena *a);
/* Appends the body that the document of an allocation was made of. False when there is none, or
 * when it should not be written with what the allocation has. */
bool claim_document_get(const struct device_allocation *allocation, struct buffer *body);

#endif
