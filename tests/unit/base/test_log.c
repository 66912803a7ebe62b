/* test_log: lines as they arrive on stderr: one an event, logfmt, levels honoured, nothing that a
 * text holds can begin a line of its own; errno survives. */
#include "proto/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char line[16384];

/* What is written to stderr between the two goes to line. */
static int saved = -1, ends[2];

static void capture_begin(void)
{
    assert_int_equal(pipe(ends), 0);
    saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    close(ends[1]);
}

static void capture_end(void)
{
    assert_true(dup2(saved, STDERR_FILENO) >= 0); /* closes the pipe's last writing end */
    close(saved);
    size_t len = 0;
    ssize_t n;
    while ((n = read(ends[0], line + len, sizeof(line) - 1 - len)) > 0)
        len += (size_t)n;
    line[len] = 0;
    close(ends[0]);
}

/* The line behind its time stamp, whose form is checked. */
static const char *behind_time(void)
{
    int64_t us;
    assert_true(strncmp(line, "ts=", 3) == 0);
    const char *end = strchr(line, ' ');
    assert_non_null(end);
    assert_true(moment_parse_wall(line + 3, (size_t)(end - line - 3), &us));
    return end + 1;
}

static void a_line_is_logfmt(void **state)
{
    (void)state;
    log_open("tester", LOG_LEVEL_info);
    capture_begin();
    log_info("pod bound|pod=%s/%s node=%s", "default", "p", "n1");
    capture_end();
    assert_string_equal(behind_time(),
                        "level=info proc=tester msg=\"pod bound\" pod=default/p node=n1\n");
    capture_begin();
    log_error("no pairs");
    capture_end();
    assert_string_equal(behind_time(), "level=error proc=tester msg=\"no pairs\"\n");
}

static void quotes_inside_of_values_are_escaped(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"x|error=\"no \"y\" here\" code=1", " error=\"no \\\"y\\\" here\" code=1\n"},
        {"x|error=\"ends \"so\"\"", " error=\"ends \\\"so\\\"\"\n"},
        {"x| a=\"\" b=\"was \\\"so\\\" before\"", " a=\"\" b=\"was \\\"so\\\" before\"\n"},
        {"x|a=\"cut off", " a=\"cut off\"\n"},
    };
    log_open("tester", LOG_LEVEL_info);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        capture_begin();
        log_info("%s", table[i][0]);
        capture_end();
        assert_string_equal(behind_time() + strlen("level=info proc=tester msg=\"x\""),
                            table[i][1]);
    }
}

/* The line behind its time stamp; as JSON. */
static const char *json_behind_time(void)
{
    char *end;
    assert_true(strncmp(line, "{\"ts\":", 6) == 0);
    double ms = strtod(line + 6, &end);
    assert_true(ms > 1.6e12 && ms < 1e13);
    return end;
}

static void a_line_is_json_when_asked(void **state)
{
    (void)state;
    static const struct {
        const char *text, *json;
    } table[] = {
        {"bound| pod=default/p node=\"n 1\" took_us=12 share=0.5 zip=007",
         ",\"level\":\"info\",\"proc\":\"tester\",\"v\":0,\"msg\":\"bound\",\"pod\":\"default/p\","
         "\"node\":\"n 1\",\"took_us\":12,\"share\":\"0.5\",\"zip\":\"007\"}\n"},
        {"a \"quote\"|error=\"no \"x\" here, \\\"y\\\"\" code=-3",
         ",\"level\":\"info\",\"proc\":\"tester\",\"v\":0,\"msg\":\"a \\\"quote\\\"\","
         "\"error\":\"no \\\"x\\\" here, \\\"y\\\"\",\"code\":-3}\n"},
        {"x|a=\"not ended b=1", ",\"level\":\"info\",\"proc\":\"tester\",\"v\":0,\"msg\":\"x\","
                                "\"a\":\"not ended b=1\"}\n"},
        {"x\n\xc3\xa4\xff\xc0\x80| loose words", ",\"level\":\"info\",\"proc\":\"tester\",\"v\":0,"
                                                 "\"msg\":\"x\\n\xc3\xa4\\ufffd\\ufffd\\ufffd\","
                                                 "\"text\":\"loose words\"}\n"},
        {"x|a= b=\"\" c=1 2", ",\"level\":\"info\",\"proc\":\"tester\",\"v\":0,\"msg\":\"x\","
                              "\"a\":\"\",\"b\":\"\",\"c\":\"1 2\"}\n"},
    };
    assert_false(log_set_format("xml"));
    assert_true(log_set_format("json"));
    log_open("tester", LOG_LEVEL_info);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        capture_begin();
        log_info("%s", table[i].text);
        capture_end();
        assert_string_equal(json_behind_time(), table[i].json);
    }
    capture_begin();
    log_error("gone|code=1");
    capture_end();
    assert_string_equal(json_behind_time(), ",\"level\":\"error\",\"proc\":\"tester\",\"msg\":"
                                            "\"gone\",\"code\":1}\n");
    assert_true(log_set_format("text"));
}

