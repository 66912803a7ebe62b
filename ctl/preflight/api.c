/* api: what only the API server knows: whether it answers, who we are, what its clock says, which
 * kinds it serves, who holds the lease, and each permission, asked for one by one. Questions of one
 * sort go out together, so that a far API server costs a few round trips.
 *
 * What must stay true: nothing is written; reviews (SelfSubjectReview, SelfSubjectAccessReview) are
 * questions although they are POSTs. */
#include "ctl/preflight/preflight.h"

#include "proto/base/memory.h"
#include "proto/bus/options.h"
#include "proto/kube/documents/json.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/release/release.h"
#include "proto/kube/writes/reviews.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_S  10
#define SKEW_MAX_S 5 /* the API server's times have whole seconds here */

/* A question and its answer. */
struct call {
    struct buffer path, body;
    bool is_post;
    int status; /* 0: no answer */
    struct buffer answer;
    char error[256];
    int64_t sent_us, took_us;
    uint32_t *open; /* questions without an answer */
};

static void on_done(void *context, const struct kube_response *r)
{
    struct call *c = context;
    c->status = r->status;
    c->took_us = r->took.ns / 1000;
    buffer_add_str(&c->answer, r->body);
    snprintf(c->error, sizeof(c->error), "%s", r->error);
    *c->open -= 1;
}

/* Sends all and waits for all; each has an end, because each has a timeout. */
static void ask(struct kube_client *client, struct call *calls, size_t count)
{
    uint32_t open = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct call *c = &calls[i];
        c->open = &open;
        c->sent_us = moment_wall_us();
        kube_client_send(
            client, &(struct kube_request){.method = c->is_post ? KUBE_POST : KUBE_GET,
                                           .channel = KUBE_CHANNEL_write,
                                           .path = buffer_str(&c->path),
                                           .content_type = c->is_post ? "application/json" : NULL,
                                           .body = buffer_str(&c->body),
                                           .timeout = span_of_seconds(TIMEOUT_S),
                                           .context = c,
                                           .done = on_done});
    }
    while (open > 0) {
        struct pollfd fd = {.fd = kube_client_fd(client), .events = POLLIN};
        struct moment now = moment_now(), due = kube_client_deadline(client, now);
        int64_t ms = moment_reached(now, due) ? 0 : span_ms(moment_since(due, now)) + 1;
        (void)poll(&fd, 1, ms < 100 ? (int)ms : 100);
        kube_client_work(client, moment_now());
    }
}

static void clear(struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_free(&calls[i].path);
        buffer_free(&calls[i].body);
        buffer_free(&calls[i].answer);
    }
}

static struct kube_json *json_of(const struct call *c, struct arena *a)
{
    return c->status >= 200 && c->status < 300 ? kube_json_parse(buffer_str(&c->answer), NULL, a)
                                               : NULL;
}

/* Why a call has failed, in one line. */
static const char *reason_of(const struct call *c, struct arena *a)
{
    struct kube_json *json =
        c->status > 0 ? kube_json_parse(buffer_str(&c->answer), NULL, a) : NULL;
    struct str said = kube_json_text(kube_json_get(json, "message"));
    struct str text = c->status == 0 ? arena_copy(a, str_of(c->error))
                                     : arena_print(a, "%d %.*s", c->status, STR_ARG(said));
    kube_json_free(&json);
    return text.at;
}

/* ---- who and where ---- */

static bool open_identity(struct preflight *p, struct identity *who, const char *path)
{
    char error[512];
    const char *master = who == &p->who[IDENTITY_main] ? p->options.flags.master : NULL;
    who->kube = kube_config_load(path, master, error, sizeof(error));
    if (who->kube != NULL)
        who->client = kube_client_new(
            who->kube,
            &(struct kube_client_options){.user_agent = "berth-preflight/" OPTIONS_VERSION}, error,
            sizeof(error));
    if (who->client == NULL)
        preflight_say(p, FINDING_fail, "kubeconfig", "%s%s%s", who->flag, *who->flag ? ": " : "",
                      error);
    return who->client != NULL;
}

/* What it decides as beside such a server. */
static void say_version(struct preflight *p, const struct identity *who, struct str version,
                        long minor, int64_t took_us)
{
    int64_t given = p->options.flags.release;
    const struct kube_release *as = release_of(given != 0  ? given
                                               : minor > 0 ? minor
                                                           : RELEASE_NEWEST);
    bool well = as->minor == minor;
    char more[100] = "";
    if (!well && minor <= 0)
        snprintf(more, sizeof(more), "; its minor version is not understood");
    else if (!well)
        snprintf(more, sizeof(more), "; %s 1.%ld",
                 given != 0 ? "--emulated-version is not its release," : "there is no table for",
                 minor);
    preflight_say(p, well ? FINDING_ok : FINDING_warn, "connection",
                  "%s: %.*s, answered in %" PRId64 " ms%s; decisions are those of %s",
                  kube_config_server(who->kube), STR_ARG(version), took_us / 1000, more,
                  as->version);
}

