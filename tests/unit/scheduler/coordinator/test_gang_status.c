/* test_gang_status: the phases of PodGroups step by step, as the controller of scheduler-plugins
 * makes them; and when a step is said, and said again. Virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "scheduler/coordinator/gang_status.h"

#define PLUGINS  "scheduling.x-k8s.io"
#define SIGS     "scheduling.sigs.k8s.io"
#define BUILT_IN "scheduling.k8s.io"

static struct gang group_in(const char *api, const char *phase)
{
    return (struct gang){.api = str_of(api),
                         .namespace_name = STR_LITERAL("ns"),
                         .name = STR_LITERAL("g"),
                         .uid = STR_LITERAL("u"),
                         .created = 1000000,
                         .min_member = 3,
                         .phase = str_of(phase)};
}

struct row {
    const char *phase;
    int pods, assigned, running, succeeded, failed;
    const char *next; /* "": nothing */
};

static void check_rows(const char *api, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct row *r = &rows[i];
        struct gang g = group_in(api, r->phase);
        struct group_members m = {.pods = r->pods,
                                  .assigned = r->assigned,
                                  .running = r->running,
                                  .succeeded = r->succeeded,
                                  .failed = r->failed,
                                  .owners = STR_LITERAL("ns/job")};
        struct group_status next;
        g.running = r->running;
        g.succeeded = r->succeeded;
        g.failed = r->failed;
        g.scheduled = str_is(g.api, SIGS) ? r->assigned : 0;
        g.schedule_start = 2000000;
        bool wanted = gang_status_step(&g, &m, &next);
        if (wanted != (r->next[0] != 0) || (wanted && !str_is(next.phase, r->next)))
            fail_msg("row %zu: %.*s", i, STR_ARG(next.phase));
    }
}
#define CHECK(api, rows) check_rows(api, rows, sizeof(rows) / sizeof((rows)[0]))

static void phases_follow_the_pods(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", 5, 0, 0, 0, 0, "Pending"},
        {"", 0, 0, 0, 0, 0, "Pending"},
        {"Pending", 2, 0, 0, 0, 0, ""},
        {"Pending", 3, 0, 0, 0, 0, "Scheduling"},
        {"Scheduling", 3, 2, 2, 0, 0, ""},
        {"Scheduling", 3, 3, 3, 0, 0, "Running"},
        {"Scheduling", 3, 3, 2, 1, 0, "Running"},
        {"Scheduling", 2, 2, 2, 0, 0, "Pending"},
        {"Running", 3, 3, 2, 0, 0, "Scheduling"},
        {"Running", 2, 2, 2, 0, 0, "Pending"},
        {"Running", 3, 3, 2, 0, 1, "Failed"},
        {"Running", 3, 3, 0, 3, 0, "Finished"},
        {"Running", 4, 4, 0, 3, 1, "Finished"},
        {"Running", 4, 4, 1, 1, 0, "Scheduling"},
        {"Unknown", 3, 3, 3, 0, 0, "Running"},
        {"Finished", 3, 0, 0, 0, 3, ""},
        {"Failed", 3, 3, 3, 0, 0, ""},
    };
    CHECK(PLUGINS, rows);
}

static void the_older_kind_has_phases_of_its_own(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", 5, 0, 0, 0, 0, "Pending"},
        {"Pending", 2, 0, 0, 0, 0, ""},
        {"Pending", 3, 0, 0, 0, 0, "PreScheduling"},
        {"PreScheduling", 3, 0, 0, 0, 0, ""},
        {"PreScheduling", 3, 1, 0, 0, 0, "Scheduling"},
        {"PreScheduling", 3, 3, 0, 0, 0, "Scheduled"},
        {"Scheduling", 3, 3, 0, 0, 0, "Scheduled"},
        {"Scheduling", 3, 3, 3, 0, 0, "Running"},
        {"Scheduled", 3, 3, 2, 0, 0, ""},
        {"Scheduled", 3, 3, 2, 1, 0, "Running"},
        {"Running", 2, 2, 2, 0, 0, ""},
        {"Running", 0, 0, 0, 0, 0, "Pending"},
        {"Running", 3, 3, 2, 0, 1, "Failed"},
        {"Running", 3, 3, 0, 3, 0, "Finished"},
    };
    CHECK(SIGS, rows);
}

static void some_groups_are_none_of_ours(void **state)
{
    (void)state;
    struct group_members m = {.pods = 3};
    struct group_status next;
    struct gang g = group_in(BUILT_IN, "");
    assert_false(gang_status_step(&g, &m, &next));
    g = group_in(PLUGINS, "");
    g.deleting = true;
    assert_false(gang_status_step(&g, &m, &next));
}

