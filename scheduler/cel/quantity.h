/* quantity: Kubernetes quantities as expressions see them. Upstream keeps a quantity either as an
 * int64 with a power of ten or, for what does not fit and for many binary suffixes, as a big
 * decimal; isInteger() and asInteger() tell the two apart, so it is kept here as well. */
#ifndef CEL_QUANTITY_H
#define CEL_QUANTITY_H

#include "scheduler/cel/pool.h"

struct quantity {
    __extension__ __int128 digits; /* value = digits * 10^exponent; within int64 unless big */
    int32_t exponent;
    bool big;
    bool sum; /* of add() or sub(): upstream's equality does not know it on its right side */
};

/* NULL and *error (static text) when it is no quantity. */
const struct quantity *quantity_parse(struct pool *p, struct str text, const char **error);
const struct quantity *quantity_of(struct pool *p, int64_t whole);
/* -1, 0, 1. */
int quantity_compare(const struct quantity *a, const struct quantity *b);
int quantity_sign(const struct quantity *q);
const struct quantity *quantity_add(struct pool *p, const struct quantity *a,
                                    const struct quantity *b);
const struct quantity *quantity_subtract(struct pool *p, const struct quantity *a,
                                         const struct quantity *b);
/* False when it is no integer, or upstream does not see that it is. */
bool quantity_integer(const struct quantity *q, int64_t *whole);
double quantity_float(const struct quantity *q);

#endif
