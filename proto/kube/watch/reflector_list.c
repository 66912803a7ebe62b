/* reflector_list: pages of a list as they come. What must stay true: a list that fails in the
 * middle is listed from the start, and what was handed to the owner is ended or begun again. */
#include "proto/kube/watch/reflector_inside.h"

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/documents/protobuf.h"

#include <stdio.h>
#include <string.h>

#define LONGER_STEP        4   /* times as many, where lists take too long for small pages */
#define LONGER_MAX         256 /* times as many at most */
#define GROW_AFTER         4   /* pages, after which twice as much is asked for again */
#define BACKWARDS_ACCEPTED 3

/* A list that is older than what we have seen: a server that lags behind, so try again; or a
 * cluster restored from a backup, so believe it in the end. */
static bool went_backwards(struct reflector *r, struct moment now)
{
    if (r->list_version >= r->version) {
        r->backwards = 0;
        return false;
    }
    char text[200];
    r->backwards++;
    snprintf(text, sizeof(text), "the list of %s is older (%lld) than what was seen (%lld)",
             r->o.name, (long long)r->list_version, (long long)r->version);
    reflector_say(r, now, text, false);
    if (r->backwards < BACKWARDS_ACCEPTED) {
        buffer_reset(&r->next_page);
        reflector_fail(r, now, WANT_list, -1);
        return true;
    }
    log_warn("taking the older list: the cluster's data went back in time|resource=%s", r->o.name);
    r->backwards = 0;
    return false;
}

static void list_ended(struct reflector *r, struct moment now)
{
    if (r->o.list_end != NULL)
        r->o.list_end(r->o.context);
    r->version = r->list_version;
    r->lists_ended = r->lists_begun;
    r->lists++;
    reflector_worked(
        r, now); /* not before: whoever does without goes on so until all pages have come */
    if (r->limit > r->o.page_size)
        r->limit = r->o.page_size;
    /* The backoff stays: a watch that fails after each list must not make a storm of lists. */
    if (r->relist)
        reflector_go(r, reflector_how_to_read(r), now);
    else
        reflector_go(r, WANT_watch, now);
}

/* What a page says of the list; false when the page is not wanted any more. */
static bool begin_page(struct reflector *r, struct moment now, const struct kube_json *page)
{
    if (r->page_begun)
        return true;
    r->page_begun = true;
    if (!r->first_page)
        return true;
    r->list_version = reflector_version_of(page);
    if (went_backwards(r, now))
        return false;
    r->objects = 0;
    if (r->o.list_begin != NULL)
        r->o.list_begin(r->o.context);
    return true;
}

static void end_page(struct reflector *r, struct moment now, const struct kube_json *page)
{
    r->heard = r->bytes_at = now;
    if (r->limit < r->o.page_size && ++r->limit_worked >= GROW_AFTER) {
        r->limit = r->limit > r->o.page_size / 2 ? r->o.page_size : r->limit * 2;
        r->limit_worked = 0;
    }
    struct str more = kube_json_text(kube_json_path(page, "metadata.continue"));
    buffer_reset(&r->next_page);
    buffer_add_str(&r->next_page, more);
    if (more.len > 0) {
        r->phase = WANT_list;
        r->not_before = now;
    } else {
        list_ended(r, now);
    }
}

/* A page that could not be had, or not be read, may be too large for somebody on its way. */
static void ask_for_less(struct reflector *r)
{
    r->limit_worked = 0;
    if (r->limit == 1)
        return;
    r->limit /= r->limit > r->o.page_size ? LONGER_STEP : 2;
    log_info("asking for shorter pages|resource=%s limit=%u", r->o.name, r->limit);
}

static void page_malformed(struct reflector *r, struct moment now, struct str error)
{
    char text[400];
    snprintf(text, sizeof(text), "the list of %s is malformed: %.*s", r->o.name, STR_ARG(error));
    r->malformed++;
    if (r->protobuf)
        reflector_give_up_protobuf(r, text);
    reflector_say(r, now, text, false);
    buffer_reset(&r->next_page);
    reflector_fail(r, now, WANT_list, -1);
}

static void page_too_long(struct reflector *r, struct moment now)
{
    char text[200];
    snprintf(text, sizeof(text), "the list of %s has an object of more than %zu MiB", r->o.name,
             OBJECT_MAX_BYTES >> 20);
    r->malformed++;
    ask_for_less(r); /* where the metadata comes last, it is the page that is too long */
    reflector_say(r, now, text, false);
    reflector_fail(r, now, WANT_list, -1);
}