static void beginning_names_owners_and_time(void **state)
{
    (void)state;
    struct gang g = group_in(PLUGINS, "Pending");
    struct group_members m = {.pods = 3, .running = 3, .owners = STR_LITERAL("ns/a,ns/b")};
    struct group_status next;
    assert_true(gang_status_step(&g, &m, &next));
    assert_true(str_is(next.occupied_by, "ns/a,ns/b"));
    assert_true(next.schedule_start < 0);
    assert_int_equal(next.running, 0); /* counted from the next step on */
}

static void what_takes_two_days_is_told_and_left(void **state)
{
    (void)state;
    struct gang g = group_in(PLUGINS, "Scheduling");
    struct group_members m = {.pods = 3, .running = 3};
    struct group_status next;
    g.schedule_start = g.created + 48LL * 3600 * 1000000;
    assert_true(gang_status_step(&g, &m, &next)); /* not longer than that */
    assert_true(str_is(next.phase, "Running"));
    g.schedule_start++;
    assert_true(gang_status_step(&g, &m, &next));
    assert_true(str_is(next.phase, "Scheduling") && next.running == 0);
    assert_true(str_is(next.event_reason, "Timeout"));
    assert_true(str_is(next.event_message, "schedule time longer than 48 hours"));
    g.running = 1;
    assert_true(gang_status_step(&g, &m, &next));
    assert_true(str_is(next.phase, "Running"));
}

/* ---- saying it ---- */

struct fixture {
    struct gang_statuses *s;
    struct moment now;
    struct outbox out;
};

static int setup(void **state)
{
    static struct fixture f;
    f = (struct fixture){.s = gang_statuses_new(), .now = {1000000000}};
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    gang_statuses_free(&f->s);
    outbox_free(&f->out);
    return 0;
}

static void take(struct fixture *f, struct message m)
{
    gang_statuses_take(f->s, f->now, &m);
}

static void see_group(struct fixture *f, const char *phase)
{
    struct message m = {.type = MSG_pod_group_set};
    m.pod_group_set.group = group_in(PLUGINS, phase);
    take(f, m);
}

static void see_members(struct fixture *f, int pods, int running)
{
    struct message m = {.type = MSG_group_members};
    m.group_members = (struct group_members){.api = STR_LITERAL(PLUGINS),
                                             .namespace_name = STR_LITERAL("ns"),
                                             .name = STR_LITERAL("g"),
                                             .pods = pods,
                                             .assigned = running,
                                             .running = running};
    take(f, m);
}

/* The phase that is said after so many ms; "": nothing is. */
static const char *said(struct fixture *f, int64_t ms)
{
    static char phase[32];
    struct arena arena = {0};
    f->now = moment_after(f->now, span_of_ms(ms));
    gang_statuses_tick(f->s, f->now, (struct address){BINDER, 1}, &f->out);
    assert_true(f->out.count < 2);
    phase[0] = 0;
    if (f->out.count == 1) {
        struct message m = {0};
        assert_true(outbox_get(&f->out, 0, &m, &arena));
        snprintf(phase, sizeof(phase), "%.*s", STR_ARG(m.group_status.phase));
    }
    outbox_reset(&f->out);
    arena_free(&arena);
    return phase;
}

static void a_group_goes_its_way(void **state)
{
    struct fixture *f = *state;
    see_members(f, 3, 0); /* pods before their PodGroup */
    assert_string_equal(said(f, 0), "");
    see_group(f, "");
    assert_string_equal(said(f, 0), "Pending");
    assert_string_equal(said(f, 100), "");
    see_group(f, "Pending");
    assert_string_equal(said(f, 0), "Scheduling");
    see_group(f, "Scheduling");
    see_members(f, 3, 3);
    assert_string_equal(said(f, 0), "Running");
    take(f, (struct message){.type = MSG_object_gone,
                             .object_gone = {.kind = OBJECT_pod_group,
                                             .namespace_name = STR_LITERAL("ns"),
                                             .name = STR_LITERAL("g"),
                                             .api = STR_LITERAL(PLUGINS)}});
    assert_string_equal(said(f, 100000), "");
    see_members(f, 0, 0);
    see_group(f, "");
    assert_string_equal(said(f, 0), "Pending");
}

static void what_got_lost_is_said_again_ever_more_rarely(void **state)
{
    struct fixture *f = *state;
    see_group(f, "");
    assert_string_equal(said(f, 0), "Pending");
    assert_string_equal(said(f, 4999), "");
    assert_string_equal(said(f, 1), "Pending");
    assert_string_equal(said(f, 9999), "");
    assert_string_equal(said(f, 1), "Pending");
    for (int i = 0; i < 20; i++)
        said(f, 300000);
    assert_string_equal(said(f, 299999), "");
    assert_string_equal(said(f, 1), "Pending");
    gang_statuses_look(f->s, f->now); /* a new term */
    assert_string_equal(said(f, 0), "Pending");
}

