/* sections: which clusters and workloads each part of the report is about. What must stay true:
 * without options the whole takes no more than three minutes on a small machine. */
#include "tests/bench/core/sections.h"

#include "tests/bench/core/decisions.h"
#include "tests/bench/core/profile.h"

#include <math.h>
#include <string.h>

#define LARGE_NODES     100000
#define LARGE_WORKLOADS "plain,distinct"
#define BURST           4096
#define OVERLAPPED      "plain,service,zone-spread"
#define SCALED          "plain,distinct,service,zone-spread,host-anti,zone-affinity"
#define WITH_KIN        "service,zone-spread,soft-anti,soft-affinity,zone-affinity"

/* Two ends of what cost is measured by: a column, from and to. */
struct range {
    const char *by;
    double from, to;
};

/* One cluster with a profile of its own. */
static bool measure(const struct core_options *o, const struct decisions_setup *given,
                    const char *workload_list, struct report *r)
{
    struct arena memory = {0};
    struct profile profile;
    struct decisions_setup setup = *given;
    setup.profile = &profile;
    bool well = profile_make(&profile, given->rule, &memory);
    setup.rule = given->rule != NULL ? given->rule : "all";
    if (well)
        well = decisions_measure(o, &setup, workload_list, r);
    else
        fprintf(stderr, "bench-core: the default profile has no rule %s\n", given->rule);
    arena_free(&memory);
    return well;
}

static struct decisions_setup setup_of(const struct core_options *o, uint32_t nodes,
                                       uint32_t workers)
{
    return (struct decisions_setup){
        .shape = {.nodes = nodes, .bound_per_node = o->bound_per_node, .zones = o->zones},
        .workers = workers,
        .rule = o->rule};
}

bool decisions_run(const struct core_options *o, struct report *r)
{
    decisions_begin(r, "decisions", "CPU time of a decision, and how many one core makes");
    for (uint32_t i = 0; i < o->nodes.count; i++)
        for (uint32_t k = 0; k < o->workers.count; k++) {
            struct decisions_setup setup = setup_of(o, o->nodes.at[i], o->workers.at[k]);
            if (!measure(o, &setup, o->workloads, r))
                return false;
        }
    return true;
}

/* As much waits as keeps everybody busy, as after a burst. */
bool overlap_run(const struct core_options *o, struct report *r)
{
    struct core_options with = *o;
    with.credit = o->credit > BURST ? o->credit : BURST;
    with.bare = with.framed = false;
    decisions_begin(r, "overlap", "wall time of decisions, with a thread for each process");
    for (uint32_t k = 0; k < o->workers.count; k++) {
        struct decisions_setup setup =
            setup_of(o, o->nodes.at[o->nodes.count - 1], o->workers.at[k]);
        setup.apart = true;
        if (!measure(&with, &setup, o->workloads != NULL ? o->workloads : OVERLAPPED, r))
            return false;
    }
    return true;
}

/* A cluster that takes a while to load, for few kinds of pods. */
bool large_run(const struct core_options *o, struct report *r)
{
    struct decisions_setup setup = setup_of(o, LARGE_NODES, 1);
    decisions_begin(r, "large", "CPU time of a decision in a large cluster");
    return measure(o, &setup, o->workloads != NULL ? o->workloads : LARGE_WORKLOADS, r);
}

/* ---- workers ---- */

static size_t row_with(const struct report *r, const char *workload, double nodes, double workers)
{
    size_t i = 0;
    while (i < report_rows(r, "workers") &&
           (strcmp(report_text(r, "workers", i, "workload"), workload) != 0 ||
            report_number(r, "workers", i, "nodes") != nodes ||
            report_number(r, "workers", i, "workers") != workers))
        i++;
    return i;
}

/* What a decision costs each worker, and all of them together beside the fewest. */
static void tell_shares(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {
        {"workload", COLUMN_TEXT}, {"nodes", 0}, {"workers", 0}, {"worker_us", 2}, {"together", 2}};
    report_section(r, "shares",
                   "CPU time of a decision in each worker; together 1.00: it falls as 1/N", columns,
                   sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < report_rows(r, "workers"); i++) {
        const char *workload = report_text(r, "workers", i, "workload");
        double nodes = report_number(r, "workers", i, "nodes");
        double workers = report_number(r, "workers", i, "workers");
        double us = report_number(r, "workers", i, "worker_us");
        double few = o->shares.at[0];
        double one = report_number(r, "workers", row_with(r, workload, nodes, few), "worker_us");
        report_row(r, (struct cell[]){TEXT(workload), NUMBER(nodes), NUMBER(workers), NUMBER(us),
                                      NUMBER(us * workers / (one * few))});
    }
}

static bool by_workers(const struct core_options *o, const struct decisions_setup *given,
                       const char *workload_list, struct report *r)
{
    struct decisions_setup setup = *given;
    for (uint32_t i = 0; i < o->shares.count; i++) {
        setup.workers = o->shares.at[i];
        if (!measure(o, &setup, workload_list, r))
            return false;
    }
    return true;
}

/* The second cluster has few pods, so that it is loaded soon: pods unlike any before cost what they
 * cost by nodes. */
bool workers_run(const struct core_options *o, struct report *r)
{
    struct decisions_setup setup = setup_of(o, o->nodes.at[o->nodes.count - 1], 1);
    decisions_begin(r, "workers", "CPU time of a decision in each worker, by number of workers");
    bool well = by_workers(o, &setup, o->workloads != NULL ? o->workloads : SCALED, r);
    setup.shape.nodes = o->wide_nodes;
    setup.shape.bound_per_node = 1;
    if (well && o->wide_nodes > 0 && list_has(o->workloads, "distinct"))
        well = by_workers(o, &setup, "distinct", r);
    tell_shares(o, r);
    return well;
}

