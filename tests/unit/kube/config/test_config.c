/* test_config: every file tests/golden/config/NAME.in gives exactly NAME.ok: the printed
 * configuration and its notes, or the error. What is accepted must also read back from its own
 * print. The flags override the file. */
#include "proto/base/memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "proto/kube/config/config_flags.h"
#include "proto/kube/config/config_policy.h"

#define HEAD "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

static struct arena arena;

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

static void read_whole(const char *path, struct buffer *text)
{
    char block[4096];
    FILE *file = fopen(path, "rb");
    buffer_add(text, "", 0);
    if (file == NULL)
        fail_msg("cannot open %s", path);
    for (size_t got; (got = fread(block, 1, sizeof(block), file)) > 0;)
        buffer_add(text, block, got);
    fclose(file);
}

static void check_reload(const struct buffer *printed)
{
    struct scheduler_config config;
    struct str error = {0};
    struct buffer again = {0};
    if (!scheduler_config_parse(buffer_str(printed), release_features(36), &config, &arena, &error))
        fail_msg("our own print is refused: %.*s", STR_ARG(error));
    scheduler_config_print(&config, &again);
    assert_string_equal(again.at, printed->at);
    buffer_free(&again);
}

/* What --write-config-to writes is written the same from what it reads back as. */
static void check_written(const struct scheduler_config *config)
{
    struct scheduler_config second;
    struct str error = {0};
    struct buffer written = {0}, twice = {0};
    scheduler_config_write(config, &written);
    if (!scheduler_config_parse(buffer_str(&written), release_features(36), &second, &arena,
                                &error))
        fail_msg("what we write is refused: %.*s", STR_ARG(error));
    scheduler_config_write(&second, &twice);
    assert_string_equal(twice.at, written.at);
    buffer_free(&written);
    buffer_free(&twice);
}

/* What the .ok of a golden pair holds: the result with its notes, or the error. */
static void describe(struct str text, struct buffer *out)
{
    struct scheduler_config config;
    struct str error = {0};
    if (!scheduler_config_parse(text, release_features(36), &config, &arena, &error)) {
        buffer_print(out, "error: %.*s\n", STR_ARG(error));
        return;
    }
    scheduler_config_print(&config, out);
    check_reload(out);
    check_written(&config);
    for (uint32_t i = 0; i < config.notes.count; i++)
        buffer_print(out, "# note: %.*s\n", STR_ARG(config.notes.at[i]));
}

static void check_pair(const char *in_path)
{
    struct buffer in = {0}, expected = {0}, got = {0};
    char ok_path[512];
    snprintf(ok_path, sizeof(ok_path), "%.*s.ok", (int)(strlen(in_path) - 3), in_path);
    read_whole(in_path, &in);
    read_whole(ok_path, &expected);
    describe(buffer_str(&in), &got);
    if (strcmp(got.at, expected.at) != 0)
        fail_msg("%s gives\n%s\nwhere %s has\n%s", in_path, got.at, ok_path, expected.at);
    buffer_free(&in);
    buffer_free(&expected);
    buffer_free(&got);
}

static void golden_files_hold(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/golden/config/*.in", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 40);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        arena_reset(&arena);
        check_pair(found.gl_pathv[i]);
    }
    globfree(&found);
}

static void no_file_gives_the_defaults(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    struct buffer printed = {0}, expected = {0};
    assert_true(scheduler_config_load(NULL, release_features(36), &config, &arena, &error));
    scheduler_config_print(&config, &printed);
    read_whole("tests/golden/config/defaults.ok", &expected);
    assert_string_equal(printed.at, expected.at);
    assert_int_equal(config.profiles.count, 1);
    buffer_free(&printed);
    buffer_free(&expected);
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    assert_false(scheduler_config_load("/nonexistent/config.yaml", release_features(36), &config,
                                       &arena, &error));
    assert_true(str_is(error, "/nonexistent/config.yaml: No such file or directory"));
}

static void a_document_that_is_parsed_already_is_read(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    struct kube_json *json =
        kube_json_parse_yaml(STR_LITERAL(HEAD "podMaxBackoffSeconds: 7\n"), &error, &arena);
    assert_non_null(json);
    assert_true(scheduler_config_parse_json(json, release_features(36), &config, &arena, &error));
    kube_json_free(&json);
    assert_int_equal(config.pod_max_backoff_s, 7);
}

static void weights_follow_upstreams_quirk(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    static const char text[] = HEAD "profiles:\n- plugins:\n    score:\n      enabled:\n"
                                    "      - name: TaintToleration\n";
    assert_true(
        scheduler_config_parse(str_of(text), release_features(36), &config, &arena, &error));
    const struct profile *p = &config.profiles.at[0];
    assert_true(str_is(p->score.at[0].name, "TaintToleration"));
    assert_int_equal(p->score.at[0].weight, 1); /* 3 as a default */
    assert_true(str_is(p->score.at[1].name, "NodeAffinity"));
    assert_int_equal(p->score.at[1].weight, 2);
}

