/* cases: reads ResourceSlices, DeviceClasses, ResourceClaims and Nodes from JSON, asks the
 * allocator and writes what it says as Go writes upstream's structs. What must stay true: the order
 * of members is Go's, so that golden answers can be compared as texts. */
#include "tests/fidelity/devices/cases.h"

#include "proto/kube/release/feature_gates.h"
#include "tests/fidelity/cel/cases.h"

#include <string.h>

typedef const struct kube_json *json;

static struct str text(json object, const char *member)
{
    return kube_json_text(kube_json_get(object, member));
}

static bool truth(json object, const char *member)
{
    return kube_json_true(kube_json_get(object, member));
}

static int64_t number(json object, const char *member, int64_t otherwise)
{
    int64_t value = otherwise;
    kube_json_i64(kube_json_get(object, member), &value);
    return value;
}

/* for (EACH(name, list)): name is the element. */
#define EACH(name, list)                                                                           \
    json name = kube_json_first(list);                                                             \
    name != NULL;                                                                                  \
    name = kube_json_next(name)

static struct strs texts(json list, struct arena *a)
{
    struct strs out = {0, arena_take(a, kube_json_count(list) * sizeof(*out.at))};
    for (EACH(v, list))
        out.at[out.count++] = kube_json_text(v);
    return out;
}

/* ---- slices ---- */

static struct dra_amount *amounts(json object, struct arena *a, uint32_t *count)
{
    struct dra_amount *out = arena_take(a, kube_json_count(object) * sizeof(*out));
    for (EACH(v, object)) {
        struct str value =
            kube_json_is_object(v) ? text(v, "value") : kube_json_text(v); /* a Counter or not */
        out[(*count)++] = (struct dra_amount){kube_json_name(v), value};
    }
    return out;
}

static void requirements(json list, struct arena *a, uint32_t *count, struct requirement **out)
{
    *out = arena_take(a, kube_json_count(list) * sizeof(**out));
    for (EACH(v, list))
        (*out)[(*count)++] = (struct requirement){text(v, "key"), text(v, "operator"),
                                                  texts(kube_json_get(v, "values"), a)};
}

static struct dra_reach reach(json object, struct arena *a)
{
    json terms = kube_json_path(object, "nodeSelector.nodeSelectorTerms");
    struct node_term *out = arena_take(a, kube_json_count(terms) * sizeof(*out));
    struct dra_reach r = {.node_name = text(object, "nodeName"),
                          .all_nodes = truth(object, "allNodes"),
                          .has_terms = kube_json_get(object, "nodeSelector") != NULL,
                          .terms = out};
    for (EACH(v, terms)) {
        struct node_term *t = &out[r.term_count++];
        requirements(kube_json_get(v, "matchExpressions"), a, &t->expressions.count,
                     &t->expressions.at);
        requirements(kube_json_get(v, "matchFields"), a, &t->fields.count, &t->fields.at);
    }
    return r;
}

static struct cel_attribute attribute(json v, struct arena *a)
{
    struct cel_attribute out = {.name = kube_json_name(v)};
    json found;
    if (case_list(v, a, &out))
        return out;
    if ((found = kube_json_get(v, "bool")) != NULL) {
        out.kind = CEL_ATTRIBUTE_bool;
        out.truth = kube_json_true(found);
    } else if (kube_json_i64(kube_json_get(v, "int"), &out.number)) {
        out.kind = CEL_ATTRIBUTE_int;
    } else if ((found = kube_json_get(v, "string")) != NULL) {
        out.kind = CEL_ATTRIBUTE_string;
        out.text = kube_json_text(found);
    } else if ((found = kube_json_get(v, "version")) != NULL) {
        out.kind = CEL_ATTRIBUTE_version;
        out.text = kube_json_text(found);
    }
    return out;
}

