/* VolumeBinding keeps a pod where its volumes are, and finds volumes for claims that wait for the
 * pod to have a node.
 *
 * A claim is bound, delayed (its class waits for the first consumer), or should have been bound
 * long ago, and then the pod is turned away. The volumes of bound claims must allow the node. For a
 * delayed claim there must be a volume that the node can use, or leave to make one there; which one
 * is settled again, by the same volume_plan_make, when the pod has its node (volume_reserve.h). */
#include "scheduler/catalog/volume_findings.h"
#include "scheduler/catalog/volume_plan.h"
#include "scheduler/catalog/volumes.h"
#include "scheduler/rules/node_selector.h"
#include "scheduler/rules/requested_score.h"
#include "scheduler/table/label_matcher.h"
#include "scheduler/table/wrap.h"

#include <math.h>

/* ---- PreFilter ---- */

static bool reject(struct pre_filter *out, struct str reason)
{
    out->code = CODE_unresolvable;
    out->reason = reason;
    return false;
}

/* Upstream's podHasPVCs, for one volume. */
static bool claim_is_usable(const struct pre_filter_question *q, const struct pod_volume *v,
                            struct pre_filter *out)
{
    const struct claim *claim = catalog_claim(q->catalog, q->pod->namespace_name, v->name);
    if (claim == NULL && volume_is_claim(v))
        return reject(out, not_found(q->arena, "persistentvolumeclaim", v->name));
    if (claim == NULL)
        return reject(out, arena_print(q->arena,
                                       "waiting for ephemeral volume controller to create the "
                                       "persistentvolumeclaim \"%.*s\"",
                                       STR_ARG(v->name)));
    if (str_is(claim->phase, "Lost"))
        return reject(out, arena_print(q->arena,
                                       "persistentvolumeclaim \"%.*s\" bound to non-existent "
                                       "persistentvolume \"%.*s\"",
                                       STR_ARG(claim->name), STR_ARG(claim->volume_name)));
    if (claim->deleting)
        return reject(out, arena_print(q->arena, "persistentvolumeclaim \"%.*s\" is being deleted",
                                       STR_ARG(claim->name)));
    if (!volume_is_claim(v) && !claim_is_of(claim, q->pod))
        return reject(out, claim_not_of(claim, q->pod, q->arena));
    return true;
}

/* False when the class does not say how to bind, which fails the cycle. */
static bool is_delayed(const struct pre_filter_question *q, const struct claim *claim,
                       bool *delayed, struct pre_filter *out)
{
    const struct storage_class *class =
        claim->class_name.len > 0 ? catalog_storage_class(q->catalog, claim->class_name) : NULL;
    *delayed = class != NULL && str_is(class->binding_mode, "WaitForFirstConsumer") &&
               claim->volume_name.len == 0;
    if (class == NULL || class->binding_mode.len > 0)
        return true;
    out->code = CODE_error;
    out->reason = arena_print(q->arena, "VolumeBindingMode not set for StorageClass \"%.*s\"",
                              STR_ARG(claim->class_name));
    return false;
}

/* Sorts the pod's claims; false when the pod is turned away. */
static bool sort_claims(const struct pre_filter_question *q, struct pod_claims *claims,
                        struct pre_filter *out)
{
    bool immediate = false;
    for (uint32_t i = 0; i < q->pod->volumes.count; i++) {
        const struct pod_volume *v = &q->pod->volumes.at[i];
        if (!volume_has_claim(v))
            continue;
        const struct claim *claim =
            catalog_claim_seen(q->catalog, q->pod->scheduler_name, q->pod->namespace_name, v->name);
        bool delayed = false;
        if (claim_is_bound(claim)) {
            claims->bound[claims->bound_count++] = claim;
            continue;
        }
        if (!is_delayed(q, claim, &delayed, out))
            return false;
        if (delayed)
            claims->delayed[claims->delayed_count++] = claim;
        immediate |= !delayed;
    }
    return !immediate ||
           reject(out, STR_LITERAL("pod has unbound immediate PersistentVolumeClaims"));
}

