/* scenario_check: the one idea: an answer to a question that was misread looks like any other, so a
 * scenario is refused unless every word of it is known.
 *
 * What must stay true: each error begins with the path of what is wrong; what playing would pass
 * over is refused here. */
#include "ctl/scenario_check.h"

#include "ctl/schema.h"
#include "proto/base/map.h"

#include <string.h>

struct check {
    const struct kube_json *document;
    struct arena *arena;
    struct str error;
    struct map *seen; /* kind/namespace/name of objects */
    struct map *uids; /* kind and UID: whose it is, a struct str */
    int64_t release;  /* minor version of the API server that holds the objects */
    bool as_they_are; /* options.noAPIDefaults: nothing is to be filled in */
    bool no_options;  /* it is no scenario, and has none */
    bool no_whole;    /* without PodLevelResources requests of a pod as a whole are not filled in */
};

static bool wrong(struct check *c, struct str path, const char *what, struct str more)
{
    c->error = arena_print(c->arena, "%.*s: %s%.*s", STR_ARG(path), what, STR_ARG(more));
    return false;
}

static const struct str nothing;

const struct kube_json *scenario_items(const struct kube_json *list)
{
    if (kube_json_is_array(list))
        return kube_json_first(list);
    if (!str_is(kube_json_text(kube_json_get(list, "kind")), "List"))
        return NULL;
    const struct kube_json *items = kube_json_get(list, "items");
    return kube_json_is_array(items) ? kube_json_first(items) : NULL;
}

/* ---- members ---- */

/* Every member of the object is one of the names (NULL-terminated). */
static bool check_members(struct check *c, const struct kube_json *object, struct str path,
                          const char *const *names)
{
    if (!kube_json_is_object(object))
        return wrong(c, path, "must be an object, not ", str_of(kube_json_kind(object)));
    for (const struct kube_json *i = kube_json_first(object); i != NULL; i = kube_json_next(i)) {
        const char *const *known = names;
        struct str name = kube_json_name(i);
        while (*known != NULL && !str_is(name, *known))
            known++;
        if (*known == NULL)
            return wrong(c,
                         arena_print(c->arena, "%.*s%s%.*s", STR_ARG(path), path.len > 0 ? "." : "",
                                     STR_ARG(name)),
                         "unknown field", schema_suggest(name, names, c->arena));
    }
    return true;
}

static struct str member_path(struct check *c, struct str path, const char *member)
{
    return arena_print(c->arena, "%.*s%s%s", STR_ARG(path), path.len > 0 ? "." : "", member);
}

/* A member that may be missing, and is text otherwise: any, or one of some (NULL-terminated). */
static bool check_text(struct check *c, const struct kube_json *object, struct str path,
                       const char *member, const char *const *allowed)
{
    const struct kube_json *value = kube_json_get(object, member);
    struct str text = kube_json_text(value), list = nothing;
    if (value == NULL)
        return true;
    path = member_path(c, path, member);
    if (!kube_json_is_string(value))
        return wrong(c, path, "must be a string, not ", str_of(kube_json_kind(value)));
    for (const char *const *i = allowed; i != NULL && *i != NULL; i++) {
        if (str_is(text, *i))
            return true;
        list = arena_print(c->arena, "%.*s%s%s", STR_ARG(list), list.len > 0 ? ", " : "", *i);
    }
    return allowed == NULL ||
           wrong(c, path, "must be one of ",
                 arena_print(c->arena, "%.*s, not \"%.*s\"", STR_ARG(list), STR_ARG(text)));
}

static bool check_truth(struct check *c, const struct kube_json *object, struct str path,
                        const char *member)
{
    const struct kube_json *value = kube_json_get(object, member);
    return value == NULL || kube_json_is_bool(value) ||
           wrong(c, member_path(c, path, member), "must be true or false, not ",
                 str_of(kube_json_kind(value)));
}

/* A member that is an object with values of one kind: true or false, or text. */
static bool check_values(struct check *c, const struct kube_json *object, struct str path,
                         const char *member, bool truths)
{
    const struct kube_json *values = kube_json_get(object, member);
    if (values == NULL)
        return true;
    path = member_path(c, path, member);
    if (!kube_json_is_object(values))
        return wrong(c, path, "must be an object, not ", str_of(kube_json_kind(values)));
    for (const struct kube_json *i = kube_json_first(values); i != NULL; i = kube_json_next(i))
        if (truths ? !kube_json_is_bool(i) : !kube_json_is_string(i))
            return wrong(
                c, arena_print(c->arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(kube_json_name(i))),
                truths ? "must be true or false, not " : "must be a string, not ",
                str_of(kube_json_kind(i)));
    return true;
}

/* ---- what the API server would have filled in ---- */

