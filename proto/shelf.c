/* shelf: the codec's bytes of a record, cut into maps of tags to values: its own one and the parts.
 * The one idea: an encoded record is a map, so the maps of its pieces, put one behind the other
 * under a common count, are the record again, and nothing has to be decoded to be sent.
 *
 * What must stay true: a part is in the table exactly while records use it, so equal parts are the
 * same part; every field is in exactly one piece. */
#include "proto/shelf.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

const struct shelf_rule shelf_pods = {
    &pod_record,
    {"namespace_name scheduler_name priority preemption_policy labels owner_kind owner_name "
     "owner_api owner_uid gang gang_api",
     "gates request score_request usage usage_score_cpu usage_score_memory ports node_selector "
     "has_node_selector required_terms has_required_terms preferred_terms tolerations images "
     "container_count condition_types has_spread affinity_required affinity_preferred "
     "anti_affinity_required anti_affinity_preferred spread features"},
    "uid",
    NULL};

/* Lists of images are as good as never alike. */
const struct shelf_rule shelf_nodes = {
    &node_record, {"labels", "taints allocatable features conditions avoided"}, "uid", "labels"};

/* Stands for the name in a label; no API server lets one in. */
#define ECHO STR_LITERAL("\1")

#define MAP16 0xde
#define STR8  0xd9

/* The fields of one piece. */
struct piece {
    uint32_t count;
    const struct field **at;
};

struct shelf_part {
    uint32_t users, hash, len;
    char at[];
};

struct shelf {
    const struct record *record;
    const struct field *uuid;
    const struct field *name, *labels; /* NULL: labels stay as they are */
    struct piece own, parts[SHELF_PARTS];
    struct table known;  /* struct shelf_part */
    char *object;        /* a record of which one piece is filled in */
    char *muted;         /* the record without its name in labels */
    struct arena memory; /* for those labels */
    struct buffer bytes;
};

/* ---- cutting ---- */

static bool has_name(const char *names, const char *name)
{
    struct str rest = str_of(names ? names : ""), piece;
    while (str_split(&rest, " ", &piece))
        if (str_is(piece, name))
            return true;
    return false;
}

static void add_field(struct piece *piece, const struct field *f)
{
    piece->at = memory_resize(piece->at, (piece->count + 1) * sizeof(struct field *));
    piece->at[piece->count++] = f;
}

static const struct field *field_named(const struct record *r, const char *name)
{
    for (size_t i = 0; name != NULL && i < r->field_count; i++)
        if (strcmp(r->fields[i].name, name) == 0)
            return &r->fields[i];
    return NULL;
}

struct shelf *shelf_new(const struct shelf_rule *rule)
{
    struct shelf *shelf = memory_take(sizeof(*shelf));
    shelf->record = rule->record;
    shelf->object = memory_take(rule->record->size);
    shelf->muted = memory_take(rule->record->size);
    for (size_t i = 0; i < rule->record->field_count; i++) {
        const struct field *f = &rule->record->fields[i];
        struct piece *piece = &shelf->own;
        for (int k = 0; k < SHELF_PARTS; k++)
            if (has_name(rule->parts[k], f->name))
                piece = &shelf->parts[k];
        if (rule->uuid != NULL && strcmp(rule->uuid, f->name) == 0)
            shelf->uuid = f;
        else
            add_field(piece, f);
    }
    must((rule->uuid == NULL) == (shelf->uuid == NULL));
    shelf->labels = field_named(rule->record, rule->labels);
    shelf->name = shelf->labels != NULL ? field_named(rule->record, "name") : NULL;
    must(shelf->labels == NULL || (shelf->name != NULL && shelf->labels->of == &label_record));
    return shelf;
}

void shelf_free(struct shelf **freeing)
{
    struct shelf *shelf = *freeing;
    if (shelf == NULL)
        return;
    must(shelf->known.count == 0);
    table_free(&shelf->known);
    memory_free(shelf->own.at);
    for (int k = 0; k < SHELF_PARTS; k++)
        memory_free(shelf->parts[k].at);
    memory_free(shelf->object);
    memory_free(shelf->muted);
    arena_free(&shelf->memory);
    buffer_free(&shelf->bytes);
    memory_free(shelf);
    *freeing = NULL;
}

/* Copies one field to where it is encoded from. False when it is zero. */
static bool pick(struct shelf *shelf, const struct field *f, const char *object)
{
    memcpy(shelf->object + f->offset, object + f->offset, codec_field_size(f));
    return !codec_value_is_zero(f, object + f->offset);
}

/* Adds the piece's fields of the object, encoded, and one more if it is not NULL. False, and
 * nothing is added, when all of them are zero. */
