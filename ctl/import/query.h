/* query: what a request's URI asks for behind its question mark. */
#ifndef CTL_IMPORT_QUERY_H
#define CTL_IMPORT_QUERY_H

#include "proto/base/buffer.h"

/* The first parameter of that name, decoded, into value, in place of what is there. False: there is
 * none. */
bool query_get(struct str uri, const char *name, struct buffer *value);

#endif
