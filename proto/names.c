/* names: prints what messages.def declares for other languages, so that a plugin's author writes
 * ask.pod.labels instead of ask[3][15]. The one idea: everything is a list of records (a message is
 * one with a number) and a list of words, each told from there in one pass. What must stay true: a
 * record stands behind those that its fields are made of, as in messages.def, and what comes out
 * depends on messages.def alone. */
#include "proto/names.h"

#include "proto/base/json_string.h"
#include "proto/base/must.h"
#include "proto/messages.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct entry {
    const struct record *record; /* NULL: of a message */
    int number;                  /* 0: a value that messages carry */
};

/* clang-format off */
static const struct entry entries[] = {
#define RECORD(name, doc) {&name##_record, 0},
#define MESSAGE(number, name, from, to, fence, doc) {NULL, number},
#include "proto/messages.def"
};

static const struct word {
    const char *prefix, *id, *text, *doc;
    const struct words *set;
} all_words[] = {
#define WORD(name, prefix, id, text, doc) {#prefix, #id, text, doc, &name##_words},
#include "proto/messages.def"
};
/* clang-format on */

#define ENTRY_COUNT (sizeof(entries) / sizeof(entries[0]))
#define WORD_COUNT  (sizeof(all_words) / sizeof(all_words[0]))
#define NAME_ROOM   128
#define LONG_ROOM   256

static const struct record *record_of(const struct entry *e)
{
    return e->record ? e->record : message_info[e->number].record;
}

/* As constants are written: plugin_ask becomes PLUGIN_ASK. */
static const char *upper(const char *name, char room[static NAME_ROOM])
{
    size_t i = 0;
    for (; name[i] != '\0'; i++) {
        must(i + 1 < NAME_ROOM);
        room[i] = (char)toupper((unsigned char)name[i]);
    }
    room[i] = '\0';
    return room;
}

/* As types are: plugin_ask becomes PluginAsk, and what Go writes large is large: PodUID. */
static const char *camel(const char *name, char room[static NAME_ROOM])
{
    static const char *const large[] = {"id", "uid", "pid", "ip", "api", "cpu"};
    size_t at = 0;
    for (const char *part = name; *part != '\0';) {
        size_t len = strcspn(part, "_");
        must(at + len < NAME_ROOM);
        bool all = false;
        for (size_t k = 0; k < sizeof(large) / sizeof(large[0]); k++)
            all = all || (len == strlen(large[k]) && strncasecmp(part, large[k], len) == 0);
        for (size_t i = 0; i < len; i++)
            room[at++] = (char)(i == 0 || all ? toupper((unsigned char)part[i])
                                              : tolower((unsigned char)part[i]));
        part += len + (part[len] == '_');
    }
    room[at] = '\0';
    return room;
}

/* ---- Python ---- */

