/* probe: asks /version, which every authenticated user may read, at the start, every five seconds,
 * and soon when something broke. Any HTTP status is a sign of life; what the answer says is read by
 * version.c. What must stay true: a dead connection is declared dead within 22 s (5
 * s, two timeouts of 8 s and the pause between them). */
#include "watcher/probe.h"

#define EVERY_S   5
#define TIMEOUT_S 8
#define RETRY_S   1
#define DEAD      2  /* failures in a row */
#define SOON_MAX  30 /* after that many, asked less often */

bool probe_next(struct probe *p, struct moment now, struct reflector_request *request)
{
    if (p->asked || !moment_reached(now, p->due))
        return false;
    p->asked = true;
    p->last = now;
    *request = (struct reflector_request){.number = ++p->number,
                                          .path = STR_LITERAL("/version"),
                                          .timeout = span_of_seconds(TIMEOUT_S)};
    return true;
}

/* However many watches break, once a second. */
void probe_soon(struct probe *p, struct moment now)
{
    struct moment least = moment_after(p->last, span_of_seconds(RETRY_S));
    p->due = moment_earlier(p->due, moment_reached(now, least) ? now : least);
}

void probe_heard(struct probe *p)
{
    p->failures = 0;
}

enum probe_verdict probe_response(struct probe *p, struct moment now, uint64_t number,
                                  const struct kube_response *response)
{
    if (!p->asked || number != p->number)
        return PROBE_nothing;
    p->asked = false;
    p->failures = response->status > 0 ? 0 : p->failures + 1;
    bool soon = p->failures > 0 && p->failures < SOON_MAX;
    p->due = moment_after(now, span_of_seconds(soon ? RETRY_S : EVERY_S));
    if (response->status > 0)
        return PROBE_alive;
    return p->failures == DEAD ? PROBE_dead : PROBE_nothing;
}

struct moment probe_deadline(const struct probe *p)
{
    return p->asked ? MOMENT_NEVER : p->due;
}