static void check_version(struct preflight *p, struct identity *who)
{
    struct call call = {0};
    buffer_add_text(&call.path, "/version");
    ask(who->client, &call, 1);
    struct kube_json *json = json_of(&call, &p->memory);
    struct str version = kube_json_text(kube_json_get(json, "gitVersion"));
    /* "36", or "36+" of a cluster that is somebody's own build. */
    struct str text = arena_copy(&p->memory, kube_json_text(kube_json_get(json, "minor")));
    long minor = text.len > 0 ? strtol(text.at, NULL, 10) : 0;
    who->reachable = call.status > 0;
    if (call.status == 0)
        preflight_say(p, FINDING_fail, "connection", "%s: %s", kube_config_server(who->kube),
                      call.error);
    else if (call.status == 401)
        preflight_say(p, FINDING_fail, "connection", "%s does not know who we are (401)",
                      kube_config_server(who->kube));
    else if (version.len == 0)
        preflight_say(p, FINDING_warn, "connection",
                      "%s answers, and does not tell its version: %s",
                      kube_config_server(who->kube), reason_of(&call, &p->memory));
    else
        say_version(p, who, version, minor, call.took_us);
    who->reachable = who->reachable && call.status != 401;
    kube_json_free(&json);
    clear(&call, 1);
}

static void check_clock(struct preflight *p, struct str text, const struct call *call)
{
    int64_t theirs = 0;
    if (text.len == 0 || !moment_parse_wall(text.at, text.len, &theirs))
        return;
    /* It stamped the answer between the question and its arrival, and left out the fraction. */
    int64_t early = call->sent_us / 1000000 - theirs / 1000000;
    int64_t late = theirs / 1000000 - (call->sent_us + call->took_us) / 1000000;
    int64_t off = early > 0 ? -early : late > 0 ? late : 0;
    preflight_say(p, off > SKEW_MAX_S || off < -SKEW_MAX_S ? FINDING_warn : FINDING_ok, "clock",
                  "the API server's is %" PRId64 " s %s ours", off < 0 ? -off : off,
                  off < 0   ? "behind"
                  : off > 0 ? "ahead of"
                            : "from");
}

static void check_user(struct preflight *p, struct identity *who)
{
    struct call call = {.is_post = true};
    buffer_add_text(&call.path, "/apis/authentication.k8s.io/v1/selfsubjectreviews");
    review_self_body(&call.body);
    ask(who->client, &call, 1);
    struct kube_json *json = json_of(&call, &p->memory);
    struct str name = kube_json_text(kube_json_path(json, "status.userInfo.username"));
    if (name.len == 0) {
        preflight_say(p, FINDING_warn, "user", "%swho we are is not told: %s", who->flag,
                      reason_of(&call, &p->memory));
    } else {
        snprintf(who->user, sizeof(who->user), "%.*s", STR_ARG(name));
        preflight_say(p, FINDING_ok, "user", "%s%s%s", who->flag, *who->flag ? ": " : "",
                      who->user);
    }
    if (who == &p->who[IDENTITY_main])
        check_clock(p, kube_json_text(kube_json_path(json, "metadata.creationTimestamp")), &call);
    kube_json_free(&json);
    clear(&call, 1);
}

/* ---- kinds ---- */

/* /api/v1/pods is served when /api/v1 lists pods. */
static bool lists(const struct kube_json *list, const char *name)
{
    const struct kube_json *resources = kube_json_get(list, "resources");
    for (const struct kube_json *i = kube_json_first(resources); i != NULL; i = kube_json_next(i))
        if (str_is(kube_json_text(kube_json_get(i, "name")), name))
            return true;
    return false;
}

/* /apis/GROUP/VERSION/NAME */
static struct str group_of(const char *path)
{
    const char *group = path + strlen("/apis/");
    return (struct str){group, (uint32_t)strcspn(group, "/")};
}

