/* What happens before a Binding, through the whole core: nominations, volumes, claims, and every
 * way for them not to come together. */
#include "tests/unit/binder/preemption.h"

#define BINDING  "POST " PODS "a/binding"
#define NODE     "GET /api/v1/nodes/n1"
#define CSI_NODE "GET /apis/storage.k8s.io/v1/csinodes/n1"
#define VOLUME   "/api/v1/persistentvolumes/pv"
#define CLAIM(c) "/api/v1/namespaces/default/persistentvolumeclaims/" c
#define NODE_JSON                                                                                  \
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"labels\":{\"zone\":\"a\","                 \
    "\"topology.gke.io/zone\":\"a\"}}}"
#define POD_JSON "{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"ua\"}}"
#define IN_ZONE(z)                                                                                 \
    ",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"     \
    "\"zone\",\"operator\":\"In\",\"values\":[\"" z "\"]}]}]}}"
#define ON_NODE(n)                                                                                 \
    ",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":"          \
    "\"metadata.name\",\"operator\":\"In\",\"values\":[\"" n "\"]}]}]}}"
#define REFERENCE "\"claimRef\":{\"namespace\":\"default\",\"name\":\"c\",\"uid\":\"uc\"}"
#define PV(more)                                                                                   \
    "{\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"pv\",\"resourceVersion\":\"5\"},"     \
    "\"spec\":{\"capacity\":{\"storage\":\"1Gi\"}" more "}}"
#define PVC(annotations, spec)                                                                     \
    "{\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"c\",\"namespace\":\"default\","  \
    "\"uid\":\"uc\",\"resourceVersion\":\"6\"" annotations "},\"spec\":{" spec "}}"
#define SELECTED "\"volume.kubernetes.io/selected-node\":\"n1\""
#define BOUND    "\"pv.kubernetes.io/bind-completed\":\"yes\""
#define NOTES(n) ",\"annotations\":{" n "}"
#define TO_PV    "\"volumeName\":\"pv\""

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
static const struct claim_binding to_bind = {.namespace_name = TEXT("default"),
                                             .name = TEXT("c"),
                                             .uid = TEXT("uc"),
                                             .volume_name = TEXT("pv"),
                                             .resource_version = 6,
                                             .volume_version = 5};
static const struct claim_binding to_provision = {
    .namespace_name = TEXT("default"), .name = TEXT("c"), .uid = TEXT("uc"), .resource_version = 6};

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

static void ask_for(struct world *w, const struct claim_binding *claims, uint32_t count)
{
    struct message m = world_bind("ua", "a", "n1");
    struct claim_binding copy[4];
    assert_true(count <= 4);
    if (count > 0)
        memcpy(copy, claims, count * sizeof(*copy));
    m.bind.claims.at = copy;
    m.bind.claims.count = count;
    m.bind.bind_timeout_s = 600;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
}

/* Leads, and waits for the claim. */
static struct world *waiting_for(const struct claim_binding *claim)
{
    struct world *w = world_leading();
    ask_for(w, claim, 1);
    if (claim->volume_name.len > 0) {
        reply(w, "GET " VOLUME, 200, PV(""));
        reply(w, "PUT " VOLUME, 200, "{}");
    } else {
        reply(w, "GET " CLAIM("c"), 200, PVC("", ""));
        reply(w, "PUT " CLAIM("c"), 200, "{}");
    }
    assert_int_equal(world_count(w, "/api/v1"), 0);
    return w;
}

/* The next second's look at node and pod. */
static void next_round(struct world *w)
{
    pass(w, 1000);
    reply(w, NODE, 200, NODE_JSON);
    reply(w, GET("a"), 200, POD_JSON);
}

static void failed_with(struct world *w, const char *message)
{
    const struct bind_result *result = world_result(w);
    assert_false(result->bound);
    assert_string_equal(arena_copy(&w->memory, result->message).at, message);
    assert_int_equal(world_result(w)->plugin, BIND_PLUGIN_volume_binding);
    assert_null(world_find(w, "/binding"));
    assert_int_equal(world_count(w, "/persistentvolume"), 0);
    world_free(w);
}

/* ---- devices ---- */

#define DEVICES "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/gpu"
#define GPU(reserved)                                                                              \
    "{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"gpu\",\"resourceVersion\":\"3\"},"       \
    "\"status\":{\"allocation\":{\"devices\":{},\"allocationTimestamp\":\"2026-01-02T03:04:"       \
    "05Z\"}" reserved "}}"

static struct world *asking_for_devices(void)
{
    struct world *w = world_leading();
    struct message m = world_bind("ua", "a", "n1");
    struct device_claim claims[] = {{.name = TEXT("none"), .unneeded = true},
                                    {.name = TEXT("g"), .claim = TEXT("gpu")}};
    m.bind.device_claims.at = claims;
    m.bind.device_claims.count = 2;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    return w;
}

