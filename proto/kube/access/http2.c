/* http2: nghttp2 over a connection that curl made (CURLOPT_CONNECT_ONLY). The one idea: what curl
 * does for a request costs more than the request, and for each byte that comes it asks every
 * request on the connection; here a round's requests leave in one write, and an answer finds its
 * request by its stream. What must stay true: a request is open from http2_start to http2_stop and
 * ends at most once; bytes of a request that was stopped leave only when they lie in the middle of
 * what the socket has taken in part, and then the connection is given up instead. */
#include "proto/kube/access/http2.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define CHUNK           (16u << 10) /* a TLS record: so much is made before it is written */
#define READ_CHUNK      (64u << 10)
#define WINDOW          (1 << 20)  /* of a stream; answers are small */
#define WINDOW_ALL      (16 << 20) /* of the connection */
#define IDLE_MAX_S      60         /* a server may have closed an older one just now */
#define HANDSHAKE_MAX_S 15 /* a server that says nothing for so long does not speak HTTP/2 */

enum phase { PHASE_connecting, PHASE_greeting, PHASE_open, PHASE_useless, PHASE_over };

struct http2 {
    struct pool *pool; /* whose requests go here */
    struct pool *link; /* curl's side of the connection, in a pool of its own */
    struct exchange opener;
    const struct target *target;
    enum phase phase;
    int fd; /* -1: not ours (yet) */
    bool wants_out;
    bool told_to_go; /* no new requests; those on it are answered */
    struct moment begun;
    uint64_t credentials; /* generation that it was opened with */
    nghttp2_session *session;
    struct str authority, prefix; /* in the target's base */
    char *authorization;          /* NULL: none */
    struct exchange *open;        /* those whose end was not fetched */
    struct exchange *ended, *ended_last;
    char out[CHUNK + NGHTTP2_INITIAL_WINDOW_SIZE];
    size_t out_len, out_at;
    uint8_t in[READ_CHUNK];
};

/* ---- a request's end ---- */

static void end(struct http2 *h, struct exchange *r, CURLcode code)
{
    if (r->ended)
        return;
    r->ended = true;
    r->code = code;
    r->ended_next = NULL;
    if (h->ended_last != NULL)
        h->ended_last->ended_next = r;
    else
        h->ended = r;
    h->ended_last = r;
}

static void give_up(struct http2 *h, const char *why)
{
    bool was_open = h->phase == PHASE_open;
    if (h->phase >= PHASE_useless)
        return;
    h->phase = was_open ? PHASE_over : PHASE_useless;
    if (was_open)
        log_debug("an HTTP/2 connection ended|server=%s reason=\"%s\"", h->target->config->server,
                  why);
    else
        log_info("no HTTP/2 connection of our own, curl's are used|server=%s reason=\"%s\"",
                 h->target->config->server, why);
    for (struct exchange *r = h->open; r != NULL; r = r->open_next) {
        if (!r->ended)
            snprintf(r->curl_error, sizeof(r->curl_error), "%s", why);
        end(h, r, CURLE_RECV_ERROR);
    }
}

struct exchange *http2_ended(struct http2 *h, CURLcode *code)
{
    struct exchange *r = h->ended;
    if (r == NULL)
        return NULL;
    h->ended = r->ended_next;
    if (h->ended == NULL)
        h->ended_last = NULL;
    r->fetched = true;
    *code = r->code;
    return r;
}

/* ---- what nghttp2 calls ---- */

static struct exchange *exchange_of(nghttp2_session *session, int32_t stream)
{
    return nghttp2_session_get_stream_user_data(session, stream);
}

