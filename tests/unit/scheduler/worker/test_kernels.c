/* test_kernels: every loop over columns gives what the plain expression in its comment gives, for
 * random numbers and for those where doubles would round if they could; and totals are what
 * normalising and weighing score by score gives. */
#include "tests/unit/scheduler/cluster.h"

#include "scheduler/table/kernels.h"
#include "scheduler/table/wrap.h"
#include "scheduler/worker/shard_inside.h"

#include <math.h>

enum { ROWS = KERNEL_ROWS, TURNS = 400 };

/* Lengths around those of vectors matter most. */
static uint32_t random_count(struct random *r)
{
    return (uint32_t)(1 + random_below(r, random_below(r, 2) == 0 ? 20 : ROWS));
}

/* Of any size below the limit, each size as likely; often right at a power of two. */
static int64_t below(struct random *r, int64_t limit)
{
    int64_t v = (int64_t)(random_next(r) >> (1 + random_below(r, 63))) % limit;
    if (random_below(r, 4) == 0)
        v = (INT64_C(1) << random_below(r, 46)) - (int64_t)random_below(r, 3);
    return v < 0 ? 0 : v >= limit ? limit - 1 : v;
}

static int64_t anything(struct random *r)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
    return random_below(r, 8) == 0 ? ends[random_below(r, 6)] : (int64_t)random_next(r);
}

struct amounts {
    int64_t room[ROWS], used[ROWS];
    uint32_t count;
    struct kernel_resource resource;
};

/* Within bounds; where used is close to a whole percentage of the room, rounding would show. */
static void fill(struct random *r, struct amounts *a)
{
    a->count = random_count(r);
    a->resource = (struct kernel_resource){
        a->room, a->used, random_below(r, 3) == 0 ? 0 : below(r, KERNEL_EXACT / 4)};
    for (uint32_t i = 0; i < a->count; i++) {
        int64_t room = random_below(r, 9) == 0 ? 0 : below(r, KERNEL_EXACT);
        int64_t near = room / 100 * (int64_t)random_below(r, 101) + (int64_t)random_below(r, 3) - 1;
        int64_t used =
            random_below(r, 3) == 0 ? below(r, KERNEL_EXACT / 2) : near - a->resource.asked;
        a->room[i] = room;
        a->used[i] = used < 0 || used >= KERNEL_EXACT / 2 ? 0 : used;
    }
    assert_true(kernel_is_exact(&a->resource, a->count));
}

/* ---- resources ---- */

static int64_t least(int64_t used, int64_t room)
{
    return used > room ? 0 : (room - used) * 100 / room;
}

static int64_t most(int64_t used, int64_t room)
{
    return (used > room ? room : used) * 100 / room;
}

static void compare_sums(const struct amounts *a, int64_t weight,
                         int64_t (*rate)(int64_t used, int64_t room))
{
    static struct kernel_sums sums;
    int64_t raw[ROWS], plain[ROWS] = {0}, weights[ROWS] = {0};
    memset(&sums, 0, sizeof(sums));
    for (int twice = 1; twice <= 2; twice++) {
        if (rate == least)
            kernel_add_least(&a->resource, (double)(weight * twice), a->count, &sums);
        else
            kernel_add_most(&a->resource, (double)(weight * twice), a->count, &sums);
        for (uint32_t i = 0; i < a->count; i++) {
            if (a->room[i] == 0)
                continue;
            plain[i] += rate(a->used[i] + a->resource.asked, a->room[i]) * weight * twice;
            weights[i] += weight * twice;
        }
    }
    kernel_quotient(&sums, a->count, raw);
    for (uint32_t i = 0; i < a->count; i++)
        assert_int_equal(raw[i], weights[i] == 0 ? 0 : plain[i] / weights[i]);
}

static void shares_of_resources_are_cut_as_integers_are(void **state)
{
    struct random r = {1};
    static struct amounts a;
    int32_t percent[ROWS];
    (void)state;
    for (int turn = 0; turn < TURNS; turn++) {
        fill(&r, &a);
        compare_sums(&a, (int64_t)random_below(&r, 101), least);
        compare_sums(&a, (int64_t)random_below(&r, 101), most);
        kernel_percent(&a.resource, a.count, percent);
        for (uint32_t i = 0; i < a.count; i++)
            assert_int_equal(percent[i],
                             a.room[i] == 0 ? 0 : most(a.used[i] + a.resource.asked, a.room[i]));
    }
}

