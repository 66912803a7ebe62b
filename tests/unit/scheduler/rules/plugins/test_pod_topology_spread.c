/* PodTopologySpread: which pods and nodes count, skew and the emptiest domain, pods that come and
 * go in a what-if, scores of soft constraints, default constraints, and several shares as one. */
#include "tests/unit/scheduler/cluster.h"

#define FULL "PodTopologySpread U: node(s) didn't match pod topology spread constraints"
#define UNLABELD                                                                                   \
    "PodTopologySpread UAU: node(s) didn't match pod topology spread constraints "                 \
    "(missing required label)"
#define RULE "PodTopologySpread"
#define HOST "kubernetes.io/hostname"
#define ZONE "topology.kubernetes.io/zone"

/* Only this rule, at all its points. */
static void spreading(struct cluster *c)
{
    struct profile *p = &c->profile;
    p->pre_filter = p->filter = p->pre_score = strs_of(&c->arena, RULE);
    p->score.count = 0;
    *APPEND(&c->arena, p->score) = (struct score_plugin){str_of(RULE), 2};
    begin(c);
}

/* labels: "key=value key=value". */
static void label_all(struct cluster *c, struct label **at, uint32_t *count, const char *labels)
{
    struct strs pairs = strs_of(&c->arena, labels);
    *at = arena_take(&c->arena, (pairs.count + 1) * sizeof(**at));
    for (uint32_t i = 0; i < pairs.count; i++) {
        uint32_t sign = (uint32_t)str_find(pairs.at[i], '=');
        (*at)[(*count)++] = (struct label){{pairs.at[i].at, sign},
                                           {pairs.at[i].at + sign + 1, pairs.at[i].len - sign - 1}};
    }
}

static struct node *node(struct cluster *c, const char *name, const char *labels)
{
    struct node *n = make_node(c, name, 4000, 8 * GIB);
    label_all(c, &n->labels.at, &n->labels.count, labels);
    return n;
}

static struct pod *pod(struct cluster *c, const char *name, const char *labels)
{
    struct pod *p = make_pod(c, name, 0, 0);
    label_all(c, &p->labels.at, &p->labels.count, labels);
    return p;
}

/* As many pods on the node. */
static void crowd(struct cluster *c, const char *on, const char *labels, int pods)
{
    for (int i = 0; i < pods; i++)
        put_pod(c, pod(c, "e", labels), on);
}

/* A constraint on pods with these labels; NULL: no selector, "": an empty one. */
static struct spread_constraint *spread(struct cluster *c, struct pod *p, const char *key,
                                        const char *action, const char *labels)
{
    struct spread_constraint *s = APPEND(&c->arena, p->spread);
    *s = (struct spread_constraint){
        .max_skew = 1, .topology_key = str_of(key), .when_unsatisfiable = str_of(action)};
    s->selector.present = labels != NULL;
    if (labels != NULL)
        label_all(c, &s->selector.labels.at, &s->selector.labels.count, labels);
    p->has_spread = true;
    return s;
}

static struct spread_constraint *hard(struct cluster *c, struct pod *p, const char *key,
                                      const char *labels)
{
    return spread(c, p, key, "DoNotSchedule", labels);
}

static struct spread_constraint *soft(struct cluster *c, struct pod *p, const char *key,
                                      const char *labels)
{
    return spread(c, p, key, "ScheduleAnyway", labels);
}

static void expect(struct cluster *c, const struct pod *p, const char *on, const char *ruling)
{
    const char *said = ruling_on(c, p, on);
    if (strcmp(said, ruling) != 0)
        fail_msg("on %s: \"%s\" instead of \"%s\"", on, said, ruling);
}

/* Zones a (n1, n2) and b (n3); n4 has no zone. Three pods of app=web in a, one in b. */
static void three_to_one(struct cluster *c)
{
    spreading(c);
    put_node(c, node(c, "n1", "zone=a disk=ssd"));
    put_node(c, node(c, "n2", "zone=a disk=hdd"));
    put_node(c, node(c, "n3", "zone=b disk=ssd"));
    put_node(c, node(c, "n4", ""));
    crowd(c, "n1", "app=web", 2);
    crowd(c, "n2", "app=web", 1);
    crowd(c, "n3", "app=web", 1);
    crowd(c, "n4", "app=web", 9);
}

