/* types: made, compared, printed and read from the letters of functions.def. What must stay true: a
 * type is never changed once made, so that parts of types may be shared. Types nest as deep as an
 * expression does; printing stops early for those that were folded into themselves. */
#include "scheduler/cel/types.h"

#include <string.h>

#define PLAIN(kind_, name_)                                                                        \
    {                                                                                              \
        .kind = (kind_), .name = (name_)                                                           \
    }
const struct type
    type_dyn = PLAIN(T_dyn, "dyn"),
    type_any = PLAIN(T_any, "any"), type_error = PLAIN(T_error, "!error!"),
    type_null = PLAIN(T_null, "null"), type_bool = PLAIN(T_bool, "bool"),
    type_int = PLAIN(T_int, "int"), type_uint = PLAIN(T_uint, "uint"),
    type_double = PLAIN(T_double, "double"), type_string = PLAIN(T_string, "string"),
    type_bytes = PLAIN(T_bytes, "bytes"), type_duration = PLAIN(T_duration, "duration"),
    type_timestamp = PLAIN(T_timestamp, "timestamp"), type_type = PLAIN(T_type, "type"),
    type_quantity = PLAIN(T_struct, "kubernetes.Quantity"),
    type_semver = PLAIN(T_struct, "kubernetes.Semver"),
    type_url = PLAIN(T_struct, "kubernetes.URL"),
    type_format = PLAIN(T_struct, "kubernetes.NamedFormat"), type_ip = PLAIN(T_opaque, "net.IP"),
    type_cidr = PLAIN(T_opaque, "net.CIDR"), type_device = PLAIN(T_struct, "kubernetes.DRADevice"),
    type_list_dyn = {.kind = T_list, .name = "list", .params = {&type_dyn}, .count = 1},
    type_map_dyn = {.kind = T_map, .name = "map", .params = {&type_dyn, &type_dyn}, .count = 2},
    type_optional_dyn = {
        .kind = T_opaque, .name = "optional_type", .params = {&type_dyn}, .count = 1};

static const struct type *make(struct pool *p, struct type t)
{
    struct type *at = pool_take(p, sizeof(*at));
    for (uint32_t i = 0; i < t.count; i++)
        t.open = t.open || t.params[i]->open;
    *at = t;
    return at;
}

const struct type *type_list(struct pool *p, const struct type *item)
{
    return make(p, (struct type){.kind = T_list, .name = "list", .params = {item}, .count = 1});
}

const struct type *type_map(struct pool *p, const struct type *key, const struct type *item)
{
    return make(p, (struct type){.kind = T_map, .name = "map", .params = {key, item}, .count = 2});
}

const struct type *type_optional(struct pool *p, const struct type *inside)
{
    return make(p, (struct type){
                       .kind = T_opaque, .name = "optional_type", .params = {inside}, .count = 1});
}

const struct type *type_of_type(struct pool *p, const struct type *inside)
{
    return make(p, (struct type){.kind = T_type, .name = "type", .params = {inside}, .count = 1});
}

const struct type *type_variable(struct pool *p, uint32_t number)
{
    return make(p, (struct type){.kind = T_param, .name = "_var", .number = number, .open = true});
}

bool type_is_optional(const struct type *t)
{
    return t->kind == T_opaque && strcmp(t->name, "optional_type") == 0;
}

bool type_is_dyn(const struct type *t)
{
    return t->kind == T_dyn || t->kind == T_any;
}

static const struct type type_authorizer = PLAIN(T_struct, "kubernetes.authorization");

/* NOLINTBEGIN(misc-no-recursion): as deep as the type, which the expression's depth bounds */
bool type_same(const struct type *a, const struct type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->count != b->count || a->number != b->number ||
        strcmp(a->name, b->name) != 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!type_same(a->params[i], b->params[i]))
            return false;
    return true;
}

#define PRINT_MAX 4096 /* bytes; a type that is a tree of shared parts may be huge in words */

