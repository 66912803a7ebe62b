/* must: what happens when one of our own invariants is broken. The process ends at once, because
 * going on with a state that cannot be would turn one bug into many; the supervisor restarts it. */
#include "proto/base/must.h"
#include "proto/base/log_out.h"

#include <stdio.h>
#include <stdlib.h>

static void (*first)(void);

void must_first(void (*call)(void))
{
    first = call;
}

_Noreturn void must_failed(const char *condition, const char *file, int line)
{
    char text[1024];
    void (*call)(void) = first;
    first = NULL;
    if (call != NULL)
        call();
    int len = snprintf(text, sizeof(text),
                       "level=fatal msg=\"invariant broken\" condition=\"%s\" at=%s:%d\n",
                       condition, file, line);
    log_out(text, len < (int)sizeof(text) ? (size_t)len : sizeof(text) - 1);
    abort();
}
