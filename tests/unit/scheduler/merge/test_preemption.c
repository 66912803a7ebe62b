/* test_preemption: who has to go, from which node, and what is said when nobody can: victims and
 * their order, disruption budgets, the choice between nodes, eligibility, failures and ties. */
#include "scheduler/rules/candidate.h"
#include "tests/unit/scheduler/table.h"

/* ---- helpers ---- */

/* A node of 1000 millicores in a shard. */
static void node(struct table *t, int shard, const char *name)
{
    deal(t, shard, make_node(t->c, name, 1000, 8 * GIB));
}

struct sits {
    const char *name, *node;
    int64_t priority, started, cpu;
    const char *app; /* its label; NULL: none */
};

static void sit(struct table *t, int shard, const struct sits *s)
{
    struct pod *p = make_pod(t->c, s->name, s->cpu, 0);
    p->priority = s->priority;
    p->started = s->started;
    if (s->app != NULL)
        *APPEND(&t->c->arena, p->labels) = (struct label){STR_LITERAL("app"), str_of(s->app)};
    shard_pod_set(t->shards[shard], on_node(p, s->node));
}

static void sit_all(struct table *t, int shard, const struct sits *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sit(t, shard, &all[i]);
}

#define SIT(t, shard, ...)                                                                         \
    do {                                                                                           \
        const struct sits all_[] = {__VA_ARGS__};                                                  \
        sit_all((t), (shard), all_, sizeof(all_) / sizeof(all_[0]));                               \
    } while (0)

static struct pod *preemptor(struct table *t, int64_t cpu)
{
    struct pod *p = make_pod(t->c, "preemptor", cpu, 0);
    p->priority = 100;
    return p;
}

static void add_budget(struct table *t, struct budget b)
{
    if (b.namespace_name.len == 0)
        b.namespace_name = STR_LITERAL("default");
    const struct message m = {.type = MSG_budget_set, .budget_set = {.budget = b}};
    catalog_take(t->c->catalog, &m);
}

static struct budget budget_of(struct table *t, const char *name, const char *app, int64_t allowed)
{
    struct budget b = {.name = str_of(name), .allowed = allowed, .selector = {.present = true}};
    *APPEND(&t->c->arena, b.selector.labels) = (struct label){STR_LITERAL("app"), str_of(app)};
    return b;
}

/* "n1: a b !1": the node, its victims, and how many of them are protected. */
static const char *candidate_text(struct table *t, const struct candidate *c)
{
    struct str s = arena_print(&t->c->arena, "%.*s:", STR_ARG(c->node));
    for (uint32_t i = 0; i < c->victims.count; i++)
        s = arena_print(&t->c->arena, "%.*s %.*s", STR_ARG(s), STR_ARG(c->victims.at[i].name));
    if (c->violations > 0)
        s = arena_print(&t->c->arena, "%.*s !%d", STR_ARG(s), (int)c->violations);
    return s.at;
}

static const char *picked_text(struct table *t, const struct decision *d)
{
    const struct preemption *p = &d->preemption;
    struct candidate c = {.node = p->node, .violations = p->violations};
    c.victims.count = p->victims.count;
    c.victims.at = p->victims.at;
    return p->node.len == 0 ? "" : candidate_text(t, &c);
}

static const char *pick(struct table *t, const struct pod *p)
{
    t->start.tie_break = TIE_BREAK_first;
    const char *text = picked_text(t, decide(t, p));
    t->start.detail = !t->start.detail; /* with and without detail the pick is the same */
    assert_string_equal(picked_text(t, decide(t, p)), text);
    t->start.detail = !t->start.detail;
    return text;
}

/* ---- victims ---- */

