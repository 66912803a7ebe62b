/* volume_reserve: claims get volumes once their pod has a node; what is assumed is seen by the next
 * pod, ends with a newer object, and is given back. */
#include "scheduler/catalog/volume_doubts.h"
#include "scheduler/catalog/volume_reserve.h"
#include "tests/unit/scheduler/storage.h"

#define TEXT(s) str_of(s)
#define PROFILE STR_LITERAL("default-scheduler")
#define LATE    "class_name=\"local\" volume_mode=\"Filesystem\""

struct scene {
    struct findings findings;
    struct node *node;
    struct reservation reserved;
    struct str error;
};

static void setup(struct cluster *c)
{
    only_rule(c, "VolumeBinding");
    know(c, "storage_class_set storage_class={name=\"local\" binding_mode=\"WaitForFirstConsumer\" "
            "provisioner=\"d\"}");
}

static void claim(struct cluster *c, const char *name, int version, const char *more)
{
    know(c, arena_print(&c->arena,
                        "claim_set claim={namespace_name=\"default\" name=\"%s\" uid=\"u-%s\" "
                        "resource_version=%d " LATE " %s}",
                        name, name, version, more)
                .at);
}

static void volume(struct cluster *c, const char *name, int version, const char *more)
{
    know(c,
         arena_print(&c->arena,
                     "volume_set volume={name=\"%s\" resource_version=%d phase=\"Available\" " LATE
                     " %s}",
                     name, version, more)
             .at);
}

/* PreFilter's findings, as a cycle begins with it. */
static void look(struct cluster *c, const struct pod *p, struct scene *s)
{
    struct frameworks all = {0};
    struct pre_filter_outcome out;
    struct pod prepared;
    struct findings findings;
    frameworks_build(&all, &c->profile, 1);
    framework_pre_filter(&(struct pre_filter_question){.framework = &all.at[0],
                                                       .catalog = c->catalog,
                                                       .pod = p,
                                                       .prepared = &prepared,
                                                       .findings = &findings,
                                                       .arena = &c->arena},
                         &out);
    assert_int_equal(out.code, CODE_success);
    codec_copy(&findings_record, &s->findings, &findings, &c->arena);
    frameworks_clear(&all);
    s->node = make_node(c, "n1", 1000, GIB);
    s->error = (struct str){0};
}

static bool reserve(struct cluster *c, const struct pod *p, struct scene *s)
{
    const struct reserve_question q = {.pod = p, .findings = &s->findings.volumes, .node = s->node};
    return volume_reserve(c->catalog, &q, &s->reserved, &s->error, &c->arena);
}

static void the_smallest_volume_is_taken_and_the_rest_is_made(void **state)
{
    struct cluster *c = *state;
    struct scene s;
    setup(c);
    claim(c, "large", 1, "requested=7");
    claim(c, "small", 2, "requested=1");
    volume(c, "nine", 3, "capacity=9");
    volume(c, "five", 4, "capacity=5");
    volume(c, "far", 5, "capacity=2 has_terms=true");
    struct pod *p = with_claim(c, "p", "large");
    add_volume(c, p, "claim", "small");
    look(c, p, &s);
    volume(c, "nine", 3, "capacity=9"); /* said again: the same version */
    assert_true(reserve(c, p, &s));
    assert_int_equal(s.reserved.count, 2);
    assert_str(s.reserved.at[0].name, "small");
    assert_str(s.reserved.at[0].uid, "u-small");
    assert_str(s.reserved.at[0].volume_name, "five");
    assert_false(s.reserved.at[0].prebound);
    assert_str(s.reserved.at[1].volume_name, "nine");
    assert_true(catalog_volume_seen(c->catalog, PROFILE, TEXT("five"))->has_claim_ref);
    assert_true(catalog_volume_seen(c->catalog, PROFILE, TEXT("five"))->bound_by_controller);
    assert_str(catalog_volume_seen(c->catalog, PROFILE, TEXT("nine"))->claim_name, "large");
    assert_int_equal(catalog_assumed(c->catalog), 2);
    struct scene next;
    claim(c, "other", 6, "requested=1");
    struct pod *q = with_claim(c, "q", "other");
    look(c, q, &next);
    assert_true(reserve(c, q, &next)); /* nothing is left: one is made */
    assert_int_equal(next.reserved.count, 1);
    assert_int_equal(next.reserved.at[0].volume_name.len, 0);
    assert_str(
        catalog_claim_seen(c->catalog, PROFILE, TEXT("default"), TEXT("other"))->selected_node,
        "n1");
}

