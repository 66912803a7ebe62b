/* test_suggest: what berth suggests for a node that a filter turned away: the words, and that the
 * filter takes the pod once it is done, and not with one less. */
#include "ctl/explain/suggest.h"

#include "proto/kube/config/config_file.h"
#include "proto/kube/objects/objects.h"
#include "proto/kube/objects/requests.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>
#include <string.h>

/* A world of the default profile, or of this configuration. */
struct trial {
    struct world *w;
    struct scheduler_config config;
    struct arena a;
};

static struct kube_json *parse(struct trial *t, struct str quoted)
{
    struct str error = {0}, text = arena_copy(&t->a, quoted);
    char *at = arena_take(&t->a, text.len + 1);
    memcpy(at, text.at, text.len);
    for (uint32_t i = 0; i < text.len; i++)
        if (at[i] == '\'')
            at[i] = '"';
    struct kube_json *document = kube_json_parse((struct str){at, text.len}, &error, &t->a);
    if (document == NULL)
        fail_msg("%.*s: %s", STR_ARG(error), at);
    return document;
}

static void start(struct trial *t, const char *config)
{
    struct str error = {0};
    struct features features = release_features(36);
    *t = (struct trial){.w = NULL};
    bool fine = config == NULL
                    ? scheduler_config_load(NULL, features, &t->config, &t->a, &error)
                    : scheduler_config_parse(str_of(config), features, &t->config, &t->a, &error);
    if (!fine)
        fail_msg("%.*s", STR_ARG(error));
    t->w = world_new(t->config.profiles.at, t->config.profiles.count, 2);
}

static void stop(struct trial *t)
{
    world_free(&t->w);
    arena_free(&t->a);
}

/* Node and pod texts have ' for ". */
static void node(struct trial *t, const char *name, const char *labels, const char *more)
{
    struct str error = {0};
    struct node n;
    struct kube_json *document =
        parse(t, arena_print(&t->a, "{'metadata':{'name':'%s','labels':{%s}}%s%s}", name, labels,
                             more[0] == '\0' ? "" : ",", more));
    if (!kube_object_node(document, &n, &t->a, &error))
        fail_msg("%.*s", STR_ARG(error));
    if (n.allocatable.count == 0) {
        static struct quantity plenty[] = {
            {{"cpu", 3}, 64000}, {{"memory", 6}, INT64_C(1) << 40}, {{"pods", 4}, 110}};
        n.allocatable.count = 3;
        n.allocatable.at = plenty;
    }
    world_node_set(t->w, &n);
    kube_json_free(&document);
}

static void pod(struct trial *t, const char *name, const char *labels, const char *spec)
{
    struct str error = {0};
    struct pod p, counted;
    struct kube_json *document =
        parse(t, arena_print(&t->a,
                             "{'metadata':{'name':'%s','namespace':'default','uid':'%s',"
                             "'labels':{%s}},'spec':{'schedulerName':'default-scheduler'%s%s}}",
                             name, name, labels, spec[0] == '\0' ? "" : ",", spec));
    if (!kube_object_pod(document, &p, &t->a, &error))
        fail_msg("%.*s", STR_ARG(error));
    counted = requests_as_of(&p, &t->config.profiles.at[0].features);
    world_pod_set(t->w, &counted);
    kube_json_free(&document);
}

static void pod_gone(struct trial *t, const char *name)
{
    assert_true(world_pod_gone(t->w, STR_LITERAL("default"), str_of(name)));
}

static void space(struct trial *t, const char *name, const char *key, const char *value)
{
    struct label label = {str_of(key), str_of(value)};
    struct message m = {.type = MSG_namespace_set};
    m.namespace_set.name = str_of(name);
    m.namespace_set.labels.count = 1;
    m.namespace_set.labels.at = &label;
    world_take(t->w, &m);
}

/* What the filter says of pod p on the node; NULL: it takes it. */
static const struct rejection *rejection_of(struct trial *t, const char *on, const char *plugin)
{
    struct pod p;
    uint32_t count;
    assert_true(world_pod(t->w, STR_LITERAL("default"), STR_LITERAL("p"), &p, &t->a));
    world_decide(t->w, &p);
    const struct verdict *verdicts = world_verdicts(t->w, &count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; str_is(verdicts[i].node, on) && k < verdicts[i].others.count; k++)
            if (str_is(verdicts[i].others.at[k].plugin, plugin))
                return &verdicts[i].others.at[k];
    return NULL;
}

