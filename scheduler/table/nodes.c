/* nodes: keeps the columns in step with the pods on each node. The one idea: every change is an
 * addition or a subtraction on one row. What must stay true: requested, scored and pods of a row
 * are the sums over the entry's pods, its balance and marks follow from them, and a row holds no
 * scalar that is zero on both sides. */
#include "scheduler/table/nodes.h"

#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "proto/base/uuid.h"
#include "scheduler/table/kernels.h"
#include "scheduler/table/pod_demands.h"
#include "scheduler/table/wrap.h"

#include <math.h>
#include <string.h>

#define ROOM_MIN 16

enum effect effect_of(struct str name)
{
    if (str_is(name, "NoSchedule"))
        return EFFECT_no_schedule;
    if (str_is(name, "PreferNoSchedule"))
        return EFFECT_prefer_no_schedule;
    if (str_is(name, "NoExecute"))
        return EFFECT_no_execute;
    return EFFECT_other;
}

#define COLUMN_COUNT (2 * RESOURCE_COUNT + SCORED_COUNT + 2)

/* The number columns one after the other, for what is done to all of them alike. */
static int64_t **column(struct nodes *n, int i)
{
    if (i < RESOURCE_COUNT)
        return &n->allocatable[i];
    if (i < 2 * RESOURCE_COUNT)
        return &n->requested[i - RESOURCE_COUNT];
    if (i < 2 * RESOURCE_COUNT + SCORED_COUNT)
        return &n->scored[i - 2 * RESOURCE_COUNT];
    return i == COLUMN_COUNT - 1 ? &n->pods : &n->pods_allowed;
}

static void grow(struct nodes *n)
{
    must(n->room < UINT32_MAX / 2);
    n->room = n->room == 0 ? ROOM_MIN : n->room * 2;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        int64_t **c = column(n, i);
        *c = memory_resize(*c, n->room * sizeof(**c));
    }
    n->balance = memory_resize(n->balance, n->room);
    n->marks = memory_resize(n->marks, n->room);
    n->scalars = memory_resize(n->scalars, n->room * sizeof(*n->scalars));
    n->ports = memory_resize(n->ports, n->room * sizeof(*n->ports));
    n->entry = memory_resize(n->entry, n->room * sizeof(struct node_entry *));
    node_facts_reserve(&n->facts, n->room);
}

/* The way the rule computes it: what is used beyond what there is counts as all of it. */
static double used_part(const struct nodes *n, int resource, uint32_t row)
{
    double part = (double)n->requested[resource][row] / (double)n->allocatable[resource][row];
    return part > 1 ? 1 : part;
}

static uint8_t balance_of(const struct nodes *n, uint32_t row)
{
    double off = 0;
    if (n->allocatable[RESOURCE_cpu][row] != 0 && n->allocatable[RESOURCE_memory][row] != 0)
        off = fabs((used_part(n, RESOURCE_cpu, row) - used_part(n, RESOURCE_memory, row)) / 2);
    double balance = (1 - off) * 100;
    return balance >= 0 && balance <= 100 ? (uint8_t)balance : 0;
}

static uint8_t marks_of(const struct nodes *n, uint32_t row)
{
    uint64_t all = 0;
    for (int i = 0; i < RESOURCE_COUNT; i++)
        all |= (uint64_t)n->allocatable[i][row] | (uint64_t)n->requested[i][row];
    for (int i = 0; i < SCORED_COUNT; i++)
        all |= (uint64_t)n->scored[i][row];
    unsigned marks = n->pods[row] + 1 > n->pods_allowed[row] ? MARK_full : 0;
    return (uint8_t)(marks | (all < KERNEL_EXACT / 2 ? 0 : MARK_inexact));
}

static void set_marks(struct nodes *n, uint32_t row, uint8_t marks)
{
    n->inexact -= (n->marks[row] & MARK_inexact) != 0;
    n->inexact += (marks & MARK_inexact) != 0;
    n->marks[row] = marks;
}

void nodes_offer(struct nodes *n, uint32_t row)
{
    if (n->balance == NULL)
        return;
    n->balance[row] = balance_of(n, row);
    set_marks(n, row, marks_of(n, row));
}

uint32_t nodes_add(struct nodes *n, struct node_entry *entry)
{
    must(entry->row == NO_ROW);
    if (n->count == n->room)
        grow(n);
    uint32_t row = n->count++;
    for (int i = 0; i < COLUMN_COUNT; i++)
        (*column(n, i))[row] = 0;
    n->balance[row] = 100;
    n->marks[row] = marks_of(n, row);
    n->scalars[row] = (struct scalars){0};
    n->ports[row] = (struct ports){0};
    n->entry[row] = entry;
    node_facts_add(&n->facts, row);
    entry->row = row;
    return row;
}

