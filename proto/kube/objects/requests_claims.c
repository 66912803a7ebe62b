/* requests_claims: what ResourceClaims add to a pod's requests: what its status says that they take
 * of its node, and, of a pod that has no node yet, all that whoever gives it devices has to know.
 * What must stay true: quantities stay exact, and what is said of many containers costs no more
 * than reading them. */
#include "proto/kube/objects/requests_inside.h"

#include <stdlib.h>

/* ---- what the status says ---- */

static struct kube_quantity times(struct kube_quantity q, size_t count)
{
    struct kube_quantity sum = {0};
    for (; count > 0; count /= 2) {
        if (count % 2 != 0)
            sum = kube_quantity_add(sum, q);
        q = kube_quantity_add(q, q);
    }
    return sum;
}

static struct kube_quantity own(const struct cursor *up, const char *name)
{
    struct cursor member = cursor_member(up, name);
    return member.value != NULL ? cursor_own_quantity(&member) : (struct kube_quantity){0};
}

static void add_room(struct sums *s, const struct cursor *of, struct kube_quantity q)
{
    struct amounts one = {0};
    amounts_add(&s->scratch, &one, kube_json_text(kube_json_get(of->value, "name")), q);
    amounts_add_all(&s->scratch, &s->rooms_1_37, &one);
}

static void read_mapping(struct sums *s, const struct cursor *room)
{
    struct cursor list = cursor_list(room, "mapping");
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i) && kube_json_get(i.value, "quantity") != NULL)
            add_room(s, &i, own(&i, "quantity"));
}

static void read_overhead(struct sums *s, const struct cursor *room)
{
    struct cursor list = cursor_list(room, "overhead");
    struct cursor containers = cursor_list(room, "containers");
    size_t count = kube_json_count(containers.value);
    for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        struct kube_quantity each = times(own(&i, "perContainer"), count);
        add_room(s, &i, kube_quantity_add(own(&i, "perPod"), each));
    }
}

void requests_read_rooms(struct sums *s)
{
    struct cursor status = cursor_object(s->object, "status");
    struct cursor rooms = cursor_list(&status, "nodeAllocatableResourceClaimStatuses");
    for (struct cursor i = cursor_first(&rooms); i.value != NULL; i = cursor_next(&i)) {
        if (!cursor_is_object(&i))
            continue;
        struct amounts mapped = requests_read_list(s, &i, "resources");
        amounts_add_all(&s->scratch, &s->rooms_1_36, &mapped);
        read_mapping(s, &i);
        read_overhead(s, &i);
        s->has_rooms = true;
    }
}

/* ---- before it has a node ---- */

static int by_key(const void *a, const void *b)
{
    return str_compare(((const struct label *)a)->key, ((const struct label *)b)->key);
}

/* Sorted by name, with quantities as texts. */
static struct label *told(const struct cursor *at, const struct amounts *list, uint32_t *count)
{
    struct label *out = list->count > 0 ? cursor_take(at, list->count, sizeof(*out)) : NULL;
    *count = 0;
    for (uint32_t i = 0; out != NULL && i < list->count; i++)
        out[(*count)++] = (struct label){arena_copy(at->reading->arena, list->at[i].name),
                                         amounts_text(list->at[i].quantity, at->reading->arena)};
    if (*count > 1)
        qsort(out, *count, sizeof(*out), by_key);
    return out;
}

static struct str score_text(struct sums *s, const struct variant *v, struct str name)
{
    struct amounts sum = requests_of_containers(s, v);
    const struct kube_quantity *q = amounts_find(&sum, name);
    return amounts_text(q != NULL ? *q : (struct kube_quantity){0}, s->object->reading->arena);
}

static void read_container(struct sums *s, const struct cursor *c, struct pod_container *out)
{
    struct cursor resources = cursor_object(c, "resources");
    struct cursor claims = cursor_list(&resources, "claims");
    size_t count = kube_json_count(claims.value);
    struct amounts limits = requests_read_list(s, &resources, "limits");
    out->name = cursor_text(c, "name");
    out->limits.at = told(s->object, &limits, &out->limits.count);
    out->claims.at = count > 0 ? cursor_take(&claims, count, sizeof(*out->claims.at)) : NULL;
    if (out->claims.at == NULL)
        return;
    for (struct cursor i = cursor_first(&claims); i.value != NULL; i = cursor_next(&i))
        if (cursor_is_object(&i))
            out->claims.at[out->claims.count++] = cursor_text(&i, "name");
}

static void read_containers(struct sums *s, struct pod_amounts *out)
{
    struct cursor spec = cursor_object(s->object, "spec");
    out->containers.at = s->container_count > 0 ? cursor_take(s->object, s->container_count,
                                                              sizeof(*out->containers.at))
                                                : NULL;
    for (int init = 1; out->containers.at != NULL && init >= 0; init--) {
        struct cursor list = cursor_list(&spec, init ? "initContainers" : "containers");
        for (struct cursor i = cursor_first(&list); i.value != NULL; i = cursor_next(&i)) {
            if (!cursor_is_object(&i))
                continue;
            struct pod_container *c = &out->containers.at[out->containers.count++];
            *c = (struct pod_container){.init = init};
            read_container(s, &i, c);
        }
    }
}

static struct amounts huge_of(struct sums *s, const struct amounts *all)
{
    struct amounts huge = {0};
    for (uint32_t i = 0; i < all->count; i++)
        if (str_starts_with(all->at[i].name, "hugepages-"))
            amounts_add(&s->scratch, &huge, all->at[i].name, all->at[i].quantity);
    return huge;
}

void requests_fill_amounts(struct sums *s, struct pod *pod)
{
    struct pod_amounts *out = cursor_take(s->object, 1, sizeof(*out));
    if (out == NULL)
        return;
    struct amounts sum = requests_of_containers(s, &(struct variant){.count = COUNT_spec});
    struct amounts limits = requests_of_containers(s, &(struct variant){.count = COUNT_limits});
    struct amounts huge = huge_of(s, &limits);
    *out = (struct pod_amounts){
        .score_cpu = score_text(s, &(struct variant){.default_cpu = &requests_default_cpu},
                                STR_LITERAL("cpu")),
        .score_memory = score_text(s, &(struct variant){.default_memory = &requests_default_memory},
                                   STR_LITERAL("memory"))};
    out->requests.at = told(s->object, &sum, &out->requests.count);
    out->whole.at = told(s->object, &s->pod_level, &out->whole.count);
    out->whole_limits.at = told(s->object, &s->pod_level_limits, &out->whole_limits.count);
    out->huge_limits.at = told(s->object, &huge, &out->huge_limits.count);
    out->overhead.at = told(s->object, &s->overhead, &out->overhead.count);
    read_containers(s, out);
    pod->amounts.at = out;
    pod->amounts.count = 1;
}
