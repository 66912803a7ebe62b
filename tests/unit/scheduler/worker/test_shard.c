/* test_shard: a share that lived through a random history answers as one that was built at once
 * from what is left; ghosts, second rounds, narrowing, nominated pods, tie-breaks and absurd input.
 */
#include "tests/unit/scheduler/cluster.h"

#include "proto/codec.h"
#include "scheduler/rules/candidate.h"
#include "scheduler/table/touched.h"

#include <stdlib.h>

/* ---- property: incremental = rebuilt ---- */

enum { NODES = 8, PODS = 24, CLAIMS = 4, STEPS = 300, QUESTIONS = 5 };

/* What there is, told in any order. */
struct history {
    struct node *nodes[NODES];
    struct pod *pods[PODS];     /* node_name says where */
    struct pod *claims[CLAIMS]; /* nominated_node says where */
};

static struct node *random_node(struct cluster *c, struct random *r, int i)
{
    char name[16];
    snprintf(name, sizeof(name), "n%d", i);
    struct node *n = make_node(c, name, (int64_t)random_below(r, 4) * 1000, 4 * GIB);
    if (random_below(r, 2) == 0)
        QUANTITY(&c->arena, n->allocatable, "example.com/gpu", (int64_t)random_below(r, 4));
    if (random_below(r, 2) == 0)
        add_label(c, n, "disk", random_below(r, 2) == 0 ? "ssd" : "hdd");
    if (random_below(r, 4) != 0)
        add_label(c, n, "zone", random_below(r, 2) == 0 ? "a" : "b");
    if (random_below(r, 3) == 0)
        add_taint(c, n, "k", random_below(r, 2) == 0 ? "NoSchedule" : "PreferNoSchedule");
    if (random_below(r, 2) == 0)
        add_image(c, n, "app:v1", 1);
    n->unschedulable = random_below(r, 8) == 0;
    return n;
}

static const char *const apps[] = {"web", "db", "cache"};

/* About pods of some app, near or far; the kinds of terms by chance. */
static void random_terms(struct cluster *c, struct random *r, struct pod *p)
{
    struct affinity_term t = {.selector = {.present = true},
                              .namespaces = strs_of(&c->arena, "default"),
                              .topology_key = random_below(r, 2) == 0 ? STR_LITERAL("zone")
                                                                      : STR_LITERAL("disk")};
    if (random_below(r, 2) == 0)
        *APPEND(&c->arena, t.selector.labels) =
            (struct label){STR_LITERAL("app"), str_of(apps[random_below(r, 3)])};
    else
        *APPEND(&c->arena, t.selector.expressions) = (struct requirement){
            STR_LITERAL("app"), STR_LITERAL("NotIn"), strs_of(&c->arena, apps[random_below(r, 3)])};
    switch (random_below(r, 8)) {
    case 0: *APPEND(&c->arena, p->affinity_required) = t; break;
    case 1: *APPEND(&c->arena, p->anti_affinity_required) = t; break;
    case 2:
        t.weight = 5;
        *APPEND(&c->arena, p->affinity_preferred) = t;
        break;
    case 3:
        t.weight = 3;
        *APPEND(&c->arena, p->anti_affinity_preferred) = t;
        break;
    default: break;
    }
}

/* Ports are each pod's own, so that the uncounted set of ports is the same in any order. */
static struct pod *random_pod(struct cluster *c, struct random *r, int i)
{
    char name[16];
    snprintf(name, sizeof(name), "p%d", i);
    struct pod *p = make_pod(c, name, (int64_t)random_below(r, 12) * 100,
                             (int64_t)random_below(r, 4) * 256 * MIB);
    p->uid = arena_print(&c->arena, "uid-%d", i);
    p->priority = (int64_t)random_below(r, 3);
    p->started = (int64_t)random_below(r, 3); /* few, so that many tie */
    if (random_below(r, 3) == 0)
        ask_more(c, p, "example.com/gpu", (int64_t)random_below(r, 2));
    if (random_below(r, 3) == 0)
        add_port(c, p, "0.0.0.0", "TCP", 8000 + i);
    if (random_below(r, 4) != 0)
        *APPEND(&c->arena, p->labels) =
            (struct label){STR_LITERAL("app"), str_of(apps[random_below(r, 3)])};
    random_terms(c, r, p);
    char *node = arena_take(&c->arena, 8);
    snprintf(node, 8, "n%u", (unsigned)random_below(r, NODES));
    return on_node(p, node);
}

