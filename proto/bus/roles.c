/* roles: the table of who connects to whom. What must stay true: it agrees with the kinds that each
 * main() connects to (options_spec.peers); a kind that is missing here is refused at the door. */
#include "proto/bus/roles.h"

static const struct {
    enum process process, serves, leaders;
} roles[] = {
    {WATCHER, QUEUE | SCHEDULER, SCHEDULER},         {QUEUE, SCHEDULER | PLUGIN, SCHEDULER},
    {SCHEDULER, WORKER | EXTENDER | PLUGIN, BINDER}, {WORKER, (enum process)0, SCHEDULER},
    {BINDER, SCHEDULER | PLUGIN, (enum process)0},   {EXTENDER, (enum process)0, SCHEDULER},
};

enum process roles_served(enum process door)
{
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        if (roles[i].process == door)
            return roles[i].serves | TOOL;
    return TOOL;
}

enum process roles_single(void)
{
    return SCHEDULER | QUEUE | EXTENDER;
}

enum process roles_leaders(enum process process)
{
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        if (roles[i].process == process)
            return roles[i].leaders;
    return (enum process)0;
}
