/* tap: `berth tap`, which shows what goes over the bus, live or from a recording. It only listens:
 * processes mirror their frames to a socket that drops rather than waits. What must stay true: what
 * was missed is said, so that nobody takes a hole for silence; and what was mirrored before the end
 * is shown, however far behind we were. */
#include "ctl/commands.h"
#include "ctl/output.h"
#include "ctl/record/frames.h"
#include "ctl/recording.h"
#include "ctl/tap/names.h"
#include "ctl/tap/query.h"
#include "ctl/tap/story.h"
#include "ctl/tap/verify.h"
#include "ctl/tap/view.h"
#include "proto/base/log.h"
#include "proto/bus/options.h"
#include "proto/bus/tap_reader.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENDPOINTS_MAX 64
#define DISCOVER_MS   500
#define TAKEN_AT_ONCE 1000
#define QUIET_MS      100  /* nothing from before the end for so long: it was all */
#define REST_MS       2000 /* and no longer than this */
#define PATIENCE_US   10000000
#define LOOK_US       100000 /* so often it is seen whether blocks are complete */

struct tap {
    struct tap_view view;
    const char *endpoints[ENDPOINTS_MAX];
    struct tap_reader_options reader;
    struct tap_verify verify;
    bool json, print_asked, no_run_dir, verify_asked;
    enum { GROUP_by_default, GROUP_attempt, GROUP_raw } group;
    struct story_options story_options;
    struct story *story; /* NULL: messages are shown one by one */
    struct query *query;
    struct tap_heard processes, pods; /* which there are */
    const char *pod;                  /* that was asked for; NULL: any */
    bool pod_seen;
    int64_t count_max;
    struct span duration; /* 0: until stopped */
    const char *record, *read;
    FILE *file;
    int64_t shown, heard;
    int64_t end_us;    /* what is mirrored later is not shown */
    int64_t newest_us; /* of what was heard */
    int64_t looked_us; /* how far blocks were told */
    uint64_t missed_told;
    struct buffer line;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = stopped + 1;
}

/* ---- options ---- */

static bool take_run_dir(void *state, const char *value)
{
    ((struct tap *)state)->reader.run_dir = value;
    return *value != 0;
}

static bool take_endpoint(void *state, const char *value)
{
    struct tap *tap = state;
    if (tap->reader.endpoint_count == ENDPOINTS_MAX || strstr(value, "://") == NULL)
        return false;
    tap->endpoints[tap->reader.endpoint_count++] = value;
    return true;
}

static bool take_output(void *state, const char *value)
{
    struct tap *tap = state;
    tap->print_asked = true;
    tap->json = strcmp(value, "json") == 0;
    return tap->json || strcmp(value, "text") == 0;
}

static bool take_process(void *state, const char *value)
{
    return tap_filter_process(&((struct tap *)state)->view.filter, value);
}

static void list_messages(void)
{
    struct buffer names = {0};
    tap_names_list(&names);
    printf("%.*s", (int)names.len, names.at);
    buffer_free(&names);
    exit(output_finish("tap", 0));
}

static bool take_message(void *state, const char *value)
{
    struct buffer why = {0};
    if (strcmp(value, "help") == 0)
        list_messages();
    if (tap_filter_message(&((struct tap *)state)->view.filter, value))
        return true;
    tap_names_explain(value, &why);
    if (why.len > 0)
        fprintf(stderr, "berth tap: --message: %.*s (--message help lists all)\n", (int)why.len,
                why.at);
    buffer_free(&why);
    return false;
}

static bool take_pod(void *state, const char *value)
{
    ((struct tap *)state)->pod = value;
    if (tap_filter_pod(&((struct tap *)state)->view.filter, value))
        return true;
    if (*value != 0 && strchr(value, '/') == NULL)
        fprintf(stderr, "berth tap: --pod: \"%s\" has no namespace; did you mean default/%s?\n",
                value, value);
    return false;
}

