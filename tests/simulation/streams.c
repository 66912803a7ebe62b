/* streams: watches that are open at the server. What must stay true: events come in their order,
 * each once; what does not come (a connection that is dead, a stream that somebody in between has
 * forgotten) is never made good by the end of other faults, its reader has to find out. */
#include "tests/simulation/calls_inside.h"

#include "tests/simulation/account.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK    65536
#define CUT_LOOK (200 * MS)

#define EXPIRED_MAX 40 /* kinds */

static struct {
    struct call *at[256];
    uint32_t count;
} open;

/* Watches of a kind from a version up to this one are answered 410, whoever asks. */
static struct expired {
    char path[120];
    uint64_t version;
} expired[EXPIRED_MAX];

void streams_reset(void)
{
    memset(expired, 0, sizeof(expired));
    open.count = 0;
}

void stream_begin(struct call *c, struct model_stream *stream)
{
    c->stream = stream;
    if (c->calls == NULL || open.count == sizeof(open.at) / sizeof(open.at[0])) {
        stream_forget(c);
        return;
    }
    open.at[open.count++] = c;
    c->watch.look = clock_now();
}

void stream_forget(struct call *c)
{
    if (c->stream == NULL)
        return;
    for (uint32_t i = 0; i < open.count; i++)
        if (open.at[i] == c)
            open.at[i] = open.at[--open.count];
    model_stream_free(c->stream);
    c->stream = NULL;
}

/* ---- versions that are told to be too old ---- */

static uint64_t version_of(const struct call *c)
{
    const char *at = strstr(c->path, "resourceVersion=");
    return at != NULL ? strtoull(at + strlen("resourceVersion="), NULL, 10) : 0;
}

static struct expired *expired_of(const struct call *c)
{
    size_t len = strcspn(c->path, "?");
    for (uint32_t i = 0; i < EXPIRED_MAX; i++) {
        struct expired *e = &expired[i];
        if (strncmp(e->path, c->path, len) == 0 && e->path[len] == 0)
            return e;
        if (e->path[0] == 0 && len < sizeof(e->path)) {
            snprintf(e->path, sizeof(e->path), "%.*s", (int)len, c->path);
            return e;
        }
    }
    return NULL;
}

void stream_expire(const struct call *c, uint64_t present)
{
    struct expired *e = expired_of(c);
    uint64_t version = version_of(c);
    if (e != NULL && version < present && version > e->version)
        e->version = version; /* a server that has the newest never says it is too old */
}

bool stream_is_expired(const struct call *c)
{
    const struct expired *e = expired_of(c);
    uint64_t version = version_of(c);
    return e != NULL && version > 0 && version <= e->version;
}

/* ---- reading ---- */

/* By the server's clock. */
/* Where a watch has to come up to a version it makes a difference how much of it comes together. */
static bool comes_in_parts(void)
{
    return world_traits()->catch_up && dice(3) == 0;
}

static int64_t read_some(struct call *c, char *chunk)
{
    size_t room = comes_in_parts() ? (size_t)dice_between(100, 3000) : CHUNK;
    struct proc *reader = proc_current();
    struct account *before = account_to(NULL);
    clock_at(NULL);
    int64_t got = c->watch.ends ? -1 : model_stream_read(c->stream, chunk, room);
    clock_at(reader != NULL ? reader->host : NULL);
    account_to(before);
    return got;
}

static bool is_silent(struct call *c)
{
    if (c->watch.deaf || call_is_dead(c))
        c->watch.look = INT64_MAX;
    else if (call_is_cut(c))
        c->watch.look = clock_now() + CUT_LOOK;
    else
        return false;
    return true;
}

/* As a network hands it on. False when its reader has ended it meanwhile. */
static bool tell_pieces(struct call *c, char *chunk, int64_t size)
{
    struct calls *calls = c->calls;
    uint64_t number = c->number;
    while (size > 0) {
        int64_t part = dice(8) == 0 ? dice_between(1, size + 1) : size;
        c->watch.heard = true;
        c->data(c->context, (struct str){chunk, (uint32_t)part});
        if (call_of(calls, number) != c)
            return false;
        chunk += part;
        size -= part;
    }
    return true;
}