/* ---- growth ---- */

static double cost_at(const struct report *r, const char *section, const char *workload,
                      const struct range *range, bool last)
{
    double cost = (double)NAN;
    for (size_t i = 0; i < report_rows(r, section); i++)
        if (strcmp(report_text(r, section, i, "workload"), workload) == 0 &&
            report_number(r, section, i, range->by) == (last ? range->to : range->from))
            cost = report_number(r, section, i, "us");
    return cost;
}

/* 0: the cost is the same at both ends; 1: it has grown as what it is measured by. */
static double slope(const struct report *r, const char *section, const char *workload,
                    const struct range *range)
{
    double more =
        cost_at(r, section, workload, range, true) / cost_at(r, section, workload, range, false);
    return range->to > range->from ? log(more) / log(range->to / range->from) : (double)NAN;
}

static void tell_growth(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {
        {"workload", COLUMN_TEXT}, {"by_nodes", 2}, {"by_pods", 2}, {"by_kin", 2}};
    const uint32_t *n = o->nodes.at, *d = o->density.at, *k = o->kin.at;
    const struct range nodes = {"nodes", n[0], n[o->nodes.count - 1]};
    const struct range pods = {"bound", (double)d[0] * o->rule_nodes,
                               (double)d[o->density.count - 1] * o->rule_nodes};
    report_section(r, "growth", "exponents: 0 the same, 1 as what it is measured by", columns,
                   sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < workload_count; i++) {
        const struct workload *w = &workloads[i];
        const struct shape few = {.nodes = o->rule_nodes, .kin = k[0]};
        const struct shape many = {.nodes = o->rule_nodes, .kin = k[o->kin.count - 1]};
        const struct range kin = {"own", workload_own(w, &few), workload_own(w, &many)};
        double by_nodes = slope(r, "decisions", w->name, &nodes);
        double by_pods = slope(r, "density", w->name, &pods);
        double by_kin = slope(r, "kin", w->name, &kin);
        if (!isnan(by_nodes) || !isnan(by_pods) || !isnan(by_kin))
            report_row(r, (struct cell[]){TEXT(w->name), NUMBER(by_nodes), NUMBER(by_pods),
                                          NUMBER(by_kin)});
    }
}

bool growth_run(const struct core_options *o, struct report *r)
{
    const char *of_density = o->workloads != NULL ? o->workloads : SCALED;
    const char *of_kin = o->workloads != NULL ? o->workloads : WITH_KIN;
    struct decisions_setup setup = setup_of(o, o->rule_nodes, o->workers.at[0]);
    decisions_begin(r, "density", "CPU time of a decision, by number of pods on each node");
    for (uint32_t i = 0; i < o->density.count; i++) {
        setup.shape.bound_per_node = o->density.at[i];
        if (!measure(o, &setup, of_density, r))
            return false;
    }
    setup.shape.bound_per_node = o->bound_per_node;
    decisions_begin(r, "kin", "CPU time of a decision, by number of pods of its own kind");
    for (uint32_t i = 0; i < o->kin.count; i++) {
        setup.shape.kin = o->kin.at[i];
        if (!measure(o, &setup, of_kin, r))
            return false;
    }
    tell_growth(o, r);
    return true;
}

/* ---- rules ---- */

/* Each rule of the default profile with pods that it has something to say about. All have distinct
 * ones, too: those of one class may be decided by what was found out before, and then a rule by
 * itself costs nothing. */
bool rules_run(const struct core_options *o, struct report *r)
{
    static const struct {
        const char *rule, *workloads;
    } rules[] = {{"NodeUnschedulable", "distinct"},
                 {"NodeName", "distinct"},
                 {"TaintToleration", "distinct"},
                 {"NodeAffinity", "distinct,node-affinity"},
                 {"NodePorts", "distinct,ports"},
                 {"NodeResourcesFit", "distinct,plain"},
                 {"NodeResourcesBalancedAllocation", "distinct,plain"},
                 {"VolumeRestrictions", "distinct"},
                 {"NodeVolumeLimits", "distinct"},
                 {"VolumeBinding", "distinct"},
                 {"VolumeZone", "distinct"},
                 {"PodTopologySpread", "distinct,service,zone-spread,soft-spread"},
                 {"InterPodAffinity", "distinct,host-anti,zone-affinity,soft-anti,soft-affinity"},
                 {"ImageLocality", "distinct,images"}};
    decisions_begin(r, "rules", "CPU time of a decision with one rule alone");
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct decisions_setup setup = setup_of(o, o->rule_nodes, 1);
        setup.rule = rules[i].rule;
        if ((o->rule == NULL || strcmp(o->rule, setup.rule) == 0) &&
            !measure(o, &setup, rules[i].workloads, r))
            return false;
    }
    return true;
}

bool sections_run(const struct core_options *o, struct report *r)
{
    static const struct {
        const char *name;
        bool (*run)(const struct core_options *o, struct report *r);
    } all[] = {{"decisions", decisions_run},   {"overlap", overlap_run}, {"large", large_run},
               {"growth", growth_run},         {"rules", rules_run},     {"workers", workers_run},
               {"preemption", preemption_run}, {"rounds", rounds_run},   {"queue", queue_run},
               {"messages", messages_run},     {"json", json_run},       {"packages", packages_run},
               {"requests", requests_run},     {"devices", devices_run}, {"claims", claims_run},
               {"memory", memory_run}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (list_has(o->sections, all[i].name) && !all[i].run(o, r))
            return false;
    return true;
}