static void check_kinds(struct preflight *p)
{
    struct identity *who = &p->who[IDENTITY_main];
    struct call *calls = memory_take_array(kube_resource_count, sizeof(*calls));
    size_t served = 0, usual = 0;
    bool devices = false;
    p->groups.at = arena_take(&p->memory, kube_resource_count * sizeof(struct str));
    for (size_t i = 0; i < kube_resource_count; i++) {
        const char *path = kube_resources[i].path, *slash = strrchr(path, '/');
        buffer_add(&calls[i].path, path, (size_t)(slash - path));
    }
    ask(who->client, calls, kube_resource_count);
    for (size_t i = 0; i < kube_resource_count; i++) {
        const struct kube_resource *kind = &kube_resources[i];
        struct kube_json *json = json_of(&calls[i], &p->memory);
        bool known = lists(json, strrchr(kind->path, '/') + 1);
        bool expected = kind->offer == KUBE_always;
        served += known && expected;
        usual += expected;
        devices = devices || (known && strcmp(kind->kind, "ResourceClaim") == 0);
        if (known && strcmp(kind->kind, "PodGroup") == 0)
            p->groups.at[p->groups.count++] = group_of(kind->path);
        if (!known && !expected && calls[i].status == 404) {
            /* nothing to do without */
        } else if (!known && (calls[i].status == 404 || json != NULL))
            preflight_say(p, kind->required ? FINDING_fail : FINDING_warn, "kinds",
                          "%s are not served (%s)%s", kind->name, kind->path,
                          kind->required ? "" : ": done without");
        else if (!known)
            preflight_say(p, FINDING_warn, "kinds", "%s: %s", kind->name,
                          reason_of(&calls[i], &p->memory));
        kube_json_free(&json);
    }
    if (served > 0)
        preflight_say(p, FINDING_ok, "kinds", "%zu of %zu are served%s%s", served, usual,
                      devices ? ", and claims for devices" : "",
                      p->groups.count > 0 ? ", and groups of pods" : "");
    clear(calls, kube_resource_count);
    memory_free(calls);
}

/* ---- the lease ---- */

static void say_holder(struct preflight *p, const struct kube_json *lease, const char *name)
{
    struct str holder = kube_json_text(kube_json_path(lease, "spec.holderIdentity"));
    struct str renewed = kube_json_text(kube_json_path(lease, "spec.renewTime"));
    int64_t at = 0, seconds = 0;
    kube_json_i64(kube_json_path(lease, "spec.leaseDurationSeconds"), &seconds);
    if (renewed.len > 0)
        (void)moment_parse_wall(renewed.at, renewed.len, &at);
    int64_t age = (moment_wall_us() - at) / 1000000;
    if (holder.len == 0)
        preflight_say(p, FINDING_ok, "lease", "%s is free", name);
    else if (age > seconds)
        preflight_say(p, FINDING_ok, "lease",
                      "%s: %.*s has not renewed it for %" PRId64 " s; berth takes it over", name,
                      STR_ARG(holder), age);
    else
        preflight_say(p, FINDING_ok, "lease",
                      "%s is held by %.*s (renewed %" PRId64
                      " s ago); berth stands by until it ends",
                      name, STR_ARG(holder), age < 0 ? 0 : age);
}

static void check_lease(struct preflight *p)
{
    struct call call = {0};
    const struct scheduler_config *c = &p->config;
    struct str name =
        arena_print(&p->memory, "%.*s/%.*s", STR_ARG(c->lease_namespace), STR_ARG(c->lease_name));
    if (!c->leader_elect) {
        preflight_say(p, FINDING_warn, "lease", "leader election is off: nothing keeps two apart");
        return;
    }
    buffer_print(&call.path, "/apis/coordination.k8s.io/v1/namespaces/%.*s/leases/%.*s",
                 STR_ARG(c->lease_namespace), STR_ARG(c->lease_name));
    ask(p->who[IDENTITY_main].client, &call, 1);
    struct kube_json *json = json_of(&call, &p->memory);
    if (json != NULL)
        say_holder(p, json, name.at);
    else if (call.status == 404)
        preflight_say(p, FINDING_ok, "lease", "%s is not there; berth makes it", name.at);
    else
        preflight_say(p, FINDING_fail, "lease", "%s: %s", name.at, reason_of(&call, &p->memory));
    kube_json_free(&json);
    clear(&call, 1);
}

/* ---- permissions ---- */

static int identity_of(enum permission_scope scope)
{
    return scope == SCOPE_AUTHORITIES ? IDENTITY_authentication
           : scope == SCOPE_REVIEWS   ? -1 /* one verb each: see asks_for */
                                      : IDENTITY_main;
}

static bool asks_for(const struct preflight *p, int which, const struct permission *r)
{
    bool lease =
        r->scope == SCOPE_LEASE || r->scope == SCOPE_LEASE_NAMED || r->scope == SCOPE_EVENT;
    if (r->scope == SCOPE_REVIEWS)
        return which == (strcmp(r->resource, "tokenreviews") == 0 ? IDENTITY_authentication
                                                                  : IDENTITY_authorization);
    if (r->scope == SCOPE_GANGS) {
        bool there = false;
        for (uint32_t i = 0; i < p->groups.count; i++)
            there |= str_is(p->groups.at[i], r->group);
        return there && which == IDENTITY_main;
    }
    if (r->scope == SCOPE_AUTHORITIES && serve_true(p->options.serve.authentication_skip_lookup))
        return false;
    return identity_of(r->scope) == which && (!lease || p->config.leader_elect);
}

