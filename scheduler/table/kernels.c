/* kernels: loops over columns without branches or calls, which is all that a compiler needs to
 * vectorise them. On x86-64 each is compiled twice, and the machine at hand decides which one runs;
 * what must stay true is that nobody can tell by the results. */
#include "scheduler/table/kernels.h"

#include "scheduler/table/wrap.h"

#include <string.h>

/* Sanitizers start up after the choice is made, and would watch it; clang 14 gives what it chose a
 * name that other files do not find. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__) ||         \
    !defined(__x86_64__)
#define VECTORISED
#else
#define VECTORISED __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#endif

VECTORISED void kernel_lacks(const int64_t *room, const int64_t *used, int64_t asked,
                             uint32_t count, uint8_t *no)
{
    for (uint32_t i = 0; i < count; i++)
        no[i] |= asked > wrap_sub(room[i], used[i]);
}

VECTORISED void kernel_mark(const uint32_t *fact, uint32_t count, uint8_t *no)
{
    for (uint32_t i = 0; i < count; i++)
        no[i] |= fact[i] != 0;
}

VECTORISED void kernel_mark_bits(const uint8_t *marks, uint8_t bits, uint32_t count, uint8_t *no)
{
    for (uint32_t i = 0; i < count; i++)
        no[i] |= (marks[i] & bits) != 0;
}

VECTORISED void kernel_mark_equal(const uint32_t *fact, uint32_t what, uint32_t count, uint8_t *no)
{
    for (uint32_t i = 0; i < count; i++)
        no[i] |= fact[i] == what;
}

VECTORISED void kernel_mark_other(const uint32_t *fact, uint32_t what, uint32_t count, uint8_t *no)
{
    for (uint32_t i = 0; i < count; i++)
        no[i] |= fact[i] != what;
}

VECTORISED void kernel_keep(const uint8_t *hit, bool negated, uint32_t count, uint8_t *yes)
{
    for (uint32_t i = 0; i < count; i++)
        yes[i] &= (uint8_t)(hit[i] ^ negated);
}

VECTORISED void kernel_blame(uint8_t *blamed, const uint8_t *said, uint8_t whom, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        blamed[i] |= (uint8_t)(whom & -((blamed[i] == 0) & (said[i] != 0)));
}

VECTORISED void kernel_range(const int64_t *column, uint32_t count, int64_t *least,
                             int64_t *greatest)
{
    int64_t low = column[0], high = column[0];
    for (uint32_t i = 0; i < count; i++) {
        low = column[i] < low ? column[i] : low;
        high = column[i] > high ? column[i] : high;
    }
    *least = low;
    *greatest = high;
}

VECTORISED uint32_t kernel_count(const int64_t *column, int64_t what, uint32_t count)
{
    uint64_t found = 0; /* as wide as the column, or vectors would have to be narrowed */
    for (uint32_t i = 0; i < count; i++)
        found += column[i] == what;
    return (uint32_t)found;
}

VECTORISED bool kernel_holds(const uint32_t *fact, uint32_t what, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found |= fact[i] == what;
    return found != 0;
}

VECTORISED uint32_t kernel_zeros(const uint8_t *column, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += column[i] == 0;
    return found;
}

VECTORISED void kernel_raise(int64_t *total, int64_t by, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        total[i] = wrap_add(total[i], by);
}

VECTORISED void kernel_raise_where(int64_t *total, const uint8_t *which, int64_t by, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        total[i] = wrap_add(total[i], by & -(int64_t)which[i]);
}

VECTORISED void kernel_fill(int64_t *column, int64_t what, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        column[i] = what;
}

VECTORISED void kernel_number(uint32_t *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        rows[i] = i;
}

