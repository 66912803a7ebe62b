/* access: decides where the way to the API server is written down: an explicit kubeconfig, else
 * $KUBECONFIG, else the service account of the pod that we run in, else ~/.kube/config.
 *
 * What must stay true: a failure says in one line which file or variable is wrong and why. */
#include "proto/kube/access/access.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/access/kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"
#define FILE_MAX    (1u << 20)

bool kube_file_read(const char *path, struct buffer *out, char *error, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        snprintf(error, room, "%s: %s", path, strerror(errno));
        return false;
    }
    char piece[16384];
    ssize_t got = 0;
    while (out->len <= FILE_MAX && (got = read(fd, piece, sizeof(piece))) > 0)
        buffer_add(out, piece, (size_t)got);
    int cause = errno;
    close(fd);
    if (got < 0)
        snprintf(error, room, "%s: %s", path, strerror(cause));
    else if (out->len > FILE_MAX)
        snprintf(error, room, "%s: is longer than 1 MiB", path);
    return got >= 0 && out->len <= FILE_MAX;
}

static struct str trimmed(struct str s)
{
    while (s.len > 0 && strchr(" \t\r\n", s.at[s.len - 1]) != NULL)
        s.len--;
    while (s.len > 0 && strchr(" \t\r\n", s.at[0]) != NULL) {
        s.at++;
        s.len--;
    }
    return s;
}

char *kube_token_read(const char *path, char *error, size_t room)
{
    struct buffer text = {0};
    char *token = NULL;
    if (kube_file_read(path, &text, error, room)) {
        struct str t = trimmed(buffer_str(&text));
        bool clean = true;
        for (uint32_t i = 0; i < t.len; i++)
            clean = clean && (unsigned char)t.at[i] > 32 && (unsigned char)t.at[i] < 127;
        if (t.len == 0)
            snprintf(error, room, "%s: the token file is empty", path);
        else if (!clean)
            snprintf(error, room, "%s: the token holds blanks or control characters", path);
        else
            token = str_copy(t);
    }
    buffer_free(&text);
    return token;
}

/* Where the service account is mounted; a variable lets tests stand in for it. */
static char *account_path(const char *file)
{
    const char *dir = getenv("BERTH_SERVICE_ACCOUNT_DIR");
    struct buffer path = {0};
    buffer_print(&path, "%s/%s", dir != NULL ? dir : ACCOUNT_DIR, file);
    return path.at;
}

static bool in_cluster(void)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    return host != NULL && *host != 0 && port != NULL && *port != 0;
}

static bool read_account(struct kube_config *config, char *error, size_t room)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"); /* in_cluster() has seen both */
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    must(host != NULL && port != NULL);
    struct buffer url = {0}, ca = {0};
    buffer_print(&url, strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
    config->server = url.at;
    config->source = str_copy(STR_LITERAL("in-cluster service account"));
    config->cluster = str_copy(STR_LITERAL("in-cluster"));
    config->user = str_copy(STR_LITERAL("service account"));
    config->token_file = account_path("token");
    config->ca_file = account_path("ca.crt");
    char *token = kube_token_read(config->token_file, error, room);
    bool ok = token != NULL && kube_file_read(config->ca_file, &ca, error, room);
    memory_free(token);
    buffer_free(&ca);
    return ok;
}

/* ~/.kube/config when it exists, else NULL; to be freed. */
static char *home_config(void)
{
    const char *home = getenv("HOME");
    if (home == NULL || *home == 0)
        return NULL;
    struct buffer path = {0};
    buffer_print(&path, "%s/.kube/config", home);
    if (access(path.at, F_OK) != 0)
        buffer_free(&path);
    return path.at;
}

static bool read_found(struct kube_config *config, const char *kubeconfig, char *error, size_t room)
{
    const char *list = kubeconfig;
    if (list == NULL || *list == 0)
        list = getenv("KUBECONFIG");
    if (list != NULL && *list != 0)
        return kubeconfig_read(config, list, error, room);
    if (in_cluster())
        return read_account(config, error, room);
    char *home = home_config();
    bool ok = home != NULL && kubeconfig_read(config, home, error, room);
    if (home == NULL)
        snprintf(error, room,
                 "no kubeconfig: give --kubeconfig or set KUBECONFIG (not in a cluster either: "
                 "KUBERNETES_SERVICE_HOST is not set, and there is no ~/.kube/config)");
    memory_free(home);
    return ok;
}

static bool check_server(struct kube_config *config, const char *origin, char *error, size_t room)
{
    struct str server = str_of(config->server);
    bool tls = str_starts_with(server, "https://");
    if (!tls && !str_starts_with(server, "http://")) {
        snprintf(error, room, "%s: \"%s\" must begin with https:// or http://", origin,
                 config->server);
        return false;
    }
    if (server.len == (tls ? 8u : 7u) || strpbrk(config->server, " \t\r\n?#@") != NULL) {
        snprintf(error, room, "%s: \"%s\" is not a URL of the form https://host:port", origin,
                 config->server);
        return false;
    }
    while (server.len > 0 && server.at[server.len - 1] == '/')
        config->server[--server.len] = 0;
    return true;
}

struct kube_config *kube_config_load(const char *kubeconfig, const char *master, char *error,
                                     size_t room)
{
    struct kube_config *config = memory_take(sizeof(*config));
    bool ours = master != NULL && *master != 0;
    bool alone = ours && (kubeconfig == NULL || *kubeconfig == 0) && getenv("KUBECONFIG") == NULL &&
                 !in_cluster();
    if (alone) /* as upstream: --master alone is enough for a server without authentication */
        config->source = str_copy(STR_LITERAL("--master"));
    bool ok = alone || read_found(config, kubeconfig, error, room);
    if (ok && ours) {
        memory_free(config->server);
        config->server = str_copy(str_of(master));
    }
    char origin[512];
    snprintf(origin, sizeof(origin), "%s", "--master");
    if (!ours)
        snprintf(origin, sizeof(origin), "%s: cluster \"%s\": server", config->source,
                 config->cluster ? config->cluster : "");
    if (ok && check_server(config, origin, error, room))
        return config;
    kube_config_free(&config);
    return NULL;
}

static void free_list(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        memory_free(list[i]);
    memory_free(list);
}

static void free_exec(struct kube_exec *exec)
{
    if (exec == NULL)
        return;
    memory_free(exec->command);
    memory_free(exec->api_version);
    memory_free(exec->install_hint);
    free_list(exec->args);
    free_list(exec->env);
    memory_free(exec);
}

void kube_config_free(struct kube_config **config)
{
    struct kube_config *c = *config;
    if (c == NULL)
        return;
    char *texts[] = {c->source,      c->cluster,    c->user,      c->server,
                     c->server_name, c->ca_file,    c->cert_file, c->key_file,
                     c->token,       c->token_file, c->username,  c->password};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        memory_free(texts[i]);
    buffer_free(&c->ca);
    buffer_free(&c->cert);
    buffer_free(&c->key);
    free_exec(c->exec);
    memory_free(c);
    *config = NULL;
}

const char *kube_config_server(const struct kube_config *config)
{
    return config->server;
}
