/* device_ready: upstream's isClaimReadyForBinding and isClaimTimeout. The one idea: devices are
 * looked at in the order of the allocation, and the first that is not ready decides. What must stay
 * true: a failure that an earlier device hides by being late is seen once that one is ready, so
 * that the order of reasons is upstream's. */
#include "proto/kube/objects/device_ready.h"
#include "proto/kube/documents/quote.h"

bool device_ready_matters(const struct allocated_device *devices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (devices[i].binding_conditions.count > 0)
            return true;
    return false;
}

/* The share is not looked at, as upstream. */
static const struct device_status *status_of(const struct resource_claim *claim,
                                             const struct allocated_device *device)
{
    for (uint32_t i = 0; i < claim->device_statuses.count; i++) {
        const struct device_status *status = &claim->device_statuses.at[i];
        if (str_equal(status->device, device->device) &&
            str_equal(status->driver, device->driver) && str_equal(status->pool, device->pool))
            return status;
    }
    return NULL;
}

/* The first condition of that type; NULL unless it is true. */
static const struct device_condition *true_condition(const struct device_status *status,
                                                     struct str type)
{
    for (uint32_t i = 0; i < status->conditions.count; i++) {
        const struct device_condition *condition = &status->conditions.at[i];
        if (str_equal(condition->type, type))
            return str_is(condition->status, "True") ? condition : NULL;
    }
    return NULL;
}

static void tell_failure(const struct resource_claim *claim,
                         const struct device_condition *condition, struct buffer *why)
{
    if (why == NULL)
        return;
    buffer_print(why,
                 "device binding failed: claim=%.*s, reason=%.*s, message=", STR_ARG(claim->name),
                 STR_ARG(condition->reason));
    kube_quote(condition->message, why);
}

static enum device_ready judge(const struct resource_claim *claim,
                               const struct allocated_device *device, struct buffer *why)
{
    const struct device_status *status = status_of(claim, device);
    if (status == NULL)
        return DEVICE_waiting;
    for (uint32_t i = 0; i < device->binding_failure_conditions.count; i++) {
        const struct device_condition *condition =
            true_condition(status, device->binding_failure_conditions.at[i]);
        if (condition != NULL) {
            tell_failure(claim, condition, why);
            return DEVICE_failed;
        }
    }
    for (uint32_t i = 0; i < device->binding_conditions.count; i++)
        if (true_condition(status, device->binding_conditions.at[i]) == NULL)
            return DEVICE_waiting;
    return DEVICE_ready;
}

static bool is_late(const struct resource_claim *claim, int64_t timeout_ms, int64_t wall_us)
{
    int64_t most = (timeout_ms > 0 ? timeout_ms : DEVICE_TIMEOUT_MS) * 1000;
    return claim->allocated && claim->allocated_us != 0 &&
           device_ready_matters(claim->devices.at, claim->devices.count) &&
           wall_us - claim->allocated_us > most;
}

enum device_ready device_ready(const struct resource_claim *claim, int64_t timeout_ms,
                               int64_t wall_us, struct buffer *why)
{
    enum device_ready seen = claim->allocated ? DEVICE_ready : DEVICE_waiting;
    for (uint32_t i = 0; i < claim->devices.count && seen == DEVICE_ready; i++)
        if (claim->devices.at[i].binding_conditions.count > 0)
            seen = judge(claim, &claim->devices.at[i], why);
    if (seen != DEVICE_waiting || !is_late(claim, timeout_ms, wall_us))
        return seen;
    if (why != NULL)
        buffer_print(why, "device binding timeout: claim=%.*s", STR_ARG(claim->name));
    return DEVICE_late;
}
