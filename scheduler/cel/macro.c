/* macro: has(), all(), exists(), map(), filter(), cel.bind() and their like, expanded into folds as
 * upstream expands them, because cost and the absorption of errors follow from the expansion. One
 * row a macro. What must stay true: an argument is put into the result at most as often as upstream
 * puts it there. */
#include "scheduler/cel/parse.h"

#include <string.h>

#define ACCUMULATOR "@result"
#define UNUSED      "#unused"
#define SORTED      "@__sortBy_input__"

struct expansion {
    struct pool *pool;
    struct node *call;
    struct faults *faults;
    uint32_t at;
};

typedef struct node *expand_call(struct expansion *e, struct node *target, struct node **args,
                                 uint32_t count);

static struct node *refuse(struct expansion *e, const struct node *where, const char *text)
{
    fault_add(e->pool, e->faults, where->at, str_of(text));
    return NULL;
}

static struct node *constant(struct expansion *e, struct value value)
{
    struct node *n = node_new(e->pool, N_literal, e->at);
    n->value = value;
    return n;
}

static struct node *name(struct expansion *e, struct str name)
{
    struct node *n = node_new(e->pool, N_ident, e->at);
    n->name = name;
    return n;
}

static struct node *result(struct expansion *e)
{
    return name(e, STR_LITERAL(ACCUMULATOR));
}

static struct node *list_of(struct expansion *e, struct node *item)
{
    struct node *n = node_new(e->pool, N_list, e->at);
    n->args = pool_take_array(e->pool, 1, sizeof(struct node *));
    n->args[0] = item;
    n->count = item != NULL;
    return n;
}

static struct node *chain(struct expansion *e, enum node_kind kind, struct node *a, struct node *b)
{
    struct node *n = node_call(e->pool, e->at, "", 2, a, b);
    n->kind = kind;
    return n;
}

static struct node *choice(struct expansion *e, struct node *a, struct node *b, struct node *c)
{
    struct node *n = node_call(e->pool, e->at, "", 3, a, b, c);
    n->kind = N_conditional;
    return n;
}

static struct node *fold(struct expansion *e, struct node *const parts[FOLD_parts])
{
    struct node *n =
        node_call(e->pool, e->at, "", FOLD_parts, parts[0], parts[1], parts[2], parts[3], parts[4]);
    n->kind = N_fold;
    n->accumulator = STR_LITERAL(ACCUMULATOR);
    return n;
}

