/* shell: the order of things around every piece of work that may write: raise the dead man's flag,
 * read the clock, take back what may not go out any more, work, lower the flag. What must stay
 * true: the client never works on a fenced request outside of that order. */
#include "binder/shell.h"
#include "binder/deadman.h"
#include "proto/base/must.h"
#include "proto/kube/extenders.h"

#include <sys/epoll.h>
#include <unistd.h>

/* Numbers of requests to the extender; the clients count from 1. */
#define EXTENDER_BIT (UINT64_C(1) << 63)

static uint64_t send(void *state, const struct kube_request *request)
{
    struct shell *shell = state;
    shell->sent = true;
    if (request->channel != KUBE_CHANNEL_extender)
        return kube_client_send(shell->client, request);
    must(shell->extender != NULL);
    return kube_client_send(shell->extender, request) | EXTENDER_BIT;
}

static void cancel(void *state, uint64_t number)
{
    struct shell *shell = state;
    if ((number & EXTENDER_BIT) != 0)
        kube_client_cancel(shell->extender, number & ~EXTENDER_BIT);
    else
        kube_client_cancel(shell->client, number);
}

static struct instant clock_now(void *state)
{
    (void)state;
    return (struct instant){moment_now(), moment_wall_us()};
}

struct api shell_api(struct shell *shell)
{
    return (struct api){.state = shell, .send = send, .cancel = cancel, .clock = clock_now};
}

static void work(void *state, struct moment now, struct outbox *out)
{
    struct shell *shell = state;
    (void)out;
    deadman_arm(now, binder_fence_end(shell->binder));
    deadman_enter();
    binder_guard(shell->binder);
    if (!binder_exposed(shell->binder))
        deadman_leave(); /* only reads and the lease: nothing to guard */
    shell->sent = false;
    kube_client_work(shell->client, now);
    if (shell->extender != NULL)
        kube_client_work(shell->extender, now);
    deadman_leave();
}

static void handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    binder_handle(((struct shell *)state)->binder, now, in, out);
}

static struct moment tick(void *state, struct moment now, struct outbox *out)
{
    struct shell *shell = state;
    struct moment next = binder_tick(shell->binder, now, out);
    if (shell->sent) {
        work(shell, now, out); /* out at once, not after the next wait */
        next = moment_earlier(next, binder_tick(shell->binder, now, out));
    }
    if (shell->extender != NULL)
        next = moment_earlier(next, kube_client_deadline(shell->extender, now));
    return moment_earlier(next, kube_client_deadline(shell->client, now));
}

static void stop(void *state, struct moment now, struct outbox *out)
{
    binder_stop(((struct shell *)state)->binder, now, out);
}

static bool done(const void *state)
{
    return binder_done(((const struct shell *)state)->binder);
}

static void status(void *state, struct buffer *lines)
{
    struct shell *shell = state;
    struct kube_client_stats s = kube_client_stats(shell->client);
    binder_status(shell->binder, lines);
    buffer_print(lines, "api=requests=%llu failures=%llu connections=%llu http2=%s\n",
                 (unsigned long long)s.requests, (unsigned long long)s.failures,
                 (unsigned long long)s.connections, s.http2 ? "true" : "false");
}

static void observe(void *state)
{
    binder_observe(((struct shell *)state)->binder);
}

static int64_t term(const void *state)
{
    return binder_term(((const struct shell *)state)->binder);
}

struct actor shell_actor(struct shell *shell)
{
    return (struct actor){.state = shell,
                          .handle = handle,
                          .tick = tick,
                          .fd = shell->extender != NULL ? shell->fd : kube_client_fd(shell->client),
                          .work = work,
                          .stop = stop,
                          .done = done,
                          .stop_limit = span_of_ms(BINDER_STOP_LIMIT_MS),
                          .status = status,
                          .observe = observe,
                          .term = term};
}

/* ---- the extender that binds ---- */

static bool wait_for(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool shell_reach_extender(struct shell *shell, const struct binder_options *options, char *error,
                          size_t room)
{
    const struct kube_client_options client = {.user_agent = "berth-binder", .connections_max = 32};
    const struct extender_config *binds = NULL;
    shell->fd = -1;
    for (uint32_t i = 0; i < options->extender_count; i++)
        if (options->extenders[i].bind_verb.len > 0)
            binds = &options->extenders[i];
    if (binds == NULL)
        return true;
    shell->way = extender_way(binds, error, room);
    if (shell->way != NULL)
        shell->extender = kube_client_new(shell->way, &client, error, room);
    if (shell->extender == NULL)
        return false;
    shell->fd = epoll_create1(EPOLL_CLOEXEC);
    must(shell->fd >= 0 && wait_for(shell->fd, kube_client_fd(shell->client)) &&
         wait_for(shell->fd, kube_client_fd(shell->extender)));
    return true;
}

void shell_leave_extender(struct shell *shell)
{
    kube_client_free(&shell->extender);
    kube_config_free(&shell->way);
    if (shell->fd >= 0)
        close(shell->fd);
    shell->fd = -1;
}
