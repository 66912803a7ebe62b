/* JSON text to trees and back.
 *
 * The one idea: most names of members come again and again, so they are kept once, for ever, and a
 * tree borrows them as cJSON allows (cJSON_StringIsConst). What must hold: what is printed is what
 * cJSON would print, to the byte where texts are UTF-8, and what is read is what it would read. */
#include "tree_text.h"

#include "proto/base/json_string.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 100, NAME_MOST = 48, NAMES = 2048, SLOTS = 4 * NAMES, NUMBER_ROOM = 64 };

struct reader {
    const char *at, *end;
    int depth;
};

/* ---- names ---- */

static struct {
    char *slots[SLOTS];
    uint32_t count;
} names;

static uint32_t hash_of(const char *at, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)at[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* NULL: it is long, or there are too many. */
static char *name_kept(const char *at, size_t size)
{
    if (size > NAME_MOST)
        return NULL;
    for (uint32_t slot = hash_of(at, size) % SLOTS;; slot = (slot + 1) % SLOTS) {
        char *known = names.slots[slot];
        if (known != NULL && strncmp(known, at, size) == 0 && known[size] == 0)
            return known;
        if (known != NULL)
            continue;
        if (names.count == NAMES)
            return NULL;
        names.count++;
        return names.slots[slot] = memory_copy(at, size);
    }
}

/* No deeper than DEPTH, or than the tree is. */
/* NOLINTBEGIN(misc-no-recursion) */

/* ---- reading ---- */

static cJSON *read_value(struct reader *r);

static cJSON *node_new(int type)
{
    cJSON *node = memory_take(sizeof *node);
    node->type = type;
    return node;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (unsigned char)*r->at <= ' ')
        r->at++;
}

/* What comes next is this, and is passed. */
static bool passes(struct reader *r, char wanted)
{
    skip_space(r);
    if (r->at == r->end || *r->at != wanted)
        return false;
    r->at++;
    return true;
}

/* Behind the opening quote. Its raw bytes, up to the closing one; false when there is none. */
static bool find_end(struct reader *r, const char **begin, size_t *size, bool *escapes)
{
    const char *at = r->at;
    *begin = at;
    *escapes = false;
    while (at < r->end && *at != '"') {
        bool escape = *at == '\\';
        *escapes |= escape;
        at += escape ? 2 : 1;
    }
    if (at >= r->end)
        return false;
    *size = (size_t)(at - *begin);
    r->at = at + 1;
    return true;
}

static bool unescape(char *text, size_t size)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char *to = text;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\\') {
            *to++ = text[i];
            continue;
        }
        const char *which = strchr(letters, text[++i]);
        if (which == NULL || *which == 0)
            return false;
        *to++ = meanings[which - letters];
    }
    *to = 0;
    return true;
}

/* Behind the opening quote; NULL when it is wrong. */
static char *read_text(struct reader *r, bool may_be_kept, bool *kept)
{
    const char *begin;
    size_t size;
    bool escapes;
    *kept = false;
    if (!find_end(r, &begin, &size, &escapes))
        return NULL;
    char *text = may_be_kept && !escapes ? name_kept(begin, size) : NULL;
    *kept = text != NULL;
    if (text == NULL)
        text = memory_copy(begin, size);
    if (!escapes || unescape(text, size))
        return text;
    memory_free(text);
    return NULL;
}

static cJSON *read_string(struct reader *r)
{
    bool kept;
    char *text = read_text(r, false, &kept);
    if (text == NULL)
        return NULL;
    cJSON *node = node_new(cJSON_String);
    node->valuestring = text;
    return node;
}

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == 'e' || c == 'E' || c == '.';
}

static cJSON *read_number(struct reader *r)
{
    char text[NUMBER_ROOM], *end;
    size_t size = 0;
    if (*r->at != '-' && (*r->at < '0' || *r->at > '9'))
        return NULL;
    while (r->at + size < r->end && size < sizeof text - 1 && is_of_number(r->at[size])) {
        text[size] = r->at[size];
        size++;
    }
    text[size] = 0;
    double value = strtod(text, &end);
    if (end == text)
        return NULL;
    r->at += end - text;
    cJSON *node = node_new(cJSON_Number);
    node->valuedouble = value;
    node->valueint = value >= INT32_MAX ? INT32_MAX : value <= INT32_MIN ? INT32_MIN : (int)value;
    return node;
}

