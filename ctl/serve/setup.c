/* setup: from flags to parts. What must stay true: whatever is wrong with a file is said with its
 * name before anything is served. */
#include "ctl/serve/setup.h"

#include "ctl/serve/certificate.h"
#include "ctl/serve/kept.h"
#include "proto/base/beat.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/bus/options.h"
#include "proto/kube/config/config_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_certificate, FILE_key, FILE_client_ca, FILE_proxy_ca };

/* ---- the command line ---- */

#define TAKE_TEXT(name, member)                                                                    \
    static bool take_##name(void *state, const char *value)                                        \
    {                                                                                              \
        ((struct setup *)state)->member = value;                                                   \
        return *value != 0;                                                                        \
    }
TAKE_TEXT(run_dir, bus.run_dir)
TAKE_TEXT(name, bus.instance)
TAKE_TEXT(curve_dir, bus.curve_dir)
TAKE_TEXT(listen, bus.listen)
TAKE_TEXT(tap, bus.tap)
TAKE_TEXT(config, config)

static bool take_allow_plain_tcp(void *state, const char *value)
{
    (void)value;
    return ((struct setup *)state)->bus.allow_plain_tcp = true;
}

static bool take_workers(void *state, const char *value)
{
    int64_t count = 0;
    bool taken = options_number(value, 0, BUS_PEERS_MAX - 4, &count);
    ((struct setup *)state)->workers = (long)count;
    return taken;
}

/* A door: its name for people is the URL's last part, without an ending. */
static bool take_endpoint(void *state, const char *value)
{
    struct setup *s = state;
    size_t i = s->server.count;
    const char *slash = strrchr(value, '/');
    if (strstr(value, "://") == NULL || i == BUS_PEERS_MAX || strlen(value) >= 200)
        return false;
    snprintf(s->endpoints[i], sizeof(s->endpoints[i]), "%s", value);
    snprintf(s->doors[i], sizeof(s->doors[i]), "%.*s", (int)strcspn(slash + 1, ".:"), slash + 1);
    s->server.count++;
    return true;
}

static bool take_level(void *state, const char *value)
{
    enum log_level level;
    (void)state;
    if (!log_level_parse(value, &level))
        return false;
    log_set_level(level);
    return true;
}

static bool take_given(void *state, const char *value)
{
    static const char gates[] = "feature-gates=";
    struct setup *s = state;
    for (size_t i = 0; i < s->given_count && strncmp(value, gates, strlen(gates)) == 0; i++)
        if (strncmp(s->given[i], gates, strlen(gates)) == 0) {
            s->given[i] = options_joined(&s->memory, s->given[i], value + strlen(gates));
            return true;
        }
    if (s->given_count < SETUP_GIVEN_MAX)
        s->given[s->given_count++] = value;
    return true;
}

static bool take_beat(void *state, const char *value)
{
    (void)state;
    return beat_join(value);
}

static bool take_format(void *state, const char *value)
{
    (void)state;
    return log_set_format(value);
}

/* What it holds is looked at when somebody asks for a moment of it; that it is there, now. */
static bool take_recording(void *state, const char *value)
{
    struct setup *s = state;
    s->server.page.recording = value;
    bool there = access(value, R_OK) == 0;
    snprintf(s->why, sizeof(s->why), "%s", there ? "" : strerror(errno));
    return there;
}

static const struct own_option table[] = {
    {"run-dir", "DIR", "ask the processes of this run directory (default: as for them)",
     take_run_dir},
    {"workers", "N", "how many workers to ask there (default 1)", take_workers},
    {"endpoint", "URL", "ask this process instead; may be repeated", take_endpoint},
    {"name", "NAME", "instance name (serve)", take_name},
    {"listen", "URL", "our own door (default: ipc in the run directory)", take_listen},
    {"tap", "URL", "our own tap (default: ipc in the run directory)", take_tap},
    {"curve-dir", "DIR", "CURVE keys, for tcp:// doors", take_curve_dir},
    {"allow-plain-tcp", NULL, "permit tcp without CURVE beyond loopback", take_allow_plain_tcp},
    {"config", "FILE", "the KubeSchedulerConfiguration that /configz shows", take_config},
    {"recording", "FILE", "show this recording of berth record at /ui/, not what is there now",
     take_recording},
    SERVE_FLAG_DOCS(SERVE_FLAG_OPTION){"given", "NAME=VALUE",
                                       "what /flagz shows of a flag; may be repeated", take_given},
    {"v", "N", "log verbosity as in Kubernetes: 2 and more is debug", take_level},
    {"log-level", "LEVEL", "error, warn, info or debug (default info)", take_level},
    {"logging-format", "FORMAT", "text (logfmt, the default) or json", take_format},
    {"beat", "FD:SLOT", "where berth run, which gives it, sees that our loop turns", take_beat},
    {NULL, NULL, NULL, NULL},
};

