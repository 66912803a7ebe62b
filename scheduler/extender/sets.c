/* sets: one courier and one caller for the extenders that are known. The one idea: the scheduler
 * decides which extenders count, and who is asked about others reads the file until it has them.
 * What must stay true: no question is put to an extender of another configuration than the one that
 * it was asked with. */
#include "scheduler/extender/sets.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/extender/courier.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A question about extenders that are not known yet. */
struct held {
    struct held *next;
    struct arena arena;
    struct address from;
    struct message message;
    struct moment until;
};

struct sets {
    const char *path;
    struct kube_client *api;
    struct extender_set set; /* the ones that count */
    struct courier *courier;
    struct caller *caller;
    struct held *held; /* in the order in which they came */
    struct moment look;
    uint64_t changes;
    int epoll;
};

/* ---- the ones that count ---- */

/* Takes the set over; false when an extender in it cannot be reached by what it says. */
static bool use(struct sets *s, struct extender_set *set, char *error, size_t room)
{
    struct courier *courier = courier_new(set->at, set->count, s->api, error, room);
    if (courier == NULL)
        return false;
    caller_free(&s->caller); /* cancels its calls, so before who carries them */
    courier_free(&s->courier);
    extender_set_free(&s->set);
    s->set = *set;
    s->courier = courier;
    s->caller = caller_new(&(struct caller_options){.extenders = s->set.at,
                                                    .count = s->set.count,
                                                    .hash = s->set.hash,
                                                    .ports = courier_ports(courier)});
    courier_serve(courier, s->caller);
    struct epoll_event event = {.events = EPOLLIN};
    must(epoll_ctl(s->epoll, EPOLL_CTL_ADD, courier_fd(courier), &event) == 0);
    return true;
}

struct sets *sets_new(const char *path, struct kube_client *api, char *error, size_t room)
{
    struct sets *s = memory_take(sizeof(*s));
    struct extender_set set;
    struct str why = {0};
    s->path = path;
    s->api = api;
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    must(s->epoll >= 0);
    bool good = extender_set_read(&set, path, &why);
    if (!good)
        snprintf(error, room, "configuration refused: %.*s", STR_ARG(why));
    if (good && use(s, &set, error, room))
        return s;
    extender_set_free(&set);
    sets_free(&s);
    return NULL;
}

/* What is wrong with the file is logged, at most as often as it is read for a question. */
static void read_again(struct sets *s)
{
    struct extender_set set;
    struct str why = {0};
    char error[1024] = "";
    if (!extender_set_read(&set, s->path, &why))
        snprintf(error, sizeof(error), "%.*s", STR_ARG(why));
    else if (set.hash != s->set.hash && use(s, &set, error, sizeof(error))) {
        s->changes++;
        log_info("extenders changed| extenders=%u hash=%016" PRIx64, s->set.count,
                 (uint64_t)s->set.hash);
        return;
    }
    if (error[0] != 0)
        log_error("configuration refused, the former one stays| error=\"%s\"", error);
    extender_set_free(&set);
}

/* ---- questions ---- */

static bool is_known(const struct sets *s, const struct extend *ask)
{
    return ask->extenders_hash == 0 || ask->extenders_hash == s->set.hash;
}

static void hold(struct sets *s, struct moment now, const struct delivery *in)
{
    struct held *h = memory_take(sizeof(*h)), **last = &s->held;
    h->from = in->from;
    h->message.type = MSG_extend;
    h->until = moment_after(now, span_of_ms(SETS_WAIT_MS));
    codec_copy(message_info[MSG_extend].record, &h->message.extend, &in->message->extend,
               &h->arena);
    while (*last != NULL)
        last = &(*last)->next;
    *last = h;
}

static void drop(struct held **at)
{
    struct held *h = *at;
    *at = h->next;
    arena_free(&h->arena);
    memory_free(h);
}

/* Those that are known now, and those that have waited long enough to be refused. */
static void release(struct sets *s, struct moment now, struct outbox *out)
{
    for (struct held **at = &s->held; *at != NULL;) {
        struct held *h = *at;
        if (!is_known(s, &h->message.extend) && !moment_reached(now, h->until)) {
            at = &h->next;
            continue;
        }
        caller_handle(s->caller, now, &(struct delivery){.from = h->from, .message = &h->message},
                      out);
        drop(at);
    }
}

static void forget_peer(struct sets *s, struct address from)
{
    for (struct held **at = &s->held; *at != NULL;)
        if (same_address((*at)->from, from))
            drop(at);
        else
            at = &(*at)->next;
}

void sets_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    struct sets *s = state;
    bool asks = in->message->type == MSG_extend;
    if (in->message->type == MSG_peer_down)
        forget_peer(s, in->from);
    if (asks && !is_known(s, &in->message->extend) && moment_reached(now, s->look)) {
        s->look = moment_after(now, span_of_ms(SETS_LOOK_MS));
        read_again(s);
    }
    if (asks && !is_known(s, &in->message->extend))
        hold(s, now, in);
    else
        caller_handle(s->caller, now, in, out);
}

struct moment sets_tick(void *state, struct moment now, struct outbox *out)
{
    struct sets *s = state;
    if (s->held != NULL && moment_reached(now, s->look)) {
        s->look = moment_after(now, span_of_ms(SETS_LOOK_MS));
        read_again(s);
        release(s, now, out);
    }
    struct moment next = caller_tick(s->caller, now, out);
    next = moment_earlier(next, courier_deadline(s->courier, now));
    return s->held != NULL ? moment_earlier(next, s->look) : next;
}

void sets_work(void *state, struct moment now, struct outbox *out)
{
    (void)out;
    courier_work(((struct sets *)state)->courier, now);
}

void sets_status(void *state, struct buffer *lines)
{
    const struct sets *s = state;
    uint32_t held = 0;
    for (const struct held *h = s->held; h != NULL; h = h->next)
        held++;
    buffer_print(lines, "extenders_hash=%016" PRIx64 "\nextenders_changed=%" PRIu64 "\nheld=%u\n",
                 (uint64_t)s->set.hash, s->changes, held);
    caller_status(s->caller, lines);
    courier_status(s->courier, lines);
}

int sets_fd(const struct sets *s)
{
    return s->epoll;
}

void sets_free(struct sets **sets)
{
    struct sets *s = *sets;
    if (s == NULL)
        return;
    while (s->held != NULL)
        drop(&s->held);
    caller_free(&s->caller);
    courier_free(&s->courier);
    extender_set_free(&s->set);
    close(s->epoll);
    memory_free(s);
    *sets = NULL;
}
