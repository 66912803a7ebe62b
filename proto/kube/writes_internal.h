/* writes_internal: the pieces of writes.c that files about one kind of object use as well. */
#ifndef KUBE_WRITES_INTERNAL_H
#define KUBE_WRITES_INTERNAL_H

#include "proto/kube/writes.h"

#include <cjson/cJSON.h>

/* An object of that kind to be put back, numbers as they are written; NULL when it is none. */
cJSON *writes_parse_whole(struct str body, const char *kind);
/* Whether the member is this text; one that is not there is empty. */
bool writes_member_is(const cJSON *object, const char *key, struct str value);
/* Appends the object, unless it has not changed, and frees it. Returns change. */
enum writes_change writes_put(struct buffer *out, cJSON *root, enum writes_change change);

#endif
