/* checks: the invariants of the whole. What must stay true: they look at what the API server is
 * asked and holds, and at what processes say of themselves; not into cores. */
#include "tests/simulation/checks.h"

#include "binder/binder.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/release/release.h"
#include "queue/queue.h"
#include "scheduler/coordinator/coordinator.h"
#include "scheduler/own_worker.h"
#include "scheduler/worker/worker.h"
#include "tests/simulation/bounds.h"
#include "tests/simulation/calls.h"
#include "tests/simulation/checks_devices.h"
#include "tests/simulation/checks_groups.h"
#include "tests/simulation/checks_volumes.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/promises.h"
#include "tests/simulation/queue_check.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEASE_NS     (15 * SECOND)
#define CLOCK_SLACK  (100 * MS)
#define SEEN_BY_NOW  (120 * SECOND) /* what a user did is in every view that decides */
#define BINDINGS_MAX 256
#define IDLE_CHECKED 16 /* of so many rounds of a queue in which nothing came or went, one */

struct open_binding {
    bool open;
    int group;
    uint64_t life; /* of the binder */
    char path[160], node[NAME_ROOM], uid[40];
    int64_t sent_at, until;
};

static struct {
    struct finding *finding;
    int holder;               /* of the lease; -1: nobody */
    int64_t held_since;       /* when the request that renewed it last was sent */
    int64_t term, term_since; /* of the lease: its changes of hands */
    int64_t sent[GROUPS];     /* the lease request under way of each group */
    struct open_binding bindings[BINDINGS_MAX];
    uint64_t idle_rounds; /* of queues */
} all;

void checks_into(struct finding *finding)
{
    all.finding = finding;
}

/* What each process says of itself, for a person. */
static void print_states(void)
{
    for (uint32_t i = 0; i < world_procs(); i++) {
        struct proc *p = world_proc(i);
        struct buffer lines = {0};
        clock_at(p->host);
        if (p->alive && p->kind == SCHEDULER)
            coordinator_status(p->core, &lines);
        else if (p->alive && p->kind == QUEUE)
            queue_status(p->core, &lines);
        else if (p->alive && p->kind == BINDER)
            binder_status(p->core, &lines);
        if (lines.len > 0)
            trace(1, "%s\n%.4000s", p->door, lines.at);
        buffer_free(&lines);
    }
}

_Noreturn void violated(const char *check, const char *format, ...)
{
    va_list args;
    struct finding *f = all.finding;
    va_start(args, format);
    f->found = true;
    f->at = clock_now();
    snprintf(f->check, sizeof(f->check), "%s", check);
    vsnprintf(f->text, sizeof(f->text), format, args);
    va_end(args);
    if (trace_level > 1)
        print_states();
    trace(1, "VIOLATED %s: %s", f->check, f->text);
    fflush(NULL);
    _exit(2);
}

void checks_reset(void)
{
    struct finding *f = all.finding;
    memset(&all, 0, sizeof(all));
    all.finding = f;
    all.holder = -1;
    checks_devices_known();
    checks_volumes_known();
    promises_reset();
}

int checks_lease_holder(void)
{
    return all.holder;
}

/* ---- texts ---- */

/* The string behind "key":" in JSON text, from from on; "" when there is none. */
static const char *text_behind(const char *json, const char *from, const char *key, char *out,
                               size_t room)
{
    char wanted[64];
    out[0] = 0;
    snprintf(wanted, sizeof(wanted), "\"%s\":\"", key);
    const char *at = json != NULL ? json : "";
    if (from != NULL)
        at = strstr(at, from);
    at = at != NULL ? strstr(at, wanted) : NULL;
    if (at == NULL)
        return out;
    at += strlen(wanted);
    size_t len = strcspn(at, "\"");
    snprintf(out, room, "%.*s", (int)(len < room ? len : room - 1), at);
    return out;
}

static bool is_binding(const char *method, const char *path)
{
    return strcmp(method, "POST") == 0 && strstr(path, "/binding") != NULL;
}

static bool is_lease(const char *path)
{
    return strstr(path, "/leases") != NULL;
}

static bool is_fenced(const char *method, const char *path)
{
    return strcmp(method, "GET") != 0 && !is_lease(path) && strstr(path, "/events") == NULL &&
           strstr(path, "/status") == NULL;
}

static void pod_of_path(const char *path, char *name, size_t room)
{
    const char *at = strstr(path, "/pods/");
    name[0] = 0;
    if (at != NULL)
        snprintf(name, room, "%.*s", (int)strcspn(at + 6, "/?"), at + 6);
}

/* ---- fence and bindings ---- */

