/* schema: whether an object is spelt as the API server would have stored it: known kinds, known
 * fields, values of the right type. What values mean is checked where they are read. */
#ifndef CTL_SCHEMA_H
#define CTL_SCHEMA_H

#include "proto/base/arena.h"
#include "proto/kube/documents/json.h"

/* What is known of an object beside it. */
struct schema_place {
    int64_t release;  /* minor version of the API server that stores it */
    const char *kind; /* what it is when it does not say so, or NULL */
    struct str path;  /* where it stands, for the error */
};

/* Checks one object that is not a list of objects. False with an error from the arena: the path of
 * what is wrong, what is wrong with it, and for a misspelt name the nearest one. */
bool schema_check(const struct kube_json *object, const struct schema_place *at, struct str *error,
                  struct arena *a);
/* Whether objects of that kind may be there at all. */
bool schema_has_kind(int64_t release, struct str kind);
/* The nearest of some names (NULL-terminated) to what was written, for an error: `, did you mean
 * "x"?`, or nothing if none is near. From the arena. */
struct str schema_suggest(struct str written, const char *const *names, struct arena *a);

#endif
