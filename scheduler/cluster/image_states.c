/* image_states: upstream's global image map. The one idea: an image keeps the size that the node
 * first seen with it reported, until no node has it any more.
 *
 * What must stay true: count is the number of nodes that name the image, however often each does;
 * an image that is gone stays until the workers were told. */
#include "scheduler/cluster/image_states.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

/* Images in one message at most. */
#define TOLD_AT_ONCE 1000

struct image_entry {
    struct str name;
    int64_t size, count;
    uint64_t stamp; /* the last addition or removal that touched it */
    bool changed;
    struct image_entry *next_changed;
};

struct image_states {
    struct map *by_name;
    uint64_t stamp;
    struct image_entry *changed;
};

struct image_states *image_states_new(void)
{
    struct image_states *s = memory_take(sizeof(*s));
    s->by_name = map_new();
    return s;
}

static void free_entry(struct image_entry *e)
{
    str_drop(&e->name);
    memory_free(e);
}

void image_states_free(struct image_states **s)
{
    if (*s == NULL)
        return;
    size_t at = 0;
    struct str name;
    void *value;
    while (map_next((*s)->by_name, &at, &name, &value))
        free_entry(value);
    map_free(&(*s)->by_name);
    memory_free(*s);
    *s = NULL;
}

static void mark(struct image_states *s, struct image_entry *e)
{
    if (e->changed)
        return;
    e->changed = true;
    e->next_changed = s->changed;
    s->changed = e;
}

static struct image_entry *need(struct image_states *s, struct str name)
{
    struct image_entry *e = map_get(s->by_name, name);
    if (e != NULL)
        return e;
    e = memory_take(sizeof(*e));
    e->name = str_keep(name);
    map_set(s->by_name, name, e);
    return e;
}

static void change(struct image_states *s, const struct image *image, int by)
{
    for (uint32_t k = 0; k < image->names.count; k++) {
        struct image_entry *e = need(s, image->names.at[k]);
        if (e->stamp == s->stamp)
            continue;
        e->stamp = s->stamp;
        if (e->count == 0)
            e->size = image->size;
        e->count += by;
        must(e->count >= 0);
        mark(s, e);
    }
}

void image_states_add(struct image_states *s, const struct node *node)
{
    s->stamp++;
    for (uint32_t i = 0; i < node->images.count; i++)
        change(s, &node->images.at[i], 1);
}

void image_states_remove(struct image_states *s, const struct node *node)
{
    s->stamp++;
    for (uint32_t i = 0; i < node->images.count; i++)
        change(s, &node->images.at[i], -1);
}

bool image_states_changed(const struct image_states *s)
{
    return s->changed != NULL;
}

/* A message being filled. */
struct telling {
    struct message m;
    struct tally counts[TOLD_AT_ONCE], sizes[TOLD_AT_ONCE];
    void (*tell)(void *context, const struct message *m);
    void *context;
};

static void add(struct telling *t, const struct image_entry *e)
{
    struct shard_images *body = &t->m.shard_images;
    body->counts.at[body->counts.count++] = (struct tally){e->name, e->count};
    body->sizes.at[body->sizes.count++] = (struct tally){e->name, e->size};
    if (body->counts.count < TOLD_AT_ONCE)
        return;
    t->tell(t->context, &t->m);
    body->counts.count = body->sizes.count = 0;
}

static void forget_changes(struct image_states *s)
{
    while (s->changed != NULL) {
        struct image_entry *e = s->changed;
        s->changed = e->next_changed;
        e->changed = false;
        if (e->count > 0)
            continue;
        map_remove(s->by_name, e->name);
        free_entry(e);
    }
}

void image_states_tell(struct image_states *s, bool all, int64_t nodes,
                       void (*tell)(void *context, const struct message *m), void *context)
{
    struct telling *t = memory_take(sizeof(*t));
    t->m.type = MSG_shard_images;
    t->m.shard_images.nodes = nodes;
    t->m.shard_images.counts.at = t->counts;
    t->m.shard_images.sizes.at = t->sizes;
    t->tell = tell;
    t->context = context;
    size_t at = 0;
    struct str name;
    void *value;
    while (all && map_next(s->by_name, &at, &name, &value))
        add(t, value);
    for (const struct image_entry *e = s->changed; !all && e != NULL; e = e->next_changed)
        add(t, e);
    tell(context, &t->m); /* what is left, or the number of nodes alone */
    memory_free(t);
    if (!all)
        forget_changes(s);
}
