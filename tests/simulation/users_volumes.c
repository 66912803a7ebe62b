/* users_volumes: people and their claims, and what a cluster has of storage. Classes: `immediate`
 * and `later` (for the first consumer), `zonal` (later, in one zone only), `roomy` (later, where
 * the driver has room) and `local` (volumes that somebody made on nodes, and nobody provisions). */
#include "tests/simulation/controllers.h"
#include "tests/simulation/facts_volumes.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/users.h"

#include <stdio.h>
#include <string.h>

#define CLAIMS  "/api/v1/namespaces/default/persistentvolumeclaims"
#define VOLUMES "/api/v1/persistentvolumes"
#define STORAGE "/apis/storage.k8s.io/v1/"
#define LOCALS  3 /* on a node at first */
#define LOCAL   1 /* of classes */
#define RACERS  4 /* pods at a time */

static const char *const classes[] = {"later", "local", "immediate", "zonal", "roomy"};

static uint32_t names;

/* ---- claims ---- */

static bool create_claim(const char *name, uint32_t class, uint32_t a)
{
    char text[400];
    bool alone = strcmp(classes[class % 5], "local") != 0 && a % 9 == 0;
    if (facts_claim_count() > CLAIMS_MAX - 8)
        return false;
    snprintf(text, sizeof(text),
             "{\"kind\":\"PersistentVolumeClaim\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
             "\"%s\",\"finalizers\":[\"kubernetes.io/pvc-protection\"]},\"spec\":{"
             "\"storageClassName\":\"%s\",\"accessModes\":[\"%s\"],\"resources\":{\"requests\":{"
             "\"storage\":\"%uGi\"}}}}",
             name, classes[class % 5], alone ? "ReadWriteOncePod" : "ReadWriteOnce", 1 + a / 9 % 3);
    return ask("POST", text, CLAIMS) == 201;
}

void users_add_volumes(struct buffer *b, const struct pod_fact *p)
{
    if (!facts_has_volumes(p))
        return;
    buffer_add_text(b, "\"volumes\":[");
    for (uint32_t i = 0; i < POD_VOLUMES; i++)
        if (p->volumes[i][0] != 0)
            buffer_print(b, "%s{\"name\":\"v%u\",\"persistentVolumeClaim\":{\"claimName\":\"%s\"}}",
                         i > 0 ? "," : "", i, p->volumes[i]);
    buffer_add_text(b, "],");
}

/* Some share a claim with others, some have two, some come before their claims. */
static bool create_volume_pod(const struct action *x)
{
    if (!world_traits()->volumes)
        return false;
    struct pod_fact p = users_pod_like(x->c % 4, 1);
    uint32_t count = x->b % 5 == 0 ? 2 : 1;
    const struct claim_fact *shared = x->b / 5 % 5 == 0 ? facts_any_claim(x->c) : NULL;
    p.plain = false;
    for (uint32_t i = 0; i < count; i++)
        snprintf(p.volumes[i], NAME_ROOM, "v%u", names++);
    if (shared != NULL)
        snprintf(p.volumes[0], NAME_ROOM, "%s", shared->name);
    for (uint32_t i = 0; i < count; i++)
        if (x->b / 25 % 8 > 0 && facts_claim(p.volumes[i]) == NULL)
            create_claim(p.volumes[i], x->a + i, x->a / 5);
    return users_create(&p);
}

static bool create_missing_claim(const struct action *x)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[(x->a + i) % PODS_MAX];
        for (uint32_t k = 0; p->there && p->node[0] == 0 && k < POD_VOLUMES; k++)
            if (p->volumes[k][0] != 0 && facts_claim(p->volumes[k]) == NULL)
                return create_claim(p->volumes[k], x->b, x->b / 5);
    }
    return false;
}

static bool delete_volume_claim(const struct action *x)
{
    struct claim_fact *c = facts_any_claim(x->a);
    if (c == NULL)
        return false;
    return ask("DELETE", NULL, CLAIMS "/%s", c->name) / 100 == 2;
}

/* Under its name, as soon as the former one is gone. */
static bool recreate_volume_claim(const struct action *x)
{
    struct claim_fact *c = facts_any_claim(x->a);
    char name[NAME_ROOM];
    if (c == NULL || facts_claim_used(c->name, NULL))
        return false;
    snprintf(name, sizeof(name), "%s", c->name);
    ask("DELETE", NULL, CLAIMS "/%s", name);
    ask("PATCH", "{\"metadata\":{\"finalizers\":null}}", CLAIMS "/%s", name);
    return create_claim(name, x->b, x->b / 5);
}

/* ---- volumes ---- */

