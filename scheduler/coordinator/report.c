/* report: the coordinator's status. What must stay true: nothing here changes anything. */
#include "scheduler/coordinator/coordination.h"
#include "scheduler/coordinator/extending.h"
#include "scheduler/coordinator/following.h"
#include "scheduler/coordinator/gang.h"

#include <inttypes.h>

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
    buffer_print(lines, "waiting_for_claims=%u\nwaits_for_claims=%" PRIu64 "\n",
                 flights_in(&c->flights, FLIGHT_aside), c->count.stood_aside);
    buffer_print(lines, "volumes_assumed=%u\n", catalog_assumed(c->catalog));
    buffer_print(lines, "late_answers=%" PRIu64 "\nstream_gaps=%" PRIu64 "\n", c->count.late,
                 c->stream.gaps);
    buffer_print(lines, "decision_us_mean=%" PRIu64 "\ndecision_us_max=%" PRIu64 "\n",
                 c->count.cycles ? c->count.decision_us / c->count.cycles : 0,
                 c->count.decision_us_max);
}
