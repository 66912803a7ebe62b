/* The core as a whole: leadership and its messages, the fence, lanes under load, a clean end. */
#include "tests/unit/binder/world.h"

static void say_many_failures(struct world *w, int count)
{
    for (int i = 0; i < count; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "f%d", i);
        struct message f = world_failed(uid, uid, "no");
        world_say(w, &f, SCHEDULER);
    }
}

static void say_binds(struct world *w, int count)
{
    for (int i = 0; i < count; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "b%d", i);
        struct message m = world_bind(uid, uid, "n1");
        world_say(w, &m, SCHEDULER);
    }
}

static void step_with_lease(struct world *w, int64_t ms)
{
    world_step(w, ms);
    if (world_find(w, "PUT") != NULL)
        world_accept_lease(w, "PUT");
}

static void it_takes_exactly_what_is_addressed_to_it(void **state)
{
    (void)state;
    for (int t = 1; t < MSG_COUNT; t++) {
        bool ours = message_info[t].record != NULL &&
                    (message_info[t].to == BINDER || t == MSG_plugin_answer);
        bool links = t == MSG_peer_up || t == MSG_peer_down;
        assert_int_equal(binder_takes((enum message_type)t), ours || links);
    }
}

static void leadership_is_told_on_change_and_every_second(void **state)
{
    (void)state;
    struct world *w = world_leading();
    step_with_lease(w, 999);
    outbox_reset(&w->out);
    int told = 0;
    for (int i = 0; i < 50; i++) {
        step_with_lease(w, 100);
        told += world_heard(w, MSG_leadership, 0) != NULL;
        assert_null(world_heard(w, MSG_leadership, 1));
        outbox_reset(&w->out);
    }
    assert_in_range(told, 4, 6);
    world_step(w, 11000); /* no renewal: lost */
    const struct message *m = world_heard(w, MSG_leadership, 0);
    assert_non_null(m);
    assert_false(m->leadership.leading);
    assert_true(str_is(m->leadership.identity, "host_me"));
    world_free(w);
}

static void a_new_scheduler_hears_the_binds_in_flight(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_binds(w, 3);
    world_tick(w);
    outbox_reset(&w->out);
    struct message up = {.type = MSG_peer_up};
    up.peer_up.process = STR_LITERAL("scheduler");
    world_say(w, &up, WATCHER);
    assert_null(world_heard(w, MSG_leadership, 0));
    world_say(w, &up, SCHEDULER);
    assert_int_equal(w->out.at[0].to.peer, 1);
    const struct leadership *l = &world_heard(w, MSG_leadership, 0)->leadership;
    assert_true(l->leading);
    assert_int_equal(l->lead_term, 1);
    assert_int_equal(l->in_flight.count, 3);
    assert_true(str_is(l->in_flight.at[0].node_name, "n1"));
    world_free(w);
}

static void a_standby_writes_nothing_and_says_so(void **state)
{
    (void)state;
    struct world *w = world_with_binder(&world_lease_options, 0);
    world_tick(w);
    world_answer(w, "GET", 200,
                 world_lease(&(struct world_lease){.holder = "other", .version = 3}));
    say_binds(w, 1);
    say_many_failures(w, 1);
    world_tick(w);
    assert_true(str_is(world_result(w)->message, "lost leadership"));
    assert_null(world_find(w, "POST"));
    assert_null(world_find(w, "PATCH"));
    world_free(w);
}

static void losing_the_lease_answers_everything_and_writes_nothing(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_binds(w, 150);
    say_many_failures(w, 50);
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 100);
    world_step(w, 10001);
    assert_false(binder_leading(w->binder));
    assert_int_equal(world_count(w, "/binding"), 0);
    assert_int_equal(world_count(w, "/status"), 0);
    assert_int_equal(world_count(w, "/events"), 0);
    for (int i = 0; i < 150; i++) {
        const struct message *m = world_heard(w, MSG_bind_result, i);
        assert_non_null(m);
        assert_false(m->bind_result.bound);
        assert_true(str_is(m->bind_result.message, "lost leadership"));
    }
    assert_null(world_heard(w, MSG_bind_result, 150));
    assert_int_equal(w->out.at[0].type, MSG_leadership); /* before what follows from it */
    assert_int_equal(world_heard(w, MSG_leadership, 0)->leadership.in_flight.count, 0);
    world_free(w);
}

