/* report: the oracle's result format, field by field. The one idea: everything is read from the
 * decision and the verdicts, so that what is shown is what the scheduler used. */
#include "ctl/report.h"

#include "ctl/claims_out.h"
#include "ctl/report_nodes.h"
#include "proto/base/arena.h"
#include "proto/base/memory.h"
#include "scheduler/rules/plugin.h"

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

static void kept(struct json_out *j, struct str plugin, struct str reason)
{
    json_open(j, "preEnqueue", '{');
    json_str(j, "code", str_of(code_name(CODE_unresolvable)));
    json_str(j, "plugin", plugin);
    json_strs(j, "reasons", (struct strs){1, &reason});
    json_close(j, '}');
}

static void gated(struct json_out *j, struct strs gates)
{
    struct buffer reason = {0};
    buffer_add_text(&reason, "waiting for scheduling gates: [");
    for (uint32_t i = 0; i < gates.count; i++)
        buffer_print(&reason, "%s%.*s", i == 0 ? "" : " ", STR_ARG(gates.at[i]));
    buffer_add_text(&reason, "]");
    kept(j, STR_LITERAL("SchedulingGates"), buffer_str(&reason));
    buffer_free(&reason);
}

/* Rules that had nothing to do: ours that said so, and those we lack, which no pod that gets here
 * needs; of a pod that was turned away, those before that. */
