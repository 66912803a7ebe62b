/* schema: whether an object is spelt as the API server would have stored it: known kinds, known
 * fields, values of the right type. What values mean is checked where they are read. */
#ifndef CTL_SCHEMA_H
#define CTL_SCHEMA_H

#include "proto/base/arena.h"
#include "proto/kube/documents/json.h"

/* Checks one object that is not a list of objects. path is where it stands, for the error; kind is
 * what it is when it does not say so, or NULL. False with an error from the arena: the path of what
 * is wrong, what is wrong with it, and for a misspelt name the nearest one. */
bool schema_check(const struct kube_json *object, const char *kind, struct str path,
                  struct str *error, struct arena *a);
/* Whether objects of that kind may be there at all. */
bool schema_has_kind(struct str kind);
/* The nearest of some names (NULL-terminated) to what was written, for an error: `, did you mean
 * "x"?`, or nothing if none is near. From the arena. */
struct str schema_suggest(struct str written, const char *const *names, struct arena *a);

#endif
