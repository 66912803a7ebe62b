/* codec: one msgpack reader and writer for every record.
 *
 * A record travels as a map from tag to value, zero values left out. msgpack-c's packer writes
 * (packer.h); it wants to know first how many pairs a map has, so that head is written when they
 * are. The reader is our own, because it must never trust a count that it has not checked against
 * the bytes left: so its work is bounded by the frame, and its memory by the arena's limit. Text
 * forms are in codec_text.c. */
#include "proto/codec.h"
#include "proto/base/must.h"
#include "proto/packer.h"

#include <string.h>

/* Records hold records, so what follows recurses. Reading goes at most CODEC_DEPTH_MAX deep,
 * whatever the bytes say; all else goes as deep as messages.def nests, which is finite, because a
 * record is declared before it is used, and less than CODEC_DEPTH_MAX, which a test holds. */
/* NOLINTBEGIN(misc-no-recursion) */

/* ---- writing ---------------------------------------------------------------------- */

size_t codec_field_size(const struct field *f)
{
    switch ((enum kind)f->kind) {
    case KIND_bool: return sizeof(bool);
    case KIND_i64: return sizeof(int64_t);
    case KIND_str: return sizeof(struct str);
    case KIND_strs: return sizeof(struct strs);
    case KIND_list: return sizeof(struct list);
    case KIND_one: return f->of->size;
    case KIND_word: return sizeof(uint32_t);
    }
    return 0;
}

struct str words_text(const struct words *set, uint32_t number)
{
    return number > 0 && number <= set->count ? set->at[number - 1].text : (struct str){NULL, 0};
}

bool words_find(const struct words *set, struct str text, uint32_t *number)
{
    *number = 0;
    for (uint32_t i = 0; text.len > 0 && i < set->count; i++)
        if (str_equal(text, set->at[i].text))
            *number = i + 1;
    return *number > 0 || text.len == 0;
}

bool codec_value_is_zero(const struct field *f, const void *at)
{
    bool zero = true;
    switch ((enum kind)f->kind) {
    case KIND_bool: return !*(const bool *)at;
    case KIND_i64: return *(const int64_t *)at == 0;
    case KIND_str: return ((const struct str *)at)->len == 0;
    case KIND_strs: return ((const struct strs *)at)->count == 0;
    case KIND_list: return ((const struct list *)at)->count == 0;
    case KIND_word: return *(const uint32_t *)at == 0;
    case KIND_one:
        for (size_t i = 0; zero && i < f->of->field_count; i++)
            zero =
                codec_value_is_zero(&f->of->fields[i], (const char *)at + f->of->fields[i].offset);
    }
    return zero;
}

/* Bytes of a map's head, and how many pairs ask for the long one. */
#define MAP_HEAD_SHORT 1
#define MAP_HEAD_LONG  3
#define MAP_COUNT_LONG 16

/* Mostly there is, and a call for each byte would cost more than the byte. */
static inline char *room_for(struct buffer *out, size_t len)
{
    return out->room - out->len > len ? out->at + out->len : buffer_reserve(out, len);
}

static inline struct packer packer_of(struct buffer *out, size_t room)
{
    return (struct packer){(uint8_t *)room_for(out, room)};
}

static inline void packed(struct buffer *out, const struct packer *p)
{
    out->len = (size_t)((char *)p->at - out->at);
}

static void put_i64(struct buffer *out, int64_t v)
{
    struct packer p = packer_of(out, PACKER_HEAD_MAX);
    msgpack_pack_int64(&p, v);
    packed(out, &p);
}

static void put_str(struct buffer *out, struct str s)
{
    struct packer p = packer_of(out, (size_t)s.len + PACKER_HEAD_MAX);
    msgpack_pack_str(&p, s.len);
    if (s.len > 0)
        msgpack_pack_str_body(&p, s.at, s.len);
    packed(out, &p);
}

static void put_array(struct buffer *out, uint32_t count)
{
    struct packer p = packer_of(out, PACKER_HEAD_MAX);
    msgpack_pack_array(&p, count);
    packed(out, &p);
}

static void put_true(struct buffer *out)
{
    struct packer p = packer_of(out, PACKER_HEAD_MAX);
    msgpack_pack_true(&p);
    packed(out, &p);
}