static const struct kube_json *runtime_class(const struct check *c, struct str name)
{
    const struct kube_json *o = scenario_items(kube_json_get(c->document, "objects"));
    for (; o != NULL; o = kube_json_next(o))
        if (str_is(kube_json_text(kube_json_get(o, "kind")), "RuntimeClass") &&
            str_equal(kube_json_text(kube_json_path(o, "metadata.name")), name))
            return o;
    return NULL;
}

static bool lacks(struct check *c, struct str path, const char *member, struct str class)
{
    return wrong(
        c, member_path(c, path, member),
        "is missing, and the API server would copy it from RuntimeClass ",
        arena_print(c->arena, "%.*s: write it, or set options.noAPIDefaults", STR_ARG(class)));
}

/* Every item of a list is in another, or every member of an object in another, word by word. */
static bool has_all(const struct kube_json *there, const struct kube_json *wanted)
{
    bool has = true;
    for (const struct kube_json *w = kube_json_first(wanted); has && w != NULL;
         w = kube_json_next(w)) {
        struct buffer text = {0}, own = {0};
        kube_json_write(w, &text);
        has = false;
        for (const struct kube_json *i = kube_json_first(there); !has && i != NULL;
             i = kube_json_next(i)) {
            buffer_reset(&own);
            kube_json_write(i, &own);
            has = str_equal(kube_json_name(i), kube_json_name(w)) &&
                  str_equal(buffer_str(&own), buffer_str(&text));
        }
        buffer_free(&text);
        buffer_free(&own);
    }
    return has;
}

/* Admission copies a RuntimeClass's overhead, node selector and tolerations into a new pod. */
static bool check_runtime_class(struct check *c, const struct kube_json *pod, struct str path)
{
    const struct kube_json *spec = kube_json_get(pod, "spec");
    struct str name = kube_json_text(kube_json_get(spec, "runtimeClassName"));
    const struct kube_json *class = name.len > 0 ? runtime_class(c, name) : NULL;
    bool is_new = kube_json_text(kube_json_path(pod, "metadata.uid")).len == 0;
    if (name.len == 0)
        return true;
    if (class == NULL)
        return !is_new || wrong(c, member_path(c, path, "spec.runtimeClassName"),
                                "there is no RuntimeClass ", name);
    if (kube_json_count(kube_json_path(class, "overhead.podFixed")) > 0 &&
        kube_json_get(spec, "overhead") == NULL)
        return lacks(c, path, "spec.overhead", name);
    if (!has_all(kube_json_get(spec, "nodeSelector"),
                 kube_json_path(class, "scheduling.nodeSelector")))
        return lacks(c, path, "spec.nodeSelector", name);
    return has_all(kube_json_get(spec, "tolerations"),
                   kube_json_path(class, "scheduling.tolerations")) ||
           lacks(c, path, "spec.tolerations", name);
}

/* Defaulting makes requests of a pod as a whole from its limits and its containers' requests. */
static bool check_pod_requests(struct check *c, const struct kube_json *pod, struct str path)
{
    const struct kube_json *resources = kube_json_path(pod, "spec.resources");
    const struct kube_json *i = kube_json_first(kube_json_get(resources, "limits"));
    for (; i != NULL; i = kube_json_next(i)) {
        struct str name = kube_json_name(i);
        const struct kube_json *there = kube_json_first(kube_json_get(resources, "requests"));
        while (there != NULL && !str_equal(kube_json_name(there), name))
            there = kube_json_next(there);
        if (there == NULL)
            return wrong(c,
                         arena_print(c->arena, "%.*s.spec.resources.requests.%.*s", STR_ARG(path),
                                     STR_ARG(name)),
                         "is missing, and the API server would fill it in: write it",
                         c->no_options ? nothing : STR_LITERAL(", or set options.noAPIDefaults"));
    }
    return true;
}

/* Pods and claims are told apart by it: that of another is no API server's. */
static bool check_uid(struct check *c, const struct kube_json *object, struct str kind,
                      struct str path)
{
    struct str uid = kube_json_text(kube_json_path(object, "metadata.uid"));
    struct str space = kube_json_text(kube_json_path(object, "metadata.namespace"));
    struct str *whose = arena_take(c->arena, sizeof(*whose));
    *whose =
        arena_print(c->arena, "%.*s/%.*s", STR_ARG(space.len > 0 ? space : STR_LITERAL("default")),
                    STR_ARG(kube_json_text(kube_json_path(object, "metadata.name"))));
    if (uid.len == 0 || (!str_is(kind, "Pod") && !str_is(kind, "ResourceClaim")))
        return true;
    struct str key = arena_print(c->arena, "%.*s %.*s", STR_ARG(kind), STR_ARG(uid));
    const struct str *before = map_set(c->uids, key, whose);
    return before == NULL || str_equal(*before, *whose) ||
           wrong(c, member_path(c, path, "metadata.uid"), "is that of ",
                 arena_print(c->arena, "%.*s %.*s, too", STR_ARG(kind), STR_ARG(*before)));
}

