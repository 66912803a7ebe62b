/* test_config_pages: the configuration files of documents about kube-scheduler from 1.10 to today,
 * as they are (tests/golden/pages), say what they said: old versions, a Policy, the Coscheduling
 * plugin, plugins of one's own. What is written of each is a file of v1 that means the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "proto/kube/config/config_flags.h"
#include "proto/kube/config/config_internal.h"
#include "proto/kube/config/config_policy.h"

#define OLD(version) "apiVersion: " CONFIG_GROUP "/" version "\nkind: KubeSchedulerConfiguration\n"

static struct arena arena;
static struct scheduler_config config;
static struct str error;

static int reset(void **state)
{
    (void)state;
    arena_reset(&arena);
    return 0;
}

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static bool noted(const char *start)
{
    for (uint32_t i = 0; i < config.notes.count; i++)
        if (str_starts_with(config.notes.at[i], start))
            return true;
    return false;
}

static bool lists(const struct strs *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (str_is(names->at[i], name))
            return true;
    return false;
}

static int64_t weight(uint32_t profile, const char *name)
{
    const struct profile *p = &config.profiles.at[profile];
    for (uint32_t i = 0; i < p->score.count; i++)
        if (str_is(p->score.at[i].name, name))
            return p->score.at[i].weight;
    return 0;
}

/* What is written reads back as the same, by itself. */
static void check_written(void)
{
    struct scheduler_config again;
    struct buffer once = {0}, twice = {0};
    scheduler_config_write(&config, &once);
    if (!scheduler_config_parse(buffer_str(&once), release_features(36), &again, &arena, &error))
        fail_msg("what is written is refused: %.*s", STR_ARG(error));
    scheduler_config_write(&again, &twice);
    assert_string_equal(twice.at, once.at);
    for (uint32_t i = 0; i < config.profiles.count; i++) {
        const struct profile *a = &config.profiles.at[i], *b = &again.profiles.at[i];
        assert_int_equal(a->bind_timeout_s, b->bind_timeout_s);
        assert_int_equal(a->hard_affinity_weight, b->hard_affinity_weight);
        assert_int_equal(a->filter.count, b->filter.count);
        assert_int_equal(a->post_filter.count, b->post_filter.count);
        assert_int_equal(a->score.count, b->score.count);
    }
    buffer_free(&once);
    buffer_free(&twice);
}

static void load(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "tests/golden/pages/%s", name);
    if (!scheduler_config_load(path, release_features(36), &config, &arena, &error))
        fail_msg("%.*s", STR_ARG(error));
    check_written();
}

static void refused(const char *text, const char *expected)
{
    assert_false(
        scheduler_config_parse(str_of(text), release_features(36), &config, &arena, &error));
    if (!str_is(error, expected))
        fail_msg("%.*s\nis not\n%s", STR_ARG(error), expected);
}

static void coscheduling_is_enabled_at_every_point_of_its_page(void **state)
{
    (void)state;
    static const char *const files[] = {"coscheduling.yaml", "coscheduling-v1.yaml"};
    for (size_t i = 0; i < 2; i++) {
        load(files[i]);
        const struct profile *p = &config.profiles.at[0];
        assert_false(config.leader_elect);
        assert_true(p->gangs == GANGS_on);
        assert_true(p->gang_sort);
        assert_true(lists(&config.details[0].points[POINT_post_bind], "Coscheduling"));
        assert_int_equal(p->post_bind.count, 0); /* nobody is asked pod by pod */
    }
}

