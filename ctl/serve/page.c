/* page: paths below /ui, and /explain. What comes in a query becomes an argument of `berth` only if
 * it is made of the letters that such an argument has, and always behind its option's name, so that
 * it cannot be an option itself; a manifest goes through a pipe.
 *
 * What must stay true: nothing here is answered without a permit but the form to sign in; nothing
 * writes to the cluster; and no answer has a part of the request in it that a browser could take
 * for more than text. */
#include "ctl/serve/page.h"

#include "ctl/serve/errands.h"
#include "ctl/serve/files.h"
#include "ctl/serve/helper.h"
#include "ctl/serve/live.h"
#include "ctl/serve/sessions.h"
#include "proto/base/json_string.h"
#include "proto/base/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TOKEN_MAX 16384
#define LETTERS   "abcdefghijklmnopqrstuvwxyz0123456789.-"
#define CAPITALS  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct page {
    struct page_options options;
    struct sessions *sessions;
    struct errands *errands;
    struct live_stream *live;
    char *follow[HELPER_ARGS_MAX + 1]; /* arguments of the helper behind live */
};

/* How a question of a browser becomes one to `berth`. */
struct parameter {
    const char *key, *option; /* option NULL: it stands for itself */
    const char *letters;      /* that it may have; NULL: it is an option without a value */
    size_t most;
    bool needed, many;
};

static const struct parameter of_explain[] = {
    {"pod", NULL, LETTERS "/", 320, true, false},
    {"node", "--node", LETTERS, 253, false, false},
    {0},
};
static const struct parameter of_node[] = {{"name", "--node", LETTERS, 253, true, false}, {0}};
static const struct parameter of_queue[] = {
    {"namespace", "--n", LETTERS, 63, false, false},
    {"node", "--node", LETTERS, 253, false, false},
    {0},
};
static const struct parameter of_whatif[] = {
    {"drain", "--drain", LETTERS, 253, false, true},
    {"cordon", "--cordon", LETTERS, 253, false, true},
    {"fail", "--fail", LETTERS CAPITALS "_/=", 400, false, true},
    {"add-nodes", "--add-nodes", "0123456789", 5, false, false},
    {"like", "--like", LETTERS, 253, false, false},
    {"replicas", "--replicas", "0123456789", 5, false, false},
    {"namespace", "--n", LETTERS, 63, false, false},
    {"pending", "--pending", NULL, 0, false, false},
    {0},
};
static const struct parameter of_capacity[] = {
    {"namespace", "--n", LETTERS, 63, false, false},
    {"most", "--most", "0123456789", 6, false, false},
    {0},
};
static const struct parameter of_nothing[] = {{0}};
#define MOMENT_LETTERS "0123456789TZ:.-"
static const struct parameter of_recorded[] = {{"at", "--at", MOMENT_LETTERS, 32, false, false},
                                               {0}};
static const struct parameter of_explain_recorded[] = {
    {"pod", NULL, LETTERS "/", 320, true, false},
    {"node", "--node", LETTERS, 253, false, false},
    {"at", "--at", MOMENT_LETTERS, 32, false, false},
    {0},
};

enum body { BODY_none, BODY_allowed, BODY_needed };

static const struct question {
    const char *path, *command[4];
    const struct parameter *parameters;
    enum body body; /* a manifest; then the method is POST */
} questions[] = {
    {"/explain", {"explain"}, of_explain, BODY_none},
    {"/ui/api/explain", {"explain"}, of_explain, BODY_none},
    {"/ui/api/node", {"nodes"}, of_node, BODY_none},
    {"/ui/api/nodes", {"nodes"}, of_nothing, BODY_none},
    {"/ui/api/queue", {"queue"}, of_queue, BODY_none},
    {"/ui/api/whatif", {"whatif"}, of_whatif, BODY_allowed},
    {"/ui/api/capacity", {"capacity", "--nodes"}, of_capacity, BODY_needed},
};

/* What can be asked of a recording; all else is of a cluster that is there. */
static const struct question recorded_questions[] = {
    {"/explain", {"explain", "-o=json"}, of_explain_recorded, BODY_none},
    {"/ui/api/explain", {"explain", "-o=json"}, of_explain_recorded, BODY_none},
    {"/ui/api/recorded", {"follow"}, of_recorded, BODY_none},
};

