/* controllers_storage: volumes are bound, made, released and given back. What must stay true, as in
 * Kubernetes: the volume says first whose it is, then the claim says which is its own; a claim's
 * volume never changes; what is to be made for a node is made there, or the claim is told that it
 * cannot be. */
#include "tests/simulation/controllers.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/trace.h"
#include "tests/simulation/users.h"

#include <stdio.h>
#include <string.h>

#define CLAIMS      "/api/v1/namespaces/default/persistentvolumeclaims"
#define VOLUMES     "/api/v1/persistentvolumes"
#define ATTACHMENTS "/apis/storage.k8s.io/v1/volumeattachments"
#define USUAL_LEAST (200 * MS)
#define USUAL_MOST  (4 * SECOND)
#define UNUSED_MOST (40 * SECOND) /* then a claim is deleted */

/* A VolumeAttachment. */
struct attached {
    char volume[64], node[NAME_ROOM]; /* volume: "": there is none */
};

static struct {
    struct storage storage;
    uint32_t names;
    struct attached attachments[VOLUMES_MAX];
} all;

struct storage *controllers_storage(void)
{
    return &all.storage;
}

/* ---- binding ---- */

static bool claim_volume(const struct volume_fact *v, const struct claim_fact *c)
{
    char text[300];
    snprintf(text, sizeof(text),
             "{%s\"spec\":{\"claimRef\":{\"kind\":\"PersistentVolumeClaim\",\"apiVersion\":\"v1\","
             "\"namespace\":\"default\",\"name\":\"%s\",\"uid\":\"%s\"}}}",
             v->claim[0] == 0 ? "\"metadata\":{\"annotations\":{"
                                "\"pv.kubernetes.io/bound-by-controller\":\"yes\"}},"
                              : "",
             c->name, c->uid);
    return ask("PATCH", text, VOLUMES "/%s", v->name) == 200;
}

bool controllers_bind(struct volume_fact *v, struct claim_fact *c)
{
    v->given_at = c->given_at = clock_now();
    return claim_volume(v, c);
}

/* One step of it, or all that are left. */
static void bind(const struct volume_fact *v, const struct claim_fact *c)
{
    char text[300];
    if (v->claim_uid[0] == 0 && (!claim_volume(v, c) || dice(3) == 0))
        return;
    if (strcmp(v->phase, "Bound") != 0) {
        ask("PATCH", "{\"status\":{\"phase\":\"Bound\"}}", VOLUMES "/%s/status", v->name);
        if (dice(3) == 0)
            return;
    }
    snprintf(text, sizeof(text),
             "{\"metadata\":{\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\","
             "\"pv.kubernetes.io/bound-by-controller\":\"yes\"}},\"spec\":{\"volumeName\":\"%s\"}}",
             v->name);
    ask("PATCH", text, CLAIMS "/%s", c->name);
    ask("PATCH", "{\"status\":{\"phase\":\"Bound\"}}", CLAIMS "/%s/status", c->name);
    cover("storage", "claim bound");
}

/* ---- provisioners ---- */

static void deselect(struct claim_fact *c)
{
    cover("storage", facts_node(c->selected) ? "volume not made" : "node of a volume gone");
    c->made_at = 0;
    ask("PATCH", "{\"metadata\":{\"annotations\":{\"volume.kubernetes.io/selected-node\":null}}}",
        CLAIMS "/%s", c->name);
}

static const char *driver_of(const char *class)
{
    return strcmp(class, "roomy") == 0 ? "room.example.com" : "csi.example.com";
}

static void make_volume(struct claim_fact *c, const struct node_fact *n)
{
    char text[900];
    snprintf(text, sizeof(text),
             "{\"kind\":\"PersistentVolume\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
             "\"made-%u\"},\"spec\":{\"storageClassName\":\"%s\",\"capacity\":{\"storage\":"
             "\"%lldGi\"},\"accessModes\":[\"%s\"],\"persistentVolumeReclaimPolicy\":\"Delete\","
             "\"csi\":{\"driver\":\"%s\",\"volumeHandle\":\"h-%u\"},\"claimRef\":{\"kind\":"
             "\"PersistentVolumeClaim\",\"apiVersion\":\"v1\",\"namespace\":\"default\",\"name\":"
             "\"%s\",\"uid\":\"%s\"},\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
             "\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\","
             "\"values\":[\"%s\"]}]}]}}}}",
             all.names, c->class, (long long)c->size,
             c->alone ? "ReadWriteOncePod" : "ReadWriteOnce", driver_of(c->class), all.names,
             c->name, c->uid, n->zone);
    all.names++;
    c->made_at = 0;
    cover("storage", "volume made");
    ask("POST", text, VOLUMES);
}