static bool takes(struct trial *t, const char *on, const char *plugin)
{
    return rejection_of(t, on, plugin) == NULL;
}

static struct str line_of(struct trial *t, const char *on, const char *plugin)
{
    const struct rejection *why = rejection_of(t, on, plugin);
    struct pod p;
    struct node n;
    if (why == NULL)
        fail_msg("%s takes the pod on %s", plugin, on);
    assert_true(world_pod(t->w, STR_LITERAL("default"), STR_LITERAL("p"), &p, &t->a));
    assert_true(world_node(t->w, str_of(on), &n, &t->a));
    return suggest(t->w, &p, &n, why, &t->a);
}

static void assert_line(struct trial *t, const char *plugin, const char *wanted)
{
    struct str line = line_of(t, "n1", plugin);
    if (!str_is(line, wanted))
        fail_msg("%.*s\nis not\n%s", STR_ARG(line), wanted);
}

#define ASKS(requests)       "'containers':[{'name':'c','resources':{'requests':{" requests "}}}]"
#define ON(name)             "'nodeName':'" name "'"
#define ALLOCATABLE(amounts) "'status':{'allocatable':{'pods':'9'," amounts "}}"

/* ---- NodeResourcesFit ---- */

#define FIT "NodeResourcesFit"

static void what_is_short_of_a_resource_is_enough(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "", ALLOCATABLE("'cpu':'4','memory':'8Gi'"));
    pod(&t, "old", "", ON("n1") "," ASKS("'cpu':'3','memory':'7Gi'"));
    pod(&t, "p", "", ASKS("'cpu':'1500m','memory':'2560Mi'"));
    assert_line(&t, FIT, "500m CPU more; 1.5Gi memory more");
    node(&t, "n1", "", ALLOCATABLE("'cpu':'4499m','memory':'9728Mi'"));
    assert_line(&t, FIT, "1m CPU more");
    node(&t, "n1", "", ALLOCATABLE("'cpu':'4500m','memory':'10200547327'"));
    assert_line(&t, FIT, "1 byte memory more");
    node(&t, "n1", "", ALLOCATABLE("'cpu':'4500m','memory':'9728Mi'"));
    assert_true(takes(&t, "n1", FIT));
    stop(&t);
}

static void every_kind_of_resource_has_its_unit(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "",
         ALLOCATABLE("'cpu':'4','memory':'8Gi','hugepages-2Mi':'4Mi','example.com/gpu':'4'"));
    pod(&t, "old", "", ON("n1") "," ASKS("'cpu':'2','example.com/gpu':'3','hugepages-2Mi':'2Mi'"));
    pod(&t, "p", "",
        ASKS("'cpu':'3','ephemeral-storage':'1000','example.com/gpu':'3','hugepages-2Mi':'4Mi'"));
    assert_line(
        &t, FIT,
        "1 CPU more; 1000 bytes ephemeral-storage more (the node is too small by 1000 bytes "
        "ephemeral-storage even when empty); 2 example.com/gpu more; 2Mi hugepages-2Mi "
        "more");
    node(&t, "n1", "",
         ALLOCATABLE("'cpu':'5','memory':'8Gi','hugepages-2Mi':'6Mi','example.com/gpu':'5',"
                     "'ephemeral-storage':'1000'"));
    assert_line(&t, FIT, "1 example.com/gpu more");
    node(&t, "n1", "",
         ALLOCATABLE("'cpu':'5','memory':'8Gi','hugepages-2Mi':'6Mi','example.com/gpu':'6',"
                     "'ephemeral-storage':'1000'"));
    assert_true(takes(&t, "n1", FIT));
    stop(&t);
}

static void a_node_that_is_too_small_even_when_empty_is_called_so(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "", ALLOCATABLE("'cpu':'4'"));
    pod(&t, "old", "", ON("n1") "," ASKS("'cpu':'1'"));
    pod(&t, "p", "", ASKS("'cpu':'5250m'"));
    assert_line(&t, FIT, "2250m CPU more (the node is too small by 1250m CPU even when empty)");
    pod_gone(&t, "old");
    assert_line(&t, FIT, "1250m CPU more (the node is too small by 1250m CPU even when empty)");
    node(&t, "n1", "", ALLOCATABLE("'cpu':'5250m'"));
    assert_true(takes(&t, "n1", FIT));
    stop(&t);
}

