/* catalog: one map a kind, each object decoded in an arena of its own. The one idea: objects change
 * seldom and are looked up often.
 *
 * What must stay true: an entry owns everything that its record points to, and the indexes of
 * Services by namespace and of volumes by claim and class name exactly those of the map. */
#include "scheduler/catalog/catalog_inside.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/table/gang_names.h"

#include <stdlib.h>

struct catalog *catalog_new(void)
{
    struct catalog *c = memory_take(sizeof(*c));
    for (int i = 0; i < CATALOG_KINDS; i++)
        c->kinds[i] = map_new();
    c->services = map_new();
    c->users = map_new();
    c->volumes = volume_index_new();
    c->assumed_volumes = map_new();
    c->devices = device_book_new();
    c->extended = extended_names_new();
    c->special = special_claims_new();
    return c;
}

/* ---- indexes ---- */

/* Services are asked for by namespace, for every pod without spread constraints of its own. */
static void index_service(struct catalog *c, struct entry *e)
{
    const struct owner *service = e->record;
    struct map *names = map_get(c->services, service->namespace_name);
    if (names == NULL) {
        names = map_new();
        map_set(c->services, service->namespace_name, names);
    }
    map_set(names, service->name, e);
}

static void forget_service(struct catalog *c, const struct entry *e)
{
    const struct owner *service = e->record;
    struct map *names = map_get(c->services, service->namespace_name);
    map_remove(names, service->name);
    if (map_count(names) > 0)
        return;
    map_remove(c->services, service->namespace_name);
    map_free(&names);
}

static void free_services(struct catalog *c)
{
    size_t at = 0;
    struct str space;
    void *value;
    while (map_next(c->services, &at, &space, &value)) {
        struct map *names = value;
        map_free(&names);
    }
    map_free(&c->services);
}

static void forget_volume(struct catalog *c, struct entry *e)
{
    volume_index_take_out(c->volumes, e->record, &e->link);
}

/* Its place among services and devices has been given up before, or goes with all of them. */
static void free_entry(struct catalog *c, enum catalog_kind kind, struct entry *e)
{
    catalog_restore_all(c, kind, e);
    if (kind == CATALOG_volume)
        forget_volume(c, e);
    arena_free(&e->memory);
    memory_free(e);
}

void catalog_free(struct catalog **catalog)
{
    struct catalog *c = *catalog;
    if (c == NULL)
        return;
    free_services(c);
    for (int i = 0; i < CATALOG_KINDS; i++) {
        size_t at = 0;
        struct str key;
        void *value;
        while (map_next(c->kinds[i], &at, &key, &value))
            free_entry(c, (enum catalog_kind)i, value);
        map_free(&c->kinds[i]);
    }
    map_free(&c->users);
    map_free(&c->assumed_volumes);
    volume_index_free(&c->volumes);
    device_book_free(&c->devices);
    extended_names_free(&c->extended);
    special_claims_free(&c->special);
    memory_free(c);
    *catalog = NULL;
}

struct buffer catalog_key(struct str space, struct str name)
{
    struct buffer key = {0};
    if (space.len > 0) {
        buffer_add_str(&key, space);
        buffer_add(&key, "/", 1);
    }
    buffer_add_str(&key, name);
    return key;
}

/* ---- from the stream ---- */

struct named {
    enum catalog_kind kind; /* CATALOG_KINDS: not ours */
    struct str space, name;
    const struct record *record;
    const void *from;
    size_t size;
};

static enum catalog_kind owner_kind(enum object_kind kind)
{
    switch (kind) {
    case OBJECT_service: return CATALOG_service;
    case OBJECT_replication_controller: return CATALOG_replication_controller;
    case OBJECT_replica_set: return CATALOG_replica_set;
    case OBJECT_stateful_set: return CATALOG_stateful_set;
    default: return CATALOG_KINDS;
    }
}

static enum catalog_kind gang_kind(struct str api)
{
    if (str_is(api, GANG_API_BUILT_IN))
        return CATALOG_gang_built_in;
    if (str_is(api, GANG_API_OLD))
        return CATALOG_gang_old;
    if (str_is(api, GANG_API_TREE))
        return CATALOG_gang_tree;
    return str_is(api, GANG_API) ? CATALOG_gang : CATALOG_KINDS;
}

#define NAMED(kind, member, space, type)                                                           \
    (struct named)                                                                                 \
    {                                                                                              \
        kind, space, (member).name, &type##_record, &(member), sizeof(struct type)                 \
    }

