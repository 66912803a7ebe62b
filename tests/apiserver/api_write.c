/* Create, update and patch: metadata rules, optimistic locking, and the hand-over to the store.
 *
 * The one idea: create has one way in (api_store_new) and every later change has one (commit), so
 * identity, generation, locking and no-op detection are decided in one place each. A patch is an
 * update whose body was computed here. What must hold: uid, creationTimestamp and deletion marks
 * never come from a client. */
#include "api.h"

#include "admission.h"
#include "patch.h"
#include "view.h"

#include <stdio.h>
#include <string.h>

/* ---- create ---- */

static void generate_name(cJSON *metadata)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    const char *base = tree_string(metadata, "generateName", "");
    if (*base == 0 || *tree_string(metadata, "name", ""))
        return;
    char name[254];
    int used = snprintf(name, sizeof name - 5, "%.248s", base);
    for (int i = 0; i < 5; i++)
        name[used++] = letters[chance_below(sizeof letters - 1)];
    name[used] = 0;
    tree_set_string(metadata, "name", name);
}

static cJSON *check_namespace(const struct server *server, const struct resource *resource,
                              const char *namespace)
{
    if (!(resource->flags & NAMESPACED))
        return NULL;
    const struct resource *namespaces = resource_named("namespaces");
    if (registry_find(&server->registry, namespaces, "", namespace) == NULL)
        return status_not_found(namespaces, namespace);
    return NULL;
}

/* What the server alone says about a new object, in the order in which kubectl shows it. */
static void stamp_new(const struct resource *resource, cJSON *metadata)
{
    char uid[37], now[TIME_TEXT];
    generate_name(metadata);
    tree_set_string(metadata, "uid", chance_uid(uid));
    tree_set_string(metadata, "creationTimestamp", time_seconds_text(moment_wall_us(), now));
    tree_remove(metadata, "deletionTimestamp");
    tree_remove(metadata, "deletionGracePeriodSeconds");
    tree_remove(metadata, "managedFields");
    tree_remove(metadata, "selfLink");
    tree_remove(metadata, "generation");
    if (resource->flags & GENERATION)
        tree_set_number(metadata, "generation", 1);
}

static cJSON *prepare_new(struct server *server, const struct resource *resource, cJSON *tree)
{
    cJSON *metadata = tree_make(tree, "metadata");
    cJSON *refused = check_namespace(server, resource, tree_string(metadata, "namespace", ""));
    if (refused != NULL)
        return refused;
    if (*tree_string(metadata, "resourceVersion", ""))
        return status_failure(500, "InternalError",
                              "resourceVersion should not be set on objects to be created");
    stamp_new(resource, metadata);
    if ((resource->flags & STATUS) && !(resource->flags & KEEPS_STATUS))
        tree_remove(tree, "status");
    refused = admit_create(server, resource, tree);
    if (refused != NULL)
        return refused;
    const char *name = tree_string(metadata, "name", "");
    if (registry_find(&server->registry, resource, tree_string(metadata, "namespace", ""), name) !=
        NULL)
        return status_exists(resource, name);
    return NULL;
}

cJSON *api_store_new(struct server *server, const struct resource *resource, cJSON *tree, bool dry,
                     struct created *created)
{
    *created = (struct created){0};
    cJSON *refused = prepare_new(server, resource, tree);
    if (refused == NULL && dry) {
        created->dry_tree = tree;
        return NULL;
    }
    if (refused == NULL) {
        created->object = registry_put(&server->registry, resource, tree);
        if (strcmp(resource->plural, "pods") == 0)
            kubelet_notice(server, created->object);
    }
    cJSON_Delete(tree);
    return refused;
}

/* ---- bodies ---- */

/* The kind and version a body claims must be those of the path; absent ones are filled in. */
static cJSON *check_kind(const struct request *request, cJSON *tree)
{
    char expected[64];
    const struct resource *resource = request->resource;
    resource_api_version(resource, expected);
    const char *kind = tree_string(tree, "kind", resource->kind);
    const char *version = tree_string(tree, "apiVersion", expected);
    if (strcmp(kind, resource->kind) != 0 || strcmp(version, expected) != 0)
        return status_bad_request(
            "%s in version \"%s\" cannot be handled as a %s: converting (%s.%s) to "
            "(%.*s.%s): unknown conversion",
            kind, version, resource->kind, version, kind,
            *resource->group ? (int)strcspn(resource->group, ".") : 4,
            *resource->group ? resource->group : "core", resource->kind);
    tree_set_string(tree, "kind", resource->kind);
    tree_set_string(tree, "apiVersion", expected);
    return NULL;
}

