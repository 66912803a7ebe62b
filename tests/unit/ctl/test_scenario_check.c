/* test_scenario_check: scenarios that do not say what their authors meant are refused with the path
 * of the fault; those that do are taken, however they are written down. */
#include "ctl/scenario_check.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>

/* The error of a scenario in YAML, "" if it is taken. */
static void expect_as(int64_t release, const char *text, const char *expected)
{
    struct arena a = {0};
    struct str error = {0};
    struct kube_json *document = kube_json_parse_yaml(str_of(text), &error, &a);
    if (document == NULL)
        fail_msg("%s: %.*s", text, STR_ARG(error));
    if (scenario_check(document, release, &error, &a))
        error = (struct str){"", 0};
    if (!str_is(error, expected))
        fail_msg("%s\nsays   %.*s\nand not %s", text, STR_ARG(error), expected);
    kube_json_free(&document);
    arena_free(&a);
}

static void expect(const char *text, const char *expected)
{
    expect_as(36, text, expected);
}

#define OBJECTS(list) "objects: [" list "]\npods: []\n"
#define NODE(more)    "{kind: Node, metadata: {name: n1}" more "}"
#define STEPS(list)   "pods: [" list "]\n"
#define POD(spec)     "{metadata: {name: p}, spec: {containers: [{name: c}]" spec "}}"

static const struct {
    const char *text, *error;
} misspelt[] = {
    {"[]", "scenario: must be an object, not a list"},
    {"nodes: []\npods: []\n", "nodes: unknown field"},
    {"object: []\npods: []\n", "object: unknown field, did you mean \"objects\"?"},
    {"name: [1]\npods: []\n", "name: must be a string, not a list"},
    {"objects: []\n", "pods: the steps are missing, see berth-simulate(1)"},
    {"pods: 3\n", "pods: must be a list of steps, not a number"},
    {"pods: []\nconfig: 7\n", "config: must be a KubeSchedulerConfiguration, as text or as an "
                              "object, not a number"},
    {"pods: []\noptions: {pik: last}\n", "options.pik: unknown field, did you mean \"pick\"?"},
    {"pods: []\noptions: {pick: middle}\n",
     "options.pick: must be one of first, last, not \"middle\""},
    {"pods: []\noptions: {afterPreemption: wait}\n",
     "options.afterPreemption: must be one of evict, nominate, none, not \"wait\""},
    {"pods: []\noptions: {noBind: 'yes'}\n", "options.noBind: must be true or false, not a string"},
    {"pods: []\nfeatureGates: {A: 1}\n", "featureGates.A: must be true or false, not a number"},
    {"pods: []\nchoices: {default/p: [n]}\n", "choices.default/p: must be a string, not a list"},
    {"objects: {kind: Node}\npods: []\n",
     "objects: must be a list of objects, or one object of kind List"},
    {"objects: {kind: List, item: []}\npods: []\n",
     "objects.item: unknown field, did you mean \"items\"?"},
    {"objects: {kind: List, items: [{kind: Nod, metadata: {name: n1}}]}\npods: []\n",
     "objects.items[0].kind: a scenario has no objects of kind Nod, did you mean \"Node\"?"},
    {OBJECTS("{metadata: {name: n1}}"), "objects[0].kind: is missing"},
    {OBJECTS("7"), "objects[0]: must be an object, not a number"},
    {OBJECTS("{kind: Deployment, metadata: {name: d}}"),
     "objects[0].kind: a scenario has no objects of kind Deployment"},
    {OBJECTS("{kind: Node, apiVersion: v2, metadata: {name: n1}}"),
     "objects[0].apiVersion: must be v1, not v2"},
    {OBJECTS("{kind: Node, metadata: {nam: n}}"),
     "objects[0].metadata.nam: unknown field, did you mean \"name\"?"},
    {OBJECTS("{kind: Node}"), "objects[0].metadata.name: is missing"},
    {OBJECTS(NODE("") "," NODE("")), "objects[1]: there is another Node n1"},
    {OBJECTS(NODE(", spec: {taint: []}")),
     "objects[0].spec.taint: unknown field, did you mean \"taints\"?"},
    {OBJECTS(NODE(", spec: {taints: {}}")),
     "objects[0].spec.taints: must be a list, not an object"},
    {OBJECTS(NODE(", spec: {unschedulable: 'true'}")),
     "objects[0].spec.unschedulable: must be true or false, not \"true\""},
    {OBJECTS(NODE(", status: {allocatable: {cpu: 4 cores}}")),
     "objects[0].status.allocatable.cpu: must be a quantity such as 500m, 2 or 4Gi, not \"4 "
     "cores\""},
    {OBJECTS(NODE(", status: {capacity: {memory: 8Gb}}")),
     "objects[0].status.capacity.memory: must be a quantity such as 500m, 2 or 4Gi, not "
     "\"8Gb\""},
    {OBJECTS("{kind: Pod, metadata: {name: p, creationTimestamp: yesterday}}"),
     "objects[0].metadata.creationTimestamp: must be a time such as 2026-01-02T03:04:05Z, not "
     "\"yesterday\""},
    {OBJECTS("{kind: Pod, metadata: {name: p, labels: {app: 7}}}"),
     "objects[0].metadata.labels.app: must be a string, not 7"},
    {STEPS("{op: dance}"),
     "pods[0].op: must be one of apply, delete, schedule, group, daemons, pending, not \"dance\""},
    {STEPS("{op: delete, kid: Pod, name: p}"),
     "pods[0].kid: unknown field, did you mean \"kind\"?"},
    {STEPS("{op: delete, kind: Pot, name: p}"),
     "pods[0].kind: a scenario has no objects of kind Pot"},
    {STEPS("{op: schedule}"), "pods[0].name: is missing"},
    {STEPS("{op: apply, object: {kind: Nod}}"),
     "pods[0].object.kind: a scenario has no objects of kind Nod, did you mean \"Node\"?"},
    {STEPS("{op: apply}"), "pods[0].object: must be an object, not null"},
    {STEPS("{kind: Node, metadata: {name: n1}}"), "pods[0].kind: must be Pod, not Node"},
    {STEPS(POD(", priority: high")),
     "pods[0].spec.priority: must be a whole number of 32 bits, not \"high\""},
    {STEPS(POD(", nodeSelecter: {a: b}")),
     "pods[0].spec.nodeSelecter: unknown field, did you mean \"nodeSelector\"?"},
    {STEPS(POD(", topologySpreadConstraints: [{maxSkew: 1.5}]")),
     "pods[0].spec.topologySpreadConstraints[0].maxSkew: must be a whole number of 32 bits, "
     "not 1.5"},
    {STEPS(POD("") "," POD(", tolerations: [{operater: Exists}]")),
     "pods[1].spec.tolerations[0].operater: unknown field, did you mean \"operator\"?"},
};

