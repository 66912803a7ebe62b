/* measure: finds the series of what happened and adds to them. The one idea: what is asked for with
 * every pod is looked up once for each profile, so that an attempt costs additions only.
 *
 * Filtering and scoring are one pass over what a worker keeps of a class of pods; its time is told
 * apart by what the few decisions consisted of that workers have timed call by call. */
#include "scheduler/coordinator/measure.h"
#include "scheduler/coordinator/following.h"
#include "scheduler/coordinator/measure_groups.h"

#include "proto/base/log.h"
#include "proto/metrics.h"
#include "scheduler/coordinator/deciding.h"
#include "scheduler/coordinator/permitting.h"
#include "scheduler/merge/preemption.h"
#include "scheduler/tracing/attempt_trace.h"
#include "scheduler/tracing/slow.h"

#include <inttypes.h>
#include <stdio.h>

enum point {
    POINT_PreFilter,
    POINT_Filter,
    POINT_PostFilter,
    POINT_PreScore,
    POINT_Score,
    POINT_Reserve,
    POINT_Permit,
    POINT_Unreserve
};

static const char *const point_names[MEASURED_POINTS] = {
    "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "Unreserve"};

#define PART_MOST_NS    (INT64_C(3600) * 1000000000) /* more is nonsense */
#define PARTS_LEARNT_NS 1e6                          /* a few hundred small decisions */

enum result { RESULT_scheduled, RESULT_unschedulable, RESULT_error };

static const char *const result_names[] = {"scheduled", "unschedulable", "error"};

static const struct framework *framework_of(const struct coordinator *c, const struct flight *f)
{
    return frameworks_find(&c->frameworks, f->pod.scheduler_name);
}

static struct measured_profile *profile_of(struct coordinator *c, const struct framework *fw)
{
    size_t place = (size_t)(fw - c->frameworks.at);
    if (place < MEASURED_PROFILES)
        return &c->measure.profiles[place];
    c->measure.spare = (struct measured_profile){0};
    return &c->measure.spare;
}

/* Frameworks may be built anew, in another order. */
static bool is_of(const struct series *s, size_t label, const struct framework *fw)
{
    return s != NULL && str_equal(s->labels[label], fw->profile.scheduler_name);
}

static void observe_point(struct coordinator *c, const struct framework *fw, enum point point,
                          enum code code, int64_t ns)
{
    struct series **s = &profile_of(c, fw)->points[point][code];
    if (!is_of(*s, 1, fw))
        *s = metric_series(METRIC_scheduler_framework_extension_point_duration_seconds,
                           METRIC_VALUES(str_of(point_names[point]), fw->profile.scheduler_name,
                                         str_of(code_name(code))));
    series_observe(*s, ns);
}

static void count_result(struct coordinator *c, const struct flight *f, enum result result)
{
    const struct framework *fw = framework_of(c, f);
    if (fw == NULL)
        return;
    struct measured_profile *p = profile_of(c, fw);
    struct str name = str_of(result_names[result]);
    if (!is_of(p->results[result], 1, fw)) {
        const struct str *values = METRIC_VALUES(name, fw->profile.scheduler_name);
        p->results[result] = metric_series(METRIC_scheduler_schedule_attempts_total, values);
        p->latencies[result] =
            metric_series(METRIC_scheduler_scheduling_attempt_duration_seconds, values);
    }
    series_add(p->results[result], 1);
    series_observe(p->latencies[result], moment_since(c->last_call, f->began).ns);
}

/* ---- how often plugins are asked ---- */

enum asked { ASKED_PreFilter, ASKED_Filter, ASKED_PreScore, ASKED_Score };

static void tell_asked(struct measured_profile *p, const struct profile *profile, enum asked point,
                       struct str plugin, uint32_t i)
{
    static const char *const names[MEASURED_ASKED] = {"PreFilter", "Filter", "PreScore", "Score"};
    const struct str *values = METRIC_VALUES(str_of(names[point]), plugin, profile->scheduler_name);
    series_add(metric_series(METRIC_scheduler_plugin_evaluation_total, values), p->asked[point][i]);
    p->asked[point][i] = 0;
}

/* Every plugin of every point is told, as upstream does, also those that were never asked. */
static void flush(struct measured_profile *p, const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->pre_filter.count && i < 64; i++)
        tell_asked(p, profile, ASKED_PreFilter, profile->pre_filter.at[i], i);
    for (uint32_t i = 0; i < profile->filter.count && i < 64; i++)
        tell_asked(p, profile, ASKED_Filter, profile->filter.at[i], i);
    for (uint32_t i = 0; i < profile->pre_score.count && i < 64; i++)
        tell_asked(p, profile, ASKED_PreScore, profile->pre_score.at[i], i);
    for (uint32_t i = 0; i < profile->score.count && i < 64; i++)
        tell_asked(p, profile, ASKED_Score, profile->score.at[i].name, i);
}

