/* priorities: a slot for each priority that some pod has. What must stay true: a slot without pods
 * is free, whatever it was for; while a pod is counted among the others the least is not known. */
#include "scheduler/cluster/priorities.h"
#include "proto/base/must.h"

uint8_t priorities_add(struct priorities *p, int64_t priority)
{
    uint8_t at = PRIORITY_OTHER;
    for (uint8_t i = 0; i < PRIORITIES_KNOWN; i++) {
        if (p->pods[i] > 0 && p->priority[i] == priority) {
            at = i;
            break;
        }
        if (p->pods[i] == 0 && at == PRIORITY_OTHER)
            at = i;
    }
    if (at != PRIORITY_OTHER)
        p->priority[at] = priority;
    p->pods[at]++;
    return at;
}

void priorities_remove(struct priorities *p, uint8_t number)
{
    must(number <= PRIORITY_OTHER && p->pods[number] > 0);
    p->pods[number]--;
}

int64_t priorities_least(const struct priorities *p)
{
    int64_t least = INT64_MAX;
    for (uint8_t i = 0; i < PRIORITIES_KNOWN; i++)
        if (p->pods[i] > 0 && p->priority[i] < least)
            least = p->priority[i];
    return p->pods[PRIORITY_OTHER] > 0 ? INT64_MIN : least;
}
