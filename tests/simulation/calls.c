/* calls: one struct for each request, from its being sent until it can have no effect any more. The
 * client's half ends with an answer, a time-out, a cancellation or the process; the server's half
 * with its being carried out. What must stay true: a request is carried out once at most, and not
 * later than one of its timeouts after it was sent. */
#include "tests/simulation/calls_inside.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/meddlers.h"
#include "tests/simulation/trace.h"

#include <stdio.h>
#include <string.h>

#define TIMEOUT_LEAST (30 * SECOND) /* of a request that has none, for who carries it out late */
#define BROKEN        2 /* of so many Bindings that are late one's connection breaks off at once */

enum fate {
    FATE_fine,
    FATE_refused,
    FATE_lost,
    FATE_unanswered,
    FATE_late,
    FATE_gone,
    FATE_rejected
};

static struct {
    struct weather weather;
    struct model *model;
    uint32_t open;
} all;

static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

struct weather *weather(void)
{
    return &all.weather;
}

uint32_t calls_open(void)
{
    return all.open;
}

struct calls *calls_new(struct proc *owner)
{
    struct calls *calls = memory_take(sizeof(*calls));
    calls->owner = owner;
    for (int i = 0; i < KUBE_CHANNEL_COUNT; i++)
        calls->connections[i] = 1;
    return calls;
}

struct kube_client *calls_client(struct calls *calls)
{
    return (struct kube_client *)calls;
}

static void free_if_done(struct call *c)
{
    if (c->open || c->calls != NULL)
        return;
    stream_forget(c);
    buffer_free(&c->text);
    memory_free(c->path);
    memory_free(c->body);
    memory_free(c);
}

/* Its sender does not listen any more. */
static void let_go(struct call *c)
{
    struct call **at = &c->calls->first;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->calls = NULL;
    stream_forget(c);
    free_if_done(c);
}

void calls_detach(struct calls *calls)
{
    while (calls->first != NULL)
        let_go(calls->first);
}

void calls_free(struct calls **calls)
{
    calls_detach(*calls);
    memory_free(*calls);
    *calls = NULL;
}

/* ---- the server's half ---- */

static bool is_list(const struct call *c)
{
    return c->method == KUBE_GET && strstr(c->path, "limit=") != NULL;
}

bool call_is_watch(const struct call *c)
{
    return strstr(c->path, "watch=true") != NULL;
}

static bool may_be_hurt(const struct call *c)
{
    return strcmp(c->path, "/version") != 0;
}

static void answer(struct call *c, int status, const char *text, int64_t at)
{
    c->answered = true;
    c->answer_at = at;
    c->response = (struct kube_response){
        .status = status, .error = "", .retry_after_s = -1, .maybe_done = status == 504};
    if (text != NULL)
        buffer_add_text(&c->text, text);
    if (c->calls != NULL)
        proc_wake(c->calls->owner, at);
}

static void no_answer(struct call *c, int64_t at, bool maybe_done)
{
    answer(c, 0, NULL, at);
    c->response.error = "connection to the API server failed";
    c->response.maybe_done = maybe_done;
}

static struct seen_call seen_of(const struct call *c)
{
    return (struct seen_call){.who = c->who,
                              .method = methods[c->method],
                              .path = c->path,
                              .body = c->body,
                              .group = c->group,
                              .timeout = c->timeout};
}

bool calls_meddle(void)
{
    return dice_percent(all.weather.meddled);
}

/* The server does it, now. */
static void carry_out(struct call *c)
{
    struct model_answer a;
    struct model_request r = {.method = methods[c->method],
                              .path = c->path,
                              .content_type = c->type,
                              .body = str_of(c->body ? c->body : ""),
                              .stream_owner = c};
    if (call_is_watch(c) && c->calls == NULL)
        return; /* nobody listens to it */
    model_ask(all.model, &r, &a);
    c->carried_out = true;
    if (c->method == KUBE_GET && a.code == 200 && calls_meddle())
        meddlers_saw(c->path);
    struct seen_call seen = seen_of(c);
    checks_after_call(&seen, a.code);
    c->response.retry_after_s = a.retry_after > 0 ? a.retry_after : -1;
    c->response.status = a.code;
    buffer_free(&c->text);
    c->text = a.body;
    if (a.stream != NULL)
        stream_begin(c, a.stream);
}

