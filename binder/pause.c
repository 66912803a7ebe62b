/* pause: two schedules of retries, in one place so that all writes use the same. What must stay
 * true: no pause is longer than 5 s, unless the server asked for more. */
#include "binder/pause.h"

#define SHORT_MS    10
#define SHORT_MAX_S 10 /* a longer Retry-After is not waited for */
#define LONG_MS     50
#define LONG_MAX_MS 5000

static struct moment after_ms(struct moment now, double ms)
{
    return moment_after(now, span_of_us((int64_t)(ms * 1000)));
}

struct moment pause_short(struct random *random, struct moment now, int failures, int retry_after_s)
{
    double ms = SHORT_MS * (1 + 0.1 * random_fraction(random));
    for (int i = 1; i < failures; i++)
        ms *= 5;
    if (retry_after_s > 0 && retry_after_s <= SHORT_MAX_S)
        ms = retry_after_s * 1000.0;
    return after_ms(now, ms);
}

struct moment pause_long(struct random *random, struct moment now, int waits, int retry_after_s)
{
    double ms = LONG_MS;
    for (int i = 0; i < waits && ms < LONG_MAX_MS; i++)
        ms *= 2;
    if (ms > LONG_MAX_MS)
        ms = LONG_MAX_MS;
    ms *= 0.5 + 0.5 * random_fraction(random);
    if (retry_after_s > 0 && ms < retry_after_s * 1000.0)
        ms = retry_after_s * 1000.0;
    return after_ms(now, ms);
}
