/* talk: without a journal, the client alone. With one, each request has a number of ours and is
 * remembered until its end, so that an answer can be told by its number. What must stay true: an
 * answer is an entry before the core sees it, and a core that cancels a request from inside an
 * answer hears no more of it. */
#include "proto/kube/access/talk.h"

#include "proto/base/memory.h"
#include "proto/journal/journal.h"
#include "proto/kube/access/method.h"

#include <string.h>

struct pending {
    struct pending *next;
    struct talk *talk;
    uint64_t number, sent; /* ours, and the client's */
    void *context;
    void (*data)(void *context, struct str piece);
    void (*done)(void *context, const struct kube_response *response);
};

struct talk {
    struct kube_client *client;
    bool remembers; /* with a journal */
    struct pending *first;
    uint64_t numbers;
};

struct talk *talk_new(struct kube_client *client)
{
    struct talk *r = memory_take(sizeof(*r));
    r->client = client;
    r->remembers = journal_in_force() != NULL;
    return r;
}

void talk_free(struct talk **talk)
{
    struct talk *r = *talk;
    if (r == NULL)
        return;
    for (struct pending *p = r->first, *next; p != NULL; p = next) {
        next = p->next;
        memory_free(p);
    }
    memory_free(r);
    *talk = NULL;
}

/* Where the pointer to it stands. */
static struct pending **find(struct talk *r, uint64_t number)
{
    struct pending **at = &r->first;
    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

static void forget(struct pending **at)
{
    struct pending *p = *at;
    *at = p->next;
    memory_free(p);
}

/* ---- answers ---- */

static void tell(struct pending *p, const struct kube_response *response)
{
    struct pending told = *p;
    forget(find(p->talk, p->number));
    told.done(told.context, response);
}

static void on_data(void *context, struct str piece)
{
    struct pending *p = context;
    journal_take_down(
        &(struct journal_entry){.kind = JOURNAL_data, .number = (int64_t)p->number, .body = piece});
    p->data(p->context, piece);
}

/* What an answer consists of is taken down and told again as a whole. */
struct known_response {
    int status;
    struct str body;
    const char *error;
    bool maybe_done;
    int retry_after_s;
    bool silent;
    struct span took;
};
_Static_assert(sizeof(struct kube_response) == sizeof(struct known_response),
               "a field of an answer is not taken down");

static void on_done(void *context, const struct kube_response *r)
{
    struct pending *p = context;
    journal_take_down(&(struct journal_entry){.kind = JOURNAL_answer,
                                              .number = (int64_t)p->number,
                                              .status = r->status,
                                              .maybe_done = r->maybe_done,
                                              .retry_after_s = r->retry_after_s,
                                              .took_ns = r->took.ns,
                                              .silent = r->silent,
                                              .error = str_of(r->error),
                                              .body = r->body});
    tell(p, r);
}

static void tell_again(struct pending *p, const struct journal_entry *e)
{
    char *error = str_copy(e->error);
    struct kube_response response = {.status = (int)e->status,
                                     .body = e->body,
                                     .error = error,
                                     .maybe_done = e->maybe_done,
                                     .retry_after_s = (int)e->retry_after_s,
                                     .silent = e->silent,
                                     .took = {e->took_ns}};
    if (e->kind == JOURNAL_answer)
        tell(p, &response);
    else if (p->data != NULL)
        p->data(p->context, e->body);
    memory_free(error);
}

static void play(struct talk *r)
{
    for (const struct journal_entry *e; (e = journal_next_answer()) != NULL;) {
        struct pending *p = *find(r, (uint64_t)e->number);
        if (p == NULL)
            journal_differs("an answer comes to a request that was not made: %lld",
                            (long long)e->number);
        else
            tell_again(p, e);
    }
}

void talk_work(struct talk *r, struct moment now)
{
    if (r->client == NULL) {
        play(r);
        return;
    }
    kube_client_work(r->client, now);
    journal_take_down(&(struct journal_entry){.kind = JOURNAL_answered});
}

/* ---- requests ---- */

static void say(const struct pending *p, const struct kube_request *q)
{
    struct buffer name = {0};
    buffer_print(&name, "%s %.*s %s %s", kube_method_name(q->method), STR_ARG(q->path),
                 q->content_type != NULL ? q->content_type : "-",
                 q->accept != NULL ? q->accept : "-");
    journal_say(&(struct journal_entry){.kind = JOURNAL_request,
                                        .number = (int64_t)p->number,
                                        .type = q->channel,
                                        .peer = q->route,
                                        .took_ns = q->timeout.ns,
                                        .name = buffer_str(&name)},
                q->body);
    buffer_free(&name);
}

uint64_t talk_send(struct talk *r, const struct kube_request *request)
{
    if (!r->remembers)
        return kube_client_send(r->client, request);
    struct pending *p = memory_take(sizeof(*p));
    *p = (struct pending){.next = r->first,
                          .talk = r,
                          .number = ++r->numbers,
                          .context = request->context,
                          .data = request->data,
                          .done = request->done};
    r->first = p;
    say(p, request);
    struct kube_request ours = *request;
    ours.context = p;
    ours.data = request->data != NULL ? on_data : NULL;
    ours.done = on_done;
    if (r->client != NULL)
        p->sent = kube_client_send(r->client, &ours);
    return p->number;
}

void talk_cancel(struct talk *r, uint64_t number)
{
    struct pending **at = find(r, number);
    if (!r->remembers) {
        kube_client_cancel(r->client, number);
        return;
    }
    if (*at == NULL)
        return;
    journal_say(&(struct journal_entry){.kind = JOURNAL_cancel, .number = (int64_t)number},
                (struct str){0});
    if (r->client != NULL)
        kube_client_cancel(r->client, (*at)->sent);
    forget(at);
}

void talk_distrust(struct talk *r, enum kube_channel channel)
{
    if (r->client != NULL)
        kube_client_distrust(r->client, channel);
}

int talk_fd(const struct talk *r)
{
    return r->client != NULL ? kube_client_fd(r->client) : -1;
}

struct moment talk_deadline(const struct talk *r, struct moment now)
{
    return r->client != NULL ? kube_client_deadline(r->client, now) : MOMENT_NEVER;
}
