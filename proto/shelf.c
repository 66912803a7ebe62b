/* shelf: the codec's bytes of a record, cut into maps of tags to values: its own one and the parts.
 * The one idea: an encoded record is a map, so the maps of its pieces, put one behind the other
 * under a common count, are the record again, and nothing has to be decoded to be sent.
 *
 * What must stay true: a part is in the table exactly while records use it, so equal parts are the
 * same part; every field is in exactly one piece, or is the list whose elements are parts. */
#include "proto/shelf.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

const struct shelf_rule shelf_pods = {
    &pod_record,
    {"namespace_name scheduler_name priority preemption_policy labels owner_kind owner_name "
     "owner_api owner_uid gang gang_api",
     "gates request limits score_request usage usage_score_cpu usage_score_memory ports "
     "node_selector "
     "has_node_selector required_terms has_required_terms preferred_terms tolerations images "
     "extended_asks container_count condition_types has_spread affinity_required "
     "affinity_preferred "
     "anti_affinity_required anti_affinity_preferred spread features"},
    "uid",
    NULL,
    NULL};

/* Lists of images are as good as never alike, and the images in them nearly always. */
const struct shelf_rule shelf_nodes = {&node_record,
                                       {"labels", "taints allocatable features conditions avoided"},
                                       "uid",
                                       "labels",
                                       "images"};

/* Stands for the name in a label; no API server lets one in. */
#define ECHO STR_LITERAL("\1")

#define MAP16 0xde
#define STR8  0xd9

#define ELEMENTS_MAX ((1u << 14) - 1) /* a longer list stays in the record's own piece */

/* The fields of one piece; room for two more. */
struct piece {
    uint32_t count;
    const struct field **at;
};

struct shelf_part {
    uint32_t users, hash, len;
    uint32_t number; /* of an element; 0: it is none so far */
    char at[];
};

/* Four bytes for an element instead of eight. */
struct numbers {
    struct shelf_part **of; /* by number; 0 is nobody's */
    uint32_t *unused;       /* numbers below limit that nobody has */
    uint32_t unused_count, limit, room;
};

struct shelf {
    const struct record *record;
    const struct field *uuid;
    const struct field *name, *labels; /* NULL: labels stay as they are */
    const struct field *elements;      /* NULL: no list is taken apart */
    struct piece own, parts[SHELF_PARTS];
    struct table known; /* struct shelf_part */
    struct numbers numbers;
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
    piece->at = memory_resize(piece->at, (piece->count + 3) * sizeof(struct field *));
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
    shelf->muted = memory_take(rule->record->size);
    for (size_t i = 0; i < rule->record->field_count; i++) {
        const struct field *f = &rule->record->fields[i];
        struct piece *piece = &shelf->own;
        for (int k = 0; k < SHELF_PARTS; k++)
            if (has_name(rule->parts[k], f->name))
                piece = &shelf->parts[k];
        if (rule->uuid != NULL && strcmp(rule->uuid, f->name) == 0)
            shelf->uuid = f;
        else if (rule->elements == NULL || strcmp(rule->elements, f->name) != 0)
            add_field(piece, f);
    }
    must((rule->uuid == NULL) == (shelf->uuid == NULL));
    shelf->elements = field_named(rule->record, rule->elements);
    must(rule->elements == NULL || (shelf->elements != NULL && shelf->elements->kind == KIND_list));
    shelf->labels = field_named(rule->record, rule->labels);
    shelf->name = shelf->labels != NULL ? field_named(rule->record, "name") : NULL;
    must(shelf->labels == NULL ||
         (shelf->name != NULL && shelf->labels->of == &label_record && shelf->parts[0].count == 1 &&
          shelf->parts[0].at[0] == shelf->labels));
    return shelf;
}

void shelf_free(struct shelf **freeing)
{
    struct shelf *shelf = *freeing;
    if (shelf == NULL)
        return;
    must(shelf->known.count == 0);
    table_free(&shelf->known);
    memory_free(shelf->numbers.of);
    memory_free(shelf->numbers.unused);
    memory_free(shelf->own.at);
    for (int k = 0; k < SHELF_PARTS; k++)
        memory_free(shelf->parts[k].at);
    memory_free(shelf->muted);
    arena_free(&shelf->memory);
    buffer_free(&shelf->bytes);
    memory_free(shelf);
    *freeing = NULL;
}

