/* InterPodAffinity: who may be near whom, as the pod that comes and as the pods that are there see
 * it; what one worker cannot know; nominated pods, victims, weights, and selectors in error. */
#include "tests/unit/scheduler/cluster.h"

#define AFFINITY "InterPodAffinity UAU: node(s) didn't match pod affinity rules"
#define ANTI     "InterPodAffinity U: node(s) didn't match pod anti-affinity rules"
#define EXISTING "InterPodAffinity U: node(s) didn't satisfy existing pods anti-affinity rules"

static int setup(void **state)
{
    cluster_setup(state);
    struct cluster *c = *state;
    c->profile.pre_filter = strs_of(&c->arena, "NodeResourcesFit InterPodAffinity");
    c->profile.filter = strs_of(&c->arena, "NodeResourcesFit InterPodAffinity");
    c->profile.pre_score = strs_of(&c->arena, "InterPodAffinity");
    c->profile.score.count = 0;
    *APPEND(&c->arena, c->profile.score) =
        (struct score_plugin){STR_LITERAL("InterPodAffinity"), 2};
    c->profile.hard_affinity_weight = 1;
    return 0;
}

#define AFFINITY_TEST(f) cmocka_unit_test_setup_teardown(f, setup, cluster_teardown)

/* ---- selectors, terms, pods ---- */

static struct selector wants_label(struct cluster *c, const char *key, const char *value)
{
    struct selector s = {.present = true};
    *APPEND(&c->arena, s.labels) = (struct label){str_of(key), str_of(value)};
    return s;
}

static struct selector wants(struct cluster *c, const char *key, const char *operation,
                             const char *values)
{
    struct selector s = {.present = true};
    *APPEND(&c->arena, s.expressions) =
        (struct requirement){str_of(key), str_of(operation), strs_of(&c->arena, values)};
    return s;
}

/* As the API object is read: a term that names no namespace is about the pod's own. */
static struct affinity_term term(struct cluster *c, struct selector selector, const char *key)
{
    return (struct affinity_term){.selector = selector,
                                  .namespaces = strs_of(&c->arena, "default"),
                                  .topology_key = str_of(key)};
}

static struct affinity_term app(struct cluster *c, const char *name, const char *key)
{
    return term(c, wants_label(c, "app", name), key);
}

static struct affinity_term weighing(struct affinity_term t, int64_t weight)
{
    t.weight = weight;
    return t;
}

static struct pod *labelled(struct cluster *c, const char *name, const char *value)
{
    struct pod *p = make_pod(c, name, 0, 0);
    *APPEND(&c->arena, p->labels) = (struct label){STR_LITERAL("app"), str_of(value)};
    return p;
}

static struct node *zoned(struct cluster *c, const char *name, const char *zone)
{
    struct node *n = make_node(c, name, 1000, GIB);
    add_label(c, n, "host", name);
    if (zone[0] != 0)
        add_label(c, n, "zone", zone);
    return n;
}

/* n1 and n2 in zone a, n3 in zone b, n4 in none. */
static void four_nodes(struct cluster *c)
{
    begin(c);
    put_node(c, zoned(c, "n1", "a"));
    put_node(c, zoned(c, "n2", "a"));
    put_node(c, zoned(c, "n3", "b"));
    put_node(c, zoned(c, "n4", ""));
}

static void assert_rulings(struct cluster *c, const struct pod *p, const char *const *rulings)
{
    static const char *const nodes[] = {"n1", "n2", "n3", "n4"};
    for (int i = 0; i < 4; i++)
        assert_string_equal(ruling_on(c, p, nodes[i]), rulings[i]);
}

#define RULINGS(c, p, ...) assert_rulings((c), (p), (const char *const[]){__VA_ARGS__})

static void add_namespace(struct cluster *c, const char *name, const char *key, const char *value)
{
    struct label l = {str_of(key), str_of(value)};
    const struct message m = {.type = MSG_namespace_set,
                              .namespace_set = {.name = str_of(name), .labels = {key[0] != 0, &l}}};
    catalog_take(c->catalog, &m);
}

/* ---- filters: the pod's own terms ---- */

