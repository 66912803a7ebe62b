/* users_groups: PodGroups of scheduler-plugins and of the API in the tree, and the pods that name
 * them. What must stay true: facts_sets has each group that the API server has, and knows what was
 * asked of it; the pods of a group that is not served are not made. */
#include "tests/simulation/users.h"

#include "tests/simulation/calls.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/progress.h"
#include "tests/simulation/trace.h"

#include <stdio.h>
#include <string.h>

#define GROUP_API "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
#define TREE      "scheduling.k8s.io/"

/* As the API server serves it. */
static const char *tree_version(void)
{
    return model_minor(world_model()) < 37 ? "v1alpha2" : "v1beta1";
}

static int ask_tree(const char *method, const char *body, const char *name)
{
    return ask(method, body, "/apis/" TREE "%s/namespaces/default/podgroups%s%s", tree_version(),
               name[0] != 0 ? "/" : "", name);
}

static void serve(void)
{
    ask("POST",
        "{\"kind\":\"CustomResourceDefinition\",\"apiVersion\":\"apiextensions.k8s.io/v1\","
        "\"metadata\":{\"name\":\"podgroups.scheduling.x-k8s.io\"},\"spec\":{\"group\":"
        "\"scheduling.x-k8s.io\",\"scope\":\"Namespaced\",\"names\":{\"kind\":\"PodGroup\","
        "\"plural\":\"podgroups\"},\"versions\":[{\"name\":\"v1alpha1\",\"served\":true,"
        "\"storage\":true}]}}",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
}

static struct set_fact *free_set(void)
{
    struct set_fact *set = NULL;
    for (uint32_t i = 0; i < SETS_MAX && set == NULL; i++)
        set = !facts_sets[i].there ? &facts_sets[i] : NULL;
    return facts_pod_count() > users_live_max() - 12 ? NULL : set;
}

static bool post_group(const struct set_fact *set)
{
    char text[400], policy[60];
    if (!set->tree) {
        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"scheduling.x-k8s.io/v1alpha1\",\"kind\":\"PodGroup\","
                 "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"minMember\":%lld}}",
                 set->name, (long long)set->least);
        return ask("POST", text, GROUP_API) == 201;
    }
    snprintf(policy, sizeof(policy), set->basic ? "\"basic\":{}" : "\"gang\":{\"minCount\":%lld}",
             (long long)set->least);
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"" TREE "%s\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"%s\"},"
             "\"spec\":{\"priority\":%lld,\"schedulingPolicy\":{%s}}}",
             tree_version(), set->name, (long long)set->priority, policy);
    return ask_tree("POST", text, "") == 201;
}

static bool add_member(const struct set_fact *set, struct pod_fact p)
{
    snprintf(p.set, sizeof(p.set), "%s", set->name);
    p.tree = set->tree;
    p.plain = false;
    return users_create(&p);
}

static bool begin_group(struct set_fact *set, struct set_fact wanted)
{
    if (set == NULL)
        return false;
    *set = wanted;
    snprintf(set->name, sizeof(set->name), "g%u", users_number());
    set->there = post_group(set);
    return set->there;
}

/* Somebody thinks better of one, as soon as it was made. */
static void member_leaves(void *context, uint64_t number)
{
    const struct set_fact *set = context;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[(number + i) % PODS_MAX];
        if (p->there && p->node[0] == 0 && strcmp(p->set, set->name) == 0) {
            (void)users_delete_pod(p->name, 0);
            return;
        }
    }
}

static bool create_any(const struct action *x, bool tree)
{
    struct set_fact *set = free_set();
    bool too_large = x->b / 3 % 3 == 0; /* one of those who are needed fits nowhere */
    bool basic = tree && x->b / 9 % 3 == 0;
    struct pod_fact like = users_pod_like(x->c, 1);
    if (x->b / 27 % 3 == 0) /* may make room for itself */
        like.priority = 100;
    const struct set_fact wanted = {
        .least = basic ? 1 : 2 + x->a % 4, .priority = like.priority, .tree = tree, .basic = basic};
    if (!begin_group(set, wanted))
        return false;
    set->hopeless = too_large;
    int64_t count = set->least + (too_large ? 0 : x->b % 3);
    for (int64_t i = 0; i < count; i++) {
        struct pod_fact p = like;
        if (too_large && i == set->least - 1)
            p.cpu = TOO_LARGE;
        add_member(set, p);
    }
    if (x->b / 81 % 4 == 0)
        clock_call(clock_now() + x->c % 1500 * MS, member_leaves, set, x->a % PODS_MAX);
    return true;
}

static bool create_group(const struct action *x)
{
    return world_traits()->gangs && create_any(x, false);
}

