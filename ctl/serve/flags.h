/* flags: kube-scheduler's flags for what it serves, for berth-serve and for `berth run`, which
 * hands them on. */
#ifndef SERVE_FLAGS_H
#define SERVE_FLAGS_H

#include "proto/base/arena.h"
#include "proto/base/moment.h"

#include <stdbool.h>
#include <stddef.h>

/* Each FLAG(member, "name"): its value as it was given, NULL when it was not. */
#define SERVE_TEXTS                                                                                \
    FLAG(secure_port, "secure-port")                                                               \
    FLAG(ui, "ui")                                                                                 \
    FLAG(bind_address, "bind-address")                                                             \
    FLAG(tls_cert_file, "tls-cert-file")                                                           \
    FLAG(tls_private_key_file, "tls-private-key-file")                                             \
    FLAG(tls_min_version, "tls-min-version")                                                       \
    FLAG(cert_dir, "cert-dir")                                                                     \
    FLAG(permit_port_sharing, "permit-port-sharing")                                               \
    FLAG(permit_address_sharing, "permit-address-sharing")                                         \
    FLAG(show_hidden_metrics_for_version, "show-hidden-metrics-for-version")                       \
    FLAG(allow_metric_labels_manifest, "allow-metric-labels-manifest")                             \
    FLAG(client_ca_file, "client-ca-file")                                                         \
    FLAG(requestheader_client_ca_file, "requestheader-client-ca-file")                             \
    FLAG(authentication_tolerate_lookup_failure, "authentication-tolerate-lookup-failure")         \
    FLAG(authentication_kubeconfig, "authentication-kubeconfig")                                   \
    FLAG(authentication_skip_lookup, "authentication-skip-lookup")                                 \
    FLAG(authentication_token_ttl, "authentication-token-webhook-cache-ttl")                       \
    FLAG(authorization_kubeconfig, "authorization-kubeconfig")                                     \
    FLAG(authorization_allowed_ttl, "authorization-webhook-cache-authorized-ttl")                  \
    FLAG(authorization_denied_ttl, "authorization-webhook-cache-unauthorized-ttl")

/* Lists with commas, to which each more that is given adds, as upstream. */
#define SERVE_SLICES                                                                               \
    FLAG(tls_cipher_suites, "tls-cipher-suites")                                                   \
    FLAG(tls_curve_preferences, "tls-curve-preferences")                                           \
    FLAG(requestheader_allowed_names, "requestheader-allowed-names")                               \
    FLAG(requestheader_username_headers, "requestheader-username-headers")                         \
    FLAG(requestheader_uid_headers, "requestheader-uid-headers")                                   \
    FLAG(requestheader_group_headers, "requestheader-group-headers")                               \
    FLAG(requestheader_extra_headers_prefix, "requestheader-extra-headers-prefix")                 \
    FLAG(authorization_always_allow_paths, "authorization-always-allow-paths")

#define SERVE_FLAGS SERVE_TEXTS SERVE_SLICES

#define SERVE_SNI_MAX 16 /* pairs of --tls-sni-cert-key */

/* Those that may be given several times. */
#define SERVE_LISTS                                                                                \
    FLAG(disabled_metrics, "disabled-metrics")                                                     \
    FLAG(allow_metric_labels, "allow-metric-labels")
#define SERVE_LIST_MAX 16

struct serve_list {
    const char *at[SERVE_LIST_MAX];
    unsigned count;
};

struct serve_flags {
#define FLAG(member, name) const char *member;
    SERVE_FLAGS
#undef FLAG
#define FLAG(member, name) struct serve_list member;
    SERVE_LISTS
#undef FLAG
    const char *tls_sni_cert_key[SERVE_SNI_MAX]; /* may be given several times */
    unsigned sni_count;
    struct arena memory; /* of lists that were given in parts */
};

/* One for each, for tables of options whose state is a struct serve_flags. False: refused. */
#define FLAG(member, name) bool serve_take_##member(void *state, const char *value);
SERVE_FLAGS
SERVE_LISTS
#undef FLAG
bool serve_take_tls_sni_cert_key(void *state, const char *value);

