/* words_check: the one idea: a table says where in a pod a word stands and which there are; a word
 * that is none of them would else be as if nothing were there.
 *
 * What must stay true: what a cluster holds is never asked for here; a word that an API server
 * takes is in the table, or its place is not. */
#include "ctl/whatif/words_check.h"

#include <string.h>

#define WORDS_MAX 5

static const struct {
    const char *path; /* below spec; [] is each item of a list */
    const char *words[WORDS_MAX];
    bool needed;
} places[] = {
    {"preemptionPolicy", {"Never", "PreemptLowerPriority"}, false},
    {"restartPolicy", {"Always", "OnFailure", "Never"}, false},
    {"dnsPolicy", {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"}, false},
    {"initContainers[].restartPolicy", {"Always", "OnFailure", "Never"}, false},
    {"containers[].restartPolicy", {"Always", "OnFailure", "Never"}, false},
    {"initContainers[].ports[].protocol", {"TCP", "UDP", "SCTP"}, false},
    {"containers[].ports[].protocol", {"TCP", "UDP", "SCTP"}, false},
    {"tolerations[].operator", {"Exists", "Equal", "Lt", "Gt"}, false},
    {"tolerations[].effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"}, false},
    {"topologySpreadConstraints[].whenUnsatisfiable", {"DoNotSchedule", "ScheduleAnyway"}, true},
    {"topologySpreadConstraints[].nodeAffinityPolicy", {"Honor", "Ignore"}, false},
    {"topologySpreadConstraints[].nodeTaintsPolicy", {"Honor", "Ignore"}, false},
};

struct check {
    struct str *error;
    struct arena *arena;
    const char *const *words;
    bool needed;
};

/* Any of them, or what stands for none. */
static bool check_word(struct check *c, const struct kube_json *value, struct str path)
{
    struct str word = kube_json_text(value), list = {0};
    if (word.len == 0 && !c->needed)
        return true;
    for (size_t i = 0; i < WORDS_MAX && c->words[i] != NULL; i++) {
        if (str_is(word, c->words[i]))
            return true;
        list = arena_print(c->arena, "%.*s%s\"%s\"", STR_ARG(list), i > 0 ? ", " : "", c->words[i]);
    }
    *c->error = arena_print(c->arena, "%.*s: must be one of %.*s, not \"%.*s\"", STR_ARG(path),
                            STR_ARG(list), STR_ARG(word));
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the paths of the table */
static bool check_below(struct check *c, const struct kube_json *object, const char *rest,
                        struct str path)
{
    size_t len = strcspn(rest, "[.");
    const char *name = arena_print(c->arena, "%.*s%c", (int)len, rest, 0).at;
    const struct kube_json *value = kube_json_get(object, name);
    bool is_list = rest[len] == '[';
    unsigned index = 0;
    path = arena_print(c->arena, "%.*s.%s", STR_ARG(path), name);
    if (rest[len] == 0)
        return check_word(c, value, path);
    if (!is_list || !kube_json_is_array(value))
        return true;
    for (const struct kube_json *i = kube_json_first(value); i != NULL; i = kube_json_next(i)) {
        struct str at = arena_print(c->arena, "%.*s[%u]", STR_ARG(path), index++);
        if (!check_below(c, i, rest + len + strlen("[]."), at))
            return false;
    }
    return true;
}

bool words_check(const struct kube_json *pod, const struct schema_place *place, struct str *error,
                 struct arena *a)
{
    const struct kube_json *spec = kube_json_get(pod, "spec");
    struct str at =
        arena_print(a, "%.*s%sspec", STR_ARG(place->path), place->path.len > 0 ? "." : "");
    struct check c = {.error = error, .arena = a};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        c.words = places[i].words;
        c.needed = places[i].needed;
        if (!check_below(&c, spec, places[i].path, at))
            return false;
    }
    if (kube_json_count(kube_json_get(spec, "containers")) > 0)
        return true;
    if (!schema_check(pod, place, error, a)) /* it may be misspelt */
        return false;
    *error = arena_print(a, "%.*s.containers: is missing, and a pod has at least one", STR_ARG(at));
    return false;
}
