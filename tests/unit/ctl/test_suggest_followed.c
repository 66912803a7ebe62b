/* test_suggest_followed: in clusters made at random, whatever is suggested is done as it is
 * written, and then the filter takes the pod. A seed that fails is named. */
#include "ctl/explain/suggest.h"

#include "proto/base/memory.h"
#include "proto/base/random.h"
#include "proto/kube/config/config_file.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES  5
#define PODS   14
#define SPARE  60 /* pods that are added */
#define SEEDS  1500
#define ROUNDS 6

struct cluster {
    struct world *w;
    struct scheduler_config config;
    struct arena a;
    struct random random;
    const char *filter;
    unsigned seed;
    struct node nodes[NODES]; /* the first is the one that is asked about */
    struct pod pods[PODS + SPARE], pod;
    uint32_t count;
    bool gone[PODS + SPARE];
};

static uint32_t below(struct cluster *c, uint32_t limit)
{
    return (uint32_t)random_below(&c->random, limit);
}

static bool perhaps(struct cluster *c, uint32_t percent)
{
    return below(c, 100) < percent;
}

static struct str text(struct cluster *c, const char *prefix, uint32_t number)
{
    return arena_print(&c->a, "%s%u", prefix, number);
}

static struct label *one_label(struct cluster *c, const char *key, struct str value)
{
    struct label *l = arena_take(&c->a, sizeof(*l));
    *l = (struct label){str_of(key), value};
    return l;
}

static struct selector app(struct cluster *c, uint32_t number)
{
    struct selector s = {.present = true};
    s.labels.count = 1;
    s.labels.at = one_label(c, "app", text(c, "", number));
    return s;
}

static struct quantity *amounts(struct cluster *c, int64_t cpu, int64_t memory, int64_t pods)
{
    struct quantity *q = arena_take(&c->a, 3 * sizeof(*q));
    q[0] = (struct quantity){STR_LITERAL("cpu"), cpu};
    q[1] = (struct quantity){STR_LITERAL("memory"), memory};
    q[2] = (struct quantity){STR_LITERAL("pods"), pods};
    return q;
}

static void set_label(struct cluster *c, struct node *n, struct str key, struct str value)
{
    struct label *at = arena_take(&c->a, (n->labels.count + 1) * sizeof(*at));
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->labels.count; i++)
        if (str_compare(n->labels.at[i].key, key) < 0)
            at[count++] = n->labels.at[i];
    at[count++] = (struct label){arena_copy(&c->a, key), arena_copy(&c->a, value)};
    for (uint32_t i = 0; i < n->labels.count; i++)
        if (str_compare(n->labels.at[i].key, key) > 0)
            at[count++] = n->labels.at[i];
    n->labels.count = count;
    n->labels.at = at;
}

static void make_nodes(struct cluster *c)
{
    for (uint32_t i = 0; i < NODES; i++) {
        struct node *n = &c->nodes[i];
        n->name = text(c, "n", i);
        if (perhaps(c, 80))
            set_label(c, n, STR_LITERAL("zone"), text(c, "", below(c, 3)));
        if (perhaps(c, 80))
            set_label(c, n, STR_LITERAL("host"), text(c, "", i));
        n->allocatable.count = 3;
        n->allocatable.at = amounts(c, 700 * (int64_t)below(c, 6), below(c, 9) << 28, below(c, 6));
        if (perhaps(c, 30)) {
            n->taints.count = 1;
            n->taints.at = arena_take(&c->a, sizeof(struct taint));
            n->taints.at[0] = (struct taint){STR_LITERAL("t"), {0}, STR_LITERAL("NoSchedule")};
        }
        world_node_set(c->w, n);
    }
}

static struct affinity_term *a_term(struct cluster *c)
{
    struct affinity_term *t = arena_take(&c->a, sizeof(*t));
    t->selector = app(c, below(c, 3));
    t->topology_key = perhaps(c, 60) ? STR_LITERAL("zone") : STR_LITERAL("host");
    t->namespaces.count = 1;
    t->namespaces.at = arena_take(&c->a, sizeof(struct str));
    t->namespaces.at[0] = STR_LITERAL("s");
    return t;
}

static struct pod *add_pod(struct cluster *c, uint32_t label, struct str node)
{
    assert_true(c->count < PODS + SPARE);
    struct pod *p = &c->pods[c->count];
    p->name = p->uid = text(c, "p", c->count++);
    p->namespace_name = STR_LITERAL("s");
    p->scheduler_name = STR_LITERAL("default-scheduler");
    p->node_name = node;
    p->labels.count = 1;
    p->labels.at = one_label(c, "app", text(c, "", label));
    return p;
}

