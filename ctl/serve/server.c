/* server: paths and answers. A request is permitted first (access.c), then answered: at once, or,
 * for /metrics, when the processes have said what they have counted.
 *
 * What must stay true: nothing but the paths that are always allowed is answered without a permit,
 * and no answer waits for a process that does not answer. */
#include "ctl/serve/server.h"

#include "ctl/serve/certificate.h"
#include "ctl/serve/health.h"
#include "ctl/serve/page.h"
#include "ctl/serve/resources.h"
#include "ctl/serve/slis.h"
#include "ctl/serve/zpages.h"
#include "proto/base/json_string.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/actor.h"
#include "proto/bus/options.h"
#include "proto/commit.h"
#include "proto/kube/release/feature_gates.h"
#include "proto/kube/release/versions.h"
#include "proto/metrics.h"
#include "proto/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PATIENCE_MS 5000  /* how long a process may be silent and count as well */
#define LEADER_MS   20000 /* the same for leader election, as upstream's */
#define LIVE_MS     12000 /* the same for being alive: a supervisor mends it in less */
#define SHUTDOWN_MS 500   /* between the first failing /readyz and the end */
#define POKE_MS     100   /* requests that wait are looked at, even if nothing has come for them */

struct server {
    struct server_options options;
    struct doors *doors;
    struct resources *resources;
    struct page *page;
    struct http *http;
    const struct bus *bus;
    struct outbox *out; /* of the call that is running */
    struct moment now, stop_at, started;
    int64_t started_us; /* since the Unix epoch */
    bool stopping;
    int epoll_fd;
    unsigned trusted; /* generation of the authorities that the daemon knows */
    bool news;        /* the bus brought something that requests may wait for */
    uint64_t answers; /* of the API server, when they were looked at last */
    struct moment poke_at;
    struct buffer why;
    char failing[400]; /* checks of /readyz that failed when it was asked last */
};

/* ---- checks ---- */

static void check_with(struct server *s, struct health *h, const char *process, const char *check,
                       int64_t patience_ms)
{
    if (h->reason[0] == 0)
        snprintf(h->reason, sizeof(h->reason), "%s",
                 doors_check(s->doors, s->now, process, check, span_of_ms(patience_ms)));
}

static size_t fill_ready(struct server *s, struct health *at)
{
    static const char *const names[] = {"leaderElection", "shutdown", "sched-handler-sync",
                                        "processes",      "workers",  "view",
                                        "release"};
    static const char *const all[] = {"watcher", "queue", "scheduler", "binder"};
    for (size_t i = 0; i < 7; i++)
        at[i] = (struct health){.name = names[i]};
    check_with(s, &at[0], "binder", "leaderElection", LEADER_MS);
    if (s->stopping)
        snprintf(at[1].reason, sizeof(at[1].reason), "process is shutting down");
    for (size_t i = 0; i < 3; i++)
        check_with(s, &at[2], all[i], "sched-handler-sync", PATIENCE_MS);
    for (size_t i = 0; i < 4; i++)
        check_with(s, &at[3], all[i], "", PATIENCE_MS);
    check_with(s, &at[4], "scheduler", "workers", PATIENCE_MS);
    check_with(s, &at[5], "scheduler", "view", PATIENCE_MS);
    check_with(s, &at[6], "scheduler", "release", PATIENCE_MS);
    snprintf(at[6].note, sizeof(at[6].note), "%s",
             doors_note(s->doors, s->now, "scheduler", "release", span_of_ms(PATIENCE_MS)));
    return 7;
}

static size_t fill_checks(struct server *s, const char *group, struct health *at)
{
    if (strcmp(group, "readyz") == 0)
        return fill_ready(s, at);
    at[0] = (struct health){.name = "ping"};
    if (strcmp(group, "healthz") == 0) {
        at[0].name = "leaderElection";
        check_with(s, &at[0], "binder", "leaderElection", LEADER_MS);
        return 1;
    }
    at[1] = (struct health){.name = "processes"};
    snprintf(at[1].reason, sizeof(at[1].reason), "%s",
             doors_silent(s->doors, s->now, span_of_ms(LIVE_MS)));
    return 2;
}