static void protobuf_is_spoken_unless_the_file_says_otherwise(void **state)
{
    (void)state;
    static const struct {
        const char *connection;
        bool read, written;
    } cases[] = {
        {"{}", true, true},
        {"{contentType: application/json}", false, false},
        {"{contentType: application/vnd.kubernetes.protobuf}", true, true},
        {"{acceptContentTypes: application/json}", false, true},
        {"{acceptContentTypes: 'application/json, application/vnd.kubernetes.protobuf;q=0.5',"
         " contentType: application/json}",
         true, false},
        {"{acceptContentTypes: application/vnd.kubernetes.protobuffer}", false, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scheduler_config config;
        struct str error = {0};
        struct str text = arena_print(&arena, HEAD "clientConnection: %s\n", cases[i].connection);
        assert_true(scheduler_config_parse(text, release_features(36), &config, &arena, &error));
        assert_int_equal(scheduler_config_protobuf_read(&config), cases[i].read);
        assert_int_equal(scheduler_config_protobuf_written(&config), cases[i].written);
    }
}

static void flags_override_the_file(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    struct config_flags flags = {0};
    static const char text[] = HEAD "leaderElection: {leaderElect: false, resourceName: a}\n"
                                    "clientConnection: {kubeconfig: /from/file}\n";
    assert_true(
        scheduler_config_parse(str_of(text), release_features(36), &config, &arena, &error));
    assert_true(config_take_leader_elect(&flags, "true"));
    assert_true(config_take_lease_duration(&flags, "1m"));
    assert_true(config_take_resource_namespace(&flags, "ns"));
    assert_true(config_take_kubeconfig(&flags, "/from/flag"));
    assert_true(config_flags_apply(&flags, &config, &arena, &error));
    assert_true(config.leader_elect);
    assert_int_equal(config.lease_duration.ns, 60000000000);
    assert_int_equal(config.renew_deadline.ns, 10000000000);
    assert_true(str_is(config.lease_name, "a"));
    assert_true(str_is(config.lease_namespace, "ns"));
    assert_true(str_is(config.kubeconfig, "/from/file"));
    config.kubeconfig = (struct str){NULL, 0};
    assert_true(config_flags_apply(&flags, &config, &arena, &error));
    assert_true(str_is(config.kubeconfig, "/from/flag"));
}

static bool runs(const struct strs *plugins, const char *name)
{
    for (uint32_t i = 0; i < plugins->count; i++)
        if (str_is(plugins->at[i], name))
            return true;
    return false;
}

#define POLICY "kind: Policy\napiVersion: v1\n"

/* "a b:2" of plugins or scores. */
static void assert_names(const struct strs *names, const char *expected)
{
    struct buffer text = {0};
    for (uint32_t i = 0; i < names->count; i++)
        buffer_print(&text, "%s%.*s", i > 0 ? " " : "", STR_ARG(names->at[i]));
    buffer_add_text(&text, "");
    assert_string_equal(text.len > 0 ? text.at : "", expected);
    buffer_free(&text);
}

static void assert_scores(const struct profile *p, const char *expected)
{
    struct buffer text = {0};
    for (uint32_t i = 0; i < p->score.count; i++)
        buffer_print(&text, "%s%.*s:%lld", i > 0 ? " " : "", STR_ARG(p->score.at[i].name),
                     (long long)p->score.at[i].weight);
    assert_string_equal(text.len > 0 ? text.at : "", expected);
    buffer_free(&text);
}

#define NEWER " DynamicResources NodeDeclaredFeatures"

static void a_policy_is_translated(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    static const char text[] = POLICY
        "predicates: [{name: MatchInterPodAffinity}, {name: PodFitsResources}, {name: HostName},\n"
        "  {name: own, argument: {labelsPresence: {labels: [zone, rack], presence: false}}},\n"
        "  {name: CheckNodeCondition}]\n"
        "priorities: [{name: MostRequestedPriority, weight: 7}, {name: SelectorSpreadPriority,\n"
        "  weight: 2}, {name: x, weight: 3, argument: {serviceAntiAffinity: {label: zone}}}]\n"
        "hardPodAffinitySymmetricWeight: 33\nalwaysCheckAllPredicates: true\n";
    assert_true(
        scheduler_config_parse(str_of(text), release_features(36), &config, &arena, &error));
    const struct profile *p = &config.profiles.at[0];
    assert_names(&p->filter, "CheckNodeCondition NodeUnschedulable NodeName NodeResourcesFit "
                             "TaintToleration CheckNodeLabelPresence InterPodAffinity" NEWER
                             " AlwaysCheckAllPredicates");
    assert_names(&p->pre_filter, "NodeResourcesFit InterPodAffinity" NEWER);
    assert_names(&p->reserve, "DynamicResources");
    assert_true(p->check_all);
    assert_scores(p, "NodeResourcesFit:7 SelectorSpread:2 ServiceAntiAffinity:3");
    assert_true(str_is(p->fit_strategy, "MostAllocated"));
    assert_int_equal(p->hard_affinity_weight, 33);
    assert_int_equal(p->label_presence.at[0].labels.count, 2);
    assert_true(str_is(p->service_anti_affinity.at[0], "zone"));
    assert_true(runs(&p->post_filter, "DefaultPreemption"));
}

static void a_policy_without_lists_is_the_old_provider(void **state)
{
    (void)state;
    static const char filters[] =
        "NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity VolumeRestrictions "
        "TaintToleration MaxEBSVolumeCount MaxGCEPDVolumeCount NodeVolumeLimits "
        "MaxAzureDiskVolumeCount VolumeBinding VolumeZone PodTopologySpread InterPodAffinity" NEWER;
    struct scheduler_config config;
    struct str error = {0};
    assert_true(
        scheduler_config_parse(str_of(POLICY), release_features(36), &config, &arena, &error));
    const struct profile *p = &config.profiles.at[0];
    assert_names(&p->filter, filters);
    assert_scores(p, "NodeResourcesFit:1 NodeResourcesBalancedAllocation:1 SelectorSpread:1 "
                     "InterPodAffinity:1 NodeAffinity:1 TaintToleration:1 ImageLocality:1 "
                     "NodePreferAvoidPods:10000 PodTopologySpread:2");
    assert_names(&p->reserve, "VolumeBinding DynamicResources");
    assert_true(str_is(config.details[0].args.spread_defaulting, "List"));
    assert_true(scheduler_config_load(NULL, release_features(36), &config, &arena, &error));
    assert_true(scheduler_config_take_policy(
        str_of(config_policy_of_provider("ClusterAutoscalerProvider")), &config, &arena, &error));
    p = &config.profiles.at[0];
    assert_names(&p->filter, filters);
    assert_true(str_is(p->fit_strategy, "MostAllocated"));
    assert_int_equal(p->score.count, 9);
    assert_null(config_policy_of_provider("Foo"));
}

/* Empty lists are not the same as none: only what is mandatory runs. */
static void a_policy_may_have_empty_lists(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    static const char text[] = POLICY "predicates: []\npriorities: []\n";
    assert_true(
        scheduler_config_parse(str_of(text), release_features(36), &config, &arena, &error));
    assert_names(&config.profiles.at[0].filter, "NodeUnschedulable TaintToleration" NEWER);
    assert_int_equal(config.profiles.at[0].score.count, 0);
}

static void a_policy_may_score_requests_in_three_ways(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    static const char text[] = POLICY
        "priorities: [{name: LeastRequestedPriority, weight: 2},\n"
        "  {name: MostRequestedPriority, weight: 9}, {name: MostRequestedPriority, weight: 3},\n"
        "  {name: r, weight: 4, argument: {requestedToCapacityRatioArguments: {shape: [\n"
        "    {utilization: 0, score: 0}, {utilization: 60, score: 7}],\n"
        "    resources: [{name: cpu}, {name: a.b/c, weight: 5}]}}},\n"
        "  {name: a, weight: 6, argument: {labelPreference: {label: ssd, presence: true}}},\n"
        "  {name: b, weight: 6, argument: {labelPreference: {label: old}}}]\n";
    assert_true(
        scheduler_config_parse(str_of(text), release_features(36), &config, &arena, &error));
    const struct profile *p = &config.profiles.at[0];
    assert_scores(p, "NodeResourcesLeastAllocated:2 NodeResourcesMostAllocated:3 "
                     "NodeResourcesFit:4 NodeLabelPriority:12");
    assert_true(str_is(p->fit_strategy, "RequestedToCapacityRatio"));
    assert_int_equal(p->fit_shape.at[1].score, 7);
    assert_int_equal(p->fit_resources.at[0].amount, 1);
    assert_int_equal(p->fit_resources.at[1].amount, 5);
    assert_int_equal(p->label_preferences.count, 2);
    static const char plain[] = POLICY "priorities: [{name: RequestedToCapacityRatioPriority, "
                                       "weight: 1}]\n";
    assert_true(
        scheduler_config_parse(str_of(plain), release_features(36), &config, &arena, &error));
    assert_int_equal(config.profiles.at[0].fit_shape.at[0].score, 10);
}

static void a_policy_names_extenders(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    static const char text[] =
        "{\"kind\": \"Policy\", \"apiVersion\": \"v1\", \"extenders\": [{\"urlPrefix\": "
        "\"https://x/p\", \"filterVerb\": \"f\", \"BindVerb\": \"b\", \"prioritizeVerb\": \"p\", "
        "\"weight\": 5, \"enableHttps\": true, \"httpTimeout\": 100000000, \"tlsConfig\": "
        "{\"Insecure\": true, \"CAFile\": \"/ca\", \"certData\": \"YWJj\"}, \"nodeCacheCapable\": "
        "true, \"managedResources\": [{\"name\": \"a.b/c\", \"ignoredByScheduler\": true}], "
        "\"ignorable\": true}, {\"urlPrefix\": \"http://y\", \"preemptVerb\": \"v\", "
        "\"enableHTTPS\": true, \"httpTimeout\": \"2s\"}]}";
    assert_true(
        scheduler_config_parse(str_of(text), release_features(36), &config, &arena, &error));
    assert_int_equal(config.extenders.count, 2);
    const struct extender_config *e = config.extenders.at;
    assert_true(str_is(e->filter_verb, "f") && str_is(e->bind_verb, "b") && e->weight == 5);
    assert_true(e->https && e->has_tls && e->insecure && str_is(e->ca_file, "/ca"));
    assert_true(str_is(e->cert, "abc") && e->node_cache_capable && e->ignorable);
    assert_int_equal(span_ms(e->http_timeout), 100);
    assert_true(e->managed.count == 1 && e->managed.at[0].ignored);
    assert_true(str_is(config.profiles.at[0].fit_ignored_resources.at[0], "a.b/c"));
    assert_true(e[1].https && span_ms(e[1].http_timeout) == 2000);
}

/* The file keeps all but profiles and extenders. */
static void a_policy_stands_beside_a_file(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    static const char file[] = HEAD "podMaxBackoffSeconds: 40\nprofiles: [{schedulerName: a},\n"
                                    "  {schedulerName: b}]\nextenders: [{urlPrefix: 'http://x'}]\n";
    assert_true(
        scheduler_config_parse(str_of(file), release_features(36), &config, &arena, &error));
    assert_true(scheduler_config_take_policy(STR_LITERAL("predicates: [{name: HostName}]"), &config,
                                             &arena, &error));
    assert_int_equal(config.profiles.count, 1);
    assert_int_equal(config.extenders.count, 0);
    assert_int_equal(config.pod_max_backoff_s, 40);
    assert_true(str_is(config.profiles.at[0].scheduler_name, "default-scheduler"));
    assert_false(scheduler_config_take_policy(STR_LITERAL("kind: Foo\napiVersion: v1"), &config,
                                              &arena, &error));
    assert_true(str_is(error, "no kind \"Foo\" is registered for version \"v1\""));
    assert_false(scheduler_config_take_policy(STR_LITERAL("[]"), &config, &arena, &error));
    assert_true(str_is(error, "a Policy is an object"));
    assert_false(scheduler_config_take_policy(STR_LITERAL("{"), &config, &arena, &error));
}

static void a_policy_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } table[] = {
        {POLICY "predicates: [{name: Foo}]",
         "predicates[0].name: Invalid value: \"Foo\": no predicate has that name"},
        {POLICY "priorities: [{name: Foo, weight: 1}]",
         "priorities[0].name: Invalid value: \"Foo\": no priority has that name"},
        {POLICY "priorities: [{name: EqualPriority}]",
         "priorities[0].weight: Invalid value: 0: priority EqualPriority should have a positive "
         "weight applied to it or it has overflown"},
        {POLICY "foo: 1", "strict decoding error: unknown field \"foo\""},
        {POLICY "extenders: [{urlPrefix: x, prioritizeVerb: p}]",
         "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"},
        {POLICY "extenders: [{urlPrefix: x, foo: 1, urlprefix: y, tlsConfig: {cafile: a, b: 1}, "
                "managedResources: [{c: d}]}]",
         "strict decoding error: unknown field \"extenders[0].foo\", duplicate field "
         "\"extenders[0].urlprefix\", unknown field \"extenders[0].tlsConfig.b\", unknown field "
         "\"extenders[0].managedResources[0].c\""},
        {POLICY "predicates: [{name: HostName, argument: {labelsPresence: {labels: [a]}}}]",
         "predicates[0].argument: Forbidden: HostName takes no argument"},
        {POLICY "predicates: [{name: x, argument: {}}]",
         "predicates[0].argument: Invalid value: exactly 1 predicate argument is required, has 0"},
        {POLICY "priorities: [{name: x, weight: 1, argument: {labelPreference: {label: a}, "
                "serviceAntiAffinity: {label: b}}}]",
         "priorities[0].argument: Invalid value: exactly 1 priority argument is required, has 2"},
        {POLICY "priorities: [{name: a, weight: 1, argument: {labelPreference: {label: a}}}, "
                "{name: b, weight: 2, argument: {labelPreference: {label: b}}}]",
         "priorities[1].weight: Invalid value: 2: priority \"b\" has a different weight with "
         "\"a\""},
        {POLICY "priorities: [{name: a, weight: 1, argument: {requestedToCapacityRatioArguments: "
                "{shape: []}}}, {name: b, weight: 1, argument: {requestedToCapacityRatioArguments: "
                "{shape: []}}}]",
         "priorities[1].argument: Invalid value: priority \"b\" redeclares custom priority "
         "\"RequestedToCapacityRatio\", from: \"a\""},
        {POLICY "hardPodAffinitySymmetricWeight: 101",
         "hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0-100]"},
        {POLICY "alwaysCheckAllPredicates: 1",
         "alwaysCheckAllPredicates: wants true or false, has a number"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct scheduler_config config;
        struct str error = {0};
        assert_false(scheduler_config_parse(str_of(table[i].text), release_features(36), &config,
                                            &arena, &error));
        char *copy = str_copy(error);
        assert_string_equal(copy, table[i].error);
        memory_free(copy);
    }
}

