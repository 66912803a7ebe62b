/* config_schema: wrong types and unknown fields of a configuration, in upstream's words. */
#ifndef KUBE_CONFIG_CONFIG_SCHEMA_H
#define KUBE_CONFIG_CONFIG_SCHEMA_H

#include "proto/kube/config/config_internal.h"

/* Finds apiVersion and kind, which may be empty, as the decoder does before all else: by names of
 * any case. False when the document, or either of them, has a wrong type. */
bool config_schema_meta(struct loading *l, const struct cursor *root, struct str *version,
                        struct str *kind);
/* Walks a whole document. Unknown and repeated fields go to the strict errors of the loading, the
 * first wrong type fails it; false then. */
bool config_schema_check(struct loading *l, const struct cursor *root);
/* The same with the arguments of a plugin, of a kind such as VolumeBindingArgs. Kinds that upstream
 * does not have are let through: their reader checks them. */
bool config_schema_check_args(struct loading *l, const struct cursor *args, const char *kind);

#endif
