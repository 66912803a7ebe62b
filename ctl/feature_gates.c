/* feature_gates: which gates there are, and which of their values this scheduler can honour. The
 * one idea: a gate that changes what the scheduler does is honoured, or refused by name at any
 * value but its default; all others may be set, as the same flags often go to all components. What
 * must stay true: no gate that matters is ignored. */
#include "ctl/feature_gates.h"

#include "proto/base/buffer.h"
#include "proto/base/str.h"

#include <stdio.h>
#include <string.h>

enum elsewhere { LOCKED, REFUSED, HONOURED, SAME, LIBRARY, ELSEWHERE };

#define STAGE_GA         ""
#define STAGE_ALPHA      "ALPHA"
#define STAGE_BETA       "BETA"
#define STAGE_DEPRECATED "DEPRECATED"

static const struct {
    const char *name, *stage; /* as kubernetes_feature_enabled shows it */
    bool by_default;
    enum elsewhere otherwise;
} gates[] = {
#define GATE(name, by_default, stage, otherwise) {#name, STAGE_##stage, by_default, otherwise},
#define NEEDS(name, need)
#include "ctl/feature_gates.def"
#undef GATE
#undef NEEDS
};

/* In the order of names. */
static const struct {
    const char *name, *need;
} needs[] = {
#define GATE(name, by_default, stage, otherwise)
#define NEEDS(name, need) {#name, #need},
#include "ctl/feature_gates.def"
#undef GATE
#undef NEEDS
};

#define GATE_COUNT (sizeof(gates) / sizeof(gates[0]))
#define NEED_COUNT (sizeof(needs) / sizeof(needs[0]))

/* As Go's ParseBool. */
static bool truth_of(struct str text, bool *truth)
{
    static const char *const words[] = {"1", "t", "T", "true",  "TRUE",  "True",
                                        "0", "f", "F", "false", "FALSE", "False"};
    size_t count = sizeof(words) / sizeof(words[0]);
    for (size_t i = 0; i < count; i++)
        if (str_is(text, words[i])) {
            *truth = i < count / 2;
            return true;
        }
    return false;
}

/* What a list of gates says: of each gate whether it is on. */
struct gate_values {
    bool on[GATE_COUNT];
};

static size_t place_of(struct str name)
{
    size_t i = 0;
    while (i < GATE_COUNT && !str_is(name, gates[i].name))
        i++;
    return i;
}

static bool set_gate(struct gate_values *v, struct str name, bool value, char *error, size_t room)
{
    size_t i = place_of(name);
    const char *text = value ? "true" : "false";
    if (i == GATE_COUNT)
        snprintf(error, room, "unrecognized feature gate: %.*s", STR_ARG(name));
    else if (value == gates[i].by_default || gates[i].otherwise >= HONOURED) {
        v->on[i] = value;
        return true;
    } else if (gates[i].otherwise == LOCKED)
        snprintf(error, room, "cannot set feature gate %s to %s, feature is locked to %s",
                 gates[i].name, text, gates[i].by_default ? "true" : "false");
    else
        snprintf(error, room,
                 "not supported yet: feature gate %s=%s, which changes what the scheduler does",
                 gates[i].name, text);
    return false;
}

bool feature_gates_check(const char *text, char *error, size_t room)
{
    bool gangs;
    return feature_gates_read(text, &gangs, error, room);
}

/* One `Name=true`, without a prefix. */
static bool read_gate(struct gate_values *v, struct str piece, char *error, size_t room)
{
    int64_t equal = str_find(piece, '=');
    struct str name = {piece.at, equal < 0 ? piece.len : (uint32_t)equal};
    struct str word = {piece.at + name.len + 1, equal < 0 ? 0 : piece.len - name.len - 1};
    bool value = false;
    if (equal < 0) {
        snprintf(error, room, "missing bool value for %.*s", STR_ARG(name));
        return false;
    }
    if (!truth_of(str_trim(word), &value)) {
        snprintf(error, room,
                 "invalid value of %.*s, err: strconv.ParseBool: parsing \"%.*s\": invalid syntax",
                 STR_ARG(piece), STR_ARG(word));
        return false;
    }
    return set_gate(v, str_trim(name), value, error, room);
}

static bool read_gates(struct gate_values *v, const char *text, char *error, size_t room)
{
    struct str rest = str_of(text), piece;
    bool prefixed = false, bare = false;
    for (size_t i = 0; i < GATE_COUNT; i++)
        v->on[i] = gates[i].by_default;
    while (str_split(&rest, ",", &piece)) {
        piece = str_trim(piece);
        if (piece.len == 0)
            continue;
        bool prefix = str_starts_with(piece, "kube:");
        prefixed = prefixed || prefix;
        bare = bare || !prefix;
        if (prefix)
            piece = (struct str){piece.at + 5, piece.len - 5};
        if (prefixed && bare) {
            snprintf(error, room,
                     "set kube feature gates with default empty prefix or kube: prefix "
                     "consistently, do not mix use");
            return false;
        }
        if (!read_gate(v, piece, error, room))
            return false;
    }
    return true;
}

static bool is_on(const struct gate_values *v, const char *name)
{
    return v->on[place_of(str_of(name))];
}

/* The gates from needs[i] on that one of the same name wants and does not get: "A is enabled, …",
 * or nothing. Returns where the next name begins. */
static size_t check_needs(const struct gate_values *v, size_t i, struct buffer *out)
{
    const char *name = needs[i].name;
    bool wants = is_on(v, name), lacks = false;
    for (; i < NEED_COUNT && strcmp(needs[i].name, name) == 0; i++) {
        if (!wants || is_on(v, needs[i].need))
            continue;
        if (!lacks)
            buffer_print(out,
                         "%s%s is enabled, but depends on features that are disabled: [", /* ] */
                         out->len > 0 ? ", " : "", name);
        buffer_print(out, "%s%s", lacks ? " " : "", needs[i].need);
        lacks = true;
    }
    if (lacks)
        buffer_add_text(out, "]");
    return i;
}

static bool have_needs(const struct gate_values *v, char *error, size_t room)
{
    struct buffer text = {0};
    size_t lacking = 0;
    for (size_t i = 0; i < NEED_COUNT;) {
        size_t before = text.len;
        i = check_needs(v, i, &text);
        lacking += text.len > before;
    }
    if (lacking > 0)
        snprintf(error, room, "%s%s%s", lacking > 1 ? "[" : "", text.at, lacking > 1 ? "]" : "");
    buffer_free(&text);
    return lacking == 0;
}

bool feature_gates_read(const char *text, bool *gangs, char *error, size_t room)
{
    struct gate_values v;
    *gangs = false;
    if (!read_gates(&v, text, error, room) || !have_needs(&v, error, room))
        return false;
    *gangs = is_on(&v, "GangScheduling");
    return true;
}

bool feature_gate_is_on(const char *text, const char *name)
{
    struct gate_values v;
    char error[256];
    (void)read_gates(&v, text, error, sizeof(error)); /* what is wrong was said at the start */
    return is_on(&v, name);
}

void feature_gates_each(const char *text,
                        void (*each)(void *context, const char *name, const char *stage, bool on),
                        void *context)
{
    struct gate_values v;
    char error[256];
    (void)read_gates(&v, text, error, sizeof(error)); /* what is wrong was said at the start */
    for (size_t i = 0; i < GATE_COUNT; i++)
        each(context, gates[i].name, gates[i].stage, v.on[i]);
}
