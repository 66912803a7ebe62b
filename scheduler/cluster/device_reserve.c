/* device_reserve: a search of the chosen node, turned into claims in flight. The one idea: the
 * answer depends on the store, the claims and the node alone, so asking again gives what the
 * findings promised, and nobody has to carry devices around for nodes that are not chosen.
 *
 * What must stay true: either all claims of a pod are reserved or none, and only claims that have
 * no devices and for which nobody else has a decision in flight. */
#include "scheduler/cluster/device_reserve.h"

#include "scheduler/catalog/device_records.h"
#include "scheduler/cluster/device_findings.h"

/* What a search has found, as a reservation is made of it. */
struct taking {
    struct device_allocation given; /* the last claim */
    struct str *error;
    struct arena *arena;
};

/* ---- claims that have devices ---- */

static void rely_on(struct device_reservation *out, const struct resource_claim *claim,
                    struct arena *a)
{
    const struct device_allocation what = {
        .claim = claim->name,
        .uid = claim->uid,
        .devices = {.count = claim->devices.count, .at = claim->devices.at}};
    codec_copy(&device_allocation_record, &out->relied_on[out->relied_count++], &what, a);
}

/* False: a claim is not there, or what it has been given is not for this node. Claims without
 * devices are not looked at. */
static bool note_relied_on(const struct catalog *catalog, const struct device_reserve_question *q,
                           struct device_reservation *out, struct arena *a)
{
    const struct pod *pod = q->pod;
    out->relied_on = arena_take(a, pod->device_claims.count * sizeof(*out->relied_on));
    for (uint32_t i = 0; i < pod->device_claims.count; i++) {
        const struct device_claim *named = &pod->device_claims.at[i];
        const struct resource_claim *claim =
            named->unneeded ? NULL
                            : catalog_resource_claim(catalog, pod->namespace_name, named->claim);
        if (!named->unneeded && (claim == NULL || claim->deleting))
            return false;
        if (claim == NULL || !claim->allocated)
            continue;
        if (!device_claim_reaches(claim, q->node))
            return false;
        rely_on(out, claim, a);
    }
    return true;
}

/* ---- claims that get them ---- */

/* A claim may have been taken, or gone, since the findings were written. */
static bool are_open(const struct device_book *book, const struct open_claims *claims)
{
    for (uint32_t i = 0; i < claims->count; i++)
        if (claims->at[i]->deleting || device_book_in_flight(book, claims->at[i]->uid))
            return false;
    return true;
}

static bool take_claim(struct dra_search *found, uint32_t i, const struct resource_claim *claim,
                       const struct device_reserve_question *q, struct taking *t)
{
    struct arena memory = {0};
    struct dra_allocation allocation;
    bool fine = dra_search_result(found, i, &memory, &allocation, t->error);
    if (fine)
        t->given = device_allocation_of(&allocation, claim, q->random, t->arena);
    else
        *t->error = arena_copy(t->arena, *t->error);
    arena_free(&memory);
    return fine;
}

/* Behind the pod's own claims. False: it cannot be given what was found. */
static bool take_special(const struct device_book *book, const struct device_found *found,
                         const struct device_reserve_question *q, struct device_reservation *out,
                         struct taking *t)
{
    struct str key = device_book_special_key(book, q->pod->uid, t->arena);
    const struct resource_claim stand_in = {.uid = key};
    struct extended_claim special = *found->extended;
    if (key.len == 0) {
        *t->error = STR_LITERAL("claims of earlier attempts are still being allocated");
        return false;
    }
    t->given = (struct device_allocation){.uid = key};
    if (special.requests.count > 0 && !take_claim(found->search, out->count, &stand_in, q, t))
        return false;
    special.allocation = t->given;
    out->extended = arena_take(t->arena, sizeof(*out->extended));
    codec_copy(&extended_claim_record, out->extended, &special, t->arena);
    return true;
}

/* What a pod of its group is being given is the pod's as well. */
static void take_shared(const struct open_claims *claims, const struct device_book *book,
                        struct device_reservation *out, struct arena *a)
{
    for (uint32_t i = 0; i < claims->shared_count; i++)
        codec_copy(&device_allocation_record, &out->at[out->count++],
                   device_book_pending(book, claims->shared[i]->uid), a);
}

static enum device_outcome take(struct device_search *search, const struct device_book *book,
                                const struct device_reserve_question *q,
                                struct device_reservation *out, struct taking *t)
{
    const struct open_claims *claims = device_search_claims(search);
    struct device_verdict verdict = device_search_node(search, q->node);
    const struct device_found found = device_search_found(search);
    if (verdict.fails)
        *t->error = verdict.reason;
    if (!verdict.fits)
        return verdict.fails ? DEVICES_failed : DEVICES_gone;
    out->at = arena_take(t->arena, (claims->count + claims->shared_count) * sizeof(*out->at));
    for (; out->count < claims->count; out->count++) {
        if (!take_claim(found.search, out->count, claims->at[out->count], q, t))
            return DEVICES_failed;
        out->at[out->count] = t->given;
    }
    if (found.extended != NULL && !take_special(book, &found, q, out, t))
        return DEVICES_failed;
    take_shared(claims, book, out, t->arena);
    const struct pod_room *room = device_search_room(search);
    out->room_count = room->count;
    out->rooms = arena_take(t->arena, room->count * sizeof(*out->rooms));
    for (uint32_t i = 0; i < room->count; i++)
        codec_copy(&claim_room_record, &out->rooms[i], &room->claims[i], t->arena);
    return DEVICES_reserved;
}

