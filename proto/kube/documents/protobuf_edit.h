/* protobuf_edit: changes of a message in a few places. All other fields stay byte for byte what
 * they are, also those that nobody knows. */
#ifndef KUBE_DOCUMENTS_PROTOBUF_EDIT_H
#define KUBE_DOCUMENTS_PROTOBUF_EDIT_H

#include "proto/base/buffer.h"

enum protobuf_change_kind {
    PROTOBUF_drop,      /* all fields of that number */
    PROTOBUF_drop_text, /* those with these bytes */
    PROTOBUF_drop_with, /* the messages that have, in inside->field, inside->bytes */
    PROTOBUF_add,       /* a field more, with these bytes */
    PROTOBUF_into       /* the message in that field is changed, or made */
};

struct protobuf_change {
    uint32_t field;
    enum protobuf_change_kind kind;
    struct str bytes;
    const struct protobuf_change *inside;
    size_t count;
};

/* Appends the changed message. False when it is malformed, as far as it was looked at. */
bool protobuf_edit(struct buffer *out, struct str message, const struct protobuf_change *changes,
                   size_t count);
/* The same of the object in a body with an envelope. */
bool protobuf_edit_body(struct buffer *out, struct str body, const struct protobuf_change *changes,
                        size_t count);

#endif
