/* delegates: a few sets of extenders, each with the client of the one that binds. The one idea: a
 * set lives as long as it is the newest or has binds under way, so that a bind ends with the
 * extender that it began with. What must stay true: a route that was given out leads to the same
 * client until it is released as often. */
#include "binder/delegates.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/journal/journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CONNECTIONS 32

struct way {
    bool used;
    struct extender_set set;
    struct kube_config *config;
    struct kube_client *client;
    struct talk *talk; /* to the one that binds; NULL: none does */
    uint32_t binds;    /* routes given out */
};

struct delegates {
    const char *path;
    struct way ways[DELEGATES_SETS_MAX];
    uint32_t newest;
    uint64_t changes;
    int epoll;
};

static void close_way(struct way *w)
{
    talk_free(&w->talk);
    kube_client_free(&w->client);
    kube_config_free(&w->config);
    extender_set_free(&w->set);
    *w = (struct way){0};
}

/* Reads the file; false with a line in error. */
static bool open_way(struct delegates *b, struct way *w, char *error, size_t room)
{
    const struct kube_client_options options = {.user_agent = "berth-binder",
                                                .connections_max = CONNECTIONS};
    const struct extender_config *binds = NULL;
    struct str why = {0};
    if (!extender_set_read(&w->set, b->path, &why)) {
        snprintf(error, room, "%.*s", STR_ARG(why));
        return false;
    }
    for (uint32_t i = 0; i < w->set.count; i++)
        if (w->set.at[i].bind_verb.len > 0)
            binds = &w->set.at[i];
    if (binds == NULL)
        return true;
    w->config = extender_way(binds, error, room);
    if (w->config != NULL && !journal_plays())
        w->client = kube_client_new(w->config, &options, error, room);
    if (!journal_number(w->client != NULL))
        return false;
    w->talk = talk_new(w->client);
    struct epoll_event event = {.events = EPOLLIN};
    int fd = talk_fd(w->talk);
    must(fd < 0 || epoll_ctl(b->epoll, EPOLL_CTL_ADD, fd, &event) == 0);
    return true;
}

struct delegates *delegates_new(const char *path, char *error, size_t room)
{
    struct delegates *b = memory_take(sizeof(*b));
    b->path = path;
    b->epoll = epoll_create1(EPOLL_CLOEXEC);
    must(b->epoll >= 0);
    b->ways[0].used = open_way(b, &b->ways[0], error, room);
    if (b->ways[0].used)
        return b;
    close_way(&b->ways[0]);
    delegates_free(&b);
    return NULL;
}

void delegates_free(struct delegates **delegates)
{
    struct delegates *b = *delegates;
    if (b == NULL)
        return;
    for (uint32_t i = 0; i < DELEGATES_SETS_MAX; i++)
        close_way(&b->ways[i]);
    close(b->epoll);
    memory_free(b);
    *delegates = NULL;
}

/* The file, if it is about other extenders than those that are known, becomes the newest. */
static void read_again(struct delegates *b)
{
    struct way fresh = {0};
    char error[1024];
    uint32_t free = 0;
    while (free < DELEGATES_SETS_MAX && b->ways[free].used)
        free++;
    if (!open_way(b, &fresh, error, sizeof(error))) {
        log_error("configuration refused, the former one stays| error=\"%s\"", error);
        close_way(&fresh);
        return;
    }
    if (fresh.set.hash == b->ways[b->newest].set.hash || free == DELEGATES_SETS_MAX) {
        close_way(&fresh);
        return;
    }
    b->ways[free] = fresh;
    b->ways[free].used = true;
    b->newest = free;
    b->changes++;
    log_info("extenders changed| extenders=%u hash=%016" PRIx64, fresh.set.count,
             (uint64_t)fresh.set.hash);
}

static const struct extender_config *find(struct delegates *b, const struct bind *bind,
                                          uint32_t *route)
{
    for (uint32_t i = 0; i < DELEGATES_SETS_MAX; i++) {
        struct way *w = &b->ways[i];
        bool meant = w->used && w->talk != NULL && (bind->extenders_hash != 0 || i == b->newest);
        const struct extender_config *e =
            meant ? extender_set_find(&w->set, &bind->extenders.at[0], bind->extenders_hash) : NULL;
        if (e == NULL || e->bind_verb.len == 0)
            continue;
        *route = i;
        w->binds++;
        return e;
    }
    return NULL;
}

const struct extender_config *delegates_find(struct delegates *b, const struct bind *bind,
                                             uint32_t *route)
{
    const struct extender_config *found = find(b, bind, route);
    if (found != NULL)
        return found;
    read_again(b);
    return find(b, bind, route);
}

void delegates_release(struct delegates *b, uint32_t route)
{
    struct way *w = &b->ways[route];
    must(route < DELEGATES_SETS_MAX && w->binds > 0);
    w->binds--; /* we may be in a callback of its client: it is closed with the next work */
}

struct talk *delegates_talk(struct delegates *b, uint32_t route)
{
    must(route < DELEGATES_SETS_MAX && b->ways[route].talk != NULL);
    return b->ways[route].talk;
}

int delegates_fd(const struct delegates *b)
{
    return b->epoll;
}

void delegates_work(struct delegates *b, struct moment now)
{
    for (uint32_t i = 0; i < DELEGATES_SETS_MAX; i++)
        if (b->ways[i].talk != NULL)
            talk_work(b->ways[i].talk, now);
    for (uint32_t i = 0; i < DELEGATES_SETS_MAX; i++)
        if (b->ways[i].used && b->ways[i].binds == 0 && i != b->newest)
            close_way(&b->ways[i]);
}

struct moment delegates_deadline(const struct delegates *b, struct moment now)
{
    struct moment next = MOMENT_NEVER;
    for (uint32_t i = 0; i < DELEGATES_SETS_MAX; i++)
        if (b->ways[i].talk != NULL)
            next = moment_earlier(next, talk_deadline(b->ways[i].talk, now));
    return next;
}

void delegates_status(const struct delegates *b, struct buffer *lines)
{
    buffer_print(lines, "extenders_hash=%016" PRIx64 "\nextenders_changed=%" PRIu64 "\n",
                 (uint64_t)b->ways[b->newest].set.hash, b->changes);
}
