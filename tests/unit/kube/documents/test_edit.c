/* test_edit: what is put back is what was read but for the places that are meant: in JSON to the
 * letter, in protobuf to the byte. */
#include "proto/base/memory.h"
#include "proto/kube/documents/json_edit.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/documents/protobuf_edit.h"
#include "proto/kube/documents/protobuf_put.h"
#include "proto/kube/writes/writes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#define PATH(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct buffer text, out;

static int empty(void **state)
{
    (void)state;
    buffer_reset(&text);
    buffer_reset(&out);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    buffer_free(&text);
    buffer_free(&out);
    return 0;
}

static void begin(const char *json)
{
    buffer_reset(&text);
    buffer_add_text(&text, json);
}

static void expect(const char *json)
{
    assert_string_equal(text.at, json);
}

/* ---- JSON ---- */

static void a_member_is_set_where_it_is(void **state)
{
    (void)state;
    begin(" { \"a\" : { \"b\" : 1.0 , \"x\":[ ] } , \"c\":\"\\u0026\\/\" } ");
    json_edit_set(&text, PATH("a", "b"), STR_LITERAL("2"));
    expect(" { \"a\" : { \"b\" : 2 , \"x\":[ ] } , \"c\":\"\\u0026\\/\" } ");
    json_edit_set(&text, PATH("a", "n"), STR_LITERAL("{}"));
    expect(" { \"a\" : { \"b\" : 2 , \"x\":[ ] ,\"n\":{}} , \"c\":\"\\u0026\\/\" } ");
    json_edit_set(&text, PATH("a", "n", "m", "o"), STR_LITERAL("\"p\""));
    expect(" { \"a\" : { \"b\" : 2 , \"x\":[ ] ,\"n\":{\"m\":{\"o\":\"p\"}}} , "
           "\"c\":\"\\u0026\\/\" } ");
    json_edit_set(&text, PATH("c", "d"), STR_LITERAL("null"));
    expect(" { \"a\" : { \"b\" : 2 , \"x\":[ ] ,\"n\":{\"m\":{\"o\":\"p\"}}} , "
           "\"c\":{\"d\":null} } ");
    begin("{}");
    json_edit_set(&text, PATH("a"), STR_LITERAL("1"));
    expect("{\"a\":1}");
}

static void the_last_of_several_members_counts(void **state)
{
    (void)state;
    begin("{\"a\":{\"b\":1},\"\\u0061\":{\"b\":2}}");
    json_edit_set(&text, PATH("a", "b"), STR_LITERAL("3"));
    expect("{\"a\":{\"b\":1},\"\\u0061\":{\"b\":3}}");
    json_edit_remove(&text, PATH("a"));
    expect("{}");
}

static void expect_member(const char *json, const char *name, const char *value)
{
    struct str is = json_edit_member(str_of(json), name);
    if (!str_is(is, value))
        fail_msg("%s of %s is %.*s", name, json, STR_ARG(is));
}

static void a_member_is_found_as_it_is_spelled(void **state)
{
    (void)state;
    expect_member(" {\"t\": \"A\", \"o\" :{ \"o\":[1.0,\"}\"] } }", "o", "{ \"o\":[1.0,\"}\"] }");
    expect_member("{\"o\":{\"x\":1},\"\\u006f\":2}", "o", "2");
    expect_member("{\"a\":{\"o\":1}}", "o", "");
    expect_member("{}", "o", "");
    expect_member("[{\"o\":1}]", "o", "");
    expect_member("\"o\"", "o", "");
    expect_member("", "o", "");
    expect_member("{\"o\"", "o", "");
    expect_member("{\"o\":{\"x", "o", "{\"x"); /* whoever takes torn texts gets torn ones */
}