/* Upstream has the plugin, and with it what it assumes, once for each profile. */
static void another_profile_does_not_see_it(void **state)
{
    struct cluster *c = *state;
    struct scene s;
    setup(c);
    claim(c, "a", 1, "requested=1");
    volume(c, "v", 1, "capacity=1");
    struct pod *p = with_claim(c, "p", "a");
    look(c, p, &s);
    assert_true(reserve(c, p, &s));
    assert_false(catalog_volume(c->catalog, TEXT("v"))->has_claim_ref);
    assert_false(catalog_volume_seen(c->catalog, TEXT("second"), TEXT("v"))->has_claim_ref);
    struct scene other;
    c->profile.scheduler_name = p->scheduler_name = TEXT("second");
    look(c, p, &other);
    assert_true(reserve(c, p, &other));
    assert_str(other.reserved.at[0].volume_name, "v");
    volume_unreserve(c->catalog, &other.reserved);
    assert_false(catalog_volume_seen(c->catalog, TEXT("second"), TEXT("v"))->has_claim_ref);
    assert_true(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->has_claim_ref);
}

static void what_is_given_back_can_be_had_again(void **state)
{
    struct cluster *c = *state;
    struct scene s;
    setup(c);
    claim(c, "a", 1, "requested=1");
    claim(c, "b", 1, "requested=2");
    volume(c, "v", 1, "capacity=1");
    struct pod *p = with_claim(c, "p", "a");
    add_volume(c, p, "claim", "b");
    look(c, p, &s);
    assert_true(reserve(c, p, &s));
    assert_true(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->has_claim_ref);
    volume_unreserve(c->catalog, &s.reserved);
    assert_int_equal(s.reserved.count, 0);
    assert_false(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->has_claim_ref);
    assert_int_equal(
        catalog_claim_seen(c->catalog, PROFILE, TEXT("default"), TEXT("b"))->selected_node.len, 0);
}

static void a_newer_object_ends_an_assumption(void **state)
{
    struct cluster *c = *state;
    struct scene s;
    setup(c);
    claim(c, "a", 1, "requested=1");
    volume(c, "v", 1, "capacity=1");
    struct pod *p = with_claim(c, "p", "a");
    look(c, p, &s);
    assert_true(reserve(c, p, &s));
    volume(c, "v", 1, "capacity=1"); /* the same again: still assumed */
    assert_true(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->has_claim_ref);
    volume(c, "v", 2, "capacity=1 has_claim_ref=true claim_name=\"else\" claim_uid=\"x\"");
    assert_str(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->claim_name, "else");
    volume_unreserve(c->catalog, &s.reserved);
    assert_str(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->claim_name, "else");
}

static void what_has_changed_meanwhile_is_not_reserved(void **state)
{
    struct cluster *c = *state;
    struct scene s;
    setup(c);
    claim(c, "a", 1, "requested=1");
    volume(c, "v", 1, "capacity=1");
    struct pod *p = with_claim(c, "p", "a");
    look(c, p, &s);
    volume(c, "v", 2, "capacity=1");
    assert_false(reserve(c, p, &s));
    assert_str(s.error, "\"v\" is out of sync (stored: 2, assume: 1)");
    know(c, "object_gone kind=\"PersistentVolume\" name=\"v\"");
    assert_false(reserve(c, p, &s));
    assert_str(s.error, "persistentvolumes \"v\" not found");
    volume(c, "v", 1, "capacity=1");
    claim(c, "a", 3, "requested=1");
    assert_false(reserve(c, p, &s));
    assert_str(s.error, "\"default/a\" is out of sync (stored: 3, assume: 1)");
    know(c, "object_gone kind=\"PersistentVolumeClaim\" namespace_name=\"default\" name=\"a\"");
    assert_false(reserve(c, p, &s));
    assert_str(s.error, "persistentvolumeclaims \"default/a\" not found");
    assert_false(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->has_claim_ref);
    claim(c, "a", 4, "requested=1 volume_name=\"v\" bind_completed=true");
    assert_true(reserve(c, p, &s)); /* bound by somebody else: nothing is left to do */
    assert_int_equal(s.reserved.count, 0);
    volume(c, "far", 5, "capacity=2 has_terms=true");
    claim(c, "a", 6, "requested=1 volume_name=\"far\" bind_completed=true");
    assert_false(reserve(c, p, &s)); /* to what the node cannot use */
    assert_str(s.error, "claim \"a\" was bound to pv \"far\" meanwhile, not for node \"n1\"");
    claim(c, "a", 7, "requested=1 volume_name=\"new\" bind_completed=true");
    assert_false(reserve(c, p, &s)); /* to what the watch of volumes has not shown yet */
    assert_str(s.error, "persistentvolumes \"new\" not found");
}

