/* regex_tree: a pattern taken apart; between the parser and the program. */
#ifndef CEL_REGEX_TREE_H
#define CEL_REGEX_TREE_H

#include "scheduler/cel/pool.h"

#define REGEX_UNLIMITED UINT32_MAX

enum regex_kind {
    RE_empty,
    RE_class,  /* one character of ranges */
    RE_assert, /* a place: enum regex_place */
    RE_cat,
    RE_alternate,
    RE_repeat, /* min to max times */
};

enum regex_place {
    PLACE_text_begin,
    PLACE_text_end,
    PLACE_line_begin,
    PLACE_line_end,
    PLACE_word,
    PLACE_no_word,
};

struct regex_range {
    uint32_t first, last;
};

struct regex_class {
    struct regex_range *at;
    uint32_t count, room;
};

struct regex_tree {
    enum regex_kind kind;
    struct regex_class *class;
    enum regex_place place;
    struct regex_tree *a, *b; /* a alone is repeated */
    uint32_t min, max;
    bool lazy;
    bool is_operator; /* a repetition that nothing may repeat directly */
};

/* NULL and *error when it is no pattern of Go's. */
struct regex_tree *regex_parse(struct pool *p, struct str pattern, struct str *error);

#endif
