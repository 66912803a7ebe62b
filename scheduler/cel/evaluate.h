/* evaluate: the tree of an expression against a device. */
#ifndef CEL_EVALUATE_H
#define CEL_EVALUATE_H

#include "scheduler/cel/node.h"

struct run {
    struct pool *pool;
    struct value device;
    int64_t release;
    uint64_t cost, cost_max; /* beyond it the pool is stopped */
};

/* The value, or an error. Stops the pool at the cost limit and at the memory limit. */
struct value cel_evaluate(struct run *r, const struct node *n);
/* A call of constants, as the evaluator would make it. */
struct value cel_evaluate_constant(struct pool *p, const struct node *n);

#endif
