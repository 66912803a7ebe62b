/* result: asking one node, and what the claims have got there. Mirrors the outer half of upstream's
 * Allocate: results in the order in which they were chosen, a class's configuration once for all
 * requests that use it, and the one node selector that fits all devices. */
#include "proto/base/must.h"
#include "scheduler/devices/search.h"

#include <string.h>

/* ---- asking ---- */

static void begin(struct dra_search *s, const struct dra_node *node,
                  const struct dra_limits *limits)
{
    arena_reset(&s->work);
    s->node = node;
    s->limits = limits;
    s->round = ++s->devices->round;
    s->steps = s->ticks = 0;
    s->pick_count = 0;
    s->error = (struct str){0};
    for (uint32_t i = 0; i < s->claim_count; i++)
        s->claims[i].first_pick = s->claims[i].pick_count = 0;
}

/* Over the subrequests that got a device. */
static int64_t score(const struct dra_search *s)
{
    int64_t sum = 0;
    const struct pick *last = NULL;
    for (uint32_t i = 0; i < s->pick_count; i++) {
        const struct pick *p = &s->picks[i];
        bool more = last != NULL && last->claim == p->claim && last->request == p->request;
        if (!more && s->claims[p->claim].requests[p->request].said->first_available)
            sum += DRA_SUBREQUESTS_MAX - (int64_t)p->choice;
        last = p;
    }
    return sum;
}

static enum dra_outcome conclude(struct dra_search *s, enum reply reply)
{
    switch (reply) {
    case REPLY_done: return DRA_ALLOCATED;
    case REPLY_expired: return DRA_EXPIRED;
    case REPLY_exceeded: s->error = STR_LITERAL("allocation max size exceeded"); return DRA_ERROR;
    case REPLY_failed:
    case REPLY_descend: return DRA_ERROR;
    case REPLY_none: break;
    }
    for (uint32_t i = 0; i < s->view.count; i++)
        if (s->view.at[i].invalid) {
            s->error = STR_LITERAL("invalid resource pools were encountered");
            return DRA_INVALID_POOLS;
        }
    return DRA_NOTHING;
}

enum dra_outcome dra_search_node(struct dra_search *s, const struct dra_node *node,
                                 const struct dra_limits *limits, struct dra_answer *answer)
{
    begin(s, node, limits);
    enum dra_outcome outcome = DRA_ERROR;
    const struct view_question q = {&s->ways, node, &s->work};
    if (view_gather(s->devices, &q, &s->view, &s->error) && search_prepare(s))
        outcome = conclude(s, search_run(s));
    *answer = (struct dra_answer){.text = s->error, .steps = s->steps};
    if (outcome == DRA_ALLOCATED)
        answer->score = score(s);
    return outcome;
}

/* ---- results ---- */

static struct str full_name(const struct request *request, const struct choice *choice,
                            struct arena *arena)
{
    if (!request->said->first_available)
        return request->said->name;
    return arena_print(arena, "%.*s/%.*s", STR_ARG(request->said->name), STR_ARG(choice->name));
}

static void fill_consumed(const struct features *features, const struct choice *choice,
                          const struct device *device, struct arena *arena, struct dra_use *use)
{
    struct dra_amount *at = arena_take(arena, device->capacity_count * sizeof(*at));
    for (uint32_t i = 0; i < device->capacity_count; i++) {
        const struct capacity *c = &device->capacities[i];
        const struct amount *requested = choice_requests(choice, c->name);
        at[i] = (struct dra_amount){c->name,
                                    capacity_consumed(features, requested, c, arena, NULL).text};
    }
    use->consumed = at;
    use->consumed_count = device->capacity_count;
}

