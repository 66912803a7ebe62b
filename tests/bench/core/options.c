/* options: one table, read and shown in --help by the code that berth's own programs use. What must
 * stay true: the default selection ends within three minutes, so that the whole is run often. */
#include "tests/bench/core/options.h"

#include "proto/bus/options.h"

#include <stdlib.h>
#include <string.h>

static bool take_sizes(struct sizes *sizes, const char *text)
{
    struct str rest = str_of(text), piece;
    sizes->count = 0;
    while (str_split(&rest, ",", &piece)) {
        int64_t n;
        if (sizes->count == SIZES_MAX || !str_to_i64(piece, &n) || n < 0 || n > 10000000)
            return false;
        sizes->at[sizes->count++] = (uint32_t)n;
    }
    return true;
}

static bool all_at_least_one(const struct sizes *sizes)
{
    for (uint32_t i = 0; i < sizes->count; i++)
        if (sizes->at[i] < 1)
            return false;
    return true;
}

static bool all_workers(const struct sizes *sizes)
{
    for (uint32_t i = 0; i < sizes->count; i++)
        if (sizes->at[i] > 64)
            return false;
    return true;
}

static bool take_count(uint32_t *count, const char *text)
{
    int64_t n;
    if (!str_to_i64(str_of(text), &n) || n < 0 || n > 10000000)
        return false;
    *count = (uint32_t)n;
    return true;
}

static bool take_sections(void *state, const char *value)
{
    ((struct core_options *)state)->sections = value;
    return true;
}

static bool take_workloads(void *state, const char *value)
{
    ((struct core_options *)state)->workloads = value;
    return true;
}

static bool take_nodes(void *state, const char *value)
{
    struct sizes *nodes = &((struct core_options *)state)->nodes;
    return take_sizes(nodes, value) && all_at_least_one(nodes);
}

static bool take_workers(void *state, const char *value)
{
    struct sizes *workers = &((struct core_options *)state)->workers;
    return take_sizes(workers, value) && all_at_least_one(workers) && all_workers(workers);
}

static bool take_parked(void *state, const char *value)
{
    return take_sizes(&((struct core_options *)state)->parked, value);
}

static bool take_shares(void *state, const char *value)
{
    struct sizes *shares = &((struct core_options *)state)->shares;
    return take_sizes(shares, value) && all_at_least_one(shares) && all_workers(shares);
}

static bool take_kin(void *state, const char *value)
{
    struct sizes *kin = &((struct core_options *)state)->kin;
    return take_sizes(kin, value) && all_at_least_one(kin);
}

static bool take_density(void *state, const char *value)
{
    return take_sizes(&((struct core_options *)state)->density, value);
}

static bool take_bound(void *state, const char *value)
{
    return take_count(&((struct core_options *)state)->bound_per_node, value);
}

static bool take_zones(void *state, const char *value)
{
    uint32_t *zones = &((struct core_options *)state)->zones;
    return take_count(zones, value) && *zones > 0;
}

static bool take_wide_nodes(void *state, const char *value)
{
    return take_count(&((struct core_options *)state)->wide_nodes, value);
}

static bool take_rule_nodes(void *state, const char *value)
{
    uint32_t *nodes = &((struct core_options *)state)->rule_nodes;
    return take_count(nodes, value) && *nodes > 0;
}

static bool take_decisions(void *state, const char *value)
{
    uint32_t *decisions = &((struct core_options *)state)->decisions;
    return take_count(decisions, value) && *decisions > 0;
}

static bool take_credit(void *state, const char *value)
{
    uint32_t *credit = &((struct core_options *)state)->credit;
    return take_count(credit, value) && *credit > 0;
}

static bool take_batch(void *state, const char *value)
{
    return take_count(&((struct core_options *)state)->batch, value);
}

static bool take_seconds(void *state, const char *value)
{
    char *end;
    double *seconds = &((struct core_options *)state)->seconds;
    *seconds = strtod(value, &end);
    return *value != 0 && *end == 0 && *seconds > 0;
}

static bool take_tie_break(void *state, const char *value)
{
    uint32_t rule;
    bool known = *value != 0 && words_find(&tie_break_rule_words, str_of(value), &rule);
    if (known)
        ((struct core_options *)state)->tie_break = (enum tie_break_rule)rule;
    return known;
}