static bool take_group(void *state, const char *value)
{
    struct tap *tap = state;
    tap->group = strcmp(value, "raw") == 0 ? GROUP_raw : GROUP_attempt;
    return tap->group == GROUP_raw || strcmp(value, "attempt") == 0;
}

static bool take_nodes(void *state, const char *value)
{
    (void)value;
    ((struct tap *)state)->story_options.nodes = true;
    return true;
}

static bool take_where(void *state, const char *value)
{
    struct tap *tap = state;
    struct buffer why = {0};
    uint32_t column = 0;
    query_free(&tap->query);
    tap->query = query_parse(value, &why, &column);
    tap->view.filter.query = tap->query;
    if (tap->query == NULL)
        fprintf(stderr, "berth tap: --where: %s\n  %s\n  %*s\n", why.at, value, (int)column, "^");
    buffer_free(&why);
    return tap->query != NULL;
}

static bool take_both(void *state, const char *value)
{
    (void)value;
    ((struct tap *)state)->view.filter.both = true;
    return true;
}

static bool take_count(void *state, const char *value)
{
    struct tap *tap = state;
    return options_number(value, 1, INT64_MAX, &tap->count_max);
}

static bool take_duration(void *state, const char *value)
{
    char number[32];
    double seconds;
    size_t len = strlen(value);
    len -= len > 0 && value[len - 1] == 's';
    snprintf(number, sizeof(number), "%.*s", (int)len, value);
    if (!options_decimal(number, 0.001, 999999999, &seconds))
        return false;
    ((struct tap *)state)->duration = span_of_seconds(seconds);
    return true;
}

static bool take_record(void *state, const char *value)
{
    ((struct tap *)state)->record = value;
    return *value != 0;
}

static bool take_read(void *state, const char *value)
{
    ((struct tap *)state)->read = value;
    return *value != 0;
}

static bool take_verify(void *state, const char *value)
{
    (void)value;
    ((struct tap *)state)->verify_asked = true;
    return true;
}

static bool take_curve_dir(void *state, const char *value)
{
    ((struct tap *)state)->reader.curve_dir = value;
    return *value != 0;
}

static bool take_allow_plain_tcp(void *state, const char *value)
{
    (void)value;
    ((struct tap *)state)->reader.allow_plain_tcp = true;
    return true;
}

static const struct own_option tap_options[] = {
    {"run-dir", "DIR", "listen to every *.tap in DIR (default: as for the processes)",
     take_run_dir},
    {"endpoint", "URL", "listen to this tap instead; may be repeated", take_endpoint},
    {"o", "text|json", "one line a message, as text (default) or JSON", take_output},
    {"process", "P", "only what this kind or name sends or gets; may be repeated", take_process},
    {"message", "TYPE,...", "only these messages (default: all but heartbeat); help lists them",
     take_message},
    {"pod", "NS/NAME|UID", "only messages about this pod, and what workers answered about it",
     take_pod},
    {"g", "attempt|raw",
     "with --pod: a block an attempt, in order of time (default), or a line a message as it comes",
     take_group},
    {"nodes", NULL, "in blocks, name nodes as far as messages do, not only how many they are",
     take_nodes},
    {"where", "QUERY",
     "only what fulfils it, such as 'message == bind and node ~ \"^n1\" and attempt > 2'; of "
     "blocks those with such a message",
     take_where},
    {"both", NULL, "show a message where it was sent and where it was received", take_both},
    {"count", "N", "stop after N messages; with blocks, after N attempts", take_count},
    {"duration", "S", "stop after S seconds", take_duration},
    {"record", "FILE", "write the frames to FILE; nothing is printed unless -o is given",
     take_record},
    {"read", "FILE", "print a recording instead of listening", take_read},
    {"verify", NULL,
     "read every message a second time, with msgpack-c, and tell what differs; nothing else is "
     "printed unless -o is given",
     take_verify},
    {"curve-dir", "DIR", "CURVE keys, for tcp:// taps", take_curve_dir},
    {"allow-plain-tcp", NULL, "permit tcp without CURVE beyond loopback", take_allow_plain_tcp},
    {NULL, NULL, NULL, NULL},
};