/* ---- hard constraints ---- */

static void domains_too_far_above_the_emptiest_are_refused(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    struct pod *p = pod(c, "p", "app=web");
    struct spread_constraint *s = hard(c, p, "zone", "app=web");
    expect(c, p, "n1", FULL);
    expect(c, p, "n2", FULL);
    expect(c, p, "n3", "");
    expect(c, p, "n4", UNLABELD);
    s->max_skew = 2;
    expect(c, p, "n1", FULL);
    s->max_skew = 3; /* 3 + itself − 1 */
    expect(c, p, "n1", "");
    p->labels.count = 0; /* it does not count itself: 3 − 1 */
    s->max_skew = 2;
    expect(c, p, "n1", "");
}

static void a_domain_without_pods_is_the_emptiest(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    put_node(c, node(c, "n5", "zone=c"));
    struct pod *p = pod(c, "p", "app=web");
    hard(c, p, "zone", "app=web");
    expect(c, p, "n3", FULL);
    expect(c, p, "n5", "");
}

static void too_few_domains_count_as_an_empty_one(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    struct pod *p = pod(c, "p", "app=web");
    struct spread_constraint *s = hard(c, p, "zone", "app=web");
    s->min_domains = 2;
    expect(c, p, "n3", "");
    s->min_domains = 3;
    expect(c, p, "n3", FULL);
    s->max_skew = 2;
    expect(c, p, "n3", "");
}

static void which_pods_count(void **state)
{
    struct cluster *c = *state;
    spreading(c);
    put_node(c, node(c, "n1", "zone=a"));
    put_node(c, node(c, "n2", "zone=b"));
    struct pod *p = pod(c, "p", "app=web");
    hard(c, p, "zone", "app=web");
    struct pod *elsewhere = pod(c, "e", "app=web"), *dying = pod(c, "d", "app=web");
    elsewhere->namespace_name = STR_LITERAL("blue");
    dying->deleting = true;
    put_pod(c, elsewhere, "n1");
    put_pod(c, dying, "n1");
    crowd(c, "n1", "app=db", 1);
    crowd(c, "n1", "", 1);
    expect(c, p, "n1", "");
    crowd(c, "n1", "app=web tier=x", 1);
    expect(c, p, "n1", FULL);
}

static void an_empty_selector_counts_nobody_and_none_matches_nobody(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    struct pod *p = pod(c, "p", "app=web"), *q = pod(c, "q", "app=web");
    hard(c, p, "zone", "")->min_domains = 5;
    expect(c, p, "n1", ""); /* 0 + itself − 0 */
    p->spread.at[0].max_skew = 0;
    expect(c, p, "n1", FULL);
    hard(c, q, "zone", NULL)->max_skew = 0;
    expect(c, q, "n1", ""); /* 0 + 0 − 0 */
}

static void nodes_count_as_the_policies_say(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    struct node *tainted = node(c, "n5", "zone=c disk=ssd");
    add_taint(c, tainted, "k", "NoSchedule");
    put_node(c, tainted);
    struct pod *p = pod(c, "p", "app=web");
    struct spread_constraint *s = hard(c, p, "zone", "app=web");
    expect(c, p, "n3", FULL); /* c is empty */
    s->node_taints_policy = STR_LITERAL("Honor");
    expect(c, p, "n3", ""); /* c does not count: a 3, b 1 */
    expect(c, p, "n5", ""); /* not counted, so 0 + 1 − 1 */
    tolerate(c, p, (struct toleration){.operator_name = STR_LITERAL("Exists")});
    expect(c, p, "n3", FULL);
    s->max_skew = 2;
    require(c, p, one_term(c, "disk", "In", "hdd")); /* only n2 counts: a 1 */
    expect(c, p, "n2", "");
    expect(c, p, "n1", "");
    s->node_affinity_policy = STR_LITERAL("Ignore"); /* a 3, b 1, c 0 */
    expect(c, p, "n1", FULL);
    s->node_affinity_policy = STR_LITERAL("Honor");
    *APPEND(&c->arena, p->node_selector) =
        (struct label){STR_LITERAL("disk"), STR_LITERAL("never-seen")};
    p->has_node_selector = true; /* no node counts at all */
    s->max_skew = 1;
    expect(c, p, "n1", "");
    expect(c, p, "n4", UNLABELD);
}

