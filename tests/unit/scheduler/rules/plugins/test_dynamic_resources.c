/* DynamicResources: what is found before allocating, and where allocated claims let a pod go. */
#include "tests/unit/scheduler/one_rule.h"

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
    struct findings findings;
    frameworks_build(&all, &c->profile, 1);
    framework_pre_filter(&(struct pre_filter_question){.framework = &all.at[0],
                                                       .catalog = c->catalog,
                                                       .pod = p,
                                                       .prepared = &prepared,
                                                       .findings = &findings,
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
    assert_turned_away(c, claiming(c, "open"), "");
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

/* What a claim asks for has to make sense before it matters that nobody gives it. */
static void claims_to_allocate_are_looked_at_as_far_as_upstream_does(void **state)
{
    struct cluster *c = *state;
    tell_catalog(c, "device_class_set device_class={name=\"gpu\"}");
    tell_catalog(c, "resource_claim_set resource_claim={namespace_name=\"default\" name=\"exact\" "
                    "requests=[{name=\"r\" exactly=true asks=[{name=\"r\" class_name=\"gpu\"}]} "
                    "{name=\"s\" exactly=true asks=[{name=\"s\" class_name=\"none\"}]}]}");
    tell_catalog(c, "resource_claim_set resource_claim={namespace_name=\"default\" name=\"first\" "
                    "requests=[{name=\"r\" asks=[{name=\"a\" class_name=\"gpu\"} {name=\"b\" "
                    "class_name=\"none\"}]}]}");
    tell_catalog(c, "resource_claim_set resource_claim={namespace_name=\"default\" name=\"odd\" "
                    "requests=[{name=\"r\"}]}");
    assert_turned_away(c, claiming(c, "exact"), "request s: device class none does not exist");
    assert_turned_away(c, claiming(c, "first"), "request r/b: device class none does not exist");
    assert_turned_away(c, claiming(c, "odd"),
                       "resource claim default/odd, request r: unknown request type");
    struct pod *p = claiming(c, "open");
    struct device_claim both[] = {p->device_claims.at[0],
                                  claiming(c, "exact")->device_claims.at[0]};
    p->device_claims.count = 2;
    p->device_claims.at = both;
    assert_turned_away(c, p, "request s: device class none does not exist");
    tell_catalog(c, "device_class_set device_class={name=\"none\"}");
    assert_turned_away(c, p, "");
}

/* A device that its driver must make ready first. */
static void waiting_claim(struct cluster *c, int64_t since_us, const char *status)
{
    char text[600];
    snprintf(
        text, sizeof(text),
        "resource_claim_set resource_claim={namespace_name=\"default\" name=\"slow\" "
        "uid=\"u9\" allocated=true allocated_us=%lld devices=[{driver=\"d\" pool=\"p\" "
        "device=\"g\" binding_conditions=[\"Ready\"] binding_failure_conditions=[\"Broken\"]}] "
        "%s}",
        (long long)since_us, status);
    tell_catalog(c, text);
}

#define REPORT(type)                                                                               \
    "device_statuses=[{driver=\"d\" pool=\"p\" device=\"g\" conditions=[{type=\"" type             \
    "\" status=\"True\"}]}]"
#define NOT_THERE "DynamicResources UAU: resourceclaim not available on the node"

static void devices_that_do_not_become_ready_are_available_nowhere(void **state)
{
    struct cluster *c = *state;
    waiting_claim(c, 1, "");
    assert_string_equal(ruling_on(c, claiming(c, "slow"), "n1"), "");
    waiting_claim(c, 1, REPORT("Broken"));
    assert_string_equal(ruling_on(c, claiming(c, "slow"), "n1"), NOT_THERE);
}

static void waiting_for_devices_ends(void **state)
{
    struct cluster *c = *state;
    waiting_claim(c, -700000000, "");
    assert_string_equal(ruling_on(c, claiming(c, "slow"), "n1"), NOT_THERE);
    waiting_claim(c, -700000000, REPORT("Ready"));
    assert_string_equal(ruling_on(c, claiming(c, "slow"), "n1"), "");
}

static void a_class_has_a_name(void **state)
{
    struct cluster *c = *state;
    struct frameworks all = {0};
    struct pre_filter_outcome out;
    struct pod prepared;
    struct findings findings;
    tell_catalog(c, "resource_claim_set resource_claim={namespace_name=\"default\" name=\"odd\" "
                    "requests=[{name=\"r\" exactly=true asks=[{name=\"r\"}]}]}");
    frameworks_build(&all, &c->profile, 1);
    framework_pre_filter(&(struct pre_filter_question){.framework = &all.at[0],
                                                       .catalog = c->catalog,
                                                       .pod = claiming(c, "odd"),
                                                       .prepared = &prepared,
                                                       .findings = &findings,
                                                       .arena = &c->arena},
                         &out);
    frameworks_clear(&all);
    assert_int_equal(out.code, CODE_error);
    assert_str(out.reason, "running PreFilter plugin \"DynamicResources\": request r: unsupported "
                           "request type");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, one_rule_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(allocated_claims_keep_a_pod_where_their_devices_are),
        TEST(what_cannot_be_used_turns_a_pod_away),
        TEST(claims_to_allocate_are_looked_at_as_far_as_upstream_does),
        TEST(devices_that_do_not_become_ready_are_available_nowhere),
        TEST(waiting_for_devices_ends),
        TEST(a_class_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
