/* Resource claims before a Binding and after a bind that failed, through the whole core: devices
 * that have to be made ready, the claim for extended resources, and what is taken back. */
#include "proto/metrics.h"
#include "tests/unit/binder/preemption.h"

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
#define BINDING "POST " PODS "a/binding"
#define CLAIMS  "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
#define GPU     CLAIMS "/gpu"
#define EVENTS  "POST /apis/events.k8s.io/v1/namespaces/default/events"
#define OURS    ",\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"a\",\"uid\":\"ua\"}]"
#define THEIRS  ",\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"b\",\"uid\":\"ub\"}]"
#define RESULT(device, more)                                                                       \
    "{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"p\",\"device\":\"" device "\"" more "}"
#define CONDITIONS                                                                                 \
    ",\"bindingConditions\":[\"Attached\",\"Reset\"],\"bindingFailureConditions\":[\"Broken\"]"
#define NOW "2026-01-02T03:04:05Z"
#define STATUS(device, since, more)                                                                \
    "\"status\":{\"allocation\":{\"devices\":{\"results\":[" device                                \
    "]},\"allocationTimestamp\":\"" since "\"}" more "}"
#define META(more)                                                                                 \
    "\"metadata\":{\"name\":\"gpu\",\"namespace\":\"default\",\"uid\":\"ug\","                     \
    "\"resourceVersion\":\"3\"" more "}"
#define CLAIM(meta, status) "{\"kind\":\"ResourceClaim\"," meta "," status "}"
#define KEPT                ",\"finalizers\":[\"resource.kubernetes.io/delete-protection\"]"
#define FREE                CLAIM(META(KEPT), "\"status\":{}")
#define HELD(device, more)  CLAIM(META(KEPT), STATUS(device, NOW, more))
/* With what the driver says of v. */
#define SAID(conditions)                                                                           \
    HELD(RESULT("v", CONDITIONS), OURS ",\"devices\":[{\"driver\":\"d\",\"pool\":\"p\","           \
                                       "\"device\":\"v\",\"conditions\":[" conditions "]}]")
#define IS(type, status)                                                                           \
    "{\"type\":\"" type "\",\"status\":\"" status                                                  \
    "\",\"reason\":\"Why\",\"message\":\"a \\\"b\\\"\"}"
#define UNRESERVE                                                                                  \
    "{\"metadata\":{\"uid\":\"ug\"},\"status\":{\"reservedFor\":[{\"$patch\":\"delete\",\"uid\":"  \
    "\"ua\"}]}}"
#define REASON(text) "{\"kind\":\"Status\",\"message\":\"" text "\"}"

/* Ticks on, keeping the lease. */
static void pass(struct world *w, int64_t ms)
{
    for (int64_t step; ms > 0; ms -= step) {
        step = ms < 100 ? ms : 100;
        world_step(w, step);
        if (world_find(w, "PUT /apis/coordination") != NULL)
            world_accept_lease(w, "PUT /apis/coordination");
    }
}

static struct device_claim user_claim = {.name = TEXT("g"), .claim = TEXT("gpu")};

static struct world *asking(struct message *m)
{
    struct world *w = world_leading();
    world_say(w, m, SCHEDULER);
    world_tick(w);
    return w;
}

/* A bind of pod a with one claim that has its devices. */
static struct message with_claim(void)
{
    struct message m = world_bind("ua", "a", "n1");
    m.bind.device_claims.at = &user_claim;
    m.bind.device_claims.count = 1;
    return m;
}

/* The same with one that is given v. */
static struct message with_allocation(void)
{
    static struct allocated_device device = {
        .request = TEXT("r"), .driver = TEXT("d"), .pool = TEXT("p"), .device = TEXT("v")};
    static struct device_allocation allocation = {
        .claim = TEXT("gpu"), .uid = TEXT("ug"), .devices = {1, &device}};
    struct message m = with_claim();
    m.bind.allocations.at = &allocation;
    m.bind.allocations.count = 1;
    return m;
}

static void expect_body(struct world *w, const char *request, const char *part)
{
    struct world_request *r = world_find(w, request);
    if (r == NULL || r->body == NULL || strstr(r->body, part) == NULL)
        fail_msg("no %s in %s of %s", part, r != NULL ? r->body : "nothing", request);
}

/* The bind has failed with this text, and nothing more is asked for. */
static void failed_with(struct world *w, const char *message)
{
    const struct bind_result *result = world_result(w);
    assert_false(result->bound);
    assert_string_equal(arena_copy(&w->memory, result->message).at, message);
    assert_int_equal(world_result(w)->plugin, BIND_PLUGIN_dynamic_resources);
    assert_null(world_find(w, "/binding"));
    assert_int_equal(world_count(w, "resourceclaims"), 0);
    world_free(w);
}

/* ---- what is counted ---- */

static int64_t claims_made(const char *status)
{
    return metric_series(METRIC_scheduler_resourceclaim_creates_total,
                         METRIC_VALUES(str_of(status)))
        ->value;
}

