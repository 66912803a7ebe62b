/* meddlers: drivers, kubelets, controllers and people who write to what the binder has just read.
 * What must stay true: each does only what it may do at that time. */
#include "tests/simulation/meddlers.h"

#include "tests/simulation/calls.h"
#include "tests/simulation/controllers.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/users.h"

#include <stdio.h>
#include <string.h>

#define CLAIM   "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/%s"
#define STORAGE "/api/v1/namespaces/default/persistentvolumeclaims/%s"
#define SOON    (40 * MS)
#define AT_ONCE (3 * MS) /* mostly before the one who has read it writes */

enum meddling { MEDDLING_claim, MEDDLING_storage, MEDDLING_volume, MEDDLING_pod, MEDDLINGS };

static bool annotate(const char *path_format, const char *name)
{
    char path[160], text[96];
    snprintf(text, sizeof(text), "{\"metadata\":{\"annotations\":{\"seen\":\"%u\"}}}",
             (unsigned)dice(1000));
    snprintf(path, sizeof(path), "%s", path_format);
    char *hole = strstr(path, "%s");
    snprintf(hole, sizeof(path) - (size_t)(hole - path), "%s", name);
    return ask("PATCH", text, "%s", path) == 200;
}

static bool tell_of_device(const struct device_claim_fact *c)
{
    char text[300];
    if (!c->allocated)
        return false;
    snprintf(text, sizeof(text),
             "{\"status\":{\"devices\":[{\"driver\":\"d.example.com\",\"pool\":\"%s\",\"device\":"
             "\"%s\",\"data\":{\"n\":%u}}]}}",
             c->node, c->device, (unsigned)dice(1000));
    return ask("PATCH", text, CLAIM "/status", c->name) == 200;
}

static void meddle_with_claim(struct device_claim_fact *c)
{
    if (c->allocated && c->reserved_count == 0 && dice(2) == 0) {
        cover("meddling", "claim loses its devices");
        ask("PATCH", "{\"status\":{\"allocation\":null}}", CLAIM "/status", c->name);
        return;
    }
    switch (dice(5)) {
    case 0:
        if (tell_of_device(c))
            cover("meddling", "driver tells of a device");
        break;
    case 1: controllers_look_at_claim(c); break;
    case 2: controllers_reserve_another(c, (uint32_t)dice(1000)); break;
    case 3:
        if (dice(4) == 0 && users_remake_claim(c))
            cover("meddling", "claim made anew");
        break;
    default:
        if (annotate(CLAIM, c->name))
            cover("meddling", "claim annotated");
    }
}

/* That nobody has and the claim could have; NULL: there is none, or it has one. */
static struct volume_fact *volume_for(const struct claim_fact *c)
{
    uint64_t first = dice(VOLUMES_MAX);
    for (uint32_t i = 0; c->volume[0] == 0 && !c->deleting && i < VOLUMES_MAX; i++) {
        struct volume_fact *v = &facts_volumes[(first + i) % VOLUMES_MAX];
        if (v->there && !v->deleting && v->claim[0] == 0 && facts_volume_suits(v, c))
            return v;
    }
    return NULL;
}

/* As another scheduler does, which has a pod of the same claim. */
static bool select_node(const struct claim_fact *c)
{
    char text[160];
    const struct node_fact *n = facts_any_node(dice(64));
    if (n == NULL || c->selected[0] != 0 || c->volume[0] != 0 || c->deleting ||
        facts_volume_for(c) != NULL || !facts_volume_can_be_made(c, n))
        return false;
    snprintf(text, sizeof(text),
             "{\"metadata\":{\"annotations\":{\"volume.kubernetes.io/selected-node\":\"%s\"}}}",
             n->name);
    return ask("PATCH", text, STORAGE, c->name) == 200;
}

static void meddle_with_storage(struct claim_fact *c)
{
    struct volume_fact *v = dice(2) == 0 ? volume_for(c) : NULL;
    if (v != NULL) {
        cover("meddling", "claim given another volume");
        controllers_bind(v, c);
    } else if (dice(8) == 0) {
        cover("meddling", "volume claim deleted");
        ask("DELETE", NULL, STORAGE, c->name);
    } else if (dice(3) == 0 && select_node(c)) {
        cover("meddling", "volume claim wanted elsewhere");
    } else if (annotate(STORAGE, c->name)) {
        cover("meddling", "volume claim annotated");
    }
}