static void affinity_wants_a_domain_with_such_a_pod(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    put_pod(c, labelled(c, "db", "db"), "n1");
    put_pod(c, labelled(c, "lost", "db"), "n4"); /* in no zone: it counts nowhere */
    struct pod *p = make_pod(c, "p", 0, 0);
    *APPEND(&c->arena, p->affinity_required) = app(c, "db", "zone");
    RULINGS(c, p, "", "", AFFINITY, AFFINITY);
    p->affinity_required.at[0].topology_key = STR_LITERAL("host");
    RULINGS(c, p, "", AFFINITY, AFFINITY, "");
    p->affinity_required.at[0].topology_key = STR_LITERAL("rack");
    RULINGS(c, p, AFFINITY, AFFINITY, AFFINITY, AFFINITY);
    p->affinity_required.at[0].topology_key = STR_LITERAL("zone");
    p->affinity_required.at[0].selector.present = false; /* no selector wants nobody */
    RULINGS(c, p, AFFINITY, AFFINITY, AFFINITY, AFFINITY);
}

static void one_pod_must_satisfy_all_affinity_terms(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *both = labelled(c, "both", "db"), *p = make_pod(c, "p", 0, 0);
    *APPEND(&c->arena, both->labels) = (struct label){STR_LITERAL("tier"), STR_LITERAL("back")};
    put_pod(c, labelled(c, "one", "db"), "n1");
    put_pod(c, both, "n3");
    *APPEND(&c->arena, p->affinity_required) = app(c, "db", "zone");
    *APPEND(&c->arena, p->affinity_required) =
        term(c, wants(c, "tier", "In", "back front"), "host");
    RULINGS(c, p, AFFINITY, AFFINITY, "", AFFINITY);
}

static void the_first_of_its_kind_may_go_where_all_keys_are(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *p = labelled(c, "p", "web"), *other = labelled(c, "q", "other");
    *APPEND(&c->arena, p->affinity_required) = app(c, "web", "zone");
    RULINGS(c, p, "", "", "", AFFINITY);
    put_pod(c, labelled(c, "lost", "web"), "n4"); /* counts nowhere, so p still is the first */
    RULINGS(c, p, "", "", "", AFFINITY);
    other->affinity_required = p->affinity_required; /* does not want itself */
    RULINGS(c, other, AFFINITY, AFFINITY, AFFINITY, AFFINITY);
    p->namespace_name = STR_LITERAL("elsewhere");
    RULINGS(c, p, AFFINITY, AFFINITY, AFFINITY, AFFINITY);
    p->namespace_name = STR_LITERAL("default");
    put_pod(c, labelled(c, "second", "web"), "n3");
    RULINGS(c, p, AFFINITY, AFFINITY, "", AFFINITY);
}

static void anti_affinity_wants_a_domain_without(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    put_pod(c, labelled(c, "a", "web"), "n1");
    put_pod(c, labelled(c, "b", "web"), "n4");
    struct pod *p = make_pod(c, "p", 0, 0);
    *APPEND(&c->arena, p->anti_affinity_required) = app(c, "db", "host");
    *APPEND(&c->arena, p->anti_affinity_required) = app(c, "web", "zone");
    RULINGS(c, p, ANTI, ANTI, "", "");
    *APPEND(&c->arena, p->affinity_required) = app(c, "web", "host");
    RULINGS(c, p, ANTI, AFFINITY, AFFINITY, "");
}

/* ---- filters: the terms of pods that are there ---- */

static void pods_that_are_there_keep_others_away(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *lonely = make_pod(c, "lonely", 0, 0), *p = labelled(c, "p", "web");
    *APPEND(&c->arena, lonely->anti_affinity_required) = app(c, "web", "zone");
    *APPEND(&c->arena, lonely->anti_affinity_required) = app(c, "web", "host");
    put_pod(c, lonely, "n3");
    RULINGS(c, p, "", "", EXISTING, "");
    RULINGS(c, labelled(c, "q", "db"), "", "", "", "");
    put_pod(c, lonely, "n4");
    RULINGS(c, p, "", "", "", EXISTING);
    put_pod(c, lonely, "nowhere"); /* a node that is not known */
    RULINGS(c, p, "", "", "", "");
    put_node(c, zoned(c, "nowhere", "a"));
    RULINGS(c, p, EXISTING, EXISTING, "", "");
    shard_pod_gone(c->shard, lonely->uid);
    RULINGS(c, p, "", "", "", "");
}

