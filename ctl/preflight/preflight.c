/* preflight: `berth preflight`, the checks on this machine, and the end. The one idea: it takes the
 * flags of `berth run`, does what the processes would do first, and says all that is wrong at once.
 *
 * What must stay true: it changes nothing, neither here nor on the API server; and what it calls
 * failed would have kept `berth run` from working. */
#include "ctl/preflight/preflight.h"

#include "proto/base/memory.h"
#include "proto/bus/endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void preflight_say(struct preflight *p, enum finding finding, const char *check, const char *format,
                   ...)
{
    static const char *const words[] = {"ok", "warn", "FAIL"};
    unsigned *const counts[] = {&p->good, &p->warned, &p->failed};
    va_list args;
    va_start(args, format);
    printf("%-4s  %-14s ", words[finding], check);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    *counts[finding] += 1;
}

/* ---- the configuration and its files ---- */

static bool check_config(struct preflight *p)
{
    struct str why = {NULL, 0};
    const char *file = p->options.config;
    if (!config_flags_load(&p->options.flags, file, &p->config, &p->memory, &why)) {
        preflight_say(p, FINDING_fail, "configuration", "%.*s", STR_ARG(why));
        return false;
    }
    preflight_say(p, FINDING_ok, "configuration", "%s, %u profile%s, %u extender%s",
                  file != NULL ? file : "the defaults", p->config.profiles.count,
                  p->config.profiles.count == 1 ? "" : "s", p->config.extenders.count,
                  p->config.extenders.count == 1 ? "" : "s");
    for (uint32_t i = 0; i < p->config.notes.count; i++)
        preflight_say(p, FINDING_warn, "configuration", "%.*s", STR_ARG(p->config.notes.at[i]));
    for (size_t i = 0; i < p->options.kube.unused.count; i++)
        preflight_say(p, FINDING_warn, "flags", "--%s has no effect", p->options.kube.unused.at[i]);
    return true;
}

static void check_file(struct preflight *p, const char *flag, const char *path)
{
    if (path == NULL || *path == 0)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        preflight_say(p, FINDING_fail, "files", "--%s: cannot read %s: %s", flag, path,
                      strerror(errno));
    else
        preflight_say(p, FINDING_ok, "files", "--%s: %s", flag, path);
    if (fd >= 0)
        close(fd);
}

static void check_files(struct preflight *p)
{
    const struct serve_flags *f = &p->options.serve;
    check_file(p, "tls-cert-file", f->tls_cert_file);
    check_file(p, "tls-private-key-file", f->tls_private_key_file);
    check_file(p, "client-ca-file", f->client_ca_file);
    check_file(p, "requestheader-client-ca-file", f->requestheader_client_ca_file);
}

/* ---- this machine ---- */

static const char *const programs[] = {"berth-watcher", "berth-queue",    "berth-scheduler",
                                       "berth-binder",  "berth-extender", "berth-serve"};

static void check_programs(struct preflight *p)
{
    char dir[PATH_MAX] = "", path[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
    char *slash = n > 0 ? strrchr(dir, '/') : NULL;
    bool all = slash != NULL;
    if (slash != NULL)
        *slash = 0;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, programs[i]);
        if (access(path, X_OK) == 0)
            continue;
        all = false;
        preflight_say(p, FINDING_fail, "programs", "%s: %s", path, strerror(errno));
    }
    if (all)
        preflight_say(p, FINDING_ok, "programs", "all in %s", dir);
}

/* Otherwise it is ours until it is closed. */
static bool is_locked(int fd)
{
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
}

/* Whether another `berth run` holds it: the directory, or, as former versions, the pid file. */
static bool is_taken(const char *dir, char *by, size_t room)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/berth.pid", dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC), folder = open(dir, O_RDONLY | O_CLOEXEC);
    bool taken = is_locked(folder) || is_locked(fd);
    ssize_t n = taken && fd >= 0 ? read(fd, by, room - 1) : 0;
    by[n > 0 ? n : 0] = 0;
    by[strcspn(by, "\n")] = 0;
    if (fd >= 0)
        close(fd);
    if (folder >= 0)
        close(folder);
    return taken;
}

