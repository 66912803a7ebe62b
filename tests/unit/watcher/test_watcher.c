/* The watcher's core in virtual time, with three small kinds: nodes and pods are required, spaces
 * are not. The test is the API server and the subscribers; what reaches a subscriber is compared
 * as words. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "watcher/watcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES, PODS, SPACES, PROBE, SOURCES };

static struct str meta(const struct kube_json *object, const char *field)
{
    return kube_json_text(kube_json_get(kube_json_get(object, "metadata"), field));
}

static bool node_of(const struct kube_json *o, struct message *m, struct str *key, struct arena *a,
                    struct str *error)
{
    if (kube_json_get(o, "bad") != NULL) {
        *error = arena_print(a, "Node %.*s: bad: is there", STR_ARG(meta(o, "name")));
        return false;
    }
    m->type = MSG_node_set;
    m->node_set.node.name = arena_copy(a, meta(o, "name"));
    m->node_set.node.unschedulable = kube_json_true(kube_json_get(o, "cordoned"));
    *key = arena_print(a, "node/%.*s", STR_ARG(meta(o, "name")));
    return true;
}

static void node_gone(const struct message *last, struct message *m)
{
    m->type = MSG_node_gone;
    m->node_gone.name = last->node_set.node.name;
}

static bool pod_of(const struct kube_json *o, struct message *m, struct str *key, struct arena *a,
                   struct str *error)
{
    (void)error;
    m->type = MSG_pod_set;
    m->pod_set.pod.uid = arena_copy(a, meta(o, "uid"));
    m->pod_set.pod.name = arena_copy(a, meta(o, "name"));
    m->pod_set.pod.node_name = arena_copy(a, kube_json_text(kube_json_get(o, "node")));
    str_to_i64(meta(o, "resourceVersion"), &m->pod_set.pod.resource_version);
    *key = arena_print(a, "pod/%.*s", STR_ARG(meta(o, "uid")));
    return true;
}

static void pod_gone(const struct message *last, struct message *m)
{
    m->type = MSG_pod_gone;
    m->pod_gone.uid = last->pod_set.pod.uid;
    m->pod_gone.name = last->pod_set.pod.name;
}

static bool space_of(const struct kube_json *o, struct message *m, struct str *key, struct arena *a,
                     struct str *error)
{
    (void)error;
    m->type = MSG_namespace_set;
    m->namespace_set.name = arena_copy(a, meta(o, "name"));
    *key = arena_print(a, "namespace/%.*s", STR_ARG(meta(o, "name")));
    return true;
}

static void space_gone(const struct message *last, struct message *m)
{
    m->type = MSG_namespace_gone;
    m->namespace_gone.name = last->namespace_set.name;
}

static const struct kube_resource kinds[] = {
    {"nodes", "Node", "/api/v1/nodes", "", true, node_of, node_gone, KUBE_always, NULL},
    {"pods", "Pod", "/api/v1/pods", "", true, pod_of, pod_gone, KUBE_always, NULL},
    {"spaces", "Space", "/api/v1/spaces", "", false, space_of, space_gone, KUBE_always, NULL},
};

struct fixture {
    struct watcher *w;
    struct moment now;
    struct outbox out;
    struct reflector_request asked[SOURCES]; /* the newest request of each */
    bool open[SOURCES];
    char path[SOURCES][512];
    unsigned distrusts;
    char words[4096];
    struct view view; /* the last one; its text is in stalest */
    char stalest[32];
    unsigned views;
};

static int set_up(void **state, const struct kube_resource *watched, uint32_t catch_up_from)
{
    struct fixture *f = memory_take(sizeof(*f));
    f->now = (struct moment){5000000000};
    f->w = watcher_new(&(struct watcher_options){.kinds = watched,
                                                 .kind_count = 3,
                                                 .epoch = 7,
                                                 .seed = 3,
                                                 .page_size = 100,
                                                 .catch_up_from = catch_up_from});
    *state = f;
    return 0;
}

static int setup(void **state)
{
    return set_up(state, kinds, 0);
}

static int setup_many(void **state)
{
    return set_up(state, kinds, 1);
}

/* Spaces matter to decisions, where they are served. */
static int setup_decisive(void **state)
{
    static struct kube_resource watched[3];
    memcpy(watched, kinds, sizeof(watched));
    watched[SPACES].offer = KUBE_maybe_decisive;
    return set_up(state, watched, 0);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    watcher_free(&f->w);
    outbox_free(&f->out);
    memory_free(f);
    return 0;
}

/* ---- the API server ---- */

