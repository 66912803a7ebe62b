/* evaluate: walks the tree, counting the cost of each step as cel-go's observers count it. What
 * must stay true: && || ?: orValue and the variables of folds are lazy as upstream's are; and a
 * chain such as device.attributes["d"].x costs one for each link and one for the whole, which is
 * why the links of a chain are walked by chain() and everything else by evaluate(). Recursion is as
 * deep as the tree, which the parser bounds. */
#include "scheduler/cel/evaluate.h"

#include "proto/base/must.h"
#include "scheduler/cel/functions.h"

#define UNHASHABLE "internal error: runtime error: hash of unhashable type "

#define LIST_COST 10
#define MAP_COST  30

/* A fold that is under way. */
struct frame {
    struct frame *outer;
    const struct node *fold;
    struct value accumulator, first, second;
    bool begun; /* the accumulator has a value */
};

/* NOLINTBEGIN(misc-no-recursion) */
static struct value evaluate(struct run *r, const struct node *n, struct frame *f);
static struct value chain(struct run *r, const struct node *n, struct frame *f);

static void charge(struct run *r, uint64_t cost)
{
    r->cost += cost;
    if (r->cost > r->cost_max)
        pool_stop(r->pool, "operation cancelled: actual cost limit exceeded");
}

/* ---- fields and indices ---- */

static struct value absent_key(struct run *r, struct value key)
{
    return (struct value){
        .kind = V_error,
        .text = pool_print(r->pool, "no such key: %.*s", STR_ARG(value_text(r->pool, key)))};
}

/* The place that a key stands for in a list: an int, or another number without a fraction. */
static bool place_in_list(struct run *r, struct value key, int64_t *place, struct value *error)
{
    struct str text = value_text(r->pool, key);
    switch (key.kind) {
    case V_int: *place = key.number; return true;
    case V_uint:
        *place = (int64_t)key.natural;
        if (key.natural <= INT64_MAX)
            return true;
        break;
    case V_double:
        *place = key.real >= -0x1p62 && key.real < 0x1p62 ? (int64_t)key.real : 0;
        if ((double)*place == key.real)
            return true;
        break;
    default:
        *error = (struct value){.kind = V_error,
                                .text = pool_print(r->pool, "unsupported index type '%s' in list",
                                                   value_type_name(key))};
        return false;
    }
    *error = (struct value){
        .kind = V_error,
        .text = pool_print(r->pool, "unsupported index value %.*s in list", STR_ARG(text))};
    return false;
}

enum found { FOUND, ABSENT, BROKEN };

/* What a key finds in a value: *out is it, or why not (ABSENT and BROKEN). */
static enum found look_up(struct run *r, struct value in, struct value key, struct value *out)
{
    int64_t place = 0;
    switch (in.kind) {
    case V_map:
        if (cel_map_find(in, key, out))
            return FOUND;
        break;
    case V_list:
        if (!place_in_list(r, key, &place, out))
            return BROKEN;
        if (place >= 0 && place < in.list->count) {
            *out = list_at(in, (uint32_t)place);
            return FOUND;
        }
        *out = (struct value){.kind = V_error,
                              .text = pool_print(r->pool, "index out of bounds: %.*s",
                                                 STR_ARG(value_text(r->pool, key)))};
        return ABSENT;
    default: break;
    }
    *out = absent_key(r, key);
    return ABSENT;
}

static struct value wrapped(struct run *r, bool optional, struct value v)
{
    return optional ? value_some(r->pool, v) : v;
}

/* One link: in[key]. optional: the link or one before it is. The cost is that of the link. */
static struct value follow(struct run *r, const struct node *n, struct value in, struct value key,
                           uint64_t cost)
{
    struct value out;
    bool optional = n->optional || in.kind == V_optional;
    if (in.kind == V_optional)
        in = *in.inside;
    if (!value_is_key(key)) {
        charge(r, optional ? 0 : cost);
        return (struct value){
            .kind = V_error,
            .text = pool_print(r->pool, "invalid qualifier type: %s", value_go_type(key))};
    }
    enum found found = look_up(r, in, key, &out);
    if (n->test) {
        charge(r, optional && found != FOUND ? 0 : cost);
        return found == BROKEN ? out : value_bool(found == FOUND);
    }
    if (optional && found != FOUND)
        return found == ABSENT ? value_none() : out;
    charge(r, cost);
    return wrapped(r, optional && found == FOUND, out);
}

