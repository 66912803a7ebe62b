/* HTTP by libmicrohttpd, in one thread: the loop calls http_turn, which calls us back.
 *
 * The one idea: a request is an exchange from its first header to its last byte; it waits (for a
 * fault's delay, for events to watch, for ever when hung) by being suspended, which costs nothing.
 * A suspended connection is not polled, so a sweep looks for peers that have left. What must hold:
 * an exchange is suspended at most once, and every one is resumed before the daemon stops. */
#include "http.h"

#include "audit.h"
#include "auth.h"
#include "front.h"
#include "watch.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

enum {
    BODY_MAX = 3 * 1024 * 1024,
    BLOCK_SIZE = 32 * 1024,
    CONNECTION_MEMORY = 64 * 1024,
    CONNECTIONS_MAX = 8192,
    GROUPS_MAX = 16,
};

struct exchange {
    struct exchange *next, **link;
    struct http *http;
    struct MHD_Connection *connection;
    struct request request;
    struct answer answer;
    struct fault fault;
    struct buffer body;
    struct timer *timer;
    bool too_big, begun, answered, suspended, closing;
    size_t piece, offset; /* how far the answer was sent */
};

struct http {
    struct server *server;
    struct MHD_Daemon *daemon;
    struct exchange *exchanges;
    bool certificates; /* clients may bring certificates */
};

/* ---- waiting ---- */

static void suspend(struct exchange *x)
{
    must(!x->suspended);
    x->suspended = true;
    MHD_suspend_connection(x->connection);
}

static void resume(struct exchange *x)
{
    if (!x->suspended)
        return;
    x->suspended = false;
    MHD_resume_connection(x->connection);
}

static void wake(void *context)
{
    resume(context);
}

static void end_delay(void *context, void *subject)
{
    (void)context;
    struct exchange *x = subject;
    x->timer = NULL;
    resume(x);
}

/* ---- who is asking ---- */

static const struct user *user_of_certificate(struct exchange *x, gnutls_x509_crt_t certificate)
{
    char name[256], room[GROUPS_MAX][256], *groups[GROUPS_MAX];
    size_t size = sizeof name, count = 0;
    if (gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &size) <
        0)
        return NULL;
    for (; count < GROUPS_MAX; count++) {
        size = sizeof room[count];
        if (gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_ORGANIZATION_NAME,
                                          (unsigned)count, 0, room[count], &size) < 0)
            break;
        groups[count] = room[count];
    }
    return auth_by_certificate(x->http->server->auth, name, groups, count);
}

static const struct user *user_of_session(struct exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info == NULL || info->tls_session == NULL)
        return NULL;
    gnutls_session_t session = info->tls_session;
    unsigned count = 0, problems = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
    if (chain == NULL || count == 0 || gnutls_certificate_verify_peers2(session, &problems) != 0 ||
        problems)
        return NULL;
    gnutls_x509_crt_t certificate;
    if (gnutls_x509_crt_init(&certificate) < 0)
        return NULL;
    const struct user *user = NULL;
    if (gnutls_x509_crt_import(certificate, &chain[0], GNUTLS_X509_FMT_DER) == 0)
        user = user_of_certificate(x, certificate);
    gnutls_x509_crt_deinit(certificate);
    return user;
}

static const char *header(const struct exchange *x, const char *name)
{
    const char *value = MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
    return value != NULL ? value : "";
}

static const struct user *identify(struct exchange *x)
{
    const char *authorization = header(x, "Authorization");
    const struct user *user = NULL;
    if (x->http->certificates && *authorization == 0)
        user = user_of_session(x);
    return user != NULL
               ? user
               : auth_by_header(x->http->server->auth, *authorization ? authorization : NULL);
}

/* ---- sending ---- */

