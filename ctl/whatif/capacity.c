/* capacity: `berth capacity`, how many more of a pod fit. The one idea: they are placed one after
 * another in the cluster as the watcher has it, until one has no place.
 *
 * What must stay true: nothing live is changed, and nobody is evicted in memory either; what is
 * said to stop the next one is what its condition would say. */
#include "ctl/commands.h"
#include "ctl/explain/live.h"
#include "ctl/whatif/whatif.h"
#include "proto/base/memory.h"

#include <inttypes.h>
#include <stdio.h>

#define WAIT_S      10
#define MOST        10000
#define MOST_AT_ALL 1000000

struct command {
    struct live live;
    struct whatif w;
    struct manifests manifests;
    struct capacity found;
    const char *file, *plugins;
    struct str space;
    int64_t most;
    bool nodes;
};

/* ---- options ---- */

static bool take_file(void *state, const char *value)
{
    struct command *c = state;
    bool first = c->file == NULL;
    c->file = value;
    return first && *value != 0;
}

static bool take_namespace(void *state, const char *value)
{
    ((struct command *)state)->space = str_of(value);
    return *value != 0;
}

static bool take_most(void *state, const char *value)
{
    return options_number(value, 1, MOST_AT_ALL, &((struct command *)state)->most);
}

static bool take_plugins(void *state, const char *value)
{
    ((struct command *)state)->plugins = value;
    return *value != 0;
}

static bool take_nodes(void *state, const char *value)
{
    (void)value;
    ((struct command *)state)->nodes = true;
    return true;
}

static const struct own_option capacity_options[] = {
    {"f", "FILE",
     "the pod, or one object that makes such pods: a manifest, YAML or JSON; - is standard input",
     take_file},
    {"n", "NAMESPACE", "where the pod is if it does not say it (default: default)", take_namespace},
    {"most", "N", "count no further (default 10000)", take_most},
    {"plugins", "DIR",
     "ask plugins on the bus, which come in at DIR/scheduler.sock and not at the live scheduler's",
     take_plugins},
    {"nodes", NULL, "say how many each node takes", take_nodes},
    {NULL, NULL, NULL, NULL},
};

/* ---- what came of it ---- */

static void text(const struct command *c, struct buffer *out)
{
    const struct capacity *found = &c->found;
    const struct workload *load = &c->manifests.workloads.at[0];
    for (uint32_t i = 0; i < found->nodes.count && c->nodes; i++)
        buffer_print(out, "%8" PRId64 "  %.*s\n", found->nodes.at[i].fit,
                     STR_ARG(found->nodes.at[i].node));
    buffer_print(out, "room for %s%" PRId64 " more like %.*s/%.*s; nodes with room: %" PRIu32 "\n",
                 found->stopped ? "" : "at least ", found->fit, STR_ARG(load->space),
                 STR_ARG(load->name), found->nodes.count);
    if (found->stopped)
        buffer_print(out, "the next one: %.*s\n", STR_ARG(found->why));
    for (uint32_t i = 0; i < found->evicts.count; i++)
        buffer_print(out, "%s%.*s%s", i == 0 ? "it would evict: " : ", ",
                     STR_ARG(found->evicts.at[i]), i + 1 == found->evicts.count ? "\n" : "");
    for (uint32_t i = 0; i < c->w.not_asked.count; i++)
        buffer_print(out, "%s%.*s%s", i == 0 ? "not asked: " : ", ", STR_ARG(c->w.not_asked.at[i]),
                     i + 1 == c->w.not_asked.count ? "\n" : "");
}

static void json(const struct command *c, struct buffer *out)
{
    const struct capacity *found = &c->found;
    struct json_out j = {.out = out, .indented = true};
    json_open(&j, NULL, '{');
    json_i64(&j, "fit", found->fit);
    json_bool(&j, "stopped", found->stopped);
    json_str_if(&j, "message", found->why);
    json_strs_if(&j, "evicts", found->evicts);
    json_strs_if(&j, "notAsked", c->w.not_asked);
    json_open(&j, "nodes", '[');
    for (uint32_t i = 0; i < found->nodes.count; i++) {
        json_open(&j, NULL, '{');
        json_str(&j, "name", found->nodes.at[i].node);
        json_i64(&j, "fit", found->nodes.at[i].fit);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    buffer_add_text(out, "\n");
}

/* ---- the whole ---- */

static bool read_file(struct command *c)
{
    struct manifests *m = &c->manifests;
    manifests_as(m, &c->live.explained, c->space);
    if (!manifests_read(m, c->file)) {
        c->w.error = m->error;
        return false;
    }
    if (m->workloads.count == 1)
        return true;
    c->w.error = arena_print(&m->arena, "%s: one pod, or one object that makes pods, not %" PRIu32,
                             c->file, m->workloads.count);
    return false;
}

static int answer(struct command *c)
{
    struct buffer out = {0};
    c->w.space = c->space;
    bool fine = read_file(c);
    if (fine) {
        whatif_begin(&c->w, c->live.world);
        manifests_set_others(&c->manifests, c->live.world);
        fine = whatif_ask(&c->w, &c->live.explained, c->plugins) &&
               capacity_count(&c->w, &c->manifests, c->most, &c->found);
    }
    if (!fine) {
        fprintf(stderr, "berth capacity: %.*s\n", STR_ARG(c->w.error));
        return 1;
    }
    (c->live.asking.json ? json : text)(c, &out);
    printf("%.*s", (int)out.len, out.at);
    buffer_free(&out);
    return 0;
}

int command_capacity(int argc, char **argv)
{
    struct command *c = memory_take(sizeof(*c));
    struct options_table table = {.program = "berth capacity",
                                  .usage = "say how many more of a pod fit",
                                  .options = capacity_options,
                                  .state = c,
                                  .more = asking_options,
                                  .more_state = &c->live.asking};
    int status = 1;
    live_init(&c->live, table.program, WAIT_S);
    c->space = STR_LITERAL("default");
    c->most = MOST;
    options_read(&table, argc, argv);
    if (c->file == NULL)
        fprintf(stderr, "berth capacity: of which pod? (-f FILE)\n");
    else if (live_load(&c->live))
        status = answer(c);
    manifests_free(&c->manifests);
    whatif_free(&c->w);
    live_free(&c->live);
    memory_free(c);
    return status;
}
