/* packed_store: the codec's bytes of a record, cut into maps of tags to values: its own one and the
 * parts. The one idea: an encoded record is a map, so the maps of its pieces, put one behind the
 * other under a common count, are the record again, and nothing has to be decoded to be sent.
 *
 * What must stay true: a part is in the table exactly while records use it, so equal parts are the
 * same part; every field is in exactly one piece, or is the list whose elements are parts. */
#include "proto/packed_store.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

const struct store_rule store_pods = {
    &pod_record,
    {"namespace_name scheduler_name priority preemption_policy labels owner_kind owner_name "
     "owner_api owner_uid gang gang_api",
     "gates request limits score_request usage usage_score_cpu usage_score_memory ports "
     "node_selector "
     "has_node_selector required_terms has_required_terms preferred_terms tolerations images "
     "extended_asks amounts container_count condition_types has_spread affinity_required "
     "affinity_preferred "
     "anti_affinity_required anti_affinity_preferred spread features"},
    "uid",
    NULL,
    NULL};

/* Lists of images are as good as never alike, and the images in them nearly always. */
const struct store_rule store_nodes = {&node_record,
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

struct store_part {
    uint32_t users, hash, len;
    uint32_t number; /* of an element; 0: it is none so far */
    char at[];
};

/* Four bytes for an element instead of eight. */
struct numbers {
    struct store_part **of; /* by number; 0 is nobody's */
    uint32_t *unused;       /* numbers below limit that nobody has */
    uint32_t unused_count, limit, room;
};

struct packed_store {
    const struct record *record;
    const struct field *uuid;
    const struct field *name, *labels; /* NULL: labels stay as they are */
    const struct field *elements;      /* NULL: no list is taken apart */
    struct piece own, parts[STORE_PARTS];
    struct table known; /* struct store_part */
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

struct packed_store *store_new(const struct store_rule *rule)
{
    struct packed_store *store = memory_take(sizeof(*store));
    store->record = rule->record;
    store->muted = memory_take(rule->record->size);
    for (size_t i = 0; i < rule->record->field_count; i++) {
        const struct field *f = &rule->record->fields[i];
        struct piece *piece = &store->own;
        for (int k = 0; k < STORE_PARTS; k++)
            if (has_name(rule->parts[k], f->name))
                piece = &store->parts[k];
        if (rule->uuid != NULL && strcmp(rule->uuid, f->name) == 0)
            store->uuid = f;
        else if (rule->elements == NULL || strcmp(rule->elements, f->name) != 0)
            add_field(piece, f);
    }
    must((rule->uuid == NULL) == (store->uuid == NULL));
    store->elements = field_named(rule->record, rule->elements);
    must(rule->elements == NULL || (store->elements != NULL && store->elements->kind == KIND_list));
    store->labels = field_named(rule->record, rule->labels);
    store->name = store->labels != NULL ? field_named(rule->record, "name") : NULL;
    must(store->labels == NULL ||
         (store->name != NULL && store->labels->of == &label_record && store->parts[0].count == 1 &&
          store->parts[0].at[0] == store->labels));
    return store;
}

void store_free(struct packed_store **freeing)
{
    struct packed_store *store = *freeing;
    if (store == NULL)
        return;
    must(store->known.count == 0);
    table_free(&store->known);
    memory_free(store->numbers.of);
    memory_free(store->numbers.unused);
    memory_free(store->own.at);
    for (int k = 0; k < STORE_PARTS; k++)
        memory_free(store->parts[k].at);
    memory_free(store->muted);
    arena_free(&store->memory);
    buffer_free(&store->bytes);
    memory_free(store);
    *freeing = NULL;
}

/* Adds the piece's fields of the object, encoded; nothing when all of them are zero. The extra
 * ones, NULL for none, go with them. */
static void encode_piece(struct packed_store *store, const struct piece *piece,
                         const struct field *const extra[2], const void *object)
{
    uint32_t count = piece->count;
    for (int i = 0; i < 2; i++)
        if (extra[i] != NULL)
            piece->at[count++] = extra[i];
    codec_encode_fields(piece->at, count, object, &store->bytes);
}

/* ---- parts ---- */

static bool is_part(const void *thing, const void *key)
{
    const struct store_part *part = thing;
    const struct str *bytes = key;
    return str_equal((struct str){part->at, part->len}, *bytes);
}

static struct store_part *take_part(struct packed_store *store, struct str bytes)
{
    uint32_t hash = table_hash(str_hash(bytes));
    struct store_part *part = table_get(&store->known, hash, is_part, &bytes);
    if (part == NULL) {
        part = memory_take(sizeof(*part) + bytes.len);
        part->hash = hash;
        part->len = bytes.len;
        memcpy(part->at, bytes.at, bytes.len);
        table_add(&store->known, hash, part);
    }
    must(part->users < UINT32_MAX);
    part->users++;
    return part;
}

static void drop_part(struct packed_store *store, struct store_part *part)
{
    if (part == NULL || --part->users > 0)
        return;
    table_remove(&store->known, part->hash, part);
    if (part->number > 0) {
        store->numbers.of[part->number] = NULL;
        store->numbers.unused[store->numbers.unused_count++] = part->number;
    }
    memory_free(part);
}

/* ---- elements ---- */

static uint32_t number_of(struct numbers *n, struct store_part *part)
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
            n->of = memory_resize(n->of, n->room * sizeof(struct store_part *));
            n->unused = memory_resize(n->unused, n->room * sizeof(*n->unused));
        }
    }
    n->of[part->number] = part;
    return part->number;
}

