/* lists: what expressions call of lists, sets, maps that are built and optionals. What must stay
 * true: elements are compared as == compares them, and an error of a comparison is never taken for
 * "equal". */
#include "scheduler/cel/functions.h"

#include <inttypes.h>
#include <string.h>

static struct value failed(const struct call *c, const char *what, int64_t a, int64_t b)
{
    return (struct value){
        .kind = V_error,
        .text = pool_print(c->pool, "cannot slice(%" PRId64 ", %" PRId64 "), %s", a, b, what)};
}

static uint32_t length(struct value list)
{
    return list.list->count;
}

/* ---- kubernetes' lists ---- */

struct value fn_list_is_sorted(const struct call *c)
{
    struct value list = c->args[0];
    for (uint32_t i = 1; i < length(list); i++) {
        struct value order = value_compare(list_at(list, i - 1), list_at(list, i));
        if (order.kind == V_int && order.number > 0)
            return value_bool(false);
    }
    return value_bool(true);
}

struct value fn_list_sum(const struct call *c)
{
    struct value list = c->args[0], zero = {.kind = V_int}, args[2];
    if (length(list) > 0)
        zero.kind = list_at(list, 0).kind;
    else if (c->node->type->kind == T_uint)
        zero.kind = V_uint;
    else if (c->node->type->kind == T_double)
        zero.kind = V_double;
    else if (c->node->type->kind == T_duration)
        zero.kind = V_duration;
    args[0] = zero;
    for (uint32_t i = 0; i < length(list); i++) {
        args[1] = list_at(list, i);
        struct call sum = {c->pool, c->node, args, 2};
        args[0] = fn_standard_add(&sum);
        if (args[0].kind == V_error)
            return args[0];
    }
    return args[0];
}

/* The element before (sign -1) or behind (1) all others. */
static struct value extreme(const struct call *c, const char *name, int sign)
{
    struct value list = c->args[0];
    if (length(list) == 0)
        return (struct value){.kind = V_error,
                              .text = pool_print(c->pool, "%s called on empty list", name)};
    struct value best = list_at(list, 0);
    for (uint32_t i = 1; i < length(list); i++) {
        struct value order = value_compare(list_at(list, i), best);
        if (order.kind == V_int && order.number == sign)
            best = list_at(list, i);
    }
    return best;
}

struct value fn_list_min(const struct call *c)
{
    return extreme(c, "min", -1);
}

struct value fn_list_max(const struct call *c)
{
    return extreme(c, "max", 1);
}

struct value fn_list_index_of(const struct call *c)
{
    for (uint32_t i = 0; i < length(c->args[0]); i++)
        if (value_is_true(value_equal(list_at(c->args[0], i), c->args[1])))
            return value_int(i);
    return value_int(-1);
}

struct value fn_list_last_index_of(const struct call *c)
{
    for (uint32_t i = length(c->args[0]); i > 0; i--)
        if (value_is_true(value_equal(list_at(c->args[0], i - 1), c->args[1])))
            return value_int(i - 1);
    return value_int(-1);
}

/* ---- cel-go's extended lists ---- */

struct value fn_lists_range(const struct call *c)
{
    int64_t count = c->args[0].number;
    if (count > UINT32_MAX)
        pool_stop(c->pool, "a list is too long");
    struct value list = list_new(c->pool, count > 0 ? (uint32_t)count : 0);
    for (int64_t i = 0; i < count; i++)
        list.list->items->at[list.list->items->used++] = value_int(i);
    struct list *all = pool_take(c->pool, sizeof(*all));
    *all = (struct list){list.list->items, list.list->items->used};
    return (struct value){.kind = V_list, .list = all};
}

static struct value piece(struct pool *p, struct value of, uint32_t from, uint32_t to)
{
    struct value list = list_new(p, to - from);
    for (uint32_t i = from; i < to; i++)
        list = list_append(p, list, list_at(of, i));
    return list;
}

