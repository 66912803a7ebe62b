/* binder: puts lease, lanes, binds, preempts, releases, status, groups and events together: who is
 * told what, and what happens when leadership comes and goes. What must stay true: nothing is taken
 * unless we lead, everything that was taken is answered when we stop leading, and the scheduler
 * hears of every change before it hears anything that follows from it. */
#include "binder/binder.h"
#include "binder/binder_inside.h"
#include "binder/measure.h"
#include "binder/reason.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

#define TELL_MS       1000 /* leadership is repeated this often */
#define STOP_BINDS_MS 5000 /* how long a stop waits for answers to binds */
#define STOP_TAIL_MS  500  /* and then for status and events */
#define FAREWELL_MS   200  /* how long the scheduler has to read the last answers */

/* ---- what the parts ask of each other ---- */

static struct span fence(const void *state, struct instant at)
{
    const struct binder *b = state;
    return lease_left(b->lease, at);
}

static void on_bind_ended(void *owner, struct instant at, const struct bind *bind, bool bound)
{
    struct binder *b = owner;
    statuses_bind_ended(b->statuses, at, bind->uid, bound);
    if (bound)
        events_bound(b->events, at, bind);
}

static void on_bind_waiting(void *owner, struct instant at, const struct bind *bind)
{
    events_waiting(((struct binder *)owner)->events, at, bind);
}

static void on_status_clear(void *owner, struct instant at, struct str uid)
{
    binds_go(((struct binder *)owner)->binds, at, uid);
}

static void on_nomination_cleared(void *owner, struct instant at, struct str uid,
                                  const char *problem)
{
    (void)at;
    preempts_cleared(((struct binder *)owner)->preempts, uid, problem);
}

/* A pod that is being bound needs nothing: the Binding clears its nomination. */
static bool unnominate(void *owner, struct instant at, const struct pod *pod)
{
    struct binder *b = owner;
    return !binds_has(b->binds, pod->uid) && statuses_unnominate(b->statuses, at, pod);
}

/* Only a bind that still waits for its claims, as upstream. */
static bool unbind(void *owner, struct instant at, struct str uid, int64_t *version)
{
    struct binder *b = owner;
    return binds_prepares(b->binds, uid, version) &&
           binds_cancel(b->binds, at, uid, NULL, STR_LITERAL("preempted by DefaultPreemption"));
}

static void on_preempted(void *owner, struct instant at, const struct events_victim *victim)
{
    events_preempted(((struct binder *)owner)->events, at, victim);
}

static void warn_once(struct binder *b, const char *verb, const char *resource, struct str ns,
                      struct str text)
{
    struct buffer key = {0};
    buffer_print(&key, "%s %s", verb, resource);
    if (map_get(b->forbidden, buffer_str(&key)) == NULL) {
        map_set(b->forbidden, buffer_str(&key), b);
        log_warn("the API server forbids a write: a rule is missing|verb=%s resource=%s "
                 "namespace=%.*s answer=\"%.*s\"",
                 verb, resource, STR_ARG(ns), STR_ARG(text));
    }
    buffer_free(&key);
}

/* A namespace that is being deleted answers 403 too; no rule is missing then. */
static void on_forbidden(void *owner, const char *verb, const char *resource, struct str ns,
                         const struct kube_response *response)
{
    struct buffer text = {0};
    const size_t most = 400;
    reason_of(response, &text);
    if (strstr(text.at, "being terminated") == NULL) {
        text.len = text.len < most ? text.len : most;
        for (size_t i = 0; i < text.len; i++)
            if (text.at[i] == '"')
                text.at[i] = '\'';
        warn_once(owner, verb, resource, ns, buffer_str(&text));
    }
    buffer_free(&text);
}

/* ---- leadership ---- */

/* Whether anything may be decided, and so written: not before the former leader's writes ended. */
static bool leads(const struct binder *b)
{
    return b->stage == STAGE_running && lease_settled(b->lease);
}

static bool is_open(const struct binder *b)
{
    return binds_count(b->binds) > 0 || preempts_count(b->preempts) > 0 ||
           releases_count(b->releases) > 0;
}

