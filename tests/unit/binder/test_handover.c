/* test_handover: two candidates and one Lease in virtual time, with a server that keeps the object
 * and refuses writes to another version of it: who leads, when, and what they tell each other. */
#include "tests/unit/binder/world.h"

#include "binder/lease.h"

#include <stdlib.h>

#define DURATION_MS 15000
#define STEP_MS     10

struct server {
    char body[4096];
    int version; /* 0: there is no object */
    int writes;
};

struct party {
    struct world *w;
    struct lease *lease;
    bool ready, dead;
    const char *sick;
    uint64_t served; /* number of the last request that was looked at */
};

struct pair {
    struct server server;
    struct party a, b;
    int64_t ms;
};

static struct span no_fence(const void *state, struct instant at)
{
    (void)state;
    (void)at;
    return (struct span){0};
}

/* A life of it that begins where the former one, if any, ended. */
static void open_party(struct party *c, const char *identity, uint32_t falls)
{
    struct lease_options options = world_lease_options;
    options.identity = identity;
    options.seed = (uint64_t)identity[5];
    options.falls = falls;
    struct world *w = world_new();
    if (c->w != NULL) {
        w->at = c->w->at;
        lease_free(&c->lease);
        world_free(c->w);
    }
    *c = (struct party){.w = w, .ready = true};
    c->w->lanes = lanes_new(&(struct lanes_options){.api = world_api(c->w), .fence = no_fence});
    c->lease = lease_new(&options, c->w->lanes, c->w->at);
}

/* The object as it was sent, under the next version. */
static void keep(struct server *s, const char *body)
{
    static const char key[] = "\"resourceVersion\":\"";
    const char *at = strstr(body, key);
    const char *meta = strstr(body, "\"metadata\":{");
    assert_non_null(meta);
    const char *head_end = at != NULL ? at : meta + strlen("\"metadata\":{");
    const char *rest = at != NULL ? strchr(at + strlen(key), '"') + 1 : head_end;
    snprintf(s->body, sizeof(s->body), "%.*s%s%d\"%s%s", (int)(head_end - body), body, key,
             ++s->version, at != NULL ? "" : ",", rest);
    s->writes++;
}

static void serve_write(struct server *s, struct party *c, const char *method)
{
    struct world_request *r = world_find(c->w, method);
    char body[4096], mine[64];
    snprintf(body, sizeof(body), "%s", r->body);
    snprintf(mine, sizeof(mine), "\"resourceVersion\":\"%d\"", s->version);
    bool good = strcmp(method, "POST") == 0 ? s->version == 0 : strstr(body, mine) != NULL;
    if (good)
        keep(s, body);
    world_answer(c->w, method, good ? 200 : 409, good ? s->body : "{}");
}

static void serve(struct server *s, struct party *c)
{
    if (c->w->numbers == c->served)
        return; /* each is answered at once */
    c->served = c->w->numbers;
    if (world_find(c->w, "GET") != NULL)
        world_answer(c->w, "GET", s->version > 0 ? 200 : 404, s->body);
    if (world_find(c->w, "POST") != NULL)
        serve_write(s, c, "POST");
    if (world_find(c->w, "PUT") != NULL)
        serve_write(s, c, "PUT");
}

static void step_one(struct server *s, struct party *c)
{
    world_pass(c->w, STEP_MS);
    if (c->dead)
        return;
    lease_set_fitness(c->lease, c->ready, c->sick);
    lease_tick(c->lease, c->w->at);
    lanes_pump(c->w->lanes, c->w->at.now);
    serve(s, c);
}

static void pass(struct pair *p, int64_t ms)
{
    for (int64_t end = p->ms + ms; p->ms < end; p->ms += STEP_MS) {
        step_one(&p->server, &p->a);
        step_one(&p->server, &p->b);
        assert_false(lease_left(p->a.lease, p->a.w->at).ns > 0 &&
                     lease_left(p->b.lease, p->b.w->at).ns > 0);
    }
}

/* Until it leads or does not; how long that took, most when it did not come to it. */
static int64_t pass_until(struct pair *p, const struct party *c, bool leads, int64_t most)
{
    int64_t begin = p->ms;
    while (lease_leading(c->lease) != leads && p->ms - begin < most)
        pass(p, STEP_MS);
    return p->ms - begin;
}

/* Candidate a leads, b stands by. */
static int setup(void **state)
{
    struct pair *p = memory_take(sizeof(*p));
    open_party(&p->a, "host_a", 0);
    step_one(&p->server, &p->a);
    step_one(&p->server, &p->a);
    assert_true(lease_leading(p->a.lease));
    open_party(&p->b, "host_b", 0);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct pair *p = *state;
    lease_free(&p->a.lease);
    lease_free(&p->b.lease);
    world_free(p->a.w);
    world_free(p->b.w);
    memory_free(p);
    return 0;
}

