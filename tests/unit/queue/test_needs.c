/* test_needs: the index of waiting pods: who shares a need, whom an event finds, and that nothing
 * stays behind. That hints and index say the same of one pod is test_hints' to show. */
#include "queue/entry.h"
#include "queue/needs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PODS 60

static struct packed_store *store;
static struct needs needs;
static const struct surroundings around;
static struct entry *pods[PODS];

static struct entry *wait_for_cpu(int64_t cpu, const char *plugin)
{
    struct quantity request = {STR_LITERAL("cpu"), cpu};
    struct pod pod = {.uid = STR_LITERAL("u"), .request = {1, &request}};
    struct entry *e = entry_new(store, &pod);
    e->around = &around;
    e->rejectors = plugins_bit(plugin);
    needs_add(&needs, e);
    return e;
}

/* How many the event finds, in all and among the first. */
static size_t find(const struct event *event, size_t first)
{
    size_t count = 0;
    for (struct entry *e = needs_helped(&needs, event), *next; e != NULL; e = next) {
        bool is_first = false;
        for (size_t i = 0; i < first; i++)
            is_first = is_first || pods[i] == e;
        assert_true(is_first);
        next = e->found_next;
        e->found_next = NULL;
        e->helped = 0;
        count++;
    }
    return count;
}

static size_t find_room(int64_t cpu, size_t first)
{
    struct quantity room[] = {{STR_LITERAL("cpu"), cpu}, {STR_LITERAL("pods"), 10}};
    struct node node = {.name = STR_LITERAL("n"), .allocatable = {2, room}};
    struct event event = {.resource = EVENT_OF_node, .action = EVENT_ADD, .new_node = &node};
    return find(&event, first);
}

static int set_up(void **state)
{
    (void)state;
    store = store_new(&store_pods);
    needs_init(&needs);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < PODS && pods[i] != NULL; i++) {
        needs_remove(&needs, pods[i]);
        entry_free(&pods[i]);
    }
    needs_free(&needs); /* looks that nothing is left */
    store_free(&store);
    return 0;
}

static void pods_alike_in_what_rejected_them_share_a_need(void **state)
{
    (void)state;
    for (size_t i = 0; i < PODS; i++)
        pods[i] = wait_for_cpu(100 + 50 * (int64_t)(i % 3), "NodeResourcesFit");
    assert_int_equal(needs.count, 3);
    assert_int_equal(find_room(99, 0), 0);
    assert_int_equal(find_room(150, PODS), PODS / 3 * 2);
    assert_int_equal(find_room(200, PODS), PODS);
}

static void an_event_finds_just_the_pods_that_it_has_room_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < PODS; i++)
        pods[i] = wait_for_cpu(1 + 7 * (int64_t)i, "NodeResourcesFit");
    assert_int_equal(needs.count, PODS);
    for (size_t i = 0; i < PODS; i++) {
        assert_int_equal(find_room(1 + 7 * (int64_t)i, i + 1), i + 1);
        assert_int_equal(find_room(7 * (int64_t)i, i), i);
    }
}

static void a_pod_that_changes_waits_for_what_it_needs_now(void **state)
{
    (void)state;
    struct quantity request = {STR_LITERAL("cpu"), 50};
    struct pod pod = {.uid = STR_LITERAL("u"), .request = {1, &request}};
    pods[0] = wait_for_cpu(100, "NodeResourcesFit");
    assert_int_equal(find_room(60, 0), 0);
    entry_replace(pods[0], &pod);
    needs_follow(&needs, pods[0]);
    assert_int_equal(needs.count, 1);
    assert_int_equal(find_room(60, 1), 1);
}

static void a_pod_is_found_once_however_many_plugins_are_helped(void **state)
{
    (void)state;
    pods[0] = wait_for_cpu(100, "NodeResourcesFit");
    needs_remove(&needs, pods[0]);
    pods[0]->rejectors |= plugins_bit("NodeName") | plugins_bit("somebody's own");
    needs_add(&needs, pods[0]);
    assert_int_equal(needs.count, 3);
    assert_int_equal(find_room(100, 1), 1);
}

static void a_plugin_that_nobody_knows_hears_of_everything(void **state)
{
    (void)state;
    pods[0] = wait_for_cpu(100, "somebody's own");
    pods[1] = wait_for_cpu(100, "NodeResourcesFit");
    struct event event = {.resource = EVENT_OF_csi_driver, .action = EVENT_DELETE};
    assert_int_equal(find(&event, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pods_alike_in_what_rejected_them_share_a_need, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_event_finds_just_the_pods_that_it_has_room_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_pod_that_changes_waits_for_what_it_needs_now, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_pod_is_found_once_however_many_plugins_are_helped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_plugin_that_nobody_knows_hears_of_everything, set_up,
                                        tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
