/* facts: tables of pods, nodes and groups. What must stay true: there is in them what is at the API
 * server, whoever changed it. */
#include "tests/simulation/facts.h"

#include "tests/simulation/clock.h"
#include "tests/simulation/facts_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pod_fact facts_pods[PODS_MAX];
struct node_fact facts_nodes[NODES_MAX];
struct set_fact facts_sets[SETS_MAX];
static struct pod_fact expected;
static bool saw_long;
static uint32_t most_pods;

void facts_reset(void)
{
    memset(facts_pods, 0, sizeof(facts_pods));
    memset(facts_nodes, 0, sizeof(facts_nodes));
    memset(facts_sets, 0, sizeof(facts_sets));
    memset(&expected, 0, sizeof(expected));
    saw_long = false;
    most_pods = 0;
}

bool facts_saw_long(void)
{
    return saw_long;
}

void facts_expect_pod(const struct pod_fact *pod)
{
    expected = *pod;
}

struct pod_fact *facts_pod(const char *name)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && facts_same(facts_pods[i].name, name))
            return &facts_pods[i];
    return NULL;
}

struct node_fact *facts_node_at(uint32_t number)
{
    return number < NODES_MAX ? &facts_nodes[number] : NULL;
}

struct node_fact *facts_node(const char *name)
{
    struct node_fact *n =
        name[0] == 'n' ? facts_node_at((uint32_t)strtoul(name + 1, NULL, 10)) : NULL;
    return n != NULL && n->there && facts_same(n->name, name) ? n : NULL;
}

struct set_fact *facts_set(const char *name)
{
    for (uint32_t i = 0; i < SETS_MAX; i++)
        if (facts_sets[i].there && facts_same(facts_sets[i].name, name))
            return &facts_sets[i];
    return NULL;
}

uint32_t facts_pod_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < PODS_MAX; i++)
        count += facts_pods[i].there;
    return count;
}

uint32_t facts_most_pods(void)
{
    return most_pods;
}

void facts_count_anew(void)
{
    most_pods = facts_pod_count();
}

uint32_t facts_node_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < NODES_MAX; i++)
        count += facts_nodes[i].there;
    return count;
}

uint32_t facts_set_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SETS_MAX; i++)
        count += facts_sets[i].there;
    return count;
}

struct pod_fact *facts_any_pod(uint64_t n)
{
    uint32_t count = facts_pod_count();
    uint64_t left = count > 0 ? n % count : 0;
    for (uint32_t i = 0; count > 0 && i < PODS_MAX; i++)
        if (facts_pods[i].there && left-- == 0)
            return &facts_pods[i];
    return NULL;
}

struct node_fact *facts_any_node(uint64_t n)
{
    uint32_t count = facts_node_count();
    uint64_t left = count > 0 ? n % count : 0;
    for (uint32_t i = 0; count > 0 && i < NODES_MAX; i++)
        if (facts_nodes[i].there && left-- == 0)
            return &facts_nodes[i];
    return NULL;
}

static const char *name_of(const char *key)
{
    const char *slash = strchr(key, '/');
    return slash != NULL ? slash + 1 : key;
}

/* The place of the one that is gone for the longest time; NULL: all are there. */
static struct pod_fact *free_pod(void)
{
    struct pod_fact *room = NULL;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        struct pod_fact *p = &facts_pods[i];
        if (!p->there && (room == NULL || p->left_at < room->left_at))
            room = p;
    }
    return room;
}

static void pod_leaves(struct pod_fact *p)
{
    struct set_fact *set = p->set[0] != 0 ? facts_set(p->set) : NULL;
    if (set != NULL)
        set->touched = true;
    p->there = false;
    p->left_at = clock_now();
}

static void read_nomination(struct pod_fact *p, struct str json)
{
    static const char key[] = "\"nominatedNodeName\":\"";
    const char *at = memmem(json.at, json.len, key, sizeof(key) - 1);
    size_t room = at != NULL ? json.len - (size_t)(at - json.at) - (sizeof(key) - 1) : 0;
    const char *name = at != NULL ? at + sizeof(key) - 1 : "";
    const char *end = room > 0 ? memchr(name, '"', room) : NULL;
    snprintf(p->nominated, sizeof(p->nominated), "%.*s", end != NULL ? (int)(end - name) : 0, name);
    if (p->nominated[0] != 0)
        p->decided[0] = 0; /* from now on its status counts */
}

static void pod_changed(const struct model_change *c)
{
    const char *name = name_of(c->key);
    struct pod_fact *p = facts_pod(name);
    if (c->kind == 'D') {
        if (p != NULL)
            pod_leaves(p);
        return;
    }
    if (p == NULL) {
        p = free_pod();
        if (p == NULL)
            return;
        *p = expected;
        p->there = true;
        saw_long = saw_long || p->containers > 0;
        p->created_at = clock_now();
        snprintf(p->name, sizeof(p->name), "%s", name);
        snprintf(p->uid, sizeof(p->uid), "%s", c->uid);
        uint32_t count = facts_pod_count();
        most_pods = count > most_pods ? count : most_pods;
    }
    struct set_fact *set = p->set[0] != 0 ? facts_set(p->set) : NULL;
    if (p->node[0] == 0 && c->node[0] != 0) {
        p->bound_at = clock_now();
        if (set != NULL)
            set->placed++;
    }
    if (c->deleting && set != NULL)
        set->touched = true;
    snprintf(p->node, sizeof(p->node), "%s", c->node);
    snprintf(p->phase, sizeof(p->phase), "%s", c->phase);
    read_nomination(p, c->json);
    p->deleting = c->deleting;
    p->changed_at = clock_now();
}

