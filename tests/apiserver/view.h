/* The two shapes of an event: core/v1, which is stored, and events.k8s.io/v1, a view of it. */
#ifndef APISERVER_VIEW_H
#define APISERVER_VIEW_H

#include "registry.h"

/* The stored bytes, or those of the view, made when first asked for. Borrowed. */
struct blob *view_json(const struct resource *resource, struct object *object);
/* Turn a tree of the resource's shape into the stored one, or back; nothing to do without a view.
 */
void view_to_stored(const struct resource *resource, cJSON *tree);
void view_from_stored(const struct resource *resource, cJSON *tree);

#endif
