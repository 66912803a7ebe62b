/* flags: values are checked where they are given, so that `berth run` refuses a mistake before
 * anything starts; a flag that was not given stays NULL and means upstream's default. */
#include "ctl/serve/flags.h"

#include "ctl/serve/label_rules.h"
#include "proto/base/log.h"
#include "proto/bus/options.h"
#include "proto/kube/access/client.h"
#include "proto/kube/config/config_file.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/release/release.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_port(const char *value)
{
    char *end;
    long port = strtol(value, &end, 10);
    return *value != 0 && *end == 0 && port >= 0 && port <= 65535;
}

static bool is_time(const char *value)
{
    struct span time;
    return config_duration_parse(str_of(value), &time) && time.ns >= 0;
}

static bool is_truth(const char *value)
{
    static const char *const words[] = {"",  "1", "t", "T",     "true",  "TRUE", "True",
                                        "0", "f", "F", "false", "FALSE", "False"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(value, words[i]) == 0)
            return true;
    return false;
}

static const struct {
    const char *name, *since; /* since: the versions of GnuTLS's priorities from there on */
} versions[] = {{"", "+VERS-TLS1.2:+VERS-TLS1.3"},
                {"VersionTLS10", "+VERS-TLS1.0:+VERS-TLS1.1:+VERS-TLS1.2:+VERS-TLS1.3"},
                {"VersionTLS11", "+VERS-TLS1.1:+VERS-TLS1.2:+VERS-TLS1.3"},
                {"VersionTLS12", "+VERS-TLS1.2:+VERS-TLS1.3"},
                {"VersionTLS13", "+VERS-TLS1.3"}};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *versions_of(const char *value)
{
    for (size_t i = 0; i < COUNT(versions); i++)
        if (strcmp(value != NULL ? value : "", versions[i].name) == 0)
            return versions[i].since;
    return NULL;
}

static bool is_version(const char *value)
{
    return versions_of(value) != NULL;
}