static size_t put_record(struct buffer *out, const struct record *r, const char *object);

/* False when it turns out to be zero, which an absent field means. */
static bool put_value(struct buffer *out, const struct field *f, const char *at)
{
    switch ((enum kind)f->kind) {
    case KIND_bool: put_true(out); break; /* false is left out */
    case KIND_i64: put_i64(out, *(const int64_t *)at); break;
    case KIND_str: put_str(out, *(const struct str *)at); break;
    case KIND_strs: {
        const struct strs *l = (const void *)at;
        put_array(out, l->count);
        for (uint32_t k = 0; k < l->count; k++)
            put_str(out, l->at[k]);
        break;
    }
    case KIND_list: {
        const struct list *l = (const void *)at;
        put_array(out, l->count);
        for (uint32_t k = 0; k < l->count; k++)
            put_record(out, f->of, (const char *)l->at + k * f->of->size);
        break;
    }
    case KIND_one: return put_record(out, f->of, at) > 0;
    case KIND_word: put_str(out, words_text(f->words, *(const uint32_t *)(const void *)at)); break;
    }
    return true;
}

/* The head of a map stands before its pairs, and how many there are shows behind them: room is left
 * for a short one, and rarely more is made. */
static size_t put_map_start(struct buffer *out)
{
    size_t start = out->len;
    room_for(out, MAP_HEAD_SHORT);
    out->len += MAP_HEAD_SHORT;
    return start;
}

static void put_map_head(struct buffer *out, size_t start, size_t present)
{
    must(present <= UINT16_MAX);
    if (present >= MAP_COUNT_LONG) {
        size_t more = MAP_HEAD_LONG - MAP_HEAD_SHORT, behind = start + MAP_HEAD_SHORT;
        room_for(out, more);
        memmove(out->at + behind + more, out->at + behind, out->len - behind);
        out->len += more;
    }
    struct packer p = {(uint8_t *)out->at + start};
    msgpack_pack_map(&p, present);
}

/* Without a look at its fields: such a record has none that count. */
static inline bool is_all_zero(const char *at, size_t size)
{
    return at[0] == 0 && memcmp(at, at + 1, size - 1) == 0;
}

/* Most fields are; of some records in a record that shows only when they are written. */
static inline bool is_empty(const struct field *f, const char *at)
{
    switch ((enum kind)f->kind) {
    case KIND_bool: return !*(const bool *)at;
    case KIND_i64: return *(const int64_t *)at == 0;
    case KIND_str: return ((const struct str *)(const void *)at)->len == 0;
    case KIND_strs: return ((const struct strs *)(const void *)at)->count == 0;
    case KIND_list: return ((const struct list *)(const void *)at)->count == 0;
    case KIND_word: return *(const uint32_t *)(const void *)at == 0;
    case KIND_one: return is_all_zero(at, f->of->size);
    }
    return false;
}

static inline void put_tag(struct buffer *out, uint8_t tag)
{
    struct packer p = packer_of(out, PACKER_HEAD_MAX);
    msgpack_pack_uint8(&p, tag);
    packed(out, &p);
}

/* Adds the field with its tag. False, and nothing is added, when it is zero. */
static inline bool put_field(struct buffer *out, const struct field *f, const char *object)
{
    const char *at = object + f->offset;
    size_t before = out->len;
    if (is_empty(f, at))
        return false;
    put_tag(out, f->tag);
    if (put_value(out, f, at))
        return true;
    out->len = before;
    return false;
}

/* Returns how many fields it has. */
static size_t put_record(struct buffer *out, const struct record *r, const char *object)
{
    size_t present = 0, start = put_map_start(out);
    for (size_t i = 0; i < r->field_count; i++)
        present += put_field(out, &r->fields[i], object);
    put_map_head(out, start, present);
    return present;
}

void codec_encode(const struct record *r, const void *object, struct buffer *out)
{
    put_record(out, r, object);
    out->at[out->len] = 0;
}

void codec_encode_fields(const struct field *const *fields, size_t count, const void *object,
                         struct buffer *out)
{
    size_t present = 0, start = put_map_start(out);
    for (size_t i = 0; i < count; i++)
        present += put_field(out, fields[i], object);
    if (present > 0)
        put_map_head(out, start, present);
    else
        out->len = start;
    out->at[out->len] = 0;
}

