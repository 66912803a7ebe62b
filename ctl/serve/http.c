/* http: a request is one exchange from its first header to its last byte. One that has to wait is
 * suspended, which costs nothing; http_poke asks about it again. Each connection is a guest of the
 * crowd (crowd.h), which says who has to go; its socket is then shut down, and libmicrohttpd, whose
 * it is, closes it.
 *
 * What must stay true: an exchange is suspended at most once and resumed before the daemon stops;
 * no request is longer than BODY_MAX; no connection outlasts its guest's deadlines; and nobody is
 * told to go in the middle of libmicrohttpd's own work. */
#include "ctl/serve/http.h"

#include "ctl/serve/certificate.h"
#include "ctl/serve/crowd.h"
#include "ctl/serve/named.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_MAX          65536
#define CONNECTION_MEMORY 65536
#define TIMEOUT_S         150 /* longer than any deadline of a guest */
#define BACKLOG           1024
#define LOG_LINE_MAX      512
#define CROWDED_LOG_MS    10000
#define STREAM_PIECE      16384

/* What a page may do: nothing but what comes from here, and nobody may frame it. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

struct exchange {
    struct exchange *next, **link;
    struct http *http;
    struct guest *guest;
    struct MHD_Connection *connection;
    struct http_request request;
    struct client_chain chain;
    struct buffer body;
    bool too_long, begun, answered, suspended, closing;
};

struct http {
    struct http_options options;
    struct MHD_Daemon *daemon;
    struct exchange *exchanges, **last; /* in the order in which they came */
    size_t waiting;                     /* of these */
    struct moment now;                  /* of the call that is running */
    struct crowd crowd;
    uint64_t late, shed, told; /* guests told to go; told: of these, those in the log */
    struct moment told_at;     /* when it is logged next */
    char *authorities;         /* PEM that the daemon was started with */
    int listener;
};

/* ---- one request ---- */

static struct str bearer_of(struct MHD_Connection *connection)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    if (value == NULL || strncasecmp(value, "Bearer ", 7) != 0)
        return (struct str){NULL, 0};
    return str_trim(str_of(value + 7));
}

static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    struct http_request *r = context;
    (void)kind;
    if (r->argument_count == HTTP_ARGUMENTS_MAX)
        return MHD_NO;
    r->keys[r->argument_count] = key;
    r->values[r->argument_count++] = value != NULL ? value : "";
    return MHD_YES;
}

static void find_chain(struct exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info != NULL && info->tls_session != NULL && certificate_of(info->tls_session, &x->chain))
        x->request.chain = &x->chain;
}

static void begin(struct exchange *x, const char *method, const char *url)
{
    struct http_request *r = &x->request;
    x->begun = true;
    r->method = method;
    r->path = url;
    r->from = x->guest->origin;
    r->body = buffer_str(&x->body);
    r->token = bearer_of(x->connection);
    r->connection = x->connection;
    r->status = 200;
    r->content_type = "text/plain; charset=utf-8";
    MHD_get_connection_values(x->connection, MHD_GET_ARGUMENT_KIND, add_argument, r);
    find_chain(x);
    if (x->too_long) {
        r->status = 413;
        buffer_print(&r->answer, "Request entity too large: limit is %d\n", BODY_MAX);
        x->answered = true;
    }
}

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
    if (value != NULL)
        MHD_add_response_header(response, name, value);
}

/* A stream's next bytes. One that has none yet is suspended, and goes on with http_poke. */
static ssize_t stream_more(void *context, uint64_t position, char *to, size_t room)
{
    struct exchange *x = context;
    struct http *http = x->http;
    (void)position;
    ssize_t put = x->closing ? -1 : http->options.more(http->options.state, &x->request, to, room);
    if (put < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (put > 0) {
        crowd_answered(x->guest, x->request.named, http->now);
        return put;
    }
    x->suspended = true;
    http->waiting++;
    crowd_waits(x->guest);
    MHD_suspend_connection(x->connection);
    return 0;
}

static struct MHD_Response *response_of(struct exchange *x)
{
    struct http_request *r = &x->request;
    if (r->stream != NULL)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_PIECE, stream_more, x,
                                                 NULL);
    return MHD_create_response_from_buffer(
        r->answer.len, r->answer.len > 0 ? r->answer.at : (char *)"", MHD_RESPMEM_MUST_COPY);
}

