/* test_hooked: plugins' hooks at PreBind, Bind and PostBind of a bind, on the real lanes: what they
 * ask for is sent, under the fence, again where the server is busy, and each bind has one answer.
 */
#include "binder/hooks/hooked.h"
#include "tests/unit/binder/hooks_world.h"

static struct span fence;
static struct bind_answer last; /* that a hook was given; without its body */

static void patch(const struct bind_question *q, struct bind_reply *out)
{
    if (q->answer != NULL) {
        last = *q->answer;
        if (q->answer->status != 200)
            *out = (struct bind_reply){.says = BIND_SAYS_fail, .reason = STR_LITERAL("no patch")};
        return;
    }
    *q->state = arena_take(q->arena, 1);
    out->says = BIND_SAYS_request;
    out->request.method = KUBE_PATCH;
    out->request.path = STR_LITERAL(PODS "p");
    out->request.body = STR_LITERAL("{\"a\":1}");
    out->request.content_type = "application/merge-patch+json";
}

static void ask_for_ever(const struct bind_question *q, struct bind_reply *out)
{
    out->says = BIND_SAYS_request;
    out->request.method = KUBE_GET;
    out->request.path = STR_LITERAL("/api/v1/nodes/n");
    assert_true(q->asked <= BIND_REQUESTS_MAX);
}

static void leave_it(const struct bind_question *q, struct bind_reply *out)
{
    (void)q;
    out->says = BIND_SAYS_skip;
}

static void post_binding(const struct bind_question *q, struct bind_reply *out)
{
    if (q->answer != NULL && q->answer->status != 201) {
        *out = (struct bind_reply){.says = BIND_SAYS_fail, .reason = STR_LITERAL("not taken")};
    } else if (q->answer == NULL) {
        out->says = BIND_SAYS_request;
        out->request.method = KUBE_POST;
        out->request.path = STR_LITERAL(PODS "p/binding");
        out->request.body = STR_LITERAL("{}");
        out->request.content_type = "application/json";
    }
}

static const struct binder_plugin patching = {.name = "Patching", .pre_bind = patch},
                                  asking = {.name = "Asking", .pre_bind = ask_for_ever},
                                  skipping = {.name = "Skipping", .bind = leave_it},
                                  posting = {.name = "Posting", .bind = post_binding};
static const struct binder_plugin *const plugins[] = {&patching, &asking, &skipping, &posting,
                                                      NULL};

static struct span until_the_fence(const void *state, struct instant at)
{
    (void)state;
    (void)at;
    return fence;
}

static int begin(void **state)
{
    (void)state;
    fence = span_of_ms(60000);
    begin_binds(plugins, until_the_fence);
    return 0;
}

static int end(void **state)
{
    (void)state;
    end_binds();
    return 0;
}

static void go(int64_t ms)
{
    world_pass(w, ms);
    lanes_pump(w->lanes, w->at.now);
}

/* Names up to a NULL. */
static void ask_to_bind(const char *pre_bind, const char *const binders[])
{
    struct message m = world_bind("u", "p", "n");
    struct str before = str_of(pre_bind != NULL ? pre_bind : ""), order[4];
    m.bind.pre_bind = (struct strs){pre_bind != NULL, &before};
    m.bind.binders.at = order;
    for (uint32_t i = 0; binders != NULL && binders[i] != NULL; i++)
        order[m.bind.binders.count++] = str_of(binders[i]);
    binds_add(b, w->at, &m.bind, false);
    go(0);
}

static void what_pre_bind_asks_for_comes_first(void **state)
{
    (void)state;
    ask_to_bind("Patching", NULL);
    assert_null(world_find(w, BINDING));
    world_answer(w, "PATCH " PODS "p", 200, "{}");
    go(0);
    world_answer(w, BINDING, 201, "{}");
    is_over(true, NULL);
}

static void a_pre_bind_that_fails_ends_the_bind(void **state)
{
    (void)state;
    ask_to_bind("Patching", NULL);
    world_answer(w, "PATCH " PODS "p", 403, "{}");
    go(0);
    assert_null(world_find(w, BINDING));
    is_over(false, "running PreBind plugin \"Patching\": no patch");
}

static void a_busy_server_is_asked_again(void **state)
{
    (void)state;
    ask_to_bind("Patching", NULL);
    world_answer(w, "PATCH " PODS "p", 429, "{}");
    go(5000);
    world_answer(w, "PATCH " PODS "p", 200, "{}");
    go(0);
    world_answer(w, BINDING, 201, "{}");
    is_over(true, NULL);
}

static void a_hook_hears_that_nobody_knows(void **state)
{
    (void)state;
    ask_to_bind("Patching", NULL);
    world_lose(w, "PATCH " PODS "p", true);
    assert_true(last.maybe_done);
    assert_int_equal(last.status, 0);
    is_over(false, "running PreBind plugin \"Patching\": no patch");
}

