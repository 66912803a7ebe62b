/* test_groups: patches of PodGroups' status through the whole core: what they say, in one request,
 * and what happens when it is refused, lost or overtaken. */
#include "tests/unit/binder/world.h"

#define GROUP_PATH    "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/g"
#define PATCH_IN_TREE "PATCH /apis/scheduling.k8s.io/v1alpha2"
#define PATCH_G       "PATCH " GROUP_PATH "/status?fieldManager=berth"
#define WHOLE_G       "PATCH " GROUP_PATH "?fieldManager=berth"
#define EVENTS        "POST /apis/events.k8s.io"

static struct gang group_g(void)
{
    return (struct gang){.api = STR_LITERAL("scheduling.x-k8s.io"),
                         .namespace_name = STR_LITERAL("default"),
                         .name = STR_LITERAL("g"),
                         .uid = STR_LITERAL("u"),
                         .resource_version = 7,
                         .min_member = 3,
                         .phase = STR_LITERAL("Pending"),
                         .running = 1};
}

static void say_status(struct world *w, const char *phase, int64_t running)
{
    struct message m = {.type = MSG_group_status};
    m.group_status = (struct group_status){
        .group = group_g(), .phase = str_of(phase), .running = running, .scheduled = 9};
    world_say(w, &m, SCHEDULER);
}

static void say_failed(struct world *w, const char *text, bool scheduled)
{
    struct message m = {.type = MSG_group_failed};
    m.group_failed =
        (struct group_failed){.group = group_g(),
                              .scheduled = scheduled,
                              .reason = scheduled ? REASON_scheduled : REASON_unschedulable,
                              .message = str_of(text),
                              .scheduler_name = STR_LITERAL("default-scheduler")};
    world_say(w, &m, SCHEDULER);
}

static void what_differs_is_patched(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_status(w, "Running", 0);
    world_tick(w);
    struct world_request *r = world_find(w, PATCH_G);
    assert_string_equal(r->type, "application/merge-patch+json");
    assert_string_equal(r->body, "{\"metadata\":{\"uid\":\"u\"},\"status\":{\"phase\":\"Running\","
                                 "\"running\":0}}");
    world_answer(w, PATCH_G, 200, "{}");
    say_status(w, "Pending", 1); /* as it was seen */
    world_tick(w);
    assert_null(world_find(w, "PATCH"));
    world_free(w);
}

static void other_apis_have_their_ways(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = {.type = MSG_group_status};
    m.group_status = (struct group_status){.group = group_g(),
                                           .phase = STR_LITERAL("Scheduling"),
                                           .running = 1,
                                           .scheduled = 2,
                                           .occupied_by = STR_LITERAL("default/job"),
                                           .schedule_start = 1767323045000000};
    m.group_status.group.api = STR_LITERAL("scheduling.sigs.k8s.io");
    world_say(w, &m, SCHEDULER);
    struct message failed = {.type = MSG_group_failed};
    failed.group_failed = (struct group_failed){
        .group = group_g(), .reason = REASON_unschedulable, .message = STR_LITERAL("no room")};
    failed.group_failed.group.api = STR_LITERAL("scheduling.k8s.io");
    world_say(w, &failed, SCHEDULER);
    world_tick(w);
    struct world_request *r = world_find(w, "PATCH /apis/scheduling.sigs.k8s.io/v1alpha1");
    assert_non_null(strstr(r->body, "\"scheduled\":2,\"occupiedBy\":\"default/job\","
                                    "\"scheduleStartTime\":\"2026-01-02T03:04:05Z\""));
    r = world_find(w, "PATCH /apis/scheduling.k8s.io/v1alpha2");
    assert_string_equal(r->type, "application/strategic-merge-patch+json");
    world_free(w);
}

