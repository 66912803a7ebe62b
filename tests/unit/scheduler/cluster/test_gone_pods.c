/* gone_pods: who went lately is known, however many of them share a place of the table. */
#include "scheduler/cluster/gone_pods.h"
#include "tests/unit/scheduler/cluster.h"

/* UIDs of one place, found by trying. */
static struct str of_place(struct arena *a, uint64_t place, uint32_t *tried)
{
    for (;;) {
        struct str uid = arena_print(a, "uid-%u", (*tried)++);
        if (str_hash(uid) % GONE_PLACES == place)
            return uid;
    }
}

static void the_last_of_a_place_are_known(void **state)
{
    struct arena arena = {0};
    struct gone_pods *gone = memory_take(sizeof(*gone));
    struct str uids[GONE_A_PLACE + 1];
    uint32_t tried = 0;
    (void)state;
    for (uint32_t i = 0; i <= GONE_A_PLACE; i++)
        uids[i] = of_place(&arena, 7, &tried);
    for (uint32_t i = 0; i < GONE_A_PLACE; i++) {
        assert_false(gone_pods_has(gone, uids[i]));
        gone_pods_note(gone, uids[i]);
        gone_pods_note(gone, uids[i]); /* told twice: takes no second place */
    }
    for (uint32_t i = 0; i < GONE_A_PLACE; i++)
        assert_true(gone_pods_has(gone, uids[i]));
    gone_pods_note(gone, uids[0]); /* anew: the second is the oldest now */
    gone_pods_note(gone, uids[GONE_A_PLACE]);
    assert_true(gone_pods_has(gone, uids[0]));
    assert_false(gone_pods_has(gone, uids[1]));
    assert_true(gone_pods_has(gone, uids[2]));
    gone_pods_forget(gone, uids[2]);
    assert_false(gone_pods_has(gone, uids[2]));
    assert_true(gone_pods_has(gone, uids[3]) && gone_pods_has(gone, uids[0]));
    memory_free(gone);
    arena_free(&arena);
}

/* A link that was cut for ten seconds, while a hundred pods a second go. */
static void of_a_thousand_hardly_any_is_forgotten(void **state)
{
    struct arena arena = {0};
    struct gone_pods *gone = memory_take(sizeof(*gone));
    uint32_t known = 0;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        gone_pods_note(gone, arena_print(&arena, "3bc6085a-1a1a-4d56-979e-%u", i));
    for (uint32_t i = 0; i < 1000; i++)
        known += gone_pods_has(gone, arena_print(&arena, "3bc6085a-1a1a-4d56-979e-%u", i));
    assert_in_range(known, 995, 1000);
    memory_free(gone);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_of_a_place_are_known),
        cmocka_unit_test(of_a_thousand_hardly_any_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