static void pump(struct fixture *f)
{
    for (size_t i = 0; i < SOURCES; i++) {
        struct reflector_request r;
        if (!watcher_next(f->w, f->now, i, &r))
            continue;
        f->asked[i] = r;
        f->open[i] = true;
        f->distrusts += r.distrust;
        snprintf(f->path[i], sizeof(f->path[i]), "%.*s", STR_ARG(r.path));
    }
}

static void answer(struct fixture *f, size_t source, int status, const char *body)
{
    struct kube_response r = {.status = status,
                              .body = str_of(body),
                              .error = status ? "" : "https://a: connection refused",
                              .retry_after_s = -1};
    assert_true(f->open[source]);
    f->open[source] = false;
    watcher_response(f->w, f->now, source, f->asked[source].number, &r);
    pump(f);
}

static void event(struct fixture *f, size_t source, const char *line)
{
    assert_true(f->asked[source].watch);
    watcher_data(f->w, f->now, source, f->asked[source].number, str_of(line));
    pump(f);
}

#define OBJECT(name, version, uid, more)                                                           \
    "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\",\"uid\":\"" uid      \
    "\"}" more "}"
#define LIST(version, items)                                                                       \
    "{\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"

/* ---- the subscribers ---- */

static struct address subscriber(uint32_t peer)
{
    return (struct address){SCHEDULER, peer};
}

static void deliver(struct fixture *f, uint32_t peer, struct message m)
{
    struct delivery in = {.from = subscriber(peer), .message = &m};
    watcher_handle(f->w, f->now, &in, &f->out);
}

static void subscribe(struct fixture *f, uint32_t peer)
{
    struct message m = {.type = MSG_subscribe};
    m.subscribe.credit = 1000;
    deliver(f, peer, m);
}

static void barrier(struct fixture *f, uint32_t peer, int64_t id)
{
    struct message m = {.type = MSG_barrier};
    m.barrier.id = id;
    deliver(f, peer, m);
}

static void say(struct fixture *f, const char *what, struct str text)
{
    size_t len = strlen(f->words);
    if (len > 0)
        f->words[len++] = ' ';
    snprintf(f->words + len, sizeof(f->words) - len, "%s%.*s", what, STR_ARG(text));
}

static void read_message(struct fixture *f, const struct message *m)
{
    char id[24];
    switch (m->type) {
    case MSG_snapshot_begin: say(f, "[", (struct str){0}); break;
    case MSG_snapshot_end: say(f, "]", (struct str){0}); break;
    case MSG_node_set: say(f, "node:", m->node_set.node.name); break;
    case MSG_node_gone: say(f, "-node:", m->node_gone.name); break;
    case MSG_pod_set: say(f, "pod:", m->pod_set.pod.uid); break;
    case MSG_pod_gone: say(f, "-pod:", m->pod_gone.uid); break;
    case MSG_namespace_set: say(f, "space:", m->namespace_set.name); break;
    case MSG_namespace_gone: say(f, "-space:", m->namespace_gone.name); break;
    case MSG_barrier_reached:
        snprintf(id, sizeof(id), "%lld", (long long)m->barrier_reached.id);
        say(f, "barrier:", str_of(id));
        break;
    case MSG_view:
        f->view = m->view;
        f->views++;
        snprintf(f->stalest, sizeof(f->stalest), "%.*s", STR_ARG(m->view.stalest));
        break;
    default: say(f, "?", (struct str){0}); break;
    }
}

/* Lets the core publish and reads what peer got; other peers' copies are left out. */
static const char *got(struct fixture *f, uint32_t peer)
{
    struct arena arena = {0};
    f->words[0] = 0;
    watcher_tick(f->w, f->now, &f->out);
    for (size_t i = 0; i < f->out.count; i++) {
        struct message m = {0};
        assert_true(outbox_get(&f->out, i, &m, &arena));
        if (f->out.at[i].to.peer == peer)
            read_message(f, &m);
    }
    outbox_reset(&f->out);
    arena_free(&arena);
    return f->words;
}

static void pass_ms(struct fixture *f, int64_t ms)
{
    f->now = moment_after(f->now, span_of_ms(ms));
    pump(f);
}

/* Both objects, in whatever order. */
static void assert_snapshot(const char *words)
{
    if (strcmp(words, "[ pod:u node:n ]") != 0)
        assert_string_equal(words, "[ node:n pod:u ]");
}

/* Node n (version 5) and pod p (uid u, version 6) are listed and watched, and peer 1 has them. */
static void start(struct fixture *f)
{
    pump(f);
    subscribe(f, 1);
    answer(f, NODES, 200, LIST("10", OBJECT("n", "5", "nu", "")));
    answer(f, SPACES, 200, LIST("10", ""));
    answer(f, PODS, 200, LIST("10", OBJECT("p", "6", "u", "")));
    assert_snapshot(got(f, 1));
}

