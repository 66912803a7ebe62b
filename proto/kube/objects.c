/* objects: Kubernetes objects to records. The one idea: each record is read top to bottom in the
 * order of its fields, from spots that know their path, so that any wrong type is reported with
 * the object's name and the field's. What must stay true: fields we do not use are not looked at,
 * and nothing in a record points into the JSON. */
#include "proto/kube/objects.h"

#include "proto/kube/requests.h"
#include "proto/kube/spot.h"
#include "proto/kube/terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBJECT_MAX 600 /* of "Pod namespace/name": 63 + 253 and some */

/* ---- pieces ---- */

struct ordered_label {
    struct label label;
    size_t order; /* in the document, so that the later of two equal keys wins */
};

static int by_key(const void *a, const void *b)
{
    const struct ordered_label *x = a, *y = b;
    int order = str_compare(x->label.key, y->label.key);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* A map of strings, sorted by key. */
static struct label *read_labels(const struct spot *up, const char *name, uint32_t *count)
{
    struct spot object = spot_object(up, name);
    size_t found = kube_json_count(object.value), n = 0;
    struct ordered_label *all = found ? spot_take(&object, found, sizeof(*all)) : NULL;
    struct label *out = all ? spot_take(&object, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct spot c = spot_first(&object); c.value != NULL; c = spot_next(&c), n++) {
        struct str key = arena_copy(c.reading->arena, str_of(c.name));
        if (key.at == NULL)
            spot_fail(&c, "too large");
        all[n] = (struct ordered_label){{key, spot_own_text(&c)}, n};
    }
    qsort(all, n, sizeof(*all), by_key);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || !str_equal(all[i].label.key, all[i + 1].label.key))
            out[(*count)++] = all[i].label;
    return out;
}

/* The given member of each object in a list, such as the names of all gates. */
static struct strs read_each(const struct spot *up, const char *name, const char *member)
{
    struct spot list = spot_list(up, name);
    size_t count = kube_json_count(list.value);
    struct strs texts = {0};
    texts.at = count ? spot_take(&list, count, sizeof(*texts.at)) : NULL;
    if (texts.at == NULL)
        return texts;
    for (struct spot i = spot_first(&list); i.value != NULL; i = spot_next(&i))
        if (spot_is_object(&i))
            texts.at[texts.count++] = spot_text(&i, member);
    return texts;
}

static int64_t read_version(const struct spot *metadata)
{
    struct spot s = spot_member(metadata, "resourceVersion");
    struct str text = spot_own_text(&s);
    int64_t version = 0;
    if (text.len > 0 && !str_to_i64(text, &version))
        spot_fail(&s, "\"%.*s\" is no number", text.len < 64 ? (int)text.len : 64, text.at);
    return version;
}

static struct str read_name(const struct spot *metadata)
{
    struct str name = spot_text(metadata, "name");
    struct spot s = spot_member(metadata, "name");
    if (name.len == 0)
        spot_fail(&s, "must not be empty");
    return name;
}

/* ---- pod ---- */

static void read_pod_metadata(const struct spot *object, struct pod *pod)
{
    struct spot metadata = spot_object(object, "metadata");
    pod->uid = spot_text(&metadata, "uid");
    pod->namespace_name = spot_text(&metadata, "namespace");
    pod->name = read_name(&metadata);
    pod->resource_version = read_version(&metadata);
    pod->generation = spot_i64(&metadata, "generation");
    pod->created = spot_time(&metadata, "creationTimestamp");
    struct spot deleting = spot_member(&metadata, "deletionTimestamp");
    pod->deleting = deleting.value != NULL;
    pod->labels.at = read_labels(&metadata, "labels", &pod->labels.count);
}

