/* query_inside: a query as the parser leaves it to the evaluator; for these alone. */
#ifndef CTL_TAP_QUERY_INSIDE_H
#define CTL_TAP_QUERY_INSIDE_H

#include "ctl/tap/query.h"

#include <regex.h>

#define QUERY_NODES_MAX 512
#define QUERY_PARTS_MAX 8

enum query_kind { QUERY_and, QUERY_or, QUERY_not, QUERY_compare };

enum query_operator {
    QUERY_is_set, /* a field alone */
    QUERY_equal,
    QUERY_unequal,
    QUERY_less,
    QUERY_at_most,
    QUERY_greater,
    QUERY_at_least,
    QUERY_like
};

/* What is asked of a message beside its fields. */
enum query_own {
    QUERY_field, /* none of these: a field */
    QUERY_message,
    QUERY_from,
    QUERY_to,
    QUERY_tap,
    QUERY_pod,
    QUERY_node,
    QUERY_attempt,
    QUERY_term,
    QUERY_generation,
    QUERY_epoch,
    QUERY_sequence,
    QUERY_link,
    QUERY_sent_us,
    QUERY_bytes,
    QUERY_OWN_COUNT
};

struct query_node {
    enum query_kind kind;
    uint16_t left, right; /* and, or: both; not: left */
    enum query_own own;
    enum query_operator op;
    bool from_root; /* the path begins at the message's own fields */
    uint8_t part_count;
    struct str parts[QUERY_PARTS_MAX]; /* of the query's text */
    struct str text;                   /* the value, without quotes */
    bool is_number, is_bool;           /* the value can be read so */
    int64_t number;                    /* then: the number; 1 for true */
    bool has_regex;
    regex_t regex;
};

struct query {
    char *text; /* kept: nodes point into it */
    struct arena arena;
    uint16_t root, node_count;
    struct query_node nodes[QUERY_NODES_MAX];
};

/* ---- query_fields.c: which fields there are ---- */

/* The name of one of the own ones; NULL for QUERY_field. */
const char *query_own_name(enum query_own own);
bool query_own_is_number(enum query_own own);
/* Sets own. False when the node's path leads nowhere: why says so, from the arena, and part which
 * of its parts it is about. */
bool query_resolve(struct query_node *node, struct arena *a, struct str *why, uint32_t *part);
/* False when the node's operator and value make no sense for its field; why from the arena. */
bool query_fits(const struct query_node *node, struct arena *a, struct str *why);

#endif