/* The share has no atom for what p is called, yet a label that is there is there. */
static void labels_that_nobody_knows_are_labels(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *exists = make_pod(c, "exists", 0, 0), *not_in = make_pod(c, "not-in", 0, 0);
    *APPEND(&c->arena, exists->anti_affinity_required) =
        term(c, wants(c, "app", "Exists", ""), "host");
    *APPEND(&c->arena, not_in->anti_affinity_required) =
        term(c, wants(c, "app", "NotIn", "db"), "host");
    put_pod(c, exists, "n1");
    put_pod(c, not_in, "n2");
    RULINGS(c, labelled(c, "p", "never-heard-of"), EXISTING, EXISTING, "", "");
    RULINGS(c, labelled(c, "q", "db"), EXISTING, "", "", "");
    RULINGS(c, make_pod(c, "r", 0, 0), "", EXISTING, "", "");
}

/* ---- namespaces ---- */

static void terms_are_about_their_namespaces(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *far = labelled(c, "far", "web"), *p = make_pod(c, "p", 0, 0);
    far->namespace_name = STR_LITERAL("far");
    put_pod(c, far, "n1");
    *APPEND(&c->arena, p->anti_affinity_required) = app(c, "web", "host");
    RULINGS(c, p, "", "", "", "");
    p->anti_affinity_required.at[0].namespaces = strs_of(&c->arena, "other far");
    RULINGS(c, p, ANTI, "", "", "");
}

static void namespace_selectors_of_the_pod_are_looked_up(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *far = labelled(c, "far", "web"), *p = make_pod(c, "p", 0, 0);
    far->namespace_name = STR_LITERAL("far");
    put_pod(c, far, "n1");
    *APPEND(&c->arena, p->anti_affinity_required) = app(c, "web", "host");
    struct affinity_term *t = &p->anti_affinity_required.at[0];
    t->namespaces.count = 0;
    t->namespace_selector = wants_label(c, "team", "a");
    RULINGS(c, p, "", "", "", "");
    add_namespace(c, "far", "team", "b");
    RULINGS(c, p, "", "", "", "");
    add_namespace(c, "far", "team", "a");
    RULINGS(c, p, ANTI, "", "", "");
    t->namespaces = strs_of(&c->arena, "default"); /* those as well */
    put_pod(c, labelled(c, "near", "web"), "n2");
    RULINGS(c, p, ANTI, ANTI, "", "");
    t->namespaces.count = 0;
    t->namespace_selector = (struct selector){.present = true}; /* all */
    RULINGS(c, p, ANTI, ANTI, "", "");
}

/* Upstream of 1.36 asks the selector again for each pod, without the labels of the pod's namespace;
 * 1.37 does so of a selector alone that wants everything. */
static void a_selector_that_wants_no_labels_wants_every_namespace(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *far = labelled(c, "far", "web"), *p = make_pod(c, "p", 0, 0);
    far->namespace_name = STR_LITERAL("far");
    put_pod(c, far, "n1");
    add_namespace(c, "far", "team", "a");
    *APPEND(&c->arena, p->anti_affinity_required) = app(c, "web", "host");
    struct affinity_term *t = &p->anti_affinity_required.at[0];
    t->namespaces.count = 0;
    t->namespace_selector = wants(c, "team", "NotIn", "a");
    RULINGS(c, p, ANTI, "", "", "");
    t->namespace_selector = wants(c, "team", "DoesNotExist", "");
    RULINGS(c, p, ANTI, "", "", "");
    t->namespace_selector = wants(c, "team", "In", "b");
    RULINGS(c, p, "", "", "", "");
    c->profile.features.release = 37;
    RULINGS(c, p, "", "", "", "");
    t->namespace_selector = wants(c, "team", "NotIn", "a");
    RULINGS(c, p, "", "", "", "");
    t->namespace_selector = wants(c, "team", "NotIn", "b");
    RULINGS(c, p, ANTI, "", "", "");
    t->namespace_selector = (struct selector){.present = true};
    RULINGS(c, p, ANTI, "", "", "");
}