static struct toleration *read_tolerations(const struct spot *spec, uint32_t *count)
{
    struct spot list = spot_list(spec, "tolerations");
    size_t found = kube_json_count(list.value);
    struct toleration *out = found ? spot_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct spot i = spot_first(&list); i.value != NULL; i = spot_next(&i))
        if (spot_is_object(&i))
            out[(*count)++] = (struct toleration){.key = spot_text(&i, "key"),
                                                  .operator_name = spot_text(&i, "operator"),
                                                  .value = spot_text(&i, "value"),
                                                  .effect = spot_text(&i, "effect")};
    return out;
}

static void read_affinity(const struct spot *spec, struct pod *pod)
{
    struct spot affinity = spot_object(spec, "affinity");
    struct spot pods = spot_object(&affinity, "podAffinity");
    struct spot not_pods = spot_object(&affinity, "podAntiAffinity");
    struct spot nodes = spot_object(&affinity, "nodeAffinity");
    struct spot required = spot_object(&nodes, "requiredDuringSchedulingIgnoredDuringExecution");
    struct spot terms = spot_list(&required, "nodeSelectorTerms");
    struct spot preferred = spot_list(&nodes, "preferredDuringSchedulingIgnoredDuringExecution");
    pod->has_affinity = pods.value != NULL || not_pods.value != NULL;
    pod->has_required_terms = required.value != NULL;
    pod->required_terms.at = kube_read_node_terms(&terms, &pod->required_terms.count);
    pod->preferred_terms.at = kube_read_preferred_terms(&preferred, &pod->preferred_terms.count);
}

static struct str or_default(struct str text, struct str otherwise)
{
    return text.len ? text : otherwise;
}

/* Appends the container's host ports; out has room for all ports of the pod. */
static void read_container_ports(const struct spot *container, struct host_port *out,
                                 uint32_t *count)
{
    struct spot ports = spot_list(container, "ports");
    for (struct spot i = spot_first(&ports); i.value != NULL; i = spot_next(&i)) {
        int64_t port = spot_is_object(&i) ? spot_i32(&i, "hostPort") : 0;
        if (port <= 0)
            continue;
        out[(*count)++] = (struct host_port){
            .ip = or_default(spot_text(&i, "hostIP"), STR_LITERAL("0.0.0.0")),
            .protocol = or_default(spot_text(&i, "protocol"), STR_LITERAL("TCP")),
            .port = port};
    }
}

static size_t count_ports(const struct spot *containers)
{
    size_t count = 0;
    for (struct spot i = spot_first(containers); i.value != NULL; i = spot_next(&i))
        count += kube_json_count(kube_json_get(i.value, "ports"));
    return count;
}

/* Sidecars before containers, as upstream; other init containers hold no ports. */
static void read_ports(const struct spot *init, const struct spot *containers, struct pod *pod)
{
    size_t most = count_ports(init) + count_ports(containers);
    struct host_port *out = most ? spot_take(containers, most, sizeof(*out)) : NULL;
    if (out == NULL)
        return;
    for (struct spot i = spot_first(init); i.value != NULL; i = spot_next(&i))
        if (str_is(kube_json_text(kube_json_get(i.value, "restartPolicy")), "Always"))
            read_container_ports(&i, out, &pod->ports.count);
    for (struct spot i = spot_first(containers); i.value != NULL; i = spot_next(&i))
        read_container_ports(&i, out, &pod->ports.count);
    pod->ports.at = out;
}

/* Upstream's normalizedImageName: a name without a tag means :latest. */
static struct str normalised(const struct spot *at, struct str image)
{
    for (uint32_t i = image.len; i > 0; i--) {
        if (image.at[i - 1] == ':')
            return image;
        if (image.at[i - 1] == '/')
            break;
    }
    struct str full = arena_print(at->reading->arena, "%.*s:latest", STR_ARG(image));
    if (full.at == NULL)
        spot_fail(at, "too large");
    return full;
}