/* NOLINTNEXTLINE(readability-function-size): nghttp2 says what it passes */
static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *context)
{
    struct exchange *r = exchange_of(session, frame->hd.stream_id);
    struct str key = {(const char *)name, (uint32_t)name_len};
    struct str text = {(const char *)value, (uint32_t)value_len};
    int64_t number = 0;
    (void)flags, (void)context;
    if (r == NULL || frame->hd.type != NGHTTP2_HEADERS)
        return 0;
    if (str_is(key, ":status") && str_to_i64(text, &number))
        r->status = (long)number;
    else if (str_is(key, "retry-after") && str_to_i64(text, &number) && number > 0)
        r->retry_after_s = number > INT32_MAX ? INT32_MAX : (int)number;
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): nghttp2 says what it passes */
static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data,
                   size_t len, void *context)
{
    struct exchange *r = exchange_of(session, stream);
    (void)flags, (void)context;
    bool good = r == NULL || exchange_take(r, (struct str){(const char *)data, (uint32_t)len});
    if (!good && !r->cancelled) /* else it is stopped soon */
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
    return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *context)
{
    struct exchange *r = exchange_of(session, stream);
    if (r == NULL)
        return 0;
    r->stream = 0;
    if (error == NGHTTP2_REFUSED_STREAM)
        r->left = false; /* the server says that it did nothing */
    /* Answered in full, though the server did not want the rest of the request. */
    bool answered = error == NGHTTP2_NO_ERROR && r->status >= 200;
    if (!answered && !r->too_long)
        snprintf(r->curl_error, sizeof(r->curl_error), "the server ended the stream: %s",
                 nghttp2_http2_strerror(error));
    end(context, r, answered ? CURLE_OK : CURLE_HTTP2_STREAM);
    return 0;
}

/* From here on the server may carry it out. */
static int before_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)context;
    struct exchange *r = exchange_of(session, frame->hd.stream_id);
    if (r != NULL && frame->hd.type == NGHTTP2_HEADERS)
        r->left = true;
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct http2 *h = context;
    struct exchange *r = exchange_of(session, frame->hd.stream_id);
    if (r != NULL && frame->hd.type == NGHTTP2_HEADERS)
        exchange_opened(r);
    if (frame->hd.type == NGHTTP2_SETTINGS && h->phase == PHASE_greeting)
        h->phase = PHASE_open;
    else if (frame->hd.type == NGHTTP2_GOAWAY && h->phase == PHASE_open)
        h->told_to_go = true;
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): nghttp2 says what it passes */
static ssize_t read_body(nghttp2_session *session, int32_t stream, uint8_t *at, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    struct exchange *r = source->ptr;
    size_t left = r->body.len - r->body_at, len = left < room ? left : room;
    (void)session, (void)stream, (void)context;
    if (len > 0)
        memcpy(at, r->body.at + r->body_at, len);
    r->body_at += len;
    if (r->body_at == r->body.len)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)len;
}

/* ---- opening ---- */

static void handshake(struct http2 *h)
{
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                               {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW}};
    nghttp2_session_callbacks *calls;
    must(nghttp2_session_callbacks_new(&calls) == 0);
    nghttp2_session_callbacks_set_on_header_callback(calls, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(calls, on_close);
    nghttp2_session_callbacks_set_before_frame_send_callback(calls, before_frame);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
    must(nghttp2_session_client_new(&h->session, calls, h) == 0);
    nghttp2_session_callbacks_del(calls);
    must(nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings, 2) == 0);
    must(nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0, WINDOW_ALL) == 0);
    h->phase = PHASE_greeting;
}

static void split_base(struct http2 *h)
{
    const char *at = strstr(h->target->base, "://");
    must(at != NULL);
    size_t len = strcspn(at + 3, "/");
    h->authority = (struct str){at + 3, (uint32_t)len};
    h->prefix = str_of(at + 3 + len);
}

struct http2 *http2_open(struct pool *pool, const struct target *target)
{
    struct http2 *h = memory_take(sizeof(*h));
    const char *token = credentials_token(target->credentials);
    h->pool = pool;
    h->target = target;
    h->fd = -1;
    h->begun = pool->pools->now;
    h->credentials = credentials_generation(target->credentials);
    if (token != NULL) {
        struct buffer text = {0};
        buffer_print(&text, "Bearer %s", token);
        h->authorization = text.at;
    }
    split_base(h);
    h->link = pool_new(pool->pools, 1);
    h->link->active = 1; /* keeps it */
    h->opener.target = target;
    exchange_connect(&h->opener, h->link);
    return h;
}

