/* writes_group: patches of a PodGroup's status. The one idea: a patch says what differs from what
 * was seen, and nothing else, so that it is small and that what others wrote stays. What must stay
 * true: a patch carries the UID, and a condition is always whole, because a merge patch knows lists
 * only as a whole. */
#include "proto/kube/objects/objects.h"
#include "proto/kube/writes/writes.h"

#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/must.h"

#include <cjson/cJSON.h>
#include <string.h>

static void add_text(cJSON *object, const char *key, struct str value)
{
    char *copy = str_copy(value);
    must(cJSON_AddStringToObject(object, key, copy) != NULL);
    memory_free(copy);
}

static void add_time(cJSON *object, const char *key, int64_t wall_us)
{
    char text[32];
    moment_print_seconds(wall_us, text, sizeof(text));
    add_text(object, key, str_of(text));
}

static bool add_count(cJSON *status, const char *key, int64_t old, int64_t new)
{
    if (old != new)
        must(cJSON_AddNumberToObject(status, key, (double)new) != NULL);
    return old != new;
}

static bool add_change(cJSON *status, const char *key, struct str old, struct str new)
{
    bool differs = new.len > 0 && !str_equal(old, new);
    if (differs)
        add_text(status, key, new);
    return differs;
}

static bool add_counts(cJSON *status, const struct group_status *to, int64_t wall_us)
{
    const struct gang *was = &to->group;
    bool differs = add_change(status, "phase", was->phase, to->phase);
    differs = add_count(status, "running", was->running, to->running) || differs;
    differs = add_count(status, "succeeded", was->succeeded, to->succeeded) || differs;
    differs = add_count(status, "failed", was->failed, to->failed) || differs;
    if (str_is(was->api, KUBE_GANG_SIGS))
        differs = add_count(status, "scheduled", was->scheduled, to->scheduled) || differs;
    differs = add_change(status, "occupiedBy", was->occupied_by, to->occupied_by) || differs;
    if (to->schedule_start != 0 && to->schedule_start != was->schedule_start) {
        add_time(status, "scheduleStartTime",
                 to->schedule_start > 0 ? to->schedule_start : wall_us);
        differs = true;
    }
    return differs;
}

/* As upstream: what was said to be scheduled once stays so. */
static bool add_condition(cJSON *status, const struct group_failed *to, int64_t wall_us)
{
    const struct condition *was = &to->group.scheduled_condition;
    const char *word = to->scheduled ? "True" : "False";
    bool same = str_is(was->status, word), done = str_is(was->status, "True");
    if (done ||
        (same && str_equal(was->reason, to->reason) && str_equal(was->message, to->message)))
        return false;
    cJSON *list = cJSON_AddArrayToObject(status, "conditions"), *c = cJSON_CreateObject();
    must(list != NULL && c != NULL && cJSON_AddItemToArray(list, c));
    add_text(c, "type", STR_LITERAL("PodGroupScheduled"));
    add_text(c, "status", str_of(word));
    add_text(c, "reason", to->reason.len > 0 ? to->reason : STR_LITERAL("Scheduled"));
    add_text(c, "message", to->message);
    if (str_is(to->group.api, KUBE_GANG_BUILT_IN) && to->group.generation > 0)
        must(cJSON_AddNumberToObject(c, "observedGeneration", (double)to->group.generation) !=
             NULL);
    if (same && was->since.len > 0)
        add_text(c, "lastTransitionTime", was->since);
    else
        add_time(c, "lastTransitionTime", wall_us);
    return true;
}

bool writes_group(struct buffer *out, const struct group_status *counts,
                  const struct group_failed *condition, int64_t wall_us)
{
    const struct gang *group = counts != NULL ? &counts->group : &condition->group;
    cJSON *root = cJSON_CreateObject();
    must(root != NULL);
    cJSON *meta = cJSON_AddObjectToObject(root, "metadata");
    cJSON *status = cJSON_AddObjectToObject(root, "status");
    must(meta != NULL && status != NULL);
    add_text(meta, "uid", group->uid);
    bool differs = counts != NULL && add_counts(status, counts, wall_us);
    differs = (condition != NULL && add_condition(status, condition, wall_us)) || differs;
    if (differs) {
        char *text = cJSON_PrintUnformatted(root);
        must(text != NULL);
        buffer_add_text(out, text);
        cJSON_free(text);
    }
    cJSON_Delete(root);
    return differs;
}

const char *writes_group_path(struct buffer *path, const struct gang *group, bool subresource)
{
    bool built_in = str_is(group->api, KUBE_GANG_BUILT_IN);
    struct buffer prefix = {0};
    buffer_print(&prefix, "/apis/%.*s/%s", STR_ARG(group->api), built_in ? "v1alpha2" : "v1alpha1");
    writes_path(path, prefix.at, group->namespace_name, "podgroups", group->name);
    buffer_free(&prefix);
    if (subresource)
        buffer_add_text(path, "/status");
    buffer_add_text(path, "?fieldManager=" KUBE_FIELD_MANAGER);
    return built_in ? WRITES_PATCH : WRITES_MERGE;
}
