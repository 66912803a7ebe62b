/* translation: one row an in-tree plugin. The one idea: a disk is translated where it is read, with
 * what it would be called by its CSI driver beside what it is called in the spec, and the scheduler
 * then picks by what a node says is migrated. What must stay true: a disk that cannot be translated
 * has a problem in upstream's words and no handle. */
#include "proto/kube/objects/translation.h"

#include "proto/kube/objects/objects_internal.h"

#include <stdlib.h>
#include <string.h>

#define BETA_ZONE   "failure-domain.beta.kubernetes.io/zone"
#define BETA_REGION "failure-domain.beta.kubernetes.io/region"
#define ZONE        "topology.kubernetes.io/zone"
#define REGION      "topology.kubernetes.io/region"
#define NOWHERE     "UNSPECIFIED"

/* A disk that is to be translated: the source in the spec, and where it stands. */
struct disk {
    const struct cursor *source;
    const struct cursor *metadata; /* of the PersistentVolume; NULL: a pod's own volume */
    const struct volume *volume;   /* the same as a record, read so far */
    struct str name, space;        /* of the pod's volume, and the pod's namespace */
    struct str problem;
};

static struct str print_failed(const struct disk *disk, struct str text)
{
    if (text.at == NULL)
        cursor_fail(disk->source, "too large");
    return text;
}

#define PRINT(disk, ...)                                                                           \
    print_failed(disk, arena_print((disk)->source->reading->arena, __VA_ARGS__))

static struct str fail(struct disk *disk, struct str problem)
{
    disk->problem = problem;
    return (struct str){0};
}

/* ---- handles ---- */

/* A number in 0..15, or -1. */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    int lower = c | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The path of aws://zone/path as a URL has it: up to ? or #, with its %xx resolved. False, with the
 * problem, for what upstream cannot parse. */
static bool url_path(struct disk *disk, struct str url, struct str *path)
{
    unsigned char *out = cursor_take(disk->source, url.len + 1, 1);
    uint32_t at = 6; /* behind aws:// */
    for (uint32_t i = 0; i < url.len; i++)
        if ((unsigned char)url.at[i] < 0x20 || url.at[i] == 0x7f) {
            fail(disk, PRINT(disk, "net/url: invalid control character in URL"));
            return false;
        }
    *path = (struct str){(const char *)out, 0};
    while (at < url.len && strchr("/?#", url.at[at]) == NULL)
        at++;
    for (; out != NULL && at < url.len && url.at[at] != '?' && url.at[at] != '#'; at++) {
        bool escape = url.at[at] == '%';
        int high = escape && at + 2 < url.len ? hex_digit(url.at[at + 1]) : -1;
        int low = escape && at + 2 < url.len ? hex_digit(url.at[at + 2]) : -1;
        if (escape && (high < 0 || low < 0)) {
            uint32_t left = url.len - at < 3 ? url.len - at : 3;
            fail(disk, PRINT(disk, "invalid URL escape \"%.*s\"", (int)left, url.at + at));
            return false;
        }
        unsigned char plain = (unsigned char)url.at[at];
        out[path->len++] = escape ? (unsigned char)(high * 16 + low) : plain;
        at += escape ? 2 : 0;
    }
    return true;
}

/* aws://zone/vol-1 and vol-1 are both vol-1. */
static struct str handle_aws_ebs(struct disk *disk)
{
    static const char before[] = "failed to translate Kubernetes ID to EBS Volume ID";
    struct str id = cursor_text(disk->source, "volumeID"), path;
    if (!str_starts_with(id, "aws://"))
        return id;
    if (!url_path(disk, id, &path))
        return fail(disk, PRINT(disk, "%s Invalid disk name (%.*s): parse \"%.*s\": %.*s", before,
                                STR_ARG(id), STR_ARG(id), STR_ARG(disk->problem)));
    while (path.len > 0 && path.at[0] == '/')
        path = (struct str){path.at + 1, path.len - 1};
    while (path.len > 0 && path.at[path.len - 1] == '/')
        path.len--;
    if (!str_starts_with(path, "vol-") || str_find(path, '/') >= 0)
        return fail(disk,
                    PRINT(disk, "%s Invalid format for AWS volume (%.*s)", before, STR_ARG(id)));
    return path;
}

