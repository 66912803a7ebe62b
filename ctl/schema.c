/* schema: the one idea: the fields of all kinds are a table that is made from the API's own types
 * (schema_1_36.def, schema_1_37.def), and an object is walked beside that of its release.
 *
 * What must stay true: whatever the API server's strict decoding refuses is refused here with its
 * path; what it takes is taken. */
#include "ctl/schema.h"

#include "ctl/schema_table.h"
#include "proto/kube/documents/quantity.h"

#include <limits.h>

static const struct schema_table *table_of(int64_t release)
{
    return release >= 37 ? &schema_1_37 : &schema_1_36;
}

/* One walk over an object. */
struct walk {
    const struct schema_table *table;
    struct buffer path;
    struct arena *arena;
    struct str error;
};

static bool wrong(struct walk *w, const char *what, struct str more)
{
    w->error =
        arena_print(w->arena, "%.*s: %s%.*s", STR_ARG(buffer_str(&w->path)), what, STR_ARG(more));
    return false;
}

/* ---- suggestions ---- */

#define NAME_MAX_LEN 63

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* How many letters must be put in, taken out or replaced; upper and lower case are the same. */
static unsigned distance(struct str a, struct str b)
{
    unsigned row[NAME_MAX_LEN + 1];
    for (unsigned j = 0; j <= b.len; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        unsigned before = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            unsigned same = before + (lower(a.at[i - 1]) != lower(b.at[j - 1]));
            before = row[j];
            row[j] = least(same, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b.len];
}

/* Keeps the nearest so far; more than a third of the letters wrong is another word. */
static void consider(struct str written, const char *name, const char **nearest, unsigned *best)
{
    struct str known = str_of(name);
    if (written.len > NAME_MAX_LEN || known.len > NAME_MAX_LEN)
        return;
    unsigned far = distance(written, known);
    bool begins_alike = written.len > 0 && lower(written.at[0]) == lower(known.at[0]);
    unsigned rank = far * 2 + !begins_alike; /* of two as near, the one that begins as it should */
    if (rank < *best && far * 3 <= least(written.len, known.len) + 1) {
        *best = rank;
        *nearest = name;
    }
}

static struct str suggestion(const char *nearest, struct arena *a)
{
    return nearest == NULL ? (struct str){0} : arena_print(a, ", did you mean \"%s\"?", nearest);
}

struct str schema_suggest(struct str written, const char *const *names, struct arena *a)
{
    const char *nearest = NULL;
    unsigned best = UINT_MAX;
    for (; *names != NULL; names++)
        consider(written, *names, &nearest, &best);
    return suggestion(nearest, a);
}

static struct str suggest_field(struct str written, const struct schema_field *fields,
                                struct arena *a)
{
    const char *nearest = NULL;
    unsigned best = UINT_MAX;
    for (; fields->name != NULL; fields++)
        consider(written, fields->name, &nearest, &best);
    return suggestion(nearest, a);
}

static struct str suggest_kind(const struct schema_table *table, struct str written,
                               struct arena *a)
{
    const char *nearest = NULL;
    unsigned best = UINT_MAX;
    for (size_t i = 0; i < table->kind_count; i++)
        consider(written, table->kinds[i].kind, &nearest, &best);
    return suggestion(nearest, a);
}

/* ---- single values ---- */

static bool is_whole(const struct kube_json *value, double limit)
{
    double number;
    return kube_json_number(value, &number) && number >= -limit && number <= limit &&
           number == (double)(int64_t)number;
}

#define INT32_LIMIT 2147483648.0
#define INT64_LIMIT 9223372036854774784.0 /* the greatest double below 2^63 */

static bool is_number(const struct kube_json *value)
{
    double number;
    return kube_json_number(value, &number);
}

static bool is_quantity(const struct kube_json *value)
{
    struct kube_quantity q;
    return is_number(value) ||
           (kube_json_is_string(value) && kube_quantity_parse(kube_json_text(value), &q));
}

/* 2026-01-02T03:04:05Z, with a fraction or an offset; what is behind the seconds is not looked at
 * closely. */
static bool is_time(const struct kube_json *value)
{
    static const char form[] = "0000-00-00T00:00:00";
    struct str s = kube_json_text(value);
    if (s.len <= sizeof(form) - 1)
        return kube_json_is_string(value) && s.len == 0;
    for (size_t i = 0; i < sizeof(form) - 1; i++)
        if (form[i] == '0' ? s.at[i] < '0' || s.at[i] > '9' : s.at[i] != form[i])
            return false;
    return true;
}

static bool check_scalar(struct walk *w, const struct kube_json *value, uint16_t kind)
{
    static const char *const expected[] = {[VALUE_any] = "anything",
                                           [VALUE_text] = "a string",
                                           [VALUE_truth] = "true or false",
                                           [VALUE_int32] = "a whole number of 32 bits",
                                           [VALUE_int64] = "a whole number",
                                           [VALUE_int_or_text] = "a whole number or a string",
                                           [VALUE_quantity] = "a quantity such as 500m, 2 or 4Gi",
                                           [VALUE_time] = "a time such as 2026-01-02T03:04:05Z"};
    bool fine = kind == VALUE_any;
    fine |= (kind == VALUE_text || kind == VALUE_int_or_text) && kube_json_is_string(value);
    fine |= kind == VALUE_truth && kube_json_is_bool(value);
    fine |= (kind == VALUE_int32 || kind == VALUE_int_or_text) && is_whole(value, INT32_LIMIT);
    fine |= kind == VALUE_int64 && is_whole(value, INT64_LIMIT);
    fine |= kind == VALUE_quantity && is_quantity(value);
    fine |= kind == VALUE_time && is_time(value);
    if (fine)
        return true;
    struct buffer written = {0};
    kube_json_write(value, &written);
    if (written.len > 80)
        buffer_reset(&written);
    struct str more = arena_print(w->arena, "%s%.*s", written.len > 0 ? ", not " : "",
                                  STR_ARG(buffer_str(&written)));
    buffer_free(&written);
    return wrong(w, "must be ", arena_print(w->arena, "%s%.*s", expected[kind], STR_ARG(more)));
}

/* ---- objects ---- */

/* As deep as the types of the table, none of which holds itself. NOLINTBEGIN(misc-no-recursion) */
static bool check_object(struct walk *w, const struct kube_json *object, uint16_t type);

static bool check_value(struct walk *w, const struct kube_json *value, uint16_t kind)
{
    if (kube_json_is_null(value))
        return true;
    return kind < VALUE_types ? check_scalar(w, value, kind) : check_object(w, value, kind);
}

static bool check_list(struct walk *w, const struct kube_json *list, uint16_t kind)
{
    size_t len = w->path.len, index = 0;
    if (!kube_json_is_array(list))
        return wrong(w, "must be a list, not ", str_of(kube_json_kind(list)));
    for (const struct kube_json *i = kube_json_first(list); i != NULL; i = kube_json_next(i)) {
        buffer_print(&w->path, "[%zu]", index++);
        if (!check_value(w, i, kind))
            return false;
        w->path.len = len;
    }
    return true;
}

static bool check_map(struct walk *w, const struct kube_json *map, uint16_t kind)
{
    size_t len = w->path.len;
    if (!kube_json_is_object(map))
        return wrong(w, "must be an object, not ", str_of(kube_json_kind(map)));
    for (const struct kube_json *i = kube_json_first(map); i != NULL; i = kube_json_next(i)) {
        buffer_print(&w->path, ".%.*s", STR_ARG(kube_json_name(i)));
        if (!check_value(w, i, kind))
            return false;
        w->path.len = len;
    }
    return true;
}

static bool check_field(struct walk *w, const struct kube_json *value, const struct schema_field *f)
{
    if (kube_json_is_null(value))
        return true;
    if (f->form == FORM_list)
        return check_list(w, value, f->value);
    return f->form == FORM_map ? check_map(w, value, f->value) : check_value(w, value, f->value);
}

static const struct schema_field *find_field(const struct schema_field *fields, struct str name)
{
    while (fields->name != NULL && !str_is(name, fields->name))
        fields++;
    return fields->name == NULL ? NULL : fields;
}

static bool check_object(struct walk *w, const struct kube_json *object, uint16_t type)
{
    const struct schema_field *fields = w->table->fields_of[type - VALUE_types];
    size_t len = w->path.len;
    if (!kube_json_is_object(object))
        return wrong(w, "must be an object, not ", str_of(kube_json_kind(object)));
    for (const struct kube_json *i = kube_json_first(object); i != NULL; i = kube_json_next(i)) {
        struct str name = kube_json_name(i);
        const struct schema_field *f = find_field(fields, name);
        buffer_print(&w->path, "%s%.*s", len > 0 ? "." : "", STR_ARG(name));
        if (f == NULL)
            return wrong(w, "unknown field", suggest_field(name, fields, w->arena));
        if (kube_json_get(object, f->name) != NULL && kube_json_get(object, f->name) != i)
            return wrong(w, "is there twice", (struct str){0});
        if (!check_field(w, i, f))
            return false;
        w->path.len = len;
    }
    return true;
}

/* NOLINTEND(misc-no-recursion) */

/* ---- kinds ---- */

bool schema_has_kind(int64_t release, struct str kind)
{
    const struct schema_table *table = table_of(release);
    for (size_t i = 0; i < table->kind_count; i++)
        if (str_is(kind, table->kinds[i].kind))
            return true;
    return false;
}

static bool below(struct walk *w, const char *member, const char *what, struct str more)
{
    buffer_print(&w->path, "%s%s", w->path.len > 0 ? "." : "", member);
    return wrong(w, what, more);
}

/* The row of the kind; without a version that of its first one. NULL, with an error: none. */
static const struct schema_kind *find_kind(struct walk *w, struct str kind, struct str version)
{
    const char *other = NULL;
    for (size_t i = 0; i < w->table->kind_count; i++) {
        const struct schema_kind *row = &w->table->kinds[i];
        if (!str_is(kind, row->kind))
            continue;
        if (version.len == 0 || str_is(version, row->version))
            return row;
        other = row->version;
    }
    if (kind.len == 0)
        (void)below(w, "kind", "is missing", (struct str){0});
    else if (other == NULL)
        (void)below(w, "kind", "a scenario has no objects of kind ",
                    arena_print(w->arena, "%.*s%.*s", STR_ARG(kind),
                                STR_ARG(suggest_kind(w->table, kind, w->arena))));
    else
        (void)below(w, "apiVersion", "must be ",
                    arena_print(w->arena, "%s, not %.*s", other, STR_ARG(version)));
    return NULL;
}

static bool check(struct walk *w, const struct kube_json *object, const char *kind)
{
    if (!kube_json_is_object(object))
        return wrong(w, "must be an object, not ", str_of(kube_json_kind(object)));
    struct str written = kube_json_text(kube_json_get(object, "kind"));
    if (kube_json_get(object, "kind") == NULL && kind != NULL)
        written = str_of(kind);
    if (kind != NULL && !str_is(written, kind))
        return below(w, "kind", "must be ",
                     arena_print(w->arena, "%s, not %.*s", kind, STR_ARG(written)));
    const struct schema_kind *row =
        find_kind(w, written, kube_json_text(kube_json_get(object, "apiVersion")));
    if (row == NULL || !check_object(w, object, row->type))
        return false;
    return kube_json_text(kube_json_path(object, "metadata.name")).len > 0 ||
           below(w, "metadata.name", "is missing", (struct str){0});
}

bool schema_check(const struct kube_json *object, const struct schema_place *at, struct str *error,
                  struct arena *a)
{
    struct walk w = {.table = table_of(at->release), .arena = a};
    buffer_add_str(&w.path, at->path);
    bool fine = check(&w, object, at->kind);
    *error = w.error;
    buffer_free(&w.path);
    return fine;
}
