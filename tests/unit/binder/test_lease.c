/* The lease in virtual time: each test plays the API server and the other candidate. */
#include "tests/unit/binder/world.h"

#include "binder/lease.h"

struct election {
    struct world *w;
    struct lease *lease;
};

static struct span no_fence(const void *state, struct instant at)
{
    (void)state;
    (void)at;
    return (struct span){0};
}

static struct election begin(const struct lease_options *options)
{
    struct election e = {.w = world_new()};
    e.w->lanes = lanes_new(&(struct lanes_options){.api = world_api(e.w), .fence = no_fence});
    e.lease = lease_new(options, e.w->lanes, e.w->at);
    return e;
}

static void end(struct election *e)
{
    lease_free(&e->lease);
    world_free(e->w);
}

static struct moment tick(struct election *e, int64_t ms)
{
    world_pass(e->w, ms);
    struct moment next = lease_tick(e->lease, e->w->at);
    lanes_pump(e->w->lanes, e->w->at.now);
    return next;
}

/* Ticks in small steps until a request matches. */
static int64_t tick_until(struct election *e, const char *text, int64_t most_ms)
{
    for (int64_t ms = 0; ms <= most_ms; ms += 10) {
        if (world_find(e->w, text) != NULL)
            return ms;
        tick(e, 10);
    }
    fail_msg("no request \"%s\" within %lld ms", text, (long long)most_ms);
    return 0;
}

static void see(struct election *e, const char *holder, int transitions, int renewed_s)
{
    world_answer(
        e->w, "GET", 200,
        world_lease(&(struct world_lease){
            .holder = holder, .transitions = transitions, .version = 5, .renewed_s = renewed_s}));
}

static struct election leading(void)
{
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    world_answer(e.w, "GET", 404, "");
    tick(&e, 0);
    world_accept_lease(e.w, "POST");
    assert_true(lease_leading(e.lease));
    return e;
}

static void a_missing_lease_is_created_and_led(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    assert_string_equal(world_find(e.w, "GET")->path,
                        "/apis/coordination.k8s.io/v1" LEASE_PATH "/kube-scheduler");
    world_answer(e.w, "GET", 404, "");
    tick(&e, 0);
    struct world_request *r = world_find(e.w, "POST");
    assert_string_equal(
        r->body,
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":"
        "\"kube-scheduler\",\"namespace\":\"kube-system\"},\"spec\":{\"holderIdentity\":\"host_me\""
        ",\"leaseDurationSeconds\":15,\"acquireTime\":\"2026-01-02T03:04:05.000006Z\","
        "\"renewTime\":\"2026-01-02T03:04:05.000006Z\",\"leaseTransitions\":0}}");
    assert_int_equal(r->channel, KUBE_CHANNEL_lease);
    assert_false(lease_leading(e.lease));
    world_accept_lease(e.w, "POST");
    assert_true(lease_leading(e.lease));
    assert_int_equal(lease_term(e.lease), 1);
    end(&e);
}

static void a_losing_creator_waits_for_the_winner(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    world_answer(e.w, "GET", 404, "");
    tick(&e, 0);
    world_answer(e.w, "POST", 409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\"}");
    tick_until(&e, "GET", 1000);
    see(&e, "other", 0, 1);
    tick(&e, 0);
    assert_false(lease_leading(e.lease));
    assert_null(world_find(e.w, "PUT"));
    end(&e);
}

static void a_released_lease_is_taken_within_two_seconds(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "other", 3, 1);
    int64_t waited = tick_until(&e, "GET", 2000);
    see(&e, "", 3, 2);
    waited += tick_until(&e, "PUT", 2000);
    assert_true(waited <= 2000);
    assert_non_null(strstr(world_find(e.w, "PUT")->body, "\"leaseTransitions\":4"));
    assert_non_null(strstr(world_find(e.w, "PUT")->body, "\"resourceVersion\":\"5\""));
    world_accept_lease(e.w, "PUT");
    assert_int_equal(lease_term(e.lease), 5);
    end(&e);
}