void measure_flush(struct coordinator *c)
{
    for (uint32_t i = 0; i < c->frameworks.count && i < MEASURED_PROFILES; i++)
        flush(&c->measure.profiles[i], &c->frameworks.at[i].profile);
}

static void ask_all(int64_t *asked, uint32_t count, uint64_t skipped, int64_t times)
{
    for (uint32_t i = 0; i < count && i < 64; i++)
        asked[i] += (skipped >> i & 1) != 0 ? 0 : times;
}

static uint64_t bits_of(struct strs names, struct str name)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < names.count && i < 64; i++)
        bits |= (uint64_t)str_equal(names.at[i], name) << i;
    return bits;
}

/* The same of plugins on the bus. */
static uint64_t bus_filter_skips(const struct profile *p, uint64_t skipped)
{
    uint64_t skips = 0;
    for (uint32_t i = 0; i < p->bus_plugins.count; i++)
        if ((bits_of(p->pre_filter, p->bus_plugins.at[i].name) & skipped) != 0)
            skips |= bits_of(p->filter, p->bus_plugins.at[i].name);
    return skips;
}

/* What PreFilter skips is not asked in Filter, whose list has an order of its own. */
static uint64_t filter_skips(const struct framework *fw, uint64_t skipped)
{
    uint64_t skips = bus_filter_skips(&fw->profile, skipped);
    for (uint32_t r = 0; skipped != 0 && r < fw->pre_filter_count; r++)
        if ((skipped >> fw->pre_filter_place[r] & 1) != 0)
            skips |= fw->pre_filter_filters[r];
    return skips;
}

/* The same of PreScore for what has no scores to give. */
static uint64_t pre_score_skips(const struct framework *fw, uint64_t skipped)
{
    uint64_t skips = 0;
    for (uint32_t s = 0; skipped != 0 && s < fw->score_count; s++)
        for (uint32_t i = 0; i < fw->pre_score_count; i++)
            if ((skipped >> fw->score[s].place & 1) != 0 && fw->pre_score[i] == fw->score[s].plugin)
                skips |= UINT64_C(1) << fw->pre_score_place[i];
    return skips;
}

/* What a pod's plugins were asked: stopped: so many of PreFilter's alone. */
struct asked_of {
    struct measured_skips skips;
    uint32_t stopped;
    int64_t evaluated, feasible; /* nodes; feasible 0: not scored */
};

static void count_asked(struct coordinator *c, const struct framework *fw,
                        const struct asked_of *of)
{
    struct measured_profile *p = profile_of(c, fw);
    const struct profile *lists = &fw->profile;
    uint32_t pre = of->stopped < lists->pre_filter.count ? of->stopped : lists->pre_filter.count;
    ask_all(p->asked[ASKED_PreFilter], pre, of->skips.pre_filter, 1);
    ask_all(p->asked[ASKED_Filter], lists->filter.count, filter_skips(fw, of->skips.pre_filter),
            of->evaluated);
    if (of->feasible > 0) {
        ask_all(p->asked[ASKED_PreScore], lists->pre_score.count,
                pre_score_skips(fw, of->skips.score), 1);
        ask_all(p->asked[ASKED_Score], lists->score.count, of->skips.score, of->feasible);
    }
    if (p == &c->measure.spare)
        flush(p, lists);
}