static int64_t way(void)
{
    return dice_spread(MS / 2, all.weather.usual, all.weather.most);
}

static void done_by_server(void *context, uint64_t fate)
{
    struct call *c = context;
    c->open = false;
    all.open--;
    checks_call_over(c->group, c->path, c->sent_at);
    if (fate == FATE_refused || fate == FATE_lost)
        checks_binding_lost(c->path);
    if (fate == FATE_refused) {
        static const int codes[] = {429, 500, 503, 504};
        static const char *const words[] = {"429", "500", "503", "504"};
        uint64_t which = dice(4);
        cover("api refuses with", words[which]);
        answer(c, codes[which], "{\"kind\":\"Status\",\"message\":\"refused by the weather\"}",
               clock_now() + way());
    } else if (fate == FATE_rejected) {
        checks_binding_denied(c->path);
        answer(c, 403,
               "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Forbidden\",\"message\":"
               "\"admission webhook denied the request\",\"code\":403}",
               clock_now() + way());
    } else if (fate == FATE_gone) {
        if (call_is_watch(c))
            stream_expire(c, model_version(all.model));
        answer(c, 410,
               "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"message\":"
               "\"too old resource version\",\"code\":410}",
               clock_now() + way());
    } else if (fate == FATE_lost) {
        no_answer(c, clock_now() + way(), c->method != KUBE_GET && dice(2) == 0);
    } else if (c->broken) {
        struct kube_response said = c->response;
        carry_out(c);
        c->response = said;
        buffer_free(&c->text);
    } else {
        carry_out(c);
        if (fate == FATE_unanswered) {
            no_answer(c, clock_now() + way(), true);
        } else {
            struct kube_response r = c->response;
            answer(c, r.status, NULL, clock_now() + way());
            c->response.retry_after_s = r.retry_after_s;
        }
    }
    free_if_done(c);
}

static enum fate fate_of(const struct call *c)
{
    static const char *const names[] = {"fine", "refused", "lost",    "unanswered",
                                        "late", "gone",    "rejected"};
    const struct weather *w = &all.weather;
    enum fate fate = FATE_fine;
    if (!may_be_hurt(c))
        return FATE_fine;
    if (call_is_watch(c) && stream_is_expired(c))
        return FATE_gone; /* whatever becomes of the weather */
    if (dice_percent(w->refused))
        fate = FATE_refused;
    else if (dice_percent(w->lost))
        fate = FATE_lost;
    else if (!call_is_watch(c) && dice_percent(w->unanswered))
        fate = FATE_unanswered;
    else if (c->method != KUBE_GET && dice_percent(w->late))
        fate = FATE_late;
    else if ((call_is_watch(c) || strstr(c->path, "continue=") != NULL) && dice_percent(w->gone))
        fate = FATE_gone;
    else if (strstr(c->path, "/binding") != NULL && dice_percent(w->rejected))
        fate = FATE_rejected;
    cover("request is", names[fate]);
    return fate;
}

static void cover_request(const struct call *c)
{
    const char *kind = strstr(c->path, "/binding")  ? "binding"
                       : strstr(c->path, "/leases") ? "lease"
                       : strstr(c->path, "/events") ? "event"
                       : strstr(c->path, "/status") ? "status"
                       : strstr(c->path, "/pods")   ? "pods"
                                                    : "other";
    char words[48];
    snprintf(words, sizeof(words), "%s %s", methods[c->method], call_is_watch(c) ? "watch" : kind);
    cover("request", words);
}