static void a_node_needs_the_keys_of_all_constraints_to_count(void **state)
{
    struct cluster *c = *state;
    spreading(c);
    put_node(c, node(c, "n1", "zone=a rack=r"));
    put_node(c, node(c, "n2", "zone=b"));
    put_node(c, node(c, "n3", "rack=s"));
    crowd(c, "n1", "app=web", 1);
    struct pod *p = pod(c, "p", "app=web");
    hard(c, p, "zone", "app=web");
    expect(c, p, "n1", FULL);
    hard(c, p, "rack", "app=web");
    soft(c, p, "never-seen", "app=web"); /* does not matter here */
    expect(c, p, "n1", "");
    expect(c, p, "n2", UNLABELD);
    expect(c, p, "n3", UNLABELD);
}

static void an_empty_value_is_a_domain(void **state)
{
    struct cluster *c = *state;
    spreading(c);
    put_node(c, node(c, "n1", "zone="));
    put_node(c, node(c, "n2", "zone=b"));
    crowd(c, "n1", "app=web", 2);
    crowd(c, "n2", "app=web", 1);
    struct pod *p = pod(c, "p", "app=web");
    hard(c, p, "zone", "app=web");
    expect(c, p, "n1", FULL);
    expect(c, p, "n2", "");
}

static void match_label_keys_are_part_of_the_selector(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    crowd(c, "n3", "app=web version=2", 2);
    struct pod *p = pod(c, "p", "app=web version=2");
    struct spread_constraint *s = hard(c, p, "zone", "app=web");
    s->match_label_keys = strs_of(&c->arena, "version never-seen");
    expect(c, p, "n3", FULL); /* a 0, b 2 */
    expect(c, p, "n1", "");
    p->labels.count = 1; /* app only: a 3, b 3 */
    expect(c, p, "n3", "");
    struct pod *q = pod(c, "q", "app=web version=2");
    hard(c, q, "zone", "")->match_label_keys = strs_of(&c->arena, "version");
    expect(c, q, "n3", FULL); /* {} is no longer empty */
    struct pod *r = pod(c, "r", "app=web version=2");
    hard(c, r, "zone", NULL)->match_label_keys = strs_of(&c->arena, "version");
    expect(c, r, "n3", ""); /* no selector stays none */
}

static void match_label_keys_count_with_their_gate(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    crowd(c, "n3", "app=web version=2", 2);
    struct pod *p = pod(c, "p", "app=web version=2");
    hard(c, p, "zone", "app=web")->match_label_keys = strs_of(&c->arena, "version");
    expect(c, p, "n3", FULL); /* a 0, b 2 */
    c->profile.features.spread_label_keys = false;
    expect(c, p, "n3", ""); /* a 3, b 3 */
}

/* ---- what if ---- */

static struct map_request request_for(struct cluster *c, const struct pod *p, enum map_step step)
{
    struct frameworks all = {0};
    struct map_request r = {.cycle = 1,
                            .round = 1,
                            .step = step,
                            .alone = true,
                            .detail = true,
                            .tie_break = TIE_BREAK_first};
    struct pre_filter_outcome out;
    frameworks_build(&all, &c->profile, 1);
    framework_pre_filter(&(struct pre_filter_question){.framework = &all.at[0],
                                                       .catalog = c->catalog,
                                                       .pod = p,
                                                       .prepared = &r.pod,
                                                       .findings = &r.findings,
                                                       .arena = &c->arena},
                         &out);
    frameworks_clear(&all);
    return r;
}