static void pods_that_are_there_see_the_namespace_as_it_is(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *in = make_pod(c, "in", 0, 0), *not_in = make_pod(c, "not-in", 0, 0);
    struct pod *p = labelled(c, "p", "web");
    struct affinity_term t = app(c, "web", "host");
    t.namespaces.count = 0;
    t.namespace_selector = wants_label(c, "team", "a");
    *APPEND(&c->arena, in->anti_affinity_required) = t;
    t.namespace_selector = wants(c, "team", "NotIn", "a");
    *APPEND(&c->arena, not_in->anti_affinity_required) = t;
    put_pod(c, in, "n1");
    put_pod(c, not_in, "n2");
    RULINGS(c, p, "", EXISTING, "", ""); /* a namespace that nobody knows has no labels */
    add_namespace(c, "default", "", "");
    RULINGS(c, p, "", EXISTING, "", "");
    add_namespace(c, "default", "team", "b");
    RULINGS(c, p, "", EXISTING, "", "");
    add_namespace(c, "default", "team", "a");
    RULINGS(c, p, EXISTING, "", "", "");
}

/* ---- selectors in error ---- */

static struct pre_filter_outcome pre_filter_of(struct cluster *c, const struct pod *p)
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
    return out;
}

static void selectors_in_error_turn_the_pod_away(void **state)
{
    struct cluster *c = *state;
    struct pod *p = make_pod(c, "p", 0, 0);
    *APPEND(&c->arena, p->affinity_preferred) = weighing(app(c, "web", "zone"), 5);
    assert_int_equal(pre_filter_of(c, p).code, CODE_success);
    p->affinity_preferred.at[0].namespace_selector = wants(c, "a", "Near", "b");
    struct pre_filter_outcome out = pre_filter_of(c, p);
    assert_int_equal(out.code, CODE_unresolvable);
    assert_str(out.plugin, "InterPodAffinity");
    assert_str(out.reason, "parsing pod: preferredAffinityTerms: \"Near\" is not a valid label "
                           "selector operator");
    *APPEND(&c->arena, p->anti_affinity_required) = term(c, wants(c, "a", "Exists", "b"), "zone");
    *APPEND(&c->arena, p->anti_affinity_required) = term(c, wants(c, "a", "Far", ""), "zone");
    assert_str(pre_filter_of(c, p).reason,
               "parsing pod: [requiredAntiAffinityTerms: values: Invalid value: [\"b\"]: values "
               "set must be empty for exists and does not exist, preferredAffinityTerms: \"Near\" "
               "is not a valid label selector operator]");
}

/* Upstream then does not tell which nodes other rules wanted. */
static void a_pod_turned_away_is_narrowed_to_nothing(void **state)
{
    struct cluster *c = *state;
    c->profile.pre_filter = strs_of(&c->arena, "NodeAffinity InterPodAffinity");
    struct pod *p = make_pod(c, "p", 0, 0);
    require(c, p, one_term(c, "metadata.name", "In", "n1"));
    assert_true(pre_filter_of(c, p).narrowed);
    *APPEND(&c->arena, p->affinity_required) = term(c, wants(c, "a", "Near", "b"), "zone");
    struct pre_filter_outcome out = pre_filter_of(c, p);
    assert_int_equal(out.code, CODE_unresolvable);
    assert_false(out.narrowed);
    assert_int_equal(out.by.count, 0);
}

static void pods_that_are_there_lose_a_kind_with_an_error_in_it(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *bad = make_pod(c, "bad", 0, 0), *p = labelled(c, "p", "web");
    *APPEND(&c->arena, bad->anti_affinity_required) = app(c, "web", "host");
    *APPEND(&c->arena, bad->anti_affinity_required) = term(c, wants(c, "a", "Far", ""), "zone");
    *APPEND(&c->arena, bad->affinity_preferred) = weighing(app(c, "web", "host"), 7);
    put_pod(c, bad, "n1");
    RULINGS(c, p, "", "", "", "");
    assert_int_equal(raw_on(c, p, "n1", "InterPodAffinity"), 7);
}