static void pre_filter(const struct pre_filter_question *q, struct pre_filter *out)
{
    size_t room = q->pod->volumes.count * sizeof(struct claim *);
    struct pod_claims claims = {.profile = q->pod->scheduler_name,
                                .bound = arena_take(q->arena, room),
                                .delayed = arena_take(q->arena, room)};
    out->skip = true;
    for (uint32_t i = 0; i < q->pod->volumes.count; i++) {
        if (!volume_has_claim(&q->pod->volumes.at[i]))
            continue;
        out->skip = false;
        if (!claim_is_usable(q, &q->pod->volumes.at[i], out))
            return;
    }
    if (!out->skip && sort_claims(q, &claims, out))
        volume_findings_claims(q->catalog, &claims, &q->findings->volumes, q->arena);
}

/* ---- Filter ---- */

/* Which nodes can use a volume. */
struct place {
    bool limited; /* false: all */
    uint32_t count;
    struct node_matcher **terms;
};

struct bound_volume {
    struct place place, migrated_place;
    uint32_t migrated_plugin; /* atom, 0: none that any node has migrated */
};

struct claim_places {
    uint32_t selected_node; /* atom */
    uint32_t topology_count, room_count;
    struct node_matcher **topologies;
    struct label_matcher **rooms;
    struct label_index *by_label; /* its choices */
    struct label_index *rooms_by_label;
};

/* What a pod takes of one storage class on one node. */
struct class_use {
    struct str name;
    int64_t requested, capacity;
};

struct matching {
    const struct atoms *atoms;
    const struct volume_findings *findings;
    struct bound_volume *bound;
    struct place *candidates;
    struct claim_places *delayed;
    uint32_t *chosen;              /* of the node at hand */
    struct class_use *uses;        /* likewise; room for one a claim */
    const struct node_entry *node; /* which one that is */
};

static struct node_matcher **compile(const struct cycle *c, const struct node_term *terms,
                                     uint32_t count, uint32_t *kept)
{
    struct node_matcher **out = arena_take(c->arena, count * sizeof(struct node_matcher *));
    *kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct node_matcher *m = node_matcher_make(c, &terms[i]);
        if (m != NULL)
            out[(*kept)++] = m;
    }
    return out;
}

static struct place place_of(const struct cycle *c, bool limited, const struct node_term *terms,
                             uint32_t count)
{
    struct place p = {.limited = limited};
    if (limited)
        p.terms = compile(c, terms, count, &p.count);
    return p;
}

static struct bound_volume bound_of(const struct cycle *c, const struct placed_volume *v)
{
    return (struct bound_volume){
        .place = place_of(c, v->has_terms, v->terms.at, v->terms.count),
        .migrated_plugin =
            v->migrated_plugin.len == 0 ? 0 : atom_find(c->atoms, v->migrated_plugin),
        .migrated_place =
            place_of(c, v->has_migrated_terms, v->migrated_terms.at, v->migrated_terms.count)};
}

/* Rooms by the last label that each asks for. */
static struct label_index *index_rooms(const struct cycle *c, const struct claim_places *p)
{
    struct label_index *x = label_index_make(p->room_count, c->arena);
    for (uint32_t i = 0; i < p->room_count; i++) {
        struct node_label label;
        uint32_t labels = 0;
        while (label_matcher_asks(p->rooms[i], labels, &label))
            labels++;
        if (labels > 0)
            label_index_add(x, i, label);
        else
            label_index_add_any(x, i);
    }
    label_index_end(x);
    return x;
}

/* Volumes with more terms are asked for by each node; one term is what they have. */
enum { INDEXED_TERMS_MAX = 8 };

/* A prebound choice is always found: it ends the search where the node cannot use it. */
static bool is_found_anywhere(const struct volume_choice *choice, const struct place *p)
{
    return choice->prebound || !p->limited || p->count > INDEXED_TERMS_MAX;
}

