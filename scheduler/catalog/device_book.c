/* device_book: a device store, and for each claim what is taken of it there. The one idea: a claim
 * takes what the watch says it has, else what a decision has given it, and whenever either changes
 * the old is given back before the new is taken.
 *
 * What must stay true: at any time each claim's devices are taken exactly once, and a claim that is
 * neither allocated nor in flight has no entry. */
#include "scheduler/catalog/device_book.h"

#include "proto/base/log.h"
#include "proto/base/map.h"
#include "proto/base/memory.h"
#include "proto/base/must.h"
#include "scheduler/catalog/device_records.h"

/* Devices with all that is said of them, in memory of their own. */
struct holding {
    struct arena memory;
    struct device_allocation given; /* of what is in flight; its strings are in the memory */
    uint32_t count;
    struct dra_use *at;
};

enum claim_state { CLAIM_seen, CLAIM_reserved, CLAIM_settled };

struct claim_use {
    enum claim_state state; /* CLAIM_seen: nothing is in flight */
    bool allocated;         /* the watch says so: seen counts, else flight */
    struct holding seen, flight;
    uint32_t users;   /* of what is in flight: decisions that have neither ended nor failed */
    bool shared;      /* there was more than one of them, */
    bool written;     /* and one has ended, so that it may have been written */
    uint64_t attempt; /* the group's that it was reserved in; 0: none's */
    struct moment settled;
    struct claim_use *before, *next; /* among those that are settled */
};

struct device_book {
    struct devices *store;
    struct map *claims; /* by UID: struct claim_use */
    struct map *slices; /* by name: the snapshot that last showed it, as a pointer */
    uintptr_t mark;
    uint32_t in_flight;
    uint64_t ends;
    struct claim_use *settled; /* few: the watch shows them within a moment */
    uint64_t attempts;         /* of groups, counted */
    bool in_attempt;           /* the last of them is under way */
};

struct device_book *device_book_new(void)
{
    struct device_book *b = memory_take(sizeof(*b));
    b->store = devices_new();
    b->claims = map_new();
    b->slices = map_new();
    b->mark = 1;
    return b;
}

static void drop_holding(struct holding *h)
{
    arena_free(&h->memory);
    *h = (struct holding){0};
}

static void free_claim(struct claim_use *c)
{
    drop_holding(&c->seen);
    drop_holding(&c->flight);
    memory_free(c);
}

void device_book_free(struct device_book **book)
{
    struct device_book *b = *book;
    size_t at = 0;
    void *value;
    if (b == NULL)
        return;
    while (map_next(b->claims, &at, NULL, &value))
        free_claim(value);
    map_free(&b->claims);
    map_free(&b->slices);
    devices_free(&b->store);
    memory_free(b);
    *book = NULL;
}

struct devices *device_book_store(const struct device_book *b)
{
    return b->store;
}

struct devices_totals device_book_totals(const struct device_book *b)
{
    return devices_totals(b->store);
}

/* ---- slices and classes ---- */

void device_book_slice(struct device_book *b, const struct resource_slice *slice)
{
    struct arena memory = {0};
    struct buffer error = {0};
    const struct dra_slice said = dra_slice_of(slice, &memory);
    if (!devices_put_slice(b->store, &said, &error)) {
        log_warn("a ResourceSlice is left out| slice=%.*s reason=\"%.*s\"", STR_ARG(slice->name),
                 (int)error.len, error.at);
        (void)devices_remove_slice(b->store, slice->name);
    }
    map_set(b->slices, slice->name, (void *)b->mark); /* NOLINT(performance-no-int-to-ptr) */
    buffer_free(&error);
    arena_free(&memory);
}

void device_book_slice_gone(struct device_book *b, struct str name)
{
    (void)devices_remove_slice(b->store, name);
    map_remove(b->slices, name);
}

bool device_book_has_slice(const struct device_book *b, struct str name)
{
    return map_get(b->slices, name) != NULL;
}

void device_book_snapshot_begin(struct device_book *b)
{
    b->mark++;
}

void device_book_snapshot_end(struct device_book *b)
{
    size_t at = 0;
    struct str name;
    void *value;
    while (map_next(b->slices, &at, &name, &value)) {
        if ((uintptr_t)value == b->mark)
            continue;
        (void)devices_remove_slice(b->store, name);
        map_remove(b->slices, name);
    }
}

void device_book_class(struct device_book *b, const struct device_class *class)
{
    struct arena memory = {0};
    const struct dra_class said = dra_class_of(class, &memory);
    devices_put_class(b->store, &said);
    arena_free(&memory);
}

void device_book_class_gone(struct device_book *b, struct str name)
{
    (void)devices_remove_class(b->store, name);
}

void device_book_taint_rule(struct device_book *b, const struct device_taint_rule *rule)
{
    const struct dra_taint_rule said = {
        .name = rule->name,
        .has_selector = rule->has_selector,
        .driver = rule->driver,
        .pool = rule->pool,
        .device = rule->device,
        .taint = {rule->taint.key, rule->taint.value, rule->taint.effect}};
    devices_put_taint_rule(b->store, &said);
}

