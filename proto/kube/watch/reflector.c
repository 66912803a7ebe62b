/* reflector: list, watch, resume, relist; the rules of when are those of client-go.
 *
 *   list page ──410──► list from the start       watch ──clean end──► watch from the version
 * reached │ last page                                 │ 410, unknown error, malformed line ──► list
 *      ▼                                           │ broken, 429, 5xx ──► wait, watch again
 *   watch                                          ▼ silent for stale_after ──► watch again, at
 * once, on a new connection
 * A kind that may be absent and is refused: the server's discovery tells whether it is served.
 *
 * Asked for all that is true by now, with many objects (reflector_catch_up.c):
 *   watch ──► the newest version ──► watch from the version reached ──► reached: it goes on
 *                │ anything else         │ ended, failed, 4 s ──► list
 *                ▼ list
 *
 * What must stay true: the version only moves by what was handed to the owner, so that nothing
 * between two watches is lost; and an answer to a request that was given up changes nothing. */
#include "proto/kube/watch/reflector.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/access/backoff.h"
#include "proto/kube/documents/protobuf.h"
#include "proto/kube/watch/frames.h"
#include "proto/kube/watch/lines.h"
#include "proto/kube/watch/page.h"
#include "proto/kube/watch/reflector_inside.h"

#include <stdio.h>
#include <string.h>

#define PAGE_SIZE      500
#define STALE_AFTER_S  90
#define WATCH_SECONDS  300 /* the server ends a watch after this and up to as much again */
#define BACK_JITTER_MS 200 /* when a server is back */

/* ---- life ---- */

struct reflector *reflector_new(const struct reflector_options *options)
{
    must(options->object != NULL && options->deleted != NULL);
    struct reflector *r = memory_take(sizeof(*r));
    r->o = *options;
    r->at = options->path;
    if (r->o.page_size == 0)
        r->o.page_size = PAGE_SIZE;
    if (r->o.stale_after.ns == 0)
        r->o.stale_after = span_of_seconds(STALE_AFTER_S);
    r->backoff.random.state = options->seed;
    r->again.random.state = ~options->seed;
    r->lines.max = r->frames.max = EVENT_MAX_BYTES;
    r->page.max = OBJECT_MAX_BYTES;
    r->limit = r->o.page_size;
    return r;
}

void reflector_free(struct reflector **r)
{
    if (*r == NULL)
        return;
    buffer_free(&(*r)->path);
    buffer_free(&(*r)->next_page);
    lines_free(&(*r)->lines);
    frames_free(&(*r)->frames);
    page_free(&(*r)->page);
    buffer_free(&(*r)->found);
    arena_free(&(*r)->arena);
    memory_free(*r);
    *r = NULL;
}

/* ---- requests ---- */

static void add_escaped(struct buffer *out, struct str text)
{
    for (uint32_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~", c) != NULL;
        if (plain && c != 0)
            buffer_add(out, &c, 1);
        else
            buffer_print(out, "%%%02X", c);
    }
}

static void add_selector(struct reflector *r)
{
    if (r->o.field_selector != NULL && r->o.field_selector[0] != 0) {
        buffer_add_text(&r->path, "&fieldSelector=");
        add_escaped(&r->path, str_of(r->o.field_selector));
    }
    if (r->o.label_selector != NULL) {
        buffer_add_text(&r->path, "&labelSelector=");
        add_escaped(&r->path, str_of(r->o.label_selector));
    }
}

static void ask_page(struct reflector *r, struct moment now)
{
    r->first_page = r->next_page.len == 0;
    if (r->first_page) {
        r->lists_begun++;
        r->relist = false;
        r->look_again = r->look_again && r->missed > 0; /* it was too late for the paths before */
        r->asked = now;
    }
    page_reset(&r->page);
    r->page_begun = r->page_came = false;
    r->whole = false;
    buffer_print(&r->path, "%s?limit=%u", r->at, r->limit);
    add_selector(r);
    if (!r->first_page) {
        buffer_add_text(&r->path, "&continue=");
        add_escaped(&r->path, buffer_str(&r->next_page));
    }
    r->phase = LISTING;
}

static void ask_watch(struct reflector *r, struct moment now)
{
    r->watch_s = r->target != 0
                     ? reflector_catch_up_s()
                     : WATCH_SECONDS + (unsigned)random_below(&r->backoff.random, WATCH_SECONDS);
    buffer_print(&r->path,
                 "%s?watch=true&allowWatchBookmarks=true&resourceVersion=%lld&timeoutSeconds=%u",
                 r->at, (long long)r->version, r->watch_s);
    add_selector(r);
    reflector_forget_stream(r);
    r->opened = r->bytes_at = now;
    r->events_before = r->events + r->bookmarks;
    r->watches++;
    r->phase = WATCHING;
}

/* The API server sends no bookmarks for a kind of which it has seen no change at all. That must not
 * be taken for a dead connection, unless the kind is required: then safe goes before quiet. */
