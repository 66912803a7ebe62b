/* past: a scheduler's journal up to a place, taken into a world. What must stay true: before a
 * decision, what is behind the question to the workers is not in the world, and what was decided
 * before it is. */
#include "ctl/record/past.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/kube/objects/requests.h"

/* ---- the decision ---- */

struct search {
    struct past *past;
    uint64_t at;
    struct str said; /* the body of the message said last */
    /* The attempt that is under way: */
    bool open, named; /* named: workers were asked about this pod, and not one like it */
    struct pod pod;
    struct arena memory;
    uint64_t asked, run;
    int64_t asked_us, run_us;
    struct past_consulted *consulted; /* from memory */
    uint32_t consulted_count;
};

static void begin_attempt(struct search *s, const struct pod *pod, int64_t wall_us)
{
    const struct past *p = s->past;
    if (!str_equal(pod->name, p->name) || !str_equal(pod->namespace_name, p->space))
        return;
    arena_reset(&s->memory);
    codec_copy(&pod_record, &s->pod, pod, &s->memory);
    s->open = true;
    s->named = false;
    s->consulted = NULL;
    s->consulted_count = 0;
    s->asked = s->at;
    s->asked_us = wall_us;
}

static void take_asked(struct search *s, const struct message *m, int64_t wall_us)
{
    bool about = false;
    if (m->type == MSG_map_request)
        about = str_equal(m->map_request.pod.uid, s->pod.uid);
    if (m->type == MSG_map_run)
        about = str_equal(m->map_run.request.pod.uid, s->pod.uid);
    for (uint32_t i = 0; m->type == MSG_map_batch && i < m->map_batch.requests.count; i++)
        about = about || str_equal(m->map_batch.requests.at[i].pod.uid, s->pod.uid);
    for (uint32_t i = 0; m->type == MSG_map_picks && i < m->map_picks.requests.count; i++)
        about = about || str_equal(m->map_picks.requests.at[i].pod.uid, s->pod.uid);
    if (about) {
        s->named = true;
        s->asked = s->at;
        s->asked_us = wall_us;
    }
    if (m->type == MSG_map_run) {
        s->run = s->at;
        s->run_us = wall_us;
    }
    for (uint32_t i = 0; m->type == MSG_map_run_end && i < m->map_run_end.pods.count; i++)
        if (!s->named && str_equal(m->map_run_end.pods.at[i].uid, s->pod.uid)) {
            s->asked = s->run;
            s->asked_us = s->run_us;
        }
}

/* ---- extenders ---- */

static void take_question(struct search *s, const struct extend *q, int64_t wall_us)
{
    struct past_consulted *all;
    if (!str_equal(q->uid, s->pod.uid))
        return;
    all = arena_take(&s->memory, (s->consulted_count + 1) * sizeof(*all));
    for (uint32_t i = 0; i < s->consulted_count; i++)
        all[i] = s->consulted[i];
    s->consulted = all;
    all = &all[s->consulted_count++];
    *all = (struct past_consulted){.asked_us = wall_us};
    codec_copy(message_info[MSG_extend].record, &all->question, q, &s->memory);
}

/* To the question that was asked last: another answer came too late. */
static void take_answer(struct search *s, const struct extended *answer, int64_t wall_us)
{
    struct past_consulted *last =
        s->consulted_count > 0 ? &s->consulted[s->consulted_count - 1] : NULL;
    if (last == NULL || last->answered_us != 0 || answer->id != last->question.id ||
        !str_equal(answer->uid, s->pod.uid))
        return;
    last->answered_us = wall_us;
    codec_copy(message_info[MSG_extended].record, &last->answer, answer, &s->memory);
}

static void keep_consulted(const struct search *s)
{
    struct past *p = s->past;
    p->consulted_count = s->consulted_count;
    p->consulted = arena_take(&p->memory, (s->consulted_count + 1) * sizeof(*p->consulted));
    for (uint32_t i = 0; i < s->consulted_count; i++) {
        const struct past_consulted *from = &s->consulted[i];
        struct past_consulted *to = &p->consulted[i];
        *to = (struct past_consulted){from->asked_us, from->answered_us, {0}, {0}};
        codec_copy(message_info[MSG_extend].record, &to->question, &from->question, &p->memory);
        codec_copy(message_info[MSG_extended].record, &to->answer, &from->answer, &p->memory);
    }
}