static void the_well_say_nothing(void **state)
{
    struct pair *p = *state;
    pass(p, 60000);
    assert_true(lease_leading(p->a.lease));
    assert_in_range(p->server.writes, 29, 32); /* a's renewals, every two seconds */
    assert_null(strstr(p->server.body, "annotations"));
}

static void a_sick_leader_makes_room_for_one_that_is_ready(void **state)
{
    struct pair *p = *state;
    pass(p, 5000);
    p->a.sick = "it lacks a worker for 10 s";
    int64_t waited = pass_until(p, &p->a, false, 60000);
    assert_in_range(waited, 2 * DURATION_MS - 5000, 2 * DURATION_MS); /* of its term's beginning */
    assert_non_null(strstr(lease_lost_why(p->a.lease), "given up"));
    int64_t took = pass_until(p, &p->b, true, 60000);
    assert_in_range(took, DURATION_MS - 2500, DURATION_MS + 2000);
    assert_int_equal(lease_term(p->b.lease), lease_term(p->a.lease) + 1);
    assert_null(strstr(p->server.body, "relief"));
    pass(p, 120000);
    assert_true(lease_leading(p->b.lease));
}

static void the_lease_is_kept_while_nobody_is_ready(void **state)
{
    struct pair *p = *state;
    p->a.sick = "it failed 3 times within a minute";
    p->b.ready = false;
    pass(p, 300000);
    assert_true(lease_leading(p->a.lease));
    assert_int_equal(lease_term(p->a.lease), 1);
    assert_non_null(strstr(p->server.body, "\"berth/handover\":\"relief wanted by host_a\""));
    p->b.dead = p->b.ready = true; /* a ready one that is not there answers nothing */
    pass(p, 60000);
    assert_true(lease_leading(p->a.lease));
}

static void two_sick_ones_do_not_pass_it_to_and_fro(void **state)
{
    struct pair *p = *state;
    p->a.sick = p->b.sick = "it lacks a worker for 10 s";
    p->a.ready = p->b.ready = false;
    pass(p, 600000);
    assert_true(lease_leading(p->a.lease));
    assert_int_equal(lease_term(p->a.lease), 1);
}

/* The worst that can be: both say that they are ready whenever the other leads. */
static void it_changes_hands_once_in_two_durations_at_most(void **state)
{
    struct pair *p = *state;
    p->a.sick = p->b.sick = "it failed 3 times within a minute";
    const struct party *leader = &p->a, *other = &p->b;
    for (int i = 0; i < 6; i++) {
        int64_t led = pass_until(p, leader, false, 200000);
        assert_true(i == 0 || led >= 2 * DURATION_MS - 10);
        assert_true(pass_until(p, other, true, 60000) <= DURATION_MS + 2000);
        const struct party *former = leader;
        leader = other;
        other = former;
    }
}

static void who_is_well_again_takes_the_wish_back(void **state)
{
    struct pair *p = *state;
    p->b.ready = false;
    p->a.sick = "it lacks a fresh view for 10 s";
    pass(p, 40000);
    assert_non_null(strstr(p->server.body, "relief wanted"));
    p->a.sick = NULL;
    pass(p, 2100);
    assert_null(strstr(p->server.body, "relief"));
    p->b.ready = true;
    pass(p, 60000);
    assert_true(lease_leading(p->a.lease));
}

static void an_offer_that_comes_too_late_changes_nothing(void **state)
{
    struct pair *p = *state;
    p->b.ready = false;
    p->a.sick = "it lacks a fresh view for 10 s";
    pass(p, 40000);
    p->b.ready = true;
    while (strstr(p->server.body, "relief offered by host_b") == NULL)
        step_one(&p->server, &p->b); /* a does nothing meanwhile */
    p->a.w->at = p->b.w->at;
    p->a.sick = NULL;
    pass(p, 60000);
    assert_true(lease_leading(p->a.lease));
    assert_null(strstr(p->server.body, "relief"));
}

static void who_gave_it_up_takes_it_again_when_nobody_did(void **state)
{
    struct pair *p = *state;
    p->a.sick = "it lacks a worker for 10 s";
    pass_until(p, &p->a, false, 60000);
    p->b.dead = true;
    int64_t waited = pass_until(p, &p->a, true, 200000);
    assert_in_range(waited, 2 * DURATION_MS - 100, 2 * DURATION_MS + 2000);
    assert_in_range(p->a.w->numbers, 1, 400); /* and did not ask in a circle meanwhile */
}

