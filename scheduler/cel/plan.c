/* plan: what can be known of an expression before it sees a device, as cel-go's planner does it:
 * literals of constants become constants, conversions of constants are made, "in" with a constant
 * list becomes a look-up, and patterns are compiled. It changes what an evaluation costs, so it
 * must be done exactly where upstream does it. A constant that cannot be converted refuses the
 * expression. */
#include "scheduler/cel/check.h"
#include "scheduler/cel/evaluate.h"
#include "scheduler/cel/functions.h"
#include "scheduler/cel/regex.h"

static bool is_conversion(struct str name)
{
    static const char *const names[] = {"bool", "bytes",  "double",    "duration", "dyn",
                                        "int",  "string", "timestamp", "type",     "uint"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static bool all_constant(const struct node *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->args[i]->kind != N_literal)
            return false;
    return true;
}

static void become_constant(struct node *n, struct value value)
{
    n->kind = N_literal;
    n->value = value;
    n->count = 0;
}

/* An in with a constant list of plain values. */
static void plan_in(struct node *n)
{
    const struct value list = n->args[1]->value;
    if (list.kind != V_list)
        return;
    if (list.list->count == 0) {
        become_constant(n, value_bool(false));
        return;
    }
    for (uint32_t i = 0; i < list.list->count; i++) {
        enum value_kind kind = list_at(list, i).kind;
        if (kind != V_bool && kind != V_int && kind != V_uint && kind != V_double &&
            kind != V_string)
            return;
    }
    n->kind = N_set_member;
    n->value = list;
    n->count = 1;
}

static bool plan_pattern(struct pool *p, struct node *n, struct str *error)
{
    const struct node *pattern = n->args[1];
    if (pattern->kind != N_literal || pattern->value.kind != V_string)
        return true;
    n->regex = regex_compile(p, pattern->value.text, error);
    return n->regex != NULL;
}

static bool plan_call(struct pool *p, struct node *n, struct str *error)
{
    const struct overload *o = n->candidates[0].overload;
    if (n->resolved && str_is(str_of(o->id), "in_list") && n->args[1]->kind == N_literal) {
        plan_in(n);
        return true;
    }
    if (o->call == fn_standard_matches || o->call == fn_regex_find || o->call == fn_regex_find_all)
        return n->count < 2 || plan_pattern(p, n, error);
    if (n->count != 1 || !is_conversion(n->name) || !all_constant(n))
        return true;
    struct value v = cel_evaluate_constant(p, n);
    if (v.kind == V_error)
        *error = v.text;
    else
        become_constant(n, v);
    return v.kind != V_error;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tree, which the parser bounds */
bool cel_plan(struct pool *p, struct node *n, struct str *error)
{
    if (n->planned)
        return true;
    n->planned = true;
    for (uint32_t i = 0; i < n->count; i++)
        if (!cel_plan(p, n->args[i], error))
            return false;
    if ((n->kind == N_list || n->kind == N_map) && all_constant(n)) {
        struct value v = cel_evaluate_constant(p, n);
        become_constant(n, v);
        return true;
    }
    if (n->kind == N_index && n->args[1]->kind == N_literal && !value_is_key(n->args[1]->value)) {
        *error = pool_print(p, "invalid qualifier type: %s", value_go_type(n->args[1]->value));
        return false;
    }
    return n->kind != N_call || plan_call(p, n, error);
}