/* clang-format off */
#define SERVE_FLAG_DOCS(X)                                                                         \
    X(secure_port, "secure-port", "PORT", "where to serve HTTPS; 0: not at all (10259)")           \
    X(ui, "ui", "[true|false]", "serve a page that shows the cluster and what is decided, at /ui/ (false)") \
    X(bind_address, "bind-address", "IP", "the address to serve on (0.0.0.0)")                     \
    X(tls_cert_file, "tls-cert-file", "FILE", "certificate to serve with; without: self-signed")   \
    X(tls_private_key_file, "tls-private-key-file", "FILE", "its key")                             \
    X(tls_min_version, "tls-min-version", "VERSION", "the least; VersionTLS10 to VersionTLS13 (VersionTLS12)") \
    X(cert_dir, "cert-dir", "DIR", "where kube-scheduler.crt and .key are, or are made and kept")  \
    X(tls_cipher_suites, "tls-cipher-suites", "LIST", "Go's names; without: GnuTLS's choice")      \
    X(tls_curve_preferences, "tls-curve-preferences", "LIST", "Go's numbers: 23, 24, 25, 29; without: all") \
    X(tls_sni_cert_key, "tls-sni-cert-key", "CERT,KEY[:NAMES]",                                    \
      "another certificate for some names; may be repeated")                                       \
    X(permit_port_sharing, "permit-port-sharing", "[true|false]", "SO_REUSEPORT (false)")          \
    X(permit_address_sharing, "permit-address-sharing", "[true|false]", "SO_REUSEADDR, which is always set") \
    X(disabled_metrics, "disabled-metrics", "LIST", "metrics that are left out; may be repeated")  \
    X(allow_metric_labels, "allow-metric-labels", "METRIC,LABEL=VALUES",                           \
      "values that a label may have, others become \"unexpected\"; may be repeated")               \
    X(allow_metric_labels_manifest, "allow-metric-labels-manifest", "FILE", "the same as YAML")    \
    X(show_hidden_metrics_for_version, "show-hidden-metrics-for-version", "VERSION",               \
      "1.36: metrics that 1.37 hides; 1.35: 1.36 hides none")                                    \
    X(client_ca_file, "client-ca-file", "FILE", "authorities of client certificates")              \
    X(requestheader_client_ca_file, "requestheader-client-ca-file", "FILE",                        \
      "authorities of front proxies' certificates; the next five count with it alone")             \
    X(requestheader_allowed_names, "requestheader-allowed-names", "LIST", "names of proxies (any)") \
    X(requestheader_username_headers, "requestheader-username-headers", "LIST",                    \
      "headers with the user (x-remote-user)")                                                     \
    X(requestheader_uid_headers, "requestheader-uid-headers", "LIST", "headers with its UID")      \
    X(requestheader_group_headers, "requestheader-group-headers", "LIST",                          \
      "headers with its groups (x-remote-group)")                                                  \
    X(requestheader_extra_headers_prefix, "requestheader-extra-headers-prefix", "LIST",            \
      "how headers with more begin (x-remote-extra-)")                                             \
    X(authentication_tolerate_lookup_failure, "authentication-tolerate-lookup-failure",            \
      "[true|false]", "go on when authorities cannot be read from the cluster (true)")             \
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

/* Whether flags that are right by themselves go together, and the files that they name can be read
 * now, as kube-scheduler wants both when it starts; false with a line for each in the log. */
bool serve_flags_agree(const struct serve_flags *f);

/* ---- the pair in --cert-dir ---- */

#define SERVE_PATH_ROOM 4096
/* The name of the file with that ending, ".crt" or ".key". */
void serve_kept_path(const char *dir, const char *ending, char path[SERVE_PATH_ROOM]);
/* An empty file, of a start that could not write it, counts as none. */
bool serve_kept_there(const char *path);
/* False, with a line in the log: one of the two is there alone. */
bool serve_kept_whole(const char *dir);

/* What they mean, with upstream's defaults. */
int serve_port(const struct serve_flags *f);
struct span serve_time(const char *value); /* 10 s when NULL */
bool serve_true(const char *value);        /* false when NULL */
/* GnuTLS's words for versions, ciphers and curves, into out. False: nothing would be left. */
bool serve_priorities(const struct serve_flags *f, char *out, size_t room);

#endif
