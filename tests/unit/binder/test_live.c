/* The binder as a process: binds, events and conditions on an API server, two instances with one
 * lease, and every way for one of them to go away. */
#include "tests/unit/binder/live_start.h"

#include "proto/kube/documents/json.h"

static void events_path(const struct live *l, char out[128])
{
    snprintf(out, 128, "/apis/events.k8s.io/v1/namespaces/%s/events", l->namespace_name);
}

/* Creates count pods named prefix-i and asks for their binds. */
static void bind_many(struct live *l, struct side *s, const char *prefix, int count)
{
    for (int i = 0; i < count; i++) {
        char name[64], uid[64];
        snprintf(name, sizeof(name), "%s-%d", prefix, i);
        live_pod(l, name, uid);
        live_bind(l, s, name, uid);
    }
}

static void pods_are_bound_with_one_event_each(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    char path[128];
    live_until(l, a->leading);
    assert_int_equal(a->term, 1);
    bind_many(l, a, "p", 200);
    live_until(l, a->bound == 200);
    assert_int_equal(a->refused, 0);
    events_path(l, path);
    live_until(l, live_occurs(l, path, "\"reason\":\"Scheduled\"") == 200);
    snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods", l->namespace_name);
    assert_int_equal(live_occurs(l, path, "\"nodeName\":\"n1\""), 200);
    live_until(l, a->in_flight == 0);
}

static void refusals_are_told(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    char uid[64];
    live_until(l, a->leading);
    live_bind(l, a, "nobody", "no-such-uid");
    live_until(l, a->refused == 1);
    assert_non_null(strstr(a->last, "not found"));
    live_pod(l, "p", uid);
    live_bind(l, a, "p", "another-uid");
    live_until(l, a->refused == 2);
    live_bind(l, a, "p", uid);
    live_until(l, a->bound == 1);
    live_bind(l, a, "p", uid); /* bound already, by us: still the truth */
    live_until(l, a->bound == 2);
}

static void say_failure(struct live *l, struct side *s, const char *name, const char *uid)
{
    struct message m = {.type = MSG_pod_failed};
    m.pod_failed = (struct pod_failed){
        .pod = {.uid = str_of(uid),
                .namespace_name = str_of(l->namespace_name),
                .name = str_of(name),
                .resource_version = 1,
                .generation = 1,
                .scheduler_name = STR_LITERAL("default-scheduler")},
        .reason = REASON_unschedulable,
        .message = STR_LITERAL("0/3 nodes are available: 3 Insufficient cpu. 100% x")};
    outbox_put(&s->out, (struct address){BINDER, 0}, &m);
}

static void a_failure_is_a_condition_and_an_event_then_a_series(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    char uid[64], path[128];
    live_until(l, a->leading);
    live_pod(l, "p", uid);
    say_failure(l, a, "p", uid);
    snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods/p", l->namespace_name);
    live_until(l, live_occurs(l, path, "\"type\":\"PodScheduled\"") == 1);
    assert_non_null(strstr(l->body.at, "3 Insufficient cpu. 100% x"));
    assert_non_null(strstr(l->body.at, "\"reason\":\"Unschedulable\""));
    events_path(l, path);
    live_until(l, live_occurs(l, path, "\"reason\":\"FailedScheduling\"") == 1);
    say_failure(l, a, "p", uid);
    live_until(l, live_occurs(l, path, "\"count\":2") == 1);
    assert_int_equal(live_occurs(l, path, "\"reason\":\"FailedScheduling\""), 1);
    live_bind(l, a, "p", uid);
    live_until(l, a->bound == 1);
}

/* ---- the audit log ---- */

/* The value of "key":"…" in a line, or "". */
static void member_of(const char *line, const char *key, char *out, size_t room)
{
    const char *at = strstr(line, key);
    size_t len = at ? strcspn(at + strlen(key), "\"") : 0;
    snprintf(out, room, "%.*s", (int)len, at ? at + strlen(key) : "");
}