static void add_page_headers(struct MHD_Response *response)
{
    add_header(response, "Content-Security-Policy", policy);
    add_header(response, "Referrer-Policy", "no-referrer");
    add_header(response, "X-Frame-Options", "DENY");
    add_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    add_header(response, "Cross-Origin-Resource-Policy", "same-origin");
}

static enum MHD_Result send_answer(struct exchange *x)
{
    struct http_request *r = &x->request;
    struct MHD_Response *response = response_of(x);
    must(response != NULL);
    if (r->page)
        add_page_headers(response);
    add_header(response, "Location", r->location);
    add_header(response, "Set-Cookie", r->set_cookie);
    add_header(response, "Allow", r->allow);
    add_header(response, "Content-Type", r->content_type);
    add_header(response, "Cache-Control", "no-cache, private");
    add_header(response, "X-Content-Type-Options", "nosniff");
    add_header(response, "Warning", r->warning);
    add_header(response, "Retry-After", r->retry_after);
    enum MHD_Result queued = MHD_queue_response(x->connection, (unsigned)r->status, response);
    MHD_destroy_response(response);
    crowd_answered(x->guest, r->named, x->http->now);
    return queued;
}

static struct guest *guest_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

/* NULL when the connection has no place and has to end. */
static struct exchange *exchange_new(struct http *http, struct MHD_Connection *connection)
{
    struct guest *guest = guest_of(connection);
    if (guest == NULL || guest->leaving)
        return NULL;
    struct exchange *x = memory_take(sizeof(*x));
    x->http = http;
    x->connection = connection;
    x->guest = guest;
    x->link = http->last;
    *http->last = x;
    http->last = &x->next;
    guest->of = x;
    crowd_asks(guest, http->now);
    return x;
}

/* The signature is libmicrohttpd's. */
/* NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    struct exchange *x = *state;
    (void)version;
    if (x == NULL) {
        *state = exchange_new(context, connection);
        return *state != NULL ? MHD_YES : MHD_NO;
    }
    if (*upload_size > 0) {
        x->too_long |= x->body.len + *upload_size > BODY_MAX;
        if (!x->too_long)
            buffer_add(&x->body, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    if (x->closing)
        return MHD_NO;
    if (!x->begun)
        begin(x, method, url);
    if (!x->answered)
        x->answered = x->http->options.answer(x->http->options.state, &x->request);
    if (x->answered)
        return send_answer(x);
    x->suspended = true; /* until http_poke has an answer */
    x->http->waiting++;
    crowd_waits(x->guest);
    MHD_suspend_connection(connection);
    return MHD_YES;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct http *http = context;
    struct exchange *x = *state;
    (void)connection;
    (void)code;
    if (x == NULL)
        return;
    *state = NULL;
    http->waiting -= x->suspended;
    if (x->request.stream != NULL)
        http->options.ended(http->options.state, &x->request);
    x->guest->of = NULL;
    crowd_ended(x->guest, http->now);
    certificate_drop(&x->chain);
    arena_free(&x->request.memory);
    buffer_free(&x->request.answer);
    buffer_free(&x->body);
    *x->link = x->next;
    *(x->next != NULL ? &x->next->link : &http->last) = x->link;
    memory_free(x);
}

static void resume(struct exchange *x)
{
    if (!x->suspended)
        return;
    x->suspended = false;
    x->http->waiting--;
    MHD_resume_connection(x->connection);
}

void http_poke(struct http *http, struct moment now)
{
    http->now = now;
    for (struct exchange *x = http->exchanges; x != NULL; x = x->next) {
        if (!x->suspended || x->closing)
            continue;
        const struct http_options *o = &x->http->options;
        bool ready = x->answered ? o->has_more(o->state, &x->request)
                                 : (x->answered = o->answer(o->state, &x->request));
        if (ready)
            resume(x);
    }
}

size_t http_waiting(const struct http *http)
{
    return http->waiting;
}

const char *http_header(const struct http_request *request, const char *name)
{
    const char *value = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
    return value != NULL ? value : "";
}

struct gathered {
    const char *name;
    struct arena *arena;
    struct strs found;
    uint32_t room;
};

static enum MHD_Result gather(void *context, enum MHD_ValueKind kind, const char *key,
                              const char *value)
{
    struct gathered *g = context;
    (void)kind;
    if (g->found.count < g->room && strcasecmp(key, g->name) == 0 && value != NULL)
        g->found.at[g->found.count++] = str_of(value);
    return MHD_YES;
}

