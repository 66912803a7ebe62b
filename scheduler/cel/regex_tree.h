/* regex_tree: a pattern taken apart; between the parser and the program. */
#ifndef CEL_REGEX_TREE_H
#define CEL_REGEX_TREE_H

#include "scheduler/cel/pool.h"

#define REGEX_UNLIMITED UINT32_MAX
#define REGEX_RUNE_MAX  0x10FFFFu

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

/* In which sense a class by name is meant. */
struct regex_sense {
    bool negated;
    bool fold; /* case does not count */
};

struct regex_class *regex_class_new(struct pool *p);
void regex_class_add(struct pool *p, struct regex_class *c, uint32_t first, uint32_t last);
/* The same, and with fold what is the same in another case. */
void regex_class_add_folded(struct pool *p, struct regex_class *c, uint32_t first, uint32_t last,
                            bool fold);
/* All of another class, or all but those. The other one may be sorted by it. */
void regex_class_add_all(struct pool *p, struct regex_class *to, struct regex_class *from,
                         bool negated);
/* A class by its name in [: :], or \d \s \w; false when there is none. */
bool regex_class_add_named(struct pool *p, struct regex_class *c, struct str name,
                           struct regex_sense sense);
/* A general category or a script of Unicode, as Go knows them; false when there is none. */
bool regex_class_add_unicode(struct pool *p, struct regex_class *c, struct str name,
                             struct regex_sense sense);
/* Sorts its ranges, so that no two meet. */
void regex_class_finish(struct pool *p, struct regex_class *c);

struct regex_tree {
    enum regex_kind kind;
    struct regex_class *class;
    enum regex_place place;
    struct regex_tree *a, *b; /* a alone is repeated */
    uint32_t min, max;
    bool lazy;
};

/* NULL and *error when it is no pattern of Go's. */
struct regex_tree *regex_parse(struct pool *p, struct str pattern, struct str *error);

#endif
