/* report: the oracle's result format, field by field. The one idea: everything is read from the
 * decision and the verdicts, so that what is shown is what the scheduler used. */
#include "ctl/report.h"

#include "proto/base/arena.h"
#include "proto/base/memory.h"
#include "scheduler/plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static void sorted_strs_if(struct json_out *j, const char *key, struct strs list)
{
    qsort(list.at, list.count, sizeof(*list.at), compare);
    json_strs_if(j, key, list);
}

/* ---- PreEnqueue and PreFilter ---- */

static void gated(struct json_out *j, struct strs gates)
{
    struct buffer reason = {0};
    buffer_add_text(&reason, "waiting for scheduling gates: [");
    for (uint32_t i = 0; i < gates.count; i++)
        buffer_print(&reason, "%s%.*s", i == 0 ? "" : " ", STR_ARG(gates.at[i]));
    buffer_add_text(&reason, "]");
    struct str text = buffer_str(&reason);
    json_open(j, "preEnqueue", '{');
    json_str(j, "code", str_of(code_name(CODE_unresolvable)));
    json_str(j, "plugin", STR_LITERAL("SchedulingGates"));
    json_strs(j, "reasons", (struct strs){1, &text});
    json_close(j, '}');
    buffer_free(&reason);
}

/* Rules that had nothing to do: ours that said so, and those we lack, which no pod that gets here
 * needs. */
static struct strs skipped_filters(const struct report *r, struct arena *a)
{
    const struct framework *fw = r->framework;
    struct strs pre = fw->profile.pre_filter, list = {0};
    list.at = arena_take(a, (pre.count + fw->pre_filter_count) * sizeof(struct str));
    for (uint32_t i = 0; i < fw->pre_filter_count; i++)
        if (r->decision->pre_filter.skipped >> i & 1)
            list.at[list.count++] = str_of(fw->pre_filter[i]->name);
    for (uint32_t i = 0; i < pre.count; i++)
        if (plugin_find(pre.at[i]) == NULL)
            list.at[list.count++] = pre.at[i];
    return list;
}

static void pre_filter(struct json_out *j, const struct report *r)
{
    const struct pre_filter_outcome *pre = &r->decision->pre_filter;
    struct arena a = {0};
    json_open(j, "preFilter", '{');
    json_open(j, "status", '{');
    json_str(j, "code", str_of(code_name(pre->code)));
    json_str_if(j, "plugin", pre->plugin);
    if (pre->reason.len > 0) {
        struct str reason = pre->reason;
        json_strs(j, "reasons", (struct strs){1, &reason});
    }
    json_close(j, '}');
    if (pre->narrowed)
        json_strs(j, "nodes", pre->names);
    json_strs_if(j, "byNodes", pre->by);
    if (pre->code == CODE_success)
        sorted_strs_if(j, "skipped", skipped_filters(r, &a));
    json_close(j, '}');
    arena_free(&a);
}

/* ---- nodes ---- */

static int64_t weight_of(const struct framework *fw, struct str plugin)
{
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (str_is(plugin, fw->score[i].plugin->name))
            return fw->score[i].weight;
    return 1;
}

enum score_kind { RAW, NORMALISED, WEIGHTED };

static void scores(struct json_out *j, const struct report *r, const struct verdict *v,
                   enum score_kind kind)
{
    static const char *const keys[] = {"raw", "normalized", "weighted"};
    if (v->scores.count == 0)
        return;
    json_open(j, keys[kind], '{');
    for (uint32_t i = 0; i < v->scores.count; i++) {
        const struct plugin_score *s = &v->scores.at[i];
        char *name = str_copy(s->plugin);
        int64_t weight = weight_of(r->framework, s->plugin);
        int64_t normalised = weight == 0 ? 0 : s->weighted / weight;
        json_i64(j, name, kind == RAW ? s->raw : kind == WEIGHTED ? s->weighted : normalised);
        memory_free(name);
    }
    json_close(j, '}');
}

static void verdict(struct json_out *j, const struct report *r, const struct verdict *v)
{
    json_open(j, NULL, '{');
    json_str(j, "name", v->node);
    json_open(j, "filter", '{');
    json_str(j, "code", v->code);
    json_str_if(j, "plugin", v->plugin);
    json_strs_if(j, "reasons", v->reasons);
    json_close(j, '}');
    if (str_is(v->code, "Success")) {
        if (!r->omit_raw)
            scores(j, r, v, RAW);
        scores(j, r, v, NORMALISED);
        scores(j, r, v, WEIGHTED);
        if (r->decision->kind == DECISION_node && r->decision->score_error.len == 0)
            json_i64(j, "total", v->total);
    }
    json_close(j, '}');
}

/* A node that PreFilter ruled out without looking at it. */
static struct verdict absent(const struct report *r, struct str node, struct arena *a)
{
    struct buffer text = {0};
    buffer_add_text(&text, "node(s) didn't satisfy plugin(s) [");
    for (uint32_t i = 0; i < r->decision->pre_filter.by.count; i++)
        buffer_print(&text, "%s%.*s", i == 0 ? "" : " ", STR_ARG(r->decision->pre_filter.by.at[i]));
    buffer_add_text(&text, "]");
    struct verdict v = {.node = node,
                        .code = str_of(code_name(CODE_unresolvable)),
                        .plugin = STR_LITERAL("PreFilterResult"),
                        .reasons = {1, arena_take(a, sizeof(struct str))}};
    v.reasons.at[0] = arena_copy(a, buffer_str(&text));
    buffer_free(&text);
    return v;
}

