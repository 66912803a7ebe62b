/* reflector_catch_up: all that is true by now, without reading it again. The version of a list of
 * one object, which nobody is told of, is that of a quorum read made after the question; the watch
 * goes on from what was told, and has told everything as soon as it names that version or a later
 * one.
 *
 * What must stay true: nothing counts as reached that was not handed to the owner; and whatever
 * does not work is followed by the whole list. */
#include "proto/kube/watch/reflector_inside.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"

#include <stdio.h>
#include <string.h>

#define CATCH_UP_FROM 50000

/* Where nothing changes, a bookmark has to tell. kube-apiserver sends one 2 s before it ends a
 * watch, when a timer of 1 to 1.25 s looks next; a watch that has no more than 2 s gets none. So
 * one of 3 s has it after 1 to 2.25 s. */
#define CATCH_UP_S 3
#define LATE_S     1 /* after its end, which has not come */

enum phase reflector_how_to_read(const struct reflector *r)
{
    uint32_t from = r->o.catch_up_from > 0 ? r->o.catch_up_from : CATCH_UP_FROM;
    bool may = r->lists_ended > 0 && from != UINT32_MAX && !r->no_catch_up && !r->whole;
    return may && r->objects >= from ? WANT_version : WANT_list;
}

unsigned reflector_catch_up_s(void)
{
    return CATCH_UP_S;
}

/* The rest of the path is the caller's. */
void reflector_ask_version(struct reflector *r)
{
    r->lists_begun++;
    r->relist = false;
    buffer_print(&r->path, "%s?limit=1", r->at);
    buffer_reset(&r->found);
    r->phase = ASKING_VERSION;
}

void reflector_gather(struct reflector *r, struct str piece)
{
    if (piece.len <= OBJECT_MAX_BYTES - r->found.len)
        buffer_add_str(&r->found, piece);
}

/* 0: this is no list. */
static int64_t read_version(struct str body)
{
    struct arena arena = {0};
    struct kube_json *list = kube_json_parse(body, NULL, &arena);
    const struct kube_json *items = kube_json_get(list, "items");
    bool good = list != NULL && (items == NULL || kube_json_is_array(items));
    int64_t version = good ? reflector_version_of(list) : 0;
    kube_json_free(&list);
    arena_free(&arena);
    return version;
}

static void version_malformed(struct reflector *r, struct moment now)
{
    char text[200];
    snprintf(text, sizeof(text), "the list of one of the %s is malformed", r->o.name);
    r->malformed++;
    reflector_say(r, now, text, false);
    reflector_fail(r, now, WANT_list, -1);
}

/* All up to the version reached was told. An older target is a server that lags behind, or a
 * cluster that was restored: there are rules for lists of that kind. */
static void take_version(struct reflector *r, struct moment now, int64_t version)
{
    reflector_worked(r, now);
    if (version < r->version) {
        reflector_not_caught_up(r, now, "the newest version is older than what was seen");
        return;
    }
    r->target = version;
    reflector_go(r, WANT_watch, now);
    reflector_moved(r, now);
}

void reflector_version_response(struct reflector *r, struct moment now,
                                const struct kube_response *response)
{
    int status = response->status;
    bool good = status == 200 && response->error[0] == 0;
    r->asked_again &= status == 0; /* else the connection is well */
    reflector_gather(r, response->body);
    int64_t version = good ? read_version(buffer_str(&r->found)) : 0;
    buffer_free(&r->found);
    if (version > 0)
        take_version(r, now, version);
    else if (good)
        version_malformed(r, now);
    else if (status == 403 || status == 404)
        reflector_refused(r, now, WANT_list, response);
    else
        reflector_failed(r, now, WANT_list, response);
}

struct moment reflector_late_at(const struct reflector *r)
{
    if (r->phase != WATCHING || r->target == 0)
        return MOMENT_NEVER;
    return moment_after(r->opened, span_of_seconds(CATCH_UP_S + LATE_S));
}

void reflector_moved(struct reflector *r, struct moment now)
{
    if (r->target == 0 || r->version < r->target)
        return;
    log_info("caught up|resource=%s version=%lld", r->o.name, (long long)r->target);
    r->target = 0;
    r->asked_again = false;
    r->lists_ended = r->lists_begun;
    r->catch_ups++;
    if (r->relist)
        reflector_go(r, reflector_how_to_read(r), now);
}

/* At once, as the list was asked for; who asked waits. */
void reflector_not_caught_up(struct reflector *r, struct moment now, const char *why)
{
    log_info("listing, as there was no catching up: %s|resource=%s", why, r->o.name);
    reflector_go(r, WANT_list, now);
}