static void fill_results(const struct dra_search *s, const struct asked_claim *claim,
                         struct arena *arena, struct dra_allocation *out)
{
    struct dra_result *results = arena_take(arena, claim->pick_count * sizeof(*results));
    for (uint32_t i = 0; i < claim->pick_count; i++) {
        const struct pick *pick = &s->picks[claim->first_pick + i];
        const struct request *request = &claim->requests[pick->request];
        const struct choice *choice = &request->choices[pick->choice];
        const struct device *device = pick->what.device;
        struct dra_result *r = &results[i];
        r->request = full_name(request, choice, arena);
        r->use = (struct dra_use){.driver = device->slice->said.driver,
                                  .pool = device->slice->said.pool,
                                  .device = device->said.name,
                                  .admin_access = choice->said->admin_access,
                                  .shared = s->ways.shares && device->said.allow_multiple};
        if (r->use.shared)
            fill_consumed(&s->ways.features, choice, device, arena, &r->use);
        r->toleration_count = choice->said->toleration_count;
        r->tolerations = choice->said->tolerations;
        if (s->ways.features.device_skips)
            r->skips = device->slice->said.skips;
        if (!s->ways.binding)
            continue;
        r->binding_conditions = device->said.binding_conditions;
        r->binding_failure_conditions = device->said.binding_failure_conditions;
    }
    out->results = results;
    out->result_count = claim->pick_count;
}

/* ---- configurations ---- */

struct configs {
    uint32_t count, room;
    struct dra_config *at;
};

static void config_add(struct configs *list, struct arena *arena, struct dra_config config)
{
    if (list->count == list->room) {
        struct dra_config *more = arena_take(arena, (list->room * 2 + 4) * sizeof(*more));
        if (list->count > 0)
            memcpy(more, list->at, list->count * sizeof(*more));
        list->at = more;
        list->room = list->room * 2 + 4;
    }
    list->at[list->count++] = config;
}

static const struct choice *selected(const struct request *request)
{
    return &request->choices[request->selected];
}

/* All requests of the claim, from this one on, that use its class. */
static struct strs users(const struct asked_claim *claim, uint32_t from, struct arena *arena)
{
    const struct dra_class *class = selected(&claim->requests[from])->class;
    struct strs list = {0, arena_take(arena, (claim->request_count - from) * sizeof(*list.at))};
    for (uint32_t i = from; i < claim->request_count; i++) {
        const struct choice *choice = selected(&claim->requests[i]);
        if (choice->class == class)
            list.at[list.count++] = full_name(&claim->requests[i], choice, arena);
    }
    return list;
}

static bool class_seen(const struct asked_claim *claim, uint32_t request)
{
    for (uint32_t i = 0; i < request; i++)
        if (selected(&claim->requests[i])->class == selected(&claim->requests[request])->class)
            return true;
    return false;
}

static bool config_covers(const struct dra_config *config, const struct request *request,
                          struct arena *arena)
{
    return strs_hold(config->requests, request->said->name) ||
           (request->said->first_available &&
            strs_hold(config->requests, full_name(request, selected(request), arena)));
}

/* 1.36 lists it once for each request that it names, later ones once. */
static void add_claim_config(const struct dra_search *s, const struct asked_claim *claim,
                             const struct dra_config *config, struct arena *arena,
                             struct configs *list)
{
    if (config->requests.count == 0)
        config_add(list, arena, *config);
    for (uint32_t i = 0; i < claim->request_count && config->requests.count > 0; i++) {
        if (!config_covers(config, &claim->requests[i], arena))
            continue;
        config_add(list, arena, *config);
        if (s->ways.features.release >= 37)
            break;
    }
}

/* None named means all of them. */
static void clear_if_all(const struct asked_claim *claim, struct arena *arena,
                         struct dra_config *config)
{
    for (uint32_t i = 0; i < claim->request_count; i++)
        if (!config_covers(config, &claim->requests[i], arena))
            return;
    config->requests = (struct strs){0};
}