VECTORISED void kernel_add(int64_t *total, const int64_t *column, int64_t weight, uint32_t count)
{
    if (weight == 1)
        for (uint32_t i = 0; i < count; i++)
            total[i] = wrap_add(total[i], column[i]);
    else
        for (uint32_t i = 0; i < count; i++)
            total[i] = wrap_add(total[i], wrap_mul(column[i], weight));
}

/* ---- whole numbers as doubles ----
 *
 * Vectors divide doubles, not integers. For whole a >= 0 and b > 0 with a + b < 2^53 the double a /
 * b cut is the whole quotient: a quotient that is no whole number lies at least 1 / b below the
 * next, too far to be rounded to it. Choices are made with masks, since a branch would end the
 * vector. */

_Static_assert(KERNEL_EXACT * 101 < INT64_C(1) << 53, "a hundred times what is exact, and once");

#define MANTISSA ((UINT64_C(1) << 52) - 1)

static inline double from_bits(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof(d));
    return d;
}

static inline uint64_t to_bits(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof(bits));
    return bits;
}

/* x as a double, for 0 <= x < 2^52: the bits of x below those of 2^52 are 2^52 + x. */
static inline double whole(int64_t x)
{
    return from_bits((uint64_t)x | UINT64_C(0x4330000000000000)) - 0x1p52;
}

/* d, or 0. */
static inline double only_if(bool condition, double d)
{
    return from_bits(to_bits(d) & -(uint64_t)condition);
}

VECTORISED bool kernel_is_exact(const struct kernel_resource *r, uint32_t count)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        all |=
            (uint64_t)r->room[i] | (uint64_t)r->used[i] | (uint64_t)wrap_add(r->used[i], r->asked);
    return all < KERNEL_EXACT;
}

static inline double least_percent(int64_t offered, int64_t taken)
{
    double percent = whole(offered - taken) * 100 / whole(offered);
    return (int32_t)only_if((taken <= offered) & (offered != 0), percent);
}

VECTORISED void kernel_add_least(const struct kernel_resource *r, double weight, uint32_t count,
                                 struct kernel_sums *sums)
{
    const int64_t *room = r->room, *used = r->used, asked = r->asked;
    for (uint32_t i = 0; i < count; i++) {
        sums->sum[i] += weight * least_percent(room[i], used[i] + asked);
        sums->weights[i] += only_if(room[i] != 0, weight);
    }
}

/* The quotient of a sum s and weights w is cut right when (s + 1/2) is multiplied by 1 / w instead:
 * it lies at least 1 / 2w from any whole number, which is more than 2^-22, and as it is not above
 * 101, rounding twice moves it by less than 2^-45. */
VECTORISED void kernel_least_of_two(const struct kernel_resource r[2], const double weights[2],
                                    uint32_t count, int64_t *raw)
{
    const int64_t *room0 = r[0].room, *room1 = r[1].room, *used0 = r[0].used, *used1 = r[1].used;
    const int64_t asked0 = r[0].asked, asked1 = r[1].asked;
    const double w0 = weights[0], w1 = weights[1];
    const double part0 = only_if(w0 > 0, 1 / w0), part1 = only_if(w1 > 0, 1 / w1);
    const double part = only_if(w0 + w1 > 0, 1 / (w0 + w1));
    for (uint32_t i = 0; i < count; i++) {
        bool has0 = room0[i] != 0, has1 = room1[i] != 0;
        double sum = w0 * least_percent(room0[i], used0[i] + asked0) +
                     w1 * least_percent(room1[i], used1[i] + asked1);
        double share = only_if(has0 & has1, part) + only_if(has0 & !has1, part0) +
                       only_if(!has0 & has1, part1);
        raw[i] = (int32_t)((sum + 0.5) * share);
    }
}

