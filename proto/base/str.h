/* str: borrowed bytes with a length, the string type of everything that was decoded. */
#ifndef STR_H
#define STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed: valid as long as what it points into. Not zero-terminated. */
struct str {
    const char *at;
    uint32_t len;
};

/* For printf("%.*s", STR_ARG(s)). */
#define STR_ARG(s)        (int)(s).len, (s).len ? (s).at : ""
#define STR_LITERAL(text) ((struct str){(text), sizeof(text) - 1})

struct str str_of(const char *zero_terminated);
bool str_equal(struct str a, struct str b);
bool str_is(struct str a, const char *zero_terminated);
/* Byte order, shorter first when one is a prefix: <0, 0, >0. */
int str_compare(struct str a, struct str b);
/* Index of the first c, or -1. */
int64_t str_find(struct str s, char c);
bool str_starts_with(struct str s, const char *prefix);
/* Without white space (ASCII) at its ends. */
struct str str_trim(struct str s);
/* Takes the next piece of a text that is split at a separator: rest = text; while (str_split(&rest,
 * ",", &piece)). An empty text has one empty piece; rest must not be {NULL, 0} for that. */
bool str_split(struct str *rest, const char *separator, struct str *piece);
/* A zero-terminated copy; the caller frees it with memory_free. */
char *str_copy(struct str s);
/* The same as a str of its own: given back with str_drop, which empties it. */
struct str str_keep(struct str s);
void str_drop(struct str *kept);
/* For hash tables inside one process: another machine may give another. */
uint64_t str_hash(struct str s);
/* Whole string as a decimal int64; false when it is anything else or out of range. */
bool str_to_i64(struct str s, int64_t *value);

#endif