static cJSON *check_place(const struct request *request, cJSON *tree)
{
    cJSON *metadata = tree_make(tree, "metadata");
    const char *namespace = tree_string(metadata, "namespace", request->namespace);
    const char *name = tree_string(metadata, "name", request->name);
    if ((request->resource->flags & NAMESPACED) && strcmp(namespace, request->namespace) != 0)
        return status_bad_request(
            "the namespace of the provided object does not match the namespace "
            "sent on the request");
    if (*request->name && strcmp(name, request->name) != 0)
        return status_bad_request(
            "the name of the object (%s) does not match the name on the URL (%s)", name,
            request->name);
    if (request->resource->flags & NAMESPACED)
        tree_set_string(metadata, "namespace", request->namespace);
    else
        tree_remove(metadata, "namespace");
    return NULL;
}

/* Reads the body as an object of the resource, in stored shape. */
static cJSON *read_object(const struct request *request, cJSON **tree)
{
    cJSON *refused, *body = request_tree(request, &refused);
    *tree = NULL;
    if (body == NULL)
        return refused;
    refused = check_kind(request, body);
    if (refused == NULL)
        refused = check_place(request, body);
    if (refused != NULL) {
        cJSON_Delete(body);
        return refused;
    }
    view_to_stored(request->resource, body);
    *tree = body;
    return NULL;
}

static void answer_dry(const struct request *request, struct answer *answer, int code, cJSON *tree)
{
    view_from_stored(request->resource, tree);
    answer_tree(answer, code, tree);
}

static bool is_dry(const struct request *request)
{
    return strcmp(request_arg(request, "dryRun"), "All") == 0;
}

static void create_from(struct request *request, struct answer *answer, cJSON *tree)
{
    struct created created;
    cJSON *refused =
        api_store_new(request->server, request->resource, tree, is_dry(request), &created);
    if (refused != NULL)
        answer_status(answer, refused);
    else if (created.dry_tree != NULL)
        answer_dry(request, answer, 201, created.dry_tree);
    else {
        must(created.object != NULL);
        snprintf(request->name, sizeof request->name, "%s", created.object->name);
        answer_object(request, answer, 201, created.object);
    }
}

void api_create(struct request *request, struct answer *answer)
{
    cJSON *tree;
    cJSON *refused = read_object(request, &tree);
    if (refused != NULL)
        answer_status(answer, refused);
    else
        create_from(request, answer, tree);
}

/* ---- update ---- */

static void keep_member(cJSON *tree, const cJSON *before, const char *name)
{
    const cJSON *old = tree_member(before, name);
    if (old == NULL)
        tree_remove(tree, name);
    else
        tree_set(tree, name, tree_copy(old));
}

static void keep_identity(cJSON *tree, const cJSON *before)
{
    static const char *const kept[] = {"name",
                                       "namespace",
                                       "uid",
                                       "creationTimestamp",
                                       "deletionTimestamp",
                                       "deletionGracePeriodSeconds",
                                       "generation",
                                       "generateName"};
    cJSON *metadata = tree_make(tree, "metadata");
    const cJSON *old = tree_get(before, "metadata");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        keep_member(metadata, old, kept[i]);
    tree_remove(metadata, "managedFields");
    tree_remove(metadata, "selfLink");
}

/* A status update leaves the rest alone; any other leaves the status alone. */
static void keep_other_half(const struct request *request, cJSON *tree, const cJSON *before)
{
    if (*request->subresource == 0) {
        if (request->resource->flags & STATUS)
            keep_member(tree, before, "status");
        return;
    }
    cJSON *status = cJSON_DetachItemFromObjectCaseSensitive(tree, "status");
    cJSON *metadata = cJSON_DetachItemFromObjectCaseSensitive(tree, "metadata");
    while (tree->child != NULL)
        cJSON_Delete(cJSON_DetachItemViaPointer(tree, tree->child));
    for (const cJSON *item = before->child; item != NULL; item = item->next) {
        if (strcmp(item->string, "status") != 0 && strcmp(item->string, "metadata") != 0)
            tree_set(tree, item->string, tree_copy(item));
    }
    tree_set(tree, "metadata", metadata);
    if (status != NULL)
        tree_set(tree, "status", status);
}

