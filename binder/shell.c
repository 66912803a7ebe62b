/* shell: the order of things around every piece of work that may write: raise the dead man's flag,
 * read the clock, take back what may not go out any more, work, lower the flag. What must stay
 * true: the client never works on a fenced request outside of that order. */
#include "binder/shell.h"
#include "binder/deadman.h"

static uint64_t send(void *state, const struct kube_request *request)
{
    struct shell *shell = state;
    shell->sent = true;
    return kube_client_send(shell->client, request);
}

static void cancel(void *state, uint64_t number)
{
    kube_client_cancel(((struct shell *)state)->client, number);
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

static int64_t term(const void *state)
{
    return binder_term(((const struct shell *)state)->binder);
}

struct actor shell_actor(struct shell *shell)
{
    return (struct actor){.state = shell,
                          .handle = handle,
                          .tick = tick,
                          .fd = kube_client_fd(shell->client),
                          .work = work,
                          .stop = stop,
                          .done = done,
                          .stop_limit = span_of_ms(BINDER_STOP_LIMIT_MS),
                          .status = status,
                          .term = term};
}
