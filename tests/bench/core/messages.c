/* messages: what it costs to write and to read the messages of which there are many, and watch
 * events as they come from the API server.
 *
 * What must stay true: messages are as full as in a cluster (a pod with labels, tolerations and
 * terms), because empty ones are cheap; MB/s is of the encoded bytes or of the text. */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/objects/objects.h"
#include "tests/bench/core/clock.h"
#include "tests/bench/core/cluster.h"
#include "tests/bench/core/json_text.h"
#include "tests/bench/core/sections.h"
#include "tests/bench/core/sides.h"

#include <string.h>

static const struct shape shape = {.nodes = 1000, .bound_per_node = 10, .zones = 3};

/* ---- encoding and decoding ---- */

struct trial {
    const struct message *message;
    struct message decoded;
    struct buffer bytes;
    struct arena arena;
};

static void encode_once(void *state)
{
    struct trial *t = state;
    buffer_reset(&t->bytes);
    codec_encode(message_info[t->message->type].record, message_body_const(t->message), &t->bytes);
}

static void decode_once(void *state)
{
    struct trial *t = state;
    const uint8_t *at = (const uint8_t *)t->bytes.at;
    struct byte_cursor in = {at, at + t->bytes.len};
    arena_reset(&t->arena);
    t->decoded.type = t->message->type;
    must(codec_decode(message_info[t->message->type].record, message_body(&t->decoded), &in,
                      &t->arena));
}

static void tell(struct report *r, const struct core_options *o, const char *name,
                 const struct message *m)
{
    struct trial t = {.message = m};
    double encode = clock_ns_of(encode_once, &t, o->seconds / 8);
    double decode = clock_ns_of(decode_once, &t, o->seconds / 8);
    double bytes = (double)t.bytes.len;
    report_row(r, (struct cell[]){TEXT(name), NUMBER(bytes), NUMBER(encode), NUMBER(decode),
                                  NUMBER(bytes * 1e3 / encode), NUMBER(bytes * 1e3 / decode)});
    buffer_free(&t.bytes);
    arena_free(&t.arena);
}

static const struct workload *named(const char *name)
{
    for (size_t i = 0; i < workload_count; i++)
        if (strcmp(workloads[i].name, name) == 0)
            return &workloads[i];
    must(!"a workload of that name");
    return NULL;
}

static void tell_pods(struct report *r, const struct core_options *o, struct arena *a)
{
    struct pod plain, picky;
    workload_pod(named("plain"), &shape, 7, &plain, a);
    workload_pod(named("host-anti"), &shape, 7, &picky, a);
    struct message m = {.type = MSG_pod_set, .pod_set = {.pod = plain}};
    tell(r, o, "pod_set, plain", &m);
    m.pod_set.pod = picky;
    tell(r, o, "pod_set, anti-affin.", &m);
    m = (struct message){
        .type = MSG_attempt,
        .attempt = {.pod = plain, .attempts = 1, .cycle = 77, .epoch = 7, .sequence = 7000}};
    tell(r, o, "attempt", &m);
    m = (struct message){.type = MSG_map_request,
                         .map_request = {.cycle = 77,
                                         .round = 1,
                                         .pod = plain,
                                         .tie_break = TIE_BREAK_random,
                                         .seed = INT64_C(0x123456789abcdef),
                                         .step = MAP_STEP_map,
                                         .findings = {.skip = 0xff0, .no_terms = true},
                                         .alone = true}};
    tell(r, o, "map_request", &m);
    m = (struct message){.type = MSG_shard_pod, .shard_pod = {.pod = plain}};
    m.shard_pod.pod.node_name = cluster_node_name(7, a);
    tell(r, o, "shard_pod", &m);
}

static void tell_answers(struct report *r, const struct core_options *o, struct arena *a)
{
    struct pod pod;
    workload_pod(named("plain"), &shape, 7, &pod, a);
    struct str node = cluster_node_name(7, a);
    struct extreme extremes[] = {{STR_LITERAL("TaintToleration"), 0, 0},
                                 {STR_LITERAL("NodeAffinity"), 0, 0},
                                 {STR_LITERAL("PodTopologySpread"), 17, 23}};
    struct message m = {.type = MSG_map_result,
                        .map_result = {.cycle = 77,
                                       .round = 1,
                                       .nodes = 1000,
                                       .feasible = 998,
                                       .evaluated = 1000,
                                       .best_total = 573,
                                       .best_count = 3,
                                       .best_node = node,
                                       .extremes = {3, extremes}}};
    tell(r, o, "map_result", &m);
    m = (struct message){.type = MSG_bind,
                         .bind = {.uid = pod.uid,
                                  .namespace_name = pod.namespace_name,
                                  .name = pod.name,
                                  .node_name = node,
                                  .scheduler_name = pod.scheduler_name,
                                  .resource_version = 77}};
    tell(r, o, "bind", &m);
    m = (struct message){.type = MSG_outcome,
                         .outcome = {.uid = pod.uid,
                                     .namespace_name = pod.namespace_name,
                                     .name = pod.name,
                                     .cycle = 77,
                                     .result = OUTCOME_bound}};
    tell(r, o, "outcome", &m);
    m = (struct message){.type = MSG_node_set};
    cluster_node(&shape, 7, &m.node_set.node, a);
    tell(r, o, "node_set", &m);
}

