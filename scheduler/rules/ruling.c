/* ruling: collects why a node is rejected. What must stay true: the code is the worst of what was
 * said, and reasons stay in the order in which they were given. */
#include "scheduler/rules/ruling.h"

#include "proto/base/must.h"

const char *code_name(enum code code)
{
    static const char *const names[] = {"Success", "Error", "Unschedulable",
                                        "UnschedulableAndUnresolvable"};
    must((unsigned)code < sizeof(names) / sizeof(names[0]));
    return names[code];
}

void ruling_reject(struct ruling *r, enum code code, const char *text, struct str what)
{
    must(r->count < r->room);
    r->reasons[r->count++] = (struct reason){text, what};
    if (code > r->code)
        r->code = code;
}