struct value fn_list_slice(const struct call *c)
{
    int64_t from = c->args[1].number, to = c->args[2].number, count = length(c->args[0]);
    if (from < 0 || to < 0)
        return failed(c, "negative indexes not supported", from, to);
    if (from > to)
        return failed(c, "start index must be less than or equal to end index", from, to);
    if (count < to)
        return failed(c, pool_print(c->pool, "list is length %" PRId64, count).at, from, to);
    return piece(c->pool, c->args[0], (uint32_t)from, (uint32_t)to);
}

struct value fn_list_reverse(const struct call *c)
{
    struct value list = list_new(c->pool, length(c->args[0]));
    for (uint32_t i = length(c->args[0]); i > 0; i--)
        list = list_append(c->pool, list, list_at(c->args[0], i - 1));
    return list;
}

static bool contains(struct value list, struct value v)
{
    for (uint32_t i = 0; i < length(list); i++)
        if (value_is_true(value_equal(v, list_at(list, i))))
            return true;
    return false;
}

struct value fn_list_distinct(const struct call *c)
{
    struct value list = list_new(c->pool, length(c->args[0]));
    for (uint32_t i = 0; i < length(c->args[0]); i++)
        if (!contains(list, list_at(c->args[0], i)))
            list = list_append(c->pool, list, list_at(c->args[0], i));
    return list;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the list */
static struct value flattened(struct pool *p, struct value into, struct value list, int64_t depth)
{
    for (uint32_t i = 0; i < length(list); i++) {
        struct value v = list_at(list, i);
        into = v.kind == V_list && depth > 0 ? flattened(p, into, v, depth - 1)
                                             : list_append(p, into, v);
    }
    return into;
}

struct value fn_list_flatten(const struct call *c)
{
    int64_t depth = c->count > 1 ? c->args[1].number : 1;
    if (depth < 0)
        return value_error("level must be non-negative");
    return flattened(c->pool, list_new(c->pool, 4), c->args[0], depth);
}

/* Merges the halves of order[from..to) by their keys; what is equal keeps its order. */
static void merge(uint32_t *order, uint32_t *spare, const uint32_t span[3], struct value keys)
{
    uint32_t a = span[0], b = span[1], to = span[0];
    while (a < span[1] || b < span[2]) {
        bool second = a == span[1];
        if (!second && b < span[2]) {
            struct value v = value_compare(list_at(keys, order[b]), list_at(keys, order[a]));
            second = v.kind == V_int && v.number < 0;
        }
        spare[to++] = second ? order[b++] : order[a++];
    }
    memcpy(order + span[0], spare + span[0], (span[2] - span[0]) * sizeof(*order));
}

/* Whether upstream's type has an order at all. */
static bool has_order(struct value v)
{
    return (v.kind >= V_bool && v.kind <= V_bytes) || v.kind == V_duration || v.kind == V_timestamp;
}

static struct value sorted_by(const struct call *c, struct value list, struct value keys)
{
    uint32_t count = length(list);
    if (count != length(keys))
        return (struct value){
            .kind = V_error,
            .text = pool_print(c->pool,
                               "@sortByAssociatedKeys() expected a list of the same size as the "
                               "associated keys list, but got %u and %u elements respectively",
                               count, length(keys))};
    if (count == 0)
        return list;
    if (!has_order(list_at(keys, 0)))
        return value_error("list elements must be comparable");
    for (uint32_t i = 1; i < count; i++)
        if (list_at(keys, i).kind != list_at(keys, 0).kind)
            return value_error("list elements must have the same type");
    uint32_t *order = pool_take_array(c->pool, count, 2 * sizeof(*order));
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint64_t width = 1; width < count; width *= 2)
        for (uint64_t from = 0; from + width < count; from += 2 * width) {
            uint64_t end = from + 2 * width;
            const uint32_t span[3] = {(uint32_t)from, (uint32_t)(from + width),
                                      (uint32_t)(end < count ? end : count)};
            merge(order, order + count, span, keys);
        }
    struct value sorted = list_new(c->pool, count);
    for (uint32_t i = 0; i < count; i++)
        sorted = list_append(c->pool, sorted, list_at(list, order[i]));
    return sorted;
}