/* The pod's part of the audit log: how often this user did that. */
static int audited(const struct live *l, const char *user, const char *verb, const char *pod)
{
    FILE *file = fopen(l->audit, "re");
    char *line = NULL, who[64], what[16], where[128], path[128];
    size_t room = 0;
    int count = 0;
    assert_non_null(file);
    snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods/%s", l->namespace_name, pod);
    while (getline(&line, &room, file) > 0) {
        member_of(line, "\"username\":\"", who, sizeof(who));
        member_of(line, "\"verb\":\"", what, sizeof(what));
        member_of(line, "\"requestURI\":\"", where, sizeof(where));
        count += strcmp(who, user) == 0 && strcmp(what, verb) == 0 && strcmp(where, path) == 0;
    }
    free(line);
    fclose(file);
    return count;
}

/* ---- preemption ---- */

static void victims_are_deleted_once_with_condition_and_event(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    static const char *const names[2] = {"low-a", "low-b"};
    char uids[2][64], path[128];
    live_until(l, a->leading);
    for (int i = 0; i < 2; i++) {
        live_pod(l, names[i], uids[i]);
        live_bind(l, a, names[i], uids[i]);
    }
    live_until(l, a->bound == 2);
    live_preempt(l, a, "top", names, uids);
    live_preempt(l, a, "another", names, uids); /* wants the same two */
    live_until(l, a->done == 2);
    live_preempt(l, a, "top", names, uids); /* and once more, when they terminate */
    live_until(l, a->done == 3);
    events_path(l, path);
    live_until(l, live_occurs(l, path, "\"reason\":\"Preempted\"") == 2);
    assert_int_equal(live_occurs(l, path, "\"note\":\"Preempted by pod top on node n1\""), 2);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods/%s", l->namespace_name, names[i]);
        assert_int_equal(live_occurs(l, path, "\"deletionTimestamp\""), 1);
        assert_int_equal(live_occurs(l, path, "\"deletionGracePeriodSeconds\":30"), 1);
        assert_int_equal(live_occurs(l, path, "\"type\":\"DisruptionTarget\""), 1);
        assert_int_equal(live_occurs(l, path, "\"reason\":\"PreemptionByScheduler\""), 1);
        assert_int_equal(audited(l, "scheduler-a", "delete", names[i]), 1);
    }
}

/* The server keeps the promise that the pod's UID is a precondition. */
static void another_pod_of_the_name_is_spared(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    static const char *const names[2] = {"p", "q"};
    char uids[2][64], path[128];
    struct buffer body = {0};
    struct writes_pod other = {.uid = STR_LITERAL("11111111-2222-3333-4444-555555555555")};
    live_until(l, a->leading);
    for (int i = 0; i < 2; i++) {
        live_pod(l, names[i], uids[i]);
        snprintf(uids[i], sizeof(uids[i]), "%s", other.uid.at);
    }
    live_preempt(l, a, "top", names, uids);
    live_until(l, a->done == 1);
    snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods/p", l->namespace_name);
    writes_deletion(&body, other.uid);
    assert_int_equal(live_call(l, KUBE_DELETE, path, body.at), 409);
    buffer_reset(&body);
    assert_true(
        writes_disruption(&body, &other, &(struct writes_preemptor){STR_LITERAL("s"), "pod"}, 0));
    snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods/p/status", l->namespace_name);
    assert_int_equal(live_call(l, KUBE_PATCH, path, body.at), 422);
    snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods", l->namespace_name);
    assert_int_equal(live_occurs(l, path, "\"deletionTimestamp\""), 0);
    assert_int_equal(live_occurs(l, path, "DisruptionTarget"), 0);
    assert_int_equal(live_occurs(l, path, "\"name\":\"q\""), 1);
    buffer_free(&body);
}

/* ---- claims ---- */

__attribute__((format(printf, 4, 5))) static int call(struct live *l, enum kube_method method,
                                                      const char *path, const char *format, ...)
{
    char body[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(body, sizeof(body), format, args);
    va_end(args);
    return live_call(l, method, path, body);
}

static struct kube_json *fetch(struct live *l, const char *path)
{
    struct arena a = {0};
    assert_int_equal(live_call(l, KUBE_GET, path, NULL), 200);
    struct kube_json *json = kube_json_parse(buffer_str(&l->body), NULL, &a);
    assert_non_null(json);
    arena_free(&a);
    return json;
}

/* UID and version of what lies at the path. */
static int64_t identify(struct live *l, const char *path, char uid[64])
{
    int64_t version = 0;
    struct kube_json *json = fetch(l, path);
    snprintf(uid, 64, "%.*s", STR_ARG(kube_json_text(kube_json_path(json, "metadata.uid"))));
    assert_true(
        str_to_i64(kube_json_text(kube_json_path(json, "metadata.resourceVersion")), &version));
    kube_json_free(&json);
    return version;
}

static void make_claim(struct live *l, const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "/api/v1/namespaces/%s/persistentvolumeclaims", l->namespace_name);
    assert_int_equal(call(l, KUBE_POST, path,
                          "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{"
                          "\"name\":\"%s\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
                          "\"storageClassName\":\"slow\",\"resources\":{\"requests\":{\"storage\":"
                          "\"1Gi\"}}}}",
                          name),
                     201);
}

