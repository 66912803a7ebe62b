/* shard: takes in what the coordinator says of nodes, pods and images. The one idea: an entry for
 * each node's name with its pods, and a row of numbers for those that are known nodes.
 *
 * What must stay true: every pod in by_uid is in exactly one entry's list; an entry without pods
 * has a row; every atom that an entry or pod holds was taken once for it and is dropped with it. */
#include "scheduler/worker/shard.h"

#include "proto/base/memory.h"
#include "proto/base/moment.h"
#include "proto/base/must.h"
#include "proto/base/uuid.h"
#include "scheduler/worker/shard_inside.h"

#include <stdlib.h>
#include <string.h>

struct shard *shard_new(void)
{
    struct shard *s = memory_take(sizeof(*s));
    s->atoms = atoms_new();
    s->by_name = map_new();
    s->images = map_new();
    pod_groups_start(&s->groups);
    term_table_start(&s->terms);
    s->classes = classes_new(s->atoms);
    s->any_ip = atom_take(s->atoms, STR_LITERAL("0.0.0.0"));
    return s;
}

/* ---- images ---- */

static struct image_state *need_image(struct shard *s, struct str name)
{
    struct image_state *image = map_get(s->images, name);
    if (image != NULL)
        return image;
    image = memory_take(sizeof(*image));
    image->name = str_keep(name);
    map_set(s->images, name, image);
    return image;
}

static void free_image(struct image_state *image)
{
    str_drop(&image->name);
    memory_free(image);
}

static void drop_image_if_unused(struct shard *s, struct image_state *image)
{
    if (image->refs > 0 || image->count > 0)
        return;
    map_remove(s->images, image->name);
    free_image(image);
}

void shard_images(struct shard *s, const struct shard_images *images)
{
    s->cluster_nodes = images->nodes;
    s->touched.images++;
    for (uint32_t i = 0; i < images->sizes.count; i++)
        need_image(s, images->sizes.at[i].text)->size = images->sizes.at[i].count;
    for (uint32_t i = 0; i < images->counts.count; i++)
        need_image(s, images->counts.at[i].text)->count = images->counts.at[i].count;
    for (uint32_t i = 0; i < images->counts.count; i++) {
        struct image_state *image = map_get(s->images, images->counts.at[i].text);
        if (image != NULL)
            drop_image_if_unused(s, image);
    }
}

static int compare_images(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t) * (struct image_state *const *)a;
    uintptr_t right = (uintptr_t) * (struct image_state *const *)b;
    return (left > right) - (left < right);
}

static void set_images(struct shard *s, struct node_entry *e, const struct node *node)
{
    size_t room = 0;
    for (uint32_t i = 0; i < node->images.count; i++)
        room += node->images.at[i].names.count;
    e->images = memory_take_array(room, sizeof(struct image_state *));
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->images.count; i++)
        for (uint32_t k = 0; k < node->images.at[i].names.count; k++)
            e->images[count++] = need_image(s, node->images.at[i].names.at[k]);
    qsort(e->images, count, sizeof(struct image_state *), compare_images);
    e->image_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (e->image_count == 0 || e->images[e->image_count - 1] != e->images[i]) {
            e->images[i]->refs++;
            e->images[e->image_count++] = e->images[i];
        }
}

/* ---- nodes ---- */

static int compare_labels(const void *a, const void *b)
{
    uint32_t left = ((const struct node_label *)a)->key,
             right = ((const struct node_label *)b)->key;
    return (left > right) - (left < right);
}

static void set_labels(struct shard *s, struct node_entry *e, const struct node *node)
{
    e->label_count = node->labels.count;
    e->labels = memory_take_array(e->label_count, sizeof(*e->labels));
    for (uint32_t i = 0; i < e->label_count; i++)
        e->labels[i] = (struct node_label){atom_take(s->atoms, node->labels.at[i].key),
                                           atom_take(s->atoms, node->labels.at[i].value)};
    qsort(e->labels, e->label_count, sizeof(*e->labels), compare_labels);
}

static void set_taints(struct shard *s, struct node_entry *e, const struct node *node)
{
    e->taint_count = node->taints.count;
    e->taints = memory_take_array(e->taint_count, sizeof(*e->taints));
    for (uint32_t i = 0; i < e->taint_count; i++)
        e->taints[i] = (struct node_taint){atom_take(s->atoms, node->taints.at[i].key),
                                           atom_take(s->atoms, node->taints.at[i].value),
                                           effect_of(node->taints.at[i].effect)};
}

