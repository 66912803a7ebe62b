/* policy_source: one way to the text of a Policy, whatever names it. The one idea: it is read here,
 * by the program that was given the flags; the processes get what came of it as a file. What must
 * stay true: the order of precedence is that of kube-scheduler 1.22, and a source that is missing
 * or empty is an error that names it. */
#include "ctl/policy_source.h"
#include "proto/base/memory.h"
#include "proto/kube/access/access.h"
#include "proto/kube/access/client.h"
#include "proto/kube/config/config_flags.h"
#include "proto/kube/config/config_policy.h"
#include "proto/kube/writes/writes.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define READ_LIMIT_MS  10000
#define NAMESPACE      "kube-system"
#define MESSAGE_LENGTH 1024

bool policy_take_file(void *state, const char *value)
{
    ((struct policy_flags *)state)->file = value;
    return true;
}

bool policy_take_config_map(void *state, const char *value)
{
    ((struct policy_flags *)state)->config_map = value;
    return true;
}

bool policy_take_config_map_namespace(void *state, const char *value)
{
    ((struct policy_flags *)state)->config_map_namespace = value;
    return true;
}

bool policy_take_use_file(void *state, const char *value)
{
    return config_flag_truth(*value ? value : "true", &((struct policy_flags *)state)->use_file);
}

bool policy_take_provider(void *state, const char *value)
{
    ((struct policy_flags *)state)->provider = value;
    return *value == 0 || config_policy_of_provider(value) != NULL;
}

static bool given(const char *text)
{
    return text != NULL && *text != 0;
}

bool policy_given(const struct policy_flags *f)
{
    return f->use_file || given(f->file) || given(f->config_map) || given(f->provider);
}

void policy_unname(struct policy_flags *f)
{
    if (!f->owned)
        return;
    memory_free((char *)f->config_map); /* const to those who borrow it */
    memory_free((char *)f->config_map_namespace);
    *f = (struct policy_flags){0};
}

void policy_name(struct policy_flags *f, const struct scheduler_config *config)
{
    const struct old_config *old = &config->old;
    policy_unname(f);
    if (policy_given(f) || old->map_name.len == 0)
        return;
    f->config_map = str_copy(old->map_name);
    f->config_map_namespace = str_copy(old->map_namespace);
    f->owned = true;
}

const char *policy_file(const struct policy_flags *f)
{
    bool counts = given(f->file) && (f->use_file || !given(f->config_map));
    return counts ? f->file : NULL;
}

static bool read_file(const char *path, struct str *text, struct arena *a, struct str *error)
{
    struct buffer out = {0};
    char why[MESSAGE_LENGTH];
    bool good = kube_file_read(path, &out, why, sizeof(why));
    if (good)
        *text = arena_copy(a, buffer_str(&out));
    else
        *error = arena_print(a, "couldn't read policy config: %s", why);
    buffer_free(&out);
    return good;
}

/* ---- a ConfigMap ---- */

struct policy_map {
    char *space, *name;
    struct kube_config *way;
    struct kube_client *client;
    bool asked; /* and not answered yet */
    int status;
    struct buffer body, last; /* last: what it said, or why nothing was read */
    char error[MESSAGE_LENGTH];
    struct moment next, end; /* question, and how long its answer may take */
};

struct policy_map *policy_map_new(const struct policy_flags *f, struct policy_server server)
{
    const struct kube_client_options options = {.user_agent = "berth/" OPTIONS_VERSION};
    if (policy_file(f) != NULL || !given(f->config_map))
        return NULL;
    struct policy_map *m = memory_take(sizeof(*m));
    m->space =
        str_copy(str_of(given(f->config_map_namespace) ? f->config_map_namespace : NAMESPACE));
    m->name = str_copy(str_of(f->config_map));
    m->way = kube_config_load(server.kubeconfig, server.master, m->error, sizeof(m->error));
    if (m->way != NULL)
        m->client = kube_client_new(m->way, &options, m->error, sizeof(m->error));
    return m;
}

void policy_map_free(struct policy_map **map)
{
    struct policy_map *m = *map;
    if (m == NULL)
        return;
    kube_client_free(&m->client);
    kube_config_free(&m->way);
    buffer_free(&m->body);
    buffer_free(&m->last);
    memory_free(m->space);
    memory_free(m->name);
    memory_free(m);
    *map = NULL;
}

static void on_answer(void *context, const struct kube_response *response)
{
    struct policy_map *m = context;
    m->asked = false;
    m->status = response->status;
    buffer_reset(&m->body);
    buffer_add_str(&m->body, response->body);
    snprintf(m->error, sizeof(m->error), "%s", response->error);
}

static void ask(struct policy_map *m, struct moment now)
{
    struct buffer path = {0};
    m->next = moment_after(now, span_of_ms(POLICY_MAP_MS));
    m->end = moment_after(now, span_of_ms(READ_LIMIT_MS));
    m->status = 0;
    if (m->client == NULL)
        return;
    m->asked = true;
    writes_path(&path, "/api/v1", str_of(m->space), "configmaps", str_of(m->name));
    kube_client_send(m->client, &(struct kube_request){.method = KUBE_GET,
                                                       .channel = KUBE_CHANNEL_write,
                                                       .path = buffer_str(&path),
                                                       .timeout = span_of_ms(READ_LIMIT_MS),
                                                       .context = m,
                                                       .done = on_answer});
    buffer_free(&path);
}