static void check_fence(int group, const char *method, const char *path, int64_t timeout)
{
    if (!world_traits()->elect || !is_fenced(method, path))
        return;
    if (all.holder != group)
        violated("fence", "%s sends %s %.120s, and the lease is %s", world_identity(group), method,
                 path, all.holder < 0 ? "nobody's" : world_identity(all.holder));
    if (clock_now() + timeout > all.held_since + LEASE_NS + CLOCK_SLACK)
        violated("fence",
                 "%s sends %s %.120s, which may last %lld ms longer than its lease, renewed "
                 "%lld ms ago",
                 world_identity(group), method, path,
                 (long long)((clock_now() + timeout - all.held_since - LEASE_NS) / MS),
                 (long long)((clock_now() - all.held_since) / MS));
}

/* The pod of a Binding, if it is there; else nothing comes of the Binding, whenever it comes. */
static const struct pod_fact *pod_of_binding(const char *path, const char *uid)
{
    char name[NAME_ROOM];
    pod_of_path(path, name, sizeof(name));
    const struct pod_fact *p = facts_pod(name);
    return p != NULL && strcmp(p->uid, uid) == 0 ? p : NULL;
}

/* It may still change something that whoever binds in this term has not seen. One that was sent
 * twice has nothing to change any more when its pod is on a node. */
static bool may_surprise(const struct open_binding *b, const struct proc *binder)
{
    const struct pod_fact *p = pod_of_binding(b->path, b->uid);
    int64_t since = world_traits()->elect ? all.term_since
                    : binder != NULL      ? binder->started_at
                                          : 0;
    return p != NULL && (p->node[0] == 0 || p->bound_at >= since);
}

/* Whoever binds waits until nothing that another binder, or a former life, has sent may still come:
 * a decision that it was not in the view of could meet it on a node. */
static void check_former(const struct open_binding *b, int group, const struct proc *binder,
                         const char *path)
{
    uint64_t life = binder != NULL ? binder->life : 0;
    if (b->open && (b->group != group || b->life != life) && clock_now() < b->until &&
        may_surprise(b, binder))
        violated("the former's binds are over",
                 "%s sends POST %.100s, and the Binding %.100s that %s sent %lld ms ago may come",
                 world_identity(group), path, b->path,
                 b->group == group ? "its former life" : "the other",
                 (long long)((clock_now() - b->sent_at) / MS));
}

static void note_binding(int group, const char *path, int64_t timeout, const char *body)
{
    char node[NAME_ROOM], uid[40];
    struct open_binding *room = NULL;
    const struct proc *binder = proc_current();
    uint64_t life = binder != NULL ? binder->life : 0;
    text_behind(body, "\"target\"", "name", node, sizeof(node));
    text_behind(body, NULL, "uid", uid, sizeof(uid));
    for (uint32_t i = 0; i < BINDINGS_MAX; i++) {
        struct open_binding *b = &all.bindings[i];
        check_former(b, group, binder, path);
        if (b->open && strcmp(b->path, path) == 0 && strcmp(b->uid, uid) == 0 &&
            strcmp(b->node, node) != 0 && clock_now() < b->until &&
            pod_of_binding(path, uid) != NULL)
            violated("one binding",
                     "%s wants %.100s on %s, and the Binding to %s of %lld ms ago may still come",
                     world_identity(group), path, node, b->node,
                     (long long)((clock_now() - b->sent_at) / MS));
        if (!b->open && room == NULL)
            room = b;
    }
    if (room == NULL)
        return;
    *room = (struct open_binding){.open = true,
                                  .group = group,
                                  .life = life,
                                  .sent_at = clock_now(),
                                  .until = clock_now() + timeout};
    snprintf(room->path, sizeof(room->path), "%s", path);
    snprintf(room->node, sizeof(room->node), "%s", node);
    snprintf(room->uid, sizeof(room->uid), "%s", uid);
}

/* A pod that was created anew under the victim's name is none. */
static void check_eviction(const struct seen_call *c)
{
    char uid[40];
    if (strcmp(c->method, "DELETE") != 0 || strstr(c->path, "/pods/") == NULL)
        return;
    text_behind(c->body, "\"preconditions\"", "uid", uid, sizeof(uid));
    if (uid[0] == 0)
        violated("wrong pod deleted", "%s sends DELETE %.120s for whoever has that name",
                 world_identity(c->group), c->path);
}

void checks_call_over(int group, const char *path, int64_t sent_at)
{
    for (uint32_t i = 0; i < BINDINGS_MAX; i++)
        if (all.bindings[i].open && all.bindings[i].group == group &&
            all.bindings[i].sent_at == sent_at && strcmp(all.bindings[i].path, path) == 0)
            all.bindings[i].open = false;
}