static void a_long_line_of_json_ends_well(void **state)
{
    (void)state;
    char quotes[8000];
    memset(quotes, '"', sizeof(quotes) - 1);
    quotes[sizeof(quotes) - 1] = 0;
    log_open("tester", LOG_LEVEL_info);
    assert_true(log_set_format("json"));
    capture_begin();
    log_warn("x|error=\"%s\"", quotes);
    capture_end();
    assert_true(log_set_format("text"));
    size_t len = strlen(line);
    assert_true(len > 3000 && strcmp(line + len - 3, "\"}\n") == 0);
    assert_true(strchr(line, '\n') == line + len - 1);
}

static void levels_are_honoured(void **state)
{
    (void)state;
    log_open("tester", LOG_LEVEL_warn);
    assert_string_equal(log_level_name(), "warn");
    capture_begin();
    log_info("not this");
    log_debug("nor this");
    capture_end();
    assert_string_equal(line, "");
    log_set_level(LOG_LEVEL_debug);
    capture_begin();
    log_debug("this");
    capture_end();
    assert_string_equal(behind_time(), "level=debug proc=tester msg=\"this\"\n");
}

static void texts_cannot_forge_lines(void **state)
{
    (void)state;
    log_open("tester", LOG_LEVEL_info);
    capture_begin();
    log_warn("a \"b\"\n\\c|x=%s", "1\nts=forged\x1b[2J");
    capture_end();
    assert_string_equal(behind_time(), "level=warn proc=tester msg=\"a \\\"b\\\" \\\\c\" "
                                       "x=1 ts=forged [2J\n");
}

static void long_texts_are_cut_to_one_line(void **state)
{
    (void)state;
    static char text[20000];
    memset(text, '"', sizeof(text) - 1);
    log_open("tester", LOG_LEVEL_info);
    capture_begin();
    log_info("%s", text);
    capture_end();
    assert_in_range(strlen(line), 1000, 4096);
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    memset(text, 'x', sizeof(text) - 1);
    capture_begin();
    log_info("short|x=%s", text);
    capture_end();
    assert_in_range(strlen(line), 1000, 4096);
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

static void errno_survives(void **state)
{
    (void)state;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), err = dup(STDERR_FILENO);
    assert_true(null >= 0 && err >= 0);
    close(STDERR_FILENO); /* so that writing fails with EBADF */
    errno = ENOENT;
    log_error("nobody reads this");
    int after = errno;
    assert_true(dup2(err, STDERR_FILENO) >= 0);
    close(err);
    close(null);
    assert_int_equal(after, ENOENT);
}

static void level_names_are_read(void **state)
{
    (void)state;
    enum log_level level;
    assert_true(log_level_parse("error", &level) && level == LOG_LEVEL_error);
    assert_true(log_level_parse("debug", &level) && level == LOG_LEVEL_debug);
    assert_true(log_level_parse("0", &level) && level == LOG_LEVEL_info);
    assert_true(log_level_parse("1", &level) && level == LOG_LEVEL_info);
    assert_true(log_level_parse("2", &level) && level == LOG_LEVEL_debug);
    assert_true(log_level_parse("10", &level) && level == LOG_LEVEL_debug);
    assert_false(log_level_parse("", &level));
    assert_false(log_level_parse("11", &level));
    assert_false(log_level_parse("-1", &level));
    assert_false(log_level_parse("2x", &level));
    assert_false(log_level_parse("INFO", &level));
}

static void repeated_lines_are_counted_instead(void **state)
{
    (void)state;
    struct log_limit limit = {0};
    struct moment now = {1};
    assert_true(log_limited(&limit, now));
    assert_int_equal(limit.suppressed_before, 0);
    for (int i = 0; i < 7; i++)
        assert_false(log_limited(&limit, moment_after(now, span_of_ms(999))));
    assert_true(log_limited(&limit, moment_after(now, span_of_ms(1000))));
    assert_int_equal(limit.suppressed_before, 7);
    assert_true(log_limited(&limit, moment_after(now, span_of_ms(2000))));
    assert_int_equal(limit.suppressed_before, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_logfmt),
        cmocka_unit_test(quotes_inside_of_values_are_escaped),
        cmocka_unit_test(a_line_is_json_when_asked),
        cmocka_unit_test(a_long_line_of_json_ends_well),
        cmocka_unit_test(levels_are_honoured),
        cmocka_unit_test(texts_cannot_forge_lines),
        cmocka_unit_test(long_texts_are_cut_to_one_line),
        cmocka_unit_test(errno_survives),
        cmocka_unit_test(level_names_are_read),
        cmocka_unit_test(repeated_lines_are_counted_instead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