static void a_snapshot_forgets_what_is_not_in_it(void **state)
{
    struct fixture *f = *state;
    see_group(f, "Pending");
    see_members(f, 3, 0);
    take(f, (struct message){.type = MSG_snapshot_begin});
    see_group(f, "Pending");
    take(f, (struct message){.type = MSG_snapshot_end});
    assert_string_equal(said(f, 0), ""); /* its pods are gone */
    see_members(f, 3, 0);
    assert_string_equal(said(f, 0), "Scheduling");
    take(f, (struct message){.type = MSG_snapshot_begin});
    take(f, (struct message){.type = MSG_snapshot_end});
    assert_string_equal(said(f, 100000), "");
}

static void see_foreign(struct fixture *f, const char *phase, int64_t wrote)
{
    struct message m = {.type = MSG_pod_group_set};
    m.pod_group_set.group = group_in(PLUGINS, phase);
    m.pod_group_set.group.status_foreign = true;
    m.pod_group_set.group.status_foreign_at = wrote;
    take(f, m);
}

static void what_a_controller_keeps_is_left_to_it_while_it_does(void **state)
{
    struct fixture *f = *state;
    see_foreign(f, "Pending", 1);
    see_members(f, 3, 0);
    assert_string_equal(said(f, 0), "");
    see_members(f, 3, 1); /* only what the controller does counts */
    assert_string_equal(said(f, 299999), "");
    assert_string_equal(said(f, 1), "Scheduling");
    assert_string_equal(said(f, 5000), "Scheduling");
    see_foreign(f, "Scheduling", 1); /* as we wrote it: the rest is still in its name */
    see_members(f, 3, 3);
    assert_string_equal(said(f, 0), "Running");
}

static void a_controller_in_time_has_no_rival(void **state)
{
    struct fixture *f = *state;
    see_foreign(f, "Pending", 1);
    see_members(f, 3, 0);
    assert_string_equal(said(f, 0), "");
    assert_string_equal(said(f, 200000), "");
    see_foreign(f, "Scheduling", 2);
    assert_string_equal(said(f, 0), "");
    see_members(f, 3, 3);
    assert_string_equal(said(f, 200000), "");
    assert_string_equal(said(f, 299999), "");
    see_foreign(f, "Scheduling", 3); /* it counts in its own way, and is there */
    assert_string_equal(said(f, 299999), "");
}

static void a_controller_that_comes_back_is_given_more_time(void **state)
{
    struct fixture *f = *state;
    see_foreign(f, "Pending", 1);
    see_members(f, 3, 0);
    said(f, 0);
    assert_string_equal(said(f, 300000), "Scheduling");
    see_foreign(f, "Pending", 2);
    assert_string_equal(said(f, 0), "");
    assert_string_equal(said(f, 599999), "");
    assert_string_equal(said(f, 1), "Scheduling");
    struct message m = {.type = MSG_pod_group_set};
    m.pod_group_set.group = group_in(PLUGINS, "Pending");
    m.pod_group_set.group.uid = STR_LITERAL("another");
    m.pod_group_set.group.status_foreign = true;
    take(f, m);
    assert_string_equal(said(f, 0), "");
    assert_string_equal(said(f, 300000), "Scheduling");
}

static void a_controller_that_only_owes_an_event_is_not_gone(void **state)
{
    struct fixture *f = *state;
    struct message m = {.type = MSG_pod_group_set};
    m.pod_group_set.group = group_in(PLUGINS, "Scheduling");
    m.pod_group_set.group.status_foreign = true;
    m.pod_group_set.group.schedule_start =
        m.pod_group_set.group.created + 48LL * 3600 * 1000000 + 1;
    take(f, m);
    see_members(f, 3, 3);
    assert_string_equal(said(f, 0), "");
    assert_string_equal(said(f, 1000000), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_follow_the_pods),
        cmocka_unit_test(the_older_kind_has_phases_of_its_own),
        cmocka_unit_test(some_groups_are_none_of_ours),
        cmocka_unit_test(beginning_names_owners_and_time),
        cmocka_unit_test(what_takes_two_days_is_told_and_left),
        TEST(a_group_goes_its_way),
        TEST(what_got_lost_is_said_again_ever_more_rarely),
        TEST(a_snapshot_forgets_what_is_not_in_it),
        TEST(what_a_controller_keeps_is_left_to_it_while_it_does),
        TEST(a_controller_in_time_has_no_rival),
        TEST(a_controller_that_comes_back_is_given_more_time),
        TEST(a_controller_that_only_owes_an_event_is_not_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
