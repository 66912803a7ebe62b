/* text: an explanation for people. What must stay true: what was and what would be now have
 * headings of their own; a list that is cut says how many are left out. */
#include "ctl/explain/explain.h"
#include "ctl/explain/suggest.h"
#include "ctl/report_nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LABEL "%-13s "

/* ---- pieces ---- */

static void add_span(struct buffer *out, int64_t ms)
{
    int64_t s = ms / 1000;
    if (s < 120)
        buffer_print(out, "%" PRId64 "s", s);
    else if (s < 7200)
        buffer_print(out, "%" PRId64 "m%" PRId64 "s", s / 60, s % 60);
    else
        buffer_print(out, "%" PRId64 "h%" PRId64 "m", s / 3600, s / 60 % 60);
}

static void add_time(struct buffer *out, int64_t wall_us)
{
    char text[32] = "";
    struct tm utc;
    time_t seconds = (time_t)(wall_us / 1000000);
    if (gmtime_r(&seconds, &utc) != NULL)
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
    buffer_print(out, "%s.%03dZ", text, (int)(wall_us / 1000 % 1000));
}

static void add_list(struct buffer *out, const char *before, const struct strs *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        buffer_print(out, "%s%.*s", i == 0 ? before : ", ", STR_ARG(list->at[i]));
}

static void add_line(struct buffer *out, const char *label, struct str value)
{
    buffer_print(out, LABEL "%.*s\n", label, STR_ARG(value));
}

/* ---- where it is ---- */

static void where(const struct explanation *e, struct buffer *out)
{
    buffer_print(out, LABEL "%.*s/%.*s\n", "Pod:", STR_ARG(e->live->namespace_name),
                 STR_ARG(e->live->name));
    if (e->at_us != 0) {
        buffer_print(out, LABEL, "At:");
        add_time(out, e->at_us);
        buffer_add_text(out, "\n");
    }
    buffer_print(out, LABEL, "Where:");
    if (!e->there)
        buffer_add_text(out, "not in the cluster");
    else if (e->pod.node_name.len > 0)
        buffer_print(out, "on node %.*s", STR_ARG(e->pod.node_name));
    else
        buffer_add_text(out, "pending");
    if (e->there && e->pod.deleting)
        buffer_add_text(out, ", being deleted");
    buffer_add_text(out, "\n");
    if (!e->there)
        return;
    add_line(out, "Scheduler:", e->pod.scheduler_name);
    if (e->framework == NULL)
        buffer_print(out,
                     LABEL "no profile of this berth has that name: another scheduler is to "
                           "place it\n",
                     "");
    if (e->pod.unreadable.len > 0)
        add_line(out, "Unreadable:", e->pod.unreadable);
    if (e->pod.nominated_node.len > 0)
        add_line(out, "Nominated:", e->pod.nominated_node);
}

static void gates(const struct explanation *e, struct buffer *out)
{
    if (e->now.gates.count > 0) {
        buffer_print(out, LABEL, "Gates:");
        add_list(out, "", &e->now.gates);
        buffer_add_text(out, " (nothing is decided until all are removed)\n");
    }
    if (e->now.kept_by.len > 0)
        buffer_print(out, LABEL "by %.*s: %.*s\n", "Held back:", STR_ARG(e->now.kept_by),
                     STR_ARG(e->now.kept_why));
}

static void queue(const struct explanation *e, struct buffer *out, struct arena *a)
{
    const struct pending_pod *p = e->waiting;
    if (p == NULL)
        return;
    const struct strs wakes = explain_wakes(&p->rejected_by, e->live->explained.release, a);
    buffer_print(out, LABEL "%.*s, for ",
                 "Queue:", STR_ARG(words_text(&pending_place_words, p->place)));
    add_span(out, p->waiting_ms);
    buffer_print(out, ", tried %" PRId64 " %s", p->attempts, p->attempts == 1 ? "time" : "times");
    if (p->backoff_ms > 0) {
        buffer_add_text(out, ", not before ");
        add_span(out, p->backoff_ms + 999);
        buffer_add_text(out, " from now");
    }
    buffer_add_text(out, "\n");
    if (p->rejected_by.count > 0) {
        buffer_print(out, LABEL, "Rejected by:");
        add_list(out, "", &p->rejected_by);
        buffer_add_text(out, "\n");
    }
    for (uint32_t i = 0; i < wakes.count && p->place != PENDING_active; i++)
        add_line(out, i == 0 ? "Woken by:" : "", wakes.at[i]);
}