static void an_allocated_claim_is_reserved_before_the_binding(void **state)
{
    (void)state;
    struct world *w = asking_for_devices();
    reply(w, "GET " DEVICES, 200, GPU(",\"reservedFor\":[{\"uid\":\"other\"}]"));
    assert_string_equal(
        world_find(w, "PUT " DEVICES "/status")->body,
        GPU(",\"reservedFor\":[{\"uid\":\"other\"},{\"resource\":\"pods\",\"name\":\"a\","
            "\"uid\":\"ua\"}]"));
    reply(w, "PUT " DEVICES "/status", 409, "{}"); /* another pod was faster */
    reply(w, "GET " DEVICES, 200, GPU(""));
    reply(w, "PUT " DEVICES "/status", 200, "{}");
    assert_non_null(world_find(w, BINDING));
    world_free(w);
}

static void a_reserved_claim_is_left_alone(void **state)
{
    (void)state;
    struct world *w = asking_for_devices();
    reply(w, "GET " DEVICES, 200, GPU(",\"reservedFor\":[{\"uid\":\"ua\"}]"));
    assert_null(world_find(w, "PUT " DEVICES));
    assert_non_null(world_find(w, BINDING));
    world_free(w);
}

static void a_claim_that_lost_its_devices_fails_the_bind(void **state)
{
    (void)state;
    struct world *w = asking_for_devices();
    reply(w, "GET " DEVICES, 200, "{\"kind\":\"ResourceClaim\",\"metadata\":{},\"status\":{}}");
    const struct bind_result *result = world_result(w);
    assert_false(result->bound);
    assert_int_equal(result->plugin, BIND_PLUGIN_dynamic_resources);
    assert_true(
        str_is(result->message, "claim default/gpu got deallocated elsewhere in the meantime"));
    assert_null(world_find(w, "/binding"));
    world_free(w);
}

static void a_claim_that_is_going_fails_the_bind(void **state)
{
    (void)state;
    struct world *w = asking_for_devices();
    reply(w, "GET " DEVICES, 200,
          "{\"kind\":\"ResourceClaim\",\"metadata\":{\"deletionTimestamp\":\"x\"},\"status\":{"
          "\"allocation\":{}}}");
    assert_true(str_is(world_result(w)->message, "claim default/gpu got deleted in the meantime"));
    world_free(w);
}

#define FREE(meta, rest)                                                                           \
    "{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"gpu\",\"uid\":\"ug\"" meta               \
    "},\"spec\":{\"big\":9007199254740993}" rest "}"
#define KEPT      ",\"finalizers\":[\"resource.kubernetes.io/delete-protection\"]"
#define STATUS_IS ",\"status\":"

static struct world *giving_within(struct device_allocation *allocation, int64_t timeout_ms)
{
    struct world *w = world_leading();
    struct message m = world_bind("ua", "a", "n1");
    struct device_claim claims[] = {{.name = TEXT("g"), .claim = TEXT("gpu")}};
    m.bind.device_claims.at = claims;
    m.bind.device_claims.count = 1;
    m.bind.allocations.at = allocation;
    m.bind.allocations.count = 1;
    m.bind.device_timeout_ms = timeout_ms;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    return w;
}

static struct world *giving(struct device_allocation *allocation)
{
    return giving_within(allocation, 0);
}

static struct world *giving_devices(void)
{
    static struct label consumed[] = {{TEXT("memory"), TEXT("1Gi")}};
    static struct device_toleration tolerations[] = {
        {.key = TEXT("k"), .operator_name = TEXT("Exists"), .has_seconds = true, .seconds = 3}};
    static struct str conditions[] = {TEXT("Attached")}, requests[] = {TEXT("r")};
    static struct allocated_device devices[] = {{.request = TEXT("r/x"),
                                                 .driver = TEXT("d"),
                                                 .pool = TEXT("p"),
                                                 .device = TEXT("v"),
                                                 .share_id = TEXT("s"),
                                                 .tolerations = {1, tolerations},
                                                 .binding_conditions = {1, conditions},
                                                 .consumed = {1, consumed}},
                                                {.request = TEXT("r/x"),
                                                 .driver = TEXT("d"),
                                                 .pool = TEXT("p"),
                                                 .device = TEXT("w"),
                                                 .has_admin_access = true,
                                                 .admin_access = true}};
    static struct opaque_config config[] = {
        {.requests = {1, requests},
         .source = TEXT("FromClaim"),
         .driver = TEXT("d"),
         .parameters = TEXT("{\"n\":9007199254740993}")},
        {.source = TEXT("FromClass"), .driver = TEXT("d"), .parameters = TEXT("}, \"x\": {")}};
    static struct str nodes[] = {TEXT("n1")};
    static struct requirement here[] = {
        {.key = TEXT("metadata.name"), .operator_name = TEXT("In"), .values = {1, nodes}}};
    static struct node_term terms[] = {{.fields = {1, here}}};
    static struct device_allocation allocation = {.claim = TEXT("gpu"),
                                                  .uid = TEXT("ug"),
                                                  .devices = {2, devices},
                                                  .config = {2, config},
                                                  .has_terms = true,
                                                  .terms = {1, terms}};
    return giving(&allocation);
}

static void expect_part(struct world *w, const char *request, const char *part)
{
    const char *body = world_find(w, request)->body;
    if (strstr(body, part) == NULL)
        fail_msg("no %s in %s", part, body);
}

