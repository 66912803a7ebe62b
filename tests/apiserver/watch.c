/* Watch streams. A stream owns no queue: it is a number in its shelf's ring of changes.
 *
 * The one idea: an event is its type, the object's shared bytes and a closing brace, copied into
 * the connection's buffer when there is room; so memory does not grow with slow clients, and a
 * client that falls behind the ring is cut off. What must hold: with selectors, an object that
 * starts or stops matching is seen to be added or deleted. */
#include "watch.h"

#include "view.h"

#include <stdio.h>
#include <string.h>

/* As kube-apiserver: once a minute, and so long before the server ends the stream, which a shorter
 * one does not come to. */
enum { BOOKMARK_MS = 60000, BOOKMARK_BEFORE_END_MS = 2000, PARTS = 3 };

struct part {
    const char *at;
    size_t size;
};

struct watcher {
    struct watcher *next, **link;
    struct server *server;
    const struct user *user;
    int shelf;
    char *namespace;
    bool table;
    struct table_style style;
    struct watch_plan plan;
    size_t initial_at;
    uint64_t cursor;
    int64_t bookmark_ms;
    struct watch_fault fault;
    bool bookmark_due, ended;
    struct part parts[PARTS]; /* the event being sent */
    int part;
    size_t offset;
    struct blob *held; /* keeps the bytes of the parts */
    void (*wake)(void *context);
    void *context;
};

static int64_t next_bookmark(const struct watcher *w)
{
    int64_t now = clock_ms(), last = w->plan.deadline_ms - BOOKMARK_BEFORE_END_MS;
    return last > now && last < now + BOOKMARK_MS ? last : now + BOOKMARK_MS;
}

struct watcher *watcher_new(const struct request *request, struct watch_plan *plan)
{
    struct watcher *w = memory_take(sizeof *w);
    struct server *server = request->server;
    w->server = server;
    w->user = request->user;
    w->shelf = resource_shelf(request->resource);
    w->namespace = memory_string(request->namespace);
    w->style = table_style_of(request);
    w->table = table_wanted(request);
    w->plan = *plan;
    w->part = PARTS;
    w->bookmark_ms = next_bookmark(w);
    struct shelf *shelf = &server->registry.shelves[w->shelf];
    if (!registry_seek(shelf, plan->version, &w->cursor))
        w->cursor = shelf->next;
    w->next = server->watchers[w->shelf];
    w->link = &server->watchers[w->shelf];
    if (w->next != NULL)
        w->next->link = &w->next;
    *w->link = w;
    return w;
}

void watcher_free(struct watcher *w)
{
    *w->link = w->next;
    if (w->next != NULL)
        w->next->link = w->link;
    blob_drop(w->held);
    selection_free(w->plan.selection);
    object_list_free(&w->plan.initial);
    cJSON_Delete(w->plan.error);
    memory_free(w->namespace);
    memory_free(w);
}

void watcher_on_wake(struct watcher *w, void (*wake)(void *context), void *context)
{
    w->wake = wake;
    w->context = context;
}

/* ---- composing one event ---- */

/* Takes the blob. */
static void send_event(struct watcher *w, const char *type, struct blob *object)
{
    static const char ending[] = "}\n";
    w->held = object;
    w->parts[0] = (struct part){type, strlen(type)};
    w->parts[1] = (struct part){object->bytes, object->size};
    w->parts[2] = (struct part){ending, sizeof ending - 1};
    w->part = 0;
    w->offset = 0;
}

static void send_object(struct watcher *w, enum change_type type, struct object *object)
{
    static const char *const openings[] = {
        "{\"type\":\"ADDED\",\"object\":", "{\"type\":\"MODIFIED\",\"object\":",
        "{\"type\":\"DELETED\",\"object\":"};
    struct blob *blob;
    if (w->table)
        blob = table_render(&w->style, &object, 1, cJSON_CreateObject());
    else
        blob = blob_keep(view_json(w->style.resource, object));
    send_event(w, openings[type], blob);
}

