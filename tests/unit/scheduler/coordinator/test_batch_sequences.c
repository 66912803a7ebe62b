/* test_batch_sequences: batched = one at a time. The same random cluster, pods and events are given
 * to a coordinator that decides in batches and to one that does not; both must tell the binder and
 * the queue the same, and their workers must end with the same view.
 *
 * Events fall into the middle of a batch, or of two that are under way. One at a time, their place
 * is the middle of the last decision that the answers concluded: what came before it is decided on
 * the old state, what comes behind it on the new. With several workers the same holds for runs.
 * Ties are not broken at random: which node a seed picks among equals is no promise.
 * BATCH_SEQUENCES and BATCH_SEED change how many and which. */
#include "proto/base/log.h"
#include "tests/unit/scheduler/coordinator/batch_world.h"

#include <limits.h>

enum { NODES_MOST = 36, PODS = 96, ROUNDS = 4, EVENTS = 4 };

enum life { LIFE_new, LIFE_tried, LIFE_bound, LIFE_gone };

struct actor_pod {
    char text[1200]; /* without node_name */
    enum life life;
    char node[8];
};

/* What happens, in words that both sides are told. */
enum event_kind { EVENT_stream, EVENT_queue, EVENT_bind_failed, EVENT_deposed, EVENT_worker_dies };

struct event {
    enum event_kind kind;
    char text[1400];
};

struct play {
    struct random dice;
    struct side *batched, *single;
    struct event events[EVENTS];
    int event_count, pod_count, cycle;
    int64_t version;
    uint32_t nodes;  /* how many there are */
    uint32_t roomy;  /* how much room nodes have */
    bool plain;      /* few pods have to do with others, and many are alike: none preempts, as
                        of victims that began at the same time any may go first */
    bool alike;      /* plain, but that pods which are alike mostly have to do with others */
    bool unlike;     /* pods look at nodes alone, and hardly two are alike; none preempts */
    bool near;       /* alike, who would mostly like to be on a node with others */
    char look[1100]; /* of the last pod */
    enum tie_break_rule tie_break;
};

static struct actor_pod pods[PODS];
static uint64_t seed_now;
static long concluded_in_batches, cut, events_in_batches, events_in_two;
static long concluded_in_picks, picks_cut, events_in_picks;
static long concluded_in_runs, events_in_runs, concluded_in_groups, runs_followed, decided_risen;

static uint32_t roll(struct play *p, uint32_t below)
{
    return (uint32_t)random_below(&p->dice, below);
}

static bool often(struct play *p, uint32_t percent)
{
    return roll(p, 100) < percent;
}

/* ---- nodes and pods ---- */

static const char *const zones[] = {"x", "y", "z"};
#define HOST_PORT "ports=[{ip=\"0.0.0.0\" protocol=\"TCP\" port=80}]"

static const char *const apps[] = {"web", "db", "job"};

static void node_text(struct play *p, uint32_t i, char *out, size_t room)
{
    snprintf(out, room,
             "node_set node={name=\"n%u\" resource_version=%lld "
             "labels=[{key=\"kubernetes.io/hostname\" value=\"n%u\"} "
             "{key=\"topology.kubernetes.io/zone\" value=\"%s\"}] %s %s "
             "allocatable=[{name=\"cpu\" amount=%u} {name=\"memory\" amount=8589934592} "
             "{name=\"pods\" amount=%u}]}",
             i, (long long)++p->version, i, zones[roll(p, 3)],
             often(p, 10) ? "unschedulable=true" : "",
             often(p, 15) ? "taints=[{key=\"k\" effect=\"PreferNoSchedule\"}]" : "",
             p->roomy * 500 * (1 + roll(p, 4)), p->roomy * (3 + roll(p, 6)));
}

static const char *selector(struct play *p)
{
    static char text[128];
    snprintf(text, sizeof(text), "selector={present=true labels=[{key=\"app\" value=\"%s\"}]}",
             apps[roll(p, 3)]);
    return text;
}

static const char *topology(struct play *p)
{
    return often(p, 50) ? "kubernetes.io/hostname" : "topology.kubernetes.io/zone";
}

