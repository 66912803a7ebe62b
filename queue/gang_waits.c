/* gang_waits: tells why a group is not tried: its owner once a reason, its pods when the reason has
 * settled. The texts are the plugins' own.
 *
 * What must stay true: pods that trickle in cost one message a group and second at most, and a pod
 * is told again of the same reason with other numbers only at growing intervals. */
#include "queue/gang.h"

#include "queue/places.h"

#include <inttypes.h>

#define TOLD_AT_ONCE 500       /* members in a message */
#define TOLD_BYTES   (8 << 20) /* as far as they are no larger than this */

static bool is_told(enum group_state state)
{
    return state == GROUP_unread || state == GROUP_missing || state == GROUP_few ||
           state == GROUP_gated || state == GROUP_mixed || state == GROUP_large ||
           state == GROUP_denied || state == GROUP_short;
}

/* ---- what is told ---- */

/* Pods that the group has as far as we can place them. */
static int64_t pods_of(const struct group *g)
{
    int64_t count = (int64_t)g->assigned;
    for (const struct member *m = g->first; m != NULL; m = m->next)
        count += !m->entry->deleting;
    return count;
}

/* Upstream has no words for a group that it queues as one and that a gate holds, nor for a tree
 * that is not complete, and for groups below one that is not there. */
static bool is_silent(const struct group *g)
{
    return (g->state == GROUP_gated && group_is_whole(g)) ||
           (g->state == GROUP_few && group_is_tree(g)) || g->up != NULL;
}

/* The state in the lowest byte, above it a number that is another one for other words. */
static uint64_t what_of(const struct group *g)
{
    uint64_t numbers = 0;
    if (!is_told(g->state) || is_silent(g))
        return 0;
    if (g->state == GROUP_few)
        numbers = (uint64_t)(pods_of(g) * 1000003 + group_least(g));
    if (g->state == GROUP_unread)
        numbers = str_hash(str_of(gangs_why_unread(g))) & 0xffffff;
    return numbers << 8 | (uint64_t)g->state;
}

static void print_mixed(const struct group *g, struct buffer *text)
{
    const struct entry *first = g->ready.first, *other = first;
    while (other != NULL && other->around == first->around)
        other = other->next;
    if (other == NULL)
        return;
    buffer_print(text,
                 "all pods in a single pod group should have the same .spec.schedulerName set, "
                 "got: \"%.*s\" and \"%.*s\"",
                 STR_ARG(store_str(other->kept, TAG_pod_scheduler_name)),
                 STR_ARG(store_str(first->kept, TAG_pod_scheduler_name)));
}

static void print_in_tree(const struct group *g, struct buffer *text)
{
    if (g->state == GROUP_missing)
        buffer_print(text, "waiting for pods's pod group \"%.*s\" to appear in scheduling queue",
                     STR_ARG(g->name));
    else if (g->state == GROUP_mixed)
        print_mixed(g, text);
    else
        buffer_add_text(text,
                        "waiting for minCount pods from a gang to appear in scheduling queue");
}

static void print_gap(struct queues *q, const struct group *g, struct buffer *text)
{
    struct arena memory = {0};
    struct room_gap gap = room_gap(q, g, &memory);
    room_print_gap(&gap, text);
    arena_free(&memory);
}

void group_text(struct queues *q, const struct group *g, const struct entry *e, struct buffer *text)
{
    struct str pod = e != NULL ? store_str(e->kept, TAG_pod_name) : (struct str){NULL, 0};
    if (g->state == GROUP_large)
        buffer_print(text, "PodGroup %.*s/%.*s is too large: minMember of its pods exceed %d MiB",
                     STR_ARG(g->space), STR_ARG(g->name), GANG_BYTES_MAX >> 20);
    else if (g->state == GROUP_unread)
        buffer_print(text, "PodGroup %.*s/%.*s cannot be read: %s", STR_ARG(g->space),
                     STR_ARG(g->name), gangs_why_unread(g));
    else if (group_is_in_tree(g))
        print_in_tree(g, text);
    else if (g->state == GROUP_missing)
        buffer_add_text(text, "PodGroup not found");
    else if (g->state == GROUP_few)
        buffer_print(text,
                     "pre-filter pod %.*s cannot find enough sibling pods, current pods number: "
                     "%" PRId64 ", minMember of group: %" PRId64,
                     STR_ARG(pod), pods_of(g), group_least(g));
    else if (g->state == GROUP_gated)
        buffer_print(text,
                     "pre-filter pod %.*s cannot proceed due to gated pods in the same PodGroup",
                     STR_ARG(pod));
    else if (g->state == GROUP_denied)
        buffer_print(text, "podGroup %.*s/%.*s failed recently", STR_ARG(g->space),
                     STR_ARG(g->name));
    else if (g->state == GROUP_short)
        print_gap(q, g, text);
}

/* ---- when ---- */

static struct span settling(void)
{
    return span_of_seconds(GANG_SETTLE_SECONDS);
}

static struct moment later_of(struct moment a, struct moment b)
{
    return a.ns > b.ns ? a : b;
}

/* Upstream says nothing to pods that PreEnqueue of the in-tree API holds back. */
static bool tells_pods(const struct group *g)
{
    return !group_is_in_tree(g) || g->state == GROUP_mixed || g->state == GROUP_large ||
           g->state == GROUP_unread;
}

static bool is_due(const struct group *g, const struct entry *e, struct moment now)
{
    const struct member *m = e->member;
    if (m->told == g->what)
        return false;
    bool numbers_alone = ((m->told ^ g->what) & 0xff) == 0;
    return !numbers_alone || moment_reached(now, moment_after(g->pods_told_at, g->retell));
}

