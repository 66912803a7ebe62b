/* NodeResourcesFit: what is short, whether that can be cured, what is ignored, and the strategies.
 */
#include "tests/unit/scheduler/cluster.h"

#define FIT "NodeResourcesFit"

static void everything_that_is_short_is_told(void **state)
{
    struct cluster *c = *state;
    begin(c);
    struct node *n = make_node(c, "n1", 1000, GIB);
    n->allocatable.at[2].amount = 1;
    QUANTITY(&c->arena, n->allocatable, "example.com/gpu", 2);
    put_node(c, n);
    struct pod *sits = make_pod(c, "sits", 600, 600 * MIB);
    ask_more(c, sits, "example.com/gpu", 1);
    put_pod(c, sits, "n1");
    struct pod *p = make_pod(c, "p", 500, 500 * MIB);
    ask_more(c, p, "example.com/gpu", 2);
    assert_string_equal(ruling_on(c, p, "n1"), FIT
                        " U: Too many pods, Insufficient cpu, Insufficient memory, Insufficient "
                        "example.com/gpu");
    p = make_pod(c, "p", 1001, 0);
    assert_string_equal(ruling_on(c, p, "n1"), FIT " UAU: Too many pods, Insufficient cpu");
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "n1"), FIT " U: Too many pods");
}

static void what_exactly_fits_passes(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    put_pod(c, make_pod(c, "sits", 400, GIB / 2), "n1");
    assert_string_equal(ruling_on(c, make_pod(c, "p", 600, GIB / 2), "n1"), "");
    assert_string_equal(ruling_on(c, make_pod(c, "p", 601, GIB / 2), "n1"),
                        FIT " U: Insufficient cpu");
}

/* It counts there already: what it asks for beyond that has to fit, and what is too much already is
 * told. */
static void a_pod_on_its_node_asks_for_the_rest(void **state)
{
    struct cluster *c = *state;
    begin(c);
    struct node *n = make_node(c, "n1", 1000, GIB);
    QUANTITY(&c->arena, n->allocatable, "example.com/gpu", 2);
    put_node(c, n);
    put_node(c, make_node(c, "n2", 1000, GIB));
    struct pod *sits = make_pod(c, "sits", 300, 0);
    ask_more(c, sits, "example.com/gpu", 1);
    put_pod(c, sits, "n1");
    struct pod *p = on_node(make_pod(c, "p", 600, 0), "n1");
    ask_more(c, p, "example.com/gpu", 1);
    p->resize_deferred = true;
    put_pod(c, p, "n1");
    assert_string_equal(ruling_on(c, p, "n1"), "");
    p->request.at[0].amount = 700;
    assert_string_equal(ruling_on(c, p, "n1"), "");
    p->request.at[0].amount = 701;
    assert_string_equal(ruling_on(c, p, "n1"), FIT " U: Insufficient cpu");
    p->request.at[0].amount = 1001;
    p->request.at[p->request.count - 1].amount = 2;
    assert_string_equal(ruling_on(c, p, "n1"),
                        FIT " UAU: Insufficient cpu, Insufficient example.com/gpu");
    /* As much is counted as there is, and more: what it has of one is not asked for again. */
    struct pod *late = make_pod(c, "late", 500, 0);
    ask_more(c, late, "example.com/gpu", 5);
    put_pod(c, late, "n1");
    p->request.at[0].amount = 1;
    p->request.at[p->request.count - 1].amount = 1;
    assert_string_equal(ruling_on(c, p, "n1"), FIT " U: Insufficient cpu");
    p->request.at[0].amount = 0;
    assert_string_equal(ruling_on(c, p, "n1"), "");
    /* It is another's node to others, and this one's to whom nobody has put there. */
    struct pod *q = on_node(make_pod(c, "q", 1, 0), "n1");
    q->resize_deferred = true;
    assert_string_equal(ruling_on(c, q, "n1"), FIT " U: Insufficient cpu");
}

static void a_scalar_that_no_node_has_cannot_be_cured(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    struct pod *p = make_pod(c, "p", 0, 0);
    ask_more(c, p, "example.com/gpu", 1);
    assert_string_equal(ruling_on(c, p, "n1"), FIT " UAU: Insufficient example.com/gpu");
    p = make_pod(c, "p", 0, 0);
    ask_more(c, p, "hugepages-2Mi", 1);
    assert_string_equal(ruling_on(c, p, "n1"), FIT " UAU: Insufficient hugepages-2Mi");
    p = make_pod(c, "p", 0, 0);
    ask_more(c, p, "storage", 1); /* no resource that a node counts */
    assert_string_equal(ruling_on(c, p, "n1"), "");
}