/* Nominated anew, elsewhere, or no more. */
static void one_claim(struct cluster *c, struct random *r, struct history *h)
{
    size_t i = (size_t)random_below(r, CLAIMS);
    struct pod *p = random_pod(c, r, PODS + 2 + (int)i);
    size_t node = (size_t)random_below(r, NODES);
    bool is_there = h->nodes[node] != NULL && random_below(r, 3) > 0;
    h->claims[i] = NULL;
    shard_nominated_gone(c->shard, p->uid);
    if (!is_there)
        return;
    p->nominated_node = h->nodes[node]->name;
    p->node_name = (struct str){0};
    h->claims[i] = p;
    shard_nominated(c->shard, p);
}

/* Others, and then more of them than the journal of touched rows remembers, which come and go. */
static void many_claims(struct cluster *c, struct random *r, struct history *h)
{
    struct pod *p = random_pod(c, r, PODS + 2 + CLAIMS);
    for (int i = 0; i < CLAIMS; i++)
        one_claim(c, r, h);
    for (size_t i = 0; i < NODES && p->node_name.len > 0; i++)
        if (h->nodes[i] != NULL) {
            p->nominated_node = h->nodes[i]->name;
            p->node_name = (struct str){0};
        }
    for (int i = 0; i < TOUCHED_ROOM / 2 + 1; i++) {
        shard_nominated(c->shard, p);
        shard_nominated_gone(c->shard, p->uid);
    }
}

static void forget_claims(struct history *h, struct str node)
{
    for (size_t i = 0; i < CLAIMS; i++)
        if (h->claims[i] != NULL && str_equal(h->claims[i]->nominated_node, node))
            h->claims[i] = NULL;
}

static void one_step(struct cluster *c, struct random *r, struct history *h)
{
    if (random_below(r, 8) == 0)
        one_claim(c, r, h);
    uint64_t what = random_below(r, 10);
    size_t i = (size_t)random_below(r, what < 4 ? NODES : PODS);
    if (what < 3) {
        h->nodes[i] = random_node(c, r, (int)i);
        shard_node_set(c->shard, h->nodes[i]);
    } else if (what < 4) {
        if (h->nodes[i] != NULL) {
            shard_node_gone(c->shard, h->nodes[i]->name);
            forget_claims(h, h->nodes[i]->name);
        }
        for (size_t k = 0; k < PODS && h->nodes[i] != NULL; k++)
            if (h->pods[k] != NULL && str_equal(h->pods[k]->node_name, h->nodes[i]->name))
                h->pods[k] = NULL;
        h->nodes[i] = NULL;
    } else if (what < 8) {
        h->pods[i] = random_pod(c, r, (int)i);
        shard_pod_set(c->shard, h->pods[i]);
    } else if (h->pods[i] != NULL) {
        shard_pod_gone(c->shard, h->pods[i]->uid);
        h->pods[i] = NULL;
    }
}

static void tell_images(struct shard *s)
{
    struct tally count = {STR_LITERAL("app:v1"), 3}, size = {STR_LITERAL("app:v1"), 900 * MIB};
    struct shard_images images = {.nodes = NODES, .counts = {1, &count}, .sizes = {1, &size}};
    shard_images(s, &images);
}

static struct shard *rebuilt(struct cluster *c, const struct history *h)
{
    struct shard *s = shard_new();
    shard_reset(s, &c->profile, 1);
    tell_images(s);
    for (size_t i = PODS; i > 0; i--) /* pods first, backwards: order must not matter */
        if (h->pods[i - 1] != NULL)
            shard_pod_set(s, h->pods[i - 1]);
    for (size_t i = NODES; i > 0; i--)
        if (h->nodes[i - 1] != NULL)
            shard_node_set(s, h->nodes[i - 1]);
    for (size_t i = CLAIMS; i > 0; i--)
        if (h->claims[i - 1] != NULL)
            shard_nominated(s, h->claims[i - 1]);
    return s;
}

static int compare(const void *a, const void *b)
{
    return str_compare(((const struct verdict *)a)->node, ((const struct verdict *)b)->node);
}

static int compare_candidates(const void *a, const void *b)
{
    return str_compare(((const struct candidate *)a)->node, ((const struct candidate *)b)->node);
}

