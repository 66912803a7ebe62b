/* kubeconfig: the strict reader of kubeconfig files (v1), YAML or JSON.
 *
 * The one idea is a table of known fields for each kind of object: what is not in it is refused by
 * name, because a misspelt field would otherwise surface as a puzzling error of the server. What
 * must stay true: every refusal is one line `FILE: cluster "NAME": field: what is wrong`. */
#include "proto/kube/access/kubeconfig.h"
#include "proto/base/memory.h"
#include "proto/kube/documents/base64.h"
#include "proto/kube/documents/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 16

struct sheet {
    char *path;
    char *folder; /* relative file names inside are relative to it */
    struct kube_json *json;
};

struct reading {
    struct sheet sheets[FILES_MAX];
    size_t count;
    struct kube_config *config;
    struct arena arena;
    char *error;
    size_t room;
};

/* Where we are, for messages: the file and what stands before the field, such as `user "a": `. */
struct place {
    struct reading *r;
    const struct sheet *sheet;
    struct str inside;
};

enum want { TEXT, LOGICAL, ANYTHING, REFUSED };

struct known {
    const char *name;
    enum want want;
};

static const struct known top_fields[] = {
    {"apiVersion", TEXT},      {"kind", TEXT},           {"preferences", ANYTHING},
    {"clusters", ANYTHING},    {"users", ANYTHING},      {"contexts", ANYTHING},
    {"current-context", TEXT}, {"extensions", ANYTHING}, {0},
};

static const struct known cluster_fields[] = {
    {"server", TEXT},
    {"certificate-authority", TEXT},
    {"certificate-authority-data", TEXT},
    {"insecure-skip-tls-verify", LOGICAL},
    {"tls-server-name", TEXT},
    {"disable-compression", LOGICAL}, /* nothing to do: compression is never asked for */
    {"extensions", ANYTHING},
    {"proxy-url", REFUSED},
    {0},
};

static const struct known context_fields[] = {
    {"cluster", TEXT}, {"user", TEXT}, {"namespace", TEXT}, {"extensions", ANYTHING}, {0},
};

static const struct known user_fields[] = {
    {"client-certificate", TEXT},
    {"client-certificate-data", TEXT},
    {"client-key", TEXT},
    {"client-key-data", TEXT},
    {"token", TEXT},
    {"tokenFile", TEXT},
    {"username", TEXT},
    {"password", TEXT},
    {"exec", ANYTHING},
    {"extensions", ANYTHING},
    {"auth-provider", REFUSED},
    {"as", REFUSED},
    {"as-uid", REFUSED},
    {"as-groups", REFUSED},
    {"as-user-extra", REFUSED},
    {0},
};

static const struct known exec_fields[] = {
    {"command", TEXT},         {"args", ANYTHING},
    {"env", ANYTHING},         {"apiVersion", TEXT},
    {"installHint", TEXT},     {"provideClusterInfo", LOGICAL},
    {"interactiveMode", TEXT}, {0},
};

