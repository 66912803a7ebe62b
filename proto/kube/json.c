/* json: cJSON behind an opaque type. The one idea: the tree is read-only and forgiving to ask (any
 * missing step gives NULL), so that conversions read like the API's field paths. What must stay
 * true: no number is handed out as an integer unless it is exactly that integer. */
#include "proto/kube/json.h"
#include "proto/kube/json_internal.h"

#include "proto/base/memory.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

/* Greatest integer n such that n and n + 1 are both doubles: beyond it two texts may give the same
 * double, so the value cannot be trusted. */
#define INTEGER_MAX 9007199254740991.0

static void *cjson_take(size_t size)
{
    return memory_resize(NULL, size);
}

void kube_json_use_our_memory(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    cJSON_InitHooks(&(cJSON_Hooks){cjson_take, memory_free});
}

static const cJSON *inside(const struct kube_json *value)
{
    return (const cJSON *)(const void *)value;
}

static const struct kube_json *outside(const cJSON *value)
{
    return (const struct kube_json *)(const void *)value;
}

static void say_where(struct str text, const char *at, struct str *error, struct arena *a)
{
    if (error == NULL)
        return;
    size_t line = 1, column = 1;
    for (const char *c = text.at; c != NULL && c < at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    size_t left = text.len - (text.len ? (size_t)(at - text.at) : 0);
    if (left == 0)
        *error = arena_print(a, "line %zu, column %zu: JSON ends too early", line, column);
    else
        *error = arena_print(a, "line %zu, column %zu: malformed JSON at \"%.*s\"", line, column,
                             left < 20 ? (int)left : 20, at);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct kube_json *kube_json_parse(struct str text, struct str *error, struct arena *a)
{
    kube_json_use_our_memory();
    const char *end = text.at;
    cJSON *tree = text.len ? cJSON_ParseWithLengthOpts(text.at, text.len, &end, false) : NULL;
    const char *limit = text.len ? text.at + text.len : text.at;
    while (tree != NULL && end < limit && is_space(*end))
        end++;
    if (tree != NULL && end == limit)
        return (struct kube_json *)(void *)tree;
    cJSON_Delete(tree);
    say_where(text, end < limit ? end : limit, error, a);
    return NULL;
}

void kube_json_free(struct kube_json **json)
{
    cJSON_Delete((cJSON *)(void *)*json);
    *json = NULL;
}

static const cJSON *member_of(const cJSON *object, const char *name, size_t len)
{
    const cJSON *found = NULL;
    if (!cJSON_IsObject(object))
        return NULL;
    for (const cJSON *c = object->child; c != NULL; c = c->next)
        if (strncmp(c->string, name, len) == 0 && c->string[len] == 0)
            found = c; /* no break: the last one wins */
    return cJSON_IsNull(found) ? NULL : found;
}

const struct kube_json *kube_json_get(const struct kube_json *object, const char *member)
{
    return outside(member_of(inside(object), member, strlen(member)));
}

const struct kube_json *kube_json_path(const struct kube_json *object, const char *path)
{
    const cJSON *at = inside(object);
    for (;;) {
        size_t len = strcspn(path, ".");
        at = member_of(at, path, len);
        if (path[len] == 0)
            return outside(at);
        path += len + 1;
    }
}

struct str kube_json_text(const struct kube_json *value)
{
    return cJSON_IsString(inside(value)) ? str_of(inside(value)->valuestring) : (struct str){0};
}

bool kube_json_number(const struct kube_json *value, double *number)
{
    if (!cJSON_IsNumber(inside(value)))
        return false;
    *number = inside(value)->valuedouble;
    return true;
}

bool kube_json_i64(const struct kube_json *value, int64_t *number)
{
    double d = 0;
    if (!kube_json_number(value, &d) || !(fabs(d) <= INTEGER_MAX) || d != floor(d))
        return false;
    *number = (int64_t)d;
    return true;
}

bool kube_json_true(const struct kube_json *value)
{
    return cJSON_IsTrue(inside(value));
}

bool kube_json_is_object(const struct kube_json *value)
{
    return cJSON_IsObject(inside(value));
}

bool kube_json_is_array(const struct kube_json *value)
{
    return cJSON_IsArray(inside(value));
}

bool kube_json_is_string(const struct kube_json *value)
{
    return cJSON_IsString(inside(value));
}

bool kube_json_is_bool(const struct kube_json *value)
{
    return cJSON_IsBool(inside(value));
}

bool kube_json_is_null(const struct kube_json *value)
{
    return cJSON_IsNull(inside(value));
}

const char *kube_json_kind(const struct kube_json *value)
{
    static const struct {
        int type;
        const char *name;
    } kinds[] = {{cJSON_Object, "an object"}, {cJSON_Array, "a list"},
                 {cJSON_String, "a string"},  {cJSON_Number, "a number"},
                 {cJSON_True, "a boolean"},   {cJSON_False, "a boolean"}};
    for (size_t i = 0; value != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if ((inside(value)->type & 0xff) == kinds[i].type)
            return kinds[i].name;
    return "null";
}

size_t kube_json_count(const struct kube_json *array_or_object)
{
    size_t count = 0;
    for (const struct kube_json *c = kube_json_first(array_or_object); c; c = kube_json_next(c))
        count++;
    return count;
}

const struct kube_json *kube_json_first(const struct kube_json *array_or_object)
{
    const cJSON *value = inside(array_or_object);
    return cJSON_IsObject(value) || cJSON_IsArray(value) ? outside(value->child) : NULL;
}

const struct kube_json *kube_json_next(const struct kube_json *child)
{
    return child ? outside(inside(child)->next) : NULL;
}

struct str kube_json_name(const struct kube_json *child)
{
    return child ? str_of(inside(child)->string) : (struct str){0};
}