static struct moment group_due(const struct group *g)
{
    if (g->told == g->what || !g->exists)
        return MOMENT_NEVER;
    return later_of(moment_after(g->untold, settling()), moment_after(g->told_at, settling()));
}

static struct moment pods_due(const struct group *g)
{
    bool any = false, any_new = false;
    if (!tells_pods(g))
        return MOMENT_NEVER;
    for (const struct entry *e = g->ready.first; e != NULL && !any_new; e = e->next) {
        any |= e->member->told != g->what;
        any_new = ((e->member->told ^ g->what) & 0xff) != 0;
    }
    if (!any)
        return MOMENT_NEVER;
    struct moment settled = moment_after(g->changed, settling());
    return any_new ? settled : later_of(settled, moment_after(g->pods_told_at, g->retell));
}

static struct moment due_of(const struct group *g)
{
    return g->what == 0 ? MOMENT_NEVER : moment_earlier(group_due(g), pods_due(g));
}

void group_note_state(struct group *g, struct moment now)
{
    uint64_t what = what_of(g);
    if (what != g->what) {
        bool other_kind = ((what ^ g->what) & 0xff) != 0;
        if (other_kind || g->told == g->what)
            g->untold = now;
        g->changed = now;
        g->what = what;
        if (other_kind)
            g->retell = settling();
    }
    group_set_telling(g, due_of(g));
}

struct moment gangs_tell_due(const struct gangs *gs)
{
    const struct group *g = heap_top(gs->telling);
    return g != NULL ? g->tell_due : MOMENT_NEVER;
}

void gangs_untell(struct gangs *gs, struct moment now)
{
    size_t at = 0;
    void *value;
    while (map_next(gs->groups, &at, NULL, &value)) {
        struct group *g = value;
        for (struct member *m = g->first; m != NULL; m = m->next)
            m->told = 0;
        g->told = 0;
        g->untold = g->changed = now;
        group_set_telling(g, due_of(g));
    }
}

/* ---- the message ---- */

static struct str text_for(struct queues *q, const struct group *g, const struct entry *e,
                           struct arena *a)
{
    struct buffer text = {0};
    group_text(q, g, e, &text);
    struct str copy = arena_copy(a, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

static void add_member(struct queues *q, struct group *g, struct entry *e, struct gang_waits *waits,
                       struct arena *a)
{
    struct gang_member *m = &waits->members.at[waits->members.count++];
    *m = (struct gang_member){.attempts = e->attempts, .first_us = e->first_us};
    codec_copy(&pod_record, &m->pod, entry_pod(e), a);
    entry_fold(e);
    waits->messages.at[waits->messages.count++] = text_for(q, g, e, a);
    e->member->told = g->what;
}

/* True when more are to come. */
static bool add_members(struct queues *q, struct moment now, struct group *g,
                        struct gang_waits *waits, struct arena *a)
{
    size_t room = g->ready.count < TOLD_AT_ONCE ? g->ready.count : TOLD_AT_ONCE;
    if (!tells_pods(g) || !moment_reached(now, moment_after(g->changed, settling())))
        return false;
    waits->members.at = arena_take(a, room * sizeof(struct gang_member));
    waits->messages.at = arena_take(a, room * sizeof(struct str));
    for (const struct member *m = g->first; m != NULL; m = m->next) {
        if (m->entry->place != PLACE_gang || !is_due(g, m->entry, now))
            continue;
        if (waits->members.count == room || a->total > TOLD_BYTES)
            return true;
        add_member(q, g, m->entry, waits, a);
    }
    return false;
}

static void describe(const struct group *g, struct gang *record)
{
    *record = g->record;
    record->api = g->api;
    record->namespace_name = g->space;
    record->name = g->name;
}

/* Of those told of again for other numbers' sake the next time is later each time. */
static void told(struct group *g, struct moment now, uint32_t pods)
{
    if (pods == 0)
        return;
    g->pods_told_at = now;
    g->retell = (struct span){g->retell.ns * 2};
    if (g->retell.ns > span_of_seconds(GANG_RETELL_SECONDS).ns)
        g->retell = span_of_seconds(GANG_RETELL_SECONDS);
}

static const struct entry *first_waiting(const struct group *g)
{
    const struct member *m = g->first;
    while (m->entry->place != PLACE_gang)
        m = m->next;
    return m->entry;
}

/* Its owner is told with the last of several messages, and once. */
static bool add_owner(struct queues *q, struct moment now, struct group *g,
                      struct gang_waits *waits, struct arena *a)
{
    if (!moment_reached(now, group_due(g)))
        return false;
    waits->message = text_for(q, g, first_waiting(g), a);
    g->told = g->what;
    g->told_at = now;
    return true;
}

bool gangs_tell(struct queues *q, struct moment now, struct gang_waits *waits, struct arena *a)
{
    struct gangs *gs = &q->gangs;
    struct group *g;
    while ((g = heap_top(gs->telling)) != NULL && moment_reached(now, g->tell_due)) {
        *waits = (struct gang_waits){0};
        describe(g, &waits->group);
        bool more = add_members(q, now, g, waits, a);
        bool owner = !more && add_owner(q, now, g, waits, a);
        if (!more)
            told(g, now, waits->members.count);
        group_set_telling(g, more ? now : due_of(g));
        if (owner || waits->members.count > 0) {
            gs->counts.told++;
            return true;
        }
        if (moment_reached(now, g->tell_due)) /* never so far, but the loop has to end */
            group_set_telling(g, moment_after(now, settling()));
    }
    return false;
}
