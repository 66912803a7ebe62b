/* packed_store: records of one kind that are kept by the hundred thousand, encoded; what many of
 * them have in common, as the pods of one owner do, is kept once.
 *
 * A record's fields lie in up to three pieces: its own ones, and parts that records with the same
 * values share; and one list may be taken apart, so that each of its elements is shared, as the
 * images of nodes are. What is put in comes out again with the same values, whatever the split. */
#ifndef PACKED_STORE_H
#define PACKED_STORE_H

#include "proto/base/table.h"
#include "proto/base/uuid.h"
#include "proto/messages.h"

#define STORE_PARTS 2

struct packed_store;
struct store_part;

struct store_rule {
    const struct record *record;
    /* Names of fields with a blank between them, none in both; all others are the record's own. */
    const char *parts[STORE_PARTS];
    const char *uuid; /* a str that mostly is a UUID, kept in 16 bytes then; NULL: there is none */
    /* A list of labels that may repeat the record's name, as a node's do; kept without it, so that
     * they are alike. Alone in the first part. NULL: there is none. */
    const char *labels;
    /* A list of records whose elements many records have, if not the same list; in no part. NULL:
     * there is none. */
    const char *elements;
};

/* How pods and nodes fall apart: what differs from one to the next is their own. */
extern const struct store_rule store_pods, store_nodes;
#define STORE_PART_OF_NAMESPACE 0 /* of pods */

/* One record; shared by counting references. */
struct stored {
    struct store_part *parts[STORE_PARTS]; /* NULL: no fields of that part */
    int64_t version;                       /* this and mark are its holder's to use */
    uint32_t mark;
    uint32_t references;
    uint32_t len;
    uint16_t uuid : 1;      /* own begins with the 16 bytes of one */
    uint16_t echoes : 1;    /* labels repeat the name */
    uint16_t elements : 14; /* then four bytes for each of so many elements of the list */
    uint8_t own[];
};

struct packed_store *store_new(const struct store_rule *rule);
/* Everything must have been dropped. */
void store_free(struct packed_store **store);

/* Keeps the record, with one reference; version and mark are 0. */
struct stored *store_put(struct packed_store *store, const void *object);
struct stored *store_share(struct stored *s);
/* One reference less; NULL is allowed. */
void store_drop(struct packed_store *store, struct stored *s);
/* True when both hold the same values. Both are of this store. */
bool store_same(const struct stored *a, const struct stored *b);
/* Of the values of its parts: in every process the same for the same, as their addresses are not.
 */
uint64_t store_parts_hash(const struct stored *s);
/* The record again, all from the arena. */
void store_get(const struct packed_store *store, const struct stored *s, void *object,
               struct arena *a);
/* The same, encoded, as codec_decode reads it. */
void store_encoded(const struct packed_store *store, const struct stored *s, struct buffer *out);
/* The same with one str field more, which the record that was put in does not have. */
void store_encoded_with(const struct packed_store *store, const struct stored *s, uint8_t tag,
                        struct str str, struct buffer *out);
/* One str of the record, by its tag; borrowed as long as s is kept. Empty: absent. Not for the
 * field that rule.uuid names. */
struct str store_str(const struct stored *s, uint8_t tag);
/* Whether a field of the record is not zero, by its tag; not for those that rule.uuid and
 * rule.elements name. */
bool store_has(const struct stored *s, uint8_t tag);
/* Whether the field that rule.uuid names, and that has this tag, has this value. */
bool store_uuid_is(const struct stored *s, uint8_t tag, struct str uuid);
/* Its value; in text, which has room for UUID_TEXT bytes, or borrowed from s. */
struct str store_uuid(const struct stored *s, uint8_t tag, char *text);
/* Bytes of the record as if it shared nothing. */
size_t store_size(const struct packed_store *store, const struct stored *s);

#endif
