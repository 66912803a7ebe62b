/* spot: a place in a JSON document that knows its path, for typed reading with errors that name it.
 *
 * Spots chain upwards to their parents on the caller's stack; the path becomes text only when
 * something is wrong. The first error of a reading is kept, reading goes on and gives zeroes. */
#ifndef KUBE_DOCUMENTS_SPOT_H
#define KUBE_DOCUMENTS_SPOT_H

#include "proto/codec.h"
#include "proto/kube/documents/json.h"
#include "proto/kube/documents/quantity.h"

/* One walk through one document. */
struct reading {
    struct arena *arena; /* everything that is read is copied into it */
    const char *subject; /* before the path in errors, such as "Pod default/a"; may be NULL */
    struct str error;
    bool failed;
};

struct spot {
    struct reading *reading;
    const struct spot *up;
    const char *name; /* of a member; NULL: an item of a list, or the root */
    size_t index;
    const struct kube_json *value; /* NULL: not there */
};

struct spot spot_root(struct reading *reading, const struct kube_json *document);
/* A member of any type; missing and null give a spot without a value. */
struct spot spot_member(const struct spot *up, const char *name);
/* The same, and anything there that is no object (no list) is an error and counts as missing. */
struct spot spot_object(const struct spot *up, const char *name);
struct spot spot_list(const struct spot *up, const char *name);

/* Walks the children: for (struct spot c = spot_first(&list); c.value; c = spot_next(&c)). */
struct spot spot_first(const struct spot *list_or_object);
struct spot spot_next(const struct spot *child);

/* Scalars by name; missing gives zero, another type is an error. Texts are copied. */
struct str spot_text(const struct spot *up, const char *name);
bool spot_bool(const struct spot *up, const char *name);
int64_t spot_i64(const struct spot *up, const char *name);
int64_t spot_i32(const struct spot *up, const char *name); /* refuses what does not fit 32 bits */
/* RFC 3339, to microseconds since 1970. */
int64_t spot_time(const struct spot *up, const char *name);
/* A list of strings; at is NULL when there is none, and not when there is an empty one. */
struct strs spot_texts(const struct spot *up, const char *name);
/* The spot's own value. */
struct str spot_own_text(const struct spot *spot);
struct kube_quantity spot_own_quantity(const struct spot *spot);

/* False, with an error, unless the spot (when it is there) is an object, or a null in a list, which
 * Go takes for an empty one. */
bool spot_is_object(const struct spot *spot);

/* count zeroed elements from the arena; NULL with an error when it is over its limit. */
void *spot_take(const struct spot *spot, size_t count, size_t size);
/* Records `subject: path: text` as the error unless there is one already. */
void spot_fail(const struct spot *spot, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds the path, such as spec.containers[0].name. */
void spot_path(const struct spot *spot, struct buffer *out);

#endif