static void check_run_dir(struct preflight *p)
{
    const char *dir = p->options.run_dir;
    struct stat found;
    char parent[PATH_MAX], by[32] = "";
    snprintf(parent, sizeof(parent), "%s", dir);
    char *slash = strrchr(parent, '/');
    bool there = stat(dir, &found) == 0;
    if (slash != NULL)
        *(slash == parent ? slash + 1 : slash) = 0;
    if (!endpoint_dir_fits(dir))
        preflight_say(p, FINDING_fail, "run directory", "%s is too long for the path of a socket",
                      dir);
    else if (!there && access(slash != NULL ? parent : ".", W_OK | X_OK) != 0)
        preflight_say(p, FINDING_fail, "run directory", "%s cannot be made: %s", dir,
                      strerror(errno));
    else if (there && !S_ISDIR(found.st_mode))
        preflight_say(p, FINDING_fail, "run directory", "%s is not a directory", dir);
    else if (there && (found.st_mode & 022) != 0)
        preflight_say(p, FINDING_fail, "run directory", "others may write to %s (mode %03o)", dir,
                      (unsigned)found.st_mode & 0777);
    else if (there && access(dir, W_OK | X_OK) != 0)
        preflight_say(p, FINDING_fail, "run directory", "%s: %s", dir, strerror(errno));
    else if (is_taken(dir, by, sizeof(by)))
        preflight_say(p, FINDING_fail, "run directory", "%s is in use by another berth run, pid %s",
                      dir, by);
    else
        preflight_say(p, FINDING_ok, "run directory", "%s%s", dir, there ? "" : " (will be made)");
}

static void check_port(struct preflight *p)
{
    const char *address = p->options.serve.bind_address;
    int port = serve_port(&p->options.serve), on = 1, fd = -1;
    char text[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *found = NULL;
    if (address == NULL || *address == 0)
        address = "0.0.0.0";
    if (port == 0) {
        preflight_say(p, FINDING_ok, "port", "none: --secure-port is 0");
        return;
    }
    snprintf(text, sizeof(text), "%d", port);
    int code = getaddrinfo(address, text, &hints, &found);
    if (code != 0) {
        preflight_say(p, FINDING_fail, "port", "%s port %d: %s", address, port, gai_strerror(code));
        return;
    }
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd >= 0 && bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, 1) == 0)
        preflight_say(p, FINDING_ok, "port", "%s port %d is free", address, port);
    else
        preflight_say(p, FINDING_fail, "port", "%s port %d: %s", address, port, strerror(errno));
    if (fd >= 0)
        close(fd);
    freeaddrinfo(found);
}

/* ---- the end ---- */

static void say_rules(const struct preflight *p)
{
    char *space = str_copy(p->config.lease_namespace), *lease = str_copy(p->config.lease_name);
    const struct permission_place place = {space, lease};
    static const char *const names[IDENTITIES] = {"berth-missing", "berth-missing-authentication",
                                                  "berth-missing-authorization"};
    bool begun = false;
    for (int i = 0; i < IDENTITIES; i++) {
        const struct identity *who = &p->who[i];
        struct buffer text = {0};
        if (who->user[0] != 0)
            permissions_print(who->missing, &place, who->user, names[i], &text);
        if (text.len > 0)
            printf("%s# What %s lacks, as rules:\n%s", begun ? "---\n" : "\n", who->user, text.at);
        begun |= text.len > 0;
        buffer_free(&text);
    }
    memory_free(space);
    memory_free(lease);
}

static int say_all_rules(void)
{
    struct buffer text = {0};
    buffer_add_text(&text, "# Made by: berth preflight --print-rules\n");
    permissions_print(NULL, &(struct permission_place){"kube-system", "kube-scheduler"},
                      "system:serviceaccount:kube-system:berth", "berth", &text);
    bool written = fwrite(text.at, 1, text.len, stdout) == text.len && fflush(stdout) == 0;
    buffer_free(&text);
    return written ? 0 : 1;
}

static void end(struct preflight *p)
{
    for (int i = 0; i < IDENTITIES; i++) {
        kube_client_free(&p->who[i].client);
        kube_config_free(&p->who[i].kube);
    }
    arena_free(&p->memory);
}

int command_preflight(int argc, char **argv)
{
    static struct preflight p; /* large, and there is one */
    if (argc == 2 && strcmp(argv[1], "--print-rules") == 0)
        return say_all_rules();
    run_options_parse(&p.options, argc, argv);
    bool configured = check_config(&p);
    check_files(&p);
    check_programs(&p);
    check_run_dir(&p);
    check_port(&p);
    if (configured)
        preflight_api(&p);
    printf("%u ok, %u warnings, %u failures\n", p.good, p.warned, p.failed);
    if (configured)
        say_rules(&p);
    int status = p.failed > 0 ? 1 : 0;
    end(&p);
    return status;
}
