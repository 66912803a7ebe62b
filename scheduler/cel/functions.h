/* functions: what an expression can call; the table is functions.def. */
#ifndef CEL_FUNCTIONS_H
#define CEL_FUNCTIONS_H

#include "scheduler/cel/cost.h"
#include "scheduler/cel/node.h"

/* One call: its values are no errors. */
struct call {
    struct pool *pool;
    const struct node *node; /* name, and the compiled pattern if there is one */
    const struct value *args;
    uint32_t count;
};
typedef struct value call_function(const struct call *c);

struct overload {
    const char *function, *id;
    char how;                       /* G, M, g or m; see functions.def */
    const char *arguments, *result; /* letters */
    enum cost_kind cost, cost_37;   /* in 1.36; since 1.37 */
    bool gone;                      /* since 1.37 */
    call_function *call;            /* NULL: never called */
};

/* The overloads of a name, next to each other. */
struct function {
    const struct overload *first;
    uint32_t count;
};

static inline bool overload_is_member(const struct overload *o)
{
    return o->how == 'M' || o->how == 'm';
}
/* Whether the values are looked at before the call. */
static inline bool overload_is_guarded(const struct overload *o)
{
    return o->how == 'M' || o->how == 'G';
}

/* False when there is no such function. */
bool function_find(struct str name, struct function *f);
/* What a call gives that no overload takes: "no such overload: int(list)". */
struct value function_no_overload(struct pool *p, const char *name, const struct value *args,
                                  uint32_t count);
/* The same for functions with one implementation for all kinds: "no such overload: _+_", or
 * upstream's plain text for the kinds that it asks themselves. */
struct value function_no_trait(const struct call *c);

#define CALL(name) struct value fn_##name(const struct call *c);
#include "scheduler/cel/functions.def"
#undef CALL

#endif