/* What 1.37 serves is written where and how 1.37 writes it. */
static void the_version_that_was_read_is_written(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message failed = {.type = MSG_group_failed};
    failed.group_failed = (struct group_failed){
        .group = group_g(), .reason = REASON_unschedulable, .message = STR_LITERAL("no room")};
    failed.group_failed.group.api = STR_LITERAL("scheduling.k8s.io");
    failed.group_failed.group.version = STR_LITERAL("v1beta1");
    world_say(w, &failed, SCHEDULER);
    world_tick(w);
    struct world_request *r = world_find(w, "PATCH /apis/scheduling.k8s.io/v1beta1");
    assert_string_equal(r->type, "application/strategic-merge-patch+json");
    assert_non_null(strstr(r->body, "\"type\":\"PodGroupInitiallyScheduled\""));
    assert_non_null(strstr(world_find(w, EVENTS)->body, "\"scheduling.k8s.io/v1beta1\""));
    world_free(w);
}

static void condition_and_counts_share_a_patch(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_failed(w, "first", false);
    say_failed(w, "no room", false);
    say_status(w, "Scheduling", 1);
    world_tick(w);
    assert_int_equal(world_count(w, "/status"), 1);
    struct world_request *r = world_find(w, PATCH_G);
    assert_non_null(strstr(r->body, "\"phase\":\"Scheduling\",\"conditions\":[{\"type\":"
                                    "\"PodGroupScheduled\",\"status\":\"False\",\"reason\":"
                                    "\"Unschedulable\",\"message\":\"no room\","
                                    "\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}]"));
    assert_non_null(strstr(world_find(w, EVENTS)->body, "\"kind\":\"PodGroup\""));
    world_free(w);
}

static void what_comes_meanwhile_follows(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_status(w, "Scheduling", 1);
    world_tick(w);
    say_status(w, "Running", 3);
    world_tick(w);
    assert_int_equal(world_count(w, "/status"), 1);
    world_answer(w, PATCH_G, 200, "{}");
    world_tick(w);
    assert_non_null(strstr(world_find(w, PATCH_G)->body, "\"phase\":\"Running\",\"running\":3"));
    world_answer(w, PATCH_G, 200, "{}");
    world_tick(w);
    assert_null(world_find(w, "PATCH"));
    world_free(w);
}

static void passing_errors_are_tried_four_times(void **state)
{
    (void)state;
    static const int codes[] = {0, 409, 503};
    struct world *w = world_leading();
    say_status(w, "Scheduling", 1);
    world_tick(w);
    for (int i = 0; i < 3; i++) {
        world_answer(w, PATCH_G, codes[i], "{}");
        world_step(w, 400);
        assert_non_null(world_find(w, PATCH_G));
    }
    world_answer(w, PATCH_G, 500, "{}");
    world_step(w, 5000);
    assert_null(world_find(w, "PATCH"));
    say_status(w, "Scheduling", 1); /* it is told again, and written */
    world_tick(w);
    assert_non_null(world_find(w, PATCH_G));
    world_free(w);
}

static void say_in_tree(struct world *w, bool scheduled)
{
    struct message m = {.type = MSG_group_failed};
    m.group_failed = (struct group_failed){.group = group_g(),
                                           .scheduled = scheduled,
                                           .reason = REASON_unschedulable,
                                           .message = STR_LITERAL("no room")};
    m.group_failed.group.api = STR_LITERAL("scheduling.k8s.io");
    m.group_failed.group.resource_version = 77;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
}

/* A scheduler of a new life may not have seen yet that the group is scheduled. */
static void not_scheduled_is_said_of_the_group_as_it_was_seen(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_in_tree(w, false);
    assert_non_null(strstr(world_find(w, PATCH_IN_TREE)->body, "\"resourceVersion\":\"77\""));
    world_answer(w, PATCH_IN_TREE, 409, "{}");
    world_step(w, 5000);
    assert_null(world_find(w, "PATCH"));
    say_in_tree(w, true);
    assert_null(strstr(world_find(w, PATCH_IN_TREE)->body, "resourceVersion"));
    world_answer(w, PATCH_IN_TREE, 409, "{}");
    world_step(w, 400);
    assert_non_null(world_find(w, PATCH_IN_TREE));
    world_free(w);
}

static void refusals_end_it(void **state)
{
    (void)state;
    static const int codes[] = {400, 403, 422};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        struct world *w = world_leading();
        say_status(w, "Scheduling", 1);
        world_tick(w);
        world_answer(w, PATCH_G, codes[i], "{}");
        world_step(w, 1000);
        assert_null(world_find(w, "PATCH"));
        world_free(w);
    }
}