static void items_are_appended_and_taken_out(void **state)
{
    (void)state;
    begin("{\"l\": [ ], \"n\": null}");
    json_edit_append(&text, PATH("l"), STR_LITERAL("1e2"));
    json_edit_append(&text, PATH("l"), STR_LITERAL("{\"a\":\"]\"}"));
    json_edit_append(&text, PATH("n"), STR_LITERAL("3"));
    json_edit_append(&text, PATH("o", "p"), STR_LITERAL("4"));
    expect("{\"l\": [ 1e2,{\"a\":\"]\"}], \"n\": [3],\"o\":{\"p\":[4]}}");
}

static bool is_x(struct str item, const void *context)
{
    return str_is(item, context);
}

static void items_are_chosen(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"l\":[\"x\"]}", "{\"l\":[]}"},
        {"{\"l\":[\"x\",\"x\" , \"a\", \"x\"], \"m\":1}", "{\"l\":[\"a\"], \"m\":1}"},
        {"{\"l\":[ \"a\" , \"x\" ]}", "{\"l\":[ \"a\"  ]}"},
        {"{\"l\":[\"a\",\"b\"]}", "{\"l\":[\"a\",\"b\"]}"},
        {"{\"l\":{\"x\":1}}", "{\"l\":{\"x\":1}}"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(cases[i][0]);
        json_edit_filter(&text, PATH("l"), is_x, "\"x\"");
        expect(cases[i][1]);
    }
}

static void members_are_taken_out_with_their_comma(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"m\":{\"a\":[{\"x\":\"}\"}]}}", "{\"m\":{}}"},
        {"{\"m\":{\"a\":1,\"b\":2}}", "{\"m\":{\"b\":2}}"},
        {"{\"m\":{\"b\":2 , \"a\":1}}", "{\"m\":{\"b\":2 }}"},
        {"{\"m\":{\"b\":2, \"a\":\"\\\\\", \"c\":3}}", "{\"m\":{\"b\":2, \"c\":3}}"},
        {"{\"m\":3}", "{\"m\":3}"},
        {"{\"x\":3}", "{\"x\":3}"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(cases[i][0]);
        json_edit_remove(&text, PATH("m", "a"));
        expect(cases[i][1]);
    }
}

