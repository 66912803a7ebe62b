/* shares: balances by count over capacity. The one idea: a node moves only when that leaves its old
 * and its new owner closer together, so joining and leaving moves as few nodes as possible. What
 * must stay true: a link is in its share's array at its place, or in none. */
#include "scheduler/cluster/shares.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

struct share {
    uint32_t worker;
    int64_t capacity; /* at least 1 */
    uint32_t count, room;
    struct share_link **links;
};

struct shares {
    struct share **at; /* in order of joining */
    uint32_t count, room;
    void (*moved)(void *context, const struct share_move *move);
    void *context;
};

#define CAPACITY_MAX 1000000

struct shares *shares_new(void (*moved)(void *context, const struct share_move *move),
                          void *context)
{
    struct shares *s = memory_take(sizeof(*s));
    s->moved = moved;
    s->context = context;
    return s;
}

void shares_free(struct shares **s)
{
    if (*s == NULL)
        return;
    for (uint32_t i = 0; i < (*s)->count; i++) {
        memory_free((*s)->at[i]->links);
        memory_free((*s)->at[i]);
    }
    memory_free((*s)->at);
    memory_free(*s);
    *s = NULL;
}

static struct share *find(const struct shares *s, uint32_t worker, uint32_t *index)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->at[i]->worker == worker) {
            *index = i;
            return s->at[i];
        }
    return NULL;
}

/* a with `more` nodes is fuller than b is. */
static bool fuller(const struct share *a, uint32_t more, const struct share *b)
{
    return ((int64_t)a->count + more) * b->capacity > (int64_t)b->count * a->capacity;
}

static struct share *emptiest(const struct shares *s)
{
    struct share *best = NULL;
    for (uint32_t i = 0; i < s->count; i++)
        if (best == NULL || fuller(best, 0, s->at[i]))
            best = s->at[i];
    return best;
}

static struct share *fullest(const struct shares *s)
{
    struct share *best = NULL;
    for (uint32_t i = 0; i < s->count; i++)
        if (best == NULL || fuller(s->at[i], 0, best))
            best = s->at[i];
    return best;
}

static void put(struct share *to, struct share_link *link)
{
    if (to->count == to->room) {
        to->room = to->room == 0 ? 64 : to->room * 2;
        to->links = memory_resize(to->links, to->room * sizeof(struct share_link *));
    }
    *link = (struct share_link){to, to->count};
    to->links[to->count++] = link;
}

static void take(struct share_link *link)
{
    struct share *from = link->share;
    must(link->place < from->count && from->links[link->place] == link);
    from->links[link->place] = from->links[--from->count];
    from->links[link->place]->place = link->place;
    *link = (struct share_link){0};
}

bool shares_take(struct shares *s, struct share_link *link, uint32_t *worker)
{
    (void)s;
    if (!shares_owner(link, worker))
        return false;
    take(link);
    return true;
}

void shares_give(struct shares *s, struct share_link *link)
{
    must(link->share == NULL);
    struct share *to = emptiest(s);
    if (to == NULL)
        return;
    put(to, link);
    const struct share_move move = {.link = link, .has = true, .to = to->worker};
    s->moved(s->context, &move);
}

/* gone: the old owner is no more, and need not be told. */
static void move_one(struct shares *s, struct share *from, struct share *to, bool gone)
{
    struct share_link *link = from->links[from->count - 1];
    struct share_move move = {.link = link, .had = !gone, .from = from->worker};
    take(link);
    if (to != NULL) {
        put(to, link);
        move.has = true;
        move.to = to->worker;
    }
    s->moved(s->context, &move);
}

bool shares_join(struct shares *s, uint32_t worker, int64_t capacity)
{
    uint32_t index;
    struct share *share = find(s, worker, &index);
    int64_t sane = capacity < 1 ? 1 : capacity > CAPACITY_MAX ? CAPACITY_MAX : capacity;
    if (share != NULL) {
        share->capacity = sane;
        return false;
    }
    share = memory_take(sizeof(*share));
    share->worker = worker;
    share->capacity = sane;
    if (s->count == s->room) {
        s->room = s->room == 0 ? 8 : s->room * 2;
        s->at = memory_resize(s->at, s->room * sizeof(struct share *));
    }
    s->at[s->count++] = share;
    for (struct share *from = fullest(s); from != share; from = fullest(s)) {
        /* stop when the newcomer with one more would be as full as the fullest */
        if (((int64_t)share->count + 1) * from->capacity > (int64_t)from->count * share->capacity)
            break;
        move_one(s, from, share, false);
    }
    return true;
}

void shares_leave(struct shares *s, uint32_t worker)
{
    uint32_t index;
    struct share *share = find(s, worker, &index);
    if (share == NULL)
        return;
    s->count--;
    for (uint32_t i = index; i < s->count; i++)
        s->at[i] = s->at[i + 1];
    while (share->count > 0)
        move_one(s, share, emptiest(s), true);
    memory_free(share->links);
    memory_free(share);
}

bool shares_owner(const struct share_link *link, uint32_t *worker)
{
    if (link->share != NULL)
        *worker = link->share->worker;
    return link->share != NULL;
}

uint32_t shares_count(const struct shares *s)
{
    return s->count;
}

uint32_t shares_worker(const struct shares *s, uint32_t i)
{
    must(i < s->count);
    return s->at[i]->worker;
}

uint32_t shares_size(const struct shares *s, uint32_t i)
{
    must(i < s->count);
    return s->at[i]->count;
}

struct share_link *const *shares_links(const struct shares *s, uint32_t worker, uint32_t *count)
{
    uint32_t index;
    const struct share *share = find(s, worker, &index);
    *count = share == NULL ? 0 : share->count;
    return share == NULL ? NULL : share->links;
}
