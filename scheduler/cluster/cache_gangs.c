/* cache_gangs: which pods on nodes are members of which PodGroup. The one idea: whoever names none
 * pays for a look at his labels, and nobody for anything where no profile has gangs.
 *
 * What must stay true: while it is kept, every pod on a node that names a group is in exactly that
 * group's list; a list without pods is not kept. */
#include "scheduler/cluster/cache_inside.h"
#include "scheduler/table/gang_names.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

struct members {
    uint32_t count, room;
    struct cached_pod **at;
};

/* In a buffer that the caller frees. */
static struct buffer key_of(const struct gang *group)
{
    struct buffer key = {0};
    buffer_print(&key, "%.*s/%.*s/%.*s", STR_ARG(group->api), STR_ARG(group->namespace_name),
                 STR_ARG(group->name));
    return key;
}

static const struct members *members_of(const struct cache *c, const struct gang *group)
{
    if (c->gangs == NULL)
        return NULL;
    struct buffer key = key_of(group);
    const struct members *m = map_get(c->gangs, buffer_str(&key));
    buffer_free(&key);
    return m;
}

static void add(struct cache *c, struct cached_pod *p, struct str key)
{
    struct members *m = map_get(c->gangs, key);
    if (m == NULL) {
        m = memory_take(sizeof(*m));
        map_set(c->gangs, key, m);
    }
    if (m->count == m->room) {
        m->room = m->room == 0 ? 8 : m->room * 2;
        m->at = memory_resize(m->at, m->room * sizeof(struct cached_pod *));
    }
    m->at[m->count++] = p;
}

static void remove_from(struct cache *c, const struct cached_pod *p, struct str key)
{
    struct members *m = map_get(c->gangs, key);
    uint32_t i = 0;
    must(m != NULL);
    while (i < m->count && m->at[i] != p)
        i++;
    must(i < m->count);
    m->at[i] = m->at[--m->count];
    if (m->count > 0)
        return;
    map_remove(c->gangs, key);
    memory_free(m->at);
    memory_free(m);
}

/* Into the list of the group that the pod names as it lies on the store, or out of it. False: it
 * names none. */
static bool with_group(struct cache *c, struct cached_pod *p, const struct stored *kept, bool joins)
{
    struct arena a = {0};
    struct pod pod;
    struct gang group;
    store_get(c->pod_store, kept, &pod, &a);
    bool names = gang_named_by(&pod, &group);
    if (names) {
        struct buffer key = key_of(&group);
        if (joins)
            add(c, p, buffer_str(&key));
        else
            remove_from(c, p, buffer_str(&key));
        buffer_free(&key);
    }
    arena_free(&a);
    return names;
}

static bool names_alike(struct cache *c, const struct stored *kept, const struct gang *group)
{
    struct arena a = {0};
    struct pod pod;
    struct gang other;
    store_get(c->pod_store, kept, &pod, &a);
    bool alike = gang_named_by(&pod, &other) && str_equal(other.name, group->name) &&
                 str_equal(other.api, group->api) &&
                 str_equal(other.namespace_name, group->namespace_name);
    arena_free(&a);
    return alike;
}

void cache_gangs_set(struct cache *c, struct cached_pod *p, const struct pod *plain,
                     const struct stored *before)
{
    struct gang group;
    bool names = gang_named_by(plain, &group);
    if (p->in_gang && names && names_alike(c, before, &group))
        return; /* as nearly always: a long list is not searched for a status */
    if (p->in_gang)
        with_group(c, p, before, false);
    p->in_gang = names;
    if (names)
        with_group(c, p, p->kept, true);
}

void cache_gangs_remove(struct cache *c, struct cached_pod *p)
{
    if (p->in_gang)
        with_group(c, p, p->kept, false);
}

void cache_gangs_free(struct cache *c)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (c->gangs != NULL && map_next(c->gangs, &at, &key, &value)) {
        struct members *m = value;
        memory_free(m->at);
        memory_free(m);
    }
    map_free(&c->gangs);
}

void cache_gangs_begin(struct cache *c)
{
    bool wanted = false;
    size_t at = 0;
    struct cached_pod *p;
    for (uint32_t i = 0; i < c->options.profile_count; i++)
        wanted = wanted || c->options.profiles[i].gangs != GANGS_off ||
                 c->options.profiles[i].gang_victims > GANG_VICTIMS_pods;
    if (wanted == (c->gangs != NULL))
        return;
    if (!wanted) {
        cache_gangs_free(c);
        return;
    }
    c->gangs = map_new();
    while ((p = table_next(&c->pods, &at)) != NULL)
        p->in_gang = with_group(c, p, p->kept, true);
}

/* ---- to look at ---- */

static bool stays(const struct cached_pod *p)
{
    return !p->deleting && !p->hidden;
}

int64_t cache_gang_on_nodes(const struct cache *c, const struct gang *group)
{
    const struct members *m = members_of(c, group);
    return m != NULL ? m->count : 0;
}

int64_t cache_gang_placed(const struct cache *c, const struct gang *group)
{
    const struct members *m = members_of(c, group);
    int64_t count = 0;
    for (uint32_t i = 0; m != NULL && i < m->count; i++)
        count += stays(m->at[i]);
    return count;
}

bool cache_gang_of(const struct cache *c, struct str uid, struct gang *group, struct arena *a)
{
    const struct cached_pod *p = find_pod(c, uid);
    struct pod pod;
    if (c->gangs == NULL || p == NULL || !stays(p))
        return false;
    get_pod(c, p, &pod, a);
    return gang_named_by(&pod, group);
}

void cache_each_on_nodes(const struct cache *c, const struct gang *group, struct arena *a,
                         void (*visit)(void *context, const struct pod *pod), void *context)
{
    const struct members *m = members_of(c, group);
    for (uint32_t i = 0; m != NULL && i < m->count; i++) {
        struct pod pod;
        get_pod(c, m->at[i], &pod, a);
        visit(context, &pod);
    }
}

void cache_each_member(const struct cache *c, const struct gang *group, struct arena *a,
                       void (*visit)(void *context, const struct pod *pod), void *context)
{
    const struct members *m = members_of(c, group);
    for (uint32_t i = 0; m != NULL && i < m->count; i++) {
        struct pod pod;
        if (!stays(m->at[i]))
            continue;
        get_pod(c, m->at[i], &pod, a);
        visit(context, &pod);
    }
}
