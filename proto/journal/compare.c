/* compare: names the message and the field in which two sayings differ. The one idea: a field's
 * encoding is its value, so fields are compared as the bytes that they would travel as. What must
 * stay true: a body from a journal is a stranger's, and is only shown when it can be read. */
#include "proto/journal/compare.h"

#define SHOWN_MAX 2000 /* bytes of a message or a body in a report */

static const struct record *record_of(const struct journal_entry *e)
{
    bool known = e->kind == JOURNAL_message || e->kind == JOURNAL_delivery;
    return known && e->type > 0 && e->type < MSG_COUNT ? message_info[e->type].record : NULL;
}

void compare_name(const struct journal_entry *e, struct buffer *out)
{
    const struct record *r = record_of(e);
    const char *kind = journal_kind_name(e->kind);
    if (r == NULL)
        buffer_print(out, e->name.len > 0 ? "%s %.*s" : "%s", kind, STR_ARG(e->name));
    else if (e->kind == JOURNAL_message)
        buffer_print(out, "%s to %s", r->name, process_name((enum process)e->process));
    else
        buffer_print(out, "%s %s from %.*s", kind, r->name, STR_ARG(e->name));
}

static bool decode(const struct journal_entry *e, struct message *m, struct arena *a)
{
    const struct record *r = record_of(e);
    if (r == NULL || e->body.len == 0)
        return false;
    const uint8_t *at = (const uint8_t *)e->body.at;
    struct byte_cursor in = {at, at + e->body.len};
    *m = (struct message){.type = (enum message_type)e->type};
    a->limit = 64 * (size_t)e->body.len + 65536;
    return codec_decode(r, message_body(m), &in, a);
}

static bool field_differs(const struct field *f, const void *a, const void *b)
{
    struct buffer one = {0}, other = {0};
    codec_encode_fields(&f, 1, a, &one);
    codec_encode_fields(&f, 1, b, &other);
    bool differs = !str_equal(buffer_str(&one), buffer_str(&other));
    buffer_free(&one);
    buffer_free(&other);
    return differs;
}

/* The way to the first field that differs: "node", "pods[3].name", "term: 3, and was 2". The
 * recursion follows the declarations of messages, which end. NOLINTNEXTLINE(misc-no-recursion) */
static void name_field(const struct record *r, const void *a, const void *b, struct buffer *out)
{
    const struct field *f = r->fields;
    while (f < r->fields + r->field_count && !field_differs(f, a, b))
        f++;
    if (f == r->fields + r->field_count)
        return;
    const char *in_a = (const char *)a + f->offset, *in_b = (const char *)b + f->offset;
    buffer_print(out, "%s", f->name);
    if (f->kind == KIND_i64)
        buffer_print(out, ": %lld, and was %lld", (long long)*(const int64_t *)(const void *)in_a,
                     (long long)*(const int64_t *)(const void *)in_b);
    if (f->kind == KIND_one) {
        buffer_add_text(out, ".");
        name_field(f->of, in_a, in_b, out);
    }
    if (f->kind != KIND_list)
        return;
    const struct list *one = (const void *)in_a, *other = (const void *)in_b;
    for (uint32_t i = 0; i < one->count && i < other->count; i++) {
        const char *item = (const char *)one->at + i * f->of->size;
        const char *with = (const char *)other->at + i * f->of->size;
        if (codec_equal(f->of, item, with))
            continue;
        buffer_print(out, "[%u].", i);
        name_field(f->of, item, with, out);
        return;
    }
}

/* On one line, also what is no text, such as protobuf. */
static void add_shown(struct buffer *out, const char *label, struct str text)
{
    uint32_t len = text.len < SHOWN_MAX ? text.len : SHOWN_MAX;
    buffer_print(out, "\n  %s ", label);
    for (uint32_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        buffer_add(out, c < ' ' || c == 0x7f ? "." : text.at + i, 1);
    }
    buffer_add_text(out, text.len < SHOWN_MAX ? "" : " …");
}

static void show(struct buffer *out, const char *label, const struct journal_entry *e)
{
    struct arena memory = {0};
    struct buffer text = {0};
    struct message m;
    if (decode(e, &m, &memory))
        codec_print(record_of(e), message_body(&m), &text);
    else
        buffer_add_str(&text, e->body);
    add_shown(out, label, buffer_str(&text));
    buffer_free(&text);
    arena_free(&memory);
}

static void name_difference(const struct journal_entry *now, const struct journal_entry *said,
                            struct buffer *out)
{
    struct arena a = {0}, b = {0};
    struct message one, other;
    struct buffer field = {0};
    if (now->peer != said->peer)
        buffer_add_text(out, " goes to another peer");
    else if (now->epoch != said->epoch || now->sequence != said->sequence ||
             now->part != said->part)
        buffer_add_text(out, " has another place in its stream");
    else if (decode(now, &one, &a) && decode(said, &other, &b))
        name_field(record_of(now), message_body(&one), message_body(&other), &field);
    if (field.len > 0)
        buffer_print(out, " differs in %.*s", STR_ARG(buffer_str(&field)));
    else if (now->peer == said->peer)
        buffer_add_text(out, " differs");
    buffer_free(&field);
    arena_free(&a);
    arena_free(&b);
}

void compare_explain(const struct journal_entry *now, const struct journal_entry *said,
                     struct buffer *out)
{
    struct buffer name = {0}, other = {0};
    compare_name(now, &name);
    compare_name(said, &other);
    bool same = now->kind == said->kind && str_equal(buffer_str(&name), buffer_str(&other));
    buffer_add_str(out, buffer_str(&name));
    if (same)
        name_difference(now, said, out);
    else
        buffer_print(out, " is said, and it was %.*s", STR_ARG(buffer_str(&other)));
    if (said->body.len > 0)
        show(out, "said:", said);
    if (now->body.len > 0)
        show(out, "now: ", now);
    buffer_free(&name);
    buffer_free(&other);
}
