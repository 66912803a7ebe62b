/* setup: from flags to parts. What must stay true: whatever is wrong with a file is said with its
 * name before anything is served. */
#include "ctl/serve/setup.h"

#include "ctl/serve/certificate.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/bus/options.h"
#include "proto/kube/config_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES (1 << 20)

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
    char *end;
    struct setup *s = state;
    s->workers = strtol(value, &end, 10);
    return *value != 0 && *end == 0 && s->workers >= 0 && s->workers <= BUS_PEERS_MAX - 4;
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
    SERVE_FLAG_DOCS(SERVE_FLAG_OPTION){
        "v", "N", "log verbosity as in Kubernetes: 2 and more is debug", take_level},
    {"log-level", "LEVEL", "error, warn, info or debug (default info)", take_level},
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

void setup_read(struct setup *s, int argc, char **argv)
{
    s->bus = (struct bus_options){.process = TOOL, .instance = "serve", .generation = 1};
    s->workers = 1;
    log_open("serve", LOG_LEVEL_info);
    options_read(&(struct options_table){.program = "berth-serve",
                                         .usage = "serve metrics and health over HTTPS",
                                         .options = table,
                                         .state = s},
                 argc, argv);
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

static bool read_file(struct setup *s, int which, const char *flag, const char *path)
{
    char piece[4096];
    size_t got;
    FILE *file = path != NULL && *path != 0 ? fopen(path, "re") : NULL;
    if (path == NULL || *path == 0)
        return true;
    if (file == NULL) {
        log_error("--%s: cannot read %s: %s", flag, path, strerror(errno));
        return false;
    }
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0 && s->files[which].len < FILE_MAX_BYTES)
        buffer_add(&s->files[which], piece, got);
    bool good = !ferror(file) && s->files[which].len > 0;
    fclose(file);
    if (!good)
        log_error("--%s: %s is empty or cannot be read", flag, path);
    return good;
}

static bool given(const char *value)
{
    return value != NULL && *value != 0;
}

static bool read_certificates(struct setup *s)
{
    struct buffer why = {0};
    const struct serve_flags *f = &s->flags;
    bool pair = given(f->tls_cert_file) && given(f->tls_private_key_file);
    if (given(f->tls_cert_file) != given(f->tls_private_key_file)) {
        log_error("--tls-cert-file and --tls-private-key-file belong together");
        return false;
    }
    bool good = read_file(s, FILE_certificate, "tls-cert-file", f->tls_cert_file) &&
                read_file(s, FILE_key, "tls-private-key-file", f->tls_private_key_file) &&
                read_file(s, FILE_client_ca, "client-ca-file", f->client_ca_file) &&
                read_file(s, FILE_proxy_ca, "requestheader-client-ca-file",
                          f->requestheader_client_ca_file);
    if (good && !pair &&
        !certificate_make(&s->files[FILE_certificate], &s->files[FILE_key], &why)) {
        log_error("%s", why.at);
        good = false;
    }
    buffer_free(&why);
    return good;
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

static void make_access(struct setup *s)
{
    const struct serve_flags *f = &s->flags;
    s->server.access = access_new(
        &(struct access_options){.authentication = s->server.clients[0],
                                 .authorization = s->server.clients[1],
                                 .token_ttl = serve_time(f->authentication_token_ttl),
                                 .allowed_ttl = serve_time(f->authorization_allowed_ttl),
                                 .denied_ttl = serve_time(f->authorization_denied_ttl),
                                 .always_allowed = f->authorization_always_allow_paths != NULL
                                                       ? f->authorization_always_allow_paths
                                                       : "/healthz,/readyz,/livez",
                                 .skip_lookup = serve_true(f->authentication_skip_lookup),
                                 .client_ca = buffer_str(&s->files[FILE_client_ca]),
                                 .proxy_ca = buffer_str(&s->files[FILE_proxy_ca])});
}

/* ---- /configz ---- */

static bool make_configz(struct setup *s)
{
    struct arena memory = {0};
    struct scheduler_config config;
    struct str why = {NULL, 0};
    struct buffer yaml = {0};
    bool good = scheduler_config_load(s->config, &config, &memory, &why);
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

bool setup_prepare(struct setup *s)
{
    const struct serve_flags *f = &s->flags;
    bool newest = f->tls_min_version != NULL && strcmp(f->tls_min_version, "VersionTLS13") == 0;
    bool good = read_certificates(s) && make_configz(s) &&
                reach(s, 0, f->authentication_kubeconfig, "authentication-kubeconfig") &&
                reach(s, 1, f->authorization_kubeconfig, "authorization-kubeconfig");
    s->failed = !good;
    if (!good)
        return false;
    make_access(s);
    s->server.endpoints = s->endpoint_list;
    s->server.names = s->name_list;
    s->http.certificate = s->files[FILE_certificate].at;
    s->http.key = s->files[FILE_key].at;
    s->http.priorities =
        newest ? "NORMAL:-VERS-ALL:+VERS-TLS1.3" : "NORMAL:-VERS-ALL:+VERS-TLS1.2:+VERS-TLS1.3";
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
    buffer_free(&s->configz);
}
