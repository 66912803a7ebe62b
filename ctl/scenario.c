/* scenario: the oracle's scenario format. Objects fill a world, then pods are decided one after
 * another and each is bound before the next is looked at.
 *
 * What must stay true: whatever a scenario asks for that this program does not do is named in the
 * output, as the error of a step, and never passed over. */
#include "ctl/scenario.h"

#include "ctl/attempt.h"
#include "ctl/claims_out.h"
#include "ctl/group.h"
#include "ctl/others.h"
#include "ctl/plugin_doors.h"
#include "ctl/pod_defaults.h"
#include "ctl/priority_classes.h"
#include "ctl/scenario_check.h"
#include "ctl/simulate/daemons.h"
#include "ctl/simulate/pending.h"
#include "ctl/whatif/object_defaults.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/objects/requests.h"
#include "proto/kube/release/feature_gates.h"
#include "scheduler/merge/consultation.h"

#include <stdio.h>

struct scenario {
    const struct kube_json *document;
    const struct scenario_output *output;
    struct arena arena; /* the scenario's */
    struct arena step;  /* one step's */
    struct scheduler_config config;
    struct world *world;
    struct str error;
    struct attempts attempts;
    struct json_out json;
    struct priority_classes *classes;
    struct str default_class; /* of claims that name none */
    struct pending pending;
};

/* ---- objects ---- */

static struct str kind_of(const struct kube_json *object)
{
    return kube_json_text(kube_json_get(object, "kind"));
}

/* As the oracle makes it, as long as that is clear: "a" and "b-c" are not "a-b" and "c". */
static struct str made_uid(struct scenario *s, const char *kind, struct str space, struct str name)
{
    return arena_print(&s->step, "%s-%.*s%s%.*s", kind, STR_ARG(space),
                       str_find(space, '-') < 0 ? "-" : "/", STR_ARG(name));
}

/* What the API server would have filled in, for scenarios written by hand. */
static void fill_in(struct scenario *s, struct pod *pod)
{
    if (pod->scheduler_name.len == 0)
        pod->scheduler_name = STR_LITERAL("default-scheduler");
    if (pod->uid.len == 0)
        pod->uid = made_uid(s, "pod", pod->namespace_name, pod->name);
}

/* A namespace that nobody wrote down is there all the same, where a pod is in it. */
static void note_namespace(struct scenario *s, struct str space)
{
    struct label label = {STR_LITERAL("kubernetes.io/metadata.name"), space};
    const struct message m = {.type = MSG_namespace_set,
                              .namespace_set = {.name = space, .labels = {1, &label}}};
    if (!s->attempts.no_labels && catalog_namespace(world_catalog(s->world), space) == NULL)
        world_take(s->world, &m);
}

/* The record lives as long as the step. */
static bool read_pod(struct scenario *s, const struct kube_json *object, struct pod *pod,
                     struct str *error)
{
    struct kube_json *filled = s->attempts.no_labels ? NULL : pod_defaults(object);
    struct pod read, counted;
    bool fine = kube_object_pod(filled != NULL ? filled : object, &read, &s->step, error) &&
                (s->attempts.no_labels ||
                 priority_classes_fill_in(s->classes, object, &read, error, &s->step));
    if (fine) {
        counted = requests_as_of(&read, &s->config.profiles.at[0].features);
        codec_copy(&pod_record, pod, &counted, &s->step);
    } else {
        *error = arena_copy(&s->step, *error);
    }
    kube_json_free(&filled);
    if (fine) {
        fill_in(s, pod);
        note_namespace(s, pod->namespace_name);
    }
    if (fine && pod->node_name.len > 0 && !s->attempts.no_labels)
        world_label_pod(s->world, pod, &s->step);
    return fine;
}

