/* test_limits: what the API server accepts is read, however long its lists and great its numbers,
 * in JSON and in protobuf. */
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/documents/protobuf_put.h"
#include "proto/kube/objects/objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define MANY 1500

static struct arena arena;
static struct buffer body;

static int empty(void **state)
{
    (void)state;
    buffer_reset(&body);
    arena_reset(&arena);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    buffer_free(&body);
    arena_free(&arena);
    return 0;
}

static bool set_of(const char *kind, const struct kube_json *tree, struct message *m,
                   struct str *error)
{
    struct str key;
    return kube_resource_of(str_of(kind))->set(tree, m, &key, &arena, error);
}

/* Reads what is in body, in either form. */
static void read_body(const char *kind, struct message *m)
{
    struct str error = {0};
    struct kube_json *tree = kube_answer_parse(buffer_str(&body), &error, &arena);
    if (tree == NULL || !set_of(kind, tree, m, &error))
        fail_msg("refused: %.*s", STR_ARG(error));
    kube_json_free(&tree);
}

/* ---- pods ---- */

static void put_amount(uint32_t field, const char *name, const char *amount)
{
    size_t pair = protobuf_open(&body, field);
    protobuf_put_text(&body, 1, str_of(name));
    size_t quantity = protobuf_open(&body, 2);
    protobuf_put_text(&body, 1, str_of(amount));
    protobuf_close(&body, quantity);
    protobuf_close(&body, pair);
}

/* Of a container, or of a status: its name and what it has or asks for. */
static void put_container(uint32_t field, uint32_t name_field, uint32_t resources_field, int i,
                          const char *cpu)
{
    char name[32];
    snprintf(name, sizeof(name), "c%d", i);
    size_t container = protobuf_open(&body, field);
    protobuf_put_text(&body, name_field, str_of(name));
    size_t resources = protobuf_open(&body, resources_field);
    put_amount(2, "cpu", cpu);
    protobuf_close(&body, resources);
    protobuf_close(&body, container);
}

static size_t begin(const char *kind)
{
    size_t raw = protobuf_begin(&body, STR_LITERAL("v1"), str_of(kind));
    size_t meta = protobuf_open(&body, 1);
    protobuf_put_text(&body, 1, STR_LITERAL("a"));
    protobuf_put_text(&body, 3, STR_LITERAL("default"));
    protobuf_put_text(&body, 5, STR_LITERAL("u1"));
    protobuf_close(&body, meta);
    return raw;
}

static void a_pod_in_protobuf(void)
{
    size_t raw = begin("Pod"), spec = protobuf_open(&body, 2);
    for (int i = 0; i < MANY; i++)
        put_container(2, 1, 8, i, "2m");
    protobuf_close(&body, spec);
    size_t status = protobuf_open(&body, 3);
    for (int i = MANY; i-- > 0;)
        put_container(8, 1, 11, i, i % 3 == 0 ? "4m" : "1m");
    protobuf_close(&body, status);
    protobuf_close(&body, raw);
}

static void add_containers(const char *list, bool status)
{
    buffer_print(&body, "\"%s\":[", list);
    for (int i = 0; i < MANY; i++)
        buffer_print(&body, "%s{\"name\":\"c%d\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}",
                     i > 0 ? "," : "", i,
                     !status      ? "2m"
                     : i % 3 == 0 ? "4m"
                                  : "1m");
    buffer_add_text(&body, "]");
}

static void a_pod_in_json(void)
{
    buffer_add_text(&body,
                    "{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"u1\"},"
                    "\"spec\":{");
    add_containers("containers", false);
    buffer_add_text(&body, "},\"status\":{");
    add_containers("containerStatuses", true);
    buffer_add_text(&body, "}}");
}

/* A third of its containers use more than they ask for. */
static void a_pod_of_many_containers_counts_in_full(void **state)
{
    (void)state;
    void (*const forms[])(void) = {a_pod_in_json, a_pod_in_protobuf};
    for (size_t f = 0; f < 2; f++) {
        struct message m;
        buffer_reset(&body);
        forms[f]();
        read_body("Pod", &m);
        const struct pod *pod = &m.pod_set.pod;
        assert_int_equal(pod->container_count, MANY);
        assert_int_equal(pod->request.count, 1);
        assert_int_equal(pod->request.at[0].amount, MANY * 2);
        assert_int_equal(pod->usage.at[0].amount, MANY / 3 * 4 + MANY / 3 * 2 * 2);
        assert_int_equal(pod->images.count, MANY);
        assert_int_equal(pod->usage_score_memory, (int64_t)MANY * 200 << 20);
    }
}

