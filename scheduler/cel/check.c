/* check: cel-go's type checker. Types of empty literals and of generic calls are variables that are
 * bound as they meet other types; dyn and any meet everything. What must stay true: bindings of an
 * attempt that failed are taken back, and the work is bounded, because types may share parts and be
 * huge when walked. */
#include "scheduler/cel/check.h"

#include "scheduler/cel/functions.h"

#include <string.h>

#define STEPS_MAX 4000000u

/* A name of a fold. */
struct scope {
    const struct scope *outer;
    struct str name;
    const struct type *type;
    uint32_t fold; /* how many folds are around, this one counted */
    enum fold_variable variable;
};

struct binding {
    uint32_t variable;
    const struct type *before;
};

struct checker {
    struct pool *pool;
    const struct cel_dialect *dialect;
    struct faults *faults;
    const struct scope *scope;
    uint32_t folds;            /* around the node that is looked at */
    const struct type **bound; /* of each variable, NULL: nothing */
    uint32_t variables, room;
    struct binding *trail; /* what was bound, to be taken back */
    uint32_t bindings, trail_room;
    uint32_t steps;
};

/* Recursion is bounded by the depth of the expression and, through it, of types.
 * NOLINTBEGIN(misc-no-recursion) */
static void check(struct checker *c, struct node *n);

static void step(struct checker *c)
{
    if (++c->steps > STEPS_MAX)
        pool_stop(c->pool, "the expression's types are too complex");
}

static void *grown(struct checker *c, const void *at, uint32_t used, size_t size, uint32_t *room)
{
    *room = *room == 0 ? 64 : 2 * *room;
    void *more = pool_take_array(c->pool, *room, size);
    if (used > 0)
        memcpy(more, at, used * size);
    return more;
}

static uint32_t new_variables(struct checker *c, uint32_t count)
{
    uint32_t first = c->variables;
    while (c->variables + count > c->room)
        c->bound = grown(c, c->bound, c->variables, sizeof(struct type *), &c->room);
    c->variables += count;
    return first;
}

static const struct type *new_variable(struct checker *c)
{
    return type_variable(c->pool, new_variables(c, 1));
}

static void bind(struct checker *c, uint32_t variable, const struct type *t)
{
    if (c->bindings == c->trail_room)
        c->trail = grown(c, c->trail, c->bindings, sizeof(*c->trail), &c->trail_room);
    c->trail[c->bindings++] = (struct binding){variable, c->bound[variable]};
    c->bound[variable] = t;
}

static void take_back(struct checker *c, uint32_t mark)
{
    while (c->bindings > mark) {
        struct binding b = c->trail[--c->bindings];
        c->bound[b.variable] = b.before;
    }
}

static const struct type *found(const struct checker *c, const struct type *t)
{
    return t->kind == T_param && c->bound != NULL ? c->bound[t->number] : NULL;
}

/* ---- types that meet ---- */

static const struct type *substitute(struct checker *c, const struct type *t, bool dyn)
{
    step(c);
    if (!t->open)
        return t;
    const struct type *to = found(c, t), *a = NULL;
    if (to != NULL)
        return substitute(c, to, dyn);
    if (t->kind == T_param)
        return dyn ? &type_dyn : t;
    a = substitute(c, t->params[0], dyn);
    switch (t->kind) {
    case T_list: return type_list(c->pool, a);
    case T_map: return type_map(c->pool, a, substitute(c, t->params[1], dyn));
    case T_type: return type_of_type(c->pool, a);
    default: return type_optional(c->pool, a);
    }
}

static bool not_within(struct checker *c, const struct type *t, const struct type *within)
{
    step(c);
    if (type_same(t, within))
        return false;
    if (within->kind == T_param) {
        const struct type *to = found(c, within);
        return to == NULL || not_within(c, t, to);
    }
    for (uint32_t i = 0; i < within->count; i++)
        if (!not_within(c, t, within->params[i]))
            return false;
    return true;
}

static bool less_specific(struct checker *c, const struct type *a, const struct type *b)
{
    step(c);
    if (type_is_dyn(a) || a->kind == T_param)
        return true;
    if (type_is_dyn(b) || b->kind == T_param || a->kind != b->kind)
        return false;
    if (a->kind == T_type)
        return true;
    if (a->count != b->count || strcmp(a->name, b->name) != 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!less_specific(c, a->params[i], b->params[i]))
            return false;
    return true;
}

static bool assignable(struct checker *c, const struct type *a, const struct type *b);

