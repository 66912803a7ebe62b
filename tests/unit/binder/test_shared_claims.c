/* Binds that write the same resource claim do so one after another, each with what the API server
 * answered the one before; whatever is wrong with that, the claim is read, and that is judged. */
#include "tests/unit/binder/preemption.h"

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
#define CLAIMS       "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/"
#define GPU          CLAIMS "gpu"
#define FPGA         CLAIMS "fpga"
#define BINDING(pod) "POST " PODS pod "/binding"
#define KEEP         ",\"finalizers\":[\"resource.kubernetes.io/delete-protection\"]"
#define DEVICES                                                                                    \
    "\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":"      \
    "\"p\","                                                                                       \
    "\"device\":\"v\"}]}}"
#define POD(pod) "{\"resource\":\"pods\",\"name\":\"" pod "\",\"uid\":\"u" pod "\"}"
#define OF(name, v, meta)                                                                          \
    "\"metadata\":{\"name\":\"" name "\",\"uid\":\"ug\",\"resourceVersion\":\"" v "\"" meta "}"
#define CLAIM(name, v, pods)                                                                       \
    "{\"kind\":\"ResourceClaim\"," OF(name, v, KEEP) ",\"status\":{" DEVICES                       \
                                                     ",\"reservedFor\":[" pods "]}}"

/* A bind of this pod to n1, which uses one claim, or two in this order. */
static void bind_pod(struct world *w, const char *pod, const char *first, const char *second)
{
    char uid[8];
    snprintf(uid, sizeof(uid), "u%s", pod);
    struct message m = world_bind(uid, pod, "n1");
    struct device_claim claims[] = {{.name = TEXT("g"), .claim = str_of(first)},
                                    {.name = TEXT("h"), .claim = str_of(second)}};
    m.bind.device_claims.at = claims;
    m.bind.device_claims.count = second[0] != '\0' ? 2 : 1;
    m.bind.device_timeout_ms = -1;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
}

/* Of a and b; a has written the claim, and been answered with this. */
static struct world *two(const char *answered)
{
    struct world *w = world_leading();
    bind_pod(w, "a", "gpu", "");
    bind_pod(w, "b", "gpu", "");
    assert_int_equal(world_count(w, GPU), 1);
    reply(w, "GET " GPU, 200, CLAIM("gpu", "3", ""));
    reply(w, "PUT " GPU "/status", 200, answered);
    reply(w, BINDING("a"), 201, "{}");
    return w;
}

static void expect_put(struct world *w, const char *claim, const char *body)
{
    char path[128];
    snprintf(path, sizeof(path), "PUT %s/status", claim);
    struct world_request *r = world_find(w, path);
    assert_non_null(r);
    assert_string_equal(r->body, body);
}

/* Nothing is left to be done but its Binding. */
static void expect_bound(struct world *w, const char *pod)
{
    char path[64];
    snprintf(path, sizeof(path), BINDING("%s"), pod);
    assert_null(world_find(w, CLAIMS));
    outbox_reset(&w->out);
    reply(w, path, 201, "{}");
    assert_true(world_result(w)->bound);
}

static void read_and_written(struct world *w)
{
    assert_int_equal(world_count(w, GPU), 1);
    reply(w, "GET " GPU, 200, CLAIM("gpu", "7", POD("a")));
    expect_put(w, GPU, CLAIM("gpu", "7", POD("a") "," POD("b")));
    reply(w, "PUT " GPU "/status", 200, "{}");
    expect_bound(w, "b");
    world_free(w);
}

