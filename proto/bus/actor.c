/* actor: the loop that turns a pure core into a process. The phases of a round stand in loop_round
 * in their order. What must stay true: nothing in a round waits but bus_wait, a signal ends
 * that wait, because it writes to a pipe that the wait watches, and while the loop turns it beats
 * (proto/base/beat.h) at least once a second: each round, and behind each message. */
#include "proto/bus/actor.h"

#include "proto/base/beat.h"
#include "proto/base/log.h"
#include "proto/base/must.h"
#include "proto/bus/replay.h"
#include "proto/journal/file.h"
#include "proto/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define ENDING_MS 20 /* until it is looked again whether the end of a recording is on the disk */

static volatile sig_atomic_t signals_seen, dump_wanted, hangup_seen, end_wanted;
static int signal_pipe[2] = {-1, -1};
static bool failed;

struct loop {
    struct bus *bus;
    const struct actor *actor;
    struct outbox out;
    int wait_fd; /* an epoll of the signal pipe and the actor's descriptor */
    bool stopping;
    struct moment stop_by;
};

void actor_fail(void)
{
    failed = true;
}

bool actor_hangup(void)
{
    bool seen = hangup_seen;
    hangup_seen = 0;
    return seen;
}

static void on_signal(int number)
{
    int saved = errno;
    if (number == SIGUSR2)
        dump_wanted = 1;
    else if (number == SIGUSR1)
        end_wanted = 1;
    else if (number == SIGHUP)
        hangup_seen = 1;
    else
        signals_seen++;
    if (write(signal_pipe[1], "", 1) < 0) {
        /* full: the loop wakes up anyway */
    }
    errno = saved;
}

static void watch(int epoll_fd, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    must(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0);
}

/* Also in the middle of a core's work, when that has said something for which others wait. */
static void send_all(void *context)
{
    struct loop *loop = context;
    const struct actor *actor = loop->actor;
    int64_t term = actor->term ? actor->term(actor->state) : 0;
    journal_send(&loop->out, term);
    if (actor->term)
        bus_set_term(loop->bus, term);
    bus_send(loop->bus, &loop->out);
}

/* Reports are no part of what a core does: what they read is not taken down. */
static void report(void *state, struct buffer *lines)
{
    struct loop *loop = state;
    struct journal *journal = journal_use(NULL);
    loop->actor->status(loop->actor->state, lines);
    journal_use(journal);
}

static void observe(void *state)
{
    struct loop *loop = state;
    struct journal *journal = journal_use(NULL);
    loop->actor->observe(loop->actor->state);
    journal_use(journal);
}

static void loop_open(struct loop *loop)
{
    signals_seen = 0;
    failed = false;
    loop->out.send = send_all;
    loop->out.context = loop;
    must(pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) == 0);
    loop->wait_fd = epoll_create1(EPOLL_CLOEXEC);
    must(loop->wait_fd >= 0);
    watch(loop->wait_fd, signal_pipe[0]);
    if (loop->actor->fd >= 0)
        watch(loop->wait_fd, loop->actor->fd);
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    /* berth run starts us with it blocked, so that one that comes before this waits for us. */
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &ends, NULL);
    bus_set_status(loop->bus, loop->actor->status != NULL ? report : NULL, loop);
    if (loop->actor->observe != NULL)
        metrics_on_report(observe, loop);
}

static void loop_close(struct loop *loop)
{
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGHUP, SIG_DFL);
    bus_set_status(loop->bus, NULL, NULL);
    metrics_on_report(NULL, loop);
    close(loop->wait_fd);
    close(signal_pipe[0]);
    close(signal_pipe[1]);
    outbox_free(&loop->out);
}

/* Returns true when more messages may be waiting. Whom something is said to by then may be waiting
 * for it, with nothing else to do. */
static bool handle_batch(struct loop *loop, struct moment now)
{
    const struct actor *actor = loop->actor;
    struct moment say_by = moment_after(now, span_of_us(ACTOR_SAY_US));
    struct delivery in;
    for (int i = 0; i < ACTOR_TURN; i++) {
        beat();
        if (!bus_receive(loop->bus, now, &in))
            return false;
        struct moment before = moment_now();
        journal_delivery(now, &in);
        actor->handle(actor->state, now, &in, &loop->out);
        now = moment_now();
        bus_handled(loop->bus, in.message->type, moment_since(now, before));
        if (loop->out.count > 0 && moment_reached(now, say_by))
            return true;
    }
    return true;
}

/* Turns signals into a wish to stop. Returns false when it is time to end. */
static bool go_on(struct loop *loop, struct moment now)
{
    const struct actor *actor = loop->actor;
    char spare[16];
    while (read(signal_pipe[0], spare, sizeof(spare)) > 0)
        continue;
    if (dump_wanted && actor->dump) {
        journal_dump();
        actor->dump(actor->state);
    }
    dump_wanted = 0;
    if (end_wanted)
        journal_file_end();
    end_wanted = 0;
    if (failed || signals_seen > 1)
        return false;
    if (signals_seen == 0)
        return true;
    if (!loop->stopping) {
        loop->stopping = true;
        loop->stop_by = moment_after(now, actor->stop_limit);
        log_info("stopping");
        journal_stop(now);
        if (actor->stop)
            actor->stop(actor->state, now, &loop->out);
    }
    if (actor->done == NULL || actor->done(actor->state))
        return false;
    if (!moment_reached(now, loop->stop_by))
        return true;
    log_warn("not everything was finished in time|limit_ms=%lld",
             (long long)span_ms(actor->stop_limit));
    return false;
}

/* One round: receive and handle, work, tick, send, look after the bus, wait. */
static bool loop_round(struct loop *loop)
{
    const struct actor *actor = loop->actor;
    bool more = handle_batch(loop, moment_now());
    struct moment now = moment_now(), next = MOMENT_NEVER;
    journal_turn(now);
    if (actor->work)
        actor->work(actor->state, now, &loop->out);
    if (actor->tick)
        next = actor->tick(actor->state, now, &loop->out);
    bool on = go_on(loop, now);
    send_all(loop);
    bool ending = journal_file_flush();
    log_catch_up();
    now = moment_now();
    next = moment_earlier(next, bus_tick(loop->bus, now));
    if (loop->stopping)
        next = moment_earlier(next, loop->stop_by);
    next = moment_earlier(next, moment_after(now, span_of_ms(ending ? ENDING_MS : ACTOR_BEAT_MS)));
    if (on && !more)
        bus_wait(loop->bus, loop->wait_fd, now, next);
    return on;
}

int actor_run(struct bus *bus, const struct actor *actor)
{
    struct loop loop = {.bus = bus, .actor = actor};
    loop_open(&loop);
    while (loop_round(&loop))
        continue;
    loop_close(&loop);
    return failed ? 1 : 0;
}

int actor_main(const struct options *options, const struct actor *actor)
{
    char error[1024];
    if (journal_plays())
        return replay_run(&options->replay, actor);
    struct bus *bus = bus_open(&options->bus, error, sizeof(error));
    if (bus == NULL) {
        log_error("cannot open the bus| error=\"%s\"", error);
        return 1;
    }
    int status = actor_run(bus, actor);
    bus_close(&bus);
    journal_file_close();
    return status;
}
