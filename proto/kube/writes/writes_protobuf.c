/* writes_protobuf: the two bodies that every pod needs, in protobuf, because a server spends far
 * less on reading that than on reading JSON. The one idea: field for field what writes.c says in
 * JSON, with the numbers of generated.proto. What must stay true: both forms make the same object,
 * which tests/wire asks of a real server. */
#include "proto/kube/documents/protobuf_put.h"
#include "proto/kube/writes/writes.h"

static void put_meta(struct buffer *out, struct str name, struct str space, struct str uid)
{
    size_t meta = protobuf_open(out, 1);
    protobuf_put_text(out, 1, name);
    protobuf_put_text(out, 3, space);
    protobuf_put_text(out, 5, uid);
    protobuf_close(out, meta);
}

void writes_binding_protobuf(struct buffer *out, const struct bind *bind)
{
    size_t raw = protobuf_begin(out, STR_LITERAL("v1"), STR_LITERAL("Binding"));
    put_meta(out, bind->name, bind->namespace_name, bind->uid);
    size_t target = protobuf_open(out, 2);
    protobuf_put_text(out, 1, STR_LITERAL("Node"));
    protobuf_put_text(out, 3, bind->node_name);
    protobuf_close(out, target);
    protobuf_close(out, raw);
}

static void put_reference(struct buffer *out, uint32_t field, const struct writes_object *of)
{
    size_t reference = protobuf_open(out, field);
    protobuf_put_text(out, 1, of->kind);
    protobuf_put_text(out, 2, of->namespace_name);
    protobuf_put_text(out, 3, of->name);
    protobuf_put_text(out, 4, of->uid);
    protobuf_put_text(out, 5, of->api_version);
    protobuf_put_text(out, 6, of->resource_version);
    protobuf_close(out, reference);
}

static void put_note(struct buffer *out, struct str note)
{
    bool cut;
    struct buffer text = {0};
    note.len = writes_note_len(note, &cut);
    if (cut) {
        buffer_add_str(&text, note);
        buffer_add_text(&text, " ...");
        note = buffer_str(&text);
    }
    protobuf_put_text(out, 10, note);
    buffer_free(&text);
}

void writes_event_protobuf(struct buffer *out, const struct writes_event *event)
{
    size_t raw = protobuf_begin(out, STR_LITERAL("events.k8s.io/v1"), STR_LITERAL("Event"));
    put_meta(out, event->name, writes_event_namespace(event), (struct str){0});
    protobuf_put_time(out, 2, event->time_us);
    if (event->series_count > 0) {
        size_t series = protobuf_open(out, 3);
        protobuf_put_number(out, 1, event->series_count);
        protobuf_put_time(out, 2, event->series_last_us);
        protobuf_close(out, series);
    }
    protobuf_put_text(out, 4, event->controller);
    protobuf_put_text(out, 5, event->instance);
    protobuf_put_text(out, 6, event->action);
    protobuf_put_text(out, 7, event->reason);
    put_reference(out, 8, &event->regarding);
    put_note(out, event->note);
    protobuf_put_text(out, 11, event->type);
    protobuf_close(out, raw);
}