static void nodes(struct json_out *j, const struct report *r)
{
    struct arena a = {0};
    uint32_t next = 0; /* both lists are sorted */
    json_open(j, "nodes", '[');
    for (uint32_t i = 0; i < r->nodes.count; i++) {
        struct verdict ruled_out;
        const struct verdict *v = &ruled_out;
        if (next < r->verdict_count && str_equal(r->verdicts[next].node, r->nodes.at[i]))
            v = &r->verdicts[next++];
        else
            ruled_out = absent(r, r->nodes.at[i], &a);
        verdict(j, r, v);
    }
    json_close(j, ']');
    arena_free(&a);
}

/* ---- the whole ---- */

static void skipped_scores(struct json_out *j, const struct report *r)
{
    const struct framework *fw = r->framework;
    uint64_t skips = framework_score_skips(fw, r->record);
    struct arena a = {0};
    struct strs list = {0, arena_take(&a, fw->score_count * sizeof(struct str))};
    for (uint32_t i = 0; i < fw->score_count; i++)
        if (skips >> i & 1)
            list.at[list.count++] = str_of(fw->score[i].plugin->name);
    sorted_strs_if(j, "skippedScore", list);
    arena_free(&a);
}

static void decided(struct json_out *j, const struct report *r)
{
    const struct decision *d = r->decision;
    if (d->nodes > 0)
        pre_filter(j, r);
    if (d->used_nominated)
        json_str(j, "nominatedNodeUsed", d->node);
    if (d->nodes > 0 && d->pre_filter.code == CODE_success)
        nodes(j, r);
    json_i64(j, "numNodes", d->nodes);
    json_i64(j, "feasible", d->feasible);
    if (d->kind == DECISION_node) {
        skipped_scores(j, r);
        if (d->feasible == 1)
            json_bool(j, "scoringSkipped", true);
    }
    json_strs_if(j, "bestNodes", d->best_nodes);
    json_str_if(j, "message", r->message);
    json_str_if(j, "reason", r->reason);
    json_strs_if(j, "unschedulablePlugins", d->plugins);
}

void report_json(struct json_out *j, const struct report *r)
{
    json_open(j, NULL, '{');
    json_str_if(j, "op", r->op);
    json_str_if(j, "pod", r->pod);
    json_str_if(j, "profile", r->profile);
    json_i64(j, "priority", r->priority);
    json_str(j, "result", r->result);
    json_str_if(j, "node", r->node);
    if (r->gates.count > 0)
        gated(j, r->gates);
    if (r->decided)
        decided(j, r);
    if (r->has_choice) {
        json_str(j, "choice", r->choice);
        json_bool(j, "choiceOK", r->choice_ok);
    }
    json_str_if(j, "error", r->error);
    json_close(j, '}');
}

void report_heading(struct buffer *out)
{
    buffer_print(out, "%-32s %-14s %-20s %11s %6s  %s\n", "POD", "RESULT", "NODE", "FEASIBLE",
                 "SCORE", "WHY");
}

void report_row(struct buffer *out, const struct report *r)
{
    char feasible[32] = "", score[24] = "";
    if (r->decided)
        snprintf(feasible, sizeof(feasible), "%" PRId64 "/%" PRId64, r->decision->feasible,
                 r->decision->nodes);
    if (r->decided && r->decision->kind == DECISION_node && !r->decision->used_nominated)
        snprintf(score, sizeof(score), "%" PRId64, r->decision->total);
    struct str why = r->message.len > 0 ? r->message : r->error;
    struct buffer result = {0};
    buffer_print(&result, "%.*s%s%.*s", STR_ARG(r->op), r->op.len > 0 ? " " : "",
                 STR_ARG(r->result));
    buffer_print(out, "%-32.*s %-14.*s %-20.*s %11s %6s  ", STR_ARG(r->pod),
                 STR_ARG(buffer_str(&result)), STR_ARG(r->node), feasible, score);
    buffer_free(&result);
    if (r->gates.count > 0)
        buffer_add_text(out, "has scheduling gates");
    buffer_add_str(out, why);
    if (r->message.len > 0 && r->error.len > 0)
        buffer_print(out, " (%.*s)", STR_ARG(r->error));
    if (why.len == 0 && r->decided && r->decision->best_nodes.count > 1)
        buffer_print(out, "one of %" PRIu32 " best nodes", r->decision->best_nodes.count);
    buffer_add_text(out, "\n");
}

void report_profile(struct json_out *j, const struct profile *profile)
{
    json_open(j, NULL, '{');
    json_str(j, "schedulerName", profile->scheduler_name);
    json_strs_if(j, "preEnqueue", profile->pre_enqueue);
    json_strs_if(j, "preFilter", profile->pre_filter);
    json_strs_if(j, "filter", profile->filter);
    json_strs_if(j, "postFilter", profile->post_filter);
    json_strs_if(j, "preScore", profile->pre_score);
    json_open(j, "weights", '{');
    for (uint32_t i = 0; i < profile->score.count; i++) {
        char *name = str_copy(profile->score.at[i].name);
        json_i64(j, name, profile->score.at[i].weight);
        memory_free(name);
    }
    json_close(j, '}');
    json_close(j, '}');
}
