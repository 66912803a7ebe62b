/* The server's state and the two structs every verb works on: a request and its answer.
 *
 * Nothing below this header knows HTTP: http.c fills a request, calls api_handle and sends the
 * answer; a unit test does the same by hand. */
#ifndef APISERVER_SERVER_H
#define APISERVER_SERVER_H

#include "registry.h"
#include "status.h"
#include "timers.h"

#include <stdio.h>

enum kubelet_mode { KUBELET_NONE, KUBELET_DELETE, KUBELET_RUN };

struct user {
    char *name, *uid;
    char **groups;
    size_t group_count;
    bool admin;
};

struct faults;
struct watcher;
struct auth;

struct server {
    struct registry registry;
    struct timers timers;
    enum kubelet_mode kubelet;
    struct auth *auth;
    struct faults *faults;
    struct watcher *watchers[RESOURCE_COUNT]; /* lists, by shelf */
    FILE *audit;                              /* NULL without --audit-log */
    uint64_t next_address;                    /* for the pod IPs that the toy kubelet hands out */
};

void server_init(struct server *server, size_t history);
void server_free(struct server *server);

enum { ARGS_MAX = 24 };

struct request {
    struct server *server;
    const char *method, *path;
    const char *keys[ARGS_MAX], *values[ARGS_MAX];
    size_t arg_count;
    const char *body;
    size_t body_size;
    const char *content_type, *accept; /* "" when the client sent none */
    const struct user *user;
    int64_t received_us;
    /* Filled by route_parse. */
    const struct resource *resource; /* NULL for paths that are no resource */
    char namespace[256], name[256], subresource[64];
    const char *verb;
    /* Set by handlers for the audit log; owned by the request. */
    cJSON *audit_object;
};

const char *request_arg(const struct request *request, const char *key);
bool request_flag(const struct request *request, const char *key);
/* The body as a tree, from JSON or protobuf; NULL with the Status in refused when it is neither. */
cJSON *request_tree(const struct request *request, cJSON **refused);

/* One piece of the body, in order. */
struct answer {
    int code;
    const char *content_type;
    int retry_after; /* seconds, 0 for none */
    struct blob **pieces;
    size_t piece_count, piece_room;
    struct watcher *watcher; /* a stream instead of pieces */
};

/* Takes the blob. */
void answer_piece(struct answer *answer, struct blob *blob);
void answer_text(struct answer *answer, int code, const char *content_type, const char *text);
/* Takes the tree. */
void answer_tree(struct answer *answer, int code, cJSON *tree);
/* Takes a Status and answers with its code. */
void answer_status(struct answer *answer, cJSON *status);
/* The object in the shape of the resource that was asked for. */
void answer_object(const struct request *request, struct answer *answer, int code,
                   struct object *object);
void answer_clear(struct answer *answer);

#endif
