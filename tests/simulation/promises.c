/* promises: the rules of the protocol that a process could break for minutes before anything is
 * lost by it. The one idea: what a process may say follows from what it was told and has said
 * before, so each rule is a few facts of one life of one process.
 *
 * What must stay true: nothing is asked of a process that its messages do not show, and what is
 * known of a life ends with it. */
#include "tests/simulation/promises.h"

#include "binder/binder.h"
#include "proto/base/must.h"
#include "tests/simulation/evictions.h"
#include "tests/simulation/meddlers.h"
#include "tests/simulation/world.h"

#include <stdio.h>
#include <string.h>

#define LIVES_MAX     32  /* processes at once */
#define ASKED_MAX     512 /* barriers of a term; a link that comes and goes asks for each anew */
#define OPEN_MAX      512 /* attempts, or binds, that are open */
#define UID_ROOM      40
#define BOUND_MAX     2048
#define GONE_MAX      64
#define CONFIRMED     (25 * SECOND) /* after more the queue may doubt that a bound pod is bound */
#define HEARD_BY_NOW  (120 * SECOND)
#define LIE_FORGOTTEN (30 * SECOND) /* when who told it has gone */
#define WAS_OUT       (10 * SECOND) /* without a round: it hung, or its host stood still */
#define VIEW_STALEST  (61 * SECOND) /* the coordinator's limit, and what comes in the same round */

struct open_work {
    char uid[UID_ROOM];
    int64_t cycle, term;
    uint32_t peer; /* whom it was given to */
};

struct life {
    const struct proc *of;
    uint64_t life;
    /* A coordinator's: */
    int64_t term; /* of the barriers */
    int64_t asked[ASKED_MAX];
    uint32_t asked_count;
    int64_t asked_at[ASKED_MAX], reached_at; /* when the one that is reached was asked */
    int64_t foreign_at;        /* when its binder told last of a bind that is not this life's */
    bool reached;              /* one of the barriers */
    int64_t round_at, back_at; /* its last round, and the first one after it was out */
    bool led;                  /* a binder, after its last round; and in which term */
    int64_t led_in;
    /* Each at its place in facts_pods: */
    char shown[PODS_MAX][UID_ROOM];   /* as on a node */
    char before[PODS_MAX][UID_ROOM];  /* so shown before a snapshot that has not ended */
    bool going[PODS_MAX];             /* was deleted, when it was heard of last */
    char told_of[PODS_MAX][UID_ROOM]; /* in any way, since the last snapshot began */
    char lost[PODS_MAX][UID_ROOM];    /* not to be there any more */
    bool together[PODS_MAX];          /* was offered last as one of a group that is not whole */
    int64_t changed[PODS_MAX];        /* the version heard since it was offered; 0: none; */
    int64_t changed_at[PODS_MAX];
    int64_t newest[PODS_MAX];      /* the version heard at all */
    uint32_t changes;              /* so many of them */
    int64_t cycle;                 /* the last that workers were asked in */
    int64_t lost_at;               /* when it heard last that some are not there */
    char gone[GONE_MAX][UID_ROOM]; /* the last ones */
    int64_t gone_at[GONE_MAX];
    uint32_t gone_count;
    bool viewed, synced;
    struct moment view_at; /* by its own clock, which stands still with its host */
    int64_t view_age;
    /* A queue's attempts, a binder's binds: */
    uint32_t open_count;
    bool full;          /* not all of it is known */
    bool binds_group;   /* what it says now; */
    int64_t binds_gone; /* and for so many pods that nothing is known of */
    struct open_work open[OPEN_MAX];
    /* A queue's pods that it was told are bound, and that the watch has not shown yet: */
    bool in_snapshot;          /* which may be older than what it was told */
    uint32_t scheduler, queue; /* who is let in; 0: nobody */
    uint32_t told_count;
    char told[OPEN_MAX][UID_ROOM];
    int64_t told_at[OPEN_MAX];
};

/* Bindings that were carried out, the last ones. */
static struct {
    uint64_t count;
    struct {
        char uid[UID_ROOM], node[NAME_ROOM];
    } at[BOUND_MAX];
} carried_out;

