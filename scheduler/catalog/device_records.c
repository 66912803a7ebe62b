/* device_records: from messages to the device store's structs, and back for what the binder writes.
 * The one idea: both sides say the same in other words, so everything is copied member by member
 * and nothing is decided here. What must stay true: no text is copied on the way in, so what was
 * made lives no longer than what it was made of. */
#include "scheduler/catalog/device_records.h"

#include "proto/base/uuid.h"
#include "scheduler/cel/cel.h"

#include <string.h>

static struct dra_amount *amounts(const struct label *at, uint32_t count, struct arena *a)
{
    struct dra_amount *out = arena_take(a, count * sizeof(*out));
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct dra_amount){at[i].key, at[i].value};
    return out;
}

/* ---- slices ---- */

static const enum cel_attribute_kind kinds[] = {
    [ATTRIBUTE_none] = CEL_ATTRIBUTE_none,       [ATTRIBUTE_int] = CEL_ATTRIBUTE_int,
    [ATTRIBUTE_bool] = CEL_ATTRIBUTE_bool,       [ATTRIBUTE_string] = CEL_ATTRIBUTE_string,
    [ATTRIBUTE_version] = CEL_ATTRIBUTE_version, [ATTRIBUTE_ints] = CEL_ATTRIBUTE_list,
    [ATTRIBUTE_bools] = CEL_ATTRIBUTE_list,      [ATTRIBUTE_strings] = CEL_ATTRIBUTE_list,
    [ATTRIBUTE_versions] = CEL_ATTRIBUTE_list};

/* Of a list: what its values are of. */
static enum cel_attribute_kind item_kind(enum attribute_kind kind)
{
    switch (kind) {
    case ATTRIBUTE_ints: return CEL_ATTRIBUTE_int;
    case ATTRIBUTE_bools: return CEL_ATTRIBUTE_bool;
    case ATTRIBUTE_strings: return CEL_ATTRIBUTE_string;
    case ATTRIBUTE_versions: return CEL_ATTRIBUTE_version;
    default: return CEL_ATTRIBUTE_none;
    }
}

static const struct cel_attribute *attribute_values(const struct device_attribute *from,
                                                    struct arena *a)
{
    struct cel_attribute *out = arena_take(a, from->values.count * sizeof(*out));
    for (uint32_t i = 0; i < from->values.count; i++) {
        struct str text = from->values.at[i];
        out[i] = (struct cel_attribute){
            .kind = item_kind(from->kind), .truth = str_is(text, "true"), .text = text};
        str_to_i64(text, &out[i].number);
    }
    return out;
}

static struct cel_attribute *attributes(const struct slice_device *device, struct arena *a)
{
    struct cel_attribute *out = arena_take(a, device->attributes.count * sizeof(*out));
    for (uint32_t i = 0; i < device->attributes.count; i++) {
        const struct device_attribute *from = &device->attributes.at[i];
        out[i] = (struct cel_attribute){.name = from->name,
                                        .kind = kinds[from->kind],
                                        .truth = from->number != 0,
                                        .number = from->number,
                                        .text = from->text,
                                        .value_count = from->values.count,
                                        .values = attribute_values(from, a)};
    }
    return out;
}

static struct dra_capacity *capacities(const struct slice_device *device, struct arena *a)
{
    struct dra_capacity *out = arena_take(a, device->capacity.count * sizeof(*out));
    for (uint32_t i = 0; i < device->capacity.count; i++) {
        const struct device_capacity *from = &device->capacity.at[i];
        out[i] = (struct dra_capacity){.name = from->name,
                                       .value = from->value,
                                       .has_policy = from->has_policy,
                                       .policy = {.standard = from->default_request,
                                                  .has_range = from->has_range,
                                                  .least = from->range_min,
                                                  .most = from->range_max,
                                                  .step = from->range_step,
                                                  .value_count = from->valid_values.count,
                                                  .values = from->valid_values.at}};
    }
    return out;
}

static struct dra_counters *counters(const struct device_counters *at, uint32_t count,
                                     struct arena *a)
{
    struct dra_counters *out = arena_take(a, count * sizeof(*out));
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct dra_counters){.set = at[i].name,
                                       .count = at[i].counters.count,
                                       .at = amounts(at[i].counters.at, at[i].counters.count, a),
                                       .groups = at[i].groups};
    return out;
}

