/* requests: a pod's resource requests, as upstream's PodRequests computes them. The one idea: read
 * every container once, then add up the four variants from that. What must stay true: quantities
 * are added exactly and rounded once at the end, and whether a name is present is kept apart from
 * its amount, because defaults only fill what is absent. */
#include "proto/kube/objects/requests_inside.h"

#include "proto/codec.h"

#include <stdlib.h>
#include <string.h>

/* What a container without a request counts for when nodes are scored: 100m and 200Mi. */
const struct kube_quantity requests_default_cpu = {(i128)100 * 1000000};
const struct kube_quantity requests_default_memory = {(i128)200 * 1024 * 1024 * 1000000000};

/* ---- reading ---- */

struct amounts requests_read_list(struct sums *s, const struct cursor *up, const char *name)
{
    struct amounts list = {0};
    struct cursor object = cursor_object(up, name);
    for (struct cursor c = cursor_first(&object); c.value != NULL; c = cursor_next(&c))
        amounts_set(&s->scratch, &list, str_of(c.name), cursor_own_quantity(&c));
    return list;
}

static struct amounts read_limits(struct sums *s, const struct cursor *up)
{
    struct cursor resources = cursor_object(up, "resources");
    return requests_read_list(s, &resources, "limits");
}

static struct amounts read_requests(struct sums *s, const struct cursor *up)
{
    struct cursor resources = cursor_object(up, "resources");
    return requests_read_list(s, &resources, "requests");
}

/* The greatest of spec, what runs and what was promised; without the spec when the resize to it
 * was found infeasible. */
static struct amounts effective(struct sums *s, const struct amounts *spec,
                                const struct cursor *status)
{
    struct amounts result = {0}, running = read_requests(s, status);
    struct amounts promised = requests_read_list(s, status, "allocatedResources");
    if (!s->infeasible)
        amounts_max_all(&s->scratch, &result, spec);
    amounts_max_all(&s->scratch, &result, &running);
    amounts_max_all(&s->scratch, &result, &promised);
    return result;
}

static bool resize_infeasible(const struct cursor *status)
{
    struct cursor conditions = cursor_list(status, "conditions");
    for (struct cursor c = cursor_first(&conditions); c.value != NULL; c = cursor_next(&c))
        if (str_is(kube_json_text(kube_json_get(c.value, "type")), "PodResizePending"))
            return str_is(kube_json_text(kube_json_get(c.value, "reason")), "Infeasible");
    return false;
}

/* ---- what runs ---- */

/* Of a name the first one and the last one. */
struct status_pair {
    struct cursor first, last;
};

/* The statuses of all containers: of a name the last one of either list counts in 1.36, which fills
 * one map from both, in this order; in 1.37 the first one. */
struct statuses {
    const struct cursor *lists[2];
    struct status_pair *slots; /* by hash of the name; without a value: free. NULL: there are few */
    size_t mask; /* of slots, a power of two and at least twice as many as there are */
};

static struct str name_of(const struct cursor *c)
{
    return kube_json_text(kube_json_get(c->value, "name"));
}

static void see_status(struct status_pair *slot, const struct cursor *status)
{
    if (slot->first.value == NULL)
        slot->first = *status;
    slot->last = *status;
}

static struct status_pair *status_slot(const struct statuses *all, struct str name)
{
    size_t i = str_hash(name) & all->mask;
    while (all->slots[i].first.value != NULL && !str_equal(name_of(&all->slots[i].first), name))
        i = (i + 1) & all->mask;
    return &all->slots[i];
}

static void index_statuses(struct sums *s, struct statuses *all)
{
    size_t count = kube_json_count(all->lists[0]->value) + kube_json_count(all->lists[1]->value);
    all->mask = 1;
    while (all->mask < 2 * count)
        all->mask = all->mask * 2 + 1;
    all->slots = arena_take(&s->scratch, (all->mask + 1) * sizeof(*all->slots));
    for (size_t l = 0; l < 2; l++)
        for (struct cursor i = cursor_first(all->lists[l]); i.value != NULL; i = cursor_next(&i))
            see_status(status_slot(all, name_of(&i)), &i);
}

