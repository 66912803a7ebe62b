/* gangs: the table of groups: who names which, what their PodGroups say, how many are on nodes.
 *
 * What must stay true: a group lives exactly while a PodGroup, a pending pod, an assigned one or an
 * attempt speaks of it; a pod is a member while its API group is served and its profile has gangs;
 * what rank.c looks at changes only while no member stands in line. */
#include "queue/gang.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/kube/objects/objects.h"
#include "queue/forest/forest.h"
#include "queue/hints.h"
#include "queue/places.h"
#include "queue/rank.h"

#include <string.h>

/* ---- which PodGroups are read ---- */

static int index_of(struct str api)
{
    static const char *const known[GANG_APIS] = {"scheduling.x-k8s.io", "scheduling.sigs.k8s.io",
                                                 "scheduling.k8s.io"};
    int i = 0;
    while (i < GANG_APIS && !str_is(api, known[i]))
        i++;
    return i;
}

static uint32_t bit_of(struct str api)
{
    int i = index_of(api);
    return i < GANG_APIS ? 1u << i : 0;
}

static struct gang_kinds read_kinds(const struct group_kinds *said)
{
    struct gang_kinds k = {0};
    for (uint32_t i = 0; i < said->apis.count; i++)
        k.served |= bit_of(said->apis.at[i]);
    for (uint32_t i = 0; i < said->unread.count; i++) {
        const struct unread_kind *u = &said->unread.at[i];
        int index = index_of(u->api);
        if (index == GANG_APIS || k.why[index] != NULL)
            continue;
        uint32_t *set = u->state == UNREAD_served    ? &k.unread
                        : u->state == UNREAD_looking ? &k.looking
                                                     : &k.unknown;
        *set |= 1u << index;
        k.why[index] = str_copy(u->message);
    }
    return k;
}

static bool same_kinds(const struct gang_kinds *a, const struct gang_kinds *b)
{
    for (int i = 0; i < GANG_APIS; i++)
        if ((a->why[i] == NULL) != (b->why[i] == NULL) ||
            (a->why[i] != NULL && strcmp(a->why[i], b->why[i]) != 0))
            return false;
    return a->served == b->served && a->unread == b->unread && a->unknown == b->unknown &&
           a->looking == b->looking;
}

static void free_kinds(struct gang_kinds *k)
{
    for (int i = 0; i < GANG_APIS; i++)
        memory_free(k->why[i]);
}

/* Whether a pod that names a PodGroup of this API group goes with its group: where they are read;
 * where they are served and cannot be read; where that is not known, and its profile asks for
 * gangs by name. While they are looked for again, only who was never tried by itself. */
static bool holds(const struct gang_kinds *k, const struct entry *e, struct str api)
{
    uint32_t bit = bit_of(api);
    bool asks = e->around->gangs_named || str_is(api, "scheduling.k8s.io");
    if (((k->served | k->unread) & bit) != 0 || (asks && (k->unknown & bit) != 0))
        return true;
    return (k->looking & bit) != 0 && (e->attempts == 0 || e->member != NULL);
}

const char *gangs_why_unread(const struct group *g)
{
    int i = index_of(g->api);
    return i < GANG_APIS ? g->gangs->kinds.why[i] : NULL;
}

/* ---- the table ---- */

static bool before_ready(const void *a, const void *b)
{
    struct rank x = rank_of_group(a), y = rank_of_group(b);
    return rank_before(&x, &y);
}

static bool before_backoff(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->age.ns != y->age.ns ? x->age.ns < y->age.ns : before_ready(x, y);
}

static bool before_due(const void *a, const void *b)
{
    return ((const struct group *)a)->due.ns < ((const struct group *)b)->due.ns;
}

static bool before_telling(const void *a, const void *b)
{
    return ((const struct group *)a)->tell_due.ns < ((const struct group *)b)->tell_due.ns;
}

static struct heap_link *link_queued(void *g)
{
    return &((struct group *)g)->queued;
}

static struct heap_link *link_timed(void *g)
{
    return &((struct group *)g)->timed;
}

static struct heap_link *link_telling(void *g)
{
    return &((struct group *)g)->telling;
}

void gangs_init(struct gangs *gs, int64_t wall_us_at_zero)
{
    *gs = (struct gangs){.groups = map_new(),
                         .ready = heap_new(before_ready, link_queued),
                         .backoff = heap_new(before_backoff, link_queued),
                         .timed = heap_new(before_due, link_timed),
                         .telling = heap_new(before_telling, link_telling),
                         .coscheduling = plugins_bit("Coscheduling"),
                         .sake = plugins_bit("Coscheduling") | plugins_bit("GangScheduling"),
                         .wall_us_at_zero = wall_us_at_zero};
}