struct strs http_headers(struct http_request *request, const char *name)
{
    struct gathered g = {.name = name, .room = 64};
    g.found.at = arena_take(&request->memory, g.room * sizeof(struct str));
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, gather, &g);
    return g.found;
}

static int hex_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c != 0 ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* In lower case, and %xx as the byte that it stands for. */
static struct str key_in_header(const char *name, struct arena *a)
{
    struct str key = arena_copy(a, str_of(name));
    char *to = (char *)key.at;
    for (uint32_t i = 0; i < key.len; i++)
        to[i] = (char)tolower((unsigned char)to[i]);
    uint32_t len = 0;
    for (uint32_t i = 0; i < key.len; i++) {
        bool escaped =
            to[i] == '%' && i + 2 < key.len && hex_of(to[i + 1]) >= 0 && hex_of(to[i + 2]) >= 0;
        char letter = to[i];
        if (escaped)
            letter = (char)(unsigned char)(hex_of(to[i + 1]) * 16 + hex_of(to[i + 2]));
        to[len++] = letter;
        i += escaped ? 2 : 0;
    }
    key.len = len;
    return key;
}

static enum MHD_Result gather_behind(void *context, enum MHD_ValueKind kind, const char *key,
                                     const char *value)
{
    struct gathered *g = context;
    size_t len = strlen(g->name);
    uint32_t at = g->found.count;
    (void)kind;
    if (at + 2 > g->room || strncasecmp(key, g->name, len) != 0 || value == NULL)
        return MHD_YES;
    struct str name = key_in_header(key + len, g->arena);
    for (; at > 0 && str_compare(g->found.at[at - 2], name) > 0; at -= 2) {
        g->found.at[at] = g->found.at[at - 2];
        g->found.at[at + 1] = g->found.at[at - 1];
    }
    g->found.at[at] = name;
    g->found.at[at + 1] = str_of(value);
    g->found.count += 2;
    return MHD_YES;
}

struct strs http_headers_behind(struct http_request *request, const char *prefix)
{
    struct gathered g = {.name = prefix, .room = 64, .arena = &request->memory};
    g.found.at = arena_take(&request->memory, g.room * sizeof(struct str));
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, gather_behind, &g);
    return g.found;
}

/* ---- connections ---- */

static void on_connection(void *context, struct MHD_Connection *connection, void **place,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http *http = context;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*place != NULL)
            crowd_leave(&http->crowd, *place);
        *place = NULL;
        return;
    }
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *address =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct origin origin = origin_of(address != NULL ? address->client_addr : NULL);
    *place = fd != NULL ? crowd_enter(&http->crowd, &origin, fd->connect_fd, http->now) : NULL;
}

/* The socket is libmicrohttpd's until it says that the connection is closed, which comes after
 * this. A request that waits for us is not looked at by it, so it is woken for the end. */
static void send_away(struct guest *g)
{
    struct exchange *x = g->of;
    if (x != NULL) {
        x->closing = true;
        resume(x);
    }
    shutdown(g->fd, SHUT_RDWR);
}

/* True when somebody had to go. */
static bool make_room(struct http *http)
{
    uint64_t before = http->late + http->shed;
    struct guest *g, *last = NULL;
    for (; (g = crowd_late(&http->crowd, http->now)) != NULL; http->late++)
        send_away(g);
    for (; (g = crowd_surplus(&http->crowd, http->now)) != NULL; http->shed++)
        send_away(last = g);
    if (last != NULL && moment_reached(http->now, http->told_at)) {
        char from[64];
        origin_print(&last->origin, from, sizeof(from));
        log_warn("more connections than there is room for: the oldest unknown ones are ended|"
                 "count=%" PRIu64 " last_from=%s",
                 http->shed - http->told, from);
        http->told = http->shed;
        http->told_at = moment_after(http->now, span_of_ms(CROWDED_LOG_MS));
    }
    return http->late + http->shed != before;
}

void http_status(const struct http *http, struct buffer *lines)
{
    buffer_print(lines,
                 "connections=%" PRIu32 "\nconnections_waiting=%zu\nconnections_late=%" PRIu64
                 "\nconnections_shed=%" PRIu64 "\n",
                 http->crowd.count, http->waiting, http->late, http->shed);
}

/* ---- the daemon ---- */

static void on_daemon_log(void *context, const char *format, va_list args)
{
    char line[LOG_LINE_MAX];
    (void)context;
    vsnprintf(line, sizeof(line), format, args);
    line[strcspn(line, "\n")] = 0;
    log_debug("libmicrohttpd|detail=\"%s\"", line);
}

