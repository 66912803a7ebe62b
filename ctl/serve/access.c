/* access: two small caches in front of the API server, and the ConfigMap with the cluster's
 * authorities, read once a minute.
 *
 * What must stay true: nothing is granted but what the API server granted, the list of open paths
 * names, or a member of system:masters asks for; without an answer nothing is granted; and caches
 * are bounded, whatever tokens strangers bring. */
#include "ctl/serve/access.h"

#include "proto/base/log.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/bus/actor.h"
#include "proto/metrics.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define ENTRIES_MAX 1024
#define REVIEW_MS   10000
#define CONFIG_MS   60000
#define CONFIG_SOON 1000
#define TOKEN_MAX   65536

/* An answer of the API server, or the wait for it. */
struct entry {
    struct access *access;
    bool asking, failed, yes, denied; /* denied: said so, which is more than not allowed */
    uint64_t request;
    struct kube_client *client;
    struct moment asked, until;
    struct review_user user; /* of a token */
    struct str reason;
    struct arena memory;
    struct buffer error;
};

struct access {
    struct access_options options;
    struct map *tokens, *permits; /* of struct entry */
    struct review_config config;
    struct arena config_memory;
    struct moment config_at, now;
    bool config_asked, config_warned, config_read;
    unsigned generation;
};

struct access *access_new(const struct access_options *options)
{
    struct access *a = memory_take(sizeof(*a));
    a->options = *options;
    a->tokens = map_new();
    a->permits = map_new();
    a->config = options->proxy;
    a->config.client_ca = options->client_ca;
    return a;
}

static void entry_free(struct entry *e)
{
    if (e->asking)
        kube_client_cancel(e->client, e->request);
    arena_free(&e->memory);
    buffer_free(&e->error);
    memory_free(e);
}

/* Those that wait stay: somebody looks for them again. */
static void forget(struct map *entries, struct moment now, bool all)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(entries, &at, &key, &value)) {
        struct entry *e = value;
        if (!all && (e->asking || !moment_reached(now, e->until)))
            continue;
        map_remove(entries, key);
        entry_free(e);
    }
}

void access_free(struct access **access)
{
    struct access *a = *access;
    if (a == NULL)
        return;
    forget(a->tokens, a->now, true);
    forget(a->permits, a->now, true);
    map_free(&a->tokens);
    map_free(&a->permits);
    arena_free(&a->config_memory);
    memory_free(a);
    *access = NULL;
}

/* ---- asking the API server ---- */

/* What a review took, by the answer's code. */
static void count_review(enum metric total, enum metric took, const struct entry *e,
                         const struct kube_response *r)
{
    char code[16] = "<error>";
    if (r->status > 0)
        snprintf(code, sizeof(code), "%d", r->status);
    metric_add_to(total, code, 1);
    series_observe(metric_series(took, METRIC_VALUES(str_of(code))),
                   moment_since(e->access->now, e->asked).ns);
}

static void note_error(struct entry *e, const struct kube_response *r)
{
    e->failed = true;
    buffer_reset(&e->error);
    if (r->status == 0)
        buffer_add_text(&e->error, r->error);
    else
        buffer_print(&e->error, "the API server answered %d", r->status);
    log_warn("a review failed|error=\"%s\"", e->error.at);
}

static void end_asking(struct entry *e, struct span ttl)
{
    e->asking = false;
    e->until = moment_after(e->access->now, e->failed ? span_of_ms(CONFIG_SOON) : ttl);
}

static void on_token(void *context, const struct kube_response *r)
{
    struct entry *e = context;
    bool answered = r->status >= 200 && r->status < 300;
    count_review(METRIC_apiserver_delegated_authn_request_total,
                 METRIC_apiserver_delegated_authn_request_duration_seconds, e, r);
    if (!answered || !review_token_read(r->body, &e->yes, &e->user, &e->memory))
        note_error(e, r);
    metric_add_to(METRIC_authentication_token_cache_fetch_total, e->failed ? "error" : "ok", 1);
    end_asking(e, e->access->options.token_ttl);
}

static void on_permit(void *context, const struct kube_response *r)
{
    struct entry *e = context;
    const struct access_options *o = &e->access->options;
    bool answered = r->status >= 200 && r->status < 300;
    struct review_answer said = {0};
    count_review(METRIC_apiserver_delegated_authz_request_total,
                 METRIC_apiserver_delegated_authz_request_duration_seconds, e, r);
    if (!answered || !review_access_read(r->body, &said, &e->memory))
        note_error(e, r);
    e->yes = said.allowed;
    e->denied = said.denied;
    e->reason = said.reason;
    end_asking(e, e->yes ? o->allowed_ttl : o->denied_ttl);
}

