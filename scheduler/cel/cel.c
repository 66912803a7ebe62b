/* cel: the door: compilation into one arena, devices made ready, evaluation. What must stay true: a
 * program and a subject are never written to after they are made, and whatever stops a compilation
 * or an evaluation ends here as an error with a text. */
#include "scheduler/cel/cel.h"

#include "proto/base/memory.h"
#include "scheduler/cel/check.h"
#include "scheduler/cel/evaluate.h"
#include "scheduler/cel/quantity.h"
#include "scheduler/cel/semver.h"

#include <string.h>

/* A text of 10 KiB makes a tree of a few MiB at most. */
#define PROGRAM_BYTES (64u << 20)
#define PRINT_MAX     8192u /* bytes of a type in an error; one that was folded may be huge */

struct cel_program {
    struct arena arena;
    struct node *root;
};

struct cel_subject {
    struct value device;
    struct str error; /* why no expression can be evaluated; empty: nothing is wrong */
};

/* ---- programs ---- */

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the type */
static void print_output_type(struct buffer *error, const struct type *t)
{
    buffer_add_str(error, type_runtime_name(t));
    for (uint32_t i = 0; i < t->count && error->len < PRINT_MAX; i++) {
        buffer_add_text(error, i == 0 ? "(" : ", ");
        print_output_type(error, t->params[i]);
    }
    buffer_add_text(error, t->count > 0 ? ")" : "");
}

/* All but the one way out; false with the reason in *error. */
static bool build(struct pool *p, struct cel_program *program, struct str text,
                  struct buffer *error)
{
    struct faults faults = {0};
    struct str why = {NULL, 0};
    struct node *root = cel_parse(p, pool_copy(p, text), &faults);
    if (root != NULL)
        cel_check(p, root, &faults);
    if (root == NULL || faults.count > 0) {
        buffer_add_text(error, "compilation failed: ");
        faults_print(error, &faults, text);
        return false;
    }
    if (root->type->kind != T_bool && root->type->kind != T_any) {
        buffer_add_text(error, "must evaluate to bool or the unknown type, not ");
        print_output_type(error, root->type);
        return false;
    }
    if (!cel_plan(p, root, &why)) {
        buffer_print(error, "program instantiation failed: %.*s", STR_ARG(why));
        return false;
    }
    program->root = root;
    return true;
}

static bool build_guarded(struct pool *p, struct cel_program *program, struct str text,
                          struct buffer *error)
{
    if (setjmp(p->stop) != 0) { /* NOLINT(cert-err52-cpp) */
        buffer_print(error, "compilation failed: %s", p->reason);
        return false;
    }
    return build(p, program, text, error);
}

struct cel_program *cel_compile(struct str expression, struct buffer *error)
{
    if (expression.len > CEL_EXPRESSION_MAX) {
        buffer_print(error, "compilation failed: the expression is longer than %u bytes",
                     CEL_EXPRESSION_MAX);
        return NULL;
    }
    struct cel_program *program = memory_take(sizeof(*program));
    program->arena = (struct arena){.limit = PROGRAM_BYTES};
    struct pool p = {.arena = &program->arena};
    if (!build_guarded(&p, program, expression, error))
        cel_free(&program);
    return program;
}

void cel_free(struct cel_program **program)
{
    if (*program != NULL)
        arena_free(&(*program)->arena);
    memory_free(*program);
    *program = NULL;
}

/* ---- subjects ---- */

/* The domain and the id of a name; unqualified names have the driver's domain. */
static void take_name(struct str name, struct str driver, struct str *domain, struct str *id)
{
    int64_t at = str_find(name, '/');
    *domain = at < 0 ? driver : (struct str){name.at, (uint32_t)at};
    *id = at < 0 ? name : (struct str){name.at + at + 1, (uint32_t)(name.len - at - 1)};
}

static struct value with_name(struct pool *p, struct value domains, struct str name,
                              struct str driver, struct value v)
{
    struct str domain, id;
    struct value inner;
    take_name(name, driver, &domain, &id);
    if (!cel_map_has(domains, value_string(domain)))
        inner = cel_map_empty(p, 8);
    else
        cel_map_find(domains, value_string(domain), &inner);
    return cel_map_put(p, domains, value_string(domain),
                       cel_map_put(p, inner, value_string(id), v));
}

static struct value with_defaults(struct pool *p, struct value map)
{
    struct map *copy = pool_take(p, sizeof(*copy));
    *copy = *map.map;
    copy->defaults = true;
    return (struct value){.kind = V_map, .map = copy};
}

static bool attribute_value(struct pool *p, const struct cel_attribute *a, struct value *v,
                            struct str *error)
{
    switch (a->kind) {
    case CEL_ATTRIBUTE_bool: *v = value_bool(a->truth); return true;
    case CEL_ATTRIBUTE_int: *v = value_int(a->number); return true;
    case CEL_ATTRIBUTE_string: *v = value_string(a->text); return true;
    case CEL_ATTRIBUTE_version:
        *v = (struct value){.kind = V_semver};
        v->semver = semver_parse(p, a->text, error);
        if (v->semver == NULL)
            *error = pool_print(p, "parse semantic version: %.*s", STR_ARG(*error));
        return v->semver != NULL;
    default: *error = STR_LITERAL("unsupported attribute value"); return false;
    }
}

