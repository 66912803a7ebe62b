/* top: `berth top`. The one idea: a loop that asks, draws and waits for a key until it is time to
 * ask again; in plain VT sequences, which every terminal of today has, so that no library is needed
 * for a screen that is drawn as a whole.
 *
 * What must stay true: the terminal is as it was before on every way out, signals and must()
 * included; every wait is bounded; the watcher is asked for nodes alone, and seldom, since that is
 * the one answer that grows with the cluster. */
#include "ctl/top/top.h"

#include "ctl/asking.h"
#include "ctl/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/must.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#define NODES_EVERY INT64_C(10) /* intervals, and at least so many seconds */
#define ESCAPE_MS   30          /* an arrow's bytes come together */
#define LATEST      200         /* decisions */

struct screen {
    struct asking given; /* where to ask */
    struct top top;
    struct status status[DOORS_MAX];
    bool told[DOORS_MAX];
    struct arena arena, next; /* of the last answers, and of those that are coming */
    struct pending_pods pending;
    bool has_pending, has_latest, once;
    struct explained latest;
    struct top_figures figures; /* that are being asked for */
    struct columns nodes;
    struct moment nodes_asked;
};

/* ---- the terminal ---- */

static struct termios before;
static bool changed;

static void put(const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t done = write(STDOUT_FILENO, bytes, len);
        if (done <= 0)
            return;
        bytes += done;
        len -= (size_t)done;
    }
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

static void restore(void)
{
    if (!changed)
        return;
    changed = false;
    put_text("\x1b[?25h\x1b[?1049l");
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

/* False: it is no terminal that can be changed. */
static bool take_terminal(void)
{
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    atexit(restore);
    must_first(restore);
    changed = tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) == 0;
    if (changed)
        put_text("\x1b[?1049h\x1b[?25l");
    return changed;
}

static void measure(struct top *t)
{
    struct winsize size = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
    t->width = known && size.ws_col >= 20 ? size.ws_col : known ? 20 : 80;
    t->height = known && size.ws_row >= 5 ? size.ws_row : known ? 5 : 24;
}

static void draw(struct screen *s)
{
    struct buffer lines = {0}, out = {0};
    struct str rest, line;
    int count = 0;
    top_lines(&s->top, &lines);
    rest = buffer_str(&lines);
    buffer_add_text(&out, "\x1b[H");
    while (count < s->top.height && str_split(&rest, "\n", &line) && rest.at != NULL) {
        buffer_print(&out, "%s%.*s\x1b[K", count > 0 ? "\r\n" : "", STR_ARG(line));
        count++;
    }
    buffer_add_text(&out, "\x1b[J");
    put(out.at, out.len);
    buffer_free(&lines);
    buffer_free(&out);
}

/* ---- asking ---- */

static void take_status(void *state, size_t door, const struct message *answer)
{
    struct screen *s = state;
    codec_copy(message_info[MSG_status].record, &s->status[door], &answer->status, &s->next);
    s->told[door] = true;
}

static void take_pending(void *state, size_t door, const struct message *answer)
{
    struct screen *s = state;
    (void)door;
    codec_copy(message_info[MSG_pending_pods].record, &s->pending, &answer->pending_pods, &s->next);
    s->has_pending = true;
}

static bool ask_status(struct screen *s, struct asking *a)
{
    static const struct message request = {.type = MSG_status_request};
    uint32_t count = 0;
    *a = s->given;
    a->request = &request;
    a->answer = MSG_status;
    a->take = take_status;
    a->state = s;
    memset(s->told, 0, sizeof(s->told));
    s->top.processes.count = 0;
    s->top.pending = NULL;
    if (!asking_ask(a))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (s->told[i])
            s->status[count++] = s->status[i];
    s->top.processes.count = count;
    s->top.processes.at = s->status;
    s->top.unanswered = (int64_t)(a->count - count);
    return true;
}

static void ask_pending(struct screen *s, struct asking *a)
{
    static const struct message request = {.type = MSG_pending_request};
    *a = s->given;
    a->request = &request;
    a->answer = MSG_pending_pods;
    a->whom = QUEUE;
    a->take = take_pending;
    a->state = s;
    s->has_pending = false;
    (void)asking_ask(a);
    s->top.pending = s->has_pending ? &s->pending : NULL;
}

