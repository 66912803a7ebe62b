/* model: requests of the simulation to the functions behind tests/apiserver's HTTP. What must stay
 * true: everything happens inside of the call, in the order of the calls, and time is read from
 * the simulation's clock only. */
#include "tests/simulation/model.h"

#include "tests/apiserver/api.h"
#include "tests/apiserver/auth.h"
#include "tests/apiserver/demo.h"
#include "tests/apiserver/discovery.h"
#include "tests/apiserver/front.h"
#include "tests/apiserver/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MAX_BYTES 4096
#define SOON_MS        60000

struct model {
    struct server server;
    struct model_hooks hooks;
};

static const char *field_of(const struct object *o, int index)
{
    bool pod = strcmp(o->resource->plural, "pods") == 0;
    return pod && o->fields[index] != NULL ? o->fields[index] : "";
}

static void tell(const struct model *m, const struct change *c)
{
    static const char kinds[] = {'A', 'M', 'D'};
    const struct object *o = c->now;
    m->hooks.changed(&(struct model_change){.kind = kinds[c->type],
                                            .plural = o->resource->plural,
                                            .key = o->key,
                                            .uid = o->uid,
                                            .node = field_of(o, 0),
                                            .phase = field_of(o, 2),
                                            .deleting = o->deletion_us != 0,
                                            .json = {o->json->bytes, (uint32_t)o->json->size},
                                            .version = c->version});
}

static void on_change(void *context, int shelf)
{
    struct model *m = context;
    struct shelf *s = &m->server.registry.shelves[shelf];
    if (s->next > s->oldest)
        tell(m, registry_change(s, s->next - 1));
    watchers_wake(&m->server, shelf);
}

struct model *model_new(uint32_t history, const struct model_hooks *hooks)
{
    struct model *m = memory_take(sizeof(*m));
    tree_setup();
    server_init(&m->server, history);
    m->hooks = *hooks;
    m->server.registry.changed = on_change;
    m->server.registry.context = m;
    m->server.kubelet = KUBELET_RUN;
    m->server.auth = auth_new();
    m->server.faults = faults_new();
    demo_furnish(&m->server);
    return m;
}

void model_free(struct model **model)
{
    faults_free((*model)->server.faults);
    auth_free((*model)->server.auth);
    server_free(&(*model)->server);
    memory_free(*model);
    *model = NULL;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at != 0; at++) {
        if (*at == '%' && digit(at[1]) >= 0 && digit(at[2]) >= 0) {
            *to++ = (char)(unsigned char)(digit(at[1]) * 16 + digit(at[2]));
            at += 2;
        } else {
            *to++ = *at;
            if (to[-1] == '+')
                to[-1] = ' ';
        }
    }
    *to = 0;
}

static void split(struct request *request, char *query)
{
    char *pair;
    while (query != NULL && (pair = strsep(&query, "&")) != NULL && request->arg_count < ARGS_MAX) {
        char *equals = strchr(pair, '=');
        if (equals != NULL)
            *equals++ = 0;
        else
            equals = pair + strlen(pair);
        unescape(equals);
        request->keys[request->arg_count] = pair;
        request->values[request->arg_count++] = equals;
    }
}

void model_ask(struct model *m, const struct model_request *asked, struct model_answer *out)
{
    char path[PATH_MAX_BYTES];
    must(strlen(asked->path) < sizeof(path));
    memcpy(path, asked->path, strlen(asked->path) + 1);
    char *query = strchr(path, '?');
    if (query != NULL)
        *query++ = 0;
    unescape(path);
    struct request request = {.server = &m->server,
                              .method = asked->method,
                              .path = path,
                              .content_type = asked->content_type ? asked->content_type : "",
                              .accept = "",
                              .body = asked->body.at ? asked->body.at : "",
                              .body_size = asked->body.len};
    struct answer answer = {0};
    struct fault fault;
    split(&request, query);
    request.user = auth_by_header(m->server.auth, NULL);
    if (!front_begin(&request, &answer, &fault))
        front_run(&request, &answer, &fault);
    *out = (struct model_answer){.code = answer.code, .retry_after = answer.retry_after};
    for (size_t i = 0; i < answer.piece_count; i++)
        buffer_add(&out->body, answer.pieces[i]->bytes, answer.pieces[i]->size);
    if (answer.watcher != NULL) {
        out->stream = (struct model_stream *)answer.watcher;
        out->code = 200;
        watcher_on_wake(answer.watcher, m->hooks.woken, asked->stream_owner);
    }
    cJSON_Delete(request.audit_object);
    answer_clear(&answer);
}