/* For the node that the scheduler chose, or, of a claim that waits for nobody, for any. */
static void provision(struct claim_fact *c)
{
    bool immediate = strcmp(c->class, "immediate") == 0;
    const struct node_fact *n = immediate ? facts_any_node(dice(64)) : facts_node(c->selected);
    if (immediate && n == NULL)
        return;
    if (c->made_at == 0)
        c->made_at = clock_now() + dice_between(all.storage.least, all.storage.most);
    if (n != NULL && clock_now() < c->made_at)
        return;
    if (n == NULL || (dice_percent(all.storage.fails) && !immediate))
        deselect(c);
    else if (facts_volume_count() < VOLUMES_MAX)
        make_volume(c, n);
}

/* ---- a look at each ---- */

static void note_use(struct claim_fact *c)
{
    if (facts_claim_named(c->name))
        c->unused_since = 0;
    else if (c->unused_since == 0)
        c->unused_since = clock_now();
    if (c->unused_since == 0 || clock_now() - c->unused_since < UNUSED_MOST || c->deleting)
        return;
    ask("DELETE", NULL, CLAIMS "/%s", c->name);
}

static void look_at_claim(struct claim_fact *c)
{
    const struct volume_fact *v = facts_volume_for(c);
    if (c->deleting) {
        if (!facts_claim_used(c->name, NULL))
            ask("PATCH", "{\"metadata\":{\"finalizers\":null}}", CLAIMS "/%s", c->name);
    } else if (c->volume[0] != 0) {
        if (facts_volume(c->volume) == NULL && !c->lost)
            ask("PATCH", "{\"status\":{\"phase\":\"Lost\"}}", CLAIMS "/%s/status", c->name);
    } else if (v != NULL && facts_volume_suits(v, c) && !v->deleting) {
        bind(v, c);
    } else if (strcmp(c->class, "immediate") == 0 ||
               (c->selected[0] != 0 && strcmp(c->class, "local") != 0)) {
        provision(c);
    } else {
        c->made_at = 0;
    }
}

static void set_phase(const struct volume_fact *v, const char *phase)
{
    char text[64];
    snprintf(text, sizeof(text), "{\"status\":{\"phase\":\"%s\"}}", phase);
    ask("PATCH", text, VOLUMES "/%s/status", v->name);
}

/* Its claim is gone: what was made goes with it, a disk is made ready for the next one. */
static void release(struct volume_fact *v)
{
    char node[NAME_ROOM];
    if (strcmp(v->phase, "Released") != 0) {
        cover("storage", "volume released");
        set_phase(v, "Released");
        return;
    }
    if (v->node[0] != 0 && dice(5) > 0)
        return;
    snprintf(node, sizeof(node), "%s", v->node);
    uint32_t size = (uint32_t)v->size - 1;
    ask("DELETE", NULL, VOLUMES "/%s", v->name);
    if (node[0] != 0 && facts_node(node) != NULL)
        users_make_local(node, size);
}

/* Its claim has got another one. */
static void unbind(struct volume_fact *v)
{
    cover("storage", "volume given back");
    if (v->handle[0] != 0) {
        ask("DELETE", NULL, VOLUMES "/%s", v->name);
        return;
    }
    ask("PATCH",
        "{\"metadata\":{\"annotations\":{\"pv.kubernetes.io/bound-by-controller\":null}},"
        "\"spec\":{\"claimRef\":null}}",
        VOLUMES "/%s", v->name);
    set_phase(v, "Available");
}

static void look_at_volume(struct volume_fact *v)
{
    const struct claim_fact *c = v->claim_uid[0] != 0 ? facts_claim(v->claim) : NULL;
    if (v->claim_uid[0] == 0) {
        if (strcmp(v->phase, "Available") != 0)
            set_phase(v, "Available");
    } else if (c == NULL || !facts_same(c->uid, v->claim_uid)) {
        release(v);
    } else if (c->volume[0] != 0 && !facts_same(c->volume, v->name) && v->by_controller &&
               dice(3) == 0) { /* it comes to that later */
        unbind(v);
    }
}

