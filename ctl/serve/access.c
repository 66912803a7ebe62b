/* access: two small caches in front of the API server, and the ConfigMap with the cluster's
 * authorities, read once a minute.
 *
 * What must stay true: nothing is granted but what the API server granted, the list of open paths
 * names, or a member of system:masters asks for; without an answer nothing is granted; and caches
 * and questions under way are bounded, whatever tokens and paths strangers bring. */
#include "ctl/serve/access.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/bus/actor.h"
#include "proto/metrics.h"

#include <ctype.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>

#define REVIEW_MS      10000
#define CONFIG_MS      60000
#define CONFIG_SOON    1000
#define TOKEN_MAX      65536
#define TURN_MS        3000 /* how long a caller waits for its turn to be asked about */
#define UNKNOWN_MS     2000 /* how long at most a token is remembered as nobody's */
#define LEAST_MS       500  /* how long at least: whoever it was asked for has to find it */
#define FAILURE_LOG_MS 5000
#define PATH_TOLD_MAX  256

/* An answer of the API server, or the wait for it. */
struct entry {
    struct recalled recalled; /* first: recall.h */
    struct access *access;
    bool failed, yes, denied; /* denied: said so, which is more than not allowed */
    bool known;               /* of the turn that was taken, as is origin */
    bool was_good;            /* before it was asked about again */
    struct origin origin;
    uint64_t request;
    struct kube_client *client;
    struct moment asked;
    struct review_user user; /* of a token */
    struct str reason;
    struct arena memory;
    struct buffer error;
};

struct access {
    struct access_options options;
    struct recall tokens, permits; /* of struct entry */
    struct turns turns;
    uint64_t answers, failures;
    struct moment failures_at; /* when they are logged next */
    struct review_config config;
    struct arena config_memory;
    struct moment config_at, now;
    bool config_asked, config_warned, config_read;
    unsigned generation;
};

static bool is_asking(const struct entry *e)
{
    return e->recalled.kind == RECALL_asking;
}

static void entry_free(struct recalled *r)
{
    struct entry *e = (struct entry *)r;
    if (is_asking(e)) {
        kube_client_cancel(e->client, e->request);
        turns_give(&e->access->turns, &e->origin, e->known);
    }
    arena_free(&e->memory);
    buffer_free(&e->error);
    memory_free(e);
}

struct access *access_new(const struct access_options *options)
{
    struct access *a = memory_take(sizeof(*a));
    a->options = *options;
    recall_init(&a->tokens, entry_free);
    recall_init(&a->permits, entry_free);
    a->config = options->proxy;
    a->config.client_ca = options->client_ca;
    return a;
}