static struct label_index *index_choices(const struct cycle *c, const struct delayed_claim *claim,
                                         const struct place *candidates)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < claim->choices.count; i++) {
        const struct place *p = &candidates[claim->choices.at[i].volume];
        bool anywhere = is_found_anywhere(&claim->choices.at[i], p);
        room += anywhere;
        for (uint32_t k = 0; k < p->count && !anywhere; k++)
            room += node_matcher_index_room(p->terms[k]);
    }
    struct label_index *x = label_index_make(room, c->arena);
    for (uint32_t i = 0; i < claim->choices.count; i++) {
        const struct place *p = &candidates[claim->choices.at[i].volume];
        bool anywhere = is_found_anywhere(&claim->choices.at[i], p);
        if (anywhere)
            label_index_add_any(x, i);
        for (uint32_t k = 0; k < p->count && !anywhere; k++)
            node_matcher_index(p->terms[k], i, x);
    }
    label_index_end(x);
    return x;
}

static struct claim_places places_of(const struct cycle *c, const struct delayed_claim *claim,
                                     const struct place *candidates)
{
    struct claim_places p = {.selected_node = atom_find(c->atoms, claim->selected_node)};
    p.topologies = compile(c, claim->topologies.at, claim->topologies.count, &p.topology_count);
    p.room_count = claim->rooms.count;
    p.rooms = arena_take(c->arena, p.room_count * sizeof(struct label_matcher *));
    for (uint32_t i = 0; i < p.room_count; i++)
        p.rooms[i] = label_matcher_find(c->atoms, &claim->rooms.at[i], c->arena);
    p.by_label = index_choices(c, claim, candidates);
    p.rooms_by_label = index_rooms(c, &p);
    return p;
}

static void *filter_begin(const struct cycle *c)
{
    static const struct volume_findings nothing;
    struct matching *b = arena_take(c->arena, sizeof(*b));
    const struct volume_findings *findings = &c->findings->volumes;
    if (!volume_findings_is_sound(findings))
        findings = &nothing; /* a peer's fault; the coordinator's own plan is what binds */
    b->atoms = c->atoms;
    b->findings = findings;
    b->bound = arena_take(c->arena, findings->bound.count * sizeof(*b->bound));
    for (uint32_t i = 0; i < findings->bound.count; i++)
        b->bound[i] = bound_of(c, &findings->bound.at[i]);
    b->candidates = arena_take(c->arena, findings->candidates.count * sizeof(*b->candidates));
    for (uint32_t i = 0; i < findings->candidates.count; i++) {
        const struct placed_volume *v = &findings->candidates.at[i];
        b->candidates[i] = place_of(c, v->has_terms, v->terms.at, v->terms.count);
    }
    b->delayed = arena_take(c->arena, findings->delayed.count * sizeof(*b->delayed));
    for (uint32_t i = 0; i < findings->delayed.count; i++)
        b->delayed[i] = places_of(c, &findings->delayed.at[i], b->candidates);
    b->chosen = arena_take(c->arena, (findings->delayed.count + 1) * sizeof(uint32_t));
    b->uses = arena_take(c->arena, (findings->delayed.count + 1) * sizeof(*b->uses));
    return b;
}

static bool any_matches(const struct matching *b, struct node_matcher *const *terms, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (node_matcher_matches(b->atoms, terms[i], b->node))
            return true;
    return false;
}

static bool allows(const struct matching *b, const struct place *p)
{
    return !p->limited || any_matches(b, p->terms, p->count);
}

static bool is_migrated(const struct node_entry *node, uint32_t plugin)
{
    for (uint32_t i = 0; plugin != 0 && node->storage != NULL && i < node->storage->migrated_count;
         i++)
        if (node->storage->migrated[i] == plugin)
            return true;
    return false;
}

enum bound_verdict { BOUND_fits, BOUND_elsewhere, BOUND_missing, BOUND_failed };

