/* value: equality, order, lists and maps as cel-go has them. What must stay true: a list or map
 * that somebody holds never changes, although appending to the newest one writes behind it; and
 * int, uint and double are compared by value, never by conversion that loses. */
#include "scheduler/cel/value.h"

#include "scheduler/cel/address.h"
#include "scheduler/cel/number.h"
#include "scheduler/cel/quantity.h"
#include "scheduler/cel/semver.h"
#include "scheduler/cel/text.h"
#include "scheduler/cel/types.h"
#include "scheduler/cel/url.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FEW 8u /* entries that are found without an index */

static const char *const type_names[] = {
    [V_error] = "error",
    [V_null] = "null_type",
    [V_bool] = "bool",
    [V_int] = "int",
    [V_uint] = "uint",
    [V_double] = "double",
    [V_string] = "string",
    [V_bytes] = "bytes",
    [V_list] = "list",
    [V_map] = "map",
    [V_type] = "type",
    [V_optional] = "optional_type",
    [V_duration] = "google.protobuf.Duration",
    [V_timestamp] = "google.protobuf.Timestamp",
    [V_quantity] = "kubernetes.Quantity",
    [V_semver] = "kubernetes.Semver",
    [V_url] = "kubernetes.URL",
    [V_ip] = "net.IP",
    [V_cidr] = "net.CIDR",
    [V_format] = "kubernetes.NamedFormat",
};

struct value value_no_overload(void)
{
    return value_error("no such overload");
}

struct value value_some(struct pool *p, struct value inside)
{
    struct value *at = pool_take(p, sizeof(*at));
    *at = inside;
    return (struct value){.kind = V_optional, .inside = at};
}

struct value value_none(void)
{
    return (struct value){.kind = V_optional, .inside = NULL};
}

const char *value_type_name(struct value v)
{
    return type_names[v.kind];
}

const char *value_go_type(struct value v)
{
    static const char *const names[] = {
        [V_error] = "*types.Err",
        [V_null] = "types.Null",
        [V_bool] = "types.Bool",
        [V_int] = "types.Int",
        [V_uint] = "types.Uint",
        [V_double] = "types.Double",
        [V_string] = "types.String",
        [V_bytes] = "types.Bytes",
        [V_list] = "*types.baseList",
        [V_map] = "*types.baseMap",
        [V_type] = "*types.Type",
        [V_optional] = "*types.Optional",
        [V_duration] = "types.Duration",
        [V_timestamp] = "types.Timestamp",
        [V_quantity] = "cel.Quantity",
        [V_semver] = "cel.Semver",
        [V_url] = "cel.URL",
        [V_ip] = "cel.IP",
        [V_cidr] = "cel.CIDR",
        [V_format] = "cel.Format",
    };
    return names[v.kind];
}

/* ---- equality and order ---- */

static bool is_number(struct value v)
{
    return v.kind == V_int || v.kind == V_uint || v.kind == V_double;
}

static int sign_of(bool less, bool more)
{
    return less ? -1 : more ? 1 : 0;
}

/* The conversions that round are upstream's: a double against an int is compared as two doubles. */
static int compare_double(double d, struct value v)
{
    if (v.kind == V_double)
        return sign_of(d<v.real, d> v.real);
    if (v.kind == V_int) {
        if (d < -0x1p63)
            return -1;
        if (d > 0x1p63)
            return 1;
        return sign_of(d<(double)v.number, d>(double) v.number);
    }
    if (d < 0)
        return -1;
    if (d > 0x1p64)
        return 1;
    return sign_of(d<(double)v.natural, d>(double) v.natural);
}

static int compare_int_uint(int64_t i, uint64_t u)
{
    if (i < 0 || u > INT64_MAX)
        return -1;
    return sign_of((uint64_t)i<u, (uint64_t)i> u);
}