/* Without values when there is none. */
static struct status_pair status_of(const struct statuses *all, struct str name)
{
    struct status_pair found = {{0}, {0}};
    if (all->slots != NULL)
        return *status_slot(all, name);
    for (size_t l = 0; l < 2; l++)
        for (struct cursor i = cursor_first(all->lists[l]); i.value != NULL; i = cursor_next(&i))
            if (str_equal(name_of(&i), name))
                see_status(&found, &i);
    return found;
}

static bool are_same(const struct amounts *a, const struct amounts *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const struct kube_quantity *other = amounts_find(b, a->at[i].name);
        if (other == NULL || kube_quantity_compare(a->at[i].quantity, *other) != 0)
            return false;
    }
    return a->count == b->count;
}

/* As 1.37 reads a status: what runs, or what is promised, or the spec, the first that is there. */
static void read_status(struct sums *s, struct container *c, const struct cursor *status)
{
    c->promised = requests_read_list(s, status, "allocatedResources");
    c->running = read_requests(s, status);
    if (c->promised.count == 0 && !s->infeasible)
        c->promised = c->spec;
    if (c->running.count == 0)
        c->running = c->promised;
    s->varies = s->varies || !are_same(&c->promised, &c->spec) || !are_same(&c->running, &c->spec);
}

static void read_containers(struct sums *s, const struct statuses *statuses,
                            const struct cursor *list, bool init)
{
    for (struct cursor i = cursor_first(list); i.value != NULL && !i.reading->failed;
         i = cursor_next(&i)) {
        cursor_is_object(&i);
        struct container *c = &s->containers[s->container_count++];
        *c = (struct container){.name = name_of(&i),
                                .init = init,
                                .spec = read_requests(s, &i),
                                .limits = read_limits(s, &i)};
        c->restartable = str_is(kube_json_text(kube_json_get(i.value, "restartPolicy")), "Always");
        c->actual = c->spec;
        struct status_pair status = status_of(statuses, c->name);
        read_status(s, c, &status.first);
        if (init && !c->restartable)
            continue; /* in 1.36 an ordinary init container always counts as specified */
        if (kube_json_get(status.last.value, "resources") != NULL)
            c->actual = effective(s, &c->spec, &status.last);
        s->varies = s->varies || !are_same(&c->actual, &c->spec);
    }
}

static bool pod_level_supported(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory") || str_starts_with(name, "hugepages-");
}

static void read_pod_level(struct sums *s, const struct cursor *spec)
{
    struct cursor status = cursor_object(s->object, "status");
    struct amounts all = read_requests(s, spec), actual = all;
    s->resized = kube_json_get(status.value, "resources") != NULL;
    if (s->resized)
        actual = effective(s, &all, &status);
    s->pod_promised = requests_read_list(s, &status, "allocatedResources");
    s->pod_running = read_requests(s, &status);
    s->pod_level_effective = actual;
    s->varies = s->varies || s->pod_promised.count > 0 || !are_same(&actual, &all);
    for (uint32_t i = 0; i < all.count; i++) {
        struct str name = all.at[i].name;
        if (!pod_level_supported(name))
            continue;
        const struct kube_quantity *now = amounts_find(&actual, name);
        s->has_pod_level = true;
        amounts_set(&s->scratch, &s->pod_level, name, all.at[i].quantity);
        amounts_set(&s->scratch, &s->pod_level_actual, name,
                    now ? *now : (struct kube_quantity){0});
    }
    struct amounts limits = read_limits(s, spec);
    for (uint32_t i = 0; i < limits.count; i++)
        if (pod_level_supported(limits.at[i].name))
            amounts_set(&s->scratch, &s->pod_level_limits, limits.at[i].name,
                        limits.at[i].quantity);
}

