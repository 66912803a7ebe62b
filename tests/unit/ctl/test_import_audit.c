/* test_import_audit: what of an audit log, and of a dump of what was there before it, comes and
 * goes, what of them is of no use, and what is said of files that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/import/audit.h"
#include "ctl/whatif/manifests.h"

#define TEMPLATE "/tmp/berth-import-XXXXXX"

static struct trace trace;
static char log_path[sizeof(TEMPLATE)], cluster_path[sizeof(TEMPLATE)];
static struct str error;
static unsigned entries;

static int begin(void **state)
{
    (void)state;
    char *paths[] = {log_path, cluster_path};
    for (int i = 0; i < 2; i++) {
        strcpy(paths[i], TEMPLATE);
        int fd = mkstemp(paths[i]);
        assert_true(fd >= 0);
        close(fd);
    }
    trace = (struct trace){0};
    error = (struct str){0};
    entries = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    trace_free(&trace);
    unlink(log_path);
    unlink(cluster_path);
    return 0;
}

static void append(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define NODE(name, cpu)                                                                            \
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"" name                                            \
    "\"},\"status\":{\"allocatable\":{\"cpu\":\"" cpu "\",\"pods\":\"110\"}}}"
#define META(name) "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"d\",\"uid\":\"u-" name "\"}"
#define BODY(name) META(name) ",\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}"
#define POD(name)  "{\"kind\":\"Pod\"," BODY(name) "}"

/* One line of the log. what: verb, resource, code, name and URI; a subresource behind a slash;
 * object: NULL, or what it was answered with; more: members of the entry, with a comma before. */
struct line {
    const char *verb, *resource, *name, *uri, *object, *more;
    int code;
};

static void entry(struct line e)
{
    char resource[64], text[4096];
    const char *sub = strchr(e.resource, '/');
    snprintf(resource, sizeof(resource), "%.*s",
             sub == NULL ? (int)strlen(e.resource) : (int)(sub - e.resource), e.resource);
    snprintf(text, sizeof(text),
             "{\"stage\":\"ResponseComplete\",\"verb\":\"%s\",\"requestURI\":\"%s\","
             "\"objectRef\":{\"resource\":\"%s\",\"namespace\":\"d\",\"name\":\"%s\","
             "\"subresource\":\"%s\"},\"responseStatus\":{\"code\":%d},"
             "\"stageTimestamp\":\"2026-01-01T00:00:%02uZ\"%s%s%s}\n",
             e.verb, e.uri != NULL ? e.uri : "", resource, e.name, sub != NULL ? sub + 1 : "",
             e.code != 0 ? e.code : 200, entries++, e.object != NULL ? ",\"responseObject\":" : "",
             e.object != NULL ? e.object : "", e.more != NULL ? e.more : "");
    append(log_path, text);
}

static bool read_all(bool with_cluster)
{
    return audit_read(&trace, log_path, with_cluster ? cluster_path : NULL, 36, &error);
}

/* All events in words, such as "+node a, +pod p, -pod p". */
static void events_are(const char *wanted, uint64_t passed_over)
{
    char all[1024] = "";
    size_t len = 0;
    for (size_t i = 0; i < trace.count; i++) {
        const struct message *m = trace.at[i].message;
        bool sets = m->type == MSG_node_set || m->type == MSG_pod_set;
        bool node = m->type == MSG_node_set || m->type == MSG_node_gone;
        struct str name = m->type == MSG_node_set    ? m->node_set.node.name
                          : m->type == MSG_node_gone ? m->node_gone.name
                          : m->type == MSG_pod_set   ? m->pod_set.pod.name
                                                     : m->pod_gone.name;
        len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s%s %.*s", i > 0 ? ", " : "",
                                sets ? "+" : "-", node ? "node" : "pod", STR_ARG(name));
    }
    assert_string_equal(all, wanted);
    assert_int_equal(trace.passed_over, passed_over);
}

static void read_is(const char *wanted, uint64_t passed_over)
{
    if (!read_all(false))
        fail_msg("%.*s", STR_ARG(error));
    events_are(wanted, passed_over);
}

/* It is refused, with the file and then this. */
static void refused_as(const char *path, bool with_cluster, const char *wanted)
{
    char said[512], whole[512];
    assert_false(read_all(with_cluster));
    snprintf(said, sizeof(said), "%.*s", STR_ARG(error));
    snprintf(whole, sizeof(whole), "%s: %s", path, wanted);
    assert_string_equal(said, whole);
}

/* ---- what was there before ---- */

static void before(const char *text)
{
    unlink(cluster_path);
    append(cluster_path, text);
}

static void cluster_is(const char *text, const char *wanted, uint64_t passed_over)
{
    trace_free(&trace);
    before(text);
    if (!read_all(true))
        fail_msg("%.*s", STR_ARG(error));
    events_are(wanted, passed_over);
}