/* ---- attaching ---- */

/* The node on which a pod has it; NULL: none. */
static const char *used_on(const struct volume_fact *v)
{
    const struct claim_fact *c = v->claim_uid[0] != 0 ? facts_claim(v->claim) : NULL;
    if (!v->there || v->handle[0] == 0 || c == NULL || !facts_same(c->uid, v->claim_uid))
        return NULL;
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (p->there && p->node[0] != 0 && !facts_ended(p) && facts_names_claim(p, c->name))
            return p->node;
    }
    return NULL;
}

static struct attached *attachment_of(const char *volume)
{
    for (uint32_t i = 0; i < VOLUMES_MAX; i++)
        if (facts_same(all.attachments[i].volume, volume))
            return &all.attachments[i];
    return NULL;
}

static void detach(struct attached *a)
{
    cover("storage", "volume detached");
    ask("DELETE", NULL, ATTACHMENTS "/on-%s-%s", a->node, a->volume);
    a->volume[0] = 0;
}

static void attach(const struct volume_fact *v)
{
    char text[400];
    const char *node = used_on(v);
    struct attached *room = attachment_of("");
    if (node == NULL || attachment_of(v->name) != NULL || room == NULL)
        return;
    snprintf(room->volume, sizeof(room->volume), "%s", v->name);
    snprintf(room->node, sizeof(room->node), "%s", node);
    snprintf(text, sizeof(text),
             "{\"kind\":\"VolumeAttachment\",\"apiVersion\":\"storage.k8s.io/v1\",\"metadata\":{"
             "\"name\":\"on-%s-%s\"},\"spec\":{\"attacher\":\"%s\",\"nodeName\":"
             "\"%s\",\"source\":{\"persistentVolumeName\":\"%s\"}}}",
             node, v->name, driver_of(v->class), node, v->name);
    cover("storage", "volume attached");
    ask("POST", text, ATTACHMENTS);
}

static void look_at_attachments(void)
{
    for (uint32_t i = 0; i < VOLUMES_MAX; i++) {
        struct attached *a = &all.attachments[i];
        const struct volume_fact *v = a->volume[0] != 0 ? facts_volume(a->volume) : NULL;
        const char *node = v != NULL ? used_on(v) : NULL;
        if (a->volume[0] != 0 && (node == NULL || !facts_same(node, a->node)))
            detach(a);
    }
    for (uint32_t i = 0; i < VOLUMES_MAX; i++)
        if (facts_volumes[i].there)
            attach(&facts_volumes[i]);
}

static void turn(void *context, uint64_t argument)
{
    (void)context;
    (void)argument;
    for (uint32_t i = 0; i < CLAIMS_MAX; i++) {
        if (facts_claims[i].there)
            look_at_claim(&facts_claims[i]);
        if (facts_claims[i].there)
            note_use(&facts_claims[i]);
    }
    for (uint32_t i = 0; i < VOLUMES_MAX; i++)
        if (facts_volumes[i].there)
            look_at_volume(&facts_volumes[i]);
    look_at_attachments();
    clock_call(clock_now() + dice_between(SECOND / 5, 2 * SECOND), turn, NULL, 0);
}

void controllers_heal(void)
{
    all.storage = (struct storage){.least = USUAL_LEAST, .most = USUAL_MOST};
    for (uint32_t i = 0; i < CLAIMS_MAX; i++)
        if (facts_claims[i].made_at > clock_now())
            facts_claims[i].made_at = clock_now();
}

void controllers_reset(void)
{
    memset(&all, 0, sizeof(all));
    controllers_heal();
    coverage_known("storage", "claim bound");
    coverage_known("storage", "volume made");
    coverage_known("storage", "volume not made");
    coverage_known("storage", "node of a volume gone");
    coverage_known("storage", "volume released");
    coverage_known("storage", "volume given back");
    coverage_known("storage", "volume attached");
    coverage_known("storage", "volume detached");
    clock_call(SECOND, turn, NULL, 0);
}