static bool refuse(const struct place *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool refuse(const struct place *p, const char *format, ...)
{
    int head = snprintf(p->r->error, p->r->room, "%s: %.*s", p->sheet->path, STR_ARG(p->inside));
    if (head < 0 || (size_t)head >= p->r->room)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(p->r->error + head, p->r->room - (size_t)head, format, args);
    va_end(args);
    return false;
}

static bool check_field(const struct place *p, const struct kube_json *child,
                        const struct known *known)
{
    struct str name = kube_json_name(child);
    for (; known->name != NULL; known++) {
        if (!str_is(name, known->name))
            continue;
        if (known->want == REFUSED)
            return refuse(p, "%s: is not supported", known->name);
        bool fits = kube_json_is_null(child) || known->want == ANYTHING ||
                    (known->want == TEXT && kube_json_is_string(child)) ||
                    (known->want == LOGICAL && kube_json_is_bool(child));
        return fits ||
               refuse(p, "%s: must be %s, not %s", known->name,
                      known->want == TEXT ? "a string" : "true or false", kube_json_kind(child));
    }
    return refuse(p, "%.*s: is not a known field", STR_ARG(name));
}

static bool check_fields(const struct place *p, const struct kube_json *object,
                         const struct known *known)
{
    if (!kube_json_is_object(object))
        return refuse(p, "must be an object");
    for (const struct kube_json *c = kube_json_first(object); c != NULL; c = kube_json_next(c))
        if (!check_field(p, c, known))
            return false;
    return true;
}

static char *text_of(const struct kube_json *object, const char *field)
{
    struct str text = kube_json_text(kube_json_get(object, field));
    return text.len > 0 ? str_copy(text) : NULL;
}

static bool set(const char *text)
{
    return text != NULL && *text != 0;
}

/* Like kubectl: a relative name is relative to the folder of the file it stands in. */
static char *resolve(const struct sheet *sheet, struct str name)
{
    struct buffer path = {0};
    if (name.at[0] == '/')
        buffer_add_str(&path, name);
    else
        buffer_print(&path, "%s/%.*s", sheet->folder, STR_ARG(name));
    return path.at;
}

/* The absolute path in a field, checked to be readable; NULL when the field is not there. */
static bool take_path(const struct place *p, const struct kube_json *object, const char *field,
                      char **path)
{
    struct str name = kube_json_text(kube_json_get(object, field));
    if (name.len == 0)
        return true;
    *path = resolve(p->sheet, name);
    struct buffer content = {0};
    char cause[512];
    bool ok = kube_file_read(*path, &content, cause, sizeof(cause));
    buffer_free(&content);
    return ok || refuse(p, "%s: %s", field, cause);
}

static bool take_data(const struct place *p, const struct kube_json *object, const char *field,
                      struct buffer *data)
{
    struct str text = kube_json_text(kube_json_get(object, field));
    if (text.len == 0)
        return true;
    if (!base64_decode(text, data) || data->len == 0)
        return refuse(p, "%s: is not base64", field);
    if (strstr(data->at, "-----BEGIN ") == NULL)
        return refuse(p, "%s: holds no PEM block (-----BEGIN …)", field);
    return true;
}

/* ---- finding named entries ---- */

static const struct kube_json *entry_named(const struct sheet *sheet, const char *list,
                                           const char *name)
{
    const struct kube_json *entries = kube_json_get(sheet->json, list);
    const struct kube_json *c = kube_json_first(entries);
    while (c != NULL && !str_is(kube_json_text(kube_json_get(c, "name")), name))
        c = kube_json_next(c);
    return c;
}

/* Finds LIST[name == name].MEMBER, checks its fields and fills in the place. */
static const struct kube_json *find(struct place *p, const char *member, const char *name,
                                    const struct known *known)
{
    struct str list = arena_print(&p->r->arena, "%ss", member);
    for (size_t i = 0; i < p->r->count; i++) {
        const struct kube_json *entry = entry_named(&p->r->sheets[i], list.at, name);
        if (entry == NULL)
            continue;
        p->sheet = &p->r->sheets[i];
        p->inside = arena_print(&p->r->arena, "%s \"%s\": ", member, name);
        const struct kube_json *object = kube_json_get(entry, member);
        if (object == NULL) {
            refuse(p, "%s: is missing", member);
            return NULL;
        }
        return check_fields(p, object, known) ? object : NULL;
    }
    refuse(p, "%s \"%s\" is not defined", member, name);
    return NULL;
}

/* ---- the parts ---- */

static bool read_cluster(struct place p, const char *name)
{
    struct kube_config *config = p.r->config;
    const struct kube_json *cluster = find(&p, "cluster", name, cluster_fields);
    if (cluster == NULL)
        return false;
    config->cluster = str_copy(str_of(name));
    config->server = text_of(cluster, "server");
    config->server_name = text_of(cluster, "tls-server-name");
    config->insecure = kube_json_true(kube_json_get(cluster, "insecure-skip-tls-verify"));
    if (config->server == NULL)
        return refuse(&p, "server: is missing");
    if (!take_data(&p, cluster, "certificate-authority-data", &config->ca))
        return false;
    if (config->ca.len == 0 && !take_path(&p, cluster, "certificate-authority", &config->ca_file))
        return false;
    if (config->insecure && (config->ca.len > 0 || config->ca_file != NULL))
        return refuse(&p, "insecure-skip-tls-verify: cannot be combined with a certificate "
                          "authority");
    return true;
}

static bool read_certificate(const struct place *p, const struct kube_json *user)
{
    struct kube_config *c = p->r->config;
    if (!take_data(p, user, "client-certificate-data", &c->cert) ||
        !take_data(p, user, "client-key-data", &c->key))
        return false;
    if (c->cert.len == 0 && !take_path(p, user, "client-certificate", &c->cert_file))
        return false;
    if (c->key.len == 0 && !take_path(p, user, "client-key", &c->key_file))
        return false;
    bool cert = c->cert.len > 0 || c->cert_file != NULL;
    bool key = c->key.len > 0 || c->key_file != NULL;
    if (cert && !key)
        return refuse(p, "client-key: is missing beside the client certificate");
    if (key && !cert)
        return refuse(p, "client-certificate: is missing beside the client key");
    return true;
}

static bool read_env(const struct place *p, const struct kube_json *list, char **env)
{
    size_t n = 0;
    for (const struct kube_json *c = kube_json_first(list); c != NULL; c = kube_json_next(c)) {
        struct str name = kube_json_text(kube_json_get(c, "name"));
        struct str value = kube_json_text(kube_json_get(c, "value"));
        if (name.len == 0 || str_find(name, '=') >= 0)
            return refuse(p, "env[%zu].name: is missing or malformed", n);
        struct buffer both = {0};
        buffer_print(&both, "%.*s=%.*s", STR_ARG(name), STR_ARG(value));
        env[n++] = both.at;
    }
    return true;
}

static bool read_args(const struct place *p, const struct kube_json *list, char **args)
{
    size_t n = 0;
    for (const struct kube_json *c = kube_json_first(list); c != NULL; c = kube_json_next(c), n++) {
        if (!kube_json_is_string(c))
            return refuse(p, "args[%zu]: must be a string", n);
        args[n] = str_copy(kube_json_text(c));
    }
    return true;
}

static bool check_exec(const struct place *p, const struct kube_json *object,
                       const struct kube_exec *exec)
{
    if (exec->command == NULL)
        return refuse(p, "command: is missing");
    if (exec->api_version == NULL)
        return refuse(p, "apiVersion: is missing");
    bool v1 = strcmp(exec->api_version, "client.authentication.k8s.io/v1") == 0;
    if (!v1 && strcmp(exec->api_version, "client.authentication.k8s.io/v1beta1") != 0)
        return refuse(p,
                      "apiVersion: \"%s\" is not supported (client.authentication.k8s.io/v1 and "
                      "v1beta1 are)",
                      exec->api_version);
    struct str mode = kube_json_text(kube_json_get(object, "interactiveMode"));
    if (mode.len == 0 && v1)
        return refuse(p, "interactiveMode: is missing");
    if (str_is(mode, "Always"))
        return refuse(p, "interactiveMode: Always is not supported, there is no terminal");
    if (mode.len > 0 && !str_is(mode, "Never") && !str_is(mode, "IfAvailable"))
        return refuse(p, "interactiveMode: \"%.*s\" is none of Never, IfAvailable, Always",
                      STR_ARG(mode));
    return true;
}

/* A command with a slash is a path like the others; one without is looked up in PATH. */
static char *take_command(const struct sheet *sheet, const struct kube_json *object)
{
    struct str command = kube_json_text(kube_json_get(object, "command"));
    if (command.len == 0)
        return NULL;
    return str_find(command, '/') >= 0 ? resolve(sheet, command) : str_copy(command);
}

static bool read_exec(struct place p, const struct kube_json *object)
{
    p.inside = arena_print(&p.r->arena, "%.*sexec: ", STR_ARG(p.inside));
    if (!check_fields(&p, object, exec_fields))
        return false;
    const struct kube_json *args = kube_json_get(object, "args");
    const struct kube_json *env = kube_json_get(object, "env");
    if (args != NULL && !kube_json_is_array(args))
        return refuse(&p, "args: must be a list");
    if (env != NULL && !kube_json_is_array(env))
        return refuse(&p, "env: must be a list");
    struct kube_exec *exec = memory_take(sizeof(*exec));
    p.r->config->exec = exec;
    exec->command = take_command(p.sheet, object);
    exec->api_version = text_of(object, "apiVersion");
    exec->install_hint = text_of(object, "installHint");
    exec->cluster_info = kube_json_true(kube_json_get(object, "provideClusterInfo"));
    exec->args = memory_take_array(kube_json_count(args) + 2, sizeof(char *));
    exec->env = memory_take_array(kube_json_count(env) + 1, sizeof(char *));
    if (exec->command != NULL)
        exec->args[0] = str_copy(str_of(exec->command));
    return check_exec(&p, object, exec) && read_args(&p, args, exec->args + 1) &&
           read_env(&p, env, exec->env);
}

static bool check_user(const struct place *p)
{
    const struct kube_config *c = p->r->config;
    bool token = set(c->token) || set(c->token_file);
    if (set(c->password) && !set(c->username))
        return refuse(p, "username: is missing beside the password");
    if (token && set(c->username))
        return refuse(p, "token and username cannot be combined");
    if (c->exec != NULL && (token || set(c->username)))
        return refuse(p, "exec: cannot be combined with a token or a username");
    for (const char *t = c->token; t != NULL && *t; t++)
        if ((unsigned char)*t <= 32 || (unsigned char)*t >= 127)
            return refuse(p, "token: holds blanks or control characters");
    return true;
}

static bool read_user(struct place p, const char *name)
{
    struct kube_config *config = p.r->config;
    const struct kube_json *user = find(&p, "user", name, user_fields);
    if (user == NULL)
        return false;
    config->user = str_copy(str_of(name));
    config->token = text_of(user, "token");
    config->username = text_of(user, "username");
    config->password = text_of(user, "password");
    if (!read_certificate(&p, user) || !take_path(&p, user, "tokenFile", &config->token_file))
        return false;
    const struct kube_json *exec = kube_json_get(user, "exec");
    if (exec != NULL && !read_exec(p, exec))
        return false;
    if (!check_user(&p))
        return false;
    char cause[512];
    char *token = config->token_file == NULL
                      ? NULL
                      : kube_token_read(config->token_file, cause, sizeof(cause));
    bool ok = config->token_file == NULL || token != NULL;
    memory_free(token);
    return ok || refuse(&p, "tokenFile: %s", cause);
}

/* ---- files ---- */

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return str_copy(STR_LITERAL("."));
    return memory_copy(path, slash == path ? 1 : (size_t)(slash - path));
}

