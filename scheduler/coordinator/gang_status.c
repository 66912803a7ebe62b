/* gang_status: one entry a PodGroup, with what the watcher last said of it and of its pods, in the
 * order in which they are to be looked at next. The one idea: a look makes at most one step, and
 * what was said is said again, ever more rarely, until the group is seen to have changed.
 *
 * What must stay true: a step depends on the group and its pods alone, so any scheduler, at any
 * time, says the same; a group that Finished or Failed is never touched again; one that a
 * controller keeps is left to it, until a step has been missing for minutes. */
#include "scheduler/coordinator/gang_status.h"

#include "proto/base/heap.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/table.h"
#include "proto/codec.h"
#include "scheduler/table/gang_names.h"

#define API_BUILT_IN   "scheduling.k8s.io"
#define API_SIGS       "scheduling.sigs.k8s.io"
#define TIMEOUT_US     (48LL * 3600 * 1000000)
#define TIMEOUT_TEXT   "schedule time longer than 48 hours"
#define AGAIN_FIRST_MS 5000
#define AGAIN_MAX_MS   300000

/* A controller that has not made a step for so long is gone. */
#define FOREIGN_MS         300000
#define SAID_AGAIN_MS      10000 /* a condition that was not seen since */
#define FOREIGN_WRONG_MOST 8     /* twice as long with each time that it came back */

/* ---- the step ---- */

static const struct group_members nobody;

static bool is_any(struct str phase, const char *one, const char *other)
{
    return str_is(phase, one) || str_is(phase, other);
}

static bool has_ended(const struct gang *g)
{
    return is_any(g->phase, "Finished", "Failed");
}

static bool has_timed_out(const struct gang *g)
{
    return is_any(g->phase, "Scheduling", "Pending") && g->running == 0 &&
           g->schedule_start - g->created > TIMEOUT_US;
}

static void take_counts(const struct group_members *m, struct group_status *next)
{
    next->running = m->running;
    next->succeeded = m->succeeded;
    next->failed = m->failed;
}

/* The end, if it has come; of both kinds of groups. */
static void look_for_end(const struct gang *g, const struct group_members *m,
                         struct group_status *next)
{
    if (m->failed != 0 && m->failed + m->running + m->succeeded >= g->min_member)
        next->phase = STR_LITERAL("Failed");
    if (m->succeeded >= g->min_member)
        next->phase = STR_LITERAL("Finished");
}

static void begin(const struct gang *g, const struct group_members *m, const char *phase,
                  struct group_status *next)
{
    next->phase = str_of(phase);
    next->occupied_by = m->owners;
    if (g->schedule_start == 0 && str_is(next->phase, "Scheduling"))
        next->schedule_start = -1;
}

static void step(const struct gang *g, const struct group_members *m, struct group_status *next)
{
    if (g->phase.len == 0) {
        next->phase = STR_LITERAL("Pending");
    } else if (str_is(g->phase, "Pending")) {
        if (m->pods >= g->min_member)
            begin(g, m, "Scheduling", next);
    } else {
        take_counts(m, next);
        if (m->pods < g->min_member) {
            next->phase = STR_LITERAL("Pending");
            return;
        }
        bool runs = m->succeeded + m->running >= g->min_member;
        next->phase = runs ? STR_LITERAL("Running") : STR_LITERAL("Scheduling");
        look_for_end(g, m, next);
    }
}

/* The older kind counts its scheduled pods, and has a phase more before and after Scheduling. */
static void older_step(const struct gang *g, const struct group_members *m,
                       struct group_status *next)
{
    bool early = is_any(g->phase, "PreScheduling", "Scheduling");
    next->scheduled = m->assigned;
    if (g->phase.len == 0) {
        next->phase = STR_LITERAL("Pending");
    } else if (str_is(g->phase, "Pending")) {
        if (m->pods >= g->min_member)
            begin(g, m, "PreScheduling", next);
    } else if (m->pods == 0) {
        take_counts(m, next);
        next->phase = STR_LITERAL("Pending");
    } else {
        take_counts(m, next);
        if (early && m->assigned >= g->min_member)
            next->phase = STR_LITERAL("Scheduled");
        else if (early && m->assigned > 0)
            next->phase = STR_LITERAL("Scheduling");
        if (early && m->assigned > 0 && g->schedule_start == 0)
            next->schedule_start = -1;
        if (str_is(next->phase, "Scheduled") && m->succeeded + m->running >= g->min_member)
            next->phase = STR_LITERAL("Running");
        look_for_end(g, m, next);
    }
}

