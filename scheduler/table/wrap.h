/* wrap: int64 arithmetic that wraps as Go's does, where amounts come from outside and could be
 * absurd; plain + - * would be undefined behaviour there. */
#ifndef SCHEDULER_TABLE_WRAP_H
#define SCHEDULER_TABLE_WRAP_H

#include <stdint.h>

static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* A double cut to an integer; what does not fit gives INT64_MIN, as on upstream's machines. */
static inline int64_t cut_to_i64(double d)
{
    return d > -9223372036854775808.0 && d < 9223372036854775808.0 ? (int64_t)d : INT64_MIN;
}

#endif