static void a_claim_is_given_its_devices_before_the_binding(void **state)
{
    (void)state;
    struct world *w = giving_devices();
    reply(w, "GET " DEVICES, 200, FREE(",\"managedFields\":[1]", ""));
    assert_string_equal(world_find(w, "PUT " DEVICES)->body, FREE(KEPT, ""));
    assert_null(world_find(w, "PUT " DEVICES "/status"));
    reply(w, "PUT " DEVICES, 200, FREE(KEPT, ""));
    expect_part(w, "PUT " DEVICES "/status",
                KEPT "},\"spec\":{\"big\":9007199254740993}" STATUS_IS
                     "{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r/x\",\"driver\":"
                     "\"d\",\"pool\":\"p\",\"device\":\"v\",\"tolerations\":[{\"key\":\"k\","
                     "\"operator\":\"Exists\",\"tolerationSeconds\":3}],\"bindingConditions\":["
                     "\"Attached\"],\"shareID\":\"s\",\"consumedCapacity\":{\"memory\":\"1Gi\"}},{"
                     "\"request\":\"r/x\",\"driver\":\"d\",\"pool\":\"p\",\"device\":\"w\","
                     "\"adminAccess\":true}],\"config\":[{\"source\":\"FromClaim\",\"requests\":["
                     "\"r\"],\"opaque\":{\"driver\":\"d\",\"parameters\":{\"n\":9007199254740993}}"
                     "},{\"source\":\"FromClass\",\"opaque\":{\"driver\":\"d\",\"parameters\":"
                     "null}}]},\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{"
                     "\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}]},"
                     "\"allocationTimestamp\":\"");
    expect_part(w, "PUT " DEVICES "/status",
                "Z\"},\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"a\",\"uid\":\"ua\"}]}}");
    reply(w, "PUT " DEVICES "/status", 409, "{}"); /* somebody has changed it: read it again */
    assert_null(world_find(w, "/binding"));
    reply(w, "GET " DEVICES, 200, FREE(KEPT, ""));
    reply(w, "PUT " DEVICES "/status", 200, "{}");
    assert_null(world_find(w, "/binding")); /* it is to be attached: see test_reserving */
    reply(w, "GET " DEVICES, 200, FREE(KEPT, STATUS_IS "{\"allocation\":{}}"));
    assert_non_null(world_find(w, BINDING));
    world_free(w);
}

/* As without DRADeviceBindingConditions: nobody waits, and when it was is not said. */
static void who_does_not_wait_for_devices_writes_no_time(void **state)
{
    (void)state;
    struct allocated_device device = {
        .request = TEXT("r"), .driver = TEXT("d"), .pool = TEXT("p"), .device = TEXT("v")};
    struct device_allocation allocation = {
        .claim = TEXT("gpu"), .uid = TEXT("ug"), .devices = {1, &device}};
    for (int64_t timeout_ms = -1; timeout_ms <= 0; timeout_ms++) {
        struct world *w = giving_within(&allocation, timeout_ms);
        reply(w, "GET " DEVICES, 200, FREE(KEPT, ""));
        const char *body = world_find(w, "PUT " DEVICES "/status")->body;
        assert_non_null(strstr(body, "\"allocation\":{"));
        assert_int_equal(strstr(body, "allocationTimestamp") != NULL, timeout_ms >= 0);
        world_free(w);
    }
}

/* Fails with this answer to the first GET, without a write. */
static void refused_with(const char *claim, const char *message)
{
    struct world *w = giving_devices();
    reply(w, "GET " DEVICES, 200, claim);
    assert_string_equal(arena_copy(&w->memory, world_result(w)->message).at, message);
    assert_null(world_find(w, "PUT " DEVICES));
    assert_null(world_find(w, "/binding"));
    world_free(w);
}

static void devices_are_given_to_no_claim_that_has_some_or_is_going(void **state)
{
    (void)state;
    refused_with(FREE(KEPT, STATUS_IS "{\"allocation\":{}}"),
                 "claim default/gpu got allocated elsewhere in the meantime");
    refused_with(FREE(",\"deletionTimestamp\":\"x\"", ""),
                 "claim default/gpu got deleted in the meantime");
    refused_with("{\"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"gpu\",\"uid\":\"other\"}}",
                 "claim default/gpu got deleted in the meantime");
}

/* Somebody gave it devices between our two writes. */
static void devices_given_after_the_finalizer_are_left_alone(void **state)
{
    (void)state;
    struct world *w = giving_devices();
    reply(w, "GET " DEVICES, 200, FREE("", ""));
    reply(w, "PUT " DEVICES, 200, FREE(KEPT, ""));
    reply(w, "PUT " DEVICES "/status", 409, "{}");
    reply(w, "GET " DEVICES, 200, FREE(KEPT, STATUS_IS "{\"allocation\":{}}"));
    assert_true(str_is(world_result(w)->message,
                       "claim default/gpu got allocated elsewhere in the meantime"));
    assert_null(world_find(w, "PUT " DEVICES));
    world_free(w);
}

