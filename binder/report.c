/* report: what the binder says of itself: status and metrics. What must stay true: nothing here
 * changes anything. */
#include "binder/binder_inside.h"
#include "binder/measure.h"
#include "proto/metrics.h"

static void lane_status(const struct binder *b, struct moment now, struct buffer *lines)
{
    for (int i = 0; i < LANE_COUNT; i++) {
        struct lane_stats s = lanes_stats(b->lanes, (enum lane)i);
        int64_t oldest = s.oldest.ns ? span_ms(moment_since(now, s.oldest)) : 0;
        buffer_print(lines,
                     "lane_%s=waiting=%u delayed=%u in_flight=%u done=%llu failed=%llu "
                     "dropped=%llu oldest_ms=%lld\n",
                     lane_name((enum lane)i), s.waiting, s.delayed, s.in_flight,
                     (unsigned long long)s.done, (unsigned long long)s.failed,
                     (unsigned long long)s.dropped, (long long)oldest);
    }
}

static void lease_status(const struct binder *b, struct moment now, struct buffer *lines)
{
    struct moment deadline = lease_deadline(b->lease);
    buffer_print(lines, "leading=%s\nlease_term=%lld\nidentity=%s\nholder=%.*s\n",
                 binder_leading(b) ? "true" : "false", (long long)lease_term(b->lease),
                 b->options.lease.identity, STR_ARG(lease_holder(b->lease)));
    if (deadline.ns > 0 && deadline.ns < MOMENT_NEVER.ns)
        buffer_print(lines, "lease_deadline_ms=%lld\n",
                     (long long)span_ms(moment_since(deadline, now)));
    if (lease_settles_in(b->lease, now).ns > 0)
        buffer_print(lines, "settles_in_ms=%lld\n",
                     (long long)span_ms(lease_settles_in(b->lease, now)));
    buffer_print(lines, "ready=%s\n", b->fitness.ready ? "true" : "false");
    if (!b->fitness.ready)
        buffer_print(lines, "lacks=%s\n", b->fitness.lacks);
    if (*lease_lost_why(b->lease))
        buffer_print(lines, "lease_lost=%s\n", lease_lost_why(b->lease));
    if (lease_terms_refused(b->lease) > 0)
        buffer_print(lines, "terms_refused=%llu\n",
                     (unsigned long long)lease_terms_refused(b->lease));
}

void binder_status(const struct binder *b, struct buffer *lines)
{
    struct moment now = b->options.api.clock(b->options.api.state).now;
    struct binds_stats binds = binds_stats(b->binds);
    struct statuses_stats status = statuses_stats(b->statuses);
    struct groups_stats groups = groups_stats(b->groups);
    struct releases_stats releases = releases_stats(b->releases);
    struct events_stats events = events_stats(b->events);
    size_t at = 0;
    struct str rule;
    void *value;
    lease_status(b, now, lines);
    buffer_print(lines,
                 "binds=in_flight=%u preparing=%u bound=%llu failed=%llu doubled=%llu retried=%llu "
                 "doubts=%llu "
                 "resolved=%llu\n",
                 binds_count(b->binds), binds_waiting_for_claims(b->binds),
                 (unsigned long long)binds.bound, (unsigned long long)binds.failed,
                 (unsigned long long)binds.doubled, (unsigned long long)binds.retried,
                 (unsigned long long)binds.doubts, (unsigned long long)binds.resolved);
    buffer_print(lines, "bind_p50_us=%lld\nbind_p99_us=%lld\n", (long long)(binds.p50.ns / 1000),
                 (long long)(binds.p99.ns / 1000));
    decisions_status(&b->decisions, lines);
    lane_status(b, now, lines);
    buffer_print(lines, "status=pods=%u replaced=%llu overtaken=%llu unchanged=%llu dropped=%llu\n",
                 status.pods, (unsigned long long)status.replaced,
                 (unsigned long long)status.overtaken, (unsigned long long)status.unchanged,
                 (unsigned long long)status.dropped);
    buffer_print(
        lines, "groups=waiting=%u written=%llu replaced=%llu unchanged=%llu dropped=%llu\n",
        groups.groups, (unsigned long long)groups.written, (unsigned long long)groups.replaced,
        (unsigned long long)groups.unchanged, (unsigned long long)groups.dropped);
    preempts_status(b->preempts, now, lines);
    buffer_print(lines, "claim_releases=under_way=%u done=%llu failed=%llu doubled=%llu\n",
                 releases_count(b->releases), (unsigned long long)releases.done,
                 (unsigned long long)releases.failed, (unsigned long long)releases.doubled);
    buffer_print(lines, "events=keys=%u repeated=%llu evicted=%llu dropped=%llu\n", events.keys,
                 (unsigned long long)events.repeated, (unsigned long long)events.evicted,
                 (unsigned long long)events.dropped);
    buffer_print(lines, "refused=%llu\nfence_cuts=%llu\nprotobuf=%s\n",
                 (unsigned long long)b->refused, (unsigned long long)b->cuts,
                 lanes_protobuf(b->lanes) ? "yes" : "no");
    bus_hooks_status(b->bus_hooks, now, lines);
    while (map_next(b->forbidden, &at, &rule, &value))
        buffer_print(lines, "forbidden=%.*s\n", STR_ARG(rule));
}

/* A standby is well, as upstream's is; and whoever could not renew its lease does not lead. */
void binder_observe(const struct binder *b)
{
    struct moment now = b->options.api.clock(b->options.api.state).now;
    metric_check("leaderElection", "");
    if (b->options.lease.elect)
        metric_set_to(METRIC_leader_election_master_status, b->options.lease.name,
                      b->stage == STAGE_running && lease_leading(b->lease));
    measure_lanes(b->lanes, now);
}
