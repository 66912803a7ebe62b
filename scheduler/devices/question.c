/* question: the claims of a pod, made ready for asking one node after the other, and what is found
 * out of a node before the search. Mirrors the first half of upstream's Allocate: errors come in
 * its order and words. What must stay true: nothing of one node is left when the next is asked. */
#include "proto/base/memory.h"
#include "scheduler/devices/search.h"

#include <string.h>

/* ---- once a pod ---- */

static void make_choice(struct dra_search *s, const struct dra_choice *said, struct choice *choice)
{
    choice->said = said;
    choice->class = devices_class(s->devices, said->class_name);
    choice->class_selectors = choice->class == NULL ? 0 : choice->class->selector_count;
    choice->program_count = choice->class_selectors + said->selector_count;
    choice->programs = arena_take(&s->arena, choice->program_count * sizeof(struct program *));
    for (uint32_t i = 0; i < choice->program_count; i++)
        choice->programs[i] = program_hold(s->devices, &s->ways.features,
                                           i < choice->class_selectors
                                               ? choice->class->selectors[i]
                                               : said->selectors[i - choice->class_selectors]);
    choice->capacities = arena_take(&s->arena, said->capacity_count * sizeof(struct amount));
    for (uint32_t i = 0; i < said->capacity_count; i++)
        amount_parse(said->capacities[i].value, &choice->capacities[i]);
    choice->derived = arena_take(&s->arena, said->derived_count * sizeof(*choice->derived));
    for (uint32_t i = 0; i < said->derived_count; i++)
        choice->derived[i] = (struct derived){
            said->derived[i].name,
            program_hold_derived(s->devices, &s->ways.features, said->derived[i].expression), NULL};
    choice->all = str_is(said->mode, "All");
    choice->wanted = said->count;
}

/* How many choices the claim has. */
static uint32_t make_requests(struct dra_search *s, struct asked_claim *claim)
{
    uint32_t number = 0;
    claim->request_count = claim->said->request_count;
    claim->requests = arena_take(&s->arena, claim->request_count * sizeof(*claim->requests));
    for (uint32_t i = 0; i < claim->request_count; i++) {
        struct request *r = &claim->requests[i];
        r->said = &claim->said->requests[i];
        r->choice_count = r->said->choice_count;
        r->choices = arena_take(&s->arena, r->choice_count * sizeof(*r->choices));
        for (uint32_t k = 0; k < r->choice_count; k++) {
            make_choice(s, &r->said->choices[k], &r->choices[k]);
            r->choices[k].number = number++;
            r->choices[k].name =
                r->said->first_available ? r->said->choices[k].name : r->said->name;
        }
    }
    return number;
}

static bool names(struct strs list, struct str request, struct str choice)
{
    for (uint32_t i = 0; i < list.count; i++) {
        struct str rest = list.at[i], first;
        str_split(&rest, "/", &first);
        if (str_equal(list.at[i], request) ||
            (choice.len > 0 && str_equal(first, request) && str_equal(rest, choice)))
            return true;
    }
    return list.count == 0;
}

static void make_constraint(struct dra_search *s, const struct asked_claim *claim,
                            const struct dra_constraint *said, struct constraint *c)
{
    c->distinct = said->match_attribute.len == 0;
    c->attribute = c->distinct ? said->distinct_attribute : said->match_attribute;
    c->by_request = arena_take(&s->arena, claim->request_count * sizeof(struct cel_attribute *));
    c->each = arena_take(&s->arena, DRA_RESULTS_MAX * sizeof(struct cel_attribute *));
    c->common = arena_take(&s->arena, DRA_RESULTS_MAX * sizeof(*c->common));
    for (uint32_t i = 0; i < claim->request_count; i++) {
        const struct request *r = &claim->requests[i];
        for (uint32_t k = 0; k < r->choice_count; k++)
            c->applies[r->choices[k].number] =
                names(said->requests, r->said->name,
                      r->said->first_available ? r->choices[k].name : (struct str){0});
    }
}

static void make_claim(struct dra_search *s, const struct dra_claim *said,
                       struct asked_claim *claim)
{
    claim->said = said;
    claim->key = said->namespace_name.len == 0
                     ? said->name
                     : arena_print(&s->arena, "%.*s/%.*s", STR_ARG(said->namespace_name),
                                   STR_ARG(said->name));
    uint32_t choices = make_requests(s, claim);
    claim->constraint_count = said->constraint_count;
    claim->constraints =
        arena_take(&s->arena, claim->constraint_count * sizeof(*claim->constraints));
    for (uint32_t i = 0; i < claim->constraint_count; i++) {
        claim->constraints[i].applies = arena_take(&s->arena, choices * sizeof(bool));
        make_constraint(s, claim, &said->constraints[i], &claim->constraints[i]);
    }
}

