/* import: reads a trace, has the scheduler's core live through it, and makes one file of that life,
 * as berth record makes one of a running berth. What must stay true: a file that is there is
 * whole, unless the process was killed, which whoever reads it is told. */
#include "ctl/import/import.h"

#include "ctl/import/audit.h"
#include "ctl/import/day.h"
#include "ctl/import/openb.h"
#include "ctl/record/gather.h"
#include "proto/base/json_string.h"
#include "proto/base/moment.h"
#include "proto/bus/options.h"
#include "proto/journal/archive.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SPAN_MAX_US (INT64_C(100) * 366 * 86400 * 1000000)
#define FORMATS     "openb|audit"

struct import {
    const char *format, *log; /* log: of format audit */
    const char *nodes, *pods, *cluster, *path, *config;
    int64_t begin_us, release;
    struct trace trace;
    struct archive *archive;
};

/* ---- options ---- */

static bool take_word(void *state, const char *word)
{
    struct import *i = state;
    if (i->format == NULL) {
        i->format = word;
        return strcmp(word, "openb") == 0 || strcmp(word, "audit") == 0;
    }
    bool first = i->log == NULL && strcmp(i->format, "audit") == 0;
    i->log = word;
    return first;
}

#define TAKES(member)                                                                              \
    static bool take_##member(void *state, const char *value)                                      \
    {                                                                                              \
        ((struct import *)state)->member = value;                                                  \
        return *value != 0;                                                                        \
    }
TAKES(nodes)
TAKES(pods)
TAKES(cluster)
TAKES(path)
TAKES(config)

static bool take_begin(void *state, const char *value)
{
    int64_t *begin_us = &((struct import *)state)->begin_us;
    return moment_parse_wall(value, strlen(value), begin_us) && *begin_us > 0;
}

static bool take_release(void *state, const char *value)
{
    int64_t *release = &((struct import *)state)->release;
    *release = strcmp(value, "1.36") == 0 ? 36 : strcmp(value, "1.37") == 0 ? 37 : 0;
    return *release != 0;
}

static const struct own_option table[] = {
    {"o", "FILE", "where the recording goes", take_path},
    {"nodes", "FILE", "openb: the table of nodes", take_nodes},
    {"pods", "FILE", "openb: the table of pods", take_pods},
    {"begin", "TIME", "openb: when its clock was 0 (2020-01-01T00:00:00Z)", take_begin},
    {"cluster", "FILE", "audit: nodes and pods that were there before, as kubectl get -o yaml",
     take_cluster},
    {"config", "FILE", "decide with this configuration (all defaults)", take_config},
    {"release", "1.36|1.37", "the API server's version (1.36)", take_release},
    {NULL, NULL, NULL, NULL},
};

/* NULL, or what is missing. */
static const char *missing(const struct import *i)
{
    bool openb = i->format != NULL && strcmp(i->format, "openb") == 0;
    return i->format == NULL                                 ? "say of what: " FORMATS
           : i->path == NULL                                 ? "say where it goes: -o FILE"
           : openb && (i->nodes == NULL || i->pods == NULL)  ? "openb needs --nodes and --pods"
           : !openb && i->log == NULL                        ? "audit needs the log's file"
           : openb && i->cluster != NULL                     ? "--cluster is of audit"
           : !openb && (i->nodes != NULL || i->pods != NULL) ? "--nodes and --pods are of openb"
                                                             : NULL;
}

/* ---- the file ---- */

static bool push(void *state, struct buffer *bytes)
{
    const struct import *i = state;
    bool good = archive_add(i->archive, bytes->at, bytes->len);
    buffer_reset(bytes);
    return good;
}

static bool put_about(struct import *i)
{
    struct buffer about = {0};
    buffer_add_text(&about, "{\"importedFrom\":");
    json_string(&about, str_of(i->format));
    buffer_add_text(&about, ",\"endedBy\":\"time\"}\n");
    bool good = archive_begin(i->archive, GATHER_ABOUT) &&
                archive_add(i->archive, about.at, about.len) &&
                archive_begin(i->archive, "scheduler.1");
    buffer_free(&about);
    return good;
}

static bool complain(const char *what, struct str why)
{
    fprintf(stderr, "berth import: %s%.*s\n", what, STR_ARG(why));
    return false;
}

static bool write_file(struct import *i, struct day *day)
{
    char error[512] = "";
    struct arena memory = {0};
    struct str why = {NULL, 0};
    i->archive = archive_create(i->path, error, sizeof(error));
    if (i->archive == NULL)
        return complain("", str_of(error));
    bool good = put_about(i);
    if (good && !(good = day_live(day, &memory, &why)))
        complain("", why);
    char last[512] = "";
    bool whole = archive_finish(&i->archive, last, sizeof(last));
    if (good && !whole)
        complain("", str_of(last));
    if (!good || !whole)
        unlink(i->path);
    arena_free(&memory);
    return good && whole;
}

/* Of all that was read. */
static bool complain_of_it(const struct import *i, const char *what)
{
    bool openb = strcmp(i->format, "openb") == 0;
    fprintf(stderr, "berth import: %s%s%s: %s\n", openb ? i->nodes : i->log, openb ? ", " : "",
            openb ? i->pods : "", what);
    return false;
}

static bool read_trace(struct import *i)
{
    struct str error = {NULL, 0};
    bool good = strcmp(i->format, "openb") == 0
                    ? openb_read(&i->trace, i->nodes, i->pods, i->begin_us, &error)
                    : audit_read(&i->trace, i->log, i->cluster, i->release, &error);
    if (!good)
        return complain("", error);
    trace_sort(&i->trace);
    const struct trace *t = &i->trace;
    if (t->count == 0)
        return complain_of_it(i, "nothing in it is about nodes or pods");
    return t->at[t->count - 1].at_us - t->at[0].at_us <= SPAN_MAX_US ||
           complain_of_it(i, "it covers more than a hundred years");
}

static bool make(struct import *i)
{
    struct day day = {
        .trace = &i->trace, .config = i->config, .release = i->release, .push = push, .state = i};
    if (!read_trace(i) || !write_file(i, &day))
        return false;
    printf("%s: %llu pods in %lld s: %llu placed, %llu left without a node, %llu evicted; %llu "
           "entries were of no use\n",
           i->path, (unsigned long long)day.pods, (long long)day.seconds,
           (unsigned long long)day.bound, (unsigned long long)day.waiting,
           (unsigned long long)day.evicted, (unsigned long long)i->trace.passed_over);
    return true;
}

int command_import(int argc, char **argv)
{
    struct import i = {.release = 36, .begin_us = INT64_C(1577836800000000)};
    const struct options_table options = {.program = "berth import",
                                          .usage = FORMATS " [LOG] -o FILE: what happened "
                                                           "elsewhere, decided by berth, as a "
                                                           "recording",
                                          .options = table,
                                          .state = &i,
                                          .word = take_word};
    options_read(&options, argc, argv);
    const char *lacks = missing(&i);
    if (lacks != NULL) {
        complain(lacks, (struct str){NULL, 0});
        return 1;
    }
    bool good = make(&i);
    trace_free(&i.trace);
    return good ? 0 : 1;
}
