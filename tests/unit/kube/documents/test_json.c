/* test_json: reading JSON and YAML: what scalars mean, what is refused and where, and that texts
 * made to explode do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/kube/documents/json.h"

static struct arena arena;

static int reset(void **state)
{
    (void)state;
    arena_reset(&arena);
    return 0;
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct kube_json *yaml(const char *text)
{
    struct str error = {0};
    struct kube_json *json = kube_json_parse_yaml(str_of(text), &error, &arena);
    if (json == NULL)
        fail_msg("refused: %.*s", STR_ARG(error));
    return json;
}

static void refused(struct kube_json *(*parse)(struct str, struct str *, struct arena *),
                    const char *text, const char *expected)
{
    struct str error = {0};
    struct kube_json *json = parse(str_of(text), &error, &arena);
    assert_null(json);
    if (!str_is(error, expected))
        fail_msg("\"%.60s\": %.*s, not %s", text, STR_ARG(error), expected);
}

static void no_text_at_all_is_null(void **state)
{
    (void)state;
    struct str error = {0};
    struct kube_json *json = kube_json_parse_yaml((struct str){NULL, 0}, &error, &arena);
    assert_non_null(json);
    assert_true(kube_json_is_null(json));
    kube_json_free(&json);
    assert_null(kube_json_parse((struct str){NULL, 0}, &error, &arena));
    assert_true(str_is(error, "line 1, column 1: JSON ends too early"));
}

static void errors_say_line_and_column(void **state)
{
    (void)state;
    refused(kube_json_parse, "", "line 1, column 1: JSON ends too early");
    refused(kube_json_parse, "{\"a\":1}\n x", "line 2, column 2: malformed JSON at \"x\"");
    refused(kube_json_parse, "{\"a\":1,\n \"b\" 2}", "line 2, column 6: malformed JSON at \"2}\"");
    refused(kube_json_parse_yaml, "a: [1\nb: 2\n",
            "line 2, column 2: did not find expected ',' or ']'");
    refused(kube_json_parse_yaml, "a: 1\nb: 2\na: 3\n",
            "line 3, column 1: a key stands twice in one mapping: a");
    refused(kube_json_parse_yaml, "\xff", "byte 0: invalid leading UTF-8 octet");
}

static void a_byte_order_mark_is_passed_over(void **state)
{
    static const char *const texts[] = {"\xef\xbb\xbf"
                                        "a: 1\nb: 2\n",
                                        "\xef\xbb\xbf---\na: 1\nb: 2\n",
                                        "\xef\xbb\xbf"
                                        "{\"a\": 1,\n\t\"b\": 2}"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct str error = {0};
        struct kube_json *json = yaml(texts[i]);
        int64_t b = 0;
        assert_true(kube_json_i64(kube_json_get(json, "b"), &b) && b == 2);
        kube_json_free(&json);
        json = kube_json_parse_config(str_of(texts[i]), &error, &arena);
        assert_true(kube_json_i64(kube_json_get(json, "b"), &b) && b == 2);
        kube_json_free(&json);
    }
    struct kube_json *json = yaml("\xef\xbb\xbf");
    assert_true(kube_json_is_null(json));
    kube_json_free(&json);
    refused(kube_json_parse_yaml, "\xef\xbb\xbf\xff", "byte 3: invalid leading UTF-8 octet");
    refused(kube_json_parse_yaml, "\xef\xbb\xbf~: b\n", "line 1, column 1: a key must not be null");
}

static void strange_yaml_is_refused(void **state)
{
    (void)state;
    refused(kube_json_parse_yaml, "? [a]\n: b\n", "line 1, column 3: a key must be a scalar");
    refused(kube_json_parse_yaml, "~: b\n", "line 1, column 1: a key must not be null");
    refused(kube_json_parse_yaml, "a: *b\n", "line 1, column 4: unknown anchor b");
    refused(kube_json_parse_yaml, "&a [*a]\n",
            "line 1, column 5: an anchor's value contains itself: a");
    refused(kube_json_parse_yaml, "a: .nan\n", "line 1, column 4: JSON has no number .nan");
    refused(kube_json_parse_yaml, "a: !!int x\n",
            "line 1, column 4: the value does not have the type of its tag tag:yaml.org,2002:int");
    refused(kube_json_parse_yaml, "a: !!binary eA==\n",
            "line 1, column 4: !!binary is not supported");
    refused(kube_json_parse_yaml, "a: \"x\\0y\"\n", "line 1, column 4: text with a zero byte");
    refused(kube_json_parse_yaml, "<<: 1\n",
            "line 1, column 5: << wants a mapping or a list of mappings");
}

static void scalars_mean_what_they_mean_to_kubernetes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double number;
    } numbers[] = {{"0x1F", 31},
                   {"017", 15},
                   {"0o17", 15},
                   {"0b101", 5},
                   {"-0b11", -3},
                   {"1_000", 1000},
                   {"+5", 5},
                   {"1e3", 1000},
                   {".5", 0.5},
                   {"08", 8},
                   {"9223372036854775808", 9223372036854775808.0}};
    static const char *const texts[] = {"1..2", "0x",  "1_000_x", "2001-01-01", "yEs", "e3",   "-x",
                                        "._5",  "1:2", "nil",     "0b2",        ".",   "1e999"};
    static const char *const truths[] = {"y", "Yes", "on", "TRUE"};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        double number = -1;
        struct kube_json *json = yaml(numbers[i].text);
        assert_true(kube_json_number(json, &number));
        assert_true(number == numbers[i].number);
        kube_json_free(&json);
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct kube_json *json = yaml(texts[i]);
        assert_true(str_is(kube_json_text(json), texts[i]));
        kube_json_free(&json);
    }
    for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
        struct kube_json *json = yaml(truths[i]);
        assert_true(kube_json_true(json));
        kube_json_free(&json);
    }
}

static void keys_become_text(void **state)
{
    (void)state;
    struct kube_json *json = yaml("{1: a, yes: b, 0x10: c, 1.5: d, \"1\\u0031\": e}");
    assert_true(str_is(kube_json_text(kube_json_get(json, "1")), "a"));
    assert_true(str_is(kube_json_text(kube_json_get(json, "true")), "b"));
    assert_true(str_is(kube_json_text(kube_json_get(json, "16")), "c"));
    assert_true(str_is(kube_json_text(kube_json_get(json, "1.5")), "d"));
    assert_true(str_is(kube_json_text(kube_json_get(json, "11")), "e"));
    kube_json_free(&json);
}

static void aliases_and_merges_copy(void **state)
{
    (void)state;
    struct kube_json *json = yaml("base: &b {x: 1, q: {z: 2}}\nextra: &e {x: 7, w: 8}\n"
                                  "one:\n  <<: [*b, *e]\n  q: mine\ntwo: *b\n");
    int64_t number = 0;
    assert_true(kube_json_i64(kube_json_path(json, "one.x"), &number));
    assert_int_equal(number, 1);
    assert_true(kube_json_i64(kube_json_path(json, "one.w"), &number));
    assert_int_equal(number, 8);
    assert_true(str_is(kube_json_text(kube_json_path(json, "one.q")), "mine"));
    assert_true(kube_json_i64(kube_json_path(json, "two.q.z"), &number));
    assert_int_equal(number, 2);
    kube_json_free(&json);
}

static void bombs_are_refused(void **state)
{
    (void)state;
    struct buffer text = {0};
    struct str error = {0};
    buffer_add_text(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 12; i++)
        buffer_print(&text, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i,
                     i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    assert_null(kube_json_parse_yaml(buffer_str(&text), &error, &arena));
    assert_true(str_is(error, "line 6, column 14: aliases expand to too much"));
    buffer_reset(&text);
    for (int i = 0; i < 100000; i++)
        buffer_add_text(&text, "[");
    assert_null(kube_json_parse(buffer_str(&text), &error, &arena));
    assert_null(kube_json_parse_yaml(buffer_str(&text), &error, &arena));
    buffer_free(&text);
}

static void several_documents_are_a_list(void **state)
{
    (void)state;
    struct kube_json *json = yaml("---\na: 1\n---\n---\nb: 2\n");
    assert_true(kube_json_is_array(json));
    assert_int_equal(kube_json_count(json), 2);
    kube_json_free(&json);
    json = yaml("# nothing\n");
    assert_true(kube_json_is_null(json));
    kube_json_free(&json);
}

static void only_exact_integers_are_integers(void **state)
{
    (void)state;
    int64_t number = 0;
    struct str error = {0};
    struct kube_json *json = kube_json_parse(
        STR_LITERAL("[9007199254740991, -9007199254740993, 999999999999999999, 1000000000000000000,"
                    "9223372036854775807, -9223372036854775808, 1e3, 1.0,"
                    "9223372036854775808, -9223372036854775809, 12345678901234567890, 1.5, 1e300,"
                    "\"1\"]"),
        &error, &arena);
    static const int64_t exact[] = {9007199254740991,
                                    -9007199254740993,
                                    999999999999999999,
                                    1000000000000000000,
                                    INT64_MAX,
                                    INT64_MIN,
                                    1000,
                                    1};
    const struct kube_json *at = kube_json_first(json);
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++, at = kube_json_next(at)) {
        assert_true(kube_json_i64(at, &number));
        assert_true(number == exact[i]);
    }
    for (; at != NULL; at = kube_json_next(at))
        assert_false(kube_json_i64(at, &number));
    kube_json_free(&json);
}

/* In text and out of YAML, and back as they were. */
static void large_integers_are_written_as_they_were(void **state)
{
    (void)state;
    static const char text[] =
        "[9223372036854775807,-9223372036854775808,9007199254740993,-1,0,1.5]";
    struct kube_json *documents[] = {kube_json_parse(str_of(text), NULL, &arena), yaml(text)};
    for (size_t i = 0; i < 2; i++) {
        struct buffer out = {0};
        kube_json_write(documents[i], &out);
        assert_string_equal(out.at, text);
        buffer_free(&out);
        kube_json_free(&documents[i]);
    }
}