static void add_default_doors(struct setup *s)
{
    static const char *const names[] = {"watcher", "queue", "scheduler", "binder"};
    char url[300];
    for (long i = 0; i < 4 + s->workers; i++) {
        if (i < 4)
            snprintf(url, sizeof(url), "ipc://%s/%s.sock", s->bus.run_dir, names[i]);
        else
            snprintf(url, sizeof(url), "ipc://%s/worker-%ld.sock", s->bus.run_dir, i - 4);
        if (!take_endpoint(s, url))
            log_warn("a process is left out: its path is too long|path=%s", url);
    }
}

static void add_once(struct strs *list, struct str name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (str_equal(list->at[i], name))
            return;
    if (list->count < SETUP_NAMES_MAX)
        list->at[list->count++] = name;
}

/* Started by itself, /flagz shows its own flags. */
static void note_given(struct setup *s)
{
#define FLAG(member, flag)                                                                         \
    for (unsigned i = 0; i < s->flags.member.count; i++)                                           \
        take_given(s, arena_print(&s->memory, "%s=%s", flag, s->flags.member.at[i]).at);
    SERVE_LISTS
#undef FLAG
#define FLAG(member, flag)                                                                         \
    if (s->flags.member != NULL)                                                                   \
        take_given(s, arena_print(&s->memory, "%s=%s", flag, s->flags.member).at);
    SERVE_FLAGS
#undef FLAG
    if (s->config != NULL)
        take_given(s, arena_print(&s->memory, "config=%s", s->config).at);
}

void setup_read(struct setup *s, int argc, char **argv)
{
    s->bus = (struct bus_options){.process = TOOL, .instance = "serve", .generation = 1};
    s->workers = 1;
    log_open("serve", LOG_LEVEL_info);
    options_read(&(struct options_table){.program = "berth-serve",
                                         .usage = "serve metrics and health over HTTPS",
                                         .options = table,
                                         .state = s,
                                         .error = s->why},
                 argc, argv);
    if (s->given_count == 0)
        note_given(s);
    if (s->bus.run_dir == NULL)
        s->bus.run_dir = options_run_dir();
    if (s->server.count == 0)
        add_default_doors(s);
    for (size_t i = 0; i < s->server.count; i++) {
        s->endpoint_list[i] = s->endpoints[i];
        s->name_list[i] = s->doors[i];
        s->bus.peers[s->bus.peer_count++] = (struct bus_peer_option){ANY, s->endpoints[i]};
    }
    s->http.port = serve_port(&s->flags);
    s->http.address = s->flags.bind_address != NULL ? s->flags.bind_address : "0.0.0.0";
}

/* ---- files ---- */

static bool given(const char *value)
{
    return value != NULL && *value != 0;
}

static bool make_certificate(struct setup *s)
{
    struct buffer why = {0};
    bool made =
        certificate_make(s->http.address, &s->files[FILE_certificate], &s->files[FILE_key], &why);
    if (!made)
        log_error("%s", why.at);
    buffer_free(&why);
    return made;
}

static struct strs list_of(struct setup *s, const char *text, const char *otherwise)
{
    struct strs out = {0, arena_take(&s->memory, 64 * sizeof(struct str))};
    struct str rest = str_of(text != NULL ? text : otherwise), item;
    while (rest.len > 0 && out.count < 64 && str_split(&rest, ",", &item))
        if (str_trim(item).len > 0)
            out.at[out.count++] = str_trim(item);
    return out;
}

