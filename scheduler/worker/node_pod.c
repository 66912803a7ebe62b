/* node_pod: one pod as a share keeps it. What must stay true: it is one piece of memory, with its
 * names behind it; what it holds of the share's tables was taken once for it, and is dropped with
 * it.
 */
#include "scheduler/worker/share.h"

#include "proto/base/memory.h"
#include "proto/base/uuid.h"

#include <string.h>

bool node_pod_has_uid(const void *thing, const void *key)
{
    const struct node_pod *p = thing;
    const struct str *uid = key;
    uint8_t bytes[UUID_BYTES];
    if (!p->packed)
        return str_equal((struct str){p->text, p->uid_len}, *uid);
    return uuid_pack(*uid, bytes) && memcmp(bytes, p->text, sizeof(bytes)) == 0;
}

uint32_t node_pod_hash(struct str uid)
{
    return table_hash(str_hash(uid));
}

struct node_pod *node_pod_named(struct str full_uid, struct str name)
{
    uint8_t bytes[UUID_BYTES];
    bool packed = uuid_pack(full_uid, bytes);
    struct str uid = packed ? (struct str){(const char *)bytes, sizeof(bytes)} : full_uid;
    struct node_pod *p = memory_take(offsetof(struct node_pod, text) + uid.len + name.len);
    p->packed = packed;
    p->uid_len = uid.len;
    p->name_len = name.len;
    if (uid.len > 0)
        memcpy(p->text, uid.at, uid.len);
    if (name.len > 0)
        memcpy(p->text + uid.len, name.at, name.len);
    p->hash = node_pod_hash(full_uid);
    return p;
}

struct node_pod *node_pod_make(struct share *s, const struct pod *pod)
{
    struct node_pod *p = node_pod_named(pod->uid, pod->name);
    p->deleting = pod->deleting;
    p->preempted = pod->preempted;
    p->started = pod->started;
    p->group = pod_group_take(&s->groups, s->atoms, pod);
    p->demand = pod_demand_take(&s->demands, s->atoms, pod);
    p->terms = pod_terms_take(&s->terms, s->atoms, pod);
    p->storage = pod_storage_make(s->atoms, pod);
    return p;
}

void node_pod_free(struct share *s, struct node_pod *p)
{
    pod_group_drop(&s->groups, s->atoms, p->group);
    pod_demand_drop(&s->demands, s->atoms, p->demand);
    pod_terms_drop(&s->terms, s->atoms, p->terms);
    pod_storage_free(s->atoms, &p->storage);
    memory_free(p);
}
