/* manifests: the one idea: a pod is made by writing down what its controller would have sent to the
 * API server, and read as any pod is.
 *
 * What must stay true: every word of a document is known, or the whole file is refused; what
 * scheduling does not look at may be there, and is nothing. */
#include "ctl/whatif/manifests.h"

#include "ctl/pod_defaults.h"
#include "ctl/scenario.h"
#include "ctl/scenario_check.h"
#include "ctl/whatif/amounts_check.h"
#include "ctl/whatif/claim_templates.h"
#include "ctl/whatif/object_defaults.h"
#include "ctl/whatif/words_check.h"
#include "proto/base/memory.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/objects/requests.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void *manifests_room(struct arena *a, void *at, uint32_t count, size_t size)
{
    if ((count & (count - 1)) != 0) /* there is room up to the next power of two */
        return at;
    void *longer = arena_take(a, (count > 0 ? (size_t)count * 2 : 1) * size);
    if (count > 0)
        memcpy(longer, at, (size_t)count * size);
    return longer;
}

void manifests_as(struct manifests *m, const struct explained *told, struct str space)
{
    m->release = told->release;
    m->space = space;
    m->p = told->profiles.count > 0 ? told->profiles.at : NULL;
}

void manifests_free(struct manifests *m)
{
    for (uint32_t i = 0; i < m->documents.count; i++)
        kube_json_free(&m->documents.at[i]);
    priority_classes_free(&m->classes);
    arena_free(&m->arena);
}

static bool refuse(struct manifests *m, struct str place, const char *what, struct str more)
{
    m->error = arena_print(&m->arena, "%.*s: %s%.*s", STR_ARG(place), what, STR_ARG(more));
    return false;
}

/* ---- kinds ---- */

/* What makes pods of a template. */
struct maker {
    const char *api, *kind;
    const char *number;                 /* the field that says how many */
    const char *const *fields;          /* of its spec, where the schema does not know the kind */
    const char *owner_api, *owner_kind; /* of its pods */
    bool spread;                        /* its pods are spread by default, by its selector */
    const char *spec;                   /* what holds number and template */
    const char *revision;               /* the label that tells its templates apart */
};

static const char *const deployment_fields[] = {"replicas",
                                                "selector",
                                                "template",
                                                "strategy",
                                                "minReadySeconds",
                                                "revisionHistoryLimit",
                                                "paused",
                                                "progressDeadlineSeconds",
                                                NULL};
static const char *const job_fields[] = {"parallelism",
                                         "completions",
                                         "activeDeadlineSeconds",
                                         "podFailurePolicy",
                                         "successPolicy",
                                         "backoffLimit",
                                         "backoffLimitPerIndex",
                                         "maxFailedIndexes",
                                         "selector",
                                         "manualSelector",
                                         "template",
                                         "ttlSecondsAfterFinished",
                                         "completionMode",
                                         "suspend",
                                         "podReplacementPolicy",
                                         "managedBy",
                                         NULL};

static const char *const cron_job_fields[] = {
    "schedule", "timeZone",    "startingDeadlineSeconds",    "concurrencyPolicy",
    "suspend",  "jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit",
    NULL};

/* How many there are depends on the nodes. */
static const char *const daemon_set_fields[] = {
    "selector", "template", "updateStrategy", "minReadySeconds", "revisionHistoryLimit", NULL};

#define HASH     "pod-template-hash"
#define REVISION "controller-revision-hash"

static const struct maker makers[] = {
    {"apps/v1", "Deployment", "replicas", deployment_fields, "apps/v1", "ReplicaSet", true, "spec",
     HASH},
    {"apps/v1", "ReplicaSet", "replicas", NULL, "apps/v1", "ReplicaSet", true, "spec", NULL},
    {"apps/v1", "StatefulSet", "replicas", NULL, "apps/v1", "StatefulSet", true, "spec", REVISION},
    {"v1", "ReplicationController", "replicas", NULL, "v1", "ReplicationController", true, "spec",
     NULL},
    {"batch/v1", "Job", "parallelism", job_fields, "batch/v1", "Job", false, "spec", NULL},
    {"batch/v1", "CronJob", "parallelism", cron_job_fields, "batch/v1", "Job", false,
     "spec.jobTemplate.spec", NULL},
    {"apps/v1", "DaemonSet", "replicas", daemon_set_fields, "apps/v1", "DaemonSet", false, "spec",
     REVISION},
};