static void nominated_pods_count_on_their_node(void **state)
{
    struct cluster *c = *state;
    spreading(c);
    put_node(c, node(c, "n1", "zone=a"));
    put_node(c, node(c, "n2", "zone=b"));
    put_node(c, node(c, "n3", "zone=c"));
    crowd(c, "n2", "app=web", 1);
    crowd(c, "n3", "app=web", 1);
    struct pod *p = pod(c, "p", "app=web"), *other = pod(c, "o", "app=web");
    hard(c, p, "zone", "app=web");
    other->nominated_node = STR_LITERAL("n1");
    struct map_request r = request_for(c, p, MAP_STEP_map);
    const struct map_result *alone = map_with(c, &r);
    assert_int_equal(verdict_on(alone, "n1")->code, VERDICT_success);
    assert_int_equal(verdict_on(alone, "n2")->code, VERDICT_unschedulable);
    shard_nominated(c->shard, other);
    const struct map_result *with = map_with(c, &r);
    assert_int_equal(verdict_on(with, "n1")->code,
                     VERDICT_success); /* 1 + 1 − 1: the rest is not empty */
    other->nominated_node = STR_LITERAL("n2");
    shard_nominated_gone(c->shard, other->uid);
    p->spread.at[0].max_skew = 2;
    struct map_request wide = request_for(c, p, MAP_STEP_map);
    assert_int_equal(verdict_on(map_with(c, &wide), "n2")->code, VERDICT_success);
    shard_nominated(c->shard, other);
    const struct map_result *two = map_with(c, &wide);
    assert_int_equal(verdict_on(two, "n2")->code, VERDICT_unschedulable); /* 2 + 1 − 0 */
    assert_int_equal(verdict_on(two, "n3")->code, VERDICT_success);       /* not moved any more */
}

/* All pods of lower priority taken off a node: how many of the nodes would then do. */
static int64_t would_do(struct cluster *c, const struct pod *p)
{
    struct map_request r = request_for(c, p, MAP_STEP_victims);
    r.detail = false;
    return map_with(c, &r)->dry_run.fits;
}

static void pods_that_go_lower_their_domain_and_perhaps_the_least(void **state)
{
    struct cluster *c = *state;
    spreading(c);
    put_node(c, node(c, "n1", "zone=a"));
    put_node(c, node(c, "n2", "zone=b"));
    put_node(c, node(c, "n3", "zone=c"));
    crowd(c, "n1", "app=web", 3);
    crowd(c, "n2", "app=web", 2);
    struct pod *stays = pod(c, "s", "app=web");
    stays->priority = 100;
    put_pod(c, stays, "n3");
    struct pod *p = pod(c, "p", "app=web");
    p->priority = 10;
    hard(c, p, "zone", "app=web");
    assert_int_equal(would_do(c, p), 2); /* n1 and n2 alone in their zones: 0 + 1 − 0 */
    put_node(c, node(c, "n4", "zone=a"));
    crowd(c, "n4", "app=web", 2); /* a 5: without n1's 2, without n4's 3 */
    assert_int_equal(would_do(c, p), 1);
}

static void what_if_moves_terminating_pods_and_matches_an_empty_selector(void **state)
{
    struct cluster *c = *state;
    spreading(c);
    put_node(c, node(c, "n1", "zone=a"));
    put_node(c, node(c, "n2", "zone=b"));
    struct pod *dying = pod(c, "d", "app=web");
    dying->deleting = true;
    put_pod(c, dying, "n1");
    crowd(c, "n1", "app=web", 2);
    struct pod *p = pod(c, "p", "app=web");
    p->priority = 10;
    hard(c, p, "zone", "app=web");
    p->spread.at[0].max_skew = 1;
    assert_int_equal(would_do(c, p), 1); /* a goes from 2 to −1 */
    struct pod *q = pod(c, "q", "");
    q->priority = 10;
    hard(c, q, "zone", "")->min_domains = 3;
    q->spread.at[0].max_skew = 0; /* 0 + 1 − 0 is too much; 0 − 3 + 1 is not */
    expect(c, q, "n1", FULL);
    assert_int_equal(would_do(c, q), 1);
}

/* ---- soft constraints ---- */

