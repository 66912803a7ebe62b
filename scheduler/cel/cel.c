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
    int64_t release;
    bool lists;   /* it sees attributes that are lists */
    bool derived; /* it gives an attribute */
    struct node *root;
};

struct cel_subject {
    struct value device;
    struct str error;          /* why no expression can be evaluated; empty: nothing is wrong */
    struct str listless_error; /* the same of those that do not see lists */
};

/* ---- programs ---- */

static bool sees_lists(const struct cel_dialect *dialect)
{
    return dialect->lists || dialect->release >= 37;
}

const struct type *attribute_type(const struct cel_dialect *dialect)
{
    return sees_lists(dialect) ? &type_dyn : &type_any;
}

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

/* What an attribute may be, or an item of one that is a list. */
static bool is_attribute(const struct type *t)
{
    return t->kind == T_bool || t->kind == T_int || t->kind == T_string || t->kind == T_any ||
           t->kind == T_dyn || type_same(t, &type_semver);
}

/* Whether the expression gives what is asked for; false with the reason. */
static bool check_output(const struct cel_dialect *dialect, bool derived, const struct type *t,
                         struct buffer *error)
{
    if (derived ? is_attribute(t) || (t->kind == T_list && is_attribute(t->params[0]))
                : t->kind == T_bool || t->kind == attribute_type(dialect)->kind)
        return true;
    buffer_add_text(error, derived ? "must evaluate to a primitive scalar (string, integer, "
                                     "boolean, semver) or a list of these scalars, not "
                                   : "must evaluate to bool or the unknown type, not ");
    print_output_type(error, t);
    return false;
}

/* All but the one way out; false with the reason in *error. */
static bool build(struct pool *p, const struct cel_dialect *dialect, struct cel_program *program,
                  struct str text, struct buffer *error)
{
    struct faults faults = {0};
    struct str why = {NULL, 0};
    struct node *root = cel_parse(p, pool_copy(p, text), &faults);
    if (root != NULL)
        cel_check(p, dialect, root, &faults);
    if (root == NULL || faults.count > 0) {
        buffer_add_text(error, "compilation failed: ");
        faults_print(error, &faults, text);
        return false;
    }
    if (!check_output(dialect, program->derived, root->type, error))
        return false;
    if (!cel_plan(p, root, &why)) {
        buffer_print(error, "program instantiation failed: %.*s", STR_ARG(why));
        return false;
    }
    program->root = root;
    return true;
}

static bool build_guarded(struct pool *p, const struct cel_dialect *dialect,
                          struct cel_program *program, struct str text, struct buffer *error)
{
    if (setjmp(p->stop) != 0) { /* NOLINT(cert-err52-cpp) */
        buffer_print(error, "compilation failed: %s", p->reason);
        return false;
    }
    return build(p, dialect, program, text, error);
}

static struct cel_program *compile(const struct cel_dialect *dialect, bool derived,
                                   struct str expression, struct buffer *error)
{
    if (expression.len > CEL_EXPRESSION_MAX) {
        buffer_print(error, "compilation failed: the expression is longer than %u bytes",
                     CEL_EXPRESSION_MAX);
        return NULL;
    }
    struct cel_program *program = memory_take(sizeof(*program));
    program->arena = (struct arena){.limit = PROGRAM_BYTES};
    program->release = dialect->release;
    program->lists = sees_lists(dialect);
    program->derived = derived;
    struct pool p = {.arena = &program->arena};
    if (!build_guarded(&p, dialect, program, expression, error))
        cel_free(&program);
    return program;
}

struct cel_program *cel_compile(const struct cel_dialect *dialect, struct str expression,
                                struct buffer *error)
{
    return compile(dialect, false, expression, error);
}

