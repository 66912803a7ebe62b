/* yaml: libyaml's events built into a tree, which is read again as JSON. The one idea: an explicit
 * stack of open containers, each knowing how heavy and how tall it is, so that what an alias would
 * copy is known before it is copied. What must stay true: the work and memory are bounded by the
 * text plus ALIAS_BYTES_MAX, and nothing is nested deeper than DEPTH_MAX. */
#include "proto/kube/documents/json.h"
#include "proto/kube/documents/yaml_scalar.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define ALIAS_BYTES_MAX (16u << 20)
#define DEPTH_MAX       1000
#define NODE_BYTES      64u /* what one value costs besides its text, roughly */
#define TAG(name)       "tag:yaml.org,2002:" name

/* How much a value holds: for bounding what aliases copy. */
struct weight {
    size_t bytes;
    size_t height;
};

struct anchor {
    cJSON *node;
    struct weight weight;
};

enum expects { EXPECTS_item, EXPECTS_key, EXPECTS_value, EXPECTS_merge };

/* A container that is being filled. */
struct frame {
    cJSON *container;
    enum expects expects;
    char *key;        /* of the value that comes next */
    struct map *keys; /* seen in this mapping */
    char *anchor;     /* its own name, or NULL */
    cJSON *merges;    /* array of what stands behind <<; NULL: none */
    struct weight weight;
};

struct builder {
    yaml_parser_t parser;
    const yaml_event_t *event;
    struct frame *frames;
    size_t depth, room;
    cJSON *documents;
    cJSON *used_merges; /* kept to the end, because anchors may point into them */
    struct map *anchors;
    size_t alias_bytes;
    struct str *error;
    struct arena *arena;
    bool first_only; /* one document, and errors as Go's library words them */
};

static bool fail(struct builder *b, const char *what, const char *detail)
{
    if (b->error != NULL)
        *b->error =
            arena_print(b->arena, "line %zu, column %zu: %s%.100s", b->event->start_mark.line + 1,
                        b->event->start_mark.column + 1, what, detail);
    return false;
}

static struct frame *top(struct builder *b)
{
    return b->depth > 0 ? &b->frames[b->depth - 1] : NULL;
}

static void anchors_forget(struct builder *b)
{
    size_t at = 0;
    struct str name;
    void *anchor;
    while (map_next(b->anchors, &at, &name, &anchor))
        memory_free(anchor);
    map_free(&b->anchors);
    b->anchors = map_new();
}

static void anchor_set(struct builder *b, const void *name, struct anchor anchor)
{
    if (name == NULL)
        return;
    struct anchor *entry = memory_take(sizeof(*entry));
    *entry = anchor;
    memory_free(map_set(b->anchors, str_of(name), entry));
}

/* Hands a new value to the container that is open. */
static void place(struct builder *b, cJSON *node)
{
    struct frame *f = top(b);
    if (f == NULL) {
        cJSON_AddItemToArray(b->documents, node);
        return;
    }
    switch (f->expects) {
    case EXPECTS_merge: cJSON_AddItemToArray(f->merges, node); break;
    case EXPECTS_value: cJSON_AddItemToObject(f->container, f->key, node); break;
    case EXPECTS_item:
    case EXPECTS_key: cJSON_AddItemToArray(f->container, node); break;
    }
    if (f->expects != EXPECTS_item)
        f->expects = EXPECTS_key;
    memory_free(f->key);
    f->key = NULL;
}

/* Tells the container that is open how heavy the value just completed in it is. */
static void weigh(struct builder *b, struct weight w)
{
    struct frame *f = top(b);
    if (f == NULL)
        return;
    f->weight.bytes += w.bytes;
    if (f->weight.height <= w.height)
        f->weight.height = w.height + 1;
}

static bool charge(struct builder *b, struct weight w)
{
    b->alias_bytes += w.bytes;
    if (b->alias_bytes > ALIAS_BYTES_MAX)
        return fail(b, "aliases expand to too much", "");
    if (b->depth + w.height >= DEPTH_MAX)
        return fail(b, "nested too deeply", "");
    return true;
}

