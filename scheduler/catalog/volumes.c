/* volumes: lookups from a pod's volumes to claims, volumes and classes. The one idea: what counts
 * against an attach limit is named by driver and handle, and a claim without a volume yet by the
 * claim itself, so that two pods that share it count it once.
 *
 * What must stay true: the same volume gets the same name for the pod that comes and for those that
 * are there. */
#include "scheduler/catalog/volumes.h"

/* Stands where a volume handle would; no driver names a volume so. */
#define NO_VOLUME_YET "claim without a volume: "

bool plugin_is_migrated(struct str plugin)
{
    return str_is(plugin, "kubernetes.io/aws-ebs") || str_is(plugin, "kubernetes.io/gce-pd") ||
           str_is(plugin, "kubernetes.io/azure-disk") || str_is(plugin, "kubernetes.io/cinder") ||
           str_is(plugin, "kubernetes.io/portworx-volume");
}

bool volume_is_claim(const struct pod_volume *v)
{
    return v->kind == SOURCE_claim;
}

bool volume_has_claim(const struct pod_volume *v)
{
    return volume_is_claim(v) || v->kind == SOURCE_ephemeral;
}

/* Those whose CSI driver is taken to be there wherever there is a CSINode. */
static bool is_migrated(const struct pod_volume *v)
{
    return v->kind == SOURCE_aws_ebs || v->kind == SOURCE_gce_pd || v->kind == SOURCE_azure_disk ||
           v->kind == SOURCE_cinder || v->kind == SOURCE_portworx;
}

bool volume_is_migratable(const struct pod_volume *v)
{
    return is_migrated(v) || v->kind == SOURCE_azure_file || v->kind == SOURCE_vsphere;
}

bool volume_is_reserved_for(const struct volume *v, const struct claim *claim)
{
    return v->has_claim_ref && str_equal(v->claim_name, claim->name) &&
           str_equal(v->claim_namespace, claim->namespace_name) &&
           (v->claim_uid.len == 0 || str_equal(v->claim_uid, claim->uid));
}

bool claim_is_bound(const struct claim *claim)
{
    return claim->volume_name.len > 0 && claim->bind_completed;
}

struct str claim_spec_class(const struct claim *claim)
{
    return claim->class_annotated ? claim->spec_class : claim->class_name;
}

struct str volume_spec_class(const struct volume *v)
{
    return v->class_annotated ? v->spec_class : v->class_name;
}

bool claim_is_of(const struct claim *claim, const struct pod *pod)
{
    return str_equal(claim->namespace_name, pod->namespace_name) && claim->owner_uid.len > 0 &&
           str_equal(claim->owner_uid, pod->uid);
}

struct str claim_not_of(const struct claim *claim, const struct pod *pod, struct arena *a)
{
    return arena_print(a, "PVC %.*s/%.*s was not created for pod %.*s/%.*s (pod is not owner)",
                       STR_ARG(claim->namespace_name), STR_ARG(claim->name),
                       STR_ARG(pod->namespace_name), STR_ARG(pod->name));
}

struct str not_found(struct arena *a, const char *kind, struct str name)
{
    return arena_print(a, "%s \"%.*s\" not found", kind, STR_ARG(name));
}

/* ---- what counts against attach limits ---- */

