/* test_hooks: plugins with hooks in the queue: who is held back at PreEnqueue and what lets him go,
 * and the order that a plugin gives. */
#include "proto/base/log.h"
#include "queue/bus_plugins/held.h"
#include "queue/hooks/hooks.h"
#include "queue/move.h"
#include "queue/queues.h"
#include "tests/unit/queue/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND 1000000000LL

static bool is_open;
static int asked;

static bool wait_until_open(const struct pre_enqueue_question *q, struct str *reason)
{
    asked++;
    *reason = arena_print(q->arena, "closed for %.*s", STR_ARG(q->pod->name));
    return is_open || q->pod->labels.count == 0;
}

static bool never(const struct pre_enqueue_question *q, struct str *reason)
{
    (void)q;
    *reason = STR_LITERAL("never");
    return !str_is(q->pod->name, "never");
}

static int64_t by_length(const struct pod *pod)
{
    return -(int64_t)pod->name.len;
}

static const struct queue_plugin door = {.name = "Door", .pre_enqueue = wait_until_open},
                                 wall = {.name = "Wall", .pre_enqueue = never},
                                 tailor = {.name = "Tailor", .sort_key = by_length};
static const struct queue_plugin *hooks[] = {&door, &wall};
static const struct surroundings around = {.hooks = hooks, .hook_count = 2, .sort = &tailor};

static struct queues q;
static const struct moment now = {100 * SECOND};

static int begin(void **state)
{
    (void)state;
    log_open("test", LOG_LEVEL_error);
    queues_init(&q, &(struct queues_options){.backoff_initial = {SECOND},
                                             .backoff_max = {10 * SECOND},
                                             .unschedulable_max = {300 * SECOND}});
    is_open = false;
    asked = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    check_queues(&q);
    queues_free(&q);
    return 0;
}

static struct entry *add_to(const char *name, bool labelled, const struct surroundings *to)
{
    struct label label = {STR_LITERAL("x"), STR_LITERAL("y")};
    struct pod pod = {.uid = str_of(name),
                      .namespace_name = STR_LITERAL("default"),
                      .name = str_of(name),
                      .resource_version = 1,
                      .labels = {labelled, &label}};
    char key[64];
    snprintf(key, sizeof(key), "default/%s", name);
    return queues_add(&q, now, str_of(key), &pod, to);
}

static struct entry *add(const char *name, bool labelled)
{
    return add_to(name, labelled, &around);
}

static void node_comes(void)
{
    const struct node node = {.name = STR_LITERAL("n")};
    const struct event event = {
        .resource = EVENT_OF_node, .action = EVENT_ADD, .new_node = &node, .release = 36};
    move_all(&q, now, &event, NULL);
}

static void who_is_held_back_is_not_tried_until_an_event_helps(void **state)
{
    (void)state;
    struct entry *e = add("held", true);
    assert_int_equal(e->gate, GATE_hook);
    assert_ptr_equal(e->held_by_hook, &door);
    assert_int_equal(e->place, PLACE_unschedulable);
    assert_int_equal(q.unschedulable.gated, 1);
    assert_null(queues_pop(&q, now));
    node_comes(); /* it is asked again, and still held */
    assert_int_equal(asked, 2);
    assert_null(queues_pop(&q, now));
    is_open = true;
    node_comes();
    assert_int_equal(e->gate, GATE_none);
    assert_int_equal(q.unschedulable.gated, 0);
    assert_ptr_equal(queues_pop(&q, now), e);
}

static void all_plugins_have_to_agree(void **state)
{
    (void)state;
    struct entry *e = add("never", false);
    assert_int_equal(e->gate, GATE_hook);
    assert_ptr_equal(e->held_by_hook, &wall);
    is_open = true;
    node_comes();
    queues_look_at_gates(&q, now);
    assert_int_equal(e->gate, GATE_hook);
    assert_null(queues_pop(&q, now));
}

static void plugins_on_the_bus_are_asked_behind_the_hooks(void **state)
{
    (void)state;
    struct holding holding = {0};
    const struct bus_plugin quota = {.name = STR_LITERAL("Quota"), .deadline_ms = 500};
    const uint64_t bit = plugins_learn(&q.named, quota.name);
    const struct consults consults = {
        .holding = &holding, .count = 1, .gates = {&quota}, .gate_bits = {bit}};
    struct surroundings both = around;
    both.consults = &consults;
    struct entry *e = add_to("held", true, &both);
    assert_int_equal(e->gate, GATE_hook);
    assert_null(e->held);
    is_open = true;
    node_comes();
    assert_int_equal(e->gate, GATE_plugin);
    assert_null(e->held_by_hook);
    assert_int_equal(e->held_by, bit);
    assert_int_equal(e->key, -4); /* the tailor's, as nobody on the bus sorts */
    assert_non_null(holding.asking.line[0].first);
    assert_null(queues_pop(&q, now));
    queues_deleted(&q, now, STR_LITERAL("default/held"));
    assert_null(holding.first);
    assert_null(holding.asking.line[0].first);
}

static void who_waits_in_line_is_asked_anew_with_another_configuration(void **state)
{
    (void)state;
    is_open = true;
    struct entry *e = add("late", true);
    assert_int_equal(e->place, PLACE_active);
    is_open = false;
    queues_look_at_gates(&q, now);
    assert_int_equal(e->gate, GATE_hook);
    assert_int_equal(asked, 2);
    assert_null(queues_pop(&q, now));
}

static void the_plugin_s_key_is_the_order(void **state)
{
    (void)state;
    struct entry *longest = add("longest", false), *l = add("l", false), *mid = add("mid", false),
                 *m = add("m", false);
    assert_ptr_equal(queues_pop(&q, now), l); /* of two alike the one that came first */
    assert_ptr_equal(queues_pop(&q, now), m);
    assert_ptr_equal(queues_pop(&q, now), mid);
    assert_ptr_equal(queues_pop(&q, now), longest);
}

static void plugins_are_known_by_name(void **state)
{
    (void)state;
    const struct queue_plugin *fifo = queue_plugin_find(STR_LITERAL("FIFOSort")), **found;
    struct str names[] = {STR_LITERAL("SchedulingGates"), STR_LITERAL("FIFOSort")};
    const struct pod urgent = {.priority = 7};
    struct arena a = {0};
    assert_non_null(fifo);
    assert_int_equal(hooks_sort_key(&(struct surroundings){.sort = fifo}, &urgent), 0);
    assert_int_equal(hooks_sort_key(&(struct surroundings){.sort = NULL}, &urgent), 7);
    assert_null(queue_plugin_find(STR_LITERAL("Nobody")));
    assert_int_equal(hooks_before_queue((struct strs){2, names}, &found, &a), 0);
    arena_free(&a);
}

#define HOOKS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOOKS_TEST(who_is_held_back_is_not_tried_until_an_event_helps),
        HOOKS_TEST(all_plugins_have_to_agree),
        HOOKS_TEST(plugins_on_the_bus_are_asked_behind_the_hooks),
        HOOKS_TEST(who_waits_in_line_is_asked_anew_with_another_configuration),
        HOOKS_TEST(the_plugin_s_key_is_the_order),
        cmocka_unit_test(plugins_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
