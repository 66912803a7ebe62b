/* test_selector: which keys and values are valid, which nodes a term takes, and upstream's texts
 * for terms in error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "proto/kube/objects/selector.h"

#define REQUIREMENT(k, op, n, values_)                                                             \
    ((struct requirement){.key = str_of(k), .operator_name = str_of(op), .values = {n, values_}})
#define ONE(text) ((struct str[]){str_of(text)})

static struct label labels[] = {{{"count", 5}, {"10", 2}},
                                {{"disk", 4}, {"ssd", 3}},
                                {{"empty", 5}, {"", 0}},
                                {{"zone", 4}, {"a", 1}}};
static const struct node node = {.name = {"n1", 2}, .labels = {4, labels}};

static bool expression_holds(struct requirement r)
{
    struct node_term term = {.expressions = {1, &r}};
    return node_term_matches(&term, &node, NULL);
}

static bool field_holds(struct requirement r)
{
    struct node_term term = {.fields = {1, &r}};
    return node_term_matches(&term, &node, NULL);
}

static void in_and_not_in(void **state)
{
    (void)state;
    struct str two[] = {str_of("hdd"), str_of("ssd")};
    assert_true(expression_holds(REQUIREMENT("disk", "In", 2, two)));
    assert_false(expression_holds(REQUIREMENT("disk", "In", 1, two)));
    assert_false(expression_holds(REQUIREMENT("none", "In", 2, two)));
    assert_true(expression_holds(REQUIREMENT("none", "NotIn", 2, two)));
    assert_false(expression_holds(REQUIREMENT("disk", "NotIn", 2, two)));
    assert_true(expression_holds(REQUIREMENT("disk", "NotIn", 1, two)));
    assert_true(expression_holds(REQUIREMENT("empty", "In", 1, ONE(""))));
}

static void exists_and_does_not(void **state)
{
    (void)state;
    assert_true(expression_holds(REQUIREMENT("empty", "Exists", 0, NULL)));
    assert_false(expression_holds(REQUIREMENT("none", "Exists", 0, NULL)));
    assert_false(expression_holds(REQUIREMENT("empty", "DoesNotExist", 0, NULL)));
    assert_true(expression_holds(REQUIREMENT("none", "DoesNotExist", 0, NULL)));
}

static void greater_and_less_are_integers(void **state)
{
    (void)state;
    assert_true(expression_holds(REQUIREMENT("count", "Gt", 1, ONE("9"))));
    assert_false(expression_holds(REQUIREMENT("count", "Gt", 1, ONE("10"))));
    assert_true(expression_holds(REQUIREMENT("count", "Lt", 1, ONE("11"))));
    assert_false(expression_holds(REQUIREMENT("zone", "Gt", 1, ONE("1"))));
    assert_false(expression_holds(REQUIREMENT("none", "Lt", 1, ONE("1"))));
}

static void fields_know_the_name_alone(void **state)
{
    (void)state;
    assert_true(field_holds(REQUIREMENT("metadata.name", "In", 1, ONE("n1"))));
    assert_false(field_holds(REQUIREMENT("metadata.name", "In", 1, ONE("n2"))));
    assert_true(field_holds(REQUIREMENT("metadata.name", "NotIn", 1, ONE("n2"))));
    assert_false(field_holds(REQUIREMENT("metadata.uid", "In", 1, ONE("x"))));
    assert_true(field_holds(REQUIREMENT("metadata.uid", "NotIn", 1, ONE("x"))));
    struct requirement r = REQUIREMENT("metadata.name", "In", 1, ONE("n2"));
    struct node_term term = {.fields = {1, &r}};
    struct node nameless = {0};
    assert_true(node_term_matches(&term, &nameless, NULL));
}

static void volumes_look_at_labels_alone(void **state)
{
    (void)state;
    struct requirement elsewhere = REQUIREMENT("metadata.name", "In", 1, ONE("n2"));
    struct requirement broken = REQUIREMENT("metadata.name", "Exists", 0, NULL);
    struct requirement none = REQUIREMENT("none", "Exists", 0, NULL);
    struct node_term by_field = {.fields = {1, &elsewhere}};
    struct node_term in_error = {.fields = {1, &broken}};
    struct node_term terms[] = {{.expressions = {1, &none}, .fields = {1, &elsewhere}}, by_field};
    assert_false(node_term_matches(&by_field, &node, NULL));
    assert_true(node_labels_match(&node, &by_field, 1));
    assert_false(node_labels_match(&node, &in_error, 1));
    assert_false(node_labels_match(&node, terms, 1));
    assert_true(node_labels_match(&node, terms, 2));
    assert_false(node_labels_match(&node, NULL, 0));
}

static void a_term_without_requirements_takes_nothing(void **state)
{
    (void)state;
    struct node_term term = {0};
    assert_false(node_term_matches(&term, &node, NULL));
}

static void expect_fault(struct node_term term, const char *expected)
{
    struct buffer why = {0};
    assert_false(node_term_matches(&term, &node, &why));
    assert_string_equal(why.at, expected);
    buffer_free(&why);
}

static void terms_in_error_take_nothing(void **state)
{
    (void)state;
    struct str two[] = {str_of("a"), str_of("b")};
    struct requirement bad[] = {
        REQUIREMENT("disk", "In", 0, NULL), REQUIREMENT("disk", "Exists", 1, two),
        REQUIREMENT("count", "Gt", 2, two), REQUIREMENT("disk", "Is", 1, two)};
    expect_fault((struct node_term){.expressions = {1, &bad[0]}},
                 "matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, "
                 "values set can't be empty");
    expect_fault((struct node_term){.expressions = {1, &bad[1]}},
                 "matchExpressions[0].values: Invalid value: [\"a\"]: values set must be empty for "
                 "exists and does not exist");
    expect_fault((struct node_term){.expressions = {1, &bad[2]}},
                 "matchExpressions[0].values: Invalid value: [\"a\",\"b\"]: for 'Gt', 'Lt' "
                 "operators, exactly one value is required, matchExpressions[0].values[0]: Invalid "
                 "value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer, "
                 "matchExpressions[0].values[1]: Invalid value: \"b\": for 'Gt', 'Lt' operators, "
                 "the value must be an integer");
    expect_fault((struct node_term){.expressions = {1, &bad[3]}},
                 "matchExpressions[0].operator: Unsupported value: \"Is\": supported values: "
                 "\"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"");
    expect_fault((struct node_term){.fields = {1, &bad[1]}},
                 "matchFields[0].operator: Unsupported value: \"Exists\": supported values: "
                 "\"In\", \"NotIn\"");
    expect_fault((struct node_term){.fields = {1, &bad[0]}},
                 "matchFields[0].values: Invalid value: null: must have one element");
}

static void keys_are_qualified_names(void **state)
{
    (void)state;
    static const char *const good[] = {
        "a",         "A1",
        "a.b_c-d",   "example.com/a",
        "a-b.c/D_e", "123456789012345678901234567890123456789012345678901234567890123"};
    static const char *const bad[] = {
        "",       "-a",
        "a-",     "a b",
        "/a",     "a/",
        "a/b/c",  "A.b/c",
        "a..b/c", "-a.b/c",
        "a-.b/c", "\xc3\xa9",
        "a/-b",   "1234567890123456789012345678901234567890123456789012345678901234"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(kube_label_key_valid(str_of(good[i])) &&
                    kube_label_key_explain(str_of(good[i]), NULL));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (kube_label_key_valid(str_of(bad[i])) || kube_label_key_explain(str_of(bad[i]), NULL))
            fail_msg("\"%s\" passes as a key", bad[i]);
    assert_true(kube_label_value_valid(str_of("")));
    assert_true(kube_label_value_valid(str_of("a.B-c_9")));
    assert_false(kube_label_value_valid(str_of("a/b")));
    assert_false(kube_label_value_valid(str_of("_a")));
}

static void label_selectors_hold(void **state)
{
    (void)state;
    struct requirement wants[] = {REQUIREMENT("zone", "NotIn", 1, ONE("b")),
                                  REQUIREMENT("count", "Gt", 1, ONE("1"))};
    struct selector nothing = {0}, everything = {.present = true};
    assert_false(label_selector_matches(&nothing, labels, 4));
    assert_true(label_selector_matches(&everything, labels, 4));
    assert_true(label_selector_matches(&everything, NULL, 0));
    struct selector some = {.present = true, .labels = {1, &labels[1]}, .expressions = {1, wants}};
    assert_true(label_selector_matches(&some, labels, 4));
    assert_false(label_selector_matches(&some, labels, 1));
    some.expressions.count = 2; /* Gt is for node selectors only */
    assert_false(label_selector_matches(&some, labels, 4));
}