static void plugins_of_ones_own_take_a_process(void **state)
{
    (void)state;
    struct buffer text = {0};
    char line[128];
    FILE *file = fopen("tests/golden/pages/custom-plugins.yaml", "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
        buffer_add_text(&text, line);
    fclose(file);
    refused(text.at,
            "initializing profiles: creating profile for scheduler name default-scheduler: "
            "ScorePlugin \"MyCustomPluginA\" does not exist (if it is a process on the "
            "bus, give it BusPluginArgs in this profile's pluginConfig)");
    buffer_add_text(&text, "  pluginConfig:\n"
                           "  - {name: MyCustomPluginA, args: {kind: BusPluginArgs}}\n"
                           "  - {name: MyCustomPluginB, args: {kind: BusPluginArgs}}\n");
    assert_true(
        scheduler_config_parse(buffer_str(&text), release_features(36), &config, &arena, &error));
    assert_int_equal(weight(0, "MyCustomPluginA"), 2);
    assert_int_equal(weight(0, "MyCustomPluginB"), 1);
    assert_int_equal(weight(0, "PodTopologySpread"), 0);
    assert_int_equal(config.profiles.at[0].bus_plugins.count, 2);
    buffer_free(&text);
}

static void check_page_policy(uint32_t preemptors, int64_t hard_weight)
{
    const struct profile *p = &config.profiles.at[0];
    static const char *const filters[] = {"NodeName", "NodePorts", "NodeAffinity",
                                          "NodeResourcesFit", "VolumeRestrictions"};
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
        assert_true(lists(&p->filter, filters[i]));
    assert_false(lists(&p->filter, "InterPodAffinity"));
    assert_int_equal(weight(0, "ServiceSpreading"), 1);
    assert_int_equal(weight(0, "EqualPriority"), 1);
    assert_int_equal(weight(0, "NodeResourcesBalancedAllocation"), 1);
    assert_true(p->check_all);
    assert_int_equal(p->hard_affinity_weight, hard_weight);
    assert_int_equal(lists(&p->post_filter, "DefaultPreemption"), preemptors);
    const struct extender_config *e = &config.extenders.at[0];
    assert_int_equal(config.extenders.count, 1);
    assert_true(str_is(e->filter_verb, "filter") && str_is(e->prioritize_verb, "prioritize"));
    assert_true(str_is(e->bind_verb, "bind") && str_is(e->preempt_verb, "preempt"));
    assert_int_equal(e->weight, 5);
    assert_int_equal(e->http_timeout.ns, 5000000000);
    assert_true(e->managed.at[0].ignored);
    assert_true(lists(&p->fit_ignored_resources, "example.com/widget"));
}

static void a_policy_says_what_it_said(void **state)
{
    (void)state;
    load("policy.json");
    check_page_policy(1, 10);
}

static void the_first_version_is_read(void **state)
{
    (void)state;
    load("componentconfig-v1alpha1.yaml");
    const struct profile *p = &config.profiles.at[0];
    assert_true(config.leader_elect);
    assert_true(str_is(config.resource_lock, "leases"));
    assert_true(str_is(config.lease_name, "kube-scheduler"));
    assert_false(config.profiling);
    assert_int_equal(p->bind_timeout_s, 100);
    assert_int_equal(p->hard_affinity_weight, 10);
    assert_false(lists(&p->post_filter, "DefaultPreemption")); /* disablePreemption */
    assert_true(lists(&p->filter, "MaxEBSVolumeCount"));       /* DefaultProvider */
    assert_int_equal(weight(0, "NodePreferAvoidPods"), 10000);
    assert_int_equal(weight(0, "TaintToleration"), 1);
    static const char *const notes[] = {
        "apiVersion: componentconfig/v1alpha1 is read as ",
        "healthzBindAddress: has no effect",
        "metricsBindAddress: has no effect",
        "failureDomains: has no effect",
        "leaderElection.resourceLock: has no effect",
        "percentageOfNodesToScore: pods are decided over that part"};
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        assert_true(noted(notes[i]));
    assert_int_equal(config.notes.count, sizeof(notes) / sizeof(notes[0]));
}

static void providers_and_policies_are_read_from_where_they_are(void **state)
{
    (void)state;
    struct config_flags flags = {0};
    load("v1alpha1-provider.yaml");
    assert_int_equal(weight(0, "NodeResourcesFit"), 1);
    assert_true(str_is(config.profiles.at[0].fit_strategy, "MostAllocated"));
    load("v1alpha1-policy-file.yaml");
    check_page_policy(0, 10); /* a Policy's own weight comes before the file's */
    assert_true(str_is(config.profiles.at[0].scheduler_name, "policy-scheduler"));
    assert_int_equal(config.profiles.at[0].bind_timeout_s, 60);
    load("v1alpha1-policy-map.yaml");
    assert_true(str_is(config.old.map_name, "scheduler-policy"));
    assert_false(config_flags_apply(&flags, &config, &arena, &error)); /* nobody has read it */
    assert_true(
        scheduler_config_take_policy(STR_LITERAL("{\"priorities\": []}"), &config, &arena, &error));
    assert_true(config_flags_apply(&flags, &config, &arena, &error));
    assert_int_equal(config.profiles.at[0].score.count, 0);
}

static void plugins_at_the_root_are_one_profile(void **state)
{
    (void)state;
    load("v1alpha1-plugins.yaml");
    const struct profile *p = &config.profiles.at[0];
    assert_int_equal(weight(0, "ImageLocality"), 7);
    assert_int_equal(weight(0, "NodeResourcesFit"), 0);
    assert_int_equal(p->hard_affinity_weight, 3);
    assert_true(lists(&p->pre_score, "InterPodAffinity")); /* postFilter's name today */
    assert_true(noted("plugins.unreserve: has no effect"));
    assert_true(noted("noSuchField: has no effect"));
}

static void profiles_of_old_versions_are_read(void **state)
{
    (void)state;
    load("v1alpha2.yaml");
    assert_int_equal(config.profiles.count, 2);
    assert_int_equal(config.profiles.at[1].score.count, 0);
    assert_true(config.profiles.at[0].score.count > 5);
    assert_int_equal(config.profiles.at[0].bind_timeout_s, 7); /* the plugin's own comes first */
    assert_int_equal(config.profiles.at[1].bind_timeout_s, 120);
    assert_false(lists(&config.profiles.at[1].post_filter, "DefaultPreemption"));
    assert_int_equal(config.pod_max_backoff_s, 20);
    assert_int_equal(config.extenders.at[0].http_timeout.ns, 5000000000);
    load("v1beta1.yaml");
    assert_int_equal(weight(0, "NodeResourcesMostAllocated"), 5);
    assert_true(noted("profiles[0].pluginConfig[1].args: have no effect"));
    assert_int_equal(weight(0, "NodeResourcesFit"), 0);
    assert_int_equal(config.profiles.at[0].bind_timeout_s, 30);
    assert_int_equal(config.profiles.at[0].spread_defaults.count, 1);
    assert_false(config.profiles.at[0].spread_system_defaults);
}

static void what_such_a_file_may_not_say_is_refused(void **state)
{
    (void)state;
    refused(OLD("v1beta1") "noSuchField: 1\n",
            "strict decoding error: unknown field \"noSuchField\"");
    refused(OLD("v1beta1") "disablePreemption: true\n",
            "strict decoding error: unknown field \"disablePreemption\"");
    refused(OLD("v1alpha2") "profiles: [{plugins: {postFilter: {}}}]\n",
            "strict decoding error: unknown field \"profiles[0].plugins.postFilter\"");
    refused(OLD("v1alpha1") "algorithmSource: {provider: Mine}\n",
            "algorithmSource.provider: Unsupported value: \"Mine\": supported values: "
            "\"ClusterAutoscalerProvider\", \"DefaultProvider\"");
    refused(
        OLD("v1alpha1") "algorithmSource: {provider: DefaultProvider, policy: {file: {path: a}}}\n",
        "algorithmSource: Invalid value: want either provider or policy");
    refused(OLD("v1alpha1") "algorithmSource: {policy: {}}\n",
            "algorithmSource.policy: Invalid value: want either file or configMap");
    refused(OLD("v1alpha1") "algorithmSource: {policy: {file: {path: /nonexistent}}}\n",
            "algorithmSource.policy.file: /nonexistent: No such file or directory");
    refused(OLD("v1alpha1") "hardPodAffinitySymmetricWeight: 101\n",
            "hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0-100]");
    refused(OLD("v1alpha2") "bindTimeoutSeconds: soon\n",
            "bindTimeoutSeconds: wants an integer, has a string");
    refused(
        OLD("v1alpha1") "leaderElection: [1]\n",
        "json: cannot unmarshal array into Go struct field "
        "KubeSchedulerConfiguration.leaderElection of type v1alpha1.LeaderElectionConfiguration");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(coscheduling_is_enabled_at_every_point_of_its_page, reset),
        cmocka_unit_test_setup(plugins_of_ones_own_take_a_process, reset),
        cmocka_unit_test_setup(a_policy_says_what_it_said, reset),
        cmocka_unit_test_setup(the_first_version_is_read, reset),
        cmocka_unit_test_setup(providers_and_policies_are_read_from_where_they_are, reset),
        cmocka_unit_test_setup(plugins_at_the_root_are_one_profile, reset),
        cmocka_unit_test_setup(profiles_of_old_versions_are_read, reset),
        cmocka_unit_test_setup(what_such_a_file_may_not_say_is_refused, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