/* Here, and only here, the real server says the resource where it says the kind elsewhere. */
static cJSON *lease_words(cJSON *status, const struct resource *resource, const char *qualified)
{
    struct buffer message = {0};
    buffer_print(&message, "%s%s", qualified, strchr(tree_string(status, "message", " "), ' '));
    tree_set_string(status, "message", message.at);
    tree_set_string(tree_get(status, "details"), "kind", resource->plural);
    buffer_free(&message);
    return status;
}

static cJSON *check_lock(const struct request *request, const cJSON *tree,
                         const struct object *before)
{
    const char *version = tree_string(tree, "metadata.resourceVersion", "");
    const char *uid = tree_string(tree, "metadata.uid", "");
    char qualified[128], digits[24], cause[256];
    resource_qualified(request->resource, qualified);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)before->version);
    if (*uid && strcmp(uid, before->uid) != 0) {
        snprintf(cause, sizeof cause,
                 "Precondition failed: UID in precondition: %.64s, UID in object meta: %s", uid,
                 before->uid);
        return status_conflict(request->resource, qualified, before->name, cause);
    }
    bool unlocked = *version == 0 || strcmp(version, "0") == 0;
    if (unlocked && (request->resource->flags & NEEDS_VERSION)) {
        struct causes causes = {0};
        causes_add(&causes, "FieldValueInvalid", "metadata.resourceVersion",
                   "Invalid value: 0: must be specified for an update");
        return lease_words(status_invalid(&causes, request->resource, before->name),
                           request->resource, qualified);
    }
    if (!unlocked && strcmp(version, digits) != 0)
        return status_conflict(
            request->resource, qualified, before->name,
            "the object has been modified; please apply your changes to the latest version "
            "and try again");
    return NULL;
}

static void count_generation(const struct resource *resource, cJSON *tree, const cJSON *before)
{
    if ((resource->flags & GENERATION) &&
        !tree_same(tree_get(tree, "spec"), tree_get(before, "spec")))
        tree_set_number(tree_get(tree, "metadata"), "generation",
                        tree_number(before, "metadata.generation", 1) + 1);
}

/* Stores the next version, or removes the object when the update took what held its deletion. */
static struct object *store_next(struct request *request, cJSON *tree)
{
    struct server *server = request->server;
    struct object *now = registry_put(&server->registry, request->resource, tree);
    bool pod = strcmp(request->resource->plural, "pods") == 0;
    if (api_delete_ready(now))
        now = registry_remove(&server->registry, now);
    else if (pod)
        kubelet_notice(server, now);
    return now;
}

/* Takes the tree, whose lock was checked; before_tree is the parsed present version. */
static void commit(struct request *request, struct answer *answer, cJSON *tree,
                   struct object *before, const cJSON *before_tree)
{
    keep_identity(tree, before_tree);
    keep_other_half(request, tree, before_tree);
    cJSON *refused = NULL;
    if (*request->subresource == 0)
        refused = admit_update(request->server, request->resource, tree, before_tree);
    if (refused != NULL) {
        cJSON_Delete(tree);
        answer_status(answer, refused);
        return;
    }
    count_generation(request->resource, tree, before_tree);
    keep_member(tree_get(tree, "metadata"), tree_get(before_tree, "metadata"), "resourceVersion");
    if (tree_same(tree, before_tree)) {
        cJSON_Delete(tree);
        answer_object(request, answer, 200, before);
    } else if (is_dry(request)) {
        answer_dry(request, answer, 200, tree);
    } else {
        answer_object(request, answer, 200, store_next(request, tree));
        cJSON_Delete(tree);
    }
}

