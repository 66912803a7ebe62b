/* reviews: bodies are written by hand, because they are small and every value in them is an escaped
 * string; answers are read as far as they matter. */
#include "proto/kube/writes/reviews.h"

#include "proto/base/json_string.h"
#include "proto/kube/documents/json.h"

void review_token_body(struct str token, struct buffer *out)
{
    buffer_add_text(out, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
                         "\"spec\":{\"token\":");
    json_string(out, token);
    buffer_add_text(out, "}}");
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

static void put_extra(struct buffer *out, const struct strs *extra)
{
    struct str key = {NULL, 0};
    for (uint32_t i = 0; i + 1 < extra->count; i += 2) {
        bool same = i > 0 && str_equal(extra->at[i], key);
        key = extra->at[i];
        if (!same) {
            buffer_add_text(out, i == 0 ? ",\"extra\":{" : "],");
            json_string(out, key);
        }
        buffer_add_text(out, same ? "," : ":[");
        json_string(out, extra->at[i + 1]);
    }
    if (extra->count > 1)
        buffer_add_text(out, "]}");
}

void review_access_body(const struct review_user *user, const char *verb, struct str path,
                        struct buffer *out)
{
    buffer_add_text(out, "{\"apiVersion\":\"authorization.k8s.io/v1\","
                         "\"kind\":\"SubjectAccessReview\",\"spec\":{\"nonResourceAttributes\":"
                         "{\"path\":");
    json_string(out, path);
    buffer_print(out, ",\"verb\":\"%s\"},\"user\":", verb);
    json_string(out, user->name);
    if (user->uid.len > 0) {
        buffer_add_text(out, ",\"uid\":");
        json_string(out, user->uid);
    }
    buffer_add_text(out, ",\"groups\":[");
    for (uint32_t i = 0; i < user->groups.count; i++) {
        if (i > 0)
            buffer_add_text(out, ",");
        json_string(out, user->groups.at[i]);
    }
    buffer_add_text(out, "]");
    put_extra(out, &user->extra);
    buffer_add_text(out, "}}");
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
