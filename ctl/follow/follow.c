/* follow: `berth follow`. One conversation with a scheduler (as what it decides, and how much), a
 * queue (who waits) and a watcher (the cluster), which goes on until it is ended; what is new is
 * printed four times a second at most, a line each.
 *
 * What must stay true: nothing but what a tool may ask goes out, so nobody is slowed by more than
 * some messages a second; whoever is lost is asked again when he is back; and it ends when nobody
 * reads what it prints. */
#include "ctl/follow/follow.h"

#include "ctl/asking.h"
#include "ctl/follow/picture.h"
#include "ctl/follow/rates.h"
#include "ctl/follow/recorded.h"
#include "ctl/output.h"
#include "ctl/record/recall.h"
#include "proto/base/memory.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WINDOW     2000  /* messages of the stream that may be on their way */
#define POLL_MS    150   /* between two questions for changes */
#define LOST_MS    3000  /* an answer that has not come for so long is asked for again */
#define TELL_MS    250   /* between two lines of changes */
#define COUNT_MS   1000  /* between two questions for counters and the queue */
#define EXPLAIN_MS 10000 /* between two questions as what it decides */
#define PENDING    100   /* pods that are named */

struct follow {
    struct asking asking; /* first: options are read into it */
    bool commands;
    const char *recording; /* NULL: a running berth */
    int64_t at_us;         /* with it; 0: its end */
    struct bus *bus;
    struct address watcher, scheduler, queue; /* peer 0: not there */
    struct picture *picture;
    struct rates rates;
    int64_t release;
    struct moment now, poll_at, tell_at, count_at, explain_at, heard;
    uint32_t used; /* credit since the last grant */
    bool again;    /* all is to be told */
    bool ended;
    struct buffer line;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static bool take_commands(void *state, const char *value)
{
    (void)value;
    return ((struct follow *)state)->commands = true;
}

static bool take_read(void *state, const char *value)
{
    ((struct follow *)state)->recording = value;
    return *value != 0;
}

static bool take_at(void *state, const char *value)
{
    return recall_time(value, &((struct follow *)state)->at_us);
}

/* Nothing else is printed, so text is refused. */
static bool take_output(void *state, const char *value)
{
    (void)state;
    return strcmp(value, "json") == 0;
}

static const struct own_option follow_options[] = {
    {"commands", NULL, "read standard input: a line asks for everything again, its end ends this",
     take_commands},
    {"read", "FILE", "a recording of berth record instead of a running berth: one moment of it",
     take_read},
    {"at", "TIME", "that moment, such as 2026-03-01T12:00:00.5Z (its end)", take_at},
    {"o", "json", "what is printed in any case: JSON, an object a line", take_output},
    {NULL, NULL, NULL, NULL},
};

/* ---- saying ---- */

static void say(struct follow *f, struct address to, const struct message *m)
{
    struct outbox out = {0};
    if (to.peer == 0)
        return;
    outbox_put(&out, to, m);
    bus_send(f->bus, &out);
    outbox_free(&out);
}

/* What has changed, or everything; the answer to a former question counts no more. */
static void ask_watcher(struct follow *f)
{
    struct message m = {.type = MSG_subscribe,
                        .subscribe = {.credit = WINDOW, .changes_once = true}};
    picture_position(f->picture, &m.subscribe.epoch, &m.subscribe.sequence);
    f->poll_at = moment_after(f->now, span_of_ms(m.subscribe.epoch != 0 ? POLL_MS : LOST_MS));
    f->used = 0;
    if (f->release != 0) /* before that it is not known how requests are counted */
        say(f, f->watcher, &m);
}

static void ask_scheduler(struct follow *f)
{
    struct message m = {.type = MSG_explain_request};
    f->explain_at = moment_after(f->now, span_of_ms(EXPLAIN_MS));
    say(f, f->scheduler, &m);
}

static void ask_counts(struct follow *f)
{
    struct message m = {.type = MSG_metrics_request, .metrics_request = {.id = 1}};
    struct message who = {.type = MSG_pending_request, .pending_request = {.limit = PENDING}};
    f->count_at = moment_after(f->now, span_of_ms(COUNT_MS));
    say(f, f->scheduler, &m);
    say(f, f->queue, &m);
    say(f, f->queue, &who);
}

/* ---- printing ---- */

/* It is over when nobody reads us. */
static void print(struct follow *f)
{
    if (!output_stream(buffer_str(&f->line)))
        f->ended = true;
    buffer_reset(&f->line);
}

static void print_pending(struct follow *f, const struct pending_pods *pods)
{
    picture_tell_pending(f->picture, pods, PENDING, &f->line);
    print(f);
}

static void tell(struct follow *f)
{
    if (picture_has_news(f->picture) && moment_reached(f->now, f->tell_at)) {
        picture_tell(f->picture, false, f->release, &f->line);
        f->tell_at = moment_after(f->now, span_of_ms(TELL_MS));
        print(f);
    }
    int64_t epoch, sequence;
    picture_position(f->picture, &epoch, &sequence);
    if (f->again && epoch != 0) {
        if (picture_has_news(f->picture)) { /* differences are for those who have the rest */
            picture_tell(f->picture, false, f->release, &f->line);
            print(f);
        }
        f->again = false;
        picture_tell(f->picture, true, f->release, &f->line);
        print(f);
    }
    if (f->rates.news) {
        rates_tell(&f->rates, &f->line);
        print(f);
    }
}

/* ---- hearing ---- */

static void meet(struct follow *f, struct address who)
{
    if (who.process == SCHEDULER) {
        f->scheduler = who;
        ask_scheduler(f);
    } else if (who.process == QUEUE) {
        f->queue = who;
    } else if (who.process == WATCHER) {
        f->watcher = who;
        ask_watcher(f);
    }
}

static void lose(struct follow *f, struct address who)
{
    struct address *const known[] = {&f->watcher, &f->scheduler, &f->queue};
    for (size_t i = 0; i < 3; i++)
        if (known[i]->peer == who.peer)
            known[i]->peer = 0;
}

/* Another release may count requests otherwise: then from the beginning. */
static void take_explained(struct follow *f, const struct explained *said)
{
    if (said->release == f->release || said->profiles.count == 0)
        return;
    f->release = said->release;
    picture_count_with(f->picture, &said->profiles.at[0].features);
    picture_forget_position(f->picture);
    ask_watcher(f);
}

static void take_stream(struct follow *f, const struct delivery *in)
{
    bool torn = picture_is_torn(f->picture), had;
    int64_t epoch, sequence;
    picture_position(f->picture, &epoch, &sequence);
    had = torn || epoch != 0;
    f->heard = f->now;
    if (picture_take(f->picture, in) == PICTURE_gap && had) {
        ask_watcher(f);
        return;
    }
    if (torn && !picture_is_torn(f->picture))
        f->poll_at = f->now;
    if (++f->used >= WINDOW / 2) {
        struct message m = {.type = MSG_credit, .credit = {.count = f->used}};
        f->used = 0;
        say(f, f->watcher, &m);
    }
}

static void take(struct follow *f, const struct delivery *in)
{
    const struct message *m = in->message;
    if (m->type == MSG_peer_up)
        meet(f, in->from);
    else if (m->type == MSG_peer_down)
        lose(f, in->from);
    else if (m->type == MSG_explained)
        take_explained(f, &m->explained);
    else if (m->type == MSG_pending_pods)
        print_pending(f, &m->pending_pods);
    else if (m->type == MSG_metrics)
        rates_take(&f->rates, f->now, &m->metrics);
    else if (in->epoch != 0 && in->from.peer == f->watcher.peer)
        take_stream(f, in);
}

static void read_commands(struct follow *f)
{
    char piece[256];
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&ready, 1, 0) <= 0)
        return;
    ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        f->ended = true;
    f->again |= n > 0;
}