/* ---- scalars ---- */

static bool wanted_by_tag(const char *tag, enum yaml_kind kind)
{
    if (strcmp(tag, TAG("int")) == 0)
        return kind == YAML_integer;
    if (strcmp(tag, TAG("float")) == 0)
        return kind == YAML_integer || kind == YAML_float;
    if (strcmp(tag, TAG("bool")) == 0)
        return kind == YAML_bool;
    if (strcmp(tag, TAG("null")) == 0)
        return kind == YAML_null;
    return kind == YAML_text;
}

static bool resolve(struct builder *b, struct yaml_value *value)
{
    const char *text = (const char *)b->event->data.scalar.value;
    const char *tag = (const char *)b->event->data.scalar.tag;
    *value = (struct yaml_value){.kind = YAML_text};
    if (strlen(text) != b->event->data.scalar.length)
        return fail(b, "text with a zero byte", "");
    if (tag != NULL && strcmp(tag, TAG("binary")) == 0)
        return fail(b, "!!binary is not supported", "");
    bool typed = tag != NULL && strncmp(tag, TAG(""), strlen(TAG(""))) == 0 &&
                 strcmp(tag, TAG("str")) != 0 && strcmp(tag, TAG("timestamp")) != 0;
    if (typed || (tag == NULL && b->event->data.scalar.plain_implicit))
        *value = yaml_value_of(text);
    if (value->kind == YAML_not_finite)
        return fail(b, "JSON has no number ", text);
    if (typed && !wanted_by_tag(tag, value->kind))
        return fail(b, "the value does not have the type of its tag ", tag);
    return true;
}

/* Written so that the very same number is read again; cJSON would round it. */
static cJSON *number_node(double number)
{
    char digits[40];
    snprintf(digits, sizeof(digits), "%.17g", number);
    return cJSON_CreateRaw(digits);
}

static cJSON *integer_node(const struct yaml_value *value)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%lld", (long long)value->integer);
    return cJSON_CreateRaw(digits);
}

static cJSON *scalar_node(const struct yaml_value *value, const char *text)
{
    switch (value->kind) {
    case YAML_null: return cJSON_CreateNull();
    case YAML_bool: return cJSON_CreateBool(value->truth);
    case YAML_integer: return integer_node(value);
    case YAML_float: return number_node(value->number);
    case YAML_text:
    case YAML_not_finite: break;
    }
    return cJSON_CreateString(text);
}

/* Keys that are no strings become strings, as on the way to JSON everywhere. */
static bool key_text(struct builder *b, const struct yaml_value *value, char *out, size_t room)
{
    switch (value->kind) {
    case YAML_null: return fail(b, "a key must not be null", "");
    case YAML_bool: snprintf(out, room, "%s", value->truth ? "true" : "false"); return true;
    case YAML_integer: snprintf(out, room, "%lld", (long long)value->integer); return true;
    case YAML_float:
        for (int digits = 1; digits <= 9; digits++) {
            snprintf(out, room, "%.*g", digits, value->number);
            if (strtof(out, NULL) == (float)value->number)
                break;
        }
        return true;
    case YAML_text:
    case YAML_not_finite: break;
    }
    return true;
}

static bool say_twice(struct builder *b, const char *key)
{
    if (!b->first_only)
        return fail(b, "a key stands twice in one mapping: ", key);
    if (b->error != NULL)
        *b->error = arena_print(b->arena,
                                "strict decoding error: yaml: unmarshal errors: line %zu: key "
                                "\"%.100s\" already set in map",
                                b->event->start_mark.line + 1, key);
    return false;
}