/* A pod may name a claim twice. Upstream looks for devices for both, and the first one's are
 * written. */
static void keep_each_once(struct device_reservation *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t k = 0;
        while (k < kept && !str_equal(r->at[k].uid, r->at[i].uid))
            k++;
        if (k == kept)
            r->at[kept++] = r->at[i];
    }
    r->count = kept;
}

/* The claims that had no devices when the pod was decided, and no other. */
static enum device_outcome search(struct catalog *catalog, const struct device_reserve_question *q,
                                  struct device_reservation *out, struct taking *taking)
{
    const struct device_book *book = catalog_devices(catalog);
    const struct device_question asked = {
        .catalog = catalog, .features = q->features, .pod = q->pod};
    struct device_search *search = device_search_new(&asked, taking->arena);
    enum device_outcome outcome = DEVICES_gone;
    bool nothing = q->open == 0 && !device_search_looks(search);
    if (device_search_open(search) == q->open && are_open(book, device_search_claims(search)))
        outcome = nothing ? DEVICES_reserved : take(search, book, q, out, taking);
    device_search_free(&search);
    return outcome;
}

static void hold(struct device_book *book, const struct device_allocation *given)
{
    if (device_book_pending(book, given->uid) != NULL)
        device_book_share(book, given->uid);
    else
        device_book_reserve(book, given);
}

enum device_outcome device_reserve(struct catalog *catalog, const struct device_reserve_question *q,
                                   struct device_reservation *out, struct str *error,
                                   struct arena *a)
{
    struct device_book *book = catalog_devices(catalog);
    struct taking taking = {.error = error, .arena = a};
    *out = (struct device_reservation){0};
    enum device_outcome outcome =
        note_relied_on(catalog, q, out, a) ? search(catalog, q, out, &taking) : DEVICES_gone;
    if (outcome != DEVICES_reserved)
        *out = (struct device_reservation){0};
    keep_each_once(out);
    out->counts_anew = outcome == DEVICES_reserved && q->features->device_node_resources &&
                       q->pod->amounts.count > 0;
    for (uint32_t i = 0; i < out->count; i++)
        hold(book, &out->at[i]);
    if (out->extended != NULL)
        device_book_reserve(book, &out->extended->allocation);
    return outcome;
}

struct pod device_reserved_pod(const struct device_reservation *r, const struct features *features,
                               const struct pod *pod, struct arena *a)
{
    struct pod placed = *pod;
    if (!r->counts_anew || features == NULL)
        return placed;
    claim_room_usage(features, &placed, r->rooms, r->room_count, a);
    placed.room_claims.at = arena_take(a, r->room_count * sizeof(*placed.room_claims.at));
    placed.room_claims.count = 0;
    for (uint32_t i = 0; i < r->room_count; i++)
        placed.room_claims.at[placed.room_claims.count++] = r->rooms[i].claim;
    return placed;
}

bool device_unreserve(struct catalog *catalog, struct device_reservation *r)
{
    struct device_book *book = catalog_devices(catalog);
    bool freed = false;
    for (uint32_t i = 0; i < r->count; i++)
        freed |= device_book_release(book, r->at[i].uid);
    if (r->extended != NULL)
        freed |= device_book_release(book, r->extended->allocation.uid);
    *r = (struct device_reservation){0};
    return freed;
}

void device_settle(struct catalog *catalog, struct device_reservation *r, struct moment now)
{
    for (uint32_t i = 0; i < r->count; i++)
        device_book_settle(catalog_devices(catalog), r->at[i].uid, now);
    if (r->extended != NULL)
        device_book_settle(catalog_devices(catalog), r->extended->allocation.uid, now);
    *r = (struct device_reservation){0};
}

bool device_unreserve_but(struct catalog *catalog, struct device_reservation *r,
                          struct strs written, struct str special, struct moment now)
{
    for (uint32_t i = 0; i < written.count; i++) {
        for (uint32_t k = 0; k < r->count; k++)
            if (str_equal(written.at[i], r->at[k].uid))
                device_book_settle(catalog_devices(catalog), r->at[k].uid, now);
        if (r->extended != NULL && special.len > 0 && str_equal(written.at[i], special))
            device_book_settle(catalog_devices(catalog), r->extended->allocation.uid, now);
    }
    return device_unreserve(catalog, r);
}