static void watch(struct http2 *h, int how)
{
    struct epoll_event event = {.data.u64 = (uint64_t)h->pool->id << 32 | (uint32_t)h->fd};
    event.events = EPOLLIN | (h->wants_out ? (uint32_t)EPOLLOUT : 0u);
    must(epoll_ctl(h->pool->pools->epoll_fd, how, h->fd, &event) == 0);
}

bool http2_connected(struct http2 *h, CURL *easy, CURLcode code)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    if (easy != h->opener.easy)
        return false;
    h->link->with_curl = 0; /* it has done its part */
    if (code == CURLE_OK)
        code = curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
    if (code != CURLE_OK || fd == CURL_SOCKET_BAD) {
        give_up(h, curl_easy_strerror(code));
        return true;
    }
    h->fd = fd;
    watch(h, EPOLL_CTL_ADD);
    handshake(h);
    http2_flush(h);
    return true;
}

void http2_free(struct http2 **freeing)
{
    struct http2 *h = *freeing;
    if (h == NULL)
        return;
    must(h->open == NULL);
    if (h->fd >= 0)
        epoll_ctl(h->pool->pools->epoll_fd, EPOLL_CTL_DEL, h->fd, NULL);
    nghttp2_session_del(h->session);
    curl_multi_remove_handle(h->link->multi, h->opener.easy);
    curl_easy_cleanup(h->opener.easy);
    h->link->active = 0;
    h->link->retired = true; /* closed at the next sweep */
    memory_free(h->authorization);
    memory_free(h);
    *freeing = NULL;
}

enum http2_state http2_state(const struct http2 *h, uint64_t credentials, struct moment now)
{
    if (h->phase < PHASE_open &&
        !moment_reached(now, moment_after(h->begun, span_of_seconds(HANDSHAKE_MAX_S))))
        return HTTP2_opening;
    if (h->phase < PHASE_open || h->phase == PHASE_useless)
        return HTTP2_useless;
    bool old = h->open == NULL &&
               moment_reached(now, moment_after(h->pool->heard, span_of_seconds(IDLE_MAX_S)));
    if (h->phase == PHASE_over || h->told_to_go || old || credentials != h->credentials)
        return HTTP2_over;
    return HTTP2_ready;
}

/* ---- requests ---- */