static void make_volume(struct live *l, const char *name)
{
    assert_int_equal(call(l, KUBE_POST, "/api/v1/persistentvolumes",
                          "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{"
                          "\"name\":\"%s\"},\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},"
                          "\"accessModes\":[\"ReadWriteOnce\"],\"storageClassName\":\"slow\","
                          "\"hostPath\":{\"path\":\"/tmp/x\"}}}",
                          name),
                     201);
}

/* As the controller does when a claim has its volume. */
static void complete(struct live *l, const char *claim, const char *volume)
{
    assert_int_equal(call(l, KUBE_PATCH, claim,
                          "{\"metadata\":{\"annotations\":{\"pv.kubernetes.io/bind-completed\":"
                          "\"yes\"}},\"spec\":{\"volumeName\":\"%s\"}}",
                          volume),
                     200);
}

static void the_volume_names_its_claim(struct live *l, const char *volume, const char *uid)
{
    struct kube_json *json = fetch(l, volume);
    const struct kube_json *ref = kube_json_path(json, "spec.claimRef");
    assert_true(str_is(kube_json_text(kube_json_get(ref, "uid")), uid));
    assert_true(str_is(kube_json_text(kube_json_get(ref, "kind")), "PersistentVolumeClaim"));
    assert_true(str_is(kube_json_text(kube_json_path(json, "spec.hostPath.path")), "/tmp/x"));
    kube_json_free(&json);
    assert_int_equal(live_occurs(l, volume, "\"pv.kubernetes.io/bound-by-controller\":\"yes\""), 1);
}

/* One claim for a volume that is there, one that is to be provisioned; we are the controller. */
static void a_pod_is_bound_when_its_claims_are(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    char volume[128], chosen[128], made[128], name[64], uids[3][64];
    snprintf(name, sizeof(name), "pv-%s", l->namespace_name);
    snprintf(volume, sizeof(volume), "/api/v1/persistentvolumes/%s", name);
    snprintf(chosen, sizeof(chosen), "/api/v1/namespaces/%s/persistentvolumeclaims/chosen",
             l->namespace_name);
    snprintf(made, sizeof(made), "/api/v1/namespaces/%s/persistentvolumeclaims/made",
             l->namespace_name);
    live_until(l, a->leading);
    live_call(l, KUBE_POST, "/api/v1/nodes",
              "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"}}");
    make_volume(l, name);
    make_claim(l, "chosen");
    make_claim(l, "made");
    struct claim_binding claims[2] = {{.name = STR_LITERAL("made")},
                                      {.name = STR_LITERAL("chosen"), .volume_name = str_of(name)}};
    claims[0].resource_version = identify(l, made, uids[0]);
    claims[1].resource_version = identify(l, chosen, uids[1]);
    claims[1].volume_version = identify(l, volume, uids[2]);
    for (int i = 0; i < 2; i++) {
        claims[i].namespace_name = str_of(l->namespace_name);
        claims[i].uid = str_of(uids[i]);
    }
    live_pod(l, "p", uids[2]);
    live_bind_claims(l, a, "p", uids[2], claims);
    live_until(l, live_occurs(l, made, "\"volume.kubernetes.io/selected-node\":\"n1\"") == 1);
    the_volume_names_its_claim(l, volume, uids[1]);
    assert_int_equal(a->bound + a->refused, 0);
    complete(l, chosen, name);
    complete(l, made, name);
    live_until(l, a->bound + a->refused == 1);
    if (a->bound == 0)
        fail_msg("not bound: %s", a->last);
    live_bind_claims(l, a, "another", "no-such-uid", claims); /* the versions are long past */
    live_until(l, a->refused == 1);
    assert_non_null(strstr(a->last, "the object has been modified"));
    live_call(l, KUBE_DELETE, volume, NULL);
}

