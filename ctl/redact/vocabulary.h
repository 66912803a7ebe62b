/* vocabulary: words that are no name of a cluster. */
#ifndef CTL_REDACT_VOCABULARY_H
#define CTL_REDACT_VOCABULARY_H

#include "proto/base/str.h"

/* Whether a process of berth has this text (letters, digits and - _ . /) in itself: in what it says
 * or looks for, such as Running, kubernetes.io/hostname or memory. */
bool vocabulary_has(struct str text);
/* Whether it is a word (letters and digits) of which Kubernetes makes names that are the same in
 * every cluster, such as default, kube and zone: it stays in names as well. */
bool vocabulary_stays(struct str word);

#endif
