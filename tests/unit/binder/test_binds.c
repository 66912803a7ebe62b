/* Binds through the whole core: every answer the API server can give, and none at all. */
#include "tests/unit/binder/world.h"

#define POST_A "POST /api/v1/namespaces/default/pods/a/binding"
#define GET_A  "GET /api/v1/namespaces/default/pods/a"
#define CONFLICT(node)                                                                             \
    "{\"kind\":\"Status\",\"reason\":\"Conflict\",\"message\":\"Operation cannot be fulfilled on " \
    "pods/binding \\\"a\\\": pod a is already assigned to node \\\"" node "\\\"\"}"
#define DELETED                                                                                    \
    "{\"kind\":\"Status\",\"reason\":\"Conflict\",\"message\":\"Operation cannot be fulfilled on " \
    "pods/binding \\\"a\\\": pod a is being deleted, cannot be assigned to a host\"}"
#define POD(uid, node)                                                                             \
    "{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"" uid "\"},\"spec\":{\"nodeName\":\"" node "\"}}"

/* Leads, with the bind of pod a to n1 on the wire. */
static struct world *posting(void)
{
    struct world *w = world_leading();
    struct message m = world_bind("ua", "a", "n1");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    return w;
}

/* Ticks until a request matches, keeping the lease. */
static void until(struct world *w, const char *text, int64_t most_ms)
{
    for (int64_t ms = 0; ms < most_ms && world_find(w, text) == NULL; ms += 10) {
        world_step(w, 10);
        if (world_find(w, "PUT") != NULL)
            world_accept_lease(w, "PUT");
    }
    assert_non_null(world_find(w, text));
}

static void a_bind_is_posted_answered_and_told(void **state)
{
    (void)state;
    struct world *w = posting();
    struct world_request *r = world_find(w, POST_A);
    assert_non_null(strstr(r->body, "\"uid\":\"ua\""));
    assert_int_equal(r->channel, KUBE_CHANNEL_write);
    assert_true(r->timeout.ns > 0);
    world_pass(w, 7);
    world_answer(w, POST_A, 201, "{\"kind\":\"Status\",\"status\":\"Success\"}");
    world_tick(w);
    const struct bind_result *result = world_result(w);
    assert_true(result->bound && !result->gone && result->code == 201);
    assert_int_equal(result->elapsed_us, 7000);
    assert_true(str_is(result->uid, "ua") && str_is(result->node_name, "n1"));
    r = world_find(w, "POST /apis/events.k8s.io/v1/namespaces/default/events");
    assert_int_equal(r->channel, KUBE_CHANNEL_event);
    assert_non_null(strstr(r->body, "Successfully assigned default/a to n1"));
    world_free(w);
}

static void bind_in(struct world *w, const char *uid)
{
    struct message m = world_bind(uid, uid, "n1");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
}

static void assert_sent(struct world *w, const char *what, const char *type, const char *begin)
{
    struct world_request *r = world_find(w, what);
    assert_non_null(r);
    assert_string_equal(r->type, type);
    assert_memory_equal(r->body, begin, strlen(begin));
}

static int results(struct world *w)
{
    int count = 0;
    while (world_heard(w, MSG_bind_result, count) != NULL)
        count++;
    outbox_reset(&w->out);
    return count;
}

static void bound(struct world *w, int i)
{
    char path[64];
    snprintf(path, sizeof(path), "pods/g%d/binding", i);
    world_answer(w, path, 201, "");
    world_tick(w);
}

static void answers_go_together_while_many_binds_are_under_way(void **state)
{
    (void)state;
    struct world *w = world_leading();
    int i = 0;
    for (int k = 0; k < 90; k++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "g%d", k);
        bind_in(w, uid);
    }
    for (; i < 15; i++) {
        bound(w, i);
        assert_int_equal(results(w), 0);
    }
    bound(w, i++);
    assert_int_equal(results(w), 16);
    bound(w, i++);
    world_step(w, 1);
    assert_int_equal(results(w), 0);
    world_step(w, 1); /* none waits for long */
    assert_int_equal(results(w), 1);
    bound(w, i++);
    world_answer(w, "pods/g18/binding", 404, "{\"message\":\"no such pod\"}");
    i++;
    world_tick(w); /* one that was not bound has to be decided again */
    assert_int_equal(results(w), 2);
    bound(w, i++);
    struct message up = {.type = MSG_peer_up};
    world_say(w, &up, SCHEDULER); /* what is in flight no more is told before what is */
    assert_int_equal(w->out.at[0].type, MSG_bind_result);
    assert_int_equal(w->out.at[1].type, MSG_leadership);
    assert_int_equal(results(w), 1);
    while (i < 26)
        bound(w, i++);
    (void)results(w);
    bound(w, i++); /* only 63 are left */
    assert_true(results(w) >= 1);
    bound(w, i++);
    assert_int_equal(results(w), 1);
    world_free(w);
}

