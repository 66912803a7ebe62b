/* Watch streams: a position in the history of a shelf, and the bytes still to be sent from it. */
#ifndef APISERVER_WATCH_H
#define APISERVER_WATCH_H

#include "selection.h"
#include "server.h"
#include "table.h"

/* What the fault menu does to a stream. */
struct watch_fault {
    bool silent, closed, garbage;
};

struct watch_plan {
    struct selection *selection; /* taken */
    struct object_list initial;  /* taken; sent as ADDED before anything else */
    bool initial_end;            /* say when the initial objects are through */
    bool bookmarks;
    uint64_t version;    /* changes after this one are sent */
    int64_t deadline_ms; /* when the server ends the stream */
    cJSON *error;        /* taken; the only event of a stream that is refused */
};

/* Starts a stream for the request; the caller frees it. */
struct watcher *watcher_new(const struct request *request, struct watch_plan *plan);
void watcher_free(struct watcher *watcher);
/* wake(context) is called whenever a stream that had nothing to send may have something. */
void watcher_on_wake(struct watcher *watcher, void (*wake)(void *context), void *context);
/* Fills out with the next bytes: their number, 0 when there is nothing now, -1 at the end. */
int64_t watcher_fill(struct watcher *watcher, char *out, size_t room);
/* True when the stream fell behind the history and has to be cut off. */
bool watcher_is_lost(const struct watcher *watcher);
const struct user *watcher_user(const struct watcher *watcher);
const struct resource *watcher_resource(const struct watcher *watcher);
void watcher_set_fault(struct watcher *watcher, struct watch_fault fault);

/* A shelf has a new change. */
void watchers_wake(struct server *server, int shelf);
/* Calls visit for each stream. */
void watchers_each(struct server *server, void (*visit)(void *context, struct watcher *watcher),
                   void *context);
/* Once a second: wakes streams that have to end or to send a bookmark. */
void watchers_sweep(struct server *server, int64_t now_ms);

#endif
