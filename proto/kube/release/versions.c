/* versions: which release a command line names. Upstream: component-base/compatibility and
 * apimachinery/util/version. */
#include "proto/kube/release/versions.h"

#include "proto/base/buffer.h"
#include "proto/base/str.h"
#include "proto/kube/release/release.h"

#include <stdio.h>
#include <string.h>

#define PARTS_MAX 8 /* of a version; later ones are not looked at */
#define BEFORE    3 /* how many releases before its own a kube-scheduler emulates */

struct version {
    bool given;
    size_t count;
    int64_t parts[PARTS_MAX];
};

/* What is wrong with a flag's value. */
struct fault {
    char *text;
    size_t room;
};

static struct str digits_at(struct str text)
{
    uint32_t len = 0;
    while (len < text.len && text.at[len] >= '0' && text.at[len] <= '9')
        len++;
    return (struct str){text.at, len};
}

static struct str behind(struct str text, uint32_t len)
{
    return (struct str){text.at + len, text.len - len};
}

/* As upstream's ParseGeneric: numbers with dots, the first without leading zeros; what comes behind
 * them is not looked at. */
static bool parse(struct str text, struct version *v, struct fault fault)
{
    struct str rest = str_trim(text);
    if (str_starts_with(rest, "v"))
        rest = behind(rest, 1);
    struct str digits = digits_at(rest);
    const struct str first = digits;
    for (; digits.len > 0; digits = digits_at(rest)) {
        int64_t part;
        if (!str_to_i64(digits, &part)) {
            snprintf(fault.text, fault.room,
                     "illegal non-numeric version component \"%.*s\" in \"%.*s\": "
                     "strconv.ParseUint: parsing \"%.*s\": value out of range",
                     STR_ARG(digits), STR_ARG(text), STR_ARG(digits));
            return false;
        }
        if (v->count < PARTS_MAX)
            v->parts[v->count++] = part;
        rest = behind(rest, digits.len);
        if (!str_starts_with(rest, "."))
            break;
        rest = behind(rest, 1);
    }
    if (v->count == 0)
        snprintf(fault.text, fault.room, "could not parse \"%.*s\" as version", STR_ARG(text));
    else if (v->count == 1)
        snprintf(fault.text, fault.room, "illegal version string \"%.*s\"", STR_ARG(text));
    else if (first.len > 1 && first.at[0] == '0')
        snprintf(fault.text, fault.room,
                 "illegal zero-prefixed version component \"%.*s\" in \"%.*s\"", STR_ARG(first),
                 STR_ARG(text));
    return v->count > 1 && (first.len == 1 || first.at[0] != '0');
}

/* `1.36` or `kube=1.36`. */
static bool read_one(struct str piece, struct version *v, struct str *other, struct fault fault)
{
    int64_t equal = str_find(piece, '=');
    struct str component = STR_LITERAL("kube");
    struct version found = {.given = true};
    if (equal >= 0) {
        component = str_trim((struct str){piece.at, (uint32_t)equal});
        piece = str_trim(behind(piece, (uint32_t)equal + 1));
    }
    if (!parse(piece, &found, fault))
        return false;
    if (found.count > 2 && found.parts[2] != 0) {
        snprintf(fault.text, fault.room, "patch version not allowed, got: %.*s=%lld.%lld.%lld",
                 STR_ARG(component), (long long)found.parts[0], (long long)found.parts[1],
                 (long long)found.parts[2]);
        return false;
    }
    if (!str_is(component, "kube")) {
        *other = component;
        return true;
    }
    if (v->given) {
        snprintf(fault.text, fault.room,
                 "duplicate version flag, kube=%lld.%lld and kube=%lld.%lld",
                 (long long)v->parts[0], (long long)v->parts[1], (long long)found.parts[0],
                 (long long)found.parts[1]);
        return false;
    }
    *v = found;
    return true;
}

static bool read_list(const char *text, struct version *v, struct fault fault)
{
    struct str rest = str_of(text != NULL ? text : ""), piece, other = {NULL, 0};
    if (rest.len == 0)
        return true;
    bool more = true;
    while (more) {
        int64_t comma = str_find(rest, ',');
        more = comma >= 0;
        piece = more ? (struct str){rest.at, (uint32_t)comma} : rest;
        if (!read_one(piece, v, &other, fault))
            return false;
        rest = more ? behind(rest, (uint32_t)comma + 1) : rest;
    }
    if (other.len > 0)
        snprintf(fault.text, fault.room, "component not registered: %.*s", STR_ARG(other));
    return other.len == 0;
}

/* 1036 for 1.36, so that versions can be compared; what is far too great stays so. */
static int64_t rank(const struct version *v)
{
    int64_t major = v->parts[0] < 999 ? v->parts[0] : 999;
    return major * 1000 + (v->parts[1] < 999 ? v->parts[1] : 999);
}

static void note(struct buffer *faults, const struct version *v, const char *what, const char *last)
{
    buffer_print(faults, "%s%s version %lld.%lld is not between [1.%d, %s]",
                 faults->len > 0 ? ", " : "", what, (long long)v->parts[0], (long long)v->parts[1],
                 RELEASE_NEWEST - BEFORE, last);
}

/* Both within what the newest release takes. */
static bool are_in_range(const struct version *emulated, const struct version *compatible,
                         struct fault fault)
{
    const int64_t first = 1000 + RELEASE_NEWEST - BEFORE, newest = 1000 + RELEASE_NEWEST;
    struct buffer faults = {0};
    char last[32];
    bool both = false;
    snprintf(last, sizeof(last), "1.%d.0", RELEASE_NEWEST);
    if (rank(emulated) < first || rank(emulated) > newest)
        note(&faults, emulated, "emulation", last);
    snprintf(last, sizeof(last), "%d.%d", (int)(rank(emulated) / 1000),
             (int)(rank(emulated) % 1000));
    if (rank(compatible) < first || rank(compatible) > rank(emulated)) {
        both = faults.len > 0;
        note(&faults, compatible, "minCompatibilityVersion", last);
    }
    bool good = faults.len == 0;
    if (!good)
        snprintf(fault.text, fault.room, both ? "[%s]" : "%s", faults.at);
    buffer_free(&faults);
    return good;
}

bool versions_read(const char *emulated, const char *compatible, int64_t *release, char *error,
                   size_t room)
{
    struct fault fault = {error, room};
    struct version e = {0}, c = {0};
    *release = 0;
    if (!read_list(emulated, &e, fault) || !read_list(compatible, &c, fault))
        return false;
    bool named = e.given;
    if (!named)
        e = (struct version){.parts = {1, RELEASE_NEWEST}};
    if (!c.given)
        c = (struct version){.parts = {e.parts[0], e.parts[1] - 1}};
    if (!c.given && rank(&c) < 1000 + RELEASE_NEWEST - BEFORE)
        c = (struct version){.parts = {1, RELEASE_NEWEST - BEFORE}};
    if (!are_in_range(&e, &c, fault))
        return false;
    if (e.parts[1] < RELEASE_OLDEST) {
        snprintf(error, room, "not supported yet: emulation version 1.%lld, only 1.%d to 1.%d",
                 (long long)e.parts[1], RELEASE_OLDEST, RELEASE_NEWEST);
        return false;
    }
    *release = named ? e.parts[1] : 0;
    return true;
}
