/* interpolate: the clauses of string.format(), which are read when an expression is compiled and
 * again when it is evaluated. */
#ifndef CEL_INTERPOLATE_H
#define CEL_INTERPOLATE_H

#include "scheduler/cel/value.h"

struct clause {
    char letter; /* one of sdfebxXo */
    uint32_t precision;
};

enum piece { PIECE_END, PIECE_CHARACTER, PIECE_CLAUSE };

/* What stands at byte *at, which moves behind it: a character, or the % of a clause. */
enum piece interpolate_next(struct str format, uint32_t *at);
/* Reads the rest of a clause; there must be some. An error with the text of its fault, or null. */
struct value interpolate_clause(struct pool *p, struct str format, uint32_t *at,
                                struct clause *out);
/* "error during formatting: …, was given TYPE": why the clause does not take it. */
struct str interpolate_refusal(struct pool *p, char letter, struct str type);

#endif