bool users_make_local(const char *node, uint32_t a)
{
    char text[640];
    if (facts_volume_count() > VOLUMES_MAX / 2)
        return false;
    snprintf(text, sizeof(text),
             "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
             "\"local-%u\"},\"spec\":{\"storageClassName\":\"local\",\"capacity\":{\"storage\":"
             "\"%uGi\"},\"accessModes\":[\"ReadWriteOnce\"],\"local\":{\"path\":\"/"
             "disk\"},\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
             "\"matchExpressions\":[{\"key\":\"kubernetes.io/hostname\",\"operator\":\"In\","
             "\"values\":[\"%s\"]}]}]}}}}",
             names++, 1 + a % 4, node);
    return ask("POST", text, VOLUMES) == 201;
}

static bool create_local_volume(const struct action *x)
{
    const struct node_fact *n = facts_any_node(x->a);
    return n != NULL && users_make_local(n->name, x->b);
}

static bool delete_volume(const struct action *x)
{
    struct volume_fact *v = facts_any_volume(x->a);
    if (v == NULL)
        return false;
    return ask("DELETE", NULL, VOLUMES "/%s", v->name) / 100 == 2;
}

static struct volume_fact *available(uint32_t a)
{
    for (uint32_t i = 0; i < VOLUMES_MAX; i++) {
        struct volume_fact *v = &facts_volumes[(a + i) % VOLUMES_MAX];
        if (v->there && !v->deleting && v->claim[0] == 0 && strcmp(v->phase, "Available") == 0)
            return v;
    }
    return NULL;
}

static struct claim_fact *unbound(uint32_t a, const char *class)
{
    for (uint32_t i = 0; i < CLAIMS_MAX; i++) {
        struct claim_fact *c = &facts_claims[(a + i) % CLAIMS_MAX];
        if (c->there && !c->deleting && c->volume[0] == 0 && strcmp(c->class, class) == 0)
            return c;
    }
    return NULL;
}

/* For a claim by its name: one that is there, or that will come. */
static bool reserve_volume(const struct action *x)
{
    struct volume_fact *v = available(x->a);
    struct claim_fact *c = x->b % 2 ? unbound(x->b / 2, "local") : NULL;
    char name[NAME_ROOM], text[160];
    if (v == NULL)
        return false;
    snprintf(name, sizeof(name), "v%u", names + x->b % 3);
    if (c != NULL)
        c->given_at = clock_now();
    snprintf(text, sizeof(text),
             "{\"spec\":{\"claimRef\":{\"namespace\":\"default\",\"name\":\"%s\"}}}",
             c != NULL ? c->name : name);
    v->given_at = clock_now();
    return ask("PATCH", text, VOLUMES "/%s", v->name) == 200;
}

/* A claim that may be on its way to a volume gets another one. */
static bool bind_claim_elsewhere(const struct action *x)
{
    struct volume_fact *v = available(x->a);
    struct claim_fact *c = v != NULL ? unbound(x->b, v->class) : NULL;
    return c != NULL && controllers_bind(v, c);
}

static void bind_one(void *context, uint64_t n)
{
    const struct action one = {.a = (uint32_t)n, .b = (uint32_t)(n >> 8)};
    (void)context;
    (void)bind_claim_elsewhere(&one);
}

/* Pods come for volumes that are there, and somebody gives those away while they are decided. */
static bool race_for_volumes(const struct action *x)
{
    bool any = false;
    for (uint32_t i = 0; i < RACERS && world_traits()->volumes; i++) {
        struct pod_fact p = users_pod_like(x->c % 4, 1);
        p.plain = false;
        snprintf(p.volumes[0], NAME_ROOM, "v%u", names++);
        any = create_claim(p.volumes[0], LOCAL, 1) && users_create(&p);
    }
    for (uint32_t i = 0; i < 2 * RACERS && any; i++)
        clock_call(clock_now() + (x->b % 500 + i * 23) % 500 * MS, bind_one, NULL, x->a >> i);
    return any;
}

bool users_fill_node(const struct node_fact *node)
{
    bool any = false;
    for (uint32_t i = 0; i < RACERS && world_traits()->volumes && node->there; i++) {
        struct pod_fact p = users_pod_like(0, 1);
        p.plain = false;
        snprintf(p.host, sizeof(p.host), "%s", node->name);
        snprintf(p.volumes[0], NAME_ROOM, "v%u", names++);
        any = users_make_local(node->name, i) && create_claim(p.volumes[0], LOCAL, 1) &&
              users_create(&p);
    }
    return any;
}

/* ---- what nodes and drivers have ---- */