static void count_decided(struct coordinator *c, const struct slot *s, const struct framework *fw)
{
    const struct decision *d = reduce_decision(s->reduce);
    bool passed = d->pre_filter.code == CODE_success;
    bool scored = d->feasible > 1 && !d->used_nominated;
    if (d->nodes > 0)
        count_asked(c, fw,
                    &(struct asked_of){.skips = {d->pre_filter.skipped, d->score_skipped},
                                       .stopped = passed ? 64 : d->pre_filter.stopped_at + 1,
                                       .evaluated = passed ? d->evaluated : 0,
                                       .feasible = scored ? d->feasible : 0});
}

void measure_asked_alike(struct coordinator *c, const struct slot *s, int64_t feasible,
                         const struct measured_skips *skips)
{
    const struct framework *fw = framework_of(c, s->flight);
    if (fw != NULL)
        count_asked(c, fw,
                    &(struct asked_of){.skips = *skips,
                                       .stopped = 64,
                                       .evaluated = cache_nodes(c->cache),
                                       .feasible = feasible > 1 ? feasible : 0});
}

/* ---- a decision ---- */

static struct moment clock_of(const struct coordinator *c)
{
    return c->options.clock != NULL ? c->options.clock() : (struct moment){0};
}

void measure_begin(struct coordinator *c, struct slot *s, struct moment now)
{
    s->flight->began = now;
    s->steps = (struct measured_steps){.pre_filter = -clock_of(c).ns};
}

void measure_prepared(struct coordinator *c, struct slot *s)
{
    s->steps.pre_filter += clock_of(c).ns;
}

static bool makes_sense(const struct timed_parts *t)
{
    return t->pre_filter_ns >= 0 && t->pre_filter_ns <= PART_MOST_NS && t->filter_ns >= 0 &&
           t->filter_ns <= PART_MOST_NS && t->pre_score_ns >= 0 &&
           t->pre_score_ns <= PART_MOST_NS && t->score_ns > 0 && t->score_ns <= PART_MOST_NS;
}

/* Weighed by their time, so that sums over many decisions are right, whichever were timed. */
static void learn(struct measured_parts *p, const struct timed_parts *t)
{
    if (!makes_sense(t))
        return; /* a peer may say anything */
    p->learnt.pre_filter += (double)t->pre_filter_ns;
    p->learnt.filter += (double)t->filter_ns;
    p->learnt.pre_score += (double)t->pre_score_ns;
    p->learnt.score += (double)t->score_ns;
    double all = p->learnt.pre_filter + p->learnt.filter + p->learnt.pre_score + p->learnt.score;
    p->pre_filter = p->learnt.pre_filter / all;
    p->pre_score = p->learnt.pre_score / all;
    p->score = p->learnt.score / all;
    double keep = all > PARTS_LEARNT_NS ? 0.5 : 1;
    p->learnt.pre_filter *= keep;
    p->learnt.filter *= keep;
    p->learnt.pre_score *= keep;
    p->learnt.score *= keep;
}

void measure_run_answer(struct coordinator *c, const struct map_run_result *result)
{
    if (result->timed.count > 0)
        learn(&c->measure.parts, &result->timed.at[0]);
}

void measure_picks_answer(struct coordinator *c, const struct map_picks_result *result)
{
    if (result->timed.count > 0)
        learn(&c->measure.parts, &result->timed.at[0]);
}

/* What filters and scores took in one pass, told apart by what late ones have shown. */
static struct measured_steps told_apart(const struct coordinator *c, struct measured_steps s,
                                        bool scored)
{
    const struct measured_parts *p = &c->measure.parts;
    double all = (double)s.filter;
    if (s.score > 0)
        return s;
    s.pre_filter += (int64_t)(all * p->pre_filter);
    s.pre_score = scored ? (int64_t)(all * p->pre_score) : 0;
    s.score = scored ? (int64_t)(all * p->score) : 0;
    s.filter -= (int64_t)(all * p->pre_filter) + s.pre_score + s.score;
    return s;
}

