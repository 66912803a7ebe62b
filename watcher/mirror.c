/* mirror: one entry an object, found by namespace and name, because that is what the API server
 * guarantees to be unique at any instant; the UID tells two lives of one name apart.
 *
 * What must stay true: the publisher holds the objects that were understood; of what cannot be
 * understood a pod is told as far as it can be, with why, a node's last good state is closed to
 * further pods, and all else keeps its last good state until it is deleted; and an older version
 * never replaces a newer one. */
#include "watcher/mirror.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/table.h"
#include "watcher/closed.h"

#include <string.h>

struct entry {
    struct published object; /* now: NULL if never understood; mark: the last list that showed it */
    int64_t version;
    bool unreadable;          /* as it is now */
    uint32_t hash;            /* of its id */
    uint32_t id_len, uid_len; /* no id: the record in the stream spells both, as a pod's does */
    char text[];              /* id, UID */
};

struct mirror {
    const struct kube_resource *kind;
    struct publisher *publisher;
    struct table entries;
    struct arena arena;
    struct buffer id;
    uint32_t mark;
    bool listing;
    uint64_t malformed, outdated, calm;
    size_t unreadable;
    const struct strs *annotations; /* how the keys begin of those that are told; NULL: none is */
    void *context, *amend_context;
    void (*told)(void *context, const struct message *what, const struct kube_json *object);
    void (*amend)(void *context, struct message *set, struct arena *a);
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

void mirror_annotate(struct mirror *m, const struct strs *prefixes)
{
    m->annotations = prefixes;
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

void mirror_tell(struct mirror *m, void *context,
                 void (*told)(void *context, const struct message *what,
                              const struct kube_json *object))
{
    m->context = context;
    m->told = told;
}

void mirror_amend(struct mirror *m, void *context,
                  void (*amend)(void *context, struct message *set, struct arena *a))
{
    m->amend_context = context;
    m->amend = amend;
}

/* ---- entries ---- */

static uint32_t hash_of(struct str id)
{
    return table_hash(str_hash(id));
}

static bool spells(struct str id, struct str space, struct str name)
{
    return id.len == space.len + 1 + name.len && id.at[space.len] == '/' &&
           str_equal((struct str){id.at, space.len}, space) &&
           str_equal((struct str){id.at + space.len + 1, name.len}, name);
}

static bool has_id(const void *thing, const void *key)
{
    const struct entry *e = thing;
    const struct stored *now = e->object.now;
    const struct str *id = key;
    if (e->id_len > 0)
        return str_equal((struct str){e->text, e->id_len}, *id);
    return spells(*id, store_str(now, TAG_pod_namespace_name), store_str(now, TAG_pod_name));
}

static struct entry *find(const struct mirror *m, struct str id)
{
    return table_get(&m->entries, hash_of(id), has_id, &id);
}

static bool has_uid(const struct entry *e, struct str uid)
{
    if (e->id_len > 0)
        return str_equal((struct str){e->text + e->id_len, e->uid_len}, uid);
    return store_uuid_is(e->object.now, TAG_pod_uid, uid);
}

/* set: what the stream will say of it, if anything; of a pod nothing has to be kept beside it. */
static struct entry *entry_new(const struct identity *who, const struct message *set)
{
    struct str id = who->id, uid = who->uid;
    if (set->type == MSG_pod_set && str_equal(set->pod_set.pod.uid, uid) &&
        spells(id, set->pod_set.pod.namespace_name, set->pod_set.pod.name))
        id.len = uid.len = 0;
    struct entry *e = memory_take(offsetof(struct entry, text) + id.len + uid.len);
    e->hash = hash_of(who->id);
    e->id_len = id.len;
    e->uid_len = uid.len;
    if (id.len > 0)
        memcpy(e->text, id.at, id.len);
    if (uid.len > 0)
        memcpy(e->text + e->id_len, uid.at, uid.len);
    return e;
}

/* ---- objects ---- */

static void refuse(struct mirror *m, struct str id, struct str error)
{
    m->malformed++;
    log_error("object cannot be understood: %.*s|resource=%s object=%.*s", STR_ARG(error),
              m->kind->name, STR_ARG(id));
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
        if (m->told != NULL)
            m->told(m->context, &gone, NULL);
        arena_reset(&m->arena);
    }
    m->unreadable -= e->unreadable;
    table_remove(&m->entries, e->hash, e);
    memory_free(e);
}

/* What can be told of an object that cannot be understood: that must not be nothing where others
 * would then be placed wrongly. */
static void salvage(struct mirror *m, const struct entry *e, struct str error, struct message *set)
{
    if (set->type == MSG_pod_set && set->pod_set.pod.uid.len > 0) {
        set->pod_set.pod.unreadable = error;
        set->pod_set.pod.gang = (struct str){NULL, 0};
    } else if (set->type == MSG_node_set && set->node_set.node.name.len > 0) {
        if (e != NULL && e->object.now != NULL)
            publisher_get(m->publisher, &e->object, set, &m->arena);
        closed_close(&set->node_set.node, &m->arena);
    } else {
        set->type = MSG_none;
    }
}

static void annotate(struct mirror *m, const struct kube_json *object, struct message *set)
{
    uint32_t count = 0;
    if (m->annotations == NULL || m->annotations->count == 0)
        return;
    if (set->type == MSG_pod_set) {
        struct pod *pod = &set->pod_set.pod;
        pod->annotations.at = kube_object_annotations(object, m->annotations, &count, &m->arena);
        pod->annotations.count = count;
    } else if (set->type == MSG_node_set) {
        struct node *node = &set->node_set.node;
        node->annotations.at = kube_object_annotations(object, m->annotations, &count, &m->arena);
        node->annotations.count = count;
    }
}

/* The message for the stream; its type is MSG_none when there is nothing to be told. False when the
 * object cannot be understood. */
static bool read_object(struct mirror *m, const struct entry *e, struct str id,
                        const struct kube_json *object, struct message *set)
{
    struct str key, error = {0}; /* the key is what id and UID say already */
    *set = (struct message){0};
    bool good = m->kind->set(object, set, &key, &m->arena, &error);
    if (!good) {
        refuse(m, id, error);
        salvage(m, e, error, set);
    }
    if (good)
        annotate(m, object, set);
    if (good && m->amend != NULL)
        m->amend(m->amend_context, set, &m->arena);
    return good;
}

/* Mostly it confirms a bind. */
static bool is_calm(const struct entry *e, const struct message *set)
{
    return set->type == MSG_pod_set && e->object.now != NULL &&
           set->pod_set.pod.node_name.len > 0 && !set->pod_set.pod.deleting;
}

/* e: what is known of it, NULL if nothing is. */
static void take(struct mirror *m, struct entry *e, const struct identity *who,
                 const struct kube_json *object)
{
    struct message set;
    bool good = read_object(m, e, who->id, object, &set);
    bool is_new = e == NULL;
    if (is_new)
        e = entry_new(who, &set);
    e->object.mark = m->mark;
    e->version = who->version;
    m->unreadable += (size_t)!good - (size_t)e->unreadable;
    e->unreadable = !good;
    bool calm = is_calm(e, &set);
    if (set.type != MSG_none && m->told != NULL)
        m->told(m->context, &set, object); /* what it says stands before the object */
    if (set.type != MSG_none && publisher_set(m->publisher, &e->object, &set))
        m->calm += calm;
    if (is_new)
        table_add(&m->entries, e->hash, e);
    arena_reset(&m->arena);
}

void mirror_object(struct mirror *m, const struct kube_json *object, bool listed)
{
    struct identity who;
    if (!identify(m, object, &who))
        return;
    struct entry *e = find(m, who.id);
    if (e != NULL && !listed && who.version <= e->version) {
        m->outdated += who.version < e->version;
        return;
    }
    if (e != NULL && !has_uid(e, who.uid)) {
        drop(m, e); /* another life of the name: the end of the former was missed */
        e = NULL;
    }
    if (e != NULL && e->version == who.version)
        e->object.mark = m->mark; /* a list shows what is known already */
    else
        take(m, e, &who, object);
}

void mirror_again(struct mirror *m, struct str id)
{
    struct entry *e = find(m, id);
    struct message set;
    if (e == NULL || e->object.now == NULL || m->amend == NULL)
        return;
    if (e->unreadable)
        return; /* it stays closed for its own sake */
    publisher_get(m->publisher, &e->object, &set, &m->arena);
    m->amend(m->amend_context, &set, &m->arena);
    publisher_set(m->publisher, &e->object, &set);
    arena_reset(&m->arena);
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

void mirror_doubt(struct mirror *m)
{
    size_t at = 0;
    struct entry *e;
    while ((e = table_next(&m->entries, &at)) != NULL)
        e->version = 0;
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
        if (e->object.mark != m->mark)
            drop(m, e);
}

size_t mirror_count(const struct mirror *m)
{
    return m->entries.count;
}

size_t mirror_unreadable(const struct mirror *m)
{
    return m->unreadable;
}

uint64_t mirror_malformed(const struct mirror *m)
{
    return m->malformed;
}

uint64_t mirror_calm(const struct mirror *m)
{
    return m->calm;
}

uint64_t mirror_outdated(const struct mirror *m)
{
    return m->outdated;
}

void mirror_each(const struct mirror *m, void (*visit)(void *context, const struct message *last),
                 void *context)
{
    size_t at = 0;
    void *found;
    struct arena memory = {0};
    while ((found = table_next(&m->entries, &at)) != NULL) {
        const struct entry *entry = found;
        struct message last;
        if (entry->object.now == NULL)
            continue;
        publisher_get(m->publisher, &entry->object, &last, &memory);
        visit(context, &last);
        arena_reset(&memory);
    }
    arena_free(&memory);
}

static struct mirrored as_mirrored(const struct entry *e, struct buffer *id, char *uid)
{
    struct mirrored what = {.version = e->version, .told = e->object.now};
    if (e->id_len > 0) {
        what.id = (struct str){e->text, e->id_len};
        what.uid = (struct str){e->text + e->id_len, e->uid_len};
        return what;
    }
    buffer_reset(id);
    buffer_print(id, "%.*s/%.*s", STR_ARG(store_str(what.told, TAG_pod_namespace_name)),
                 STR_ARG(store_str(what.told, TAG_pod_name)));
    what.id = buffer_str(id);
    what.uid = store_uuid(what.told, TAG_pod_uid, uid);
    return what;
}

void mirror_visit(const struct mirror *m, void (*visit)(void *context, const struct mirrored *what),
                  void *context)
{
    size_t at = 0;
    const void *found;
    struct buffer id = {0};
    char uid[UUID_TEXT];
    while ((found = table_next(&m->entries, &at)) != NULL) {
        const struct mirrored what = as_mirrored(found, &id, uid);
        visit(context, &what);
    }
    buffer_free(&id);
}