static struct named named_of(const struct message *m)
{
    switch (m->type) {
    case MSG_namespace_set:
        return (struct named){CATALOG_namespace,     NOWHERE,
                              m->namespace_set.name, message_info[MSG_namespace_set].record,
                              &m->namespace_set,     sizeof(struct namespace_set)};
    case MSG_claim_set:
        return NAMED(CATALOG_claim, m->claim_set.claim, m->claim_set.claim.namespace_name, claim);
    case MSG_volume_set: return NAMED(CATALOG_volume, m->volume_set.volume, NOWHERE, volume);
    case MSG_storage_class_set:
        return NAMED(CATALOG_storage_class, m->storage_class_set.storage_class, NOWHERE,
                     storage_class);
    case MSG_csi_node_set:
        return NAMED(CATALOG_csi_node, m->csi_node_set.csi_node, NOWHERE, csi_node);
    case MSG_csi_driver_set:
        return NAMED(CATALOG_csi_driver, m->csi_driver_set.csi_driver, NOWHERE, csi_driver);
    case MSG_csi_capacity_set:
        return NAMED(CATALOG_csi_capacity, m->csi_capacity_set.csi_capacity,
                     m->csi_capacity_set.csi_capacity.namespace_name, csi_capacity);
    case MSG_attachment_set:
        return NAMED(CATALOG_attachment, m->attachment_set.attachment, NOWHERE, attachment);
    case MSG_owner_set:
        return NAMED(owner_kind(m->owner_set.owner.kind), m->owner_set.owner,
                     m->owner_set.owner.namespace_name, owner);
    case MSG_resource_claim_set:
        return NAMED(CATALOG_resource_claim, m->resource_claim_set.resource_claim,
                     m->resource_claim_set.resource_claim.namespace_name, resource_claim);
    case MSG_device_class_set:
        return NAMED(CATALOG_device_class, m->device_class_set.device_class, NOWHERE, device_class);
    case MSG_device_taint_rule_set:
        return NAMED(CATALOG_device_taint_rule, m->device_taint_rule_set.rule, NOWHERE,
                     device_taint_rule);
    case MSG_budget_set:
        return NAMED(CATALOG_budget, m->budget_set.budget, m->budget_set.budget.namespace_name,
                     budget);
    case MSG_pod_group_set:
        return NAMED(gang_kind(m->pod_group_set.group.api), m->pod_group_set.group,
                     m->pod_group_set.group.namespace_name, gang);
    default: return (struct named){.kind = CATALOG_KINDS};
    }
}

/* ---- what the book of devices has to know of an entry ---- */

static void note_devices(struct catalog *c, enum catalog_kind kind, const struct entry *e)
{
    if (kind == CATALOG_resource_claim) {
        device_book_claim(c->devices, e->record);
        special_claims_put(c->special, e->record);
    } else if (kind == CATALOG_device_class) {
        device_book_class(c->devices, e->record);
        extended_names_set(c->extended, e->record);
    } else if (kind == CATALOG_device_taint_rule) {
        device_book_taint_rule(c->devices, e->record);
    }
}

/* It goes, or another object takes its name. */
static void forget_devices(struct catalog *c, enum catalog_kind kind, const struct entry *e)
{
    if (kind == CATALOG_resource_claim) {
        special_claims_take_out(c->special, e->record);
        device_book_claim_gone(c->devices, ((const struct resource_claim *)e->record)->uid);
    } else if (kind == CATALOG_device_class) {
        const struct device_class *class = e->record;
        device_book_class_gone(c->devices, class->name);
        extended_names_gone(c->extended, class->name);
    } else if (kind == CATALOG_device_taint_rule) {
        device_book_taint_rule_gone(c->devices,
                                    ((const struct device_taint_rule *)e->record)->name);
    }
}

static bool is_another(const struct entry *e, const struct named *n)
{
    return n->kind == CATALOG_resource_claim &&
           !str_equal(((const struct resource_claim *)e->record)->uid,
                      ((const struct resource_claim *)n->from)->uid);
}

static int64_t version_of(enum catalog_kind kind, const void *record)
{
    if (kind == CATALOG_claim)
        return ((const struct claim *)record)->resource_version;
    must(kind == CATALOG_volume);
    return ((const struct volume *)record)->resource_version;
}

static void set(struct catalog *c, const struct named *n)
{
    struct buffer key = catalog_key(n->space, n->name);
    struct entry *e = map_get(c->kinds[n->kind], buffer_str(&key));
    if (e != NULL && n->kind == CATALOG_service)
        forget_service(c, e); /* before its names go */
    else if (e != NULL && n->kind == CATALOG_volume)
        forget_volume(c, e);
    if (e != NULL && is_another(e, n))
        forget_devices(c, n->kind, e);
    else if (e != NULL && n->kind == CATALOG_resource_claim)
        special_claims_take_out(c->special, e->record);
    if (e == NULL) {
        e = memory_take(sizeof(*e));
        e->memory.first = 256;
        map_set(c->kinds[n->kind], buffer_str(&key), e);
    }
    buffer_free(&key);
    if (e->assumed != NULL && version_of(n->kind, e->record) != version_of(n->kind, n->from))
        catalog_restore_all(c, n->kind, e); /* the API server's word, unless it repeats itself */
    arena_reset(&e->memory);
    e->mark = c->mark;
    e->record = arena_take(&e->memory, n->size);
    codec_copy(n->record, e->record, n->from, &e->memory);
    if (n->kind == CATALOG_service)
        index_service(c, e);
    else if (n->kind == CATALOG_volume)
        e->link = volume_index_put(c->volumes, e->record, e);
    note_devices(c, n->kind, e);
}