static void the_less_important_have_to_go(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    SIT(t, 0, {"low", "n1", 1, 50, 300, NULL}, {"old", "n1", 5, 10, 300, NULL},
        {"young", "n1", 5, 20, 300, NULL});
    assert_string_equal(pick(t, preemptor(t, 300)), "n1: low");
    assert_string_equal(pick(t, preemptor(t, 600)), "n1: young low");
    assert_string_equal(pick(t, preemptor(t, 1000)), "n1: old young low");
    table_free(t);
}

static void whoever_still_fits_is_spared(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    SIT(t, 0, {"big", "n1", 5, 1, 800, NULL}, {"small", "n1", 1, 1, 100, NULL});
    assert_string_equal(pick(t, preemptor(t, 500)), "n1: big");
    table_free(t);
}

static void equals_and_betters_stay(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    node(t, 1, "n2");
    SIT(t, 0, {"equal", "n1", 100, 1, 600, NULL}, {"low", "n1", 1, 1, 300, NULL});
    SIT(t, 1, {"better", "n2", 200, 1, 900, NULL});
    const struct decision *d = decide(t, preemptor(t, 500));
    assert_string_equal(picked_text(t, d), "");
    assert_true(d->clear_nominated);
    assert_str(d->message,
               "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, "
               "preemption: 0/2 nodes are available: 1 Insufficient cpu, 1 No preemption "
               "victims found for incoming pod.");
    assert_string_equal(pick(t, preemptor(t, 400)), "n1: low");
    assert_str(decide(t, preemptor(t, 400))->message,
               "0/2 nodes are available: 2 Insufficient cpu.");
    table_free(t);
}

/* A pod that has not started is as young as can be. */
static void a_pod_that_has_not_started_goes_first(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    t->start.now_us = 1000;
    SIT(t, 0, {"started", "n1", 1, 999, 500, NULL}, {"waiting", "n1", 1, 0, 500, NULL});
    assert_string_equal(pick(t, preemptor(t, 500)), "n1: waiting");
    t->start.now_us = 900; /* a clock that lags */
    assert_string_equal(pick(t, preemptor(t, 500)), "n1: started");
    table_free(t);
}

static void claims_of_rivals_are_kept_free(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    SIT(t, 0, {"a", "n1", 2, 1, 400, NULL}, {"b", "n1", 1, 1, 400, NULL});
    struct pod *rival = make_pod(t->c, "rival", 300, 0);
    rival->priority = 100;
    rival->nominated_node = STR_LITERAL("n1");
    assert_string_equal(pick(t, preemptor(t, 500)), "n1: b");
    shard_nominated(t->shards[0], rival);
    assert_string_equal(pick(t, preemptor(t, 500)), "n1: a b");
    table_free(t);
}

/* ---- disruption budgets ---- */

static void the_protected_are_spared_before_the_more_important(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    SIT(t, 0, {"high", "n1", 9, 1, 500, NULL}, {"web", "n1", 1, 1, 500, "web"});
    assert_string_equal(pick(t, preemptor(t, 500)), "n1: web");
    add_budget(t, budget_of(t, "b", "web", 0));
    assert_string_equal(pick(t, preemptor(t, 500)), "n1: high");
    assert_string_equal(pick(t, preemptor(t, 600)), "n1: high web !1");
    table_free(t);
}

static void a_budget_allows_the_most_important_first(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    SIT(t, 0, {"w3", "n1", 3, 1, 300, "web"}, {"w2", "n1", 2, 1, 300, "web"},
        {"w1", "n1", 1, 1, 300, "web"});
    add_budget(t, budget_of(t, "b", "web", 2)); /* w1 would be one too many */
    assert_string_equal(pick(t, preemptor(t, 300)), "n1: w2");
    assert_string_equal(pick(t, preemptor(t, 1000)), "n1: w3 w2 w1 !1");
    add_budget(t, budget_of(t, "b2", "web", 0)); /* and now all are */
    assert_string_equal(pick(t, preemptor(t, 1000)), "n1: w3 w2 w1 !3");
    table_free(t);
}