static void group(const struct explanation *e, struct buffer *out)
{
    if (e->pod.gang.len == 0)
        return;
    buffer_print(out, LABEL "%.*s", "PodGroup:", STR_ARG(e->pod.gang));
    if (e->group.name.len == 0) {
        buffer_add_text(out, ", which there is none of\n");
        return;
    }
    if (e->group.min_member > 0)
        buffer_print(out, ", needs %" PRId64, e->group.min_member);
    buffer_print(out, ": %" PRId64 " on nodes, %" PRIu32 " others wait", e->members_bound,
                 e->members.count);
    add_list(out, ": ", &e->members);
    buffer_add_text(out, "\n");
}

/* ---- what was decided ---- */

static void past(const struct past_decision *d, struct buffer *out)
{
    buffer_add_text(out, "  ");
    add_time(out, d->wall_us);
    if (d->attempt > 0)
        buffer_print(out, "  attempt %" PRId64, d->attempt);
    if (d->placed && d->feasible == 1) /* no score had a say, if one was counted at all */
        buffer_print(out, "  placed on %.*s (1 of %" PRId64 " nodes could take it)",
                     STR_ARG(d->node), d->nodes);
    else if (d->placed)
        buffer_print(out,
                     "  placed on %.*s (score %" PRId64 "; %" PRId64 " of %" PRId64
                     " nodes could take it)",
                     STR_ARG(d->node), d->score, d->feasible, d->nodes);
    else if (d->node.len > 0)
        buffer_print(out, "  room is made on %.*s: %.*s", STR_ARG(d->node), STR_ARG(d->message));
    else
        buffer_print(out, "  not placed: %.*s", STR_ARG(d->message));
    buffer_add_text(out, "\n");
}

static void history(const struct explanation *e, struct buffer *out)
{
    const struct explained *said = &e->live->explained;
    if (said->state.len > 0)
        buffer_print(out, LABEL "the pod %.*s\n", "Now:", STR_ARG(said->state));
    if (said->waits_for.len > 0)
        buffer_print(out, LABEL "nothing is decided: the scheduler waits for %.*s\n", "",
                     STR_ARG(said->waits_for));
    buffer_add_text(out, "\nDecisions, newest first:\n");
    for (uint32_t i = 0; i < said->decisions.count; i++)
        past(&said->decisions.at[i], out);
    if (said->decisions.count > 0)
        return;
    buffer_print(out, "  none is kept (of %" PRId64 " decisions", said->kept);
    if (said->oldest_us > 0) {
        buffer_add_text(out, ", since ");
        add_time(out, said->oldest_us);
    }
    buffer_add_text(out, ")\n");
}

/* ---- what extenders said, of a recording ---- */

/* By reason, those without one behind them; names: the nodes as well. */
static void refusals(const struct extended *said, bool names, struct buffer *out)
{
    for (uint32_t i = 0; i < said->refused.count; i++) {
        const struct str reason = said->refused.at[i].reason;
        uint32_t count = 0;
        bool told = false;
        for (uint32_t k = 0; k < i && !told; k++)
            told = str_equal(said->refused.at[k].reason, reason);
        for (uint32_t k = i; k < said->refused.count && !told; k++)
            count += str_equal(said->refused.at[k].reason, reason);
        if (told)
            continue;
        buffer_print(out, "  %6" PRIu32 " %s  %.*s\n", count, count == 1 ? "node " : "nodes",
                     STR_ARG(reason));
        for (uint32_t k = i, first = true; k < said->refused.count && names; k++)
            if (str_equal(said->refused.at[k].reason, reason)) {
                buffer_print(out, "%s%.*s", first ? "                " : ", ",
                             STR_ARG(said->refused.at[k].node));
                first = false;
            }
        if (names)
            buffer_add_text(out, "\n");
    }
}