VECTORISED void kernel_add_most(const struct kernel_resource *r, double weight, uint32_t count,
                                struct kernel_sums *sums)
{
    const int64_t *room = r->room, *used = r->used, asked = r->asked;
    for (uint32_t i = 0; i < count; i++) {
        int64_t offered = room[i], taken = used[i] + asked;
        double percent = whole(taken) * 100 / whole(offered);
        double rated = only_if(taken <= offered, percent) + only_if(taken > offered, 100);
        sums->sum[i] += weight * (int32_t)only_if(offered != 0, rated);
        sums->weights[i] += only_if(offered != 0, weight);
    }
}

VECTORISED void kernel_quotient(const struct kernel_sums *sums, uint32_t count, int64_t *raw)
{
    uint64_t differ = 0, first = to_bits(sums->weights[0]);
    for (uint32_t i = 0; i < count; i++)
        differ |= to_bits(sums->weights[i]) ^ first;
    bool is_power = (first & MANTISSA) == 0 && sums->weights[0] >= 1;
    if (differ == 0 && is_power) { /* as for two resources alike: multiplying is exact and quick */
        double share = 1 / sums->weights[0];
        for (uint32_t i = 0; i < count; i++)
            raw[i] = (int32_t)(sums->sum[i] * share);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        raw[i] = (int32_t)only_if(sums->weights[i] != 0, sums->sum[i] / sums->weights[i]);
}

VECTORISED void kernel_percent(const struct kernel_resource *r, uint32_t count, int32_t *percent)
{
    const int64_t *room = r->room, *used = r->used, asked = r->asked;
    for (uint32_t i = 0; i < count; i++) {
        int64_t offered = room[i], taken = used[i] + asked;
        double part = only_if(taken <= offered, whole(taken) * 100 / whole(offered)) +
                      only_if(taken > offered, 100);
        percent[i] = (int32_t)only_if(offered != 0, part);
    }
}

VECTORISED void kernel_add_percent(int64_t *total, const int64_t *column, int64_t of,
                                   int64_t weight, uint32_t count)
{
    double all = (double)of;
    for (uint32_t i = 0; i < count; i++)
        total[i] = wrap_add(total[i], wrap_mul((int32_t)(whole(column[i]) * 100 / all), weight));
}

static inline double fraction(int64_t taken, int64_t offered)
{
    return only_if(taken <= offered, whole(taken) / whole(offered)) + only_if(taken > offered, 1);
}

static inline double distance(double a, double b)
{
    return from_bits(to_bits((a - b) / 2) & INT64_MAX);
}

VECTORISED void kernel_balance_from(const struct kernel_resource r[2], const uint8_t *without,
                                    uint32_t count, int64_t *raw)
{
    const int64_t *room0 = r[0].room, *room1 = r[1].room, *used0 = r[0].used, *used1 = r[1].used;
    const int64_t asked0 = r[0].asked, asked1 = r[1].asked;
    for (uint32_t i = 0; i < count; i++) {
        bool both = (room0[i] != 0) & (room1[i] != 0);
        double with =
            distance(fraction(used0[i] + asked0, room0[i]), fraction(used1[i] + asked1, room1[i]));
        raw[i] = 50 + (50 + (int32_t)((1 - only_if(both, with)) * 100) - without[i]) / 2;
    }
}

VECTORISED void kernel_balance(const struct kernel_resource r[2], uint32_t count, int64_t *raw)
{
    const int64_t *room0 = r[0].room, *room1 = r[1].room, *used0 = r[0].used, *used1 = r[1].used;
    const int64_t asked0 = r[0].asked, asked1 = r[1].asked;
    for (uint32_t i = 0; i < count; i++) {
        bool both = (room0[i] != 0) & (room1[i] != 0);
        double with =
            distance(fraction(used0[i] + asked0, room0[i]), fraction(used1[i] + asked1, room1[i]));
        double without = distance(fraction(used0[i], room0[i]), fraction(used1[i], room1[i]));
        int32_t balance = (int32_t)((1 - only_if(both, with)) * 100);
        raw[i] = 50 + (50 + balance - (int32_t)((1 - only_if(both, without)) * 100)) / 2;
    }
}
