/* kubernetes: what expressions call of quantities, versions and devices. The overloads' types see
 * to it that the values are of the right kind. */
#include "scheduler/cel/functions.h"
#include "scheduler/cel/quantity.h"
#include "scheduler/cel/semver.h"

#define INCLUDES_MAX 48u /* resource.k8s.io's ResourceSliceMaxAttributeValuesPerDevice */

static struct value of_quantity(const struct quantity *q)
{
    return (struct value){.kind = V_quantity, .quantity = q};
}

struct value fn_string_to_quantity(const struct call *c)
{
    const char *error = NULL;
    const struct quantity *q = quantity_parse(c->pool, c->args[0].text, &error);
    return q == NULL ? value_error(error) : of_quantity(q);
}

struct value fn_is_quantity(const struct call *c)
{
    const char *error = NULL;
    return value_bool(quantity_parse(c->pool, c->args[0].text, &error) != NULL);
}

/* The second amount, which may be an int. */
static const struct quantity *other(const struct call *c)
{
    return c->args[1].kind == V_int ? quantity_of(c->pool, c->args[1].number) : c->args[1].quantity;
}

struct value fn_quantity_add(const struct call *c)
{
    return of_quantity(quantity_add(c->pool, c->args[0].quantity, other(c)));
}

struct value fn_quantity_sub(const struct call *c)
{
    return of_quantity(quantity_subtract(c->pool, c->args[0].quantity, other(c)));
}

static int order_of_quantities(const struct call *c)
{
    return quantity_compare(c->args[0].quantity, c->args[1].quantity);
}

struct value fn_quantity_is_greater_than(const struct call *c)
{
    return value_bool(order_of_quantities(c) > 0);
}

struct value fn_quantity_is_less_than(const struct call *c)
{
    return value_bool(order_of_quantities(c) < 0);
}

struct value fn_quantity_compare_to(const struct call *c)
{
    return value_int(order_of_quantities(c));
}

struct value fn_quantity_sign(const struct call *c)
{
    return value_int(quantity_sign(c->args[0].quantity));
}

struct value fn_quantity_is_integer(const struct call *c)
{
    int64_t whole = 0;
    return value_bool(quantity_integer(c->args[0].quantity, &whole));
}

struct value fn_quantity_get_int(const struct call *c)
{
    int64_t whole = 0;
    if (!quantity_integer(c->args[0].quantity, &whole))
        return value_error("cannot convert value to integer");
    return value_int(whole);
}

struct value fn_quantity_get_float(const struct call *c)
{
    return (struct value){.kind = V_double, .real = quantity_float(c->args[0].quantity)};
}

static const struct semver *read_version(const struct call *c, struct str *error)
{
    bool loose = c->count > 1 && c->args[1].truth;
    return loose ? semver_parse_loose(c->pool, c->args[0].text, error)
                 : semver_parse(c->pool, c->args[0].text, error);
}

struct value fn_string_to_semver(const struct call *c)
{
    struct str error = {NULL, 0};
    const struct semver *v = read_version(c, &error);
    if (v == NULL)
        return (struct value){.kind = V_error, .text = error};
    return (struct value){.kind = V_semver, .semver = v};
}

struct value fn_is_semver(const struct call *c)
{
    struct str error = {NULL, 0};
    return value_bool(read_version(c, &error) != NULL);
}

static int order_of_versions(const struct call *c)
{
    return semver_compare(c->args[0].semver, c->args[1].semver);
}

struct value fn_semver_is_greater_than(const struct call *c)
{
    return value_bool(order_of_versions(c) > 0);
}

struct value fn_semver_is_less_than(const struct call *c)
{
    return value_bool(order_of_versions(c) < 0);
}

struct value fn_semver_compare_to(const struct call *c)
{
    return value_int(order_of_versions(c));
}

struct value fn_semver_major(const struct call *c)
{
    return value_int((int64_t)c->args[0].semver->major);
}

struct value fn_semver_minor(const struct call *c)
{
    return value_int((int64_t)c->args[0].semver->minor);
}

struct value fn_semver_patch(const struct call *c)
{
    return value_int((int64_t)c->args[0].semver->patch);
}

/* The same as the target, or in it. */
struct value fn_includes(const struct call *c)
{
    struct value in = c->args[0];
    if (in.kind != V_list)
        return value_bool(value_is_true(value_equal(in, c->args[1])));
    for (uint32_t i = 0; i < in.list->count; i++) {
        if (i >= INCLUDES_MAX)
            return value_error(
                "'includes' function cannot be applied to lists longer than 48 values");
        if (value_is_true(value_equal(list_at(in, i), c->args[1])))
            return value_bool(true);
    }
    return value_bool(false);
}
