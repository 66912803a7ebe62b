/* check: the types of an expression, and what its calls mean. */
#ifndef CEL_CHECK_H
#define CEL_CHECK_H

#include "scheduler/cel/cel.h"
#include "scheduler/cel/parse.h"

/* Gives every node its type, resolves names and calls. Faults are added to faults. */
void cel_check(struct pool *p, const struct cel_dialect *dialect, struct node *root,
               struct faults *faults);
/* What an attribute of a device is taken for: 1.36 knows only plain values. */
const struct type *attribute_type(const struct cel_dialect *dialect);
/* What upstream looks at in an expression whose types are right: literals that are no pattern,
 * duration or timestamp, lists and maps of several types, and the clauses of string.format(). Every
 * node has been finished by cel_check. */
void cel_validate(struct pool *p, struct node *root, struct faults *faults);
/* Adds "expected type 'want' but found 'is'". */
void check_mismatch(struct pool *p, struct faults *faults, const struct node *n,
                    const struct type *want, const struct type *is);
/* Prepares the evaluation: constants are computed, constant patterns compiled. Returns false and
 * *error when one of them cannot be. */
bool cel_plan(struct pool *p, struct node *root, struct str *error);

#endif