struct page *page_new(const struct page_options *options)
{
    struct page *p = memory_take(sizeof(*p));
    size_t count = 0;
    p->options = *options;
    p->sessions = sessions_new();
    p->errands = errands_new(options->epoll_fd);
    p->follow[count++] = (char *)"follow";
    p->follow[count++] = (char *)"--commands";
    for (size_t i = 0; options->doors[i] != NULL && count < HELPER_ARGS_MAX; i++)
        p->follow[count++] = (char *)options->doors[i];
    p->live = live_stream_new(p->follow, options->epoll_fd);
    return p;
}

void page_free(struct page **page)
{
    struct page *p = *page;
    if (p == NULL)
        return;
    sessions_free(&p->sessions);
    errands_free(&p->errands);
    live_stream_free(&p->live);
    memory_free(p);
    *page = NULL;
}

/* ---- who asks ---- */

static bool is_post(const struct http_request *r)
{
    return strcmp(r->method, "POST") == 0;
}

static bool is_ui(const struct http_request *r)
{
    return strcmp(r->path, "/ui") == 0 || strncmp(r->path, "/ui/", 4) == 0;
}

bool page_is_for(const struct page *p, const struct http_request *r)
{
    return strcmp(r->path, "/explain") == 0 || (p->options.ui && is_ui(r));
}

static int hex_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c != 0 ? strchr(digits, tolower((unsigned char)c)) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* The member of a form that a browser has sent; blanks around it are of who pasted it. */
static struct str form_value(struct http_request *r, const char *key)
{
    struct str rest = r->body, piece;
    size_t front = strlen(key);
    while (rest.len > 0 && str_split(&rest, "&", &piece)) {
        if (piece.len <= front || memcmp(piece.at, key, front) != 0 || piece.at[front] != '=')
            continue;
        piece.at += front + 1;
        piece.len -= (uint32_t)front + 1;
        char *to = arena_take(&r->memory, piece.len + 1u);
        uint32_t len = 0;
        for (uint32_t i = 0; i < piece.len; i++) {
            bool escaped = piece.at[i] == '%' && i + 2 < piece.len &&
                           hex_of(piece.at[i + 1]) >= 0 && hex_of(piece.at[i + 2]) >= 0;
            char c = piece.at[i];
            if (c == '+')
                c = ' ';
            if (escaped)
                c = (char)(unsigned char)(hex_of(piece.at[i + 1]) * 16 + hex_of(piece.at[i + 2]));
            to[len++] = c;
            i += escaped ? 2 : 0;
        }
        return str_trim((struct str){to, len});
    }
    return (struct str){NULL, 0};
}

/* What another site's page has the browser send is not answered. Browsers that do not say where it
 * comes from do not send the cookie either: it is SameSite=Strict. */
static bool is_from_elsewhere(struct http_request *r)
{
    const char *site = http_header(r, "Sec-Fetch-Site");
    return *site != 0 && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

static void go_to_page(struct http_request *r)
{
    r->status = 303;
    r->location = "/ui/";
}

static void say(struct http_request *r, int status, const char *text)
{
    r->status = status;
    buffer_reset(&r->answer);
    buffer_print(&r->answer, "%s\n", text);
}

bool page_begin(struct page *p, struct moment now, struct http_request *r,
                struct access_question *q)
{
    r->page = true;
    q->method = strcmp(r->method, "HEAD") == 0 || is_post(r) ? "GET" : r->method;
    if (!is_ui(r))
        return true;
    if (is_post(r) && is_from_elsewhere(r)) {
        say(r, 403, "this is not asked from another site");
        return false;
    }
    const char *cookies = http_header(r, "Cookie");
    if (is_post(r) && strcmp(r->path, "/ui/sign-out") == 0) {
        sessions_end(p->sessions, cookies);
        r->set_cookie = SESSION_COOKIE "=; Path=/ui; Max-Age=0; Secure; HttpOnly; SameSite=Strict";
        go_to_page(r);
        return false;
    }
    if (is_post(r) && strcmp(r->path, "/ui/sign-in") == 0) {
        r->token = form_value(r, "token");
        q->path = "/ui/";
        if (r->token.len == 0 || r->token.len > TOKEN_MAX) {
            r->status = 401;
            page_refused(p, r);
            return false;
        }
    } else if (r->token.len == 0) {
        r->token = arena_copy(&r->memory, sessions_token(p->sessions, now, cookies));
    }
    q->token = r->token;
    return true;
}

static bool wants_page(const struct http_request *r)
{
    return strcmp(r->path, "/ui/") == 0 || strcmp(r->path, "/ui") == 0 ||
           strcmp(r->path, "/ui/sign-in") == 0;
}

void page_refused(struct page *p, struct http_request *r)
{
    (void)p;
    if (!wants_page(r))
        return;
    r->content_type = "text/html; charset=utf-8";
    buffer_reset(&r->answer);
    buffer_add_str(&r->answer, files_sign_in());
}

static void sign_in(struct page *p, struct moment now, struct http_request *r)
{
    char name[SESSION_NAME];
    sessions_add(p->sessions, now, r->token, name);
    r->set_cookie = arena_print(&r->memory,
                                SESSION_COOKIE "=%s; Path=/ui; Max-Age=%" PRId64
                                               "; Secure; HttpOnly; SameSite=Strict",
                                name, SESSIONS_IDLE_MS / 1000)
                        .at;
    go_to_page(r);
}

/* ---- questions ---- */

static const struct question *question_of(const struct page *p, const char *path)
{
    const struct question *all = questions;
    size_t count = sizeof(questions) / sizeof(questions[0]);
    if (p->options.recording != NULL) {
        all = recorded_questions;
        count = sizeof(recorded_questions) / sizeof(recorded_questions[0]);
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].path, path) == 0)
            return &all[i];
    return NULL;
}

