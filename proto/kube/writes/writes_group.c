/* writes_group: patches of a PodGroup's status. The one idea: a patch says what differs from what
 * was seen, and nothing else, so that it is small and that what others wrote stays. What must stay
 * true: a patch carries the UID, and a condition is always whole, because a merge patch knows lists
 * only as a whole. */
#include "proto/kube/documents/json_build.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/writes/writes.h"

#include <inttypes.h>
#include <stdio.h>

static bool add_count(cJSON *status, const char *key, int64_t old, int64_t new)
{
    if (old != new)
        json_add_whole(status, key, new);
    return old != new;
}

static bool add_change(cJSON *status, const char *key, struct str old, struct str new)
{
    bool differs = new.len > 0 && !str_equal(old, new);
    if (differs)
        json_add_text(status, key, new);
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
        json_add_seconds(status, "scheduleStartTime",
                         to->schedule_start > 0 ? to->schedule_start : wall_us);
        differs = true;
    }
    return differs;
}

/* As upstream: what was said to be scheduled once stays so. */
static bool add_condition(cJSON *status, const struct group_failed *to, int64_t wall_us)
{
    const struct condition *was = &to->group.scheduled_condition;
    struct str reason = words_text(&condition_reason_words, to->reason);
    const char *word = to->scheduled ? "True" : "False";
    bool same = str_is(was->status, word), done = str_is(was->status, "True");
    if (done || (same && str_equal(was->reason, reason) && str_equal(was->message, to->message)))
        return false;
    cJSON *c = json_add_item(json_add_list(status, "conditions"));
    json_add_text(c, "type", str_of(kube_gang_condition(&to->group)));
    json_add_text(c, "status", str_of(word));
    json_add_text(c, "reason", reason.len > 0 ? reason : STR_LITERAL("Scheduled"));
    json_add_text(c, "message", to->message);
    if (str_is(to->group.api, KUBE_GANG_BUILT_IN) && to->group.generation > 0)
        json_add_whole(c, "observedGeneration", to->group.generation);
    if (same && was->since.len > 0)
        json_add_text(c, "lastTransitionTime", was->since);
    else
        json_add_seconds(c, "lastTransitionTime", wall_us);
    return true;
}

bool writes_group_is_guarded(const struct group_failed *condition)
{
    const struct gang *group = &condition->group;
    return str_is(group->api, KUBE_GANG_BUILT_IN) && !condition->scheduled &&
           group->resource_version > 0;
}

static void add_version(cJSON *metadata, int64_t version)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, version);
    json_add_text(metadata, "resourceVersion", str_of(text));
}

bool writes_group(struct buffer *out, const struct group_status *counts,
                  const struct group_failed *condition, int64_t wall_us)
{
    const struct gang *group = counts != NULL ? &counts->group : &condition->group;
    cJSON *root = json_build();
    cJSON *metadata = json_add_object(root, "metadata");
    json_add_text(metadata, "uid", group->uid);
    if (condition != NULL && writes_group_is_guarded(condition))
        add_version(metadata, group->resource_version);
    cJSON *status = json_add_object(root, "status");
    bool differs = counts != NULL && add_counts(status, counts, wall_us);
    differs = (condition != NULL && add_condition(status, condition, wall_us)) || differs;
    if (differs)
        json_build_print(out, root);
    else
        cJSON_Delete(root);
    return differs;
}

const char *writes_group_path(struct buffer *path, const struct gang *group, bool subresource)
{
    bool built_in = str_is(group->api, KUBE_GANG_BUILT_IN);
    struct buffer prefix = {0};
    buffer_print(&prefix, "/apis/%.*s/%.*s", STR_ARG(group->api),
                 STR_ARG(kube_gang_version(group)));
    writes_path(path, prefix.at, group->namespace_name, "podgroups", group->name);
    buffer_free(&prefix);
    if (subresource)
        buffer_add_text(path, "/status");
    buffer_add_text(path, "?fieldManager=" KUBE_FIELD_MANAGER);
    return built_in ? WRITES_PATCH : WRITES_MERGE;
}
