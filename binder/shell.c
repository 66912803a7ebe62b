/* shell: the order of things around every piece of work that may write: raise the dead man's flag,
 * read the clock, take back what may not go out any more, work, lower the flag. What must stay
 * true: the client never works on a fenced request outside of that order. */
#include "binder/shell.h"
#include "binder/deadman.h"
#include "binder/settings.h"
#include "proto/base/log.h"
#include "proto/base/must.h"
#include "proto/journal/journal.h"

#include <sys/epoll.h>
#include <unistd.h>

/* Numbers of requests to extenders: their route, then the client's own, which counts from 1. */
#define EXTENDER_BIT (UINT64_C(1) << 63)
#define ROUTE_SHIFT  48
#define NUMBER_MASK  ((UINT64_C(1) << ROUTE_SHIFT) - 1)

static uint64_t send(void *state, const struct kube_request *request)
{
    struct shell *shell = state;
    shell->sent = true;
    if (request->channel != KUBE_CHANNEL_extender)
        return talk_send(shell->talk, request);
    return talk_send(delegates_talk(shell->delegates, request->route), request) |
           (uint64_t)request->route << ROUTE_SHIFT | EXTENDER_BIT;
}

static void cancel(void *state, uint64_t number)
{
    struct shell *shell = state;
    uint32_t route = (uint32_t)((number & ~EXTENDER_BIT) >> ROUTE_SHIFT);
    if ((number & EXTENDER_BIT) != 0)
        talk_cancel(delegates_talk(shell->delegates, route), number & NUMBER_MASK);
    else
        talk_cancel(shell->talk, number);
}

static const struct extender_config *extender(void *state, const struct bind *bind, uint32_t *route)
{
    return delegates_find(((struct shell *)state)->delegates, bind, route);
}

static void release(void *state, uint32_t route)
{
    delegates_release(((struct shell *)state)->delegates, route);
}

/* Spans are no part of what the binder does, so they are not in its journal. */
static void trace(void *state, const struct spans *spans)
{
    struct shell *shell = state;
    struct moment now = shell->exporter != NULL ? moment_now() : (struct moment){0};
    for (uint32_t i = 0; shell->exporter != NULL && i < spans->spans.count; i++)
        exporter_add(shell->exporter, now, &spans->spans.at[i]);
}

static struct instant clock_now(void *state)
{
    struct instant at;
    (void)state;
    journal_clocks(&at.now, &at.wall_us);
    return at;
}

struct api shell_api(struct shell *shell)
{
    return (struct api){.state = shell,
                        .send = send,
                        .cancel = cancel,
                        .extender = extender,
                        .release = release,
                        .trace = trace,
                        .clock = clock_now};
}

static void work(void *state, struct moment now, struct outbox *out)
{
    struct shell *shell = state;
    (void)out;
    deadman_arm(binder_fence_end(shell->binder));
    deadman_enter();
    binder_guard(shell->binder);
    if (!binder_exposed(shell->binder))
        deadman_leave(); /* only reads and the lease: nothing to guard */
    shell->sent = false;
    talk_work(shell->talk, now);
    delegates_work(shell->delegates, now);
    deadman_leave();
    if (shell->exporter != NULL)
        exporter_work(shell->exporter, now);
}

static void handle(void *state, struct moment now, const struct delivery *in, struct outbox *out)
{
    binder_handle(((struct shell *)state)->binder, now, in, out);
}

/* Its rate is all of a file that the binder can change while it holds the lease. */
static void look_at_config(struct shell *shell, struct moment now)
{
    struct arena memory = {0};
    struct scheduler_config config;
    double qps;
    uint32_t burst;
    if (config_follow_look(&shell->config, now, actor_hangup(), &config, &memory)) {
        settings_rate(&config, &qps, &burst);
        binder_limit(shell->binder, qps, burst);
        log_info("configuration changed| hash=%016llx qps=%g burst=%u",
                 (unsigned long long)shell->config.hash, qps, burst);
        if (settings_fixed(&config) != shell->fixed)
            log_warn("configuration| note=\"leaderElection and clientConnection, its rate aside, "
                     "take effect with a restart\"");
    }
    arena_free(&memory);
}

