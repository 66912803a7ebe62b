/* types: what the checker reasons with, and the values that type() and names such as int give. */
#ifndef CEL_TYPES_H
#define CEL_TYPES_H

#include "scheduler/cel/value.h"

enum type_kind {
    T_dyn,
    T_any, /* an attribute: any kind of value, as dyn, but with another name */
    T_error,
    T_null,
    T_bool,
    T_int,
    T_uint,
    T_double,
    T_string,
    T_bytes,
    T_duration,
    T_timestamp,
    T_list,   /* of params[0] */
    T_map,    /* from params[0] to params[1] */
    T_type,   /* the type of a type; params[0] when it is known */
    T_opaque, /* name, such as optional_type(params[0]) or net.IP */
    T_struct, /* name, such as kubernetes.Quantity */
    T_param,  /* a variable, number */
};

struct type {
    enum type_kind kind;
    uint32_t number; /* T_param */
    const char *name;
    const struct type *params[2];
    uint32_t count; /* of params */
    bool open;      /* there is a variable in it */
};

extern const struct type type_dyn, type_any, type_error, type_null, type_bool, type_int, type_uint,
    type_double, type_string, type_bytes, type_duration, type_timestamp, type_type, type_quantity,
    type_semver, type_url, type_format, type_ip, type_cidr, type_device, type_list_dyn,
    type_map_dyn, type_optional_dyn;

const struct type *type_list(struct pool *p, const struct type *item);
const struct type *type_map(struct pool *p, const struct type *key, const struct type *item);
const struct type *type_optional(struct pool *p, const struct type *inside);
const struct type *type_of_type(struct pool *p, const struct type *inside);
const struct type *type_variable(struct pool *p, uint32_t number);
bool type_is_optional(const struct type *t);
bool type_is_dyn(const struct type *t); /* dyn or any */
/* The same in every part; variables by number. */
bool type_same(const struct type *a, const struct type *b);
/* As upstream writes it in errors: "map(string, any)". */
void type_print(struct buffer *b, const struct type *t);
/* The name of the values' type: "list", "kubernetes.Quantity". */
struct str type_runtime_name(const struct type *t);
/* The type of a value, as type() gives it. */
const struct type *type_of_value(struct value v);
/* The type that a name stands for, or NULL. */
const struct type *type_named(struct str name);
/* Reads a signature's letters; see functions.def. variables are the numbers of a, b. */
const struct type *type_read(struct pool *p, const char **letters, uint32_t first_variable);
/* Whether a function that wants this type takes the value; of lists and maps the first item is
 * looked at, as upstream. */
bool type_takes(const struct type *t, struct value v);

#endif
