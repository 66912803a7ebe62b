/* second_reader: bytes become msgpack-c's tree, and the tree a record, by the descriptors that the
 * codec uses as well. msgpack-c's unpacker takes memory for as many values as a count says, 8 GiB
 * for five bytes; so its template is instantiated here with callbacks that refuse a count beyond
 * the bytes. What must stay true: it shares no code with the codec's reader but the arena, so that
 * a bug in the one is no bug in the other; memory is bounded by the bytes and the arena's limit. */
#include "proto/second_reader.h"
#include "proto/base/must.h"

#include <inttypes.h>
#include <msgpack/unpack.h>
#include <msgpack/unpack_define.h>
#include <string.h>

/* ---- bytes to a tree --------------------------------------------------------------- */

struct unpacking {
    msgpack_zone *zone;
    size_t len; /* of all the bytes: what no count can exceed */
};

static inline msgpack_object on_root(struct unpacking *u)
{
    (void)u;
    return (msgpack_object){.type = MSGPACK_OBJECT_NIL};
}

static inline int on_uint64(struct unpacking *u, uint64_t n, msgpack_object *o)
{
    (void)u;
    *o = (msgpack_object){.type = MSGPACK_OBJECT_POSITIVE_INTEGER, .via.u64 = n};
    return 0;
}

static inline int on_int64(struct unpacking *u, int64_t n, msgpack_object *o)
{
    if (n >= 0)
        return on_uint64(u, (uint64_t)n, o);
    *o = (msgpack_object){.type = MSGPACK_OBJECT_NEGATIVE_INTEGER, .via.i64 = n};
    return 0;
}

/* All widths become the same. */
#define on_uint8  on_uint64
#define on_uint16 on_uint64
#define on_uint32 on_uint64
#define on_int8   on_int64
#define on_int16  on_int64
#define on_int32  on_int64

static inline int on_double(struct unpacking *u, double n, msgpack_object *o)
{
    (void)u;
    *o = (msgpack_object){.type = MSGPACK_OBJECT_FLOAT64, .via.f64 = n};
    return 0;
}

#define on_float(u, n, o) on_double(u, (double)(n), o)

static inline int on_nil(struct unpacking *u, msgpack_object *o)
{
    *o = on_root(u);
    return 0;
}

static inline int on_true(struct unpacking *u, msgpack_object *o)
{
    (void)u;
    *o = (msgpack_object){.type = MSGPACK_OBJECT_BOOLEAN, .via.boolean = true};
    return 0;
}

static inline int on_false(struct unpacking *u, msgpack_object *o)
{
    (void)u;
    *o = (msgpack_object){.type = MSGPACK_OBJECT_BOOLEAN};
    return 0;
}

static inline int on_array(struct unpacking *u, uint32_t count, msgpack_object *o)
{
    if (count > u->len)
        return MSGPACK_UNPACK_NOMEM_ERROR;
    *o = (msgpack_object){.type = MSGPACK_OBJECT_ARRAY};
    if (count > 0)
        o->via.array.ptr = msgpack_zone_malloc(u->zone, count * sizeof(msgpack_object));
    return count == 0 || o->via.array.ptr != NULL ? 0 : MSGPACK_UNPACK_NOMEM_ERROR;
}

static inline int on_array_item(struct unpacking *u, msgpack_object *array, msgpack_object item)
{
    (void)u;
    array->via.array.ptr[array->via.array.size++] = item;
    return 0;
}

static inline int on_map(struct unpacking *u, uint32_t count, msgpack_object *o)
{
    if (count > u->len / 2)
        return MSGPACK_UNPACK_NOMEM_ERROR;
    *o = (msgpack_object){.type = MSGPACK_OBJECT_MAP};
    if (count > 0)
        o->via.map.ptr = msgpack_zone_malloc(u->zone, count * sizeof(msgpack_object_kv));
    return count == 0 || o->via.map.ptr != NULL ? 0 : MSGPACK_UNPACK_NOMEM_ERROR;
}

static inline int on_map_item(struct unpacking *u, msgpack_object *map, msgpack_object key,
                              msgpack_object value)
{
    (void)u;
    map->via.map.ptr[map->via.map.size++] = (msgpack_object_kv){key, value};
    return 0;
}

static inline int on_str(struct unpacking *u, const char *base, const char *at, unsigned int len,
                         msgpack_object *o)
{
    (void)u, (void)base;
    *o = (msgpack_object){.type = MSGPACK_OBJECT_STR, .via.str = {len, len > 0 ? at : NULL}};
    return 0;
}

/* A str may be written as bytes, too. */
#define on_bin on_str

static inline int on_ext(struct unpacking *u, const char *base, const char *at, unsigned int len,
                         msgpack_object *o)
{
    (void)u, (void)base, (void)at, (void)len; /* nobody looks into one */
    *o = (msgpack_object){.type = MSGPACK_OBJECT_EXT};
    return 0;
}

#define msgpack_unpack_struct(name)     struct unpack##name
#define msgpack_unpack_func(type, name) static inline type unpack##name
#define msgpack_unpack_callback(name)   on##name
#define msgpack_unpack_object           msgpack_object
#define msgpack_unpack_user             struct unpacking
#include <msgpack/unpack_template.h>