static struct life lives[LIVES_MAX];
static int64_t greatest_term; /* that a binder had, or the lease */
/* What somebody says who may be believed about it, and how long. */
static struct {
    int64_t term, until;
} lie;

void promises_reset(void)
{
    greatest_term = 0;
    lie.term = 0;
    for (uint32_t i = 0; i < LIVES_MAX; i++)
        lives[i].of = NULL;
    carried_out.count = 0;
    evictions_reset();
}

static struct life *life_of(const struct proc *p)
{
    struct life *room = NULL;
    for (uint32_t i = 0; i < LIVES_MAX; i++) {
        if (lives[i].of == p && lives[i].life == p->life)
            return &lives[i];
        if (room == NULL && (lives[i].of == NULL || lives[i].of == p))
            room = &lives[i];
    }
    must(room != NULL);
    memset(room, 0, sizeof(*room));
    room->of = p;
    room->life = p->life;
    return room;
}

/* ---- what is open ---- */

static struct open_work *find(struct life *l, struct str uid)
{
    for (uint32_t i = 0; i < l->open_count; i++)
        if (str_is(uid, l->open[i].uid))
            return &l->open[i];
    return NULL;
}

/* NULL: there is too much of it to know everything. */
static struct open_work *open_add(struct life *l, struct str uid)
{
    l->full |= l->open_count == OPEN_MAX || uid.len >= UID_ROOM;
    if (l->full)
        return NULL;
    struct open_work *w = &l->open[l->open_count++];
    *w = (struct open_work){0};
    memcpy(w->uid, uid.at, uid.len);
    return w;
}

static void open_drop(struct life *l, struct open_work *w)
{
    if (w != NULL)
        *w = l->open[--l->open_count];
}

/* ---- a coordinator: nothing is bound on a view from before its term, or on one that is old ----
 */

static void barrier_said(struct life *l, int64_t term, int64_t id)
{
    if (l->term != term) {
        facts_forget_decided();
        l->term = term;
        l->asked_count = 0;
        l->reached = false;
    }
    for (uint32_t i = 0; i < l->asked_count; i++)
        if (l->asked[i] == id)
            return;                            /* the first one counts */
    l->reached |= l->asked_count == ASKED_MAX; /* by one that is not known any more, maybe */
    if (l->asked_count == ASKED_MAX)
        return;
    l->asked_at[l->asked_count] = clock_now();
    l->asked[l->asked_count++] = id;
}

/* Where facts_pods has it; PODS_MAX: nowhere. */
static uint32_t place_in_facts(struct str uid)
{
    uint32_t i = 0;
    while (i < PODS_MAX && !str_is(uid, facts_pods[i].uid))
        i++;
    return i;
}

static void pod_heard(struct life *l, const struct pod *pod)
{
    uint32_t i = place_in_facts(pod->uid);
    if (i == PODS_MAX)
        return;
    snprintf(l->told_of[i], UID_ROOM, "%s", facts_pods[i].uid);
    l->lost[i][0] = 0; /* an older snapshot did not have it yet */
    l->going[i] = pod->deleting;
    if (pod->resource_version > l->newest[i]) { /* what was heard before is not taken again */
        l->changes += l->changed[i] == 0;
        l->changed[i] = l->newest[i] = pod->resource_version;
        l->changed_at[i] = clock_now();
    }
    if (facts_pods[i].there && pod->node_name.len > 0)
        snprintf(l->shown[i], UID_ROOM, "%s", facts_pods[i].uid);
}

/* What was shown before stands until it has ended: one that breaks off takes nothing back. */
static void snapshot_begins(struct life *l)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (l->shown[i][0] != 0)
            memcpy(l->before[i], l->shown[i], UID_ROOM);
    memset(l->shown, 0, sizeof(l->shown));
    memset(l->told_of, 0, sizeof(l->told_of));
}

static bool is_shown(const struct life *l, uint32_t i)
{
    return strcmp(l->shown[i], facts_pods[i].uid) == 0 ||
           strcmp(l->before[i], facts_pods[i].uid) == 0;
}

