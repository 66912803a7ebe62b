/* text: UTF-8 as Go reads it: a byte that is no part of a character is U+FFFD and one byte long. */
#ifndef CEL_TEXT_H
#define CEL_TEXT_H

#include "proto/base/buffer.h"
#include "scheduler/cel/pool.h"

#define TEXT_RUNE_ERROR 0xFFFDu

/* The character at the beginning and its length in bytes; s must not be empty. */
uint32_t text_decode(struct str s, uint32_t *len);
/* How many characters there are. */
uint32_t text_runes(struct str s);
bool text_is_utf8(struct str s);
/* Appends a character; one that is none as U+FFFD. out has room for 4 bytes; returns how many. */
uint32_t text_encode(uint32_t rune, char *out);
/* The byte where the character with that number begins; s.len for the number of characters. */
uint32_t text_offset(struct str s, uint32_t runes);
/* As Go's strconv.Quote and %q. */
void text_quote(struct buffer *b, struct str s);
struct str text_quoted(struct pool *p, struct str s);
/* The same text from byte at on. */
static inline struct str text_from(struct str s, uint32_t at)
{
    return (struct str){s.at + at, s.len - at};
}
static inline struct str text_first(struct str s, uint32_t len)
{
    return (struct str){s.at, len};
}
/* Where needle begins in s, or -1. */
int64_t text_find(struct str s, struct str needle);

#endif
