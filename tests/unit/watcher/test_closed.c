/* What cannot be understood still counts: a pod is told with why, its node is closed to others for
 * as long, and a node that cannot be understood itself is closed in its last good state. With the
 * real readers of nodes and pods. */
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "watcher/watcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES, PODS, KINDS };

struct fixture {
    struct watcher *w;
    struct moment now;
    struct outbox out;
    struct reflector_request asked[KINDS];
    char words[4096];
};

static void pump(struct fixture *f)
{
    struct reflector_request r;
    for (size_t i = 0; i < KINDS; i++)
        if (watcher_next(f->w, f->now, i, &r))
            f->asked[i] = r;
}

static void answer(struct fixture *f, size_t source, const char *body)
{
    struct kube_response r = {
        .status = 200, .body = str_of(body), .error = "", .retry_after_s = -1};
    watcher_response(f->w, f->now, source, f->asked[source].number, &r);
    pump(f);
}

static void event(struct fixture *f, size_t source, const char *line)
{
    assert_true(f->asked[source].watch);
    watcher_data(f->w, f->now, source, f->asked[source].number, str_of(line));
    pump(f);
}

#define META(name, version)                                                                        \
    "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\",\"uid\":\"u" name                    \
    "\",\"resourceVersion\":\"" version "\"}"
#define NODE(name, version, cpu)                                                                   \
    "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version                          \
    "\"},\"spec\":{\"taints\":[{\"key\":\"own\",\"effect\":\"NoExecute\"}]},\"status\":{"          \
    "\"allocatable\":{\"cpu\":\"" cpu "\",\"pods\":\"110\"}}}"
#define POD(name, version, node, cpu)                                                              \
    "{" META(name, version) ",\"spec\":{\"nodeName\":\"" node "\",\"containers\":[{\"resources\":" \
                            "{\"requests\":{\"cpu\":\"" cpu "\"}}}]}}"