static struct moment stale_at(const struct reflector *r)
{
    if (r->phase != WATCHING)
        return MOMENT_NEVER;
    bool nothing_yet = r->events + r->bookmarks == r->events_before;
    bool may_idle = nothing_yet && !r->o.required;
    struct moment from =
        may_idle ? moment_after(r->opened, span_of_seconds(r->watch_s)) : r->bytes_at;
    return moment_after(from, r->o.stale_after);
}

static const char *last_segment(const struct reflector *r)
{
    const char *slash = strrchr(r->at, '/');
    must(slash != NULL);
    return slash + 1;
}

/* What its API group serves in this version: everybody may ask that, mostly. */
static void ask_discovery(struct reflector *r)
{
    size_t size = (size_t)(last_segment(r) - r->at) - 1;
    buffer_add(&r->path, r->at, size);
    buffer_reset(&r->found);
    r->phase = DISCOVERING;
}

/* True when it is a watch. */
static bool ask(struct reflector *r, struct moment now)
{
    buffer_reset(&r->path);
    switch (r->phase) {
    case WANT_watch: ask_watch(r, now); return true;
    case WANT_discovery: ask_discovery(r); return false;
    case WANT_version:
        reflector_ask_version(r);
        add_selector(r);
        return false;
    default: ask_page(r, now); return false;
    }
}

static bool wants(const struct reflector *r)
{
    return r->phase == WANT_list || r->phase == WANT_watch || r->phase == WANT_discovery ||
           r->phase == WANT_version;
}

bool reflector_next(struct reflector *r, struct moment now, struct reflector_request *request)
{
    if (moment_reached(now, reflector_late_at(r))) {
        reflector_forget_stream(r);
        reflector_not_caught_up(r, now, "the watch is late");
    }
    if (moment_reached(now, stale_at(r))) {
        r->stale++;
        r->distrust = true;
        reflector_reconnect(r, now, "the watch is silent, its connection may be half-dead");
    }
    if (!wants(r) || !moment_reached(now, r->not_before))
        return false;
    bool watch = ask(r, now);
    bool binary = reflector_asks_protobuf(r) && (watch || r->phase == LISTING);
    *request = (struct reflector_request){.number = ++r->number,
                                          .watch = watch,
                                          .distrust = r->distrust,
                                          .path = buffer_str(&r->path),
                                          .accept = binary ? KUBE_ACCEPT_BOTH : KUBE_TYPE_JSON};
    if (!watch)
        request->timeout = span_of_seconds(PAGE_TIMEOUT_S);
    r->distrust = false;
    return true;
}

struct moment reflector_deadline(const struct reflector *r)
{
    if (wants(r))
        return r->not_before;
    return moment_earlier(stale_at(r), reflector_late_at(r));
}

/* ---- is a kind that may not be listed served? ---- */

/* Whether the body is such a list at all; and whether it has the kind. */
static bool read_discovery(const struct reflector *r, struct str body, bool *has_kind)
{
    struct arena arena = {0};
    bool found = false;
    struct kube_json *json = kube_json_parse(body, NULL, &arena);
    const struct kube_json *list = kube_json_get(json, "resources");
    for (const struct kube_json *i = kube_json_first(list); i != NULL; i = kube_json_next(i))
        found = found || str_is(kube_json_text(kube_json_get(i, "name")), last_segment(r));
    *has_kind = found;
    bool is_list = kube_json_is_array(list);
    kube_json_free(&json);
    arena_free(&arena);
    return is_list;
}

/* The error still says what was refused. */
static void discovery_response(struct reflector *r, struct moment now,
                               const struct kube_response *response)
{
    int status = response->status;
    bool good = status == 200 && response->error[0] == 0, has_kind = false;
    reflector_gather(r, response->body);
    bool answered = good && read_discovery(r, buffer_str(&r->found), &has_kind);
    buffer_free(&r->found);
    bool transient = status == 0 || status == 429 || status >= 500 || response->error[0] != 0;
    if (status == 404 || (answered && !has_kind)) {
        reflector_not_served(r, now);
    } else if (transient) {
        reflector_fail(r, now, WANT_discovery, response->retry_after_s);
    } else {
        r->served = answered;
        reflector_do_without(r, now, WANT_list);
    }
}

void reflector_data(struct reflector *r, struct moment now, uint64_t number, struct str piece)
{
    if (number == r->number && r->phase == LISTING)
        reflector_page_data(r, now, piece);
    else if (number == r->number && (r->phase == DISCOVERING || r->phase == ASKING_VERSION))
        reflector_gather(r, piece);
    if (number != r->number || r->phase != WATCHING)
        return;
    reflector_worked(r, now);
    struct str event;
    bool too_long = false;
    reflector_watch_data(r, piece);
    while (reflector_next_event(r, &event, &too_long))
        reflector_read_event(r, now, event);
    if (r->phase == WATCHING && too_long) {
        r->malformed++;
        reflector_say(r, now, "a watch event is longer than 64 MiB", false);
        reflector_list_again(r, now, r->error);
    }
    if (r->phase != WATCHING)
        reflector_forget_stream(r);
}

