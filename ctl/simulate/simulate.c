/* simulate: reads manifests and scenarios and prints what the scheduler would decide. The one idea:
 * the same cache, shards and reduce as the live processes, without the bus between them.
 *
 * What must stay true: one result for every scenario, in order, whatever is wrong with it; the exit
 * status is 0 only if every scenario was understood to the last word. */
#include "ctl/simulate/simulate.h"

#include "ctl/claim_configs.h"
#include "ctl/cross_check.h"
#include "ctl/plugin_doors.h"
#include "ctl/scenario.h"
#include "ctl/simulate/gather.h"
#include "proto/base/memory.h"
#include "proto/bus/options.h"
#include "proto/kube/release/release.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum format { FORMAT_table, FORMAT_wide, FORMAT_json, FORMAT_yaml, FORMAT_ndjson };

struct arguments {
    const char **files; /* borrowed from the command line */
    uint32_t file_count;
    bool batch, format_said;
    enum format format;
    uint32_t shards;
    int64_t release;
    const char *config, *space, *plugins;    /* NULL: not said */
    struct plugin_doors *doors;              /* NULL: no plugin on the bus is asked */
    struct cross_check checks, *cross_check; /* &checks, or NULL */
};

#define SHARDS_MAX 64

/* What the caller learns from the exit status. */
enum { STATUS_decided, STATUS_failed, STATUS_refused };

static bool take_file(void *state, const char *value)
{
    struct arguments *args = state;
    args->files = memory_resize(args->files, (args->file_count + 1) * sizeof(*args->files));
    args->files[args->file_count++] = value;
    return *value != 0;
}

static bool take_config(void *state, const char *value)
{
    ((struct arguments *)state)->config = value;
    return *value != 0;
}

static bool take_plugins(void *state, const char *value)
{
    ((struct arguments *)state)->plugins = value;
    return *value != 0;
}

static bool take_namespace(void *state, const char *value)
{
    ((struct arguments *)state)->space = value;
    return *value != 0;
}

static bool take_batch(void *state, const char *value)
{
    (void)value;
    ((struct arguments *)state)->batch = true;
    return true;
}

static bool take_output(void *state, const char *value)
{
    static const char *const names[] = {"table", "wide", "json", "yaml", "ndjson"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(value, names[i]) == 0) {
            ((struct arguments *)state)->format_said = true;
            ((struct arguments *)state)->format = (enum format)i;
            return true;
        }
    return false;
}

static bool take_release(void *state, const char *value)
{
    return release_read(value, &((struct arguments *)state)->release);
}

static bool take_shards(void *state, const char *value)
{
    int64_t count;
    if (!options_number(value, 1, SHARDS_MAX, &count))
        return false;
    ((struct arguments *)state)->shards = (uint32_t)count;
    return true;
}

static bool take_cross_check(void *state, const char *value)
{
    (void)value;
    struct arguments *args = state;
    args->cross_check = &args->checks;
    return true;
}

static const struct own_option own[] = {
    {"f", "FILE",
     "manifests, a dump of a cluster or a scenario, YAML or JSON; - is standard input; may be "
     "repeated, and needs no -f",
     take_file},
    {"in", "FILE", "the same", take_file},
    {"batch", NULL,
     "one JSON scenario a line in, one JSON result a line out; not with -n, nor with -o but json",
     take_batch},
    {"o", "table|wide|json|yaml|ndjson",
     "output format (default table); wide: every node's scores and reasons; json: the oracle's "
     "format; ndjson: a line a result",
     take_output},
    {"config", "FILE", "a KubeSchedulerConfiguration", take_config},
    {"plugins", "DIR",
     "ask the plugins on the bus that the configuration names: they come in at DIR/scheduler.sock, "
     "or DIR/queue.sock, as at a live scheduler's",
     take_plugins},
    {"n", "NAMESPACE", "where objects are that do not say it (default: default)", take_namespace},
    {"release", "VERSION", "decide as kube-scheduler of that release: 1.36 (default) or 1.37",
     take_release},
    {"shards", "N", "how many shares the nodes are split into (default 2)", take_shards},
    {"cross-check", NULL,
     "decide everything again as live workers do, who keep what they found out; status 1 when that "
     "makes a difference",
     take_cross_check},
    {NULL, NULL, NULL, NULL}};