static bool encode_piece(struct shelf *shelf, const struct piece *piece, const struct field *more,
                         const char *object)
{
    memset(shelf->object, 0, shelf->record->size);
    bool any = more != NULL && pick(shelf, more, object);
    for (uint32_t i = 0; i < piece->count; i++)
        any = pick(shelf, piece->at[i], object) || any;
    if (any)
        codec_encode(shelf->record, shelf->object, &shelf->bytes);
    return any;
}

/* ---- parts ---- */

static bool is_part(const void *thing, const void *key)
{
    const struct shelf_part *part = thing;
    const struct str *bytes = key;
    return str_equal((struct str){part->at, part->len}, *bytes);
}

static struct shelf_part *take_part(struct shelf *shelf, struct str bytes)
{
    uint32_t hash = table_hash(str_hash(bytes));
    struct shelf_part *part = table_get(&shelf->known, hash, is_part, &bytes);
    if (part == NULL) {
        part = memory_take(sizeof(*part) + bytes.len);
        part->hash = hash;
        part->len = bytes.len;
        memcpy(part->at, bytes.at, bytes.len);
        table_add(&shelf->known, hash, part);
    }
    must(part->users < UINT32_MAX);
    part->users++;
    return part;
}

static void drop_part(struct shelf *shelf, struct shelf_part *part)
{
    if (part == NULL || --part->users > 0)
        return;
    table_remove(&shelf->known, part->hash, part);
    memory_free(part);
}

/* ---- labels that repeat the name ---- */

struct labels {
    uint32_t count;
    struct label *at;
};

static struct labels *labels_of(const struct shelf *shelf, void *object)
{
    return (struct labels *)(void *)((char *)object + shelf->labels->offset);
}

static struct str name_of(const struct shelf *shelf, const void *object)
{
    return *(const struct str *)(const void *)((const char *)object + shelf->name->offset);
}

static bool any_is(const struct labels *labels, struct str value)
{
    for (uint32_t i = 0; i < labels->count; i++)
        if (str_equal(labels->at[i].value, value))
            return true;
    return false;
}

static void replace_values(struct labels *labels, struct str value, struct str by)
{
    for (uint32_t i = 0; i < labels->count; i++)
        if (str_equal(labels->at[i].value, value))
            labels->at[i].value = by;
}

/* The record without its name in labels; NULL when it is not in them, or what stands for it is. */
static const void *mute(struct shelf *shelf, const void *object)
{
    if (shelf->labels == NULL)
        return NULL;
    memcpy(shelf->muted, object, shelf->record->size);
    struct labels *labels = labels_of(shelf, shelf->muted);
    struct str name = name_of(shelf, object);
    if (name.len == 0 || !any_is(labels, name) || any_is(labels, ECHO))
        return NULL;
    const struct label *from = labels->at;
    arena_reset(&shelf->memory);
    labels->at = arena_take(&shelf->memory, labels->count * sizeof(*labels->at));
    memcpy(labels->at, from, labels->count * sizeof(*labels->at));
    replace_values(labels, name, ECHO);
    return shelf->muted;
}

/* ---- records ---- */

static struct str uuid_of(const struct shelf *shelf, const void *object)
{
    return *(const struct str *)(const void *)((const char *)object + shelf->uuid->offset);
}

struct shelved *shelf_put(struct shelf *shelf, const void *object)
{
    const void *muted = mute(shelf, object);
    struct shelved head = {.references = 1, .echoes = muted != NULL};
    uint8_t uuid[UUID_BYTES];
    if (muted != NULL)
        object = muted;
    for (int k = 0; k < SHELF_PARTS; k++) {
        buffer_reset(&shelf->bytes);
        if (encode_piece(shelf, &shelf->parts[k], NULL, object))
            head.parts[k] = take_part(shelf, buffer_str(&shelf->bytes));
    }
    buffer_reset(&shelf->bytes);
    if (shelf->uuid != NULL)
        head.uuid = uuid_pack(uuid_of(shelf, object), uuid);
    if (head.uuid)
        buffer_add(&shelf->bytes, uuid, sizeof(uuid));
    (void)encode_piece(shelf, &shelf->own, head.uuid ? NULL : shelf->uuid, object);
    head.len = (uint32_t)shelf->bytes.len;
    /* Never less than the struct: it may be read as a whole, up to its padding. */
    size_t size = offsetof(struct shelved, own) + head.len;
    struct shelved *s = memory_take(size < sizeof(*s) ? sizeof(*s) : size);
    memcpy(s, &head, offsetof(struct shelved, own));
    if (head.len > 0)
        memcpy(s->own, shelf->bytes.at, head.len);
    return s;
}

struct shelved *shelf_share(struct shelved *s)
{
    must(s->references > 0 && s->references < UINT32_MAX);
    s->references++;
    return s;
}

void shelf_drop(struct shelf *shelf, struct shelved *s)
{
    if (s == NULL || --s->references > 0)
        return;
    for (int k = 0; k < SHELF_PARTS; k++)
        drop_part(shelf, s->parts[k]);
    memory_free(s);
}