/* ---- the loop ---- */

static struct moment ask_what_is_due(struct follow *f)
{
    struct moment torn_at = moment_after(f->heard, span_of_ms(LOST_MS));
    bool torn = picture_is_torn(f->picture);
    if (torn && moment_reached(f->now, torn_at)) {
        picture_forget_position(f->picture);
        ask_watcher(f);
    } else if (!torn && moment_reached(f->now, f->poll_at)) {
        ask_watcher(f);
    }
    if (moment_reached(f->now, f->count_at))
        ask_counts(f);
    if (moment_reached(f->now, f->explain_at))
        ask_scheduler(f);
    struct moment next = moment_earlier(f->count_at, f->explain_at);
    if (picture_has_news(f->picture))
        next = moment_earlier(next, f->tell_at);
    return moment_earlier(next, torn ? moment_after(f->heard, span_of_ms(LOST_MS)) : f->poll_at);
}

static void converse(struct follow *f)
{
    struct delivery in;
    f->now = f->heard = moment_now();
    f->explain_at = moment_after(f->now, span_of_ms(LOST_MS));
    while (!f->ended && !stopped) {
        for (int i = 0; i < WINDOW && bus_receive(f->bus, f->now, &in); i++)
            take(f, &in);
        tell(f);
        struct moment next = ask_what_is_due(f);
        next = moment_earlier(next, bus_tick(f->bus, f->now));
        bus_wait(f->bus, f->commands ? STDIN_FILENO : -1, f->now, next);
        f->now = moment_now();
        if (f->commands)
            read_commands(f);
    }
}

static bool open_bus(struct follow *f)
{
    struct asking *a = &f->asking;
    char error[512];
    if (!asking_find(a))
        return false;
    for (size_t i = 0; i < a->count && i < BUS_PEERS_MAX; i++)
        a->bus.peers[a->bus.peer_count++] = (struct bus_peer_option){ANY, a->doors[i].endpoint};
    f->bus = bus_open(&a->bus, error, sizeof(error));
    if (f->bus == NULL)
        fprintf(stderr, "%s: %s\n", a->command, error);
    return f->bus != NULL;
}

int command_follow(int argc, char **argv)
{
    struct follow *f = memory_take(sizeof(*f));
    struct options_table table = {.program = "berth follow",
                                  .usage = "print the cluster, what waits and what is decided as "
                                           "it changes, a JSON object a line",
                                  .options = follow_options,
                                  .state = f,
                                  .more = asking_options,
                                  .more_state = &f->asking};
    struct sigaction action = {.sa_handler = on_signal};
    asking_init(&f->asking, table.program, ASKING_WAIT_S);
    options_read(&table, argc, argv);
    stopped = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    bool lacks = f->at_us != 0 && f->recording == NULL;
    if (lacks)
        fprintf(stderr, "berth follow: --at: a time of what? --read FILE is missing\n");
    bool opened = !lacks && f->recording == NULL && open_bus(f), told = false;
    if (f->recording != NULL)
        told = recorded_tell(table.program, f->recording, f->at_us);
    if (opened) {
        f->picture = picture_new();
        converse(f);
    }
    bus_close(&f->bus);
    picture_free(&f->picture);
    buffer_free(&f->line);
    memory_free(f);
    return opened || told ? 0 : 1;
}