/* Where it cannot be, main says why. */
static bool write_out(struct buffer *out)
{
    bool written =
        (out->len == 0 || fwrite(out->at, 1, out->len, stdout) == out->len) && fflush(stdout) == 0;
    buffer_reset(out);
    return written;
}

static struct scenario_output output_of(const struct arguments *args, struct buffer *out)
{
    return (struct scenario_output){.out = out,
                                    .json = args->batch || args->format >= FORMAT_json,
                                    .wide = args->format == FORMAT_wide,
                                    .indented = !args->batch && args->format == FORMAT_json,
                                    .shards = args->shards,
                                    .doors = args->doors,
                                    .release = args->release,
                                    .cross_check = args->cross_check};
}

/* The strict reading of scenarios leaves one thing open, which is looked at here. */
static bool play_scenario(const struct kube_json *scenario, const struct scenario_output *o)
{
    struct arena a = {0};
    struct str error = claim_configs_check(scenario, &a);
    bool fine = error.len == 0;
    if (fine)
        fine = scenario_play(scenario, o);
    else
        scenario_fail(o, o->place != NULL ? o->place(o->context, error) : error);
    arena_free(&a);
    return fine;
}

/* ---- files ---- */

/* The whole result in another form than it was written in. False where it is not to be read, as it
 * may be deeper than what it was made of; nothing is left of it then. */
static bool rewrite(enum format format, struct buffer *out)
{
    struct arena a = {0};
    struct str error = {0};
    struct kube_json *result = kube_json_parse(buffer_str(out), &error, &a);
    const struct kube_json *i = kube_json_first(kube_json_get(result, "results"));
    bool read = result != NULL;
    if (!read)
        fprintf(stderr, "berth simulate: the result cannot be put in this form: %.*s\n",
                STR_ARG(error));
    buffer_reset(out);
    if (read && format == FORMAT_yaml)
        kube_json_write_yaml(result, out);
    for (; format == FORMAT_ndjson && i != NULL; i = kube_json_next(i)) {
        kube_json_write(i, out);
        buffer_add_text(out, "\n");
    }
    kube_json_free(&result);
    arena_free(&a);
    return read;
}

static bool gather_all(struct gather *g, const struct arguments *args)
{
    static const char *const standard_input[] = {"-"};
    const char *const *files = args->file_count > 0 ? args->files : standard_input;
    g->release = args->release;
    g->config = args->config;
    g->space = str_of(args->space != NULL ? args->space : "default");
    for (uint32_t i = 0; i < (args->file_count > 0 ? args->file_count : 1); i++)
        if (!gather_read(g, files[i]))
            return false;
    return gather_scenario(g) != NULL;
}

static void tell_passed_over(struct gather *g)
{
    struct str kinds = gather_passed_over(g);
    if (kinds.len > 0)
        fprintf(stderr,
                "berth simulate: no decision depends on these, and they were left out: %.*s\n",
                STR_ARG(kinds));
}

static void tell_not_asked(const struct buffer *names, const struct arguments *args)
{
    if (names->len > 0)
        fprintf(stderr, "berth simulate: these have a say in it and were not asked%s: %.*s\n",
                args->doors == NULL ? " (plugins are with --plugins DIR)" : "", (int)names->len,
                names->at);
}

static struct str place(void *context, struct str error)
{
    return gather_error(context, error);
}