/* The list without its items, or with them; NULL, and told, when it is none. */
static struct kube_json *parse_page(struct reflector *r, struct moment now, struct str body)
{
    struct str error = STR_LITERAL("metadata.resourceVersion or items is malformed");
    struct kube_json *page = reflector_parse(r, body, &error);
    const struct kube_json *items = kube_json_get(page, "items");
    if (page != NULL && reflector_version_of(page) != 0 &&
        (items == NULL || kube_json_is_array(items)))
        return page;
    kube_json_free(&page);
    page_malformed(r, now, error);
    return NULL;
}

static void take_head(struct reflector *r, struct moment now, struct str body)
{
    struct kube_json *page = parse_page(r, now, body);
    if (page != NULL)
        begin_page(r, now, page);
    kube_json_free(&page);
}

static void tell(struct reflector *r, const struct kube_json *object)
{
    r->objects++;
    r->o.object(r->o.context, object, true);
}

static void take_item(struct reflector *r, struct moment now, struct str text)
{
    struct str error = {0};
    struct kube_json *object =
        r->protobuf ? kube_protobuf_parse_item(str_of(r->o.kind), text, &error, &r->arena)
                    : reflector_parse(r, text, &error);
    r->told = text;
    if (object != NULL)
        tell(r, object);
    else
        page_malformed(r, now, error);
    r->told = (struct str){NULL, 0};
    kube_json_free(&object);
    arena_reset(&r->arena);
}

/* Objects are handed on as they come; what comes again, after a page that broke off, is known. */
void reflector_page_data(struct reflector *r, struct moment now, struct str piece)
{
    struct str text = {0};
    enum page_step step = PAGE_head;
    page_feed(&r->page, piece);
    r->page_came |= piece.len > 0;
    while (r->phase == LISTING && step != PAGE_more) {
        step = page_next(&r->page, &text);
        r->protobuf = r->page.form == PAGE_protobuf;
        if (step == PAGE_head)
            take_head(r, now, text);
        else if (step == PAGE_item)
            take_item(r, now, text);
        else if (step == PAGE_too_long)
            page_too_long(r, now);
        else if (step == PAGE_malformed)
            page_malformed(r, now, STR_LITERAL("it is no list"));
    }
    arena_reset(&r->arena);
    if (r->phase != LISTING)
        page_reset(&r->page);
}

static void page_ended(struct reflector *r, struct moment now)
{
    struct str body;
    if (!page_end(&r->page, &body)) {
        page_malformed(r, now, STR_LITERAL("it ends too early"));
        return;
    }
    struct kube_json *page = parse_page(r, now, body);
    const struct kube_json *items = kube_json_get(page, "items");
    bool wanted = page != NULL && begin_page(r, now, page);
    const struct kube_json *o = wanted ? kube_json_first(items) : NULL;
    for (; o != NULL; o = kube_json_next(o))
        tell(r, o);
    if (wanted)
        end_page(r, now, page);
    kube_json_free(&page);
    arena_reset(&r->arena);
    page_free(&r->page);
}

/* Whether less might have come through. */
static bool was_too_much(const struct reflector *r, const struct kube_response *response)
{
    int status = response->status;
    bool late = response->took.ns >= span_of_seconds(PAGE_TIMEOUT_S).ns;
    return r->page_came || late || status == 413 || status == 500 || status == 502 || status == 504;
}

/* The server forgot the list's version before its last page was read. With the same pages that
 * would go on for ever (upstream reads the next one without pages). */
static void list_expired(struct reflector *r, struct moment now)
{
    if (r->limit / LONGER_MAX < r->o.page_size)
        r->limit *= LONGER_STEP;
    reflector_list_again(r, now, "the list expired between two pages (410)");
}

void reflector_list_response(struct reflector *r, struct moment now,
                             const struct kube_response *response)
{
    bool good = response->status == 200 && response->error[0] == 0;
    r->asked_again &= response->status == 0; /* else the connection is well */
    if (good && response->body.len > 0)
        reflector_page_data(r, now, response->body);
    if (r->phase != LISTING)
        return; /* what came was wrong */
    if (good) {
        page_ended(r, now);
        return;
    }
    if (was_too_much(r, response))
        ask_for_less(r);
    if (response->status == 410)
        list_expired(r, now);
    else if (response->status == 403 || response->status == 404)
        reflector_refused(r, now, WANT_list, response);
    else
        reflector_failed(r, now, WANT_list, response);
}