void type_print(struct buffer *b, const struct type *t)
{
    if (b->len > PRINT_MAX) {
        buffer_add_text(b, "...");
        return;
    }
    buffer_add_text(b, t->name);
    if (t->kind == T_param)
        buffer_print(b, "%u", t->number);
    for (uint32_t i = 0; i < t->count; i++) {
        buffer_add_text(b, i == 0 ? "(" : ", ");
        type_print(b, t->params[i]);
    }
    if (t->count > 0)
        buffer_add_text(b, ")");
}

bool type_takes(const struct type *t, struct value v)
{
    if (t->kind == T_param || type_is_dyn(t))
        return true;
    if (!str_is(type_runtime_name(t), value_type_name(v)))
        return false;
    if (t->kind == T_list && v.list->count > 0)
        return type_takes(t->params[0], list_at(v, 0));
    if (t->kind == T_map && v.map->count > 0) {
        const struct entry *first = &v.map->entries->at[0];
        return type_takes(t->params[0], first->key) && type_takes(t->params[1], first->item);
    }
    return true;
}

static const struct {
    char letter;
    const struct type *type;
} letters_of[] = {
    {'*', &type_dyn},       {'b', &type_bool},     {'i', &type_int},    {'u', &type_uint},
    {'d', &type_double},    {'s', &type_string},   {'y', &type_bytes},  {'D', &type_duration},
    {'T', &type_timestamp}, {'Q', &type_quantity}, {'V', &type_semver}, {'U', &type_url},
    {'F', &type_format},    {'I', &type_ip},       {'C', &type_cidr},
};

const struct type *type_read(struct pool *p, const char **letters, uint32_t first_variable)
{
    char c = *(*letters)++;
    for (size_t i = 0; i < sizeof(letters_of) / sizeof(letters_of[0]); i++)
        if (letters_of[i].letter == c)
            return letters_of[i].type;
    if (c == 'A')
        return &type_authorizer;
    if (c == '1' || c == '2')
        return type_variable(p, first_variable + (uint32_t)(c - '1'));
    const struct type *one = type_read(p, letters, first_variable);
    switch (c) {
    case 'L': return type_list(p, one);
    case 'O': return type_optional(p, one);
    case 't': return type_of_type(p, one);
    default: /* 'M' */ return type_map(p, one, type_read(p, letters, first_variable));
    }
}
/* NOLINTEND(misc-no-recursion) */

struct str type_runtime_name(const struct type *t)
{
    switch (t->kind) {
    case T_duration: return STR_LITERAL("google.protobuf.Duration");
    case T_timestamp: return STR_LITERAL("google.protobuf.Timestamp");
    case T_null: return STR_LITERAL("null_type");
    case T_any: return STR_LITERAL("google.protobuf.Any");
    default: return str_of(t->name);
    }
}

const struct type *type_of_value(struct value v)
{
    static const struct type *const of[] = {
        [V_error] = &type_error,       [V_null] = &type_null,
        [V_bool] = &type_bool,         [V_int] = &type_int,
        [V_uint] = &type_uint,         [V_double] = &type_double,
        [V_string] = &type_string,     [V_bytes] = &type_bytes,
        [V_list] = &type_list_dyn,     [V_map] = &type_map_dyn,
        [V_type] = &type_type,         [V_optional] = &type_optional_dyn,
        [V_duration] = &type_duration, [V_timestamp] = &type_timestamp,
        [V_quantity] = &type_quantity, [V_semver] = &type_semver,
        [V_url] = &type_url,           [V_ip] = &type_ip,
        [V_cidr] = &type_cidr,         [V_format] = &type_format,
    };
    return of[v.kind];
}

const struct type *type_named(struct str name)
{
    static const struct {
        const char *name;
        const struct type *type;
    } names[] = {
        {"bool", &type_bool},
        {"bytes", &type_bytes},
        {"double", &type_double},
        {"google.protobuf.Duration", &type_duration},
        {"google.protobuf.Timestamp", &type_timestamp},
        {"int", &type_int},
        {"list", &type_list_dyn},
        {"map", &type_map_dyn},
        {"null_type", &type_null},
        {"optional_type", &type_optional_dyn},
        {"string", &type_string},
        {"type", &type_type},
        {"uint", &type_uint},
        {"net.IP", &type_ip},
        {"net.CIDR", &type_cidr},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_is(name, names[i].name))
            return names[i].type;
    return NULL;
}