/* Kinds that manifests are full of, and that no decision depends on. */
static const char *const ignored[] = {"ConfigMap",
                                      "Secret",
                                      "ServiceAccount",
                                      "Role",
                                      "RoleBinding",
                                      "ClusterRole",
                                      "ClusterRoleBinding",
                                      "Ingress",
                                      "NetworkPolicy",
                                      "HorizontalPodAutoscaler",
                                      NULL};

static struct str text_at(const struct kube_json *object, const char *path)
{
    return kube_json_text(kube_json_path(object, path));
}

static struct str kind_of(const struct kube_json *object)
{
    return text_at(object, "kind");
}

static const struct maker *maker_of(struct str kind)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
        if (str_is(kind, makers[i].kind))
            return &makers[i];
    return NULL;
}

static bool is_one_of(struct str word, const char *const *list)
{
    while (*list != NULL && !str_is(word, *list))
        list++;
    return *list != NULL;
}

static struct str space_of(const struct manifests *m, const struct kube_json *object)
{
    struct str space = text_at(object, "metadata.namespace");
    return space.len > 0 ? space : m->space;
}

/* ---- objects ---- */

/* It lives as long as what was read of it. */
static void keep_document(struct manifests *m, struct kube_json *document)
{
    uint32_t kept = m->documents.count++;
    m->documents.at = manifests_room(&m->arena, m->documents.at, kept, sizeof(struct kube_json *));
    m->documents.at[kept] = document;
}

static void add_other(struct manifests *m, const struct message *message,
                      const struct kube_json *object)
{
    uint32_t count = m->others.count++;
    m->others.at = manifests_room(&m->arena, m->others.at, count, sizeof(*m->others.at));
    m->others.at[count] = (struct other_object){*message, object};
}

/* As the API server would store it. Which class is the default one the watcher does not tell. */
static bool read_other(struct manifests *m, const struct kube_resource *resource,
                       const struct kube_json *object, struct str place, struct message *message)
{
    struct str key, error;
    if (object_lacks_class(object))
        return refuse(m, place,
                      "spec.storageClassName: is missing, and it is not known here which class is "
                      "the default one",
                      STR_LITERAL(": name it, or \"\" for none"));
    struct kube_json *filled = object_defaults(object, (struct str){0});
    if (filled != NULL)
        keep_document(m, filled);
    if (!resource->set(filled != NULL ? filled : object, message, &key, &m->arena, &error))
        return refuse(m, place, "", error);
    scenario_fill_in_namespace(message, m->space);
    return true;
}

/* Checked; kinds that are not mirrored are nothing to scheduling. */
static bool take_other(struct manifests *m, const struct kube_json *object, struct str place)
{
    const struct kube_resource *resource = kube_resource_for(object);
    const struct schema_place at = {.release = m->release};
    struct message message = {0};
    struct str error;
    if (!schema_check(object, &at, &error, &m->arena))
        return refuse(m, place, "", error);
    if (str_is(kind_of(object), "PriorityClass"))
        priority_classes_set(m->classes, object);
    if (resource == NULL)
        return true;
    if (!read_other(m, resource, object, place, &message))
        return false;
    if (message.type == MSG_resource_claim_set &&
        message.resource_claim_set.resource_claim.uid.len == 0)
        message.resource_claim_set.resource_claim.uid =
            arena_print(&m->arena, "whatif-claim-%u", m->others.count);
    add_other(m, &message, object);
    return true;
}