void access_free(struct access **access)
{
    struct access *a = *access;
    if (a == NULL)
        return;
    recall_free(&a->tokens);
    recall_free(&a->permits);
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

/* Strangers could fill the log with them. */
static void log_failure(struct access *a, const char *error)
{
    a->failures++;
    if (!moment_reached(a->now, a->failures_at))
        return;
    log_warn("reviews failed|count=%llu error=\"%s\"", (unsigned long long)a->failures, error);
    a->failures = 0;
    a->failures_at = moment_after(a->now, span_of_ms(FAILURE_LOG_MS));
}

static void note_error(struct entry *e, const struct kube_response *r)
{
    e->failed = true;
    buffer_reset(&e->error);
    if (r->status == 0)
        buffer_add_text(&e->error, r->error);
    else
        buffer_print(&e->error, "the API server answered %d", r->status);
    log_failure(e->access, e->error.at);
}

/* What was known before is not any more, and the turn goes to the next. */
static void begin_answer(struct entry *e)
{
    struct access *a = e->access;
    turns_give(&a->turns, &e->origin, e->known);
    a->answers++;
    e->failed = e->yes = e->denied = false;
    e->user = (struct review_user){0};
    e->reason = (struct str){NULL, 0};
    arena_reset(&e->memory);
}

/* Without an answer it stays as good or as bad as it was, and is asked about again soon. */
static void end_answer(struct recall *c, struct entry *e, struct span ttl)
{
    int64_t ms = e->failed ? CONFIG_SOON : span_ms(ttl);
    recall_settle(c, &e->recalled, e->failed ? e->was_good : e->yes,
                  moment_after(e->access->now, span_of_ms(ms > LEAST_MS ? ms : LEAST_MS)));
}

static void on_token(void *context, const struct kube_response *r)
{
    struct entry *e = context;
    struct access *a = e->access;
    bool answered = r->status >= 200 && r->status < 300;
    struct span ttl = a->options.token_ttl;
    begin_answer(e);
    count_review(METRIC_apiserver_delegated_authn_request_total,
                 METRIC_apiserver_delegated_authn_request_duration_seconds, e, r);
    if (!answered || !review_token_read(r->body, &e->yes, &e->user, &e->memory))
        note_error(e, r);
    metric_add_to(METRIC_authentication_token_cache_fetch_total, e->failed ? "error" : "ok", 1);
    if (!e->yes && span_ms(ttl) > UNKNOWN_MS)
        ttl = span_of_ms(UNKNOWN_MS);
    end_answer(&a->tokens, e, ttl);
}

static void on_permit(void *context, const struct kube_response *r)
{
    struct entry *e = context;
    struct access *a = e->access;
    bool answered = r->status >= 200 && r->status < 300;
    struct review_answer said = {0};
    begin_answer(e);
    count_review(METRIC_apiserver_delegated_authz_request_total,
                 METRIC_apiserver_delegated_authz_request_duration_seconds, e, r);
    if (!answered || !review_access_read(r->body, &said, &e->memory))
        note_error(e, r);
    e->yes = said.allowed;
    e->denied = said.denied;
    e->reason = said.reason;
    end_answer(&a->permits, e, e->yes ? a->options.allowed_ttl : a->options.denied_ttl);
}

/* A question that may have to be put to the API server. */
struct review {
    struct kube_client *client;
    const char *path;
    void (*done)(void *context, const struct kube_response *response);
    void (*write)(const struct review *review, struct buffer *body);
    struct str token;               /* of a TokenReview */
    const struct review_user *user; /* the rest: of a SubjectAccessReview */
    const char *verb, *of_path;
    bool known; /* the API server knows who asks */
    unsigned char key[RECALL_KEY_SIZE];
};

static struct entry *entry_new(struct access *a, const struct review *review)
{
    struct entry *e = memory_take(sizeof(*e));
    e->access = a;
    memcpy(e->recalled.key, review->key, sizeof(review->key));
    return e;
}

/* With a turn of its own that was taken. */
static void send_review(struct recall *c, struct entry *e, const struct review *review)
{
    struct buffer body = {0};
    e->was_good = e->recalled.kind == RECALL_good;
    recall_ask(c, &e->recalled);
    e->asked = e->access->now;
    e->client = review->client;
    review->write(review, &body);
    e->request =
        kube_client_send(review->client, &(struct kube_request){.method = KUBE_POST,
                                                                .channel = KUBE_CHANNEL_write,
                                                                .path = str_of(review->path),
                                                                .content_type = "application/json",
                                                                .body = buffer_str(&body),
                                                                .timeout = span_of_ms(REVIEW_MS),
                                                                .context = e,
                                                                .done = review->done});
    buffer_free(&body);
}

/* No turn for it yet: it waits, but not for long. */
static enum access_verdict queue_up(struct access *a, struct access_wait *wait)
{
    if (wait->queued.ns == 0)
        wait->queued = a->now;
    bool over = moment_reached(a->now, moment_after(wait->queued, span_of_ms(TURN_MS)));
    return over ? ACCESS_busy : ACCESS_wait;
}

/* granted: there is an answer, *out, whatever it says; wait or busy. */
static enum access_verdict find_answer(struct access *a, struct recall *c,
                                       const struct review *review, const struct access_question *q,
                                       struct entry **out)
{
    struct entry *e = (struct entry *)recall_find(c, review->key, a->now);
    *out = e;
    if (e != NULL && is_asking(e))
        return ACCESS_wait;
    if (e != NULL && !moment_reached(a->now, e->recalled.until))
        return ACCESS_granted;
    bool known = review->known || e != NULL;
    if (!turns_take(&a->turns, &q->from, known))
        return queue_up(a, q->wait);
    q->wait->queued.ns = 0;
    *out = e = e != NULL ? e : entry_new(a, review);
    e->origin = q->from;
    e->known = known;
    send_review(c, e, review);
    return ACCESS_wait;
}

static void hash(const void *bytes, size_t len, unsigned char key[RECALL_KEY_SIZE])
{
    must(gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, len, key) >= 0);
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

static void write_token(const struct review *review, struct buffer *body)
{
    review_token_body(review->token, body);
}

static enum access_verdict user_of_token(struct access *a, const struct access_question *q,
                                         struct review_user *user)
{
    struct entry *e;
    struct review review = {.client = a->options.authentication,
                            .path = REVIEW_TOKEN_PATH,
                            .done = on_token,
                            .write = write_token,
                            .token = q->token};
    if (review.client == NULL || q->token.len > TOKEN_MAX)
        return ACCESS_unknown;
    if (!q->wait->token_hashed)
        hash(q->token.at, q->token.len, q->wait->token_key);
    q->wait->token_hashed = true;
    memcpy(review.key, q->wait->token_key, sizeof(review.key));
    enum access_verdict verdict = find_answer(a, &a->tokens, &review, q, &e);
    if (verdict != ACCESS_granted) {
        q->wait->missed = true;
        return verdict;
    }
    if (q->wait->known.ns == 0)
        count_token(a, q);
    if (e->failed || !e->yes)
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
    /* Without a name it says nothing, as upstream, whatever groups it has. */
    if (q->certificate == CERTIFICATE_client && q->subject.name.len > 0) {
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

/* How many bytes of a path are told: an answer is not to be long because the question was. */
static int told_of(const char *path)
{
    size_t len = strnlen(path, PATH_TOLD_MAX + 1);
    if (len > PATH_TOLD_MAX)
        for (len = PATH_TOLD_MAX; len > 0 && ((unsigned char)path[len] & 0xc0) == 0x80; len--)
            continue; /* not within a letter */
    return (int)len;
}

static void say_forbidden(const struct review_user *user, const char *verb, const char *path,
                          struct str reason, struct buffer *why)
{
    buffer_reset(why);
    buffer_print(why, "forbidden: User \"%.*s\" cannot %s path \"%.*s\"%s%.*s", STR_ARG(user->name),
                 verb, told_of(path), path, reason.len > 0 ? ": " : "", STR_ARG(reason));
}

static void write_permit(const struct review *review, struct buffer *body)
{
    review_access_body(review->user, review->verb, str_of(review->of_path), body);
}

static bool is_anonymous(const struct review_user *user)
{
    return user->groups.count == 1 && user->groups.at == anonymous_groups;
}

/* Whoever is anonymous stays so, and its path may be long: hashed once. */
static void permit_key(const struct access_question *q, struct review *review)
{
    struct buffer key = {0};
    bool anonymous = is_anonymous(review->user);
    if (!anonymous || !q->wait->anonymous_hashed) {
        key_of(review->user, review->verb, review->of_path, &key);
        hash(key.at, key.len, review->key);
        buffer_free(&key);
    } else {
        memcpy(review->key, q->wait->anonymous_key, sizeof(review->key));
    }
    if (anonymous)
        memcpy(q->wait->anonymous_key, review->key, sizeof(review->key));
    q->wait->anonymous_hashed = anonymous;
}

/* denied: the answer was a word against it. */
static enum access_verdict review_permit(struct access *a, const struct access_question *q,
                                         struct review *review, bool *denied, struct buffer *why)
{
    struct entry *e = NULL;
    struct str none = {NULL, 0};
    review->client = a->options.authorization;
    review->path = REVIEW_ACCESS_PATH;
    review->done = on_permit;
    review->write = write_permit;
    review->known = !is_anonymous(review->user);
    if (review->client != NULL) {
        permit_key(q, review);
        enum access_verdict verdict = find_answer(a, &a->permits, review, q, &e);
        if (verdict != ACCESS_granted)
            return verdict;
        if (e->failed) {
            buffer_reset(why);
            buffer_print(why, "Internal Server Error: \"%.*s\": %s\n", told_of(q->path), q->path,
                         e->error.at);
            return ACCESS_failed;
        }
        if (e->yes)
            return ACCESS_granted;
    }
    *denied = e != NULL && e->denied;
    say_forbidden(review->user, review->verb, q->path, e != NULL ? e->reason : none, why);
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
    if (strs_hold(user->groups, STR_LITERAL("system:authenticated")) ||
        strs_hold(user->groups, STR_LITERAL("system:unauthenticated")))
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
    if (who != ACCESS_wait && who != ACCESS_busy)
        count_who(a, who, &user, timed.wait);
    if (who == ACCESS_granted) {
        bool anonymous = is_anonymous(&user);
        add_group(&user, &memory);
        bool open =
            always_allowed(a, q->path) || strs_hold(user.groups, STR_LITERAL("system:masters"));
        struct review review = {.user = &user, .verb = verb, .of_path = q->path};
        may = open ? ACCESS_granted : review_permit(a, &timed, &review, &denied, why);
        if (may != ACCESS_wait && may != ACCESS_busy)
            count_may(a, may, denied, timed.wait);
        timed.wait->named = may == ACCESS_granted && !anonymous;
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

uint64_t access_answers(const struct access *a)
{
    return a->answers;
}

void access_measure(const struct access *a)
{
    int64_t asking = a->tokens.lists[RECALL_asking].count;
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
