/* The Table rendering that `kubectl get` asks for. */
#ifndef APISERVER_TABLE_H
#define APISERVER_TABLE_H

#include "server.h"

/* True when the Accept header prefers a Table. */
bool table_wanted(const struct request *request);
struct blob *table_of_object(const struct request *request, struct object *object);
/* metadata is the list's metadata, taken. */
struct blob *table_of_list(const struct request *request, struct object *const *objects,
                           size_t count, cJSON *metadata);
/* What a watcher keeps of a request, so that it can render rows later. */
struct table_style {
    const struct resource *resource;
    bool whole_objects; /* rows carry the object, not only its metadata */
};
struct table_style table_style_of(const struct request *request);
struct blob *table_render(const struct table_style *style, struct object *const *objects,
                          size_t count, cJSON *metadata);

#endif