/* The times in the record are years old; only when it was seen to change counts. */
static void expiry_is_judged_by_observation(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "other", 3, 1);
    int64_t waited = 0;
    while (waited < 10000) {
        waited += tick_until(&e, "GET", 2000);
        see(&e, "other", 3, 1 + (waited > 5000 && waited < 6500)); /* one renewal in between */
        assert_null(world_find(e.w, "PUT"));
    }
    while (world_find(e.w, "PUT") == NULL && waited < 30000) {
        tick(&e, 10);
        waited += 10;
        if (world_find(e.w, "GET") != NULL)
            see(&e, "other", 3, 1);
    }
    assert_non_null(world_find(e.w, "PUT"));
    assert_true(waited >= 20000 && waited <= 23500);
    end(&e);
}

static void a_kill_is_followed_by_takeover_within_duration_plus_two_seconds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct lease_options options = world_lease_options;
        options.seed = seed;
        struct election e = begin(&options);
        tick(&e, 0);
        see(&e, "other", 3, 1);
        int64_t polled =
            tick_until(&e, "GET", 2000); /* a renewal came right after our first look */
        see(&e, "other", 3, 2);
        while (world_find(e.w, "PUT") == NULL && polled < 30000) {
            tick(&e, 10);
            polled += 10;
            if (world_find(e.w, "GET") != NULL)
                see(&e, "other", 3, 2);
        }
        assert_true(polled >= 15000 && polled <= 17000);
        end(&e);
    }
}

static void it_is_renewed_every_retry_period_and_keeps_its_term(void **state)
{
    (void)state;
    struct election e = leading();
    for (int i = 0; i < 10; i++) {
        int64_t waited = tick_until(&e, "PUT", 3000);
        assert_in_range(waited, 1990, 2010);
        assert_non_null(strstr(world_find(e.w, "PUT")->body, "\"leaseTransitions\":0"));
        assert_non_null(strstr(world_find(e.w, "PUT")->body,
                               "\"acquireTime\":\"2026-01-02T03:04:05.000006Z\""));
        world_accept_lease(e.w, "PUT");
    }
    assert_int_equal(lease_term(e.lease), 1);
    assert_true(lease_leading(e.lease));
    end(&e);
}

static void it_is_lost_when_it_cannot_be_renewed_in_time(void **state)
{
    (void)state;
    struct election e = leading();
    for (int ms = 0; ms < 9990; ms += 10) {
        tick(&e, 10);
        if (world_find(e.w, "leases") != NULL)
            world_lose(e.w, "leases", false);
        assert_true(lease_leading(e.lease));
    }
    tick(&e, 20);
    assert_false(lease_leading(e.lease));
    assert_string_equal(lease_lost_why(e.lease), "renew deadline passed");
    assert_int_equal(lease_left(e.lease, e.w->at).ns, 0);
    end(&e);
}

static void after_losing_it_tries_again_with_a_new_term(void **state)
{
    (void)state;
    struct election e = leading();
    tick(&e, 11000);
    assert_false(lease_leading(e.lease));
    tick_until(&e, "GET", 3000);
    see(&e, "host_me", 0, 1); /* nobody took it */
    tick_until(&e, "PUT", 1000);
    world_accept_lease(e.w, "PUT");
    assert_true(lease_leading(e.lease));
    assert_int_equal(lease_term(e.lease), 2);
    end(&e);
}

static void another_holder_ends_it(void **state)
{
    (void)state;
    struct election e = leading();
    tick_until(&e, "PUT", 3000);
    world_answer(e.w, "PUT", 409, "{}");
    assert_true(lease_leading(e.lease)); /* only the record can tell */
    tick(&e, 0);
    see(&e, "other", 1, 1);
    assert_false(lease_leading(e.lease));
    assert_string_equal(lease_lost_why(e.lease), "another holder");
    end(&e);
}

static void a_touched_object_does_not_end_it(void **state)
{
    (void)state;
    struct election e = leading();
    tick_until(&e, "PUT", 3000);
    world_answer(e.w, "PUT", 409, "{}");
    tick(&e, 0);
    see(&e, "host_me", 0, 1); /* somebody added a label: our name and transitions */
    assert_true(lease_leading(e.lease));
    tick(&e, 0);
    assert_non_null(strstr(world_find(e.w, "PUT")->body, "\"resourceVersion\":\"5\""));
    world_accept_lease(e.w, "PUT");
    assert_true(lease_leading(e.lease));
    end(&e);
}