void api_update(struct request *request, struct answer *answer)
{
    cJSON *tree;
    cJSON *refused = read_object(request, &tree);
    if (refused != NULL) {
        answer_status(answer, refused);
        return;
    }
    struct object *before = registry_find(&request->server->registry, request->resource,
                                          request->namespace, request->name);
    if (before == NULL && (request->resource->flags & PUT_CREATES)) {
        tree_set_string(tree_make(tree, "metadata"), "name", request->name);
        tree_remove(tree_get(tree, "metadata"), "resourceVersion");
        create_from(request, answer, tree);
        return;
    }
    if (before == NULL)
        refused = status_not_found(request->resource, request->name);
    else
        refused = check_lock(request, tree, before);
    if (refused != NULL) {
        cJSON_Delete(tree);
        answer_status(answer, refused);
        return;
    }
    cJSON *before_tree = object_tree(before);
    commit(request, answer, tree, before, before_tree);
    cJSON_Delete(before_tree);
}

/* ---- patch ---- */

static bool type_is(const struct request *request, const char *type)
{
    return strncmp(request->content_type, type, strlen(type)) == 0;
}

/* Takes nothing; the patched copy or NULL with refused set. */
static cJSON *patched(const struct request *request, const cJSON *original, const cJSON *patch,
                      cJSON **refused)
{
    struct buffer why = {0};
    cJSON *tree = NULL;
    *refused = NULL;
    if (type_is(request, "application/merge-patch+json"))
        tree = patch_merge(original, patch);
    else if (type_is(request, "application/strategic-merge-patch+json") &&
             !(request->resource->flags & CUSTOM))
        tree = patch_strategic(original, patch, &why);
    else if (type_is(request, "application/json-patch+json"))
        tree = patch_json(original, patch, &why);
    else
        *refused = status_failure(
            415, "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types "
            "include: application/json-patch+json, application/merge-patch+json, "
            "application/strategic-merge-patch+json");
    if (tree == NULL && *refused == NULL)
        *refused = status_failure(422, "Invalid",
                                  "the server rejected our request due to an error in our "
                                  "request: %s",
                                  why.at != NULL ? why.at : "");
    if (tree != NULL && !cJSON_IsObject(tree)) {
        cJSON_Delete(tree);
        tree = NULL;
        *refused = status_bad_request("the patch does not leave an object");
    }
    buffer_free(&why);
    return tree;
}

/* The present state in the shape that the client patches. */
static cJSON *shape_tree(const struct request *request, const struct object *object)
{
    cJSON *tree = object_tree(object);
    view_from_stored(request->resource, tree);
    return tree;
}

/* An update with another UID is a conflict; a patch is told that it may not change one. */
static cJSON *check_uid(const struct request *request, const cJSON *tree,
                        const struct object *before)
{
    const char *uid = tree_string(tree, "metadata.uid", "");
    struct causes causes = {0};
    if (*uid == 0 || strcmp(uid, before->uid) == 0)
        return NULL;
    causes_add(&causes, "FieldValueInvalid", "metadata.uid",
               "Invalid value: \"%.100s\": field is immutable", uid);
    return status_invalid(&causes, request->resource, before->name);
}

static void patch_object(struct request *request, struct answer *answer, struct object *before,
                         const cJSON *patch)
{
    cJSON *refused;
    cJSON *original = shape_tree(request, before);
    cJSON *tree = patched(request, original, patch, &refused);
    if (tree != NULL && (refused = check_place(request, tree)) == NULL &&
        (refused = check_uid(request, tree, before)) == NULL)
        refused = check_lock(request, tree, before);
    if (refused != NULL) {
        cJSON_Delete(tree);
        answer_status(answer, refused);
    } else {
        view_to_stored(request->resource, tree);
        view_to_stored(request->resource, original);
        commit(request, answer, tree, before, original);
    }
    cJSON_Delete(original);
}

void api_patch(struct request *request, struct answer *answer)
{
    struct object *before = registry_find(&request->server->registry, request->resource,
                                          request->namespace, request->name);
    if (before == NULL) {
        answer_status(answer, status_not_found(request->resource, request->name));
        return;
    }
    cJSON *patch = tree_parse(request->body, request->body_size);
    if (patch == NULL)
        answer_status(answer, status_bad_request("error decoding patch: the body is not JSON"));
    else
        patch_object(request, answer, before, patch);
    cJSON_Delete(patch);
}
