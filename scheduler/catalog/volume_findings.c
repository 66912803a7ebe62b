/* volume_findings: upstream's FindMatchingVolume and checkVolumeProvisions, as far as they go
 * without a node. The one idea: for each claim the volumes that could be its own are listed best
 * first, so that what is left for a node is to take the first one that it can use.
 *
 * What must stay true: with k claims to be matched, of volumes that the same nodes can use only the
 * first k of a claim's list can ever be taken, and the others are left out. */
#include "scheduler/catalog/volume_findings.h"

#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/kube/objects/selector.h"
#include "scheduler/catalog/volumes.h"

#include <stdlib.h>

/* ---- where a volume can be used ---- */

/* Upstream matches a volume's terms with a node that has labels only: fields say nothing, except
 * that a field in error spoils its term. True when the terms leave out some nodes. */
static bool place_terms(bool has_terms, const struct node_term *terms, uint32_t count,
                        struct placed_volume *out, struct arena *a)
{
    out->terms.count = count;
    out->terms.at = (struct node_term *)terms; /* only read */
    bool fields = false;
    for (uint32_t i = 0; i < count; i++)
        fields |= terms[i].fields.count > 0;
    if (!has_terms || !fields)
        return has_terms;
    out->terms.at = arena_take(a, count * sizeof(struct node_term));
    for (uint32_t i = 0; i < count; i++) {
        out->terms.at[i] = terms[i];
        if (terms[i].fields.count == 0 || !node_term_check(&terms[i], "", NULL))
            continue;
        if (terms[i].expressions.count == 0)
            return false; /* nothing but fields: every node */
        out->terms.at[i].fields.count = 0;
    }
    return true;
}

static void place(const struct volume *v, struct placed_volume *out, struct arena *a)
{
    *out = (struct placed_volume){.name = v->name, .resource_version = v->resource_version};
    out->has_terms = place_terms(v->has_terms, v->terms.at, v->terms.count, out, a);
}

/* A bound volume is looked at as its CSI driver would have it, where it is migrated. */
static void place_bound(const struct volume *v, struct placed_volume *out, struct arena *a)
{
    struct placed_volume migrated = {0};
    place(v, out, a);
    if (!plugin_is_migrated(v->migrated_plugin))
        return;
    out->migrated_plugin = v->migrated_plugin;
    out->has_migrated_terms = place_terms(v->has_migrated_terms, v->migrated_terms.at,
                                          v->migrated_terms.count, &migrated, a);
    out->migrated_terms.count = migrated.terms.count;
    out->migrated_terms.at = migrated.terms.at;
    if (v->migration_problem.len > 0)
        out->migration_problem =
            arena_print(a, "could not translate pv: %.*s", STR_ARG(v->migration_problem));
}

/* ---- what a claim could get ---- */

struct pick {
    const struct volume *volume;
    bool prebound;
};

static bool has_all_modes(const struct volume *v, const struct claim *claim)
{
    for (uint32_t i = 0; i < claim->access_modes.count; i++) {
        bool has = false;
        for (uint32_t k = 0; k < v->access_modes.count && !has; k++)
            has = str_equal(v->access_modes.at[k], claim->access_modes.at[i]);
        if (!has)
            return false;
    }
    return true;
}

/* False: never this claim's, whatever the node. */
static bool suits(const struct volume *v, const struct claim *claim, bool *prebound)
{
    *prebound = volume_is_reserved_for(v, claim);
    if ((v->has_claim_ref && !*prebound) || v->capacity < claim->requested || v->deleting ||
        !str_equal(v->volume_mode, claim->volume_mode) ||
        !str_equal(v->attributes_class, claim->attributes_class))
        return false;
    return *prebound ||
           (str_is(v->phase, "Available") &&
            (!claim->selector.present ||
             label_selector_matches(&claim->selector, v->labels.at, v->labels.count)) &&
            has_all_modes(v, claim));
}

/* Upstream takes a reserved volume wherever it comes across it, else the smallest, and of several
 * the one it comes across first, in no particular order. */
static int compare_picks(const void *a, const void *b)
{
    const struct pick *left = a, *right = b;
    if (left->prebound != right->prebound)
        return left->prebound ? -1 : 1;
    int64_t l = left->volume->capacity, r = right->volume->capacity;
    if (!left->prebound && l != r)
        return l < r ? -1 : 1;
    return str_compare(left->volume->name, right->volume->name);
}

