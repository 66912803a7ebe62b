/* report: what became of one step of a scenario, and its two forms: the oracle's JSON and a table.
 */
#ifndef REPORT_H
#define REPORT_H

#include "ctl/json_out.h"
#include "scheduler/cluster/device_reserve.h"
#include "scheduler/merge/reduce.h"

/* Zero-initialise; everything is borrowed. */
struct report {
    struct str op, pod, profile, result, node, error, message, reason;
    int64_t priority;
    struct strs gates;
    struct str kept_by, kept_why; /* another PreEnqueue plugin that keeps it, and the reason */
    bool decided;                 /* the fields below are set */
    const struct pod *record;
    const struct framework *framework;
    const struct decision *decision;
    const struct verdict *verdicts;
    uint32_t verdict_count;
    struct strs nodes; /* all in the cluster, sorted */
    bool has_choice, choice_ok;
    struct str choice;
    bool omit_raw, omit_others;
    /* a preempting pod: where it is nominated to, and who goes for it (unless after_none) */
    struct str nominated_node;
    const struct victim *victims;
    uint32_t victim_count;
    bool after_none;
    struct str rejected_by;          /* behind the decision, at Reserve or Permit */
    struct device_reservation given; /* to the pod's claims, with its node */
    int64_t candidate_limit;         /* at how many candidates upstream would have stopped */
};

struct report_output {
    struct json_out *json; /* NULL: a table */
    struct buffer *table;
    bool wide; /* behind a table's line, every node's scores and reasons */
    /* When set, neither: each report is handed on, borrowed for the call. */
    void (*told)(void *context, const struct report *r);
    void *context;
};

void report_heading(struct buffer *table);
/* One line under the heading. */
void report_row(struct buffer *table, const struct report *r);
/* As JSON the object stays open, for what follows from it: the retry, when asked to be one. As a
 * table it is one line. */
void report_open(const struct report_output *o, const struct report *r, bool retry);
void report_close(const struct report_output *o);
/* The profile's plugins at every point; bind: those that a profile does not carry. */
void report_profile(struct json_out *j, const struct profile *profile, struct strs bind);

#endif
