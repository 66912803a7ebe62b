/* test_crowd: who has to go when there is no room, and whose time is over; which addresses count
 * together, and how many questions each may have under way. */
#include "ctl/serve/crowd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct crowd crowd;
static int64_t clock_ms;

static int set_up(void **state)
{
    (void)state;
    memset(&crowd, 0, sizeof(crowd));
    clock_ms = 1000;
    return 0;
}

static struct moment at(int64_t ms)
{
    return (struct moment){ms * 1000000};
}

static struct origin from(const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return origin_of((struct sockaddr *)&four);
    assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return origin_of((struct sockaddr *)&six);
}

/* A millisecond later than the one before. */
static struct guest *enter(const char *origin)
{
    struct origin o = from(origin);
    return crowd_enter(&crowd, &o, 7, at(clock_ms++));
}

static struct guest *enter_known(const char *origin)
{
    struct guest *g = enter(origin);
    crowd_asks(g, at(clock_ms));
    crowd_answered(g, true, at(clock_ms));
    crowd_ended(g, at(clock_ms));
    return g;
}

/* It takes nothing of its answer. */
static struct guest *enter_slow(const char *origin, bool known)
{
    struct guest *g = enter(origin);
    crowd_asks(g, at(clock_ms));
    crowd_waits(g);
    crowd_answered(g, known, at(clock_ms));
    return g;
}

static void fill(const char *origin, int count)
{
    for (int i = 0; i < count; i++)
        assert_non_null(enter(origin));
}

/* As http.c does it after each round. */
static int make_room(void)
{
    int gone = 0;
    for (struct guest *g; (g = crowd_surplus(&crowd, at(clock_ms))) != NULL; gone++)
        crowd_leave(&crowd, g);
    return gone;
}

static void a_newcomer_is_let_in_and_the_oldest_goes(void **state)
{
    (void)state;
    struct guest *first = enter("192.0.2.1"), *probe;
    fill("192.0.2.1", CROWD_MAX - 1);
    assert_null(crowd_surplus(&crowd, at(clock_ms)));
    probe = enter("192.0.2.1");
    assert_ptr_equal(crowd_surplus(&crowd, at(clock_ms)), first);
    assert_true(first->leaving && !probe->leaving);
    assert_null(crowd_surplus(&crowd, at(clock_ms))); /* who is told to go counts no more */
}

static void a_flood_ends_its_own_connections(void **state)
{
    (void)state;
    struct guest *slow = enter("192.0.2.9"), *scraper = enter_known("192.0.2.8");
    fill("198.51.100.1", 3 * CROWD_MAX / 4);
    for (int i = 0; i < 2000; i++) {
        assert_non_null(enter("198.51.100.1"));
        make_room();
    }
    assert_true(slow->state == GUEST_silent && !slow->leaving);
    assert_true(scraper->state == GUEST_silent && scraper->known && !scraper->leaving);
    assert_in_range(crowd.count, 1, CROWD_MAX);
}

static void who_is_known_stays_until_strangers_have_no_room(void **state)
{
    (void)state;
    struct guest *first = enter_known("192.0.2.8"), *newcomer;
    for (int i = 1; i < CROWD_MAX; i++)
        assert_non_null(enter_known("192.0.2.8"));
    newcomer = enter("192.0.2.8");
    assert_ptr_equal(crowd_surplus(&crowd, at(clock_ms)), first);
    assert_false(newcomer->leaving);
    crowd_leave(&crowd, first);
    for (int i = 0; i < 100; i++) {
        enter("192.0.2.7");
        make_room();
    }
    uint32_t known = 0;
    for (size_t i = 0; i < CROWD_ROOM; i++)
        known += crowd.at[i].known;
    assert_int_equal(known, CROWD_MAX - CROWD_STRANGERS);
}

static void a_stranger_that_is_answered_is_spared_for_seconds(void **state)
{
    (void)state;
    struct guest *answered = enter_slow("192.0.2.1", false);
    fill("192.0.2.1", CROWD_MAX);
    struct guest *gone = crowd_surplus(&crowd, at(clock_ms));
    assert_true(gone != NULL && gone != answered);
    clock_ms += CROWD_SPARED_MS;
    enter("192.0.2.1");
    assert_ptr_equal(crowd_surplus(&crowd, at(clock_ms)), answered);
}

static void slow_readers_keep_no_newcomer_out(void **state)
{
    (void)state;
    struct guest *first = enter_slow("192.0.2.1", false), *scraper = enter_known("192.0.2.8");
    for (int i = 2; i < CROWD_MAX; i++)
        enter_slow("192.0.2.1", false);
    struct guest *probe = enter("192.0.2.1"), *other = enter("192.0.2.9");
    assert_ptr_equal(crowd_surplus(&crowd, at(clock_ms)), first);
    assert_non_null(crowd_surplus(&crowd, at(clock_ms)));
    assert_null(crowd_surplus(&crowd, at(clock_ms)));
    assert_false(probe->leaving || other->leaving || scraper->leaving);
}

static void slow_readers_that_come_again_keep_no_newcomer_out(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        enter_slow("192.0.2.1", false);
        make_room();
    }
    struct guest *probe = enter("192.0.2.1");
    for (int i = 0; i < 100; i++) { /* while it shakes hands */
        enter_slow("192.0.2.1", false);
        make_room();
    }
    assert_true(probe->state == GUEST_silent && !probe->leaving);
}

static void who_is_known_stays_while_it_is_answered(void **state)
{
    (void)state;
    struct guest *first = enter_slow("192.0.2.1", true);
    for (int i = 1; i < CROWD_MAX; i++)
        enter_slow("192.0.2.1", true);
    clock_ms += CROWD_SPARED_MS;
    struct guest *newcomer = enter("192.0.2.1");
    assert_ptr_equal(crowd_surplus(&crowd, at(clock_ms)), newcomer); /* nobody else can go */
    assert_null(crowd_surplus(&crowd, at(clock_ms)));
    assert_false(first->leaving);
}