static void send_bookmark(struct watcher *w, bool initial_end)
{
    char version[64];
    struct buffer json = {0};
    resource_api_version(w->style.resource, version);
    buffer_print(
        &json,
        "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":\"%llu\"%s}}",
        w->table ? "Table" : w->style.resource->kind, w->table ? "meta.k8s.io/v1" : version,
        (unsigned long long)w->server->registry.version,
        initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
    send_event(w, "{\"type\":\"BOOKMARK\",\"object\":", blob_new(json.at, json.len));
    buffer_free(&json);
    w->bookmark_ms = next_bookmark(w);
    w->bookmark_due = false;
}

static bool watches(const struct watcher *w, const struct object *object)
{
    return object != NULL && (*w->namespace == 0 || strcmp(w->namespace, object->namespace) == 0) &&
           selection_matches(w->plan.selection, object);
}

/* True when the change means something to this stream. */
static bool send_change(struct watcher *w, struct change *change)
{
    bool was = watches(w, change->before);
    bool is = change->type != CHANGE_DELETED && watches(w, change->now);
    if (is)
        send_object(w, was ? CHANGE_MODIFIED : CHANGE_ADDED, change->now);
    else if (was && change->type == CHANGE_DELETED)
        send_object(w, CHANGE_DELETED, change->now);
    else if (was)
        send_object(w, CHANGE_DELETED, change_gone(change));
    return is || was;
}

static bool send_initial(struct watcher *w)
{
    if (w->initial_at < w->plan.initial.count) {
        struct object **slot = &w->plan.initial.objects[w->initial_at++];
        send_object(w, CHANGE_ADDED, *slot);
        return true;
    }
    if (w->plan.initial.objects != NULL) {
        object_list_free(&w->plan.initial);
        w->initial_at = 0;
    }
    return false;
}

static bool send_history(struct watcher *w)
{
    struct shelf *shelf = &w->server->registry.shelves[w->shelf];
    while (w->cursor < shelf->next && w->cursor >= shelf->oldest) {
        if (send_change(w, registry_change(shelf, w->cursor++)))
            return true;
    }
    return false;
}

/* Since the upgrade its version of the API is not there any more. */
static bool is_outdated(const struct watcher *w)
{
    return (w->style.resource->flags & GATED) && w->server->registry.gated &&
           !registry_serves(&w->server->registry, w->style.resource);
}

/* Loads the next event; false when there is none now (or the stream ended). */
static bool load(struct watcher *w)
{
    if (w->plan.error != NULL) {
        send_event(w, "{\"type\":\"ERROR\",\"object\":", tree_print(w->plan.error));
        cJSON_Delete(w->plan.error);
        w->plan.error = NULL;
        w->ended = true;
        return true;
    }
    if (w->fault.garbage) {
        w->fault.garbage = false;
        send_event(w, "{\"type\":\"MODIFIED\",\"object\":{\"kind\"", blob_new(":,[", 3));
        return true;
    }
    if (w->ended || w->fault.closed || watcher_is_lost(w) || is_outdated(w)) {
        w->ended = true;
        return false;
    }
    if (send_initial(w))
        return true;
    if (w->plan.initial_end) {
        w->plan.initial_end = false;
        send_bookmark(w, true);
        return true;
    }
    if (send_history(w))
        return true;
    bool due = w->bookmark_due && w->plan.bookmarks;
    if (due)
        send_bookmark(w, false);
    else if (clock_ms() >= w->plan.deadline_ms)
        w->ended = true;
    return due;
}

int64_t watcher_fill(struct watcher *w, char *out, size_t room)
{
    size_t used = 0;
    if (w->fault.silent && !w->fault.closed && clock_ms() < w->plan.deadline_ms)
        return 0;
    while (used < room) {
        if (w->part == PARTS && !load(w))
            break;
        const struct part *part = &w->parts[w->part];
        size_t size = part->size - w->offset < room - used ? part->size - w->offset : room - used;
        memcpy(out + used, part->at + w->offset, size);
        used += size;
        w->offset += size;
        if (w->offset < part->size)
            continue;
        w->offset = 0;
        if (++w->part == PARTS) {
            blob_drop(w->held);
            w->held = NULL;
        }
    }
    return used == 0 && w->ended ? -1 : (int64_t)used;
}

bool watcher_is_lost(const struct watcher *w)
{
    return w->cursor < w->server->registry.shelves[w->shelf].oldest;
}

const struct user *watcher_user(const struct watcher *w)
{
    return w->user;
}

const struct resource *watcher_resource(const struct watcher *w)
{
    return w->style.resource;
}

void watcher_set_fault(struct watcher *w, struct watch_fault fault)
{
    w->fault = fault;
    if (w->wake != NULL)
        w->wake(w->context);
}

void watchers_wake(struct server *server, int shelf)
{
    for (struct watcher *w = server->watchers[shelf]; w != NULL; w = w->next) {
        if (w->wake != NULL && !w->fault.silent)
            w->wake(w->context);
    }
}

void watchers_each(struct server *server, void (*visit)(void *context, struct watcher *watcher),
                   void *context)
{
    for (int i = 0; i < RESOURCE_COUNT; i++) {
        for (struct watcher *w = server->watchers[i], *next; w != NULL; w = next) {
            next = w->next;
            visit(context, w);
        }
    }
}

static void sweep_one(void *context, struct watcher *w)
{
    int64_t now_ms = *(const int64_t *)context;
    bool ends = now_ms >= w->plan.deadline_ms || is_outdated(w);
    if (w->plan.bookmarks && now_ms >= w->bookmark_ms)
        w->bookmark_due = true;
    if ((w->bookmark_due || ends || watcher_is_lost(w)) && w->wake != NULL)
        w->wake(w->context);
}

void watchers_sweep(struct server *server, int64_t now_ms)
{
    watchers_each(server, sweep_one, &now_ms);
}