static struct dra_taint *taints(const struct slice_device *device, struct arena *a)
{
    struct dra_taint *out = arena_take(a, device->taints.count * sizeof(*out));
    for (uint32_t i = 0; i < device->taints.count; i++) {
        const struct taint *from = &device->taints.at[i];
        out[i] = (struct dra_taint){from->key, from->value, from->effect};
    }
    return out;
}

static struct dra_node_resource *node_resources(const struct slice_device *device, struct arena *a)
{
    struct dra_node_resource *out = arena_take(a, device->node_resources.count * sizeof(*out));
    for (uint32_t i = 0; i < device->node_resources.count; i++) {
        const struct device_node_resource *from = &device->node_resources.at[i];
        out[i] = (struct dra_node_resource){.name = from->name,
                                            .maps = from->maps,
                                            .capacity_key = from->capacity_key,
                                            .multiplier = from->multiplier,
                                            .has_overhead = from->has_overhead,
                                            .per_pod = from->per_pod,
                                            .per_container = from->per_container,
                                            .old = from->old};
    }
    return out;
}

static struct dra_device device_of(const struct slice_device *from, struct arena *a)
{
    return (struct dra_device){.name = from->name,
                               .attribute_count = from->attributes.count,
                               .attributes = attributes(from, a),
                               .capacity_count = from->capacity.count,
                               .capacities = capacities(from, a),
                               .allow_multiple = from->shareable,
                               .binds_to_node = from->binds_to_node,
                               .reach = {.node_name = from->node_name,
                                         .all_nodes = from->all_nodes,
                                         .has_terms = from->has_terms,
                                         .term_count = from->terms.count,
                                         .terms = from->terms.at},
                               .consumes_count = from->consumes.count,
                               .consumes = counters(from->consumes.at, from->consumes.count, a),
                               .taint_count = from->taints.count,
                               .taints = taints(from, a),
                               .binding_conditions = from->binding_conditions,
                               .binding_failure_conditions = from->binding_failure_conditions,
                               .node_resource_count = from->node_resources.count,
                               .node_resources = node_resources(from, a)};
}

struct dra_slice dra_slice_of(const struct resource_slice *from, struct arena *a)
{
    struct dra_device *devices = arena_take(a, from->devices.count * sizeof(*devices));
    for (uint32_t i = 0; i < from->devices.count; i++)
        devices[i] = device_of(&from->devices.at[i], a);
    return (struct dra_slice){.name = from->name,
                              .driver = from->driver,
                              .pool = from->pool,
                              .generation = from->pool_generation,
                              .slice_count = from->pool_slices,
                              .reach = {.node_name = from->node_name,
                                        .all_nodes = from->all_nodes,
                                        .has_terms = from->has_terms,
                                        .term_count = from->terms.count,
                                        .terms = from->terms.at},
                              .per_device = from->by_device,
                              .shared_count = from->shared.count,
                              .shared = counters(from->shared.at, from->shared.count, a),
                              .device_count = from->devices.count,
                              .devices = devices,
                              .skips = from->skips};
}

/* ---- classes and claims ---- */

static struct dra_config *configs(const struct opaque_config *at, uint32_t count, struct arena *a)
{
    struct dra_config *out = arena_take(a, count * sizeof(*out));
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct dra_config){.requests = at[i].requests,
                                     .from_class = str_is(at[i].source, "FromClass"),
                                     .driver = at[i].driver,
                                     .parameters = at[i].parameters,
                                     .opaque = at[i].driver.len > 0};
    return out;
}

struct dra_class dra_class_of(const struct device_class *class, struct arena *a)
{
    return (struct dra_class){.name = class->name,
                              .selector_count = class->selectors.count,
                              .selectors = class->selectors.at,
                              .config_count = class->config.count,
                              .configs = configs(class->config.at, class->config.count, a)};
}