static void read_pod(struct sums *s)
{
    struct cursor spec = cursor_object(s->object, "spec"),
                  status = cursor_object(s->object, "status");
    s->infeasible = resize_infeasible(&status);
    struct cursor containers = cursor_list(&spec, "containers");
    struct cursor init = cursor_list(&spec, "initContainers");
    size_t count = kube_json_count(containers.value) + kube_json_count(init.value);
    struct cursor first = cursor_list(&status, "containerStatuses");
    struct cursor second = cursor_list(&status, "initContainerStatuses");
    struct statuses all = {.lists = {&first, &second}};
    s->containers = arena_take(&s->scratch, count * sizeof(*s->containers));
    if (count > AMOUNTS_FEW)
        index_statuses(s, &all);
    read_containers(s, &all, &containers, false);
    read_containers(s, &all, &init, true);
    read_pod_level(s, &spec);
    s->overhead = requests_read_list(s, &spec, "overhead");
    requests_read_rooms(s);
}

/* ---- adding up ---- */

static struct amounts of_container(struct arena *a, const struct container *c,
                                   const struct variant *v)
{
    struct amounts list = {0};
    const struct amounts *const counts[] = {[COUNT_spec] = &c->spec,
                                            [COUNT_limits] = &c->limits,
                                            [COUNT_actual] = &c->actual,
                                            [COUNT_promised] = &c->promised,
                                            [COUNT_running] = &c->running};
    amounts_add_all(a, &list, counts[v->count]);
    if (v->default_cpu != NULL && amounts_find(&list, STR_LITERAL("cpu")) == NULL)
        amounts_set(a, &list, STR_LITERAL("cpu"), *v->default_cpu);
    if (v->default_memory != NULL && amounts_find(&list, STR_LITERAL("memory")) == NULL)
        amounts_set(a, &list, STR_LITERAL("memory"), *v->default_memory);
    return list;
}

/* Containers and sidecars run together; each init container runs beside the sidecars before it. */
struct amounts requests_of_containers(struct sums *s, const struct variant *v)
{
    struct amounts sum = {0}, sidecars = {0}, init_max = {0};
    struct arena *findings = s->container_count > AMOUNTS_FEW ? &s->findings : &s->scratch;
    for (uint32_t i = 0; i < s->container_count; i++) {
        const struct container *c = &s->containers[i];
        if (findings == &s->findings)
            arena_reset(findings);
        struct amounts mine = of_container(findings, c, v);
        if (!c->init || c->restartable)
            amounts_add_all(&s->scratch, &sum, &mine);
        if (c->init && c->restartable)
            amounts_add_all(&s->scratch, &sidecars, &mine);
        if (c->init && !c->restartable)
            amounts_add_all(findings, &mine, &sidecars);
        if (c->init)
            amounts_max_all(&s->scratch, &init_max, c->restartable ? &sidecars : &mine);
    }
    amounts_max_all(&s->scratch, &sum, &init_max);
    return sum;
}

static struct amounts total(struct sums *s, const struct variant *v)
{
    struct amounts sum = requests_of_containers(s, v);
    bool status = v->count == COUNT_actual && s->resizes;
    if (v->count == COUNT_actual && s->with_rooms)
        amounts_add_all(&s->scratch, &sum, &s->rooms_1_36);
    const struct amounts *level = status ? &s->pod_level_actual : &s->pod_level;
    for (uint32_t i = 0; v->pod_level && !s->skipped && i < level->count; i++)
        amounts_set(&s->scratch, &sum, level->at[i].name, level->at[i].quantity);
    amounts_add_all(&s->scratch, &sum, &s->overhead);
    return sum;
}

/* Overhead counts where there is a limit that it can be added to. */
static struct amounts total_limits(struct sums *s)
{
    struct amounts sum = requests_of_containers(s, &(struct variant){.count = COUNT_limits});
    for (uint32_t i = 0; i < s->pod_level_limits.count; i++)
        amounts_set(&s->scratch, &sum, s->pod_level_limits.at[i].name,
                    s->pod_level_limits.at[i].quantity);
    for (uint32_t i = 0; i < s->overhead.count; i++) {
        struct kube_quantity *there = amounts_find(&sum, s->overhead.at[i].name);
        if (there != NULL && kube_quantity_compare(*there, (struct kube_quantity){0}) != 0)
            *there = kube_quantity_add(*there, s->overhead.at[i].quantity);
    }
    return sum;
}