/* Whether the variable b may stand for a; *had tells whether it stood for something. */
static bool may_stand_for(struct checker *c, const struct type *a, const struct type *b, bool *had)
{
    const struct type *to = found(c, b);
    *had = true;
    if (type_same(a, b))
        return true;
    if (to != NULL) {
        if (type_same(a, to))
            return true;
        if (!assignable(c, a, to))
            return false;
        const struct type *general = less_specific(c, a, to) ? a : to;
        if (not_within(c, b, general))
            bind(c, b->number, general);
        return true;
    }
    *had = false;
    if (!not_within(c, b, a))
        return false;
    bind(c, b->number, a);
    return true;
}

static bool takes_null(const struct type *t)
{
    switch (t->kind) {
    case T_null:
    case T_opaque:
    case T_struct:
    case T_any:
    case T_duration:
    case T_timestamp: return true;
    default: return false;
    }
}

static bool assignable(struct checker *c, const struct type *a, const struct type *b)
{
    bool had = false;
    step(c);
    if (b->kind == T_param) {
        if (may_stand_for(c, a, b, &had))
            return true;
        if (had)
            return false;
    }
    if (a->kind == T_param)
        return may_stand_for(c, b, a, &had);
    if (type_is_dyn(a) || type_is_dyn(b) || a->kind == T_error || b->kind == T_error)
        return true;
    if (a->kind == T_null)
        return takes_null(b);
    if (b->kind == T_null)
        return takes_null(a);
    if (a->kind != b->kind || (a->kind != T_type && strcmp(a->name, b->name) != 0))
        return false;
    if (a->kind == T_type)
        return true;
    for (uint32_t i = 0; i < a->count; i++)
        if (!assignable(c, a->params[i], b->params[i]))
            return false;
    return true;
}

static bool is_assignable(struct checker *c, const struct type *a, const struct type *b)
{
    uint32_t mark = c->bindings;
    if (assignable(c, a, b))
        return true;
    take_back(c, mark);
    return false;
}

/* ---- faults ---- */

void check_mismatch(struct pool *p, struct faults *faults, const struct node *n,
                    const struct type *want, const struct type *is)
{
    struct buffer b = {0};
    buffer_add_text(&b, "expected type '");
    type_print(&b, want);
    buffer_add_text(&b, "' but found '");
    type_print(&b, is);
    buffer_add_text(&b, "'");
    struct str copy = arena_copy(p->arena, buffer_str(&b));
    buffer_free(&b); /* before anything may stop the work */
    fault_add(p, faults, n->at, copy.at != NULL ? copy : STR_LITERAL("a fault"));
}

static void fault(struct checker *c, const struct node *n, struct buffer *text)
{
    struct str copy = arena_copy(c->pool->arena, buffer_str(text));
    buffer_free(text); /* before anything may stop the work */
    fault_add(c->pool, c->faults, n->at, copy.at != NULL ? copy : STR_LITERAL("a fault"));
}

static void mismatch(struct checker *c, const struct node *n, const struct type *want,
                     const struct type *is)
{
    check_mismatch(c->pool, c->faults, n, want, is);
}

static void undeclared(struct checker *c, struct node *n, struct str name)
{
    fault_add(
        c->pool, c->faults, n->at,
        pool_print(c->pool, "undeclared reference to '%.*s' (in container '')", STR_ARG(name)));
    n->type = &type_error;
}

static void no_match(struct checker *c, const struct node *n, struct str name)
{
    struct buffer b = {0};
    buffer_print(&b, "found no matching overload for '%.*s' applied to '", STR_ARG(name));
    for (uint32_t i = 0; i < n->count; i++) {
        if (i == 0 && !n->member)
            buffer_add_text(&b, "(");
        else if (i > (n->member ? 1 : 0))
            buffer_add_text(&b, ", ");
        type_print(&b, n->args[i]->type);
        if (i == 0 && n->member)
            buffer_add_text(&b, ".(");
    }
    buffer_add_text(&b, n->count == 0 ? "()'" : ")'");
    fault(c, n, &b);
}

/* ---- names and fields ---- */

static bool resolve_name(struct checker *c, struct node *n, struct str name)
{
    if (name.len > 0 && name.at[0] == '.')
        name = (struct str){name.at + 1, name.len - 1};
    for (const struct scope *s = c->scope; s != NULL; s = s->outer)
        if (str_equal(s->name, name)) {
            n->kind = N_variable;
            n->count = 0; /* a qualified name: what was its operand is none */
            n->up = c->folds - s->fold;
            n->variable = s->variable;
            n->type = s->type;
            return true;
        }
    if (str_is(name, "device")) {
        n->kind = N_device;
        n->type = &type_device;
        return true;
    }
    const struct type *named = type_named(name);
    if (named == NULL)
        return false;
    n->kind = N_literal;
    n->count = 0;
    n->value = (struct value){.kind = V_type, .type = named};
    n->type = type_of_type(c->pool, named);
    return true;
}