void gangs_free(struct gangs *gs)
{
    size_t at = 0;
    void *value;
    while (map_next(gs->groups, &at, NULL, &value))
        group_free(value);
    map_free(&gs->groups);
    heap_free(&gs->ready);
    heap_free(&gs->backoff);
    heap_free(&gs->timed);
    heap_free(&gs->telling);
    sums_free(&gs->room.left);
    memory_free(gs->taken);
    free_kinds(&gs->kinds);
}

/* ---- groups ---- */

static struct str key_of(struct str api, struct str space, struct str name, struct buffer *key)
{
    buffer_add_str(key, api);
    buffer_add_text(key, "/");
    buffer_add_str(key, space);
    buffer_add_text(key, "/");
    buffer_add_str(key, name);
    return buffer_str(key);
}

static struct group *find(const struct gangs *gs, struct str api, struct str space, struct str name)
{
    struct buffer key = {0};
    struct group *g = map_get(gs->groups, key_of(api, space, name, &key));
    buffer_free(&key);
    return g;
}

static struct group *find_or_make(struct gangs *gs, struct str api, struct str space,
                                  struct str name)
{
    struct group *g = find(gs, api, space, name);
    if (g != NULL)
        return g;
    struct buffer key = {0};
    key_of(api, space, name, &key);
    g = memory_take(sizeof(*g));
    g->gangs = gs;
    g->key = key.at;
    g->api = (struct str){key.at, api.len};
    g->space = (struct str){key.at + api.len + 1, space.len};
    g->name = (struct str){g->space.at + space.len + 1, name.len};
    must(map_set(gs->groups, buffer_str(&key), g) == NULL);
    return g;
}

/* ---- members ---- */

/* Where a pending pod belongs; no group: nowhere. */
struct seat {
    struct group *group, *leaf;
};

static void join(struct entry *e, struct seat seat)
{
    struct group *g = seat.group;
    struct member *m = memory_take(sizeof(*m));
    *m = (struct member){.group = g, .leaf = seat.leaf, .entry = e, .prev = g->last};
    seat.leaf->pending++;
    if (g->last != NULL)
        g->last->next = m;
    else
        g->first = m;
    g->last = m;
    g->member_count++;
    g->around = e->around;
    e->member = m;
    group_mark(g);
}

void gangs_leave(struct entry *e)
{
    struct member *m = e->member;
    if (m == NULL)
        return;
    must(e->place == PLACE_nowhere);
    struct group *g = m->group;
    if (m->prev != NULL)
        m->prev->next = m->next;
    else
        g->first = m->next;
    if (m->next != NULL)
        m->next->prev = m->prev;
    else
        g->last = m->prev;
    g->member_count--;
    m->leaf->pending--;
    group_mark(m->leaf);
    g->awake = true; /* those who failed only for its sake may do without it */
    memory_free(m);
    e->member = NULL;
    group_mark(g);
}

/* Of the tree that the leaf is of it is the root that is tried; its pods wait with the leaf while
 * that is not known. */
static struct seat seat_at(struct group *leaf)
{
    struct group *root = leaf->up != NULL ? forest_root(leaf) : NULL;
    return (struct seat){root != NULL ? root : leaf, leaf};
}

static struct seat seat_wanted(struct gangs *gs, const struct entry *e)
{
    const struct seat none = {NULL, NULL};
    if (!e->has_gang || !e->around->gangs)
        return none;
    struct str name = store_str(e->kept, TAG_pod_gang), api = store_str(e->kept, TAG_pod_gang_api);
    bool counts = e->around->built_in_gangs || !str_is(api, "scheduling.k8s.io");
    if (!counts || !holds(&gs->kinds, e, api))
        return none;
    return seat_at(find_or_make(gs, api, store_str(e->kept, TAG_pod_namespace_name), name));
}

void gangs_join(struct queues *q, struct entry *e)
{
    const struct seat seat = seat_wanted(&q->gangs, e);
    if (seat.group != NULL)
        join(e, seat);
}