static bool take_rule(void *state, const char *value)
{
    ((struct core_options *)state)->rule = value;
    return true;
}

static bool take_out(void *state, const char *value)
{
    ((struct core_options *)state)->out = value;
    return true;
}

static bool take_commit(void *state, const char *value)
{
    ((struct core_options *)state)->commit = value;
    return true;
}

static bool take_bare(void *state, const char *value)
{
    (void)value;
    ((struct core_options *)state)->bare = true;
    return true;
}

static bool take_encode(void *state, const char *value)
{
    (void)value;
    ((struct core_options *)state)->framed = true;
    return true;
}

static bool take_profiled(void *state, const char *value)
{
    (void)value;
    ((struct core_options *)state)->profiled = true;
    return true;
}

static const struct own_option own[] = {
    {"sections", "LIST", "which parts to measure, see README (default: all)", take_sections},
    {"workloads", "LIST", "which kinds of pods (default: all)", take_workloads},
    {"nodes", "LIST", "numbers of nodes (default 1000,5000,10000)", take_nodes},
    {"bound-per-node", "N", "pods that each node has already (default 10)", take_bound},
    {"zones", "N", "zones of the cluster (default 3)", take_zones},
    {"workers", "LIST", "numbers of workers (default 1)", take_workers},
    {"shares", "LIST", "numbers of workers in workers and rounds (default 1,2,4,8)", take_shares},
    {"wide-nodes", "N", "nodes of the second cluster in workers (default 100000, 0: none)",
     take_wide_nodes},
    {"rule-nodes", "N", "nodes of the clusters in growth and rules (default 2000)",
     take_rule_nodes},
    {"density", "LIST", "pods on each node in growth (default 1,10,30,100)", take_density},
    {"kin", "LIST", "times as many pods of its own kind in growth (default 1,10,40)", take_kin},
    {"parked", "LIST", "waiting pods in queue (default 0,1000,10000,100000)", take_parked},
    {"seconds", "N", "CPU seconds for each kind of pods (default 0.3)", take_seconds},
    {"decisions", "N", "decisions of each kind at most (default 20000)", take_decisions},
    {"credit", "N", "pods handed over at once (default 256, as live)", take_credit},
    {"batch", "N", "pods asked of a lone worker at once (default 64, as live)", take_batch},
    {"tie-break", "WORD", "random (default), round-robin or first", take_tie_break},
    {"rule", "PLUGIN", "a profile with this rule alone", take_rule},
    {"bare", NULL, "count as a worker's work only what its shard does", take_bare},
    {"encode", NULL, "put messages into the bus's frames, too", take_encode},
    {"profiled", NULL, "for profilers: do nothing twice, so decoding is not counted apart",
     take_profiled},
    {"out", "DIR", "write core.json, CSV files and curves there", take_out},
    {"commit", "TEXT", "what is measured, for the report", take_commit},
    {NULL, NULL, NULL, NULL}};

void core_options_read(struct core_options *o, int argc, char **argv)
{
    *o = (struct core_options){.nodes = {3, {1000, 5000, 10000}},
                               .workers = {1, {1}},
                               .shares = {4, {1, 2, 4, 8}},
                               .density = {4, {1, 10, 30, 100}},
                               .kin = {3, {1, 10, 40}},
                               .parked = {4, {0, 1000, 10000, 100000}},
                               .bound_per_node = 10,
                               .zones = 3,
                               .wide_nodes = 100000,
                               .rule_nodes = 2000,
                               .decisions = 20000,
                               .credit = 256,
                               .seconds = 0.3,
                               .tie_break = TIE_BREAK_random,
                               .commit = "unknown"};
    options_read(&(struct options_table){.program = "bench-core",
                                         .usage = "measures the cores without an API server",
                                         .options = own,
                                         .state = o},
                 argc, argv);
}

bool list_has(const char *list, const char *name)
{
    if (list == NULL)
        return true;
    struct str rest = str_of(list), piece;
    while (str_split(&rest, ",", &piece))
        if (str_is(piece, name))
            return true;
    return false;
}