static struct dra_toleration *tolerations(const struct device_ask *ask, struct arena *a)
{
    struct dra_toleration *out = arena_take(a, ask->tolerations.count * sizeof(*out));
    for (uint32_t i = 0; i < ask->tolerations.count; i++) {
        const struct device_toleration *from = &ask->tolerations.at[i];
        out[i] = (struct dra_toleration){.key = from->key,
                                         .operator_name = from->operator_name,
                                         .value = from->value,
                                         .effect = from->effect,
                                         .has_seconds = from->has_seconds,
                                         .seconds = from->seconds};
    }
    return out;
}

/* As SetDefaults_ExactDeviceRequest: a claim that no API server has completed asks for one device,
 * never for none. */
static int64_t count_of(const struct device_ask *ask)
{
    bool by_count = ask->mode.len == 0 || str_is(ask->mode, "ExactCount");
    return by_count && ask->count == 0 ? 1 : ask->count;
}

static struct dra_derived *derived_of(const struct device_ask *ask, struct arena *a)
{
    struct dra_derived *out = arena_take(a, ask->derived.count * sizeof(*out));
    for (uint32_t i = 0; i < ask->derived.count; i++)
        out[i] = (struct dra_derived){ask->derived.at[i].key, ask->derived.at[i].value};
    return out;
}

static struct dra_choice choice_of(const struct device_ask *ask, bool exactly, struct arena *a)
{
    return (struct dra_choice){.name = exactly ? (struct str){0} : ask->name,
                               .class_name = ask->class_name,
                               .selector_count = ask->selectors.count,
                               .selectors = ask->selectors.at,
                               .mode = ask->mode.len > 0 ? ask->mode : STR_LITERAL("ExactCount"),
                               .count = count_of(ask),
                               .admin_access = ask->admin_access,
                               .toleration_count = ask->tolerations.count,
                               .tolerations = tolerations(ask, a),
                               .capacity_count = ask->capacity.count,
                               .capacities = amounts(ask->capacity.at, ask->capacity.count, a),
                               .derived_count = ask->derived.count,
                               .derived = derived_of(ask, a)};
}

static struct dra_request request_of(const struct device_request *from, struct arena *a)
{
    struct dra_choice *choices = arena_take(a, from->asks.count * sizeof(*choices));
    for (uint32_t i = 0; i < from->asks.count; i++)
        choices[i] = choice_of(&from->asks.at[i], from->exactly, a);
    return (struct dra_request){.name = from->name,
                                .first_available = !from->exactly,
                                .choice_count = from->asks.count,
                                .choices = choices};
}

struct dra_claim dra_claim_of(const struct resource_claim *claim, struct arena *a)
{
    struct dra_request *requests = arena_take(a, claim->requests.count * sizeof(*requests));
    struct dra_constraint *constraints =
        arena_take(a, claim->constraints.count * sizeof(*constraints));
    for (uint32_t i = 0; i < claim->requests.count; i++)
        requests[i] = request_of(&claim->requests.at[i], a);
    for (uint32_t i = 0; i < claim->constraints.count; i++) {
        const struct device_constraint *from = &claim->constraints.at[i];
        constraints[i] = (struct dra_constraint){from->requests, from->match_attribute,
                                                 from->distinct_attribute};
    }
    return (struct dra_claim){.namespace_name = claim->namespace_name,
                              .name = claim->name,
                              .request_count = claim->requests.count,
                              .requests = requests,
                              .constraint_count = claim->constraints.count,
                              .constraints = constraints,
                              .config_count = claim->config.count,
                              .configs = configs(claim->config.at, claim->config.count, a)};
}

struct dra_use *dra_uses_of(const struct allocated_device *at, uint32_t count, struct arena *a)
{
    struct dra_use *out = arena_take(a, count * sizeof(*out));
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct dra_use){.driver = at[i].driver,
                                  .pool = at[i].pool,
                                  .device = at[i].device,
                                  .admin_access = at[i].admin_access,
                                  .shared = at[i].share_id.len > 0,
                                  .consumed_count = at[i].consumed.count,
                                  .consumed = amounts(at[i].consumed.at, at[i].consumed.count, a)};
    return out;
}

/* ---- what the binder writes ---- */

