/* codec_text: the readable forms of records: one line of text that can be parsed back (the tap's
 * output is a scenario's input), a JSON object, and the tables of MESSAGES.md.
 *
 *     record := { name "=" value }          separated by blanks, zero fields left out
 *     value  := true | false | integer | "string" | "[" { element } "]" | "{" record "}"
 *     element := "string" | "{" record "}"
 *
 * Strings escape \" and \\, and as \xNN every control byte and every byte that is no part of valid
 * UTF-8, so that any bytes survive; JSON output cannot carry such bytes and shows U+FFFD instead.
 */
#include "proto/base/json_string.h"
#include "proto/base/must.h"
#include "proto/base/utf8.h"
#include "proto/codec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The recursion is bounded as in codec.c: parsing by CODEC_DEPTH_MAX, printing by the schema. */
/* NOLINTBEGIN(misc-no-recursion) */

/* ---- printing ---------------------------------------------------------------------- */

static void print_bytes(struct str s, struct buffer *out)
{
    buffer_add_text(out, "\"");
    while (s.len > 0) {
        unsigned char c = (unsigned char)s.at[0];
        uint32_t len = utf8_length(s);
        if (c == '"' || c == '\\')
            buffer_print(out, "\\%c", c);
        else if (c < 32 || c == 127 || len == 0)
            buffer_print(out, "\\x%02x", c);
        else
            buffer_add(out, s.at, len);
        len = len > 0 ? len : 1;
        s = (struct str){s.at + len, s.len - len};
    }
    buffer_add_text(out, "\"");
}

static void print_str(struct str s, bool json, struct buffer *out)
{
    if (json)
        json_string(out, s);
    else
        print_bytes(s, out);
}

static void print_record(const struct record *r, const char *object, bool json, struct buffer *out);

static void print_list(const struct field *f, const struct list *l, bool json, struct buffer *out)
{
    buffer_add_text(out, "[");
    for (uint32_t k = 0; k < l->count; k++) {
        buffer_add_text(out, k == 0 ? "{" : json ? ",{" : " {");
        print_record(f->of, (const char *)l->at + k * f->of->size, json, out);
        buffer_add_text(out, "}");
    }
    buffer_add_text(out, "]");
}

static void print_value(const struct field *f, const char *at, bool json, struct buffer *out)
{
    switch ((enum kind)f->kind) {
    case KIND_bool: buffer_add_text(out, "true"); break;
    case KIND_i64: buffer_print(out, "%" PRId64, *(const int64_t *)at); break;
    case KIND_str: print_str(*(const struct str *)at, json, out); break;
    case KIND_strs: {
        const struct strs *l = (const void *)at;
        buffer_add_text(out, "[");
        for (uint32_t k = 0; k < l->count; k++) {
            buffer_add_text(out, k == 0 ? "" : json ? "," : " ");
            print_str(l->at[k], json, out);
        }
        buffer_add_text(out, "]");
        break;
    }
    case KIND_list: print_list(f, (const void *)at, json, out); break;
    case KIND_one:
        buffer_add_text(out, "{");
        print_record(f->of, at, json, out);
        buffer_add_text(out, "}");
        break;
    case KIND_word:
        print_str(words_text(f->words, *(const uint32_t *)(const void *)at), json, out);
        break;
    }
}

static void print_record(const struct record *r, const char *object, bool json, struct buffer *out)
{
    bool first = true;
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = &r->fields[i];
        if (codec_value_is_zero(f, object + f->offset))
            continue;
        if (!first)
            buffer_add_text(out, json ? "," : " ");
        first = false;
        buffer_print(out, json ? "\"%s\":" : "%s=", f->name);
        print_value(f, object + f->offset, json, out);
    }
}

void codec_print(const struct record *r, const void *object, struct buffer *out)
{
    buffer_print(out, "%s ", r->name);
    print_record(r, object, false, out);
}

void codec_print_value(const struct field *f, const void *at, struct buffer *out)
{
    if (f->kind == KIND_bool) /* written where it is true alone, elsewhere */
        buffer_add_text(out, *(const bool *)at ? "true" : "false");
    else
        print_value(f, at, false, out);
}

void codec_print_json(const struct record *r, const void *object, struct buffer *out)
{
    buffer_add_text(out, "{");
    print_record(r, object, true, out);
    buffer_add_text(out, "}");
}

/* ---- parsing ----------------------------------------------------------------------- */

struct text {
    const char *start, *at, *end;
    struct arena *arena;
    struct str error;
};

static bool fail(struct text *t, const char *why)
{
    if (t->error.len == 0)
        t->error = arena_print(t->arena, "column %td: %s", t->at - t->start + 1, why);
    return false;
}

static void skip_blanks(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t'))
        t->at++;
}

