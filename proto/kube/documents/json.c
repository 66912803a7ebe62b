/* json: a reader of our own, because half of what an API server sends is never looked at and a tree
 * of many small allocations cost more than all the rest of an event. The one idea: the text is
 * copied once and its strings are made in place, values lie in few blocks. The tree is read-only
 * and forgiving to ask (any missing step gives NULL), so that conversions read like the API's field
 * paths. What must stay true: no number is handed out as an integer unless it is exactly that
 * integer; work and memory are bounded by the text's length. */
#include "proto/kube/documents/json_tree.h"

#include "proto/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of what is not written as an integer, such as 1e3, the greatest integer n such that n and n + 1
 * are both doubles: beyond it two texts may give the same double, so the value cannot be trusted.
 */
#define INTEGER_MAX 9007199254740991.0

#define DIGITS_EXACT  18 /* so many decimal digits are an int64_t */
#define BYTES_A_VALUE 24 /* of API objects, about */

/* ---- reading text ---- */

struct parser {
    char *at, *end;
    struct json_document *document;
    struct kube_json_unread unread;
    size_t depth;
    struct kube_json *levels[KUBE_JSON_DEPTH_MAX]; /* open containers */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(struct parser *p)
{
    while (p->at < p->end && is_space(*p->at))
        p->at++;
}

static bool hex4(const char *at, const char *end, unsigned *code)
{
    *code = 0;
    if (end - at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)at[i];
        unsigned digit = c >= '0' && c <= '9'   ? c - 48u
                         : c >= 'a' && c <= 'f' ? c - 'a' + 10u
                         : c >= 'A' && c <= 'F' ? c - 'A' + 10u
                                                : 16u;
        if (digit > 15)
            return false;
        *code = *code << 4 | digit;
    }
    return true;
}

static char *put_utf8(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(leads[more] | code >> (6 * more));
    while (more-- > 0)
        *to++ = (char)(0x80 | (code >> (6 * more) & 0x3f));
    return to;
}

#define REPLACEMENT 0xfffd

/* Behind \u: one code point, which may take two escapes. */
static bool read_unicode(struct parser *p, char **to)
{
    unsigned code, low;
    if (!hex4(p->at, p->end, &code))
        return false;
    p->at += 4;
    if (code >= 0xd800 && code <= 0xdfff) {
        bool pair = code <= 0xdbff && p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u' &&
                    hex4(p->at + 2, p->end, &low) && low >= 0xdc00 && low <= 0xdfff;
        p->at += pair ? 6 : 0;
        code = pair ? 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff)) : REPLACEMENT;
    }
    *to = put_utf8(*to, code); /* never longer than its escape */
    return true;
}

#define EACH_BYTE(b) (UINT64_C(0x0101010101010101) * (b))
#define PADDING      8 /* bytes behind the text, so that a whole word may be read anywhere in it */

/* The high bit of each byte of word that is b; of those above one that is, also without being it.
 */
static uint64_t bytes_that_are(uint64_t word, uint8_t b)
{
    uint64_t differs = word ^ EACH_BYTE(b);
    return (differs - EACH_BYTE(0x01)) & ~differs & EACH_BYTE(0x80);
}

/* The next quote or backslash, eight bytes at a time; end or more when there is none. */
static char *quote_or_escape(char *at, const char *end)
{
    while (at < end) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        if ((bytes_that_are(word, '"') | bytes_that_are(word, '\\')) != 0)
            break;
        at += sizeof(word);
    }
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

/* From the first backslash on: what is made is shorter than what is read. */
static bool read_escaped(struct parser *p, char *start, struct str *out)
{
    static const char from[] = "\"\\/bfnrt", made[] = "\"\\/\b\f\n\r\t";
    char *to = p->at;
    while (p->at < p->end && *p->at != '"') {
        if (*p->at != '\\') {
            *to++ = *p->at++;
            continue;
        }
        if (p->end - p->at < 2)
            return false;
        const char *known = memchr(from, p->at[1], sizeof(from) - 1);
        p->at += 2;
        if (known != NULL)
            *to++ = made[known - from];
        else if (p->at[-1] != 'u' || !read_unicode(p, &to))
            return false;
    }
    if (p->at == p->end)
        return false;
    p->at++;
    *to = 0;
    *out = (struct str){start, (uint32_t)(to - start)};
    return true;
}

/* At the opening quote. */
static bool read_string(struct parser *p, struct str *out)
{
    char *start = ++p->at;
    p->at = quote_or_escape(p->at, p->end);
    if (p->at >= p->end)
        return false;
    if (*p->at == '\\')
        return read_escaped(p, start, out);
    *out = (struct str){start, (uint32_t)(p->at - start)};
    *p->at++ = 0;
    return true;
}

static bool in_number(char c)
{
    return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E';
}

/* What is no plain integer, or a long one. Behind the text are zero bytes, so that its end may be
 * marked even there. */
