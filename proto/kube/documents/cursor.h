/* cursor: a place in a JSON document that knows its path, for typed reading with errors that name
 * it.
 *
 * Cursors chain upwards to their parents on the caller's stack; the path becomes text only when
 * something is wrong. The first error of a reading is kept, reading goes on and gives zeroes. */
#ifndef KUBE_DOCUMENTS_CURSOR_H
#define KUBE_DOCUMENTS_CURSOR_H

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

struct cursor {
    struct reading *reading;
    const struct cursor *up;
    const char *name; /* of a member; NULL: an item of a list, or the root */
    size_t index;
    const struct kube_json *value; /* NULL: not there */
};

struct cursor cursor_root(struct reading *reading, const struct kube_json *document);
/* A member of any type; missing and null give a cursor without a value. */
struct cursor cursor_member(const struct cursor *up, const char *name);
/* The same, and anything there that is no object (no list) is an error and counts as missing. */
struct cursor cursor_object(const struct cursor *up, const char *name);
struct cursor cursor_list(const struct cursor *up, const char *name);

/* Walks the children: for (struct cursor c = cursor_first(&list); c.value; c = cursor_next(&c)). */
struct cursor cursor_first(const struct cursor *list_or_object);
struct cursor cursor_next(const struct cursor *child);

/* Scalars by name; missing gives zero, another type is an error. Texts are copied. */
struct str cursor_text(const struct cursor *up, const char *name);
bool cursor_bool(const struct cursor *up, const char *name);
int64_t cursor_i64(const struct cursor *up, const char *name);
int64_t cursor_i32(const struct cursor *up,
                   const char *name); /* refuses what does not fit 32 bits */
/* RFC 3339, to microseconds since 1970. */
int64_t cursor_time(const struct cursor *up, const char *name);
/* A list of strings; at is NULL when there is none, and not when there is an empty one. */
struct strs cursor_texts(const struct cursor *up, const char *name);
/* The cursor's own value. */
struct str cursor_own_text(const struct cursor *cursor);
struct kube_quantity cursor_own_quantity(const struct cursor *cursor);

/* False, with an error, unless the cursor (when it is there) is an object, or a null in a list,
 * which Go takes for an empty one. */
bool cursor_is_object(const struct cursor *cursor);

/* count zeroed elements from the arena; NULL with an error when it is over its limit. */
void *cursor_take(const struct cursor *cursor, size_t count, size_t size);
/* Records `subject: path: text` as the error unless there is one already. */
void cursor_fail(const struct cursor *cursor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds the path, such as spec.containers[0].name. */
void cursor_path(const struct cursor *cursor, struct buffer *out);

#endif