static bool on_key(struct builder *b, struct frame *f)
{
    struct yaml_value value;
    char text[64];
    if (!resolve(b, &value) || !key_text(b, &value, text, sizeof(text)))
        return false;
    const char *raw = (const char *)b->event->data.scalar.value;
    if (b->event->data.scalar.plain_implicit && strcmp(raw, "<<") == 0) {
        if (f->merges == NULL)
            f->merges = cJSON_CreateArray();
        f->expects = EXPECTS_merge;
        return true;
    }
    struct str key = str_of(value.kind == YAML_text ? raw : text);
    if (f->keys == NULL)
        f->keys = map_new();
    if (map_set(f->keys, key, f) != NULL)
        return say_twice(b, raw);
    f->key = str_copy(key);
    f->expects = EXPECTS_value;
    f->weight.bytes += key.len;
    return true;
}

static bool on_scalar(struct builder *b)
{
    struct frame *f = top(b);
    if (f != NULL && f->expects == EXPECTS_key)
        return on_key(b, f);
    struct yaml_value value;
    if (!resolve(b, &value))
        return false;
    if (f != NULL && f->expects == EXPECTS_merge)
        return fail(b, "<< wants a mapping or a list of mappings", "");
    cJSON *node = scalar_node(&value, (const char *)b->event->data.scalar.value);
    struct weight w = {.bytes = NODE_BYTES + b->event->data.scalar.length};
    place(b, node);
    weigh(b, w);
    anchor_set(b, b->event->data.scalar.anchor, (struct anchor){node, w});
    return true;
}

/* ---- aliases and containers ---- */

static bool on_alias(struct builder *b)
{
    const char *name = (const char *)b->event->data.alias.anchor;
    const struct anchor *anchor = map_get(b->anchors, str_of(name));
    struct frame *f = top(b);
    if (anchor == NULL)
        return fail(b, "unknown anchor ", name);
    for (size_t i = 0; i < b->depth; i++)
        if (b->frames[i].container == anchor->node)
            return fail(b, "an anchor's value contains itself: ", name);
    if (f != NULL && f->expects == EXPECTS_key)
        return fail(b, "a key must be a scalar, not the alias ", name);
    if (f != NULL && f->expects == EXPECTS_merge && !cJSON_IsObject(anchor->node) &&
        !cJSON_IsArray(anchor->node))
        return fail(b, "<< wants a mapping or a list of mappings", "");
    struct weight w = anchor->weight;
    if (!charge(b, w))
        return false;
    cJSON *copy = cJSON_Duplicate(anchor->node, true);
    memory_free(copy->string); /* the name it had where it came from */
    copy->string = NULL;
    place(b, copy);
    weigh(b, w);
    return true;
}

static bool open_container(struct builder *b, cJSON *node, const void *anchor)
{
    struct frame *f = top(b);
    enum expects expects = cJSON_IsArray(node) ? EXPECTS_item : EXPECTS_key;
    if ((f != NULL && f->expects == EXPECTS_key) || b->depth >= DEPTH_MAX) {
        cJSON_Delete(node);
        return b->depth >= DEPTH_MAX ? fail(b, "nested too deeply", "")
                                     : fail(b, "a key must be a scalar", "");
    }
    place(b, node);
    anchor_set(b, anchor, (struct anchor){node, {0}});
    if (b->depth == b->room) {
        b->room = b->room ? b->room * 2 : 16;
        b->frames = memory_resize(b->frames, b->room * sizeof(*b->frames));
    }
    b->frames[b->depth++] = (struct frame){.container = node,
                                           .expects = expects,
                                           .anchor = anchor ? str_copy(str_of(anchor)) : NULL,
                                           .weight = {.bytes = NODE_BYTES}};
    return true;
}

/* Members of source that the mapping does not have itself. */
static bool merge_one(struct builder *b, struct frame *f, const cJSON *source)
{
    if (!cJSON_IsObject(source))
        return fail(b, "<< wants a mapping or a list of mappings", "");
    if (f->keys == NULL)
        f->keys = map_new();
    for (const cJSON *member = source->child; member != NULL; member = member->next) {
        struct str key = str_of(member->string);
        if (map_get(f->keys, key) != NULL)
            continue;
        map_set(f->keys, key, f);
        cJSON *copy = cJSON_Duplicate(member, true);
        memory_free(copy->string);
        copy->string = NULL;
        cJSON_AddItemToObject(f->container, member->string, copy);
    }
    return true;
}