/* Text between quotes, as Python, Go and C read it. */
static void quoted(const char *text, struct buffer *out)
{
    for (; *text != '\0'; text++)
        buffer_print(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void python_type(const struct field *f, bool annotation, struct buffer *out)
{
    char room[NAME_ROOM];
    const char *list = annotation ? "list[" : "[";
    switch ((enum kind)f->kind) {
    case KIND_bool: buffer_add_text(out, "bool"); break;
    case KIND_i64: buffer_add_text(out, "int"); break;
    case KIND_str:
    case KIND_word: buffer_add_text(out, "str"); break;
    case KIND_strs: buffer_print(out, "%sstr]", list); break;
    case KIND_list: buffer_print(out, "%s%s]", list, camel(f->of->name, room)); break;
    case KIND_one: buffer_add_text(out, camel(f->of->name, room)); break;
    }
}

static void python_record(const struct entry *e, struct buffer *out)
{
    const struct record *r = record_of(e);
    char room[NAME_ROOM];
    buffer_print(out, "\n\nclass %s(Record):\n    \"\"\"", camel(r->name, room));
    quoted(r->doc, out);
    buffer_add_text(out, "\"\"\"\n");
    if (e->number)
        buffer_print(out, "    NUMBER, NAME = %d, \"%s\"\n", e->number, r->name);
    for (size_t i = 0; i < r->field_count; i++) {
        buffer_print(out, "    %s: ", r->fields[i].name);
        python_type(&r->fields[i], true, out);
        buffer_print(out, "  # %s\n", r->fields[i].doc);
    }
    buffer_add_text(out, "    FIELDS = {");
    for (size_t i = 0; i < r->field_count; i++) {
        buffer_print(out, "%s\"%s\": (%u, ", i ? ", " : "", r->fields[i].name, r->fields[i].tag);
        python_type(&r->fields[i], false, out);
        buffer_add_text(out, ")");
    }
    buffer_add_text(out, "}\n");
}

void names_python(struct buffer *out)
{
    char room[NAME_ROOM], other[NAME_ROOM];
    buffer_add_text(
        out, "# Made by `make docs` from proto/messages.def.\n"
             "\"\"\"All messages and records of the bus by name, and the words that fields may "
             "hold.\n\nA class for each; FIELDS is the tag of each field and its type. What is "
             "absent is zero or empty.\n\"\"\"\nfrom .record import Record\n\n"
             "# Words.\n");
    for (size_t i = 0; i < WORD_COUNT; i++) {
        const struct word *w = &all_words[i];
        buffer_print(out, "%s_%s = \"", w->prefix, upper(w->id, room));
        quoted(w->text, out);
        buffer_print(out, "\"  # %s\n", w->doc);
    }
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        python_record(&entries[i], out);
    buffer_add_text(out, "\n\n# Messages by their number.\nMESSAGES = {\n");
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (entries[i].number)
            buffer_print(out, "    %d: %s,\n", entries[i].number,
                         camel(record_of(&entries[i])->name, other));
    buffer_add_text(out, "}\n");
}

/* ---- Go ---- */

static const char *go_type(const struct field *f, char room[static NAME_ROOM])
{
    char name[NAME_ROOM];
    switch ((enum kind)f->kind) {
    case KIND_bool: return "bool";
    case KIND_i64: return "int64";
    case KIND_str:
    case KIND_word: return "string";
    case KIND_strs: return "[]string";
    case KIND_list: snprintf(room, NAME_ROOM, "[]%.120s", camel(f->of->name, name)); return room;
    case KIND_one: return camel(f->of->name, room);
    }
    return "";
}

/* gofmt has columns: each as wide as the widest of the struct. */
struct widths {
    int name, type, tag;
};

static void widen(int *width, size_t len)
{
    *width = (int)len > *width ? (int)len : *width;
}

static struct widths go_widths(const struct record *r)
{
    struct widths widest = {0};
    char room[NAME_ROOM];
    for (size_t i = 0; i < r->field_count; i++) {
        widen(&widest.name, strlen(camel(r->fields[i].name, room)));
        widen(&widest.type, strlen(go_type(&r->fields[i], room)));
        widen(&widest.tag, (size_t)snprintf(NULL, 0, "`bus:\"%u\"`", r->fields[i].tag));
    }
    return widest;
}

static void go_record(const struct entry *e, struct buffer *out)
{
    const struct record *r = record_of(e);
    char name[NAME_ROOM], type[NAME_ROOM], tag[24];
    camel(r->name, name);
    buffer_print(out, "\n// %s: %s\ntype %s struct%s{", name, r->doc, name,
                 r->field_count ? " " : "");
    const struct widths widest = go_widths(r);
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = &r->fields[i];
        snprintf(tag, sizeof(tag), "`bus:\"%u\"`", f->tag);
        buffer_print(out, "%s\t%-*s %-*s %-*s // %s\n", i ? "" : "\n", widest.name,
                     camel(f->name, name), widest.type, go_type(f, type), widest.tag, tag, f->doc);
    }
    buffer_add_text(out, "}\n");
}

static void go_messages(struct buffer *out)
{
    char room[NAME_ROOM];
    int widest = 0;
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (entries[i].number)
            widen(&widest, strlen(camel(record_of(&entries[i])->name, room)));
    buffer_add_text(out, "\n// The messages' numbers.\nconst (\n");
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if (entries[i].number)
            buffer_print(out, "\tMsg%-*s = %d\n", widest, camel(record_of(&entries[i])->name, room),
                         entries[i].number);
    buffer_add_text(out, ")\n\nvar kinds = map[int64]reflect.Type{\n");
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (entries[i].number == 0)
            continue;
        camel(record_of(&entries[i])->name, room);
        buffer_print(out, "\tMsg%s:%*s reflect.TypeFor[%s](),\n", room, widest - (int)strlen(room),
                     "", room);
    }
    buffer_add_text(out, "}\n\nvar numbers = map[reflect.Type]int64{}\n\n"
                         "func init() {\n\tfor number, kind := range kinds {\n"
                         "\t\tnumbers[kind] = number\n\t}\n}\n");
}

