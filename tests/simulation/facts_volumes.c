/* facts_volumes: tables of claims and volumes, read from each change of theirs. What must stay
 * true: there is in them what is at the API server, whoever changed it. */
#include "tests/simulation/facts_volumes.h"

#include "proto/base/must.h"
#include "proto/kube/documents/json.h"
#include "tests/simulation/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_AGO (-3600 * SECOND)

struct claim_fact facts_claims[CLAIMS_MAX];
struct volume_fact facts_volumes[VOLUMES_MAX];
int64_t facts_room[ZONES];

void facts_volumes_reset(void)
{
    memset(facts_claims, 0, sizeof(facts_claims));
    memset(facts_volumes, 0, sizeof(facts_volumes));
    memset(facts_room, 0, sizeof(facts_room));
}

struct claim_fact *facts_claim(const char *name)
{
    for (uint32_t i = 0; i < CLAIMS_MAX; i++)
        if (facts_claims[i].there && facts_same(facts_claims[i].name, name))
            return &facts_claims[i];
    return NULL;
}

const struct claim_fact *facts_claim_of_late(const char *name)
{
    const struct claim_fact *there = facts_claim(name), *newest = NULL;
    for (uint32_t i = 0; i < CLAIMS_MAX; i++)
        if (facts_same(facts_claims[i].name, name) &&
            (newest == NULL || facts_claims[i].touched_at > newest->touched_at))
            newest = &facts_claims[i];
    return there != NULL ? there : newest;
}

const struct volume_fact *facts_volume_of_late(const char *name)
{
    const struct volume_fact *there = facts_volume(name), *newest = NULL;
    for (uint32_t i = 0; i < VOLUMES_MAX; i++)
        if (facts_same(facts_volumes[i].name, name) &&
            (newest == NULL || facts_volumes[i].touched_at > newest->touched_at))
            newest = &facts_volumes[i];
    return there != NULL ? there : newest;
}

struct volume_fact *facts_volume(const char *name)
{
    for (uint32_t i = 0; i < VOLUMES_MAX; i++)
        if (facts_volumes[i].there && facts_same(facts_volumes[i].name, name))
            return &facts_volumes[i];
    return NULL;
}

uint32_t facts_claim_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CLAIMS_MAX; i++)
        count += facts_claims[i].there;
    return count;
}

uint32_t facts_volume_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < VOLUMES_MAX; i++)
        count += facts_volumes[i].there;
    return count;
}

struct claim_fact *facts_any_claim(uint64_t n)
{
    for (uint32_t i = 0; i < CLAIMS_MAX; i++)
        if (facts_claims[(n + i) % CLAIMS_MAX].there)
            return &facts_claims[(n + i) % CLAIMS_MAX];
    return NULL;
}

struct volume_fact *facts_any_volume(uint64_t n)
{
    for (uint32_t i = 0; i < VOLUMES_MAX; i++)
        if (facts_volumes[(n + i) % VOLUMES_MAX].there)
            return &facts_volumes[(n + i) % VOLUMES_MAX];
    return NULL;
}

/* ---- reading ---- */

#define TEXT(to, json, path) text_at(to, sizeof(to), json, path)

static void text_at(char *to, size_t room, const struct kube_json *json, const char *path)
{
    struct str text = kube_json_text(kube_json_path(json, path));
    snprintf(to, room, "%.*s", STR_ARG(text));
}

static const struct kube_json *annotation(const struct kube_json *json, const char *name)
{
    return kube_json_get(kube_json_path(json, "metadata.annotations"), name);
}

static int64_t amount(const struct kube_json *json, const char *path)
{
    char text[24];
    TEXT(text, json, path);
    return strtoll(text, NULL, 10); /* all say Gi */
}

static bool is_alone(const struct kube_json *json)
{
    const struct kube_json *modes = kube_json_path(json, "spec.accessModes");
    return str_is(kube_json_text(kube_json_first(modes)), "ReadWriteOncePod");
}

static void read_claim(struct claim_fact *c, const struct kube_json *json)
{
    TEXT(c->uid, json, "metadata.uid");
    TEXT(c->class, json, "spec.storageClassName");
    TEXT(c->volume, json, "spec.volumeName");
    struct str selected = kube_json_text(annotation(json, "volume.kubernetes.io/selected-node"));
    snprintf(c->selected, sizeof(c->selected), "%.*s", STR_ARG(selected));
    c->bound = c->volume[0] != 0 && annotation(json, "pv.kubernetes.io/bind-completed") != NULL;
    c->lost = str_is(kube_json_text(kube_json_path(json, "status.phase")), "Lost");
    c->alone = is_alone(json);
    c->size = amount(json, "spec.resources.requests.storage");
}

static const struct kube_json *first_expression(const struct kube_json *json)
{
    const struct kube_json *terms =
        kube_json_path(json, "spec.nodeAffinity.required.nodeSelectorTerms");
    return kube_json_first(kube_json_get(kube_json_first(terms), "matchExpressions"));
}