static void only_whole_values_are_values(void **state)
{
    (void)state;
    static const char *const good[] = {"{}",  " [1, \"}\"] ", "\"a\\\"\"",
                                       "1.0", "null",         "{\"\\\\\":0}"};
    static const char *const wrong[] = {"",   " ",      "{",   "}",      "{}}",      "{},{}",
                                        "\"", "\"\\\"", "1,2", "[\"]\"", "]\"a\":[", "{\"a\":1}x"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(json_edit_is_value(str_of(good[i])));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(json_edit_is_value(str_of(wrong[i])));
}

/* Whatever the text is: nothing beyond it is looked at, which the sanitizer sees. */
static void no_text_is_left(void **state)
{
    (void)state;
    static const char whole[] = " {\"a\" : {\"b\\\"\" : [1, {\"c\":\"\\u0061\"}, []]}, \"d\":null}";
    for (size_t len = 0; len < sizeof(whole); len++) {
        struct buffer cut = {0};
        buffer_add(&cut, whole, len);
        json_edit_set(&cut, PATH("a", "b", "c"), STR_LITERAL("1"));
        json_edit_append(&cut, PATH("a", "b\""), STR_LITERAL("2"));
        json_edit_filter(&cut, PATH("a", "b\""), is_x, "1");
        json_edit_remove(&cut, PATH("d"));
        buffer_free(&cut);
    }
}

/* ---- protobuf ---- */

static void a_message_is_changed_in_its_places(void **state)
{
    (void)state;
    buffer_add(&text,
               "\x08\7\x12\3\x0a\1a\x1a\1x\x1a\1y\x12\2\x10\1\x35"
               "1234\x29"
               "12345678\xfa\1\0",
               34);
    struct str message = buffer_str(&text);
    static const struct protobuf_change inside[] = {
        {.field = 9, .kind = PROTOBUF_add, .bytes = {"n", 1}}, {.field = 2, .kind = PROTOBUF_drop}};
    static const struct protobuf_change changes[] = {
        {.field = 3, .kind = PROTOBUF_drop_text, .bytes = {"x", 1}},
        {.field = 2, .kind = PROTOBUF_into, .inside = inside, .count = 2},
        {.field = 4, .kind = PROTOBUF_into, .inside = inside, .count = 1}};
    assert_true(protobuf_edit(&out, message, changes, 3));
    static const char want[] = "\x08\7\x1a\1y\x35"
                               "1234\x29"
                               "12345678\xfa\1\0\x12\6\x0a\1a\x4a\1n"
                               "\x22\3\x4a\1n";
    assert_int_equal(out.len, sizeof(want) - 1);
    assert_memory_equal(out.at, want, sizeof(want) - 1);
    for (uint32_t len = 1; len < message.len; len++) { /* a cut field is refused */
        char *cut = memory_copy(message.at, len);
        buffer_reset(&out);
        (void)protobuf_edit(&out, (struct str){cut, len}, changes, 3);
        memory_free(cut);
    }
    buffer_reset(&out);
    assert_false(protobuf_edit(&out, (struct str){message.at, 4}, changes, 3));
}

/* Pieces of a message are put together only where each is whole: behind a torn one the next would
 * mean something else. An object that stands twice in its envelope is refused. */
static void torn_pieces_are_not_put_together(void **state)
{
    (void)state;
    static const struct protobuf_change inside[] = {
        {.field = 9, .kind = PROTOBUF_add, .bytes = {"n", 1}}};
    static const struct protobuf_change changes[] = {
        {.field = 2, .kind = PROTOBUF_into, .inside = inside, .count = 1}};
    static const char whole[] = "\x12\3\x0a\1a\x12\2\x10\1", torn[] = "\x12\2\x0a\2\x12\2xy";
    assert_true(protobuf_edit(&out, (struct str){whole, sizeof(whole) - 1}, changes, 1));
    buffer_reset(&out);
    assert_false(protobuf_edit(&out, (struct str){torn, sizeof(torn) - 1}, changes, 1));
    buffer_reset(&out);
    buffer_add(&text, "k8s\0", 4);
    buffer_add(&text, whole, sizeof(whole) - 1);
    assert_false(protobuf_edit_body(&out, buffer_str(&text), inside, 1));
}

/* ---- claims ---- */

#define OPAQUE                                                                                     \
    "{ \"url\": \"a&b\\u0026<\\/\\ud800\", \"n\": [1.0, 1e2, 12345678901234567890],\t\"x\":{}}"
#define SAID      "{\"ips\": [\"::1\"] ,\"f\":1E+2, \"s\":\"\\udc00&\"}"
#define FINALIZER "resource.kubernetes.io/delete-protection"

static struct opaque_config given_config = {
    .source = {"FromClass", 9}, .driver = {"d", 1}, .parameters = {OPAQUE, sizeof(OPAQUE) - 1}};
static struct device_toleration given_toleration = {
    .key = {"k", 1}, .operator_name = {"Exists", 6}, .has_seconds = true, .seconds = INT64_MAX};
static struct label given_amount = {{"mem", 3}, {"1Gi", 3}};
static struct str given_condition = {"Ready", 5};
static struct allocated_device given_device = {.request = {"r", 1},
                                               .driver = {"d", 1},
                                               .pool = {"p", 1},
                                               .device = {"v", 1},
                                               .has_admin_access = true,
                                               .share_id = {"s", 1},
                                               .tolerations = {1, &given_toleration},
                                               .binding_conditions = {1, &given_condition},
                                               .consumed = {1, &given_amount}};
static struct str given_value = {"n1", 2};
static struct requirement given_requirement = {
    .key = {"metadata.name", 13}, .operator_name = {"In", 2}, .values = {1, &given_value}};
static struct node_term given_term = {.fields = {1, &given_requirement}};
static const struct device_allocation given = {.uid = {"uc", 2},
                                               .devices = {1, &given_device},
                                               .config = {1, &given_config},
                                               .has_terms = true,
                                               .terms = {1, &given_term}};
static const struct writes_consumer consumer = {
    .pod = {"pod", 3}, .uid = {"up", 2}, .wall_us = 1767323045123456};
static const struct claim_release release = {
    .uid = {"up", 2}, .claim_uid = {"uc", 2}, .resource_version = 7};

#define JSON_META(more)                                                                            \
    "{ \"kind\":\"ResourceClaim\",\"metadata\":{\"name\":\"c\", \"uid\":\"uc\","                   \
    "\"resourceVersion\":\"7\"" more "},\"spec\": {\"devices\":{\"config\":[{\"opaque\":{"         \
    "\"driver\":\"d\",\"parameters\":" OPAQUE "}}]},\"unknown\":1.50}"
#define JSON_ALLOCATION                                                                            \
    "{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"p\",\"device\":"    \
    "\"v\",\"adminAccess\":false,\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\","         \
    "\"tolerationSeconds\":9223372036854775807}],\"bindingConditions\":[\"Ready\"],\"shareID\":"   \
    "\"s\",\"consumedCapacity\":{\"mem\":\"1Gi\"}}],\"config\":[{\"source\":\"FromClass\","        \
    "\"opaque\":{\"driver\":\"d\",\"parameters\":" OPAQUE "}}]},\"nodeSelector\":{"                \
    "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","     \
    "\"values\":[\"n1\"]}]}]},\"allocationTimestamp\":\"2026-01-02T03:04:05Z\"}"
#define JSON_POD  "{\"resource\":\"pods\",\"name\":\"pod\",\"uid\":\"up\"}"
#define JSON_MORE "\"devices\":[{\"driver\":\"d\",\"data\":" SAID "}]"

static void expect_put(enum writes_change got, const char *json)
{
    assert_int_equal(got, WRITES_changed);
    assert_string_equal(out.at, json);
    buffer_reset(&out);
}

static void a_claim_in_json_changes_in_its_places(void **state)
{
    (void)state;
    static const char fresh[] = JSON_META(",\"managedFields\":[{\"a\":1}]") "}";
    static const char kept[] = JSON_META(",\"finalizers\":[\"" FINALIZER "\"]") ",\"status\":{}}";
    static const char has[] =
        JSON_META("") ",\"status\":{\"allocation\":" JSON_ALLOCATION ",\"reservedFor\":[" JSON_POD
                      ", {\"uid\":\"other\"}]," JSON_MORE "}}";
    expect_put(writes_claim_finalizer_put(&out, str_of(fresh), given.uid),
               JSON_META(",\"finalizers\":[\"" FINALIZER "\"]") "}");
    expect_put(writes_allocation_put(&out, str_of(kept), &given, &consumer),
               JSON_META(",\"finalizers\":[\"" FINALIZER
                         "\"]") ",\"status\":{\"allocation\":" JSON_ALLOCATION
                                ",\"reservedFor\":[" JSON_POD "]}}");
    expect_put(writes_unreservation_put(&out, str_of(has), &release),
               JSON_META("") ",\"status\":{\"allocation\":" JSON_ALLOCATION
                             ",\"reservedFor\":[{\"uid\":\"other\"}]," JSON_MORE "}}");
    expect_put(
        writes_reservation_put(
            &out, STR_LITERAL(JSON_META("") ",\"status\":{\"allocation\":{}," JSON_MORE "}}"),
            &consumer),
        JSON_META("") ",\"status\":{\"allocation\":{\"allocationTimestamp\":"
                      "\"2026-01-02T03:04:05Z\"}," JSON_MORE ",\"reservedFor\":[" JSON_POD "]}}");
    expect_put(writes_deallocation_put(&out,
                                       STR_LITERAL(JSON_META("") ",\"status\":{\"allocation\":{},"
                                                                 "\"reservedFor\":[" JSON_POD
                                                                 "]," JSON_MORE ",\"later\":1.0}}"),
                                       &release),
               JSON_META("") ",\"status\":{\"later\":1.0}}");
}

#define JSON_GROUP                                                                                 \
    "{\"apiGroup\":\"scheduling.k8s.io\",\"resource\":\"podgroups\",\"name\":\"g\",\"uid\":"       \
    "\"ug\"}"
#define JSON_HELD(users)                                                                           \
    JSON_META("")                                                                                  \
    ",\"status\":{\"allocation\":{\"allocationTimestamp\":\"t\"},\"reservedFor\":[" users "]}}"
static const struct writes_consumer of_group = {.pod = {"pod", 3},
                                                .uid = {"up", 2},
                                                .group = {"g", 1},
                                                .group_uid = {"ug", 2},
                                                .for_group = true};

/* A claim of a PodGroup is reserved for that, once. */
static void a_claim_in_json_is_a_groups(void **state)
{
    (void)state;
    struct claim_release leaves = release;
    struct writes_consumer pod = of_group;
    pod.for_group = false;
    leaves.group_uid = STR_LITERAL("ug");
    assert_int_equal(writes_reservation_put(&out, STR_LITERAL(JSON_HELD(JSON_POD)), &of_group),
                     WRITES_same); /* for the pod itself */
    expect_put(writes_reservation_put(&out, STR_LITERAL(JSON_HELD("{\"uid\":\"o\"}")), &of_group),
               JSON_HELD("{\"uid\":\"o\"}," JSON_GROUP));
    assert_int_equal(writes_reservation_put(&out, STR_LITERAL(JSON_HELD(JSON_GROUP)), &of_group),
                     WRITES_same);
    assert_int_equal(writes_reservation_put(&out, STR_LITERAL(JSON_HELD(JSON_GROUP)), &pod),
                     WRITES_same);
    expect_put(writes_reservation_put(&out, STR_LITERAL(JSON_HELD(JSON_GROUP)), &consumer),
               JSON_HELD(JSON_GROUP "," JSON_POD)); /* without the gate it is none */
    expect_put(
        writes_unreservation_put(&out, STR_LITERAL(JSON_HELD(JSON_GROUP "," JSON_POD)), &leaves),
        JSON_HELD(JSON_POD));
    assert_int_equal(writes_unreservation_put(&out, STR_LITERAL(JSON_HELD(JSON_POD)), &leaves),
                     WRITES_same);
    expect_put(writes_deallocation_put(&out, STR_LITERAL(JSON_HELD(JSON_GROUP)), &leaves),
               JSON_META("") ",\"status\":{}}");
    assert_int_equal(writes_deallocation_put(&out, STR_LITERAL(JSON_HELD(JSON_GROUP)), &release),
                     WRITES_conflict);
    writes_unreservation(&out, &leaves);
    assert_string_equal(out.at, "{\"metadata\":{\"uid\":\"uc\"},\"status\":{\"reservedFor\":[{"
                                "\"$patch\":\"delete\",\"uid\":\"ug\"}]}}");
    buffer_reset(&out);
}

/* ---- claims in protobuf ---- */

static size_t open_claim(const char *finalizer)
{
    buffer_reset(&text);
    size_t raw =
        protobuf_begin(&text, STR_LITERAL("resource.k8s.io/v1"), STR_LITERAL("ResourceClaim"));
    size_t meta = protobuf_open(&text, 1);
    protobuf_put_text(&text, 1, STR_LITERAL("c"));
    protobuf_put_text(&text, 5, STR_LITERAL("uc"));
    protobuf_put_text(&text, 6, STR_LITERAL("7"));
    protobuf_put_text(&text, 14, str_of(finalizer));
    protobuf_put_text(&text, 17, STR_LITERAL("managed"));
    protobuf_close(&text, meta);
    size_t spec = protobuf_open(&text, 2);
    protobuf_put_text(&text, 99, STR_LITERAL(OPAQUE)); /* whatever it is */
    protobuf_close(&text, spec);
    return raw;
}

static void put_pod(struct buffer *to, const char *uid)
{
    size_t pod = protobuf_open(to, 2);
    protobuf_put_text(to, 3, STR_LITERAL("pods"));
    protobuf_put_text(to, 4, STR_LITERAL("pod"));
    protobuf_put_text(to, 5, str_of(uid));
    protobuf_close(to, pod);
}

/* What drivers say, in a status. */
static void put_said(void)
{
    size_t devices = protobuf_open(&text, 4), data = protobuf_open(&text, 5);
    protobuf_put_text(&text, 1, STR_LITERAL(SAID));
    protobuf_close(&text, data);
    protobuf_close(&text, devices);
}

static size_t occurrences(struct str in, const char *what, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i + len <= in.len; i++)
        count += memcmp(in.at + i, what, len) == 0;
    return count;
}

