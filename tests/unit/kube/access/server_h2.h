/* server_h2: an HTTP/2 server over TLS inside the test's own loop, with a certificate of its own
 * making. Its paths answer, wait, refuse, break off or say goodbye. Include it in one test only. */
#ifndef TEST_SERVER_H2_H
#define TEST_SERVER_H2_H

#include "proto/base/buffer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINKS_MAX 16

struct h2_stream {
    struct h2_stream *next, **at_me; /* among those of the link */
    char path[64], token[64];
    bool endless;       /* its body does not end */
    struct buffer body; /* sent back */
    size_t at;
};

struct h2_link {
    struct h2_server *server;
    int fd; /* -1: free */
    SSL *ssl;
    nghttp2_session *session;
    struct h2_stream *streams;
    unsigned requests;
    bool drop;
};

struct h2_server {
    int fd, port;
    SSL_CTX *tls;
    struct h2_link links[LINKS_MAX];
    unsigned connections, requests, cancelled;
};

static int choose_h2(SSL *ssl, const unsigned char **out, unsigned char *len,
                     const unsigned char *in, unsigned int in_len, void *context)
{
    (void)ssl, (void)context;
    for (unsigned i = 0; i < in_len; i += in[i] + 1u)
        if (in[i] == 2 && memcmp(in + i + 1, "h2", 2) == 0) {
            *out = in + i + 1;
            *len = 2;
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_NOACK;
}

static SSL_CTX *make_tls(void)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    assert_true(tls != NULL && key != NULL && cert != NULL);
    X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_set_pubkey(cert, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                               (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(cert));
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    assert_int_equal(SSL_CTX_use_certificate(tls, cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(tls, key), 1);
    SSL_CTX_set_alpn_select_cb(tls, choose_h2, NULL);
    X509_free(cert);
    EVP_PKEY_free(key);
    return tls;
}

static void server_open(struct h2_server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    *s = (struct h2_server){.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    assert_true(s->fd >= 0 && bind(s->fd, (struct sockaddr *)&address, len) == 0);
    assert_int_equal(listen(s->fd, 64), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&address, &len), 0);
    s->port = ntohs(address.sin_port);
    s->tls = make_tls();
    for (size_t i = 0; i < LINKS_MAX; i++)
        s->links[i] = (struct h2_link){.server = s, .fd = -1};
}

static void stream_free(struct h2_stream *stream)
{
    *stream->at_me = stream->next;
    if (stream->next != NULL)
        stream->next->at_me = stream->at_me;
    buffer_free(&stream->body);
    memory_free(stream);
}

static void link_close(struct h2_link *l)
{
    while (l->streams != NULL)
        stream_free(l->streams);
    nghttp2_session_del(l->session);
    SSL_free(l->ssl);
    close(l->fd);
    *l = (struct h2_link){.server = l->server, .fd = -1};
}

static void server_close(struct h2_server *s)
{
    for (size_t i = 0; i < LINKS_MAX; i++)
        if (s->links[i].fd >= 0)
            link_close(&s->links[i]);
    SSL_CTX_free(s->tls);
    close(s->fd);
}

/* ---- streams ---- */

static ssize_t give_body(nghttp2_session *session, int32_t id, uint8_t *at, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    struct h2_stream *stream = source->ptr;
    size_t left = stream->body.len - stream->at, len = left < room ? left : room;
    (void)session, (void)id, (void)context;
    if (len > 0)
        memcpy(at, stream->body.at + stream->at, len);
    stream->at += len;
    if (stream->endless && len == 0)
        return NGHTTP2_ERR_DEFERRED;
    if (stream->at == stream->body.len && !stream->endless)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)len;
}

static nghttp2_nv pair(char *name, char *value)
{
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), 0};
}

static void respond(struct h2_link *l, int32_t id, struct h2_stream *stream, const char *status)
{
    char key[] = ":status", after[] = "retry-after", seven[] = "7", text[8];
    snprintf(text, sizeof(text), "%s", status);
    nghttp2_nv fields[] = {pair(key, text), pair(after, seven)};
    nghttp2_data_provider body = {.source.ptr = stream, .read_callback = give_body};
    size_t count = strcmp(status, "429") == 0 ? 2 : 1;
    assert_int_equal(nghttp2_submit_response(l->session, id, fields, count, &body), 0);
}