/* locale-region of locale-region-zone; a zone of another form is a problem. */
static struct str region_of(struct disk *disk, struct str zone)
{
    struct str rest = zone, piece, second = {0};
    int pieces = 0;
    while (str_split(&rest, "-", &piece))
        if (++pieces == 2)
            second = piece;
    if (pieces != 3)
        return fail(disk, PRINT(disk,
                                "failed to get region from zones: zone in unexpected format, "
                                "expected: {locale}-{region}-{zone}, got: %.*s",
                                STR_ARG(zone)));
    return (struct str){zone.at, (uint32_t)(second.at + second.len - zone.at)};
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Sorts and drops what occurs twice. */
static void make_set(struct strs *list)
{
    uint32_t count = 0;
    if (list->count > 0)
        qsort(list->at, list->count, sizeof(*list->at), by_text);
    for (uint32_t i = 0; i < list->count; i++)
        if (i == 0 || !str_equal(list->at[i], list->at[count - 1]))
            list->at[count++] = list->at[i];
    list->count = count;
}

/* The pieces of a__b__c; more room than they need. */
static struct strs split_zones(const struct cursor *at, struct str label)
{
    struct strs zones = {0};
    struct str rest = label, piece;
    zones.at = label.at != NULL ? cursor_take(at, label.len / 2 + 1, sizeof(*zones.at)) : NULL;
    while (zones.at != NULL && str_split(&rest, "__", &piece))
        zones.at[zones.count++] = piece;
    return zones;
}

static struct str regional_handle(struct disk *disk, struct strs zones, struct str name)
{
    for (uint32_t i = 0; i < zones.count; i++) {
        zones.at[i] = region_of(disk, zones.at[i]);
        if (disk->problem.len > 0)
            return (struct str){0};
    }
    make_set(&zones);
    if (zones.count == 1)
        return PRINT(disk, "projects/" NOWHERE "/regions/%.*s/disks/%.*s", STR_ARG(zones.at[0]),
                     STR_ARG(name));
    struct buffer set = {0};
    for (uint32_t i = 0; i < zones.count; i++)
        buffer_print(&set, "%s%.*s:{}", i > 0 ? " " : "", STR_ARG(zones.at[i]));
    fail(disk, PRINT(disk,
                     "failed to get region from zones: multiple or no regions gotten from zones, "
                     "got: map[%.*s]",
                     (int)set.len, set.at));
    buffer_free(&set);
    return (struct str){0};
}

/* Named by its zone, or by the region that its zones share. */
static struct str handle_gce_pd(struct disk *disk)
{
    struct str name = cursor_text(disk->source, "pdName"), label = {0};
    if (disk->volume != NULL) {
        label = object_label(disk->volume->labels.at, disk->volume->labels.count, BETA_ZONE);
        if (label.len == 0)
            label = object_label(disk->volume->labels.at, disk->volume->labels.count, ZONE);
    }
    if (label.len == 0)
        label = STR_LITERAL(NOWHERE);
    struct strs zones = split_zones(disk->source, label);
    if (zones.count > 1)
        return regional_handle(disk, zones, name);
    return PRINT(disk, "projects/" NOWHERE "/zones/%.*s/disks/%.*s", STR_ARG(label), STR_ARG(name));
}

static bool same_but_case(struct str s, const char *lower)
{
    size_t i = 0;
    while (i < s.len && lower[i] != 0 && (s.at[i] | 0x20) == lower[i])
        i++;
    return i == s.len && lower[i] == 0;
}

static struct str handle_azure_disk(struct disk *disk)
{
    struct str kind = cursor_text(disk->source, "kind");
    bool given = kube_json_get(disk->source->value, "kind") != NULL;
    if (given && !same_but_case(kind, "managed"))
        return fail(disk,
                    PRINT(disk, "kind(%.*s) is not supported in csi migration", STR_ARG(kind)));
    return cursor_text(disk->source, "diskURI");
}

/* What stands between azure-storage-account- and the last -secret behind it, or the whole name. */
static struct str storage_account(struct str secret)
{
    static const char before[] = "azure-storage-account-", after[] = "-secret";
    const uint32_t head = sizeof(before) - 1, tail = sizeof(after) - 1;
    for (uint32_t i = 0; i + head < secret.len; i++) {
        if (memcmp(secret.at + i, before, head) != 0)
            continue;
        for (uint32_t end = secret.len - tail; secret.len >= tail && end > i + head; end--)
            if (memcmp(secret.at + end, after, tail) == 0)
                return (struct str){secret.at + i + head, end - i - head};
    }
    return secret;
}

static struct str handle_azure_file(struct disk *disk)
{
    struct str account = storage_account(cursor_text(disk->source, "secretName"));
    struct str share = cursor_text(disk->source, "shareName"), group = {0};
    struct str space = disk->space.len > 0 ? disk->space : STR_LITERAL("default");
    struct str name = disk->name;
    if (disk->volume != NULL) {
        object_annotation(disk->metadata, "kubernetes.io/azure-file-resource-group", &group);
        name = disk->volume->name;
        space = disk->volume->claim_namespace;
        if (kube_json_get(disk->source->value, "secretNamespace") != NULL)
            space = cursor_text(disk->source, "secretNamespace");
        if (space.len == 0)
            return fail(disk, STR_LITERAL("could not find a secret namespace in "
                                          "PersistentVolumeSource or ClaimRef"));
    }
    return PRINT(disk, "%.*s#%.*s#%.*s#%.*s#%.*s", STR_ARG(group), STR_ARG(account), STR_ARG(share),
                 STR_ARG(name), STR_ARG(space));
}

static struct str handle_volume_id(struct disk *disk)
{
    return cursor_text(disk->source, "volumeID");
}

static struct str handle_volume_path(struct disk *disk)
{
    return cursor_text(disk->source, "volumePath");
}

/* ---- the plugins ---- */

static const struct plugin {
    const char *member;
    enum volume_source kind;
    const char *in_tree, *driver;
    const char *zone; /* the driver's own label for zones; NULL: affinity stays as it is */
    struct str (*handle)(struct disk *disk);
} plugins[] = {
    {"gcePersistentDisk", SOURCE_gce_pd, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io",
     "topology.gke.io/zone", handle_gce_pd},
    {"awsElasticBlockStore", SOURCE_aws_ebs, "kubernetes.io/aws-ebs", "ebs.csi.aws.com",
     "topology.ebs.csi.aws.com/zone", handle_aws_ebs},
    {"cinder", SOURCE_cinder, "kubernetes.io/cinder", "cinder.csi.openstack.org",
     "topology.cinder.csi.openstack.org/zone", handle_volume_id},
    {"azureDisk", SOURCE_azure_disk, "kubernetes.io/azure-disk", "disk.csi.azure.com", NULL,
     handle_azure_disk},
    {"azureFile", SOURCE_azure_file, "kubernetes.io/azure-file", "file.csi.azure.com", NULL,
     handle_azure_file},
    /* Its zones are translated upstream, too, but the scheduler never asks for that. */
    {"vsphereVolume", SOURCE_vsphere, "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com",
     NULL, handle_volume_path},
    {"portworxVolume", SOURCE_portworx, "kubernetes.io/portworx-volume", "pxd.portworx.com", NULL,
     handle_volume_id},
};

static const struct plugin *find_plugin(const struct cursor *holder)
{
    for (size_t i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++)
        if (kube_json_get(holder->value, plugins[i].member) != NULL)
            return &plugins[i];
    return NULL;
}

/* ---- zones ---- */

static bool has_key(const struct volume *volume, const char *key, bool with_values)
{
    for (uint32_t t = 0; t < volume->terms.count; t++) {
        const struct node_term *term = &volume->terms.at[t];
        for (uint32_t i = 0; i < term->expressions.count; i++)
            if (str_is(term->expressions.at[i].key, key) &&
                (!with_values || term->expressions.at[i].values.count > 0))
                return true;
    }
    return false;
}

static bool has_label(const struct volume *volume, const char *key)
{
    for (uint32_t i = 0; i < volume->labels.count; i++)
        if (str_is(volume->labels.at[i].key, key))
            return true;
    return false;
}

/* Whether the volume's zone is spoken of by the beta label. */
static bool speaks_beta(const struct volume *volume)
{
    if (has_key(volume, ZONE, false))
        return false;
    if (has_key(volume, BETA_ZONE, false))
        return true;
    return !has_label(volume, ZONE) && has_label(volume, BETA_ZONE);
}

static void rename_keys(struct volume *volume, const char *from, const char *to)
{
    for (uint32_t t = 0; t < volume->migrated_terms.count; t++) {
        struct node_term *term = &volume->migrated_terms.at[t];
        for (uint32_t i = 0; i < term->expressions.count; i++)
            if (str_is(term->expressions.at[i].key, from))
                term->expressions.at[i].key = str_of(to);
    }
}

/* Requires the zones of the label in every term; in the only one, where there is none. */
static void add_zones(const struct cursor *at, struct volume *volume, const char *key,
                      struct strs zones)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < zones.count; i++) {
        struct str zone = str_trim(zones.at[i]);
        if (zone.len > 0)
            zones.at[count++] = zone;
    }
    zones.count = count;
    make_set(&zones);
    if (zones.count == 0)
        return;
    volume->has_migrated_terms = true;
    if (volume->migrated_terms.count == 0) {
        volume->migrated_terms.at = cursor_take(at, 1, sizeof(*volume->migrated_terms.at));
        volume->migrated_terms.count = volume->migrated_terms.at != NULL;
    }
    for (uint32_t t = 0; t < volume->migrated_terms.count; t++) {
        struct node_term *term = &volume->migrated_terms.at[t];
        /* copy_terms left room for one more, and so has a term that is new. */
        if (term->expressions.at == NULL)
            term->expressions.at = cursor_take(at, 1, sizeof(*term->expressions.at));
        if (term->expressions.at != NULL)
            term->expressions.at[term->expressions.count++] = (struct requirement){
                .key = str_of(key), .operator_name = STR_LITERAL("In"), .values = zones};
    }
}

