/* counts: what several workers count, added up and given back to each of them. */
#include "tests/unit/scheduler/cluster.h"

#include "scheduler/table/counts.h"

#define WORKERS 3

struct desk {
    struct arena arena;
    struct atoms *atoms[WORKERS];
};

static int desk_setup(void **state)
{
    struct desk *d = memory_take(sizeof(*d));
    for (int i = 0; i < WORKERS; i++)
        d->atoms[i] = atoms_new();
    *state = d;
    return 0;
}

static int desk_teardown(void **state)
{
    struct desk *d = *state;
    for (int i = 0; i < WORKERS; i++)
        atoms_free(&d->atoms[i]);
    arena_free(&d->arena);
    memory_free(d);
    return 0;
}

#define DESK_TEST(f) cmocka_unit_test_setup_teardown(f, desk_setup, desk_teardown)

static int64_t get(const struct counts *c, uint32_t slot, uint32_t key, uint32_t value)
{
    int64_t count;
    return counts_get(c, slot, key, value, &count) ? count : -1000;
}

static void entries_exist_once_they_were_added(void **state)
{
    struct desk *d = *state;
    struct counts *c = counts_new(&d->arena);
    assert_int_equal(get(c, 0, 1, 2), -1000);
    counts_add(c, 0, 1, 2, 0);
    assert_int_equal(get(c, 0, 1, 2), 0);
    counts_add(c, 0, 1, 2, 5);
    counts_add(c, 1, 1, 2, 7);
    counts_add(c, 0, 1, 2, -3);
    assert_int_equal(get(c, 0, 1, 2), 2);
    assert_int_equal(get(c, 1, 1, 2), 7);
    assert_int_equal(counts_size(c), 2);
    counts_remove(c, 0, 1, 2);
    assert_int_equal(get(c, 0, 1, 2), -1000);
    assert_int_equal(counts_size(c), 1);
}

/* Against a plain array, with removals, through many growths. */
static void a_long_random_history_is_kept(void **state)
{
    struct desk *d = *state;
    struct random r = {7};
    struct counts *c = counts_new(&d->arena);
    int64_t plain[4][50], there = 0;
    for (int i = 0; i < 200; i++)
        plain[i / 50][i % 50] = -1000;
    for (int i = 0; i < 20000; i++) {
        uint32_t slot = (uint32_t)random_below(&r, 4), value = (uint32_t)random_below(&r, 50);
        int64_t *p = &plain[slot][value];
        if (random_below(&r, 3) == 0) {
            counts_remove(c, slot, 9, value + 1);
            there -= *p != -1000;
            *p = -1000;
            continue;
        }
        counts_add(c, slot, 9, value + 1, i);
        there += *p == -1000;
        *p = (*p == -1000 ? 0 : *p) + i;
    }
    assert_int_equal(counts_size(c), there);
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(get(c, i / 50, 9, i % 50 + 1), plain[i / 50][i % 50]);
}

/* Each worker has counted some domains; one of them is known to the first worker only. */
static void told(struct desk *d, int worker, const char *const *domains, struct plugin_counts *out)
{
    struct atoms *atoms = d->atoms[worker];
    struct counts *c = counts_new(&d->arena);
    uint32_t key = atom_take(atoms, STR_LITERAL("zone"));
    for (; *domains != NULL; domains++)
        counts_add(c, 0, key, atom_take(atoms, str_of(*domains)), worker + 1);
    counts_add(c, 1, 0, 0, 10);
    out->plugin = STR_LITERAL("P");
    counts_tell(c, atoms, out, &d->arena);
}

static void parts_add_up_and_foreign_domains_exist(void **state)
{
    struct desk *d = *state;
    static const char *const domains[WORKERS][4] = {{"a", "", "lonely"}, {"a", "b"}, {"b", ""}};
    struct plugin_counts part[WORKERS];
    struct merged_counts all;
    const struct plugin_counts *lists[WORKERS] = {&part[0], &part[1], &part[2]};
    const uint32_t sizes[WORKERS] = {1, 1, 1};
    for (int i = 0; i < WORKERS; i++)
        told(d, i, domains[i], &part[i]);
    counts_merge(lists, sizes, WORKERS, &all, &d->arena);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.at[0].counts.count, 5); /* "", a, b, lonely and the one of no domain */
    struct counts *c = counts_new(&d->arena);
    struct atoms *atoms = d->atoms[1];
    counts_take(c, atoms, &all.at[0]);
    uint32_t key = atom_find(atoms, STR_LITERAL("zone"));
    assert_int_equal(counts_size(c), 5);
    assert_int_equal(get(c, 0, key, atom_find(atoms, STR_LITERAL("a"))), 3);
    assert_int_equal(get(c, 0, key, atom_find(atoms, STR_LITERAL("b"))), 5);
    assert_int_equal(get(c, 1, 0, 0), 30);
    uint32_t at = 0, lonely = 0;
    struct count_entry e;
    while (counts_next(c, &at, &e))
        lonely += str_is(counts_text(c, atoms, e.value), "lonely");
    assert_int_equal(lonely, 1);
}

static void equal_contents_are_the_same(void **state)
{
    struct desk *d = *state;
    static const char *const one[] = {"a", "b", NULL}, *const other[] = {"b", "a", NULL},
                             *const less[] = {"a", NULL};
    struct plugin_counts a, b, c;
    told(d, 0, one, &a);
    told(d, 0, other, &b);
    told(d, 0, less, &c);
    assert_true(counts_same(&a, &b));
    assert_false(counts_same(&a, &c));
    b.counts.at[0].count++;
    assert_false(counts_same(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(entries_exist_once_they_were_added),
        DESK_TEST(a_long_random_history_is_kept),
        DESK_TEST(parts_add_up_and_foreign_domains_exist),
        DESK_TEST(equal_contents_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