static void fill_question(const struct preflight *p, const struct permission *r, struct call *c)
{
    struct str rest = str_of(r->resource);
    struct review_resource asked = {
        .group = str_of(r->group), .subresource = STR_LITERAL(""), .verb = str_of(r->verb)};
    str_split(&rest, "/", &asked.resource);
    if (rest.at != NULL)
        asked.subresource = rest;
    if (r->scope == SCOPE_LEASE || r->scope == SCOPE_LEASE_NAMED || r->scope == SCOPE_EVENT)
        asked.namespace_name = p->config.lease_namespace;
    if (r->scope == SCOPE_LEASE_NAMED)
        asked.name = p->config.lease_name;
    if (r->scope == SCOPE_AUTHORITIES) {
        asked.namespace_name = STR_LITERAL("kube-system");
        asked.name = STR_LITERAL("extension-apiserver-authentication");
    }
    c->is_post = true;
    buffer_add_text(&c->path, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    review_self_access_body(&asked, &c->body);
}

static void take_answer(struct preflight *p, struct identity *who, size_t i, const struct call *c)
{
    const struct permission *r = permission_at(i);
    struct review_answer said = {0};
    if (c->status < 200 || c->status >= 300 ||
        !review_access_read(buffer_str(&c->answer), &said, &p->memory)) {
        preflight_say(p, FINDING_warn, "permissions", "%s %s: not known: %s", r->verb, r->resource,
                      reason_of(c, &p->memory));
        return;
    }
    who->missing[i] = !said.allowed;
    if (!said.allowed)
        preflight_say(p, r->needed ? FINDING_fail : FINDING_warn, "permissions",
                      "%s may not %s %s%s%s: %s", who->user[0] != 0 ? who->user : "we", r->verb,
                      r->resource, r->group[0] != 0 ? " in " : "", r->group, r->purpose);
}

static void check_permissions(struct preflight *p, int which)
{
    struct identity *who = &p->who[which];
    struct call calls[PERMISSIONS_MAX] = {0};
    size_t asked[PERMISSIONS_MAX], count = 0, missing = 0;
    for (size_t i = 0; i < permissions_count(); i++) {
        if (!asks_for(p, which, permission_at(i)))
            continue;
        fill_question(p, permission_at(i), &calls[count]);
        asked[count++] = i;
    }
    ask(who->client, calls, count);
    for (size_t i = 0; i < count; i++) {
        take_answer(p, who, asked[i], &calls[i]);
        missing += who->missing[asked[i]];
    }
    if (count > 0 && missing < count)
        preflight_say(p, FINDING_ok, "permissions", "%s%s%zu of %zu that are used are granted",
                      who->flag, *who->flag ? ": " : "", count - missing, count);
    clear(calls, count);
}

/* As berth-serve: a kubeconfig that is named, else a service account, else nobody is asked. */
static void check_serving(struct preflight *p, int which, const char *path, const char *without)
{
    struct identity *who = &p->who[which];
    if (serve_port(&p->options.serve) == 0)
        return;
    bool named = path != NULL && *path != 0;
    if (!named && getenv("KUBERNETES_SERVICE_HOST") == NULL) {
        preflight_say(p, FINDING_warn, "serving", "no %s: %s", who->flag, without);
        return;
    }
    if (!open_identity(p, who, named ? path : NULL))
        return;
    check_user(p, who);
    check_permissions(p, which);
}

void preflight_api(struct preflight *p)
{
    struct identity *who = &p->who[IDENTITY_main];
    const struct serve_flags *f = &p->options.serve;
    char *path = p->config.kubeconfig.len > 0 ? str_copy(p->config.kubeconfig) : NULL;
    who->flag = "";
    p->who[IDENTITY_authentication].flag = "--authentication-kubeconfig";
    p->who[IDENTITY_authorization].flag = "--authorization-kubeconfig";
    if (open_identity(p, who, path))
        check_version(p, who);
    memory_free(path);
    if (!who->reachable)
        return;
    check_user(p, who);
    check_kinds(p);
    check_lease(p);
    check_permissions(p, IDENTITY_main);
    check_serving(p, IDENTITY_authentication, f->authentication_kubeconfig,
                  "nobody is known by a token on the port");
    check_serving(p, IDENTITY_authorization, f->authorization_kubeconfig,
                  "nobody may see metrics but members of system:masters");
}