static void another_life_of_the_same_identity_ends_it(void **state)
{
    (void)state;
    struct election e = leading();
    tick_until(&e, "PUT", 3000);
    world_answer(e.w, "PUT", 409, "{}");
    tick(&e, 0);
    see(&e, "host_me", 1, 1);
    assert_false(lease_leading(e.lease));
    end(&e);
}

static void a_new_life_of_the_same_identity_takes_over_at_once(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "host_me", 6, 1);
    int64_t waited = tick_until(&e, "PUT", 1000);
    assert_true(waited <= 300);
    world_accept_lease(e.w, "PUT");
    assert_int_equal(lease_term(e.lease), 8);
    end(&e);
}

/* Ticks until it is settled; how long that took. */
static int64_t settle(struct election *e, int64_t most_ms)
{
    for (int64_t ms = 0; ms <= most_ms; ms += 10) {
        if (lease_settled(e->lease)) {
            assert_int_equal(lease_settles_in(e->lease, e->w->at.now).ns, 0);
            return ms;
        }
        assert_true(lease_leading(e->lease));
        assert_true(lease_settles_in(e->lease, e->w->at.now).ns > 0);
        assert_true(tick(e, 0).ns <= e->w->at.now.ns + span_of_ms(2100).ns);
        tick(e, 10);
        if (world_find(e->w, "PUT") != NULL)
            world_accept_lease(e->w, "PUT");
    }
    fail_msg("not settled within %lld ms", (long long)most_ms);
    return 0;
}

/* The former life's requests may still be carried out: 10 s after its death at the latest it would
 * have given them up. */
static void a_life_after_an_unclean_end_settles_first(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 3000); /* it took so long to reach the server; the former life is dead since before */
    see(&e, "host_me", 6, 1);
    int64_t waited = tick_until(&e, "PUT", 1000);
    world_accept_lease(e.w, "PUT");
    assert_true(lease_leading(e.lease));
    assert_false(lease_settled(e.lease));
    assert_in_range(3000 + waited + settle(&e, 12000), 10000, 10050);
    assert_int_equal(lease_term(e.lease), 8);
    end(&e);
}

/* Its fence closed before its lease ended, so no request has more time than that. */
static void it_settles_when_the_former_lease_has_run_out(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    world_answer(
        e.w, "GET", 200,
        world_lease(&(struct world_lease){
            .holder = "host_me", .transitions = 6, .version = 5, .renewed_s = 1, .duration_s = 4}));
    int64_t waited = tick_until(&e, "PUT", 1000);
    world_accept_lease(e.w, "PUT");
    assert_in_range(waited + settle(&e, 12000), 4000, 4050);
    end(&e);
}

/* Nothing is under way behind a clean end, nor behind a lease that has run out, nor without one. */
static void other_takeovers_are_settled_at_once(void **state)
{
    (void)state;
    struct election e = leading();
    assert_true(lease_settled(e.lease));
    end(&e);
    e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "", 6, 1);
    tick_until(&e, "PUT", 1000);
    world_accept_lease(e.w, "PUT");
    assert_true(lease_settled(e.lease));
    end(&e);
    e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "other", 6, 1);
    for (int64_t ms = 0; ms < 20000 && world_find(e.w, "PUT") == NULL; ms += 10) {
        tick(&e, 10);
        if (world_find(e.w, "GET") != NULL)
            see(&e, "other", 6, 1);
    }
    world_accept_lease(e.w, "PUT");
    assert_true(lease_settled(e.lease));
    end(&e);
}

/* Somebody deletes the record of another who may go on writing until he notices. */
static void a_lease_that_vanished_is_settled_when_it_would_have_run_out(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "other", 6, 1);
    int64_t waited = tick_until(&e, "GET", 2000);
    world_answer(e.w, "GET", 404, "");
    tick(&e, 0);
    world_accept_lease(e.w, "POST");
    assert_in_range(waited + settle(&e, 16000), 15000, 15050);
    end(&e);
}

/* The answer to the first write is lost: what it wrote is no reason to wait less, or more. */
static void a_doubtful_takeover_settles_no_sooner(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "host_me", 6, 1);
    int64_t waited = tick_until(&e, "PUT", 1000);
    world_lose(e.w, "PUT", true);
    waited += tick_until(&e, "GET", 5000);
    see(&e, "host_me", 7, 2);
    waited += tick_until(&e, "PUT", 1000);
    world_accept_lease(e.w, "PUT");
    assert_in_range(waited + settle(&e, 12000), 10000, 10050);
    end(&e);
}

