/* ImageLocality: an image counts with its size times its spread, between the two thresholds, on the
 * nodes that have it. */
#include "tests/unit/scheduler/cluster.h"

#define IMAGE "ImageLocality"

static void tell_images(struct cluster *c, int64_t nodes, int64_t count, int64_t size)
{
    struct shard_images images = {.nodes = nodes};
    *APPEND(&c->arena, images.counts) = (struct tally){STR_LITERAL("app:v1"), count};
    *APPEND(&c->arena, images.sizes) = (struct tally){STR_LITERAL("app:v1"), size};
    shard_images(c->shard, &images);
}

static struct pod *pod_with_image(struct cluster *c, const char *images, int64_t containers)
{
    struct pod *p = make_pod(c, "p", 0, 0);
    p->images = strs_of(&c->arena, images);
    p->container_count = containers;
    return p;
}

static void begin_with_images(struct cluster *c)
{
    begin(c);
    struct node *n = make_node(c, "n1", 1000, GIB);
    add_image(c, n, "app:v1 registry/app:v1 app:v1", 1);
    put_node(c, n);
    put_node(c, make_node(c, "n2", 1000, GIB));
}

static void an_image_counts_where_it_is(void **state)
{
    struct cluster *c = *state;
    begin_with_images(c);
    tell_images(c, 2, 1, 1000 * MIB);
    struct pod *p = pod_with_image(c, "app:v1", 1);
    assert_int_equal(raw_on(c, p, "n1", IMAGE), 100 * (500 - 23) / (1000 - 23));
    assert_int_equal(raw_on(c, p, "n2", IMAGE), 0);
    tell_images(c, 2, 2, 1000 * MIB); /* everywhere now: it counts in full */
    assert_int_equal(raw_on(c, p, "n1", IMAGE), 100);
}

static void small_images_do_not_count_and_big_ones_are_capped(void **state)
{
    struct cluster *c = *state;
    begin_with_images(c);
    tell_images(c, 1, 1, 23 * MIB);
    assert_int_equal(raw_on(c, pod_with_image(c, "app:v1", 1), "n1", IMAGE), 0);
    tell_images(c, 1, 1, 9000 * MIB);
    assert_int_equal(raw_on(c, pod_with_image(c, "app:v1", 1), "n1", IMAGE), 100);
    assert_int_equal(raw_on(c, pod_with_image(c, "app:v1 app:v1", 18), "n1", IMAGE), 100);
    assert_int_equal(raw_on(c, pod_with_image(c, "app:v1 app:v1", 20), "n1", IMAGE),
                     100 * (18000 - 23) / (20000 - 23));
}

static void an_image_that_went_from_the_node_does_not_count(void **state)
{
    struct cluster *c = *state;
    begin_with_images(c);
    tell_images(c, 2, 2, 900 * MIB);
    put_node(c, make_node(c, "n1", 1000, GIB));
    assert_int_equal(raw_on(c, pod_with_image(c, "app:v1", 1), "n1", IMAGE), 0);
}

/* Of one container and two volumes that are images, one is there: in 1.37 the others count as well
 * for where the score reaches its maximum. */
static void volumes_that_are_images_leave_the_maximum_in_1_36(void **state)
{
    struct cluster *c = *state;
    begin_with_images(c);
    tell_images(c, 1, 1, 1000 * MIB);
    struct pod *p = pod_with_image(c, "other:v1 app:v1 more:v1", 1);
    assert_int_equal(raw_on(c, p, "n1", IMAGE), 100);
}

static void volumes_that_are_images_raise_the_maximum_in_1_37(void **state)
{
    struct cluster *c = *state;
    c->profile.features.release = 37;
    begin_with_images(c);
    tell_images(c, 1, 1, 1000 * MIB);
    struct pod *p = pod_with_image(c, "other:v1 app:v1 more:v1", 1);
    assert_int_equal(raw_on(c, p, "n1", IMAGE), 100 * (1000 - 23) / (3000 - 23));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(an_image_counts_where_it_is),
        CLUSTER_TEST(small_images_do_not_count_and_big_ones_are_capped),
        CLUSTER_TEST(volumes_that_are_images_leave_the_maximum_in_1_36),
        CLUSTER_TEST(volumes_that_are_images_raise_the_maximum_in_1_37),
        CLUSTER_TEST(an_image_that_went_from_the_node_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
