/* test_gang_scenarios: random clusters, groups and plain pods, played with 1, 2, 3 and 7 workers.
 * The judge keeps accounts of its own, of what binder and queue are told, and shares nothing with
 * the scheduler:
 * - of a group that is tried at least as many are bound as it needs, or none; so with evictions;
 * - on no node more is asked for than it has, nor is room made where it would not do;
 * - a group of equal members that fits is placed, and one for which evictions would do gets them;
 * - every member gets exactly one outcome, and nothing stays assumed;
 * - any number of workers decides the same;
 * - a group that was refused has left no trace: without it all is decided as it was.
 * GANG_SCENARIOS and GANG_SEED change how many and which. */
#include "proto/base/log.h"
#include "tests/unit/scheduler/coordinator/batch_world.h"

enum { NODES = 6, GROUPS = 4, MEMBERS = 7, EVENTS = 10, OLD = 8, PODS = OLD + GROUPS * MEMBERS };

struct model_node {
    bool there;
    int cpu, slots;
};

struct model_pod {
    char name[32];
    char wish[400]; /* what else it asks for */
    int cpu, priority, group;
    int node;      /* -1: on none */
    int nominated; /* -1: to none */
    bool shown;    /* on its node, by the API server */
    int owed;      /* outcomes or binds that are still to come */
    bool gone;
};

struct model_group {
    int first, count, min;
    bool equal; /* all members ask for the same room, and for nothing else */
};

enum event_kind { EVENT_group, EVENT_plain, EVENT_gone, EVENT_node, EVENT_node_gone };

struct event {
    enum event_kind kind;
    int which;       /* group, pod or node */
    bool binds_fail; /* the first one that it leads to */
};

/* A scenario before anything happens, and one that is being played. */
struct scenario {
    struct model_node nodes[NODES];
    struct model_pod pods[PODS];
    struct model_group groups[GROUPS];
    struct event events[EVENTS];
    int node_count, pod_count, group_count, event_count;
};