/* How many devices were waited for so far, and for how many seconds. */
static void assert_waited(const char *status, int64_t devices, int64_t seconds)
{
    const struct str *values =
        METRIC_VALUES(STR_LITERAL("default-scheduler"), STR_LITERAL("d"), str_of(status));
    assert_int_equal(
        metric_series(METRIC_scheduler_dra_bindingconditions_allocations_total, values)->value,
        devices);
    assert_int_equal(
        metric_series(METRIC_scheduler_dra_bindingconditions_wait_duration_seconds, values)->value /
            1000000000,
        seconds);
}

/* ---- devices that have to be made ready ---- */

static struct world *waiting(int64_t timeout_ms)
{
    struct message m = with_claim();
    m.bind.device_timeout_ms = timeout_ms;
    struct world *w = asking(&m);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", CONDITIONS), ""));
    reply(w, "PUT " GPU "/status", 200, "{}");
    expect_body(w, EVENTS, "\"reason\":\"BindingConditionsPending\"");
    expect_body(w, EVENTS, "\"note\":\"waiting for binding conditions for device on node n1\"");
    expect_body(w, EVENTS, "\"action\":\"Scheduling\"");
    reply(w, EVENTS, 201, "{}");
    return w;
}

static void devices_are_waited_for_in_rounds(void **state)
{
    (void)state;
    struct world *w = waiting(0);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", CONDITIONS), OURS)); /* at once: nothing is said */
    pass(w, 4900);
    assert_null(world_find(w, "GET " GPU));
    pass(w, 100);
    reply(w, "GET " GPU, 200, SAID(IS("Attached", "True") "," IS("Reset", "False")));
    pass(w, 5000);
    reply(w, "GET " GPU, 200, SAID(IS("Attached", "True") "," IS("Reset", "True")));
    assert_null(world_find(w, EVENTS));
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    assert_null(world_find(w, "PATCH " GPU));
    world_free(w);
    assert_waited("success", 1, 10);
}

static void devices_without_conditions_are_not_waited_for(void **state)
{
    (void)state;
    struct message m = with_claim();
    struct world *w = asking(&m);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), OURS));
    assert_null(world_find(w, EVENTS));
    assert_non_null(world_find(w, BINDING));
    world_free(w);
}

/* What has failed has failed, whatever else is true; the reservation is taken back first. */
static void a_device_that_fails_ends_the_bind(void **state)
{
    (void)state;
    struct world *w = waiting(0);
    reply(w, "GET " GPU, 200,
          SAID(IS("Attached", "True") "," IS("Reset", "True") "," IS("Broken", "True")));
    assert_null(world_heard(w, MSG_bind_result, 0));
    assert_string_equal(world_find(w, "PATCH " GPU "/status")->body, UNRESERVE);
    reply(w, "PATCH " GPU "/status", 200, "{}");
    failed_with(w, "device binding failed: claim=gpu, reason=Why, message=\"a \\\"b\\\"\"");
    assert_waited("failure", 1, 0);
}

static void devices_are_not_waited_for_for_ever(void **state)
{
    (void)state;
    struct world *w = waiting(7000);
    reply(w, "GET " GPU, 200, SAID(""));
    pass(w, 5000);
    reply(w, "GET " GPU, 200, SAID(""));
    pass(w, 2000); /* not at 10 s */
    reply(w, "GET " GPU, 200, SAID(IS("Attached", "True") "," IS("Reset", "True")));
    reply(w, "PATCH " GPU, 200, "{}");
    failed_with(w, "device binding timeout: context deadline exceeded");
    w = waiting(7000);
    reply(w, "GET " GPU, 200,
          CLAIM(META(""), STATUS(RESULT("v", CONDITIONS), "2026-01-02T03:03:00Z", OURS)));
    reply(w, "PATCH " GPU, 200, "{}");
    failed_with(w, "device binding timeout: claim=gpu");
    assert_waited("timeout", 2, 7);
}

static void a_claim_that_goes_while_it_is_waited_for_ends_the_bind(void **state)
{
    (void)state;
    struct world *w = waiting(0);
    reply(w, "GET " GPU, 404, "{}");
    reply(w, "PATCH " GPU, 404, "{}");
    failed_with(w, "could not find ResourceClaim \"default/gpu\"");
    w = waiting(0);
    reply(w, "GET " GPU, 200,
          "{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"gpu\",\"uid\":\"other\"}}");
    reply(w, "PATCH " GPU, 409, REASON("Precondition failed: UID in precondition: ug"));
    failed_with(w, "claim default/gpu got deleted in the meantime");
    assert_waited("error", 2, 0);
}

static void an_answer_that_tells_nothing_of_devices_is_not_yet(void **state)
{
    (void)state;
    struct world *w = waiting(0);
    reply(w, "GET " GPU, 500, "{}");
    pass(w, 5000);
    reply(w, "GET " GPU, 200, "nonsense");
    pass(w, 5000);
    world_lose(w, "GET " GPU, false);
    pass(w, 5000);
    reply(w, "GET " GPU, 200, FREE); /* deallocated: it may be allocated again */
    pass(w, 5000);
    reply(w, "GET " GPU, 200, SAID(IS("Attached", "True") "," IS("Reset", "True")));
    assert_non_null(world_find(w, BINDING));
    world_free(w);
}

