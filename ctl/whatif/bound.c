/* bound: pods that have a node, each decided anew. The one idea: what the scheduler would do with
 * the pod if it came now is asked pod by pod, and everything is put back in between, so that the
 * answer about one pod does not depend on that about another.
 *
 * What must stay true: the world is afterwards as it was before; who is among the best stays, since
 * of equally good nodes a scheduler may take any. */
#include "ctl/attempt.h"
#include "ctl/whatif/whatif.h"
#include "proto/kube/objects/requests.h"

#include <stdlib.h>

static const struct scheduler_config no_config;

struct bound {
    struct str space, name;
};

struct search {
    struct whatif *w;
    uint32_t count;
    struct bound *at;
};

static void note(void *context, const struct pod *pod)
{
    struct search *s = context;
    if (pod->node_name.len == 0)
        return;
    s->at = manifests_room(&s->w->arena, s->at, s->count, sizeof(*s->at));
    s->at[s->count++] = (struct bound){arena_copy(&s->w->arena, pod->namespace_name),
                                       arena_copy(&s->w->arena, pod->name)};
}

static int by_name(const void *a, const void *b)
{
    const struct bound *x = a, *y = b;
    int spaces = str_compare(x->space, y->space);
    return spaces != 0 ? spaces : str_compare(x->name, y->name);
}

static bool can_be_decided(const struct whatif *w, const struct pod *pod)
{
    return !str_is(pod->owner_kind, "DaemonSet") && !str_is(pod->owner_kind, "Node") &&
           !pod->deleting && pod->gang.len == 0 && pod->device_claims.count == 0 &&
           world_framework(w->world, pod) != NULL;
}

/* With one of the best nodes the pod has nothing to gain. */
static bool would_stay(const struct report *r, struct str node)
{
    if (str_equal(r->node, node))
        return true;
    for (uint32_t i = 0; i < r->verdict_count; i++)
        if (str_equal(r->verdicts[i].node, node))
            return r->verdicts[i].code == VERDICT_success &&
                   r->verdicts[i].total == r->decision->total;
    return false;
}

static void add(struct whatif *w, const struct pod *pod, const struct report *r)
{
    uint32_t count = w->pods.count;
    struct str why = r->message.len > 0 ? r->message : r->error;
    w->pods.at = manifests_room(&w->arena, w->pods.at, count, sizeof(*w->pods.at));
    w->pods.at[count] = (struct whatif_pod){.space = arena_copy(&w->arena, pod->namespace_name),
                                            .name = arena_copy(&w->arena, pod->name),
                                            .origin = WHATIF_bound,
                                            .was_on = arena_copy(&w->arena, pod->node_name),
                                            .priority = pod->priority,
                                            .order = count,
                                            .tried = true,
                                            .node = arena_copy(&w->arena, r->node)};
    if (r->node.len == 0)
        w->pods.at[count].message = arena_copy(&w->arena, why);
    w->pods.count++;
}

static void decide(struct whatif *w, const struct pod *pod)
{
    struct report r = {0};
    struct held held = {.arena = &w->step};
    const struct attempts attempts = {.world = w->world,
                                      .config = &no_config,
                                      .arena = &w->step,
                                      .omit_nodes = true,
                                      .after = AFTER_none,
                                      .hold = &held,
                                      .no_bind = true};
    struct pod tried = requests_as_tried(pod);
    tried = world_pod_unbound(w->world, &tried, &w->step);
    tried.nominated_node = (struct str){0};
    (void)world_pod_gone(w->world, pod->namespace_name, pod->name);
    bool decided = attempt_decide(&attempts, &tried, &r);
    w->bound++;
    if (decided && would_stay(&r, pod->node_name))
        w->stay++;
    else
        add(w, pod, &r);
    world_give_back(w->world, pod, &held);
    world_pod_set(w->world, pod);
}

static bool is_new_here(const struct whatif *w, const struct bound *b)
{
    for (uint32_t i = 0; i < w->pods.count; i++)
        if (w->pods.at[i].origin != WHATIF_bound && str_equal(w->pods.at[i].name, b->name) &&
            str_equal(w->pods.at[i].space, b->space))
            return true;
    return false;
}

void whatif_decide_bound(struct whatif *w)
{
    struct search s = {.w = w};
    w->all = true;
    world_each_pod(w->world, note, &s);
    if (s.count > 0)
        qsort(s.at, s.count, sizeof(*s.at), by_name);
    for (uint32_t i = 0; i < s.count; i++) {
        struct pod pod;
        if (!is_new_here(w, &s.at[i]) &&
            world_pod(w->world, s.at[i].space, s.at[i].name, &pod, &w->step)) {
            if (can_be_decided(w, &pod)) {
                decide(w, &pod);
            } else {
                w->not_decided.at = manifests_room(&w->arena, w->not_decided.at,
                                                   w->not_decided.count, sizeof(struct str));
                w->not_decided.at[w->not_decided.count++] = arena_print(
                    &w->arena, "%.*s/%.*s", STR_ARG(pod.namespace_name), STR_ARG(pod.name));
            }
        }
        arena_reset(&w->step);
    }
}