/* The driver that a class provisions with; empty when it does not count. */
static struct str driver_of_class(const struct storage_class *class, bool *is_disk)
{
    static const struct {
        const char *plugin, *driver;
    } drivers[] = {{"kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
                   {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
                   {"kubernetes.io/azure-disk", "disk.csi.azure.com"},
                   {"kubernetes.io/cinder", "cinder.csi.openstack.org"},
                   {"kubernetes.io/portworx-volume", "pxd.portworx.com"},
                   {"kubernetes.io/azure-file", ""},
                   {"kubernetes.io/vsphere-volume", ""}};
    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
        if (str_is(class->provisioner, drivers[i].plugin)) {
            *is_disk = true;
            return str_of(drivers[i].driver);
        }
    return class->provisioner;
}

static struct attached_volume by_class(const struct catalog *catalog, const struct claim *claim,
                                       bool *is_disk, struct arena *a)
{
    const struct storage_class *class =
        claim->class_name.len > 0 ? catalog_storage_class(catalog, claim->class_name) : NULL;
    if (class == NULL)
        return (struct attached_volume){0};
    return (struct attached_volume){driver_of_class(class, is_disk),
                                    arena_print(a, NO_VOLUME_YET "%.*s/%.*s",
                                                STR_ARG(claim->namespace_name),
                                                STR_ARG(claim->name))};
}

/* Without a driver: the claim does not count. */
static struct attached_volume by_claim(const struct catalog *catalog, const struct claim *claim,
                                       bool *is_disk, struct arena *a)
{
    const struct volume *v =
        claim->volume_name.len > 0 ? catalog_volume(catalog, claim->volume_name) : NULL;
    if (v == NULL)
        return by_class(catalog, claim, is_disk, a);
    *is_disk = v->source != SOURCE_csi;
    bool counts = v->source == SOURCE_csi ||
                  (plugin_is_migrated(v->migrated_plugin) && v->migration_problem.len == 0);
    if (!counts || v->handle.len == 0)
        return (struct attached_volume){0};
    return (struct attached_volume){v->driver, v->handle};
}

static void add(struct attaching *out, struct attached_volume v, bool is_disk)
{
    if (v.driver.len == 0)
        return;
    out->is_disk[out->count] = is_disk;
    out->at[out->count++] = v;
}

static void add_inline(const struct pod_volume *v, struct attaching *out, struct arena *a)
{
    if (v->problem.len == 0) {
        add(out, (struct attached_volume){v->driver, v->handle}, true);
        return;
    }
    out->is_inline = true;
    out->problem = arena_print(a, "converting volume(%.*s) from inline to csi: %.*s",
                               STR_ARG(v->volume), STR_ARG(v->problem));
}

static void add_claim(const struct catalog *catalog, const struct pod *pod,
                      const struct pod_volume *v, struct attaching *out, struct arena *a)
{
    const struct claim *claim = catalog_claim(catalog, pod->namespace_name, v->name);
    bool is_disk = false;
    if (v->name.len == 0) {
        out->problem = STR_LITERAL("PersistentVolumeClaim had no name");
    } else if (claim == NULL) {
        out->missing = true;
        out->problem =
            arena_print(a,
                        "looking up PVC %.*s/%.*s: persistentvolumeclaim \"%.*s\" "
                        "not found",
                        STR_ARG(pod->namespace_name), STR_ARG(v->name), STR_ARG(v->name));
    } else if (!volume_is_claim(v) && !claim_is_of(claim, pod)) {
        out->problem = claim_not_of(claim, pod, a);
    } else {
        struct attached_volume found = by_claim(catalog, claim, &is_disk, a);
        add(out, found, is_disk);
    }
}

void volumes_attaching(const struct catalog *catalog, const struct pod *pod, bool new_pod,
                       struct attaching *out, struct arena *a)
{
    *out =
        (struct attaching){.at = arena_take(a, pod->volumes.count * sizeof(struct attached_volume)),
                           .is_disk = arena_take(a, pod->volumes.count * sizeof(bool))};
    for (uint32_t i = 0; i < pod->volumes.count && out->problem.len == 0; i++) {
        const struct pod_volume *v = &pod->volumes.at[i];
        if (volume_has_claim(v))
            add_claim(catalog, pod, v, out, a);
        else if (is_migrated(v))
            add_inline(v, out, a);
        if (out->missing && !new_pod) {
            out->missing = false;
            out->problem = (struct str){0};
        }
    }
}

void volumes_resolve(const struct catalog *catalog, struct pod *pod, struct arena *a)
{
    struct attaching found;
    if (pod->volumes.count == 0)
        return;
    volumes_attaching(catalog, pod, false, &found, a);
    pod->attached.count = found.count;
    pod->attached.at = found.at;
    pod->attach_problem = found.problem;
}
