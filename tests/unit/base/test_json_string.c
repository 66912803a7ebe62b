/* test_json_string: the one writer of JSON strings. What it writes of each byte and each form of
 * broken UTF-8 stands in tables; cJSON and the reader of API objects read all of it back, and where
 * a text is UTF-8 without a zero byte cJSON would have written the same. */
#include "proto/base/json_string.h"
#include "proto/base/random.h"
#include "proto/base/utf8.h"
#include "proto/kube/documents/json.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define REPLACEMENT "\357\277\275"

/* The text with each byte that is no part of a character replaced, as a reader has it. */
static void add_as_read(struct buffer *out, struct str text)
{
    buffer_add(out, "", 0);
    while (text.len > 0) {
        uint32_t len = utf8_length(text), taken = len > 0 ? len : 1;
        if (len > 0)
            buffer_add(out, text.at, len);
        else
            buffer_add_text(out, REPLACEMENT);
        text = (struct str){text.at + taken, text.len - taken};
    }
}

static void check_cjson(struct str written, struct str meant)
{
    cJSON *read = cJSON_ParseWithLength(written.at, written.len);
    assert_true(cJSON_IsString(read));
    assert_int_equal(strlen(read->valuestring), meant.len);
    assert_memory_equal(read->valuestring, meant.at, meant.len);
    char *again = cJSON_PrintUnformatted(read);
    if (strstr(written.at, "\\ufffd") == NULL)
        assert_string_equal(again, written.at);
    cJSON_free(again);
    cJSON_Delete(read);
}

static void check_ours(struct str written, struct str meant)
{
    struct arena arena = {0};
    struct str error = {NULL, 0};
    struct kube_json *read = kube_json_parse(written, &error, &arena);
    assert_non_null(read);
    assert_true(str_equal(kube_json_text(read), meant));
    kube_json_free(&read);
    arena_free(&arena);
}

static void check(struct str text)
{
    struct buffer written = {0}, meant = {0};
    json_string(&written, text);
    add_as_read(&meant, text);
    assert_true(written.len <= JSON_STRING_GROWTH * (size_t)text.len + 2);
    check_ours(buffer_str(&written), buffer_str(&meant));
    if (memchr(meant.at, 0, meant.len) == NULL)
        check_cjson(buffer_str(&written), buffer_str(&meant));
    buffer_free(&written);
    buffer_free(&meant);
}

static void each_byte_has_its_form(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        char text[3] = {'a', (char)c, 'b'}, expected[32];
        struct buffer out = {0};
        const char *known = c != 0 ? strchr("\"\"\\\\\bb\ff\nn\rr\tt", (int)c) : NULL;
        if (c == '"' || c == '\\' || (c < 0x20 && known != NULL))
            snprintf(expected, sizeof(expected), "\"a\\%cb\"", known[1]);
        else if (c < 0x20)
            snprintf(expected, sizeof(expected), "\"a\\u%04xb\"", c);
        else if (c < 0x80)
            snprintf(expected, sizeof(expected), "\"a%cb\"", (int)c);
        else
            snprintf(expected, sizeof(expected), "\"a\\ufffdb\"");
        json_string(&out, (struct str){text, 3});
        assert_string_equal(out.at, expected);
        buffer_free(&out);
        check((struct str){text, 3});
        check((struct str){text + 1, 1});
    }
}

static void what_is_no_utf8_is_replaced_byte_by_byte(void **state)
{
    (void)state;
    static const struct {
        const char *text, *written;
    } table[] = {
        {"\303\244 \342\202\254 \360\237\230\200", "\"\303\244 \342\202\254 \360\237\230\200\""},
        {"\177\302\200\342\200\250", "\"\177\302\200\342\200\250\""}, /* as cJSON, not as Go */
        {"\303", "\"\\ufffd\""},
        {"\303(", "\"\\ufffd(\""},
        {"\342\202", "\"\\ufffd\\ufffd\""},
        {"\300\200", "\"\\ufffd\\ufffd\""},                           /* too long for what it is */
        {"\340\237\277", "\"\\ufffd\\ufffd\\ufffd\""},                /* the same */
        {"\355\240\200", "\"\\ufffd\\ufffd\\ufffd\""},                /* half of a surrogate pair */
        {"\355\237\277\356\200\200", "\"\355\237\277\356\200\200\""}, /* its neighbours */
        {"\360\217\277\277", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"\364\217\277\277", "\"\364\217\277\277\""}, /* U+10FFFF */
        {"\364\220\200\200", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"\365\200", "\"\\ufffd\\ufffd\""},
        {"", "\"\""},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct buffer out = {0};
        json_string(&out, str_of(table[i].text));
        assert_string_equal(out.at, table[i].written);
        buffer_free(&out);
        check(str_of(table[i].text));
    }
}

static void nothing_is_a_string_too(void **state)
{
    (void)state;
    struct buffer out = {0};
    char room[JSON_STRING_GROWTH];
    struct str nothing = {NULL, 0};
    json_string(&out, nothing);
    assert_string_equal(out.at, "\"\"");
    assert_int_equal(json_string_piece(&nothing, room).len, 0);
    buffer_free(&out);
}

static void any_text_is_read_back(void **state)
{
    (void)state;
    /* Bytes that begin, continue or end characters, so that many are whole. */
    static const char bytes[] = "ab\"\\\n\001\177\200\237\240\277\302\303\340\342\355\360\364\377";
    struct random random = {7};
    for (int round = 0; round < 20000; round++) {
        char text[24];
        uint32_t len = (uint32_t)random_below(&random, sizeof(text));
        for (uint32_t i = 0; i < len; i++)
            text[i] = bytes[random_below(&random, sizeof(bytes))];
        check((struct str){text, len});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_has_its_form),
        cmocka_unit_test(what_is_no_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(nothing_is_a_string_too),
        cmocka_unit_test(any_text_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