/* Of two that have the very same the first that goes frees it, as upstream has it: not here. */
static void make_port(struct cluster *c, struct pod *p)
{
    struct host_port *port = arena_take(&c->a, sizeof(*port));
    port->ip = perhaps(c, 50) ? STR_LITERAL("0.0.0.0") : STR_LITERAL("10.0.0.1");
    port->protocol = STR_LITERAL("TCP");
    port->port = 80 + below(c, 2);
    for (uint32_t i = 0; i + 1 < c->count; i++) {
        const struct pod *o = &c->pods[i];
        if (o->ports.count > 0 && str_equal(o->node_name, p->node_name) &&
            str_equal(o->ports.at[0].ip, port->ip) && o->ports.at[0].port == port->port)
            return;
    }
    p->ports.count = 1;
    p->ports.at = port;
}

static void make_pods(struct cluster *c)
{
    while (c->count < PODS) {
        struct pod *p = add_pod(c, below(c, 3), c->nodes[below(c, NODES)].name);
        p->usage.count = 2;
        p->usage.at = amounts(c, 100 * (int64_t)below(c, 9) + 1, below(c, 9) << 26, 0);
        p->deleting = perhaps(c, 15);
        if (perhaps(c, 15)) {
            p->anti_affinity_required.count = 1;
            p->anti_affinity_required.at = a_term(c);
        }
        if (perhaps(c, 30))
            make_port(c, p);
        world_pod_set(c->w, p);
    }
}

static void make_spread(struct cluster *c, struct pod *p)
{
    uint32_t first = below(c, 2);
    p->spread.count = 1 + perhaps(c, 30);
    p->spread.at = arena_take(&c->a, 2 * sizeof(struct spread_constraint));
    for (uint32_t i = 0; i < p->spread.count; i++)
        p->spread.at[i] = (struct spread_constraint){
            .max_skew = 1 + below(c, 2),
            .topology_key = (first + i) % 2 == 0 ? STR_LITERAL("zone") : STR_LITERAL("host"),
            .when_unsatisfiable = STR_LITERAL("DoNotSchedule"),
            .selector = app(c, below(c, 3)),
            .min_domains = below(c, 5),
            .node_taints_policy = perhaps(c, 30) ? STR_LITERAL("Honor") : STR_LITERAL("Ignore")};
    p->has_spread = true;
}

/* The pod that is asked about. */
static void make_pod(struct cluster *c)
{
    struct pod *p = &c->pod;
    *p = *add_pod(c, below(c, 3), (struct str){0});
    c->gone[--c->count] = false;
    p->name = p->uid = STR_LITERAL("asked");
    p->request.count = 2;
    p->request.at = amounts(c, 250 * (int64_t)below(c, 9), below(c, 9) << 26, 0);
    if (perhaps(c, 20) && str_is(str_of(c->filter), "NodeResourcesFit")) { /* a resize */
        p->node_name = c->nodes[0].name;
        p->resize_deferred = true;
        p->usage.count = 2;
        p->usage.at = amounts(c, 100 * (int64_t)below(c, 9), below(c, 9) << 26, 0);
    }
    make_spread(c, p);
    if (perhaps(c, 60)) {
        p->affinity_required.count = 1;
        p->affinity_required.at = a_term(c);
    } else {
        p->anti_affinity_required.count = 1;
        p->anti_affinity_required.at = a_term(c);
    }
    p->ports.count = 1;
    p->ports.at = arena_take(&c->a, sizeof(struct host_port));
    p->ports.at[0] = (struct host_port){STR_LITERAL("10.0.0.1"), STR_LITERAL("TCP"), 80};
    world_pod_set(c->w, p);
}

/* What is suggested for the first node, if the filter turns it away. */
static struct str ask(struct cluster *c, bool *taken)
{
    uint32_t count;
    *taken = true;
    world_decide(c->w, &c->pod);
    const struct verdict *v = world_verdicts(c->w, &count);
    assert_true(count > 0 && str_is(v[0].node, "n0"));
    for (uint32_t i = 0; i < v[0].others.count; i++)
        if (str_is(v[0].others.at[i].plugin, c->filter)) {
            *taken = false;
            return suggest(c->w, &c->pod, &c->nodes[0], &v[0].others.at[i], &c->a);
        }
    return (struct str){0};
}