/* The first bound volume that objects decides. */
static enum bound_verdict look_at_bound(const struct matching *b, struct str *problem)
{
    for (uint32_t i = 0; i < b->findings->bound.count; i++) {
        const struct placed_volume *v = &b->findings->bound.at[i];
        const struct bound_volume *bound = &b->bound[i];
        bool migrated = is_migrated(b->node, bound->migrated_plugin);
        if (v->missing)
            return BOUND_missing;
        *problem = v->migration_problem;
        if (migrated && problem->len > 0)
            return BOUND_failed;
        if (!allows(b, migrated ? &bound->migrated_place : &bound->place))
            return BOUND_elsewhere;
    }
    return BOUND_fits;
}

static bool is_selected(void *context, uint32_t claim)
{
    const struct matching *b = context;
    return b->delayed[claim].selected_node == b->node->name;
}

static bool can_use(void *context, uint32_t candidate)
{
    const struct matching *b = context;
    return allows(b, &b->candidates[candidate]);
}

static bool can_make(void *context, uint32_t claim)
{
    const struct matching *b = context;
    return any_matches(b, b->delayed[claim].topologies, b->delayed[claim].topology_count);
}

static uint32_t next_choice(void *context, uint32_t claim, uint32_t from)
{
    const struct matching *b = context;
    return label_index_next(b->delayed[claim].by_label, b->node->labels, b->node->label_count,
                            from);
}

/* The first room that the node reaches, or LABEL_INDEX_NONE. */
static uint32_t first_room(const struct matching *b, uint32_t claim)
{
    const struct claim_places *p = &b->delayed[claim];
    const struct node_label *labels = b->node->labels;
    uint32_t count = b->node->label_count;
    uint32_t i = label_index_next(p->rooms_by_label, labels, count, 0);
    while (i != LABEL_INDEX_NONE && !label_matcher_matches(p->rooms[i], labels, count))
        i = label_index_next(p->rooms_by_label, labels, count, i + 1);
    return i;
}

static bool can_reach(void *context, uint32_t claim)
{
    return first_room(context, claim) != LABEL_INDEX_NONE;
}

static void explain(enum bound_verdict bound, enum volume_plan plan, struct ruling *out)
{
    const struct str none = {0};
    if (bound == BOUND_elsewhere)
        ruling_reject(out, CODE_unresolvable,
                      "node(s) didn't match PersistentVolume's node affinity", none);
    if (plan == VOLUME_PLAN_no_volume)
        ruling_reject(out, CODE_unresolvable,
                      "node(s) didn't find available persistent volumes to bind", none);
    if (plan == VOLUME_PLAN_no_room)
        ruling_reject(out, CODE_unresolvable, "node(s) did not have enough free storage", none);
    if (bound == BOUND_missing)
        ruling_reject(out, CODE_unresolvable,
                      "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
                      none);
}

static void filter(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row,
                   struct ruling *out)
{
    struct matching b = *(const struct matching *)state;
    struct str problem = {0};
    (void)c;
    b.node = n->entry[row];
    enum bound_verdict bound = look_at_bound(&b, &problem);
    if (bound == BOUND_failed) {
        ruling_reject(out, CODE_error, "", problem);
        return;
    }
    const struct volume_plan_node node = {.context = &b,
                                          .is_selected = is_selected,
                                          .can_use = can_use,
                                          .can_make = can_make,
                                          .can_reach = can_reach,
                                          .next_choice = next_choice};
    enum volume_plan plan = volume_plan_make(b.findings, &node, b.chosen);
    if (plan == VOLUME_PLAN_problem)
        ruling_reject(out, CODE_error, "", b.findings->delayed.at[b.chosen[0]].problem);
    else
        explain(bound, plan, out);
}

/* ---- Score, with upstream's gate StorageCapacityScoring: how full each class's storage gets ----
 */

struct class_uses {
    uint32_t count;
    struct class_use *at;
};