static void cluster_fails(const char *text, const char *wanted)
{
    trace_free(&trace);
    before(text);
    refused_as(cluster_path, true, wanted);
}

static void items_are_of_the_kind_of_their_list(void **state)
{
    (void)state;
    cluster_is("{\"kind\":\"PodList\",\"items\":[{" BODY("p") "},{" BODY("q") "}]}",
               "+pod p, +pod q", 0);
    cluster_is("kind: NodeList\nitems:\n- metadata: {name: a}\n", "+node a", 0);
    cluster_is("{\"kind\":\"List\",\"items\":[" NODE("a", "1") "," POD("p") "]}", "+node a, +pod p",
               0);
    cluster_is(NODE("a", "1"), "+node a", 0);
    cluster_is("{\"kind\":\"List\",\"items\":[]}", "", 0); /* what kubectl prints of nothing */
}

static void pods_without_a_uid_are_not_taken_for_one(void **state)
{
    (void)state;
    cluster_is("kind: PodList\nitems:\n- metadata: {name: p, namespace: d}\n"
               "- metadata: {name: q, namespace: d}\n",
               "+pod p, +pod q", 0);
    assert_true(str_is(trace.at[0].message->pod_set.pod.uid, "d/p"));
    assert_true(str_is(trace.at[1].message->pod_set.pod.uid, "d/q"));
}

static void what_is_no_matter_in_a_dump_is_counted(void **state)
{
    (void)state;
    cluster_is(
        "kind: List\nitems:\n"
        "- {kind: Deployment, metadata: {name: w, uid: u1}}\n"
        "- {kind: Widget, metadata: {name: w, uid: u2}}\n"
        "- {kind: ConfigMap, metadata: {name: w}}\n"
        "- {kind: Service, metadata: {name: w}}\n"
        "- {kind: Node, metadata: {name: a}}\n"
        "- {kind: Pod, metadata: {name: p, namespace: d, uid: u}, status: {phase: Failed}}\n",
        "+node a", 4);
}

static void what_is_not_understood_in_a_dump_is_named(void **state)
{
    (void)state;
    cluster_fails("", "there is no document in it");
    cluster_fails("# nothing\n", "there is no document in it");
    cluster_fails("[]", "there is no document in it");
    cluster_fails("kind: pod\n",
                  "kind: no objects of kind pod are known here, did you mean \"Pod\"?");
    cluster_fails("kind: Widget\n", "kind: no objects of kind Widget are known here");
    cluster_fails("metadata: {name: a}\n", "kind: is missing");
    cluster_fails("17\n", "must be an object, not a number");
    cluster_fails("kind: Deployment\nmetadata: {name: w}\n",
                  "kind: no pods are made here of a Deployment");
    cluster_fails("kind: List\nitems: {}\n", "items: must be a list, not an object");
    cluster_fails("kind: List\nitem: []\n", "kind: no objects of kind List are known here, did "
                                            "you mean \"List\"?");
    cluster_fails("kind: Node\nmetadata: {name: a}\n---\nkind: PodList\nitems: [{}, 3]\n",
                  "document 2: items[0]: Pod : metadata.name: must not be empty");
    cluster_fails("kind: [\n", "line 2, column 1: did not find expected node content");
}

/* The same kinds as for berth simulate. */
static void kinds_of_no_matter_are_those_of_simulate(void **state)
{
    (void)state;
    static const char *const kinds[] = {"ConfigMap",
                                        "Secret",
                                        "ServiceAccount",
                                        "Role",
                                        "RoleBinding",
                                        "ClusterRole",
                                        "ClusterRoleBinding",
                                        "Ingress",
                                        "Widget",
                                        "NetworkPolicy",
                                        "Deployment",
                                        "HorizontalPodAutoscaler",
                                        "Event",
                                        "Gateway",
                                        "Endpoints",
                                        "EndpointSlice",
                                        "CronJob",
                                        "PodTemplate",
                                        "ControllerRevision",
                                        "LimitRange",
                                        "Lease",
                                        "ResourceQuota",
                                        "Job",
                                        "DaemonSet",
                                        "ReplicaSet",
                                        "StatefulSet",
                                        "ReplicationController"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct str kind = str_of(kinds[i]);
        char text[128];
        trace_free(&trace);
        snprintf(text, sizeof(text), "kind: %s\nmetadata: {name: w}\n", kinds[i]);
        before(text);
        bool passed = read_all(true), makes = !passed && strstr(error.at, "no pods are made");
        assert_int_equal(passed, manifests_ignores(kind));
        assert_int_equal(makes, manifests_makes_pods(kind));
    }
}

/* ---- the log ---- */

static void created(const char *resource, const char *name, const char *object)
{
    entry((struct line){"create", resource, name, .object = object, .code = 201});
}

