/* watched: a reflector in virtual time before a fake server that is a few lines of text; every wait
 * is a number that the test moves. What must stay true: nothing here waits for anything real. */
#ifndef TEST_WATCHED_H
#define TEST_WATCHED_H

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/kube/watch/reflector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct reflector *r;
    struct moment now;
    struct reflector_request request;
    char path[2048];
    char told[4096]; /* what the owner was told: [ =listed ] +changed -deleted */
};

static inline void tell(void *context, const char *what, const struct kube_json *object)
{
    struct fixture *f = context;
    struct str name = kube_json_text(kube_json_path(object, "metadata.name"));
    size_t len = strlen(f->told);
    snprintf(f->told + len, sizeof(f->told) - len, "%s%s%.*s", len ? " " : "", what, STR_ARG(name));
}

static inline void on_begin(void *context)
{
    tell(context, "[", NULL);
}

static inline void on_end(void *context)
{
    tell(context, "]", NULL);
}

static inline void on_object(void *context, const struct kube_json *object, bool listed)
{
    tell(context, listed ? "=" : "+", object);
}

static inline void on_deleted(void *context, const struct kube_json *object)
{
    tell(context, "-", object);
}

static inline struct fixture *make_any(bool required, bool protobuf, bool may_be_absent)
{
    struct fixture *f = memory_take(sizeof(*f));
    f->now = (struct moment){1000000000};
    f->r = reflector_new(&(struct reflector_options){.name = "pods",
                                                     .kind = "Pod",
                                                     .path = "/api/v1/pods",
                                                     .field_selector = "status.phase!=Failed",
                                                     .required = required,
                                                     .protobuf = protobuf,
                                                     .may_be_absent = may_be_absent,
                                                     .page_size = 2,
                                                     .seed = 7,
                                                     .context = f,
                                                     .list_begin = on_begin,
                                                     .object = on_object,
                                                     .deleted = on_deleted,
                                                     .list_end = on_end});
    return f;
}

static inline struct fixture *make(bool required, bool protobuf)
{
    return make_any(required, protobuf, false);
}

static inline int setup(void **state)
{
    *state = make(true, false);
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    reflector_free(&f->r);
    memory_free(f);
    return 0;
}

static inline bool next(struct fixture *f)
{
    if (!reflector_next(f->r, f->now, &f->request))
        return false;
    snprintf(f->path, sizeof(f->path), "%.*s", STR_ARG(f->request.path));
    return true;
}

static inline void pass_ms(struct fixture *f, int64_t ms)
{
    f->now = moment_after(f->now, span_of_ms(ms));
}

/* How long until it wants a request; moves the time there. */
static inline int64_t wait_for_next(struct fixture *f)
{
    assert_false(next(f));
    struct moment at = reflector_deadline(f->r);
    assert_true(at.ns < MOMENT_NEVER.ns && at.ns > f->now.ns);
    int64_t ms = (at.ns - f->now.ns) / 1000000;
    f->now = at;
    assert_true(next(f));
    return ms;
}

static inline void answer(struct fixture *f, int status, const char *body)
{
    struct kube_response response = {
        .status = status, .body = str_of(body), .error = "", .retry_after_s = -1};
    reflector_response(f->r, f->now, f->request.number, &response);
}

static inline void refuse(struct fixture *f, int status, int retry_after_s)
{
    struct kube_response response = {.status = status,
                                     .body = STR_LITERAL("{\"message\":\"because\"}"),
                                     .error = "",
                                     .retry_after_s = retry_after_s};
    reflector_response(f->r, f->now, f->request.number, &response);
}

static inline void breaks(struct fixture *f, int status)
{
    struct kube_response response = {
        .status = status, .error = "https://a: connection refused", .retry_after_s = -1};
    reflector_response(f->r, f->now, f->request.number, &response);
}

static inline void stream(struct fixture *f, const char *text)
{
    reflector_data(f->r, f->now, f->request.number, str_of(text));
}

static inline void assert_told(struct fixture *f, const char *words)
{
    assert_string_equal(f->told, words);
    f->told[0] = 0;
}

static inline void assert_error(struct fixture *f, const char *text)
{
    assert_string_equal(reflector_status(f->r).error, text);
}

#define OBJECT(name, version)                                                                      \
    "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define LIST(version, more, items)                                                                 \
    "{\"metadata\":{\"resourceVersion\":\"" version "\",\"continue\":\"" more                      \
    "\"},\"items\":[" items "]}"
#define EVENT(type, name, version) "{\"type\":\"" type "\",\"object\":" OBJECT(name, version) "}\n"
#define ERROR_EVENT(code)                                                                          \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":" code                           \
    ",\"message\":\"too old\"}}\n"

static const char watch_path[] =
    "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=";

static inline void assert_watch_from(struct fixture *f, const char *version)
{
    char expected[200];
    snprintf(expected, sizeof(expected), "%s%s&timeoutSeconds=", watch_path, version);
    assert_true(f->request.watch);
    assert_int_equal(f->request.timeout.ns, 0);
    assert_memory_equal(f->path, expected, strlen(expected));
}

static inline void assert_list_starts(struct fixture *f)
{
    assert_string_equal(f->path, "/api/v1/pods?limit=2&fieldSelector=status.phase%21%3DFailed");
    assert_false(f->request.watch);
    assert_true(f->request.timeout.ns > 0);
}

/* Up to an open watch from version 10. */
static inline void watch(struct fixture *f)
{
    assert_true(next(f));
    answer(f, 200, LIST("10", "", OBJECT("a", "5")));
    assert_true(next(f));
    assert_watch_from(f, "10");
    assert_told(f, "[ =a ]");
}

#endif
