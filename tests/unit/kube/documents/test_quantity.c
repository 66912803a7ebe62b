/* test_quantity: tests/golden/quantity.txt, written by k8s.io/apimachinery, and what we do where
 * upstream overflows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/kube/documents/quantity.h"

static void check_line(char *line)
{
    struct kube_quantity q = {0};
    char *bar = strchr(line, '|');
    assert_non_null(bar);
    *bar = 0;
    bool good = kube_quantity_parse(str_of(line), &q);
    if (good != (strcmp(bar + 1, "refused") != 0))
        fail_msg("\"%s\" is %s", line, good ? "accepted" : "refused");
    if (!good)
        return;
    char *end = NULL;
    int64_t value = strtoll(bar + 1, &end, 10), milli = strtoll(end + 1, NULL, 10);
    if (kube_quantity_value(q) != value || kube_quantity_milli(q) != milli)
        fail_msg("\"%s\": %" PRId64 " and %" PRId64 ", not %" PRId64 " and %" PRId64, line,
                 kube_quantity_value(q), kube_quantity_milli(q), value, milli);
}

static void agrees_with_upstream(void **state)
{
    (void)state;
    char line[256];
    unsigned lines = 0;
    FILE *file = fopen("tests/golden/quantity.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#')
            continue;
        check_line(line);
        lines++;
    }
    fclose(file);
    assert_true(lines >= 300);
}

static struct kube_quantity of(const char *text)
{
    struct kube_quantity q = {0};
    assert_true(kube_quantity_parse(str_of(text), &q));
    return q;
}

static void what_overflows_is_saturated(void **state)
{
    (void)state;
    assert_int_equal(kube_quantity_milli(of("10E")), INT64_MAX);
    assert_int_equal(kube_quantity_value(of("1e400")), INT64_MAX);
    assert_int_equal(kube_quantity_value(of("-1e400")), INT64_MIN);
    assert_int_equal(kube_quantity_value(of("16Ei")), INT64_MAX);
    assert_int_equal(kube_quantity_value(kube_quantity_add(of("9E"), of("9E"))), INT64_MAX);
    struct kube_quantity sum = of("1e60");
    for (int i = 0; i < 100; i++)
        sum = kube_quantity_add(sum, sum);
    assert_int_equal(kube_quantity_value(sum), INT64_MAX);
}

static void sums_are_exact_and_rounded_once(void **state)
{
    (void)state;
    struct kube_quantity sum = {0};
    for (int i = 0; i < 10; i++)
        sum = kube_quantity_add(sum, of("0.1m"));
    assert_int_equal(kube_quantity_milli(sum), 1);
    assert_int_equal(kube_quantity_compare(sum, of("1m")), 0);
    assert_true(kube_quantity_compare(of("1023Mi"), of("1Gi")) < 0);
    assert_true(kube_quantity_compare(of("1100M"), of("1Gi")) > 0);
}

static void a_long_text_costs_nothing_special(void **state)
{
    (void)state;
    static char text[100001];
    memset(text, '9', sizeof(text) - 1);
    assert_int_equal(kube_quantity_value(of(text)), INT64_MAX);
    text[1] = '.';
    assert_int_equal(kube_quantity_value(of(text)), 10);
    text[sizeof(text) - 3] = 'K';
    text[sizeof(text) - 2] = 'i';
    assert_int_equal(kube_quantity_value(of(text)), 10240);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_upstream),
        cmocka_unit_test(what_overflows_is_saturated),
        cmocka_unit_test(sums_are_exact_and_rounded_once),
        cmocka_unit_test(a_long_text_costs_nothing_special),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