static bool is_link(const struct node *n)
{
    return n->kind == N_device || n->kind == N_variable || n->kind == N_select ||
           n->kind == N_index || n->kind == N_conditional;
}

/* What a chain costs as a whole, its links apart: upstream counts nothing for one that begins with
 * ?: and takes one back for has(). */
static uint64_t whole_cost(const struct node *n)
{
    const struct node *root = n;
    while (root->kind == N_select || root->kind == N_index)
        root = root->args[0];
    return (uint64_t)(root->kind != N_conditional) - (uint64_t)n->test;
}

/* The operand of a link, or a branch of ?: without the one for the whole of a chain. */
static struct value link_or_value(struct run *r, const struct node *n, struct frame *f)
{
    return is_link(n) ? chain(r, n, f) : evaluate(r, n, f);
}

static struct value select_field(struct run *r, const struct node *n, struct frame *f)
{
    struct value in = link_or_value(r, n->args[0], f);
    if (in.kind == V_error)
        return in;
    if (in.kind == V_optional && in.inside == NULL)
        return n->test ? value_bool(false) : in;
    return follow(r, n, in, value_string(n->name), 1);
}

static struct value index_into(struct run *r, const struct node *n, struct frame *f)
{
    const struct node *by = n->args[1];
    struct value in = link_or_value(r, n->args[0], f);
    if (in.kind == V_error || (in.kind == V_optional && in.inside == NULL))
        return in;
    struct value key = link_or_value(r, by, f);
    uint64_t cost = is_link(by) ? whole_cost(by) : 1;
    if (key.kind == V_error) {
        charge(r, n->optional || in.kind == V_optional ? 0 : cost);
        return key;
    }
    return follow(r, n, in, key, cost);
}

static struct value variable(struct run *r, const struct node *n, struct frame *f)
{
    for (uint32_t up = n->up; f != NULL && up > 0; up--)
        f = f->outer;
    must(f != NULL);
    if (n->variable == VARIABLE_first)
        return f->first;
    if (n->variable == VARIABLE_second)
        return f->second;
    if (!f->begun) {
        f->begun = true;
        f->accumulator = evaluate(r, f->fold->args[FOLD_init], f->outer);
    }
    return f->accumulator;
}

static struct value choose(struct run *r, const struct node *n, struct frame *f)
{
    struct value which = evaluate(r, n->args[0], f);
    if (which.kind == V_error)
        return which;
    if (which.kind != V_bool)
        return value_no_overload();
    return link_or_value(r, n->args[which.truth ? 1 : 2], f);
}

static struct value chain(struct run *r, const struct node *n, struct frame *f)
{
    switch (n->kind) {
    case N_device: return r->device;
    case N_variable: return variable(r, n, f);
    case N_select: return select_field(r, n, f);
    case N_index: return index_into(r, n, f);
    default: return choose(r, n, f);
    }
}

/* ---- logic and equality ---- */

/* or: the first true wins, else the first error, else false; and the other way round. */
static struct value logic(struct run *r, const struct node *n, struct frame *f)
{
    bool or = n->kind == N_or;
    struct value error = {.kind = V_null};
    for (uint32_t i = 0; i < n->count; i++) {
        struct value v = evaluate(r, n->args[i], f);
        if (v.kind == V_bool && v.truth == or)
            return v;
        if (v.kind != V_bool && error.kind == V_null)
            error = v.kind == V_error ? v : value_no_overload();
    }
    return error.kind == V_null ? value_bool(! or) : error;
}

static struct value equality(struct run *r, const struct node *n, struct frame *f)
{
    struct value args[2] = {evaluate(r, n->args[0], f), evaluate(r, n->args[1], f)}, equal;
    bool same = n->kind == N_equal;
    if (args[0].kind == V_error)
        equal = args[0];
    else if (args[1].kind == V_error)
        equal = args[1];
    else if (same)
        equal = value_equal(args[0], args[1]);
    else
        equal = value_bool(!value_is_true(value_equal(args[0], args[1])));
    charge(r, cost_of(same ? COST_equal : COST_least, args, 2, equal));
    return equal;
}

static struct value or_value(struct run *r, const struct node *n, struct frame *f)
{
    struct value v = evaluate(r, n->args[0], f);
    if (v.kind != V_optional)
        return r->release < 37 || v.kind == V_error ? v : value_no_overload();
    if (v.inside == NULL)
        return evaluate(r, n->args[1], f);
    return str_is(n->name, "or") ? v : *v.inside;
}