static void without_pre_filter_an_error_shows_when_scores_are_wanted(void **state)
{
    struct cluster *c = *state;
    c->profile.pre_filter.count = c->profile.filter.count = 1; /* it only scores */
    four_nodes(c);
    struct pod *p = make_pod(c, "p", 0, 0);
    *APPEND(&c->arena, p->affinity_required) = app(c, "web", "zone");
    p->affinity_required.at[0].namespace_selector = wants(c, "a", "Near", "b");
    assert_str(map_pod(c, p)->score_error,
               "running PreScore plugin \"InterPodAffinity\": failed to parse pod: "
               "requiredAffinityTerms: \"Near\" is not a valid label selector operator");
    c->profile.ignore_preferred_of_existing = true;
    four_nodes(c);
    assert_str(map_pod(c, p)->score_error, "");
    *APPEND(&c->arena, p->affinity_preferred) = weighing(app(c, "web", "zone"), 5);
    assert_int_not_equal(map_pod(c, p)->score_error.len, 0);
    p->affinity_required.count = 0;
    p->affinity_preferred.at[0].namespaces.count = 0;
    p->affinity_preferred.at[0].namespace_selector = wants_label(c, "team", "a");
    add_namespace(c, "far", "team", "a");
    struct pod *far = labelled(c, "far", "web");
    far->namespace_name = STR_LITERAL("far");
    put_pod(c, far, "n3");
    assert_int_equal(raw_on(c, p, "n3", "InterPodAffinity"), 5);
}

/* ---- nominated pods and victims ---- */

static const struct map_result *map_nominated(struct cluster *c, const struct pod *p,
                                              struct pod *nominated, enum map_step step)
{
    struct map_request request = {.cycle = 1,
                                  .round = 1,
                                  .pod = *p,
                                  .step = step,
                                  .alone = true,
                                  .detail = true,
                                  .tie_break = TIE_BREAK_first};
    if (nominated != NULL)
        shard_nominated(c->shard, nominated);
    const struct map_result *result = map_with(c, &request);
    if (nominated != NULL)
        shard_nominated_gone(c->shard, nominated->uid);
    return result;
}

static const char *code_on(const struct map_result *r, const char *node)
{
    return words_text(&verdict_code_words, verdict_on(r, node)->code).at;
}

static void nominated_pods_count_where_they_will_be(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *soon = labelled(c, "soon", "web"), *p = labelled(c, "p", "web");
    soon->nominated_node = STR_LITERAL("n1");
    *APPEND(&c->arena, p->anti_affinity_required) = app(c, "web", "zone");
    const struct map_result *r = map_nominated(c, p, soon, MAP_STEP_map);
    assert_string_equal(code_on(r, "n1"), "Unschedulable");
    /* not in the zone's other node: only a node's own nominated pods are assumed there */
    assert_string_equal(code_on(r, "n2"), "Success");
    /* upstream's Skip: nobody is there yet, so even a nominated pod's own terms say nothing */
    p->anti_affinity_required.count = 0;
    *APPEND(&c->arena, soon->anti_affinity_required) = app(c, "web", "zone");
    assert_string_equal(code_on(map_nominated(c, p, soon, MAP_STEP_map), "n1"), "Success");
    struct pod *lonely = make_pod(c, "lonely", 0, 0);
    lonely->anti_affinity_required = soon->anti_affinity_required;
    put_pod(c, lonely, "n3");
    r = map_nominated(c, p, soon, MAP_STEP_map);
    assert_string_equal(code_on(r, "n1"), "Unschedulable");
    assert_string_equal(code_on(r, "n2"), "Success");
    assert_string_equal(code_on(r, "n3"), "Unschedulable");
}

/* The nominated pod is the first that p wants: with it p is at home, without it p is the first. */
static void a_nominated_pod_ends_being_the_first(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *soon = labelled(c, "soon", "web"), *p = labelled(c, "p", "web");
    soon->nominated_node = STR_LITERAL("n1");
    *APPEND(&c->arena, p->affinity_required) = app(c, "web", "zone");
    const struct map_result *r = map_nominated(c, p, soon, MAP_STEP_map);
    assert_string_equal(code_on(r, "n1"), "Success");
    assert_string_equal(code_on(r, "n3"), "Success");
    p->labels.count = 0; /* wants soon, but not itself: soon is not there yet, which decides */
    r = map_nominated(c, p, soon, MAP_STEP_map);
    assert_string_equal(code_on(r, "n1"), "UnschedulableAndUnresolvable");
}

