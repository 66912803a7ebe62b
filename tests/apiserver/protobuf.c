/* Reads Kubernetes' protobuf into the same tree as JSON, by one table of fields.
 *
 * The one idea: a message is read field by field; its number is looked up in protobuf.def, and the
 * row says under which name and in which shape the value enters the tree. Answers are JSON, which
 * every client that sends protobuf accepts. What must hold: a length is compared with the bytes
 * left before it is used, and messages nest at most DEPTH_MAX deep. */
#include "protobuf.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 40 };
enum shape { ONE, LIST, MAP, INLINE };
enum type { TEXT, BYTES, NUMBER, BOOL, DOUBLE, MESSAGE };

struct field {
    const char *message;
    unsigned number;
    const char *name;
    enum shape shape;
    enum type type;
    const char *of;
};

#define FIELD(message, number, name, shape, type, of) {message, number, name, shape, type, of},
static const struct field fields[] = {
#include "protobuf.def"
};
#undef FIELD
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

/* ---- the wire ---- */

struct byte_cursor {
    const unsigned char *at, *end;
};

/* One field as it stands on the wire: a number, or the bytes of the rest. */
struct wire {
    unsigned number, kind; /* 0 varint, 1 eight bytes, 2 bytes with length, 5 four bytes */
    uint64_t value;
    struct byte_cursor bytes;
};