static struct moment tick(void *state, struct moment now, struct outbox *out)
{
    struct shell *shell = state;
    look_at_config(shell, now);
    struct moment next = binder_tick(shell->binder, now, out);
    if (shell->sent) {
        work(shell, now, out); /* out at once, not after the next wait */
        next = moment_earlier(next, binder_tick(shell->binder, now, out));
    }
    next = moment_earlier(next, delegates_deadline(shell->delegates, now));
    if (shell->exporter != NULL)
        next = moment_earlier(next, exporter_deadline(shell->exporter, now));
    if (shell->config.watch.path != NULL)
        next = moment_earlier(next, shell->config.watch.next);
    return moment_earlier(next, talk_deadline(shell->talk, now));
}

static void stop(void *state, struct moment now, struct outbox *out)
{
    binder_stop(((struct shell *)state)->binder, now, out);
}

static bool done(const void *state)
{
    return binder_done(((const struct shell *)state)->binder);
}

static void tell_spans(const struct exporter *exporter, struct buffer *lines)
{
    struct exporter_stats s = exporter_stats(exporter);
    buffer_print(lines, "spans=exported=%llu dropped=%llu waiting=%u requests=%llu failed=%llu\n",
                 (unsigned long long)s.exported, (unsigned long long)s.dropped, s.waiting,
                 (unsigned long long)s.requests, (unsigned long long)s.failed);
}

static void status(void *state, struct buffer *lines)
{
    struct shell *shell = state;
    struct kube_client_stats s = kube_client_stats(shell->client);
    binder_status(shell->binder, lines);
    delegates_status(shell->delegates, lines);
    config_follow_status(&shell->config, lines);
    if (shell->exporter != NULL)
        tell_spans(shell->exporter, lines);
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
                          .fd = shell->fd,
                          .work = work,
                          .stop = stop,
                          .done = done,
                          .stop_limit = span_of_ms(BINDER_STOP_LIMIT_MS),
                          .status = status,
                          .observe = observe,
                          .term = term};
}

/* There is nothing to wait for where a journal is played back. */
static void wait_for(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    must(fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

/* Where a journal is played back nothing is exported. */
static bool open_exporter(struct shell *shell, const char *url, char *error, size_t room)
{
    if (url == NULL || journal_plays())
        return true;
    shell->exporter = exporter_new(
        &(struct exporter_options){.url = url, .version = OPTIONS_VERSION}, error, room);
    if (shell->exporter != NULL)
        wait_for(shell->fd, exporter_fd(shell->exporter));
    return shell->exporter != NULL;
}

bool shell_open(struct shell *shell, const struct shell_options *options, char *error, size_t room)
{
    const char *config_path = options->config_path;
    struct arena memory = {0};
    struct scheduler_config config;
    if (scheduler_config_load(config_path, release_features(RELEASE_NEWEST), &config, &memory,
                              NULL))
        shell->fixed = settings_fixed(&config);
    arena_free(&memory);
    config_follow_init(&shell->config, config_path);
    shell->delegates = delegates_new(config_path, error, room);
    shell->fd = epoll_create1(EPOLL_CLOEXEC);
    must(shell->fd >= 0);
    shell->talk = talk_new(shell->client);
    wait_for(shell->fd, talk_fd(shell->talk));
    if (shell->delegates != NULL)
        wait_for(shell->fd, delegates_fd(shell->delegates));
    return shell->delegates != NULL && open_exporter(shell, options->trace_url, error, room);
}

void shell_close(struct shell *shell)
{
    delegates_free(&shell->delegates);
    exporter_free(&shell->exporter);
    talk_free(&shell->talk);
    close(shell->fd);
}