/* What is withheld from whoever asks is in the log, once each time that it changes. */
static void log_failures(struct server *s, const struct health *checks, size_t count)
{
    char failing[sizeof(s->failing)] = "";
    size_t len = 0;
    for (size_t i = 0; i < count && len < sizeof(failing); i++)
        if (checks[i].reason[0] != 0)
            len += (size_t)snprintf(failing + len, sizeof(failing) - len, "%s%s",
                                    len > 0 ? "," : "", checks[i].name);
    if (strcmp(failing, s->failing) == 0)
        return;
    memcpy(s->failing, failing, sizeof(failing));
    for (size_t i = 0; i < count; i++)
        if (checks[i].reason[0] != 0)
            log_warn("not ready|check=%s reason=\"%s\"", checks[i].name, checks[i].reason);
    if (len == 0)
        log_info("ready");
}

/* Counted are those that were made: all that were not excluded, or the one that was asked for. */
static void count_checks(const struct health_question *q, const struct health *checks, size_t count)
{
    const char *name = strchr(q->path + 1, '/');
    for (size_t i = 0; i < count; i++) {
        bool made = name == NULL || name[1] == 0 || strcmp(name + 1, checks[i].name) == 0;
        for (size_t k = 0; k < q->excluded_count; k++)
            made = made && strcmp(q->excluded[k], checks[i].name) != 0;
        if (made)
            slis_observe(q->group, checks[i].name, checks[i].reason[0] == 0);
    }
}

static void answer_health(struct server *s, struct http_request *r, const char *group)
{
    struct health checks[HEALTH_MAX];
    struct health_question q = {.path = r->path, .group = group};
    for (size_t i = 0; i < r->argument_count; i++) {
        q.verbose |= strcmp(r->keys[i], "verbose") == 0;
        if (strcmp(r->keys[i], "exclude") == 0 && q.excluded_count < 16)
            q.excluded[q.excluded_count++] = r->values[i];
    }
    size_t count = fill_checks(s, group, checks);
    r->status = health_answer(&q, checks, count, &r->answer);
    count_checks(&q, checks, count);
    if (strcmp(group, "readyz") == 0)
        log_failures(s, checks, count);
}

/* ---- metrics ---- */

static void set_info(enum metric metric, const struct str *values)
{
    metric_series(metric, values)->value = 1;
    metric_series(metric, values)->read = true;
}

/* As it was given to the supervisor; "" where it was not. */
static const char *given(const struct server *s, const char *flag)
{
    const char *value = "";
    for (size_t i = 0; i < s->options.given_count; i++)
        if (strncmp(s->options.given[i], flag, strlen(flag)) == 0)
            value = s->options.given[i] + strlen(flag);
    return value;
}

static const char *given_gates(const struct server *s)
{
    return given(s, "feature-gates=");
}

/* That was given, or that the scheduler says it follows the API server to. */
static const struct kube_release *release_now(const struct server *s)
{
    int64_t minor = doors_release(s->doors, "scheduler");
    if (minor == 0)
        minor = RELEASE_NEWEST;
    char error[256]; /* it was said at the start */
    int64_t named = 0;
    (void)versions_read(given(s, "emulated-version="), NULL, &named, error, sizeof(error));
    return release_of(named != 0 ? named : minor);
}

/* What the release before still showed. */
static bool shows_hidden(const struct server *s, const struct kube_release *release)
{
    char former[16];
    snprintf(former, sizeof(former), "1.%d", (int)release->minor - 1);
    return strcmp(given(s, "show-hidden-metrics-for-version="), former) == 0;
}

static const struct release_view *given_view(struct server *s)
{
    struct release_view *view = &s->options.filter.view;
    view->release = release_now(s);
    view->gates = given_gates(s);
    view->hidden = shows_hidden(s, view->release);
    return view;
}

/* How many metrics there are of a grade, with those that are deprecated or without; since: which
 * version. */
static int64_t count_of(const struct release_view *view, const char *grade, bool deprecated,
                        const char **since)
{
    int64_t count = 0;
    for (int i = 0; i < METRIC_COUNT; i++) {
        struct face face;
        if (!face_of(view, (enum metric)i, &face) || strcmp(face.stability, grade) != 0 ||
            (face.deprecated != NULL) != deprecated)
            continue;
        *since = deprecated ? face.deprecated : "";
        count++;
    }
    return count;
}