/* ---- what was said ---- */

/* Whose decision the message tells; empty: it tells none. */
static struct str decided_uid(const struct message *m)
{
    switch (m->type) {
    case MSG_bind: return m->bind.uid;
    case MSG_preempt: return m->preempt.pod.uid;
    case MSG_pod_failed: return m->pod_failed.pod.uid;
    case MSG_outcome:
        return m->outcome.result == OUTCOME_skipped ? (struct str){NULL, 0} : m->outcome.uid;
    default: return (struct str){NULL, 0};
    }
}

static void take_said(struct search *s, const struct message *m, int64_t wall_us)
{
    struct past *p = s->past;
    take_asked(s, m, wall_us);
    if (m->type == MSG_extend)
        take_question(s, &m->extend, wall_us);
    if (!str_equal(decided_uid(m), s->pod.uid))
        return;
    s->open = false;
    p->decided = true;
    p->asked = s->asked;
    p->asked_us = s->asked_us;
    p->said = s->at;
    p->said_us = wall_us;
    arena_reset(&p->memory);
    codec_copy(&pod_record, &p->pod, &s->pod, &p->memory);
    keep_consulted(s);
}

static bool is_about_attempts(const struct search *s, const struct journal_entry *e)
{
    switch (e->type) {
    case MSG_attempt:
    case MSG_gang_attempt: return e->kind == JOURNAL_delivery;
    case MSG_extended: return e->kind == JOURNAL_delivery && s->open;
    case MSG_map_request:
    case MSG_map_batch:
    case MSG_map_run:
    case MSG_map_run_end:
    case MSG_map_picks:
    case MSG_extend:
    case MSG_bind:
    case MSG_preempt:
    case MSG_pod_failed:
    case MSG_outcome: return e->kind == JOURNAL_message && s->open;
    default: return false;
    }
}

static bool look(void *context, const struct journal_entry *e, int64_t wall_us)
{
    struct search *s = context;
    struct arena memory = {0};
    struct message m;
    struct str body = e->body;
    if (e->kind == JOURNAL_message && body.len == 0)
        body = s->said;
    if (e->kind == JOURNAL_message)
        s->said = body;
    bool wanted =
        s->at < s->past->entries && is_about_attempts(s, e) && member_decode(e, body, &m, &memory);
    if (wanted && m.type == MSG_attempt)
        begin_attempt(s, &m.attempt.pod, wall_us);
    for (uint32_t i = 0; wanted && m.type == MSG_gang_attempt && i < m.gang_attempt.members.count;
         i++)
        begin_attempt(s, &m.gang_attempt.members.at[i].pod, wall_us);
    if (wanted && m.type == MSG_extended)
        take_answer(s, &m.extended, wall_us);
    if (wanted && e->kind == JOURNAL_message)
        take_said(s, &m, wall_us);
    arena_free(&memory);
    return ++s->at < s->past->entries;
}

void past_find(struct past *p)
{
    struct search s = {.past = p};
    member_each(p->life, look, &s);
    arena_free(&s.memory);
}

void past_free(struct past *p)
{
    arena_free(&p->memory);
}

/* ---- the cluster ---- */

struct taking {
    const struct explained *how;
    struct world *world;
    bool whole;
    uint64_t at, objects, binds; /* entries behind these are not looked at */
    struct map *assumed;         /* UID to a node, a text: bound, as far as it is known */
    struct str said;
    struct arena step;
};

/* Unless it is seen on its node. */
static void assume(struct taking *t, const struct pod *pod)
{
    const char *node = map_get(t->assumed, pod->uid);
    struct pod counted = requests_as_of(pod, &t->how->profiles.at[0].features);
    if (node != NULL && pod->node_name.len == 0 && !world_is_assumed(t->world, pod))
        world_assume(t->world, &counted, str_of(node));
}

