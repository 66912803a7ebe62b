/* Label and field selectors, parsed once and matched against the indexed part of an object. */
#ifndef APISERVER_SELECTION_H
#define APISERVER_SELECTION_H

#include "registry.h"

struct selection;

/* Parses both selectors (NULL or "" selects everything). On failure returns NULL and writes why,
 * without the resource, into reason. */
struct selection *selection_parse(const struct resource *resource, const char *labels,
                                  const char *fields, struct buffer *reason);
bool selection_matches(const struct selection *selection, const struct object *object);
/* True when everything matches. */
bool selection_is_empty(const struct selection *selection);
void selection_free(struct selection *selection);

#endif