/* Something that makes the pod look at other pods, or not go along with a batch. */
static void add_wish(struct play *p, char *out, size_t room)
{
    if (p->near && often(p, 80)) {
        snprintf(out, room,
                 "affinity_preferred=[{%s namespaces=[\"default\"] "
                 "topology_key=\"kubernetes.io/hostname\" weight=%u}]",
                 often(p, 70) ? "selector={present=true}" : selector(p), 1 + roll(p, 100));
        return;
    }
    switch (roll(p, p->alike ? 6 : 9)) {
    case 0:
    case 1:
        snprintf(out, room,
                 "has_spread=true spread=[{max_skew=1 topology_key=\"%s\" "
                 "when_unsatisfiable=\"%s\" %s}]",
                 topology(p), often(p, 60) ? "DoNotSchedule" : "ScheduleAnyway", selector(p));
        return;
    case 2:
    case 3:
        snprintf(out, room,
                 "anti_affinity_required=[{%s namespaces=[\"default\"] topology_key=\"%s\"}]",
                 selector(p), topology(p));
        return;
    case 4:
        snprintf(out, room, "affinity_required=[{%s namespaces=[\"default\"] topology_key=\"%s\"}]",
                 selector(p), topology(p));
        return;
    case 5:
        snprintf(out, room, "%s=[{%s namespaces=[\"default\"] topology_key=\"%s\" weight=%u}]",
                 often(p, 50) ? "affinity_preferred" : "anti_affinity_preferred", selector(p),
                 topology(p), 1 + roll(p, 100));
        return;
    case 6: snprintf(out, room, HOST_PORT); return;
    case 7:
        snprintf(out, room,
                 "node_selector=[{key=\"topology.kubernetes.io/zone\" value=\"%s\"}] "
                 "has_node_selector=true",
                 zones[roll(p, 3)]);
        return;
    default:
        snprintf(out, room, "%s",
                 often(p, 50) ? "volumes=[{kind=\"gce-pd\" name=\"disk\" volume=\"v\"}]"
                              : "affinity_preferred=[{selector={present=true} "
                                "namespace_selector={present=true labels=[{key=\"t\" value=\"u\"}]}"
                                " topology_key=\"topology.kubernetes.io/zone\" weight=5}]");
    }
}

/* What a pod may ask of nodes that has nothing to do with other pods, but for their ports. */
static void add_own_wish(struct play *p, char *out, size_t room)
{
    const char *zone = zones[roll(p, 3)];
    switch (roll(p, 8)) {
    case 0: snprintf(out, room, HOST_PORT); return;
    case 1:
        snprintf(out, room,
                 "node_selector=[{key=\"topology.kubernetes.io/zone\" value=\"%s\"}] "
                 "has_node_selector=true",
                 zone);
        return;
    case 2:
        snprintf(out, room,
                 "preferred_terms=[{weight=%u term={expressions=[{"
                 "key=\"topology.kubernetes.io/zone\" operator_name=\"In\" values=[\"%s\"]}]}}]",
                 1 + roll(p, 100), zone);
        return;
    case 3: snprintf(out, room, "tolerations=[{key=\"k\" operator_name=\"Exists\"}]"); return;
    default: out[0] = 0;
    }
}

static void make_pod(struct play *p, uint32_t i)
{
    char wish[512] = "";
    uint32_t cpu = often(p, p->roomy > 1 ? 3 : 8) ? 90000 : 100 * roll(p, 8);
    if (p->unlike)
        add_own_wish(p, wish, sizeof(wish));
    else if (often(p, p->alike ? 75 : p->plain ? 3 : p->roomy > 1 ? 35 : 55))
        add_wish(p, wish, sizeof(wish));
    if (p->look[0] == 0 || !p->plain || often(p, p->alike ? 8 : 20))
        snprintf(
            p->look, sizeof(p->look),
            "scheduler_name=\"default-scheduler\" priority=%u started=%u container_count=1 "
            "labels=[{key=\"app\" value=\"%s\"}] request=[{name=\"cpu\" amount=%u}] "
            "score_request=[{name=\"cpu\" amount=%u} {name=\"memory\" amount=209715200}] "
            "usage=[{name=\"cpu\" amount=%u}] usage_score_cpu=%u usage_score_memory=209715200 %s",
            !p->plain && !p->unlike && often(p, 15) ? 10 : 0, i + 1, apps[roll(p, 3)], cpu,
            cpu + (cpu == 0 ? 100 : 0), cpu, cpu + (cpu == 0 ? 100 : 0), wish);
    snprintf(pods[i].text, sizeof(pods[i].text),
             "uid=\"u%u\" namespace_name=\"default\" name=\"p%u\" resource_version=%lld %s", i, i,
             (long long)++p->version, p->look);
    pods[i].life = LIFE_new;
}