static bool differs(const struct gang *g, const struct group_status *next)
{
    bool counts = g->running != next->running || g->succeeded != next->succeeded ||
                  g->failed != next->failed || g->scheduled != next->scheduled;
    bool owners = next->occupied_by.len > 0 && !str_equal(g->occupied_by, next->occupied_by);
    return counts || owners || next->schedule_start != 0 || !str_equal(g->phase, next->phase) ||
           next->event_reason.len > 0;
}

bool gang_status_step(const struct gang *group, const struct group_members *members,
                      struct group_status *next)
{
    const struct group_members *m = members != NULL ? members : &nobody;
    *next = (struct group_status){.group = *group,
                                  .phase = group->phase,
                                  .scheduled = group->scheduled,
                                  .running = group->running,
                                  .succeeded = group->succeeded,
                                  .failed = group->failed};
    if (str_is(group->api, API_BUILT_IN) || group->deleting || has_ended(group))
        return false;
    if (has_timed_out(group)) {
        next->event_reason = STR_LITERAL("Timeout");
        next->event_message = STR_LITERAL(TIMEOUT_TEXT);
    } else if (str_is(group->api, API_SIGS)) {
        older_step(group, m, next);
    } else {
        step(group, m, next);
    }
    return differs(group, next);
}

/* ---- the groups ---- */

struct entry {
    struct heap_link link; /* in due, while there is something to look at */
    struct moment due;
    struct arena group_memory, members_memory;
    struct gang group;
    struct group_members members;
    uint32_t hash;
    uint32_t mark; /* the last snapshot that showed the group */
    uint32_t mark_members;
    bool has_group, has_members;
    bool timed_out; /* and was told so */
    unsigned tries; /* since it was last seen to change */

    /* Where a controller keeps the status: since when a step is missing (0: none is), whether that
     * was for too long, and how often such a one was back after all. */
    struct moment missing;
    bool abandoned;
    int wrong;

    struct moment said; /* when its condition was, by a pod of it; 0: not lately */
    bool said_scheduled;
    struct arena said_memory;
    struct str said_by; /* the profile, for its event */
};

struct gang_statuses {
    struct table entries;
    struct heap *due;
    uint32_t mark;
};

/* As its condition was last seen. */
static bool is_scheduled(const struct entry *e)
{
    return str_is(e->group.scheduled_condition.status, "True");
}

static bool earlier(const void *a, const void *b)
{
    return ((const struct entry *)a)->due.ns < ((const struct entry *)b)->due.ns;
}

static struct heap_link *link_of(void *entry)
{
    return &((struct entry *)entry)->link;
}

struct gang_statuses *gang_statuses_new(void)
{
    struct gang_statuses *s = memory_take(sizeof(*s));
    s->due = heap_new(earlier, link_of);
    return s;
}

static void entry_free(struct gang_statuses *s, struct entry *e)
{
    if (heap_has(s->due, e))
        heap_remove(s->due, e);
    arena_free(&e->group_memory);
    arena_free(&e->members_memory);
    arena_free(&e->said_memory);
    memory_free(e);
}

void gang_statuses_free(struct gang_statuses **statuses)
{
    struct gang_statuses *s = *statuses;
    size_t at = 0;
    struct entry *e;
    if (s == NULL)
        return;
    while ((e = table_next(&s->entries, &at)) != NULL)
        entry_free(s, e);
    table_free(&s->entries);
    heap_free(&s->due);
    memory_free(s);
    *statuses = NULL;
}

struct key {
    struct str api, space, name;
};

static struct key key_of(const struct entry *e)
{
    if (e->has_group)
        return (struct key){e->group.api, e->group.namespace_name, e->group.name};
    return (struct key){e->members.api, e->members.namespace_name, e->members.name};
}

static bool is_entry(const void *thing, const void *key)
{
    struct key own = key_of(thing);
    const struct key *k = key;
    return str_equal(own.name, k->name) && str_equal(own.space, k->space) &&
           str_equal(own.api, k->api);
}

static uint32_t hash_of(const struct key *k)
{
    return table_hash(str_hash(k->name) * 31 + str_hash(k->space) * 7 + str_hash(k->api));
}

static struct entry *find(const struct gang_statuses *s, const struct key *k)
{
    return table_get(&s->entries, hash_of(k), is_entry, k);
}

static void look_at(struct gang_statuses *s, struct entry *e, struct moment due)
{
    e->due = due;
    if (heap_has(s->due, e))
        heap_fix(s->due, e);
    else
        heap_push(s->due, e);
}

/* Something was learned of it. */
static void changed(struct gang_statuses *s, struct moment now, struct entry *e)
{
    e->tries = 0;
    if (e->has_group) {
        look_at(s, e, now);
    } else if (!e->has_members) {
        table_remove(&s->entries, e->hash, e);
        entry_free(s, e);
    } else if (heap_has(s->due, e)) {
        heap_remove(s->due, e);
    }
}