/* Sidecars before the init containers that run beside them, and each with a resource of its own. */
static void a_pod_of_many_resources_counts_in_full(void **state)
{
    (void)state;
    struct message m;
    buffer_add_text(&body,
                    "{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"u1\"},"
                    "\"spec\":{\"initContainers\":[");
    for (int i = 0; i < MANY; i++)
        buffer_print(&body,
                     "%s{\"name\":\"c%d\",\"restartPolicy\":\"%s\",\"resources\":{\"requests\":{"
                     "\"x.y/r%d\":\"3\",\"x.y/all\":\"1\"}}}",
                     i > 0 ? "," : "", i, i < MANY / 2 ? "Always" : "Never", i);
    buffer_add_text(&body, "],\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{");
    for (int i = 0; i < 2 * MANY; i++)
        buffer_print(&body, "%s\"x.y/m%d\":\"2\"", i > 0 ? "," : "", i);
    buffer_add_text(&body, "}}}]}}");
    read_body("Pod", &m);
    const struct pod *pod = &m.pod_set.pod;
    assert_int_equal(pod->request.count, 3 * MANY + 1);
    assert_true(str_is(pod->request.at[0].name, "x.y/all"));
    assert_int_equal(pod->request.at[0].amount, MANY / 2 + 1);
    for (uint32_t i = 1; i < pod->request.count; i++)
        assert_int_equal(pod->request.at[i].amount, pod->request.at[i].name.at[4] == 'r' ? 3 : 2);
    assert_int_equal(pod->extended_asks.count, 2 * MANY + 2 * MANY);
}

/* ---- numbers ---- */

static void put_attribute(const char *name, int64_t number)
{
    size_t pair = protobuf_open(&body, 2);
    protobuf_put_text(&body, 1, str_of(name));
    size_t attribute = protobuf_open(&body, 2);
    protobuf_put_number(&body, 2, number);
    protobuf_close(&body, attribute);
    protobuf_close(&body, pair);
}

static void a_slice_in_protobuf(void)
{
    size_t raw = begin("ResourceSlice"), spec = protobuf_open(&body, 2);
    protobuf_put_text(&body, 1, STR_LITERAL("d"));
    size_t pool = protobuf_open(&body, 2);
    protobuf_put_text(&body, 1, STR_LITERAL("p"));
    protobuf_put_number(&body, 2, (int64_t)1 << 60 | 1);
    protobuf_put_number(&body, 3, INT64_MAX);
    protobuf_close(&body, pool);
    size_t device = protobuf_open(&body, 6);
    put_attribute("greatest", INT64_MAX);
    put_attribute("least", INT64_MIN);
    put_attribute("odd", 9007199254740993);
    protobuf_close(&body, device);
    protobuf_close(&body, spec);
    protobuf_close(&body, raw);
}

static void a_slice_in_json(void)
{
    buffer_add_text(&body, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"driver\":\"d\",\"pool\":{"
                           "\"name\":\"p\",\"generation\":1152921504606846977,"
                           "\"resourceSliceCount\":9223372036854775807},\"devices\":[{"
                           "\"attributes\":{\"greatest\":{\"int\":9223372036854775807},"
                           "\"least\":{\"int\":-9223372036854775808},"
                           "\"odd\":{\"int\":9007199254740993}}}]}}");
}

static void a_slice_has_numbers_of_64_bits(void **state)
{
    (void)state;
    static const int64_t want[] = {INT64_MAX, INT64_MIN, 9007199254740993};
    void (*const forms[])(void) = {a_slice_in_json, a_slice_in_protobuf};
    for (size_t f = 0; f < 2; f++) {
        struct message m;
        buffer_reset(&body);
        forms[f]();
        read_body("ResourceSlice", &m);
        const struct resource_slice *slice = &m.resource_slice_set.slice;
        assert_true(slice->pool_generation == ((int64_t)1 << 60 | 1));
        assert_true(slice->pool_slices == INT64_MAX);
        assert_int_equal(slice->devices.at[0].attributes.count, 3);
        for (uint32_t i = 0; i < 3; i++)
            assert_true(slice->devices.at[0].attributes.at[i].number == want[i]);
    }
}

static void a_claim_has_numbers_of_64_bits(void **state)
{
    (void)state;
    struct message m;
    buffer_add_text(&body,
                    "{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\"},\"spec\":{\"devices\":{"
                    "\"requests\":[{\"name\":\"r\",\"exactly\":{\"count\":9223372036854775807,"
                    "\"tolerations\":[{\"tolerationSeconds\":-9223372036854775808}]}}]}}}");
    read_body("ResourceClaim", &m);
    const struct device_ask *ask = &m.resource_claim_set.resource_claim.requests.at[0].asks.at[0];
    assert_true(ask->count == INT64_MAX);
    assert_true(ask->tolerations.at[0].seconds == INT64_MIN);
}