struct dra_search *dra_search_new(struct devices *devices, const struct features *features,
                                  const struct dra_claim *claims, uint32_t count)
{
    struct dra_search *s = memory_take(sizeof(*s));
    s->devices = devices;
    s->ways.features = *features;
    s->ways.shares = features->device_shares;
    s->ways.binding = features->device_binding && features->device_status;
    s->ways.sets = features->device_lists && features->release >= 37;
    s->ways.derived = features->device_derived && features->release >= 37;
    s->ways.groups = features->device_groups && features->release >= 37;
    s->ways.no_groups = !features->device_groups && features->release >= 37;
    bool experimental = s->ways.sets || s->ways.groups || s->ways.derived || features->device_skips;
    s->ways.no_skips = experimental && !features->device_skips;
    s->ways.stable =
        !s->ways.shares && !s->ways.binding && !features->fractional_capacity && !experimental;
    s->claim_count = count;
    s->claims = arena_take(&s->arena, count * sizeof(*s->claims));
    s->picks = arena_take(&s->arena, (size_t)count * DRA_RESULTS_MAX * sizeof(*s->picks));
    for (uint32_t i = 0; i < count; i++)
        make_claim(s, &claims[i], &s->claims[i]);
    return s;
}

static void drop_programs(const struct asked_claim *claim)
{
    for (uint32_t i = 0; i < claim->request_count; i++)
        for (uint32_t k = 0; k < claim->requests[i].choice_count; k++) {
            const struct choice *choice = &claim->requests[i].choices[k];
            for (uint32_t p = 0; p < choice->program_count; p++)
                program_drop(choice->programs[p]);
            for (uint32_t p = 0; p < choice->said->derived_count; p++)
                program_drop(choice->derived[p].program);
        }
}

void dra_search_free(struct dra_search **search)
{
    struct dra_search *s = *search;
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < s->claim_count; i++)
        drop_programs(&s->claims[i]);
    memory_free(s->view.at);
    memory_free(s->frames);
    memory_free(s->group_saves);
    arena_free(&s->work);
    arena_free(&s->arena);
    memory_free(s);
    *search = NULL;
}

/* ---- once a node ---- */

struct mark *search_mark(const struct dra_search *s, const struct device *device)
{
    struct mark *mark = &s->devices->marks[device->slot];
    if (mark->round != s->round)
        *mark = (struct mark){.round = s->round};
    return mark;
}

static bool node_reaches(const struct dra_search *s, const struct device *device)
{
    struct mark *mark = search_mark(s, device);
    if (!mark->reach_known) {
        mark->reach_known = true;
        mark->reach = reach_matches(&device->said.reach, s->node);
    }
    return mark->reach;
}

/* Since 1.37 a runtime error names the device, and tells what helps against a missing key. */
static struct str on_device(struct dra_search *s, const struct device *device)
{
    if (s->ways.features.release < 37)
        return (struct str){0};
    const struct dra_slice *slice = &device->slice->said;
    return arena_print(&s->work, " on device %.*s/%.*s/%.*s", STR_ARG(slice->driver),
                       STR_ARG(slice->pool), STR_ARG(device->said.name));
}

static const char *hint_for(const struct dra_search *s, struct str error)
{
    if (s->ways.features.release < 37 || memmem(error.at, error.len, "no such key:", 12) == NULL)
        return "";
    return ". consider using CEL optional chaining (.? followed by orValue()) or guarding the "
           "check with has() for optional fields";
}

static enum reply selector_failed(struct dra_search *s, const struct asked_claim *claim,
                                  const struct choice *choice, uint32_t i,
                                  const struct device *device)
{
    bool of_class = i < choice->class_selectors, compiles = choice->programs[i]->cel != NULL;
    struct str why = s->error, where = compiles ? on_device(s, device) : (struct str){0};
    s->error = arena_print(
        &s->work, "%s %.*s: selector #%u%.*s: CEL %s error: %.*s%s", of_class ? "class" : "claim",
        STR_ARG(of_class ? choice->class->name : claim->key),
        of_class ? i : i - choice->class_selectors, STR_ARG(where),
        compiles ? "runtime" : "compile", STR_ARG(why), compiles ? hint_for(s, why) : "");
    return REPLY_failed;
}