/* A pod that is not gone; false when none was found. */
static bool some_pod(struct play *p, enum life life, uint32_t *found)
{
    for (int i = 0; i < 20; i++) {
        *found = roll(p, (uint32_t)p->pod_count);
        if (pods[*found].life == life)
            return true;
    }
    return false;
}

/* ---- both sides hear the same ---- */

static void both_see(struct play *p, const char *text)
{
    sees(p->batched, "%s", text);
    sees(p->single, "%s", text);
}

static void both_hear(struct play *p, struct address from, const char *text)
{
    hear(p->batched, from, "%s", text);
    hear(p->single, from, "%s", text);
}

static void begin(struct play *p)
{
    char text[1400];
    for (uint32_t i = 0; i < p->nodes; i++) {
        node_text(p, i, text, sizeof(text));
        both_see(p, text);
    }
    if (!p->unlike && often(p, 50))
        both_see(p, "owner_set owner={kind=\"Service\" namespace_name=\"default\" name=\"web\" "
                    "selector={present=true labels=[{key=\"app\" value=\"web\"}]}}");
    both_see(p, "namespace_set name=\"default\" labels=[{key=\"t\" value=\"u\"}]");
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t k = (uint32_t)p->pod_count++;
        make_pod(p, k);
        snprintf(pods[k].node, sizeof(pods[k].node), "n%u", roll(p, p->nodes));
        pods[k].life = LIFE_bound;
        snprintf(text, sizeof(text), "pod_set pod={%s node_name=\"%s\"}", pods[k].text,
                 pods[k].node);
        both_see(p, text);
    }
    side_begins(p->batched);
    side_begins(p->single);
}

static void try_pods(struct play *p)
{
    char text[1400];
    int count = 2 + (int)roll(p, p->alike || p->unlike ? 24 : 12);
    for (int i = 0; i < count && p->pod_count < PODS; i++) {
        uint32_t k;
        if (!often(p, 30) || !some_pod(p, LIFE_new, &k)) {
            k = (uint32_t)p->pod_count++;
            make_pod(p, k);
            snprintf(text, sizeof(text), "pod_set pod={%s}", pods[k].text);
            both_see(p, text);
        }
        snprintf(text, sizeof(text), "attempt pod={%s} cycle=%d", pods[k].text, ++p->cycle);
        pods[k].life = LIFE_tried;
        both_hear(p, queue, text);
    }
}

/* ---- events ---- */

static void pod_event(struct play *p, struct event *e)
{
    uint32_t k;
    enum life life = often(p, 70) ? LIFE_tried : LIFE_bound;
    if (!some_pod(p, life, &k))
        return;
    uint32_t what = roll(p, 4);
    if (what == 0 && life == LIFE_tried) { /* somebody else binds it */
        snprintf(e->text, sizeof(e->text), "pod_set pod={%s node_name=\"n%u\"}", pods[k].text,
                 roll(p, p->nodes));
    } else if (what == 1 && life == LIFE_tried) { /* it changes */
        make_pod(p, k);
        pods[k].life = LIFE_tried;
        snprintf(e->text, sizeof(e->text), "pod_set pod={%s}", pods[k].text);
    } else {
        pods[k].life = LIFE_gone;
        snprintf(e->text, sizeof(e->text), "pod_gone uid=\"u%u\"", k);
    }
}

