/* reflector: list, watch, resume, relist; the rules of when are those of client-go.
 *
 *   list page ──410──► list from the start       watch ──clean end──► watch from the version
 * reached │ last page                                 │ 410, unknown error, malformed line ──► list
 *      ▼                                           │ broken, 429, 5xx ──► wait, watch again
 *   watch                                          ▼ silent for stale_after ──► watch again, at
 * once, on a new connection
 * A kind that may be absent and is refused: the server's discovery tells whether it is served.
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

#include <stdio.h>
#include <string.h>

#define PAGE_SIZE          500
#define LONGER_STEP        4   /* times as many, where lists take too long for small pages */
#define LONGER_MAX         256 /* times as many at most */
#define STALE_AFTER_S      90
#define EVENT_MAX_BYTES    ((size_t)64 << 20) /* so a frame's first byte is at most 4 */
#define OBJECT_MAX_BYTES   EVENT_MAX_BYTES    /* of a list */
#define GROW_AFTER         4 /* pages, after which twice as much is asked for again */
#define PAGE_TIMEOUT_S     60
#define WATCH_SECONDS      300   /* the server ends a watch after this and up to as much again */
#define SLOW_RETRY_MS      60000 /* when degraded */
#define ABSENT_RETRY_MS    25000 /* and up to a fifth more, when it is not served */
#define LOOK_SPACING_MS    250   /* between two lists of what is not served, that are asked for */
#define QUICK_END_MS       1000  /* a watch that ends sooner, without an event, is a failure */
#define BACK_JITTER_MS     200   /* when a server is back */
#define BACKWARDS_ACCEPTED 3
#define ABSENT_ACCEPTED    3

enum phase { WANT_list, LISTING, WANT_watch, WATCHING, WANT_discovery, DISCOVERING };
enum form { FORM_unknown, FORM_lines, FORM_frames }; /* of a watch's stream */

struct reflector {
    struct reflector_options o;
    struct moment not_before; /* of the next request; 0: at once */
    uint64_t number;          /* of the request under way or made last */
    struct buffer path, next_page;
    struct backoff backoff; /* requests that failed */
    struct backoff again;   /* watches that only a list could mend; not reset by the list, so that
                             * a watch that fails after each list makes no storm of lists */
    enum form form;
    struct lines lines;
    struct frames frames;
    struct page page;      /* the one under way */
    uint32_t limit;        /* objects that a page is asked for: fewer where pages fail, more where
                              lists expire */
    uint32_t limit_worked; /* pages in a row */
    bool page_begun;       /* list_begin was told, or the page is a later one */
    bool page_came;        /* some of it */
    struct buffer found;   /* what discovery has answered so far */
    struct arena arena;
    uint64_t lists_begun, lists_ended;
    int64_t list_version; /* of the list under way */
    int64_t version;      /* reached */
    struct moment opened, heard, bytes_at;
    unsigned watch_s;       /* after which the server ends this watch */
    uint64_t events_before; /* this watch */
    struct moment error_said;
    uint64_t watches, events, bookmarks, failures, malformed, stale;
    enum phase phase;
    uint32_t backwards;    /* lists in a row that were older than what we know */
    uint32_t missing;      /* lists in a row of what was served that are not any more (404) */
    bool distrust;         /* the next request's */
    bool unreachable;      /* the last request got no answer at all */
    bool relist;           /* a new list was asked for while one was under way */
    bool first_page;       /* the page under way is the first of its list */
    bool quiet;            /* what failed last is told by others, too */
    bool json_only;        /* protobuf was asked for and did not work */
    bool protobuf;         /* what came last */
    bool degraded, warned; /* done without; and the warning was given */
    bool absent;           /* not served, by the last list */
    bool served;           /* degraded, but there */
    bool looking;          /* absent, and somebody has spoken of it since */
    bool look_again;       /* has done so since the list under way began */
    struct moment asked;   /* when the last list was begun */
    char error[512];
};

/* ---- life ---- */

