/* test_ledger: sums kept row by row are those that adding everything up gives, whatever rows said
 * before; what is told to others, and what others have a part in. */
#include "proto/base/random.h"
#include "scheduler/table/ledger.h"
#include "tests/unit/scheduler/cluster.h"

enum { ROWS = 12, STEPS = 4000, SLOTS = 3, KEYS = 3, VALUES = 5 };

static int64_t sum_of(const struct counts *c, uint32_t slot, uint32_t key, uint32_t value,
                      bool *there)
{
    int64_t count;
    *there = counts_get(c, slot, key, value, &count);
    return count;
}

/* What all rows say now, one after another. */
struct said {
    struct entries rows[ROWS + 1]; /* the last: the others */
};

static void say_something(struct random *r, struct entries *e)
{
    e->count = 0;
    for (uint64_t i = random_below(r, 4); i > 0; i--)
        entries_add(e, (uint32_t)random_below(r, SLOTS), (uint32_t)random_below(r, KEYS),
                    (uint32_t)random_below(r, VALUES), (int64_t)random_below(r, 5) - 2);
}

/* The sums over the rows from scratch; folded: as others are told. */
static struct counts *add_up(const struct said *s, uint32_t rows, uint32_t folded, struct arena *a)
{
    struct counts *c = counts_new(a);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = 0; i < s->rows[row].count; i++) {
            const struct count_entry *e = &s->rows[row].at[i];
            bool fold = folded != 0 && e->key == folded;
            counts_add(c, e->slot, e->key, fold ? 0 : e->value, fold ? 1 : e->count);
        }
    return c;
}

static void assert_same(const struct counts *kept, const struct counts *anew)
{
    uint32_t in_slot[SLOTS] = {0};
    assert_int_equal(counts_size(kept), counts_size(anew));
    uint32_t at = 0;
    struct count_entry e;
    while (counts_next(anew, &at, &e)) {
        bool there;
        assert_int_equal(sum_of(kept, e.slot, e.key, e.value, &there), e.count);
        assert_true(there);
        in_slot[e.slot]++;
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        assert_int_equal(counts_in_slot(kept, slot), in_slot[slot]);
}

static bool is_listed(const struct entries *list, const struct count_entry *e)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i].slot == e->slot && list->at[i].key == e->key &&
            list->at[i].value == e->value)
            return true;
    return false;
}

/* Every entry that differs between the two is among the changed ones. */
static void assert_changes_told(const struct counts *before, const struct counts *after,
                                const struct entries *changed)
{
    uint32_t at = 0;
    struct count_entry e;
    bool there;
    while (counts_next(before, &at, &e))
        if (sum_of(after, e.slot, e.key, e.value, &there) != e.count || !there)
            assert_true(is_listed(changed, &e));
    at = 0;
    while (counts_next(after, &at, &e))
        if (sum_of(before, e.slot, e.key, e.value, &there) != e.count || !there)
            assert_true(is_listed(changed, &e));
}

static void sums_follow_every_row(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct random r = {seed};
        struct said said = {0};
        struct ledger *l = ledger_new(ROWS);
        struct entries changed = {0};
        uint32_t folded = (uint32_t)random_below(&r, KEYS);
        ledger_tell(l, folded);
        for (int step = 0; step < STEPS / 10; step++) {
            struct arena a = {0};
            uint32_t row = (uint32_t)random_below(&r, ROWS + 1);
            struct counts *before = add_up(&said, ROWS + 1, 0, &a);
            changed.count = 0;
            say_something(&r, &said.rows[row]);
            if (row < ROWS)
                ledger_set(l, row, &said.rows[row], &changed);
            else
                ledger_others(l, &said.rows[row], &changed);
            struct counts *after = add_up(&said, ROWS + 1, 0, &a);
            assert_same(ledger_sums(l), after);
            assert_same(ledger_told(l), add_up(&said, ROWS, folded, &a));
            assert_changes_told(before, after, &changed);
            arena_free(&a);
        }
        for (uint32_t row = 0; row <= ROWS; row++)
            entries_free(&said.rows[row]);
        entries_free(&changed);
        ledger_free(&l);
    }
}

static void what_concerns_one_row_is_told_to_nobody(void **state)
{
    (void)state;
    struct ledger *l = ledger_new(2);
    struct entries e = {0};
    ledger_tell(l, 0);
    entries_add(&e, 0, COUNTS_OWN, 7, 3);
    entries_add(&e, 0, 5, 7, 4);
    ledger_set(l, 0, &e, NULL);
    assert_int_equal(counts_size(ledger_sums(l)), 2);
    assert_int_equal(counts_size(ledger_told(l)), 1);
    entries_free(&e);
    ledger_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_follow_every_row),
        cmocka_unit_test(what_concerns_one_row_is_told_to_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