/* Whether its end is no clean one, as it may come at any moment. */
static bool is_unanswered(const struct binder *b)
{
    return b->stage != STAGE_running && (b->unclean || is_open(b));
}

static void tell(struct binder *b, struct address to, struct outbox *out)
{
    struct arena a = {0};
    struct message m = {.type = MSG_leadership};
    m.leadership = (struct leadership){.leading = leads(b),
                                       .lead_term = lease_term(b->lease),
                                       .holder = lease_holder(b->lease),
                                       .unanswered = is_unanswered(b),
                                       .identity = str_of(b->options.lease.identity)};
    binds_list(b->binds, &m.leadership, &a);
    preempts_list(b->preempts, &m.leadership, &a);
    releases_list(b->releases, &m.leadership, &a);
    outbox_put(out, to, &m);
    arena_free(&a);
}

static void event_of_leader(struct binder *b, struct instant at, const char *what)
{
    struct buffer note = {0};
    if (!b->options.lease.elect)
        return;
    buffer_print(&note, "%s %s", b->options.lease.identity, what);
    struct events_lease lease = {.namespace_name = str_of(b->options.lease.namespace_name),
                                 .name = str_of(b->options.lease.name),
                                 .uid = lease_uid(b->lease),
                                 .resource_version = lease_version(b->lease)};
    events_leader(b->events, at, &lease, buffer_str(&note));
    buffer_free(&note);
}

/* Nothing may be written any more: answer what is owed and forget the rest. */
static void step_down(struct binder *b, struct instant at)
{
    b->cuts += lanes_fenced(b->lanes);
    lanes_cut(b->lanes, "lost leadership");
    binds_drop_all(b->binds, at, "lost leadership");
    preempts_drop(b->preempts, "lost leadership");
    releases_drop(b->releases, "lost leadership");
    statuses_clear(b->statuses, at);
    groups_clear(b->groups);
    events_clear(b->events);
}

static void follow_lease(struct binder *b, struct instant at, struct outbox *out)
{
    bool leading = leads(b);
    int64_t term = lease_term(b->lease);
    bool changed = leading != b->told_leading || (leading && term != b->told_term);
    bool unanswered = is_unanswered(b);
    bool due = changed || unanswered != b->told_unanswered || moment_reached(at.now, b->tell_at);
    if (due)
        binds_flush(b->binds, out); /* those are in flight no more; what follows comes behind */
    if (b->told_leading && !leading && b->stage == STAGE_running)
        step_down(b, at);
    if (leading && changed)
        event_of_leader(b, at, "became leader");
    b->told_leading = leading;
    b->told_term = term;
    b->told_unanswered = unanswered;
    if (due) {
        tell(b, (struct address){SCHEDULER, 0}, out);
        b->tell_at = moment_after(at.now, span_of_ms(TELL_MS));
    }
}

/* ---- messages ---- */

typedef void handler(struct binder *b, struct instant at, const struct delivery *in,
                     struct outbox *out);

static void on_peer_up(struct binder *b, struct instant at, const struct delivery *in,
                       struct outbox *out)
{
    (void)at;
    if (in->from.process != SCHEDULER)
        return;
    lease_hear_term(b->lease, in->message->peer_up.term);
    b->scheduler = in->from.peer;
    binds_flush(b->binds, out); /* those are in flight no more */
    tell(b, in->from, out);
}

static void on_peer_down(struct binder *b, struct instant at, const struct delivery *in,
                         struct outbox *out)
{
    (void)out;
    if (in->from.process != SCHEDULER || in->from.peer != b->scheduler)
        return;
    b->scheduler = 0;
    fitness_lost(&b->fitness, at.now);
}

static void on_readiness(struct binder *b, struct instant at, const struct delivery *in,
                         struct outbox *out)
{
    const struct readiness *said = &in->message->readiness;
    (void)out;
    if (in->from.peer == b->scheduler)
        fitness_hear(&b->fitness, at.now, said->ready, said->lacks);
}

static void refuse(struct binder *b, const struct bind *bind, const char *why)
{
    b->refused++;
    binds_refuse(b->binds, bind, 0, why);
}