static void lose(struct life *l, uint32_t i)
{
    snprintf(l->lost[i], UID_ROOM, "%s", facts_pods[i].uid);
    l->lost_at = clock_now();
}

/* Who is not in it has gone. */
static void snapshot_ends(struct life *l)
{
    memset(l->before, 0, sizeof(l->before));
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].uid[0] != 0 && strcmp(l->told_of[i], facts_pods[i].uid) != 0)
            lose(l, i);
}

/* What was bound before it was asked stands before it in the stream. */
static void check_barrier(const struct proc *p, const struct life *l, int64_t asked_at)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *pod = &facts_pods[i];
        if (pod->there && pod->node[0] != 0 && !facts_ended(pod) && pod->bound_at < asked_at &&
            !is_shown(l, i))
            violated("a barrier is behind what was",
                     "%s reaches its barrier of %lld ms ago, and %s, bound %lld ms ago, is unseen",
                     p->door, (long long)((clock_now() - asked_at) / MS), pod->name,
                     (long long)((clock_now() - pod->bound_at) / MS));
    }
}

static void barrier_heard(const struct proc *p, struct life *l, int64_t id)
{
    for (uint32_t i = 0; i < l->asked_count; i++)
        if (l->asked[i] == id)
            check_barrier(p, l, l->asked_at[i]);
    for (uint32_t i = 0; i < l->asked_count; i++)
        if (l->asked[i] == id && (!l->reached || l->asked_at[i] > l->reached_at)) {
            l->reached = true;
            l->reached_at = l->asked_at[i];
        }
}

/* What its binder has under way, and no life of this coordinator but a former one can have asked
 * for: it is in no view yet. One that the watch has shown is over. */
static void leadership_heard(struct life *l, const struct leadership *told)
{
    for (uint32_t i = 0; i < told->in_flight.count && !l->full; i++) {
        const struct binding *b = &told->in_flight.at[i];
        bool unbound = false; /* a pod that has gone may have left no fact behind */
        for (uint32_t k = 0; k < PODS_MAX && !unbound; k++)
            unbound = str_is(b->uid, facts_pods[k].uid) && facts_pods[k].there &&
                      facts_pods[k].node[0] == 0;
        if (unbound && find(l, b->uid) == NULL)
            l->foreign_at = clock_now();
    }
}

/* Is on a node, or was so lately that not everybody has heard of its end. */
static bool counts_as_bound(const struct pod_fact *pod)
{
    return pod->node[0] != 0 && (pod->there || clock_now() - pod->left_at < HEARD_BY_NOW);
}

/* What a coordinator binds together it counts by itself, when it says so: who has left counts no
 * longer than until it hears of that. What is heard and said in one round may have been so in
 * either order. A member that goes alone is the queue's to count, which may hear later. */
static bool knows_of_its_end(const struct life *l, uint32_t i)
{
    return l->lost_at < clock_now() && strcmp(l->lost[i], facts_pods[i].uid) == 0;
}

/* All that this life binds for a group, with what is bound of it. */
static void check_group(const struct proc *p, struct life *l, const struct set_fact *set)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *pod = &facts_pods[i];
        if (strcmp(pod->set, set->name) != 0)
            continue;
        bool left = set->together && !pod->there && knows_of_its_end(l, i);
        count += !left && (counts_as_bound(pod) || find(l, str_of(pod->uid)) != NULL);
    }
    if (count + l->binds_gone < set->least && !l->full)
        violated("never in part", "%s binds for group %s, %lld of it with what is bound, of %lld",
                 p->door, set->name, (long long)count, (long long)set->least);
}

static void binds_said(const struct proc *p, struct life *l)
{
    for (uint32_t s = 0; s < SETS_MAX && l->binds_group; s++) {
        struct set_fact *set = &facts_sets[s];
        if (set->there && !set->loose && set->binding)
            check_group(p, l, set);
        set->binding = set->together = false;
    }
    l->binds_group = false;
    l->binds_gone = 0;
}