static void a_flag_takes_preemption_out_of_every_profile(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    struct config_flags flags = {0};
    static const char text[] = HEAD "profiles: [{schedulerName: a}, {schedulerName: b}]\n";
    assert_true(
        scheduler_config_parse(str_of(text), release_features(36), &config, &arena, &error));
    assert_true(config_take_disable_preemption(&flags, "false"));
    assert_true(config_flags_apply(&flags, &config, &arena, &error));
    assert_true(runs(&config.profiles.at[1].post_filter, "DefaultPreemption"));
    assert_true(config_take_disable_preemption(&flags, ""));
    assert_true(config_flags_apply(&flags, &config, &arena, &error));
    for (uint32_t i = 0; i < 2; i++) {
        assert_false(runs(&config.profiles.at[i].post_filter, "DefaultPreemption"));
        assert_false(runs(&config.profiles.at[i].pre_enqueue, "DefaultPreemption"));
        assert_true(runs(&config.profiles.at[i].post_filter, "DynamicResources"));
    }
}

static void flags_are_checked(void **state)
{
    (void)state;
    struct scheduler_config config;
    struct str error = {0};
    struct config_flags flags = {0};
    assert_false(config_take_leader_elect(&flags, "maybe"));
    assert_false(config_take_lease_duration(&flags, "15"));
    assert_false(config_take_resource_lock(&flags, "endpoints"));
    assert_false(config_take_resource_name(&flags, ""));
    assert_true(config_take_renew_deadline(&flags, "20s"));
    assert_true(scheduler_config_load(NULL, release_features(36), &config, &arena, &error));
    assert_false(config_flags_apply(&flags, &config, &arena, &error));
    assert_true(str_starts_with(error, "leaderElection.leaseDuration: Invalid value: \"20s\""));
}

