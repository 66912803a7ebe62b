/* storage_index: claims that pods use, the volumes that those claims name, and attachments by node
 * and by volume. The one idea: a use exists as long as a pod links to it, whether the claim does or
 * not, and remembers the volume that its claim named last.
 *
 * What must stay true: a use is in the chain of exactly the volume that its claim names in the
 * catalog; an attachment is in the chains of its node and of its volume. */
#include "scheduler/catalog/storage_index.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/catalog/volumes.h"

#include <stdlib.h>

struct link {
    struct link *next, *prev; /* among the use's */
    struct use *use;
    void *owner;
    bool counts; /* the pod names the claim itself */
};

struct storage_links {
    uint32_t count;
    struct link at[];
};

/* A claim that pods use. */
struct use {
    struct str space, name;
    struct str volume;       /* as the claim names it; empty: none, or no claim */
    struct use *same_volume; /* the next use of that volume */
    struct link *first;
};

struct attachment_place {
    struct str name, node, volume;
    struct attachment_place *same_node, *same_volume;
};

struct storage_index {
    struct catalog *catalog;
    struct map *uses;      /* "namespace/name" → struct use */
    struct map *by_volume; /* volume → first struct use */
    struct map *attachments;
    struct map *attached_to, *attached_by; /* node, volume → first struct attachment_place */
};

struct storage_index *storage_index_new(struct catalog *catalog)
{
    struct storage_index *s = memory_take(sizeof(*s));
    s->catalog = catalog;
    s->uses = map_new();
    s->by_volume = map_new();
    s->attachments = map_new();
    s->attached_to = map_new();
    s->attached_by = map_new();
    return s;
}

/* ---- claims in use ---- */

static struct buffer key_of(struct str space, struct str name)
{
    struct buffer key = {0};
    buffer_print(&key, "%.*s/%.*s", STR_ARG(space), STR_ARG(name));
    return key;
}

static struct use *find_use(const struct storage_index *s, struct str space, struct str name)
{
    struct buffer key = key_of(space, name);
    struct use *u = map_get(s->uses, buffer_str(&key));
    buffer_free(&key);
    return u;
}

static void leave_volume(struct storage_index *s, struct use *u)
{
    if (u->volume.len == 0)
        return;
    struct use *first = map_get(s->by_volume, u->volume);
    struct use **at = &first;
    while (*at != u)
        at = &(*at)->same_volume;
    *at = u->same_volume;
    if (first != NULL)
        map_set(s->by_volume, u->volume, first);
    else
        map_remove(s->by_volume, u->volume);
    str_drop(&u->volume);
}

/* Puts the use where its claim says now. */
static void refresh_use(struct storage_index *s, struct use *u)
{
    const struct claim *claim = catalog_claim(s->catalog, u->space, u->name);
    struct str volume = claim == NULL ? (struct str){0} : claim->volume_name;
    if (str_equal(volume, u->volume))
        return;
    leave_volume(s, u);
    u->same_volume = NULL;
    if (volume.len == 0)
        return;
    u->volume = str_keep(volume);
    u->same_volume = map_set(s->by_volume, volume, u);
}

static struct use *need_use(struct storage_index *s, struct str space, struct str name)
{
    struct use *u = find_use(s, space, name);
    if (u != NULL)
        return u;
    u = memory_take(sizeof(*u));
    u->space = str_keep(space);
    u->name = str_keep(name);
    struct buffer key = key_of(space, name);
    map_set(s->uses, buffer_str(&key), u);
    buffer_free(&key);
    refresh_use(s, u);
    return u;
}

static void free_use(struct storage_index *s, struct use *u)
{
    struct buffer key = key_of(u->space, u->name);
    map_remove(s->uses, buffer_str(&key));
    buffer_free(&key);
    leave_volume(s, u);
    str_drop(&u->space);
    str_drop(&u->name);
    memory_free(u);
}

static void join_use(struct link *l, struct use *u)
{
    l->use = u;
    l->next = u->first;
    if (u->first != NULL)
        u->first->prev = l;
    u->first = l;
}

