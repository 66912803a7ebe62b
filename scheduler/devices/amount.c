/* amount: quantities of devices. What must stay true: amounts lie within ±2^110 billionths, so that
 * adding and taking away thousands of them is exact. */
#include "scheduler/devices/inside.h"

#define MOST ((dra_nano)1 << 110)

bool amount_parse(struct str text, struct amount *a)
{
    struct kube_quantity q = {0};
    bool good = text.len == 0 || kube_quantity_parse(text, &q);
    *a = (struct amount){text, q.nano};
    if (a->nano > MOST)
        a->nano = MOST;
    if (a->nano < -MOST)
        a->nano = -MOST;
    return good;
}