void measure_answer(struct coordinator *c, struct slot *s, const struct map_result *result)
{
    if (result->timed.count > 0)
        learn(&c->measure.parts, &result->timed.at[0]);
    const struct map_request *asked = reduce_request(s->reduce);
    bool victims = asked->step == MAP_STEP_victims;
    int64_t *filter = victims ? &s->steps.post_filter : &s->steps.filter;
    if (result->cycle != asked->cycle || result->filter_ns < 0 || result->score_ns < 0)
        return;
    /* Workers work side by side; rounds follow each other, and a later one is shorter. */
    *filter = result->filter_ns > *filter ? result->filter_ns : *filter;
    s->steps.score = result->score_ns > s->steps.score ? result->score_ns : s->steps.score;
}

/* Upstream's dry run of DefaultPreemption, counted whenever the plugin is called. */
static void count_post_filter(struct coordinator *c, const struct slot *s,
                              const struct framework *fw)
{
    const struct decision *d = reduce_decision(s->reduce);
    if (d->kind != DECISION_unschedulable || d->nodes == 0 || fw->profile.post_filter.count == 0)
        return;
    enum code code = d->preemption.failed                            ? CODE_error
                     : d->preemption.node.len + d->nominated.len > 0 ? CODE_success
                                                                     : CODE_unschedulable;
    if (gang_rules_hold(fw, &s->flight->pod))
        return; /* its group's turn comes */
    observe_point(c, fw, POINT_PostFilter, code, s->steps.post_filter);
    if (!fw->preempts)
        return;
    metric_add(METRIC_scheduler_preemption_attempts_total, 1);
    const struct str *values = METRIC_VALUES(STR_LITERAL("DefaultPreemption"),
                                             STR_LITERAL("PostFilter"), str_of(code_name(code)));
    series_observe(metric_series(METRIC_scheduler_plugin_execution_duration_seconds, values),
                   s->steps.post_filter);
    series_observe(metric_series(METRIC_scheduler_preemption_evaluation_duration_seconds,
                                 METRIC_VALUES(STR_LITERAL("pod"), str_of(code_name(code)))),
                   s->steps.post_filter);
}

/* Where plugins on the bus are asked it is counted when they have answered. */
static void count_placed(struct coordinator *c, const struct framework *fw)
{
    if (!bus_plugins_reserve(&fw->profile))
        observe_point(c, fw, POINT_Reserve, CODE_success, 0);
    if (fw->permit.count == 0 && !bus_plugins_permit(&fw->profile))
        observe_point(c, fw, POINT_Permit, CODE_success, 0);
}

static void count_points(struct coordinator *c, const struct slot *s, const struct framework *fw)
{
    const struct decision *d = reduce_decision(s->reduce);
    /* A single feasible node, and a nominated one that fits, are not scored. */
    bool scored = d->feasible > 1 && !d->used_nominated;
    if (d->nodes == 0)
        return;
    const struct measured_steps steps = told_apart(c, s->steps, scored);
    observe_point(c, fw, POINT_PreFilter, d->pre_filter.code, steps.pre_filter);
    if (d->pre_filter.code == CODE_success)
        observe_point(c, fw, POINT_Filter,
                      d->kind == DECISION_error && d->feasible == 0 ? CODE_error : CODE_success,
                      steps.filter);
    if (scored) {
        enum code code = d->kind == DECISION_error ? CODE_error : CODE_success;
        observe_point(c, fw, POINT_PreScore, CODE_success, steps.pre_score);
        observe_point(c, fw, POINT_Score, code, steps.score);
    }
    count_post_filter(c, s, fw);
    if (d->kind == DECISION_node)
        count_placed(c, fw);
}

/* ---- the trace of an attempt that has one ---- */

static int64_t wall_of(const struct coordinator *c, struct moment at)
{
    return c->options.wall_us_at_zero + at.ns / 1000;
}

