/* feature_gates: what a list of gates makes of a release. The one idea: a gate that changes what
 * the scheduler does is honoured, or refused by name at any value but its default; all others may
 * be set, as the same flags often go to all components. What must stay true: no gate that matters
 * is ignored. */
#include "proto/kube/release/feature_gates.h"

#include "proto/base/buffer.h"
#include "proto/base/must.h"
#include "proto/base/str.h"

#include <stdio.h>
#include <string.h>

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

#define GATES_MAX 512 /* of one release */

/* What a list of gates says: of each gate of the release whether it is on. */
struct gate_values {
    const struct kube_release *release;
    bool on[GATES_MAX];
    bool given[GATES_MAX]; /* by its name */
};

/* Of its release, as they are by default. */
static void start(struct gate_values *v)
{
    const struct kube_release *release = v->release;
    must(release->gate_count <= GATES_MAX);
    for (size_t i = 0; i < release->gate_count; i++) {
        v->on[i] = release->gates[i].by_default;
        v->given[i] = false;
    }
}

static size_t place_of(const struct kube_release *release, struct str name)
{
    size_t i = 0;
    while (i < release->gate_count && !str_is(name, release->gates[i].name))
        i++;
    return i;
}

static bool set_gate(struct gate_values *v, struct str name, bool value, char *error, size_t room)
{
    size_t i = place_of(v->release, name);
    const struct release_gate *gate = &v->release->gates[i];
    const char *text = value ? "true" : "false";
    if (i == v->release->gate_count)
        snprintf(error, room, "unrecognized feature gate: %.*s", STR_ARG(name));
    else if (value == gate->by_default || gate->otherwise >= GATE_HONOURED) {
        v->on[i] = value;
        v->given[i] = true;
        return true;
    } else if (gate->otherwise == GATE_LOCKED)
        snprintf(error, room, "cannot set feature gate %s to %s, feature is locked to %s",
                 gate->name, text, gate->by_default ? "true" : "false");
    else
        snprintf(error, room,
                 "not supported yet: feature gate %s=%s, which changes what the scheduler does",
                 gate->name, text);
    return false;
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

/* left: what cannot be read is named there and left out; NULL: it is an error. */
static bool read_pieces(struct gate_values *v, const char *text, struct buffer *left, char *error,
                        size_t room)
{
    struct str rest = str_of(text), piece;
    bool prefixed = false, bare = false;
    start(v);
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
        if (read_gate(v, piece, error, room))
            continue;
        if (left == NULL)
            return false;
        buffer_print(left, "%s%.*s", left->len > 0 ? "," : "", STR_ARG(piece));
    }
    return true;
}

static bool is_on(const struct gate_values *v, const char *name)
{
    size_t i = place_of(v->release, str_of(name));
    return i < v->release->gate_count && v->on[i];
}

static bool is_special(const char *name)
{
    return strcmp(name, "AllAlpha") == 0 || strcmp(name, "AllBeta") == 0;
}

/* All gates of that stage that were not given become what the one that stands for them is. */
static bool expand(struct gate_values *v, const char *name, const char *stage, char *error,
                   size_t room)
{
    const struct kube_release *r = v->release;
    size_t all = place_of(r, str_of(name));
    for (size_t i = 0; all < r->gate_count && v->given[all] && i < r->gate_count; i++) {
        const struct release_gate *gate = &r->gates[i];
        if (is_special(gate->name) || v->given[i] || strcmp(gate->stage, stage) != 0)
            continue;
        if (v->on[all] != gate->by_default && gate->otherwise == GATE_REFUSED) {
            const char *value = v->on[all] ? "true" : "false";
            const char *other = v->on[all] ? "false" : "true";
            snprintf(error, room,
                     "not supported yet: feature gate %s=%s by %s, which changes what the "
                     "scheduler does; %s=%s goes with it",
                     gate->name, value, name, gate->name, other);
            return false;
        }
        v->on[i] = v->on[all];
    }
    return true;
}

static bool read_gates(struct gate_values *v, const char *text, struct buffer *left, char *error,
                       size_t room)
{
    return read_pieces(v, text, left, error, room) && expand(v, "AllAlpha", "ALPHA", error, room) &&
           expand(v, "AllBeta", "BETA", error, room);
}

/* The gates from needs[i] on that one of the same name wants and does not get: "A is enabled, …",
 * or nothing. Returns where the next name begins. */
