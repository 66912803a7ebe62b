/* record: `berth record`, which asks `berth run` for a recording (control.h), waits for as long as
 * it is to be, and makes one file of it, or one after the other. What must stay true: whatever ends
 * it, the recording of the processes ends too, and what there is by then is in the file; a file
 * holds whole lives; with --redact none stays that has the names of the cluster, unless it is all
 * that there is. */
#include "ctl/record/record.h"
#include "ctl/record/control.h"
#include "ctl/record/gather.h"
#include "ctl/record/member.h"
#include "ctl/redact/redact.h"
#include "proto/base/buffer.h"
#include "proto/base/json_string.h"
#include "proto/bus/options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LOOK_MS  100     /* between looks at how large it is */
#define END_MS   5000    /* in which the processes write what they have */
#define LEAST_US 5000000 /* that one of several files lasts: with each the processes begin anew */
#define KEEP_MAX 1000

static volatile sig_atomic_t asked_to_end;

/* A file of it, while it is made. */
struct part {
    unsigned number;             /* from 1; 0: it is the only one */
    char path[CONTROL_LINE_MAX]; /* where it goes */
    char dir[CONTROL_LINE_MAX];  /* of its journals */
    int64_t began_us, ended_us;
    const char *ended_by;
};

struct recording {
    const char *path, *run_dir;
    const char *read;  /* NULL; else a recording that is to be redacted */
    const char *stays; /* of names, words that stay */
    bool redact;
    char programs[400];          /* that show that it is decided the same */
    int64_t seconds, most, keep; /* keep: so many files; 0: there is only one */
    int64_t began_us;
    struct part part;
    int fd;
    int status; /* of the command */
    char line[CONTROL_LINE_MAX];
    size_t len;
};

/* ---- options ---- */

static bool take_file(void *state, const char *value)
{
    ((struct recording *)state)->path = value;
    return *value != 0;
}

static bool take_run_dir(void *state, const char *value)
{
    ((struct recording *)state)->run_dir = value;
    return *value != 0;
}

static bool take_read(void *state, const char *value)
{
    ((struct recording *)state)->read = value;
    return *value != 0;
}

static bool take_redact(void *state, const char *value)
{
    (void)value;
    ((struct recording *)state)->redact = true;
    return true;
}

static bool take_stays(void *state, const char *value)
{
    ((struct recording *)state)->stays = value;
    return *value != 0;
}

static bool take_programs(void *state, const char *value)
{
    struct recording *r = state;
    snprintf(r->programs, sizeof(r->programs), "%s", value);
    return *value != 0 && strlen(value) < sizeof(r->programs);
}

struct unit {
    const char *name;
    int64_t of;
};

/* A number from 1 on and a unit; the first one is meant where none is named. */
static bool read_units(const char *value, const struct unit *units, int64_t most, int64_t *into)
{
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || errno != 0 || number < 1 || *value == '-' || *value == '+')
        return false;
    const struct unit *u = units;
    while (u->name != NULL && *end != 0 && strcmp(u->name, end) != 0)
        u++;
    if (u->name == NULL || number > most / u->of)
        return false;
    *into = number * u->of;
    return true;
}

static bool take_for(void *state, const char *value)
{
    static const struct unit units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {NULL, 0}};
    return read_units(value, units, CONTROL_SECONDS, &((struct recording *)state)->seconds);
}

static bool take_most(void *state, const char *value)
{
    static const struct unit units[] = {
        {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0}};
    return read_units(value, units, INT64_C(1) << 40, &((struct recording *)state)->most);
}

static bool take_keep(void *state, const char *value)
{
    static const struct unit one[] = {{"", 1}, {NULL, 0}};
    return read_units(value, one, KEEP_MAX, &((struct recording *)state)->keep);
}