/* With less than is suggested the pod is not taken; where there are several constraints, what one
 * needs may be done for another already. */
static void assert_not_yet(struct cluster *c)
{
    bool taken, several = str_is(str_of(c->filter), "PodTopologySpread") && c->pod.spread.count > 1;
    struct str line = ask(c, &taken);
    if (taken && !several)
        fail_msg("%s, seed %u: less would have done%.*s", c->filter, c->seed, STR_ARG(line));
}

/* ---- doing as it is written ---- */

static void drop(struct cluster *c, uint32_t i)
{
    assert_not_yet(c);
    c->gone[i] = true;
    assert_true(world_pod_gone(c->w, c->pods[i].namespace_name, c->pods[i].name));
}

static bool has(const struct node *n, struct str key, struct str *value)
{
    for (uint32_t i = 0; i < n->labels.count; i++)
        if (str_equal(n->labels.at[i].key, key)) {
            *value = n->labels.at[i].value;
            return true;
        }
    return false;
}

/* Whether the pod's constraint on that key counts the pod on its node. */
static bool counts(const struct cluster *c, uint32_t pod, const char *label, struct str key)
{
    const struct pod *p = &c->pods[pod];
    const struct node *n = &c->nodes[strtol(p->node_name.at + 1, NULL, 10)];
    struct str value;
    if (c->gone[pod] || p->deleting || !str_is(p->labels.at[0].value, label))
        return false;
    for (uint32_t i = 0; i < c->pod.spread.count; i++) {
        const struct spread_constraint *s = &c->pod.spread.at[i];
        if (!has(n, s->topology_key, &value))
            return false;
        if (str_equal(s->topology_key, key) && str_is(s->node_taints_policy, "Honor") &&
            n->taints.count > 0)
            return false;
    }
    return true;
}

/* Those on the node itself first. */
static void do_fewer(struct cluster *c, long many, const char *label, struct str place)
{
    struct str rest = place, key = {0}, value, there;
    bool on_node = str_is(place, "the node");
    if (!on_node) {
        assert_true(str_split(&rest, "=", &key));
        assert_true(str_split(&rest, "=", &value));
    }
    for (int other = 0; other < 2; other++)
        for (uint32_t i = 0; i < c->count && many > 0; i++) {
            const struct node *n = &c->nodes[strtol(c->pods[i].node_name.at + 1, NULL, 10)];
            bool same = n == &c->nodes[0];
            if (same == (other == 1) || !counts(c, i, label, key) ||
                (!same && (on_node || !has(n, key, &there) || !str_equal(there, value))))
                continue;
            drop(c, i);
            many--;
        }
    if (c->pod.spread.count == 1) /* else those of another constraint may be gone already */
        assert_int_equal(many, 0);
}

static void do_gone(struct cluster *c, const char *names)
{
    for (const char *at = names; (at = strstr(at, "s/p")) != NULL; at++) {
        uint32_t i = (uint32_t)strtol(at + 3, NULL, 10);
        if (!c->gone[i])
            drop(c, i);
    }
}

static void do_label(struct cluster *c, const char *part)
{
    char key[16], value[16] = "fresh";
    assert_int_equal(sscanf(part, "label %15s on", key), 1);
    const char *such = strstr(part, "such as ");
    if (such != NULL)
        assert_int_equal(sscanf(such, "such as %*[^=]=%15s", value), 1);
    set_label(c, &c->nodes[0], str_of(key), str_of(value));
    world_node_set(c->w, &c->nodes[0]);
}

/* So much more, and not one less. */
static void raise_to(struct cluster *c, int64_t *amount, int64_t more)
{
    *amount += more - 1;
    world_node_set(c->w, &c->nodes[0]);
    assert_not_yet(c);
    *amount += 1;
    world_node_set(c->w, &c->nodes[0]);
}

static void do_more(struct cluster *c, const char *part)
{
    static const char units[] = "KMG";
    struct quantity *of = c->nodes[0].allocatable.at;
    char *end;
    double number = strtod(part, &end);
    const char *unit = strchr(units, *end);
    if (strstr(part, "room for ") == part)
        raise_to(c, &of[2].amount, strtol(part + strlen("room for "), NULL, 10));
    else if (strstr(part, "m CPU more") != NULL)
        raise_to(c, &of[0].amount, (int64_t)number);
    else if (strstr(part, " CPU more") != NULL)
        raise_to(c, &of[0].amount, 1000 * (int64_t)number);
    else if (unit != NULL)
        raise_to(c, &of[1].amount,
                 (int64_t)(number * (double)(INT64_C(1) << (10 * (unit - units + 1)))));
    else
        fail_msg("how much is it? %s", part);
}

