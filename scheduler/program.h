/* program: what a scheduler's process consists of: the coordinator with a configuration that may
 * change, and a worker of its own for when there is no other. */
#ifndef SCHEDULER_PROGRAM_H
#define SCHEDULER_PROGRAM_H

#include "scheduler/live_config.h"
#include "scheduler/own_worker.h"
#include "scheduler/settings.h"

struct program {
    struct live live;
    struct worker *worker; /* NULL: it has none of its own */
    struct own_worker both;
};

/* Borrows all of it. path: where the configuration was read, and is looked for again; NULL: there
 * is no file. Reads clocks and draws from the journal that is in force, as all of it does later. */
void program_open(struct program *p, const char *path, const struct scheduler_config *config,
                  const struct settings *s);
struct actor program_actor(struct program *p);
void program_close(struct program *p);

/* A worker as its own process has it. The caller frees it. */
struct worker *program_worker(const char *instance, const struct settings *s);

#endif
