/* options: what is to be measured, on clusters of which size, and for how long. */
#ifndef TESTS_BENCH_CORE_OPTIONS_H
#define TESTS_BENCH_CORE_OPTIONS_H

#include "proto/messages.h"

#include <stdbool.h>
#include <stdint.h>

#define SIZES_MAX 8

struct sizes {
    uint32_t count, at[SIZES_MAX];
};

struct core_options {
    const char *sections;  /* with commas; NULL: those of the default selection */
    const char *workloads; /* likewise */
    struct sizes nodes, workers;
    struct sizes parked;  /* pods that wait while the queue gets events */
    struct sizes shares;  /* numbers of workers, for the sections workers and rounds */
    struct sizes kin;     /* times as many pods of its own kind, for the section growth */
    struct sizes density; /* pods on each node, for the section growth */
    uint32_t bound_per_node, zones;
    uint32_t wide_nodes; /* of the second cluster in the section workers; 0: there is none */
    uint32_t rule_nodes; /* of the clusters in the sections growth and rules */
    uint32_t decisions;  /* at most, of each kind */
    uint32_t credit;     /* attempts at once, as the coordinator asks the queue for them */
    uint32_t batch;      /* pods asked of a lone worker at once, at most; 0: as live */
    double seconds;      /* of CPU, for each kind */
    const char *rule, *out, *commit;
    enum tie_break_rule tie_break;
    bool bare, framed, profiled;
};

/* Reads the arguments; prints help and exits 0, or names what is wrong and exits 2. */
void core_options_read(struct core_options *o, int argc, char **argv);
/* Whether the list has the name; NULL has all. */
bool list_has(const char *list, const char *name);

#endif