static bool create_tree_group(const struct action *x)
{
    return world_traits()->tree && create_any(x, true);
}

/* Some ask for a group as soon as there can be one. */
static bool serve_groups(const struct action *x)
{
    if (!world_traits()->gangs)
        return false;
    serve();
    if (x->a % 2 == 0)
        create_group(x);
    return true;
}

/* The API server is started anew with the API, or without it; the objects stay. */
static bool switch_tree(bool on)
{
    if (model_serves_tree(world_model()) == on)
        return false;
    model_serve_tree(world_model(), on);
    trace(1, "users: PodGroups in the tree are %s", on ? "served" : "not served any more");
    progress_disturbed();
    for (int g = 0; g < GROUPS; g++)
        calls_break_watches(g, true);
    return true;
}

static bool serve_tree(const struct action *x)
{
    if (!world_traits()->tree || !switch_tree(true))
        return false;
    if (x->a % 2 == 0)
        create_tree_group(x);
    return true;
}

/* Its pods go by themselves then, as pods do that name a group of no API. */
static bool withdraw_tree(const struct action *x)
{
    (void)x;
    if (!world_traits()->tree || !switch_tree(false))
        return false;
    for (uint32_t i = 0; i < SETS_MAX; i++) {
        facts_sets[i].touched |= facts_sets[i].tree;
        facts_sets[i].loose |= facts_sets[i].tree;
    }
    return true;
}

static struct set_fact *any_set(uint32_t n)
{
    for (uint32_t i = 0; i < SETS_MAX; i++) {
        struct set_fact *set = &facts_sets[(n + i) % SETS_MAX];
        if (set->there)
            return set;
    }
    return NULL;
}

static bool delete_object(struct set_fact *set)
{
    set->there = false;
    if (set->tree)
        return ask_tree("DELETE", NULL, set->name) / 100 == 2;
    return ask("DELETE", NULL, GROUP_API "/%s", set->name) / 100 == 2;
}

static bool delete_group(const struct action *x)
{
    struct set_fact *set = any_set(x->a);
    if (set == NULL || (set->tree && !model_serves_tree(world_model())))
        return false;
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && strcmp(facts_pods[i].set, set->name) == 0)
            users_delete_pod(facts_pods[i].name, 0);
    return delete_object(set);
}

/* A late member, or the one that was still missing; some fit nowhere. */
static bool grow_group(const struct action *x)
{
    struct set_fact *set = any_set(x->a);
    struct pod_fact p = users_pod_like(x->b, 1);
    if (x->c % 4 == 0)
        p.cpu = TOO_LARGE;
    if (set != NULL && set->tree)
        p.priority = set->priority; /* since 1.37 another one stops the whole group */
    return set != NULL && facts_pod_count() < users_live_max() && add_member(set, p);
}

static bool shrink(const struct action *x, bool nominated)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[(x->a + i) % PODS_MAX];
        if (p->there && p->set[0] != 0 && !p->deleting && (!nominated || p->nominated[0] != 0))
            return users_delete_pod(p->name, x->b % 2 ? 0 : x->b % 31);
    }
    return false;
}

/* ---- one group, step by step ---- */

static struct set_fact *small;
static struct pod_fact small_pod; /* what its pods are like */

bool users_group_of(const struct action *x, const struct pod_fact *like, uint32_t pods,
                    uint32_t least)
{
    const struct traits *t = world_traits();
    bool tree = t->tree && model_serves_tree(world_model()) && (!t->gangs || x->a % 2 == 0);
    const struct set_fact wanted = {.least = least, .priority = like->priority, .tree = tree};
    if (!tree && !t->gangs)
        return false;
    small = free_set();
    small_pod = *like;
    if (!begin_group(small, wanted))
        return false;
    for (uint32_t i = 0; i < pods; i++)
        (void)users_add_member();
    return true;
}

bool users_small_group(const struct action *x, uint32_t pods)
{
    const struct pod_fact like = users_pod_like(0, 1);
    return users_group_of(x, &like, pods, pods);
}

static const struct pod_fact *who_has_room_made(void)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (p->there && p->nominated[0] != 0 && p->node[0] == 0 && strcmp(p->set, small->name) == 0)
            return p;
    }
    return NULL;
}

bool users_group_has_room_made(void)
{
    return who_has_room_made() != NULL;
}

void users_add_small_members(uint32_t count)
{
    const struct pod_fact plain = users_pod_like(0, 1);
    small_pod.cpu = plain.cpu;
    small_pod.host[0] = 0;
    for (uint32_t i = 0; i < count; i++)
        (void)users_add_member();
}

