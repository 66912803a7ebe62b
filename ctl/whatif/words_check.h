/* words_check: whether an API server would take the words that a manifest's pod chooses among few,
 * such as whenUnsatisfiable, and whether it has a container at all. */
#ifndef CTL_WHATIF_WORDS_CHECK_H
#define CTL_WHATIF_WORDS_CHECK_H

#include "ctl/schema.h"

/* place: where the pod stands in its document, and that it is one. False with an error that begins
 * with the path, from the arena. Mirrored: ValidatePodSpec. */
bool words_check(const struct kube_json *pod, const struct schema_place *place, struct str *error,
                 struct arena *a);

#endif