/* False when it is no msgpack. *used: bytes of the value. */
static bool unpack(struct str bytes, msgpack_zone *zone, msgpack_object *tree, size_t *used)
{
    struct unpack_context context = {.user = {zone, bytes.len}};
    *used = 0;
    unpack_init(&context);
    if (bytes.len == 0 || unpack_execute(&context, bytes.at, bytes.len, used) <= 0)
        return false;
    *tree = unpack_data(&context);
    return true;
}

/* ---- a tree to a record ------------------------------------------------------------ */

/* Deep as the tree, which msgpack-c bounds by MSGPACK_EMBED_STACK_SIZE. */
/* NOLINTBEGIN(misc-no-recursion) */

struct filling {
    struct arena *arena;
    const char *why; /* NULL so far */
};

static bool refuse(struct filling *f, const char *why)
{
    f->why = why;
    return false;
}

static bool is_integer(struct filling *f, const msgpack_object *o)
{
    if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        return true;
    if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
        return refuse(f, "wrong type");
    return o->via.u64 <= INT64_MAX || refuse(f, "out of range");
}

/* What nobody reads must be sound all the same. */
static bool is_sound(struct filling *f, const msgpack_object *o, int depth)
{
    bool sound = depth <= CODEC_DEPTH_MAX || refuse(f, "too deep");
    switch (o->type) {
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
    case MSGPACK_OBJECT_EXT: return refuse(f, "foreign value");
    case MSGPACK_OBJECT_POSITIVE_INTEGER: return sound && is_integer(f, o);
    case MSGPACK_OBJECT_ARRAY:
        for (uint32_t i = 0; sound && i < o->via.array.size; i++)
            sound = is_sound(f, &o->via.array.ptr[i], depth + 1);
        return sound;
    case MSGPACK_OBJECT_MAP:
        for (uint32_t i = 0; sound && i < o->via.map.size; i++)
            sound = is_sound(f, &o->via.map.ptr[i].key, depth + 1) &&
                    is_sound(f, &o->via.map.ptr[i].val, depth + 1);
        return sound;
    default: return sound;
    }
}

static bool fill_record(struct filling *f, const msgpack_object *map, const struct record *r,
                        char *object, int depth);

static bool fill_str(struct filling *f, const msgpack_object *o, struct str *s)
{
    if (o->type != MSGPACK_OBJECT_STR)
        return refuse(f, "wrong type");
    *s = (struct str){o->via.str.ptr, o->via.str.size};
    return true;
}

/* Room for as many elements as the array has; NULL, refused, when there is none. */
static void *room_for_all(struct filling *f, const msgpack_object *o, size_t size)
{
    void *room = o->type == MSGPACK_OBJECT_ARRAY && o->via.array.size > 0
                     ? arena_take(f->arena, o->via.array.size * size)
                     : NULL;
    if (o->type != MSGPACK_OBJECT_ARRAY)
        refuse(f, "wrong type");
    else if (o->via.array.size > 0 && room == NULL)
        refuse(f, "too much memory");
    return room;
}

static bool fill_strs(struct filling *f, const msgpack_object *o, struct strs *list)
{
    list->count = 0;
    list->at = room_for_all(f, o, sizeof(*list->at));
    for (; f->why == NULL && list->count < o->via.array.size; list->count++)
        if (!fill_str(f, &o->via.array.ptr[list->count], &list->at[list->count]))
            return false;
    return f->why == NULL;
}

static bool fill_list(struct filling *f, const msgpack_object *o, const struct record *of,
                      struct list *list, int depth)
{
    list->count = 0;
    list->at = room_for_all(f, o, of->size);
    for (; f->why == NULL && list->count < o->via.array.size; list->count++)
        if (!fill_record(f, &o->via.array.ptr[list->count], of,
                         (char *)list->at + list->count * of->size, depth + 1))
            return false;
    return f->why == NULL;
}

static bool fill_word(struct filling *f, const msgpack_object *o, const struct words *set,
                      uint32_t *number)
{
    struct str text;
    bool filled = fill_str(f, o, &text);
    if (filled)
        (void)words_find(set, text, number);
    return filled;
}

static bool fill_value(struct filling *f, const msgpack_object *o, const struct field *field,
                       char *at, int depth)
{
    switch ((enum kind)field->kind) {
    case KIND_bool:
        if (o->type != MSGPACK_OBJECT_BOOLEAN)
            return refuse(f, "wrong type");
        *(bool *)at = o->via.boolean;
        return true;
    case KIND_i64:
        if (!is_integer(f, o))
            return false;
        *(int64_t *)at = o->via.i64;
        return true;
    case KIND_str: return fill_str(f, o, (void *)at);
    case KIND_strs: return fill_strs(f, o, (void *)at);
    case KIND_list: return fill_list(f, o, field->of, (void *)at, depth);
    case KIND_one: return fill_record(f, o, field->of, at, depth + 1);
    case KIND_word: return fill_word(f, o, field->words, (void *)at);
    }
    return false;
}

