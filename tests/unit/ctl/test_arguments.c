/* test_arguments: what each command of berth says of its arguments is so: how it ends when one is
 * bad, and how long it waits. */
#include "ctl/commands.h"
#include "ctl/debug/debug.h"
#include "ctl/doctor/doctor.h"
#include "ctl/explain/explain.h"
#include "ctl/follow/follow.h"
#include "ctl/preflight/preflight.h"
#include "ctl/tables/tables.h"
#include "ctl/top/top.h"
#include "ctl/whatif/whatif.h"
#include "proto/kube/documents/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char said[8192];

/* Its exit status with these words; what it says there is in said. */
static int run(int (*command)(int, char **), const char *name, const char *arguments, int stream)
{
    char words[128];
    char *argv[10], *rest = NULL;
    int pipes[2], status, argc = 0;
    snprintf(words, sizeof(words), "%s %s", name, arguments);
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    argv[argc] = NULL;
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* nothing here may wait for ever */
        dup2(pipes[1], stream);
        exit(command(argc, argv));
    }
    close(pipes[1]);
    size_t len = 0;
    ssize_t more;
    while ((more = read(pipes[0], said + len, sizeof(said) - 1 - len)) > 0)
        len += (size_t)more;
    said[len] = 0;
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* 1 would be that something was found, differs or has failed. */
static void a_bad_argument_is_no_finding(void **state)
{
    (void)state;
    static const struct {
        int (*command)(int, char **);
        const char *name, *argument;
        int status;
    } bad[] = {
        {command_doctor, "doctor", "--kubeconfg=x", 2},
        {command_doctor, "doctor", "--for=soon", 2},
        {command_compare, "compare", "--wait", 2},
        {command_compare, "compare", "word", 2},
        {command_preflight, "preflight", "--kubeconfg=x", 2},
        {command_preflight, "preflight", "--feature-gates=NoSuch=true", 2},
        {command_preflight, "preflight", "--emulated-version=1.2", 2},
        {command_preflight, "preflight", "--show-hidden-metrics-for-version=0.1", 2},
        {command_status, "status", "--wat=1", 1},
        {command_status, "status", "--wait 0", 1},
        {command_follow, "follow", "-o text", 1},
        {command_explain, "explain", "default/x -n other", 1},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int status = run(bad[i].command, bad[i].name, bad[i].argument, STDERR_FILENO);
        if (status != bad[i].status || strstr(said, bad[i].name) == NULL)
            fail_msg("%s %s: %d, %s", bad[i].name, bad[i].argument, status, said);
    }
}

static void checks_are_listed_as_text_and_as_json(void **state)
{
    (void)state;
    assert_int_equal(run(command_doctor, "doctor", "--list", STDOUT_FILENO), 0);
    assert_ptr_equal(strstr(said, "no-answer            every door"), said);
    assert_int_equal(run(command_doctor, "doctor", "--list -o json", STDOUT_FILENO), 0);
    struct arena memory = {0};
    struct str why;
    struct kube_json *json = kube_json_parse(str_of(said), &why, &memory);
    const struct kube_json *first = kube_json_first(kube_json_path(json, "checks"));
    assert_true(str_is(kube_json_text(kube_json_path(first, "check")), "no-answer"));
    assert_true(kube_json_text(kube_json_path(first, "looksAt")).len > 0);
    kube_json_free(&json);
    arena_free(&memory);
}

/* As their manuals have it. */
static void help_tells_how_long_each_waits(void **state)
{
    (void)state;
    static const struct {
        int (*command)(int, char **);
        const char *name;
        int wait_s;
    } all[] = {
        {command_capacity, "capacity", 10},
        {command_compare, "compare", 5},
        {command_debug, "debug", 2},
        {command_doctor, "doctor", 3},
        {command_explain, "explain", 10},
        {command_follow, "follow", 2},
        {command_nodes, "nodes", 2},
        {command_pods, "pods", 10},
        {command_queue, "queue", 2},
        {command_status, "status", 2},
        {command_top, "top", 2},
        {command_whatif, "whatif", 10},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char line[128];
        snprintf(line, sizeof(line), "  %-22s seconds to wait for answers (default %d)\n",
                 "--wait S", all[i].wait_s);
        assert_int_equal(run(all[i].command, all[i].name, "--help", STDOUT_FILENO), 0);
        if (strstr(said, line) == NULL)
            fail_msg("%s --help has not\n%sbut\n%s", all[i].name, line, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_argument_is_no_finding),
        cmocka_unit_test(checks_are_listed_as_text_and_as_json),
        cmocka_unit_test(help_tells_how_long_each_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