void reflector_response(struct reflector *r, struct moment now, uint64_t number,
                        const struct kube_response *response)
{
    if (number != r->number)
        return;
    if (r->unreachable && response->status != 0)
        backoff_reset(&r->backoff); /* it answers again: another story, even if it refuses */
    r->unreachable = response->status == 0;
    if (response->status == 406)
        reflector_give_up_protobuf(r, "the server does not answer in protobuf (406)");
    if (r->phase == LISTING)
        reflector_list_response(r, now, response);
    else if (r->phase == DISCOVERING)
        discovery_response(r, now, response);
    else if (r->phase == ASKING_VERSION)
        reflector_version_response(r, now, response);
    else if (r->phase == WATCHING)
        reflector_watch_response(r, now, response);
}

/* ---- asked from outside ---- */

static bool lists(const struct reflector *r)
{
    return r->phase == LISTING || (r->phase == WANT_list && r->next_page.len > 0) ||
           r->phase == WANT_discovery || r->phase == DISCOVERING;
}

/* A list that is under way may have begun too early for who asks. */
static uint64_t next_list(const struct reflector *r)
{
    return r->lists_begun + 1;
}

/* A watch, a catch-up, or one that waits: the list replaces it, and answers whoever waits for it.
 */
uint64_t reflector_relist(struct reflector *r)
{
    if (lists(r))
        r->relist = r->whole = true;
    else if (r->phase != WANT_list)
        reflector_go(r, WANT_list, wants(r) ? r->not_before : (struct moment){0});
    return next_list(r);
}

uint64_t reflector_catch_up(struct reflector *r)
{
    if (lists(r) || r->phase == ASKING_VERSION || r->target != 0)
        r->relist = true;
    else if (r->phase == WATCHING || r->phase == WANT_watch)
        reflector_go(r, reflector_how_to_read(r), wants(r) ? r->not_before : (struct moment){0});
    return next_list(r);
}

uint64_t reflector_lists_ended(const struct reflector *r)
{
    return r->lists_ended;
}

/* Once a page, or a version, or a watch that is to catch up: where the server itself is slow,
 * asking again would only make it slower. The phase in which it is asked again; the phase that it
 * is in: not at all. */
static enum phase asked_again(struct reflector *r)
{
    bool page = r->phase == LISTING && !r->page_came;
    bool version = r->phase == ASKING_VERSION && r->found.len == 0;
    bool watch = r->phase == WATCHING;
    if (watch && r->target == 0)
        return WANT_watch;
    if (r->asked_again && !watch)
        return r->phase;
    r->asked_again = !r->asked_again && (page || version || watch);
    if (watch && !r->asked_again)
        return WANT_list;
    return page ? WANT_list : version ? WANT_version : watch ? WANT_watch : r->phase;
}

void reflector_reconnect(struct reflector *r, struct moment now, const char *why)
{
    bool watched = r->phase == WATCHING;
    enum phase phase = asked_again(r);
    if (phase == r->phase)
        return;
    const char *does = watched ? "watching" : "listing";
    if (r->o.required)
        log_warn("%s again on a new connection: %s|resource=%s", does, why, r->o.name);
    else
        log_debug("%s again on a new connection: %s|resource=%s", does, why, r->o.name);
    r->failures++;
    if (watched)
        reflector_forget_stream(r);
    reflector_go(r, phase, now);
}

void reflector_alive(struct reflector *r, struct moment now)
{
    if (r->phase == WATCHING)
        r->heard = now;
    struct span soon = span_of_ms((int64_t)random_below(&r->backoff.random, BACK_JITTER_MS));
    if (wants(r) && r->unreachable)
        r->not_before = moment_earlier(r->not_before, moment_after(now, soon));
}

/* ---- status ---- */

static enum reflector_state state_of(const struct reflector *r)
{
    if (r->absent)
        return REFLECTOR_absent;
    if (r->degraded)
        return REFLECTOR_degraded;
    if (r->phase == WATCHING)
        return REFLECTOR_watching;
    bool waits = r->error[0] != 0 && r->phase != LISTING && r->phase != ASKING_VERSION;
    return waits ? REFLECTOR_waiting : REFLECTOR_listing;
}

struct reflector_status reflector_status(const struct reflector *r)
{
    return (struct reflector_status){.state = state_of(r),
                                     .listed = r->lists_ended > 0,
                                     .path = r->at,
                                     .served = r->degraded && r->served,
                                     .looking = r->absent && r->looking,
                                     .version = r->version,
                                     .heard = r->heard,
                                     .lists = r->lists,
                                     .catch_ups = r->catch_ups,
                                     .watches = r->watches,
                                     .events = r->events,
                                     .bookmarks = r->bookmarks,
                                     .failures = r->failures,
                                     .malformed = r->malformed,
                                     .stale = r->stale,
                                     .protobuf = r->protobuf,
                                     .error = r->error};
}

const char *reflector_state_name(enum reflector_state state)
{
    static const char *const names[] = {"listing", "watching", "waiting", "degraded", "absent"};
    return names[state];
}
