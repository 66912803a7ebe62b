/* parse: the text of an expression into nodes, macros expanded. */
#ifndef CEL_PARSE_H
#define CEL_PARSE_H

#include "scheduler/cel/node.h"

/* What is wrong with a text, and where. */
struct fault {
    uint32_t at; /* in characters */
    struct str text;
    uint32_t number; /* in the order in which they were found */
};
struct faults {
    struct fault *at;
    uint32_t count, room;
};

void fault_add(struct pool *p, struct faults *f, uint32_t at, struct str text);
/* All of them in upstream's words: "ERROR: <input>:1:1: ..." with the line and a mark below. */
void faults_print(struct buffer *b, struct faults *f, struct str text);

/* The tree, or NULL with at least one fault. The text is borrowed. */
struct node *cel_parse(struct pool *p, struct str text, struct faults *faults);

/* For macros: nodes at the place of the call. */
struct node *node_new(struct pool *p, enum node_kind kind, uint32_t at);
struct node *node_call(struct pool *p, uint32_t at, const char *name, uint32_t count, ...);
/* Expands a call that is a macro: *out is the result, or NULL with a fault. False: it is none. */
bool macro_expand(struct pool *p, struct node *call, struct faults *faults, struct node **out);

#endif