static bool accept(struct text *t, char c)
{
    skip_blanks(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+';
}

static struct str take_word(struct text *t)
{
    skip_blanks(t);
    const char *from = t->at;
    while (t->at < t->end && is_word(*t->at))
        t->at++;
    return (struct str){from, (uint32_t)(t->at - from)};
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte behind a backslash; moves past it. */
static bool parse_escape(struct text *t, char *byte)
{
    if (t->end - t->at < 2)
        return fail(t, "string ends in a backslash");
    char c = t->at[1];
    if (c == '"' || c == '\\') {
        *byte = c;
        t->at += 2;
        return true;
    }
    int high = t->end - t->at >= 4 && c == 'x' ? hex_digit(t->at[2]) : -1;
    int low = high >= 0 ? hex_digit(t->at[3]) : -1;
    if (low < 0)
        return fail(t, "unknown escape");
    *byte = (char)(high * 16 + low);
    t->at += 4;
    return true;
}

static bool parse_str(struct text *t, struct str *s)
{
    if (!accept(t, '"'))
        return fail(t, "a string in quotes is expected");
    char *bytes = arena_take(t->arena, (size_t)(t->end - t->at) + 1);
    if (bytes == NULL)
        return fail(t, "too long");
    uint32_t len = 0;
    while (t->at < t->end && *t->at != '"') {
        if (*t->at != '\\')
            bytes[len++] = *t->at++;
        else if (!parse_escape(t, &bytes[len++]))
            return false;
    }
    if (t->at == t->end)
        return fail(t, "string has no end");
    t->at++;
    *s = (struct str){bytes, len};
    return true;
}

static bool parse_record(struct text *t, const struct record *r, char *object, int depth);

static bool parse_embedded(struct text *t, const struct record *r, char *object, int depth)
{
    if (!accept(t, '{'))
        return fail(t, "{ is expected");
    if (!parse_record(t, r, object, depth + 1))
        return false;
    return accept(t, '}') || fail(t, "} is expected");
}

/* Elements are at least "" or {} long, so the room left bounds their number. */
static bool parse_array(struct text *t, const struct field *f, struct list *l, int depth)
{
    size_t size = f->kind == KIND_strs ? sizeof(struct str) : f->of->size;
    if (!accept(t, '['))
        return fail(t, "[ is expected");
    uint32_t room = 0;
    char *at = NULL;
    l->count = 0;
    while (!accept(t, ']')) {
        if (l->count == room) {
            char *more = arena_take(t->arena, size * (room ? room * 2 : 4));
            if (more == NULL)
                return fail(t, "too long");
            if (room > 0)
                memcpy(more, at, size * room);
            at = more;
            room = room ? room * 2 : 4;
        }
        char *element = at + size * l->count;
        if (f->kind == KIND_strs ? !parse_str(t, (void *)element)
                                 : !parse_embedded(t, f->of, element, depth))
            return false;
        l->count++;
    }
    l->at = at;
    return true;
}

static bool parse_word(struct text *t, const struct words *set, uint32_t *number)
{
    struct str text = {NULL, 0};
    if (!parse_str(t, &text))
        return false;
    if (words_find(set, text, number))
        return true;
    t->error = arena_print(t->arena, "column %td: \"%.*s\" is none of %s", t->at - t->start + 1,
                           STR_ARG(text), set->name);
    return false;
}

static bool parse_value(struct text *t, const struct field *f, char *at, int depth)
{
    struct str word;
    switch ((enum kind)f->kind) {
    case KIND_bool:
        word = take_word(t);
        *(bool *)at = str_is(word, "true");
        return *(bool *)at || str_is(word, "false") || fail(t, "true or false is expected");
    case KIND_i64:
        return str_to_i64(take_word(t), (int64_t *)at) || fail(t, "an integer is expected");
    case KIND_str: return parse_str(t, (void *)at);
    case KIND_strs:
    case KIND_list: return parse_array(t, f, (void *)at, depth);
    case KIND_one: return parse_embedded(t, f->of, at, depth);
    case KIND_word: return parse_word(t, f->words, (void *)at);
    }
    return false;
}

static const struct field *field_named(const struct record *r, struct str name)
{
    for (size_t i = 0; i < r->field_count; i++)
        if (str_is(name, r->fields[i].name))
            return &r->fields[i];
    return NULL;
}

static bool parse_record(struct text *t, const struct record *r, char *object, int depth)
{
    if (depth > CODEC_DEPTH_MAX)
        return fail(t, "nested too deep");
    memset(object, 0, r->size);
    for (;;) {
        skip_blanks(t);
        if (t->at == t->end || *t->at == '}')
            return true;
        struct str name = take_word(t);
        const struct field *f = field_named(r, name);
        if (f == NULL) {
            t->error = arena_print(t->arena, "column %td: %s has no field \"%.*s\"",
                                   name.at - t->start + 1, r->name, STR_ARG(name));
            return false;
        }
        if (!accept(t, '='))
            return fail(t, "= is expected");
        if (!parse_value(t, f, object + f->offset, depth))
            return false;
    }
}

bool codec_parse(const struct record *r, void *object, struct str text, struct arena *a,
                 struct str *error)
{
    struct text t = {text.at, text.at, text.at + text.len, a, {NULL, 0}};
    bool ok = parse_record(&t, r, object, 0);
    if (ok && t.at != t.end)
        ok = fail(&t, "something is left over");
    *error = t.error;
    return ok;
}

/* NOLINTEND(misc-no-recursion) */

/* ---- documentation ----------------------------------------------------------------- */

void codec_document(const struct record *r, struct buffer *out)
{
    static const char *const kinds[] = {
        [KIND_bool] = "bool",        [KIND_i64] = "i64",       [KIND_str] = "str",
        [KIND_strs] = "list of str", [KIND_list] = "list of ", [KIND_one] = "",
        [KIND_word] = "one of "};
    buffer_print(out, "%s\n\n", r->doc);
    if (r->field_count == 0) {
        buffer_add_text(out, "No fields.\n\n");
        return;
    }
    buffer_add_text(out, "| tag | field | kind | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = &r->fields[i];
        buffer_print(out, "| %u | `%s` | %s%s | %s |\n", f->tag, f->name, kinds[f->kind],
                     f->of      ? f->of->name
                     : f->words ? f->words->name
                                : "",
                     f->doc);
    }
    buffer_add_text(out, "\n");
}

void codec_document_words(const struct words *set, struct buffer *out)
{
    buffer_add_text(out, "| word | meaning |\n|---|---|\n");
    for (uint32_t i = 0; i < set->count; i++)
        buffer_print(out, "| `%.*s` | %s |\n", STR_ARG(set->at[i].text), set->at[i].doc);
    buffer_add_text(out, "\n");
}