void codec_put_map(struct buffer *out, uint32_t count)
{
    size_t start = put_map_start(out);
    put_map_head(out, start, count);
    out->at[out->len] = 0;
}

void codec_put_list(struct buffer *out, uint32_t count)
{
    put_array(out, count);
    out->at[out->len] = 0;
}

void codec_put_str(struct buffer *out, struct str s)
{
    put_str(out, s);
    out->at[out->len] = 0;
}

/* ---- reading ---------------------------------------------------------------------- */

enum head_type { HEAD_nil, HEAD_bool, HEAD_int, HEAD_bytes, HEAD_array, HEAD_map };

struct head {
    enum head_type type;
    uint64_t n; /* the value, the length or the count */
};

static bool take(struct byte_cursor *c, size_t n, uint64_t *v)
{
    if ((size_t)(c->end - c->at) < n)
        return false;
    *v = 0;
    for (size_t i = 0; i < n; i++)
        *v = *v << 8 | c->at[i];
    c->at += n;
    return true;
}

static uint64_t sign_extend(uint64_t v, unsigned bits)
{
    unsigned shift = 64 - bits;
    return (uint64_t)((int64_t)(v << shift) >> shift);
}

/* Heads with a first byte of 0xc0 and more, below 0xe0. Floats and extensions are no part of the
 * schema. */
static bool take_long_head(struct byte_cursor *c, uint64_t lead, struct head *h)
{
    bool ok = true;
    if (lead == 0xc0) {
        h->type = HEAD_nil;
    } else if (lead == 0xc2 || lead == 0xc3) {
        *h = (struct head){HEAD_bool, lead & 1};
    } else if (lead >= 0xc4 && lead <= 0xc6) {
        h->type = HEAD_bytes;
        ok = take(c, (size_t)1 << (lead - 0xc4), &h->n);
    } else if (lead >= 0xcc && lead <= 0xcf) {
        h->type = HEAD_int;
        ok = take(c, (size_t)1 << (lead - 0xcc), &h->n) && (lead < 0xcf || h->n <= INT64_MAX);
    } else if (lead >= 0xd0 && lead <= 0xd3) {
        h->type = HEAD_int;
        ok = take(c, (size_t)1 << (lead - 0xd0), &h->n);
        h->n = sign_extend(h->n, 8u << (lead - 0xd0));
    } else if (lead >= 0xd9 && lead <= 0xdb) {
        h->type = HEAD_bytes;
        ok = take(c, (size_t)1 << (lead - 0xd9), &h->n);
    } else if (lead == 0xdc || lead == 0xdd) {
        h->type = HEAD_array;
        ok = take(c, (size_t)2 << (lead - 0xdc), &h->n);
    } else if (lead == 0xde || lead == 0xdf) {
        h->type = HEAD_map;
        ok = take(c, (size_t)2 << (lead - 0xde), &h->n);
    } else {
        ok = false;
    }
    return ok;
}

/* Reads one msgpack head. Lengths and counts are checked against the bytes left. */
static bool take_head(struct byte_cursor *c, struct head *h)
{
    *h = (struct head){HEAD_nil, 0};
    if (c->at == c->end)
        return false;
    uint64_t lead = *c->at++;
    if (lead < 0x80)
        *h = (struct head){HEAD_int, lead};
    else if (lead < 0x90)
        *h = (struct head){HEAD_map, lead & 15};
    else if (lead < 0xa0)
        *h = (struct head){HEAD_array, lead & 15};
    else if (lead < 0xc0)
        *h = (struct head){HEAD_bytes, lead & 31};
    else if (lead >= 0xe0)
        *h = (struct head){HEAD_int, sign_extend(lead, 8)};
    else if (!take_long_head(c, lead, h))
        return false;
    uint64_t left = (uint64_t)(c->end - c->at);
    uint64_t least = h->type == HEAD_map ? 2 * h->n : h->n;
    return h->type < HEAD_bytes || least <= left;
}