static void the_least_of_two_is_the_weighted_mean_of_shares(void **state)
{
    struct random r = {8};
    static struct amounts a[2];
    int64_t raw[ROWS];
    (void)state;
    for (int turn = 0; turn < 4 * TURNS; turn++) {
        int64_t weights[2] = {0, 0};
        fill(&r, &a[0]);
        fill(&r, &a[1]);
        for (int k = 0; k < 2; k++)
            weights[k] = random_below(&r, 3) == 0 ? KERNEL_WEIGHT - (int64_t)random_below(&r, 3)
                                                  : (int64_t)random_below(&r, 4);
        uint32_t count = a[0].count < a[1].count ? a[0].count : a[1].count;
        kernel_least_of_two((struct kernel_resource[]){a[0].resource, a[1].resource},
                            (double[]){(double)weights[0], (double)weights[1]}, count, raw);
        for (uint32_t i = 0; i < count; i++) {
            int64_t sum = 0, all = 0;
            for (int k = 0; k < 2; k++) {
                if (a[k].room[i] == 0)
                    continue;
                sum += weights[k] * least(a[k].used[i] + a[k].resource.asked, a[k].room[i]);
                all += weights[k];
            }
            assert_int_equal(raw[i], all == 0 ? 0 : sum / all);
        }
    }
}

/* In upstream's order of operations. */
static int64_t balance(const struct amounts a[2], uint32_t i, bool with)
{
    double f[2];
    for (int k = 0; k < 2; k++) {
        f[k] = (double)(a[k].used[i] + (with ? a[k].resource.asked : 0)) / (double)a[k].room[i];
        f[k] = f[k] > 1 ? 1 : f[k];
    }
    double off = a[0].room[i] == 0 || a[1].room[i] == 0 ? 0 : fabs((f[0] - f[1]) / 2);
    return (int64_t)((1 - off) * 100);
}

static void the_balance_of_two_resources_is_upstreams(void **state)
{
    struct random r = {2};
    static struct amounts a[2];
    int64_t raw[ROWS];
    uint8_t without[ROWS];
    (void)state;
    for (int turn = 0; turn < TURNS; turn++) {
        fill(&r, &a[0]);
        fill(&r, &a[1]);
        uint32_t count = a[0].count < a[1].count ? a[0].count : a[1].count;
        const struct kernel_resource both[2] = {a[0].resource, a[1].resource};
        kernel_balance(both, count, raw);
        for (uint32_t i = 0; i < count; i++)
            without[i] = (uint8_t)balance(a, i, false);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(raw[i], 50 + (50 + balance(a, i, true) - without[i]) / 2);
        kernel_balance_from(both, without, count, raw);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(raw[i], 50 + (50 + balance(a, i, true) - without[i]) / 2);
    }
}

static void amounts_out_of_bounds_are_not_exact(void **state)
{
    static struct amounts a;
    struct random r = {3};
    (void)state;
    for (int turn = 0; turn < TURNS; turn++) {
        fill(&r, &a);
        int64_t bad = random_below(&r, 2) == 0 ? -1 - below(&r, INT64_MAX)
                                               : KERNEL_EXACT + below(&r, INT64_MAX / 2);
        uint32_t i = (uint32_t)random_below(&r, a.count);
        switch (random_below(&r, 3)) {
        case 0: a.room[i] = bad; break;
        case 1: a.used[i] = bad; break;
        default: a.resource.asked = wrap_sub(bad, a.used[i]); break;
        }
        assert_false(kernel_is_exact(&a.resource, a.count));
    }
}

/* ---- plain columns ---- */

static void columns_are_compared_and_counted(void **state)
{
    struct random r = {4};
    int64_t room[ROWS], used[ROWS];
    uint32_t facts[ROWS];
    uint8_t no[ROWS], before[ROWS], blamed[ROWS], marks[ROWS];
    (void)state;
    for (int turn = 0; turn < TURNS; turn++) {
        uint32_t count = random_count(&r), zeros = 0;
        int64_t asked = anything(&r);
        for (uint32_t i = 0; i < count; i++) {
            room[i] = anything(&r);
            used[i] = random_below(&r, 3) == 0 ? wrap_sub(room[i], asked) : anything(&r);
            facts[i] = (uint32_t)random_below(&r, 3) << random_below(&r, 31);
            no[i] = before[i] = random_below(&r, 2) == 0;
            blamed[i] = (uint8_t)random_below(&r, 3);
            marks[i] = (uint8_t)random_below(&r, 4);
            zeros += blamed[i] == 0;
        }
        assert_int_equal(kernel_zeros(blamed, count), zeros);
        kernel_lacks(room, used, asked, count, no);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(no[i], before[i] | (asked > wrap_sub(room[i], used[i])));
        memcpy(no, before, count);
        kernel_mark(facts, count, no);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(no[i], before[i] | (facts[i] != 0));
        memcpy(no, before, count);
        kernel_mark_bits(marks, 2, count, no);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(no[i], before[i] | (marks[i] >> 1));
        memcpy(no, blamed, count);
        kernel_blame(blamed, before, 9, count);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(blamed[i], no[i] != 0 || before[i] == 0 ? no[i] : 9);
    }
}