void measure_traced_answer(const struct coordinator *c, const struct slot *s, uint32_t shard,
                           const struct map_result *result)
{
    const struct flight *f = s->flight;
    int64_t took_us = (result->filter_ns + result->score_ns) / 1000;
    if (f->trace == NULL || result->filter_ns < 0 || result->filter_ns > PART_MOST_NS ||
        result->score_ns < 0 || result->score_ns > PART_MOST_NS)
        return;
    int64_t asked_us = wall_of(c, deciding_began(c));
    int64_t end_us = coordinator_wall_us(c) - c->measure.back_us;
    int64_t begin_us = end_us - took_us > asked_us ? end_us - took_us : asked_us;
    attempt_trace_worker(f->trace, &(struct worker_part){.shard = shard,
                                                         .evaluated = result->evaluated,
                                                         .feasible = result->feasible,
                                                         .begin_us = begin_us,
                                                         .end_us = end_us});
}

/* The last answer came now; what is done here since then is the reduction. */
static void trace_decision(const struct coordinator *c, const struct slot *s, struct moment now)
{
    const struct flight *f = s->flight;
    if (f->trace == NULL)
        return;
    int64_t began_us = wall_of(c, f->began), now_us = wall_of(c, now);
    int64_t asked_us = wall_of(c, deciding_began(c));
    struct moment end = clock_of(c);
    attempt_trace_step(f->trace, "Wait for turn", attempt_trace_phase_us(f->trace), began_us);
    attempt_trace_step(f->trace, "PreFilter", began_us, began_us + s->steps.pre_filter / 1000);
    attempt_trace_step(f->trace, "Map", asked_us > began_us ? asked_us : began_us, now_us);
    attempt_trace_step(f->trace, "Reduce", now_us, end.ns > 0 ? wall_of(c, end) : now_us);
    if (s->steps.post_filter > 0)
        attempt_trace_step(f->trace, "PostFilter", now_us - s->steps.post_filter / 1000, now_us);
}

static double ms_of(int64_t ns)
{
    return (double)ns / 1e6;
}

/* In upstream's words, with what is known beside it. What is neither of the steps was spent on the
 * way to workers and on others' decisions. */
static void tell_if_slow(const struct coordinator *c, const struct slot *s, struct moment now)
{
    const struct decision *d = reduce_decision(s->reduce);
    const struct pod *pod = &s->flight->pod;
    int64_t took = moment_since(now, s->flight->began).ns;
    if (took < span_of_ms(SLOW_MS).ns)
        return;
    bool scored = d->feasible > 1;
    const struct measured_steps t = told_apart(c, s->steps, scored);
    const struct slow_decision slow = {.number = s->flight->cycle & INT32_MAX,
                                       .namespace_name = pod->namespace_name,
                                       .name = pod->name,
                                       .began_us = wall_of(c, s->flight->began),
                                       .took_ns = took,
                                       .prioritizing_ns = t.pre_score + t.score,
                                       .scored = scored};
    struct buffer text = {0};
    slow_print(&slow, &text);
    log_info("%s|pod=%.*s/%.*s took_ms=%.1f prefilter_ms=%.1f filter_ms=%.1f "
             "prescore_ms=%.1f score_ms=%.1f postfilter_ms=%.1f nodes=%" PRId64,
             text.at, STR_ARG(pod->namespace_name), STR_ARG(pod->name), ms_of(took),
             ms_of(t.pre_filter), ms_of(t.filter), ms_of(t.pre_score), ms_of(t.score),
             ms_of(t.post_filter), d->nodes);
    buffer_free(&text);
}

void measure_decided(struct coordinator *c, const struct slot *s, struct moment now)
{
    const struct framework *fw = framework_of(c, s->flight);
    s->flight->hops.evaluating = (s->steps.filter + s->steps.score) / 1000;
    metric_observe(METRIC_scheduler_scheduling_algorithm_duration_seconds,
                   moment_since(now, s->flight->began).ns);
    tell_if_slow(c, s, now);
    trace_decision(c, s, now);
    if (fw == NULL)
        return;
    count_points(c, s, fw);
    count_decided(c, s, fw);
}

void measure_begin_alike(struct slot *s, struct moment now)
{
    s->flight->began = now;
    s->steps = (struct measured_steps){0};
}