static void what_is_misspelt_is_refused_with_its_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(misspelt) / sizeof(misspelt[0]); i++)
        expect(misspelt[i].text, misspelt[i].error);
}

/* What the API server would have filled in decides: it is asked for rather than left out. */
static void what_would_have_been_filled_in_is_asked_for(void **state)
{
    (void)state;
    static const char limits[] = "pods: [{metadata: {name: p}, spec: {containers: [{name: c}], "
                                 "resources: {limits: {cpu: 1}}}}]\n";
    char text[512];
    expect(limits, "pods[0].spec.resources.requests.cpu: is missing, and the API server would fill "
                   "it in: write it, or set options.noAPIDefaults");
    snprintf(text, sizeof(text), "%soptions: {noAPIDefaults: true}\n", limits);
    expect(text, "");
    snprintf(text, sizeof(text), "%sfeatureGates: {PodLevelResources: false}\n", limits);
    expect(text, ""); /* an API server without it fills in nothing */
    expect("objects: [{kind: RuntimeClass, metadata: {name: vm}, handler: vm, overhead: {podFixed: "
           "{cpu: 1}}}]\n" STEPS(POD(", runtimeClassName: vm")),
           "pods[0].spec.overhead: is missing, and the API server would copy it from RuntimeClass "
           "vm: write it, or set options.noAPIDefaults");
}

static void what_the_api_server_takes_is_taken(void **state)
{
    (void)state;
    expect("objects: {kind: List, apiVersion: v1, items: [" NODE(
               "") ", {kind: List, items: [{kind: "
                   "Node, metadata: {name: m}}]}]}\n" STEPS(POD("")),
           "");
    expect("objects:\npods: {kind: List, items: [" POD("") "]}\n", "");
    expect(OBJECTS(NODE(", status: {allocatable: {cpu: 4, memory: 1e9, pods: '110'}, conditions: "
                        "null}")),
           "");
    expect(
        OBJECTS("{kind: ResourceSlice, metadata: {name: s, creationTimestamp: null}, spec: "
                "{driver: d, nodeName: n1, pool: {name: p, generation: 1, resourceSliceCount: 1}, "
                "devices: [{name: g, attributes: {model: {string: x}, cores: {int: 7}}, "
                "capacity: {memory: {value: 80Gi}}}]}}"),
        "");
    expect(
        OBJECTS("{kind: PodGroup, apiVersion: scheduling.x-k8s.io/v1alpha1, metadata: {name: g}, "
                "spec: {minMember: 3}}, {kind: PodGroup, apiVersion: "
                "scheduling.k8s.io/v1alpha2, metadata: {name: g}, spec: {schedulingPolicy: {gang: "
                "{minCount: 3}}}}"),
        "");
}

/* Each release has fields and versions of its own. */
static void an_object_is_read_as_its_release_has_it(void **state)
{
    (void)state;
    static const struct {
        const char *text, *in_36, *in_37;
    } cases[] = {
        {OBJECTS("{kind: CSINode, metadata: {name: n1}, spec: {drivers: []}, status: {}}"),
         "objects[0].status: unknown field", ""},
        {OBJECTS("{kind: PodGroup, apiVersion: scheduling.k8s.io/v1alpha2, metadata: {name: g}, "
                 "spec: {disruptionMode: Pod}}"),
         "",
         "objects[0].apiVersion: must be scheduling.sigs.k8s.io/v1alpha1, not "
         "scheduling.k8s.io/v1alpha2"},
        {OBJECTS("{kind: PodGroup, apiVersion: scheduling.k8s.io/v1beta1, metadata: {name: g}, "
                 "spec: {disruptionMode: {all: {}}}}"),
         "objects[0].apiVersion: must be scheduling.sigs.k8s.io/v1alpha1, not "
         "scheduling.k8s.io/v1beta1",
         ""},
        {OBJECTS("{kind: PodGroup, metadata: {name: g}, spec: {disruptionMode: Pod}}"), "",
         "objects[0].spec.disruptionMode: must be an object, not a string"},
        {"pods: [{op: delete, kind: CSIDriver, name: d}]\n", "", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_as(36, cases[i].text, cases[i].in_36);
        expect_as(37, cases[i].text, cases[i].in_37);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_misspelt_is_refused_with_its_path),
        cmocka_unit_test(what_would_have_been_filled_in_is_asked_for),
        cmocka_unit_test(what_the_api_server_takes_is_taken),
        cmocka_unit_test(an_object_is_read_as_its_release_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