static int compare_numbers(struct value a, struct value b)
{
    if (a.kind == V_double)
        return compare_double(a.real, b);
    if (b.kind == V_double)
        return -compare_double(b.real, a);
    if (a.kind == V_int)
        return b.kind == V_int ? sign_of(a.number<b.number, a.number> b.number)
                               : compare_int_uint(a.number, b.natural);
    return b.kind == V_uint ? sign_of(a.natural<b.natural, a.natural> b.natural)
                            : -compare_int_uint(b.number, a.natural);
}

static bool is_nan(struct value v)
{
    return v.kind == V_double && isnan(v.real);
}

static int stamp_compare(const struct stamp *a, const struct stamp *b)
{
    if (a->seconds != b->seconds)
        return sign_of(a->seconds<b->seconds, a->seconds> b->seconds);
    return sign_of(a->nanos<b->nanos, a->nanos> b->nanos);
}

struct value value_compare(struct value a, struct value b)
{
    if (is_number(a) && is_number(b)) {
        if (is_nan(a) || is_nan(b))
            return value_error("NaN values cannot be ordered");
        return value_int(compare_numbers(a, b));
    }
    if (is_nan(a))
        return value_error("NaN values cannot be ordered");
    if (a.kind != b.kind)
        return value_no_overload();
    switch (a.kind) {
    case V_bool: return value_int((int)a.truth - (int)b.truth);
    case V_string:
    case V_bytes: {
        int order = str_compare(a.text, b.text);
        return value_int(sign_of(order<0, order> 0));
    }
    case V_duration: return value_int(sign_of(a.number<b.number, a.number> b.number));
    case V_timestamp: return value_int(stamp_compare(a.stamp, b.stamp));
    default: return value_no_overload();
    }
}

/* As deep as values are nested, which the depth of the expression bounds: a step of a fold cannot
 * see its own result wrapped more often than it has steps, and each costs.
 * NOLINTBEGIN(misc-no-recursion) */
static bool lists_equal(const struct list *a, const struct list *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (value_is_false(value_equal(a->items->at[i], b->items->at[i])))
            return false;
    return true;
}

static bool maps_equal(const struct map *a, struct value b)
{
    if (a->count != b.map->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        struct value other;
        if (!cel_map_find(b, a->entries->at[i].key, &other) ||
            value_is_false(value_equal(a->entries->at[i].item, other)))
            return false;
    }
    return true;
}

static struct value optionals_equal(struct value a, struct value b)
{
    if (a.inside == NULL || b.inside == NULL)
        return value_bool(a.inside == b.inside);
    return value_equal(*a.inside, *b.inside);
}

static struct value equal_kubernetes(struct value a, struct value b)
{
    switch (a.kind) {
    case V_quantity:
        return b.quantity->sum ? value_no_overload()
                               : value_bool(quantity_compare(a.quantity, b.quantity) == 0);
    case V_semver: return value_bool(semver_compare(a.semver, b.semver) == 0);
    case V_url: return value_bool(str_equal(a.url->text, b.url->text));
    case V_ip:
    case V_cidr: return value_bool(address_equal(a.address, b.address));
    case V_format: return value_bool(a.format == b.format);
    default: return value_bool(false);
    }
}

struct value value_equal(struct value a, struct value b)
{
    if (a.kind == V_null || b.kind == V_null)
        return value_bool(a.kind == b.kind);
    if (is_number(a) && is_number(b))
        return value_bool(!is_nan(a) && !is_nan(b) && compare_numbers(a, b) == 0);
    if (a.kind != b.kind)
        return a.kind >= V_quantity ? value_no_overload() : value_bool(false);
    switch (a.kind) {
    case V_bool: return value_bool(a.truth == b.truth);
    case V_string:
    case V_bytes: return value_bool(str_equal(a.text, b.text));
    case V_duration: return value_bool(a.number == b.number);
    case V_timestamp: return value_bool(stamp_compare(a.stamp, b.stamp) == 0);
    case V_list: return value_bool(lists_equal(a.list, b.list));
    case V_map: return value_bool(maps_equal(a.map, b));
    case V_type: return value_bool(str_equal(type_runtime_name(a.type), type_runtime_name(b.type)));
    case V_optional: return optionals_equal(a, b);
    default: return equal_kubernetes(a, b);
    }
}
/* NOLINTEND(misc-no-recursion) */

