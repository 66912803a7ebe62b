/* picks: choosing one device for a request and taking the choice back. Mirrors upstream's
 * allocateDevice, rollbackDevice and constraints. What must stay true: choices are taken back in
 * the reverse order, and taking one back leaves all books as they were before it. */
#include "scheduler/devices/search.h"

#include "proto/base/must.h"

/* ---- constraints ---- */

static const struct cel_attribute *attribute_named(const struct device *device, struct str name)
{
    for (uint32_t i = 0; i < device->said.attribute_count; i++)
        if (str_equal(device->said.attributes[i].name, name))
            return &device->said.attributes[i];
    return NULL;
}

/* By its full name, or by its id alone when the driver's is its domain. */
static const struct cel_attribute *attribute_of(const struct device *device, struct str full)
{
    const struct cel_attribute *found = attribute_named(device, full);
    int64_t slash = str_find(full, '/');
    if (found != NULL || slash < 0)
        return found;
    struct str domain = {full.at, (uint32_t)slash};
    if (!str_equal(domain, device->slice->said.driver))
        return NULL;
    return attribute_named(device,
                           (struct str){full.at + slash + 1, full.len - (uint32_t)slash - 1});
}

static bool same_value(const struct cel_attribute *a, const struct cel_attribute *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CEL_ATTRIBUTE_bool: return a->truth == b->truth;
    case CEL_ATTRIBUTE_int: return a->number == b->number;
    case CEL_ATTRIBUTE_string:
    case CEL_ATTRIBUTE_version: return str_equal(a->text, b->text);
    case CEL_ATTRIBUTE_none: break;
    }
    return false;
}

/* Upstream keeps one value for each request, that of its last device. */
static bool is_distinct(const struct constraint *c, uint32_t request_count,
                        const struct cel_attribute *value)
{
    for (uint32_t i = 0; i < request_count; i++)
        if (c->by_request[i] != NULL &&
            (value->kind == CEL_ATTRIBUTE_none || same_value(c->by_request[i], value)))
            return false;
    return true;
}

static bool constraint_add(struct constraint *c, const struct asked_claim *claim,
                           const struct pick *pick)
{
    const struct request *request = &claim->requests[pick->request];
    if (!c->applies[request->choices[pick->choice].number])
        return true;
    const struct cel_attribute *value = attribute_of(pick->what.device, c->attribute);
    if (value == NULL)
        return false;
    if (c->devices > 0 &&
        !(c->distinct ? is_distinct(c, claim->request_count, value) : same_value(c->value, value)))
        return false;
    if (c->distinct)
        c->by_request[pick->request] = value;
    else if (c->devices == 0)
        c->value = value;
    c->devices++;
    return true;
}

static void constraint_remove(struct constraint *c, const struct asked_claim *claim,
                              const struct pick *pick)
{
    const struct request *request = &claim->requests[pick->request];
    if (!c->applies[request->choices[pick->choice].number])
        return;
    c->by_request[pick->request] = NULL;
    c->devices--;
}

/* ---- counters ---- */

static void counters_add(const struct pool_device *what, int sign)
{
    for (uint32_t i = 0; i < what->device->consumption_count; i++) {
        const struct consumption *c = &what->device->consumption[i];
        if (c->counter != NO_COUNTER)
            what->pool->consumed[c->counter] += sign * c->nano;
    }
}

static const dra_nano *available_in_reach(struct dra_search *s, const struct view_pool *pool)
{
    const struct edition *edition = pool->edition;
    dra_nano *left = arena_take(&s->work, edition->counter_count * sizeof(*left));
    for (uint32_t i = 0; i < edition->counter_count; i++)
        left[i] = edition->counters[i].nano;
    for (uint32_t i = 0; i < pool->slice_count; i++)
        slice_take_counters(pool->slices[i], left);
    return left;
}

/* Every counter of the pool must have enough left, also those that the device leaves alone. */
static bool counters_reserve(struct dra_search *s, const struct pool_device *what)
{
    struct view_pool *pool = what->pool;
    uint32_t count = pool->edition->counter_count;
    if (pool->consumed == NULL) {
        pool->consumed = arena_take(&s->work, count * sizeof(*pool->consumed));
        pool->available =
            pool->whole ? edition_available(pool->edition) : available_in_reach(s, pool);
    }
    counters_add(what, 1);
    for (uint32_t i = 0; i < count; i++)
        if (pool->available[i] < pool->consumed[i]) {
            counters_add(what, -1);
            return false;
        }
    return true;
}

/* ---- taints ---- */

static bool tolerates(const struct dra_toleration *t, const struct dra_taint *taint)
{
    if ((t->effect.len > 0 && !str_equal(t->effect, taint->effect)) ||
        (t->key.len > 0 && !str_equal(t->key, taint->key)))
        return false;
    if (t->operator_name.len == 0 || str_is(t->operator_name, "Equal"))
        return str_equal(t->value, taint->value);
    return str_is(t->operator_name, "Exists");
}

static bool tainted(const struct device *device, const struct dra_choice *choice)
{
    for (uint32_t i = 0; i < device->said.taint_count; i++) {
        const struct dra_taint *taint = &device->said.taints[i];
        bool tolerated =
            !str_is(taint->effect, "NoSchedule") && !str_is(taint->effect, "NoExecute");
        for (uint32_t k = 0; k < choice->toleration_count && !tolerated; k++)
            tolerated = tolerates(&choice->tolerations[k], taint);
        if (!tolerated)
            return true;
    }
    return false;
}