static void note_group(struct life *l, struct str uid, bool again)
{
    uint32_t at = place_in_facts(uid);
    const struct pod_fact *pod = at < PODS_MAX ? &facts_pods[at] : NULL;
    struct set_fact *set = pod != NULL && pod->set[0] != 0 ? facts_set(pod->set) : NULL;
    if (set != NULL)
        set->binding = l->binds_group = true;
    if (set != NULL && !again)
        set->together |= l->together[at];
    l->binds_gone += pod == NULL; /* of which group it was is not known any more */
}

static void gone_heard(struct life *l, struct str uid)
{
    uint32_t at = l->gone_count++ % GONE_MAX;
    snprintf(l->gone[at], UID_ROOM, "%.*s", STR_ARG(uid));
    l->gone_at[at] = clock_now();
    uint32_t place = place_in_facts(uid);
    if (place >= PODS_MAX)
        return;
    lose(l, place);
    /* It has ended, and the facts may still have it. */
    l->shown[place][0] = l->before[place][0] = 0;
}

/* Whoever offers it may hear of its end later: then it is decided as any other. */
static void offered(struct life *l, struct str uid, bool together)
{
    uint32_t at = place_in_facts(uid);
    if (at < PODS_MAX) {
        l->together[at] = together;
        l->changes -= l->changed[at] != 0;
        l->changed[at] = 0;
    }
    for (uint32_t i = 0; i < GONE_MAX; i++)
        if (str_is(uid, l->gone[i]))
            l->gone[i][0] = 0;
}

static void group_offered(struct life *l, const struct gang_attempt *a)
{
    for (uint32_t i = 0; i < a->members.count; i++)
        offered(l, a->members.at[i].pod.uid, a->needed > 0);
}

/* What is heard and said in one round may have been so in either order. */
static void check_gone(const struct proc *p, const struct life *l, const struct bind *b)
{
    for (uint32_t i = 0; i < GONE_MAX; i++)
        if (l->gone_at[i] < clock_now() && str_is(b->uid, l->gone[i]))
            violated("who has gone is not bound", "%s binds %.*s, and heard of its end %lld ms ago",
                     p->door, STR_ARG(b->name), (long long)((clock_now() - l->gone_at[i]) / MS));
}

static void bind_said(const struct proc *p, struct life *l, const struct bind *b)
{
    bool again = find(l, b->uid) != NULL; /* as nobody knows whether it got lost */
    if (!again)
        check_gone(p, l, b);
    if (!again)
        (void)open_add(l, b->uid);
    note_group(l, b->uid, again);
    if (l->foreign_at > l->reached_at)
        violated("a former life's binds are seen",
                 "%s binds %.*s, and was told of a bind of its former life %lld ms behind its "
                 "barrier",
                 p->door, STR_ARG(b->name), (long long)((l->foreign_at - l->reached_at) / MS));
    int64_t term = proc_term(p);
    if (l->term != term || !l->reached)
        violated("view of this term", "%s binds %.*s in term %lld, and no barrier of it is reached",
                 p->door, STR_ARG(b->name), (long long)term);
}

/* Asking workers about a pod is the beginning of a decision. */
static void question_said(const struct proc *p, const struct life *l)
{
    int64_t heard = moment_since(clock_of(p->host), l->view_at).ns;
    if (!l->viewed || !l->synced || l->view_age > VIEW_STALEST || heard > VIEW_STALEST)
        violated("view is fresh", "%s decides on a view %lld ms old that it heard of %lld ms ago",
                 p->door, (long long)(l->view_age / MS), (long long)(heard / MS));
}

/* The first question of a decision is about the pod as it was heard of last. */
static void decision_said(const struct proc *p, struct life *l, const struct map_request *q)
{
    bool anew = q->cycle > l->cycle;
    l->cycle = anew ? q->cycle : l->cycle;
    if (!anew || l->changes == 0 || q->like_former)
        return;
    uint32_t i = place_in_facts(q->pod.uid);
    if (i < PODS_MAX && l->changed_at[i] < clock_now() && q->pod.resource_version < l->changed[i])
        violated("pods are decided as they are",
                 "%s decides %.*s as it was in version %lld, and heard of version %lld %lld ms ago",
                 p->door, STR_ARG(q->pod.name), (long long)q->pod.resource_version,
                 (long long)l->changed[i], (long long)((clock_now() - l->changed_at[i]) / MS));
}