bool messages_run(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {{"message", COLUMN_TEXT}, {"bytes", 0},
                                            {"encode_ns", 0},         {"decode_ns", 0},
                                            {"encode_MB_s", 0},       {"decode_MB_s", 0}};
    struct arena a = {0};
    report_section(r, "messages", "CPU time to encode and to decode", columns,
                   sizeof(columns) / sizeof(columns[0]));
    tell_pods(r, o, &a);
    tell_answers(r, o, &a);
    arena_free(&a);
    return true;
}

/* ---- watch events ---- */

struct reading {
    bool pod;
    struct buffer line; /* a watch event */
    struct str object;  /* inside it */
    struct arena arena;
    struct watcher_side *watcher;
    uint32_t version;
};

static void parse_once(void *state)
{
    struct reading *t = state;
    struct str error;
    arena_reset(&t->arena);
    struct kube_json *json = kube_json_parse(t->object, &error, &t->arena);
    must(json != NULL);
    kube_json_free(&json);
}

static void record_once(void *state)
{
    struct reading *t = state;
    struct str error;
    struct pod pod;
    struct node node;
    arena_reset(&t->arena);
    struct kube_json *json = kube_json_parse(t->object, &error, &t->arena);
    must(t->pod ? kube_object_pod(json, &pod, &t->arena, &error)
                : kube_object_node(json, &node, &t->arena, &error));
    kube_json_free(&json);
}

/* Every event is of another version, so that none is skipped as known. */
static void watch_once(void *state)
{
    struct reading *t = state;
    buffer_reset(&t->line);
    t->version++;
    if (t->pod)
        json_pod_event(&t->line, "MODIFIED", 7, t->version, "node-000007");
    else
        json_node_event(&t->line, "MODIFIED", 7, t->version);
    (void)watcher_side_data(t->watcher, t->pod ? "Pod" : "Node", buffer_str(&t->line));
}

static void print_once(void *state)
{
    struct reading *t = state;
    buffer_reset(&t->line);
    if (t->pod)
        json_pod_event(&t->line, "MODIFIED", 7, t->version, "node-000007");
    else
        json_node_event(&t->line, "MODIFIED", 7, t->version);
}

bool json_run(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {{"text", COLUMN_TEXT}, {"step", COLUMN_TEXT},
                                            {"bytes", 0},          {"us", 2},
                                            {"MB_s", 0},           {"per_s", 0}};
    static const char open[] = "\"object\":";
    report_section(r, "json", "CPU time to read a watch event", columns,
                   sizeof(columns) / sizeof(columns[0]));
    for (int pod = 1; pod >= 0; pod--) {
        struct reading t = {.pod = pod != 0, .version = 1000, .watcher = watcher_side_new(2)};
        print_once(&t);
        const char *at = strstr(t.line.at, open) + sizeof(open) - 1;
        struct str text = {at, (uint32_t)(t.line.len - (size_t)(at - t.line.at)) - 2};
        double bytes = (double)t.line.len;
        t.object = (struct str){memory_copy(text.at, text.len), text.len};
        double print = clock_ns_of(print_once, &t, o->seconds / 8);
        const struct {
            const char *name;
            double ns;
        } steps[] = {{"parse", clock_ns_of(parse_once, &t, o->seconds / 4)},
                     {"parse to record", clock_ns_of(record_once, &t, o->seconds / 4)},
                     {"watch to stream", clock_ns_of(watch_once, &t, o->seconds / 4) - print}};
        for (size_t i = 0; i < 3; i++)
            report_row(r, (struct cell[]){TEXT(pod ? "pod" : "node"), TEXT(steps[i].name),
                                          NUMBER(bytes), NUMBER(steps[i].ns / 1000),
                                          NUMBER(bytes * 1e3 / steps[i].ns),
                                          NUMBER(1e9 / steps[i].ns)});
        memory_free((void *)t.object.at);
        buffer_free(&t.line);
        arena_free(&t.arena);
        watcher_side_free(&t.watcher);
    }
    return true;
}