static void end(struct call *c, const char *error)
{
    struct kube_response end = {.status = 200, .error = error, .retry_after_s = -1};
    call_finish(c, &end);
}

/* Without the end of what comes next. */
static bool tear(struct call *c, char *chunk, int64_t got)
{
    struct calls *calls = c->calls;
    uint64_t number = c->number;
    cover("watch", "torn");
    tell_pieces(c, chunk, dice_between(0, got));
    if (call_of(calls, number) == c)
        end(c, "connection reset");
    return false;
}

static bool tell_error(struct call *c)
{
    struct calls *calls = c->calls;
    uint64_t number = c->number;
    char text[200], name[8];
    snprintf(name, sizeof(name), "%d", c->watch.error);
    cover("watch ends with event", name);
    int size = snprintf(text, sizeof(text),
                        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
                        "\"status\":\"Failure\",\"message\":\"by the weather\",\"code\":%d}}\n",
                        c->watch.error);
    tell_pieces(c, text, size);
    if (call_of(calls, number) == c)
        end(c, "");
    return false;
}

bool stream_read(struct call *c)
{
    static char chunk[CHUNK];
    struct calls *calls = c->calls;
    uint64_t number = c->number;
    if (!c->watch.begun) {
        c->watch.begun = true;
        c->data(c->context, (struct str){"", 0});
        if (call_of(calls, number) != c)
            return false;
    }
    if (clock_now() < c->watch.look || is_silent(c))
        return true;
    if (c->watch.error != 0)
        return tell_error(c);
    c->watch.look = INT64_MAX;
    int64_t got = read_some(c, chunk);
    while (got > 0) {
        if (c->watch.torn)
            return tear(c, chunk, got);
        if (!tell_pieces(c, chunk, got))
            return false;
        if (comes_in_parts()) {
            c->watch.look = clock_now() + dice_spread(MS / 5, 5 * MS, 60 * MS);
            return true;
        }
        got = read_some(c, chunk);
    }
    if (got == 0)
        return true;
    end(c, c->watch.ends ? "connection reset" : "");
    return false;
}

/* ---- what is done to them ---- */

static void look_now(struct call *c)
{
    c->watch.look = clock_now();
    if (c->calls != NULL)
        proc_wake(c->calls->owner, clock_now());
}

void calls_woken(void *stream_owner)
{
    struct call *c = stream_owner;
    if (c->calls == NULL)
        return;
    int64_t at =
        clock_now() + dice_spread(MS / 5, 5 * MS, 60 * MS) + weather()->watch_lag[c->group];
    if (at < c->watch.look)
        c->watch.look = at;
    proc_wake(c->calls->owner, c->watch.look);
}

void calls_break_watches(int group, bool all_of_them)
{
    for (uint32_t i = 0; i < open.count; i++) {
        struct call *c = open.at[i];
        if (c->group != group || (!all_of_them && dice(3) > 0))
            continue;
        c->watch.ends = true;
        look_now(c);
    }
}

void calls_tear_watches(int group)
{
    for (uint32_t i = 0; i < open.count; i++)
        if (open.at[i]->group == group && dice(2) == 0)
            open.at[i]->watch.torn = true;
}

void calls_error_watches(int group, int code)
{
    for (uint32_t i = 0; i < open.count; i++) {
        struct call *c = open.at[i];
        if (c->group != group || dice(3) == 0)
            continue;
        c->watch.error = code;
        look_now(c);
    }
}

/* One that nothing came of may be silent for as long as it is to last: that is no sign then. */
bool calls_deafen_watch(int group, uint32_t which)
{
    for (uint32_t i = 0; i < open.count; i++) {
        struct call *c = open.at[(which + i) % open.count];
        if (c->group != group || !c->watch.heard || c->watch.deaf)
            continue;
        c->watch.deaf = true;
        trace(1, "forgotten: %.90s", c->path);
        return true;
    }
    return false;
}

bool calls_are_deaf(int group)
{
    for (uint32_t i = 0; i < open.count; i++)
        if (open.at[i]->group == group && (open.at[i]->watch.deaf || call_is_dead(open.at[i])))
            return true;
    return false;
}
