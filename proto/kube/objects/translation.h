/* translation: in-tree disks as the CSI volumes that they are migrated to, after
 * k8s.io/csi-translation-lib: driver, volume handle, and the node affinity that the driver's own
 * zone label gives. */
#ifndef KUBE_OBJECTS_TRANSLATION_H
#define KUBE_OBJECTS_TRANSLATION_H

#include "proto/kube/documents/cursor.h"
#include "proto/messages.h"

/* When the spec of a PersistentVolume names an in-tree disk that has a translation: fills source,
 * driver, handle, migrated_plugin, the migrated terms and migration_problem. Reads the record's
 * name, labels, terms and claim reference. */
void kube_translate_volume(const struct cursor *spec, const struct cursor *metadata,
                           struct volume *volume);
/* The same for a volume of a pod in the given namespace: kind, driver, handle and problem; false
 * for other volumes. */
bool kube_translate_inline(const struct cursor *volume, struct str space, struct pod_volume *out);

#endif