static struct str qualified(struct checker *c, const struct node *n)
{
    struct str name = n->name;
    for (; n->kind == N_select && !n->optional && !n->test; n = n->args[0])
        name = pool_print(c->pool, "%.*s.%.*s", STR_ARG(n->args[0]->name), STR_ARG(name));
    return n->kind == N_ident ? name : (struct str){NULL, 0};
}

static const struct type *device_field(struct checker *c, struct str name)
{
    if (str_is(name, "driver"))
        return &type_string;
    if (str_is(name, "allowMultipleAllocations"))
        return &type_bool;
    if (str_is(name, "attributes"))
        return type_map(c->pool, &type_string,
                        type_map(c->pool, &type_string, attribute_type(c->dialect)));
    if (str_is(name, "capacity"))
        return type_map(c->pool, &type_string, type_map(c->pool, &type_string, &type_quantity));
    return NULL;
}

static const struct type *field_of(struct checker *c, const struct node *n, const struct type *t)
{
    struct buffer b = {0};
    const struct type *field = NULL;
    switch (t->kind) {
    case T_map: return t->params[1];
    case T_struct:
        field = t == &type_device ? device_field(c, n->name) : NULL;
        if (field != NULL)
            return field;
        if (t == &type_device)
            buffer_print(&b, "undefined field '%.*s'", STR_ARG(n->name));
        else
            buffer_print(&b, "unexpected failed resolution of '%s'", t->name);
        fault(c, n, &b);
        return &type_error;
    case T_param: is_assignable(c, &type_dyn, t); return &type_dyn;
    case T_dyn:
    case T_any:
    case T_error: return &type_dyn;
    default:
        buffer_add_text(&b, "type '");
        type_print(&b, t);
        buffer_add_text(&b, "' does not support field selection");
        fault(c, n, &b);
        return &type_dyn;
    }
}

static void check_select(struct checker *c, struct node *n)
{
    struct str name = qualified(c, n);
    if (name.at != NULL && !n->optional && resolve_name(c, n, name))
        return;
    check(c, n->args[0]);
    const struct type *operand = substitute(c, n->args[0]->type, false);
    bool optional = type_is_optional(operand);
    const struct type *field = field_of(c, n, optional ? operand->params[0] : operand);
    if (n->optional || optional)
        field = type_optional(c->pool, field);
    n->type = n->test ? &type_bool : substitute(c, field, false);
}

/* ---- calls ---- */

/* The types that an overload takes, with variables of their own; NULL when the number is another.
 */
static const struct type **arguments_of(struct checker *c, const struct overload *o, uint32_t count,
                                        uint32_t first, const struct type **result)
{
    const char *letters = o->arguments;
    const struct type **args = pool_take_array(c->pool, count, sizeof(struct type *));
    for (uint32_t i = 0; i < count; i++) {
        if (*letters == '\0')
            return NULL;
        args[i] = type_read(c->pool, &letters, first);
    }
    if (*letters != '\0')
        return NULL;
    letters = o->result;
    *result = type_read(c->pool, &letters, first);
    return args;
}

static bool fits(struct checker *c, const struct node *n, const struct overload *o,
                 const struct type **result)
{
    uint32_t mark = c->bindings;
    if (overload_is_member(o) != n->member)
        return false;
    const struct type **args = arguments_of(c, o, n->count, new_variables(c, 2), result);
    if (args == NULL)
        return false;
    for (uint32_t i = 0; i < n->count; i++)
        if (!assignable(c, n->args[i]->type, args[i])) {
            take_back(c, mark);
            return false;
        }
    return true;
}

static void add_candidate(struct checker *c, struct node *n, const struct overload *o)
{
    const char *letters = o->arguments;
    uint32_t count = 0, first = new_variables(c, 2);
    for (; *letters != '\0'; count++)
        type_read(c->pool, &letters, first);
    const struct type *ignored = NULL;
    n->candidates[n->candidate_count++] =
        (struct candidate){o, arguments_of(c, o, count, first, &ignored), count};
}

static bool known(const struct checker *c, const struct overload *o)
{
    return !o->gone || c->dialect->release < 37;
}

/* One overload fits: it is the one. Several do: which one is seen when it is called, and then all
 * of the name are tried. */