void measure_placed_alike(struct coordinator *c, const struct slot *s, int64_t feasible,
                          struct moment now)
{
    const struct framework *fw = framework_of(c, s->flight);
    trace_decision(c, s, now);
    s->flight->hops.evaluating = (s->steps.filter + s->steps.score) / 1000;
    metric_observe(METRIC_scheduler_scheduling_algorithm_duration_seconds,
                   moment_since(now, s->flight->began).ns);
    if (fw == NULL)
        return;
    const struct measured_steps steps = told_apart(c, s->steps, feasible > 1);
    observe_point(c, fw, POINT_PreFilter, CODE_success, steps.pre_filter);
    observe_point(c, fw, POINT_Filter, CODE_success, steps.filter);
    if (feasible > 1) {
        observe_point(c, fw, POINT_PreScore, CODE_success, steps.pre_score);
        observe_point(c, fw, POINT_Score, CODE_success, steps.score);
    }
    count_placed(c, fw);
}

/* ---- hops ---- */

void measure_heard(struct coordinator *c, int64_t under_way_us)
{
    c->measure.back_us = under_way_us;
}

static int64_t us_between(struct moment from, struct moment to)
{
    int64_t ns = moment_since(to, from).ns;
    return ns > 0 ? ns / 1000 : 0;
}

/* An attempt that came again while its pod was here has waited for longer than it is old. */
void measure_hops(const struct coordinator *c, struct flight *f, struct moment now)
{
    int64_t asked_us = us_between(deciding_began(c), now);
    f->hops.back = c->measure.back_us < asked_us ? c->measure.back_us : asked_us;
    f->hops.line = us_between(f->taken, deciding_began(c));
    f->hops.worker = asked_us - f->hops.back;
}

/* ---- ends ---- */

static struct series *sli_of(struct coordinator *c, int64_t attempts)
{
    char text[8];
    int64_t place = attempts < 1 ? 1 : attempts > 15 ? 15 : attempts;
    struct series **s = &c->measure.attempts[place];
    snprintf(text, sizeof(text), "%d%s", (int)place, place == 15 ? "+" : "");
    if (*s == NULL)
        *s = metric_series(METRIC_scheduler_pod_scheduling_sli_duration_seconds,
                           METRIC_VALUES(str_of(text)));
    return *s;
}

void measure_bound(struct coordinator *c, const struct flight *f)
{
    if (f->began.ns == 0)
        return; /* bound by somebody else while it waited */
    count_result(c, f, RESULT_scheduled);
    metric_observe(METRIC_scheduler_pod_scheduling_attempts, f->attempts);
    int64_t wall_us = c->options.wall_us_at_zero + c->last_call.ns / 1000;
    int64_t waited_us = f->first_us > 0 && f->first_us < wall_us ? wall_us - f->first_us : 0;
    series_observe(sli_of(c, f->attempts), waited_us * 1000);
}

void measure_failed(struct coordinator *c, const struct flight *f, bool unschedulable)
{
    count_result(c, f, unschedulable ? RESULT_unschedulable : RESULT_error);
    bool reserved = f->state == FLIGHT_binding || f->state == FLIGHT_permitting;
    if (reserved && framework_of(c, f) != NULL)
        observe_point(c, framework_of(c, f), POINT_Unreserve, CODE_success, 0);
}

void measure_plugin(const struct coordinator *c, const struct flight *f,
                    const struct bus_plugin *plugin, const char *point, const char *status)
{
    struct span left = moment_since(f->deadline, c->last_call);
    const struct str *values = METRIC_VALUES(plugin->name, str_of(point), str_of(status));
    series_observe(metric_series(METRIC_scheduler_plugin_execution_duration_seconds, values),
                   span_of_ms(plugin->deadline_ms).ns - left.ns);
}

void measure_normalised(const struct bus_plugin *plugin)
{
    const struct str *values =
        METRIC_VALUES(plugin->name, STR_LITERAL("ScoreExtensionNormalize"), STR_LITERAL("Success"));
    series_observe(metric_series(METRIC_scheduler_plugin_execution_duration_seconds, values), 0);
}