/* The "stable" allocator does not tell selectors that a device may be shared. */
static enum cel_verdict matches(struct dra_search *s, struct program *program,
                                struct device *device)
{
    return s->ways.stable ? program_match_unshared(s->devices, program, device, &s->work, &s->error)
                          : program_match(s->devices, program, device, &s->work, &s->error);
}

enum reply search_selectable(struct dra_search *s, const struct asked_claim *claim,
                             const struct choice *choice, struct device *device)
{
    if (!s->ways.binding && device->said.binding_conditions.count > 0)
        return REPLY_none;
    for (uint32_t i = 0; i < choice->program_count; i++)
        switch (matches(s, choice->programs[i], device)) {
        case CEL_MATCH: break;
        case CEL_NO_MATCH: return REPLY_none;
        case CEL_FAILED: return selector_failed(s, claim, choice, i, device);
        }
    if (device->slice->said.per_device && !node_reaches(s, device))
        return REPLY_none;
    return REPLY_done;
}

static bool refuse(struct dra_search *s, struct str text)
{
    s->error = text;
    return false;
}

/* One more that an All request wants; the list is as long as a power of two. */
static void found_add(struct dra_search *s, struct choice *choice, struct pool_device what)
{
    uint64_t count = (uint64_t)choice->wanted;
    if ((count & (count - 1)) == 0) {
        struct pool_device *more =
            arena_take(&s->work, (count == 0 ? 1 : count * 2) * sizeof(*more));
        if (count > 0)
            memcpy(more, choice->found, count * sizeof(*more));
        choice->found = more;
    }
    choice->found[choice->wanted++] = what;
}

/* Whether All takes the device in: it must match, and have the capacity: in 1.36 left, since then
 * at all, so that All does not do without devices that are used up. */
static enum reply belongs_to_all(struct dra_search *s, const struct asked_claim *claim,
                                 const struct choice *choice, struct device *device)
{
    struct capacity_question asked = choice_question(s, choice);
    struct str why = {0};
    enum reply reply = search_selectable(s, claim, choice, device);
    if (reply != REPLY_done || !s->ways.shares)
        return reply;
    switch (capacity_fits(&asked, device, s->ways.features.release < 37, NULL, &why)) {
    case CAPACITY_fits: return REPLY_done;
    case CAPACITY_lacks: return REPLY_none;
    case CAPACITY_failed: break;
    }
    s->error = arena_print(&s->work,
                           "claim %.*s, request %.*s: checking capacity for device "
                           "%.*s: %.*s",
                           STR_ARG(claim->key), STR_ARG(choice->name), STR_ARG(device->said.name),
                           STR_ARG(why));
    return REPLY_failed;
}

static bool find_in_slice(struct dra_search *s, const struct asked_claim *claim,
                          struct choice *choice, struct pool_device at, struct slice *slice)
{
    for (uint32_t i = 0; i < slice->device_count; i++) {
        at.device = &slice->devices[i];
        enum reply reply = belongs_to_all(s, claim, choice, at.device);
        if (reply == REPLY_failed)
            return false;
        if (reply == REPLY_done)
            found_add(s, choice, at);
    }
    return true;
}

static bool find_all(struct dra_search *s, const struct asked_claim *claim, struct choice *choice)
{
    choice->wanted = 0;
    choice->found = NULL;
    for (uint32_t i = 0; i < s->view.count; i++) {
        struct view_pool *pool = &s->view.at[i];
        if (pool->incomplete || pool->invalid)
            return refuse(s, arena_print(&s->work,
                                         "claim %.*s, request %.*s: asks for all devices, but "
                                         "resource pool %.*s/%.*s is currently %s",
                                         STR_ARG(claim->key), STR_ARG(choice->name),
                                         STR_ARG(pool->pool->driver), STR_ARG(pool->pool->name),
                                         pool->incomplete ? "being updated" : "invalid"));
        for (uint32_t k = 0; k < pool->slice_count; k++)
            if (!find_in_slice(s, claim, choice, (struct pool_device){pool, NULL}, pool->slices[k]))
                return false;
    }
    return true;
}