static struct dra_policy policy(json p, struct arena *a)
{
    json range = kube_json_get(p, "validRange");
    struct strs values = texts(kube_json_get(p, "validValues"), a);
    return (struct dra_policy){.standard = text(p, "default"),
                               .has_range = range != NULL,
                               .least = text(range, "min"),
                               .most = text(range, "max"),
                               .step = text(range, "step"),
                               .value_count = values.count,
                               .values = values.at};
}

static struct dra_counters *counters(json list, const char *name, struct arena *a, uint32_t *count)
{
    struct dra_counters *out = arena_take(a, kube_json_count(list) * sizeof(*out));
    for (EACH(v, list)) {
        struct dra_counters *c = &out[(*count)++];
        c->set = text(v, name);
        c->at = amounts(kube_json_get(v, "counters"), a, &c->count);
        c->groups = texts(kube_json_get(v, "compatibilityGroups"), a);
    }
    return out;
}

static void device_lists(json v, struct arena *a, struct dra_device *d)
{
    json attributes = kube_json_get(v, "attributes"), capacities = kube_json_get(v, "capacity");
    json taints = kube_json_get(v, "taints");
    struct cel_attribute *attribute_at =
        arena_take(a, kube_json_count(attributes) * sizeof(*attribute_at));
    for (EACH(at, attributes))
        attribute_at[d->attribute_count++] = attribute(at, a);
    d->attributes = attribute_at;
    struct dra_capacity *capacity_at =
        arena_take(a, kube_json_count(capacities) * sizeof(*capacity_at));
    for (EACH(c, capacities)) {
        json p = kube_json_get(c, "requestPolicy");
        capacity_at[d->capacity_count++] =
            (struct dra_capacity){kube_json_name(c), text(c, "value"), p != NULL, policy(p, a)};
    }
    d->capacities = capacity_at;
    struct dra_taint *taint_at = arena_take(a, kube_json_count(taints) * sizeof(*taint_at));
    for (EACH(t, taints))
        taint_at[d->taint_count++] =
            (struct dra_taint){text(t, "key"), text(t, "value"), text(t, "effect")};
    d->taints = taint_at;
}

static struct dra_device device(json v, struct arena *a)
{
    struct dra_device d = {.name = text(v, "name"),
                           .allow_multiple = truth(v, "allowMultipleAllocations"),
                           .binds_to_node = truth(v, "bindsToNode"),
                           .reach = reach(v, a)};
    d.binding_conditions = texts(kube_json_get(v, "bindingConditions"), a);
    d.binding_failure_conditions = texts(kube_json_get(v, "bindingFailureConditions"), a);
    d.consumes = counters(kube_json_get(v, "consumesCounters"), "counterSet", a, &d.consumes_count);
    device_lists(v, a, &d);
    return d;
}

struct dra_slice case_slice(const struct kube_json *v, struct arena *a)
{
    json spec = kube_json_get(v, "spec"), devices = kube_json_get(spec, "devices");
    json pool = kube_json_get(spec, "pool");
    struct dra_device *at = arena_take(a, kube_json_count(devices) * sizeof(*at));
    struct dra_slice s = {.name = kube_json_text(kube_json_path(v, "metadata.name")),
                          .driver = text(spec, "driver"),
                          .pool = text(pool, "name"),
                          .generation = number(pool, "generation", 0),
                          .slice_count = number(pool, "resourceSliceCount", 0),
                          .reach = reach(spec, a),
                          .per_device = truth(spec, "perDeviceNodeSelection"),
                          .devices = at};
    s.shared = counters(kube_json_get(spec, "sharedCounters"), "name", a, &s.shared_count);
    for (EACH(d, devices))
        at[s.device_count++] = device(d, a);
    return s;
}

/* ---- classes and claims ---- */

static struct str *selectors(json list, struct arena *a, uint32_t *count)
{
    struct str *out = arena_take(a, kube_json_count(list) * sizeof(*out));
    for (EACH(v, list))
        out[(*count)++] = kube_json_text(kube_json_path(v, "cel.expression"));
    return out;
}