static void put_on_wire(struct call *c)
{
    const struct weather *w = &all.weather;
    c->sent = true;
    c->sent_at = clock_now();
    cover_request(c);
    struct seen_call seen = seen_of(c);
    checks_at_send(&seen);
    if (call_is_cut(c) || call_is_dead(c)) {
        checks_call_over(c->group, c->path, c->sent_at);
        checks_binding_lost(c->path);
        if (call_is_cut(c) && (c->timeout == 0 || dice(4) == 0))
            no_answer(c, clock_now() + way(), false);
        else
            c->swallowed = true;
        return;
    }
    enum fate fate = fate_of(c);
    int64_t at = clock_now() + way();
    if (fate == FATE_late)
        at = clock_now() + dice_between(0, c->timeout > 0 ? c->timeout : TIMEOUT_LEAST);
    if (is_list(c))
        at += dice_between(w->page / 2, w->page) +
              (dice(20) == 0 ? dice_between(0, w->page_most) : 0);
    c->broken = fate == FATE_late && strstr(c->path, "/binding") != NULL && dice(BROKEN) == 0;
    if (c->broken) {
        cover("request is", "late, and its connection has ended");
        no_answer(c, clock_now() + way(), true);
    }
    c->open = true;
    all.open++;
    clock_call(at, done_by_server, c, fate);
}

/* ---- kube_client ---- */

uint64_t kube_client_send(struct kube_client *client, const struct kube_request *request)
{
    struct calls *calls = (struct calls *)client;
    struct account *before = account_to(NULL); /* it may outlive its process */
    struct call *c = memory_take(sizeof(*c));
    c->calls = calls;
    c->number = ++calls->numbers;
    c->method = request->method;
    c->path = str_copy(request->path);
    c->body = request->body.len > 0 ? str_copy(request->body) : NULL;
    account_to(before);
    c->type = request->content_type;
    c->timeout = request->timeout.ns;
    c->channel = request->channel;
    c->connection = calls->connections[request->channel];
    c->context = request->context;
    c->data = request->data;
    c->done = request->done;
    c->group = calls->owner->group;
    snprintf(c->who, sizeof(c->who), "%s", calls->owner->name);
    struct call **at = &calls->first;
    while (*at != NULL)
        at = &(*at)->next;
    *at = c;
    return c->number;
}

void kube_client_cancel(struct kube_client *client, uint64_t number)
{
    struct calls *calls = (struct calls *)client;
    for (struct call *c = calls->first; c != NULL; c = c->next)
        if (c->number == number) {
            let_go(c);
            return;
        }
}

void kube_client_distrust(struct kube_client *client, enum kube_channel channel)
{
    ((struct calls *)client)->connections[channel]++;
    cover("request", "connection distrusted");
}

bool call_is_dead(const struct call *c)
{
    return c->calls != NULL && c->connection == c->calls->dead[c->channel];
}

bool call_is_cut(const struct call *c)
{
    const struct weather *w = weather();
    return w->cut[c->group] || (w->blind && c->calls != NULL && c->calls->owner->kind == WATCHER);
}

bool calls_hang(const struct calls *calls)
{
    const struct call *c = calls->first;
    while (c != NULL && !call_is_dead(c) && !c->swallowed)
        c = c->next;
    return c != NULL;
}

bool calls_cut_off(struct calls *calls, enum kube_channel channel)
{
    bool was = calls->dead[channel] == calls->connections[channel];
    calls->dead[channel] = calls->connections[channel];
    return !was;
}

struct kube_client_stats kube_client_stats(const struct kube_client *client)
{
    (void)client;
    return (struct kube_client_stats){0};
}

uint32_t kube_client_pending(const struct kube_client *client)
{
    uint32_t count = 0;
    for (struct call *c = ((const struct calls *)client)->first; c != NULL; c = c->next)
        count++;
    return count;
}

int kube_client_fd(const struct kube_client *client)
{
    (void)client;
    return -1;
}

struct call *call_of(const struct calls *calls, uint64_t number)
{
    struct call *c = calls->first;
    while (c != NULL && c->number != number)
        c = c->next;
    return c;
}

/* A good answer that is wanted in pieces: so it comes, some of it only when it breaks off. False
 * when the one who asked has cancelled it meanwhile. */