void nodes_remove(struct nodes *n, struct node_entry *entry)
{
    uint32_t row = entry->row, last = n->count - 1;
    must(row < n->count && n->entry[row] == entry);
    memory_free(n->scalars[row].at);
    memory_free(n->ports[row].at);
    node_facts_remove(&n->facts, row, last);
    n->inexact -= (n->marks[row] & MARK_inexact) != 0;
    if (row != last) {
        for (int i = 0; i < COLUMN_COUNT; i++)
            (*column(n, i))[row] = (*column(n, i))[last];
        n->balance[row] = n->balance[last];
        n->marks[row] = n->marks[last];
        n->scalars[row] = n->scalars[last];
        n->ports[row] = n->ports[last];
        n->entry[row] = n->entry[last];
        n->entry[row]->row = row;
    }
    entry->row = NO_ROW;
    n->count--;
}

void nodes_free(struct nodes *n)
{
    for (uint32_t row = 0; row < n->count; row++) {
        memory_free(n->scalars[row].at);
        memory_free(n->ports[row].at);
        node_facts_remove(&n->facts, row, row);
    }
    node_facts_free(&n->facts);
    for (int i = 0; i < COLUMN_COUNT; i++)
        memory_free(*column(n, i));
    memory_free(n->balance);
    memory_free(n->marks);
    memory_free(n->scalars);
    memory_free(n->ports);
    memory_free(n->entry);
    *n = (struct nodes){0};
}

unsigned trouble_of(struct str condition, struct str status)
{
    static const struct {
        const char *condition, *fine, *bad; /* any status but fine; or only the bad one */
        unsigned bit;
    } table[] = {
        {"Ready", "True", NULL, TROUBLE_not_ready},
        {"NetworkUnavailable", "False", NULL, TROUBLE_no_network},
        {"OutOfDisk", "False", NULL, TROUBLE_out_of_disk},
        {"MemoryPressure", NULL, "True", TROUBLE_memory_pressure},
        {"DiskPressure", NULL, "True", TROUBLE_disk_pressure},
        {"PIDPressure", NULL, "True", TROUBLE_pid_pressure},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (str_is(condition, table[i].condition))
            return (table[i].bad == NULL ? !str_is(status, table[i].fine)
                                         : str_is(status, table[i].bad))
                       ? table[i].bit
                       : 0;
    return 0;
}

uint32_t label_value(const struct node_label *labels, uint32_t count, uint32_t key)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (labels[middle].key == key)
            return labels[middle].value;
        if (labels[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static struct scalar *find_scalar(const struct nodes *n, uint32_t row, uint32_t resource)
{
    struct scalars *list = &n->scalars[row];
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i].resource == resource)
            return &list->at[i];
    return NULL;
}

const struct scalar *nodes_scalar(const struct nodes *n, uint32_t row, uint32_t resource)
{
    return find_scalar(n, row, resource);
}

static struct scalar *need_scalar(struct nodes *n, uint32_t row, uint32_t resource)
{
    struct scalar *found = find_scalar(n, row, resource);
    if (found != NULL)
        return found;
    struct scalars *list = &n->scalars[row];
    if (list->count == list->room) {
        list->room = list->room == 0 ? 4 : list->room * 2;
        list->at = memory_resize(list->at, list->room * sizeof(*list->at));
    }
    list->at[list->count] = (struct scalar){.resource = resource};
    return &list->at[list->count++];
}

static void drop_if_zero(struct nodes *n, uint32_t row, struct scalar *s)
{
    struct scalars *list = &n->scalars[row];
    if (s->allocatable == 0 && s->requested == 0)
        *s = list->at[--list->count];
}

void nodes_set_scalar(struct nodes *n, uint32_t row, uint32_t resource, int64_t allocatable)
{
    struct scalar *s = need_scalar(n, row, resource);
    s->allocatable = allocatable;
    drop_if_zero(n, row, s);
}

static int64_t find_port(const struct ports *list, const struct host_socket *wanted)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct host_socket *p = &list->at[i];
        if (p->port == wanted->port && p->ip == wanted->ip && p->protocol == wanted->protocol)
            return i;
    }
    return -1;
}

static void add_port(struct ports *list, const struct host_socket *port)
{
    if (find_port(list, port) >= 0)
        return;
    if (list->count == list->room) {
        list->room = list->room == 0 ? 4 : list->room * 2;
        list->at = memory_resize(list->at, list->room * sizeof(*list->at));
    }
    list->at[list->count++] = *port;
}

void nodes_free_port(struct nodes *n, uint32_t row, const struct host_socket *port)
{
    struct ports *list = &n->ports[row];
    int64_t at = find_port(list, port);
    if (at >= 0)
        list->at[at] = list->at[--list->count];
}