static const struct field *field_of(const struct record *r, const msgpack_object *key)
{
    for (size_t i = 0; key->type == MSGPACK_OBJECT_POSITIVE_INTEGER && i < r->field_count; i++)
        if (r->fields[i].tag == key->via.u64)
            return &r->fields[i];
    return NULL;
}

static bool fill_record(struct filling *f, const msgpack_object *map, const struct record *r,
                        char *object, int depth)
{
    if (depth > CODEC_DEPTH_MAX)
        return refuse(f, "too deep");
    if (map->type != MSGPACK_OBJECT_MAP)
        return refuse(f, "wrong type");
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object_kv *pair = &map->via.map.ptr[i];
        const struct field *field = field_of(r, &pair->key);
        if (!is_integer(f, &pair->key) ||
            !(field == NULL ? is_sound(f, &pair->val, depth + 1)
                            : fill_value(f, &pair->val, field, object + field->offset, depth)))
            return false;
    }
    return true;
}

struct reading second_read(const struct record *r, void *object, struct str bytes, struct arena *a)
{
    struct filling f = {.arena = a};
    struct reading read = {.object = object};
    msgpack_zone *zone = msgpack_zone_new(MSGPACK_ZONE_CHUNK_SIZE);
    msgpack_object tree;
    size_t used;
    must(zone != NULL);
    memset(object, 0, r->size);
    if (!unpack(bytes, zone, &tree, &used))
        f.why = "no msgpack";
    else if (fill_record(&f, &tree, r, object, 0))
        read.end = used == bytes.len ? READING_whole : READING_part;
    msgpack_zone_free(zone);
    read.why = f.why;
    return read;
}

/* ---- both side by side ------------------------------------------------------------- */

struct comparison {
    struct buffer path, *lines;
    bool same;
};

static void compare_records(struct comparison *c, const struct record *r, const char *ours,
                            const char *theirs);

static void say(struct comparison *c, const struct field *f, const char *ours, const char *theirs)
{
    c->same = false;
    buffer_print(c->lines, "%.*s: ", STR_ARG(buffer_str(&c->path)));
    codec_print_value(f, ours, c->lines);
    buffer_add_text(c->lines, ", by msgpack-c ");
    codec_print_value(f, theirs, c->lines);
    buffer_add_text(c->lines, "\n");
}

static void compare_lists(struct comparison *c, const struct field *f, const char *ours,
                          const char *theirs)
{
    const struct list *x = (const void *)ours, *y = (const void *)theirs;
    size_t before = c->path.len;
    if (x->count != y->count) {
        say(c, f, ours, theirs);
        return;
    }
    for (uint32_t k = 0; k < x->count; k++) {
        size_t at = k * f->of->size;
        buffer_print(&c->path, "[%u].", k);
        compare_records(c, f->of, (const char *)x->at + at, (const char *)y->at + at);
        c->path.len = before;
    }
}

static void compare_values(struct comparison *c, const struct field *f, const char *ours,
                           const char *theirs)
{
    bool same = true;
    switch ((enum kind)f->kind) {
    case KIND_bool: same = *(const bool *)ours == *(const bool *)theirs; break;
    case KIND_i64: same = *(const int64_t *)ours == *(const int64_t *)theirs; break;
    case KIND_str:
        same = str_equal(*(const struct str *)(const void *)ours,
                         *(const struct str *)(const void *)theirs);
        break;
    case KIND_strs:
        same = strs_equal(*(const struct strs *)(const void *)ours,
                          *(const struct strs *)(const void *)theirs);
        break;
    case KIND_list: compare_lists(c, f, ours, theirs); break;
    case KIND_word:
        same = *(const uint32_t *)(const void *)ours == *(const uint32_t *)(const void *)theirs;
        break;
    case KIND_one:
        buffer_add_text(&c->path, ".");
        compare_records(c, f->of, ours, theirs);
        break;
    }
    if (!same)
        say(c, f, ours, theirs);
}

static void compare_records(struct comparison *c, const struct record *r, const char *ours,
                            const char *theirs)
{
    size_t before = c->path.len;
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = &r->fields[i];
        buffer_add_text(&c->path, f->name);
        compare_values(c, f, ours + f->offset, theirs + f->offset);
        c->path.len = before;
    }
}

/* NOLINTEND(misc-no-recursion) */

bool second_agrees(const struct record *r, const struct reading *ours, struct str bytes,
                   struct arena *a, struct buffer *lines)
{
    static const char *const ends[] = {"refused", "read, with bytes behind it", "read"};
    struct arena room = {.limit = 0};
    char *object = arena_take(&room, r->size);
    must(object != NULL);
    struct reading theirs = second_read(r, object, bytes, a);
    struct comparison c = {.lines = lines, .same = theirs.end == ours->end};
    if (!c.same)
        buffer_print(lines, "%s, by msgpack-c %s%s%s\n", ends[ours->end], ends[theirs.end],
                     theirs.why != NULL ? ": " : "", theirs.why != NULL ? theirs.why : "");
    else if (theirs.end != READING_refused)
        compare_records(&c, r, ours->object, object);
    buffer_free(&c.path);
    arena_free(&room);
    return c.same;
}