static void fail(struct http_request *r, int status, const char *what, struct str why)
{
    r->status = status;
    r->content_type = "application/json";
    buffer_reset(&r->answer);
    buffer_add_text(&r->answer, "{\"error\":");
    struct str text = arena_print(&r->memory, "%s%.*s", what, STR_ARG(why));
    json_string(&r->answer, str_trim(text));
    buffer_add_text(&r->answer, "}\n");
}

struct arguments {
    const char *at[HELPER_ARGS_MAX + 1];
    size_t count;
};

static bool fits(const struct parameter *as, const char *value)
{
    size_t len = strlen(value);
    if (as->letters == NULL)
        return len == 0 || strcmp(value, "true") == 0;
    return len > 0 && len <= as->most && strspn(value, as->letters) == len && value[0] != '-';
}

/* False: it was said what is wrong. */
static bool add_parameter(struct http_request *r, const struct parameter *as, struct arguments *out)
{
    size_t found = 0;
    for (size_t i = 0; i < r->argument_count; i++) {
        if (strcmp(r->keys[i], as->key) != 0)
            continue;
        if (!fits(as, r->values[i]) || (found++ > 0 && !as->many)) {
            fail(r, 400, "not a value for ", str_of(as->key));
            return false;
        }
        const char *value = r->values[i];
        if (as->option != NULL && as->letters != NULL)
            value = arena_print(&r->memory, "%s=%s", as->option, value).at;
        else if (as->option != NULL)
            value = as->option;
        out->at[out->count++] = value;
    }
    if (found == 0 && as->needed)
        fail(r, 400, "it has to say ", str_of(as->key));
    return found > 0 || !as->needed;
}

static bool knows_all(struct http_request *r, const struct question *q)
{
    for (size_t i = 0; i < r->argument_count; i++) {
        const struct parameter *as = q->parameters;
        while (as->key != NULL && strcmp(as->key, r->keys[i]) != 0)
            as++;
        if (as->key == NULL) {
            fail(r, 400, "there is no such parameter", (struct str){NULL, 0});
            return false;
        }
    }
    return true;
}

/* Of the media type a browser says what it is told to; another site cannot have it say this one
 * without asking us first. */
static bool body_is_right(struct http_request *r, const struct question *q)
{
    if (is_post(r) != (q->body != BODY_none)) {
        r->allow = q->body != BODY_none ? "POST" : "GET";
        fail(r, 405, "the method has to be ", str_of(r->allow));
    } else if (is_post(r) && strncmp(http_header(r, "Content-Type"), "application/yaml", 16) != 0) {
        fail(r, 415, "a manifest is application/yaml", (struct str){NULL, 0});
    } else if (q->body == BODY_needed && r->body.len == 0) {
        fail(r, 400, "a manifest is missing", (struct str){NULL, 0});
    } else {
        return true;
    }
    return false;
}

/* Where the answer is to come from: a recording, or the processes. */
static void add_source(const struct page *p, struct http_request *r, struct arguments *a)
{
    if (p->options.recording != NULL) {
        a->at[a->count++] = arena_print(&r->memory, "--read=%s", p->options.recording).at;
        return;
    }
    a->at[a->count++] = "-o=json";
    if (r->body.len > 0)
        a->at[a->count++] = "-f=-";
    for (size_t i = 0; p->options.doors[i] != NULL && a->count < HELPER_ARGS_MAX; i++)
        a->at[a->count++] = p->options.doors[i];
}