void nodes_add_pod(struct nodes *n, uint32_t row, const struct node_pod *pod)
{
    for (int i = 0; i < RESOURCE_COUNT; i++)
        n->requested[i][row] = wrap_add(n->requested[i][row], pod->demand->usage[i]);
    for (int i = 0; i < SCORED_COUNT; i++)
        n->scored[i][row] = wrap_add(n->scored[i][row], pod->demand->scored[i]);
    for (uint32_t i = 0; i < pod->demand->scalar_count; i++) {
        struct scalar *s = need_scalar(n, row, pod->demand->scalars[i].resource);
        s->requested = wrap_add(s->requested, pod->demand->scalars[i].requested);
        drop_if_zero(n, row, s);
    }
    for (uint32_t i = 0; i < pod->demand->port_count; i++)
        add_port(&n->ports[row], &pod->demand->ports[i]);
    n->pods[row]++;
    nodes_offer(n, row);
}

void nodes_remove_pod(struct nodes *n, uint32_t row, const struct node_pod *pod)
{
    must(n->pods[row] > 0);
    for (int i = 0; i < RESOURCE_COUNT; i++)
        n->requested[i][row] = wrap_sub(n->requested[i][row], pod->demand->usage[i]);
    for (int i = 0; i < SCORED_COUNT; i++)
        n->scored[i][row] = wrap_sub(n->scored[i][row], pod->demand->scored[i]);
    for (uint32_t i = 0; i < pod->demand->scalar_count; i++) {
        struct scalar *s = need_scalar(n, row, pod->demand->scalars[i].resource);
        s->requested = wrap_sub(s->requested, pod->demand->scalars[i].requested);
        drop_if_zero(n, row, s);
    }
    for (uint32_t i = 0; i < pod->demand->port_count; i++)
        nodes_free_port(n, row, &pod->demand->ports[i]);
    n->pods[row]--;
    nodes_offer(n, row);
}

static void copy_scalars(struct scalars *to, const struct scalars *from)
{
    if (to->room < from->count) {
        to->room = from->count;
        to->at = memory_resize(to->at, to->room * sizeof(*to->at));
    }
    if (from->count > 0)
        memcpy(to->at, from->at, from->count * sizeof(*to->at));
    to->count = from->count;
}

static void copy_ports(struct ports *to, const struct ports *from)
{
    if (to->room < from->count) {
        to->room = from->count;
        to->at = memory_resize(to->at, to->room * sizeof(*to->at));
    }
    if (from->count > 0)
        memcpy(to->at, from->at, from->count * sizeof(*to->at));
    to->count = from->count;
}

static void reserve_pods(struct row_copy *copy, uint32_t room)
{
    if (copy->pod_room >= room)
        return;
    copy->pod_room = room * 2;
    copy->pods = memory_resize(copy->pods, copy->pod_room * sizeof(struct node_pod *));
}

static void copy_pods(struct row_copy *copy, const struct node_entry *from)
{
    reserve_pods(copy, from->pod_count + 1);
    if (from->pod_count > 0)
        memcpy(copy->pods, from->pods, from->pod_count * sizeof(struct node_pod *));
    copy->shadow.pods = copy->pods;
}

void row_copy_make(struct row_copy *copy, const struct nodes *from, uint32_t row)
{
    struct nodes source = *from; /* column() wants it writable; only its pointers are read */
    copy->nodes = (struct nodes){.count = 1, .room = 1};
    for (int i = 0; i < COLUMN_COUNT; i++) {
        copy->numbers[i] = (*column(&source, i))[row];
        *column(&copy->nodes, i) = &copy->numbers[i];
    }
    copy_scalars(&copy->scalars, &from->scalars[row]);
    copy_ports(&copy->ports, &from->ports[row]);
    copy->shadow = *from->entry[row];
    copy->entry = &copy->shadow;
    copy_pods(copy, from->entry[row]);
    copy->nodes.scalars = &copy->scalars;
    copy->nodes.ports = &copy->ports;
    copy->nodes.entry = &copy->entry;
}

void row_copy_add(struct row_copy *copy, struct node_pod *pod)
{
    nodes_add_pod(&copy->nodes, 0, pod);
    reserve_pods(copy, copy->shadow.pod_count + 1);
    copy->shadow.pods = copy->pods;
    copy->shadow.pods[copy->shadow.pod_count++] = pod;
}

void row_copy_remove(struct row_copy *copy, const struct node_pod *pod)
{
    struct node_entry *e = &copy->shadow;
    uint32_t i = 0;
    while (i < e->pod_count && e->pods[i] != pod)
        i++;
    must(i < e->pod_count);
    e->pods[i] = e->pods[--e->pod_count];
    nodes_remove_pod(&copy->nodes, 0, pod);
}

void row_copy_free(struct row_copy *copy)
{
    memory_free(copy->pods);
    memory_free(copy->scalars.at);
    memory_free(copy->ports.at);
    *copy = (struct row_copy){0};
}

/* ---- pods ---- */

struct str node_pod_uid(const struct node_pod *pod, struct arena *a)
{
    if (!pod->packed)
        return (struct str){pod->text, pod->uid_len};
    char *text = arena_take(a, UUID_TEXT);
    uuid_print((const uint8_t *)pod->text, text);
    return (struct str){text, UUID_TEXT};
}

struct str node_pod_name(const struct node_pod *pod)
{
    return (struct str){pod->text + pod->uid_len, pod->name_len};
}