/* What was taken back from the client in the former reign may be on the way all the same. */
static void a_lease_that_is_regained_settles_too(void **state)
{
    (void)state;
    struct election e = leading();
    tick(&e, 10000);
    assert_false(lease_leading(e.lease));
    int64_t waited = tick_until(&e, "GET", 3000);
    see(&e, "host_me", 0, 1);
    waited += tick_until(&e, "PUT", 1000);
    world_accept_lease(e.w, "PUT");
    assert_in_range(waited + settle(&e, 12000), 9900, 10050);
    end(&e);
}

static void a_lease_that_is_left_is_not_written(void **state)
{
    (void)state;
    struct election e = leading();
    lease_leave(e.lease);
    assert_true(lease_released(e.lease));
    assert_false(lease_leading(e.lease));
    for (int i = 0; i < 200; i++)
        tick(&e, 100);
    assert_int_equal(world_count(e.w, "leases"), 0);
    end(&e);
}

static void a_deleted_lease_is_made_again_in_the_same_term(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "", 6, 1);
    tick_until(&e, "PUT", 1000);
    world_accept_lease(e.w, "PUT");
    assert_int_equal(lease_term(e.lease), 8);
    tick_until(&e, "PUT", 3000);
    world_answer(e.w, "PUT", 404, "");
    tick(&e, 0);
    assert_non_null(strstr(world_find(e.w, "POST")->body, "\"leaseTransitions\":7"));
    world_accept_lease(e.w, "POST");
    assert_true(lease_leading(e.lease));
    assert_int_equal(lease_term(e.lease), 8);
    end(&e);
}

static void a_higher_term_on_the_bus_is_passed(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    lease_hear_term(e.lease, 40);
    lease_hear_term(e.lease, INT64_MAX); /* nonsense */
    tick(&e, 0);
    world_answer(e.w, "GET", 404, "");
    tick(&e, 0);
    world_accept_lease(e.w, "POST");
    assert_int_equal(lease_term(e.lease), 41);
    lease_hear_term(e.lease, 50);
    tick_until(&e, "PUT", 3000);
    world_accept_lease(e.w, "PUT");
    assert_int_equal(lease_term(e.lease), 51);
    end(&e);
}

static void a_doubtful_renewal_is_read_back_before_the_next(void **state)
{
    (void)state;
    struct election e = leading();
    tick_until(&e, "PUT", 3000);
    world_lose(e.w, "PUT", true);
    tick_until(&e, "GET", 2000);
    see(&e, "host_me", 0, 9);
    tick(&e, 0);
    world_accept_lease(e.w, "PUT");
    assert_true(lease_leading(e.lease));
    end(&e);
}

static void the_fence_closes_before_the_deadline_and_ends_before_expiry(void **state)
{
    (void)state;
    struct election e = leading();
    struct instant t = e.w->at;
    for (int ms = 0; ms < 16000; ms += 100) {
        struct span left = lease_left(e.lease, t);
        assert_true(ms < 9500 ? left.ns > 0 : left.ns == 0);
        if (left.ns > 0)
            assert_int_equal(ms + span_ms(left), 14500); /* half a second before anybody else */
        t.now = moment_after(t.now, span_of_ms(100));
        t.wall_us += 100000;
    }
    end(&e);
}

static void the_fence_counts_from_the_start_of_the_renewal(void **state)
{
    (void)state;
    struct election e = leading();
    tick_until(&e, "PUT", 3000);
    tick(&e, 3000); /* the answer takes three seconds */
    world_accept_lease(e.w, "PUT");
    assert_int_equal(span_ms(lease_left(e.lease, e.w->at)), 14500 - 3000);
    end(&e);
}

static void a_clock_that_jumps_ahead_closes_the_fence_until_renewed(void **state)
{
    (void)state;
    struct election e = leading();
    e.w->at.wall_us += 3600LL * 1000000; /* or: the host was suspended for an hour */
    assert_int_equal(lease_left(e.lease, e.w->at).ns, 0);
    tick(&e, 0);
    assert_true(lease_leading(e.lease));
    world_accept_lease(e.w, "PUT"); /* at once, not after the retry period */
    assert_true(lease_left(e.lease, e.w->at).ns > 0);
    assert_int_equal(lease_term(e.lease), 1);
    end(&e);
}

