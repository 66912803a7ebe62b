/* scenario: the oracle's scenario format. Objects fill a world, then pods are decided one after
 * another and each is bound before the next is looked at.
 *
 * What must stay true: whatever a scenario asks for that this program does not do is named in the
 * output, as a note on the scenario or as the error of a step, and never passed over. */
#include "ctl/scenario.h"

#include "ctl/world.h"
#include "proto/base/memory.h"
#include "proto/kube/config_file.h"
#include "proto/kube/objects.h"
#include "scheduler/plugin.h"

#include <stdio.h>

struct scenario {
    const struct kube_json *document;
    const struct scenario_output *output;
    struct arena arena; /* the scenario's */
    struct arena step;  /* one step's */
    struct scheduler_config config;
    struct world *world;
    struct str error;
    struct strs notes;
    bool pick_last, omit_raw;
    struct json_out json;
};

/* ---- notes: what is not honoured yet ---- */

static bool note_is_new(const struct scenario *s, struct str note)
{
    for (uint32_t i = 0; i < s->notes.count; i++)
        if (str_equal(s->notes.at[i], note))
            return false;
    return true;
}

#define NOTES_MAX 16

static void note(struct scenario *s, const char *text)
{
    if (s->notes.at == NULL)
        s->notes.at = arena_take(&s->arena, NOTES_MAX * sizeof(struct str));
    if (s->notes.count < NOTES_MAX && note_is_new(s, str_of(text)))
        s->notes.at[s->notes.count++] = str_of(text);
}

static bool any_profile_runs(const struct scenario *s, const char *plugin)
{
    for (uint32_t i = 0; i < s->config.profiles.count; i++) {
        const struct profile *p = &s->config.profiles.at[i];
        if (framework_lists(p->filter, plugin) || framework_lists(p->post_filter, plugin))
            return plugin_find(str_of(plugin)) == NULL;
    }
    return false;
}

static void note_object(struct scenario *s, struct str kind)
{
    bool selects = str_is(kind, "Service") || str_is(kind, "ReplicationController") ||
                   str_is(kind, "ReplicaSet") || str_is(kind, "StatefulSet");
    if (selects && any_profile_runs(s, "PodTopologySpread"))
        note(s, "not supported yet: default topology spreading of the pods of a Service, "
                "ReplicationController, ReplicaSet or StatefulSet");
    if (str_is(kind, "PodDisruptionBudget") && any_profile_runs(s, "DefaultPreemption"))
        note(s, "not supported yet: preemption (PodDisruptionBudgets are not looked at)");
}

static void note_assigned(struct scenario *s, const struct pod *pod)
{
    if (pod->has_affinity && any_profile_runs(s, "InterPodAffinity"))
        note(s, "not supported yet: affinity and anti-affinity of pods that run already");
}

/* ---- objects ---- */

static struct str kind_of(const struct kube_json *object)
{
    return kube_json_text(kube_json_get(object, "kind"));
}

/* What the API server would have filled in, for scenarios written by hand. */
static void fill_in(struct scenario *s, struct pod *pod)
{
    if (pod->namespace_name.len == 0)
        pod->namespace_name = STR_LITERAL("default");
    if (pod->scheduler_name.len == 0)
        pod->scheduler_name = STR_LITERAL("default-scheduler");
    if (pod->uid.len == 0)
        pod->uid = arena_print(&s->step, "pod-%.*s-%.*s", STR_ARG(pod->namespace_name),
                               STR_ARG(pod->name));
}

static bool read_pod(struct scenario *s, const struct kube_json *object, struct pod *pod,
                     struct str *error)
{
    if (!kube_object_pod(object, pod, &s->step, error))
        return false;
    fill_in(s, pod);
    return true;
}

