/* feed: one slot a source, holding the client's number of its request. What must stay true: a
 * source has at most one request at the client, because a new one cancels the former. */
#include "watcher/feed.h"
#include "proto/base/memory.h"
#include "proto/kube/access/talk.h"

struct slot {
    struct feed *feed;
    size_t source;
    uint64_t number; /* the core's */
    uint64_t sent;   /* the client's; 0: none */
};

struct feed {
    struct watcher *watcher;
    struct talk *talk;
    struct moment now;
    struct slot *slots;
    size_t count;
};

struct feed *feed_new(struct watcher *watcher, struct kube_client *client)
{
    struct feed *feed = memory_take(sizeof(*feed));
    feed->watcher = watcher;
    feed->talk = talk_new(client);
    feed->count = watcher_sources(watcher);
    feed->slots = memory_take_array(feed->count, sizeof(*feed->slots));
    for (size_t i = 0; i < feed->count; i++)
        feed->slots[i] = (struct slot){.feed = feed, .source = i};
    return feed;
}

void feed_free(struct feed **feed)
{
    if (*feed == NULL)
        return;
    for (size_t i = 0; i < (*feed)->count; i++)
        talk_cancel((*feed)->talk, (*feed)->slots[i].sent);
    talk_free(&(*feed)->talk);
    memory_free((*feed)->slots);
    memory_free(*feed);
    *feed = NULL;
}

static void on_data(void *context, struct str piece)
{
    struct slot *slot = context;
    watcher_data(slot->feed->watcher, slot->feed->now, slot->source, slot->number, piece);
}

static void on_done(void *context, const struct kube_response *response)
{
    struct slot *slot = context;
    slot->sent = 0;
    watcher_response(slot->feed->watcher, slot->feed->now, slot->source, slot->number, response);
}

static void ask(struct slot *slot, const struct reflector_request *want)
{
    struct feed *feed = slot->feed;
    talk_cancel(feed->talk, slot->sent);
    if (want->distrust)
        talk_distrust(feed->talk, KUBE_CHANNEL_watch);
    slot->number = want->number;
    slot->sent = talk_send(feed->talk, &(struct kube_request){
                                           .method = KUBE_GET,
                                           .channel = KUBE_CHANNEL_watch,
                                           .path = want->path,
                                           .accept = want->accept,
                                           .timeout = want->timeout,
                                           .context = slot,
                                           .data = on_data,
                                           .done = on_done,
                                       });
}

void feed_work(struct feed *feed, struct moment now)
{
    feed->now = now;
    talk_work(feed->talk, now);
    for (size_t i = 0; i < feed->count; i++) {
        struct reflector_request want;
        if (watcher_next(feed->watcher, now, i, &want))
            ask(&feed->slots[i], &want);
    }
}

int feed_fd(const struct feed *feed)
{
    return talk_fd(feed->talk);
}

struct moment feed_deadline(const struct feed *feed, struct moment now)
{
    return talk_deadline(feed->talk, now);
}