static void set_features(struct shard *s, struct node_entry *e, const struct node *node)
{
    e->feature_count = node->features.count;
    e->features = memory_take_array(e->feature_count, sizeof(*e->features));
    for (uint32_t i = 0; i < e->feature_count; i++)
        e->features[i] = atom_take(s->atoms, node->features.at[i]);
}

static void set_troubles(struct shard *s, struct node_entry *e, const struct node *node)
{
    e->troubles = 0;
    for (uint32_t i = 0; i < node->conditions.count; i++)
        e->troubles |= trouble_of(node->conditions.at[i].key, node->conditions.at[i].value);
    e->avoided_count = node->avoided.count;
    e->avoided = memory_take_array(e->avoided_count, sizeof(*e->avoided));
    for (uint32_t i = 0; i < e->avoided_count; i++)
        e->avoided[i] = (struct node_label){atom_take(s->atoms, node->avoided.at[i].key),
                                            atom_take(s->atoms, node->avoided.at[i].value)};
}

static void set_facts(struct shard *s, struct node_entry *e, const struct node *node)
{
    e->unschedulable = node->unschedulable;
    set_labels(s, e, node);
    set_taints(s, e, node);
    set_images(s, e, node);
    set_features(s, e, node);
    set_troubles(s, e, node);
}