static void budgets_that_do_not_protect(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    SIT(t, 0, {"high", "n1", 9, 1, 500, "other"}, {"web", "n1", 1, 1, 500, "web"},
        {"bare", "n1", 0, 1, 0, NULL});
    struct budget elsewhere = budget_of(t, "elsewhere", "web", 0);
    elsewhere.namespace_name = STR_LITERAL("blue");
    struct budget disrupted = budget_of(t, "disrupted", "web", 0);
    disrupted.disrupted = strs_of(&t->c->arena, "x web");
    struct budget everything = {.name = STR_LITERAL("everything"), .selector = {.present = true}};
    struct budget nothing = {.name = STR_LITERAL("nothing")};
    add_budget(t, elsewhere);
    add_budget(t, disrupted);
    add_budget(t, everything);
    add_budget(t, nothing);
    assert_string_equal(pick(t, preemptor(t, 500)), "n1: web");
    table_free(t);
}

/* ---- which node ---- */

static void each_criterion_in_its_turn(void **state)
{
    (void)state;
    static const struct {
        struct candidate_rank better, worse;
    } table[] = {
        {{.violations = 0, .highest = 9, .sum = 9, .count = 9, .earliest = 0},
         {.violations = 1, .highest = 1, .sum = 1, .count = 1, .earliest = 9}},
        {{.highest = 1, .sum = 9, .count = 9, .earliest = 0},
         {.highest = 2, .sum = 1, .count = 1, .earliest = 9}},
        {{.sum = 1, .count = 9, .earliest = 0}, {.sum = 2, .count = 1, .earliest = 9}},
        {{.count = 1, .earliest = 0}, {.count = 2, .earliest = 9}},
        {{.earliest = 9}, {.earliest = 8}},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_true(candidate_rank_compare(&table[i].better, &table[i].worse) < 0);
        assert_true(candidate_rank_compare(&table[i].worse, &table[i].better) > 0);
        assert_int_equal(candidate_rank_compare(&table[i].worse, &table[i].worse), 0);
    }
}

static void what_counts_of_the_victims(void **state)
{
    (void)state;
    struct candidate_rank r = {0};
    candidate_rank_add(&r, 5, 30);
    candidate_rank_add(&r, 5, 20);
    candidate_rank_add(&r, -7, 10); /* not among the highest: its start does not count */
    assert_int_equal(r.highest, 5);
    assert_int_equal(r.sum, 3 * (INT64_C(1) << 31) + 3);
    assert_int_equal(r.count, 3);
    assert_int_equal(r.earliest, 20);
}

static void the_best_node_of_all_shares(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    node(t, 1, "n2");
    node(t, 2, "n3");
    SIT(t, 0, {"two", "n1", 1, 10, 500, NULL}, {"three", "n1", 1, 11, 500, NULL});
    SIT(t, 1, {"one", "n2", 1, 10, 1000, NULL});
    SIT(t, 2, {"high", "n3", 2, 10, 1000, NULL});
    assert_string_equal(pick(t, preemptor(t, 800)), "n2: one");
    SIT(t, 2, {"late", "n3", 0, 10, 0, NULL});
    shard_pod_gone(t->shards[1], STR_LITERAL("uid-one-2"));
    SIT(t, 1, {"web", "n2", 1, 10, 1000, "web"});
    add_budget(t, budget_of(t, "b", "web", 0));
    assert_string_equal(pick(t, preemptor(t, 800)), "n1: two three");
    table_free(t);
}

