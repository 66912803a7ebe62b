/* must: what happens when one of our own invariants is broken. The process ends at once, because
 * going on with a state that cannot be would turn one bug into many; the supervisor restarts it. */
#include "proto/base/must.h"
#include "proto/base/log_out.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void must_failed(const char *condition, const char *file, int line)
{
    char text[1024];
    int len = snprintf(text, sizeof(text),
                       "level=fatal msg=\"invariant broken\" condition=\"%s\" at=%s:%d\n",
                       condition, file, line);
    log_out(text, len < (int)sizeof(text) ? (size_t)len : sizeof(text) - 1);
    abort();
}