static void what_became_of_a_write_of_devices_is_told(void **state)
{
    (void)state;
    struct world *w = giving_devices();
    reply(w, "GET " DEVICES, 200, FREE("", ""));
    reply(w, "PUT " DEVICES, 422, "{\"kind\":\"Status\",\"message\":\"no\"}");
    assert_true(str_is(world_result(w)->message, "add finalizer to claim default/gpu: no"));
    world_free(w);
    w = giving_devices();
    reply(w, "GET " DEVICES, 200, FREE(KEPT, ""));
    reply(w, "PUT " DEVICES "/status", 422, "{\"kind\":\"Status\",\"message\":\"no\"}");
    assert_true(str_is(world_result(w)->message,
                       "add allocation and reservation to claim default/gpu: no"));
    assert_int_equal(world_result(w)->plugin, BIND_PLUGIN_dynamic_resources);
    world_free(w);
}

/* ---- writing ---- */

static void a_volume_is_given_its_claim_and_waited_for(void **state)
{
    (void)state;
    struct world *w = world_leading();
    ask_for(w, &to_bind, 1);
    assert_int_equal(world_find(w, "GET " VOLUME)->channel, KUBE_CHANNEL_volume);
    reply(w, "GET " VOLUME, 200,
          "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"pv\","
          "\"resourceVersion\":\"5\",\"managedFields\":[{}],\"labels\":{\"x\":\"\\u00e4 \\\"7\"}},"
          "\"spec\":{\"hostPath\":{\"path\":\"/"
          "x\",\"unknown\":[1,2.50,9007199254740993,-1E+3,null,true]}"
          "},\"status\":{\"phase\":\"Available\"},\"more\":{}}");
    assert_string_equal(
        world_find(w, "PUT " VOLUME)->body,
        "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"pv\","
        "\"resourceVersion\":\"5\",\"labels\":{\"x\":\"\\u00e4 \\\"7\"},\"annotations\":{"
        "\"pv.kubernetes.io/bound-by-controller\":\"yes\"}},\"spec\":{\"hostPath\":{\"path\":\"/"
        "x\","
        "\"unknown\":[1,2.50,9007199254740993,-1E+3,null,true]},\"claimRef\":{\"kind\":"
        "\"PersistentVolumeClaim\",\"namespace\":\"default\",\"name\":\"c\",\"uid\":\"uc\","
        "\"apiVersion\":\"v1\",\"resourceVersion\":\"6\"}},\"status\":{\"phase\":\"Available\"},"
        "\"more\":{}}");
    reply(w, "PUT " VOLUME, 200, "{}");
    pass(w, 999);
    assert_null(world_find(w, NODE));
    pass(w, 1);
    reply(w, NODE, 200, NODE_JSON);
    reply(w, GET("a"), 200, POD_JSON);
    reply(w, "GET " VOLUME, 200, PV("," REFERENCE IN_ZONE("a")));
    reply(w, "GET " CLAIM("c"), 200, PVC("", TO_PV)); /* not completed */
    assert_int_equal(world_count(w, "/api/v1"), 0);
    next_round(w);
    reply(w, "GET " VOLUME, 200, PV("," REFERENCE IN_ZONE("a")));
    assert_null(world_find(w, "/binding"));
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(BOUND), TO_PV));
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    assert_int_equal(world_result(w)->plugin, BIND_PLUGIN_none);
    world_free(w);
}

/* Upstream looks at a volume's terms with a node of which it knows the labels alone. */
static void a_field_in_a_volumes_terms_says_nothing(void **state)
{
    (void)state;
    struct world *w = waiting_for(&to_bind);
    next_round(w);
    reply(w, "GET " VOLUME, 200, PV("," REFERENCE ON_NODE("n2")));
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(BOUND), TO_PV));
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void a_claim_is_given_its_node_and_waited_for(void **state)
{
    (void)state;
    struct world *w = world_leading();
    ask_for(w, &to_provision, 1);
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES("\"k\":\"v\""), ""));
    assert_non_null(strstr(world_find(w, "PUT " CLAIM("c"))->body,
                           "\"annotations\":{\"k\":\"v\"," SELECTED "}"));
    reply(w, "PUT " CLAIM("c"), 200, "{}");
    next_round(w);
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(SELECTED), "")); /* no volume yet */
    next_round(w);
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(SELECTED), TO_PV));
    reply(w, "GET " VOLUME, 404, ""); /* seen later */
    next_round(w);
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(SELECTED), TO_PV));
    reply(w, "GET " VOLUME, 200, PV(IN_ZONE("a"))); /* bound, but not completely */
    next_round(w);
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(SELECTED "," BOUND), TO_PV));
    reply(w, "GET " VOLUME, 200, PV(IN_ZONE("a")));
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void volumes_are_written_before_claims_each_in_order(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct claim_binding claims[4] = {to_provision, to_bind, to_provision, to_bind};
    claims[0].name = STR_LITERAL("first");
    claims[1].volume_name = STR_LITERAL("pv-1");
    claims[3].volume_name = STR_LITERAL("pv-3");
    ask_for(w, claims, 4);
    reply(w, "GET " VOLUME "-1", 200, PV(""));
    reply(w, "PUT " VOLUME "-1", 200, "{}");
    reply(w, "GET " VOLUME "-3", 200, PV(""));
    reply(w, "PUT " VOLUME "-3", 200, "{}");
    reply(w, "GET " CLAIM("first"), 200, PVC("", ""));
    reply(w, "PUT " CLAIM("first"), 200, "{}");
    reply(w, "GET " CLAIM("c"), 200, PVC("", ""));
    reply(w, "PUT " CLAIM("c"), 200, "{}");
    next_round(w);
    reply(w, "GET " VOLUME "-1", 200, PV("," REFERENCE));
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(BOUND), TO_PV));
    reply(w, "GET " VOLUME "-3", 200, PV("," REFERENCE));
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(BOUND), TO_PV));
    reply(w, "GET " CLAIM("first"), 200, PVC(NOTES(BOUND "," SELECTED), TO_PV));
    reply(w, "GET " VOLUME, 200, PV(""));
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(BOUND "," SELECTED), TO_PV));
    reply(w, "GET " VOLUME, 200, PV(""));
    assert_non_null(world_find(w, BINDING));
    world_free(w);
}