static void a_full_node_needs_pods_to_go(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "", "'status':{'allocatable':{'cpu':'4','pods':'1'}}");
    pod(&t, "a", "", ON("n1"));
    pod(&t, "b", "", ON("n1"));
    pod(&t, "p", "", "");
    assert_line(&t, FIT, "2 pods fewer on the node");
    pod_gone(&t, "a");
    assert_line(&t, FIT, "1 pod fewer on the node");
    pod_gone(&t, "b");
    assert_true(takes(&t, "n1", FIT));
    node(&t, "n1", "", "'status':{'allocatable':{'cpu':'4'}}");
    assert_line(&t, FIT, "room for 1 pod more on the node");
    node(&t, "n1", "", "'status':{'allocatable':{'cpu':'4','pods':'1'}}");
    assert_true(takes(&t, "n1", FIT));
    stop(&t);
}

/* ---- the node's taints, its name, its features ---- */

static void a_cordoned_node_is_uncordoned_or_tolerated(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "", "'spec':{'unschedulable':true}");
    pod(&t, "p", "", "");
    assert_line(&t, "NodeUnschedulable",
                "uncordon the node, or tolerate node.kubernetes.io/unschedulable:NoSchedule");
    pod(&t, "p", "",
        "'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':'Exists',"
        "'effect':'NoSchedule'}]");
    assert_true(takes(&t, "n1", "NodeUnschedulable"));
    pod(&t, "p", "", "");
    node(&t, "n1", "", "");
    assert_true(takes(&t, "n1", "NodeUnschedulable"));
    stop(&t);
}

#define TAINT(key, value, effect) "{'key':'" key "','value':'" value "','effect':'" effect "'}"
#define TAINTS(list)              "'spec':{'taints':[" list "]}"
#define TOLERATES(list)           "'tolerations':[" list "]"

static void every_taint_that_is_not_tolerated_is_named(void **state)
{
    (void)state;
    static const char filter[] = "TaintToleration";
    struct trial t;
    start(&t, NULL);
    node(
        &t, "n1", "",
        TAINTS(TAINT("team", "a", "NoSchedule") "," TAINT("soft", "", "PreferNoSchedule") "," TAINT(
            "gpu", "", "NoExecute") "," TAINT("fine", "", "NoSchedule")));
    pod(&t, "p", "", TOLERATES(TAINT("fine", "", "NoSchedule")));
    assert_line(&t, filter, "tolerate team=a:NoSchedule and gpu:NoExecute, or take the taints off");
    pod(&t, "p", "",
        TOLERATES(TAINT("fine", "", "NoSchedule") "," TAINT("team", "a", "NoSchedule")));
    assert_line(&t, filter, "tolerate gpu:NoExecute, or take the taint off");
    pod(&t, "p", "",
        TOLERATES(TAINT("fine", "", "NoSchedule") "," TAINT("team", "a", "NoSchedule") "," TAINT(
            "gpu", "", "NoExecute")));
    assert_true(takes(&t, "n1", filter));
    pod(&t, "p", "", "");
    node(&t, "n1", "", TAINTS(TAINT("soft", "", "PreferNoSchedule")));
    assert_true(takes(&t, "n1", filter));
    stop(&t);
}

static void a_pod_that_names_another_node_is_told_so(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "", "");
    node(&t, "n2", "", "");
    pod(&t, "p", "", ON("n2"));
    assert_line(&t, "NodeName", "spec.nodeName n1 in place of n2, or none");
    stop(&t);
    start(&t, NULL);
    node(&t, "n1", "", "");
    pod(&t, "p", "", "");
    assert_true(takes(&t, "n1", "NodeName"));
    stop(&t);
}

/* ---- NodePorts ---- */

#define PORT(port, more) "{'hostPort':" port ",'containerPort':1" more "}"
#define PORTS(list)      "'containers':[{'name':'c','ports':[" list "]}]"

