/* cost: upstream's CallCost (k8s.io/apiserver/pkg/cel/library/cost.go) and, for what it leaves out,
 * cel-go's costCall. What must stay true: sizes are characters and items, factors are multiplied as
 * doubles and rounded up, so that a limit is passed at the same step. */
#include "scheduler/cel/cost.h"

#include "scheduler/cel/formats.h"

#include <math.h>

#define PER_CHARACTER 0.1
#define PER_PATTERN   0.25

static uint64_t size_of(struct value v)
{
    int64_t size = 1;
    if (v.kind == V_optional && v.inside != NULL)
        v = *v.inside;
    return value_size(v, &size) ? (uint64_t)size : 1;
}

static uint64_t rounded_up(double cost)
{
    return (uint64_t)ceil(cost);
}

static uint64_t text_cost(struct value v, double factor)
{
    return rounded_up((double)size_of(v) * factor);
}

static uint64_t pattern_cost(uint64_t text, uint64_t pattern)
{
    return rounded_up((1.0 + (double)text) * PER_CHARACTER) *
           rounded_up((double)pattern * PER_PATTERN);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the value */
static uint64_t traversal(struct value v)
{
    uint64_t cost = 0;
    if (v.kind == V_string || v.kind == V_bytes)
        return (uint64_t)((double)v.text.len * PER_CHARACTER);
    if (v.kind == V_list) {
        for (uint32_t i = 0; i < v.list->count; i++)
            cost += traversal(list_at(v, i));
        return cost;
    }
    if (v.kind != V_map)
        return 1;
    for (uint32_t i = 0; i < v.map->count; i++)
        cost += traversal(v.map->entries->at[i].key) + traversal(v.map->entries->at[i].item);
    return cost;
}

static uint64_t least(struct value a, struct value b)
{
    uint64_t x = size_of(a), y = size_of(b);
    return rounded_up((double)(x < y ? x : y) * PER_CHARACTER);
}

static uint64_t contains_address(const struct value *args, bool network)
{
    uint64_t size = size_of(args[0]);
    uint64_t cost = rounded_up((double)(size + size) * PER_CHARACTER);
    if (network)
        cost += rounded_up((double)size * PER_CHARACTER) + 1;
    return cost;
}

/* What is below zero comes off what was counted before, as a sum of unsigned numbers in Go. */
static uint64_t of_list(double factor, uint64_t size)
{
    double cost = (double)size * factor;
    return (uint64_t)(cost < -0x1p62 ? INT64_MIN : (int64_t)cost) + 1 + 10;
}

/* Each element against each. */
static uint64_t compared(struct value list)
{
    uint64_t size = size_of(list);
    double factor = 2.0;
    if (list.kind == V_list && size > 0) {
        enum value_kind kind = list_at(list, 0).kind;
        factor += kind == V_string || kind == V_bytes ? PER_CHARACTER : 0;
    }
    return of_list(factor, size * size);
}

/* guarded: a depth below zero costs as one. */
static uint64_t flattened(const struct value *args, uint32_t count, bool guarded)
{
    double depth = count > 1 && args[1].kind == V_int ? (double)args[1].number : 1;
    return of_list(depth < 0 && guarded ? 1 : depth, size_of(args[0]));
}

static uint64_t of_sets(const struct value *args, double factor)
{
    return (uint64_t)((double)(size_of(args[0]) * size_of(args[1])) * factor) + 1;
}

uint64_t cost_of(enum cost_kind kind, const struct value *args, uint32_t count, struct value result)
{
    switch (kind) {
    case COST_made_list: return of_list(1, size_of(result));
    case COST_flatten: return flattened(args, count, false);
    case COST_flatten_guarded: return flattened(args, count, true);
    case COST_compared: return compared(args[0]);
    case COST_compared_keys: return compared(args[1]);
    case COST_sets: return of_sets(args, 1);
    case COST_sets_twice: return of_sets(args, 2);
    case COST_text: return text_cost(args[0], PER_CHARACTER);
    case COST_text_second: return text_cost(args[1], PER_CHARACTER);
    case COST_text_twice: return text_cost(args[0], 2 * PER_CHARACTER);
    case COST_traversal: return traversal(args[0]);
    case COST_joined: return text_cost(result, 2 * PER_CHARACTER);
    case COST_find:
    case COST_matches: return pattern_cost(size_of(args[0]), size_of(args[1]));
    case COST_contains:
        return text_cost(args[0], PER_CHARACTER) * text_cost(args[1], PER_CHARACTER);
    case COST_in: return size_of(args[1]);
    case COST_equal: return args[0].kind >= V_quantity ? 1 : least(args[0], args[1]);
    case COST_least: return least(args[0], args[1]);
    case COST_concat:
        return rounded_up((double)(size_of(args[0]) + size_of(args[1])) * PER_CHARACTER);
    case COST_validate:
        return args[0].kind == V_format ? pattern_cost(size_of(args[1]), args[0].format->size) : 1;
    case COST_contains_ip_either: return contains_address(args, false);
    case COST_contains_cidr_either: return contains_address(args, true);
    case COST_contains_ip:
    case COST_contains_cidr:
        return contains_address(args, kind == COST_contains_cidr) +
               (args[1].kind == V_string ? text_cost(args[1], PER_CHARACTER) : 0);
    default: return 1;
    }
}