static void a_reserved_volume_keeps_what_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *want; /* NULL: refused */
    } cases[] = {
        {",\"claimRef\":{\"namespace\":\"default\",\"name\":\"c\"}",
         "\"claimRef\":{\"kind\":\"PersistentVolumeClaim\",\"namespace\":\"default\",\"name\":"
         "\"c\","
         "\"uid\":\"uc\",\"apiVersion\":\"v1\",\"resourceVersion\":\"6\"}"},
        {"," REFERENCE, REFERENCE},
        {",\"claimRef\":{\"namespace\":\"default\",\"name\":\"c\",\"uid\":\"old\"}", NULL},
        {",\"claimRef\":{\"namespace\":\"other\",\"name\":\"c\",\"uid\":\"uc\"}", NULL},
        {"", NULL}, /* it was reserved when that was decided */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *w = world_leading();
        struct claim_binding claim = to_bind;
        char body[512];
        claim.prebound = true;
        ask_for(w, &claim, 1);
        snprintf(body, sizeof(body),
                 "{\"kind\":\"PersistentVolume\",\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":"
                 "{\"a\":1%s}}",
                 cases[i].spec);
        reply(w, "GET " VOLUME, 200, body);
        if (cases[i].want == NULL) {
            assert_int_equal(world_result(w)->code, 409);
            failed_with(w, "Operation cannot be fulfilled on persistentvolumes \"pv\": the object "
                           "has been modified; please apply your changes to the latest version "
                           "and try again");
            continue;
        }
        assert_non_null(strstr(world_find(w, "PUT " VOLUME)->body, cases[i].want));
        assert_null(strstr(world_find(w, "PUT " VOLUME)->body, "bound-by-controller"));
        world_free(w);
    }
}

static void what_was_decided_on_must_still_be_there(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct claim_binding claim = to_bind;
    claim.volume_version = 4; /* 5 by now */
    ask_for(w, &claim, 1);
    reply(w, "GET " VOLUME, 200, PV(""));
    failed_with(w, "Operation cannot be fulfilled on persistentvolumes \"pv\": the object has been "
                   "modified; please apply your changes to the latest version and try again");
    for (int i = 0; i < 2; i++) {
        w = world_leading();
        claim = to_provision;
        if (i == 0)
            claim.uid = STR_LITERAL("another");
        else
            claim.resource_version = 5;
        ask_for(w, &claim, 1);
        reply(w, "GET " CLAIM("c"), 200, PVC("", ""));
        failed_with(w, "Operation cannot be fulfilled on persistentvolumeclaims \"c\": the object "
                       "has been modified; please apply your changes to the latest version and "
                       "try again");
    }
}

static void a_refused_write_ends_the_bind(void **state)
{
    (void)state;
    static const int codes[] = {400, 403, 404, 409, 422, 500};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        struct world *w = world_leading();
        ask_for(w, &to_bind, 1);
        reply(w, "GET " VOLUME, 200, PV(""));
        reply(w, "PUT " VOLUME, codes[i],
              "{\"kind\":\"Status\",\"message\":\"no, said the server\"}");
        assert_int_equal(world_result(w)->code, codes[i]);
        failed_with(w, "no, said the server");
    }
    struct world *w = world_leading();
    ask_for(w, &to_bind, 1);
    reply(w, "GET " VOLUME, 404,
          "{\"kind\":\"Status\",\"message\":\"persistentvolumes \\\"pv\\\" not found\"}");
    failed_with(w, "persistentvolumes \"pv\" not found");
    w = world_leading();
    ask_for(w, &to_bind, 1);
    reply(w, "GET " VOLUME, 200, PV(""));
    world_lose(w, "PUT " VOLUME, true);
    world_tick(w);
    failed_with(w, "connection to host failed");
}