/* A node and a pod, which all of these begin with. */
static void begun(void)
{
    created("nodes", "a", NODE("a", "1"));
    created("pods", "p", POD("p"));
}

static void what_was_only_tried_did_not_happen(void **state)
{
    (void)state;
    begun();
    const char *dry = "/api/v1/namespaces/d/pods/p?dryRun=All";
    entry((struct line){"create", "pods", "q", .uri = "/api/v1/pods?dryRun=All", .object = POD("q"),
                        .code = 201});
    entry((struct line){"update", "nodes", "a", .uri = "/x?a=b&dryRun=All&c",
                        .object = NODE("a", "2")});
    entry((struct line){"patch", "nodes", "a", .uri = "/x?dr%79Run=%41l%6C&force=true",
                        .object = NODE("a", "3")});
    entry(
        (struct line){"delete", "nodes", "a", .uri = "/x?%64ryRun=All", .object = NODE("a", "1")});
    entry((struct line){"delete", "pods", "p", .uri = dry, .object = POD("p")});
    entry((struct line){"patch", "pods", "r", .uri = dry, .object = POD("r"), .code = 201});
    read_is("+node a, +pod p", 6);
}

static void a_dry_run_may_be_asked_for_in_the_body(void **state)
{
    (void)state;
    begun();
    entry((struct line){"delete", "pods", "p", .object = POD("p"),
                        .more = ",\"requestObject\":{\"kind\":\"DeleteOptions\",\"dryRun\":"
                                "[\"All\"]}"});
    entry((struct line){"delete", "nodes", "a", .object = NODE("a", "1"),
                        .more = ",\"requestObject\":{\"kind\":\"DeleteOptions\",\"dryRun\":[]}"});
    read_is("+node a, +pod p, -node a", 1);
}

static void what_only_looks_like_a_dry_run_happened(void **state)
{
    (void)state;
    begun();
    static const char *const uris[] = {
        "/dryRun=All",   "/x?dryRun",      "/x?dryRun=",      "/x?dryRun=Al",   "/x?dryRun=Alle",
        "/x?dryRun=all", "/x?xdryRun=All", "/x?dryRun%3DAll", "/x?dryRun=Al%6", "/x?dryRun=Al%zz"};
    for (size_t i = 0; i < sizeof(uris) / sizeof(*uris); i++) {
        entry((struct line){"delete", "pods", "p", .uri = uris[i], .object = POD("p")});
        created("pods", "p", POD("p"));
    }
    assert_true(read_all(false));
    assert_int_equal(trace.count, 22);
    assert_int_equal(trace.passed_over, 0);
}

static void what_is_applied_by_the_server_is_created(void **state)
{
    (void)state;
    entry((struct line){"patch", "nodes", "a", .uri = "/x?fieldManager=k", .object = NODE("a", "1"),
                        .code = 201});
    entry((struct line){"patch", "pods", "p", .uri = "/x?fieldManager=k", .object = POD("p"),
                        .code = 201});
    entry((struct line){"patch", "pods", "p", .uri = "/x?fieldManager=k", .object = POD("p")});
    read_is("+node a, +pod p", 1);
}

static void a_patch_that_creates_must_tell_the_object(void **state)
{
    (void)state;
    begun();
    entry((struct line){"patch", "pods", "q", .code = 201});
    refused_as(log_path, false,
               "1 entries about nodes or pods come without the object: the audit policy must have "
               "the level RequestResponse for them");
}

static void what_is_deleted_together_goes(void **state)
{
    (void)state;
    begun();
    created("pods", "q", POD("q"));
    entry((struct line){"deletecollection", "pods", "", .uri = "/x?dryRun=All",
                        .object = "{\"kind\":\"PodList\",\"items\":[{" BODY("p") "}]}"});
    entry((struct line){"deletecollection", "pods", "",
                        .object = "{\"kind\":\"PodList\",\"items\":[{" BODY("p") "},{" BODY(
                            "x") "}," POD("q") "]}"});
    entry((struct line){"deletecollection", "pods", "",
                        .object = "{\"kind\":\"PodList\",\"items\":[]}"});
    entry((struct line){"deletecollection", "nodes", "",
                        .object = "{\"kind\":\"NodeList\",\"items\":[" NODE("a", "1") "]}"});
    read_is("+node a, +pod p, +pod q, -pod p, -pod q, -node a", 2);
}

/* As the API server decides it: the list has the pods as they were before. */
#define RUNS(name, phase, grace)                                                                   \
    "{" META(name) ",\"spec\":{\"nodeName\":\"a\",\"terminationGracePeriodSeconds\":" grace        \
                   "},\"status\":{\"phase\":\"" phase "\"}}"