/* What is being written for one pod. */
struct writing {
    const struct catalog *catalog;
    struct str profile;
    struct volume_findings *out;
    struct arena *arena;
    uint32_t to_match;   /* how many claims are to be matched with a volume */
    uint32_t room;       /* of out->candidates */
    struct map *numbers; /* volume → its index in out->candidates plus one */
};

static uint32_t candidate_number(struct writing *w, const struct placed_volume *place)
{
    struct volume_findings *out = w->out;
    intptr_t number = (intptr_t)map_get(w->numbers, place->name);
    if (number > 0)
        return (uint32_t)(number - 1);
    if (out->candidates.count == w->room) {
        struct placed_volume *more =
            arena_take(w->arena, (w->room * 2 + 8) * sizeof(struct placed_volume));
        for (uint32_t i = 0; i < w->room; i++)
            more[i] = out->candidates.at[i];
        out->candidates.at = more;
        w->room = w->room * 2 + 8;
    }
    out->candidates.at[out->candidates.count++] = *place;
    map_set(w->numbers, place->name,
            (void *)(intptr_t)out->candidates.count); /* NOLINT(performance-no-int-to-ptr) */
    return out->candidates.count - 1;
}

/* How many volumes that the same nodes can use came before; this one counts from now on. */
static uint32_t before_in_place(struct map *places, const struct placed_volume *p)
{
    struct placed_volume nameless = *p;
    struct buffer key = {0};
    nameless.name = (struct str){0};
    nameless.resource_version = 0;
    codec_encode(&placed_volume_record, &nameless, &key);
    intptr_t before = (intptr_t)map_get(places, buffer_str(&key));
    map_set(places, buffer_str(&key), (void *)(before + 1)); /* NOLINT(performance-no-int-to-ptr) */
    buffer_free(&key);
    return (uint32_t)before;
}

static void list_choices(struct writing *w, const struct pick *picks, uint32_t count,
                         struct delayed_claim *out)
{
    struct map *places = map_new();
    out->choices.at = arena_take(w->arena, count * sizeof(struct volume_choice));
    for (uint32_t i = 0; i < count; i++) {
        struct placed_volume p;
        place(picks[i].volume, &p, w->arena);
        if (!picks[i].prebound && before_in_place(places, &p) >= w->to_match)
            continue;
        p.capacity = picks[i].volume->capacity;
        p.class_name = volume_spec_class(picks[i].volume);
        out->choices.at[out->choices.count++] =
            (struct volume_choice){candidate_number(w, &p), picks[i].prebound};
    }
    map_free(&places);
}

static void find_choices(struct writing *w, const struct claim *claim, struct delayed_claim *out)
{
    struct volume_search at = {0};
    struct pick *picks = NULL;
    size_t count = 0, room = 0;
    const struct volume *v;
    while ((v = catalog_next_volume_for(w->catalog, w->profile, claim, &at)) != NULL) {
        bool prebound;
        if (!str_equal(v->class_name, claim->class_name) || !suits(v, claim, &prebound))
            continue;
        if (count == room) {
            room = room * 2 + 16;
            picks = memory_resize(picks, room * sizeof(*picks));
        }
        picks[count++] = (struct pick){v, prebound};
    }
    if (count > 1)
        qsort(picks, count, sizeof(*picks), compare_picks);
    list_choices(w, picks, (uint32_t)count, out);
    memory_free(picks);
}

/* ---- what could be made for a claim ---- */

static bool enough(const struct csi_capacity *c, int64_t wanted)
{
    if (c->has_maximum)
        return c->maximum >= wanted;
    return c->has_capacity && c->capacity >= wanted;
}

static int compare_rooms(const void *a, const void *b)
{
    const struct csi_capacity *l = *(const struct csi_capacity *const *)a;
    const struct csi_capacity *r = *(const struct csi_capacity *const *)b;
    int order = str_compare(l->namespace_name, r->namespace_name);
    return order != 0 ? order : str_compare(l->name, r->name);
}

/* The rooms in which the claim could be made, by name: the first that a node reaches counts, and
 * which one that is must not hang on when we were told of it. Upstream takes any. */
static const struct csi_capacity **rooms_for(struct writing *w, const struct claim *claim,
                                             uint32_t *count)
{
    const struct csi_capacity *c, **rooms;
    size_t at = 0;
    *count = 0;
    rooms = arena_take(w->arena, catalog_count(w->catalog, CATALOG_csi_capacity) *
                                     sizeof(struct csi_capacity *));
    while ((c = catalog_next(w->catalog, CATALOG_csi_capacity, &at)) != NULL)
        if (str_equal(c->class_name, claim->class_name) && enough(c, claim->requested) &&
            c->topology.present && label_selector_check(&c->topology, NULL))
            rooms[(*count)++] = c;
    if (*count > 1)
        qsort(rooms, *count, sizeof(struct csi_capacity *), compare_rooms);
    return rooms;
}