static void who_has_a_host_port_is_named(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "", "");
    pod(&t, "any", "", ON("n1") "," PORTS(PORT("80", "")));
    pod(&t, "udp", "", ON("n1") "," PORTS(PORT("53", ",'protocol':'UDP'")));
    pod(&t, "one", "", ON("n1") "," PORTS(PORT("90", ",'hostIP':'10.0.0.1'")));
    pod(&t, "two", "", ON("n1") "," PORTS(PORT("90", ",'hostIP':'10.0.0.2'")));
    pod(&t, "p", "",
        PORTS(PORT("80", ",'hostIP':'10.0.0.9'") "," PORT("53", "") "," PORT("90", "")));
    assert_line(&t, "NodePorts",
                "host port 80/TCP of 10.0.0.9 free, which pod default/any has; host port 90/TCP of "
                "0.0.0.0 free, which pods default/one and default/two have");
    pod_gone(&t, "any");
    pod_gone(&t, "one");
    assert_line(&t, "NodePorts", "host port 90/TCP of 0.0.0.0 free, which pod default/two has");
    pod_gone(&t, "two");
    assert_true(takes(&t, "n1", "NodePorts"));
    stop(&t);
}

/* ---- NodeAffinity ---- */

#define AFFINITY "NodeAffinity"
#define NODE_TERMS(list)                                                                           \
    "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"               \
    "'nodeSelectorTerms':[" list "]}}}"
#define TERM(list)              "{'matchExpressions':[" list "]}"
#define IS(key, operator, list) "{'key':'" key "','operator':'" operator"','values':[" list "]}"

static void labels_of_the_node_selector_are_named(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "'disktype':'hdd','zone':'a'", "");
    pod(&t, "p", "", "'nodeSelector':{'disktype':'ssd','zone':'a','gpu':''}");
    assert_line(&t, AFFINITY,
                "label disktype=ssd on the node in place of hdd; label gpu= on the node");
    node(&t, "n1", "'disktype':'ssd','zone':'a'", "");
    assert_line(&t, AFFINITY, "label gpu= on the node");
    node(&t, "n1", "'disktype':'ssd','zone':'a','gpu':''", "");
    assert_true(takes(&t, "n1", AFFINITY));
    stop(&t);
}

static void the_term_that_lacks_the_least_is_told(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "'cores':'4','old':'','zone':'c'", "");
    pod(&t, "p", "",
        NODE_TERMS(TERM(IS("x", "Exists", "") "," IS("y", "Exists", "")) "," TERM(
            IS("zone", "In", "'a','b','d'") "," IS("zone", "NotIn", "'b'")) "," TERM("")));
    assert_line(&t, AFFINITY, "label zone=a or d on the node in place of c");
    node(&t, "n1", "'zone':'b'", "");
    assert_false(takes(&t, "n1", AFFINITY));
    node(&t, "n1", "'zone':'d'", "");
    assert_true(takes(&t, "n1", AFFINITY));
    stop(&t);
}

static void every_operator_has_its_words(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "'cores':'4','few':'4','old':'','zone':'c'", "");
    pod(&t, "p", "",
        NODE_TERMS(TERM(IS("cores", "Gt", "'4'") "," IS("few", "Lt", "'4'") "," IS(
            "old", "DoesNotExist", "") "," IS("new", "Exists", "") "," IS("zone", "NotIn",
                                                                          "'c','d'"))));
    assert_line(&t, AFFINITY,
                "label cores above 4 on the node; label few below 4 on the node; no label old on "
                "the node; label new on the node; label zone other than c or d on the node");
    node(&t, "n1", "'cores':'5','few':'3','new':''", "");
    assert_true(takes(&t, "n1", AFFINITY));
    stop(&t);
}

static void what_no_label_can_mend_is_told_otherwise(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "", "");
    node(&t, "n2", "", "");
    pod(&t, "p", "",
        "'nodeSelector':{'a':'1'}," NODE_TERMS(
            "{'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['n1']}]}"));
    assert_line(&t, AFFINITY,
                "label a=1 on the node; node affinity (metadata.name) that takes in n1");
    pod(&t, "p", "", "'nodeSelector':{'a':'1'}," NODE_TERMS(TERM(IS("a", "In", "'2'"))));
    assert_line(&t, AFFINITY, "a node selector and a node affinity that some node can meet");
    stop(&t);
}