static bool has_names(struct str uid, struct str namespace_name, struct str name)
{
    return uid.len > 0 && namespace_name.len > 0 && name.len > 0;
}

static bool names_its_claims(const struct bind *bind)
{
    for (uint32_t i = 0; i < bind->claims.count; i++) {
        const struct claim_binding *claim = &bind->claims.at[i];
        if (!has_names(claim->uid, claim->namespace_name, claim->name))
            return false;
    }
    return true;
}

/* NULL when it can be acted upon. */
static const char *wrong_with_devices(const struct bind *bind)
{
    for (uint32_t i = 0; i < bind->device_claims.count; i++)
        if (!bind->device_claims.at[i].unneeded && bind->device_claims.at[i].claim.len == 0)
            return "bind: device_claims must name their claims";
    for (uint32_t i = 0; i < bind->device_claims.count; i++)
        if (bind->device_claims.at[i].for_group &&
            (bind->group.len == 0 || bind->group_uid.len == 0))
            return "bind: device_claims for a group need group and group_uid";
    if (bind->extended.count > 1)
        return "bind: one claim can be made for extended resources, not several";
    if (bind->extended.count == 1 &&
        (bind->extended.at[0].requests.count == 0) != (bind->extended.at[0].uses.count == 0))
        return "bind: extended must have requests and uses, or neither";
    return NULL;
}

static void on_bind(struct binder *b, struct instant at, const struct delivery *in,
                    struct outbox *out)
{
    const struct bind *bind = &in->message->bind;
    const char *wrong = wrong_with_devices(bind);
    (void)out;
    decisions_add(&b->decisions, in);
    if (!has_names(bind->uid, bind->namespace_name, bind->name) || bind->node_name.len == 0)
        refuse(b, bind, "bind: uid, namespace_name, name and node_name must not be empty");
    else if (!names_its_claims(bind))
        refuse(b, bind, "bind: uid, namespace_name and name of claims must not be empty");
    else if (wrong != NULL)
        refuse(b, bind, wrong);
    else if (b->stage != STAGE_running)
        refuse(b, bind, "the binder is stopping");
    else if (!lease_settled(b->lease))
        refuse(b, bind, "lost leadership");
    else if (binds_has(b->binds, bind->uid))
        binds_add(b->binds, at, bind, false);
    else
        binds_add(b->binds, at, bind, statuses_bind(b->statuses, at, bind->uid));
}

static void on_pod_failed(struct binder *b, struct instant at, const struct delivery *in,
                          struct outbox *out)
{
    const struct pod_failed *failed = &in->message->pod_failed;
    const struct pod *pod = &failed->pod;
    (void)out;
    if (!leads(b) || pod->uid.len == 0 || pod->namespace_name.len == 0 || pod->name.len == 0) {
        b->refused++;
        return;
    }
    events_failed(b->events, at, failed);
    statuses_failed(b->statuses, at, failed, binds_has(b->binds, pod->uid));
}

/* A nomination that does not come to be written is no failure: the bind says the same. */
static void on_nominate(struct binder *b, struct instant at, const struct delivery *in,
                        struct outbox *out)
{
    const struct nominate *n = &in->message->nominate;
    const struct pod_failed news = {
        .pod = n->pod, .set_nominated = true, .nominated_node = n->node_name, .event_only = true};
    (void)out;
    if (!leads(b) || !has_names(n->pod.uid, n->pod.namespace_name, n->pod.name))
        b->refused++;
    else
        statuses_failed(b->statuses, at, &news, binds_has(b->binds, n->pod.uid));
}

static void on_bind_cancel(struct binder *b, struct instant at, const struct delivery *in,
                           struct outbox *out)
{
    const struct bind_cancel *cancel = &in->message->bind_cancel;
    (void)out;
    binds_cancel(b->binds, at, cancel->uid, &cancel->node_name,
                 cancel->reason.len > 0 ? cancel->reason : STR_LITERAL("the bind was cancelled"));
}