bool value_size(struct value v, int64_t *size)
{
    switch (v.kind) {
    case V_string: *size = text_runes(v.text); return true;
    case V_bytes: *size = v.text.len; return true;
    case V_list: *size = v.list->count; return true;
    case V_map: *size = v.map->count; return true;
    case V_ip: *size = address_bytes(v.address); return true;
    case V_cidr: *size = (v.address->bits + 7) / 8; return true;
    default: return false;
    }
}

bool value_is_zero(struct value v)
{
    switch (v.kind) {
    case V_null: return true;
    case V_bool: return !v.truth;
    case V_int:
    case V_duration: return v.number == 0;
    case V_uint: return v.natural == 0;
    case V_double: return v.real == 0;
    case V_string:
    case V_bytes: return v.text.len == 0;
    case V_list: return v.list->count == 0;
    case V_map: return v.map->count == 0;
    case V_timestamp: return v.stamp->seconds == -INT64_C(62135596800) && v.stamp->nanos == 0;
    default: return false;
    }
}

bool value_is_key(struct value v)
{
    return v.kind == V_string || v.kind == V_int || v.kind == V_uint || v.kind == V_bool ||
           v.kind == V_double;
}

/* ---- in words ---- */

/* NOLINTBEGIN(misc-no-recursion): as deep as the value */
static void print_list(struct buffer *b, const struct list *list)
{
    buffer_add_text(b, "[");
    for (uint32_t i = 0; i < list->count; i++) {
        buffer_add_text(b, i > 0 ? ", " : "");
        value_print(b, list->items->at[i]);
    }
    buffer_add_text(b, "]");
}

static void print_map(struct buffer *b, const struct map *map)
{
    buffer_add_text(b, "{");
    for (uint32_t i = 0; i < map->count; i++) {
        buffer_add_text(b, i > 0 ? ", " : "");
        value_print(b, map->entries->at[i].key);
        buffer_add_text(b, ": ");
        value_print(b, map->entries->at[i].item);
    }
    buffer_add_text(b, "}");
}

static void print_bytes(struct buffer *b, struct str bytes)
{
    buffer_add_text(b, "[");
    for (uint32_t i = 0; i < bytes.len; i++)
        buffer_print(b, "%s%u", i > 0 ? " " : "", (unsigned char)bytes.at[i]);
    buffer_add_text(b, "]");
}

static void print_optional(struct buffer *b, const struct value *inside)
{
    if (inside == NULL) {
        buffer_add_text(b, "optional.none()");
        return;
    }
    buffer_add_text(b, "optional(");
    value_print(b, *inside);
    buffer_add_text(b, ")");
}

void value_print(struct buffer *b, struct value v)
{
    switch (v.kind) {
    case V_bool: buffer_add_text(b, v.truth ? "true" : "false"); break;
    case V_int: buffer_print(b, "%" PRId64, v.number); break;
    case V_uint: buffer_print(b, "%" PRIu64, v.natural); break;
    case V_double: number_print_double(b, v.real); break;
    case V_error:
    case V_string: buffer_add_str(b, v.text); break;
    case V_bytes: print_bytes(b, v.text); break;
    case V_list: print_list(b, v.list); break;
    case V_map: print_map(b, v.map); break;
    case V_type: buffer_add_str(b, type_runtime_name(v.type)); break;
    case V_optional: print_optional(b, v.inside); break;
    case V_null: buffer_add_text(b, "NULL_VALUE"); break;
    default: buffer_add_text(b, type_names[v.kind]); break;
    }
}
/* NOLINTEND(misc-no-recursion) */

