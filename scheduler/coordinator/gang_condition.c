/* gang_condition: upstream tries each pod that names a group of the API in the tree as a group,
 * even when it is by itself: with policy basic, or late. So its group's condition says how that
 * went. The one idea: a pod that was placed makes its group scheduled for good, and nothing takes
 * that back.
 *
 * What must stay true: a group of a thousand pods is told once, and not with every pod. */
#include "scheduler/coordinator/gang_condition.h"

#include "proto/metrics.h"
#include "scheduler/coordinator/gang_status.h"
#include "scheduler/coordinator/gang_words.h"
#include "scheduler/coordinator/measure_groups.h"
#include "scheduler/table/gang_names.h"

#define IN_TREE       "scheduling.k8s.io"
#define UNSCHEDULABLE "pod group is unschedulable"

/* The profile that the pod's group counts for; NULL: none. */
static const struct framework *framework_of(const struct coordinator *c, const struct flight *f)
{
    if (f->pod.gang.len == 0 || !str_is(f->pod.gang_api, IN_TREE))
        return NULL;
    const struct framework *fw = frameworks_find(&c->frameworks, f->pod.scheduler_name);
    return fw != NULL && fw->profile.gang_built_in ? fw : NULL;
}

static struct str words_for(struct coordinator *c, const struct flight *f, const struct gang *group,
                            const struct decision *d, struct arena *a)
{
    const struct gang_words newer = gang_words_of_pod(c, f, group, d, a);
    if (d->kind == DECISION_error)
        return newer.hold && !d->group_refused ? gang_words_error(d->message, a) : d->message;
    if (newer.hold)
        return newer.group;
    return d->preemption.node.len > 0
               ? STR_LITERAL(UNSCHEDULABLE ", pod group is waiting for preemption to complete")
               : STR_LITERAL(UNSCHEDULABLE);
}

/* d: why it has no node; NULL: it has one. */
static void tell(struct coordinator *c, const struct flight *f, enum condition_reason reason,
                 const struct decision *d)
{
    bool scheduled = reason == REASON_scheduled;
    const struct gang_news news = {f->pod.namespace_name, f->pod.gang, scheduled,
                                   f->pod.scheduler_name};
    const struct gang *group = gang_statuses_condition(c->gang_statuses, c->last_call, &news);
    if (group == NULL)
        return;
    struct arena memory = {0};
    struct str message = {NULL, 0};
    if (d != NULL)
        message = words_for(c, f, group, d, &memory);
    struct message m = {.type = MSG_group_failed,
                        .group_failed = {.group = *group,
                                         .scheduled = scheduled,
                                         .reason = reason,
                                         .message = message,
                                         .scheduler_name = f->pod.scheduler_name}};
    outbox_put(c->out, c->binder, &m);
    arena_free(&memory);
}

static void measure(const struct coordinator *c, const struct flight *f, enum group_result result)
{
    const struct gang group = {.api = f->pod.gang_api};
    gang_condition_measure(c, &group, f->pod.scheduler_name, f->began, result);
}

void gang_condition_placed(struct coordinator *c, const struct flight *f)
{
    if (framework_of(c, f) == NULL)
        return;
    tell(c, f, REASON_scheduled, NULL);
    measure(c, f, GROUP_scheduled);
}

void gang_condition_failed(struct coordinator *c, const struct flight *f, const struct decision *d)
{
    bool waits = d->preemption.node.len > 0;
    if (framework_of(c, f) == NULL)
        return;
    if (d->kind == DECISION_error) {
        tell(c, f, REASON_scheduler_error, d);
        measure(c, f, GROUP_error);
        return;
    }
    tell(c, f, REASON_unschedulable, d);
    const struct framework *fw = framework_of(c, f);
    if (gang_rules_hold(fw, &f->pod))
        measure_group_room(fw, gang_words_room(c, &f->pod, waits ? d->preemption.victims.count : 0),
                           0);
    measure(c, f, waits ? GROUP_waits_for_victims : GROUP_unschedulable);
}

void gang_condition_measure(const struct coordinator *c, const struct gang *group,
                            struct str scheduler_name, struct moment began,
                            enum group_result result)
{
    static const char *const names[] = {"scheduled", "unschedulable", "waiting_on_preemption",
                                        "error"};
    const struct str *values = METRIC_VALUES(str_of(names[result]), scheduler_name);
    int64_t ns = moment_since(c->last_call, began).ns;
    if (!str_is(group->api, IN_TREE) && !str_is(group->api, GANG_API_TREE))
        return;
    series_add(metric_series(METRIC_scheduler_podgroup_schedule_attempts_total, values), 1);
    series_observe(
        metric_series(METRIC_scheduler_podgroup_scheduling_attempt_duration_seconds, values), ns);
    metric_observe(METRIC_scheduler_podgroup_scheduling_algorithm_duration_seconds, ns);
}
