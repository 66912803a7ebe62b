/* world: two instances of berth, each on a host of its own, before one API server; what a seed says
 * of them, and what can be done to them. */
#ifndef TESTS_SIMULATION_WORLD_H
#define TESTS_SIMULATION_WORLD_H

#include "proto/kube/config/config_file.h"
#include "tests/simulation/model.h"
#include "tests/simulation/process.h"

#define GROUPS      2
#define WORKERS_MAX 3
#define PROCS_MAX   (GROUPS * (4 + WORKERS_MAX))
#define STRANGERS   2

#define CONFIGS 4

#define TRAIT_NUMBER    uint32_t
#define TRAIT_LONG      int64_t
#define TRAIT_FLAG      bool
#define TRAIT_TIME      int64_t /* ns */
#define TRAIT_TIE_BREAK const char *

/* What a seed draws once. */
struct traits {
#define TRAIT(kind, field, word, plain, least, most) TRAIT_##kind field;
#include "tests/simulation/traits.def"
#undef TRAIT
};

void world_open(const struct traits *traits, uint64_t seed);
void world_close(void);
const struct traits *world_traits(void);
struct model *world_model(void);
/* Which configuration a group's processes start with now; what it is to a release; its file's hash.
 */
uint32_t world_config_number(int group);
const struct scheduler_config *world_config_at(uint32_t number, int64_t minor);
int64_t world_config_hash(uint32_t number);
void world_reconfigure(int group, uint32_t which);
struct host *world_host(int group);

uint32_t world_procs(void);
struct proc *world_proc(uint32_t i);
struct proc *world_find(int group, enum process kind);
/* Somebody who says to be a process of a group and speaks to one of its doors, for a time. */
bool world_stranger_comes(uint32_t whose, uint32_t what, int64_t until);
const char *world_identity(int group);
/* Told by processes. */
void world_proc_ended(struct proc *p);
/* A failed check ends the run: see checks.h. Runs until that true time. */
void world_run(int64_t until);
/* All faults end: everything runs, is connected and answers. */
void world_heal(void);
/* The binder that leads, or NULL. */
struct proc *world_leader(void);

#endif