/* ---- writes without an answer ---- */

static struct world *allocation_lost(void)
{
    struct message m = with_allocation();
    struct world *w = asking(&m);
    reply(w, "GET " GPU, 200, FREE);
    world_lose(w, "PUT " GPU "/status", true);
    pass(w, 100);
    return w;
}

static void a_lost_allocation_is_looked_for(void **state)
{
    (void)state;
    struct world *w = allocation_lost();
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), OURS));
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    assert_int_equal(world_result(w)->allocated.count, 1);
    assert_true(str_is(world_result(w)->allocated.at[0], "ug"));
    world_free(w);
    w = allocation_lost(); /* it was not carried out */
    reply(w, "GET " GPU, 200, FREE);
    reply(w, "PUT " GPU "/status", 200, "{}");
    assert_non_null(world_find(w, BINDING));
    world_free(w);
}

static void somebody_elses_allocation_is_not_taken_for_ours(void **state)
{
    (void)state;
    struct world *w = allocation_lost();
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), THEIRS));
    assert_int_equal(world_result(w)->allocated.count, 0);
    failed_with(w, "claim default/gpu got allocated elsewhere in the meantime");
    w = allocation_lost();
    reply(w, "GET " GPU, 200, HELD(RESULT("other", ""), OURS));
    failed_with(w, "claim default/gpu got allocated elsewhere in the meantime");
}

/* The pod was decided on the claim's having v, of its node. */
static struct world *deciding_on_v(void)
{
    struct message m = with_allocation();
    m.bind.relied_on.at = m.bind.allocations.at;
    m.bind.relied_on.count = 1;
    m.bind.allocations.count = 0;
    return asking(&m);
}

static void a_claim_with_other_devices_than_decided_on_ends_the_bind(void **state)
{
    (void)state;
    struct world *w = deciding_on_v();
    reply(w, "GET " GPU, 200, HELD(RESULT("other", ""), ""));
    failed_with(w, "claim default/gpu got allocated elsewhere in the meantime");
    w = deciding_on_v(); /* it is another claim of that name */
    reply(w, "GET " GPU, 200,
          CLAIM("\"metadata\":{\"name\":\"gpu\",\"namespace\":\"default\",\"uid\":\"uh\","
                "\"resourceVersion\":\"3\"" KEPT "}",
                STATUS(RESULT("v", ""), NOW, "")));
    failed_with(w, "claim default/gpu got allocated elsewhere in the meantime");
    w = deciding_on_v(); /* it loses them between a look and the write */
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), ""));
    reply(w, "PUT " GPU "/status", 409, "{}");
    reply(w, "GET " GPU, 200, HELD(RESULT("other", ""), THEIRS));
    failed_with(w, "claim default/gpu got allocated elsewhere in the meantime");
    w = deciding_on_v();
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), THEIRS));
    reply(w, "PUT " GPU "/status", 200, "{}");
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    world_free(w);
}

/* Nobody knows: the devices count as given, and the reservation is taken back in any case. */
static void an_allocation_that_stays_in_doubt_is_told(void **state)
{
    (void)state;
    struct world *w = allocation_lost();
    for (int i = 1; i < 5; i++) {
        reply(w, "GET " GPU, 200, FREE);
        world_lose(w, "PUT " GPU "/status", true);
        pass(w, 2000);
    }
    reply(w, "PATCH " GPU "/status", 200, "{}");
    assert_int_equal(world_result(w)->allocated.count, 1);
    failed_with(w, "add allocation and reservation to claim default/gpu: connection to host "
                   "failed");
}

/* ---- the claim for extended resources ---- */

#define SPECIAL_META(uid, more)                                                                    \
    "{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"special\",\"namespace\":\"default\","    \
    "\"uid\":\"us\",\"resourceVersion\":\"3\",\"annotations\":{\"resource.kubernetes.io/"          \
    "extended-resource-claim\":\"true\"},\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"    \
    "\"Pod\",\"name\":\"a\",\"uid\":\"" uid "\",\"controller\":true}]" more "}}"
#define SPECIAL SPECIAL_META("ua", "")

static struct message with_extended(void)
{
    static struct device_ask ask = {
        .class_name = TEXT("class"), .mode = TEXT("ExactCount"), .count = 2};
    static struct device_request request = {
        .name = TEXT("container-0-request-1"), .exactly = true, .asks = {1, &ask}};
    static struct extended_use use = {.container = TEXT("c"),
                                      .resource = TEXT("x.com/y"),
                                      .request = TEXT("container-0-request-1")};
    static struct allocated_device device = {.request = TEXT("container-0-request-1"),
                                             .driver = TEXT("d"),
                                             .pool = TEXT("p"),
                                             .device = TEXT("v")};
    static struct extended_claim extended = {
        .requests = {1, &request}, .allocation.devices = {1, &device}, .uses = {1, &use}};
    struct message m = world_bind("ua", "a", "n1");
    m.bind.extended.at = &extended;
    m.bind.extended.count = 1;
    return m;
}