/* ---- a claim for extended resources ---- */

#define CLAIMS "/apis/resource.k8s.io/v1/namespaces/%s/resourceclaims"

static void bind_extended(struct live *l, struct side *s, const char *name, const char *uid)
{
    struct device_ask ask = {.class_name = STR_LITERAL("class"), .count = 1};
    struct device_request request = {
        .name = STR_LITERAL("container-0-request-0"), .exactly = true, .asks = {1, &ask}};
    struct extended_use use = {.container = STR_LITERAL("c"),
                               .resource = STR_LITERAL("example.com/gpu"),
                               .request = request.name};
    struct allocated_device device = {.request = request.name,
                                      .driver = STR_LITERAL("driver.example.com"),
                                      .pool = STR_LITERAL("pool"),
                                      .device = STR_LITERAL("device")};
    struct extended_claim extended = {
        .requests = {1, &request}, .allocation.devices = {1, &device}, .uses = {1, &use}};
    struct message m = {.type = MSG_bind,
                        .bind = {.uid = str_of(uid),
                                 .namespace_name = str_of(l->namespace_name),
                                 .name = str_of(name),
                                 .node_name = STR_LITERAL("n1"),
                                 .scheduler_name = STR_LITERAL("default-scheduler"),
                                 .resource_version = 1,
                                 .extended = {1, &extended}}};
    outbox_put(&s->out, (struct address){BINDER, 0}, &m);
}

/* The API server looks whether the pod asks for what its claim is to stand for. */
static void make_pod_with_device(struct live *l, const char *path, char uid[64])
{
    char pods[128];
    snprintf(pods, sizeof(pods), "/api/v1/namespaces/%s/pods", l->namespace_name);
    assert_int_equal(
        call(l, KUBE_POST, pods,
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
             "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{"
             "\"example.com/gpu\":\"1\"},\"limits\":{\"example.com/gpu\":\"1\"}}}]}}"),
        201);
    (void)identify(l, path, uid);
}

/* The pod knows its claim, which is its own, has the device and is reserved for it. When a bind
 * fails, the claim that was made for it is gone again. */
static void a_claim_is_made_for_extended_resources(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    char uid[64], claims[128], pod[128];
    snprintf(claims, sizeof(claims), CLAIMS, l->namespace_name);
    snprintf(pod, sizeof(pod), "/api/v1/namespaces/%s/pods/p", l->namespace_name);
    live_until(l, a->leading);
    make_pod_with_device(l, pod, uid);
    bind_extended(l, a, "p", "another-uid");
    live_until(l, a->bound + a->refused == 1);
    assert_int_equal(a->refused, 1);
    assert_int_equal(live_occurs(l, claims, "extended-resource-claim"), 0);
    bind_extended(l, a, "p", uid);
    live_until(l, a->bound + a->refused == 2);
    if (a->bound == 0)
        fail_msg("not bound: %s", a->last);
    assert_int_equal(live_occurs(l, claims, "\"name\":\"p-extended-resources-"), 1);
    assert_int_equal(live_occurs(l, claims, "\"device\":\"device\""), 1);
    assert_int_equal(live_occurs(l, claims, "\"resource\":\"pods\""), 1);
    assert_int_equal(live_occurs(l, pod, "\"requestName\":\"container-0-request-0\""), 1);
    assert_int_equal(live_occurs(l, pod, "\"resourceClaimName\":\"p-extended-resources-"), 1);
}

/* ---- two instances ---- */

static void the_other_takes_over_after_a_kill(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    live_until(l, a->leading);
    struct side *b = live_side(l, 'b');
    assert_false(b->leading);
    bind_many(l, a, "p", 20);
    live_reap(&a->pid, SIGKILL);
    live_until(l, b->leading);
    assert_int_equal(b->term, 2);
    bind_many(l, b, "q", 5);
    live_until(l, b->bound == 5);
}

static void a_clean_stop_hands_over_and_exits_with_0(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    int status = -1;
    live_until(l, a->leading);
    struct side *b = live_side(l, 'b');
    bind_many(l, a, "p", 100);
    live_until(l, a->bound >= 10);
    kill(a->pid, SIGTERM);
    live_until(l, waitpid(a->pid, &status, WNOHANG) == a->pid);
    a->pid = 0;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    live_until(l, b->leading);
    char path[128];
    snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods", l->namespace_name);
    int there = live_occurs(l, path, "\"nodeName\":\"n1\"");
    if (there != (int)a->bound)
        fail_msg("%d are bound, %u were told, %u refused: %s", there, a->bound, a->refused,
                 a->last);
}