/* Copies what may be changed: terms and their expressions, each list with room for one more. */
static void copy_terms(const struct cursor *at, struct volume *volume)
{
    uint32_t count = volume->terms.count;
    struct node_term *out = count ? cursor_take(at, count, sizeof(*out)) : NULL;
    volume->has_migrated_terms = volume->has_terms;
    volume->migrated_terms.count = 0;
    volume->migrated_terms.at = out;
    for (uint32_t t = 0; out != NULL && t < count; t++) {
        const struct node_term *from = &volume->terms.at[t];
        out[t] = *from;
        out[t].expressions.at =
            cursor_take(at, from->expressions.count + 1, sizeof(*out[t].expressions.at));
        if (out[t].expressions.at == NULL)
            return;
        if (from->expressions.count > 0)
            memcpy(out[t].expressions.at, from->expressions.at,
                   from->expressions.count * sizeof(*from->expressions.at));
        volume->migrated_terms.count++;
    }
}

/* Zones in the affinity get the driver's label; without any there, those of the labels do. */
static void translate_zones(const struct cursor *at, struct volume *volume, const char *key)
{
    bool beta = speaks_beta(volume);
    const char *zone = beta ? BETA_ZONE : ZONE;
    if (has_key(volume, zone, true)) {
        rename_keys(volume, zone, key);
    } else if (has_label(volume, zone)) {
        struct str label = object_label(volume->labels.at, volume->labels.count, zone);
        add_zones(at, volume, key, split_zones(at, label));
    }
    if (beta && has_key(volume, BETA_REGION, true))
        rename_keys(volume, BETA_REGION, REGION);
}

