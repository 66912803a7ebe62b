/* counted: which of a pod's counts is that of who decides, and which resources count at all. What
 * must stay true: requests.c records every count that a release or its gates may ask for here. */
#include "proto/kube/objects/requests.h"

#include "proto/kube/objects/selector.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---- */

bool requests_is_scalar(struct str name)
{
    static const char native[] = "kubernetes.io/", quota[] = "requests.";
    if (str_starts_with(name, "hugepages-") || str_starts_with(name, "attachable-volumes-"))
        return true;
    if (name.len > 0 && memmem(name.at, name.len, native, strlen(native)) != NULL)
        return true;
    char as_quota[512];
    if (str_find(name, '/') < 0 || str_starts_with(name, quota) || name.len > 400)
        return false;
    int len = snprintf(as_quota, sizeof(as_quota), "%s%.*s", quota, STR_ARG(name));
    return kube_label_key_valid((struct str){as_quota, (uint32_t)len});
}

/* ResourceDeviceClassPrefix: each DeviceClass is an extended resource of this name as well. */
#define CLASS_PREFIX "deviceclass.resource.kubernetes.io/"

bool requests_may_be_devices(struct str name)
{
    if (str_starts_with(name, CLASS_PREFIX))
        return true;
    bool native = memmem(name.at, name.len, "kubernetes.io/", strlen("kubernetes.io/")) != NULL;
    return str_find(name, '/') >= 0 && !native && requests_is_scalar(name);
}

/* ---- counts ---- */

static void take_usage(struct pod *pod, const struct counted_usage *u)
{
    pod->usage.at = u->usage.at;
    pod->usage.count = u->usage.count;
    pod->usage_score_cpu = u->score_cpu;
    pod->usage_score_memory = u->score_memory;
}

/* Only a pod whose status says so has counts with what claims take of its node. */
static bool has_rooms(const struct pod *pod)
{
    for (uint32_t i = 0; i < pod->other_counts.count; i++)
        if (pod->other_counts.at[i].node_resources)
            return true;
    return false;
}

static const struct other_count *other_count(const struct pod *pod, const struct features *features)
{
    bool rooms = features->device_node_resources && has_rooms(pod);
    for (uint32_t i = 0; i < pod->other_counts.count; i++) {
        const struct other_count *o = &pod->other_counts.at[i];
        if ((o->release >= 37) == (features->release >= 37) &&
            o->pod_level_resources == features->pod_level_resources &&
            o->pod_level_resizes == features->pod_level_resizes && o->node_resources == rooms)
            return o;
    }
    return NULL;
}

struct pod requests_as_of(const struct pod *pod, const struct features *features)
{
    struct pod now = *pod;
    const struct other_count *other = other_count(pod, features);
    if (other != NULL) {
        now.request.at = other->request.at;
        now.request.count = other->request.count;
        take_usage(&now, &other->usage);
    } else if (features->release >= 37 && pod->usage_varies) {
        take_usage(&now, &pod->usage_1_37);
    }
    now.resize_deferred &= features->resize_preemption;
    now.usage_varies = false;
    now.usage_1_37 = (struct counted_usage){.score_cpu = 0};
    now.other_counts.count = 0;
    now.other_counts.at = NULL;
    return now;
}

struct pod requests_as_tried(const struct pod *pod)
{
    struct pod tried = *pod;
    if (pod->resize_deferred)
        tried.gang = tried.gang_api = (struct str){NULL, 0};
    if (pod->resize_deferred && pod->node_name.len > 0)
        tried.nominated_node = (struct str){NULL, 0};
    return tried;
}

bool requests_vary(const struct pod *pod)
{
    return pod->usage_varies || pod->other_counts.count > 0 || pod->resize_deferred;
}

bool requests_same_count(const struct features *a, const struct features *b)
{
    return (a->release >= 37) == (b->release >= 37) &&
           a->pod_level_resources == b->pod_level_resources &&
           a->pod_level_resizes == b->pod_level_resizes &&
           a->resize_preemption == b->resize_preemption &&
           a->device_node_resources == b->device_node_resources;
}