static void count_registered(const struct release_view *view)
{
    static const char *const grades[] = {"ALPHA", "BETA", "STABLE"};
    for (size_t i = 0; i < 6; i++) {
        const char *since = "";
        int64_t count = count_of(view, grades[i / 2], i % 2 == 1, &since);
        if (count > 0)
            metric_series(METRIC_registered_metrics_total,
                          METRIC_VALUES(str_of(since), str_of(grades[i / 2])))
                ->value = count;
    }
}

/* What only the table of metrics and the build know. */
static void measure_self(const struct release_view *view, struct arena *a)
{
    const struct kube_release *r = view->release;
    struct str tagged = arena_print(a, "v%s+berth." OPTIONS_VERSION, r->full);
    struct str full = {tagged.at + 1, tagged.len - 1}, none = STR_LITERAL("");
    struct str minor = arena_print(a, "%lld", (long long)r->minor);
    struct str before = arena_print(a, "1.%lld", (long long)r->minor - 1);
    set_info(METRIC_kubernetes_build_info,
             METRIC_VALUES(none, STR_LITERAL("gcc"), str_of(commit_hash()), str_of(commit_tree()),
                           tagged, none, STR_LITERAL("1"), minor, STR_LITERAL("linux/amd64")));
    set_info(METRIC_version_info,
             METRIC_VALUES(full, STR_LITERAL("kube"), str_of(r->version), before));
    metric_series(METRIC_hidden_metrics_total, NULL)->value = faces_hidden(view);
    count_registered(view);
}

static void set_gate(void *context, const char *name, const char *stage, bool on)
{
    (void)context;
    series_set(metric_series(METRIC_kubernetes_feature_enabled,
                             METRIC_VALUES(str_of(name), str_of(stage))),
               on);
}

/* The server is a process as well. */
static void take_own_report(struct server *s)
{
    struct arena memory = {0};
    struct metrics own = {.instance = STR_LITERAL("serve"), .incarnation = 1};
    const struct release_view *view = given_view(s);
    measure_self(view, &memory);
    feature_gates_each(view->gates, view->release, set_gate, NULL);
    access_measure(s->options.access);
    process_measure(OPTIONS_VERSION);
    metric_series(METRIC_disabled_metrics_total, NULL)->value = s->options.filter.without.count;
    metrics_fill(&own, false, &memory);
    totals_take(doors_totals(s->doors), s->options.count, &own);
    arena_free(&memory);
}

static bool answer_metrics(struct server *s, struct http_request *r)
{
    if (strcmp(r->method, "DELETE") == 0) {
        r->status = 501;
        buffer_add_text(&r->answer, "metrics are kept by several processes and are not reset\n");
        return true;
    }
    if (r->question == 0)
        r->question = doors_ask(s->doors, s->now, s->out);
    if (!doors_answered(s->doors, s->now, r->question))
        return false;
    take_own_report(s);
    r->content_type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
    totals_print(doors_totals(s->doors), &s->options.filter, &r->answer);
    return true;
}

static bool answer_resources(struct server *s, struct http_request *r)
{
    if (r->question == 0)
        r->question = resources_ask(s->resources, s->now, s->out);
    switch (resources_take(s->resources, r->question, &r->answer)) {
    case RESOURCES_wait: return false;
    case RESOURCES_failed: r->status = 503; return true;
    case RESOURCES_ready: break;
    }
    r->content_type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
    return true;
}

static void answer_slis(const struct server *s, struct http_request *r)
{
    if (strcmp(r->method, "DELETE") == 0) {
        slis_reset();
        buffer_add_text(&r->answer, "metrics reset\n");
        return;
    }
    r->content_type = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
    slis_print(s->started_us * 1000, &r->answer);
}

/* ---- what this is, and how it was started ---- */

static void answer_zpage(const struct server *s, struct http_request *r, bool flags)
{
    struct zpage z = {
        .accept = http_header(r, "Accept"),
        .cbor = feature_gate_is_on(given_gates(s), release_now(s), "CBORServingAndStorage"),
        .release = release_now(s),
        .given = s->options.given,
        .given_count = s->options.given_count,
        .up = moment_since(s->now, s->started),
        .start_s = s->started_us / 1000000};
    r->status =
        (flags ? zpages_flags : zpages_status)(&z, &r->content_type, &r->warning, &r->answer);
}

