/* options: one table of the options that all processes share, and one of the process's own, walked
 * by the same code. What must stay true: what --help prints is what is accepted, because both come
 * from the tables; a bad argument is named and nothing has been opened yet. */
#include "proto/bus/options.h"
#include "proto/base/arena.h"
#include "proto/base/beat.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/commit.h"
#include "proto/journal/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who has a core that is recorded. */
#define CORES (WATCHER | QUEUE | SCHEDULER | WORKER | BINDER)

#define BAD_STATUS 1 /* of a bad argument, as kube-scheduler's */

struct parse {
    struct options *options;
    const struct options_spec *spec;
    enum log_level level;
    const char *record; /* NULL: nothing is taken down */
    char error[256];    /* set by a take() that says no */
};

static bool take_run_dir(void *state, const char *value)
{
    ((struct parse *)state)->options->bus.run_dir = value;
    return *value != 0;
}

/* Becomes a file name and a word in logs, so it may not hold a slash or a space. */
static bool take_name(void *state, const char *value)
{
    struct parse *p = state;
    p->options->bus.instance = value;
    for (const char *c = value; *c; c++)
        if (*c <= ' ' || *c == '/' || *c == '"' || (unsigned char)*c > 126) {
            snprintf(p->error, sizeof(p->error), "letters, digits and -_.: only");
            return false;
        }
    return *value != 0 && strlen(value) <= 64;
}

static bool take_endpoint(struct parse *p, const char **into, const char *value)
{
    *into = value;
    if ((strncmp(value, "ipc://", 6) == 0 && value[6]) ||
        (strncmp(value, "tcp://", 6) == 0 && value[6]))
        return true;
    snprintf(p->error, sizeof(p->error), "want ipc://PATH or tcp://HOST:PORT");
    return false;
}

static bool take_listen(void *state, const char *value)
{
    return take_endpoint(state, &((struct parse *)state)->options->bus.listen, value);
}

static bool take_tap(void *state, const char *value)
{
    return take_endpoint(state, &((struct parse *)state)->options->bus.tap, value);
}

static bool take_peer(void *state, const char *value)
{
    struct parse *p = state;
    const char *equal = strchr(value, '=');
    enum process kind =
        equal ? process_of((struct str){value, (uint32_t)(equal - value)}) : (enum process)0;
    if (kind == 0 || !(kind & p->spec->peers)) {
        snprintf(p->error, sizeof(p->error),
                 "want KIND=URL with the kind of a process that this "
                 "one connects to");
        return false;
    }
    struct bus_options *bus = &p->options->bus;
    for (size_t i = 0; i < bus->peer_count; i++)
        if (bus->peers[i].process == kind) {
            snprintf(p->error, sizeof(p->error),
                     "%.*s is given already: a process has one of each kind (a worker serves one "
                     "scheduler; start another for another)",
                     (int)(equal - value), value);
            return false;
        }
    struct bus_peer_option *peer = &bus->peers[bus->peer_count];
    if (!take_endpoint(p, &peer->endpoint, equal + 1))
        return false;
    peer->process = kind;
    bus->peer_count++;
    return true;
}

static bool take_curve_dir(void *state, const char *value)
{
    ((struct parse *)state)->options->bus.curve_dir = value;
    return *value != 0;
}

static bool take_allow_plain_tcp(void *state, const char *value)
{
    (void)value;
    ((struct parse *)state)->options->bus.allow_plain_tcp = true;
    return true;
}

static bool take_config(void *state, const char *value)
{
    ((struct parse *)state)->options->config_path = value;
    return *value != 0;
}

static bool take_generation(void *state, const char *value)
{
    struct parse *p = state;
    snprintf(p->error, sizeof(p->error), "want a number from 1 on");
    return options_number(value, 1, INT64_MAX, &p->options->bus.generation);
}

static bool take_level(void *state, const char *value)
{
    struct parse *p = state;
    snprintf(p->error, sizeof(p->error), "want error, warn, info, debug or 0 to 10");
    return log_level_parse(value, &p->level);
}

static bool take_format(void *state, const char *value)
{
    struct parse *p = state;
    snprintf(p->error, sizeof(p->error), "want text or json");
    return log_set_format(value);
}

static bool take_beat(void *state, const char *value)
{
    struct parse *p = state;
    snprintf(p->error, sizeof(p->error), "want FD:SLOT of a page of berth run");
    return beat_join(value);
}