static void expect_score(struct cluster *c, const struct pod *p, const char *on, int64_t raw,
                         int64_t weighted)
{
    int64_t r = raw_on(c, p, on, RULE), w = weighted_on(c, p, on, RULE);
    if (r != raw || w != weighted)
        fail_msg("on %s: %lld and %lld instead of %lld and %lld", on, (long long)r, (long long)w,
                 (long long)raw, (long long)weighted);
}

static void fuller_domains_score_lower(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    struct pod *p = pod(c, "p", "app=web");
    soft(c, p, "zone", "app=web"); /* ln 4 = 1.386: 4.16 and 1.39 */
    expect_score(c, p, "n1", 4, 50);
    expect_score(c, p, "n2", 4, 50);
    expect_score(c, p, "n3", 1, 200);
    expect_score(c, p, "n4", 0, 0); /* ignored */
    p->spread.at[0].max_skew = 4;   /* three more each */
    expect_score(c, p, "n1", 7, 114);
    expect_score(c, p, "n3", 4, 200);
}

static void only_feasible_nodes_make_domains_but_all_pods_count(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    put_node(c, node(c, "n5", "zone=c"));
    struct pod *p = pod(c, "p", "app=web");
    hard(c, p, "disk", "app=web")->max_skew = 9; /* n4 and n5 have none */
    soft(c, p, "zone", "app=web");
    expect_score(c, p, "n1", 4, 50); /* two zones: ln 4 */
    expect_score(c, p, "n3", 1, 200);
    struct spread_constraint *s = &p->spread.at[1];
    require(c, p, one_term(c, "disk", "In", "ssd")); /* n2's pod no longer counts */
    expect_score(c, p, "n1", 3, 66);
    s->node_affinity_policy = STR_LITERAL("Ignore");
    expect_score(c, p, "n1", 4, 50);
}

static void the_hostname_counts_the_node_alone(void **state)
{
    struct cluster *c = *state;
    spreading(c);
    struct node *n1 = node(c, "n1", HOST "=n1"), *n2 = node(c, "n2", HOST "=n2");
    add_taint(c, n1, "k", "NoSchedule");
    put_node(c, n1);
    put_node(c, n2);
    put_node(c, node(c, "n3", "zone=a"));
    crowd(c, "n1", "app=web", 4);
    crowd(c, "n2", "app=web", 1);
    crowd(c, "n2", "app=db", 5);
    struct pod *p = pod(c, "p", "app=web");
    soft(c, p, HOST, "app=web"); /* two nodes: ln 4 */
    expect_score(c, p, "n1", 6, 32);
    expect_score(c, p, "n2", 1, 200);
    expect_score(c, p, "n3", 0, 0);
    p->spread.at[0].node_taints_policy = STR_LITERAL("Honor"); /* asked of domains only */
    expect_score(c, p, "n1", 6, 32);
    soft(c, p, "zone", "app=web"); /* no node has both */
    expect_score(c, p, "n1", 0, 0);
    expect_score(c, p, "n3", 0, 0);
}

static void nothing_to_count_scores_everybody_best(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    struct pod *p = pod(c, "p", "app=web");
    soft(c, p, "zone", "app=none");
    expect_score(c, p, "n1", 0, 200);
    expect_score(c, p, "n4", 0, 0);
    struct pod *bare = pod(c, "b", "app=web");
    assert_int_equal(raw_on(c, bare, "n1", RULE), -1); /* skipped */
    struct pod *firm = pod(c, "f", "app=web");
    hard(c, firm, "zone", "app=web");
    assert_int_equal(raw_on(c, firm, "n3", RULE), -1);
}

/* ---- defaults ---- */

static void know(struct cluster *c, const char *kind, const char *name, const char *labels)
{
    struct message m = {.type = MSG_owner_set};
    struct owner *o = &m.owner_set.owner;
    uint32_t number;
    assert_true(words_find(&object_kind_words, str_of(kind), &number));
    *o = (struct owner){.kind = (enum object_kind)number,
                        .namespace_name = STR_LITERAL("default"),
                        .name = str_of(name),
                        .selector = {.present = labels != NULL}};
    if (labels != NULL)
        label_all(c, &o->selector.labels.at, &o->selector.labels.count, labels);
    catalog_take(c->catalog, &m);
}