/* Everything that is answered, with nodes in name order, as text. */
static struct str answer(struct cluster *c, struct shard *s, const struct map_request *request)
{
    struct map_result *r = arena_take(&c->arena, sizeof(*r));
    shard_map(s, request, r, &c->arena);
    if (r->verdicts.count > 0)
        qsort(r->verdicts.at, r->verdicts.count, sizeof(*r->verdicts.at), compare);
    if (r->dry_run.verdicts.count > 0)
        qsort(r->dry_run.verdicts.at, r->dry_run.verdicts.count, sizeof(*r->dry_run.verdicts.at),
              compare);
    if (r->dry_run.candidates.count > 0)
        qsort(r->dry_run.candidates.at, r->dry_run.candidates.count,
              sizeof(*r->dry_run.candidates.at), compare_candidates);
    for (uint32_t i = 0; i < r->dry_run.candidates.count;
         i++) /* of equals the one that came first */
        for (uint32_t k = 0; k < r->dry_run.candidates.at[i].victims.count; k++)
            r->dry_run.candidates.at[i].victims.at[k].uid =
                r->dry_run.candidates.at[i].victims.at[k].name = (struct str){0};
    r->reasons.count = 0; /* in the order of rows; the verdicts have them all */
    r->dry_run.reasons.count = 0;
    struct buffer text = {0};
    codec_print(message_info[MSG_map_result].record, r, &text);
    struct str copy = arena_copy(&c->arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

static struct map_request random_question(struct cluster *c, struct random *r)
{
    struct pod *p = random_pod(c, r, PODS + 1);
    p->node_name = (struct str){0};
    p->priority = 10;
    p->images = strs_of(&c->arena, "app:v1");
    if (random_below(r, 3) == 0)
        prefer(c, p, 5, one_term(c, "disk", "In", "ssd"));
    struct map_request request = {.cycle = 1,
                                  .round = 1,
                                  .pod = *p,
                                  .detail = true,
                                  .tie_break = TIE_BREAK_first,
                                  .alone = true,
                                  .step =
                                      random_below(r, 4) == 0 ? MAP_STEP_victims : MAP_STEP_map};
    return request;
}

static void a_long_history_and_a_fresh_start_answer_alike(void **state)
{
    struct cluster *c = *state;
    c->profile.pre_score = strs_of(&c->arena, "NodeResourcesFit InterPodAffinity");
    *APPEND(&c->arena, c->profile.score) =
        (struct score_plugin){STR_LITERAL("InterPodAffinity"), 2};
    c->profile.hard_affinity_weight = 1;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct random r = {seed};
        struct history h = {{0}, {0}, {0}};
        begin(c);
        tell_images(c->shard);
        for (int step = 0; step < STEPS; step++)
            one_step(c, &r, &h);
        struct shard *fresh = rebuilt(c, &h);
        assert_int_equal(shard_nodes(c->shard), shard_nodes(fresh));
        assert_int_equal(shard_pods(c->shard), shard_pods(fresh));
        assert_int_equal(shard_ghosts(c->shard), shard_ghosts(fresh));
        assert_int_equal(shard_nominations(c->shard), shard_nominations(fresh));
        for (int q = 0; q < QUESTIONS; q++) {
            struct map_request request = random_question(c, &r);
            struct str lived = answer(c, c->shard, &request), built = answer(c, fresh, &request);
            if (!str_equal(lived, built))
                fail_msg("seed %u:\n%.*s\n%.*s", (unsigned)seed, STR_ARG(lived), STR_ARG(built));
        }
        shard_free(&fresh);
    }
}

/* ---- property: kept = looked at ---- */

/* One of few, so that what was found out for one is of use to the next. */
static struct map_request preemptor(struct cluster *c, struct random *r, uint64_t kinds,
                                    int64_t now_us)
{
    static const int cpus[] = {700, 1500, 3000, 100, 100};
    size_t kind = (size_t)random_below(r, kinds);
    struct pod *p = make_pod(c, "p", cpus[kind], 256 * MIB);
    struct affinity_term near = {.selector = {.present = true},
                                 .namespaces = strs_of(&c->arena, "default"),
                                 .topology_key = STR_LITERAL("zone")};
    *APPEND(&c->arena, near.selector.labels) = (struct label){STR_LITERAL("app"), str_of(apps[0])};
    if (kind == 3) /* nowhere, while there are such pods in both zones */
        *APPEND(&c->arena, p->anti_affinity_required) = near;
    if (kind == 4) { /* nowhere: near them, and not near them */
        *APPEND(&c->arena, p->anti_affinity_required) = near;
        *APPEND(&c->arena, p->affinity_required) = near;
    }
    p->uid = arena_print(&c->arena, "uid-%u",
                         (unsigned)(PODS + 2 + random_below(r, (uint64_t)2 * CLAIMS)));
    p->priority = kind == 0 ? 1 : 2;
    return (struct map_request){.cycle = 1,
                                .round = 1,
                                .pod = *p,
                                .alone = true,
                                .step = MAP_STEP_victims,
                                .dry_run.now_us = now_us,
                                .findings.skip = 1 << 6, /* VolumeBinding: there are none */
                                .tie_break = TIE_BREAK_first};
}

static struct candidate_rank rank_of(const struct candidate *c, int64_t now_us)
{
    struct candidate_rank rank = {.violations = c->violations};
    for (uint32_t i = 0; i < c->victims.count; i++)
        candidate_rank_add(&rank, c->victims.at[i].priority,
                           c->victims.at[i].started == 0 ? now_us : c->victims.at[i].started);
    return rank;
}

/* The best of all candidates, and how many are as good. */
static const struct candidate *best_of(const struct map_result *all, int64_t now_us, int64_t *ties)
{
    const struct candidate *best = NULL;
    *ties = 0;
    for (uint32_t i = 0; i < all->dry_run.candidates.count; i++) {
        const struct candidate *one = &all->dry_run.candidates.at[i];
        struct candidate_rank rank = rank_of(one, now_us), least;
        if (best != NULL)
            least = rank_of(best, now_us);
        int order = best == NULL ? -1 : candidate_rank_compare(&rank, &least);
        *ties = order < 0 ? 1 : *ties + (order == 0);
        if (order < 0 || (order == 0 && str_compare(one->node, best->node) < 0))
            best = one;
    }
    return best;
}

static int64_t times(const struct map_result *r, struct str text)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->dry_run.reasons.count; i++)
        if (str_equal(r->dry_run.reasons.at[i].text, text))
            sum += r->dry_run.reasons.at[i].count;
    return sum;
}