void checks_at_send(const struct seen_call *c)
{
    trace(2, "%s %s %s %s (at most %lld ms)", world_identity(c->group), c->who, c->method, c->path,
          (long long)(c->timeout / MS));
    if (strcmp(c->method, "GET") != 0 && c->body != NULL)
        trace(3, "  %.400s", c->body);
    if (strcmp(c->who, "binder") != 0)
        return;
    if (is_lease(c->path) && strcmp(c->method, "GET") != 0)
        all.sent[c->group] = clock_now();
    check_fence(c->group, c->method, c->path, c->timeout);
    check_eviction(c);
    promises_asked(c);
    if (is_binding(c->method, c->path))
        note_binding(c->group, c->path, c->timeout, c->body);
}

/* ---- what is carried out ---- */

static void note_term(int64_t term)
{
    promises_term_made("the lease", term);
    if (term != all.term)
        all.term_since = clock_now();
    all.term = term;
}

static void note_lease(int group, const char *body)
{
    char holder[64];
    text_behind(body, NULL, "holderIdentity", holder, sizeof(holder));
    int before = all.holder;
    all.holder = holder[0] == 0 ? -1 : strcmp(holder, world_identity(0)) == 0 ? 0 : 1;
    if (group >= 0 &&
        (all.holder == group || all.holder < 0)) /* else a standby says something to the leader */
        all.held_since = all.sent[group];
    const char *count = body != NULL ? strstr(body, "\"leaseTransitions\":") : NULL;
    if (count != NULL)
        note_term(strtoll(strchr(count, ':') + 1, NULL, 10) + 1);
    if (before != all.holder)
        cover("lease", all.holder < 0 ? "released" : before < 0 ? "taken" : "taken over");
}

/* So long it takes until a change is in every view that decides: a list may have to be read to its
 * end, twice. */
static int64_t seen_by_now(void)
{
    const struct traits *t = world_traits();
    int64_t most = (int64_t)model_longest_list(world_model());
    int64_t pages = (most > PODS_MAX ? most : PODS_MAX) / t->page_size + 2;
    return SEEN_BY_NOW + 2 * pages * (t->page + t->page_most / 20);
}

static void check_node(const char *name)
{
    const struct node_fact *n = facts_node(name);
    int64_t cpu, memory, pods;
    if (n == NULL || clock_now() - n->tightened_at < seen_by_now())
        return;
    facts_used(name, &cpu, &memory, &pods);
    if (cpu > n->cpu || memory > n->memory || pods > n->pods)
        violated("over allocatable",
                 "%s holds cpu %lldm of %lldm, memory %lldMi of %lldMi, pods %lld of %lld", name,
                 (long long)cpu, (long long)n->cpu, (long long)memory, (long long)n->memory,
                 (long long)pods, (long long)n->pods);
}

/* What a pod takes that cannot be read is not known. */
static void check_odd(const struct pod_fact *p, const char *name)
{
    int64_t since = 0;
    if (!facts_is_odd(name, &since))
        return;
    if (clock_now() - since >= seen_by_now())
        violated("beside an odd pod", "%s was bound to %s, where a pod is that nobody can read",
                 p->name, name);
    cover("bound to a node", "that closes just now");
}

/* ---- all that is carried out ---- */

static void after_binding(const struct seen_call *c)
{
    char node[NAME_ROOM], pod[64];
    text_behind(c->body, "\"target\"", "name", node, sizeof(node));
    pod_of_path(c->path, pod, sizeof(pod));
    trace(2, "%s is on %s", pod, node);
    promises_carried_out(c->body, node);
    struct pod_fact *p = facts_pod(pod);
    if (p != NULL && ++p->bound > 1)
        violated("bound twice", "%s was bound %d times", pod, p->bound);
    if (p != NULL && p->foreign)
        violated("not ours", "%s is another scheduler's and was bound to %s", pod, node);
    if (p != NULL) /* first: what it takes counts for the node as well */
        check_odd(p, node);
    check_node(node);
    if (p == NULL)
        return;
    checks_volumes_bound(p, seen_by_now());
    checks_devices_bound(p, seen_by_now());
}

static struct set_fact *set_of_path(const char *path)
{
    char pod[64];
    pod_of_path(path, pod, sizeof(pod));
    const struct pod_fact *p = facts_pod(pod);
    return p != NULL && p->set[0] != 0 ? facts_set(p->set) : NULL;
}

void checks_binding_denied(const char *path)
{
    struct set_fact *set = set_of_path(path);
    if (set != NULL)
        set->touched = true;
}

