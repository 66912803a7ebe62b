/* node: the tree of an expression, from the parser to the evaluator. Macros are expanded when it is
 * built, so that only folds remain of them. */
#ifndef CEL_NODE_H
#define CEL_NODE_H

#include "scheduler/cel/types.h"

enum node_kind {
    N_literal, /* value */
    N_ident,   /* name; the checker makes it a literal, the device or a variable of a fold */
    N_device,
    N_variable, /* of the fold that is up folds away */
    N_select,   /* args[0].name; optional: .?name; test: has(args[0].name) */
    N_index,    /* args[0][args[1]]; optional: [?] */
    N_call,     /* name; args[0] is the target of a member call */
    N_and,      /* all of a chain of && */
    N_or,
    N_conditional,
    N_equal,
    N_not_equal,
    N_or_value,   /* orValue() and or() of optionals, whose right side may stay unevaluated */
    N_set_member, /* in with a constant list of plain values */
    N_list,
    N_map, /* args: key, item, key, item */
    N_fold,
    N_struct, /* a message literal: refused */
};

/* The parts of a fold. */
enum { FOLD_range, FOLD_init, FOLD_condition, FOLD_step, FOLD_result, FOLD_parts };
enum fold_variable { VARIABLE_accumulator, VARIABLE_first, VARIABLE_second };

struct overload;
struct regex;
/* One that may be called, with the types that it takes. */
struct candidate {
    const struct overload *overload;
    const struct type **args;
    uint32_t count;
};

struct node {
    enum node_kind kind;
    uint32_t at;    /* where in the text, in characters */
    uint32_t depth; /* of those kinds that upstream's parser counts */
    const struct type *type;
    struct value value;
    struct str name; /* of an ident, a call, a field */
    struct node **args;
    uint32_t count;
    bool member;     /* a call with a target */
    bool optional;   /* a select or an index */
    bool test;       /* has() */
    bool *optionals; /* a list's items, a map's entries; NULL: none */
    /* N_fold: the names; second.at is NULL with one variable */
    struct str accumulator, first, second;
    /* N_variable */
    uint32_t up;
    enum fold_variable variable;
    /* N_call */
    struct candidate *candidates;
    uint32_t candidate_count;
    bool resolved;             /* when compiled: there is one candidate */
    bool finished;             /* the checker has been here */
    bool planned;              /* and the planner */
    const struct regex *regex; /* of a constant pattern */
};

#endif