/* The name that it is made under. */
static const char *made_name(struct world *w)
{
    static char name[128];
    const char *at = strstr(world_find(w, "POST " CLAIMS)->body, "\"name\":\"");
    assert_int_equal(sscanf(at, "\"name\":\"%127[^\"]", name), 1);
    return name;
}

static const char *path_of(const char *verb, const char *name, const char *more)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s " CLAIMS "/%s%s", verb, name, more);
    return path;
}

static void a_claim_is_made_for_extended_resources(void **state)
{
    (void)state;
    char expected[1024], name[128];
    struct message m = with_extended();
    struct world *w = asking(&m);
    snprintf(name, sizeof(name), "%s", made_name(w));
    assert_int_equal(strlen(name), strlen("a-extended-resources-") + 5);
    snprintf(expected, sizeof(expected),
             "{\"kind\":\"ResourceClaim\",\"apiVersion\":\"resource.k8s.io/v1\",\"metadata\":{"
             "\"name\":\"%s\",\"generateName\":\"a-extended-resources-\",\"namespace\":\"default\","
             "\"annotations\":{\"resource.kubernetes.io/extended-resource-claim\":\"true\"},"
             "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"a\",\"uid\":"
             "\"ua\",\"controller\":true}]},\"spec\":{\"devices\":{\"requests\":[{\"name\":"
             "\"container-0-request-1\",\"exactly\":{\"deviceClassName\":\"class\","
             "\"allocationMode\":\"ExactCount\",\"count\":2}}]}}}",
             name);
    assert_string_equal(world_find(w, "POST " CLAIMS)->body, expected);
    reply(w, "POST " CLAIMS, 201, SPECIAL);
    expect_body(w, path_of("PUT", name, ""), KEPT);
    reply(w, "PUT " CLAIMS, 200, SPECIAL_META("ua", KEPT));
    expect_body(w, path_of("PUT", name, "/status"), "\"device\":\"v\"");
    expect_body(w, path_of("PUT", name, "/status"), OURS);
    reply(w, "PUT " CLAIMS, 200, "{}");
    snprintf(expected, sizeof(expected),
             "{\"metadata\":{\"uid\":\"ua\"},\"status\":{\"extendedResourceClaimStatus\":{"
             "\"requestMappings\":[{\"containerName\":\"c\",\"resourceName\":\"x.com/y\","
             "\"requestName\":\"container-0-request-1\"}],\"resourceClaimName\":\"%s\"}}}",
             name);
    assert_string_equal(world_find(w, "PATCH " PODS "a/status")->body, expected);
    assert_null(world_find(w, "/binding"));
    reply(w, "PATCH " PODS "a/status", 200, "{}");
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    assert_true(str_is(world_result(w)->extended, "us"));
    assert_true(str_is(world_result(w)->extended_name, name));
    assert_true(str_is(world_result(w)->allocated.at[0], "us"));
    world_free(w);
    assert_int_equal(claims_made("success"), 1);
    assert_int_equal(claims_made("failure"), 0);
}

/* As upstream does it for a pod with claims of its own on a node that has the resources itself. */
static void a_claim_that_nothing_uses_ends_the_bind(void **state)
{
    (void)state;
    static struct extended_claim nothing;
    struct message m = with_extended();
    m.bind.extended.at = &nothing;
    struct world *w = asking(&m);
    expect_body(w, "POST " CLAIMS, "\"requests\":[]");
    reply(w, "POST " CLAIMS, 201, SPECIAL_META("ua", KEPT));
    reply(w, "PUT " CLAIMS, 200, "{}");
    reply(w, "GET " CLAIMS, 200, SPECIAL_META("ua", KEPT));
    reply(w, "PUT " CLAIMS, 200, "{}");
    reply(w, "DELETE " CLAIMS, 200, "{}");
    assert_null(world_find(w, "PATCH " PODS "a/status"));
    failed_with(w, "nil or empty request mappings, no update of pod default/a "
                   "ExtendedResourceClaimStatus");
}

static void a_claim_whose_making_was_not_answered_is_found(void **state)
{
    (void)state;
    char name[128];
    struct message m = with_extended();
    struct world *w = asking(&m);
    snprintf(name, sizeof(name), "%s", made_name(w));
    world_lose(w, "POST " CLAIMS, true);
    pass(w, 100);
    assert_string_equal(made_name(w), name);
    reply(w, "POST " CLAIMS, 409, "{}");
    reply(w, path_of("GET", name, ""), 200, SPECIAL);
    assert_non_null(world_find(w, path_of("PUT", name, "")));
    world_free(w);
    w = asking(&m); /* somebody else's has the name */
    snprintf(name, sizeof(name), "%s", made_name(w));
    reply(w, "POST " CLAIMS, 409, "{}");
    reply(w, "GET " CLAIMS, 200, SPECIAL_META("other", ""));
    assert_string_not_equal(made_name(w), name);
    assert_int_equal(claims_made("failure"), 0);
    reply(w, "POST " CLAIMS, 403, REASON("no"));
    failed_with(w, "create claim for extended resources default/: no");
    assert_int_equal(claims_made("failure"), 1);
}