static void extender_scores(const struct explanation *e, const struct extended *said,
                            struct buffer *out)
{
    if (said->scores.count == 0)
        return;
    buffer_add_text(out, "          they add to the totals: ");
    for (uint32_t i = 0; i < said->scores.count && i < (uint32_t)e->top; i++)
        buffer_print(out, "%s%.*s %" PRId64, i == 0 ? "" : ", ", STR_ARG(said->scores.at[i].node),
                     said->scores.at[i].score);
    if (said->scores.count > (uint32_t)e->top)
        buffer_print(out, "%s… %" PRIu32 " in all", e->top > 0 ? ", " : "", said->scores.count);
    buffer_add_text(out, "\n");
}

static void consulted(const struct explanation *e, const struct past_consulted *c,
                      struct buffer *out)
{
    const struct extend *q = &c->question;
    const struct extended *said = &c->answer;
    bool victims = q->step == EXTEND_STEP_victims;
    uint32_t count = victims ? q->candidates.count : q->nodes.count;
    uint32_t left = victims ? said->candidates.count : said->all ? count : said->nodes.count;
    buffer_add_text(out, "  ");
    add_time(out, c->asked_us);
    for (uint32_t i = 0; i < q->extenders.count; i++)
        buffer_print(out, "%s%.*s", i == 0 ? "  " : ", ", STR_ARG(q->extenders.at[i].url));
    buffer_print(out, ": %s %" PRIu32 " %s? ", victims ? "whom to evict on one of" : "which of",
                 count, count == 1 ? "node" : "nodes");
    if (c->answered_us == 0)
        buffer_add_text(out, "no answer had come\n");
    else if (said->error.len > 0)
        buffer_print(out, "%.*s\n", STR_ARG(said->error));
    else if (said->gone)
        buffer_add_text(out, "the pod is gone\n");
    else if (said->ignored)
        buffer_add_text(out, "it failed, which is ignored\n");
    else
        buffer_print(out, "%" PRIu32 " %s\n", left, left == 1 ? "is left" : "are left");
    refusals(said, e->names, out);
    extender_scores(e, said, out);
}

static void extenders(const struct explanation *e, struct buffer *out)
{
    if (e->past == NULL || e->past->consulted_count == 0)
        return;
    buffer_add_text(out, "\nWhat extenders were asked for the last of these, and said:\n");
    for (uint32_t i = 0; i < e->past->consulted_count; i++)
        consulted(e, &e->past->consulted[i], out);
}

/* ---- what would be decided now: no node ---- */

static void preemption(const struct explanation *e, struct buffer *out)
{
    const struct preemption *p = &e->now.decision->preemption;
    const struct report *r = &e->now;
    if (!p->considered || r->nominated_node.len == 0)
        return;
    buffer_print(
        out, "  Preemption would make room on %.*s; these would go: ", STR_ARG(r->nominated_node));
    for (uint32_t i = 0; i < r->victim_count; i++)
        buffer_print(out, "%s%.*s/%.*s", i > 0 ? ", " : "", STR_ARG(r->victims[i].namespace_name),
                     STR_ARG(r->victims[i].name));
    buffer_add_text(out, "\n");
}

/* ---- what would be decided now: a node ---- */

/* Which of several best nodes. */
static const char *chosen(const struct explanation *e)
{
    enum tie_break_rule rule = e->live->explained.tie_break;
    return rule == TIE_BREAK_first         ? "the first by name"
           : rule == TIE_BREAK_round_robin ? "one after the other"
                                           : "one of them by chance";
}

/* Its own node stands in the list, if there is to be one, whatever its place. */
static void best(const struct explanation *e, struct buffer *out, struct arena *a)
{
    uint32_t count, ties = e->now.decision->best_nodes.count;
    const struct verdict **list = report_feasible(&e->now, &count, a);
    buffer_print(out, "  %" PRIu32 " of %" PRIu32 " nodes could take it", count,
                 e->now.nodes.count);
    if (e->now.decision->used_nominated)
        buffer_print(out, "; it goes to %.*s, where it is nominated\n",
                     STR_ARG(e->now.decision->node));
    else if (ties > 1)
        buffer_print(out, "; %" PRIu32 " are equally good, and %s is taken\n", ties, chosen(e));
    else
        buffer_add_text(out, "\n");
    if (count == 1) {
        buffer_print(out, "  %.*s is the only one, and is taken whatever its score\n",
                     STR_ARG(list[0]->node));
        return;
    }
    if (e->top > 0)
        report_score_heading(out);
    for (uint32_t i = 0; i < count && e->top > 0; i++)
        if (i < (uint32_t)e->top || str_equal(list[i]->node, e->pod.node_name))
            report_score(list[i], out);
    if (count > (uint32_t)e->top)
        buffer_print(out, "  … %" PRIu32 " in all (--top %" PRIu32 ")\n", count, count);
}

