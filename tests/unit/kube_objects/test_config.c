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

#include "proto/kube/config_flags.h"

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
    if (!scheduler_config_parse(buffer_str(printed), &config, &arena, &error))
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
    if (!scheduler_config_parse(buffer_str(&written), &second, &arena, &error))
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
    if (!scheduler_config_parse(text, &config, &arena, &error)) {
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
    assert_true(scheduler_config_load(NULL, &config, &arena, &error));
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
    assert_false(scheduler_config_load("/nonexistent/config.yaml", &config, &arena, &error));
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
    assert_true(scheduler_config_parse_json(json, &config, &arena, &error));
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
    assert_true(scheduler_config_parse(str_of(text), &config, &arena, &error));
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
        assert_true(scheduler_config_parse(text, &config, &arena, &error));
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
    assert_true(scheduler_config_parse(str_of(text), &config, &arena, &error));
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
    assert_true(scheduler_config_parse(str_of(text), &config, &arena, &error));
    const struct profile *p = &config.profiles.at[0];
    static const char *const filters[] = {"CheckNodeCondition", "NodeUnschedulable",
                                          "NodeName",           "NodeResourcesFit",
                                          "TaintToleration",    "CheckNodeLabelPresence",
                                          "InterPodAffinity",   "AlwaysCheckAllPredicates"};
    assert_int_equal(p->filter.count, 8);
    for (uint32_t i = 0; i < 8; i++)
        assert_true(str_is(p->filter.at[i], filters[i]));
    assert_true(p->check_all);
    assert_false(runs(&p->pre_filter, "VolumeBinding"));
    assert_true(runs(&p->pre_filter, "InterPodAffinity"));
    assert_int_equal(p->score.count, 3);
    assert_true(str_is(p->score.at[0].name, "NodeResourcesFit"));
    assert_int_equal(p->score.at[0].weight, 7);
    assert_true(str_is(p->score.at[1].name, "SelectorSpread"));
    assert_true(str_is(p->fit_strategy, "MostAllocated"));
    assert_int_equal(p->hard_affinity_weight, 33);
    assert_int_equal(p->label_presence.at[0].labels.count, 2);
    assert_true(str_is(p->service_anti_affinity.at[0], "zone"));
    assert_true(runs(&p->post_filter, "DefaultPreemption"));
}

static void an_empty_policy_is_the_default(void **state)
{
    (void)state;
    struct scheduler_config config, plain;
    struct str error = {0};
    assert_true(scheduler_config_parse(str_of(POLICY), &config, &arena, &error));
    assert_true(scheduler_config_load(NULL, &plain, &arena, &error));
    struct buffer a = {0}, b = {0};
    scheduler_config_print(&config, &a);
    scheduler_config_print(&plain, &b);
    assert_string_equal(a.at, b.at);
    buffer_free(&a);
    buffer_free(&b);
}

static void a_policy_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } table[] = {
        {POLICY "predicates: [{name: Foo}]",
         "predicates[0]: Invalid value: \"Foo\": no predicate has that name"},
        {POLICY "priorities: [{name: Foo, weight: 1}]",
         "priorities[0]: Invalid value: \"Foo\": no priority has that name"},
        {POLICY "priorities: [{name: EqualPriority}]",
         "priorities[0]: Invalid value: 0: a priority should have a positive weight, below 2^40"},
        {POLICY "foo: 1", "strict decoding error: unknown field \"foo\""},
        {POLICY "extenders: [{urlPrefix: x}]", "not supported yet: extenders: 1 given"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct scheduler_config config;
        struct str error = {0};
        assert_false(scheduler_config_parse(str_of(table[i].text), &config, &arena, &error));
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
    assert_true(scheduler_config_parse(str_of(text), &config, &arena, &error));
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
    assert_true(scheduler_config_load(NULL, &config, &arena, &error));
    assert_false(config_flags_apply(&flags, &config, &arena, &error));
    assert_true(str_starts_with(error, "leaderElection.leaseDuration: Invalid value: \"20s\""));
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
        cmocka_unit_test_setup(an_empty_policy_is_the_default, reset),
        cmocka_unit_test_setup(a_policy_is_refused_by_name, reset),
        cmocka_unit_test_setup(a_flag_takes_preemption_out_of_every_profile, reset),
        cmocka_unit_test_setup(flags_are_checked, reset),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