/* Of text that lives until the stream ends. */
static nghttp2_nv field(const char *name, struct str value)
{
    /* nghttp2 does not change what it borrows, but wants pointers to what it may change. */
    union {
        const char *from;
        uint8_t *to;
    } key = {.from = name}, text = {.from = value.at};
    return (nghttp2_nv){key.to, text.to, strlen(name), value.len,
                        NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

void http2_start(struct http2 *h, struct exchange *r)
{
    must(h->phase == PHASE_open && r->stream == 0);
    buffer_reset(&r->whole_path);
    buffer_add_str(&r->whole_path, h->prefix);
    buffer_add_text(&r->whole_path, r->path);
    nghttp2_nv fields[9] = {field(":method", str_of(kube_method_name(r->method))),
                            field(":scheme", STR_LITERAL("https")),
                            field(":authority", h->authority),
                            field(":path", buffer_str(&r->whole_path)),
                            field("accept", str_of(r->accept)),
                            field("user-agent", str_of(h->target->user_agent))};
    size_t count = 6;
    if (h->authorization != NULL)
        fields[count++] = field("authorization", str_of(h->authorization));
    if (r->content_type != NULL)
        fields[count++] = field("content-type", str_of(r->content_type));
    nghttp2_data_provider body = {.source.ptr = r, .read_callback = read_body};
    r->stream =
        nghttp2_submit_request(h->session, NULL, fields, count, r->body.len > 0 ? &body : NULL, r);
    must(r->stream != NGHTTP2_ERR_NOMEM);
    r->open_before = NULL;
    r->open_next = h->open;
    if (h->open != NULL)
        h->open->open_before = r;
    h->open = r;
    if (r->stream < 0) { /* no numbers left, or the session ends */
        r->stream = 0;
        snprintf(r->curl_error, sizeof(r->curl_error), "no stream can be opened");
        h->told_to_go = true;
        end(h, r, CURLE_HTTP2);
    }
}

/* Takes it from among those that ended. */
static void unlist(struct http2 *h, struct exchange *r)
{
    struct exchange **at = &h->ended, *last = NULL;
    while (*at != NULL && *at != r) {
        last = *at;
        at = &(*at)->ended_next;
    }
    must(*at == r);
    *at = r->ended_next;
    if (h->ended_last == r)
        h->ended_last = last;
}

void http2_stop(struct http2 *h, struct exchange *r)
{
    if (r->open_before != NULL)
        r->open_before->open_next = r->open_next;
    else
        h->open = r->open_next;
    if (r->open_next != NULL)
        r->open_next->open_before = r->open_before;
    if (r->ended && !r->fetched)
        unlist(h, r);
    if (r->stream == 0 || h->phase != PHASE_open)
        return;
    bool torn = r->left && h->out_at < h->out_len;
    nghttp2_session_set_stream_user_data(h->session, r->stream, NULL);
    nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, r->stream, NGHTTP2_CANCEL);
    r->stream = 0;
    if (torn)
        give_up(h, "a request was taken back of which a part may be under way");
}

/* ---- bytes ---- */

/* False when there is nothing to write. */
static bool fill(struct http2 *h)
{
    const uint8_t *piece;
    ssize_t len = 0;
    h->out_at = h->out_len = 0;
    while (h->out_len < CHUNK && (len = nghttp2_session_mem_send(h->session, &piece)) > 0) {
        must(h->out_len + (size_t)len <= sizeof(h->out));
        memcpy(h->out + h->out_len, piece, (size_t)len);
        h->out_len += (size_t)len;
    }
    if (len < 0)
        give_up(h, nghttp2_strerror((int)len));
    return len >= 0 && h->out_len > 0;
}

/* False when the socket takes no more now. */
static bool write_out(struct http2 *h)
{
    while (h->out_at < h->out_len) {
        size_t sent = 0;
        CURLcode code =
            curl_easy_send(h->opener.easy, h->out + h->out_at, h->out_len - h->out_at, &sent);
        if (code == CURLE_AGAIN)
            return false;
        if (code != CURLE_OK) {
            give_up(h, curl_easy_strerror(code));
            return false;
        }
        h->out_at += sent;
    }
    return true;
}

void http2_flush(struct http2 *h)
{
    if (h->phase != PHASE_greeting && h->phase != PHASE_open)
        return;
    bool taken = write_out(h);
    while (taken && fill(h))
        taken = write_out(h);
    if (h->phase >= PHASE_useless || h->wants_out == !taken)
        return;
    h->wants_out = !taken;
    watch(h, EPOLL_CTL_MOD);
}

static void read_in(struct http2 *h)
{
    while (h->phase == PHASE_greeting || h->phase == PHASE_open) {
        size_t got = 0;
        CURLcode code = curl_easy_recv(h->opener.easy, h->in, sizeof(h->in), &got);
        if (code == CURLE_AGAIN)
            return;
        if (code != CURLE_OK || got == 0) {
            give_up(h, code != CURLE_OK ? curl_easy_strerror(code)
                                        : "the server closed the connection");
            return;
        }
        h->pool->heard = h->pool->pools->now;
        ssize_t took = nghttp2_session_mem_recv(h->session, h->in, got);
        if (took < 0)
            give_up(h, nghttp2_strerror((int)took));
    }
}

bool http2_event(struct http2 *h, int fd, uint32_t events)
{
    if (fd != h->fd)
        return false;
    (void)events;
    read_in(h);
    http2_flush(h);
    if (h->phase >= PHASE_useless) { /* its descriptor would go on reporting */
        epoll_ctl(h->pool->pools->epoll_fd, EPOLL_CTL_DEL, h->fd, NULL);
        h->fd = -1;
    }
    return true;
}