/* A new entry goes into the table when it knows its own name. */
static struct entry *entry_new(const struct key *k)
{
    struct entry *e = memory_take(sizeof(*e));
    e->hash = hash_of(k);
    return e;
}

/* Is it another of that name, or has its controller written again? */
static void see_controller(struct entry *e, const struct gang *group)
{
    bool other = !str_equal(e->group.uid, group->uid);
    bool wrote = group->status_foreign_at > e->group.status_foreign_at;
    if (other) {
        e->timed_out = false;
        e->said = (struct moment){0};
    }
    if (other || wrote) {
        e->wrong = other ? 0 : e->wrong + (e->abandoned ? 1 : 0);
        e->missing = (struct moment){0};
        e->abandoned = false;
    }
}

static void take_group(struct gang_statuses *s, struct moment now, const struct gang *group)
{
    struct key k = {group->api, group->namespace_name, group->name};
    struct entry *e = find(s, &k);
    bool is_new = e == NULL;
    if (is_new)
        e = entry_new(&k);
    if (!is_new && e->has_group)
        see_controller(e, group);
    arena_reset(&e->group_memory);
    codec_copy(&gang_record, &e->group, group, &e->group_memory);
    e->has_group = true;
    e->mark = s->mark;
    if (is_new)
        table_add(&s->entries, e->hash, e);
    changed(s, now, e);
}

static void take_members(struct gang_statuses *s, struct moment now,
                         const struct group_members *members)
{
    struct key k = {members->api, members->namespace_name, members->name};
    struct entry *e = find(s, &k);
    bool is_new = e == NULL;
    if (is_new && members->pods == 0)
        return;
    if (is_new)
        e = entry_new(&k);
    arena_reset(&e->members_memory);
    codec_copy(message_info[MSG_group_members].record, &e->members, members, &e->members_memory);
    e->has_members = members->pods > 0;
    e->mark_members = s->mark;
    if (is_new)
        table_add(&s->entries, e->hash, e);
    changed(s, now, e);
}

static void drop_group(struct gang_statuses *s, struct moment now, struct entry *e)
{
    if (!e->has_members) { /* it must still know its name when it leaves the table */
        table_remove(&s->entries, e->hash, e);
        entry_free(s, e);
        return;
    }
    e->has_group = e->timed_out = false;
    e->said = (struct moment){0};
    changed(s, now, e);
}

static void end_snapshot(struct gang_statuses *s, struct moment now)
{
    size_t at = 0;
    struct entry *e;
    while ((e = table_next(&s->entries, &at)) != NULL) {
        bool no_members = e->has_members && e->mark_members != s->mark;
        bool no_group = e->has_group && e->mark != s->mark;
        if (no_members && (no_group || !e->has_group)) {
            table_remove(&s->entries, e->hash, e);
            entry_free(s, e);
        } else if (no_group) {
            drop_group(s, now, e);
        } else if (no_members) {
            e->has_members = false;
            changed(s, now, e);
        }
    }
}

void gang_statuses_take(struct gang_statuses *s, struct moment now, const struct message *m)
{
    if (m->type == MSG_pod_group_set && str_is(m->pod_group_set.group.api, GANG_API_TREE))
        return; /* nothing is written to it */
    if (m->type == MSG_pod_group_set) {
        take_group(s, now, &m->pod_group_set.group);
    } else if (m->type == MSG_group_members) {
        take_members(s, now, &m->group_members);
    } else if (m->type == MSG_snapshot_begin) {
        s->mark++;
    } else if (m->type == MSG_snapshot_end) {
        end_snapshot(s, now);
    } else if (m->type == MSG_object_gone && m->object_gone.kind == OBJECT_pod_group) {
        struct key k = {m->object_gone.api, m->object_gone.namespace_name, m->object_gone.name};
        struct entry *e = find(s, &k);
        if (e != NULL && e->has_group)
            drop_group(s, now, e);
    }
}

/* Whether to leave a step to the group's controller, who will be looked for again. Events alone
 * leave no trace by which to know whether it made them. */
static bool leave(struct gang_statuses *s, struct moment now, struct entry *e, bool event)
{
    int wrong = e->wrong < FOREIGN_WRONG_MOST ? e->wrong : FOREIGN_WRONG_MOST;
    if (!e->group.status_foreign || e->abandoned)
        return false;
    if (event)
        return true;
    if (e->missing.ns == 0)
        e->missing = now;
    struct moment end = moment_after(e->missing, span_of_ms((int64_t)FOREIGN_MS << wrong));
    e->abandoned = moment_reached(now, end);
    if (!e->abandoned)
        look_at(s, e, end);
    return !e->abandoned;
}