static void own(struct pod *p, const char *api, const char *kind, const char *name)
{
    p->owner_api = str_of(api);
    p->owner_kind = str_of(kind);
    p->owner_name = str_of(name);
}

/* n1 in zone a with two pods of version 1 and one of version 2; n2 without a zone, with one. */
static void by_default(struct cluster *c)
{
    c->profile.spread_system_defaults = true;
    spreading(c);
    put_node(c, node(c, "n1", HOST "=n1 " ZONE "=a"));
    put_node(c, node(c, "n2", HOST "=n2"));
    crowd(c, "n1", "app=web version=1", 2);
    crowd(c, "n1", "app=web version=2", 1);
    crowd(c, "n2", "app=web version=1", 1);
}

static void pods_of_a_service_are_spread_by_default(void **state)
{
    struct cluster *c = *state;
    by_default(c);
    struct pod *p = pod(c, "p", "app=web version=1");
    assert_int_equal(raw_on(c, p, "n1", RULE), -1);
    know(c, "Service", "none", NULL);
    know(c, "Service", "all", "");
    know(c, "Service", "other", "app=db");
    assert_int_equal(raw_on(c, p, "n1", RULE), -1);
    know(c, "Service", "web", "app=web");
    /* two nodes, and the zones a and none: ln 4 = 1.386 for both; n1: 3 and 3 pods, n2: 1 pod */
    expect_score(c, p, "n1", 14, 42); /* 2 · 3 · 1.386 + 2 + 4 = 14.3 */
    expect_score(c, p, "n2", 3, 200); /* 1.386 + 2 */
    know(c, "Service", "one", "version=1");
    expect_score(c, p, "n1", 12, 50); /* 2 · 2 · 1.386 + 6 = 11.5 */
    struct pod *elsewhere = pod(c, "q", "app=web version=1");
    elsewhere->namespace_name = STR_LITERAL("blue");
    assert_int_equal(raw_on(c, elsewhere, "n1", RULE), -1);
}

static void pods_of_a_controller_are_spread_by_default(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *api, *kind, *name;
        int64_t raw;
    } table[] = {
        {"v1", "ReplicationController", "web", 12},
        {"apps/v1", "ReplicaSet", "web", 12},
        {"apps/v1", "StatefulSet", "web", 12},
        {"apps/v1", "ReplicationController", "web", -1},
        {"v1", "ReplicaSet", "web", -1},
        {"apps/v1", "ReplicaSet", "lost", -1},
        {"apps/v1beta1", "ReplicaSet", "web", -1},
        {"apps/v1", "DaemonSet", "web", -1},
    };
    by_default(c);
    know(c, "ReplicationController", "web", "version=1");
    know(c, "ReplicaSet", "web", "version=1");
    know(c, "StatefulSet", "web", "version=1");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct pod *p = pod(c, "p", "app=web version=1");
        own(p, table[i].api, table[i].kind, table[i].name);
        if (raw_on(c, p, "n1", RULE) != table[i].raw)
            fail_msg("%s %s %s", table[i].api, table[i].kind, table[i].name);
    }
    know(c, "Service", "web", "app=web version=2"); /* both have to hold, and cannot */
    struct pod *p = pod(c, "p", "app=web version=2");
    own(p, "apps/v1", "ReplicaSet", "web");
    expect_score(c, p, "n1", 6, 66);
    own(p, "v1", "ReplicationController", "web"); /* but its labels replace the Service's */
    expect_score(c, p, "n1", 12, 50);
}