void checks_binding_lost(const char *path)
{
    struct set_fact *set = strstr(path, "/binding") != NULL ? set_of_path(path) : NULL;
    if (set != NULL)
        set->unbound = true;
}

void checks_after_call(const struct seen_call *c, int code)
{
    bool writes = strcmp(c->method, "GET") != 0;
    if (writes)
        trace(2, "%s %s %s %s -> %d", world_identity(c->group), c->who, c->method, c->path, code);
    if (!writes || code / 100 != 2 || strcmp(c->who, "binder") != 0)
        return;
    if (is_lease(c->path))
        note_lease(c->group, c->body);
    if (strstr(c->path, "/resourceclaims") != NULL)
        checks_devices();
    if (is_binding(c->method, c->path))
        after_binding(c);
}

void checks_changed(const struct model_change *change)
{
    facts_changed(change);
    checks_volume_before(change);
    facts_volumes_changed(change);
    checks_volume_after(change);
    facts_devices_changed(change);
    checks_group_changed(change);
}

/* ---- after a round ---- */

static void cover_state(struct proc *p)
{
    if (p->kind == SCHEDULER && p->core != NULL) {
        const char *waits = coordinator_waits_for(p->core, clock_of(p->host));
        cover("scheduler waits for", waits[0] != 0 ? waits : "nothing");
    }
}

void checks_after_round(struct proc *p)
{
    if (p->core == NULL)
        return;
    cover_state(p);
    promises_terms(p);
    if (p->kind != QUEUE)
        return;
    if (queue_check_overdue(p->core, clock_of(p->host)))
        violated("backoffs end", "a pod of %s waits for a backoff that is over", p->door);
    if (p->stirred || ++all.idle_rounds % IDLE_CHECKED == 0)
        queue_check(p->core);
}

/* ---- once it is quiet ---- */

static bool say(char *why, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool say(char *why, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, room, format, args);
    va_end(args);
    return false;
}

static bool ours(const struct pod_fact *p)
{
    return p->there && !p->foreign && p->node[0] == 0 && !p->deleting && !facts_ended(p);
}

/* The smallest priority that may have been nominated somewhere is not looked at: plain pods that
 * fit with all that is there must be bound. */
static bool all_bound(char *why, size_t room)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (!ours(p) || !p->plain || p->gated)
            continue;
        for (uint32_t n = 0; n < NODES_MAX; n++)
            if (facts_nodes[n].there && facts_fits(p, &facts_nodes[n]))
                return say(why, room, "%s is pending and fits on %s", p->name, facts_nodes[n].name);
    }
    return true;
}

static bool claims_bound(char *why, size_t room)
{
    const struct node_fact *node;
    const struct pod_fact *p = checks_volumes_pending(&node);
    if (p != NULL)
        return say(why, room, "%s is pending and fits on %s with its volumes", p->name, node->name);
    p = checks_devices_pending(&node);
    return p == NULL ||
           say(why, room, "%s is pending and fits on %s with its claim", p->name, node->name);
}

static bool leads(const struct proc *p)
{
    const struct proc *leader = world_leader();
    return leader != NULL && leader->group == p->group;
}

static bool scheduler_agrees(char *why, size_t room, struct proc *p)
{
    struct buffer lines = {0};
    int64_t nodes = facts_node_count(), assigned = 0, pending = 0;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *pod = &facts_pods[i];
        bool lives = pod->there && !facts_ended(pod);
        assigned += lives && pod->node[0] != 0;
        pending += lives && pod->node[0] == 0; /* its status may have failed to be written */
    }
    coordinator_status(p->core, &lines);
    int64_t held_nodes = bounds_said(lines.at, "nodes"), held = bounds_said(lines.at, "pods");
    int64_t assumed = bounds_said(lines.at, "assumed");
    int64_t claims = bounds_said(lines.at, "claims_in_flight");
    int64_t volumes = bounds_said(lines.at, "volumes_assumed");
    int64_t nominated = bounds_said(lines.at, "nominated");
    int64_t flights = bounds_said(lines.at, "waiting") + bounds_said(lines.at, "under_way");
    buffer_free(&lines);
    if (held_nodes != nodes)
        return say(why, room, "%s has %lld nodes, there are %lld", p->door, (long long)held_nodes,
                   (long long)nodes);
    if (assumed != 0)
        return say(why, room, "%s assumes %lld pods", p->door, (long long)assumed);
    if (claims != 0 && leads(p)) /* else the barrier of its next term ends what is in doubt */
        return say(why, room, "%s assumes %lld claims", p->door, (long long)claims);
    if (volumes != 0)
        return say(why, room, "%s assumes %lld volumes", p->door, (long long)volumes);
    if (nominated > pending && leads(p)) /* another one decides anew before it uses them */
        return say(why, room, "%s keeps room for %lld pods, and %lld are pending", p->door,
                   (long long)nominated, (long long)pending);
    if (flights != 0)
        return say(why, room, "%s has %lld attempts that have not ended", p->door,
                   (long long)flights);
    if (held != assigned)
        return say(why, room, "%s has %lld pods on nodes, there are %lld", p->door, (long long)held,
                   (long long)assigned);
    return true;
}