static void assert_same_reasons(const struct map_result *a, const struct map_result *b)
{
    for (uint32_t i = 0; i < a->dry_run.reasons.count; i++)
        assert_int_equal(times(a, a->dry_run.reasons.at[i].text),
                         times(b, a->dry_run.reasons.at[i].text));
}

/* With detail nothing is kept, so that is what looking at all nodes says. */
static void assert_tells_the_best(struct cluster *c, struct map_request *request)
{
    int64_t ties;
    struct map_result plain, all;
    shard_map(c->shard, request, &plain, &c->arena);
    request->detail = true;
    shard_map(c->shard, request, &all, &c->arena);
    const struct candidate *best = best_of(&all, request->dry_run.now_us, &ties);
    assert_int_equal(plain.dry_run.nodes, all.dry_run.nodes);
    assert_int_equal(plain.dry_run.fits, all.dry_run.fits);
    assert_same_reasons(&plain, &all);
    assert_same_reasons(&all, &plain);
    assert_int_equal(plain.dry_run.candidates.count, best != NULL);
    if (best == NULL)
        return;
    const struct candidate *told = &plain.dry_run.candidates.at[0];
    assert_int_equal(told->ties, ties);
    assert_int_equal(told->violations, best->violations);
    assert_true(str_equal(told->node, best->node));
    assert_int_equal(told->victims.count, best->victims.count);
    for (uint32_t i = 0; i < best->victims.count; i++)
        assert_true(codec_equal(&victim_record, &told->victims.at[i], &best->victims.at[i]));
}

static int64_t times_rejected(const struct map_result *r, struct str text)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->reasons.count; i++)
        if (str_equal(r->reasons.at[i].text, text))
            sum += r->reasons.at[i].count;
    return sum;
}

/* With detail no class answers. */
static void assert_places_alike(struct cluster *c, struct map_request *request)
{
    struct map_result plain, all;
    request->step = MAP_STEP_map;
    request->detail = false;
    shard_map(c->shard, request, &plain, &c->arena);
    request->detail = true;
    shard_map(c->shard, request, &all, &c->arena);
    assert_int_equal(plain.feasible, all.feasible);
    assert_true(str_equal(plain.best_node, all.best_node));
    assert_int_equal(plain.best_total, all.best_total);
    assert_int_equal(plain.best_count, all.best_count);
    for (uint32_t i = 0; plain.feasible == 0 && i < all.reasons.count; i++)
        assert_int_equal(times_rejected(&plain, all.reasons.at[i].text), all.reasons.at[i].count);
}