static void a_stranger_that_waits_for_a_permit_may_go(void **state)
{
    (void)state;
    struct guest *first = enter("192.0.2.1");
    crowd_asks(first, at(clock_ms));
    crowd_waits(first);
    fill("192.0.2.1", CROWD_MAX);
    assert_ptr_equal(crowd_surplus(&crowd, at(clock_ms)), first);
}

static void the_table_is_never_overrun(void **state)
{
    (void)state;
    fill("192.0.2.1", CROWD_ROOM);
    assert_null(enter("192.0.2.1"));
    assert_int_equal(make_room(), CROWD_ROOM - CROWD_MAX);
    assert_int_equal(crowd.count, CROWD_MAX);
}

static void headers_have_seconds_however_they_drip(void **state)
{
    (void)state;
    struct guest *g = enter("192.0.2.1");
    assert_int_equal(crowd_next(&crowd).ns, at(1000 + CROWD_FIRST_MS).ns);
    assert_null(crowd_late(&crowd, at(999 + CROWD_FIRST_MS)));
    assert_ptr_equal(crowd_late(&crowd, at(1000 + CROWD_FIRST_MS)), g);
    assert_null(crowd_late(&crowd, at(1000 + CROWD_FIRST_MS))); /* told once */
    assert_int_equal(crowd_next(&crowd).ns, MOMENT_NEVER.ns);
}

static void each_part_of_an_exchange_has_its_time(void **state)
{
    (void)state;
    struct guest *g = enter("192.0.2.1");
    crowd_asks(g, at(5000));
    assert_int_equal(crowd_next(&crowd).ns, at(5000 + CROWD_BODY_MS).ns);
    crowd_waits(g); /* for us: no matter how long */
    assert_int_equal(crowd_next(&crowd).ns, MOMENT_NEVER.ns);
    assert_null(crowd_late(&crowd, at(1000000)));
    crowd_answered(g, false, at(9000));
    assert_int_equal(crowd_next(&crowd).ns, at(9000 + CROWD_ANSWER_MS).ns);
    crowd_ended(g, at(10000));
    assert_int_equal(crowd_next(&crowd).ns, at(10000 + CROWD_IDLE_MS).ns);
    assert_false(g->known);
}

/* ---- addresses and turns ---- */

static void addresses_that_count_together(void **state)
{
    (void)state;
    struct origin a = from("192.0.2.1"), b = from("192.0.2.2"), mapped = from("::ffff:192.0.2.1");
    struct origin six = from("2001:db8:0:1::1"), same = from("2001:db8:0:1:ffff::2");
    struct origin other = from("2001:db8:0:2::1"), none = origin_of(NULL);
    char text[64];
    assert_false(origin_same(&a, &b));
    assert_true(origin_same(&a, &mapped));
    assert_true(origin_same(&six, &same));
    assert_false(origin_same(&six, &other));
    assert_false(origin_same(&none, &a));
    origin_print(&a, text, sizeof(text));
    assert_string_equal(text, "192.0.2.1");
    origin_print(&six, text, sizeof(text));
    assert_string_equal(text, "2001:db8:0:1::/64");
}

static void an_origin_has_its_share_of_turns(void **state)
{
    (void)state;
    struct turns turns = {0};
    struct origin flood = from("198.51.100.1"), scraper = from("192.0.2.8");
    for (int i = 0; i < TURNS_OF_ORIGIN; i++)
        assert_true(turns_take(&turns, &flood, false));
    assert_false(turns_take(&turns, &flood, false));
    assert_true(turns_take(&turns, &scraper, false));
    assert_true(turns_take(&turns, &flood, true)); /* one from there that was good before */
    turns_give(&turns, &flood, false);
    assert_true(turns_take(&turns, &flood, false));
}

static void turns_are_bounded_and_come_back(void **state)
{
    (void)state;
    struct turns turns = {0};
    char text[32];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < TURNS_MAX; i++) {
            snprintf(text, sizeof(text), "192.0.2.%d", i);
            struct origin o = from(text);
            assert_true(turns_take(&turns, &o, false));
        }
        struct origin more = from("203.0.113.1");
        assert_false(turns_take(&turns, &more, false));
        for (int i = 0; i < TURNS_KNOWN; i++)
            assert_true(turns_take(&turns, &more, true));
        assert_false(turns_take(&turns, &more, true));
        for (int i = 0; i < TURNS_KNOWN; i++)
            turns_give(&turns, &more, true);
        for (int i = TURNS_MAX - 1; i >= 0; i--) {
            snprintf(text, sizeof(text), "192.0.2.%d", i);
            struct origin o = from(text);
            turns_give(&turns, &o, false);
        }
        assert_int_equal(turns.origins + turns.strangers + turns.known, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_newcomer_is_let_in_and_the_oldest_goes),
        TEST(a_flood_ends_its_own_connections),
        TEST(who_is_known_stays_until_strangers_have_no_room),
        TEST(a_stranger_that_is_answered_is_spared_for_seconds),
        TEST(slow_readers_keep_no_newcomer_out),
        TEST(slow_readers_that_come_again_keep_no_newcomer_out),
        TEST(who_is_known_stays_while_it_is_answered),
        TEST(a_stranger_that_waits_for_a_permit_may_go),
        TEST(the_table_is_never_overrun),
        TEST(headers_have_seconds_however_they_drip),
        TEST(each_part_of_an_exchange_has_its_time),
        TEST(addresses_that_count_together),
        TEST(an_origin_has_its_share_of_turns),
        TEST(turns_are_bounded_and_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
