/* test_model: a day that is made here, entry by entry, and what becomes of its pods with one
 * configuration and another. */
#include "ctl/record/model.h"
#include "proto/base/memory.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/release/release.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define START  (INT64_C(1700000000) * SECOND)

static struct arena memory;
static struct model *model;
static int64_t now_us;

static void begin(const char *profiles, bool ties_first)
{
    static struct scheduler_config config;
    struct str error;
    struct buffer text = {0};
    buffer_print(&text,
                 "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n%s",
                 profiles);
    assert_true(scheduler_config_parse(buffer_str(&text), release_features(RELEASE_OLDEST), &config,
                                       &memory, &error));
    buffer_free(&text);
    now_us = START;
    model = model_new(&(struct model_options){.profiles = config.profiles.at,
                                              .profile_count = config.profiles.count,
                                              .backoff_initial_s = 1,
                                              .backoff_max_s = 10,
                                              .ties_first = ties_first});
}

static int end(void **state)
{
    (void)state;
    model_free(&model);
    arena_free(&memory);
    return 0;
}

/* A message that came from there, or was said, a millisecond behind the one before. */
static void entry(enum process from, const struct message *m)
{
    struct buffer body = {0};
    codec_encode(message_info[m->type].record, message_body_const(m), &body);
    now_us += 1000;
    model_take(model,
               &(struct journal_entry){.kind = from != 0 ? JOURNAL_delivery : JOURNAL_message,
                                       .process = from,
                                       .type = m->type,
                                       .body = buffer_str(&body)},
               now_us);
    buffer_free(&body);
}

static void mark(enum message_type type)
{
    entry(WATCHER, &(struct message){.type = type});
}

static void node(const char *name, int64_t cpu)
{
    struct quantity has[] = {{STR_LITERAL("cpu"), cpu},
                             {STR_LITERAL("memory"), INT64_C(8) << 30},
                             {STR_LITERAL("pods"), 110}};
    struct message m = {.type = MSG_node_set, .node_set.node = {.name = str_of(name)}};
    m.node_set.node.allocatable.at = has;
    m.node_set.node.allocatable.count = 3;
    entry(WATCHER, &m);
}

struct asked {
    const char *name, *node, *owner;
    int64_t cpu, priority;
    bool deleting;
};

static struct pod pod_of(const struct asked *a, struct quantity has[2])
{
    has[0] = (struct quantity){STR_LITERAL("cpu"), a->cpu};
    has[1] = (struct quantity){STR_LITERAL("memory"), INT64_C(1) << 28};
    struct pod p = {.uid = str_of(a->name),
                    .namespace_name = STR_LITERAL("default"),
                    .name = str_of(a->name),
                    .node_name = str_of(a->node != NULL ? a->node : ""),
                    .owner_uid = str_of(a->owner != NULL ? a->owner : ""),
                    .scheduler_name = STR_LITERAL("default-scheduler"),
                    .priority = a->priority,
                    .deleting = a->deleting,
                    .container_count = 1};
    p.request.at = p.score_request.at = p.usage.at = has;
    p.request.count = p.score_request.count = p.usage.count = 2;
    p.usage_score_cpu = a->cpu;
    p.usage_score_memory = INT64_C(1) << 28;
    return p;
}

static void pod(struct asked a)
{
    struct quantity has[2];
    entry(WATCHER, &(struct message){.type = MSG_pod_set, .pod_set.pod = pod_of(&a, has)});
}

static void attempt_of(struct asked a)
{
    struct quantity has[2];
    entry(QUEUE, &(struct message){.type = MSG_attempt, .attempt.pod = pod_of(&a, has)});
}

static void arrives(struct asked a)
{
    pod(a);
    attempt_of(a);
}

static void gone(const char *name)
{
    entry(WATCHER, &(struct message){.type = MSG_pod_gone,
                                     .pod_gone = {.uid = str_of(name),
                                                  .namespace_name = STR_LITERAL("default"),
                                                  .name = str_of(name)}});
}

/* The recorded scheduler made room with this pod. */
static void preempted(const char *name)
{
    struct victim victim = {
        .uid = str_of(name), .namespace_name = STR_LITERAL("default"), .name = str_of(name)};
    struct message m = {.type = MSG_preempt, .preempt.pod = {.uid = STR_LITERAL("x")}};
    m.preempt.victims.at = &victim;
    m.preempt.victims.count = 1;
    entry((enum process)0, &m);
}

static void foresee(const char *name, const char *where)
{
    struct buffer body = {0};
    const struct bind bind = {.uid = str_of(name), .node_name = str_of(where)};
    codec_encode(message_info[MSG_bind].record, &bind, &body);
    model_foresee(model, &(struct journal_entry){
                             .kind = JOURNAL_message, .type = MSG_bind, .body = buffer_str(&body)});
    buffer_free(&body);
}

static const struct fate *fate(const char *name)
{
    const struct fate *f = map_get(model_fates(model), str_of(name));
    assert_non_null(f);
    return f;
}

static void assert_on(const char *name, const char *where)
{
    char node_name[64];
    snprintf(node_name, sizeof(node_name), "%.*s", STR_ARG(fate(name)->node));
    assert_string_equal(node_name, where);
}

static void two_nodes(void)
{
    mark(MSG_snapshot_begin);
    node("a", 4000);
    node("b", 8000);
    mark(MSG_snapshot_end);
}

