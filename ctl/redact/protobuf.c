/* protobuf: a walk through messages by the table of what is read of them. What must stay true: a
 * length is compared with what is left before it is believed, and what no process reads is blotted
 * out. */
#include "ctl/redact/documents.h"
#include "ctl/redact/rules.h"
#include "proto/kube/documents/protobuf_forms.h"

#include <string.h>

#define DEPTH_MAX 24 /* as deep as messages are read */
#define MAGIC     4

static const char magic[MAGIC] = {'k', '8', 's', 0};

/* ---- what is read, by numbers ---- */

/* What is written besides, and comes back in answers. */
#define WRITTEN                                                                                    \
    SHAPE(written_meta)                                                                            \
    FIELD(1, text, "name", none)                                                                   \
    FIELD(3, text, "namespace", none)                                                              \
    FIELD(5, text, "uid", none)                                                                    \
    FIELD(6, text, "resourceVersion", none)                                                        \
    END(written_meta)                                                                              \
    SHAPE(written_reference)                                                                       \
    FIELD(1, text, "kind", none)                                                                   \
    FIELD(2, text, "namespace", none)                                                              \
    FIELD(3, text, "name", none)                                                                   \
    FIELD(4, text, "uid", none)                                                                    \
    FIELD(5, text, "apiVersion", none)                                                             \
    FIELD(6, text, "resourceVersion", none)                                                        \
    END(written_reference)                                                                         \
    SHAPE(binding)                                                                                 \
    FIELD(1, object, "metadata", written_meta)                                                     \
    FIELD(2, object, "target", written_reference)                                                  \
    END(binding)                                                                                   \
    SHAPE(event_meta)                                                                              \
    FIELD(1, text, "", none)                                                                       \
    FIELD(3, text, "namespace", none)                                                              \
    FIELD(5, text, "uid", none)                                                                    \
    FIELD(6, text, "resourceVersion", none)                                                        \
    END(event_meta)                                                                                \
    SHAPE(event)                                                                                   \
    FIELD(1, object, "metadata", event_meta)                                                       \
    FIELD(2, time, "eventTime", none)                                                              \
    FIELD(3, time, "series", none)                                                                 \
    FIELD(4, text, "reportingController", none)                                                    \
    FIELD(5, text, "reportingInstance", none)                                                      \
    FIELD(6, text, "reason", none)                                                                 \
    FIELD(7, text, "reason", none)                                                                 \
    FIELD(8, object, "regarding", written_reference)                                               \
    FIELD(10, text, "note", none)                                                                  \
    FIELD(11, text, "type", none)                                                                  \
    END(event)                                                                                     \
    ROOT(Binding, binding)                                                                         \
    ROOT(Event, event)

/* clang-format off */
enum shape_name {
    SHAPE_none,
#define SHAPE(name) SHAPE_##name,
#define FIELD(number, form, member, of)
#define END(name)
#define ROOT(kind, shape)
#include "proto/kube/documents/protobuf.def"
    WRITTEN
#undef SHAPE
#undef FIELD
#undef END
    SHAPE_COUNT
};

struct row {
    uint32_t number;
    enum form form;
    const char *member;
    enum shape_name of;
};

#define LAST_NUMBER UINT32_MAX /* no wire has it */

#define SHAPE(name) static const struct row rows_##name[] = {
#define FIELD(number, form, member, of) {number, FORM_##form, member, SHAPE_##of},
#define END(name) {LAST_NUMBER, FORM_text, "", SHAPE_none}};
#include "proto/kube/documents/protobuf.def"
    WRITTEN
#undef SHAPE
#undef FIELD
#undef END

static const struct row *const shapes[] = {
#define SHAPE(name) [SHAPE_##name] = rows_##name,
#define FIELD(number, form, member, of)
#define END(name)
#include "proto/kube/documents/protobuf.def"
    WRITTEN
#undef ROOT
#undef SHAPE
};

static const struct root {
    const char *kind;
    enum shape_name shape;
} roots[] = {
#define SHAPE(name)
#define ROOT(kind, shape) {#kind, SHAPE_##shape},
#include "proto/kube/documents/protobuf.def"
    WRITTEN
#undef ROOT
#undef SHAPE
#undef FIELD
#undef END
    {NULL, SHAPE_none},
};
/* clang-format on */

static enum shape_name shape_of(struct str kind)
{
    static const char list[] = "List";
    const struct root *r = roots;
    size_t len = sizeof(list) - 1;
    if (kind.len > len && memcmp(kind.at + kind.len - len, list, len) == 0)
        kind.len -= (uint32_t)len;
    while (r->kind != NULL && !str_is(kind, r->kind))
        r++;
    return r->shape;
}

static const struct row *row_of(enum shape_name shape, uint32_t number)
{
    const struct row *row = shape != SHAPE_none ? shapes[shape] : NULL;
    while (row != NULL && row->number != number && row->number != LAST_NUMBER)
        row++;
    return row != NULL && row->number == number ? row : NULL;
}

/* ---- fields ---- */

struct field {
    uint32_t number;
    bool bytes; /* it has a length */
    struct str inside;
};

static bool take_varint(struct str *rest, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < 10 && rest->len > 0; i++) {
        unsigned char c = (unsigned char)*rest->at;
        rest->at++;
        rest->len--;
        *value |= (uint64_t)(c & 0x7f) << (7 * i);
        if (c < 0x80)
            return true;
    }
    return false;
}

