/* test_options: the words and options of a command are read in any order, and what is wrong is
 * named. */
#include "proto/bus/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct given {
    const char *words[4], *name;
    int count;
    bool flag;
};

static bool take_name(void *state, const char *value)
{
    ((struct given *)state)->name = value;
    return true;
}

static bool take_flag(void *state, const char *value)
{
    (void)value;
    return ((struct given *)state)->flag = true;
}

static bool take_word(void *state, const char *word)
{
    struct given *g = state;
    if (g->count == 3)
        return false;
    g->words[g->count++] = word;
    return true;
}

static bool take_count(void *state, const char *value)
{
    (void)state;
    int64_t count;
    return options_number(value, 1, 1000, &count);
}

static bool take_span(void *state, const char *value)
{
    (void)state;
    double span;
    return options_decimal(value, 0.5, 60, &span);
}

static const struct own_option own[] = {{"name", "NAME", "a name", take_name},
                                        {"flag", NULL, "a flag", take_flag},
                                        {"count", "N", "how many", take_count},
                                        {"span", "S", "how long", take_span},
                                        {NULL, NULL, NULL, NULL}};

/* What many commands have; --name is own's as well. */
static const struct own_option more[] = {{"name", "SHARED", "another name", take_name},
                                         {"more", NULL, "a further flag", take_flag},
                                         {NULL, NULL, NULL, NULL}};

static int bad_status; /* what is asked for; 0: nothing is */

static struct given read_all(int argc, const char **argv)
{
    struct given g = {0};
    options_read(&(struct options_table){.program = "test",
                                         .usage = "tests",
                                         .options = own,
                                         .state = &g,
                                         .more = more,
                                         .more_state = &g,
                                         .word = take_word,
                                         .bad_status = bad_status},
                 argc, (char **)argv);
    return g;
}

static void test_words_stand_anywhere(void **state)
{
    (void)state;
    const char *argv[] = {"test", "one", "--name", "two", "-", "--flag", "--name=x", "three"};
    struct given g = read_all(8, argv);
    assert_int_equal(g.count, 3);
    assert_string_equal(g.words[0], "one");
    assert_string_equal(g.words[1], "-"); /* standard input, for those who read */
    assert_string_equal(g.words[2], "three");
    assert_string_equal(g.name, "x");
    assert_true(g.flag);
}

static void test_behind_two_dashes_are_only_words(void **state)
{
    (void)state;
    const char *argv[] = {"test", "--flag", "--", "--name", "--"};
    struct given g = read_all(5, argv);
    assert_int_equal(g.count, 2);
    assert_string_equal(g.words[0], "--name");
    assert_string_equal(g.words[1], "--");
    assert_null(g.name);
}

/* What it says there, when it ends with that status. */
static void ends(int argc, const char **argv, int stream, int with, const char *said)
{
    int pipes[2];
    char text[512] = "";
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], stream);
        read_all(argc, argv);
        _exit(0);
    }
    close(pipes[1]);
    ssize_t len = read(pipes[0], text, sizeof(text) - 1);
    close(pipes[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == with);
    assert_true(len > 0);
    assert_string_equal(text, said);
}

static void refused(int argc, const char **argv, const char *said)
{
    ends(argc, argv, STDERR_FILENO, 1, said);
}

static void test_one_too_many_is_named(void **state)
{
    (void)state;
    const char *many[] = {"test", "a", "b", "c", "d"};
    refused(5, many, "test: d: is one too many (--help tells what is wanted)\n");
    const char *unknown[] = {"test", "a", "--nam", "b"};
    refused(4, unknown, "test: --nam: unknown option (--help lists them)\n");
}

/* Of a command whose 1 means something else. */
static void test_the_exit_status_of_bad_arguments_is_the_tables(void **state)
{
    (void)state;
    const char *unknown[] = {"test", "--nam"}, *lacking[] = {"test", "--name"};
    const char *many[] = {"test", "a", "b", "c", "d"};
    bad_status = 2;
    ends(2, unknown, STDERR_FILENO, 2, "test: --nam: unknown option (--help lists them)\n");
    ends(2, lacking, STDERR_FILENO, 2, "test: --name: needs a value\n");
    ends(5, many, STDERR_FILENO, 2, "test: d: is one too many (--help tells what is wanted)\n");
    bad_status = 0;
}

static void test_bounds_of_numbers_are_told(void **state)
{
    (void)state;
    static const char *const counts[] = {"0", "1001", "-1", "7x", "", "1e2", "9223372036854775808"};
    static const char *const spans[] = {"0.4", "61", "nan", "inf", "1e1", "0x10", "", ".", "2s"};
    char said[200];
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        const char *argv[] = {"test", "--count", counts[i]};
        snprintf(said, sizeof(said),
                 "test: --count: \"%s\" is refused (N: how many): want a whole number from 1 to "
                 "1000\n",
                 counts[i]);
        refused(3, argv, said);
    }
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        const char *argv[] = {"test", "--span", spans[i]};
        snprintf(said, sizeof(said),
                 "test: --span: \"%s\" is refused (S: how long): want a number from 0.5 to 60\n",
                 spans[i]);
        refused(3, argv, said);
    }
    const char *good[] = {"test", "--count=1000", "--count", "1", "--span", "0.5", "--span=60"};
    (void)read_all(7, good);
}

static void test_help_names_each_option_once(void **state)
{
    (void)state;
    const char *help[] = {"test", "--help"};
    ends(2, help, STDOUT_FILENO, 0,
         "test: tests\n\n"
         "  --name NAME            a name\n"
         "  --flag                 a flag\n"
         "  --count N              how many\n"
         "  --span S               how long\n"
         "  --more                 a further flag\n"
         "  --help                 this text\n"
         "  --version              the version\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_stand_anywhere),
        cmocka_unit_test(test_behind_two_dashes_are_only_words),
        cmocka_unit_test(test_one_too_many_is_named),
        cmocka_unit_test(test_the_exit_status_of_bad_arguments_is_the_tables),
        cmocka_unit_test(test_bounds_of_numbers_are_told),
        cmocka_unit_test(test_help_names_each_option_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