static void the_second_need_not_read_it(void **state)
{
    (void)state;
    struct world *w = two(CLAIM("gpu", "4", POD("a")));
    assert_int_equal(world_count(w, GPU), 1);
    expect_put(w, GPU, CLAIM("gpu", "4", POD("a") "," POD("b")));
    bind_pod(w, "c", "gpu", "");
    assert_int_equal(world_count(w, GPU), 1);
    reply(w, "PUT " GPU "/status", 200, CLAIM("gpu", "5", POD("a") "," POD("b")));
    expect_put(w, GPU, CLAIM("gpu", "5", POD("a") "," POD("b") "," POD("c")));
    reply(w, BINDING("b"), 201, "{}");
    reply(w, "PUT " GPU "/status", 200, "{}");
    expect_bound(w, "c");
    bind_pod(w, "d", "gpu", ""); /* nothing is kept of it */
    assert_non_null(world_find(w, "GET " GPU));
    world_free(w);
}

static void somebody_else_has_written_it_since(void **state)
{
    (void)state;
    struct world *w = two(CLAIM("gpu", "4", POD("a")));
    reply(w, "PUT " GPU "/status", 409, "{}");
    read_and_written(w);
}

static void an_answer_that_does_not_do_is_not_used(void **state)
{
    static const char *const answers[] = {
        "{}",
        "no claim",
        CLAIM("gpu", "", POD("a")),
        "{\"kind\":\"ResourceClaim\"," OF("gpu", "4", "") ",\"status\":{}}",
        "{\"kind\":\"ResourceClaim\"," OF(
            "gpu", "4", ",\"deletionTimestamp\":\"2026-01-02T03:04:05Z\"") ",\"status\":{" DEVICES
                                                                           "}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
        read_and_written(two(answers[i]));
}

static void one_that_fails_leaves_nothing_to_the_next(void **state)
{
    (void)state;
    struct world *w = world_leading();
    bind_pod(w, "a", "gpu", "");
    bind_pod(w, "b", "gpu", "");
    reply(w, "GET " GPU, 403, "{}");
    assert_false(world_result(w)->bound);
    read_and_written(w);
}

static void cancel(struct world *w, const char *uid)
{
    struct message m = {.type = MSG_bind_cancel};
    m.bind_cancel.uid = str_of(uid);
    m.bind_cancel.node_name = STR_LITERAL("n1");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
}

static void one_that_is_cancelled_makes_room(void **state)
{
    (void)state;
    struct world *w = world_leading();
    bind_pod(w, "a", "gpu", "");
    bind_pod(w, "c", "gpu", "");
    bind_pod(w, "b", "gpu", "");
    cancel(w, "uc"); /* while it waits */
    assert_int_equal(world_count(w, GPU), 1);
    assert_false(world_result(w)->bound);
    outbox_reset(&w->out);
    cancel(w, "ua"); /* while it reads */
    assert_false(world_result(w)->bound);
    read_and_written(w);
}

static void one_whose_write_goes_on_is_waited_for(void **state)
{
    (void)state;
    struct world *w = world_leading();
    bind_pod(w, "a", "gpu", "");
    bind_pod(w, "b", "gpu", "");
    reply(w, "GET " GPU, 200, CLAIM("gpu", "3", ""));
    cancel(w, "ua");
    assert_int_equal(world_count(w, GPU), 1);
    reply(w, "PUT " GPU "/status", 200, CLAIM("gpu", "4", POD("a")));
    assert_int_equal(world_count(w, GPU), 2); /* a is taken out again, and b is put in */
    world_free(w);
}

static void who_needs_two_waits_for_one_at_a_time(void **state)
{
    (void)state;
    struct world *w = world_leading();
    bind_pod(w, "a", "gpu", "fpga");
    bind_pod(w, "b", "fpga", "gpu");
    reply(w, "GET " GPU, 200, CLAIM("gpu", "3", ""));
    reply(w, "PUT " GPU "/status", 200, CLAIM("gpu", "4", POD("a")));
    assert_null(world_find(w, GPU));
    reply(w, "GET " FPGA, 200, CLAIM("fpga", "3", ""));
    reply(w, "PUT " FPGA "/status", 200, CLAIM("fpga", "4", POD("b")));
    expect_put(w, FPGA, CLAIM("fpga", "4", POD("b") "," POD("a")));
    reply(w, "PUT " FPGA "/status", 200, "{}");
    reply(w, BINDING("a"), 201, "{}");
    reply(w, "GET " GPU, 200, CLAIM("gpu", "4", POD("a")));
    reply(w, "PUT " GPU "/status", 200, "{}");
    expect_bound(w, "b");
    world_free(w);
}

static void renew(struct world *w)
{
    if (world_find(w, "PUT /apis/coordination") != NULL)
        world_accept_lease(w, "PUT /apis/coordination");
    world_tick(w);
}

/* The first gives up after its time; those behind it have waited as long, and go on no longer. */
static void all_give_up_on_a_server_that_stays_busy(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct moment began = w->at.now;
    bind_pod(w, "a", "gpu", "");
    bind_pod(w, "b", "gpu", "");
    bind_pod(w, "c", "gpu", "");
    while (world_heard(w, MSG_bind_result, 2) == NULL) {
        assert_true(moment_since(w->at.now, began).ns < span_of_ms(45000).ns);
        renew(w);
        if (world_find(w, "GET " GPU) != NULL)
            reply(w, "GET " GPU, 429, "{}");
        world_step(w, 100);
    }
    assert_true(binder_leading(w->binder));
    assert_true(moment_since(w->at.now, began).ns > span_of_ms(25000).ns);
    assert_null(world_find(w, GPU));
    world_free(w);
}

/* Each is given its own time when those before it got through. */
static void a_long_line_is_no_reason_to_give_up(void **state)
{
    (void)state;
    struct world *w = world_leading();
    bind_pod(w, "a", "gpu", "");
    bind_pod(w, "b", "gpu", "");
    reply(w, "GET " GPU, 200, CLAIM("gpu", "3", ""));
    for (int i = 0; i < 90; i++) {
        renew(w);
        world_step(w, 100);
    }
    reply(w, "PUT " GPU "/status", 200, CLAIM("gpu", "4", POD("a")));
    reply(w, BINDING("a"), 201, "{}");
    for (int i = 0; i < 250; i++) {
        renew(w);
        if (world_find(w, "PUT " GPU) != NULL)
            reply(w, "PUT " GPU, 429, "{}");
        else if (world_find(w, "GET " GPU) != NULL)
            reply(w, "GET " GPU, 429, "{}");
        world_step(w, 100);
    }
    outbox_reset(&w->out);
    for (int i = 0; i < 100 && world_find(w, "GET " GPU) == NULL; i++) {
        renew(w);
        world_step(w, 100);
    }
    read_and_written(w);
}

static void those_that_wait_end_with_the_lead(void **state)
{
    (void)state;
    struct world *w = world_leading();
    bind_pod(w, "a", "gpu", "");
    bind_pod(w, "b", "gpu", "");
    world_step(w, 10001); /* no renewal */
    assert_false(binder_leading(w->binder));
    assert_non_null(world_heard(w, MSG_bind_result, 1));
    assert_null(world_find(w, GPU));
    world_free(w);
    w = world_leading();
    bind_pod(w, "a", "gpu", "");
    bind_pod(w, "b", "gpu", "");
    world_free(w); /* with both in it; nothing of them is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_need_not_read_it),
        cmocka_unit_test(somebody_else_has_written_it_since),
        cmocka_unit_test(an_answer_that_does_not_do_is_not_used),
        cmocka_unit_test(one_that_fails_leaves_nothing_to_the_next),
        cmocka_unit_test(one_that_is_cancelled_makes_room),
        cmocka_unit_test(one_whose_write_goes_on_is_waited_for),
        cmocka_unit_test(who_needs_two_waits_for_one_at_a_time),
        cmocka_unit_test(all_give_up_on_a_server_that_stays_busy),
        cmocka_unit_test(a_long_line_is_no_reason_to_give_up),
        cmocka_unit_test(those_that_wait_end_with_the_lead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