static cJSON *read_word(struct reader *r)
{
    static const struct {
        const char *word;
        int type, value;
    } words[] = {{"null", cJSON_NULL, 0}, {"false", cJSON_False, 0}, {"true", cJSON_True, 1}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i].word);
        if ((size_t)(r->end - r->at) < size || memcmp(r->at, words[i].word, size) != 0)
            continue;
        r->at += size;
        cJSON *node = node_new(words[i].type);
        node->valueint = words[i].value;
        return node;
    }
    return NULL;
}

/* One more child of an array or an object; with its name when that is an object. */
static bool read_child(struct reader *r, cJSON *parent, bool named)
{
    bool kept = false;
    char *name = NULL;
    if (named && (!passes(r, '"') || (name = read_text(r, true, &kept)) == NULL))
        return false;
    cJSON *child = !named || passes(r, ':') ? read_value(r) : NULL;
    if (child == NULL) {
        if (!kept)
            memory_free(name);
        return false;
    }
    child->string = name;
    child->type |= kept ? cJSON_StringIsConst : 0;
    cJSON *first = parent->child, *last = first != NULL ? first->prev : NULL;
    if (last == NULL)
        parent->child = child;
    else
        last->next = child;
    child->prev = last;
    parent->child->prev = child; /* as cJSON has it, the first one knows the last */
    return true;
}

static cJSON *read_children(struct reader *r, int type, char end)
{
    cJSON *node = node_new(type);
    bool good = ++r->depth < DEPTH;
    if (!good || !passes(r, end))
        do
            good = good && read_child(r, node, type == cJSON_Object);
        while (good && passes(r, ','));
    good = good && (node->child == NULL || passes(r, end));
    r->depth--;
    if (good)
        return node;
    cJSON_Delete(node);
    return NULL;
}

static cJSON *read_value(struct reader *r)
{
    skip_space(r);
    if (r->at == r->end)
        return NULL;
    switch (*r->at) {
    case '"': r->at++; return read_string(r);
    case '{': r->at++; return read_children(r, cJSON_Object, '}');
    case '[': r->at++; return read_children(r, cJSON_Array, ']');
    case 'n':
    case 't':
    case 'f': return read_word(r);
    default: return read_number(r);
    }
}

cJSON *tree_text_read(const char *bytes, size_t size)
{
    struct reader r = {bytes, bytes + size, 0};
    return read_value(&r);
}

/* ---- printing ---- */

static void add(struct buffer *out, const char *bytes, size_t size)
{
    memcpy(buffer_reserve(out, size), bytes, size);
    out->len += size;
}

/* As short as it can be without becoming another number. */
static void print_number(struct buffer *out, const cJSON *node)
{
    char text[NUMBER_ROOM];
    double d = node->valuedouble;
    int size;
    if (isnan(d) || isinf(d)) {
        size = snprintf(text, sizeof text, "null");
    } else if (d == (double)node->valueint && !signbit(d)) {
        size = snprintf(text, sizeof text, "%d", node->valueint); /* the same, sooner */
    } else {
        size = snprintf(text, sizeof text, "%1.15g", d);
        double again = strtod(text, NULL), most = fmax(fabs(again), fabs(d));
        if (fabs(again - d) > most * 2.2204460492503131e-16)
            size = snprintf(text, sizeof text, "%1.17g", d);
    }
    add(out, text, (size_t)size);
}

static void print_children(struct buffer *out, const cJSON *node, bool named)
{
    add(out, named ? "{" : "[", 1);
    for (const cJSON *child = node->child; child != NULL; child = child->next) {
        if (child != node->child)
            add(out, ",", 1);
        if (named) {
            json_string(out, str_of(child->string));
            add(out, ":", 1);
        }
        tree_text_print(child, out);
    }
    add(out, named ? "}" : "]", 1);
}

void tree_text_print(const cJSON *tree, struct buffer *out)
{
    switch (tree->type & 0xFF) {
    case cJSON_NULL: add(out, "null", 4); break;
    case cJSON_False: add(out, "false", 5); break;
    case cJSON_True: add(out, "true", 4); break;
    case cJSON_Number: print_number(out, tree); break;
    case cJSON_String: json_string(out, str_of(tree->valuestring)); break;
    case cJSON_Array: print_children(out, tree, false); break;
    case cJSON_Object: print_children(out, tree, true); break;
    default: must(!"a tree holds something that no text can say");
    }
}
/* NOLINTEND(misc-no-recursion) */
