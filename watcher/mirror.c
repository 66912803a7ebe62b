/* mirror: one entry an object, found by namespace and name, because that is what the API server
 * guarantees to be unique at any instant; the UID tells two lives of one name apart.
 *
 * What must stay true: the publisher holds exactly the objects that are entries with a key; an
 * object that cannot be understood keeps its last good state until it is deleted; and an older
 * version never replaces a newer one. */
#include "watcher/mirror.h"
#include "proto/base/log.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"

#include <string.h>

struct entry {
    int64_t version;
    uint32_t mark;      /* the last list that showed it */
    char *uid, *key;    /* key: in the publisher; NULL: never understood */
    struct buffer gone; /* the message that says it is gone, encoded */
    enum message_type gone_type;
};

struct mirror {
    const struct kube_resource *kind;
    struct publisher *publisher;
    struct map *entries;
    struct arena arena;
    struct buffer id;
    uint32_t mark;
    bool listing;
    uint64_t malformed, outdated;
};

/* What identifies an object; strings borrow from it. */
struct identity {
    struct str id, uid;
    int64_t version;
};

struct mirror *mirror_new(const struct kube_resource *kind, struct publisher *publisher)
{
    struct mirror *m = memory_take(sizeof(*m));
    m->kind = kind;
    m->publisher = publisher;
    m->entries = map_new();
    return m;
}

static void entry_free(struct entry *e)
{
    memory_free(e->uid);
    memory_free(e->key);
    buffer_free(&e->gone);
    memory_free(e);
}

void mirror_free(struct mirror **mirror)
{
    struct mirror *m = *mirror;
    if (m == NULL)
        return;
    size_t at = 0;
    void *entry;
    while (map_next(m->entries, &at, NULL, &entry))
        entry_free(entry);
    map_free(&m->entries);
    arena_free(&m->arena);
    buffer_free(&m->id);
    memory_free(m);
    *mirror = NULL;
}

static void refuse(struct mirror *m, struct str id, struct str error)
{
    m->malformed++;
    log_error("object is malformed, its last good state stays: %.*s|resource=%s object=%.*s",
              STR_ARG(error), m->kind->name, STR_ARG(id));
}

/* False, and counted, when the object has no name or version. */
static bool identify(struct mirror *m, const struct kube_json *object, struct identity *who)
{
    const struct kube_json *meta = kube_json_get(object, "metadata");
    struct str space = kube_json_text(kube_json_get(meta, "namespace"));
    struct str name = kube_json_text(kube_json_get(meta, "name"));
    struct str version = kube_json_text(kube_json_get(meta, "resourceVersion"));
    buffer_reset(&m->id);
    buffer_print(&m->id, "%.*s%s%.*s", STR_ARG(space), space.len ? "/" : "", STR_ARG(name));
    who->id = buffer_str(&m->id);
    who->uid = kube_json_text(kube_json_get(meta, "uid"));
    if (name.len == 0)
        refuse(m, who->id, STR_LITERAL("metadata.name: is missing"));
    else if (!str_to_i64(version, &who->version))
        refuse(m, who->id, STR_LITERAL("metadata.resourceVersion: is not a number"));
    else
        return true;
    return false;
}

/* Says that it is gone, if it was ever told. */
static void withdraw(struct mirror *m, struct entry *e)
{
    if (e->key == NULL)
        return;
    struct message gone = {.type = e->gone_type};
    struct cursor in = {(const uint8_t *)e->gone.at, (const uint8_t *)e->gone.at + e->gone.len};
    must(codec_decode(message_info[gone.type].record, message_body(&gone), &in, &m->arena));
    publisher_remove(m->publisher, str_of(e->key), &gone);
    arena_reset(&m->arena);
}

static void drop(struct mirror *m, struct str id)
{
    struct entry *e = map_remove(m->entries, id);
    must(e != NULL);
    withdraw(m, e);
    entry_free(e);
}

static struct entry *add(struct mirror *m, const struct identity *who)
{
    struct entry *e = memory_take(sizeof(*e));
    e->uid = str_copy(who->uid);
    map_set(m->entries, who->id, e);
    return e;
}

/* Tells the publisher, and remembers how to take it back. */
static void publish(struct mirror *m, struct entry *e, struct str key, const struct message *set)
{
    if (e->key != NULL && !str_is(key, e->key)) {
        withdraw(m, e);
        memory_free(e->key);
        e->key = NULL;
    }
    if (!publisher_set(m->publisher, key, set) && e->key != NULL)
        return; /* nothing that the stream carries has changed */
    struct message gone = {0};
    m->kind->gone(set, &gone);
    must(message_info[gone.type].record != NULL);
    buffer_reset(&e->gone);
    codec_encode(message_info[gone.type].record, message_body(&gone), &e->gone);
    e->gone_type = gone.type;
    if (e->key == NULL)
        e->key = str_copy(key);
}

static void take(struct mirror *m, struct entry *e, struct str id, const struct kube_json *object)
{
    struct message set = {0};
    struct str key = {0}, error = {0};
    if (!m->kind->set(object, &set, &key, &m->arena, &error))
        refuse(m, id, error);
    else
        publish(m, e, key, &set);
    arena_reset(&m->arena);
}

void mirror_object(struct mirror *m, const struct kube_json *object, bool listed)
{
    struct identity who;
    if (!identify(m, object, &who))
        return;
    struct entry *e = map_get(m->entries, who.id);
    bool same = e != NULL && str_is(who.uid, e->uid);
    if (e != NULL && !listed && who.version <= e->version) {
        m->outdated += who.version < e->version;
        return;
    }
    if (e != NULL && !same) { /* another life of the name: the end of the former was missed */
        drop(m, who.id);
        e = NULL;
    }
    if (e == NULL)
        e = add(m, &who);
    e->mark = m->mark;
    if (same && e->version == who.version)
        return; /* a list shows what is known already */
    e->version = who.version;
    take(m, e, who.id, object);
}

void mirror_deleted(struct mirror *m, const struct kube_json *object)
{
    struct identity who;
    if (!identify(m, object, &who))
        return;
    const struct entry *e = map_get(m->entries, who.id);
    if (e == NULL)
        return;
    if (!str_is(who.uid, e->uid) || who.version < e->version) {
        m->outdated++;
        return;
    }
    drop(m, who.id);
}

void mirror_list_begin(struct mirror *m)
{
    m->mark++;
    m->listing = true;
}

void mirror_list_end(struct mirror *m)
{
    must(m->listing);
    m->listing = false;
    size_t at = 0;
    struct str id;
    void *value;
    while (map_next(m->entries, &at, &id, &value)) {
        struct entry *e = value;
        if (e->mark == m->mark)
            continue;
        withdraw(m, e);
        map_remove(m->entries, id);
        entry_free(e);
    }
}

size_t mirror_count(const struct mirror *m)
{
    return map_count(m->entries);
}

uint64_t mirror_malformed(const struct mirror *m)
{
    return m->malformed;
}

uint64_t mirror_outdated(const struct mirror *m)
{
    return m->outdated;
}