/* The constant of a word without padding, and how long it is. */
static size_t go_word(const struct word *w, char room[static LONG_ROOM])
{
    char prefix[NAME_ROOM], id[NAME_ROOM];
    return (size_t)snprintf(room, LONG_ROOM, "%s%s", camel(w->prefix, prefix), camel(w->id, id));
}

static void go_word_set(size_t from, size_t to, struct buffer *out)
{
    char room[LONG_ROOM];
    int name = 0, text = 0;
    for (size_t i = from; i < to; i++) {
        widen(&name, go_word(&all_words[i], room));
        widen(&text, strlen(all_words[i].text));
    }
    buffer_print(out, "\n// Words of %s.\nconst (\n", all_words[from].set->name);
    for (size_t i = from; i < to; i++) {
        go_word(&all_words[i], room);
        buffer_print(out, "\t%-*s = \"%s\"%*s // %s\n", name, room, all_words[i].text,
                     text - (int)strlen(all_words[i].text), "", all_words[i].doc);
    }
    buffer_add_text(out, ")\n");
}

void names_go(struct buffer *out)
{
    buffer_add_text(out,
                    "// Code generated by `make docs` from proto/messages.def. DO NOT EDIT.\n\n"
                    "package berth\n\nimport \"reflect\"\n");
    go_messages(out);
    for (size_t from = 0, to = 0; from < WORD_COUNT; from = to) {
        for (to = from; to < WORD_COUNT && all_words[to].set == all_words[from].set;)
            to++;
        go_word_set(from, to, out);
    }
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        go_record(&entries[i], out);
}

/* ---- C ---- */

static void c_record(const struct entry *e, struct buffer *out)
{
    const struct record *r = record_of(e);
    char owner[NAME_ROOM], name[NAME_ROOM];
    upper(r->name, owner);
    buffer_print(out, "\n/* %s: %s */\n", r->name, r->doc);
    if (e->number)
        buffer_print(out, "#define BERTH_MSG_%s %d\n", owner, e->number);
    static const char *const kinds[] = {
        [KIND_bool] = "bool",        [KIND_i64] = "i64",       [KIND_str] = "str",
        [KIND_strs] = "list of str", [KIND_list] = "list of ", [KIND_one] = "",
        [KIND_word] = "one of "};
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = &r->fields[i];
        buffer_print(out, "#define BERTH_TAG_%s_%s %u /* %s%s: %s */\n", owner,
                     upper(f->name, name), f->tag, kinds[f->kind],
                     f->of      ? f->of->name
                     : f->words ? f->words->name
                                : "",
                     f->doc);
    }
}

void names_c(struct buffer *out)
{
    char room[NAME_ROOM];
    buffer_add_text(out, "/* Made by `make docs` from proto/messages.def: every message's number, "
                         "every field's tag and\n"
                         " * every word of the bus, for programs in C that speak on it or listen "
                         "to it, with ZeroMQ and any\n"
                         " * msgpack library. */\n/* clang-format off */\n#ifndef "
                         "BERTH_MESSAGES_H\n#define BERTH_MESSAGES_H\n\n");
    for (size_t i = 0; i < WORD_COUNT; i++) {
        const struct word *w = &all_words[i];
        buffer_print(out, "#define BERTH_%s_%s \"%s\" /* %s */\n", w->prefix, upper(w->id, room),
                     w->text, w->doc);
    }
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        c_record(&entries[i], out);
    buffer_add_text(out, "\n#endif\n");
}