static void affinity_of_the_profile_counts_as_well(void **state)
{
    (void)state;
    struct trial t;
    start(&t, "apiVersion: kubescheduler.config.k8s.io/v1\n"
              "kind: KubeSchedulerConfiguration\n"
              "profiles:\n"
              "- schedulerName: default-scheduler\n"
              "  pluginConfig:\n"
              "  - name: NodeAffinity\n"
              "    args:\n"
              "      addedAffinity:\n"
              "        requiredDuringSchedulingIgnoredDuringExecution:\n"
              "          nodeSelectorTerms:\n"
              "          - matchExpressions: [{key: pool, operator: In, values: [x]}]\n");
    node(&t, "n1", "", "");
    pod(&t, "p", "", "'nodeSelector':{'a':'1'}");
    assert_line(&t, AFFINITY, "label a=1 on the node; label pool=x on the node");
    node(&t, "n1", "'a':'1','pool':'x'", "");
    assert_true(takes(&t, "n1", AFFINITY));
    stop(&t);
}

/* ---- PodTopologySpread ---- */

#define SPREAD "PodTopologySpread"
#define EVENLY(skew, key, more)                                                                    \
    "{'maxSkew':" skew ",'topologyKey':'" key "','whenUnsatisfiable':'DoNotSchedule',"             \
    "'labelSelector':{'matchLabels':{'app':'web'}}" more "}"
#define SPREADS(list) "'topologySpreadConstraints':[" list "]"
#define WEB           "'app':'web'"

static void pods_that_are_too_many_in_a_domain_are_counted(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "'zone':'a'", "");
    node(&t, "n2", "'zone':'b'", "");
    pod(&t, "a1", WEB, ON("n1"));
    pod(&t, "a2", WEB, ON("n1"));
    pod(&t, "a3", WEB, ON("n1"));
    pod(&t, "b1", WEB, ON("n2"));
    pod(&t, "x", "'app':'other'", ON("n1"));
    pod(&t, "p", WEB, SPREADS(EVENLY("1", "zone", "")));
    assert_line(&t, SPREAD, "2 pods matching app=web fewer in zone=a");
    pod_gone(&t, "a1");
    assert_line(&t, SPREAD, "1 pod matching app=web fewer in zone=a");
    pod_gone(&t, "a2");
    assert_true(takes(&t, "n1", SPREAD));
    pod(&t, "p", WEB, SPREADS(EVENLY("1", "zone", ",'minDomains':3")));
    assert_line(&t, SPREAD, "1 pod matching app=web fewer in zone=a");
    pod_gone(&t, "a3");
    assert_true(takes(&t, "n1", SPREAD));
    stop(&t);
}

static void a_node_without_the_label_is_told_one_that_suits(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "", "");
    node(&t, "n2", "'zone':'a'", "");
    node(&t, "n3", "'zone':'b'", "");
    pod(&t, "a1", WEB, ON("n2"));
    pod(&t, "p", WEB, SPREADS(EVENLY("1", "zone", "")));
    assert_line(&t, SPREAD, "label zone on the node, such as zone=b");
    node(&t, "n1", "'zone':'a'", "");
    assert_line(&t, SPREAD, "1 pod matching app=web fewer in zone=a");
    node(&t, "n1", "'zone':'b'", "");
    assert_true(takes(&t, "n1", SPREAD));
    pod(&t, "here", WEB, ON("n1"));
    pod(&t, "here2", WEB, ON("n1"));
    node(&t, "n1", "", "");
    assert_line(&t, SPREAD,
                "label zone on the node, with a value of its own; 2 pods matching app=web fewer on "
                "the node");
    pod_gone(&t, "here");
    node(&t, "n1", "'zone':'c'", "");
    assert_false(takes(&t, "n1", SPREAD));
    pod_gone(&t, "here2");
    assert_true(takes(&t, "n1", SPREAD));
    stop(&t);
}