void manifests_set_others(const struct manifests *m, struct world *w)
{
    for (uint32_t i = 0; i < m->others.count; i++) {
        const struct message *message = &m->others.at[i].message;
        if (m->others.at[i].object != NULL)
            world_note(w, m->others.at[i].object);
        if (message->type == MSG_node_set)
            world_node_set(w, &message->node_set.node);
        else
            world_take(w, message);
    }
}

/* ---- workloads ---- */

/* Every member of what stands at that path, if anything does, is one of the names. */
static bool check_members(struct manifests *m, const struct kube_json *object, const char *path,
                          const char *const *names, struct str place)
{
    const struct kube_json *at = *path != 0 ? kube_json_path(object, path) : object;
    for (const struct kube_json *i = kube_json_first(at); i != NULL; i = kube_json_next(i))
        if (!is_one_of(kube_json_name(i), names))
            return refuse(m,
                          arena_print(&m->arena, "%.*s: %s%s%.*s", STR_ARG(place), path,
                                      *path != 0 ? "." : "", STR_ARG(kube_json_name(i))),
                          "unknown field", schema_suggest(kube_json_name(i), names, &m->arena));
    return true;
}

static bool check_fields(struct manifests *m, const struct kube_json *object,
                         const struct maker *maker, struct str place)
{
    static const char *const members[] = {"apiVersion", "kind", "metadata", "spec", "status", NULL};
    static const char *const template[] = {"metadata", "spec", NULL};
    if (!check_members(m, object, "", members, place) ||
        !check_members(m, object, "spec", maker->fields, place) ||
        (maker->fields == cron_job_fields &&
         (!check_members(m, object, "spec.jobTemplate", template, place) ||
          !check_members(m, object, maker->spec, job_fields, place))))
        return false;
    if (text_at(object, "metadata.name").len == 0)
        return refuse(m, place, "metadata.name: is missing", (struct str){0});
    return true;
}

static bool check_maker(struct manifests *m, const struct kube_json *object,
                        const struct maker *maker, struct str place)
{
    const struct schema_place at = {.release = m->release, .kind = maker->kind};
    struct str error;
    if (!str_is(text_at(object, "apiVersion"), maker->api))
        return refuse(m, place, "apiVersion: must be ",
                      arena_print(&m->arena, "%s, not %.*s", maker->api,
                                  STR_ARG(text_at(object, "apiVersion"))));
    if (maker->fields != NULL)
        return check_fields(m, object, maker, place);
    if (!schema_check(object, &at, &error, &m->arena))
        return refuse(m, place, "", error);
    const struct kube_json *claims = kube_json_path(object, "spec.volumeClaimTemplates");
    return claim_templates_check(claims, &error, &m->arena) || refuse(m, place, "", error);
}

/* A number of the spec that may be missing. */
static bool read_number(struct manifests *m, const struct kube_json *object, const char *path,
                        struct str place, int64_t *number)
{
    const struct kube_json *value = kube_json_path(object, path);
    if (value == NULL || (kube_json_i64(value, number) && *number >= 0))
        return true;
    return refuse(m, arena_print(&m->arena, "%.*s: %s", STR_ARG(place), path),
                  "must be a whole number, and not negative", (struct str){0});
}

/* What its pods are spread by, as if it were in the cluster. */
static bool add_owner(struct manifests *m, const struct kube_json *object,
                      const struct workload *load)
{
    struct message message = {.type = MSG_owner_set};
    struct owner *owner = &message.owner_set.owner;
    uint32_t kind;
    struct str error;
    if (!words_find(&object_kind_words, load->owner_kind, &kind))
        return true;
    if (!kube_object_owner(object, (enum object_kind)kind, owner, &m->arena, &error))
        return refuse(m, load->place, "", error);
    owner->namespace_name = load->space;
    owner->uid = load->owner_uid;
    add_other(m, &message, NULL);
    return true;
}