void device_book_taint_rule_gone(struct device_book *b, struct str name)
{
    devices_remove_taint_rule(b->store, name);
}

/* ---- claims ---- */

static void hold(struct holding *h, const struct device_allocation *given)
{
    drop_holding(h);
    h->memory.first = 256;
    codec_copy(&device_allocation_record, &h->given, given, &h->memory);
    h->count = given->devices.count;
    h->at = dra_uses_of(h->given.devices.at, h->count, &h->memory);
}

static const struct holding *counts(const struct claim_use *c)
{
    return c->allocated ? &c->seen : &c->flight;
}

static void take(struct device_book *b, const struct claim_use *c)
{
    devices_take(b->store, counts(c)->at, counts(c)->count);
}

static void give_back(struct device_book *b, const struct claim_use *c)
{
    devices_give_back(b->store, counts(c)->at, counts(c)->count);
}

static struct claim_use *claim_of(const struct device_book *b, struct str uid)
{
    return map_get(b->claims, uid);
}

static struct claim_use *claim_made(struct device_book *b, struct str uid)
{
    struct claim_use *c = claim_of(b, uid);
    if (c == NULL) {
        c = memory_take(sizeof(*c));
        map_set(b->claims, uid, c);
    }
    return c;
}

static void become_settled(struct device_book *b, struct claim_use *c)
{
    must(c->state == CLAIM_reserved && c->before == NULL);
    c->state = CLAIM_settled;
    c->next = b->settled;
    if (c->next != NULL)
        c->next->before = c;
    b->settled = c;
}

static void leave_settled(struct device_book *b, struct claim_use *c)
{
    if (c->next != NULL)
        c->next->before = c->before;
    *(c->before != NULL ? &c->before->next : &b->settled) = c->next;
    c->before = c->next = NULL;
}

static void end_flight(struct device_book *b, struct claim_use *c)
{
    if (c->state == CLAIM_settled)
        leave_settled(b, c);
    b->in_flight -= c->state != CLAIM_seen;
    b->ends += c->state != CLAIM_seen;
    c->state = CLAIM_seen;
    c->users = 0;
    c->shared = c->written = false;
    drop_holding(&c->flight);
}

static void drop_if_idle(struct device_book *b, struct str uid, struct claim_use *c)
{
    if (c->allocated || c->state != CLAIM_seen)
        return;
    must(map_remove(b->claims, uid) == c);
    free_claim(c);
}

static bool same_amounts(const struct dra_use *a, const struct allocated_device *b)
{
    if (a->consumed_count != b->consumed.count)
        return false;
    for (uint32_t i = 0; i < a->consumed_count; i++)
        if (!str_equal(a->consumed[i].name, b->consumed.at[i].key) ||
            !str_equal(a->consumed[i].value, b->consumed.at[i].value))
            return false;
    return true;
}

/* Drivers report of devices all the time; whose they are hardly ever changes. */
static bool is_held(const struct holding *h, const struct resource_claim *claim)
{
    if (h->count != claim->devices.count)
        return false;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct dra_use *use = &h->at[i];
        const struct allocated_device *device = &claim->devices.at[i];
        if (!str_equal(use->driver, device->driver) || !str_equal(use->pool, device->pool) ||
            !str_equal(use->device, device->device) || use->admin_access != device->admin_access ||
            use->shared != (device->share_id.len > 0) || !same_amounts(use, device))
            return false;
    }
    return true;
}

/* ---- special claims ---- */

#define SPECIAL_MAX 4 /* attempts of a pod of which nobody knows what they have written */

static struct str special_key(struct str pod_uid, int attempt, struct arena *a)
{
    return arena_print(a, "%.*s/special/%d", STR_ARG(pod_uid), attempt);
}

struct str device_book_special_key(const struct device_book *b, struct str pod_uid, struct arena *a)
{
    for (int i = 0; i < SPECIAL_MAX; i++) {
        struct str key = special_key(pod_uid, i, a);
        if (claim_of(b, key) == NULL)
            return key;
    }
    return (struct str){0};
}

/* The claim is there, with what a decision has given it: from now on it counts under its UID. */
static void adopt(struct device_book *b, const struct resource_claim *claim)
{
    struct arena scratch = {0};
    for (int i = 0; claim->extended && b->in_flight > 0 && i < SPECIAL_MAX; i++) {
        struct str key = special_key(claim->owner_uid, i, &scratch);
        struct claim_use *c = claim_of(b, key);
        if (c == NULL || !is_held(&c->flight, claim))
            continue;
        give_back(b, c);
        end_flight(b, c);
        drop_if_idle(b, key, c);
        break;
    }
    arena_free(&scratch);
}