static const struct list *list_in(const struct packed_store *store, const void *object)
{
    return (const struct list *)(const void *)((const char *)object + store->elements->offset);
}

/* The numbers of the list's elements in bytes, and how many they are. */
static uint32_t take_elements(struct packed_store *store, const struct list *list)
{
    const struct record *r = store->elements->of;
    for (uint32_t i = 0; i < list->count; i++) {
        size_t before = store->bytes.len;
        codec_encode(r, (const char *)list->at + i * r->size, &store->bytes);
        struct str encoded = {store->bytes.at + before, (uint32_t)(store->bytes.len - before)};
        uint32_t number = number_of(&store->numbers, take_part(store, encoded));
        store->bytes.len = before;
        buffer_add(&store->bytes, &number, sizeof(number));
    }
    return list->count;
}

static struct store_part *element(const struct packed_store *store, const struct stored *s,
                                  uint32_t i)
{
    uint32_t number;
    memcpy(&number, s->own + (s->uuid ? UUID_BYTES : 0) + i * sizeof(number), sizeof(number));
    must(number > 0 && number <= store->numbers.limit && store->numbers.of[number] != NULL);
    return store->numbers.of[number];
}

/* ---- labels that repeat the name ---- */

struct labels {
    uint32_t count;
    struct label *at;
};

static struct labels *labels_of(const struct packed_store *store, void *object)
{
    return (struct labels *)(void *)((char *)object + store->labels->offset);
}