#define VALUE_RULE                                                                                 \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', " \
    " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

/* The texts are what LabelSelectorAsSelector of apimachinery 0.36.3 says. */
static void a_label_selector_in_error_says_what_upstream_says(void **state)
{
    (void)state;
    struct label bad = {STR_LITERAL("a"), STR_LITERAL("-")};
    struct requirement good = REQUIREMENT("a", "Exists", 0, NULL);
    struct {
        struct requirement wants;
        const char *error;
    } table[] = {
        {REQUIREMENT("a", "Gt", 1, ONE("1")), "\"Gt\" is not a valid label selector operator"},
        {REQUIREMENT("a", "Exists", 1, ONE("x")),
         "values: Invalid value: [\"x\"]: values set must be empty for exists and does not exist"},
        {REQUIREMENT("a", "NotIn", 1, ONE("_")), "values[0][a]: Invalid value: \"_\": " VALUE_RULE},
        {REQUIREMENT("", "In", 0, NULL),
         "[key: Invalid value: \"\": name part must be non-empty; name part must consist of "
         "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
         "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
         "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), values: Invalid value: null: for 'in', "
         "'notin' operators, values set can't be empty]"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct requirement both[] = {good, table[i].wants};
        struct selector s = {.present = true, .expressions = {2, both}};
        struct buffer error = {0};
        assert_false(label_selector_check(&s, &error));
        assert_string_equal(error.at, table[i].error);
        buffer_reset(&error);
        s.labels.count = 1; /* labels come first, and the first fault is enough */
        s.labels.at = &bad;
        assert_false(label_selector_check(&s, &error));
        assert_string_equal(error.at, "values[0][a]: Invalid value: \"-\": " VALUE_RULE);
        buffer_free(&error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_and_not_in),
        cmocka_unit_test(exists_and_does_not),
        cmocka_unit_test(greater_and_less_are_integers),
        cmocka_unit_test(fields_know_the_name_alone),
        cmocka_unit_test(volumes_look_at_labels_alone),
        cmocka_unit_test(a_term_without_requirements_takes_nothing),
        cmocka_unit_test(terms_in_error_take_nothing),
        cmocka_unit_test(keys_are_qualified_names),
        cmocka_unit_test(label_selectors_hold),
        cmocka_unit_test(a_label_selector_in_error_says_what_upstream_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