static bool start(struct http *http, struct buffer *why)
{
    const struct http_options *o = &http->options;
    struct MHD_OptionItem more[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)o->certificate},
                                    {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)o->key},
                                    {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)o->priorities},
                                    {MHD_OPTION_END, 0, NULL},
                                    {MHD_OPTION_END, 0, NULL},
                                    {MHD_OPTION_END, 0, NULL}};
    size_t next = 3;
    if (http->authorities != NULL)
        more[next++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, http->authorities};
    if (o->named_count > 0) {
        gnutls_certificate_retrieve_function2 *const choose = named_choose;
        more[next].option = MHD_OPTION_HTTPS_CERT_CALLBACK;
        memcpy(&more[next].ptr_value, &choose, sizeof(choose));
    }
    int listener = dup(http->listener); /* the daemon closes its own */
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_TLS, 0, NULL, NULL,
        on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_daemon_log, NULL, MHD_OPTION_LISTEN_SOCKET,
        listener, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, http, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CROWD_ROOM,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_ARRAY, more, MHD_OPTION_END);
    if (http->daemon != NULL)
        return true;
    close(listener);
    buffer_print(why, "cannot serve: the certificate, its key or an authority is not usable PEM");
    return false;
}

static void stop(struct http *http)
{
    if (http->daemon == NULL)
        return;
    for (struct exchange *x = http->exchanges; x != NULL; x = x->next) {
        x->closing = true;
        resume(x);
    }
    MHD_run(http->daemon);
    MHD_stop_daemon(http->daemon);
    http->daemon = NULL;
}

static int listen_on(const struct addrinfo *info, bool share)
{
    int on = 1, fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (share)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int failed = errno;
    close(fd);
    errno = failed;
    return -1;
}

/* Made by hand, so that an error can name the address and the reason. */
static int open_listener(const struct http_options *o, struct buffer *why)
{
    const char *address = o->address;
    int port = o->port;
    char text[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *found = NULL;
    snprintf(text, sizeof(text), "%d", port);
    int code = getaddrinfo(*address ? address : NULL, text, &hints, &found);
    if (code != 0) {
        buffer_print(why, "cannot listen on %s port %d: %s", address, port, gai_strerror(code));
        return -1;
    }
    int fd = listen_on(found, o->share_port);
    if (fd < 0)
        buffer_print(why, "cannot listen on %s port %d: %s", address, port, strerror(errno));
    freeaddrinfo(found);
    return fd;
}

static char *copy_text(struct str text)
{
    return text.len > 0 ? str_copy(text) : NULL;
}

struct http *http_new(const struct http_options *options, struct buffer *why)
{
    struct http *http = memory_take(sizeof(*http));
    http->options = *options;
    http->authorities = copy_text(options->authorities);
    http->listener = -1;
    http->now = moment_now();
    http->last = &http->exchanges;
    if (named_load(options, why))
        http->listener = open_listener(options, why);
    if (http->listener >= 0 && start(http, why))
        return http;
    http_free(&http);
    return NULL;
}

void http_free(struct http **http)
{
    if (*http == NULL)
        return;
    stop(*http);
    if ((*http)->listener >= 0)
        close((*http)->listener);
    named_free();
    memory_free((*http)->authorities);
    memory_free(*http);
    *http = NULL;
}

bool http_trust(struct http *http, struct str authorities, struct buffer *why)
{
    stop(http);
    memory_free(http->authorities);
    http->authorities = copy_text(authorities);
    if (start(http, why))
        return true;
    memory_free(http->authorities); /* it was they: better without client certificates than dead */
    http->authorities = NULL;
    struct buffer again = {0};
    bool started = start(http, &again);
    buffer_free(&again);
    return started;
}

int http_fd(const struct http *http)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    must(info != NULL);
    return info->epoll_fd;
}

struct moment http_work(struct http *http, struct moment now)
{
    MHD_UNSIGNED_LONG_LONG ms = 0;
    http->now = now;
    MHD_run(http->daemon);
    if (make_room(http))
        MHD_run(http->daemon);
    struct moment next = crowd_next(&http->crowd);
    if (MHD_get_timeout(http->daemon, &ms) == MHD_YES)
        next = moment_earlier(next, moment_after(now, span_of_ms((int64_t)ms)));
    return next;
}