static bool skip(struct byte_cursor *c, int depth)
{
    struct head h;
    if (depth > CODEC_DEPTH_MAX || !take_head(c, &h))
        return false;
    if (h.type == HEAD_bytes)
        c->at += h.n;
    uint64_t children = h.type == HEAD_array ? h.n : h.type == HEAD_map ? 2 * h.n : 0;
    for (uint64_t i = 0; i < children; i++)
        if (!skip(c, depth + 1))
            return false;
    return true;
}

static bool take_record(struct byte_cursor *c, const struct record *r, char *object,
                        struct arena *a, int depth);

static bool take_str(struct byte_cursor *c, struct str *s)
{
    struct head h;
    size_t left = (size_t)(c->end - c->at);
    if (left > 0 && (*c->at & 0xe0) == 0xa0 && (*c->at & 31u) < left) { /* most are short */
        *s = (struct str){(const char *)c->at + 1, *c->at & 31u};
        c->at += 1 + s->len;
        return true;
    }
    if (!take_head(c, &h) || h.type != HEAD_bytes || h.n > UINT32_MAX)
        return false;
    *s = (struct str){(const char *)c->at, (uint32_t)h.n};
    c->at += h.n;
    return true;
}

static bool take_strs(struct byte_cursor *c, struct strs *l, struct arena *a)
{
    struct head h;
    if (!take_head(c, &h) || h.type != HEAD_array || h.n > UINT32_MAX)
        return false;
    l->count = 0;
    l->at = h.n ? arena_take(a, h.n * sizeof(*l->at)) : NULL;
    if (h.n > 0 && l->at == NULL)
        return false;
    for (; l->count < h.n; l->count++)
        if (!take_str(c, &l->at[l->count]))
            return false;
    return true;
}

static bool take_list(struct byte_cursor *c, const struct field *f, struct list *l, struct arena *a,
                      int depth)
{
    struct head h;
    if (!take_head(c, &h) || h.type != HEAD_array || h.n > UINT32_MAX)
        return false;
    l->count = 0;
    l->at = h.n ? arena_take(a, h.n * f->of->size) : NULL;
    if (h.n > 0 && l->at == NULL)
        return false;
    for (; l->count < h.n; l->count++)
        if (!take_record(c, f->of, (char *)l->at + l->count * f->of->size, a, depth + 1))
            return false;
    return true;
}

static bool take_scalar(struct byte_cursor *c, const struct field *f, char *at)
{
    struct head h;
    if (f->kind == KIND_i64 && c->at < c->end && *c->at < 0x80) { /* most are small */
        *(int64_t *)at = *c->at++;
        return true;
    }
    if (!take_head(c, &h))
        return false;
    if (f->kind == KIND_bool) {
        *(bool *)at = h.n != 0;
        return h.type == HEAD_bool;
    }
    *(int64_t *)at = (int64_t)h.n;
    return h.type == HEAD_int;
}

static bool take_word(struct byte_cursor *c, const struct words *set, uint32_t *number)
{
    struct str text;
    bool taken = take_str(c, &text);
    if (taken)
        (void)words_find(set, text, number);
    return taken;
}

static bool take_value(struct byte_cursor *c, const struct field *f, char *at, struct arena *a,
                       int depth)
{
    switch ((enum kind)f->kind) {
    case KIND_bool:
    case KIND_i64: return take_scalar(c, f, at);
    case KIND_str: return take_str(c, (void *)at);
    case KIND_strs: return take_strs(c, (void *)at, a);
    case KIND_list: return take_list(c, f, (void *)at, a, depth);
    case KIND_one: return take_record(c, f->of, at, a, depth + 1);
    case KIND_word: return take_word(c, f->words, (void *)at);
    }
    return false;
}

/* Tags mostly arrive in order, so the field is looked for from where the last one was found. */
static const struct field *field_of(const struct record *r, uint64_t tag, const struct field *from)
{
    const struct field *end = r->fields + r->field_count;
    for (const struct field *f = from; f < end; f++)
        if (f->tag == tag)
            return f;
    for (const struct field *f = r->fields; f < from; f++)
        if (f->tag == tag)
            return f;
    return NULL;
}