static void nodes_that_a_constraint_leaves_out_do_not_count(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "'zone':'a','pool':'x'", "");
    node(&t, "n2", "'zone':'b'", "");
    node(&t, "n3", "'zone':'c','pool':'x'", TAINTS(TAINT("k", "", "NoSchedule")));
    pod(&t, "a1", WEB, ON("n1"));
    pod(&t, "a2", WEB, ON("n1"));
    pod(&t, "c1", WEB, ON("n3"));
    pod(&t, "p", WEB, "'nodeSelector':{'pool':'x'}," SPREADS(EVENLY("1", "zone", "")));
    assert_line(&t, SPREAD, "1 pod matching app=web fewer in zone=a");
    pod(&t, "p", WEB,
        "'nodeSelector':{'pool':'x'}," SPREADS(EVENLY("1", "zone", ",'nodeTaintsPolicy':'Honor'")));
    assert_true(takes(&t, "n1", SPREAD));
    pod(&t, "p", WEB,
        "'nodeSelector':{'pool':'x'}," SPREADS(
            EVENLY("1", "zone", ",'nodeAffinityPolicy':'Ignore','matchLabelKeys':['app']")));
    assert_line(&t, SPREAD, "2 pods matching app=web fewer in zone=a");
    stop(&t);
}

/* ---- InterPodAffinity ---- */

#define NEAR "InterPodAffinity"
#define WANTS(kind, list)                                                                          \
    "'affinity':{'" kind "':{'requiredDuringSchedulingIgnoredDuringExecution':[" list "]}}"
#define NEAR_TO(key, label, value, more)                                                           \
    "{'topologyKey':'" key "','labelSelector':{'matchLabels':{'" label "':'" value "'}}" more "}"

static void a_pod_that_is_missing_is_described(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "'zone':'a'", "");
    node(&t, "n2", "'zone':'b'", "");
    pod(&t, "db", "'app':'db'", ON("n2"));
    pod(&t, "p", "",
        WANTS("podAffinity",
              NEAR_TO("zone", "app", "db", "") "," NEAR_TO("zone", "tier", "x", "")));
    assert_line(&t, NEAR, "a pod in zone=a that matches app=db and tier=x");
    pod(&t, "half", "'app':'db'", ON("n1"));
    assert_false(takes(&t, "n1", NEAR));
    pod(&t, "whole", "'app':'db','tier':'x'", ON("n1"));
    assert_true(takes(&t, "n1", NEAR));
    stop(&t);
}

static void a_node_without_the_label_is_told_where_such_pods_are(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "", "");
    node(&t, "n2", "'zone':'b'", "");
    pod(&t, "p", "'app':'db'", WANTS("podAffinity", NEAR_TO("zone", "app", "db", "")));
    assert_line(&t, NEAR, "label zone on the node"); /* the first of its kind */
    node(&t, "n1", "'zone':'new'", "");
    assert_true(takes(&t, "n1", NEAR));
    node(&t, "n1", "", "");
    pod(&t, "p", "", WANTS("podAffinity", NEAR_TO("zone", "app", "db", "")));
    assert_line(&t, NEAR, "label zone on the node; a pod on the node that matches app=db");
    pod(&t, "there", "'app':'db'", ON("n1"));
    assert_line(&t, NEAR, "label zone on the node");
    node(&t, "n1", "'zone':'new'", "");
    assert_true(takes(&t, "n1", NEAR));
    node(&t, "n1", "", "");
    pod_gone(&t, "there");
    pod(&t, "db", "'app':'db'", ON("n2"));
    assert_line(&t, NEAR, "label zone on the node, such as zone=b");
    node(&t, "n1", "'zone':'c'", "");
    assert_line(&t, NEAR, "a pod in zone=c that matches app=db");
    node(&t, "n1", "'zone':'b'", "");
    assert_true(takes(&t, "n1", NEAR));
    stop(&t);
}

static void namespaces_of_a_term_are_told_where_they_are_others(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "'zone':'a'", "");
    space(&t, "blue", "team", "b");
    pod(&t, "p", "", WANTS("podAffinity", NEAR_TO("zone", "app", "db", ",'namespaces':['x','y']")));
    assert_line(&t, NEAR, "a pod in zone=a that matches app=db in namespace x or y");
    pod(&t, "p", "", WANTS("podAffinity", NEAR_TO("zone", "app", "db", ",'namespaceSelector':{}")));
    assert_line(&t, NEAR, "a pod in zone=a that matches app=db in any namespace");
    pod(&t, "p", "",
        WANTS("podAffinity",
              NEAR_TO("zone", "app", "db", ",'namespaceSelector':{'matchLabels':{'team':'b'}}")));
    assert_line(&t, NEAR, "a pod in zone=a that matches app=db in namespace blue");
    pod(&t, "p", "",
        WANTS("podAffinity",
              NEAR_TO("zone", "app", "db", ",'namespaceSelector':{'matchLabels':{'team':'c'}}")));
    assert_line(&t, NEAR,
                "a pod in zone=a that matches app=db in a namespace that its namespaceSelector "
                "matches");
    stop(&t);
}