static struct span patience(const struct entry *e, int64_t first_ms)
{
    int64_t wait_ms = first_ms << (e->tries < 10 ? e->tries : 10);
    return span_of_ms(wait_ms < AGAIN_MAX_MS ? wait_ms : AGAIN_MAX_MS);
}

/* That it is scheduled was said, and is not seen. No other pod of it may ever come and say it. */
static void say_scheduled_again(struct gang_statuses *s, struct moment now, struct entry *e,
                                struct address binder, struct outbox *out)
{
    struct moment due = moment_after(e->said, patience(e, SAID_AGAIN_MS));
    if (e->said.ns == 0 || !e->said_scheduled || is_scheduled(e))
        return;
    if (moment_reached(now, due)) {
        struct message m = {.type = MSG_group_failed,
                            .group_failed = {.group = e->group,
                                             .scheduled = true,
                                             .reason = REASON_scheduled,
                                             .scheduler_name = e->said_by}};
        outbox_put(out, binder, &m);
        e->said = now;
        e->tries++;
        due = moment_after(now, patience(e, SAID_AGAIN_MS));
    }
    look_at(s, e, due);
}

/* Its next step, said to the binder; and when to look whether that has arrived. */
static void say(struct gang_statuses *s, struct moment now, struct entry *e, struct address binder,
                struct outbox *out)
{
    struct message m = {.type = MSG_group_status};
    const struct group_members *members = e->has_members ? &e->members : NULL;
    bool wanted = gang_status_step(&e->group, members, &m.group_status);
    bool told = m.group_status.event_reason.len > 0 && e->timed_out;
    if (!wanted)
        e->missing = (struct moment){0};
    if (!wanted || told || leave(s, now, e, m.group_status.event_reason.len > 0))
        return;
    e->timed_out = m.group_status.event_reason.len > 0;
    outbox_put(out, binder, &m);
    look_at(s, e, moment_after(now, patience(e, AGAIN_FIRST_MS)));
    e->tries++;
}

void gang_statuses_tick(struct gang_statuses *s, struct moment now, struct address binder,
                        struct outbox *out)
{
    struct entry *e;
    while ((e = heap_top(s->due)) != NULL && moment_reached(now, e->due)) {
        heap_pop(s->due);
        if (str_is(e->group.api, API_BUILT_IN))
            say_scheduled_again(s, now, e, binder, out);
        else
            say(s, now, e, binder, out);
    }
}

/* Also of a group that the view does not show yet, of which it is then said again. */
static void note_said(struct gang_statuses *s, struct moment now, struct entry *e,
                      const struct gang_news *news)
{
    e->said = now;
    e->said_scheduled = news->scheduled;
    e->tries = 0;
    arena_reset(&e->said_memory);
    e->said_by = arena_copy(&e->said_memory, news->scheduler_name);
    if (e->has_group)
        look_at(s, e, now);
}

const struct gang *gang_statuses_condition(struct gang_statuses *s, struct moment now,
                                           const struct gang_news *news)
{
    const struct key k = {STR_LITERAL(API_BUILT_IN), news->namespace_name, news->name};
    bool scheduled = news->scheduled;
    struct entry *e = find(s, &k);
    if (e == NULL || (e->has_group ? is_scheduled(e) : !scheduled))
        return NULL;
    bool lately =
        e->said.ns != 0 && !moment_reached(now, moment_after(e->said, span_of_ms(SAID_AGAIN_MS)));
    bool back = e->said.ns != 0 && e->said_scheduled && !scheduled;
    if (back || (lately && e->said_scheduled == scheduled))
        return NULL; /* what is on its way to be True is not taken back either */
    note_said(s, now, e, news);
    return e->has_group ? &e->group : NULL;
}

bool gang_statuses_was_scheduled(const struct gang_statuses *s, const struct gang *group)
{
    const struct key k = {group->api, group->namespace_name, group->name};
    const struct entry *e = find(s, &k);
    return e != NULL && e->has_group && e->said.ns != 0 && e->said_scheduled &&
           str_equal(e->group.uid, group->uid);
}

bool gang_statuses_is_gang(const struct gang_statuses *s, const struct gang *group)
{
    const struct key k = {group->api, group->namespace_name, group->name};
    const struct entry *e = find(s, &k);
    return e != NULL && e->has_group && e->group.min_member > 0;
}

uint32_t gang_statuses_count(const struct gang_statuses *s)
{
    return (uint32_t)s->entries.count;
}

void gang_statuses_look(struct gang_statuses *s, struct moment now)
{
    size_t at = 0;
    struct entry *e;
    while ((e = table_next(&s->entries, &at)) != NULL)
        if (e->has_group) {
            e->tries = 0;
            if (!e->said_scheduled) /* that stays, and the view may still have to show it */
                e->said = (struct moment){0};
            look_at(s, e, now);
        }
}
