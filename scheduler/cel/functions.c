/* functions: the table of functions.def, sorted by name, and what is said when nothing in it takes
 * the values of a call. What must stay true: overloads of one name stand next to each other. */
#include "scheduler/cel/functions.h"

#include <string.h>

#define fn_nothing NULL
static const struct overload overloads[] = {
#define SINCE_37(function, id, how, arguments, result, cost, cost_37, call)                        \
    {function, id, how, arguments, result, COST_##cost, COST_##cost_37, false, fn_##call},
#define UNTIL_36(function, id, how, arguments, result, cost, call)                                 \
    {function, id, how, arguments, result, COST_##cost, COST_##cost, true, fn_##call},
#define OVERLOAD(function, id, how, arguments, result, cost, call)                                 \
    SINCE_37(function, id, how, arguments, result, cost, cost, call)
#include "scheduler/cel/functions.def"
#undef OVERLOAD
#undef UNTIL_36
#undef SINCE_37
};
#define OVERLOADS (sizeof(overloads) / sizeof(overloads[0]))

bool function_find(struct str name, struct function *f)
{
    size_t first = 0, end = 0;
    if (name.len > 0 && name.at[0] == '.') /* the name from the root on */
        name = (struct str){name.at + 1, name.len - 1};
    while (first < OVERLOADS && !str_is(name, overloads[first].function))
        first++;
    for (end = first; end < OVERLOADS && str_is(name, overloads[end].function);)
        end++;
    *f = (struct function){overloads + first, (uint32_t)(end - first)};
    return end > first;
}

struct value function_no_overload(struct pool *p, const char *name, const struct value *args,
                                  uint32_t count)
{
    struct str kinds = STR_LITERAL("");
    for (uint32_t i = 0; i < count; i++)
        kinds =
            pool_print(p, "%.*s%s%s", STR_ARG(kinds), i > 0 ? ", " : "", value_type_name(args[i]));
    return (struct value){
        .kind = V_error, .text = pool_print(p, "no such overload: %s(%.*s)", name, STR_ARG(kinds))};
}

struct value function_no_trait(const struct call *c)
{
    enum value_kind kind = c->args[0].kind;
    if (kind == V_string || kind == V_duration || kind == V_timestamp)
        return value_no_overload();
    return (struct value){
        .kind = V_error,
        .text = pool_print(c->pool, "no such overload: %.*s", STR_ARG(c->node->name))};
}