/* What the answer says, as the API server puts it where it says no. */
static bool take_map(const struct policy_map *m, struct str *text, struct arena *a,
                     struct str *error)
{
    struct kube_json *document =
        m->status != 0 ? kube_json_parse(buffer_str(&m->body), NULL, a) : NULL;
    const struct kube_json *data = kube_json_get(document, "data");
    const struct kube_json *policy = kube_json_get(data, CONFIG_POLICY_KEY);
    struct str message = kube_json_text(kube_json_get(document, "message")), why;
    bool good = m->status == 200 && policy != NULL;
    if (good)
        *text = arena_copy(a, kube_json_text(policy));
    else if (m->status == 200)
        why = STR_LITERAL("missing policy config map value at key \"" CONFIG_POLICY_KEY "\"");
    else if (m->status == 0)
        why = str_of(m->error);
    else if (message.len > 0)
        why = message;
    else
        why = arena_print(a, "code %d", m->status);
    if (!good)
        *error = arena_print(a, "couldn't get policy config map %s/%s: %.*s", m->space, m->name,
                             STR_ARG(why));
    kube_json_free(&document);
    return good;
}

/* True when the answer is there, or will not come. */
static bool is_over(struct policy_map *m, struct moment now)
{
    if (m->client != NULL)
        kube_client_work(m->client, now);
    if (m->asked && moment_reached(now, m->end))
        snprintf(m->error, sizeof(m->error), "no answer within %d s", READ_LIMIT_MS / 1000);
    return !m->asked || moment_reached(now, m->end);
}

bool policy_map_look(struct policy_map *m, struct moment now, struct str *text, struct arena *a,
                     struct str *error)
{
    *text = *error = (struct str){0};
    if (m == NULL)
        return false;
    if (m->end.ns == 0) {
        if (moment_reached(now, m->next))
            ask(m, now);
        else if (m->client != NULL)
            kube_client_work(m->client, now);
    }
    if (m->end.ns == 0 || !is_over(m, now))
        return false;
    m->end = (struct moment){0};
    struct str said = take_map(m, text, a, error) ? *text : *error;
    if (str_equal(said, buffer_str(&m->last)))
        return false;
    buffer_reset(&m->last);
    buffer_add_str(&m->last, said);
    return true;
}

int policy_map_fd(const struct policy_map *m)
{
    return m != NULL && m->client != NULL ? kube_client_fd(m->client) : -1;
}

struct moment policy_map_deadline(const struct policy_map *m, struct moment now)
{
    if (m == NULL)
        return MOMENT_NEVER;
    struct moment due = m->end.ns != 0 ? m->end : m->next;
    return m->client != NULL ? moment_earlier(due, kube_client_deadline(m->client, now)) : due;
}

static bool read_map(const struct policy_flags *f, struct policy_server server, struct str *text,
                     struct arena *a, struct str *error)
{
    struct policy_map *m = policy_map_new(f, server);
    ask(m, moment_now());
    while (!is_over(m, moment_now())) {
        struct moment now = moment_now(), next = policy_map_deadline(m, now);
        struct pollfd fd = {.fd = policy_map_fd(m), .events = POLLIN};
        int64_t ms = span_ms(moment_since(next, now)) + 1;
        poll(&fd, 1, ms < 0 ? 0 : (int)ms);
    }
    bool good = take_map(m, text, a, error);
    policy_map_free(&m);
    return good;
}

/* ---- the whole ---- */

static bool read_source(const struct policy_flags *f, struct policy_server server, struct str *text,
                        struct arena *a, struct str *error)
{
    if (policy_file(f) != NULL)
        return read_file(policy_file(f), text, a, error);
    if (given(f->config_map))
        return read_map(f, server, text, a, error);
    *text = str_of(config_policy_of_provider(f->provider));
    return true;
}

bool policy_apply(const struct policy_flags *f, struct policy_server server,
                  struct scheduler_config *config, struct arena *a, struct str *error)
{
    struct str text = {0};
    if (!policy_given(f))
        return true;
    if (f->use_file && !given(f->file)) {
        *error = STR_LITERAL("policyConfigFile: Required value: required when "
                             "--use-legacy-policy-config is true");
        return false;
    }
    char *named = config->kubeconfig.len > 0 ? str_copy(config->kubeconfig) : NULL;
    if (named != NULL)
        server.kubeconfig = named;
    bool good = read_source(f, server, &text, a, error);
    memory_free(named);
    return good && policy_take(text, config, a, error);
}

bool policy_take(struct str text, struct scheduler_config *config, struct arena *a,
                 struct str *error)
{
    struct str why = {0};
    if (scheduler_config_take_policy(text, config, a, &why))
        return true;
    *error = arena_print(a, "invalid policy: %.*s", STR_ARG(why));
    return false;
}