static void nothing_is_written_behind_the_fence(void **state)
{
    (void)state;
    fence = (struct span){0};
    ask_to_bind("Patching", NULL);
    go(1000);
    assert_null(world_find(w, "PATCH"));
    fence = span_of_ms(60000);
    go(1000);
    assert_non_null(world_find(w, "PATCH"));
}

static void who_asks_for_ever_is_ended(void **state)
{
    (void)state;
    ask_to_bind("Asking", NULL);
    for (int i = 0; i < BIND_REQUESTS_MAX; i++) {
        world_answer(w, "GET /api/v1/nodes/n", 200, "{}");
        go(0);
    }
    is_over(false, "running PreBind plugin \"Asking\": it asks for too many requests");
}

static void a_plugin_that_is_not_here_fails(void **state)
{
    (void)state;
    ask_to_bind("Nobody", NULL);
    is_over(false, "running PreBind plugin \"Nobody\": this binder has no such plugin");
}

static void who_skips_leaves_it_to_the_next(void **state)
{
    (void)state;
    ask_to_bind(NULL, (const char *const[]){"Skipping", "DefaultBinder", NULL});
    world_answer(w, BINDING, 201, "{}");
    is_over(true, NULL);
}

static void all_skip(void **state)
{
    (void)state;
    ask_to_bind(NULL, (const char *const[]){"Skipping", NULL});
    is_over(false, "all Bind plugins have skipped the pod");
}

static void a_plugin_binds_in_our_place(void **state)
{
    (void)state;
    ask_to_bind(NULL, (const char *const[]){"Posting", "DefaultBinder", NULL});
    assert_string_equal(world_find(w, BINDING)->body, "{}");
    world_answer(w, BINDING, 201, "{}");
    go(0);
    assert_null(world_find(w, BINDING));
    is_over(true, NULL);
}

static void a_plugin_that_fails_to_bind_is_not_believed(void **state)
{
    (void)state;
    ask_to_bind(NULL, (const char *const[]){"Posting", NULL});
    world_lose(w, BINDING, true);
    go(0);
    world_answer(w, "GET " PODS "p", 200,
                 "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"nodeName\":\"n\"}}");
    is_over(true, NULL);
}

static void a_plugin_that_fails_to_bind_and_has_not(void **state)
{
    (void)state;
    ask_to_bind(NULL, (const char *const[]){"Posting", NULL});
    world_answer(w, BINDING, 500, "{}");
    go(0);
    world_answer(w, "GET " PODS "p", 200, "{\"metadata\":{\"uid\":\"u\"},\"spec\":{}}");
    is_over(false, "running Bind plugin \"Posting\": not taken");
}

static void a_cancel_waits_for_the_write_that_is_out(void **state)
{
    (void)state;
    ask_to_bind("Patching", NULL);
    assert_true(binds_cancel(b, w->at, STR_LITERAL("u"), NULL, STR_LITERAL("it goes")));
    assert_int_equal(answers, 0);
    world_answer(w, "PATCH " PODS "p", 200, "{}");
    go(0);
    assert_null(world_find(w, BINDING));
    assert_int_equal(answers, 1);
}

static void a_cancel_comes_too_late_once_a_plugin_binds(void **state)
{
    (void)state;
    ask_to_bind(NULL, (const char *const[]){"Posting", NULL});
    assert_false(binds_cancel(b, w->at, STR_LITERAL("u"), NULL, STR_LITERAL("it goes")));
    world_answer(w, BINDING, 201, "{}");
    is_over(true, NULL);
}

static void who_leads_no_more_takes_it_back(void **state)
{
    (void)state;
    ask_to_bind("Patching", NULL);
    binds_drop_all(b, w->at, "lost leadership");
    assert_null(world_find(w, "PATCH"));
    assert_int_equal(answers, 1);
    assert_int_equal(binds_count(b), 0);
}

#define HOOKED_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOOKED_TEST(what_pre_bind_asks_for_comes_first),
        HOOKED_TEST(a_pre_bind_that_fails_ends_the_bind),
        HOOKED_TEST(a_busy_server_is_asked_again),
        HOOKED_TEST(a_hook_hears_that_nobody_knows),
        HOOKED_TEST(nothing_is_written_behind_the_fence),
        HOOKED_TEST(who_asks_for_ever_is_ended),
        HOOKED_TEST(a_plugin_that_is_not_here_fails),
        HOOKED_TEST(who_skips_leaves_it_to_the_next),
        HOOKED_TEST(all_skip),
        HOOKED_TEST(a_plugin_binds_in_our_place),
        HOOKED_TEST(a_plugin_that_fails_to_bind_is_not_believed),
        HOOKED_TEST(a_plugin_that_fails_to_bind_and_has_not),
        HOOKED_TEST(a_cancel_waits_for_the_write_that_is_out),
        HOOKED_TEST(a_cancel_comes_too_late_once_a_plugin_binds),
        HOOKED_TEST(who_leads_no_more_takes_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