static ssize_t read_pieces(void *context, uint64_t position, char *out, size_t room)
{
    (void)position;
    struct exchange *x = context;
    size_t used = 0;
    while (used < room && x->piece < x->answer.piece_count) {
        const struct blob *blob = x->answer.pieces[x->piece];
        size_t left = blob->size - x->offset;
        size_t size = left < room - used ? left : room - used;
        memcpy(out + used, blob->bytes + x->offset, size);
        used += size;
        x->offset += size;
        if (x->offset == blob->size) {
            x->piece++;
            x->offset = 0;
        }
    }
    return used > 0 ? (ssize_t)used : MHD_CONTENT_READER_END_OF_STREAM;
}

static ssize_t read_watch(void *context, uint64_t position, char *out, size_t room)
{
    (void)position;
    struct exchange *x = context;
    if (x->closing)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    int64_t got = watcher_fill(x->answer.watcher, out, room);
    if (got < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (got == 0)
        suspend(x);
    return (ssize_t)got;
}

static struct MHD_Response *build_response(struct exchange *x)
{
    struct answer *answer = &x->answer;
    if (answer->watcher != NULL) {
        watcher_on_wake(answer->watcher, wake, x);
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_watch, x, NULL);
    }
    if (answer->piece_count == 1)
        return MHD_create_response_from_buffer(answer->pieces[0]->size, answer->pieces[0]->bytes,
                                               MHD_RESPMEM_MUST_COPY);
    uint64_t size = 0;
    for (size_t i = 0; i < answer->piece_count; i++)
        size += answer->pieces[i]->size;
    return MHD_create_response_from_callback(size, BLOCK_SIZE, read_pieces, x, NULL);
}

static enum MHD_Result send_answer(struct exchange *x)
{
    struct answer *answer = &x->answer;
    struct MHD_Response *response = build_response(x);
    must(response != NULL);
    MHD_add_response_header(response, "Content-Type", answer->content_type);
    MHD_add_response_header(response, "Cache-Control", "no-cache, private");
    if (answer->retry_after > 0) {
        struct buffer seconds = {0};
        buffer_print(&seconds, "%d", answer->retry_after);
        MHD_add_response_header(response, "Retry-After", seconds.at);
        buffer_free(&seconds);
    }
    enum MHD_Result queued = MHD_queue_response(x->connection, (unsigned)answer->code, response);
    MHD_destroy_response(response);
    return queued;
}

/* ---- receiving ---- */

static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    (void)kind;
    struct request *request = context;
    if (request->arg_count == ARGS_MAX)
        return MHD_NO;
    request->keys[request->arg_count] = key;
    request->values[request->arg_count++] = value != NULL ? value : "";
    return MHD_YES;
}

static void fill_request(struct exchange *x, const char *url, const char *method)
{
    struct request *request = &x->request;
    request->server = x->http->server;
    request->method = method;
    request->path = url;
    request->body = x->body.at != NULL ? x->body.at : "";
    request->body_size = x->body.len;
    request->content_type = header(x, "Content-Type");
    request->accept = header(x, "Accept");
    MHD_get_connection_values(x->connection, MHD_GET_ARGUMENT_KIND, add_argument, request);
    request->user = identify(x);
}

/* Up to where a fault may make the request wait; true when it waits. */
static bool begin(struct exchange *x)
{
    x->begun = true;
    if (x->too_big) {
        answer_status(&x->answer,
                      status_failure(413, "RequestEntityTooLarge",
                                     "Request entity too large: limit is %d", BODY_MAX));
        x->answered = true;
    } else {
        x->answered = front_begin(&x->request, &x->answer, &x->fault);
    }
    if (x->fault.hang) {
        suspend(x);
    } else if (x->fault.delay_ms > 0) {
        x->timer = timer_start(&x->http->server->timers, clock_ms() + x->fault.delay_ms, end_delay,
                               NULL, x);
        suspend(x);
    }
    return x->suspended;
}

static enum MHD_Result finish(struct exchange *x)
{
    if (x->closing || x->fault.hang || x->fault.drop)
        return MHD_NO;
    if (!x->answered)
        front_run(&x->request, &x->answer, &x->fault);
    x->answered = true;
    return x->fault.commit_then_drop ? MHD_NO : send_answer(x);
}

