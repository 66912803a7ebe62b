/* share: takes in what the coordinator says of nodes and pods. The one idea: an entry for each
 * node's name with its pods, and a row of numbers for those that are known nodes. Whoever keeps
 * something by row learns from the journal (touched) what has changed.
 *
 * What must stay true: every pod in by_uid is in exactly one entry's list; an entry without pods
 * has a row; every atom that an entry or pod holds was taken once for it and is dropped with it. */
#include "scheduler/worker/share.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"

/* A row's scalar holds its resource's atom once, from the first user to the last. */
static void set_scalar(struct share *s, uint32_t row, struct str name, int64_t amount)
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

static void clear_scalars(struct share *s, uint32_t row)
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

static void set_allocatable(struct share *s, uint32_t row, const struct node *node)
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

static struct node_entry *need_entry(struct share *s, struct str name)
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

static void free_entry(struct share *s, struct node_entry *e)
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
static void account(struct share *s, const struct node_pod *pod, bool add)
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

void share_node_set(struct share *s, const struct node *node)
{
    struct node_entry *e = need_entry(s, node->name);
    if (e->row == NO_ROW) {
        nodes_add(&s->nodes, e);
        s->ghosts--;
        for (uint32_t i = 0; i < e->pod_count; i++)
            account(s, e->pods[i], true);
        s->touched.layout++;
    }
    struct node_entry old = *e;
    share_facts_set(s, e, node);
    node_facts_set(&s->nodes, e->row);
    s->touched.facts += !share_facts_same(&old, e);
    s->touched.images += !share_facts_same_images(&old, e);
    share_facts_drop(s, &old);
    set_allocatable(s, e->row, node);
    touched_add(&s->touched, e->row);
}

static void remove_pod(struct share *s, struct node_pod *pod);

static void drop_entry(struct share *s, struct node_entry *e)
{
    while (e->pod_count > 0)
        remove_pod(s, e->pods[e->pod_count - 1]);
    share_nominated_forget(s, e);
    if (e->row != NO_ROW) {
        clear_scalars(s, e->row);
        must(s->nodes.scalars[e->row].count == 0);
        nodes_remove(&s->nodes, e);
        s->ghosts++;
        s->touched.layout++;
    }
    share_facts_drop(s, e);
    node_storage_free(s->atoms, &e->storage);
    free_entry(s, e);
}

void share_node_gone(struct share *s, struct str name)
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

void share_storage(struct share *s, const struct shard_storage *told)
{
    struct node_entry *e = map_get(s->by_name, told->node_name);
    if (e == NULL || e->row == NO_ROW)
        return;
    node_storage_free(s->atoms, &e->storage);
    e->storage = node_storage_make(s->atoms, told);
    touched_add(&s->touched, e->row);
}

/* ---- pods ---- */

static struct node_pod *find_pod(const struct share *s, struct str uid)
{
    return table_get(&s->by_uid, node_pod_hash(uid), node_pod_has_uid, &uid);
}

static void remove_pod(struct share *s, struct node_pod *pod)
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

void share_pod_gone(struct share *s, struct str uid)
{
    struct node_pod *pod = find_pod(s, uid);
    if (pod != NULL)
        remove_pod(s, pod);
}

void share_pod_set(struct share *s, const struct pod *pod)
{
    share_pod_gone(s, pod->uid);
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
static void free_ports(struct share *s, const struct node_pod *p, const struct shard_pod *told)
{
    for (uint32_t i = 0; p->node->row != NO_ROW && i < told->freed.count; i++) {
        const struct host_port *port = &told->freed.at[i];
        const struct host_socket socket = {atom_find(s->atoms, port->ip),
                                           atom_find(s->atoms, port->protocol), port->port};
        nodes_free_port(&s->nodes, p->node->row, &socket);
    }
}

void share_pod_told(struct share *s, const struct shard_pod *told)
{
    const struct node_pod *old = find_pod(s, told->pod.uid);
    const struct node_entry *before = old != NULL ? old->node : NULL;
    uint32_t place = old != NULL ? old->place : 0;
    share_pod_set(s, &told->pod);
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

void share_pod_rename(struct share *s, struct str from, struct str uid, struct str name)
{
    struct node_pod *old = find_pod(s, from);
    if (old == NULL || str_equal(from, uid))
        return;
    share_pod_gone(s, uid);
    struct node_pod *p = node_pod_named(uid, name);
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

void share_start(struct share *s)
{
    s->atoms = atoms_new();
    s->by_name = map_new();
    s->images = map_new();
    pod_groups_start(&s->groups);
    term_table_start(&s->terms);
    s->any_ip = atom_take(s->atoms, STR_LITERAL("0.0.0.0"));
}

void share_clear(struct share *s)
{
    size_t at = 0;
    struct str name;
    void *value;
    while (map_next(s->by_name, &at, &name, &value)) {
        struct node_entry *e = value;
        if (e->row == NO_ROW)
            share_node_gone(s, name);
        else
            drop_entry(s, e);
    }
    share_facts_forget_images(s);
    s->cluster_nodes = 0;
    must(s->nodes.count == 0 && s->ghosts == 0 && s->by_uid.count == 0 && s->nominated_count == 0);
    must(atoms_count(s->atoms) == 1); /* any_ip */
}

void share_free(struct share *s)
{
    share_clear(s);
    nodes_free(&s->nodes);
    map_free(&s->by_name);
    table_free(&s->by_uid);
    share_nominated_free(s);
    table_free(&s->demands.known);
    map_free(&s->images);
    pod_groups_free(&s->groups);
    term_table_free(&s->terms);
    atoms_free(&s->atoms);
}