static void read_volume(struct volume_fact *v, const struct kube_json *json)
{
    TEXT(v->class, json, "spec.storageClassName");
    TEXT(v->phase, json, "status.phase");
    TEXT(v->claim, json, "spec.claimRef.name");
    TEXT(v->claim_uid, json, "spec.claimRef.uid");
    TEXT(v->handle, json, "spec.csi.volumeHandle");
    v->by_controller = annotation(json, "pv.kubernetes.io/bound-by-controller") != NULL;
    v->alone = is_alone(json);
    v->size = amount(json, "spec.capacity.storage");
    const struct kube_json *where = first_expression(json);
    struct str key = kube_json_text(kube_json_get(where, "key"));
    struct str value = kube_json_text(kube_json_first(kube_json_get(where, "values")));
    v->node[0] = v->zone[0] = 0;
    if (str_is(key, "kubernetes.io/hostname"))
        snprintf(v->node, sizeof(v->node), "%.*s", STR_ARG(value));
    else
        snprintf(v->zone, sizeof(v->zone), "%.*s", STR_ARG(value));
}

/* The place of the one that is gone for the longest time; NULL: all are there. */
static struct claim_fact *new_claim(const char *name)
{
    struct claim_fact *room = NULL;
    for (uint32_t i = 0; i < CLAIMS_MAX; i++)
        if (!facts_claims[i].there &&
            (room == NULL || facts_claims[i].touched_at < room->touched_at))
            room = &facts_claims[i];
    bool anew = facts_claim_of_late(name) != NULL;
    if (room == NULL)
        return NULL;
    *room = (struct claim_fact){
        .touched_at = anew ? clock_now() : LONG_AGO, .given_at = LONG_AGO, .bound_at = LONG_AGO};
    snprintf(room->name, sizeof(room->name), "%s", name);
    return room;
}

static struct volume_fact *new_volume(const char *name)
{
    struct volume_fact *room = NULL;
    for (uint32_t i = 0; i < VOLUMES_MAX; i++)
        if (!facts_volumes[i].there &&
            (room == NULL || facts_volumes[i].touched_at < room->touched_at))
            room = &facts_volumes[i];
    if (room == NULL)
        return NULL;
    *room = (struct volume_fact){.touched_at = LONG_AGO, .given_at = LONG_AGO};
    snprintf(room->name, sizeof(room->name), "%s", name);
    return room;
}

static void claim_changed(const struct model_change *change, const char *name)
{
    struct claim_fact *c = facts_claim(name);
    struct arena a = {0};
    c = c != NULL ? c : new_claim(name);
    if (c == NULL)
        return;
    if (change->kind == 'D' || change->deleting != c->deleting)
        c->touched_at = clock_now();
    bool unbound = c->volume[0] == 0;
    struct kube_json *json = kube_json_parse(change->json, NULL, &a);
    read_claim(c, json);
    if (unbound && c->volume[0] != 0)
        c->bound_at = clock_now();
    kube_json_free(&json);
    arena_free(&a);
    c->deleting = change->deleting;
    c->there = change->kind != 'D';
}

static void volume_changed(const struct model_change *change)
{
    struct volume_fact *v = facts_volume(change->key);
    struct arena a = {0};
    v = v != NULL ? v : new_volume(change->key);
    if (v == NULL)
        return;
    if (change->kind == 'D' || change->deleting != v->deleting)
        v->touched_at = clock_now();
    struct kube_json *json = kube_json_parse(change->json, NULL, &a);
    read_volume(v, json);
    kube_json_free(&json);
    arena_free(&a);
    v->deleting = change->deleting;
    v->there = change->kind != 'D';
}

void facts_volumes_changed(const struct model_change *change)
{
    const char *slash = strchr(change->key, '/');
    if (strcmp(change->plural, "persistentvolumeclaims") == 0)
        claim_changed(change, slash != NULL ? slash + 1 : change->key);
    else if (strcmp(change->plural, "persistentvolumes") == 0)
        volume_changed(change);
}

/* ---- what follows from it ---- */

bool facts_volume_suits(const struct volume_fact *v, const struct claim_fact *c)
{
    return facts_same(v->class, c->class) && v->size >= c->size && v->alone == c->alone;
}

struct volume_fact *facts_volume_for(const struct claim_fact *claim)
{
    struct volume_fact *found = NULL;
    for (uint32_t i = 0; i < VOLUMES_MAX; i++) {
        struct volume_fact *v = &facts_volumes[i];
        if (v->there && facts_same(v->claim, claim->name) &&
            (v->claim_uid[0] == 0 || facts_same(v->claim_uid, claim->uid)) &&
            (found == NULL || facts_volume_suits(v, claim)))
            found = v;
    }
    return found;
}

bool facts_names_claim(const struct pod_fact *p, const char *claim)
{
    for (uint32_t i = 0; i < POD_VOLUMES; i++)
        if (facts_same(p->volumes[i], claim))
            return true;
    return false;
}