static void a_busy_server_is_asked_again_within_a_bound(void **state)
{
    (void)state;
    struct world *w = world_leading();
    ask_for(w, &to_bind, 1);
    reply(w, "GET " VOLUME, 503, "");
    pass(w, 50);
    reply(w, "GET " VOLUME, 200, PV(""));
    reply(w, "PUT " VOLUME, 429, "");
    pass(w, 50);
    reply(w, "PUT " VOLUME, 200, "{}");
    world_free(w);
    w = world_leading();
    ask_for(w, &to_bind, 1);
    for (int i = 0; i < 400 && world_heard(w, MSG_bind_result, 0) == NULL; i++) {
        if (world_find(w, "GET " VOLUME) != NULL)
            reply(w, "GET " VOLUME, 503, "");
        pass(w, 100);
    }
    failed_with(w, "the API server answered 503");
}

/* ---- waiting ---- */

static void without_the_node_it_fails(void **state)
{
    (void)state;
    struct world *w = waiting_for(&to_bind);
    pass(w, 1000);
    reply(w, NODE, 404, "");
    failed_with(w, "binding volumes: failed to get node \"n1\": node \"n1\" not found");
}

static void without_the_pod_it_ends(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world *w = waiting_for(&to_provision);
        pass(w, 1000);
        reply(w, NODE, 200, NODE_JSON);
        reply(w, GET("a"), i ? 200 : 404, "{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"another\"}}");
        assert_true(world_result(w)->gone);
        failed_with(w, "binding volumes: pod does not exist any more: pod \"a\" not found");
    }
}

static void a_volume_that_is_lost_fails_it(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *volume, *why;
    } cases[] = {
        {404, "", "failed to check binding: persistentvolumes \"pv\" not found"},
        {200, PV(""), "ClaimRef got reset for pv \"pv\""},
        {200, PV(",\"claimRef\":{\"namespace\":\"default\",\"name\":\"c\"}"),
         "ClaimRef got reset for pv \"pv\""},
        {200, PV("," REFERENCE IN_ZONE("b")),
         "pv \"pv\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char want[256];
        struct world *w = waiting_for(&to_bind);
        next_round(w);
        reply(w, "GET " VOLUME, cases[i].code, cases[i].volume);
        if (cases[i].code == 200)
            reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(BOUND), TO_PV));
        snprintf(want, sizeof(want), "binding volumes: %s", cases[i].why);
        failed_with(w, want);
    }
    struct world *w = waiting_for(&to_bind);
    next_round(w);
    reply(w, "GET " VOLUME, 200, PV("," REFERENCE));
    reply(w, "GET " CLAIM("c"), 404, "");
    failed_with(w, "binding volumes: failed to check binding: persistentvolumeclaims \"default/c\" "
                   "not found");
}

static void a_claim_that_another_volume_was_given_to_fails_it(void **state)
{
    (void)state;
    struct world *w = waiting_for(&to_bind);
    next_round(w);
    reply(w, "GET " VOLUME, 200, PV("," REFERENCE));
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(BOUND), "\"volumeName\":\"other\""));
    failed_with(w, "binding volumes: claim \"default/c\" is bound to pv \"other\" by now, not to "
                   "\"pv\"");
}

static void a_claim_that_is_not_provisioned_fails_it(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *claim, *why;
    } cases[] = {
        {404, "",
         "failed to check provisioning pvc: persistentvolumeclaims \"default/c\" not found"},
        {200, PVC("", ""), "selectedNode annotation reset for PVC \"c\""},
        {200, PVC(NOTES("\"k\":\"v\""), ""), "provisioning failed for PVC \"c\""},
        {200, PVC(NOTES("\"volume.kubernetes.io/selected-node\":\"n2\""), ""),
         "provisioning failed for PVC \"c\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char want[256];
        struct world *w = waiting_for(&to_provision);
        next_round(w);
        reply(w, "GET " CLAIM("c"), cases[i].code, cases[i].claim);
        snprintf(want, sizeof(want), "binding volumes: %s", cases[i].why);
        failed_with(w, want);
    }
    struct world *w = waiting_for(&to_provision);
    next_round(w);
    reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(SELECTED), TO_PV));
    reply(w, "GET " VOLUME, 200, PV(IN_ZONE("b")));
    failed_with(w,
                "binding volumes: pv \"pv\" node affinity doesn't match node \"n1\": no matching "
                "NodeSelectorTerms");
}

/* An in-tree disk counts with its driver's zone label where the node says that it is migrated. */
static void a_migrated_disk_is_judged_as_its_translation(void **state)
{
    (void)state;
    static const char disk[] =
        "{\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"pv\",\"resourceVersion\":\"5\"},"
        "\"spec\":{\"gcePersistentDisk\":{\"pdName\":\"d\"}," REFERENCE
        ",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
        "\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"a\"]}]}]}}}}";
    for (int migrated = 0; migrated < 2; migrated++) {
        struct world *w = waiting_for(&to_bind);
        next_round(w);
        reply(w, "GET " VOLUME, 200, disk);
        reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(BOUND), TO_PV));
        reply(w, CSI_NODE, migrated ? 200 : 404,
              "{\"kind\":\"CSINode\",\"metadata\":{\"name\":\"n1\",\"annotations\":{"
              "\"storage.alpha.kubernetes.io/migrated-plugins\":\"kubernetes.io/cinder,"
              "kubernetes.io/gce-pd\"}}}");
        if (migrated) {
            assert_non_null(world_find(w, BINDING));
            world_free(w);
        } else {
            failed_with(w, "binding volumes: pv \"pv\" node affinity doesn't match node \"n1\": no "
                           "matching NodeSelectorTerms");
        }
    }
}