static void resolve(struct checker *c, struct node *n, struct str name, const struct function *f)
{
    const struct type *type = NULL, *result = NULL;
    const struct overload *only = NULL;
    uint32_t fitting = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        if (!known(c, &f->first[i]) || !fits(c, n, &f->first[i], &result))
            continue;
        only = &f->first[i];
        result = substitute(c, result, false);
        if (fitting++ == 0)
            type = result;
        else if (!type_is_dyn(type) && !type_same(result, type))
            type = &type_dyn;
    }
    if (fitting == 0) {
        for (uint32_t i = 0; i < n->count; i++)
            n->args[i]->type = substitute(c, n->args[i]->type, true);
        no_match(c, n, name);
        n->type = &type_error;
        return;
    }
    n->type = type;
    n->candidates = pool_take_array(c->pool, f->count, sizeof(*n->candidates));
    n->resolved = fitting == 1;
    for (uint32_t i = 0; i < f->count; i++)
        if (known(c, &f->first[i]) && (fitting > 1 || &f->first[i] == only))
            add_candidate(c, n, &f->first[i]);
}

static void resolve_as(struct checker *c, struct node *n, const char *name)
{
    struct function f;
    function_find(str_of(name), &f);
    for (uint32_t i = 0; i < n->count; i++)
        check(c, n->args[i]);
    resolve(c, n, str_of(name), &f);
}

static void check_chain(struct checker *c, struct node *n)
{
    n->type = &type_bool;
    for (uint32_t i = 0; i < n->count; i++)
        check(c, n->args[i]);
    for (uint32_t i = 0; i < n->count; i++)
        if (!is_assignable(c, n->args[i]->type, &type_bool)) {
            mismatch(c, n->args[i], &type_bool, n->args[i]->type);
            n->type = &type_error;
        }
}

/* Some calls are nodes of their own, because they do not evaluate all that they are given. */
static void become_operator(struct node *n)
{
    if (str_is(n->name, "_==_"))
        n->kind = N_equal;
    else if (str_is(n->name, "_!=_"))
        n->kind = N_not_equal;
    else if (n->member && n->count == 2 && (str_is(n->name, "or") || str_is(n->name, "orValue")))
        n->kind = N_or_value;
}

static void check_call(struct checker *c, struct node *n)
{
    struct function f;
    for (uint32_t i = n->member; i < n->count; i++)
        check(c, n->args[i]);
    if (n->member) {
        struct str prefix = qualified(c, n->args[0]);
        struct str name = {NULL, 0};
        if (prefix.at != NULL)
            name = pool_print(c->pool, "%.*s.%.*s", STR_ARG(prefix), STR_ARG(n->name));
        if (name.at != NULL && function_find(name, &f)) {
            n->name = name;
            n->member = false;
            n->args++;
            n->count--;
            resolve(c, n, str_of(f.first->function), &f);
            return;
        }
        check(c, n->args[0]);
    }
    if (!function_find(n->name, &f)) {
        undeclared(c, n, n->name);
        return;
    }
    resolve(c, n, str_of(f.first->function), &f);
    become_operator(n);
}

/* ---- literals ---- */

static const struct type *join(struct checker *c, const struct type *before, const struct type *t)
{
    if (before == NULL)
        return t;
    if (is_assignable(c, before, t))
        return less_specific(c, before, t) ? before : t;
    return &type_dyn; /* refused in the end, if nothing else is wrong */
}

static const struct type *inside_optional(struct checker *c, const struct node *n,
                                          const struct type *t)
{
    if (type_is_optional(t))
        return t->params[0];
    if (!type_is_dyn(t))
        mismatch(c, n, type_optional(c->pool, t), t);
    return t;
}

static void check_list(struct checker *c, struct node *n)
{
    const struct type *items = NULL;
    for (uint32_t i = 0; i < n->count; i++) {
        struct node *item = n->args[i];
        check(c, item);
        const struct type *t = item->type;
        if (n->optionals != NULL && n->optionals[i])
            t = inside_optional(c, item, t);
        items = join(c, items, t);
    }
    n->type = type_list(c->pool, items != NULL ? items : new_variable(c));
}

static void check_map(struct checker *c, struct node *n)
{
    const struct type *keys = NULL, *items = NULL;
    for (uint32_t i = 0; i + 1 < n->count; i += 2) {
        struct node *key = n->args[i], *item = n->args[i + 1];
        check(c, key);
        keys = join(c, keys, key->type);
        check(c, item);
        const struct type *t = item->type;
        if (n->optionals != NULL && n->optionals[i])
            t = inside_optional(c, item, t);
        items = join(c, items, t);
    }
    if (keys == NULL) {
        keys = new_variable(c);
        items = new_variable(c);
    }
    n->type = type_map(c->pool, keys, items);
}