#define LIST(version, items)                                                                       \
    "{\"metadata\":{\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define WHY(name)                                                                                  \
    "(Pod ns/" name ": spec.containers[0].resources.requests.cpu: quantity \"1x\" is malformed)"

static void say_node(const struct node *node, struct buffer *out)
{
    buffer_print(out, " %.*s=", STR_ARG(node->name));
    for (uint32_t i = 0; i < node->taints.count; i++)
        buffer_print(out, "%.*s,", STR_ARG(node->taints.at[i].key));
    for (uint32_t i = 0; i < node->allocatable.count; i++)
        if (str_is(node->allocatable.at[i].name, "pods") ||
            str_is(node->allocatable.at[i].name, "cpu"))
            buffer_print(out, "%lld,", (long long)node->allocatable.at[i].amount);
}

static void say(const struct message *m, struct buffer *out)
{
    const struct pod *pod = &m->pod_set.pod;
    if (m->type == MSG_node_set)
        say_node(&m->node_set.node, out);
    else if (m->type == MSG_pod_set && pod->unreadable.len > 0)
        buffer_print(out, " %.*s@%.*s(%.*s)", STR_ARG(pod->name), STR_ARG(pod->node_name),
                     STR_ARG(pod->unreadable));
    else if (m->type == MSG_pod_set)
        buffer_print(out, " %.*s@%.*s", STR_ARG(pod->name), STR_ARG(pod->node_name));
    else if (m->type == MSG_pod_gone)
        buffer_print(out, " -%.*s", STR_ARG(m->pod_gone.name));
    else if (m->type == MSG_node_gone)
        buffer_print(out, " -%.*s", STR_ARG(m->node_gone.name));
}

/* What the subscriber was told since. */
static void expect(struct fixture *f, const char *words)
{
    struct arena arena = {0};
    struct buffer text = {0};
    buffer_print(&text, "%s", "");
    watcher_tick(f->w, f->now, &f->out);
    f->now = moment_after(f->now, span_of_ms(10)); /* what nobody waits for is told later */
    watcher_tick(f->w, f->now, &f->out);
    for (size_t i = 0; i < f->out.count; i++) {
        struct message m = {0};
        assert_true(outbox_get(&f->out, i, &m, &arena));
        say(&m, &text);
    }
    outbox_reset(&f->out);
    arena_free(&arena);
    assert_string_equal(text.at, words);
    buffer_free(&text);
}

static void expect_unreadable(struct fixture *f, const char *line)
{
    struct buffer lines = {0};
    watcher_status(f->w, f->now, &lines);
    if (strstr(lines.at, line) == NULL)
        fail_msg("no %s in %s", line, lines.at);
    buffer_free(&lines);
}

static int setup(void **state)
{
    static struct kube_resource kinds[KINDS];
    struct fixture *f = memory_take(sizeof(*f));
    kinds[NODES] = *kube_resource_of(STR_LITERAL("Node"));
    kinds[PODS] = *kube_resource_of(STR_LITERAL("Pod"));
    f->now = (struct moment){5000000000};
    f->w = watcher_new(&(struct watcher_options){
        .kinds = kinds, .kind_count = KINDS, .epoch = 7, .seed = 3, .page_size = 100});
    *state = f;
    pump(f);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    watcher_free(&f->w);
    outbox_free(&f->out);
    memory_free(f);
    return 0;
}

static void begin(struct fixture *f, const char *pods)
{
    struct message m = {.type = MSG_subscribe};
    struct delivery in = {.from = {SCHEDULER, 1}, .message = &m};
    answer(f, NODES, LIST("10", NODE("a", "1", "4") "," NODE("b", "2", "4")));
    answer(f, PODS, pods);
    m.subscribe.credit = 1000;
    watcher_handle(f->w, f->now, &in, &f->out);
}

static void a_pod_closes_its_node_until_it_is_understood(void **state)
{
    struct fixture *f = *state;
    begin(f, LIST("10", POD("p", "3", "a", "1")));
    expect(f, " a=own,4000,110, b=own,4000,110, p@a");
    event(f, PODS, EVENT("MODIFIED", POD("p", "11", "a", "1x")));
    expect(f, " a=own,berth/unreadable-object,4000, p@a" WHY("p"));
    event(f, NODES, EVENT("MODIFIED", NODE("a", "12", "8")));
    expect(f, " a=own,berth/unreadable-object,8000,");
    event(f, PODS, EVENT("ADDED", POD("q", "13", "a", "1x")));
    expect(f, " q@a" WHY("q"));
    event(f, PODS, EVENT("MODIFIED", POD("p", "14", "a", "2")));
    expect(f, " p@a"); /* q is still there */
    event(f, PODS, EVENT("DELETED", POD("q", "15", "a", "1x")));
    expect(f, " -q a=own,8000,110,");
}

static void a_pod_that_waits_is_told_with_why(void **state)
{
    struct fixture *f = *state;
    begin(f, LIST("10", POD("p", "3", "", "1x")));
    expect(f, " a=own,4000,110, b=own,4000,110, p@" WHY("p"));
    event(f, PODS, EVENT("MODIFIED", POD("p", "11", "b", "1x"))); /* somebody has bound it */
    expect(f, " b=own,berth/unreadable-object,4000, p@b" WHY("p"));
    event(f, PODS, EVENT("DELETED", POD("p", "12", "b", "1x")));
    expect(f, " -p b=own,4000,110,");
}

/* Whichever comes first. */
static void a_node_that_comes_behind_its_pods_is_closed(void **state)
{
    struct fixture *f = *state;
    begin(f, LIST("10", POD("p", "3", "c", "1x")));
    expect(f, " a=own,4000,110, b=own,4000,110, p@c" WHY("p"));
    event(f, NODES, EVENT("ADDED", NODE("c", "11", "4")));
    expect(f, " c=own,berth/unreadable-object,4000,");
}

static void a_node_is_closed_in_its_last_good_state(void **state)
{
    struct fixture *f = *state;
    begin(f, LIST("10", ""));
    expect(f, " a=own,4000,110, b=own,4000,110,");
    event(f, NODES, EVENT("MODIFIED", NODE("a", "11", "8x")));
    expect(f, " a=own,berth/unreadable-object,4000,");
    expect_unreadable(f, "unreadable=1");
    event(f, PODS, EVENT("ADDED", POD("p", "12", "a", "1x")));
    expect(f, " p@a" WHY("p"));
    event(f, PODS, EVENT("DELETED", POD("p", "13", "a", "1x")));
    expect(f, " -p");
    event(f, NODES, EVENT("MODIFIED", NODE("a", "14", "8")));
    expect(f, " a=own,8000,110,");
    event(f, NODES, EVENT("ADDED", NODE("c", "15", "8x"))); /* never understood */
    expect(f, " c=own,berth/unreadable-object,");
    event(f, NODES, EVENT("DELETED", NODE("c", "16", "8x")));
    expect(f, " -c");
    expect_unreadable(f, "unreadable=0");
}

int main(void)
{
    log_set_level(LOG_LEVEL_error);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_pod_closes_its_node_until_it_is_understood, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_pod_that_waits_is_told_with_why, setup, teardown),
        cmocka_unit_test_setup_teardown(a_node_that_comes_behind_its_pods_is_closed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_node_is_closed_in_its_last_good_state, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