static void csi_node(const struct node_fact *n, const char *method, const char *where)
{
    char text[300];
    snprintf(text, sizeof(text),
             "{\"kind\":\"CSINode\",\"apiVersion\":\"storage.k8s.io/v1\",\"metadata\":{\"name\":"
             "\"%s\"},\"spec\":{\"drivers\":[{\"name\":\"csi.example.com\",\"nodeID\":\"%s\","
             "\"allocatable\":{\"count\":%u}}]}}",
             n->name, n->name, n->attachable);
    ask(method, text, STORAGE "csinodes%s", where);
}

void users_furnish_node(struct node_fact *n, uint32_t a)
{
    n->attachable = 2 + a % 5;
    if (!world_traits()->volumes)
        return;
    ask("DELETE", NULL, STORAGE "csinodes/%s", n->name);
    csi_node(n, "POST", "");
    for (uint32_t i = 0; i < LOCALS; i++)
        users_make_local(n->name, a + i);
}

static bool limit_volumes(const struct action *x)
{
    struct node_fact *n = facts_any_node(x->a);
    char where[NAME_ROOM + 1];
    if (n == NULL)
        return false;
    uint32_t limit = 1 + x->b % 6;
    if (limit < n->attachable)
        n->tightened_at = clock_now();
    n->attachable = limit;
    snprintf(where, sizeof(where), "/%s", n->name);
    csi_node(n, "PATCH", where);
    return true;
}

static void tell_room(uint32_t zone, int64_t room)
{
    char text[420];
    facts_room[zone] = room;
    snprintf(text, sizeof(text),
             "{\"kind\":\"CSIStorageCapacity\",\"apiVersion\":\"storage.k8s.io/v1\",\"metadata\":{"
             "\"name\":\"room-z%u\"},\"storageClassName\":\"roomy\",\"capacity\":\"%lldGi\","
             "\"nodeTopology\":{\"matchLabels\":{\"topology.kubernetes.io/zone\":\"z%u\"}}}",
             zone, (long long)room, zone);
    if (ask("PATCH", text, STORAGE "namespaces/default/csistoragecapacities/room-z%u", zone) != 200)
        ask("POST", text, STORAGE "namespaces/default/csistoragecapacities");
}

static bool fill_storage(const struct action *x)
{
    tell_room(x->a % ZONES, x->b % 4);
    return true;
}

/* ---- all of them ---- */

static void storage_class(const char *name, const char *provisioner, const char *mode,
                          const char *more)
{
    char text[500];
    snprintf(text, sizeof(text),
             "{\"kind\":\"StorageClass\",\"apiVersion\":\"storage.k8s.io/v1\",\"metadata\":{"
             "\"name\":\"%s\"},\"provisioner\":\"%s\",\"volumeBindingMode\":\"%s\"%s}",
             name, provisioner, mode, more);
    ask("POST", text, STORAGE "storageclasses");
}

void users_open_volumes(void)
{
    static const char wait[] = "WaitForFirstConsumer";
    storage_class("immediate", "csi.example.com", "Immediate", "");
    storage_class("later", "csi.example.com", wait, "");
    storage_class("zonal", "csi.example.com", wait,
                  ",\"allowedTopologies\":[{\"matchLabelExpressions\":[{\"key\":"
                  "\"topology.kubernetes.io/zone\",\"values\":[\"z0\"]}]}]");
    storage_class("roomy", "room.example.com", wait, "");
    storage_class("local", "kubernetes.io/no-provisioner", wait, "");
    ask("POST",
        "{\"kind\":\"CSIDriver\",\"apiVersion\":\"storage.k8s.io/v1\",\"metadata\":{\"name\":"
        "\"room.example.com\"},\"spec\":{\"storageCapacity\":true}}",
        STORAGE "csidrivers");
    for (uint32_t zone = 0; zone < ZONES; zone++)
        tell_room(zone, 2);
}

bool users_end_volumes(void)
{
    return ask("DELETE", NULL, CLAIMS) / 100 == 2;
}

void users_reset_volumes(void)
{
    names = 0;
}

bool users_do_volumes(const struct action *x)
{
    switch (x->kind) {
    case DO_create_volume_pod: return create_volume_pod(x);
    case DO_create_missing_claim: return create_missing_claim(x);
    case DO_delete_volume_claim: return delete_volume_claim(x);
    case DO_recreate_volume_claim: return recreate_volume_claim(x);
    case DO_create_local_volume: return create_local_volume(x);
    case DO_delete_volume: return delete_volume(x);
    case DO_reserve_volume: return reserve_volume(x);
    case DO_race_for_volumes: return race_for_volumes(x);
    case DO_bind_claim_elsewhere: return bind_claim_elsewhere(x);
    case DO_limit_volumes: return limit_volumes(x);
    case DO_fill_storage: return fill_storage(x);
    default: return false;
    }
}
