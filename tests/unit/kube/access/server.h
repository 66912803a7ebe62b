/* server: an HTTP/1.1 server of a few paths inside the test's own loop, to see exactly what the
 * client sends and how it takes bad answers. Include it in one test only. */
#ifndef TEST_SERVER_H
#define TEST_SERVER_H

#include "proto/base/buffer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVER_LINKS_MAX 64

struct server {
    int fd, port;
    int links[SERVER_LINKS_MAX]; /* -1: free */
    struct buffer in[SERVER_LINKS_MAX];
    unsigned connections, requests; /* seen */
    char last[2048];                /* the last request's head */
};

static void server_open(struct server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    *s = (struct server){.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    assert_true(s->fd >= 0 && bind(s->fd, (struct sockaddr *)&address, len) == 0);
    assert_int_equal(listen(s->fd, 64), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&address, &len), 0);
    s->port = ntohs(address.sin_port);
    for (size_t i = 0; i < SERVER_LINKS_MAX; i++)
        s->links[i] = -1;
}

static void server_hang_up(struct server *s, size_t i)
{
    close(s->links[i]);
    s->links[i] = -1;
    buffer_free(&s->in[i]);
}

static void server_close(struct server *s)
{
    for (size_t i = 0; i < SERVER_LINKS_MAX; i++)
        if (s->links[i] >= 0)
            server_hang_up(s, i);
    close(s->fd);
}

static void server_write(struct server *s, size_t i, const char *text)
{
    assert_int_equal(send(s->links[i], text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void server_answer(struct server *s, size_t i, const char *head, const char *body)
{
    struct buffer out = {0};
    buffer_print(&out, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", head, strlen(body), body);
    server_write(s, i, out.at);
    buffer_free(&out);
}

#define STREAM_HEAD "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/* What the paths do. */
static void server_serve(struct server *s, size_t i, const char *path, const char *body)
{
    if (strcmp(path, "/busy") == 0)
        server_answer(s, i, "429 Too Many Requests\r\nRetry-After: 7", "{\"message\":\"busy\"}");
    else if (strcmp(path, "/gateway") == 0)
        server_answer(s, i, "504 Gateway Timeout", "");
    else if (strcmp(path, "/new") == 0)
        server_answer(s, i, strstr(s->last, "Bearer new\r\n") ? "200 OK" : "401 Unauthorized", "");
    else if (strcmp(path, "/stream") == 0)
        server_write(s, i, STREAM_HEAD "4\r\none\n\r\n4\r\ntwo\n\r\n0\r\n\r\n");
    else if (strcmp(path, "/silent") == 0)
        server_write(s, i, STREAM_HEAD "4\r\none\n\r\n");
    else if (strcmp(path, "/drop") == 0)
        server_hang_up(s, i);
    else if (strcmp(path, "/half") == 0 || strcmp(path, "/half-stream") == 0) {
        server_write(s, i,
                     path[5] ? STREAM_HEAD "4\r\none\n\r\n"
                             : "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
        server_hang_up(s, i);
    } else if (strcmp(path, "/hang") != 0)
        server_answer(s, i, "200 OK", *body ? body : "{}");
}

/* Serves one whole request when there is one. */
static bool server_take(struct server *s, size_t i)
{
    struct buffer *in = &s->in[i];
    char *end = in->len ? strstr(in->at, "\r\n\r\n") : NULL;
    if (end == NULL)
        return false;
    const char *length = strstr(in->at, "Content-Length: ");
    size_t body = length && length < end ? (size_t)atoi(length + 16) : 0;
    size_t head = (size_t)(end - in->at) + 4;
    if (in->len < head + body)
        return false;
    char path[256] = "", text[1024] = "";
    snprintf(s->last, sizeof(s->last), "%.*s", (int)head, in->at);
    assert_int_equal(sscanf(s->last, "%*s %255s", path), 1);
    snprintf(text, sizeof(text), "%.*s", (int)body, end + 4);
    memmove(in->at, in->at + head + body, in->len - head - body + 1);
    in->len -= head + body;
    s->requests++;
    server_serve(s, i, path, text);
    return s->links[i] >= 0;
}

static void server_accept(struct server *s)
{
    int fd;
    while ((fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        size_t i = 0;
        while (s->links[i] >= 0)
            assert_true(++i < SERVER_LINKS_MAX);
        s->links[i] = fd;
        s->connections++;
    }
}

/* Takes what has come; never waits. */
static void server_work(struct server *s)
{
    server_accept(s);
    for (size_t i = 0; i < SERVER_LINKS_MAX; i++) {
        char piece[4096];
        ssize_t n = 0;
        while (s->links[i] >= 0 && (n = recv(s->links[i], piece, sizeof(piece), 0)) > 0)
            buffer_add(&s->in[i], piece, (size_t)n);
        if (s->links[i] >= 0 && n == 0)
            server_hang_up(s, i);
        while (s->links[i] >= 0 && server_take(s, i))
            continue;
    }
}

#endif
