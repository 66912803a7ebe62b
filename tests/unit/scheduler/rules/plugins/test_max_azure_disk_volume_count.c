/* MaxAzureDiskVolumeCount: disks count once, others' disks do not, and the node has the first word.
 */
#include "tests/unit/scheduler/one_rule.h"

#define NO   "MaxAzureDiskVolumeCount U: node(s) exceed max volume count"
#define DISK "disk.csi.azure.com"

static struct pod *with_disk(struct cluster *c, const char *handle, const char *driver)
{
    struct pod *p = make_pod(c, handle, 0, 0);
    *APPEND(&c->arena, p->attached) = (struct attached_volume){str_of(driver), str_of(handle)};
    return p;
}

/* A pod that is to be placed names its disk itself. */
static struct pod *wanting(struct cluster *c, const char *handle)
{
    struct pod *p = make_pod(c, "p", 0, 0);
    *APPEND(&c->arena, p->volumes) = (struct pod_volume){.kind = SOURCE_azure_disk,
                                                         .name = str_of(handle),
                                                         .driver = STR_LITERAL(DISK),
                                                         .handle = str_of(handle)};
    return p;
}

static void disks_are_counted_once(void **state)
{
    struct cluster *c = *state;
    tell_catalog(c, WEB_SERVICE); /* there is a catalog */
    c->profile.disks_max = 2;
    only_filter(c, "MaxAzureDiskVolumeCount");
    put_node(c, make_node(c, "n", 1000, GIB));
    assert_string_equal(ruling_on(c, wanting(c, "a"), "n"), "");
    put_pod(c, with_disk(c, "a", DISK), "n");
    put_pod(c, with_disk(c, "a", DISK), "n");
    put_pod(c, with_disk(c, "x", "other.driver"), "n");
    assert_string_equal(ruling_on(c, wanting(c, "b"), "n"), "");
    put_pod(c, with_disk(c, "b", DISK), "n");
    assert_string_equal(ruling_on(c, wanting(c, "b"), "n"), "");
    assert_string_equal(ruling_on(c, wanting(c, "c"), "n"), NO);
    assert_string_equal(ruling_on(c, make_pod(c, "none", 0, 0), "n"), "");
}

static void the_node_says_how_many(void **state)
{
    struct cluster *c = *state;
    tell_catalog(c, WEB_SERVICE);
    only_filter(c, "MaxAzureDiskVolumeCount");
    struct node *n = make_node(c, "n", 1000, GIB);
    QUANTITY(&c->arena, n->allocatable, "attachable-volumes-azure-disk", 1);
    put_node(c, n);
    put_node(c, make_node(c, "usual", 1000, GIB));
    put_pod(c, with_disk(c, "a", DISK), "n");
    assert_string_equal(ruling_on(c, wanting(c, "b"), "n"), NO);
    for (int i = 0; i < 16; i++) {
        char name[16];
        snprintf(name, sizeof(name), "d%d", i);
        assert_string_equal(ruling_on(c, wanting(c, "b"), "usual"), "");
        put_pod(c, with_disk(c, arena_copy(&c->arena, str_of(name)).at, DISK), "usual");
    }
    assert_string_equal(ruling_on(c, wanting(c, "b"), "usual"), NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE_RULE_TEST(disks_are_counted_once),
        ONE_RULE_TEST(the_node_says_how_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
