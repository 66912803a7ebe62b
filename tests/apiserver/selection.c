/* Label and field selectors as kubectl and client-go write them.
 *
 * The one idea: both kinds become a list of requirements (subject, operator, values) of which
 * all must hold; a field requirement reads the object's indexed fields, a label requirement its
 * indexed labels, so matching never parses an object. */
#include "selection.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum relation { IN, NOT_IN, EXISTS, ABSENT, GREATER, LESS };
enum subject { SUBJECT_LABEL, SUBJECT_NAME, SUBJECT_NAMESPACE, SUBJECT_FIELD };

struct requirement {
    enum subject subject;
    enum relation relation;
    char *key;
    int field;
    char **values;
    size_t value_count;
};

struct selection {
    struct requirement *all;
    size_t count;
};

static struct requirement *selection_add(struct selection *s, enum subject subject, char *key)
{
    s->all = memory_resize(s->all, (s->count + 1) * sizeof *s->all);
    s->all[s->count] = (struct requirement){.subject = subject, .key = key};
    return &s->all[s->count++];
}

static void requirement_value(struct requirement *r, const char *value, size_t size)
{
    r->values = memory_resize(r->values, (r->value_count + 1) * sizeof *r->values);
    r->values[r->value_count++] = memory_copy(value, size);
}

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static size_t word_size(const char *at)
{
    return strcspn(at, ",=!<>() \t\n");
}

static void unexpected(struct buffer *reason, const char *at, const char *expected)
{
    size_t size = word_size(at);
    if (size == 0 && *at)
        size = 1;
    buffer_print(reason, "unable to parse requirement: found '%.*s' expected: %s", (int)size, at,
                 expected);
}

/* The values of "in (a,b)" and "notin (a,b)"; at stands on the parenthesis. */
static const char *parse_set(struct requirement *r, const char *at, struct buffer *reason)
{
    if (*at != '(') {
        unexpected(reason, at, "'('");
        return NULL;
    }
    at = skip_space(at + 1);
    while (*at != ')') {
        size_t size = word_size(at);
        requirement_value(r, at, size);
        at = skip_space(at + size);
        if (*at == ',') {
            at = skip_space(at + 1);
        } else if (*at != ')') {
            unexpected(reason, at, "',' or ')'");
            return NULL;
        }
    }
    return at + 1;
}

static bool keyword(const char **at, const char *word)
{
    size_t size = strlen(word);
    if (strncmp(*at, word, size) != 0 || (isalnum((unsigned char)(*at)[size])))
        return false;
    *at = skip_space(*at + size);
    return true;
}

/* The operator and the values after a key. */
static const char *parse_condition(struct requirement *r, const char *at, struct buffer *reason)
{
    if (keyword(&at, "notin")) {
        r->relation = NOT_IN;
        return parse_set(r, at, reason);
    }
    if (keyword(&at, "in"))
        return parse_set(r, at, reason);
    if (*at == '>' || *at == '<') {
        r->relation = *at == '>' ? GREATER : LESS;
        at++;
    } else if (at[0] == '!' && at[1] == '=') {
        r->relation = NOT_IN;
        at += 2;
    } else if (*at == '=') {
        at += at[1] == '=' ? 2 : 1;
    } else {
        unexpected(reason, at, "in, notin, =, ==, !=, gt, lt");
        return NULL;
    }
    at = skip_space(at);
    size_t size = word_size(at);
    requirement_value(r, at, size);
    return at + size;
}

static bool parse_labels(struct selection *s, const char *at, struct buffer *reason)
{
    for (at = skip_space(at); *at; at = skip_space(at)) {
        bool absent = *at == '!';
        if (absent)
            at = skip_space(at + 1);
        size_t size = word_size(at);
        if (size == 0) {
            unexpected(reason, at, "identifier");
            return false;
        }
        struct requirement *r = selection_add(s, SUBJECT_LABEL, memory_copy(at, size));
        at = skip_space(at + size);
        if (absent || *at == ',' || *at == 0)
            r->relation = absent ? ABSENT : EXISTS;
        else
            at = parse_condition(r, at, reason);
        if (at == NULL)
            return false;
        at = skip_space(at);
        if (*at == ',')
            at++;
        else if (*at) {
            unexpected(reason, at, "',' or end");
            return false;
        }
    }
    return true;
}

