/* regex: Go's regular expressions (RE2's syntax), matched in linear time. */
#ifndef CEL_REGEX_H
#define CEL_REGEX_H

#include "scheduler/cel/pool.h"

struct regex;

/* NULL and *error, in the words of Go's regexp package, when it is none. */
const struct regex *regex_compile(struct pool *p, struct str pattern, struct str *error);
/* Whether the text has a match. */
bool regex_matches(struct pool *p, const struct regex *re, struct str text);
/* The leftmost match that begins at byte from or behind it: first alternative first, as Perl. */
bool regex_search(struct pool *p, const struct regex *re, struct str text, uint32_t from,
                  uint32_t span[2]);

#endif