/* ---- folds ---- */

static void no_range(struct checker *c, const struct node *n, const struct type *t)
{
    struct buffer b = {0};
    buffer_add_text(&b, "expression of type '");
    type_print(&b, t);
    buffer_add_text(&b, "' cannot be range of a comprehension (must be list, map, or dynamic)");
    fault(c, n, &b);
}

/* The types of one or two variables that walk over a range. */
static void range_types(struct checker *c, const struct node *n, const struct type *of[2])
{
    const struct node *range = n->args[FOLD_range];
    const struct type *t = substitute(c, range->type, false);
    bool two = n->second.at != NULL;
    of[0] = of[1] = &type_dyn;
    switch (t->kind) {
    case T_list:
        of[0] = two ? &type_int : t->params[0];
        of[1] = t->params[0];
        break;
    case T_map:
        of[0] = t->params[0];
        of[1] = t->params[1];
        break;
    case T_dyn:
    case T_error:
    case T_param: is_assignable(c, &type_dyn, t); break;
    default:
        no_range(c, range, t);
        of[0] = of[1] = &type_error;
        break;
    }
}

static void check_part(struct checker *c, struct node *n, const struct type *want)
{
    check(c, n);
    if (!is_assignable(c, want, n->type))
        mismatch(c, n, want, n->type);
}

static void check_fold(struct checker *c, struct node *n)
{
    const struct type *of[2];
    const struct scope *outer = c->scope;
    check(c, n->args[FOLD_range]);
    check(c, n->args[FOLD_init]);
    const struct type *sum = n->args[FOLD_init]->type;
    c->folds++;
    struct scope accumulator = {outer, n->accumulator, sum, c->folds, VARIABLE_accumulator};
    range_types(c, n, of);
    struct scope first = {&accumulator, n->first, of[0], c->folds, VARIABLE_first};
    struct scope second = {&first, n->second, of[1], c->folds, VARIABLE_second};
    c->scope = n->second.at != NULL ? &second : &first;
    check_part(c, n->args[FOLD_condition], &type_bool);
    check_part(c, n->args[FOLD_step], sum);
    c->scope = &accumulator;
    check(c, n->args[FOLD_result]);
    c->scope = outer;
    c->folds--;
    n->type = substitute(c, n->args[FOLD_result]->type, false);
}

static void check_message(struct checker *c, struct node *n)
{
    if (type_named(n->name) == NULL && !str_starts_with(n->name, "google.protobuf.")) {
        undeclared(c, n, n->name);
        return;
    }
    fault_add(
        c->pool, c->faults, n->at,
        pool_print(c->pool, "not supported by berth: message literals (%.*s)", STR_ARG(n->name)));
    n->type = &type_error;
}

static void check(struct checker *c, struct node *n)
{
    step(c);
    if (n->type != NULL) /* a macro put it into the tree twice */
        return;
    switch (n->kind) {
    case N_literal: n->type = type_of_value(n->value); break;
    case N_ident:
        if (!resolve_name(c, n, n->name))
            undeclared(c, n, n->name);
        break;
    case N_select: check_select(c, n); break;
    case N_index: resolve_as(c, n, n->optional ? "_[?_]" : "_[_]"); break;
    case N_and:
    case N_or: check_chain(c, n); break;
    case N_conditional: resolve_as(c, n, "_?_:_"); break;
    case N_list: check_list(c, n); break;
    case N_map: check_map(c, n); break;
    case N_fold: check_fold(c, n); break;
    case N_struct: check_message(c, n); break;
    default: check_call(c, n); break;
    }
}

/* ---- what is known only in the end ---- */

static void finish(struct checker *c, struct node *n)
{
    step(c);
    if (n->finished)
        return;
    n->finished = true;
    n->type = substitute(c, n->type, true);
    for (uint32_t i = 0; i < n->count; i++)
        finish(c, n->args[i]);
}

/* NOLINTEND(misc-no-recursion) */

void cel_check(struct pool *p, const struct cel_dialect *dialect, struct node *root,
               struct faults *faults)
{
    struct checker c = {.pool = p, .dialect = dialect, .faults = faults};
    check(&c, root);
    if (faults->count > 0)
        return;
    finish(&c, root);
    cel_validate(p, root, faults);
}
