/* claims: what it costs the coordinator to find out what a claim that waits for its pod's node
 * could get, by what the cluster's storage is like: volumes that others have, local volumes that
 * are free, or rooms of single nodes in which one could be made.
 *
 * What must stay true: what is found is what the kind of storage allows; a run in which that is not
 * so fails. */
#include "scheduler/catalog/volume_findings.h"
#include "tests/bench/core/clock.h"
#include "tests/bench/core/cluster.h"
#include "tests/bench/core/sections.h"

#define GIB INT64_C(1073741824)

enum storage_kind {
    STORAGE_taken, /* each volume is some other claim's; one more could be made anywhere */
    STORAGE_local, /* each volume is a disk of its own node, and free */
    STORAGE_rooms, /* each node has a room of its own */
    STORAGE_KINDS
};

static const char *const storage_names[STORAGE_KINDS] = {"taken", "local", "rooms"};

struct scene {
    struct arena memory, scratch;
    struct catalog *catalog;
    const struct claim *claim;
    uint32_t choices, rooms;
};

static struct label *host_of(struct scene *s, uint32_t i)
{
    struct label *host = arena_take(&s->memory, sizeof(*host));
    *host = (struct label){STR_LITERAL("kubernetes.io/hostname"), cluster_node_name(i, &s->memory)};
    return host;
}

static void add_volume(struct scene *s, enum storage_kind kind, uint32_t i)
{
    struct message m = {.type = MSG_volume_set};
    struct volume *v = &m.volume_set.volume;
    struct str mode = STR_LITERAL("ReadWriteOnce");
    struct label *host = host_of(s, i);
    struct requirement on_host = {
        .key = host->key, .operator_name = STR_LITERAL("In"), .values = {1, &host->value}};
    struct node_term term = {.expressions = {1, &on_host}};
    *v = (struct volume){.name = arena_print(&s->memory, "pv-%07u", i),
                         .class_name = STR_LITERAL("disks"),
                         .volume_mode = STR_LITERAL("Filesystem"),
                         .phase = STR_LITERAL("Available"),
                         .capacity = 10 * GIB,
                         .access_modes = {1, &mode},
                         .resource_version = 10 + i};
    if (kind == STORAGE_taken) {
        v->phase = STR_LITERAL("Bound");
        v->has_claim_ref = true;
        v->claim_namespace = STR_LITERAL("default");
        v->claim_name = arena_print(&s->memory, "data-%07u", i);
        v->claim_uid = arena_print(&s->memory, "claim-uid-%07u", i);
    } else {
        v->has_terms = true;
        v->terms.count = 1;
        v->terms.at = &term;
    }
    catalog_take(s->catalog, &m);
}

static void add_room(struct scene *s, uint32_t i)
{
    struct message m = {.type = MSG_csi_capacity_set};
    struct csi_capacity *c = &m.csi_capacity_set.csi_capacity;
    *c = (struct csi_capacity){.namespace_name = STR_LITERAL("default"),
                               .name = arena_print(&s->memory, "room-%07u", i),
                               .class_name = STR_LITERAL("disks"),
                               .has_capacity = true,
                               .capacity = 100 * GIB};
    c->topology.present = true;
    c->topology.labels.count = 1;
    c->topology.labels.at = host_of(s, i);
    catalog_take(s->catalog, &m);
}

static void add_class(struct scene *s, enum storage_kind kind)
{
    struct message m = {.type = MSG_storage_class_set};
    m.storage_class_set.storage_class = (struct storage_class){
        .name = STR_LITERAL("disks"),
        .provisioner = kind == STORAGE_local ? STR_LITERAL("kubernetes.io/no-provisioner")
                                             : STR_LITERAL("disks.example.com"),
        .binding_mode = STR_LITERAL("WaitForFirstConsumer")};
    catalog_take(s->catalog, &m);
    m = (struct message){.type = MSG_csi_driver_set};
    m.csi_driver_set.csi_driver = (struct csi_driver){.name = STR_LITERAL("disks.example.com"),
                                                      .storage_capacity = kind == STORAGE_rooms};
    catalog_take(s->catalog, &m);
}

static void add_claim(struct scene *s)
{
    struct message m = {.type = MSG_claim_set};
    struct str mode = STR_LITERAL("ReadWriteOnce");
    m.claim_set.claim = (struct claim){.namespace_name = STR_LITERAL("default"),
                                       .name = STR_LITERAL("data"),
                                       .uid = STR_LITERAL("claim-uid"),
                                       .class_name = STR_LITERAL("disks"),
                                       .volume_mode = STR_LITERAL("Filesystem"),
                                       .access_modes = {1, &mode},
                                       .requested = 5 * GIB};
    catalog_take(s->catalog, &m);
    s->claim = catalog_claim(s->catalog, STR_LITERAL("default"), STR_LITERAL("data"));
}

static void build(struct scene *s, enum storage_kind kind, uint32_t count)
{
    *s = (struct scene){.catalog = catalog_new()};
    for (uint32_t i = 0; i < count; i++)
        if (kind == STORAGE_rooms)
            add_room(s, i);
        else
            add_volume(s, kind, i);
    add_class(s, kind);
    add_claim(s);
}

static void clear(struct scene *s)
{
    catalog_free(&s->catalog);
    arena_free(&s->scratch);
    arena_free(&s->memory);
}

static void look(void *state)
{
    struct scene *s = state;
    struct volume_findings found = {0};
    const struct pod_claims claims = {
        .profile = STR_LITERAL(CLUSTER_SCHEDULER), .delayed_count = 1, .delayed = &s->claim};
    arena_reset(&s->scratch); /* as of one cycle after another */
    volume_findings_claims(s->catalog, &claims, &found, &s->scratch);
    s->choices = found.delayed.at[0].choices.count;
    s->rooms = found.delayed.at[0].rooms.count;
}

static bool is_as_it_must_be(const struct scene *s, enum storage_kind kind, uint32_t count)
{
    return s->choices == (kind == STORAGE_local ? count : 0) &&
           s->rooms == (kind == STORAGE_rooms ? count : 0);
}

bool claims_run(const struct core_options *o, struct report *r)
{
    static const struct column columns[] = {
        {"storage", COLUMN_TEXT}, {"objects", 0}, {"us_a_claim", 1}, {"ns_an_object", 1}};
    report_section(r, "claims", "CPU time of looking for what a waiting claim could get", columns,
                   sizeof(columns) / sizeof(columns[0]));
    for (enum storage_kind kind = 0; kind < STORAGE_KINDS; kind++)
        for (uint32_t i = 0; i < o->nodes.count; i++) {
            struct scene s;
            uint32_t count = o->nodes.at[i];
            build(&s, kind, count);
            double ns = clock_ns_of(look, &s, o->seconds);
            bool well = is_as_it_must_be(&s, kind, count);
            clear(&s);
            if (!well) {
                fprintf(stderr, "bench-core: a claim does not find its storage (%s)\n",
                        storage_names[kind]);
                return false;
            }
            report_row(r, (struct cell[]){TEXT(storage_names[kind]), NUMBER(count),
                                          NUMBER(ns / 1000), NUMBER(ns / count)});
        }
    return true;
}
