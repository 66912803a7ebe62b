/* test_landed: while the coordinator has enough to do the queue hears of several pods that were
 * bound at once; of all else, and of those when few are left, at once. */
#define CREDIT 64 /* so more than 32 are enough, and 8 go together */
#include "tests/unit/scheduler/coordinator/coordinator_world.h"

#define TOGETHER 8
#define ENOUGH   32

static int outcomes(void)
{
    struct message m;
    int count = 0;
    while (take(QUEUE, MSG_outcome, &m))
        count++;
    return count;
}

static void bind_some(int count)
{
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p%d", i);
        attempt(name, 1, i + 1);
    }
}

static void ends(int i, const char *how)
{
    struct message m;
    assert_true(take(BINDER, MSG_bind, &m));
    say(binder,
        "bind_result uid=\"u-p%d\" namespace_name=\"default\" name=\"p%d\" node_name=\"%.*s\" %s",
        i, i, STR_ARG(m.bind.node_name), how);
}

static void outcomes_go_together_while_there_is_enough_to_do(void **state)
{
    (void)state;
    int i = 0;
    lead(5);
    bind_some(ENOUGH + 2 * TOGETHER);
    while (i < TOGETHER - 1) {
        ends(i++, "bound=true code=201");
        assert_int_equal(outcomes(), 0);
    }
    ends(i++, "bound=true code=201");
    assert_int_equal(outcomes(), TOGETHER);
    ends(i++, "bound=true code=201");
    tick_after(3);
    assert_int_equal(outcomes(), 0);
    tick_after(1); /* nobody waits for long */
    assert_int_equal(outcomes(), 1);
    ends(i++, "bound=true code=201");
    ends(i++, "code=409 message=\"no\""); /* that pod is to be tried again */
    assert_int_equal(outcomes(), 1);
    while (i < 2 * TOGETHER - 1)
        ends(i++, "bound=true code=201");
    assert_int_equal(outcomes(), 0);
    ends(i++, "bound=true code=201"); /* now there are not enough */
    assert_int_equal(outcomes(), TOGETHER - 2);
    ends(i++, "bound=true code=201");
    assert_int_equal(outcomes(), 1);
}

static void another_queue_hears_nothing_of_it(void **state)
{
    (void)state;
    lead(5);
    bind_some(ENOUGH + TOGETHER);
    ends(0, "bound=true code=201");
    coordinator_gets(queue, &(struct message){.type = MSG_peer_down}, false);
    tick_after(100);
    assert_int_equal(outcomes(), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(outcomes_go_together_while_there_is_enough_to_do),
        TEST(another_queue_hears_nothing_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