/* Every life ends before it could ask for relief, so the lease is left to the standby. */
static void a_binder_that_falls_again_and_again_leaves_the_lease(void **state)
{
    struct pair *p = *state;
    pass(p, 5000);
    for (uint32_t i = 1; i <= 2; i++) { /* a fall or two: it goes on with its own */
        open_party(&p->a, "host_a", i);
        pass(p, 3000);
        assert_true(lease_leading(p->a.lease));
    }
    int64_t waited = 0;
    for (int i = 0; i < 40 && !lease_leading(p->b.lease); i++) {
        open_party(&p->a, "host_a", HANDOVER_FALLS);
        waited += pass_until(p, &p->b, true, 2000);
        assert_false(lease_leading(p->a.lease));
    }
    assert_true(lease_leading(p->b.lease));
    assert_in_range(waited, DURATION_MS - 2500, DURATION_MS + 2000);
    pass(p, 60000);
    assert_true(lease_leading(p->b.lease));
    assert_false(lease_leading(p->a.lease));
}

static void who_fell_often_takes_its_lease_when_nobody_did(void **state)
{
    struct pair *p = *state;
    pass(p, 5000);
    p->b.dead = true;
    open_party(&p->a, "host_a", HANDOVER_FALLS);
    int64_t waited = pass_until(p, &p->a, true, 100000);
    assert_in_range(waited, DURATION_MS + 3900, DURATION_MS + 6000);
    assert_in_range(p->a.w->numbers, 1, 200); /* and did not ask in a circle meanwhile */
    pass(p, 100);
    assert_true(lease_settled(p->a.lease)); /* it has run out meanwhile */
}

/* What nobody holds is as free to it as to anybody. */
static void who_fell_often_takes_what_was_given_back(void **state)
{
    struct pair *p = *state;
    pass(p, 5000);
    p->b.dead = true;
    lease_release(p->a.lease, p->a.w->at);
    pass(p, 1000);
    assert_true(lease_released(p->a.lease));
    open_party(&p->a, "host_a", HANDOVER_FALLS);
    assert_true(pass_until(p, &p->a, true, 20000) <= 2500);
}

/* A word of our own, or one that nobody wrote, is no answer. */
static void only_another_ones_answer_counts(void **state)
{
    (void)state;
    static const char *const others[] = {"relief offered by ", "relief offered by host_a",
                                         "relief wanted by host_b", "Relief offered by host_b",
                                         "relief"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(handover_offered(str_of(others[i]), "host_a"));
    assert_true(handover_offered(STR_LITERAL("relief offered by host_b"), "host_a"));
    struct handover h = {.ready = true};
    const struct str a = STR_LITERAL("host_a"), b = STR_LITERAL("host_b");
    const struct str wish_of_b = STR_LITERAL("relief wanted by host_b");
    assert_true(handover_answers(&h, wish_of_b, b, "host_a"));
    assert_false(handover_answers(&h, STR_LITERAL("relief wanted by host_a"), a, "host_a"));
    h.ready = false;
    assert_false(handover_answers(&h, wish_of_b, b, "host_a"));
}

/* kube-scheduler leads, and keeps what the leader before it has written. */
static void the_wish_of_a_former_leader_is_not_answered(void **state)
{
    struct pair *p = *state;
    p->b.dead = true;
    p->a.sick = "it lacks a worker for 10 s";
    pass(p, 40000);
    char *holder = strstr(p->server.body, "\"holderIdentity\":\"host_a\"");
    assert_non_null(holder);
    *strstr(holder, "host_a") = 'k';
    p->a.dead = true;
    p->b.dead = false;
    pass(p, 5000);
    assert_non_null(strstr(p->server.body, "relief wanted by host_a"));
    assert_null(strstr(p->server.body, "relief offered"));
}

static void a_lease_that_is_deleted_is_left_to_others_as_well(void **state)
{
    struct pair *p = *state;
    p->a.sick = "it lacks a worker for 10 s";
    pass_until(p, &p->a, false, 60000);
    p->b.dead = true;
    p->server.version = 0;
    int64_t waited = pass_until(p, &p->a, true, 200000);
    assert_in_range(waited, 2 * DURATION_MS - 100, 2 * DURATION_MS + 2000);
    assert_in_range(p->a.w->numbers, 1, 400);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_well_say_nothing),
        TEST(a_sick_leader_makes_room_for_one_that_is_ready),
        TEST(the_lease_is_kept_while_nobody_is_ready),
        TEST(two_sick_ones_do_not_pass_it_to_and_fro),
        TEST(it_changes_hands_once_in_two_durations_at_most),
        TEST(who_is_well_again_takes_the_wish_back),
        TEST(an_offer_that_comes_too_late_changes_nothing),
        TEST(who_gave_it_up_takes_it_again_when_nobody_did),
        TEST(a_lease_that_is_deleted_is_left_to_others_as_well),
        TEST(the_wish_of_a_former_leader_is_not_answered),
        TEST(a_binder_that_falls_again_and_again_leaves_the_lease),
        TEST(who_fell_often_takes_its_lease_when_nobody_did),
        TEST(who_fell_often_takes_what_was_given_back),
        cmocka_unit_test(only_another_ones_answer_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