struct review {
    struct kube_client *client;
    const char *path;
    void (*done)(void *context, const struct kube_response *response);
    struct buffer body;
};

/* The answer that is known, or the wait for it; NULL when there are too many. */
static struct entry *look_up(struct access *a, struct map *entries, struct str key)
{
    struct entry *e = map_get(entries, key);
    if (e != NULL && !e->asking && moment_reached(a->now, e->until)) {
        map_remove(entries, key);
        entry_free(e);
        e = NULL;
    }
    if (e == NULL && map_count(entries) >= ENTRIES_MAX)
        forget(entries, a->now, false);
    return e;
}

static struct entry *ask(struct access *a, struct map *entries, struct str key,
                         const struct review *review)
{
    if (map_count(entries) >= ENTRIES_MAX)
        return NULL;
    struct entry *e = memory_take(sizeof(*e));
    e->access = a;
    e->asking = true;
    e->asked = a->now;
    e->client = review->client;
    e->request =
        kube_client_send(review->client, &(struct kube_request){.method = KUBE_POST,
                                                                .channel = KUBE_CHANNEL_write,
                                                                .path = str_of(review->path),
                                                                .content_type = "application/json",
                                                                .body = buffer_str(&review->body),
                                                                .timeout = span_of_ms(REVIEW_MS),
                                                                .context = e,
                                                                .done = review->done});
    map_set(entries, key, e);
    return e;
}

/* ---- who? ---- */

static const struct str authenticated_groups[] = {
    {"system:authenticated", sizeof("system:authenticated") - 1}};
static const struct str anonymous_groups[] = {
    {"system:unauthenticated", sizeof("system:unauthenticated") - 1}};

/* The cache of tokens as upstream counts it: what was remembered is a hit, what was asked a miss.
 */
static void count_token(struct access *a, const struct access_question *q)
{
    const char *status = q->wait->missed ? "miss" : "hit";
    metric_add_to(METRIC_authentication_token_cache_request_total, status, 1);
    series_observe(metric_series(METRIC_authentication_token_cache_request_duration_seconds,
                                 METRIC_VALUES(str_of(status))),
                   moment_since(a->now, q->wait->began).ns);
}

static enum access_verdict user_of_token(struct access *a, const struct access_question *q,
                                         struct review_user *user)
{
    if (a->options.authentication == NULL || q->token.len > TOKEN_MAX)
        return ACCESS_unknown;
    struct entry *e = look_up(a, a->tokens, q->token);
    if (e == NULL || e->asking)
        q->wait->missed = true;
    if (e == NULL) {
        struct review review = {a->options.authentication, REVIEW_TOKEN_PATH, on_token, {0}};
        review_token_body(q->token, &review.body);
        e = ask(a, a->tokens, q->token, &review);
        buffer_free(&review.body);
    }
    if (e != NULL && e->asking)
        return ACCESS_wait;
    if (q->wait->known.ns == 0)
        count_token(a, q);
    if (e == NULL || e->failed || !e->yes)
        return ACCESS_unknown;
    *user = e->user;
    return ACCESS_granted;
}

static bool may_speak(const struct access *a, struct str name)
{
    const struct strs *names = &a->config.proxy_names;
    for (uint32_t i = 0; i < names->count; i++)
        if (str_equal(names->at[i], name))
            return true;
    return names->count == 0;
}

/* granted, with the user; wait; or unknown. */
static enum access_verdict identify(struct access *a, const struct access_question *q,
                                    struct review_user *user)
{
    if (q->certificate == CERTIFICATE_proxy && q->spoken.name.len > 0 &&
        may_speak(a, q->subject.name)) {
        *user = q->spoken;
        return ACCESS_granted;
    }
    if (q->certificate == CERTIFICATE_client) {
        *user = q->subject;
        return ACCESS_granted;
    }
    if (q->token.len > 0)
        return user_of_token(a, q, user);
    if (q->certificate == CERTIFICATE_bad)
        return ACCESS_unknown;
    user->name = STR_LITERAL("system:anonymous");
    user->groups = (struct strs){1, (struct str *)anonymous_groups};
    return ACCESS_granted;
}

/* ---- may they? ---- */

static bool path_matches(struct str rule, const char *path)
{
    while (*path == '/')
        path++;
    while (rule.len > 0 && *rule.at == '/') {
        rule.at++;
        rule.len--;
    }
    if (rule.len > 0 && rule.at[rule.len - 1] == '*')
        return strncmp(path, rule.at, rule.len - 1) == 0;
    return strlen(path) == rule.len && strncmp(path, rule.at, rule.len) == 0;
}