static bool is_kept(struct str name, bool on_node)
{
    return str_is(name, "cpu") || str_is(name, "memory") || str_is(name, "ephemeral-storage") ||
           (on_node && str_is(name, "pods")) || requests_is_scalar(name);
}

static int64_t rounded(const struct amount *a)
{
    return str_is(a->name, "cpu") ? kube_quantity_milli(a->quantity)
                                  : kube_quantity_value(a->quantity);
}

static int by_name(const void *a, const void *b)
{
    return str_compare(((const struct quantity *)a)->name, ((const struct quantity *)b)->name);
}

/* Into records, sorted by name so that equal pods give equal messages. */
static struct quantity *recorded(const struct cursor *at, const struct amounts *list, bool on_node,
                                 uint32_t *count)
{
    struct quantity *out = list->count ? cursor_take(at, list->count, sizeof(*out)) : NULL;
    *count = 0;
    for (uint32_t i = 0; out != NULL && i < list->count; i++) {
        int64_t amount = rounded(&list->at[i]);
        bool told =
            amount > 0 || (amount == 0 && on_node && requests_may_be_devices(list->at[i].name));
        if (!told || !is_kept(list->at[i].name, on_node))
            continue;
        struct str name = arena_copy(at->reading->arena, list->at[i].name);
        if (name.at == NULL)
            cursor_fail(at, "too large");
        out[(*count)++] = (struct quantity){name, amount};
    }
    if (*count > 1)
        qsort(out, *count, sizeof(*out), by_name);
    return out;
}

static int64_t amount_of(const struct amounts *list, const char *name)
{
    const struct kube_quantity *q = amounts_find(list, str_of(name));
    int64_t amount = q ? rounded(&(struct amount){str_of(name), *q}) : 0;
    return amount > 0 ? amount : 0;
}

/* The sum of one count; once the pod's status says both of the whole, the containers' do not count.
 */
static struct amounts sum_1_37(struct sums *s, struct variant v, enum counting count)
{
    bool whole = s->resizes && s->pod_promised.count > 0 && s->pod_running.count > 0;
    v.count = count;
    if (whole && count == COUNT_promised)
        return s->pod_promised;
    if (whole && count == COUNT_running)
        return s->pod_running;
    struct amounts sum = requests_of_containers(s, &v);
    if (s->with_rooms && count != COUNT_running) /* what runs has it in it */
        amounts_add_all(&s->scratch, &sum, &s->rooms_1_37);
    return sum;
}

/* As 1.37 counts a pod on its node: of each resource the greatest of the three sums, where 1.36
 * adds up the greatest of each container. A resize that the node refused leaves the spec out. */
static struct amounts total_1_37(struct sums *s, const struct variant *v)
{
    struct amounts sum = {0}, one;
    for (enum counting i = COUNT_spec; i <= COUNT_running; i++) {
        if (i == COUNT_limits || i == COUNT_actual || (i == COUNT_spec && s->infeasible))
            continue;
        one = sum_1_37(s, *v, i);
        amounts_max_all(&s->scratch, &sum, &one);
    }
    const struct amounts *level = s->resizes ? &s->pod_level_effective : &s->pod_level;
    for (uint32_t i = 0; s->has_pod_level && !s->skipped && i < level->count; i++)
        if (pod_level_supported(level->at[i].name))
            amounts_set(&s->scratch, &sum, level->at[i].name, level->at[i].quantity);
    amounts_add_all(&s->scratch, &sum, &s->overhead);
    return sum;
}

/* What the pod counts for on its node when nodes are scored: a pod-level request stands in for the
 * containers', so a default is due only for what neither level names. */
