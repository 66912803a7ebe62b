/* live: the real berth-binder against a real API server over HTTP, driven over a real bus.
 *
 * The API server is the small one beside this program, or, when BERTH_LIVE names a directory made
 * by tests/controlplane (started with --audit), the real one. Time is the real clock; every wait
 * has an end, and nothing is asserted about how long things take. */
#ifndef TEST_BINDER_LIVE_H
#define TEST_BINDER_LIVE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/bus/bus.h"
#include "proto/kube/access/client.h"
#include "proto/kube/writes/writes.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 40000

/* One instance: its binder, and we as its scheduler. */
struct side {
    pid_t pid;
    char name; /* a or b */
    char run_dir[128];
    struct bus *bus;
    struct outbox out;
    bool leading;
    int64_t term;
    uint32_t in_flight, told;
    uint32_t bound, refused; /* bind_results */
    uint32_t done, not_done; /* preempt_results */
    char last[256];          /* message of the last refusal */
};

struct live {
    char bin[PATH_MAX], dir[64], audit[PATH_MAX];
    char namespace_name[32];
    pid_t server;
    struct kube_config *config;
    struct kube_client *client;
    uint32_t open;      /* our own requests not answered */
    int status;         /* of the last one */
    struct buffer body; /* of the last one */
    struct side sides[2];
};

static inline pid_t live_spawn(const struct live *l, const char *const argv[], const char *log)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof(path), "%s/%s", l->dir, log);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing outlives the test */
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    union {
        const char *const *in;
        char *const *out; /* execv changes nothing, its type only says so for us */
    } args = {.in = argv};
    execv(argv[0], args.out);
    _exit(127);
}

static inline void live_reap(pid_t *pid, int number)
{
    if (*pid <= 0)
        return;
    kill(*pid, number);
    waitpid(*pid, NULL, 0);
    *pid = 0;
}

/* ---- one round of everything ---- */

static inline void live_hear(struct side *s, const struct message *m)
{
    if (m->type == MSG_leadership) {
        s->leading = m->leadership.leading;
        s->term = m->leadership.lead_term;
        s->in_flight = m->leadership.in_flight.count;
        s->told++;
    } else if (m->type == MSG_bind_result) {
        if (m->bind_result.bound)
            s->bound++;
        else
            s->refused++;
        if (!m->bind_result.bound)
            snprintf(s->last, sizeof(s->last), "%.*s", STR_ARG(m->bind_result.message));
    } else if (m->type == MSG_preempt_result) {
        if (m->preempt_result.done)
            s->done++;
        else
            s->not_done++;
        if (!m->preempt_result.done)
            snprintf(s->last, sizeof(s->last), "%.*s", STR_ARG(m->preempt_result.message));
    }
}

static inline void live_round(struct live *l)
{
    struct moment now = moment_now(), soon = moment_after(now, span_of_ms(10));
    struct bus *waiter = NULL;
    for (int i = 0; i < 2; i++) {
        struct side *s = &l->sides[i];
        struct delivery in;
        if (s->bus == NULL)
            continue;
        while (bus_receive(s->bus, now, &in))
            live_hear(s, in.message);
        bus_send(s->bus, &s->out);
        bus_tick(s->bus, now);
        waiter = s->bus;
    }
    kube_client_work(l->client, now);
    soon = moment_earlier(soon, kube_client_deadline(l->client, now));
    if (waiter != NULL)
        bus_wait(waiter, kube_client_fd(l->client), now, soon);
}

/* Rounds until condition holds; fails the test when it never does. */
#define live_until(l, condition)                                                                   \
    do {                                                                                           \
        struct moment end_ = moment_after(moment_now(), span_of_ms(PATIENCE_MS));                  \
        while (!(condition)) {                                                                     \
            if (moment_reached(moment_now(), end_))                                                \
                fail_msg("never: %s", #condition);                                                 \
            live_round(l);                                                                         \
        }                                                                                          \
    } while (0)

/* ---- our own requests, as an administrator ---- */

static inline void live_answered(void *context, const struct kube_response *r)
{
    struct live *l = context;
    l->open--;
    l->status = r->status;
    buffer_reset(&l->body);
    buffer_add_str(&l->body, r->body);
}

static inline void live_send(struct live *l, enum kube_method method, const char *path,
                             const char *body)
{
    l->open++;
    kube_client_send(l->client,
                     &(struct kube_request){.method = method,
                                            .channel = KUBE_CHANNEL_write,
                                            .path = str_of(path),
                                            .content_type = !body                  ? NULL
                                                            : method == KUBE_PATCH ? WRITES_PATCH
                                                                                   : WRITES_JSON,
                                            .body = str_of(body ? body : ""),
                                            .timeout = span_of_ms(10000),
                                            .context = l,
                                            .done = live_answered});
}

static inline int live_call(struct live *l, enum kube_method method, const char *path,
                            const char *body)
{
    live_send(l, method, path, body);
    live_until(l, l->open == 0);
    return l->status;
}

/* How often text occurs in the answer to a GET. */
static inline int live_occurs(struct live *l, const char *path, const char *text)
{
    int count = 0;
    assert_int_equal(live_call(l, KUBE_GET, path, NULL), 200);
    for (const char *at = l->body.at; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

/* Creates a pod and writes its UID. */
static inline void live_pod(struct live *l, const char *name, char uid[64])
{
    char path[128], body[512];
    struct arena a = {0};
    struct writes_pod pod;
    snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods", l->namespace_name);
    snprintf(body, sizeof(body),
             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\"},\"spec\":"
             "{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
             name);
    assert_int_equal(live_call(l, KUBE_POST, path, body), 201);
    assert_true(writes_pod_read(buffer_str(&l->body), &pod, &a));
    snprintf(uid, 64, "%.*s", STR_ARG(pod.uid));
    arena_free(&a);
}

/* With two claims to bind first, unless that is NULL. */
static inline void live_bind_claims(struct live *l, struct side *s, const char *name,
                                    const char *uid, struct claim_binding claims[2])
{
    struct message m = {.type = MSG_bind};
    m.bind = (struct bind){.uid = str_of(uid),
                           .namespace_name = str_of(l->namespace_name),
                           .name = str_of(name),
                           .node_name = STR_LITERAL("n1"),
                           .scheduler_name = STR_LITERAL("default-scheduler"),
                           .resource_version = 1,
                           .claims = {claims ? 2 : 0, claims},
                           .bind_timeout_s = 30,
                           .set_nominated = claims != NULL};
    outbox_put(&s->out, (struct address){BINDER, 0}, &m);
}

static inline void live_bind(struct live *l, struct side *s, const char *name, const char *uid)
{
    live_bind_claims(l, s, name, uid, NULL);
}

/* Victims are two pods with their UIDs; preemptor is a pod on no node. */
static inline void live_preempt(struct live *l, struct side *s, const char *preemptor,
                                const char *const names[2], char uids[2][64])
{
    struct victim victims[2];
    struct message m = {.type = MSG_preempt};
    for (int i = 0; i < 2; i++)
        victims[i] = (struct victim){.uid = str_of(uids[i]),
                                     .namespace_name = str_of(l->namespace_name),
                                     .name = str_of(names[i])};
    m.preempt = (struct preempt){.pod = {.uid = str_of(preemptor),
                                         .namespace_name = str_of(l->namespace_name),
                                         .name = str_of(preemptor),
                                         .scheduler_name = STR_LITERAL("default-scheduler")},
                                 .node_name = STR_LITERAL("n1"),
                                 .victims = {2, victims}};
    outbox_put(&s->out, (struct address){BINDER, 0}, &m);
}

#endif
