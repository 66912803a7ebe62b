/* lex: the words of an expression. */
#ifndef CEL_LEX_H
#define CEL_LEX_H

#include "scheduler/cel/pool.h"

enum token_kind {
    K_end,
    K_wrong, /* no word of the language */
    K_name,
    K_escaped, /* `name`, without the quotes */
    K_int,
    K_uint,
    K_double,
    K_string, /* as written, with prefix and quotes */
    K_bytes,
    K_sign, /* an operator or a bracket, by its text */
};

struct token {
    enum token_kind kind;
    struct str text;
    uint32_t at; /* in characters */
};

struct lexer {
    struct str text;
    uint32_t byte, at;
};

struct token lex_next(struct lexer *l);
/* What a string or bytes literal means; NULL in at and *error when an escape is malformed. */
struct str lex_unquote(struct pool *p, struct token t, const char **error);

#endif