static bool field_subject(const struct resource *resource, struct requirement *r)
{
    if (strcmp(r->key, "metadata.name") == 0) {
        r->subject = SUBJECT_NAME;
    } else if (strcmp(r->key, "metadata.namespace") == 0) {
        r->subject = SUBJECT_NAMESPACE;
    } else {
        r->subject = SUBJECT_FIELD;
        r->field = resource_field(resource, r->key);
    }
    return r->subject != SUBJECT_FIELD || r->field >= 0;
}

static bool parse_fields(struct selection *s, const struct resource *resource, const char *at,
                         struct buffer *reason)
{
    while (*at) {
        size_t part = strcspn(at, ",");
        size_t size = strcspn(at, "=!,");
        if (size == part) {
            buffer_print(reason, "invalid selector: '%.*s'; can't understand '%.*s'", (int)part, at,
                         (int)part, at);
            return false;
        }
        struct requirement *r = selection_add(s, SUBJECT_FIELD, memory_copy(at, size));
        r->relation = at[size] == '!' ? NOT_IN : IN;
        const char *value = at + size + (at[size] == '!' || at[size + 1] == '=' ? 2 : 1);
        requirement_value(r, value, part > (size_t)(value - at) ? part - (size_t)(value - at) : 0);
        if (!field_subject(resource, r)) {
            buffer_print(reason, "field label not supported: %s", r->key);
            return false;
        }
        at += part + (at[part] == ',');
    }
    return true;
}

struct selection *selection_parse(const struct resource *resource, const char *labels,
                                  const char *fields, struct buffer *reason)
{
    struct selection *s = memory_take(sizeof *s);
    if ((labels == NULL || parse_labels(s, labels, reason)) &&
        (fields == NULL || parse_fields(s, resource, fields, reason)))
        return s;
    selection_free(s);
    return NULL;
}

static bool among(const struct requirement *r, const char *value)
{
    for (size_t i = 0; i < r->value_count; i++) {
        if (strcmp(r->values[i], value) == 0)
            return true;
    }
    return false;
}

static bool compares(const struct requirement *r, const char *value)
{
    char *end = NULL, *end_wanted = NULL;
    long long found = strtoll(value, &end, 10);
    long long wanted = strtoll(r->values[0], &end_wanted, 10);
    if (*value == 0 || *end || *end_wanted)
        return false;
    return r->relation == GREATER ? found > wanted : found < wanted;
}

static bool label_holds(const struct requirement *r, const char *value)
{
    switch (r->relation) {
    case IN: return value != NULL && among(r, value);
    case NOT_IN: return value == NULL || !among(r, value);
    case EXISTS: return value != NULL;
    case ABSENT: return value == NULL;
    default: return value != NULL && compares(r, value);
    }
}

static const char *subject_value(const struct requirement *r, const struct object *object)
{
    switch (r->subject) {
    case SUBJECT_NAME: return object->name;
    case SUBJECT_NAMESPACE: return object->namespace;
    case SUBJECT_FIELD: return object->fields[r->field];
    default: return object_label(object, r->key);
    }
}

bool selection_matches(const struct selection *selection, const struct object *object)
{
    for (size_t i = 0; i < selection->count; i++) {
        if (!label_holds(&selection->all[i], subject_value(&selection->all[i], object)))
            return false;
    }
    return true;
}

bool selection_is_empty(const struct selection *selection)
{
    return selection->count == 0;
}

void selection_free(struct selection *selection)
{
    if (selection == NULL)
        return;
    for (size_t i = 0; i < selection->count; i++) {
        struct requirement *r = &selection->all[i];
        for (size_t v = 0; v < r->value_count; v++)
            memory_free(r->values[v]);
        memory_free(r->values);
        memory_free(r->key);
    }
    memory_free(selection->all);
    memory_free(selection);
}
