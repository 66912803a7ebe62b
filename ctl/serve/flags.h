/* flags: kube-scheduler's flags for what it serves, for berth-serve and for `berth run`, which
 * hands them on. */
#ifndef SERVE_FLAGS_H
#define SERVE_FLAGS_H

#include "proto/base/moment.h"

#include <stdbool.h>

/* Each FLAG(member, "name"): its value as it was given, NULL when it was not. */
#define SERVE_FLAGS                                                                                \
    FLAG(secure_port, "secure-port")                                                               \
    FLAG(bind_address, "bind-address")                                                             \
    FLAG(tls_cert_file, "tls-cert-file")                                                           \
    FLAG(tls_private_key_file, "tls-private-key-file")                                             \
    FLAG(tls_min_version, "tls-min-version")                                                       \
    FLAG(client_ca_file, "client-ca-file")                                                         \
    FLAG(requestheader_client_ca_file, "requestheader-client-ca-file")                             \
    FLAG(authentication_kubeconfig, "authentication-kubeconfig")                                   \
    FLAG(authentication_skip_lookup, "authentication-skip-lookup")                                 \
    FLAG(authentication_token_ttl, "authentication-token-webhook-cache-ttl")                       \
    FLAG(authorization_kubeconfig, "authorization-kubeconfig")                                     \
    FLAG(authorization_always_allow_paths, "authorization-always-allow-paths")                     \
    FLAG(authorization_allowed_ttl, "authorization-webhook-cache-authorized-ttl")                  \
    FLAG(authorization_denied_ttl, "authorization-webhook-cache-unauthorized-ttl")

struct serve_flags {
#define FLAG(member, name) const char *member;
    SERVE_FLAGS
#undef FLAG
};

/* One for each, for tables of options whose state is a struct serve_flags. False: refused. */
#define FLAG(member, name) bool serve_take_##member(void *state, const char *value);
SERVE_FLAGS
#undef FLAG

/* clang-format off */
#define SERVE_FLAG_DOCS(X)                                                                         \
    X(secure_port, "secure-port", "PORT", "where to serve HTTPS; 0: not at all (10259)")           \
    X(bind_address, "bind-address", "IP", "the address to serve on (0.0.0.0)")                     \
    X(tls_cert_file, "tls-cert-file", "FILE", "certificate to serve with; without: self-signed")   \
    X(tls_private_key_file, "tls-private-key-file", "FILE", "its key")                             \
    X(tls_min_version, "tls-min-version", "VERSION", "the least; VersionTLS12 (default) or VersionTLS13")     \
    X(client_ca_file, "client-ca-file", "FILE", "authorities of client certificates")              \
    X(requestheader_client_ca_file, "requestheader-client-ca-file", "FILE",                        \
      "authorities of front proxies' certificates")                                                \
    X(authentication_kubeconfig, "authentication-kubeconfig", "FILE",                              \
      "how to ask the API server who has a token; without: nobody is known by one")                \
    X(authentication_skip_lookup, "authentication-skip-lookup", "[true|false]",                    \
      "do not read authorities from the cluster (false)")                                          \
    X(authentication_token_ttl, "authentication-token-webhook-cache-ttl", "TIME",                  \
      "how long answers about tokens count (10s)")                                                 \
    X(authorization_kubeconfig, "authorization-kubeconfig", "FILE",                                \
      "how to ask the API server who may; without: only always allowed paths")                     \
    X(authorization_always_allow_paths, "authorization-always-allow-paths", "PATHS",               \
      "what everybody may see (/healthz,/readyz,/livez)")                                          \
    X(authorization_allowed_ttl, "authorization-webhook-cache-authorized-ttl", "TIME",             \
      "how long a yes counts (10s)")                                                               \
    X(authorization_denied_ttl, "authorization-webhook-cache-unauthorized-ttl", "TIME",            \
      "how long a no counts (10s)")
#define SERVE_FLAG_OPTION(member, name, value, doc) {name, value, doc, serve_take_##member},
/* clang-format on */

/* What they mean, with upstream's defaults. */
int serve_port(const struct serve_flags *f);
struct span serve_time(const char *value); /* 10 s when NULL */
bool serve_true(const char *value);        /* false when NULL */

#endif