void measure_extension_point(const struct coordinator *c, const struct flight *f, const char *point,
                             struct moment began, const char *status)
{
    const struct str *values = METRIC_VALUES(str_of(point), f->pod.scheduler_name, str_of(status));
    series_observe(
        metric_series(METRIC_scheduler_framework_extension_point_duration_seconds, values),
        moment_since(c->last_call, began).ns);
}

void measure_waited(const struct coordinator *c, struct moment began, const char *result)
{
    series_observe(
        metric_series(METRIC_scheduler_permit_wait_duration_seconds, METRIC_VALUES(str_of(result))),
        moment_since(c->last_call, began).ns);
}

void measure_victims(struct coordinator *c, struct flight *f, const struct preemption *p,
                     bool asked)
{
    const struct framework *fw = framework_of(c, f);
    if (fw != NULL)
        measure_pod_victims(c, fw, f, p);
    if (asked)
        f->began = c->last_call; /* of the eviction, from here on */
}

void measure_evicted(struct coordinator *c, const struct flight *f, bool done)
{
    const struct str result = str_of(done ? "success" : "error");
    int64_t took = moment_since(c->last_call, f->began).ns;
    metric_add_to(METRIC_scheduler_preemption_goroutines_execution_total, result.at, 1);
    series_observe(metric_series(METRIC_scheduler_preemption_goroutines_duration_seconds,
                                 METRIC_VALUES(result)),
                   took);
    series_observe(
        metric_series(METRIC_scheduler_preemption_execution_duration_seconds,
                      METRIC_VALUES(measure_preemptor(c, framework_of(c, f), f), result)),
        took);
}

void measure_took(struct coordinator *c, int64_t us)
{
    uint64_t took = us > 0 ? (uint64_t)us : 0;
    c->count.decision_us += took;
    if (took > c->count.decision_us_max)
        c->count.decision_us_max = took;
    c->count.cycles++;
}

/* ---- gauges and checks ---- */

static void check_view(const struct coordinator *c)
{
    char text[160] = "";
    int64_t limit_ms = span_ms(c->options.stale_after);
    int64_t age_ms = readiness_view_age_ms(c, c->last_call);
    if (age_ms < 0)
        snprintf(text, sizeof(text), "the watcher has not been heard");
    else if (age_ms > limit_ms)
        snprintf(text, sizeof(text), "the view is %lld ms old, %lld are the most",
                 (long long)age_ms, (long long)limit_ms);
    metric_check("view", text);
    if (age_ms >= 0)
        metric_set(METRIC_berth_view_age_seconds, age_ms * 1000000);
}

void coordinator_observe(void *state)
{
    struct coordinator *c = state;
    bool synced = readiness_view_is_synced(c);
    int64_t binding =
        (int64_t)(flights_count(&c->flights) - flights_in(&c->flights, FLIGHT_waiting));
    metric_check("sched-handler-sync", synced ? "" : "handlers are not fully synchronized");
    metric_check("workers", cache_workers(c->cache) > 0 ? "" : "no worker has joined");
    check_view(c);
    following_observe(c);
    measure_flush(c);
    metric_set_to(METRIC_scheduler_cache_size, "nodes", cache_nodes(c->cache));
    metric_set_to(METRIC_scheduler_cache_size, "pods", cache_pods(c->cache));
    metric_set_to(METRIC_scheduler_cache_size, "assumed_pods", cache_assumed(c->cache));
    metric_set_to(METRIC_scheduler_goroutines, "binding", binding);
    metric_set(METRIC_berth_workers, cache_workers(c->cache));
    metric_set(METRIC_berth_deciding, coordinator_waits_for(c, c->last_call)[0] == 0);
    metric_series(METRIC_berth_batches_total, NULL)->value = (int64_t)c->count.batches;
    metric_series(METRIC_berth_batch_pods_total, NULL)->value = (int64_t)c->count.batch_pods;
    metric_series(METRIC_berth_decisions_total, NULL)->value = (int64_t)c->count.cycles;
    metric_series(METRIC_berth_decisions_restarted_total, NULL)->value =
        (int64_t)c->count.restarted;
}