int64_t model_stream_read(struct model_stream *stream, char *out, size_t room)
{
    return watcher_fill((struct watcher *)stream, out, room);
}

void model_stream_free(struct model_stream *stream)
{
    watcher_free((struct watcher *)stream);
}

void model_compact(struct model *m, const char *plural)
{
    registry_compact(&m->server.registry, resource_shelf(resource_named(plural)));
}

uint64_t model_version(const struct model *m)
{
    return m->server.registry.version;
}

void model_deny(struct model *m, const char *rule)
{
    must(auth_deny(m->server.auth, rule));
}

void model_allow(struct model *m)
{
    auth_free(m->server.auth);
    m->server.auth = auth_new();
}

void model_set_version(struct model *m, const char *version)
{
    must(discovery_set_version(&m->server, version));
}

int64_t model_minor(const struct model *m)
{
    return m->server.registry.minor;
}

int64_t model_tick(struct model *m, bool sweep)
{
    if (sweep)
        watchers_sweep(&m->server, clock_ms());
    return timers_run(&m->server.timers, clock_ms(), SOON_MS);
}

void model_serve_tree(struct model *m, bool served)
{
    m->server.registry.gated = served;
}

bool model_serves_tree(const struct model *m)
{
    return m->server.registry.gated;
}

static const struct resource *resource_like(const char *name)
{
    char qualified[128];
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (strcmp(resource_qualified(&resources[i], qualified), name) == 0)
            return &resources[i];
    return resource_named(name);
}

bool model_read(struct model *m, const char *plural, const char *space, const char *name,
                struct buffer *json)
{
    struct object *o = registry_find(&m->server.registry, resource_like(plural), space, name);
    if (o != NULL)
        buffer_add(json, o->json->bytes, o->json->size);
    return o != NULL;
}

bool model_resize(struct model *m, const char *pod, int64_t thousandths)
{
    struct object *o = registry_find(&m->server.registry, resource_named("pods"), "default", pod);
    char text[32];
    if (o == NULL)
        return false;
    snprintf(text, sizeof(text), "%lldm", (long long)thousandths);
    cJSON *tree = object_tree(o), *first = NULL;
    cJSON_ArrayForEach(first, tree_get(tree, "spec.containers"))
    {
        tree_set_string(tree_make(first, "resources.requests"), "cpu", text);
        break;
    }
    tree_set_number(tree_get(tree, "metadata"), "generation",
                    tree_number(tree, "metadata.generation", 1) + 1);
    registry_put(&m->server.registry, o->resource, tree);
    cJSON_Delete(tree);
    return true;
}

static const struct shelf *shelf_of(const struct model *m, const char *plural)
{
    return &m->server.registry.shelves[resource_shelf(resource_named(plural))];
}

uint64_t model_count(struct model *m, const char *plural)
{
    return shelf_of(m, plural)->count;
}

uint64_t model_longest_list(struct model *m)
{
    static const char *const kinds[] = {
        "pods",           "nodes",          "persistentvolumes", "persistentvolumeclaims",
        "resourceslices", "resourceclaims", "csinodes"};
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        most = model_count(m, kinds[i]) > most ? model_count(m, kinds[i]) : most;
    return most;
}

void model_each(struct model *m, const char *plural,
                void (*visit)(void *context, const char *key, struct str json), void *context)
{
    const struct shelf *s = shelf_of(m, plural);
    for (size_t i = 0; i < s->count; i++) {
        const struct object *o = s->objects[i];
        visit(context, o->key, (struct str){o->json->bytes, (uint32_t)o->json->size});
    }
}
