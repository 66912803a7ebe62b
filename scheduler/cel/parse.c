/* parse: recursive descent over CEL's grammar. What must stay true: recursion is counted as
 * upstream's parser counts it (250 of each kind of rule, 250 of those that nest), so that neither a
 * text accepted there is refused here nor a deep one runs over the stack; after the first syntax
 * error the words end, and with them every loop. */
#include "scheduler/cel/parse.h"

#include "scheduler/cel/lex.h"
#include "scheduler/cel/number.h"

#include <stdarg.h>
#include <string.h>

#define DEPTH_MAX 250u

enum rule { RULE_expr, RULE_relation, RULE_calc, RULE_member, RULE_COUNT };

struct parser {
    struct pool *pool;
    struct lexer lexer;
    struct token token; /* the one that is looked at */
    struct faults *faults;
    bool failed; /* a syntax error was seen */
    uint32_t depth[RULE_COUNT];
};

/* Nodes that are collected before their number is known. */
struct nodes {
    struct node **at;
    bool *optionals;
    uint32_t count, room;
    bool any_optional;
};

/* Bounded by DEPTH_MAX of each rule. NOLINTBEGIN(misc-no-recursion) */
static struct node *parse_expr(struct parser *p);

struct node *node_new(struct pool *p, enum node_kind kind, uint32_t at)
{
    struct node *n = pool_take(p, sizeof(*n));
    n->kind = kind;
    n->at = at;
    return n;
}

static void set_depth(struct node *n, bool counts)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->args[i]->depth > n->depth)
            n->depth = n->args[i]->depth;
    n->depth += counts;
}

struct node *node_call(struct pool *p, uint32_t at, const char *name, uint32_t count, ...)
{
    struct node *n = node_new(p, N_call, at);
    va_list args;
    n->name = str_of(name);
    n->count = count;
    n->args = pool_take_array(p, count, sizeof(struct node *));
    va_start(args, count);
    for (uint32_t i = 0; i < count; i++)
        n->args[i] = va_arg(args, struct node *);
    va_end(args);
    set_depth(n, false);
    return n;
}

static void nodes_add(struct parser *p, struct nodes *list, struct node *n, bool optional)
{
    if (list->count == list->room) {
        uint32_t room = list->room == 0 ? 4 : 2 * list->room;
        struct node **at = pool_take_array(p->pool, room, sizeof(struct node *));
        bool *optionals = pool_take(p->pool, room);
        if (list->count > 0) {
            memcpy(at, list->at, list->count * sizeof(struct node *));
            memcpy(optionals, list->optionals, list->count);
        }
        list->at = at;
        list->optionals = optionals;
        list->room = room;
    }
    list->at[list->count] = n;
    list->optionals[list->count++] = optional;
    list->any_optional = list->any_optional || optional;
}

static struct node *with_args(struct node *n, const struct nodes *list, bool counts)
{
    n->args = list->at;
    n->count = list->count;
    n->optionals = list->any_optional ? list->optionals : NULL;
    set_depth(n, counts);
    return n;
}

/* ---- words ---- */

static struct node *fault(struct parser *p, uint32_t at, struct str text)
{
    fault_add(p->pool, p->faults, at, text);
    return node_new(p->pool, N_literal, at);
}

static void end_here(struct parser *p)
{
    p->failed = true;
    p->token.kind = K_end;
    p->token.text.len = 0;
}

static struct node *syntax_error(struct parser *p)
{
    struct token t = p->token;
    if (p->failed)
        return node_new(p->pool, N_literal, t.at);
    struct str text = t.kind == K_wrong
                          ? pool_print(p->pool, "Syntax error: token recognition error at: '%.*s'",
                                       STR_ARG(t.text))
                          : pool_print(p->pool, "Syntax error: mismatched input '%.*s'",
                                       STR_ARG(t.kind == K_end ? STR_LITERAL("<EOF>") : t.text));
    end_here(p);
    return fault(p, t.at, text);
}

static void advance(struct parser *p)
{
    if (!p->failed)
        p->token = lex_next(&p->lexer);
    if (p->token.kind == K_wrong)
        syntax_error(p);
}

static bool is_sign(const struct parser *p, const char *sign)
{
    return p->token.kind == K_sign && str_is(p->token.text, sign);
}

static bool is_word(const struct parser *p, const char *word)
{
    return p->token.kind == K_name && str_is(p->token.text, word);
}

static bool take_sign(struct parser *p, const char *sign)
{
    if (!is_sign(p, sign))
        return false;
    advance(p);
    return true;
}

static void want_sign(struct parser *p, const char *sign)
{
    if (!take_sign(p, sign))
        syntax_error(p);
}