/* One that somebody wrote into a field that nobody reads must not cost the rest. */
static void numbers_of_any_length_are_read(void **state)
{
    (void)state;
    char text[400] = "[";
    double number = 0;
    memset(text + 1, '7', 300);
    memcpy(text + 301, ".5e-299,1]", sizeof(".5e-299,1]"));
    struct kube_json *json = kube_json_parse(str_of(text), NULL, &arena);
    assert_int_equal(kube_json_count(json), 2);
    assert_true(kube_json_number(kube_json_first(json), &number));
    assert_true(number > 7.77 && number < 7.78);
    kube_json_free(&json);
    json = kube_json_parse(STR_LITERAL("[1e999,-1e999]"), NULL, &arena);
    assert_int_equal(kube_json_count(json), 2);
    kube_json_free(&json);
}

static void missing_steps_give_nothing(void **state)
{
    (void)state;
    struct kube_json *json = yaml("{\"a\": {\"b\": null, \"c\": 1, \"c\": 2}}");
    int64_t number = 0;
    assert_null(kube_json_path(json, "a.b"));
    assert_null(kube_json_path(json, "a.b.c.d"));
    assert_null(kube_json_get(NULL, "a"));
    assert_int_equal(kube_json_text(NULL).len, 0);
    assert_int_equal(kube_json_count(NULL), 0);
    assert_true(kube_json_i64(kube_json_path(json, "a.c"), &number));
    assert_int_equal(number, 2); /* the last one wins */
    kube_json_free(&json);
}