static void drop_some_on_node(struct cluster *c, long many)
{
    for (uint32_t i = 0; i < c->count && many > 0; i++)
        if (!c->gone[i] && str_is(c->pods[i].node_name, "n0")) {
            drop(c, i);
            many--;
        }
    assert_int_equal(many, 0);
}

static void do_part(struct cluster *c, const char *part)
{
    char label[16], place[32];
    if (sscanf(part, "%*s %*s matching app=%15s fewer %*s %31[^\n]", label, place) == 2)
        do_fewer(c, strtol(part, NULL, 10), label, str_of(place));
    else if (strstr(part, "fewer on the node") != NULL)
        drop_some_on_node(c, strtol(part, NULL, 10));
    else if (strstr(part, "label ") == part)
        do_label(c, part);
    else if (strstr(part, "a pod ") == part)
        world_pod_set(c->w, add_pod(c, (uint32_t)strtol(strstr(part, "app=") + 4, NULL, 10),
                                    c->nodes[0].name));
    else if (strstr(part, "pod ") == part || strstr(part, "pods ") == part ||
             strstr(part, "host port ") == part)
        do_gone(c, part);
    else if (strstr(part, " more") != NULL)
        do_more(c, part);
    else
        fail_msg("what is to be done? %s", part);
}

/* Labels first: the rest is told for a node that has them. Pods that go last: they free resources,
 * too. */
static int rank(const char *part)
{
    if (strstr(part, "label ") == part)
        return 0;
    return strstr(part, " more") != NULL && strstr(part, "pod") != part ? 1 : 2;
}

static void do_all(struct cluster *c, struct str line)
{
    for (int turn = 0; turn < 3; turn++) {
        struct str rest = line, part;
        while (str_split(&rest, "; ", &part))
            if (rank(arena_copy(&c->a, part).at) == turn)
                do_part(c, arena_copy(&c->a, part).at);
    }
}

/* ---- the whole ---- */

/* Once has to do where a line names all there is to do, and what it moves is nothing to the rest of
 * the filter. */
static bool once_will_do(const struct cluster *c, struct str line)
{
    bool others = strstr(line.at, " more gone") != NULL || strstr(line.at, " more have") != NULL;
    bool two = strcmp(c->filter, "PodTopologySpread") == 0 && c->pod.spread.count > 1;
    return !others && !two;
}

static uint32_t follow(const char *filter, uint64_t seed)
{
    struct cluster *c = memory_take(sizeof(*c));
    struct str error;
    bool taken;
    uint32_t rounds = 0;
    c->random.state = seed;
    c->filter = filter;
    c->seed = (unsigned)seed;
    assert_true(scheduler_config_load(NULL, release_features(36), &c->config, &c->a, &error));
    c->w = world_new(c->config.profiles.at, c->config.profiles.count, 2);
    make_nodes(c);
    make_pods(c);
    make_pod(c);
    struct str line = ask(c, &taken);
    while (!taken) {
        bool once = once_will_do(c, line);
        struct str before = line;
        if (line.len == 0 || ++rounds > ROUNDS)
            fail_msg("%s, seed %u: nothing helps", filter, (unsigned)seed);
        do_all(c, line);
        line = ask(c, &taken);
        if (once && !taken)
            fail_msg("%s, seed %u: after %s\nstill %s", filter, (unsigned)seed, before.at, line.at);
    }
    world_free(&c->w);
    arena_free(&c->a);
    memory_free(c);
    return rounds > 0;
}

static void follow_many(const char *filter)
{
    uint32_t turned_away = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        turned_away += follow(filter, seed);
    assert_true(turned_away > SEEDS / 10);
}

static void enough_room_is_enough(void **state)
{
    (void)state;
    follow_many("NodeResourcesFit");
}

static void ports_that_are_free_are_enough(void **state)
{
    (void)state;
    follow_many("NodePorts");
}

static void domains_that_are_even_enough_are_enough(void **state)
{
    (void)state;
    follow_many("PodTopologySpread");
}

static void pods_that_come_and_go_are_enough(void **state)
{
    (void)state;
    follow_many("InterPodAffinity");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_room_is_enough),
        cmocka_unit_test(ports_that_are_free_are_enough),
        cmocka_unit_test(domains_that_are_even_enough_are_enough),
        cmocka_unit_test(pods_that_come_and_go_are_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