struct str value_text(struct pool *p, struct value v)
{
    struct buffer b = {0};
    value_print(&b, v);
    struct str copy = arena_copy(p->arena, buffer_str(&b));
    buffer_free(&b); /* before anything may stop the work */
    return copy.at != NULL ? copy : STR_LITERAL("?");
}

/* ---- lists ---- */

static struct list *list_over(struct pool *p, struct items *items, uint32_t count)
{
    struct list *list = pool_take(p, sizeof(*list));
    *list = (struct list){items, count};
    return list;
}

struct value list_new(struct pool *p, uint32_t room)
{
    struct items *items = pool_take(p, sizeof(*items));
    items->at = pool_take_array(p, room, sizeof(*items->at));
    items->room = room;
    return (struct value){.kind = V_list, .list = list_over(p, items, 0)};
}

/* Items that list sees all of, with room for more behind. */
static struct items *items_for(struct pool *p, const struct list *list, uint32_t more)
{
    struct items *items = list->items;
    if (items->used == list->count && items->room - items->used >= more)
        return items;
    uint64_t room = 2 * ((uint64_t)list->count + more) + 4;
    if (room > UINT32_MAX)
        pool_stop(p, "a list is too long");
    struct items *grown = pool_take(p, sizeof(*grown));
    grown->at = pool_take_array(p, room, sizeof(*grown->at));
    grown->room = (uint32_t)room;
    grown->used = list->count;
    if (list->count > 0)
        memcpy(grown->at, items->at, list->count * sizeof(*grown->at));
    return grown;
}

struct value list_append(struct pool *p, struct value list, struct value item)
{
    struct items *items = items_for(p, list.list, 1);
    items->at[items->used++] = item;
    return (struct value){.kind = V_list, .list = list_over(p, items, items->used)};
}

struct value list_concat(struct pool *p, struct value a, struct value b)
{
    uint32_t more = b.list->count;
    if (more == 0)
        return a;
    if (a.list->count == 0)
        return b;
    struct items *items = items_for(p, a.list, more);
    /* b may be seen through the very same items: what is copied lies below used. */
    memcpy(items->at + items->used, b.list->items->at, more * sizeof(*items->at));
    items->used += more;
    return (struct value){.kind = V_list, .list = list_over(p, items, items->used)};
}

/* ---- maps ---- */

/* Keys are the same only within their kind; numbers of another kind are tried by the caller. */
static bool same_key(struct value a, struct value b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case V_bool: return a.truth == b.truth;
    case V_string: return str_equal(a.text, b.text);
    case V_int:
    case V_duration: return a.number == b.number;
    case V_uint: return a.natural == b.natural;
    case V_double: return a.real == b.real;
    case V_null: return true;
    case V_type: return str_equal(type_runtime_name(a.type), type_runtime_name(b.type));
    default: /* keys of other kinds are told apart by identity */ return a.map == b.map;
    }
}

static uint32_t hash_key(struct value v)
{
    uint64_t h = 0;
    switch (v.kind) {
    case V_string: h = str_hash(v.text); break;
    case V_bool: h = v.truth; break;
    case V_double: h = v.real == 0 ? 0 : v.natural; break;
    case V_int:
    case V_uint:
    case V_duration: h = v.natural; break;
    default: /* few maps have such keys, and none many */ break;
    }
    h = (h ^ (uint64_t)v.kind << 56) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(h >> 32);
}

static void index_add(struct entries *e, uint32_t place)
{
    uint32_t slot = hash_key(e->at[place].key) & (e->slots - 1);
    while (e->index[slot] != 0)
        slot = (slot + 1) & (e->slots - 1);
    e->index[slot] = place + 1;
}

