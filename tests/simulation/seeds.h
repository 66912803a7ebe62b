/* seeds: many runs, of scripts and each from a seed, and what came of them. */
#ifndef TESTS_SIMULATION_SEEDS_H
#define TESTS_SIMULATION_SEEDS_H

#include <stdbool.h>
#include <stdint.h>

struct seeds_options {
    uint64_t first, seeds;
    uint32_t steps;       /* actions of each */
    uint32_t shrink_runs; /* to shrink a finding's script with, at most; 0: it is not shrunk */
    uint32_t seconds;     /* no further seed is begun behind these; 0: no limit */
    const char *without;  /* classes and actions that are left out, with commas; or "" */
    const char *commit;   /* to be named with a finding */
    const char *record;   /* a directory for the journals of all lives; NULL: none */
    const char *store;    /* the folder that findings' scripts are written to; NULL: none */
    const char **scripts; /* files that are played first */
    uint32_t script_count;
    uint32_t jobs; /* processes at once, each with scripts and seeds of its own; 0: one */
    int trace;
    bool stop;   /* at the first finding */
    bool twice;  /* each seed, and what happens must be the same */
    bool table;  /* of coverage, at the end */
    bool hashes; /* of each seed: what happened in it as one number */
};

/* Prints findings, coverage and "N passed, N failed"; returns how many there were. */
uint64_t seeds_run(const struct seeds_options *options);

#endif
