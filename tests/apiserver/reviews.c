/* The resources that are questions: who has this token, and may this user do that?
 *
 * The one idea: a review is the body with a computed status; nothing is stored. */
#include "api.h"
#include "auth.h"

#include <stdio.h>
#include <string.h>

static cJSON *user_tree(const struct user *user)
{
    cJSON *tree = cJSON_CreateObject(), *groups = cJSON_CreateArray();
    tree_set_string(tree, "username", user->name);
    if (*user->uid)
        tree_set_string(tree, "uid", user->uid);
    for (size_t i = 0; i < user->group_count; i++)
        cJSON_AddItemToArray(groups, cJSON_CreateString(user->groups[i]));
    tree_set(tree, "groups", groups);
    return tree;
}

static void review_token(const struct request *request, const cJSON *review, cJSON *status)
{
    const struct user *user =
        auth_by_token(request->server->auth, tree_string(review, "spec.token", ""));
    tree_set(status, "authenticated", cJSON_CreateBool(user != NULL));
    if (user != NULL)
        tree_set(status, "user", user_tree(user));
    else
        tree_set_string(status, "error", "[invalid bearer token]");
}

/* Someone who may have no row here, known by the name and groups that the review brings. */
static bool described_allowed(const struct auth *auth, const cJSON *spec, const char *verb,
                              const char *resource)
{
    const cJSON *group;
    struct user user = {.name = (char *)tree_string(spec, "user", "")};
    user.admin = strcmp(user.name, "admin") == 0 || strcmp(user.name, "system:admin") == 0;
    cJSON_ArrayForEach(group, tree_get(spec, "groups")) user.admin |=
        cJSON_IsString(group) && strcmp(group->valuestring, "system:masters") == 0;
    return auth_allows(auth, &user, verb, resource);
}

static void review_access(const struct request *request, const cJSON *review, cJSON *status)
{
    const cJSON *spec = tree_get(review, "spec");
    bool self = strcmp(request->resource->plural, "selfsubjectaccessreviews") == 0;
    const char *verb = tree_string(spec, "resourceAttributes.verb", "get");
    const char *sub = tree_string(spec, "resourceAttributes.subresource", "");
    char target[256];
    snprintf(target, sizeof target, "%s%s%s", tree_string(spec, "resourceAttributes.resource", ""),
             *sub ? "/" : "", sub);
    bool allowed = self ? auth_allows(request->server->auth, request->user, verb, target)
                        : described_allowed(request->server->auth, spec, verb, target);
    tree_set(status, "allowed", cJSON_CreateBool(allowed));
    if (!allowed)
        tree_set_string(status, "reason", "denied by --deny");
}

void reviews_create(struct request *request, struct answer *answer)
{
    cJSON *refused, *review = request_tree(request, &refused);
    if (review == NULL) {
        answer_status(answer, refused);
        return;
    }
    cJSON *status = cJSON_CreateObject();
    if (strcmp(request->resource->plural, "tokenreviews") == 0)
        review_token(request, review, status);
    else if (strcmp(request->resource->plural, "selfsubjectreviews") == 0)
        tree_set(status, "userInfo", user_tree(request->user));
    else
        review_access(request, review, status);
    tree_set(review, "status", status);
    answer_tree(answer, 201, review);
}