/* CERT,KEY[:NAME,NAME,…] */
static bool read_named(struct setup *s)
{
    for (unsigned i = 0; i < s->flags.sni_count; i++) {
        const char *pair = s->flags.tls_sni_cert_key[i], *comma = strchr(pair, ',');
        const char *colon = strchr(comma, ':');
        struct str key = {comma + 1,
                          (uint32_t)((colon != NULL ? colon : strchr(comma, 0)) - comma - 1)};
        struct http_named *n = &s->http.named[s->http.named_count++];
        struct str path = arena_print(&s->memory, "%.*s", (int)(comma - pair), pair);
        if (!kept_read(&s->pairs[2 * (size_t)i], "tls-sni-cert-key", path.at) ||
            !kept_read(&s->pairs[2 * (size_t)i + 1], "tls-sni-cert-key",
                       arena_copy(&s->memory, key).at))
            return false;
        n->certificate = buffer_str(&s->pairs[2 * (size_t)i]);
        n->key = buffer_str(&s->pairs[2 * (size_t)i + 1]);
        n->names = list_of(s, colon != NULL ? colon + 1 : NULL, "");
    }
    return true;
}

/* One that was kept or named is shown as it is, and whoever reads the log knows why Go refuses it.
 */
static void warn_of_odd(const struct buffer *certificate, const char *flag)
{
    if (certificate_odd(buffer_str(certificate)))
        log_warn("--%s: the certificate has a negative serial number, so the kubelet's probes and "
                 "Prometheus refuse it: replace it",
                 flag);
}

static bool read_certificates(struct setup *s)
{
    const struct serve_flags *f = &s->flags;
    if (!kept_read(&s->files[FILE_certificate], "tls-cert-file", f->tls_cert_file) ||
        !kept_read(&s->files[FILE_key], "tls-private-key-file", f->tls_private_key_file) ||
        !kept_read(&s->files[FILE_client_ca], "client-ca-file", f->client_ca_file) ||
        !kept_read(&s->files[FILE_proxy_ca], "requestheader-client-ca-file",
                   f->requestheader_client_ca_file) ||
        !read_named(s))
        return false;
    bool named = given(f->tls_cert_file);
    bool kept = !named && given(f->cert_dir);
    if (kept &&
        !kept_pair(f->cert_dir, s->http.address, &s->files[FILE_certificate], &s->files[FILE_key]))
        return false;
    if (!named && !kept && !make_certificate(s))
        return false;
    warn_of_odd(&s->files[FILE_certificate], named ? "tls-cert-file" : "cert-dir");
    for (unsigned i = 0; i < f->sni_count; i++)
        warn_of_odd(&s->pairs[2 * (size_t)i], "tls-sni-cert-key");
    return true;
}

/* ---- the API server ---- */

/* Without a kubeconfig only a service account is left, as upstream. NULL: nobody can be asked. */
static bool reach(struct setup *s, int which, const char *path, const char *what)
{
    char error[512];
    if (!given(path) && getenv("KUBERNETES_SERVICE_HOST") == NULL) {
        log_warn("no --%s: the API server is not asked", what);
        return true;
    }
    s->api[which] = kube_config_load(given(path) ? path : NULL, NULL, error, sizeof(error));
    if (s->api[which] != NULL)
        s->server.clients[which] = kube_client_new(
            s->api[which],
            &(struct kube_client_options){.user_agent = "berth-serve/" OPTIONS_VERSION}, error,
            sizeof(error));
    if (s->server.clients[which] == NULL)
        log_error("--%s: %s", what, error);
    return s->server.clients[which] != NULL;
}

static struct review_config proxy_of(struct setup *s)
{
    const struct serve_flags *f = &s->flags;
    return (struct review_config){
        .proxy_ca = buffer_str(&s->files[FILE_proxy_ca]),
        .proxy_names = list_of(s, f->requestheader_allowed_names, ""),
        .user_headers = list_of(s, f->requestheader_username_headers, "x-remote-user"),
        .uid_headers = list_of(s, f->requestheader_uid_headers, ""),
        .group_headers = list_of(s, f->requestheader_group_headers, "x-remote-group"),
        .extra_prefixes = list_of(s, f->requestheader_extra_headers_prefix, "x-remote-extra-")};
}

static void make_access(struct setup *s)
{
    const struct serve_flags *f = &s->flags;
    s->server.access = access_new(&(struct access_options){
        .authentication = s->server.clients[0],
        .authorization = s->server.clients[1],
        .token_ttl = serve_time(f->authentication_token_ttl),
        .allowed_ttl = serve_time(f->authorization_allowed_ttl),
        .denied_ttl = serve_time(f->authorization_denied_ttl),
        .always_allowed = f->authorization_always_allow_paths != NULL
                              ? f->authorization_always_allow_paths
                              : "/healthz,/readyz,/livez",
        .skip_lookup = serve_true(f->authentication_skip_lookup),
        .need_lookup = f->authentication_tolerate_lookup_failure != NULL &&
                       !serve_true(f->authentication_tolerate_lookup_failure),
        .client_ca = buffer_str(&s->files[FILE_client_ca]),
        .proxy = proxy_of(s)});
}