/* ---- the two questions ---- */

void kube_translate_volume(const struct cursor *spec, const struct cursor *metadata,
                           struct volume *volume)
{
    const struct plugin *plugin = find_plugin(spec);
    if (plugin == NULL)
        return;
    struct cursor source = cursor_object(spec, plugin->member);
    struct disk disk = {.source = &source, .metadata = metadata, .volume = volume};
    volume->source = plugin->kind;
    volume->migrated_plugin = str_of(plugin->in_tree);
    volume->handle = plugin->handle(&disk);
    volume->migration_problem = disk.problem;
    if (disk.problem.len > 0)
        return;
    volume->driver = str_of(plugin->driver);
    copy_terms(spec, volume);
    if (plugin->zone != NULL)
        translate_zones(spec, volume, plugin->zone);
}

bool kube_translate_inline(const struct cursor *volume, struct str space, struct pod_volume *out)
{
    const struct plugin *plugin = find_plugin(volume);
    if (plugin == NULL)
        return false;
    struct cursor source = cursor_object(volume, plugin->member);
    struct disk disk = {.source = &source, .name = out->volume, .space = space};
    out->kind = plugin->kind;
    out->read_only = cursor_bool(&source, "readOnly");
    out->driver = str_of(plugin->driver);
    out->handle = plugin->handle(&disk);
    out->problem = disk.problem;
    return true;
}
