/* simulate: reads scenarios from a file or a stream and prints what the scheduler would decide. The
 * one idea: the same cache, shards and reduce as the live processes, without the bus between them.
 *
 * What must stay true: one result for every scenario, in order, whatever is wrong with it; the exit
 * status is 0 only if every scenario was understood to the last word. */
#include "ctl/simulate.h"

#include "ctl/cross_check.h"
#include "ctl/scenario.h"
#include "proto/bus/options.h"
#include "proto/kube/release/release.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct arguments {
    const char *in;
    bool batch, json;
    uint32_t shards;
    int64_t release;
    struct cross_check checks, *cross_check; /* &checks, or NULL */
};

#define SHARDS_MAX 64

/* What the caller learns from the exit status. */
enum { STATUS_decided, STATUS_failed, STATUS_refused };

static bool take_in(void *state, const char *value)
{
    ((struct arguments *)state)->in = value;
    return true;
}

static bool take_batch(void *state, const char *value)
{
    (void)value;
    ((struct arguments *)state)->batch = true;
    return true;
}

static bool take_output(void *state, const char *value)
{
    ((struct arguments *)state)->json = strcmp(value, "json") == 0;
    return strcmp(value, "json") == 0 || strcmp(value, "table") == 0;
}

static bool take_release(void *state, const char *value)
{
    return release_read(value, &((struct arguments *)state)->release);
}

static bool take_shards(void *state, const char *value)
{
    int64_t count;
    if (!str_to_i64(str_of(value), &count) || count < 1 || count > SHARDS_MAX)
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
    {"in", "FILE", "the scenario, JSON or YAML; - is standard input (default -)", take_in},
    {"batch", NULL, "one JSON scenario a line in, one JSON result a line out", take_batch},
    {"o", "FORMAT", "table (default) or json, the oracle's format", take_output},
    {"release", "VERSION", "decide as kube-scheduler of that release: 1.36 (default) or 1.37",
     take_release},
    {"shards", "N", "how many shares the nodes are split into (default 2)", take_shards},
    {"cross-check", NULL,
     "decide everything again as live workers do, who keep what they found out; status 1 when that "
     "makes a difference",
     take_cross_check},
    {NULL, NULL, NULL, NULL}};

static bool write_out(struct buffer *out)
{
    bool written =
        (out->len == 0 || fwrite(out->at, 1, out->len, stdout) == out->len) && fflush(stdout) == 0;
    if (!written)
        fprintf(stderr, "berth simulate: standard output: %s\n", strerror(errno));
    buffer_reset(out);
    return written;
}

static bool read_all(FILE *from, struct buffer *text)
{
    char chunk[65536];
    size_t got;
    while ((got = fread(chunk, 1, sizeof(chunk), from)) > 0)
        buffer_add(text, chunk, got);
    return !ferror(from);
}

static bool play_text(struct str text, const struct arguments *args, struct buffer *out)
{
    const struct scenario_output o = {.out = out,
                                      .json = args->json,
                                      .indented = !args->batch,
                                      .shards = args->shards,
                                      .release = args->release,
                                      .cross_check = args->cross_check};
    struct arena a = {0};
    struct str error = {0};
    struct kube_json *document =
        args->batch ? kube_json_parse(text, &error, &a) : kube_json_parse_yaml(text, &error, &a);
    bool fine = false;
    if (document == NULL)
        scenario_fail(&o, str_of(args->in), error);
    else
        fine = scenario_play(document, &o);
    kube_json_free(&document);
    arena_free(&a);
    return fine;
}

static int play_one(FILE *from, const struct arguments *args)
{
    struct buffer text = {0}, out = {0};
    int status = STATUS_decided;
    if (!read_all(from, &text)) {
        fprintf(stderr, "berth simulate: %s: %s\n", args->in, strerror(errno));
        status = STATUS_failed;
    } else if (!play_text(buffer_str(&text), args, &out)) {
        status = STATUS_refused;
    }
    if (!write_out(&out))
        status = STATUS_failed;
    buffer_free(&text);
    buffer_free(&out);
    return status;
}

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

/* A scenario that cannot be played is told in its line; the stream goes on. */
static int play_batch(FILE *from, const struct arguments *args)
{
    struct buffer out = {0}, line = {0};
    bool written = true, all_read = true;
    while (written && read_line(from, &line)) {
        if (line.len == 0)
            continue;
        all_read = play_text(buffer_str(&line), args, &out) && all_read;
        written = write_out(&out);
    }
    buffer_free(&line);
    buffer_free(&out);
    if (!written || ferror(from))
        return STATUS_failed;
    return all_read ? STATUS_decided : STATUS_refused;
}

int command_simulate(int argc, char **argv)
{
    struct arguments args = {.in = "-", .shards = 2, .release = RELEASE_OLDEST};
    const struct options_table table = {
        .program = "berth simulate",
        .usage =
            "Decides the pods of a scenario one after another, without a cluster, and shows why. "
            "Objects are read as the API server stores them, defaults filled in.",
        .options = own,
        .state = &args};
    options_read(&table, argc, argv);
    args.json |= args.batch;
    FILE *from = strcmp(args.in, "-") == 0 ? stdin : fopen(args.in, "r");
    if (from == NULL) {
        fprintf(stderr, "berth simulate: %s: %s\n", args.in, strerror(errno));
        return STATUS_failed;
    }
    int status = args.batch ? play_batch(from, &args) : play_one(from, &args);
    if (from != stdin)
        fclose(from);
    if (status == STATUS_decided && args.checks.differences > 0)
        status = STATUS_failed;
    cross_check_end(&args.checks);
    return status;
}
