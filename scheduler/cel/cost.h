/* cost: what a call costs at run time, in CEL's units, as upstream counts it. */
#ifndef CEL_COST_H
#define CEL_COST_H

#include "scheduler/cel/value.h"

enum cost_kind {
    COST_one,
    /* These count only for a call that was resolved when it was compiled; otherwise it costs one.
     */
    COST_in,
    COST_least,
    COST_equal,
    COST_concat,
    COST_matches,
    COST_contains,
    COST_made_list,
    COST_flatten,
    COST_flatten_guarded,
    COST_compared,
    COST_compared_keys,
    COST_sets,
    COST_sets_twice,
    COST_resolved_last = COST_sets_twice,
    /* These count in any case. */
    COST_text,
    COST_text_second,
    COST_text_twice,
    COST_traversal,
    COST_joined,
    COST_find,
    COST_contains_ip,
    COST_contains_cidr,
    COST_contains_ip_either, /* what is contained may be a text or not, which counts as none */
    COST_contains_cidr_either,
    COST_validate,
};

uint64_t cost_of(enum cost_kind kind, const struct value *args, uint32_t count,
                 struct value result);

#endif
