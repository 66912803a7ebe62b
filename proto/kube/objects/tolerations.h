/* tolerations: whether a pod's toleration puts up with a taint, as upstream's ToleratesTaint has
 * it. Pure functions over the records. */
#ifndef KUBE_OBJECTS_TOLERATIONS_H
#define KUBE_OBJECTS_TOLERATIONS_H

#include "proto/messages.h"

#include <stdbool.h>
#include <stdint.h>

/* How the values of a toleration and a taint are held against each other. */
enum kube_comparison {
    COMPARISON_none,    /* Exists */
    COMPARISON_equal,   /* Equal, and no operator */
    COMPARISON_less,    /* Lt: the taint's value is the smaller one */
    COMPARISON_greater, /* Gt */
    COMPARISON_unknown  /* nothing is tolerated */
};
/* comparison: whether Lt and Gt are known (TaintTolerationComparisonOperators). */
enum kube_comparison kube_comparison_of(struct str operator_name, bool comparison);
/* A whole number of 64 bits as people write it: without a plus and without zeros before it. False
 * for any other text; an Lt or Gt with one, on either side, tolerates nothing. */
bool kube_whole_number(struct str text, int64_t *value);
bool kube_tolerates(const struct toleration *t, const struct taint *taint, bool comparison);

#endif