/* Adds the piece's fields of the object, encoded; nothing when all of them are zero. The extra
 * ones, NULL for none, go with them. */
static void encode_piece(struct shelf *shelf, const struct piece *piece,
                         const struct field *const extra[2], const void *object)
{
    uint32_t count = piece->count;
    for (int i = 0; i < 2; i++)
        if (extra[i] != NULL)
            piece->at[count++] = extra[i];
    codec_encode_fields(piece->at, count, object, &shelf->bytes);
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
    if (part->number > 0) {
        shelf->numbers.of[part->number] = NULL;
        shelf->numbers.unused[shelf->numbers.unused_count++] = part->number;
    }
    memory_free(part);
}

/* ---- elements ---- */

static uint32_t number_of(struct numbers *n, struct shelf_part *part)
{
    if (part->number > 0)
        return part->number;
    if (n->unused_count > 0) {
        part->number = n->unused[--n->unused_count];
    } else {
        must(n->limit < UINT32_MAX);
        part->number = ++n->limit;
        if (part->number >= n->room) {
            n->room = n->room == 0 ? 64 : n->room * 2;
            n->of = memory_resize(n->of, n->room * sizeof(struct shelf_part *));
            n->unused = memory_resize(n->unused, n->room * sizeof(*n->unused));
        }
    }
    n->of[part->number] = part;
    return part->number;
}

static const struct list *list_in(const struct shelf *shelf, const void *object)
{
    return (const struct list *)(const void *)((const char *)object + shelf->elements->offset);
}

/* The numbers of the list's elements in bytes, and how many they are. */
static uint32_t take_elements(struct shelf *shelf, const struct list *list)
{
    const struct record *r = shelf->elements->of;
    for (uint32_t i = 0; i < list->count; i++) {
        size_t before = shelf->bytes.len;
        codec_encode(r, (const char *)list->at + i * r->size, &shelf->bytes);
        struct str encoded = {shelf->bytes.at + before, (uint32_t)(shelf->bytes.len - before)};
        uint32_t number = number_of(&shelf->numbers, take_part(shelf, encoded));
        shelf->bytes.len = before;
        buffer_add(&shelf->bytes, &number, sizeof(number));
    }
    return list->count;
}

