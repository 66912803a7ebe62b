/* report: what became of one step of a scenario, and its two forms: the oracle's JSON and a table.
 */
#ifndef REPORT_H
#define REPORT_H

#include "ctl/json_out.h"
#include "scheduler/reduce.h"

/* Zero-initialise; everything is borrowed. */
struct report {
    struct str op, pod, profile, result, node, error, message, reason;
    int64_t priority;
    struct strs gates;
    bool decided; /* the fields below are set */
    const struct pod *record;
    const struct framework *framework;
    const struct decision *decision;
    const struct verdict *verdicts;
    uint32_t verdict_count;
    struct strs nodes; /* all in the cluster, sorted */
    bool has_choice, choice_ok;
    struct str choice;
    bool omit_raw;
};

void report_json(struct json_out *j, const struct report *r);
/* One line, under the heading that report_heading wrote. */
void report_row(struct buffer *out, const struct report *r);
void report_heading(struct buffer *out);
/* The profile's plugins at the points that decide. */
void report_profile(struct json_out *j, const struct profile *profile);

#endif