/* The next field of a message; false: there is none, or it is malformed or cut. */
static bool next_field(struct str *rest, struct field *f)
{
    uint64_t tag, len = 0;
    if (!take_varint(rest, &tag))
        return false;
    uint64_t wire = tag & 7;
    *f = (struct field){.number = (uint32_t)(tag >> 3), .bytes = wire == 2};
    if (wire == 0 && !take_varint(rest, &len))
        return false;
    len = wire == 1 ? 8 : wire == 5 ? 4 : 0;
    if (wire != 0 && wire != 1 && wire != 5 && (wire != 2 || !take_varint(rest, &len)))
        return false;
    if (len > rest->len) /* cut: what there is of it */
        len = rest->len;
    f->inside = (struct str){rest->at, (uint32_t)len};
    rest->at += len;
    rest->len -= (uint32_t)len;
    return true;
}

static struct str text_in(struct str message, uint32_t number)
{
    struct field f;
    while (next_field(&message, &f))
        if (f.bytes && f.number == number)
            return f.inside;
    return (struct str){NULL, 0};
}

/* ---- messages ---- */

static void take_entry(struct names *n, const struct row *row, struct str entry)
{
    struct rule rule = rules_member(str_of(row->member));
    struct str key = text_in(entry, 1), value = text_in(entry, 2);
    names_take(n, key, TEXT_key, false);
    if (row->form == FORM_texts_by_key)
        names_take(n, value, rule.form == RULE_notes ? rules_note(key, value) : TEXT_name, false);
}

static void take_amount(struct names *n, const struct row *row, struct str message)
{
    if (rules_member(str_of(row->member)).form == RULE_nested)
        documents_json(n, text_in(message, 1));
}

static enum text_class class_of(const struct row *row)
{
    return *row->member == 0 ? TEXT_derived : rules_member(str_of(row->member)).text;
}

/* The recursion ends with the messages, at DEPTH_MAX. NOLINTBEGIN(misc-no-recursion) */
static void take_message(struct names *n, enum shape_name shape, struct str message, int depth);

static void take_field(struct names *n, const struct row *row, struct str inside, int depth)
{
    switch (row->form) {
    case FORM_text:
    case FORM_given_text:
    case FORM_texts: names_take(n, inside, class_of(row), false); break;
    case FORM_object:
    case FORM_objects:
    case FORM_inlined: take_message(n, row->of, inside, depth + 1); break;
    case FORM_objects_by_key:
        take_entry(n, row, inside);
        take_message(n, row->of, text_in(inside, 2), depth + 1);
        break;
    case FORM_texts_by_key:
    case FORM_amounts_by_key:
    case FORM_keys: take_entry(n, row, inside); break;
    case FORM_amount: take_amount(n, row, inside); break;
    default: break;
    }
}

static void take_message(struct names *n, enum shape_name shape, struct str message, int depth)
{
    struct field f;
    while (depth < DEPTH_MAX && next_field(&message, &f)) {
        const struct row *row = row_of(shape, f.number);
        if (f.bytes && row != NULL)
            take_field(n, row, f.inside, depth);
        else if (f.bytes)
            names_take(n, f.inside, TEXT_unread, false);
    }
}
/* NOLINTEND(misc-no-recursion) */

/* ---- bodies ---- */

static void take_list(struct names *n, enum shape_name shape, struct str list)
{
    struct field f;
    while (next_field(&list, &f)) {
        if (f.bytes && f.number == 1)
            take_message(n, SHAPE_list_meta, f.inside, 0);
        else if (f.bytes && f.number == 2)
            take_message(n, shape, f.inside, 0);
    }
}

void documents_protobuf(struct names *n, struct str body)
{
    if (body.len < MAGIC || memcmp(body.at, magic, MAGIC) != 0)
        return;
    struct str envelope = {body.at + MAGIC, body.len - MAGIC};
    struct str kind = text_in(text_in(envelope, 1), 2), raw = text_in(envelope, 2);
    enum shape_name shape = shape_of(kind);
    bool list = kind.len > 4 && memcmp(kind.at + kind.len - 4, "List", 4) == 0;
    if (list)
        take_list(n, shape, raw);
    else
        take_message(n, shape, raw, 0);
}

void documents_frames(struct names *n, struct str stream)
{
    while (stream.len > MAGIC) {
        const unsigned char *b = (const unsigned char *)stream.at;
        uint32_t len = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
        uint32_t left = stream.len - MAGIC;
        struct str event = {stream.at + MAGIC, len < left ? len : left};
        documents_protobuf(n, text_in(text_in(event, 2), 1));
        stream.at += MAGIC + event.len;
        stream.len -= MAGIC + event.len;
    }
}

void documents_any(struct names *n, struct str body, bool stream)
{
    if (body.len == 0)
        return;
    unsigned char first = (unsigned char)*body.at;
    if (first == (unsigned char)magic[0])
        documents_protobuf(n, body);
    else if (stream && first < 0x09)
        documents_frames(n, body);
    else if (first == '{' || first == '[' || first == ' ' || first == '\n')
        documents_json(n, body);
    else
        names_take(n, body, TEXT_hosts, false);
}