static void an_answer_that_tells_nothing_is_not_yet(void **state)
{
    (void)state;
    struct world *w = waiting_for(&to_bind);
    static const char *const order[] = {NODE, GET("a"), "GET " VOLUME, "GET " CLAIM("c")};
    static const char *const bodies[] = {NODE_JSON, POD_JSON, PV("," REFERENCE), ""};
    for (size_t i = 0; i < 4; i++) {
        pass(w, 1000);
        for (size_t k = 0; k < i; k++)
            reply(w, order[k], 200, bodies[k]);
        reply(w, order[i], i % 2 ? 500 : 200, "nonsense");
        assert_null(world_heard(w, MSG_bind_result, 0));
        assert_int_equal(world_count(w, "/api/v1"), 0);
    }
    world_free(w);
}

static void the_time_for_it_ends(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct message m = world_bind("ua", "a", "n1");
    struct claim_binding claim = to_provision;
    m.bind.claims.at = &claim;
    m.bind.claims.count = 1;
    m.bind.bind_timeout_s = 3;
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    reply(w, "GET " CLAIM("c"), 200, PVC("", ""));
    reply(w, "PUT " CLAIM("c"), 200, "{}");
    for (int i = 0; i < 2; i++) {
        next_round(w);
        reply(w, "GET " CLAIM("c"), 200, PVC(NOTES(SELECTED), ""));
    }
    pass(w, 1000);
    reply(w, NODE, 200, NODE_JSON);
    failed_with(w, "binding volumes: context deadline exceeded");
    w = world_leading();
    ask_for(w, NULL, 0);
    assert_non_null(world_find(w, BINDING)); /* nothing to wait for */
    world_free(w);
}

/* ---- beside it ---- */

static void the_nomination_is_said_first_and_never_stops_it(void **state)
{
    (void)state;
    for (int failing = 0; failing < 2; failing++) {
        struct world *w = world_leading();
        struct message m = world_bind("ua", "a", "n1");
        m.bind.set_nominated = true;
        world_say(w, &m, SCHEDULER);
        world_tick(w);
        assert_null(world_find(w, "/binding"));
        assert_string_equal(
            world_find(w, MARK("a"))->body,
            "{\"metadata\":{\"uid\":\"ua\"},\"status\":{\"nominatedNodeName\":\"n1\"}}");
        if (failing)
            reply(w, MARK("a"), 503, "");
        pass(w, 12);
        reply(w, MARK("a"), failing ? 403 : 200, "{}");
        reply(w, BINDING, 201, "{}");
        assert_true(world_result(w)->bound);
        world_free(w);
    }
}

static void who_waits_holds_up_nobody(void **state)
{
    (void)state;
    struct world *w = world_leading();
    for (int i = 0; i < 500; i++) {
        char uid[16];
        struct claim_binding claim = to_provision;
        snprintf(uid, sizeof(uid), "w%d", i);
        struct message m = world_bind(uid, uid, "n1");
        m.bind.claims.at = &claim;
        m.bind.claims.count = 1;
        m.bind.bind_timeout_s = 600;
        world_say(w, &m, SCHEDULER);
    }
    world_tick(w);
    assert_int_equal(world_count(w, "/persistentvolumeclaims"), 16);
    ask_for(w, NULL, 0);
    assert_non_null(world_find(w, BINDING));
    outbox_reset(&w->out);
    struct message up = {.type = MSG_peer_up};
    world_say(w, &up, SCHEDULER);
    assert_int_equal(world_heard(w, MSG_leadership, 0)->leadership.in_flight.count, 501);
    struct buffer lines = {0};
    binder_status(w->binder, &lines);
    assert_non_null(strstr(lines.at, "binds=in_flight=501 preparing=500"));
    buffer_free(&lines);
    world_free(w);
}

static struct message cancel_of(const char *reason)
{
    struct message m = {.type = MSG_bind_cancel};
    m.bind_cancel = (struct bind_cancel){
        .uid = STR_LITERAL("ua"), .node_name = STR_LITERAL("n1"), .reason = str_of(reason)};
    return m;
}

static void a_bind_that_waits_is_cancelled(void **state)
{
    (void)state;
    struct message cancel = cancel_of("enough");
    struct world *w = waiting_for(&to_provision);
    world_say(w, &cancel, SCHEDULER);
    world_tick(w);
    failed_with(w, "enough");
    w = waiting_for(&to_provision); /* with a look on the wire */
    pass(w, 1000);
    world_say(w, &cancel, SCHEDULER);
    world_tick(w);
    assert_null(world_find(w, NODE));
    failed_with(w, "enough");
}

/* What is on the wire may still be carried out: nothing else is done with the pod before. */
static void a_write_on_the_wire_is_awaited(void **state)
{
    (void)state;
    struct message cancel = cancel_of("enough");
    for (int status = 200; status <= 500; status += 300) {
        struct world *w = world_leading();
        ask_for(w, &to_bind, 1);
        reply(w, "GET " VOLUME, 200, PV(""));
        world_say(w, &cancel, SCHEDULER);
        world_say(w, &cancel, SCHEDULER);
        world_tick(w);
        assert_null(world_heard(w, MSG_bind_result, 0));
        reply(w, "PUT " VOLUME, status, "{}");
        failed_with(w, "enough");
    }
}