struct asked {
    uint64_t nodes, looked, repeated;
};

/* Between changes of a long history pods of these kinds are asked about, and answers compared. */
static struct asked ask_through_histories(struct cluster *c, uint64_t kinds)
{
    struct asked sum = {0};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct random r = {seed};
        struct history h = {{0}, {0}, {0}};
        begin(c);
        for (int step = 0; step < STEPS; step++) {
            if (step < 100 || random_below(&r, 5) == 0)
                one_step(c, &r, &h);
            if (random_below(&r, 50) == 0)
                many_claims(c, &r, &h);
            struct map_request request =
                preemptor(c, &r, kinds, random_below(&r, 30) == 0 ? 1 : 2 + step / 100);
            uint64_t before = shard_dry_run_rows(c->shard);
            assert_tells_the_best(c, &request);
            uint64_t detailed = shard_nodes(c->shard);
            sum.looked += shard_dry_run_rows(c->shard) - before - detailed;
            assert_places_alike(c, &request);
            sum.nodes += shard_nodes(c->shard);
        }
        sum.repeated += shard_repeated(c->shard);
    }
    return sum;
}

static void what_dry_runs_keep_is_what_they_would_find(void **state)
{
    const struct asked sum = ask_through_histories(*state, 3);
    assert_true(sum.looked < sum.nodes * 2 / 3); /* else nothing is kept */
}

/* Also of pods that count others, of which neither classes nor dry runs keep it. */
static void nothing_found_is_nothing_found_until_something_changes(void **state)
{
    const struct asked sum = ask_through_histories(*state, 5);
    assert_true(sum.repeated > 1000);
}

/* ---- kinds by labels ---- */

static void ask_labelled(struct cluster *c, const char *key, const char *value, bool repeats)
{
    struct map_request request = {.cycle = 1,
                                  .round = 1,
                                  .pod = *make_pod(c, value, 900000, 0),
                                  .alone = true,
                                  .findings.skip = 1 << 6,
                                  .step = MAP_STEP_map};
    struct map_result result;
    uint64_t before = shard_repeated(c->shard);
    struct label label = {str_of(key), str_of(value)};
    request.pod.labels.count = 1;
    request.pod.labels.at = &label;
    *APPEND(&c->arena, request.pod.affinity_required) =
        (struct affinity_term){.selector = {.present = true},
                               .namespaces = strs_of(&c->arena, "default"),
                               .topology_key = STR_LITERAL("zone")};
    *APPEND(&c->arena, request.pod.affinity_required.at[0].selector.labels) =
        (struct label){STR_LITERAL("app"), STR_LITERAL("web")};
    shard_map(c->shard, &request, &result, &c->arena);
    assert_int_equal(result.feasible, 0);
    assert_int_equal(shard_repeated(c->shard) - before, repeats);
}

/* A label of each pod's own makes no difference, unless somebody looks at it: the pods themselves,
 * or who is there. */
static void labels_that_nobody_looks_at_make_no_kinds(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_pod(c, make_pod(c, "plain", 100, 0), "n1");
    ask_labelled(c, "index", "0", false);
    ask_labelled(c, "index", "1", true);
    ask_labelled(c, "app", "a", false);
    ask_labelled(c, "app", "b", false);
    struct pod *there = make_pod(c, "there", 100, 0);
    struct affinity_term *t = APPEND(&c->arena, there->anti_affinity_required);
    *t = (struct affinity_term){.selector = {.present = true},
                                .namespaces = strs_of(&c->arena, "default"),
                                .topology_key = STR_LITERAL("zone")};
    *APPEND(&c->arena, t->selector.expressions) =
        (struct requirement){STR_LITERAL("index"), STR_LITERAL("In"), strs_of(&c->arena, "1")};
    put_pod(c, there, "n1");
    ask_labelled(c, "index", "0", false);
    ask_labelled(c, "index", "1", false);
    ask_labelled(c, "other", "1", false);
    ask_labelled(c, "other", "2", true);
}