static void strings_are_read_to_the_letter(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
    } strings[] = {
        {"\"\"", ""},
        {"\"plain\"", "plain"},
        {"\"a\\\"b\\\\c\\/d\"", "a\"b\\c/d"},
        {"\"\\b\\f\\n\\r\\t\"", "\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac"},
        {"\"x\\ud83d\\ude00y\"", "x\xf0\x9f\x98\x80y"},
        /* Half of a pair is none, as in Go. */
        {"\"\\ud83d\"", "\xef\xbf\xbd"},
        {"\"\\ud83dx\"", "\xef\xbf\xbdx"},
        {"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                               "A"},
        {"\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"\"\\ude00\"", "\xef\xbf\xbd"},
    };
    static const char *const wrong[] = {"\"",      "\"a",       "\"\\\"",
                                        "\"\\x\"", "\"\\u12\"", "\"\\u12g4\""};
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        struct kube_json *json = kube_json_parse(str_of(strings[i].json), NULL, &arena);
        assert_non_null(json);
        assert_true(kube_json_is_string(json));
        assert_string_equal(kube_json_text(json).at, strings[i].text);
        assert_int_equal(kube_json_text(json).len, strlen(strings[i].text));
        kube_json_free(&json);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_null(kube_json_parse(str_of(wrong[i]), NULL, &arena));
}

static void numbers_are_read_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        double number;
    } numbers[] = {{"0", 0},
                   {"-0", 0},
                   {"-17", -17},
                   {"999999999999999", 999999999999999.0},
                   {"1000000000000001", 1000000000000001.0},
                   {"-9007199254740991", -9007199254740991.0},
                   {"1.5", 1.5},
                   {"-2.5e-3", -0.0025},
                   {"1E2", 100}};
    static const char *const wrong[] = {"-", "+1", ".5", "1x", "--1", "1 2"};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        double number = 4711;
        struct kube_json *json = kube_json_parse(str_of(numbers[i].json), NULL, &arena);
        assert_true(kube_json_number(json, &number));
        assert_true(number == numbers[i].number);
        kube_json_free(&json);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_null(kube_json_parse(str_of(wrong[i]), NULL, &arena));
}

static const struct kube_json_unread managed = {.lists = {"managedFields", 13}};
static const char object[] = " {\"a\" : [1, {\"b\":\"\\u00e9\"}, [], {}, null, true , false],"
                             "\"managedFields\": [{\"x\":\"]\\\"}\",\"y\":[[]]}], \"c\":-1.5}\n";