static void nodes_that_tie_are_drawn(void **state)
{
    struct table *t = table_new(*state);
    static const char *const names[] = {"n1", "n2", "n3", "n4"};
    int taken[4] = {0};
    for (int i = 0; i < 4; i++) {
        node(t, i > 0, names[i]); /* one in the first share, three in the second */
        SIT(t, i > 0, {"a", names[i], 1, 10, 1000, NULL});
    }
    for (t->start.seed = 0; t->start.seed < 4000; t->start.seed++) {
        struct str drawn = decide(t, preemptor(t, 500))->preemption.node;
        for (int i = 0; i < 4; i++)
            taken[i] += str_is(drawn, names[i]);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(taken[i], 850, 1150);
    assert_string_equal(pick(t, preemptor(t, 500)), "n1: a");
    t->start.tie_break = TIE_BREAK_round_robin;
    assert_str(decide(t, preemptor(t, 500))->preemption.node, "n1");
    table_free(t);
}

static void detail_shows_every_node(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    node(t, 1, "n2");
    node(t, 2, "n3");
    deal(t, 2, make_node(t->c, "small", 100, GIB));
    node(t, 0, "n4");
    SIT(t, 0, {"a", "n1", 1, 10, 1000, NULL}, {"d", "n4", 1, 10, 1000, NULL});
    SIT(t, 1, {"b", "n2", 100, 10, 1000, NULL});
    SIT(t, 2, {"c", "n3", 100, 10, 900, NULL}, {"c2", "n3", 1, 10, 100, NULL});
    t->start.detail = true;
    const struct preemption *p = &decide(t, preemptor(t, 500))->preemption;
    assert_true(p->considered && p->eligible);
    assert_int_equal(p->potential.count, 4); /* small can never hold it */
    assert_str(p->potential.at[2], "n3");
    assert_int_equal(p->candidates.count, 2);
    assert_string_equal(candidate_text(t, &p->candidates.at[0]), "n1: a");
    assert_string_equal(candidate_text(t, &p->candidates.at[1]), "n4: d");
    assert_int_equal(p->best_nodes.count, 2);
    assert_str(p->best_nodes.at[1], "n4");
    assert_int_equal(p->rejected.count, 2);
    assert_str(p->rejected.at[0].node, "n2");
    assert_int_equal(p->rejected.at[0].code, VERDICT_unresolvable);
    assert_str(p->rejected.at[0].plugin, "");
    assert_str(p->rejected.at[0].reasons.at[0], "No preemption victims found for incoming pod");
    assert_str(p->rejected.at[1].plugin, "NodeResourcesFit");
    table_free(t);
}

/* ---- eligibility ---- */

static void a_pod_waits_for_the_victims_of_its_last_preemption(void **state)
{
    struct table *t = table_new(*state);
    node(t, 0, "n1");
    node(t, 1, "n2");
    struct pod *going = make_pod(t->c, "going", 600, 0), *p = preemptor(t, 500);
    going->deleting = true;
    shard_pod_set(t->shards[0], on_node(going, "n1"));
    SIT(t, 1, {"low", "n2", 1, 1, 900, NULL});
    p->nominated_node = STR_LITERAL("n1");
    assert_string_equal(pick(t, p), "n1: going"); /* it terminates, but not for anybody's sake */
    going->preempted = true;
    shard_pod_set(t->shards[0], going);
    const struct decision *d = decide(t, p);
    assert_false(d->preemption.eligible);
    assert_false(d->clear_nominated);
    assert_int_equal(t->rounds, 2); /* its own node, then all; nobody is asked for victims */
    assert_str(d->preemption.post_filter, "no new claims to deallocate, preemption: not eligible "
                                          "due to a terminating pod on the nominated node.");
    p->nominated_node = STR_LITERAL("n2"); /* nothing terminates there */
    assert_true(decide(t, p)->preemption.eligible);
    p->nominated_node = STR_LITERAL("gone");
    assert_true(decide(t, p)->preemption.eligible);
    going->priority = 100; /* nobody that it could have driven out */
    shard_pod_set(t->shards[0], going);
    p->nominated_node = STR_LITERAL("n1");
    assert_true(decide(t, p)->preemption.eligible);
    table_free(t);
}

static void a_nominated_node_beyond_help_is_given_up(void **state)
{
    struct table *t = table_new(*state);
    struct node *n1 = make_node(t->c, "n1", 1000, 8 * GIB);
    n1->unschedulable = true;
    deal(t, 0, n1);
    node(t, 1, "n2");
    struct pod *going = make_pod(t->c, "going", 600, 0), *p = preemptor(t, 500);
    going->deleting = going->preempted = true;
    shard_pod_set(t->shards[0], on_node(going, "n1"));
    SIT(t, 1, {"low", "n2", 1, 1, 900, NULL});
    p->nominated_node = STR_LITERAL("n1");
    assert_string_equal(pick(t, p), "n2: low");
    table_free(t);
}

static void without_the_plugin_nothing_is_considered(void **state)
{
    struct cluster *c = *state;
    c->profile.post_filter = strs_of(&c->arena, "DynamicResources");
    struct table *t = table_new(c);
    node(t, 0, "n1");
    SIT(t, 0, {"low", "n1", 1, 1, 900, NULL});
    const struct decision *d = decide(t, preemptor(t, 500));
    assert_false(d->preemption.considered);
    assert_string_equal(picked_text(t, d), "");
    assert_str(d->message,
               "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate");
    table_free(t);
}

/* Since 1.37 it is said where there will be room, and claims have nothing to say. */
static void who_is_preempted_for_is_told_where_since_1_37(void **state)
{
    struct cluster *c = *state;
    c->profile.features.release = 37;
    struct table *t = table_new(c);
    node(t, 0, "n1");
    SIT(t, 0, {"low", "n1", 1, 1, 500, NULL}, {"lower", "n1", 0, 1, 400, NULL});
    const struct decision *d = decide(t, preemptor(t, 900));
    assert_str(d->message, "0/1 nodes are available: 1 Insufficient cpu. preemption: found a "
                           "potential placement for pod on node n1, preempting 2 victims");
    assert_str(d->preemption.post_filter, "preemption: found a potential placement for pod on "
                                          "node n1, preempting 2 victims");
    d = decide(t, preemptor(t, 5000));
    assert_str(d->preemption.post_filter,
               "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.");
    table_free(t);
}

/* ---- what workers say ---- */

/* Two workers that find no node; the first answers the question for victims with this. */
static const struct decision *answered(struct table *t, struct map_result first)
{
    struct map_result none = {.cycle = 1, .round = 1, .nodes = 2, .evaluated = 2};
    struct reduce_start start = {.cycle = 1,
                                 .framework = &t->frameworks.at[0],
                                 .catalog = t->c->catalog,
                                 .pod = preemptor(t, 1),
                                 .no_terms = true,
                                 .shards = 2,
                                 .nodes = 4};
    assert_int_equal(reduce_start(t->reduce, &start), REDUCE_ask);
    none.cycle = first.cycle = reduce_request(t->reduce)->cycle;
    none.round = reduce_request(t->reduce)->round;
    reduce_add(t->reduce, 0, &none);
    assert_int_equal(reduce_add(t->reduce, 1, &none), REDUCE_ask);
    assert_int_equal(reduce_request(t->reduce)->step, MAP_STEP_victims);
    none.round = first.round = reduce_request(t->reduce)->round;
    none.dry_run.nodes = first.dry_run.nodes = 2;
    reduce_add(t->reduce, 1, &none);
    assert_int_equal(reduce_add(t->reduce, 0, &first), REDUCE_done);
    return reduce_decision(t->reduce);
}

static void a_dry_run_that_fails_leaves_the_nomination(void **state)
{
    struct table *t = table_new(*state);
    struct str why = STR_LITERAL("running \"X\" filter plugin: boom");
    struct verdict verdicts[] = {
        {.node = STR_LITERAL("n2"), .code = VERDICT_error, .reasons = {1, &why}},
        {.node = STR_LITERAL("n1"), .code = VERDICT_success}};
    struct map_result r = {0};
    r.dry_run.verdicts.at = verdicts;
    r.dry_run.verdicts.count = 1;
    const struct decision *d = answered(t, r);
    assert_str(d->message,
               "0/4 nodes are available: preemption: running \"X\" filter plugin: boom");
    assert_true(d->preemption.failed);
    assert_false(d->clear_nominated);
    r.dry_run.verdicts.count = 2;
    assert_str(answered(t, r)->preemption.post_filter,
               "preemption: [expected at least one victim pod on node \"n1\", running \"X\" filter "
               "plugin: boom]");
    /* with a candidate elsewhere it does not matter */
    struct victim v = {.name = STR_LITERAL("v")};
    struct candidate c = {.node = STR_LITERAL("n3"), .ties = 1};
    c.victims.at = &v;
    c.victims.count = 1;
    r.dry_run.candidates.at = &c;
    r.dry_run.candidates.count = 1;
    r.dry_run.fits = 1;
    assert_string_equal(picked_text(t, answered(t, r)), "n3: v");
    table_free(t);
}

static void a_candidate_that_makes_no_sense_fails_the_cycle(void **state)
{
    struct table *t = table_new(*state);
    struct victim v = {.name = STR_LITERAL("v")};
    struct candidate good = {.node = STR_LITERAL("n1"), .ties = 1};
    good.victims.at = &v;
    good.victims.count = 1;
    struct candidate bad[] = {good, good, good, good};
    bad[0].node = (struct str){0};
    bad[1].victims.count = 0;
    bad[2].violations = 2;
    bad[3].ties = 2;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct map_result r = {.dry_run.fits = 1};
        r.dry_run.candidates.at = &bad[i];
        r.dry_run.candidates.count = 1;
        const struct decision *d = answered(t, r);
        assert_int_equal(d->kind, DECISION_error);
        assert_str(d->message, "a worker's answer makes no sense");
    }
    table_free(t);
}