/* ---- names ---- */

/* What is not there may come, but what is nearly the name of what is there is a mistake. */
static bool check_processes(struct tap *tap)
{
    struct buffer why = {0};
    const struct tap_filter *filter = &tap->view.filter;
    bool ok = true;
    for (size_t i = 0; ok && i < filter->process_count; i++) {
        buffer_reset(&why);
        ok = tap_names_process(filter->processes[i], &tap->processes, tap->read != NULL, &why);
        if (why.len > 0)
            fprintf(stderr, "berth tap: --process: %s%s\n", why.at, ok ? "; waiting" : "");
    }
    buffer_free(&why);
    return ok;
}

/* Those of the run directory; at tcp there may be any. */
static void learn_run_dir(struct tap *tap)
{
    DIR *entries = tap->reader.run_dir ? opendir(tap->reader.run_dir) : NULL;
    for (struct dirent *e; entries != NULL && (e = readdir(entries)) != NULL;) {
        struct str name = str_of(e->d_name);
        if (name.len > 4 && strcmp(e->d_name + name.len - 4, ".tap") == 0)
            tap_heard_add(&tap->processes, (struct str){name.at, name.len - 4});
    }
    if (entries != NULL)
        closedir(entries);
}

/* Which pods there are, for who asks for one that there is not. */
static void learn_pods(struct tap *tap)
{
    const struct message *m = &tap->view.message;
    const struct pod *pod = m->type == MSG_pod_set   ? &m->pod_set.pod
                            : m->type == MSG_attempt ? &m->attempt.pod
                                                     : NULL;
    struct buffer name = {0};
    if (tap->view.refusal != NULL || pod == NULL || tap->view.filter.pod_name.len == 0)
        return;
    buffer_print(&name, "%.*s/%.*s", STR_ARG(pod->namespace_name), STR_ARG(pod->name));
    tap_heard_add(&tap->pods, buffer_str(&name));
    buffer_free(&name);
}

/* Of a recording it is known that nothing comes any more. */
static void tell_silence(const struct tap *tap)
{
    struct buffer why = {0};
    if (tap->pod_seen || tap->pod == NULL)
        return;
    tap_names_pod(str_of(tap->pod), &tap->pods, &why);
    fprintf(stderr, "berth tap: %s: %s\n", tap->read, why.at);
    buffer_free(&why);
}

/* ---- both ways ---- */

static bool failed(const char *path)
{
    fprintf(stderr, "berth tap: %s: %s\n", path, strerror(errno));
    return false;
}

static bool prints(const struct tap *tap)
{
    return (!tap->record && !tap->verify_asked) || tap->print_asked;
}

/* Tells blocks that are complete as of that time; false when it is time to end. */
static bool put_blocks(struct tap *tap, int64_t until_us)
{
    enum story_step step = STORY_between;
    bool on = true;
    if (until_us - tap->looked_us < LOOK_US)
        return true;
    tap->looked_us = until_us;
    while (on && step != STORY_nothing) {
        buffer_reset(&tap->line);
        step = story_next(tap->story, &tap->view, until_us, &tap->line);
        if (tap->line.len == 0)
            continue;
        on = output_put(buffer_str(&tap->line));
        tap->shown += step == STORY_attempt;
        on = on && (tap->count_max == 0 || tap->shown < tap->count_max);
    }
    return on;
}

/* A frame of the pod's, for its story; it is not looked at any more afterwards. */
static void put_story(struct tap *tap, struct str tapped, bool shown)
{
    uint32_t missed = tap_view_missed_before(&tap->view);
    story_take(tap->story, &tap->view,
               &(struct story_frame){tapped, shown, tap->view.told || !tap->read ? missed : 0});
}