static bool always_allowed(const struct access *a, const char *path)
{
    struct str rest = str_of(a->options.always_allowed), rule;
    while (str_split(&rest, ",", &rule))
        if (rule.len > 0 && path_matches(rule, path))
            return true;
    return false;
}

static bool in_group(const struct review_user *user, const char *group)
{
    for (uint32_t i = 0; i < user->groups.count; i++)
        if (str_is(user->groups.at[i], group))
            return true;
    return false;
}

static void key_of(const struct review_user *user, const char *verb, const char *path,
                   struct buffer *key)
{
    buffer_add_str(key, user->name);
    buffer_add(key, "", 1);
    buffer_add_str(key, user->uid);
    for (uint32_t i = 0; i < user->groups.count; i++) {
        buffer_add(key, "", 1);
        buffer_add_str(key, user->groups.at[i]);
    }
    for (uint32_t i = 0; i < user->extra.count; i++) {
        buffer_add(key, "\1", 1);
        buffer_add_str(key, user->extra.at[i]);
    }
    buffer_print(key, "\n%s\n%s", verb, path);
}

static void say_forbidden(const struct review_user *user, const char *verb, const char *path,
                          struct str reason, struct buffer *why)
{
    buffer_reset(why);
    buffer_print(why, "forbidden: User \"%.*s\" cannot %s path \"%s\"%s%.*s", STR_ARG(user->name),
                 verb, path, reason.len > 0 ? ": " : "", STR_ARG(reason));
}

struct review_question {
    const struct review_user *user;
    const char *verb, *path;
};

/* denied: the answer was a word against it. */
static enum access_verdict review_permit(struct access *a, const struct review_question *q,
                                         bool *denied, struct buffer *why)
{
    struct buffer key = {0};
    struct str none = {NULL, 0};
    key_of(q->user, q->verb, q->path, &key);
    struct entry *e = look_up(a, a->permits, buffer_str(&key));
    if (e == NULL && a->options.authorization != NULL) {
        struct review review = {a->options.authorization, REVIEW_ACCESS_PATH, on_permit, {0}};
        review_access_body(q->user, q->verb, str_of(q->path), &review.body);
        e = ask(a, a->permits, buffer_str(&key), &review);
        buffer_free(&review.body);
    }
    buffer_free(&key);
    if (e != NULL && e->asking)
        return ACCESS_wait;
    if (e != NULL && e->failed) {
        buffer_reset(why);
        buffer_print(why, "Internal Server Error: \"%s\": %s\n", q->path, e->error.at);
        return ACCESS_failed;
    }
    if (e != NULL && e->yes)
        return ACCESS_granted;
    *denied = e != NULL && e->denied;
    say_forbidden(q->user, q->verb, q->path, e != NULL ? e->reason : none, why);
    return ACCESS_refused;
}

