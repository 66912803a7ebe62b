/* apiserver: a small Kubernetes API server for demonstrations, fault injection and scale tests.
 *
 * The one idea: read the command line, open everything, and turn one loop until a signal says so.
 * Exit codes: 0 after a signal, 1 when something could not be opened, 2 for a wrong command line.
 */
#include "options.h"
#include "program.h"

#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t stopped;

static void on_signal(int signal_number)
{
    stopped = signal_number;
}

static void catch_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}

int main(int argc, char **argv)
{
    struct options options;
    struct program program;
    struct buffer why = {0};
    enum log_level level = LOG_LEVEL_info;
    if (!options_read(&options, argc, argv, &why) || !log_level_parse(options.log_level, &level)) {
        fprintf(stderr, "apiserver: %s\n",
                why.len ? why.at : "--log-level: expected error, warn, info or debug");
        buffer_free(&why);
        return 2;
    }
    if (options.help) {
        options_help();
        return 0;
    }
    log_open("apiserver", level);
    catch_signals();
    bool opened = program_open(&program, &options, &why);
    if (!opened)
        fprintf(stderr, "apiserver: %s\n", why.at);
    while (opened && !stopped)
        program_turn(&program);
    program_close(&program);
    buffer_free(&why);
    return opened ? 0 : 1;
}