static const struct own_option shared[] = {
    {"run-dir", "DIR",
     "private directory of ipc sockets (default $BERTH_RUN_DIR, $XDG_RUNTIME_DIR/berth or "
     "/run/berth)",
     take_run_dir},
    {"name", "NAME", "instance name (default: the kind's name; workers: worker-0, worker-1, ...)",
     take_name},
    {"listen", "URL", "the door, ipc:// or tcp:// (default: ipc in the run directory)",
     take_listen},
    {"tap", "URL", "the tap (default: ipc in the run directory)", take_tap},
    {"peer", "KIND=URL", "where the door of another process is; once for each kind", take_peer},
    {"curve-dir", "DIR", "CURVE keys made by `berth keys`, used on tcp", take_curve_dir},
    {"allow-plain-tcp", NULL, "permit tcp without CURVE beyond loopback", take_allow_plain_tcp},
    {"config", "FILE", "KubeSchedulerConfiguration", take_config},
    {"generation", "N", "config generation (default 1)", take_generation},
    {"v", "N", "log verbosity as in Kubernetes: 2 and more is debug", take_level},
    {"log-level", "LEVEL", "error, warn, info or debug (default info)", take_level},
    {"logging-format", "FORMAT", "text (logfmt, the default) or json", take_format},
    {"beat", "FD:SLOT", "where berth run, which gives it, sees that this process's loop turns",
     take_beat},
    {NULL, NULL, NULL, NULL},
};

/* ---- numbers ---- */

static char wanted[80]; /* of the number that was read last and refused; "" when none was */

bool options_number(const char *value, int64_t least, int64_t most, int64_t *number)
{
    if (str_to_i64(str_of(value), number) && *number >= least && *number <= most)
        return true;
    if (most == INT64_MAX)
        snprintf(wanted, sizeof(wanted), ": want a whole number from %" PRId64 " on", least);
    else
        snprintf(wanted, sizeof(wanted), ": want a whole number from %" PRId64 " to %" PRId64,
                 least, most);
    return false;
}

bool options_decimal(const char *value, double least, double most, double *number)
{
    size_t len = strspn(value, "0123456789.");
    char *end;
    *number = strtod(value, &end);
    if (end > value && *end == 0 && value[len] == 0 && *number >= least && *number <= most)
        return true;
    snprintf(wanted, sizeof(wanted), ": want a number from %.9g to %.9g", least, most);
    return false;
}

bool options_speed(const char *value, double *speed)
{
    return options_decimal(value, 0.01, 1e6, speed);
}

static bool take_record(void *state, const char *value)
{
    ((struct parse *)state)->record = value;
    return *value != 0;
}

static bool take_replay(void *state, const char *value)
{
    ((struct parse *)state)->options->replay.path = value;
    return *value != 0;
}

static bool take_answers(void *state, const char *value)
{
    ((struct parse *)state)->options->replay.answers = value;
    return *value != 0;
}

static bool take_said(void *state, const char *value)
{
    ((struct parse *)state)->options->replay.said = value;
    return *value != 0;
}

static bool take_speed(void *state, const char *value)
{
    return options_speed(value, &((struct parse *)state)->options->replay.speed);
}

static bool take_from(void *state, const char *value)
{
    return str_to_i64(str_of(value), &((struct parse *)state)->options->replay.from_us);
}

static const struct own_option of_cores[] = {
    {"record", "FILE", "take down in FILE what the core is told, reads and says", take_record},
    {"replay", "FILE", "play back what --record wrote, and compare what is said", take_replay},
    {"answers", "FILE",
     "with --replay: write there what the core says to a tool behind the last entry", take_answers},
    {"said", "FILE", "with --replay: write there what the core says, as it says it", take_said},
    {"speed", "N", "with --replay: N times as fast as it was, not as fast as it can", take_speed},
    {"from", "US", "with --speed: count from this time on, in microseconds since 1970", take_from},
    {NULL, NULL, NULL, NULL},
};

/* Tables that are read as one: a process's own, that of processes with a core, and the shared one.
 */
#define TABLES 3
struct reader {
    const char *program, *usage;
    const struct own_option *table[TABLES];
    void *state[TABLES];
    const char *error; /* what a take() says about why it refused; "" when it says nothing */
    int bad_status;    /* the exit status when an argument is bad */
};

/* The option of that name and the state of its table. */
static const struct own_option *find(const struct reader *r, struct str name, void **state)
{
    for (int i = 0; i < TABLES; i++)
        for (const struct own_option *o = r->table[i]; o && o->name; o++)
            if (str_is(name, o->name)) {
                *state = r->state[i];
                return o;
            }
    return NULL;
}

/* What two tables have is the first's. */
static bool is_hidden(const struct reader *r, const struct own_option *o)
{
    void *state;
    return find(r, str_of(o->name), &state) != o;
}

static void print_option(const struct own_option *o)
{
    char head[64];
    bool optional = o->value && o->value[0] == '[';
    snprintf(head, sizeof(head), "%s%s%s%s", o->name[1] ? "--" : "-", o->name,
             optional   ? "[="
             : o->value ? " "
                        : "",
             o->value ? o->value + optional : "");
    printf("  %-22s %s\n", head, o->doc);
}

