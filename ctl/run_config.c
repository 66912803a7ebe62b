/* run_config: what `berth run` makes of --config and the flags of the old Policy. The one idea:
 * processes know one way to a configuration, a file; so a Policy that comes from elsewhere becomes
 * one. What must stay true: that file is replaced as a whole, and only by a configuration that
 * passed every check. */
#include "ctl/run_config.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/kube/access/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* How a file is read. */
struct as {
    int64_t minor;
    const struct str
        *policy; /* the text of the ConfigMap, where that was read already; else NULL */
};

static bool load_as(struct run_config *c, const struct as *as, struct scheduler_config *config,
                    struct arena *a, struct str *why)
{
    const struct run_options *o = c->options;
    struct policy_server server = {o->flags.kubeconfig, o->flags.master};
    struct config_flags flags = o->flags;
    char left[CONFIG_GATES_ROOM];
    struct features features = config_flags_features(&flags, as->minor, left, sizeof(left));
    if (!scheduler_config_load(o->config, features, config, a, why))
        return false;
    policy_name(&c->source, config);
    return (as->policy != NULL ? policy_take(*as->policy, config, a, why)
                               : policy_apply(&c->source, server, config, a, why)) &&
           config_flags_apply(&flags, config, a, why);
}

/* As of any release that it may come to decide as: the API server may be that one. */
static bool load(struct run_config *c, const struct str *policy, struct scheduler_config *config,
                 struct arena *a, struct str *why)
{
    struct as as = {.policy = policy};
    int64_t last;
    struct str later;
    config_flags_range(&c->options->flags, &as.minor, &last);
    bool good = load_as(c, &as, config, a, why);
    while (!good && as.minor++ < last)
        good = load_as(c, &as, config, a, &later);
    return good;
}

/* The text without the line that begins so. */
static void drop_line(struct buffer *text, const char *begin)
{
    char *line = strstr(text->at, begin), *end = line != NULL ? strchr(line + 1, '\n') : NULL;
    if (end == NULL)
        return;
    size_t rest = text->len - (size_t)(end - text->at);
    memmove(line, end, rest + 1);
    text->len -= (size_t)(end - line);
}

/* A rate that nobody gave is no limit here, as without a file. */
static void keep(struct run_config *c, const struct scheduler_config *config)
{
    c->extenders = config->extenders.count > 0;
    if (!policy_given(&c->source))
        return;
    buffer_reset(&c->text);
    scheduler_config_print(config, &c->text);
    if (!config->rate_given) {
        drop_line(&c->text, "\n  burst: ");
        drop_line(&c->text, "\n  qps: ");
    }
}

/* The same look-up that watcher and binder do, so that a mistake is one line and not one a restart.
 */
static bool check_kubeconfig(const struct run_options *o, const struct scheduler_config *config)
{
    char error[512];
    char *path = config->kubeconfig.len > 0 ? str_copy(config->kubeconfig) : NULL;
    struct kube_config *kube = kube_config_load(path, o->flags.master, error, sizeof(error));
    if (kube == NULL)
        log_error("%s", error);
    bool ok = kube != NULL;
    kube_config_free(&kube);
    memory_free(path);
    return ok;
}

static bool write_config(const char *path, const struct scheduler_config *config)
{
    struct buffer text = {0};
    FILE *file = fopen(path, "we");
    scheduler_config_write(config, &text);
    bool ok = file != NULL && fwrite(text.at, 1, text.len, file) == text.len;
    ok = (file == NULL || fclose(file) == 0) && ok;
    if (ok)
        log_info("Wrote configuration| file=%s", path);
    else
        log_error("cannot write the configuration| file=%s error=\"%s\"", path, strerror(errno));
    buffer_free(&text);
    return ok;
}

static void print_config(const struct scheduler_config *config)
{
    struct buffer text = {0};
    scheduler_config_print(config, &text);
    fwrite(text.at, 1, text.len, stdout);
    buffer_free(&text);
}

/* From the API server that the configuration names at the start. */
static void watch_map(struct run_config *c, const struct scheduler_config *config)
{
    const struct run_options *o = c->options;
    char *named = config->kubeconfig.len > 0 ? str_copy(config->kubeconfig) : NULL;
    const char *kubeconfig = named != NULL ? named : o->flags.kubeconfig;
    c->map = policy_map_new(&c->source, (struct policy_server){kubeconfig, o->flags.master});
    memory_free(named);
}

