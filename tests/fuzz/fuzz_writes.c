/* fuzz_writes: any bytes as the API server's answers to the binder. Reading stays within bounds,
 * and an object that was changed once to be put back is not changed by doing the same again. */
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/writes/writes.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct arena arena = {.limit = 8u << 20};

static const struct claim_binding claim = {
    .namespace_name = {"default", 7}, .name = {"c", 1}, .uid = {"u", 1}, .resource_version = 6};

static enum writes_change put(bool volume, struct buffer *out, struct str json)
{
    return volume ? writes_volume_put(out, json, &claim)
                  : writes_claim_put(out, json, &claim, (struct str){"n1", 2});
}

static void put_twice(bool volume, struct str json)
{
    struct buffer once = {0}, twice = {0};
    if (put(volume, &once, json) == WRITES_changed) {
        must(put(volume, &twice, buffer_str(&once)) == WRITES_changed);
        must(once.len == twice.len && memcmp(once.at, twice.at, once.len) == 0);
    } else {
        must(once.len == 0);
    }
    buffer_free(&once);
    buffer_free(&twice);
}

/* A ResourceClaim in either form. */
static void put_devices(struct str body)
{
    static struct allocated_device device = {.request = {"r", 1}, .driver = {"d", 1}};
    static const struct device_allocation given = {.devices = {1, &device}};
    static const struct writes_consumer consumer = {
        .pod = {"p", 1}, .uid = {"u", 1}, .wall_us = 1000000};
    static const struct claim_release release = {.uid = {"u", 1}, .resource_version = 6};
    struct buffer once = {0}, twice = {0};
    if (writes_allocation_put(&once, body, &given, &consumer) == WRITES_changed) {
        must(writes_reservation_put(&twice, buffer_str(&once), &consumer) == WRITES_same);
        must(writes_unreservation_put(&twice, buffer_str(&once), &release) == WRITES_changed);
        must(writes_unreservation_put(&twice, buffer_str(&twice), &release) == WRITES_same);
    }
    buffer_reset(&once);
    if (writes_claim_finalizer_put(&once, body, (struct str){NULL, 0}) == WRITES_changed)
        must(writes_claim_finalizer_put(&twice, buffer_str(&once), (struct str){NULL, 0}) ==
             WRITES_same);
    buffer_reset(&once);
    (void)writes_reservation_put(&once, body, &consumer);
    (void)writes_deallocation_put(&once, body, &release);
    (void)writes_special_claim_unprotect(&once, body, &release);
    buffer_free(&once);
    buffer_free(&twice);
}

static void read_pod(struct str json)
{
    struct writes_pod pod;
    struct buffer patch = {0};
    if (writes_pod_read(json, &pod, &arena))
        must(writes_disruption(&patch, &pod, &(struct writes_preemptor){{"s", 1}, "pod"}, 0) ==
             (patch.len > 0));
    buffer_free(&patch);
}

static void read_lease(struct str json)
{
    struct writes_lease lease;
    struct buffer body = {0};
    if (writes_lease_read(json, &lease, &arena))
        writes_lease_put(&body, &lease, json, (struct str){"n", 1}, (struct str){"l", 1});
    buffer_free(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writes_status status;
    if (size == 0)
        return 0;
    /* A copy of its own, so that reading past the end is seen. */
    char *copy = memory_copy(data + 1, size - 1);
    struct str text = {copy, (uint32_t)(size - 1)};
    switch (data[0] % 6) {
    case 0: put_twice(true, text); break;
    case 1: put_twice(false, text); break;
    case 2: read_pod(text); break;
    case 3: read_lease(text); break;
    case 4: put_devices(text); break;
    default: writes_status_read(text, &status, &arena); break;
    }
    memory_free(copy);
    arena_reset(&arena);
    return 0;
}