static int play_files(const struct arguments *args)
{
    struct gather g = {0};
    struct buffer out = {0}, why = {0}, not_asked = {0};
    int status = STATUS_decided;
    struct scenario_output o = output_of(args, &out);
    o.why = &why;
    o.not_asked = &not_asked;
    o.place = place;
    o.context = &g;
    if (!gather_all(&g, args)) {
        scenario_fail(&o, g.error);
        status = g.unreadable ? STATUS_failed : STATUS_refused;
    } else if (!play_scenario(gather_scenario(&g), &o)) {
        status = STATUS_refused;
    }
    if (why.len > 0)
        fprintf(stderr, "berth simulate: %.*s\n", (int)why.len, why.at);
    tell_passed_over(&g);
    tell_not_asked(&not_asked, args);
    if ((args->format == FORMAT_yaml || args->format == FORMAT_ndjson) &&
        !rewrite(args->format, &out))
        status = STATUS_failed;
    if (!write_out(&out))
        status = STATUS_failed;
    buffer_free(&why);
    buffer_free(&out);
    buffer_free(&not_asked);
    gather_free(&g);
    return status;
}

/* ---- a stream ---- */

/* One line without its end; false at the end of the stream. */
static bool read_line(FILE *from, struct buffer *line)
{
    char chunk[65536];
    buffer_reset(line);
    while (fgets(chunk, sizeof(chunk), from) != NULL) {
        size_t len = strlen(chunk);
        bool whole = len > 0 && chunk[len - 1] == '\n';
        buffer_add(line, chunk, len - (whole ? 1 : 0));
        if (whole)
            return true;
    }
    return line->len > 0;
}

static FILE *open_file(const char *path)
{
    FILE *from = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (from == NULL)
        fprintf(stderr, "berth simulate: %s: %s\n", path, strerror(errno));
    return from;
}

/* What could not be read of it is said. */
static bool close_file(FILE *from, const char *path)
{
    bool read = !ferror(from);
    if (!read)
        fprintf(stderr, "berth simulate: %s: %s\n", path, strerror(errno));
    if (from != stdin)
        fclose(from);
    return read;
}

/* All lines; the configuration is read once. */
struct stream {
    const struct arguments *args;
    struct buffer config, out;
    struct buffer not_asked; /* who was told of last as not asked */
    struct arena line;       /* one line's */
};

/* The configuration counts in the scenario, whatever its own is. NULL with an error where both
 * together cannot be read. */
static void configure(struct stream *s, struct kube_json **scenario, struct str *error)
{
    struct buffer text = {0};
    struct json_out j = {.out = &text};
    const struct kube_json *i = kube_json_first(*scenario);
    if (s->args->config == NULL || !kube_json_is_object(*scenario))
        return;
    json_open(&j, NULL, '{');
    for (; i != NULL; i = kube_json_next(i))
        if (!str_is(kube_json_name(i), "config"))
            json_value(&j, i);
    json_str(&j, "config", buffer_str(&s->config));
    json_close(&j, '}');
    kube_json_free(scenario);
    *scenario = kube_json_parse(buffer_str(&text), error, &s->line);
    buffer_free(&text);
}

/* An error of the configuration is of its file. */
static struct str place_config(void *context, struct str error)
{
    struct stream *s = context;
    static const char before[] = "config: ";
    const uint32_t skip = sizeof(before) - 1;
    if (s->args->config == NULL || !str_starts_with(error, before))
        return error;
    return arena_print(&s->line, "%s: %.*s", s->args->config,
                       STR_ARG(((struct str){error.at + skip, error.len - skip})));
}

/* A stream has one configuration mostly: it is said once, and again where it is another. */
static void tell_not_asked_now(struct stream *s, struct buffer *names)
{
    if (names->len > 0 && !str_equal(buffer_str(names), buffer_str(&s->not_asked))) {
        tell_not_asked(names, s->args);
        buffer_reset(&s->not_asked);
        buffer_add_str(&s->not_asked, buffer_str(names));
    }
    buffer_free(names);
}

/* What is wrong with a line is told in its result. */
static bool play_line(struct str text, struct stream *s)
{
    struct scenario_output o = output_of(s->args, &s->out);
    struct buffer not_asked = {0};
    struct str error = {0};
    struct kube_json *document = kube_json_parse(text, &error, &s->line);
    bool fine = false;
    o.place = place_config;
    o.context = s;
    o.not_asked = &not_asked;
    if (document != NULL)
        configure(s, &document, &error);
    if (document == NULL)
        scenario_fail(&o, error);
    else
        fine = play_scenario(document, &o);
    tell_not_asked_now(s, &not_asked);
    kube_json_free(&document);
    arena_reset(&s->line);
    return fine;
}