/* Nodes can reach a room when its topology, which must be there and in order, says so. */
static void find_rooms(struct writing *w, const struct claim *claim, struct delayed_claim *out)
{
    uint32_t count;
    const struct csi_capacity **rooms = rooms_for(w, claim, &count);
    out->room_counts = true;
    out->rooms.at = arena_take(w->arena, count * sizeof(struct selector));
    out->room_sizes.at = arena_take(w->arena, count * sizeof(struct storage_amount));
    for (uint32_t i = 0; i < count; i++) {
        out->rooms.at[out->rooms.count++] = rooms[i]->topology;
        out->room_sizes.at[out->room_sizes.count++].bytes =
            rooms[i]->has_capacity ? rooms[i]->capacity : 0;
    }
}

static void find_provision(struct writing *w, const struct claim *claim, struct delayed_claim *out)
{
    const struct storage_class *class = catalog_storage_class(w->catalog, claim->class_name);
    if (class == NULL || class->provisioner.len == 0 ||
        str_is(class->provisioner, "kubernetes.io/no-provisioner"))
        return;
    const struct csi_driver *driver = catalog_csi_driver(w->catalog, class->provisioner);
    out->provisionable = true;
    out->topologies.count = class->topologies.count;
    out->topologies.at = class->topologies.at;
    /* a claim that asks for nothing is not checked */
    if (driver != NULL && driver->storage_capacity && claim->requested > 0)
        find_rooms(w, claim, out);
}

static void delay(struct writing *w, const struct claim *claim)
{
    struct delayed_claim *out = &w->out->delayed.at[w->out->delayed.count++];
    struct buffer errors = {0};
    *out = (struct delayed_claim){.name = claim->name,
                                  .uid = claim->uid,
                                  .requested = claim->requested,
                                  .class_name = claim_spec_class(claim),
                                  .resource_version = claim->resource_version,
                                  .selected = claim->selected_node.len > 0,
                                  .selected_node = claim->selected_node};
    if (claim->selector.present && !label_selector_check(&claim->selector, &errors))
        out->problem = arena_print(
            w->arena, "error creating internal label selector for claim: %.*s/%.*s: %.*s",
            STR_ARG(claim->namespace_name), STR_ARG(claim->name), STR_ARG(buffer_str(&errors)));
    buffer_free(&errors);
    if (!out->selected && out->problem.len == 0)
        find_choices(w, claim, out);
    find_provision(w, claim, out);
}

static void sort_by_request(const struct claim **claims, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct claim *moving = claims[i];
        uint32_t k = i;
        for (; k > 0 && claims[k - 1]->requested > moving->requested; k--)
            claims[k] = claims[k - 1];
        claims[k] = moving;
    }
}

static void delay_all(struct writing *w, const struct pod_claims *claims)
{
    uint32_t count = claims->delayed_count;
    const struct claim **free_ones = arena_take(w->arena, count * sizeof(struct claim *));
    w->out->delayed.at = arena_take(w->arena, count * sizeof(struct delayed_claim));
    for (uint32_t i = 0; i < count; i++)
        if (claims->delayed[i]->selected_node.len == 0)
            free_ones[w->to_match++] = claims->delayed[i];
        else
            delay(w, claims->delayed[i]);
    sort_by_request(free_ones, w->to_match);
    for (uint32_t i = 0; i < w->to_match; i++)
        delay(w, free_ones[i]);
}

void volume_findings_claims(const struct catalog *catalog, const struct pod_claims *claims,
                            struct volume_findings *out, struct arena *a)
{
    out->bound.at = arena_take(a, claims->bound_count * sizeof(struct placed_volume));
    for (uint32_t i = 0; i < claims->bound_count; i++) {
        const struct volume *v = catalog_volume(catalog, claims->bound[i]->volume_name);
        struct placed_volume *p = &out->bound.at[out->bound.count++];
        if (v != NULL)
            place_bound(v, p, a);
        else
            *p = (struct placed_volume){.name = claims->bound[i]->volume_name, .missing = true};
    }
    if (claims->delayed_count == 0)
        return;
    struct writing w = {.catalog = catalog,
                        .profile = claims->profile,
                        .out = out,
                        .arena = a,
                        .numbers = map_new()};
    delay_all(&w, claims);
    map_free(&w.numbers);
}