/* How many pairs a map has; its head is mostly one byte. */
static bool take_map(struct byte_cursor *c, uint64_t *pairs)
{
    struct head h;
    size_t left = (size_t)(c->end - c->at);
    if (left > 0 && (*c->at & 0xf0) == 0x80 && (size_t)2 * (*c->at & 15u) < left) {
        *pairs = *c->at++ & 15u;
        return true;
    }
    bool taken = take_head(c, &h) && h.type == HEAD_map;
    *pairs = taken ? h.n : 0;
    return taken;
}

static bool take_record(struct byte_cursor *c, const struct record *r, char *object,
                        struct arena *a, int depth)
{
    uint64_t pairs;
    const struct field *from = r->fields;
    if (depth > CODEC_DEPTH_MAX || !take_map(c, &pairs))
        return false;
    for (uint64_t i = 0; i < pairs; i++) {
        struct head key = {HEAD_int, 0};
        if (c->at < c->end && *c->at < 0x80) /* as most tags are */
            key.n = *c->at++;
        else if (!take_head(c, &key) || key.type != HEAD_int)
            return false;
        const struct field *f = field_of(r, key.n, from);
        if (f == NULL ? !skip(c, depth + 1) : !take_value(c, f, object + f->offset, a, depth))
            return false;
        from = f == NULL ? from : f + 1;
    }
    return true;
}

bool codec_decode(const struct record *r, void *object, struct byte_cursor *in, struct arena *a)
{
    memset(object, 0, r->size);
    return take_record(in, r, object, a, 0);
}

/* Moves to the value with that tag of a whole encoded record. False: there is none. */
static bool seek(struct byte_cursor *c, struct str encoded, uint8_t tag)
{
    struct head map, key = {HEAD_nil, 0};
    *c = (struct byte_cursor){(const uint8_t *)encoded.at,
                              (const uint8_t *)encoded.at + encoded.len};
    if (!take_head(c, &map) || map.type != HEAD_map)
        return false;
    for (uint64_t i = 0; i < map.n && take_head(c, &key) && key.type == HEAD_int; i++)
        if (key.n == tag)
            return true;
        else if (!skip(c, 0))
            return false;
    return false;
}

struct str codec_find_str(struct str encoded, uint8_t tag)
{
    struct byte_cursor c;
    struct str found = {NULL, 0};
    return seek(&c, encoded, tag) && take_str(&c, &found) ? found : (struct str){NULL, 0};
}

bool codec_has(struct str encoded, uint8_t tag)
{
    struct byte_cursor c;
    return seek(&c, encoded, tag);
}

/* The heads of values and pairs are left behind, so that what follows is looked at next. */
void codec_replace(struct str values, struct str from, struct str to, struct buffer *out)
{
    struct byte_cursor c = {(const uint8_t *)values.at, (const uint8_t *)values.at + values.len};
    const uint8_t *kept = c.at; /* from here on nothing was added yet */
    struct head h;
    while (c.at < c.end) {
        const uint8_t *at = c.at;
        must(take_head(&c, &h));
        if (h.type != HEAD_bytes)
            continue;
        c.at += h.n;
        if (!str_equal((struct str){(const char *)c.at - h.n, (uint32_t)h.n}, from))
            continue;
        buffer_add(out, kept, (size_t)(at - kept));
        put_str(out, to);
        kept = c.at;
    }
    buffer_add(out, kept, (size_t)(c.end - kept));
}

/* ---- copying, comparing, filling --------------------------------------------------- */

static void *copy_array(const void *from, size_t bytes, struct arena *a)
{
    void *to = bytes > 0 ? arena_same(a, from, bytes) : NULL;
    must(bytes == 0 || to != NULL);
    return to;
}

static void copy_fields(const struct record *r, char *to, struct arena *a);

static void copy_str(struct str *s, struct arena *a)
{
    if (s->len > 0)
        *s = arena_copy(a, *s);
    else
        s->at = NULL;
}

static void copy_strs(struct strs *l, struct arena *a)
{
    l->at = copy_array(l->at, l->count * sizeof(*l->at), a);
    for (uint32_t k = 0; k < l->count; k++)
        l->at[k] = arena_copy(a, l->at[k]);
}

static void copy_list(const struct record *of, struct list *l, struct arena *a)
{
    l->at = copy_array(l->at, l->count * of->size, a);
    for (uint32_t k = 0; k < l->count; k++)
        copy_fields(of, (char *)l->at + k * of->size, a);
}