/* What the paths do. */
static void serve(struct h2_link *l, int32_t id, struct h2_stream *stream)
{
    const char *path = stream->path;
    l->requests++;
    l->server->requests++;
    stream->endless = strcmp(path, "/endless") == 0;
    if (stream->endless || strcmp(path, "/stream") == 0)
        buffer_add_text(&stream->body, "one\ntwo\n");
    if (strcmp(path, "/busy") == 0)
        respond(l, id, stream, "429");
    else if (strcmp(path, "/new") == 0)
        respond(l, id, stream, strcmp(stream->token, "Bearer new") == 0 ? "200" : "401");
    else if (strcmp(path, "/refuse") == 0)
        nghttp2_submit_rst_stream(l->session, 0, id, NGHTTP2_REFUSED_STREAM);
    else if (strcmp(path, "/reset") == 0)
        nghttp2_submit_rst_stream(l->session, 0, id, NGHTTP2_INTERNAL_ERROR);
    else if (strcmp(path, "/drop") == 0)
        l->drop = true;
    else if (strcmp(path, "/hang") != 0)
        respond(l, id, stream, "201");
    if (strcmp(path, "/goaway") == 0)
        nghttp2_submit_goaway(l->session, 0, id, NGHTTP2_NO_ERROR, NULL, 0);
}

static int begin(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct h2_link *l = context;
    struct h2_stream *stream = memory_take(sizeof(*stream));
    stream->next = l->streams;
    stream->at_me = &l->streams;
    if (stream->next != NULL)
        stream->next->at_me = &stream->next;
    l->streams = stream;
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
    return 0;
}

static int header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                  size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                  void *context)
{
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags, (void)context;
    if (name_len == 5 && memcmp(name, ":path", 5) == 0)
        snprintf(stream->path, sizeof(stream->path), "%.*s", (int)value_len, (const char *)value);
    if (name_len == 13 && memcmp(name, "authorization", 13) == 0)
        snprintf(stream->token, sizeof(stream->token), "%.*s", (int)value_len, (const char *)value);
    return 0;
}

static int data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *at, size_t len,
                void *context)
{
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    (void)flags, (void)context;
    buffer_add(&stream->body, at, len);
    return 0;
}

static int frame_came(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    struct h2_link *l = context;
    bool request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    l->server->cancelled += frame->hd.type == NGHTTP2_RST_STREAM;
    if (request && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        serve(l, frame->hd.stream_id,
              nghttp2_session_get_stream_user_data(session, frame->hd.stream_id));
    return 0;
}

static int stream_ended(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    (void)error, (void)context;
    if (stream != NULL)
        stream_free(stream);
    return 0;
}

/* ---- connections ---- */

static void server_accept(struct h2_server *s)
{
    int fd;
    while ((fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        size_t i = 0;
        while (s->links[i].fd >= 0)
            assert_true(++i < LINKS_MAX);
        struct h2_link *l = &s->links[i];
        nghttp2_session_callbacks *calls;
        nghttp2_option *options; /* libcurl resets each stream that it is done with */
        assert_int_equal(nghttp2_option_new(&options), 0);
        nghttp2_option_set_stream_reset_rate_limit(options, UINT64_MAX, UINT64_MAX);
        int at_once = 1; /* head and body of an answer are two writes */
        assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once)), 0);
        *l = (struct h2_link){.server = s, .fd = fd, .ssl = SSL_new(s->tls)};
        assert_int_equal(SSL_set_fd(l->ssl, fd), 1);
        SSL_set_accept_state(l->ssl);
        nghttp2_session_callbacks_new(&calls);
        nghttp2_session_callbacks_set_on_begin_headers_callback(calls, begin);
        nghttp2_session_callbacks_set_on_header_callback(calls, header);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, data);
        nghttp2_session_callbacks_set_on_frame_recv_callback(calls, frame_came);
        nghttp2_session_callbacks_set_on_stream_close_callback(calls, stream_ended);
        nghttp2_session_server_new2(&l->session, calls, l, options);
        nghttp2_session_callbacks_del(calls);
        nghttp2_option_del(options);
        nghttp2_submit_settings(l->session, 0, NULL, 0);
        s->connections++;
    }
}

/* All that is sent here fits the socket's buffer. */
static void link_work(struct h2_link *l)
{
    uint8_t piece[16384];
    const uint8_t *out;
    ssize_t len;
    int got;
    while ((got = SSL_read(l->ssl, piece, sizeof(piece))) > 0 && !l->drop)
        assert_int_equal(nghttp2_session_mem_recv(l->session, piece, (size_t)got), got);
    bool over = got <= 0 && SSL_get_error(l->ssl, got) != SSL_ERROR_WANT_READ;
    while (!over && !l->drop && SSL_is_init_finished(l->ssl) &&
           (len = nghttp2_session_mem_send(l->session, &out)) > 0)
        assert_int_equal(SSL_write(l->ssl, out, (int)len), len);
    if (over || l->drop)
        link_close(l);
}

/* Takes what has come; never waits. */
static void server_work(struct h2_server *s)
{
    server_accept(s);
    for (size_t i = 0; i < LINKS_MAX; i++)
        if (s->links[i].fd >= 0)
            link_work(&s->links[i]);
}

#endif
