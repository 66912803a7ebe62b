/* rank: priority, or the key that a plugin gave in its place, then age, for pods and
 * groups alike. A group is as old as its last failure, or else as its PodGroup; a pod without one
 * as its last failure or arrival, or with Coscheduling's QueueSort as its first attempt. What must
 * stay true: it is one total order over both, and what it looks at changes only while the pod or
 * the group is in no heap. */
#include "queue/rank.h"

#include "queue/group.h"
#include "queue/hints.h"

static int64_t time_of(const struct group *g, bool gang_sort)
{
    return gang_sort ? g->failed_us != 0 ? g->failed_us : g->record.created : g->age.ns;
}

struct rank rank_of_entry(const struct entry *e)
{
    bool gang_sort = e->around->gang_sort;
    struct rank r = {.key = e->key,
                     .time = gang_sort ? e->first_us : e->timestamp.ns,
                     .named = gang_sort,
                     .order = e->order};
    const struct group *g = e->member != NULL ? e->member->group : NULL;
    if (g != NULL && group_is_gang(g)) {
        r.time = time_of(g, gang_sort);
        r.named = true;
        r.name = g->name;
    }
    if (r.named)
        r.pod = e;
    if (gang_sort)
        r.name = (struct str){0};
    return r;
}

static struct str space_of(const struct rank *r)
{
    return r->pod != NULL ? store_str(r->pod->kept, TAG_pod_namespace_name) : r->space;
}

/* Two pods that share the part with their namespace need not be read. */
static int compare_spaces(const struct rank *a, const struct rank *b)
{
    const int part = STORE_PART_OF_NAMESPACE;
    if (a->pod != NULL && b->pod != NULL && a->pod->kept->parts[part] == b->pod->kept->parts[part])
        return 0;
    return str_compare(space_of(a), space_of(b));
}

static struct str name_of(const struct rank *r)
{
    return r->pod != NULL && r->name.len == 0 ? store_str(r->pod->kept, TAG_pod_name) : r->name;
}

struct rank rank_of_group(const struct group *g)
{
    const struct surroundings *around = g->around;
    return (struct rank){.key = g->sort_key,
                         .time = time_of(g, around->gang_sort),
                         .named = true,
                         .space = g->space,
                         .name = g->name};
}

bool rank_before(const struct rank *a, const struct rank *b)
{
    if (a->key != b->key)
        return a->key > b->key;
    if (a->time != b->time)
        return a->time < b->time;
    if (a->named != b->named)
        return b->named;
    int names = a->named ? compare_spaces(a, b) : 0;
    if (names == 0 && a->named)
        names = str_compare(name_of(a), name_of(b));
    return names != 0 ? names < 0 : a->order < b->order;
}

bool rank_entry_before(const struct entry *a, const struct entry *b)
{
    if (a->member != NULL || b->member != NULL || a->around->gang_sort) {
        struct rank x = rank_of_entry(a), y = rank_of_entry(b);
        return rank_before(&x, &y);
    }
    if (a->key != b->key)
        return a->key > b->key;
    if (a->timestamp.ns != b->timestamp.ns)
        return a->timestamp.ns < b->timestamp.ns;
    return a->order < b->order;
}