static void ignored_resources_and_groups_are_not_looked_at(void **state)
{
    struct cluster *c = *state;
    c->profile.fit_ignored_resources = strs_of(&c->arena, "example.com/gpu hugepages-2Mi");
    c->profile.fit_ignored_groups = strs_of(&c->arena, "vendor.io");
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    struct pod *p = make_pod(c, "p", 0, 0);
    ask_more(c, p, "example.com/gpu", 1);
    ask_more(c, p, "vendor.io/card", 1);
    assert_string_equal(ruling_on(c, p, "n1"), "");
    ask_more(c, p, "hugepages-2Mi", 1); /* not extended: cannot be ignored */
    assert_string_equal(ruling_on(c, p, "n1"), FIT " UAU: Insufficient hugepages-2Mi");
}

static void least_allocated_counts_defaults_for_silent_containers(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, 1000 * MIB));
    put_pod(c, make_pod(c, "sits", 0, 0), "n1");
    /* cpu 100 + 100 of 1000: 80; memory 200 + 200 of 1000: 60 */
    assert_int_equal(raw_on(c, make_pod(c, "p", 0, 0), "n1", FIT), 70);
    /* cpu 100 + 500: 40; memory 200 + 800: 0 */
    assert_int_equal(raw_on(c, make_pod(c, "p", 500, 800 * MIB), "n1", FIT), 20);
}

static void least_allocated_weighs_and_leaves_out_what_is_not_asked_for(void **state)
{
    struct cluster *c = *state;
    c->profile.fit_resources.count = 0;
    QUANTITY(&c->arena, c->profile.fit_resources, "cpu", 3);
    QUANTITY(&c->arena, c->profile.fit_resources, "example.com/gpu", 1);
    begin(c);
    struct node *n = make_node(c, "n1", 1000, GIB);
    QUANTITY(&c->arena, n->allocatable, "example.com/gpu", 4);
    put_node(c, n);
    struct pod *p = make_pod(c, "p", 300, 0);
    assert_int_equal(raw_on(c, p, "n1", FIT), 70);
    ask_more(c, p, "example.com/gpu", 3);
    assert_int_equal(raw_on(c, p, "n1", FIT), (3 * 70 + 25) / 4);
}

static void most_allocated_is_the_other_way_round(void **state)
{
    struct cluster *c = *state;
    c->profile.fit_strategy = STR_LITERAL("MostAllocated");
    begin(c);
    put_node(c, make_node(c, "n1", 1000, 1000 * MIB));
    assert_int_equal(raw_on(c, make_pod(c, "p", 500, 300 * MIB), "n1", FIT), 40);
}

static void the_ratio_follows_its_shape(void **state)
{
    struct cluster *c = *state;
    static const struct shape_point shape[] = {{10, 10}, {60, 0}, {80, 7}};
    static const struct {
        int64_t cpu, score;
    } table[] = {{50, 100}, {100, 100}, {110, 98}, {350, 50},
                 {590, 2},  {700, 35},  {800, 70}, {900, 70}};
    c->profile.fit_strategy = STR_LITERAL("RequestedToCapacityRatio");
    c->profile.fit_resources.count = 1; /* cpu */
    for (size_t i = 0; i < 3; i++)
        *APPEND(&c->arena, c->profile.fit_shape) = shape[i];
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(raw_on(c, make_pod(c, "p", table[i].cpu, 0), "n1", FIT), table[i].score);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(everything_that_is_short_is_told),
        CLUSTER_TEST(what_exactly_fits_passes),
        CLUSTER_TEST(a_pod_on_its_node_asks_for_the_rest),
        CLUSTER_TEST(a_scalar_that_no_node_has_cannot_be_cured),
        CLUSTER_TEST(ignored_resources_and_groups_are_not_looked_at),
        CLUSTER_TEST(least_allocated_counts_defaults_for_silent_containers),
        CLUSTER_TEST(least_allocated_weighs_and_leaves_out_what_is_not_asked_for),
        CLUSTER_TEST(most_allocated_is_the_other_way_round),
        CLUSTER_TEST(the_ratio_follows_its_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