static struct entries *entries_new(struct pool *p, uint64_t room)
{
    if (room > UINT32_MAX / 4)
        pool_stop(p, "a map is too large");
    struct entries *e = pool_take(p, sizeof(*e));
    e->at = pool_take_array(p, room, sizeof(*e->at));
    e->room = (uint32_t)room;
    if (room > FEW) {
        for (e->slots = 16; e->slots < 2 * room;)
            e->slots *= 2;
        e->index = pool_take_array(p, e->slots, sizeof(*e->index));
    }
    return e;
}

static void entries_add(struct entries *e, struct value key, struct value item)
{
    e->at[e->used] = (struct entry){key, item};
    if (e->index != NULL)
        index_add(e, e->used);
    e->used++;
}

static struct value map_over(struct pool *p, struct entries *e, const struct map *like)
{
    struct map *map = pool_take(p, sizeof(*map));
    *map = (struct map){e, e->used, like != NULL && like->defaults};
    return (struct value){.kind = V_map, .map = map};
}

struct value cel_map_empty(struct pool *p, uint32_t room)
{
    return map_over(p, entries_new(p, room), NULL);
}

static int64_t place_of(const struct map *map, struct value key)
{
    const struct entries *e = map->entries;
    if (e->index == NULL) {
        for (uint32_t i = 0; i < map->count; i++)
            if (same_key(e->at[i].key, key))
                return i;
        return -1;
    }
    uint32_t slot = hash_key(key) & (e->slots - 1);
    for (; e->index[slot] != 0; slot = (slot + 1) & (e->slots - 1)) {
        uint32_t place = e->index[slot] - 1;
        if (place < map->count && same_key(e->at[place].key, key))
            return place;
    }
    return -1;
}

/* All entries but the one at place (-1: all) in entries of their own, with room for one more. */
static struct entries *entries_copy(struct pool *p, const struct map *map, int64_t but)
{
    struct entries *e = entries_new(p, 2 * (uint64_t)map->count + 4);
    for (uint32_t i = 0; i < map->count; i++)
        if (i != but)
            entries_add(e, map->entries->at[i].key, map->entries->at[i].item);
    return e;
}

struct value cel_map_put(struct pool *p, struct value map, struct value key, struct value item)
{
    int64_t place = place_of(map.map, key);
    struct entries *e = map.map->entries;
    if (place >= 0 || e->used != map.map->count || e->used == e->room)
        e = entries_copy(p, map.map, -1);
    if (place >= 0)
        e->at[place].item = item;
    else
        entries_add(e, key, item);
    return map_over(p, e, map.map);
}

struct value cel_map_without(struct pool *p, struct value map, struct value key)
{
    int64_t place = place_of(map.map, key);
    return place < 0 ? map : map_over(p, entries_copy(p, map.map, place), map.map);
}

/* The place of a key, also one of another numeric kind, as upstream tries them. */
static int64_t look_up(const struct map *map, struct value key)
{
    int64_t place = place_of(map, key), whole = 0;
    if (place >= 0 || !is_number(key))
        return place;
    struct value other = {.kind = V_uint};
    if (key.kind == V_double) {
        if (number_double_is_int(key.real, &whole) &&
            (place = place_of(map, value_int(whole))) >= 0)
            return place;
        return number_double_is_uint(key.real, &other.natural) ? place_of(map, other) : -1;
    }
    if (key.kind == V_int) {
        other.natural = (uint64_t)key.number;
        return key.number >= 0 ? place_of(map, other) : -1;
    }
    return key.natural <= INT64_MAX ? place_of(map, value_int((int64_t)key.natural)) : -1;
}

bool cel_map_has(struct value map, struct value key)
{
    return look_up(map.map, key) >= 0;
}

bool cel_map_find(struct value map, struct value key, struct value *item)
{
    static struct entries nothing;
    static const struct map empty = {&nothing, 0, false};
    int64_t place = look_up(map.map, key);
    if (place >= 0)
        *item = map.map->entries->at[place].item;
    else if (map.map->defaults)
        *item = (struct value){.kind = V_map, .map = &empty};
    return place >= 0 || map.map->defaults;
}
