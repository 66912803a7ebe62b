/* members: one entry a pod that names a PodGroup, found by UID; one entry a group, with its pods in
 * a list. A finished pod leaves one watch and appears in another, in either order, so an entry has
 * a part for each, and lives as long as one of them; and a group is counted a second after it
 * changed, when both have spoken.
 *
 * What must stay true: a group is in the stream exactly if its API group is served and a pod names
 * it; and a pod that names none costs one look into the table when it goes. */
#include "watcher/members.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/table.h"

#include <stdlib.h>
#include <string.h>

#define SETTLE_MS 1000
enum { OWNERS_MAX = 64 }; /* of one pod that are told */

/* Phases that only finished pods have. */
#define FINISHED "status.phase!=Pending,status.phase!=Running,status.phase!=Unknown"

const struct finished_list finished_lists[FINISHED_LISTS] = {
    {.kind = {.name = "finished-pods.scheduling.x-k8s.io",
              .kind = "Pod",
              .path = "/api/v1/pods",
              .field_selector = FINISHED},
     .api = KUBE_GANG_PLUGINS,
     .label_selector = KUBE_GANG_PLUGINS_LABEL},
    {.kind = {.name = "finished-pods.scheduling.sigs.k8s.io",
              .kind = "Pod",
              .path = "/api/v1/pods",
              .field_selector = FINISHED},
     .api = KUBE_GANG_SIGS,
     .label_selector = KUBE_GANG_SIGS_LABEL},
};
static const char *const apis[] = {KUBE_GANG_PLUGINS, KUBE_GANG_SIGS, KUBE_GANG_BUILT_IN};
enum { APIS = sizeof(apis) / sizeof(apis[0]) };

enum phase { PHASE_none, PHASE_other, PHASE_running, PHASE_succeeded, PHASE_failed };

struct member {
    struct group *group;
    struct member *next, **back; /* in the group */
    uint32_t hash;
    struct str uid, name, owners; /* kept */
    bool live;                    /* the mirror of pods has it */
    bool assigned;
    enum phase phase;                    /* of the live one */
    enum phase finished[FINISHED_LISTS]; /* PHASE_none: not in that list */
    uint32_t mark[FINISHED_LISTS];       /* the last list that showed it */
};

struct group {
    struct published object;
    struct member *first;
    struct group *next_dirty;
    struct moment due;
    uint32_t hash;
    size_t api;
    bool dirty;
    struct str space, name; /* kept */
};

struct members {
    struct publisher *publisher;
    struct table pods, groups;
    struct group *dirty, **dirty_end; /* in the order in which they are due */
    bool served[APIS];
    uint32_t mark[FINISHED_LISTS];
    size_t in_list[FINISHED_LISTS];
    struct buffer text;
    struct arena arena;
};

/* ---- life ---- */

struct members *members_new(struct publisher *publisher)
{
    struct members *m = memory_take(sizeof(*m));
    m->publisher = publisher;
    m->dirty_end = &m->dirty;
    return m;
}

static void member_free(struct member *p)
{
    str_drop(&p->uid);
    str_drop(&p->name);
    str_drop(&p->owners);
    memory_free(p);
}

static void group_free(struct group *g)
{
    str_drop(&g->space);
    str_drop(&g->name);
    memory_free(g);
}

void members_free(struct members **members)
{
    struct members *m = *members;
    size_t at = 0;
    void *thing;
    if (m == NULL)
        return;
    while ((thing = table_next(&m->pods, &at)) != NULL)
        member_free(thing);
    at = 0;
    while ((thing = table_next(&m->groups, &at)) != NULL)
        group_free(thing);
    table_free(&m->pods);
    table_free(&m->groups);
    buffer_free(&m->text);
    arena_free(&m->arena);
    memory_free(m);
    *members = NULL;
}

/* ---- groups ---- */

static void touch(struct members *m, struct group *g)
{
    if (g->dirty)
        return;
    g->dirty = true;
    g->due = (struct moment){0}; /* set by the next tick, which knows the time */
    g->next_dirty = NULL;
    *m->dirty_end = g;
    m->dirty_end = &g->next_dirty;
}

struct group_key {
    size_t api;
    struct str space, name;
};

static bool is_group(const void *thing, const void *key)
{
    const struct group *g = thing;
    const struct group_key *k = key;
    return g->api == k->api && str_equal(g->space, k->space) && str_equal(g->name, k->name);
}

static size_t api_of(struct str api)
{
    size_t i = 0;
    while (i < APIS && !str_is(api, apis[i]))
        i++;
    must(i < APIS);
    return i;
}

