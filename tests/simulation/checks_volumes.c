/* checks_volumes: a volume is one claim's, a claim waits for one node, and a pod is where its
 * volumes are, with no more of them than the node takes. */
#include "tests/simulation/checks_volumes.h"

#include "tests/simulation/checks.h"
#include "tests/simulation/clock.h"
#include "tests/simulation/coverage.h"

#include <stdio.h>
#include <string.h>

static struct {
    char uid[40], node[NAME_ROOM];
} before;

static const char *name_of(const struct model_change *c)
{
    const char *slash = strchr(c->key, '/');
    return slash != NULL ? slash + 1 : c->key;
}

static bool is_of(const struct model_change *c, const char *plural)
{
    return facts_same(c->plural, plural);
}

void checks_volume_before(const struct model_change *c)
{
    const struct volume_fact *v = is_of(c, "persistentvolumes") ? facts_volume(c->key) : NULL;
    const struct claim_fact *claim =
        is_of(c, "persistentvolumeclaims") ? facts_claim(name_of(c)) : NULL;
    snprintf(before.uid, sizeof(before.uid), "%s", v != NULL ? v->claim_uid : "");
    snprintf(before.node, sizeof(before.node), "%s", claim != NULL ? claim->selected : "");
}

/* None of the other writers ever changes the one into the other. */
void checks_volume_after(const struct model_change *c)
{
    const struct volume_fact *v = is_of(c, "persistentvolumes") ? facts_volume(c->key) : NULL;
    const struct claim_fact *claim =
        is_of(c, "persistentvolumeclaims") ? facts_claim(name_of(c)) : NULL;
    if (v != NULL && before.uid[0] != 0 && v->claim_uid[0] != 0 &&
        !facts_same(before.uid, v->claim_uid))
        violated("volume given twice", "%s was of the claim %s and is %s's (%s) now", v->name,
                 before.uid, v->claim, v->claim_uid);
    if (claim != NULL && before.node[0] != 0 && claim->selected[0] != 0 &&
        !facts_same(before.node, claim->selected))
        violated("volume wanted twice", "%s waited for a volume on %s and waits for one on %s",
                 claim->name, before.node, claim->selected);
}

/* ---- at a Binding ---- */

/* By a pod on a node that is there, and was seen to be: pods of a node that was deleted count no
 * more, as upstream. */
static bool is_used(const char *claim, const struct pod_fact *except, int64_t seen_by_now)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        const struct node_fact *n = facts_node(p->node);
        if (p != except && p->there && n != NULL && clock_now() - n->there_since >= seen_by_now &&
            !facts_ended(p) && facts_names_claim(p, claim))
            return true;
    }
    return false;
}

static void check_claim(const struct pod_fact *p, const struct node_fact *n, const char *name,
                        int64_t seen_by_now)
{
    const struct claim_fact *c = facts_claim_of_late(name);
    const struct volume_fact *v = c != NULL ? facts_volume_of_late(c->volume) : NULL;
    int64_t now = clock_now(), touched = c != NULL ? c->touched_at : now;
    if (v != NULL && v->touched_at > touched)
        touched = v->touched_at;
    if (now - touched < seen_by_now)
        return;
    /* Once it is bound nobody gives it another one: the binder has seen this one. */
    bool given = now - c->given_at < seen_by_now || (v != NULL && now - v->given_at < seen_by_now);
    if (given && (!c->bound || v == NULL))
        return;
    if (!c->there || !c->bound || v == NULL || !v->there)
        violated("volume not bound", "%s is on %s, and its claim %s is %s", p->name, n->name, name,
                 !c->there   ? "not there"
                 : !c->bound ? "not bound"
                             : "bound to a volume that is not there");
    if (!facts_volume_reaches(v, n))
        violated("volume elsewhere", "%s is on %s, and %s of its claim %s is in \"%s%s\"", p->name,
                 n->name, v->name, name, v->node, v->zone);
    if (c->alone && is_used(name, p, seen_by_now))
        violated("claim used twice", "%s is on %s, and another pod has its claim %s, for one alone",
                 p->name, n->name, name);
    cover("pod bound with", c->class);
}

/* A claim of somebody on the node is another one since a moment ago, and was not seen yet: with
 * which volume it counts was decided by the former. */
static bool claims_are_new(const struct node_fact *n, int64_t seen_by_now)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (!p->there || !facts_same(p->node, n->name))
            continue;
        for (uint32_t k = 0; k < POD_VOLUMES; k++) {
            const struct claim_fact *c = facts_claim_of_late(p->volumes[k]);
            if (p->volumes[k][0] != 0 && (c == NULL || clock_now() - c->touched_at < seen_by_now))
                return true;
        }
    }
    return false;
}

void checks_volumes_bound(const struct pod_fact *p, int64_t seen_by_now)
{
    const struct node_fact *n = facts_node(p->node);
    if (n == NULL || !facts_has_volumes(p))
        return;
    for (uint32_t i = 0; i < POD_VOLUMES; i++)
        if (p->volumes[i][0] != 0)
            check_claim(p, n, p->volumes[i], seen_by_now);
    uint32_t attached = facts_attached(n->name, NULL);
    if (attached == n->attachable)
        cover("pod bound with", "the last volume of a node");
    bool adds = attached > facts_attached(n->name, p); /* else the node takes it, full as it is */
    if (adds && attached > n->attachable && clock_now() - n->tightened_at >= seen_by_now &&
        !claims_are_new(n, seen_by_now))
        violated("too many volumes", "%s has %u volumes, and takes %u", n->name, attached,
                 n->attachable);
}

/* ---- in a calm ---- */

const struct pod_fact *checks_volumes_pending(const struct node_fact **node)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (!p->there || !facts_has_volumes(p) || p->node[0] != 0 || p->deleting || p->gated ||
            p->foreign || facts_ended(p))
            continue;
        for (uint32_t n = 0; n < NODES_MAX; n++) {
            *node = &facts_nodes[n];
            if ((*node)->there && facts_fits(p, *node) && facts_volumes_fit(p, *node))
                return p;
        }
    }
    return NULL;
}

static bool has_claim_bound_since(const struct node_fact *n, int64_t since)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        for (uint32_t k = 0; p->there && facts_same(p->node, n->name) && k < POD_VOLUMES; k++) {
            const struct claim_fact *c = facts_claim(p->volumes[k]);
            if (c != NULL && c->bound_at >= since)
                return true;
        }
    }
    return false;
}

bool checks_volumes_counted_twice(int64_t since)
{
    const struct node_fact *n;
    const struct pod_fact *p = checks_volumes_pending(&n);
    return p != NULL && facts_attached_with(n->name, p) == n->attachable &&
           has_claim_bound_since(n, since);
}

void checks_volumes_known(void)
{
    static const char *const names[] = {"immediate", "later", "zonal",
                                        "roomy",     "local", "the last volume of a node"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        coverage_known("pod bound with", names[i]);
}