/* A scenario that cannot be played is told in its line; the stream goes on. */
static int play_batch(const char *path, struct stream *s)
{
    struct buffer line = {0};
    bool written = true, all_read = true;
    FILE *from = open_file(path);
    if (from == NULL)
        return STATUS_failed;
    while (written && read_line(from, &line)) {
        if (line.len == 0)
            continue;
        all_read = play_line(buffer_str(&line), s) && all_read;
        written = write_out(&s->out);
    }
    if (!close_file(from, path))
        written = false;
    buffer_free(&line);
    if (!written)
        return STATUS_failed;
    return all_read ? STATUS_decided : STATUS_refused;
}

static bool read_config(struct stream *s)
{
    const char *path = s->args->config;
    FILE *from = path != NULL ? open_file(path) : NULL;
    char chunk[65536];
    size_t got;
    if (from == NULL)
        return path == NULL;
    while ((got = fread(chunk, 1, sizeof(chunk), from)) > 0)
        buffer_add(&s->config, chunk, got);
    return close_file(from, path);
}

/* File by file, until one cannot be read. */
static int play_stream(const struct arguments *args)
{
    struct stream s = {.args = args};
    int status = read_config(&s) ? STATUS_decided : STATUS_failed;
    for (uint32_t i = 0; i == 0 || i < args->file_count; i++) {
        if (status == STATUS_failed)
            break;
        int of_file = play_batch(args->file_count > 0 ? args->files[i] : "-", &s);
        status = of_file != STATUS_decided ? of_file : status;
    }
    buffer_free(&s.config);
    buffer_free(&s.not_asked);
    buffer_free(&s.out);
    arena_free(&s.line);
    return status;
}

/* The doors stay open for all scenarios of a stream. */
static int play(struct arguments *args)
{
    char error[512];
    if (args->plugins != NULL) {
        args->doors = plugin_doors_open(args->plugins, error, sizeof(error));
        if (args->doors == NULL) {
            fprintf(stderr, "berth simulate: --plugins: %s\n", error);
            return STATUS_failed;
        }
    }
    int status = args->batch ? play_stream(args) : play_files(args);
    plugin_doors_close(&args->doors);
    return status;
}

static bool reads_standard_input(const struct arguments *args)
{
    for (uint32_t i = 0; i < args->file_count; i++)
        if (strcmp(args->files[i], "-") == 0)
            return true;
    return args->file_count == 0;
}

/* What goes together, once all options are read. */
static bool goes_together(const struct arguments *args)
{
    const char *why = NULL;
    if (args->batch && args->space != NULL)
        why = "-n is for manifests, and --batch reads scenarios, whose objects say where they are";
    else if (args->batch && args->format_said && args->format != FORMAT_json)
        why = "--batch writes a line of JSON for each scenario: no -o but json goes with it";
    else if (args->batch && args->config != NULL && strcmp(args->config, "-") == 0 &&
             reads_standard_input(args))
        why = "--config -: standard input is where the scenarios come from";
    if (why != NULL)
        fprintf(stderr, "berth simulate: %s\n", why);
    return why == NULL;
}

int command_simulate(int argc, char **argv)
{
    struct arguments args = {.shards = 2, .release = RELEASE_OLDEST};
    const struct options_table table = {
        .program = "berth simulate",
        .usage = "Decides the pods of manifests, of a dump of a cluster, or of a scenario, without "
                 "a cluster, and shows why: berth simulate [OPTION ...] FILE ...",
        .options = own,
        .state = &args,
        .word = take_file};
    options_read(&table, argc, argv);
    int status = goes_together(&args) ? play(&args) : STATUS_failed;
    if (status == STATUS_decided && args.checks.differences > 0)
        status = STATUS_failed;
    cross_check_end(&args.checks);
    memory_free(args.files);
    return status;
}
