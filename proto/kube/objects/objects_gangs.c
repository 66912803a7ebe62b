/* objects_gangs: PodGroups of three API groups as one record, and how pods name them. The one idea:
 * what the groups spell differently is the same to scheduling, so the difference ends here. What
 * must stay true: a pod names at most one PodGroup, in its own namespace, and of the ways to name
 * one the built-in goes first. */
#include "proto/base/moment.h"
#include "proto/kube/objects/objects_internal.h"

#include <string.h>

/* ---- pods ---- */

void object_pod_gang(const struct cursor *object, struct pod *pod)
{
    struct cursor spec = cursor_object(object, "spec");
    struct cursor link = cursor_object(&spec, "schedulingGroup");
    const struct {
        struct str name;
        const char *api;
    } ways[] = {
        {cursor_text(&link, "podGroupName"), KUBE_GANG_BUILT_IN},
        {object_label(pod->labels.at, pod->labels.count, KUBE_GANG_PLUGINS_LABEL),
         KUBE_GANG_PLUGINS},
        {object_label(pod->labels.at, pod->labels.count, KUBE_GANG_SIGS_LABEL), KUBE_GANG_SIGS},
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && pod->gang.len == 0; i++) {
        if (ways[i].name.len == 0)
            continue;
        struct cursor status = cursor_object(object, "status");
        pod->gang = ways[i].name;
        pod->gang_api = str_of(ways[i].api);
        pod->phase = cursor_text(&status, "phase");
    }
}

/* ---- PodGroups ---- */

static void read_min_resources(const struct cursor *spec, struct gang *gang)
{
    struct cursor list = cursor_object(spec, "minResources");
    size_t found = kube_json_count(list.value);
    gang->has_min_resources = list.value != NULL;
    struct quantity *out = found ? cursor_take(&list, found, sizeof(*out)) : NULL;
    if (out == NULL)
        return;
    gang->min_resources.at = out;
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        struct kube_quantity q = cursor_own_quantity(&i);
        struct str name = arena_copy(i.reading->arena, str_of(i.name));
        if (name.at == NULL)
            cursor_fail(&i, "too large");
        out[gang->min_resources.count++] = (struct quantity){
            name, str_is(name, "cpu") ? kube_quantity_milli(q) : kube_quantity_value(q)};
    }
}

static void read_counts(const struct cursor *status, struct gang *gang)
{
    gang->phase = cursor_text(status, "phase");
    gang->scheduled = cursor_i32(status, "scheduled");
    gang->running = cursor_i32(status, "running");
    gang->succeeded = cursor_i32(status, "succeeded");
    gang->failed = cursor_i32(status, "failed");
    gang->schedule_start = cursor_time(status, "scheduleStartTime");
    gang->occupied_by = cursor_text(status, "occupiedBy");
}

#define CONDITION_OF_36 "PodGroupScheduled"
#define CONDITION       "PodGroupInitiallyScheduled"
#define VERSION_OF_36   "v1alpha2"

struct str kube_gang_version(const struct gang *gang)
{
    if (!str_is(gang->api, KUBE_GANG_BUILT_IN))
        return STR_LITERAL("v1alpha1");
    return gang->version.len > 0 ? gang->version : STR_LITERAL(VERSION_OF_36);
}

const char *kube_gang_condition(const struct gang *gang)
{
    bool newer =
        str_is(gang->api, KUBE_GANG_BUILT_IN) && !str_is(kube_gang_version(gang), VERSION_OF_36);
    return newer ? CONDITION : CONDITION_OF_36;
}

/* A list does not say its objects' version. Where there are both (the server was another release
 * before) a group that was scheduled once stays so. */
static bool is_scheduled_condition(const struct cursor *condition, const struct gang *gang)
{
    struct str type = cursor_text(condition, "type");
    bool built_in = str_is(gang->api, KUBE_GANG_BUILT_IN);
    return str_is(type, CONDITION_OF_36) || (built_in && str_is(type, CONDITION));
}

static void read_condition(const struct cursor *status, struct gang *gang)
{
    struct cursor list = cursor_list(status, "conditions");
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        if (!cursor_is_object(&i) || !is_scheduled_condition(&i, gang) ||
            str_is(gang->scheduled_condition.status, "True"))
            continue;
        gang->scheduled_condition =
            (struct condition){.status = cursor_text(&i, "status"),
                               .reason = cursor_text(&i, "reason"),
                               .message = cursor_text(&i, "message"),
                               .since = cursor_text(&i, "lastTransitionTime"),
                               .observed_generation = cursor_i64(&i, "observedGeneration")};
    }
}

/* What a controller of PodGroups writes, and nobody else. */
static bool owns_phase(const struct kube_json *entry)
{
    const struct kube_json *status = kube_json_get(kube_json_get(entry, "fieldsV1"), "f:status");
    static const char *const fields[] = {"f:phase", "f:running", "f:succeeded", "f:failed"};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (kube_json_get(status, fields[i]) != NULL)
            return true;
    return false;
}

