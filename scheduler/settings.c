/* settings: the scheduler's own options, as one table from which --help follows; each take()
 * refuses what is out of range. */
#include "scheduler/settings.h"

#include <stdlib.h>
#include <string.h>

void settings_init(struct settings *s, int argc, char **argv)
{
    *s = (struct settings){.tie_break = TIE_BREAK_random, .stale_after_s = 60, .capacity = 1};
    for (int i = 1; i < argc; i++)
        s->worker |= strcmp(argv[i], "--worker") == 0;
}

static bool take_worker(void *state, const char *value)
{
    (void)value;
    return ((struct settings *)state)->worker = true;
}

static bool take_own_worker(void *state, const char *value)
{
    (void)value;
    return ((struct settings *)state)->own_worker = true;
}

static bool take_tie_break(void *state, const char *value)
{
    uint32_t rule;
    bool known = *value != 0 && words_find(&tie_break_rule_words, str_of(value), &rule);
    if (known)
        ((struct settings *)state)->tie_break = (enum tie_break_rule)rule;
    return known;
}

static bool take_stale_after(void *state, const char *value)
{
    char *end;
    double *seconds = &((struct settings *)state)->stale_after_s;
    *seconds = strtod(value, &end);
    return *value != 0 && *end == 0 && *seconds > 0 && *seconds < 1e6;
}

static bool take_assumed_ttl(void *state, const char *value)
{
    char *end;
    double *seconds = &((struct settings *)state)->assumed_ttl_s;
    *seconds = strtod(value, &end);
    return *value != 0 && *end == 0 && *seconds >= 0 && *seconds < 1e6;
}

static bool take_number(long *number, const char *value, long most)
{
    char *end;
    *number = strtol(value, &end, 10);
    return *value != 0 && *end == 0 && *number > 0 && *number <= most;
}

static bool take_credit(void *state, const char *value)
{
    return take_number(&((struct settings *)state)->credit, value, 100000);
}

static bool take_kept(void *state, const char *value)
{
    long *kept = &((struct settings *)state)->kept;
    bool none = strcmp(value, "0") == 0;
    if (none)
        *kept = -1;
    return none || take_number(kept, value, 10000000);
}

static bool take_batch(void *state, const char *value)
{
    return take_number(&((struct settings *)state)->batch, value, 64);
}

static bool take_capacity(void *state, const char *value)
{
    return take_number(&((struct settings *)state)->capacity, value, 1000);
}

const struct own_option scheduler_options[] = {
    {"worker", NULL, "be a worker of the scheduler named by --peer scheduler=URL", take_worker},
    {"own-worker", NULL, "look at the nodes itself while no worker process is there",
     take_own_worker},
    {"tie-break", "MODE", "among equal best nodes: random (default), round-robin or first",
     take_tie_break},
    {"stale-after", "SECONDS", "stop deciding when the view of the cluster is older (default 60)",
     take_stale_after},
    {"assumed-pod-ttl", "SECONDS",
     "give back the room of a bound pod that no watch has shown for so long (default 0: never)",
     take_assumed_ttl},
    {"credit", "N", "pods taken from the queue at once, binds in flight included (default 256)",
     take_credit},
    {"decisions-kept", "N", "of how many decisions berth explain can tell (default 10000)",
     take_kept},
    {"batch", "N", "pods that each worker is asked for at once, at most (default 64)", take_batch},
    CONFIG_PREEMPTION_OPTION,
    CONFIG_RELEASE_OPTIONS,
    {"capacity", "N", "worker: size of the share it wants relative to others (default 1)",
     take_capacity},
    {NULL, NULL, NULL, NULL},
};
