/* reviews: who has this token, may this user do that: TokenReview and SubjectAccessReview as texts,
 * and the ConfigMap that says which client certificates are to be believed. */
#ifndef KUBE_WRITES_REVIEWS_H
#define KUBE_WRITES_REVIEWS_H

#include "proto/base/arena.h"
#include "proto/base/buffer.h"
#include "proto/messages.h"

/* Who asks. Borrowed. */
struct review_user {
    struct str name, uid;
    struct strs groups;
    struct strs extra; /* keys and values by turns; a key with several values is there several
                        * times, one after the other */
};

void review_token_body(struct str token, struct buffer *out);
/* Who we are ourselves. */
void review_self_body(struct buffer *out);
/* False when the answer cannot be read. *known: the token is somebody's, who is in user (in the
 * arena). */
bool review_token_read(struct str body, bool *known, struct review_user *user, struct arena *a);

void review_access_body(const struct review_user *user, const char *verb, struct str path,
                        struct buffer *out);
/* May we do that ourselves? */
struct review_resource {
    struct str group, resource, subresource, verb, namespace_name, name;
};
void review_self_access_body(const struct review_resource *asked, struct buffer *out);
/* denied: by a word against it, where otherwise nobody had an opinion. reason: in the arena. */
struct review_answer {
    bool allowed, denied;
    struct str reason;
};
/* False when the answer cannot be read. */
bool review_access_read(struct str body, struct review_answer *out, struct arena *a);

#define REVIEW_TOKEN_PATH  "/apis/authentication.k8s.io/v1/tokenreviews"
#define REVIEW_ACCESS_PATH "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define REVIEW_CONFIG_PATH                                                                         \
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"

/* What kube-system/extension-apiserver-authentication says. */
struct review_config {
    struct str client_ca, proxy_ca; /* PEM; may be empty */
    struct strs proxy_names;        /* who may speak for others; empty: anybody of proxy_ca */
    struct strs user_headers, uid_headers, group_headers, extra_prefixes;
};

bool review_config_read(struct str body, struct review_config *config, struct arena *a);

#endif