void gangs_follow(struct queues *q, struct moment now, struct entry *e)
{
    const struct seat seat = seat_wanted(&q->gangs, e);
    struct group *g = seat.group;
    if (g == (e->member != NULL ? e->member->group : NULL) &&
        seat.leaf == (e->member != NULL ? e->member->leaf : NULL))
        return;
    enum place place = e->place;
    bool waits = place != PLACE_in_flight && place != PLACE_bound;
    if (waits) {
        places_leave(q, e);
    } else if (e->member != NULL) {
        e->member->group->bound -= place == PLACE_bound;
        e->place = PLACE_nowhere;
    }
    gangs_leave(e);
    if (g != NULL)
        join(e, seat);
    if (waits) {
        places_requeue(q, now, e, WORTH_immediately);
    } else {
        e->place = place;
        if (g != NULL)
            g->bound += place == PLACE_bound;
    }
}

void gangs_follow_all(struct queues *q, struct moment now)
{
    size_t at = 0;
    void *value;
    while (map_next(q->entries, &at, NULL, &value))
        gangs_follow(q, now, value);
    at = 0;
    while (map_next(q->gangs.groups, &at, NULL, &value))
        group_mark(value); /* what an attempt at it is may be another now */
}

void gangs_serve(struct queues *q, struct moment now, const struct group_kinds *said)
{
    struct gangs *gs = &q->gangs;
    struct gang_kinds kinds = read_kinds(said), before = gs->kinds;
    if (same_kinds(&kinds, &before)) {
        free_kinds(&kinds);
        return;
    }
    gs->kinds = kinds;
    free_kinds(&before);
    gangs_follow_all(q, now);
}

void gangs_collect(struct queues *q, struct group *g)
{
    g->satisfied = false;
    group_set_state(g, GROUP_idle);
    for (struct member *m = g->first; m != NULL; m = m->next) {
        enum place place = m->entry->place;
        if (place != PLACE_active && place != PLACE_backoff && place != PLACE_error_backoff)
            continue;
        places_leave(q, m->entry);
        group_add_ready(g, m->entry);
    }
    g->awake = true;
    group_mark(g);
}

/* ---- pods on nodes ---- */

static void count_assigned(struct gangs *gs, const struct pod *pod, int sign)
{
    if (pod == NULL || pod->gang.len == 0)
        return;
    struct group *g = find_or_make(gs, pod->gang_api, pod->namespace_name, pod->gang);
    must(sign > 0 || g->assigned > 0);
    g->assigned += (size_t)sign;
    sums_add(&g->usage, pod->usage.at, pod->usage.count, sign);
    group_mark(g);
    if (g->up != NULL)
        group_mark(seat_at(g).group);
}

void gangs_assigned(struct queues *q, const struct pod *before, const struct pod *after)
{
    count_assigned(&q->gangs, before, -1);
    count_assigned(&q->gangs, after, 1);
    if (q->gangs.room.kept)
        room_pod(q, before, after);
}

void gangs_node(struct queues *q, const struct node *before, const struct node *after)
{
    if (q->gangs.room.kept)
        room_node(q, before, after);
}

/* ---- PodGroups ---- */

/* What is not asked about: somebody, mostly we, writes the status. */
static bool same_wishes(const struct gang *a, const struct gang *b)
{
    struct gang x = {.uid = a->uid,
                     .created = a->created,
                     .min_member = a->min_member,
                     .parent = a->parent,
                     .timeout_s = a->timeout_s,
                     .has_min_resources = a->has_min_resources,
                     .min_resources = {a->min_resources.count, a->min_resources.at}};
    struct gang y = {.uid = b->uid,
                     .created = b->created,
                     .min_member = b->min_member,
                     .parent = b->parent,
                     .timeout_s = b->timeout_s,
                     .has_min_resources = b->has_min_resources,
                     .min_resources = {b->min_resources.count, b->min_resources.at}};
    return codec_equal(&gang_record, &x, &y);
}

/* Another PodGroup than the one before, or none: what failed before does not matter any more. */
static void begin_anew(struct group *g)
{
    g->failures = g->errors = 0;
    g->failed_us = 0;
    g->backoff_ends = g->denied_until = g->permitted_until = g->retry = (struct moment){0};
}

static void set_age(struct group *g)
{
    g->age = (struct moment){(g->record.created - g->gangs->wall_us_at_zero) * 1000};
}

static void keep(struct group *g, const struct gang *record)
{
    struct arena memory = {.first = 512};
    struct gang copy;
    codec_copy(&gang_record, &copy, record, &memory);
    arena_free(&g->memory);
    g->memory = memory;
    g->record = copy;
    g->exists = true;
}

