/* bench-core: measures the scheduler's cores without an API server, in CPU time, and says on what
 * machine. Reads the options and runs the sections; how each measures is in its own file. */
#include "proto/base/log.h"
#include "proto/base/str.h"
#include "tests/bench/core/clock.h"
#include "tests/bench/core/curves.h"
#include "tests/bench/core/sections.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void tell_machine(struct report *r)
{
    char line[256], cores[32];
    FILE *info = fopen("/proc/cpuinfo", "r");
    snprintf(cores, sizeof(cores), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    while (info != NULL && fgets(line, sizeof(line), info) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
            struct str model = str_trim(str_of(strchr(line, ':') + 1));
            char *text = str_copy(model);
            report_about(r, "cpu", text);
            str_drop(&(struct str){text, model.len});
            break;
        }
    if (info != NULL)
        fclose(info);
    report_about(r, "cores", cores);
}

int main(int argc, char **argv)
{
    struct core_options options;
    core_options_read(&options, argc, argv);
    log_open("bench-core", LOG_LEVEL_error);
    struct moment began = moment_now();
    struct report *report = report_new(false);
    char seconds[64];
    tell_machine(report);
    report_about(report, "commit", options.commit);
    report_about(report, "tie-break", words_text(&tie_break_rule_words, options.tie_break).at);
    bool well = sections_run(&options, report);
    snprintf(seconds, sizeof(seconds), "%.1f s CPU, %.1f s wall",
             (double)(clock_cpu_ns() + clock_children_ns()) / 1e9,
             (double)moment_since(moment_now(), began).ns / 1e9);
    report_about(report, "took", seconds);
    if (options.out != NULL &&
        (!report_save(report, options.out) || !curves_save(report, options.out))) {
        fprintf(stderr, "bench-core: %s: %s\n", options.out, strerror(errno));
        well = false;
    }
    report_free(&report);
    return well ? 0 : 1;
}
