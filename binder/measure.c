/* measure: metrics of the extension points that the binder runs, PreBindPreFlight to PostBind, and
 * of its lanes. What must stay true: a bind that was refused before it began counts at no extension
 * point. */
#include "binder/measure.h"

#include "proto/metrics.h"

static void observe(const struct bind *bind, const char *point, const char *status,
                    struct span took)
{
    series_observe(
        metric_series(METRIC_scheduler_framework_extension_point_duration_seconds,
                      METRIC_VALUES(str_of(point), bind->scheduler_name, str_of(status))),
        took.ns);
}

static void observe_binder(const char *status, struct span took)
{
    const struct str *values =
        METRIC_VALUES(STR_LITERAL("DefaultBinder"), STR_LITERAL("Bind"), str_of(status));
    series_observe(metric_series(METRIC_scheduler_plugin_execution_duration_seconds, values),
                   took.ns);
}

void measure_bind(const struct bind *bind, const struct measured_bind *how)
{
    const struct span none = {0};
    observe(bind, "PreBindPreFlight", how->prepared ? "Success" : "Skip", none);
    observe(bind, "PreBind", how->posted ? "Success" : "Error", how->preparing);
    if (how->posted)
        observe(bind, "Bind", how->bound ? "Success" : "Error", how->posting);
    if (how->posted && !how->delegated)
        observe_binder(how->bound ? "Success" : "Error", how->posting);
    if (how->bound)
        observe(bind, "PostBind", "Success", none);
}

/* ---- devices ---- */

void measure_claim_made(bool made)
{
    const struct str status = str_of(made ? "success" : "failure");
    metric_add_to(METRIC_scheduler_resourceclaim_creates_total, status.at, 1);
    series_add(metric_series(METRIC_dynamic_resource_allocation_resourceclaim_creates_total,
                             METRIC_VALUES(STR_LITERAL("false"), STR_LITERAL(""),
                                           STR_LITERAL("Pod"), status)),
               1);
}

void measure_device_wait(const struct bind *bind, const struct measured_device *device,
                         const char *status, struct span took)
{
    const struct str *values = METRIC_VALUES(bind->scheduler_name, device->driver, str_of(status));
    series_observe(
        metric_series(METRIC_scheduler_dra_bindingconditions_wait_duration_seconds, values),
        took.ns);
    if (device->conditional)
        series_add(metric_series(METRIC_scheduler_dra_bindingconditions_allocations_total, values),
                   1);
}

/* ---- lanes ---- */

static void count(enum lane lane, const char *result, uint64_t value)
{
    metric_series(METRIC_berth_lane_requests_total,
                  METRIC_VALUES(str_of(lane_name(lane)), str_of(result)))
        ->value = (int64_t)value;
}

void measure_lanes(const struct lanes *lanes, struct moment now)
{
    for (int i = 0; i < LANE_COUNT; i++) {
        enum lane lane = (enum lane)i;
        struct lane_stats s = lanes_stats(lanes, lane);
        int64_t oldest = s.oldest.ns != 0 ? moment_since(now, s.oldest).ns : 0;
        metric_set_to(METRIC_berth_lane_waiting, lane_name(lane), s.waiting + s.delayed);
        metric_set_to(METRIC_berth_lane_in_flight, lane_name(lane), s.in_flight);
        metric_set_to(METRIC_berth_lane_oldest_seconds, lane_name(lane), oldest);
        count(lane, "done", s.done);
        count(lane, "failed", s.failed);
        count(lane, "dropped", s.dropped);
    }
}