static const struct own_option table[] = {
    {"o", "FILE", "where the recording goes; it must not be there yet", take_file},
    {"for", "TIME", "how long, such as 30s, 10m or 2h (default 10m, at most 24h)", take_for},
    {"most", "SIZE", "end before what is taken down is larger, such as 100MiB (default 1GiB)",
     take_most},
    {"keep", "N",
     "go on in another file instead, FILE.1, FILE.2 and so on, and keep the last N of them",
     take_keep},
    {"programs", "DIR",
     "with --redact: show with the programs in DIR that the same is decided (default: where berth "
     "lies)",
     take_programs},
    {"read", "FILE", "with --redact: take this recording, and record nothing", take_read},
    {"redact", NULL, "with made-up names in the place of all names of the cluster", take_redact},
    {"run-dir", "DIR", "the run directory of berth run (default: as for the processes)",
     take_run_dir},
    {"stays", "WORD,WORD", "with --redact: words that are no secret and stay in names", take_stays},
    {NULL, NULL, NULL, NULL},
};

/* ---- asking ---- */

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "berth record: %s: %s\n", what, why);
    return false;
}

/* The place of the next part; the number of the one before is in part. */
static bool make_place(const struct recording *r, struct part *part)
{
    char full[CONTROL_LINE_MAX + 16], real[PATH_MAX];
    struct stat s;
    part->number += r->keep > 0;
    int len = r->keep > 0 ? snprintf(part->path, sizeof(part->path), "%s.%u", r->path, part->number)
                          : snprintf(part->path, sizeof(part->path), "%s", r->path);
    if (len < 0 || (size_t)len >= sizeof(part->path) - 64)
        return fail(r->path, "is too long a name");
    if (lstat(part->path, &s) == 0)
        return fail(part->path, "is there already");
    snprintf(full, sizeof(full), "%s.parts", part->path);
    if (mkdir(full, 0700) != 0)
        return fail(full, strerror(errno));
    size_t length = realpath(full, real) != NULL ? strlen(real) : 0;
    bool fits = length > 0 && length < 400 && strchr(real, '\n') == NULL;
    if (fits)
        memcpy(part->dir, real, length + 1);
    else
        rmdir(full);
    return fits || fail(full, "has too long a name");
}