/* A decision of a recording is made again; of a pod of which there is none it is decided then. */
static void decided_when(const struct explanation *e, struct buffer *out)
{
    const char *alone = e->tried.gang.len > 0 ? ", by itself and not with its group" : "";
    buffer_add_text(out, e->then_us != 0 ? "\nDecided again, as of " : "\nDecided ");
    if (e->then_us != 0)
        add_time(out, e->then_us);
    else
        buffer_add_text(out, e->pod.node_name.len > 0 ? "anew " : "");
    if (e->then_us != 0)
        buffer_print(out, ", on the cluster as the scheduler had it before%s:\n", alone);
    else if (e->at_us != 0)
        buffer_print(out, "then, on the cluster as the watcher had it%s:\n", alone);
    else
        buffer_print(out, "now, on the cluster as the watcher has it%s:\n", alone);
    if (e->told != NULL)
        buffer_add_text(out, e->agrees ? "  It comes out as it was decided.\n"
                                       : "  It does not come out as it was decided: what follows "
                                         "is not why.\n");
}

static void decided(const struct explanation *e, struct buffer *out, struct arena *a)
{
    const struct report *r = &e->now;
    const struct str note = explain_note(e, false, a);
    if (!r->decided)
        return;
    decided_when(e, out);
    if (r->decision->kind == DECISION_node)
        best(e, out, a);
    if (r->message.len > 0)
        buffer_print(out, "  %.*s\n", STR_ARG(r->message));
    if (r->error.len > 0 && !str_equal(r->error, r->message))
        buffer_print(out, "  %.*s\n", STR_ARG(r->error));
    if (r->decision->kind != DECISION_node) {
        report_reasons(r, e->names, out, a);
        preemption(e, out);
    }
    if (note.len > 0)
        buffer_print(out, "  %.*s\n", STR_ARG(note));
}

/* ---- one node ---- */

static void rejection(const struct explanation *e, const struct node *node,
                      const struct rejection *why, struct buffer *out)
{
    struct arena a = {0};
    const struct str what = suggest(e->live->world, &e->tried, node, why, &a);
    buffer_print(out, "  %-24.*s ", STR_ARG(why->plugin));
    add_list(out, "", &why->reasons);
    if (what.len > 0)
        buffer_print(out, "\n  %-24s needs: %.*s", "", STR_ARG(what));
    buffer_add_text(out, "\n");
    arena_free(&a);
}

static void one_node(const struct explanation *e, struct buffer *out, struct arena *a)
{
    const struct verdict *v = NULL;
    struct node node;
    for (uint32_t i = 0; i < e->now.verdict_count; i++)
        if (str_equal(e->now.verdicts[i].node, e->node))
            v = &e->now.verdicts[i];
    if (!e->now.decided || e->node.len == 0)
        return;
    buffer_print(out, "\nNode %.*s:\n", STR_ARG(e->node));
    if (v == NULL) {
        buffer_print(
            out, "  was not looked at: %.*s\n",
            STR_ARG(e->now.decision->absent.len > 0 ? e->now.decision->absent : e->now.message));
        return;
    }
    if (v->code == VERDICT_success) {
        buffer_add_text(out, "  could take it: every rule lets it pass\n");
        if (v->scores.count > 0)
            report_score(v, out);
        return;
    }
    const struct rejection first = {.plugin = v->plugin, .code = v->code, .reasons = v->reasons};
    if (!world_node(e->live->world, e->node, &node, a))
        return;
    if (v->others.count == 0)
        rejection(e, &node, &first, out);
    for (uint32_t i = 0; i < v->others.count; i++)
        rejection(e, &node, &v->others.at[i], out);
}

void explain_text(const struct explanation *e, struct buffer *out, struct arena *a)
{
    where(e, out);
    gates(e, out);
    group(e, out);
    queue(e, out, a);
    history(e, out);
    extenders(e, out);
    decided(e, out, a);
    one_node(e, out, a);
}