static struct exchange *exchange_new(struct http *http, struct MHD_Connection *connection)
{
    struct exchange *x = memory_take(sizeof *x);
    x->http = http;
    x->connection = connection;
    x->request.received_us = moment_wall_us();
    x->link = &http->exchanges;
    x->next = http->exchanges;
    if (x->next != NULL)
        x->next->link = &x->next;
    http->exchanges = x;
    return x;
}

/* The signature is libmicrohttpd's. */
/* NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    (void)version;
    struct exchange *x = *state;
    if (x == NULL) {
        *state = exchange_new(context, connection);
        return MHD_YES;
    }
    if (*upload_size > 0) {
        x->too_big |= x->body.len + *upload_size > BODY_MAX;
        if (!x->too_big)
            buffer_add(&x->body, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    if (!x->begun) {
        fill_request(x, url, method);
        if (begin(x))
            return MHD_YES;
    }
    return finish(x);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)connection;
    (void)code;
    struct http *http = context;
    struct exchange *x = *state;
    if (x == NULL)
        return;
    *state = NULL;
    if (x->timer != NULL)
        timer_stop(&http->server->timers, x->timer);
    if (x->answer.watcher != NULL) {
        audit_write(&x->request, x->answer.code);
        watcher_free(x->answer.watcher);
    }
    answer_clear(&x->answer);
    cJSON_Delete(x->request.audit_object);
    buffer_free(&x->body);
    *x->link = x->next;
    if (x->next != NULL)
        x->next->link = x->link;
    memory_free(x);
}

/* ---- the daemon ---- */

static void on_daemon_log(void *context, const char *format, va_list args)
{
    (void)context;
    char line[512];
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = 0;
    log_debug("libmicrohttpd|detail=\"%s\"", line);
}

struct http *http_new(struct server *server, const struct http_options *options, struct buffer *why)
{
    struct http *http = memory_take(sizeof *http);
    struct MHD_OptionItem tls[4] = {{MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    int count = 0;
    http->server = server;
    http->certificates = options->client_ca != NULL;
    if (options->tls_cert != NULL) {
        flags |= MHD_USE_TLS;
        tls[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, options->tls_cert};
        tls[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, options->tls_key};
        if (options->client_ca != NULL)
            tls[count++] =
                (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, options->client_ca};
        tls[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    }
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_daemon_log, NULL,
        MHD_OPTION_LISTEN_SOCKET, options->listener, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
        http, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
    if (http->daemon == NULL) {
        buffer_print(why, "cannot start serving: %s",
                     options->tls_cert != NULL
                         ? "--tls-cert, --tls-key or --client-ca is not usable PEM"
                         : strerror(errno));
        memory_free(http);
        return NULL;
    }
    return http;
}

void http_turn(struct http *http, int32_t wait_ms)
{
    MHD_run_wait(http->daemon, wait_ms);
}

static int socket_of(const struct exchange *x)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info != NULL ? info->connect_fd : -1;
}

/* Nobody sends while waiting for an answer, so anything to read means that the peer has left (for
 * TLS, that it said so). */
static bool peer_left(const struct exchange *x)
{
    char byte;
    ssize_t got = recv(socket_of(x), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void http_sweep(struct http *http)
{
    watchers_sweep(http->server, clock_ms());
    for (struct exchange *x = http->exchanges, *next; x != NULL; x = next) {
        next = x->next;
        if (x->suspended && peer_left(x)) {
            x->closing = true;
            resume(x);
        } else if (x->answer.watcher != NULL && watcher_is_lost(x->answer.watcher)) {
            log_warn("watcher cut off|resource=%s reason=\"fell behind the history\"",
                     x->request.resource->plural);
            x->closing = true;
            shutdown(socket_of(x), SHUT_RDWR);
            resume(x);
        }
    }
}

void http_free(struct http *http)
{
    if (http == NULL)
        return;
    for (struct exchange *x = http->exchanges; x != NULL; x = x->next) {
        x->closing = true;
        resume(x);
    }
    http_turn(http, 0);
    MHD_stop_daemon(http->daemon);
    memory_free(http);
}