static bool finished(const struct kube_json *object)
{
    struct str phase = kube_json_text(kube_json_path(object, "status.phase"));
    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

/* No API server lets a bound pod move. */
static bool bound_elsewhere(struct scenario *s, const struct pod *pod)
{
    struct pod known;
    return world_pod(s->world, pod->namespace_name, pod->name, &known, &s->step) &&
           known.node_name.len > 0 && !str_equal(known.node_name, pod->node_name);
}

static bool set_pod(struct scenario *s, const struct kube_json *object, struct str *error)
{
    struct pod pod;
    if (!read_pod(s, object, &pod, error))
        return false;
    if (bound_elsewhere(s, &pod)) {
        *error = arena_print(&s->step, "pod %.*s/%.*s is bound to another node",
                             STR_ARG(pod.namespace_name), STR_ARG(pod.name));
        return false;
    }
    if (finished(object)) { /* the scheduler's watch does not show it */
        world_pod_gone(s->world, pod.namespace_name, pod.name);
        return true;
    }
    world_pod_set(s->world, &pod);
    pending_note(&s->pending, &pod);
    return true;
}

void scenario_fill_in_namespace(struct message *m, struct str fallback)
{
    struct str *space = NULL;
    switch (m->type) {
    case MSG_claim_set: space = &m->claim_set.claim.namespace_name; break;
    case MSG_resource_claim_set:
        space = &m->resource_claim_set.resource_claim.namespace_name;
        break;
    case MSG_csi_capacity_set: space = &m->csi_capacity_set.csi_capacity.namespace_name; break;
    case MSG_owner_set: space = &m->owner_set.owner.namespace_name; break;
    case MSG_budget_set: space = &m->budget_set.budget.namespace_name; break;
    case MSG_pod_group_set: space = &m->pod_group_set.group.namespace_name; break;
    default: return;
    }
    if (space->len == 0)
        *space = fallback;
}

/* Devices are kept by the UID of the claim that has them. */
static void fill_in_claim(struct scenario *s, struct message *m)
{
    struct resource_claim *claim = &m->resource_claim_set.resource_claim;
    if (m->type == MSG_resource_claim_set && claim->uid.len == 0)
        claim->uid = made_uid(s, "resourceclaim", claim->namespace_name, claim->name);
}

static bool set_mirrored(struct scenario *s, const struct kube_resource *resource,
                         const struct kube_json *object, struct str *error)
{
    struct message m = {0};
    struct str key;
    if (!resource->set(object, &m, &key, &s->step, error)) {
        *error = arena_copy(&s->step, *error);
        return false;
    }
    scenario_fill_in_namespace(&m, STR_LITERAL("default"));
    fill_in_claim(s, &m);
    world_note(s->world, object);
    if (m.type == MSG_node_set)
        world_node_set(s->world, &m.node_set.node);
    else
        world_take(s->world, &m);
    return true;
}

/* Kinds that scheduling does not look at are nothing to it. */
static bool set_object(struct scenario *s, const struct kube_json *object, struct str *error)
{
    const struct kube_resource *resource = kube_resource_for(object);
    if (str_is(kind_of(object), "Pod"))
        return set_pod(s, object, error);
    if (str_is(kind_of(object), "PriorityClass"))
        priority_classes_set(s->classes, object);
    if (resource == NULL)
        return true;
    struct kube_json *filled =
        s->attempts.no_labels ? NULL : object_defaults(object, s->default_class);
    bool fine = set_mirrored(s, resource, filled != NULL ? filled : object, error);
    kube_json_free(&filled);
    return fine;
}

/* Calls set_object for each object of a list, lists inside it included; pods come last, as in the
 * oracle.
 * NOLINTNEXTLINE(misc-no-recursion): as deep as lists in lists, which the reader bounds */
static bool set_objects(struct scenario *s, const struct kube_json *list, struct str path,
                        bool pods)
{
    unsigned index = 0;
    const char *items = kube_json_is_array(list) ? "" : ".items";
    for (const struct kube_json *o = scenario_items(list); o != NULL; o = kube_json_next(o)) {
        struct str error = {0},
                   at = arena_print(&s->arena, "%.*s%s[%u]", STR_ARG(path), items, index++);
        if (str_is(kind_of(o), "List")) {
            if (!set_objects(s, o, at, pods))
                return false;
        } else if (str_is(kind_of(o), "Pod") == pods && !set_object(s, o, &error)) {
            s->error = arena_print(&s->arena, "%.*s: %.*s", STR_ARG(at), STR_ARG(error));
            return false;
        }
        arena_reset(&s->step);
    }
    return true;
}

static void tell(struct scenario *s, const struct report *r)
{
    report_open(&s->attempts.output, r, false);
    report_close(&s->attempts.output);
}

/* ---- steps ---- */

static void fail_step(struct scenario *s, struct report *r, struct str error)
{
    r->result = STR_LITERAL("error");
    r->error = error;
    tell(s, r);
}

static struct str name_in(const struct kube_json *object, const char *path, const char *fallback)
{
    struct str text = kube_json_text(kube_json_path(object, path));
    return text.len > 0 ? text : str_of(fallback);
}

/* Kinds that live in a namespace, of those that scenarios have. */
bool scenario_is_namespaced(struct str kind)
{
    static const char *const cluster_wide[] = {
        "Node",         "Namespace",   "PersistentVolume", "StorageClass",
        "CSINode",      "CSIDriver",   "VolumeAttachment", "PriorityClass",
        "RuntimeClass", "DeviceClass", "ResourceSlice",    "DeviceTaintRule"};
    for (size_t i = 0; i < sizeof(cluster_wide) / sizeof(cluster_wide[0]); i++)
        if (str_is(kind, cluster_wide[i]))
            return false;
    return true;
}

static void step_apply(struct scenario *s, const struct kube_json *step, struct report *r)
{
    const struct kube_json *object = kube_json_get(step, "object");
    const char *fallback = scenario_is_namespaced(kind_of(object)) ? "default" : "";
    struct str error;
    if (!set_object(s, object, &error)) {
        fail_step(s, r, error);
        return;
    }
    r->pod = arena_print(&s->step, "%.*s %.*s/%.*s", STR_ARG(kind_of(object)),
                         STR_ARG(name_in(object, "metadata.namespace", fallback)),
                         STR_ARG(name_in(object, "metadata.name", "")));
    tell(s, r);
}

/* False when there is no such object. */
static bool remove_object(struct scenario *s, struct str kind, struct str space, struct str name)
{
    struct message m = {.type = MSG_object_gone,
                        .object_gone = {.namespace_name = space, .name = name}};
    uint32_t number;
    if (str_is(kind, "Pod"))
        return world_pod_gone(s->world, space, name);
    if (str_is(kind, "Node"))
        return world_node_gone(s->world, name);
    if (kube_resource_of(kind) == NULL)
        return true;
    if (str_is(kind, "Namespace"))
        m = (struct message){.type = MSG_namespace_gone, .namespace_gone = {.name = name}};
    else if (words_find(&object_kind_words, kind, &number))
        m.object_gone.kind = (enum object_kind)number;
    if (!world_has_object(s->world, kind, space, name))
        return false;
    world_take(s->world, &m);
    return true;
}

/* As the API server says it: `pods "x" not found`, `poddisruptionbudgets.policy "x" not found`. */
static struct str not_found(struct scenario *s, struct str kind, struct str name)
{
    static const char named_groups[] = "/apis/";
    const struct kube_resource *resource = kube_resource_of(kind);
    struct str path = str_of(resource->path), group = {NULL, 0};
    if (str_starts_with(path, named_groups)) {
        group = (struct str){path.at + sizeof(named_groups) - 1,
                             path.len - (uint32_t)sizeof(named_groups) + 1};
        group.len = (uint32_t)str_find(group, '/');
    }
    return arena_print(&s->step, "%s%s%.*s \"%.*s\" not found", resource->name,
                       group.len > 0 ? "." : "", STR_ARG(group), STR_ARG(name));
}

static void step_delete(struct scenario *s, const struct kube_json *step, struct report *r)
{
    struct str kind = name_in(step, "kind", "Pod"), name = name_in(step, "name", "");
    struct str space = {0};
    if (scenario_is_namespaced(kind))
        space = name_in(step, "namespace", "default");
    if (!remove_object(s, kind, space, name)) {
        fail_step(s, r, not_found(s, kind, name));
        return;
    }
    r->pod = arena_print(&s->step, "%.*s %.*s/%.*s", STR_ARG(kind), STR_ARG(space), STR_ARG(name));
    tell(s, r);
}

static void step_schedule(struct scenario *s, const struct kube_json *step, struct report *r)
{
    struct str space = name_in(step, "namespace", "default"), name = name_in(step, "name", "");
    struct pod pod;
    r->op = (struct str){0};
    if (world_pod(s->world, space, name, &pod, &s->step)) {
        attempt(&s->attempts, &pod, r);
        return;
    }
    r->pod = arena_print(&s->step, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
    fail_step(s, r, arena_print(&s->step, "pod \"%.*s\" not found", STR_ARG(name)));
}

static void step_group(struct scenario *s, const struct kube_json *step, struct report *r)
{
    struct gang group, named = {.api = name_in(step, "api", ""),
                                .namespace_name = name_in(step, "namespace", "default"),
                                .name = name_in(step, "name", "")};
    if (world_group(s->world, &named, &group, &s->step)) {
        attempt_group(&s->attempts, &group, r);
        return;
    }
    fail_step(s, r, arena_print(&s->step, "PodGroup \"%.*s\" not found", STR_ARG(named.name)));
}

static bool set_daemon(struct scenario *s, const struct kube_json *template, struct str node,
                       struct str *error)
{
    struct kube_json *made = daemon_pod(template, node);
    bool fine = set_pod(s, made, error);
    kube_json_free(&made);
    return fine;
}

/* They wait then, and the step is no result unless something is wrong. */
static void step_daemons(struct scenario *s, const struct kube_json *step, struct report *r)
{
    const struct kube_json *template = kube_json_get(step, "pod");
    struct kube_json *made = daemon_pod(template, (struct str){0});
    struct str error = {0};
    struct pod pod;
    bool fine = read_pod(s, made, &pod, &error);
    if (fine) {
        struct strs nodes = daemon_nodes(&s->attempts, &pod);
        for (uint32_t i = 0; fine && i < nodes.count; i++)
            fine = set_daemon(s, template, nodes.at[i], &error);
    }
    if (!fine)
        fail_step(s, r, error);
    kube_json_free(&made);
}

/* Each of them is a result, and the step itself none. */
static void step_pending(struct scenario *s)
{
    pending_decide(&s->pending, &s->attempts);
}

static void step_new_pod(struct scenario *s, const struct kube_json *object, struct report *r)
{
    struct pod pod;
    struct str error;
    if (!read_pod(s, object, &pod, &error)) {
        fail_step(s, r, error);
        return;
    }
    world_pod_set(s->world, &pod);
    pending_note(&s->pending, &pod);
    attempt(&s->attempts, &pod, r);
}

static void play_step(struct scenario *s, const struct kube_json *step)
{
    struct str op = kube_json_text(kube_json_get(step, "op"));
    struct report r = {.op = op, .result = STR_LITERAL("done")};
    if (op.len == 0)
        step_new_pod(s, step, &r);
    else if (str_is(op, "apply"))
        step_apply(s, step, &r);
    else if (str_is(op, "delete"))
        step_delete(s, step, &r);
    else if (str_is(op, "schedule"))
        step_schedule(s, step, &r);
    else if (str_is(op, "group"))
        step_group(s, step, &r);
    else if (str_is(op, "daemons"))
        step_daemons(s, step, &r);
    else if (str_is(op, "pending"))
        step_pending(s);
    else
        fail_step(s, &r, arena_print(&s->step, "unknown op \"%.*s\"", STR_ARG(op)));
    arena_reset(&s->step);
}

/* ---- the whole ---- */

static void add_gates(struct buffer *text, const struct kube_json *gates)
{
    for (const struct kube_json *i = kube_json_first(gates); i != NULL; i = kube_json_next(i))
        buffer_print(text, "%s%.*s=%s", text->len > 0 ? "," : "", STR_ARG(kube_json_name(i)),
                     kube_json_true(i) ? "true" : "false");
}

/* Of the scenario, and of its options: the same as the flag --feature-gates. */
static bool read_gates(struct scenario *s, struct features *features)
{
    const struct kube_json *options = kube_json_get(s->document, "options");
    struct buffer text = {0};
    char error[256];
    add_gates(&text, kube_json_get(s->document, "featureGates"));
    add_gates(&text, kube_json_get(options, "featureGates"));
    buffer_add(&text, "", 1);
    bool fine =
        feature_gates_read(text.at, release_of(s->output->release), features, error, sizeof(error));
    if (!fine)
        s->error = arena_print(&s->arena, "featureGates: %s", error);
    buffer_free(&text);
    return fine;
}

static bool read_config(struct scenario *s)
{
    struct features features;
    const struct kube_json *config = kube_json_get(s->document, "config");
    struct str text = kube_json_text(config), error = {0};
    bool fine = read_gates(s, &features);
    if (!fine)
        return false;
    if (kube_json_is_object(config))
        fine = scheduler_config_parse_json(config, features, &s->config, &s->arena, &error);
    else if (text.len > 0)
        fine = scheduler_config_parse(text, features, &s->config, &s->arena, &error);
    else
        fine = scheduler_config_load(NULL, features, &s->config, &s->arena, &error);
    if (!fine)
        s->error = arena_print(&s->arena, "config: %.*s", STR_ARG(error));
    return fine;
}

static bool is_on(const struct kube_json *options, const char *name)
{
    return kube_json_true(kube_json_get(options, name));
}

static void read_after(struct scenario *s, struct str after)
{
    s->attempts.after = AFTER_evict;
    if (str_is(after, "nominate"))
        s->attempts.after = AFTER_nominate;
    else if (str_is(after, "none"))
        s->attempts.after = AFTER_none;
}

static bool read_options(struct scenario *s)
{
    const struct kube_json *options = kube_json_get(s->document, "options");
    struct attempts *a = &s->attempts;
    a->config = &s->config;
    a->document = s->document;
    a->arena = &s->step;
    a->output = (struct report_output){.json = s->output->json ? &s->json : NULL,
                                       .table = s->output->out,
                                       .wide = s->output->wide};
    a->pick_last = str_is(kube_json_text(kube_json_get(options, "pick")), "last");
    a->omit_raw = is_on(options, "omitRaw");
    a->omit_others = is_on(options, "omitAllFailures");
    a->no_bind = is_on(options, "noBind");
    a->no_labels = is_on(options, "noAPIDefaults");
    read_after(s, kube_json_text(kube_json_get(options, "afterPreemption")));
    return true;
}

/* The plugin on the bus that says in what order pods have their turn; NULL: none does. All profiles
 * say the same. */
static const struct bus_plugin *who_sorts(const struct scheduler_config *config)
{
    if (config->profiles.count == 0 || config->details[0].points[POINT_queue_sort].count == 0)
        return NULL;
    return bus_plugin_of(&config->profiles.at[0],
                         config->details[0].points[POINT_queue_sort].at[0]);
}

/* Whoever has a say in decisions is asked, or named. */
static bool ask_others(struct scenario *s)
{
    const struct scenario_output *o = s->output;
    const struct profile *profiles = s->config.profiles.at;
    uint32_t count = s->config.profiles.count;
    struct strs others = others_of(&s->config, &s->arena);
    if (o->doors != NULL) {
        const struct plugin_doors_wanted wanted = {profiles, count, who_sorts(&s->config)};
        if (!plugin_doors_await(o->doors, &wanted, &s->error, &s->arena))
            return false;
        s->attempts.sorts = wanted.sorts;
        world_ask_plugins(s->world, plugin_doors_world(o->doors));
        others = others_but_plugins(others, profiles, count, &s->arena);
    }
    for (uint32_t i = 0; o->not_asked != NULL && i < others.count; i++)
        buffer_print(o->not_asked, "%s%.*s", o->not_asked->len > 0 ? ", " : "",
                     STR_ARG(others.at[i]));
    return true;
}

static bool load(struct scenario *s)
{
    const struct kube_json *objects = kube_json_get(s->document, "objects");
    if (!scenario_check(s->document, s->output->release, &s->error, &s->arena) || !read_config(s) ||
        !read_options(s))
        return false;
    s->default_class = object_default_class(scenario_items(objects));
    s->world = world_new(s->config.profiles.at, s->config.profiles.count, s->output->shards);
    s->attempts.world = s->world;
    if (!ask_others(s))
        return false;
    s->attempts.cross_check = s->output->cross_check;
    if (s->output->cross_check != NULL)
        cross_check_start(s->output->cross_check,
                          kube_json_text(kube_json_get(s->document, "name")));
    if (!set_objects(s, objects, STR_LITERAL("objects"), false) ||
        !set_objects(s, objects, STR_LITERAL("objects"), true))
        return false;
    world_settle(s->world);
    return true;
}

static void tell_error(const struct scenario_output *o, struct str error)
{
    if (o->why != NULL)
        buffer_add_str(o->why, error);
}

static void begin(struct scenario *s)
{
    if (s->error.len > 0 && s->output->place != NULL)
        s->error = s->output->place(s->output->context, s->error);
    tell_error(s->output, s->error);
    if (!s->output->json) {
        if (s->error.len == 0)
            report_heading(s->output->out);
        return;
    }
    json_open(&s->json, NULL, '{');
    json_str_if(&s->json, "name", kube_json_text(kube_json_get(s->document, "name")));
    json_str_if(&s->json, "error", s->error);
    json_str(&s->json, "version",
             arena_print(&s->arena, "v%s", release_of(s->output->release)->full));
    if (s->world != NULL) {
        json_open(&s->json, "profiles", '[');
        for (uint32_t i = 0; i < s->config.profiles.count; i++)
            report_profile(&s->json, &s->config.profiles.at[i],
                           s->config.details[i].points[POINT_bind]);
        json_close(&s->json, ']');
    }
    json_open(&s->json, "results", '[');
}

static void end(struct scenario *s)
{
    if (s->output->json) {
        json_close(&s->json, ']');
        if (s->world != NULL)
            claims_out_final(&s->json, s->world);
        json_close(&s->json, '}');
        buffer_add_text(s->output->out, "\n");
    }
}

bool scenario_play(const struct kube_json *document, const struct scenario_output *o)
{
    struct scenario s = {.document = document,
                         .output = o,
                         .json = {.out = o->out, .indented = o->indented},
                         .classes = priority_classes_new()};
    bool loaded = load(&s);
    begin(&s);
    const struct kube_json *steps = scenario_items(kube_json_get(document, "pods"));
    for (const struct kube_json *p = steps; loaded && p != NULL; p = kube_json_next(p))
        play_step(&s, p);
    end(&s);
    world_free(&s.world);
    priority_classes_free(&s.classes);
    pending_free(&s.pending);
    arena_free(&s.arena);
    arena_free(&s.step);
    return loaded;
}

void scenario_fail(const struct scenario_output *o, struct str error)
{
    struct json_out j = {.out = o->out, .indented = o->indented};
    tell_error(o, error);
    if (!o->json)
        return;
    json_open(&j, NULL, '{');
    json_str(&j, "error", error);
    json_open(&j, "results", '[');
    json_close(&j, ']');
    json_close(&j, '}');
    buffer_add_text(o->out, "\n");
}