static bool read_long_number(struct parser *p, size_t len, bool plain, struct kube_json *value)
{
    char *behind = p->at, after = p->at[len];
    int64_t whole;
    if (plain && str_to_i64((struct str){p->at, (uint32_t)len}, &whole)) {
        json_put_whole(value, whole);
        p->at += len;
        return true;
    }
    value->kind = JSON_number;
    value->count = 0;
    p->at[len] = 0;
    value->number = strtod(p->at, &behind);
    p->at[len] = after;
    bool some = behind > p->at;
    p->at = behind;
    return some;
}

static bool read_number(struct parser *p, struct kube_json *value)
{
    size_t len = 0;
    bool negative = *p->at == '-', plain = true;
    int64_t whole = 0;
    for (; in_number(p->at[len]); len++) { /* a zero byte is behind the text */
        char c = p->at[len];
        if (c >= '0' && c <= '9')
            whole = len < DIGITS_EXACT ? whole * 10 + (c - '0') : 0;
        else
            plain = plain && len == 0;
    }
    if (!plain || len == negative || len > DIGITS_EXACT)
        return read_long_number(p, len, plain, value);
    json_put_whole(value, negative ? -whole : whole);
    p->at += len;
    return true;
}

static bool read_word(struct parser *p, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(p->end - p->at) < len || memcmp(p->at, word, len) != 0)
        return false;
    p->at += len;
    return true;
}

/* A container is only opened. */
static bool read_value(struct parser *p, struct kube_json *value)
{
    skip_space(p);
    char c = '\0';
    if (p->at < p->end)
        c = *p->at;
    if (c == '"') {
        value->kind = JSON_string;
        return read_string(p, &value->text);
    }
    if (c == '{' || c == '[') {
        value->kind = c == '{' ? JSON_object : JSON_array;
        value->child = value->last = NULL;
        if (p->depth == KUBE_JSON_DEPTH_MAX)
            return false;
        p->levels[p->depth++] = value;
        p->at++;
        return true;
    }
    if (c == '-' || (c >= '0' && c <= '9'))
        return read_number(p, value);
    value->kind = c == 't' ? JSON_true : c == 'f' ? JSON_false : JSON_null;
    return read_word(p, c == 't' ? "true" : c == 'f' ? "false" : "null");
}

/* A list or an object that is not read; only its brackets and strings are looked at. */
static bool skip_container(struct parser *p)
{
    size_t open = 0;
    do {
        char c = *p->at++;
        if (c == '[' || c == '{') {
            open++;
        } else if (c == ']' || c == '}') {
            open--;
        } else if (c == '"') {
            while ((p->at = quote_or_escape(p->at, p->end)) < p->end && *p->at == '\\')
                p->at += 2;
            p->at++;
        }
    } while (open > 0 && p->at < p->end);
    return open == 0 && p->at <= p->end;
}

/* At a member's name; moves on to the value. */
static bool read_name(struct parser *p, struct str *name)
{
    skip_space(p);
    if (p->at == p->end || *p->at != '"' || !read_string(p, name))
        return false;
    skip_space(p);
    if (p->at == p->end || *p->at != ':')
        return false;
    p->at++;
    return true;
}

static bool begins(struct parser *p, char c)
{
    skip_space(p);
    return p->at < p->end && *p->at == c;
}

/* Whether the member that comes is not read; then it is passed, *good: to its end. */
static bool pass(struct parser *p, struct kube_json *in, struct str name, bool *good)
{
    if (name.len == 0)
        return false;
    if (name.len == p->unread.lists.len && str_equal(name, p->unread.lists) && begins(p, '[')) {
        *good = skip_container(p);
        return true;
    }
    if (name.len != p->unread.verbatim.len || !str_equal(name, p->unread.verbatim) ||
        !begins(p, '{'))
        return false;
    const char *start = p->at;
    *good = skip_container(p);
    struct kube_json *value = json_add(p->document, in, name);
    value->kind = JSON_string;
    value->text = (struct str){start, (uint32_t)(p->at - start)};
    return true;
}

/* Finds the place of the next value, closing what ends before it. NULL with true: the end. */
static bool next_place(struct parser *p, struct kube_json **place)
{
    *place = NULL;
    bool first = p->depth > 0 && p->levels[p->depth - 1]->child == NULL;
    while (p->depth > 0) {
        struct kube_json *in = p->levels[p->depth - 1];
        bool object = in->kind == JSON_object;
        skip_space(p);
        if (p->at == p->end)
            return false;
        if (*p->at == (object ? '}' : ']')) {
            p->at++;
            p->depth--;
            first = false;
            continue;
        }
        if (!first && *p->at != ',')
            return false;
        p->at += !first;
        struct str name = {NULL, 0};
        bool good = true;
        if (object && !read_name(p, &name))
            return false;
        first = false;
        if (object && pass(p, in, name, &good)) {
            if (!good)
                return false;
            continue;
        }
        *place = json_add(p->document, in, name);
        return true;
    }
    return true;
}