static bool tell_pieces(struct call *c, struct str text)
{
    struct calls *calls = c->calls;
    uint64_t number = c->number;
    uint32_t told = 0;
    c->data(c->context, (struct str){"", 0});
    while (told < text.len && call_of(calls, number) == c) {
        uint32_t size = (uint32_t)dice_between(1, (int64_t)text.len - told + 1);
        size = size > text.len - told ? text.len - told : size;
        c->data(c->context, (struct str){text.at + told, size});
        told += size;
    }
    return call_of(calls, number) == c;
}

void call_finish(struct call *c, const struct kube_response *response)
{
    void (*done)(void *, const struct kube_response *) = c->done;
    void *context = c->context;
    struct buffer text = c->text;
    struct kube_response told = *response;
    c->text = (struct buffer){0};
    bool whole = c->data == NULL || told.status != 200;
    if (whole && told.status != 0) {
        told.body = buffer_str(&text);
    } else if (c->data != NULL && !call_is_watch(c) && text.len > 0) {
        struct str body = buffer_str(&text);
        body.len = told.status == 0 ? (uint32_t)dice(body.len) : body.len;
        if (!tell_pieces(c, body)) {
            buffer_free(&text);
            return;
        }
    }
    told.took = (struct span){clock_now() - c->sent_at};
    let_go(c);
    done(context, &told);
    buffer_free(&text);
}

/* As the real client: for the first request that times out on a dead connection. */
static bool is_given_up(const struct call *c)
{
    return call_is_dead(c) && c->connection == c->calls->connections[c->channel];
}

/* True when it is over, and gone. */
static bool look_at(struct call *c, int64_t *next)
{
    int64_t now = clock_now();
    if (!c->sent)
        put_on_wire(c);
    bool silent = call_is_dead(c) && c->stream == NULL; /* a stream has more to say of that */
    if (c->answered && c->answer_at <= now && !silent) {
        if (c->stream != NULL && c->response.status == 200) {
            if (!stream_read(c))
                return true;
            if (c->watch.look < *next)
                *next = c->watch.look;
            return false;
        }
        call_finish(c, &c->response);
        return true;
    }
    if (c->timeout > 0 && now >= c->sent_at + c->timeout && c->stream == NULL) {
        struct kube_response timed_out = {.error = "timed out",
                                          .maybe_done = true,
                                          .retry_after_s = -1,
                                          .silent = is_given_up(c)};
        cover("request is", "timed out");
        if (timed_out.silent)
            kube_client_distrust((struct kube_client *)c->calls, c->channel); /* by itself */
        buffer_reset(&c->text);
        call_finish(c, &timed_out);
        return true;
    }
    if (c->answered && c->answer_at < *next && !silent)
        *next = c->answer_at;
    if (c->timeout > 0 && c->stream == NULL && c->sent_at + c->timeout < *next)
        *next = c->sent_at + c->timeout;
    return false;
}

void kube_client_work(struct kube_client *client, struct moment now)
{
    struct calls *calls = (struct calls *)client;
    int64_t next = INT64_MAX;
    uint64_t last = calls->numbers; /* what is sent from in here goes out with the next call */
    (void)now;
    for (struct call *c = calls->first; c != NULL;) {
        uint64_t number = c->number;
        if (number > last)
            break;
        if (look_at(c, &next)) { /* callbacks may have changed the list */
            for (c = calls->first; c != NULL && c->number <= number;)
                c = c->next;
            continue;
        }
        c = c->next;
    }
    if (next != INT64_MAX)
        proc_wake(calls->owner, next);
}

struct moment kube_client_deadline(const struct kube_client *client, struct moment now)
{
    const struct calls *calls = (const struct calls *)client;
    for (const struct call *c = calls->first; c != NULL; c = c->next)
        if (!c->sent)
            return now;
    return MOMENT_NEVER;
}

void calls_reset(struct model *model)
{
    meddlers_known();
    all.model = model;
    streams_reset();
    all.weather = (struct weather){.usual = 8 * MS, .most = 40 * MS};
}