/* ---- choosing ---- */

bool device_in_use(const struct dra_search *s, const struct device *device)
{
    return device->use->dedicated > 0 || search_mark(s, device)->marks > 0;
}

/* Only devices that nobody can share are ever noted. */
bool device_in_claim(const struct dra_search *s, uint32_t claim, const struct device *device)
{
    const struct asked_claim *c = &s->claims[claim];
    if (search_mark(s, device)->marks == 0)
        return false;
    for (uint32_t i = 0; i < c->pick_count; i++)
        if (s->picks[c->first_pick + i].what.device == device)
            return true;
    return false;
}

const struct amount *choice_requests(const struct choice *choice, struct str capacity)
{
    for (uint32_t i = 0; i < choice->said->capacity_count; i++)
        if (str_equal(choice->said->capacities[i].name, capacity))
            return &choice->capacities[i];
    return NULL;
}

/* Adds to what is being allocated of the device, or takes it away. */
static void share(struct dra_search *s, const struct pick *pick, int sign)
{
    const struct choice *choice =
        &s->claims[pick->claim].requests[pick->request].choices[pick->choice];
    const struct device *device = pick->what.device;
    struct mark *mark = search_mark(s, device);
    for (uint32_t i = 0; i < device->capacity_count; i++) {
        const struct capacity *c = &device->capacities[i];
        const struct amount *requested = choice_requests(choice, c->name);
        mark->allocating[i] += sign * capacity_consumed(requested, c, NULL).nano;
    }
}

static void share_add(struct dra_search *s, struct pick *pick)
{
    struct mark *mark = search_mark(s, pick->what.device);
    if (mark->allocating == NULL)
        mark->allocating =
            arena_take(&s->work, pick->what.device->capacity_count * sizeof(dra_nano));
    share(s, pick, 1);
    pick->was_shared = mark->shared;
    pick->shared = mark->shared = true;
}

static void undo(struct dra_search *s, const struct pick *pick)
{
    struct asked_claim *claim = &s->claims[pick->claim];
    struct mark *mark = search_mark(s, pick->what.device);
    if (pick->shared) {
        share(s, pick, -1);
        mark->shared = pick->was_shared;
    }
    mark->marks -= pick->marked;
    for (uint32_t i = pick->constraints; i > 0; i--)
        constraint_remove(&claim->constraints[i - 1], claim, pick);
    if (pick->counters)
        counters_add(&pick->what, -1);
}

void pick_undo(struct dra_search *s)
{
    must(s->pick_count > 0);
    const struct pick *pick = &s->picks[--s->pick_count];
    s->claims[pick->claim].pick_count--;
    undo(s, pick);
}

static enum reply refused(struct dra_search *s, const struct pick *pick, bool must_have)
{
    const struct asked_claim *claim = &s->claims[pick->claim];
    const struct slice *slice = pick->what.device->slice;
    undo(s, pick);
    if (!must_have)
        return REPLY_none;
    s->error = arena_print(&s->work,
                           "claim %.*s, request %.*s: cannot add device %.*s/%.*s/%.*s because a "
                           "claim constraint would not be satisfied",
                           STR_ARG(claim->key),
                           STR_ARG(claim->requests[pick->request].choices[pick->choice].name),
                           STR_ARG(slice->said.driver), STR_ARG(slice->said.pool),
                           STR_ARG(pick->what.device->said.name));
    return REPLY_failed;
}

static bool available(struct dra_search *s, const struct choice *choice, struct pick *pick)
{
    const struct device *device = pick->what.device;
    bool multiple = device->said.allow_multiple;
    if (choice->said->admin_access ? !multiple && device_in_claim(s, pick->claim, device)
                                   : device_in_use(s, device))
        return false;
    bool counted = multiple && (device->use->entries > 0 || search_mark(s, device)->shared);
    if (counted || device->consumption_count == 0)
        return true;
    pick->counters = counters_reserve(s, &pick->what);
    return pick->counters;
}

enum reply pick_add(struct dra_search *s, const struct frame *f, struct pool_device what,
                    bool must_have)
{
    struct asked_claim *claim = &s->claims[f->claim];
    const struct choice *choice = &claim->requests[f->request].choices[f->choice];
    struct pick *pick = &s->picks[s->pick_count];
    struct mark *mark = search_mark(s, what.device);
    bool multiple = what.device->said.allow_multiple;
    *pick =
        (struct pick){.what = what, .claim = f->claim, .request = f->request, .choice = f->choice};
    if (!available(s, choice, pick))
        return REPLY_none;
    if (tainted(what.device, choice->said))
        return refused(s, pick, false);
    for (; pick->constraints < claim->constraint_count; pick->constraints++)
        if (!constraint_add(&claim->constraints[pick->constraints], claim, pick))
            return refused(s, pick, must_have);
    pick->marked = !multiple;
    mark->marks += pick->marked;
    if (!capacity_fits(what.device, choice->said->capacities, choice->capacities,
                       choice->said->capacity_count, mark->allocating))
        return refused(s, pick, false);
    if (multiple)
        share_add(s, pick);
    s->pick_count++;
    claim->pick_count++;
    return REPLY_done;
}