/* ---- JSON Schema ---- */

static void schema_text(const char *key, const char *text, struct buffer *out)
{
    buffer_print(out, "\"%s\": ", key);
    json_string(out, str_of(text));
}

static void schema_words(const struct words *set, struct buffer *out)
{
    buffer_add_text(out, "\"type\": \"string\", \"examples\": [");
    for (uint32_t i = 0; i < set->count; i++) {
        buffer_add_text(out, i ? ", " : "");
        json_string(out, set->at[i].text);
    }
    buffer_add_text(out, "]");
}

static void schema_type(const struct field *f, struct buffer *out)
{
    switch ((enum kind)f->kind) {
    case KIND_bool: buffer_add_text(out, "\"type\": \"boolean\""); break;
    case KIND_i64: buffer_add_text(out, "\"type\": \"integer\", \"format\": \"int64\""); break;
    case KIND_str: buffer_add_text(out, "\"type\": \"string\""); break;
    case KIND_word: schema_words(f->words, out); break;
    case KIND_strs:
        buffer_add_text(out, "\"type\": \"array\", \"items\": {\"type\": \"string\"}");
        break;
    case KIND_list:
        buffer_print(out, "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/%s\"}",
                     f->of->name);
        break;
    case KIND_one: buffer_print(out, "\"$ref\": \"#/$defs/%s\"", f->of->name); break;
    }
}

static void schema_record(const struct entry *e, struct buffer *out)
{
    const struct record *r = record_of(e);
    buffer_print(out, "    \"%s\": {\n      \"type\": \"object\",\n      ", r->name);
    schema_text("description", r->doc, out);
    if (e->number)
        buffer_print(out, ",\n      \"x-number\": %d", e->number);
    buffer_add_text(out, ",\n      \"properties\": {");
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = &r->fields[i];
        buffer_print(out, "%s\n        \"%s\": {", i ? "," : "", f->name);
        schema_type(f, out);
        buffer_print(out, ", \"x-tag\": %u, ", f->tag);
        schema_text("description", f->doc, out);
        buffer_add_text(out, "}");
    }
    buffer_print(out, "%s}\n    }", r->field_count ? "\n      " : "");
}

/* A line of the tap: which body belongs to which name. */
static void schema_bodies(struct buffer *out)
{
    buffer_add_text(out,
                    "  \"type\": \"object\",\n  \"required\": [\"message\"],\n  \"properties\": {"
                    "\"message\": {\"type\": \"string\"}, \"body\": {\"type\": \"object\"}},\n"
                    "  \"allOf\": [\n");
    const char *between = "";
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        if (entries[i].number == 0)
            continue;
        const char *name = record_of(&entries[i])->name;
        buffer_print(out,
                     "%s    {\"if\": {\"properties\": {\"message\": {\"const\": \"%s\"}}},"
                     " \"then\": {\"properties\": {\"body\": {\"$ref\": \"#/$defs/%s\"}}}}",
                     between, name, name);
        between = ",\n";
    }
    buffer_add_text(out, "\n  ],\n");
}

void names_schema(struct buffer *out)
{
    buffer_add_text(
        out,
        "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
        "  \"title\": \"Messages on berth's bus\",\n"
        "  \"description\": \"A line of `berth tap -o json`, and under $defs each record and "
        "message "
        "with its fields by name; x-number and x-tag are what stands on the wire. What is absent "
        "is zero or empty. Made by `make docs` from proto/messages.def.\",\n");
    schema_bodies(out);
    buffer_add_text(out, "  \"$defs\": {\n");
    for (size_t i = 0; i < ENTRY_COUNT; i++) {
        schema_record(&entries[i], out);
        buffer_add_text(out, i + 1 < ENTRY_COUNT ? ",\n" : "\n");
    }
    buffer_add_text(out, "  }\n}\n");
}
