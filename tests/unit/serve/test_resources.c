/* test_resources: the page is built from a snapshot of pods, in upstream's words, and is whole or
 * refused. */
#include "ctl/serve/resources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WATCHER_ADDRESS ((struct address){WATCHER, 7})

static struct resources *resources;
static struct outbox out;
static struct buffer page;
static struct moment now = {1000000000};

static void hear(enum message_type type, int64_t part, const struct pod *pod)
{
    struct message m = {.type = type};
    if (pod != NULL)
        m.pod_set.pod = *pod;
    struct delivery in = {.from = WATCHER_ADDRESS, .message = &m};
    if (part > 0) {
        in.epoch = 3;
        in.sequence = 50;
        in.part = part;
    }
    resources_handle(resources, now, &in, &out);
}

static int set_up(void **state)
{
    (void)state;
    resources = resources_new();
    hear(MSG_peer_up, 0, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    resources_free(&resources);
    outbox_free(&out);
    buffer_free(&page);
    return 0;
}

static enum resources_state take(int64_t number)
{
    buffer_reset(&page);
    return resources_take(resources, number, &page);
}

static void expect(const char *line)
{
    if (page.at == NULL || strstr(page.at, line) == NULL)
        fail_msg("no \"%s\" in:\n%s", line, page.at != NULL ? page.at : "");
}

static const struct pod *a_pod(void)
{
    static struct quantity requests[2], limits[2];
    static struct pod pod;
    requests[0] = (struct quantity){STR_LITERAL("cpu"), 100};
    requests[1] = (struct quantity){STR_LITERAL("example.com/x"), 2};
    limits[0] = (struct quantity){STR_LITERAL("cpu"), 1500};
    limits[1] = (struct quantity){STR_LITERAL("hugepages-2Mi"), 4194304};
    pod = (struct pod){.namespace_name = STR_LITERAL("default"),
                       .name = STR_LITERAL("lim"),
                       .scheduler_name = STR_LITERAL("a\"b"),
                       .priority = 2000001000,
                       .has_priority = true,
                       .request = {2, requests},
                       .limits = {2, limits}};
    return &pod;
}

static void a_page_is_what_upstream_prints(void **state)
{
    (void)state;
    int64_t number = resources_ask(resources, now, &out);
    assert_int_equal(take(number), RESOURCES_wait);
    hear(MSG_snapshot_begin, 1, NULL);
    hear(MSG_pod_set, 2, a_pod());
    assert_int_equal(take(number), RESOURCES_wait);
    hear(MSG_snapshot_end, 3, NULL);
    assert_int_equal(take(number), RESOURCES_ready);
    expect("# TYPE kube_pod_resource_limit gauge\nkube_pod_resource_limit{namespace=\"default\","
           "node=\"\",pod=\"lim\",priority=\"2000001000\",resource=\"cpu\",scheduler=\"a\\\"b\","
           "unit=\"cores\"} 1.5\n");
    expect("resource=\"hugepages-2Mi\",scheduler=\"a\\\"b\",unit=\"bytes\"} 4.194304e+06\n# HELP "
           "kube_pod_resource_request [STABLE] Resources requested by workloads on the cluster, ");
    expect("resource=\"cpu\",scheduler=\"a\\\"b\",unit=\"cores\"} 0.1\n");
    expect("resource=\"example.com/x\",scheduler=\"a\\\"b\",unit=\"\"} 2\n");
}

static void a_pod_without_a_priority_has_an_empty_label(void **state)
{
    (void)state;
    int64_t number = resources_ask(resources, now, &out);
    struct pod pod = *a_pod();
    hear(MSG_snapshot_begin, 1, NULL);
    pod.priority = 0;
    hear(MSG_pod_set, 2, &pod);
    pod.name = STR_LITERAL("unset");
    pod.has_priority = false;
    hear(MSG_pod_set, 3, &pod);
    hear(MSG_snapshot_end, 4, NULL);
    assert_int_equal(take(number), RESOURCES_ready);
    expect("pod=\"lim\",priority=\"0\",resource=\"cpu\"");
    expect("pod=\"unset\",priority=\"\",resource=\"cpu\"");
}

static void who_asks_meanwhile_gets_the_same_page_and_then_a_new_one(void **state)
{
    (void)state;
    int64_t first = resources_ask(resources, now, &out);
    assert_int_equal(resources_ask(resources, now, &out), first);
    hear(MSG_snapshot_begin, 1, NULL);
    hear(MSG_snapshot_end, 2, NULL);
    assert_int_equal(take(first), RESOURCES_ready);
    assert_int_equal(page.len, 0);
    int64_t second = resources_ask(resources, now, &out);
    assert_true(second > first);
    assert_int_equal(take(second), RESOURCES_wait);
}

static void a_part_that_is_missing_fails_the_page(void **state)
{
    (void)state;
    int64_t number = resources_ask(resources, now, &out);
    hear(MSG_snapshot_begin, 1, NULL);
    hear(MSG_pod_set, 3, a_pod());
    assert_int_equal(take(number), RESOURCES_failed);
    expect("does not answer");
}

static void a_watcher_that_is_silent_or_gone_fails_the_page(void **state)
{
    (void)state;
    int64_t number = resources_ask(resources, now, &out);
    hear(MSG_snapshot_begin, 1, NULL);
    struct moment late = resources_tick(resources, now);
    assert_int_equal(take(number), RESOURCES_wait);
    resources_tick(resources, late);
    assert_int_equal(take(number), RESOURCES_failed);
    number = resources_ask(resources, now, &out);
    hear(MSG_peer_down, 0, NULL);
    assert_int_equal(take(number), RESOURCES_failed);
    number = resources_ask(resources, now, &out); /* nobody to ask */
    assert_int_equal(take(number), RESOURCES_failed);
}

static void more_is_granted_as_pods_come(void **state)
{
    (void)state;
    resources_ask(resources, now, &out);
    size_t asked = out.count;
    hear(MSG_snapshot_begin, 1, NULL);
    for (int64_t i = 2; i <= 2001; i++)
        hear(MSG_pod_set, i, a_pod());
    assert_int_equal(out.count, asked + 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_page_is_what_upstream_prints),
        TEST(a_pod_without_a_priority_has_an_empty_label),
        TEST(who_asks_meanwhile_gets_the_same_page_and_then_a_new_one),
        TEST(a_part_that_is_missing_fails_the_page),
        TEST(a_watcher_that_is_silent_or_gone_fails_the_page),
        TEST(more_is_granted_as_pods_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