static struct dra_config *configs(json list, struct arena *a, uint32_t *count)
{
    struct dra_config *out = arena_take(a, kube_json_count(list) * sizeof(*out));
    for (EACH(v, list)) {
        struct buffer written = {0};
        json opaque = kube_json_get(v, "opaque");
        if (kube_json_get(opaque, "parameters") != NULL)
            kube_json_write(kube_json_get(opaque, "parameters"), &written);
        out[(*count)++] = (struct dra_config){.requests = texts(kube_json_get(v, "requests"), a),
                                              .driver = text(opaque, "driver"),
                                              .parameters = arena_copy(a, buffer_str(&written)),
                                              .opaque = opaque != NULL};
        buffer_free(&written);
    }
    return out;
}

static struct dra_class class_of(json v, struct arena *a)
{
    json spec = kube_json_get(v, "spec");
    struct dra_class c = {.name = kube_json_text(kube_json_path(v, "metadata.name"))};
    c.selectors = selectors(kube_json_get(spec, "selectors"), a, &c.selector_count);
    c.configs = configs(kube_json_get(spec, "config"), a, &c.config_count);
    return c;
}

static struct dra_choice choice(json v, struct arena *a)
{
    json tolerations = kube_json_get(v, "tolerations");
    struct dra_toleration *at = arena_take(a, kube_json_count(tolerations) * sizeof(*at));
    struct dra_choice c = {.name = text(v, "name"),
                           .class_name = text(v, "deviceClassName"),
                           .mode = text(v, "allocationMode"),
                           .count = number(v, "count", 0),
                           .admin_access = truth(v, "adminAccess"),
                           .tolerations = at};
    c.selectors = selectors(kube_json_get(v, "selectors"), a, &c.selector_count);
    for (EACH(t, tolerations))
        at[c.toleration_count++] =
            (struct dra_toleration){.key = text(t, "key"),
                                    .operator_name = text(t, "operator"),
                                    .value = text(t, "value"),
                                    .effect = text(t, "effect"),
                                    .has_seconds = kube_json_get(t, "tolerationSeconds") != NULL,
                                    .seconds = number(t, "tolerationSeconds", 0)};
    c.capacities = amounts(kube_json_path(v, "capacity.requests"), a, &c.capacity_count);
    json derived = kube_json_get(v, "derivedAttributes");
    struct dra_derived *derived_at = arena_take(a, kube_json_count(derived) * sizeof(*derived_at));
    for (EACH(d, derived))
        derived_at[c.derived_count++] =
            (struct dra_derived){text(d, "name"), text(d, "expression")};
    c.derived = derived_at;
    return c;
}

static struct dra_request request(json v, struct arena *a)
{
    json list = kube_json_get(v, "firstAvailable"), exactly = kube_json_get(v, "exactly");
    struct dra_choice *at = arena_take(a, (kube_json_count(list) + 1) * sizeof(*at));
    struct dra_request r = {.name = text(v, "name"), .choices = at};
    r.first_available = kube_json_count(list) > 0;
    for (EACH(c, list))
        at[r.choice_count++] = choice(c, a);
    if (!r.first_available)
        at[r.choice_count++] = choice(exactly, a);
    return r;
}

static struct dra_claim claim(json v, struct arena *a)
{
    json meta = kube_json_get(v, "metadata"), devices = kube_json_path(v, "spec.devices");
    json requests = kube_json_get(devices, "requests");
    json constraints = kube_json_get(devices, "constraints");
    struct dra_request *request_at = arena_take(a, kube_json_count(requests) * sizeof(*request_at));
    struct dra_constraint *constraint_at =
        arena_take(a, kube_json_count(constraints) * sizeof(*constraint_at));
    struct dra_claim c = {.namespace_name = text(meta, "namespace"), .name = text(meta, "name")};
    for (EACH(r, requests))
        request_at[c.request_count++] = request(r, a);
    for (EACH(k, constraints))
        constraint_at[c.constraint_count++] =
            (struct dra_constraint){texts(kube_json_get(k, "requests"), a),
                                    text(k, "matchAttribute"), text(k, "distinctAttribute")};
    c.requests = request_at;
    c.constraints = constraint_at;
    c.configs = configs(kube_json_get(devices, "config"), a, &c.config_count);
    return c;
}