static void fill_configs(const struct dra_search *s, const struct asked_claim *claim,
                         struct arena *arena, struct dra_allocation *out)
{
    struct configs list = {0};
    for (uint32_t i = 0; i < claim->request_count; i++) {
        const struct dra_class *class = selected(&claim->requests[i])->class;
        if (class_seen(claim, i))
            continue;
        for (uint32_t k = 0; k < class->config_count; k++) {
            struct dra_config config = class->configs[k];
            config.from_class = true;
            config.requests = users(claim, i, arena);
            config_add(&list, arena, config);
        }
    }
    for (uint32_t i = 0; i < claim->said->config_count; i++)
        add_claim_config(s, claim, &claim->said->configs[i], arena, &list);
    for (uint32_t i = 0; i < list.count && s->ways.features.release >= 37; i++)
        clear_if_all(claim, arena, &list.at[i]);
    out->configs = list.at;
    out->config_count = list.count;
}

/* ---- node selector ---- */

struct requirements {
    uint32_t count;
    struct requirement *at;
};

static bool has_all(struct strs a, struct strs b)
{
    for (uint32_t i = 0; i < b.count; i++)
        if (!strs_hold(a, b.at[i]))
            return false;
    return true;
}

static bool has_requirement(const struct requirements *list, const struct requirement *r)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct requirement *have = &list->at[i];
        if (str_equal(have->key, r->key) && str_equal(have->operator_name, r->operator_name) &&
            has_all(have->values, r->values) && has_all(r->values, have->values))
            return true;
    }
    return false;
}

static void merge(struct requirements *list, const struct requirement *at, uint32_t count,
                  struct arena *arena)
{
    struct requirement *all = arena_take(arena, (list->count + count) * sizeof(*all));
    if (list->count > 0)
        memcpy(all, list->at, list->count * sizeof(*all));
    list->at = all;
    for (uint32_t i = 0; i < count; i++)
        if (!has_requirement(list, &at[i]))
            list->at[list->count++] = at[i];
}

static void select_node(const struct dra_search *s, struct arena *arena, struct dra_allocation *out)
{
    struct requirement *r = arena_take(arena, sizeof(*r));
    r->key = STR_LITERAL("metadata.name");
    r->operator_name = STR_LITERAL("In");
    r->values = (struct strs){1, arena_take(arena, sizeof(struct str))};
    r->values.at[0] = arena_copy(arena, s->node->name);
    out->has_selector = true;
    out->selector = (struct node_term){0};
    out->selector.fields.count = 1;
    out->selector.fields.at = r;
}

/* False when a selector has several terms, which the API server does not let through. */
static bool fill_selector(const struct dra_search *s, const struct asked_claim *claim,
                          struct arena *arena, struct dra_allocation *out)
{
    struct requirements fields = {0}, expressions = {0};
    for (uint32_t i = 0; i < claim->pick_count; i++) {
        const struct device *device = s->picks[claim->first_pick + i].what.device;
        const struct dra_slice *slice = &device->slice->said;
        const struct dra_reach *reach = slice->per_device ? &device->said.reach : &slice->reach;
        if (reach->node_name.len > 0 || (device->said.binds_to_node && !s->ways.stable)) {
            select_node(s, arena, out);
            return true;
        }
        if (!reach->has_terms || reach->term_count == 0)
            continue;
        if (reach->term_count > 1)
            return false;
        const struct node_term *t = &reach->terms[0];
        merge(&fields, t->fields.at, t->fields.count, arena);
        merge(&expressions, t->expressions.at, t->expressions.count, arena);
    }
    out->has_selector = fields.count > 0 || expressions.count > 0;
    out->selector.fields.count = fields.count;
    out->selector.fields.at = fields.at;
    out->selector.expressions.count = expressions.count;
    out->selector.expressions.at = expressions.at;
    return true;
}

bool dra_search_result(const struct dra_search *s, uint32_t i, struct arena *arena,
                       struct dra_allocation *out, struct str *error)
{
    const struct asked_claim *claim = &s->claims[i];
    must(i < s->claim_count);
    *out = (struct dra_allocation){0};
    fill_results(s, claim, arena, out);
    fill_configs(s, claim, arena, out);
    if (fill_selector(s, claim, arena, out))
        return true;
    *error = arena_print(arena,
                         "create NodeSelector for claim %.*s: unsupported "
                         "ResourceSlice.NodeSelector with several terms",
                         STR_ARG(claim->said->name));
    return false;
}