/* ---- /configz ---- */

static bool make_configz(struct setup *s)
{
    struct arena memory = {0};
    struct scheduler_config config;
    struct str why = {NULL, 0};
    struct buffer yaml = {0};
    bool good =
        scheduler_config_load(s->config, release_features(RELEASE_NEWEST), &config, &memory, &why);
    if (good) {
        scheduler_config_print(&config, &yaml);
        struct kube_json *json = kube_json_parse_yaml(buffer_str(&yaml), NULL, &memory);
        buffer_add_text(&s->configz, "{\"componentconfig\":");
        kube_json_write(json, &s->configz);
        buffer_add_text(&s->configz, "}");
        kube_json_free(&json);
    } else {
        log_error("configuration refused|error=\"%.*s\"", STR_ARG(why));
    }
    s->server.configz = buffer_str(&s->configz);
    buffer_free(&yaml);
    arena_free(&memory);
    return good;
}

/* All were checked flag by flag. */
static void read_filter(struct setup *s)
{
    const struct serve_flags *f = &s->flags;
    const char *manifest = f->allow_metric_labels_manifest;
    struct totals_filter *filter = &s->server.filter;
    struct str why;
    filter->without.at = arena_take(&s->memory, SETUP_NAMES_MAX * sizeof(struct str));
    for (unsigned i = 0; i < f->disabled_metrics.count; i++) {
        struct strs names = {0};
        (void)label_rules_names(str_of(f->disabled_metrics.at[i]), &names, &s->memory, &why);
        for (uint32_t k = 0; k < names.count; k++)
            add_once(&filter->without, names.at[k]);
    }
    for (unsigned i = 0; i < f->allow_metric_labels.count; i++)
        (void)label_rules_read(&filter->allowed, str_of(f->allow_metric_labels.at[i]), &s->memory,
                               &why);
    if (manifest != NULL && *manifest != 0)
        (void)label_rules_read_file(&filter->allowed, manifest, &s->memory, &why);
}

/* Where `berth` is to ask, as we do. */
static void make_page_doors(struct setup *s)
{
    size_t count = 0;
    if (s->bus.curve_dir != NULL)
        s->page_doors[count++] = arena_print(&s->memory, "--curve-dir=%s", s->bus.curve_dir).at;
    if (s->bus.allow_plain_tcp)
        s->page_doors[count++] = "--allow-plain-tcp";
    for (size_t i = 0; i < s->server.count && count < PAGE_DOORS_MAX; i++)
        s->page_doors[count++] = arena_print(&s->memory, "--endpoint=%s", s->endpoints[i]).at;
    s->server.page.doors = s->page_doors;
    s->server.page.ui = serve_true(s->flags.ui);
}

bool setup_prepare(struct setup *s)
{
    const struct serve_flags *f = &s->flags;
    bool good = serve_flags_agree(f) && read_certificates(s) && make_configz(s) &&
                reach(s, 0, f->authentication_kubeconfig, "authentication-kubeconfig") &&
                reach(s, 1, f->authorization_kubeconfig, "authorization-kubeconfig");
    s->failed = !good;
    if (!good)
        return false;
    make_access(s);
    s->server.endpoints = s->endpoint_list;
    s->server.names = s->name_list;
    s->server.given = s->given;
    s->server.given_count = s->given_count;
    read_filter(s);
    make_page_doors(s);
    s->http.certificate = s->files[FILE_certificate].at;
    s->http.key = s->files[FILE_key].at;
    (void)serve_priorities(f, s->priorities, sizeof(s->priorities)); /* was checked flag by flag */
    s->http.priorities = s->priorities;
    s->http.share_port = serve_true(f->permit_port_sharing);
    s->http.authorities = access_client_ca(s->server.access);
    return true;
}

void setup_free(struct setup *s)
{
    access_free(&s->server.access);
    for (int i = 0; i < 2; i++) {
        kube_client_free(&s->server.clients[i]);
        kube_config_free(&s->api[i]);
    }
    for (int i = 0; i < 4; i++)
        buffer_free(&s->files[i]);
    for (int i = 0; i < 2 * HTTP_NAMED_MAX; i++)
        buffer_free(&s->pairs[i]);
    arena_free(&s->memory);
    buffer_free(&s->configz);
}