/* A pod of nobody that we know, on some node. */
static void foreign_event(struct play *p, struct event *e)
{
    if (p->pod_count == PODS)
        return;
    uint32_t k = (uint32_t)p->pod_count++;
    make_pod(p, k);
    pods[k].life = LIFE_bound;
    snprintf(pods[k].node, sizeof(pods[k].node), "n%u", roll(p, p->nodes));
    snprintf(e->text, sizeof(e->text), "pod_set pod={%s node_name=\"%s\"}", pods[k].text,
             pods[k].node);
}

static void add_event(struct play *p)
{
    struct event *e = &p->events[p->event_count];
    uint32_t k, kind = roll(p, 20);
    *e = (struct event){.kind = EVENT_stream};
    if (kind < 7) {
        pod_event(p, e);
    } else if (kind < 10) {
        snprintf(e->text, sizeof(e->text), "node_gone name=\"n%u\"", roll(p, p->nodes));
    } else if (kind < 14) {
        node_text(p, roll(p, p->nodes), e->text, sizeof(e->text));
    } else if (kind < 16) {
        foreign_event(p, e);
    } else if (kind < 18 && some_pod(p, LIFE_bound, &k)) {
        e->kind = EVENT_bind_failed;
        snprintf(e->text, sizeof(e->text),
                 "bind_result uid=\"u%u\" namespace_name=\"default\" name=\"p%u\" "
                 "node_name=\"%s\" code=409 message=\"no\"",
                 k, k, pods[k].node);
    } else if (kind == 18) {
        e->kind = EVENT_deposed;
    } else if (kind == 19 && p->tie_break != TIE_BREAK_round_robin) {
        /* One of several dies, or the only one: the next decision begins now, or later. In turn
         * that counts, as the walk's order hangs on which changes of nodes it begins between. */
        e->kind = EVENT_worker_dies;
    }
    p->event_count += e->kind >= EVENT_deposed || e->text[0] != 0;
}

static void let_happen(struct play *p, struct side *s)
{
    s->meanwhile = true;
    for (int i = 0; i < p->event_count; i++) {
        const struct event *e = &p->events[i];
        if (e->kind == EVENT_stream)
            sees(s, "%s", e->text);
        else if (e->kind == EVENT_bind_failed)
            hear(s, binder, "%s", e->text);
        else if (e->kind == EVENT_worker_dies)
            worker_dies(s);
        else
            hear(s, binder, "leadership lead_term=%lld identity=\"me\" holder=\"other\"",
                 (long long)++s->term);
        if (e->kind == EVENT_deposed)
            lead(s);
    }
    s->meanwhile = false;
}

/* ---- a round, batched and one at a time ---- */

static bool is_a_new_decision(struct side *s)
{
    struct message m;
    assert_true(outbox_get(&s->answered, 0, &m, &s->arena));
    assert_int_equal(m.type, MSG_map_result);
    return m.map_result.round == 1;
}

/* The first answer arrives, perhaps twice. Returns how many decisions it concluded, or began to. */
static long conclude_one(struct play *p)
{
    struct side *s = p->batched;
    if (s->answered.at[0].type != MSG_map_batch_result) {
        long decisions = is_a_new_decision(s);
        (void)answer(s, 1);
        return decisions;
    }
    long before = counter(s, "batch_pods");
    (void)answer(s, often(p, 10) ? 2 : 1);
    long decisions = counter(s, "batch_pods") - before;
    concluded_in_batches += decisions;
    return decisions;
}

static long under_way(const struct side *s)
{
    return (long)s->answered.count;
}

static bool is_a_run(const struct side *s)
{
    return under_way(s) > 0 && s->answered.at[0].type == MSG_map_run_result;
}

static bool are_picks(const struct side *s)
{
    return s->answered.count > 0 && (s->answered.at[0].type == MSG_map_picks_result ||
                                     s->answered.at[0].type == MSG_map_checked);
}

/* What is under way comes to its end; with it the next may have begun. */
static void finish(struct play *p)
{
    struct side *s = p->batched;
    long before = counter(s, "cycles");
    while (under_way(s) > 0 && counter(s, "cycles") == before) {
        (void)answer(s, often(p, 10) ? 2 : 1);
        work(s);
    }
}