/* Shows or records the frame that the view looks at; false when it is time to end. */
static bool put_frame(struct tap *tap, struct str tapped, uint32_t missed, bool *ok)
{
    if (tap->file && tap->record && !recording_add(tap->file, tapped, missed)) {
        *ok = failed(tap->record);
        return false;
    }
    if (prints(tap)) {
        buffer_reset(&tap->line);
        tap_view_print(&tap->view, tap->json, &tap->line);
        if (!output_put(buffer_str(&tap->line)))
            return false;
    }
    return ++tap->shown != tap->count_max;
}

static bool put_recalled(struct tap *tap, bool *ok)
{
    struct str earlier;
    bool on = true;
    while (on && tap_view_recall(&tap->view, &earlier))
        on = put_frame(tap, earlier, 0, ok);
    return on;
}

/* Whatever the filters let pass. */
static void verify(struct tap *tap, struct str tapped)
{
    if (!tap->verify_asked || tap_verify_frame(&tap->verify, tapped))
        return;
    fflush(stdout);
    fputs(tap->verify.lines.at, stderr);
}

/* In blocks all has its place by time. Those that filters leave out may be where one ends. */
static bool take_for_story(struct tap *tap, struct str tapped, bool wanted)
{
    struct str earlier;
    if (tap->view.of_pod)
        put_story(tap, tapped, wanted);
    while (tap_view_recall(&tap->view, &earlier))
        put_story(tap, earlier, true);
    return !tap->read || put_blocks(tap, tap->newest_us - STORY_BEHIND_US);
}

/* A run's question and answers come before its end, answers behind their question. */
static bool take_frame(struct tap *tap, struct str tapped, bool *ok)
{
    verify(tap, tapped);
    bool wanted = tap_view_take(&tap->view, tapped);
    if (tap->view.tapped.at_us > tap->end_us)
        return true;
    tap->heard++;
    if (tap->view.tapped.at_us > tap->newest_us)
        tap->newest_us = tap->view.tapped.at_us;
    tap->pod_seen |= tap->view.of_pod;
    if (tap->read)
        learn_pods(tap);
    if (tap->story != NULL)
        return take_for_story(tap, tapped, wanted);
    if (!wanted)
        return true;
    bool ends_run = tap->view.envelope.type == MSG_map_run_end, on = true;
    uint32_t missed = tap_view_missed_before(&tap->view);
    if (ends_run) {
        on = put_recalled(tap, ok);
        tap_view_again(&tap->view, tapped);
    }
    on = on && put_frame(tap, tapped, missed, ok);
    return on && (ends_run || put_recalled(tap, ok));
}

static void tell_missed(struct tap *tap)
{
    if (tap->view.missed == tap->missed_told)
        return;
    fflush(stdout);
    uint64_t missed = tap->view.missed - tap->missed_told;
    if (tap->read && !tap->view.told)
        fprintf(stderr,
                "berth tap: %" PRIu64 " messages are not in the recording: its filters left them "
                "out, or they were missed; recordings of its form do not say which\n",
                missed);
    else
        fprintf(stderr, "berth tap: missed %" PRIu64 " messages\n", missed);
    tap->missed_told = tap->view.missed;
}

/* ---- live ---- */

/* Some of what waits; false when it is time to end. */
static bool take_waiting(struct tap *tap, struct tap_reader *reader, bool *ok)
{
    struct str tapped;
    bool on = true;
    for (int i = 0; on && i < TAKEN_AT_ONCE && tap_reader_next(reader, &tapped); i++)
        on = take_frame(tap, tapped, ok);
    if (on && tap->story != NULL)
        on = put_blocks(tap, moment_wall_us() - STORY_BEHIND_US);
    return output_flush() && (tap->file == NULL || fflush(tap->file) == 0) && on;
}

/* One tap may be further behind than another, and half of a talk misleads: all that was mirrored by
 * now is taken. Who cannot wait signals once more. */