/* Upstream's compressUsername: names are told in few words. */
static const char *short_name(struct str name)
{
    static const char *const known[] = {"admin", "client", "kube_proxy", "kubelet",
                                        "system:serviceaccount:kube-system:default"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (str_is(name, known[i]))
            return known[i];
    return str_find(name, '@') >= 0 ? "email_id" : "other";
}

static void count_duration(enum metric metric, const char *result, struct span took)
{
    series_observe(metric_series(metric, METRIC_VALUES(str_of(result))), took.ns);
}

static void count_who(struct access *a, enum access_verdict who, const struct review_user *user,
                      struct access_wait *wait)
{
    const char *result = who == ACCESS_granted ? "success" : "failure";
    if (wait->known.ns != 0)
        return; /* it has waited for the second question */
    wait->known = a->now;
    metric_add_to(METRIC_authentication_attempts, result, 1);
    count_duration(METRIC_authentication_duration_seconds, result,
                   moment_since(a->now, wait->began));
    if (who == ACCESS_granted)
        metric_add_to(METRIC_authenticated_user_requests, short_name(user->name), 1);
}

static void count_may(struct access *a, enum access_verdict may, bool denied,
                      const struct access_wait *wait)
{
    const char *result = may == ACCESS_granted  ? "allowed"
                         : may == ACCESS_failed ? "error"
                         : denied               ? "denied"
                                                : "no-opinion";
    metric_add_to(METRIC_authorization_attempts_total, result, 1);
    count_duration(METRIC_authorization_duration_seconds, result,
                   moment_since(a->now, wait->known));
}

static void verb_of(const char *method, char *verb, size_t room)
{
    size_t i = 0;
    for (; method[i] != 0 && i + 1 < room; i++)
        verb[i] = (char)tolower((unsigned char)method[i]);
    verb[i] = 0;
}

/* Whoever is known is among system:authenticated as well. */
static void add_group(struct review_user *user, struct arena *memory)
{
    if (in_group(user, "system:authenticated") || in_group(user, "system:unauthenticated"))
        return;
    struct strs all = {0, arena_take(memory, (user->groups.count + 1) * sizeof(struct str))};
    for (uint32_t i = 0; i < user->groups.count; i++)
        all.at[all.count++] = user->groups.at[i];
    all.at[all.count++] = authenticated_groups[0];
    user->groups = all;
}

enum access_verdict access_ask(struct access *a, struct moment now, const struct access_question *q,
                               struct buffer *why)
{
    struct review_user user = {0};
    struct arena memory = {0};
    struct access_wait none = {0};
    struct access_question timed = *q;
    char verb[16];
    bool denied = false;
    a->now = now;
    timed.wait = q->wait != NULL ? q->wait : &none;
    if (timed.wait->began.ns == 0)
        timed.wait->began = now;
    enum access_verdict who = identify(a, &timed, &user), may = who;
    verb_of(q->method, verb, sizeof(verb));
    if (who != ACCESS_wait)
        count_who(a, who, &user, timed.wait);
    if (who == ACCESS_granted) {
        add_group(&user, &memory);
        bool open = always_allowed(a, q->path) || in_group(&user, "system:masters");
        struct review_question review = {&user, verb, q->path};
        may = open ? ACCESS_granted : review_permit(a, &review, &denied, why);
        if (may != ACCESS_wait)
            count_may(a, may, denied, timed.wait);
    }
    arena_free(&memory);
    return may;
}

/* ---- the ConfigMap ---- */

static void on_config(void *context, const struct kube_response *r)
{
    struct access *a = context;
    struct arena memory = {0};
    struct review_config config;
    a->config_asked = false;
    a->config_at = moment_after(a->now, span_of_ms(r->status == 200 ? CONFIG_MS : CONFIG_SOON * 5));
    if (r->status != 200 || !review_config_read(r->body, &config, &memory)) {
        if (a->options.need_lookup && !a->config_read) {
            log_error("unable to load configmap based request-header-client-ca-file|status=%d "
                      "error=\"%s\"",
                      r->status, r->error);
            actor_fail();
        } else if (!a->config_warned)
            log_warn("cannot read kube-system/extension-apiserver-authentication: client "
                     "certificates are not believed|status=%d error=\"%s\"",
                     r->status, r->error);
        a->config_warned = true;
        arena_free(&memory);
        return;
    }
    a->config_read = true;
    if (a->options.proxy.proxy_ca.len > 0) {
        struct str client_ca = config.client_ca;
        config = a->options.proxy;
        config.client_ca = client_ca;
    }
    if (a->options.client_ca.len > 0)
        config.client_ca = a->options.client_ca;
    if (!str_equal(config.client_ca, a->config.client_ca) ||
        !str_equal(config.proxy_ca, a->config.proxy_ca))
        a->generation++;
    arena_free(&a->config_memory);
    a->config_memory = memory;
    a->config = config;
}

void access_measure(const struct access *a)
{
    size_t at = 0;
    int64_t asking = 0;
    void *value;
    while (map_next(a->tokens, &at, NULL, &value))
        asking += ((const struct entry *)value)->asking;
    metric_set_to(METRIC_authentication_token_cache_active_fetch_count, "in_flight", asking);
    metric_set_to(METRIC_authentication_token_cache_active_fetch_count, "blocked", asking);
}

struct moment access_tick(struct access *a, struct moment now)
{
    a->now = now;
    if (a->options.authentication == NULL || a->options.skip_lookup || a->config_asked)
        return MOMENT_NEVER;
    if (!moment_reached(now, a->config_at))
        return a->config_at;
    a->config_asked = true;
    kube_client_send(a->options.authentication,
                     &(struct kube_request){.method = KUBE_GET,
                                            .channel = KUBE_CHANNEL_write,
                                            .path = str_of(REVIEW_CONFIG_PATH),
                                            .timeout = span_of_ms(REVIEW_MS),
                                            .context = a,
                                            .done = on_config});
    return now; /* the client has to be looked after */
}

struct str access_client_ca(const struct access *a)
{
    return a->config.client_ca;
}

struct str access_proxy_ca(const struct access *a)
{
    return a->config.proxy_ca;
}

unsigned access_generation(const struct access *a)
{
    return a->generation;
}

const struct review_config *access_config(const struct access *a)
{
    return &a->config;
}