/* Stopped with SIGSTOP behind the deadline, continued: the first thing is the guard. */
static void after_a_long_stop_nothing_goes_out(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_binds(w, 10);
    world_tick(w);
    say_binds(w, 0);
    struct message m = world_bind("late", "late", "n1");
    world_say(w, &m, SCHEDULER); /* taken, not yet handed over */
    world_pass(w, 20000);
    assert_true(binder_exposed(w->binder));
    binder_guard(w->binder);
    assert_false(binder_exposed(w->binder));
    assert_int_equal(w->cancelled, 10);
    uint64_t before = w->numbers;
    world_tick(w);
    for (size_t i = 0; i < WORLD_REQUESTS; i++)
        if (w->requests[i].number > before)
            assert_non_null(strstr(w->requests[i].path, "leases"));
    assert_int_equal(world_count(w, "/binding"), 0);
    world_free(w);
}

/* The clock is read when a request is handed over: the time given to tick may be old. */
static void the_fence_reads_the_clock_anew(void **state)
{
    (void)state;
    struct world *w = world_leading();
    struct moment stale = w->at.now;
    say_binds(w, 5);
    world_pass(w, 12000);
    binder_tick(w->binder, stale, &w->out);
    assert_int_equal(world_count(w, "/binding"), 0);
    world_free(w);
}

static void a_write_ends_before_the_lease_can_be_taken(void **state)
{
    (void)state;
    struct world *w = world_leading();
    world_pass(w, 9400); /* renewal fails, the deadline comes near */
    say_binds(w, 1);
    world_tick(w);
    assert_int_equal(span_ms(world_find(w, "/binding")->timeout), 14500 - 9400);
    world_pass(w, 200);
    struct message m = world_bind("late", "late", "n1");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 1); /* too late for another one */
    world_free(w);
}

static void doubt_is_resolved_after_the_fence_opened_again(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_binds(w, 1);
    world_tick(w);
    world_pass(w, 9700);
    binder_guard(w->binder); /* taken back: may have left */
    world_tick(w);
    world_accept_lease(w, "PUT");
    world_answer(w, "GET /api/v1/namespaces/default/pods/b0", 200,
                 "{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"b0\"},\"spec\":{\"nodeName\":\"n1\"}}");
    world_tick(w);
    assert_true(world_result(w)->bound);
    world_free(w);
}

static void binds_do_not_wait_behind_failures(void **state)
{
    (void)state;
    struct world *w = world_with_binder(&world_lease_options, 10);
    world_tick(w);
    world_answer(w, "GET", 404, "");
    world_tick(w);
    world_accept_lease(w, "POST");
    world_tick(w);
    say_many_failures(w, 3000);
    world_tick(w);
    say_binds(w, 20);
    int patches = world_count(w, "/status"), binds = 0;
    for (int ms = 0; ms < 1900; ms += 10) {
        step_with_lease(w, 10);
        while (world_find(w, "/binding") != NULL) {
            world_answer(w, "/binding", 201, "{}");
            binds++;
        }
        assert_true(world_count(w, "/status") == patches || binds == 20);
    }
    assert_in_range(binds, 16, 20); /* ten tokens a second, all of them for binds */
    world_free(w);
}

static void without_a_limit_every_lane_has_its_budget(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_many_failures(w, 3000);
    world_tick(w);
    say_binds(w, 60);
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 60); /* at once, with 3,000 in line elsewhere */
    assert_int_equal(world_count(w, "/status"), 16);
    assert_int_equal(world_count(w, "/events"), 64);
    world_free(w);
}

/* Bindings are on the wire, and pods failed since. */
static struct world *world_busy(int binds, int failures)
{
    struct world *w = world_leading();
    say_binds(w, binds);
    world_tick(w);
    say_many_failures(w, failures);
    world_tick(w);
    return w;
}

