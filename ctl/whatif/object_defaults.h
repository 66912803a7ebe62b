/* object_defaults: what the API server's defaulting and admission would have written into an object
 * that is no pod, as far as scheduling looks at it. */
#ifndef CTL_WHATIF_OBJECT_DEFAULTS_H
#define CTL_WHATIF_OBJECT_DEFAULTS_H

#include "proto/kube/documents/json.h"

/* The object with what is missing; NULL when that is nothing. The caller frees it. default_class:
 * the StorageClass of a new claim that names none; may be empty. Mirrored: SetDefaults_Namespace,
 * SetDefaults_NodeStatus, SetDefaults_StorageClass, and the admission plugin DefaultStorageClass.
 */
struct kube_json *object_defaults(const struct kube_json *object, struct str default_class);
/* It is a new claim that names no StorageClass, also not none. */
bool object_lacks_class(const struct kube_json *object);
/* The default class of a list of objects, lists inside it not looked at; empty: there is none. Of
 * several the newest, as admission has it. */
struct str object_default_class(const struct kube_json *first);

#endif
