/* controller: claims get their volumes. The one idea: every write is looked at again, so that what
 * follows from it follows at once, as it would in a cluster after a while.
 *
 * What must stay true: it does what the oracle's controller does and no more; in particular it
 * binds a reserved volume without asking whether it fits. */
#include "ctl/controller.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/volumes.h"

/* A node's drivers, each with the labels that say where its volumes can be used. */
struct topologies {
    uint32_t count;
    struct topology {
        struct str driver;
        struct strs keys;
    } * at;
};

struct controller {
    struct controlled cluster;
    struct map *topologies; /* node → struct topologies, in memory */
    struct arena memory;
};

struct controller *controller_new(const struct controlled *cluster)
{
    struct controller *c = memory_take(sizeof(*c));
    c->cluster = *cluster;
    c->topologies = map_new();
    return c;
}

void controller_free(struct controller **controller)
{
    if (*controller == NULL)
        return;
    map_free(&(*controller)->topologies);
    arena_free(&(*controller)->memory);
    memory_free(*controller);
    *controller = NULL;
}

/* ---- topologies ---- */

/* What an earlier CSINode of that name said is forgotten. */
static void note_csi_node(struct controller *c, const struct kube_json *object)
{
    struct str node = kube_json_text(kube_json_path(object, "metadata.name"));
    const struct kube_json *drivers = kube_json_path(object, "spec.drivers");
    struct topologies *all = arena_take(&c->memory, sizeof(*all));
    all->at = arena_take(&c->memory, kube_json_count(drivers) * sizeof(*all->at));
    for (const struct kube_json *d = kube_json_first(drivers); d != NULL; d = kube_json_next(d)) {
        const struct kube_json *keys = kube_json_get(d, "topologyKeys");
        struct topology *t = &all->at[all->count++];
        t->driver = arena_copy(&c->memory, kube_json_text(kube_json_get(d, "name")));
        t->keys.at = arena_take(&c->memory, kube_json_count(keys) * sizeof(struct str));
        for (const struct kube_json *k = kube_json_first(keys); k != NULL; k = kube_json_next(k))
            t->keys.at[t->keys.count++] = arena_copy(&c->memory, kube_json_text(k));
    }
    map_set(c->topologies, node, all);
}

static const struct strs *topology_keys(const struct controller *c, struct str node,
                                        struct str driver)
{
    const struct topologies *all = map_get(c->topologies, node);
    for (uint32_t i = 0; all != NULL && i < all->count; i++)
        if (str_equal(all->at[i].driver, driver))
            return &all->at[i].keys;
    return NULL;
}

void controller_note(struct controller *c, const struct kube_json *object)
{
    struct str kind = kube_json_text(kube_json_get(object, "kind"));
    if (str_is(kind, "CSINode"))
        note_csi_node(c, object);
}

/* Where a volume made on this node can be used: where all its driver's labels are the same. */
static struct node_term place_term(const struct controller *c, struct str node_name,
                                   struct str driver, struct arena *a)
{
    struct node_term term = {0};
    struct node node;
    const struct strs *keys = topology_keys(c, node_name, driver);
    if (keys == NULL || catalog_csi_node(c->cluster.catalog, node_name) == NULL ||
        !c->cluster.node(c->cluster.context, node_name, &node, a))
        return term;
    term.expressions.at = arena_take(a, keys->count * sizeof(struct requirement));
    for (uint32_t i = 0; i < keys->count; i++) {
        struct str *value = arena_take(a, sizeof(*value));
        if (kube_label_find(node.labels.at, node.labels.count, keys->at[i], value))
            term.expressions.at[term.expressions.count++] =
                (struct requirement){keys->at[i], STR_LITERAL("In"), {1, value}};
    }
    return term;
}

/* ---- writes ---- */

/* What is written is looked at in turn: a claim makes a volume, and that gives the claim its name,
 * where it ends. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void write(struct controller *c, const struct message *m)
{
    c->cluster.write(c->cluster.context, m);
    controller_look(c, m);
}

/* A volume that is reserved for a claim without one becomes its volume. */
/* NOLINTNEXTLINE(misc-no-recursion): see write */
static void look_at_volume(struct controller *c, const struct volume *v)
{
    struct arena a = {0};
    struct message m = {.type = MSG_claim_set};
    const struct claim *claim =
        v->has_claim_ref ? catalog_claim(c->cluster.catalog, v->claim_namespace, v->claim_name)
                         : NULL;
    if (claim != NULL && claim->volume_name.len == 0) {
        codec_copy(&claim_record, &m.claim_set.claim, claim, &a);
        m.claim_set.claim.volume_name = arena_copy(&a, v->name);
        m.claim_set.claim.phase = STR_LITERAL("Bound");
        m.claim_set.claim.bind_completed = true;
        write(c, &m);
    }
    arena_free(&a);
}

static void make_volume(struct controller *c, const struct claim *claim,
                        const struct storage_class *class, struct volume *v, struct arena *a)
{
    struct claim own;
    codec_copy(&claim_record, &own, claim, a);
    v->name = arena_print(a, "pvc-%.*s", STR_ARG(own.uid));
    v->uid = arena_print(a, "pv-%.*s", STR_ARG(own.uid));
    v->class_name = claim_spec_class(&own);
    v->capacity = own.requested;
    v->phase = STR_LITERAL("Bound");
    v->access_modes = own.access_modes;
    v->volume_mode = own.volume_mode;
    v->source = SOURCE_csi;
    v->driver = arena_copy(a, class->provisioner);
    v->handle = v->name;
    v->has_claim_ref = true;
    v->claim_namespace = own.namespace_name;
    v->claim_name = own.name;
    v->claim_uid = own.uid;
    struct node_term *term = arena_take(a, sizeof(*term));
    *term = place_term(c, own.selected_node, v->driver, a);
    v->has_terms = term->expressions.count > 0;
    v->terms.count = v->has_terms;
    v->terms.at = term;
}

