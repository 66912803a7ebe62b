/* mirror: one entry an object, found by namespace and name, because that is what the API server
 * guarantees to be unique at any instant; the UID tells two lives of one name apart.
 *
 * What must stay true: the publisher holds exactly the objects that were understood; an object that
 * cannot be understood keeps its last good state until it is deleted; and an older version never
 * replaces a newer one. */
#include "watcher/mirror.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/table.h"
#include "proto/base/uuid.h"

#include <string.h>

struct entry {
    struct published object; /* not in the stream: never understood */
    int64_t version;
    uint32_t mark; /* the last list that showed it */
    uint32_t hash; /* of its id */
    uint32_t id_len, uid_len;
    bool packed; /* the UID is one of UUID_BYTES */
    char text[]; /* id, UID */
};

struct mirror {
    const struct kube_resource *kind;
    struct publisher *publisher;
    struct table entries;
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
    return m;
}

void mirror_free(struct mirror **mirror)
{
    struct mirror *m = *mirror;
    if (m == NULL)
        return;
    size_t at = 0;
    void *entry;
    while ((entry = table_next(&m->entries, &at)) != NULL)
        memory_free(entry);
    table_free(&m->entries);
    arena_free(&m->arena);
    buffer_free(&m->id);
    memory_free(m);
    *mirror = NULL;
}

/* ---- entries ---- */

static uint32_t hash_of(struct str id)
{
    return table_hash(str_hash(id));
}

static bool has_id(const void *thing, const void *key)
{
    const struct entry *e = thing;
    const struct str *id = key;
    return str_equal((struct str){e->text, e->id_len}, *id);
}

static struct entry *find(const struct mirror *m, struct str id)
{
    return table_get(&m->entries, hash_of(id), has_id, &id);
}

static bool has_uid(const struct entry *e, struct str uid)
{
    uint8_t bytes[UUID_BYTES];
    if (!e->packed)
        return str_equal((struct str){e->text + e->id_len, e->uid_len}, uid);
    return uuid_pack(uid, bytes) && memcmp(e->text + e->id_len, bytes, sizeof(bytes)) == 0;
}

static struct entry *add(struct mirror *m, const struct identity *who)
{
    uint8_t bytes[UUID_BYTES];
    bool packed = uuid_pack(who->uid, bytes);
    struct str uid = packed ? (struct str){(const char *)bytes, sizeof(bytes)} : who->uid;
    struct entry *e = memory_take(offsetof(struct entry, text) + who->id.len + uid.len);
    e->hash = hash_of(who->id);
    e->id_len = who->id.len;
    e->uid_len = uid.len;
    e->packed = packed;
    memcpy(e->text, who->id.at, who->id.len);
    if (uid.len > 0)
        memcpy(e->text + e->id_len, uid.at, uid.len);
    table_add(&m->entries, e->hash, e);
    return e;
}

/* ---- objects ---- */

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

/* Takes it out, and says that it is gone if it was ever told. */
static void drop(struct mirror *m, struct entry *e)
{
    struct message set, gone = {0};
    if (e->object.now != NULL) {
        publisher_get(m->publisher, &e->object, &set, &m->arena);
        m->kind->gone(&set, &gone);
        must(message_info[gone.type].record != NULL);
        publisher_remove(m->publisher, &e->object, &gone);
        arena_reset(&m->arena);
    }
    table_remove(&m->entries, e->hash, e);
    memory_free(e);
}

static void take(struct mirror *m, struct entry *e, struct str id, const struct kube_json *object)
{
    struct message set = {0};
    struct str key, error = {0}; /* the key is what id and UID say already */
    if (!m->kind->set(object, &set, &key, &m->arena, &error))
        refuse(m, id, error);
    else
        publisher_set(m->publisher, &e->object, &set);
    arena_reset(&m->arena);
}

void mirror_object(struct mirror *m, const struct kube_json *object, bool listed)
{
    struct identity who;
    if (!identify(m, object, &who))
        return;
    struct entry *e = find(m, who.id);
    bool same = e != NULL && has_uid(e, who.uid);
    if (e != NULL && !listed && who.version <= e->version) {
        m->outdated += who.version < e->version;
        return;
    }
    if (e != NULL && !same) { /* another life of the name: the end of the former was missed */
        drop(m, e);
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
    struct entry *e = find(m, who.id);
    if (e == NULL)
        return;
    if (!has_uid(e, who.uid) || who.version < e->version) {
        m->outdated++;
        return;
    }
    drop(m, e);
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
    struct entry *e;
    while ((e = table_next(&m->entries, &at)) != NULL)
        if (e->mark != m->mark)
            drop(m, e);
}

size_t mirror_count(const struct mirror *m)
{
    return m->entries.count;
}

uint64_t mirror_malformed(const struct mirror *m)
{
    return m->malformed;
}

uint64_t mirror_outdated(const struct mirror *m)
{
    return m->outdated;
}