/* The same with several workers, of which some may have answered. */
static long decide_with_several(struct play *p)
{
    struct side *s = p->batched;
    long before = counter(s, "cycles"), runs = counter(s, "run_pods");
    long grouped = counter(s, "run_grouped_pods"), picked = counter(s, "picked_pods");
    tick(s);
    work(s);
    for (uint32_t i = roll(p, 3); i > 0 && under_way(s) > 0; i--) {
        finish(p);
        tick(s);
        work(s);
    }
    bool any = under_way(s) > 0;
    events_in_runs += is_a_run(s) && p->event_count > 0;
    events_in_picks += are_picks(s) && p->event_count > 0;
    for (uint32_t i = roll(p, (uint32_t)under_way(s) + 1); i > 1; i--)
        (void)answer(s, 1);
    long decided = counter(s, "cycles") - before;
    let_happen(p, s);
    work(s);
    finish(p);
    long meanwhile = counter(s, "cycles") - before - decided;
    settle(s);
    concluded_in_runs += counter(s, "run_pods") - runs;
    concluded_in_groups += counter(s, "run_grouped_pods") - grouped;
    concluded_in_picks += counter(s, "picked_pods") - picked;
    if (!any)
        return LONG_MAX;
    return decided + (meanwhile > 0 ? meanwhile : 1);
}

/* Lets the events happen behind some answers. Returns into which decision they fell; a large number
 * when there was none. */
static long decide_batched(struct play *p)
{
    struct side *s = p->batched;
    long decided = 0, meanwhile = 0;
    tick(s);
    work(s);
    for (uint32_t i = roll(p, 3); i > 0 && under_way(s) > 0; i--) {
        decided += conclude_one(p);
        tick(s);
        work(s);
    }
    bool any = under_way(s) > 0;
    bool batch = any && s->answered.at[0].type == MSG_map_batch_result;
    bool begun = any && !batch && !is_a_new_decision(s); /* it is counted already */
    events_in_batches += batch && p->event_count > 0;
    events_in_two += under_way(s) > 1 && p->event_count > 0;
    let_happen(p, s);
    for (long left = under_way(s); left > 0 && under_way(s) > 0; left--) {
        meanwhile += conclude_one(p);
        if (often(p, 50)) {
            tick(s);
            work(s);
        }
    }
    settle(s);
    if (!any)
        return LONG_MAX;
    return begun ? decided : decided + (meanwhile > 0 ? meanwhile : 1);
}

/* The events fall into the n-th decision. */
static void decide_one_by_one(struct play *p, long n)
{
    struct side *s = p->single;
    bool happened = false;
    for (int i = 0; i < 10000; i++) {
        tick(s);
        work(s);
        bool asked = s->answered.count > 0;
        if (asked && is_a_new_decision(s))
            n--;
        if (!happened && (n == 0 || !asked)) {
            let_happen(p, s);
            happened = true;
        } else if (!asked) {
            return;
        }
        if (s->answered.count > 0)
            (void)answer(s, 1);
    }
    fail_msg("it never ends");
}

/* ---- comparing ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Fails with the first lines that differ: cmocka's own words are cut off at 1024 bytes. */
static void assert_same(const char *one, const char *a, const char *other, const char *b)
{
    if (strcmp(a, b) == 0)
        return;
    size_t from = 0;
    for (size_t i = 0; a[i] != 0 && a[i] == b[i]; i++)
        if (a[i] == '\n')
            from = i + 1;
    fprintf(stderr, "seed %llu\n%s: %.*s\n%s: %.*s\n", (unsigned long long)seed_now, one,
            (int)strcspn(a + from, "\n"), a + from, other, (int)strcspn(b + from, "\n"), b + from);
    fail();
}

/* The lines told to some, joined: decisions in order, what was said meanwhile and to the queue in
 * any, as an event's words come earlier or later among those of decisions. */
static char *lines_of(struct side *s, bool decisions)
{
    static char *at[4096];
    size_t count = 0;
    struct buffer all = {0};
    for (size_t i = 0; i < s->told_count; i++)
        if ((s->told[i].to == BINDER && !s->told[i].meanwhile) == decisions)
            at[count++] = s->told[i].text;
    if (!decisions)
        qsort(at, count, sizeof(at[0]), by_text);
    for (size_t i = 0; i < count; i++)
        buffer_print(&all, "%s\n", at[i]);
    buffer_add(&all, "", 1);
    return all.at;
}