static struct strs skipped_filters(const struct report *r, struct arena *a)
{
    struct strs pre = r->framework->profile.pre_filter, list = {0};
    list.at = arena_take(a, pre.count * sizeof(struct str));
    uint32_t asked = r->decision->pre_filter.code == CODE_success
                         ? pre.count
                         : r->decision->pre_filter.stopped_at;
    for (uint32_t i = 0; i < asked && i < pre.count; i++)
        if ((r->decision->pre_filter.skipped >> i & 1) || plugin_find(pre.at[i]) == NULL)
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

static void status(struct json_out *j, const char *key, const struct rejection *s)
{
    json_open(j, key, '{');
    json_str(j, "code", words_text(&verdict_code_words, s->code));
    json_str_if(j, "plugin", s->plugin);
    json_strs_if(j, "reasons", s->reasons);
    json_close(j, '}');
}

static void status_of(struct json_out *j, const char *key, const struct verdict *v)
{
    const struct rejection s = {.plugin = v->plugin, .code = v->code, .reasons = v->reasons};
    status(j, key, &s);
}

static void other_filters(struct json_out *j, const struct verdict *v)
{
    if (v->others.count == 0)
        return;
    json_open(j, "otherFilters", '[');
    for (uint32_t i = 0; i < v->others.count; i++)
        status(j, NULL, &v->others.at[i]);
    json_close(j, ']');
}

static void verdict(struct json_out *j, const struct report *r, const struct verdict *v)
{
    json_open(j, NULL, '{');
    json_str(j, "name", v->node);
    status_of(j, "filter", v);
    if (!r->omit_others)
        other_filters(j, v);
    if (v->code == VERDICT_success) {
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
    struct verdict v = {.node = node,
                        .code = VERDICT_unresolvable,
                        .plugin = STR_LITERAL("PreFilterResult"),
                        .reasons = {1, arena_take(a, sizeof(struct str))}};
    v.reasons.at[0] = r->decision->absent;
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

/* ---- preemption ---- */

static void victims(struct json_out *j, const struct victim *at, uint32_t count)
{
    struct arena a = {0};
    struct strs names = {count, arena_take(&a, count * sizeof(struct str))};
    for (uint32_t i = 0; i < count; i++)
        names.at[i] =
            arena_print(&a, "%.*s/%.*s", STR_ARG(at[i].namespace_name), STR_ARG(at[i].name));
    json_strs(j, "victims", names);
    arena_free(&a);
}

static void candidates(struct json_out *j, const struct preemption *p)
{
    if (p->candidates.count == 0)
        return;
    json_open(j, "candidates", '[');
    for (uint32_t i = 0; i < p->candidates.count; i++) {
        const struct candidate *c = &p->candidates.at[i];
        json_open(j, NULL, '{');
        json_str(j, "node", c->node);
        victims(j, c->victims.at, c->victims.count);
        json_i64(j, "numPDBViolations", c->violations);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void rejected(struct json_out *j, const struct preemption *p)
{
    if (p->rejected.count == 0)
        return;
    json_open(j, "rejected", '{');
    for (uint32_t i = 0; i < p->rejected.count; i++) {
        char *node = str_copy(p->rejected.at[i].node);
        status_of(j, node, &p->rejected.at[i]);
        memory_free(node);
    }
    json_close(j, '}');
}

static void preemption(struct json_out *j, const struct report *r)
{
    const struct preemption *p = &r->decision->preemption;
    json_open(j, "preemption", '{');
    json_bool(j, "eligible", p->eligible);
    json_str_if(j, "reason", p->reason);
    json_strs_if(j, "potentialNodes", p->potential);
    if (r->candidate_limit > 0)
        json_i64(j, "numCandidates", r->candidate_limit);
    candidates(j, p);
    rejected(j, p);
    json_strs_if(j, "bestNodes", p->best_nodes);
    json_str_if(j, "nominatedNode", r->nominated_node);
    if (r->victim_count > 0)
        victims(j, r->victims, r->victim_count);
    json_str_if(j, "postFilterMsg", p->post_filter);
    if (p->failed) {
        struct arena a = {0};
        json_str(j, "note", arena_print(&a, "PostFilter error: %.*s", STR_ARG(p->post_filter)));
        arena_free(&a);
    }
    json_close(j, '}');
}

/* ---- the whole ---- */

/* VolumeBinding scores only behind a gate that is off; upstream lists it as skipped. */
static bool never_scores(struct str name)
{
    const struct plugin *p = plugin_find(name);
    return p == NULL || p->score == NULL;
}

static void skipped_scores(struct json_out *j, const struct report *r)
{
    const struct profile *profile = &r->framework->profile;
    struct arena a = {0};
    struct strs list = {0, arena_take(&a, profile->score.count * sizeof(struct str))};
    bool failed = r->decision->score_error.len > 0; /* upstream did not get so far */
    for (uint32_t i = 0; i < profile->score.count && !failed; i++)
        if ((r->decision->score_skipped >> i & 1) || never_scores(profile->score.at[i].name))
            list.at[list.count++] = profile->score.at[i].name;
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
    json_strs_if(j, "unschedulablePlugins",
                 r->rejected_by.len > 0 ? (struct strs){1, (struct str *)&r->rejected_by}
                                        : d->plugins);
    json_str_if(j, "nominatedNode", r->nominated_node);
    if (d->kind == DECISION_unschedulable && d->preemption.considered)
        preemption(j, r);
    claims_out_given(j, r->record, &r->given);
}

static void report_json(struct json_out *j, const struct report *r, const char *key)
{
    json_open(j, key, '{');
    json_str_if(j, "op", r->op);
    json_str_if(j, "pod", r->pod);
    json_str_if(j, "profile", r->profile);
    json_i64(j, "priority", r->priority);
    json_str(j, "result", r->result);
    json_str_if(j, "node", r->node);
    if (r->gates.count > 0)
        gated(j, r->gates);
    else if (r->kept_by.len > 0)
        kept(j, r->kept_by, r->kept_why);
    if (r->decided)
        decided(j, r);
    else
        json_str_if(j, "message", r->message);
    if (r->has_choice) {
        json_str(j, "choice", r->choice);
        json_bool(j, "choiceOK", r->choice_ok);
    }
    json_str_if(j, "error", r->error);
}

static void row(const struct report_output *o, const struct report *r)
{
    report_row(o->table, r);
    if (o->wide && r->decided)
        report_all_nodes(r, o->table);
}

void report_open(const struct report_output *o, const struct report *r, bool retry)
{
    if (o->told != NULL)
        o->told(o->context, r);
    else if (o->json != NULL)
        report_json(o->json, r, retry ? "retry" : NULL);
    else
        row(o, r);
}

void report_close(const struct report_output *o)
{
    if (o->json != NULL)
        json_close(o->json, '}');
}

static void profile_scores(struct json_out *j, const struct profile *profile)
{
    struct arena a = {0};
    struct strs names = {0, arena_take(&a, profile->score.count * sizeof(struct str))};
    for (uint32_t i = 0; i < profile->score.count; i++)
        names.at[names.count++] = profile->score.at[i].name;
    json_strs_if(j, "score", names);
    arena_free(&a);
    if (names.count == 0)
        return;
    json_open(j, "weights", '{');
    for (uint32_t i = 0; i < profile->score.count; i++) {
        char *name = str_copy(profile->score.at[i].name);
        json_i64(j, name, profile->score.at[i].weight);
        memory_free(name);
    }
    json_close(j, '}');
}

void report_profile(struct json_out *j, const struct profile *profile, struct strs bind)
{
    json_open(j, NULL, '{');
    json_str(j, "schedulerName", profile->scheduler_name);
    json_strs_if(j, "preEnqueue", profile->pre_enqueue);
    json_strs_if(j, "preFilter", profile->pre_filter);
    json_strs_if(j, "filter", profile->filter);
    json_strs_if(j, "postFilter", profile->post_filter);
    json_strs_if(j, "preScore", profile->pre_score);
    profile_scores(j, profile);
    json_strs_if(j, "reserve", profile->reserve);
    json_strs_if(j, "permit", profile->permit);
    json_strs_if(j, "preBind", profile->pre_bind);
    json_strs_if(j, "bind", bind);
    json_close(j, '}');
}
