/* entry: blocks of a journal, written and read. What must stay true: a journal is a stranger's
 * bytes: no length is believed before it is compared with what is there, and what is read never
 * takes more memory than a fixed multiple of it. */
#include "proto/journal/entry.h"

#include <string.h>

#define HEAD_MAX     (1u << 20) /* bytes: a command line */
#define LENGTH_BYTES 4
#define MAGIC_LEN    (sizeof(JOURNAL_MAGIC) - 1)

const char *journal_kind_name(int64_t kind)
{
    static const char *const names[] = {
#define KIND(number, name, way) [number] = #name,
        JOURNAL_KINDS
#undef KIND
    };
    return kind > 0 && kind < JOURNAL_KIND_COUNT ? names[kind] : "?";
}

/* ---- writing ---- */

/* The length is known once the block is there. */
static void put_block(struct buffer *out, const struct record *r, const void *object)
{
    size_t before = out->len;
    buffer_add(out, "\0\0\0\0", LENGTH_BYTES);
    codec_encode(r, object, out);
    uint32_t len = (uint32_t)(out->len - before - LENGTH_BYTES);
    const unsigned char bytes[LENGTH_BYTES] = {(unsigned char)(len >> 24),
                                               (unsigned char)(len >> 16),
                                               (unsigned char)(len >> 8), (unsigned char)len};
    memcpy(out->at + before, bytes, LENGTH_BYTES);
}

void journal_put_head(struct buffer *out, const struct journal_head *head)
{
    buffer_add_text(out, JOURNAL_MAGIC);
    put_block(out, &journal_head_record, head);
}

void journal_put(struct buffer *out, const struct journal_entry *entry)
{
    put_block(out, &journal_entry_record, entry);
}

/* ---- reading ---- */

static uint32_t length_at(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* The block that the cursor stands before. */
static enum journal_step block(const struct journal_cursor *c, uint32_t most, struct str *bytes)
{
    size_t left = (size_t)(c->end - c->at);
    if (left == 0)
        return JOURNAL_STEP_end;
    if (left < LENGTH_BYTES)
        return JOURNAL_STEP_cut;
    uint32_t len = length_at(c->at);
    if (len > most)
        return JOURNAL_STEP_broken;
    if (len > left - LENGTH_BYTES)
        return JOURNAL_STEP_cut;
    *bytes = (struct str){c->at + LENGTH_BYTES, len};
    return JOURNAL_STEP_entry;
}

static bool decode(const struct record *r, void *object, struct str bytes, struct arena *a)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    struct byte_cursor in = {at, at + bytes.len};
    return codec_decode(r, object, &in, a) && in.at == in.end;
}

const char *journal_start(struct journal_cursor *c, struct journal_head *head, struct arena *a)
{
    struct str bytes;
    size_t left = c->at != NULL ? (size_t)(c->end - c->at) : 0;
    if (left < MAGIC_LEN || memcmp(c->at, JOURNAL_MAGIC, MAGIC_LEN - 2) != 0)
        return "not a recording of a life (berth run --record makes them)";
    if (memcmp(c->at, JOURNAL_MAGIC, MAGIC_LEN) != 0)
        return "of another version of the format";
    struct journal_cursor behind = {c->at + MAGIC_LEN, c->end};
    if (block(&behind, HEAD_MAX, &bytes) != JOURNAL_STEP_entry ||
        !decode(&journal_head_record, head, bytes, a))
        return "its head is not whole";
    c->at = bytes.at + bytes.len;
    return NULL;
}

enum journal_step journal_read(struct journal_cursor *c, struct journal_entry *entry)
{
    struct arena none = {.limit = 1}; /* an entry has no lists */
    struct str bytes;
    enum journal_step step = block(c, JOURNAL_ENTRY_MAX, &bytes);
    if (step != JOURNAL_STEP_entry)
        return step;
    bool good = decode(&journal_entry_record, entry, bytes, &none) && entry->kind > 0 &&
                entry->kind < JOURNAL_KIND_COUNT;
    arena_free(&none);
    if (!good)
        return JOURNAL_STEP_broken;
    c->at = bytes.at + bytes.len;
    return JOURNAL_STEP_entry;
}

size_t journal_whole(const char *bytes, size_t len)
{
    struct journal_cursor c = {bytes, bytes + len};
    struct str found;
    if (len >= MAGIC_LEN && memcmp(bytes, JOURNAL_MAGIC, MAGIC_LEN) == 0)
        c.at += MAGIC_LEN;
    while (block(&c, UINT32_MAX, &found) == JOURNAL_STEP_entry)
        c.at = found.at + found.len;
    return (size_t)(c.at - bytes);
}
