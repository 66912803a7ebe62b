/* kernels: what is done to whole columns of numbers, written so that compilers vectorise it.
 *
 * Every kernel gives to the bit what the plain expression in its comment gives, for every input. */
#ifndef SCHEDULER_TABLE_KERNELS_H
#define SCHEDULER_TABLE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/* no[i] |= asked > room[i] - used[i], wrapping. */
void kernel_lacks(const int64_t *room, const int64_t *used, int64_t asked, uint32_t count,
                  uint8_t *no);
/* no[i] |= fact[i] != 0 */
void kernel_mark(const uint32_t *fact, uint32_t count, uint8_t *no);
/* no[i] |= (marks[i] & bits) != 0 */
void kernel_mark_bits(const uint8_t *marks, uint8_t bits, uint32_t count, uint8_t *no);
/* no[i] |= fact[i] == what; and no[i] |= fact[i] != what */
void kernel_mark_equal(const uint32_t *fact, uint32_t what, uint32_t count, uint8_t *no);
void kernel_mark_other(const uint32_t *fact, uint32_t what, uint32_t count, uint8_t *no);
/* yes[i] &= hit[i] != negated; both hold 0 or 1 */
void kernel_keep(const uint8_t *hit, bool negated, uint32_t count, uint8_t *yes);
/* blamed[i] = blamed[i] != 0 || !said[i] ? blamed[i] : whom */
void kernel_blame(uint8_t *blamed, const uint8_t *said, uint8_t whom, uint32_t count);

/* The least and the greatest; count > 0. */
void kernel_range(const int64_t *column, uint32_t count, int64_t *least, int64_t *greatest);
/* How many are equal to what. */
uint32_t kernel_count(const int64_t *column, int64_t what, uint32_t count);
/* True when some are equal to what. */
bool kernel_holds(const uint32_t *fact, uint32_t what, uint32_t count);
/* How many are 0. */
uint32_t kernel_zeros(const uint8_t *column, uint32_t count);
/* total[i] += by, wrapping. */
void kernel_raise(int64_t *total, int64_t by, uint32_t count);
/* total[i] += by where which[i] is 1, not 0; wrapping. */
void kernel_raise_where(int64_t *total, const uint8_t *which, int64_t by, uint32_t count);
/* column[i] = what */
void kernel_fill(int64_t *column, int64_t what, uint32_t count);
/* rows[i] = i */
void kernel_number(uint32_t *rows, uint32_t count);
/* total[i] += column[i] * weight, wrapping. */
void kernel_add(int64_t *total, const int64_t *column, int64_t weight, uint32_t count);

/* What lies in [0, KERNEL_EXACT) can be computed with in doubles, a percentage included. */
#define KERNEL_EXACT (INT64_C(1) << 46)

/* total[i] += column[i] * 100 / of * weight, wrapping; 0 <= column[i] <= of, which is
 * positive and below KERNEL_EXACT. */
void kernel_add_percent(int64_t *total, const int64_t *column, int64_t of, int64_t weight,
                        uint32_t count);

/* A resource of some rows: what they offer, what is used of it, and what a pod would use more. */
struct kernel_resource {
    const int64_t *room, *used;
    int64_t asked;
};

/* Rows that one call of the kernels below may look at. */
#define KERNEL_ROWS 512

/* True when everything lies in [0, KERNEL_EXACT). */
bool kernel_is_exact(const struct kernel_resource *r, uint32_t count);

/* Sums over resources, in doubles that hold whole numbers. */
struct kernel_sums {
    double sum[KERNEL_ROWS], weights[KERNEL_ROWS];
};

/* Where room > 0, with u = used + asked: sum += weight * (u > room ? 0 : (room - u) * 100 / room),
 * and weights += weight. */
void kernel_add_least(const struct kernel_resource *r, double weight, uint32_t count,
                      struct kernel_sums *sums);
/* The same with (u > room ? room : u) * 100 / room. */
void kernel_add_most(const struct kernel_resource *r, double weight, uint32_t count,
                     struct kernel_sums *sums);
/* What kernel_add_least of both into zeroed sums and kernel_quotient give; the weights are whole,
 * in [0, KERNEL_WEIGHT]. */
void kernel_least_of_two(const struct kernel_resource r[2], const double weights[2], uint32_t count,
                         int64_t *raw);
#define KERNEL_WEIGHT (1 << 20)

/* raw = weights == 0 ? 0 : sum / weights, cut. */
void kernel_quotient(const struct kernel_sums *sums, uint32_t count, int64_t *raw);
/* percent = u > room ? 100 : u * 100 / room; 0 where room is 0. */
void kernel_percent(const struct kernel_resource *r, uint32_t count, int32_t *percent);

/* With f = min(u / room, 1), the deviation d = fabs((f of the first - f of the second) / 2), or 0
 * where one of them has no room, and the balance b = (1 - d) * 100, cut, for u with what is asked
 * and without: raw = 50 + (50 + with - without) / 2. */
void kernel_balance(const struct kernel_resource r[2], uint32_t count, int64_t *raw);
/* The same where the balance without what is asked is known. */
void kernel_balance_from(const struct kernel_resource r[2], const uint8_t *without, uint32_t count,
                         int64_t *raw);

#endif