/* A pod that uses a claim itself is not told what is true of others. */
static void own_use_of_a_claim_is_its_own(void **state)
{
    struct cluster *c = *state;
    static const struct {
        const char *uid;
        int64_t feasible;
    } asked[] = {{"uid-b", 0}, {"uid-a", 1}};
    struct device_user user = {STR_LITERAL("claim"), STR_LITERAL("n1"), STR_LITERAL("uid-a")};
    struct map_result result;
    struct pod *there = make_pod(c, "a", 100, 0);
    begin(c);
    there->uid = STR_LITERAL("uid-a");
    shard_reset(c->shard, &c->profile, 1);
    shard_node_set(c->shard, make_node(c, "n1", 4000, 4 * GIB));
    put_pod(c, there, "n1");
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        struct map_request q = {.cycle = 1,
                                .round = 1,
                                .pod = *make_pod(c, "p", 100, 0),
                                .alone = true,
                                .findings = {.skip = 1 << 6, .device_users = {1, &user}},
                                .step = MAP_STEP_map};
        q.pod.uid = str_of(asked[i].uid);
        shard_map(c->shard, &q, &result, &c->arena);
        assert_int_equal(result.feasible, asked[i].feasible);
    }
}

/* ---- ghosts ---- */

static void pods_wait_for_their_node(void **state)
{
    struct cluster *c = *state;
    begin(c);
    struct pod *early = make_pod(c, "early", 800, 0);
    put_pod(c, early, "n1");
    assert_int_equal(shard_ghosts(c->shard), 1);
    assert_int_equal(shard_nodes(c->shard), 0);
    put_node(c, make_node(c, "n1", 1000, GIB));
    assert_int_equal(shard_ghosts(c->shard), 0);
    assert_string_equal(ruling_on(c, make_pod(c, "p", 300, 0), "n1"),
                        "NodeResourcesFit U: Insufficient cpu");
}

static void a_node_takes_its_pods_with_it(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    put_pod(c, make_pod(c, "a", 800, 0), "n1");
    shard_node_gone(c->shard, STR_LITERAL("n1"));
    shard_node_gone(c->shard, STR_LITERAL("never"));
    assert_int_equal(shard_pods(c->shard), 0);
    put_node(c, make_node(c, "n1", 1000, GIB));
    assert_string_equal(ruling_on(c, make_pod(c, "p", 300, 0), "n1"), "");
}

static void a_pod_that_is_told_again_is_counted_once_and_where_it_is_now(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    put_node(c, make_node(c, "n2", 1000, GIB));
    struct pod *a = make_pod(c, "a", 800, 0);
    put_pod(c, a, "n1");
    put_pod(c, a, "n1");
    put_pod(c, a, "n2");
    assert_int_equal(shard_pods(c->shard), 1);
    assert_string_equal(ruling_on(c, make_pod(c, "p", 300, 0), "n1"), "");
    assert_string_equal(ruling_on(c, make_pod(c, "p", 300, 0), "n2"),
                        "NodeResourcesFit U: Insufficient cpu");
}

/* ---- rounds ---- */

static struct map_request request_for(const struct pod *p, int64_t round)
{
    return (struct map_request){.cycle = 7,
                                .round = round,
                                .step = MAP_STEP_map,
                                .alone = true,
                                .pod = *p,
                                .tie_break = TIE_BREAK_first};
}

/* n1 has one soft taint, n2 none. */
static void soft_taints(struct cluster *c)
{
    begin(c);
    struct node *n1 = make_node(c, "n1", 1000, GIB);
    add_taint(c, n1, "x", "PreferNoSchedule");
    put_node(c, n1);
    put_node(c, make_node(c, "n2", 1000, GIB));
}

static void a_second_round_normalises_with_the_merged_maxima(void **state)
{
    struct cluster *c = *state;
    soft_taints(c);
    shard_node_gone(c->shard, STR_LITERAL("n2"));
    const struct pod *p = make_pod(c, "p", 0, 0);
    struct map_request first = request_for(p, 1), second = request_for(p, 2);
    second.step = MAP_STEP_again;
    int64_t own = map_with(c, &first)->best_total; /* n1 is its own worst: 0 for taints */
    struct extreme merged = {STR_LITERAL("TaintToleration"), 0, 4};
    second.extremes.count = 1;
    second.extremes.at = &merged;
    const struct map_result *r = map_with(c, &second);
    assert_int_equal(r->best_total, own + INT64_C(3) * 75);
    assert_int_equal(r->round, 2);
    assert_int_equal(r->feasible, 1);
    /* lost by a change of rows: evaluated again, to the same end */
    put_node(c, make_node(c, "gone", 1, GIB));
    shard_node_gone(c->shard, STR_LITERAL("gone"));
    assert_int_equal(map_with(c, &second)->best_total, own + INT64_C(3) * 75);
}