struct storage_links *storage_index_link(struct storage_index *s, const struct pod *pod,
                                         void *owner)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pod->volumes.count; i++)
        count += volume_has_claim(&pod->volumes.at[i]);
    if (count == 0)
        return NULL;
    struct storage_links *links = memory_take(sizeof(*links) + count * sizeof(struct link));
    for (uint32_t i = 0; i < pod->volumes.count; i++) {
        const struct pod_volume *v = &pod->volumes.at[i];
        if (!volume_has_claim(v))
            continue;
        struct link *l = &links->at[links->count++];
        l->owner = owner;
        l->counts = volume_is_claim(v);
        join_use(l, need_use(s, pod->namespace_name, v->name));
    }
    return links;
}

void storage_index_unlink(struct storage_index *s, struct storage_links **links)
{
    for (uint32_t i = 0; *links != NULL && i < (*links)->count; i++) {
        struct link *l = &(*links)->at[i];
        *(l->prev != NULL ? &l->prev->next : &l->use->first) = l->next;
        if (l->next != NULL)
            l->next->prev = l->prev;
        if (l->use->first == NULL)
            free_use(s, l->use);
    }
    memory_free(*links);
    *links = NULL;
}

void storage_index_count(struct storage_index *s, const struct storage_links *links, int times)
{
    for (uint32_t i = 0; links != NULL && i < links->count; i++)
        if (links->at[i].counts)
            catalog_count_user(s->catalog, links->at[i].use->space, links->at[i].use->name, times);
}

/* ---- attachments ---- */

static void leave_chains(struct storage_index *s, const struct attachment_place *p)
{
    struct attachment_place *first = map_get(s->attached_to, p->node), **at = &first;
    while (*at != p)
        at = &(*at)->same_node;
    *at = p->same_node;
    if (first != NULL)
        map_set(s->attached_to, p->node, first);
    else
        map_remove(s->attached_to, p->node);
    first = map_get(s->attached_by, p->volume);
    at = &first;
    while (*at != p)
        at = &(*at)->same_volume;
    *at = p->same_volume;
    if (first != NULL)
        map_set(s->attached_by, p->volume, first);
    else
        map_remove(s->attached_by, p->volume);
}

static void detach(struct storage_index *s, struct attachment_place *p)
{
    map_remove(s->attachments, p->name);
    leave_chains(s, p);
    str_drop(&p->name);
    str_drop(&p->node);
    str_drop(&p->volume);
    memory_free(p);
}

static void attach(struct storage_index *s, const struct attachment *a)
{
    struct attachment_place *p = memory_take(sizeof(*p));
    p->name = str_keep(a->name);
    p->node = str_keep(a->node_name);
    p->volume = str_keep(a->volume_name);
    map_set(s->attachments, p->name, p);
    p->same_node = map_set(s->attached_to, p->node, p);
    p->same_volume = map_set(s->attached_by, p->volume, p);
}

/* ---- changes ---- */

static void touch_pods(const struct use *u, const struct storage_touched *t)
{
    for (struct link *l = u->first; l != NULL; l = l->next)
        t->pod(t->context, l->owner);
}

static void claim_changed(struct storage_index *s, struct str space, struct str name,
                          const struct storage_touched *t)
{
    struct use *u = find_use(s, space, name);
    if (u == NULL)
        return;
    refresh_use(s, u);
    touch_pods(u, t);
}

static void volume_changed(struct storage_index *s, struct str name,
                           const struct storage_touched *t)
{
    for (const struct use *u = map_get(s->by_volume, name); u != NULL; u = u->same_volume)
        touch_pods(u, t);
    for (const struct attachment_place *p = map_get(s->attached_by, name); p != NULL;
         p = p->same_volume)
        t->node(t->context, p->node);
}

/* Seldom: a class cannot change its provisioner, it can only come and go. */
static void class_changed(struct storage_index *s, struct str name, const struct storage_touched *t)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(s->uses, &at, &key, &value)) {
        const struct use *u = value;
        const struct claim *claim = catalog_claim(s->catalog, u->space, u->name);
        if (claim != NULL && str_equal(claim->class_name, name))
            touch_pods(u, t);
    }
}

static void attachment_changed(struct storage_index *s, struct str name,
                               const struct attachment *now, const struct storage_touched *t)
{
    struct attachment_place *old = map_get(s->attachments, name);
    if (old != NULL) {
        struct str node = str_keep(old->node);
        detach(s, old);
        t->node(t->context, node);
        str_drop(&node);
    }
    if (now == NULL)
        return;
    attach(s, now);
    t->node(t->context, now->node_name);
}