static void assert_same_words(struct play *p, bool decisions)
{
    char *a = lines_of(p->batched, decisions), *b = lines_of(p->single, decisions);
    assert_same("batched", a, "one at a time", b);
    memory_free(a);
    memory_free(b);
}

/* What its worker says of every node for a pod that has something to do with every other; of
 * several, each knows only its own, and so the pod has to do with nobody, and what depends on other
 * nodes' scores is left out. */
static void ask_view(struct side *s, uint32_t peer, const char *ports, bool alone)
{
    char probe[1400];
    snprintf(probe, sizeof(probe),
             "map_request cycle=1 round=1 step=\"map\" alone=true detail=true tie_break=\"first\" "
             "pod={uid=\"probe\" namespace_name=\"%s\" name=\"probe\" "
             "scheduler_name=\"default-scheduler\" "
             "request=[{name=\"cpu\" amount=1}] score_request=[{name=\"cpu\" amount=100} "
             "{name=\"memory\" amount=209715200}] %s %s}",
             alone ? "default" : "nowhere", ports,
             !alone ? ""
                    : "labels=[{key=\"app\" value=\"web\"}] "
                      "spread=[{max_skew=3 topology_key=\"kubernetes.io/hostname\" "
                      "when_unsatisfiable=\"ScheduleAnyway\" selector={present=true}}] "
                      "affinity_preferred=[{selector={present=true labels=[{key=\"app\" "
                      "value=\"db\"}]} namespaces=[\"default\"] "
                      "topology_key=\"kubernetes.io/hostname\" weight=7}]");
    struct message m = side_message(s, probe);
    worker_gets(s, peer, &m);
}

static long number_of(const struct worker *w, const char *key)
{
    struct buffer lines = {0};
    worker_status((void *)w, &lines);
    buffer_add(&lines, "", 1);
    const char *at = strstr(lines.at, key);
    assert_non_null(at);
    long value = strtol(at + strlen(key), NULL, 10);
    buffer_free(&lines);
    return value;
}

static void add_verdict_of(struct side *s, const char *node, bool alone, struct buffer *text)
{
    for (size_t k = 0; k < s->answered.count; k++) {
        struct message m;
        assert_true(outbox_get(&s->answered, k, &m, &s->arena));
        for (uint32_t i = 0; i < m.map_result.verdicts.count; i++) {
            struct verdict *v = &m.map_result.verdicts.at[i];
            v->total = alone ? v->total : 0;
            for (uint32_t at = 0; at < v->scores.count && !alone; at++)
                v->scores.at[at].weighted = 0;
            if (!str_is(v->node, node))
                continue;
            codec_print(&verdict_record, v, text);
            buffer_add_text(text, "\n");
        }
    }
}

static char *view_of(struct side *s, const char *ports, bool alone)
{
    struct buffer text = {0};
    long nodes = number_of(s->worker, "\nnodes="), count = number_of(s->worker, "\npods=");
    ask_view(s, s->worker_peer, ports, alone);
    for (uint32_t i = 0; i < s->other_count; i++) {
        nodes += number_of(s->others[i], "\nnodes=");
        count += number_of(s->others[i], "\npods=");
        ask_view(s, s->other_peers[i], ports, alone);
    }
    for (uint32_t row = 0; row < NODES_MOST; row++) { /* by name: rows move */
        char name[8];
        snprintf(name, sizeof(name), "n%u", row);
        add_verdict_of(s, name, alone, &text);
    }
    buffer_print(&text, "nodes=%ld pods=%ld", nodes, count);
    buffer_add(&text, "", 1);
    outbox_reset(&s->answered);
    return text.at;
}

static void assert_same_view(struct side *a, struct side *b)
{
    bool alone = a->other_count + b->other_count == 0;
    const char *ports = alone ? HOST_PORT : ""; /* shares that move are told anew, see below */
    char *left = view_of(a, ports, alone), *right = view_of(b, ports, alone);
    assert_same("batched", left, "one at a time", right);
    memory_free(left);
    memory_free(right);
}