/* Gets as far as the Binding, or as the pod's patch. */
static struct world *made(bool told)
{
    struct message m = with_extended();
    struct world *w = asking(&m);
    reply(w, "POST " CLAIMS, 201, SPECIAL_META("ua", KEPT));
    reply(w, "PUT " CLAIMS, 200, "{}");
    if (told)
        reply(w, "PATCH " PODS "a/status", 200, "{}");
    return w;
}

static void a_claim_that_was_made_is_deleted_after_a_failure(void **state)
{
    (void)state;
    struct world *w = made(false);
    reply(w, "PATCH " PODS "a/status", 422, REASON("no"));
    reply(w, "GET " CLAIMS, 200, SPECIAL_META("ua", KEPT));
    expect_body(w, "PUT " CLAIMS, "\"finalizers\":[]");
    reply(w, "PUT " CLAIMS, 409, "{}"); /* somebody has changed it */
    pass(w, 200);
    reply(w, "GET " CLAIMS, 200, SPECIAL_META("ua", KEPT));
    reply(w, "PUT " CLAIMS, 200, "{}");
    expect_body(w, "DELETE " CLAIMS, "\"preconditions\":{\"uid\":\"us\"}");
    assert_null(world_heard(w, MSG_bind_result, 0));
    reply(w, "DELETE " CLAIMS, 200, "{}");
    assert_int_equal(world_result(w)->extended.len, 0);
    assert_int_equal(world_result(w)->allocated.count, 0);
    failed_with(w, "update pod default/a ExtendedResourceClaimStatus: no");
}

/* What cannot be deleted is told: the next attempt finds it. */
static void a_claim_that_cannot_be_deleted_is_told(void **state)
{
    (void)state;
    struct world *w = made(true);
    reply(w, BINDING, 422, REASON("no"));
    reply(w, "GET " CLAIMS, 403, "{}");
    assert_false(world_result(w)->bound);
    assert_int_equal(world_result(w)->plugin, BIND_PLUGIN_none);
    assert_true(str_is(world_result(w)->extended, "us"));
    assert_int_equal(world_result(w)->allocated.count, 1);
    world_free(w);
}

/* ---- after a Binding that failed ---- */

static struct world *reserved(void)
{
    struct message m = with_claim();
    struct world *w = asking(&m);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), OURS)); /* by an attempt before this one */
    return w;
}

static void what_a_device_can_do_without_is_written(void **state)
{
    (void)state;
    static struct str all[] = {TEXT("*")};
    struct message m = with_allocation();
    m.bind.allocations.at[0].devices.at[0].skips = (struct strs){1, all};
    struct world *w = asking(&m);
    m.bind.allocations.at[0].devices.at[0].skips = (struct strs){0, NULL};
    reply(w, "GET " GPU, 200, FREE);
    expect_body(w, "PUT " GPU "/status", "\"device\":\"v\",\"skipNodeOperations\":[\"*\"]");
    world_free(w);
}

/* ---- what claims take of the node ---- */

#define ROOMS_SAID(what)                                                                           \
    "{\"metadata\":{\"uid\":\"ua\"},\"status\":{\"nodeAllocatableResourceClaimStatuses\":[" what   \
    "]}}"

static struct message with_rooms(bool by_kind)
{
    static struct str containers[] = {TEXT("k"), TEXT("l")};
    static struct label cpu = {TEXT("cpu"), TEXT("1500m")};
    static struct claim_overhead over = {.name = TEXT("memory"), .per_pod = TEXT("1Gi")};
    static struct claim_room room;
    room = (struct claim_room){.claim = TEXT("gpu"), .amounts = {1, &cpu}};
    room.containers = (struct strs){2, containers};
    room.overheads.count = by_kind;
    room.overheads.at = &over;
    struct message m = with_claim();
    m.bind.rooms_by_kind = by_kind;
    m.bind.claim_rooms.at = &room;
    m.bind.claim_rooms.count = 1;
    return m;
}

/* The claim is the pod's; its status comes next. */
static struct world *telling(bool by_kind)
{
    struct message m = with_rooms(by_kind);
    struct world *w = asking(&m);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), ""));
    reply(w, "PUT " GPU "/status", 200, "{}");
    assert_null(world_find(w, "/binding"));
    return w;
}

static void what_claims_take_of_the_node_is_said_before_the_binding(void **state)
{
    (void)state;
    struct world *w = telling(true);
    assert_string_equal(
        world_find(w, "PATCH " PODS "a/status")->body,
        ROOMS_SAID("{\"containers\":[\"k\",\"l\"],\"mapping\":[{\"name\":\"cpu\",\"quantity\":"
                   "\"1500m\"}],\"overhead\":[{\"name\":\"memory\",\"perPod\":\"1Gi\"}],"
                   "\"resourceClaimName\":\"gpu\"}"));
    reply(w, "PATCH " PODS "a/status", 200, "{}");
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    world_free(w);
    w = telling(false);
    expect_body(w, "PATCH " PODS "a/status", "\"resources\":{\"cpu\":\"1500m\"}");
    reply(w, "PATCH " PODS "a/status", 200, "{}");
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    world_free(w);
}