/* Extenders may turn away what passed: then the reasons of the others are wanted all the same. */
static void a_list_has_all_that_passed_and_why_others_did_not(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    put_node(c, make_node(c, "n2", 4000, GIB));
    put_node(c, make_node(c, "n3", 4000, GIB));
    struct map_request request = {.cycle = 1,
                                  .round = 1,
                                  .pod = *make_pod(c, "p", 2000, MIB),
                                  .step = MAP_STEP_map,
                                  .alone = true,
                                  .list = true,
                                  .tie_break = TIE_BREAK_first};
    const struct map_result *r = map_with(c, &request);
    assert_int_equal(r->listed.count, 2);
    assert_int_equal(r->listed.at[0].total, r->best_total);
    assert_int_equal(r->reasons.count, 1);
    assert_int_equal(r->reasons.at[0].count, 1);
}

/* On bare nodes no pod takes room and no image is there. */
static void bare_nodes_are_scored_as_if_empty(void **state)
{
    struct cluster *c = *state;
    begin(c);
    struct node *with_image = make_node(c, "n2", 4000, GIB);
    add_image(c, with_image, "app:v1", 900 * MIB);
    put_node(c, make_node(c, "n1", 4000, GIB));
    put_node(c, with_image);
    put_pod(c, make_pod(c, "there", 1000, MIB), "n1");
    struct pod *p = make_pod(c, "p", 1000, MIB);
    p->images = strs_of(&c->arena, "app:v1");
    p->container_count = 1;
    struct map_request request = {.cycle = 1,
                                  .round = 1,
                                  .pod = *p,
                                  .step = MAP_STEP_map,
                                  .alone = true,
                                  .list = true,
                                  .tie_break = TIE_BREAK_first};
    const struct map_result *r = map_with(c, &request);
    assert_true(r->listed.at[0].total != r->listed.at[1].total);
    request.bare = true;
    r = map_with(c, &request);
    assert_int_equal(r->listed.count, 2);
    assert_int_equal(r->listed.at[0].total, r->listed.at[1].total);
    assert_int_equal(r->best_count, 2);
}

static void only_named_nodes_are_looked_at(void **state)
{
    struct cluster *c = *state;
    soft_taints(c);
    struct map_request request = request_for(make_pod(c, "p", 0, 0), 1);
    request.only = strs_of(&c->arena, "n2 elsewhere");
    const struct map_result *r = map_with(c, &request);
    assert_int_equal(r->evaluated, 1);
    assert_int_equal(r->feasible, 1);
    assert_int_equal(r->nodes, 2);
    assert_str(r->best_node, "n2");
}

static void nominated_pods_keep_their_place(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "n1", 1000, GIB));
    put_node(c, make_node(c, "n2", 1000, GIB));
    struct pod *claim = make_pod(c, "claim", 800, 0), *p = make_pod(c, "p", 300, 0);
    claim->nominated_node = STR_LITERAL("n1");
    p->nominated_node = STR_LITERAL("n2");
    struct map_request request = request_for(p, 1);
    shard_nominated(c->shard, claim);
    const struct map_result *r = map_with(c, &request);
    assert_int_equal(r->feasible, 1);
    assert_str(r->best_node, "n2");
    assert_true(r->nominated_fits);
    /* nor is a claim in the way of those above it, of its own group, or of the pod itself */
    request.pod.priority = 1;
    assert_int_equal(map_with(c, &request)->feasible, 2);
    request.pod.priority = 0;
    assert_int_equal(map_with(c, &request)->feasible, 1);
    request.siblings = strs_of(&c->arena, "somebody");
    *APPEND(&c->arena, request.siblings) = claim->uid;
    assert_int_equal(map_with(c, &request)->feasible, 2);
    request.siblings.count = 0;
    request.pod.uid = claim->uid;
    assert_int_equal(map_with(c, &request)->feasible, 2);
    request.pod.uid = p->uid;
    shard_nominated_gone(c->shard, claim->uid);
    shard_nominated_gone(c->shard, claim->uid);
    assert_int_equal(map_with(c, &request)->feasible, 2);
    claim->nominated_node = STR_LITERAL("elsewhere");
    shard_nominated(c->shard, claim);
    assert_int_equal(shard_nominations(c->shard), 0);
}

/* ---- dry runs ---- */