bool facts_claim_named(const char *claim)
{
    for (uint32_t i = 0; i < PODS_MAX; i++)
        if (facts_pods[i].there && facts_names_claim(&facts_pods[i], claim))
            return true;
    return false;
}

bool facts_claim_used(const char *claim, const struct pod_fact *except)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (p != except && p->there && p->node[0] != 0 && !facts_ended(p) &&
            facts_names_claim(p, claim))
            return true;
    }
    return false;
}

bool facts_has_volumes(const struct pod_fact *pod)
{
    return pod->volumes[0][0] != 0;
}

bool facts_volume_reaches(const struct volume_fact *v, const struct node_fact *n)
{
    return (v->node[0] == 0 || facts_same(v->node, n->name)) &&
           (v->zone[0] == 0 || facts_same(v->zone, n->zone));
}

/* A claim counts by its volume, and without one by itself; local volumes and those of the driver
 * without a limit do not. */
static bool counts(const struct claim_fact *c, char *handle, size_t room)
{
    const struct volume_fact *v = c->volume[0] != 0 ? facts_volume(c->volume) : NULL;
    if (strcmp(c->class, "local") == 0 || strcmp(c->class, "roomy") == 0)
        return false;
    snprintf(handle, room, "%s", v != NULL ? v->handle : c->name);
    return handle[0] != 0;
}

struct handles {
    uint32_t count;
    char at[PODS_MAX * POD_VOLUMES][64];
};

static void add_handles(struct handles *h, const struct pod_fact *p)
{
    for (uint32_t i = 0; i < POD_VOLUMES; i++) {
        const struct claim_fact *c = p->volumes[i][0] != 0 ? facts_claim(p->volumes[i]) : NULL;
        bool known = c == NULL || !counts(c, h->at[h->count], sizeof(h->at[0]));
        for (uint32_t k = 0; !known && k < h->count; k++)
            known = facts_same(h->at[k], h->at[h->count]);
        h->count += !known;
    }
}

static uint32_t attached(const char *node, const struct pod_fact *except,
                         const struct pod_fact *extra)
{
    static struct handles h;
    h.count = 0;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        bool is_there = p->there && facts_same(p->node, node) && !facts_ended(p);
        if ((p != except && is_there) || (extra != NULL && facts_keeps(p, node, extra)))
            add_handles(&h, p);
    }
    if (extra != NULL)
        add_handles(&h, extra);
    return h.count;
}

uint32_t facts_attached(const char *node, const struct pod_fact *except)
{
    return attached(node, except, NULL);
}

uint32_t facts_attached_with(const char *node, const struct pod_fact *pod)
{
    return attached(node, NULL, pod);
}

/* A free volume for it at the node, other than used. */
static struct volume_fact *free_volume(const struct claim_fact *c, const struct node_fact *n,
                                       const struct volume_fact *used)
{
    for (uint32_t i = 0; i < VOLUMES_MAX; i++) {
        struct volume_fact *v = &facts_volumes[i];
        if (v->there && !v->deleting && v != used && v->claim[0] == 0 && facts_volume_suits(v, c) &&
            strcmp(v->phase, "Available") == 0 && facts_volume_reaches(v, n))
            return v;
    }
    return NULL;
}

bool facts_volume_can_be_made(const struct claim_fact *c, const struct node_fact *n)
{
    if (strcmp(c->class, "roomy") == 0)
        return facts_room[n->zone[1] == '1'] >= c->size;
    return strcmp(c->class, "later") == 0 ||
           (strcmp(c->class, "zonal") == 0 && strcmp(n->zone, "z0") == 0);
}

/* taken: the volume that it would get, if that is there already. */
static bool claim_fits(const struct claim_fact *c, const struct node_fact *n,
                       const struct volume_fact **taken)
{
    const struct volume_fact *reserved = facts_volume_for(c);
    if (c->bound) {
        reserved = facts_volume(c->volume);
        return reserved != NULL && facts_volume_reaches(reserved, n);
    }
    if (c->volume[0] != 0 || strcmp(c->class, "immediate") == 0)
        return false;
    if (reserved != NULL) /* the controller is about to bind the two */
        return facts_volume_suits(reserved, c) && facts_volume_reaches(reserved, n) &&
               strcmp(reserved->phase, "Available") == 0;
    if (c->selected[0] != 0)
        return facts_same(c->selected, n->name);
    *taken = free_volume(c, n, *taken);
    return *taken != NULL || facts_volume_can_be_made(c, n);
}

bool facts_volumes_fit(const struct pod_fact *pod, const struct node_fact *node)
{
    const struct volume_fact *taken = NULL;
    for (uint32_t i = 0; i < POD_VOLUMES; i++) {
        const struct claim_fact *c = facts_claim(pod->volumes[i]);
        if (pod->volumes[i][0] == 0)
            continue;
        if (c == NULL || c->deleting || !claim_fits(c, node, &taken) ||
            (c->alone && facts_claim_used(c->name, pod)))
            return false;
    }
    return attached(node->name, NULL, pod) <= node->attachable;
}