static struct shelf_part *element(const struct shelf *shelf, const struct shelved *s, uint32_t i)
{
    uint32_t number;
    memcpy(&number, s->own + (s->uuid ? UUID_BYTES : 0) + i * sizeof(number), sizeof(number));
    must(number > 0 && number <= shelf->numbers.limit && shelf->numbers.of[number] != NULL);
    return shelf->numbers.of[number];
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

/* Whether it could be taken for the name that it stands for. */
static bool any_echoes(const struct labels *labels)
{
    for (uint32_t i = 0; i < labels->count; i++)
        if (str_equal(labels->at[i].key, ECHO) || str_equal(labels->at[i].value, ECHO))
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
    if (name.len == 0 || !any_is(labels, name) || any_echoes(labels))
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
    const struct field *extra[2] = {NULL, NULL};
    struct shelved head = {.references = 1, .echoes = muted != NULL};
    uint8_t uuid[UUID_BYTES];
    if (muted != NULL)
        object = muted;
    for (int k = 0; k < SHELF_PARTS; k++) {
        buffer_reset(&shelf->bytes);
        encode_piece(shelf, &shelf->parts[k], extra, object);
        if (shelf->bytes.len > 0)
            head.parts[k] = take_part(shelf, buffer_str(&shelf->bytes));
    }
    buffer_reset(&shelf->bytes);
    if (shelf->uuid != NULL)
        head.uuid = uuid_pack(uuid_of(shelf, object), uuid);
    if (head.uuid)
        buffer_add(&shelf->bytes, uuid, sizeof(uuid));
    else
        extra[0] = shelf->uuid;
    if (shelf->elements != NULL && list_in(shelf, object)->count <= ELEMENTS_MAX)
        head.elements = take_elements(shelf, list_in(shelf, object)) & ELEMENTS_MAX;
    else
        extra[1] = shelf->elements;
    encode_piece(shelf, &shelf->own, extra, object);
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
    for (uint32_t i = 0; i < s->elements; i++)
        drop_part(shelf, element(shelf, s, i));
    memory_free(s);
}

uint64_t shelf_parts_hash(const struct shelved *s)
{
    uint64_t hash = 0;
    for (int i = 0; i < SHELF_PARTS; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + (s->parts[i] != NULL ? s->parts[i]->hash : 0);
    return hash;
}

bool shelf_same(const struct shelved *a, const struct shelved *b)
{
    bool same = a->uuid == b->uuid && a->echoes == b->echoes && a->elements == b->elements &&
                a->len == b->len && memcmp(a->own, b->own, a->len) == 0;
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
    size_t skip = (s->uuid ? UUID_BYTES : 0) + s->elements * sizeof(uint32_t);
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

static void add_elements(const struct shelf *shelf, const struct shelved *s, struct buffer *out)
{
    buffer_add(out, &shelf->elements->tag, 1);
    codec_put_list(out, s->elements);
    for (uint32_t i = 0; i < s->elements; i++) {
        const struct shelf_part *part = element(shelf, s, i);
        buffer_add(out, part->at, part->len);
    }
}

/* What a record is joined with. */
struct joint {
    bool as_cut; /* labels keep what stands for the name */
    uint8_t tag; /* of one str more; 0: there is none */
    struct str str;
};

/* The record, encoded. */
static void join(const struct shelf *shelf, const struct shelved *s, const struct joint *with,
                 struct buffer *out)
{
    struct pieces p = pieces_of(s);
    struct str fields[SHELF_PARTS + 1];
    uint32_t count = s->uuid + (s->elements > 0) + (with->tag != 0);
    const char *labels = s->echoes && !with->as_cut ? s->parts[0]->at : NULL;
    for (uint32_t i = 0; i < p.count; i++)
        count += open_map(p.at[i], &fields[i]);
    codec_put_map(out, count);
    if (s->uuid)
        add_uuid(shelf, s, out);
    if (s->elements > 0)
        add_elements(shelf, s, out);
    if (with->tag != 0) {
        buffer_add(out, &with->tag, 1);
        codec_put_str(out, with->str);
    }
    for (uint32_t i = 0; i < p.count; i++)
        if (p.at[i].at == labels)
            codec_replace(fields[i], ECHO, shelf_str(s, shelf->name->tag), out);
        else
            buffer_add_str(out, fields[i]);
}

/* No less than the record takes as it was cut; joining it asks for a little more than it takes. */
static size_t joined_most(const struct shelf *shelf, const struct shelved *s)
{
    return shelf_size(shelf, s) + UUID_TEXT + 64;
}

void shelf_get(const struct shelf *shelf, const struct shelved *s, void *object, struct arena *a)
{
    const struct joint as_cut = {.as_cut = true};
    size_t room = joined_most(shelf, s);
    char *at = arena_take(a, room);
    struct buffer bytes = {.at = at, .room = room};
    join(shelf, s, &as_cut, &bytes);
    must(bytes.at == at); /* it was not too little, and has not moved */
    struct byte_cursor in = {(const uint8_t *)at, (const uint8_t *)at + bytes.len};
    must(codec_decode(shelf->record, object, &in, a));
    if (s->echoes)
        replace_values(labels_of(shelf, object), ECHO, name_of(shelf, object));
}

void shelf_encoded(const struct shelf *shelf, const struct shelved *s, struct buffer *out)
{
    const struct joint plain = {0};
    join(shelf, s, &plain, out);
}

void shelf_encoded_with(const struct shelf *shelf, const struct shelved *s, uint8_t tag,
                        struct str str, struct buffer *out)
{
    const struct joint with = {.tag = tag, .str = str};
    must(tag > 0 && tag < 0x80);
    join(shelf, s, &with, out);
}

struct str shelf_str(const struct shelved *s, uint8_t tag)
{
    struct pieces p = pieces_of(s);
    struct str found = {NULL, 0};
    for (uint32_t i = 0; i < p.count && found.len == 0; i++)
        found = codec_find_str(p.at[i], tag);
    return found;
}

bool shelf_has(const struct shelved *s, uint8_t tag)
{
    struct pieces p = pieces_of(s);
    for (uint32_t i = 0; i < p.count; i++)
        if (codec_has(p.at[i], tag))
            return true;
    return false;
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

size_t shelf_size(const struct shelf *shelf, const struct shelved *s)
{
    size_t size = offsetof(struct shelved, own) + s->len;
    for (int k = 0; k < SHELF_PARTS; k++)
        size += s->parts[k] != NULL ? s->parts[k]->len : 0;
    for (uint32_t i = 0; i < s->elements; i++)
        size += element(shelf, s, i)->len;
    return size;
}
