/* recall: a map and a list for each kind, ordered by when an answer was last looked for. What must
 * stay true: each entry is in the map and in the list of its kind; what is being asked is never
 * forgotten, since somebody else holds it; and the lists of answers are bounded. */
#include "ctl/serve/recall.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

static struct str key_of(const unsigned char *key)
{
    return (struct str){(const char *)key, RECALL_KEY_SIZE};
}

static void link_in(struct recall *c, struct recalled *r)
{
    struct recall_list *list = &c->lists[r->kind];
    r->newer = NULL;
    r->older = list->newest;
    *(list->newest != NULL ? &list->newest->newer : &list->oldest) = r;
    list->newest = r;
    list->count++;
}

static void link_out(struct recall *c, struct recalled *r)
{
    struct recall_list *list = &c->lists[r->kind];
    *(r->newer != NULL ? &r->newer->older : &list->newest) = r->older;
    *(r->older != NULL ? &r->older->newer : &list->oldest) = r->newer;
    list->count--;
}

static void drop(struct recall *c, struct recalled *r)
{
    link_out(c, r);
    must(map_remove(c->all, key_of(r->key)) == r);
    c->forget(r);
}

void recall_init(struct recall *c, void (*forget)(struct recalled *r))
{
    *c = (struct recall){.all = map_new(), .forget = forget};
}

void recall_free(struct recall *c)
{
    for (size_t kind = 0; kind < 3; kind++)
        while (c->lists[kind].oldest != NULL)
            drop(c, c->lists[kind].oldest);
    map_free(&c->all);
}

struct recalled *recall_find(struct recall *c, const unsigned char key[RECALL_KEY_SIZE],
                             struct moment now)
{
    struct recalled *r = map_get(c->all, key_of(key));
    if (r == NULL)
        return NULL;
    if (r->kind == RECALL_bad && moment_reached(now, r->until)) {
        drop(c, r);
        return NULL;
    }
    link_out(c, r);
    link_in(c, r);
    return r;
}

void recall_ask(struct recall *c, struct recalled *r)
{
    if (map_get(c->all, key_of(r->key)) == r)
        link_out(c, r);
    else
        must(map_set(c->all, key_of(r->key), r) == NULL);
    r->kind = RECALL_asking;
    link_in(c, r);
}

void recall_settle(struct recall *c, struct recalled *r, bool good, struct moment until)
{
    must(r->kind == RECALL_asking);
    link_out(c, r);
    r->kind = good ? RECALL_good : RECALL_bad;
    r->until = until;
    link_in(c, r);
    if (c->lists[r->kind].count > (good ? RECALL_GOOD_MAX : RECALL_BAD_MAX))
        drop(c, c->lists[r->kind].oldest);
}