static void events_stand_back_for_bindings_but_not_for_long(void **state)
{
    (void)state;
    struct world *w = world_busy(3, 30);
    assert_int_equal(world_count(w, "/binding"), 3);
    assert_int_equal(world_count(w, "/events"), 2);
    world_answer(w, "/events", 201, "{}");
    world_tick(w);
    assert_int_equal(world_count(w, "/events"), 2); /* never none at all */
    world_step(w, 4999);
    assert_int_equal(world_count(w, "/events"), 2);
    world_step(w, 1);
    assert_int_equal(world_count(w, "/events"), 29);
    world_free(w);
}

static void events_go_when_the_last_binding_is_answered(void **state)
{
    (void)state;
    struct world *w = world_busy(1, 30);
    assert_int_equal(world_count(w, "/events"), 2);
    world_answer(w, "/binding", 201, "{}");
    world_tick(w);
    assert_int_equal(world_count(w, "/events"), 31);
    world_free(w);
}

static void events_go_when_the_binder_stops(void **state)
{
    (void)state;
    struct world *w = world_busy(1, 30);
    assert_int_equal(world_count(w, "/events"), 2);
    binder_stop(w->binder, w->at.now, &w->out);
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 1);
    assert_int_equal(world_count(w, "/events"), 30);
    world_free(w);
}

static void too_many_events_stand_back_for_nobody(void **state)
{
    (void)state;
    struct world *w = world_busy(1, 4200);
    assert_int_equal(world_count(w, "/events"), 64);
    world_free(w);
}

static void a_full_lane_is_counted_and_drops_only_what_may_be(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_many_failures(w, 25000);
    world_tick(w);
    struct buffer lines = {0};
    binder_status(w->binder, &lines);
    assert_non_null(strstr(lines.at, "lane_status=waiting=19984 delayed=0 in_flight=16 done=0 "
                                     "failed=0 dropped=5000"));
    assert_non_null(strstr(lines.at, "leading=true"));
    buffer_free(&lines);
    say_binds(w, 10);
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 10);
    world_free(w);
}

static void decisions_are_timed_by_their_senders_clocks(void **state)
{
    (void)state;
    struct world *w = world_leading();
    char uid[16];
    for (int i = 0; i < 103; i++) {
        snprintf(uid, sizeof(uid), "u%d", i);
        struct message m = world_bind(uid, "pod", "n1");
        struct delivery in = {.from = {SCHEDULER, 1},
                              .message = &m,
                              .sent_us = 1000000,
                              .received_us = 1000000 + i % 10};
        m.bind.popped_us = 1000000 - i; /* from 0 to 99 us */
        m.bind.hops = (struct decision_hops){.to_scheduler = i / 2};
        if (i == 0)
            m.bind.hops = (struct decision_hops){.line = INT64_MIN, .worker = INT64_MAX};
        if (i >= 100)
            m.bind.popped_us = i == 100 ? 0 : 1000000 + i; /* not known, or a clock was set */
        binder_handle(w->binder, w->at.now, &in, &w->out);
    }
    struct buffer lines = {0};
    binder_status(w->binder, &lines);
    assert_non_null(strstr(lines.at,
                           "decisions_timed=100\n"
                           "decision_p50_us=50\ndecision_p99_us=99\ndecision_p999_us=99\n"
                           "hop_to_scheduler=p50_us=25 p99_us=49 p999_us=49 tail_us=49\n"
                           "hop_line=p50_us=0 p99_us=0 p999_us=0 tail_us=0\n"
                           "hop_worker=p50_us=0 p99_us=2147483647 p999_us=2147483647 tail_us=0\n"
                           "hop_evaluating=p50_us=0 p99_us=0 p999_us=0 tail_us=0\n"
                           "hop_back=p50_us=0 p99_us=0 p999_us=0 tail_us=0\n"
                           "hop_telling=p50_us=25 p99_us=50 p999_us=50 tail_us=50\n"
                           "hop_to_binder=p50_us=5 p99_us=9 p999_us=9 tail_us=9\n"));
    buffer_free(&lines);
    world_free(w);
}

