/* claim_document: bodies as texts. The one idea: JSON goes as it is, and protobuf in base64, so
 * that messages with it can be printed, read back and recorded like all others. What must stay
 * true: a claim with what is opaque to the API never goes back in JSON, since the API server has
 * changed that in JSON and refuses it then. */
#include "proto/kube/objects/claim_document.h"

#include "proto/kube/documents/base64.h"
#include "proto/kube/documents/protobuf.h"

bool claim_document_wanted(const struct resource_claim *claim)
{
    return !claim->allocated && !claim->deleting;
}

void claim_document_set(struct resource_claim *claim, struct str body, struct arena *a)
{
    bool protobuf = kube_protobuf_is(body);
    claim->document = (struct str){NULL, 0};
    if (body.len > CLAIM_DOCUMENT_MAX || (!protobuf && claim->config.count > 0))
        return;
    if (!protobuf) {
        claim->document = arena_copy(a, body);
        return;
    }
    struct buffer text = {0};
    base64_encode(body, &text);
    claim->document = arena_copy(a, buffer_str(&text));
    buffer_free(&text);
}

bool claim_document_get(const struct device_allocation *allocation, struct buffer *body)
{
    struct str document = allocation->document;
    if (document.len == 0)
        return false;
    if (*document.at != '{')
        return base64_decode(document, body);
    buffer_add_str(body, document);
    return allocation->config.count == 0;
}
