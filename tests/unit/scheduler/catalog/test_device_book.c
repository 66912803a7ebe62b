/* device_book: whatever comes in whatever order, the devices in use are those that claims are seen
 * with and those that are in flight, each once; and what does not make sense is left out. */
#include "scheduler/catalog/device_book.h"

#include "proto/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CLAIMS 4

/* What the book should know of a claim; -1: no device. */
struct model {
    int seen, flight;
    bool settled;
    struct moment since;
};

static struct allocated_device device_named(int number, char *name, size_t room)
{
    snprintf(name, room, "g%d", number);
    return (struct allocated_device){.request = STR_LITERAL("r"),
                                     .driver = STR_LITERAL("d"),
                                     .pool = STR_LITERAL("p"),
                                     .device = str_of(name)};
}

static struct str uid_of(int claim)
{
    static char text[CLAIMS][16];
    snprintf(text[claim], sizeof(text[claim]), "u%d", claim);
    return str_of(text[claim]);
}

static void show(struct device_book *book, int claim, int device)
{
    char name[16];
    struct allocated_device given = device_named(device, name, sizeof(name));
    struct resource_claim c = {.uid = uid_of(claim), .allocated = device >= 0};
    c.devices.count = device >= 0;
    c.devices.at = &given;
    device_book_claim(book, &c);
}

static void reserve(struct device_book *book, int claim, int device)
{
    char name[16];
    struct allocated_device given = device_named(device, name, sizeof(name));
    struct device_allocation a = {.uid = uid_of(claim), .devices = {1, &given}};
    device_book_reserve(book, &a);
}

static void check(const struct device_book *book, const struct model *m)
{
    bool used[2 * CLAIMS] = {false};
    uint32_t count = 0, in_flight = 0;
    for (int i = 0; i < CLAIMS; i++) {
        int device = m[i].seen >= 0 ? m[i].seen : m[i].flight;
        if (device >= 0)
            used[device] = true;
        in_flight += m[i].flight >= 0;
        assert_int_equal(device_book_in_flight(book, uid_of(i)), m[i].flight >= 0 && m[i].seen < 0);
    }
    for (int i = 0; i < 2 * CLAIMS; i++)
        count += used[i];
    assert_int_equal(devices_totals(device_book_store(book)).in_use, count);
    assert_int_equal(device_book_count_in_flight(book), in_flight);
}

static void see(struct device_book *book, struct model *m, int claim, int device)
{
    show(book, claim, device);
    m->seen = device;
    if (device >= 0 && m->settled) {
        m->flight = -1;
        m->settled = false;
    }
}

static void settle(struct device_book *book, struct model *m, int claim, struct moment now)
{
    device_book_settle(book, uid_of(claim), now);
    if (m->flight < 0 || m->settled)
        return;
    m->settled = true;
    m->since = now;
    if (m->seen >= 0) {
        m->flight = -1;
        m->settled = false;
    }
}

static void barrier(struct device_book *book, struct model *all, struct moment asked)
{
    device_book_barrier(book, asked);
    for (int i = 0; i < CLAIMS; i++)
        if (all[i].settled && asked.ns >= all[i].since.ns) {
            all[i].flight = -1;
            all[i].settled = false;
        }
}

static void step(struct device_book *book, struct model *all, struct random *r, struct moment now)
{
    int claim = (int)random_below(r, CLAIMS), device = (int)random_below(r, (uint64_t)2 * CLAIMS);
    struct model *m = &all[claim];
    switch (random_below(r, 7)) {
    case 0: see(book, m, claim, device); break;
    case 1: see(book, m, claim, -1); break;
    case 2:
        if (m->seen >= 0 || m->flight >= 0)
            break;
        reserve(book, claim, device);
        m->flight = device;
        break;
    case 3:
        device_book_release(book, uid_of(claim));
        if (!m->settled)
            m->flight = -1;
        break;
    case 4: settle(book, m, claim, now); break;
    case 5:
        device_book_claim_gone(book, uid_of(claim));
        *m = (struct model){.seen = -1, .flight = -1};
        break;
    default: barrier(book, all, (struct moment){now.ns - (int64_t)random_below(r, 5)}); break;
    }
}