void facts_changed(const struct model_change *c)
{
    if (strcmp(c->plural, "pods") == 0 && strncmp(c->key, "default/", 8) == 0)
        pod_changed(c);
    struct node_fact *n = strcmp(c->plural, "nodes") == 0 ? facts_node(c->key) : NULL;
    if (n != NULL && c->kind == 'D')
        n->there = false;
}

bool facts_ended(const struct pod_fact *p)
{
    return facts_same(p->phase, "Succeeded") || facts_same(p->phase, "Failed");
}

static void nominated(struct str uid, struct str node)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        struct pod_fact *p = &facts_pods[i];
        if (p->there && str_is(uid, p->uid))
            snprintf(p->decided, sizeof(p->decided), "%.*s", STR_ARG(node));
    }
}

static void tried(struct str uid, bool alone)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && str_is(uid, facts_pods[i].uid))
            facts_pods[i].alone = alone;
}

void facts_said(const struct message *m)
{
    if (m->type == MSG_pod_failed && m->pod_failed.set_nominated)
        nominated(m->pod_failed.pod.uid, m->pod_failed.nominated_node);
    else if (m->type == MSG_attempt)
        tried(m->attempt.pod.uid, true);
    for (uint32_t i = 0; m->type == MSG_gang_attempt && i < m->gang_attempt.members.count; i++)
        tried(m->gang_attempt.members.at[i].pod.uid, false);
}

void facts_forget_decided(void)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        facts_pods[i].decided[0] = 0;
}

bool facts_keeps(const struct pod_fact *p, const char *node, const struct pod_fact *from)
{
    if (!p->there || p == from || p->plain || p->node[0] != 0 || p->foreign ||
        p->priority < from->priority || (p->nominated[0] == 0 && p->decided[0] == 0))
        return false;
    bool untried = p->nominated[0] == 0 && !facts_devices_usable(p); /* the slow one */
    return facts_same(untried ? p->decided : p->nominated, node);
}

void facts_kept(const char *node, const struct pod_fact *from, int64_t *cpu, int64_t *memory,
                int64_t *pods)
{
    *cpu = *memory = *pods = 0;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (!facts_keeps(p, node, from))
            continue;
        /* One that is being bound is as large as when that was decided. */
        *cpu += p->cpu > p->cpu_before ? p->cpu : p->cpu_before;
        *memory += p->memory;
        *pods += 1;
    }
}

void facts_used(const char *node, int64_t *cpu, int64_t *memory, int64_t *pods)
{
    *cpu = *memory = *pods = 0;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (!p->there || !facts_same(p->node, node) || facts_ended(p))
            continue;
        *cpu += p->cpu;
        *memory += p->memory;
        *pods += 1;
    }
}

static bool is_loud(const char *node)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && facts_pods[i].loud && facts_same(facts_pods[i].node, node) &&
            !facts_ended(&facts_pods[i]))
            return true;
    return false;
}

bool facts_is_odd(const char *node, int64_t *since)
{
    bool odd = false;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (!p->there || !p->odd || !facts_same(p->node, node) || facts_ended(p))
            continue;
        if (!odd || p->created_at < *since)
            *since = p->created_at;
        odd = true;
    }
    return odd;
}

/* What costs more is asked last. */
static bool may_go_to(const struct pod_fact *p, const struct node_fact *n)
{
    return !n->closed && (!n->tainted || p->tolerates) && p->cpu <= n->cpu &&
           p->memory <= n->memory && n->pods > 0 &&
           (p->zone[0] == 0 || facts_same(p->zone, n->zone)) &&
           (p->host[0] == 0 || facts_same(p->host, n->name));
}

bool facts_fits(const struct pod_fact *p, const struct node_fact *n)
{
    int64_t since;
    int64_t cpu, memory, pods, kept_cpu, kept_memory, kept_pods;
    if (!may_go_to(p, n))
        return false;
    facts_used(n->name, &cpu, &memory, &pods);
    cpu += p->cpu;
    memory += p->memory;
    pods++;
    if (cpu > n->cpu || memory > n->memory || pods > n->pods)
        return false;
    facts_kept(n->name, p, &kept_cpu, &kept_memory, &kept_pods);
    return cpu + kept_cpu <= n->cpu && memory + kept_memory <= n->memory &&
           pods + kept_pods <= n->pods && !facts_is_odd(n->name, &since) &&
           !(p->shy && is_loud(n->name));
}