/* ---- verbosity ---- */

static void answer_verbosity(struct server *s, struct http_request *r)
{
    int64_t level;
    r->content_type = "text/plain";
    if (strcmp(r->method, "PUT") != 0) {
        r->status = 406;
        buffer_add_text(&r->answer, "unsupported http method\n");
    } else if (!str_to_i64(r->body, &level) || level < 0 || level > 10) {
        r->status = 400;
        buffer_print(&r->answer, "strconv.ParseUint: parsing \"%.*s\": invalid syntax\n",
                     r->body.len < 64 ? (int)r->body.len : 64, r->body.len > 0 ? r->body.at : "");
    } else {
        struct message m = {.type = MSG_verbosity, .verbosity = {.level = level}};
        doors_tell(s->doors, &m, s->out);
        log_set_verbosity((int)level);
        buffer_print(&r->answer, "successfully set klog.logging.verbosity to %d\n", (int)level);
    }
}

/* ---- one request ---- */

static bool starts_with_group(const char *path, const char *group)
{
    size_t len = strlen(group);
    return path[0] == '/' && strncmp(path + 1, group, len) == 0 &&
           (path[1 + len] == 0 || path[1 + len] == '/');
}

static bool is_zpage(const struct server *s, const char *path)
{
    return (strcmp(path, "/flagz") == 0 &&
            feature_gate_is_on(given_gates(s), release_now(s), "ComponentFlagz")) ||
           (strcmp(path, "/statusz") == 0 &&
            feature_gate_is_on(given_gates(s), release_now(s), "ComponentStatusz"));
}

static bool answer_path(struct server *s, struct http_request *r)
{
    if (page_is_for(s->page, r))
        return page_answer(s->page, s->now, r);
    static const char *const groups[] = {"healthz", "livez", "readyz"};
    for (size_t i = 0; i < 3; i++)
        if (starts_with_group(r->path, groups[i])) {
            answer_health(s, r, groups[i]);
            return true;
        }
    if (strcmp(r->path, "/metrics") == 0)
        return answer_metrics(s, r);
    if (strcmp(r->path, "/metrics/resources") == 0)
        return answer_resources(s, r);
    if (strcmp(r->path, "/metrics/slis") == 0) {
        answer_slis(s, r);
    } else if (is_zpage(s, r->path)) {
        answer_zpage(s, r, strcmp(r->path, "/flagz") == 0);
    } else if (strcmp(r->path, "/debug/flags/v") == 0) {
        answer_verbosity(s, r);
    } else if (strcmp(r->path, "/configz") == 0) {
        r->content_type = "application/json";
        buffer_add_str(&r->answer, s->options.configz);
    } else {
        r->status = 404;
        buffer_add_text(&r->answer, "404 page not found\n");
    }
    return true;
}

static void put_status(struct http_request *r, int code, const char *reason, const char *message)
{
    r->status = code;
    r->content_type = "application/json";
    buffer_add_text(&r->answer, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                                "\"status\":\"Failure\",\"message\":");
    json_string(&r->answer, str_of(message));
    buffer_print(&r->answer, ",\"reason\":\"%s\"%s,\"code\":%d}\n", reason,
                 code == 403 ? ",\"details\":{}" : "", code);
}

static struct str first_header(struct http_request *r, const struct strs *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        const char *value = http_header(r, arena_copy(&r->memory, names->at[i]).at);
        if (*value != 0)
            return str_of(value);
    }
    return (struct str){NULL, 0};
}