static void pods_in_the_way_are_named(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "'zone':'a','host':'1'", "");
    node(&t, "n2", "'zone':'a','host':'2'", "");
    node(&t, "n3", "'zone':'b','host':'3'", "");
    pod(&t, "w1", WEB, ON("n1"));
    pod(&t, "w2", WEB, ON("n2"));
    pod(&t, "w3", WEB, ON("n3"));
    pod(&t, "loner", "", ON("n1") "," WANTS("podAntiAffinity", NEAR_TO("host", "app", "web", "")));
    pod(&t, "p", WEB,
        WANTS("podAntiAffinity",
              NEAR_TO("zone", "app", "web", "") "," NEAR_TO("zone", "app", "web", "")));
    assert_line(&t, NEAR,
                "pods default/w1 and default/w2 gone from zone=a; pod default/loner gone from "
                "host=1, whose anti-affinity keeps this one away");
    pod_gone(&t, "w1");
    pod_gone(&t, "loner");
    assert_line(&t, NEAR, "pod default/w2 gone from zone=a");
    pod_gone(&t, "w2");
    assert_true(takes(&t, "n1", NEAR));
    stop(&t);
}

static void of_many_pods_in_the_way_some_are_named(void **state)
{
    (void)state;
    struct trial t;
    start(&t, NULL);
    node(&t, "n1", "'zone':'a'", "");
    pod(&t, "p", WEB, WANTS("podAntiAffinity", NEAR_TO("zone", "app", "web", "")));
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof(name), "w%d", i);
        pod(&t, name, WEB, ON("n1"));
    }
    struct str line = line_of(&t, "n1", NEAR);
    assert_non_null(strstr(line.at, " and 2 more gone from zone=a"));
    stop(&t);
}

static void a_filter_that_is_not_known_gives_nothing(void **state)
{
    (void)state;
    struct trial t;
    struct pod p;
    struct node n;
    const struct rejection why = {.plugin = STR_LITERAL("VolumeBinding")};
    start(&t, NULL);
    node(&t, "n1", "", "");
    pod(&t, "p", "", "");
    assert_true(world_pod(t.w, STR_LITERAL("default"), STR_LITERAL("p"), &p, &t.a));
    assert_true(world_node(t.w, STR_LITERAL("n1"), &n, &t.a));
    assert_int_equal(suggest(t.w, &p, &n, &why, &t.a).len, 0);
    stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_short_of_a_resource_is_enough),
        cmocka_unit_test(every_kind_of_resource_has_its_unit),
        cmocka_unit_test(a_node_that_is_too_small_even_when_empty_is_called_so),
        cmocka_unit_test(a_full_node_needs_pods_to_go),
        cmocka_unit_test(a_cordoned_node_is_uncordoned_or_tolerated),
        cmocka_unit_test(every_taint_that_is_not_tolerated_is_named),
        cmocka_unit_test(a_pod_that_names_another_node_is_told_so),
        cmocka_unit_test(who_has_a_host_port_is_named),
        cmocka_unit_test(labels_of_the_node_selector_are_named),
        cmocka_unit_test(the_term_that_lacks_the_least_is_told),
        cmocka_unit_test(every_operator_has_its_words),
        cmocka_unit_test(what_no_label_can_mend_is_told_otherwise),
        cmocka_unit_test(affinity_of_the_profile_counts_as_well),
        cmocka_unit_test(pods_that_are_too_many_in_a_domain_are_counted),
        cmocka_unit_test(a_node_without_the_label_is_told_one_that_suits),
        cmocka_unit_test(nodes_that_a_constraint_leaves_out_do_not_count),
        cmocka_unit_test(a_pod_that_is_missing_is_described),
        cmocka_unit_test(a_node_without_the_label_is_told_where_such_pods_are),
        cmocka_unit_test(namespaces_of_a_term_are_told_where_they_are_others),
        cmocka_unit_test(pods_in_the_way_are_named),
        cmocka_unit_test(of_many_pods_in_the_way_some_are_named),
        cmocka_unit_test(a_filter_that_is_not_known_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
