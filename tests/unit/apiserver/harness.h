/* What the API server's unit tests share: a server without HTTP, and requests made by hand. */
#ifndef TEST_APISERVER_HARNESS_H
#define TEST_APISERVER_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/apiserver/api.h"
#include "tests/apiserver/auth.h"
#include "tests/apiserver/demo.h"
#include "tests/apiserver/front.h"
#include "tests/apiserver/watch.h"

#define UNUSED __attribute__((unused))

static struct server server;

UNUSED static int server_setup(void **state)
{
    (void)state;
    tree_setup();
    server_init(&server, 8);
    server.auth = auth_new();
    server.faults = faults_new();
    demo_furnish(&server);
    return 0;
}

UNUSED static int server_teardown(void **state)
{
    (void)state;
    faults_free(server.faults);
    auth_free(server.auth);
    server_free(&server);
    return 0;
}

/* The answer to one request; "path?key=value&…", without escapes. The caller frees the tree. */
struct reply {
    int code;
    cJSON *tree;
    struct watcher *watcher;
};

UNUSED static void split_arguments(struct request *request, char *query)
{
    char *pair;
    while (query != NULL && (pair = strsep(&query, "&")) != NULL) {
        char *equals = strchr(pair, '=');
        assert_non_null(equals);
        *equals = 0;
        request->keys[request->arg_count] = pair;
        request->values[request->arg_count++] = equals + 1;
    }
}

UNUSED static struct reply ask_as(const char *type, const char *method, const char *target,
                                  const char *body)
{
    char path[512];
    snprintf(path, sizeof path, "%s", target);
    char *query = strchr(path, '?');
    if (query != NULL)
        *query++ = 0;
    struct request request = {.server = &server,
                              .method = method,
                              .path = path,
                              .content_type = type,
                              .accept = "",
                              .body = body,
                              .body_size = strlen(body)};
    struct answer answer = {0};
    struct fault fault;
    split_arguments(&request, query);
    request.user = auth_by_header(server.auth, NULL);
    if (!front_begin(&request, &answer, &fault))
        front_run(&request, &answer, &fault);
    struct buffer all = {0};
    for (size_t i = 0; i < answer.piece_count; i++)
        buffer_add(&all, answer.pieces[i]->bytes, answer.pieces[i]->size);
    struct reply reply = {answer.code, all.len ? tree_parse(all.at, all.len) : NULL,
                          answer.watcher};
    buffer_free(&all);
    cJSON_Delete(request.audit_object);
    answer_clear(&answer);
    return reply;
}

UNUSED static struct reply ask(const char *method, const char *target, const char *body)
{
    return ask_as("application/json", method, target, body);
}

/* Asks, checks the code, and keeps only the tree. */
UNUSED static cJSON *expect(int code, const char *method, const char *target, const char *body)
{
    struct reply reply = ask(method, target, body);
    if (reply.code != code)
        print_error("%s %s: %s\n", method, target, tree_string(reply.tree, "message", ""));
    assert_int_equal(reply.code, code);
    return reply.tree;
}

UNUSED static void expect_only(int code, const char *method, const char *target, const char *body)
{
    cJSON_Delete(expect(code, method, target, body));
}

UNUSED static void make_pod(const char *name)
{
    char body[512];
    snprintf(body, sizeof body,
             "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\",\"labels\":{"
             "\"app\":\"%s\"}},"
             "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
             name, name);
    expect_only(201, "POST", "/api/v1/namespaces/default/pods", body);
}

/* All that a stream has to say now. */
UNUSED static char *stream_text(struct watcher *watcher)
{
    struct buffer text = {0};
    char chunk[64];
    int64_t got;
    while ((got = watcher_fill(watcher, chunk, sizeof chunk)) > 0)
        buffer_add(&text, chunk, (size_t)got);
    buffer_add(&text, "", 0);
    return text.at;
}

#define PODS "/api/v1/namespaces/default/pods"

#endif
