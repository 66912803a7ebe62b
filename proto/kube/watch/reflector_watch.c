/* reflector_watch: events of a watch as they come. What must stay true: the version moves only by
 * what was handed to the owner. */
#include "proto/kube/watch/reflector_inside.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/documents/protobuf.h"

#include <stdio.h>
#include <string.h>

#define QUICK_END_MS 1000 /* a watch that ends sooner, without an event, is a failure */

/* One that is to catch up is not tried twice. */
static enum phase after_failure(const struct reflector *r)
{
    return r->target != 0 ? WANT_list : WANT_watch;
}

static void error_event(struct reflector *r, struct moment now, const struct kube_json *status)
{
    int64_t code = 0;
    kube_json_i64(kube_json_get(status, "code"), &code);
    struct str message = kube_json_text(kube_json_get(status, "message"));
    char text[400];
    snprintf(text, sizeof(text), "the watch was ended by the server with %lld: %.*s",
             (long long)code, STR_ARG(message));
    if (code == 429 || code >= 500) {
        int64_t after = -1;
        if (!kube_json_i64(kube_json_path(status, "details.retryAfterSeconds"), &after))
            after = -1;
        reflector_say(r, now, text, false);
        reflector_fail(r, now, after_failure(r), after > 0 && after < INT32_MAX ? (int)after : -1);
    } else {
        reflector_list_again(r, now, text);
    }
}

/* False when the event is malformed. */
static bool take_event(struct reflector *r, struct moment now, const struct kube_json *event)
{
    struct str type = kube_json_text(kube_json_get(event, "type"));
    const struct kube_json *object = kube_json_get(event, "object");
    if (!kube_json_is_object(object))
        return false;
    if (str_is(type, "ERROR")) {
        error_event(r, now, object);
        return true;
    }
    int64_t version = reflector_version_of(object);
    if (version == 0)
        return false;
    if (str_is(type, "BOOKMARK"))
        r->bookmarks++;
    else if (str_is(type, "ADDED") || str_is(type, "MODIFIED"))
        r->o.object(r->o.context, object, false);
    else if (str_is(type, "DELETED"))
        r->o.deleted(r->o.context, object);
    else
        return false;
    if (!str_is(type, "BOOKMARK"))
        r->events++;
    if (str_is(type, "ADDED"))
        r->objects++;
    else if (str_is(type, "DELETED") && r->objects > 0)
        r->objects--;
    if (version > r->version)
        r->version = version;
    reflector_moved(r, now);
    return true;
}

void reflector_read_event(struct reflector *r, struct moment now, struct str text_or_frame)
{
    struct str error = STR_LITERAL("no type, object or resourceVersion");
    struct kube_json *event = r->form == FORM_frames
                                  ? kube_protobuf_parse_event(text_or_frame, &error, &r->arena)
                                  : reflector_parse(r, text_or_frame, &error);
    r->told = text_or_frame;
    bool good = event != NULL && take_event(r, now, event);
    r->told = (struct str){NULL, 0};
    if (!good) {
        r->malformed++;
        char text[300];
        snprintf(text, sizeof(text), "a watch event is malformed: %.*s", STR_ARG(error));
        if (r->form == FORM_frames)
            reflector_give_up_protobuf(r, text);
        reflector_say(r, now, text, false);
        reflector_list_again(r, now, text);
    } else if (r->phase == WATCHING) {
        backoff_reset(&r->backoff);
        backoff_reset(&r->again);
    }
    kube_json_free(&event);
    arena_reset(&r->arena);
}

/* True while there are events in the piece and the watch goes on. */
bool reflector_next_event(struct reflector *r, struct str *event, bool *too_long)
{
    if (r->phase != WATCHING)
        return false;
    if (r->form == FORM_frames) {
        enum frames_step step = frames_next(&r->frames, event);
        *too_long = step == FRAMES_too_long;
        return step == FRAMES_frame;
    }
    enum lines_step step = lines_next(&r->lines, event);
    *too_long = step == LINES_too_long;
    return step == LINES_line;
}

/* JSON begins with a bracket or a space; a frame of such a length would be too long. */
void reflector_watch_data(struct reflector *r, struct str piece)
{
    if (r->form == FORM_unknown && piece.len > 0) {
        bool frames =
            reflector_asks_protobuf(r) && (unsigned char)piece.at[0] <= EVENT_MAX_BYTES >> 24;
        r->form = frames ? FORM_frames : FORM_lines;
        r->protobuf = frames;
    }
    if (r->form == FORM_frames)
        frames_feed(&r->frames, piece);
    else
        lines_feed(&r->lines, piece);
}

void reflector_forget_stream(struct reflector *r)
{
    lines_reset(&r->lines);
    frames_reset(&r->frames);
    r->form = FORM_unknown;
}

/* A clean end resumes at once, unless the watch ended as soon as it began. */
static void watch_ended(struct reflector *r, struct moment now)
{
    if (r->target != 0) {
        /* A server that is stopped ends it sooner, which says nothing of the next one. */
        int64_t lasted_ms = span_ms(moment_since(now, r->opened));
        r->no_catch_up = lasted_ms + QUICK_END_MS >= (int64_t)r->watch_s * 1000;
        reflector_not_caught_up(r, now, "the watch ended before it told of the newest version");
        return;
    }
    bool empty = r->events + r->bookmarks == r->events_before;
    if (empty && moment_since(now, r->opened).ns < span_of_ms(QUICK_END_MS).ns) {
        reflector_say(r, now, "the watch ended as soon as it began", false);
        reflector_fail(r, now, WANT_watch, -1);
        return;
    }
    backoff_reset(&r->backoff);
    backoff_reset(&r->again);
    r->heard = now;
    reflector_go(r, WANT_watch, now);
}

void reflector_watch_response(struct reflector *r, struct moment now,
                              const struct kube_response *response)
{
    int status = response->status;
    if (status == 200 && response->error[0] == 0)
        watch_ended(r, now);
    else if (status == 410)
        reflector_list_again(r, now, "the watch's version is too old (410)");
    else if (status == 403 && r->target != 0)
        reflector_not_caught_up(r, now, "the watch was refused (403)");
    else if (status == 403)
        reflector_refused(r, now, WANT_watch, response);
    else if (status == 404) /* the kind may have been removed: only a list tells */
        reflector_refused(r, now, WANT_list, response);
    else if (status >= 400 && status < 500 && status != 401 && status != 429)
        reflector_failed(r, now, WANT_list, response);
    else
        reflector_failed(r, now, after_failure(r), response);
}