static size_t check_needs(const struct gate_values *v, size_t i, struct buffer *out)
{
    const struct release_need *needs = v->release->needs;
    const char *name = needs[i].name;
    bool wants = is_on(v, name), lacks = false;
    for (; i < v->release->need_count && strcmp(needs[i].name, name) == 0; i++) {
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
    for (size_t i = 0; i < v->release->need_count;) {
        size_t before = text.len;
        i = check_needs(v, i, &text);
        lacking += text.len > before;
    }
    if (lacking > 0)
        snprintf(error, room, "%s%s%s", lacking > 1 ? "[" : "", text.at, lacking > 1 ? "]" : "");
    buffer_free(&text);
    return lacking == 0;
}

static struct features features_of(const struct gate_values *v)
{
    const struct kube_release *r = v->release;
    struct features features = {.release = r->minor};
    for (size_t i = 0; i < r->feature_count; i++)
        *(bool *)((char *)&features + r->features[i].offset) |= is_on(v, r->features[i].gate);
    return features;
}

bool feature_gates_read(const char *text, const struct kube_release *release,
                        struct features *features, char *error, size_t room)
{
    struct gate_values v = {.release = release};
    if (!read_gates(&v, text, NULL, error, room) || !have_needs(&v, error, room))
        return false;
    if (features != NULL)
        *features = features_of(&v);
    return true;
}

struct features feature_gates_follow(const char *text, const struct kube_release *release,
                                     char *left, size_t room)
{
    struct gate_values v = {.release = release};
    struct buffer names = {0};
    char error[512] = "";
    bool good =
        read_gates(&v, text, &names, error, sizeof(error)) && have_needs(&v, error, sizeof(error));
    snprintf(left, room, "%s", good ? names.len > 0 ? names.at : "" : error);
    buffer_free(&names);
    return good ? features_of(&v) : release_features(release->minor);
}

/* Some release takes this one. */
static bool piece_may_be(struct str piece, char *error, size_t room)
{
    struct buffer text = {0};
    bool good = false;
    buffer_add_str(&text, piece);
    for (int64_t minor = RELEASE_OLDEST; !good && minor <= RELEASE_NEWEST; minor++) {
        struct gate_values v = {.release = release_of(minor)};
        good = read_pieces(&v, text.at, NULL, error, room);
    }
    buffer_free(&text);
    return good;
}

static bool has_places_for(int64_t minor, const char *text)
{
    struct gate_values v = {.release = release_of(minor)};
    char error[512];
    return read_pieces(&v, text, NULL, error, sizeof(error));
}

/* But for what the release has no place for. */
static bool takes(int64_t minor, const char *text, char *error, size_t room)
{
    struct buffer left = {0};
    struct gate_values v = {.release = release_of(minor)};
    bool good = read_gates(&v, text, &left, error, room) && have_needs(&v, error, room);
    buffer_free(&left);
    return good;
}

/* Of the releases that have places for all of the list, or if there is none of all, one takes it:
 * what is consistent in one may lack something in another, which has gates that this one has not.
 */
bool feature_gates_may_be(const char *text, char *error, size_t room)
{
    struct str rest = str_of(text), piece;
    bool good = false, some_has_places = false;
    while (str_split(&rest, ",", &piece))
        if (piece.len > 0 && !piece_may_be(piece, error, room))
            return false;
    for (int64_t minor = RELEASE_OLDEST; minor <= RELEASE_NEWEST; minor++)
        some_has_places |= has_places_for(minor, text);
    for (int64_t minor = RELEASE_OLDEST; !good && minor <= RELEASE_NEWEST; minor++)
        if (!some_has_places || has_places_for(minor, text))
            good = takes(minor, text, error, room);
    return good;
}

/* What is wrong with them was said at the start. */
static void values_of(struct gate_values *v, const struct kube_release *release, const char *text)
{
    struct buffer left = {0};
    char error[256];
    v->release = release;
    (void)read_gates(v, text, &left, error, sizeof(error));
    buffer_free(&left);
}

bool feature_gate_is_on(const char *text, const struct kube_release *release, const char *name)
{
    struct gate_values v;
    values_of(&v, release, text);
    return is_on(&v, name);
}

void feature_gates_each(const char *text, const struct kube_release *release,
                        void (*each)(void *context, const char *name, const char *stage, bool on),
                        void *context)
{
    struct gate_values v;
    values_of(&v, release, text);
    for (size_t i = 0; i < release->gate_count; i++)
        each(context, release->gates[i].name, release->gates[i].stage, v.on[i]);
}