struct play {
    struct scenario now;
    struct side *side;
    struct random *chaos; /* NULL: nothing happens in the middle of a transaction */
    bool disturbed;
    struct buffer log[EVENTS + 1]; /* what was decided, by event */
    bool refused[EVENTS + 1];      /* a group, and nothing was evicted */
    int cycle, version, event;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCENARIOS 1000 /* they take ten times as long there */
#else
#define SCENARIOS 10000
#endif

static uint64_t seed_now;
static enum tie_break_rule tie_break;
static long placed_groups, refused_groups, evicting_groups, disturbed_groups, untouched;

static void refute(const char *condition)
{
    fail_msg("seed %llu: %s", (unsigned long long)seed_now, condition);
}

/* An expression, so that it nests nothing. */
#define EXPECT(condition, ...)                                                                     \
    ((condition) ? (void)0 : (print_message(__VA_ARGS__), refute(#condition)))

/* ---- scenarios ---- */

static int roll(struct random *dice, int below)
{
    return (int)random_below(dice, (uint64_t)below);
}

static struct model_pod *add_pod(struct scenario *c, const char *prefix, int cpu, int priority)
{
    struct model_pod *p = &c->pods[c->pod_count];
    *p = (struct model_pod){
        .cpu = cpu, .priority = priority, .group = -1, .node = -1, .nominated = -1};
    snprintf(p->name, sizeof(p->name), "%s%d", prefix, c->pod_count++);
    return p;
}

#define OF_GROUP "selector={present=true labels=[{key=\"app\" value=\"g%d\"}]}"

/* What its members ask of each other. */
static void make_wish(struct random *dice, int group, char *out, size_t room)
{
    out[0] = 0;
    switch (roll(dice, 8)) {
    case 0:
        snprintf(out, room,
                 "anti_affinity_required=[{" OF_GROUP " namespaces=[\"default\"] "
                 "topology_key=\"kubernetes.io/hostname\"}]",
                 group);
        break;
    case 1:
        snprintf(out, room,
                 "affinity_required=[{" OF_GROUP " namespaces=[\"default\"] "
                 "topology_key=\"zone\"}]",
                 group);
        break;
    case 2:
        snprintf(out, room,
                 "has_spread=true spread=[{max_skew=1 topology_key=\"zone\" "
                 "when_unsatisfiable=\"DoNotSchedule\" " OF_GROUP "}]",
                 group);
        break;
    default: break;
    }
}

static void add_group(struct scenario *c, struct random *dice)
{
    struct model_group *g = &c->groups[c->group_count];
    int count = 1 + roll(dice, MEMBERS), cpu = 500 * (1 + roll(dice, 6));
    int priority = roll(dice, 3) == 0 ? 9 : 0;
    bool differ = roll(dice, 4) == 0, ranked = roll(dice, 8) == 0;
    char wants[400];
    make_wish(dice, c->group_count, wants, sizeof(wants));
    *g = (struct model_group){.first = c->pod_count,
                              .count = count,
                              .min = roll(dice, 2) ? count : 1 + roll(dice, count),
                              .equal = !differ && !ranked && wants[0] == 0};
    for (int i = 0; i < count; i++) {
        struct model_pod *p = add_pod(c, "g", differ ? 500 * (1 + roll(dice, 6)) : cpu,
                                      ranked && i >= count / 2 ? 0 : priority);
        p->group = c->group_count;
        snprintf(p->wish, sizeof(p->wish), "%s", wants);
    }
    c->group_count++;
}

static int used(const struct scenario *c, int node, bool slots)
{
    int sum = 0;
    for (int i = 0; i < c->pod_count; i++)
        if (c->pods[i].node == node && !c->pods[i].gone)
            sum += slots ? 1 : c->pods[i].cpu;
    return sum;
}

static int free_cpu(const struct scenario *c, int node)
{
    return c->nodes[node].cpu - used(c, node, false);
}

static int free_slots(const struct scenario *c, int node)
{
    return c->nodes[node].slots - used(c, node, true);
}

static void add_old_pods(struct scenario *c, struct random *dice)
{
    for (int i = 0; i < OLD; i++) {
        struct model_pod *p = add_pod(c, "p", 500 * (1 + roll(dice, 4)), roll(dice, 3));
        int node = roll(dice, c->node_count);
        if (roll(dice, 3) > 0 && c->nodes[node].there && free_cpu(c, node) >= p->cpu &&
            free_slots(c, node) > 0)
            p->node = node;
    }
}

static void make(struct scenario *c, struct random *dice)
{
    memset(c, 0, sizeof(*c));
    c->node_count = 1 + roll(dice, NODES);
    for (int i = 0; i < c->node_count; i++)
        c->nodes[i] = (struct model_node){.there = roll(dice, 6) > 0,
                                          .cpu = 1000 * (1 + roll(dice, 4)),
                                          .slots = roll(dice, 5) == 0 ? 2 : 10};
    add_old_pods(c, dice);
    for (int groups = 1 + roll(dice, GROUPS); groups > 0; groups--)
        add_group(c, dice);
    c->event_count = 3 + roll(dice, EVENTS - 2);
    for (int i = 0; i < c->event_count; i++) {
        static const enum event_kind often[] = {EVENT_group, EVENT_group, EVENT_group, EVENT_plain,
                                                EVENT_plain, EVENT_gone,  EVENT_node};
        struct event *e = &c->events[i];
        e->kind = roll(dice, 25) == 0 ? EVENT_node_gone : often[roll(dice, 7)];
        e->binds_fail = roll(dice, 12) == 0;
        e->which = e->kind == EVENT_group   ? roll(dice, c->group_count)
                   : e->kind == EVENT_plain ? roll(dice, OLD)
                   : e->kind == EVENT_gone  ? roll(dice, c->pod_count)
                                            : roll(dice, c->node_count);
    }
}

/* ---- telling ---- */

static const char *pod_text(const struct play *p, const struct model_pod *pod, const char *node)
{
    static char texts[MEMBERS][1200];
    static unsigned next;
    char *text = texts[next++ % MEMBERS];
    int place = (int)(pod - p->now.pods);
    snprintf(text, sizeof(texts[0]),
             "{uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" resource_version=%d "
             "scheduler_name=\"default-scheduler\" priority=%d request=[{name=\"cpu\" amount=%d}] "
             "score_request=[{name=\"cpu\" amount=%d} {name=\"memory\" amount=209715200}] "
             "usage=[{name=\"cpu\" amount=%d}] usage_score_cpu=%d usage_score_memory=209715200 "
             "started=%d labels=[{key=\"app\" value=\"%c%d\"} {key=\"%s\" value=\"g%d\"}] "
             "%s %s%s%s}",
             pod->name, pod->name, p->version, pod->priority, pod->cpu, pod->cpu, pod->cpu,
             pod->cpu, 1000000 + place * 1000, pod->group >= 0 ? 'g' : 'p', pod->group,
             pod->group >= 0 ? "scheduling.x-k8s.io/pod-group" : "of", pod->group, pod->wish,
             node[0] ? "node_name=\"" : "", node, node[0] ? "\"" : "");
    return text;
}

static void tell_node(struct play *p, int i)
{
    sees(p->side,
         "node_set node={name=\"n%d\" resource_version=%d labels=[{key=\"kubernetes.io/hostname\" "
         "value=\"n%d\"} {key=\"zone\" value=\"z%d\"}] allocatable=[{name=\"cpu\" amount=%d} "
         "{name=\"memory\" amount=8589934592} {name=\"pods\" amount=%d}]}",
         i, ++p->version, i, i % 2, p->now.nodes[i].cpu, p->now.nodes[i].slots);
}

static void tell_pod(struct play *p, const struct model_pod *pod)
{
    char node[16];
    snprintf(node, sizeof(node), "n%d", pod->node);
    ++p->version;
    sees(p->side, "pod_set pod=%s", pod_text(p, pod, node));
}

static void pod_goes(struct play *p, struct model_pod *pod)
{
    pod->gone = true;
    pod->nominated = -1;
    sees(p->side, "pod_gone uid=\"u-%s\" namespace_name=\"default\" name=\"%s\"", pod->name,
         pod->name);
}

/* ---- the judge: what binder and queue were told ---- */

/* The value of a field that stands first in its line, or behind a blank or a brace. */
static const char *field(const char *text, const char *name)
{
    static char values[4][600];
    static unsigned next;
    char key[40], *value = values[next++ % 4];
    snprintf(key, sizeof(key), "%s=\"", name);
    const char *at = text;
    while ((at = strstr(at, key)) != NULL && at != text && strchr(" {", at[-1]) == NULL)
        at++;
    value[0] = 0;
    if (at != NULL)
        snprintf(value, sizeof(values[0]), "%.*s", (int)strcspn(at + strlen(key), "\""),
                 at + strlen(key));
    return value;
}

static struct model_pod *pod_named(struct play *p, const char *name)
{
    for (int i = 0; i < p->now.pod_count; i++)
        if (strcmp(p->now.pods[i].name, name) == 0)
            return &p->now.pods[i];
    EXPECT(false, "no pod %s\n", name);
    return NULL;
}

static int node_named(const char *name)
{
    return name[0] == 'n' ? (int)strtol(name + 1, NULL, 10) : -1;
}

static void judge_room(const struct play *p)
{
    for (int i = 0; i < p->now.node_count; i++)
        EXPECT(free_cpu(&p->now, i) >= 0 && free_slots(&p->now, i) >= 0,
               "event %d: node n%d: %d cpu and %d slots left\n", p->event, i, free_cpu(&p->now, i),
               free_slots(&p->now, i));
}

/* What was said since it was read last. */
struct said_so_far {
    int binds, fails, evictions, skips;
    char victims[PODS][32];
    char for_whom[PODS][32];
    int victim_count;
};

/* Nominated members have room once those that are to go have gone. */
static void judge_nominations(struct play *p, const struct model_group *g,
                              const struct said_so_far *all)
{
    int nominated = 0;
    struct scenario after = p->now;
    for (int i = 0; i < all->victim_count; i++)
        after.pods[pod_named(p, all->victims[i]) - p->now.pods].gone = true;
    for (int i = 0; i < g->count; i++) {
        struct model_pod *pod = &after.pods[g->first + i];
        nominated += pod->nominated >= 0;
        if (pod->nominated >= 0)
            pod->node = pod->nominated;
    }
    for (int i = 0; i < after.node_count; i++)
        EXPECT(free_cpu(&after, i) >= 0 && free_slots(&after, i) >= 0,
               "event %d: not enough was evicted from n%d\n", p->event, i);
    int bound = 0;
    for (int i = 0; i < g->count; i++)
        bound += p->now.pods[g->first + i].node >= 0 && !p->now.pods[g->first + i].gone;
    EXPECT(nominated + bound >= g->min, "event %d: evicted for %d of %d\n", p->event, nominated,
           g->min);
}

static bool is_member(const struct model_group *g, const struct model_pod *pod,
                      const struct play *p)
{
    return g != NULL && pod >= &p->now.pods[g->first] && pod < &p->now.pods[g->first + g->count];
}

static void judge_bind(struct play *p, const char *text, struct said_so_far *all)
{
    struct model_pod *pod = pod_named(p, field(text, "name"));
    EXPECT(pod->owed == 1 && pod->node < 0, "event %d: %s is bound, owed %d\n", p->event, pod->name,
           pod->owed);
    pod->node = node_named(field(text, "node_name"));
    pod->nominated = -1;
    pod->owed = 0;
    EXPECT(p->now.nodes[pod->node].there, "event %d: no such node\n", p->event);
    all->binds++;
    buffer_print(&p->log[p->event], "bind %s n%d\n", pod->name, pod->node);
}

static void judge_outcome(struct play *p, const char *text, struct said_so_far *all)
{
    const char *uid = field(text, "uid"), *result = field(text, "result");
    struct model_pod *pod = pod_named(p, uid + 2);
    if (strcmp(result, "bound") == 0)
        return; /* its bind was counted */
    EXPECT(pod->owed == 1, "event %d: outcome %s of %s, owed %d\n", p->event, result, pod->name,
           pod->owed);
    pod->owed = 0;
    all->fails++;
    all->skips += strcmp(result, "skipped") == 0;
    buffer_print(&p->log[p->event], "%s %s\n", result, pod->name);
}

/* Its victims go at once, and the binder says so. */
static void note_victims(struct play *p, const char *text, struct said_so_far *all)
{
    const char *at = strstr(text, "victims=[");
    struct model_pod *preemptor = pod_named(p, field(strstr(text, "pod={"), "name"));
    EXPECT(at != NULL, "%s\n", text);
    const char *end = strchr(at, ']');
    all->evictions++;
    while ((at = strstr(at, " name=\"")) != NULL && at < end && all->victim_count < PODS) {
        int i = all->victim_count++;
        snprintf(all->victims[i], 32, "%.*s", (int)strcspn(at + 7, "\""), at + 7);
        snprintf(all->for_whom[i], 32, "%s", preemptor->name);
        struct model_pod *victim = pod_named(p, all->victims[i]);
        EXPECT(victim->priority < preemptor->priority && victim->node >= 0,
               "event %d: %s is evicted for %s\n", p->event, victim->name, preemptor->name);
        at += 7;
    }
}

static void note_failure(struct play *p, const char *text)
{
    struct model_pod *pod = pod_named(p, field(strstr(text, "pod={"), "name"));
    const char *message = strstr(text, "message=\"");
    const char *sets = strstr(text, "set_nominated=true");
    if (sets != NULL) /* the pod before it has a field of that name, too */
        pod->nominated = node_named(field(sets, "nominated_node"));
    buffer_print(&p->log[p->event], "%s n%d %.*s\n", pod->name, pod->nominated,
                 message != NULL ? (int)strcspn(message + 9, "\"") : 0,
                 message != NULL ? message + 9 : "");
}

static void read_all(struct play *p, struct said_so_far *all)
{
    for (size_t i = 0; i < p->side->told_count; i++) {
        const struct told *t = &p->side->told[i];
        if (t->type == MSG_bind)
            judge_bind(p, t->text, all);
        else if (t->type == MSG_outcome)
            judge_outcome(p, t->text, all);
        else if (t->type == MSG_preempt)
            note_victims(p, t->text, all);
        else if (t->type == MSG_pod_failed)
            note_failure(p, t->text);
        else if (t->type == MSG_group_failed)
            buffer_print(&p->log[p->event], "%s\n", t->text);
    }
    forget_told(p->side);
}

/* ---- playing ---- */

/* The API server refuses a bind, and the pod comes back. */
static void refuse(struct play *p, struct model_pod *pod)
{
    hear(p->side, binder,
         "bind_result uid=\"u-%s\" namespace_name=\"default\" name=\"%s\" node_name=\"n%d\" "
         "code=500 message=\"no\"",
         pod->name, pod->name, pod->node);
    const char *outcome = said(p->side, MSG_outcome, 0);
    EXPECT(outcome != NULL && strstr(outcome, "result=\"error\"") != NULL,
           "event %d: %s is not given back\n", p->event, pod->name);
    pod->node = -1;
}

/* The API server shows what was bound; maybe the first bind fails. */
static void confirm(struct play *p, bool first_fails)
{
    for (int i = 0; i < p->now.pod_count; i++) {
        struct model_pod *pod = &p->now.pods[i];
        if (pod->node < 0 || pod->gone || pod->shown)
            continue;
        if (first_fails) {
            refuse(p, pod);
            first_fails = false;
            continue;
        }
        tell_pod(p, pod);
        pod->shown = true;
    }
    forget_told(p->side);
    EXPECT(counter(p->side, "assumed") == 0, "event %d: something stays assumed\n", p->event);
}

/* Binds of a former term that nobody has heard of are void: their pods are bound again, or given
 * back. */
static void begin_term(struct play *p, struct said_so_far *all)
{
    read_all(p, all);
    for (int i = 0; i < p->now.pod_count; i++) {
        struct model_pod *pod = &p->now.pods[i];
        if (pod->node < 0 || pod->shown || pod->gone)
            continue;
        pod->node = -1;
        pod->owed = 1;
        all->binds--;
    }
    lead(p->side);
}

static void disturb(struct play *p, struct said_so_far *all)
{
    struct random *d = p->chaos;
    int node = roll(d, p->now.node_count);
    struct model_pod *pod = &p->now.pods[roll(d, p->now.pod_count)];
    p->disturbed = true;
    disturbed_groups++;
    switch (roll(d, 5)) {
    case 0:
        if (!pod->gone)
            pod_goes(p, pod);
        break;
    case 1:
        p->now.nodes[node].there = true;
        tell_node(p, node);
        break;
    case 2: worker_dies(p->side); break;
    case 3:
        if (p->side->other_count < WORKERS_MOST - 1)
            other_begins(p->side);
        break;
    default: begin_term(p, all); break;
    }
}

static void settle_disturbed(struct play *p, struct said_so_far *all)
{
    int after = p->chaos != NULL ? roll(p->chaos, 12) : -1;
    for (int i = 0; i < 10000; i++) {
        tick(p->side);
        work(p->side);
        if (p->side->answered.count == 0)
            return;
        if (after-- == 0)
            disturb(p, all);
        if (p->side->answered.count > 0)
            (void)answer(p->side, 1);
    }
    fail_msg("seed %llu: it never ends", (unsigned long long)seed_now);
}

static int members_on_nodes(const struct play *p, const struct model_group *g)
{
    int count = 0;
    for (int i = 0; i < g->count; i++)
        count += p->now.pods[g->first + i].node >= 0 && !p->now.pods[g->first + i].gone;
    return count;
}

/* All that wait; returns how many. */
static int send_group(struct play *p, struct model_group *g)
{
    static char text[16384];
    int placed = members_on_nodes(p, g), count = 0;
    int len = snprintf(text, sizeof(text),
                       "gang_attempt group={api=\"scheduling.x-k8s.io\" "
                       "namespace_name=\"default\" name=\"g%d\" uid=\"u-group\" min_member=%d} "
                       "needed=%d placed=%d members=[",
                       p->now.pods[g->first].group, g->min, g->min > placed ? g->min - placed : 0,
                       placed);
    for (int i = 0; i < g->count; i++) {
        struct model_pod *pod = &p->now.pods[g->first + i];
        if (pod->node >= 0 || pod->gone)
            continue;
        char node[1] = "";
        pod->owed++;
        len += snprintf(text + len, sizeof(text) - (size_t)len, "{pod=%s attempts=1 cycle=%d} ",
                        pod_text(p, pod, node), ++p->cycle);
        count++;
    }
    snprintf(text + len, sizeof(text) - (size_t)len, "]");
    if (count == 0)
        return 0;
    struct message m = side_message(p->side, text);
    hears(p->side, queue, &m, false);
    return count;
}

/* What equal members could have, if all of lower priority (than `above`) went. */
static int places(const struct play *p, const struct model_group *g, int above)
{
    const struct model_pod *like = &p->now.pods[g->first];
    struct scenario without = p->now;
    int sum = 0;
    for (int i = 0; i < without.pod_count; i++)
        if (without.pods[i].priority < above)
            without.pods[i].gone = true;
    for (int i = 0; i < without.node_count; i++) {
        int by_cpu = free_cpu(&without, i) / like->cpu, by_slots = free_slots(&without, i);
        if (without.nodes[i].there)
            sum += by_cpu < by_slots ? by_cpu : by_slots;
    }
    return sum;
}

static void evict_all(struct play *p, const struct said_so_far *all)
{
    for (int i = 0; i < all->victim_count; i++) {
        struct model_pod *victim = pod_named(p, all->victims[i]);
        if (!victim->gone)
            pod_goes(p, victim);
    }
    for (int i = 0; i < p->now.pod_count; i++) {
        const struct model_pod *pod = &p->now.pods[i];
        if (pod->owed > 0 && pod->nominated >= 0)
            hear(p->side, binder, "preempt_result uid=\"u-%s\" node_name=\"n%d\" done=true",
                 pod->name, pod->nominated);
    }
    settle(p->side);
}

/* What the judge knew before the attempt. */
struct expectation {
    int sent, needed, free, with_evictions;
};

static struct expectation expect_of(const struct play *p, const struct model_group *g)
{
    struct expectation e = {.needed = g->min - members_on_nodes(p, g)};
    e.free = places(p, g, -1);
    e.with_evictions = places(p, g, p->now.pods[g->first].priority);
    return e;
}

/* Nobody else may be nominated: they would keep the group out. */
static bool others_are_nominated(const struct play *p, const struct model_group *g)
{
    for (int i = 0; i < p->now.pod_count; i++)
        if (p->now.pods[i].nominated >= 0 && !p->now.pods[i].gone &&
            !is_member(g, &p->now.pods[i], p))
            return true;
    return false;
}

static void judge_group(struct play *p, const struct model_group *g, const struct expectation *e,
                        const struct said_so_far *all, bool others)
{
    EXPECT(all->binds == 0 || all->binds >= e->needed, "event %d: %d bound, %d needed\n", p->event,
           all->binds, e->needed);
    EXPECT(all->binds == 0 || all->evictions == 0 || e->needed <= 0,
           "event %d: bound and evicted\n", p->event);
    placed_groups += all->binds > 0;
    evicting_groups += all->evictions > 0;
    refused_groups += all->binds + all->evictions == 0;
    if (all->evictions > 0 && e->needed > 0)
        judge_nominations(p, g, all);
    if (p->disturbed || !g->equal || others || e->needed <= 0 || e->sent < e->needed)
        return;
    EXPECT((e->free >= e->needed) == (all->binds > 0), "event %d: %d bound, %d places, %d needed\n",
           p->event, all->binds, e->free, e->needed);
    bool evicts = e->free < e->needed && e->with_evictions >= e->needed;
    EXPECT(evicts == (all->evictions > 0),
           "event %d: %d evictions, %d places with them, %d needed\n", p->event, all->evictions,
           e->with_evictions, e->needed);
}

static void nobody_is_owed(const struct play *p)
{
    for (int i = 0; i < p->now.pod_count; i++)
        EXPECT(p->now.pods[i].owed == 0, "event %d: %s has no outcome\n", p->event,
               p->now.pods[i].name);
}

static void try_group(struct play *p, struct model_group *g, const struct event *event)
{
    struct expectation e = expect_of(p, g);
    struct said_so_far all = {0}, later = {0};
    bool others = others_are_nominated(p, g), nominated = false;
    for (int i = 0; i < g->count; i++)
        nominated |= p->now.pods[g->first + i].nominated >= 0;
    p->disturbed = false;
    e.sent = send_group(p, g);
    if (e.sent == 0)
        return;
    settle_disturbed(p, &all);
    read_all(p, &all);
    judge_group(p, g, &e, &all, others);
    p->refused[p->event] = e.needed > 0 && all.binds + all.evictions == 0 && !p->disturbed &&
                           !nominated; /* which it may give back */
    if (all.evictions > 0) {
        evict_all(p, &all);
        read_all(p, &later);
        EXPECT(later.binds == 0, "event %d: bound by an eviction\n", p->event);
    }
    nobody_is_owed(p);
    judge_room(p);
    confirm(p, event->binds_fail);
}

static void try_plain(struct play *p, struct model_pod *pod, const struct event *event)
{
    struct said_so_far all = {0}, later = {0};
    char none[1] = "";
    if (pod->node >= 0 || pod->gone)
        return;
    pod->owed++;
    hear(p->side, queue, "attempt pod=%s attempts=1 cycle=%d", pod_text(p, pod, none), ++p->cycle);
    settle(p->side);
    read_all(p, &all);
    if (all.evictions > 0)
        evict_all(p, &all);
    read_all(p, &later);
    nobody_is_owed(p);
    judge_room(p);
    confirm(p, event->binds_fail);
}

static void node_goes(struct play *p, int node)
{
    p->now.nodes[node].there = false;
    sees(p->side, "node_gone name=\"n%d\"", node);
    for (int i = 0; i < p->now.pod_count; i++)
        if (p->now.pods[i].node == node && !p->now.pods[i].gone)
            pod_goes(p, &p->now.pods[i]);
}

static void happens(struct play *p, const struct event *e)
{
    struct scenario *c = &p->now;
    switch (e->kind) {
    case EVENT_group: try_group(p, &c->groups[e->which], e); break;
    case EVENT_plain: try_plain(p, &c->pods[e->which], e); break;
    case EVENT_gone:
        if (!c->pods[e->which].gone)
            pod_goes(p, &c->pods[e->which]);
        break;
    case EVENT_node:
        c->nodes[e->which].there = true;
        tell_node(p, e->which);
        break;
    case EVENT_node_gone:
        if (c->nodes[e->which].there)
            node_goes(p, e->which);
        break;
    }
    settle(p->side);
    forget_told(p->side);
}

/* Plays it; events in skip do not happen. */
static struct play *play(const struct scenario *c, uint32_t workers, struct random *chaos,
                         const bool *skip)
{
    struct play *p = memory_take(sizeof(*p));
    p->now = *c;
    p->chaos = chaos;
    /* how the dice fall for several pods of a question hangs on what was asked before */
    p->side = side_new(tie_break == TIE_BREAK_random ? 1 : 0, tie_break);
    for (uint32_t i = 1; i < workers; i++)
        other_begins(p->side);
    for (int i = 0; i < c->node_count; i++)
        if (c->nodes[i].there)
            tell_node(p, i);
    for (int i = 0; i < c->pod_count; i++)
        if (c->pods[i].node >= 0) {
            p->now.pods[i].shown = true;
            tell_pod(p, &p->now.pods[i]);
        }
    side_begins(p->side);
    settle(p->side);
    forget_told(p->side);
    for (p->event = 0; p->event < c->event_count; p->event++)
        if (skip == NULL || !skip[p->event])
            happens(p, &c->events[p->event]);
    return p;
}

static void play_free(struct play **play)
{
    side_free(&(*play)->side);
    for (int i = 0; i <= EVENTS; i++)
        buffer_free(&(*play)->log[i]);
    memory_free(*play);
    *play = NULL;
}

static void expect_same(const struct play *a, const struct play *b, const bool *skip,
                        const char *what)
{
    for (int i = 0; i < a->now.event_count; i++) {
        struct str one = buffer_str(&a->log[i]), other = buffer_str(&b->log[i]);
        EXPECT((skip != NULL && skip[i]) || str_equal(one, other),
               "event %d, %s:\n%.*s\nand otherwise\n%.*s\n", i, what, STR_ARG(one), STR_ARG(other));
    }
}

static void play_seed(uint64_t seed)
{
    static const uint32_t workers[] = {2, 3, 7};
    static const enum tie_break_rule ties[] = {TIE_BREAK_first, TIE_BREAK_first,
                                               TIE_BREAK_round_robin, TIE_BREAK_random};
    struct random dice = {seed * 7919};
    struct scenario c;
    seed_now = seed;
    make(&c, &dice);
    tie_break = TIE_BREAK_first;
    struct play *alone = play(&c, 1, NULL, NULL);
    struct play *several = play(&c, workers[seed % 3], NULL, NULL);
    expect_same(alone, several, NULL, "with one worker");
    play_free(&alone);
    play_free(&several);
    tie_break = ties[seed % 4];
    struct play *whole = play(&c, 1 + (uint32_t)(seed % 2), NULL, NULL);
    struct play *without = play(&c, 1 + (uint32_t)(seed % 2), NULL, whole->refused);
    expect_same(whole, without, whole->refused, "with the groups that were refused");
    for (int i = 0; i < c.event_count; i++)
        untouched += whole->refused[i];
    play_free(&whole);
    play_free(&without);
    struct play *disturbed = play(&c, 1 + (uint32_t)(seed % 3), &dice, NULL);
    play_free(&disturbed);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void groups_are_whole_or_absent(void **state)
{
    (void)state;
    uint64_t count = number("GANG_SCENARIOS", SCENARIOS), first = number("GANG_SEED", 1);
    for (uint64_t seed = first; seed < first + count; seed++)
        play_seed(seed);
    print_message("%llu scenarios: %ld groups placed, %ld refused, %ld with evictions, %ld "
                  "disturbed; %ld refused ones left out\n",
                  (unsigned long long)count, placed_groups, refused_groups, evicting_groups,
                  disturbed_groups, untouched);
    if (count >= 100) { /* it was worth the while */
        assert_true(placed_groups > (long)count && refused_groups > (long)count);
        assert_true(evicting_groups > (long)count / 10 && disturbed_groups > (long)count / 10);
        assert_true(untouched > (long)count / 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups_are_whole_or_absent)};
    log_set_level(LOG_LEVEL_error); /* what happens here is worth a line, but not thousands */
    return cmocka_run_group_tests_name("gang_scenarios", tests, NULL, NULL);
}
