/* users_late: one thing happens while a pod is being decided, and nothing behind it, so that nobody
 * but what was heard then can wake the pod; and a pod that needs another one's room, in the same
 * quiet. What must stay true: the pod fits once it has happened. */
#include "tests/simulation/facts.h"
#include "tests/simulation/users.h"

#include <stdio.h>
#include <string.h>

#define LARGE 8500 /* of cpu: for no node that was not made larger */
#define USUAL INT64_C(100)

enum late { LATE_pod, LATE_node, LATE_open, LATES };

static char name[NAME_ROOM];

static void close_all(bool closed)
{
    for (uint32_t i = 0; i < NODES_MAX; i++)
        if (facts_nodes[i].there && facts_nodes[i].closed != closed)
            (void)users_close_node(&facts_nodes[i], closed);
}

bool users_late_begin(const struct action *x)
{
    struct pod_fact p = users_pod_like(0, 1);
    enum late kind = x->a % LATES;
    if (kind == LATE_open)
        close_all(true);
    p.cpu = kind == LATE_pod ? TOO_LARGE : kind == LATE_node ? LARGE : USUAL;
    snprintf(name, sizeof(name), "%s", p.name);
    return users_create(&p);
}

static void tell_cpu(const struct node_fact *n)
{
    char text[128];
    snprintf(text, sizeof(text), "{\"status\":{\"allocatable\":{\"cpu\":\"%lldm\"}}}",
             (long long)n->cpu);
    ask("PATCH", text, "/api/v1/nodes/%s/status", n->name);
}

static void grow(struct node_fact *n)
{
    int64_t cpu, memory, pods;
    facts_used(n->name, &cpu, &memory, &pods);
    if (n->cpu > cpu + LARGE) /* it was made larger before, and less is in use now */
        n->tightened_at = clock_now();
    n->cpu = cpu + LARGE;
    tell_cpu(n);
}

void users_late_change(const struct action *x)
{
    struct pod_fact *p = facts_pod(name);
    struct node_fact *n = facts_any_node(x->b);
    if (x->a % LATES == LATE_pod && p != NULL) {
        p->cpu = USUAL;
        (void)model_resize(world_model(), name, USUAL);
    } else if (x->a % LATES == LATE_node && n != NULL) {
        grow(n);
    } else if (x->a % LATES == LATE_open && n != NULL) {
        (void)users_close_node(n, false);
    }
}

void users_late_end(const struct action *x)
{
    if (x->a % LATES == LATE_open)
        close_all(false);
    (void)users_delete_pod(name, 0);
}

/* ---- room that has to be made ---- */

static struct pod_fact victim;

/* What the node has left of cpu, if that is enough for a story and nothing else keeps pods away. */
static int64_t left_on(const struct node_fact *n)
{
    int64_t cpu, memory, pods;
    if (!n->there || n->closed || n->tainted)
        return 0;
    facts_used(n->name, &cpu, &memory, &pods);
    return n->cpu - cpu >= 3 * USUAL && n->pods - pods >= 5 ? n->cpu - cpu : 0;
}

bool users_room_begin(const struct action *x)
{
    const struct node_fact *n = NULL;
    for (uint32_t i = 0; i < NODES_MAX && n == NULL; i++)
        if (left_on(&facts_nodes[(x->b + i) % NODES_MAX]) > 0)
            n = &facts_nodes[(x->b + i) % NODES_MAX];
    if (n == NULL)
        return false;
    victim = users_pod_like(0, 1);
    victim.cpu = left_on(n);
    victim.priority = 0;
    snprintf(victim.host, sizeof(victim.host), "%s", n->name);
    return users_create(&victim);
}

bool users_room_ask(bool important)
{
    const struct pod_fact *there = facts_pod(victim.name);
    struct pod_fact p = users_pod_like(0, 1);
    if (there == NULL || (important && there->node[0] == 0))
        return false;
    p.cpu = important ? victim.cpu : USUAL;
    p.priority = important ? 1000 : 0;
    snprintf(p.host, sizeof(p.host), "%s", victim.host);
    snprintf(name, sizeof(name), "%s", p.name);
    return users_create(&p);
}

struct pod_fact users_room_like(uint32_t part)
{
    struct pod_fact p = users_pod_like(0, 1);
    p.cpu = victim.cpu / part;
    p.priority = 1000;
    snprintf(p.host, sizeof(p.host), "%s", victim.host);
    return p;
}

void users_room_tighten(uint32_t part)
{
    struct node_fact *n = facts_node(victim.host);
    if (n == NULL)
        return;
    n->tightened_at = clock_now();
    n->cpu -= victim.cpu / part;
    tell_cpu(n);
}

void users_room_resize(bool smaller)
{
    struct pod_fact *there = facts_pod(victim.name);
    int64_t cpu = smaller ? USUAL : TOO_LARGE;
    struct node_fact *n = facts_node(victim.host);
    if (there == NULL || (!smaller && there->node[0] != 0) ||
        !model_resize(world_model(), victim.name, cpu))
        return;
    there->cpu = cpu;
    if (!smaller && n != NULL) /* it may be on its way there, smaller than it is now */
        n->tightened_at = clock_now();
}

void users_room_end(void)
{
    (void)users_delete_pod(victim.name, 0);
    (void)users_delete_pod(name, 0);
}