/* Old definitions have no /status; a group that is gone answers 404 for both. */
static void without_a_subresource_the_object_is_patched(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_status(w, "Scheduling", 1);
    world_tick(w);
    world_answer(w, PATCH_G, 404, "{}");
    world_tick(w);
    assert_non_null(strstr(world_find(w, WHOLE_G)->body, "\"phase\":\"Scheduling\""));
    world_answer(w, WHOLE_G, 404, "{}");
    world_tick(w);
    assert_null(world_find(w, "PATCH"));
    world_free(w);
}

/* The group was told of as it is already, while the patch that is answered 404 was on the wire. */
static void nothing_may_be_left_to_say_without_a_subresource(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_status(w, "Scheduling", 1);
    world_tick(w);
    say_status(w, "Pending", 1); /* as it was seen */
    world_answer(w, PATCH_G, 404, "{}");
    world_tick(w);
    assert_null(world_find(w, "PATCH"));
    say_status(w, "Scheduling", 1);
    world_tick(w);
    assert_non_null(world_find(w, PATCH_G));
    world_free(w);
}

static void a_scheduled_group_stays_so(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = {.type = MSG_group_failed};
    m.group_failed = (struct group_failed){
        .group = group_g(), .reason = REASON_unschedulable, .message = STR_LITERAL("late")};
    m.group_failed.group.scheduled_condition.status = STR_LITERAL("True");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, "PATCH"));
    world_free(w);
}

/* In the tree upstream says of which generation of the group its condition is. */
static void a_condition_in_the_tree_says_of_which_generation_it_is(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = {.type = MSG_group_failed};
    m.group_failed =
        (struct group_failed){.group = group_g(), .scheduled = true, .reason = REASON_scheduled};
    m.group_failed.group.api = STR_LITERAL("scheduling.k8s.io");
    m.group_failed.group.generation = 7;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_non_null(strstr(world_find(w, "PATCH")->body, "\"observedGeneration\":7"));
    world_free(w);
    w = world_leading();
    m.group_failed.group.generation = 0; /* as 1.36's have none */
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_non_null(strstr(world_find(w, "PATCH")->body, "\"status\":\"True\""));
    assert_null(strstr(world_find(w, "PATCH")->body, "observedGeneration"));
    world_free(w);
}

static void an_event_may_come_with_it(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = {.type = MSG_group_status};
    m.group_status =
        (struct group_status){.group = group_g(),
                              .phase = STR_LITERAL("Pending"),
                              .running = 1,
                              .event_reason = STR_LITERAL("Timeout"),
                              .event_message = STR_LITERAL("schedule time longer than 48 hours")};
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, "PATCH"));
    assert_non_null(strstr(world_find(w, EVENTS)->body, "\"reason\":\"Timeout\""));
    world_free(w);
}

static void who_does_not_lead_writes_nothing(void **state)
{
    (void)state;
    struct world *w = world_with_binder(&world_lease_options, 0);
    say_status(w, "Scheduling", 1);
    say_failed(w, "no room", false);
    world_tick(w);
    assert_null(world_find(w, "PATCH"));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_is_patched),
        cmocka_unit_test(other_apis_have_their_ways),
        cmocka_unit_test(the_version_that_was_read_is_written),
        cmocka_unit_test(condition_and_counts_share_a_patch),
        cmocka_unit_test(what_comes_meanwhile_follows),
        cmocka_unit_test(passing_errors_are_tried_four_times),
        cmocka_unit_test(not_scheduled_is_said_of_the_group_as_it_was_seen),
        cmocka_unit_test(refusals_end_it),
        cmocka_unit_test(without_a_subresource_the_object_is_patched),
        cmocka_unit_test(nothing_may_be_left_to_say_without_a_subresource),
        cmocka_unit_test(a_scheduled_group_stays_so),
        cmocka_unit_test(a_condition_in_the_tree_says_of_which_generation_it_is),
        cmocka_unit_test(an_event_may_come_with_it),
        cmocka_unit_test(who_does_not_lead_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