static struct str name_of(const struct packed_store *store, const void *object)
{
    return *(const struct str *)(const void *)((const char *)object + store->name->offset);
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
static const void *mute(struct packed_store *store, const void *object)
{
    if (store->labels == NULL)
        return NULL;
    memcpy(store->muted, object, store->record->size);
    struct labels *labels = labels_of(store, store->muted);
    struct str name = name_of(store, object);
    if (name.len == 0 || !any_is(labels, name) || any_echoes(labels))
        return NULL;
    const struct label *from = labels->at;
    arena_reset(&store->memory);
    labels->at = arena_take(&store->memory, labels->count * sizeof(*labels->at));
    memcpy(labels->at, from, labels->count * sizeof(*labels->at));
    replace_values(labels, name, ECHO);
    return store->muted;
}

/* ---- records ---- */

static struct str uuid_of(const struct packed_store *store, const void *object)
{
    return *(const struct str *)(const void *)((const char *)object + store->uuid->offset);
}

struct stored *store_put(struct packed_store *store, const void *object)
{
    const void *muted = mute(store, object);
    const struct field *extra[2] = {NULL, NULL};
    struct stored head = {.references = 1, .echoes = muted != NULL};
    uint8_t uuid[UUID_BYTES];
    if (muted != NULL)
        object = muted;
    for (int k = 0; k < STORE_PARTS; k++) {
        buffer_reset(&store->bytes);
        encode_piece(store, &store->parts[k], extra, object);
        if (store->bytes.len > 0)
            head.parts[k] = take_part(store, buffer_str(&store->bytes));
    }
    buffer_reset(&store->bytes);
    if (store->uuid != NULL)
        head.uuid = uuid_pack(uuid_of(store, object), uuid);
    if (head.uuid)
        buffer_add(&store->bytes, uuid, sizeof(uuid));
    else
        extra[0] = store->uuid;
    if (store->elements != NULL && list_in(store, object)->count <= ELEMENTS_MAX)
        head.elements = take_elements(store, list_in(store, object)) & ELEMENTS_MAX;
    else
        extra[1] = store->elements;
    encode_piece(store, &store->own, extra, object);
    head.len = (uint32_t)store->bytes.len;
    /* Never less than the struct: it may be read as a whole, up to its padding. */
    size_t size = offsetof(struct stored, own) + head.len;
    struct stored *s = memory_take(size < sizeof(*s) ? sizeof(*s) : size);
    memcpy(s, &head, offsetof(struct stored, own));
    if (head.len > 0)
        memcpy(s->own, store->bytes.at, head.len);
    return s;
}

struct stored *store_share(struct stored *s)
{
    must(s->references > 0 && s->references < UINT32_MAX);
    s->references++;
    return s;
}

void store_drop(struct packed_store *store, struct stored *s)
{
    if (s == NULL || --s->references > 0)
        return;
    for (int k = 0; k < STORE_PARTS; k++)
        drop_part(store, s->parts[k]);
    for (uint32_t i = 0; i < s->elements; i++)
        drop_part(store, element(store, s, i));
    memory_free(s);
}

uint64_t store_parts_hash(const struct stored *s)
{
    uint64_t hash = 0;
    for (int i = 0; i < STORE_PARTS; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + (s->parts[i] != NULL ? s->parts[i]->hash : 0);
    return hash;
}

bool store_same(const struct stored *a, const struct stored *b)
{
    bool same = a->uuid == b->uuid && a->echoes == b->echoes && a->elements == b->elements &&
                a->len == b->len && memcmp(a->own, b->own, a->len) == 0;
    for (int k = 0; k < STORE_PARTS; k++)
        same = same && a->parts[k] == b->parts[k];
    return same;
}

/* ---- pieces of a record, one behind the other ---- */

struct pieces {
    uint32_t count;
    struct str at[STORE_PARTS + 1]; /* each a map */
};

static void add_piece(struct pieces *p, const void *at, size_t len)
{
    if (len > 0)
        p->at[p->count++] = (struct str){at, (uint32_t)len};
}

static struct pieces pieces_of(const struct stored *s)
{
    struct pieces p = {0};
    size_t skip = (s->uuid ? UUID_BYTES : 0) + s->elements * sizeof(uint32_t);
    add_piece(&p, s->own + skip, s->len - skip);
    for (int k = 0; k < STORE_PARTS; k++)
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

static void add_uuid(const struct packed_store *store, const struct stored *s, struct buffer *out)
{
    const uint8_t head[] = {store->uuid->tag, STR8, UUID_TEXT};
    char text[UUID_TEXT];
    uuid_print(s->own, text);
    buffer_add(out, head, sizeof(head));
    buffer_add(out, text, sizeof(text));
}

static void add_elements(const struct packed_store *store, const struct stored *s,
                         struct buffer *out)
{
    buffer_add(out, &store->elements->tag, 1);
    codec_put_list(out, s->elements);
    for (uint32_t i = 0; i < s->elements; i++) {
        const struct store_part *part = element(store, s, i);
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
static void join(const struct packed_store *store, const struct stored *s, const struct joint *with,
                 struct buffer *out)
{
    struct pieces p = pieces_of(s);
    struct str fields[STORE_PARTS + 1];
    uint32_t count = s->uuid + (s->elements > 0) + (with->tag != 0);
    const char *labels = s->echoes && !with->as_cut ? s->parts[0]->at : NULL;
    for (uint32_t i = 0; i < p.count; i++)
        count += open_map(p.at[i], &fields[i]);
    codec_put_map(out, count);
    if (s->uuid)
        add_uuid(store, s, out);
    if (s->elements > 0)
        add_elements(store, s, out);
    if (with->tag != 0) {
        buffer_add(out, &with->tag, 1);
        codec_put_str(out, with->str);
    }
    for (uint32_t i = 0; i < p.count; i++)
        if (p.at[i].at == labels)
            codec_replace(fields[i], ECHO, store_str(s, store->name->tag), out);
        else
            buffer_add_str(out, fields[i]);
}

/* No less than the record takes as it was cut; joining it asks for a little more than it takes. */
static size_t joined_most(const struct packed_store *store, const struct stored *s)
{
    return store_size(store, s) + UUID_TEXT + 64;
}

void store_get(const struct packed_store *store, const struct stored *s, void *object,
               struct arena *a)
{
    const struct joint as_cut = {.as_cut = true};
    size_t room = joined_most(store, s);
    char *at = arena_take(a, room);
    struct buffer bytes = {.at = at, .room = room};
    join(store, s, &as_cut, &bytes);
    must(bytes.at == at); /* it was not too little, and has not moved */
    struct byte_cursor in = {(const uint8_t *)at, (const uint8_t *)at + bytes.len};
    must(codec_decode(store->record, object, &in, a));
    if (s->echoes)
        replace_values(labels_of(store, object), ECHO, name_of(store, object));
}

void store_encoded(const struct packed_store *store, const struct stored *s, struct buffer *out)
{
    const struct joint plain = {0};
    join(store, s, &plain, out);
}

void store_encoded_with(const struct packed_store *store, const struct stored *s, uint8_t tag,
                        struct str str, struct buffer *out)
{
    const struct joint with = {.tag = tag, .str = str};
    must(tag > 0 && tag < 0x80);
    join(store, s, &with, out);
}

struct str store_str(const struct stored *s, uint8_t tag)
{
    struct pieces p = pieces_of(s);
    struct str found = {NULL, 0};
    for (uint32_t i = 0; i < p.count && found.len == 0; i++)
        found = codec_find_str(p.at[i], tag);
    return found;
}

bool store_has(const struct stored *s, uint8_t tag)
{
    struct pieces p = pieces_of(s);
    for (uint32_t i = 0; i < p.count; i++)
        if (codec_has(p.at[i], tag))
            return true;
    return false;
}

bool store_uuid_is(const struct stored *s, uint8_t tag, struct str uuid)
{
    uint8_t bytes[UUID_BYTES];
    if (!s->uuid)
        return str_equal(store_str(s, tag), uuid);
    return uuid_pack(uuid, bytes) && memcmp(bytes, s->own, sizeof(bytes)) == 0;
}

struct str store_uuid(const struct stored *s, uint8_t tag, char *text)
{
    if (!s->uuid)
        return store_str(s, tag);
    uuid_print(s->own, text);
    return (struct str){text, UUID_TEXT};
}

size_t store_size(const struct packed_store *store, const struct stored *s)
{
    size_t size = offsetof(struct stored, own) + s->len;
    for (int k = 0; k < STORE_PARTS; k++)
        size += s->parts[k] != NULL ? s->parts[k]->len : 0;
    for (uint32_t i = 0; i < s->elements; i++)
        size += element(store, s, i)->len;
    return size;
}