static bool merge(struct builder *b, struct frame *f)
{
    if (!charge(b, f->weight)) /* no less than all that the sources weigh */
        return false;
    for (const cJSON *source = f->merges->child; source != NULL; source = source->next) {
        if (!cJSON_IsArray(source)) {
            if (!merge_one(b, f, source))
                return false;
            continue;
        }
        for (const cJSON *one = source->child; one != NULL; one = one->next)
            if (!merge_one(b, f, one))
                return false;
    }
    f->weight.bytes *= 2;
    return true;
}

static void frame_drop(struct builder *b, struct frame *f)
{
    if (f->merges != NULL)
        cJSON_AddItemToArray(b->used_merges, f->merges);
    map_free(&f->keys);
    memory_free(f->key);
    memory_free(f->anchor);
    b->depth--;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(cJSON *const *)a)->string, (*(cJSON *const *)b)->string);
}

/* On its way to JSON a mapping gets sorted by Go, and errors are found in that order. */
static void sort_members(cJSON *object)
{
    size_t count = (size_t)cJSON_GetArraySize(object), n = 0;
    if (count < 2)
        return;
    cJSON **members = memory_take(count * sizeof(cJSON *));
    for (cJSON *c = object->child; c != NULL; c = c->next)
        members[n++] = c;
    qsort(members, count, sizeof(cJSON *), by_name);
    for (size_t i = 0; i < count; i++) {
        members[i]->prev = members[i > 0 ? i - 1 : count - 1];
        members[i]->next = i + 1 < count ? members[i + 1] : NULL;
    }
    object->child = members[0];
    memory_free(members);
}

static bool close_container(struct builder *b)
{
    struct frame *f = top(b);
    if (f->merges != NULL && !merge(b, f))
        return false;
    if (b->first_only && cJSON_IsObject(f->container))
        sort_members(f->container);
    struct weight w = f->weight;
    /* Unless the name was given to something else meanwhile, the anchor now knows its weight. */
    struct anchor *anchor = f->anchor ? map_get(b->anchors, str_of(f->anchor)) : NULL;
    if (anchor != NULL && anchor->node == f->container)
        anchor->weight = w;
    frame_drop(b, f);
    weigh(b, w);
    return true;
}

/* ---- the loop ---- */

static bool on_event(struct builder *b)
{
    const yaml_event_t *e = b->event;
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT: anchors_forget(b); return true;
    case YAML_SCALAR_EVENT: return on_scalar(b);
    case YAML_ALIAS_EVENT: return on_alias(b);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(b, cJSON_CreateArray(), e->data.sequence_start.anchor);
    case YAML_MAPPING_START_EVENT:
        return open_container(b, cJSON_CreateObject(), e->data.mapping_start.anchor);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return close_container(b);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT: break;
    }
    return true;
}

/* Its lines: where the construct began rather than where it broke, and a scanner's one further. */
static void say_as_go(struct builder *b, const char *problem)
{
    const yaml_parser_t *p = &b->parser;
    size_t line = p->context_mark.line != 0 ? p->context_mark.line : p->problem_mark.line;
    if (line != 0 && p->error == YAML_SCANNER_ERROR)
        line++;
    if (line != 0)
        *b->error = arena_print(b->arena, "yaml: line %zu: %s", line, problem);
    else
        *b->error = arena_print(b->arena, "yaml: %s", problem);
}

static void say_syntax(struct builder *b)
{
    const yaml_parser_t *p = &b->parser;
    const char *problem = p->problem ? p->problem : "malformed YAML";
    if (b->error == NULL)
        return;
    if (b->first_only)
        say_as_go(b, problem);
    else if (p->error == YAML_READER_ERROR)
        *b->error = arena_print(b->arena, "byte %zu: %s", p->problem_offset, problem);
    else
        *b->error = arena_print(b->arena, "line %zu, column %zu: %s", p->problem_mark.line + 1,
                                p->problem_mark.column + 1, problem);
}