struct value fn_list_sort(const struct call *c)
{
    if (c->args[0].kind != V_list)
        return function_no_trait(c);
    return sorted_by(c, c->args[0], c->args[0]);
}

struct value fn_list_sort_by(const struct call *c)
{
    if (c->args[0].kind != V_list || c->args[1].kind != V_list)
        return function_no_trait(c);
    return sorted_by(c, c->args[0], c->args[1]);
}

struct value fn_list_first(const struct call *c)
{
    struct value list = c->args[0];
    return length(list) == 0 ? value_none() : value_some(c->pool, list_at(list, 0));
}

struct value fn_list_last(const struct call *c)
{
    struct value list = c->args[0];
    return length(list) == 0 ? value_none() : value_some(c->pool, list_at(list, length(list) - 1));
}

/* ---- sets ---- */

static bool contains_all(struct value list, struct value of)
{
    for (uint32_t i = 0; i < length(of); i++)
        if (!contains(list, list_at(of, i)))
            return false;
    return true;
}

struct value fn_sets_contains(const struct call *c)
{
    return value_bool(contains_all(c->args[0], c->args[1]));
}

struct value fn_sets_equivalent(const struct call *c)
{
    return value_bool(contains_all(c->args[0], c->args[1]) && contains_all(c->args[1], c->args[0]));
}

struct value fn_sets_intersects(const struct call *c)
{
    for (uint32_t i = 0; i < length(c->args[0]); i++)
        if (contains(c->args[1], list_at(c->args[0], i)))
            return value_bool(true);
    return value_bool(false);
}

/* ---- maps that are built ---- */

static struct value insert(struct pool *p, struct value map, struct value key, struct value item)
{
    if (!cel_map_has(map, key))
        return cel_map_put(p, map, key, item);
    return (struct value){.kind = V_error,
                          .text = pool_print(p, "insert failed: key %.*s already exists",
                                             STR_ARG(value_text(p, key)))};
}

struct value fn_map_insert(const struct call *c)
{
    return insert(c->pool, c->args[0], c->args[1], c->args[2]);
}

struct value fn_map_insert_all(const struct call *c)
{
    struct value map = c->args[0];
    const struct map *more = c->args[1].map;
    for (uint32_t i = 0; i < more->count && map.kind == V_map; i++)
        map = insert(c->pool, map, more->entries->at[i].key, more->entries->at[i].item);
    return map;
}

/* ---- optionals ---- */

struct value fn_optional_of(const struct call *c)
{
    return value_some(c->pool, c->args[0]);
}

struct value fn_optional_of_non_zero_value(const struct call *c)
{
    return value_is_zero(c->args[0]) ? value_none() : value_some(c->pool, c->args[0]);
}

struct value fn_optional_none(const struct call *c)
{
    (void)c;
    return value_none();
}

struct value fn_optional_value(const struct call *c)
{
    const struct value *inside = c->args[0].inside;
    return inside == NULL ? value_error("optional.none() dereference") : *inside;
}

struct value fn_optional_has_value(const struct call *c)
{
    return value_bool(c->args[0].inside != NULL);
}

struct value fn_optional_unwrap(const struct call *c)
{
    struct value list = list_new(c->pool, 4);
    for (uint32_t i = 0; i < length(c->args[0]); i++) {
        struct value v = list_at(c->args[0], i);
        if (v.kind != V_optional)
            return (struct value){.kind = V_error,
                                  .text = pool_print(c->pool, "value %.*s is not optional",
                                                     STR_ARG(value_text(c->pool, v)))};
        if (v.inside != NULL)
            list = list_append(c->pool, list, *v.inside);
    }
    return list;
}
