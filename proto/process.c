/* process: CPU time, memory, descriptors and start of this process, from /proc/self; what cannot be
 * read is left out rather than shown as 0. */
#include "proto/process.h"

#include "proto/base/beat.h"
#include "proto/base/log_out.h"
#include "proto/commit.h"
#include "proto/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES_MAX  16384 /* enough for a door with all its callers */
#define STAT_START 19    /* fields of /proc/self/stat between the name and the start time */

static void measure_cpu(void)
{
    struct rusage use;
    if (getrusage(RUSAGE_SELF, &use) != 0)
        return;
    int64_t us = (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000LL + use.ru_utime.tv_usec +
                 use.ru_stime.tv_usec;
    metric_series(METRIC_process_cpu_seconds_total, NULL)->value = us * 1000;
    metric_series(METRIC_berth_process_cpu_seconds_total, NULL)->value = us * 1000;
    const char *switches[] = {"voluntary", "involuntary"};
    const long counts[] = {use.ru_nvcsw, use.ru_nivcsw};
    for (int i = 0; i < 2; i++)
        metric_series(METRIC_berth_process_context_switches_total,
                      METRIC_VALUES(str_of(switches[i])))
            ->value = counts[i];
}

/* As much of a file as there is room for; "" when it cannot be read. */
static void read_line(const char *path, char *at, size_t room)
{
    FILE *file = fopen(path, "re");
    size_t len = file != NULL ? fread(at, 1, room - 1, file) : 0;
    at[len] = 0;
    if (file != NULL)
        fclose(file);
}

static void measure_memory(void)
{
    char line[128], *end;
    int64_t page = sysconf(_SC_PAGESIZE);
    read_line("/proc/self/statm", line, sizeof(line));
    int64_t size = strtoll(line, &end, 10), resident = strtoll(end, NULL, 10);
    if (size <= 0 || resident <= 0)
        return;
    metric_set(METRIC_process_virtual_memory_bytes, size * page);
    metric_set(METRIC_process_resident_memory_bytes, resident * page);
    metric_set(METRIC_berth_process_resident_memory_bytes, resident * page);
}

/* How long threads could have run and did not, because others were running. A thread that has ended
 * takes its part with it; ours live as long as the process. */
static void measure_run_delay(void)
{
    DIR *entries = opendir("/proc/self/task");
    int64_t ns = 0;
    char path[300], line[128], *end = line;
    bool known = false;
    for (struct dirent *e = entries != NULL ? readdir(entries) : NULL; e; e = readdir(entries)) {
        snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", e->d_name);
        read_line(path, line, sizeof(line));
        (void)strtoll(line, &end, 10);
        known = known || *end == ' ';
        ns += strtoll(end, NULL, 10);
    }
    if (entries != NULL)
        closedir(entries);
    if (known)
        metric_series(METRIC_berth_process_run_delay_seconds_total, NULL)->value = ns;
}

/* All address space when there is no limit, as Prometheus' clients say it. */
static void measure_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0)
        metric_set(METRIC_process_virtual_memory_max_bytes,
                   limit.rlim_cur == RLIM_INFINITY ? INT64_MAX : (int64_t)limit.rlim_cur);
}

/* The value of a column of IpExt in /proc/self/net/netstat, two lines of words; -1 when there is
 * none. */
static int64_t octets(const char *text, const char *column)
{
    const char *names = strstr(text, "IpExt: ");
    const char *values = names != NULL ? strstr(names + 1, "IpExt: ") : NULL;
    while (values != NULL) {
        size_t name = strcspn(names, " \n"), value = strcspn(values, " \n");
        if (strlen(column) == name && strncmp(names, column, name) == 0)
            return strtoll(values, NULL, 10);
        if (names[name] != ' ' || values[value] != ' ')
            return -1;
        names += name + 1;
        values += value + 1;
    }
    return -1;
}

/* Of the network namespace, as Prometheus' clients count it. */
static void measure_network(void)
{
    char text[8192];
    read_line("/proc/self/net/netstat", text, sizeof(text));
    int64_t in = octets(text, "InOctets"), out = octets(text, "OutOctets");
    if (in < 0 || out < 0)
        return;
    metric_series(METRIC_process_network_receive_bytes_total, NULL)->value = in;
    metric_series(METRIC_process_network_transmit_bytes_total, NULL)->value = out;
}

static void measure_descriptors(void)
{
    struct rlimit limit;
    DIR *entries = opendir("/proc/self/fd");
    int64_t count = 0;
    if (entries != NULL) {
        for (struct dirent *e = readdir(entries); e != NULL; e = readdir(entries))
            count += e->d_name[0] != '.';
        closedir(entries);
        metric_set(METRIC_process_open_fds, count - 1); /* without the one that counts */
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        metric_set(METRIC_process_max_fds, (int64_t)limit.rlim_cur);
}

/* Nanoseconds since 1970; 0 when it is not known. */
static int64_t started(void)
{
    char line[1024];
    read_line("/proc/self/stat", line, sizeof(line));
    const char *at = strrchr(line, ')');
    for (int i = 0; at != NULL && i <= STAT_START; i++)
        at = strchr(at + 1, ' ');
    int64_t ticks = at != NULL ? strtoll(at, NULL, 10) : 0;
    if (ticks <= 0)
        return 0;
    int64_t since_boot_ns = ticks * (1000000000LL / sysconf(_SC_CLK_TCK));
    return moment_wall_us() * 1000 - (moment_boot_ns() - since_boot_ns);
}

/* By itself, and by the supervisor that it writes to. */
static void measure_log(void)
{
    metric_series(METRIC_berth_log_lines_lost_total, NULL)->value =
        (int64_t)(log_out_lost() + beat_lost());
}

static void measure_build(const char *version)
{
    const struct str *values =
        METRIC_VALUES(str_of(version), str_of(commit_hash()), str_of(commit_tree()));
    series_set(metric_series(METRIC_berth_build_info, values), 1);
}

void process_measure(const char *version)
{
    static int64_t start; /* read once, so that it never changes */
    if (start == 0)
        start = started();
    if (start != 0) {
        metric_set(METRIC_process_start_time_seconds, start);
        metric_set(METRIC_berth_process_start_time_seconds, start);
    }
    measure_cpu();
    measure_run_delay();
    measure_memory();
    measure_limit();
    measure_network();
    measure_descriptors();
    measure_log();
    measure_build(version);
}

bool process_allow_files(unsigned need, char *error, size_t room)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true; /* then what cannot be opened says so itself */
    rlim_t wanted = limit.rlim_max < FILES_MAX ? limit.rlim_max : FILES_MAX;
    if (limit.rlim_cur < wanted) {
        rlim_t former = limit.rlim_cur;
        limit.rlim_cur = wanted;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            limit.rlim_cur = former;
    }
    if (limit.rlim_cur >= need)
        return true;
    snprintf(error, room,
             "too few file descriptors: %u are needed, %llu allowed; raise the limit (ulimit -n, "
             "LimitNOFILE= of systemd, --ulimit nofile= of docker)",
             need, (unsigned long long)limit.rlim_cur);
    return false;
}
