/* policy_source: one way to the text of a Policy, whatever names it. The one idea: it is read here,
 * by the program that was given the flags; the processes get what came of it as a file. What must
 * stay true: the order of precedence is that of kube-scheduler 1.22, and a source that is missing
 * or empty is an error that names it. */
#include "ctl/policy_source.h"
#include "proto/base/memory.h"
#include "proto/kube/client.h"
#include "proto/kube/config.h"
#include "proto/kube/config_flags.h"
#include "proto/kube/config_policy.h"
#include "proto/kube/writes.h"

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

struct reading_map {
    bool done;
    int status;
    struct buffer body;
    char error[MESSAGE_LENGTH];
};

static void on_answer(void *context, const struct kube_response *response)
{
    struct reading_map *r = context;
    r->done = true;
    r->status = response->status;
    buffer_add_str(&r->body, response->body);
    snprintf(r->error, sizeof(r->error), "%s", response->error);
}

static void ask(struct kube_client *client, struct str path, struct reading_map *r)
{
    struct moment end = moment_after(moment_now(), span_of_ms(READ_LIMIT_MS));
    kube_client_send(client, &(struct kube_request){.method = KUBE_GET,
                                                    .channel = KUBE_CHANNEL_write,
                                                    .path = path,
                                                    .timeout = span_of_ms(READ_LIMIT_MS),
                                                    .context = r,
                                                    .done = on_answer});
    while (!r->done && !moment_reached(moment_now(), end)) {
        kube_client_work(client, moment_now());
        struct pollfd fd = {.fd = kube_client_fd(client), .events = POLLIN};
        struct moment next = moment_earlier(kube_client_deadline(client, moment_now()), end);
        int64_t ms = span_ms(moment_since(next, moment_now())) + 1;
        if (!r->done)
            poll(&fd, 1, ms < 0 ? 0 : (int)ms);
    }
    if (!r->done)
        snprintf(r->error, sizeof(r->error), "no answer within %d s", READ_LIMIT_MS / 1000);
}

/* What the answer says, as the API server puts it where it says no. */
static bool take_map(const struct reading_map *r, struct str *text, struct arena *a,
                     struct str *why)
{
    struct kube_json *document =
        r->status != 0 ? kube_json_parse(buffer_str(&r->body), NULL, a) : NULL;
    const struct kube_json *data = kube_json_get(document, "data");
    const struct kube_json *policy = kube_json_get(data, CONFIG_POLICY_KEY);
    struct str message = kube_json_text(kube_json_get(document, "message"));
    bool good = r->status == 200 && policy != NULL;
    if (good)
        *text = arena_copy(a, kube_json_text(policy));
    else if (r->status == 200)
        *why = arena_print(a, "missing policy config map value at key \"" CONFIG_POLICY_KEY "\"");
    else if (r->status == 0)
        *why = arena_print(a, "%s", r->error);
    else if (message.len > 0)
        *why = arena_copy(a, message);
    else
        *why = arena_print(a, "code %d", r->status);
    kube_json_free(&document);
    return good;
}

static bool read_map(const struct policy_flags *f, struct policy_server server, struct str *text,
                     struct arena *a, struct str *error)
{
    const struct kube_client_options options = {.user_agent = "berth/" OPTIONS_VERSION};
    char why[MESSAGE_LENGTH];
    const char *space = given(f->config_map_namespace) ? f->config_map_namespace : NAMESPACE;
    struct kube_config *way = kube_config_load(server.kubeconfig, server.master, why, sizeof(why));
    struct kube_client *client =
        way != NULL ? kube_client_new(way, &options, why, sizeof(why)) : NULL;
    struct reading_map reading = {0};
    struct buffer path = {0};
    struct str said = {0};
    bool good = false;
    if (client == NULL) {
        said = arena_print(a, "%s", why);
    } else {
        writes_path(&path, "/api/v1", str_of(space), "configmaps", str_of(f->config_map));
        ask(client, buffer_str(&path), &reading);
        good = take_map(&reading, text, a, &said);
    }
    if (!good)
        *error = arena_print(a, "couldn't get policy config map %s/%s: %.*s", space, f->config_map,
                             STR_ARG(said));
    buffer_free(&path);
    buffer_free(&reading.body);
    kube_client_free(&client);
    kube_config_free(&way);
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
    struct str text = {0}, why = {0};
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
    if (!good || scheduler_config_take_policy(text, config, a, &why))
        return good;
    *error = arena_print(a, "invalid policy: %.*s", STR_ARG(why));
    return false;
}