static void take_latest(void *state, size_t door, const struct message *answer)
{
    struct screen *s = state;
    (void)door;
    codec_copy(message_info[MSG_explained].record, &s->latest, &answer->explained, &s->next);
    s->has_latest = true;
}

static void take_metrics(void *state, size_t door, const struct message *answer)
{
    struct screen *s = state;
    (void)door;
    top_count(&s->figures, &answer->metrics);
}

/* For whoever looks at decisions: the last ones, and what all processes have counted. */
static void ask_decisions(struct screen *s, struct asking *a)
{
    static const struct message latest = {.type = MSG_explain_request,
                                          .explain_request.latest = LATEST};
    static const struct message counted = {.type = MSG_metrics_request};
    s->top.latest = NULL;
    if (s->top.pane != TOP_decisions && !s->once)
        return;
    *a = s->given;
    a->request = &latest;
    a->answer = MSG_explained;
    a->whom = SCHEDULER;
    a->take = take_latest;
    a->state = s;
    s->has_latest = false;
    (void)asking_ask(a);
    s->top.latest = s->has_latest ? &s->latest : NULL;
    *a = s->given;
    a->request = &counted;
    a->answer = MSG_metrics;
    a->take = take_metrics;
    a->state = s;
    s->figures = (struct top_figures){0};
    if (asking_ask(a))
        top_counted(&s->top, &s->figures, moment_wall_us() / 1000);
}

/* The one costly question, for whoever looks at nodes. */
static void ask_nodes(struct screen *s)
{
    struct moment now = moment_now();
    struct span age = moment_since(now, s->nodes_asked);
    bool fresh = s->top.nodes != NULL &&
                 span_ms(age) <
                     NODES_EVERY * 1000 * (s->top.interval_s > 1 ? (int64_t)s->top.interval_s : 1);
    struct live live;
    if ((s->top.pane != TOP_nodes && !s->once) || fresh)
        return;
    live_init(&live, s->given.command, ASKING_WAIT_S);
    live.asking = s->given;
    if (live_load(&live)) {
        columns_free(&s->nodes);
        nodes_fill(&live, &s->nodes);
        s->top.nodes = &s->nodes;
        s->nodes_asked = now;
    }
    live_free(&live);
}

static bool ask(struct screen *s)
{
    struct asking *a = memory_take(sizeof(*a));
    bool asked = ask_status(s, a);
    if (asked)
        ask_pending(s, a);
    if (asked)
        ask_decisions(s, a);
    if (asked)
        ask_nodes(s);
    memory_free(a);
    arena_free(&s->arena);
    s->arena = s->next;
    s->next = (struct arena){0};
    top_answered(&s->top, moment_wall_us() / 1000);
    return asked;
}

/* ---- keys ---- */

/* The byte that is there, -1: none comes in so many milliseconds. */
static int next_byte(int wait_ms)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char c;
    return poll(&in, 1, wait_ms) > 0 && read(STDIN_FILENO, &c, 1) == 1 ? c : -1;
}

/* ESC [ A, ESC O A, ESC [ 5 ~; else it is the key itself. */
static int escape_key(void)
{
    int c = next_byte(ESCAPE_MS), last = -1;
    if (c < 0)
        return 27;
    if (c != '[' && c != 'O')
        return c;
    c = next_byte(ESCAPE_MS);
    for (int i = 0; i < 8 && c >= '0' && c <= ';'; i++) {
        last = last < 0 ? c : last;
        c = next_byte(ESCAPE_MS);
    }
    switch (c == '~' ? last : c) {
    case 'A': return TOP_up;
    case 'B': return TOP_down;
    case 'H':
    case '1':
    case '7': return TOP_home;
    case 'F':
    case '4':
    case '8': return TOP_end;
    case '5': return TOP_page_up;
    case '6': return TOP_page_down;
    default: return 0;
    }
}