#define PROTOBUF "application/vnd.kubernetes.protobuf"

static void binds_and_events_go_as_protobuf_when_told_so(void **state)
{
    (void)state;
    struct world *w = world_led(
        world_with(&(struct binder_options){.lease = world_lease_options, .protobuf = true}));
    bind_in(w, "a");
    assert_sent(w, "pods/a/binding", PROTOBUF, "k8s");
    world_answer(w, "pods/a/binding", 201, "");
    world_tick(w);
    assert_sent(w, "events.k8s.io", PROTOBUF, "k8s");
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void a_server_without_protobuf_gets_json_and_nothing_is_lost(void **state)
{
    (void)state;
    struct world *w = world_led(
        world_with(&(struct binder_options){.lease = world_lease_options, .protobuf = true}));
    bind_in(w, "a");
    bind_in(w, "b");
    for (int i = 0; i < 2; i++) /* both left before anybody knew */
        world_answer(w, i ? "pods/b/binding" : "pods/a/binding", 415, "{\"kind\":\"Status\"}");
    assert_null(world_heard(w, MSG_bind_result, 0));
    bind_in(w, "c");
    const char *const posts[] = {"pods/a/binding", "pods/b/binding", "pods/c/binding"};
    for (int i = 0; i < 3; i++)
        assert_sent(w, posts[i], "application/json", "{\"apiVersion\"");
    assert_int_equal(world_count(w, "/binding"), 3);
    for (int i = 0; i < 3; i++)
        world_answer(w, posts[i], 201, "");
    world_tick(w);
    for (int i = 0; i < 3; i++)
        assert_true(world_heard(w, MSG_bind_result, i)->bind_result.bound);
    assert_sent(w, "events.k8s.io", "application/json", "{\"apiVersion\"");
    assert_int_equal(world_count(w, "events.k8s.io"), 3);
    world_free(w);
}

static void json_that_is_refused_is_not_sent_again(void **state)
{
    (void)state;
    struct world *w = world_leading();
    bind_in(w, "a");
    world_answer(w, "pods/a/binding", 415, "{}");
    world_tick(w);
    assert_false(world_result(w)->bound);
    assert_int_equal(world_count(w, "/binding"), 0);
    world_free(w);
}

static void a_hundred_are_on_the_wire_and_the_rest_wait(void **state)
{
    (void)state;
    struct world *w = world_leading();
    for (int i = 0; i < 150; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "u%d", i);
        struct message m = world_bind(uid, uid, "n1");
        world_say(w, &m, SCHEDULER);
    }
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 100);
    world_answer(w, "/binding", 201, "{}");
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 100);
    world_free(w);
}

static void a_definite_no_is_passed_on(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int code;
        bool gone;
    } cases[] = {
        {CONFLICT("n2"), 409, false},
        {"{\"kind\":\"Status\",\"message\":\"pod a is being deleted, cannot be assigned\"}", 409,
         false},
        {"{\"kind\":\"Status\",\"message\":\"Precondition failed: UID in precondition: ua\"}", 409,
         true},
        {"{\"kind\":\"Status\",\"message\":\"pods \\\"a\\\" not found\"}", 404, true},
        {"{\"kind\":\"Status\",\"message\":\"forbidden\"}", 403, false},
        {"{\"kind\":\"Status\",\"message\":\"invalid\"}", 422, false},
        {"nonsense", 400, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *w = posting();
        world_answer(w, POST_A, cases[i].code, cases[i].body);
        world_tick(w);
        const struct bind_result *result = world_result(w);
        assert_false(result->bound);
        assert_int_equal(result->gone, cases[i].gone);
        assert_int_equal(result->code, cases[i].code);
        assert_true(result->message.len > 0);
        assert_null(world_find(w, "events.k8s.io"));
        world_free(w);
    }
}

