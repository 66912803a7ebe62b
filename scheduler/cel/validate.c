/* validate: upstream's validators, which go over an expression when its types are known. What must
 * stay true: a fault stands at the literal or argument that it is about, and only literals are
 * looked at, never what could be computed. */
#include "scheduler/cel/check.h"
#include "scheduler/cel/evaluate.h"
#include "scheduler/cel/interpolate.h"
#include "scheduler/cel/regex.h"

struct validator {
    struct pool *pool;
    struct faults *faults;
};

static void fault(struct validator *v, const struct node *n, struct str text)
{
    fault_add(v->pool, v->faults, n->at, text);
}

static bool is_call(const struct node *n, const char *name)
{
    struct str is = n->name;
    if (n->kind != N_call)
        return false;
    if (is.len > 0 && is.at[0] == '.') /* the name from the root on */
        is = (struct str){is.at + 1, is.len - 1};
    return str_is(is, name);
}

/* ---- literals ---- */

static void check_alike(struct validator *v, const struct node *n, uint32_t from, uint32_t by)
{
    const struct type *first = NULL;
    for (uint32_t i = from; i < n->count; i += by) {
        const struct type *t = n->args[i]->type;
        bool optional = n->optionals != NULL && n->optionals[i] && (by == 1 || from == 1);
        if (optional && type_is_optional(t))
            t = t->params[0];
        if (first == NULL)
            first = t;
        else if (!type_same(first, t)) {
            check_mismatch(v->pool, v->faults, n->args[i], first, t);
            if (by == 1) /* of a list the first one is told, of a map all */
                return;
        }
    }
}

/* matches() with a literal that is no pattern; of a global call it is the text that upstream looks
 * at. */
static void check_pattern(struct validator *v, const struct node *n)
{
    struct str why = {NULL, 0};
    const struct node *literal = n->args[n->member ? 1 : 0];
    if (literal->kind == N_literal && literal->value.kind == V_string &&
        regex_compile(v->pool, literal->value.text, &why) == NULL)
        fault(v, literal, STR_LITERAL("invalid matches argument"));
}

static void check_conversion(struct validator *v, const struct node *n, const char *name)
{
    if (!is_call(n, name) || n->member || n->count == 0 || n->args[0]->kind != N_literal)
        return;
    if (cel_evaluate_constant(v->pool, n).kind == V_error)
        fault(v, n->args[0], pool_print(v->pool, "invalid %s argument", name));
}

/* ---- string.format() ---- */

static bool is_one_of(const struct type *t, const enum type_kind *kinds, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (t->kind == kinds[i])
            return true;
    return t->kind == T_dyn;
}

static bool takes_type(char letter, const struct type *t)
{
    static const enum type_kind kinds[] = {T_int,      T_uint,      T_bool, T_string,
                                           T_bytes,    T_double,    T_list, T_map,
                                           T_duration, T_timestamp, T_type, T_null};
    static const enum type_kind doubles[] = {T_double, T_string};
    static const enum type_kind bytes[] = {T_int, T_uint, T_string, T_bytes};
    switch (letter) {
    case 's': return is_one_of(t, kinds, sizeof(kinds) / sizeof(kinds[0]));
    case 'd':
    case 'o': return is_one_of(t, kinds, 2);
    case 'b': return is_one_of(t, kinds, 3);
    case 'f':
    case 'e': return is_one_of(t, doubles, 2);
    default: return is_one_of(t, bytes, 4);
    }
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the expression */

/* The part of a literal that %s does not take, or NULL. */
static const struct node *untakable(const struct node *n)
{
    const struct node *bad = takes_type('s', n->type) ? NULL : n;
    for (uint32_t i = 0; bad == NULL && i < n->count && (n->kind == N_list || n->kind == N_map);
         i++)
        bad = untakable(n->args[i]);
    return bad;
}

/* One clause with its argument; false when there was a fault. */
static bool check_clause(struct validator *v, const struct node *call, uint32_t *at,
                         const struct node *arg)
{
    struct clause clause;
    struct value wrong = interpolate_clause(v->pool, call->args[0]->value.text, at, &clause);
    if (wrong.kind == V_error) {
        fault(v, call, wrong.text);
        return false;
    }
    const struct node *bad = takes_type(clause.letter, arg->type) ? NULL : arg;
    if (clause.letter == 's')
        bad = untakable(arg);
    if (bad != NULL)
        fault(v, bad, interpolate_refusal(v->pool, clause.letter, type_runtime_name(bad->type)));
    return bad == NULL;
}

/* A literal text that formats a literal list. */
static void check_format(struct validator *v, const struct node *n)
{
    if (!is_call(n, "format") || !n->member || n->count != 2 || n->args[0]->kind != N_literal ||
        n->args[0]->value.kind != V_string || n->args[1]->kind != N_list)
        return;
    const struct node *list = n->args[1];
    struct str format = n->args[0]->value.text;
    enum piece piece = PIECE_END;
    uint32_t used = 0, at = 0;
    while ((piece = interpolate_next(format, &at)) != PIECE_END) {
        if (piece == PIECE_CHARACTER)
            continue;
        if (at == format.len || used >= list->count) {
            fault(v, n,
                  at == format.len ? STR_LITERAL("unexpected end of string")
                                   : pool_print(v->pool, "index %u out of range", used));
            return;
        }
        if (!check_clause(v, n, &at, list->args[used++]))
            return;
    }
    if (list->count > used)
        fault(v, n,
              pool_print(v->pool,
                         "too many arguments supplied to string.format (expected %u, got %u)", used,
                         list->count));
}

/* ---- all of it ---- */

/* mixed: lists and maps may have several types, as anywhere in a call of format(). */
static void validate(struct validator *v, struct node *n, bool mixed)
{
    if (!n->finished) /* a macro put it into the tree twice */
        return;
    n->finished = false;
    for (uint32_t i = 0; i < n->count; i++)
        validate(v, n->args[i], mixed || is_call(n, "format"));
    if (is_call(n, "matches") && n->count == 2)
        check_pattern(v, n);
    check_conversion(v, n, "duration");
    check_conversion(v, n, "timestamp");
    check_format(v, n);
    if (n->kind == N_list && !mixed)
        check_alike(v, n, 0, 1);
    if (n->kind == N_map && !mixed) {
        check_alike(v, n, 0, 2);
        check_alike(v, n, 1, 2);
    }
}
/* NOLINTEND(misc-no-recursion) */

void cel_validate(struct pool *p, struct node *root, struct faults *faults)
{
    struct validator v = {p, faults};
    validate(&v, root, false);
}
