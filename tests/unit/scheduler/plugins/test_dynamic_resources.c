/* DynamicResources: what is found before allocating, and where allocated claims let a pod go. */
#include "tests/unit/scheduler/legacy.h"

static int setup(void **state)
{
    int status = cluster_setup(state);
    struct cluster *c = *state;
    only_filter(c, "DynamicResources");
    c->profile.pre_filter = strs_of(&c->arena, "DynamicResources");
    begin(c);
    labelled(c, "n1", "rack", "a");
    labelled(c, "n2", "rack", "b");
    tell_catalog(c, "resource_claim_set resource_claim={namespace_name=\"default\" name=\"on-a\" "
                    "uid=\"u1\" allocated=true has_terms=true terms=[{expressions=[{key=\"rack\" "
                    "operator_name=\"In\" values=[\"a\"]}]}]}");
    tell_catalog(c,
                 "resource_claim_set resource_claim={namespace_name=\"default\" name=\"anywhere\" "
                 "uid=\"u2\" allocated=true}");
    tell_catalog(c, "resource_claim_set resource_claim={namespace_name=\"default\" name=\"open\"}");
    tell_catalog(c, "resource_claim_set resource_claim={namespace_name=\"default\" name=\"going\" "
                    "allocated=true deleting=true}");
    return status;
}

static struct pod *claiming(struct cluster *c, const char *claim)
{
    struct pod *p = make_pod(c, "p", 0, 0);
    *APPEND(&c->arena, p->device_claims) =
        (struct device_claim){.name = STR_LITERAL("gpu"), .claim = str_of(claim)};
    return p;
}

static void assert_turned_away(struct cluster *c, const struct pod *p, const char *reason)
{
    struct frameworks all = {0};
    struct pre_filter_outcome out;
    struct pod prepared;
    struct brief brief;
    frameworks_build(&all, &c->profile, 1);
    framework_pre_filter(&(struct pre_filter_question){.framework = &all.at[0],
                                                       .catalog = c->catalog,
                                                       .pod = p,
                                                       .prepared = &prepared,
                                                       .brief = &brief,
                                                       .arena = &c->arena},
                         &out);
    frameworks_clear(&all);
    assert_int_equal(out.code, *reason == 0 ? CODE_success : CODE_unresolvable);
    assert_str(out.reason, reason);
}

static void allocated_claims_keep_a_pod_where_their_devices_are(void **state)
{
    struct cluster *c = *state;
    struct pod *p = claiming(c, "on-a");
    assert_string_equal(ruling_on(c, p, "n1"), "");
    assert_string_equal(ruling_on(c, p, "n2"),
                        "DynamicResources UAU: resourceclaim not available on the node");
    assert_string_equal(ruling_on(c, claiming(c, "anywhere"), "n2"), "");
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "n2"), "");
}

static void what_cannot_be_used_turns_a_pod_away(void **state)
{
    struct cluster *c = *state;
    assert_turned_away(c, claiming(c, "open"),
                       "resource claim default/open is not allocated, and allocating is not "
                       "supported yet");
    assert_turned_away(c, claiming(c, "nope"), "could not find ResourceClaim \"default/nope\"");
    assert_turned_away(c, claiming(c, "going"), "resourceclaim \"going\" is being deleted");
    struct pod *p = claiming(c, "");
    p->device_claims.at[0].generated = true;
    assert_turned_away(c, p, "pod \"default/p\": ResourceClaim not created yet");
    p->device_claims.at[0].unneeded = true;
    assert_turned_away(c, p, "");
    p = claiming(c, "on-a");
    p->device_claims.at[0].generated = true;
    assert_turned_away(
        c, p, "ResourceClaim default/on-a was not created for Pod default/p (Pod is not owner)");
    p = claiming(c, "");
    p->device_claims.at[0].malformed = true;
    assert_turned_away(
        c, p,
        "pod \"default/p\", spec.resourceClaim \"gpu\": none of the supported fields "
        "are set");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, legacy_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(allocated_claims_keep_a_pod_where_their_devices_are),
        TEST(what_cannot_be_used_turns_a_pod_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