bool run_config_check(struct run_config *c, const struct run_options *o)
{
    struct arena memory = {0};
    struct scheduler_config config;
    struct str why = {NULL, 0};
    *c = (struct run_config){.options = o,
                             .source = o->kube.policy,
                             .file.path = o->config,
                             .policy.path = policy_file(&o->kube.policy)};
    run_config_look(c, (struct moment){0}, false);
    bool ok = load(c, NULL, &config, &memory, &why);
    if (!ok)
        log_error("configuration refused| error=\"%.*s\"", STR_ARG(why));
    for (uint32_t i = 0; ok && i < config.notes.count; i++)
        log_warn("configuration| note=\"%.*s\"", STR_ARG(config.notes.at[i]));
    if (ok && o->print_config)
        print_config(&config);
    for (size_t i = 0; ok && i < o->kube.unused.count; i++)
        log_warn("flag without effect| flag=--%s", o->kube.unused.at[i]);
    ok = ok && (o->print_config || check_kubeconfig(o, &config));
    ok = ok && (o->kube.write_config_to == NULL || write_config(o->kube.write_config_to, &config));
    if (ok) {
        keep(c, &config);
        watch_map(c, &config);
        config_sort_note(&config, c->sort);
    }
    arena_free(&memory);
    return ok;
}

const char *run_config_path(const struct run_config *c)
{
    return c->path[0] != 0 ? c->path : c->options->config;
}

/* For this user alone: it may hold the keys of extenders. */
static bool replace(const char *path, const struct buffer *text)
{
    char new[300];
    snprintf(new, sizeof(new), "%s.new", path);
    int fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, text->at, text->len) == (ssize_t)text->len;
    ok = (fd < 0 || close(fd) == 0) && ok && rename(new, path) == 0;
    if (!ok)
        log_warn("cannot write the configuration| file=%s error=\"%s\"", path, strerror(errno));
    if (!ok)
        unlink(new);
    return ok;
}

/* A file without a disk, which our processes open by our descriptor: that stays, and what is behind
 * it is replaced as a whole. */
static bool replace_in_memory(struct run_config *c)
{
    int fd = memfd_create("berth-config", MFD_CLOEXEC);
    bool ok = fd >= 0 && write(fd, c->text.at, c->text.len) == (ssize_t)c->text.len;
    if (ok && c->memory > 0)
        ok = dup3(fd, c->memory, O_CLOEXEC) >= 0;
    else if (ok)
        c->memory = fd;
    if (!ok)
        log_error("cannot keep the configuration in memory| error=\"%s\"", strerror(errno));
    if (fd >= 0 && fd != c->memory)
        close(fd);
    snprintf(c->path, sizeof(c->path), "/proc/%d/fd/%d", (int)getpid(), c->memory);
    return ok;
}

bool run_config_place(struct run_config *c)
{
    if (!policy_given(&c->source))
        return true;
    if (c->memory > 0)
        return replace_in_memory(c);
    bool first = c->path[0] == 0; /* what the processes were given stays */
    snprintf(c->path, sizeof(c->path), "%s/config.yaml", c->options->run_dir);
    return replace(c->path, &c->text) || (first && replace_in_memory(c));
}

/* The processes' file follows, unless it would say the same. */
static void take(struct run_config *c, const struct scheduler_config *config)
{
    struct buffer former = c->text;
    c->text = (struct buffer){0};
    keep(c, config);
    if (!str_equal(buffer_str(&former), buffer_str(&c->text)))
        run_config_place(c);
    buffer_free(&former);
}

/* What stands in the ConfigMap now, NULL if nothing new does. */
static const struct str *look_at_map(struct run_config *c, struct moment now, struct str *text,
                                     struct arena *a)
{
    struct str why;
    if (!policy_map_look(c->map, now, text, a, &why))
        return NULL;
    if (why.len == 0)
        return text;
    log_warn("the former configuration stays| error=\"%.*s\"", STR_ARG(why));
    return NULL;
}

bool run_config_look(struct run_config *c, struct moment now, bool asked)
{
    struct arena memory = {0};
    struct scheduler_config config;
    struct str why = {NULL, 0}, text;
    bool changed = config_watch_changed(&c->file, now, asked);
    changed = config_watch_changed(&c->policy, now, asked) || changed;
    const struct str *map = look_at_map(c, now, &text, &memory);
    bool policy = policy_given(&c->source);
    if (!changed && map == NULL && !(asked && policy)) {
        arena_free(&memory);
        return c->extenders;
    }
    bool good = load(c, map, &config, &memory, &why);
    if (good && policy)
        good = config_sort_kept(&config, c->sort, &memory, &why);
    if (good)
        take(c, &config);
    else if (policy) /* else the scheduler says so */
        log_error("configuration refused, the former one stays| error=\"%.*s\"", STR_ARG(why));
    arena_free(&memory);
    return c->extenders;
}

struct moment run_config_deadline(const struct run_config *c, struct moment now)
{
    return policy_map_deadline(c->map, now);
}

int run_config_fd(const struct run_config *c)
{
    return policy_map_fd(c->map);
}

void run_config_free(struct run_config *c)
{
    policy_map_free(&c->map);
    policy_unname(&c->source);
    if (c->memory > 0)
        close(c->memory);
    buffer_free(&c->text);
}