/* Of a client certificate: whose it is, and whom it speaks for. */
static void read_certificate(const struct server *s, struct http_request *r,
                             struct access_question *q)
{
    const struct review_config *config = access_config(s->options.access);
    if (r->chain == NULL)
        return;
    bool proxy = certificate_signed_by(r->chain, config->proxy_ca);
    bool client = certificate_signed_by(r->chain, config->client_ca);
    q->certificate = client ? CERTIFICATE_client : proxy ? CERTIFICATE_proxy : CERTIFICATE_bad;
    if (proxy || client)
        certificate_subject(r->chain, &q->subject.name, &q->subject.groups, &r->memory);
    if (proxy) {
        q->spoken.name = first_header(r, &config->user_headers);
        q->spoken.uid = first_header(r, &config->uid_headers);
        for (uint32_t i = 0; i < config->group_headers.count && q->spoken.groups.count == 0; i++)
            q->spoken.groups =
                http_headers(r, arena_copy(&r->memory, config->group_headers.at[i]).at);
        for (uint32_t i = 0; i < config->extra_prefixes.count && q->spoken.extra.count == 0; i++)
            q->spoken.extra =
                http_headers_behind(r, arena_copy(&r->memory, config->extra_prefixes.at[i]).at);
        if (q->spoken.name.len > 0)
            q->certificate = CERTIFICATE_proxy;
    }
}

/* What is known of a request from one look at it to the next; a certificate is verified once. */
struct look {
    struct access_wait wait;
    struct access_question question;
};

static struct look *look_at(const struct server *s, struct http_request *r)
{
    struct look *look = r->kept;
    if (look != NULL)
        return look;
    r->kept = look = arena_take(&r->memory, sizeof(*look));
    look->question = (struct access_question){.method = r->method,
                                              .path = r->path,
                                              .from = r->from,
                                              .token = r->token,
                                              .wait = &look->wait};
    read_certificate(s, r, &look->question);
    return look;
}

/* False: nothing is to be answered yet. */
static bool refuse(struct server *s, struct http_request *r, enum access_verdict verdict)
{
    switch (verdict) {
    case ACCESS_wait:
    case ACCESS_granted: return false;
    case ACCESS_unknown: put_status(r, 401, "Unauthorized", "Unauthorized"); break;
    case ACCESS_refused: put_status(r, 403, "Forbidden", s->why.at); break;
    case ACCESS_busy:
        r->retry_after = "1";
        put_status(r, 429, "TooManyRequests", "Too many requests, please try again later.");
        return true;
    case ACCESS_failed:
        r->status = 500;
        buffer_add_str(&r->answer, buffer_str(&s->why));
        return true;
    }
    if (page_is_for(s->page, r))
        page_refused(s->page, r);
    return true;
}

/* True when the answer is there. */
static bool answer(void *state, struct http_request *r)
{
    struct server *s = state;
    if (!r->permitted) {
        bool first = r->kept == NULL;
        struct look *look = look_at(s, r);
        if (first && page_is_for(s->page, r) && !page_begin(s->page, s->now, r, &look->question))
            return true;
        buffer_reset(&s->why);
        enum access_verdict verdict =
            access_ask(s->options.access, s->now, &look->question, &s->why);
        if (verdict != ACCESS_granted)
            return refuse(s, r, verdict);
        r->permitted = true;
        r->named = look->wait.named;
    }
    return answer_path(s, r);
}

static ssize_t more(void *state, struct http_request *r, char *to, size_t room)
{
    struct server *s = state;
    return page_more(s->page, s->now, r, to, room);
}

static bool has_more(void *state, struct http_request *r)
{
    struct server *s = state;
    return page_has_more(s->page, s->now, r);
}

static void ended(void *state, struct http_request *r)
{
    struct server *s = state;
    page_ended(s->page, r);
}

/* ---- the loop ---- */

static void watch(struct server *s, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    must(epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0);
}

struct server *server_new(const struct server_options *options)
{
    struct server *s = memory_take(sizeof(*s));
    s->options = *options;
    s->started = moment_now();
    s->started_us = moment_wall_us();
    s->doors = doors_new(options->names, options->count);
    s->resources = resources_new();
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    must(s->epoll_fd >= 0);
    s->options.page.epoll_fd = s->epoll_fd;
    s->page = page_new(&s->options.page);
    for (size_t i = 0; i < 2; i++)
        if (options->clients[i] != NULL)
            watch(s, kube_client_fd(options->clients[i]));
    return s;
}

void server_free(struct server **server)
{
    struct server *s = *server;
    if (s == NULL)
        return;
    http_free(&s->http);
    page_free(&s->page);
    doors_free(&s->doors);
    resources_free(&s->resources);
    buffer_free(&s->why);
    close(s->epoll_fd);
    memory_free(s);
    *server = NULL;
}

