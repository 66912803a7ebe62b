/* berth: the operator's program. Finds the command that was asked for; each command is a file of
 * its own and takes its own arguments. */
#include "ctl/commands.h"
#include "ctl/explain/explain.h"
#include "ctl/preflight/preflight.h"
#include "ctl/run.h"
#include "ctl/simulate.h"
#include "ctl/whatif/whatif.h"
#include "proto/base/log.h"
#include "proto/bus/options.h"

#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
    const char *doc;
};

static const struct command commands[] = {
    {"run", command_run, "start all processes under one supervisor and keep them running"},
    {"preflight", command_preflight, "look whether run with the same flags would work here"},
    {"status", command_status, "ask every process of a run directory how it is"},
    {"queue", command_queue, "show the pods that wait, where and why"},
    {"explain", command_explain, "say why a pod is where it is, and why not elsewhere"},
    {"nodes", command_nodes, "show what is left on each node, as the scheduler counts it"},
    {"whatif", command_whatif, "say where pods would go if something were different"},
    {"capacity", command_capacity, "say how many more of a pod fit"},
    {"tap", command_tap, "show, filter, record or replay what goes over the bus"},
    {"simulate", command_simulate, "decide a scenario without a cluster and show everything"},
    {"config", command_config, "check a configuration and print it with all its defaults"},
    {"keys", command_keys, "make CURVE keys for tcp:// between hosts"},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static int usage(FILE *to, int status)
{
    fputs("usage: berth COMMAND [OPTION ...]     (berth COMMAND --help tells more)\n\n", to);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].doc);
    return status;
}

/* A supervisor tells its story; a command that prints an answer only speaks up when it must. */
static int run(const struct command *command, int argc, char **argv)
{
    log_open("berth", command->run == command_run ? LOG_LEVEL_info : LOG_LEVEL_warn);
    return command->run(argc, argv);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr, 1);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return run(&commands[i], argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        puts("berth " OPTIONS_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return usage(stdout, 0);
    fprintf(stderr, "berth: no command \"%s\"\n", argv[1]);
    return usage(stderr, 1);
}