static bool read_document(struct parser *p)
{
    struct kube_json *place = &p->document->root;
    while (place != NULL)
        if (!read_value(p, place) || !next_place(p, &place))
            return false;
    skip_space(p);
    return p->at == p->end;
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

struct kube_json *kube_json_parse_without(struct str text, const struct kube_json_unread *unread,
                                          struct str *error, struct arena *a)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of the byte order; Go's tools may write it */
    struct json_document *d = json_document_new(text.len / BYTES_A_VALUE);
    d->text = memory_resize(NULL, (size_t)text.len + PADDING);
    memset(d->text + text.len, 0, PADDING);
    if (text.len > 0)
        memcpy(d->text, text.at, text.len);
    struct parser p; /* large, and all but its levels is set here */
    p.at = d->text;
    p.end = d->text + text.len;
    p.document = d;
    p.unread = *unread;
    p.depth = 0;
    if (text.len >= 3 && memcmp(p.at, mark, 3) == 0)
        p.at += 3;
    if (read_document(&p))
        return &d->root;
    const char *at = p.at < p.end ? text.at + (p.at - d->text) : text.at + text.len;
    say_where(text, text.len > 0 ? at : text.at, error, a);
    struct kube_json *root = &d->root;
    kube_json_free(&root);
    return NULL;
}

struct kube_json *kube_json_parse(struct str text, struct str *error, struct arena *a)
{
    return kube_json_parse_without(text, &(struct kube_json_unread){{NULL, 0}, {NULL, 0}}, error,
                                   a);
}

/* ---- asking ---- */

static const struct kube_json *member_of(const struct kube_json *object, const char *name,
                                         size_t len)
{
    const struct kube_json *found = NULL;
    if (object == NULL || object->kind != JSON_object)
        return NULL;
    for (const struct kube_json *c = object->child; c != NULL; c = c->next)
        if (c->name.len == len && memcmp(c->name.at, name, len) == 0)
            found = c; /* no break: the last one wins */
    return found != NULL && found->kind == JSON_null ? NULL : found;
}

const struct kube_json *kube_json_get(const struct kube_json *object, const char *member)
{
    return member_of(object, member, strlen(member));
}

const struct kube_json *kube_json_path(const struct kube_json *object, const char *path)
{
    for (;;) {
        size_t len = strcspn(path, ".");
        object = member_of(object, path, len);
        if (path[len] == 0)
            return object;
        path += len + 1;
    }
}

static bool is(const struct kube_json *value, enum json_kind kind)
{
    return value != NULL && value->kind == kind;
}

struct str kube_json_text(const struct kube_json *value)
{
    return is(value, JSON_string) ? value->text : (struct str){0};
}

bool kube_json_number(const struct kube_json *value, double *number)
{
    if (!is(value, JSON_number))
        return false;
    *number = value->number;
    return true;
}

bool kube_json_i64(const struct kube_json *value, int64_t *number)
{
    double d = 0;
    if (!kube_json_number(value, &d))
        return false;
    if (value->count > 0) {
        *number = value->whole;
        return true;
    }
    if (!(fabs(d) <= INTEGER_MAX) || d != floor(d))
        return false;
    *number = (int64_t)d;
    return true;
}

bool kube_json_true(const struct kube_json *value)
{
    return is(value, JSON_true);
}

bool kube_json_is_object(const struct kube_json *value)
{
    return is(value, JSON_object);
}

bool kube_json_is_array(const struct kube_json *value)
{
    return is(value, JSON_array);
}

bool kube_json_is_string(const struct kube_json *value)
{
    return is(value, JSON_string);
}

bool kube_json_is_bool(const struct kube_json *value)
{
    return is(value, JSON_true) || is(value, JSON_false);
}

bool kube_json_is_null(const struct kube_json *value)
{
    return is(value, JSON_null);
}

const char *kube_json_kind(const struct kube_json *value)
{
    static const char *const names[] = {
        [JSON_null] = "null",       [JSON_false] = "a boolean", [JSON_true] = "a boolean",
        [JSON_number] = "a number", [JSON_string] = "a string", [JSON_array] = "a list",
        [JSON_object] = "an object"};
    return names[value != NULL ? value->kind : JSON_null];
}

static bool holds(const struct kube_json *value)
{
    return is(value, JSON_object) || is(value, JSON_array);
}

const char *kube_json_go_kind(const struct kube_json *value)
{
    static const char *const names[] = {
        [JSON_null] = "null",     [JSON_false] = "bool",    [JSON_true] = "bool",
        [JSON_number] = "number", [JSON_string] = "string", [JSON_array] = "array",
        [JSON_object] = "object"};
    return value != NULL ? names[value->kind] : "nothing";
}

size_t kube_json_count(const struct kube_json *array_or_object)
{
    return holds(array_or_object) ? array_or_object->count : 0;
}

const struct kube_json *kube_json_first(const struct kube_json *array_or_object)
{
    return holds(array_or_object) ? array_or_object->child : NULL;
}

const struct kube_json *kube_json_next(const struct kube_json *child)
{
    return child ? child->next : NULL;
}

struct str kube_json_name(const struct kube_json *child)
{
    return child ? child->name : (struct str){0};
}
