/* reviews: bodies are built with cJSON; answers are read as far as they matter. */
#include "proto/kube/writes/reviews.h"

#include "proto/base/memory.h"
#include "proto/kube/documents/json.h"
#include "proto/kube/documents/json_build.h"

#define AUTHENTICATION STR_LITERAL("authentication.k8s.io/v1")
#define AUTHORIZATION  STR_LITERAL("authorization.k8s.io/v1")

static cJSON *body_of(struct str api, const char *kind)
{
    cJSON *root = json_build();
    json_add_text(root, "apiVersion", api);
    json_add_text(root, "kind", str_of(kind));
    return root;
}

void review_token_body(struct str token, struct buffer *out)
{
    cJSON *root = body_of(AUTHENTICATION, "TokenReview");
    json_add_text(json_add_object(root, "spec"), "token", token);
    json_build_print(out, root);
}

void review_self_body(struct buffer *out)
{
    json_build_print(out, body_of(AUTHENTICATION, "SelfSubjectReview"));
}

static struct strs texts_of(const struct kube_json *list, struct arena *a)
{
    struct strs out = {0, arena_take(a, (kube_json_count(list) + 1) * sizeof(struct str))};
    for (const struct kube_json *i = kube_json_first(list); i != NULL; i = kube_json_next(i))
        out.at[out.count++] = arena_copy(a, kube_json_text(i));
    return out;
}

/* {"key": ["value", …], …} */
static struct strs extra_of(const struct kube_json *map, struct arena *a)
{
    uint32_t count = 0;
    for (const struct kube_json *i = kube_json_first(map); i != NULL; i = kube_json_next(i))
        count += (uint32_t)kube_json_count(i);
    struct strs out = {0, arena_take(a, (2 * count + 1) * sizeof(struct str))};
    for (const struct kube_json *i = kube_json_first(map); i != NULL; i = kube_json_next(i)) {
        struct str key = arena_copy(a, kube_json_name(i));
        for (const struct kube_json *v = kube_json_first(i); v != NULL; v = kube_json_next(v)) {
            out.at[out.count++] = key;
            out.at[out.count++] = arena_copy(a, kube_json_text(v));
        }
    }
    return out;
}

bool review_token_read(struct str body, bool *known, struct review_user *user, struct arena *a)
{
    struct kube_json *json = kube_json_parse(body, NULL, a);
    const struct kube_json *status = kube_json_get(json, "status");
    bool read = kube_json_is_object(status);
    *known = kube_json_true(kube_json_get(status, "authenticated"));
    if (*known) {
        const struct kube_json *said = kube_json_get(status, "user");
        user->name = arena_copy(a, kube_json_text(kube_json_get(said, "username")));
        user->uid = arena_copy(a, kube_json_text(kube_json_get(said, "uid")));
        user->groups = texts_of(kube_json_get(said, "groups"), a);
        user->extra = extra_of(kube_json_get(said, "extra"), a);
    }
    kube_json_free(&json);
    return read;
}

/* The values of one key stand one after the other. */
static void add_extra(cJSON *spec, const struct strs *extra)
{
    cJSON *map = extra->count > 1 ? json_add_object(spec, "extra") : NULL, *values = NULL;
    for (uint32_t i = 0; i + 1 < extra->count; i += 2) {
        if (i == 0 || !str_equal(extra->at[i], extra->at[i - 2])) {
            char *key = str_copy(extra->at[i]);
            values = json_add_list(map, key);
            memory_free(key);
        }
        json_add_text_item(values, extra->at[i + 1]);
    }
}

void review_access_body(const struct review_user *user, const char *verb, struct str path,
                        struct buffer *out)
{
    cJSON *root = body_of(AUTHORIZATION, "SubjectAccessReview");
    cJSON *spec = json_add_object(root, "spec");
    cJSON *asked = json_add_object(spec, "nonResourceAttributes");
    json_add_text(asked, "path", path);
    json_add_text(asked, "verb", str_of(verb));
    json_add_text(spec, "user", user->name);
    json_add_text_if(spec, "uid", user->uid);
    json_add_texts(spec, "groups", &user->groups);
    add_extra(spec, &user->extra);
    json_build_print(out, root);
}

void review_self_access_body(const struct review_resource *asked, struct buffer *out)
{
    cJSON *root = body_of(AUTHORIZATION, "SelfSubjectAccessReview");
    cJSON *to = json_add_object(json_add_object(root, "spec"), "resourceAttributes");
    json_add_text(to, "group", asked->group);
    json_add_text(to, "resource", asked->resource);
    json_add_text(to, "subresource", asked->subresource);
    json_add_text(to, "verb", asked->verb);
    json_add_text(to, "namespace", asked->namespace_name);
    json_add_text(to, "name", asked->name);
    json_build_print(out, root);
}

bool review_access_read(struct str body, struct review_answer *out, struct arena *a)
{
    struct kube_json *json = kube_json_parse(body, NULL, a);
    const struct kube_json *status = kube_json_get(json, "status");
    bool read = kube_json_is_object(status);
    out->denied = kube_json_true(kube_json_get(status, "denied"));
    out->allowed = kube_json_true(kube_json_get(status, "allowed")) && !out->denied;
    out->reason = arena_copy(a, kube_json_text(kube_json_get(status, "reason")));
    kube_json_free(&json);
    return read;
}

/* A list in JSON, inside a string. */
static struct strs list_in(const struct kube_json *data, const char *name, struct arena *a)
{
    struct kube_json *list = kube_json_parse(kube_json_text(kube_json_get(data, name)), NULL, a);
    struct strs out = texts_of(list, a);
    kube_json_free(&list);
    return out;
}

bool review_config_read(struct str body, struct review_config *config, struct arena *a)
{
    struct kube_json *json = kube_json_parse(body, NULL, a);
    const struct kube_json *data = kube_json_get(json, "data");
    *config = (struct review_config){
        .client_ca = arena_copy(a, kube_json_text(kube_json_get(data, "client-ca-file"))),
        .proxy_ca =
            arena_copy(a, kube_json_text(kube_json_get(data, "requestheader-client-ca-file"))),
        .proxy_names = list_in(data, "requestheader-allowed-names", a),
        .user_headers = list_in(data, "requestheader-username-headers", a),
        .uid_headers = list_in(data, "requestheader-uid-headers", a),
        .group_headers = list_in(data, "requestheader-group-headers", a),
        .extra_prefixes = list_in(data, "requestheader-extra-headers-prefix", a)};
    bool read = kube_json_is_object(json);
    kube_json_free(&json);
    return read;
}
