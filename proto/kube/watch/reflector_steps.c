/* reflector_steps: what a reflector does next after each kind of answer, and what it says of it.
 * What must stay true: every way out names the next phase and when it may begin. */
#include "proto/kube/watch/reflector_inside.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/documents/protobuf.h"

#include <stdio.h>
#include <string.h>

#define LOOK_SPACING_MS 250   /* between two lists of what is not served, that are asked for */
#define SLOW_RETRY_MS   60000 /* when degraded */
#define ABSENT_RETRY_MS 25000 /* and up to a fifth more, when it is not served */
#define ABSENT_ACCEPTED 3
#define SEARCHES        2 /* of all paths, before it counts as not served once */

/* Said when it is new, and once a minute as long as it lasts. */
void reflector_say(struct reflector *r, struct moment now, const char *text, bool severe)
{
    bool same = strncmp(r->error, text, sizeof(r->error) - 1) == 0;
    bool again = moment_since(now, r->error_said).ns >= span_of_seconds(60).ns;
    snprintf(r->error, sizeof(r->error), "%s", text);
    if (same && !again)
        return;
    r->error_said = now;
    if (r->quiet)
        log_debug("%s|resource=%s", r->error, r->o.name);
    else if (severe)
        log_error("%s|resource=%s", r->error, r->o.name);
    else
        log_warn("%s|resource=%s", r->error, r->o.name);
}

void reflector_worked(struct reflector *r, struct moment now)
{
    if (r->error[0] != 0 && !r->quiet)
        log_info("works again|resource=%s", r->o.name);
    r->error[0] = 0;
    r->degraded = r->warned = r->served = false;
    r->absent = r->looking = r->look_again = false;
    r->missing = 0;
    r->missed = r->searches = 0;
    r->heard = r->bytes_at = now;
}

/* The message of a Status object, else the beginning of the body. */
static void say_status(struct str body, struct buffer *out)
{
    struct arena arena = {0};
    struct kube_json *json = kube_answer_parse(body, NULL, &arena);
    struct str message = kube_json_text(kube_json_get(json, "message"));
    if (message.len == 0 && !kube_protobuf_is(body))
        message = (struct str){body.at, body.len < 200 ? body.len : 200};
    if (message.len > 0)
        buffer_print(out, ": %.*s", STR_ARG(message));
    kube_json_free(&json);
    arena_free(&arena);
}

bool reflector_asks_protobuf(const struct reflector *r)
{
    return r->o.protobuf && !r->json_only;
}

/* Whatever is wrong with it: JSON is always there. */
void reflector_give_up_protobuf(struct reflector *r, const char *why)
{
    if (!reflector_asks_protobuf(r))
        return;
    r->json_only = true;
    log_warn("asking for JSON from now on: %s|resource=%s", why, r->o.name);
}

void reflector_go(struct reflector *r, enum phase phase, struct moment not_before)
{
    if (phase != WANT_watch)
        r->target = 0; /* a list is read instead, or the newest version anew */
    r->phase = phase;
    r->not_before = not_before;
}

/* The server may be another one, with other versions, when it answers again: what it did not serve
 * before tells nothing. */
static void search_anew(struct reflector *r)
{
    if (r->missed + r->searches > 0)
        r->at = r->o.path;
    r->missed = r->searches = 0;
}

/* A list that failed goes on with the same page when the server may just be in trouble. */
void reflector_fail(struct reflector *r, struct moment now, enum phase phase, int retry_after_s)
{
    r->failures++;
    search_anew(r);
    reflector_go(r, phase, moment_after(now, backoff_next(&r->backoff, retry_after_s)));
}

size_t reflector_path_count(const struct reflector *r)
{
    size_t count = 1;
    while (r->o.others != NULL && r->o.others[count - 1] != NULL)
        count++;
    return count;
}

const char *reflector_path(const struct reflector *r, size_t number)
{
    return number == 0 ? r->o.path : r->o.others[number - 1];
}

/* False when it was looked for at all of them, SEARCHES times where they are several: between two
 * of them the server may have become another one. Then the first is the next one again. */
static bool next_path(struct reflector *r, struct moment now)
{
    size_t count = reflector_path_count(r), number = 0;
    if (++r->missed == count) {
        r->missed = 0;
        r->at = r->o.path;
        if (count == 1 || ++r->searches == SEARCHES) {
            r->searches = 0;
            return false;
        }
    } else {
        while (reflector_path(r, number) != r->at)
            number++;
        r->at = reflector_path(r, (number + 1) % count);
    }
    reflector_go(r, WANT_list, now);
    return true;
}

/* What is not served has no objects. It may come later, such as a CustomResourceDefinition; and
 * what was served is believed to be gone the third time only. */