static void add_workload(struct manifests *m, const struct workload *load)
{
    uint32_t count = m->workloads.count++;
    m->workloads.at = manifests_room(&m->arena, m->workloads.at, count, sizeof(*load));
    m->workloads.at[count] = *load;
}

/* Of a workload's spec. */
static const char *path_in(struct manifests *m, const struct maker *maker, const char *member)
{
    return arena_print(&m->arena, "%s.%s%c", maker->spec, member, 0).at;
}

/* No controller would make the same of it, but another of each template. */
static struct str revision_of(const struct kube_json *template, struct arena *a)
{
    struct buffer text = {0};
    uint32_t hash = 2166136261; /* FNV-1a */
    kube_json_write(template, &text);
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.at[i]) * 16777619;
    buffer_free(&text);
    return arena_print(a, "%08x", hash);
}

/* Another kind's workload of this name would call its pods the same: its kind is put behind. */
static struct str told_apart(struct manifests *m, const struct workload *load, const char *kind)
{
    struct str name = arena_print(&m->arena, "%.*s-%s", STR_ARG(load->name), kind);
    for (uint32_t i = load->name.len; i < name.len; i++)
        ((char *)name.at)[i] = (char)tolower((unsigned char)name.at[i]);
    return name;
}

/* How many have that name already, of one kind or, where it is NULL, of any; a lone pod of it is
 * called otherwise than those that are numbered. */
static uint32_t namesakes(const struct manifests *m, const struct workload *load, const char *kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->workloads.count; i++) {
        const struct workload *other = &m->workloads.at[i];
        count += other->kind.len > 0 && (kind == NULL || str_is(other->kind, kind)) &&
                 str_equal(other->name, load->name) && str_equal(other->space, load->space);
    }
    return count;
}

/* None runs of a Job or a CronJob that is suspended. */
static bool is_suspended(const struct kube_json *object, const char *path)
{
    return kube_json_true(kube_json_path(object, "spec.suspend")) ||
           kube_json_true(kube_json_path(object, path));
}

bool manifests_take_workload(struct manifests *m, const struct kube_json *object, struct str place)
{
    const struct maker *maker = maker_of(kind_of(object));
    const char *template = path_in(m, maker, "template");
    int64_t completions = INT64_MAX;
    struct workload load = {.place = place,
                            .template_path = str_of(template),
                            .pod = kube_json_path(object, template),
                            .claims = kube_json_path(object, "spec.volumeClaimTemplates"),
                            .space = space_of(m, object),
                            .name = text_at(object, "metadata.name"),
                            .kind = str_of(maker->kind),
                            .owner_api = str_of(maker->owner_api),
                            .owner_kind = str_of(maker->owner_kind),
                            .count = 1,
                            .first = !str_is(kind_of(object), "StatefulSet")};
    load.owner_uid = arena_print(&m->arena, "whatif-%s-%.*s/%.*s", maker->kind, STR_ARG(load.space),
                                 STR_ARG(load.name));
    if (!check_maker(m, object, maker, place) ||
        !read_number(m, object, path_in(m, maker, maker->number), place, &load.count) ||
        !read_number(m, object, path_in(m, maker, "completions"), place, &completions) ||
        !read_number(m, object, "spec.ordinals.start", place, &load.first))
        return false;
    load.count = load.count > completions ? completions : load.count;
    if (maker->fields == job_fields || maker->fields == cron_job_fields)
        load.count = is_suspended(object, path_in(m, maker, "suspend")) ? 0 : load.count;
    if (!kube_json_is_object(load.pod))
        return refuse(m, place, template, STR_LITERAL(": is missing"));
    if (m->revisions && maker->revision != NULL) {
        load.revision_label = str_of(maker->revision);
        load.revision = revision_of(load.pod, &m->arena);
    }
    if (namesakes(m, &load, maker->kind) > 0)
        return refuse(m, place, "there is another ",
                      arena_print(&m->arena, "%s %.*s", maker->kind, STR_ARG(load.name)));
    if (namesakes(m, &load, NULL) > 0)
        load.pods = told_apart(m, &load, maker->kind);
    if (maker->spread && !add_owner(m, object, &load))
        return false;
    add_workload(m, &load);
    return true;
}

