/* ResourceClaims that the pods of a group share, before their Bindings: whom they are reserved for,
 * and who writes what all of them are given. */
#include "tests/unit/binder/preemption.h"

#define BINDING "POST " PODS "a/binding"
#define TEXT(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
#define DEVICES "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/gpu"
#define GPU(reserved)                                                                              \
    "{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"gpu\",\"resourceVersion\":\"3\"},"       \
    "\"status\":{\"allocation\":{\"devices\":{},\"allocationTimestamp\":\"2026-01-02T03:04:"       \
    "05Z\"}" reserved "}}"

#define FREE(meta, rest)                                                                           \
    "{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"gpu\",\"uid\":\"ug\"" meta               \
    "},\"spec\":{\"big\":9007199254740993}" rest "}"
#define KEPT      ",\"finalizers\":[\"resource.kubernetes.io/delete-protection\"]"
#define STATUS_IS ",\"status\":"

static struct world *giving(struct device_allocation *allocation)
{
    struct world *w = world_leading();
    struct message m = world_bind("ua", "a", "n1");
    struct device_claim claims[] = {{.name = TEXT("g"), .claim = TEXT("gpu")}};
    m.bind.device_claims.at = claims;
    m.bind.device_claims.count = 1;
    m.bind.allocations.at = allocation;
    m.bind.allocations.count = 1;
    m.bind.device_timeout_ms = -1;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    return w;
}

static void expect_part(struct world *w, const char *request, const char *part)
{
    const char *body = world_find(w, request)->body;
    if (strstr(body, part) == NULL)
        fail_msg("no %s in %s", part, body);
}

#define A_GROUP                                                                                    \
    "{\"apiGroup\":\"scheduling.k8s.io\",\"resource\":\"podgroups\",\"name\":\"g\",\"uid\":"       \
    "\"ug\"}"

static struct world *asking_for_group(bool for_group)
{
    struct world *w = world_leading();
    struct message m = world_bind("ua", "a", "n1");
    struct device_claim claim = {.name = TEXT("g"), .claim = TEXT("gpu"), .for_group = for_group};
    m.bind.device_claims.at = &claim;
    m.bind.device_claims.count = 1;
    m.bind.group = STR_LITERAL("g");
    m.bind.group_uid = STR_LITERAL("ug");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    return w;
}

/* It stays the group's when the bind fails. */
static void a_claim_of_a_group_is_reserved_for_that(void **state)
{
    (void)state;
    struct world *w = asking_for_group(true);
    reply(w, "GET " DEVICES, 200, GPU(""));
    assert_string_equal(world_find(w, "PUT " DEVICES "/status")->body,
                        GPU(",\"reservedFor\":[" A_GROUP "]"));
    reply(w, "PUT " DEVICES "/status", 200, "{}");
    reply(w, BINDING, 400, "{}");
    assert_null(world_find(w, DEVICES));
    assert_false(world_result(w)->bound);
    world_free(w);
    for (int for_group = 0; for_group <= 1; for_group++) { /* whoever of it was first */
        w = asking_for_group(for_group != 0);
        reply(w, "GET " DEVICES, 200, GPU(",\"reservedFor\":[" A_GROUP "]"));
        assert_null(world_find(w, "PUT " DEVICES));
        reply(w, BINDING, 400, "{}");
        assert_null(world_find(w, DEVICES));
        world_free(w);
    }
}

static void a_claim_of_a_group_that_is_not_named_is_refused(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = world_bind("ua", "a", "n1");
    struct device_claim claim = {.name = TEXT("g"), .claim = TEXT("gpu"), .for_group = true};
    m.bind.device_claims.at = &claim;
    m.bind.device_claims.count = 1;
    m.bind.group = STR_LITERAL("g");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_true(str_is(world_result(w)->message,
                       "bind: device_claims for a group need group and group_uid"));
    world_free(w);
}

/* Another pod of the group was faster, and has written what both are to be given. */
static void what_others_of_its_group_have_written_is_found(void **state)
{
    (void)state;
    struct allocated_device device = {
        .request = TEXT("r"), .driver = TEXT("d"), .pool = TEXT("p"), .device = TEXT("v")};
    struct device_allocation allocation = {
        .claim = TEXT("gpu"), .uid = TEXT("ug"), .devices = {1, &device}, .shared = true};
    static const char *const written =
        FREE(KEPT, STATUS_IS "{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","
                             "\"driver\":\"d\",\"pool\":\"p\",\"device\":\"v\"}]}},"
                             "\"reservedFor\":[{\"uid\":\"other\"}]}");
    struct world *w = giving(&allocation);
    reply(w, "GET " DEVICES, 200, written);
    assert_null(world_find(w, "PUT " DEVICES " "));
    expect_part(w, "PUT " DEVICES "/status",
                "\"reservedFor\":[{\"uid\":\"other\"},{\"resource\":\"pods\",\"name\":\"a\","
                "\"uid\":\"ua\"}]");
    reply(w, "PUT " DEVICES "/status", 200, "{}");
    assert_non_null(world_find(w, BINDING));
    world_free(w);
    device.device = STR_LITERAL("w"); /* it was given something else */
    w = giving(&allocation);
    reply(w, "GET " DEVICES, 200, written);
    assert_true(str_is(world_result(w)->message,
                       "claim default/gpu got allocated elsewhere in the meantime"));
    world_free(w);
    device.device = STR_LITERAL("v");
    allocation.shared = false; /* or not by one of its group */
    w = giving(&allocation);
    reply(w, "GET " DEVICES, 200, written);
    assert_true(str_is(world_result(w)->message,
                       "claim default/gpu got allocated elsewhere in the meantime"));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_of_a_group_is_reserved_for_that),
        cmocka_unit_test(a_claim_of_a_group_that_is_not_named_is_refused),
        cmocka_unit_test(what_others_of_its_group_have_written_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
