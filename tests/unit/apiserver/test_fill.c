/* A full cluster from the beginning, many objects in one request, and lists of it by pages. */
#include "harness.h"

#include "tests/apiserver/fill.h"

static int setup(void **state)
{
    struct buffer why = {0};
    server_setup(state);
    assert_true(fill_start(&server, "nodes=4,pods=50,namespaces=2,replicas=20", &why));
    return 0;
}

static int count(const cJSON *list)
{
    return cJSON_GetArraySize(tree_get(list, "items"));
}

static void pods_run_on_the_nodes_in_turn(void **state)
{
    (void)state;
    cJSON *nodes = expect(200, "GET", "/api/v1/nodes", ""),
          *pods = expect(200, "GET", "/api/v1/pods", ""), *pod;
    assert_int_equal(count(nodes), 4);
    assert_int_equal(count(pods), 50);
    int n = 0;
    cJSON_ArrayForEach(pod, tree_get(pods, "items"))
    {
        char node[32];
        snprintf(node, sizeof node, "node-%06d", n++ % 4);
        assert_string_equal(tree_string(pod, "spec.nodeName", ""), node);
        assert_string_equal(tree_string(pod, "status.phase", ""), "Running");
        assert_string_equal(tree_string(pod, "kind", ""), "Pod");
        assert_int_equal(cJSON_GetArraySize(tree_get(pod, "metadata.ownerReferences")), 1);
    }
    cJSON_Delete(nodes);
    cJSON_Delete(pods);
}

static void each_pod_has_an_identity_of_its_own_and_is_found_by_its_name(void **state)
{
    (void)state;
    cJSON *pods = expect(200, "GET", "/api/v1/pods", ""), *pod;
    const char *last = "";
    cJSON_ArrayForEach(pod, tree_get(pods, "items"))
    {
        char path[256];
        const char *uid = tree_string(pod, "metadata.uid", "");
        assert_string_not_equal(uid, last);
        last = uid;
        snprintf(path, sizeof path, "/api/v1/namespaces/%s/pods/%s",
                 tree_string(pod, "metadata.namespace", ""), tree_string(pod, "metadata.name", ""));
        cJSON *same = expect(200, "GET", path, "");
        assert_true(tree_same(pod, same));
        cJSON_Delete(same);
    }
    cJSON_Delete(pods);
}

static void its_workloads_are_there_too(void **state)
{
    (void)state;
    cJSON *sets = expect(200, "GET", "/apis/apps/v1/replicasets", ""),
          *services = expect(200, "GET", "/api/v1/services", "");
    assert_int_equal(count(sets), 3);
    assert_int_equal(count(services), 1);
    cJSON_Delete(sets);
    cJSON_Delete(services);
}

static void a_wrong_setting_is_named(void **state)
{
    (void)state;
    struct buffer why = {0};
    assert_false(fill_start(&server, "nodes=4,colour=2", &why));
    assert_string_equal(why.at, "--fill colour=2: no such setting");
    buffer_reset(&why);
    assert_false(fill_start(&server, "nodes=0", &why));
    assert_non_null(strstr(why.at, "--fill nodes=0: expected a number from 1"));
    buffer_free(&why);
}

#define POD(name)                                                                                  \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"default\",\"name\":"    \
    "\"" name "\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"

static void a_list_is_created_in_one_request(void **state)
{
    (void)state;
    expect_only(200, "POST", "/fill", "{\"items\":[" POD("one") "," POD("two") "]}");
    cJSON *pods = expect(200, "GET", PODS, "");
    assert_int_equal(count(pods), 2);
    cJSON_Delete(pods);
    expect_only(409, "POST", "/fill", "{\"items\":[" POD("three") "," POD("two") "]}");
    expect_only(200, "GET", PODS "/three", "");
    expect_only(400, "POST", "/fill", "{\"items\":[{\"kind\":\"Pot\",\"apiVersion\":\"v1\"}]}");
    expect_only(400, "POST", "/fill", "[]");
    expect_only(405, "GET", "/fill", "");
}

/* All names of a list that is read by pages of this size, and how many pages there were. */
static int read_pages(const char *path, int limit, struct buffer *names)
{
    char target[512], token[256] = "";
    for (int pages = 1;; pages++) {
        snprintf(target, sizeof target, "%s%climit=%d%s%s", path,
                 strchr(path, '?') != NULL ? '&' : '?', limit, *token ? "&continue=" : "", token);
        cJSON *page = expect(200, "GET", target, ""), *item;
        assert_true(count(page) <= limit);
        cJSON_ArrayForEach(item, tree_get(page, "items"))
            buffer_print(names, "%s ", tree_string(item, "metadata.name", ""));
        snprintf(token, sizeof token, "%s", tree_string(page, "metadata.continue", ""));
        cJSON_Delete(page);
        if (*token == 0)
            return pages;
    }
}

static void expect_same_by_pages(const char *path, int limit, int pages)
{
    struct buffer names = {0}, all = {0};
    assert_int_equal(read_pages(path, limit, &names), pages);
    assert_int_equal(read_pages(path, 1000, &all), 1);
    assert_string_equal(names.at, all.at);
    buffer_free(&names);
    buffer_free(&all);
}

static void pages_are_the_list_whatever_is_asked_for(void **state)
{
    (void)state;
    expect_same_by_pages("/api/v1/pods", 7, 8);
    expect_same_by_pages("/api/v1/pods", 50, 1); /* nothing is beyond a page that is just full */
    expect_same_by_pages("/api/v1/namespaces/apps-0001/pods", 3, 4);
    expect_same_by_pages("/api/v1/pods?fieldSelector=spec.nodeName=node-000001", 5, 3);
}

static void a_page_says_how_many_are_beyond_it_as_of_its_version(void **state)
{
    (void)state;
    cJSON *first = expect(200, "GET", "/api/v1/pods?limit=10", "");
    assert_int_equal((int)tree_number(first, "metadata.remainingItemCount", -1), 40);
    char target[300];
    /* One that is behind the page goes, one comes. */
    expect_only(200, "DELETE", "/api/v1/namespaces/apps-0001/pods/app-000002-6d4cf56db6-00003",
                "{\"gracePeriodSeconds\":0}");
    make_pod("late");
    snprintf(target, sizeof target, "/api/v1/pods?limit=20&continue=%s",
             tree_string(first, "metadata.continue", ""));
    cJSON *second = expect(200, "GET", target, "");
    assert_int_equal(count(second), 20);
    assert_int_equal((int)tree_number(second, "metadata.remainingItemCount", -1), 20);
    cJSON *now = expect(200, "GET", "/api/v1/pods?limit=49", "");
    assert_int_equal((int)tree_number(now, "metadata.remainingItemCount", -1), 1);
    cJSON_Delete(first);
    cJSON_Delete(second);
    cJSON_Delete(now);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, server_teardown)
    const struct CMUnitTest tests[] = {
        TEST(pods_run_on_the_nodes_in_turn),
        TEST(each_pod_has_an_identity_of_its_own_and_is_found_by_its_name),
        TEST(its_workloads_are_there_too),
        TEST(a_wrong_setting_is_named),
        TEST(a_list_is_created_in_one_request),
        TEST(pages_are_the_list_whatever_is_asked_for),
        TEST(a_page_says_how_many_are_beyond_it_as_of_its_version),
    };
    return cmocka_run_group_tests_name("apiserver fill", tests, NULL, NULL);
}