/* ---- the cases ---- */

static void nothing_is_said_before_every_kind_was_listed_or_refused(void **state)
{
    struct fixture *f = *state;
    pump(f);
    subscribe(f, 1);
    subscribe(f, 2);
    assert_string_equal(got(f, 1), "");
    answer(f, NODES, 200, LIST("10", OBJECT("n", "5", "nu", "")));
    subscribe(f, 1); /* asked again */
    assert_string_equal(got(f, 1), "");
    struct message down = {.type = MSG_peer_down};
    deliver(f, 2, down);
    answer(f, PODS, 200, LIST("10", OBJECT("p", "6", "u", "")));
    answer(f, SPACES, 500, ""); /* it may come yet */
    assert_string_equal(got(f, 1), "");
    f->now = moment_after(f->now, span_of_seconds(60));
    pump(f);
    answer(f, SPACES, 403, ""); /* what is not required is done without */
    assert_snapshot(got(f, 1));
    assert_string_equal(got(f, 2), "");
}

static void changes_follow_the_snapshot(void **state)
{
    struct fixture *f = *state;
    start(f);
    event(f, NODES, EVENT("ADDED", OBJECT("m", "11", "mu", "")));
    event(f, PODS, EVENT("DELETED", OBJECT("p", "12", "u", "")));
    assert_string_equal(got(f, 1), "node:m -pod:u");
}

static void what_the_stream_does_not_carry_is_not_said(void **state)
{
    struct fixture *f = *state;
    start(f);
    event(f, NODES, EVENT("MODIFIED", OBJECT("n", "11", "nu", ",\"status\":1")));
    assert_string_equal(got(f, 1), "");
    event(f, NODES, EVENT("MODIFIED", OBJECT("n", "12", "nu", ",\"cordoned\":true")));
    assert_string_equal(got(f, 1), "node:n");
}

static void an_older_version_never_replaces_a_newer_one(void **state)
{
    struct fixture *f = *state;
    start(f);
    event(f, PODS, EVENT("MODIFIED", OBJECT("p", "20", "u", "")));
    assert_string_equal(got(f, 1), "pod:u");
    event(f, PODS, EVENT("MODIFIED", OBJECT("p", "19", "u", "")));
    event(f, PODS, EVENT("DELETED", OBJECT("p", "18", "u", "")));
    event(f, PODS, EVENT("DELETED", OBJECT("p", "30", "another", "")));
    assert_string_equal(got(f, 1), "");
}

static void a_relist_reconciles(void **state)
{
    struct fixture *f = *state;
    start(f);
    answer(f, PODS, 410, "");
    answer(f, PODS, 200, LIST("50", OBJECT("q", "40", "v", "")));
    assert_string_equal(got(f, 1), "pod:v -pod:u");
    answer(f, NODES, 410, "");
    answer(f, NODES, 200, LIST("50", OBJECT("n", "5", "nu", "")));
    assert_string_equal(got(f, 1), "");
}

static void a_name_with_another_uid_is_gone_before_it_is_new(void **state)
{
    struct fixture *f = *state;
    start(f);
    answer(f, PODS, 410, "");
    answer(f, PODS, 200, LIST("50", OBJECT("p", "40", "v", "")));
    assert_string_equal(got(f, 1), "-pod:u pod:v");
    event(f, PODS, EVENT("ADDED", OBJECT("p", "60", "w", "")));
    assert_string_equal(got(f, 1), "-pod:v pod:w");
}

static void a_malformed_object_keeps_its_last_good_state(void **state)
{
    struct fixture *f = *state;
    start(f);
    event(f, NODES, EVENT("MODIFIED", OBJECT("n", "11", "nu", ",\"bad\":1")));
    event(f, NODES, EVENT("ADDED", OBJECT("m", "12", "mu", ",\"bad\":1")));
    event(f, NODES, EVENT("ADDED", "{\"metadata\":{\"resourceVersion\":\"13\"}}"));
    assert_string_equal(got(f, 1), "");
    answer(f, NODES, 410, ""); /* a list that shows them malformed removes nothing */
    answer(f, NODES, 200,
           LIST("50",
                OBJECT("n", "11", "nu", ",\"bad\":1") "," OBJECT("m", "12", "mu", ",\"bad\":1")));
    assert_string_equal(got(f, 1), "");
    event(f, NODES, EVENT("MODIFIED", OBJECT("m", "51", "mu", "")));
    event(f, NODES, EVENT("DELETED", OBJECT("n", "52", "nu", ",\"bad\":1")));
    assert_string_equal(got(f, 1), "node:m -node:n");
    struct buffer lines = {0};
    watcher_status(f->w, f->now, &lines);
    assert_non_null(strstr(lines.at, "malformed=3 "));
    buffer_free(&lines);
}