static void read_images(const struct spot *init, const struct spot *containers,
                        const struct spot *volumes, struct pod *pod)
{
    const struct spot *lists[] = {init, containers, volumes};
    size_t most = kube_json_count(init->value) + kube_json_count(containers->value);
    pod->container_count = (int64_t)most;
    most += kube_json_count(volumes->value);
    pod->images.at = most ? spot_take(containers, most, sizeof(*pod->images.at)) : NULL;
    for (size_t l = 0; pod->images.at != NULL && l < 3; l++)
        for (struct spot i = spot_first(lists[l]); i.value != NULL; i = spot_next(&i)) {
            if (!spot_is_object(&i))
                continue;
            struct spot image = i;
            if (lists[l] == volumes) {
                image = spot_object(&i, "image");
                if (image.value == NULL)
                    continue;
            }
            struct str name = spot_text(&image, lists[l] == volumes ? "reference" : "image");
            pod->images.at[pod->images.count++] = normalised(&i, name);
        }
}

/* Claims by name; an ephemeral volume's claim is named after the pod and the volume. */
static void read_claims(const struct spot *volumes, struct pod *pod)
{
    size_t most = kube_json_count(volumes->value);
    pod->claims.at = most ? spot_take(volumes, most, sizeof(*pod->claims.at)) : NULL;
    if (pod->claims.at == NULL)
        return;
    for (struct spot i = spot_first(volumes); i.value != NULL; i = spot_next(&i)) {
        if (!spot_is_object(&i))
            continue;
        struct spot claim = spot_object(&i, "persistentVolumeClaim");
        struct spot ephemeral = spot_object(&i, "ephemeral");
        struct str name = spot_text(&claim, "claimName");
        if (ephemeral.value != NULL) {
            struct str volume = spot_text(&i, "name");
            name = arena_print(i.reading->arena, "%.*s-%.*s", STR_ARG(pod->name), STR_ARG(volume));
            if (name.at == NULL)
                spot_fail(&i, "too large");
        }
        if (claim.value != NULL || ephemeral.value != NULL)
            pod->claims.at[pod->claims.count++] = name;
    }
}

static void read_pod_spec(const struct spot *object, struct pod *pod)
{
    struct spot spec = spot_object(object, "spec");
    struct spot init = spot_list(&spec, "initContainers");
    struct spot containers = spot_list(&spec, "containers");
    struct spot volumes = spot_list(&spec, "volumes");
    struct spot spread = spot_list(&spec, "topologySpreadConstraints");
    struct spot selector = spot_object(&spec, "nodeSelector");
    pod->node_name = spot_text(&spec, "nodeName");
    pod->scheduler_name = spot_text(&spec, "schedulerName");
    pod->priority = spot_i32(&spec, "priority");
    pod->preemption_policy = spot_text(&spec, "preemptionPolicy");
    pod->gates = read_each(&spec, "schedulingGates", "name");
    pod->has_node_selector = selector.value != NULL;
    pod->node_selector.at = read_labels(&spec, "nodeSelector", &pod->node_selector.count);
    read_affinity(&spec, pod);
    pod->tolerations.at = read_tolerations(&spec, &pod->tolerations.count);
    read_ports(&init, &containers, pod);
    read_images(&init, &containers, &volumes, pod);
    pod->has_spread = kube_json_count(spread.value) > 0;
    read_claims(&volumes, pod);
    pod->resource_claims = read_each(&spec, "resourceClaims", "name");
}

static void read_pod_status(const struct spot *object, struct pod *pod)
{
    struct spot status = spot_object(object, "status");
    struct spot conditions = spot_list(&status, "conditions");
    pod->nominated_node = spot_text(&status, "nominatedNodeName");
    pod->started = spot_time(&status, "startTime");
    pod->condition_types = read_each(&status, "conditions", "type");
    for (struct spot i = spot_first(&conditions); i.value != NULL; i = spot_next(&i)) {
        if (!str_is(kube_json_text(kube_json_get(i.value, "type")), "PodScheduled"))
            continue;
        pod->scheduled =
            (struct condition){.status = spot_text(&i, "status"),
                               .reason = spot_text(&i, "reason"),
                               .message = spot_text(&i, "message"),
                               .since = spot_text(&i, "lastTransitionTime"),
                               .probed = kube_json_get(i.value, "lastProbeTime") != NULL,
                               .observed_generation = spot_i64(&i, "observedGeneration")};
        return;
    }
}

