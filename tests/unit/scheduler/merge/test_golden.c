/* test_golden: the scores that kube-scheduler v1.36.3 was measured to give on a small cluster of
 * four nodes with five pods, for the rules that there are here. */
#include "tests/unit/scheduler/cluster.h"

static void nodes_of_the_example(struct cluster *c)
{
    struct node *n1 = make_node(c, "n1", 4000, 8 * GIB), *n2 = make_node(c, "n2", 8000, 16 * GIB);
    struct node *n3 = make_node(c, "n3", 16000, 12 * GIB), *n4 = make_node(c, "n4", 3000, 5 * GIB);
    add_label(c, n1, "disk", "ssd");
    add_taint(c, n1, "x", "PreferNoSchedule");
    add_taint(c, n1, "y", "PreferNoSchedule");
    add_image(c, n1, "repo/app:v1", 700 * MIB);
    add_label(c, n2, "gpu", "yes");
    add_taint(c, n2, "x", "PreferNoSchedule");
    add_label(c, n3, "disk", "ssd");
    add_label(c, n3, "gpu", "yes");
    add_taint(c, n3, "x", "PreferNoSchedule");
    add_taint(c, n3, "y", "PreferNoSchedule");
    add_taint(c, n3, "z", "PreferNoSchedule");
    add_image(c, n3, "repo/app:v1", 650 * MIB);
    put_node(c, n1);
    put_node(c, n2);
    put_node(c, n3);
    put_node(c, n4);
    struct shard_images images = {.nodes = 4};
    *APPEND(&c->arena, images.counts) = (struct tally){STR_LITERAL("repo/app:v1"), 2};
    *APPEND(&c->arena, images.sizes) = (struct tally){STR_LITERAL("repo/app:v1"), 700 * MIB};
    shard_images(c->shard, &images);
    put_pod(c, make_pod(c, "e1", 1300, GIB), "n1");
    put_pod(c, make_pod(c, "e2", 0, 0), "n1");
    put_pod(c, make_pod(c, "e3", 2000, 9 * GIB), "n2");
    put_pod(c, make_pod(c, "e4", 5000, GIB), "n3");
    put_pod(c, make_pod(c, "e5", 700, 3 * GIB), "n4");
}

/* Container c asks for 900m and 1500Mi, d for nothing. */
static struct pod *pod_of_the_example(struct cluster *c)
{
    struct pod *p = make_pod(c, "p", 900, 1500 * MIB);
    p->score_request.count = 0;
    QUANTITY(&c->arena, p->score_request, "cpu", 1000);
    QUANTITY(&c->arena, p->score_request, "memory", 1700 * MIB);
    p->images = strs_of(&c->arena, "repo/app:v1 other:latest");
    p->container_count = 2;
    tolerate(c, p,
             (struct toleration){.key = STR_LITERAL("y"), .operator_name = STR_LITERAL("Exists")});
    prefer(c, p, 7, one_term(c, "disk", "In", "ssd"));
    prefer(c, p, 5, one_term(c, "gpu", "Exists", ""));
    return p;
}

static void scores_are_as_measured(void **state)
{
    struct cluster *c = *state;
    static const char *const nodes[] = {"n1", "n2", "n3", "n4"};
    static const struct {
        const char *plugin;
        int64_t weighted[4];
    } table[] = {
        {"TaintToleration", {150, 150, 0, 300}},
        {"NodeAffinity", {116, 82, 200, 0}},
        {"NodeResourcesFit", {52, 47, 69, 24}},
        {"NodeResourcesBalancedAllocation", {73, 75, 76, 75}},
        {"ImageLocality", {16, 0, 16, 0}},
    };
    begin(c);
    nodes_of_the_example(c);
    const struct pod *p = pod_of_the_example(c);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(weighted_on(c, p, nodes[k], table[i].plugin), table[i].weighted[k]);
    assert_int_equal(verdict_on(map_pod(c, p), "n1")->total, 150 + 116 + 52 + 73 + 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(scores_are_as_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