static bool read_varint(struct byte_cursor *c, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        unsigned char byte = *c->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool read_fixed(struct byte_cursor *c, size_t size, uint64_t *value)
{
    if ((size_t)(c->end - c->at) < size)
        return false;
    *value = 0;
    memcpy(value, c->at, size);
    c->at += size;
    return true;
}

static bool read_wire(struct byte_cursor *c, struct wire *wire)
{
    uint64_t key, length;
    *wire = (struct wire){0};
    if (!read_varint(c, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff)
        return false;
    wire->number = (unsigned)(key >> 3);
    wire->kind = (unsigned)(key & 7);
    switch (wire->kind) {
    case 0: return read_varint(c, &wire->value);
    case 1: return read_fixed(c, 8, &wire->value);
    case 5: return read_fixed(c, 4, &wire->value);
    case 2: break;
    default: return false;
    }
    if (!read_varint(c, &length) || length > (uint64_t)(c->end - c->at))
        return false;
    wire->bytes = (struct byte_cursor){c->at, c->at + length};
    c->at += length;
    return true;
}

static cJSON *text_of(struct byte_cursor bytes)
{
    char *text = memory_copy(bytes.at, (size_t)(bytes.end - bytes.at));
    cJSON *item = cJSON_CreateString(text);
    memory_free(text);
    return item;
}

/* ---- messages with a JSON form of their own ---- */

/* The numbers and the first text of a small message. */
struct small {
    int64_t numbers[4];
    struct byte_cursor text;
};

static bool read_small(struct byte_cursor c, struct small *small)
{
    *small = (struct small){0};
    while (c.at < c.end) {
        struct wire wire;
        if (!read_wire(&c, &wire))
            return false;
        if (wire.kind == 0 && wire.number < 4)
            small->numbers[wire.number] = (int64_t)wire.value;
        else if (wire.kind == 2)
            small->text = wire.bytes;
    }
    return true;
}

static cJSON *time_of(const struct small *small, bool micro)
{
    char text[TIME_TEXT];
    int64_t us = small->numbers[1] * 1000000 + small->numbers[2] / 1000;
    if (small->numbers[1] == 0 && small->numbers[2] == 0)
        return cJSON_CreateNull();
    return cJSON_CreateString(micro ? time_micro_text(us, text) : time_seconds_text(us, text));
}

static bool is_special(const char *message)
{
    return strcmp(message, "quantity.Quantity") == 0 || strcmp(message, "meta.Time") == 0 ||
           strcmp(message, "meta.MicroTime") == 0 || strcmp(message, "intstr.IntOrString") == 0 ||
           strcmp(message, "runtime.RawExtension") == 0;
}

static cJSON *special_of(const char *message, struct byte_cursor bytes)
{
    struct small small;
    if (!read_small(bytes, &small))
        return NULL;
    if (strcmp(message, "meta.Time") == 0 || strcmp(message, "meta.MicroTime") == 0)
        return time_of(&small, strcmp(message, "meta.MicroTime") == 0);
    if (strcmp(message, "intstr.IntOrString") == 0 && small.numbers[1] == 0)
        return cJSON_CreateNumber((double)(int32_t)small.numbers[2]);
    if (strcmp(message, "runtime.RawExtension") == 0) {
        size_t size = (size_t)(small.text.end - small.text.at);
        return size > 0 ? tree_parse((const char *)small.text.at, size) : cJSON_CreateNull();
    }
    return text_of(small.text);
}

/* ---- messages of the table ---- */

static const struct field *message_fields(const char *message)
{
    size_t low = 0, high = FIELD_COUNT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(fields[middle].message, message) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return &fields[low];
}

static const struct field *find_field(const struct field *first, const char *message,
                                      unsigned number)
{
    for (; first < fields + FIELD_COUNT && strcmp(first->message, message) == 0; first++) {
        if (first->number == number)
            return first;
    }
    return NULL;
}

/* NOLINTBEGIN(misc-no-recursion): at most DEPTH_MAX deep */
static bool read_message(struct byte_cursor c, const char *message, cJSON *into, int depth);

static cJSON *value_of(const struct field *field, const struct wire *wire, int depth)
{
    bool bytes = field->type == TEXT || field->type == BYTES || field->type == MESSAGE;
    if (bytes != (wire->kind == 2))
        return NULL;
    if (field->type == MESSAGE && is_special(field->of))
        return special_of(field->of, wire->bytes);
    if (field->type == MESSAGE) {
        cJSON *object = cJSON_CreateObject();
        if (read_message(wire->bytes, field->of, object, depth + 1))
            return object;
        cJSON_Delete(object);
        return NULL;
    }
    if (field->type == TEXT)
        return text_of(wire->bytes);
    if (field->type == BYTES) {
        size_t size = (size_t)(wire->bytes.end - wire->bytes.at);
        char *encoded = base64_encode((const char *)wire->bytes.at, size);
        cJSON *item = cJSON_CreateString(encoded);
        memory_free(encoded);
        return item;
    }
    if (field->type == DOUBLE) {
        double number;
        memcpy(&number, &wire->value, sizeof number);
        return cJSON_CreateNumber(number);
    }
    return field->type == BOOL ? cJSON_CreateBool(wire->value != 0)
                               : cJSON_CreateNumber((double)(int64_t)wire->value);
}

/* One entry of a map: a message of key 1 and value 2. */
static bool read_entry(const struct field *field, struct byte_cursor c, cJSON *map, int depth)
{
    char *key = memory_copy("", 0);
    cJSON *value = NULL;
    bool good = true;
    while (good && c.at < c.end) {
        struct wire wire;
        good = read_wire(&c, &wire);
        if (good && wire.number == 1 && wire.kind == 2) {
            memory_free(key);
            key = memory_copy(wire.bytes.at, (size_t)(wire.bytes.end - wire.bytes.at));
        } else if (good && wire.number == 2) {
            cJSON_Delete(value);
            value = value_of(field, &wire, depth);
            good = value != NULL;
        }
    }
    if (good)
        tree_set(map, key, value != NULL ? value : cJSON_CreateString(""));
    else
        cJSON_Delete(value);
    memory_free(key);
    return good;
}

/* Empty texts and times are how Go writes "not set". */
static bool means_nothing(const cJSON *value)
{
    return cJSON_IsNull(value) || (cJSON_IsString(value) && *value->valuestring == 0);
}

static bool add_value(const struct field *field, const struct wire *wire, cJSON *into, int depth)
{
    if (field->shape == INLINE)
        return wire->kind == 2 && read_message(wire->bytes, field->of, into, depth + 1);
    if (field->shape == MAP)
        return wire->kind == 2 &&
               read_entry(field, wire->bytes, tree_make(into, field->name), depth);
    cJSON *value = value_of(field, wire, depth);
    if (value == NULL)
        return false;
    if (field->shape == LIST) {
        if (tree_member(into, field->name) == NULL)
            tree_set(into, field->name, cJSON_CreateArray());
        cJSON_AddItemToArray(tree_member(into, field->name), value);
    } else if (means_nothing(value)) {
        cJSON_Delete(value);
    } else {
        tree_set(into, field->name, value);
    }
    return true;
}

static bool read_message(struct byte_cursor c, const char *message, cJSON *into, int depth)
{
    const struct field *first = message_fields(message);
    if (depth > DEPTH_MAX)
        return false;
    while (c.at < c.end) {
        struct wire wire;
        if (!read_wire(&c, &wire))
            return false;
        const struct field *field = find_field(first, message, wire.number);
        if (field != NULL && !add_value(field, &wire, into, depth))
            return false;
    }
    return true;
}

/* NOLINTEND(misc-no-recursion) */

/* ---- the envelope ---- */

bool protobuf_is(const char *content_type)
{
    static const char type[] = "application/vnd.kubernetes.protobuf";
    return strncmp(content_type, type, sizeof type - 1) == 0;
}

/* "apps/v1" and "Deployment" to "apps.Deployment"; "v1" and "Pod" to "core.Pod". */
static void message_name(const char *version, const char *kind, char out[static 128])
{
    size_t group = strcspn(version, "./");
    bool core = strchr(version, '/') == NULL;
    if (strcmp(kind, "DeleteOptions") == 0)
        snprintf(out, 128, "meta.DeleteOptions");
    else
        snprintf(out, 128, "%.*s.%.60s", core ? 4 : (int)(group < 60 ? group : 60),
                 core ? "core" : version, kind);
}

static bool read_type(struct byte_cursor c, cJSON *into)
{
    while (c.at < c.end) {
        struct wire wire;
        if (!read_wire(&c, &wire))
            return false;
        if (wire.kind == 2 && (wire.number == 1 || wire.number == 2))
            tree_set(into, wire.number == 1 ? "apiVersion" : "kind", text_of(wire.bytes));
    }
    return true;
}

cJSON *protobuf_parse(const char *bytes, size_t size)
{
    static const char magic[4] = {'k', '8', 's', 0};
    struct byte_cursor c = {(const unsigned char *)bytes, (const unsigned char *)bytes + size},
                       raw = {0};
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return NULL;
    c.at += sizeof magic;
    cJSON *tree = cJSON_CreateObject();
    bool good = true;
    while (good && c.at < c.end) {
        struct wire wire;
        good = read_wire(&c, &wire);
        if (good && wire.number == 1 && wire.kind == 2)
            good = read_type(wire.bytes, tree);
        else if (good && wire.number == 2 && wire.kind == 2)
            raw = wire.bytes;
    }
    char name[128];
    message_name(tree_string(tree, "apiVersion", ""), tree_string(tree, "kind", ""), name);
    const struct field *first = message_fields(name);
    good = good && first < fields + FIELD_COUNT && strcmp(first->message, name) == 0;
    if (good && read_message(raw, name, tree, 0))
        return tree;
    cJSON_Delete(tree);
    return NULL;
}