static void a_barrier_waits_for_lists_that_began_after_it(void **state)
{
    struct fixture *f = *state;
    start(f);
    barrier(f, 1, 77);
    pump(f);
    assert_string_equal(f->path[NODES], "/api/v1/nodes?limit=100");
    assert_string_equal(f->path[PODS], "/api/v1/pods?limit=100");
    assert_true(f->asked[SPACES].watch);
    answer(f, NODES, 200, LIST("20", OBJECT("n", "5", "nu", "")));
    assert_string_equal(got(f, 1), "");
    answer(f, PODS, 0, ""); /* it survives a failure */
    pass_ms(f, 1500);
    assert_string_equal(got(f, 1), "");
    answer(f, PODS, 200, LIST("21", OBJECT("q", "15", "v", "")));
    assert_string_equal(got(f, 1), "pod:v -pod:u barrier:77");
    assert_string_equal(got(f, 1), "");
}

static void a_barrier_waits_for_what_is_decisive(void **state)
{
    struct fixture *f = *state;
    start(f);
    barrier(f, 1, 77);
    pump(f);
    assert_string_equal(f->path[SPACES], "/api/v1/spaces?limit=100");
    answer(f, NODES, 200, LIST("20", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("20", OBJECT("p", "6", "u", "")));
    assert_string_equal(got(f, 1), "");
    answer(f, SPACES, 200, LIST("20", OBJECT("s", "15", "su", "")));
    assert_string_equal(got(f, 1), "space:s barrier:77");
    barrier(f, 1, 78);
    pump(f);
    answer(f, NODES, 200, LIST("30", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("30", OBJECT("p", "6", "u", "")));
    assert_string_equal(got(f, 1), "");
    answer(f, SPACES, 403, ""); /* may not be listed any more: nobody can wait for it */
    assert_string_equal(got(f, 1), "barrier:78");
    barrier(f, 1, 79);
    pump(f);
    answer(f, NODES, 200, LIST("40", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("40", OBJECT("p", "6", "u", "")));
    assert_string_equal(got(f, 1), "barrier:79");
}

static void barriers_share_a_list_but_not_one_under_way(void **state)
{
    struct fixture *f = *state;
    start(f);
    barrier(f, 1, 1);
    barrier(f, 1, 2);
    barrier(f, 1, 1); /* asked twice, answered once */
    pump(f);
    barrier(f, 1, 3); /* the lists of 1 and 2 are under way */
    answer(f, NODES, 200, LIST("20", ""));
    answer(f, PODS, 200, LIST("20", ""));
    assert_string_equal(got(f, 1), "-node:n -pod:u barrier:1 barrier:2");
    answer(f, NODES, 200, LIST("21", ""));
    answer(f, PODS, 200, LIST("21", ""));
    assert_string_equal(got(f, 1), "barrier:3");
}

static void a_barrier_of_an_earlier_life_does_not_answer_a_later_one(void **state)
{
    struct fixture *f = *state;
    start(f);
    barrier(f, 1, 1);
    pump(f);
    barrier(f, 9, 1);
    answer(f, NODES, 200, LIST("20", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("20", OBJECT("p", "6", "u", "")));
    assert_string_equal(got(f, 1), "");
    answer(f, NODES, 200, LIST("21", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("21", OBJECT("p", "6", "u", "")));
    assert_string_equal(got(f, 1), "barrier:1");
}

static void a_barrier_before_the_first_list_is_answered_behind_the_snapshot(void **state)
{
    struct fixture *f = *state;
    barrier(f, 1, 5);
    pump(f);
    subscribe(f, 1);
    answer(f, SPACES, 200, LIST("10", ""));
    answer(f, NODES, 200, LIST("10", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("10", ""));
    assert_string_equal(got(f, 1), "[ node:n ] barrier:5");
}

/* Of many pods only the newest version is asked for; the watch tells the rest. */
static void a_barrier_is_reached_without_a_list(void **state)
{
    struct fixture *f = *state;
    start(f);
    barrier(f, 1, 77);
    pump(f);
    assert_string_equal(f->path[NODES], "/api/v1/nodes?limit=1");
    assert_string_equal(f->path[PODS], "/api/v1/pods?limit=1");
    answer(f, NODES, 200, LIST("20", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("20", OBJECT("p", "6", "u", "")));
    assert_true(f->asked[NODES].watch && f->asked[PODS].watch);
    event(f, PODS, EVENT("ADDED", OBJECT("q", "19", "v", "")));
    event(f, NODES, EVENT("BOOKMARK", OBJECT("", "21", "", "")));
    assert_string_equal(got(f, 1), "pod:v");
    event(f, PODS, EVENT("DELETED", OBJECT("p", "20", "u", "")));
    assert_string_equal(got(f, 1), "-pod:u barrier:77");
    barrier(f, 1, 78); /* nothing has happened since */
    pump(f);
    answer(f, NODES, 200, LIST("21", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("20", OBJECT("q", "19", "v", "")));
    assert_string_equal(got(f, 1), "barrier:78");
    assert_true(f->asked[NODES].watch && f->asked[PODS].watch);
}

/* Who asks for it in time has one list for both; who is late is not waited for. */
static void the_first_lists_wait_for_a_barrier(void **state)
{
    for (int asked = 0; asked < 2; asked++) {
        struct fixture *f = *state;
        watcher_free(&f->w);
        f->w = watcher_new(&(struct watcher_options){.kinds = kinds,
                                                     .kind_count = 3,
                                                     .epoch = 7,
                                                     .seed = 3,
                                                     .barrier_wait = span_of_ms(300)});
        f->open[NODES] = f->open[PODS] = f->open[SPACES] = false;
        pump(f);
        assert_true(f->open[SPACES] && !f->open[NODES] && !f->open[PODS]);
        struct moment next = watcher_tick(f->w, f->now, &f->out);
        assert_true(moment_since(next, f->now).ns > 0); /* it does not spin */
        subscribe(f, 1);
        if (asked)
            barrier(f, 1, 5);
        else
            pass_ms(f, 301);
        pump(f);
        assert_true(f->open[NODES] && f->open[PODS]);
        answer(f, SPACES, 200, LIST("10", ""));
        answer(f, NODES, 200, LIST("10", OBJECT("n", "5", "nu", "")));
        answer(f, PODS, 200, LIST("10", ""));
        assert_string_equal(got(f, 1), asked ? "[ node:n ] barrier:5" : "[ node:n ]");
        assert_true(f->asked[NODES].watch); /* it is not listed again */
    }
}

static void a_barrier_that_a_snapshot_skips_is_told_again(void **state)
{
    struct fixture *f = *state;
    barrier(f, 1, 5);
    pump(f);
    answer(f, SPACES, 200, LIST("10", ""));
    answer(f, NODES, 200, LIST("10", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("10", ""));
    assert_string_equal(got(f, 1), "");
    subscribe(f, 1);
    assert_string_equal(got(f, 1), "[ node:n ] barrier:5");
    assert_string_equal(got(f, 1), "");
}

#define BOUND(version) EVENT("MODIFIED", OBJECT("p", version, "u", ",\"node\":\"n\""))

/* Of binds that come quickly one after the other. */
static void changes_that_nobody_waits_for_go_together(void **state)
{
    struct fixture *f = *state;
    start(f);
    event(f, PODS, BOUND("20"));
    assert_string_equal(got(f, 1), "pod:u");
    event(f, PODS, BOUND("21"));
    assert_string_equal(got(f, 1), "");
    pass_ms(f, 1);
    event(f, PODS, BOUND("22"));
    assert_string_equal(got(f, 1), "");
    pass_ms(f, 1);
    assert_string_equal(got(f, 1), "pod:u pod:u");
    event(f, PODS, BOUND("23"));
    assert_string_equal(got(f, 1), "");
    event(f, NODES, EVENT("ADDED", OBJECT("m", "24", "mu", ""))); /* that takes it along */
    assert_string_equal(got(f, 1), "pod:u node:m");
    for (int i = 0; i < 16; i++) {
        char line[256];
        assert_string_equal(got(f, 1), "");
        snprintf(line, sizeof(line), "%s%d%s",
                 "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"p\","
                 "\"resourceVersion\":\"",
                 30 + i, "\",\"uid\":\"u\"},\"node\":\"n\"}}\n");
        event(f, PODS, line);
    }
    assert_int_equal(strlen(got(f, 1)), 16 * 6 - 1); /* so many do not wait */
    pass_ms(f, 4);
    event(f, PODS, BOUND("60")); /* nor does one that comes alone */
    assert_string_equal(got(f, 1), "pod:u");
}

/* Those that wait are reached, however many come behind them; who was refused asks again. */
static void many_barriers_are_bounded(void **state)
{
    struct fixture *f = *state;
    start(f);
    for (int64_t id = 1; id <= 100; id++)
        barrier(f, 1, id);
    pump(f);
    answer(f, NODES, 200, LIST("20", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("20", OBJECT("p", "6", "u", "")));
    const char *words = got(f, 1);
    assert_memory_equal(words, "barrier:1 barrier:2 ", 20);
    assert_non_null(strstr(words, "barrier:64"));
    assert_null(strstr(words, "barrier:65"));
    barrier(f, 1, 100);
    pump(f);
    answer(f, NODES, 200, LIST("21", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("21", OBJECT("p", "6", "u", "")));
    assert_string_equal(got(f, 1), "barrier:100");
}

/* The questions of a scheduler that is gone do not keep its next life from asking. */
static void barriers_of_who_is_gone_make_room(void **state)
{
    struct fixture *f = *state;
    start(f);
    for (int64_t id = 1; id <= 64; id++)
        barrier(f, 9, id);
    deliver(f, 9, (struct message){.type = MSG_peer_down});
    barrier(f, 1, 77);
    pump(f);
    answer(f, NODES, 200, LIST("20", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("20", OBJECT("p", "6", "u", "")));
    const char *words = got(f, 1);
    assert_non_null(strstr(words, "barrier:64"));
    assert_non_null(strstr(words, "barrier:77"));
}

/* It was reached, so nothing is listed for it once more. */
static void a_barrier_that_is_asked_again_is_answered_again(void **state)
{
    struct fixture *f = *state;
    start(f);
    barrier(f, 1, 5);
    pump(f);
    answer(f, NODES, 200, LIST("20", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("20", OBJECT("p", "6", "u", "")));
    assert_string_equal(got(f, 1), "barrier:5");
    barrier(f, 1, 5);
    pump(f);
    assert_true(f->asked[NODES].watch && f->asked[PODS].watch);
    assert_string_equal(got(f, 1), "barrier:5");
    barrier(f, 9, 5); /* of another life, and so another question */
    pump(f);
    assert_string_equal(got(f, 1), "");
    assert_false(f->asked[NODES].watch || f->asked[PODS].watch);
    subscribe(f, 1); /* and its snapshot does not tell the answer to the former one */
    assert_string_equal(got(f, 1), "[ node:n pod:u ]");
    answer(f, NODES, 200, LIST("21", OBJECT("n", "5", "nu", "")));
    answer(f, PODS, 200, LIST("21", OBJECT("p", "6", "u", "")));
    assert_string_equal(got(f, 1), "barrier:5");
}

static void who_comes_later_hears_the_view_behind_its_snapshot(void **state)
{
    struct fixture *f = *state;
    start(f);
    unsigned before = f->views;
    pass_ms(f, 100);
    subscribe(f, 2);
    got(f, 2);
    assert_true(f->views > before);
    assert_true(f->view.synced);
}

static void the_view_is_told_once_a_second(void **state)
{
    struct fixture *f = *state;
    start(f);
    assert_int_equal(f->views, 1);
    assert_true(f->view.synced);
    for (int i = 0; i < 10; i++) {
        pass_ms(f, 100);
        got(f, 1);
    }
    assert_int_equal(f->views, 2);
    assert_int_equal(f->view.age_ms, 1000);
    event(f, NODES,
          "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"30\"}}}\n");
    pass_ms(f, 1000);
    got(f, 1);
    assert_int_equal(f->view.age_ms, 2000);
    assert_string_equal(f->stalest, "pods");
}

static void an_idle_cluster_stays_fresh_by_probes(void **state)
{
    struct fixture *f = *state;
    start(f);
    for (int i = 0; i < 80; i++) { /* stale-after is 90 s */
        pass_ms(f, 1000);
        if (f->open[PROBE]) {
            assert_string_equal(f->path[PROBE], "/version");
            answer(f, PROBE, 403, "");
        }
        got(f, 1);
        assert_in_range(f->view.age_ms, 0, 6000);
    }
}

/* The client hands over every good answer in pieces, the probe's as well. */
static void a_probe_may_be_answered_in_pieces(void **state)
{
    struct fixture *f = *state;
    start(f);
    for (int i = 0; i < 12; i++) {
        pass_ms(f, 1000);
        if (f->open[PROBE]) {
            watcher_data(f->w, f->now, PROBE, f->asked[PROBE].number, STR_LITERAL(""));
            watcher_data(f->w, f->now, PROBE, f->asked[PROBE].number, STR_LITERAL("{}"));
            answer(f, PROBE, 200, "");
        }
        got(f, 1);
        assert_in_range(f->view.age_ms, 0, 6000);
    }
}

static void one_busy_kind_does_not_make_the_others_look_stale(void **state)
{
    struct fixture *f = *state;
    start(f);
    for (int i = 0; i < 40; i++) {
        pass_ms(f, 1000);
        event(f, PODS, " ");
        if (f->open[PROBE])
            answer(f, PROBE, 200, "{}");
        got(f, 1);
        assert_in_range(f->view.age_ms, 0, 6000);
    }
}

static void a_slow_probe_does_not_end_a_busy_watch(void **state)
{
    struct fixture *f = *state;
    start(f);
    uint64_t before = f->asked[PODS].number;
    for (int i = 0; i < 40; i++) {
        pass_ms(f, 1000);
        event(f, PODS, " ");
        if (f->open[PROBE])
            answer(f, PROBE, 0, "");
    }
    assert_int_equal(f->asked[PODS].number, before);
}

static void a_dead_connection_is_found_and_replaced_once(void **state)
{
    struct fixture *f = *state;
    start(f);
    pass_ms(f, 6000);
    answer(f, PROBE, 0, "");
    assert_true(f->asked[NODES].watch);
    uint64_t before = f->asked[NODES].number;
    pass_ms(f, 1000);
    answer(f, PROBE, 0, "");
    assert_true(f->asked[NODES].number > before);
    assert_true(f->asked[NODES].watch && f->asked[PODS].watch && f->asked[SPACES].watch);
    assert_int_equal(f->distrusts, 1);
    got(f, 1);
    assert_in_range(f->view.age_ms, 7000, 7000);
    pass_ms(f, 4000);
    got(f, 1);
    assert_in_range(f->view.age_ms, 11000, 11000);
    event(f, NODES, "");
    event(f, PODS, "");
    got(f, 1); /* back to fresh is told at once */
    assert_in_range(f->view.age_ms, 0, 0);
}

/* The client asks on another connection from then on: the next probe says nothing of this one. */
static void a_request_on_a_silent_connection_takes_the_watches_along(void **state)
{
    struct fixture *f = *state;
    const struct kube_response silent = {
        .error = "timed out", .maybe_done = true, .retry_after_s = -1, .silent = true};
    start(f);
    pass_ms(f, 6000);
    uint64_t pods = f->asked[PODS].number, spaces = f->asked[SPACES].number;
    f->open[PROBE] = false;
    watcher_response(f->w, f->now, PROBE, f->asked[PROBE].number, &silent);
    pump(f);
    assert_true(f->asked[PODS].number > pods && f->asked[PODS].watch);
    assert_true(f->asked[SPACES].number > spaces && f->asked[SPACES].watch);
    assert_int_equal(f->distrusts, 0); /* the client has done so itself */
}

static void one_silent_watch_takes_the_others_along(void **state)
{
    struct fixture *f = *state;
    start(f);
    for (int i = 0; i < 17; i++) {
        pass_ms(f, 5000);
        if (f->open[PROBE])
            answer(f, PROBE, 200, "");
        event(f, PODS, " ");
    }
    uint64_t before = f->asked[PODS].number;
    pass_ms(f, 5000);
    assert_int_equal(f->distrusts, 1);
    assert_true(f->asked[PODS].number > before);
}

static void it_takes_exactly_what_is_addressed_to_it(void **state)
{
    (void)state;
    /* bus messages that every process gets, and that the bus itself answers */
    for (int t = 1; t < MSG_COUNT; t++) {
        if (message_info[t].record == NULL)
            continue;
        bool ours = (message_info[t].to & WATCHER) != 0 && message_info[t].to != ANY;
        assert_int_equal(watcher_takes(t), ours || t == MSG_peer_down);
    }
}

static void the_status_names_every_kind(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct buffer lines = {0};
    watcher_status(f->w, f->now, &lines);
    assert_non_null(strstr(lines.at, "synced=true\n"));
    assert_non_null(strstr(lines.at, "\nsubscribers=1\n"));
    assert_non_null(strstr(lines.at, "\nnodes=state=watching objects=1 version=10 heard_ms=0 "
                                     "lists=1 catch_ups=0 watches=1 events=0 "));
    assert_non_null(strstr(lines.at, "\npods="));
    assert_non_null(strstr(lines.at, "\nspaces="));
    buffer_free(&lines);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void trees_are_read_with_their_gate_alone(void **state)
{
    static struct kube_resource watched[3];
    (void)state;
    memcpy(watched, kinds, sizeof(watched));
    watched[SPACES].offer = KUBE_tree;
    for (int gate = 0; gate <= 1; gate++) {
        struct watcher *w = watcher_new(&(struct watcher_options){
            .kinds = watched, .kind_count = 3, .group_trees = gate != 0, .epoch = 7, .seed = 3});
        assert_int_equal(watcher_sources(w), 2 + gate + 1); /* and the probe */
        watcher_free(&w);
    }
}

/* ---- what it holds ---- */

static const struct holdings *held(struct fixture *f, const char *list)
{
    static struct message answer;
    static struct arena memory;
    struct message m = {.type = MSG_holdings_request,
                        .holdings_request = {.id = 4, .list = str_of(list)}};
    struct delivery in = {.from = {TOOL, 9}, .message = &m};
    arena_free(&memory);
    outbox_reset(&f->out);
    watcher_handle(f->w, f->now, &in, &f->out);
    assert_int_equal(f->out.count, 1);
    assert_true(outbox_get(&f->out, 0, &answer, &memory));
    outbox_reset(&f->out);
    return &answer.holdings;
}

static int64_t count_of(const struct holdings *h, const char *set)
{
    for (uint32_t i = 0; i < h->sets.count; i++)
        if (str_is(h->sets.at[i].name, set))
            return h->sets.at[i].count;
    return -1;
}

static void what_it_holds_is_told(void **state)
{
    struct fixture *f = *state;
    start(f);
    event(f, PODS, EVENT("ADDED", OBJECT("q", "11", "v", ",\"node\":\"n\"")));
    const struct holdings *h = held(f, "/api/v1/pods");
    assert_true(h->whole && h->last && h->epoch == 7);
    assert_int_equal(count_of(h, "/api/v1/nodes"), 1);
    assert_int_equal(count_of(h, "/api/v1/pods"), 2);
    assert_int_equal(count_of(h, "nodes"), 1);
    assert_int_equal(count_of(h, "assigned"), 1);
    assert_int_equal(count_of(h, "pending"), 0); /* of no scheduler that was asked about */
    assert_int_equal(h->things.count, 2);
    assert_int_equal(h->things.at[0].version + h->things.at[1].version, 6 + 11);
}

/* The end of a pod was swallowed: the kind is listed, and no other. */
static void a_kind_is_read_anew(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct str path = STR_LITERAL("/api/v1/pods");
    struct message m = {.type = MSG_reread, .reread.paths = {1, &path}};
    deliver(f, 9, m);
    pump(f);
    assert_true(f->asked[NODES].watch);
    assert_false(f->asked[PODS].watch);
    assert_int_equal(count_of(held(f, ""), "/api/v1/pods"), 1); /* nothing is forgotten before */
    assert_string_equal(got(f, 1), "");
    answer(f, PODS, 200, LIST("20", ""));
    assert_string_equal(got(f, 1), "-pod:u");
    assert_true(f->asked[PODS].watch);
}

int main(void)
{
    log_set_level(LOG_LEVEL_error);
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_said_before_every_kind_was_listed_or_refused),
        TEST(changes_follow_the_snapshot),
        TEST(what_the_stream_does_not_carry_is_not_said),
        TEST(an_older_version_never_replaces_a_newer_one),
        TEST(a_relist_reconciles),
        TEST(what_it_holds_is_told),
        TEST(a_kind_is_read_anew),
        TEST(a_name_with_another_uid_is_gone_before_it_is_new),
        TEST(a_malformed_object_keeps_its_last_good_state),
        TEST(a_barrier_waits_for_lists_that_began_after_it),
        cmocka_unit_test_setup_teardown(a_barrier_waits_for_what_is_decisive, setup_decisive,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_barrier_is_reached_without_a_list, setup_many, teardown),
        TEST(barriers_share_a_list_but_not_one_under_way),
        TEST(a_barrier_of_an_earlier_life_does_not_answer_a_later_one),
        TEST(a_barrier_before_the_first_list_is_answered_behind_the_snapshot),
        TEST(changes_that_nobody_waits_for_go_together),
        TEST(the_first_lists_wait_for_a_barrier),
        TEST(a_barrier_that_a_snapshot_skips_is_told_again),
        TEST(many_barriers_are_bounded),
        TEST(barriers_of_who_is_gone_make_room),
        TEST(a_barrier_that_is_asked_again_is_answered_again),
        TEST(who_comes_later_hears_the_view_behind_its_snapshot),
        TEST(the_view_is_told_once_a_second),
        TEST(an_idle_cluster_stays_fresh_by_probes),
        TEST(a_probe_may_be_answered_in_pieces),
        TEST(one_busy_kind_does_not_make_the_others_look_stale),
        TEST(a_slow_probe_does_not_end_a_busy_watch),
        TEST(a_dead_connection_is_found_and_replaced_once),
        TEST(a_request_on_a_silent_connection_takes_the_watches_along),
        TEST(one_silent_watch_takes_the_others_along),
        TEST(it_takes_exactly_what_is_addressed_to_it),
        TEST(the_status_names_every_kind),
        cmocka_unit_test(trees_are_read_with_their_gate_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