/* ---- times ---- */

static void put_time_of(uint32_t field, int64_t seconds)
{
    size_t time = protobuf_open(&body, field);
    protobuf_put_number(&body, 1, seconds);
    protobuf_close(&body, time);
}

/* Go writes them so; upstream reads them from protobuf alone. */
static void times_out_of_the_calendar_are_its_ends(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *json;
    } times[] = {{253402333199, "10000-01-01T08:59:59Z"}, {-62167300000, "-001-12-30T10:13:20Z"}};
    for (size_t i = 0; i < 2; i++) {
        struct message one, other;
        buffer_reset(&body);
        buffer_print(&body,
                     "{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"uid\":\"u1\"},"
                     "\"status\":{\"startTime\":\"%s\"}}",
                     times[i].json);
        read_body("Pod", &one);
        buffer_reset(&body);
        size_t raw = begin("Pod"), status = protobuf_open(&body, 3);
        put_time_of(7, times[i].seconds);
        protobuf_close(&body, status);
        protobuf_close(&body, raw);
        read_body("Pod", &other);
        assert_true((one.pod_set.pod.started > 0) == (i == 0));
        assert_true((other.pod_set.pod.started > 0) == (i == 0));
        assert_true(one.pod_set.pod.started != 0 && other.pod_set.pod.started != 0);
    }
    buffer_reset(&body);
    buffer_add_text(&body, "{\"metadata\":{\"name\":\"a\"},\"status\":{\"startTime\":\"12\"}}");
    struct str error = {0};
    struct message m;
    struct kube_json *tree = kube_answer_parse(buffer_str(&body), &error, &arena);
    assert_false(set_of("Pod", tree, &m, &error));
    assert_true(str_is(error, "Pod a: status.startTime: \"12\" is no time"));
    kube_json_free(&tree);
}

/* ---- what drivers alone understand ---- */

/* As much of it as the API server takes: nested deeply, with halves of surrogate pairs and numbers
 * of any length. */
static void opaque_parameters_are_not_looked_at(void **state)
{
    (void)state;
    struct buffer opaque = {0};
    struct message m;
    buffer_add_text(&opaque, "{\"a\\u0026b\":\"\\ud800\\/ & <\", \"n\": [1.0,1e2,");
    for (int i = 0; i < 2500; i++)
        buffer_add_text(&opaque, "1234567890"); /* one number */
    buffer_add_text(&opaque, "], \"deep\": ");
    for (int i = 0; i < 5000; i++)
        buffer_add_text(&opaque, "[");
    for (int i = 0; i < 5000; i++)
        buffer_add_text(&opaque, "]");
    buffer_add_text(&opaque, "}");
    buffer_print(&body,
                 "{\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\"},\"spec\":{\"devices\":{"
                 "\"config\":[{\"opaque\":{\"driver\":\"d\",\"parameters\":%s}}]}}}",
                 opaque.at);
    read_body("ResourceClaim", &m);
    const struct resource_claim *claim = &m.resource_claim_set.resource_claim;
    assert_true(str_equal(claim->config.at[0].parameters, buffer_str(&opaque)));
    buffer_reset(&body);
    size_t raw = begin("ResourceClaim"), spec = protobuf_open(&body, 2);
    size_t devices = protobuf_open(&body, 1), config = protobuf_open(&body, 3);
    size_t inlined = protobuf_open(&body, 2), of = protobuf_open(&body, 1);
    protobuf_put_text(&body, 1, STR_LITERAL("d"));
    size_t extension = protobuf_open(&body, 2);
    protobuf_put_text(&body, 1, buffer_str(&opaque));
    size_t opened[] = {extension, of, inlined, config, devices, spec, raw};
    for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++)
        protobuf_close(&body, opened[i]);
    read_body("ResourceClaim", &m);
    assert_true(str_equal(claim->config.at[0].parameters, buffer_str(&opaque)));
    buffer_free(&opaque);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_pod_of_many_containers_counts_in_full, empty),
        cmocka_unit_test_setup(a_pod_of_many_resources_counts_in_full, empty),
        cmocka_unit_test_setup(a_slice_has_numbers_of_64_bits, empty),
        cmocka_unit_test_setup(a_claim_has_numbers_of_64_bits, empty),
        cmocka_unit_test_setup(times_out_of_the_calendar_are_its_ends, empty),
        cmocka_unit_test_setup(opaque_parameters_are_not_looked_at, empty),
    };
    return cmocka_run_group_tests(tests, NULL, drop);
}