static void a_lost_answer_is_resolved_by_a_get(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int code;
        bool bound, gone;
    } cases[] = {
        {POD("ua", "n1"), 200, true, false},
        {POD("ua", "n2"), 200, false, false},
        {POD("ub", "n1"), 200, false, true},
        {"{}", 404, false, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int lost = 0; lost < 3; lost++) {
            struct world *w = posting();
            if (lost == 0)
                world_lose(w, POST_A, true);
            else
                world_answer(w, POST_A, lost == 1 ? 504 : 500, "{}");
            world_tick(w);
            assert_null(world_heard(w, MSG_bind_result, 0));
            world_answer(w, GET_A, cases[i].code, cases[i].body);
            world_tick(w);
            const struct bind_result *result = world_result(w);
            assert_int_equal(result->bound, cases[i].bound);
            assert_int_equal(result->gone, cases[i].gone);
            assert_int_equal(world_count(w, "events.k8s.io"), cases[i].bound);
            world_free(w);
        }
    }
}

/* Nobody hears of the Binding, and the pod has no node. */
static void lose_post(struct world *w)
{
    world_lose(w, POST_A, true);
    world_tick(w);
    world_answer(w, GET_A, 200, POD("ua", ""));
}

static void an_unbound_pod_is_posted_again_after_a_lost_answer(void **state)
{
    (void)state;
    struct world *w = posting();
    lose_post(w);
    until(w, POST_A, 10000);
    /* The first one arrived after the GET: the conflict is about our own doing. */
    world_answer(w, POST_A, 409, CONFLICT("n1"));
    world_tick(w);
    assert_null(world_heard(w, MSG_bind_result, 0));
    world_answer(w, GET_A, 200, POD("ua", "n1"));
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

/* Posted until it is given up; what was lost last may be carried out all the same. */
static struct world *given_up(void)
{
    struct world *w = posting();
    for (int posts = 1; posts < 5; posts++) {
        lose_post(w);
        until(w, POST_A, 60000);
    }
    lose_post(w);
    world_tick(w);
    return w;
}

static void a_post_that_may_be_under_way_is_waited_for_before_it_is_called_failed(void **state)
{
    (void)state;
    struct world *w = given_up();
    for (int ms = 0; ms < 9900; ms += 100) {
        assert_null(world_heard(w, MSG_bind_result, 0));
        assert_null(world_find(w, POST_A));
        world_step(w, 100);
        if (world_find(w, "PUT /apis/coordination") != NULL)
            world_accept_lease(w, "PUT /apis/coordination");
    }
    until(w, GET_A, 200);
    world_answer(w, GET_A, 200, POD("ua", ""));
    world_tick(w);
    assert_false(world_result(w)->bound);
    world_free(w);
    w = given_up();
    until(w, GET_A, 10100);
    world_answer(w, GET_A, 200, POD("ua", "n1")); /* it was carried out */
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void a_no_does_not_outrun_a_post_that_was_lost(void **state)
{
    (void)state;
    struct world *w = posting();
    lose_post(w);
    until(w, POST_A, 10000);
    world_answer(w, POST_A, 403, "{\"kind\":\"Status\",\"message\":\"denied\"}");
    world_tick(w);
    assert_null(world_heard(w, MSG_bind_result, 0));
    until(w, GET_A, 10000);
    world_answer(w, GET_A, 200, POD("ua", "n1"));
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

/* The server looks whether the pod is being deleted before it looks where it is. */
static void a_pod_that_is_deleted_after_a_lost_post_may_be_on_its_node(void **state)
{
    (void)state;
    static const char *const nodes[] = {"n1", "n2", ""};
    for (int i = 0; i < 3; i++) {
        char pod[300];
        struct world *w = posting();
        lose_post(w);
        until(w, POST_A, 10000);
        world_answer(w, POST_A, 409, DELETED);
        world_tick(w);
        assert_null(world_heard(w, MSG_bind_result, 0));
        snprintf(pod, sizeof(pod),
                 "{\"metadata\":{\"uid\":\"ua\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},"
                 "\"spec\":{\"nodeName\":\"%s\"}}",
                 nodes[i]);
        world_answer(w, GET_A, 200, pod);
        world_tick(w);
        assert_int_equal(world_result(w)->bound, i == 0);
        world_free(w);
    }
    struct world *w = posting(); /* the first is never in doubt */
    world_answer(w, POST_A, 409, DELETED);
    world_tick(w);
    assert_false(world_result(w)->bound);
    world_free(w);
}

static void an_unbound_pod_after_an_error_answer_is_not_bound(void **state)
{
    (void)state;
    struct world *w = posting();
    world_answer(w, POST_A, 500, "{\"kind\":\"Status\",\"message\":\"boom 100% x\"}");
    world_tick(w);
    world_answer(w, GET_A, 200, POD("ua", ""));
    world_tick(w);
    assert_true(str_is(world_result(w)->message, "boom 100% x"));
    assert_int_equal(world_result(w)->code, 500);
    world_free(w);
}

static void the_truth_is_asked_for_until_it_is_known(void **state)
{
    (void)state;
    struct world *w = posting();
    world_lose(w, POST_A, true);
    for (int i = 0; i < 40; i++) {
        until(w, GET_A, 20000);
        if (i % 3 == 0)
            world_lose(w, GET_A, false);
        else
            world_answer(w, GET_A, i % 3 == 1 ? 500 : 200, "");
        world_tick(w);
        assert_null(world_heard(w, MSG_bind_result, 0));
    }
    until(w, GET_A, 20000);
    world_answer(w, GET_A, 200, POD("ua", "n1"));
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void a_busy_server_is_asked_again_within_a_bound(void **state)
{
    (void)state;
    struct world *w = posting();
    world_respond(w, POST_A,
                  &(struct kube_response){.status = 429, .retry_after_s = 2, .error = ""});
    for (int ms = 0; ms < 1990; ms += 10) {
        world_step(w, 10);
        assert_null(world_find(w, POST_A));
    }
    until(w, POST_A, 1000);
    world_answer(w, POST_A, 201, "{}");
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
    w = posting();
    int posts = 0;
    for (int ms = 0; ms < 40000 && world_heard(w, MSG_bind_result, 0) == NULL; ms += 10) {
        if (world_find(w, POST_A) != NULL) {
            world_lose(w, POST_A, false);
            posts++;
        }
        if (world_find(w, "PUT") != NULL)
            world_accept_lease(w, "PUT");
        world_step(w, 10);
    }
    assert_false(world_result(w)->bound);
    assert_true(posts > 5 && posts < 40);
    world_free(w);
}

static void a_double_request_is_answered_once(void **state)
{
    (void)state;
    struct world *w = posting();
    struct message m = world_bind("ua", "a", "n1");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 1);
    world_answer(w, POST_A, 201, "{}");
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void another_node_for_a_pod_in_flight_is_refused(void **state)
{
    (void)state;
    struct world *w = posting();
    struct message m = world_bind("ua", "a", "n2");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_false(world_result(w)->bound);
    assert_true(str_is(world_result(w)->node_name, "n2"));
    assert_int_equal(world_count(w, "/binding"), 1);
    world_free(w);
}

static void a_repeated_bind_of_a_bound_pod_is_bound(void **state)
{
    (void)state;
    struct world *w = posting(); /* the former life of the binder had bound it */
    world_answer(w, POST_A, 409, CONFLICT("n1"));
    world_tick(w);
    world_answer(w, GET_A, 200, POD("ua", "n1"));
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void without_the_right_to_read_the_conflict_tells(void **state)
{
    (void)state;
    struct world *w = posting();
    world_lose(w, POST_A, true);
    world_tick(w);
    world_answer(w, GET_A, 403, "{}");
    until(w, POST_A, 5000);
    world_answer(w, POST_A, 409, CONFLICT("n1"));
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void an_incomplete_bind_is_refused(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = world_bind("ua", "", "n1");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_false(world_result(w)->bound);
    assert_int_equal(world_count(w, "/binding"), 0);
    world_free(w);
}

static void a_bind_waits_for_the_pods_status_patch(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message f = world_failed("ua", "a", "no"), m = world_bind("ua", "a", "n1");
    world_say(w, &f, SCHEDULER);
    world_tick(w);
    assert_non_null(world_find(w, "PATCH /api/v1/namespaces/default/pods/a/status"));
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, POST_A)); /* a late False would overwrite the bind's True */
    world_answer(w, "PATCH", 200, "{}");
    world_tick(w);
    world_answer(w, POST_A, 201, "{}");
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void a_failure_that_waits_is_dropped_when_its_pod_is_bound(void **state)
{
    (void)state;
    struct world *w = world_leading();
    for (int i = 0; i < 40; i++) { /* fills the status lane's budget */
        char uid[16];
        snprintf(uid, sizeof(uid), "x%d", i);
        struct message f = world_failed(uid, uid, "no");
        world_say(w, &f, SCHEDULER);
    }
    struct message f = world_failed("ua", "a", "no"), m = world_bind("ua", "a", "n1");
    world_say(w, &f, SCHEDULER);
    world_tick(w);
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_non_null(world_find(w, POST_A));
    while (world_find(w, "PATCH") != NULL) {
        assert_null(strstr(world_find(w, "PATCH")->path, "/pods/a/"));
        world_answer(w, "PATCH", 200, "{}");
        world_tick(w);
    }
    world_free(w);
}

static void a_failure_during_a_bind_waits_for_its_end(void **state)
{
    (void)state;
    for (int bound = 0; bound < 2; bound++) {
        struct world *w = posting();
        struct message f = world_failed("ua", "a", "no");
        world_say(w, &f, SCHEDULER);
        world_tick(w);
        assert_null(world_find(w, "PATCH"));
        world_answer(w, POST_A, bound ? 201 : 422, "{}");
        world_tick(w);
        assert_int_equal(world_find(w, "PATCH") != NULL, !bound);
        world_free(w);
    }
}

/* ---- binds that an extender makes ---- */

/* The bind of pod a to n1 is on its way to that extender. */
static struct world *extending(int64_t index, const char *url)
{
    struct world *w = world_leading();
    struct message m = world_bind("ua", "a", "n1");
    struct extender_ref ref = {index, str_of(url)};
    m.bind.extenders.count = 1;
    m.bind.extenders.at = &ref;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    return w;
}

static void an_extender_binds_instead_of_us(void **state)
{
    (void)state;
    struct world *w = extending(0, "http://e/");
    struct world_request *r = world_find(w, "POST /bind");
    assert_non_null(r);
    assert_int_equal(r->channel, KUBE_CHANNEL_extender);
    assert_true(r->timeout.ns == 2000000000);
    assert_string_equal(r->body,
                        "{\"PodName\":\"a\",\"PodNamespace\":\"default\",\"PodUID\":\"ua\","
                        "\"Node\":\"n1\"}");
    assert_null(world_find(w, POST_A));
    world_answer(w, "POST /bind", 200, "{}");
    world_tick(w);
    assert_true(world_result(w)->bound);
    assert_non_null(world_find(w, "events.k8s.io"));
    world_free(w);
}

static void what_became_of_an_extenders_failed_bind_is_found_out(void **state)
{
    (void)state;
    static const struct {
        const char *body, *message;
        int code;
    } cases[] = {
        {"{\"Error\":\"no device\"}", "no device", 200},
        {"x", "failed bind with extender at URL http://e/bind, code 500", 500},
        {"[]", "extender \"http://e/\": bind: the answer: wants an object, has a list", 200},
    };
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *w = extending(0, "http://e/");
        world_answer(w, "POST /bind", cases[i / 2].code, cases[i / 2].body);
        world_tick(w);
        world_answer(w, GET_A, 200, i % 2 == 0 ? POD("ua", "") : POD("ua", "n1"));
        world_tick(w);
        const struct bind_result *result = world_result(w);
        assert_int_equal(result->bound, i % 2 == 1);
        if (!result->bound) {
            assert_true(str_is(result->message, cases[i / 2].message));
            assert_int_equal(result->plugin, BIND_PLUGIN_extender);
        }
        assert_null(world_find(w, POST_A));
        world_free(w);
    }
}

static void for_an_ignorable_extender_that_fails_we_bind(void **state)
{
    (void)state;
    struct world *w = extending(1, "http://f");
    world_lose(w, "POST /bind", true);
    world_tick(w);
    world_answer(w, POST_A, 201, "{}");
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void an_extender_that_we_do_not_know_is_not_replaced_by_us(void **state)
{
    (void)state;
    struct world *w = extending(0, "http://other");
    const struct bind_result *result = world_result(w);
    assert_false(result->bound);
    assert_true(
        str_is(result->message, "the binder runs another configuration than the scheduler"));
    assert_null(world_find(w, "POST"));
    world_free(w);
}

static void a_hung_extender_delays_no_other_binds(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct extender_ref ref = {0, STR_LITERAL("http://e/")};
    for (int i = 0; i < 200; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "u%d", i);
        struct message m = world_bind(uid, uid, "n1");
        m.bind.extenders.count = 1;
        m.bind.extenders.at = &ref;
        world_say(w, &m, SCHEDULER);
    }
    struct message m = world_bind("ua", "a", "n1");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_int_equal(world_count(w, "/bind"), 32 + 1);
    world_answer(w, POST_A, 201, "{}");
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

/* Of a bind that is traced: what the binder did, and the API server's part of it. */
static void a_traced_bind_is_exported(void **state)
{
    struct world *w = world_leading();
    struct message m = world_bind("u", "p", "n1");
    (void)state;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    world_answer(w, "/binding", 201, "{}");
    assert_int_equal(w->traced.spans.count, 0);
    m = world_bind("u2", "p2", "n1");
    m.bind.traceparent = STR_LITERAL("00-0123456789abcdef0123456789abcdef-00000000000000a1-01");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    world_step(w, 30);
    world_answer(w, "/binding", 409, "{\"message\":\"no\"}");
    world_tick(w);
    assert_int_equal(w->traced.spans.count, 2);
    const struct trace_span *whole = w->traced.spans.at, *call = whole + 1;
    assert_true(str_is(whole->name, "Bind pod") && str_is(whole->parent, "00000000000000a1"));
    assert_true(str_is(call->name, "POST") && str_equal(call->parent, whole->span_id));
    assert_true(str_is(whole->trace_id, "0123456789abcdef0123456789abcdef"));
    assert_int_equal(call->end_us - call->begin_us, 30000);
    assert_int_equal(call->end_us, w->at.wall_us);
    assert_true(str_is(whole->error, "no") && str_is(call->error, "no"));
    assert_true(str_is(call->attributes.at[1].text, "/api/v1/namespaces/default/pods/p2/binding"));
    m = (struct message){.type = MSG_spans, .spans = {.spans = {1, w->traced.spans.at}}};
    world_say(w, &m, SCHEDULER);
    assert_int_equal(w->traced.spans.count, 1);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traced_bind_is_exported),
        cmocka_unit_test(a_bind_is_posted_answered_and_told),
        cmocka_unit_test(answers_go_together_while_many_binds_are_under_way),
        cmocka_unit_test(binds_and_events_go_as_protobuf_when_told_so),
        cmocka_unit_test(a_server_without_protobuf_gets_json_and_nothing_is_lost),
        cmocka_unit_test(json_that_is_refused_is_not_sent_again),
        cmocka_unit_test(a_hundred_are_on_the_wire_and_the_rest_wait),
        cmocka_unit_test(a_definite_no_is_passed_on),
        cmocka_unit_test(a_lost_answer_is_resolved_by_a_get),
        cmocka_unit_test(an_unbound_pod_is_posted_again_after_a_lost_answer),
        cmocka_unit_test(a_post_that_may_be_under_way_is_waited_for_before_it_is_called_failed),
        cmocka_unit_test(a_no_does_not_outrun_a_post_that_was_lost),
        cmocka_unit_test(a_pod_that_is_deleted_after_a_lost_post_may_be_on_its_node),
        cmocka_unit_test(an_unbound_pod_after_an_error_answer_is_not_bound),
        cmocka_unit_test(the_truth_is_asked_for_until_it_is_known),
        cmocka_unit_test(a_busy_server_is_asked_again_within_a_bound),
        cmocka_unit_test(a_double_request_is_answered_once),
        cmocka_unit_test(another_node_for_a_pod_in_flight_is_refused),
        cmocka_unit_test(a_repeated_bind_of_a_bound_pod_is_bound),
        cmocka_unit_test(without_the_right_to_read_the_conflict_tells),
        cmocka_unit_test(an_incomplete_bind_is_refused),
        cmocka_unit_test(a_bind_waits_for_the_pods_status_patch),
        cmocka_unit_test(a_failure_that_waits_is_dropped_when_its_pod_is_bound),
        cmocka_unit_test(a_failure_during_a_bind_waits_for_its_end),
        cmocka_unit_test(an_extender_binds_instead_of_us),
        cmocka_unit_test(what_became_of_an_extenders_failed_bind_is_found_out),
        cmocka_unit_test(for_an_ignorable_extender_that_fails_we_bind),
        cmocka_unit_test(an_extender_that_we_do_not_know_is_not_replaced_by_us),
        cmocka_unit_test(a_hung_extender_delays_no_other_binds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