/* Of text that may hold zero bytes. */
#define STR_BYTES(text)                                                                            \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static void a_namespace_that_goes_is_no_missing_rule_in_either_form(void **state)
{
    (void)state;
    static const struct str bodies[] = {
        STR_BYTES("{\"kind\":\"Status\",\"message\":\"it is being terminated\"}"),
        STR_BYTES("k8s\0\x0a\x0c\x0a\2v1\x12\6Status\x12\x18\x1a\x16it is being terminated")};
    for (size_t i = 0; i < 2; i++) {
        struct world *w = world_leading();
        struct message m = world_bind("u", "u", "n1");
        world_say(w, &m, SCHEDULER);
        world_tick(w);
        world_answer(w, "/binding", 201, "{}");
        world_tick(w);
        world_respond(w, "events.k8s.io",
                      &(struct kube_response){
                          .status = 403, .body = bodies[i], .error = "", .retry_after_s = -1});
        struct buffer lines = {0};
        binder_status(w->binder, &lines);
        assert_null(strstr(lines.at, "forbidden="));
        buffer_free(&lines);
        world_free(w);
    }
}

static void forbidden_events_do_not_stop_binds(void **state)
{
    (void)state;
    struct world *w = world_leading();
    for (int i = 0; i < 3; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "u%d", i);
        struct message m = world_bind(uid, uid, "n1");
        world_say(w, &m, SCHEDULER);
        world_tick(w);
        world_answer(w, "/binding", 201, "{}");
        world_tick(w);
        world_answer(w, "events.k8s.io", 403, "{\"kind\":\"Status\",\"message\":\"no events\"}");
        world_tick(w);
        assert_true(world_heard(w, MSG_bind_result, i)->bind_result.bound);
    }
    struct buffer lines = {0};
    binder_status(w->binder, &lines);
    assert_non_null(strstr(lines.at, "forbidden=create events\n"));
    buffer_free(&lines);
    world_free(w);
}

/* After an unclean end of its former life it holds the lease, but nobody decides yet. */
static void nothing_is_taken_before_the_former_lifes_writes_have_ended(void **state)
{
    (void)state;
    struct world *w = world_with_binder(&world_lease_options, 0);
    world_tick(w);
    world_answer(
        w, "GET", 200,
        world_lease(&(struct world_lease){.holder = "host_me", .transitions = 6, .version = 5}));
    world_step(w, 300);
    world_accept_lease(w, "PUT");
    outbox_reset(&w->out);
    world_step(w, 9600);
    while (world_find(w, "PUT") != NULL) {
        world_accept_lease(w, "PUT");
        world_tick(w);
    }
    const struct leadership *l = &world_heard(w, MSG_leadership, 0)->leadership;
    assert_false(l->leading);
    assert_int_equal(l->lead_term, 8);
    assert_true(str_is(l->holder, "host_me"));
    struct message m = world_bind("u", "p", "n1");
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_false(world_result(w)->bound);
    assert_int_equal(world_count(w, "/binding") + world_count(w, "/events"), 0);
    struct buffer lines = {0};
    binder_status(w->binder, &lines);
    assert_non_null(strstr(lines.at, "leading=false\nlease_term=8\n"));
    assert_non_null(strstr(lines.at, "settles_in_ms=100\n"));
    buffer_free(&lines);
    outbox_reset(&w->out);
    world_step(w, 100);
    assert_true(world_heard(w, MSG_leadership, 0)->leadership.leading);
    assert_int_equal(world_count(w, "/events"), 1); /* became leader */
    world_say(w, &m, SCHEDULER);
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 1);
    world_free(w);
}

/* An empty holder says that nothing is under way. */
static void a_stop_with_a_bind_under_way_leaves_the_lease_to_run_out(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_binds(w, 1);
    world_tick(w);
    binder_stop(w->binder, w->at.now, &w->out);
    for (int i = 0; i < 60; i++) {
        world_step(w, 100);
        if (world_find(w, "/leases") != NULL) {
            assert_null(strstr(world_find(w, "PUT")->body, "\"holderIdentity\":\"\""));
            world_accept_lease(w, "PUT");
        }
    }
    assert_true(binder_done(w->binder));
    assert_int_equal(world_count(w, "/binding"), 0);
    world_free(w);
}