static bool check_lists(const struct place *p)
{
    static const char *const lists[] = {"clusters", "users", "contexts"};
    for (size_t i = 0; i < 3; i++) {
        const struct kube_json *list = kube_json_get(p->sheet->json, lists[i]);
        if (list != NULL && !kube_json_is_array(list))
            return refuse(p, "%s: must be a list", lists[i]);
        size_t n = 0;
        for (const struct kube_json *c = kube_json_first(list); c != NULL; c = kube_json_next(c))
            if (kube_json_text(kube_json_get(c, "name")).len == 0)
                return refuse(p, "%s[%zu].name: is missing", lists[i], n);
            else
                n++;
    }
    return true;
}

static bool check_sheet(const struct place *p)
{
    if (!kube_json_is_object(p->sheet->json))
        return refuse(p, "is not a kubeconfig: must be one YAML or JSON object");
    if (!check_fields(p, p->sheet->json, top_fields))
        return false;
    struct str kind = kube_json_text(kube_json_get(p->sheet->json, "kind"));
    struct str version = kube_json_text(kube_json_get(p->sheet->json, "apiVersion"));
    if (kind.len > 0 && !str_is(kind, "Config"))
        return refuse(p, "kind: \"%.*s\" must be Config", STR_ARG(kind));
    if (version.len > 0 && !str_is(version, "v1"))
        return refuse(p, "apiVersion: \"%.*s\" must be v1", STR_ARG(version));
    return check_lists(p);
}

