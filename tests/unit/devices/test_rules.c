/* test_rules: DeviceTaintRules keep claims off devices that they select, as each release selects
 * them, and as long as they are there. */
#include "proto/base/arena.h"
#include "tests/fidelity/devices/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SLICES                                                                                     \
    "\"slices\":[{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"d\",\"pool\":{\"name\":"    \
    "\"p\",\"generation\":1,\"resourceSliceCount\":1},\"allNodes\":true,\"devices\":[{\"name\":"   \
    "\"x\"},{\"name\":\"y\"}]}}],\"classes\":[{\"metadata\":{\"name\":\"c\"},\"spec\":{}}],"       \
    "\"nodes\":[{\"metadata\":{\"name\":\"n\"}}],"
#define CLAIM(more)                                                                                \
    "\"claims\":[{\"metadata\":{\"name\":\"k\",\"namespace\":\"a\"},\"spec\":{\"devices\":{"       \
    "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"c\",\"allocationMode\":"     \
    "\"ExactCount\",\"count\":1" more "}}]}}}]}"
#define IN_36 "{\"release\":36,\"featureGates\":{\"DRADeviceTaintRules\":true},"
#define IN_37 "{\"release\":37,"

static struct dra_taint_rule rule_of(const char *name, const char *device)
{
    return (struct dra_taint_rule){
        .name = str_of(name),
        .has_selector = true,
        .device = str_of(device),
        .taint = {.key = STR_LITERAL("broken"), .effect = STR_LITERAL("NoSchedule")}};
}

static void open_case(struct dra_case *c, const char *text)
{
    struct str error = {0};
    if (!case_read(c, str_of(text), &error))
        fail_msg("%.*s", STR_ARG(error));
}

/* The device that the claim gets; "none" when it gets none. */
static void gets(const struct dra_case *c, const char *device)
{
    struct buffer out = {0};
    char want[64];
    case_answer(c, &out);
    snprintf(want, sizeof(want), "\"device\":\"%s\"", device);
    if (strcmp(device, "none") == 0)
        snprintf(want, sizeof(want), "\"outcome\":\"nothing\"");
    if (strstr(out.at, want) == NULL)
        fail_msg("%s is not in %s", want, out.at);
    buffer_free(&out);
}

static void a_device_by_its_name(void **state)
{
    (void)state;
    struct dra_case c;
    struct dra_taint_rule rule = rule_of("one", "x");
    open_case(&c, IN_37 SLICES CLAIM(""));
    gets(&c, "x");
    devices_put_taint_rule(c.devices, &rule);
    gets(&c, "y");
    rule.device = STR_LITERAL("y"); /* the same rule */
    devices_put_taint_rule(c.devices, &rule);
    gets(&c, "x");
    devices_remove_taint_rule(c.devices, rule.name);
    rule.device = STR_LITERAL("x");
    rule.taint.effect = STR_LITERAL("None");
    devices_put_taint_rule(c.devices, &rule);
    gets(&c, "x");
    case_free(&c);
}

static void all_of_a_driver_or_pool(void **state)
{
    (void)state;
    struct dra_case c;
    struct dra_taint_rule rule = rule_of("one", "");
    open_case(&c, IN_37 SLICES CLAIM(""));
    rule.driver = STR_LITERAL("other");
    devices_put_taint_rule(c.devices, &rule);
    gets(&c, "x");
    rule.driver = STR_LITERAL("d");
    devices_put_taint_rule(c.devices, &rule);
    gets(&c, "none");
    rule.pool = STR_LITERAL("other");
    devices_put_taint_rule(c.devices, &rule);
    gets(&c, "x");
    rule.pool = STR_LITERAL("p");
    devices_put_taint_rule(c.devices, &rule);
    gets(&c, "none");
    devices_remove_taint_rule(c.devices, rule.name);
    gets(&c, "x");
    case_free(&c);
}

static void claims_may_tolerate_it(void **state)
{
    (void)state;
    struct dra_case c;
    struct dra_taint_rule rule = rule_of("one", "x");
    open_case(&c, IN_37 SLICES CLAIM(",\"tolerations\":[{\"key\":\"broken\",\"operator\":"
                                     "\"Exists\"}]"));
    devices_put_taint_rule(c.devices, &rule);
    gets(&c, "x");
    rule.taint.key = STR_LITERAL("worse");
    devices_put_taint_rule(c.devices, &rule);
    gets(&c, "y");
    case_free(&c);
}

static void without_a_selector(void **state)
{
    (void)state;
    static const struct {
        const char *text, *device;
    } in[] = {{IN_36 SLICES CLAIM(""), "none"}, {IN_37 SLICES CLAIM(""), "x"}};
    for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
        struct dra_case c;
        struct dra_taint_rule rule = rule_of("one", "");
        rule.has_selector = false;
        open_case(&c, in[i].text);
        devices_put_taint_rule(c.devices, &rule);
        gets(&c, in[i].device);
        case_free(&c);
    }
}

static void only_where_the_gates_are_on(void **state)
{
    (void)state;
    static const struct {
        const char *text, *device;
    } in[] = {{IN_36 SLICES CLAIM(""), "y"},
              {"{\"release\":36," SLICES CLAIM(""), "x"},
              {IN_37 SLICES CLAIM(""), "y"},
              {"{\"release\":37,\"featureGates\":{\"DRADeviceTaintRules\":false}," SLICES CLAIM(""),
               "x"}};
    for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
        struct dra_case c;
        struct dra_taint_rule rule = rule_of("one", "x");
        open_case(&c, in[i].text);
        devices_put_taint_rule(c.devices, &rule);
        gets(&c, in[i].device);
        case_free(&c);
    }
}

static void several_rules_of_one_device(void **state)
{
    (void)state;
    struct dra_case c;
    struct dra_taint_rule rule = rule_of("one", "x"), other = rule_of("two", "x");
    open_case(&c, IN_37 SLICES CLAIM(""));
    devices_put_taint_rule(c.devices, &rule);
    devices_put_taint_rule(c.devices, &other);
    devices_remove_taint_rule(c.devices, other.name);
    gets(&c, "y");
    devices_remove_taint_rule(c.devices, rule.name);
    gets(&c, "x");
    devices_remove_taint_rule(c.devices, rule.name); /* there is none */
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_by_its_name),
        cmocka_unit_test(all_of_a_driver_or_pool),
        cmocka_unit_test(claims_may_tolerate_it),
        cmocka_unit_test(without_a_selector),
        cmocka_unit_test(only_where_the_gates_are_on),
        cmocka_unit_test(several_rules_of_one_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