static void marks_follow_their_condition(void **state)
{
    struct random r = {7};
    uint32_t facts[ROWS], rows[ROWS];
    uint8_t equal[ROWS], other[ROWS], before[ROWS], kept[ROWS];
    int64_t total[ROWS], filled[ROWS];
    (void)state;
    for (int turn = 0; turn < TURNS; turn++) {
        uint32_t count = random_count(&r), what = (uint32_t)random_below(&r, 4);
        bool negated = random_below(&r, 2) == 0;
        int64_t by = anything(&r);
        for (uint32_t i = 0; i < count; i++) {
            facts[i] = (uint32_t)random_below(&r, 4);
            equal[i] = other[i] = before[i] = random_below(&r, 2) == 0;
            kept[i] = random_below(&r, 2) == 0;
            total[i] = i;
        }
        bool holds = false;
        for (uint32_t i = 0; i < count; i++)
            holds |= facts[i] == what + 2;
        assert_int_equal(kernel_holds(facts, what + 2, count), holds);
        kernel_mark_equal(facts, what, count, equal);
        kernel_mark_other(facts, what, count, other);
        kernel_raise_where(total, kept, by, count);
        kernel_fill(filled, by, count);
        kernel_number(rows, count);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(equal[i], before[i] | (facts[i] == what));
            assert_int_equal(other[i], before[i] | (facts[i] != what));
            assert_int_equal(total[i], kept[i] ? wrap_add(i, by) : i);
            assert_int_equal(filled[i], by);
            assert_int_equal(rows[i], i);
        }
        memcpy(equal, kept, count);
        kernel_keep(before, negated, count, kept);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(kept[i], equal[i] & (before[i] != negated));
    }
}

static void the_ends_of_a_column_are_found(void **state)
{
    struct random r = {5};
    int64_t column[ROWS] = {0};
    (void)state;
    for (int turn = 0; turn < TURNS; turn++) {
        uint32_t count = random_count(&r), found = 0;
        for (uint32_t i = 0; i < count; i++)
            column[i] = random_below(&r, 2) == 0 ? (int64_t)random_below(&r, 4) : anything(&r);
        int64_t low, high, least = column[0], greatest = column[0];
        for (uint32_t i = 0; i < count; i++) {
            least = column[i] < least ? column[i] : least;
            greatest = column[i] > greatest ? column[i] : greatest;
        }
        for (uint32_t i = 0; i < count; i++)
            found += column[i] == greatest;
        kernel_range(column, count, &low, &high);
        assert_int_equal(low, least);
        assert_int_equal(high, greatest);
        assert_int_equal(kernel_count(column, greatest, count), found);
    }
}

/* ---- totals ---- */

static int64_t halved(int64_t raw, const struct score_range *range)
{
    return range->greatest == range->least ? 0 : (raw - range->least) / 2 % 101;
}

/* Raw scores as rules give them, or as none should. */
static void fill_raw(struct random *r, int64_t *raw, uint32_t count)
{
    uint64_t kind = random_below(r, 5);
    int64_t alike = below(r, 1000);
    for (uint32_t i = 0; i < count; i++) {
        raw[i] = kind == 0   ? alike
                 : kind == 1 ? below(r, KERNEL_EXACT)
                 : kind == 2 ? (int64_t)random_below(r, 1000)
                 : kind == 3 ? (int64_t)random_below(r, 200) - 100
                             : below(r, INT64_MAX / 200);
        if (kind == 4 && random_below(r, 4) == 0)
            raw[i] = SCORE_IGNORED;
    }
}

static void totals_are_normalised_and_weighted_scores(void **state)
{
    struct random r = {6};
    (void)state;
    for (int turn = 0; turn < 4 * TURNS; turn++) {
        int64_t raw[ROWS], total[ROWS], plain[ROWS];
        uint32_t count = random_count(&r);
        const struct plugin p = {.normalise = (enum normalise)random_below(&r, 4),
                                 .normalise_own = halved};
        const struct scorer sc = {&p, (int64_t)random_below(&r, 200), 0};
        struct score_range range = {.any = true};
        fill_raw(&r, raw, count);
        for (uint32_t i = 0; i < count; i++) {
            total[i] = plain[i] = anything(&r);
            score_range_add(&range, raw[i]);
        }
        if (random_below(&r, 3) == 0)
            range.greatest += below(&r, 1000);
        totals_add(&sc, raw, count, &range, total);
        for (uint32_t i = 0; i < count; i++) {
            int64_t score = plugin_normalise(&p, raw[i], &range);
            assert_int_equal(total[i], wrap_add(plain[i], wrap_mul(score, sc.weight)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_resources_are_cut_as_integers_are),
        cmocka_unit_test(the_least_of_two_is_the_weighted_mean_of_shares),
        cmocka_unit_test(the_balance_of_two_resources_is_upstreams),
        cmocka_unit_test(amounts_out_of_bounds_are_not_exact),
        cmocka_unit_test(columns_are_compared_and_counted),
        cmocka_unit_test(marks_follow_their_condition),
        cmocka_unit_test(the_ends_of_a_column_are_found),
        cmocka_unit_test(totals_are_normalised_and_weighted_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