static bool score_skips(const struct cycle *c)
{
    return !c->framework->profile.features.storage_capacity_scoring;
}

/* Of a pod whose resize was put off PreFilter leaves nothing that could be found here, as upstream:
 * it is seen where a profile has no DeferredPodScheduling, so that several nodes are feasible. */
static void pre_score(struct cycle *c)
{
    if (c->pod->resize_deferred && c->framework->profile.features.storage_capacity_scoring)
        c->error = STR_LITERAL("running PreScore plugin \"VolumeBinding\": not found");
}

static struct class_use *use_of(struct class_uses *uses, struct str class_name)
{
    for (uint32_t i = 0; i < uses->count; i++)
        if (str_equal(uses->at[i].name, class_name))
            return &uses->at[i];
    uses->at[uses->count] = (struct class_use){.name = class_name};
    return &uses->at[uses->count++];
}

/* Volumes that are there. */
static void use_volumes(const struct matching *b, struct class_uses *uses)
{
    for (uint32_t i = 0; i < b->findings->delayed.count; i++) {
        if (b->chosen[i] == VOLUME_TO_MAKE)
            continue;
        const struct placed_volume *v = &b->findings->candidates.at[b->chosen[i]];
        struct class_use *use = use_of(uses, v->class_name);
        use->requested = wrap_add(use->requested, b->findings->delayed.at[i].requested);
        use->capacity = wrap_add(use->capacity, v->capacity);
    }
}

/* The room that the node reaches. */
static bool room_of(const struct matching *b, uint32_t claim, int64_t *bytes)
{
    const struct delayed_claim *c = &b->findings->delayed.at[claim];
    uint32_t room = first_room(b, claim);
    if (room >= c->room_sizes.count)
        return false;
    *bytes = c->room_sizes.at[room].bytes;
    return true;
}

/* Volumes to be made: the room is there once, however many are made in it. */
static void use_rooms(const struct matching *b, struct class_uses *uses)
{
    for (uint32_t i = 0; i < b->findings->delayed.count; i++) {
        int64_t bytes;
        if (!room_of(b, i, &bytes))
            continue;
        struct class_use *use = use_of(uses, b->findings->delayed.at[i].class_name);
        use->requested = wrap_add(use->requested, b->findings->delayed.at[i].requested);
        use->capacity = bytes;
    }
}

static int64_t worth(const struct profile *profile, const struct class_uses *uses)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < uses->count; i++) {
        const struct class_use *use = &uses->at[i];
        bool full = use->capacity == 0 || use->requested > use->capacity;
        int64_t percent = full ? 100 : wrap_mul(use->requested, 100) / use->capacity;
        sum += shape_score(profile->volume_shape.at, profile->volume_shape.count, percent);
    }
    return uses->count == 0 ? 0 : (int64_t)round((double)sum / (double)uses->count);
}

static int64_t score(const struct cycle *c, const void *state, const struct nodes *n, uint32_t row)
{
    struct matching b = *(const struct matching *)state;
    b.node = n->entry[row];
    const struct volume_plan_node node = {.context = &b,
                                          .is_selected = is_selected,
                                          .can_use = can_use,
                                          .can_make = can_make,
                                          .can_reach = can_reach,
                                          .next_choice = next_choice};
    if (b.findings->delayed.count == 0 ||
        volume_plan_make(b.findings, &node, b.chosen) != VOLUME_PLAN_fits)
        return 0;
    struct class_uses uses = {0, b.uses};
    use_volumes(&b, &uses);
    if (uses.count == 0)
        use_rooms(&b, &uses);
    return worth(&c->framework->profile, &uses);
}

const struct plugin plugin_volume_binding = {
    .name = "VolumeBinding",
    .pre_filter = pre_filter,
    .filter_begin = filter_begin,
    .filter = filter,
    .score_skips = score_skips,
    .pre_score = pre_score,
    .score_begin = filter_begin,
    .score = score,
};