/* ---- any cluster ---- */

static void random_cluster(struct table *t, struct random *r)
{
    static const char *const apps[] = {"a", "b", NULL};
    char name[16];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        struct node *n = make_node(t->c, name, 1000, 8 * GIB);
        int shard = (int)random_below(r, SHARDS);
        deal(t, shard, n);
        for (uint64_t k = random_below(r, 5) + 4; k > 0; k--) {
            char pod[16];
            snprintf(pod, sizeof(pod), "p%d-%d", i, (int)k);
            const struct sits s = {
                arena_copy(&t->c->arena, str_of(pod)).at, n->name.at,
                (int64_t)random_below(r, 4) * 40 - 40,    (int64_t)random_below(r, 3) + 1,
                (int64_t)random_below(r, 4) * 100 + 100,  apps[random_below(r, 3)]};
            sit(t, shard, &s);
        }
    }
    for (uint64_t k = random_below(r, 3); k > 0; k--)
        add_budget(t, budget_of(t, k == 1 ? "x" : "y", apps[random_below(r, 2)],
                                (int64_t)random_below(r, 3)));
}

/* Whoever is asked for detail gets every candidate; without, each share gives its best only. */
static void shares_find_what_one_look_at_all_finds(void **state)
{
    int found = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct random r = {seed};
        struct table *t = table_new(*state);
        random_cluster(t, &r);
        found += pick(t, preemptor(t, (int64_t)random_below(&r, 8) * 100 + 300))[0] != 0;
        table_free(t);
        catalog_free(&t->c->catalog);
        t->c->catalog = catalog_new();
    }
    assert_in_range(found, 100, 199); /* or the clusters are of no use */
}