const struct dra_use *case_uses(const struct kube_json *v, struct arena *a, uint32_t *count)
{
    json results = kube_json_path(v, "status.allocation.devices.results");
    struct dra_use *out = arena_take(a, kube_json_count(results) * sizeof(*out));
    *count = 0;
    for (EACH(r, results)) {
        struct dra_use *use = &out[(*count)++];
        *use = (struct dra_use){.driver = text(r, "driver"),
                                .pool = text(r, "pool"),
                                .device = text(r, "device"),
                                .admin_access = truth(r, "adminAccess"),
                                .shared = kube_json_get(r, "shareID") != NULL};
        use->consumed = amounts(kube_json_get(r, "consumedCapacity"), a, &use->consumed_count);
    }
    return out;
}

/* ---- a case ---- */

static bool node_label(const void *context, struct str key, struct str *value)
{
    const struct case_node *node = context;
    for (EACH(label, node->labels))
        if (str_equal(kube_json_name(label), key)) {
            *value = kube_json_text(label);
            return true;
        }
    return false;
}

static void read_nodes(struct dra_case *c, json list)
{
    c->nodes = arena_take(&c->arena, kube_json_count(list) * sizeof(*c->nodes));
    for (EACH(v, list)) {
        struct case_node *n = &c->nodes[c->node_count++];
        n->labels = kube_json_path(v, "metadata.labels");
        n->node = (struct dra_node){.name = kube_json_text(kube_json_path(v, "metadata.name")),
                                    .label = node_label,
                                    .context = n};
    }
}

/* As the flag --feature-gates would have it. */
static void read_features(struct dra_case *c, struct buffer *why)
{
    char error[256] = "";
    struct buffer text = {0};
    for (EACH(v, kube_json_get(c->json, "featureGates")))
        buffer_print(&text, "%s%.*s=%s", text.len > 0 ? "," : "", STR_ARG(kube_json_name(v)),
                     kube_json_true(v) ? "true" : "false");
    (void)feature_gates_read(text.len > 0 ? text.at : "",
                             release_of(number(c->json, "release", 36)), &c->features, error,
                             sizeof(error));
    buffer_add_text(why, error);
    buffer_free(&text);
}

bool case_read(struct dra_case *c, struct str line, struct str *error)
{
    struct buffer why = {0};
    memset(c, 0, sizeof(*c));
    c->json = kube_json_parse(line, error, &c->arena);
    if (c->json == NULL)
        return false;
    c->devices = devices_new();
    read_features(c, &why);
    for (EACH(v, kube_json_get(c->json, "slices"))) {
        struct dra_slice s = case_slice(v, &c->arena);
        devices_put_slice(c->devices, &s, &why);
    }
    for (EACH(v, kube_json_get(c->json, "classes"))) {
        struct dra_class k = class_of(v, &c->arena);
        devices_put_class(c->devices, &k);
    }
    for (EACH(v, kube_json_get(c->json, "allocated"))) {
        uint32_t count;
        const struct dra_use *uses = case_uses(v, &c->arena, &count);
        devices_take(c->devices, uses, count);
    }
    json claims = kube_json_get(c->json, "claims");
    c->claims = arena_take(&c->arena, kube_json_count(claims) * sizeof(*c->claims));
    for (EACH(v, claims))
        c->claims[c->claim_count++] = claim(v, &c->arena);
    read_nodes(c, kube_json_get(c->json, "nodes"));
    *error = arena_copy(&c->arena, buffer_str(&why));
    buffer_free(&why);
    return error->len == 0;
}

