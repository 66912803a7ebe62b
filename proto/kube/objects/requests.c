/* requests: a pod's resource requests, as upstream's PodRequests computes them. The one idea: read
 * every container once, then add up the four variants from that. What must stay true: quantities
 * are added exactly and rounded once at the end, and whether a name is present is kept apart from
 * its amount, because defaults only fill what is absent. */
#include "proto/kube/objects/requests.h"

#include "proto/base/must.h"
#include "proto/kube/objects/selector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW 16 /* names that are found faster without an index */

__extension__ typedef __int128 i128;

/* What a container without a request counts for when nodes are scored: 100m and 200Mi. */
static const struct kube_quantity default_cpu = {(i128)100 * 1000000};
static const struct kube_quantity default_memory = {(i128)200 * 1024 * 1024 * 1000000000};

struct amount {
    struct str name;
    struct kube_quantity quantity;
};

/* A resource list: names are distinct. */
struct amounts {
    struct amount *at;
    uint32_t count, room;
    uint32_t *slots; /* by hash of the name: place plus one, 0: free; of more than FEW */
    uint32_t mask;   /* of slots, which are a power of two and at least twice as many as room */
};

struct container {
    struct str name;
    bool init, restartable;
    struct amounts spec;   /* resources.requests */
    struct amounts actual; /* the same with what its status says taken in */
    struct amounts limits; /* resources.limits */
};

/* A pod as far as requests matter. */
struct sums {
    const struct cursor *object;
    struct arena scratch;
    struct arena findings; /* of one container at a time, where there may be many */
    bool infeasible;       /* a resize that the node refused: the spec does not count */
    struct container *containers;
    uint32_t container_count;
    bool has_pod_level;
    struct amounts pod_level, pod_level_actual, pod_level_limits, overhead;
};

/* One way to count. */
struct variant {
    bool actual, pod_level;
    bool limits;                                              /* instead of requests */
    const struct kube_quantity *default_cpu, *default_memory; /* NULL: none */
};

/* ---- resource lists ---- */

static uint32_t *slot_of(const struct amounts *list, struct str name)
{
    uint32_t i = (uint32_t)str_hash(name) & list->mask;
    while (list->slots[i] != 0 && !str_equal(list->at[list->slots[i] - 1].name, name))
        i = (i + 1) & list->mask;
    return &list->slots[i];
}

/* Out of the way of the many that are short. */
__attribute__((noinline)) static struct kube_quantity *find_indexed(const struct amounts *list,
                                                                    struct str name)
{
    uint32_t place = *slot_of(list, name);
    return place > 0 ? &list->at[place - 1].quantity : NULL;
}

static inline struct kube_quantity *find(const struct amounts *list, struct str name)
{
    if (list->count > FEW)
        return find_indexed(list, name);
    for (uint32_t i = 0; i < list->count; i++)
        if (str_equal(list->at[i].name, name))
            return &list->at[i].quantity;
    return NULL;
}

/* More than FEW have an index, which is made with their room. */
__attribute__((noinline)) static void grow(struct arena *a, struct amounts *list)
{
    list->room = list->room ? list->room * 2 : 4;
    struct amount *at = arena_take(a, list->room * sizeof(*at));
    if (list->count > 0)
        memcpy(at, list->at, list->count * sizeof(*at));
    list->at = at;
    if (list->room <= FEW)
        return;
    list->mask = list->room * 2 - 1;
    list->slots = arena_take(a, (list->mask + (size_t)1) * sizeof(*list->slots));
    for (uint32_t i = 0; i < list->count; i++)
        *slot_of(list, list->at[i].name) = i + 1;
}

/* A name that is not there yet. */
static inline void add(struct arena *a, struct amounts *list, struct str name,
                       struct kube_quantity q)
{
    if (list->count == list->room)
        grow(a, list);
    must(list->at != NULL);
    list->at[list->count++] = (struct amount){name, q};
    if (list->count > FEW)
        *slot_of(list, name) = list->count;
}

