/* Puts the parts together: users, faults, audit log, demo, socket, TLS; and turns the loop.
 *
 * The one idea: everything that can be wrong with the options is found before the port file and
 * the kubeconfig are written, so whoever waits for those finds a server that works. */
#include "program.h"

#include "auth.h"
#include "demo.h"
#include "discovery.h"
#include "faults.h"
#include "fill.h"
#include "kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TURN_MS = 1000 };

static bool read_pem(const char *flag, const char *path, char **text, struct buffer *why)
{
    if (path == NULL)
        return true;
    *text = file_read(path, NULL);
    if (*text == NULL)
        buffer_print(why, "%s %s: %s", flag, path, strerror(errno));
    return *text != NULL;
}

static bool open_users(struct program *p, const struct options *options, struct buffer *why)
{
    struct auth *auth = p->server.auth = auth_new();
    if (options->token_file != NULL && !auth_read_tokens(auth, options->token_file, why))
        return false;
    if (options->client_ca != NULL)
        auth_demand(auth);
    for (size_t i = 0; i < options->deny_count; i++) {
        if (!auth_deny(auth, options->deny[i])) {
            buffer_print(why, "--deny %s: expected VERB:RESOURCE[,…]", options->deny[i]);
            return false;
        }
    }
    return true;
}

static bool open_faults(struct program *p, const struct options *options, struct buffer *why)
{
    p->server.faults = faults_new();
    if (options->faults == NULL)
        return true;
    bool inline_json = *options->faults == '{' || *options->faults == '[';
    char *text = inline_json ? memory_string(options->faults) : file_read(options->faults, NULL);
    if (text == NULL) {
        buffer_print(why, "--faults %s: %s", options->faults, strerror(errno));
        return false;
    }
    cJSON *refused = faults_set(&p->server, text, strlen(text));
    if (refused != NULL)
        buffer_print(why, "--faults: %s", tree_string(refused, "message", ""));
    bool good = refused == NULL;
    cJSON_Delete(refused);
    memory_free(text);
    return good;
}

static bool open_audit(struct program *p, const struct options *options, struct buffer *why)
{
    if (options->audit_log == NULL)
        return true;
    p->server.audit = fopen(options->audit_log, "ae");
    if (p->server.audit == NULL)
        buffer_print(why, "--audit-log %s: %s", options->audit_log, strerror(errno));
    return p->server.audit != NULL;
}

static bool take_version(struct program *p, const struct options *options, struct buffer *why)
{
    bool good = discovery_set_version(&p->server, options->version);
    if (!good)
        buffer_print(why, "--version %s: expected 1.N", options->version);
    return good;
}

static void choose_kubelet(struct program *p, const struct options *options)
{
    if (options->kubelet == NULL)
        p->server.kubelet = options->demo != NULL ? KUBELET_RUN : KUBELET_DELETE;
    else if (strcmp(options->kubelet, "none") == 0)
        p->server.kubelet = KUBELET_NONE;
    else
        p->server.kubelet = strcmp(options->kubelet, "run") == 0 ? KUBELET_RUN : KUBELET_DELETE;
}

static bool open_socket(struct program *p, const struct options *options, char address[static 96],
                        struct buffer *why)
{
    int listener = http_listen(options->listen, why);
    if (listener < 0)
        return false;
    http_address(listener, address);
    struct http_options http = {listener, p->tls_cert, p->tls_key, p->client_ca};
    p->http = http_new(&p->server, &http, why);
    if (p->http == NULL)
        close(listener);
    return p->http != NULL;
}

static bool write_port(const char *path, const char *address, struct buffer *why)
{
    if (path == NULL)
        return true;
    struct buffer temporary = {0};
    buffer_print(&temporary, "%s.new", path);
    FILE *file = fopen(temporary.at, "we");
    bool good = file != NULL && fprintf(file, "%s\n", strrchr(address, ':') + 1) > 0;
    if (file != NULL && fclose(file) != 0)
        good = false;
    good = good && rename(temporary.at, path) == 0;
    if (!good)
        buffer_print(why, "--port-file %s: %s", path, strerror(errno));
    buffer_free(&temporary);
    return good;
}

static bool announce(struct program *p, const struct options *options, const char *address,
                     struct buffer *why)
{
    struct kubeconfig config = {address, p->tls_cert, auth_first_token(p->server.auth)};
    if (options->write_kubeconfig != NULL &&
        !kubeconfig_write(options->write_kubeconfig, &config)) {
        buffer_print(why, "--write-kubeconfig %s: %s", options->write_kubeconfig, strerror(errno));
        return false;
    }
    if (!write_port(options->port_file, address, why))
        return false;
    printf("listening on %s://%s\n", p->tls_cert != NULL ? "https" : "http", address);
    return fflush(stdout) == 0;
}

static void sweep(void *context, void *subject)
{
    struct program *p = context;
    http_sweep(p->http);
    timer_start(&p->server.timers, clock_ms() + TURN_MS, sweep, p, subject);
}

static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

bool program_open(struct program *p, const struct options *options, struct buffer *why)
{
    char address[96];
    *p = (struct program){0};
    tree_setup();
    raise_file_limit();
    server_init(&p->server, (size_t)options->watch_history);
    choose_kubelet(p, options);
    p->server.registry.gated = options->runtime_config != NULL;
    if (!read_pem("--tls-cert", options->tls_cert, &p->tls_cert, why) ||
        !read_pem("--tls-key", options->tls_key, &p->tls_key, why) ||
        !read_pem("--client-ca", options->client_ca, &p->client_ca, why) ||
        !take_version(p, options, why) || !open_users(p, options, why) ||
        !open_faults(p, options, why) || !open_audit(p, options, why))
        return false;
    demo_furnish(&p->server);
    if (options->demo != NULL && !demo_start(&p->server, options->demo, why))
        return false;
    if (options->fill != NULL && !fill_start(&p->server, options->fill, why))
        return false;
    if (!open_socket(p, options, address, why))
        return false;
    timer_start(&p->server.timers, clock_ms() + TURN_MS, sweep, p, NULL);
    return announce(p, options, address, why);
}

void program_turn(struct program *p)
{
    int64_t wait = timers_run(&p->server.timers, clock_ms(), TURN_MS);
    if (p->server.audit != NULL)
        fflush(p->server.audit);
    http_turn(p->http, (int32_t)wait);
}

void program_close(struct program *p)
{
    http_free(p->http);
    if (p->server.audit != NULL)
        fclose(p->server.audit);
    server_free(&p->server);
    faults_free(p->server.faults);
    auth_free(p->server.auth);
    memory_free(p->tls_cert);
    memory_free(p->tls_key);
    memory_free(p->client_ca);
}
