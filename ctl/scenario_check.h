/* scenario_check: whether a scenario says what its author meant: nothing misspelt, nothing passed
 * over. */
#ifndef CTL_SCENARIO_CHECK_H
#define CTL_SCENARIO_CHECK_H

#include "ctl/schema.h"

/* Looks at the whole document, before anything is played: what it holds must be what an API server
 * of that minor version would hold. False with an error from the arena: the
 * path of the first fault, and what is wrong there. */
bool scenario_check(const struct kube_json *document, int64_t release, struct str *error,
                    struct arena *a);

/* The same for one Pod by itself, without options: spelt as the API server knows it, and with the
 * requests as a whole that it would have filled in. */
bool scenario_check_pod(const struct kube_json *pod, const struct schema_place *at,
                        struct str *error, struct arena *a);

/* The values of a list of objects: of `[…]` those, of `{kind: List, items: […]}` its items. NULL
 * when it is neither, or empty. Go on with kube_json_next. */
const struct kube_json *scenario_items(const struct kube_json *list);

#endif
