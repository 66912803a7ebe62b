/* failing: one place for one preemptor, which its success frees, or its silence. What must stay
 * true: whoever fails for ever is named sooner or later, however many others fail beside it. */
#include "binder/failing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The queue tries such a pod again within ten seconds, unless it is gone. */
#define SILENT_MS 30000
#define TOLD      2 /* failures */

static bool is_silent(const struct failing *f, struct moment now)
{
    return moment_reached(now, moment_after(f->last, span_of_ms(SILENT_MS)));
}

void failing_note(struct failing *f, struct moment now, const struct pod *pod, const char *problem)
{
    char uid[sizeof(f->uid)];
    snprintf(uid, sizeof(uid), "%.*s", STR_ARG(pod->uid));
    bool known = f->times > 0 && strcmp(f->uid, uid) == 0;
    if (*problem == 0) {
        f->times = known ? 0 : f->times;
        return;
    }
    if (f->times > 0 && !known && !is_silent(f, now))
        return;
    if (!known)
        f->times = 0;
    if (f->times == 0)
        f->first = now;
    f->times++;
    f->last = now;
    memcpy(f->uid, uid, sizeof(uid));
    snprintf(f->pod, sizeof(f->pod), "%.*s/%.*s", STR_ARG(pod->namespace_name), STR_ARG(pod->name));
    snprintf(f->why, sizeof(f->why), "%s", problem);
    for (char *at = f->why; *at != 0; at++) /* a status has a line for each thing */
        if ((unsigned char)*at < ' ')
            *at = ' ';
}

void failing_print(const struct failing *f, struct moment now, struct buffer *lines)
{
    if (f->times < TOLD || is_silent(f, now))
        return;
    buffer_print(lines, "preempts_failing=pod=%s times=%" PRId64 " for_ms=%" PRId64 " why=%s\n",
                 f->pod, f->times, (now.ns - f->first.ns) / 1000000, f->why);
}