static void check_depth(struct parser *p, uint32_t depth)
{
    if (depth <= DEPTH_MAX || p->failed)
        return;
    fault_add(p->pool, p->faults, 0, STR_LITERAL("expression recursion limit exceeded: 250"));
    end_here(p);
}

static void enter(struct parser *p, enum rule rule)
{
    check_depth(p, ++p->depth[rule]);
}

static struct node *checked(struct parser *p, struct node *n)
{
    check_depth(p, n->depth);
    return n;
}

/* ---- primaries ---- */

static bool is_reserved(struct str name)
{
    static const char *const words[] = {
        "as",        "break", "const",  "continue", "else", "false", "for",
        "function",  "if",    "import", "in",       "let",  "loop",  "package",
        "namespace", "null",  "return", "true",     "var",  "void",  "while"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (str_is(name, words[i]))
            return true;
    return false;
}

/* Words that are no names wherever they stand. */
static bool is_name(const struct parser *p)
{
    return p->token.kind == K_name && !is_word(p, "in") && !is_word(p, "true") &&
           !is_word(p, "false") && !is_word(p, "null");
}

static struct node *literal(struct parser *p, uint32_t at, struct value value)
{
    struct node *n = node_new(p->pool, N_literal, at);
    n->value = value;
    return n;
}

static struct str digits_of(struct str text, uint32_t *base)
{
    *base = 10;
    if (str_starts_with(text, "0x")) {
        *base = 16;
        return (struct str){text.at + 2, text.len - 2};
    }
    return text;
}

static struct node *number(struct parser *p, bool negative, uint32_t at)
{
    struct token t = p->token;
    uint32_t base = 10;
    uint64_t size = 0;
    double real = 0;
    advance(p);
    if (t.kind == K_double) {
        if (!number_parse_double(t.text, &real))
            return fault(p, at, STR_LITERAL("invalid double literal"));
        return literal(p, at, (struct value){.kind = V_double, .real = negative ? -real : real});
    }
    if (t.kind == K_uint) {
        t.text.len--;
        struct str digits = digits_of(t.text, &base);
        if (!number_parse_uint(digits, base, &size))
            return fault(p, at, STR_LITERAL("invalid uint literal"));
        return literal(p, at, (struct value){.kind = V_uint, .natural = size});
    }
    struct str digits = digits_of(t.text, &base);
    if (!number_parse_uint(digits, base, &size) || size > (uint64_t)INT64_MAX + negative)
        return fault(p, at, STR_LITERAL("invalid int literal"));
    return literal(p, at, value_int(negative ? (int64_t)(0 - size) : (int64_t)size));
}

static struct node *quoted(struct parser *p)
{
    struct token t = p->token;
    const char *error = NULL;
    struct str text = lex_unquote(p->pool, t, &error);
    advance(p);
    if (error != NULL)
        return fault(p, t.at, str_of(error));
    return literal(p, t.at,
                   (struct value){.kind = t.kind == K_bytes ? V_bytes : V_string, .text = text});
}

/* Items up to the closing sign, a comma allowed behind the last one. */
static struct nodes parse_items(struct parser *p, const char *closing, bool map)
{
    struct nodes list = {0};
    while (!is_sign(p, closing) && !p->failed) {
        if (list.count == 0 && take_sign(p, ",")) /* [,] is allowed */
            break;
        bool optional = take_sign(p, "?");
        nodes_add(p, &list, parse_expr(p), optional);
        if (map) {
            want_sign(p, ":");
            nodes_add(p, &list, parse_expr(p), optional);
        }
        if (!take_sign(p, ","))
            break;
    }
    want_sign(p, closing);
    return list;
}

/* Arguments of a call up to and with the bracket; no comma behind the last one. */
static void parse_arguments(struct parser *p, struct nodes *list)
{
    if (take_sign(p, ")"))
        return;
    do
        nodes_add(p, list, parse_expr(p), false);
    while (take_sign(p, ","));
    want_sign(p, ")");
}

static struct node *call_or_macro(struct parser *p, struct node *call)
{
    struct node *out = NULL;
    if (p->failed || !macro_expand(p->pool, call, p->faults, &out))
        return call;
    if (out == NULL)
        return node_new(p->pool, N_literal, call->at);
    out->depth = call->depth;
    return out;
}

static struct node *name_or_call(struct parser *p)
{
    bool dot = take_sign(p, ".");
    struct token t = p->token;
    if (!is_name(p))
        return syntax_error(p);
    advance(p);
    if (is_reserved(t.text))
        fault(p, t.at, pool_print(p->pool, "reserved identifier: %.*s", STR_ARG(t.text)));
    if (dot)
        t.text = pool_print(p->pool, ".%.*s", STR_ARG(t.text));
    if (!is_sign(p, "(")) {
        struct node *n = node_new(p->pool, N_ident, t.at);
        n->name = t.text;
        return n;
    }
    struct node *call = node_new(p->pool, N_call, p->token.at);
    struct nodes args = {0};
    call->name = t.text;
    advance(p);
    parse_arguments(p, &args);
    return call_or_macro(p, with_args(call, &args, false));
}

static struct node *parse_primary(struct parser *p)
{
    struct token t = p->token;
    struct node *n = NULL;
    struct nodes items;
    switch (t.kind) {
    case K_int:
    case K_uint:
    case K_double: return number(p, false, t.at);
    case K_string:
    case K_bytes: return quoted(p);
    default: break;
    }
    if (is_word(p, "true") || is_word(p, "false") || is_word(p, "null")) {
        advance(p);
        return literal(p, t.at,
                       t.text.at[0] == 'n' ? (struct value){.kind = V_null}
                                           : value_bool(t.text.at[0] == 't'));
    }
    if (take_sign(p, "(")) {
        n = parse_expr(p);
        want_sign(p, ")");
        return n;
    }
    bool map = is_sign(p, "{");
    if (!map && !is_sign(p, "["))
        return name_or_call(p);
    n = node_new(p->pool, map ? N_map : N_list, t.at);
    advance(p);
    items = parse_items(p, map ? "}" : "]", map);
    return with_args(n, &items, false);
}

/* ---- members ---- */

static struct node *with_operand(struct node *n, struct pool *p, struct node *operand)
{
    n->args = pool_take_array(p, 2, sizeof(struct node *));
    n->args[0] = operand;
    n->count = 1;
    set_depth(n, true);
    return n;
}

static struct node *select_or_call(struct parser *p, struct node *operand)
{
    uint32_t at = p->token.at;
    advance(p);
    bool optional = take_sign(p, "?");
    struct token t = p->token;
    if (!is_name(p) && t.kind != K_escaped)
        return syntax_error(p);
    advance(p);
    if (t.kind == K_escaped)
        fault(p, t.at, STR_LITERAL("unsupported syntax: '`'"));
    if (optional || t.kind == K_escaped || !is_sign(p, "(")) {
        struct node *n = node_new(p->pool, N_select, at);
        n->name = t.text;
        n->optional = optional;
        return with_operand(n, p->pool, operand);
    }
    struct node *call = node_new(p->pool, N_call, p->token.at);
    struct nodes args = {0};
    call->name = t.text;
    call->member = true;
    advance(p);
    nodes_add(p, &args, operand, false);
    parse_arguments(p, &args);
    return call_or_macro(p, with_args(call, &args, true));
}

static struct node *index_of(struct parser *p, struct node *operand)
{
    struct node *n = node_new(p->pool, N_index, p->token.at);
    advance(p);
    n->optional = take_sign(p, "?");
    with_operand(n, p->pool, operand);
    n->args[1] = parse_expr(p);
    n->count = 2;
    n->depth = 0;
    set_depth(n, true);
    want_sign(p, "]");
    return n;
}

/* Names joined by points: what may be the type of a message literal. */
static bool is_qualified(const struct node *n)
{
    while (n->kind == N_select && !n->optional && !n->test)
        n = n->args[0];
    return n->kind == N_ident;
}

static struct str qualified_name(struct parser *p, const struct node *n)
{
    struct str name = n->name;
    for (; n->kind == N_select; n = n->args[0])
        name = pool_print(p->pool, "%.*s.%.*s", STR_ARG(n->args[0]->name), STR_ARG(name));
    return name;
}

/* The fields are read for their syntax; the checker refuses the literal. */
static struct node *message(struct parser *p, struct node *type)
{
    struct node *n = node_new(p->pool, N_struct, p->token.at);
    n->name = qualified_name(p, type);
    advance(p);
    while (!is_sign(p, "}") && !p->failed && !take_sign(p, ",")) {
        take_sign(p, "?");
        if (!is_name(p) && p->token.kind != K_escaped)
            return syntax_error(p);
        advance(p);
        want_sign(p, ":");
        parse_expr(p);
        if (!take_sign(p, ","))
            break;
    }
    want_sign(p, "}");
    return n;
}

static struct node *parse_member(struct parser *p, struct node *n)
{
    uint32_t outer = p->depth[RULE_member];
    enter(p, RULE_member);
    if (n == NULL)
        n = parse_primary(p);
    while (!p->failed) {
        if (is_sign(p, "{") && is_qualified(n)) {
            n = message(p, n);
            continue;
        }
        if (!is_sign(p, ".") && !is_sign(p, "["))
            break;
        enter(p, RULE_member);
        n = checked(p, is_sign(p, ".") ? select_or_call(p, n) : index_of(p, n));
    }
    p->depth[RULE_member] = outer;
    return n;
}

static struct node *parse_unary(struct parser *p)
{
    bool not = is_sign(p, "!");
    struct token t = p->token;
    uint32_t count = 0;
    if (!not &&!is_sign(p, "-"))
        return parse_member(p, NULL);
    for (; is_sign(p, not ? "!" : "-"); count++)
        advance(p);
    struct node *n = NULL;
    bool plain = p->token.kind == K_int || p->token.kind == K_double;
    if (!not &&count == 1 && plain) /* the sign belongs to the number */
        return parse_member(p, number(p, true, t.at));
    n = parse_member(p, NULL);
    return count % 2 == 0 ? n : node_call(p->pool, t.at, not ? "!_" : "-_", 1, n);
}

/* ---- operators ---- */

static struct node *binary(struct parser *p, struct token op, struct node *a, struct node *b)
{
    struct node *n = NULL;
    if (str_is(op.text, "in"))
        n = node_call(p->pool, op.at, "@in", 2, a, b);
    else
        n = node_call(p->pool, op.at, pool_print(p->pool, "_%.*s_", STR_ARG(op.text)).at, 2, a, b);
    n->depth++;
    return checked(p, n);
}

static bool is_factor(const struct parser *p)
{
    return is_sign(p, "*") || is_sign(p, "/") || is_sign(p, "%");
}

/* Operators of one strength, left to right; sums are made of products. */
static struct node *parse_calc(struct parser *p, bool sums)
{
    uint32_t outer = p->depth[RULE_calc];
    enter(p, RULE_calc);
    struct node *n = parse_unary(p);
    while (!p->failed && (is_factor(p) || (sums && (is_sign(p, "+") || is_sign(p, "-"))))) {
        struct token op = p->token;
        bool factor = is_factor(p);
        enter(p, RULE_calc);
        advance(p);
        if (factor) {
            uint32_t inner = p->depth[RULE_calc];
            enter(p, RULE_calc);
            n = binary(p, op, n, parse_unary(p));
            p->depth[RULE_calc] = inner;
        } else {
            n = binary(p, op, n, parse_calc(p, false));
        }
    }
    p->depth[RULE_calc] = outer;
    return n;
}

static bool is_relation(const struct parser *p)
{
    static const char *const signs[] = {"<", "<=", ">=", ">", "==", "!="};
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (is_sign(p, signs[i]))
            return true;
    return is_word(p, "in");
}

static struct node *parse_relation(struct parser *p)
{
    uint32_t outer = p->depth[RULE_relation];
    enter(p, RULE_relation);
    struct node *n = parse_calc(p, true);
    while (!p->failed && is_relation(p)) {
        struct token op = p->token;
        enter(p, RULE_relation);
        advance(p);
        enter(p, RULE_relation);
        n = binary(p, op, n, parse_calc(p, true));
        p->depth[RULE_relation]--;
    }
    p->depth[RULE_relation] = outer;
    return n;
}

/* Chains of && and || are one node however long: the order of evaluation and which error wins are
 * those of upstream's balanced tree. */
static struct node *parse_chain(struct parser *p, bool or)
{
    struct nodes terms = {0};
    uint32_t at = 0;
    do {
        nodes_add(p, &terms, or ? parse_chain(p, false) : parse_relation(p), false);
        at = terms.count == 1 ? p->token.at : at;
    } while (take_sign(p, or ? "||" : "&&"));
    if (terms.count == 1)
        return terms.at[0];
    return with_args(node_new(p->pool, or ? N_or : N_and, at), &terms, false);
}

static struct node *parse_expr(struct parser *p)
{
    enter(p, RULE_expr);
    struct node *n = p->failed ? syntax_error(p) : parse_chain(p, true);
    if (is_sign(p, "?")) {
        struct nodes parts = {0};
        struct node *choice = node_new(p->pool, N_conditional, p->token.at);
        advance(p);
        nodes_add(p, &parts, n, false);
        nodes_add(p, &parts, parse_chain(p, true), false);
        want_sign(p, ":");
        nodes_add(p, &parts, parse_expr(p), false);
        n = checked(p, with_args(choice, &parts, true));
    }
    p->depth[RULE_expr]--;
    return n;
}

struct node *cel_parse(struct pool *pool, struct str text, struct faults *faults)
{
    struct parser p = {.pool = pool, .lexer = {.text = text}, .faults = faults};
    advance(&p);
    struct node *n = parse_expr(&p);
    if (!p.failed && p.token.kind != K_end)
        syntax_error(&p);
    return faults->count == 0 ? n : NULL;
}
/* NOLINTEND(misc-no-recursion) */