static struct counted_usage counted(struct sums *s, bool as_1_37)
{
    struct variant v = {.count = COUNT_actual, .pod_level = true};
    struct amounts (*const count)(struct sums *, const struct variant *) =
        as_1_37 ? total_1_37 : total;
    struct counted_usage found = {0};
    struct amounts usage = count(s, &v);
    found.usage.at = recorded(s->object, &usage, false, &found.usage.count);
    bool stands_in = s->has_pod_level && !s->skipped;
    if (!stands_in || amounts_find(&usage, STR_LITERAL("cpu")) == NULL)
        v.default_cpu = &requests_default_cpu;
    if (!stands_in || amounts_find(&usage, STR_LITERAL("memory")) == NULL)
        v.default_memory = &requests_default_memory;
    struct amounts list = count(s, &v);
    found.score_cpu = amount_of(&list, "cpu");
    found.score_memory = amount_of(&list, "memory");
    return found;
}

static void fill_usage(struct sums *s, struct pod *pod)
{
    struct counted_usage now = counted(s, false);
    pod->usage.at = now.usage.at;
    pod->usage.count = now.usage.count;
    pod->usage_score_cpu = now.score_cpu;
    pod->usage_score_memory = now.score_memory;
    if (!s->varies)
        return;
    struct counted_usage then = counted(s, true);
    if (codec_equal(&counted_usage_record, &now, &then))
        return;
    pod->usage_varies = true;
    pod->usage_1_37 = then;
}

/* ---- what other gates make of it ---- */

/* Room for both releases: without the status of the pod as a whole and without its requests, and
 * with what claims take all three ways. */
#define OTHERS_MAX 10

static void add_other(struct sums *s, struct pod *pod, int64_t release)
{
    struct other_count *o = &pod->other_counts.at[pod->other_counts.count++];
    struct amounts request = total(s, &(struct variant){.pod_level = true});
    *o = (struct other_count){.release = release,
                              .pod_level_resources = !s->skipped,
                              .pod_level_resizes = s->resizes,
                              .node_resources = s->with_rooms,
                              .usage = counted(s, release >= 37)};
    o->request.at = recorded(s->object, &request, false, &o->request.count);
}

/* Without a status of the pod as a whole it does not matter whether that counts. */
static void fill_without(struct sums *s, struct pod *pod, int64_t release)
{
    s->resizes = s->skipped = false;
    if (s->resized || s->pod_promised.count > 0)
        add_other(s, pod, release);
    s->skipped = true;
    add_other(s, pod, release);
}

static void fill_other_counts(struct sums *s, struct pod *pod)
{
    bool whole = s->has_pod_level || s->resized || s->pod_promised.count > 0;
    if (!whole && !s->has_rooms)
        return;
    pod->other_counts.at = cursor_take(s->object, OTHERS_MAX, sizeof(*pod->other_counts.at));
    for (int64_t release = 36; pod->other_counts.at != NULL && release <= 37; release++) {
        s->with_rooms = false;
        if (whole)
            fill_without(s, pod, release);
        if (!s->has_rooms)
            continue;
        s->with_rooms = s->resizes = true;
        s->skipped = false;
        add_other(s, pod, release);
        fill_without(s, pod, release);
    }
}

/* ---- what devices may stand for ---- */

/* Quantity.AsInt64: 0 for what is no whole number of them. */
static int64_t whole(struct kube_quantity q)
{
    int64_t amount = kube_quantity_value(q);
    struct kube_quantity back = {(i128)amount * 1000000000};
    return amount > 0 && kube_quantity_compare(q, back) == 0 ? amount : 0;
}

static int by_amount_name(const void *a, const void *b)
{
    return str_compare(((const struct amount *)a)->name, ((const struct amount *)b)->name);
}

/* The place of a name among all. */
static int64_t rank_of(const struct amount *sorted, uint32_t count, struct str name)
{
    const struct amount key = {.name = name};
    const struct amount *found = bsearch(&key, sorted, count, sizeof(key), by_amount_name);
    return found != NULL ? found - sorted : 0;
}

