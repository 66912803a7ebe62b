/* lives: members of an archive, unpacked, but for those of processes that nobody asks. What must
 * stay true: of two lives that overlap, as a process may take its time to end, the newer one was
 * there. */
#include "ctl/record/lives.h"
#include "proto/base/memory.h"

#include <stdio.h>

#define LIVES_MAX 256

bool lives_complain(const struct lives *l, const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", l->command, l->path, what);
    return false;
}

static void take_span(struct lives *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct member *m = &l->at[i];
        if (m->process != SCHEDULER || m->began_us == 0)
            continue;
        if (l->began_us == 0 || m->began_us < l->began_us)
            l->began_us = m->began_us;
        if (m->ended_us > l->ended_us)
            l->ended_us = m->ended_us;
    }
}

bool lives_unpack(struct lives *l)
{
    char error[512];
    const char *wrong = NULL;
    struct member m;
    struct archive *a = archive_open(l->path, error, sizeof(error));
    if (a == NULL) {
        fprintf(stderr, "%s: %s\n", l->command, error);
        return false;
    }
    l->at = memory_take_array(LIVES_MAX, sizeof(*l->at));
    while (wrong == NULL && member_next(a, &m, &wrong))
        if (m.process != QUEUE && m.process != SCHEDULER) {
            member_free(&m);
        } else if (l->count < LIVES_MAX) {
            l->at[l->count++] = m;
        } else {
            member_free(&m);
            wrong = "has more lives of queues and schedulers than can be looked at";
        }
    archive_free(&a);
    take_span(l);
    return wrong == NULL || lives_complain(l, wrong);
}

const struct member *lives_then(const struct lives *l, enum process process, int64_t at_us)
{
    const struct member *found = NULL;
    for (size_t i = 0; i < l->count; i++) {
        const struct member *m = &l->at[i];
        if (m->process == process && m->began_us != 0 && m->began_us <= at_us &&
            (found == NULL || m->began_us > found->began_us))
            found = m;
    }
    return found;
}

void lives_free(struct lives *l)
{
    for (size_t i = 0; i < l->count; i++)
        member_free(&l->at[i]);
    memory_free(l->at);
    l->at = NULL;
    l->count = 0;
}
