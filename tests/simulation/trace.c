/* trace: lines on stdout, and a hash of them all, by which two runs are compared. */
#include "tests/simulation/trace.h"

#include "tests/simulation/clock.h"
#include "tests/simulation/note.h"

#include <stdarg.h>
#include <stdio.h>

int trace_level;
static uint64_t hash;

void trace_reset(void)
{
    hash = 1469598103934665603u;
}

uint64_t trace_hash(void)
{
    return hash;
}

void trace(int level, const char *format, ...)
{
    char line[5000];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    for (int i = 0; i < len && i < (int)sizeof(line) - 1; i++)
        hash = (hash ^ (unsigned char)line[i]) * 1099511628211u;
    hash ^= (uint64_t)clock_now();
    if (level == 1)
        note_add(line);
    if (level <= trace_level)
        printf("%10.3f %s\n", (double)clock_now() / 1e9, line);
}