static bool reach(struct recording *r)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int len = snprintf(at.sun_path, sizeof(at.sun_path), "%s/" CONTROL_SOCKET, r->run_dir);
    if (len < 0 || (size_t)len >= sizeof(at.sun_path))
        return fail(r->run_dir, "is too long a name");
    r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (r->fd >= 0 && connect(r->fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return true;
    return fail(at.sun_path, errno == ENOENT || errno == ECONNREFUSED ? "no berth run is there"
                                                                      : strerror(errno));
}

/* Who is turned away may be so before it has said what it wants; why is there to be read. */
static bool ask(const struct recording *r, const struct part *part, int64_t seconds)
{
    char line[CONTROL_LINE_MAX + 32];
    int len = snprintf(line, sizeof(line), "record %" PRId64 " %s\n", seconds, part->dir);
    return send(r->fd, line, (size_t)len, MSG_NOSIGNAL) == len || errno == EPIPE ||
           errno == ECONNRESET || fail(r->run_dir, strerror(errno));
}

/* Waits for a line, for so long; false: none has come. NULL in line: it is gone. */
static bool next_line(struct recording *r, int64_t ms, const char **line)
{
    struct pollfd fd = {.fd = r->fd, .events = POLLIN};
    static char said[CONTROL_LINE_MAX];
    char *end = memchr(r->line, '\n', r->len);
    if (end == NULL && poll(&fd, 1, (int)ms) > 0) {
        ssize_t got = recv(r->fd, r->line + r->len, sizeof(r->line) - r->len, MSG_DONTWAIT);
        *line = NULL;
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return true;
        r->len += got > 0 ? (size_t)got : 0;
        end = memchr(r->line, '\n', r->len);
    }
    if (end == NULL)
        return false;
    *end = 0;
    size_t used = (size_t)(end - r->line) + 1;
    memcpy(said, r->line, used);
    memmove(r->line, r->line + used, r->len - used);
    r->len -= used;
    *line = said;
    return true;
}

/* What it answers to that; NULL: nothing, or it is gone. */
static const char *answer(struct recording *r)
{
    const char *line = NULL;
    struct moment until = moment_after(moment_now(), span_of_ms(END_MS));
    while (!moment_reached(moment_now(), until))
        if (next_line(r, LOOK_MS, &line))
            return line;
    return NULL;
}

static bool begin(struct recording *r)
{
    const char *line = ask(r, &r->part, r->seconds) ? answer(r) : NULL;
    r->began_us = r->part.began_us = moment_wall_us();
    return (line != NULL && strcmp(line, "recording") == 0) ||
           fail(r->run_dir, line != NULL ? line : "it does not answer");
}

/* ---- a file of it ---- */

/* The processes end their journals by themselves, soon. */
static struct gathered settle(const struct part *part)
{
    struct moment until = moment_after(moment_now(), span_of_ms(END_MS));
    struct gathered what = gather_look(part->dir);
    while ((what.unended > 0 || what.lives == 0) && !moment_reached(moment_now(), until)) {
        poll(NULL, 0, LOOK_MS);
        what = gather_look(part->dir);
    }
    return what;
}

static void describe(const struct recording *r, const struct part *part, struct buffer *about)
{
    buffer_print(about,
                 "{\"version\":\"" OPTIONS_VERSION "\",\"beganUs\":%" PRId64 ",\"endedUs\":%" PRId64
                 ",\"askedSeconds\":%" PRId64 ",\"endedBy\":",
                 part->began_us, part->ended_us, r->seconds);
    json_string(about, str_of(part->ended_by));
    if (part->number > 0)
        buffer_print(about, ",\"part\":%u", part->number);
    buffer_add_text(about, "}\n");
}

static void report(const struct part *part, const struct gathered *what,
                   const struct gathered *made)
{
    double seconds = (double)(part->ended_us - part->began_us) / 1e6;
    printf("%s: %u lives in %.1f s, %" PRIu64 " bytes of %" PRIu64 "\n", part->path, made->lives,
           seconds, made->packed, made->raw);
    if (strcmp(part->ended_by, "time") != 0 && strcmp(part->ended_by, GATHER_ROTATED) != 0)
        printf("ended before its time, by: %s\n", part->ended_by);
    if (what->unended > 0)
        printf("%u processes have not ended their part: it is cut off\n", what->unended);
    fflush(stdout);
}

/* Makes the file of one that has the names of the cluster. */
static bool make_redacted(const struct recording *r, const char *from, const char *to)
{
    struct buffer error = {0};
    struct redaction redaction = {
        .from = from, .to = to, .programs = r->programs, .stays = r->stays};
    bool good = redact(&redaction, &error);
    if (good)
        printf("%s: redacted: %" PRIu64 " names are others%s, %u lives come out identical, %" PRIu64
               " bytes\n",
               to, redaction.names, redaction.uids_stay ? ", UIDs are as they were" : "",
               redaction.lives, redaction.packed);
    else
        fprintf(stderr, "berth record: %s is not made: %s\n", to, error.at);
    fflush(stdout);
    buffer_free(&error);
    return good;
}

/* What was recorded is in whole, which is kept only if nothing can be made of it. */
static bool hide_names(const struct recording *r, const char *whole, const char *path)
{
    if (make_redacted(r, whole, path)) {
        unlink(whole);
        return true;
    }
    fprintf(stderr, "berth record: with the names of the cluster it is in %s\n", whole);
    return false;
}

static void finish(struct recording *r, const struct part *part)
{
    char whole[CONTROL_LINE_MAX + 16];
    struct buffer about = {0}, error = {0};
    struct gathered what = settle(part), made;
    describe(r, part, &about);
    snprintf(whole, sizeof(whole), "%s%s", part->path, r->redact ? ".names" : "");
    bool good = gather(part->dir, whole, buffer_str(&about), &made, &error);
    buffer_free(&about);
    if (good) {
        gather_remove(part->dir);
        report(part, &what, &made);
        good = !r->redact || made.lives == 0 || hide_names(r, whole, part->path);
    } else {
        fprintf(stderr, "berth record: %s; what was taken down is in %s\n", error.at, part->dir);
    }
    if (!good || made.lives == 0)
        r->status = 1;
    buffer_free(&error);
}

/* Of several those that are to be kept stay. */
static void remove_oldest(const struct recording *r)
{
    char path[CONTROL_LINE_MAX];
    if (r->part.number <= r->keep)
        return;
    snprintf(path, sizeof(path), "%s.%u", r->path, (unsigned)(r->part.number - r->keep));
    if (unlink(path) != 0 && errno != ENOENT)
        fail(path, strerror(errno));
}

/* ---- while it lasts ---- */

static const char *end_of(const char *line)
{
    return line != NULL && strcmp(line, "ended") == 0 ? "time" : "berth run ended";
}

/* Goes on in another file: the processes begin anew, and the one that there was is made meanwhile.
 */
static void rotate(struct recording *r)
{
    struct part old = r->part, next = {.number = old.number};
    int64_t now_us = moment_wall_us(), left = r->seconds - (now_us - r->began_us) / 1000000;
    if (!make_place(r, &next)) {
        r->part.ended_by = "no place for another file";
        return;
    }
    const char *line = ask(r, &next, left > 0 ? left : 1) ? answer(r) : NULL;
    if (line == NULL || strcmp(line, "recording") != 0) {
        gather_remove(next.dir);
        r->part.ended_by = end_of(line);
        return;
    }
    old.ended_us = next.began_us = moment_wall_us();
    old.ended_by = GATHER_ROTATED;
    r->part = next;
    finish(r, &old);
    remove_oldest(r);
}

static void last(struct recording *r)
{
    const char *line = NULL;
    while (r->part.ended_by == NULL) {
        bool said = next_line(r, LOOK_MS, &line);
        bool large = (int64_t)gather_look(r->part.dir).raw >= r->most;
        if (said)
            r->part.ended_by = end_of(line);
        else if (asked_to_end)
            r->part.ended_by = "request";
        else if (large && r->keep == 0)
            r->part.ended_by = "size";
        else if (large && moment_wall_us() - r->part.began_us >= LEAST_US)
            rotate(r);
    }
    r->part.ended_us = moment_wall_us();
    close(r->fd); /* which ends it */
}

static void on_signal(int number)
{
    (void)number;
    asked_to_end = 1;
}

static void take_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

static bool is_asked_well(struct recording *r)
{
    if (r->path == NULL)
        return fail("-o FILE", "is missing");
    if ((r->read != NULL || r->programs[0] != 0 || r->stays != NULL) && !r->redact)
        return fail("--read, --programs and --stays", "are there for --redact alone");
    return !r->redact || member_programs("berth record", r->programs, sizeof(r->programs));
}

static int record(struct recording *r)
{
    if (!make_place(r, &r->part))
        return 1;
    take_signals();
    if (!reach(r) || !begin(r)) {
        gather_remove(r->part.dir);
        return 1;
    }
    printf("recording for %" PRId64 " s, or until interrupted\n", r->seconds);
    fflush(stdout);
    last(r);
    finish(r, &r->part);
    return r->status;
}

int command_record(int argc, char **argv)
{
    static struct recording r = {.seconds = 600, .most = INT64_C(1) << 30, .fd = -1};
    options_read(&(struct options_table){.program = "berth record",
                                         .usage = "record a running berth, to be played back",
                                         .options = table,
                                         .state = &r},
                 argc, argv);
    if (r.run_dir == NULL)
        r.run_dir = options_run_dir();
    if (!is_asked_well(&r))
        return 1;
    if (r.read != NULL)
        return make_redacted(&r, r.read, r.path) ? 0 : 1;
    return record(&r);
}
