/* server: what is answered at which path, and the loop's part of it. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "ctl/serve/access.h"
#include "ctl/serve/doors.h"
#include "ctl/serve/http.h"
#include "ctl/serve/page.h"
#include "ctl/serve/totals.h"

struct bus;
struct server;

struct server_options {
    const char *const *endpoints; /* of the processes; borrowed */
    const char *const *names;
    size_t count;
    struct access *access; /* borrowed, as the clients are */
    struct kube_client *clients[2];
    struct str configz;       /* JSON, whole */
    const char *const *given; /* flags as NAME=VALUE; borrowed */
    size_t given_count;
    struct totals_filter filter; /* of what /metrics shows */
    struct page_options page;    /* but for its epoll_fd */
};

struct server *server_new(const struct server_options *options);
void server_free(struct server **server);
/* Opens the port; the state for http_options.answer is the server. */
bool server_listen(struct server *server, const struct http_options *options, struct buffer *why);

/* For the actor loop. endpoint_of says where the delivery came from; NULL: unknown. */
void server_set_bus(struct server *server, const struct bus *bus);
void server_handle(void *state, struct moment now, const struct delivery *in, struct outbox *out);
void server_work(void *state, struct moment now, struct outbox *out);
struct moment server_tick(void *state, struct moment now, struct outbox *out);
void server_stop(void *state, struct moment now, struct outbox *out);
bool server_done(const void *state);
void server_status(void *state, struct buffer *lines);
int server_fd(const struct server *server);

#endif