/* One that has none and could have this one; NULL: there is none. */
static struct claim_fact *claim_for(const struct volume_fact *v)
{
    uint64_t first = dice(CLAIMS_MAX);
    for (uint32_t i = 0; v->claim[0] == 0 && i < CLAIMS_MAX; i++) {
        struct claim_fact *c = &facts_claims[(first + i) % CLAIMS_MAX];
        if (c->there && c->volume[0] == 0 && !c->deleting && facts_volume_suits(v, c))
            return c;
    }
    return NULL;
}

static void meddle_with_volume(struct volume_fact *v)
{
    struct claim_fact *c = dice(2) == 0 ? claim_for(v) : NULL;
    if (c != NULL) {
        cover("meddling", "volume given to another");
        controllers_bind(v, c);
    } else if (annotate("/api/v1/persistentvolumes/%s", v->name)) {
        cover("meddling", "volume annotated");
    }
}

static void meddle_with_pod(struct pod_fact *p)
{
    switch (dice(3)) {
    case 0:
        if (users_delete_pod(p->name, 0))
            cover("meddling", "pod goes while it is decided");
        break;
    case 1:
        if (users_resize_pod(p, (uint32_t)dice(4)))
            cover("meddling", "pod resized while it is decided");
        break;
    default:
        if (users_label_pod(p, (uint32_t)dice(5)))
            cover("meddling", "pod labelled while it is decided");
    }
}

static void meddle(void *context, uint64_t index)
{
    (void)context;
    uint64_t i = index / MEDDLINGS;
    enum meddling what = (enum meddling)(index % MEDDLINGS);
    if (what == MEDDLING_claim && facts_device_claims[i].there)
        meddle_with_claim(&facts_device_claims[i]);
    else if (what == MEDDLING_storage && facts_claims[i].there)
        meddle_with_storage(&facts_claims[i]);
    else if (what == MEDDLING_volume && facts_volumes[i].there)
        meddle_with_volume(&facts_volumes[i]);
    else if (what == MEDDLING_pod && facts_pods[i].there && facts_pods[i].node[0] == 0)
        meddle_with_pod(&facts_pods[i]);
}

static void soon(enum meddling what, size_t place)
{
    int64_t at = clock_now() + dice_between(0, dice(2) == 0 ? AT_ONCE : SOON);
    clock_call(at, meddle, NULL, (uint64_t)place * MEDDLINGS + what);
}

static void asked_about(struct str uid)
{
    for (uint32_t i = 0; i < PODS_MAX; i++) {
        const struct pod_fact *p = &facts_pods[i];
        if (!p->there || !str_is(uid, p->uid))
            continue;
        const struct claim_fact *c = facts_claim(p->volumes[dice(POD_VOLUMES)]);
        if (c != NULL)
            soon(MEDDLING_storage, (size_t)(c - facts_claims));
        else
            soon(MEDDLING_pod, i);
    }
}

void meddlers_asked(const struct message *asked)
{
    const struct map_batch *b = &asked->map_batch;
    const struct map_picks *p = &asked->map_picks;
    if (!calls_meddle() || dice(8) > 0)
        return;
    if (asked->type == MSG_map_request)
        asked_about(asked->map_request.pod.uid);
    else if (asked->type == MSG_map_run)
        asked_about(asked->map_run.request.pod.uid);
    else if (asked->type == MSG_map_batch && b->requests.count > 0)
        asked_about(b->requests.at[dice(b->requests.count)].pod.uid);
    else if (asked->type == MSG_map_picks && p->requests.count > 0)
        asked_about(p->requests.at[dice(p->requests.count)].pod.uid);
}

void meddlers_saw(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    const struct device_claim_fact *device = facts_device_claim(name);
    const struct claim_fact *claim = facts_claim(name);
    const struct volume_fact *volume = facts_volume(name);
    if (strchr(path, '?') != NULL)
        return; /* a list or a watch */
    if (strstr(path, "/resourceclaims/") != NULL && device != NULL)
        soon(MEDDLING_claim, (size_t)(device - facts_device_claims));
    else if (strstr(path, "/persistentvolumeclaims/") != NULL && claim != NULL)
        soon(MEDDLING_storage, (size_t)(claim - facts_claims));
    else if (strstr(path, "/persistentvolumes/") != NULL && volume != NULL)
        soon(MEDDLING_volume, (size_t)(volume - facts_volumes));
}

void meddlers_known(void)
{
    static const char *const names[] = {"claim loses its devices",
                                        "driver tells of a device",
                                        "claim made anew",
                                        "claim annotated",
                                        "volume claim deleted",
                                        "volume claim annotated",
                                        "volume claim wanted elsewhere",
                                        "volume given to another",
                                        "volume annotated",
                                        "claim given another volume",
                                        "pod goes while it is decided",
                                        "pod resized while it is decided",
                                        "pod labelled while it is decided"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        coverage_known("meddling", names[i]);
}
