/* pulse: two times a process is silent, with and without running. The one idea: a process that uses
 * its processor is busy, one that does not and whose loop stands is hung; a signal that stops, a
 * lock and a pipe that nobody reads all look so. What must stay true: time that passed while nobody
 * looked is nobody's silence. */
#include "ctl/pulse.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAT_CPU 11 /* fields of /proc/PID/stat between the state and utime; stime follows */

/* What counts of the time since the last look: twice what there should be between two. */
static struct span since_look(const struct pulse *p, struct moment now)
{
    struct span most = span_of_ms(2LL * PULSE_LOOK_MS);
    if (p->looked.ns == 0)
        return (struct span){0};
    struct span passed = moment_since(now, p->looked);
    return passed.ns < most.ns ? passed : most;
}

static const char *verdict(const struct pulse *p)
{
    if (p->last.turns == 0)
        return span_ms(p->silent) >= PULSE_START_MS ? "it does not come to its loop" : NULL;
    if (span_ms(p->still) >= PULSE_STILL_MS)
        return "its loop stands, and it does not run";
    if (span_ms(p->silent) >= PULSE_BUSY_MS)
        return "its loop stands, although it runs";
    return NULL;
}

const char *pulse_look(struct pulse *p, struct moment now, const struct pulse_sight *sight)
{
    struct span passed = since_look(p, now);
    bool turned = sight->turns != p->last.turns;
    bool ran = turned || sight->runs || sight->cpu != p->last.cpu;
    bool counts = !turned && !sight->under_test;
    p->silent.ns = counts ? p->silent.ns + passed.ns : 0;
    p->still.ns = counts && !ran ? p->still.ns + passed.ns : 0;
    p->last = *sight;
    p->looked = now;
    return verdict(p);
}

static bool read_text(const char *path, char *at, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, at, room - 1) : -1;
    if (fd >= 0)
        close(fd);
    at[n > 0 ? n : 0] = 0;
    return n > 0;
}

bool pulse_see(pid_t pid, struct pulse_sight *sight)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)pid);
    char *at = read_text(path, text, sizeof(text)) ? strrchr(text, ')') : NULL;
    if (at == NULL || at[1] != ' ')
        return false;
    sight->runs = at[2] == 'R';
    sight->under_test = at[2] == 't';
    at += 2;
    for (int i = 0; at != NULL && i < STAT_CPU; i++)
        at = strchr(at + 1, ' ');
    if (at == NULL)
        return false;
    char *end;
    sight->cpu = strtoll(at, &end, 10);
    sight->cpu += strtoll(end, NULL, 10);
    return true;
}