bool manifests_makes_pods(struct str kind)
{
    return maker_of(kind) != NULL;
}

bool manifests_ignores(struct str kind)
{
    return is_one_of(kind, ignored);
}

static bool take_pod(struct manifests *m, const struct kube_json *object, struct str place)
{
    struct str name = text_at(object, "metadata.name");
    const struct workload load = {.place = place,
                                  .pod = object,
                                  .space = space_of(m, object),
                                  .name = name.len > 0 ? name
                                                       : text_at(object, "metadata.generateName"),
                                  .count = 1,
                                  .first = 1};
    if (load.name.len == 0)
        return refuse(m, place, "metadata.name: is missing", (struct str){0});
    if (text_at(object, "spec.nodeName").len > 0)
        return refuse(m, place, "spec.nodeName: the pod has a node, and nobody decides it",
                      (struct str){0});
    add_workload(m, &load);
    return true;
}

/* ---- the pods ---- */

struct str manifests_pod_name(const struct workload *load, int64_t number, struct arena *a)
{
    struct str name = load->pods.len > 0 ? load->pods : load->name;
    bool dashed = name.len > 0 && name.at[name.len - 1] == '-';
    if (number == MANIFESTS_ALONE)
        return name;
    return arena_print(a, "%.*s%s%lld", STR_ARG(name), dashed ? "" : "-", (long long)number);
}

/* Unless the template has one. */
static void write_label(struct json_out *j, const struct kube_json *own, const char *key,
                        struct str value)
{
    for (const struct kube_json *i = kube_json_first(own); i != NULL; i = kube_json_next(i))
        if (str_is(kube_json_name(i), key))
            return;
    json_str_if(j, key, value);
}

/* The template's, and those by which controllers find their pods, and people theirs. */
static void write_labels(struct json_out *j, const struct workload *load, int64_t number,
                         struct arena *a)
{
    const struct kube_json *own = kube_json_path(load->pod, "metadata.labels");
    if (own != NULL && !kube_json_is_object(own)) { /* refused where the pod is read */
        json_value(j, own);
        return;
    }
    json_open(j, "labels", '{');
    for (const struct kube_json *i = kube_json_first(own); i != NULL; i = kube_json_next(i))
        json_value(j, i);
    if (load->revision_label.len > 0)
        write_label(j, own, load->revision_label.at, load->revision);
    if (str_is(load->owner_kind, "Job")) {
        write_label(j, own, "batch.kubernetes.io/job-name", load->name);
        write_label(j, own, "job-name", load->name);
        write_label(j, own, "batch.kubernetes.io/controller-uid", load->owner_uid);
        write_label(j, own, "controller-uid", load->owner_uid);
    }
    if (str_is(load->owner_kind, "StatefulSet")) {
        write_label(j, own, "statefulset.kubernetes.io/pod-name",
                    manifests_pod_name(load, number, a));
        write_label(j, own, "apps.kubernetes.io/pod-index",
                    arena_print(a, "%lld", (long long)number));
    }
    json_close(j, '}');
}

static void write_owner(struct json_out *j, const struct workload *load)
{
    if (load->owner_kind.len == 0)
        return;
    json_open(j, "ownerReferences", '[');
    json_open(j, NULL, '{');
    json_str(j, "apiVersion", load->owner_api);
    json_str(j, "kind", load->owner_kind);
    json_str(j, "name", load->name);
    json_str(j, "uid", load->owner_uid);
    json_bool(j, "controller", true);
    json_close(j, '}');
    json_close(j, ']');
}

