/* JSON text to trees and back: whatever the reader takes, cJSON takes as well and reads the same,
 * and what is printed is what cJSON prints. Texts are a few by hand, and what chance makes of
 * them. */
#include "harness.h"

#include "proto/base/random.h"
#include "tests/apiserver/tree_text.h"

#define ROUNDS 40000

static const char *const texts[] = {
    "{}",
    "[]",
    " { \"a\" : [ 1 , 2.5 , -3e2, 0.1, 1e21, 12345678901, -0, 0.30000000000000004 ] } ",
    "{\"a\":{\"a\":{\"a\":null}},\"b\":true,\"c\":false}",
    "{\"text\":\"a \\\"b\\\" \\\\ \\/ \\b\\f\\n\\r\\t\",\"b\":\"\\u00e9\"}",
    "{\"\":\"\",\"kept\":\"\\u001f\",\"long name of a member, which is longer than most\":[[[]]]}",
    "[\"\\ud83d\\ude00\",\"\xc3\xa9\",\"\x7f\",\"tab\\tend\"]",
    "\"text\"",
    "42",
    "{\"metadata\":{\"labels\":{\"a/b\":\"c\"}},\"spec\":[{\"requests\":{\"cpu\":\"1m\"}}]}",
};

#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static void compare(const char *text, size_t size)
{
    struct buffer printed = {0};
    cJSON *tree = tree_text_read(text, size);
    cJSON *wanted = cJSON_ParseWithLength(text, size);
    if (tree != NULL) {
        assert_non_null(wanted);
        char *expected = cJSON_PrintUnformatted(wanted);
        tree_text_print(tree, &printed);
        buffer_add(&printed, "", 0);
        assert_string_equal(printed.at, expected);
        assert_true(tree_same(tree, wanted) || !cJSON_Compare(tree, wanted, true));
        memory_free(expected);
    }
    cJSON_Delete(tree);
    cJSON_Delete(wanted);
    buffer_free(&printed);
}

static void reads_and_prints_as_cjson(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++)
        compare(texts[i], strlen(texts[i]));
}

/* Most of it without help; what is left to cJSON is known. */
static void reads_what_there_mostly_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        cJSON *tree = tree_text_read(texts[i], strlen(texts[i]));
        assert_true((tree != NULL) == (strstr(texts[i], "\\u") == NULL));
        cJSON_Delete(tree);
    }
}

static void agrees_where_texts_are_spoilt(void **state)
{
    static const char bytes[] = "{}[]\",:\\\\unt0123456789.-+eE \t\n\x01";
    struct random dice = {20261124};
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const char *text = texts[random_below(&dice, TEXTS)];
        size_t size = strlen(text);
        char *spoilt = memory_copy(text, size);
        for (uint64_t changes = 1 + random_below(&dice, 3); changes > 0; changes--)
            spoilt[random_below(&dice, size)] = bytes[random_below(&dice, sizeof(bytes) - 1)];
        compare(spoilt, random_below(&dice, 4) == 0 ? random_below(&dice, size) + 1 : size);
        memory_free(spoilt);
    }
}

static cJSON *parsed(const char *text)
{
    cJSON *tree = tree_text_read(text, strlen(text));
    assert_non_null(tree);
    return tree;
}

static void sameness_asks_for_names_and_not_for_their_order(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}", true},
        {"{\"a\":1,\"b\":[1,2]}", "{\"b\":[2,1],\"a\":1}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
        {"{\"a\":1,\"b\":2}", "{\"a\":1}", false},
        {"{\"a\":1}", "{\"A\":1}", false},
        {"{\"a\":null}", "{}", false},
        {"[1]", "[1,1]", false},
        {"[]", "{}", false},
        {"[\"1\"]", "[1]", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cJSON *a = parsed(cases[i].a), *b = parsed(cases[i].b);
        assert_int_equal(tree_same(a, b), cases[i].same);
        assert_int_equal(tree_same(b, a), cases[i].same);
        cJSON_Delete(a);
        cJSON_Delete(b);
    }
}

int main(void)
{
    tree_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_prints_as_cjson),
        cmocka_unit_test(reads_what_there_mostly_is),
        cmocka_unit_test(agrees_where_texts_are_spoilt),
        cmocka_unit_test(sameness_asks_for_names_and_not_for_their_order),
    };
    return cmocka_run_group_tests_name("apiserver text", tests, NULL, NULL);
}