static bool finished(const struct kube_json *object)
{
    struct str phase = kube_json_text(kube_json_path(object, "status.phase"));
    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

static bool set_pod(struct scenario *s, const struct kube_json *object, struct str *error)
{
    struct pod pod;
    if (finished(object)) /* the scheduler's watch does not show it */
        return true;
    if (!read_pod(s, object, &pod, error))
        return false;
    if (pod.node_name.len > 0)
        note_assigned(s, &pod);
    world_pod_set(s->world, &pod);
    return true;
}

static bool set_object(struct scenario *s, const struct kube_json *object, struct str *error)
{
    struct str kind = kind_of(object);
    struct node node;
    if (str_is(kind, "Pod"))
        return set_pod(s, object, error);
    if (!str_is(kind, "Node")) {
        note_object(s, kind);
        return true;
    }
    if (!kube_object_node(object, &node, &s->step, error))
        return false;
    world_node_set(s->world, &node);
    return true;
}

/* Calls set_object for each object of a list, lists inside it included, pods last as the oracle. */
static bool set_objects(struct scenario *s, const struct kube_json *list, bool pods)
{
    for (const struct kube_json *o = kube_json_first(list); o != NULL; o = kube_json_next(o)) {
        bool fine = true;
        if (str_is(kind_of(o), "List")) {
            const struct kube_json *items = kube_json_get(o, "items");
            for (const struct kube_json *i = kube_json_first(items); i != NULL && fine;
                 i = kube_json_next(i))
                fine = str_is(kind_of(i), "Pod") != pods || set_object(s, i, &s->error);
        } else if (str_is(kind_of(o), "Pod") == pods) {
            fine = set_object(s, o, &s->error);
        }
        if (!fine) {
            s->error = arena_copy(&s->arena, s->error);
            return false;
        }
        arena_reset(&s->step);
    }
    return true;
}

/* ---- deciding ---- */

static bool lists(struct strs list, struct str name)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (str_equal(list.at[i], name))
            return true;
    return false;
}

static bool passed(const struct report *r, struct str node)
{
    for (uint32_t i = 0; i < r->verdict_count; i++)
        if (str_equal(r->verdicts[i].node, node))
            return str_is(r->verdicts[i].code, "Success");
    return false;
}

/* What another scheduler did: judge it, and do the same if that is possible at all. */
static void follow_choice(struct scenario *s, struct report *r)
{
    char *key = str_copy(r->pod);
    const struct kube_json *choice = kube_json_get(kube_json_get(s->document, "choices"), key);
    memory_free(key);
    if (choice == NULL || r->decision->kind == DECISION_error)
        return;
    r->has_choice = true;
    r->choice = kube_json_text(choice);
    if (r->decision->kind == DECISION_unschedulable) {
        r->choice_ok = r->choice.len == 0;
        return;
    }
    r->choice_ok = lists(r->decision->best_nodes, r->choice);
    if (r->choice.len == 0 || passed(r, r->choice))
        r->node = r->choice;
}

static void scheduled(struct scenario *s, struct report *r)
{
    const struct strs best = r->decision->best_nodes;
    r->result = STR_LITERAL("scheduled");
    r->node = s->pick_last ? best.at[best.count - 1] : best.at[0];
}

static void unschedulable(struct scenario *s, struct report *r)
{
    const struct decision *d = r->decision;
    r->result = STR_LITERAL("unschedulable");
    r->message = d->message;
    r->reason = STR_LITERAL("Unschedulable");
    if (d->pre_filter.missing_support)
        r->error =
            arena_print(&s->step, "not supported yet: plugin %.*s", STR_ARG(d->pre_filter.plugin));
    else if (d->preemption_helps)
        r->error = STR_LITERAL("not supported yet: preemption, which would make room for this pod");
}

static void move_on(struct scenario *s, const struct report *r)
{
    if (r->decision->kind == DECISION_node && r->node.len > 0)
        world_bind(s->world, r->record, r->node);
    if (r->decision->kind == DECISION_unschedulable && r->decision->clear_nominated &&
        r->record->nominated_node.len > 0)
        world_clear_nomination(s->world, r->record);
}