static bool add_sheet(struct reading *r, struct str path)
{
    if (r->count == FILES_MAX) {
        snprintf(r->error, r->room, "KUBECONFIG: names more than %d files", FILES_MAX);
        return false;
    }
    struct sheet *sheet = &r->sheets[r->count++];
    sheet->path = str_copy(path);
    sheet->folder = folder_of(sheet->path);
    struct buffer text = {0};
    struct str cause = {0};
    struct place p = {r, sheet, {0}};
    bool ok = kube_file_read(sheet->path, &text, r->error, r->room);
    if (ok && text.len == 0)
        ok = refuse(&p, "is empty");
    if (ok) {
        sheet->json = kube_json_parse_yaml(buffer_str(&text), &cause, &r->arena);
        ok = sheet->json != NULL || refuse(&p, "%.*s", STR_ARG(cause));
    }
    buffer_free(&text);
    return ok && check_sheet(&p);
}

static bool add_sheets(struct reading *r, const char *paths)
{
    bool several = strchr(paths, ':') != NULL;
    for (const char *at = paths; *at != 0;) {
        size_t len = strcspn(at, ":");
        char *path = memory_copy(at, len);
        bool skip = len == 0 || (several && access(path, F_OK) != 0);
        bool ok = skip || add_sheet(r, str_of(path));
        memory_free(path);
        if (!ok)
            return false;
        at += len + (at[len] == ':');
    }
    if (r->count == 0)
        snprintf(r->error, r->room, "KUBECONFIG: none of the files in \"%s\" exists", paths);
    return r->count > 0;
}

