/* NodeAffinity: operators, malformed terms, narrowing by name, what the profile adds, and how
 * preferences score. */
#include "tests/unit/scheduler/cluster.h"

#define NO    "NodeAffinity UAU: node(s) didn't match Pod's node affinity/selector"
#define ADDED "NodeAffinity UAU: node(s) didn't match scheduler-enforced node affinity"

/* n1 has disk=ssd gen=5, n2 has gen=x. */
static void two_nodes(struct cluster *c)
{
    begin(c);
    struct node *n1 = make_node(c, "n1", 1000, GIB), *n2 = make_node(c, "n2", 1000, GIB);
    add_label(c, n1, "disk", "ssd");
    add_label(c, n1, "gen", "5");
    add_label(c, n2, "gen", "x");
    put_node(c, n1);
    put_node(c, n2);
}

static void operators_match_labels_as_upstream(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *key, *operation, *values;
        bool n1, n2;
    } table[] = {
        {"disk", "In", "ssd hdd", true, false},
        {"disk", "In", "hdd", false, false},
        {"disk", "NotIn", "ssd", false, true},
        {"disk", "NotIn", "never-seen", true, true},
        {"disk", "Exists", "", true, false},
        {"disk", "DoesNotExist", "", false, true},
        {"never-seen", "DoesNotExist", "", true, true},
        {"gen", "Gt", "4", true, false},
        {"gen", "Gt", "5", false, false},
        {"gen", "Lt", "6", true, false},
        {"disk", "Gt", "4", false, false},
        {"gen", "Gt", "many", false, false},
        {"gen", "Gt", "1 2", false, false},
        {"gen", "In", "", false, false},
        {"gen", "Exists", "x", false, false},
        {"gen", "Near", "x", false, false},
        {"not/a/key", "DoesNotExist", "", false, false},
        {"metadata.name", "In", "n1", true, false},
        {"metadata.name", "NotIn", "n1", false, true},
        {"metadata.name", "Exists", "", false, false},
    };
    two_nodes(c);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct pod *p = make_pod(c, "p", 0, 0);
        require(c, p, one_term(c, table[i].key, table[i].operation, table[i].values));
        assert_string_equal(ruling_on(c, p, "n1"), table[i].n1 ? "" : NO);
        assert_string_equal(ruling_on(c, p, "n2"), table[i].n2 ? "" : NO);
    }
}

static void terms_are_ored_requirements_anded_and_empty_terms_match_nothing(void **state)
{
    struct cluster *c = *state;
    two_nodes(c);
    struct pod *p = make_pod(c, "p", 0, 0);
    require(c, p, (struct node_term){0});
    assert_string_equal(ruling_on(c, p, "n1"), NO);
    require(c, p, one_term(c, "gen", "Gt", "many")); /* malformed: no match, no harm */
    require(c, p, one_term(c, "disk", "Exists", ""));
    assert_string_equal(ruling_on(c, p, "n1"), "");
    *APPEND(&c->arena, p->required_terms.at[2].expressions) =
        one_term(c, "gen", "Lt", "2").expressions.at[0];
    assert_string_equal(ruling_on(c, p, "n1"), NO);
}

static void the_node_selector_must_match_too(void **state)
{
    struct cluster *c = *state;
    two_nodes(c);
    struct pod *p = make_pod(c, "p", 0, 0);
    p->has_node_selector = true;
    assert_string_equal(ruling_on(c, p, "n2"), "");
    *APPEND(&c->arena, p->node_selector) = (struct label){STR_LITERAL("disk"), STR_LITERAL("ssd")};
    assert_string_equal(ruling_on(c, p, "n1"), "");
    assert_string_equal(ruling_on(c, p, "n2"), NO);
    require(c, p, one_term(c, "gen", "In", "x"));
    assert_string_equal(ruling_on(c, p, "n1"), NO);
}

static void added_affinity_binds_every_pod(void **state)
{
    struct cluster *c = *state;
    c->profile.has_added_required = true;
    *APPEND(&c->arena, c->profile.added_required) = one_term(c, "disk", "Exists", "");
    two_nodes(c);
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "n1"), "");
    assert_string_equal(ruling_on(c, make_pod(c, "p", 0, 0), "n2"), ADDED);
}