void case_free(struct dra_case *c)
{
    devices_free(&c->devices);
    kube_json_free(&c->json);
    arena_free(&c->arena);
}

/* ---- answers ---- */

static void add_string(struct buffer *out, struct str s)
{
    buffer_add_text(out, "\"");
    for (uint32_t i = 0; i < s.len; i++)
        if (s.at[i] == '"' || s.at[i] == '\\')
            buffer_print(out, "\\%c", s.at[i]);
        else if (s.at[i] == '\n')
            buffer_add_text(out, "\\n");
        else
            buffer_add(out, &s.at[i], 1);
    buffer_add_text(out, "\"");
}

/* `,"name":"value"`, unless it is empty. */
static void add_member(struct buffer *out, const char *name, struct str value)
{
    if (value.len == 0)
        return;
    if (out->at[out->len - 1] != '{')
        buffer_add_text(out, ",");
    buffer_print(out, "\"%s\":", name);
    add_string(out, value);
}

static void add_list(struct buffer *out, const char *name, struct strs list)
{
    if (list.count == 0)
        return;
    buffer_print(out, "%s\"%s\":[", out->at[out->len - 1] == '{' ? "" : ",", name);
    for (uint32_t i = 0; i < list.count; i++) {
        if (i > 0)
            buffer_add_text(out, ",");
        add_string(out, list.at[i]);
    }
    buffer_add_text(out, "]");
}

static void add_tolerations(struct buffer *out, const struct dra_result *r)
{
    for (uint32_t i = 0; i < r->toleration_count; i++) {
        const struct dra_toleration *t = &r->tolerations[i];
        buffer_add_text(out, i == 0 ? ",\"tolerations\":[{" : ",{");
        add_member(out, "key", t->key);
        add_member(out, "operator", t->operator_name);
        add_member(out, "value", t->value);
        add_member(out, "effect", t->effect);
        if (t->has_seconds)
            buffer_print(out, "%s\"tolerationSeconds\":%lld",
                         out->at[out->len - 1] == '{' ? "" : ",", (long long)t->seconds);
        buffer_add_text(out, i + 1 == r->toleration_count ? "}]" : "}");
    }
}

/* Go writes maps sorted. */
static void add_consumed(struct buffer *out, const struct dra_use *use)
{
    struct str last = {0};
    for (uint32_t i = 0; i < use->consumed_count; i++) {
        const struct dra_amount *next = NULL;
        for (uint32_t k = 0; k < use->consumed_count; k++) {
            const struct dra_amount *a = &use->consumed[k];
            if ((i == 0 || str_compare(a->name, last) > 0) &&
                (next == NULL || str_compare(a->name, next->name) < 0))
                next = a;
        }
        if (next == NULL)
            break; /* a name that occurs twice */
        buffer_add_text(out, i == 0 ? ",\"consumedCapacity\":{" : ",");
        add_string(out, next->name);
        buffer_add_text(out, ":");
        add_string(out, next->value);
        last = next->name;
    }
    if (use->consumed_count > 0)
        buffer_add_text(out, "}");
}

static void add_result(struct buffer *out, const struct dra_result *r)
{
    buffer_add_text(out, "{");
    add_member(out, "request", r->request);
    add_member(out, "driver", r->use.driver);
    add_member(out, "pool", r->use.pool);
    add_member(out, "device", r->use.device);
    if (r->use.admin_access)
        buffer_add_text(out, ",\"adminAccess\":true");
    add_tolerations(out, r);
    add_list(out, "bindingConditions", r->binding_conditions);
    add_list(out, "bindingFailureConditions", r->binding_failure_conditions);
    if (r->use.shared)
        buffer_add_text(out, ",\"shareID\":\"share\"");
    add_consumed(out, &r->use);
    buffer_add_text(out, "}");
}

