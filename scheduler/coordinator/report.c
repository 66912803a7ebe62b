/* report: the coordinator's status, and its decisions, for whoever asks. What must stay true:
 * nothing here changes what is decided. */
#include "scheduler/coordinator/report.h"

#include "proto/base/log.h"
#include "scheduler/cluster/device_memo.h"
#include "scheduler/coordinator/extending.h"
#include "scheduler/coordinator/following.h"
#include "scheduler/coordinator/gang.h"
#include "scheduler/merge/decisions_kept.h"

#include <inttypes.h>

#define TOLD_OF     8    /* decisions about one pod */
#define TOLD_LATEST 1000 /* about whichever */

uint32_t coordinator_nodes(const struct coordinator *c)
{
    return cache_nodes(c->cache);
}

void coordinator_status(void *state, struct buffer *lines)
{
    const struct coordinator *c = state;
    const char *waits = coordinator_waits_for(c, c->last_call);
    buffer_print(lines, "state=%s%s\n", waits[0] ? "waits for " : "deciding", waits);
    buffer_print(lines, "leading=%s\nterm=%" PRId64 "\n", leadership_leads(c) ? "yes" : "no",
                 leadership_term(c));
    buffer_print(lines, "config_generation=%" PRId64 "\nconfig_hash=%016" PRIx64 "\n",
                 c->config.generation, (uint64_t)c->options.config_hash);
    following_status(c, lines);
    buffer_print(lines, "configs_refused=%" PRIu64 "\n", c->config.refused);
    buffer_print(lines, "nodes=%u\npods=%u\nassumed=%u\n", cache_nodes(c->cache),
                 cache_pods(c->cache), cache_assumed(c->cache));
    buffer_print(lines, "workers=%u\nworker_nodes=", cache_workers(c->cache));
    for (uint32_t i = 0; i < cache_workers(c->cache); i++)
        buffer_print(lines, "%s%u", i ? " " : "", cache_worker_nodes(c->cache, i));
    buffer_print(lines, "\nwaiting=%u\nunder_way=%zu\n", flights_in(&c->flights, FLIGHT_waiting),
                 flights_count(&c->flights) - flights_in(&c->flights, FLIGHT_waiting));
    buffer_print(lines, "cycles=%" PRIu64 "\nsecond_rounds=%" PRIu64 "\nrestarted=%" PRIu64 "\n",
                 c->count.cycles, c->count.second_rounds, c->count.restarted);
    buffer_print(lines, "batches=%" PRIu64 "\nbatch_pods=%" PRIu64 "\nbatches_cut=%" PRIu64 "\n",
                 c->count.batches, c->count.batch_pods, c->count.batches_cut);
    buffer_print(lines, "runs=%" PRIu64 "\nrun_pods=%" PRIu64 "\nrun_grouped_pods=%" PRIu64 "\n",
                 c->count.runs, c->count.run_pods, c->count.run_grouped_pods);
    buffer_print(lines, "run_risen_pods=%" PRIu64 "\nruns_followed=%" PRIu64 "\n",
                 c->count.run_risen_pods, c->count.runs_followed);
    buffer_print(lines, "picks=%" PRIu64 "\npicked_pods=%" PRIu64 "\npicks_cut=%" PRIu64 "\n",
                 c->count.picks, c->count.picked_pods, c->count.picks_cut);
    buffer_print(lines, "pods_per_batch=%.1f\n",
                 c->count.batches ? (double)c->count.batch_pods / (double)c->count.batches : 0.0);
    extending_status(c, lines);
    if (c->options.extender_count > 0)
        buffer_print(lines,
                     "extender_answers_outdated=%" PRIu64 "\nextender_pods_put_off=%" PRIu64 "\n",
                     c->count.asked_again, c->count.crowded_out);
    buffer_print(lines, "scheduled=%" PRIu64 "\nunschedulable=%" PRIu64 "\nerrors=%" PRIu64 "\n",
                 c->count.scheduled, c->count.unschedulable, c->count.errors);
    buffer_print(lines, "skipped=%" PRIu64 "\nbound=%" PRIu64 "\nbind_failed=%" PRIu64 "\n",
                 c->count.skipped, c->count.bound, c->count.bind_failed);
    buffer_print(lines, "expired=%" PRIu64 "\n", c->count.expired);
    buffer_print(lines, "gangs_placed=%" PRIu64 "\ngangs_failed=%" PRIu64 "\n",
                 c->count.gangs_placed, c->count.gangs_failed);
    buffer_print(lines, "groups_known=%u\ngroup_claims=%u\n", gang_statuses_count(c->gang_statuses),
                 gang_claims_count(c));
    buffer_print(lines, "gangs_evicting=%" PRIu64 "\ngangs_restarted=%" PRIu64 "\n",
                 c->count.gangs_evicting, c->count.gangs_restarted);
    buffer_print(lines, "preempting=%u\nvictims=%" PRIu64 "\nnominated=%u\n",
                 flights_in(&c->flights, FLIGHT_preempting), c->count.preempted,
                 cache_nominated(c->cache));
    const struct device_book *book = catalog_devices(c->catalog);
    const struct devices_totals devices = device_book_totals(book);
    buffer_print(lines, "devices=%u\ndevices_in_use=%u\nclaims_in_flight=%u\n", devices.devices,
                 devices.in_use, device_book_count_in_flight(book));
    buffer_print(lines, "device_answers=%u\n", device_memo_count(cache_device_memo(c->cache)));
    buffer_print(lines, "decisions_kept=%u\n", decisions_kept_count(c->decisions));
    buffer_print(lines, "waiting_for_claims=%u\nwaits_for_claims=%" PRIu64 "\n",
                 flights_in(&c->flights, FLIGHT_aside), c->count.stood_aside);
    buffer_print(lines, "volumes_assumed=%u\n", catalog_assumed(c->catalog));
    buffer_print(lines, "late_answers=%" PRIu64 "\nstream_gaps=%" PRIu64 "\n", c->count.late,
                 c->stream.gaps);
    buffer_print(lines, "decision_us_mean=%" PRIu64 "\ndecision_us_max=%" PRIu64 "\n",
                 c->count.cycles ? c->count.decision_us / c->count.cycles : 0,
                 c->count.decision_us_max);
}