/* ---- the objects ---- */

/* "Pod default/a" for error texts. */
static void name_subject(const struct kube_json *object, const char *kind, char *out, size_t room)
{
    struct str space = kube_json_text(kube_json_path(object, "metadata.namespace"));
    struct str name = kube_json_text(kube_json_path(object, "metadata.name"));
    snprintf(out, room, "%s %.*s%s%.*s", kind, STR_ARG(space), space.len ? "/" : "", STR_ARG(name));
}

static bool finish(const struct reading *r, struct str *error)
{
    if (r->failed && error != NULL)
        *error = r->error;
    return !r->failed;
}

bool kube_object_pod(const struct kube_json *object, struct pod *pod, struct arena *a,
                     struct str *error)
{
    char subject[SUBJECT_MAX];
    name_subject(object, "Pod", subject, sizeof(subject));
    struct reading r = {.arena = a, .subject = subject};
    struct spot root = spot_root(&r, object);
    *pod = (struct pod){0};
    spot_is_object(&root);
    read_pod_metadata(&root, pod);
    read_pod_spec(&root, pod);
    read_pod_status(&root, pod);
    requests_fill(&root, pod);
    return finish(&r, error);
}

static struct taint *read_taints(const struct spot *spec, uint32_t *count)
{
    struct spot list = spot_list(spec, "taints");
    size_t found = kube_json_count(list.value);
    struct taint *out = found ? spot_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct spot i = spot_first(&list); i.value != NULL; i = spot_next(&i))
        if (spot_is_object(&i))
            out[(*count)++] = (struct taint){.key = spot_text(&i, "key"),
                                             .value = spot_text(&i, "value"),
                                             .effect = spot_text(&i, "effect")};
    return out;
}

static struct image *read_node_images(const struct spot *status, uint32_t *count)
{
    struct spot list = spot_list(status, "images");
    size_t found = kube_json_count(list.value);
    struct image *out = found ? spot_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct spot i = spot_first(&list); i.value != NULL; i = spot_next(&i))
        if (spot_is_object(&i))
            out[(*count)++] =
                (struct image){.names = spot_texts(&i, "names"), .size = spot_i64(&i, "sizeBytes")};
    return out;
}

static struct label *read_node_conditions(const struct spot *status, uint32_t *count)
{
    struct spot list = spot_list(status, "conditions");
    size_t found = kube_json_count(list.value);
    struct label *out = found ? spot_take(&list, found, sizeof(*out)) : NULL;
    *count = 0;
    if (out == NULL)
        return NULL;
    for (struct spot i = spot_first(&list); i.value != NULL; i = spot_next(&i))
        if (spot_is_object(&i))
            out[(*count)++] =
                (struct label){.key = spot_text(&i, "type"), .value = spot_text(&i, "status")};
    return out;
}

bool kube_object_node(const struct kube_json *object, struct node *node, struct arena *a,
                      struct str *error)
{
    char subject[SUBJECT_MAX];
    name_subject(object, "Node", subject, sizeof(subject));
    struct reading r = {.arena = a, .subject = subject};
    struct spot root = spot_root(&r, object);
    spot_is_object(&root);
    struct spot metadata = spot_object(&root, "metadata");
    struct spot spec = spot_object(&root, "spec"), status = spot_object(&root, "status");
    *node = (struct node){0};
    node->name = read_name(&metadata);
    node->uid = spot_text(&metadata, "uid");
    node->resource_version = read_version(&metadata);
    node->labels.at = read_labels(&metadata, "labels", &node->labels.count);
    node->taints.at = read_taints(&spec, &node->taints.count);
    node->unschedulable = spot_bool(&spec, "unschedulable");
    requests_fill_allocatable(&root, node);
    node->images.at = read_node_images(&status, &node->images.count);
    node->features = spot_texts(&status, "declaredFeatures");
    node->conditions.at = read_node_conditions(&status, &node->conditions.count);
    return finish(&r, error);
}

