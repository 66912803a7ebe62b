/* claims_out: the one idea: an allocation is printed as status.allocation of a ResourceClaim, so
 * that it can be held against a live one field by field.
 *
 * What must stay true: no order of a hash table shows. */
#include "ctl/claims_out.h"

#include "ctl/claim_configs.h"

#include <stdlib.h>

/* ---- an allocation ---- */

static void tolerations(struct json_out *j, const struct allocated_device *d)
{
    if (d->tolerations.count == 0)
        return;
    json_open(j, "tolerations", '[');
    for (uint32_t i = 0; i < d->tolerations.count; i++) {
        const struct device_toleration *t = &d->tolerations.at[i];
        json_open(j, NULL, '{');
        json_str_if(j, "key", t->key);
        json_str_if(j, "operator", t->operator_name);
        json_str_if(j, "value", t->value);
        json_str_if(j, "effect", t->effect);
        if (t->has_seconds)
            json_i64(j, "tolerationSeconds", t->seconds);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void consumed(struct json_out *j, const struct allocated_device *d)
{
    struct arena a = {0};
    if (d->consumed.count == 0)
        return;
    json_open(j, "consumedCapacity", '{');
    for (uint32_t i = 0; i < d->consumed.count; i++)
        json_str(j, arena_print(&a, "%.*s%c", STR_ARG(d->consumed.at[i].key), 0).at,
                 d->consumed.at[i].value);
    json_close(j, '}');
    arena_free(&a);
}

static void results(struct json_out *j, const struct allocated_device *at, uint32_t count)
{
    json_open(j, "results", '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct allocated_device *d = &at[i];
        json_open(j, NULL, '{');
        json_str(j, "request", d->request);
        json_str(j, "driver", d->driver);
        json_str(j, "pool", d->pool);
        json_str(j, "device", d->device);
        if (d->has_admin_access)
            json_bool(j, "adminAccess", d->admin_access);
        tolerations(j, d);
        json_strs_if(j, "bindingConditions", d->binding_conditions);
        json_strs_if(j, "bindingFailureConditions", d->binding_failure_conditions);
        json_strs_if(j, "skipNodeOperations", d->skips);
        json_str_if(j, "shareID", d->share_id);
        consumed(j, d);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* As they were written. What is no JSON, which the API server takes from nobody, is a text, or it
 * would spoil all that is around it. */
static void parameters(struct json_out *j, struct str given)
{
    struct buffer why_not = {0};
    if (kube_json_explain(given, &why_not))
        json_raw(j, "parameters", given);
    else
        json_str_if(j, "parameters", given);
    buffer_free(&why_not);
}

static void configs(struct json_out *j, const struct device_allocation *given)
{
    if (given->config.count == 0)
        return;
    json_open(j, "config", '[');
    for (uint32_t i = 0; i < given->config.count; i++) {
        const struct opaque_config *config = &given->config.at[i];
        json_open(j, NULL, '{');
        json_str_if(j, "source", config->source);
        json_strs_if(j, "requests", config->requests);
        if (config->driver.len > 0) {
            json_open(j, "opaque", '{');
            json_str(j, "driver", config->driver);
            parameters(j, config->parameters);
            json_close(j, '}');
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void requirements(struct json_out *j, const char *key, const struct requirement *at,
                         uint32_t count)
{
    if (count == 0)
        return;
    json_open(j, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        json_open(j, NULL, '{');
        json_str(j, "key", at[i].key);
        json_str(j, "operator", at[i].operator_name);
        json_strs_if(j, "values", at[i].values);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void node_selector(struct json_out *j, const struct node_term *at, uint32_t count)
{
    json_open(j, "nodeSelector", '{');
    json_open(j, "nodeSelectorTerms", '[');
    for (uint32_t i = 0; i < count; i++) {
        json_open(j, NULL, '{');
        requirements(j, "matchExpressions", at[i].expressions.at, at[i].expressions.count);
        requirements(j, "matchFields", at[i].fields.at, at[i].fields.count);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void allocation(struct json_out *j, const struct device_allocation *given)
{
    json_open(j, "allocation", '{');
    json_open(j, "devices", '{');
    results(j, given->devices.at, given->devices.count);
    configs(j, given);
    json_close(j, '}');
    if (given->has_terms)
        node_selector(j, given->terms.at, given->terms.count);
    json_close(j, '}');
}

/* ---- of a pod ---- */

static void one_given(struct json_out *j, struct str space, struct str claim,
                      const struct device_allocation *given)
{
    struct arena a = {0};
    json_open(j, NULL, '{');
    json_str(j, "claim", arena_print(&a, "%.*s/%.*s", STR_ARG(space), STR_ARG(claim)));
    allocation(j, given);
    json_close(j, '}');
    arena_free(&a);
}

void claims_out_given(struct json_out *j, const struct pod *pod,
                      const struct device_reservation *given)
{
    struct arena a = {0};
    if (given->count == 0 && given->extended == NULL)
        return;
    json_open(j, "allocations", '[');
    for (uint32_t i = 0; i < given->count; i++)
        one_given(j, pod->namespace_name, given->at[i].claim, &given->at[i]);
    if (given->extended != NULL)
        one_given(j, pod->namespace_name, world_special_claim_name(pod, &a),
                  &given->extended->allocation);
    json_close(j, ']');
    arena_free(&a);
}

/* ---- all claims ---- */

static int compare(const void *a, const void *b)
{
    const struct resource_claim *x = a, *y = b;
    int spaces = str_compare(x->namespace_name, y->namespace_name);
    return spaces != 0 ? spaces : str_compare(x->name, y->name);
}

static void one_final(struct json_out *j, const struct world *w, const struct resource_claim *claim)
{
    struct arena a = {0};
    struct device_allocation given =
        claim_configs_get(world_claim_configs(w), claim->namespace_name, claim->name, &a);
    given.devices.at = claim->devices.at;
    given.devices.count = claim->devices.count;
    given.has_terms = claim->has_terms;
    given.terms.at = claim->terms.at;
    given.terms.count = claim->terms.count;
    json_open(j, NULL, '{');
    json_str(j, "claim",
             arena_print(&a, "%.*s/%.*s", STR_ARG(claim->namespace_name), STR_ARG(claim->name)));
    if (claim->allocated)
        allocation(j, &given);
    json_strs_if(j, "reservedFor", claim->reserved_for);
    json_close(j, '}');
    arena_free(&a);
}

void claims_out_final(struct json_out *j, const struct world *w)
{
    const struct catalog *catalog = world_catalog(w);
    uint32_t count = catalog_count(catalog, CATALOG_resource_claim), found = 0;
    const struct resource_claim *claim;
    struct arena a = {0};
    size_t at = 0;
    if (count == 0)
        return;
    struct resource_claim *all = arena_take(&a, count * sizeof(*all));
    while (found < count && (claim = catalog_next(catalog, CATALOG_resource_claim, &at)) != NULL)
        codec_copy(&resource_claim_record, &all[found++], claim, &a);
    qsort(all, found, sizeof(*all), compare);
    json_open(j, "finalClaims", '[');
    for (uint32_t i = 0; i < found; i++)
        one_final(j, w, &all[i]);
    json_close(j, ']');
    arena_free(&a);
}