bool shelf_same(const struct shelved *a, const struct shelved *b)
{
    bool same = a->uuid == b->uuid && a->echoes == b->echoes && a->len == b->len &&
                memcmp(a->own, b->own, a->len) == 0;
    for (int k = 0; k < SHELF_PARTS; k++)
        same = same && a->parts[k] == b->parts[k];
    return same;
}

/* ---- pieces of a record, one behind the other ---- */

struct pieces {
    uint32_t count;
    struct str at[SHELF_PARTS + 1]; /* each a map */
};

static void add_piece(struct pieces *p, const void *at, size_t len)
{
    if (len > 0)
        p->at[p->count++] = (struct str){at, (uint32_t)len};
}

static struct pieces pieces_of(const struct shelved *s)
{
    struct pieces p = {0};
    size_t skip = s->uuid ? UUID_BYTES : 0;
    add_piece(&p, s->own + skip, s->len - skip);
    for (int k = 0; k < SHELF_PARTS; k++)
        if (s->parts[k] != NULL)
            add_piece(&p, s->parts[k]->at, s->parts[k]->len);
    return p;
}

/* How many fields a map has; rest becomes what is behind its head. */
static uint32_t open_map(struct str map, struct str *rest)
{
    const uint8_t *at = (const uint8_t *)map.at;
    uint32_t head = at[0] == MAP16 ? 3 : 1;
    *rest = (struct str){map.at + head, map.len - head};
    return head == 3 ? (uint32_t)at[1] << 8 | at[2] : at[0] & 15u;
}

static void add_uuid(const struct shelf *shelf, const struct shelved *s, struct buffer *out)
{
    const uint8_t head[] = {shelf->uuid->tag, STR8, UUID_TEXT};
    char text[UUID_TEXT];
    uuid_print(s->own, text);
    buffer_add(out, head, sizeof(head));
    buffer_add(out, text, sizeof(text));
}

/* As it was cut, which is the record unless labels repeat its name. */
static void join(const struct shelf *shelf, const struct shelved *s, struct buffer *out)
{
    struct pieces p = pieces_of(s);
    struct str fields[SHELF_PARTS + 1];
    uint32_t count = s->uuid;
    for (uint32_t i = 0; i < p.count; i++)
        count += open_map(p.at[i], &fields[i]);
    const uint8_t head[] = {MAP16, (uint8_t)(count >> 8), (uint8_t)count};
    buffer_add(out, head, sizeof(head));
    if (s->uuid)
        add_uuid(shelf, s, out);
    for (uint32_t i = 0; i < p.count; i++)
        buffer_add_str(out, fields[i]);
}

void shelf_get(const struct shelf *shelf, const struct shelved *s, void *object, struct arena *a)
{
    struct buffer bytes = {0};
    join(shelf, s, &bytes);
    struct str whole = arena_copy(a, buffer_str(&bytes));
    buffer_free(&bytes);
    struct cursor in = {(const uint8_t *)whole.at, (const uint8_t *)whole.at + whole.len};
    must(codec_decode(shelf->record, object, &in, a));
    if (s->echoes)
        replace_values(labels_of(shelf, object), ECHO, name_of(shelf, object));
}

void shelf_encoded(const struct shelf *shelf, const struct shelved *s, struct buffer *out)
{
    if (!s->echoes) {
        join(shelf, s, out);
        return;
    }
    struct arena memory = {0};
    void *object = arena_take(&memory, shelf->record->size);
    shelf_get(shelf, s, object, &memory);
    codec_encode(shelf->record, object, out);
    arena_free(&memory);
}

struct str shelf_str(const struct shelved *s, uint8_t tag)
{
    struct pieces p = pieces_of(s);
    struct str found = {NULL, 0};
    for (uint32_t i = 0; i < p.count && found.len == 0; i++)
        found = codec_find_str(p.at[i], tag);
    return found;
}

bool shelf_uuid_is(const struct shelved *s, uint8_t tag, struct str uuid)
{
    uint8_t bytes[UUID_BYTES];
    if (!s->uuid)
        return str_equal(shelf_str(s, tag), uuid);
    return uuid_pack(uuid, bytes) && memcmp(bytes, s->own, sizeof(bytes)) == 0;
}

struct str shelf_uuid(const struct shelved *s, uint8_t tag, char *text)
{
    if (!s->uuid)
        return shelf_str(s, tag);
    uuid_print(s->own, text);
    return (struct str){text, UUID_TEXT};
}

size_t shelf_size(const struct shelved *s)
{
    size_t size = offsetof(struct shelved, own) + s->len;
    for (int k = 0; k < SHELF_PARTS; k++)
        size += s->parts[k] != NULL ? s->parts[k]->len : 0;
    return size;
}