static struct value set_member(struct run *r, const struct node *n, struct frame *f)
{
    struct value v = evaluate(r, n->args[0], f);
    const struct list *list = n->value.list;
    if (v.kind == V_error)
        return v;
    if (v.kind == V_semver || v.kind == V_bytes) /* upstream looks it up in a table and panics */
        pool_stop(r->pool, v.kind == V_semver ? UNHASHABLE "cel.Semver" : UNHASHABLE "types.Bytes");
    for (uint32_t i = 0; i < list->count; i++)
        if (value_is_true(value_equal(v, list->items->at[i])))
            return value_bool(true);
    return value_bool(false);
}

/* ---- calls ---- */

static bool takes(const struct candidate *candidate, const struct value *args, uint32_t count)
{
    if (candidate->count != count)
        return false;
    for (uint32_t i = 0; overload_is_guarded(candidate->overload) && i < count; i++)
        if (!type_takes(candidate->args[i], args[i]))
            return false;
    return true;
}

/* It takes any list, and has words of its own for what is none. */
static struct value flatten(const struct call *c)
{
    if (c->args[0].kind == V_list && (c->count == 1 || c->args[1].kind == V_int))
        return fn_list_flatten(c);
    return (struct value){.kind = V_error,
                          .text = pool_print(c->pool, "no such overload: %s.flatten(%s)",
                                             value_type_name(c->args[0]),
                                             c->count > 1 ? value_type_name(c->args[1]) : "")};
}

static struct value dispatch(struct pool *p, const struct node *n, const struct value *args)
{
    struct call c = {p, n, args, n->count};
    for (uint32_t i = 0; i < n->candidate_count; i++) {
        const struct overload *o = n->candidates[i].overload;
        if (n->regex != NULL || (o->call != NULL && takes(&n->candidates[i], args, n->count)))
            return o->call(&c);
    }
    if (n->candidates[0].overload->call == fn_list_flatten)
        return flatten(&c);
    return function_no_overload(p, n->candidates[0].overload->function, args, n->count);
}

/* Upstream's counting of what sort() and distinct() cost panics on what is no list, which ends the
 * evaluation whatever stands around it. */
static void want_list(struct run *r, struct value v)
{
    bool adds = v.kind == V_int || v.kind == V_uint || v.kind == V_double || v.kind == V_string ||
                v.kind == V_bytes || v.kind == V_duration || v.kind == V_timestamp;
    if (v.kind == V_list)
        return;
    struct str why = pool_print(r->pool,
                                "internal error: interface conversion: %s is not traits.Lister: "
                                "missing method %s",
                                value_go_type(v), adds ? "Contains" : "Add");
    pool_stop(r->pool, why.at);
}

/* The same of flatten() and a depth that is no number. */
static void want_depth(struct run *r, struct value v)
{
    if (v.kind == V_int)
        return;
    struct str why =
        pool_print(r->pool, "internal error: interface conversion: ref.Val is %s, not types.Int",
                   value_go_type(v));
    pool_stop(r->pool, why.at);
}

static struct value call(struct run *r, const struct node *n, struct frame *f)
{
    const struct overload *o = n->candidates[0].overload;
    struct value few[4] = {{.kind = V_null}}, *args = few, error = {.kind = V_null};
    bool ends_early = n->count > 2 || n->regex != NULL || (!n->resolved && overload_is_guarded(o));
    bool lazy = o->call == fn_standard_not_strictly_false;
    if (n->count > sizeof(few) / sizeof(few[0]))
        args = pool_take_array(r->pool, n->count, sizeof(*args));
    for (uint32_t i = 0; i < n->count; i++) {
        args[i] = evaluate(r, n->args[i], f);
        if (args[i].kind != V_error || lazy)
            continue;
        if (error.kind == V_null)
            error = args[i];
        if (ends_early && i + 1 < n->count)
            return error;
    }
    struct value out = error.kind == V_error ? error : dispatch(r->pool, n, args);
    enum cost_kind cost = r->release < 37 ? o->cost : o->cost_37;
    bool counts = n->resolved || cost > COST_resolved_last;
    if (n->resolved && (cost == COST_compared || cost == COST_compared_keys))
        want_list(r, args[cost == COST_compared_keys]);
    if (n->resolved && n->count == 2 && (cost == COST_flatten || cost == COST_flatten_guarded))
        want_depth(r, args[1]);
    if (!n->resolved && (cost == COST_contains_ip || cost == COST_contains_cidr))
        cost = cost == COST_contains_ip ? COST_contains_ip_either : COST_contains_cidr_either;
    charge(r, counts ? cost_of(cost, args, n->count, out) : 1);
    return out;
}