static void a_node_that_has_changed_meanwhile_is_refused(void **state)
{
    struct cluster *c = *state;
    struct scene s;
    setup(c);
    know(c, "storage_class_set storage_class={name=\"local\" provisioner=\"d\" "
            "binding_mode=\"WaitForFirstConsumer\" topologies=[{expressions=[{key=\"z\" "
            "operator_name=\"In\" values=[\"a\"]}]}]}");
    claim(c, "a", 1, "requested=1");
    struct pod *p = with_claim(c, "p", "a");
    look(c, p, &s);
    assert_false(reserve(c, p, &s));
    assert_str(s.error, "no pod volume found for node \"n1\"");
    add_label(c, s.node, "z", "a");
    assert_true(reserve(c, p, &s));
}

static void a_reserved_volume_is_said_to_be(void **state)
{
    struct cluster *c = *state;
    struct scene s;
    setup(c);
    claim(c, "a", 1, "");
    volume(c, "v", 1, "has_claim_ref=true claim_namespace=\"default\" claim_name=\"a\"");
    struct pod *p = with_claim(c, "p", "a");
    look(c, p, &s);
    assert_true(reserve(c, p, &s));
    assert_true(s.reserved.at[0].prebound);
    assert_false(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->bound_by_controller);
    assert_str(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->claim_uid, "u-a");
}

/* Another pod of the claim has written it all: a write that changes nothing makes no newer object,
 * which would end an assumption. */
static void what_is_written_already_is_not_assumed(void **state)
{
    struct cluster *c = *state;
    struct scene s;
    setup(c);
    claim(c, "a", 1, "");
    claim(c, "b", 1, "selected_node=\"n1\"");
    volume(c, "v", 1,
           "has_claim_ref=true claim_namespace=\"default\" claim_name=\"a\" "
           "claim_uid=\"u-a\"");
    struct pod *p = with_claim(c, "p", "a");
    add_volume(c, p, "claim", "b");
    look(c, p, &s);
    assert_true(reserve(c, p, &s));
    assert_int_equal(s.reserved.count, 2);
    assert_int_equal(catalog_assumed(c->catalog), 0);
}

/* A volume for each time, as upstream: the claim keeps the one that is bound first. */
static void a_claim_that_a_pod_names_twice(void **state)
{
    struct cluster *c = *state;
    struct scene s;
    setup(c);
    claim(c, "a", 1, "");
    volume(c, "v", 1, "capacity=1");
    volume(c, "w", 1, "capacity=2");
    struct pod *p = with_claim(c, "p", "a");
    add_volume(c, p, "claim", "a");
    look(c, p, &s);
    assert_true(reserve(c, p, &s));
    assert_int_equal(s.reserved.count, 2);
    assert_str(s.reserved.at[0].volume_name, "v");
    assert_str(s.reserved.at[1].volume_name, "w");
}

/* Of many volumes that the same nodes can use only as many are looked at as there are claims. */
static void a_findings_is_no_longer_than_it_has_to_be(void **state)
{
    struct cluster *c = *state;
    struct scene s;
    setup(c);
    claim(c, "a", 1, "");
    claim(c, "b", 1, "");
    for (int i = 0; i < 20; i++)
        volume(c, arena_print(&c->arena, "v%d", i).at, 1,
               arena_print(&c->arena, "capacity=%d %s", 40 - i, i % 2 ? "has_terms=true" : "").at);
    struct pod *p = with_claim(c, "p", "a");
    add_volume(c, p, "claim", "b");
    look(c, p, &s);
    assert_int_equal(s.findings.volumes.candidates.count, 4);
    assert_true(reserve(c, p, &s));
    assert_str(s.reserved.at[0].volume_name, "v18");
    assert_str(s.reserved.at[1].volume_name, "v16");
}

static struct moment at_ms(int64_t ms)
{
    return moment_after((struct moment){1}, span_of_ms(ms));
}