static void add_config(struct buffer *out, const struct dra_config *c)
{
    buffer_print(out, "{\"source\":\"%s\"", c->from_class ? "FromClass" : "FromClaim");
    add_list(out, "requests", c->requests);
    if (c->opaque)
        buffer_print(out, ",\"opaque\":{\"driver\":\"%.*s\",\"parameters\":%.*s}",
                     STR_ARG(c->driver), STR_ARG(c->parameters));
    buffer_add_text(out, "}");
}

static void add_requirements(struct buffer *out, const char *name, uint32_t count,
                             const struct requirement *at)
{
    if (count == 0)
        return;
    buffer_print(out, "%s\"%s\":[", out->at[out->len - 1] == '{' ? "" : ",", name);
    for (uint32_t i = 0; i < count; i++) {
        buffer_add_text(out, i == 0 ? "{" : ",{");
        add_member(out, "key", at[i].key);
        add_member(out, "operator", at[i].operator_name);
        add_list(out, "values", at[i].values);
        buffer_add_text(out, "}");
    }
    buffer_add_text(out, "]");
}

static void add_allocation(struct buffer *out, const struct dra_allocation *a)
{
    buffer_add_text(out, "{\"devices\":{");
    for (uint32_t i = 0; i < a->result_count; i++) {
        buffer_add_text(out, i == 0 ? "\"results\":[" : ",");
        add_result(out, &a->results[i]);
    }
    buffer_add_text(out, a->result_count > 0 ? "]" : "");
    for (uint32_t i = 0; i < a->config_count; i++) {
        buffer_add_text(out, i > 0 ? "," : a->result_count > 0 ? ",\"config\":[" : "\"config\":[");
        add_config(out, &a->configs[i]);
    }
    buffer_add_text(out, a->config_count > 0 ? "]}" : "}");
    if (a->has_selector) {
        buffer_add_text(out, ",\"nodeSelector\":{\"nodeSelectorTerms\":[{");
        add_requirements(out, "matchExpressions", a->selector.expressions.count,
                         a->selector.expressions.at);
        add_requirements(out, "matchFields", a->selector.fields.count, a->selector.fields.at);
        buffer_add_text(out, "}]}");
    }
    buffer_add_text(out, "}");
}

static void add_answer(struct dra_search *search, const struct dra_case *c,
                       const struct dra_node *node, struct buffer *out)
{
    static const char *const names[] = {[DRA_NOTHING] = "nothing",
                                        [DRA_ALLOCATED] = "allocated",
                                        [DRA_INVALID_POOLS] = "invalid",
                                        [DRA_EXPIRED] = "expired",
                                        [DRA_ERROR] = "error"};
    struct dra_answer answer;
    struct arena arena = {0};
    struct str error;
    /* Upstream is given as much time as it needs for more steps than these. */
    struct dra_limits limits = {.steps = 20000};
    enum dra_outcome outcome = dra_search_node(search, node, &limits, &answer);
    buffer_print(out, "{\"outcome\":\"%s\"", names[outcome]);
    add_member(out, "text", answer.text);
    buffer_print(out, ",\"steps\":%llu", (unsigned long long)answer.steps);
    for (uint32_t i = 0; outcome == DRA_ALLOCATED && i < c->claim_count; i++) {
        struct dra_allocation allocation;
        buffer_add_text(out, i == 0 ? ",\"claims\":[" : ",");
        if (dra_search_result(search, i, &arena, &allocation, &error))
            add_allocation(out, &allocation);
        else
            add_string(out, error);
    }
    buffer_add_text(out, outcome == DRA_ALLOCATED && c->claim_count > 0 ? "]}" : "}");
    arena_free(&arena);
}

void case_answer(const struct dra_case *c, struct buffer *out)
{
    struct dra_search *search = dra_search_new(c->devices, &c->features, c->claims, c->claim_count);
    for (uint32_t i = 0; i < c->node_count; i++) {
        buffer_add_text(out, i == 0 ? "[" : ",");
        add_answer(search, c, &c->nodes[i].node, out);
    }
    buffer_add_text(out, c->node_count == 0 ? "[]" : "]");
    dra_search_free(&search);
}