/* ---- literals ---- */

static struct value no_optional(struct run *r, const char *what, struct value v)
{
    return (struct value){.kind = V_error,
                          .text = pool_print(r->pool, "cannot initialize optional %s %.*s", what,
                                             STR_ARG(value_text(r->pool, v)))};
}

static struct value make_list(struct run *r, const struct node *n, struct frame *f)
{
    struct value list = list_new(r->pool, n->count);
    for (uint32_t i = 0; i < n->count; i++) {
        struct value v = evaluate(r, n->args[i], f);
        if (v.kind == V_error)
            return v;
        if (n->optionals != NULL && n->optionals[i]) {
            if (v.kind != V_optional)
                return no_optional(r, "list element from non-optional value", v);
            if (v.inside == NULL)
                continue;
            v = *v.inside;
        }
        list = list_append(r->pool, list, v);
    }
    return list;
}

static struct value make_map(struct run *r, const struct node *n, struct frame *f)
{
    struct value map = cel_map_empty(r->pool, n->count / 2);
    for (uint32_t i = 0; i + 1 < n->count; i += 2) {
        struct value key = evaluate(r, n->args[i], f);
        struct value v = key.kind == V_error ? key : evaluate(r, n->args[i + 1], f);
        if (v.kind == V_error)
            return v;
        if (n->optionals != NULL && n->optionals[i]) {
            if (v.kind != V_optional)
                return no_optional(r, "entry from non-optional value", v);
            if (v.inside == NULL) {
                map = cel_map_without(r->pool, map, key);
                continue;
            }
            v = *v.inside;
        }
        map = cel_map_put(r->pool, map, key, v);
    }
    return map;
}

/* ---- folds ---- */

/* One step; false when the condition says that it is over. */
static bool fold_step(struct run *r, struct frame *inner)
{
    const struct node *n = inner->fold;
    struct value more = evaluate(r, n->args[FOLD_condition], inner);
    if (value_is_false(more))
        return false;
    struct value next = evaluate(r, n->args[FOLD_step], inner);
    inner->accumulator = next;
    inner->begun = true;
    return true;
}

static struct value fold(struct run *r, const struct node *n, struct frame *f)
{
    struct frame inner = {.outer = f, .fold = n};
    struct value range = evaluate(r, n->args[FOLD_range], f);
    bool two = n->second.at != NULL, map = range.kind == V_map;
    if (range.kind == V_error)
        return range;
    if (range.kind != V_list && !map)
        return (struct value){.kind = V_error,
                              .text = pool_print(r->pool,
                                                 two ? "unsupported comprehension range type: %s"
                                                     : "got '%s', expected iterable type",
                                                 value_go_type(range))};
    uint32_t count = map ? range.map->count : range.list->count;
    for (uint32_t i = 0; i < count; i++) {
        const struct entry *entry = map ? &range.map->entries->at[i] : NULL;
        struct value item = map ? entry->item : list_at(range, i);
        inner.first = map ? entry->key : two ? value_int(i) : item;
        inner.second = item;
        if (!fold_step(r, &inner))
            break;
    }
    return evaluate(r, n->args[FOLD_result], &inner);
}

static struct value evaluate(struct run *r, const struct node *n, struct frame *f)
{
    struct value out;
    switch (n->kind) {
    case N_literal: return n->value;
    case N_device:
    case N_variable:
    case N_select:
    case N_index:
        out = chain(r, n, f);
        charge(r, whole_cost(n));
        return out;
    case N_conditional: return choose(r, n, f);
    case N_and:
    case N_or: return logic(r, n, f);
    case N_equal:
    case N_not_equal: return equality(r, n, f);
    case N_or_value: return or_value(r, n, f);
    case N_set_member: return set_member(r, n, f);
    case N_list:
        out = make_list(r, n, f);
        charge(r, LIST_COST);
        return out;
    case N_map:
        out = make_map(r, n, f);
        charge(r, MAP_COST);
        return out;
    case N_fold: return fold(r, n, f);
    default: return call(r, n, f);
    }
}
/* NOLINTEND(misc-no-recursion) */

struct value cel_evaluate(struct run *r, const struct node *n)
{
    return evaluate(r, n, NULL);
}

struct value cel_evaluate_constant(struct pool *p, const struct node *n)
{
    struct run r = {.pool = p, .device = {.kind = V_null}, .cost_max = UINT64_MAX};
    return evaluate(&r, n, NULL);
}