/* One or two names of variables; names end up in the fold. */
static bool take_names(struct expansion *e, struct node *const *args, uint32_t count,
                       const char *no_name)
{
    for (uint32_t i = 0; i < count; i++)
        if (args[i]->kind != N_ident) {
            refuse(e, args[i], no_name);
            return false;
        }
    if (count == 2 && str_equal(args[0]->name, args[1]->name)) {
        struct str text =
            pool_print(e->pool, "duplicate variable name: %.*s", STR_ARG(args[0]->name));
        refuse(e, args[1], text.at);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        if (str_is(args[i]->name, ACCUMULATOR) || str_is(args[i]->name, "__result__")) {
            refuse(e, args[i], "iteration variable overwrites accumulator variable");
            return false;
        }
    return true;
}

static struct node *named(struct node *fold, struct node *const *args, uint32_t count)
{
    fold->first = args[0]->name;
    if (count == 2)
        fold->second = args[1]->name;
    return fold;
}

static struct node *expand_has(struct expansion *e, struct node *target, struct node **args,
                               uint32_t count)
{
    (void)target;
    (void)count;
    if (args[0]->kind != N_select || args[0]->optional)
        return refuse(e, args[0], "invalid argument to has() macro");
    struct node *n = node_new(e->pool, N_select, e->at);
    n->name = args[0]->name;
    n->args = args[0]->args;
    n->count = 1;
    n->test = true;
    return n;
}

#define NO_SIMPLE_NAME "argument must be a simple name"

static struct node *quantifier(struct expansion *e, struct node *target, struct node **args,
                               uint32_t count, enum node_kind kind)
{
    struct node *again = result(e);
    if (!take_names(e, args, count - 1, NO_SIMPLE_NAME))
        return NULL;
    if (kind == N_or)
        again = node_call(e->pool, e->at, "!_", 1, again);
    struct node *const parts[] = {target, constant(e, value_bool(kind == N_and)),
                                  node_call(e->pool, e->at, "@not_strictly_false", 1, again),
                                  chain(e, kind, result(e), args[count - 1]), result(e)};
    return named(fold(e, parts), args, count - 1);
}

static struct node *expand_all(struct expansion *e, struct node *target, struct node **args,
                               uint32_t count)
{
    return quantifier(e, target, args, count, N_and);
}

static struct node *expand_exists(struct expansion *e, struct node *target, struct node **args,
                                  uint32_t count)
{
    return quantifier(e, target, args, count, N_or);
}

static struct node *one(struct expansion *e)
{
    return constant(e, value_int(1));
}

static struct node *expand_exists_one(struct expansion *e, struct node *target, struct node **args,
                                      uint32_t count)
{
    if (!take_names(e, args, count - 1, NO_SIMPLE_NAME))
        return NULL;
    struct node *const parts[] = {target, constant(e, value_int(0)), constant(e, value_bool(true)),
                                  choice(e, args[count - 1],
                                         node_call(e->pool, e->at, "_+_", 2, result(e), one(e)),
                                         result(e)),
                                  node_call(e->pool, e->at, "_==_", 2, result(e), one(e))};
    return named(fold(e, parts), args, count - 1);
}

/* A fold that collects: step, only for items that pass the filter (NULL: all), from init on. */
static struct node *collect(struct expansion *e, struct node *target, struct node *init,
                            struct node *step, struct node *filter)
{
    if (filter != NULL)
        step = choice(e, filter, step, result(e));
    struct node *const parts[] = {target, init, constant(e, value_bool(true)), step, result(e)};
    return fold(e, parts);
}

static struct node *append(struct expansion *e, struct node *item)
{
    return node_call(e->pool, e->at, "_+_", 2, result(e), list_of(e, item));
}

#define NO_IDENTIFIER "argument is not an identifier"

static struct node *expand_map(struct expansion *e, struct node *target, struct node **args,
                               uint32_t count)
{
    if (!take_names(e, args, 1, NO_IDENTIFIER))
        return NULL;
    struct node *filter = count == 3 ? args[1] : NULL;
    return named(collect(e, target, list_of(e, NULL), append(e, args[count - 1]), filter), args, 1);
}

static struct node *expand_filter(struct expansion *e, struct node *target, struct node **args,
                                  uint32_t count)
{
    (void)count;
    if (!take_names(e, args, 1, NO_IDENTIFIER))
        return NULL;
    struct node *item = name(e, args[0]->name);
    return named(collect(e, target, list_of(e, NULL), append(e, item), args[1]), args, 1);
}

static struct node *expand_transform_list(struct expansion *e, struct node *target,
                                          struct node **args, uint32_t count)
{
    if (!take_names(e, args, 2, NO_SIMPLE_NAME))
        return NULL;
    struct node *filter = count == 4 ? args[2] : NULL;
    return named(collect(e, target, list_of(e, NULL), append(e, args[count - 1]), filter), args, 2);
}

static struct node *empty_map(struct expansion *e)
{
    return node_new(e->pool, N_map, e->at);
}

static struct node *expand_transform_map(struct expansion *e, struct node *target,
                                         struct node **args, uint32_t count)
{
    if (!take_names(e, args, 2, NO_SIMPLE_NAME))
        return NULL;
    struct node *step = node_call(e->pool, e->at, "cel.@mapInsert", 3, result(e),
                                  name(e, args[0]->name), args[count - 1]);
    return named(collect(e, target, empty_map(e), step, count == 4 ? args[2] : NULL), args, 2);
}

static struct node *expand_transform_entry(struct expansion *e, struct node *target,
                                           struct node **args, uint32_t count)
{
    if (!take_names(e, args, 2, NO_SIMPLE_NAME))
        return NULL;
    struct node *step = node_call(e->pool, e->at, "cel.@mapInsert", 2, result(e), args[count - 1]);
    return named(collect(e, target, empty_map(e), step, count == 4 ? args[2] : NULL), args, 2);
}

/* A fold over nothing, whose result sees the name: how values are bound. */
static struct node *bound(struct expansion *e, struct str variable, struct node *init,
                          struct node *body)
{
    struct node *const parts[] = {list_of(e, NULL), init, constant(e, value_bool(false)),
                                  name(e, variable), body};
    struct node *n = fold(e, parts);
    n->accumulator = variable;
    n->first = STR_LITERAL(UNUSED);
    return n;
}

static struct node *expand_bind(struct expansion *e, struct node *target, struct node **args,
                                uint32_t count)
{
    (void)count;
    (void)target;
    if (args[0]->kind != N_ident)
        return refuse(e, args[0], "cel.bind() variable names must be simple identifiers");
    return bound(e, args[0]->name, args[1], args[2]);
}

static struct node *method(struct expansion *e, const char *function, struct node *target)
{
    struct node *n = node_call(e->pool, e->at, function, 1, target);
    n->member = true;
    return n;
}

static struct node *optional_map(struct expansion *e, struct node *target, struct node **args,
                                 bool wrap)
{
    struct node *body = bound(e, args[0]->name, method(e, "value", target), args[1]);
    if (wrap)
        body = node_call(e->pool, e->at, "optional.of", 1, body);
    return choice(e, method(e, "hasValue", target), body,
                  node_call(e->pool, e->at, "optional.none", 0));
}

static struct node *expand_opt_map(struct expansion *e, struct node *target, struct node **args,
                                   uint32_t count)
{
    (void)count;
    if (args[0]->kind != N_ident)
        return refuse(e, args[0], "optMap() variable name must be a simple identifier");
    return optional_map(e, target, args, true);
}

static struct node *expand_opt_flat_map(struct expansion *e, struct node *target,
                                        struct node **args, uint32_t count)
{
    (void)count;
    if (args[0]->kind != N_ident)
        return refuse(e, args[0], "optFlatMap() variable name must be a simple identifier");
    return optional_map(e, target, args, false);
}

static struct node *expand_sort_by(struct expansion *e, struct node *target, struct node **args,
                                   uint32_t count)
{
    if (target->kind == N_literal || target->kind == N_map || target->kind == N_struct)
        return refuse(e, target,
                      "sortBy can only be applied to a list, identifier, comprehension, call or "
                      "select expression");
    struct node *keys = expand_map(e, name(e, STR_LITERAL(SORTED)), args, count);
    if (keys == NULL)
        return NULL;
    struct node *sorted =
        node_call(e->pool, e->at, "@sortByAssociatedKeys", 2, name(e, STR_LITERAL(SORTED)), keys);
    sorted->member = true;
    return bound(e, STR_LITERAL(SORTED), target, sorted);
}

static const struct {
    const char *name;
    uint32_t count; /* of arguments, the target not counted */
    bool member;
    expand_call *expand;
} macros[] = {
    {"has", 1, false, expand_has},
    {"all", 2, true, expand_all},
    {"all", 3, true, expand_all},
    {"exists", 2, true, expand_exists},
    {"exists", 3, true, expand_exists},
    {"exists_one", 2, true, expand_exists_one},
    {"exists_one", 3, true, expand_exists_one},
    {"existsOne", 3, true, expand_exists_one},
    {"map", 2, true, expand_map},
    {"map", 3, true, expand_map},
    {"filter", 2, true, expand_filter},
    {"transformList", 3, true, expand_transform_list},
    {"transformList", 4, true, expand_transform_list},
    {"transformMap", 3, true, expand_transform_map},
    {"transformMap", 4, true, expand_transform_map},
    {"transformMapEntry", 3, true, expand_transform_entry},
    {"transformMapEntry", 4, true, expand_transform_entry},
    {"bind", 3, true, expand_bind},
    {"optMap", 2, true, expand_opt_map},
    {"optFlatMap", 2, true, expand_opt_flat_map},
    {"sortBy", 2, true, expand_sort_by},
};

bool macro_expand(struct pool *p, struct node *call, struct faults *faults, struct node **out)
{
    struct expansion e = {p, call, faults, call->at};
    struct node *target = call->member ? call->args[0] : NULL;
    uint32_t count = call->count - call->member;
    for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++) {
        if (!str_is(call->name, macros[i].name) || count != macros[i].count ||
            call->member != macros[i].member)
            continue;
        if (macros[i].expand == expand_bind &&
            (target == NULL || target->kind != N_ident || !str_is(target->name, "cel")))
            return false;
        *out = macros[i].expand(&e, target, call->args + call->member, count);
        return true;
    }
    return false;
}