/* A bind that fails behind it takes it back, when the reservation is. */
static void what_was_said_of_the_node_is_taken_back(void **state)
{
    (void)state;
    struct world *w = telling(true);
    reply(w, "PATCH " PODS "a/status", 200, "{}");
    reply(w, BINDING, 422, REASON("no"));
    reply(w, "PATCH " GPU "/status", 200, "{}");
    assert_null(world_heard(w, MSG_bind_result, 0));
    assert_string_equal(world_find(w, "PATCH " PODS "a/status")->body, ROOMS_SAID(""));
    reply(w, "PATCH " PODS "a/status", 200, "{}");
    assert_true(str_is(world_result(w)->message, "no"));
    world_free(w);
}

static void a_status_that_cannot_be_written_ends_the_bind(void **state)
{
    (void)state;
    struct world *w = telling(true);
    reply(w, "PATCH " PODS "a/status", 422, REASON("bad"));
    reply(w, "PATCH " GPU "/status", 200, "{}");
    reply(w, "PATCH " PODS "a/status", 404, REASON("gone"));
    failed_with(w, "updating pod default/a NodeAllocatableResourceClaimStatuses: bad");
}

static void a_failed_bind_gives_up_its_reservation(void **state)
{
    (void)state;
    struct world *w = reserved();
    reply(w, BINDING, 422, REASON("no"));
    assert_string_equal(world_find(w, "PATCH " GPU "/status")->body, UNRESERVE);
    assert_null(world_heard(w, MSG_bind_result, 0));
    reply(w, "PATCH " GPU "/status", 200, "{}");
    assert_true(str_is(world_result(w)->message, "no"));
    world_free(w);
}

/* A patch whose answer was lost may be carried out late: the pod may not be given anything before
 * that is over, and what is written then is refused when it comes late. */
static void giving_up_a_reservation_is_over_when_it_cannot_come_any_more(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct world *w = reserved();
        reply(w, BINDING, 422, REASON("no"));
        world_lose(w, "PATCH " GPU "/status", true);
        pass(w, 9900);
        assert_int_equal(world_count(w, "resourceclaims"), 0);
        assert_null(world_heard(w, MSG_bind_result, 0));
        pass(w, 200);
        reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), OURS));
        expect_body(w, "PUT " GPU "/status", "\"resourceVersion\":\"3\"");
        reply(w, "PUT " GPU "/status", late ? 409 : 200, "{}");
        pass(w, late ? 1000 : 0);
        if (late)
            reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), ""));
        assert_true(str_is(world_result(w)->message, "no"));
        world_free(w);
    }
}

static void giving_up_a_reservation_ends(void **state)
{
    (void)state;
    struct world *w = reserved();
    reply(w, BINDING, 422, REASON("no"));
    for (int i = 0; i < 5; i++) {
        reply(w, "PATCH " GPU "/status", 503, "{}");
        pass(w, 6000);
    }
    assert_true(str_is(world_result(w)->message, "no"));
    assert_int_equal(world_count(w, "resourceclaims"), 0);
    world_free(w);
}

static void a_pod_that_is_on_a_node_keeps_its_claims(void **state)
{
    (void)state;
    struct world *w = reserved();
    reply(w, BINDING, 409, REASON("pod a is already assigned to node \\\"n2\\\""));
    assert_false(world_result(w)->bound);
    assert_null(world_find(w, "PATCH " GPU));
    world_free(w);
}

static void cancel(struct world *w)
{
    struct message m = {
        .type = MSG_bind_cancel,
        .bind_cancel = {.uid = TEXT("ua"), .node_name = TEXT("n1"), .reason = TEXT("late")}};
    world_say(w, &m, SCHEDULER);
    world_tick(w);
}

static void a_cancelled_bind_gives_up_what_it_has(void **state)
{
    (void)state;
    struct message m = with_claim();
    struct world *w = asking(&m);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), ""));
    cancel(w); /* while the reservation is on the wire */
    assert_null(world_heard(w, MSG_bind_result, 0));
    reply(w, "PUT " GPU "/status", 200, "{}");
    assert_string_equal(world_find(w, "PATCH " GPU "/status")->body, UNRESERVE);
    cancel(w);
    assert_null(world_heard(w, MSG_bind_result, 0));
    reply(w, "PATCH " GPU "/status", 200, "{}");
    failed_with(w, "late");
    w = waiting(0);
    cancel(w); /* while it only looks */
    reply(w, "PATCH " GPU "/status", 200, "{}");
    failed_with(w, "late");
}

/* Its claims are ready and its Binding is in the line: it stays there no more. */
static void a_bind_that_is_cancelled_just_before_its_binding_is_not_sent(void **state)
{
    (void)state;
    struct message m = with_claim();
    struct world *w = asking(&m);
    world_answer(w, "GET " GPU, 200, HELD(RESULT("v", ""), OURS));
    cancel(w);
    assert_null(world_find(w, BINDING));
    assert_string_equal(world_find(w, "PATCH " GPU "/status")->body, UNRESERVE);
    reply(w, "PATCH " GPU "/status", 200, "{}");
    failed_with(w, "late");
}

