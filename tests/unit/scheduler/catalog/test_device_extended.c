/* device_extended: which requests the special claim has, and which of them each container is told
 * to use. Pods are read from JSON, as they come from the API server. */
#include "scheduler/catalog/device_extended.h"

#include "proto/kube/objects/objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct arena memory;

static int begin(void **state)
{
    (void)state;
    arena_free(&memory);
    return 0;
}

/* c:2 is container c that asks for two of x.io/gpu and a CPU, c:1+3 also for three of x.io/nic; of
 * an init container s as a prefix of its name makes it a sidecar. */
static void add_containers(struct buffer *json, const char *list)
{
    char copy[256], *rest = copy;
    bool first = true;
    snprintf(copy, sizeof(copy), "%s", list);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL; first = false) {
        const char *name = word;
        char *end = strchr(word, ':');
        bool asks = end != NULL, asks_more = false;
        long gpu = 0, nic = 0;
        if (asks) {
            *end = 0;
            gpu = strtol(end + 1, &end, 10);
            asks_more = *end == '+';
        }
        if (asks_more)
            nic = strtol(end + 1, NULL, 10);
        buffer_print(json, "%s{\"name\":\"%s\",\"resources\":{\"requests\":{\"cpu\":\"1\"",
                     first ? "" : ",", name);
        if (asks)
            buffer_print(json, ",\"x.io/gpu\":\"%ld\"", gpu);
        if (asks_more)
            buffer_print(json, ",\"x.io/nic\":\"%ld\"", nic);
        buffer_print(json, "}}%s}", name[0] == 's' ? ",\"restartPolicy\":\"Always\"" : "");
    }
}

static struct pod pod_of(const char *inits, const char *containers)
{
    struct buffer json = {0};
    struct pod pod;
    struct str error = {0};
    buffer_add_text(&json, "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"namespace\":\"n\"},"
                           "\"spec\":{\"initContainers\":[");
    add_containers(&json, inits);
    buffer_add_text(&json, "],\"containers\":[");
    add_containers(&json, containers);
    buffer_add_text(&json, "]}}");
    struct kube_json *object = kube_json_parse(buffer_str(&json), NULL, &memory);
    assert_non_null(object);
    if (!kube_object_pod(object, &pod, &memory, &error))
        fail_msg("%.*s", STR_ARG(error));
    kube_json_free(&object);
    buffer_free(&json);
    return pod;
}

static struct catalog *with_classes(void)
{
    struct catalog *c = catalog_new();
    struct message m = {.type = MSG_device_class_set};
    m.device_class_set.device_class = (struct device_class){
        .name = STR_LITERAL("gpus"), .extended_resource = STR_LITERAL("x.io/gpu")};
    catalog_take(c, &m);
    m.device_class_set.device_class = (struct device_class){
        .name = STR_LITERAL("nics"), .extended_resource = STR_LITERAL("x.io/nic")};
    catalog_take(c, &m);
    return c;
}

/* requests: "NAME*COUNT of CLASS, …"; uses: "CONTAINER=NAME …". */
static void assert_claim(const char *inits, const char *containers, const char *requests,
                         const char *uses)
{
    struct catalog *catalog = with_classes();
    const struct pod pod = pod_of(inits, containers);
    const struct extended_plan plan = extended_plan_of(catalog, &pod, &memory);
    assert_true(plan.wanted);
    const struct extended_need need = extended_need_on(&plan, NULL);
    const struct extended_claim claim = extended_claim_for(&plan, &pod, need.of, &memory);
    struct buffer text = {0};
    for (uint32_t i = 0; i < claim.requests.count; i++) {
        const struct device_request *r = &claim.requests.at[i];
        assert_true(r->exactly && r->asks.count == 1 && str_is(r->asks.at[0].mode, "ExactCount"));
        buffer_print(&text, "%s%.*s*%lld of %.*s", i > 0 ? ", " : "", STR_ARG(r->name),
                     (long long)r->asks.at[0].count, STR_ARG(r->asks.at[0].class_name));
    }
    assert_string_equal(text.at != NULL ? text.at : "", requests);
    buffer_reset(&text);
    for (uint32_t i = 0; i < claim.uses.count; i++) {
        const struct extended_use *u = &claim.uses.at[i];
        assert_true(str_starts_with(u->request, "container-"));
        buffer_print(&text, "%s%.*s=%.*s", i > 0 ? " " : "", STR_ARG(u->container),
                     (int)u->request.len - 10, u->request.at + 10);
    }
    assert_string_equal(text.at, uses);
    buffer_free(&text);
    catalog_free(&catalog);
}