static bool build(struct builder *b)
{
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&b->parser, &event)) {
            say_syntax(b);
            return false;
        }
        b->event = &event;
        bool good = on_event(b);
        more = event.type != YAML_STREAM_END_EVENT &&
               !(b->first_only && event.type == YAML_DOCUMENT_END_EVENT);
        yaml_event_delete(&event);
        b->event = NULL;
        if (!good)
            return false;
    }
    return true;
}

/* One document stands for itself, several are a list. */
static cJSON *take_documents(struct builder *b)
{
    for (cJSON *at = b->documents->child, *next = NULL; at != NULL; at = next) {
        next = at->next;
        if (cJSON_IsNull(at))
            cJSON_Delete(cJSON_DetachItemViaPointer(b->documents, at));
    }
    cJSON *result = b->documents;
    if (result->child == NULL)
        result = cJSON_CreateNull();
    else if (result->child->next == NULL)
        result = cJSON_DetachItemFromArray(result, 0);
    else
        b->documents = NULL;
    return result;
}

static struct kube_json *as_json(const cJSON *tree, struct arena *a)
{
    struct str error = {0};
    char *text = cJSON_PrintUnformatted(tree);
    must(text != NULL);
    struct kube_json *json = kube_json_parse(str_of(text), &error, a);
    must(json != NULL); /* what cJSON prints is JSON, and no deeper than what it was made of */
    cJSON_free(text);
    return json;
}

/* With a byte order mark, which editors may write. */
static bool is_marked(struct str text)
{
    return text.len >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0;
}

static struct kube_json *parse_yaml(struct str text, bool first_only, struct str *error,
                                    struct arena *a)
{
    struct builder b = {.error = error, .arena = a, .first_only = first_only};
    yaml_parser_initialize(&b.parser);
    if (!is_marked(text)) /* libyaml takes a mark away only when it looks for the encoding itself */
        yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    const char *at = text.len > 0 ? text.at : ""; /* libyaml wants a place even for no text */
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)at, text.len);
    b.documents = cJSON_CreateArray();
    b.used_merges = cJSON_CreateArray();
    b.anchors = map_new();
    cJSON *result = build(&b) ? take_documents(&b) : NULL;
    while (b.depth > 0)
        frame_drop(&b, top(&b));
    memory_free(b.frames);
    anchors_forget(&b);
    map_free(&b.anchors);
    cJSON_Delete(b.used_merges);
    cJSON_Delete(b.documents);
    yaml_parser_delete(&b.parser);
    struct kube_json *json = result != NULL ? as_json(result, a) : NULL;
    cJSON_Delete(result);
    return json;
}

static void *take(size_t size)
{
    return memory_resize(NULL, size);
}

static void hook(void)
{
    static bool hooked;
    if (!hooked)
        cJSON_InitHooks(&(cJSON_Hooks){take, memory_free});
    hooked = true;
}

static bool looks_like_json(struct str text)
{
    uint32_t i = is_marked(text) ? 3 : 0;
    while (i < text.len && strchr(" \t\r\n", text.at[i]) != NULL && text.at[i] != 0)
        i++;
    return i < text.len && text.at[i] == '{';
}

struct kube_json *kube_json_parse_yaml(struct str text, struct str *error, struct arena *a)
{
    hook();
    struct kube_json *json = looks_like_json(text) ? kube_json_parse(text, NULL, a) : NULL;
    return json ? json : parse_yaml(text, false, error, a);
}

struct kube_json *kube_json_parse_config(struct str text, struct str *error, struct arena *a)
{
    struct buffer why = {0};
    hook();
    if (is_marked(text) || !looks_like_json(text)) /* Go takes what begins with { for JSON */
        return parse_yaml(text, true, error, a);
    bool good = kube_json_explain(text, &why);
    if (!good && error != NULL)
        *error = arena_print(a, "couldn't get version/kind; json parse error: %s", why.at);
    buffer_free(&why);
    return good ? kube_json_parse(text, error, a) : NULL;
}
