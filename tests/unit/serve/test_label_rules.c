/* test_label_rules: the flags of allowed labels, as upstream's flag library reads them, and which
 * value a label is shown with. */
#include "ctl/serve/label_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct label_rules rules;
static struct arena memory;
static struct str why;

static int set_up(void **state)
{
    (void)state;
    rules.count = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&memory);
    return 0;
}

static bool take(const char *flag)
{
    return label_rules_read(&rules, str_of(flag), &memory, &why);
}

static void shows(const char *metric, const char *label, const char *value, const char *as)
{
    struct str shown = label_rules_apply(&rules, metric, label, str_of(value));
    if (!str_is(shown, as))
        fail_msg("%s{%s=%s} is shown as %.*s", metric, label, value, STR_ARG(shown));
}

static void one_label_takes_the_whole_flag(void **state)
{
    (void)state;
    assert_true(take("m,l=a,b"));
    shows("m", "l", "a", "a");
    shows("m", "l", "b", "b");
    shows("m", "l", "c", "unexpected");
    shows("m", "l", "", "unexpected");
    shows("m", "k", "c", "c");
    shows("n", "l", "c", "c");
    assert_true(take("\"m,l=c\"")); /* again: the new values count */
    shows("m", "l", "c", "c");
    shows("m", "l", "a", "unexpected");
    assert_int_equal(rules.count, 1);
}

static void several_are_a_line_of_csv(void **state)
{
    (void)state;
    assert_true(take("\"m,l=a,b\",\"n:x,l_1=c\",\"m,k=say \"\"=\"\"\""));
    assert_int_equal(rules.count, 3);
    shows("m", "l", "b", "b");
    shows("n:x", "l_1", "c", "c");
    shows("n:x", "l_1", "d", "unexpected");
    shows("m", "k", "say \"=\"", "say \"=\"");
}

static void without_a_value_only_the_empty_one_is_allowed(void **state)
{
    (void)state;
    assert_true(take("m,l="));
    shows("m", "l", "", "");
    shows("m", "l", "a", "unexpected");
}

static void what_is_malformed_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",           "m",           "m=a",          "m,=a",        ",l=a",
        "1m,l=a",     "m,l:x=a",     "m,l,k=a",      "m,l=a,n,l=b", "\"m,l=a\"x,\"n,l=b\"",
        "\"m,l=a,n=", "m\",l=a,x=b", "\"m,l=a\",=b", "m-n,l=a",     "m,l=a,\"n,l=b\"",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (take(wrong[i]))
            fail_msg("accepted: %s", wrong[i]);
}

static bool read_file(const char *text)
{
    char path[] = "/tmp/berth-labels-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    bool good = label_rules_read_file(&rules, path, &memory, &why);
    unlink(path);
    return good;
}

static void a_manifest_is_yaml(void **state)
{
    (void)state;
    assert_true(read_file("m,l: a,b\n\"n,l\": \"c\"\no,l: 5\np,l:\n"));
    shows("m", "l", "b", "b");
    shows("n", "l", "d", "unexpected");
    shows("o", "l", "5", "5");
    shows("p", "l", "", "");
    assert_true(read_file(""));
    assert_false(read_file("allowListMapping:\n  m,l: a\n"));
    assert_true(str_starts_with(why, "failed to parse allow list manifest: allowListMapping has"));
    assert_false(read_file("- m,l\n"));
    assert_false(read_file("m: a\n"));
    assert_false(read_file("m,l: [a\n"));
    assert_false(label_rules_read_file(&rules, "/nonexistent", &memory, &why));
    assert_true(str_starts_with(why, "failed to read allow list manifest: "));
}

static void there_is_a_bound(void **state)
{
    (void)state;
    char flag[32];
    for (int i = 0; i < LABEL_RULES_MAX; i++) {
        snprintf(flag, sizeof(flag), "m%d,l=a", i);
        assert_true(take(flag));
    }
    assert_false(take("m,l=a"));
    assert_true(take("m7,l=b"));
}

static void names_of_metrics_are_checked(void **state)
{
    (void)state;
    struct strs names;
    assert_true(label_rules_names(STR_LITERAL("a,\"b\",c:d_1"), &names, &memory, &why));
    assert_int_equal(names.count, 3);
    assert_true(str_is(names.at[1], "b"));
    assert_true(label_rules_names(STR_LITERAL(""), &names, &memory, &why));
    assert_int_equal(names.count, 0);
    assert_false(label_rules_names(STR_LITERAL("a,,b"), &names, &memory, &why));
    assert_false(label_rules_names(STR_LITERAL("a,"), &names, &memory, &why));
    assert_false(label_rules_names(STR_LITERAL("a-b"), &names, &memory, &why));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(one_label_takes_the_whole_flag),
        TEST(several_are_a_line_of_csv),
        TEST(without_a_value_only_the_empty_one_is_allowed),
        TEST(what_is_malformed_is_refused),
        TEST(a_manifest_is_yaml),
        TEST(there_is_a_bound),
        TEST(names_of_metrics_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