static struct value attributes_of(struct pool *p, const struct cel_device *d, struct str *error)
{
    struct value all = cel_map_empty(p, 4), v;
    for (uint32_t i = 0; i < d->attribute_count; i++) {
        struct str why = {NULL, 0};
        if (attribute_value(p, &d->attributes[i], &v, &why))
            all = with_name(p, all, d->attributes[i].name, d->driver, v);
        else if (error->len == 0)
            *error =
                pool_print(p, "attribute %.*s: %.*s", STR_ARG(d->attributes[i].name), STR_ARG(why));
    }
    return with_defaults(p, all);
}

static struct value capacity_of(struct pool *p, const struct cel_device *d, struct str *error)
{
    struct value all = cel_map_empty(p, 4);
    for (uint32_t i = 0; i < d->capacity_count; i++) {
        const char *why = NULL;
        struct value v = {.kind = V_quantity};
        v.quantity = quantity_parse(p, d->capacities[i].value, &why);
        if (v.quantity != NULL)
            all = with_name(p, all, d->capacities[i].name, d->driver, v);
        else if (error->len == 0)
            *error = pool_print(p, "capacity %.*s: %s", STR_ARG(d->capacities[i].name), why);
    }
    return with_defaults(p, all);
}

static void fill_subject(struct pool *p, struct cel_subject *s, const struct cel_device *d)
{
    struct value device = cel_map_empty(p, 4);
    struct value attributes = attributes_of(p, d, &s->error);
    struct value capacity = capacity_of(p, d, &s->error);
    device = cel_map_put(p, device, value_string(STR_LITERAL("driver")), value_string(d->driver));
    device = cel_map_put(p, device, value_string(STR_LITERAL("allowMultipleAllocations")),
                         value_bool(d->allow_multiple_allocations));
    device = cel_map_put(p, device, value_string(STR_LITERAL("attributes")), attributes);
    s->device = cel_map_put(p, device, value_string(STR_LITERAL("capacity")), capacity);
}

const struct cel_subject *cel_subject_new(struct arena *arena, const struct cel_device *device)
{
    struct pool p = {.arena = arena};
    struct cel_subject *s = arena_take(arena, sizeof(*s));
    if (s == NULL || setjmp(p.stop) != 0) /* NOLINT(cert-err52-cpp) */
        return NULL;
    fill_subject(&p, s, device);
    return s;
}

/* ---- evaluation ---- */

/* Go's words for a result that is no bool. */
static struct str not_a_bool(struct pool *p, struct value v)
{
    static const char *const why[] = {
        [V_null] = "type conversion error from 'null_type' to 'bool'",
        [V_int] = "unsupported type conversion from 'int' to bool",
        [V_uint] = "unsupported type conversion from 'uint' to bool",
        [V_double] = "type conversion error from Double to 'bool'",
        [V_string] = "unsupported native conversion from string to 'bool'",
        [V_bytes] = "type conversion error from Bytes to 'bool'",
        [V_list] = "type conversion error from list to 'bool'",
        [V_map] = "type conversion error from map to 'bool'",
        [V_duration] = "type conversion error from 'Duration' to 'bool'",
        [V_timestamp] = "type conversion error from 'Timestamp' to 'bool'",
        [V_quantity] = "type conversion error from 'Quantity' to 'bool'",
        [V_semver] = "type conversion error from 'Semver' to 'bool'",
        [V_format] = NULL,
    };
    const char *text = why[v.kind] != NULL ? why[v.kind] : "type conversion error to 'bool'";
    return pool_print(p, "CEL result of type %s could not be converted to bool: %s",
                      value_type_name(v), text);
}

static enum cel_verdict judge(struct run *r, const struct node *root, struct cel_report *report)
{
    struct value v = cel_evaluate(r, root);
    if (v.kind == V_bool)
        return v.truth ? CEL_MATCH : CEL_NO_MATCH;
    report->error = v.kind == V_error ? v.text : not_a_bool(r->pool, v);
    return CEL_FAILED;
}

static enum cel_verdict judge_guarded(struct run *r, const struct node *root,
                                      struct cel_report *report)
{
    if (setjmp(r->pool->stop) != 0) { /* NOLINT(cert-err52-cpp) */
        report->error = str_of(r->pool->reason);
        return CEL_FAILED;
    }
    return judge(r, root, report);
}

enum cel_verdict cel_match(const struct cel_program *program, const struct cel_subject *subject,
                           struct arena *scratch, struct cel_report *report)
{
    struct pool p = {.arena = scratch};
    struct run r = {.pool = &p, .device = subject->device, .cost_max = CEL_COST_MAX};
    *report = (struct cel_report){.error = subject->error};
    if (subject->error.len > 0)
        return CEL_FAILED;
    enum cel_verdict verdict = judge_guarded(&r, program->root, report);
    report->cost = r.cost;
    return verdict;
}
