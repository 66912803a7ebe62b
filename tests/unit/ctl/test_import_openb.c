/* test_import_openb: tables of nodes and pods in openb's columns: what comes and goes, and what is
 * said of rows that contradict others, or themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/import/openb.h"

#define TEMPLATE "/tmp/berth-import-XXXXXX"
#define NODES    "sn,cpu_milli,memory_mib,gpu,model\n"
#define PODS                                                                                       \
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time\n"
#define BEGIN_US INT64_C(1000000000)

static struct trace trace;
static char nodes_path[sizeof(TEMPLATE)], pods_path[sizeof(TEMPLATE)];
static struct str error;

static int begin(void **state)
{
    (void)state;
    char *paths[] = {nodes_path, pods_path};
    for (int i = 0; i < 2; i++) {
        strcpy(paths[i], TEMPLATE);
        int fd = mkstemp(paths[i]);
        assert_true(fd >= 0);
        close(fd);
    }
    trace = (struct trace){0};
    error = (struct str){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    trace_free(&trace);
    unlink(nodes_path);
    unlink(pods_path);
    return 0;
}

static void put(const char *path, const char *heads, const char *rows)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", heads, rows);
    fclose(file);
}

static bool read_rows(const char *nodes, const char *pods)
{
    put(nodes_path, NODES, nodes);
    put(pods_path, PODS, pods);
    return openb_read(&trace, nodes_path, pods_path, BEGIN_US, &error);
}

static void refused_as(const char *nodes, const char *pods, const char *wanted)
{
    char said[512], whole[512];
    bool of_nodes = *pods == 0;
    assert_false(read_rows(nodes, pods));
    snprintf(said, sizeof(said), "%.*s", STR_ARG(error));
    snprintf(whole, sizeof(whole), "%s: %s", of_nodes ? nodes_path : pods_path, wanted);
    assert_string_equal(said, whole);
}

static void event_is(size_t i, enum message_type type, int64_t second)
{
    assert_true(i < trace.count);
    assert_int_equal(trace.at[i].message->type, type);
    assert_int_equal(trace.at[i].at_us, BEGIN_US + 1000000 * second);
}

static void nodes_come_and_pods_come_and_go(void **state)
{
    (void)state;
    assert_true(read_rows("a,4000,8192,2,T4\nb,8000,16384,0,\n",
                          "p,1000,1024,1,500,T4,LS,3,100\nq,1,1,0,0,,LS,4,\nr,1,1,0,0,,LS,5,5\n"));
    trace_sort(&trace);
    assert_int_equal(trace.count, 7);
    event_is(0, MSG_node_set, 0);
    event_is(1, MSG_node_set, 0);
    event_is(2, MSG_pod_set, 3);
    event_is(3, MSG_pod_set, 4);
    event_is(4, MSG_pod_set, 5);
    event_is(5, MSG_pod_gone, 5);
    event_is(6, MSG_pod_gone, 100);
    assert_true(str_is(trace.at[5].message->pod_gone.name, "r"));
}

static void who_is_there_twice_is_named(void **state)
{
    (void)state;
    refused_as("a,1,1,0,\n\nb,1,1,0,\na,9,1,0,\n", "", "line 5: is in line 2 already: a");
    refused_as("a,1,1,0,\n", "p,1,1,0,0,,LS,0,100\nq,1,1,0,0,,LS,0,9\np,2,1,0,0,,LS,10,200\n",
               "line 4: is in line 2 already: p");
    refused_as("a,1,1,0,\n", "p,1,1,0,0,,LS,0,5\np,1,1,0,0,,LS,0,5\n",
               "line 3: is in line 2 already: p");
}

static void a_pod_and_a_node_may_have_one_name(void **state)
{
    (void)state;
    assert_true(read_rows("a,1,1,0,\n", "a,1,1,0,0,,LS,0,5\n"));
    assert_int_equal(trace.count, 3);
}

static void who_goes_before_it_comes_is_named(void **state)
{
    (void)state;
    refused_as("a,1,1,0,\n", "p,1,1,0,0,,LS,0,1\nq,1,1,0,0,,LS,9,1\n",
               "line 3: deletion_time is before creation_time: q");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodes_come_and_pods_come_and_go, begin, end),
        cmocka_unit_test_setup_teardown(who_is_there_twice_is_named, begin, end),
        cmocka_unit_test_setup_teardown(a_pod_and_a_node_may_have_one_name, begin, end),
        cmocka_unit_test_setup_teardown(who_goes_before_it_comes_is_named, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