static void a_list_of_defaults_may_be_hard_and_needs_all_keys(void **state)
{
    struct cluster *c = *state;
    struct pod list = {0};
    hard(c, &list, HOST, NULL);
    soft(c, &list, ZONE, NULL);
    c->profile.spread_defaults.count = list.spread.count;
    c->profile.spread_defaults.at = list.spread.at;
    by_default(c);
    c->profile.spread_system_defaults = false;
    begin(c);
    put_node(c, node(c, "n1", HOST "=n1 " ZONE "=a"));
    put_node(c, node(c, "n2", HOST "=n2"));
    crowd(c, "n1", "app=web", 1);
    struct pod *p = pod(c, "p", "app=web"), *q = pod(c, "q", "app=db");
    know(c, "Service", "web", "app=web");
    expect(c, p, "n1", FULL);
    expect_score(c, p, "n2", 0, 0);
    expect(c, q, "n1", "");
}

/* ---- malformed ---- */

static void a_malformed_selector_fails_the_cycle(void **state)
{
    struct cluster *c = *state;
    three_to_one(c);
    struct pod *p = pod(c, "p", "app=web");
    struct requirement bad = {STR_LITERAL("app"), STR_LITERAL("Near"), {0}};
    soft(c, p, "zone", "app=web");
    p->spread.at[0].selector.expressions.count = 1;
    p->spread.at[0].selector.expressions.at = &bad;
    assert_str(
        map_pod(c, p)->score_error,
        "running PreScore plugin \"PodTopologySpread\": calculating preScoreState: obtaining "
        "pod's soft topology spread constraints: \"Near\" is not a valid label selector "
        "operator");
    p->spread.at[0].when_unsatisfiable = STR_LITERAL("DoNotSchedule");
    struct frameworks all = {0};
    struct pre_filter_outcome out;
    struct pod prepared;
    struct findings findings;
    frameworks_build(&all, &c->profile, 1);
    framework_pre_filter(&(struct pre_filter_question){.framework = &all.at[0],
                                                       .pod = p,
                                                       .prepared = &prepared,
                                                       .findings = &findings,
                                                       .arena = &c->arena},
                         &out);
    assert_int_equal(out.code, CODE_error);
    assert_str(out.reason, "running PreFilter plugin \"PodTopologySpread\": get constraints from "
                           "pod: obtaining pod's hard topology spread constraints: \"Near\" is not "
                           "a valid label selector operator");
    frameworks_clear(&all);
}

/* ---- several shares ---- */

enum { SHARES = 3 };

struct shares {
    struct cluster *c;
    struct shard *at[SHARES];
    int64_t nodes;
};

static void shares_begin(struct shares *s, struct cluster *c)
{
    *s = (struct shares){.c = c};
    spreading(c);
    for (int i = 0; i < SHARES; i++) {
        s->at[i] = shard_new();
        shard_reset(s->at[i], &c->profile, 1);
    }
}

static void shares_end(struct shares *s)
{
    for (int i = 0; i < SHARES; i++)
        shard_free(&s->at[i]);
}

/* A node on that share, and as many pods of app=web on it. */
static void deal(struct shares *s, int share, const struct node *n, int pods)
{
    char *name = str_copy(n->name);
    shard_node_set(s->at[share], n);
    for (int i = 0; i < pods; i++)
        shard_pod_set(s->at[share],
                      on_node(pod(s->c, "e", "app=web"), arena_copy(&s->c->arena, n->name).at));
    memory_free(name);
    s->nodes++;
}

static void ask(struct shares *s, struct reduce *r, enum reduce_step *step)
{
    bool asked[SHARES];
    for (uint32_t i = 0; i < SHARES; i++)
        asked[i] = reduce_asks(r, i);
    for (uint32_t i = 0; i < SHARES; i++) {
        struct map_result result;
        if (!asked[i])
            continue;
        shard_map(s->at[i], reduce_request(r), &result, &s->c->arena);
        *step = reduce_add(r, i, &result);
    }
}

