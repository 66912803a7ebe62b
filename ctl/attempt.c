/* attempt: decide, report, move on. The one idea: the decision is the scheduler's own; what is done
 * here is only what others would do because of it.
 *
 * What must stay true: a report is written before the world moves on, since it borrows from the
 * decision; a pod that is tried again is reported inside the report that led to it. */
#include "ctl/attempt.h"

#include "ctl/answered.h"
#include "proto/base/memory.h"
#include "proto/kube/objects/requests.h"

/* ---- what became of it ---- */

static struct str full_name(const struct attempts *a, struct str space, struct str name)
{
    return arena_print(a->arena, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
}

/* The one of these that is preferred; empty: none is. */
static struct str preferred_of(const struct attempts *a, const struct report *r, struct strs best)
{
    struct str none = {NULL, 0};
    struct str named = a->prefer != NULL ? a->prefer(a->prefer_context, r->record) : none;
    return named.len > 0 && strs_hold(best, named) ? named : none;
}

static void scheduled(const struct attempts *a, struct report *r)
{
    const struct strs best = r->decision->best_nodes;
    r->result = STR_LITERAL("scheduled");
    r->node = a->pick_last ? best.at[best.count - 1] : best.at[0];
    struct str preferred = preferred_of(a, r, best);
    if (preferred.len > 0)
        r->node = preferred;
}

static void take_victims(struct report *r, struct str node, const struct victim *at, uint32_t count)
{
    r->nominated_node = node;
    r->victims = at;
    r->victim_count = count;
}

/* Those of this node in place of the chosen one's, if room could be made there. */
static void take_candidate(struct report *r, struct str node)
{
    const struct preemption *p = &r->decision->preemption;
    for (uint32_t i = 0; i < p->candidates.count && node.len > 0; i++) {
        const struct candidate *c = &p->candidates.at[i];
        if (str_equal(c->node, node))
            take_victims(r, c->node, c->victims.at, c->victims.count);
    }
}

/* How many candidates upstream would have stopped at. */
static int64_t candidate_limit(const struct attempts *a, const struct report *r)
{
    int64_t nodes = r->decision->preemption.potential.count;
    for (uint32_t i = 0; i < a->config->profiles.count; i++) {
        const struct plugin_args *args = &a->config->details[i].args;
        if (!str_equal(a->config->profiles.at[i].scheduler_name, r->profile))
            continue;
        int64_t limit = nodes * args->preemption_percentage / 100;
        limit = limit < args->preemption_absolute ? args->preemption_absolute : limit;
        return limit > nodes ? nodes : limit;
    }
    return nodes;
}

static void unschedulable(const struct attempts *a, struct report *r)
{
    const struct decision *d = r->decision;
    r->result = STR_LITERAL("unschedulable");
    r->message = d->message;
    r->reason = STR_LITERAL("Unschedulable");
    r->candidate_limit = candidate_limit(a, r);
    r->nominated_node = d->nominated; /* a plugin on the bus wants it there; nobody goes for it */
    if (d->preemption.node.len == 0)
        return;
    r->result = STR_LITERAL("preempting");
    take_victims(r, d->preemption.best_nodes.at[0], d->preemption.victims.at,
                 d->preemption.victims.count);
    take_candidate(r, preferred_of(a, r, d->preemption.best_nodes));
}

static void failed(struct report *r)
{
    r->result = STR_LITERAL("error");
    r->error = r->message = r->decision->message;
    r->reason = STR_LITERAL("SchedulerError");
}

/* ---- following another scheduler ---- */

/* What it did with the pod, by the map of that name; false when it is not said. */
static bool other_did(const struct attempts *a, const char *map, struct report *r)
{
    char *key = str_copy(r->pod);
    const struct kube_json *choice = kube_json_get(kube_json_get(a->document, map), key);
    memory_free(key);
    if (choice == NULL)
        return false;
    r->has_choice = true;
    r->choice = kube_json_text(choice);
    return true;
}

static bool passed(const struct report *r, struct str node)
{
    for (uint32_t i = 0; i < r->verdict_count; i++)
        if (str_equal(r->verdicts[i].node, node))
            return r->verdicts[i].code == VERDICT_success;
    return false;
}

static void follow_nomination(const struct attempts *a, struct report *r)
{
    const struct preemption *p = &r->decision->preemption;
    if (!other_did(a, "nominations", r))
        return;
    r->choice_ok = strs_hold(p->best_nodes, r->choice);
    take_candidate(r, r->choice);
}

/* Judges what another scheduler did, and does the same if that is possible at all. */
static void follow(const struct attempts *a, struct report *r)
{
    const struct decision *d = r->decision;
    if (str_is(r->result, "preempting")) {
        follow_nomination(a, r);
        return;
    }
    if (d->kind == DECISION_error || !other_did(a, "choices", r))
        return;
    if (d->kind == DECISION_unschedulable) {
        r->choice_ok = r->choice.len == 0;
        return;
    }
    r->choice_ok = strs_hold(d->best_nodes, r->choice);
    if (r->choice.len == 0 || passed(r, r->choice))
        r->node = r->choice;
}

/* ---- moving on ---- */

/* Pods of lower priority lose their claim on the node. */
static void clear_lower(const struct attempts *a, const struct report *r)
{
    uint32_t count;
    const struct pod *lower =
        world_nominated_below(a->world, r->nominated_node, r->priority, &count, a->arena);
    for (uint32_t i = 0; i < count; i++)
        world_nominate(a->world, &lower[i], (struct str){NULL, 0});
}

static void preempt(const struct attempts *a, const struct report *r)
{
    clear_lower(a, r);
    if (!r->record->resize_deferred)
        world_nominate(a->world, r->record, r->nominated_node);
    for (uint32_t i = 0; i < r->victim_count; i++) {
        const struct victim *v = &r->victims[i];
        if (a->after == AFTER_evict)
            world_pod_gone(a->world, v->namespace_name, v->name);
        else
            world_terminate(a->world, v->namespace_name, v->name, r->record);
    }
}

static void place(const struct attempts *a, const struct report *r)
{
    if (a->no_bind)
        world_assume(a->world, r->record, r->node);
    else
        world_bind(a->world, r->record, r->node, !a->no_labels);
}

static bool is_placed(const struct report *r)
{
    return str_is(r->result, "scheduled") && r->node.len > 0;
}

/* True when the pod is to be tried again. */
static bool move_on(const struct attempts *a, const struct report *r)
{
    if (is_placed(r))
        place(a, r);
    if (str_is(r->result, "unschedulable") && r->decision->clear_nominated &&
        r->record->nominated_node.len > 0 && !r->record->resize_deferred)
        world_nominate(a->world, r->record, (struct str){NULL, 0});
    if (r->decision->deallocation.claim.len > 0)
        world_deallocate(a->world, r->record, &r->decision->deallocation);
    if (r->nominated_node.len == 0 || a->after == AFTER_none)
        return false;
    if (!str_is(r->result, "preempting")) { /* it would be so again and again */
        world_nominate(a->world, r->record, r->nominated_node);
        return false;
    }
    preempt(a, r);
    return a->after == AFTER_evict;
}

/* ---- the whole ---- */

static bool is_held_by_permit(const struct report *r)
{
    return strs_hold(r->framework->profile.permit, STR_LITERAL("DeferredPodScheduling"));
}

/* What can still go wrong once there is a node. What is given to its claims is noted in r. */
static bool can_be_placed(const struct attempts *a, const struct pod *pod, struct held *held,
                          struct report *r)
{
    if (world_is_assumed(a->world, pod) || (pod->resize_deferred && pod->node_name.len > 0)) {
        r->error = arena_print(a->arena, "pod %.*s(%.*s) is in the cache, so can't be assumed",
                               STR_ARG(pod->uid), STR_ARG(r->pod));
        return false;
    }
    if (pod->resize_deferred && is_held_by_permit(r)) {
        r->error = STR_LITERAL("Permit: UnschedulableAndUnresolvable pod resize fits, waiting for "
                               "Kubelet actuation");
        return false;
    }
    if (!world_hold(a->world, pod, r->node, held, &r->error))
        return false;
    struct device_reservation given = held->devices;
    r->record = world_held_pod(a->world, pod, held, a->arena);
    if (a->hold == NULL && !a->no_bind && !world_bind_or_give_back(a->world, pod, held, &r->error))
        return false;
    r->given = given;
    return true;
}

/* A plugin that rejects it is no error. */
static void end_held(struct report *r, const struct held *held)
{
    r->result = STR_LITERAL("error");
    if (held->rejected_by.len == 0)
        return;
    r->result = STR_LITERAL("unschedulable");
    r->reason = STR_LITERAL("Unschedulable");
    r->message = r->error;
    r->rejected_by = held->rejected_by;
    r->error = (struct str){0};
    r->node = (struct str){0};
}

static void decide(const struct attempts *a, const struct pod *pod, struct report *r)
{
    uint32_t rules = 0;
    const struct verdict *alone =
        world_asks(a->world, pod) ? world_by_rules(a->world, pod, &rules, a->arena) : NULL;
    r->record = pod;
    r->decided = true;
    if (!a->omit_nodes)
        r->nodes = world_nodes(a->world, a->arena);
    r->decision = world_decide(a->world, pod);
    if (a->cross_check != NULL) { /* which decides other pods as well */
        cross_check(a->cross_check, a->world, pod, r->decision);
        r->decision = world_decide(a->world, pod);
    }
    world_walked(a->world, r->decision);
    r->verdicts = world_verdicts(a->world, &r->verdict_count);
    if (alone != NULL) {
        r->verdicts = answered_verdicts(world_answers(a->world), alone, &rules, r, a->arena);
        r->verdict_count = rules;
    }
    if (r->decision->kind == DECISION_node)
        scheduled(a, r);
    else if (r->decision->kind == DECISION_unschedulable)
        unschedulable(a, r);
    else
        failed(r);
    follow(a, r);
    struct held own = {.arena = a->arena}, *held = a->hold != NULL ? a->hold : &own;
    if (!is_placed(r) || can_be_placed(a, pod, held, r))
        return;
    end_held(r, held);
    /* As upstream, who is assumed to be on a node is nominated to none, and it stays so. */
    if (a->hold == NULL && pod->nominated_node.len > 0 && !pod->resize_deferred &&
        !world_is_assumed(a->world, pod))
        world_nominate(a->world, pod, (struct str){NULL, 0});
}

/* What is reported of a pod that is not even decided; true when it is to be decided. */
static bool look_at(const struct attempts *a, const struct pod *pod, struct report *r)
{
    r->pod = full_name(a, pod->namespace_name, pod->name);
    r->framework = world_framework(a->world, pod);
    r->result = STR_LITERAL("ignored");
    r->omit_raw = a->omit_raw;
    r->omit_others = a->omit_others;
    r->after_none = a->after == AFTER_none;
    if ((pod->node_name.len > 0 && !pod->resize_deferred) || r->framework == NULL) {
        r->node = pod->node_name;
        return false;
    }
    r->profile = pod->scheduler_name;
    r->priority = pod->priority;
    if (pod->gates.count > 0 &&
        strs_hold(r->framework->profile.pre_enqueue, STR_LITERAL("SchedulingGates")))
        r->gates = pod->gates;
    else
        r->kept_by = world_kept_by(a->world, pod, &r->kept_why, a->arena);
    if (r->gates.count == 0 && r->kept_by.len == 0)
        return true;
    r->result = STR_LITERAL("gated");
    return false;
}

bool attempt_decide(const struct attempts *a, const struct pod *pod, struct report *r)
{
    bool decides = look_at(a, pod, r);
    if (decides)
        decide(a, pod, r);
    return decides;
}

void attempt(const struct attempts *a, const struct pod *pod, struct report *r)
{
    struct pod tried = requests_as_tried(pod);
    int depth = 0;
    for (bool again = true; again;) {
        (void)attempt_decide(a, &tried, r);
        report_open(&a->output, r, depth++ > 0);
        again = r->decided && move_on(a, r) &&
                world_pod(a->world, pod->namespace_name, pod->name, &tried, a->arena);
        if (again)
            *r = (struct report){0};
    }
    while (depth-- > 0)
        report_close(&a->output);
}

bool attempt_once_more(const struct attempts *a, const struct pod *pod, struct report *r)
{
    struct pod tried = requests_as_tried(pod);
    if (!attempt_decide(a, &tried, r) || !is_placed(r))
        return false;
    report_open(&a->output, r, false);
    (void)move_on(a, r);
    report_close(&a->output);
    return true;
}