/* Asked or not, a pod that nobody is below is told the same. */
static void where_nobody_is_lower_nobody_is_asked(void **state)
{
    int rejected = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct random r = {seed};
        struct table *t = table_new(*state);
        random_cluster(t, &r);
        struct pod *p = preemptor(t, (int64_t)random_below(&r, 8) * 100 + 300);
        p->priority = -100; /* theirs are -40 and more */
        const struct decision *asked = decide(t, p);
        struct str text = arena_copy(&t->c->arena, asked->message);
        bool clears = asked->clear_nominated;
        int rounds = t->rounds;
        t->start.none_lower = true;
        const struct decision *d = decide(t, p);
        assert_true(str_equal(d->message, text));
        assert_int_equal(d->clear_nominated, clears);
        if (d->kind == DECISION_unschedulable && d->preemption.node.len == 0) {
            assert_non_null(strstr(text.at, "No preemption victims found for incoming pod"));
            assert_int_equal(t->rounds, rounds - 1);
            rejected++;
        }
        table_free(t);
        catalog_free(&t->c->catalog);
        t->c->catalog = catalog_new();
    }
    assert_true(rejected > 20);
}

/* Extenders are shown so many, and of all candidates the best. */
static void extenders_are_shown_the_best(void **state)
{
    (void)state;
    static const struct {
        int64_t nodes, percentage, absolute;
        const char *names;
    } table[] = {
        {40, 0, 0, "abcde"}, {40, 10, 100, "abcde"}, {40, 10, 0, "bcde"}, {40, 0, 3, "bcd"},
        {40, 5, 1, "bd"},    {40, 5, 3, "bcd"},      {40, 1, 1, "d"},     {400, 10, 1, "abcde"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct arena arena = {0};
        struct victim victims[5] = {
            {.priority = 50}, {.priority = 2}, {.priority = 3}, {.priority = 1}, {.priority = 4}};
        struct candidate all[5];
        const char *const names[] = {"a", "b", "c", "d", "e"};
        for (uint32_t k = 0; k < 5; k++)
            all[k] = (struct candidate){.node = str_of(names[k]), .victims = {1, &victims[k]}};
        struct candidate last = all[0]; /* they come in any order */
        all[0] = all[4];
        all[4] = last;
        struct candidates c = {.arena = &arena, .all = {5, 5, all}, .nodes = table[i].nodes};
        candidates_limit(&c, table[i].percentage, table[i].absolute, 0);
        char got[8] = "";
        for (uint32_t k = 0; k < c.all.count; k++)
            got[k] = c.all.at[k].node.at[0];
        assert_string_equal(got, table[i].names);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(the_less_important_have_to_go),
        CLUSTER_TEST(whoever_still_fits_is_spared),
        CLUSTER_TEST(equals_and_betters_stay),
        CLUSTER_TEST(a_pod_that_has_not_started_goes_first),
        CLUSTER_TEST(claims_of_rivals_are_kept_free),
        CLUSTER_TEST(the_protected_are_spared_before_the_more_important),
        CLUSTER_TEST(a_budget_allows_the_most_important_first),
        CLUSTER_TEST(budgets_that_do_not_protect),
        CLUSTER_TEST(each_criterion_in_its_turn),
        CLUSTER_TEST(what_counts_of_the_victims),
        cmocka_unit_test(extenders_are_shown_the_best),
        CLUSTER_TEST(the_best_node_of_all_shares),
        CLUSTER_TEST(nodes_that_tie_are_drawn),
        CLUSTER_TEST(detail_shows_every_node),
        CLUSTER_TEST(a_pod_waits_for_the_victims_of_its_last_preemption),
        CLUSTER_TEST(a_nominated_node_beyond_help_is_given_up),
        CLUSTER_TEST(without_the_plugin_nothing_is_considered),
        CLUSTER_TEST(who_is_preempted_for_is_told_where_since_1_37),
        CLUSTER_TEST(a_dry_run_that_fails_leaves_the_nomination),
        CLUSTER_TEST(a_candidate_that_makes_no_sense_fails_the_cycle),
        CLUSTER_TEST(shares_find_what_one_look_at_all_finds),
        CLUSTER_TEST(where_nobody_is_lower_nobody_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