static bool queue_agrees(char *why, size_t room, struct proc *p)
{
    struct buffer lines = {0};
    int64_t nodes = facts_node_count(), assigned = 0, pending = 0;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *pod = &facts_pods[i];
        bool lives = pod->there && !facts_ended(pod);
        assigned += lives && pod->node[0] != 0;
        pending += lives && pod->node[0] == 0 && !pod->foreign;
    }
    queue_status(p->core, &lines);
    int64_t has_pending = bounds_said(lines.at, "pending");
    int64_t has_assigned = bounds_said(lines.at, "assigned");
    int64_t has_nodes = bounds_said(lines.at, "nodes");
    int64_t in_flight =
        bounds_said(lines.at, "in_flight") + bounds_said(lines.at, "left_in_flight");
    buffer_free(&lines);
    if (in_flight != 0)
        return say(why, room, "%s waits for %lld outcomes", p->door, (long long)in_flight);
    if (has_nodes != nodes || has_assigned != assigned || has_pending != pending)
        return say(why, room,
                   "%s has %lld nodes, %lld pods on nodes and %lld pending, there are %lld, %lld "
                   "and %lld",
                   p->door, (long long)has_nodes, (long long)has_assigned, (long long)has_pending,
                   (long long)nodes, (long long)assigned, (long long)pending);
    return true;
}

/* The worker that this process is, or has inside. */
static struct worker *asked_worker(const struct proc *p)
{
    if (p->kind == SCHEDULER && p->own != NULL && own_worker_up(p->own))
        return p->own->worker;
    return p->kind == WORKER ? p->core : NULL;
}

/* What the leader's workers hold, all together; a pod whose node has gone is with none of them. */
static bool workers_agree(char *why, size_t room)
{
    int64_t pods = 0, held = 0;
    uint32_t workers = 0;
    const struct proc *leader = world_leader();
    for (uint32_t i = 0; leader != NULL && i < world_procs(); i++) {
        struct proc *p = world_proc(i);
        struct buffer lines = {0};
        struct worker *worker = p->group == leader->group ? asked_worker(p) : NULL;
        if (worker == NULL)
            continue;
        worker_status(worker, &lines);
        held += bounds_said(lines.at, "pods");
        buffer_free(&lines);
        workers++;
    }
    for (uint32_t i = 0; i < PODS_MAX; i++)
        pods += facts_pods[i].there && facts_node(facts_pods[i].node) != NULL &&
                !facts_ended(&facts_pods[i]);
    return workers == 0 || held == pods ||
           say(why, room, "the workers of %s have %lld pods on nodes, there are %lld",
               world_identity(leader->group), (long long)held, (long long)pods);
}

/* Of both instances, as one that stands by may lead at any time. */
static bool release_is_followed(char *why, size_t room, const struct proc *p)
{
    int64_t wanted = release_of(model_minor(world_model()))->minor;
    if (coordinator_release(p->core) == wanted && !coordinator_release_changes(p->core))
        return true;
    return say(why, room, "%s decides as 1.%lld, and not as 1.%lld", p->door,
               (long long)coordinator_release(p->core), (long long)wanted);
}

static bool all_agree(char *why, size_t room)
{
    for (uint32_t i = 0; i < world_procs(); i++) {
        struct proc *p = world_proc(i);
        if (p->wanted && !p->alive)
            return say(why, room, "%s does not run", p->door);
        if (p->kind == SCHEDULER && p->core != NULL &&
            !(scheduler_agrees(why, room, p) && release_is_followed(why, room, p)))
            return false;
        if (p->kind == QUEUE && p->core != NULL && !queue_agrees(why, room, p))
            return false;
    }
    return workers_agree(why, room);
}

bool checks_quiet(char *why, size_t room)
{
    return all_bound(why, room) && claims_bound(why, room) && all_agree(why, room) &&
           checks_groups_whole(why, room) && bounds_binders_idle(why, room) &&
           bounds_watchers_heard(why, room);
}

void checks_when_quiet(void)
{
    checks_devices();
    bounds_check();
}