static void object_gone(struct storage_index *s, const struct object_gone *gone,
                        const struct storage_touched *t)
{
    if (gone->kind == OBJECT_claim)
        claim_changed(s, gone->namespace_name, gone->name, t);
    else if (gone->kind == OBJECT_volume)
        volume_changed(s, gone->name, t);
    else if (gone->kind == OBJECT_storage_class)
        class_changed(s, gone->name, t);
    else if (gone->kind == OBJECT_csi_node)
        t->node(t->context, gone->name);
    else if (gone->kind == OBJECT_attachment)
        attachment_changed(s, gone->name, NULL, t);
}

void storage_index_take(struct storage_index *s, const struct message *m,
                        const struct storage_touched *t)
{
    switch (m->type) {
    case MSG_claim_set:
        claim_changed(s, m->claim_set.claim.namespace_name, m->claim_set.claim.name, t);
        break;
    case MSG_volume_set: volume_changed(s, m->volume_set.volume.name, t); break;
    case MSG_storage_class_set: class_changed(s, m->storage_class_set.storage_class.name, t); break;
    case MSG_csi_node_set: t->node(t->context, m->csi_node_set.csi_node.name); break;
    case MSG_attachment_set: {
        const struct attachment *now = &m->attachment_set.attachment;
        attachment_changed(s, now->name, now, t);
        break;
    }
    case MSG_object_gone: object_gone(s, &m->object_gone, t); break;
    default: break;
    }
}

static void detach_all(struct storage_index *s)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(s->attachments, &at, &key, &value))
        detach(s, value);
}

void storage_index_refresh(struct storage_index *s)
{
    size_t at = 0;
    struct str key;
    void *value;
    while (map_next(s->uses, &at, &key, &value))
        refresh_use(s, value);
    detach_all(s);
    const struct attachment *a;
    at = 0;
    while ((a = catalog_next(s->catalog, CATALOG_attachment, &at)) != NULL)
        attach(s, a);
}

void storage_index_free(struct storage_index **index)
{
    struct storage_index *s = *index;
    if (s == NULL)
        return;
    must(map_count(s->uses) == 0);
    detach_all(s);
    map_free(&s->uses);
    map_free(&s->by_volume);
    map_free(&s->attachments);
    map_free(&s->attached_to);
    map_free(&s->attached_by);
    memory_free(s);
    *index = NULL;
}

/* ---- nodes ---- */

static bool is_limited(const struct shard_storage *storage, struct str driver)
{
    for (uint32_t i = 0; i < storage->drivers.count; i++)
        if (str_equal(storage->drivers.at[i].driver, driver))
            return storage->drivers.at[i].limited;
    return false;
}

static int compare_attached(const void *a, const void *b)
{
    const struct attached_volume *left = a, *right = b;
    int order = str_compare(left->driver, right->driver);
    return order != 0 ? order : str_compare(left->handle, right->handle);
}

/* Upstream counts an attachment by who attaches and by the handle of its CSI volume. */
static void add_attachments(const struct storage_index *s, struct shard_storage *out,
                            struct arena *a)
{
    const struct attachment_place *first = map_get(s->attached_to, out->node_name);
    uint32_t count = 0;
    for (const struct attachment_place *p = first; p != NULL; p = p->same_node)
        count++;
    struct attached_volume *at = arena_take(a, count * sizeof(*at));
    count = 0;
    for (const struct attachment_place *p = first; p != NULL; p = p->same_node) {
        const struct attachment *attachment = catalog_attachment(s->catalog, p->name);
        const struct volume *v = catalog_volume(s->catalog, p->volume);
        if (attachment != NULL && v != NULL && v->source == SOURCE_csi &&
            is_limited(out, attachment->attacher))
            at[count++] = (struct attached_volume){attachment->attacher, v->handle};
    }
    qsort(at, count, sizeof(*at), compare_attached);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || compare_attached(&at[i - 1], &at[i]) != 0)
            at[out->attached.count++] = at[i];
    out->attached.at = at;
}

void storage_index_node(const struct storage_index *s, struct str node, struct shard_storage *out,
                        struct arena *a)
{
    const struct csi_node *csi = catalog_csi_node(s->catalog, node);
    *out = (struct shard_storage){.node_name = node, .has_csi_node = csi != NULL};
    if (csi == NULL)
        return;
    out->drivers.count = csi->drivers.count;
    out->drivers.at = csi->drivers.at;
    out->migrated = csi->migrated;
    add_attachments(s, out, a);
}
