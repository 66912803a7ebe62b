/* Deletion of one object or of a collection: preconditions, grace, finalizers, namespaces.
 *
 * The one idea: deleting either removes an object at once or marks it, and a mark is only ever an
 * update; whoever lifts what held it back (the toy kubelet, the last finalizer) removes it.
 * Owners do not take their dependents along: there are no controllers here. */
#include "api.h"

#include "selection.h"
#include "view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    double grace; /* -1 when not given */
    char uid[64], version[24];
    bool dry;
};

static cJSON *read_options(const struct request *request, struct options *options)
{
    *options = (struct options){.grace = -1};
    const char *grace = request_arg(request, "gracePeriodSeconds");
    char *end = NULL;
    if (*grace)
        options->grace = strtod(grace, &end);
    if (end != NULL && (end == grace || *end))
        return status_bad_request("gracePeriodSeconds is no number: %.40s", grace);
    options->dry = strcmp(request_arg(request, "dryRun"), "All") == 0;
    if (request->body_size == 0)
        return NULL;
    cJSON *refused, *body = request_tree(request, &refused);
    if (body == NULL)
        return refused;
    options->grace = tree_number(body, "gracePeriodSeconds", options->grace);
    snprintf(options->uid, sizeof options->uid, "%s", tree_string(body, "preconditions.uid", ""));
    snprintf(options->version, sizeof options->version, "%s",
             tree_string(body, "preconditions.resourceVersion", ""));
    options->dry |= cJSON_GetArraySize(tree_get(body, "dryRun")) > 0;
    cJSON_Delete(body);
    return NULL;
}

static cJSON *check_preconditions(const struct request *request, const struct options *options,
                                  const struct object *object)
{
    char kind[128], cause[320], digits[24];
    const struct resource *resource = request->resource;
    snprintf(kind, sizeof kind, "%s%s%s", resource->kind, *resource->group ? "." : "",
             resource->group);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)object->version);
    if (*options->uid && strcmp(options->uid, object->uid) != 0)
        snprintf(cause, sizeof cause,
                 "the UID in the precondition (%s) does not match the UID in record (%s). The "
                 "object might "
                 "have been deleted and then recreated",
                 options->uid, object->uid);
    else if (*options->version && strcmp(options->version, digits) != 0)
        snprintf(cause, sizeof cause,
                 "the ResourceVersion in the precondition (%s) does not match the ResourceVersion "
                 "in record "
                 "(%s). The object might have been modified",
                 options->version, digits);
    else
        return NULL;
    cJSON *status = status_conflict(resource, kind, object->name, cause);
    tree_set_string(tree_get(status, "details"), "kind", resource->kind);
    return status;
}

bool api_delete_ready(const struct object *object)
{
    if (object->deletion_us == 0 || !object->finalized)
        return false;
    if (strcmp(object->resource->plural, "pods") != 0)
        return true;
    cJSON *pod = object_tree(object);
    bool ready = tree_number(pod, "metadata.deletionGracePeriodSeconds", 0) == 0;
    cJSON_Delete(pod);
    return ready;
}

/* A pod that no kubelet has ever seen, or that has ended, needs no time to stop. */
static double grace_of(const struct object *object, const cJSON *tree,
                       const struct options *options)
{
    if (strcmp(object->resource->plural, "pods") != 0)
        return 0;
    const char *phase = tree_string(tree, "status.phase", "");
    if (*tree_string(tree, "spec.nodeName", "") == 0 || strcmp(phase, "Succeeded") == 0 ||
        strcmp(phase, "Failed") == 0)
        return 0;
    double grace = options->grace >= 0
                       ? options->grace
                       : tree_number(tree, "spec.terminationGracePeriodSeconds", 30);
    double running = tree_number(tree, "metadata.deletionGracePeriodSeconds", -1);
    return running >= 0 && running < grace ? running : grace;
}

static void write_mark(const struct object *object, cJSON *tree, double grace)
{
    cJSON *metadata = tree_get(tree, "metadata");
    char when[TIME_TEXT];
    if (object->deletion_us == 0 && (object->resource->flags & GENERATION))
        tree_set_number(metadata, "generation", tree_number(metadata, "generation", 1) + 1);
    tree_set_string(metadata, "deletionTimestamp",
                    time_seconds_text(moment_wall_us() + (int64_t)(grace * 1e6), when));
    tree_set_number(metadata, "deletionGracePeriodSeconds", grace);
}

static struct object *mark(struct server *server, struct object *object, cJSON *tree, double grace)
{
    if (object->deletion_us != 0 &&
        tree_number(tree, "metadata.deletionGracePeriodSeconds", -1) == grace)
        return object;
    write_mark(object, tree, grace);
    struct object *marked = registry_put(&server->registry, object->resource, tree);
    if (strcmp(object->resource->plural, "pods") == 0)
        kubelet_notice(server, marked);
    return marked;
}

