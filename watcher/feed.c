/* feed: one slot a source, holding the client's number of its request. What must stay true: a
 * source has at most one request at the client, because a new one cancels the former. */
#include "watcher/feed.h"
#include "proto/base/memory.h"

struct slot {
    struct feed *feed;
    size_t source;
    uint64_t number; /* the core's */
    uint64_t sent;   /* the client's; 0: none */
};

struct feed {
    struct watcher *watcher;
    struct kube_client *client;
    struct moment now;
    struct slot *slots;
    size_t count;
};

struct feed *feed_new(struct watcher *watcher, struct kube_client *client)
{
    struct feed *feed = memory_take(sizeof(*feed));
    feed->watcher = watcher;
    feed->client = client;
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
        kube_client_cancel((*feed)->client, (*feed)->slots[i].sent);
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
    kube_client_cancel(feed->client, slot->sent);
    if (want->distrust)
        kube_client_distrust(feed->client, KUBE_CHANNEL_watch);
    slot->number = want->number;
    slot->sent = kube_client_send(feed->client, &(struct kube_request){
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
    kube_client_work(feed->client, now);
    for (size_t i = 0; i < feed->count; i++) {
        struct reflector_request want;
        if (watcher_next(feed->watcher, now, i, &want))
            ask(&feed->slots[i], &want);
    }
}

int feed_fd(const struct feed *feed)
{
    return kube_client_fd(feed->client);
}

struct moment feed_deadline(const struct feed *feed, struct moment now)
{
    return kube_client_deadline(feed->client, now);
}
