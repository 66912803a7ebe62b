/* json_internal: what json.c and yaml.c share; nobody else includes it. */
#ifndef KUBE_JSON_INTERNAL_H
#define KUBE_JSON_INTERNAL_H

#include "proto/kube/json.h"

/* Makes cJSON take its memory from proto/base; called before anything else of cJSON. */
void kube_json_use_our_memory(void);

#endif