#define HAS(what, count)                                                                           \
    assert_int_equal(occurrences(buffer_str(&out), what, sizeof(what) - 1), count)

/* As JSON has it, without what is opaque. */
static void expect_tree(enum writes_change got, const char *path, const char *json)
{
    struct arena a = {0};
    struct str error = {0};
    struct buffer printed = {0};
    assert_int_equal(got, WRITES_changed);
    struct kube_json *tree = kube_protobuf_parse(buffer_str(&out), &error, &a);
    if (tree == NULL)
        fail_msg("%.*s", STR_ARG(error));
    kube_json_write(kube_json_path(tree, path), &printed);
    assert_string_equal(printed.at, json);
    buffer_free(&printed);
    kube_json_free(&tree);
    arena_free(&a);
}

#define POD(name, uid) "{\"resource\":\"pods\",\"name\":\"" name "\",\"uid\":\"" uid "\"}"
#define PODS(uid)      "[" POD("pod", uid) "]"

static void a_claim_in_protobuf_changes_in_its_places(void **state)
{
    (void)state;
    protobuf_close(&text, open_claim(""));
    expect_tree(writes_claim_finalizer_put(&out, buffer_str(&text), given.uid),
                "metadata.finalizers", "[\"" FINALIZER "\"]");
    HAS(OPAQUE, 1);
    HAS("managed", 0);
    buffer_reset(&out);
    protobuf_close(&text, open_claim(FINALIZER));
    assert_int_equal(writes_claim_finalizer_put(&out, buffer_str(&text), given.uid), WRITES_same);
    expect_tree(writes_allocation_put(&out, buffer_str(&text), &given, &consumer),
                "status.allocation.devices.results",
                "[{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"p\",\"device\":\"v\","
                "\"adminAccess\":false,\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\","
                "\"tolerationSeconds\":9223372036854775807}],\"bindingConditions\":[\"Ready\"],"
                "\"shareID\":\"s\",\"consumedCapacity\":{\"mem\":\"1Gi\"}}]");
    expect_tree(WRITES_changed, "status.allocation.nodeSelector",
                "{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\","
                "\"operator\":\"In\",\"values\":[\"n1\"]}]}]}");
    expect_tree(WRITES_changed, "status.allocation.allocationTimestamp",
                "\"2026-01-02T03:04:05Z\"");
    expect_tree(WRITES_changed, "status.reservedFor", PODS("up"));
    HAS(OPAQUE, 2); /* as it was, and in what is given */
    /* And what was given is put back as it is. */
    struct buffer held = {0};
    buffer_add_str(&held, buffer_str(&out));
    buffer_reset(&out);
    struct writes_consumer another = {.pod = {"b", 1}, .uid = {"ub", 2}};
    expect_tree(writes_reservation_put(&out, buffer_str(&held), &another), "status.reservedFor",
                "[" POD("pod", "up") "," POD("b", "ub") "]");
    HAS(OPAQUE, 2);
    buffer_reset(&out);
    struct writes_consumer group = of_group;
    group.uid = STR_LITERAL("new");
    expect_tree(writes_reservation_put(&out, buffer_str(&held), &group), "status.reservedFor",
                "[" POD("pod", "up") "," JSON_GROUP "]");
    buffer_free(&held);
}