static void each_claims_devices_are_taken_once(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct random r = {seed};
        struct device_book *book = device_book_new();
        struct model all[CLAIMS];
        for (int i = 0; i < CLAIMS; i++)
            all[i] = (struct model){.seen = -1, .flight = -1};
        for (int64_t i = 10; i < 400; i++) {
            step(book, all, &r, (struct moment){i});
            check(book, all);
        }
        device_book_free(&book);
    }
}

/* What one pod of a group is given others may be given in the same attempt, and in no other. */
static void what_is_pending_may_be_shared(void **state)
{
    (void)state;
    struct device_book *book = device_book_new();
    struct str uid = uid_of(0);
    reserve(book, 1, 1);
    device_book_attempt_begin(book);
    assert_null(device_book_pending(book, uid_of(1))); /* it was before */
    assert_null(device_book_pending(book, uid));
    reserve(book, 0, 0);
    assert_true(str_is(device_book_pending(book, uid)->devices.at[0].device, "g0"));
    assert_false(device_book_is_shared(book, uid));
    device_book_share(book, uid);
    assert_true(device_book_is_shared(book, uid));
    assert_int_equal(device_book_count_in_flight(book), 2);
    device_book_attempt_end(book);
    assert_null(device_book_pending(book, uid));
    device_book_attempt_begin(book); /* the next one waits for it */
    assert_null(device_book_pending(book, uid));
    assert_true(device_book_in_flight(book, uid));
    device_book_attempt_end(book);
    assert_false(device_book_release(book, uid));
    assert_true(device_book_in_flight(book, uid));
    assert_true(device_book_release(book, uid));
    assert_false(device_book_in_flight(book, uid));
    assert_false(device_book_release(book, uid));
    assert_int_equal(devices_totals(device_book_store(book)).in_use, 1);
    device_book_free(&book);
}

/* One has written it, or may have: then it stays until the watch tells, whatever the others do. */
static void what_is_shared_ends_with_the_last(void **state)
{
    (void)state;
    for (int seen = 0; seen <= 1; seen++) {
        struct device_book *book = device_book_new();
        struct str uid = uid_of(0);
        device_book_attempt_begin(book);
        reserve(book, 0, 0);
        device_book_share(book, uid);
        device_book_share(book, uid);
        device_book_attempt_end(book);
        device_book_settle(book, uid, (struct moment){5});
        assert_true(device_book_settled_since(book).ns == MOMENT_NEVER.ns);
        assert_false(device_book_barrier(book, (struct moment){9}));
        assert_false(device_book_release(book, uid));
        if (seen)
            show(book, 0, 0);
        assert_false(device_book_release(book, uid));
        assert_int_equal(device_book_count_in_flight(book), !seen);
        assert_int_equal(devices_totals(device_book_store(book)).in_use, 1);
        assert_int_equal(device_book_barrier(book, (struct moment){9}), !seen);
        assert_int_equal(devices_totals(device_book_store(book)).in_use, seen);
        device_book_free(&book);
    }
}

static void a_malformed_slice_is_left_out(void **state)
{
    (void)state;
    struct device_book *book = device_book_new();
    struct device_capacity much = {.name = STR_LITERAL("memory"), .value = STR_LITERAL("1Gi")};
    struct slice_device device = {.name = STR_LITERAL("g"), .capacity = {1, &much}};
    struct resource_slice slice = {.name = STR_LITERAL("s"),
                                   .driver = STR_LITERAL("d"),
                                   .pool = STR_LITERAL("p"),
                                   .all_nodes = true,
                                   .pool_slices = 1,
                                   .devices = {1, &device}};
    device_book_slice(book, &slice);
    assert_int_equal(devices_totals(device_book_store(book)).devices, 1);
    much.value = STR_LITERAL("much");
    device_book_slice(book, &slice); /* and what it said before does not hold any more */
    assert_int_equal(devices_totals(device_book_store(book)).devices, 0);
    assert_true(device_book_has_slice(book, slice.name));
    much.value = STR_LITERAL("2Gi");
    device_book_slice(book, &slice);
    assert_int_equal(devices_totals(device_book_store(book)).devices, 1);
    device_book_slice_gone(book, slice.name);
    assert_int_equal(devices_totals(device_book_store(book)).slices, 0);
    device_book_free(&book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_claims_devices_are_taken_once),
        cmocka_unit_test(what_is_pending_may_be_shared),
        cmocka_unit_test(what_is_shared_ends_with_the_last),
        cmocka_unit_test(a_malformed_slice_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