static void set(struct arena *a, struct amounts *list, struct str name, struct kube_quantity q)
{
    struct kube_quantity *there = find(list, name);
    if (there != NULL)
        *there = q;
    else
        add(a, list, name, q);
}

static void add_all(struct arena *a, struct amounts *to, const struct amounts *more)
{
    for (uint32_t i = 0; i < more->count; i++) {
        struct kube_quantity *there = find(to, more->at[i].name);
        if (there != NULL)
            *there = kube_quantity_add(*there, more->at[i].quantity);
        else
            add(a, to, more->at[i].name, more->at[i].quantity);
    }
}

static void max_all(struct arena *a, struct amounts *to, const struct amounts *other)
{
    for (uint32_t i = 0; i < other->count; i++) {
        struct kube_quantity *there = find(to, other->at[i].name);
        if (there == NULL)
            add(a, to, other->at[i].name, other->at[i].quantity);
        else if (kube_quantity_compare(other->at[i].quantity, *there) > 0)
            *there = other->at[i].quantity;
    }
}

/* ---- reading ---- */

static struct amounts read_list(struct sums *s, const struct cursor *up, const char *name)
{
    struct amounts list = {0};
    struct cursor object = cursor_object(up, name);
    for (struct cursor c = cursor_first(&object); c.value != NULL; c = cursor_next(&c))
        set(&s->scratch, &list, str_of(c.name), cursor_own_quantity(&c));
    return list;
}

static struct amounts read_limits(struct sums *s, const struct cursor *up)
{
    struct cursor resources = cursor_object(up, "resources");
    return read_list(s, &resources, "limits");
}

static struct amounts read_requests(struct sums *s, const struct cursor *up)
{
    struct cursor resources = cursor_object(up, "resources");
    return read_list(s, &resources, "requests");
}

/* The greatest of spec, what runs and what was promised; without the spec when the resize to it
 * was found infeasible. */