static struct group *group_of(struct members *m, const struct pod *pod)
{
    struct group_key key = {api_of(pod->gang_api), pod->namespace_name, pod->gang};
    uint32_t hash = table_hash(str_hash(key.name) * 31 + str_hash(key.space) + key.api);
    struct group *g = table_get(&m->groups, hash, is_group, &key);
    if (g != NULL)
        return g;
    g = memory_take(sizeof(*g));
    g->hash = hash;
    g->api = key.api;
    g->space = str_keep(key.space);
    g->name = str_keep(key.name);
    table_add(&m->groups, hash, g);
    return g;
}

static struct message describe(const struct group *g)
{
    return (struct message){.type = MSG_group_members,
                            .group_members = {.api = str_of(apis[g->api]),
                                              .namespace_name = g->space,
                                              .name = g->name}};
}

static enum phase phase_of(const struct member *p)
{
    for (size_t i = 0; i < FINISHED_LISTS; i++)
        if (p->finished[i] != PHASE_none)
            return p->finished[i];
    return p->phase;
}

static void publish(struct members *m, struct group *g)
{
    struct message told = describe(g);
    const struct member *first = g->first;
    if (!m->served[g->api] || first == NULL) {
        publisher_remove(m->publisher, &g->object, &told);
        return;
    }
    for (const struct member *p = g->first; p != NULL; p = p->next) {
        enum phase phase = phase_of(p);
        told.group_members.pods++;
        told.group_members.assigned += p->assigned;
        told.group_members.running += phase == PHASE_running;
        told.group_members.succeeded += phase == PHASE_succeeded;
        told.group_members.failed += phase == PHASE_failed;
        if (str_compare(p->name, first->name) < 0)
            first = p;
    }
    told.group_members.owners = first->owners;
    publisher_set(m->publisher, &g->object, &told);
}

/* Counts and tells of the group that has waited longest; one without pods ends. */
static void settle_first(struct members *m)
{
    struct group *g = m->dirty;
    m->dirty = g->next_dirty;
    if (m->dirty == NULL)
        m->dirty_end = &m->dirty;
    g->dirty = false;
    publish(m, g);
    if (g->first != NULL)
        return;
    table_remove(&m->groups, g->hash, g);
    group_free(g);
}

struct moment members_tick(struct members *m, struct moment now)
{
    for (struct group *g = m->dirty; g != NULL; g = g->next_dirty)
        if (g->due.ns == 0)
            g->due = moment_after(now, span_of_ms(SETTLE_MS));
    while (m->dirty != NULL && moment_reached(now, m->dirty->due))
        settle_first(m);
    return m->dirty != NULL ? m->dirty->due : MOMENT_NEVER;
}

void members_flush(struct members *m)
{
    while (m->dirty != NULL)
        settle_first(m);
}

void members_serve(struct members *m, const char *api, bool served)
{
    size_t which = api_of(str_of(api)), at = 0;
    struct group *g;
    if (m->served[which] == served)
        return;
    m->served[which] = served;
    while ((g = table_next(&m->groups, &at)) != NULL)
        if (g->api == which)
            touch(m, g);
}

/* ---- pods ---- */

static bool is_member(const void *thing, const void *key)
{
    return str_equal(((const struct member *)thing)->uid, *(const struct str *)key);
}

static uint32_t hash_of(struct str uid)
{
    return table_hash(str_hash(uid));
}

static struct member *find(const struct members *m, struct str uid)
{
    return m->pods.count > 0 ? table_get(&m->pods, hash_of(uid), is_member, &uid) : NULL;
}

static void leave_group(struct members *m, struct member *p)
{
    *p->back = p->next;
    if (p->next != NULL)
        p->next->back = p->back;
    touch(m, p->group);
}

static void enter_group(struct members *m, struct member *p, struct group *g)
{
    p->group = g;
    p->next = g->first;
    p->back = &g->first;
    if (p->next != NULL)
        p->next->back = &p->next;
    g->first = p;
    touch(m, g);
}

static struct member *member_of(struct members *m, const struct pod *pod)
{
    struct group *g = group_of(m, pod);
    struct member *p = find(m, pod->uid);
    if (p == NULL) {
        p = memory_take(sizeof(*p));
        p->hash = hash_of(pod->uid);
        p->uid = str_keep(pod->uid);
        p->name = str_keep(pod->name);
        table_add(&m->pods, p->hash, p);
        enter_group(m, p, g);
    } else if (p->group != g) {
        leave_group(m, p);
        enter_group(m, p, g);
    }
    touch(m, g);
    return p;
}