static struct pre_filter_outcome pre_filter_of(struct cluster *c, const struct pod *p)
{
    struct frameworks all = {0};
    struct pre_filter_outcome out;
    frameworks_build(&all, &c->profile, 1);
    struct pod prepared;
    struct findings findings;
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

static void terms_that_all_name_nodes_narrow_the_search(void **state)
{
    struct cluster *c = *state;
    struct pod *p = make_pod(c, "p", 0, 0);
    assert_false(pre_filter_of(c, p).narrowed);
    require(c, p, one_term(c, "metadata.name", "In", "n2"));
    require(c, p, one_term(c, "metadata.name", "In", "n1"));
    require(c, p, one_term(c, "metadata.name", "In", "n2"));
    struct pre_filter_outcome out = pre_filter_of(c, p);
    assert_true(out.narrowed);
    assert_int_equal(out.names.count, 2);
    assert_str(out.names.at[0], "n1");
    assert_str(out.by.at[0], "NodeAffinity");
    require(c, p, one_term(c, "disk", "Exists", ""));
    assert_false(pre_filter_of(c, p).narrowed);
}

static void names_that_contradict_each_other_turn_the_pod_away(void **state)
{
    struct cluster *c = *state;
    struct pod *p = make_pod(c, "p", 0, 0);
    struct node_term both = one_term(c, "metadata.name", "In", "n1");
    *APPEND(&c->arena, both.fields) = one_term(c, "metadata.name", "In", "n2").fields.at[0];
    require(c, p, both);
    struct pre_filter_outcome out = pre_filter_of(c, p);
    assert_int_equal(out.code, CODE_unresolvable);
    assert_str(out.reason, "pod affinity terms conflict");
    assert_str(out.plugin, "NodeAffinity");
}

static void preferences_add_up_and_scale_to_the_greatest(void **state)
{
    struct cluster *c = *state;
    *APPEND(&c->arena, c->profile.added_preferred) =
        (struct preferred_node_term){3, one_term(c, "gen", "Exists", "")};
    two_nodes(c);
    struct pod *p = make_pod(c, "p", 0, 0);
    prefer(c, p, 9, one_term(c, "disk", "In", "ssd"));
    prefer(c, p, 0, one_term(c, "disk", "Gt", "many")); /* weight 0: not even read */
    assert_int_equal(raw_on(c, p, "n1", "NodeAffinity"), 12);
    assert_int_equal(raw_on(c, p, "n2", "NodeAffinity"), 3);
    assert_int_equal(weighted_on(c, p, "n1", "NodeAffinity"), 200);
    assert_int_equal(weighted_on(c, p, "n2", "NodeAffinity"), 50);
}

static void a_pod_without_preferences_is_not_scored(void **state)
{
    struct cluster *c = *state;
    two_nodes(c);
    assert_int_equal(raw_on(c, make_pod(c, "p", 0, 0), "n1", "NodeAffinity"), -1);
}

static void a_malformed_preference_fails_scoring(void **state)
{
    struct cluster *c = *state;
    two_nodes(c);
    struct pod *p = make_pod(c, "p", 0, 0);
    prefer(c, p, 9, one_term(c, "gen", "Gt", "many"));
    assert_str(
        map_pod(c, p)->score_error,
        "running PreScore plugin \"NodeAffinity\": [0].matchExpressions[0].values[0]: Invalid "
        "value: \"many\": for 'Gt', 'Lt' operators, the value must be an integer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(operators_match_labels_as_upstream),
        CLUSTER_TEST(terms_are_ored_requirements_anded_and_empty_terms_match_nothing),
        CLUSTER_TEST(the_node_selector_must_match_too),
        CLUSTER_TEST(added_affinity_binds_every_pod),
        CLUSTER_TEST(terms_that_all_name_nodes_narrow_the_search),
        CLUSTER_TEST(names_that_contradict_each_other_turn_the_pod_away),
        CLUSTER_TEST(preferences_add_up_and_scale_to_the_greatest),
        CLUSTER_TEST(a_pod_without_preferences_is_not_scored),
        CLUSTER_TEST(a_malformed_preference_fails_scoring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
