/* codec: reads, writes, prints and parses any record that messages.def declares. */
#ifndef CODEC_H
#define CODEC_H

#include "proto/base/arena.h"
#include "proto/base/buffer.h"
#include "proto/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind { KIND_bool, KIND_i64, KIND_str, KIND_strs, KIND_list, KIND_one, KIND_word };

/* The types behind the kinds. Lists and strings borrow from the arena or frame they came from. */
struct strs {
    uint32_t count;
    struct str *at;
};

struct list {
    uint32_t count;
    void *at;
};

static inline bool strs_hold(struct strs list, struct str text)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (str_equal(list.at[i], text))
            return true;
    return false;
}

static inline bool strs_equal(struct strs a, struct strs b)
{
    bool same = a.count == b.count;
    for (uint32_t i = 0; same && i < a.count; i++)
        same = str_equal(a.at[i], b.at[i]);
    return same;
}

struct record;

/* A closed set of words; a field holds the number of one, from 1 on, or 0 for none. On the wire and
 * in text it is the word. */
struct words {
    const char *name;
    const struct words_entry {
        struct str text;
        const char *doc;
    } * at;
    uint32_t count;
};

struct field {
    uint8_t tag;
    uint8_t kind;
    uint16_t offset;
    const struct record *of;   /* KIND_list and KIND_one only */
    const struct words *words; /* KIND_word only */
    const char *name;
    const char *doc;
};

struct record {
    const char *name;
    const char *doc;
    size_t size;
    const struct field *fields;
    size_t field_count;
};

struct byte_cursor {
    const uint8_t *at, *end;
};

/* Appends the record as a msgpack map from tag to value; fields that are zero are left out. */
void codec_encode(const struct record *r, const void *object, struct buffer *out);
/* The same of these fields of a record alone; nothing at all when all of them are zero. */
void codec_encode_fields(const struct field *const *fields, size_t count, const void *object,
                         struct buffer *out);
/* Appends encoded values, one behind the other, with every str that is from replaced by to. */
void codec_replace(struct str values, struct str from, struct str to, struct buffer *out);
/* Appends the head of a map of so many pairs, or of a list of so many values, for who puts encoded
 * ones together. */
void codec_put_map(struct buffer *out, uint32_t count);
void codec_put_list(struct buffer *out, uint32_t count);
void codec_put_str(struct buffer *out, struct str s);

/* Reads one record and moves the cursor behind it. Strings borrow from the frame, lists come from
 * the arena. A word that is none of its set reads as none, like a tag that is not known: it is of a
 * newer process. False when malformed, too deep, or over the arena's limit; object is then
 * undefined.
 * Work and memory are bounded by the frame's length and the arena's limit. */
bool codec_decode(const struct record *r, void *object, struct byte_cursor *in, struct arena *a);

/* The str field with that tag of a whole encoded record, borrowed; empty when there is none. */
struct str codec_find_str(struct str encoded, uint8_t tag);
/* Whether it has a field with that tag: one that is zero is left out. */
bool codec_has(struct str encoded, uint8_t tag);

/* The word with that number; empty for 0 and for one that there is not. */
struct str words_text(const struct words *set, uint32_t number);
/* The number of a word; 0 for the empty one and, with false, for one that is none of the set. */
bool words_find(const struct words *set, struct str text, uint32_t *number);

/* One line of text, `name key=value list=[{key=value} {…}]`; zero fields are left out. */
void codec_print(const struct record *r, const void *object, struct buffer *out);
/* One field's value, as in such a line; at points to the field. */
void codec_print_value(const struct field *f, const void *at, struct buffer *out);
/* A record as a JSON object (names as in messages.def, all values that are not zero). */
void codec_print_json(const struct record *r, const void *object, struct buffer *out);
/* Reads what codec_print wrote behind the name: `key=value …` up to the end of text. On failure
 * returns false and says what and where in error. */
bool codec_parse(const struct record *r, void *object, struct str text, struct arena *a,
                 struct str *error);

/* Deep copy into an arena: nothing in to borrows from from. */
void codec_copy(const struct record *r, void *to, const void *from, struct arena *a);
/* Bytes that the field takes in its record's struct. */
size_t codec_field_size(const struct field *f);
/* A field's value that is not written because absent means the same; at points to the field. */
bool codec_value_is_zero(const struct field *f, const void *at);
/* True when both hold the same values. */
bool codec_equal(const struct record *r, const void *a, const void *b);
/* Adds the record's table to MESSAGES.md. */
void codec_document(const struct record *r, struct buffer *out);
/* The same for a set of words. */
void codec_document_words(const struct words *set, struct buffer *out);
/* Fills with random values for tests; the same seed gives the same record. */
void codec_fill(const struct record *r, void *object, uint64_t *seed, struct arena *a);

/* Deepest nesting that is read, printed or parsed. */
#define CODEC_DEPTH_MAX 16

#endif