/* ---- trees ---- */

static bool is_in_trees(const struct gangs *gs, const struct group *g)
{
    return gs->trees && group_is_in_tree(g);
}

/* As its PodGroup, or CompositePodGroup, says; without one it is nobody's child. */
static void link_up(struct gangs *gs, struct group *g)
{
    struct str name = g->record.parent;
    bool has = is_in_trees(gs, g) && g->exists && name.len > 0;
    forest_link(g, has ? find_or_make(gs, STR_LITERAL(KUBE_GANG_COMPOSITE), g->space, name) : NULL);
}

/* Some of its members belong elsewhere now. */
static void follow_members(struct queues *q, struct moment now, struct group *g)
{
    struct arena memory = {0};
    size_t count = 0;
    struct entry **all = arena_take(&memory, g->member_count * sizeof(struct entry *));
    for (struct member *m = g->first; m != NULL; m = m->next)
        all[count++] = m->entry;
    for (size_t i = 0; i < count; i++)
        gangs_follow(q, now, all[i]);
    arena_free(&memory);
}

/* The group is there, has gone, or is another one; its pods and those of its leaves find their
 * root. before: that of its tree, as it was; NULL: it had none. */
static void follow_tree(struct queues *q, struct moment now, struct group *g, struct group *before)
{
    struct arena memory = {0};
    if (before != NULL)
        follow_members(q, now, before);
    struct group *root = forest_root(g);
    if (root != NULL) {
        const struct forest_list list = forest_list(root, &memory);
        for (uint32_t i = 0; i < list.count; i++)
            follow_members(q, now, list.at[i].group);
        gangs_collect(q, root);
    }
    arena_free(&memory);
}

void gangs_use_trees(struct queues *q, bool trees)
{
    struct gangs *gs = &q->gangs;
    struct arena memory = {0};
    size_t at = 0, count = 0;
    void *value;
    if (gs->trees == trees)
        return;
    gs->trees = trees;
    struct group **all = arena_take(&memory, map_count(gs->groups) * sizeof(struct group *));
    while (map_next(gs->groups, &at, NULL, &value))
        all[count++] = value;
    for (size_t i = 0; i < count; i++)
        link_up(gs, all[i]);
    arena_free(&memory);
}

bool gangs_set(struct queues *q, struct moment now, const struct gang *record)
{
    struct gangs *gs = &q->gangs;
    struct group *g = find_or_make(gs, record->api, record->namespace_name, record->name);
    if (g->exists && g->seen == gs->snapshot && record->resource_version != 0 &&
        record->resource_version < g->record.resource_version &&
        str_equal(record->uid, g->record.uid))
        return false;
    g->seen = gs->snapshot;
    if (g->exists && same_wishes(&g->record, record)) {
        keep(g, record);
        return true;
    }
    struct group *root = is_in_trees(gs, g) ? forest_root(g) : NULL;
    gangs_collect(q, g);
    if (!g->exists || !str_equal(g->record.uid, record->uid))
        begin_anew(g);
    keep(g, record);
    g->permitted_until = (struct moment){0};
    if (g->failed_us == 0)
        set_age(g);
    link_up(gs, g);
    if (is_in_trees(gs, g))
        follow_tree(q, now, g, root);
    return true;
}

static void forget(struct queues *q, struct moment now, struct group *g)
{
    bool in_tree = is_in_trees(&q->gangs, g);
    struct group *root = in_tree ? forest_root(g) : NULL;
    gangs_collect(q, g);
    begin_anew(g);
    g->exists = false;
    g->record = (struct gang){.min_member = 0};
    arena_free(&g->memory);
    link_up(&q->gangs, g);
    if (in_tree)
        follow_tree(q, now, g, root);
}

void gangs_gone(struct queues *q, struct moment now, const struct object_gone *gone)
{
    struct group *g = find(&q->gangs, gone->api, gone->namespace_name, gone->name);
    if (g != NULL && g->exists)
        forget(q, now, g);
}

void gangs_snapshot_begin(struct queues *q)
{
    q->gangs.snapshot++;
}

void gangs_snapshot_end(struct queues *q, struct moment now)
{
    size_t at = 0;
    void *value;
    while (map_next(q->gangs.groups, &at, NULL, &value)) {
        struct group *g = value;
        if (g->exists && g->seen != q->gangs.snapshot)
            forget(q, now, g);
    }
}