static bool prepare_choice(struct dra_search *s, const struct asked_claim *claim,
                           struct choice *choice)
{
    const struct dra_choice *said = choice->said;
    if (said->derived_count > 0 && s->ways.features.release >= 37 && !s->ways.derived)
        return refuse(s, arena_print(&s->work,
                                     "claim %.*s, request %.*s: cannot handle request with derived "
                                     "attributes, the feature is disabled",
                                     STR_ARG(claim->key), STR_ARG(choice->name)));
    for (uint32_t i = 0; i < said->selector_count; i++)
        if (said->selectors[i].len == 0)
            return refuse(s, arena_print(&s->work,
                                         "claim %.*s, request %.*s, selector #%u: CEL expression "
                                         "empty (unsupported selector type?)",
                                         STR_ARG(claim->key), STR_ARG(choice->name), i));
    if (said->class_name.len == 0)
        return refuse(s, arena_print(&s->work,
                                     "claim %.*s, request %.*s: missing device class name "
                                     "(unsupported request type?)",
                                     STR_ARG(claim->key), STR_ARG(choice->name)));
    if (choice->class == NULL)
        return refuse(s, arena_print(&s->work,
                                     "claim %.*s, request %.*s: could not retrieve device class "
                                     "%.*s: deviceclass.resource.k8s.io \"%.*s\" not found",
                                     STR_ARG(claim->key), STR_ARG(choice->name),
                                     STR_ARG(said->class_name), STR_ARG(said->class_name)));
    if (choice->all)
        return find_all(s, claim, choice);
    if (!str_is(said->mode, "ExactCount"))
        return refuse(s,
                      arena_print(&s->work, "claim %.*s, request %.*s: unsupported count mode %.*s",
                                  STR_ARG(claim->key), STR_ARG(choice->name), STR_ARG(said->mode)));
    return true;
}

static bool gates_allow(struct dra_search *s, const struct asked_claim *claim,
                        const struct request *request)
{
    const struct dra_request *said = request->said;
    if (said->first_available && !s->ways.features.device_alternatives)
        return refuse(s, arena_print(&s->work,
                                     "claim %.*s, request %.*s: has subrequests, but the "
                                     "DRAPrioritizedList feature is disabled",
                                     STR_ARG(claim->key), STR_ARG(said->name)));
    for (uint32_t i = 0; i < said->choice_count && !s->ways.shares && !s->ways.stable; i++)
        if (said->choices[i].capacity_count > 0)
            return refuse(s, arena_print(&s->work,
                                         "claim %.*s, %s %.*s: has capacity requests, but the "
                                         "DRAConsumableCapacity feature is disabled",
                                         STR_ARG(claim->key),
                                         said->first_available ? "subrequest" : "request",
                                         STR_ARG(request->choices[i].name)));
    return true;
}

/* Adds what the request takes at least. */
static bool prepare_request(struct dra_search *s, const struct asked_claim *claim,
                            struct request *request, int64_t *least)
{
    int64_t fewest = INT64_MAX;
    request->selected = 0;
    if (!gates_allow(s, claim, request))
        return false;
    for (uint32_t i = 0; i < request->choice_count; i++) {
        if (!prepare_choice(s, claim, &request->choices[i]))
            return false;
        if (request->choices[i].wanted < fewest)
            fewest = request->choices[i].wanted;
    }
    if (s->ways.features.release >= 37 && fewest > DRA_RESULTS_MAX - *least)
        return refuse(s, arena_print(&s->work,
                                     "claim %.*s, request %.*s: adding %lld devices exceeds the "
                                     "claim limit of %d, with %lld already accounted for",
                                     STR_ARG(claim->key), STR_ARG(request->said->name),
                                     (long long)fewest, DRA_RESULTS_MAX, (long long)*least));
    if (__builtin_add_overflow(*least, fewest, least))
        *least = INT64_MAX;
    return true;
}

static bool prepare_constraints(struct dra_search *s, const struct asked_claim *claim)
{
    for (uint32_t i = 0; i < claim->constraint_count; i++) {
        struct constraint *c = &claim->constraints[i];
        if (c->attribute.len == 0 || (c->distinct && s->ways.stable))
            return refuse(s, arena_print(&s->work,
                                         "claim %.*s, constraint #%u: empty constraint "
                                         "(unsupported constraint type?)",
                                         STR_ARG(claim->key), i));
        c->devices = 0;
        c->value = NULL;
        memset(c->by_request, 0, claim->request_count * sizeof(struct cel_attribute *));
    }
    return true;
}

bool search_prepare(struct dra_search *s)
{
    for (uint32_t i = 0; i < s->claim_count; i++) {
        struct asked_claim *claim = &s->claims[i];
        int64_t least = 0;
        for (uint32_t k = 0; k < claim->request_count; k++)
            if (!prepare_request(s, claim, &claim->requests[k], &least))
                return false;
        if (least > DRA_RESULTS_MAX)
            return refuse(s, arena_print(&s->work,
                                         "claim %.*s: number of requested devices %lld exceeds "
                                         "the claim limit of %d",
                                         STR_ARG(claim->key), (long long)least, DRA_RESULTS_MAX));
        if (!prepare_constraints(s, claim))
            return false;
    }
    return true;
}
