/* protobuf: messages to trees by one table. The one idea: a field's number finds its row, the row
 * says under which name and in which form its value enters the tree, and a number without a row is
 * skipped in one step, whatever lies in it. What must stay true: a length is compared with the
 * bytes that are left before anything else is done with it, and strings of the tree point into the
 * message. */
#include "proto/kube/documents/protobuf.h"

#include "proto/base/moment.h"
#include "proto/kube/documents/json_tree.h"
#include "proto/kube/documents/protobuf_forms.h"

#include <string.h>

#define DEPTH_MAX     24             /* of open messages; the table's deepest is about 12 */
#define FIELDS_MAX    32             /* of one shape */
#define BYTES_A_VALUE 24             /* of API objects, about */
#define SECONDS_LEAST (-62135596800) /* the year 1 and the end of 9999, between which times are */
#define SECONDS_MAX   253402300799   /* written; others are as good as these */

static const char magic[4] = {'k', '8', 's', 0};

/* ---- the table ---- */

enum shape_name {
    SHAPE_none,
#define SHAPE(name) SHAPE_##name,
#define FIELD(number, form, member, of)
#define END(name)
#define ROOT(kind, shape)
#include "proto/kube/documents/protobuf.def"
#undef SHAPE
#undef FIELD
#undef END
#undef ROOT
    SHAPE_COUNT
};

struct field {
    uint32_t number;
    enum form form;
    struct str member;
    enum shape_name of;
};

/* A list of fields ends with one whose number no wire has. */
#define LAST_NUMBER UINT32_MAX