static bool check_pod(struct check *c, const struct kube_json *pod, struct str path)
{
    const struct schema_place at = {.release = c->release, .kind = "Pod", .path = path};
    return schema_check(pod, &at, &c->error, c->arena) &&
           check_uid(c, pod, STR_LITERAL("Pod"), path) &&
           (c->as_they_are || (check_runtime_class(c, pod, path) &&
                               (c->no_whole || check_pod_requests(c, pod, path))));
}

bool scenario_check_pod(const struct kube_json *pod, const struct schema_place *at,
                        struct str *error, struct arena *a)
{
    struct check c = {.release = at->release, .arena = a, .no_options = true};
    bool fine = schema_check(pod, at, &c.error, a) && check_pod_requests(&c, pod, at->path);
    *error = c.error;
    return fine;
}

/* ---- objects ---- */

static bool check_object(struct check *c, const struct kube_json *object, struct str path)
{
    if (str_is(kube_json_text(kube_json_get(object, "kind")), "Pod"))
        return check_pod(c, object, path);
    const struct schema_place at = {.release = c->release, .path = path};
    return schema_check(object, &at, &c->error, c->arena) &&
           check_uid(c, object, kube_json_text(kube_json_get(object, "kind")), path);
}

/* Two of one name would silently be one, the last. */
static bool check_once(struct check *c, const struct kube_json *object, struct str path)
{
    struct str space = kube_json_text(kube_json_path(object, "metadata.namespace"));
    struct str name = kube_json_text(kube_json_path(object, "metadata.name"));
    struct str kind = kube_json_text(kube_json_get(object, "kind"));
    struct str api = kube_json_text(kube_json_get(object, "apiVersion"));
    struct str key =
        arena_print(c->arena, "%.*s %.*s/%.*s/%.*s", STR_ARG(api), STR_ARG(kind),
                    STR_ARG(space.len > 0 ? space : STR_LITERAL("default")), STR_ARG(name));
    return map_set(c->seen, key, c) == NULL ||
           wrong(c, path, "there is another ",
                 arena_print(c->arena, "%.*s %.*s", STR_ARG(kind), STR_ARG(name)));
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as lists in lists, which the reader bounds */
static bool check_objects(struct check *c, const struct kube_json *list, struct str path)
{
    static const char *const list_members[] = {"apiVersion", "kind", "metadata", "items", NULL};
    unsigned index = 0;
    if (kube_json_is_object(list)) {
        const struct kube_json *kind = kube_json_get(list, "kind");
        if (!str_is(kube_json_text(kind), "List"))
            return wrong(c, path, "must be a list of objects, or one object of kind List", nothing);
        if (!check_members(c, list, path, list_members))
            return false;
        path = member_path(c, path, "items");
        list = kube_json_get(list, "items");
    }
    if (list != NULL && !kube_json_is_array(list))
        return wrong(c, path, "must be a list, not ", str_of(kube_json_kind(list)));
    for (const struct kube_json *i = kube_json_first(list); i != NULL; i = kube_json_next(i)) {
        struct str at = arena_print(c->arena, "%.*s[%u]", STR_ARG(path), index++);
        bool is_list = str_is(kube_json_text(kube_json_get(i, "kind")), "List");
        if (is_list ? !check_objects(c, i, at) : !check_object(c, i, at) || !check_once(c, i, at))
            return false;
    }
    return true;
}

/* ---- steps ---- */

static bool check_named(struct check *c, const struct kube_json *step, struct str path)
{
    return check_text(c, step, path, "kind", NULL) && check_text(c, step, path, "api", NULL) &&
           check_text(c, step, path, "namespace", NULL) &&
           check_text(c, step, path, "name", NULL) &&
           (kube_json_get(step, "name") != NULL ||
            wrong(c, member_path(c, path, "name"), "is missing", nothing));
}

static bool check_delete(struct check *c, const struct kube_json *step, struct str path)
{
    static const char *const members[] = {"op", "kind", "namespace", "name", NULL};
    struct str kind = kube_json_text(kube_json_get(step, "kind"));
    return check_members(c, step, path, members) && check_named(c, step, path) &&
           (kind.len == 0 || schema_has_kind(c->release, kind) ||
            wrong(c, member_path(c, path, "kind"), "a scenario has no objects of kind ", kind));
}

static bool check_step(struct check *c, const struct kube_json *step, struct str path)
{
    static const char *const schedule[] = {"op", "namespace", "name", NULL};
    static const char *const group[] = {"op", "api", "namespace", "name", NULL};
    static const char *const apply[] = {"op", "object", NULL};
    static const char *const daemons[] = {"op", "pod", NULL};
    static const char *const pending[] = {"op", NULL};
    static const char *const ops[] = {"apply",   "delete",  "schedule", "group",
                                      "daemons", "pending", NULL};
    struct str op = kube_json_text(kube_json_get(step, "op"));
    if (kube_json_get(step, "op") == NULL)
        return check_pod(c, step, path);
    if (!check_text(c, step, path, "op", ops))
        return false;
    if (str_is(op, "apply"))
        return check_members(c, step, path, apply) &&
               check_object(c, kube_json_get(step, "object"), member_path(c, path, "object"));
    if (str_is(op, "delete"))
        return check_delete(c, step, path);
    if (str_is(op, "daemons"))
        return check_members(c, step, path, daemons) &&
               (kube_json_get(step, "pod") != NULL ||
                wrong(c, member_path(c, path, "pod"), "is missing", nothing)) &&
               check_pod(c, kube_json_get(step, "pod"), member_path(c, path, "pod"));
    if (str_is(op, "pending"))
        return check_members(c, step, path, pending);
    return check_members(c, step, path, str_is(op, "group") ? group : schedule) &&
           check_named(c, step, path);
}

static bool check_steps(struct check *c, const struct kube_json *list)
{
    unsigned index = 0;
    if (list == NULL)
        return wrong(c, STR_LITERAL("pods"), "the steps are missing, see berth-simulate(1)",
                     nothing);
    if (!kube_json_is_array(list) && scenario_items(list) == NULL)
        return wrong(c, STR_LITERAL("pods"), "must be a list of steps, not ",
                     str_of(kube_json_kind(list)));
    for (const struct kube_json *i = scenario_items(list); i != NULL; i = kube_json_next(i))
        if (!check_step(c, i, arena_print(c->arena, "pods[%u]", index++)))
            return false;
    return true;
}

/* ---- the whole ---- */

static bool check_options(struct check *c, const struct kube_json *options)
{
    static const char *const members[] = {
        "afterPreemption", "noAPIDefaults", "noBind",       "pick", "omitAllFailures",
        "omitRaw",         "walk",          "featureGates", NULL};
    static const char *const after[] = {"evict", "nominate", "none", NULL};
    static const char *const pick[] = {"first", "last", NULL};
    struct str path = STR_LITERAL("options");
    if (options == NULL)
        return true;
    return check_members(c, options, path, members) &&
           check_text(c, options, path, "afterPreemption", after) &&
           check_text(c, options, path, "pick", pick) &&
           check_truth(c, options, path, "noAPIDefaults") &&
           check_truth(c, options, path, "noBind") && check_truth(c, options, path, "omitRaw") &&
           check_truth(c, options, path, "walk") &&
           check_truth(c, options, path, "omitAllFailures") &&
           check_values(c, options, path, "featureGates", true);
}

static bool check_config(struct check *c, const struct kube_json *config)
{
    return config == NULL || kube_json_is_string(config) || kube_json_is_object(config) ||
           wrong(c, STR_LITERAL("config"),
                 "must be a KubeSchedulerConfiguration, as text or as an object, not ",
                 str_of(kube_json_kind(config)));
}

static bool is_off(const struct kube_json *gates, const char *name)
{
    const struct kube_json *value = kube_json_get(gates, name);
    return kube_json_is_bool(value) && !kube_json_true(value);
}

bool scenario_check(const struct kube_json *document, int64_t release, struct str *error,
                    struct arena *a)
{
    static const char *const members[] = {"name",        "description", "objects",      "pods",
                                          "config",      "options",     "featureGates", "choices",
                                          "nominations", NULL};
    struct check c = {.document = document, .release = release, .arena = a};
    const struct kube_json *options = kube_json_get(document, "options");
    c.seen = map_new();
    c.uids = map_new();
    c.as_they_are = kube_json_true(kube_json_get(options, "noAPIDefaults"));
    c.no_whole = is_off(kube_json_get(document, "featureGates"), "PodLevelResources") ||
                 is_off(kube_json_get(options, "featureGates"), "PodLevelResources");
    bool fine = kube_json_is_object(document) ||
                wrong(&c, STR_LITERAL("scenario"), "must be an object, not ",
                      str_of(kube_json_kind(document)));
    fine = fine && check_members(&c, document, nothing, members) &&
           check_text(&c, document, nothing, "name", NULL) &&
           check_text(&c, document, nothing, "description", NULL) && check_options(&c, options) &&
           check_values(&c, document, nothing, "featureGates", true) &&
           check_values(&c, document, nothing, "choices", false) &&
           check_values(&c, document, nothing, "nominations", false) &&
           check_config(&c, kube_json_get(document, "config")) &&
           check_objects(&c, kube_json_get(document, "objects"), STR_LITERAL("objects")) &&
           check_steps(&c, kube_json_get(document, "pods"));
    map_free(&c.seen);
    map_free(&c.uids);
    *error = c.error;
    return fine;
}