/* False: it is answered already. */
static bool ask(struct page *p, struct moment now, struct http_request *r, const struct question *q)
{
    struct arguments a = {.count = 0};
    if (!body_is_right(r, q) || !knows_all(r, q))
        return false;
    for (size_t i = 0; i < 4 && q->command[i] != NULL; i++)
        a.at[a.count++] = q->command[i];
    for (const struct parameter *as = q->parameters; as->key != NULL; as++)
        if (!add_parameter(r, as, &a))
            return false;
    add_source(p, r, &a);
    r->question = errands_add(p->errands, now, a.at, r->body);
    if (r->question == 0) {
        r->retry_after = "1";
        fail(r, 429, "too many questions at once", (struct str){NULL, 0});
    }
    return r->question != 0;
}

static bool answer_question(struct page *p, struct moment now, struct http_request *r,
                            const struct question *q)
{
    struct errand_answer found;
    if (r->question == 0 && !ask(p, now, r, q))
        return true;
    if (!errands_take(p->errands, r->question, &found))
        return false;
    if (!found.finished) {
        fail(r, 503, "it took too long, or the answer is too large", (struct str){NULL, 0});
    } else if (found.out.len == 0) { /* it says why on the other pipe */
        fail(r, found.status == 0 ? 503 : 422, "", buffer_str(&found.err));
    } else {
        bool lines = q->parameters == of_recorded;
        r->content_type = lines ? "application/x-ndjson" : "application/json";
        buffer_free(&r->answer);
        r->answer = found.out;
        found.out = (struct buffer){0};
    }
    buffer_free(&found.out);
    buffer_free(&found.err);
    return true;
}

/* ---- what there is ---- */

static bool answer_stream(struct page *p, struct moment now, struct http_request *r)
{
    struct live_reader *reader = live_join(p->live, now, http_header(r, "Last-Event-ID"));
    if (reader == NULL) {
        r->retry_after = "5";
        fail(r, 503, "as many look at it as may", (struct str){NULL, 0});
        return true;
    }
    r->content_type = "text/event-stream";
    r->stream = reader;
    return true;
}

static void answer_file(struct http_request *r)
{
    struct file file;
    if (strcmp(r->path, "/ui") == 0) {
        r->status = 301;
        r->location = "/ui/";
    } else if (!files_find(r->path, &file)) {
        say(r, 404, "404 page not found");
    } else if (is_post(r)) {
        r->allow = "GET";
        say(r, 405, "the method has to be GET");
    } else {
        r->content_type = file.type;
        buffer_add_str(&r->answer, file.bytes);
    }
}

/* The page asks first whether it is to show one. */
static void answer_no_recording(struct http_request *r)
{
    r->content_type = "application/json";
    buffer_add_text(&r->answer, "{\"kind\":\"live\"}\n");
}

bool page_answer(struct page *p, struct moment now, struct http_request *r)
{
    const struct question *q = question_of(p, r->path);
    if (q != NULL)
        return answer_question(p, now, r, q);
    if (strncmp(r->path, "/ui/api/", 8) == 0 && p->options.recording != NULL) {
        fail(r, 404, "this is not asked of a recording", (struct str){NULL, 0});
        return true;
    }
    if (strcmp(r->path, "/ui/api/stream") == 0)
        return answer_stream(p, now, r);
    if (strcmp(r->path, "/ui/api/recorded") == 0) {
        answer_no_recording(r);
        return true;
    }
    if (strcmp(r->path, "/ui/sign-in") == 0) {
        is_post(r) ? sign_in(p, now, r) : go_to_page(r);
        return true;
    }
    answer_file(r);
    return true;
}

ssize_t page_more(struct page *p, struct moment now, struct http_request *r, char *to, size_t room)
{
    return live_read(p->live, r->stream, now, to, room);
}

bool page_has_more(struct page *p, struct moment now, struct http_request *r)
{
    return live_has_more(p->live, r->stream, now);
}

void page_ended(struct page *p, struct http_request *r)
{
    struct live_reader *reader = r->stream;
    live_leave(p->live, &reader);
    r->stream = NULL;
}

bool page_work(struct page *p, struct moment now, struct moment *next)
{
    struct moment later;
    bool news = errands_work(p->errands, now, next);
    news |= live_work(p->live, now, &later);
    *next = moment_earlier(*next, later);
    return news;
}