#define SHAPE(name)                     static const struct field fields_##name[] = {
#define FIELD(number, form, member, of) {number, FORM_##form, STR_LITERAL_INIT(member), SHAPE_##of},
#define END(name)                                                                                  \
    {                                                                                              \
        LAST_NUMBER, FORM_text, {NULL, 0}, SHAPE_none                                              \
    }                                                                                              \
    }                                                                                              \
    ;                                                                                              \
    _Static_assert(sizeof(fields_##name) <= (FIELDS_MAX + 1) * sizeof(struct field), #name);
#define ROOT(kind, shape)
#define STR_LITERAL_INIT(text)                                                                     \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
#include "proto/kube/documents/protobuf.def"
#undef SHAPE
#undef FIELD
#undef END
#undef ROOT

struct shape {
    const struct field *fields;
    size_t count;
};

static const struct shape shapes[SHAPE_COUNT] = {
#define SHAPE(name)                                                                                \
    [SHAPE_##name] = {fields_##name, sizeof(fields_##name) / sizeof(struct field) - 1},
#define FIELD(number, form, member, of)
#define END(name)
#define ROOT(kind, shape)
#include "proto/kube/documents/protobuf.def"
#undef SHAPE
#undef FIELD
#undef END
#undef ROOT
};

static const struct {
    struct str kind;
    enum shape_name shape;
} roots[] = {
#define SHAPE(name)
#define FIELD(number, form, member, of)
#define END(name)
#define ROOT(kind, shape) {STR_LITERAL_INIT(#kind), SHAPE_##shape},
#include "proto/kube/documents/protobuf.def"
#undef SHAPE
#undef FIELD
#undef END
#undef ROOT
};

static enum shape_name shape_of(struct str kind)
{
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
        if (str_equal(kind, roots[i].kind))
            return roots[i].shape;
    return SHAPE_none;
}

bool kube_protobuf_knows(struct str kind)
{
    return shape_of(kind) != SHAPE_none;
}

/* ---- the wire ---- */

enum wire { WIRE_varint = 0, WIRE_eight = 1, WIRE_bytes = 2, WIRE_four = 5 };

struct byte_cursor {
    const unsigned char *at, *end;
};

static struct byte_cursor cursor_of(struct str bytes)
{
    const unsigned char *at = (const unsigned char *)(bytes.len > 0 ? bytes.at : "");
    return (struct byte_cursor){at, at + bytes.len};
}

static bool take_long_varint(struct byte_cursor *c, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        unsigned char byte = *c->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static inline bool take_varint(struct byte_cursor *c, uint64_t *value)
{
    if (c->at < c->end && *c->at < 0x80) {
        *value = *c->at++;
        return true;
    }
    return take_long_varint(c, value);
}

static inline bool take_bytes(struct byte_cursor *c, struct str *bytes)
{
    uint64_t len;
    if (!take_varint(c, &len) || len > (uint64_t)(c->end - c->at))
        return false;
    *bytes = (struct str){(const char *)c->at, (uint32_t)len};
    c->at += len;
    return true;
}

/* The number and type of the next field. */
static inline bool take_tag(struct byte_cursor *c, uint32_t *number, enum wire *wire)
{
    uint64_t tag;
    if (!take_varint(c, &tag) || tag >> 3 == 0 || tag >> 3 >= LAST_NUMBER)
        return false;
    *number = (uint32_t)(tag >> 3);
    *wire = (enum wire)(tag & 7);
    return true;
}

static bool skip(struct byte_cursor *c, enum wire wire)
{
    uint64_t value;
    struct str bytes;
    size_t size = wire == WIRE_eight ? 8 : 4;
    if (wire == WIRE_varint)
        return take_varint(c, &value);
    if (wire == WIRE_bytes)
        return take_bytes(c, &bytes);
    if ((wire != WIRE_eight && wire != WIRE_four) || (size_t)(c->end - c->at) < size)
        return false;
    c->at += size;
    return true;
}

/* The bytes of up to count fields with the numbers 1, 2, …; the last of each counts, and one that
 * is not there is empty. */
static bool take_parts(struct str message, struct str *parts, uint32_t count)
{
    struct byte_cursor c = cursor_of(message);
    memset(parts, 0, count * sizeof(*parts));
    while (c.at < c.end) {
        uint32_t number;
        enum wire wire;
        if (!take_tag(&c, &number, &wire))
            return false;
        bool wanted = number <= count && wire == WIRE_bytes;
        if (!(wanted ? take_bytes(&c, &parts[number - 1]) : skip(&c, wire)))
            return false;
    }
    return true;
}

/* ---- building ---- */

/* A message whose fields are being read. */
struct frame {
    struct byte_cursor c;
    const struct field *fields,
        *next; /* next: where the search begins, since fields are in order */
    struct kube_json *into;
    struct kube_json *lists[FIELDS_MAX]; /* of each field that makes a list, a map or an object */
};

struct parser {
    struct json_document *document;
    size_t depth;
    struct frame frames[DEPTH_MAX];
};

static bool open_message(struct parser *p, struct str bytes, const struct shape *shape,
                         struct kube_json *into)
{
    if (p->depth == DEPTH_MAX)
        return false;
    struct frame *f = &p->frames[p->depth++];
    f->c = cursor_of(bytes);
    f->fields = f->next = shape->fields;
    f->into = into;
    for (size_t i = 0; i < shape->count; i++)
        f->lists[i] = NULL;
    return true;
}

static void put_text(struct kube_json *value, struct str text)
{
    value->kind = JSON_string;
    value->text = text;
}

static struct kube_json *add_object(struct parser *p, struct kube_json *up, struct str name)
{
    struct kube_json *object = json_add(p->document, up, name);
    object->kind = JSON_object;
    return object;
}

/* The list or map that a repeated field fills. */
static struct kube_json *filled(struct parser *p, struct frame *f, const struct field *field,
                                enum json_kind kind)
{
    struct kube_json **list = &f->lists[field - f->fields];
    if (*list == NULL) {
        *list = json_add(p->document, f->into, field->member);
        (*list)->kind = kind;
    }
    return *list;
}

/* One pair of a map. Keys are member names, which end in a zero byte. */
static bool add_pair(struct parser *p, struct frame *f, const struct field *field, struct str bytes)
{
    struct str parts[2], amount;
    struct kube_json *map = filled(p, f, field, JSON_object);
    if (!take_parts(bytes, parts, 2))
        return false;
    char *key = json_document_take(p->document, (size_t)parts[0].len + 1);
    if (parts[0].len > 0)
        memcpy(key, parts[0].at, parts[0].len);
    key[parts[0].len] = 0;
    struct kube_json *value = json_add(p->document, map, (struct str){key, parts[0].len});
    if (field->form == FORM_keys) {
        value->kind = JSON_true;
        return true;
    }
    if (field->form == FORM_objects_by_key) {
        value->kind = JSON_object;
        return open_message(p, parts[1], &shapes[field->of], value);
    }
    if (field->form == FORM_amounts_by_key && !take_parts(parts[1], &amount, 1))
        return false;
    put_text(value, field->form == FORM_amounts_by_key ? amount : parts[1]);
    return true;
}

/* A time without anything in it is zero, which JSON says with null. */
static bool add_time(struct parser *p, struct frame *f, const struct field *field, struct str bytes)
{
    struct byte_cursor c = cursor_of(bytes);
    int64_t seconds = 0;
    if (bytes.len == 0)
        return true;
    while (c.at < c.end) {
        uint32_t number;
        uint64_t value;
        enum wire wire;
        if (!take_tag(&c, &number, &wire) ||
            !(wire == WIRE_varint ? take_varint(&c, &value) : skip(&c, wire)))
            return false;
        if (number == 1 && wire == WIRE_varint)
            seconds = (int64_t)value;
    }
    seconds = seconds > SECONDS_MAX ? SECONDS_MAX : seconds;
    seconds = seconds < SECONDS_LEAST ? SECONDS_LEAST : seconds;
    char text[40];
    moment_print_seconds(seconds * 1000000, text, sizeof(text));
    struct str made = str_of(text);
    char *at = json_document_take(p->document, made.len);
    memcpy(at, text, made.len);
    put_text(json_add(p->document, f->into, field->member), (struct str){at, made.len});
    return true;
}

/* In pieces it would have to be put together; the API server writes each once, and who reads the
 * first piece and who edits all of them must not see two different objects. */
static bool add_single(struct parser *p, struct frame *f, const struct field *field,
                       struct str bytes)
{
    struct kube_json **there = &f->lists[field - f->fields];
    if (*there != NULL)
        return false;
    *there = field->form == FORM_inlined ? f->into : add_object(p, f->into, field->member);
    return open_message(p, bytes, &shapes[field->of], *there);
}

static bool take_scalar(struct parser *p, struct frame *f, const struct field *field)
{
    uint64_t value;
    if (!take_varint(&f->c, &value))
        return false;
    if (value == 0 && (field->form == FORM_number || field->form == FORM_flag))
        return true;
    bool listed = field->form == FORM_numbers || field->form == FORM_flags;
    struct kube_json *child =
        listed ? json_add(p->document, filled(p, f, field, JSON_array), (struct str){NULL, 0})
               : json_add(p->document, f->into, field->member);
    if (field->form == FORM_flag || field->form == FORM_given_flag || field->form == FORM_flags) {
        child->kind = value != 0 ? JSON_true : JSON_false;
    } else {
        json_put_whole(child, (int64_t)value);
    }
    return true;
}

static bool take_value(struct parser *p, struct frame *f, const struct field *field)
{
    struct str bytes, amount;
    struct json_document *d = p->document;
    if (!take_bytes(&f->c, &bytes))
        return false;
    switch (field->form) {
    case FORM_text:
        if (bytes.len == 0)
            return true;
        /* fallthrough */
    case FORM_given_text: put_text(json_add(d, f->into, field->member), bytes); return true;
    case FORM_texts:
        put_text(json_add(d, filled(p, f, field, JSON_array), (struct str){NULL, 0}), bytes);
        return true;
    case FORM_amount:
        if (!take_parts(bytes, &amount, 1))
            return false;
        put_text(json_add(d, f->into, field->member), amount);
        return true;
    case FORM_amounts:
        if (!take_parts(bytes, &amount, 1))
            return false;
        put_text(json_add(d, filled(p, f, field, JSON_array), (struct str){NULL, 0}), amount);
        return true;
    case FORM_time: return add_time(p, f, field, bytes);
    case FORM_texts_by_key:
    case FORM_amounts_by_key:
    case FORM_objects_by_key:
    case FORM_keys: return add_pair(p, f, field, bytes);
    case FORM_inlined:
    case FORM_object: return add_single(p, f, field, bytes);
    case FORM_objects:
        return open_message(p, bytes, &shapes[field->of],
                            add_object(p, filled(p, f, field, JSON_array), (struct str){NULL, 0}));
    default: return false; /* scalars do not come as bytes */
    }
}

static bool is_scalar(enum form form)
{
    return form >= FORM_number && form <= FORM_flags;
}

/* The row of a number, or NULL. */
static inline const struct field *find(struct frame *f, uint32_t number)
{
    const struct field *at = f->next;
    if (at > f->fields && at[-1].number >= number)
        at = f->fields; /* fields need not be in order */
    while (at->number < number)
        at++;
    f->next = at;
    return at->number == number ? at : NULL;
}

/* Where it stopped; NULL: it read all. */
static const unsigned char *read_messages(struct parser *p)
{
    while (p->depth > 0) {
        struct frame *f = &p->frames[p->depth - 1];
        const unsigned char *start = f->c.at;
        uint32_t number;
        enum wire wire;
        if (start == f->c.end) {
            p->depth--;
            continue;
        }
        if (!take_tag(&f->c, &number, &wire))
            return start;
        const struct field *field = find(f, number);
        bool good;
        if (field == NULL)
            good = skip(&f->c, wire);
        else if (is_scalar(field->form))
            good = wire == WIRE_varint && take_scalar(p, f, field);
        else
            good = wire == WIRE_bytes && take_value(p, f, field);
        if (!good)
            return start;
    }
    return NULL;
}

/* ---- what is around a message ---- */

/* What an answer says of itself: the message in it, and what it is a message of. */
struct envelope {
    struct str kind, raw;
};

bool kube_protobuf_is(struct str body)
{
    return body.len >= sizeof(magic) && memcmp(body.at, magic, sizeof(magic)) == 0;
}

static bool open_envelope(struct str body, struct envelope *envelope)
{
    struct str parts[3], type[2];
    if (!kube_protobuf_is(body))
        return false;
    struct str unknown = {body.at + sizeof(magic), body.len - (uint32_t)sizeof(magic)};
    if (!take_parts(unknown, parts, 3) || parts[2].len > 0 || !take_parts(parts[0], type, 2))
        return false; /* the third is an encoding, such as gzip, that we did not ask for */
    *envelope = (struct envelope){type[1], parts[1]};
    return true;
}

struct str kube_protobuf_kind(struct str body)
{
    struct envelope envelope;
    return open_envelope(body, &envelope) ? envelope.kind : (struct str){NULL, 0};
}

static struct kube_json *give_up(struct json_document *d, struct str why, struct str *error)
{
    struct kube_json *root = &d->root;
    kube_json_free(&root);
    if (error != NULL)
        *error = why;
    return NULL;
}

/* Reads the envelope's message into a value that is an object. */
static bool read_envelope(struct json_document *d, const struct envelope *envelope,
                          struct kube_json *into, struct str *why, struct arena *a)
{
    static const struct str suffix = STR_LITERAL_INIT("List");
    struct str kind = envelope->kind;
    bool list = kind.len > suffix.len &&
                memcmp(kind.at + kind.len - suffix.len, suffix.at, suffix.len) == 0;
    kind.len -= list ? suffix.len : 0;
    enum shape_name shape = shape_of(kind);
    if (shape == SHAPE_none) {
        int len = kind.len < 64 ? (int)kind.len : 64;
        *why = arena_print(a, "protobuf: the kind \"%.*s\" is not known", len, kind.at);
        return false;
    }
    const struct field items[] = {{1, FORM_object, STR_LITERAL_INIT("metadata"), SHAPE_list_meta},
                                  {2, FORM_objects, STR_LITERAL_INIT("items"), shape},
                                  {LAST_NUMBER, FORM_text, {NULL, 0}, SHAPE_none}};
    const struct shape all = {items, 2};
    struct parser p; /* large, and its frames are set as they are opened */
    p.document = d;
    p.depth = 0;
    open_message(&p, envelope->raw, list ? &all : &shapes[shape], into);
    const unsigned char *stopped = read_messages(&p);
    if (stopped != NULL)
        *why = arena_print(a, "protobuf: malformed at byte %zu of %u of a %.*s",
                           (size_t)(stopped - (const unsigned char *)envelope->raw.at),
                           envelope->raw.len, STR_ARG(envelope->kind));
    return stopped == NULL;
}

struct kube_json *kube_protobuf_parse(struct str body, struct str *error, struct arena *a)
{
    struct json_document *d = json_document_new(body.len / BYTES_A_VALUE);
    struct envelope envelope;
    struct str why;
    d->root.kind = JSON_object;
    if (!open_envelope(body, &envelope))
        return give_up(d, STR_LITERAL("protobuf: malformed envelope"), error);
    if (!read_envelope(d, &envelope, &d->root, &why, a))
        return give_up(d, why, error);
    return &d->root;
}

static bool open_event(struct str frame, struct str *type, struct str *object)
{
    struct str parts[2];
    if (!take_parts(frame, parts, 2) || !take_parts(parts[1], object, 1))
        return false;
    *type = parts[0];
    return true;
}

bool kube_protobuf_event_object(struct str frame, struct str *body)
{
    struct str type;
    return open_event(frame, &type, body) && kube_protobuf_is(*body);
}

struct kube_json *kube_protobuf_parse_event(struct str frame, struct str *error, struct arena *a)
{
    struct json_document *d = json_document_new(frame.len / BYTES_A_VALUE);
    struct str type, object, why;
    struct envelope envelope;
    d->root.kind = JSON_object;
    if (!open_event(frame, &type, &object) || !open_envelope(object, &envelope))
        return give_up(d, STR_LITERAL("protobuf: malformed event"), error);
    put_text(json_add(d, &d->root, STR_LITERAL("type")), type);
    struct kube_json *into = json_add(d, &d->root, STR_LITERAL("object"));
    into->kind = JSON_object;
    if (!read_envelope(d, &envelope, into, &why, a))
        return give_up(d, why, error);
    return &d->root;
}

struct kube_json *kube_protobuf_parse_item(struct str kind, struct str message, struct str *error,
                                           struct arena *a)
{
    struct json_document *d = json_document_new(message.len / BYTES_A_VALUE);
    const struct envelope envelope = {kind, message};
    struct str why;
    d->root.kind = JSON_object;
    if (!read_envelope(d, &envelope, &d->root, &why, a))
        return give_up(d, why, error);
    return &d->root;
}

struct kube_json *kube_answer_parse(struct str body, struct str *error, struct arena *a)
{
    if (kube_protobuf_is(body))
        return kube_protobuf_parse(body, error, a);
    static const struct kube_json_unread unread = {STR_LITERAL_INIT("managedFields"),
                                                   STR_LITERAL_INIT("parameters")};
    return kube_json_parse_without(body, &unread, error, a);
}