static void a_stop_answers_releases_and_ends(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_binds(w, 101);
    world_tick(w);
    binder_stop(w->binder, w->at.now, &w->out);
    assert_true(str_is(world_result(w)->message, "the binder is stopping")); /* the 101st */
    assert_false(world_heard(w, MSG_leadership, 0)->leadership.leading);
    outbox_reset(&w->out);
    struct message late = world_bind("late", "late", "n1");
    world_say(w, &late, SCHEDULER);
    for (int i = 0; i < 100; i++)
        world_answer(w, "/binding", 201, "{}");
    world_tick(w);
    assert_false(binder_done(w->binder));
    assert_null(world_find(w, "PUT")); /* events first, for a moment */
    while (world_find(w, "/events") != NULL) {
        world_answer(w, "/events", 201, "{}");
        world_step(w, 1);
    }
    assert_non_null(strstr(world_find(w, "PUT")->body, "\"holderIdentity\":\"\""));
    world_accept_lease(w, "PUT");
    world_step(w, 1);
    assert_false(binder_done(w->binder)); /* the scheduler has a moment to read */
    world_step(w, 200);
    assert_true(binder_done(w->binder));
    assert_int_equal(world_count(w, "/binding"), 0);
    world_free(w);
}

static void a_stop_does_not_wait_for_ever(void **state)
{
    (void)state;
    struct world *w = world_leading();
    say_binds(w, 5);
    world_tick(w);
    binder_stop(w->binder, w->at.now, &w->out);
    for (int ms = 0; ms < 5400; ms += 10) {
        assert_null(
            strstr(world_find(w, "PUT") ? world_find(w, "PUT")->body : "", "entity\":\"\""));
        step_with_lease(w, 10);
    }
    for (int ms = 0; ms < 600 && !binder_done(w->binder); ms += 10)
        step_with_lease(w, 10);
    assert_true(binder_done(w->binder));
    assert_non_null(world_heard(w, MSG_bind_result, 4));
    assert_null(world_heard(w, MSG_bind_result, 5));
    world_free(w);
}

/* A bind that was decided under one term is not written under the next. */
static void a_stop_ends_with_the_lease(void **state)
{
    (void)state;
    struct world *w = world_leading();
    for (int i = 0; i < 90; i++) /* of the 10 s in which it must be renewed */
        world_step(w, 100);
    say_binds(w, 1);
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 1);
    binder_stop(w->binder, w->at.now, &w->out);
    for (int i = 0; i < 60; i++) {
        world_step(w, 100);
        if (i < 15)
            continue; /* the deadline comes in this time */
        assert_int_equal(world_count(w, "/binding"), 0);
        if (world_find(w, "/leases") != NULL)
            world_lose(w, "/leases", false);
        if (world_find(w, "GET /api/v1/namespaces/default/pods") != NULL)
            world_answer(
                w, "GET /api/v1/namespaces/default/pods", 200,
                "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p0\",\"uid\":\"u0\"},\"spec\":{}}");
    }
    assert_true(binder_done(w->binder));
    assert_false(world_result(w)->bound);
    world_free(w);
}

static void a_standby_stops_at_once(void **state)
{
    (void)state;
    struct world *w = world_with_binder(&world_lease_options, 0);
    world_tick(w);
    binder_stop(w->binder, w->at.now, &w->out);
    world_tick(w);
    world_step(w, 200);
    assert_true(binder_done(w->binder));
    assert_null(world_find(w, "PUT"));
    world_free(w);
}

static void without_election_it_binds_at_once(void **state)
{
    (void)state;
    struct lease_options options = world_lease_options;
    options.elect = false;
    struct world *w = world_with_binder(&options, 0);
    world_tick(w);
    assert_true(world_heard(w, MSG_leadership, 0)->leadership.leading);
    say_binds(w, 1);
    world_tick(w);
    assert_int_equal(world_count(w, "/binding"), 1);
    binder_stop(w->binder, w->at.now, &w->out);
    world_answer(w, "/binding", 201, "{}");
    world_tick(w);
    world_answer(w, "/events", 201, "{}");
    world_tick(w);
    world_step(w, 200);
    assert_true(binder_done(w->binder));
    world_free(w);
}