static void see_allocated(struct device_book *b, const struct resource_claim *claim)
{
    struct claim_use *c = claim_made(b, claim->uid);
    if (c->allocated && is_held(&c->seen, claim))
        return;
    const struct device_allocation seen = {
        .devices = {.count = claim->devices.count, .at = claim->devices.at}};
    adopt(b, claim);
    give_back(b, c);
    hold(&c->seen, &seen);
    c->allocated = true;
    b->ends += c->state != CLAIM_seen;
    if (c->state == CLAIM_settled) /* what was waited for */
        end_flight(b, c);
    take(b, c);
}

/* Without devices: what is in flight counts again. */
static void see_open(struct device_book *b, struct str uid)
{
    struct claim_use *c = claim_of(b, uid);
    if (c == NULL || !c->allocated)
        return;
    give_back(b, c);
    c->allocated = false;
    drop_holding(&c->seen);
    take(b, c);
    drop_if_idle(b, uid, c);
}

void device_book_claim(struct device_book *b, const struct resource_claim *claim)
{
    if (claim->allocated)
        see_allocated(b, claim);
    else
        see_open(b, claim->uid);
}

/* Its decision may still be on the way; the binder will find that the claim is not there. */
void device_book_claim_gone(struct device_book *b, struct str uid)
{
    struct claim_use *c = claim_of(b, uid);
    if (c == NULL)
        return;
    give_back(b, c);
    end_flight(b, c);
    must(map_remove(b->claims, uid) == c);
    free_claim(c);
}

/* ---- in flight ---- */

void device_book_reserve(struct device_book *b, const struct device_allocation *given)
{
    struct claim_use *c = claim_made(b, given->uid);
    must(!c->allocated && c->state == CLAIM_seen);
    hold(&c->flight, given);
    c->state = CLAIM_reserved;
    c->users = 1;
    c->attempt = b->in_attempt ? b->attempts : 0;
    b->in_flight++;
    take(b, c);
}

void device_book_attempt_begin(struct device_book *b)
{
    b->attempts++;
    b->in_attempt = true;
}

void device_book_attempt_end(struct device_book *b)
{
    b->in_attempt = false;
}

const struct device_allocation *device_book_pending(const struct device_book *b, struct str uid)
{
    const struct claim_use *c = b->in_attempt ? claim_of(b, uid) : NULL;
    bool pending =
        c != NULL && !c->allocated && c->state == CLAIM_reserved && c->attempt == b->attempts;
    return pending ? &c->flight.given : NULL;
}

void device_book_share(struct device_book *b, struct str uid)
{
    struct claim_use *c = claim_of(b, uid);
    must(c != NULL && c->state == CLAIM_reserved);
    c->users++;
    c->shared = true;
}

bool device_book_is_shared(const struct device_book *b, struct str uid)
{
    const struct claim_use *c = claim_of(b, uid);
    return c != NULL && c->shared;
}

bool device_book_in_flight(const struct device_book *b, struct str uid)
{
    const struct claim_use *c = claim_of(b, uid);
    return c != NULL && c->state != CLAIM_seen && !c->allocated;
}

/* Whoever had it in flight has ended. */
static void wait_for_watch(struct device_book *b, struct claim_use *c)
{
    become_settled(b, c);
    if (c->allocated)
        end_flight(b, c);
}

bool device_book_release(struct device_book *b, struct str uid)
{
    struct claim_use *c = claim_of(b, uid);
    if (c == NULL || c->state != CLAIM_reserved || --c->users > 0)
        return false;
    if (c->written) {
        wait_for_watch(b, c);
        return false;
    }
    if (!c->allocated)
        give_back(b, c);
    end_flight(b, c);
    drop_if_idle(b, uid, c);
    return true;
}

void device_book_settle(struct device_book *b, struct str uid, struct moment now)
{
    struct claim_use *c = claim_of(b, uid);
    if (c == NULL || c->state != CLAIM_reserved)
        return;
    c->written = true;
    c->settled = now;
    if (--c->users == 0)
        wait_for_watch(b, c);
}

struct moment device_book_settled_since(const struct device_book *b)
{
    struct moment since = MOMENT_NEVER;
    for (const struct claim_use *c = b->settled; c != NULL; c = c->next)
        since = moment_earlier(since, c->settled);
    return since;
}

bool device_book_barrier(struct device_book *b, struct moment asked)
{
    bool freed = false;
    size_t at = 0;
    struct str uid;
    void *value;
    while (b->settled != NULL && map_next(b->claims, &at, &uid, &value)) {
        struct claim_use *c = value;
        if (c->state != CLAIM_settled || asked.ns < c->settled.ns)
            continue;
        give_back(b, c);
        end_flight(b, c);
        must(!c->allocated && map_remove(b->claims, uid) == c);
        free_claim(c);
        freed = true;
    }
    return freed;
}

uint64_t device_book_ends(const struct device_book *b)
{
    return b->ends;
}

uint32_t device_book_count_in_flight(const struct device_book *b)
{
    return b->in_flight;
}