/* Also where no list names the plugin: the option is of preemption, not of its points. */
static void whom_gangs_lose_is_written_unless_it_is_the_default(void **state)
{
    static const char text[] = HEAD "profiles: [{pluginConfig: [{name: Coscheduling, "
                                    "args: {gangVictims: %s}}]}]\n";
    (void)state;
    for (int i = 0; i < 2; i++) {
        char file[512];
        struct scheduler_config config;
        struct str error = {0};
        struct buffer out = {0};
        snprintf(file, sizeof(file), text, i == 0 ? "Pods" : "WholeGangs");
        assert_true(
            scheduler_config_parse(str_of(file), release_features(36), &config, &arena, &error));
        scheduler_config_write(&config, &out);
        assert_int_equal(strstr(out.at, "gangVictims: WholeGangs") != NULL, i);
        assert_int_equal(strstr(out.at, "Coscheduling") != NULL, i);
        buffer_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(golden_files_hold, reset),
        cmocka_unit_test_setup(no_file_gives_the_defaults, reset),
        cmocka_unit_test_setup(a_missing_file_is_named, reset),
        cmocka_unit_test_setup(a_document_that_is_parsed_already_is_read, reset),
        cmocka_unit_test_setup(weights_follow_upstreams_quirk, reset),
        cmocka_unit_test_setup(protobuf_is_spoken_unless_the_file_says_otherwise, reset),
        cmocka_unit_test_setup(flags_override_the_file, reset),
        cmocka_unit_test_setup(a_policy_is_translated, reset),
        cmocka_unit_test_setup(a_policy_without_lists_is_the_old_provider, reset),
        cmocka_unit_test_setup(a_policy_may_have_empty_lists, reset),
        cmocka_unit_test_setup(a_policy_may_score_requests_in_three_ways, reset),
        cmocka_unit_test_setup(a_policy_names_extenders, reset),
        cmocka_unit_test_setup(a_policy_stands_beside_a_file, reset),
        cmocka_unit_test_setup(a_policy_is_refused_by_name, reset),
        cmocka_unit_test_setup(a_flag_takes_preemption_out_of_every_profile, reset),
        cmocka_unit_test_setup(flags_are_checked, reset),
        cmocka_unit_test_setup(whom_gangs_lose_is_written_unless_it_is_the_default, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