/* Go's names of suites; what GnuTLS calls their parts. A suite of TLS 1.3 has no key exchange. */
static const struct suite {
    const char *name, *exchange, *cipher, *mac;
} suites[] = {
#define SUITE(name, exchange, cipher, mac) {"TLS_" name, exchange, cipher, mac},
#define AEAD(exchange, gnutls)                                                                     \
    SUITE(exchange "_WITH_AES_128_GCM_SHA256", gnutls, "AES-128-GCM", "AEAD")                      \
    SUITE(exchange "_WITH_AES_256_GCM_SHA384", gnutls, "AES-256-GCM", "AEAD")
#define CBC(exchange, gnutls)                                                                      \
    SUITE(exchange "_WITH_AES_128_CBC_SHA", gnutls, "AES-128-CBC", "SHA1")                         \
    SUITE(exchange "_WITH_AES_256_CBC_SHA", gnutls, "AES-256-CBC", "SHA1")                         \
    SUITE(exchange "_WITH_AES_128_CBC_SHA256", gnutls, "AES-128-CBC", "SHA256")                    \
    SUITE(exchange "_WITH_RC4_128_SHA", gnutls, "ARCFOUR-128", "SHA1")
#define CHACHA(exchange, gnutls)                                                                   \
    SUITE(exchange "_WITH_CHACHA20_POLY1305", gnutls, "CHACHA20-POLY1305", "AEAD")                 \
    SUITE(exchange "_WITH_CHACHA20_POLY1305_SHA256", gnutls, "CHACHA20-POLY1305", "AEAD")
    SUITE("AES_128_GCM_SHA256", NULL, "AES-128-GCM", "AEAD") SUITE("AES_256_GCM_SHA384", NULL,
                                                                   "AES-256-GCM", "AEAD")
        SUITE("CHACHA20_POLY1305_SHA256", NULL, "CHACHA20-POLY1305", "AEAD")
            AEAD("ECDHE_ECDSA", "ECDHE-ECDSA") CBC("ECDHE_ECDSA", "ECDHE-ECDSA")
                CHACHA("ECDHE_ECDSA", "ECDHE-ECDSA") AEAD("ECDHE_RSA", "ECDHE-RSA")
                    CBC("ECDHE_RSA", "ECDHE-RSA") CHACHA("ECDHE_RSA", "ECDHE-RSA")
                        SUITE("ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "ECDHE-RSA", "3DES-CBC", "SHA1")
                            AEAD("RSA", "RSA") CBC("RSA", "RSA")
                                SUITE("RSA_WITH_3DES_EDE_CBC_SHA", "RSA", "3DES-CBC", "SHA1")};

static const struct suite *suite_of(struct str name)
{
    for (size_t i = 0; i < COUNT(suites); i++)
        if (str_is(name, suites[i].name))
            return &suites[i];
    return NULL;
}

/* Go's CurveIDs. The hybrid ones are names that this GnuTLS does not have: they are taken, and
 * others must be there as well. */
static const struct {
    const char *number, *group;
} curves[] = {{"23", "GROUP-SECP256R1"},
              {"24", "GROUP-SECP384R1"},
              {"25", "GROUP-SECP521R1"},
              {"29", "GROUP-X25519"},
              {"4587", NULL},
              {"4588", NULL},
              {"4589", NULL}};

/* Appends ":+word" once; false when there is no room. */
static bool add_word(char *out, size_t room, const char *word)
{
    size_t len = strlen(out), more = strlen(word);
    const char *at = strstr(out, word);
    for (; at != NULL; at = strstr(at + 1, word))
        if (at[-1] == '+' && (at[more] == ':' || at[more] == 0))
            return true;
    if (len + more + 3 > room)
        return false;
    snprintf(out + len, room - len, ":+%s", word);
    return true;
}

static bool add_suites(const char *list, char *out, size_t room)
{
    struct str rest = str_of(list), name;
    bool any = false;
    snprintf(out + strlen(out), room - strlen(out), ":-CIPHER-ALL:-MAC-ALL:-KX-ALL");
    while (str_split(&rest, ",", &name)) {
        const struct suite *s = suite_of(str_trim(name));
        if (name.len == 0)
            continue;
        if (s == NULL || (s->exchange != NULL && !add_word(out, room, s->exchange)) ||
            !add_word(out, room, s->cipher) || !add_word(out, room, s->mac))
            return false;
        any = true;
    }
    return any;
}

static bool add_curves(const char *list, char *out, size_t room)
{
    struct str rest = str_of(list), number;
    bool any = false;
    snprintf(out + strlen(out), room - strlen(out), ":-GROUP-ALL");
    while (str_split(&rest, ",", &number)) {
        size_t i = 0;
        while (i < COUNT(curves) && !str_is(str_trim(number), curves[i].number))
            i++;
        if (i == COUNT(curves) ||
            (curves[i].group != NULL && !add_word(out, room, curves[i].group)))
            return false;
        any |= curves[i].group != NULL;
    }
    return any;
}

bool serve_priorities(const struct serve_flags *f, char *out, size_t room)
{
    const char *since = versions_of(f->tls_min_version);
    bool newest = f->tls_min_version != NULL && strcmp(f->tls_min_version, "VersionTLS13") == 0;
    const char *list = f->tls_cipher_suites, *preferred = f->tls_curve_preferences;
    if (since == NULL)
        return false;
    snprintf(out, room, "NORMAL:-VERS-ALL:%s", since);
    /* As in Go, suites of TLS 1.3 are not chosen by a list where there are no others. */
    if (list != NULL && *list != 0 && !newest && !add_suites(list, out, room))
        return false;
    return preferred == NULL || *preferred == 0 || add_curves(preferred, out, room);
}

static bool is_suites(const char *value)
{
    char words[1024];
    return serve_priorities(&(struct serve_flags){.tls_cipher_suites = value}, words,
                            sizeof(words));
}

static bool is_curves(const char *value)
{
    char words[1024];
    return serve_priorities(&(struct serve_flags){.tls_curve_preferences = value}, words,
                            sizeof(words));
}

/* No names, as upstream; "" is every address. */
static bool is_address(const char *value)
{
    unsigned char bytes[16];
    return *value == 0 || inet_pton(AF_INET, value, bytes) == 1 ||
           inet_pton(AF_INET6, value, bytes) == 1;
}

static bool is_any(const char *value)
{
    (void)value;
    return true;
}

/* The minor version before one that there is a table for. */
static bool is_former(const char *value)
{
    int64_t minor;
    return *value == 0 || (strncmp(value, "1.", 2) == 0 && str_to_i64(str_of(value + 2), &minor) &&
                           minor >= RELEASE_OLDEST - 1 && minor <= RELEASE_NEWEST - 1);
}

static bool is_right(const char *flag, bool good, struct str why, struct arena *memory)
{
    if (!good)
        log_error("--%s: %.*s", flag, STR_ARG(why));
    arena_free(memory);
    return good;
}

static bool is_manifest(const char *value)
{
    static struct label_rules rules; /* large */
    struct arena memory = {0};
    struct str why = {0};
    rules.count = 0;
    bool good = *value == 0 || label_rules_read_file(&rules, value, &memory, &why);
    return is_right("allow-metric-labels-manifest", good, why, &memory);
}

static bool is_labels(const char *value)
{
    static struct label_rules rules;
    struct arena memory = {0};
    struct str why = {0};
    rules.count = 0;
    bool good = label_rules_read(&rules, str_of(value), &memory, &why);
    return is_right("allow-metric-labels", good, why, &memory);
}

static bool is_names(const char *value)
{
    struct arena memory = {0};
    struct strs names;
    struct str why = {0};
    bool good = label_rules_names(str_of(value), &names, &memory, &why);
    return is_right("disabled-metrics", good, why, &memory);
}

#define is_secure_port                            is_port
#define is_ui                                     is_truth
#define is_bind_address                           is_address
#define is_tls_cert_file                          is_any
#define is_tls_private_key_file                   is_any
#define is_tls_min_version                        is_version
#define is_cert_dir                               is_any
#define is_tls_cipher_suites                      is_suites
#define is_tls_curve_preferences                  is_curves
#define is_permit_port_sharing                    is_truth
#define is_permit_address_sharing                 is_truth
#define is_show_hidden_metrics_for_version        is_former
#define is_allow_metric_labels_manifest           is_manifest
#define is_requestheader_allowed_names            is_any
#define is_requestheader_username_headers         is_any
#define is_requestheader_uid_headers              is_any
#define is_requestheader_group_headers            is_any
#define is_requestheader_extra_headers_prefix     is_any
#define is_authentication_tolerate_lookup_failure is_truth
#define is_client_ca_file                         is_any
#define is_requestheader_client_ca_file           is_any
#define is_authentication_kubeconfig              is_any
#define is_authentication_skip_lookup             is_truth
#define is_authentication_token_ttl               is_time
#define is_authorization_kubeconfig               is_any
#define is_authorization_always_allow_paths       is_any
#define is_authorization_allowed_ttl              is_time
#define is_authorization_denied_ttl               is_time

#define FLAG(member, name)                                                                         \
    bool serve_take_##member(void *state, const char *value)                                       \
    {                                                                                              \
        ((struct serve_flags *)state)->member = value;                                             \
        return is_##member(value);                                                                 \
    }
SERVE_TEXTS
#undef FLAG

#define FLAG(member, name)                                                                         \
    bool serve_take_##member(void *state, const char *value)                                       \
    {                                                                                              \
        struct serve_flags *f = state;                                                             \
        f->member = options_joined(&f->memory, f->member, value);                                  \
        return is_##member(value);                                                                 \
    }
SERVE_SLICES
#undef FLAG

static bool add(struct serve_list *list, const char *value)
{
    if (list->count == SERVE_LIST_MAX)
        return false;
    list->at[list->count++] = value;
    return true;
}

bool serve_take_disabled_metrics(void *state, const char *value)
{
    return is_names(value) && add(&((struct serve_flags *)state)->disabled_metrics, value);
}

bool serve_take_allow_metric_labels(void *state, const char *value)
{
    return is_labels(value) && add(&((struct serve_flags *)state)->allow_metric_labels, value);
}

/* ---- what can only be told of all of them, and of files ---- */

static bool given(const char *value)
{
    return value != NULL && *value != 0;
}

static bool can_read(const char *flag, const char *path)
{
    struct stat found;
    const char *why = NULL;
    if (!given(path))
        return true;
    if (stat(path, &found) != 0 || access(path, R_OK) != 0)
        why = strerror(errno);
    else if (S_ISDIR(found.st_mode))
        why = strerror(EISDIR);
    else if (S_ISREG(found.st_mode) && found.st_size == 0)
        why = "it is empty";
    if (why != NULL)
        log_error("--%s: cannot read %s: %s", flag, path, why);
    return why == NULL;
}

static bool can_reach(const char *flag, const char *path)
{
    char error[512];
    if (!given(path))
        return true;
    struct kube_config *config = kube_config_load(path, NULL, error, sizeof(error));
    bool good = config != NULL;
    if (!good)
        log_error("--%s: %s", flag, error);
    kube_config_free(&config);
    return good;
}

static bool can_read_named(const char *pair)
{
    char path[SERVE_PATH_ROOM];
    const char *comma = strchr(pair, ',');
    bool good = true;
    snprintf(path, sizeof(path), "%.*s", (int)(comma - pair), pair);
    good &= can_read("tls-sni-cert-key", path);
    snprintf(path, sizeof(path), "%.*s", (int)strcspn(comma + 1, ":"), comma + 1);
    return can_read("tls-sni-cert-key", path) && good;
}

void serve_kept_path(const char *dir, const char *ending, char path[SERVE_PATH_ROOM])
{
    snprintf(path, SERVE_PATH_ROOM, "%s/kube-scheduler%s", dir, ending);
}

/* One that is there and cannot be looked at is not to be replaced. */
bool serve_kept_there(const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return errno != ENOENT && errno != ENOTDIR;
    return !S_ISREG(found.st_mode) || found.st_size > 0;
}

bool serve_kept_whole(const char *dir)
{
    char certificate[SERVE_PATH_ROOM], key[SERVE_PATH_ROOM];
    serve_kept_path(dir, ".crt", certificate);
    serve_kept_path(dir, ".key", key);
    bool has_key = serve_kept_there(key), whole = serve_kept_there(certificate) == has_key;
    if (!whole)
        log_error("--cert-dir: %s: certificate and key must be there as a pair; only %s is", dir,
                  has_key ? key : certificate);
    return whole;
}

static bool has_certificates(const struct serve_flags *f)
{
    bool named = given(f->tls_cert_file), half = named != given(f->tls_private_key_file);
    if (half)
        log_error("--tls-cert-file and --tls-private-key-file belong together: --%s is missing",
                  named ? "tls-private-key-file" : "tls-cert-file");
    bool good = !half;
    good &= can_read("tls-cert-file", f->tls_cert_file);
    good &= can_read("tls-private-key-file", f->tls_private_key_file);
    for (unsigned i = 0; i < f->sni_count; i++)
        good &= can_read_named(f->tls_sni_cert_key[i]);
    if (!named && !half && given(f->cert_dir))
        good &= serve_kept_whole(f->cert_dir);
    return good;
}

/* Files do not count where nothing is served, as upstream. */
bool serve_flags_agree(const struct serve_flags *f)
{
    bool both = f->allow_metric_labels.count > 0 && given(f->allow_metric_labels_manifest);
    if (both)
        log_error("--allow-metric-labels and --allow-metric-labels-manifest exclude each other");
    if (serve_port(f) == 0)
        return !both;
    bool good = has_certificates(f) && !both;
    good &= can_read("client-ca-file", f->client_ca_file);
    good &= can_read("requestheader-client-ca-file", f->requestheader_client_ca_file);
    good &= can_reach("authentication-kubeconfig", f->authentication_kubeconfig);
    good &= can_reach("authorization-kubeconfig", f->authorization_kubeconfig);
    return good;
}

/* Two files, which may be the same, and names behind a colon. */
bool serve_take_tls_sni_cert_key(void *state, const char *value)
{
    struct serve_flags *f = state;
    const char *comma = strchr(value, ',');
    if (comma == NULL || comma == value || comma[1] == 0 || comma[1] == ':' ||
        f->sni_count == SERVE_SNI_MAX)
        return false;
    f->tls_sni_cert_key[f->sni_count++] = value;
    return true;
}

int serve_port(const struct serve_flags *f)
{
    return f->secure_port != NULL ? (int)strtol(f->secure_port, NULL, 10) : 10259;
}

struct span serve_time(const char *value)
{
    struct span time = span_of_ms(10000);
    if (value != NULL)
        (void)config_duration_parse(str_of(value), &time);
    return time;
}

bool serve_true(const char *value)
{
    return value != NULL && strchr("0fF", value[0] ? value[0] : '1') == NULL;
}