static void take_pod(struct taking *t, const struct pod *pod)
{
    const struct pod counted = requests_as_of(pod, &t->how->profiles.at[0].features);
    world_pod_set(t->world, &counted);
    assume(t, pod);
}

static void lose_assumed(struct taking *t, struct str uid)
{
    memory_free(map_remove(t->assumed, uid));
}

static void lose_pod(struct taking *t, const struct pod_gone *gone)
{
    const struct pod pod = {.uid = gone->uid};
    if (world_is_assumed(t->world, &pod))
        world_forget(t->world, &pod);
    world_pod_gone(t->world, gone->namespace_name, gone->name);
    lose_assumed(t, gone->uid);
}

/* Each is the whole. */
static void begin_snapshot(struct taking *t)
{
    world_free(&t->world);
    t->world = world_new(t->how->profiles.at, t->how->profiles.count, 1);
    t->whole = false;
    world_snapshot_begin(t->world);
}

static void take_of_watcher(struct taking *t, const struct message *m)
{
    if (m->type == MSG_snapshot_begin)
        begin_snapshot(t);
    if (t->world == NULL)
        return;
    switch (m->type) {
    case MSG_snapshot_end:
        world_snapshot_end(t->world);
        t->whole = true;
        break;
    case MSG_node_set: world_node_set(t->world, &m->node_set.node); break;
    case MSG_node_gone: world_node_gone(t->world, m->node_gone.name); break;
    case MSG_pod_set: take_pod(t, &m->pod_set.pod); break;
    case MSG_pod_gone: lose_pod(t, &m->pod_gone); break;
    default:
        if (world_takes(m->type))
            world_take(t->world, m);
        break;
    }
}

static void take_bind(struct taking *t, const struct bind *b)
{
    struct pod pod;
    memory_free(map_set(t->assumed, b->uid, str_copy(b->node_name)));
    if (t->world != NULL && world_pod(t->world, b->namespace_name, b->name, &pod, &t->step) &&
        str_equal(pod.uid, b->uid))
        assume(t, &pod);
}

static void take_result(struct taking *t, const struct bind_result *b)
{
    const struct pod pod = {.uid = b->uid};
    if (b->bound)
        return;
    lose_assumed(t, b->uid);
    if (t->world != NULL && world_is_assumed(t->world, &pod))
        world_forget(t->world, &pod);
}

static bool take(void *context, const struct journal_entry *e, int64_t wall_us)
{
    struct taking *t = context;
    struct arena memory = {0};
    struct message m;
    struct str body = e->body;
    (void)wall_us;
    if (e->kind == JOURNAL_message && body.len == 0)
        body = t->said;
    if (e->kind == JOURNAL_message)
        t->said = body;
    bool told = e->kind == JOURNAL_delivery && e->process == WATCHER && t->at < t->objects;
    bool bound = t->at < t->binds && ((e->kind == JOURNAL_message && e->type == MSG_bind) ||
                                      (e->kind == JOURNAL_delivery && e->type == MSG_bind_result));
    if ((told || bound) && member_decode(e, body, &m, &memory)) {
        if (told)
            take_of_watcher(t, &m);
        else if (m.type == MSG_bind)
            take_bind(t, &m.bind);
        else
            take_result(t, &m.bind_result);
    }
    arena_reset(&t->step);
    arena_free(&memory);
    t->at++;
    return t->at < t->objects || t->at < t->binds;
}

struct world *past_world(const struct past *p, const struct explained *how, bool before)
{
    struct taking t = {.how = how,
                       .objects = before ? p->asked : p->entries,
                       .binds = before ? p->said : 0,
                       .assumed = map_new()};
    size_t at = 0;
    void *node;
    if (how->profiles.count > 0)
        member_each(p->life, take, &t);
    while (map_next(t.assumed, &at, NULL, &node))
        memory_free(node);
    map_free(&t.assumed);
    arena_free(&t.step);
    if (!t.whole)
        world_free(&t.world);
    return t.world;
}