/* ---- explaining ---- */

static const char *const states[FLIGHT_STATES] = {
    [FLIGHT_queued] = "waits for extenders, who are busy with others",
    [FLIGHT_aside] = "waits for a claim that is being allocated for another pod",
    [FLIGHT_waiting] = "waits for its turn to be decided",
    [FLIGHT_deciding] = "is being decided",
    [FLIGHT_asking] = "waits for the answer of extenders or plugins",
    [FLIGHT_placed] = "has a place, and waits for the rest of its group",
    [FLIGHT_passed] = "has no place, and waits for the rest of its group",
    [FLIGHT_permitting] = "waits for plugins to reserve, or to permit it to be bound",
    [FLIGHT_binding] = "is being bound",
    [FLIGHT_preempting] = "waits for pods to go that make room for it",
    [FLIGHT_releasing] = "waits for what its attempt had of claims to be given back",
};

/* What the pod's claims are to get comes first, and a volume may take minutes to be made. */
static const char *state_of(const struct flight *f)
{
    const char *state = states[f->state];
    for (uint32_t i = 0; f->state == FLIGHT_binding && i < f->reserved.count; i++) {
        if (f->reserved.at[i].volume_name.len == 0)
            return "is being bound, and waits for its volumes to be provisioned first";
        state = "is being bound, its claims to their volumes first";
    }
    return state;
}

/* A flight is found by UID, and the pod is asked about by name. */
static const struct flight *flight_of(const struct coordinator *c, struct str space,
                                      struct str name)
{
    const struct flight *f;
    size_t at = 0;
    while ((f = flights_next(&c->flights, &at)) != NULL)
        if (str_equal(f->pod.name, name) && str_equal(f->pod.namespace_name, space))
            return f;
    return NULL;
}

/* Who is asked beside the rules. */
static struct strs asked(const struct coordinator *c, struct arena *a)
{
    uint32_t most = c->options.extender_count;
    for (uint32_t i = 0; i < c->frameworks.count; i++)
        most += c->frameworks.at[i].profile.bus_plugins.count;
    struct strs names = {0, arena_take(a, (most + 1) * sizeof(struct str))};
    for (uint32_t i = 0; i < c->options.extender_count; i++)
        names.at[names.count++] = c->options.extenders[i].url_prefix;
    for (uint32_t i = 0; i < c->frameworks.count; i++) {
        const struct profile *p = &c->frameworks.at[i].profile;
        for (uint32_t k = 0; k < p->bus_plugins.count; k++)
            if (!strs_hold(names, p->bus_plugins.at[k].name))
                names.at[names.count++] = p->bus_plugins.at[k].name;
    }
    return names;
}