static void a_claim_in_protobuf_loses_what_is_taken_back(void **state)
{
    (void)state;
    size_t raw = open_claim(FINALIZER), status = protobuf_open(&text, 3);
    size_t allocation = protobuf_open(&text, 1);
    protobuf_put_text(&text, 77, STR_LITERAL(OPAQUE));
    protobuf_close(&text, allocation);
    put_pod(&text, "other");
    put_pod(&text, "up");
    put_said();
    protobuf_put_text(&text, 88, STR_LITERAL("later"));
    protobuf_close(&text, status);
    protobuf_close(&text, raw);
    expect_tree(writes_unreservation_put(&out, buffer_str(&text), &release), "status.reservedFor",
                PODS("other"));
    HAS(OPAQUE, 2);
    HAS(SAID, 1);
    HAS("later", 1);
    /* Now it is the other's alone. */
    struct buffer held = {0};
    struct claim_release of_other = release;
    of_other.uid = STR_LITERAL("other");
    buffer_add_str(&held, buffer_str(&out));
    buffer_reset(&out);
    assert_int_equal(writes_unreservation_put(&out, buffer_str(&held), &release), WRITES_same);
    assert_int_equal(writes_deallocation_put(&out, buffer_str(&held), &release), WRITES_conflict);
    expect_tree(writes_deallocation_put(&out, buffer_str(&held), &of_other), "status", "{}");
    HAS(OPAQUE, 1);
    HAS(SAID, 0);
    HAS("later", 1);
    buffer_free(&held);
}

