/* json: a walk through JSON and YAML that knows where it is, and makes no tree, so that texts are
 * found where they stand. What must stay true: what is in a document is shown once, in its class,
 * however the document is cut off. */
#include "ctl/redact/documents.h"
#include "ctl/redact/rules.h"

#include "ctl/redact/vocabulary.h"
#include "proto/base/memory.h"

#include <string.h>

#define DEPTH_MAX 10000 /* the reader reads no deeper; what is deeper is not read */

/* An object or a list that is open. */
struct frame {
    bool object, value; /* value: a member's name was there, its value follows */
    struct rule rule;   /* of the object or the list */
    struct rule member; /* of the member whose value follows */
};

struct walk {
    struct names *names;
    struct str text;
    uint32_t at;
    struct frame *frames;
    size_t depth, room;
    bool is_event; /* an Event's name is put together */
};

static const struct rule plain = {RULE_plain, TEXT_words};
static const struct rule unread = {RULE_plain, TEXT_unread};

static void open_frame(struct walk *w, bool object, struct rule rule)
{
    if (w->depth == w->room) {
        w->room = w->room > 0 ? 2 * w->room : 32;
        w->frames = memory_resize(w->frames, w->room * sizeof(*w->frames));
    }
    w->frames[w->depth++] = (struct frame){.object = object, .rule = rule};
}

/* The rule of the value that comes next. */
static struct rule next_rule(const struct walk *w)
{
    if (w->depth == 0 || w->frames == NULL)
        return plain;
    const struct frame *f = &w->frames[w->depth - 1];
    return f->object ? f->member : f->rule;
}

static bool in_selector(struct str name)
{
    return str_is(name, "matchLabels") || str_is(name, "matchExpressions") ||
           str_is(name, "matchFields") || str_is(name, "nodeSelectorTerms");
}

static struct rule member_of(const struct walk *w, struct str name)
{
    struct rule rule = rules_member(name);
    if (w->is_event && str_is(name, "name"))
        rule.text = TEXT_derived;
    return rule;
}

/* A member's name: shown, if it is a key; and what its value is. */
static void take_key(struct walk *w, struct frame *f, struct str name)
{
    enum text_class class = TEXT_key;
    switch (f->rule.form) {
    case RULE_labels: f->member = (struct rule){RULE_plain, f->rule.text}; break;
    case RULE_amounts: f->member = plain; break;
    case RULE_by_key: f->member = (struct rule){RULE_plain, TEXT_key}; break;
    case RULE_notes:
        f->member = (struct rule){RULE_notes, rules_note(name, (struct str){NULL, 0})};
        break;
    case RULE_selector:
        f->member = (struct rule){RULE_plain, TEXT_name};
        if (!in_selector(name))
            break;
        f->member = member_of(w, name);
        return;
    default:
        f->member = f->rule.text == TEXT_unread ? unread : member_of(w, name);
        class = TEXT_unread;
        if (f->rule.text != TEXT_unread && vocabulary_has(name))
            return;
        break;
    }
    names_take(w->names, name, class, true);
}

static void take_value(struct walk *w, struct str text)
{
    struct rule rule = next_rule(w);
    bool note = rule.form == RULE_notes && rule.text != TEXT_unread;
    bool nested = note && text.len > 0 && (*text.at == '{' || *text.at == '[');
    names_take(w->names, text, nested ? TEXT_words : rule.text, true);
}

/* The string that begins at the place; behind it then. */
static struct str take_string(struct walk *w)
{
    uint32_t from = ++w->at;
    while (w->at < w->text.len && w->text.at[w->at] != '"')
        w->at += w->text.at[w->at] == '\\' && w->at + 1 < w->text.len ? 2 : 1;
    struct str inside = {w->text.at + from, w->at - from};
    w->at += w->at < w->text.len;
    return inside;
}

static void on_string(struct walk *w)
{
    struct str text = take_string(w);
    struct frame *f = w->depth > 0 ? &w->frames[w->depth - 1] : NULL;
    if (f != NULL && f->object && !f->value)
        take_key(w, f, text);
    else
        take_value(w, text);
}

/* What an object that begins here, or a list, is. */
static struct rule inner_rule(const struct walk *w, bool object)
{
    struct rule rule = next_rule(w);
    bool in_list = w->depth > 0 && !w->frames[w->depth - 1].object;
    if (object && in_list && rule.form != RULE_plain)
        return plain; /* such as the requests of a claim */
    return rule;
}

static void on_sign(struct walk *w, char c)
{
    struct frame *f = w->depth > 0 ? &w->frames[w->depth - 1] : NULL;
    if ((c == '{' || c == '[') && w->depth < DEPTH_MAX)
        open_frame(w, c == '{', inner_rule(w, c == '{'));
    else if ((c == '}' || c == ']') && w->depth > 0)
        w->depth--;
    else if (c == ':' && f != NULL)
        f->value = true;
    else if (c == ',' && f != NULL)
        f->value = false;
}

static bool says_event(struct str text)
{
    static const char kind[] = "\"kind\":\"Event\"";
    uint32_t near = text.len < 512 ? text.len : 512;
    return memmem(text.at, near, kind, sizeof(kind) - 1) != NULL;
}

void documents_json(struct names *n, struct str text)
{
    struct walk w = {.names = n, .text = text, .is_event = says_event(text)};
    while (w.at < text.len) {
        char c = text.at[w.at];
        if (c == '"') {
            on_string(&w);
            continue;
        }
        on_sign(&w, c);
        w.at++;
    }
    memory_free(w.frames);
}

/* ---- YAML ---- */

static bool parts_scalars(struct str text, uint32_t at)
{
    char c = text.at[at];
    bool colon = c == ':' && (at + 1 == text.len || strchr(" \t\r\n", text.at[at + 1]) != NULL);
    return colon || strchr(",[]{}\"'\n\r\t #|>", c) != NULL;
}

/* Comments say anything. */
static uint32_t take_comment(struct names *n, struct str text, uint32_t at)
{
    uint32_t end = at;
    while (end < text.len && text.at[end] != '\n')
        end++;
    names_take(n, (struct str){text.at + at, end - at}, TEXT_unread, false);
    return end;
}

/* Whether what ends here is a member's name. */
static bool is_key(struct str text, uint32_t end)
{
    if (end < text.len && (text.at[end] == '"' || text.at[end] == '\''))
        end++;
    return end < text.len && text.at[end] == ':';
}

/* A profile is named as pods name it; all else is berth's, or a name. */
static enum text_class class_behind(struct str key)
{
    return str_is(key, "schedulerName") ? TEXT_name : TEXT_option;
}

void documents_yaml(struct names *n, struct str text)
{
    struct str key = {NULL, 0};
    for (uint32_t at = 0; at < text.len;) {
        uint32_t end = at;
        bool comment = text.at[at] == '#' && (at == 0 || strchr(" \t\n", text.at[at - 1]) != NULL);
        while (end < text.len && !parts_scalars(text, end))
            end++;
        struct str scalar = {text.at + at, end - at};
        if (comment)
            end = take_comment(n, text, at);
        else if (end == at)
            end++;
        else if (is_key(text, end))
            names_take(n, key = scalar, TEXT_option, false);
        else
            names_take(n, scalar, class_behind(key), false);
        at = end;
    }
}