static bool read_all(struct reading *r)
{
    struct place p = {r, &r->sheets[0], {0}};
    struct str current = {0};
    for (size_t i = 0; i < r->count && current.len == 0; i++)
        current = kube_json_text(kube_json_get(r->sheets[i].json, "current-context"));
    if (current.len == 0)
        return refuse(&p, "current-context: is missing");
    char *name = str_copy(current);
    const struct kube_json *context = find(&p, "context", name, context_fields);
    memory_free(name);
    if (context == NULL)
        return false;
    char *cluster = text_of(context, "cluster"), *user = text_of(context, "user");
    bool ok = cluster != NULL || refuse(&p, "cluster: is missing");
    struct place start = {r, p.sheet, {0}};
    ok = ok && read_cluster(start, cluster) && (user == NULL || read_user(start, user));
    memory_free(cluster);
    memory_free(user);
    return ok;
}

bool kubeconfig_read(struct kube_config *config, const char *paths, char *error, size_t room)
{
    struct reading r = {.config = config, .error = error, .room = room};
    config->source = str_copy(str_of(paths));
    bool ok = add_sheets(&r, paths) && read_all(&r);
    for (size_t i = 0; i < r.count; i++) {
        memory_free(r.sheets[i].path);
        memory_free(r.sheets[i].folder);
        kube_json_free(&r.sheets[i].json);
    }
    arena_free(&r.arena);
    return ok;
}