static bool read_keys(struct screen *s)
{
    int c = next_byte(0);
    if (c < 0)
        return false; /* readable, and nothing there: it is closed */
    for (; c >= 0 && !s->top.over; c = next_byte(0))
        top_key(&s->top, c == 27 ? escape_key() : c);
    return true;
}

/* Waits for a key, a signal or the time; false: it is over. */
static bool wait_for_something(struct screen *s, int signals, struct moment until)
{
    struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = signals, .events = POLLIN}};
    int64_t left = span_ms(moment_since(until, moment_now())) + 1;
    struct signalfd_siginfo info;
    (void)poll(fds, 2, left > 0 ? (int)left : 0);
    while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGWINCH)
            return false;
        measure(&s->top);
    }
    if (fds[0].revents != 0 && !read_keys(s))
        return false;
    return !s->top.over;
}

static struct moment next_time(const struct screen *s, struct moment now)
{
    return moment_after(now, span_of_seconds(s->top.interval_s));
}

static void run(struct screen *s, int signals)
{
    struct moment next = moment_now();
    measure(&s->top);
    for (;;) {
        struct moment now = moment_now();
        enum top_pane pane = s->top.pane;
        if (moment_reached(now, next)) {
            if (!s->top.paused)
                (void)ask(s);
            next = next_time(s, moment_now());
        }
        draw(s);
        if (!wait_for_something(s, signals, next))
            return;
        if (pane != s->top.pane && (s->top.pane == TOP_nodes || s->top.pane == TOP_decisions))
            next = moment_now();
    }
}

static int signals_opened(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    sigaddset(&set, SIGWINCH);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* ---- the whole ---- */

/* All panes, one after another; whatever is missing is not 0. */
static int print_once(struct screen *s)
{
    struct buffer out = {0};
    s->once = true;
    if (!ask(s))
        return 1;
    s->top.width = 0;
    s->top.height = 0;
    for (int i = 0; i < TOP_PANES; i++) {
        struct buffer page = {0};
        s->top.pane = (enum top_pane)i;
        top_lines(&s->top, &page);
        struct str text = buffer_str(&page), line;
        for (int k = 0; k < 3 && i > 0; k++) /* the header is said once */
            (void)str_split(&text, "\n", &line);
        buffer_add_text(&out, i == 0 ? "" : "\n");
        buffer_add_str(&out, text);
        buffer_free(&page);
    }
    fwrite(out.at, 1, out.len, stdout);
    buffer_free(&out);
    return top_is_complete(&s->top) ? 0 : 1;
}

static bool take_once(void *state, const char *value)
{
    (void)value;
    return ((struct screen *)state)->once = true;
}

static bool take_interval(void *state, const char *value)
{
    return options_decimal(value, 0.5, 60, &((struct screen *)state)->top.interval_s);
}

static const struct own_option top_options[] = {
    {"once", NULL, "print it once, as where there is no terminal", take_once},
    {"interval", "S", "seconds between answers, 0.5 to 60 (default 2)", take_interval},
    {NULL, NULL, NULL, NULL},
};

int command_top(int argc, char **argv)
{
    struct screen *s = memory_take(sizeof(*s));
    struct options_table table = {.program = "berth top",
                                  .usage = "show what a running berth does, on a screen",
                                  .options = top_options,
                                  .state = s,
                                  .more = asking_options,
                                  .more_state = &s->given};
    int status = 0;
    asking_init(&s->given, table.program, ASKING_WAIT_S);
    s->top.interval_s = 2;
    s->top.rate = -1;
    options_read(&table, argc, argv);
    int signals = signals_opened();
    if (s->given.json) {
        fprintf(stderr, "berth top: -o json: it shows a screen; berth status, queue and nodes have "
                        "-o json\n");
        status = 1;
    } else if (s->once || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        status = print_once(s);
    } else if (!asking_find(&s->given) || signals < 0 || !take_terminal()) {
        status = 1;
    } else {
        s->given.count = 0; /* processes come and go */
        run(s, signals);
        restore();
    }
    if (signals >= 0)
        close(signals);
    columns_free(&s->nodes);
    arena_free(&s->arena);
    memory_free(s);
    return status;
}
