/* test_gang_reach: random clusters in which a group of scheduling.k8s.io evicts, as
 * Kubernetes 1.37, and pods ask to be near each other, apart or spread. When its victims have gone
 * every member must get the very node that it was nominated to: so nobody stayed who mattered to
 * one, whether a trial or merge/gang_reach.c said so. */
#include "proto/base/log.h"
#include "tests/unit/scheduler/coordinator/batch_world.h"

#define IN_TREE "scheduling.k8s.io"
#define NODES   5
#define MEMBERS 3
#define WORLDS  3000

static struct side *s;
static struct random dice;

static uint32_t roll(uint32_t sides)
{
    return (uint32_t)random_below(&dice, sides);
}

static const char *app(void)
{
    static const char *const apps[] = {"g", "foe", "x"};
    return apps[roll(3)];
}

static const char *key(void)
{
    return roll(2) == 0 ? "host" : "zone";
}

/* What a pod asks of others: nothing, a term, or hard spreading. */
static void wish(char *out, size_t room, uint32_t of)
{
    static const char *const kinds[] = {"anti_affinity_required", "affinity_required"};
    uint32_t kind = roll(of);
    *out = '\0';
    if (kind < 2)
        snprintf(out, room,
                 "%s=[{selector={present=true labels=[{key=\"app\" value=\"%s\"}]} "
                 "namespaces=[\"default\"] topology_key=\"%s\"}]",
                 kinds[kind], app(), key());
    else if (kind == 2)
        snprintf(out, room,
                 "spread=[{max_skew=%u topology_key=\"%s\" when_unsatisfiable=\"DoNotSchedule\" "
                 "selector={present=true labels=[{key=\"app\" value=\"%s\"}]}}]",
                 1 + roll(2), key(), app());
}

static void see_pod(const char *name, uint32_t node, uint32_t cpu, uint32_t priority)
{
    static int version = 10;
    char asks[300];
    wish(asks, sizeof(asks), 12);
    sees(s,
         "pod_set pod={uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" node_name=\"n%u\" "
         "priority=%u resource_version=%d labels=[{key=\"app\" value=\"%s\"}] "
         "usage=[{name=\"cpu\" amount=%u}] %s}",
         name, name, node, priority, version++, app(), cpu, asks);
}

/* Of three pods a node, so that also who fits by its CPU may be in the way. */
static void make_world(void)
{
    char name[32];
    batch_in_tree = true;
    batch_release = 37;
    s = side_new(0, TIE_BREAK_first);
    for (int i = 0; i < NODES; i++)
        sees(s,
             "node_set node={name=\"n%d\" labels=[{key=\"host\" value=\"n%d\"} {key=\"zone\" "
             "value=\"z%d\"}] allocatable=[{name=\"cpu\" amount=4000} {name=\"pods\" "
             "amount=3}]}",
             i, i, i % 2);
    side_begins(s);
    for (uint32_t node = 0; node < NODES; node++)
        for (uint32_t i = 0, count = roll(4); i < count; i++) {
            snprintf(name, sizeof(name), "v%u%u", node, i);
            see_pod(name, node, 100 + 100 * roll(12), roll(8) == 0 ? 20 : roll(3));
        }
}

struct group_of_pods {
    uint32_t count, cpu;
    const char *app;
    char asks[300], nodes[MEMBERS][16];
};

static void attempt(const struct group_of_pods *g)
{
    static char text[8192];
    int len = snprintf(text, sizeof(text),
                       "gang_attempt group={api=\"" IN_TREE "\" namespace_name=\"default\" "
                       "name=\"g\" uid=\"u-g\" min_member=%u has_priority=true priority=9} "
                       "needed=%u members=[",
                       g->count, g->count);
    for (uint32_t i = 0; i < g->count; i++)
        len += snprintf(
            text + len, sizeof(text) - (size_t)len,
            "{pod={uid=\"u-g%u\" namespace_name=\"default\" name=\"g%u\" priority=9 gang=\"g\" "
            "gang_api=\"" IN_TREE "\" scheduler_name=\"default-scheduler\" nominated_node=\"%s\" "
            "request=[{name=\"cpu\" amount=%u}] usage=[{name=\"cpu\" amount=%u}] "
            "labels=[{key=\"app\" value=\"%s\"}] %s} attempts=1 cycle=%u} ",
            i, i, g->nodes[i], g->cpu, g->cpu, g->app, g->asks, i + 1);
    snprintf(text + len, sizeof(text) - (size_t)len, "]");
    struct message m = side_message(s, text);
    hears(s, queue, &m, false);
    settle(s);
}

/* Of the message of this type that names the member: what stands behind the word. */
static void find_said(enum message_type type, uint32_t member, const char *word, char *out)
{
    char name[32];
    const char *text, *at = NULL;
    snprintf(name, sizeof(name), "name=\"g%u\"", member);
    for (int i = 0; at == NULL && (text = said(s, type, i)) != NULL; i++)
        at = strstr(text, name) != NULL ? strstr(text, word) : NULL;
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(word), "\"%15[^\"]\"", out), 1);
}

static void let_victims_go(const char *evicted)
{
    char name[32];
    for (uint32_t node = 0; node < NODES; node++)
        for (uint32_t i = 0; i < 4; i++) {
            snprintf(name, sizeof(name), "\"v%u%u\"", node, i);
            if (strstr(evicted, name) != NULL)
                sees(s, "pod_gone uid=\"u-v%u%u\"", node, i);
        }
}

/* True when it evicted. */
static bool evicts_and_gets_its_nodes(void)
{
    struct group_of_pods g = {.count = 1 + roll(MEMBERS), .cpu = 2000 + 100 * roll(20)};
    g.app = app();
    wish(g.asks, sizeof(g.asks), 4);
    attempt(&g);
    const char *evicted = said(s, MSG_preempt, 0);
    if (evicted == NULL)
        return false;
    for (uint32_t i = 0; i < g.count; i++)
        find_said(MSG_pod_failed, i, "nominated_node=", g.nodes[i]);
    let_victims_go(evicted);
    forget_told(s);
    attempt(&g);
    for (uint32_t i = 0; i < g.count; i++) {
        char node[16];
        find_said(MSG_bind, i, " node_name=", node);
        assert_string_equal(node, g.nodes[i]);
    }
    return true;
}

static void after_its_victims_a_group_gets_the_nodes_it_was_promised(void **state)
{
    (void)state;
    int evicting = 0;
    for (int world = 0; world < WORLDS; world++) {
        dice.state = (uint64_t)world + 1;
        make_world();
        evicting += evicts_and_gets_its_nodes();
        side_free(&s);
    }
    assert_true(evicting > WORLDS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_its_victims_a_group_gets_the_nodes_it_was_promised),
    };
    log_set_level(LOG_LEVEL_error);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
