/* Request bodies in protobuf, which client-go prefers for the built-in kinds. */
#ifndef APISERVER_PROTOBUF_H
#define APISERVER_PROTOBUF_H

#include "tree.h"

/* True for bodies that protobuf_parse reads. */
bool protobuf_is(const char *content_type);
/* The body as the tree that its JSON form would give; NULL when it is malformed or of a kind that
 * is not in the table. Fields that are not in the table are skipped. */
cJSON *protobuf_parse(const char *bytes, size_t size);

#endif