static struct amounts effective(struct sums *s, const struct amounts *spec,
                                const struct cursor *status)
{
    struct amounts result = {0}, running = read_requests(s, status);
    struct amounts promised = read_list(s, status, "allocatedResources");
    if (!s->infeasible)
        max_all(&s->scratch, &result, spec);
    max_all(&s->scratch, &result, &running);
    max_all(&s->scratch, &result, &promised);
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

/* The statuses of all containers: of a name the last one of either list counts; upstream fills one
 * map from both, in this order. */
struct statuses {
    const struct cursor *lists[2];
    struct cursor *slots; /* by hash of the name; without a value: free. NULL: there are few */
    size_t mask;          /* of slots, a power of two and at least twice as many as there are */
};

static struct cursor *status_slot(const struct statuses *all, struct str name)
{
    size_t i = str_hash(name) & all->mask;
    while (all->slots[i].value != NULL &&
           !str_equal(kube_json_text(kube_json_get(all->slots[i].value, "name")), name))
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
            *status_slot(all, kube_json_text(kube_json_get(i.value, "name"))) = i;
}

/* Without a value when there is none. */
static struct cursor status_of(const struct statuses *all, struct str name)
{
    struct cursor found = {0};
    if (all->slots != NULL)
        return *status_slot(all, name);
    for (size_t l = 0; l < 2; l++)
        for (struct cursor i = cursor_first(all->lists[l]); i.value != NULL; i = cursor_next(&i))
            if (str_equal(kube_json_text(kube_json_get(i.value, "name")), name))
                found = i;
    return found;
}

static void read_containers(struct sums *s, const struct statuses *statuses,
                            const struct cursor *list, bool init)
{
    for (struct cursor i = cursor_first(list); i.value != NULL && !i.reading->failed;
         i = cursor_next(&i)) {
        cursor_is_object(&i);
        struct container *c = &s->containers[s->container_count++];
        *c = (struct container){.name = kube_json_text(kube_json_get(i.value, "name")),
                                .init = init,
                                .spec = read_requests(s, &i),
                                .limits = read_limits(s, &i)};
        c->restartable = str_is(kube_json_text(kube_json_get(i.value, "restartPolicy")), "Always");
        c->actual = c->spec;
        if (init && !c->restartable)
            continue; /* an ordinary init container always counts as specified */
        struct cursor status = status_of(statuses, c->name);
        if (kube_json_get(status.value, "resources") != NULL)
            c->actual = effective(s, &c->spec, &status);
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
    if (kube_json_get(status.value, "resources") != NULL)
        actual = effective(s, &all, &status);
    for (uint32_t i = 0; i < all.count; i++) {
        struct str name = all.at[i].name;
        if (!pod_level_supported(name))
            continue;
        const struct kube_quantity *now = find(&actual, name);
        s->has_pod_level = true;
        set(&s->scratch, &s->pod_level, name, all.at[i].quantity);
        set(&s->scratch, &s->pod_level_actual, name, now ? *now : (struct kube_quantity){0});
    }
    struct amounts limits = read_limits(s, spec);
    for (uint32_t i = 0; i < limits.count; i++)
        if (pod_level_supported(limits.at[i].name))
            set(&s->scratch, &s->pod_level_limits, limits.at[i].name, limits.at[i].quantity);
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
    if (count > FEW)
        index_statuses(s, &all);
    read_containers(s, &all, &containers, false);
    read_containers(s, &all, &init, true);
    read_pod_level(s, &spec);
    s->overhead = read_list(s, &spec, "overhead");
}

/* ---- adding up ---- */

static struct amounts of_container(struct arena *a, const struct container *c,
                                   const struct variant *v)
{
    struct amounts list = {0};
    add_all(a, &list, v->limits ? &c->limits : v->actual ? &c->actual : &c->spec);
    if (v->default_cpu != NULL && find(&list, STR_LITERAL("cpu")) == NULL)
        set(a, &list, STR_LITERAL("cpu"), *v->default_cpu);
    if (v->default_memory != NULL && find(&list, STR_LITERAL("memory")) == NULL)
        set(a, &list, STR_LITERAL("memory"), *v->default_memory);
    return list;
}

/* Containers and sidecars run together; each init container runs beside the sidecars before it. */
static struct amounts of_containers(struct sums *s, const struct variant *v)
{
    struct amounts sum = {0}, sidecars = {0}, init_max = {0};
    struct arena *findings = s->container_count > FEW ? &s->findings : &s->scratch;
    for (uint32_t i = 0; i < s->container_count; i++) {
        const struct container *c = &s->containers[i];
        if (findings == &s->findings)
            arena_reset(findings);
        struct amounts mine = of_container(findings, c, v);
        if (!c->init || c->restartable)
            add_all(&s->scratch, &sum, &mine);
        if (c->init && c->restartable)
            add_all(&s->scratch, &sidecars, &mine);
        if (c->init && !c->restartable)
            add_all(findings, &mine, &sidecars);
        if (c->init)
            max_all(&s->scratch, &init_max, c->restartable ? &sidecars : &mine);
    }
    max_all(&s->scratch, &sum, &init_max);
    return sum;
}

static struct amounts total(struct sums *s, const struct variant *v)
{
    struct amounts sum = of_containers(s, v);
    const struct amounts *level = v->actual ? &s->pod_level_actual : &s->pod_level;
    for (uint32_t i = 0; v->pod_level && i < level->count; i++)
        set(&s->scratch, &sum, level->at[i].name, level->at[i].quantity);
    add_all(&s->scratch, &sum, &s->overhead);
    return sum;
}

/* Overhead counts where there is a limit that it can be added to. */
static struct amounts total_limits(struct sums *s)
{
    struct amounts sum = of_containers(s, &(struct variant){.limits = true});
    for (uint32_t i = 0; i < s->pod_level_limits.count; i++)
        set(&s->scratch, &sum, s->pod_level_limits.at[i].name, s->pod_level_limits.at[i].quantity);
    for (uint32_t i = 0; i < s->overhead.count; i++) {
        struct kube_quantity *there = find(&sum, s->overhead.at[i].name);
        if (there != NULL && kube_quantity_compare(*there, (struct kube_quantity){0}) != 0)
            *there = kube_quantity_add(*there, s->overhead.at[i].quantity);
    }
    return sum;
}

bool requests_is_scalar(struct str name)
{
    static const char native[] = "kubernetes.io/", quota[] = "requests.";
    if (str_starts_with(name, "hugepages-") || str_starts_with(name, "attachable-volumes-"))
        return true;
    if (name.len > 0 && memmem(name.at, name.len, native, strlen(native)) != NULL)
        return true;
    char as_quota[512];
    if (str_find(name, '/') < 0 || str_starts_with(name, quota) || name.len > 400)
        return false;
    int len = snprintf(as_quota, sizeof(as_quota), "%s%.*s", quota, STR_ARG(name));
    return kube_label_key_valid((struct str){as_quota, (uint32_t)len});
}

/* ResourceDeviceClassPrefix: each DeviceClass is an extended resource of this name as well. */
#define CLASS_PREFIX "deviceclass.resource.kubernetes.io/"

bool requests_may_be_devices(struct str name)
{
    if (str_starts_with(name, CLASS_PREFIX))
        return true;
    bool native = memmem(name.at, name.len, "kubernetes.io/", strlen("kubernetes.io/")) != NULL;
    return str_find(name, '/') >= 0 && !native && requests_is_scalar(name);
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
    const struct kube_quantity *q = find(list, str_of(name));
    int64_t amount = q ? rounded(&(struct amount){str_of(name), *q}) : 0;
    return amount > 0 ? amount : 0;
}

/* What the pod counts for on its node when nodes are scored: a pod-level request stands in for the
 * containers', so a default is due only for what neither level names. */
static void fill_scoring_usage(struct sums *s, const struct amounts *usage, struct pod *pod)
{
    struct variant v = {.actual = true, .pod_level = true};
    if (!s->has_pod_level || find(usage, STR_LITERAL("cpu")) == NULL)
        v.default_cpu = &default_cpu;
    if (!s->has_pod_level || find(usage, STR_LITERAL("memory")) == NULL)
        v.default_memory = &default_memory;
    struct amounts list = total(s, &v);
    pod->usage_score_cpu = amount_of(&list, "cpu");
    pod->usage_score_memory = amount_of(&list, "memory");
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
    struct sums s = {.object = object};
    read_pod(&s);
    if (!object->reading->failed) {
        struct amounts request = total(&s, &(struct variant){.pod_level = true});
        struct amounts score = total(
            &s, &(struct variant){.default_cpu = &default_cpu, .default_memory = &default_memory});
        struct amounts usage = total(&s, &(struct variant){.actual = true, .pod_level = true});
        pod->request.at = recorded(object, &request, false, &pod->request.count);
        pod->score_request.at = recorded(object, &score, false, &pod->score_request.count);
        pod->usage.at = recorded(object, &usage, false, &pod->usage.count);
        struct amounts limits = total_limits(&s);
        pod->limits.at = recorded(object, &limits, false, &pod->limits.count);
        fill_scoring_usage(&s, &usage, pod);
        if (pod->node_name.len == 0)
            fill_extended_asks(&s, pod);
    }
    arena_free(&s.scratch);
    arena_free(&s.findings);
}

void requests_fill_allocatable(const struct cursor *object, struct node *node)
{
    struct sums s = {.object = object};
    struct cursor status = cursor_object(object, "status");
    struct amounts list = read_list(&s, &status, "allocatable");
    node->allocatable.at = recorded(object, &list, true, &node->allocatable.count);
    arena_free(&s.scratch);
}