/* As its controller would write it. */
static struct kube_json *write_pod(const struct workload *load, int64_t number, struct arena *a)
{
    struct buffer text = {0};
    struct json_out j = {.out = &text};
    const struct kube_json *metadata = kube_json_get(load->pod, "metadata");
    const struct kube_json *i;
    struct str error;
    json_open(&j, NULL, '{');
    json_str(&j, "apiVersion", STR_LITERAL("v1"));
    json_str(&j, "kind", STR_LITERAL("Pod"));
    json_open(&j, "metadata", '{');
    for (i = kube_json_first(metadata); i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), "name") && !str_is(kube_json_name(i), "namespace") &&
            !str_is(kube_json_name(i), "generateName") && !str_is(kube_json_name(i), "labels") &&
            (load->owner_kind.len == 0 || !str_is(kube_json_name(i), "ownerReferences")))
            json_value(&j, i);
    json_str(&j, "name", manifests_pod_name(load, number, a));
    json_str(&j, "namespace", load->space);
    write_labels(&j, load, number, a);
    write_owner(&j, load);
    json_close(&j, '}');
    for (i = kube_json_first(load->pod); i != NULL; i = kube_json_next(i))
        if (claim_templates_count(load) > 0 && str_is(kube_json_name(i), "spec"))
            claim_templates_write_spec(&j, load, i, manifests_pod_name(load, number, a), a);
        else if (!str_is(kube_json_name(i), "metadata") &&
                 !str_is(kube_json_name(i), "apiVersion") && !str_is(kube_json_name(i), "kind") &&
                 !str_is(kube_json_name(i), "status"))
            json_value(&j, i);
    json_close(&j, '}');
    struct kube_json *pod = kube_json_parse(buffer_str(&text), &error, a);
    buffer_free(&text);
    return pod;
}

static void fill_in(const struct workload *load, struct str name, struct pod *pod, struct arena *a)
{
    pod->uid = arena_print(a, "whatif-%.*s/%.*s", STR_ARG(load->space), STR_ARG(name));
    pod->nominated_node = (struct str){0};
    if (pod->scheduler_name.len == 0)
        pod->scheduler_name = STR_LITERAL("default-scheduler");
}

static bool read_pod(struct manifests *m, const struct workload *load,
                     const struct kube_json *object, struct pod *pod, struct arena *a)
{
    const struct schema_place at = {
        .release = m->release, .kind = "Pod", .path = load->template_path};
    struct pod read, counted;
    struct str error;
    if (!scenario_check_pod(object, &at, &error, a) ||
        !amounts_check(object, load->template_path, &error, a) ||
        !words_check(object, &at, &error, a))
        return refuse(m, load->place, "", error);
    struct kube_json *filled = pod_defaults(object);
    bool fine = kube_object_pod(filled != NULL ? filled : object, &read, a, &error) &&
                priority_classes_fill_in(m->classes, object, &read, &error, a);
    if (!fine)
        (void)refuse(m, load->place, "", error);
    if (fine) {
        counted = m->p != NULL ? requests_as_of(&read, &m->p->features) : read;
        codec_copy(&pod_record, pod, &counted, a);
    }
    kube_json_free(&filled);
    return fine;
}

struct kube_json *manifests_pod_object(const struct workload *load, int64_t number, struct arena *a)
{
    return write_pod(load, number, a);
}

bool manifests_pod(struct manifests *m, const struct workload *load, int64_t number,
                   struct pod *pod, struct arena *a)
{
    struct str name = manifests_pod_name(load, number, a);
    struct kube_json *object = write_pod(load, number, a);
    if (object == NULL)
        return refuse(m, load->place, "cannot be written as a pod", (struct str){0});
    bool fine = read_pod(m, load, object, pod, a);
    kube_json_free(&object);
    if (fine)
        fill_in(load, name, pod, a);
    return fine;
}