/* Another leader may have bound the pod with other volumes; of those that were seen the API
 * server's word counts. */
static void what_no_watch_has_shown_for_ten_seconds_is_free_again(void **state)
{
    struct cluster *c = *state;
    struct scene s, later;
    struct volume_doubts doubts = {0};
    setup(c);
    claim(c, "a", 1, "requested=1");
    claim(c, "b", 1, "requested=5");
    claim(c, "made", 1, "requested=9");
    volume(c, "v", 1, "capacity=1");
    volume(c, "w", 1, "capacity=5");
    struct pod *p = with_claim(c, "p", "a");
    add_volume(c, p, "claim", "b");
    look(c, p, &s);
    assert_true(reserve(c, p, &s));
    struct pod *q = with_claim(c, "q", "made");
    look(c, q, &later);
    assert_true(reserve(c, q, &later));
    assert_int_equal(catalog_assumed(c->catalog), 3);
    volume_doubts_add(&doubts, &s.reserved, at_ms(0));
    assert_int_equal(s.reserved.count, 0);
    volume_doubts_add(&doubts, &s.reserved, at_ms(0)); /* nothing */
    volume_doubts_add(&doubts, &later.reserved, at_ms(5000));
    volume(c, "w", 2,
           "capacity=5 has_claim_ref=true claim_namespace=\"default\" claim_name=\"b\" "
           "claim_uid=\"u-b\"");
    assert_false(volume_doubts_end(&doubts, c->catalog, at_ms(9999)));
    assert_true(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->has_claim_ref);
    assert_true(volume_doubts_end(&doubts, c->catalog, at_ms(10000)));
    assert_false(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->has_claim_ref);
    assert_true(catalog_volume_seen(c->catalog, PROFILE, TEXT("w"))->has_claim_ref);
    assert_int_equal(catalog_assumed(c->catalog), 1);
    assert_true(volume_doubts_end(&doubts, c->catalog, at_ms(15000)));
    assert_int_equal(catalog_assumed(c->catalog), 0);
    assert_false(volume_doubts_end(&doubts, c->catalog, at_ms(99000)));
    volume_doubts_add(&doubts, &later.reserved, at_ms(0));
    volume_doubts_free(&doubts);
}

/* Whoever has it by then has it. */
static void what_another_claim_has_by_then_stays_with_it(void **state)
{
    struct cluster *c = *state;
    struct scene s, other;
    struct volume_doubts doubts = {0};
    setup(c);
    claim(c, "a", 1, "requested=1");
    claim(c, "b", 1, "requested=1");
    volume(c, "v", 1, "capacity=1");
    struct pod *p = with_claim(c, "p", "a");
    look(c, p, &s);
    assert_true(reserve(c, p, &s));
    volume_doubts_add(&doubts, &s.reserved, at_ms(0));
    volume(c, "v", 2, "capacity=1"); /* it was given and taken back */
    struct pod *q = with_claim(c, "q", "b");
    look(c, q, &other);
    assert_true(reserve(c, q, &other));
    assert_str(other.reserved.at[0].volume_name, "v");
    assert_false(volume_doubts_end(&doubts, c->catalog, at_ms(10000)));
    assert_str(catalog_volume_seen(c->catalog, PROFILE, TEXT("v"))->claim_uid, "u-b");
    volume_doubts_add(&doubts, &other.reserved, at_ms(0));
    volume_doubts_free(&doubts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(the_smallest_volume_is_taken_and_the_rest_is_made),
        CLUSTER_TEST(another_profile_does_not_see_it),
        CLUSTER_TEST(what_is_given_back_can_be_had_again),
        CLUSTER_TEST(a_newer_object_ends_an_assumption),
        CLUSTER_TEST(what_has_changed_meanwhile_is_not_reserved),
        CLUSTER_TEST(a_node_that_has_changed_meanwhile_is_refused),
        CLUSTER_TEST(a_reserved_volume_is_said_to_be),
        CLUSTER_TEST(what_is_written_already_is_not_assumed),
        CLUSTER_TEST(a_claim_that_a_pod_names_twice),
        CLUSTER_TEST(a_findings_is_no_longer_than_it_has_to_be),
        CLUSTER_TEST(what_no_watch_has_shown_for_ten_seconds_is_free_again),
        CLUSTER_TEST(what_another_claim_has_by_then_stays_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