static void tell_latest(struct coordinator *c, struct moment now, const struct delivery *in)
{
    int64_t wanted = in->message->explain_request.latest;
    uint32_t room = wanted < TOLD_LATEST ? (uint32_t)wanted : TOLD_LATEST;
    struct arena a = {0};
    struct message m = {.type = MSG_explained};
    struct explained *e = &m.explained;
    e->decisions.at = arena_take(&a, room * sizeof(struct past_decision));
    e->decisions.count = decisions_kept_latest(c->decisions, e->decisions.at, room);
    e->kept = decisions_kept_count(c->decisions);
    e->oldest_us = decisions_kept_since(c->decisions);
    e->waits_for = str_of(coordinator_waits_for(c, now));
    outbox_put(c->out, in->from, &m);
    arena_free(&a);
}

void report_explain(struct coordinator *c, struct moment now, const struct delivery *in)
{
    const struct explain_request *q = &in->message->explain_request;
    if (q->latest > 0) {
        tell_latest(c, now, in);
        return;
    }
    struct past_decision found[TOLD_OF];
    struct arena a = {0};
    struct message m = {.type = MSG_explained};
    struct explained *e = &m.explained;
    e->decisions.at = found;
    e->decisions.count =
        decisions_kept_of(c->decisions, q->namespace_name, q->name, found, TOLD_OF);
    e->kept = decisions_kept_count(c->decisions);
    e->oldest_us = decisions_kept_since(c->decisions);
    e->waits_for = str_of(coordinator_waits_for(c, now));
    const struct flight *f = flight_of(c, q->namespace_name, q->name);
    if (f != NULL)
        e->state = str_of(state_of(f));
    e->tie_break = c->options.tie_break;
    e->asks = asked(c, &a);
    e->profiles.at = arena_take(&a, (c->frameworks.count + 1) * sizeof(struct profile));
    for (uint32_t i = 0; i < c->frameworks.count; i++)
        e->profiles.at[e->profiles.count++] = c->frameworks.at[i].profile;
    e->release = c->frameworks.count > 0 ? c->frameworks.at[0].profile.features.release : 0;
    outbox_put(c->out, in->from, &m);
    arena_free(&a);
}

/* ---- the cache in words, for whoever sends SIGUSR2: a line a node, and one for each pod on it
 * ---- */

struct sums {
    int64_t pods, cpu, memory;
    struct str node;
};

static int64_t amount_of(uint32_t count, const struct quantity *list, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_is(list[i].name, name))
            return list[i].amount;
    return 0;
}

static void add_pod(void *context, const struct pod *pod, bool assumed)
{
    struct sums *sums = context;
    (void)assumed;
    sums->pods++;
    sums->cpu += amount_of(pod->usage.count, pod->usage.at, "cpu");
    sums->memory += amount_of(pod->usage.count, pod->usage.at, "memory");
}

static void log_pod(void *context, const struct pod *pod, bool assumed)
{
    const struct sums *sums = context;
    log_info("Dump of cached NodeInfo| node=%.*s name=%.*s namespace=%.*s uid=%.*s assumed=%s",
             STR_ARG(sums->node), STR_ARG(pod->name), STR_ARG(pod->namespace_name),
             STR_ARG(pod->uid), assumed ? "true" : "false");
}

static void dump_node(const struct coordinator *c, struct str name, struct arena *a)
{
    struct sums sums = {.node = name};
    struct node node;
    if (!cache_node_get(c->cache, name, &node, a))
        return;
    cache_each_pod(c->cache, name, add_pod, &sums);
    log_info("Dump of cached NodeInfo| node=%.*s requested_cpu_m=%" PRId64
             " requested_memory=%" PRId64 " allocatable_cpu_m=%" PRId64
             " allocatable_memory=%" PRId64 " pods=%" PRId64,
             STR_ARG(name), sums.cpu, sums.memory,
             amount_of(node.allocatable.count, node.allocatable.at, "cpu"),
             amount_of(node.allocatable.count, node.allocatable.at, "memory"), sums.pods);
    cache_each_pod(c->cache, name, log_pod, &sums);
}

void coordinator_dump(void *state)
{
    struct coordinator *c = state;
    struct arena a = {0};
    compare_want(c); /* with the next tick: the watcher has to be asked */
    log_info("Dump of cached NodeInfo| nodes=%u pods=%u assumed=%u", cache_nodes(c->cache),
             cache_pods(c->cache), cache_assumed(c->cache));
    for (uint32_t i = 0; i < cache_nodes(c->cache); i++) {
        dump_node(c, cache_node_at(c->cache, i), &a);
        arena_reset(&a);
    }
    arena_free(&a);
}
