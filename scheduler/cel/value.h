/* value: what an expression computes with. Values are small and copied; what they point to lives in
 * a pool and never changes once it is seen. Equality, ordering and look-ups are cel-go's, including
 * the mixing of int, uint and double. */
#ifndef CEL_VALUE_H
#define CEL_VALUE_H

#include "proto/base/buffer.h"
#include "scheduler/cel/pool.h"

#include <stdbool.h>
#include <stdint.h>

enum value_kind {
    V_error, /* text: why; travels up through everything but && || and ?: */
    V_null,
    V_bool,
    V_int,
    V_uint,
    V_double,
    V_string, /* text, UTF-8 */
    V_bytes,
    V_list,
    V_map,
    V_type,
    V_optional,
    V_duration,  /* number, nanoseconds */
    V_timestamp, /* stamp */
    V_quantity,
    V_semver,
    V_url,
    V_ip,
    V_cidr,
    V_format,
};

struct value {
    enum value_kind kind;
    union {
        bool truth;
        int64_t number;
        uint64_t natural;
        double real;
        struct str text;
        const struct list *list;
        const struct map *map;
        const struct type *type;
        const struct value *inside; /* V_optional; NULL: none */
        const struct stamp *stamp;
        const struct quantity *quantity;
        const struct semver *semver;
        const struct url *url;
        const struct address *address; /* V_ip and V_cidr */
        const struct format *format;
    };
};

/* A point in time, and the zone it was written in. */
struct stamp {
    int64_t seconds; /* since 1970 in UTC */
    int32_t nanos;   /* 0 to 999999999 */
    int32_t offset;  /* seconds east of UTC, for printing and fields */
};

/* A list sees the first count of its items. Several lists may share the items: the one that sees
 * all that are used may be appended to without a copy. */
struct items {
    struct value *at;
    uint32_t used, room;
};
struct list {
    struct items *items;
    uint32_t count;
};

struct entry {
    struct value key, item;
};
/* The same for maps; an index of more than a few entries is kept. */
struct entries {
    struct entry *at;
    uint32_t used, room;
    uint32_t *index; /* place + 1 of an entry, 0 free; NULL for few entries */
    uint32_t slots;  /* of the index, a power of two */
};
struct map {
    struct entries *entries;
    uint32_t count;
    bool defaults; /* a key that is not there finds an empty map: device.attributes, .capacity */
};

static inline struct value value_bool(bool truth)
{
    return (struct value){.kind = V_bool, .truth = truth};
}
static inline struct value value_int(int64_t number)
{
    return (struct value){.kind = V_int, .number = number};
}
static inline struct value value_string(struct str text)
{
    return (struct value){.kind = V_string, .text = text};
}
/* An error with a static text. */
static inline struct value value_error(const char *text)
{
    return (struct value){.kind = V_error, .text = str_of(text)};
}
static inline bool value_is_true(struct value v)
{
    return v.kind == V_bool && v.truth;
}
static inline bool value_is_false(struct value v)
{
    return v.kind == V_bool && !v.truth;
}

struct value value_no_overload(void); /* "no such overload" */
struct value value_some(struct pool *p, struct value inside);
struct value value_none(void);

/* bool, or an error where upstream has one (a quantity against something else). */
struct value value_equal(struct value a, struct value b);
/* -1, 0, 1 as an int; an error for kinds that have no order between them. */
struct value value_compare(struct value a, struct value b);
/* CEL's size of strings (characters), bytes, lists and maps; false for other kinds. */
bool value_size(struct value v, int64_t *size);
/* Whether it is its kind's zero; kinds that have none are not. */
bool value_is_zero(struct value v);
/* Whether something may be looked up by it. */
bool value_is_key(struct value v);
/* The name of its type: "int", "kubernetes.Quantity". */
const char *value_type_name(struct value v);
/* The name of its type in upstream's program, which some of its errors tell. */
const char *value_go_type(struct value v);
/* As Go's %v prints it in upstream's messages. */
void value_print(struct buffer *b, struct value v);
struct str value_text(struct pool *p, struct value v);

struct value list_new(struct pool *p, uint32_t room);
/* A list with the item behind; the old list is still what it was. */
struct value list_append(struct pool *p, struct value list, struct value item);
struct value list_concat(struct pool *p, struct value a, struct value b);
static inline struct value list_at(struct value list, uint32_t i)
{
    return list.list->items->at[i];
}

struct value cel_map_empty(struct pool *p, uint32_t room);
/* A map with the entry; one of the same key is replaced. The old map is still what it was. */
struct value cel_map_put(struct pool *p, struct value map, struct value key, struct value item);
struct value cel_map_without(struct pool *p, struct value map, struct value key);
/* False when there is no such key; a number finds the key of another numeric kind. */
bool cel_map_find(struct value map, struct value key, struct value *item);
/* The same without the empty map of unknown domains: what 'in' asks. */
bool cel_map_has(struct value map, struct value key);

#endif