/* Also that no byte behind the end is read, which the sanitizer sees. */
static void what_is_cut_off_or_wrong_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"[1,]",  "{\"a\":1,}", "[,1]",      "{,}",       "{\"a\"}",
                                        "{a:1}", "[1}",        "{\"a\":}",  "[1 2]",     "]",
                                        "tru",   "nul",        "{\"a\":1]", "[\"a\":1]", "[]]",
                                        "{}{}",  "\xef\xbb"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_null(kube_json_parse(str_of(wrong[i]), NULL, &arena));
    for (uint32_t len = 0; len + 2 < sizeof(object); len++) {
        char *cut = memory_copy(object, len);
        struct str text = {cut, len};
        assert_null(kube_json_parse(text, NULL, &arena));
        assert_null(kube_json_parse_without(text, &managed, NULL, &arena));
        memory_free(cut);
    }
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    char deep[2 * (KUBE_JSON_DEPTH_MAX + 1)];
    for (uint32_t depth = KUBE_JSON_DEPTH_MAX; depth <= KUBE_JSON_DEPTH_MAX + 1; depth++) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        struct kube_json *json = kube_json_parse((struct str){deep, 2 * depth}, NULL, &arena);
        assert_int_equal(json != NULL, depth == KUBE_JSON_DEPTH_MAX);
        kube_json_free(&json);
    }
}

static void lists_that_nobody_reads_are_left_out(void **state)
{
    (void)state;
    double number = 0;
    struct kube_json *json = kube_json_parse_without(str_of(object), &managed, NULL, &arena);
    assert_int_equal(kube_json_count(json), 2);
    assert_null(kube_json_get(json, "managedFields"));
    assert_int_equal(kube_json_count(kube_json_get(json, "a")), 7);
    assert_true(kube_json_number(kube_json_get(json, "c"), &number));
    assert_true(number == -1.5);
    kube_json_free(&json);
    /* A label may well have that name. */
    json = kube_json_parse_without(
        STR_LITERAL("{\"managedFields\":[],\"labels\":{\"managedFields\":\"x\"}}"), &managed, NULL,
        &arena);
    assert_int_equal(kube_json_count(json), 1);
    assert_true(str_is(kube_json_text(kube_json_path(json, "labels.managedFields")), "x"));
    kube_json_free(&json);
}

static void what_is_opaque_is_the_text_that_it_was(void **state)
{
    (void)state;
    static const char opaque[] = "{ \"a\\u0026\": [1.0, 1e2, \"\\ud800\\/<&\"] , \"}\": {}}";
    const struct kube_json_unread unread = {.verbatim = STR_LITERAL("parameters")};
    struct buffer text = {0};
    buffer_print(&text,
                 "{\"a\": {\"parameters\" : %s, \"x\": 1}, \"parameters\": [2], \"b\": "
                 "{\"parameters\":{}}}",
                 opaque);
    struct kube_json *json = kube_json_parse_without(buffer_str(&text), &unread, NULL, &arena);
    assert_true(str_is(kube_json_text(kube_json_path(json, "a.parameters")), opaque));
    assert_int_equal(kube_json_count(kube_json_get(json, "a")), 2);
    assert_true(kube_json_is_array(kube_json_get(json, "parameters")));
    assert_true(str_is(kube_json_text(kube_json_path(json, "b.parameters")), "{}"));
    kube_json_free(&json);
    for (size_t len = 0; len < text.len; len++)
        assert_null(
            kube_json_parse_without((struct str){text.at, (uint32_t)len}, &unread, NULL, &arena));
    buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(no_text_at_all_is_null, reset),
        cmocka_unit_test_setup(errors_say_line_and_column, reset),
        cmocka_unit_test_setup(a_byte_order_mark_is_passed_over, reset),
        cmocka_unit_test_setup(strange_yaml_is_refused, reset),
        cmocka_unit_test_setup(scalars_mean_what_they_mean_to_kubernetes, reset),
        cmocka_unit_test_setup(keys_become_text, reset),
        cmocka_unit_test_setup(aliases_and_merges_copy, reset),
        cmocka_unit_test_setup(bombs_are_refused, reset),
        cmocka_unit_test_setup(several_documents_are_a_list, reset),
        cmocka_unit_test_setup(only_exact_integers_are_integers, reset),
        cmocka_unit_test_setup(large_integers_are_written_as_they_were, reset),
        cmocka_unit_test_setup(numbers_of_any_length_are_read, reset),
        cmocka_unit_test_setup(missing_steps_give_nothing, reset),
        cmocka_unit_test_setup(strings_are_read_to_the_letter, reset),
        cmocka_unit_test_setup(numbers_are_read_exactly, reset),
        cmocka_unit_test_setup(what_is_cut_off_or_wrong_is_refused, reset),
        cmocka_unit_test_setup(nesting_is_bounded, reset),
        cmocka_unit_test_setup(lists_that_nobody_reads_are_left_out, reset),
        cmocka_unit_test_setup(what_is_opaque_is_the_text_that_it_was, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