/* It is in its map no more. */
static void forget(struct catalog *c, enum catalog_kind kind, struct entry *e)
{
    if (kind == CATALOG_service)
        forget_service(c, e);
    forget_devices(c, kind, e);
    free_entry(c, kind, e);
}

static void drop(struct catalog *c, enum catalog_kind kind, struct str space, struct str name)
{
    struct buffer key = catalog_key(space, name);
    struct entry *e = map_remove(c->kinds[kind], buffer_str(&key));
    buffer_free(&key);
    if (e != NULL)
        forget(c, kind, e);
}

static enum catalog_kind kind_named(enum object_kind kind)
{
    switch (kind) {
    case OBJECT_claim: return CATALOG_claim;
    case OBJECT_volume: return CATALOG_volume;
    case OBJECT_storage_class: return CATALOG_storage_class;
    case OBJECT_csi_node: return CATALOG_csi_node;
    case OBJECT_csi_driver: return CATALOG_csi_driver;
    case OBJECT_csi_capacity: return CATALOG_csi_capacity;
    case OBJECT_attachment: return CATALOG_attachment;
    case OBJECT_resource_claim: return CATALOG_resource_claim;
    case OBJECT_device_class: return CATALOG_device_class;
    case OBJECT_device_taint_rule: return CATALOG_device_taint_rule;
    case OBJECT_budget: return CATALOG_budget;
    default: return owner_kind(kind);
    }
}

void catalog_take(struct catalog *c, const struct message *m)
{
    if (m->type == MSG_namespace_gone) {
        drop(c, CATALOG_namespace, NOWHERE, m->namespace_gone.name);
    } else if (m->type == MSG_object_gone) {
        enum catalog_kind kind = m->object_gone.kind == OBJECT_pod_group
                                     ? gang_kind(m->object_gone.api)
                                     : kind_named(m->object_gone.kind);
        if (m->object_gone.kind == OBJECT_resource_slice)
            device_book_slice_gone(c->devices, m->object_gone.name);
        else if (kind != CATALOG_KINDS)
            drop(c, kind, m->object_gone.namespace_name, m->object_gone.name);
    } else if (m->type == MSG_resource_slice_set) {
        device_book_slice(c->devices, &m->resource_slice_set.slice);
    } else {
        struct named n = named_of(m);
        if (n.kind != CATALOG_KINDS)
            set(c, &n);
    }
}

void catalog_snapshot_begin(struct catalog *c)
{
    c->mark++;
    device_book_snapshot_begin(c->devices);
}

static int by_name(const void *one, const void *other)
{
    return str_compare((*(const struct device_class *const *)one)->name,
                       (*(const struct device_class *const *)other)->name);
}

/* Which class stands for what depends on the order in which they come: the API server lists them by
 * name, whatever the order of a snapshot is. */
static void name_classes_anew(struct catalog *c)
{
    const struct map *all = c->kinds[CATALOG_device_class];
    const struct device_class **classes = memory_take((map_count(all) + 1) * sizeof(void *));
    size_t at = 0, count = 0;
    struct str key;
    void *value;
    while (map_next(all, &at, &key, &value))
        classes[count++] = ((const struct entry *)value)->record;
    qsort(classes, count, sizeof(void *), by_name);
    extended_names_clear(c->extended);
    for (size_t i = 0; i < count; i++)
        extended_names_set(c->extended, classes[i]);
    memory_free(classes);
}

void catalog_snapshot_end(struct catalog *c)
{
    for (int i = 0; i < CATALOG_KINDS; i++) {
        size_t at = 0;
        struct str key;
        void *value;
        while (map_next(c->kinds[i], &at, &key, &value)) {
            struct entry *e = value;
            if (e->mark == c->mark)
                continue;
            map_remove(c->kinds[i], key);
            forget(c, (enum catalog_kind)i, e);
        }
    }
    device_book_snapshot_end(c->devices);
    name_classes_anew(c);
}

/* ---- lookups ---- */

struct entry *catalog_entry(const struct catalog *c, enum catalog_kind kind, struct str space,
                            struct str name)
{
    struct buffer key = catalog_key(space, name);
    struct entry *e = map_get(c->kinds[kind], buffer_str(&key));
    buffer_free(&key);
    return e;
}

