/* Status objects: the error answers of the API, worded as the real API server words them.
 *
 * Functions that can fail return NULL, or such a Status, which the caller frees or sends. */
#ifndef APISERVER_STATUS_H
#define APISERVER_STATUS_H

#include "resources.h"
#include "tree.h"

/* A failure with any code, reason and message. */
__attribute__((format(printf, 3, 4))) cJSON *status_failure(int code, const char *reason,
                                                            const char *format, ...);
/* Adds details {name, group, kind}. Returns the status. */
cJSON *status_about(cJSON *status, const struct resource *resource, const char *name);
cJSON *status_success(void);
int status_code(const cJSON *status);

cJSON *status_not_found(const struct resource *resource, const char *name);
cJSON *status_exists(const struct resource *resource, const char *name);
/* Operation cannot be fulfilled on pods "x": cause. qualified may hold a subresource. */
cJSON *status_conflict(const struct resource *resource, const char *qualified, const char *name,
                       const char *cause);
__attribute__((format(printf, 1, 2))) cJSON *status_bad_request(const char *format, ...);

/* Collects what is wrong with an object, field by field. */
struct causes {
    cJSON *list;
};
/* reason is FieldValueRequired, FieldValueInvalid, FieldValueDuplicate, FieldValueNotSupported or
 * FieldValueForbidden. */
__attribute__((format(printf, 4, 5))) void causes_add(struct causes *causes, const char *reason,
                                                      const char *field, const char *format, ...);
/* NULL when there are no causes, else a 422; empties the causes. */
cJSON *status_invalid(struct causes *causes, const struct resource *resource, const char *name);

#endif