static void list_now(const struct registry *registry, const struct resource *resource,
                     const char *namespace, struct object_list *list)
{
    struct list_range range = {.namespace = namespace, .version = registry->version};
    must(registry_list(registry, resource, &range, list));
}

/* A namespace takes everything in it along. */
static void empty_namespace(struct server *server, const char *name)
{
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        struct object_list list;
        if (!(resources[i].flags & NAMESPACED) || (resources[i].flags & VIEW))
            continue;
        list_now(&server->registry, &resources[i], name, &list);
        for (size_t o = 0; o < list.count; o++)
            registry_remove(&server->registry, list.objects[o]);
        object_list_free(&list);
    }
}

/* A CustomResourceDefinition takes its objects along. */
static void empty_resource(struct server *server, const char *qualified)
{
    char name[128];
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        struct object_list list;
        if (!(resources[i].flags & CUSTOM) ||
            strcmp(resource_qualified(&resources[i], name), qualified) != 0)
            continue;
        list_now(&server->registry, &resources[i], "", &list);
        for (size_t o = 0; o < list.count; o++)
            registry_remove(&server->registry, list.objects[o]);
        object_list_free(&list);
    }
}

/* The object after the deletion: gone (gone = true), or marked. */
static struct object *delete_one(struct server *server, struct object *object,
                                 const struct options *options, bool *gone)
{
    cJSON *tree = object_tree(object);
    double grace = grace_of(object, tree, options);
    struct object *after = object;
    *gone = grace == 0 && object->finalized;
    if (!options->dry && *gone) {
        if (strcmp(object->resource->plural, "namespaces") == 0)
            empty_namespace(server, object->name);
        if (strcmp(object->resource->plural, "customresourcedefinitions") == 0)
            empty_resource(server, object->name);
        if (strcmp(object->resource->plural, "pods") == 0)
            write_mark(object, tree, 0);
        after = registry_remove_as(&server->registry, object, tree);
    } else if (!options->dry) {
        after = mark(server, object, tree, grace);
    }
    cJSON_Delete(tree);
    return after;
}

static void answer_deleted(const struct request *request, struct answer *answer,
                           struct object *after, bool gone)
{
    if (!gone || (request->resource->flags & RETURNS_OBJECT)) {
        answer_object(request, answer, 200, after);
        return;
    }
    cJSON *status = status_about(status_success(), request->resource, after->name);
    tree_remove(status, "code");
    tree_set_string(tree_get(status, "details"), "uid", after->uid);
    answer_tree(answer, 200, status);
}

void api_delete(struct request *request, struct answer *answer)
{
    struct options options;
    bool gone;
    cJSON *refused = read_options(request, &options);
    struct object *object = registry_find(&request->server->registry, request->resource,
                                          request->namespace, request->name);
    if (refused == NULL && object == NULL)
        refused = status_not_found(request->resource, request->name);
    if (refused == NULL && object != NULL)
        refused = check_preconditions(request, &options, object);
    if (refused != NULL) {
        answer_status(answer, refused);
        return;
    }
    must(object != NULL);
    struct object *after = delete_one(request->server, object, &options, &gone);
    answer_deleted(request, answer, after, gone);
}

static cJSON *delete_all(struct request *request, const struct options *options,
                         const struct selection *selection)
{
    struct registry *registry = &request->server->registry;
    struct object_list list;
    list_now(registry, request->resource, request->namespace, &list);
    cJSON *refused = NULL;
    for (size_t i = 0; i < list.count && refused == NULL; i++) {
        bool gone;
        if (!selection_matches(selection, list.objects[i]))
            continue;
        refused = check_preconditions(request, options, list.objects[i]);
        if (refused == NULL)
            delete_one(request->server, list.objects[i], options, &gone);
    }
    object_list_free(&list);
    return refused;
}

void api_delete_collection(struct request *request, struct answer *answer)
{
    struct options options;
    struct buffer reason = {0};
    cJSON *refused = read_options(request, &options);
    struct selection *selection = NULL;
    if (refused == NULL) {
        selection = selection_parse(request->resource, request_arg(request, "labelSelector"),
                                    request_arg(request, "fieldSelector"), &reason);
        if (selection == NULL)
            refused = status_bad_request("%s", reason.at);
    }
    if (refused == NULL)
        refused = delete_all(request, &options, selection);
    cJSON *outcome = refused != NULL ? refused : status_success();
    if (refused == NULL)
        status_about(outcome, request->resource, NULL);
    answer_status(answer, outcome);
    selection_free(selection);
    buffer_free(&reason);
}
