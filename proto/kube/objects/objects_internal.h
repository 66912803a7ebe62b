/* objects_internal: the pieces that every kind of object has, for the files that read them. */
#ifndef KUBE_OBJECTS_OBJECTS_INTERNAL_H
#define KUBE_OBJECTS_OBJECTS_INTERNAL_H

#include "proto/kube/documents/cursor.h"
#include "proto/kube/objects/objects.h"

#define SUBJECT_MAX 600 /* of "Pod namespace/name": 63 + 253 and some */

/* "Pod default/a", for error texts. */
void object_subject(const struct kube_json *object, const char *kind, char out[SUBJECT_MAX]);
/* Whether all was understood; if not, error (may be NULL) says what was not. */
bool object_finish(const struct reading *r, struct str *error);

struct str object_name(const struct cursor *metadata); /* an error when it is empty */
int64_t object_version(const struct cursor *metadata); /* resourceVersion */

/* The first owner that is the controller; all empty when there is none. */
struct controller {
    struct str api, kind, name, uid;
};
struct controller object_controller(const struct cursor *metadata);

/* A map of strings, sorted by key; and the value of one key in such a list, or empty. */
struct label *object_labels(const struct cursor *up, const char *name, uint32_t *count);
struct str object_label(const struct label *labels, uint32_t count, const char *key);
/* A member of the annotations; false when it is not there. */
bool object_annotation(const struct cursor *metadata, const char *key, struct str *value);
/* spec.taints, of a node or a device. */
struct taint *object_taints(const struct cursor *spec, uint32_t *count);
/* A label selector; one that is not there is not present. */
struct selector object_selector(const struct cursor *up, const char *name);
/* The given member of each object in a list, such as the names of all gates. */
struct strs object_each(const struct cursor *up, const char *list, const char *member);
/* An amount in whole units, such as resources.requests.storage. */
int64_t object_amount(const struct cursor *up, const char *name);

/* Parts of a pod that have a file of their own. */
void object_pod_affinity(const struct cursor *affinity, struct pod *pod);
void object_spread(const struct cursor *spec, struct pod *pod);
/* spec.resourceClaims of a pod or a PodGroup. */
struct device_claim *object_device_claims(const struct cursor *spec, const struct cursor *status,
                                          uint32_t *count);
void object_pod_volumes(const struct cursor *volumes, struct pod *pod);
/* Which PodGroup it names, by its labels as they are in the record, and its phase if it does. */
void object_pod_gang(const struct cursor *object, struct pod *pod);

#endif