static void a_dry_run_tells_whether_room_could_be_made(void **state)
{
    struct cluster *c = *state;
    begin(c);
    put_node(c, make_node(c, "low", 1000, GIB));
    put_node(c, make_node(c, "equal", 1000, GIB));
    put_node(c, make_node(c, "small", 100, GIB));
    put_node(c, make_node(c, "mixed", 1000, GIB));
    struct pod *equal = make_pod(c, "equal", 900, 0), *half = make_pod(c, "half", 600, 0);
    equal->priority = half->priority = 5;
    put_pod(c, make_pod(c, "a", 900, 0), "low");
    put_pod(c, equal, "equal");
    put_pod(c, half, "mixed");
    put_pod(c, make_pod(c, "b", 400, 0), "mixed");
    struct pod *p = make_pod(c, "p", 500, 0);
    p->priority = 5;
    struct map_request request = request_for(p, 3);
    request.step = MAP_STEP_victims;
    const struct map_result *r = map_with(c, &request);
    assert_int_equal(r->dry_run.nodes, 3); /* small can never hold it */
    assert_int_equal(r->dry_run.fits, 1);
    assert_int_equal(r->dry_run.reasons.count, 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(
            str_is(r->dry_run.reasons.at[i].text, "No preemption victims found for incoming pod") ||
            str_is(r->dry_run.reasons.at[i].text, "Insufficient cpu"));
}

/* ---- ties ---- */

static void a_random_tie_break_takes_each_best_node(void **state)
{
    struct cluster *c = *state;
    static const char *const names[] = {"n1", "n2", "n3", "n4"};
    int taken[4] = {0};
    begin(c);
    for (int i = 0; i < 4; i++)
        put_node(c, make_node(c, names[i], 1000, GIB));
    struct map_request request = request_for(make_pod(c, "p", 0, 0), 1);
    request.tie_break = TIE_BREAK_none;
    for (int64_t seed = 0; seed < 4000; seed++) {
        request.seed = seed;
        const struct map_result *r = map_with(c, &request);
        assert_int_equal(r->best_count, 4);
        for (int i = 0; i < 4; i++)
            taken[i] += str_is(r->best_node, names[i]);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(taken[i], 850, 1150); /* five standard deviations */
}

/* ---- absurd input ---- */

static void absurd_amounts_and_names_harm_nobody(void **state)
{
    struct cluster *c = *state;
    begin(c);
    struct node *n = make_node(c, "n1", INT64_MAX, INT64_MIN);
    QUANTITY(&c->arena, n->allocatable, "example.com/gpu", 1);
    QUANTITY(&c->arena, n->allocatable, "example.com/gpu", 2);
    put_node(c, n);
    struct pod *p = make_pod(c, "p", INT64_MAX, 1);
    ask_more(c, p, "example.com/gpu", 0);
    ask_more(c, p, "example.com/gpu", INT64_MAX);
    put_pod(c, p, "n1");
    struct pod *q = make_pod(c, "q", INT64_MAX, INT64_MIN);
    put_pod(c, q, "n1");
    (void)map_pod(c, make_pod(c, "x", INT64_MAX, INT64_MAX));
    shard_pod_gone(c->shard, p->uid);
    shard_pod_gone(c->shard, q->uid);
    shard_pod_gone(c->shard, q->uid);
    struct pod *stranger = make_pod(c, "s", 0, 0);
    stranger->scheduler_name = STR_LITERAL("nobody");
    assert_str(map_pod(c, stranger)->error, "no profile is called \"nobody\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(a_long_history_and_a_fresh_start_answer_alike),
        CLUSTER_TEST(what_dry_runs_keep_is_what_they_would_find),
        CLUSTER_TEST(nothing_found_is_nothing_found_until_something_changes),
        CLUSTER_TEST(labels_that_nobody_looks_at_make_no_kinds),
        CLUSTER_TEST(own_use_of_a_claim_is_its_own),
        CLUSTER_TEST(pods_wait_for_their_node),
        CLUSTER_TEST(a_node_takes_its_pods_with_it),
        CLUSTER_TEST(a_pod_that_is_told_again_is_counted_once_and_where_it_is_now),
        CLUSTER_TEST(a_second_round_normalises_with_the_merged_maxima),
        CLUSTER_TEST(a_list_has_all_that_passed_and_why_others_did_not),
        CLUSTER_TEST(bare_nodes_are_scored_as_if_empty),
        CLUSTER_TEST(only_named_nodes_are_looked_at),
        CLUSTER_TEST(nominated_pods_keep_their_place),
        CLUSTER_TEST(a_dry_run_tells_whether_room_could_be_made),
        CLUSTER_TEST(a_random_tie_break_takes_each_best_node),
        CLUSTER_TEST(absurd_amounts_and_names_harm_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