struct cel_program *cel_compile_derived(const struct cel_dialect *dialect, struct str expression,
                                        struct buffer *error)
{
    return compile(dialect, true, expression, error);
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

static bool scalar_value(struct pool *p, const struct cel_attribute *a, struct value *v,
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

static bool attribute_value(struct pool *p, const struct cel_attribute *a, struct value *v,
                            struct str *error)
{
    struct value item;
    if (a->kind != CEL_ATTRIBUTE_list)
        return scalar_value(p, a, v, error);
    *v = list_new(p, a->value_count);
    for (uint32_t i = 0; i < a->value_count; i++) {
        if (!scalar_value(p, &a->values[i], &item, error))
            return false;
        *v = list_append(p, *v, item);
    }
    return true;
}

/* The first attribute that is wrong is the one that is told. */
static void note_wrong(struct pool *p, struct str name, struct str why, struct str *error)
{
    if (error->len == 0)
        *error = pool_print(p, "attribute %.*s: %.*s", STR_ARG(name), STR_ARG(why));
}

static struct value attributes_of(struct pool *p, const struct cel_device *d, struct cel_subject *s)
{
    struct value all = cel_map_empty(p, 4), v;
    for (uint32_t i = 0; i < d->attribute_count; i++) {
        const struct cel_attribute *a = &d->attributes[i];
        struct str why = {NULL, 0};
        bool good = attribute_value(p, a, &v, &why);
        if (good)
            all = with_name(p, all, a->name, d->driver, v);
        else
            note_wrong(p, a->name, why, &s->error);
        if (a->kind == CEL_ATTRIBUTE_list)
            note_wrong(p, a->name, STR_LITERAL("unsupported attribute value"), &s->listless_error);
        else if (!good)
            note_wrong(p, a->name, why, &s->listless_error);
    }
    return with_defaults(p, all);
}

static struct value capacity_of(struct pool *p, const struct cel_device *d, struct cel_subject *s)
{
    struct str error = {NULL, 0};
    struct value all = cel_map_empty(p, 4);
    for (uint32_t i = 0; i < d->capacity_count; i++) {
        const char *why = NULL;
        struct value v = {.kind = V_quantity};
        v.quantity = quantity_parse(p, d->capacities[i].value, &why);
        if (v.quantity != NULL)
            all = with_name(p, all, d->capacities[i].name, d->driver, v);
        else if (error.len == 0)
            error = pool_print(p, "capacity %.*s: %s", STR_ARG(d->capacities[i].name), why);
    }
    s->error = s->error.len == 0 ? error : s->error;
    s->listless_error = s->listless_error.len == 0 ? error : s->listless_error;
    return with_defaults(p, all);
}

static void fill_subject(struct pool *p, struct cel_subject *s, const struct cel_device *d)
{
    struct value device = cel_map_empty(p, 4);
    struct value attributes = attributes_of(p, d, s);
    struct value capacity = capacity_of(p, d, s);
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

/* ---- derived attributes ---- */

/* What Go calls the type of a value that no attribute may have. */
static const char *go_name(struct value v)
{
    static const char *const names[] = {
        [V_null] = "structpb.NullValue",
        [V_bool] = "bool",
        [V_int] = "int64",
        [V_uint] = "uint64",
        [V_double] = "float64",
        [V_string] = "string",
        [V_bytes] = "[]uint8",
        [V_list] = "[]ref.Val",
        [V_map] = "map[ref.Val]ref.Val",
        [V_duration] = "time.Duration",
        [V_timestamp] = "time.Time",
        [V_quantity] = "*resource.Quantity",
        [V_semver] = "semver.Version",
        [V_url] = "*url.URL",
        [V_ip] = "netip.Addr",
        [V_cidr] = "netip.Prefix",
        [V_format] = NULL,
    };
    return names[v.kind] != NULL ? names[v.kind] : "<nil>";
}

static bool to_scalar(struct pool *p, struct value v, struct cel_attribute *out)
{
    *out = (struct cel_attribute){.kind = CEL_ATTRIBUTE_none};
    switch (v.kind) {
    case V_bool: *out = (struct cel_attribute){.kind = CEL_ATTRIBUTE_bool, .truth = v.truth}; break;
    case V_int: *out = (struct cel_attribute){.kind = CEL_ATTRIBUTE_int, .number = v.number}; break;
    case V_string:
        *out = (struct cel_attribute){.kind = CEL_ATTRIBUTE_string, .text = pool_copy(p, v.text)};
        break;
    case V_type:
        out->kind = CEL_ATTRIBUTE_string;
        out->text = pool_copy(p, type_runtime_name(v.type));
        break;
    case V_semver:
        out->kind = CEL_ATTRIBUTE_version;
        out->text = semver_text(p, v.semver);
        break;
    default: break;
    }
    return out->kind != CEL_ATTRIBUTE_none;
}

static struct str odd_item(struct pool *p, const struct cel_attribute *items, uint32_t i,
                           struct value v)
{
    static const char *const wanted[] = {[CEL_ATTRIBUTE_bool] = "bool",
                                         [CEL_ATTRIBUTE_int] = "int",
                                         [CEL_ATTRIBUTE_string] = "string",
                                         [CEL_ATTRIBUTE_version] = "semver",
                                         [CEL_ATTRIBUTE_list] = ""};
    if (i == 0)
        return pool_print(p, "unsupported list element type: %s", go_name(v));
    return pool_print(p, "expected list element at index %u to be %s, got %s", i,
                      wanted[items[0].kind], go_name(v));
}

static bool to_attribute(struct pool *p, struct value v, struct cel_attribute *out,
                         struct str *error)
{
    if (to_scalar(p, v, out))
        return true;
    if (v.kind != V_list) {
        *error = pool_print(p, "unsupported CEL return type: %s", go_name(v));
        return false;
    }
    uint32_t count = v.list->count;
    struct cel_attribute *items = pool_take_array(p, count, sizeof(*items));
    for (uint32_t i = 0; i < count; i++)
        if (!to_scalar(p, list_at(v, i), &items[i]) || items[i].kind != items[0].kind) {
            *error = odd_item(p, items, i, list_at(v, i));
            return false;
        }
    *out =
        (struct cel_attribute){.kind = CEL_ATTRIBUTE_list, .value_count = count, .values = items};
    return true;
}

static bool derive_guarded(struct run *r, const struct node *root, struct cel_attribute *out,
                           struct cel_report *report)
{
    if (setjmp(r->pool->stop) != 0) { /* NOLINT(cert-err52-cpp) */
        report->error = str_of(r->pool->reason);
        return false;
    }
    struct value v = cel_evaluate(r, root);
    if (v.kind == V_error) {
        report->error = v.text;
        return false;
    }
    return to_attribute(r->pool, v, out, &report->error);
}

static struct run run_of(const struct cel_program *program, const struct cel_subject *subject,
                         struct pool *pool)
{
    return (struct run){.pool = pool,
                        .device = subject->device,
                        .release = program->release,
                        .cost_max = CEL_COST_MAX};
}

/* An error: the device itself cannot be read. */
static struct cel_report report_of(const struct cel_program *program,
                                   const struct cel_subject *subject)
{
    return (struct cel_report){.error = program->lists ? subject->error : subject->listless_error};
}

bool cel_derive(const struct cel_program *program, const struct cel_subject *subject,
                struct arena *scratch, struct cel_attribute *attribute, struct cel_report *report)
{
    struct pool p = {.arena = scratch};
    struct run r = run_of(program, subject, &p);
    *report = report_of(program, subject);
    if (report->error.len > 0)
        return false;
    bool good = derive_guarded(&r, program->root, attribute, report);
    report->cost = r.cost;
    return good;
}

enum cel_verdict cel_match(const struct cel_program *program, const struct cel_subject *subject,
                           struct arena *scratch, struct cel_report *report)
{
    struct pool p = {.arena = scratch};
    struct run r = run_of(program, subject, &p);
    *report = report_of(program, subject);
    if (report->error.len > 0)
        return CEL_FAILED;
    enum cel_verdict verdict = judge_guarded(&r, program->root, report);
    report->cost = r.cost;
    return verdict;
}
