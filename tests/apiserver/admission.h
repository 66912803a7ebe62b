/* What the API server does to an object before it stores it: defaults, then validation. */
#ifndef APISERVER_ADMISSION_H
#define APISERVER_ADMISSION_H

#include "server.h"

/* Completes and checks a new object (stored shape). NULL, or the Status that refuses it. */
cJSON *admit_create(struct server *server, const struct resource *resource, cJSON *tree);
/* The same for the next version of an object; before is the present one. */
cJSON *admit_update(struct server *server, const struct resource *resource, cJSON *tree,
                    const cJSON *before);

/* admission_pod.c: the part for pods. */
cJSON *admit_pod_create(struct server *server, const struct resource *resource, cJSON *pod);
cJSON *admit_pod_update(const struct resource *resource, cJSON *pod, const cJSON *before);

/* A pod condition: replaced where the type exists; lastTransitionTime moves with the status. */
void pod_condition_set(cJSON *pod, const char *type, const char *status, const char *reason,
                       const char *message);

#endif