static void each_container_has_devices_of_its_own(void **state)
{
    (void)state;
    assert_claim("", "c:1", "container-0-request-1*1 of gpus", "c=0-request-1");
    assert_claim("", "c:1+2", "container-0-request-1*1 of gpus, container-0-request-2*2 of nics",
                 "c=0-request-1 c=0-request-2");
    assert_claim("", "c:1 plain d:2",
                 "container-0-request-1*1 of gpus, "
                 "container-2-request-1*2 of gpus",
                 "c=0-request-1 d=2-request-1");
    assert_claim("", "c:1 d:0", "container-0-request-1*1 of gpus", "c=0-request-1");
    assert_claim("s:1", "c:2", "container-0-request-1*1 of gpus, container-1-request-1*2 of gpus",
                 "s=0-request-1 c=1-request-1");
}

static void an_init_container_uses_what_comes_behind_it(void **state)
{
    (void)state;
    assert_claim("i:1", "c:1", "container-1-request-1*1 of gpus", "c=1-request-1 i=1-request-1");
    assert_claim("i:2", "c:1 d:1",
                 "container-1-request-1*1 of gpus, container-2-request-1*1 of gpus",
                 "c=1-request-1 d=2-request-1 i=1-request-1 i=2-request-1");
    assert_claim("i:1", "c:1 d:1",
                 "container-1-request-1*1 of gpus, container-2-request-1*1 of gpus",
                 "c=1-request-1 d=2-request-1 i=1-request-1");
    /* not what a sidecar before it has */
    assert_claim("s:1 i:2", "c:1",
                 "container-0-request-1*1 of gpus, container-1-request-1*1 of gpus, "
                 "container-2-request-1*1 of gpus",
                 "s=0-request-1 c=2-request-1 i=2-request-1 i=1-request-1");
}

static void init_containers_share_the_greatest_rest(void **state)
{
    (void)state;
    assert_claim("i:3 j:5", "c:2",
                 "container-1-request-1*3 of gpus, container-2-request-1*2 of gpus",
                 "c=2-request-1 i=2-request-1 i=1-request-1 j=2-request-1 j=1-request-1");
    assert_claim("i:4 j:4", "c", "container-0-request-1*4 of gpus", "i=0-request-1 j=0-request-1");
    assert_claim("i:1+4 j:2+3", "c:0+1",
                 "container-0-request-2*3 of nics, container-1-request-1*2 of gpus, "
                 "container-2-request-2*1 of nics",
                 "i=1-request-1 j=1-request-1 c=2-request-2 i=2-request-2 i=0-request-2 "
                 "j=2-request-2 j=0-request-2");
}

static void names_stand_in_order_as_texts(void **state)
{
    (void)state;
    assert_claim("", "a b:1 c d e f g h i j k:1",
                 "container-1-request-1*1 of gpus, container-10-request-1*1 of gpus",
                 "b=1-request-1 k=10-request-1");
}

static void a_node_needs_devices_for_what_it_has_none_of(void **state)
{
    (void)state;
    struct catalog *catalog = with_classes();
    const struct pod pod = pod_of("", "c:1+1");
    struct quantity has[2] = {{STR_LITERAL("x.io/gpu"), 0}, {STR_LITERAL("x.io/nic"), 3}};
    const struct node node = {.allocatable = {2, has}};
    struct extended_plan plan = extended_plan_of(catalog, &pod, &memory);
    assert_int_equal(extended_need_on(&plan, NULL).of, 3);
    assert_int_equal(extended_need_on(&plan, &node).of, 1);
    assert_false(extended_need_on(&plan, &node).cannot);
    const struct message gone = {
        .type = MSG_object_gone,
        .object_gone = {.kind = OBJECT_device_class, .name = STR_LITERAL("gpus")}};
    catalog_take(catalog, &gone);
    plan = extended_plan_of(catalog, &pod, &memory);
    assert_true(plan.wanted);
    assert_false(extended_need_on(&plan, &node).cannot); /* it lists what it has none of */
    assert_true(extended_need_on(&plan, NULL).cannot);
    assert_int_equal(extended_need_on(&plan, NULL).of, 2);
    catalog_free(&catalog);
}

static void who_asks_for_none_has_no_claim(void **state)
{
    (void)state;
    struct catalog *catalog = with_classes();
    struct pod pod = pod_of("i", "c:0");
    assert_int_equal(pod.extended_asks.count, 0);
    assert_false(extended_plan_of(catalog, &pod, &memory).wanted);
    catalog_free(&catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_container_has_devices_of_its_own, begin),
        cmocka_unit_test_setup(an_init_container_uses_what_comes_behind_it, begin),
        cmocka_unit_test_setup(init_containers_share_the_greatest_rest, begin),
        cmocka_unit_test_setup(names_stand_in_order_as_texts, begin),
        cmocka_unit_test_setup(a_node_needs_devices_for_what_it_has_none_of, begin),
        cmocka_unit_test_setup(who_asks_for_none_has_no_claim, begin),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&memory);
    return failed;
}