/* As Kubernetes makes them: version 4 of RFC 9562. */
static struct str random_uuid(struct random *random, struct arena *a)
{
    uint64_t dice[2] = {random_next(random), random_next(random)};
    uint8_t bytes[UUID_BYTES];
    char text[UUID_TEXT];
    memcpy(bytes, dice, sizeof(bytes));
    bytes[6] = (uint8_t)((bytes[6] & 0x0F) | 0x40);
    bytes[8] = (uint8_t)((bytes[8] & 0x3F) | 0x80);
    uuid_print(bytes, text);
    return arena_copy(a, (struct str){text, UUID_TEXT});
}

static void give_tolerations(const struct dra_result *from, struct allocated_device *out,
                             struct arena *a)
{
    out->tolerations.at = arena_take(a, from->toleration_count * sizeof(*out->tolerations.at));
    for (uint32_t i = 0; i < from->toleration_count; i++) {
        const struct dra_toleration *t = &from->tolerations[i];
        out->tolerations.at[out->tolerations.count++] =
            (struct device_toleration){.key = t->key,
                                       .operator_name = t->operator_name,
                                       .value = t->value,
                                       .effect = t->effect,
                                       .has_seconds = t->has_seconds,
                                       .seconds = t->seconds};
    }
}

static struct allocated_device given(const struct dra_result *from, struct random *random,
                                     struct arena *a)
{
    struct allocated_device out = {.request = from->request,
                                   .driver = from->use.driver,
                                   .pool = from->use.pool,
                                   .device = from->use.device,
                                   .has_admin_access = from->use.admin_access,
                                   .admin_access = from->use.admin_access,
                                   .binding_conditions = from->binding_conditions,
                                   .binding_failure_conditions = from->binding_failure_conditions,
                                   .skips = from->skips};
    give_tolerations(from, &out, a);
    if (from->use.shared)
        out.share_id = random_uuid(random, a);
    out.consumed.at = arena_take(a, from->use.consumed_count * sizeof(*out.consumed.at));
    for (uint32_t i = 0; i < from->use.consumed_count; i++)
        out.consumed.at[out.consumed.count++] =
            (struct label){from->use.consumed[i].name, from->use.consumed[i].value};
    return out;
}

struct device_allocation device_allocation_of(const struct dra_allocation *from,
                                              const struct resource_claim *claim,
                                              struct random *random, struct arena *a)
{
    struct device_allocation out = {.claim = claim->name,
                                    .uid = claim->uid,
                                    .has_terms = from->has_selector},
                             copy;
    struct node_term term = from->selector;
    out.devices.at = arena_take(a, from->result_count * sizeof(*out.devices.at));
    for (uint32_t i = 0; i < from->result_count; i++)
        out.devices.at[out.devices.count++] = given(&from->results[i], random, a);
    out.config.at = arena_take(a, from->config_count * sizeof(*out.config.at));
    for (uint32_t i = 0; i < from->config_count; i++) {
        const struct dra_config *c = &from->configs[i];
        out.config.at[out.config.count++] = (struct opaque_config){
            .requests = c->requests,
            .source = c->from_class ? STR_LITERAL("FromClass") : STR_LITERAL("FromClaim"),
            .driver = c->driver,
            .parameters = c->parameters};
    }
    out.terms.count = from->has_selector;
    out.terms.at = &term;
    codec_copy(&device_allocation_record, &copy, &out, a);
    return copy;
}

/* ---- the score ---- */

static bool has_got(const struct resource_claim *claim, const struct device_request *request,
                    const struct device_ask *ask)
{
    for (uint32_t i = 0; i < claim->devices.count; i++) {
        struct str of = claim->devices.at[i].request;
        uint32_t len = request->name.len;
        if (of.len == len + 1 + ask->name.len && memcmp(of.at, request->name.at, len) == 0 &&
            of.at[len] == '/' && memcmp(of.at + len + 1, ask->name.at, ask->name.len) == 0)
            return true;
    }
    return false;
}

int64_t device_claim_score(const struct resource_claim *claim)
{
    int64_t score = 0;
    for (uint32_t i = 0; i < claim->requests.count; i++) {
        const struct device_request *request = &claim->requests.at[i];
        for (uint32_t k = 0; !request->exactly && k < request->asks.count; k++)
            score += has_got(claim, request, &request->asks.at[k])
                         ? DRA_SUBREQUESTS_MAX - (int64_t)k
                         : 0;
    }
    return score;
}