static void what_runs_goes_when_its_kubelet_has_ended_it(void **state)
{
    (void)state;
    begun();
    for (int i = 0; i < 4; i++)
        created("pods", (const char *[]){"q", "r", "s", "t"}[i],
                (const char *[]){POD("q"), POD("r"), POD("s"), POD("t")}[i]);
    entry((struct line){"deletecollection", "pods", "",
                        .object =
                            "{\"kind\":\"PodList\",\"items\":[" RUNS("p", "Running", "30") "," RUNS(
                                "q", "Running", "0") "," RUNS("r", "Failed", "30") "]}"});
    entry((struct line){"delete", "pods", "p", .object = POD("p")});
    entry(
        (struct line){"deletecollection", "pods", "",
                      .object = "{\"kind\":\"PodList\",\"items\":[" RUNS("s", "Running", "30") "]}",
                      .more = ",\"requestObject\":{\"gracePeriodSeconds\":0}"});
    entry((struct line){"deletecollection", "pods", "", .uri = "/x?gracePeriodSeconds=0",
                        .object =
                            "{\"kind\":\"PodList\",\"items\":[" RUNS("t", "Running", "30") "]}"});
    read_is("+node a, +pod p, +pod q, +pod r, +pod s, +pod t, -pod q, -pod r, -pod p, -pod s, "
            "-pod t",
            0);
}

static void what_is_deleted_together_must_be_told(void **state)
{
    (void)state;
    begun();
    entry((struct line){"deletecollection", "pods", "", .object = NULL});
    entry((struct line){"deletecollection", "nodes", "", .object = "{\"kind\":\"Status\"}"});
    entry((struct line){"deletecollection", "pods", "", .object = "{\"kind\":\"PodList\"}"});
    refused_as(log_path, false,
               "3 entries about nodes or pods come without the object: the audit policy must have "
               "the level RequestResponse for them");
}

static void subresources_that_say_nothing_of_the_cluster_are_of_no_use(void **state)
{
    (void)state;
    begun();
    static const char *const resources[] = {"nodes/proxy",  "nodes/log",    "pods/proxy",
                                            "pods/exec",    "pods/binding", "pods/eviction",
                                            "pods/anything"};
    static const char *const verbs[] = {"create", "update", "patch", "delete", "deletecollection"};
    for (size_t r = 0; r < sizeof(resources) / sizeof(*resources); r++)
        for (size_t v = 0; v < sizeof(verbs) / sizeof(*verbs); v++) {
            bool node = strncmp(resources[r], "nodes", 5) == 0;
            entry((struct line){verbs[v], resources[r], node ? "a" : "p", .code = 201});
        }
    entry((struct line){"create", "pods/proxy", "p",
                        .object = "{\"status\":{\"phase\":\"Failed\"}}"});
    read_is("+node a, +pod p", 36);
}

static void a_status_tells_of_nodes_and_of_pods_that_end(void **state)
{
    (void)state;
    begun();
    entry((struct line){"patch", "nodes/status", "a", .object = NODE("a", "2")});
    entry((struct line){"patch", "pods/status", "p",
                        .object =
                            "{\"kind\":\"Pod\"," META("p") ",\"status\":{\"phase\":\"Running\"}}"});
    entry((struct line){"patch", "pods/status", "p",
                        .object =
                            "{\"kind\":\"Pod\"," META("p") ",\"status\":{\"phase\":\"Failed\"}}"});
    read_is("+node a, +pod p, +node a, -pod p", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(items_are_of_the_kind_of_their_list, begin, end),
        cmocka_unit_test_setup_teardown(pods_without_a_uid_are_not_taken_for_one, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_matter_in_a_dump_is_counted, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_understood_in_a_dump_is_named, begin, end),
        cmocka_unit_test_setup_teardown(kinds_of_no_matter_are_those_of_simulate, begin, end),
        cmocka_unit_test_setup_teardown(what_was_only_tried_did_not_happen, begin, end),
        cmocka_unit_test_setup_teardown(a_dry_run_may_be_asked_for_in_the_body, begin, end),
        cmocka_unit_test_setup_teardown(what_only_looks_like_a_dry_run_happened, begin, end),
        cmocka_unit_test_setup_teardown(what_is_applied_by_the_server_is_created, begin, end),
        cmocka_unit_test_setup_teardown(a_patch_that_creates_must_tell_the_object, begin, end),
        cmocka_unit_test_setup_teardown(what_is_deleted_together_goes, begin, end),
        cmocka_unit_test_setup_teardown(what_runs_goes_when_its_kubelet_has_ended_it, begin, end),
        cmocka_unit_test_setup_teardown(what_is_deleted_together_must_be_told, begin, end),
        cmocka_unit_test_setup_teardown(subresources_that_say_nothing_of_the_cluster_are_of_no_use,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_status_tells_of_nodes_and_of_pods_that_end, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