/* A text that did not get out, as on a full disk, is none. */
_Noreturn static void printed(const struct reader *r)
{
    bool lost = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !lost)
        exit(0);
    fprintf(stderr, "%s: standard output: %s\n", r->program,
            errno != 0 ? strerror(errno) : "not all of it was written");
    exit(1);
}

_Noreturn static void help(const struct reader *r)
{
    printf("%s: %s\n\n", r->program, r->usage);
    for (int i = 0; i < TABLES; i++)
        for (const struct own_option *o = r->table[i]; o && o->name; o++)
            if (!is_hidden(r, o))
                print_option(o);
    printf("  %-22s %s\n  %-22s %s\n", "--help", "this text", "--version", "the version");
    printed(r);
}

_Noreturn static void refuse(const struct reader *r, const char *argument, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", r->program, argument, why);
    exit(r->bad_status);
}

static void take_value(const struct reader *r, const struct own_option *o, void *state,
                       const char *value)
{
    wanted[0] = 0;
    if (o->take(state, value))
        return;
    char what[512], name[64];
    if (r->error && r->error[0])
        snprintf(what, sizeof(what), "\"%s\" is refused: %s", value, r->error);
    else
        snprintf(what, sizeof(what), "\"%s\" is refused (%s: %s)%s", value,
                 o->value ? o->value : "a flag", o->doc, wanted);
    snprintf(name, sizeof(name), "%s%s", o->name[1] ? "--" : "-", o->name);
    refuse(r, name, what);
}

/* One argument with its value; returns how many entries of argv were used. */
static int take_one(const struct reader *r, int left, char **argv)
{
    const char *argument = argv[0];
    const char *name = argument + (argument[0] == '-') + (argument[0] == '-' && argument[1] == '-');
    const char *equal = strchr(name, '=');
    struct str key = {name, equal ? (uint32_t)(equal - name) : (uint32_t)strlen(name)};
    void *state = NULL;
    if (name == argument || key.len == 0)
        refuse(r, argument, "not an option (--help lists them)");
    if (str_is(key, "help") || str_is(key, "h"))
        help(r);
    if (str_is(key, "version")) {
        printf("%s %s%s\n", r->program, OPTIONS_VERSION, commit_text());
        printed(r);
    }
    const struct own_option *o = find(r, key, &state);
    if (o == NULL)
        refuse(r, argument, "unknown option (--help lists them)");
    if (o->value == NULL && equal)
        refuse(r, argument, "takes no value");
    bool next = o->value && !equal && o->value[0] != '['; /* the value is the next argument */
    if (next && left < 2)
        refuse(r, argument, "needs a value");
    take_value(r, o, state, equal ? equal + 1 : next ? argv[1] : "");
    return next ? 2 : 1;
}

static void (*list_each)(const struct own_option *option);

void options_list_only(void (*each)(const struct own_option *option))
{
    list_each = each;
}

_Noreturn static void list(const struct reader *r)
{
    for (int i = 0; i < TABLES; i++)
        for (const struct own_option *o = r->table[i]; o && o->name; o++)
            if (!is_hidden(r, o))
                list_each(o);
    list_each(NULL);
    exit(0);
}

void options_read(const struct options_table *table, int argc, char **argv)
{
    struct reader r = {.program = table->program,
                       .usage = table->usage,
                       .table = {table->options, table->more},
                       .state = {table->state, table->more_state},
                       .error = table->error,
                       .bad_status = table->bad_status != 0 ? table->bad_status : BAD_STATUS};
    if (list_each != NULL)
        list(&r);
    bool only_words = false;
    for (int i = 1; i < argc;) {
        const char *argument = argv[i];
        bool is_word =
            table->word != NULL && (only_words || argument[0] != '-' || argument[1] == 0);
        if (is_word && !table->word(table->state, argument))
            refuse(&r, argument, "is one too many (--help tells what is wanted)");
        if (is_word || (table->word != NULL && strcmp(argument, "--") == 0)) {
            only_words = only_words || !is_word;
            i++;
        } else {
            i += take_one(&r, argc - i, argv + i);
        }
    }
}

/* A kind that this process connects to and that no --peer named is found in the run directory. */
static void add_default_peers(struct options *options, enum process kinds)
{
    struct bus_options *bus = &options->bus;
    for (int i = 0; i < PROCESS_COUNT; i++) {
        enum process kind = (enum process)(1 << i);
        bool named = !(kinds & kind);
        for (size_t j = 0; j < bus->peer_count; j++)
            named = named || bus->peers[j].process == kind;
        if (named)
            continue;
        must(bus->peer_count < BUS_PEERS_MAX);
        bus->peers[bus->peer_count++] = (struct bus_peer_option){kind, NULL};
    }
}