static void a_clock_that_jumps_back_changes_nothing(void **state)
{
    (void)state;
    struct election e = leading();
    e.w->at.wall_us -= 3600LL * 1000000;
    assert_int_equal(span_ms(lease_left(e.lease, e.w->at)), 14500);
    tick(&e, 100);
    assert_null(world_find(e.w, "PUT"));
    tick(&e, 10000);
    assert_false(lease_leading(e.lease));
    end(&e);
}

static void a_failing_hurried_renewal_does_not_spin(void **state)
{
    (void)state;
    struct election e = leading();
    e.w->at.wall_us += 3600LL * 1000000;
    tick(&e, 0);
    world_lose(e.w, "PUT", false);
    struct moment next = tick(&e, 0);
    assert_null(world_find(e.w, "PUT"));
    assert_true(moment_since(next, e.w->at.now).ns >= span_of_ms(500).ns);
    end(&e);
}

static void release_gives_it_back_as_upstream_does(void **state)
{
    (void)state;
    struct election e = leading();
    lease_release(e.lease, e.w->at);
    assert_false(lease_leading(e.lease));
    assert_int_equal(lease_left(e.lease, e.w->at).ns, 0);
    tick(&e, 0);
    const char *body = world_find(e.w, "PUT")->body;
    assert_non_null(strstr(body, "\"holderIdentity\":\"\",\"leaseDurationSeconds\":1,"));
    assert_non_null(strstr(body, "\"leaseTransitions\":0"));
    world_accept_lease(e.w, "PUT");
    assert_true(lease_released(e.lease));
    tick(&e, 20000);
    assert_null(world_find(e.w, "leases"));
    end(&e);
}

static void release_waits_for_a_renewal_under_way(void **state)
{
    (void)state;
    struct election e = leading();
    tick_until(&e, "PUT", 3000);
    lease_release(e.lease, e.w->at);
    world_accept_lease(e.w, "PUT");
    assert_false(lease_leading(e.lease));
    tick(&e, 0);
    assert_non_null(strstr(world_find(e.w, "PUT")->body, "\"holderIdentity\":\"\""));
    end(&e);
}

/* An empty holder would say that nothing is under way. */
static void who_has_not_settled_does_not_give_it_back(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "host_me", 6, 1);
    tick_until(&e, "PUT", 1000);
    world_accept_lease(e.w, "PUT");
    assert_false(lease_settled(e.lease));
    lease_release(e.lease, e.w->at);
    assert_true(lease_released(e.lease));
    for (int i = 0; i < 200; i++)
        tick(&e, 100);
    assert_int_equal(world_count(e.w, "leases"), 0);
    end(&e);
}

static void a_standby_has_nothing_to_release(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "other", 3, 1);
    lease_release(e.lease, e.w->at);
    assert_true(lease_released(e.lease));
    end(&e);
}

static void without_election_it_leads_at_once(void **state)
{
    (void)state;
    struct lease_options options = world_lease_options;
    options.elect = false;
    struct election e = begin(&options);
    tick(&e, 100000);
    assert_true(lease_leading(e.lease));
    assert_int_equal(lease_term(e.lease), 1);
    assert_true(lease_left(e.lease, e.w->at).ns > 0);
    assert_null(world_find(e.w, "leases"));
    end(&e);
}

/* Nobody else may be left who knows what the former life had under way. */
static void without_election_it_waits_for_the_writes_of_a_life_that_fell(void **state)
{
    (void)state;
    struct lease_options options = world_lease_options;
    options.elect = false;
    options.falls = 1;
    struct election e = begin(&options);
    tick(&e, 0);
    assert_true(lease_leading(e.lease));
    assert_false(lease_settled(e.lease));
    assert_int_equal(span_ms(lease_settles_in(e.lease, e.w->at.now)), LANES_WRITE_MS);
    tick(&e, LANES_WRITE_MS - 1);
    assert_false(lease_settled(e.lease));
    tick(&e, 1);
    assert_true(lease_settled(e.lease));
    assert_int_equal(lease_tick(e.lease, e.w->at).ns, MOMENT_NEVER.ns);
    end(&e);
}