static const void *look_up(const struct catalog *c, enum catalog_kind kind, struct str space,
                           struct str name)
{
    const struct entry *e = catalog_entry(c, kind, space, name);
    return e == NULL ? NULL : e->record;
}

bool catalog_has(const struct catalog *c, struct str kind, struct str space, struct str name)
{
    uint32_t number;
    (void)words_find(&object_kind_words, kind, &number);
    if (number == OBJECT_resource_slice)
        return device_book_has_slice(c->devices, name);
    enum catalog_kind k =
        str_is(kind, "Namespace") ? CATALOG_namespace : kind_named((enum object_kind)number);
    return k != CATALOG_KINDS && look_up(c, k, space, name) != NULL;
}

const struct gang *catalog_gang(const struct catalog *c, const struct gang *named)
{
    enum catalog_kind kind = gang_kind(named->api);
    return kind == CATALOG_KINDS ? NULL : look_up(c, kind, named->namespace_name, named->name);
}

const struct namespace_set *catalog_namespace(const struct catalog *c, struct str name)
{
    return look_up(c, CATALOG_namespace, NOWHERE, name);
}

const struct claim *catalog_claim(const struct catalog *c, struct str space, struct str name)
{
    return look_up(c, CATALOG_claim, space, name);
}

const struct volume *catalog_volume(const struct catalog *c, struct str name)
{
    return look_up(c, CATALOG_volume, NOWHERE, name);
}

const struct storage_class *catalog_storage_class(const struct catalog *c, struct str name)
{
    return look_up(c, CATALOG_storage_class, NOWHERE, name);
}

const struct csi_node *catalog_csi_node(const struct catalog *c, struct str name)
{
    return look_up(c, CATALOG_csi_node, NOWHERE, name);
}

const struct csi_driver *catalog_csi_driver(const struct catalog *c, struct str name)
{
    return look_up(c, CATALOG_csi_driver, NOWHERE, name);
}

const struct attachment *catalog_attachment(const struct catalog *c, struct str name)
{
    return look_up(c, CATALOG_attachment, NOWHERE, name);
}

const struct resource_claim *catalog_resource_claim(const struct catalog *c, struct str space,
                                                    struct str name)
{
    return look_up(c, CATALOG_resource_claim, space, name);
}

const struct device_class *catalog_device_class(const struct catalog *c, struct str name)
{
    return look_up(c, CATALOG_device_class, NOWHERE, name);
}

const struct owner *catalog_owner(const struct catalog *c, enum catalog_kind kind, struct str space,
                                  struct str name)
{
    must(kind >= CATALOG_service && kind <= CATALOG_stateful_set);
    return look_up(c, kind, space, name);
}

const void *catalog_next(const struct catalog *c, enum catalog_kind kind, size_t *at)
{
    struct str key;
    void *value;
    if (!map_next(c->kinds[kind], at, &key, &value))
        return NULL;
    return ((const struct entry *)value)->record;
}

const struct owner *catalog_next_service(const struct catalog *c, struct str space, size_t *at)
{
    const struct map *names = map_get(c->services, space);
    struct str name;
    void *value;
    if (names == NULL || !map_next(names, at, &name, &value))
        return NULL;
    return ((const struct entry *)value)->record;
}

struct device_book *catalog_devices(const struct catalog *c)
{
    return c->devices;
}

void catalog_stand_in(struct catalog *c, bool classes)
{
    c->stands_for_none = !classes;
}

struct str catalog_class_for(const struct catalog *c, struct str resource)
{
    if (c->stands_for_none)
        return (struct str){0};
    return extended_names_class(c->extended, resource);
}

const struct resource_claim *catalog_special_claim(const struct catalog *c, struct str pod_uid)
{
    struct str space, name;
    return special_claims_find(c->special, pod_uid, &space, &name)
               ? catalog_resource_claim(c, space, name)
               : NULL;
}

uint32_t catalog_count(const struct catalog *c, enum catalog_kind kind)
{
    return (uint32_t)map_count(c->kinds[kind]);
}

/* ---- who uses a claim ---- */

void catalog_count_user(struct catalog *c, struct str space, struct str name, int times)
{
    struct buffer key = catalog_key(space, name);
    intptr_t count = (intptr_t)map_get(c->users, buffer_str(&key)) + times;
    must(count >= 0);
    if (count == 0)
        map_remove(c->users, buffer_str(&key));
    else
        map_set(c->users, buffer_str(&key), (void *)count); /* NOLINT(performance-no-int-to-ptr) */
    buffer_free(&key);
}

bool catalog_claim_in_use(const struct catalog *c, struct str space, struct str name)
{
    struct buffer key = catalog_key(space, name);
    bool used = map_get(c->users, buffer_str(&key)) != NULL;
    buffer_free(&key);
    return used;
}
