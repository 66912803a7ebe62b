/* report_table: one line a step, for people: who went where, and who had to go for whom. What must
 * stay true: a line says as much as the JSON about what became of the pod, if not about why; of
 * one that was not even decided it says why not. */
#include "ctl/report.h"

#include <inttypes.h>
#include <stdio.h>

void report_heading(struct buffer *table)
{
    buffer_print(table, "%-32s %-14s %-20s %11s %6s  %s\n", "POD", "RESULT", "NODE", "FEASIBLE",
                 "SCORE", "WHY");
}

/* "evicts a/x, a/y (1 of them protected by a PodDisruptionBudget)", and then why. */
static void victims(struct buffer *out, const struct report *r)
{
    int64_t violations = r->decision->preemption.violations;
    buffer_add_text(out, r->after_none ? "would evict " : "evicts ");
    for (uint32_t i = 0; i < r->victim_count; i++)
        buffer_print(out, "%s%.*s/%.*s", i > 0 ? ", " : "", STR_ARG(r->victims[i].namespace_name),
                     STR_ARG(r->victims[i].name));
    if (violations > 0)
        buffer_print(out, " (%" PRId64 " protected by a PodDisruptionBudget)", violations);
    buffer_add_text(out, ": ");
}

/* Of who was not even decided. */
static void passed_over(struct buffer *out, const struct report *r)
{
    if (r->gates.count > 0)
        buffer_add_text(out, "has scheduling gates");
    else if (r->kept_by.len > 0)
        buffer_print(out, "held back by %.*s: %.*s", STR_ARG(r->kept_by), STR_ARG(r->kept_why));
    else if (str_is(r->result, "ignored"))
        buffer_add_text(out, r->node.len > 0 ? "has its node already"
                                             : "no profile here has its schedulerName: another "
                                               "scheduler is to place it");
}

static void why(struct buffer *out, const struct report *r)
{
    struct str text = r->message.len > 0 ? r->message : r->error;
    passed_over(out, r);
    if (r->victim_count > 0)
        victims(out, r);
    buffer_add_str(out, text);
    if (r->message.len > 0 && r->error.len > 0)
        buffer_print(out, " (%.*s)", STR_ARG(r->error));
    if (text.len == 0 && r->decided && r->decision->best_nodes.count > 1)
        buffer_print(out, "one of %" PRIu32 " best nodes", r->decision->best_nodes.count);
}

void report_row(struct buffer *out, const struct report *r)
{
    char feasible[48] = "", score[24] = "";
    struct str node = r->nominated_node.len > 0 ? r->nominated_node : r->node;
    if (r->decided)
        snprintf(feasible, sizeof(feasible), "%" PRId64 "/%" PRId64, r->decision->feasible,
                 r->decision->nodes);
    if (r->decided && r->decision->kind == DECISION_node && !r->decision->used_nominated)
        snprintf(score, sizeof(score), "%" PRId64, r->decision->total);
    struct buffer result = {0};
    buffer_print(&result, "%.*s%s%.*s", STR_ARG(r->op), r->op.len > 0 ? " " : "",
                 STR_ARG(r->result));
    buffer_print(out, "%-32.*s %-14.*s %-20.*s %11s %6s  ", STR_ARG(r->pod),
                 STR_ARG(buffer_str(&result)), STR_ARG(node), feasible, score);
    buffer_free(&result);
    why(out, r);
    buffer_add_text(out, "\n");
}
