/* meddlers: drivers, kubelets, controllers and people who write to what the binder has just read.
 * What must stay true: each does only what it may do at that time. */
#include "tests/simulation/meddlers.h"

#include "tests/simulation/controllers.h"
#include "tests/simulation/coverage.h"
#include "tests/simulation/users.h"

#include <stdio.h>
#include <string.h>

#define CLAIM   "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/%s"
#define STORAGE "/api/v1/namespaces/default/persistentvolumeclaims/%s"
#define SOON    (40 * MS)
#define AT_ONCE (3 * MS) /* mostly before the one who has read it writes */

enum meddling { MEDDLING_claim, MEDDLING_storage, MEDDLING_volume };

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
    switch (dice(6)) {
    case 0:
        if (c->allocated && c->reserved_count == 0) {
            cover("meddling", "claim loses its devices");
            ask("PATCH", "{\"status\":{\"allocation\":null}}", CLAIM "/status", c->name);
        }
        break;
    case 1:
        if (tell_of_device(c))
            cover("meddling", "driver tells of a device");
        break;
    case 2: controllers_look_at_claim(c); break;
    case 3: controllers_reserve_another(c, (uint32_t)dice(1000)); break;
    case 4:
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

static void meddle_with_storage(struct claim_fact *c)
{
    struct volume_fact *v = dice(2) == 0 ? volume_for(c) : NULL;
    if (v != NULL) {
        cover("meddling", "claim given another volume");
        controllers_bind(v, c);
    } else if (dice(8) == 0) {
        cover("meddling", "volume claim deleted");
        ask("DELETE", NULL, STORAGE, c->name);
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

static void meddle(void *context, uint64_t index)
{
    (void)context;
    uint64_t i = index / 4;
    if (index % 4 == MEDDLING_claim && facts_device_claims[i].there)
        meddle_with_claim(&facts_device_claims[i]);
    else if (index % 4 == MEDDLING_storage && facts_claims[i].there)
        meddle_with_storage(&facts_claims[i]);
    else if (index % 4 == MEDDLING_volume && facts_volumes[i].there)
        meddle_with_volume(&facts_volumes[i]);
}

void meddlers_saw(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    const struct device_claim_fact *device = facts_device_claim(name);
    const struct claim_fact *claim = facts_claim(name);
    const struct volume_fact *volume = facts_volume(name);
    int64_t at = clock_now() + dice_between(0, dice(2) == 0 ? AT_ONCE : SOON);
    if (strchr(path, '?') != NULL)
        return; /* a list or a watch */
    if (strstr(path, "/resourceclaims/") != NULL && device != NULL)
        clock_call(at, meddle, NULL, (uint64_t)(device - facts_device_claims) * 4 + MEDDLING_claim);
    else if (strstr(path, "/persistentvolumeclaims/") != NULL && claim != NULL)
        clock_call(at, meddle, NULL, (uint64_t)(claim - facts_claims) * 4 + MEDDLING_storage);
    else if (strstr(path, "/persistentvolumes/") != NULL && volume != NULL)
        clock_call(at, meddle, NULL, (uint64_t)(volume - facts_volumes) * 4 + MEDDLING_volume);
}

void meddlers_known(void)
{
    static const char *const names[] = {
        "claim loses its devices", "driver tells of a device", "claim made anew",
        "claim annotated",         "volume claim deleted",     "volume claim annotated",
        "volume given to another", "volume annotated",         "claim given another volume"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        coverage_known("meddling", names[i]);
}