bool manifests_set_claims(struct manifests *m, const struct workload *load, int64_t number,
                          struct world *w)
{
    static const char kind[] = "PersistentVolumeClaim";
    const struct str pod = manifests_pod_name(load, number, &m->arena);
    for (uint32_t i = 0; i < claim_templates_count(load); i++) {
        struct message message = {0};
        if (world_has_object(w, str_of(kind), load->space,
                             claim_templates_name(load, i, pod, &m->arena)))
            continue;
        struct kube_json *claim = claim_templates_object(load, i, pod, &m->arena);
        const struct str place = arena_print(
            &m->arena, "%.*s: spec.volumeClaimTemplates[%" PRIu32 "]", STR_ARG(load->place), i);
        if (claim == NULL)
            return refuse(m, place, "cannot be written as a claim", (struct str){0});
        keep_document(m, claim);
        if (!read_other(m, kube_resource_for(claim), claim, place, &message))
            return false;
        world_take(w, &message);
    }
    return true;
}

/* ---- files ---- */

static bool take_object(struct manifests *m, const struct kube_json *object, struct str place)
{
    struct str kind = kind_of(object);
    if (!kube_json_is_object(object))
        return refuse(m, place, "must be an object, not ", str_of(kube_json_kind(object)));
    if (kind.len == 0)
        return refuse(m, place, "kind: is missing", (struct str){0});
    if (is_one_of(kind, ignored))
        return true;
    if (str_is(kind, "Pod"))
        return take_pod(m, object, place);
    if (str_is(kind, "DaemonSet"))
        return refuse(m, place, "kind: a DaemonSet has its pods where its nodes are",
                      STR_LITERAL(", and none is made here"));
    if (maker_of(kind) != NULL)
        return manifests_take_workload(m, object, place);
    if (!schema_has_kind(m->release, kind))
        return refuse(m, place, "kind: objects of this kind are not known here: ", kind);
    return take_other(m, object, place);
}

static bool take_document(struct manifests *m, const struct kube_json *document, struct str place)
{
    static const char *const members[] = {"apiVersion", "kind", "metadata", "items", NULL};
    unsigned index = 0;
    if (!str_is(kind_of(document), "List"))
        return take_object(m, document, place);
    if (!check_members(m, document, "", members, place))
        return false;
    const struct kube_json *items = kube_json_get(document, "items");
    if (items != NULL && !kube_json_is_array(items))
        return refuse(m, place, "items: must be a list, not ", str_of(kube_json_kind(items)));
    for (const struct kube_json *i = kube_json_first(items); i != NULL; i = kube_json_next(i))
        if (!take_object(m, i, arena_print(&m->arena, "%.*s: items[%u]", STR_ARG(place), index++)))
            return false;
    return true;
}

static bool read_text(struct manifests *m, const char *path, struct buffer *text)
{
    FILE *from = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char chunk[65536];
    size_t got;
    if (from == NULL)
        return refuse(m, str_of(path), "", str_of(strerror(errno)));
    while ((got = fread(chunk, 1, sizeof(chunk), from)) > 0)
        buffer_add(text, chunk, got);
    bool fine = !ferror(from) || refuse(m, str_of(path), "", str_of(strerror(errno)));
    if (from != stdin)
        fclose(from);
    return fine;
}

bool manifests_take(struct manifests *m, const char *file, struct str text)
{
    unsigned number = 1;
    struct str error = {0};
    struct kube_json *all = kube_json_parse_yaml(text, &error, &m->arena);
    if (m->classes == NULL)
        m->classes = priority_classes_new();
    if (all == NULL)
        return refuse(m, str_of(file), "", error);
    keep_document(m, all);
    if (kube_json_is_null(all))
        return refuse(m, str_of(file), "there is no document in it", (struct str){0});
    if (!kube_json_is_array(all))
        return take_document(m, all, str_of(file));
    for (const struct kube_json *i = kube_json_first(all); i != NULL; i = kube_json_next(i))
        if (!take_document(m, i, arena_print(&m->arena, "%s: document %u", file, number++)))
            return false;
    return true;
}

bool manifests_read(struct manifests *m, const char *path)
{
    struct buffer text = {0};
    bool fine = read_text(m, path, &text) && manifests_take(m, path, buffer_str(&text));
    buffer_free(&text);
    return fine;
}