bool server_listen(struct server *s, const struct http_options *options, struct buffer *why)
{
    struct http_options o = *options;
    o.answer = answer;
    o.more = more;
    o.has_more = has_more;
    o.ended = ended;
    o.state = s;
    s->http = http_new(&o, why);
    if (s->http != NULL)
        watch(s, http_fd(s->http));
    return s->http != NULL;
}

void server_set_bus(struct server *s, const struct bus *bus)
{
    s->bus = bus;
}

int server_fd(const struct server *s)
{
    return s->epoll_fd;
}

void server_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    struct server *s = state;
    const char *endpoint = bus_endpoint_of(s->bus, in->from);
    s->now = now;
    s->news = true;
    if (in->from.process == WATCHER)
        resources_handle(s->resources, now, in, out);
    for (size_t i = 0; i < s->options.count; i++)
        if ((endpoint != NULL && strcmp(s->options.endpoints[i], endpoint) == 0) ||
            (endpoint == NULL && in->message->type == MSG_peer_down))
            doors_handle(s->doors, now, i, in);
}

/* The cluster's authorities have changed: clients are asked for certificates of these. */
static void follow_authorities(struct server *s)
{
    struct buffer both = {0}, why = {0};
    if (s->trusted == access_generation(s->options.access))
        return;
    s->trusted = access_generation(s->options.access);
    buffer_add_str(&both, access_client_ca(s->options.access));
    buffer_add_text(&both, "\n");
    buffer_add_str(&both, access_proxy_ca(s->options.access));
    if (!http_trust(s->http, buffer_str(&both), &why)) {
        log_error("%s", why.at);
        actor_fail();
    } else {
        watch(s, http_fd(s->http));
        log_info("authorities of client certificates are known");
    }
    buffer_free(&both);
    buffer_free(&why);
}

void server_work(void *state, struct moment now, struct outbox *out)
{
    struct server *s = state;
    s->now = now;
    s->out = out;
    for (size_t i = 0; i < 2; i++)
        if (s->options.clients[i] != NULL)
            kube_client_work(s->options.clients[i], now);
    follow_authorities(s);
    s->news |= page_work(s->page, now, &(struct moment){0});
    http_work(s->http, now);
    s->out = NULL;
}

/* Requests that wait are looked at when there may be an answer for them, and now and then. */
static struct moment poke(struct server *s, struct moment now)
{
    uint64_t answers = access_answers(s->options.access);
    if (http_waiting(s->http) == 0)
        return MOMENT_NEVER;
    if (s->news || answers != s->answers || moment_reached(now, s->poke_at)) {
        s->news = false;
        s->answers = answers;
        s->poke_at = moment_after(now, span_of_ms(POKE_MS));
        http_poke(s->http, now);
    }
    return s->poke_at;
}

struct moment server_tick(void *state, struct moment now, struct outbox *out)
{
    struct server *s = state;
    s->now = now;
    s->out = out;
    struct moment next =
        moment_earlier(doors_tick(s->doors, now, out), access_tick(s->options.access, now));
    next = moment_earlier(next, resources_tick(s->resources, now));
    struct moment page_next;
    s->news |= page_work(s->page, now, &page_next);
    next = moment_earlier(next, page_next);
    next = moment_earlier(next, poke(s, now));
    next = moment_earlier(next, http_work(s->http, now));
    for (size_t i = 0; i < 2; i++)
        if (s->options.clients[i] != NULL)
            next = moment_earlier(next, kube_client_deadline(s->options.clients[i], now));
    s->out = NULL;
    return next;
}

void server_stop(void *state, struct moment now, struct outbox *out)
{
    struct server *s = state;
    (void)out;
    s->stopping = true;
    s->stop_at = moment_after(now, span_of_ms(SHUTDOWN_MS));
}

bool server_done(const void *state)
{
    const struct server *s = state;
    return s->stopping && moment_reached(s->now, s->stop_at);
}

void server_status(void *state, struct buffer *lines)
{
    const struct server *s = state;
    buffer_print(lines, "doors=%zu\nnot_ready=%s\n", s->options.count, s->failing);
    http_status(s->http, lines);
}