static void take_rest(struct tap *tap, struct tap_reader *reader, bool *ok)
{
    const sig_atomic_t asked = stopped;
    struct moment now = moment_now(), quiet = moment_after(now, span_of_ms(QUIET_MS));
    struct moment most = moment_after(now, span_of_ms(REST_MS));
    bool on = true;
    tap->end_us = moment_wall_us();
    while (on && stopped == asked && !moment_reached(now, moment_earlier(quiet, most))) {
        int64_t heard = tap->heard;
        on = take_waiting(tap, reader, ok);
        now = moment_now();
        if (tap->heard > heard)
            quiet = moment_after(now, span_of_ms(QUIET_MS));
        if (on)
            tap_reader_wait(reader, now, moment_earlier(quiet, most));
        now = moment_now();
    }
}

static bool listen_until_end(struct tap *tap, struct tap_reader *reader)
{
    bool ok = true, on = true;
    struct moment now = moment_now(), discover = now, tell = now;
    struct moment end = tap->duration.ns > 0 ? moment_after(now, tap->duration) : MOMENT_NEVER;
    while (on && !stopped && !moment_reached(now, end)) {
        if (moment_reached(now, discover)) {
            tap_reader_discover(reader);
            discover = moment_after(now, span_of_ms(DISCOVER_MS));
        }
        on = take_waiting(tap, reader, &ok);
        if (moment_reached(now, tell)) {
            tell_missed(tap);
            tell = moment_after(now, span_of_ms(1000));
        }
        now = moment_now();
        if (on)
            tap_reader_wait(reader, now, moment_earlier(end, discover));
        now = moment_now();
    }
    if (on)
        take_rest(tap, reader, &ok);
    if (on && tap->story != NULL)
        (void)put_blocks(tap, INT64_MAX);
    tell_missed(tap);
    if (ok && tap->file &&
        !recording_add(tap->file, (struct str){0}, tap_view_missed_before(&tap->view)))
        ok = failed(tap->record);
    return ok;
}

/* One that is not there yet is waited for. */
static bool may_look(const struct tap *tap)
{
    const char *dir = tap->reader.run_dir;
    if (dir == NULL || access(dir, R_OK | X_OK) == 0 || errno != EACCES)
        return true;
    fprintf(stderr, "berth tap: %s: %s (it is for the user of berth run, and for root)\n", dir,
            strerror(EACCES));
    return false;
}

static int listen(struct tap *tap)
{
    char error[512];
    if (tap->reader.endpoint_count > 0 && tap->reader.run_dir == NULL)
        tap->no_run_dir = true;
    if (tap->reader.run_dir == NULL && !tap->no_run_dir)
        tap->reader.run_dir = options_run_dir();
    tap->reader.endpoints = tap->endpoints;
    learn_run_dir(tap);
    if (!check_processes(tap) || !may_look(tap))
        return 1;
    struct tap_reader *reader = tap_reader_open(&tap->reader, error, sizeof(error));
    if (reader != NULL && tap->record)
        tap->file = recording_create_new(tap->record, error, sizeof(error));
    if (reader == NULL || (tap->record && tap->file == NULL)) {
        fprintf(stderr, "berth tap: %s\n", error);
        tap_reader_close(&reader);
        return 1;
    }
    if (tap_reader_count(reader) == 0)
        fprintf(stderr, "berth tap: no tap in %s yet; waiting\n", tap->reader.run_dir);
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    bool ok = listen_until_end(tap, reader);
    tap_reader_close(&reader);
    if (tap->file && fclose(tap->file) != 0)
        ok = failed(tap->record);
    return ok ? 0 : 1;
}

/* ---- from a recording ---- */

/* Who was tapped must be known before the first frame, to show each message once. */
static void learn_sources(struct tap *tap, FILE *file, struct buffer *tapped)
{
    long start = ftell(file);
    uint32_t missed;
    while (recording_next(file, tap->view.told, tapped, &missed) == RECORDING_frame)
        if (tap_view_learn(&tap->view, buffer_str(tapped))) {
            const struct tapped *t = &tap->view.tapped;
            const struct str names[] = {t->process, t->instance, t->peer_process, t->peer_instance};
            for (size_t i = 0; i < 4; i++)
                tap_heard_add(&tap->processes, names[i]);
        }
    clearerr(file);
    fseek(file, start, SEEK_SET);
}