static void a_restarted_binder_goes_on_in_a_new_term(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    live_until(l, a->leading);
    int64_t term = a->term;
    bus_close(&a->bus);
    live_reap(&a->pid, SIGKILL);
    *a = (struct side){0};
    a = live_side(l, 'a'); /* another identity: it must wait for the lease to run out */
    live_until(l, a->leading);
    assert_int_equal(a->term, term + 1);
}

/* Writes (but for reads and the lease) of this user that the server received after a time;
 * shows the first ones. */
static int writes_after(const struct live *l, const char *user, const char *since, int shown)
{
    FILE *file = fopen(l->audit, "re");
    char *line = NULL, who[64], verb[16], when[64];
    size_t room = 0;
    int count = 0;
    assert_non_null(file);
    while (getline(&line, &room, file) > 0) {
        member_of(line, "\"username\":\"", who, sizeof(who));
        member_of(line, "\"verb\":\"", verb, sizeof(verb));
        member_of(line, "\"requestReceivedTimestamp\":\"", when, sizeof(when));
        bool read = strcmp(verb, "get") == 0 || strcmp(verb, "list") == 0;
        bool lease = strstr(line, "\"resource\":\"leases\"") != NULL;
        if (strcmp(who, user) == 0 && !read && !lease && strcmp(when, since) > 0) {
            count++;
            if (count <= shown)
                print_message("late write: %s", line);
        }
    }
    free(line);
    fclose(file);
    return count;
}

/* Stopped in the midst of binding, for longer than the lease, and continued. */
static void a_stopped_leader_writes_nothing_when_it_goes_on(void **state)
{
    struct live *l = *state;
    struct side *a = live_side(l, 'a');
    char now[64], name[32], uid[300][64];
    live_until(l, a->leading);
    struct side *b = live_side(l, 'b');
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "p-%d", i);
        live_pod(l, name, uid[i]);
    }
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "p-%d", i);
        live_bind(l, a, name, uid[i]);
    }
    live_until(l, a->bound > 10 + (uint32_t)(getpid() % 200));
    kill(a->pid, SIGSTOP);
    live_until(l, b->leading);
    moment_print_micros(moment_wall_us(), now, sizeof(now));
    bind_many(l, b, "q", 5);
    live_until(l, b->bound == 5);
    uint32_t told = a->told;
    kill(a->pid, SIGCONT);
    int status;
    live_until(l,
               (a->told > told + 1 && !a->leading) || waitpid(a->pid, &status, WNOHANG) == a->pid);
    assert_int_equal(writes_after(l, "scheduler-a", now, 3), 0);
    assert_true(writes_after(l, "scheduler-b", now, 0) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pods_are_bound_with_one_event_each, live_open, live_close),
        cmocka_unit_test_setup_teardown(refusals_are_told, live_open, live_close),
        cmocka_unit_test_setup_teardown(a_failure_is_a_condition_and_an_event_then_a_series,
                                        live_open, live_close),
        cmocka_unit_test_setup_teardown(victims_are_deleted_once_with_condition_and_event,
                                        live_open, live_close),
        cmocka_unit_test_setup_teardown(another_pod_of_the_name_is_spared, live_open, live_close),
        cmocka_unit_test_setup_teardown(a_pod_is_bound_when_its_claims_are, live_open, live_close),
        cmocka_unit_test_setup_teardown(a_claim_is_made_for_extended_resources, live_open,
                                        live_close),
        cmocka_unit_test_setup_teardown(the_other_takes_over_after_a_kill, live_open, live_close),
        cmocka_unit_test_setup_teardown(a_clean_stop_hands_over_and_exits_with_0, live_open,
                                        live_close),
        cmocka_unit_test_setup_teardown(a_restarted_binder_goes_on_in_a_new_term, live_open,
                                        live_close),
        cmocka_unit_test_setup_teardown(a_stopped_leader_writes_nothing_when_it_goes_on, live_open,
                                        live_close),
    };
    cmocka_set_test_filter(getenv("BERTH_LIVE_ONLY")); /* a pattern; NULL: all */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