/* The class that makes volumes for the claim, or NULL. */
static const struct storage_class *class_of(const struct controller *c, const struct claim *claim)
{
    const struct storage_class *class =
        catalog_storage_class(c->cluster.catalog, claim_spec_class(claim));
    bool makes = class != NULL && !str_is(class->provisioner, "kubernetes.io/no-provisioner");
    return makes ? class : NULL;
}

/* A claim that has a node but no volume gets one made there. */
/* NOLINTNEXTLINE(misc-no-recursion): see write */
static void look_at_claim(struct controller *c, const struct claim *claim)
{
    struct arena a = {0};
    struct message m = {.type = MSG_volume_set};
    const struct storage_class *class = class_of(c, claim);
    if (claim->selected_node.len == 0 || claim->volume_name.len > 0 || class == NULL)
        return;
    make_volume(c, claim, class, &m.volume_set.volume, &a);
    if (catalog_volume(c->cluster.catalog, m.volume_set.volume.name) == NULL)
        write(c, &m);
    arena_free(&a);
}

/* NOLINTNEXTLINE(misc-no-recursion): see write */
void controller_look(struct controller *c, const struct message *m)
{
    if (m->type == MSG_claim_set)
        look_at_claim(c, &m->claim_set.claim);
    else if (m->type == MSG_volume_set)
        look_at_volume(c, &m->volume_set.volume);
}

/* The names first: what is looked at may write. */
static struct message *all_of(const struct catalog *catalog, uint32_t *count, struct arena *a)
{
    size_t at = 0;
    const struct volume *v;
    const struct claim *claim;
    uint32_t room = catalog_count(catalog, CATALOG_volume) + catalog_count(catalog, CATALOG_claim);
    struct message *all = arena_take(a, room * sizeof(*all));
    *count = 0;
    while ((v = catalog_next(catalog, CATALOG_volume, &at)) != NULL) {
        struct message *m = &all[(*count)++];
        m->type = MSG_volume_set;
        codec_copy(&volume_record, &m->volume_set.volume, v, a);
    }
    at = 0;
    while ((claim = catalog_next(catalog, CATALOG_claim, &at)) != NULL) {
        struct message *m = &all[(*count)++];
        m->type = MSG_claim_set;
        codec_copy(&claim_record, &m->claim_set.claim, claim, a);
    }
    return all;
}

void controller_look_at_all(struct controller *c)
{
    struct arena a = {0};
    uint32_t count;
    const struct message *all = all_of(c->cluster.catalog, &count, &a);
    for (uint32_t i = 0; i < count; i++)
        controller_look(c, &all[i]);
    arena_free(&a);
}

/* ---- the binder's part ---- */

/* What the scheduler has assumed becomes true. */
static void write_assumed(struct controller *c, struct str profile, const struct claim_binding *b)
{
    struct arena a = {0};
    struct message m = {.type = MSG_claim_set};
    const struct volume *v = catalog_volume_seen(c->cluster.catalog, profile, b->volume_name);
    const struct claim *claim =
        catalog_claim_seen(c->cluster.catalog, profile, b->namespace_name, b->name);
    if (b->volume_name.len > 0 && v != NULL) {
        m.type = MSG_volume_set;
        codec_copy(&volume_record, &m.volume_set.volume, v, &a);
        write(c, &m);
    } else if (b->volume_name.len == 0 && claim != NULL) {
        codec_copy(&claim_record, &m.claim_set.claim, claim, &a);
        write(c, &m);
    }
    arena_free(&a);
}

static bool is_migrated(const struct controller *c, const struct volume *v, struct str node)
{
    const struct csi_node *csi = catalog_csi_node(c->cluster.catalog, node);
    for (uint32_t i = 0; csi != NULL && i < csi->migrated.count; i++)
        if (str_equal(csi->migrated.at[i], v->migrated_plugin))
            return plugin_is_migrated(v->migrated_plugin);
    return false;
}

/* The binder's last look at a volume: does the node really allow it, as the driver there sees it?
 */
static bool allows(const struct controller *c, const struct volume *v, struct str name)
{
    struct arena a = {0};
    struct node node = {.name = name};
    bool migrated = is_migrated(c, v, name);
    bool limited = migrated ? v->has_migrated_terms : v->has_terms;
    uint32_t count = migrated ? v->migrated_terms.count : v->terms.count;
    const struct node_term *terms = migrated ? v->migrated_terms.at : v->terms.at;
    (void)c->cluster.node(c->cluster.context, name, &node, &a);
    bool fine = !limited || node_labels_match(&node, terms, count);
    arena_free(&a);
    return fine && !(migrated && v->migration_problem.len > 0);
}

bool controller_bind(struct controller *c, const struct reservation *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        write_assumed(c, r->profile, &r->at[i]);
    for (uint32_t i = 0; i < r->count; i++) {
        const struct claim *claim =
            catalog_claim(c->cluster.catalog, r->at[i].namespace_name, r->at[i].name);
        const struct volume *v = catalog_volume(
            c->cluster.catalog, r->at[i].volume_name.len > 0 || claim == NULL ? r->at[i].volume_name
                                                                              : claim->volume_name);
        if (claim == NULL || !claim_is_bound(claim) || v == NULL || !allows(c, v, r->node))
            return false;
    }
    return true;
}