static void a_victim_that_waits_for_its_claims_is_only_unbound(void **state)
{
    (void)state;
    struct world *w = waiting_for(&to_provision);
    preempt(w, "top", "ua");
    assert_true(preempted(w)->done);
    assert_null(world_find(w, "/pods/"));
    assert_non_null(strstr(world_find(w, "events.k8s.io")->body,
                           "\"regarding\":{\"kind\":\"Pod\",\"namespace\":\"default\",\"name\":"
                           "\"ua\",\"uid\":\"ua\",\"apiVersion\":\"v1\",\"resourceVersion\":\"42\"}"
                           ",\"note\":\"Preempted by pod top on node n1 (in kube-scheduler "
                           "memory).\""));
    failed_with(w, "preempted by DefaultPreemption");
}

static void without_the_lease_nothing_is_waited_for(void **state)
{
    (void)state;
    struct world *w = waiting_for(&to_provision);
    world_step(w, 10001);
    assert_false(binder_leading(w->binder));
    failed_with(w, "lost leadership");
    w = waiting_for(&to_provision);
    outbox_reset(&w->out);
    binder_stop(w->binder, w->at.now, &w->out);
    failed_with(w, "the binder is stopping");
}

static void claims_without_names_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct world *w = world_leading();
        struct claim_binding claim = to_bind;
        *(i == 0 ? &claim.uid : i == 1 ? &claim.name : &claim.namespace_name) = STR_LITERAL("");
        ask_for(w, &claim, 1);
        assert_non_null(strstr(world_result(w)->message.at, "of claims must not be empty"));
        assert_int_equal(world_count(w, "/persistentvolume"), 0);
        world_free(w);
    }
}

/* The time that the Binding itself may take is not used up by waiting. */
static void after_a_long_wait_a_busy_server_is_still_asked_again(void **state)
{
    (void)state;
    struct world *w = waiting_for(&to_bind);
    for (int i = 0; i < 60; i++) {
        next_round(w);
        reply(w, "GET " VOLUME, 200, PV("," REFERENCE));
        reply(w, "GET " CLAIM("c"), 200, i < 59 ? PVC("", "") : PVC(NOTES(BOUND), TO_PV));
    }
    reply(w, BINDING, 503, "");
    pass(w, 100);
    reply(w, BINDING, 201, "{}");
    assert_true(world_result(w)->bound);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocated_claim_is_reserved_before_the_binding),
        cmocka_unit_test(a_reserved_claim_is_left_alone),
        cmocka_unit_test(a_claim_that_lost_its_devices_fails_the_bind),
        cmocka_unit_test(a_claim_that_is_going_fails_the_bind),
        cmocka_unit_test(a_claim_is_given_its_devices_before_the_binding),
        cmocka_unit_test(who_does_not_wait_for_devices_writes_no_time),
        cmocka_unit_test(devices_are_given_to_no_claim_that_has_some_or_is_going),
        cmocka_unit_test(devices_given_after_the_finalizer_are_left_alone),
        cmocka_unit_test(what_became_of_a_write_of_devices_is_told),
        cmocka_unit_test(a_volume_is_given_its_claim_and_waited_for),
        cmocka_unit_test(a_field_in_a_volumes_terms_says_nothing),
        cmocka_unit_test(a_claim_is_given_its_node_and_waited_for),
        cmocka_unit_test(volumes_are_written_before_claims_each_in_order),
        cmocka_unit_test(a_reserved_volume_keeps_what_says_so),
        cmocka_unit_test(what_was_decided_on_must_still_be_there),
        cmocka_unit_test(a_refused_write_ends_the_bind),
        cmocka_unit_test(a_busy_server_is_asked_again_within_a_bound),
        cmocka_unit_test(without_the_node_it_fails),
        cmocka_unit_test(without_the_pod_it_ends),
        cmocka_unit_test(a_volume_that_is_lost_fails_it),
        cmocka_unit_test(a_claim_that_another_volume_was_given_to_fails_it),
        cmocka_unit_test(a_claim_that_is_not_provisioned_fails_it),
        cmocka_unit_test(a_migrated_disk_is_judged_as_its_translation),
        cmocka_unit_test(an_answer_that_tells_nothing_is_not_yet),
        cmocka_unit_test(the_time_for_it_ends),
        cmocka_unit_test(the_nomination_is_said_first_and_never_stops_it),
        cmocka_unit_test(who_waits_holds_up_nobody),
        cmocka_unit_test(a_bind_that_waits_is_cancelled),
        cmocka_unit_test(a_write_on_the_wire_is_awaited),
        cmocka_unit_test(a_victim_that_waits_for_its_claims_is_only_unbound),
        cmocka_unit_test(without_the_lease_nothing_is_waited_for),
        cmocka_unit_test(claims_without_names_are_refused),
        cmocka_unit_test(after_a_long_wait_a_busy_server_is_still_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