/* A recording of berth tap, or of berth record. */
static FILE *open_read(const char *path, bool *told, char *error, size_t room)
{
    if (!frames_are_in(path))
        return recording_open(path, told, error, room);
    *told = true;
    return frames_open(path, error, room);
}

static int replay(struct tap *tap)
{
    char error[512];
    struct buffer tapped = {0};
    FILE *file = open_read(tap->read, &tap->view.told, error, sizeof(error));
    if (file == NULL) {
        fprintf(stderr, "berth tap: %s\n", error);
        return 1;
    }
    learn_sources(tap, file, &tapped);
    bool on = check_processes(tap), ok = on;
    bool asked = on;
    uint32_t missed;
    enum recording_step step = RECORDING_end;
    while (on &&
           (step = recording_next(file, tap->view.told, &tapped, &missed)) == RECORDING_frame) {
        tap_view_count_missed(&tap->view, missed);
        on = tapped.len == 0 || take_frame(tap, buffer_str(&tapped), &ok);
    }
    if (on && tap->story != NULL)
        (void)put_blocks(tap, INT64_MAX);
    tell_missed(tap);
    if (asked)
        tell_silence(tap);
    if (step == RECORDING_cut)
        fprintf(stderr, "berth tap: %s: ends in the middle of a frame\n", tap->read);
    if (step == RECORDING_broken) {
        fprintf(stderr, "berth tap: %s: a frame's length makes no sense\n", tap->read);
        ok = false;
    }
    buffer_free(&tapped);
    fclose(file);
    return ok ? 0 : 1;
}

/* What goes together, once all options are read. */
static bool prepare(struct tap *tap)
{
    const char *why = NULL;
    if (tap->read && (tap->record || tap->reader.endpoint_count > 0))
        why = "--read goes with neither --record nor --endpoint";
    else if (tap->group == GROUP_attempt && tap->pod == NULL)
        why = "-g attempt needs --pod: attempts are a pod's";
    else if (tap->group == GROUP_attempt && tap->record)
        why = "a recording holds messages: -g attempt goes with --read of it, not with --record";
    if (why != NULL) {
        fprintf(stderr, "berth tap: %s\n", why);
        return false;
    }
    tap->story_options.json = tap->json;
    tap->story_options.patience_us = tap->read ? 0 : PATIENCE_US;
    if (tap->pod != NULL && tap->group != GROUP_raw && !tap->record && prints(tap))
        tap->story = story_new(&tap->story_options);
    tap->view.filter.query_marks = tap->story != NULL;
    return true;
}

int command_tap(int argc, char **argv)
{
    struct tap tap = {.end_us = INT64_MAX};
    struct options_table table = {.program = "berth tap",
                                  .usage = "show, filter, record or replay what goes over the "
                                           "bus",
                                  .options = tap_options,
                                  .state = &tap};
    tap_view_init(&tap.view);
    stopped = 0;
    signal(SIGPIPE, SIG_IGN);
    options_read(&table, argc, argv);
    int status = 1;
    if (prepare(&tap))
        status = tap.read ? replay(&tap) : listen(&tap);
    if (tap.verify_asked)
        printf("%" PRIu64 " messages read twice, %" PRIu64 " differ\n", tap.verify.frames,
               tap.verify.different);
    if ((!output_flush() && !output_is_unread()) || tap.verify.different > 0)
        status = 1;
    tap_verify_free(&tap.verify);
    story_free(&tap.story);
    tap_view_free(&tap.view);
    query_free(&tap.query);
    tap_heard_free(&tap.processes);
    tap_heard_free(&tap.pods);
    buffer_free(&tap.line);
    return status;
}