static void decisions_said(const struct proc *p, struct life *l, const struct message *m)
{
    if (m->type == MSG_map_request)
        decision_said(p, l, &m->map_request);
    else if (m->type == MSG_map_run)
        decision_said(p, l, &m->map_run.request);
    for (uint32_t i = 0; m->type == MSG_map_batch && i < m->map_batch.requests.count; i++)
        decision_said(p, l, &m->map_batch.requests.at[i]);
    for (uint32_t i = 0; m->type == MSG_map_picks && i < m->map_picks.requests.count; i++)
        decision_said(p, l, &m->map_picks.requests.at[i]);
}

/* ---- a queue: a pod is asked for once at a time ---- */

static void attempt_said(const struct proc *p, struct life *l, uint32_t peer, struct str uid,
                         int64_t cycle)
{
    struct open_work *w = find(l, uid);
    for (uint32_t i = 0; i < l->told_count; i++)
        if (str_is(uid, l->told[i]) && clock_now() - l->told_at[i] < CONFIRMED)
            violated("bound pods are left alone", "%s sends attempt %lld of %.*s, which is bound",
                     p->door, (long long)cycle, STR_ARG(uid));
    if (w != NULL && w->peer == peer)
        violated("asked for once", "%s sends attempt %lld of %.*s, and %lld is open", p->door,
                 (long long)cycle, STR_ARG(uid), (long long)w->cycle);
    if (w == NULL)
        w = open_add(l, uid);
    if (w == NULL)
        return;
    w->cycle = cycle;
    w->peer = peer;
}

static void outcome_heard(struct life *l, const struct outcome *o)
{
    struct open_work *w = find(l, o->uid);
    bool counts = w != NULL && w->cycle == o->cycle;
    if (counts && o->result == OUTCOME_bound && !l->in_snapshot && l->told_count < OPEN_MAX) {
        l->told_at[l->told_count] = clock_now();
        snprintf(l->told[l->told_count++], UID_ROOM, "%.*s", STR_ARG(o->uid));
    }
    if (counts)
        open_drop(l, w);
}

static void group_said(const struct proc *p, struct life *l, uint32_t peer,
                       const struct gang_attempt *a)
{
    for (uint32_t i = 0; i < a->members.count; i++)
        attempt_said(p, l, peer, a->members.at[i].pod.uid, a->members.at[i].cycle);
}

/* ---- a binder: what it says is so, and a term's binds end with it ---- */

static void bind_heard(const struct proc *p, struct life *l, const struct bind *b)
{
    struct open_work *w = find(l, b->uid);
    if (w == NULL)
        w = open_add(l, b->uid);
    if (w != NULL)
        w->term = proc_term(p);
}

static bool was_carried_out(const struct bind_result *r)
{
    uint64_t from = carried_out.count > BOUND_MAX ? carried_out.count - BOUND_MAX : 0;
    for (uint64_t i = carried_out.count; i > from; i--)
        if (str_is(r->uid, carried_out.at[(i - 1) % BOUND_MAX].uid))
            return str_is(r->node_name, carried_out.at[(i - 1) % BOUND_MAX].node);
    return from > 0;
}

static void result_said(const struct proc *p, const struct bind_result *r)
{
    if (r->bound && !was_carried_out(r))
        violated("bound is bound",
                 "%s says that %.*s is bound to %.*s, and no such Binding was made", p->door,
                 STR_ARG(r->name), STR_ARG(r->node_name));
}

static const char *uid_in(const char *body, char *uid, size_t room)
{
    const char *at = body != NULL ? strstr(body, "\"uid\":\"") : NULL;
    uid[0] = 0;
    if (at != NULL)
        snprintf(uid, room, "%.*s", (int)strcspn(at + 7, "\""), at + 7);
    return uid;
}

/* A binder that leads on and counts further, as a scheduler knew of a later term, keeps its binds,
 * and tells the scheduler of them. */