/* No clock is asked: what a living scheduler knows is passed, and so is our own former life. */
static void without_election_terms_follow_from_hellos(void **state)
{
    (void)state;
    struct lease_options options = world_lease_options;
    options.elect = false;
    struct election e = begin(&options);
    lease_hear_term(e.lease, 0); /* everything starts at once */
    assert_int_equal(lease_term(e.lease), 1);
    lease_hear_term(e.lease, 1); /* its link was made anew: it has that from us */
    assert_int_equal(lease_term(e.lease), 1);
    lease_hear_term(e.lease, 7); /* it came later and knows more */
    assert_int_equal(lease_term(e.lease), 8);
    end(&e);
    e = begin(&options);
    lease_hear_term(e.lease, 1); /* a scheduler that outlived us */
    assert_int_equal(lease_term(e.lease), 2);
    end(&e);
    e = begin(&options);
    lease_hear_term(e.lease, 41);
    assert_int_equal(lease_term(e.lease), 42);
    assert_int_equal(lease_terms_refused(e.lease), 0);
    end(&e);
}

static void without_election_a_mad_term_is_left_alone(void **state)
{
    (void)state;
    struct lease_options options = world_lease_options;
    options.elect = false;
    struct election e = begin(&options);
    lease_hear_term(e.lease, INT32_MAX - 1);
    lease_hear_term(e.lease, INT32_MAX);
    lease_hear_term(e.lease, INT64_MAX);
    lease_hear_term(e.lease, -5);
    assert_int_equal(lease_term(e.lease), 1);
    assert_int_equal(lease_terms_refused(e.lease), 4);
    lease_hear_term(e.lease, 3); /* who comes later is heard all the same */
    assert_int_equal(lease_term(e.lease), 4);
    end(&e);
}

static void a_mad_term_does_not_reach_the_lease(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    lease_hear_term(e.lease, INT32_MAX - 1);
    tick(&e, 0);
    world_answer(e.w, "GET", 404, "");
    tick(&e, 0);
    world_accept_lease(e.w, "POST");
    assert_int_equal(lease_term(e.lease), 1);
    assert_int_equal(lease_terms_refused(e.lease), 1);
    tick_until(&e, "PUT", 3000); /* and renewals go on as renewals */
    world_accept_lease(e.w, "PUT");
    assert_int_equal(lease_term(e.lease), 1);
    lease_hear_term(e.lease, LEASE_STEP_MAX + 1); /* as far as may be */
    tick_until(&e, "PUT", 3000);
    world_accept_lease(e.w, "PUT");
    assert_int_equal(lease_term(e.lease), LEASE_STEP_MAX + 2);
    end(&e);
}

/* Somebody deletes the lease while we lead: its transitions begin at 0, our term does not. */
static void a_deleted_lease_does_not_take_the_term_back(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    see(&e, "", 6, 1);
    tick_until(&e, "PUT", 3000);
    world_accept_lease(e.w, "PUT");
    assert_int_equal(lease_term(e.lease), 8);
    tick_until(&e, "PUT", 3000);
    world_answer(e.w, "PUT", 404, "");
    tick_until(&e, "POST", 3000);
    world_accept_lease(e.w, "POST");
    assert_true(lease_leading(e.lease));
    assert_true(lease_term(e.lease) >= 8);
    end(&e);
}

static void other_members_of_the_object_survive(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    world_answer(
        e.w, "GET", 200,
        "{\"kind\":\"Lease\",\"metadata\":{\"name\":\"kube-scheduler\",\"resourceVersion\":"
        "\"9\",\"labels\":{\"a\":\"b\"}},\"spec\":{\"strategy\":\"OldestEmulationVersion\"}}");
    tick_until(&e, "PUT", 1000);
    assert_non_null(strstr(world_find(e.w, "PUT")->body, "\"labels\":{\"a\":\"b\"}"));
    assert_non_null(strstr(world_find(e.w, "PUT")->body, "OldestEmulationVersion"));
    end(&e);
}

static void an_answer_that_is_no_lease_is_survived(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    static const char *const bodies[] = {
        "", "{", "[]", "{\"kind\":\"Pod\",\"metadata\":{}}", "<html>no</html>", "{\"metadata\":7}"};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        tick_until(&e, "GET", 5000);
        world_answer(e.w, "GET", 200, bodies[i]);
        assert_false(lease_leading(e.lease));
    }
    tick_until(&e, "GET", 5000);
    end(&e);
}