static int by_resource_and_place(const void *one, const void *other)
{
    const struct extended_ask *a = one, *b = other;
    int order = str_compare(a->resource, b->resource);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

/* Room for all; counts those there are into *inits. */
static uint32_t count_asks(const struct sums *s, uint32_t *inits)
{
    uint32_t count = 0;
    *inits = 0;
    for (uint32_t i = 0; i < s->container_count; i++) {
        *inits += s->containers[i].init;
        for (uint32_t k = 0; k < s->containers[i].spec.count; k++)
            count += requests_may_be_devices(s->containers[i].spec.at[k].name);
    }
    return count;
}

static void add_asks(struct sums *s, const struct container *c, int64_t place, struct pod *pod)
{
    struct arena *a = s->object->reading->arena;
    arena_reset(&s->findings);
    struct amount *sorted = arena_take(&s->findings, c->spec.count * sizeof(*sorted));
    if (c->spec.count > 0)
        memcpy(sorted, c->spec.at, c->spec.count * sizeof(*sorted));
    qsort(sorted, c->spec.count, sizeof(*sorted), by_amount_name);
    for (uint32_t k = 0; k < c->spec.count; k++) {
        const struct amount *asked = &c->spec.at[k];
        int64_t amount = requests_may_be_devices(asked->name) ? whole(asked->quantity) : 0;
        if (amount == 0)
            continue;
        pod->extended_asks.at[pod->extended_asks.count++] =
            (struct extended_ask){.resource = arena_copy(a, asked->name),
                                  .container = arena_copy(a, c->name),
                                  .place = place,
                                  .rank = rank_of(sorted, c->spec.count, asked->name),
                                  .amount = amount,
                                  .passing = c->init && !c->restartable};
    }
}

static void fill_extended_asks(struct sums *s, struct pod *pod)
{
    uint32_t inits, room = count_asks(s, &inits), init = 0, other = 0;
    if (room == 0)
        return;
    pod->extended_asks.at = cursor_take(s->object, room, sizeof(struct extended_ask));
    if (pod->extended_asks.at == NULL)
        return;
    for (uint32_t i = 0; i < s->container_count; i++) {
        const struct container *c = &s->containers[i];
        add_asks(s, c, c->init ? init++ : inits + other++, pod);
    }
    if (pod->extended_asks.count > 1)
        qsort(pod->extended_asks.at, pod->extended_asks.count, sizeof(struct extended_ask),
              by_resource_and_place);
}

void requests_fill(const struct cursor *object, struct pod *pod)
{
    struct sums s = {.object = object, .resizes = true};
    read_pod(&s);
    if (!object->reading->failed) {
        struct amounts request = total(&s, &(struct variant){.pod_level = true});
        struct amounts score =
            total(&s, &(struct variant){.default_cpu = &requests_default_cpu,
                                        .default_memory = &requests_default_memory});
        pod->request.at = recorded(object, &request, false, &pod->request.count);
        pod->score_request.at = recorded(object, &score, false, &pod->score_request.count);
        struct amounts limits = total_limits(&s);
        pod->limits.at = recorded(object, &limits, false, &pod->limits.count);
        fill_usage(&s, pod);
        fill_other_counts(&s, pod);
        if (pod->node_name.len == 0)
            fill_extended_asks(&s, pod);
        if (pod->node_name.len == 0 && pod->device_claims.count + pod->extended_asks.count > 0)
            requests_fill_amounts(&s, pod);
    }
    arena_free(&s.scratch);
    arena_free(&s.findings);
}

void requests_fill_allocatable(const struct cursor *object, struct node *node)
{
    struct sums s = {.object = object};
    struct cursor status = cursor_object(object, "status");
    struct amounts list = requests_read_list(&s, &status, "allocatable");
    node->allocatable.at = recorded(object, &list, true, &node->allocatable.count);
    arena_free(&s.scratch);
}
