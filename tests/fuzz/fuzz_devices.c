/* fuzz_devices: any bytes as a question to the device allocator (tests/fidelity/devices/cases.h):
 * slices, classes, claims and nodes as JSON, whatever is wrong with them. The search must end
 * within its limit and stay within its bounds, its answer must be the same when it is asked again,
 * and what it gives must be there to be given back. */
#include "proto/base/must.h"
#include "tests/fidelity/devices/cases.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_back(const struct dra_case *c)
{
    const struct kube_json *list = kube_json_get(c->json, "allocated");
    struct arena arena = {0};
    for (const struct kube_json *v = kube_json_first(list); v != NULL; v = kube_json_next(v)) {
        uint32_t count;
        const struct dra_use *uses = case_uses(v, &arena, &count);
        devices_give_back(c->devices, uses, count);
    }
    must(devices_totals(c->devices).in_use == 0);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dra_case c;
    struct str error = {0};
    struct buffer once = {0}, again = {0};
    if (case_read(&c, (struct str){(const char *)data, (uint32_t)size}, &error) &&
        c.claim_count < 8 && c.node_count < 8) {
        case_answer(&c, &once);
        case_answer(&c, &again);
        must(str_equal(buffer_str(&once), buffer_str(&again)));
        take_back(&c);
    }
    buffer_free(&once);
    buffer_free(&again);
    case_free(&c);
    return 0;
}
