/* output: the end of a command. What must stay true: an answer that did not get out whole is none,
 * as on a full disk; but who no longer reads knows that, and of a stream he may. */
#include "ctl/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool unread;

bool output_put(struct str text)
{
    errno = 0;
    bool out = fwrite(text.at, 1, text.len, stdout) == text.len;
    unread |= !out && errno == EPIPE;
    return out;
}

bool output_flush(void)
{
    errno = 0;
    bool out = fflush(stdout) == 0;
    unread |= !out && errno == EPIPE;
    return out;
}

bool output_stream(struct str text)
{
    return output_put(text) && output_flush();
}

bool output_is_unread(void)
{
    return unread;
}

int output_finish(const char *command, int status)
{
    bool lost = ferror(stdout) != 0;
    errno = 0;
    if (unread || (fflush(stdout) == 0 && !lost))
        return status;
    if (errno != EPIPE)
        fprintf(stderr, "berth %s: standard output: %s\n", command,
                errno != 0 ? strerror(errno) : "not all of it was written");
    return status != 0 ? status : 1;
}