#define MOST                                                                                       \
    "profiles: [{schedulerName: default-scheduler, pluginConfig: [{name: NodeResourcesFit, args: " \
    "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}]}]\n"

static void the_configuration_decides(void **state)
{
    (void)state;
    begin("", true);
    two_nodes();
    arrives((struct asked){.name = "one", .cpu = 1000});
    assert_on("one", "b");
    end(NULL);
    begin(MOST, true);
    two_nodes();
    arrives((struct asked){.name = "one", .cpu = 1000});
    assert_on("one", "a");
}

static void what_was_decided_then_is_not_taken_over(void **state)
{
    (void)state;
    begin(MOST, true);
    two_nodes();
    arrives((struct asked){.name = "one", .cpu = 3000});
    pod((struct asked){.name = "one", .cpu = 3000, .node = "b"}); /* there it went then */
    arrives((struct asked){.name = "two", .cpu = 3000});
    model_end(model);
    assert_on("one", "a");
    assert_true(str_is(fate("one")->recorded, "b"));
    assert_on("two", "b"); /* a is full, as one is there */
    assert_true(model_room(model).cpu > 0);
}

static void an_attempt_may_come_before_its_pod(void **state)
{
    (void)state;
    begin("", true);
    two_nodes();
    attempt_of((struct asked){.name = "one", .cpu = 1000});
    assert_on("one", "b");
    pod((struct asked){.name = "one", .cpu = 1000});
    assert_on("one", "b");
}

static void of_equal_nodes_it_is_the_recorded_one(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        begin("", first != 0);
        mark(MSG_snapshot_begin);
        node("a", 4000);
        node("b", 4000);
        mark(MSG_snapshot_end);
        pod((struct asked){.name = "one", .cpu = 1000});
        foresee("one", "b");
        attempt_of((struct asked){.name = "one", .cpu = 1000});
        assert_on("one", first != 0 ? "a" : "b");
        end(NULL);
    }
    begin("", true);
}

static void who_waits_is_tried_when_there_is_room_and_its_backoff_is_over(void **state)
{
    (void)state;
    begin("", true);
    mark(MSG_snapshot_begin);
    node("a", 4000);
    pod((struct asked){.name = "old", .cpu = 4000, .node = "a"});
    mark(MSG_snapshot_end);
    arrives((struct asked){.name = "one", .cpu = 1000});
    assert_on("one", "");
    gone("old");
    assert_on("one", ""); /* for one second */
    now_us += 2 * SECOND;
    mark(MSG_view);
    assert_on("one", "a");
    int64_t waited = fate("one")->placed_us - fate("one")->seen_us;
    assert_true(waited >= SECOND && waited < 2 * SECOND);
}

static void victims_are_the_models_own(void **state)
{
    (void)state;
    begin("", true);
    mark(MSG_snapshot_begin);
    node("a", 4000);
    pod((struct asked){.name = "low", .cpu = 4000, .node = "a", .owner = "set"});
    pod((struct asked){.name = "other", .cpu = 4000, .node = "b"});
    mark(MSG_snapshot_end);
    preempted("other"); /* then; here nobody needs it */
    pod((struct asked){.name = "other", .cpu = 4000, .node = "b", .deleting = true});
    gone("other");
    assert_true(fate("other")->spared && !fate("other")->evicted && !fate("other")->gone);
    arrives((struct asked){.name = "high", .cpu = 3000, .priority = 10});
    assert_on("high", "a");
    assert_true(fate("low")->evicted);
    assert_true(str_is(fate("low")->evicted_by, "default/high"));
}

static void the_replacement_of_who_was_spared_is_left_out(void **state)
{
    (void)state;
    begin("", true);
    mark(MSG_snapshot_begin);
    node("a", 4000);
    pod((struct asked){.name = "web-1", .cpu = 1000, .node = "a", .owner = "web"});
    mark(MSG_snapshot_end);
    preempted("web-1");
    gone("web-1");
    arrives((struct asked){.name = "web-2", .cpu = 1000, .owner = "web"});
    arrives((struct asked){.name = "web-3", .cpu = 1000, .owner = "web"});
    assert_true(fate("web-2")->skipped);
    assert_on("web-2", "");
    assert_false(fate("web-3")->skipped);
    assert_on("web-3", "a");
}

static void who_is_not_in_a_later_snapshot_is_gone(void **state)
{
    (void)state;
    begin("", true);
    mark(MSG_snapshot_begin);
    node("a", 4000);
    pod((struct asked){.name = "old", .cpu = 4000, .node = "a"});
    mark(MSG_snapshot_end);
    arrives((struct asked){.name = "one", .cpu = 1000});
    mark(MSG_snapshot_begin);
    node("a", 4000);
    pod((struct asked){.name = "one", .cpu = 1000});
    mark(MSG_snapshot_end);
    assert_true(fate("old")->gone);
    attempt_of((struct asked){.name = "one", .cpu = 1000});
    assert_on("one", "a");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, end)
    const struct CMUnitTest tests[] = {
        TEST(the_configuration_decides),
        TEST(what_was_decided_then_is_not_taken_over),
        TEST(an_attempt_may_come_before_its_pod),
        TEST(of_equal_nodes_it_is_the_recorded_one),
        TEST(who_waits_is_tried_when_there_is_room_and_its_backoff_is_over),
        TEST(victims_are_the_models_own),
        TEST(the_replacement_of_who_was_spared_is_left_out),
        TEST(who_is_not_in_a_later_snapshot_is_gone),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