/* NULL when it can be acted upon. */
static const char *wrong_with(const struct preempt *p)
{
    if (!has_names(p->pod.uid, p->pod.namespace_name, p->pod.name) ||
        p->node_name.len + p->group_uid.len == 0)
        return "preempt: the pod's uid, namespace_name and name and node_name must not be empty";
    for (uint32_t i = 0; i < p->victims.count; i++) {
        const struct victim *v = &p->victims.at[i];
        if (!has_names(v->uid, v->namespace_name, v->name))
            return "preempt: uid, namespace_name and name of victims must not be empty";
        if (str_equal(v->uid, p->pod.uid))
            return "preempt: a pod cannot be its own victim";
    }
    for (uint32_t i = 0; i < p->lower.count; i++)
        if (!has_names(p->lower.at[i].uid, p->lower.at[i].namespace_name, p->lower.at[i].name))
            return "preempt: uid, namespace_name and name of lower pods must not be empty";
    return NULL;
}

static void on_preempt(struct binder *b, struct instant at, const struct delivery *in,
                       struct outbox *out)
{
    const struct preempt *preempt = &in->message->preempt;
    const char *wrong = wrong_with(preempt);
    (void)at;
    (void)out;
    if (wrong == NULL && b->stage != STAGE_running)
        wrong = "the binder is stopping";
    else if (wrong == NULL && !lease_settled(b->lease))
        wrong = "lost leadership";
    if (wrong == NULL) {
        preempts_add(b->preempts, preempt);
        return;
    }
    b->refused++;
    preempts_refuse(b->preempts, preempt, wrong);
}

static void on_claim_release(struct binder *b, struct instant at, const struct delivery *in,
                             struct outbox *out)
{
    const struct claim_release *order = &in->message->claim_release;
    const char *wrong = release_problem(order);
    (void)out;
    if (wrong == NULL && b->stage != STAGE_running)
        wrong = "the binder is stopping";
    else if (wrong == NULL && !lease_settled(b->lease))
        wrong = "lost leadership";
    if (wrong == NULL) {
        releases_add(b->releases, at, order);
        return;
    }
    b->refused++;
    releases_refuse(b->releases, order, wrong);
}

static bool may_write(struct binder *b, const struct gang *group)
{
    bool may =
        leads(b) && has_names(group->uid, group->namespace_name, group->name) && group->api.len > 0;
    b->refused += !may;
    return may;
}

static void on_group_failed(struct binder *b, struct instant at, const struct delivery *in,
                            struct outbox *out)
{
    const struct group_failed *failed = &in->message->group_failed;
    (void)out;
    if (!may_write(b, &failed->group))
        return;
    events_group(
        b->events, at,
        &(struct events_group){.group = &failed->group,
                               .scheduler_name = failed->scheduler_name,
                               .reason = failed->scheduled ? "Scheduled" : "FailedScheduling",
                               .note = failed->message,
                               .warning = !failed->scheduled});
    groups_failed(b->groups, at, failed);
}

static void on_group_status(struct binder *b, struct instant at, const struct delivery *in,
                            struct outbox *out)
{
    const struct group_status *status = &in->message->group_status;
    (void)out;
    if (!may_write(b, &status->group))
        return;
    if (status->event_reason.len > 0) {
        char *reason = str_copy(status->event_reason);
        events_group(b->events, at,
                     &(struct events_group){.group = &status->group,
                                            .reason = reason,
                                            .note = status->event_message,
                                            .warning = true});
        memory_free(reason);
    }
    groups_status(b->groups, at, status);
}

static void on_spans(struct binder *b, struct instant at, const struct delivery *in,
                     struct outbox *out)
{
    const struct api *api = &b->options.api;
    (void)at;
    (void)out;
    if (api->trace != NULL)
        api->trace(api->state, &in->message->spans);
}

/* One line a message; the handlers are above, in this order. */
static handler *const handlers[MSG_COUNT] = {
    [MSG_peer_up] = on_peer_up,
    [MSG_peer_down] = on_peer_down,
    [MSG_readiness] = on_readiness,
    [MSG_bind] = on_bind,
    [MSG_pod_failed] = on_pod_failed,
    [MSG_preempt] = on_preempt,
    [MSG_bind_cancel] = on_bind_cancel,
    [MSG_group_failed] = on_group_failed,
    [MSG_group_status] = on_group_status,
    [MSG_nominate] = on_nominate,
    [MSG_claim_release] = on_claim_release,
    [MSG_spans] = on_spans,
};