static void tell(struct scenario *s, const struct report *r)
{
    if (s->output->json)
        report_json(&s->json, r);
    else
        report_row(s->output->out, r);
}

static void decide(struct scenario *s, const struct pod *pod, struct report *r)
{
    r->record = pod;
    r->decided = true;
    r->omit_raw = s->omit_raw;
    r->nodes = world_nodes(s->world, &s->step);
    r->decision = world_decide(s->world, pod);
    r->verdicts = world_verdicts(s->world, &r->verdict_count);
    if (r->decision->kind == DECISION_node) {
        scheduled(s, r);
    } else if (r->decision->kind == DECISION_unschedulable) {
        unschedulable(s, r);
    } else {
        r->result = STR_LITERAL("error");
        r->error = r->message = r->decision->message;
        r->reason = STR_LITERAL("SchedulerError");
    }
    follow_choice(s, r);
    tell(s, r);
    move_on(s, r);
}

/* One attempt for a pending pod. */
static void attempt(struct scenario *s, const struct pod *pod, struct report *r)
{
    r->pod = arena_print(&s->step, "%.*s/%.*s", STR_ARG(pod->namespace_name), STR_ARG(pod->name));
    r->framework = world_framework(s->world, pod);
    r->result = STR_LITERAL("ignored");
    r->node = pod->node_name;
    if (pod->node_name.len > 0 || r->framework == NULL) {
        tell(s, r);
        return;
    }
    r->profile = pod->scheduler_name;
    r->priority = pod->priority;
    if (pod->gates.count > 0 &&
        framework_lists(r->framework->profile.pre_enqueue, "SchedulingGates")) {
        r->result = STR_LITERAL("gated");
        r->gates = pod->gates;
        tell(s, r);
        return;
    }
    decide(s, pod, r);
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

static void step_apply(struct scenario *s, const struct kube_json *step, struct report *r)
{
    const struct kube_json *object = kube_json_get(step, "object");
    struct str error;
    bool is_node = str_is(kind_of(object), "Node");
    if (!is_node && !str_is(kind_of(object), "Pod"))
        note_object(s, kind_of(object));
    if (!set_object(s, object, &error)) {
        fail_step(s, r, error);
        return;
    }
    r->pod = arena_print(&s->step, "%.*s %.*s/%.*s", STR_ARG(kind_of(object)),
                         STR_ARG(name_in(object, "metadata.namespace", is_node ? "" : "default")),
                         STR_ARG(name_in(object, "metadata.name", "")));
    tell(s, r);
}

static void step_delete(struct scenario *s, const struct kube_json *step, struct report *r)
{
    struct str kind = name_in(step, "kind", "Pod"), name = name_in(step, "name", "");
    bool is_node = str_is(kind, "Node");
    struct str space = is_node ? (struct str){0} : name_in(step, "namespace", "default");
    bool known = is_node ? world_node_gone(s->world, name) : true;
    if (str_is(kind, "Pod"))
        known = world_pod_gone(s->world, space, name);
    if (!known) {
        fail_step(s, r,
                  arena_print(&s->step, "there is no %.*s \"%.*s\"", STR_ARG(kind), STR_ARG(name)));
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
        attempt(s, &pod, r);
        return;
    }
    r->pod = arena_print(&s->step, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
    fail_step(s, r, arena_print(&s->step, "pod \"%.*s\" not found", STR_ARG(name)));
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
    attempt(s, &pod, r);
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
    else
        fail_step(s, &r, arena_print(&s->step, "unknown op \"%.*s\"", STR_ARG(op)));
    arena_reset(&s->step);
}

/* ---- the whole ---- */

static bool read_config(struct scenario *s)
{
    const struct kube_json *config = kube_json_get(s->document, "config");
    struct str text = kube_json_text(config), error = {0};
    bool fine;
    if (kube_json_is_object(config))
        fine = scheduler_config_parse_json(config, &s->config, &s->arena, &error);
    else if (text.len > 0)
        fine = scheduler_config_parse(text, &s->config, &s->arena, &error);
    else
        fine = scheduler_config_load(NULL, &s->config, &s->arena, &error);
    if (!fine)
        s->error = arena_print(&s->arena, "config: %.*s", STR_ARG(error));
    return fine;
}

static bool read_options(struct scenario *s)
{
    const struct kube_json *options = kube_json_get(s->document, "options");
    s->pick_last = str_is(kube_json_text(kube_json_get(options, "pick")), "last");
    s->omit_raw = kube_json_true(kube_json_get(options, "omitRaw"));
    if (kube_json_count(kube_json_get(s->document, "featureGates")) > 0) {
        s->error = STR_LITERAL("featureGates: not supported yet");
        return false;
    }
    if (kube_json_count(kube_json_get(s->document, "nominations")) > 0)
        note(s, "not supported yet: nominations, since they follow preemption");
    return true;
}

static bool load(struct scenario *s)
{
    const struct kube_json *objects = kube_json_get(s->document, "objects");
    if (!kube_json_is_object(s->document)) {
        s->error = STR_LITERAL("a scenario is an object");
        return false;
    }
    if (!read_config(s) || !read_options(s))
        return false;
    s->world = world_new(s->config.profiles.at, s->config.profiles.count, s->output->shards);
    return set_objects(s, objects, false) && set_objects(s, objects, true);
}

static void begin(struct scenario *s)
{
    if (!s->output->json) {
        if (s->error.len == 0)
            report_heading(s->output->out);
        return;
    }
    json_open(&s->json, NULL, '{');
    json_str_if(&s->json, "name", kube_json_text(kube_json_get(s->document, "name")));
    json_str_if(&s->json, "error", s->error);
    json_str(&s->json, "version", STR_LITERAL("v1.36.3"));
    if (s->world != NULL) {
        json_open(&s->json, "profiles", '[');
        for (uint32_t i = 0; i < s->config.profiles.count; i++)
            report_profile(&s->json, &s->config.profiles.at[i]);
        json_close(&s->json, ']');
    }
    json_open(&s->json, "results", '[');
}

static void end(struct scenario *s)
{
    if (s->output->json) {
        json_close(&s->json, ']');
        json_strs_if(&s->json, "notes", s->notes);
        json_close(&s->json, '}');
        buffer_add_text(s->output->out, "\n");
        return;
    }
    if (s->error.len > 0)
        buffer_print(s->output->out, "error: %.*s\n", STR_ARG(s->error));
    for (uint32_t i = 0; i < s->notes.count; i++)
        buffer_print(s->output->out, "note: %.*s\n", STR_ARG(s->notes.at[i]));
}

bool scenario_play(const struct kube_json *document, const struct scenario_output *o)
{
    struct scenario s = {
        .document = document, .output = o, .json = {.out = o->out, .indented = o->indented}};
    bool loaded = load(&s);
    begin(&s);
    const struct kube_json *pods = kube_json_get(document, "pods");
    for (const struct kube_json *p = kube_json_first(pods); loaded && p != NULL;
         p = kube_json_next(p))
        play_step(&s, p);
    end(&s);
    world_free(&s.world);
    arena_free(&s.arena);
    arena_free(&s.step);
    return loaded;
}

void scenario_fail(const struct scenario_output *o, struct str name, struct str error)
{
    if (!o->json) {
        buffer_print(o->out, "%.*s: %.*s\n", STR_ARG(name), STR_ARG(error));
        return;
    }
    struct json_out j = {.out = o->out, .indented = o->indented};
    json_open(&j, NULL, '{');
    json_str(&j, "error", error);
    json_open(&j, "results", '[');
    json_close(&j, ']');
    json_close(&j, '}');
    buffer_add_text(o->out, "\n");
}