static void without_the_lease_nothing_is_taken_back(void **state)
{
    (void)state;
    struct world *w = reserved();
    reply(w, BINDING, 422, REASON("no"));
    assert_non_null(world_find(w, "PATCH " GPU));
    for (int i = 0; i < 200; i++)
        world_step(w, 100); /* the lease is not renewed */
    assert_true(str_is(world_result(w)->message, "no"));
    assert_int_equal(world_count(w, "resourceclaims"), 0);
    world_free(w);
}

/* ---- what cannot be acted upon ---- */

static void refused(struct message *m, const char *message)
{
    struct world *w = asking(m);
    assert_string_equal(arena_copy(&w->memory, world_result(w)->message).at, message);
    assert_int_equal(world_count(w, "resourceclaims"), 0);
    world_free(w);
}

static void binds_with_claims_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    struct device_claim nameless = {.name = TEXT("g")};
    struct extended_claim many[2];
    memset(many, 0, sizeof(many));
    struct message m = with_claim();
    m.bind.device_claims.at = &nameless;
    refused(&m, "bind: device_claims must name their claims");
    m = with_extended();
    many[0].requests = m.bind.extended.at[0].requests;
    m.bind.extended.at = many;
    refused(&m, "bind: extended must have requests and uses, or neither");
    m.bind.extended.count = 2;
    refused(&m, "bind: one claim can be made for extended resources, not several");
}

/* ---- what the scheduler asks to be taken back ---- */

static struct message release(enum claim_step what)
{
    return (struct message){.type = MSG_claim_release,
                            .claim_release = {.what = what,
                                              .uid = TEXT("ua"),
                                              .namespace_name = TEXT("default"),
                                              .name = TEXT("a"),
                                              .claim = TEXT("gpu"),
                                              .claim_uid = TEXT("ug"),
                                              .resource_version = 3}};
}

static struct world *releasing(enum claim_step what)
{
    struct message m = release(what);
    return asking(&m);
}

static void released(struct world *w, bool done, const char *message)
{
    const struct message *m = world_heard(w, MSG_claim_released, 0);
    assert_non_null(m);
    assert_int_equal(m->claim_released.done, done);
    assert_true(str_is(m->claim_released.claim_uid, "ug"));
    assert_string_equal(arena_copy(&w->memory, m->claim_released.message).at, message);
    assert_null(world_heard(w, MSG_claim_released, 1));
    assert_int_equal(world_count(w, "resourceclaims"), 0);
    world_free(w);
}

static void a_claim_loses_its_devices(void **state)
{
    (void)state;
    struct world *w = releasing(CLAIM_deallocate);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), OURS ",\"devices\":[{}],\"more\":1"));
    assert_string_equal(world_find(w, "PUT " GPU "/status")->body,
                        CLAIM(META(KEPT), "\"status\":{\"more\":1}"));
    reply(w, "PUT " GPU "/status", 200, "{}");
    released(w, true, "");
    w = releasing(CLAIM_deallocate);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), ""));
    world_lose(w, "PUT " GPU "/status", true);
    pass(w, 1000);
    reply(w, "GET " GPU, 200, FREE); /* it was carried out */
    released(w, true, "");
    w = releasing(CLAIM_deallocate);
    reply(w, "GET " GPU, 404, "{}");
    released(w, true, "");
}

#define MODIFIED                                                                                   \
    "Operation cannot be fulfilled on resourceclaims.resource.k8s.io \"gpu\": the object has "     \
    "been "                                                                                        \
    "modified; please apply your changes to the latest version and try again"

static void a_claim_that_has_changed_keeps_its_devices(void **state)
{
    (void)state;
    struct world *w = releasing(CLAIM_deallocate);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), THEIRS));
    released(w, false, MODIFIED);
    struct message m = release(CLAIM_deallocate);
    m.claim_release.resource_version = 2;
    w = asking(&m);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), ""));
    released(w, false, MODIFIED);
    w = releasing(CLAIM_deallocate);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), ""));
    reply(w, "PUT " GPU "/status", 422, REASON("no"));
    released(w, false, "no");
}

static void a_special_claim_is_deleted_and_no_other(void **state)
{
    (void)state;
    struct message m = release(CLAIM_delete);
    m.claim_release.claim_uid = STR_LITERAL("us");
    struct world *w = asking(&m);
    reply(w, "GET " GPU, 200, SPECIAL);
    reply(w, "DELETE " GPU, 404, "{}");
    assert_true(world_heard(w, MSG_claim_released, 0)->claim_released.done);
    world_free(w);
    w = asking(&m); /* it goes by itself */
    reply(w, "GET " GPU, 200, SPECIAL_META("ua", KEPT ",\"deletionTimestamp\":\"x\""));
    expect_body(w, "PUT " GPU, "\"finalizers\":[]");
    world_free(w);
    w = releasing(CLAIM_delete);
    reply(w, "GET " GPU, 200, HELD(RESULT("v", ""), OURS));
    released(w, false, "resourceclaim default/gpu was not made for the pod");
}