bool binder_takes(enum message_type type)
{
    return type == MSG_plugin_answer ||
           (type > MSG_none && type < MSG_COUNT && handlers[type] != NULL);
}

void binder_handle(struct binder *b, struct moment now, const struct delivery *in,
                   struct outbox *out)
{
    struct instant at = b->options.api.clock(b->options.api.state);
    at.now = now;
    if (bus_hooks_take(b->bus_hooks, at, in))
        return;
    if (in->message->type < MSG_COUNT && handlers[in->message->type] != NULL)
        handlers[in->message->type](b, at, in, out);
}

/* ---- time ---- */

void binder_guard(struct binder *b)
{
    struct instant at = b->options.api.clock(b->options.api.state);
    if (lanes_fenced(b->lanes) == 0 || lease_left(b->lease, at).ns > 0)
        return;
    log_warn("the fence is closed: requests under way are taken back|count=%u",
             lanes_fenced(b->lanes));
    b->cuts += lanes_fenced(b->lanes);
    lanes_cut(b->lanes, "taken back: the lease was not renewed in time");
}

bool binder_exposed(const struct binder *b)
{
    return lanes_fenced(b->lanes) > 0;
}

struct moment binder_fence_end(const struct binder *b)
{
    return lease_deadline(b->lease);
}

static void enter(struct binder *b, enum stage stage, struct moment until)
{
    b->stage = stage;
    b->stage_until = until;
}

/* The stages of a clean end; each ends when its work is done or its time is up. */
static void go_on_stopping(struct binder *b, struct instant at)
{
    bool late = moment_reached(at.now, b->stage_until), open = is_open(b);
    bool lost = !lease_leading(b->lease); /* what was decided under it ends with it */
    if (b->stage == STAGE_binds && (!open || late || lost)) {
        binds_drop_all(b->binds, at, "the binder is stopping");
        preempts_drop(b->preempts, "the binder is stopping");
        releases_drop(b->releases, "the binder is stopping");
        b->unclean = open;
        if (lease_settled(b->lease))
            event_of_leader(b, at, "stopped leading");
        enter(b, STAGE_tail, moment_after(at.now, span_of_ms(STOP_TAIL_MS)));
        late = false;
    }
    if (b->stage == STAGE_tail &&
        (late || lost ||
         (lanes_quiet(b->lanes, LANE_status) && lanes_quiet(b->lanes, LANE_event)))) {
        step_down(b, at);
        if (b->unclean)
            lease_leave(b->lease);
        else
            lease_release(b->lease, at);
        enter(b, STAGE_release, MOMENT_NEVER);
    }
    if (b->stage == STAGE_release && lease_released(b->lease))
        enter(b, STAGE_farewell, moment_after(at.now, span_of_ms(FAREWELL_MS)));
    else if (b->stage == STAGE_farewell && late)
        enter(b, STAGE_ended, MOMENT_NEVER); /* a link that is closed drops what was not read */
}

static struct moment flush(struct binder *b, struct moment now, struct outbox *out)
{
    preempts_flush(b->preempts, out);
    releases_flush(b->releases, out);
    return binds_flush_due(b->binds, now, out);
}

struct moment binder_tick(struct binder *b, struct moment now, struct outbox *out)
{
    struct instant at = b->options.api.clock(b->options.api.state);
    at.now = now;
    const char *sick = fitness_sick(&b->fitness, now);
    lease_set_fitness(b->lease, fitness_ready(&b->fitness, now), sick);
    struct moment next = lease_tick(b->lease, at);
    const char *verb = lease_forbidden(b->lease);
    if (verb != NULL)
        warn_once(b, verb, "leases.coordination.k8s.io", str_of(b->options.lease.namespace_name),
                  STR_LITERAL("403"));
    follow_lease(b, at, out);
    preempts_tick(b->preempts, at);
    next = moment_earlier(next, events_tick(b->events, at));
    if (b->stage != STAGE_running) {
        go_on_stopping(b, at);
        follow_lease(b, at, out); /* the last answers may have come: its end is a clean one then */
        next = moment_earlier(next, b->stage_until);
        next = moment_earlier(next, lease_tick(b->lease, at)); /* a release begins here */
    }
    next = moment_earlier(next, bus_hooks_tick(b->bus_hooks, at, out));
    next = moment_earlier(next, lanes_pump(b->lanes, now));
    next = moment_earlier(next, flush(b, now, out));
    return moment_earlier(next, b->tell_at);
}

