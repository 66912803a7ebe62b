/* second_reader: any record read again, by msgpack-c's unpacker, to hold the codec's reader against
 * it: for `berth tap --verify`, tests and fuzzing. Slower than the codec, as it makes a tree. */
#ifndef SECOND_READER_H
#define SECOND_READER_H

#include "proto/codec.h"

enum reading_end {
    READING_refused,
    READING_part, /* something is left behind the record */
    READING_whole
};

/* What a reader made of some bytes; the object counts only when it did not refuse them. */
struct reading {
    enum reading_end end;
    const void *object;
    const char *why; /* static text, of what was refused; NULL: not told */
};

/* Reads one record from the bytes into object, by the rules of codec_decode: strings borrow from
 * the bytes, lists come from the arena, and memory is bounded alike. Whatever msgpack-c itself
 * refuses is "no msgpack"; every other reason is one of the codec's bounds:
 *   "wrong type"      not what the schema says, or a tag that is no integer
 *   "out of range"    an integer above INT64_MAX, anywhere
 *   "foreign value"   a float or an extension, anywhere
 *   "too deep"        deeper than CODEC_DEPTH_MAX
 *   "too much memory" more than the arena's limit */
struct reading second_read(const struct record *r, void *object, struct str bytes, struct arena *a);

/* True when msgpack-c reads from the bytes what ours says that the codec read. Else adds a line for
 * each field that differs, "path: VALUE, by msgpack-c VALUE", or one that says who refuses. The
 * arena is for what is read, with the limit that the codec had. */
bool second_agrees(const struct record *r, const struct reading *ours, struct str bytes,
                   struct arena *a, struct buffer *lines);

#endif