void reflector_not_served(struct reflector *r, struct moment now)
{
    bool was_there = r->lists_ended > 0 && !r->absent;
    buffer_reset(&r->next_page);
    if (next_path(r, now))
        return;
    if (was_there && ++r->missing < ABSENT_ACCEPTED) {
        char text[200];
        snprintf(text, sizeof(text), "%s are not served any more", r->o.name);
        reflector_say(r, now, text, false);
        reflector_fail(r, now, WANT_list, -1);
        return;
    }
    if (was_there) {
        r->o.list_begin(r->o.context);
        r->o.list_end(r->o.context);
    }
    if (!r->absent)
        log_info("not served, looked for again twice a minute|resource=%s", r->o.name);
    r->error[0] = 0;
    r->missing = 0;
    r->absent = true;
    r->degraded = r->warned = r->served = false;
    backoff_reset(&r->backoff);
    int64_t jitter_ms = (int64_t)random_below(&r->backoff.random, ABSENT_RETRY_MS / 5);
    reflector_go(r, WANT_list, moment_after(now, span_of_ms(jitter_ms + ABSENT_RETRY_MS)));
    r->looking = false;
    if (r->look_again)
        reflector_look(r, now);
}

/* Without it until the next try. The error says why. */
void reflector_do_without(struct reflector *r, struct moment now, enum phase phase)
{
    r->missed = r->searches = 0; /* it is there */
    if (!r->warned)
        log_warn("done without, tried again %s: %s|resource=%s",
                 r->o.may_be_absent ? "twice a minute" : "every minute", r->error, r->o.name);
    r->degraded = r->warned = true;
    r->absent = r->looking = r->look_again = false;
    r->failures++;
    int64_t jitter_ms = (int64_t)random_below(&r->backoff.random, 5000);
    int64_t wait_ms = r->o.may_be_absent ? ABSENT_RETRY_MS : SLOW_RETRY_MS;
    reflector_go(r, phase, moment_after(now, span_of_ms(jitter_ms + wait_ms)));
}

/* Not allowed (403) or not served (404): an optional kind is done without, with one warning. */
void reflector_refused(struct reflector *r, struct moment now, enum phase phase,
                       const struct kube_response *response)
{
    struct buffer text = {0};
    if (r->o.may_be_absent && response->status == 404 && phase == WANT_list) {
        reflector_not_served(r, now);
        return;
    }
    buffer_reset(&r->next_page);
    const char *verb = phase == WANT_list ? "list" : "watch";
    if (response->status == 403)
        buffer_print(&text, "not allowed to %s %s", verb, r->o.name);
    else
        buffer_print(&text, "%s are not served at %s", r->o.name, r->at);
    say_status(response->body, &text);
    if (r->o.required) {
        reflector_say(r, now, text.at, true);
        reflector_fail(r, now, phase, response->retry_after_s);
    } else {
        snprintf(r->error, sizeof(r->error), "%s", text.at);
        if (r->o.discover && response->status == 403)
            reflector_go(r, WANT_discovery, now);
        else
            reflector_do_without(r, now, phase);
    }
    buffer_free(&text);
}

void reflector_failed(struct reflector *r, struct moment now, enum phase phase,
                      const struct kube_response *response)
{
    struct buffer text = {0};
    /* a server that nobody can reach is told of by the kinds that must be there */
    r->quiet = !r->o.required && response->status == 0;
    buffer_print(&text, "cannot %s %s: ", r->phase == WATCHING ? "watch" : "list", r->o.name);
    if (response->error[0] != 0) {
        buffer_add_text(&text, response->error);
    } else {
        buffer_print(&text, "HTTP %d", response->status);
        say_status(response->body, &text);
    }
    reflector_say(r, now, text.at, false);
    buffer_free(&text);
    bool transient = response->status == 0 || response->status == 429 || response->status >= 500 ||
                     response->error[0] != 0;
    if (!transient)
        buffer_reset(&r->next_page);
    reflector_fail(r, now, phase, response->retry_after_s);
}

/* Something that only a list can mend. The first time at once, then with growing pauses. */
void reflector_list_again(struct reflector *r, struct moment now, const char *why)
{
    log_info("listing again: %s|resource=%s", why, r->o.name);
    buffer_reset(&r->next_page);
    r->failures++;
    struct span wait = backoff_next(&r->again, -1);
    reflector_go(r, WANT_list, r->again.failures == 1 ? now : moment_after(now, wait));
}

int64_t reflector_version_of(const struct kube_json *object)
{
    int64_t version = 0;
    struct str text = kube_json_text(kube_json_path(object, "metadata.resourceVersion"));
    return str_to_i64(text, &version) && version > 0 ? version : 0;
}

struct kube_json *reflector_parse(struct reflector *r, struct str text, struct str *error)
{
    if (r->o.managers)
        return kube_json_parse(text, error, &r->arena);
    return kube_answer_parse(text, error, &r->arena);
}

/* What began before somebody spoke of it may have been too early. */
void reflector_look(struct reflector *r, struct moment now)
{
    if (!r->absent) {
        r->look_again = r->lists_ended == 0; /* the first list is under way, and may say 404 */
        return;
    }
    r->looking = true;
    if (r->phase != WANT_list || r->missed > 0) {
        r->look_again = true;
        return;
    }
    struct moment soon = moment_after(r->asked, span_of_ms(LOOK_SPACING_MS));
    r->look_again = false;
    r->not_before = moment_earlier(r->not_before, soon.ns > now.ns ? soon : now);
}