void users_leave_one_member(void)
{
    const struct pod_fact *kept = who_has_room_made();
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && &facts_pods[i] != kept &&
            strcmp(facts_pods[i].set, small->name) == 0)
            (void)users_delete_pod(facts_pods[i].name, 0);
}

bool users_lose_members(uint32_t count)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < PODS_MAX && gone < count; i++)
        if (facts_pods[i].there && strcmp(facts_pods[i].set, small->name) == 0)
            gone += users_delete_pod(facts_pods[i].name, 0);
    return gone == count;
}

bool users_add_member(void)
{
    struct pod_fact p = users_pod_like(0, 1);
    p.priority = small_pod.priority;
    p.cpu = small_pod.cpu;
    snprintf(p.host, sizeof(p.host), "%s", small_pod.host);
    return facts_pod_count() < users_live_max() && add_member(small, p);
}

void users_end_small_group(void)
{
    (void)users_lose_members(PODS_MAX);
    (void)delete_object(small);
}

/* Of groups that room is being made for, if there are any, more often. */
static bool shrink_group(const struct action *x)
{
    return (x->c % 2 == 0 && shrink(x, true)) || shrink(x, false);
}

/* ---- all of them ---- */

void users_open_groups(const struct traits *t)
{
    if (t->gangs && !t->gangs_later)
        serve();
    if (t->tree && !t->tree_later)
        model_serve_tree(world_model(), true);
}

void users_end_groups(void)
{
    for (uint32_t i = 0; i < SETS_MAX; i++)
        if (facts_sets[i].there)
            (void)delete_object(&facts_sets[i]);
}

/* What an examined group is. */
struct example {
    const char *name;
    bool tree, basic, hopeless;
    int pods;
};

/* As small as pods are, and more important than most. */
static void examine(const struct example *e)
{
    struct set_fact *set = free_set();
    const struct set_fact wanted = {.least = e->basic ? 1 : 2,
                                    .priority = 1000,
                                    .tree = e->tree,
                                    .basic = e->basic,
                                    .examined = true,
                                    .hopeless = e->hopeless};
    if (!begin_group(set, wanted))
        return;
    for (int i = 0; i < e->pods; i++) {
        struct pod_fact p = users_pod_like(0, 1);
        p.priority = set->priority;
        p.cpu = e->hopeless && (i == 1 || e->basic) ? TOO_LARGE : 100;
        add_member(set, p);
    }
    cover("examined", e->name);
}

/* Somewhere is room for all of them, even if they come to the same node. */
static bool has_room(void)
{
    const struct pod_fact all = {.plain = true, .cpu = 1000, .memory = 1000};
    int64_t cpu, memory, pods;
    for (uint32_t i = 0; i < NODES_MAX; i++) {
        const struct node_fact *n = &facts_nodes[i];
        if (!n->there || !facts_fits(&all, n))
            continue;
        facts_used(n->name, &cpu, &memory, &pods);
        if (pods + 10 <= n->pods)
            return true;
    }
    return false;
}

bool users_examine_groups(void)
{
    static const struct example examples[] = {{"gang in the tree", true, false, false, 2},
                                              {"basic in the tree", true, true, false, 2},
                                              {"gang in the tree, too large", true, false, true, 2},
                                              {"basic in the tree, too large", true, true, true, 1},
                                              {"gang in the tree, too few", true, false, false, 1},
                                              {"gang", false, false, false, 2},
                                              {"gang, too large", false, false, true, 2}};
    const struct traits *t = world_traits();
    bool tree = t->tree && model_serves_tree(world_model()), any = false;
    if (!has_room())
        return false;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        if (examples[i].tree ? tree : t->gangs) {
            examine(&examples[i]);
            any = true;
        }
    return any;
}

void users_dismiss_groups(void)
{
    for (uint32_t s = 0; s < SETS_MAX; s++) {
        struct set_fact *set = &facts_sets[s];
        for (uint32_t i = 0; set->there && set->examined && i < PODS_MAX; i++)
            if (facts_pods[i].there && strcmp(facts_pods[i].set, set->name) == 0)
                users_delete_pod(facts_pods[i].name, 0);
        if (set->there && set->examined)
            (void)delete_object(set);
    }
}

bool users_do_groups(const struct action *x)
{
    switch (x->kind) {
    case DO_create_group: return create_group(x);
    case DO_delete_group: return delete_group(x);
    case DO_serve_groups: return serve_groups(x);
    case DO_grow_group: return grow_group(x);
    case DO_shrink_group: return shrink_group(x);
    case DO_create_tree_group: return create_tree_group(x);
    case DO_serve_tree: return serve_tree(x);
    case DO_withdraw_tree: return withdraw_tree(x);
    default: return false;
    }
}