static void victims_take_their_terms_with_them(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *lonely = make_pod(c, "lonely", 0, 0), *p = labelled(c, "p", "web");
    *APPEND(&c->arena, lonely->anti_affinity_required) = app(c, "web", "host");
    put_pod(c, lonely, "n1");
    p->priority = 10;
    *APPEND(&c->arena, p->anti_affinity_required) = app(c, "web", "zone");
    for (int i = 0; i < 2; i++)
        put_pod(c, labelled(c, "web", "web"), i == 0 ? "n2" : "n3");
    /* n1: lonely could go, but n2's pod of the same zone stays; n2 and n3 lose all of theirs */
    const struct map_result *r = map_nominated(c, p, NULL, MAP_STEP_victims);
    assert_int_equal(r->dry_run.fits, 2);
    r = map_nominated(c, p, NULL, MAP_STEP_map); /* and nothing was left behind */
    assert_int_equal(r->feasible, 1);
}

/* ---- scores ---- */

static void assert_scores(struct cluster *c, const struct pod *p, const int64_t *raws)
{
    static const char *const nodes[] = {"n1", "n2", "n3", "n4"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(raw_on(c, p, nodes[i], "InterPodAffinity"), raws[i]);
}

#define SCORES(c, p, ...) assert_scores((c), (p), (const int64_t[]){__VA_ARGS__})
#define SKIPPED           -1

static void preferences_of_the_pod_weigh_each_pod_they_find(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *p = make_pod(c, "p", 0, 0);
    *APPEND(&c->arena, p->affinity_preferred) = weighing(app(c, "web", "zone"), 3);
    *APPEND(&c->arena, p->anti_affinity_preferred) = weighing(app(c, "web", "host"), 10);
    SCORES(c, p, SKIPPED, SKIPPED, SKIPPED, SKIPPED);
    put_pod(c, labelled(c, "a", "web"), "n1");
    put_pod(c, labelled(c, "b", "web"), "n1");
    put_pod(c, labelled(c, "c", "web"), "n3");
    put_pod(c, labelled(c, "d", "web"), "n4");
    SCORES(c, p, 6 - 20, 6, 3 - 10, -10);
    /* from -14 to 6: 0, 100, ⌊35⌋ and 20, times 2 */
    assert_int_equal(weighted_on(c, p, "n1", "InterPodAffinity"), 0);
    assert_int_equal(weighted_on(c, p, "n2", "InterPodAffinity"), 200);
    assert_int_equal(weighted_on(c, p, "n3", "InterPodAffinity"), 70);
    assert_int_equal(weighted_on(c, p, "n4", "InterPodAffinity"), 40);
}

static void pods_that_are_there_have_preferences_too(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *friend = make_pod(c, "friend", 0, 0), *foe = make_pod(c, "foe", 0, 0);
    struct pod *needs = make_pod(c, "needs", 0, 0), *p = labelled(c, "p", "web");
    *APPEND(&c->arena, friend->affinity_preferred) = weighing(app(c, "web", "zone"), 5);
    *APPEND(&c->arena, foe->anti_affinity_preferred) = weighing(app(c, "web", "host"), 7);
    *APPEND(&c->arena, needs->affinity_required) = app(c, "web", "zone");
    put_pod(c, friend, "n1");
    put_pod(c, foe, "n2");
    put_pod(c, needs, "n3");
    SCORES(c, p, 5, 5 - 7, 1, 0);
    c->profile.hard_affinity_weight = 40;
    four_nodes(c);
    put_pod(c, needs, "n3");
    SCORES(c, p, 0, 0, 40, 0);
    c->profile.hard_affinity_weight = 0;
    four_nodes(c);
    put_pod(c, needs, "n3");
    SCORES(c, p, SKIPPED, SKIPPED, SKIPPED, SKIPPED);
}

static void preferences_of_others_can_be_ignored(void **state)
{
    struct cluster *c = *state;
    c->profile.ignore_preferred_of_existing = true;
    four_nodes(c);
    struct pod *friend = make_pod(c, "friend", 0, 0), *p = labelled(c, "p", "web");
    *APPEND(&c->arena, friend->affinity_preferred) = weighing(app(c, "web", "zone"), 5);
    put_pod(c, friend, "n1");
    SCORES(c, p, SKIPPED, SKIPPED, SKIPPED, SKIPPED);
    *APPEND(&c->arena, p->affinity_preferred) = weighing(app(c, "nobody", "zone"), 5);
    SCORES(c, p, 5, 5, 0, 0); /* but not by those that have some of their own */
}

static void preferences_that_cancel_are_a_score(void **state)
{
    struct cluster *c = *state;
    four_nodes(c);
    struct pod *p = make_pod(c, "p", 0, 0);
    *APPEND(&c->arena, p->affinity_preferred) = weighing(app(c, "web", "zone"), 3);
    *APPEND(&c->arena, p->anti_affinity_preferred) = weighing(app(c, "web", "zone"), 3);
    put_pod(c, labelled(c, "a", "web"), "n1");
    SCORES(c, p, 0, 0, 0, 0);
    assert_int_equal(weighted_on(c, p, "n1", "InterPodAffinity"), 0);
}

/* ---- several workers ---- */

enum { SHARDS = 3 };

/* Each node in a shard of its own, n4 with n1. */
struct workers {
    struct cluster *c;
    struct frameworks frameworks;
    struct shard *shards[SHARDS];
    struct reduce *reduce;
    int rounds;
};

static void workers_start(struct workers *w, struct cluster *c)
{
    static const char *const zones[] = {"a", "a", "b", ""};
    *w = (struct workers){.c = c, .reduce = reduce_new()};
    frameworks_build(&w->frameworks, &c->profile, 1);
    for (int i = 0; i < SHARDS; i++) {
        w->shards[i] = shard_new();
        shard_reset(w->shards[i], &c->profile, 1);
    }
    for (int i = 0; i < 4; i++) {
        struct str name = arena_print(&c->arena, "n%d", i + 1);
        shard_node_set(w->shards[i % SHARDS], zoned(c, name.at, zones[i]));
    }
}

static void workers_stop(struct workers *w)
{
    for (int i = 0; i < SHARDS; i++)
        shard_free(&w->shards[i]);
    reduce_free(&w->reduce);
    frameworks_clear(&w->frameworks);
}

static const struct decision *decide(struct workers *w, const struct pod *p, bool no_terms)
{
    const struct reduce_start start = {.cycle = 1,
                                       .framework = &w->frameworks.at[0],
                                       .catalog = w->c->catalog,
                                       .pod = p,
                                       .shards = SHARDS,
                                       .nodes = 4,
                                       .no_terms = no_terms,
                                       .tie_break = TIE_BREAK_first,
                                       .detail = true};
    enum reduce_step step = reduce_start(w->reduce, &start);
    for (w->rounds = 0; step == REDUCE_ask; w->rounds++) {
        bool asked[SHARDS];
        for (uint32_t i = 0; i < SHARDS; i++)
            asked[i] = reduce_asks(w->reduce, i);
        for (uint32_t i = 0; i < SHARDS; i++) {
            struct map_result r;
            if (!asked[i])
                continue;
            shard_map(w->shards[i], reduce_request(w->reduce), &r, &w->c->arena);
            step = reduce_add(w->reduce, i, &r);
        }
    }
    assert_int_equal(step, REDUCE_done);
    return reduce_decision(w->reduce);
}

static void what_one_worker_counts_the_others_know(void **state)
{
    struct cluster *c = *state;
    struct workers w;
    workers_start(&w, c);
    struct pod *p = labelled(c, "p", "web");
    *APPEND(&c->arena, p->affinity_required) = app(c, "web", "zone");
    assert_int_equal(decide(&w, p, false)->feasible, 3);
    /* the only such pod is where n2 knows its domain and n3 has never heard of it */
    shard_pod_set(w.shards[0], on_node(labelled(c, "a", "web"), "n1"));
    assert_int_equal(decide(&w, p, false)->feasible, 2);
    p->affinity_required.count = 0;
    *APPEND(&c->arena, p->anti_affinity_required) = app(c, "web", "zone");
    assert_int_equal(decide(&w, p, false)->feasible, 2);
    struct pod *lonely = make_pod(c, "lonely", 0, 0);
    *APPEND(&c->arena, lonely->anti_affinity_required) = app(c, "web", "host");
    shard_pod_set(w.shards[2], on_node(lonely, "n3"));
    const struct decision *d = decide(&w, p, false);
    assert_int_equal(d->feasible, 1);
    assert_str(d->node, "n4");
    workers_stop(&w);
}

static void a_host_that_only_one_worker_has_ends_being_the_first(void **state)
{
    struct cluster *c = *state;
    struct workers w;
    workers_start(&w, c);
    struct pod *p = labelled(c, "p", "web");
    *APPEND(&c->arena, p->affinity_required) = app(c, "web", "host");
    assert_int_equal(decide(&w, p, false)->feasible, 4);
    shard_pod_set(w.shards[2], on_node(labelled(c, "a", "web"), "n3"));
    assert_int_equal(decide(&w, p, false)->feasible, 1);
    workers_stop(&w);
}

static void scores_are_ranged_over_all_workers(void **state)
{
    struct cluster *c = *state;
    struct workers w;
    workers_start(&w, c);
    struct pod *p = make_pod(c, "p", 0, 0);
    *APPEND(&c->arena, p->affinity_preferred) = weighing(app(c, "web", "zone"), 10);
    *APPEND(&c->arena, p->anti_affinity_preferred) = weighing(app(c, "web", "host"), 25);
    shard_pod_set(w.shards[0], on_node(labelled(c, "a", "web"), "n1"));
    const struct decision *d = decide(&w, p, false);
    assert_str(d->node, "n2");
    static const int64_t totals[] = {0, 200, 120, 120}; /* of -15, 10, 0 and 0 */
    uint32_t count;
    const struct verdict *v = reduce_verdicts(w.reduce, &count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(v[i].total, totals[i]);
    workers_stop(&w);
}

static void nobody_counts_when_nobody_has_terms(void **state)
{
    struct cluster *c = *state;
    struct workers w;
    workers_start(&w, c);
    const struct decision *d = decide(&w, labelled(c, "p", "web"), true);
    assert_int_equal(w.rounds, 1);
    assert_int_equal(d->pre_filter.skipped, 1 << 1);
    assert_int_equal(d->score_skipped, 1);
    d = decide(&w, labelled(c, "p", "web"), false);
    assert_int_equal(w.rounds, 2);
    assert_int_equal(d->pre_filter.skipped, 1 << 1);
    assert_int_equal(d->score_skipped, 1);
    workers_stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AFFINITY_TEST(affinity_wants_a_domain_with_such_a_pod),
        AFFINITY_TEST(one_pod_must_satisfy_all_affinity_terms),
        AFFINITY_TEST(the_first_of_its_kind_may_go_where_all_keys_are),
        AFFINITY_TEST(anti_affinity_wants_a_domain_without),
        AFFINITY_TEST(pods_that_are_there_keep_others_away),
        AFFINITY_TEST(labels_that_nobody_knows_are_labels),
        AFFINITY_TEST(terms_are_about_their_namespaces),
        AFFINITY_TEST(namespace_selectors_of_the_pod_are_looked_up),
        AFFINITY_TEST(a_selector_that_wants_no_labels_wants_every_namespace),
        AFFINITY_TEST(pods_that_are_there_see_the_namespace_as_it_is),
        AFFINITY_TEST(selectors_in_error_turn_the_pod_away),
        AFFINITY_TEST(a_pod_turned_away_is_narrowed_to_nothing),
        AFFINITY_TEST(pods_that_are_there_lose_a_kind_with_an_error_in_it),
        AFFINITY_TEST(without_pre_filter_an_error_shows_when_scores_are_wanted),
        AFFINITY_TEST(nominated_pods_count_where_they_will_be),
        AFFINITY_TEST(a_nominated_pod_ends_being_the_first),
        AFFINITY_TEST(victims_take_their_terms_with_them),
        AFFINITY_TEST(preferences_of_the_pod_weigh_each_pod_they_find),
        AFFINITY_TEST(pods_that_are_there_have_preferences_too),
        AFFINITY_TEST(preferences_of_others_can_be_ignored),
        AFFINITY_TEST(preferences_that_cancel_are_a_score),
        AFFINITY_TEST(what_one_worker_counts_the_others_know),
        AFFINITY_TEST(a_host_that_only_one_worker_has_ends_being_the_first),
        AFFINITY_TEST(scores_are_ranged_over_all_workers),
        AFFINITY_TEST(nobody_counts_when_nobody_has_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