/* A worker that is told everything anew sees what the one sees that has kept up. Not so with ports:
 * of two pods that others have put on a node with the same port, the first that goes frees it, in
 * upstream as well. */
static void assert_worker_has_kept_up(struct side *s)
{
    bool alone = s->other_count == 0;
    char *kept = view_of(s, "", alone);
    worker_dies(s);
    tick(s);
    work(s);
    char *fresh = view_of(s, "", alone);
    assert_same("kept up", kept, "told anew", fresh);
    memory_free(kept);
    memory_free(fresh);
}

/* ---- what becomes of decisions ---- */

static void copy_field(const char *text, const char *key, char *out, size_t room)
{
    const char *at = strstr(text, key), *end;
    assert_non_null(at);
    at += strlen(key);
    end = strchr(at, '"');
    assert_true((size_t)(end - at) < room);
    memcpy(out, at, (size_t)(end - at));
    out[end - at] = 0;
}

static void end_bind(struct play *p, const char *bind)
{
    char uid[8], node[8], text[1400];
    copy_field(bind, "uid=\"", uid, sizeof(uid));
    copy_field(bind, "node_name=\"", node, sizeof(node));
    struct actor_pod *pod = &pods[strtol(uid + 1, NULL, 10)];
    snprintf(pod->node, sizeof(pod->node), "%s", node);
    if (pod->life == LIFE_gone || often(p, 15))
        return; /* answered later, or never */
    bool bound = often(p, 85);
    snprintf(text, sizeof(text),
             "bind_result uid=\"%s\" namespace_name=\"default\" name=\"p%s\" node_name=\"%s\" "
             "%s",
             uid, uid + 1, node, bound ? "bound=true code=201" : "code=409 message=\"no\"");
    both_hear(p, binder, text);
    pod->life = bound ? LIFE_bound : LIFE_new;
    if (bound && often(p, 60)) {
        snprintf(text, sizeof(text), "pod_set pod={%s node_name=\"%s\"}", pod->text, node);
        both_see(p, text);
    }
}

/* The victims go, and the preemptor is told so. */
static void end_preemption(struct play *p, const char *preempt)
{
    char uid[8], node[8], text[256];
    const char *victims = strstr(preempt, "victims=[");
    const char *name = strstr(preempt, "} node_name=\"");
    copy_field(preempt, "uid=\"", uid, sizeof(uid));
    assert_non_null(name);
    copy_field(name, "node_name=\"", node, sizeof(node));
    snprintf(text, sizeof(text), "preempt_result uid=\"%s\" node_name=\"%s\" done=true", uid, node);
    both_hear(p, binder, text);
    for (const char *at = victims; at != NULL && (at = strstr(at, "{uid=\"")) != NULL; at++) {
        copy_field(at, "{uid=\"", uid, sizeof(uid));
        pods[strtol(uid + 1, NULL, 10)].life = LIFE_gone;
        snprintf(text, sizeof(text), "pod_gone uid=\"%s\"", uid);
        both_see(p, text);
    }
}

static void end_round(struct play *p)
{
    size_t count = p->batched->told_count;
    for (size_t i = 0; i < count; i++) {
        const struct told *t = &p->batched->told[i];
        char uid[8];
        if (t->type == MSG_bind)
            end_bind(p, t->text);
        else if (t->type == MSG_preempt)
            end_preemption(p, t->text);
        if (t->type != MSG_outcome)
            continue;
        copy_field(t->text, "uid=\"", uid, sizeof(uid));
        struct actor_pod *pod = &pods[strtol(uid + 1, NULL, 10)];
        if (pod->life == LIFE_tried)
            pod->life = LIFE_new;
    }
    settle(p->batched);
    settle(p->single);
}