static void a_reservation_is_taken_back(void **state)
{
    (void)state;
    struct world *w = releasing(CLAIM_unreserve);
    assert_string_equal(world_find(w, "PATCH " GPU "/status")->body, UNRESERVE);
    assert_string_equal(world_find(w, "PATCH " GPU "/status")->type,
                        "application/strategic-merge-patch+json");
    reply(w, "PATCH " GPU "/status", 409, REASON("please try again"));
    pass(w, 1000);
    reply(w, "PATCH " GPU "/status", 200, "{}");
    released(w, true, "");
}

static void a_new_scheduler_hears_of_releases_under_way(void **state)
{
    (void)state;
    struct message up = {.type = MSG_peer_up};
    struct world *w = releasing(CLAIM_unreserve);
    outbox_reset(&w->out);
    world_say(w, &up, SCHEDULER);
    const struct strs *listed = &world_heard(w, MSG_leadership, 0)->leadership.releasing;
    assert_int_equal(listed->count, 1);
    assert_true(str_is(listed->at[0], "ug"));
    reply(w, "PATCH " GPU "/status", 200, "{}");
    outbox_reset(&w->out);
    world_say(w, &up, SCHEDULER);
    assert_int_equal(world_heard(w, MSG_leadership, 0)->leadership.releasing.count, 0);
    world_free(w);
}

static void each_release_is_answered_once(void **state)
{
    (void)state;
    struct message again = release(CLAIM_deallocate), other = release(CLAIM_unreserve),
                   empty = release(CLAIM_none);
    struct world *w = releasing(CLAIM_deallocate);
    again.claim_release.id = 8; /* whose answer it is */
    world_say(w, &again, SCHEDULER);
    world_tick(w);
    assert_null(world_heard(w, MSG_claim_released, 0));
    reply(w, "GET " GPU, 200, FREE);
    assert_int_equal(world_heard(w, MSG_claim_released, 0)->claim_released.id, 8);
    released(w, true, "");
    w = releasing(CLAIM_deallocate);
    world_say(w, &other, SCHEDULER);
    world_tick(w);
    assert_false(world_heard(w, MSG_claim_released, 0)->claim_released.done);
    world_free(w);
    w = asking(&empty);
    released(w, false, "claim_release: what must be deallocate, delete or unreserve");
    w = releasing(CLAIM_deallocate);
    for (int i = 0; i < 200; i++)
        world_step(w, 100);
    released(w, false, "lost leadership");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_waited_for_in_rounds),
        cmocka_unit_test(devices_without_conditions_are_not_waited_for),
        cmocka_unit_test(a_device_that_fails_ends_the_bind),
        cmocka_unit_test(devices_are_not_waited_for_for_ever),
        cmocka_unit_test(a_claim_that_goes_while_it_is_waited_for_ends_the_bind),
        cmocka_unit_test(an_answer_that_tells_nothing_of_devices_is_not_yet),
        cmocka_unit_test(a_lost_allocation_is_looked_for),
        cmocka_unit_test(somebody_elses_allocation_is_not_taken_for_ours),
        cmocka_unit_test(a_claim_with_other_devices_than_decided_on_ends_the_bind),
        cmocka_unit_test(an_allocation_that_stays_in_doubt_is_told),
        cmocka_unit_test(a_claim_is_made_for_extended_resources),
        cmocka_unit_test(a_claim_that_nothing_uses_ends_the_bind),
        cmocka_unit_test(a_claim_whose_making_was_not_answered_is_found),
        cmocka_unit_test(a_claim_that_was_made_is_deleted_after_a_failure),
        cmocka_unit_test(a_claim_that_cannot_be_deleted_is_told),
        cmocka_unit_test(what_a_device_can_do_without_is_written),
        cmocka_unit_test(what_claims_take_of_the_node_is_said_before_the_binding),
        cmocka_unit_test(what_was_said_of_the_node_is_taken_back),
        cmocka_unit_test(a_status_that_cannot_be_written_ends_the_bind),
        cmocka_unit_test(a_failed_bind_gives_up_its_reservation),
        cmocka_unit_test(giving_up_a_reservation_is_over_when_it_cannot_come_any_more),
        cmocka_unit_test(giving_up_a_reservation_ends),
        cmocka_unit_test(a_pod_that_is_on_a_node_keeps_its_claims),
        cmocka_unit_test(a_cancelled_bind_gives_up_what_it_has),
        cmocka_unit_test(a_bind_that_is_cancelled_just_before_its_binding_is_not_sent),
        cmocka_unit_test(without_the_lease_nothing_is_taken_back),
        cmocka_unit_test(binds_with_claims_that_make_no_sense_are_refused),
        cmocka_unit_test(a_claim_loses_its_devices),
        cmocka_unit_test(a_claim_that_has_changed_keeps_its_devices),
        cmocka_unit_test(a_special_claim_is_deleted_and_no_other),
        cmocka_unit_test(a_reservation_is_taken_back),
        cmocka_unit_test(a_new_scheduler_hears_of_releases_under_way),
        cmocka_unit_test(each_release_is_answered_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
