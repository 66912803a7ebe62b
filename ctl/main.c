/* berth: the operator's program. Finds the command that was asked for; each command is a file of
 * its own and takes its own arguments. */
#include "ctl/commands.h"
#include "ctl/completion/completion.h"
#include "ctl/debug/debug.h"
#include "ctl/doctor/doctor.h"
#include "ctl/explain/explain.h"
#include "ctl/follow/follow.h"
#include "ctl/import/import.h"
#include "ctl/output.h"
#include "ctl/preflight/preflight.h"
#include "ctl/record/record.h"
#include "ctl/run.h"
#include "ctl/simulate/simulate.h"
#include "ctl/tables/tables.h"
#include "ctl/top/top.h"
#include "ctl/whatif/whatif.h"
#include "proto/base/log.h"
#include "proto/bus/options.h"
#include "proto/commit.h"

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
    {"status", command_status, "say whether it is well, what waits and why"},
    {"top", command_top, "show what a running berth does, on a screen"},
    {"queue", command_queue, "show the pods that wait, where and why"},
    {"explain", command_explain, "say why a pod is where it is, and why not elsewhere"},
    {"pods", command_pods, "show pods, and where those wait that have no node"},
    {"nodes", command_nodes, "show what is left on each node, as the scheduler counts it"},
    {"follow", command_follow, "print the cluster and what is decided as it changes, as JSON"},
    {"whatif", command_whatif, "say where pods would go if something were different"},
    {"capacity", command_capacity, "say how many more of a pod fit"},
    {"doctor", command_doctor, "say what is silently wrong, and what to do about it"},
    {"compare", command_compare, "say whether all processes hold the same, and have it read anew"},
    {"tap", command_tap, "show, filter, write down or read what goes over the bus"},
    {"record", command_record, "record a running berth into one file"},
    {"import", command_import, "make a recording of an audit log, or of a published trace"},
    {"replay", command_replay, "play a recording back, and compare what is decided"},
    {"debug", command_debug, "log everything about one pod for a while, in every process"},
    {"simulate", command_simulate, "decide a scenario without a cluster and show everything"},
    {"config", command_config, "check a configuration and print it with all its defaults"},
    {"keys", command_keys, "make CURVE keys for tcp:// between hosts"},
    {"completion", command_completion,
     "print what bash or zsh is to read, to complete what is typed"},
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

/* What the last word may become: a command's name, or what the command itself tells. */
static int complete(int count, char **words)
{
    completion_begin(count - 1, words + 1);
    if (count > 1)
        for (size_t i = 0; i < COMMAND_COUNT; i++)
            if (strcmp(words[0], commands[i].name) == 0 && commands[i].run != command_completion)
                return run(&commands[i], 1, words);
    if (count == 2 && strcmp(words[0], "completion") == 0) {
        completion_offer("bash", NULL);
        completion_offer("zsh", NULL);
    }
    if (count > 1)
        return 0;
    completion_begin(count, words);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        completion_offer(commands[i].name, commands[i].doc);
    return 0;
}

static int answer(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr, 1);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return run(&commands[i], argc - 1, argv + 1);
    if (strcmp(argv[1], "__complete") == 0)
        return complete(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        printf("berth " OPTIONS_VERSION "%s\n", commit_text());
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return usage(stdout, 0);
    fprintf(stderr, "berth: no command \"%s\"\n", argv[1]);
    return usage(stderr, 1);
}

int main(int argc, char **argv)
{
    int status = answer(argc, argv);
    return output_finish(argc < 2 ? "" : argv[1], status);
}