static void play_round(struct play *p)
{
    try_pods(p);
    p->event_count = 0;
    for (uint32_t i = often(p, 50) ? 1 + roll(p, EVENTS) : 0; i > 0; i--)
        add_event(p);
    decide_one_by_one(p, p->batched->other_count > 0 ? decide_with_several(p) : decide_batched(p));
    assert_same_words(p, true);
    assert_same_words(p, false);
    end_round(p);
    assert_same_words(p, true);
    assert_same_words(p, false);
    assert_same_view(p->batched, p->single);
    forget_told(p->batched);
    forget_told(p->single);
}

static void play_sequence(uint64_t seed)
{
    struct play *p = memory_take(sizeof(*p));
    seed_now = seed;
    memset(pods, 0, sizeof(pods));
    p->dice.state = seed * 0x9e3779b97f4a7c15u;
    p->plain = often(p, 50);
    p->alike = p->plain && often(p, 60);
    p->near = p->alike && often(p, 20);
    p->unlike = !p->plain && often(p, 40);
    p->nodes = often(p, p->alike || p->unlike ? 10 : 60) ? 8 : 12 + roll(p, NODES_MOST - 11);
    p->tie_break = often(p, 4) ? TIE_BREAK_round_robin : TIE_BREAK_first; /* one at a time */
    p->roomy = often(p, 50) ? 1 : 4;
    clock_step_us = often(p, 70) ? 0 : 100 + 100 * roll(p, 8);
    p->batched =
        side_new(often(p, 30) ? 0 : 2 + roll(p, p->alike || p->unlike ? 30 : 4), p->tie_break);
    p->single = side_new(1, p->tie_break);
    for (uint32_t i = often(p, p->alike || p->unlike ? 80 : 50) ? 1 + roll(p, WORKERS_MOST - 1) : 0;
         i > 0; i--)
        other_begins(p->batched);
    begin(p);
    for (int i = 0; i < ROUNDS; i++)
        play_round(p);
    cut += counter(p->batched, "batches_cut");
    picks_cut += counter(p->batched, "picks_cut");
    runs_followed += counter(p->batched, "runs_followed");
    decided_risen += counter(p->batched, "run_risen_pods");
    assert_int_equal(counter(p->single, "batches"), 0);
    assert_worker_has_kept_up(p->single);
    assert_worker_has_kept_up(p->batched);
    side_free(&p->batched);
    side_free(&p->single);
    memory_free(p);
}

#ifdef __SANITIZE_THREAD__
#define SEQUENCES 300 /* 25 times as slow, and all of it is one thread */
#else
#define SEQUENCES 2000
#endif

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void batched_is_one_at_a_time(void **state)
{
    (void)state;
    uint64_t count = number("BATCH_SEQUENCES", SEQUENCES), first = number("BATCH_SEED", 1);
    for (uint64_t seed = first; seed < first + count; seed++)
        play_sequence(seed);
    print_message("%ld decisions in batches, %ld batches cut, %ld times events within, %ld times "
                  "within two\n",
                  concluded_in_batches, cut, events_in_batches, events_in_two);
    print_message("%ld decisions in runs, %ld of them counted for, %ld behind a range that rose, "
                  "%ld times events within, %ld times the next was asked\n",
                  concluded_in_runs, concluded_in_groups, decided_risen, events_in_runs,
                  runs_followed);
    print_message("%ld decisions in picks, %ld of them cut, %ld times events within\n",
                  concluded_in_picks, picks_cut, events_in_picks);
    if (count >= 100) { /* it was worth the while */
        assert_true(concluded_in_batches > (long)count * 3);
        assert_true(cut > (long)count / 4 && events_in_batches > (long)count / 4);
        assert_true(events_in_two > (long)count / 20);
        assert_true(concluded_in_runs > (long)count && events_in_runs > (long)count / 20);
        assert_true(concluded_in_groups > (long)count / 2);
        assert_true(decided_risen > (long)count / 25);
        assert_true(runs_followed > (long)count / 10);
        assert_true(concluded_in_picks > (long)count && picks_cut > (long)count / 10);
        assert_true(events_in_picks > (long)count / 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(batched_is_one_at_a_time)};
    log_set_level(LOG_LEVEL_error); /* what happens here is worth a line, but not thousands */
    return cmocka_run_group_tests_name("batch_sequences", tests, NULL, NULL);
}