struct reflector *reflector_new(const struct reflector_options *options)
{
    must(options->object != NULL && options->deleted != NULL);
    struct reflector *r = memory_take(sizeof(*r));
    r->o = *options;
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

/* ---- what happened, in words ---- */

/* Said when it is new, and once a minute as long as it lasts. */
static void say(struct reflector *r, struct moment now, const char *text, bool severe)
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

static void worked(struct reflector *r, struct moment now)
{
    if (r->error[0] != 0 && !r->quiet)
        log_info("works again|resource=%s", r->o.name);
    r->error[0] = 0;
    r->degraded = r->warned = r->served = false;
    r->absent = r->looking = r->look_again = false;
    r->missing = 0;
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

/* ---- protobuf ---- */

static bool asks_protobuf(const struct reflector *r)
{
    return r->o.protobuf && !r->json_only;
}

/* Whatever is wrong with it: JSON is always there. */
static void give_up_protobuf(struct reflector *r, const char *why)
{
    if (!asks_protobuf(r))
        return;
    r->json_only = true;
    log_warn("asking for JSON from now on: %s|resource=%s", why, r->o.name);
}

/* ---- what comes next ---- */

static void go(struct reflector *r, enum phase phase, struct moment not_before)
{
    r->phase = phase;
    r->not_before = not_before;
}

/* A list that failed goes on with the same page when the server may just be in trouble. */
static void fail(struct reflector *r, struct moment now, enum phase phase, int retry_after_s)
{
    r->failures++;
    go(r, phase, moment_after(now, backoff_next(&r->backoff, retry_after_s)));
}

/* What is not served has no objects. It may come later, such as a CustomResourceDefinition; and
 * what was served is believed to be gone the third time only. */
static void not_served(struct reflector *r, struct moment now)
{
    bool was_there = r->lists_ended > 0 && !r->absent;
    buffer_reset(&r->next_page);
    if (was_there && ++r->missing < ABSENT_ACCEPTED) {
        char text[200];
        snprintf(text, sizeof(text), "%s are not served any more", r->o.name);
        say(r, now, text, false);
        fail(r, now, WANT_list, -1);
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
    go(r, WANT_list, moment_after(now, span_of_ms(jitter_ms + ABSENT_RETRY_MS)));
    r->looking = false;
    if (r->look_again)
        reflector_look(r, now);
}

/* Without it until the next try. The error says why. */
static void do_without(struct reflector *r, struct moment now, enum phase phase)
{
    if (!r->warned)
        log_warn("done without, tried again %s: %s|resource=%s",
                 r->o.may_be_absent ? "twice a minute" : "every minute", r->error, r->o.name);
    r->degraded = r->warned = true;
    r->absent = r->looking = r->look_again = false;
    r->failures++;
    int64_t jitter_ms = (int64_t)random_below(&r->backoff.random, 5000);
    int64_t wait_ms = r->o.may_be_absent ? ABSENT_RETRY_MS : SLOW_RETRY_MS;
    go(r, phase, moment_after(now, span_of_ms(jitter_ms + wait_ms)));
}

/* Not allowed (403) or not served (404): an optional kind is done without, with one warning. */
static void refused(struct reflector *r, struct moment now, enum phase phase,
                    const struct kube_response *response)
{
    struct buffer text = {0};
    if (r->o.may_be_absent && response->status == 404 && phase == WANT_list) {
        not_served(r, now);
        return;
    }
    buffer_reset(&r->next_page);
    const char *verb = phase == WANT_list ? "list" : "watch";
    if (response->status == 403)
        buffer_print(&text, "not allowed to %s %s", verb, r->o.name);
    else
        buffer_print(&text, "%s are not served at %s", r->o.name, r->o.path);
    say_status(response->body, &text);
    if (r->o.required) {
        say(r, now, text.at, true);
        fail(r, now, phase, response->retry_after_s);
    } else {
        snprintf(r->error, sizeof(r->error), "%s", text.at);
        if (r->o.discover && response->status == 403)
            go(r, WANT_discovery, now);
        else
            do_without(r, now, phase);
    }
    buffer_free(&text);
}

static void failed(struct reflector *r, struct moment now, enum phase phase,
                   const struct kube_response *response)
{
    struct buffer text = {0};
    /* a server that nobody can reach is told of by the kinds that must be there */
    r->quiet = !r->o.required && response->status == 0;
    buffer_print(&text, "cannot %s %s: ", phase == WANT_list ? "list" : "watch", r->o.name);
    if (response->error[0] != 0) {
        buffer_add_text(&text, response->error);
    } else {
        buffer_print(&text, "HTTP %d", response->status);
        say_status(response->body, &text);
    }
    say(r, now, text.at, false);
    buffer_free(&text);
    bool transient = response->status == 0 || response->status == 429 || response->status >= 500 ||
                     response->error[0] != 0;
    if (!transient)
        buffer_reset(&r->next_page);
    fail(r, now, phase, response->retry_after_s);
}

/* Something that only a list can mend. The first time at once, then with growing pauses. */
static void list_again(struct reflector *r, struct moment now, const char *why)
{
    log_info("listing again: %s|resource=%s", why, r->o.name);
    buffer_reset(&r->next_page);
    r->failures++;
    struct span wait = backoff_next(&r->again, -1);
    go(r, WANT_list, r->again.failures == 1 ? now : moment_after(now, wait));
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
        r->relist = r->look_again = false;
        r->asked = now;
    }
    page_reset(&r->page);
    r->page_begun = r->page_came = false;
    buffer_print(&r->path, "%s?limit=%u", r->o.path, r->limit);
    add_selector(r);
    if (!r->first_page) {
        buffer_add_text(&r->path, "&continue=");
        add_escaped(&r->path, buffer_str(&r->next_page));
    }
    r->phase = LISTING;
}

static void forget_stream(struct reflector *r)
{
    lines_reset(&r->lines);
    frames_reset(&r->frames);
    r->form = FORM_unknown;
}

static void ask_watch(struct reflector *r, struct moment now)
{
    r->watch_s = WATCH_SECONDS + (unsigned)random_below(&r->backoff.random, WATCH_SECONDS);
    buffer_print(&r->path,
                 "%s?watch=true&allowWatchBookmarks=true&resourceVersion=%lld&timeoutSeconds=%u",
                 r->o.path, (long long)r->version, r->watch_s);
    add_selector(r);
    forget_stream(r);
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
    const char *slash = strrchr(r->o.path, '/');
    must(slash != NULL);
    return slash + 1;
}

/* What its API group serves in this version: everybody may ask that, mostly. */
static void ask_discovery(struct reflector *r)
{
    size_t size = (size_t)(last_segment(r) - r->o.path) - 1;
    buffer_add(&r->path, r->o.path, size);
    buffer_reset(&r->found);
    r->phase = DISCOVERING;
}

bool reflector_next(struct reflector *r, struct moment now, struct reflector_request *request)
{
    if (moment_reached(now, stale_at(r))) {
        r->stale++;
        r->distrust = true;
        reflector_reconnect(r, now, "the watch is silent, its connection may be half-dead");
    }
    bool discovery = r->phase == WANT_discovery;
    bool wants = r->phase == WANT_list || r->phase == WANT_watch || discovery;
    if (!wants || !moment_reached(now, r->not_before))
        return false;
    bool watch = r->phase == WANT_watch;
    buffer_reset(&r->path);
    if (watch)
        ask_watch(r, now);
    else if (discovery)
        ask_discovery(r);
    else
        ask_page(r, now);
    bool binary = asks_protobuf(r) && !discovery;
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
    if (r->phase == WANT_list || r->phase == WANT_watch || r->phase == WANT_discovery)
        return r->not_before;
    return stale_at(r);
}

/* ---- lists ---- */

static int64_t version_of(const struct kube_json *object)
{
    int64_t version = 0;
    struct str text = kube_json_text(kube_json_path(object, "metadata.resourceVersion"));
    return str_to_i64(text, &version) && version > 0 ? version : 0;
}

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
    say(r, now, text, false);
    if (r->backwards < BACKWARDS_ACCEPTED) {
        buffer_reset(&r->next_page);
        fail(r, now, WANT_list, -1);
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
    worked(r, now); /* not before: whoever does without goes on so until all pages have come */
    if (r->limit > r->o.page_size)
        r->limit = r->o.page_size;
    /* The backoff stays: a watch that fails after each list must not make a storm of lists. */
    if (r->relist)
        go(r, WANT_list, now);
    else
        go(r, WANT_watch, now);
}

/* What a page says of the list; false when the page is not wanted any more. */
static bool begin_page(struct reflector *r, struct moment now, const struct kube_json *page)
{
    if (r->page_begun)
        return true;
    r->page_begun = true;
    if (!r->first_page)
        return true;
    r->list_version = version_of(page);
    if (went_backwards(r, now))
        return false;
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

static struct kube_json *parse(struct reflector *r, struct str text, struct str *error)
{
    if (r->o.managers)
        return kube_json_parse(text, error, &r->arena);
    return kube_answer_parse(text, error, &r->arena);
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
        give_up_protobuf(r, text);
    say(r, now, text, false);
    buffer_reset(&r->next_page);
    fail(r, now, WANT_list, -1);
}

static void page_too_long(struct reflector *r, struct moment now)
{
    char text[200];
    snprintf(text, sizeof(text), "the list of %s has an object of more than %zu MiB", r->o.name,
             OBJECT_MAX_BYTES >> 20);
    r->malformed++;
    ask_for_less(r); /* where the metadata comes last, it is the page that is too long */
    say(r, now, text, false);
    fail(r, now, WANT_list, -1);
}

/* The list without its items, or with them; NULL, and told, when it is none. */
static struct kube_json *parse_page(struct reflector *r, struct moment now, struct str body)
{
    struct str error = STR_LITERAL("metadata.resourceVersion or items is malformed");
    struct kube_json *page = parse(r, body, &error);
    const struct kube_json *items = kube_json_get(page, "items");
    if (page != NULL && version_of(page) != 0 && (items == NULL || kube_json_is_array(items)))
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

static void take_item(struct reflector *r, struct moment now, struct str text)
{
    struct str error = {0};
    struct kube_json *object =
        r->protobuf ? kube_protobuf_parse_item(str_of(r->o.kind), text, &error, &r->arena)
                    : parse(r, text, &error);
    if (object != NULL)
        r->o.object(r->o.context, object, true);
    else
        page_malformed(r, now, error);
    kube_json_free(&object);
    arena_reset(&r->arena);
}

/* Objects are handed on as they come; what comes again, after a page that broke off, is known. */
static void page_data(struct reflector *r, struct moment now, struct str piece)
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
        r->o.object(r->o.context, o, true);
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
    list_again(r, now, "the list expired between two pages (410)");
}

static void list_response(struct reflector *r, struct moment now,
                          const struct kube_response *response)
{
    bool good = response->status == 200 && response->error[0] == 0;
    if (good && response->body.len > 0)
        page_data(r, now, response->body);
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
        refused(r, now, WANT_list, response);
    else
        failed(r, now, WANT_list, response);
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

/* It comes in pieces, or as a whole in the end; what is too long is cut off, and then no JSON. */
static void take_discovery(struct reflector *r, struct str piece)
{
    if (piece.len <= OBJECT_MAX_BYTES - r->found.len)
        buffer_add_str(&r->found, piece);
}

/* The error still says what was refused. */
static void discovery_response(struct reflector *r, struct moment now,
                               const struct kube_response *response)
{
    int status = response->status;
    bool good = status == 200 && response->error[0] == 0, has_kind = false;
    take_discovery(r, response->body);
    bool answered = good && read_discovery(r, buffer_str(&r->found), &has_kind);
    buffer_free(&r->found);
    bool transient = status == 0 || status == 429 || status >= 500 || response->error[0] != 0;
    if (status == 404 || (answered && !has_kind)) {
        not_served(r, now);
    } else if (transient) {
        fail(r, now, WANT_discovery, response->retry_after_s);
    } else {
        r->served = answered;
        do_without(r, now, WANT_list);
    }
}

/* ---- watch ---- */

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
        say(r, now, text, false);
        fail(r, now, WANT_watch, after > 0 && after < INT32_MAX ? (int)after : -1);
    } else {
        list_again(r, now, text);
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
    int64_t version = version_of(object);
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
    if (version > r->version)
        r->version = version;
    return true;
}

static void read_event(struct reflector *r, struct moment now, struct str text_or_frame)
{
    struct str error = STR_LITERAL("no type, object or resourceVersion");
    struct kube_json *event = r->form == FORM_frames
                                  ? kube_protobuf_parse_event(text_or_frame, &error, &r->arena)
                                  : parse(r, text_or_frame, &error);
    if (event == NULL || !take_event(r, now, event)) {
        r->malformed++;
        char text[300];
        snprintf(text, sizeof(text), "a watch event is malformed: %.*s", STR_ARG(error));
        if (r->form == FORM_frames)
            give_up_protobuf(r, text);
        say(r, now, text, false);
        list_again(r, now, text);
    } else if (r->phase == WATCHING) {
        backoff_reset(&r->backoff);
        backoff_reset(&r->again);
    }
    kube_json_free(&event);
    arena_reset(&r->arena);
}

/* True while there are events in the piece and the watch goes on. */
static bool next_event(struct reflector *r, struct str *event, bool *too_long)
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
static void feed(struct reflector *r, struct str piece)
{
    if (r->form == FORM_unknown && piece.len > 0) {
        bool frames = asks_protobuf(r) && (unsigned char)piece.at[0] <= EVENT_MAX_BYTES >> 24;
        r->form = frames ? FORM_frames : FORM_lines;
        r->protobuf = frames;
    }
    if (r->form == FORM_frames)
        frames_feed(&r->frames, piece);
    else
        lines_feed(&r->lines, piece);
}

void reflector_data(struct reflector *r, struct moment now, uint64_t number, struct str piece)
{
    if (number == r->number && r->phase == LISTING)
        page_data(r, now, piece);
    else if (number == r->number && r->phase == DISCOVERING)
        take_discovery(r, piece);
    if (number != r->number || r->phase != WATCHING)
        return;
    worked(r, now);
    struct str event;
    bool too_long = false;
    feed(r, piece);
    while (next_event(r, &event, &too_long))
        read_event(r, now, event);
    if (r->phase == WATCHING && too_long) {
        r->malformed++;
        say(r, now, "a watch event is longer than 64 MiB", false);
        list_again(r, now, r->error);
    }
    if (r->phase != WATCHING)
        forget_stream(r);
}

/* A clean end resumes at once, unless the watch ended as soon as it began. */
static void watch_ended(struct reflector *r, struct moment now)
{
    bool empty = r->events + r->bookmarks == r->events_before;
    if (empty && moment_since(now, r->opened).ns < span_of_ms(QUICK_END_MS).ns) {
        say(r, now, "the watch ended as soon as it began", false);
        fail(r, now, WANT_watch, -1);
        return;
    }
    backoff_reset(&r->backoff);
    backoff_reset(&r->again);
    r->heard = now;
    go(r, WANT_watch, now);
}

static void watch_response(struct reflector *r, struct moment now,
                           const struct kube_response *response)
{
    int status = response->status;
    if (status == 200 && response->error[0] == 0)
        watch_ended(r, now);
    else if (status == 410)
        list_again(r, now, "the watch's version is too old (410)");
    else if (status == 403)
        refused(r, now, WANT_watch, response);
    else if (status == 404) /* the kind may have been removed: only a list tells */
        refused(r, now, WANT_list, response);
    else if (status >= 400 && status < 500 && status != 401 && status != 429)
        failed(r, now, WANT_list, response);
    else
        failed(r, now, WANT_watch, response);
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
        give_up_protobuf(r, "the server does not answer in protobuf (406)");
    if (r->phase == LISTING)
        list_response(r, now, response);
    else if (r->phase == DISCOVERING)
        discovery_response(r, now, response);
    else if (r->phase == WATCHING)
        watch_response(r, now, response);
}

/* ---- asked from outside ---- */

uint64_t reflector_relist(struct reflector *r)
{
    bool under_way = r->phase == LISTING || (r->phase == WANT_list && r->next_page.len > 0) ||
                     r->phase == WANT_discovery || r->phase == DISCOVERING;
    if (under_way)
        r->relist = true;
    else if (r->phase != WANT_list) /* a watch, or one that waits: the list replaces it */
        go(r, WANT_list, r->phase == WANT_watch ? r->not_before : (struct moment){0});
    return r->lists_begun + 1;
}

uint64_t reflector_lists_ended(const struct reflector *r)
{
    return r->lists_ended;
}

void reflector_reconnect(struct reflector *r, struct moment now, const char *why)
{
    if (r->phase != WATCHING)
        return;
    if (r->o.required)
        log_warn("watching again on a new connection: %s|resource=%s", why, r->o.name);
    else
        log_debug("watching again on a new connection: %s|resource=%s", why, r->o.name);
    r->failures++;
    forget_stream(r);
    go(r, WANT_watch, now);
}

void reflector_alive(struct reflector *r, struct moment now)
{
    if (r->phase == WATCHING)
        r->heard = now;
    bool waits = r->phase == WANT_list || r->phase == WANT_watch || r->phase == WANT_discovery;
    struct span soon = span_of_ms((int64_t)random_below(&r->backoff.random, BACK_JITTER_MS));
    if (waits && r->unreachable)
        r->not_before = moment_earlier(r->not_before, moment_after(now, soon));
}

/* What began before somebody spoke of it may have been too early. */
void reflector_look(struct reflector *r, struct moment now)
{
    if (!r->absent)
        return;
    r->looking = true;
    if (r->phase != WANT_list) {
        r->look_again = true;
        return;
    }
    struct moment soon = moment_after(r->asked, span_of_ms(LOOK_SPACING_MS));
    r->look_again = false;
    r->not_before = moment_earlier(r->not_before, soon.ns > now.ns ? soon : now);
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
    bool waits = r->error[0] != 0 && r->phase != LISTING;
    return waits ? REFLECTOR_waiting : REFLECTOR_listing;
}

struct reflector_status reflector_status(const struct reflector *r)
{
    return (struct reflector_status){.state = state_of(r),
                                     .listed = r->lists_ended > 0,
                                     .served = r->degraded && r->served,
                                     .looking = r->absent && r->looking,
                                     .version = r->version,
                                     .heard = r->heard,
                                     .lists = r->lists_ended,
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