static void terms_follow(const struct proc *p, struct life *l)
{
    bool leads = binder_leading(p->core), led = l->led;
    int64_t before = l->led_in, term = proc_term(p);
    l->led = leads;
    l->led_in = term;
    for (uint32_t i = 0; leads && led && before != term && i < l->open_count; i++)
        if (l->open[i].term == before)
            l->open[i].term = term;
}

void promises_asked(const struct seen_call *c)
{
    char uid[UID_ROOM];
    const struct proc *p = proc_current();
    if (strcmp(c->method, "POST") != 0 || strstr(c->path, "/binding") == NULL)
        return;
    if (uid_in(c->body, uid, sizeof(uid))[0] == 0)
        violated("wrong pod bound", "%s sends POST %.120s for whoever has that name", c->who,
                 c->path);
    if (p == NULL || p->kind != BINDER)
        return;
    terms_follow(p, life_of(p)); /* it may have counted further in this very round */
    const struct open_work *w = find(life_of(p), str_of(uid));
    if (w != NULL && w->term != proc_term(p))
        violated("binds end with their term",
                 "%s sends POST %.120s in term %lld, and was told of it in term %lld", p->door,
                 c->path, (long long)proc_term(p), (long long)w->term);
}

void promises_carried_out(const char *body, const char *node)
{
    uint64_t at = carried_out.count++ % BOUND_MAX;
    (void)uid_in(body, carried_out.at[at].uid, UID_ROOM);
    snprintf(carried_out.at[at].node, NAME_ROOM, "%s", node);
}

/* ---- everybody: terms are counted by binders, and learned of those who lead to one ---- */

/* Who was out hears only then that the liar has gone. */
static bool lie_may_be_known(const struct life *l)
{
    int64_t from = l != NULL && l->back_at > lie.until ? l->back_at : lie.until;
    return lie.term != 0 && clock_now() < from + LIE_FORGOTTEN;
}

void promises_lie(int64_t term, int64_t until)
{
    lie.term = term;
    lie.until = until;
}

static void term_made(const struct life *l, const char *who, int64_t term)
{
    if (term <= greatest_term)
        return;
    if (term > greatest_term + 1 && !(lie_may_be_known(l) && term <= lie.term + 1))
        violated("terms are counted by binders", "%s has term %lld, and none was above %lld", who,
                 (long long)term, (long long)greatest_term);
    greatest_term = term;
}

void promises_term_made(const char *who, int64_t term)
{
    term_made(NULL, who, term);
}

void promises_terms(const struct proc *p)
{
    int64_t term = bus_term(p->bus);
    struct life *l = life_of(p);
    if (l->round_at != 0 && clock_now() - l->round_at > WAS_OUT)
        l->back_at = clock_now();
    l->round_at = clock_now();
    if (p->kind == BINDER) {
        term_made(l, p->door, proc_term(p));
        terms_follow(p, l);
    }
    if (term > greatest_term && !(lie_may_be_known(l) && term == lie.term))
        violated("terms are counted by binders", "%s knows of term %lld, and none is above %lld",
                 p->door, (long long)term, (long long)greatest_term);
}

/* ---- everybody: of some kinds one process at a time is let in ---- */

static uint32_t *place_of(struct life *l, enum process kind)
{
    return kind == SCHEDULER ? &l->scheduler : kind == QUEUE ? &l->queue : NULL;
}

static void peer_comes(const struct proc *p, struct life *l, struct address from)
{
    uint32_t *place = place_of(l, from.process);
    if (place != NULL && *place != 0)
        violated("one of a kind", "%s has a %s, and another one comes in", p->door,
                 process_name(from.process));
    if (place != NULL)
        *place = from.peer;
}

static void peer_goes(struct life *l, struct address from)
{
    uint32_t *place = place_of(l, from.process);
    if (place != NULL && *place == from.peer)
        *place = 0;
}

/* ---- doors ---- */