/* The last word on leadership that the scheduler has read. */
static struct leadership last_told(struct world *w)
{
    struct leadership told = {0};
    const struct message *m;
    for (int i = 0; (m = world_heard(w, MSG_leadership, i)) != NULL; i++)
        told = m->leadership;
    return told;
}

/* Without a lease only the scheduler can wait for what may still come. */
static void a_stop_tells_whether_something_is_unanswered(void **state)
{
    struct lease_options options = world_lease_options;
    (void)state;
    options.elect = false;
    for (int answered = 0; answered < 2; answered++) {
        struct world *w = world_with_binder(&options, 0);
        world_tick(w);
        say_binds(w, 1);
        world_tick(w);
        assert_false(last_told(w).unanswered); /* it leads: that is enough to know */
        binder_stop(w->binder, w->at.now, &w->out);
        assert_false(last_told(w).leading);
        assert_true(last_told(w).unanswered); /* it may be killed while it waits */
        world_step(w, 100);
        if (answered) {
            world_answer(w, "/binding", 201, "{}");
            world_tick(w);
        }
        for (int ms = 0; ms < 6000 && !binder_done(w->binder); ms += 10) {
            assert_true(last_told(w).unanswered == !answered);
            world_step(w, 10);
        }
        assert_true(binder_done(w->binder));
        assert_true(last_told(w).unanswered == !answered);
        world_free(w);
    }
}

static void becoming_leader_leaves_an_event_on_the_lease(void **state)
{
    (void)state;
    struct world *w = world_with_binder(&world_lease_options, 0);
    world_tick(w);
    world_answer(w, "GET", 404, "");
    world_tick(w);
    world_accept_lease(w, "POST");
    world_tick(w);
    const char *body = world_find(w, "POST /api/v1/namespaces/kube-system/events")->body;
    assert_non_null(strstr(body, "\"message\":\"host_me became leader\""));
    assert_non_null(strstr(body, "\"kind\":\"Lease\""));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_takes_exactly_what_is_addressed_to_it),
        cmocka_unit_test(leadership_is_told_on_change_and_every_second),
        cmocka_unit_test(a_new_scheduler_hears_the_binds_in_flight),
        cmocka_unit_test(a_standby_writes_nothing_and_says_so),
        cmocka_unit_test(losing_the_lease_answers_everything_and_writes_nothing),
        cmocka_unit_test(after_a_long_stop_nothing_goes_out),
        cmocka_unit_test(the_fence_reads_the_clock_anew),
        cmocka_unit_test(a_write_ends_before_the_lease_can_be_taken),
        cmocka_unit_test(doubt_is_resolved_after_the_fence_opened_again),
        cmocka_unit_test(binds_do_not_wait_behind_failures),
        cmocka_unit_test(without_a_limit_every_lane_has_its_budget),
        cmocka_unit_test(events_stand_back_for_bindings_but_not_for_long),
        cmocka_unit_test(events_go_when_the_last_binding_is_answered),
        cmocka_unit_test(events_go_when_the_binder_stops),
        cmocka_unit_test(too_many_events_stand_back_for_nobody),
        cmocka_unit_test(a_full_lane_is_counted_and_drops_only_what_may_be),
        cmocka_unit_test(decisions_are_timed_by_their_senders_clocks),
        cmocka_unit_test(a_namespace_that_goes_is_no_missing_rule_in_either_form),
        cmocka_unit_test(forbidden_events_do_not_stop_binds),
        cmocka_unit_test(nothing_is_taken_before_the_former_lifes_writes_have_ended),
        cmocka_unit_test(a_stop_with_a_bind_under_way_leaves_the_lease_to_run_out),
        cmocka_unit_test(a_stop_answers_releases_and_ends),
        cmocka_unit_test(a_stop_does_not_wait_for_ever),
        cmocka_unit_test(a_stop_ends_with_the_lease),
        cmocka_unit_test(a_standby_stops_at_once),
        cmocka_unit_test(without_election_it_binds_at_once),
        cmocka_unit_test(a_stop_tells_whether_something_is_unanswered),
        cmocka_unit_test(becoming_leader_leaves_an_event_on_the_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