static void what_is_no_claim_is_malformed(void **state)
{
    (void)state;
    size_t raw = protobuf_begin(&text, STR_LITERAL("v1"), STR_LITERAL("Pod"));
    protobuf_close(&text, raw);
    assert_int_equal(writes_claim_finalizer_put(&out, buffer_str(&text), given.uid),
                     WRITES_malformed);
    assert_int_equal(writes_claim_finalizer_put(&out, STR_LITERAL("{\"kind\":\"Pod\"}"), given.uid),
                     WRITES_malformed);
    assert_int_equal(writes_claim_finalizer_put(&out, STR_LITERAL(""), given.uid),
                     WRITES_malformed);
    assert_int_equal(out.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_member_is_set_where_it_is, empty),
        cmocka_unit_test_setup(the_last_of_several_members_counts, empty),
        cmocka_unit_test_setup(a_member_is_found_as_it_is_spelled, empty),
        cmocka_unit_test_setup(items_are_appended_and_taken_out, empty),
        cmocka_unit_test_setup(items_are_chosen, empty),
        cmocka_unit_test_setup(members_are_taken_out_with_their_comma, empty),
        cmocka_unit_test_setup(only_whole_values_are_values, empty),
        cmocka_unit_test_setup(no_text_is_left, empty),
        cmocka_unit_test_setup(a_message_is_changed_in_its_places, empty),
        cmocka_unit_test_setup(torn_pieces_are_not_put_together, empty),
        cmocka_unit_test_setup(a_claim_in_json_changes_in_its_places, empty),
        cmocka_unit_test_setup(a_claim_in_json_is_a_groups, empty),
        cmocka_unit_test_setup(a_claim_in_protobuf_changes_in_its_places, empty),
        cmocka_unit_test_setup(a_claim_in_protobuf_loses_what_is_taken_back, empty),
        cmocka_unit_test_setup(what_is_no_claim_is_malformed, empty),
    };
    return cmocka_run_group_tests(tests, NULL, drop);
}