/* People who edit a status are no controller that goes on doing it. */
static void read_foreign(const struct kube_json *object, struct gang *gang)
{
    const struct kube_json *list = kube_json_path(object, "metadata.managedFields");
    if (!kube_json_is_array(list))
        return;
    for (const struct kube_json *i = kube_json_first(list); i != NULL; i = kube_json_next(i)) {
        struct str manager = kube_json_text(kube_json_get(i, "manager"));
        bool person = str_starts_with(manager, "kubectl");
        if (str_is(manager, KUBE_FIELD_MANAGER) || person || !owns_phase(i))
            continue;
        struct str time = kube_json_text(kube_json_get(i, "time"));
        int64_t at = 0;
        gang->status_foreign = true;
        if (moment_parse_wall(time.at, time.len, &at) && at > gang->status_foreign_at)
            gang->status_foreign_at = at;
    }
}

/* v1alpha2 has the mode as a word, later versions as an object with one member. */
static bool is_disrupted_whole(const struct cursor *spec)
{
    struct cursor mode = cursor_member(spec, "disruptionMode");
    if (mode.value == NULL || !kube_json_is_object(mode.value))
        return str_is(cursor_text(spec, "disruptionMode"), "PodGroup");
    return cursor_member(&mode, "all").value != NULL;
}

/* There is room for one. */
static struct str topology_key(const struct cursor *spec)
{
    struct cursor constraints = cursor_object(spec, "schedulingConstraints");
    struct cursor list = cursor_list(&constraints, "topology");
    struct cursor first = cursor_first(&list);
    bool any = first.value != NULL && cursor_is_object(&first);
    return any ? cursor_text(&first, "key") : (struct str){NULL, 0};
}

static void read_built_in(const struct cursor *object, const struct cursor *spec, struct gang *gang)
{
    bool composite = str_is(gang->api, KUBE_GANG_COMPOSITE);
    struct str version = cursor_text(object, "apiVersion");
    int64_t slash = str_find(version, '/');
    struct cursor policy = cursor_object(spec, "schedulingPolicy");
    struct cursor all = cursor_object(&policy, "gang");
    gang->min_member = cursor_i32(&all, composite ? "minGroupCount" : "minCount");
    gang->has_priority = cursor_member(spec, "priority").value != NULL;
    gang->priority = cursor_i32(spec, "priority");
    gang->disrupted_whole = is_disrupted_whole(spec);
    gang->preemption_policy = cursor_text(spec, "preemptionPolicy");
    gang->topology_key = topology_key(spec);
    gang->parent = cursor_text(spec, "parentCompositePodGroupName");
    struct cursor status = cursor_object(object, "status");
    if (!composite)
        gang->device_claims.at = object_device_claims(spec, &status, &gang->device_claims.count);
    if (slash > 0)
        gang->version = (struct str){version.at + slash + 1, version.len - (uint32_t)slash - 1};
}

bool kube_object_composite_group(const struct kube_json *object, struct gang *gang, struct arena *a,
                                 struct str *error)
{
    return kube_object_pod_group(object, KUBE_GANG_COMPOSITE, gang, a, error);
}

bool kube_object_pod_group(const struct kube_json *object, const char *api, struct gang *gang,
                           struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    bool composite = strcmp(api, KUBE_GANG_COMPOSITE) == 0;
    object_subject(object, composite ? "CompositePodGroup" : "PodGroup", subject);
    struct reading r = {.arena = a, .subject = subject};
    struct cursor root = cursor_root(&r, object);
    cursor_is_object(&root);
    struct cursor metadata = cursor_object(&root, "metadata");
    struct cursor spec = cursor_object(&root, "spec"), status = cursor_object(&root, "status");
    struct cursor deleting = cursor_member(&metadata, "deletionTimestamp");
    *gang = (struct gang){.api = str_of(api)};
    gang->namespace_name = cursor_text(&metadata, "namespace");
    gang->name = object_name(&metadata);
    gang->uid = cursor_text(&metadata, "uid");
    gang->resource_version = object_version(&metadata);
    gang->created = cursor_time(&metadata, "creationTimestamp");
    gang->deleting = deleting.value != NULL;
    gang->generation = cursor_i64(&metadata, "generation");
    if (composite || str_is(gang->api, KUBE_GANG_BUILT_IN)) {
        read_built_in(&root, &spec, gang);
    } else {
        gang->min_member = cursor_i32(&spec, "minMember");
        gang->timeout_s = cursor_i32(&spec, "scheduleTimeoutSeconds");
        read_min_resources(&spec, gang);
        read_counts(&status, gang);
        read_foreign(object, gang);
    }
    read_condition(&status, gang);
    return object_finish(&r, error);
}
