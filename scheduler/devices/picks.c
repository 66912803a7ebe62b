/* picks: choosing one device for a request and taking the choice back. Mirrors upstream's
 * allocateDevice and rollbackDevice. What must stay true: choices are taken back in the reverse
 * order, and taking one back leaves all books as they were before it. */
#include "scheduler/devices/search.h"

#include "proto/base/must.h"

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
        pool->available = pool->whole ? edition_available(pool->edition, !s->ways.no_groups)
                                      : available_in_reach(s, pool);
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

static bool tolerated(const struct dra_taint *taint, const struct dra_choice *choice)
{
    if (!str_is(taint->effect, "NoSchedule") && !str_is(taint->effect, "NoExecute"))
        return true;
    for (uint32_t i = 0; i < choice->toleration_count; i++)
        if (tolerates(&choice->tolerations[i], taint))
            return true;
    return false;
}

/* Without a selector it is for all devices in 1.36, and for none since then. */
static bool selects(const struct dra_search *s, const struct dra_taint_rule *rule,
                    const struct dra_slice *slice)
{
    if (!rule->has_selector)
        return s->ways.features.release < 37;
    return (rule->driver.len == 0 || str_equal(rule->driver, slice->driver)) &&
           (rule->pool.len == 0 || str_equal(rule->pool, slice->pool));
}

static bool tainted_by(const struct dra_search *s, const struct taint_rule *rules,
                       const struct device *device, const struct dra_choice *choice)
{
    for (const struct taint_rule *r = rules; r != NULL; r = r->next)
        if (selects(s, &r->said, &device->slice->said) && !tolerated(&r->said.taint, choice))
            return true;
    return false;
}

static bool tainted(const struct dra_search *s, const struct device *device,
                    const struct dra_choice *choice)
{
    const struct taint_rules *rules = s->devices->rules;
    if (!s->ways.features.device_taints)
        return false;
    for (uint32_t i = 0; i < device->said.taint_count; i++)
        if (!tolerated(&device->said.taints[i], choice))
            return true;
    return s->ways.features.device_taint_rules &&
           (tainted_by(s, taint_rules_for_any(rules), device, choice) ||
            tainted_by(s, taint_rules_named(rules, device->said.name), device, choice));
}

/* ---- choosing ---- */

bool device_in_use(const struct dra_search *s, const struct device *device)
{
    return device->use->dedicated > 0 || (!s->ways.shares && device->use->shares > 0) ||
           search_mark(s, device)->marks > 0;
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

struct capacity_question choice_question(struct dra_search *s, const struct choice *choice)
{
    return (struct capacity_question){&s->ways.features, choice->said->capacity_count,
                                      choice->said->capacities, choice->capacities, &s->work};
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
        mark->allocating[i] +=
            sign * capacity_consumed(&s->ways.features, requested, c, NULL, NULL).nano;
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

static void undo(struct dra_search *s, struct pick *pick)
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
    groups_undo(s, pick);
}

void pick_undo(struct dra_search *s)
{
    must(s->pick_count > 0);
    struct pick *pick = &s->picks[--s->pick_count];
    s->claims[pick->claim].pick_count--;
    undo(s, pick);
}

static enum reply refused(struct dra_search *s, struct pick *pick, bool must_have)
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
    bool multiple = s->ways.shares && device->said.allow_multiple;
    if (choice->said->admin_access ? !multiple && device_in_claim(s, pick->claim, device)
                                   : device_in_use(s, device))
        return false;
    if (device->slice->said.skips.count > 0 &&
        (s->ways.no_skips || (s->ways.features.device_skips && !s->node->skips)))
        return false;
    bool shared =
        s->ways.features.release >= 37 ? device->use->shares > 0 : device->use->entries > 0;
    bool counted = multiple && (shared || search_mark(s, device)->shared);
    if (!s->ways.features.device_partitions && device->consumption_count > 0)
        return false;
    if (counted || device->consumption_count == 0)
        return true;
    if (s->ways.groups && !groups_join(s, pick))
        return false;
    pick->counters = counters_reserve(s, &pick->what);
    if (!pick->counters)
        groups_undo(s, pick);
    return pick->counters;
}

enum reply pick_add(struct dra_search *s, const struct frame *f, struct pool_device what,
                    bool must_have)
{
    struct asked_claim *claim = &s->claims[f->claim];
    const struct choice *choice = &claim->requests[f->request].choices[f->choice];
    struct pick *pick = &s->picks[s->pick_count];
    struct mark *mark = search_mark(s, what.device);
    bool multiple = s->ways.shares && what.device->said.allow_multiple;
    *pick =
        (struct pick){.what = what, .claim = f->claim, .request = f->request, .choice = f->choice};
    if (!available(s, choice, pick))
        return REPLY_none;
    if (tainted(s, what.device, choice->said))
        return refused(s, pick, false);
    for (; pick->constraints < claim->constraint_count; pick->constraints++) {
        enum reply reply = constraint_add(s, &claim->constraints[pick->constraints], claim, pick);
        if (reply == REPLY_failed) {
            undo(s, pick);
            return reply;
        }
        if (reply != REPLY_done)
            return refused(s, pick, must_have);
    }
    pick->marked = !multiple;
    mark->marks += pick->marked;
    struct capacity_question asked = choice_question(s, choice);
    if (s->ways.shares &&
        capacity_fits(&asked, what.device, true, mark->allocating, &s->error) != CAPACITY_fits)
        return refused(s, pick, false);
    if (multiple)
        share_add(s, pick);
    s->pick_count++;
    claim->pick_count++;
    return REPLY_done;
}