/* Ends the entry when nobody has the pod any more. */
static void settle_member(struct members *m, struct member *p)
{
    bool there = p->live;
    for (size_t i = 0; i < FINISHED_LISTS; i++)
        there = there || p->finished[i] != PHASE_none;
    touch(m, p->group);
    if (there)
        return;
    leave_group(m, p);
    table_remove(&m->pods, p->hash, p);
    member_free(p);
}

static enum phase read_phase(struct str phase)
{
    if (str_is(phase, "Running"))
        return PHASE_running;
    if (str_is(phase, "Succeeded"))
        return PHASE_succeeded;
    return str_is(phase, "Failed") ? PHASE_failed : PHASE_other;
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* All its owners as namespace/name, sorted, joined by commas. */
static void read_owners(struct members *m, struct member *p, struct str space,
                        const struct kube_json *object)
{
    const struct kube_json *list = kube_json_path(object, "metadata.ownerReferences");
    struct str names[OWNERS_MAX];
    size_t count = 0;
    const struct kube_json *i = kube_json_is_array(list) ? kube_json_first(list) : NULL;
    for (; i != NULL && count < OWNERS_MAX; i = kube_json_next(i))
        names[count++] = kube_json_text(kube_json_get(i, "name"));
    qsort(names, count, sizeof(*names), by_text);
    buffer_reset(&m->text);
    for (size_t n = 0; n < count; n++)
        buffer_print(&m->text, "%s%.*s/%.*s", n > 0 ? "," : "", STR_ARG(space), STR_ARG(names[n]));
    if (str_equal(p->owners, buffer_str(&m->text)))
        return;
    str_drop(&p->owners);
    p->owners = str_keep(buffer_str(&m->text));
}

static void on_set(struct members *m, const struct pod *pod, const struct kube_json *object)
{
    if (pod->gang.len == 0) {
        struct member *was = find(m, pod->uid);
        if (was != NULL) { /* the label was taken away */
            was->live = false;
            settle_member(m, was);
        }
        return;
    }
    struct member *p = member_of(m, pod);
    p->live = true;
    p->assigned = pod->node_name.len > 0;
    p->phase = read_phase(pod->phase);
    read_owners(m, p, pod->namespace_name, object);
}

void members_told(struct members *m, const struct message *what, const struct kube_json *object)
{
    if (what->type == MSG_pod_set) {
        on_set(m, &what->pod_set.pod, object);
    } else if (what->type == MSG_pod_gone) {
        struct member *p = find(m, what->pod_gone.uid);
        if (p == NULL)
            return;
        p->live = false;
        settle_member(m, p);
    }
}

/* ---- finished pods ---- */

static void leave_list(struct members *m, size_t list, struct member *p)
{
    if (p->finished[list] == PHASE_none)
        return;
    p->finished[list] = PHASE_none;
    m->in_list[list]--;
    settle_member(m, p);
}

void members_list_begin(struct members *m, size_t list)
{
    m->mark[list]++;
}

void members_list_end(struct members *m, size_t list)
{
    size_t at = 0;
    struct member *p;
    while ((p = table_next(&m->pods, &at)) != NULL)
        if (p->mark[list] != m->mark[list])
            leave_list(m, list, p);
}

void members_finished(struct members *m, size_t list, const struct kube_json *object)
{
    struct pod pod;
    struct str error = {0};
    if (!kube_object_pod(object, &pod, &m->arena, &error)) {
        log_error("a finished pod is malformed, it is not counted: %.*s|resource=%s",
                  STR_ARG(error), finished_lists[list].kind.name);
    } else {
        enum phase phase = read_phase(pod.phase);
        bool ended = phase == PHASE_succeeded || phase == PHASE_failed;
        struct member *p = find(m, pod.uid);
        if (ended && pod.gang.len > 0) {
            p = member_of(m, &pod);
            m->in_list[list] += p->finished[list] == PHASE_none;
            p->finished[list] = phase;
            p->mark[list] = m->mark[list];
            p->assigned = pod.node_name.len > 0;
            read_owners(m, p, pod.namespace_name, object);
        } else if (p != NULL) {
            leave_list(m, list, p);
        }
    }
    arena_reset(&m->arena);
}

void members_finished_gone(struct members *m, size_t list, const struct kube_json *object)
{
    struct member *p = find(m, kube_json_text(kube_json_path(object, "metadata.uid")));
    if (p != NULL)
        leave_list(m, list, p);
}

size_t members_count(const struct members *m)
{
    return m->pods.count;
}

size_t members_groups(const struct members *m)
{
    return m->groups.count;
}

size_t members_in_list(const struct members *m, size_t list)
{
    return m->in_list[list];
}