/* What a record that was copied as it stands borrows becomes the arena's. */
static void copy_fields(const struct record *r, char *to, struct arena *a)
{
    for (const struct field *f = r->fields, *end = f + r->field_count; f < end; f++) {
        char *at = to + f->offset;
        switch ((enum kind)f->kind) {
        case KIND_bool:
        case KIND_i64:
        case KIND_word: break;
        case KIND_str: copy_str((void *)at, a); break;
        case KIND_strs: copy_strs((void *)at, a); break;
        case KIND_list: copy_list(f->of, (void *)at, a); break;
        case KIND_one: copy_fields(f->of, at, a); break;
        }
    }
}

/* to may be from: what it borrows then lies in the arena as well. */
void codec_copy(const struct record *r, void *to, const void *from, struct arena *a)
{
    if (to != from)
        memcpy(to, from, r->size);
    copy_fields(r, to, a);
}

static bool values_equal(const struct field *f, const char *a, const char *b)
{
    switch ((enum kind)f->kind) {
    case KIND_bool: return *(const bool *)a == *(const bool *)b;
    case KIND_i64: return *(const int64_t *)a == *(const int64_t *)b;
    case KIND_str: return str_equal(*(const struct str *)a, *(const struct str *)b);
    case KIND_strs: {
        const struct strs *x = (const void *)a, *y = (const void *)b;
        bool same = x->count == y->count;
        for (uint32_t k = 0; same && k < x->count; k++)
            same = str_equal(x->at[k], y->at[k]);
        return same;
    }
    case KIND_list: {
        const struct list *x = (const void *)a, *y = (const void *)b;
        bool same = x->count == y->count;
        for (uint32_t k = 0; same && k < x->count; k++)
            same = codec_equal(f->of, (const char *)x->at + k * f->of->size,
                               (const char *)y->at + k * f->of->size);
        return same;
    }
    case KIND_one: return codec_equal(f->of, a, b);
    case KIND_word: return *(const uint32_t *)(const void *)a == *(const uint32_t *)(const void *)b;
    }
    return false;
}

bool codec_equal(const struct record *r, const void *a, const void *b)
{
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = &r->fields[i];
        if (!values_equal(f, (const char *)a + f->offset, (const char *)b + f->offset))
            return false;
    }
    return true;
}

static uint64_t roll(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static struct str random_str(uint64_t *seed, struct arena *a)
{
    uint32_t len = (uint32_t)(roll(seed) % 40);
    char *at = arena_take(a, (size_t)len + 1);
    must(at != NULL);
    for (uint32_t k = 0; k < len; k++) /* now and then a byte that must be escaped in text */
        at[k] = (char)(roll(seed) % 8 ? 'a' + roll(seed) % 26 : roll(seed) % 256);
    return (struct str){at, len};
}

void codec_fill(const struct record *r, void *object, uint64_t *seed, struct arena *a)
{
    memset(object, 0, r->size);
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = &r->fields[i];
        char *at = (char *)object + f->offset;
        switch ((enum kind)f->kind) {
        case KIND_bool: *(bool *)at = roll(seed) & 1; break;
        case KIND_i64: *(int64_t *)at = (int64_t)(roll(seed) << (roll(seed) & 63)); break;
        case KIND_str: *(struct str *)at = random_str(seed, a); break;
        case KIND_strs: {
            struct strs *l = (void *)at;
            l->count = (uint32_t)(roll(seed) % 4);
            l->at = arena_take(a, l->count * sizeof(*l->at));
            for (uint32_t k = 0; k < l->count; k++)
                l->at[k] = random_str(seed, a);
            break;
        }
        case KIND_list: {
            struct list *l = (void *)at;
            l->count = (uint32_t)(roll(seed) % 4);
            l->at = arena_take(a, l->count * f->of->size);
            for (uint32_t k = 0; k < l->count; k++)
                codec_fill(f->of, (char *)l->at + k * f->of->size, seed, a);
            break;
        }
        case KIND_one: codec_fill(f->of, at, seed, a); break;
        case KIND_word: *(uint32_t *)at = (uint32_t)(roll(seed) % (f->words->count + 1)); break;
        }
    }
}

/* NOLINTEND(misc-no-recursion) */