/* "node total", with all that is best. */
static void expect_best(struct shares *s, const struct pod *p, const char *node, int64_t total,
                        int64_t ties)
{
    struct frameworks all = {0};
    struct reduce *r = reduce_new();
    frameworks_build(&all, &s->c->profile, 1);
    struct reduce_start start = {.cycle = 1,
                                 .framework = &all.at[0],
                                 .catalog = s->c->catalog,
                                 .pod = p,
                                 .shards = SHARES,
                                 .nodes = s->nodes,
                                 .tie_break = TIE_BREAK_first};
    enum reduce_step step = reduce_start(r, &start);
    while (step == REDUCE_ask)
        ask(s, r, &step);
    const struct decision *d = reduce_decision(r);
    assert_int_equal(d->kind, DECISION_node);
    assert_str(d->node, node);
    assert_int_equal(d->total, total);
    assert_int_equal(d->best_count, ties);
    reduce_free(&r);
    frameworks_clear(&all);
}

static void shares_see_each_others_domains(void **state)
{
    struct cluster *c = *state;
    struct shares s;
    shares_begin(&s, c);
    deal(&s, 0, node(c, "n1", "zone=a"), 2);
    deal(&s, 0, node(c, "n2", "zone=b"), 2);
    deal(&s, 1, node(c, "n3", "zone=a"), 1);
    deal(&s, 1, node(c, "n4", "zone=c"), 2);
    deal(&s, 2, node(c, "n5", ""), 0);
    struct pod *p = pod(c, "p", "app=web"), *q = pod(c, "q", "app=web");
    hard(c, p, "zone", "app=web"); /* a 3, b 2, c 2 */
    expect_best(&s, p, "n2", 0, 2);
    soft(c, q, "zone", "app=web"); /* ln 5: 4.8 → 5, 3.2 → 3, 3; n5's share ignores all it has */
    expect_best(&s, q, "n2", 200, 2);
    q->spread.at[0].max_skew = 3; /* 7, 5, 5: (7 + 5 − 5) / 7 */
    expect_best(&s, q, "n2", 200, 2);
    shares_end(&s);
}

static void a_share_that_ignores_all_its_nodes_has_no_say_in_the_range(void **state)
{
    struct cluster *c = *state;
    struct shares s;
    shares_begin(&s, c);
    deal(&s, 0, node(c, "n1", "zone=a"), 3);
    deal(&s, 1, node(c, "n2", "zone=b"), 1);
    deal(&s, 2, node(c, "n3", ""), 0);
    struct pod *p = pod(c, "p", "app=web");
    soft(c, p, "zone", "app=web"); /* 4 and 1: 100 for n2, not 75 */
    expect_best(&s, p, "n2", 200, 1);
    shares_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(domains_too_far_above_the_emptiest_are_refused),
        CLUSTER_TEST(a_domain_without_pods_is_the_emptiest),
        CLUSTER_TEST(too_few_domains_count_as_an_empty_one),
        CLUSTER_TEST(which_pods_count),
        CLUSTER_TEST(an_empty_selector_counts_nobody_and_none_matches_nobody),
        CLUSTER_TEST(nodes_count_as_the_policies_say),
        CLUSTER_TEST(a_node_needs_the_keys_of_all_constraints_to_count),
        CLUSTER_TEST(an_empty_value_is_a_domain),
        CLUSTER_TEST(match_label_keys_are_part_of_the_selector),
        CLUSTER_TEST(match_label_keys_count_with_their_gate),
        CLUSTER_TEST(nominated_pods_count_on_their_node),
        CLUSTER_TEST(pods_that_go_lower_their_domain_and_perhaps_the_least),
        CLUSTER_TEST(what_if_moves_terminating_pods_and_matches_an_empty_selector),
        CLUSTER_TEST(fuller_domains_score_lower),
        CLUSTER_TEST(only_feasible_nodes_make_domains_but_all_pods_count),
        CLUSTER_TEST(the_hostname_counts_the_node_alone),
        CLUSTER_TEST(nothing_to_count_scores_everybody_best),
        CLUSTER_TEST(pods_of_a_service_are_spread_by_default),
        CLUSTER_TEST(pods_of_a_controller_are_spread_by_default),
        CLUSTER_TEST(a_list_of_defaults_may_be_hard_and_needs_all_keys),
        CLUSTER_TEST(a_malformed_selector_fails_the_cycle),
        CLUSTER_TEST(shares_see_each_others_domains),
        CLUSTER_TEST(a_share_that_ignores_all_its_nodes_has_no_say_in_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
