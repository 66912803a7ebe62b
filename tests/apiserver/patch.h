/* The three kinds of patch, each a pure function from a tree and a patch to a new tree. */
#ifndef APISERVER_PATCH_H
#define APISERVER_PATCH_H

#include "tree.h"

/* Each returns the patched copy, or NULL with the reason in why. Neither argument changes. */
cJSON *patch_merge(const cJSON *original, const cJSON *patch);
cJSON *patch_json(const cJSON *original, const cJSON *operations, struct buffer *why);
cJSON *patch_strategic(const cJSON *original, const cJSON *patch, struct buffer *why);

#endif
