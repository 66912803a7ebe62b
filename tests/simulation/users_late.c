/* users_late: one thing happens while a pod is being decided, and nothing behind it, so that nobody
 * but what was heard then can wake the pod. What must stay true: the pod fits once it has happened.
 */
#include "tests/simulation/facts.h"
#include "tests/simulation/users.h"

#include <stdio.h>
#include <string.h>

#define LARGE 8500 /* of cpu: for no node that was not made larger */
#define USUAL 100

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

static void grow(struct node_fact *n)
{
    char text[128];
    int64_t cpu, memory, pods;
    facts_used(n->name, &cpu, &memory, &pods);
    n->cpu = cpu + LARGE;
    snprintf(text, sizeof(text), "{\"status\":{\"allocatable\":{\"cpu\":\"%lldm\"}}}",
             (long long)n->cpu);
    ask("PATCH", text, "/api/v1/nodes/%s/status", n->name);
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