const char *options_run_dir(void)
{
    static char in_runtime_dir[512];
    const char *dir = getenv("BERTH_RUN_DIR");
    if (dir && *dir)
        return dir;
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime == NULL || *runtime == 0)
        return "/run/berth";
    snprintf(in_runtime_dir, sizeof(in_runtime_dir), "%s/berth", runtime);
    return in_runtime_dir;
}

/* ---- journals ---- */

/* About the process and not about its core. */
static const char *const aside[] = {"record", "beat", "log-level", "v", "logging-format"};

/* How many entries of argv are such an argument; 0: it is another one. */
static int is_aside(int left, char **argv)
{
    const char *name = argv[0] + strspn(argv[0], "-");
    size_t len = strcspn(name, "=");
    for (size_t i = 0; i < sizeof(aside) / sizeof(aside[0]); i++)
        if (strlen(aside[i]) == len && memcmp(aside[i], name, len) == 0)
            return name[len] == '=' || left < 2 ? 1 : 2;
    return 0;
}

static void record(const struct reader *r, const struct parse *p, int argc, char **argv)
{
    char error[512];
    const struct bus_options *bus = &p->options->bus;
    struct journal_head head = {.program = STR_LITERAL(OPTIONS_VERSION),
                                .process = str_of(process_name(bus->process)),
                                .instance = str_of(bus->instance ? bus->instance : ""),
                                .started_us = moment_wall_us()};
    head.arguments.at = memory_take_array((size_t)argc, sizeof(struct str));
    for (int i = 1; i < argc;) {
        int skip = is_aside(argc - i, argv + i);
        if (skip == 0)
            head.arguments.at[head.arguments.count++] = str_of(argv[i]);
        i += skip > 0 ? skip : 1;
    }
    if (!journal_file_create(p->record, &head, error, sizeof(error)))
        refuse(r, "--record", error);
    memory_free(head.arguments.at);
}

static const char *replayed_file(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");
        if (name != argv[i] && strncmp(name, "replay=", 7) == 0)
            return name + 7;
        if (name != argv[i] && strcmp(name, "replay") == 0 && i + 1 < argc)
            return argv[i + 1];
    }
    return NULL;
}

/* The journal in force then; ends the program when there is none to be had. */
static struct journal *open_replayed(const char *path, enum process kinds)
{
    char error[1024];
    struct journal *journal = journal_file_play(path, error, sizeof(error));
    if (journal == NULL) {
        fprintf(stderr, "--replay: %s\n", error);
        exit(1);
    }
    struct str process = journal_head(journal)->process;
    if (process_of(process) & kinds)
        return journal;
    fprintf(stderr, "--replay: %s: is a recording of a %.*s\n", path, STR_ARG(process));
    exit(1);
}

void options_replay(enum process kinds, int *argc, char ***argv)
{
    static char quiet[] = "--log-level=error";
    const char *path = replayed_file(*argc, *argv);
    if (path == NULL)
        return;
    const struct strs *then = &journal_head(open_replayed(path, kinds))->arguments;
    char **all = memory_take_array((size_t)*argc + then->count + 2, sizeof(*all));
    int count = 0;
    all[count++] = (*argv)[0];
    for (uint32_t i = 0; i < then->count; i++)
        all[count++] = str_copy(then->at[i]);
    all[count++] = quiet;
    for (int i = 1; i < *argc; i++)
        all[count++] = (*argv)[i];
    *argc = count;
    *argv = all;
}

void options_parse(struct options *options, const struct options_spec *spec, int argc, char **argv)
{
    *options = (struct options){0};
    options->bus.process = spec->self;
    options->bus.generation = 1;
    struct parse p = {.options = options, .spec = spec, .level = LOG_LEVEL_info};
    char program[32];
    snprintf(program, sizeof(program), spec->self == TOOL ? "berth" : "berth-%s",
             process_name(spec->self));
    struct reader r = {.program = program,
                       .usage = spec->usage,
                       .table = {spec->own, spec->self & CORES ? of_cores : NULL, shared},
                       .state = {spec->own_state, &p, &p},
                       .error = p.error,
                       .bad_status = BAD_STATUS};
    for (int i = 1; i < argc; p.error[0] = 0)
        i += take_one(&r, argc - i, argv + i);
    if (options->bus.run_dir == NULL)
        options->bus.run_dir = options_run_dir();
    add_default_peers(options, spec->peers);
    log_open(options->bus.instance ? options->bus.instance : process_name(spec->self), p.level);
    if (p.record != NULL && options->replay.path == NULL)
        record(&r, &p, argc, argv);
}

const char *options_joined(struct arena *memory, const char *list, const char *more)
{
    if (list == NULL || *list == 0)
        return more;
    return *more == 0 ? list : arena_print(memory, "%s,%s", list, more).at;
}
