/* backoff: exponential waits whose jitter never goes away, so that many clients of a server that
 * came back do not arrive together. What must stay true: 0.8 s <= wait < 30 s without Retry-After.
 */
#include "proto/kube/access/backoff.h"

#define FIRST_MS          800
#define BASE_MAX_MS       20000 /* half of it is added as jitter: 30 s at most */
#define RETRY_AFTER_MAX_S 600

struct span backoff_next(struct backoff *b, int retry_after_s)
{
    int64_t base = FIRST_MS;
    for (uint32_t i = 0; i < b->failures && base < BASE_MAX_MS; i++)
        base *= 2;
    if (base > BASE_MAX_MS)
        base = BASE_MAX_MS;
    b->failures++;
    int64_t wait = base + (int64_t)random_below(&b->random, (uint64_t)base / 2);
    if (retry_after_s > RETRY_AFTER_MAX_S)
        retry_after_s = RETRY_AFTER_MAX_S;
    if (retry_after_s > 0 && wait < (int64_t)retry_after_s * 1000)
        wait = (int64_t)retry_after_s * 1000 + (int64_t)random_below(&b->random, FIRST_MS);
    return span_of_ms(wait);
}

void backoff_reset(struct backoff *b)
{
    b->failures = 0;
}
