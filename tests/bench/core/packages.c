/* packages: what a library costs where code of ours stands in its place, side by side: msgpack-c's
 * unpacker, cJSON's parser and printer, and CZMQ's messages. libcurl's side is in requests.c;
 * msgpack-c's packer is what `messages` measures, as the codec writes with it.
 *
 * What must stay true: the library does no more than what it is measured for (a tree, and none of
 * the reading of fields that follows), so that the difference is the least there would be. */
#include "proto/base/must.h"
#include "proto/kube/documents/json.h"
#include "proto/kube/documents/json_build.h"
#include "proto/kube/extenders/extender_wire.h"
#include "tests/bench/core/clock.h"
#include "tests/bench/core/cluster.h"
#include "tests/bench/core/json_text.h"
#include "tests/bench/core/sections.h"

#include <cjson/cJSON.h>
#include <czmq.h>
#include <msgpack.h>

struct trial {
    struct str bytes;
    struct arena arena;
    struct strs names;
    struct buffer out;
    msgpack_unpacked tree;
    void *from, *to; /* sockets */
    zmq_msg_t part;
};

struct pairing {
    const char *what, *ours, *library;
    void (*by_us)(void *), (*by_library)(void *);
};

/* ---- reading a message ---- */

static void decode(void *state)
{
    struct trial *t = state;
    struct byte_cursor in = {(const uint8_t *)t->bytes.at,
                             (const uint8_t *)t->bytes.at + t->bytes.len};
    static struct pod_set set;
    arena_reset(&t->arena);
    must(codec_decode(message_info[MSG_pod_set].record, &set, &in, &t->arena));
}

static void unpack(void *state)
{
    struct trial *t = state;
    size_t used = 0;
    must(msgpack_unpack_next(&t->tree, t->bytes.at, t->bytes.len, &used) == MSGPACK_UNPACK_SUCCESS);
}

/* ---- reading an object ---- */

static void parse(void *state)
{
    struct trial *t = state;
    struct str error;
    arena_reset(&t->arena);
    struct kube_json *json = kube_json_parse(t->bytes, &error, &t->arena);
    must(json != NULL);
    kube_json_free(&json);
}

static void parse_by_cjson(void *state)
{
    struct trial *t = state;
    cJSON *json = cJSON_ParseWithLength(t->bytes.at, t->bytes.len);
    must(json != NULL);
    cJSON_Delete(json);
}

/* ---- the names of nodes, for an extender ---- */

#define NAMES 1000

static void write_names(void *state)
{
    struct trial *t = state;
    struct wire_nodes ask = {.pod = STR_LITERAL("{}"), .names = t->names};
    buffer_reset(&t->out);
    wire_nodes_body(&t->out, &ask);
}

static void build_names(void *state)
{
    struct trial *t = state;
    buffer_reset(&t->out);
    cJSON *body = json_build();
    json_add_raw(body, "Pod", "{}");
    json_add_null(body, "Nodes");
    json_add_texts(body, "NodeNames", &t->names);
    json_build_print(&t->out, body);
}

/* ---- a message through a socket, two parts as at a door ---- */

static void send_parts(void *state)
{
    struct trial *t = state;
    must(zmq_send(t->from, "peer", 4, ZMQ_SNDMORE | ZMQ_DONTWAIT) == 4);
    must(zmq_send(t->from, t->bytes.at, t->bytes.len, ZMQ_DONTWAIT) >= 0);
    must(zmq_msg_recv(&t->part, t->to, ZMQ_DONTWAIT) == 4);
    must(zmq_msg_recv(&t->part, t->to, ZMQ_DONTWAIT) >= 0);
}

static void send_zmsg(void *state)
{
    struct trial *t = state;
    zmsg_t *m = zmsg_new();
    zmsg_addmem(m, "peer", 4);
    zmsg_addmem(m, t->bytes.at, t->bytes.len);
    must(zmsg_send(&m, t->from) == 0);
    m = zmsg_recv(t->to);
    must(zmsg_size(m) == 2);
    zmsg_destroy(&m);
}

/* ---- the rows ---- */