bool kube_object_namespace(const struct kube_json *object, struct namespace_set *ns,
                           struct arena *a, struct str *error)
{
    char subject[SUBJECT_MAX];
    name_subject(object, "Namespace", subject, sizeof(subject));
    struct reading r = {.arena = a, .subject = subject};
    struct spot root = spot_root(&r, object);
    spot_is_object(&root);
    struct spot metadata = spot_object(&root, "metadata");
    *ns = (struct namespace_set){0};
    ns->name = read_name(&metadata);
    ns->labels.at = read_labels(&metadata, "labels", &ns->labels.count);
    return finish(&r, error);
}

/* ---- the stream ---- */

/* "pod/<uid>": the key of an object in the mirror. */
static bool make_key(const char *kind, struct str id, struct str *key, struct arena *a,
                     struct str *error)
{
    *key = arena_print(a, "%s/%.*s", kind, STR_ARG(id));
    if (key->at == NULL && error != NULL)
        *error = STR_LITERAL("too large");
    return key->at != NULL;
}

static bool set_pod(const struct kube_json *object, struct message *m, struct str *key,
                    struct arena *a, struct str *error)
{
    m->type = MSG_pod_set;
    if (!kube_object_pod(object, &m->pod_set.pod, a, error))
        return false;
    const struct pod *pod = &m->pod_set.pod;
    if (pod->uid.len == 0) {
        if (error != NULL)
            *error = arena_print(a, "Pod %.*s/%.*s: metadata.uid: must not be empty",
                                 STR_ARG(pod->namespace_name), STR_ARG(pod->name));
        return false;
    }
    return make_key("pod", pod->uid, key, a, error);
}

static void gone_pod(const struct message *last, struct message *m)
{
    const struct pod *pod = &last->pod_set.pod;
    *m = (struct message){
        .type = MSG_pod_gone,
        .pod_gone = {.uid = pod->uid, .namespace_name = pod->namespace_name, .name = pod->name}};
}

static bool set_node(const struct kube_json *object, struct message *m, struct str *key,
                     struct arena *a, struct str *error)
{
    m->type = MSG_node_set;
    return kube_object_node(object, &m->node_set.node, a, error) &&
           make_key("node", m->node_set.node.name, key, a, error);
}

static void gone_node(const struct message *last, struct message *m)
{
    *m = (struct message){.type = MSG_node_gone, .node_gone = {.name = last->node_set.node.name}};
}

static bool set_namespace(const struct kube_json *object, struct message *m, struct str *key,
                          struct arena *a, struct str *error)
{
    m->type = MSG_namespace_set;
    return kube_object_namespace(object, &m->namespace_set, a, error) &&
           make_key("namespace", m->namespace_set.name, key, a, error);
}

static void gone_namespace(const struct message *last, struct message *m)
{
    *m = (struct message){.type = MSG_namespace_gone,
                          .namespace_gone = {.name = last->namespace_set.name}};
}

/* One row a mirrored kind. */
const struct kube_resource kube_resources[] = {
    {"nodes", "Node", "/api/v1/nodes", "", true, set_node, gone_node},
    {"pods", "Pod", "/api/v1/pods", "status.phase!=Succeeded,status.phase!=Failed", true, set_pod,
     gone_pod},
    {"namespaces", "Namespace", "/api/v1/namespaces", "", false, set_namespace, gone_namespace},
};

const size_t kube_resource_count = sizeof(kube_resources) / sizeof(kube_resources[0]);