static void drop_facts(struct shard *s, struct node_entry *e)
{
    for (uint32_t i = 0; i < e->label_count; i++) {
        atom_drop(s->atoms, e->labels[i].key);
        atom_drop(s->atoms, e->labels[i].value);
    }
    for (uint32_t i = 0; i < e->taint_count; i++) {
        atom_drop(s->atoms, e->taints[i].key);
        atom_drop(s->atoms, e->taints[i].value);
    }
    for (uint32_t i = 0; i < e->image_count; i++) {
        e->images[i]->refs--;
        drop_image_if_unused(s, e->images[i]);
    }
    for (uint32_t i = 0; i < e->feature_count; i++)
        atom_drop(s->atoms, e->features[i]);
    for (uint32_t i = 0; i < e->avoided_count; i++) {
        atom_drop(s->atoms, e->avoided[i].key);
        atom_drop(s->atoms, e->avoided[i].value);
    }
    memory_free(e->features);
    memory_free(e->avoided);
    memory_free(e->labels);
    memory_free(e->taints);
    memory_free(e->images);
    e->label_count = e->taint_count = e->image_count = e->feature_count = 0;
    e->avoided_count = 0;
    e->features = NULL;
    e->avoided = NULL;
    e->labels = NULL;
    e->taints = NULL;
    e->images = NULL;
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

static bool same_images(const struct node_entry *a, const struct node_entry *b)
{
    return a->image_count == b->image_count &&
           same_bytes(a->images, b->images, a->image_count * sizeof(struct image_state *));
}

/* What rules that count look at: labels, and taints. */
static bool same_facts(const struct node_entry *a, const struct node_entry *b)
{
    if (a->label_count != b->label_count || a->taint_count != b->taint_count)
        return false;
    for (uint32_t i = 0; i < a->taint_count; i++)
        if (a->taints[i].key != b->taints[i].key || a->taints[i].value != b->taints[i].value ||
            a->taints[i].effect != b->taints[i].effect)
            return false;
    return same_bytes(a->labels, b->labels, a->label_count * sizeof(*a->labels));
}

/* A row's scalar holds its resource's atom once, from the first user to the last. */
static void set_scalar(struct shard *s, uint32_t row, struct str name, int64_t amount)
{
    uint32_t resource = atom_take(s->atoms, name);
    bool held = nodes_scalar(&s->nodes, row, resource) != NULL;
    nodes_set_scalar(&s->nodes, row, resource, amount);
    bool holds = nodes_scalar(&s->nodes, row, resource) != NULL;
    if (held || !holds)
        atom_drop(s->atoms, resource);
    if (held && !holds)
        atom_drop(s->atoms, resource);
}

static void clear_scalars(struct shard *s, uint32_t row)
{
    struct scalars *list = &s->nodes.scalars[row];
    for (uint32_t i = list->count; i > 0; i--) {
        uint32_t resource = list->at[i - 1].resource;
        nodes_set_scalar(&s->nodes, row, resource, 0);
        if (nodes_scalar(&s->nodes, row, resource) == NULL)
            atom_drop(s->atoms, resource);
    }
}

static int64_t at_least_zero(int64_t amount)
{
    return amount < 0 ? 0 : amount;
}

static void set_allocatable(struct shard *s, uint32_t row, const struct node *node)
{
    for (int i = 0; i < RESOURCE_COUNT; i++)
        s->nodes.allocatable[i][row] = 0;
    s->nodes.pods_allowed[row] = 0;
    clear_scalars(s, row);
    for (uint32_t i = 0; i < node->allocatable.count; i++) {
        const struct quantity *q = &node->allocatable.at[i];
        int fixed = resource_fixed(q->name);
        if (fixed >= 0)
            s->nodes.allocatable[fixed][row] = at_least_zero(q->amount);
        else if (str_is(q->name, "pods"))
            s->nodes.pods_allowed[row] = at_least_zero(q->amount);
        else if (resource_is_scalar(q->name))
            set_scalar(s, row, q->name, at_least_zero(q->amount));
    }
    nodes_offer(&s->nodes, row);
}

static struct node_entry *need_entry(struct shard *s, struct str name)
{
    struct node_entry *e = map_get(s->by_name, name);
    if (e != NULL)
        return e;
    e = memory_take(sizeof(*e));
    e->name = atom_take(s->atoms, name);
    e->row = NO_ROW;
    map_set(s->by_name, name, e);
    s->ghosts++;
    return e;
}

static void free_entry(struct shard *s, struct node_entry *e)
{
    must(e->row == NO_ROW && e->pod_count == 0);
    map_remove(s->by_name, atom_text(s->atoms, e->name));
    atom_drop(s->atoms, e->name);
    memory_free(e->pods);
    memory_free(e);
    s->ghosts--;
}

/* The pod's amounts enter or leave its node's row, and with them the row's hold on scalars' names.
 */
static void account(struct shard *s, const struct node_pod *pod, bool add)
{
    uint32_t row = pod->node->row;
    if (row == NO_ROW)
        return;
    touched_add(&s->touched, row);
    for (uint32_t i = 0; i < pod->demand->scalar_count; i++)
        if (nodes_scalar(&s->nodes, row, pod->demand->scalars[i].resource) == NULL)
            (void)atom_take(s->atoms, atom_text(s->atoms, pod->demand->scalars[i].resource));
    if (add)
        nodes_add_pod(&s->nodes, row, pod);
    else
        nodes_remove_pod(&s->nodes, row, pod);
    for (uint32_t i = 0; i < pod->demand->scalar_count; i++)
        if (nodes_scalar(&s->nodes, row, pod->demand->scalars[i].resource) == NULL)
            atom_drop(s->atoms, pod->demand->scalars[i].resource);
}

void shard_node_set(struct shard *s, const struct node *node)
{
    struct node_entry *e = need_entry(s, node->name);
    if (e->row == NO_ROW) {
        nodes_add(&s->nodes, e);
        s->ghosts--;
        for (uint32_t i = 0; i < e->pod_count; i++)
            account(s, e->pods[i], true);
        s->scratch.kept = false;
        s->touched.layout++;
    }
    struct node_entry old = *e;
    set_facts(s, e, node);
    node_facts_set(&s->nodes, e->row);
    s->touched.facts += !same_facts(&old, e);
    s->touched.images += !same_images(&old, e);
    drop_facts(s, &old);
    set_allocatable(s, e->row, node);
    touched_add(&s->touched, e->row);
}

static void remove_pod(struct shard *s, struct node_pod *pod);

static void drop_entry(struct shard *s, struct node_entry *e)
{
    while (e->pod_count > 0)
        remove_pod(s, e->pods[e->pod_count - 1]);
    nominated_forget(s, e);
    if (e->row != NO_ROW) {
        clear_scalars(s, e->row);
        must(s->nodes.scalars[e->row].count == 0);
        nodes_remove(&s->nodes, e);
        s->ghosts++;
        s->touched.layout++;
    }
    drop_facts(s, e);
    node_storage_free(s->atoms, &e->storage);
    free_entry(s, e);
    s->scratch.kept = false;
}

void shard_node_gone(struct shard *s, struct str name)
{
    struct node_entry *e = map_get(s->by_name, name);
    if (e == NULL)
        return;
    if (e->row == NO_ROW && e->pod_count > 0) {
        /* remove_pod frees a ghost with its last pod */
        for (uint32_t left = e->pod_count; left > 0; left--)
            remove_pod(s, e->pods[left - 1]);
        return;
    }
    drop_entry(s, e);
}

void shard_storage(struct shard *s, const struct shard_storage *told)
{
    struct node_entry *e = map_get(s->by_name, told->node_name);
    if (e == NULL || e->row == NO_ROW)
        return;
    node_storage_free(s->atoms, &e->storage);
    e->storage = node_storage_make(s->atoms, told);
    touched_add(&s->touched, e->row);
}

/* ---- pods ---- */

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

static struct node_pod *find_pod(const struct shard *s, struct str uid)
{
    return table_get(&s->by_uid, node_pod_hash(uid), node_pod_has_uid, &uid);
}

/* A pod that is nothing but its names. */
static struct node_pod *make_named(struct str full_uid, struct str name)
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

struct node_pod *node_pod_make(struct shard *s, const struct pod *pod)
{
    struct node_pod *p = make_named(pod->uid, pod->name);
    p->deleting = pod->deleting;
    p->preempted = pod->preempted;
    p->started = pod->started;
    p->group = pod_group_take(&s->groups, s->atoms, pod);
    p->demand = pod_demand_take(&s->demands, s->atoms, pod);
    p->terms = pod_terms_take(&s->terms, s->atoms, pod);
    p->storage = pod_storage_make(s->atoms, pod);
    return p;
}

void node_pod_free(struct shard *s, struct node_pod *p)
{
    pod_group_drop(&s->groups, s->atoms, p->group);
    pod_demand_drop(&s->demands, s->atoms, p->demand);
    pod_terms_drop(&s->terms, s->atoms, p->terms);
    pod_storage_free(s->atoms, &p->storage);
    memory_free(p);
}

static void remove_pod(struct shard *s, struct node_pod *pod)
{
    struct node_entry *e = pod->node;
    must(pod->place < e->pod_count && e->pods[pod->place] == pod);
    account(s, pod, false);
    e->pods[pod->place] = e->pods[--e->pod_count];
    e->pods[pod->place]->place = pod->place;
    table_remove(&s->by_uid, pod->hash, pod);
    pod_group_leave(pod);
    pod_terms_leave(pod);
    node_pod_free(s, pod);
    if (e->row == NO_ROW && e->pod_count == 0)
        free_entry(s, e);
}

void shard_pod_gone(struct shard *s, struct str uid)
{
    struct node_pod *pod = find_pod(s, uid);
    if (pod != NULL)
        remove_pod(s, pod);
}

void shard_pod_set(struct shard *s, const struct pod *pod)
{
    shard_pod_gone(s, pod->uid);
    if (pod->node_name.len == 0)
        return;
    struct node_pod *p = node_pod_make(s, pod);
    struct node_entry *e = need_entry(s, pod->node_name);
    if (e->pod_count == e->pod_room) {
        e->pod_room = e->pod_room == 0 ? 8 : e->pod_room * 2;
        e->pods = memory_resize(e->pods, e->pod_room * sizeof(struct node_pod *));
    }
    p->node = e;
    p->place = e->pod_count;
    e->pods[e->pod_count++] = p;
    table_add(&s->by_uid, p->hash, p);
    pod_group_join(p);
    pod_terms_join(p);
    account(s, p, true);
}

/* Ports of the pod that it does not take, though it was put on its node. */
static void free_ports(struct shard *s, const struct node_pod *p, const struct shard_pod *told)
{
    for (uint32_t i = 0; p->node->row != NO_ROW && i < told->freed.count; i++) {
        const struct host_port *port = &told->freed.at[i];
        const struct host_socket socket = {atom_find(s->atoms, port->ip),
                                           atom_find(s->atoms, port->protocol), port->port};
        nodes_free_port(&s->nodes, p->node->row, &socket);
    }
}

void shard_pod_told(struct shard *s, const struct shard_pod *told)
{
    const struct node_pod *old = find_pod(s, told->pod.uid);
    const struct node_entry *before = old != NULL ? old->node : NULL;
    uint32_t place = old != NULL ? old->place : 0;
    shard_pod_set(s, &told->pod);
    struct node_pod *p = find_pod(s, told->pod.uid);
    if (p != NULL)
        free_ports(s, p, told);
    if (!told->in_place || before == NULL || p == NULL || p->node != before || p->place <= place)
        return;
    struct node_pod **pods = before->pods; /* the last one went where it was */
    pods[p->place] = pods[place];
    pods[p->place]->place = p->place;
    pods[place] = p;
    p->place = place;
}

void shard_pod_rename(struct shard *s, struct str from, struct str uid, struct str name)
{
    struct node_pod *old = find_pod(s, from);
    if (old == NULL || str_equal(from, uid))
        return;
    shard_pod_gone(s, uid);
    struct node_pod *p = make_named(uid, name);
    p->node = old->node;
    p->place = old->place;
    p->deleting = old->deleting;
    p->preempted = old->preempted;
    p->started = old->started;
    p->group = old->group;
    p->group_place = old->group_place;
    p->demand = old->demand;
    p->terms = old->terms;
    p->terms_place = old->terms_place;
    p->storage = old->storage;
    p->node->pods[p->place] = p;
    p->group->pods[p->group_place] = p;
    if (p->terms != NULL)
        p->terms->pods[p->terms_place] = p;
    table_remove(&s->by_uid, old->hash, old);
    table_add(&s->by_uid, p->hash, p);
    memory_free(old);
}

/* ---- the whole ---- */

static void forget_all(struct shard *s)
{
    classes_clear(s->classes);
    dry_looks_clear(s);
    size_t at = 0;
    struct str name;
    void *value;
    while (map_next(s->by_name, &at, &name, &value)) {
        struct node_entry *e = value;
        if (e->row == NO_ROW)
            shard_node_gone(s, name);
        else
            drop_entry(s, e);
    }
    at = 0;
    while (map_next(s->images, &at, &name, &value)) {
        map_remove(s->images, name);
        free_image(value);
    }
    s->cluster_nodes = 0;
    s->scratch.kept = false;
    must(s->nodes.count == 0 && s->ghosts == 0 && s->by_uid.count == 0 && s->nominated_count == 0);
    must(atoms_count(s->atoms) == 1); /* any_ip */
}

void shard_reset(struct shard *s, const struct profile *profiles, uint32_t count)
{
    forget_all(s);
    frameworks_build(&s->frameworks, profiles, count);
}

void shard_free(struct shard **shard)
{
    struct shard *s = *shard;
    if (s == NULL)
        return;
    forget_all(s);
    classes_free(&s->classes);
    frameworks_clear(&s->frameworks);
    nodes_free(&s->nodes);
    map_free(&s->by_name);
    table_free(&s->by_uid);
    nominated_free(s);
    table_free(&s->demands.known);
    map_free(&s->images);
    pod_groups_free(&s->groups);
    term_table_free(&s->terms);
    scratch_free(&s->scratch);
    timings_free(&s->timings);
    atoms_free(&s->atoms);
    memory_free(s);
    *shard = NULL;
}

uint32_t shard_nodes(const struct shard *s)
{
    return s->nodes.count;
}

uint32_t shard_pods(const struct shard *s)
{
    return (uint32_t)s->by_uid.count;
}

uint32_t shard_ghosts(const struct shard *s)
{
    return s->ghosts;
}

uint64_t shard_dry_looked(const struct shard *s)
{
    return s->dry_looked;
}

uint32_t shard_classes(const struct shard *s, size_t *bytes)
{
    const struct classes_status status = classes_status(s->classes);
    *bytes = status.bytes;
    return status.count;
}

void shard_set_clock(struct shard *s, struct moment (*clock)(void))
{
    s->clock = clock;
}

void shard_time_plugins(struct shard *s, struct moment (*clock)(void))
{
    timings_free(&s->timings);
    s->timings = clock != NULL ? timings_new(clock) : NULL;
}

int64_t shard_filtered_ns(const struct shard *s)
{
    return s->filtered_ns;
}

void shard_mark_filtered(struct shard *s)
{
    if (s->clock != NULL)
        s->filtered_ns = s->clock().ns;
}

/* ---- runs ---- */

void shard_run(struct shard *s, const struct run_question *q)
{
    shard_time_next(s);
    classes_list(s, q);
    if (s->timing == NULL)
        return;
    q->out->timed.at = arena_take(q->arena, sizeof(struct timed_parts));
    timings_end(s->timing, &q->out->timed.at[q->out->timed.count++]);
}

void shard_run_learn(struct shard *s, const struct run_puts *puts, const bool *taken,
                     int64_t placed)
{
    classes_learn(s->classes, puts, taken, placed);
}
