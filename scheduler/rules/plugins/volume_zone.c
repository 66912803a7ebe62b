/* VolumeZone keeps a pod in the zones and regions that its bound volumes are labelled with.
 *
 * A label's value may name several zones, joined by "__". Nodes without any zone or region label
 * pass; the old (beta) labels of a volume also match the new labels of a node. */
#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/volumes.h"
#include "scheduler/rules/node_selector.h"

#define BETA_ZONE   "failure-domain.beta.kubernetes.io/zone"
#define BETA_REGION "failure-domain.beta.kubernetes.io/region"
#define ZONE        "topology.kubernetes.io/zone"
#define REGION      "topology.kubernetes.io/region"

static const char *const keys[] = {BETA_ZONE, BETA_REGION, ZONE, REGION};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Go's TrimSpace, for the blanks that a label can hold. */
static struct str trim(struct str s)
{
    while (s.len > 0 && is_blank(s.at[0]))
        s = (struct str){s.at + 1, s.len - 1};
    while (s.len > 0 && is_blank(s.at[s.len - 1]))
        s.len--;
    return s;
}

/* Splits at "__"; false when a part is empty, and then the label counts for nothing. */
static bool split(struct str value, struct strs *out, struct arena *a)
{
    out->at = arena_take(a, (value.len / 2 + 1) * sizeof(struct str));
    uint32_t start = 0;
    for (uint32_t i = 0; i <= value.len; i++) {
        bool joint = i + 1 < value.len && value.at[i] == '_' && value.at[i + 1] == '_';
        if (!joint && i < value.len)
            continue;
        struct str part = trim((struct str){value.at + start, i - start});
        if (part.len == 0)
            return false;
        out->at[out->count++] = part;
        start = i + 2;
        i += joint;
    }
    return true;
}

static void add_zones(const struct pre_filter_question *q, const struct volume *v)
{
    struct volume_findings *out = &q->findings->volumes;
    for (int i = 0; i < KEYS; i++) {
        struct zone_choice zone = {.key = str_of(keys[i])};
        struct str value;
        if (kube_label_find(v->labels.at, v->labels.count, zone.key, &value) &&
            split(value, &zone.values, q->arena))
            out->zones.at[out->zones.count++] = zone;
    }
}

static bool reject(struct pre_filter *out, struct str reason)
{
    out->code = CODE_unresolvable;
    out->reason = reason;
    return false;
}

/* A claim without a volume is all right only if it waits for the pod to have a node. */
static bool look_at_unbound(const struct pre_filter_question *q, const struct claim *claim,
                            struct pre_filter *out)
{
    if (claim->class_name.len == 0)
        return reject(out,
                      STR_LITERAL("PersistentVolumeClaim had no pv name and storageClass name"));
    const struct storage_class *class = catalog_storage_class(q->catalog, claim->class_name);
    if (class == NULL)
        return reject(out, not_found(q->arena, "storageclass.storage.k8s.io", claim->class_name));
    if (class->binding_mode.len == 0)
        return reject(out,
                      arena_print(q->arena, "VolumeBindingMode not set for StorageClass \"%.*s\"",
                                  STR_ARG(claim->class_name)));
    return str_is(class->binding_mode, "WaitForFirstConsumer") ||
           reject(out, STR_LITERAL("PersistentVolume had no name"));
}

static bool look_at(const struct pre_filter_question *q, struct str name, struct pre_filter *out)
{
    if (name.len == 0)
        return reject(out, STR_LITERAL("PersistentVolumeClaim had no name"));
    const struct claim *claim = catalog_claim(q->catalog, q->pod->namespace_name, name);
    if (claim == NULL)
        return reject(out, not_found(q->arena, "persistentvolumeclaim", name));
    if (claim->volume_name.len == 0)
        return look_at_unbound(q, claim, out);
    const struct volume *v = catalog_volume(q->catalog, claim->volume_name);
    if (v == NULL)
        return reject(out, not_found(q->arena, "persistentvolume", claim->volume_name));
    add_zones(q, v);
    return true;
}

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    struct volume_findings *findings = &q->findings->volumes;
    findings->zones.at =
        arena_take(q->arena, (size_t)q->pod->volumes.count * KEYS * sizeof(struct zone_choice));
    for (uint32_t i = 0; i < q->pod->volumes.count; i++)
        if (volume_is_claim(&q->pod->volumes.at[i]) && !look_at(q, q->pod->volumes.at[i].name, out))
            return;
    out->skip = findings->zones.count == 0;
}

struct zones {
    uint32_t labels[KEYS]; /* atoms of keys */
    uint32_t count;
    struct zone {
        uint32_t key, other; /* atoms; other: the new label for an old one, or 0 */
        uint32_t value_count;
        uint32_t *values; /* atoms */
    } * at;
};

static void *filter_begin(const struct cycle *c)
{
    struct zones *z = arena_take(c->arena, sizeof(*z));
    const struct volume_findings *findings = &c->findings->volumes;
    for (int i = 0; i < KEYS; i++)
        z->labels[i] = atom_find(c->atoms, str_of(keys[i]));
    z->at = arena_take(c->arena, findings->zones.count * sizeof(*z->at));
    for (uint32_t i = 0; i < findings->zones.count; i++) {
        const struct zone_choice *choice = &findings->zones.at[i];
        struct zone *zone = &z->at[z->count++];
        zone->key = atom_find(c->atoms, choice->key);
        if (str_is(choice->key, BETA_ZONE))
            zone->other = atom_find(c->atoms, STR_LITERAL(ZONE));
        else if (str_is(choice->key, BETA_REGION))
            zone->other = atom_find(c->atoms, STR_LITERAL(REGION));
        zone->value_count = choice->values.count;
        zone->values = arena_take(c->arena, choice->values.count * sizeof(uint32_t));
        for (uint32_t k = 0; k < choice->values.count; k++)
            zone->values[k] = atom_find(c->atoms, choice->values.at[k]);
    }
    return z;
}

/* The label's value as an atom; 0 when there is none. */
static uint32_t value_of(const struct node_entry *node, uint32_t key)
{
    return key == 0 ? 0 : node_label_value(node, key);
}

static bool holds(const struct zone *z, const struct node_entry *node)
{
    uint32_t value = value_of(node, z->key);
    if (value == 0)
        value = value_of(node, z->other);
    for (uint32_t i = 0; value != 0 && i < z->value_count; i++)
        if (z->values[i] == value)
            return true;
    return false;
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    const struct zones *z = state;
    const struct node_entry *node = n->entry[row];
    bool labelled = false;
    (void)c;
    for (int i = 0; i < KEYS; i++)
        labelled |= value_of(node, z->labels[i]) != 0;
    for (uint32_t i = 0; labelled && i < z->count; i++)
        if (!holds(&z->at[i], node)) {
            ruling_reject(out, CODE_unresolvable, "node(s) had no available volume zone",
                          (struct str){0});
            return;
        }
}

const struct plugin plugin_volume_zone = {
    .name = "VolumeZone",
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
};