void promises_heard(const struct proc *p, const struct delivery *in)
{
    const struct message *m = in->message;
    struct life *l = life_of(p);
    if (p->kind == SCHEDULER)
        evictions_heard(p, m);
    if (m->type == MSG_peer_up) {
        peer_comes(p, l, in->from);
    } else if (m->type == MSG_peer_down) {
        peer_goes(l, in->from);
    } else if (p->kind == SCHEDULER && m->type == MSG_barrier_reached) {
        barrier_heard(p, l, m->barrier_reached.id);
    } else if (p->kind == SCHEDULER && m->type == MSG_snapshot_begin) {
        snapshot_begins(l);
    } else if (p->kind == SCHEDULER && m->type == MSG_snapshot_end) {
        snapshot_ends(l);
    } else if (p->kind == SCHEDULER && m->type == MSG_attempt) {
        offered(l, m->attempt.pod.uid, false);
    } else if (p->kind == SCHEDULER && m->type == MSG_gang_attempt) {
        group_offered(l, &m->gang_attempt);
    } else if (p->kind == SCHEDULER && m->type == MSG_pod_gone) {
        gone_heard(l, m->pod_gone.uid);
    } else if (p->kind == SCHEDULER && m->type == MSG_pod_set) {
        pod_heard(l, &m->pod_set.pod);
    } else if (p->kind == SCHEDULER && m->type == MSG_view) {
        l->viewed = true;
        l->synced = m->view.synced;
        l->view_age = m->view.age_ms * MS;
        l->view_at = clock_of(p->host);
    } else if (p->kind == SCHEDULER && m->type == MSG_leadership) {
        leadership_heard(l, &m->leadership);
    } else if (p->kind == QUEUE && m->type == MSG_snapshot_begin) {
        l->told_count = 0;
        l->in_snapshot = true;
    } else if (p->kind == QUEUE && m->type == MSG_snapshot_end) {
        l->in_snapshot = false;
    } else if (p->kind == QUEUE && m->type == MSG_pull && in->term > l->term) {
        l->term = in->term; /* attempts of the former are taken back */
        l->open_count = 0;
    } else if (p->kind == QUEUE && m->type == MSG_outcome) {
        outcome_heard(l, &m->outcome);
    } else if (p->kind == BINDER && m->type == MSG_bind) {
        bind_heard(p, l, &m->bind);
    }
}

/* False: nothing is promised of such messages. */
static bool is_watched(enum message_type type)
{
    switch (type) {
    case MSG_barrier:
    case MSG_bind:
    case MSG_map_request:
    case MSG_map_batch:
    case MSG_map_run:
    case MSG_map_picks:
    case MSG_attempt:
    case MSG_gang_attempt:
    case MSG_pod_failed:
    case MSG_preempt:
    case MSG_outcome:
    case MSG_bind_result: return true;
    default: return false;
    }
}

static bool stays(const struct proc *p, struct str uid)
{
    const struct life *l = life_of(p);
    uint32_t i = place_in_facts(uid);
    return i < PODS_MAX && is_shown(l, i) && !l->going[i];
}

static void said(const struct proc *p, uint32_t peer, const struct message *m)
{
    struct life *l = life_of(p);
    must(is_watched(m->type));
    facts_said(m);
    switch (m->type) {
    case MSG_barrier: barrier_said(l, proc_term(p), m->barrier.id); break;
    case MSG_bind: bind_said(p, l, &m->bind); break;
    case MSG_attempt: attempt_said(p, l, peer, m->attempt.pod.uid, m->attempt.cycle); break;
    case MSG_gang_attempt: group_said(p, l, peer, &m->gang_attempt); break;
    case MSG_pod_failed: break;
    case MSG_preempt:
    case MSG_outcome: evictions_said(p, m, stays); break;
    case MSG_bind_result:
        open_drop(l, find(l, m->bind_result.uid));
        result_said(p, &m->bind_result);
        break;
    default:
        question_said(p, l);
        decisions_said(p, l, m);
        meddlers_asked(m);
        break;
    }
}

void promises_said(const struct proc *p)
{
    struct arena a = {0};
    struct message m;
    for (size_t i = 0; i < p->out.count; i++)
        if (is_watched(p->out.at[i].type) && outbox_get(&p->out, i, &m, &a))
            said(p, p->out.at[i].to.peer, &m);
    if (p->kind == SCHEDULER)
        binds_said(p, life_of(p));
    arena_free(&a);
}