void binder_stop(struct binder *b, struct moment now, struct outbox *out)
{
    struct instant at = b->options.api.clock(b->options.api.state);
    at.now = now;
    if (b->stage != STAGE_running)
        return;
    enter(b, STAGE_binds, moment_after(now, span_of_ms(STOP_BINDS_MS)));
    lanes_drain(b->lanes);
    binds_drop_waiting(b->binds, at, "the binder is stopping");
    preempts_stop(b->preempts, "the binder is stopping");
    follow_lease(b, at, out);
    (void)flush(b, now, out);
}

bool binder_done(const struct binder *b)
{
    return b->stage == STAGE_ended;
}

int64_t binder_term(const struct binder *b)
{
    return lease_term(b->lease);
}

bool binder_leading(const struct binder *b)
{
    return leads(b);
}

/* ---- life ---- */

struct binder *binder_new(const struct binder_options *options)
{
    struct binder *b = memory_take(sizeof(*b));
    b->options = *options;
    struct lanes_options lanes = {.api = options->api,
                                  .fence = fence,
                                  .fence_state = b,
                                  .in_flight_max[LANE_bind] = options->bind_in_flight,
                                  .qps = options->qps,
                                  .burst = options->burst,
                                  .protobuf = options->protobuf};
    b->lanes = lanes_new(&lanes);
    fitness_init(&b->fitness, options->api.clock(options->api.state).now);
    b->lease = lease_new(&options->lease, b->lanes, options->api.clock(options->api.state));
    b->bus_hooks = bus_hooks_new();
    b->binds = binds_new(&(struct binds_options){.seed = options->seed,
                                                 .api = options->api,
                                                 .bus = b->bus_hooks,
                                                 .owner = b,
                                                 .ended = on_bind_ended,
                                                 .waiting = on_bind_waiting,
                                                 .forbidden = on_forbidden},
                         b->lanes);
    b->statuses = statuses_new(&(struct status_options){.seed = options->seed + 1,
                                                        .owner = b,
                                                        .clear = on_status_clear,
                                                        .cleared = on_nomination_cleared,
                                                        .forbidden = on_forbidden},
                               b->lanes);
    b->groups = groups_new(
        &(struct groups_options){.seed = options->seed + 4, .owner = b, .forbidden = on_forbidden},
        b->lanes);
    b->events = events_new(&(struct events_options){.hostname = options->hostname,
                                                    .keys_max = options->event_keys_max,
                                                    .seed = options->seed + 2,
                                                    .owner = b,
                                                    .forbidden = on_forbidden},
                           b->lanes);
    b->preempts = preempts_new(&(struct preempts_options){.seed = options->seed + 3,
                                                          .owner = b,
                                                          .unnominate = unnominate,
                                                          .unbind = unbind,
                                                          .preempted = on_preempted,
                                                          .forbidden = on_forbidden},
                               b->lanes);
    b->releases = releases_new(&(struct releases_options){.seed = options->seed + 5,
                                                          .owner = b,
                                                          .forbidden = on_forbidden},
                               b->lanes);
    b->forbidden = map_new();
    return b;
}

void binder_free(struct binder **binder)
{
    struct binder *b = *binder;
    if (b == NULL)
        return;
    binds_free(&b->binds);
    bus_hooks_free(&b->bus_hooks);
    preempts_free(&b->preempts);
    releases_free(&b->releases);
    statuses_free(&b->statuses);
    groups_free(&b->groups);
    events_free(&b->events);
    lease_free(&b->lease);
    lanes_free(&b->lanes);
    map_free(&b->forbidden);
    memory_free(b);
    *binder = NULL;
}

void binder_limit(struct binder *b, double qps, uint32_t burst)
{
    lanes_limit(b->lanes, qps, burst);
}
