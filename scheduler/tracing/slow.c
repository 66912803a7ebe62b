/* slow: upstream's text about a slow decision. What must stay true: words, order and rounding are
 * those of k8s.io/utils/trace, so that what looks for them finds them. */
#include "scheduler/tracing/slow.h"

#include "proto/base/moment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHEN 40

/* "15:04:05.000" of "2006-01-02T15:04:05.000000Z", and the day before it as Go's 02-Jan-2006. */
static void print_clock(int64_t wall_us, char out[WHEN])
{
    char text[WHEN];
    moment_print_micros(wall_us, text, sizeof(text));
    snprintf(out, WHEN, "%.12s", text + 11);
}

static void print_day(int64_t wall_us, char out[WHEN])
{
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char text[WHEN];
    moment_print_micros(wall_us, text, sizeof(text));
    long month = strtol(text + 5, NULL, 10);
    snprintf(out, WHEN, "%.2s-%s-%.4s %.12s", text + 8,
             months[month >= 1 && month <= 12 ? month - 1 : 0], text, text + 11);
}

static void print_step(struct buffer *out, const struct slow_decision *d, const char *name,
                       int64_t took_ns, int64_t end_us)
{
    char when[WHEN];
    int64_t steps = d->scored ? 2 : 1;
    if (took_ns < (int64_t)SLOW_MS * 1000000 / (steps + 1))
        return;
    print_clock(end_us, when);
    buffer_print(out, "\nTrace[%" PRId64 "]: ---\"%s\" %" PRId64 "ms (%s)", d->number, name,
                 took_ns / 1000000, when);
}

void slow_print(const struct slow_decision *d, struct buffer *out)
{
    char when[WHEN];
    int64_t prioritizing_ns = d->scored ? d->prioritizing_ns : 0;
    int64_t predicates_ns = d->took_ns - prioritizing_ns;
    double ms = (double)d->took_ns / 1e6;
    print_day(d->began_us, when);
    buffer_print(out,
                 "Trace[%" PRId64 "]: \"Scheduling\" namespace:%.*s,name:%.*s (%s) (total time: "
                 "%" PRId64 "ms):",
                 d->number, STR_ARG(d->namespace_name), STR_ARG(d->name), when,
                 d->took_ns / 1000000);
    print_step(out, d, "Computing predicates done", predicates_ns,
               d->began_us + predicates_ns / 1000);
    if (d->scored)
        print_step(out, d, "Prioritizing done", prioritizing_ns, d->began_us + d->took_ns / 1000);
    if (d->took_ns < 1000000000)
        buffer_print(out, "\nTrace[%" PRId64 "]: [%.6gms] [%.6gms] END", d->number, ms, ms);
    else
        buffer_print(out, "\nTrace[%" PRId64 "]: [%.9gs] [%.9gs] END", d->number, ms / 1e3,
                     ms / 1e3);
}