static void tell(struct report *r, const struct core_options *o, const struct pairing *p,
                 struct trial *t)
{
    double ours = clock_ns_of(p->by_us, t, o->seconds / 8);
    double library = clock_ns_of(p->by_library, t, o->seconds / 8);
    report_row(r,
               (struct cell[]){TEXT(p->what), TEXT(p->ours), TEXT(p->library), NUMBER(t->bytes.len),
                               NUMBER(ours), NUMBER(library), NUMBER(library / ours)});
}

static void tell_reading(struct report *r, const struct core_options *o, struct trial *t)
{
    static const struct shape shape = {.nodes = 1000, .bound_per_node = 10, .zones = 3};
    struct buffer bytes = {0};
    struct arena a = {0};
    struct pod_set set = {.pod = {.priority = 0}};
    workload_pod(&workloads[0], &shape, 7, &set.pod, &a);
    codec_encode(message_info[MSG_pod_set].record, &set, &bytes);
    t->bytes = buffer_str(&bytes);
    msgpack_unpacked_init(&t->tree);
    tell(r, o, &(struct pairing){"pod_set", "the codec, fields", "msgpack-c, tree", decode, unpack},
         t);
    msgpack_unpacked_destroy(&t->tree);
    buffer_reset(&bytes);
    json_pod_event(&bytes, "MODIFIED", 7, 1000, "node-000007");
    t->bytes = buffer_str(&bytes);
    tell(r, o,
         &(struct pairing){"event of a pod", "kube_json, tree", "cJSON, tree", parse,
                           parse_by_cjson},
         t);
    buffer_free(&bytes);
    arena_free(&a);
}

static void tell_writing(struct report *r, const struct core_options *o, struct trial *t)
{
    struct arena a = {0};
    struct buffer ours = {0};
    t->names = (struct strs){NAMES, arena_take(&a, NAMES * sizeof(struct str))};
    for (unsigned i = 0; i < NAMES; i++)
        t->names.at[i] = arena_print(&a, "node-%06u", i);
    write_names(t);
    buffer_add_str(&ours, buffer_str(&t->out));
    build_names(t);
    must(str_equal(buffer_str(&ours), buffer_str(&t->out)));
    t->bytes = buffer_str(&ours);
    tell(r, o,
         &(struct pairing){"names of 1,000 nodes", "extender_wire, text", "cJSON, tree and text",
                           write_names, build_names},
         t);
    buffer_free(&ours);
    buffer_free(&t->out);
    arena_free(&a);
}

static void tell_sending(struct report *r, const struct core_options *o, struct trial *t)
{
    static const char bytes[350];
    static const char address[] = "inproc://bench";
    void *context = zmq_ctx_new();
    int unlimited = 0; /* else who sends learns late that there is room again */
    t->from = zmq_socket(context, ZMQ_PAIR);
    t->to = zmq_socket(context, ZMQ_PAIR);
    must(zmq_setsockopt(t->from, ZMQ_SNDHWM, &unlimited, sizeof(unlimited)) == 0);
    must(zmq_setsockopt(t->to, ZMQ_RCVHWM, &unlimited, sizeof(unlimited)) == 0);
    must(zmq_bind(t->to, address) == 0 && zmq_connect(t->from, address) == 0);
    must(zmq_msg_init(&t->part) == 0);
    t->bytes = (struct str){bytes, sizeof(bytes)};
    tell(r, o,
         &(struct pairing){"message, there and back", "zmq_msg", "CZMQ's zmsg", send_parts,
                           send_zmsg},
         t);
    zmq_msg_close(&t->part);
    zmq_close(t->from);
    zmq_close(t->to);
    zmq_ctx_term(context);
}

bool packages_run(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {
        {"what", COLUMN_TEXT}, {"ours", COLUMN_TEXT}, {"library", COLUMN_TEXT},
        {"bytes", 0},          {"ours_ns", 0},        {"library_ns", 0},
        {"times", 2}};
    struct trial t = {0};
    report_section(r, "packages", "CPU time of a library in the place of code of ours", columns,
                   sizeof(columns) / sizeof(columns[0]));
    tell_reading(r, o, &t);
    tell_writing(r, o, &t);
    tell_sending(r, o, &t);
    arena_free(&t.arena);
    return true;
}
