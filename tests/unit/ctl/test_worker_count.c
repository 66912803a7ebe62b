/* test_worker_count: in virtual time, how many workers there are by the nodes of a cluster that
 * grows, shrinks, and is read again. */
#include "ctl/worker_count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct worker_count w;
static struct moment now;

static int begin(void **state)
{
    (void)state;
    w = (struct worker_count){.most = 8};
    now = (struct moment){1000000000};
    return 0;
}

/* Sees that number of nodes twice a second for so long. */
static unsigned see(uint64_t nodes, int seconds)
{
    for (int i = 0; i < 2 * seconds; i++) {
        worker_count_look(&w, now, nodes);
        now = moment_after(now, span_of_ms(500));
    }
    return worker_count_look(&w, now, nodes);
}

static void half_of_the_processors_are_for_workers(void **state)
{
    (void)state;
    assert_int_equal(worker_count_most(1), 0);
    assert_int_equal(worker_count_most(2), 1);
    assert_int_equal(worker_count_most(16), 8);
    assert_int_equal(worker_count_most(1000), WORKER_COUNT_LIMIT);
    assert_true(worker_count_processors() >= 1);
}

static void a_worker_for_each_20000_nodes_but_never_one_alone(void **state)
{
    (void)state;
    static const struct {
        uint64_t nodes;
        unsigned workers;
    } cases[] = {{1, 0},      {5000, 0},   {39999, 0},  {40000, 2},  {59999, 2},   {60000, 3},
                 {100000, 5}, {160000, 8}, {179999, 8}, {200000, 8}, {1u << 31, 8}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(worker_count_by_nodes(&w, cases[i].nodes), cases[i].workers);
    w.most = 1; /* two processors */
    assert_int_equal(worker_count_by_nodes(&w, 1000000), 0);
}

static void more_come_when_the_nodes_have_stayed(void **state)
{
    (void)state;
    assert_int_equal(see(5000, 3600), 0);
    assert_int_equal(see(50000, 9), 0);
    assert_int_equal(see(50000, 2), 2);
    assert_int_equal(see(100000, 9), 2);
    assert_int_equal(see(50000, 1), 2); /* they have not */
    assert_int_equal(see(100000, 9), 2);
    assert_int_equal(see(100000, 2), 5);
}

/* The more so while a list is being read: what is asked for rises with each look. */
static void a_cluster_that_is_being_read_is_counted_once(void **state)
{
    (void)state;
    for (uint64_t nodes = 0; nodes <= 160000; nodes += 10000)
        assert_int_equal(see(nodes, 2), 0);
    assert_int_equal(see(160000, 11), 8);
}

static void fewer_stay_when_the_nodes_have_gone_for_ten_minutes(void **state)
{
    (void)state;
    assert_int_equal(see(160000, 11), 8);
    assert_int_equal(see(60000, 590), 8);
    assert_int_equal(see(0, 30), 8); /* a scheduler that begins anew: the time runs anew, too */
    assert_int_equal(see(60000, 590), 8);
    assert_int_equal(see(60000, 20), 3);
    assert_int_equal(see(100, 700), 2); /* two stay */
    assert_int_equal(see(160000, 11), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_of_the_processors_are_for_workers),
        cmocka_unit_test_setup(a_worker_for_each_20000_nodes_but_never_one_alone, begin),
        cmocka_unit_test_setup(more_come_when_the_nodes_have_stayed, begin),
        cmocka_unit_test_setup(a_cluster_that_is_being_read_is_counted_once, begin),
        cmocka_unit_test_setup(fewer_stay_when_the_nodes_have_gone_for_ten_minutes, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