static void a_missing_rule_is_named_once(void **state)
{
    (void)state;
    struct election e = begin(&world_lease_options);
    tick(&e, 0);
    world_answer(e.w, "GET", 403, "{}");
    assert_string_equal(lease_forbidden(e.lease), "get");
    tick_until(&e, "GET", 5000);
    world_answer(e.w, "GET", 403, "{}");
    assert_null(lease_forbidden(e.lease));
    end(&e);
}

static void wrong_options_are_named(void **state)
{
    (void)state;
    struct lease_options o = world_lease_options;
    assert_null(lease_options_wrong(&o));
    o.duration = o.renew_deadline;
    assert_non_null(strstr(lease_options_wrong(&o), "leaseDuration"));
    o = world_lease_options;
    o.retry_period = span_of_ms(9000);
    assert_non_null(strstr(lease_options_wrong(&o), "renewDeadline"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_lease_is_created_and_led),
        cmocka_unit_test(a_losing_creator_waits_for_the_winner),
        cmocka_unit_test(a_released_lease_is_taken_within_two_seconds),
        cmocka_unit_test(expiry_is_judged_by_observation),
        cmocka_unit_test(a_kill_is_followed_by_takeover_within_duration_plus_two_seconds),
        cmocka_unit_test(it_is_renewed_every_retry_period_and_keeps_its_term),
        cmocka_unit_test(it_is_lost_when_it_cannot_be_renewed_in_time),
        cmocka_unit_test(after_losing_it_tries_again_with_a_new_term),
        cmocka_unit_test(another_holder_ends_it),
        cmocka_unit_test(a_touched_object_does_not_end_it),
        cmocka_unit_test(another_life_of_the_same_identity_ends_it),
        cmocka_unit_test(a_new_life_of_the_same_identity_takes_over_at_once),
        cmocka_unit_test(a_life_after_an_unclean_end_settles_first),
        cmocka_unit_test(it_settles_when_the_former_lease_has_run_out),
        cmocka_unit_test(other_takeovers_are_settled_at_once),
        cmocka_unit_test(a_lease_that_vanished_is_settled_when_it_would_have_run_out),
        cmocka_unit_test(a_doubtful_takeover_settles_no_sooner),
        cmocka_unit_test(a_lease_that_is_regained_settles_too),
        cmocka_unit_test(a_lease_that_is_left_is_not_written),
        cmocka_unit_test(a_deleted_lease_is_made_again_in_the_same_term),
        cmocka_unit_test(a_higher_term_on_the_bus_is_passed),
        cmocka_unit_test(a_doubtful_renewal_is_read_back_before_the_next),
        cmocka_unit_test(the_fence_closes_before_the_deadline_and_ends_before_expiry),
        cmocka_unit_test(the_fence_counts_from_the_start_of_the_renewal),
        cmocka_unit_test(a_clock_that_jumps_ahead_closes_the_fence_until_renewed),
        cmocka_unit_test(a_clock_that_jumps_back_changes_nothing),
        cmocka_unit_test(a_failing_hurried_renewal_does_not_spin),
        cmocka_unit_test(release_gives_it_back_as_upstream_does),
        cmocka_unit_test(release_waits_for_a_renewal_under_way),
        cmocka_unit_test(who_has_not_settled_does_not_give_it_back),
        cmocka_unit_test(a_standby_has_nothing_to_release),
        cmocka_unit_test(without_election_it_leads_at_once),
        cmocka_unit_test(without_election_it_waits_for_the_writes_of_a_life_that_fell),
        cmocka_unit_test(without_election_terms_follow_from_hellos),
        cmocka_unit_test(without_election_a_mad_term_is_left_alone),
        cmocka_unit_test(a_mad_term_does_not_reach_the_lease),
        cmocka_unit_test(a_deleted_lease_does_not_take_the_term_back),
        cmocka_unit_test(other_members_of_the_object_survive),
        cmocka_unit_test(an_answer_that_is_no_lease_is_survived),
        cmocka_unit_test(a_missing_rule_is_named_once),
        cmocka_unit_test(wrong_options_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
